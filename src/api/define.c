/* Definitions as the user makes and calls them (kerfuse/define.h). */
#include <kerfuse/define.h>

#include "api/expr.h"
#include "base/fail.h"
#include "ir/build_call.h"
#include "ir/build_ufunc.h"
#include "ir/define.h"
#include "sched/context.h"

krf_status krf_op_define(krf_context *context, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives,
                         krf_op **op) {
    if (op != NULL) {
        *op = NULL;
    }
    if (context == NULL || name == NULL || parameters == NULL || results == NULL || body == NULL || op == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_op_define: an argument is NULL");
    }
    return krf__op_define(&context->defined, name, parameters, results, body, derivatives, op);
}

krf_status krf_op_undefine(krf_context *context, const char *name) {
    return context == NULL || name == NULL ? krf__fail(KRF_E_ARGUMENT, "krf_op_undefine: an argument is NULL") : krf__defined_remove(&context->defined, name);
}

krf_op *krf_op_retain(krf_op *op) {
    krf__op_retain(op);
    return op;
}

void krf_op_release(krf_op *op) { krf__op_release(op); }
const char *krf_op_name(const krf_op *op) { return op != NULL ? op->name : ""; }
int krf_op_parameters(const krf_op *op) { return op != NULL ? op->n_parameters : 0; }
int krf_op_results(const krf_op *op) { return op != NULL ? op->n_results : 0; }

/* The graph of all operands; NULL with its error where they are not of one. */
static krf_graph *graph_of(const krf_op *op, int n, const krf_expr *operands, uint32_t *ids) {
    krf_graph *g = n > 0 && operands != NULL ? operands[0].graph : NULL;
    if (g == NULL) {
        return NULL;
    }
    if (op == NULL) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "krf_op_call: the definition is NULL");
        return NULL;
    }
    if (n != op->n_parameters) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "%s: takes %d operand%s, not %d", op->name, op->n_parameters, op->n_parameters == 1 ? "" : "s", n);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        if (operands[i].graph != g) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: the operands belong to different graphs", op->name);
            return NULL;
        }
        if (!krf__expr_check(op->name, operands[i])) {
            return NULL;
        }
        ids[i] = operands[i].id;
    }
    return g;
}

void krf_op_call(const krf_op *op, int n, const krf_expr *operands, krf_expr *results) {
    uint32_t ids[KRF__MOST_DEFINED], made[KRF__MOST_RESULTS] = {0};
    if (results == NULL) {
        return;
    }
    krf_graph *g = graph_of(op, n, operands, ids);
    if (g != NULL) {
        krf__build_call(g, op, n, ids, made);
    }
    for (int r = 0; r < (op != NULL ? op->n_results : 1); r++) {
        results[r] = (krf_expr){n > 0 && operands != NULL ? operands[0].graph : NULL, made[r]};
    }
}

krf_expr krf_op_result(const krf_op *op, int n, const krf_expr *operands) {
    krf_expr results[KRF__MOST_RESULTS] = {{NULL, 0}};
    krf_op_call(op, n, operands, results);
    return results[0];
}

/* ---- reductions ---- */

krf_status krf_reduction_define(krf_context *context, const char *name, const char *parameters, const char *fields, const char *identity, const char *map,
                                const char *combine, const char *results, const char *post, krf_reduction **reduction) {
    krf_op *op = NULL;
    if (reduction != NULL) {
        *reduction = NULL;
    }
    if (context == NULL || name == NULL || parameters == NULL || fields == NULL || identity == NULL || map == NULL || combine == NULL || reduction == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_reduction_define: an argument is NULL");
    }
    if ((results == NULL) != (post == NULL)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_reduction_define: %s: results and post belong together: one of them is NULL", name);
    }
    const krf__reduction_text text = {name, parameters, fields, identity, map, combine, results, post, NULL};
    krf_status status = krf__reduction_define(&context->defined, &text, &op);
    *reduction = (krf_reduction *)op; /* its first member */
    return status;
}

