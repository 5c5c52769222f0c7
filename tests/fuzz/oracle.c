/* Computes a graph node by node. Every node gets an array of its own in C order; an element of it is found by counting,
 * not by strides. */
#include "fuzz/movement.h"
#include "fuzz/user.h"

/* Walks over an operand while the result is walked over in C order: the operand's place, and what each axis of the
 * result adds to it. */
typedef struct walk {
    int rank;
    int64_t shape[RANK], steps[RANK], index[RANK], at;
} walk;

static void c_steps(int rank, const int64_t *shape, int64_t *steps) {
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        steps[i] = step;
        step *= shape[i];
    }
}

static walk walk_start(const facts *over, int64_t at, const int64_t *steps) {
    walk w = {.rank = over->rank, .at = at};
    memcpy(w.shape, over->shape, sizeof w.shape);
    memcpy(w.steps, steps, (size_t)over->rank * sizeof *steps);
    return w;
}

static void walk_next(walk *w) {
    for (int i = w->rank - 1; i >= 0; i--) {
        w->at += w->steps[i];
        if (++w->index[i] < w->shape[i]) {
            return;
        }
        w->at -= w->steps[i] * w->shape[i];
        w->index[i] = 0;
    }
}

/* Of an operand that is stretched to the result. */
static walk walk_broadcast(const facts *over, const facts *x) {
    int64_t own[RANK], steps[RANK] = {0};
    c_steps(x->rank, x->shape, own);
    for (int i = 0; i < x->rank; i++) {
        steps[i + over->rank - x->rank] = x->shape[i] == 1 ? 0 : own[i];
    }
    return walk_start(over, 0, steps);
}

/* Of the operand of a view. */
static walk walk_view(const node *n, const facts *x) {
    int64_t own[RANK], steps[RANK] = {0}, at = 0;
    c_steps(x->rank, x->shape, own);
    switch (n->kind) {
    case NODE_STRETCH: return walk_broadcast(&n->is, x);
    case NODE_TRANSPOSE:
        for (int i = 0; i < x->rank; i++) {
            steps[i] = own[n->axes[i] < 0 ? n->axes[i] + x->rank : n->axes[i]];
        }
        break;
    case NODE_SLICE:
    case NODE_FLIP:
        memcpy(steps, own, sizeof steps);
        for (int i = 0; i < x->rank; i++) {
            bool flipped = n->kind == NODE_FLIP && (n->axes[0] == i || n->axes[0] + x->rank == i);
            const krf_range whole = {KRF_NONE, KRF_NONE, flipped ? -1 : 1};
            const krf_range *r = n->kind == NODE_SLICE && i < n->n ? &n->ranges[i] : &whole;
            int64_t last = x->shape[i] - 1, start = r->step < 0 ? last : 0;
            if (r->start != KRF_NONE) {
                start = r->start < 0 ? r->start + x->shape[i] : r->start;
                start = start > last ? last
                        : start < 0  ? 0
                                     : start; /* beyond the ends only where nothing is taken, or clamped */
            }
            at += start * own[i];
            steps[i] *= r->step;
        }
        break;
    default:
        c_steps(n->is.rank, n->is.shape, steps);
        break; /* reshape, and axes of extent 1 that come or go: the same order */
    }
    return walk_start(&n->is, at, steps);
}

static void run_leaf(const graph *g, const node *n, void *out) {
    const leaf *l = &g->leaves[n->args[0]];
    walk w = walk_start(&n->is, l->offset, l->strides);
    for (int64_t i = 0; i < n->is.size; i++, walk_next(&w)) {
        put(out, i, block_element(g, l->block, w.at));
    }
}

static void run_view(const graph *g, const node *n, const void *x, void *out) {
    const facts *from = &g->nodes[n->args[0]].is;
    size_t bytes = bytes_of(from->dtype);
    walk w = walk_view(n, from);
    for (int64_t i = 0; i < n->is.size; i++, walk_next(&w)) {
        memcpy((char *)out + (size_t)i * bytes, (const char *)x + (size_t)w.at * bytes, bytes);
    }
}

static void typing(const graph *g, const node *n, krf_dtype *compute) {
    const facts *args[3] = {NULL};
    krf_dtype result;
    bool weak;
    for (int k = 0; k < op_arity(n->op); k++) {
        args[k] = &g->nodes[n->args[k]].is;
    }
    op_typing(n->op, args, compute, &result, &weak);
}

static void known_real(const graph *g, const node *n, bool *real) {
    for (int k = 0; k < 3; k++) {
        real[k] = k < op_arity(n->op) && g->nodes[n->args[k]].is.real;
    }
}

