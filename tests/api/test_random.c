/* Seeded random graphs: what is fused must have the bits of the same graph evaluated one operation at a time, each
 * result fed back as an input; on both tiers, into new and into given outputs (strided ones, and inputs that are
 * overwritten). Printing a graph and parsing the text gives the text again.
 *
 * KRF_FUZZ_COUNT: graphs (200). KRF_FUZZ_SEED: the first seed. KRF_FUZZ_COMPILE: of how many graphs one is compiled too
 * (12). A failure is shrunk to the shortest prefix of the graph that still fails, and printed with its seed and its
 * text. */
#include "ops/common.h"

#define RANK 6
#define MOST_NODES 64
#define MOST_LEAVES 6
#define MOST_OUTPUTS 6
#define MOST_ELEMENTS 12000

/* ---- operations ---- */

typedef enum rule { NUMBER, REAL, COMPARE, TEST, LOGIC, BITS, SHIFT, WHERE, ANY, CLOSE } rule;

typedef struct operation {
    const char *name;
    int arity;
    rule rule;
    krf_expr (*build)(const krf_expr *x);
} operation;

#define REFERENCE(name, RULE, ...) enum { rule_##name = RULE };
#include "ops/reference.def"
#undef REFERENCE
#define NODE(name, arity)
#define CODE(name, KIND, ...)
#define CUDA(name, KIND, ...)
#define GRAD(name, ...)
#define REDUCE(name, RULE, doc)
#define COMBINE(name, KIND, identity, ...)
#define ALIAS(other, name)
#define CALL1(name) krf_##name(x[0])
#define CALL2(name) krf_##name(x[0], x[1])
#define CALL3(name) krf_##name(x[0], x[1], x[2])
#define OP(name, arity, RULE, infix, doc) \
    static krf_expr build_##name(const krf_expr *x) { return CALL##arity(name); }
#include "ir/ops.def"
#undef OP
#define OP(name, arity, RULE, infix, doc) {#name, arity, (rule)rule_##name, build_##name},
static const operation operations[] = {
#include "ir/ops.def"
};
#undef OP
#undef REDUCE
#define OP(name, arity, RULE, infix, doc)
#define REDUCE(name, RULE, doc) krf_##name,
static krf_expr (*const reductions[])(krf_expr x, int n_axes, const int *axes, bool keepdims) = {
#include "ir/ops.def"
};
#undef REDUCE
#define REDUCE(name, RULE, doc) #name,
static const char *const reduction_names[] = {
#include "ir/ops.def"
};
#include "ir/ops_undef.h"
#define OPERATIONS ((int64_t)(sizeof operations / sizeof *operations))
#define REDUCTIONS ((int64_t)(sizeof reductions / sizeof *reductions))

/* ---- graphs ---- */

typedef enum kind {
    LEAF,
    WEAK_INT,
    WEAK_REAL,
    ELEMENTWISE,
    CAST,
    TRANSPOSED,
    SLICED,
    RESHAPED,
    STRETCHED,
    EXPANDED,
    SQUEEZED,
    FLIPPED,
    REDUCED
} kind;

typedef struct node {
    kind kind;
    int op, n_args, args[3]; /* args: nodes; of a LEAF args[0]: the leaf */
    int axis, n_axes, axes[RANK];
    bool keepdims;
    krf_range ranges[RANK];
    int64_t to[RANK]; /* the shape to reshape or stretch to */
    int to_rank;
    krf_dtype to_dtype;
    int64_t i;
    double f;
    /* facts about the result */
    krf_dtype dtype;
    bool weak;
    int rank;
    int64_t shape[RANK], size;
} node;

typedef struct leaf {
    krf_dtype dtype;
    int rank;
    int64_t shape[RANK], strides[RANK], offset, count;
    bool overlaps; /* elements share memory: no output */
    unsigned char *memory;
} leaf;

typedef struct sample {
    uint64_t seed, state;
    int n_leaves, n_nodes, n_outputs, outputs[MOST_OUTPUTS],
        given[MOST_OUTPUTS]; /* given: 0 new, 1 strided, 2 + k: leaf k is overwritten */
    leaf leaves[MOST_LEAVES];
    node nodes[MOST_NODES];
} sample;

static int64_t below(sample *s, int64_t n) { return random_below(&s->state, n); }
static bool chance(sample *s, int percent) { return below(s, 100) < percent; }

