/* Gradients and tangents through reductions and scans.
 *
 * Products are differentiated without dividing by elements, so that zeros do no harm: prod by the products before and after each element, cumprod by
 * products that leave out the first zero. */
#include "ir/adjoint.h"

#include "ir/build_composed.h"
#include "ir/build_movement.h"
#include "ir/derive.h"

#include <string.h>

static uint32_t call2(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }
static uint32_t where(krf_graph *g, uint32_t x, uint32_t y, uint32_t z) { return krf__build(g, KRF__where, 3, (uint32_t[]){x, y, z}); }
static uint32_t number(krf_graph *g, int64_t value) { return krf__build_int(g, value, true); }
static int rank_of(const krf_graph *g, uint32_t x) { return krf__node_of(g, x)->rank; }
static int64_t extent_of(const krf_graph *g, uint32_t x, int axis) { return krf__shape_of(g, x)[axis]; }

/* ---- reductions ---- */

typedef struct reduced {
    uint32_t x, y;
    krf__op op;
    int64_t mask, count; /* of elements that make one result */
    int n, axes[KRF_MAX_RANK];
    int rank;            /* with the reduced axes kept */
    int64_t kept[KRF_MAX_RANK];
    bool keepdims;
} reduced;

static reduced reduced_of(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    reduced r = {.x = n->args[0], .y = id, .op = (krf__op)n->op, .mask = krf__ints_of(g, id)[0], .count = 1, .keepdims = n->keepdims};
    r.rank = rank_of(g, r.x);
    for (int i = 0; i < r.rank; i++) {
        const bool gone = (r.mask >> i & 1) != 0;
        r.kept[i] = gone ? 1 : extent_of(g, r.x, i);
        r.count *= gone ? extent_of(g, r.x, i) : 1;
        if (gone) {
            r.axes[r.n++] = i;
        }
    }
    return r;
}

/* A value of the result's shape beside the operand. */
static uint32_t beside(krf_graph *g, const reduced *r, uint32_t value) { return krf__build_reshape(g, value, r->rank, r->kept); }

/* What a broadcast made of one number, without it. */
static uint32_t narrowest(const krf_graph *g, uint32_t x) {
    const krf__node *n = krf__node_of(g, x);
    return n->op == KRF__broadcast_to && rank_of(g, n->args[0]) == 0 ? n->args[0] : x;
}

/* How many elements are the largest (smallest), and which: they share the gradient. */
static uint32_t extreme(krf_graph *g, const reduced *r, uint32_t *count) {
    uint32_t equal = call2(g, KRF__equal, r->x, beside(g, r, r->y));
    *count = krf__build_cast(g, krf__build_reduce(g, KRF__sum, equal, r->n, r->axes, true), krf__dtype_of(g, r->x));
    return equal;
}

/* The reduced axes as one, the last. back: order, and shape before they were put together. */
typedef struct merged {
    int rank;
    int64_t shape[KRF_MAX_RANK];
    int order[KRF_MAX_RANK], back[KRF_MAX_RANK];
} merged;

static uint32_t merge(krf_graph *g, const reduced *r, merged *m) {
    int64_t shape[KRF_MAX_RANK];
    int at = 0;
    for (int gone = 0; gone < 2; gone++) {
        for (int i = 0; i < r->rank; i++) {
            if ((r->mask >> i & 1) == gone) {
                m->back[i] = at;
                m->shape[at] = extent_of(g, r->x, i);
                m->order[at++] = i;
            }
        }
    }
    m->rank = r->rank - r->n + 1;
    memcpy(shape, m->shape, sizeof shape);
    shape[m->rank - 1] = r->count;
    return krf__build_reshape(g, krf__build_transpose(g, r->x, m->order), m->rank, shape);
}

/* The products of the elements before (after) each one along an axis. */
static uint32_t products_beside(krf_graph *g, uint32_t x, int axis, bool after) {
    int64_t widths[2 * KRF_MAX_RANK] = {0};
    const int64_t n = x != 0 ? extent_of(g, x, axis) : 0;
    x = after ? krf__build_flip(g, x, axis) : x;
    x = krf__build_scan(g, KRF__cumprod, krf__build_part(g, x, axis, 0, n - 1), axis);
    x = after ? krf__build_flip(g, x, axis) : x;
    widths[2 * axis + after] = 1;
    return krf__build_pad(g, x, widths, KRF_PAD_CONSTANT, number(g, 1));
}

