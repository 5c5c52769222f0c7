/* The public functions that move elements (kerfuse/movement.h): operands checked, then one call inward. */
#include "api/expr.h"
#include "base/fail.h"
#include "base/mem.h"
#include "ir/build_movement.h"

/* The ids of operands that have to be of one graph; NULL (and the error) otherwise. krf__mem_free. */
static uint32_t *ids_of(const char *name, int n, const krf_expr *xs) {
    krf_graph *g = n > 0 && xs != NULL ? xs[0].graph : NULL;
    uint32_t *ids = g != NULL ? krf__malloc((size_t)n * sizeof *ids) : NULL;
    if (g != NULL && ids == NULL) {
        krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (%s)", name);
    }
    for (int k = 0; ids != NULL && k < n; k++) {
        if (xs[k].graph != g) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: the operands belong to different graphs", name);
        }
        if (xs[k].graph != g || !krf__expr_check(name, xs[k])) {
            krf__mem_free(ids);
            return NULL;
        }
        ids[k] = xs[k].id;
    }
    return ids;
}

static bool two(const char *name, krf_expr x, krf_expr y) {
    if (x.graph != NULL && y.graph != x.graph) {
        krf__graph_fail(x.graph, KRF_E_ARGUMENT, "%s: the operands belong to different graphs", name);
        return false;
    }
    return krf__expr_check(name, x) && krf__expr_check(name, y);
}

/* Whether x is an expression and a list that should be there is. */
static bool with_list(const char *name, krf_expr x, int n, const void *list) {
    if (!krf__expr_check(name, x)) {
        return false;
    }
    if (n < 0 || (n > 0 && list == NULL)) {
        krf__graph_fail(x.graph, KRF_E_ARGUMENT, n < 0 ? "%s: a negative number of items" : "%s: a list is NULL", name);
        return false;
    }
    return true;
}

krf_expr krf_take(krf_expr x, krf_expr index, int axis) {
    return (krf_expr){x.graph, two("take", x, index) ? krf__build_take(x.graph, x.id, index.id, axis) : 0};
}

krf_expr krf_take_along_axis(krf_expr x, krf_expr index, int axis) {
    return (krf_expr){x.graph, two("take_along_axis", x, index) ? krf__build_take_along_axis(x.graph, x.id, index.id, axis) : 0};
}

krf_expr krf_index(krf_expr x, int n, const int *axes, const krf_expr *indices) {
    if (!with_list("index", x, n, axes) || !with_list("index", x, n, indices) || n == 0) {
        return (krf_expr){x.graph, n == 0 ? x.id : 0};
    }
    uint32_t *ids = two("index", x, indices[0]) ? ids_of("index", n, indices) : NULL;
    bool adjacent = true;
    for (int k = 1; k < n; k++) {
        adjacent &= axes[k] == axes[k - 1] + 1;
    }
    krf_expr y = {x.graph, ids != NULL ? krf__build_index(x.graph, x.id, n, axes, ids, adjacent ? axes[0] : 0) : 0};
    krf__mem_free(ids);
    return y;
}

krf_expr krf_diagonal(krf_expr x, int64_t offset, int axis1, int axis2) {
    return (krf_expr){x.graph, krf__expr_check("diagonal", x) ? krf__build_diagonal(x.graph, x.id, offset, axis1, axis2) : 0};
}

krf_expr krf_sliding_window_view(krf_expr x, int n, const int64_t *windows, const int *axes) {
    return (krf_expr){x.graph, with_list("sliding_window_view", x, n, windows) ? krf__build_windows(x.graph, x.id, n, windows, axes) : 0};
}

krf_expr krf_moveaxis(krf_expr x, int n, const int *from, const int *to) {
    return (krf_expr){x.graph, with_list("moveaxis", x, n, from) && with_list("moveaxis", x, n, to) ? krf__build_move_axes(x.graph, x.id, n, from, to) : 0};
}

krf_expr krf_swapaxes(krf_expr x, int axis1, int axis2) {
    return (krf_expr){x.graph, krf__expr_check("swapaxes", x) ? krf__build_swap_axes(x.graph, x.id, axis1, axis2) : 0};
}