/* A node to use: one made lately more often than not, so that graphs grow deep, and rather one of several elements. */
static int any_node(sample *s) {
    int64_t n = s->n_nodes, recent = n < 6 ? n : 6;
    int id = 0;
    for (int tries = 0; tries < 4; tries++) {
        id = (int)(chance(s, 60) ? n - 1 - below(s, recent) : below(s, n));
        if (s->nodes[id].size > 1) {
            break;
        }
    }
    return id;
}

static value any_value(sample *s, krf_dtype dtype) {
    static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5, 2, -3, 1e30, 0x1p-140};
    value v = {.dtype = KRF_F64, .f = (random_unit(&s->state) - 0.5) * 8};
    if (is_real(dtype)) {
        v.f = chance(s, 12) ? special[below(s, 12)] : v.f;
        return convert(v, dtype);
    }
    v = (value){.dtype = KRF_I64, .i = chance(s, 5) ? (int64_t)next_random(&s->state) : below(s, 21) - 10};
    return dtype == KRF_BOOL ? (value){.dtype = KRF_BOOL, .i = v.i & 1} : convert(v, dtype);
}

/* A leaf takes the last extents of the graph's, some of them 1, laid out in C order or in another way. */
static void make_leaf(sample *s, leaf *x, int rank, const int64_t *dims) {
    *x = (leaf){.dtype = (krf_dtype)below(s, DTYPES), .rank = (int)below(s, rank + 1)};
    if (chance(s, 60)) {
        x->rank = rank;
    }
    int64_t step = 1, low = 0;
    const bool plain = chance(s, 50);
    for (int i = x->rank - 1; i >= 0; i--) {
        x->shape[i] = chance(s, 15) ? 1 : dims[rank - x->rank + i];
    }
    for (int i = x->rank - 1; i >= 0; i--) {
        int64_t extent = x->shape[i] > 0 ? x->shape[i] : 1;
        step *= plain ? 1 : 1 + below(s, 2);
        x->strides[i] = step;
        step *= extent + (plain ? 0 : below(s, 2));
        if (!plain && chance(s, 25)) {
            x->strides[i] = -x->strides[i];
            low += (extent - 1) * x->strides[i];
        } else if (!plain && chance(s, 10)) {
            x->strides[i] = 0;
            x->overlaps |= extent > 1;
        }
    }
    x->offset = -low + (plain ? 0 : below(s, 3));
    x->count = step + 3;
    x->memory = malloc((size_t)x->count * bytes_of(x->dtype));
    assert_non_null(x->memory);
    for (int64_t i = 0; i < x->count; i++) {
        put(x->memory, i, any_value(s, x->dtype));
    }
}

static krf_array *leaf_array(run *r, const leaf *x) {
    krf_array *base = NULL, *view = NULL;
    krf_status status = krf_array_from_host(r->context, x->dtype, 1, &x->count, x->memory, &base);
    if (status == KRF_OK) {
        status = krf_array_view(base, x->rank, x->shape, x->strides, x->offset, &view);
    }
    if (status != KRF_OK) {
        fail_msg("leaf: %s", krf_error_message());
    }
    krf_array_release(base);
    return view;
}

static krf_expr build_node(krf_graph *g, const node *n, const krf_expr *x, krf_array *const *leaves) {
    switch (n->kind) {
    case LEAF: return krf_input(g, leaves[n->args[0]]);
    case WEAK_INT: return krf_int(g, n->i);
    case WEAK_REAL: return krf_real(g, n->f);
    case ELEMENTWISE: return operations[n->op].build(x);
    case CAST: return krf_cast(x[0], n->to_dtype);
    case TRANSPOSED: return krf_transpose(x[0], n->axes);
    case SLICED: return krf_slice(x[0], n->n_axes, n->ranges);
    case RESHAPED: return krf_reshape(x[0], n->to_rank, n->to);
    case STRETCHED: return krf_broadcast_to(x[0], n->to_rank, n->to);
    case EXPANDED: return krf_expand_dims(x[0], n->axis);
    case SQUEEZED: return krf_squeeze(x[0], n->axis);
    case FLIPPED: return krf_flip(x[0], n->axis);
    default: return reductions[n->op](x[0], n->n_axes, n->axes, n->keepdims);
    }
}

