/* What moves elements: places are ranges with a little arithmetic, so that a kernel computes where to read. Takes bring negative places into the axis; where
 * a range cannot leave it, lowering sees that. */
#include "ir/build_movement.h"

#include "base/fail.h"
#include "ir/build_composed.h"

#include <limits.h>
#include <string.h>

static uint32_t call(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }
static uint32_t number(krf_graph *g, int64_t value) { return krf__build_int(g, value, true); } /* lowering makes arguments of those beside ranges */

/* start, start + 1, ... before stop. */
static uint32_t range(krf_graph *g, int64_t start, int64_t stop) {
    uint32_t x = krf__build_arange(g, 0, stop - start, 1);
    return start == 0 ? x : call(g, KRF__add, x, number(g, start));
}
static int64_t extent_of(const krf_graph *g, uint32_t x, int axis) { return krf__shape_of(g, x)[axis]; }
static int rank_of(const krf_graph *g, uint32_t x) { return x != 0 ? krf__node_of(g, x)->rank : 0; } /* a nil graph has no nodes */

/* ---- views ---- */

uint32_t krf__build_ravel(krf_graph *g, uint32_t x) {
    int64_t size = x != 0 ? krf__shape_size(rank_of(g, x), krf__shape_of(g, x)) : 0;
    return krf__build_reshape(g, x, 1, &size);
}

uint32_t krf__build_at_least(krf_graph *g, uint32_t x, int rank) {
    int have = rank_of(g, x);
    if (x == 0 || have >= rank) {
        return x;
    }
    int64_t shape[3] = {1, 1, 1};
    int first = rank == 3 && have == 1 ? 1 : rank == 3 ? 0 : rank - have;
    for (int i = 0; i < have; i++) {
        shape[first + i] = extent_of(g, x, i);
    }
    return krf__build_reshape(g, x, rank, shape);
}

uint32_t krf__build_move_axes(krf_graph *g, uint32_t x, int n, const int *from, const int *to) {
    int rank = rank_of(g, x), order[KRF_MAX_RANK], next = 0;
    bool moved[KRF_MAX_RANK] = {false}, filled[KRF_MAX_RANK] = {false};
    for (int k = 0; x != 0 && k < n; k++) {
        int a, b;
        if (!krf__build_axis(g, "moveaxis", rank, from[k], &a) || !krf__build_axis(g, "moveaxis", rank, to[k], &b)) {
            return 0;
        }
        if (moved[a] || filled[b]) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "moveaxis: axis %d is given twice", moved[a] ? from[k] : to[k]);
        }
        moved[a] = filled[b] = true;
        order[b] = a;
    }
    for (int i = 0; i < rank; i++) {
        if (!moved[i]) {
            while (filled[next]) {
                next++;
            }
            order[next++] = i;
        }
    }
    return krf__build_transpose(g, x, order);
}

uint32_t krf__build_swap_axes(krf_graph *g, uint32_t x, int axis1, int axis2) {
    int rank = rank_of(g, x), order[KRF_MAX_RANK];
    if (x == 0 || !krf__build_axis(g, "swapaxes", rank, axis1, &axis1) || !krf__build_axis(g, "swapaxes", rank, axis2, &axis2)) {
        return 0;
    }
    for (int i = 0; i < rank; i++) {
        order[i] = i == axis1 ? axis2 : i == axis2 ? axis1 : i;
    }
    return krf__build_transpose(g, x, order);
}

uint32_t krf__build_part(krf_graph *g, uint32_t x, int axis, int64_t start, int64_t stop) {
    krf_range ranges[KRF_MAX_RANK];
    for (int i = 0; i <= axis; i++) {
        ranges[i] = (krf_range){i == axis ? start : KRF_NONE, i == axis ? stop : KRF_NONE, 1};
    }
    return x == 0 ? 0 : krf__build_slice(g, x, axis + 1, ranges);
}

/* ---- places ---- */

