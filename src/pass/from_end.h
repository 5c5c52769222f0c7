/* Places that count from the end where they are negative, as NumPy's do. */
#ifndef KRF_PASS_FROM_END_H
#define KRF_PASS_FROM_END_H

#include "ir/graph.h"

/* Whether a node is where(x < 0, x + end, x), and its end; x is its last operand. */
bool krf__counts_from_end(const krf_graph *g, uint32_t id, uint32_t *end);

#endif