static bool broadcasts(const node *a, const node *b) {
    int64_t size = 1;
    int rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 1; i <= rank; i++) {
        int64_t ea = i <= a->rank ? a->shape[a->rank - i] : 1, eb = i <= b->rank ? b->shape[b->rank - i] : 1;
        if (ea != eb && ea != 1 && eb != 1) {
            return false;
        }
        size *= ea == 1 ? eb : ea;
    }
    return size <= MOST_ELEMENTS;
}

/* What reference.def's rules allow. */
static bool allowed(rule r, int n, const sample *s, const int *args) {
    bool real = false, all_bool = true;
    for (int k = r == WHERE ? 1 : 0; k < n; k++) {
        real |= is_real(s->nodes[args[k]].dtype);
        all_bool &= s->nodes[args[k]].dtype == KRF_BOOL;
    }
    return r == NUMBER ? !all_bool : r == BITS ? !real : r == SHIFT ? !real && !all_bool : true;
}

static bool pick_elementwise(sample *s, node *n) {
    n->op = (int)below(s, OPERATIONS);
    n->n_args = operations[n->op].arity;
    for (int k = 0; k < n->n_args; k++) {
        n->args[k] = any_node(s);
        for (int j = 0; j < k; j++) {
            if (!broadcasts(&s->nodes[n->args[j]], &s->nodes[n->args[k]])) {
                return false;
            }
        }
    }
    return allowed(operations[n->op].rule, n->n_args, s, n->args);
}

static bool pick_slice(sample *s, node *n, const node *x) {
    n->n_axes = x->rank - (int)below(s, 2) * (x->rank > 1);
    for (int i = 0; i < n->n_axes; i++) {
        int64_t extent = x->shape[i];
        n->ranges[i] = (krf_range){KRF_NONE, KRF_NONE, 1};
        if (chance(s, 60)) {
            n->ranges[i].start = chance(s, 70) ? KRF_NONE : below(s, 2 * extent + 5) - extent - 2;
            n->ranges[i].stop = chance(s, 80) ? KRF_NONE : below(s, 2 * extent + 5) - extent - 2;
            n->ranges[i].step = chance(s, 50) ? -1 - below(s, 3) : 1 + below(s, 3);
        }
    }
    return true;
}

static bool pick_reshape(sample *s, node *n, const node *x) {
    int at = x->rank > 0 ? (int)below(s, x->rank) : 0;
    if (x->rank == 0 || chance(s, 25)) { /* one axis; rank 0 becomes (1,) */
        n->to_rank = 1;
        n->to[0] = x->size > 0 && chance(s, 50) ? -1 : x->size;
        return true;
    }
    memcpy(n->to, x->shape, sizeof n->to);
    n->to_rank = x->rank;
    if (x->rank > 1 && at + 1 < x->rank && chance(s, 50)) { /* two axes become one */
        n->to[at] *= n->to[at + 1];
        memmove(&n->to[at + 1], &n->to[at + 2], (size_t)(x->rank - at - 2) * sizeof *n->to);
        n->to_rank--;
        return true;
    }
    if (x->rank == RANK) {
        return false;
    }
    for (int64_t d = 2; d <= x->shape[at]; d++) { /* one axis becomes two */
        if (x->shape[at] % d == 0) {
            memmove(&n->to[at + 1], &n->to[at], (size_t)(x->rank - at) * sizeof *n->to);
            n->to[at] = d;
            n->to[at + 1] /= d;
            n->to_rank++;
            return true;
        }
    }
    return false;
}

static bool pick_stretch(sample *s, node *n, const node *x) {
    int more = x->rank < RANK ? (int)below(s, 2) : 0;
    int64_t size = 1;
    n->to_rank = x->rank + more;
    for (int i = 0; i < n->to_rank; i++) {
        int64_t extent = i < more ? 1 : x->shape[i - more];
        n->to[i] = extent == 1 && chance(s, 60) ? below(s, 5) + (chance(s, 90) ? 1 : 0) : extent;
        size *= n->to[i];
    }
    return size <= MOST_ELEMENTS;
}

