/* One group becomes one kernel: body, operands, collapsed dimensions, schedule, shape class, key. */
#ifndef KRF_PLAN_BUILD_H
#define KRF_PLAN_BUILD_H

#include "pass/pass.h"
#include "plan/plan.h"

/* What the planner decided before kernels are built. Node-indexed arrays of the lowered graph. */
typedef struct krf__planning {
    const krf_graph *g;
    const krf__fusion *fusion;
    const krf__plan_options *options;
    krf__plan_data *plan;
    uint32_t *memory_of;   /* 1 + the buffer that holds a leaf's or a stored node's elements; 0: none yet */
    uint32_t *scalar_of;   /* 1 + the plan scalar of a scalar or a rank-0 placeholder */
    uint32_t *instr_of;    /* 1 + the instruction in the kernel being built */
    uint32_t *inner_of;    /* 1 + the number of the row's value in the kernel being built (krf__operand.inner); 0: it is none */
    uint32_t *touched;     /* nodes whose instr_of is set */
    uint32_t *stack;
    const uint32_t *outputs;
    int n_outputs;
} krf__planning;

/* plan.c. A temporary as large as the node's value; counted from 1, as memory_of. */
uint32_t krf__plan_temporary(krf__planning *p, uint32_t id);

/* The buffer is in use while the kernel of that group runs. */
void krf__plan_use_buffer(krf__planning *p, uint32_t group, uint32_t buffer);

/* group: index of the group, or of the first of those that are its rounds. */
krf_status krf__kernel_build(krf__planning *p, uint32_t group, krf__kernel *k);

/* Merges dimensions that are contiguous for all operands, drops those of extent 1, keeps one of each part. */
void krf__kernel_collapse(krf__kernel *k);

/* Chooses schedule, chunks, vector length and index width. */
void krf__kernel_schedule(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Writes the canonical bytes and the name. */
krf_status krf__kernel_key(krf__kernel *k);

/* describe.c. The kernel's canonical expression. Of a node that folds: the dtype that stands for its accumulator: of several fields one of 8 bytes, of half types f32. */
krf_status krf__kernel_describe(const krf__planning *p, uint32_t index, krf__kernel *k);
uint8_t krf__accumulator_dtype(const krf_graph *g, uint32_t id);

#endif
