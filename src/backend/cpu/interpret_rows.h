/* Kernels of several rounds in the block interpreter. */
#ifndef KRF_BACKEND_CPU_INTERPRET_ROWS_H
#define KRF_BACKEND_CPU_INTERPRET_ROWS_H

#include "plan/kernel.h"

/* Rows [lo, hi). The rest as krf__interpret. */
krf_status krf__interpret_rows(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch, int64_t lo, int64_t hi);

#endif
