/* Results whose parts have nothing to do with each other. */
#ifndef KRF_PASS_LOWER_JOINED_H
#define KRF_PASS_LOWER_JOINED_H

#include "pass/lowering.h"

/* Output k of out, or what takes its place: its parts, each computed for itself, where choices between arrays that were joined part it; 0 where memory ran out. */
uint32_t krf__lower_joined(krf__lowering *l, int k, int n_outputs, const uint32_t *outputs);

#endif
