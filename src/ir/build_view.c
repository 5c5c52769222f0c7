/* Checked construction of views: transpose, slice, reshape, broadcast_to, and what is written with them. */
#include "ir/build.h"

#include "base/fail.h"

static uint32_t add_view(krf_graph *g, krf__op op, uint32_t x, int rank, const int64_t *shape, int n_ints, const int64_t *ints) {
    const krf__node *n = krf__node_of(g, x);
    krf__node node = {.op = (uint16_t)op, .dtype = n->dtype, .weak = false, .rank = (uint8_t)rank, .args = {x}, .n_ints = (uint32_t)n_ints};
    return krf__graph_add(g, &node, shape, ints);
}

/* What a view over a weak scalar sees: a value of the dtype it evaluates as. */
static uint32_t strong(krf_graph *g, uint32_t x) {
    return x != 0 && krf__node_of(g, x)->weak ? krf__build_cast(g, x, (krf_dtype)krf__node_of(g, x)->dtype) : x;
}

static uint32_t bad_shape(krf_graph *g, const char *name, uint32_t x, int rank, const int64_t *shape, const char *why) {
    krf__str text = {0};
    krf__str_shape(&text, krf__node_of(g, x)->rank, krf__shape_of(g, x));
    krf__str_put(&text, " to ");
    krf__str_shape(&text, rank, shape);
    krf__graph_fail(g, KRF_E_SHAPE, "%s: %s: %s", name, text.data != NULL ? text.data : "?", why);
    krf__str_free(&text);
    return 0;
}

uint32_t krf__build_transpose(krf_graph *g, uint32_t x, const int *axes) {
    x = strong(g, x);
    if (x == 0) {
        return 0;
    }
    int rank = krf__node_of(g, x)->rank;
    int64_t order[KRF_MAX_RANK], shape[KRF_MAX_RANK];
    bool seen[KRF_MAX_RANK] = {false}, same = true;
    for (int i = 0; i < rank; i++) {
        int axis = axes == NULL ? rank - 1 - i : axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank || seen[axis]) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "transpose: axes must be each of 0 to %d once", rank - 1);
        }
        seen[axis] = true;
        order[i] = axis;
        shape[i] = krf__shape_of(g, x)[axis];
        same &= axis == i;
    }
    return same ? x : add_view(g, KRF__transpose, x, rank, shape, rank, order);
}

/* Python's rule for one axis: bounds counted from the end when negative, then clamped. */
static int64_t slice_extent(int64_t extent, const krf_range *r, int64_t *start) {
    bool down = r->step < 0;
    int64_t low = down ? -1 : 0, high = down ? extent - 1 : extent;
    int64_t bounds[2] = {r->start, r->stop};
    for (int i = 0; i < 2; i++) {
        if (bounds[i] == KRF_NONE) {
            bounds[i] = (i == 0) == down ? high : low;
            continue;
        }
        bounds[i] = bounds[i] < 0 ? bounds[i] + extent : bounds[i];
        bounds[i] = bounds[i] < low ? low : bounds[i] > high ? high : bounds[i];
    }
    *start = bounds[0];
    int64_t span = down ? bounds[0] - bounds[1] : bounds[1] - bounds[0];
    /* The magnitude of the lowest step does not fit; one element is left then. */
    int64_t step = down ? (r->step == INT64_MIN ? INT64_MAX : -r->step) : r->step;
    return span <= 0 ? 0 : (span - 1) / step + 1;
}

uint32_t krf__build_slice(krf_graph *g, uint32_t x, int n, const krf_range *ranges) {
    x = strong(g, x);
    if (x == 0) {
        return 0;
    }
    int rank = krf__node_of(g, x)->rank;
    if (n < 0 || n > rank) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "slice: %d items for rank %d", n, rank);
    }
    if (n > 0 && ranges == NULL) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "slice: a list is NULL");
    }
    int64_t ints[2 * KRF_MAX_RANK], shape[KRF_MAX_RANK];
    bool same = true;
    for (int i = 0; i < rank; i++) {
        int64_t extent = krf__shape_of(g, x)[i];
        krf_range r = i < n ? ranges[i] : (krf_range){KRF_NONE, KRF_NONE, 1};
        if (r.step == 0) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "slice: the step of axis %d is 0", i);
        }
        shape[i] = slice_extent(extent, &r, &ints[2 * i]);
        if (shape[i] <= 1) {
            r.step = 1; /* never used: one text for all of them, and no overflow in strides */
        }
        if (shape[i] == 0) {
            ints[2 * i] = 0;
        }
        ints[2 * i + 1] = r.step;
        same &= shape[i] == extent && r.step == 1;
    }
    return same ? x : add_view(g, KRF__slice, x, rank, shape, 2 * rank, ints);
}