krf_expr krf_ravel(krf_expr x) { return (krf_expr){x.graph, krf__expr_check("ravel", x) ? krf__build_ravel(x.graph, x.id) : 0}; }
krf_expr krf_atleast_1d(krf_expr x) { return (krf_expr){x.graph, krf__expr_check("atleast_1d", x) ? krf__build_at_least(x.graph, x.id, 1) : 0}; }
krf_expr krf_atleast_2d(krf_expr x) { return (krf_expr){x.graph, krf__expr_check("atleast_2d", x) ? krf__build_at_least(x.graph, x.id, 2) : 0}; }
krf_expr krf_atleast_3d(krf_expr x) { return (krf_expr){x.graph, krf__expr_check("atleast_3d", x) ? krf__build_at_least(x.graph, x.id, 3) : 0}; }

void krf_split(krf_expr x, int sections, int axis, krf_expr *parts) {
    bool valid = with_list("split", x, sections, parts);
    if (valid && sections == 0) {
        krf__build_section(x.graph, x.id, 0, 0, axis); /* the error */
    }
    for (int k = 0; parts != NULL && k < sections; k++) {
        parts[k] = (krf_expr){x.graph, valid ? krf__build_section(x.graph, x.id, sections, k, axis) : 0};
    }
}

krf_expr krf_roll(krf_expr x, int n, const int64_t *shifts, const int *axes) {
    bool valid = with_list("roll", x, n, shifts);
    if (valid && axes == NULL && n != 1) {
        krf__graph_fail(x.graph, KRF_E_ARGUMENT, "roll: %d shifts for no axes", n);
        valid = false;
    }
    return (krf_expr){x.graph, valid ? krf__build_roll(x.graph, x.id, n, shifts, axes) : 0};
}

krf_expr krf_repeat(krf_expr x, int64_t count, int axis) {
    return (krf_expr){x.graph, krf__expr_check("repeat", x) ? krf__build_repeat(x.graph, x.id, count, axis) : 0};
}

krf_expr krf_tile(krf_expr x, int n, const int64_t *counts) {
    return (krf_expr){x.graph, with_list("tile", x, n, counts) ? krf__build_tile(x.graph, x.id, n, counts) : 0};
}

krf_expr krf_pad(krf_expr x, const int64_t *widths, krf_pad_mode mode, krf_expr value) {
    bool given = value.graph != NULL, valid = given ? two("pad", x, value) : krf__expr_check("pad", x);
    valid = valid && with_list("pad", x, krf_expr_rank(x), widths);
    uint32_t fill = !valid ? 0 : given ? value.id : krf__build_int(x.graph, 0, true);
    return (krf_expr){x.graph, valid ? krf__build_pad(x.graph, x.id, widths, mode, fill) : 0};
}

typedef uint32_t join_function(krf_graph *g, int n, const uint32_t *xs, int axis);

static krf_expr join(const char *name, join_function *build, int n, const krf_expr *xs, int axis) {
    uint32_t *ids = ids_of(name, n, xs);
    krf_expr y = {n > 0 && xs != NULL ? xs[0].graph : NULL, 0};
    if (ids != NULL) {
        y.id = build(y.graph, n, ids, axis);
    }
    krf__mem_free(ids);
    return y;
}

krf_expr krf_concatenate(int n, const krf_expr *xs, int axis) { return join("concatenate", krf__build_concatenate, n, xs, axis); }
krf_expr krf_stack(int n, const krf_expr *xs, int axis) { return join("stack", krf__build_stack, n, xs, axis); }

krf_expr krf_set_slice(krf_expr x, int n, const krf_range *ranges, krf_expr value) {
    bool valid = with_list("set_slice", x, n, ranges) && two("set_slice", x, value);
    return (krf_expr){x.graph, valid ? krf__build_set_slice(x.graph, x.id, n, ranges, value.id) : 0};
}

krf_expr krf_trace(krf_expr x, int64_t offset, int axis1, int axis2) {
    return (krf_expr){x.graph, krf__expr_check("trace", x) ? krf__build_trace(x.graph, x.id, offset, axis1, axis2) : 0};
}

krf_expr krf_diff(krf_expr x, int n, int axis) {
    return (krf_expr){x.graph, krf__expr_check("diff", x) ? krf__build_diff(x.graph, x.id, n, axis) : 0};
}

krf_expr krf_indices(krf_graph *graph, int rank, const int64_t *shape) {
    if (graph != NULL && rank > 0 && shape == NULL) {
        return (krf_expr){graph, krf__graph_fail(graph, KRF_E_ARGUMENT, "indices: the shape is NULL")};
    }
    return (krf_expr){graph, graph != NULL ? krf__build_indices(graph, rank, shape) : 0};
}
