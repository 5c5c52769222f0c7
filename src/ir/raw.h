/* A raw kernel as its user defined it: source texts, typed parameters, and how a launch follows from the shapes of its arrays. Constant once it is made; graphs and
 * plans hold references. */
#ifndef KRF_IR_RAW_H
#define KRF_IR_RAW_H

#include "ir/extent.h"
#include "ir/shape.h"

#include <kerfuse/raw.h>
#include <stdatomic.h>

enum { KRF__MOST_PARAMETERS = 64 };

typedef enum krf__role { KRF__ROLE_IN, KRF__ROLE_OUT, KRF__ROLE_INOUT, KRF__ROLE_SCALAR } krf__role;

typedef struct krf__parameter {
    krf__span name;
    krf__role role;
    krf_dtype dtype;
    bool any;            /* arrays: of any shape */
    bool strided;        /* some expression asks for its strides: arrays are passed as they lie in memory */
    int rank;
    krf__span extents[KRF_MAX_RANK];
    krf__span computed;  /* scalars: what they are, in sizes; at NULL: who calls says */
} krf__parameter;

typedef struct krf__raw {
    atomic_int references;
    char *name, *cuda, *c, *options; /* owned, NULL for none */
    char *texts[5];                  /* owned: parameters, grid, block, shared, units, into which the spans point */
    krf__parameter *parameters;
    int n_parameters;
    int n_given;                     /* in, inout, and scalars that are not computed: what a call gives, in their order */
    int n_results;                   /* out and inout */
    krf__span grid[3], block[3], shared;
    krf__span units;                 /* generalised functions: how many pieces of work there are, which threads of the CPU share; the C function takes [lo, hi) of them first. at NULL: one */
    uint8_t *key;                    /* all of the above as bytes: equal keys are equal kernels */
    size_t key_bytes;
} krf__raw;

/* description: whole. units: an expression, or NULL. Errors: KRF_E_ARGUMENT, KRF_E_DTYPE, KRF_E_MEMORY. */
krf_status krf__raw_make(const krf_kernel_description *description, const char *units, krf__raw **raw);
krf__raw *krf__raw_retain(krf__raw *raw);
void krf__raw_release(krf__raw *raw); /* NULL is allowed */

static inline bool krf__parameter_given(const krf__parameter *p) { return p->role == KRF__ROLE_IN || p->role == KRF__ROLE_INOUT || (p->role == KRF__ROLE_SCALAR && p->computed.at == NULL); }
static inline bool krf__parameter_written(const krf__parameter *p) { return p->role == KRF__ROLE_OUT || p->role == KRF__ROLE_INOUT; }

/* ---- a launch, raw_launch.c ---- */

typedef struct krf__raw_arrays {
    bool known[KRF__MOST_PARAMETERS];         /* of each parameter that is an array: whether its layout is there */
    krf__layout layouts[KRF__MOST_PARAMETERS];
} krf__raw_arrays;

typedef struct krf__raw_launch {
    bool empty;                               /* all that it would write has no elements */
    uint32_t grid[3], block[3];               /* 0 where there is none: the kernel has no CUDA text */
    uint32_t shared;                          /* dynamic, in bytes */
    int64_t units;                            /* at least 1 */
    int64_t computed[KRF__MOST_PARAMETERS];   /* scalars that follow from shapes */
} krf__raw_launch;

/* Checks the shapes that are known against the brackets, and gives those that the brackets tell to arrays that are not known (results). KRF_E_SHAPE, KRF_E_ARGUMENT. */
krf_status krf__raw_shapes(const krf__raw *raw, krf__raw_arrays *arrays);

/* All shapes are known. shape: NULL, or what takes the place of grid, block and shared memory where it is not 0. */
krf_status krf__raw_launch_of(const krf__raw *raw, const krf__raw_arrays *arrays, const krf_launch_shape *shape, krf__raw_launch *launch);

#endif
