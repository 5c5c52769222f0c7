#include "ir/cut.h"

#include "ir/build_movement.h"

#define WHOLE 1024 /* elements of the last axis: rows of whole chunks of the canonical tree are read fastest */
#define VECTOR 8   /* whose parts are whole vectors */

/* The most elements, a multiple of `step`, that leave none of an axis over; 0: none do. */
static int64_t exact_length(int64_t extent, int64_t least, int64_t most, int64_t step) {
    for (int64_t length = most - most % step; length >= least && length > 0; length -= step) {
        if (extent % length == 0) {
            return length;
        }
    }
    return 0;
}

/* Elements of an axis that become a part: as many as leave none over, or the most. */
static int64_t length_of(int64_t extent, int64_t least, int64_t most, bool last, bool in_vectors) {
    const int64_t step = last && most >= WHOLE ? WHOLE : 1;
    int64_t length = exact_length(extent, least, most, step);
    length = length == 0 && last && in_vectors ? exact_length(extent, least, most, VECTOR) : length;
    return length == 0 ? most - most % step : length;
}

/* Where a piece is one part there is nothing but its elements, unless other axes are reduced outside of it. */
static void find_inner(krf__cut *cut, krf__piece *piece, int end) {
    const bool alone = piece->parts == 1 && cut->n_all == 2 + end - cut->axis;
    for (int i = 0; i < cut->n_all; i++) {
        if (alone || (cut->all[i] > cut->axis && cut->all[i] <= end + 1)) {
            piece->inner[piece->n_inner++] = cut->all[i];
        }
    }
}

bool krf__cut_of(krf_graph *g, uint32_t x, const krf__axes *axes, int64_t target, bool in_vectors, krf__cut *cut) {
    const int rank = x == 0 ? 0 : krf__node_of(g, x)->rank;
    const int64_t *shape = x == 0 ? NULL : krf__shape_of(g, x), least = target / 8;
    int64_t mask, inside = 1;
    if (rank == 0 || rank == KRF_MAX_RANK || !krf__build_axes(g, "", rank, axes->n, axes->of, &mask)) {
        return false;
    }
    int axis = rank - 1;
    while (axis >= 0 && ((mask >> axis & 1) == 0 || shape[axis] == 1)) {
        axis--;
    }
    const int end = axis; /* the last one that is inside of parts */
    for (; axis > 0 && shape[axis] * inside <= target && (mask >> (axis - 1) & 1) != 0; axis--) {
        inside *= shape[axis];
    }
    if (axis < 0 || shape[axis] == 0) {
        return false;
    }
    const int64_t most = target / inside < shape[axis] ? target / inside : shape[axis];
    const int64_t length = length_of(shape[axis], (least + inside - 1) / inside, most, axis == rank - 1, in_vectors), whole = shape[axis] - shape[axis] % length;
    *cut = (krf__cut){.axis = axis, .n_pieces = whole < shape[axis] ? 2 : 1};
    cut->piece[0] = (krf__piece){.to = whole, .parts = whole / length, .size = length * inside};
    cut->piece[1] = (krf__piece){.from = whole, .to = shape[axis], .parts = 1, .size = (shape[axis] - whole) * inside};
    for (int i = 0; i < rank; i++) {
        if ((mask >> i & 1) != 0) {
            cut->all[cut->n_all++] = i > axis ? i + 1 : i;
        }
        if (i == axis) {
            cut->all[cut->n_all++] = axis + 1;
        }
    }
    find_inner(cut, &cut->piece[0], end);
    find_inner(cut, &cut->piece[1], end);
    return cut->piece[0].size >= least;
}

uint32_t krf__cut_out(krf_graph *g, const krf__cut *cut, int piece, uint32_t x) {
    const krf__piece *p = &cut->piece[piece];
    int64_t shape[KRF_MAX_RANK];
    x = krf__build_part(g, x, cut->axis, p->from, p->to);
    if (x == 0) {
        return 0;
    }
    const int rank = krf__node_of(g, x)->rank;
    for (int i = 0; i < rank; i++) {
        shape[i > cut->axis ? i + 1 : i] = krf__shape_of(g, x)[i];
    }
    shape[cut->axis] = p->parts;
    shape[cut->axis + 1] = (p->to - p->from) / p->parts;
    return krf__build_reshape(g, x, rank + 1, shape);
}

uint32_t krf__cut_inner(krf_graph *g, const krf__cut *cut, int piece, krf__op op, uint32_t x) { return krf__build_reduce(g, op, x, cut->piece[piece].n_inner, cut->piece[piece].inner, true); }
uint32_t krf__cut_outer(krf_graph *g, const krf__cut *cut, int piece, krf__op op, uint32_t x) {
    return cut->piece[piece].n_inner == cut->n_all ? x : krf__build_reduce(g, op, x, cut->n_all, cut->all, true);
}
