/* Dtypes and shapes, from docs/semantics.md: what the library's builders must find too. */
#include "fuzz/graph.h"

#include "fuzz/movement.h"
#include "fuzz/user.h"

static void measure(facts *f) {
    f->size = 1;
    for (int i = 0; i < f->rank; i++) {
        f->size *= f->shape[i];
    }
}

bool broadcast(facts *to, const facts *x) {
    int rank = to->rank > x->rank ? to->rank : x->rank;
    int64_t shape[RANK];
    for (int i = 1; i <= rank; i++) {
        int64_t a = i <= to->rank ? to->shape[to->rank - i] : 1, b = i <= x->rank ? x->shape[x->rank - i] : 1;
        if (a != b && a != 1 && b != 1) {
            return false;
        }
        shape[rank - i] = a == 1 ? b : a;
    }
    memcpy(to->shape, shape, (size_t)rank * sizeof *shape);
    to->rank = rank;
    return true;
}

static bool is_integer(krf_dtype dtype) { return !is_real(dtype) && !is_complex(dtype) && dtype != KRF_BOOL; }

bool power_is_chain(const graph *g, const node *n, krf_dtype compute, int64_t *k) {
    const node *e = op_is_power(n->op) ? &g->nodes[n->args[1]] : NULL;
    if (e == NULL || e->kind != NODE_SCALAR || e->strong || !is_integer(e->scalar.dtype)) {
        return false;
    }
    *k = e->scalar.i;
    return *k <= 8 && *k >= (is_integer(compute) ? 0 : -8);
}

/* What is computed of numbers known to be real is, where that is of the operation: docs/semantics.md, "A real operand stays real". */
static bool stays_real(const graph *g, const node *n) {
    krf_dtype compute = n->is.dtype;
    int64_t k;
    bool real = n->op < 0 || !is_complex(compute);
    if (power_is_chain(g, n, compute, &k)) {
        return k == 0 ? !n->is.weak : g->nodes[n->args[0]].is.real;
    }
    if (real || !op_takes_complex(n->op) || !complex_stays_real(n->op)) {
        return real;
    }
    for (int j = 0; j < op_arity(n->op); j++) {
        const facts *x = &g->nodes[n->args[j]].is;
        if (op_converts(n->op, j) && !x->real) {
            return false;
        }
    }
    return true;
}

bool weak_fits(const graph *g, const node *n, krf_dtype compute) {
    while (n->kind == NODE_ELEMENTWISE && strcmp(op_name(n->op), "positive") == 0) {
        n = &g->nodes[n->args[0]]; /* +x is x itself */
    }
    if (n->kind != NODE_SCALAR || n->strong || !is_integer(n->scalar.dtype) || !is_integer(compute)) {
        return true;
    }
    return wide_of(convert(n->scalar, compute)) == wide_of(n->scalar);
}

static bool infer_elementwise(const graph *g, node *n) {
    const facts *args[3] = {NULL};
    krf_dtype compute;
    for (int k = 0; k < op_arity(n->op); k++) {
        args[k] = &g->nodes[n->args[k]].is;
    }
    if (!op_typing(n->op, args, &compute, &n->is.dtype, &n->is.weak)) {
        return false;
    }
    for (int k = 0; k < op_arity(n->op); k++) {
        const node *arg = &g->nodes[n->args[k]];
        if (!broadcast(&n->is, args[k]) || (op_converts(n->op, k) && !weak_fits(g, arg, compute))) {
            return false;
        }
        /* Whether a power is a chain of multiplications must not depend on how a run-time value is passed. */
        if (op_is_power(n->op) && k == 1 && arg->kind == NODE_SCALAR && !arg->literal && is_integer(arg->scalar.dtype)) {
            return false;
        }
    }
    n->is.real = stays_real(g, n);
    return true;
}

/* As Python's slice.indices and range have it. */
static int64_t slice_extent(int64_t extent, const krf_range *r) {
    int64_t low = r->step < 0 ? -1 : 0, high = r->step < 0 ? extent - 1 : extent;
    int64_t start = r->start == KRF_NONE ? (r->step < 0 ? high : low) : r->start < 0 ? r->start + extent : r->start;
    int64_t stop = r->stop == KRF_NONE ? (r->step < 0 ? low : high) : r->stop < 0 ? r->stop + extent : r->stop;
    int64_t count = 0;
    start = start < low ? low : start > high ? high : start;
    stop = stop < low ? low : stop > high ? high : stop;
    for (int64_t i = start; r->step < 0 ? i > stop : i < stop; i += r->step) {
        count++;
    }
    return count;
}

