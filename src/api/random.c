/* The public functions that make random arrays. */
#include "ir/build_random.h"

#include "api/expr.h"
#include <kerfuse/random.h>

/* Whether the operands are expressions of the graph, n of them. */
static bool ready(const char *name, krf_graph *graph, int n, const krf_expr *xs) {
    for (int i = 0; i < n; i++) {
        if (xs[i].graph != graph) {
            if (graph != NULL) {
                krf__graph_fail(graph, KRF_E_ARGUMENT, "%s: an operand is not an expression of this graph", name);
            }
            return false;
        }
        if (!krf__expr_check(name, xs[i])) {
            return false;
        }
    }
    return graph != NULL;
}

/* The shape may lie in the graph itself, which moves as it grows: it is copied. */
static bool shaped(const char *name, krf_graph *graph, krf__draw *draw, int64_t copy[KRF_MAX_RANK]) {
    if (draw->rank < 0 || draw->rank > KRF_MAX_RANK || (draw->rank > 0 && draw->shape == NULL)) {
        krf__graph_fail(graph, KRF_E_ARGUMENT, "%s: %s", name, krf__shape_fault(draw->rank, draw->shape));
        return false;
    }
    for (int i = 0; i < draw->rank; i++) {
        copy[i] = draw->shape[i];
    }
    draw->shape = copy;
    return true;
}

#define PLAIN(kind) \
    krf_expr krf_random_##kind(krf_graph *graph, int rank, const int64_t *shape, krf_dtype dtype, krf_expr key, krf_expr offset) { \
        int64_t copy[KRF_MAX_RANK]; \
        krf__draw draw = {rank, shape, key.id, offset.id}; \
        bool good = ready("random_" #kind, graph, 2, (krf_expr[]){key, offset}) && shaped("random_" #kind, graph, &draw, copy); \
        return (krf_expr){graph, good ? krf__build_random_##kind(graph, &draw, dtype) : 0}; \
    }
PLAIN(bits)
PLAIN(uniform)
PLAIN(normal)

krf_expr krf_random_integers(krf_graph *graph, int rank, const int64_t *shape, krf_dtype dtype, krf_expr low, krf_expr high, krf_expr key,
                             krf_expr offset) {
    int64_t copy[KRF_MAX_RANK];
    krf__draw draw = {rank, shape, key.id, offset.id};
    bool good = ready("random_integers", graph, 4, (krf_expr[]){low, high, key, offset}) && shaped("random_integers", graph, &draw, copy);
    return (krf_expr){graph, good ? krf__build_random_integers(graph, &draw, low.id, high.id, dtype) : 0};
}

krf_expr krf_random_bernoulli(krf_graph *graph, int rank, const int64_t *shape, krf_expr p, krf_expr key, krf_expr offset) {
    int64_t copy[KRF_MAX_RANK];
    krf__draw draw = {rank, shape, key.id, offset.id};
    bool good = ready("random_bernoulli", graph, 3, (krf_expr[]){p, key, offset}) && shaped("random_bernoulli", graph, &draw, copy);
    return (krf_expr){graph, good ? krf__build_random_bernoulli(graph, &draw, p.id) : 0};
}
