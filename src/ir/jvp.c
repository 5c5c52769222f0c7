/* Forward mode: from the variables up, each node has the tangent that follows from those of its operands. Each is visited once, in the order of the graph. */
#include "ir/grad.h"

#include "base/mem.h"
#include "ir/adjoint.h"
#include "ir/differentiate.h"

/* The tangent of a node by those of its operands. */
static uint32_t tangent_elementwise(krf__differentiating *d, uint32_t id) {
    krf_graph *g = d->g;
    uint32_t sum = 0, operands[KRF__MOST_DEFINED];
    const int arity = krf__operands(g, id, operands);
    for (int k = 0; k < arity; k++) {
        if (!krf__depends_by(d, id, k, operands[k])) {
            continue;
        }
        uint32_t t = krf__derive_elementwise(g, id, k, operands, d->found[operands[k]], true);
        if (t == 0) {
            krf__derivative_unknown(d, id);
            return 0;
        }
        sum = sum == 0 ? t : krf__build(g, KRF__add, 2, (uint32_t[]){sum, t});
    }
    return krf__build_astype(g, sum, krf__dtype_of(g, id));
}

static uint32_t tangent_of(krf__differentiating *d, uint32_t id) {
    krf_graph *g = d->g;
    krf__node n = *krf__node_of(g, id);
    const krf__op_class class_ = krf__op_info_of(n.op)->class_;
    if (krf__op_is_raw((krf__op)n.op)) {
        krf__derivative_unknown(d, id);
        return 0;
    }
    if (class_ == KRF__CLASS_ELEMENTWISE) {
        return tangent_elementwise(d, id);
    }
    if (krf__op_is_fold((krf__op)n.op)) {
        krf__derivative_unknown(d, id);
        return 0;
    }
    uint32_t T = d->found[n.args[0]];
    if (n.op == KRF__cast) {
        return krf__build_cast(g, T, (krf_dtype)n.dtype);
    }
    T = krf__derivative_whole(g, T, n.args[0]);
    if (T == 0 || class_ == KRF__CLASS_REDUCE || class_ == KRF__CLASS_SCAN) {
        return T == 0 ? 0 : class_ == KRF__CLASS_REDUCE ? krf__tangent_reduce(g, id, T) : krf__tangent_scan(g, id, T);
    }
    n.args[0] = T; /* views and takes are linear */
    return krf__graph_add(g, &n, krf__shape_of(g, id), krf__ints_of(g, id));
}

/* What the result is made of: a function without a derivative elsewhere in the graph is no fault. */
static bool *find_needed(const krf__differentiating *d, uint32_t y) {
    bool *needed = krf__calloc(d->n, sizeof *needed);
    if (needed == NULL) {
        krf__graph_fail(d->g, KRF_E_MEMORY, "out of host memory (%s)", d->name);
        return NULL;
    }
    needed[y] = true;
    for (uint32_t id = y; id > 0; id--) {
        uint32_t operands[KRF__MOST_DEFINED];
        const int arity = krf__operands(d->g, id, operands);
        for (int k = 0; needed[id] && d->depends[id] == KRF__DEPENDENT && k < arity; k++) {
            needed[operands[k]] = true;
        }
    }
    return needed;
}

/* The tangent of variable k, strong, in its dtype. */
static uint32_t given(krf_graph *g, int k, uint32_t variable, uint32_t tangent) {
    const krf__node *x = krf__node_of(g, variable), *t = krf__node_of(g, tangent);
    int rank;
    int64_t shape[KRF_MAX_RANK];
    if (krf__is_complex((krf_dtype)t->dtype) && !krf__is_complex((krf_dtype)x->dtype)) {
        return krf__graph_fail(g, KRF_E_DTYPE, "jvp: tangent %d is %s, variable %d is %s", k + 1, krf_dtype_name((krf_dtype)t->dtype), k + 1,
                               krf_dtype_name((krf_dtype)x->dtype));
    }
    if (!krf__shape_broadcast(x->rank, krf__shape_of(g, variable), t->rank, krf__shape_of(g, tangent), &rank, shape) ||
        !krf__shape_equal(rank, shape, x->rank, krf__shape_of(g, variable))) {
        krf__str text = {0};
        krf__str_shape(&text, t->rank, krf__shape_of(g, tangent));
        krf__str_put(&text, ", the variable ");
        krf__str_shape(&text, x->rank, krf__shape_of(g, variable));
        krf__graph_fail(g, KRF_E_SHAPE, "jvp: tangent %d has shape %s", k + 1, text.data != NULL ? text.data : "?");
        krf__str_free(&text);
        return 0;
    }
    return krf__build_astype(g, tangent, (krf_dtype)x->dtype);
}

uint32_t krf__build_jvp(krf_graph *g, uint32_t y, int n, const uint32_t *by, const uint32_t *tangents) {
    krf__differentiating d = {0};
    uint32_t result = 0;
    bool valid = y != 0 && y < g->n_nodes;
    if (valid && !(krf__is_real(krf__dtype_of(g, y)) || krf__is_complex(krf__dtype_of(g, y)))) {
        krf__graph_fail(g, KRF_E_DTYPE, "jvp: what is differentiated is %s; derivatives are of floats and complex numbers", krf_dtype_name(krf__dtype_of(g, y)));
        valid = false;
    }
    valid = valid && krf__differentiating_begin(&d, g, "jvp", y, n, by);
    bool *needed = valid ? find_needed(&d, y) : NULL;
    valid = needed != NULL;
    for (int k = 0; valid && k < n; k++) {
        uint32_t t = tangents[k] == 0 || tangents[k] >= g->n_nodes ? 0 : given(g, k, by[k], tangents[k]);
        valid = t != 0;
        if (valid && by[k] <= y) {
            d.found[by[k]] = t;
        }
    }
    for (uint32_t id = 1; valid && id <= y; id++) {
        if (needed[id] && d.depends[id] == KRF__DEPENDENT) {
            d.found[id] = tangent_of(&d, id);
            valid = d.found[id] != 0;
        }
    }
    if (valid) {
        result = d.depends[y] == KRF__INDEPENDENT ? krf__zeros(g, krf__dtype_of(g, y), krf__node_of(g, y)->rank, krf__shape_of(g, y)) : krf__derivative_whole(g, d.found[y], y);
    }
    krf__differentiating_end(&d);
    krf__mem_free(needed);
    return result;
}
