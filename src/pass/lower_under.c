/* What a view or a take over a value becomes: the computation repeated over leaves that are changed, where it is small and no reduction, or made of
 * what was reduced to little, which then is such a leaf; else the stored value, changed. */
#include "pass/lower_under.h"

#include "pass/lower_known.h"
#include "pass/lower_take.h"
#include "pass/under.h"

enum { MOST_IN_OTHER_UNITS = 2 * KRF__MOST_REPEATED, MOST_OF_REDUCED = 8 };

static krf__layout at_places(const krf__layout *in, const krf__change *change) {
    krf__layout out = {.offset = in->offset};
    for (int i = 0; i < in->rank; i++) {
        bool one = (change->mask >> i & 1) != 0;
        out.offset += one ? in->strides[i] * change->at[i] : 0;
        if (!one || change->keepdims) {
            out.shape[out.rank] = one ? 1 : in->shape[i];
            out.strides[out.rank++] = one ? 0 : in->strides[i];
        }
    }
    return out;
}

static bool apply(const krf_graph *in, const krf__change *change, krf__layout *layout) {
    const krf__node *n = krf__node_of(in, change->node);
    const int64_t *shape = krf__shape_of(in, change->node), *ints = krf__ints_of(in, change->node);
    if (change->node == 0) {
        *layout = change->mask != 0 ? at_places(layout, change) : *layout;
        if (change->cut > 0) {
            layout->offset += change->first * layout->strides[change->cut - 1];
            layout->shape[change->cut - 1] = change->extent;
        }
        for (int i = 0; i < change->more; i++) {
            layout->shape[layout->rank] = 1;
            layout->strides[layout->rank++] = 0;
        }
        return true;
    }
    switch (n->op) {
    case KRF__transpose: *layout = krf__layout_transpose(layout, ints); return true;
    case KRF__slice: *layout = krf__layout_slice(layout, ints, shape); return true;
    case KRF__broadcast_to: *layout = krf__layout_broadcast(layout, n->rank, shape); return true;
    case KRF__diagonal: *layout = krf__layout_diagonal(layout, ints[0], ints[1], ints[2], shape); return true;
    case KRF__sliding_window_view: *layout = krf__layout_windows(layout, (int)n->n_ints, ints, shape); return true;
    default: return krf__layout_reshape(layout, n->rank, shape, layout);
    }
}

/* A leaf, or what is stored, under a change; 0 without an error where a reshape needs other strides than its memory has. */
static uint32_t memory_under(krf__lowering *l, krf__change *change, uint32_t leaf, krf__layout *layout) {
    if (krf__lower_takes(l, change)) {
        return krf__lower_taken(l, change, leaf, layout);
    }
    return apply(l->in, change, layout) ? krf__lower_view(l, leaf, layout) : 0;
}

/* From memory; where a reshape does not fit it, from a copy in C order. */
static uint32_t stored_under(krf__lowering *l, krf__change *change, uint32_t base) {
    krf__layout layout = krf__memory_layout(l->out, base);
    uint32_t id = memory_under(l, change, base, &layout);
    if (id != 0 || l->out->status != KRF_OK) {
        return id;
    }
    krf__node copy = {.op = KRF__cast, .dtype = krf__node_of(l->out, base)->dtype, .rank = krf__node_of(l->out, base)->rank,
                      .args = {base}};
    base = krf__lower_add(l, &copy, krf__shape_of(l->out, base), NULL);
    if (base == 0) {
        return 0;
    }
    layout = krf__memory_layout(l->out, base);
    return memory_under(l, change, base, &layout);
}

