/* What the public builders share. */
#ifndef KRF_API_EXPR_H
#define KRF_API_EXPR_H

#include "ir/build.h"

/* Whether x is a node of its graph. If not, and nothing else is wrong with the graph, that becomes its error. */
bool krf__expr_check(const char *name, krf_expr x);

/* An elementwise operation over expressions of one graph. */
krf_expr krf__expr_apply(krf__op op, int n, const krf_expr *operands);

/* Before an evaluation: n expressions of one graph of a context, whose ids go to ids. */
krf_status krf__expr_ids(const char *name, krf_graph *graph, int n, const krf_expr *xs, uint32_t *ids);

/* The graph's own error as the status of a call. */
krf_status krf__graph_error(const krf_graph *graph);

#endif
