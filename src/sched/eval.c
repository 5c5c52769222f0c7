/* krf_eval inside: the graph is lowered, its canonical bytes find a plan, and the plan runs with this graph's scalars.
 * Outputs that cannot be written in place get new memory, which is copied to them at the end. */
#include "sched/eval.h"

#include "base/fail.h"
#include "base/mem.h"
#include "pass/pass.h"
#include "sched/array.h"
#include "sched/dump.h"

#include <string.h>

typedef struct evaluating {
    const krf_graph *graph;  /* as it was built */
    const uint32_t *ids;
    krf_graph lowered;
    int n;
    uint32_t *outputs;       /* nodes of lowered */
    krf_array **made;        /* what the plan writes to: given arrays, NULL for those to be made */
    const int64_t **strides; /* of given arrays that are not in C order */
    bool *conflict;
    uint64_t *values;
    krf__str key;
} evaluating;

static void free_evaluating(evaluating *e) {
    krf__graph_free(&e->lowered);
    krf__mem_free(e->outputs);
    krf__mem_free(e->made);
    krf__mem_free((void *)e->strides);
    krf__mem_free(e->conflict);
    krf__mem_free(e->values);
    krf__str_free(&e->key);
}

static krf_status check_outputs(const krf_graph *g, int n, const uint32_t *ids, krf_array **outputs) {
    krf_status status = KRF_OK;
    for (int k = 0; status == KRF_OK && k < n; k++) {
        const krf__node *node = krf__node_of(g, ids[k]);
        if (outputs[k] != NULL) {
            status = krf__output_check(g->context, "output", k, outputs[k], (krf_dtype)node->dtype, node->rank,
                                       krf__shape_of(g, ids[k]));
        }
    }
    return status;
}

static krf_status lower(const krf_graph *g, const uint32_t *ids, krf_array **outputs, evaluating *e) {
    size_t n = (size_t)e->n;
    e->outputs = krf__malloc(n * sizeof *e->outputs);
    e->made = krf__malloc(n * sizeof *e->made);
    e->strides = krf__calloc(n, sizeof *e->strides);
    e->conflict = krf__calloc(n, sizeof *e->conflict);
    if (e->outputs == NULL || e->made == NULL || e->strides == NULL || e->conflict == NULL) {
        return krf__fail_memory();
    }
    memcpy(e->outputs, ids, n * sizeof *ids);
    for (size_t k = 0; k < n; k++) { /* a raw kernel writes in C order: then it is copied */
        const bool raw = krf__node_of(g, ids[k])->op == KRF__raw_result;
        e->made[k] = raw && outputs[k] != NULL && !krf__array_contiguous(outputs[k]) ? NULL : outputs[k];
    }
    krf_graph lowered;
    krf_status status = krf__pipeline(g, &g->context->limits, e->n, e->outputs, &lowered);
    if (status != KRF_OK) {
        return status;
    }
    e->lowered = lowered;
    e->values = krf__malloc(e->lowered.n_nodes * sizeof *e->values);
    if (e->values == NULL) {
        return krf__fail_memory();
    }
    krf__plan_values(&e->lowered, e->values);
    return KRF_OK;
}

/* The plan for what e->made says now. */
static krf_status find_plan(krf_context *context, evaluating *e, krf__compiled **compiled) {
    krf__plan_options options = {.limits = &context->limits, .fast = context->fast, .output_strides = e->strides};
    for (int k = 0; k < e->n; k++) {
        const krf_array *a = e->made[k];
        e->strides[k] = a != NULL && !krf__array_contiguous(a) ? a->strides : NULL;
        options.unaligned |= a != NULL && !krf__array_aligned(a);
    }
    for (size_t i = 0; i < e->lowered.n_arrays; i++) {
        options.unaligned |= !krf__array_aligned(e->lowered.arrays[i]);
    }
    krf__str_clear(&e->key);
    krf__plan_key(&e->lowered, e->n, e->outputs, &options, &e->key);
    if (e->key.failed) {
        return krf__fail_memory();
    }
    *compiled = krf__plan_cache_get(&context->plans, e->key.data, e->key.length);
    krf__count(*compiled != NULL ? &context->counters.plan_hits : &context->counters.plan_misses, 1);
    if (*compiled != NULL) {
        return KRF_OK;
    }
    krf_status status = krf__compiled_make(&e->lowered, e->n, e->outputs, &options, compiled);
    if (status == KRF_OK) {
        krf__dump_plan(context, NULL, e->graph, e->n, e->ids, *compiled);
        krf__plan_cache_put(&context->plans, e->key.data, e->key.length, *compiled);
    }
    return status;
}

static krf_status run(krf_context *context, evaluating *e) {
    krf__run r = {.context = context, .name = "krf_eval", .inputs = e->lowered.arrays, .values = e->values, .outputs = e->made};
    krf_status status;
    bool again;
    do { /* at most twice: what conflicted is new memory then */
        status = find_plan(context, e, &r.compiled);
        if (status != KRF_OK) {
            return status;
        }
        again = krf__plan_conflicts(&r, e->conflict);
        for (int k = 0; again && k < e->n; k++) {
            e->made[k] = e->conflict[k] ? NULL : e->made[k];
        }
        if (again) {
            krf__compiled_release(r.compiled);
        }
    } while (again);
    status = krf__plan_execute(&r);
    krf__compiled_release(r.compiled);
    return status;
}

static krf_status copy_to(void *stream, krf_array *given, krf_array *made) {
    return krf__array_contiguous(given) ? krf__array_move(given, made, stream) : krf__copy(given, made);
}

krf_status krf__deliver(void *stream, int n, krf_array **given, krf_array **made) {
    krf_status status = KRF_OK;
    for (int k = 0; k < n; k++) {
        if (given[k] != NULL && made[k] != given[k]) {
            status = status == KRF_OK ? copy_to(stream, given[k], made[k]) : status;
            krf_array_release(made[k]);
        }
    }
    for (int k = 0; k < n; k++) {
        if (given[k] == NULL && status == KRF_OK) {
            given[k] = made[k];
        } else if (given[k] == NULL) {
            krf_array_release(made[k]);
        }
    }
    return status;
}

krf_status krf__eval(const krf_graph *graph, int n, const uint32_t *ids, krf_array **outputs) {
    evaluating e = {.graph = graph, .ids = ids, .n = n};
    krf_status status = check_outputs(graph, n, ids, outputs);
    if (status != KRF_OK) {
        return status;
    }
    status = lower(graph, ids, outputs, &e);
    if (status == KRF_OK) {
        status = run(graph->context, &e);
    }
    if (status == KRF_OK) {
        status = krf__deliver(NULL, n, outputs, e.made);
    }
    free_evaluating(&e);
    return status;
}
