/* Runs plans: addresses for buffers, memory for temporaries and outputs, and a launch for each kernel. */
#ifndef KRF_SCHED_EXEC_H
#define KRF_SCHED_EXEC_H

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

/* Finds all kernels, and loads or compiles them as the tier says. */
krf_status krf__plan_prepare(krf_context *context, krf__compiled *compiled);

/* On failure outputs that were NULL are NULL again. */
krf_status krf__plan_execute(const krf__run *run);

/* Marks the given outputs that the plan may not write in place, because they share memory with something that it still
 * reads, or with each other. True if there are any. */
bool krf__plan_conflicts(const krf__run *run, bool *conflict);

/* KRF_E_DTYPE, KRF_E_SHAPE, KRF_E_ARGUMENT unless an array may take an output of that dtype and shape. what and index (-1: none): for
 * the message, "output 2". */
krf_status krf__output_check(krf_context *context, const char *what, int index, const krf_array *array, krf_dtype dtype,
                             int rank, const int64_t *shape);
const char *krf__output_name(char name[48], const char *what, int index);

#endif