static uint32_t roll_one(krf_graph *g, uint32_t x, int64_t shift, int axis) {
    int64_t n = extent_of(g, x, axis);
    shift = n > 0 ? (shift % n + n) % n : 0;
    return shift == 0 ? x : krf__build_take(g, x, call(g, KRF__subtract, krf__build_arange(g, 0, n, 1), number(g, shift)), axis);
}

uint32_t krf__build_roll(krf_graph *g, uint32_t x, int n, const int64_t *shifts, const int *axes) {
    int rank = rank_of(g, x);
    if (x != 0 && axes == NULL) {
        int64_t shape[KRF_MAX_RANK];
        memcpy(shape, krf__shape_of(g, x), (size_t)rank * sizeof *shape);
        x = krf__build_ravel(g, x);
        x = x == 0 ? 0 : roll_one(g, x, shifts[0], 0);
        return x == 0 ? 0 : krf__build_reshape(g, x, rank, shape);
    }
    for (int k = 0; x != 0 && k < n; k++) {
        int axis;
        x = krf__build_axis(g, "roll", rank, axes[k], &axis) ? roll_one(g, x, shifts[k], axis) : 0;
    }
    return x;
}

uint32_t krf__build_repeat(krf_graph *g, uint32_t x, int64_t count, int axis) {
    int64_t size;
    if (x == 0 || !krf__build_axis(g, "repeat", rank_of(g, x), axis, &axis)) {
        return 0;
    }
    if (count < 0 || __builtin_mul_overflow(extent_of(g, x, axis), count, &size)) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "repeat: a count of %lld", (long long)count);
    }
    if (count < 2) {
        return count == 1 ? x : krf__build_part(g, x, axis, 0, 0);
    }
    return krf__build_take(g, x, call(g, KRF__floor_divide, krf__build_arange(g, 0, size, 1), number(g, count)), axis);
}

uint32_t krf__build_tile(krf_graph *g, uint32_t x, int n, const int64_t *counts) {
    int rank = rank_of(g, x), out = n > rank ? n : rank;
    if (x == 0 || n < 0 || out > KRF_MAX_RANK) {
        return x == 0 ? 0 : krf__graph_fail(g, KRF_E_ARGUMENT, "tile: %d counts; a rank is at most %d", n, KRF_MAX_RANK);
    }
    int64_t shape[KRF_MAX_RANK];
    for (int i = 0; i < out; i++) {
        shape[i] = i < out - rank ? 1 : extent_of(g, x, i - (out - rank));
    }
    x = krf__build_reshape(g, x, out, shape);
    for (int k = 0; x != 0 && k < n; k++) {
        int axis = out - n + k;
        int64_t extent = extent_of(g, x, axis), size;
        if (counts[k] < 0 || __builtin_mul_overflow(extent, counts[k], &size)) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "tile: a count of %lld", (long long)counts[k]);
        }
        if (counts[k] == 0) {
            x = krf__build_part(g, x, axis, 0, 0);
        } else if (counts[k] > 1 && extent == 1) {
            memcpy(shape, krf__shape_of(g, x), (size_t)out * sizeof *shape);
            shape[axis] = counts[k];
            x = krf__build_broadcast_to(g, x, out, shape);
        } else if (counts[k] > 1) {
            x = krf__build_take(g, x, call(g, KRF__remainder, krf__build_arange(g, 0, size, 1), number(g, extent)), axis);
        }
    }
    return x;
}

/* ---- pad ---- */

/* Where the elements along an axis come from: place i of the result is place i - before of the array, or what the mode puts there. */
static uint32_t padded_places(krf_graph *g, int64_t n, const int64_t *widths, krf_pad_mode mode) {
    uint32_t at = range(g, -widths[0], n + widths[1]);
    switch (mode) {
    case KRF_PAD_REFLECT: {
        uint32_t last = number(g, n - 1), left = krf__build(g, KRF__abs, 1, &at);
        left = call(g, KRF__subtract, last, left);
        return call(g, KRF__subtract, last, krf__build(g, KRF__abs, 1, &left));
    }
    case KRF_PAD_WRAP: return call(g, KRF__remainder, at, number(g, n));
    default:
        at = widths[0] > 0 ? call(g, KRF__maximum, at, number(g, 0)) : at;
        return widths[1] > 0 ? call(g, KRF__minimum, at, number(g, n - 1)) : at;
    }
}

