/* One small difference: another constant, operation of the same arity, layout, dtype, axis or step. What depends on it
 * may become invalid: then the graph stays as it was. */
#include "fuzz/generate.h"
#include "fuzz/user.h"

enum { MOST = 200000 };

/* Another operand with the same facts: the same operations in the same order, of other values. */
static bool rewire(dice *d, const graph *g, node *n) {
    int end = (int)(n - g->nodes), k = (int)random_below(d, node_arity(n));
    const facts *now = &g->nodes[n->args[k]].is;
    for (int start = (int)random_below(d, end), i = 0; i < end; i++) {
        const facts *other = &g->nodes[(start + i) % end].is;
        if ((start + i) % end != n->args[k] && other->dtype == now->dtype && other->weak == now->weak
            && other->rank == now->rank
            && memcmp(other->shape, now->shape, (size_t)now->rank * sizeof *now->shape) == 0) {
            n->args[k] = (start + i) % end;
            return true;
        }
    }
    return false;
}

static void change_node(dice *d, const graph *g, node *n) {
    const facts *x = node_arity(n) > 0 ? &g->nodes[n->args[0]].is : NULL;
    int op;
    switch (n->kind) {
    case NODE_SCALAR:
        if (random_below(d, 2) == 0) {
            n->literal = !n->literal;
        } else {
            pick_scalar(d, n, has_complex(g));
        }
        break;
    case NODE_ELEMENTWISE:
        if (random_below(d, 2) == 0 && rewire(d, g, n)) {
            break;
        }
        op = (int)random_below(d, op_count());
        n->op = op_arity(op) == op_arity(n->op) ? op : n->op;
        break;
    case NODE_CAST: n->to = (krf_dtype)random_below(d, has_complex(g) ? ALL_DTYPES : DTYPES); break;
    case NODE_REDUCE:
        if (random_below(d, 2) == 0) {
            n->op = (int)random_below(d, reduction_count());
        } else {
            pick_axes(d, n, x);
        }
        break;
    case NODE_CALL:
        if (random_below(d, 2) == 0 && rewire(d, g, n)) {
            break;
        }
        op = n->op;
        n->op = (int)random_below(d, user_ops_count);
        n->op = user_arity(n) == user_arity(&g->nodes[n - g->nodes]) ? n->op : op;
        break;
    case NODE_FOLD:
    case NODE_FOLD_SCAN: n->result = (int)random_below(d, user_results(n)); break;
    case NODE_SCAN: n->op = (int)random_below(d, scan_count()); break;
    case NODE_SLICE:
        if (n->n > 0) {
            krf_range *r = &n->ranges[random_below(d, n->n)];
            r->step = -r->step;
        }
        break;
    default: break;
    }
}

static void change_leaf(dice *d, graph *g) {
    int k = (int)random_below(d, g->n_leaves);
    leaf *x = &g->leaves[k];
    if (random_below(d, 3) == 0) {
        g->blocks[x->block].dtype = (krf_dtype)random_below(d, has_complex(g) ? ALL_DTYPES : DTYPES);
    } else if (x->block == k) {
        int64_t count;
        leaf_layout(d, x, &count);
        g->blocks[k].count = count > g->blocks[k].count ? count : g->blocks[k].count;
    }
}

/* Whether outputs can still be written to the leaves that they were given. */
static void check_outputs(graph *g) {
    for (int k = 0; k < g->n_outputs; k++) {
        output *o = &g->outputs[k];
        const facts *f = &g->nodes[o->node].is;
        const leaf *x = &g->leaves[o->leaf];
        if (o->how == GIVEN_LEAF
            && (g->blocks[x->block].dtype != f->dtype || x->rank != f->rank || leaf_overlaps_itself(x)
                || memcmp(x->shape, f->shape, (size_t)f->rank * sizeof *f->shape) != 0)) {
            o->how = GIVEN_NOTHING;
        }
    }
}

void mutate(dice *d, graph *g) {
    for (int tries = 0; tries < 8; tries++) {
        graph changed = *g;
        if (random_below(d, 2) == 0) {
            change_node(d, &changed, &changed.nodes[random_below(d, g->n_nodes)]);
        } else {
            change_leaf(d, &changed);
        }
        if (graph_infer(&changed, MOST)) {
            *g = changed;
            check_outputs(g);
            return;
        }
    }
}
