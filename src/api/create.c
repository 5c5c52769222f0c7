/* The public functions that make arrays in the graph, and reductions that are expressions over others. */
#include "ir/build_composed.h"

#include "api/expr.h"
#include <kerfuse/ops.h>

static krf_expr composed(krf__composed which, krf_expr x, double ddof, int n_axes, const int *axes, bool keepdims) {
    const char *name = krf__composed_name(which);
    if (!krf__expr_check(name, x)) {
        return (krf_expr){x.graph, 0};
    }
    if (axes != NULL && n_axes < 0) {
        return (krf_expr){x.graph, krf__graph_fail(x.graph, KRF_E_ARGUMENT, "%s: the number of axes is negative", name)};
    }
    krf__axes list = {axes != NULL ? n_axes : 0, axes, keepdims};
    return (krf_expr){x.graph, krf__build_composed(x.graph, which, x.id, &list, ddof)};
}

#define COMPOSED(name, doc) \
    krf_expr krf_##name(krf_expr x, int n_axes, const int *axes, bool keepdims) { \
        return composed(KRF__COMPOSED_##name, x, 0, n_axes, axes, keepdims); \
    }
#define DDOF(name, doc) \
    krf_expr krf_##name(krf_expr x, double ddof, int n_axes, const int *axes, bool keepdims) { \
        return composed(KRF__COMPOSED_##name, x, ddof, n_axes, axes, keepdims); \
    }
#include "ir/composed.def"

krf_expr krf_arange(krf_graph *graph, int64_t start, int64_t stop, int64_t step) {
    return (krf_expr){graph, graph != NULL ? krf__build_arange(graph, start, stop, step) : 0};
}

krf_expr krf_linspace(krf_graph *graph, double start, double stop, int64_t n, bool endpoint) {
    return (krf_expr){graph, graph != NULL ? krf__build_linspace(graph, start, stop, n, endpoint) : 0};
}

krf_expr krf_full(krf_expr value, int rank, const int64_t *shape) {
    return (krf_expr){value.graph, krf__expr_check("full", value) ? krf__build_broadcast_to(value.graph, value.id, rank, shape) : 0};
}

krf_expr krf_eye(krf_graph *graph, int64_t rows, int64_t columns, int64_t k, krf_dtype dtype) {
    return (krf_expr){graph, graph != NULL ? krf__build_eye(graph, rows, columns, k, dtype) : 0};
}

krf_expr krf_triu(krf_expr x, int64_t k) {
    return (krf_expr){x.graph, krf__expr_check("triu", x) ? krf__build_triangle(x.graph, x.id, k, true) : 0};
}

krf_expr krf_tril(krf_expr x, int64_t k) {
    return (krf_expr){x.graph, krf__expr_check("tril", x) ? krf__build_triangle(x.graph, x.id, k, false) : 0};
}
