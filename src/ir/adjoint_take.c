/* Gradients through take and take_along_axis: each element gets the sum of the gradients of the places that took it.
 *
 * Where places are arithmetic on a range (roll, pad, repeat, tile, concatenate and slices that are set are made so) the gradients are moved step by step: of
 * f(range) they are brought from the places of the range to those of f, by slices, padding and sums. Elsewhere the sum runs over all places and takes those
 * that are the element's: as many comparisons as places times elements. */
#include "ir/adjoint.h"

#include "ir/build_composed.h"
#include "ir/build_movement.h"

#include <string.h>

#define MOST_COMPARISONS 17179869184.0 /* 2^34: seconds on a CPU */

/* Arithmetic that goes further is not followed: nothing here overflows. */
#define MOST_PLACES (INT64_C(1) << 40)

static uint32_t call(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }
static uint32_t where(krf_graph *g, uint32_t x, uint32_t y, uint32_t z) { return krf__build(g, KRF__where, 3, (uint32_t[]){x, y, z}); }
static uint32_t number(krf_graph *g, int64_t value) { return krf__build_int(g, value, true); }
static int rank_of(const krf_graph *g, uint32_t x) { return krf__node_of(g, x)->rank; }
static int64_t extent_of(const krf_graph *g, uint32_t x, int axis) { return krf__shape_of(g, x)[axis]; }

/* A whole number that is known now. */
static bool known(const krf_graph *g, uint32_t id, int64_t *value) {
    const krf__node *n = krf__node_of(g, id);
    if (n->rank != 0 || (n->op != KRF__constant && n->op != KRF__scalar) || !krf__is_int((krf_dtype)n->dtype) || n->dtype == KRF_U64) {
        return false;
    }
    *value = krf__bits_to_i64((krf_dtype)n->dtype, n->value);
    return *value >= -MOST_PLACES && *value <= MOST_PLACES;
}

/* ---- what is known to be 0 ---- */

static bool is_zero(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    n = n->op == KRF__cast ? krf__node_of(g, n->args[0]) : n;
    return n->op == KRF__constant && krf__bits_to_f64((krf_dtype)n->dtype, n->value) == 0;
}

/* Whether id holds the places along an axis of something of that rank. */
static bool is_places(const krf_graph *g, uint32_t id, int rank, int axis) {
    const krf__node *n = krf__node_of(g, id);
    const int at = axis - (rank - n->rank);
    if (n->op == KRF__reshape) {
        return krf__node_of(g, n->args[0])->op == KRF__iota && at >= 0 && krf__shape_of(g, n->args[0])[0] == extent_of(g, id, at);
    }
    return n->op == KRF__iota && at == 0;
}

/* Narrows [low, high) of an axis to where the condition is as wanted. What it says besides is given back; 0: nothing. */
static uint32_t narrow(krf_graph *g, uint32_t condition, bool wanted, int rank, int axis, int64_t *low, int64_t *high) {
    const krf__node c = *krf__node_of(g, condition);
    int64_t value;
    if (c.op == KRF__logical_and && wanted) {
        uint32_t first = narrow(g, c.args[0], true, rank, axis, low, high), second = narrow(g, c.args[1], true, rank, axis, low, high);
        return first == 0 ? second : second == 0 ? first : call(g, KRF__logical_and, first, second);
    }
    if ((c.op == KRF__less || c.op == KRF__greater_equal) && is_places(g, c.args[0], rank, axis) && known(g, c.args[1], &value)) {
        if ((c.op == KRF__less) == wanted) {
            *high = value < *high ? value : *high;
        } else {
            *low = value > *low ? value : *low;
        }
        return 0;
    }
    return wanted ? condition : krf__build(g, KRF__logical_not, 1, &condition);
}