/* The derivative of a product by each of its elements: the product of the others. */
static uint32_t others(krf_graph *g, const reduced *r) {
    merged m;
    if (krf__is_complex(krf__dtype_of(g, r->x))) { /* there are no scans of complex products */
        return call2(g, KRF__divide, beside(g, r, r->y), r->x);
    }
    if (r->count == 1) {
        return krf__build_cast(g, number(g, 1), krf__dtype_of(g, r->x));
    }
    uint32_t x = merge(g, r, &m);
    x = call2(g, KRF__multiply, products_beside(g, x, m.rank - 1, false), products_beside(g, x, m.rank - 1, true));
    return krf__build_transpose(g, krf__build_reshape(g, x, r->rank, m.shape), m.back);
}

uint32_t krf__adjoint_reduce(krf_graph *g, uint32_t id, uint32_t G) {
    const reduced r = reduced_of(g, id);
    uint32_t count;
    const uint32_t one = narrowest(g, G);
    G = (r.op == KRF__sum || r.op == KRF__mean) && rank_of(g, one) == 0 ? one : beside(g, &r, G);
    if (G == 0) {
        return 0;
    }
    if (r.count == 0) { /* of shape 1 where there are no elements */
        return krf__zeros(g, krf__dtype_of(g, r.x), r.rank, krf__shape_of(g, r.x));
    }
    switch (r.op) {
    case KRF__sum: return G;
    case KRF__mean: return call2(g, KRF__divide, G, krf__build_real(g, (double)r.count, false));
    case KRF__prod: return krf__derive_multiply(g, G, others(g, &r));
    case KRF__max:
    case KRF__min: {
        uint32_t equal = extreme(g, &r, &count);
        return where(g, equal, call2(g, KRF__divide, G, count), number(g, 0));
    }
    default: return 0;
    }
}

uint32_t krf__tangent_reduce(krf_graph *g, uint32_t id, uint32_t T) {
    const reduced r = reduced_of(g, id);
    uint32_t count = 0;
    if (r.op == KRF__prod) {
        T = krf__derive_multiply(g, T, others(g, &r));
    } else if (r.op == KRF__max || r.op == KRF__min) {
        uint32_t equal = extreme(g, &r, &count);
        T = where(g, equal, T, number(g, 0));
    }
    T = krf__build_reduce(g, r.op == KRF__mean ? KRF__mean : KRF__sum, T, r.n, r.axes, r.keepdims);
    return count == 0 ? T : call2(g, KRF__divide, T, krf__build_reshape(g, count, rank_of(g, id), krf__shape_of(g, id)));
}

/* ---- scans ---- */

static uint32_t backwards(krf_graph *g, krf__op op, uint32_t x, int axis) {
    return krf__build_flip(g, krf__build_scan(g, op, krf__build_flip(g, x, axis), axis), axis);
}

/* Places along an axis, and which elements are larger (smaller) than all before: the first of equal ones takes the gradient of what follows. */
static uint32_t records(krf_graph *g, uint32_t id, int axis, uint32_t *places) {
    const krf__node n = *krf__node_of(g, id);
    const int64_t extent = extent_of(g, id, axis);
    int64_t shape[KRF_MAX_RANK];
    memcpy(shape, krf__shape_of(g, id), n.rank * sizeof *shape);
    *places = krf__build_places(g, n.rank, shape, axis);
    int64_t widths[2 * KRF_MAX_RANK] = {0};
    widths[2 * axis] = 1;
    uint32_t before = krf__build_pad(g, krf__build_part(g, id, axis, 0, extent - 1), widths, KRF_PAD_EDGE, number(g, 0));
    uint32_t beyond = call2(g, n.op == KRF__cummax ? KRF__greater : KRF__less, n.args[0], before);
    return call2(g, KRF__logical_or, beyond, call2(g, KRF__equal, *places, number(g, 0)));
}

