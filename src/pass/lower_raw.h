/* What raw kernels read and write. */
#ifndef KRF_PASS_LOWER_RAW_H
#define KRF_PASS_LOWER_RAW_H

#include "pass/lowering.h"

/* The operand x (of out) of a raw_argument node (of `in`). */
uint32_t krf__lower_argument(krf__lowering *l, uint32_t argument, uint32_t x);

/* Output k as it can be stored: a raw kernel writes into one place, others get a copy. */
uint32_t krf__lower_result(krf__lowering *l, int k, const uint32_t *outputs);

#endif
