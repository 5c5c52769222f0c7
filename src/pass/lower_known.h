/* What intervals tell of operations on places. */
#ifndef KRF_PASS_LOWER_KNOWN_H
#define KRF_PASS_LOWER_KNOWN_H

#include "pass/lowering.h"

/* The operand of out that an operation, not added yet, comes to whatever the place: the branch that a choice always takes, what no end reaches. 0: none. */
uint32_t krf__lower_known(const krf__lowering *l, const krf__node *node);

/* Whether places follow from each other by strides: *layout is theirs in a range. */
bool krf__lower_strided(const krf_graph *g, uint32_t places, krf__layout *layout);

#endif
