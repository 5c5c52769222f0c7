#ifndef KRF_SCHED_RUN_H
#define KRF_SCHED_RUN_H

#include "ir/array.h"
#include "sched/context.h"

/* The arrays and values of one run. */
typedef struct krf__run {
    krf_context *context;
    const char *name;             /* for profilers */
    krf__compiled *compiled;
    void *stream;                 /* NULL: the context's own */
    krf_array *const *inputs;     /* in the order of the lowered graph */
    krf_array *const *bound;      /* arrays of placeholders; NULL entries for scalars */
    const uint64_t *bound_values; /* scalars of placeholders, in their dtypes */
    const uint64_t *values;       /* of the graph's scalars; NULL: those that the plan was made with */
    krf_array **outputs;          /* NULL entries are made, in C order */
    krf__held *_Atomic *held;     /* where a run that is captured leaves its memory; NULL: it cannot be captured */
} krf__run;

/* The array behind a buffer; NULL for temporaries. */
krf_array *krf__run_array(const krf__run *run, const krf__buffer *buffer);

#endif
