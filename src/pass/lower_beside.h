/* Reductions of a few elements that are better written out. */
#ifndef KRF_PASS_LOWER_BESIDE_H
#define KRF_PASS_LOWER_BESIDE_H

#include "pass/lowering.h"

/* Whether neighbouring results of a reduction of `in`, written out, read neighbouring elements of memory, or the same. */
bool krf__lower_reads_beside(const krf__lowering *l, uint32_t reduction);

#endif