static bool pick_reduction(sample *s, node *n, const node *x) {
    bool empty = false;
    int64_t kept = 1;
    n->op = (int)below(s, REDUCTIONS);
    n->keepdims = chance(s, 40);
    for (int i = 0; i < x->rank; i++) {
        if (chance(s, 50)) {
            n->axes[n->n_axes++] = chance(s, 30) ? i - x->rank : i;
            empty |= x->shape[i] == 0;
        } else {
            kept *= x->shape[i];
        }
    }
    bool largest = strcmp(reduction_names[n->op], "max") == 0 || strcmp(reduction_names[n->op], "min") == 0;
    return !largest || !empty || kept == 0;
}

static void transpose_axes(sample *s, node *n, const node *x) {
    for (int i = 0; i < x->rank; i++) {
        int at = (int)below(s, i + 1);
        n->axes[i] = n->axes[at];
        n->axes[at] = i;
    }
}

/* One more node; false when the dice gave nothing that is defined. */
static bool pick_node(sample *s, node *n) {
    memset(n, 0, sizeof *n);
    int64_t dice = below(s, 100);
    if (dice < 58) {
        n->kind = ELEMENTWISE;
        return pick_elementwise(s, n);
    }
    n->n_args = 1;
    n->args[0] = any_node(s);
    const node *x = &s->nodes[n->args[0]];
    n->axis = (int)below(s, 2 * x->rank + 1) - x->rank;
    n->to_dtype = (krf_dtype)below(s, DTYPES);
    if (dice < 64) {
        n->kind = CAST;
        return true;
    }
    if (dice < 76) {
        n->kind = REDUCED;
        return pick_reduction(s, n, x);
    }
    if (dice < 80) {
        n->kind = TRANSPOSED;
        transpose_axes(s, n, x);
        return true;
    }
    if (dice < 86) {
        n->kind = SLICED;
        return pick_slice(s, n, x);
    }
    if (dice < 90) {
        n->kind = RESHAPED;
        return pick_reshape(s, n, x);
    }
    if (dice < 93) {
        n->kind = STRETCHED;
        return pick_stretch(s, n, x);
    }
    if (dice < 95) {
        n->kind = EXPANDED;
        return x->rank < RANK;
    }
    if (dice < 97) {
        n->kind = SQUEEZED;
        return n->axis < x->rank && x->rank > 0 && x->shape[n->axis < 0 ? n->axis + x->rank : n->axis] == 1;
    }
    n->kind = FLIPPED;
    return n->axis < x->rank && x->rank > 0;
}

static void note(node *n, krf_expr e) {
    n->dtype = krf_expr_dtype(e);
    n->weak = krf_expr_weak(e);
    n->rank = krf_expr_rank(e);
    n->size = 1;
    for (int i = 0; i < n->rank && i < RANK; i++) {
        n->shape[i] = krf_expr_shape(e)[i];
        n->size *= n->shape[i];
    }
}

/* Adds a node to the sample and to the graph. */
static void add_node(sample *s, const node *n, krf_graph *g, krf_expr *built, krf_array *const *leaves) {
    krf_expr x[3] = {{0}};
    for (int k = 0; k < n->n_args; k++) {
        x[k] = built[n->args[k]];
    }
    built[s->n_nodes] = build_node(g, n, x, leaves);
    if (!krf_expr_ok(built[s->n_nodes])) {
        fail_msg("seed %" PRIu64 ": node %d: %s", s->seed, s->n_nodes, krf_graph_error(g));
    }
    s->nodes[s->n_nodes] = *n;
    note(&s->nodes[s->n_nodes], built[s->n_nodes]);
    s->n_nodes++;
}

/* Whether leaf k may be the output that node id becomes. */
static bool fits_leaf(const sample *s, int id, int k) {
    const node *n = &s->nodes[id];
    const leaf *x = &s->leaves[k];
    return !x->overlaps && x->dtype == n->dtype && x->rank == n->rank
           && memcmp(x->shape, n->shape, (size_t)n->rank * sizeof *n->shape) == 0;
}

