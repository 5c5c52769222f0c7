/* Nodes that move elements: their facts, and where each element comes from, one at a time. */
#include "fuzz/movement.h"

#include "fuzz/oracle.h"

bool node_moves(const node *n) { return n->kind >= NODE_TAKE && n->kind <= NODE_SET_SLICE; }

int moves_arity(const node *n) {
    return n->kind == NODE_TAKE || n->kind == NODE_ALONG || n->kind == NODE_JOIN || n->kind == NODE_STACK || n->kind == NODE_SET_SLICE ? 2 : 1;
}

static bool integers(const facts *f) { return !is_real(f->dtype) && !is_complex(f->dtype) && f->dtype != KRF_BOOL; }
static bool has_axis(const facts *f, int axis) { return axis >= 0 && axis < f->rank; }

static int64_t size_of(const facts *f) {
    int64_t size = 1;
    for (int i = 0; i < f->rank; i++) {
        size *= f->shape[i];
    }
    return size;
}

/* ---- facts ---- */

static bool infer_take(node *n, const facts *x, const facts *index) {
    int axis = n->axes[0];
    if (!has_axis(x, axis) || !integers(index) || x->rank - 1 + index->rank > RANK) {
        return false;
    }
    n->is.rank = x->rank - 1 + index->rank;
    for (int i = 0; i < axis; i++) {
        n->is.shape[i] = x->shape[i];
    }
    for (int i = 0; i < index->rank; i++) {
        n->is.shape[axis + i] = index->shape[i];
    }
    for (int i = axis + 1; i < x->rank; i++) {
        n->is.shape[i - 1 + index->rank] = x->shape[i];
    }
    return x->shape[axis] > 0 || size_of(&n->is) == 0;
}

static bool infer_along(node *n, const facts *x, const facts *index) {
    int axis = n->axes[0];
    if (!has_axis(x, axis) || !integers(index) || x->rank != index->rank) {
        return false;
    }
    n->is.rank = x->rank;
    for (int i = 0; i < x->rank; i++) {
        int64_t a = i == axis ? index->shape[i] : x->shape[i], b = index->shape[i];
        if (a != b && a != 1 && b != 1) {
            return false;
        }
        n->is.shape[i] = a == 1 ? b : a;
    }
    return x->shape[axis] > 0 || size_of(&n->is) == 0;
}

static bool infer_diagonal(node *n, const facts *x) {
    int kept = 0;
    if (!has_axis(x, n->axes[0]) || !has_axis(x, n->axes[1]) || n->axes[0] == n->axes[1]) {
        return false;
    }
    for (int i = 0; i < x->rank; i++) {
        if (i != n->axes[0] && i != n->axes[1]) {
            n->is.shape[kept++] = x->shape[i];
        }
    }
    int64_t length = 0;
    for (int64_t i = 0; i < x->shape[n->axes[0]]; i++) {
        length += i + n->extents[0] >= 0 && i + n->extents[0] < x->shape[n->axes[1]];
    }
    n->is.shape[kept++] = length;
    n->is.rank = kept;
    return true;
}

static bool infer_windows(node *n, const facts *x) {
    if (x->rank + n->n > RANK) {
        return false;
    }
    memcpy(n->is.shape, x->shape, sizeof n->is.shape);
    n->is.rank = x->rank + n->n;
    for (int i = 0; i < n->n; i++) {
        if (!has_axis(x, n->axes[i]) || n->extents[i] < 1 || n->extents[i] > n->is.shape[n->axes[i]]) {
            return false;
        }
        n->is.shape[n->axes[i]] -= n->extents[i] - 1;
        n->is.shape[x->rank + i] = n->extents[i];
    }
    return true;
}

static bool infer_pad(node *n, const facts *x) {
    if (!has_axis(x, n->axes[0]) || n->extents[0] < 0 || n->extents[1] < 0) {
        return false;
    }
    int64_t extent = x->shape[n->axes[0]], most = n->extents[0] > n->extents[1] ? n->extents[0] : n->extents[1];
    n->is.real = x->real && n->extents[0] + n->extents[1] == 0; /* the value that pads has an imaginary part, which is 0 */
    n->is.rank = x->rank;
    memcpy(n->is.shape, x->shape, sizeof n->is.shape);
    n->is.shape[n->axes[0]] += n->extents[0] + n->extents[1];
    return (n->op == KRF_PAD_CONSTANT || extent > 0 || most == 0) && (n->op != KRF_PAD_REFLECT || most == 0 || most < extent);
}

