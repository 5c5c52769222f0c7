/* Plans: made from graphs, run, released. Bindings are in plan_bind.c, what arrays must be in plan_check.c, explanations in plan_info.c. */
#include "api/plan.h"

#include "api/expr.h"
#include "base/fail.h"
#include "base/mem.h"
#include "pass/pass.h"
#include "sched/dump.h"

#include <stdio.h>
#include <string.h>

krf_compile_options krf_compile_options_default(void) {
    return (krf_compile_options){.size = sizeof(krf_compile_options), .load = true};
}

/* For people: the log's line and the files of KRF_DUMP. */
static void tell(const krf_plan *p, const krf_graph *graph, const uint32_t *ids) {
    const krf__plan_data *data = &p->aligned->data;
    for (uint32_t i = 0; p->name != NULL && i < data->n_kernels; i++) {
        krf__log_line(&p->context->log, "%s: kernel %u of %u is %s", p->name, i + 1, data->n_kernels, data->kernels[i].name);
    }
    krf__dump_plan(p->context, p->name, graph, p->n_outputs, ids, p->aligned);
}

static krf_status compile(krf_graph *graph, int n, const krf_expr *xs, krf_plan *p) {
    p->outputs = krf__malloc((size_t)n * sizeof *p->outputs);
    if (p->outputs == NULL) {
        return krf__fail_memory();
    }
    krf_status status = krf__expr_ids("krf_compile", graph, n, xs, p->outputs);
    krf_graph lowered;
    if (status == KRF_OK) {
        status = krf__pipeline(graph, &graph->context->limits, n, p->outputs, &lowered);
    }
    if (status != KRF_OK) {
        return status;
    }
    p->lowered = lowered;
    p->n_outputs = n;
    p->context = graph->context;
    krf__context_retain(p->context);
    p->inputs_aligned = true;
    for (size_t i = 0; i < lowered.n_arrays; i++) {
        p->inputs_aligned &= krf__array_aligned(lowered.arrays[i]);
    }
    status = krf__compiled_make(&p->lowered, n, p->outputs, &(krf__plan_options){.limits = &p->context->limits, .fast = p->context->fast},
                                &p->context->lengths, &p->aligned);
    if (status != KRF_OK) {
        return status;
    }
    p->sources = krf__calloc(p->aligned->data.n_kernels, sizeof *p->sources);
    uint32_t *ids = p->sources != NULL ? krf__malloc((size_t)n * sizeof *ids) : NULL;
    if (ids == NULL) {
        return krf__fail_memory();
    }
    status = krf__expr_ids("krf_compile", graph, n, xs, ids);
    if (status == KRF_OK) {
        tell(p, graph, ids);
    }
    krf__mem_free(ids);
    return status;
}

