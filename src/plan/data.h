/* A plan: kernels in order, the buffers they read and write, and what has to be bound for a run. Knows nothing of devices. */
#ifndef KRF_PLAN_DATA_H
#define KRF_PLAN_DATA_H

#include "pass/pass.h"
#include "plan/kernel.h"

typedef enum krf__buffer_kind { KRF__BUFFER_INPUT, KRF__BUFFER_PLACEHOLDER, KRF__BUFFER_OUTPUT, KRF__BUFFER_TEMPORARY } krf__buffer_kind;

typedef struct krf__buffer {
    krf__buffer_kind kind;
    uint32_t index;         /* of the input, placeholder or output; temporaries: of the memory slot it shares (see reuse) */
    uint8_t dtype;
    int64_t size;           /* elements */
    uint32_t first, last;   /* kernels that use it */
} krf__buffer;

/* A scalar argument: a value of the graph, or the value bound to a placeholder, converted to dtype. */
typedef struct krf__plan_scalar {
    bool bound;
    uint8_t dtype;
    uint32_t index;         /* of the placeholder, plus their number for an imaginary part; of the value in the order of scalar nodes */
    uint64_t value;
} krf__plan_scalar;

/* What an array must look like that takes a place in the plan. */
typedef struct krf__spec {
    uint8_t dtype;
    bool weak, scalar;      /* placeholders of rank 0 */
    krf__layout layout;
    char *name;             /* placeholders; NULL for none */
} krf__spec;

typedef struct krf__plan_data {
    krf__kernel *kernels;
    uint32_t n_kernels;
    krf__buffer *buffers;
    uint32_t n_buffers;
    krf__plan_scalar *scalars;
    uint32_t n_scalars;
    krf__spec *inputs, *placeholders, *outputs;
    uint32_t n_inputs, n_placeholders, n_outputs;
    int64_t *slots;         /* bytes of each memory slot for temporaries */
    uint32_t n_slots;
    bool aligned;           /* every buffer was taken to start on a 16-byte border */
} krf__plan_data;

typedef struct krf__plan_options {
    const krf__limits *limits;             /* of fusion; NULL: the default */
    bool fast;                             /* KRF_MATH_FAST */
    bool unaligned;                        /* buffers may start anywhere */
    const int64_t *const *output_strides;  /* of each output, or NULL for C order; NULL for all in C order */
} krf__plan_options;

#endif
