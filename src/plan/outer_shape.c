/* Squares of results (krf__kernel.outer): how large they are, and how many threads share a row. */
#include "plan/kernel.h"

int krf__outer_side(const krf__kernel *k) { return k->schedule == KRF__REDUCE_ROW ? 8 : 16; }

/* As many as there are vectors, rounded up. */
int krf__outer_threads(const krf__kernel *k) { return k->schedule == KRF__REDUCE_ROW ? 32 : (int64_t)KRF__OUTER_LEAST * k->vector >= k->reduced_size ? KRF__OUTER_LEAST : KRF__OUTER_MOST; }

int krf__outer_results(const krf__kernel *k) { return k->schedule == KRF__REDUCE_ROW ? 8 : krf__outer_threads(k); }

bool krf__outer_first(const krf__kernel *k, uint32_t operand) { return k->operands[operand].strides[k->n_kept - 1] == 0; }
