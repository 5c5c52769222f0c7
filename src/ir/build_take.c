/* Checked construction of what gathers (take, take_along_axis, several index arrays) and of the views that neither slice nor reshape: diagonals and
 * windows. */
#include "ir/build.h"

#include "base/fail.h"

#include <string.h>

static uint32_t strong(krf_graph *g, uint32_t x) {
    return x != 0 && krf__node_of(g, x)->weak ? krf__build_cast(g, x, (krf_dtype)krf__node_of(g, x)->dtype) : x;
}

static int rank_of(const krf_graph *g, uint32_t x) { return x != 0 ? krf__node_of(g, x)->rank : 0; } /* a nil graph has no nodes */

bool krf__build_axis(krf_graph *g, const char *name, int rank, int axis, int *found) {
    int at = axis < 0 ? axis + rank : axis;
    *found = at;
    if (axis < -rank || axis >= rank) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "%s: axis %d is out of range for rank %d", name, axis, rank);
        return false;
    }
    return true;
}

/* ---- views ---- */

uint32_t krf__build_diagonal(krf_graph *g, uint32_t x, int64_t offset, int axis1, int axis2) {
    x = strong(g, x);
    int rank = rank_of(g, x), at[2], kept = 0;
    if (x == 0 || !krf__build_axis(g, "diagonal", rank, axis1, &at[0]) || !krf__build_axis(g, "diagonal", rank, axis2, &at[1])) {
        return 0;
    }
    if (at[0] == at[1]) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "diagonal: both axes are %d", at[0]);
    }
    int64_t shape[KRF_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        shape[kept] = krf__shape_of(g, x)[i];
        kept += i != at[0] && i != at[1];
    }
    int64_t rows = krf__shape_of(g, x)[at[0]], columns = krf__shape_of(g, x)[at[1]];
    offset = offset > columns ? columns : offset < -rows ? -rows : offset; /* beyond a corner there is nothing */
    rows -= offset < 0 ? -offset : 0;
    columns -= offset > 0 ? offset : 0;
    shape[rank - 2] = rows < columns ? rows : columns;
    const int64_t ints[3] = {offset, at[0], at[1]};
    krf__node node = {.op = KRF__diagonal, .dtype = krf__node_of(g, x)->dtype, .rank = (uint8_t)(rank - 1), .args = {x}, .n_ints = 3};
    return krf__graph_add(g, &node, shape, ints);
}

uint32_t krf__build_windows(krf_graph *g, uint32_t x, int n, const int64_t *windows, const int *axes) {
    static const char name[] = "sliding_window_view";
    x = strong(g, x);
    if (x == 0) {
        return 0;
    }
    int rank = rank_of(g, x);
    if (n < 0 || rank + n > KRF_MAX_RANK || (n > 0 && windows == NULL) || (axes == NULL && n != rank)) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %d windows for rank %d (the result's rank is at most %d)", name, n, rank, KRF_MAX_RANK);
    }
    int64_t shape[KRF_MAX_RANK], ints[KRF_MAX_RANK];
    memcpy(shape, krf__shape_of(g, x), (size_t)rank * sizeof *shape);
    for (int i = 0; i < n; i++) {
        int axis;
        if (!krf__build_axis(g, name, rank, axes != NULL ? axes[i] : i, &axis)) {
            return 0;
        }
        if (windows[i] < 0 || windows[i] > shape[axis] + (windows[i] == 0)) {
            return krf__graph_fail(g, KRF_E_SHAPE, "%s: a window of %lld along axis %d of extent %lld", name, (long long)windows[i], axis,
                                   (long long)shape[axis]);
        }
        shape[axis] -= windows[i] - 1;
        shape[rank + i] = windows[i];
        ints[i] = axis;
    }
    if (krf__shape_size(rank + n, shape) < 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "%s: the result has more than 2^63 elements", name);
    }
    krf__node node = {.op = KRF__sliding_window_view, .dtype = krf__node_of(g, x)->dtype, .rank = (uint8_t)(rank + n), .args = {x},
                      .n_ints = (uint32_t)n};
    return n == 0 ? x : krf__graph_add(g, &node, shape, ints);
}

/* ---- places ---- */

