/* Facts about graphs that more than one part of the fuzzer needs. */
#include "fuzz/graph.h"

#include "fuzz/movement.h"
#include "fuzz/user.h"

int node_arity(const node *n) {
    if (node_moves(n)) {
        return moves_arity(n);
    }
    if (node_is_user(n)) {
        return user_arity(n);
    }
    return n->kind == NODE_LEAF || n->kind == NODE_SCALAR || n->kind == NODE_RANGE ? 0 : n->kind == NODE_ELEMENTWISE ? op_arity(n->op) : 1;
}

void graph_needed(const graph *g, bool *needed) {
    memset(needed, 0, (size_t)g->n_nodes * sizeof *needed);
    for (int k = 0; k < g->n_outputs; k++) {
        needed[g->outputs[k].node] = true;
    }
    for (int id = g->n_nodes - 1; id >= 0; id--) {
        for (int k = 0; needed[id] && k < node_arity(&g->nodes[id]); k++) {
            needed[g->nodes[id].args[k]] = true;
        }
    }
}

bool leaf_in_c_order(const leaf *x) {
    int64_t step = 1;
    for (int i = x->rank - 1; i >= 0; i--) {
        if (x->shape[i] != 1 && x->strides[i] != step) {
            return false;
        }
        step *= x->shape[i];
    }
    return true;
}

/* Counts how often each element of the block is named. */
bool leaf_overlaps_itself(const leaf *x) {
    int64_t low = x->offset, high = x->offset, size = 1;
    for (int i = 0; i < x->rank; i++) {
        int64_t reach = (x->shape[i] - 1) * x->strides[i];
        *(reach < 0 ? &low : &high) += reach;
        size *= x->shape[i];
    }
    if (size == 0) {
        return false;
    }
    unsigned char *seen = calloc((size_t)(high - low + 1), 1);
    bool twice = false;
    for (int64_t index = 0; index < size && !twice; index++) {
        int64_t at = x->offset - low, rest = index;
        for (int i = x->rank - 1; i >= 0; i--) {
            at += rest % x->shape[i] * x->strides[i];
            rest /= x->shape[i];
        }
        twice = seen[at]++ > 0;
    }
    free(seen);
    return twice;
}

bool fails(report *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
    return false;
}