uint32_t krf__build_reshape(krf_graph *g, uint32_t x, int rank, const int64_t *shape) {
    x = strong(g, x);
    if (x == 0) {
        return 0;
    }
    if (rank < 0 || rank > KRF_MAX_RANK || (rank > 0 && shape == NULL)) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "reshape: %s", krf__shape_fault(rank, shape));
    }
    const krf__node *n = krf__node_of(g, x);
    int64_t size = krf__shape_size(n->rank, krf__shape_of(g, x)), out[KRF_MAX_RANK];
    int open = -1;
    for (int i = 0; i < rank; i++) {
        out[i] = shape[i];
        if (shape[i] == -1 && open < 0) {
            open = i;
            out[i] = 1;
        } else if (shape[i] < 0) {
            return bad_shape(g, "reshape", x, rank, shape, "extents must be at least 0; one may be -1");
        }
    }
    int64_t known = krf__shape_size(rank, out);
    if (known < 0) {
        return bad_shape(g, "reshape", x, rank, shape, krf__shape_fault(rank, out));
    }
    if (open >= 0) {
        if (known == 0 || size % known != 0) {
            return bad_shape(g, "reshape", x, rank, shape, "no extent for -1 fits");
        }
        out[open] = size / known;
        known = size;
    }
    if (known != size) {
        return bad_shape(g, "reshape", x, rank, shape, "the number of elements differs");
    }
    return krf__shape_equal(rank, out, n->rank, krf__shape_of(g, x)) ? x : add_view(g, KRF__reshape, x, rank, out, 0, NULL);
}

uint32_t krf__build_broadcast_to(krf_graph *g, uint32_t x, int rank, const int64_t *shape) {
    x = strong(g, x);
    if (x == 0) {
        return 0;
    }
    const krf__node *n = krf__node_of(g, x);
    const char *fault = krf__shape_fault(rank, shape);
    if (fault != NULL) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "broadcast_to: %s", fault);
    }
    int out_rank;
    int64_t out[KRF_MAX_RANK];
    if (!krf__shape_broadcast(n->rank, krf__shape_of(g, x), rank, shape, &out_rank, out) ||
        !krf__shape_equal(out_rank, out, rank, shape)) {
        return bad_shape(g, "broadcast_to", x, rank, shape, "only extents of 1 can be stretched");
    }
    return krf__shape_equal(rank, shape, n->rank, krf__shape_of(g, x)) ? x
                                                                        : add_view(g, KRF__broadcast_to, x, rank, out, 0, NULL);
}

uint32_t krf__build_expand_dims(krf_graph *g, uint32_t x, int axis) {
    if (x == 0) {
        return 0;
    }
    int rank = krf__node_of(g, x)->rank, at = axis < 0 ? axis + rank + 1 : axis;
    if (rank == KRF_MAX_RANK) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "expand_dims: rank %d is the most: no axis can be added", rank);
    }
    if (at < 0 || at > rank) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "expand_dims: axis %d is out of range for rank %d", axis, rank);
    }
    int64_t shape[KRF_MAX_RANK];
    for (int i = 0; i <= rank; i++) {
        shape[i] = i == at ? 1 : krf__shape_of(g, x)[i - (i > at)];
    }
    return krf__build_reshape(g, x, rank + 1, shape);
}

uint32_t krf__build_squeeze(krf_graph *g, uint32_t x, int axis) {
    if (x == 0) {
        return 0;
    }
    int rank = krf__node_of(g, x)->rank, at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank || krf__shape_of(g, x)[at] != 1) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "squeeze: axis %d is out of range for rank %d or its extent is not 1", axis, rank);
    }
    int64_t shape[KRF_MAX_RANK];
    for (int i = 0; i + 1 < rank; i++) {
        shape[i] = krf__shape_of(g, x)[i + (i >= at)];
    }
    return krf__build_reshape(g, x, rank - 1, shape);
}

uint32_t krf__build_flip(krf_graph *g, uint32_t x, int axis) {
    if (x == 0) {
        return 0;
    }
    int rank = krf__node_of(g, x)->rank, at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "flip: axis %d is out of range for rank %d", axis, rank);
    }
    krf_range ranges[KRF_MAX_RANK];
    for (int i = 0; i <= at; i++) {
        ranges[i] = (krf_range){KRF_NONE, KRF_NONE, i == at ? -1 : 1};
    }
    return krf__build_slice(g, x, at + 1, ranges);
}