/* An index as i64. */
static uint32_t as_places(krf_graph *g, const char *name, uint32_t index) {
    krf_dtype dtype = (krf_dtype)krf__node_of(g, index)->dtype;
    if (!krf__is_int(dtype)) {
        return krf__graph_fail(g, KRF_E_DTYPE, "%s: the index is %s; it has to be of integers%s", name, krf_dtype_name(dtype),
                               dtype == KRF_BOOL ? " (the shape that a mask gives is not known before it is computed: use where)" : "");
    }
    if (dtype == KRF_U64) { /* beyond every end, and not to be taken for negative */
        index = krf__build(g, KRF__minimum, 2, (uint32_t[]){index, krf__build_int(g, INT64_MAX, true)});
    }
    return krf__build_cast(g, index, KRF_I64);
}

static uint32_t empty_axis(krf_graph *g, const char *name, int axis) {
    return krf__graph_fail(g, KRF_E_SHAPE, "%s: axis %d of the array is empty, the index is not", name, axis);
}

uint32_t krf__build_take(krf_graph *g, uint32_t x, uint32_t index, int axis) {
    x = strong(g, x);
    index = x != 0 && index != 0 ? as_places(g, "take", index) : 0;
    int rank = rank_of(g, x), more = rank_of(g, index);
    if (index == 0 || !krf__build_axis(g, "take", rank, axis, &axis)) {
        return 0;
    }
    if (rank - 1 + more > KRF_MAX_RANK) {
        return krf__graph_fail(g, KRF_E_SHAPE, "take: the result would have rank %d, at most %d is possible", rank - 1 + more, KRF_MAX_RANK);
    }
    int64_t shape[KRF_MAX_RANK + 1], at = axis;
    for (int i = 0; i < rank - 1 + more; i++) {
        shape[i] = i < axis ? krf__shape_of(g, x)[i] : i < axis + more ? krf__shape_of(g, index)[i - axis] : krf__shape_of(g, x)[i - more + 1];
    }
    int64_t size = krf__shape_size(rank - 1 + more, shape);
    if (size < 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "take: the result has more than 2^63 elements");
    }
    if (size > 0 && krf__shape_of(g, x)[axis] == 0) {
        return empty_axis(g, "take", axis);
    }
    krf__node node = {.op = KRF__take, .dtype = krf__node_of(g, x)->dtype, .rank = (uint8_t)(rank - 1 + more), .args = {x, index}, .n_ints = 1};
    return krf__graph_add(g, &node, shape, &at);
}

static uint32_t not_along(krf_graph *g, uint32_t x, uint32_t index, int axis) {
    krf__str text = {0};
    krf__str_shape(&text, krf__node_of(g, x)->rank, krf__shape_of(g, x));
    krf__str_put(&text, " and ");
    krf__str_shape(&text, krf__node_of(g, index)->rank, krf__shape_of(g, index));
    krf__graph_fail(g, KRF_E_SHAPE, "take_along_axis: shapes %s have to be of one rank, and to broadcast but for axis %d",
                    text.data != NULL ? text.data : "?", axis);
    krf__str_free(&text);
    return 0;
}

uint32_t krf__build_take_along_axis(krf_graph *g, uint32_t x, uint32_t index, int axis) {
    x = strong(g, x);
    index = x != 0 && index != 0 ? as_places(g, "take_along_axis", index) : 0;
    int rank = rank_of(g, x);
    if (index == 0 || !krf__build_axis(g, "take_along_axis", rank, axis, &axis)) {
        return 0;
    }
    int64_t shape[KRF_MAX_RANK], others[KRF_MAX_RANK], at = axis;
    memcpy(others, krf__shape_of(g, x), (size_t)rank * sizeof *others);
    if (krf__node_of(g, index)->rank == rank) {
        others[axis] = krf__shape_of(g, index)[axis];
    }
    int found;
    if (krf__node_of(g, index)->rank != rank ||
        !krf__shape_broadcast(rank, others, rank, krf__shape_of(g, index), &found, shape)) {
        return not_along(g, x, index, axis);
    }
    int64_t size = krf__shape_size(rank, shape);
    if (size < 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "take_along_axis: the result has more than 2^63 elements");
    }
    if (size > 0 && krf__shape_of(g, x)[axis] == 0) {
        return empty_axis(g, "take_along_axis", axis);
    }
    krf__node node = {.op = KRF__take_along_axis, .dtype = krf__node_of(g, x)->dtype, .rank = (uint8_t)rank, .args = {x, index}, .n_ints = 1};
    return krf__graph_add(g, &node, shape, &at);
}

