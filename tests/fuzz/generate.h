/* The generator's parts: dice, and single picks that mutate.c makes again. */
#ifndef KRF_TESTS_FUZZ_GENERATE_H
#define KRF_TESTS_FUZZ_GENERATE_H

#include "fuzz/graph.h"

typedef uint64_t dice; /* the state of next_random */

void leaf_layout(dice *d, leaf *x, int64_t *count);
void pick_scalar(dice *d, node *n, bool complex); /* complex: it may be */
bool has_complex(const graph *g);
extern bool generate_complex; /* set before the first graph; as it is: some graphs have complex values */
void pick_axes(dice *d, node *n, const facts *x);

/* gradient.c: a graph's gradients in its place, where it has some that are no larger. */
void differentiate(graph *g, int64_t most);

/* mutate.c: changes one thing, so that the graph stays valid. */
void mutate(dice *d, graph *g);

#endif
