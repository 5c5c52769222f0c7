/* Pushes views to the leaves, so that elementwise chains see them as strides only. A view over computed values repeats a small computation under the
 * view; over a reduction or a large computation it reads the stored result. */
#include "base/fail.h"
#include "base/mem.h"
#include "ir/build.h"
#include "pass/pass.h"

#include <string.h>

/* The most that can be repeated under a view, whatever the limit says. */
#define MAX_REPEATED 64

typedef struct lowering {
    const krf_graph *in;
    krf_graph *out;
    uint32_t *map;     /* of in's nodes */
    bool *reduces;     /* of out's nodes: depends on a reduction */
    size_t reduces_capacity;
    int repeated;      /* a computation of more operations is stored rather than repeated under a view */
} lowering;

static bool is_leaf(krf__op op) {
    return op == KRF__constant || op == KRF__scalar || op == KRF__input || op == KRF__placeholder || op == KRF__iota ||
           op == KRF__view;
}

static bool apply(const krf_graph *in, uint32_t view, krf__layout *layout) {
    const krf__node *n = krf__node_of(in, view);
    const int64_t *shape = krf__shape_of(in, view), *ints = krf__ints_of(in, view);
    switch (n->op) {
    case KRF__transpose: *layout = krf__layout_transpose(layout, ints); return true;
    case KRF__slice: *layout = krf__layout_slice(layout, ints, shape); return true;
    case KRF__broadcast_to: *layout = krf__layout_broadcast(layout, n->rank, shape); return true;
    default: return krf__layout_reshape(layout, n->rank, shape, layout);
    }
}

static uint32_t add(lowering *l, const krf__node *node, const int64_t *shape, const int64_t *ints) {
    uint32_t id = krf__graph_add(l->out, node, shape, ints);
    if (id == 0) {
        return 0;
    }
    size_t known = l->reduces_capacity;
    if (!krf__grow(&l->reduces, &l->reduces_capacity, id + (size_t)1, sizeof *l->reduces)) {
        return krf__graph_fail(l->out, KRF_E_MEMORY, "out of host memory (lowering)");
    }
    memset(l->reduces + known, 0, (l->reduces_capacity - known) * sizeof *l->reduces); /* inputs do not come by here */
    l->reduces[id] = krf__op_info_of(node->op)->class_ == KRF__CLASS_REDUCE;
    for (int k = 0; k < 3; k++) {
        l->reduces[id] |= node->args[k] != 0 && l->reduces[node->args[k]];
    }
    return id;
}

static uint32_t add_view(lowering *l, uint32_t base, const krf__layout *layout) {
    const krf__node *b = krf__node_of(l->out, base);
    int64_t ints[KRF_MAX_RANK + 1] = {layout->offset};
    if (layout->rank > 0) {
        memcpy(ints + 1, layout->strides, (size_t)layout->rank * sizeof *ints);
    }
    krf__node node = {.op = KRF__view, .dtype = b->dtype, .rank = (uint8_t)layout->rank,
                      .args = {b->op == KRF__view ? b->args[0] : base}, .n_ints = (uint32_t)layout->rank + 1};
    return add(l, &node, layout->shape, ints);
}

/* The view over memory; where a reshape needs other strides than memory has, over a copy in C order. */
static uint32_t view_of_memory(lowering *l, uint32_t view, uint32_t base) {
    krf__layout layout = krf__memory_layout(l->out, base);
    if (apply(l->in, view, &layout)) {
        return add_view(l, base, &layout);
    }
    krf__node copy = {.op = KRF__cast, .dtype = krf__node_of(l->out, base)->dtype, .rank = krf__node_of(l->out, base)->rank,
                      .args = {base}};
    base = add(l, &copy, krf__shape_of(l->out, base), NULL);
    if (base == 0) {
        return 0;
    }
    layout = krf__memory_layout(l->out, base);
    apply(l->in, view, &layout);
    return add_view(l, base, &layout);
}

/* Collects the elementwise nodes under `root` in ascending order; false when there are more than may be repeated. */
static bool closure(const lowering *l, uint32_t root, uint32_t *ids, int *n) {
    int count = 0, done = 0;
    ids[count++] = root;
    while (done < count) {
        const krf__node *node = krf__node_of(l->out, ids[done++]);
        for (int k = 0; k < 3; k++) {
            uint32_t arg = node->args[k];
            bool known = arg == 0 || is_leaf(krf__node_of(l->out, arg)->op);
            for (int i = 0; i < count && !known; i++) {
                known = ids[i] == arg;
            }
            if (!known) {
                if (count == l->repeated) {
                    return false;
                }
                ids[count++] = arg;
            }
        }
    }
    for (int i = 1; i < count; i++) { /* ids are small in number: insertion sort */
        for (int j = i; j > 0 && ids[j] < ids[j - 1]; j--) {
            uint32_t swap = ids[j];
            ids[j] = ids[j - 1];
            ids[j - 1] = swap;
        }
    }
    *n = count;
    return true;
}