static bool is_open(const graph *g, const node *n) {
    krf_dtype compute;
    int64_t k;
    if (n->kind != NODE_ELEMENTWISE) {
        return node_is_user(n) && user_is_open(n);
    }
    typing(g, n, &compute);
    const bool chain = power_is_chain(g, n, compute, &k);
    if (is_complex(compute)) {
        bool real[3];
        known_real(g, n, real);
        return chain ? k < 0 && !real[0] : complex_open(n->op, real);
    }
    return op_open(n->op, compute) && !chain;
}

int graph_open_nodes(const graph *g, int *nodes) {
    bool needed[MOST_NODES];
    int n = 0;
    graph_needed(g, needed);
    for (int id = 0; id < g->n_nodes; id++) {
        if (needed[id] && is_open(g, &g->nodes[id])) {
            nodes[n++] = id;
        }
    }
    return n;
}

static bool too_far(int id, int op, krf_dtype compute, int64_t i, const value *x, value got, report *r) {
    char text[3][128];
    return fails(r, "node %d, %s in %s: element %" PRId64 " of %s, %s is %s, too far from the exact value", id, op_name(op), name_of(compute), i,
                 show(x[0], text[0], 128), show(x[1], text[1], 128), show(got, text[2], 128));
}

/* An element that is computed in a complex dtype: *got is looked at where it is open, and otherwise set. exponent: of a chain, else NULL. */
static bool complex_element(const graph *g, const node *n, krf_dtype compute, const int64_t *exponent, value *x, bool open, value *got) {
    int op = n->op;
    bool real[3];
    known_real(g, n, real);
    for (int k = 0; k < op_arity(op); k++) {
        x[k] = convert(x[k], op_converts(op, k) ? compute : KRF_BOOL);
    }
    if (exponent != NULL) { /* 1 over it where the exponent is negative */
        x[1] = complex_power_chain(compute, x[0], real[0], *exponent < 0 ? -*exponent : *exponent);
        x[0] = (value){.dtype = compute, .f = 1};
        real[1] = real[0];
        real[0] = true;
        op = op_find("divide");
        if (*exponent >= 0) {
            *got = x[1];
            return true;
        }
    }
    if (open) {
        return complex_accepts(op, compute, x, real, *got);
    }
    *got = complex_value(op, compute, x, real);
    return true;
}

static bool run_elementwise(const graph *g, int id, const values *v, const void *observed, bool cuda, void *out,
                            report *r) {
    const node *n = &g->nodes[id];
    krf_dtype compute;
    walk walks[3];
    int64_t exponent = 0;
    const int arity = op_arity(n->op);
    typing(g, n, &compute);
    const bool chain = power_is_chain(g, n, compute, &exponent);
    for (int k = 0; k < arity; k++) {
        walks[k] = walk_broadcast(&n->is, &g->nodes[n->args[k]].is);
    }
    for (int64_t i = 0; i < n->is.size; i++) {
        value x[3] = {{0}};
        for (int k = 0; k < arity; k++) {
            x[k] = get(v->of[n->args[k]], g->nodes[n->args[k]].is.dtype, walks[k].at);
            walk_next(&walks[k]);
        }
        if (is_complex(compute)) {
            value got = observed != NULL ? get(observed, n->is.dtype, i) : (value){.dtype = n->is.dtype};
            if (!complex_element(g, n, compute, chain ? &exponent : NULL, x, observed != NULL, &got)) {
                return too_far(id, n->op, compute, i, x, got, r);
            }
            put(out, i, got);
            continue;
        }
        if (observed == NULL) {
            put(out, i, chain ? power_chain(compute, x[0], exponent) : op_value(n->op, compute, n->is.dtype, x));
            continue;
        }
        value got = get(observed, n->is.dtype, i);
        if (!op_accepts(n->op, compute, x, got, cuda)) {
            return too_far(id, n->op, compute, i, x, got, r);
        }
        put(out, i, got);
    }
    return true;
}