/* ---- several indices ---- */

static uint32_t call(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }

/* Brought into the axis, as take does by itself: places of several axes are put together, so each has to lie in its own. */
static uint32_t inside(krf_graph *g, uint32_t place, int64_t extent) {
    uint32_t from_end = call(g, KRF__add, place, krf__build_int(g, extent, true));
    uint32_t negative = call(g, KRF__less, place, krf__build_int(g, 0, true));
    place = krf__build(g, KRF__where, 3, (uint32_t[]){negative, from_end, place});
    return call(g, KRF__minimum, call(g, KRF__maximum, place, krf__build_int(g, 0, true)), krf__build_int(g, extent - 1, true));
}

/* x with the axes side by side, the first of them at `first`, as one axis. */
static uint32_t merged(krf_graph *g, uint32_t x, int n, const int *axes, int first) {
    int rank = rank_of(g, x), order[KRF_MAX_RANK], kept = 0;
    int64_t shape[KRF_MAX_RANK];
    for (int i = 0, k = 0; i < rank; i++) {
        if (k < n && axes[k] == i) {
            order[first + k++] = i;
        } else {
            order[kept + (kept >= first ? n : 0)] = i;
            kept++;
        }
    }
    x = krf__build_transpose(g, x, order);
    if (x == 0) {
        return 0;
    }
    for (int i = 0; i < kept + 1; i++) {
        shape[i] = i == first ? 1 : krf__shape_of(g, x)[i > first ? i + n - 1 : i];
    }
    for (int k = 0; k < n; k++) {
        shape[first] *= krf__shape_of(g, x)[first + k];
    }
    return krf__build_reshape(g, x, kept + 1, shape);
}

uint32_t krf__build_index(krf_graph *g, uint32_t x, int n, const int *axes, const uint32_t *indices, int at) {
    x = strong(g, x);
    uint32_t flat = 0;
    if (x == 0) {
        return 0;
    }
    int rank = rank_of(g, x), place_rank = 0, first;
    int64_t shape[KRF_MAX_RANK];
    for (int k = 0; k < n; k++) {
        if (!krf__build_axis(g, "index", rank, axes[k], &first) || first != axes[k] || (k > 0 && axes[k] <= axes[k - 1])) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "index: axes have to ascend");
        }
        uint32_t place = indices[k] != 0 ? as_places(g, "index", indices[k]) : 0;
        if (place == 0) {
            return 0;
        }
        const krf__node *p = krf__node_of(g, place);
        if (!krf__shape_broadcast(place_rank, shape, p->rank, krf__shape_of(g, place), &place_rank, shape)) {
            return krf__graph_fail(g, KRF_E_SHAPE, "index: the shapes of the indices do not broadcast");
        }
        if (n == 1) {
            flat = place;
            break;
        }
        int64_t extent = krf__shape_of(g, x)[axes[k]];
        if (extent == 0 && krf__shape_size(place_rank, shape) > 0) {
            return empty_axis(g, "index", axes[k]);
        }
        place = inside(g, place, extent);
        flat = k == 0 ? place : call(g, KRF__add, call(g, KRF__multiply, flat, krf__build_int(g, extent, true)), place);
    }
    if (n < 1 || flat == 0) {
        return n < 1 ? x : 0;
    }
    x = n == 1 ? x : merged(g, x, n, axes, at);
    x = krf__build_take(g, x, flat, n == 1 ? axes[0] : at);
    if (x == 0 || n > 1 || at == axes[0]) {
        return x;
    }
    int order[KRF_MAX_RANK], left = 0; /* the places' axes go to the front */
    rank = rank_of(g, x);
    for (int i = 0; i < rank; i++) {
        bool of_places = i >= axes[0] && i < axes[0] + place_rank;
        order[of_places ? at + i - axes[0] : left < at ? left : left + place_rank] = i;
        left += !of_places;
    }
    return krf__build_transpose(g, x, order);
}