/* The operand of a repeated node, under the view: leaves get the layout, values of rank 0 stay. 0 when a reshape does not fit a leaf. */
static uint32_t leaf_under_view(lowering *l, uint32_t view, uint32_t root, uint32_t leaf) {
    if (krf__node_of(l->out, leaf)->rank == 0) {
        return leaf;
    }
    krf__layout layout = krf__memory_layout(l->out, leaf);
    layout = krf__layout_broadcast(&layout, krf__node_of(l->out, root)->rank, krf__shape_of(l->out, root));
    return apply(l->in, view, &layout) ? add_view(l, leaf, &layout) : 0;
}

static uint32_t repeat_under_view(lowering *l, uint32_t view, uint32_t root) {
    uint32_t ids[MAX_REPEATED], made[MAX_REPEATED];
    int n;
    if (!closure(l, root, ids, &n)) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        krf__node node = *krf__node_of(l->out, ids[i]);
        int rank = 0;
        int64_t shape[KRF_MAX_RANK];
        if (node.rank == 0) {
            made[i] = ids[i];
            continue;
        }
        for (int k = 0; k < krf__op_info_of(node.op)->arity; k++) {
            uint32_t arg = node.args[k], now = 0;
            for (int j = 0; j < i && now == 0; j++) {
                now = ids[j] == arg ? made[j] : 0;
            }
            if (now == 0) {
                now = leaf_under_view(l, view, root, arg);
            }
            if (now == 0) {
                return 0;
            }
            node.args[k] = now;
            krf__shape_broadcast(rank, shape, krf__node_of(l->out, now)->rank, krf__shape_of(l->out, now), &rank, shape);
        }
        node.rank = (uint8_t)rank;
        made[i] = add(l, &node, shape, NULL);
        if (made[i] == 0) {
            return 0;
        }
    }
    return made[n - 1];
}

static uint32_t lower_view(lowering *l, uint32_t view) {
    uint32_t base = l->map[krf__node_of(l->in, view)->args[0]];
    if (l->repeated > 0 && !is_leaf(krf__node_of(l->out, base)->op) && !l->reduces[base] && krf__node_of(l->out, base)->rank > 0) {
        uint32_t repeated = repeat_under_view(l, view, base);
        if (repeated != 0 || l->out->status != KRF_OK) {
            return repeated;
        }
    }
    return view_of_memory(l, view, base);
}

krf_status krf__lower(const krf_graph *in, uint32_t repeated, int n_outputs, uint32_t *outputs, krf_graph *out) {
    krf_status status = krf__canon(in, 0, NULL, out);
    lowering l = {.in = in, .out = out, .repeated = repeated < MAX_REPEATED ? (int)repeated : MAX_REPEATED};
    if (status != KRF_OK) {
        return status;
    }
    l.map = krf__calloc(in->n_nodes, sizeof *l.map);
    if (l.map == NULL || !krf__grow(&l.reduces, &l.reduces_capacity, in->n_nodes + out->n_nodes, sizeof *l.reduces)) {
        status = krf__fail_memory();
        goto done;
    }
    memset(l.reduces, 0, l.reduces_capacity * sizeof *l.reduces);
    for (uint32_t id = 1; id < in->n_nodes && status == KRF_OK; id++) {
        krf__node n = *krf__node_of(in, id);
        if (n.op == KRF__placeholder) {
            l.map[id] = out->placeholders[n.value].node;
        } else if (n.op == KRF__input) {
            l.map[id] = krf__build_input(out, in->arrays[n.value]);
        } else if (n.op >= KRF__transpose && n.op <= KRF__reshape) {
            l.map[id] = lower_view(&l, id);
        } else {
            for (int k = 0; k < 3; k++) {
                n.args[k] = l.map[n.args[k]];
            }
            l.map[id] = add(&l, &n, krf__shape_of(in, id), krf__ints_of(in, id));
        }
        status = l.map[id] == 0 ? out->status : KRF_OK;
    }
    for (int k = 0; k < n_outputs; k++) {
        outputs[k] = l.map[outputs[k]];
    }
done:
    krf__mem_free(l.map);
    krf__mem_free(l.reduces);
    if (status != KRF_OK) {
        krf__graph_free(out);
    }
    return status;
}