krf_reduction *krf_reduction_retain(krf_reduction *reduction) {
    krf__op_retain(reduction != NULL ? &reduction->op : NULL);
    return reduction;
}

void krf_reduction_release(krf_reduction *reduction) { krf__op_release(reduction != NULL ? &reduction->op : NULL); }
int krf_reduction_results(const krf_reduction *reduction) { return reduction != NULL ? reduction->op.n_results : 0; }

static void give(const krf_op *op, int n, const krf_expr *operands, const uint32_t *made, krf_expr *results) {
    for (int r = 0; r < (op != NULL ? op->n_results : 1); r++) {
        results[r] = (krf_expr){n > 0 && operands != NULL ? operands[0].graph : NULL, made[r]};
    }
}

void krf_reduction_call(const krf_reduction *reduction, int n, const krf_expr *operands, int n_axes, const int *axes, bool keepdims, krf_expr *results) {
    uint32_t ids[KRF__MOST_DEFINED], made[KRF__MOST_RESULTS] = {0};
    const krf_op *op = reduction != NULL ? &reduction->op : NULL;
    if (results == NULL) {
        return;
    }
    krf_graph *g = graph_of(op, n, operands, ids);
    if (g != NULL && axes != NULL && n_axes < 0) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "%s: the number of axes is negative", op->name);
    } else if (g != NULL) {
        krf__build_fold(g, op, n, ids, &(krf__axes){n_axes, axes, keepdims}, made);
    }
    give(op, n, operands, made, results);
}

void krf_reduction_scan(const krf_reduction *reduction, int n, const krf_expr *operands, int axis, krf_expr *results) {
    uint32_t ids[KRF__MOST_DEFINED], made[KRF__MOST_RESULTS] = {0};
    const krf_op *op = reduction != NULL ? &reduction->op : NULL;
    if (results == NULL) {
        return;
    }
    krf_graph *g = graph_of(op, n, operands, ids);
    if (g != NULL) {
        krf__build_fold_scan(g, op, n, ids, axis, made);
    }
    give(op, n, operands, made, results);
}

/* ---- functions of two operands ---- */

static bool check_function(const char *name, const char *function, krf_expr x) {
    if (krf__expr_check(name, x) && function == NULL) {
        krf__graph_fail(x.graph, KRF_E_ARGUMENT, "%s: the function's name is NULL", name);
    }
    return krf__expr_check(name, x) && function != NULL;
}

krf_expr krf_ufunc_reduce(const char *function, krf_expr x, int n_axes, const int *axes, bool keepdims) {
    const krf__axes reduced = {n_axes, axes, keepdims};
    if (!check_function("reduce", function, x)) {
        return (krf_expr){x.graph, 0};
    }
    if (axes != NULL && n_axes < 0) {
        return (krf_expr){x.graph, krf__graph_fail(x.graph, KRF_E_ARGUMENT, "reduce: the number of axes is negative")};
    }
    return (krf_expr){x.graph, krf__build_ufunc_reduce(x.graph, function, x.id, &reduced)};
}

krf_expr krf_ufunc_accumulate(const char *function, krf_expr x, int axis) {
    return (krf_expr){x.graph, check_function("accumulate", function, x) ? krf__build_ufunc_accumulate(x.graph, function, x.id, axis) : 0};
}

krf_expr krf_ufunc_outer(const char *function, krf_expr x, krf_expr y) {
    if (!check_function("outer", function, x)) {
        return (krf_expr){x.graph, 0};
    }
    if (x.graph != y.graph) { /* before y is looked at: the error belongs to x's graph, and an expression without one has none to keep it */
        return (krf_expr){x.graph, krf__graph_fail(x.graph, KRF_E_ARGUMENT, y.graph == NULL ? "outer: an operand is not an expression" : "outer: the operands belong to different graphs")};
    }
    if (!krf__expr_check("outer", y)) {
        return (krf_expr){x.graph, 0};
    }
    return (krf_expr){x.graph, krf__build_ufunc_outer(x.graph, function, x.id, y.id)};
}
