/* A result in which arrays are joined, as rotary embeddings and sines beside cosines are: each element would be chosen among all. Instead its parts are values of one shape, of which a thread
 * computes and stores one each: what they share is computed once, and what each reads lies in memory as vectors do. */
#include "pass/lower_joined.h"

#include "base/mem.h"
#include "pass/lower_records.h"
#include "pass/lower_under.h"
#include "pass/under.h"

#include <string.h>

#define MOST_PARTS 4
#define MOST_FIELDS 8
#define LEAST_TOGETHER 16 /* elements of a part that lie side by side in memory */
#define LONG_COPIES 512   /* rows of 17 f32 beside 17 others 4.5 -> 1.3 ms of 16 MB, of 100 1.39 -> 0.85 (a CPU of two threads); of 1,001, on a busy machine, 1.1 -> 1.6 */

/* How a result is parted: every `unit` places of an axis. axis: -1: not at all. */
typedef struct parting {
    int axis;
    int64_t unit;
    uint32_t computed; /* operations on values */
} parting;

/* The axis of the root along which a condition says yes up to a place, *at, and no from there on; -1: it does not. */
static int parted_axis(const krf_graph *g, const krf__node *root, uint32_t condition, int64_t *at) {
    const krf__node *n = krf__node_of(g, condition);
    if (n->op != KRF__less || krf__dtype_of(g, n->args[0]) != KRF_I64) {
        return -1;
    }
    const krf__node *range = krf__node_of(g, n->args[0]), *end = krf__node_of(g, n->args[1]);
    if ((end->op != KRF__constant && end->op != KRF__scalar) || krf__node_of(g, range->op == KRF__view ? range->args[0] : n->args[0])->op != KRF__iota) {
        return -1;
    }
    const krf__layout layout = krf__memory_layout(g, n->args[0]);
    int axis = -1, n_axes = 0;
    if (__builtin_sub_overflow(krf__bits_to_i64((krf_dtype)end->dtype, end->value), layout.offset, at)) {
        return -1;
    }
    for (int i = 0; i < layout.rank; i++) {
        if (layout.shape[i] > 1 && layout.strides[i] != 0) {
            axis = i + root->rank - layout.rank;
            n_axes += layout.strides[i] == 1 ? 1 : 2;
        }
    }
    return n_axes == 1 ? axis : -1;
}

static void note_choice(const krf__lowering *l, uint32_t root, uint32_t condition, parting *p) {
    int64_t at;
    const int axis = parted_axis(l->out, krf__node_of(l->out, root), condition, &at);
    const int64_t extent = axis >= 0 ? krf__shape_of(l->out, root)[axis] : 0;
    if (axis >= 0 && at > 0 && at < extent && (p->axis < 0 || p->axis == axis)) {
        p->unit = krf__common_divisor(p->axis < 0 ? extent : p->unit, at);
        p->axis = axis;
    }
}

/* Goes over the elementwise nodes under some roots; false: there are too many. */
static bool walk(const krf__lowering *l, const uint32_t *roots, uint32_t n_roots, uint32_t *n_nodes, parting *p) {
    krf__under under;
    *p = (parting){.axis = -1};
    if (!krf__find_under(l->out, n_roots, roots, n_roots * KRF__MOST_REPEATED, &under)) {
        return false;
    }
    for (uint32_t i = 0; i < under.n_computed; i++) {
        const krf__node *node = krf__node_of(l->out, under.computed[i]);
        if (node->op == KRF__where && l->traits[node->args[0]].places) {
            note_choice(l, roots[0], node->args[0], p);
        } else {
            p->computed += !l->traits[under.computed[i]].places && node->op != KRF__cast && node->op != KRF__gather;
        }
    }
    *n_nodes = under.n_computed;
    return true;
}

/* Whether another output is made of it, or is it, or memory ran out. What only outputs read that have become parts by now is read by nothing. */
static bool is_used(krf__lowering *l, int k, int n_outputs, const uint32_t *outputs) {
    bool *live = krf__calloc(l->out->n_nodes, sizeof *live);
    if (live == NULL) {
        krf__graph_fail(l->out, KRF_E_MEMORY, "out of host memory (lowering)");
        return true;
    }
    for (int i = 0; i < n_outputs; i++) {
        live[outputs[i]] |= i != k;
    }
    for (uint32_t id = (uint32_t)l->out->n_nodes - 1; id > outputs[k]; id--) {
        for (int i = 0; i < 3 && live[id]; i++) {
            live[krf__node_of(l->out, id)->args[i]] = true;
        }
    }
    const bool used = live[outputs[k]];
    krf__mem_free(live);
    return used;
}