static int whole_axis(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

static bool infer_transpose(node *n, const facts *x) {
    unsigned seen = 0;
    n->is.rank = x->rank;
    for (int i = 0; i < x->rank; i++) {
        int axis = whole_axis(n->axes[i], x->rank);
        if (n->n != x->rank || axis < 0 || axis >= x->rank || (seen >> axis & 1) != 0) {
            return false;
        }
        seen |= 1u << axis;
        n->is.shape[i] = x->shape[axis];
    }
    return true;
}

static bool infer_slice(node *n, const facts *x) {
    n->is.rank = x->rank;
    memcpy(n->is.shape, x->shape, sizeof n->is.shape);
    for (int i = 0; i < n->n; i++) {
        if (i >= x->rank || n->ranges[i].step == 0) {
            return false;
        }
        n->is.shape[i] = slice_extent(x->shape[i], &n->ranges[i]);
    }
    return true;
}

static bool infer_reshape(node *n, const facts *x) {
    int64_t known = 1;
    int open = -1;
    n->is.rank = n->n;
    for (int i = 0; i < n->n; i++) {
        n->is.shape[i] = n->extents[i];
        if (n->extents[i] == -1 && open < 0) {
            open = i;
        } else if (n->extents[i] < 0) {
            return false;
        } else {
            known *= n->extents[i];
        }
    }
    if (open >= 0) {
        if (known == 0 || x->size % known != 0) {
            return false;
        }
        n->is.shape[open] = x->size / known;
        known = x->size;
    }
    return known == x->size;
}

static bool infer_stretch(node *n, const facts *x) {
    n->is.rank = n->n;
    memcpy(n->is.shape, n->extents, sizeof n->is.shape);
    for (int i = 0; i < x->rank; i++) {
        int at = i + n->n - x->rank;
        if (at < 0 || (x->shape[i] != 1 && n->extents[at] != x->shape[i])) {
            return false;
        }
    }
    return true;
}

/* An axis more, or one of extent 1 less. */
static bool infer_axis(node *n, const facts *x) {
    bool more = n->kind == NODE_EXPAND;
    int rank = x->rank + (more ? 1 : -1), at = whole_axis(n->axes[0], more ? rank : x->rank);
    if (rank < 0 || rank > RANK || at < 0 || at >= (more ? rank : x->rank) || (!more && x->shape[at] != 1)) {
        return false;
    }
    n->is.rank = rank;
    for (int i = 0; i < rank; i++) {
        n->is.shape[i] = more && i == at ? 1 : x->shape[more ? i - (i > at) : i + (i >= at)];
    }
    return true;
}

static bool infer_reduce(node *n, const facts *x) {
    unsigned mask = 0;
    bool none = false;
    for (int i = 0; i < n->n; i++) {
        int axis = whole_axis(n->axes[i], x->rank);
        if (axis < 0 || axis >= x->rank || (mask >> axis & 1) != 0) {
            return false;
        }
        mask |= 1u << axis;
        none |= x->shape[axis] == 0;
    }
    n->is.dtype = reduction_dtype(n->op, x->dtype);
    n->is.real = x->real || (none && strcmp(reduction_name(n->op), "prod") == 0); /* the product of nothing is 1 */
    for (int i = 0; i < x->rank; i++) {
        if ((mask >> i & 1) == 0 || n->keepdims) {
            n->is.shape[n->is.rank++] = (mask >> i & 1) != 0 ? 1 : x->shape[i];
        }
    }
    measure(&n->is);
    return reduction_defined(n->op, x->dtype) && (!none || n->is.size == 0 || reduction_of_none(n->op));
}

bool node_infer(const graph *g, node *n) {
    const facts *x = node_arity(n) > 0 ? &g->nodes[n->args[0]].is : NULL;
    const leaf *l = n->kind == NODE_LEAF ? &g->leaves[n->args[0]] : NULL;
    bool right = true;
    n->is = (facts){.dtype = x != NULL ? x->dtype : KRF_BOOL, .real = x != NULL && x->real};
    switch (n->kind) {
    case NODE_LEAF:
        n->is.dtype = g->blocks[l->block].dtype;
        n->is.rank = l->rank;
        memcpy(n->is.shape, l->shape, sizeof n->is.shape);
        break;
    case NODE_SCALAR:
        n->is.dtype = n->scalar.dtype;
        n->is.weak = !n->strong;
        break;
    case NODE_RANGE:
        n->is.dtype = KRF_I64;
        n->is.rank = 1;
        n->is.shape[0] = n->extents[0];
        break;
    case NODE_ELEMENTWISE: right = infer_elementwise(g, n); break;
    case NODE_CAST:
        n->is = *x;
        n->is.dtype = n->to;
        n->is.weak = false;
        n->is.real = x->real && is_complex(x->dtype); /* of a real number it has an imaginary part, which is 0 */
        right = !is_complex(x->dtype) || is_complex(n->to) || n->to == KRF_BOOL;
        break;
    case NODE_TRANSPOSE: right = infer_transpose(n, x); break;
    case NODE_FLIP:
    case NODE_SCAN:
        n->is = *x;
        n->is.weak = false;
        n->is.dtype = n->kind == NODE_SCAN ? scan_dtype(n->op, x->dtype) : x->dtype;
        right = whole_axis(n->axes[0], x->rank) >= 0 && whole_axis(n->axes[0], x->rank) < x->rank
                && (n->kind == NODE_FLIP || scan_defined(n->op, x->dtype));
        break;
    case NODE_SLICE: right = infer_slice(n, x); break;
    case NODE_RESHAPE: right = infer_reshape(n, x); break;
    case NODE_STRETCH: right = infer_stretch(n, x); break;
    case NODE_EXPAND:
    case NODE_SQUEEZE: right = infer_axis(n, x); break;
    case NODE_REDUCE: right = infer_reduce(n, x); break;
    case NODE_CALL:
    case NODE_FOLD:
    case NODE_FOLD_SCAN: right = infer_user(g, n); break;
    default: right = infer_moves(g, n); break;
    }
    n->is.real |= !is_complex(n->is.dtype);
    measure(&n->is);
    return right;
}

bool graph_infer(graph *g, int64_t most) {
    for (int id = 0; id < g->n_nodes; id++) {
        if (!node_infer(g, &g->nodes[id]) || g->nodes[id].is.size > most) {
            return false;
        }
    }
    return true;
}
