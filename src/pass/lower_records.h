/* Results with an axis of a few fields. */
#ifndef KRF_PASS_LOWER_RECORDS_H
#define KRF_PASS_LOWER_RECORDS_H

#include "pass/lowering.h"

/* The axis of a value of out along which a processor would rather compute it field by field; -1: none. chosen: the axis along which each field is something else; -1: none. */
int krf__lower_fields(const krf__lowering *l, uint32_t root, int chosen);

#endif
