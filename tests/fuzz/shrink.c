/* Greedy: every step that leaves a graph that is valid and fails is kept, until none is left. Steps that take most away
 * come first. */
#include "fuzz/shrink.h"

enum { MOST = 1 << 20 };

typedef struct shrinking {
    graph *g;
    bool (*fails_still)(void *user, const graph *g);
    void *user;
} shrinking;

/* Removes nodes that no output needs. Leaves and blocks keep their numbers: values follow from them. */
static void remove_dead(graph *g) {
    bool needed[MOST_NODES];
    int map[MOST_NODES], n = 0;
    graph_needed(g, needed);
    for (int id = 0; id < g->n_nodes; id++) {
        map[id] = n;
        if (needed[id]) {
            g->nodes[n] = g->nodes[id];
            for (int k = 0; k < node_arity(&g->nodes[n]); k++) {
                g->nodes[n].args[k] = map[g->nodes[n].args[k]];
            }
            n++;
        }
    }
    for (int k = 0; k < g->n_outputs; k++) {
        g->outputs[k].node = map[g->outputs[k].node];
    }
    g->n_nodes = n;
}

static void check_given(graph *g) {
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

static bool keep(shrinking *s, graph *candidate) {
    if (candidate->n_outputs == 0 || !graph_infer(candidate, MOST)) {
        return false;
    }
    remove_dead(candidate);
    check_given(candidate);
    if (memcmp(candidate, s->g, sizeof *candidate) == 0 || !s->fails_still(s->user, candidate)) {
        return false;
    }
    *s->g = *candidate;
    return true;
}

/* ---- steps: each makes a candidate; false when there is nothing to do ---- */

static bool drop_output(graph *g, int k) {
    memmove(&g->outputs[k], &g->outputs[k + 1], (size_t)(g->n_outputs - k - 1) * sizeof *g->outputs);
    g->n_outputs--;
    return g->n_outputs > 0;
}

/* Whoever used node id uses another one. */
static void redirect(graph *g, int id, int to) {
    for (int user = id + 1; user < g->n_nodes; user++) {
        for (int k = 0; k < node_arity(&g->nodes[user]); k++) {
            g->nodes[user].args[k] = g->nodes[user].args[k] == id ? to : g->nodes[user].args[k];
        }
    }
    for (int k = 0; k < g->n_outputs; k++) {
        g->outputs[k].node = g->outputs[k].node == id ? to : g->outputs[k].node;
    }
}

static bool to_leaf(graph *g, int id) {
    node *n = &g->nodes[id];
    int k = g->n_leaves;
    if (node_arity(n) == 0 || n->is.weak || k == MOST_LEAVES) {
        return false;
    }
    leaf *x = &g->leaves[k];
    int64_t step = 1;
    *x = (leaf){.block = k, .rank = n->is.rank};
    for (int i = x->rank - 1; i >= 0; i--) {
        x->shape[i] = n->is.shape[i];
        x->strides[i] = step;
        step *= x->shape[i];
    }
    g->blocks[k] = (block){.dtype = n->is.dtype, .count = step > 0 ? step : 1, .fill = FILL_EVERYDAY};
    g->n_leaves++;
    *n = (node){.kind = NODE_LEAF, .args = {k}};
    return true;
}

static bool to_literal(graph *g, int id) {
    node *n = &g->nodes[id];
    krf_dtype dtype = n->is.dtype;
    bool weak = n->is.weak;
    if (n->kind == NODE_SCALAR && n->literal && n->scalar.i <= 1 && (n->scalar.f == 1 || n->scalar.f == 0)) {
        return false;
    }
    *n = (node){.kind = NODE_SCALAR, .literal = true, .strong = !weak, .scalar = {.dtype = dtype, .i = 1, .f = 1}};
    return true;
}

static void change_extents(graph *g, int64_t from, int64_t to) {
    for (int k = 0; k < g->n_leaves; k++) {
        for (int i = 0; i < g->leaves[k].rank; i++) {
            g->leaves[k].shape[i] = g->leaves[k].shape[i] == from ? to : g->leaves[k].shape[i];
        }
    }
    for (int id = 0; id < g->n_nodes; id++) {
        node *n = &g->nodes[id];
        for (int i = 0; (n->kind == NODE_RESHAPE || n->kind == NODE_STRETCH) && i < n->n; i++) {
            n->extents[i] = n->extents[i] == from ? to : n->extents[i];
        }
        n->extents[0] = n->kind == NODE_RANGE && n->extents[0] == from ? to : n->extents[0];
    }
}

/* C order, at the start of a block of its own. */
static bool plain_leaf(graph *g, int k) {
    leaf *x = &g->leaves[k];
    int64_t step = 1;
    if (x->block != k) {
        g->blocks[k] = g->blocks[x->block];
        x->block = k;
    }
    for (int i = x->rank - 1; i >= 0; i--) {
        x->strides[i] = step;
        step *= x->shape[i];
    }
    x->offset = 0;
    for (int other = 0; other < g->n_leaves; other++) {
        if (other != k && g->leaves[other].block == k) {
            return false;
        }
    }
    g->blocks[k].count = step > 0 ? step : 1;
    return true;
}

/* ---- all steps of a kind ---- */

static bool shrink_outputs(shrinking *s) {
    bool any = false;
    for (int k = s->g->n_outputs - 1; k >= 0 && s->g->n_outputs > 1; k--) {
        graph c = *s->g;
        any |= k < c.n_outputs && drop_output(&c, k) && keep(s, &c);
    }
    for (int k = 0; k < s->g->n_outputs; k++) {
        graph c = *s->g;
        c.outputs[k].how = GIVEN_NOTHING;
        any |= keep(s, &c);
    }
    return any;
}

static bool shrink_nodes(shrinking *s) {
    bool any = false;
    for (int id = s->g->n_nodes - 1; id >= 0; id--) {
        for (int k = 0; id < s->g->n_nodes && k < node_arity(&s->g->nodes[id]); k++) {
            graph c = *s->g;
            redirect(&c, id, c.nodes[id].args[k]);
            any |= keep(s, &c);
        }
        graph c = *s->g;
        any |= id < c.n_nodes && to_leaf(&c, id) && keep(s, &c);
        c = *s->g;
        any |= id < c.n_nodes && to_literal(&c, id) && keep(s, &c);
    }
    return any;
}

/* What a view or a reduction says besides its operand. */
static bool shrink_details(shrinking *s) {
    bool any = false;
    for (int id = 0; id < s->g->n_nodes; id++) {
        for (int i = 0; id < s->g->n_nodes && i < s->g->nodes[id].n; i++) {
            graph c = *s->g;
            node *n = &c.nodes[id];
            if (n->kind == NODE_SLICE) {
                n->ranges[i] = (krf_range){KRF_NONE, KRF_NONE, 1};
                any |= keep(s, &c);
            } else if (n->kind == NODE_REDUCE || n->kind == NODE_FOLD) {
                memmove(&n->axes[i], &n->axes[i + 1], (size_t)(n->n - i - 1) * sizeof *n->axes);
                n->n--;
                any |= keep(s, &c);
            }
        }
    }
    return any;
}

static bool shrink_extents(shrinking *s) {
    bool any = false;
    for (int k = 0; k < s->g->n_leaves; k++) {
        for (int i = 0; i < s->g->leaves[k].rank; i++) {
            int64_t now = s->g->leaves[k].shape[i];
            const int64_t tries[] = {1, 2, now / 4, now / 2, now * 3 / 4, now - 1};
            for (int t = 0; t < 6 && s->g->leaves[k].shape[i] == now; t++) {
                graph c = *s->g;
                if (tries[t] > 0 && tries[t] < now) {
                    change_extents(&c, now, tries[t]);
                    any |= keep(s, &c);
                }
            }
        }
    }
    return any;
}

static bool shrink_leaves(shrinking *s) {
    bool any = false;
    for (int k = 0; k < s->g->n_leaves; k++) {
        graph c = *s->g;
        any |= plain_leaf(&c, k) && keep(s, &c);
        for (int fill = 0; fill < (int)s->g->blocks[k].fill; fill++) {
            c = *s->g;
            c.blocks[k].fill = (filling)fill;
            any |= keep(s, &c);
        }
    }
    return any;
}

void shrink(graph *g, bool (*fails_still)(void *user, const graph *g), void *user) {
    shrinking s = {g, fails_still, user};
    bool any = true;
    for (int rounds = 0; any && rounds < 20; rounds++) {
        any = shrink_outputs(&s);
        any |= shrink_nodes(&s);
        any |= shrink_extents(&s);
        any |= shrink_details(&s);
        any |= shrink_leaves(&s);
    }
}
