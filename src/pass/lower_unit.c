/* Axes of extent 1 that come or go over reduced values: the reductions themselves keep or drop them, so that nothing has to be stored for a view.
 * `var(x, axis=1)[:, None]` and `var(x, axis=1, keepdims=True)` become the same nodes. */
#include "pass/lower_unit.h"

#include <string.h>

/* The shape of a reduction over `mask` in its other form: with the reduced axes, or without them. */
static int other_shape(const krf__lowering *l, uint32_t reduction, int64_t *shape) {
    const krf__node *n = krf__node_of(l->out, reduction), *x = krf__node_of(l->out, n->args[0]);
    const int64_t *domain = krf__shape_of(l->out, n->args[0]), mask = krf__ints_of(l->out, reduction)[0];
    int rank = 0;
    for (int i = 0; i < x->rank; i++) {
        bool reduced = (mask >> i & 1) != 0;
        if (!reduced || !n->keepdims) {
            shape[rank++] = reduced ? 1 : domain[i];
        }
    }
    return rank;
}

typedef struct unit {
    krf__lowering *l;
    int rank;
    const int64_t *shape;                         /* wanted */
    int from_rank;
    int64_t from[KRF_MAX_RANK];                   /* what the values have now */
    uint32_t ids[KRF__MOST_REPEATED], made[KRF__MOST_REPEATED];
    int n, left;                                  /* operations that may still be repeated */
} unit;

static uint32_t value(unit *u, uint32_t id);

static uint32_t reduction(unit *u, uint32_t id) {
    int64_t shape[KRF_MAX_RANK], ints[KRF_MAX_RANK + 1];
    krf__node n = *krf__node_of(u->l->out, id);
    int rank = other_shape(u->l, id, shape);
    if (!krf__shape_equal(rank, shape, u->rank, u->shape)) {
        return 0;
    }
    memcpy(ints, krf__ints_of(u->l->out, id), n.n_ints * sizeof *ints);
    n.keepdims = !n.keepdims;
    n.rank = (uint8_t)rank;
    return krf__lower_add(u->l, &n, shape, ints);
}

/* Over numbers alone, none of which is reduced, it stays one: it broadcasts. */
static uint32_t operation(unit *u, uint32_t id) {
    krf__node n = *krf__node_of(u->l->out, id);
    bool number = u->from_rank == 0;
    if (u->left-- <= 0) {
        return 0;
    }
    for (int k = 0; k < krf__op_info_of(n.op)->arity; k++) {
        n.args[k] = value(u, n.args[k]);
        if (n.args[k] == 0) {
            return 0;
        }
        number &= krf__node_of(u->l->out, n.args[k])->rank == 0;
    }
    if (number) {
        return id;
    }
    n.rank = (uint8_t)u->rank;
    return krf__lower_add(u->l, &n, u->shape, NULL);
}

static uint32_t leaf(unit *u, uint32_t id) {
    krf__layout layout = krf__memory_layout(u->l->out, id);
    return krf__layout_reshape(&layout, u->rank, u->shape, &layout) ? krf__lower_view(u->l, id, &layout) : 0;
}

/* Node `id` in the wanted shape; 0 without an error where that is not to be had. */
static uint32_t value(unit *u, uint32_t id) {
    const krf__node *n = krf__node_of(u->l->out, id);
    const krf__op op = (krf__op)n->op;
    const krf__op_class class_ = krf__op_info_of(op)->class_;
    const bool operates = op == KRF__cast || (class_ == KRF__CLASS_ELEMENTWISE && op != KRF__gather);
    if (n->rank == 0 && (u->from_rank != 0 || !(operates || class_ == KRF__CLASS_REDUCE))) {
        return id;
    }
    for (int i = 0; i < u->n; i++) {
        if (u->ids[i] == id) {
            return u->made[i];
        }
    }
    if (!krf__shape_equal(n->rank, krf__shape_of(u->l->out, id), u->from_rank, u->from) || u->n == KRF__MOST_REPEATED) {
        return 0;
    }
    bool memory = op == KRF__input || op == KRF__placeholder || op == KRF__iota || op == KRF__view;
    uint32_t made = memory ? leaf(u, id) : class_ == KRF__CLASS_REDUCE ? reduction(u, id) : operates ? operation(u, id) : 0;
    if (made != 0 && u->n < KRF__MOST_REPEATED) {
        u->ids[u->n] = id;
        u->made[u->n++] = made;
    }
    return made;
}

uint32_t krf__lower_unit(krf__lowering *l, uint32_t node, uint32_t base) {
    const krf__node *n = krf__node_of(l->in, node), *b = krf__node_of(l->out, base);
    unit u = {.l = l, .rank = n->rank, .shape = krf__shape_of(l->in, node), .from_rank = b->rank, .left = l->repeated};
    if (n->op != KRF__reshape || l->repeated == 0 || !l->traits[base].reduces) {
        return 0;
    }
    memcpy(u.from, krf__shape_of(l->out, base), b->rank * sizeof *u.from);
    const uint32_t id = value(&u, base);
    return id != 0 && krf__node_of(l->out, id)->rank == u.rank ? id : 0; /* a number broadcasts as an operand; alone it is read from memory */
}
