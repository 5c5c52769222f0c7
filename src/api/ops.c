/* The public functions of the table of operations. */
#include <kerfuse/ops.h>

#include "api/expr.h"

static krf_expr reduce(krf__op op, krf_expr x, int n_axes, const int *axes, bool keepdims) {
    const char *name = krf__op_info_of(op)->name;
    if (!krf__expr_check(name, x)) {
        return (krf_expr){x.graph, 0};
    }
    if (axes != NULL && n_axes < 0) {
        return (krf_expr){x.graph,
                          krf__graph_fail(x.graph, KRF_E_ARGUMENT, "%s: the number of axes is negative", name)};
    }
    return (krf_expr){x.graph, krf__build_reduce(x.graph, op, x.id, n_axes, axes, keepdims)};
}

static krf_expr scan(krf__op op, krf_expr x, int axis) {
    return krf__expr_check(krf__op_info_of(op)->name, x) ? (krf_expr){x.graph, krf__build_scan(x.graph, op, x.id, axis)}
                                                         : (krf_expr){x.graph, 0};
}

#define FUNCTION_1(name) \
    krf_expr krf_##name(krf_expr x) { return krf__expr_apply(KRF__##name, 1, &x); }
#define FUNCTION_2(name) \
    krf_expr krf_##name(krf_expr x, krf_expr y) { return krf__expr_apply(KRF__##name, 2, (krf_expr[]){x, y}); }
#define FUNCTION_3(name) \
    krf_expr krf_##name(krf_expr x, krf_expr y, krf_expr z) { \
        return krf__expr_apply(KRF__##name, 3, (krf_expr[]){x, y, z}); \
    }

#define NODE(...)
#define OP(name, arity, ...) FUNCTION_##arity(name)
#define JOIN(name, arity, ...) FUNCTION_##arity(name)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(name, ...) \
    krf_expr krf_##name(krf_expr x, int n_axes, const int *axes, bool keepdims) { \
        return reduce(KRF__##name, x, n_axes, axes, keepdims); \
    }
#define COMBINE(...)
#define SCAN(name, ...) \
    krf_expr krf_##name(krf_expr x, int axis) { return scan(KRF__##name, x, axis); }
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
