/* Results whose last axis is of a few fields. */
#ifndef KRF_PASS_LOWER_RECORDS_H
#define KRF_PASS_LOWER_RECORDS_H

#include "pass/lowering.h"

/* How many fields the records are of that a value of out becomes whose elements a processor would rather compute field by field; 0: none. */
int krf__lower_fields(const krf__lowering *l, uint32_t root);

#endif
