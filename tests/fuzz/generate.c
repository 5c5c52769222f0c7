/* The graph of a seed. Each graph has a policy of its own (which kinds of nodes are frequent, which dtypes, how large),
 * so that graphs differ more than dice alone would make them. Only nodes that infer.c allows are added: what comes out
 * is valid. */
#include "fuzz/generate.h"

#include "fuzz/movement.h"
#include "fuzz/user.h"

bool generate_complex = true;

typedef struct policy {
    int weights[NODE_REDUCE + 1]; /* of kinds of nodes; 0: none */
    int total;
    int dtypes;   /* bit set */
    bool complex; /* complex arrays and scalars too */
    bool pairs;   /* most leaves are the same in all rows, or along each, which no whole vectors end with */
    bool narrow;  /* small integers that are cast and reduced, all alike: what is taken by words of four, or summed in fewer bits */
    int special;  /* percent of blocks with special values; */
    int compares; /* and of elementwise nodes, that compare */
    int64_t most; /* elements of any node */
    int rank;
    int64_t dims[RANK];
} policy;

static int64_t below(dice *d, int64_t n) { return random_below(d, n); }
static bool chance(dice *d, int percent) { return below(d, 100) < percent; }

/* ---- policies ---- */

static void pick_shape(dice *d, policy *p) {
    static const int64_t extents[] = {1,   2,   3,    4,    5,    7,    8,    9,    15,   16,   17,  31,
                                      32,  33,  63,   64,   65,   96,   100,  127,  255,  256,  257, 300,
                                      511, 513, 1000, 1023, 1024, 1025, 2049, 3000, 5000, 40000};
    static const int64_t budgets[] = {64, 64, 64, 300, 300, 600, 1100, 2500, 6000};
    int64_t size = 1;
    p->most = chance(d, 1) ? 70000 : budgets[below(d, 9)];
    p->rank = (int)(chance(d, 80) ? below(d, 5) : below(d, RANK + 1));
    const bool empty = chance(d, 6);
    for (int i = 0; i < p->rank; i++) {
        do {
            p->dims[i] = extents[below(d, p->rank > 4 ? 6 : 34)];
        } while (size * p->dims[i] > p->most);
        size *= p->dims[i];
        p->dims[i] = empty && chance(d, 40) ? 0 : p->dims[i];
    }
    for (int i = p->rank - 1; i > 0; i--) { /* the first ones were free to be large */
        int at = (int)below(d, i + 1);
        int64_t swap = p->dims[i];
        p->dims[i] = p->dims[at];
        p->dims[at] = swap;
    }
}

/* Rows of a few columns, long enough for reductions down these to be of several chunks. */
static void pick_tall(dice *d, policy *p) {
    p->most = 70000;
    p->rank = 2;
    p->dims[0] = 1000 + below(d, 1600);
    p->dims[1] = 2 + below(d, chance(d, 60) ? 10 : chance(d, 50) ? 40 : 130);
    while (p->dims[0] * p->dims[1] > p->most) {
        p->dims[0] /= 2;
    }
}

/* Rows and columns, that meet in maps. */
static void pick_pairs(dice *d, policy *p) {
    p->pairs = true;
    p->complex = false;
    p->most = 40000;
    p->rank = chance(d, 75) ? 2 : 3;
    p->dims[p->rank - 1] = chance(d, 70) ? 9 + below(d, 120) : 3 + below(d, 300);
    p->dims[0] = 1 + below(d, p->most / p->dims[p->rank - 1] / 2);
    if (p->rank == 3) {
        p->dims[1] = 2 + below(d, 6);
        p->dims[0] = 1 + p->dims[0] / p->dims[1];
    }
    p->total = 0;
    for (int k = 0; k <= NODE_REDUCE; k++) {
        p->weights[k] = k == NODE_ELEMENTWISE || k == NODE_CAST || k == NODE_SCALAR ? 40 + p->weights[k] : p->weights[k] / 4;
        p->total += p->weights[k];
    }
}