/* G without what is known to be 0 at the ends of an axis: elements [low, high). */
static uint32_t narrowed(krf_graph *g, uint32_t G, int axis, int64_t *low, int64_t *high) {
    enum { MOST = 8 };
    uint32_t rest[MOST];
    int n = 0;
    const int rank = rank_of(g, G);
    int64_t shape[KRF_MAX_RANK];
    memcpy(shape, krf__shape_of(g, G), (size_t)rank * sizeof *shape);
    *low = 0;
    *high = shape[axis];
    while (krf__node_of(g, G)->op == KRF__where && n < MOST) {
        const krf__node w = *krf__node_of(g, G);
        const bool wanted = is_zero(g, w.args[2]);
        if (!wanted && !is_zero(g, w.args[1])) {
            break;
        }
        rest[n] = narrow(g, w.args[0], wanted, rank, axis, low, high);
        n += rest[n] != 0;
        G = krf__build_broadcast_to(g, w.args[wanted ? 1 : 2], rank, shape);
    }
    *high = *high < *low ? *low : *high;
    G = krf__build_part(g, G, axis, *low, *high);
    while (n-- > 0 && G != 0) {
        const int at = axis - (rank - rank_of(g, rest[n]));
        uint32_t here = at >= 0 && extent_of(g, rest[n], at) != 1 ? krf__build_part(g, rest[n], at, *low, *high) : rest[n];
        G = where(g, here, G, number(g, 0));
    }
    return G;
}

/* ---- places that are arithmetic ---- */

/* Gradients along an axis: element k belongs to the place low + k. */
typedef struct moved {
    uint32_t G;
    int axis;
    int64_t low, n;
} moved;

static void set(moved *m, const krf_graph *g, uint32_t G, int64_t low) {
    m->G = G;
    m->low = low;
    m->n = G != 0 ? extent_of(g, G, m->axis) : 0;
}

static uint32_t summed(krf_graph *g, uint32_t x, int axis) { return krf__build_reduce(g, KRF__sum, x, 1, &axis, true); }

/* Places [low, high), with zeros where m has none. */
static uint32_t window(krf_graph *g, const moved *m, int64_t low, int64_t high) {
    const int64_t end = m->low + m->n, from = low > m->low ? low : m->low, to = high < end ? high : end;
    int64_t widths[2 * KRF_MAX_RANK] = {0};
    if (m->G != 0 && from >= to) {
        int64_t shape[KRF_MAX_RANK];
        const int rank = rank_of(g, m->G);
        memcpy(shape, krf__shape_of(g, m->G), (size_t)rank * sizeof *shape);
        shape[m->axis] = high - low;
        return krf__zeros(g, (krf_dtype)krf__node_of(g, m->G)->dtype, rank, shape);
    }
    widths[2 * m->axis] = from - low;
    widths[2 * m->axis + 1] = high - to;
    return krf__build_pad(g, krf__build_part(g, m->G, m->axis, from - m->low, to - m->low), widths, KRF_PAD_CONSTANT, number(g, 0));
}

/* What lies beyond a bound is summed onto it. */
static void clamp(krf_graph *g, moved *m, int64_t bound, bool above) {
    const int64_t end = m->low + m->n;
    if (m->G == 0 || (above ? end - 1 <= bound : m->low >= bound)) {
        return;
    }
    if (above ? m->low >= bound : end - 1 <= bound) {
        set(m, g, summed(g, m->G, m->axis), bound);
    } else if (above) {
        uint32_t inside = window(g, m, m->low, bound), sum = summed(g, window(g, m, bound, end), m->axis);
        set(m, g, krf__build_concatenate(g, 2, (uint32_t[]){inside, sum}, m->axis), m->low);
    } else {
        uint32_t sum = summed(g, window(g, m, m->low, bound + 1), m->axis), inside = window(g, m, bound + 1, end);
        set(m, g, krf__build_concatenate(g, 2, (uint32_t[]){sum, inside}, m->axis), bound);
    }
}

static void mirror(krf_graph *g, moved *m) { set(m, g, krf__build_flip(g, m->G, m->axis), -(m->low + m->n - 1)); }

