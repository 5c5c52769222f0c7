/* From a graph of the library, as the parser makes it, to one of the fuzzer. Implicit conversions are casts in it;
 * otherwise it is the same. */
#include "fuzz/reproduce.h"

#include "fuzz/oracle.h"
#include "fuzz/user.h"
#include "ir/graph.h"

/* What the library's tables gain must not be left out of the random graphs by mistake: a kind of node, or a dtype, that
 * is not known here does not compile. Elementwise operations, reductions and scans need rows in tests/ops. */
enum {
    KNOWN_poison,
    KNOWN_constant,
    KNOWN_scalar,
    KNOWN_input,
    KNOWN_placeholder,
    KNOWN_iota,
    KNOWN_part,
    KNOWN_cast,
    KNOWN_stop_gradient,
    KNOWN_transpose,
    KNOWN_slice,
    KNOWN_broadcast_to,
    KNOWN_diagonal,
    KNOWN_sliding_window_view,
    KNOWN_reshape,
    KNOWN_take,
    KNOWN_take_along_axis,
    KNOWN_view,
    KNOWN_gather,
    KNOWN_joined, /* joined arrays have no other form before lowering than choices */
    KNOWN_raw_kernel, /* kernels of users have no oracle: tests/api/test_raw.c */
    KNOWN_raw_argument,
    KNOWN_raw_launch,
    KNOWN_raw_result,
    KNOWN_load,
    KNOWN_fetch,
    KNOWN_store
};
#define NODE(name, arity) _Static_assert(KNOWN_##name >= 0, "a kind of node that the random graphs do not have");
#define OP(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
_Static_assert(DTYPES == (int)KRF__KERNEL_DTYPE_COUNT && ALL_DTYPES == (int)KRF__DTYPE_COUNT, "dtypes.def has a dtype that tests/ops/common.h has not");

static void import_constant(const krf__node *from, node *n) {
    krf_dtype dtype = (krf_dtype)from->dtype;
    n->kind = NODE_SCALAR;
    n->literal = true;
    n->strong = !from->weak;
    n->scalar.dtype = dtype;
    if (is_real(dtype)) {
        n->scalar.f = krf__bits_to_f64(dtype, from->value);
    } else {
        n->scalar.i = krf__bits_to_i64(dtype, from->value);
    }
}

static bool import_placeholder(graph *g, const krf_graph *in, const krf__node *from, const int64_t *shape, node *n,
                               report *r) {
    const krf__placeholder *p = &in->placeholders[from->value];
    int index = p->name != NULL && strlen(p->name) > 1 && strspn(p->name + 1, "0123456789") == strlen(p->name + 1)
                    ? atoi(p->name + 1)
                    : (int)from->value;
    if (from->weak) {
        n->kind = NODE_SCALAR;
        n->scalar = (value){.dtype = (krf_dtype)from->dtype, .i = 3, .f = 2.5};
        n->n = index; /* for the line that has its value */
        return true;
    }
    if (index >= MOST_LEAVES) {
        return fails(r, "%s: leaves are a0 to a%d", p->name, MOST_LEAVES - 1);
    }
    leaf *x = &g->leaves[index];
    int64_t low = 0, high = 0;
    *x = (leaf){.block = index, .rank = from->rank};
    for (int i = 0; i < x->rank; i++) {
        int64_t reach = (shape[i] > 0 ? shape[i] - 1 : 0) * p->strides[i];
        x->shape[i] = shape[i];
        x->strides[i] = p->strides[i];
        *(reach < 0 ? &low : &high) += reach;
    }
    x->offset = -low;
    g->blocks[index] = (block){.dtype = (krf_dtype)from->dtype, .count = high - low + 1, .fill = FILL_EVERYDAY};
    g->n_leaves = index >= g->n_leaves ? index + 1 : g->n_leaves;
    n->kind = NODE_LEAF;
    n->args[0] = index;
    return true;
}

static void import_slice(const krf__node *from, const int64_t *shape, const int64_t *ints, node *n) {
    n->kind = NODE_SLICE;
    n->n = from->rank;
    for (int i = 0; i < from->rank; i++) {
        int64_t start = ints[2 * i], step = ints[2 * i + 1], stop = start + step * shape[i];
        n->ranges[i] = (krf_range){start, stop < 0 ? KRF_NONE : stop, step};
        if (shape[i] == 0) {
            n->ranges[i] = (krf_range){0, 0, 1};
        }
    }
}

static void import_extents(const krf__node *from, const int64_t *shape, node_kind kind, node *n) {
    n->kind = kind;
    n->n = from->rank;
    memcpy(n->extents, shape, from->rank * sizeof *shape);
}

/* The operands' chain has no nodes of its own. */
static bool import_user(const krf_graph *in, uint32_t id, const int *map, node_kind kind, node *n, report *r) {
    const krf__node *from = krf__node_of(in, id);
    const krf__result *result = krf__result_of(from->value);
    uint32_t operands[KRF__MOST_DEFINED];
    n->kind = kind;
    n->op = user_find(kind, result->op);
    n->result = result->index;
    if (n->op < 0 || krf__operands(in, id, operands) > MOST_ARGS) {
        return fails(r, "%s is no definition of the random graphs", result->op->name);
    }
    for (int k = 0; k < user_arity(n); k++) {
        n->args[k] = map[operands[k]];
    }
    n->keepdims = from->keepdims;
    for (int i = 0; i < KRF_MAX_RANK && kind != NODE_CALL && n->n < RANK; i++) {
        if ((krf__ints_of(in, id)[0] >> i & 1) != 0) {
            n->axes[n->n++] = i;
        }
    }
    n->n = kind == NODE_FOLD ? n->n : 0;
    return true;
}

