/* Gradients through views: an element that a view shows once gets its gradient back, one that it does not show 0, one that it shows several times the
 * sum. */
#include "ir/adjoint.h"

#include "ir/build_composed.h"
#include "ir/build_movement.h"

#include <string.h>

static int rank_of(const krf_graph *g, uint32_t x) { return krf__node_of(g, x)->rank; }

uint32_t krf__zeros(krf_graph *g, krf_dtype dtype, int rank, const int64_t *shape) {
    int64_t extents[KRF_MAX_RANK]; /* those given may lie in the graph, which grows */
    memcpy(extents, shape, (size_t)rank * sizeof *extents);
    return krf__build_broadcast_to(g, krf__build_astype(g, krf__build_int(g, 0, true), dtype), rank, extents);
}

uint32_t krf__adjoint_stretched(krf_graph *g, uint32_t c, int from_rank, const int64_t *from, int to_rank, const int64_t *to) {
    if (c == 0) {
        return 0;
    }
    const int rank = rank_of(g, c), missing = from_rank - to_rank;
    int64_t shape[KRF_MAX_RANK], repeated = 1;
    int axes[KRF_MAX_RANK], n = 0;
    bool whole = to_rank == 0;
    for (int i = 0; i < rank; i++) {
        const int at = i + from_rank - rank; /* among the axes of `from` */
        const bool gone = at < missing || (to[at - missing] == 1 && from[at] != 1);
        shape[i] = krf__shape_of(g, c)[i];
        if (gone && shape[i] != 1) {
            axes[n++] = i;
            shape[i] = 1;
        }
    }
    for (int at = 0; at < from_rank; at++) {
        const int i = at - (from_rank - rank);
        const bool gone = at < missing || to[at - missing] == 1, one = i < 0 || krf__shape_of(g, c)[i] == 1;
        repeated *= gone && one ? from[at] : 1;
    }
    if (n > 0) {
        c = krf__build_reduce(g, KRF__sum, c, n, whole ? NULL : axes, !whole);
    }
    if (c != 0 && rank_of(g, c) > to_rank) {
        c = krf__build_reshape(g, c, to_rank, shape + (rank - to_rank));
    }
    return c == 0 || repeated == 1 ? c : krf__build(g, KRF__multiply, 2, (uint32_t[]){c, krf__build_real(g, (double)repeated, false)});
}

static uint32_t transposed_back(krf_graph *g, const krf__node *n, const int64_t *order, uint32_t G) {
    int back[KRF_MAX_RANK];
    for (int i = 0; i < n->rank; i++) {
        back[order[i]] = i;
    }
    return krf__build_transpose(g, G, back);
}

/* Zeros in the operand's shape, and G in the slice. */
static uint32_t slice_back(krf_graph *g, uint32_t id, uint32_t G) {
    const krf__node n = *krf__node_of(g, id);
    krf_range ranges[KRF_MAX_RANK];
    for (int i = 0; i < n.rank; i++) {
        const int64_t start = krf__ints_of(g, id)[2 * i], step = krf__ints_of(g, id)[2 * i + 1], extent = krf__shape_of(g, id)[i];
        const int64_t stop = start + (extent - 1) * step + (step > 0 ? 1 : -1); /* below 0: all the way down */
        ranges[i] = (krf_range){start, extent == 0 ? start : stop < 0 ? KRF_NONE : stop, step};
    }
    uint32_t zeros = krf__zeros(g, (krf_dtype)krf__node_of(g, G)->dtype, n.rank, krf__shape_of(g, n.args[0]));
    return zeros == 0 ? 0 : krf__build_set_slice(g, zeros, n.rank, ranges, G);
}