/* Whether a reshape does no more than add or drop axes of extent 1: nothing is computed twice then, however much it is. */
static bool changes_units(const krf__lowering *l, const krf__change *change) {
    const krf__node *n = krf__node_of(l->in, change->node), *x = krf__node_of(l->in, n->args[0]);
    const int64_t *to = krf__shape_of(l->in, change->node), *from = krf__shape_of(l->in, n->args[0]);
    int i = 0, j = 0;
    bool same = n->op == KRF__reshape;
    while (same && (i < n->rank || j < x->rank)) {
        if (i < n->rank && to[i] == 1) {
            i++;
        } else if (j < x->rank && from[j] == 1) {
            j++;
        } else {
            same = i < n->rank && j < x->rank && to[i] == from[j];
            i++;
            j++;
        }
    }
    return same;
}

/* How many operations may be repeated: fewer where each element is used several times. */
static int most_repeated(const krf__lowering *l, const krf__change *change) {
    const krf__node *n = krf__node_of(l->in, change->node), *x = krf__node_of(l->in, n->args[0]);
    int64_t size = krf__shape_size(n->rank, krf__shape_of(l->in, change->node)); /* node 0 is of rank 0 */
    int64_t from = krf__shape_size(x->rank, krf__shape_of(l->in, n->args[0]));
    bool several = change->node != 0 && (krf__lower_takes(l, change) || n->op == KRF__sliding_window_view) && from > 0 && size > from;
    int64_t most = several ? l->repeated / ((size - 1) / from + 1) : l->repeated;
    if (change->node != 0 && most == KRF__MOST_REPEATED && changes_units(l, change)) {
        return MOST_IN_OTHER_UNITS;
    }
    return most < KRF__MOST_REPEATED ? (int)most : KRF__MOST_REPEATED;
}

/* In ascending order: operands before what is made of them. They are small in number. */
static void sort(uint32_t *ids, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        for (uint32_t j = i; j > 0 && ids[j] < ids[j - 1]; j--) {
            const uint32_t swap = ids[j];
            ids[j] = ids[j - 1];
            ids[j - 1] = swap;
        }
    }
}

/* The operand of a repeated node, under the change: values of rank 0 stay. 0 when a reshape does not fit a leaf. */
static uint32_t leaf_under(krf__lowering *l, krf__change *change, uint32_t root, uint32_t leaf) {
    if (krf__node_of(l->out, leaf)->rank == 0) {
        return leaf;
    }
    krf__layout layout = krf__memory_layout(l->out, leaf);
    layout = krf__layout_broadcast(&layout, krf__node_of(l->out, root)->rank, krf__shape_of(l->out, root));
    return memory_under(l, change, leaf, &layout);
}

/* A node over operands that have been changed. The view of a gather may have become a gather. */
static uint32_t repeat_node(krf__lowering *l, krf__node node) {
    int rank = 0;
    int64_t shape[KRF_MAX_RANK];
    if (node.op == KRF__gather) {
        const krf__node *v = krf__node_of(l->out, node.args[0]);
        uint32_t view = v->op == KRF__gather ? v->args[0] : node.args[0];
        uint32_t further = v->op == KRF__gather ? krf__lower_build(l, KRF__add, 2, (uint32_t[]){v->args[1], node.args[1]}) : node.args[1];
        return further != 0 ? krf__lower_gather(l, view, further) : 0;
    }
    for (int k = 0; k < krf__op_info_of(node.op)->arity; k++) {
        uint32_t arg = node.args[k];
        krf__shape_broadcast(rank, shape, krf__node_of(l->out, arg)->rank, krf__shape_of(l->out, arg), &rank, shape);
    }
    node.rank = (uint8_t)rank;
    const uint32_t known = krf__lower_known(l, &node);
    return known != 0 ? known : krf__lower_add(l, &node, shape, NULL);
}

/* What the elements of a value are compared with. */
typedef struct whole {
    const krf__lowering *l;
    int64_t size;
} whole;

static int64_t size_of(const krf_graph *g, uint32_t id) { return krf__shape_size(krf__node_of(g, id)->rank, krf__shape_of(g, id)); }

/* Whether it is made of reductions, and is little beside the value: it is stored then, and what it is used for repeated. */
static bool is_reduced(const void *of, uint32_t id) {
    enum { LITTLE = 8 };
    const whole *w = of;
    return w->l->traits[id].reduces && size_of(w->l->out, id) <= w->size / LITTLE;
}