/* Whether a place along an axis of a shape lies in [start, stop), of any rank that broadcasts with the shape. */
static uint32_t within(krf_graph *g, int rank, const int64_t *shape, int axis, int64_t start, int64_t stop) {
    uint32_t at = krf__build_places(g, rank, shape, axis), after = 0, before = 0;
    after = start > 0 ? call(g, KRF__greater_equal, at, number(g, start)) : 0;
    before = stop < shape[axis] || after == 0 ? call(g, KRF__less, at, number(g, stop)) : 0;
    return after == 0 ? before : before == 0 ? after : call(g, KRF__logical_and, after, before);
}

static bool widths_valid(krf_graph *g, uint32_t x, const int64_t *widths, krf_pad_mode mode) {
    static const char *const names[] = {"constant", "edge", "reflect", "wrap"};
    if ((unsigned)mode > KRF_PAD_WRAP) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "pad: %d is no mode", (int)mode) != 0;
    }
    for (int k = 0; k < 2 * rank_of(g, x); k++) {
        int64_t n = extent_of(g, x, k / 2), grown;
        if (widths[k] < 0 || __builtin_add_overflow(n, widths[k], &grown) || grown > INT64_MAX / 4) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "pad: a width of %lld for axis %d", (long long)widths[k], k / 2) != 0;
        }
        if (mode != KRF_PAD_CONSTANT && widths[k] > 0 && n == 0) {
            return krf__graph_fail(g, KRF_E_SHAPE, "pad: axis %d is empty: mode %s has nothing to put there", k / 2, names[mode]) != 0;
        }
        if (mode == KRF_PAD_REFLECT && widths[k] >= n && widths[k] > 0) {
            return krf__graph_fail(g, KRF_E_SHAPE, "pad: axis %d of extent %lld reflects at most %lld elements, not %lld", k / 2, (long long)n,
                                   (long long)(n - 1), (long long)widths[k]) != 0;
        }
    }
    return true;
}

uint32_t krf__build_pad(krf_graph *g, uint32_t x, const int64_t *widths, krf_pad_mode mode, uint32_t value) {
    if (x == 0 || value == 0 || !widths_valid(g, x, widths, mode)) {
        return 0;
    }
    if (rank_of(g, value) != 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "pad: the value has rank %d, not 0", rank_of(g, value));
    }
    int rank = rank_of(g, x);
    int64_t shape[KRF_MAX_RANK], from[KRF_MAX_RANK];
    krf_dtype dtype = (krf_dtype)krf__node_of(g, x)->dtype;
    uint32_t inside = 0;
    memcpy(from, krf__shape_of(g, x), (size_t)rank * sizeof *from);
    for (int i = 0; i < rank; i++) {
        shape[i] = from[i] + widths[2 * i] + widths[2 * i + 1];
    }
    if (krf__shape_size(rank, shape) < 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "pad: the result has more than 2^63 elements");
    }
    value = krf__build_given(g, "pad", value, dtype);
    if (value == 0) {
        return 0;
    }
    if (krf__shape_size(rank, from) == 0) {
        return krf__build_broadcast_to(g, value, rank, shape);
    }
    for (int i = 0; i < rank && x != 0; i++) {
        if (shape[i] == from[i]) {
            continue;
        }
        x = krf__build_take(g, x, padded_places(g, from[i], widths + 2 * i, mode), i);
        if (mode == KRF_PAD_CONSTANT) {
            uint32_t here = within(g, rank, shape, i, widths[2 * i], widths[2 * i] + from[i]);
            inside = inside == 0 ? here : call(g, KRF__logical_and, inside, here);
        }
    }
    return inside == 0 ? x : krf__build(g, KRF__where, 3, (uint32_t[]){inside, x, value});
}

