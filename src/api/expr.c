/* Builders of leaves and views, and facts about expressions. The checks of substance are the ir's; here it is seen to
 * that operands are nodes of one graph. */
#include "api/expr.h"

#include "base/fail.h"

static bool is_node(krf_expr x) { return x.graph != NULL && x.id != 0 && x.id < x.graph->n_nodes; }

bool krf__expr_check(const char *name, krf_expr x) {
    if (is_node(x)) {
        return true;
    }
    if (x.graph != NULL && x.graph->status == KRF_OK) {
        krf__graph_fail(x.graph, KRF_E_ARGUMENT, "%s: an operand is not an expression of this graph%s", name,
                        x.id != 0 ? " (was the graph reset?)" : "");
    }
    return false;
}

krf_expr krf__expr_apply(krf__op op, int n, const krf_expr *operands) {
    const char *name = krf__op_info_of(op)->name;
    krf_graph *g = operands[0].graph;
    uint32_t ids[3] = {0};
    for (int i = 0; i < n; i++) {
        if (operands[i].graph == NULL) {
            if (g != NULL && g->status == KRF_OK) {
                krf__graph_fail(g, KRF_E_ARGUMENT, "%s: an operand is not an expression", name);
            }
            return (krf_expr){g, 0};
        }
        if (operands[i].graph != g) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: the operands belong to different graphs", name);
            return (krf_expr){g, 0};
        }
        if (!krf__expr_check(name, operands[i])) {
            return (krf_expr){g, 0};
        }
        ids[i] = operands[i].id;
    }
    return (krf_expr){g, krf__build(g, op, n, ids)};
}

krf_status krf__expr_ids(const char *name, krf_graph *graph, int n, const krf_expr *xs, uint32_t *ids) {
    if (graph == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: an expression has no graph", name);
    }
    if (graph->status != KRF_OK) {
        return krf__graph_error(graph);
    }
    for (int k = 0; k < n; k++) {
        if (xs[k].graph != graph) {
            return krf__fail(KRF_E_ARGUMENT, "%s: the expressions belong to different graphs", name);
        }
        if (!is_node(xs[k])) {
            return krf__fail(KRF_E_ARGUMENT, "%s: expression %d is poison, or of a graph that was reset", name, k);
        }
        ids[k] = xs[k].id;
    }
    return graph->context != NULL ? KRF_OK : krf__fail(KRF_E_ARGUMENT, "%s: the graph has no context", name);
}

/* ---- facts ---- */

bool krf_expr_ok(krf_expr x) { return is_node(x); }
krf_dtype krf_expr_dtype(krf_expr x) { return is_node(x) ? (krf_dtype)krf__node_of(x.graph, x.id)->dtype : KRF_BOOL; }
bool krf_expr_weak(krf_expr x) { return is_node(x) && krf__node_of(x.graph, x.id)->weak; }
int krf_expr_rank(krf_expr x) { return is_node(x) ? krf__node_of(x.graph, x.id)->rank : 0; }
const int64_t *krf_expr_shape(krf_expr x) { return is_node(x) ? krf__shape_of(x.graph, x.id) : NULL; }

/* ---- leaves ---- */

krf_expr krf_input(krf_graph *graph, krf_array *array) {
    return (krf_expr){graph, graph != NULL ? krf__build_input(graph, array) : 0};
}

static bool is_name(const char *name) {
    for (const char *p = name; *p != '\0'; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (!letter && (p == name || *p < '0' || *p > '9')) {
            return false;
        }
    }
    return *name != '\0';
}

static krf_expr placeholder(krf_graph *g, const char *name, krf_dtype dtype, bool weak, int rank, const int64_t *shape,
                            const int64_t *strides) {
    if (g == NULL) {
        return (krf_expr){NULL, 0};
    }
    if (name != NULL && !is_name(name)) {
        return (krf_expr){g, krf__graph_fail(g, KRF_E_ARGUMENT, "placeholder: \"%s\" is not a name", name)};
    }
    return (krf_expr){g, krf__build_placeholder(g, name, dtype, weak, rank, shape, strides)};
}

krf_expr krf_placeholder(krf_graph *graph, const char *name, krf_dtype dtype, int rank, const int64_t *shape) {
    return placeholder(graph, name, dtype, false, rank, shape, NULL);
}

krf_expr krf_placeholder_strided(krf_graph *graph, const char *name, krf_dtype dtype, int rank, const int64_t *shape,
                                 const int64_t *strides) {
    return placeholder(graph, name, dtype, false, rank, shape, strides);
}

krf_expr krf_placeholder_weak(krf_graph *graph, const char *name, krf_dtype dtype) {
    return placeholder(graph, name, dtype, true, 0, NULL, NULL);
}

krf_expr krf_int(krf_graph *graph, int64_t value) {
    return (krf_expr){graph, graph != NULL ? krf__build_int(graph, value, false) : 0};
}

krf_expr krf_uint(krf_graph *graph, uint64_t value) {
    return value <= INT64_MAX ? krf_int(graph, (int64_t)value) : (krf_expr){graph, graph != NULL ? krf__build_large(graph, value) : 0};
}

krf_expr krf_real(krf_graph *graph, double value) {
    return (krf_expr){graph, graph != NULL ? krf__build_real(graph, value, false) : 0};
}

krf_expr krf_complex(krf_graph *graph, double re, double im) {
    return (krf_expr){graph, graph != NULL ? krf__build_complex(graph, re, im, false) : 0};
}

/* ---- views ---- */

krf_expr krf_cast(krf_expr x, krf_dtype dtype) {
    return (krf_expr){x.graph, krf__expr_check("cast", x) ? krf__build_astype(x.graph, x.id, dtype) : 0};
}

krf_expr krf_transpose(krf_expr x, const int *axes) {
    return (krf_expr){x.graph, krf__expr_check("transpose", x) ? krf__build_transpose(x.graph, x.id, axes) : 0};
}

krf_expr krf_slice(krf_expr x, int n, const krf_range *ranges) {
    return (krf_expr){x.graph, krf__expr_check("slice", x) ? krf__build_slice(x.graph, x.id, n, ranges) : 0};
}

krf_expr krf_reshape(krf_expr x, int rank, const int64_t *shape) {
    return (krf_expr){x.graph, krf__expr_check("reshape", x) ? krf__build_reshape(x.graph, x.id, rank, shape) : 0};
}

krf_expr krf_broadcast_to(krf_expr x, int rank, const int64_t *shape) {
    return (krf_expr){x.graph,
                      krf__expr_check("broadcast_to", x) ? krf__build_broadcast_to(x.graph, x.id, rank, shape) : 0};
}

krf_expr krf_expand_dims(krf_expr x, int axis) {
    return (krf_expr){x.graph, krf__expr_check("expand_dims", x) ? krf__build_expand_dims(x.graph, x.id, axis) : 0};
}

krf_expr krf_squeeze(krf_expr x, int axis) {
    return (krf_expr){x.graph, krf__expr_check("squeeze", x) ? krf__build_squeeze(x.graph, x.id, axis) : 0};
}

krf_expr krf_flip(krf_expr x, int axis) {
    return (krf_expr){x.graph, krf__expr_check("flip", x) ? krf__build_flip(x.graph, x.id, axis) : 0};
}