/* The places' magnitudes. */
static void fold_negative(krf_graph *g, moved *m) {
    const int64_t last = m->low + m->n - 1;
    if (m->G == 0 || m->low >= 0) {
        return;
    }
    if (last <= 0) {
        mirror(g, m);
        return;
    }
    const int64_t end = (-m->low > last ? -m->low : last) + 1;
    moved negative = {.axis = m->axis};
    set(&negative, g, krf__build_part(g, m->G, m->axis, 0, -m->low), m->low);
    mirror(g, &negative);
    set(m, g, call(g, KRF__add, window(g, m, 0, end), window(g, &negative, 0, end)), 0);
}

static int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Whole groups of k places: (groups, k) in place of the axis. */
static uint32_t grouped(krf_graph *g, const moved *m, int64_t k, int64_t *first) {
    *first = floor_quotient(m->low, k);
    const int64_t end = floor_quotient(m->low + m->n - 1, k) + 1;
    const int rank = rank_of(g, m->G);
    uint32_t whole = window(g, m, *first * k, end * k);
    int64_t shape[KRF_MAX_RANK + 1];
    if (whole == 0 || rank == KRF_MAX_RANK) {
        return whole == 0 ? 0 : krf__graph_fail(g, KRF_E_SHAPE, "grad: take: rank %d leaves no axis for the gradient", rank);
    }
    for (int i = 0; i <= rank; i++) {
        shape[i] = i < m->axis ? extent_of(g, whole, i) : i == m->axis ? end - *first : i == m->axis + 1 ? k : extent_of(g, whole, i - 1);
    }
    return krf__build_reshape(g, whole, rank + 1, shape);
}

/* False where groups would be much larger than what is in them. */
static bool divide_places(krf_graph *g, moved *m, int64_t k, bool remainder) {
    int64_t first = floor_quotient(m->low, k);
    const int64_t groups = floor_quotient(m->low + m->n - 1, k) - first + 1;
    if (remainder && m->low >= 0 && m->low + m->n <= k) {
        return true;
    }
    if (!remainder && groups == 1) {
        set(m, g, summed(g, m->G, m->axis), first);
        return true;
    }
    if (k > (4 * m->n + 4096) / groups) {
        return false;
    }
    uint32_t apart = grouped(g, m, k, &first);
    const int axis = remainder ? m->axis : m->axis + 1;
    set(m, g, krf__build_reduce(g, KRF__sum, apart, 1, &axis, false), remainder ? 0 : first);
    return true;
}

/* False where little would lie in much. */
static bool spread(krf_graph *g, moved *m, int64_t step) {
    const int64_t reach = m->low < 0 ? m->n - m->low : m->n + m->low, width = step < 0 ? -step : step;
    if (width > 1 && (reach > MOST_PLACES / width || (m->n > 1 && width > 4096))) {
        return false;
    }
    if (step < 0) {
        mirror(g, m);
        step = -step;
    }
    if (step == 0) {
        set(m, g, summed(g, m->G, m->axis), 0);
    } else if (step > 1 && m->G != 0) {
        int64_t shape[KRF_MAX_RANK];
        const int rank = rank_of(g, m->G);
        krf_range ranges[KRF_MAX_RANK];
        memcpy(shape, krf__shape_of(g, m->G), (size_t)rank * sizeof *shape);
        shape[m->axis] = (m->n - 1) * step + 1;
        for (int i = 0; i <= m->axis; i++) {
            ranges[i] = (krf_range){KRF_NONE, KRF_NONE, i == m->axis ? step : 1};
        }
        uint32_t zeros = krf__zeros(g, (krf_dtype)krf__node_of(g, m->G)->dtype, rank, shape);
        set(m, g, krf__build_set_slice(g, zeros, m->axis + 1, ranges, m->G), m->low * step);
    }
    return true;
}