static void run_reduce(const graph *g, const node *n, const void *x, void *out) {
    const facts *from = &g->nodes[n->args[0]].is;
    facts kept = {.rank = 0}, gone = {.rank = 0};
    int64_t own[RANK], kept_steps[RANK], gone_steps[RANK];
    unsigned mask = 0;
    c_steps(from->rank, from->shape, own);
    for (int i = 0; i < n->n; i++) {
        mask |= 1u << (n->axes[i] < 0 ? n->axes[i] + from->rank : n->axes[i]);
    }
    kept.size = gone.size = 1;
    for (int i = 0; i < from->rank; i++) {
        facts *part = (mask >> i & 1) != 0 ? &gone : &kept;
        (part == &gone ? gone_steps : kept_steps)[part->rank] = own[i];
        part->shape[part->rank++] = from->shape[i];
        part->size *= from->shape[i];
    }
    value *items = malloc((size_t)gone.size * sizeof *items + 1);
    assert_non_null(items);
    walk outer = walk_start(&kept, 0, kept_steps);
    for (int64_t i = 0; i < n->is.size; i++, walk_next(&outer)) {
        walk inner = walk_start(&gone, outer.at, gone_steps);
        for (int64_t j = 0; j < gone.size; j++, walk_next(&inner)) {
            items[j] = get(x, from->dtype, inner.at);
        }
        /* over no axes nothing is combined: the element itself in the result's dtype */
        put(out, i, mask == 0 ? convert(items[0], n->is.dtype) : reduction_value(n->op, from->dtype, from->real, items, gone.size));
    }
    free(items);
}

static void run_scan(const graph *g, const node *n, const void *x, void *out) {
    const facts *from = &g->nodes[n->args[0]].is;
    const int axis = n->axes[0] < 0 ? n->axes[0] + from->rank : n->axes[0];
    const int64_t extent = from->shape[axis];
    int64_t inner = 1;
    for (int i = axis + 1; i < from->rank; i++) {
        inner *= from->shape[i];
    }
    value *row = malloc(2 * (size_t)extent * sizeof *row + 1);
    assert_non_null(row);
    for (int64_t first = 0; first < n->is.size; first += first % inner == inner - 1 ? inner * (extent - 1) + 1 : 1) {
        for (int64_t i = 0; i < extent; i++) {
            row[i] = get(x, from->dtype, first + i * inner);
        }
        scan_values(n->op, from->dtype, row, extent, row + extent);
        for (int64_t i = 0; i < extent; i++) {
            put(out, first + i * inner, row[extent + i]);
        }
    }
    free(row);
}

bool oracle_run(const graph *g, void *const *observed, bool cuda, values *v, report *r) {
    bool needed[MOST_NODES], right = true;
    int n_open = 0;
    memset(v, 0, sizeof *v);
    graph_needed(g, needed);
    for (int id = 0; id < g->n_nodes && right; id++) {
        const node *n = &g->nodes[id];
        if (!needed[id]) {
            continue;
        }
        void *out = v->of[id] = malloc((size_t)n->is.size * bytes_of(n->is.dtype) + 1);
        assert_non_null(out);
        const void *x = node_arity(n) > 0 ? v->of[n->args[0]] : NULL;
        switch (n->kind) {
        case NODE_LEAF: run_leaf(g, n, out); break;
        case NODE_SCALAR: put(out, 0, n->scalar); break;
        case NODE_RANGE:
            for (int64_t i = 0; i < n->is.size; i++) {
                put(out, i, (value){.dtype = KRF_I64, .i = i});
            }
            break;
        case NODE_ELEMENTWISE:
            right = run_elementwise(g, id, v, is_open(g, n) ? observed[n_open++] : NULL, cuda, out, r);
            break;
        case NODE_CAST:
            for (int64_t i = 0; i < n->is.size; i++) {
                put(out, i, convert(get(x, g->nodes[n->args[0]].is.dtype, i), n->to));
            }
            break;
        case NODE_REDUCE: run_reduce(g, n, x, out); break;
        case NODE_SCAN: run_scan(g, n, x, out); break;
        case NODE_CALL:
        case NODE_FOLD:
        case NODE_FOLD_SCAN: right = run_user(g, id, v, is_open(g, n) ? observed[n_open++] : NULL, cuda, out, r); break;
        default:
            if (node_moves(n)) {
                run_moves(g, n, v, out);
            } else {
                run_view(g, n, x, out);
            }
            break;
        }
    }
    if (!right) {
        values_free(v);
    }
    return right;
}

void values_free(values *v) {
    for (int id = 0; id < MOST_NODES; id++) {
        free(v->of[id]);
        v->of[id] = NULL;
    }
}

bool same_elements(krf_dtype dtype, int64_t n, const void *a, const void *b, int64_t *first) {
    if (memcmp(a, b, (size_t)n * bytes_of(dtype)) == 0) {
        return true;
    }
    for (*first = 0; *first < n; ++*first) {
        if (!same(get(a, dtype, *first), get(b, dtype, *first))) {
            return false;
        }
    }
    return true;
}
