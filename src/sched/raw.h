/* Launches of raw kernels outside of plans. */
#ifndef KRF_SCHED_RAW_H
#define KRF_SCHED_RAW_H

#include "ir/array.h"
#include "ir/raw.h"
#include "sched/context.h"

/* A parameter's value: an array, or a number as raw bits of its (for complex numbers: its halves') dtype. */
typedef struct krf__raw_value {
    krf_array *array;
    uint64_t bits[2];
} krf__raw_value;

/* values: for each parameter, in order; those of computed scalars are not looked at. Arrays have the right dtypes and belong to the context. */
krf_status krf__raw_start(krf_context *context, krf__raw *raw, const krf__raw_value *values, const krf_launch_shape *shape, void *stream);

#endif