/* The plan for arrays that start anywhere. */
static krf_status sibling(krf_plan *p, krf__compiled **compiled) {
    *compiled = atomic_load_explicit(&p->unaligned, memory_order_acquire);
    if (*compiled != NULL) {
        return KRF_OK;
    }
    pthread_mutex_lock(&p->lock);
    krf_status status = KRF_OK;
    *compiled = atomic_load(&p->unaligned);
    if (*compiled == NULL) {
        status = krf__compiled_make(&p->lowered, p->n_outputs, p->outputs, &(krf__plan_options){.limits = &p->context->limits, .fast = p->context->fast, .unaligned = true},
                                    &p->context->lengths, compiled);
        atomic_store_explicit(&p->unaligned, *compiled, memory_order_release);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

krf_status krf_compile(krf_graph *graph, int n, const krf_expr *outputs, const krf_compile_options *options,
                       krf_plan **plan) {
    krf_compile_options whole = krf_compile_options_default();
    if (plan == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_compile: plan is NULL");
    }
    *plan = NULL;
    if (n < 1 || outputs == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_compile: there are no expressions");
    }
    if (options != NULL && options->size <= sizeof options->size) {
        return krf__fail(KRF_E_ARGUMENT, "krf_compile: start from krf_compile_options_default()");
    }
    if (options != NULL) {
        memcpy(&whole, options, options->size < sizeof whole ? options->size : sizeof whole);
    }
    krf_plan *p = krf__calloc(1, sizeof *p);
    if (p == NULL) {
        return krf__fail_memory();
    }
    pthread_mutex_init(&p->lock, NULL);
    p->name = whole.name != NULL ? krf__strdup(whole.name) : NULL;
    krf_status status = whole.name == NULL || p->name != NULL ? compile(graph, n, outputs, p) : krf__fail_memory();
    if (status == KRF_OK && whole.load) {
        krf__compiled *used = p->aligned;
        status = p->inputs_aligned ? KRF_OK : sibling(p, &used);
        status = status == KRF_OK ? krf__plan_prepare(p->context, used) : status;
    }
    if (status != KRF_OK) {
        krf_plan_release(p);
        return status;
    }
    *plan = p;
    return KRF_OK;
}

void krf_plan_release(krf_plan *p) {
    if (p == NULL) {
        return;
    }
    for (uint32_t i = 0; p->sources != NULL && i < p->aligned->data.n_kernels; i++) {
        krf__mem_free(atomic_load(&p->sources[i]));
    }
    krf__mem_free((void *)p->sources);
    if (atomic_load(&p->held) != NULL) {
        p->context->backend->synchronize(p->context->device, NULL); /* graphs that run still use it */
        krf__pool_release(p->context->pool, atomic_load(&p->held));
    }
    krf__compiled_release(p->aligned);
    krf__compiled_release(atomic_load(&p->unaligned));
    krf__graph_free(&p->lowered);
    krf__mem_free(p->outputs);
    krf__mem_free(p->name);
    pthread_mutex_destroy(&p->lock);
    krf__context_release(p->context);
    krf__mem_free(p);
}

/* What one run needs in host memory. */
typedef struct needs {
    krf_array **bound, **made;
    uint64_t *values;
    bool *conflict;
    krf__run_arrays arrays; /* bound and made */
} needs;

static krf_status choose(krf_plan *p, const needs *m, krf__compiled **compiled) {
    bool aligned = p->inputs_aligned;
    for (uint32_t i = 0; i < p->aligned->data.n_placeholders; i++) {
        aligned &= m->bound[i] == NULL || krf__array_aligned(m->bound[i]);
    }
    for (int k = 0; k < p->n_outputs; k++) {
        aligned &= m->made[k] == NULL || krf__array_aligned(m->made[k]);
    }
    *compiled = p->aligned;
    return aligned ? KRF_OK : sibling(p, compiled);
}

/* Checks the arrays and finds the kernels for them; results that may not be written where they were given are made, and copied. */
static krf_status look(krf_plan *p, const needs *m, krf__run *r) {
    krf_status status = krf__plan_check(p, m->bound, m->made);
    status = status == KRF_OK ? choose(p, m, &r->compiled) : status;
    if (status != KRF_OK) {
        return status;
    }
    if (krf__plan_conflicts(r, m->conflict)) {
        for (int k = 0; k < p->n_outputs; k++) {
            m->made[k] = m->conflict[k] ? NULL : m->made[k];
        }
    } else if (r->compiled == p->aligned) {
        krf__plan_remember(p, &m->arrays);
    }
    return KRF_OK;
}

static krf_status run(krf_plan *p, void *stream, const needs *m, krf_array **outputs) {
    krf__run r = {.context = p->context,
                  .compiled = p->aligned,
                  .name = p->name != NULL ? p->name : "krf_plan_run",
                  .stream = stream,
                  .inputs = p->lowered.arrays,
                  .bound = m->bound,
                  .bound_values = m->values,
                  .outputs = m->made,
                  .held = &p->held};
    memcpy(m->made, outputs, (size_t)p->n_outputs * sizeof(krf_array *));
    krf_status status = krf__plan_knows(p, &m->arrays) ? KRF_OK : look(p, m, &r);
    status = status == KRF_OK ? krf__plan_execute(&r) : status;
    return status == KRF_OK ? krf__deliver(stream, p->n_outputs, outputs, m->made) : status;
}

krf_status krf_plan_run(krf_plan *plan, void *stream, int n, const krf_binding *bindings, krf_array **outputs) {
    if (plan == NULL || outputs == NULL || n < 0 || (n > 0 && bindings == NULL)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_plan_run: an argument is NULL or negative");
    }
    size_t placeholders = plan->aligned->data.n_placeholders, n_outputs = (size_t)plan->n_outputs;
    uint64_t small[64], *block = small;
    size_t words = 3 * placeholders + n_outputs + (n_outputs + 7) / 8;
    if (words > sizeof small / sizeof *small && (block = krf__malloc(words * sizeof *block)) == NULL) {
        return krf__fail_memory();
    }
    memset(block, 0, words * sizeof *block);
    needs m = {.values = block, .bound = (krf_array **)(void *)(block + 2 * placeholders)};
    m.made = m.bound + placeholders;
    m.conflict = (bool *)(void *)(m.made + n_outputs);
    m.arrays = (krf__run_arrays){.n_bound = (uint32_t)placeholders, .n_outputs = (uint32_t)n_outputs, .bound = m.bound, .outputs = m.made};
    krf_status status = krf__plan_bind(plan, stream, n, bindings, m.bound, m.values);
    status = status == KRF_OK ? run(plan, stream, &m, outputs) : status;
    if (block != small) {
        krf__mem_free(block);
    }
    return status;
}
