#ifndef KRF_SCHED_OUTPUTS_H
#define KRF_SCHED_OUTPUTS_H

#include "sched/run.h"

/* Marks the given outputs that the plan may not write in place, because they share memory with something that it still
 * reads, or may share it with each other. True if there are any. */
bool krf__plan_conflicts(const krf__run *run, bool *conflict);

/* KRF_E_DTYPE, KRF_E_SHAPE, KRF_E_ARGUMENT unless an array may take an output of that dtype and shape. what and index (-1: none): for
 * the message, "output 2". */
krf_status krf__output_check(krf_context *context, const char *what, int index, const krf_array *array, krf_dtype dtype,
                             int rank, const int64_t *shape);

/* KRF_E_ARGUMENT where two of n outputs share memory; NULL: one that is to be made. */
krf_status krf__outputs_apart(int n, krf_array *const *outputs);
const char *krf__output_name(char name[48], const char *what, int index);

#endif
