/* The public functions that differentiate (kerfuse/grad.h): operands checked, then one call inward. */
#include <kerfuse/grad.h>

#include "api/expr.h"
#include "base/mem.h"
#include "ir/grad.h"

/* The ids of n operands of y's graph, to be freed; NULL, with the error, otherwise. */
static uint32_t *ids_of(const char *name, krf_expr y, int n, const krf_expr *xs) {
    if (!krf__expr_check(name, y)) {
        return NULL;
    }
    if (n < 0 || (n > 0 && xs == NULL)) {
        krf__graph_fail(y.graph, KRF_E_ARGUMENT, n < 0 ? "%s: a negative number of variables" : "%s: a list is NULL", name);
        return NULL;
    }
    uint32_t *ids = krf__malloc(((size_t)n + 1) * sizeof *ids);
    if (ids == NULL) {
        krf__graph_fail(y.graph, KRF_E_MEMORY, "out of host memory (%s)", name);
    }
    for (int k = 0; ids != NULL && k < n; k++) {
        if (xs[k].graph != y.graph) {
            krf__graph_fail(y.graph, KRF_E_ARGUMENT, "%s: the operands belong to different graphs", name);
        }
        if (xs[k].graph != y.graph || !krf__expr_check(name, xs[k])) {
            krf__mem_free(ids);
            return NULL;
        }
        ids[k] = xs[k].id;
    }
    return ids;
}

void krf_grad(krf_expr y, int n, const krf_expr *by, krf_expr *gradients) {
    if (n > 0 && gradients == NULL) {
        if (krf__expr_check("grad", y)) {
            krf__graph_fail(y.graph, KRF_E_ARGUMENT, "grad: a list is NULL");
        }
        return;
    }
    uint32_t *ids = ids_of("grad", y, n, by), *results = ids != NULL ? krf__calloc((size_t)n + 1, sizeof *results) : NULL;
    if (ids != NULL && results == NULL) {
        krf__graph_fail(y.graph, KRF_E_MEMORY, "out of host memory (grad)");
    }
    const bool valid = results != NULL && krf__build_grad(y.graph, y.id, n, ids, results);
    for (int k = 0; k < n; k++) {
        gradients[k] = (krf_expr){y.graph, valid ? results[k] : 0};
    }
    krf__mem_free(ids);
    krf__mem_free(results);
}

void krf_value_and_grad(krf_expr y, int n, const krf_expr *by, krf_expr *results) {
    if (results == NULL) {
        if (krf__expr_check("value_and_grad", y)) {
            krf__graph_fail(y.graph, KRF_E_ARGUMENT, "value_and_grad: a list is NULL");
        }
        return;
    }
    krf_grad(y, n, by, results + 1);
    results[0] = (krf_expr){y.graph, y.graph != NULL && y.graph->status == KRF_OK ? y.id : 0};
}

krf_expr krf_jvp(krf_expr y, int n, const krf_expr *by, const krf_expr *tangents) {
    uint32_t *ids = ids_of("jvp", y, n, by), *forth = ids != NULL ? ids_of("jvp", y, n, tangents) : NULL;
    krf_expr result = {y.graph, forth != NULL ? krf__build_jvp(y.graph, y.id, n, ids, forth) : 0};
    krf__mem_free(ids);
    krf__mem_free(forth);
    return result;
}

krf_expr krf_stop_gradient(krf_expr x) {
    return (krf_expr){x.graph, krf__expr_check("stop_gradient", x) ? krf__build_stop_gradient(x.graph, x.id) : 0};
}