static void pick_outputs(sample *s, bool last_only) {
    bool taken[MOST_LEAVES] = {false}, used[MOST_NODES] = {false};
    int unused = s->n_nodes - 1;
    s->n_outputs = last_only ? 1 : 1 + (int)below(s, MOST_OUTPUTS);
    for (int id = 0; id < s->n_nodes; id++) {
        for (int k = 0; k < s->nodes[id].n_args; k++) {
            used[s->nodes[id].args[k]] = true;
        }
    }
    for (int k = 0; k < s->n_outputs;
         k++) { /* the last of those that nothing uses; then any, perhaps one that is an output already */
        while (unused > 0 && used[unused]) {
            unused--;
        }
        s->outputs[k] = unused > 0 && !chance(s, 25) ? unused-- : (int)below(s, s->n_nodes);
        s->outputs[k] = k == 0 ? s->n_nodes - 1 : s->outputs[k];
        s->given[k] = chance(s, 20);
        for (int i = 0; i < s->n_leaves && s->given[k] == 0 && chance(s, 30); i++) {
            if (fits_leaf(s, s->outputs[k], i) && !taken[i]) {
                s->given[k] = 2 + i;
                taken[i] = true;
            }
        }
    }
}

/* The same seed and a smaller limit give the first nodes of the same graph. */
static void generate(sample *s, uint64_t seed, int limit, run *r, krf_graph *g, krf_expr *built, krf_array **leaves) {
    int64_t dims[RANK];
    int64_t size = 1;
    memset(s, 0, sizeof *s);
    s->seed = s->state = seed;
    next_random(&s->state);
    const int rank = (int)below(s, 6);
    const bool empty = chance(s, 8);
    for (int i = 0; i < rank; i++) {
        static const int64_t extents[] = {1, 2, 3, 5, 8, 9, 17, 33, 64, 257, 1100, 3000};
        do {
            dims[i] = extents[below(s, 12)];
        } while (size * dims[i] > MOST_ELEMENTS);
        size *= dims[i];
        dims[i] = empty && chance(s, 40) ? 0 : dims[i];
    }
    int n = 8 + (int)below(s, MOST_NODES - 12);
    s->n_leaves = 1 + (int)below(s, MOST_LEAVES);
    for (int i = 0; i < s->n_leaves; i++) {
        make_leaf(s, &s->leaves[i], rank, dims);
        leaves[i] = leaf_array(r, &s->leaves[i]);
    }
    for (int i = 0; i < s->n_leaves && s->n_nodes < limit; i++) {
        node leaf_node = {.kind = LEAF, .args = {i}};
        add_node(s, &leaf_node, g, built, leaves);
    }
    const node weak[2] = {{.kind = WEAK_INT, .i = below(s, 19) - 9},
                          {.kind = WEAK_REAL, .f = chance(s, 50) ? 0.5 : random_unit(&s->state) * 4 - 2}};
    for (int i = 0; i < 2 && s->n_nodes < limit; i++) {
        add_node(s, &weak[i], g, built, leaves);
    }
    node next;
    for (int tries = 0; s->n_nodes < n && s->n_nodes < limit && tries < 2000; tries++) {
        if (pick_node(s, &next)) {
            add_node(s, &next, g, built, leaves);
        }
    }
    pick_outputs(s, limit < MOST_NODES);
}

/* ---- the oracle: one operation at a time ---- */

/* A weak value stays weak only as an expression. */
static krf_expr weak_expr(krf_graph *g, const sample *s, int id) {
    krf_expr x[3] = {{0}};
    for (int k = 0; k < s->nodes[id].n_args; k++) {
        x[k] = weak_expr(g, s, s->nodes[id].args[k]);
    }
    return build_node(g, &s->nodes[id], x, NULL);
}

static void evaluate_steps(const sample *s, run *r, krf_array **leaves, krf_array **results) {
    krf_graph *g = krf_graph_create(r->context);
    for (int id = 0; id < s->n_nodes; id++) {
        const node *n = &s->nodes[id];
        krf_expr x[3] = {{0}};
        results[id] = NULL;
        krf_graph_reset(g);
        for (int k = 0; k < n->n_args; k++) {
            x[k] = s->nodes[n->args[k]].weak ? weak_expr(g, s, n->args[k]) : krf_input(g, results[n->args[k]]);
        }
        krf_status status = krf_eval(build_node(g, n, x, leaves), &results[id]);
        if (status != KRF_OK) {
            fail_msg("seed %" PRIu64 ": node %d alone: %s: %s", s->seed, id, krf_status_name(status),
                     krf_error_message());
        }
    }
    krf_graph_destroy(g);
}

/* ---- the comparison ---- */