/* What follows a record up to the next one: the sum of all that follows, less what follows from the next record on. */
static uint32_t extreme_back(krf_graph *g, uint32_t id, int axis, uint32_t G) {
    const int64_t extent = extent_of(g, id, axis);
    uint32_t places, record = records(g, id, axis, &places);
    int64_t widths[2 * KRF_MAX_RANK] = {0};
    widths[2 * axis + 1] = 1;
    uint32_t next = backwards(g, KRF__cummin, where(g, record, places, krf__build_int(g, extent, false)), axis);
    next = krf__build_pad(g, krf__build_part(g, next, axis, 1, KRF_NONE), widths, KRF_PAD_CONSTANT, krf__build_int(g, extent, false));
    uint32_t sums = backwards(g, KRF__cumsum, G, axis), beyond = krf__build_pad(g, sums, widths, KRF_PAD_CONSTANT, number(g, 0));
    beyond = krf__build_take_along_axis(g, beyond, next, axis);
    return where(g, record, call2(g, KRF__subtract, sums, beyond), number(g, 0));
}

/* Elements where no zero was before or is, the first zero and what follows it up to the next; and the product that leaves it out. */
typedef struct product {
    uint32_t none, one, first, safe, left;
} product;

static product product_of(krf_graph *g, uint32_t x, int axis) {
    uint32_t zero = call2(g, KRF__equal, x, number(g, 0)), zeros = krf__build_scan(g, KRF__cumsum, zero, axis);
    product p = {.none = call2(g, KRF__equal, zeros, number(g, 0)), .one = call2(g, KRF__equal, zeros, number(g, 1))};
    p.first = call2(g, KRF__logical_and, zero, p.one);
    p.safe = where(g, zero, number(g, 1), x);
    p.left = krf__build_scan(g, KRF__cumprod, p.safe, axis);
    return p;
}

static uint32_t product_back(krf_graph *g, uint32_t x, int axis, uint32_t G) {
    const product p = product_of(g, x, axis);
    uint32_t all = krf__derive_multiply(g, G, p.left), zero = number(g, 0);
    uint32_t before = call2(g, KRF__divide, backwards(g, KRF__cumsum, where(g, p.none, all, zero), axis), p.safe);
    uint32_t at = backwards(g, KRF__cumsum, where(g, p.one, all, zero), axis);
    return where(g, p.none, before, where(g, p.first, at, zero));
}

static uint32_t product_forth(krf_graph *g, uint32_t x, int axis, uint32_t T) {
    const product p = product_of(g, x, axis);
    uint32_t zero = number(g, 0);
    uint32_t before = krf__build_scan(g, KRF__cumsum, call2(g, KRF__divide, T, p.safe), axis);
    uint32_t at = krf__build_scan(g, KRF__cumsum, where(g, p.first, T, zero), axis);
    return call2(g, KRF__multiply, p.left, where(g, p.none, before, where(g, p.one, at, zero)));
}

static int axis_of(const krf_graph *g, uint32_t id) { return __builtin_ctzll((unsigned long long)krf__ints_of(g, id)[0]); }

uint32_t krf__adjoint_scan(krf_graph *g, uint32_t id, uint32_t G) {
    const int axis = axis_of(g, id);
    switch ((krf__op)krf__node_of(g, id)->op) {
    case KRF__cumsum: return backwards(g, KRF__cumsum, G, axis);
    case KRF__cumprod: return product_back(g, krf__node_of(g, id)->args[0], axis, G);
    default: return extreme_back(g, id, axis, G);
    }
}

uint32_t krf__tangent_scan(krf_graph *g, uint32_t id, uint32_t T) {
    const int axis = axis_of(g, id);
    uint32_t places, record;
    switch ((krf__op)krf__node_of(g, id)->op) {
    case KRF__cumsum: return krf__build_scan(g, KRF__cumsum, T, axis);
    case KRF__cumprod: return product_forth(g, krf__node_of(g, id)->args[0], axis, T);
    default:
        record = records(g, id, axis, &places);
        return krf__build_take_along_axis(g, T, krf__build_scan(g, KRF__cummax, where(g, record, places, number(g, 0)), axis), axis);
    }
}
