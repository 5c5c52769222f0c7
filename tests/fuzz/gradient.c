/* Makes gradients of a graph: its real results are summed and differentiated by its real leaves, by the library; what comes out is a graph like any other,
 * which the oracle computes operation by operation. Whether a gradient is right is for tests/ops and tests/jax to say. */
#include "fuzz/evaluate.h"
#include "fuzz/generate.h"
#include "fuzz/reproduce.h"
#include "fuzz/user.h"

#include "ir/graph.h"

static bool differentiable(krf_expr x) { return krf_expr_ok(x) && is_real(krf_expr_dtype(x)) && !is_complex(krf_expr_dtype(x)); }

/* Marks what no derivative goes through: reductions and scans of users, and functions whose derivatives nobody said. */
static void find_barriers(const graph *g, bool *barrier) {
    for (int id = 0; id < g->n_nodes; id++) {
        const node *n = &g->nodes[id];
        barrier[id] = n->kind == NODE_FOLD || n->kind == NODE_FOLD_SCAN || (n->kind == NODE_CALL && user_ops[n->op].derivatives == NULL);
        for (int k = 0; k < node_arity(n); k++) {
            barrier[id] |= barrier[n->args[k]];
        }
    }
}

/* The gradients, and their number. */
static int build_gradients(krf_graph *lazy, const graph *g, uint32_t *gradients) {
    krf_expr built[MOST_NODES] = {{0}}, sum = {NULL, 0}, by[MOST_OUTPUTS], found[MOST_OUTPUTS];
    bool needed[MOST_NODES], barrier[MOST_NODES];
    int n = 0;
    graph_needed(g, needed);
    find_barriers(g, barrier);
    if (!build_graph(lazy, g, WITH_PLACEHOLDERS, NULL, built, NULL)) {
        return 0;
    }
    for (int k = 0; k < g->n_outputs; k++) {
        krf_expr y = built[g->outputs[k].node];
        if (differentiable(y) && !barrier[g->outputs[k].node]) {
            krf_expr part = krf_cast(krf_sum(y, 0, NULL, false), KRF_F64);
            sum = sum.graph == NULL ? part : krf_add(sum, part);
        }
    }
    for (int id = 0; id < g->n_nodes && n < MOST_OUTPUTS && sum.graph != NULL; id++) {
        bool there = !needed[id] || g->nodes[id].kind != NODE_LEAF || !differentiable(built[id]);
        for (int k = 0; k < n; k++) {
            there |= by[k].id == built[id].id;
        }
        if (!there) {
            by[n++] = built[id];
        }
    }
    if (n > 0) {
        krf_grad(sum, n, by, found);
    }
    for (int k = 0; k < n; k++) {
        gradients[k] = found[k].id;
    }
    return lazy->status == KRF_OK ? n : 0;
}

void differentiate(graph *g, int64_t most) {
    static graph made;
    krf_graph lazy, needed;
    uint32_t ids[MOST_OUTPUTS];
    krf_expr outputs[MOST_OUTPUTS];
    report ignored;
    if (krf__graph_init(&lazy, NULL) != KRF_OK) {
        return;
    }
    lazy.defined = user_defined();
    int n = build_gradients(&lazy, g, ids);
    if (n > 0 && krf__canon(&lazy, n, ids, &needed) == KRF_OK) {
        for (int k = 0; k < n; k++) {
            outputs[k] = (krf_expr){&needed, ids[k]};
        }
        bool right = graph_import(&made, &needed, n, outputs, &ignored); /* not where it is too large */
        memcpy(made.leaves, g->leaves, sizeof made.leaves);
        memcpy(made.blocks, g->blocks, sizeof made.blocks);
        made.seed = g->seed;
        made.n_leaves = g->n_leaves;
        for (int id = 0; right && id < made.n_nodes; id++) {
            node *scalar = &made.nodes[id];
            if (scalar->kind == NODE_SCALAR && !scalar->literal && scalar->n >= 0) {
                scalar->scalar = g->nodes[scalar->n].scalar; /* k12 was node 12 */
            }
        }
        if (right && graph_infer(&made, most)) {
            *g = made;
            g->gradient = true;
        }
        krf__graph_free(&needed);
    }
    krf__graph_free(&lazy);
}
