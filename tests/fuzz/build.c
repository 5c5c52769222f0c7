/* From the fuzzer's graph to the library's, through the public builders; and to the text form. */
#include "fuzz/evaluate.h"
#include "fuzz/movement.h"
#include "fuzz/user.h"
#include "ir/build.h"

static krf_expr expr(krf_graph *g, uint32_t id) { return (krf_expr){g, id}; }

static krf_expr build_leaf(krf_graph *to, const graph *g, const node *n, manner form, krf_array *const *leaves) {
    const leaf *x = &g->leaves[n->args[0]];
    char name[16];
    if (form == WITH_INPUTS) {
        return krf_input(to, leaves[n->args[0]]);
    }
    snprintf(name, sizeof name, "a%d", n->args[0]);
    return leaf_in_c_order(x) ? krf_placeholder(to, name, n->is.dtype, x->rank, x->shape)
                              : krf_placeholder_strided(to, name, n->is.dtype, x->rank, x->shape, x->strides);
}

/* Literals come out of texts alone, so the builder behind the parser makes them. */
static krf_expr build_scalar(krf_graph *to, const node *n, int id, manner form) {
    const value v = n->scalar;
    const bool real = is_real(v.dtype);
    char name[16];
    if (n->strong || n->literal) {
        krf_expr literal = expr(to, is_complex(v.dtype) ? krf__build_complex(to, v.f, v.im, true)
                                    : real              ? krf__build_real(to, v.f, true)
                                                        : krf__build_int(to, v.i, true));
        return n->strong ? krf_cast(literal, v.dtype) : literal;
    }
    if (form == WITH_INPUTS) {
        return is_complex(v.dtype) ? krf_complex(to, v.f, v.im) : real ? krf_real(to, v.f) : krf_int(to, v.i);
    }
    snprintf(name, sizeof name, "k%d", id);
    return krf_placeholder_weak(to, name, v.dtype);
}

static krf_expr build_node(krf_graph *to, const graph *g, int id, manner form, krf_array *const *leaves,
                           const krf_expr *built) {
    const node *n = &g->nodes[id];
    krf_expr x[MOST_ARGS] = {{0}};
    for (int k = 0; k < node_arity(n); k++) {
        x[k] = built[n->args[k]];
    }
    switch (n->kind) {
    case NODE_LEAF: return build_leaf(to, g, n, form, leaves);
    case NODE_SCALAR: return build_scalar(to, n, id, form);
    case NODE_RANGE: return krf_arange(to, 0, n->extents[0], 1);
    case NODE_ELEMENTWISE: return op_build(n->op, x);
    case NODE_CAST: return krf_cast(x[0], n->to);
    case NODE_TRANSPOSE: return krf_transpose(x[0], n->axes);
    case NODE_SLICE: return krf_slice(x[0], n->n, n->ranges);
    case NODE_RESHAPE: return krf_reshape(x[0], n->n, n->extents);
    case NODE_STRETCH: return krf_broadcast_to(x[0], n->n, n->extents);
    case NODE_EXPAND: return krf_expand_dims(x[0], n->axes[0]);
    case NODE_SQUEEZE: return krf_squeeze(x[0], n->axes[0]);
    case NODE_FLIP: return krf_flip(x[0], n->axes[0]);
    case NODE_SCAN: return scan_build(n->op, x[0], n->axes[0]);
    case NODE_CALL:
    case NODE_FOLD:
    case NODE_FOLD_SCAN: return build_user(n, x);
    default: break;
    }
    if (node_moves(n)) {
        return build_moves(n, x);
    }
    return reduction_build(n->op, x[0], n->n, n->axes, n->keepdims);
}

static bool facts_agree(const facts *f, krf_expr e) {
    bool agree = krf_expr_dtype(e) == f->dtype && krf_expr_weak(e) == f->weak && krf_expr_rank(e) == f->rank;
    for (int i = 0; agree && i < f->rank; i++) {
        agree = krf_expr_shape(e)[i] == f->shape[i];
    }
    return agree;
}