static void pick_policy(dice *d, policy *p, bool gradient) {
    static const krf_dtype small[] = {KRF_BOOL, KRF_U8, KRF_I8, KRF_U16, KRF_I16};
    static const int floats = 1 << KRF_F16 | 1 << KRF_BF16 | 1 << KRF_F32 | 1 << KRF_F64;
    static const int everyday[NODE_REDUCE + 1] = {
        [NODE_SCALAR] = 5,  [NODE_RANGE] = 4,        [NODE_ELEMENTWISE] = 56, [NODE_CAST] = 6,    [NODE_TRANSPOSE] = 4,
        [NODE_SLICE] = 7,   [NODE_RESHAPE] = 4,      [NODE_STRETCH] = 4, [NODE_EXPAND] = 3,
        [NODE_SQUEEZE] = 2, [NODE_FLIP] = 2,         [NODE_REDUCE] = 12,
        [NODE_TAKE] = 4,    [NODE_ALONG] = 2,        [NODE_DIAGONAL] = 1,     [NODE_WINDOWS] = 2,  [NODE_ROLL] = 2,
        [NODE_REPEAT] = 1,  [NODE_PAD] = 3,          [NODE_JOIN] = 2,         [NODE_STACK] = 1,    [NODE_SET_SLICE] = 2, [NODE_SCAN] = 4,
        [NODE_CALL] = 36,   [NODE_FOLD] = 10,        [NODE_FOLD_SCAN] = 5};
    memset(p, 0, sizeof *p);
    const bool user = chance(d, user_percent), only_calls = gradient && chance(d, 70); /* of the others there is no derivative */
    for (int k = 0; k <= NODE_REDUCE; k++) {
        int64_t factor = chance(d, 25) ? below(d, 6) : 2; /* halves, up to two and a half times as many */
        const bool defined = k >= NODE_CALL && k <= NODE_FOLD_SCAN;
        p->weights[k] = defined && (!user || (only_calls && k != NODE_CALL)) ? 0 : everyday[k] * (int)factor;
        p->total += p->weights[k];
    }
    p->dtypes = chance(d, 50) ? (1 << DTYPES) - 1 : 1 << below(d, DTYPES) | 1 << below(d, DTYPES);
    p->dtypes = gradient && chance(d, 75) ? floats : p->dtypes; /* else there is little to differentiate */
    p->complex = chance(d, 33) && generate_complex;
    p->special = (int)below(d, 3) * 30;
    p->compares = chance(d, 15) ? 30 : 0; /* masks, of all that there is */
    pick_shape(d, p);
    p->narrow = chance(d, 12) && !gradient;
    if (p->narrow) {
        p->dtypes = 1 << small[below(d, 5)];
        p->dtypes |= 1 << small[below(d, 5)];
        p->complex = false;
        p->total += 5 * p->weights[NODE_CAST] + 3 * p->weights[NODE_REDUCE];
        p->weights[NODE_CAST] *= 6;
        p->weights[NODE_REDUCE] *= 4;
    }
    if (chance(d, 4)) {
        pick_tall(d, p);
    } else if (chance(d, 8)) {
        pick_pairs(d, p);
    }
}

static krf_dtype pick_dtype(dice *d, const policy *p) {
    int dtype;
    if (p->complex && chance(d, 50)) {
        return chance(d, 50) ? KRF_C64 : KRF_C128;
    }
    do {
        dtype = (int)below(d, DTYPES);
    } while ((p->dtypes >> dtype & 1) == 0);
    return (krf_dtype)dtype;
}

/* ---- leaves ---- */

/* Strides of some order of the axes, with gaps, backwards and of zero; the block begins a little before the leaf and
 * ends a little after it. */
