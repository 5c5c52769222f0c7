/* krf_eval inside: the bytes of the graph find a plan, or else it is lowered, and the canonical bytes of what comes out do; and the plan runs with this graph's scalars.
 * Outputs that cannot be written in place get new memory, which is copied to them at the end. */
#include "sched/eval.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/build.h"
#include "pass/pass.h"
#include "sched/array.h"
#include "sched/dump.h"

#include <string.h>

typedef struct evaluating {
    const krf_graph *graph;  /* as it was built */
    const uint32_t *ids;
    int n;
    bool possible;           /* bytes of the graph may find a plan */
    bool is_lowered;
    krf_graph lowered;
    uint32_t *outputs;       /* nodes of lowered */
    krf_array **made;        /* what the plan writes to: given arrays, NULL for those to be made */
    const int64_t **strides; /* of given arrays that are not in C order */
    bool *conflict;
    krf_array **inputs;      /* of the plan */
    uint64_t *values;
    krf__str key, lowered_key;
    void *block, *arguments; /* NULL: they fit into those that follow */
    uint64_t small[16], small_arguments[32];
} evaluating;

static void free_evaluating(evaluating *e) {
    if (e->is_lowered) {
        krf__graph_free(&e->lowered);
    }
    krf__mem_free(e->block);
    krf__mem_free(e->arguments);
    krf__str_free(&e->key);
    krf__str_free(&e->lowered_key);
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
    return status == KRF_OK ? krf__outputs_apart(n, outputs) : status;
}

static krf_status begin(const krf_graph *g, int n, const uint32_t *ids, krf_array **outputs, evaluating *e) {
    const size_t count = (size_t)n, words = 2 * count + (count * sizeof *e->outputs + count + 7) / 8;
    e->graph = g;
    e->ids = ids;
    e->n = n;
    e->possible = krf__route_possible(g);
    e->is_lowered = false;
    e->key = e->lowered_key = (krf__str){0};
    e->arguments = NULL;
    e->block = words <= sizeof e->small / sizeof *e->small ? NULL : krf__malloc(words * sizeof(uint64_t));
    if (e->block == NULL && words > sizeof e->small / sizeof *e->small) {
        return krf__fail_memory();
    }
    uint64_t *at = e->block != NULL ? e->block : e->small;
    e->made = (krf_array **)(void *)at;
    e->strides = (const int64_t **)(void *)(at + count);
    e->outputs = (uint32_t *)(void *)(at + 2 * count);
    e->conflict = (bool *)(e->outputs + count);
    for (size_t k = 0; k < count; k++) { /* a raw kernel writes in C order: then it is copied */
        const bool raw = krf__node_of(g, ids[k])->op == KRF__raw_result;
        e->made[k] = raw && outputs[k] != NULL && !krf__array_contiguous(outputs[k]) ? NULL : outputs[k];
    }
    return KRF_OK;
}

static krf_status lower(evaluating *e) {
    krf_graph lowered;
    memcpy(e->outputs, e->ids, (size_t)e->n * sizeof *e->outputs);
    krf_status status = krf__pipeline(e->graph, &e->graph->context->limits, e->n, e->outputs, &lowered);
    if (status == KRF_OK) {
        e->lowered = lowered;
        e->is_lowered = true;
    }
    return status;
}

/* The plan of the lowered graph. */
static krf_status lowered_route(krf_context *context, evaluating *e, krf__plan_options *options, krf__route **route) {
    krf__compiled *compiled;
    krf_status status = e->is_lowered ? KRF_OK : lower(e);
    if (status != KRF_OK) {
        return status;
    }
    for (size_t i = 0; i < e->lowered.n_arrays; i++) {
        options->unaligned |= !krf__array_aligned(e->lowered.arrays[i]);
    }
    krf__str_clear(&e->lowered_key);
    krf__plan_key(&e->lowered, e->n, e->outputs, options, &e->lowered_key);
    if (e->lowered_key.failed) {
        return krf__fail_memory();
    }
    *route = krf__plan_cache_get(&context->plans, e->lowered_key.data, e->lowered_key.length);
    krf__count(*route != NULL ? &context->counters.plan_hits : &context->counters.plan_misses, 1);
    if (*route != NULL) {
        return KRF_OK;
    }
    status = krf__compiled_make(&e->lowered, e->n, e->outputs, options, &context->lengths, &compiled);
    if (status != KRF_OK) {
        return status;
    }
    krf__dump_plan(context, NULL, e->graph, e->n, e->ids, compiled);
    status = krf__route_make(compiled, NULL, NULL, route);
    if (status == KRF_OK) {
        krf__plan_cache_put(&context->plans, e->lowered_key.data, e->lowered_key.length, *route);
    }
    krf__compiled_release(compiled);
    return status;
}

