/* krf_eval and krf_eval_many: checks, then sched/eval.c. */
#include "api/expr.h"

#include "base/fail.h"
#include "base/mem.h"
#include "sched/eval.h"

#include <kerfuse/plan.h>

/* Names the placeholders that stand in the way. */
static krf_status refuse_placeholders(const krf_graph *g) {
    krf__str names = {0};
    for (size_t i = 0; i < g->n_placeholders; i++) {
        const char *name = g->placeholders[i].name;
        krf__str_put(&names, i > 0 ? ", " : "");
        if (name != NULL) {
            krf__str_put(&names, name);
        } else {
            krf__str_printf(&names, "number %zu", i);
        }
    }
    krf__fail(KRF_E_ARGUMENT,
              "krf_eval: placeholders have no value (%s): use krf_compile and krf_plan_run, or krf_input",
              names.failed ? "?" : names.data);
    krf__str_free(&names);
    return KRF_E_ARGUMENT;
}

krf_status krf_eval_many(int n, const krf_expr *xs, krf_array **outputs) {
    uint32_t one = 0, *ids = &one;
    if (n < 0 || (n > 0 && (xs == NULL || outputs == NULL))) {
        return krf__fail(KRF_E_ARGUMENT, "krf_eval: an argument is NULL or negative");
    }
    if (n == 0) {
        return KRF_OK;
    }
    if (n > 1 && (ids = krf__malloc((size_t)n * sizeof *ids)) == NULL) {
        return krf__fail_memory();
    }
    krf_status status = krf__expr_ids("krf_eval", xs[0].graph, n, xs, ids);
    if (status == KRF_OK && xs[0].graph->n_placeholders > 0) {
        status = refuse_placeholders(xs[0].graph);
    }
    if (status == KRF_OK) {
        status = krf__eval(xs[0].graph, n, ids, outputs);
    }
    if (ids != &one) {
        krf__mem_free(ids);
    }
    return status;
}

krf_status krf_eval(krf_expr x, krf_array **output) { return krf_eval_many(1, &x, output); }