/* Elements of a part that lie side by side in memory, or more than so many. */
static int64_t together(const krf__node *n, const int64_t *shape, const parting *p, int64_t most) {
    int64_t elements = p->unit;
    for (int i = p->axis + 1; i < n->rank && elements <= most; i++) {
        elements *= shape[i];
    }
    return elements;
}

/* Of what is only copied, on the CPU: whether each element is chosen among all as fast, going on from part to part: long ones, and of eight bytes. */
static bool copies_as_fast(const krf__lowering *l, const krf__node *n, const int64_t *shape, const parting *p) {
    return p->computed == 0 && !l->many_threads && (krf_dtype_size((krf_dtype)n->dtype) >= 8 || together(n, shape, p, LONG_COPIES) > LONG_COPIES);
}

/* Of how many parts a result is: 0, of none. */
static int parts_to_make(const krf__lowering *l, uint32_t root, parting *p) {
    const krf__node *n = krf__node_of(l->out, root);
    const int64_t *shape = krf__shape_of(l->out, root), n_parts = p->axis >= 0 ? shape[p->axis] / p->unit : 0;
    if (n_parts >= 2 && n_parts <= MOST_PARTS && together(n, shape, p, LEAST_TOGETHER) >= LEAST_TOGETHER && !copies_as_fast(l, n, shape, p)) {
        return (int)n_parts;
    }
    const bool choices = n_parts > 0 && p->unit == 1;
    *p = (parting){.axis = krf__lower_fields(l, root, choices ? p->axis : -1), .unit = 1};
    return p->axis >= 0 ? (int)shape[p->axis] : 0;
}

/* The parts of the root, in order; false: they are no values of that shape, or memory ran out. */
static bool make_parts(krf__lowering *l, uint32_t root, const parting *p, int n, uint32_t *parts) {
    const krf__node r = *krf__node_of(l->out, root);
    int64_t shape[KRF_MAX_RANK];
    memcpy(shape, krf__shape_of(l->out, root), r.rank * sizeof *shape);
    shape[p->axis] = p->unit;
    for (int i = 0; i < n; i++) {
        krf__change change = {.cut = p->axis + 1, .first = i * p->unit, .extent = p->unit};
        parts[i] = krf__lower_under(l, &change, root);
        const krf__node *part = krf__node_of(l->out, parts[i]);
        if (parts[i] == 0 || part->dtype != r.dtype || !krf__shape_equal(r.rank, shape, part->rank, krf__shape_of(l->out, parts[i]))) {
            return false;
        }
    }
    return true;
}

static uint32_t join(krf__lowering *l, uint32_t root, int axis, int n, const uint32_t *parts) {
    uint32_t rest = parts[n - 1];
    for (int i = n - 2; i >= 0 && rest != 0; i--) {
        const krf__node *r = krf__node_of(l->out, rest);
        krf__node node = {.op = KRF__joined, .dtype = r->dtype, .rank = r->rank, .args = {parts[i], rest}, .n_ints = 1};
        int64_t shape[KRF_MAX_RANK];
        memcpy(shape, krf__shape_of(l->out, root), r->rank * sizeof *shape);
        shape[axis] = krf__shape_of(l->out, parts[i])[axis] + krf__shape_of(l->out, rest)[axis];
        rest = krf__lower_add(l, &node, shape, (int64_t[]){axis});
    }
    return rest;
}

uint32_t krf__lower_joined(krf__lowering *l, int k, int n_outputs, const uint32_t *outputs) {
    const uint32_t root = outputs[k];
    const krf__node *n = krf__node_of(l->out, root);
    const bool computed = krf__op_info_of((krf__op)n->op)->class_ == KRF__CLASS_ELEMENTWISE || n->op == KRF__cast || (n->op == (l->many_threads ? KRF__view : KRF__gather));
    uint32_t parts[MOST_FIELDS], before, after;
    parting p, left;
    if (l->repeated == 0 || !computed || n->rank == 0 || krf__shape_size(n->rank, krf__shape_of(l->out, root)) == 0 || l->traits[root].reduces || krf__is_complex((krf_dtype)n->dtype) || !krf__lower_small(l, root, l->repeated) || !walk(l, &root, 1, &before, &p)) {
        return root;
    }
    const int n_parts = parts_to_make(l, root, &p);
    if (n_parts == 0 || is_used(l, k, n_outputs, outputs)) {
        return l->out->status == KRF_OK ? root : 0;
    }
    const bool made = make_parts(l, root, &p, n_parts, parts);
    if (!made || !walk(l, parts, (uint32_t)n_parts, &after, &left) || after > (uint32_t)n_parts * before) {
        return l->out->status == KRF_OK ? root : 0;
    }
    return join(l, root, p.axis, n_parts, parts);
}