static bool import_node(graph *g, const krf_graph *in, uint32_t id, const int *map, node *n, report *r) {
    const krf__node *from = krf__node_of(in, id);
    const int64_t *shape = krf__shape_of(in, id), *ints = krf__ints_of(in, id);
    const char *name = krf__op_info_of(from->op)->name;
    memset(n, 0, sizeof *n);
    if (from->rank > RANK) {
        return fails(r, "a rank above %d", RANK);
    }
    for (int k = 0; k < 3; k++) {
        n->args[k] = from->args[k] != 0 ? map[from->args[k]] : 0;
    }
    switch (from->op) {
    case KRF__constant: import_constant(from, n); return true;
    case KRF__scalar: /* of a text there is none; of a gradient */
        import_constant(from, n);
        n->literal = false;
        n->n = -1;
        return from->weak || fails(r, "a scalar that is not weak");
    case KRF__iota:
        n->kind = NODE_RANGE;
        n->extents[0] = shape[0];
        return true;
    case KRF__placeholder: return import_placeholder(g, in, from, shape, n, r);
    case KRF__cast:
        n->kind = NODE_CAST;
        n->to = (krf_dtype)from->dtype;
        return true;
    case KRF__call: return import_user(in, id, map, NODE_CALL, n, r);
    case KRF__fold: return import_user(in, id, map, NODE_FOLD, n, r);
    case KRF__fold_scan: return import_user(in, id, map, NODE_FOLD_SCAN, n, r);
    case KRF__transpose:
        n->kind = NODE_TRANSPOSE;
        n->n = from->rank;
        for (int i = 0; i < from->rank; i++) {
            n->axes[i] = (int)ints[i];
        }
        return true;
    case KRF__slice: import_slice(from, shape, ints, n); return true;
    case KRF__broadcast_to: import_extents(from, shape, NODE_STRETCH, n); return true;
    case KRF__reshape: import_extents(from, shape, NODE_RESHAPE, n); return true;
    case KRF__take:
    case KRF__take_along_axis:
        n->kind = from->op == KRF__take ? NODE_TAKE : NODE_ALONG;
        n->axes[0] = (int)ints[0];
        return true;
    case KRF__diagonal:
        n->kind = NODE_DIAGONAL;
        n->extents[0] = ints[0];
        n->axes[0] = (int)ints[1];
        n->axes[1] = (int)ints[2];
        return true;
    case KRF__sliding_window_view:
        n->kind = NODE_WINDOWS;
        n->n = (int)from->n_ints;
        for (int i = 0; i < n->n; i++) {
            n->axes[i] = (int)ints[i];
            n->extents[i] = shape[from->rank - n->n + i];
        }
        return true;
    default: break;
    }
    if (krf__op_info_of(from->op)->class_ == KRF__CLASS_REDUCE) {
        n->kind = NODE_REDUCE;
        n->op = reduction_find(name);
        n->keepdims = from->keepdims;
        for (int i = 0; i < KRF_MAX_RANK && n->n < RANK; i++) {
            if ((ints[0] >> i & 1) != 0) {
                n->axes[n->n++] = i;
            }
        }
    } else if (krf__op_info_of(from->op)->class_ == KRF__CLASS_SCAN) {
        n->kind = NODE_SCAN;
        n->op = scan_find(name);
        while ((ints[0] >> n->axes[0] & 1) == 0) {
            n->axes[0]++;
        }
    } else {
        n->kind = NODE_ELEMENTWISE;
        n->op = op_find(name);
    }
    return n->op >= 0 || fails(r, "%s is no operation of the oracle", name);
}

bool graph_import(graph *g, const krf_graph *from, int n_outputs, const krf_expr *outputs, report *r) {
    int *map = calloc(from->n_nodes, sizeof *map);
    bool right = map != NULL;
    memset(g, 0, sizeof *g);
    g->seed = 1;
    for (int k = 0; k < MOST_LEAVES; k++) { /* names may leave gaps */
        g->leaves[k].block = k;
        g->blocks[k].count = 1;
    }
    for (uint32_t id = 1; right && id < from->n_nodes; id++) {
        if (krf__node_of(from, id)->op == KRF__stop_gradient) {
            map[id] = map[krf__node_of(from, id)->args[0]];
            continue;
        }
        if (krf__node_of(from, id)->op == KRF__bind) {
            continue;
        }
        if (g->n_nodes == MOST_NODES) {
            right = fails(r, "more than %d nodes", MOST_NODES);
            break;
        }
        map[id] = g->n_nodes;
        right = import_node(g, from, id, map, &g->nodes[g->n_nodes], r);
        if (right && !node_infer(g, &g->nodes[g->n_nodes])) {
            right = fails(r, "node %d: not defined for its operands", g->n_nodes);
        }
        g->n_nodes++;
    }
    for (int k = 0; right && k < n_outputs; k++) {
        g->outputs[g->n_outputs++] = (output){.node = map[outputs[k].id]};
    }
    free(map);
    return right;
}