static bool compare(const sample *s, const run *r, int k, krf_array *got, krf_array *want, bool quiet) {
    const node *n = &s->nodes[s->outputs[k]];
    char what[64], left[64], right[64];
    snprintf(what, sizeof what, "seed %" PRIu64 ", output %d", s->seed, k);
    int before = failures;
    void *a = to_host(got, n->dtype, n->rank, n->shape, what), *b = to_host(want, n->dtype, n->rank, n->shape, what);
    bool equal = a != NULL && b != NULL;
    failures = before;
    for (int64_t i = 0; equal && i < n->size; i++) {
        if (!same(get(a, n->dtype, i), get(b, n->dtype, i))) {
            equal = false;
            if (!quiet) {
                fprintf(stderr, "seed %" PRIu64 ", %s: output %d (node %d), element %" PRId64 ": fused %s, alone %s\n",
                        s->seed, r->label, k, s->outputs[k], i, show(get(a, n->dtype, i), left, sizeof left),
                        show(get(b, n->dtype, i), right, sizeof right));
            }
        }
    }
    free(a);
    free(b);
    return equal;
}

/* An output of that shape every other element of which belongs to somebody else. */
static krf_array *strided_output(run *r, const node *n) {
    krf_array *base = NULL, *view = NULL;
    int64_t strides[RANK], step = 2, count = 2 * n->size + 3;
    for (int i = n->rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= n->shape[i];
    }
    assert_int_equal(krf_array_create(r->context, n->dtype, 1, &count, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, n->rank, n->shape, strides, 1, &view), KRF_OK);
    krf_array_release(base);
    return view;
}

static bool evaluate_fused(const sample *s, run *r, const krf_expr *built, krf_array **leaves, krf_array *const *want,
                           bool quiet) {
    krf_expr outputs[MOST_OUTPUTS];
    krf_array *results[MOST_OUTPUTS] = {NULL};
    bool right = true;
    for (int k = 0; k < s->n_outputs; k++) {
        outputs[k] = built[s->outputs[k]];
        if (s->given[k] > 0) {
            results[k] = s->given[k] == 1 ? strided_output(r, &s->nodes[s->outputs[k]])
                                          : krf_array_retain(leaves[s->given[k] - 2]);
        }
    }
    krf_status status = krf_eval_many(s->n_outputs, outputs, results);
    if (status != KRF_OK) {
        right = false;
        if (!quiet) {
            fprintf(stderr, "seed %" PRIu64 ", %s: %s: %s\n", s->seed, r->label, krf_status_name(status),
                    krf_error_message());
        }
    }
    for (int k = 0; k < s->n_outputs; k++) {
        right = right && compare(s, r, k, results[k], want[s->outputs[k]], quiet);
        krf_array_release(results[k]);
    }
    return right;
}

static char *dump(const sample *s, krf_graph *g, int n, const krf_expr *outputs) {
    char *text = NULL;
    size_t size = 0;
    krf_status status = krf_dump(g, n, outputs, KRF_DUMP_GRAPH, "c", NULL, &text, &size);
    if (status != KRF_OK) {
        fprintf(stderr, "seed %" PRIu64 ": dump: %s: %s\n", s->seed, krf_status_name(status), krf_error_message());
    }
    return text;
}

static bool text_survives(const sample *s, run *r, krf_graph *g, const krf_expr *built, bool quiet) {
    krf_expr outputs[MOST_OUTPUTS], again[MOST_OUTPUTS];
    int count = 0;
    for (int k = 0; k < s->n_outputs; k++) {
        outputs[k] = built[s->outputs[k]];
    }
    char *text = dump(s, g, s->n_outputs, outputs), *second = NULL;
    krf_graph *parsed = krf_graph_create(r->context);
    bool right = text != NULL;
    if (right
        && (krf_parse_many(parsed, text, NULL, 0, MOST_OUTPUTS, again, &count) != KRF_OK || count != s->n_outputs)) {
        right = false;
        if (!quiet) {
            fprintf(stderr, "seed %" PRIu64 ": the text does not parse: %s\n%s\n", s->seed, krf_error_message(), text);
        }
    }
    second = right ? dump(s, parsed, count, again) : NULL;
    if (right && (second == NULL || strcmp(text, second) != 0)) {
        right = false;
        if (!quiet) {
            fprintf(stderr, "seed %" PRIu64 ": printed, parsed and printed again:\n%s\n----\n%s\n", s->seed, text,
                    second != NULL ? second : "");
        }
    }
    krf_free(text);
    krf_free(second);
    krf_graph_destroy(parsed);
    return right;
}