void leaf_layout(dice *d, leaf *x, int64_t *count) {
    int order[RANK];
    int64_t step = 1, low = 0;
    const bool plain = chance(d, 50), mixed = !plain && chance(d, 40), gaps = !plain && chance(d, 50);
    for (int i = 0; i < x->rank; i++) {
        int at = mixed ? (int)below(d, i + 1) : i;
        order[i] = order[at];
        order[at] = i;
    }
    for (int k = x->rank - 1; k >= 0; k--) {
        int i = order[k];
        int64_t extent = x->shape[i] > 0 ? x->shape[i] : 1;
        step *= gaps && chance(d, 40) ? 2 : 1;
        x->strides[i] = step;
        step *= extent;
        step += gaps ? below(d, 3) : 0;
        if (!plain && chance(d, 25)) {
            x->strides[i] = -x->strides[i];
            low += (extent - 1) * x->strides[i];
        } else if (!plain && chance(d, 7)) {
            x->strides[i] = 0;
        }
    }
    const int64_t before = plain && chance(d, 70) ? 0 : below(d, 5);
    x->offset = before - low;
    *count = before + step + (plain ? 0 : below(d, 3));
}

static void pick_leaf(dice *d, const policy *p, graph *g) {
    leaf *x = &g->leaves[g->n_leaves];
    int64_t count;
    *x = (leaf){.block = g->n_leaves, .rank = p->narrow || p->pairs || chance(d, 60) ? p->rank : (int)below(d, p->rank + 1)};
    const int kind = p->pairs ? (g->n_leaves + 1) % 3 : 0; /* 1: of columns; 2: of rows */
    for (int i = 0; i < x->rank; i++) {
        const bool one = kind == 0 ? chance(d, p->pairs ? 0 : 12) : (i == x->rank - 1) == (kind == 2);
        x->shape[i] = one ? 1 : p->dims[p->rank - x->rank + i];
    }
    leaf_layout(d, x, &count);
    if (p->pairs && chance(d, 85)) { /* in C order, from a vector on */
        x->offset = 0;
        count = 1;
        for (int i = x->rank - 1; i >= 0; i--) {
            x->strides[i] = count;
            count *= x->shape[i] > 0 ? x->shape[i] : 1;
        }
    }
    /* One throw of the dice a statement: C leaves the order inside an initialiser open, and a seed must give one graph.
     */
    block *own = &g->blocks[g->n_leaves];
    *own = (block){.dtype = pick_dtype(d, p), .count = count};
    own->fill = chance(d, p->special) ? FILL_SPECIAL
                : chance(d, 15)       ? FILL_WIDE
                : chance(d, p->narrow ? 50 : 15) ? FILL_LARGE
                : chance(d, 15)       ? FILL_SMALL
                                      : FILL_EVERYDAY;
    const int64_t need = count;
    int other = g->n_leaves > 0 ? (int)below(d, g->n_leaves) : 0;
    if (g->n_leaves > 0 && chance(d, 15) && g->blocks[g->leaves[other].block].count >= need) {
        x->block = g->leaves[other].block;
        x->offset += below(d, g->blocks[x->block].count - need + 1);
        if (chance(d, 30)) { /* the very same array under another name */
            *x = g->leaves[other];
        }
    }
    g->n_leaves++;
}

/* ---- nodes ---- */

/* One made lately more often than not, so that graphs grow deep; rather one of several elements. */
static int any_node(dice *d, const graph *g) {
    int id = 0;
    for (int tries = 0; tries < 3; tries++) {
        int recent = g->n_nodes < 5 ? g->n_nodes : 5;
        id = g->n_nodes - 1 - (int)(chance(d, 55) ? below(d, recent) : below(d, g->n_nodes));
        if (g->nodes[id].is.size > 1) {
            break;
        }
    }
    return id;
}

bool has_complex(const graph *g) {
    bool any = false;
    for (int id = 0; id < g->n_nodes; id++) {
        any |= is_complex(g->nodes[id].is.dtype);
    }
    return any;
}

