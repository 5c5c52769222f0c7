/* Nodes of the lowered graph, with what is known of them. */
#include "pass/lowering.h"

#include "base/mem.h"
#include "ir/build_raw.h"

#include <string.h>

/* Whether a leaf's neighbours along the last axis lie apart, or at places that strides do not tell. */
static bool lies_apart(const krf_graph *g, const krf__node *n, uint32_t id) {
    const int64_t *strides = n->op == KRF__input ? g->arrays[n->value]->strides : n->op == KRF__view ? krf__ints_of(g, id) + 1 : NULL;
    return n->op == KRF__gather || (strides != NULL && n->rank > 0 && krf__shape_of(g, id)[n->rank - 1] != 1 && strides[n->rank - 1] >> 1 != 0);
}

static krf__trait trait_of(const krf__lowering *l, uint32_t id) {
    const krf__node *n = krf__node_of(l->out, id);
    krf__trait t = {.reduces = krf__op_folds((krf__op)n->op),
                    .apart = lies_apart(l->out, n, id),
                    .number = n->op == KRF__constant || n->op == KRF__scalar,
                    .places = n->op == KRF__iota || (n->op == KRF__view && krf__node_of(l->out, n->args[0])->op == KRF__iota)};
    bool places = krf__op_info_of(n->op)->class_ == KRF__CLASS_ELEMENTWISE && n->op != KRF__call;
    for (int k = 0; k < 3 && n->args[k] != 0; k++) {
        const krf__trait *arg = &l->traits[n->args[k]];
        t.reduces |= arg->reduces;
        t.windows |= arg->windows && !t.reduces;
        t.apart |= arg->apart && krf__op_info_of(n->op)->class_ == KRF__CLASS_ELEMENTWISE;
        places &= arg->places || arg->number;
        t.places |= places && arg->places;
    }
    t.places &= places || n->op == KRF__iota || n->op == KRF__view;
    return t;
}

/* Traits of the nodes that were added from `first` on. */
static bool note(krf__lowering *l, size_t first) {
    size_t known = l->traits_capacity;
    if (!krf__grow(&l->traits, &l->traits_capacity, l->out->n_nodes, sizeof *l->traits)) {
        krf__graph_fail(l->out, KRF_E_MEMORY, "out of host memory (lowering)");
        return false;
    }
    memset(l->traits + known, 0, (l->traits_capacity - known) * sizeof *l->traits);
    for (size_t id = first; id < l->out->n_nodes; id++) {
        l->traits[id] = trait_of(l, (uint32_t)id);
    }
    return true;
}

uint32_t krf__lower_add(krf__lowering *l, const krf__node *node, const int64_t *shape, const int64_t *ints) {
    size_t first = l->out->n_nodes;
    uint32_t id = krf__graph_add(l->out, node, shape, ints);
    return id != 0 && note(l, first) ? id : 0;
}

uint32_t krf__lower_build(krf__lowering *l, krf__op op, int n, const uint32_t *args) {
    size_t first = l->out->n_nodes;
    uint32_t id = krf__build(l->out, op, n, args);
    return id != 0 && note(l, first) ? id : 0;
}

uint32_t krf__lower_number(krf__lowering *l, int64_t value) {
    size_t first = l->out->n_nodes;
    uint32_t id = krf__build_int(l->out, value, false);
    id = id != 0 && krf__node_of(l->out, id)->op == KRF__constant ? krf__build_cast(l->out, id, KRF_I64) : id;
    return id != 0 && note(l, first) ? id : 0;
}

uint32_t krf__lower_input(krf__lowering *l, krf_array *array) {
    size_t first = l->out->n_nodes;
    uint32_t id = krf__build_input(l->out, array);
    return id != 0 && note(l, first) ? id : 0;
}

uint32_t krf__lower_raw_kernel(krf__lowering *l, krf__raw *raw) {
    size_t first = l->out->n_nodes;
    uint32_t id = krf__build_raw_kernel(l->out, raw);
    return id != 0 && note(l, first) ? id : 0;
}

uint32_t krf__lower_view(krf__lowering *l, uint32_t base, const krf__layout *layout) {
    const krf__node *b = krf__node_of(l->out, base);
    int64_t ints[KRF_MAX_RANK + 1] = {layout->offset};
    if (layout->rank > 0) {
        memcpy(ints + 1, layout->strides, (size_t)layout->rank * sizeof *ints);
    }
    krf__node node = {.op = KRF__view, .dtype = b->dtype, .rank = (uint8_t)layout->rank,
                      .args = {b->op == KRF__view ? b->args[0] : base}, .n_ints = (uint32_t)layout->rank + 1};
    return krf__lower_add(l, &node, layout->shape, ints);
}