/* ---- arrays put together ---- */

/* The operands in one dtype; false (and the error) when there is none. Weak ones are scalars and become arrays of rank 0. */
static bool promoted(krf_graph *g, const char *name, int n, const uint32_t *xs, krf_dtype *dtype) {
    for (int k = 0; k < n; k++) {
        if (xs[k] == 0) {
            return false;
        }
        krf_dtype own = (krf_dtype)krf__node_of(g, xs[k])->dtype;
        *dtype = k == 0 ? own : *dtype;
        if (!krf__promote(*dtype, own, dtype)) {
            krf__graph_fail(g, KRF_E_DTYPE, "%s: no integer holds both %s and %s: cast one of them", name, krf_dtype_name(*dtype), krf_dtype_name(own));
            return false;
        }
    }
    return true;
}

static uint32_t not_alike(krf_graph *g, const char *name, uint32_t x, uint32_t y, const char *rule) {
    krf__str text = {0};
    krf__str_shape(&text, rank_of(g, x), krf__shape_of(g, x));
    krf__str_put(&text, " and ");
    krf__str_shape(&text, rank_of(g, y), krf__shape_of(g, y));
    krf__graph_fail(g, KRF_E_SHAPE, "%s: shapes %s %s", name, text.data != NULL ? text.data : "?", rule);
    krf__str_free(&text);
    return 0;
}

/* Operand k where it belongs, else its nearest element: [start, start + its extent) of the whole. */
static uint32_t placed(krf_graph *g, uint32_t x, int axis, int64_t start, int64_t whole) {
    int64_t n = extent_of(g, x, axis);
    return n == 1 ? x : krf__build_take(g, x, padded_places(g, n, (int64_t[]){start, whole - start - n}, KRF_PAD_EDGE), axis);
}

uint32_t krf__build_concatenate(krf_graph *g, int n, const uint32_t *xs, int axis) {
    static const char name[] = "concatenate";
    krf_dtype dtype = KRF_BOOL;
    if (n < 1) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %d arrays", name, n);
    }
    int rank = promoted(g, name, n, xs, &dtype) ? rank_of(g, xs[0]) : -1;
    if (rank < 0 || !krf__build_axis(g, name, rank, axis, &axis)) {
        return 0;
    }
    int64_t shape[KRF_MAX_RANK], whole = 0;
    memcpy(shape, krf__shape_of(g, xs[0]), (size_t)rank * sizeof *shape);
    for (int k = 0; k < n; k++) {
        shape[axis] = rank_of(g, xs[k]) == rank ? extent_of(g, xs[k], axis) : 0;
        if (!krf__shape_equal(rank, shape, rank_of(g, xs[k]), krf__shape_of(g, xs[k]))) {
            return not_alike(g, name, xs[0], xs[k], "have to agree but for the axis along which they are joined");
        }
        if (__builtin_add_overflow(whole, shape[axis], &whole)) {
            return krf__graph_fail(g, KRF_E_SHAPE, "%s: the result has more than 2^63 elements", name);
        }
    }
    shape[axis] = whole;
    int64_t end = whole;
    uint32_t result = 0;
    if (krf__shape_size(rank, shape) < 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "%s: the result has more than 2^63 elements", name);
    }
    for (int k = n - 1; k >= 0; k--) { /* from the last: each before it takes what lies before its end */
        int64_t extent = extent_of(g, xs[k], axis);
        if (extent == 0 && !(k == 0 && result == 0)) {
            continue;
        }
        uint32_t x = krf__build_astype(g, xs[k], dtype);
        if (extent == whole) {
            return x;
        }
        x = placed(g, x, axis, end - extent, whole);
        if (result != 0) {
            uint32_t before = within(g, rank, shape, axis, 0, end);
            x = krf__build(g, KRF__where, 3, (uint32_t[]){before, x, result});
        }
        if (x == 0) {
            return 0;
        }
        result = x;
        end -= extent;
    }
    return krf__build_broadcast_to(g, result, rank, shape);
}