/* The plan for what e->made says now. */
static krf_status find_route(krf_context *context, evaluating *e, krf__route **route) {
    krf__plan_options options = {.limits = &context->limits, .fast = context->fast, .output_strides = e->strides};
    for (int k = 0; k < e->n; k++) {
        const krf_array *a = e->made[k];
        e->strides[k] = a != NULL && !krf__array_contiguous(a) ? a->strides : NULL;
        options.unaligned |= a != NULL && !krf__array_aligned(a);
    }
    if (e->possible) {
        krf__str_clear(&e->key);
        krf__built_key(e->graph, e->n, e->ids, &options, &e->key);
        if (e->key.failed) {
            return krf__fail_memory();
        }
        *route = krf__plan_cache_get(&context->plans, e->key.data, e->key.length);
        if (*route != NULL) {
            krf__count(&context->counters.plan_hits, 1);
            return KRF_OK;
        }
    }
    krf_status status = lowered_route(context, e, &options, route);
    if (status == KRF_OK && e->possible) {
        krf__route *direct;
        status = krf__route_make((*route)->compiled, e->graph, &e->lowered, &direct);
        if (direct != NULL) {
            krf__plan_cache_put(&context->plans, e->key.data, e->key.length, direct);
            krf__route_release(direct);
        }
        if (status != KRF_OK) {
            krf__route_release(*route);
        }
    }
    return status;
}

/* This graph's arrays and scalars, in the plan's order. */
static krf_status follow(evaluating *e, const krf__route *route) {
    const size_t inputs = route->inputs != NULL ? route->n_inputs : 0, values = route->inputs != NULL ? route->n_values : e->lowered.n_nodes;
    const bool small = inputs + values <= sizeof e->small_arguments / sizeof *e->small_arguments;
    krf__mem_free(e->arguments);
    e->arguments = small ? NULL : krf__malloc((inputs + values) * sizeof(uint64_t));
    if (!small && e->arguments == NULL) {
        return krf__fail_memory();
    }
    uint64_t *at = small ? e->small_arguments : e->arguments;
    e->inputs = (krf_array **)(void *)(at + values);
    e->values = at;
    if (route->inputs == NULL) {
        e->inputs = e->lowered.arrays;
        krf__plan_values(&e->lowered, e->values);
        return KRF_OK;
    }
    for (size_t i = 0; i < inputs; i++) {
        e->inputs[i] = e->graph->arrays[route->inputs[i]];
    }
    for (size_t i = 0; i < values; i++) {
        e->values[i] = route->nodes[i] != 0 ? krf__node_of(e->graph, route->nodes[i])->value : route->values[i];
    }
    return KRF_OK;
}

static krf_status run(krf_context *context, evaluating *e) {
    krf__run r = {.context = context, .name = "krf_eval", .outputs = e->made};
    krf__route *route;
    krf_status status;
    bool again;
    do { /* at most twice: what conflicted is new memory then */
        status = find_route(context, e, &route);
        if (status != KRF_OK) {
            return status;
        }
        status = follow(e, route);
        r.compiled = route->compiled;
        r.inputs = e->inputs;
        r.values = e->values;
        again = status == KRF_OK && krf__plan_conflicts(&r, e->conflict);
        for (int k = 0; again && k < e->n; k++) {
            e->made[k] = e->conflict[k] ? NULL : e->made[k];
        }
        if (again) {
            krf__route_release(route);
        }
    } while (again);
    status = status == KRF_OK ? krf__plan_execute(&r) : status;
    krf__route_release(route);
    return status;
}

krf_status krf__copy_elements(krf_array *destination, krf_array *source) {
    krf_graph g;
    krf_status status = krf__graph_init(&g, source->storage->context);
    if (status != KRF_OK) {
        return status;
    }
    uint32_t id = krf__build_input(&g, source);
    status = id == 0 ? g.status : krf__eval(&g, 1, &id, &destination);
    krf__graph_free(&g);
    return status;
}

static krf_status copy_to(void *stream, krf_array *given, krf_array *made) {
    return krf__array_contiguous(given) ? krf__array_move(given, made, stream) : given->size == 0 ? KRF_OK : krf__copy_elements(given, made);
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
    evaluating e;
    krf_status status = check_outputs(graph, n, ids, outputs);
    if (status != KRF_OK) {
        return status;
    }
    status = begin(graph, n, ids, outputs, &e);
    if (status == KRF_OK) {
        status = run(graph->context, &e);
    }
    if (status == KRF_OK) {
        status = krf__deliver(NULL, n, outputs, e.made);
    }
    free_evaluating(&e);
    return status;
}
