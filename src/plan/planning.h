/* What is known while a plan is made, and the buffers that it gets. */
#ifndef KRF_PLAN_PLANNING_H
#define KRF_PLAN_PLANNING_H

#include "plan/data.h"

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

/* A buffer as large as the node's value; counted from 1, as memory_of. index: see krf__buffer. */
uint32_t krf__plan_add_buffer(krf__planning *p, krf__buffer_kind kind, uint32_t index, uint32_t node);

/* The buffer is in use while the kernel of that group runs. */
void krf__plan_use_buffer(krf__planning *p, uint32_t group, uint32_t buffer);

#endif