uint32_t krf__build_stack(krf_graph *g, int n, const uint32_t *xs, int axis) {
    static const char name[] = "stack";
    krf_dtype dtype = KRF_BOOL;
    uint32_t result = 0;
    if (n < 1) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %d arrays", name, n);
    }
    int rank = promoted(g, name, n, xs, &dtype) ? rank_of(g, xs[0]) : -1;
    if (rank < 0 || !krf__build_axis(g, name, rank + 1, axis, &axis)) {
        return 0;
    }
    int64_t shape[KRF_MAX_RANK];
    for (int k = n - 1; k >= 0; k--) {
        if (!krf__same_shape(g, xs[0], xs[k])) {
            return not_alike(g, name, xs[0], xs[k], "have to be the same");
        }
        uint32_t x = krf__build_expand_dims(g, krf__build_astype(g, xs[k], dtype), axis);
        if (x == 0) {
            return 0;
        }
        memcpy(shape, krf__shape_of(g, x), (size_t)(rank + 1) * sizeof *shape);
        shape[axis] = n;
        result = result == 0 ? x : krf__build(g, KRF__where, 3, (uint32_t[]){within(g, rank + 1, shape, axis, 0, k + 1), x, result});
    }
    return krf__build_broadcast_to(g, result, rank + 1, shape);
}

uint32_t krf__build_section(krf_graph *g, uint32_t x, int64_t sections, int64_t which, int axis) {
    if (x == 0 || !krf__build_axis(g, "split", rank_of(g, x), axis, &axis)) {
        return 0;
    }
    int64_t n = extent_of(g, x, axis);
    if (sections < 1 || n % sections != 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "split: axis %d of extent %lld has no %lld equal parts", axis, (long long)n, (long long)sections);
    }
    if (which < 0 || which >= sections) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "split: part %lld of %lld", (long long)which, (long long)sections);
    }
    return krf__build_part(g, x, axis, n / sections * which, n / sections * (which + 1));
}

/* ---- slices that are set ---- */

/* Start, step above 0 and extent of a slice's axis: what it holds, whichever way it runs. */
typedef struct span {
    int64_t first, step, n;
} span;

static span span_of(const krf_graph *g, uint32_t x, uint32_t slice, int axis) {
    if (slice == x) {
        return (span){0, 1, extent_of(g, x, axis)};
    }
    const int64_t *ints = krf__ints_of(g, slice) + 2 * axis;
    int64_t n = extent_of(g, slice, axis);
    return ints[1] > 0 ? (span){ints[0], ints[1], n} : (span){ints[0] + (n - 1) * ints[1], -ints[1], n};
}

/* Whether the places along an axis lie in the span; 0: all do. */
static uint32_t in_span(krf_graph *g, int rank, const int64_t *shape, int axis, span s) {
    int64_t stop = s.first + (s.n - 1) * s.step + 1;
    uint32_t inside = s.first == 0 && stop == shape[axis] ? 0 : within(g, rank, shape, axis, s.first, stop), hit = 0;
    if (s.step > 1) {
        uint32_t at = krf__build_places(g, rank, shape, axis);
        at = s.first == 0 ? at : call(g, KRF__subtract, at, number(g, s.first));
        hit = call(g, KRF__equal, call(g, KRF__remainder, at, number(g, s.step)), number(g, 0));
    }
    return inside == 0 ? hit : hit == 0 ? inside : call(g, KRF__logical_and, inside, hit);
}

