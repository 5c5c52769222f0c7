/* Generalised functions as the user holds them (kerfuse/raw.h): checks, then one call inward. */
#include <kerfuse/raw.h>

#include "api/expr.h"
#include "base/fail.h"
#include "base/mem.h"
#include "ir/gufunc.h"
#include "sched/context.h"

#include <string.h>

struct krf_gufunc {
    krf_context *context; /* retained */
    krf__gufunc *f;
};

krf_status krf_gufunc_define(krf_context *context, const krf_gufunc_description *description, krf_gufunc **gufunc) {
    krf_gufunc_description whole = {.size = sizeof whole};
    if (gufunc == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_gufunc_define: gufunc is NULL");
    }
    *gufunc = NULL;
    if (context == NULL || description == NULL || description->size <= sizeof description->size) {
        return krf__fail(KRF_E_ARGUMENT, "krf_gufunc_define: %s", context == NULL ? "context is NULL" : description == NULL ? "description is NULL" : "set size to sizeof(krf_gufunc_description)");
    }
    memcpy(&whole, description, description->size < sizeof whole ? description->size : sizeof whole);
    krf_gufunc *u = krf__calloc(1, sizeof *u);
    krf_status status = u == NULL ? krf__fail_memory() : krf__gufunc_make(&whole, &u->f);
    if (status != KRF_OK) {
        krf__mem_free(u);
        return status;
    }
    u->context = context;
    krf__context_retain(context);
    *gufunc = u;
    return KRF_OK;
}

void krf_gufunc_release(krf_gufunc *gufunc) {
    if (gufunc != NULL) {
        krf__gufunc_free(gufunc->f);
        krf__context_release(gufunc->context);
        krf__mem_free(gufunc);
    }
}

void krf_gufunc_call(krf_gufunc *gufunc, krf_graph *graph, int n, const krf_expr *inputs, krf_expr *outputs) {
    uint32_t ids[KRF__MOST_OPERANDS] = {0}, results[KRF__MOST_OPERANDS] = {0};
    bool valid = graph != NULL && gufunc != NULL && outputs != NULL && n >= 0 && (n == 0 || inputs != NULL);
    if (!valid && graph != NULL) {
        krf__graph_fail(graph, KRF_E_ARGUMENT, "krf_gufunc_call: %s is NULL or negative", gufunc == NULL ? "gufunc" : outputs == NULL ? "outputs" : "a number or a list");
    }
    if (valid && graph->context != gufunc->context) {
        krf__graph_fail(graph, KRF_E_ARGUMENT, "%s: the function belongs to another context than the graph", gufunc->f->name);
        valid = false;
    }
    for (int i = 0; valid && i < n && i < KRF__MOST_OPERANDS; i++) {
        if (inputs[i].graph != graph) {
            krf__graph_fail(graph, KRF_E_ARGUMENT, "%s: operand %d belongs to another graph", gufunc->f->name, i);
        }
        valid = inputs[i].graph == graph && krf__expr_check(gufunc->f->name, inputs[i]);
        ids[i] = inputs[i].id;
    }
    if (valid) {
        krf__build_gufunc(graph, gufunc->f, n, ids, results);
    }
    for (int k = 0; gufunc != NULL && outputs != NULL && k < gufunc->f->n_results; k++) {
        outputs[k] = (krf_expr){graph, results[k]};
    }
}