/* Whether a value of what was reduced is had again by little arithmetic, and by reading little more than its own bytes. */
static bool is_had_again(const krf__lowering *l, uint32_t root, const krf__under *under) {
    const krf__node *n = krf__node_of(l->out, root);
    const int64_t bytes = size_of(l->out, root) * (int64_t)krf_dtype_size((krf_dtype)n->dtype);
    int64_t read = 0;
    bool again = under->n_computed > 0 && under->n_computed <= MOST_OF_REDUCED; /* of no elements what was reduced is all */
    for (uint32_t i = 0; i < under->n_computed && again; i++) {
        const krf__node *c = krf__node_of(l->out, under->computed[i]);
        again = krf__op_info_of((krf__op)c->op)->class_ == KRF__CLASS_ELEMENTWISE && c->op != KRF__call && !krf__op_is_costly((krf__op)c->op, krf__dtype((krf_dtype)c->dtype)->kind);
    }
    for (uint32_t i = 0; i < under->n_leaves; i++) {
        read += size_of(l->out, under->leaves[i]) * (int64_t)krf_dtype_size((krf_dtype)krf__node_of(l->out, under->leaves[i])->dtype);
    }
    return again && read <= bytes + bytes / 4;
}

/* What is computed under a root, where that may be repeated. */
static bool find_repeated(const krf__lowering *l, const krf__change *change, uint32_t root, krf__under *under) {
    const whole all = {l, size_of(l->out, root)};
    const uint32_t most = (uint32_t)most_repeated(l, change);
    return l->traits[root].reduces ? krf__find_above(l->out, 1, &root, most, is_reduced, &all, under) && is_had_again(l, root, under) : krf__find_under(l->out, 1, &root, most, under);
}

static uint32_t repeat_under(krf__lowering *l, krf__change *change, uint32_t root) {
    uint32_t made[MOST_IN_OTHER_UNITS];
    krf__under under;
    if (!find_repeated(l, change, root, &under)) {
        return 0;
    }
    const uint32_t *ids = under.computed, n = under.n_computed;
    sort(under.computed, n);
    for (uint32_t i = 0; i < n; i++) {
        krf__node node = *krf__node_of(l->out, ids[i]);
        if (node.rank == 0) {
            made[i] = ids[i];
            continue;
        }
        for (int k = 0; k < krf__op_info_of(node.op)->arity; k++) {
            uint32_t arg = node.args[k], now = 0;
            for (uint32_t j = 0; j < i && now == 0; j++) {
                now = ids[j] == arg ? made[j] : 0;
            }
            if (now == 0) {
                now = leaf_under(l, change, root, arg);
            }
            if (now == 0) {
                return 0;
            }
            node.args[k] = now;
        }
        made[i] = repeat_node(l, node);
        if (made[i] == 0) {
            return 0;
        }
    }
    return made[n - 1];
}

uint32_t krf__lower_under(krf__lowering *l, krf__change *change, uint32_t base) {
    if (l->repeated > 0 && !krf__lies_there(l->out, base) && krf__node_of(l->out, base)->rank > 0) {
        uint32_t repeated = repeat_under(l, change, base);
        if (repeated != 0 || l->out->status != KRF_OK) {
            return repeated;
        }
    }
    return stored_under(l, change, base);
}

bool krf__lower_small(const krf__lowering *l, uint32_t base, int most) {
    krf__under under;
    most = most < KRF__MOST_REPEATED ? most : KRF__MOST_REPEATED;
    return krf__lies_there(l->out, base) || (!l->traits[base].reduces && krf__find_under(l->out, 1, &base, (uint32_t)(most > 0 ? most : 0), &under));
}

uint32_t krf__lower_widened(krf__lowering *l, uint32_t base, int more) {
    krf__change change = {.more = more};
    return more == 0 || krf__node_of(l->out, base)->rank == 0 ? base : krf__lower_under(l, &change, base);
}