static bool infer_join(node *n, const facts *x, const facts *y) {
    const bool stack = n->kind == NODE_STACK;
    int axis = n->axes[0], rank = x->rank + stack;
    if (axis < 0 || axis >= rank || rank > RANK || x->rank != y->rank || !dtypes_promote(x->dtype, y->dtype, &n->is.dtype)) {
        return false;
    }
    n->is.rank = rank;
    /* a real operand gets an imaginary part, which is 0 */
    const bool x_real = x->real && is_complex(x->dtype), y_real = y->real && is_complex(y->dtype);
    n->is.real = !stack && x->shape[axis] == 0 && y->shape[axis] > 0 ? y_real : x_real && (y_real || (!stack && y->shape[axis] == 0));
    for (int i = 0; i < rank; i++) {
        int from = i - (stack && i > axis);
        if (stack && i == axis) {
            n->is.shape[i] = 2;
            continue;
        }
        n->is.shape[i] = x->shape[from] + (!stack && i == axis ? y->shape[from] : 0);
        if (x->shape[from] != y->shape[from] && (stack || i != axis)) {
            return false;
        }
    }
    return true;
}

/* The place of the k-th element of a slice, and how many there are: counted, as Python's range does. */
static int64_t slice_of(int64_t extent, const krf_range *r, int64_t *count) {
    int64_t low = r->step < 0 ? -1 : 0, high = r->step < 0 ? extent - 1 : extent;
    int64_t start = r->start == KRF_NONE ? (r->step < 0 ? high : low) : r->start < 0 ? r->start + extent : r->start;
    int64_t stop = r->stop == KRF_NONE ? (r->step < 0 ? low : high) : r->stop < 0 ? r->stop + extent : r->stop;
    start = start < low ? low : start > high ? high : start;
    stop = stop < low ? low : stop > high ? high : stop;
    *count = 0;
    for (int64_t i = start; r->step < 0 ? i > stop : i < stop; i += r->step) {
        ++*count;
    }
    return start;
}

static bool infer_set(node *n, const facts *x, const facts *v) {
    n->is.rank = x->rank;
    memcpy(n->is.shape, x->shape, sizeof n->is.shape);
    if (n->n > x->rank || v->rank > x->rank || (is_complex(v->dtype) && !is_complex(x->dtype) && x->dtype != KRF_BOOL)) {
        return false;
    }
    bool all = true, none = false;
    for (int i = 0; i < x->rank; i++) {
        int64_t count = x->shape[i];
        int at = i - (x->rank - v->rank);
        if (i < n->n) {
            if (n->ranges[i].step == 0) {
                return false;
            }
            slice_of(x->shape[i], &n->ranges[i], &count);
        }
        all &= count == x->shape[i];
        none |= count == 0;
        if (at >= 0 && v->shape[at] != 1 && v->shape[at] != count) {
            return false;
        }
    }
    n->is.real = none ? x->real : v->real && is_complex(v->dtype) && (all || x->real);
    return true;
}

bool infer_moves(const graph *g, node *n) {
    const facts *x = &g->nodes[n->args[0]].is, *y = &g->nodes[n->args[1]].is;
    n->is.dtype = x->dtype;
    switch (n->kind) {
    case NODE_TAKE: return infer_take(n, x, y);
    case NODE_ALONG: return infer_along(n, x, y);
    case NODE_DIAGONAL: return infer_diagonal(n, x);
    case NODE_WINDOWS: return infer_windows(n, x);
    case NODE_PAD: return infer_pad(n, x);
    case NODE_JOIN:
    case NODE_STACK: return infer_join(n, x, y);
    case NODE_SET_SLICE: return weak_fits(g, &g->nodes[n->args[1]], x->dtype) && infer_set(n, x, y);
    default: break;
    }
    n->is.rank = x->rank; /* NODE_ROLL, NODE_REPEAT */
    memcpy(n->is.shape, x->shape, sizeof n->is.shape);
    if (n->kind == NODE_ROLL && n->n == 0) {
        return true;
    }
    if (!has_axis(x, n->axes[0]) || (n->kind == NODE_REPEAT && n->extents[0] < 0)) {
        return false;
    }
    n->is.shape[n->axes[0]] *= n->kind == NODE_REPEAT ? n->extents[0] : 1;
    return true;
}

/* ---- elements ---- */

static int64_t place(const facts *f, const int64_t *index) {
    int64_t at = 0;
    for (int i = 0; i < f->rank; i++) {
        at = at * f->shape[i] + index[i];
    }
    return at;
}

static int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

/* Of an index array: negative places from the end, then the nearest end. */
static int64_t place_in_axis(const void *index, const facts *f, int64_t at, int64_t extent) {
    value v = get(index, f->dtype, at);
    wide w = wide_of(v);
    w += w < 0 ? extent : 0;
    return (int64_t)(w < 0 ? 0 : w >= extent ? extent - 1 : w);
}