void pick_scalar(dice *d, node *n, bool complex) {
    static const double reals[] = {0, 0, -0.0, 1, -1, 2, 0.5, 3, -2.5, 1e-3, 0.1, 1e30};
    const bool real = chance(d, 50);
    n->literal = chance(d, 50);
    n->scalar = real ? (value){.dtype = KRF_F64, .f = chance(d, 60) ? reals[below(d, 12)] : (random_unit(d) - 0.5) * 6}
                     : (value){.dtype = KRF_I64,
                               .i = chance(d, 80) ? below(d, 21) - 10 : (int64_t)next_random(d) >> below(d, 64)};
    if (chance(d, 8)) {
        static const double ends[] = {NAN,          INFINITY,       -INFINITY,      0x1p-1074,
                                      -0x1p-149,    0x1.fffffep127, 0x1.ffffffp127, 0x1.fffffffffffffp1023,
                                      0x1.000001p0, 0x1p63,         16777217};
        static const int64_t integers[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, INT64_C(9007199254740993),
                                           16777217};
        n->scalar.f = real ? ends[below(d, 11)] : 0;
        n->scalar.i = real ? 0 : integers[below(d, 6)];
    }
    if (complex && chance(d, 40)) { /* a special number, or an everyday one, in the place that the number above leaves */
        value other = {.dtype = KRF_C128, .f = chance(d, 60) ? reals[below(d, 12)] : (random_unit(d) - 0.5) * 6};
        other.im = real ? n->scalar.f : (double)below(d, 7) - 3;
        n->scalar = other;
    }
    if (chance(d, 12) && (!is_complex(n->scalar.dtype) || chance(d, 50))) {
        n->scalar = convert(n->scalar, is_complex(n->scalar.dtype) ? KRF_C64 : (krf_dtype)below(d, complex ? ALL_DTYPES : DTYPES));
        n->strong = n->literal = true;
    }
}

/* A scalar, or what was computed of scalars: the last node if there is none. */
static int any_scalar(dice *d, const graph *g) {
    int start = (int)below(d, g->n_nodes);
    for (int i = 0; i < g->n_nodes; i++) {
        int id = (start + i) % g->n_nodes;
        if (g->nodes[id].is.rank == 0 && g->nodes[id].kind != NODE_LEAF) {
            return id;
        }
    }
    return g->n_nodes - 1;
}

static void pick_elementwise(dice *d, const policy *p, const graph *g, node *n) {
    const bool constant = chance(d, 8), arithmetic = chance(d, 30); /* constant: what is folded */
    const bool complex = is_complex(g->nodes[n->args[0]].is.dtype) && chance(d, 95), compares = chance(d, p->compares);
    do { /* a third of them + - * /, so that these meet: what compilers contract and reassociate */
        n->op = (int)below(d, op_count());
    } while ((compares ? !op_compares(n->op) : arithmetic && !op_is_arithmetic(n->op)) || op_reads_sign(n->op) || (complex && !op_takes_complex(n->op) && !chance(d, 10))); /* a NaN's sign may differ between two ways of evaluating it */
    for (int k = complex && !constant ? 1 : 0; k < op_arity(n->op); k++) {
        n->args[k] = constant ? any_scalar(d, g) : any_node(d, g);
    }
    const node *last = &g->nodes[g->n_nodes - 1];
    if (last->kind == NODE_REDUCE && last->keepdims && op_arity(n->op) == 2 && chance(d, 60)) {
        n->args[0] = last->args[0]; /* as in a softmax: what was reduced meets the result */
        n->args[1] = g->n_nodes - 1;
    }
    for (int tries = 0; tries < 6 && !node_infer(g, n) && op_arity(n->op) > 1;
         tries++) { /* others that may fit the first */
        for (int k = 1; k < op_arity(n->op); k++) {
            n->args[k] = (int)below(d, g->n_nodes);
        }
    }
}

static int64_t bound(dice *d, int64_t extent, int percent) {
    return chance(d, percent) ? KRF_NONE : below(d, 2 * extent + 5) - extent - 2;
}

