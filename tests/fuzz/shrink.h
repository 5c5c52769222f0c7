/* Makes a graph that fails smaller, as long as it fails. */
#ifndef KRF_TESTS_FUZZ_SHRINK_H
#define KRF_TESTS_FUZZ_SHRINK_H

#include "fuzz/graph.h"

/* fails_still must not change anything; it may be called some hundred times. */
void shrink(graph *g, bool (*fails_still)(void *user, const graph *g), void *user);

#endif