bool build_graph(krf_graph *to, const graph *g, manner form, krf_array *const *leaves, krf_expr *built, report *r) {
    bool needed[MOST_NODES];
    graph_needed(g, needed);
    for (int id = 0; id < g->n_nodes; id++) {
        const node *n = &g->nodes[id];
        bool again = false; /* a placeholder has one node */
        for (int k = 0; k < id && n->kind == NODE_LEAF && form != WITH_INPUTS && !again; k++) {
            again = needed[k] && needed[id] && g->nodes[k].kind == NODE_LEAF && g->nodes[k].args[0] == n->args[0];
            built[id] = again ? built[k] : built[id];
        }
        if (!needed[id] || again) {
            continue;
        }
        built[id] = build_node(to, g, id, form, leaves, built);
        if (!krf_expr_ok(built[id])) {
            return r != NULL && fails(r, "node %d cannot be built: %s", id, krf_graph_error(to));
        }
        if (r != NULL && !facts_agree(&n->is, built[id])) {
            return fails(r,
                         "node %d: the builder says %s, weak %d, rank %d, first extent %" PRId64
                         "; it should be %s, weak %d, rank %d, %" PRId64,
                         id, name_of(krf_expr_dtype(built[id])), krf_expr_weak(built[id]), krf_expr_rank(built[id]),
                         krf_expr_rank(built[id]) > 0 ? krf_expr_shape(built[id])[0] : -1, name_of(n->is.dtype),
                         n->is.weak, n->is.rank, n->is.rank > 0 ? n->is.shape[0] : -1);
        }
    }
    return true;
}

static char *dump(krf_graph *lazy, int n, const krf_expr *outputs, report *r) {
    char *text = NULL;
    size_t size;
    if (krf_dump(lazy, n, outputs, KRF_DUMP_GRAPH, NULL, NULL, &text, &size) != KRF_OK) {
        fails(r, "dump: %s", krf_error_message());
    }
    return text;
}

static int list_outputs(const graph *g, const krf_expr *built, krf_expr *outputs) {
    for (int k = 0; k < g->n_outputs; k++) {
        outputs[k] = built[g->outputs[k].node];
    }
    return g->n_outputs;
}

char *graph_text(krf_context *context, const graph *g, report *r) {
    krf_graph *lazy = krf_graph_create(context);
    krf_expr built[MOST_NODES], outputs[MOST_OUTPUTS];
    char *text = NULL;
    if (build_graph(lazy, g, WITH_PLACEHOLDERS, NULL, built, NULL)) {
        text = dump(lazy, list_outputs(g, built, outputs), outputs, r);
    }
    krf_graph_destroy(lazy);
    if (text == NULL) {
        fails(r, "the graph cannot be built, so it has no text");
    }
    return text;
}

static bool survives(krf_context *context, const char *text, int n, report *r) {
    krf_graph *parsed = krf_graph_create(context);
    krf_expr outputs[MOST_OUTPUTS];
    int count = 0;
    bool right = krf_parse_many(parsed, text, NULL, 0, MOST_OUTPUTS, outputs, &count) == KRF_OK && count == n;
    if (!right) {
        fails(r, "the printed text does not parse: %s\n%s", krf_error_message(), text);
    }
    char *again = right ? dump(parsed, n, outputs, r) : NULL;
    if (again != NULL && strcmp(text, again) != 0) {
        fails(r, "printed:\n%s\nparsed and printed again:\n%s", text, again);
    }
    right = again != NULL && strcmp(text, again) == 0;
    krf_free(again);
    krf_graph_destroy(parsed);
    return right;
}

bool text_is_fixpoint(krf_context *context, const graph *g, report *r) {
    krf_array *leaves[MOST_LEAVES] = {NULL};
    bool right = true;
    for (manner form = WITH_INPUTS; right && form <= WITH_PLACEHOLDERS; form++) {
        krf_graph *lazy = krf_graph_create(context);
        krf_expr built[MOST_NODES], outputs[MOST_OUTPUTS];
        for (int k = 0; form == WITH_INPUTS && k < g->n_leaves;
             k++) { /* nothing is read: one element serves for the whole block */
            krf_array *base = NULL;
            right = right
                    && krf_array_create(context, g->blocks[g->leaves[k].block].dtype, 1,
                                        &g->blocks[g->leaves[k].block].count, &base)
                           == KRF_OK
                    && krf_array_view(base, g->leaves[k].rank, g->leaves[k].shape, g->leaves[k].strides,
                                      g->leaves[k].offset, &leaves[k])
                           == KRF_OK;
            krf_array_release(base);
        }
        right = right && build_graph(lazy, g, form, leaves, built, r);
        char *text = right ? dump(lazy, list_outputs(g, built, outputs), outputs, r) : NULL;
        right = text != NULL && survives(context, text, g->n_outputs, r);
        krf_free(text);
        krf_graph_destroy(lazy);
    }
    for (int k = 0; k < g->n_leaves; k++) {
        krf_array_release(leaves[k]);
    }
    return right;
}