static void pick_slice(dice *d, node *n, const facts *x) {
    n->n = x->rank - (int)below(d, 2) * (x->rank > 1);
    for (int i = 0; i < n->n; i++) {
        n->ranges[i] = (krf_range){KRF_NONE, KRF_NONE, 1};
        if (chance(d, 55)) {
            n->ranges[i].start = bound(d, x->shape[i], 70);
            n->ranges[i].stop = bound(d, x->shape[i], 80);
            n->ranges[i].step = chance(d, 50) ? -1 - below(d, 3) : 1 + below(d, 3);
        }
    }
}

/* Another way to write the same number of elements: one axis, two in one, one in two, or any factors. */
static void pick_reshape(dice *d, node *n, const facts *x) {
    int at = x->rank > 0 ? (int)below(d, x->rank) : 0, way = (int)below(d, 4);
    n->n = x->rank;
    memcpy(n->extents, x->shape, sizeof n->extents);
    if (x->rank == 0 || way == 0) {
        n->n = 1;
        n->extents[0] = x->size > 0 && chance(d, 40) ? -1 : x->size;
    } else if (way == 1 && at + 1 < x->rank) {
        n->extents[at] *= n->extents[at + 1];
        memmove(&n->extents[at + 1], &n->extents[at + 2], (size_t)(x->rank - at - 2) * sizeof *n->extents);
        n->n--;
    } else if (way == 2 && x->rank < RANK) {
        int64_t factor = 2;
        while (factor < x->shape[at] && x->shape[at] % factor != 0) {
            factor++;
        }
        if (x->shape[at] >= factor && x->shape[at] % factor == 0) {
            memmove(&n->extents[at + 1], &n->extents[at], (size_t)(x->rank - at) * sizeof *n->extents);
            n->extents[at] = chance(d, 50) ? factor : x->shape[at] / factor;
            n->extents[at + 1] = x->shape[at] / n->extents[at];
            n->n++;
        }
    } else if (x->size > 0) {
        int64_t rest = x->size;
        n->n = 0;
        for (int64_t factor = 2; factor <= 5 && n->n < RANK - 1; factor++) {
            if (rest % factor == 0 && chance(d, 60)) {
                n->extents[n->n++] = factor;
                rest /= factor;
            }
        }
        n->extents[n->n++] = rest;
    }
}

static void pick_stretch(dice *d, node *n, const facts *x) {
    int more = x->rank < RANK ? (int)below(d, 2) : 0;
    n->n = x->rank + more;
    for (int i = 0; i < n->n; i++) {
        int64_t extent = i < more ? 1 : x->shape[i - more];
        n->extents[i] = extent == 1 && chance(d, 60) ? (chance(d, 95) ? 1 + below(d, 9) : 0) : extent;
    }
}

void pick_axes(dice *d, node *n, const facts *x) {
    n->n = 0;
    const bool all = chance(d, 25);
    for (int i = 0; i < x->rank; i++) {
        if (all || chance(d, 45)) {
            n->axes[n->n++] = chance(d, 25) ? i - x->rank : i;
        }
    }
    if (n->n > 1 && chance(d, 30)) { /* the order in which axes are named means nothing */
        int swap = n->axes[0];
        n->axes[0] = n->axes[n->n - 1];
        n->axes[n->n - 1] = swap;
    }
}

static void pick_transpose(dice *d, node *n, const facts *x) {
    n->n = x->rank;
    for (int i = 0; i < x->rank; i++) {
        int at = (int)below(d, i + 1);
        n->axes[i] = n->axes[at];
        n->axes[at] = i;
    }
}

/* The longest axis of some real arrays: orders differ only where rows have many runs, and where sums are rounded. */
static void pick_long_row(dice *d, const graph *g, node *n) {
    int64_t longest = 1;
    for (int tries = 0; tries < 12; tries++) {
        int id = (int)below(d, g->n_nodes);
        const facts *f = &g->nodes[id].is;
        for (int i = 0; i < f->rank && (is_real(f->dtype) || is_complex(f->dtype)); i++) {
            if (f->shape[i] > longest && f->size > 0) {
                longest = f->shape[i];
                n->args[0] = id;
                n->axes[0] = i;
            }
        }
    }
}

