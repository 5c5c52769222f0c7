/* Nodes that move elements, as the generator, the inference, the oracle and the builder need them. */
#ifndef KRF_TESTS_FUZZ_MOVEMENT_H
#define KRF_TESTS_FUZZ_MOVEMENT_H

#include "fuzz/generate.h"
#include "fuzz/oracle.h"

bool node_moves(const node *n);
int moves_arity(const node *n);
bool infer_moves(const graph *g, node *n);
void run_moves(const graph *g, const node *n, const values *v, void *out);
krf_expr build_moves(const node *n, const krf_expr *x);
void pick_moves(dice *d, const graph *g, node *n); /* all but the kind and the first operand */

#endif