static int64_t mirrored(int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

static int64_t padded(int mode, int64_t i, int64_t n) {
    switch (mode) {
    case KRF_PAD_REFLECT: return mirrored(i, n);
    case KRF_PAD_WRAP: return modulo(i, n);
    case KRF_PAD_EDGE: return i < 0 ? 0 : i >= n ? n - 1 : i;
    default: return i < 0 || i >= n ? -1 : i;
    }
}

typedef struct source {
    int operand; /* -1: the value that pads */
    int64_t at;
} source;

/* Element i of the result lies in which operand, and where. */
static source find(const node *n, const facts *const f[2], const void *const data[2], const int64_t *i) {
    const facts *x = f[0], *y = f[1];
    int64_t s[RANK] = {0}, t[RANK] = {0}, count;
    int axis = n->axes[0], kept = 0;
    memcpy(s, i, sizeof s);
    switch (n->kind) {
    case NODE_TAKE:
        for (int k = axis + 1; k < x->rank; k++) {
            s[k] = i[k - 1 + y->rank];
        }
        s[axis] = place_in_axis(data[1], y, place(y, i + axis), x->shape[axis]);
        break;
    case NODE_ALONG:
        for (int k = 0; k < x->rank; k++) {
            t[k] = y->shape[k] == 1 ? 0 : i[k];
            s[k] = x->shape[k] == 1 ? 0 : i[k];
        }
        s[axis] = place_in_axis(data[1], y, place(y, t), x->shape[axis]);
        break;
    case NODE_DIAGONAL:
        for (int k = 0; k < x->rank; k++) {
            if (k != axis && k != n->axes[1]) {
                s[k] = i[kept++];
            }
        }
        s[axis] = i[kept] + (n->extents[0] < 0 ? -n->extents[0] : 0);
        s[n->axes[1]] = s[axis] + n->extents[0];
        break;
    case NODE_WINDOWS:
        for (int k = 0; k < n->n; k++) {
            s[n->axes[k]] += i[x->rank + k];
        }
        break;
    case NODE_ROLL:
        if (n->n == 0) {
            return (source){0, modulo(place(x, i) - n->extents[0], n->is.size)};
        }
        s[axis] = modulo(i[axis] - n->extents[0], x->shape[axis]);
        break;
    case NODE_REPEAT: s[axis] = i[axis] / n->extents[0]; break;
    case NODE_PAD:
        s[axis] = padded(n->op, i[axis] - n->extents[0], x->shape[axis]);
        if (s[axis] < 0) {
            return (source){-1, 0};
        }
        break;
    case NODE_JOIN:
        if (i[axis] >= x->shape[axis]) {
            s[axis] -= x->shape[axis];
            return (source){1, place(y, s)};
        }
        break;
    case NODE_STACK:
        for (int k = axis; k < x->rank; k++) {
            s[k] = i[k + 1];
        }
        return (source){i[axis] == 1, place(x, s)};
    default: /* NODE_SET_SLICE */
        for (int k = 0; k < x->rank; k++) {
            const krf_range whole = {KRF_NONE, KRF_NONE, 1}, *r = k < n->n ? &n->ranges[k] : &whole;
            int64_t first = slice_of(x->shape[k], r, &count), from = i[k] - first;
            int at = k - (x->rank - y->rank);
            if (from % r->step != 0 || from / r->step < 0 || from / r->step >= count) {
                return (source){0, place(x, i)};
            }
            if (at >= 0) {
                t[at] = y->shape[at] == 1 ? 0 : from / r->step;
            }
        }
        return (source){1, place(y, t)};
    }
    return (source){0, place(x, s)};
}

void run_moves(const graph *g, const node *n, const values *v, void *out) {
    const facts *const f[2] = {&g->nodes[n->args[0]].is, &g->nodes[n->args[moves_arity(n) - 1]].is};
    const void *const data[2] = {v->of[n->args[0]], v->of[n->args[moves_arity(n) - 1]]};
    int64_t index[RANK] = {0};
    for (int64_t i = 0; i < n->is.size; i++) {
        source from = find(n, f, data, index);
        value element = from.operand < 0 ? (value){.dtype = KRF_I64, .i = 1} : get(data[from.operand], f[from.operand]->dtype, from.at);
        put(out, i, convert(element, n->is.dtype));
        for (int k = n->is.rank - 1; k >= 0 && ++index[k] == n->is.shape[k]; k--) {
            index[k] = 0;
        }
    }
}

krf_expr build_moves(const node *n, const krf_expr *x) {
    int64_t widths[2 * KRF_MAX_RANK] = {0};
    switch (n->kind) {
    case NODE_TAKE: return krf_take(x[0], x[1], n->axes[0]);
    case NODE_ALONG: return krf_take_along_axis(x[0], x[1], n->axes[0]);
    case NODE_DIAGONAL: return krf_diagonal(x[0], n->extents[0], n->axes[0], n->axes[1]);
    case NODE_WINDOWS: return krf_sliding_window_view(x[0], n->n, n->extents, n->axes);
    case NODE_ROLL: return krf_roll(x[0], 1, n->extents, n->n == 0 ? NULL : n->axes);
    case NODE_REPEAT: return krf_repeat(x[0], n->extents[0], n->axes[0]);
    case NODE_PAD:
        widths[2 * n->axes[0]] = n->extents[0];
        widths[2 * n->axes[0] + 1] = n->extents[1];
        return krf_pad(x[0], widths, (krf_pad_mode)n->op, krf_int(x[0].graph, 1));
    case NODE_JOIN: return krf_concatenate(2, x, n->axes[0]);
    case NODE_STACK: return krf_stack(2, x, n->axes[0]);
    default: return krf_set_slice(x[0], n->n, n->ranges, x[1]);
    }
}

/* ---- dice ---- */

static int find_operand(dice *d, const graph *g, bool (*fits)(const facts *, const facts *), const facts *x, int otherwise) {
    int start = (int)random_below(d, g->n_nodes);
    for (int i = 0; i < g->n_nodes; i++) {
        int id = (start + i) % g->n_nodes;
        if (fits(&g->nodes[id].is, x)) {
            return id;
        }
    }
    return otherwise;
}

static bool is_index(const facts *f, const facts *x) { return integers(f) && (f->rank > 0 || x->size == 1); }
static bool is_index_of_rank(const facts *f, const facts *x) { return integers(f) && f->rank == x->rank; }
static bool of_rank(const facts *f, const facts *x) { return f->rank == x->rank && f->size > 1; }
static bool of_shape(const facts *f, const facts *x) { return f->rank == x->rank && memcmp(f->shape, x->shape, (size_t)x->rank * sizeof *x->shape) == 0; }
static bool scalar_like(const facts *f, const facts *x) { return f->rank <= x->rank && f->size == 1; }

void pick_moves(dice *d, const graph *g, node *n) {
    const facts *x = &g->nodes[n->args[0]].is;
    int axis = x->rank > 0 ? (int)random_below(d, x->rank) : 0;
    int64_t extent = x->rank > 0 ? x->shape[axis] : 1;
    n->axes[0] = axis;
    n->args[1] = n->args[0];
    switch (n->kind) {
    case NODE_TAKE: n->args[1] = find_operand(d, g, is_index, x, 0); break;
    case NODE_ALONG: n->args[1] = find_operand(d, g, is_index_of_rank, x, 0); break;
    case NODE_DIAGONAL:
        n->axes[1] = (int)random_below(d, x->rank + 1);
        n->extents[0] = random_below(d, 5) - 2;
        break;
    case NODE_WINDOWS:
        n->n = 1 + (int)random_below(d, 2);
        for (int i = 0; i < n->n; i++) {
            n->axes[i] = (int)random_below(d, x->rank + 1);
            n->extents[i] = 1 + random_below(d, 4);
        }
        break;
    case NODE_ROLL:
        n->n = random_below(d, 4) != 0;
        n->extents[0] = random_below(d, 2 * extent + 3) - extent - 1;
        break;
    case NODE_REPEAT: n->extents[0] = random_below(d, 5); break;
    case NODE_PAD:
        n->op = (int)random_below(d, 4);
        n->extents[0] = random_below(d, 4);
        n->extents[1] = random_below(d, extent + 2);
        break;
    case NODE_JOIN: n->args[1] = find_operand(d, g, random_below(d, 2) == 0 ? of_rank : of_shape, x, n->args[0]); break;
    case NODE_STACK:
        n->axes[0] = (int)random_below(d, x->rank + 1);
        n->args[1] = find_operand(d, g, of_shape, x, n->args[0]);
        break;
    default:
        n->n = x->rank;
        for (int i = 0; i < x->rank; i++) {
            int64_t step = 1 + random_below(d, 3), start = random_below(d, x->shape[i] + 2) - 1;
            n->ranges[i] = (krf_range){random_below(d, 3) == 0 ? KRF_NONE : start, KRF_NONE, random_below(d, 3) == 0 ? -step : step};
        }
        n->args[1] = random_below(d, 3) == 0 ? n->args[0] : find_operand(d, g, scalar_like, x, 0);
        if (n->args[1] == n->args[0]) { /* a value of the shape that the slice has: all of it, backwards */
            for (int i = 0; i < x->rank; i++) {
                n->ranges[i] = (krf_range){KRF_NONE, KRF_NONE, random_below(d, 2) == 0 ? -1 : 1};
            }
        }
        break;
    }
}