/* Brings gradients from the range that `places` begins with to its values. False where it is not understood. */
static bool bring(krf_graph *g, uint32_t places, moved *m, int depth) {
    const krf__node n = *krf__node_of(g, places);
    int64_t value;
    if (depth == 0) {
        return false;
    }
    if (n.op == KRF__iota) {
        return true;
    }
    if (n.op == KRF__slice && n.rank == 1) {
        const int64_t start = krf__ints_of(g, places)[0], step = krf__ints_of(g, places)[1];
        if (krf__node_of(g, n.args[0])->op != KRF__iota) {
            return false;
        }
        if (!spread(g, m, step)) {
            return false;
        }
        m->low += start;
        return true;
    }
    if (n.op == KRF__negative || n.op == KRF__abs) {
        if (!bring(g, n.args[0], m, depth - 1)) {
            return false;
        }
        (n.op == KRF__abs ? fold_negative : mirror)(g, m);
        return true;
    }
    const bool right = known(g, n.args[1], &value), left = !right && krf__op_info_of(n.op)->arity == 2 && known(g, n.args[0], &value);
    bool moves = true;
    const bool divides = n.op == KRF__floor_divide || n.op == KRF__remainder;
    const bool understood = divides ? right && value > 0
                                    : n.op == KRF__add || n.op == KRF__subtract || n.op == KRF__multiply || n.op == KRF__minimum || n.op == KRF__maximum;
    if (!understood || (!right && !left) || !bring(g, n.args[right ? 0 : 1], m, depth - 1)) {
        return false;
    }
    switch ((krf__op)n.op) {
    case KRF__add: m->low += value; break;
    case KRF__subtract:
        if (left) {
            mirror(g, m);
        }
        m->low += left ? value : -value;
        break;
    case KRF__multiply: moves = spread(g, m, value); break;
    case KRF__minimum: clamp(g, m, value, true); break;
    case KRF__maximum: clamp(g, m, value, false); break;
    default: moves = divide_places(g, m, value, n.op == KRF__remainder); break;
    }
    return moves && m->low >= -MOST_PLACES && m->low + m->n <= MOST_PLACES;
}

/* From the values that places have to the elements of an axis of n that take finds there: negative ones count from the end, ends catch what is beyond. */
static uint32_t landed(krf_graph *g, moved *m, int64_t n) {
    if (m->G == 0) {
        return 0;
    }
    clamp(g, m, -n, false);
    clamp(g, m, n - 1, true);
    if (m->G == 0 || m->low >= 0) {
        return m->G == 0 ? 0 : window(g, m, 0, n);
    }
    if (m->low + m->n <= 0) {
        m->low += n;
        return window(g, m, 0, n);
    }
    if (m->n == n) {
        return krf__build_roll(g, m->G, 1, &m->low, &m->axis);
    }
    moved negative = *m;
    negative.n = -m->low;
    negative.G = krf__build_part(g, m->G, m->axis, 0, negative.n);
    negative.low += n;
    return call(g, KRF__add, window(g, m, 0, n), window(g, &negative, 0, n));
}

/* ---- any places ---- */

static bool affordable(krf_graph *g, const char *name, uint32_t G, int64_t n) {
    const double places = (double)krf__shape_size(rank_of(g, G), krf__shape_of(g, G));
    if (places * (double)n <= MOST_COMPARISONS) {
        return true;
    }
    krf__graph_fail(g, KRF_E_ARGUMENT,
                    "grad: %s: the gradients of %.0f elements that arrays of places take from an axis of %lld need more than 2^34 comparisons; take by ranges "
                    "(slices, roll, pad, repeat), or differentiate by what is taken",
                    name, places, (long long)n);
    return false;
}

