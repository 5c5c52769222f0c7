/* Reshapes of reduced values. */
#ifndef KRF_PASS_LOWER_UNIT_H
#define KRF_PASS_LOWER_UNIT_H

#include "pass/lowering.h"

/* A reshape (of `in`) that adds or drops reduced axes of the value `base` of out, without a view of memory; 0 without an error where it does
 * something else. */
uint32_t krf__lower_unit(krf__lowering *l, uint32_t node, uint32_t base);

#endif