/* The diagonal's axis twice, as rows and as columns, and 0 beside the diagonal. */
static uint32_t diagonal_back(krf_graph *g, uint32_t id, uint32_t G) {
    const krf__node n = *krf__node_of(g, id);
    const int64_t offset = krf__ints_of(g, id)[0], length = krf__shape_of(g, id)[n.rank - 1];
    const int axis1 = (int)krf__ints_of(g, id)[1], axis2 = (int)krf__ints_of(g, id)[2];
    const int64_t rows = krf__shape_of(g, n.args[0])[axis1], columns = krf__shape_of(g, n.args[0])[axis2];
    const int64_t before = offset < 0 ? -offset : 0;
    int64_t widths[2 * KRF_MAX_RANK] = {0};
    if (length == 0) {
        return krf__zeros(g, (krf_dtype)n.dtype, n.rank + 1, krf__shape_of(g, n.args[0]));
    }
    widths[2 * n.rank - 2] = before;
    widths[2 * n.rank - 1] = rows - before - length;
    G = krf__build_pad(g, G, widths, KRF_PAD_EDGE, krf__build_int(g, 0, true));
    G = krf__build_expand_dims(g, G, n.rank);
    uint32_t there = krf__build_eye(g, rows, columns, offset, KRF_BOOL);
    G = krf__build(g, KRF__where, 3, (uint32_t[]){there, G, krf__build_int(g, 0, true)});
    return krf__build_move_axes(g, G, 2, (int[]){n.rank - 1, n.rank}, (int[]){axis1, axis2});
}

/* One window, the last axis of G, along `axis`: element j is shown at (j - k, k) for every k of the window; these lie on a diagonal of G padded. */
static uint32_t window_back(krf_graph *g, uint32_t G, int axis) {
    const int rank = rank_of(g, G);
    const int64_t window = krf__shape_of(g, G)[rank - 1];
    int64_t widths[2 * KRF_MAX_RANK] = {0};
    if (window == 1) {
        return krf__build_squeeze(g, G, -1);
    }
    widths[2 * axis] = widths[2 * axis + 1] = window - 1;
    G = krf__build_pad(g, G, widths, KRF_PAD_CONSTANT, krf__build_int(g, 0, true));
    G = krf__build_windows(g, krf__build_flip(g, G, -1), 1, &window, &axis);
    G = rank == KRF_MAX_RANK ? krf__graph_fail(g, KRF_E_SHAPE, "grad: sliding_window_view: rank %d leaves no axis for the gradient", rank)
                             : krf__build_diagonal(g, G, 0, rank - 1, rank);
    return krf__build_reduce(g, KRF__sum, G, 1, (int[]){-1}, false);
}

static uint32_t windows_back(krf_graph *g, uint32_t id, uint32_t G) {
    const krf__node n = *krf__node_of(g, id);
    if (krf__shape_size(n.rank, krf__shape_of(g, id)) == 0) {
        return krf__zeros(g, (krf_dtype)n.dtype, rank_of(g, n.args[0]), krf__shape_of(g, n.args[0]));
    }
    for (int k = (int)n.n_ints - 1; k >= 0 && G != 0; k--) {
        G = window_back(g, G, (int)krf__ints_of(g, id)[k]);
    }
    return G;
}

uint32_t krf__adjoint_view(krf_graph *g, uint32_t id, uint32_t G) {
    const krf__node n = *krf__node_of(g, id);
    int64_t shape[KRF_MAX_RANK];
    const int rank = rank_of(g, n.args[0]);
    if (G == 0) {
        return 0;
    }
    memcpy(shape, krf__shape_of(g, n.args[0]), (size_t)rank * sizeof *shape);
    switch ((krf__op)n.op) {
    case KRF__transpose: return transposed_back(g, &n, krf__ints_of(g, id), G);
    case KRF__slice: return slice_back(g, id, G);
    case KRF__broadcast_to: return krf__adjoint_stretched(g, G, n.rank, krf__shape_of(g, id), rank, shape);
    case KRF__diagonal: return diagonal_back(g, id, G);
    case KRF__sliding_window_view: return windows_back(g, id, G);
    default: return krf__build_reshape(g, G, rank, shape);
    }
}