/* G: the places' axis at `axis`. places: of shape 1 but along that axis and where they differ; a rank less than G's is aligned at the last axis. */
static uint32_t chosen(krf_graph *g, const char *name, uint32_t G, uint32_t places, int axis, int64_t n) {
    const int rank = rank_of(g, G);
    int64_t shape[KRF_MAX_RANK] = {0};
    if (rank == KRF_MAX_RANK) {
        return krf__graph_fail(g, KRF_E_SHAPE, "grad: %s: rank %d leaves no axis for the gradient", name, rank);
    }
    if (!affordable(g, name, G, n)) {
        return 0;
    }
    uint32_t from_end = call(g, KRF__add, places, number(g, n));
    places = where(g, call(g, KRF__less, places, number(g, 0)), from_end, places);
    places = call(g, KRF__minimum, call(g, KRF__maximum, places, number(g, 0)), number(g, n - 1));
    shape[axis] = n;
    uint32_t own = krf__build_places(g, rank + 1, shape, axis); /* the places that the elements have */
    uint32_t hit = call(g, KRF__equal, krf__build_expand_dims(g, places, axis), own);
    uint32_t taken = where(g, hit, krf__build_expand_dims(g, G, axis), number(g, 0));
    return krf__build_reduce(g, KRF__sum, taken, 1, (int[]){axis + 1}, false);
}

static uint32_t take_back(krf_graph *g, uint32_t id, uint32_t G) {
    const krf__node n = *krf__node_of(g, id);
    const int axis = (int)krf__ints_of(g, id)[0], rank = rank_of(g, n.args[0]);
    uint32_t places = n.args[1];
    int64_t shape[KRF_MAX_RANK], low, high, ones[KRF_MAX_RANK];
    memcpy(shape, krf__shape_of(g, n.args[0]), (size_t)rank * sizeof *shape);
    const int64_t extent = shape[axis];
    shape[axis] = krf__shape_size(rank_of(g, places), krf__shape_of(g, places));
    G = krf__build_reshape(g, G, rank, shape); /* the places' axes as one */
    while (krf__node_of(g, places)->op == KRF__reshape) {
        places = krf__node_of(g, places)->args[0];
    }
    if (G == 0 || extent == 1) {
        return G == 0 ? 0 : summed(g, G, axis);
    }
    if (rank_of(g, places) == 1) {
        moved m = {.axis = axis};
        uint32_t some = narrowed(g, G, axis, &low, &high);
        if (some == 0 || krf__shape_size(rank, krf__shape_of(g, some)) == 0) {
            shape[axis] = extent;
            return some == 0 ? 0 : krf__zeros(g, (krf_dtype)krf__node_of(g, G)->dtype, rank, shape);
        }
        set(&m, g, some, low);
        if (bring(g, places, &m, 16)) {
            return landed(g, &m, extent);
        }
    }
    for (int i = 0; i < rank; i++) {
        ones[i] = i == axis ? shape[axis] : 1;
    }
    return chosen(g, "take", G, krf__build_reshape(g, places, rank, ones), axis, extent);
}

static uint32_t take_along_axis_back(krf_graph *g, uint32_t id, uint32_t G) {
    const krf__node n = *krf__node_of(g, id);
    const int axis = (int)krf__ints_of(g, id)[0];
    int64_t own[KRF_MAX_RANK], from[KRF_MAX_RANK];
    memcpy(own, krf__shape_of(g, n.args[0]), n.rank * sizeof *own);
    memcpy(from, krf__shape_of(g, id), n.rank * sizeof *from);
    from[axis] = own[axis];
    if (krf__shape_size(n.rank, krf__shape_of(g, id)) == 0) {
        return krf__zeros(g, (krf_dtype)n.dtype, n.rank, own);
    }
    G = chosen(g, "take_along_axis", G, n.args[1], axis, own[axis]);
    return krf__adjoint_stretched(g, G, n.rank, from, n.rank, own);
}

uint32_t krf__adjoint_take(krf_graph *g, uint32_t id, uint32_t G) {
    return G == 0 ? 0 : krf__node_of(g, id)->op == KRF__take ? take_back(g, id, G) : take_along_axis_back(g, id, G);
}