/* One graph in the first `n_runs` runs, against the oracle in the first of them. */
static bool try_graph(uint64_t seed, int limit, runs *all, int n_runs, bool quiet, int *n_nodes) {
    static sample s;
    krf_expr built[MOST_NODES];
    krf_array *leaves[MOST_LEAVES], *results[MOST_NODES];
    run *first = &all->run[0];
    krf_graph *g = krf_graph_create(first->context);
    generate(&s, seed, limit, first, g, built, leaves);
    evaluate_steps(&s, first, leaves, results);
    bool right = text_survives(&s, first, g, built, quiet);
    if (!quiet && getenv("KRF_FUZZ_PRINT") != NULL) {
        krf_expr outputs[MOST_OUTPUTS];
        for (int k = 0; k < s.n_outputs; k++) {
            outputs[k] = built[s.outputs[k]];
        }
        char *text = dump(&s, g, s.n_outputs, outputs);
        printf("%s\n", text);
        krf_free(text);
    }
    right = evaluate_fused(&s, first, built, leaves, results, quiet) && right;
    for (int k = 1; k < n_runs && right; k++) {
        krf_array *others[MOST_LEAVES];
        krf_expr rebuilt[MOST_NODES];
        krf_graph *h = krf_graph_create(all->run[k].context);
        for (int i = 0; i < s.n_leaves; i++) {
            others[i] = leaf_array(&all->run[k], &s.leaves[i]);
        }
        for (int id = 0; id < s.n_nodes; id++) {
            krf_expr x[3] = {{0}};
            for (int j = 0; j < s.nodes[id].n_args; j++) {
                x[j] = rebuilt[s.nodes[id].args[j]];
            }
            rebuilt[id] = build_node(h, &s.nodes[id], x, others);
        }
        right = evaluate_fused(&s, &all->run[k], rebuilt, others, results, quiet);
        krf_graph_destroy(h);
        for (int i = 0; i < s.n_leaves; i++) {
            krf_array_release(others[i]);
        }
    }
    if (!right && !quiet) {
        krf_expr outputs[MOST_OUTPUTS];
        for (int k = 0; k < s.n_outputs; k++) {
            outputs[k] = built[s.outputs[k]];
        }
        char *text = dump(&s, g, s.n_outputs, outputs);
        fprintf(stderr, "---- seed %" PRIu64 ", %d nodes, outputs given:", seed, s.n_nodes);
        for (int k = 0; k < s.n_outputs; k++) {
            fprintf(stderr, " %d", s.given[k]);
        }
        fprintf(stderr, "\n%s\n", text != NULL ? text : "");
        krf_free(text);
    }
    *n_nodes = s.n_nodes;
    krf_graph_destroy(g);
    for (int id = 0; id < s.n_nodes; id++) {
        krf_array_release(results[id]);
    }
    for (int i = 0; i < s.n_leaves; i++) {
        krf_array_release(leaves[i]);
        free(s.leaves[i].memory);
    }
    return right;
}

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

static runs all_runs;

static void test_random_graphs(void **unused) {
    (void)unused;
    const uint64_t count = setting("KRF_FUZZ_COUNT", 200), start = setting("KRF_FUZZ_SEED", 1),
                   compile = setting("KRF_FUZZ_COMPILE", 12);
    int64_t nodes = 0;
    for (uint64_t seed = start; seed < start + count && failures < 5; seed++) {
        int n_runs = all_runs.cuda || (compile > 0 && seed % compile == 0) ? all_runs.n : 1, n, shorter;
        if (!try_graph(seed, MOST_NODES, &all_runs, n_runs, false, &n)) {
            failures++;
            for (int limit = 1; limit < n; limit++) {
                if (!try_graph(seed, limit, &all_runs, n_runs, true, &shorter)) {
                    fprintf(stderr, "shrunk:\n");
                    try_graph(seed, limit, &all_runs, n_runs, false, &shorter);
                    break;
                }
            }
        }
        nodes += n;
    }
    printf("%" PRIu64 " graphs from seed %" PRIu64 " on, %" PRId64 " nodes\n", count, start, nodes);
    assert_int_equal(failures, 0);
}

static int open_all(void **unused) {
    (void)unused;
    open_runs(&all_runs, false);
    return 0;
}

static int close_all(void **unused) {
    (void)unused;
    close_runs(&all_runs);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_graphs)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