/* The place in the span that each place along the axis has; beyond it, the nearest. */
static uint32_t places_in_span(krf_graph *g, int64_t extent, span s) {
    uint32_t at = range(g, -s.first, extent - s.first);
    at = s.step == 1 ? at : call(g, KRF__floor_divide, at, number(g, s.step));
    return call(g, KRF__minimum, call(g, KRF__maximum, at, number(g, 0)), number(g, s.n - 1));
}

uint32_t krf__build_set_slice(krf_graph *g, uint32_t x, int n, const krf_range *ranges, uint32_t value) {
    uint32_t slice = value == 0 ? 0 : krf__build_slice(g, x, n, ranges), inside = 0;
    if (slice == 0) {
        return 0;
    }
    int rank = rank_of(g, x);
    int64_t shape[KRF_MAX_RANK];
    value = krf__build_given(g, "set", value, (krf_dtype)krf__node_of(g, slice)->dtype);
    value = krf__build_broadcast_to(g, value, rank, krf__shape_of(g, slice));
    if (value == 0) {
        return 0;
    }
    memcpy(shape, krf__shape_of(g, x), (size_t)rank * sizeof *shape);
    if (krf__shape_size(rank, krf__shape_of(g, slice)) == 0) {
        return x;
    }
    krf_range around[KRF_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        bool down = slice != x && krf__ints_of(g, slice)[2 * i + 1] < 0;
        around[i] = (krf_range){KRF_NONE, KRF_NONE, down ? -1 : 1};
    }
    value = krf__build_slice(g, value, rank, around);
    for (int i = 0; i < rank && value != 0; i++) {
        const span s = span_of(g, x, slice, i);
        uint32_t here = in_span(g, rank, shape, i, s);
        inside = inside == 0 ? here : here == 0 ? inside : call(g, KRF__logical_and, inside, here);
        if (here != 0 && s.n > 1) {
            value = krf__build_take(g, value, places_in_span(g, shape[i], s), i);
        }
    }
    return inside == 0 ? value : krf__build(g, KRF__where, 3, (uint32_t[]){inside, value, x});
}

/* ---- made of them ---- */

uint32_t krf__build_trace(krf_graph *g, uint32_t x, int64_t offset, int axis1, int axis2) {
    if (x != 0 && rank_of(g, x) < 2) {
        return krf__graph_fail(g, KRF_E_SHAPE, "trace: an array of rank %d has no diagonal", rank_of(g, x));
    }
    return krf__build_reduce(g, KRF__sum, krf__build_diagonal(g, x, offset, axis1, axis2), 1, (int[]){-1}, false);
}

uint32_t krf__build_diff(krf_graph *g, uint32_t x, int n, int axis) {
    if (x == 0 || !krf__build_axis(g, "diff", rank_of(g, x), axis, &axis)) {
        return 0;
    }
    if (n < 0) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "diff: %d times", n);
    }
    krf__op op = krf__node_of(g, x)->dtype == KRF_BOOL ? KRF__not_equal : KRF__subtract;
    for (int k = 0; x != 0 && k < n && extent_of(g, x, axis) > 0; k++) {
        x = call(g, op, krf__build_part(g, x, axis, 1, KRF_NONE), krf__build_part(g, x, axis, KRF_NONE, extent_of(g, x, axis) - 1));
    }
    return x;
}

uint32_t krf__build_indices(krf_graph *g, int rank, const int64_t *shape) {
    uint32_t each[KRF_MAX_RANK];
    const char *fault = krf__shape_fault(rank, shape);
    if (fault != NULL) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "indices: %s", fault);
    }
    if (rank == KRF_MAX_RANK) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "indices: a shape has at most %d extents: the result has an axis more", rank - 1);
    }
    if (rank == 0) {
        return krf__build_arange(g, 0, 0, 1);
    }
    for (int i = 0; i < rank; i++) {
        each[i] = krf__build_broadcast_to(g, krf__build_places(g, rank, shape, i), rank, shape);
    }
    return krf__build_stack(g, rank, each, 0);
}
