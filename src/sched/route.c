/* How graphs meet plans. Passes take most of the time in which an evaluation finds its plan, so a graph as its user built it leads there directly once they have
 * been asked: which array became which input, and which scalar which value. */
#include "sched/plans.h"

#include "base/fail.h"
#include "base/mem.h"

/* Passes read integers: places in an axis, exponents. Floats they hand on. */
bool krf__route_possible(const krf_graph *g) {
    for (size_t id = 1; id < g->n_nodes; id++) {
        const krf__node *n = &g->nodes[id];
        if (n->op == KRF__scalar && (n->n_ints == 0 || !krf__is_real((krf_dtype)n->dtype))) {
            return false;
        }
    }
    return g->n_raws == 0 && g->n_ops == 0 && g->n_placeholders == 0;
}

static uint32_t count_scalars(const krf_graph *g) {
    uint32_t n = 0;
    for (size_t id = 1; id < g->n_nodes; id++) {
        n += g->nodes[id].op == KRF__scalar;
    }
    return n;
}

static bool trace_inputs(const krf_graph *built, const krf_graph *lowered, uint32_t *inputs) {
    for (size_t i = 0; i < lowered->n_arrays; i++) {
        size_t k = 0;
        while (k < built->n_arrays && built->arrays[k] != lowered->arrays[i]) {
            k++;
        }
        if (k == built->n_arrays) {
            return false;
        }
        inputs[i] = (uint32_t)k;
    }
    return true;
}

/* The node of `built` whose value a lowered scalar has; 0: it is the same whatever these are. */
static bool trace_value(const krf_graph *built, bool varies, const krf_graph *lowered, uint32_t id, uint32_t *node) {
    const krf__node *n = krf__node_of(lowered, id);
    const int64_t mark = n->n_ints == 1 ? krf__ints_of(lowered, id)[0] : 0;
    *node = 0;
    if (!varies || mark == KRF__OF_SHAPES) {
        return true;
    }
    if (mark <= 0 || (size_t)mark >= built->n_nodes) {
        return false;
    }
    const krf__node *from = krf__node_of(built, (uint32_t)mark);
    *node = (uint32_t)mark;
    return from->op == KRF__scalar && from->dtype == n->dtype && from->value == n->value;
}

static bool trace(const krf_graph *built, const krf_graph *lowered, uint32_t *inputs, uint32_t *nodes, uint64_t *values) {
    const bool varies = count_scalars(built) > 0;
    uint32_t n = 0;
    for (uint32_t id = 1; id < lowered->n_nodes; id++) {
        if (krf__node_of(lowered, id)->op == KRF__scalar) {
            if (!trace_value(built, varies, lowered, id, &nodes[n])) {
                return false;
            }
            values[n++] = krf__node_of(lowered, id)->value;
        }
    }
    return trace_inputs(built, lowered, inputs);
}

krf_status krf__route_make(krf__compiled *compiled, const krf_graph *built, const krf_graph *lowered, krf__route **route) {
    const size_t n_inputs = lowered != NULL ? lowered->n_arrays : 0, n_values = lowered != NULL ? count_scalars(lowered) : 0;
    krf__route *r = krf__malloc(sizeof *r + n_values * (sizeof(uint64_t) + sizeof(uint32_t)) + n_inputs * sizeof(uint32_t));
    *route = NULL;
    if (r == NULL) {
        return krf__fail_memory();
    }
    uint64_t *values = (uint64_t *)(r + 1);
    uint32_t *inputs = (uint32_t *)(values + n_values), *nodes = inputs + n_inputs;
    if (lowered != NULL && !trace(built, lowered, inputs, nodes, values)) {
        krf__mem_free(r);
        return KRF_OK;
    }
    atomic_init(&r->references, 1);
    atomic_fetch_add(&compiled->references, 1);
    r->compiled = compiled;
    r->n_inputs = (uint32_t)n_inputs;
    r->n_values = (uint32_t)n_values;
    r->inputs = lowered != NULL ? inputs : NULL;
    r->nodes = nodes;
    r->values = values;
    *route = r;
    return KRF_OK;
}
