/* The public functions that sum over several operands (kerfuse/sums.h): operands checked, then one call inward. */
#include "ir/build_sums.h"

#include "api/expr.h"
#include <kerfuse/sums.h>

static bool two(const char *name, krf_expr x, krf_expr y) {
    if (x.graph != NULL && y.graph != x.graph) {
        krf__graph_fail(x.graph, KRF_E_ARGUMENT, "%s: the operands belong to different graphs", name);
        return false;
    }
    return krf__expr_check(name, x) && krf__expr_check(name, y);
}

krf_expr krf_outer(krf_expr x, krf_expr y) { return (krf_expr){x.graph, two("outer", x, y) ? krf__build_outer(x.graph, x.id, y.id) : 0}; }

krf_expr krf_inner(krf_expr x, krf_expr y) {
    return (krf_expr){x.graph, two("inner", x, y) ? krf__build_dot(x.graph, "inner", x.id, y.id) : 0};
}

krf_expr krf_dot(krf_expr x, krf_expr y) { return (krf_expr){x.graph, two("dot", x, y) ? krf__build_dot(x.graph, "dot", x.id, y.id) : 0}; }

krf_expr krf_vdot(krf_expr x, krf_expr y) { return (krf_expr){x.graph, two("vdot", x, y) ? krf__build_vdot(x.graph, x.id, y.id) : 0}; }

krf_expr krf_average(krf_expr x, krf_expr weights, int n_axes, const int *axes, bool keepdims) {
    krf__axes list = {axes != NULL ? n_axes : 0, axes, keepdims};
    if (!two("average", x, weights)) {
        return (krf_expr){x.graph, 0};
    }
    if (axes != NULL && n_axes < 0) {
        return (krf_expr){x.graph, krf__graph_fail(x.graph, KRF_E_ARGUMENT, "average: the number of axes is negative")};
    }
    return (krf_expr){x.graph, krf__build_average(x.graph, x.id, weights.id, &list)};
}

krf_expr krf_histogram(krf_expr x, int64_t bins, double low, double high) {
    return (krf_expr){x.graph, krf__expr_check("histogram", x) ? krf__build_histogram(x.graph, x.id, bins, low, high) : 0};
}