static void pick_node(dice *d, const policy *p, const graph *g, node *n) {
    int64_t roll = below(d, p->total);
    memset(n, 0, sizeof *n);
    while (roll >= p->weights[n->kind]) {
        roll -= p->weights[n->kind];
        n->kind++;
    }
    n->args[0] = any_node(d, g);
    const facts *x = &g->nodes[n->args[0]].is;
    switch (n->kind) {
    case NODE_SCALAR: pick_scalar(d, n, p->complex); break;
    case NODE_RANGE: /* as long as an array, or as one of its axes, so that it meets others */
        n->extents[0] = x->rank > 0 && chance(d, 60) ? x->shape[below(d, x->rank)] : x->size;
        break;
    case NODE_ELEMENTWISE: pick_elementwise(d, p, g, n); break;
    case NODE_CAST:
        n->to = (krf_dtype)below(d, p->complex ? ALL_DTYPES : DTYPES);
        n->to = is_complex(x->dtype) && chance(d, 80) ? (chance(d, 50) ? KRF_C64 : KRF_C128) : n->to;
        break;
    case NODE_TRANSPOSE: pick_transpose(d, n, x); break;
    case NODE_SLICE: pick_slice(d, n, x); break;
    case NODE_RESHAPE: pick_reshape(d, n, x); break;
    case NODE_STRETCH: pick_stretch(d, n, x); break;
    case NODE_SCAN:
        n->op = (int)below(d, scan_count());
        n->axes[0] = x->rank > 0 ? (int)below(d, 2 * x->rank) - x->rank : 0;
        if (chance(d, 60)) {
            pick_long_row(d, g, n);
        }
        break;
    case NODE_REDUCE:
        n->op = (int)below(d, reduction_count());
        n->keepdims = chance(d, 40);
        pick_axes(d, n, x);
        break;
    case NODE_CALL:
    case NODE_FOLD:
    case NODE_FOLD_SCAN: pick_user(d, g, n); break;
    default:
        if (node_moves(n)) {
            pick_moves(d, g, n);
        } else {
            n->axes[0] = (int)below(d, 2 * x->rank + 2) - x->rank - 1;
        }
        break;
    }
}

/* ---- outputs ---- */

static bool fits_leaf(const graph *g, int id, int k) {
    const facts *f = &g->nodes[id].is;
    const leaf *x = &g->leaves[k];
    return g->blocks[x->block].dtype == f->dtype && x->rank == f->rank && !leaf_overlaps_itself(x)
           && memcmp(x->shape, f->shape, (size_t)f->rank * sizeof *f->shape) == 0;
}

static void pick_outputs(dice *d, graph *g) {
    bool used[MOST_NODES] = {false}, taken[MOST_LEAVES] = {false};
    int unused = g->n_nodes - 1;
    for (int id = 0; id < g->n_nodes; id++) {
        for (int k = 0; k < node_arity(&g->nodes[id]); k++) {
            used[g->nodes[id].args[k]] = true;
        }
    }
    g->n_outputs = 1 + (int)below(d, chance(d, 60) ? 3 : MOST_OUTPUTS);
    for (int k = 0; k < g->n_outputs;
         k++) { /* the last of those that nothing uses; or any, perhaps one that is an output already */
        while (unused > 0 && used[unused]) {
            unused--;
        }
        output *o = &g->outputs[k];
        *o = (output){.node = unused > 0 && (k == 0 || !chance(d, 20)) ? unused-- : (int)below(d, g->n_nodes)};
        o->how = chance(d, 15) ? GIVEN_STRIDED : GIVEN_NOTHING;
        for (int i = 0; i < g->n_leaves && o->how == GIVEN_NOTHING; i++) {
            if (chance(d, 30) && !taken[g->leaves[i].block] && fits_leaf(g, o->node, i)) {
                *o = (output){o->node, GIVEN_LEAF, i};
                taken[g->leaves[i].block] = true; /* outputs that overlap each other have no defined result */
            }
        }
    }
}

