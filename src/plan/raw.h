/* The part of a kernel that is a user's own: how its parameters are filled, and its launch. */
#ifndef KRF_PLAN_RAW_H
#define KRF_PLAN_RAW_H

#include "ir/raw.h"
#include "plan/build.h"

/* Where the value of a parameter comes from. */
typedef struct krf__raw_slot {
    uint32_t field;        /* its first one in the argument block */
    uint32_t operand;      /* arrays */
    bool known[2];         /* scalars, by halves: bits says what it is; else scalar, whose value is converted */
    uint64_t bits[2];
    uint32_t scalar[2];
    int64_t size;          /* arrays: elements */
} krf__raw_slot;

typedef struct krf__raw_call {
    krf__raw *raw; /* retained */
    krf__raw_launch launch;
    uint32_t n_fields;
    krf__raw_slot slots[KRF__MOST_PARAMETERS]; /* one for each parameter, in order */
} krf__raw_call;

/* How many results the launches of a graph have. */
size_t krf__raw_results(const krf_graph *g);

/* Gives a copy that a raw kernel goes on with the memory of the result, before others get theirs. */
void krf__raw_share_memory(krf__planning *p);

/* group: of a launch. As krf__kernel_build. */
krf_status krf__raw_build(krf__planning *p, uint32_t group, krf__kernel *k);

/* A kernel outside of graphs. Operands and scalars stand in the order of the parameters, and belong to dtypes and offset 0; buffers are numbered as operands are. */
krf_status krf__raw_alone(krf__raw *raw, const krf__raw_arrays *arrays, const krf_launch_shape *shape, krf__kernel *k);

/* Of all of its arrays. */
int64_t krf__raw_elements(const krf__kernel *k);

uint32_t krf__raw_fields(const krf__kernel *k);
void krf__raw_pack(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, uint64_t *fields);
void krf__raw_bytes(const krf__kernel *k, int64_t *read, int64_t *written);
void krf__raw_put_key(const krf__kernel *k, krf__str *s);
void krf__raw_call_free(krf__raw_call *call); /* NULL is allowed */

/* The addresses of the parameters in the argument block, as CUDA wants them; there is room for KRF__MOST_PARAMETERS. */
void krf__raw_addresses(const krf__kernel *k, const uint64_t *fields, void **addresses);

/* The name of the function that is launched on CUDA: the user's own, or the kernel's. */
const char *krf__kernel_symbol(const krf__kernel *k);

#endif