static void add_nodes(dice *d, const policy *p, graph *g, int n, int most) {
    const int end = g->n_nodes + n;
    for (int tries = 0; g->n_nodes < end && tries < most; tries++) {
        node x;
        pick_node(d, p, g, &x);
        if (node_infer(g, &x) && x.is.size <= p->most && x.is.rank <= RANK && (generate_complex || !is_complex(x.is.dtype))) {
            g->nodes[g->n_nodes++] = x;
        }
    }
}

/* Leaves that meet, whatever else there is. */
static void add_pairs(dice *d, const policy *p, graph *g, int leaves) {
    const int end = g->n_nodes + 2 + (int)below(d, 4);
    for (int tries = 0; g->n_nodes < end && tries < 100; tries++) {
        const int first = (int)below(d, leaves), second = (int)below(d, chance(d, 70) ? leaves : g->n_nodes);
        node x = {.kind = NODE_ELEMENTWISE, .args = {first, second}};
        pick_elementwise(d, p, g, &x);
        x.args[0] = first;
        x.args[1] = second;
        if (first != second && node_infer(g, &x) && x.is.size <= p->most) {
            g->nodes[g->n_nodes++] = x;
        }
    }
}

static void generate_fresh(dice *d, graph *g, bool gradient) {
    policy p;
    pick_policy(d, &p, gradient);
    const int n = 3 + (int)below(d, chance(d, 50) ? 12 : chance(d, 80) ? 30 : 80);
    const int leaves = 1 + (int)below(d, chance(d, 80) ? 4 : MOST_LEAVES - 1) + p.pairs;
    for (int i = 0; i < leaves; i++) {
        pick_leaf(d, &p, g);
        node x = {.kind = NODE_LEAF, .args = {i}};
        node_infer(g, &x);
        g->nodes[g->n_nodes++] = x;
    }
    if (p.pairs) {
        add_pairs(d, &p, g, leaves);
    }
    for (int64_t scalars = below(d, 4); scalars > 0; scalars--) {
        node x = {.kind = NODE_SCALAR};
        pick_scalar(d, &x, p.complex);
        node_infer(g, &x);
        g->nodes[g->n_nodes++] = x;
    }
    add_nodes(d, &p, g, n, 20 * n);
    if (p.compares > 0) { /* the last ones, which are results */
        memset(p.weights, 0, sizeof p.weights);
        p.total = p.weights[NODE_ELEMENTWISE] = 1;
        p.compares = 100;
        add_nodes(d, &p, g, 1 + (int)below(d, 3), 20);
    }
    pick_outputs(d, g);
}

static bool wants_gradient(uint64_t seed) {
    dice d = seed * UINT64_C(0x94d049bb133111eb) + 1;
    return chance(&d, 20);
}

void generate(graph *g, uint64_t seed) {
    /* Some graphs are their neighbour with a small difference: kernels that are almost the same must not be taken for
     * each other. */
    dice d = seed * UINT64_C(0xbf58476d1ce4e5b9) + 1;
    const bool twin = chance(&d, 20);
    const bool gradient = wants_gradient(seed);
    memset(g, 0, sizeof *g);
    if (!twin) {
        generate_fresh(&d, g, gradient);
    } else {
        dice other = (seed - 1) * UINT64_C(0xbf58476d1ce4e5b9) + 1;
        chance(&other, 20);
        generate_fresh(&other, g, wants_gradient(seed - 1));
        mutate(&d, g);
        if (!generate_complex && has_complex(g)) {
            memset(g, 0, sizeof *g);
            generate_fresh(&d, g, gradient);
        }
    }
    g->seed = seed;
    if (gradient) {
        differentiate(g, 20000);
    }
}
