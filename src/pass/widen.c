/* Reductions down a few columns, on a GPU: where these are no whole words of a thread, as many rows as come in whole words are taken for one, if any order will do, and what the columns of these came to is
 * reduced in turn. Threads would have a column each, or, of a handful, accumulators of all of them for which there are no registers (H200, largest of [.., 9] u8 0.055 of the copy bandwidth, of [.., 5] 0.15). */
#include "base/fail.h"
#include "base/mem.h"
#include "ir/array.h"
#include "ir/build.h"
#include "ir/build_movement.h"
#include "pass/pass.h"

#include <string.h>

enum { WORD = 16, MOST_COLUMNS = 512, SAME = 0, OTHER = UINT8_MAX };

/* What takes columns that are the words of a thread. */
static const struct {
    krf__op op, combine;
    bool reals;
} ops[] = {{KRF__sum, KRF__add, false}, {KRF__max, KRF__maximum, true}, {KRF__min, KRF__minimum, true}, {KRF__any, KRF__logical_or, false}, {KRF__all, KRF__logical_and, false}};

typedef struct widening {
    const krf_graph *in;
    krf_graph *out;
    const krf__limits *limits;
    uint32_t *map;
    uint8_t *bytes; /* of the widest element of the arrays without gaps that a node is made of, element by element; SAME: of none, it is a number; OTHER: of something else */
} widening;

static bool is_dense(const krf_graph *g, const krf__node *n) { return n->op == KRF__placeholder ? !g->placeholders[n->value].strided : krf__array_contiguous(g->arrays[n->value]); }

static uint8_t bytes_of(const widening *w, uint32_t id) {
    const krf__node *n = krf__node_of(w->in, id);
    const bool each = (krf__op_info_of((krf__op)n->op)->class_ == KRF__CLASS_ELEMENTWISE && n->op != KRF__call) || n->op == KRF__cast;
    uint8_t most = SAME;
    if (krf__node_of(w->in, krf__unbroadcast(w->in, id))->rank == 0) {
        return SAME;
    }
    if (n->op == KRF__placeholder || n->op == KRF__input) {
        return is_dense(w->in, n) ? (uint8_t)krf_dtype_size((krf_dtype)n->dtype) : OTHER;
    }
    for (int k = 0; k < krf__op_info_of((krf__op)n->op)->arity && each; k++) {
        most = w->bytes[n->args[k]] > most ? w->bytes[n->args[k]] : most;
    }
    return each ? most : OTHER;
}

static int divisor(int a, int b) { return b == 0 ? a : divisor(b, a % b); }

/* Bytes of a reduction, from which on that is faster than what threads do by themselves, which waits for memory that the second cache does not have (H200; one kernel more takes 2.5 us). Extremes of a handful of bytes
 * need more registers than there are; sums of words of them, and words of four bytes, do well as they are. */
static int64_t least_size(const krf__limits *limits, int bytes, int columns, bool sums) {
    enum { OF_BYTES = 16, ROW_OF_BYTES = 8, FEW = 4, SHARE = 4, FEW_WORDS = 5, PAIR = 2 };
    const bool many = bytes == 1 && columns < OF_BYTES && columns != ROW_OF_BYTES && (columns > ROW_OF_BYTES || (!sums && columns > FEW));
    const bool never = (sums && (columns * bytes == 2 || columns * bytes == 4)) || (bytes == 4 && (columns == PAIR || (!sums && columns <= FEW_WORDS)));
    return never && limits->widen > 0 ? INT64_MAX : many ? limits->widen / SHARE : limits->widen;
}

/* How many rows are one then; 1: no more. The last of the reduced axes, which are the first ones, is that of the rows. */
static int rows_together(const widening *w, uint32_t id, int *axis, size_t *which) {
    const krf__node *n = krf__node_of(w->in, id), *x = krf__node_of(w->in, n->args[0]);
    const int64_t mask = krf__ints_of(w->in, id)[0], *shape = krf__shape_of(w->in, n->args[0]);
    const int bytes = w->bytes[n->args[0]], word = bytes == SAME || bytes > WORD / 4 ? 1 : WORD / bytes;
    int64_t columns = 1, size = bytes;
    for (*axis = -1; *axis + 1 < x->rank && (mask >> (*axis + 1) & 1) != 0;) {
        ++*axis;
    }
    for (*which = 0; *which < sizeof ops / sizeof *ops && (ops[*which].op != (krf__op)n->op || (krf__is_real((krf_dtype)n->dtype) && !ops[*which].reals));) {
        ++*which;
    }
    for (int d = 0; d < x->rank; d++) {
        columns *= d > *axis ? shape[d] : 1;
        size *= shape[d];
    }
    const bool first = *axis >= 0 && *axis < x->rank - 1 && mask == ((int64_t)2 << *axis) - 1 && x->rank < KRF_MAX_RANK && *which < sizeof ops / sizeof *ops;
    if (!first || word == 1 || columns <= 1 || columns > MOST_COLUMNS || columns % word == 0 || size < least_size(w->limits, bytes, (int)columns, n->op == KRF__sum)) {
        return 1;
    }
    const int together = word / divisor(word, (int)columns);
    return together * columns <= MOST_COLUMNS && together <= shape[*axis] ? together : 1;
}

/* Over the first axes, `n` of them. */
static uint32_t reduced(krf_graph *g, krf__op op, uint32_t x, int n) {
    int axes[KRF_MAX_RANK];
    for (int d = 0; d < n; d++) {
        axes[d] = d;
    }
    return x == 0 ? 0 : krf__build_reduce(g, op, x, n, axes, false);
}

/* x[..., rows, columns...] -> x[..., rows / together, together, columns...], of which all but the last rows are taken, and these by themselves. */
static uint32_t widened(widening *w, uint32_t id, int together, int axis, size_t which) {
    krf_graph *g = w->out;
    const krf__node *n = krf__node_of(w->in, id);
    const int64_t *of = krf__shape_of(w->in, n->args[0]), rows = of[axis], whole = rows - rows % together;
    const int rank = krf__node_of(w->in, n->args[0])->rank;
    int64_t shape[KRF_MAX_RANK];
    memcpy(shape, of, (size_t)(axis + 1) * sizeof *shape);
    memcpy(shape + axis + 2, of + axis + 1, (size_t)(rank - axis - 1) * sizeof *shape);
    shape[axis] = whole / together;
    shape[axis + 1] = together;
    const uint32_t x = w->map[n->args[0]], all = whole == rows ? x : krf__build_part(g, x, axis, 0, whole), parted = all == 0 ? 0 : krf__build_reshape(g, all, rank + 1, shape);
    uint32_t result = reduced(g, ops[which].op, reduced(g, ops[which].op, parted, axis + 1), 1);
    if (whole < rows && result != 0) {
        const uint32_t left = krf__build_part(g, x, axis, whole, rows), of_left = reduced(g, ops[which].op, left, axis + 1);
        result = of_left == 0 ? 0 : krf__build(g, ops[which].combine, 2, (uint32_t[]){result, of_left});
    }
    result = result == 0 ? 0 : krf__build_cast(g, result, (krf_dtype)n->dtype);
    return result == 0 ? 0 : krf__build_reshape(g, result, n->rank, krf__shape_of(w->in, id));
}

static bool make(widening *w, uint32_t id) {
    krf__node n = *krf__node_of(w->in, id);
    const bool reduces = krf__op_info_of((krf__op)n.op)->class_ == KRF__CLASS_REDUCE;
    int axis = 0;
    size_t which = 0;
    w->bytes[id] = bytes_of(w, id);
    const int together = reduces ? rows_together(w, id, &axis, &which) : 1;
    if (together > 1) {
        w->map[id] = widened(w, id, together, axis, which);
    } else if (!krf__copy_leaf(w->in, id, w->out, &w->map[id])) {
        for (int k = 0; k < 3; k++) {
            n.args[k] = w->map[n.args[k]];
        }
        w->map[id] = krf__graph_add(w->out, &n, krf__shape_of(w->in, id), krf__ints_of(w->in, id));
    }
    return w->map[id] != 0;
}

krf_status krf__widen(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out) {
    krf_status status = krf__canon(in, 0, NULL, out);
    if (status != KRF_OK) {
        return status;
    }
    widening w = {in, out, limits, krf__calloc(in->n_nodes, sizeof *w.map), krf__calloc(in->n_nodes, 1)};
    status = w.map == NULL || w.bytes == NULL ? krf__fail_memory() : KRF_OK;
    for (uint32_t id = 1; id < in->n_nodes && status == KRF_OK; id++) {
        status = make(&w, id) ? KRF_OK : out->status;
    }
    for (int k = 0; k < n && status == KRF_OK; k++) {
        outputs[k] = w.map[outputs[k]];
    }
    krf__mem_free(w.map);
    krf__mem_free(w.bytes);
    if (status != KRF_OK) {
        krf__graph_free(out);
    }
    return status;
}

bool krf__has_columns(const krf_graph *g, const krf__limits *limits) {
    bool any = false;
    for (uint32_t id = 1; id < g->n_nodes && !any; id++) {
        any = krf__op_info_of((krf__op)krf__node_of(g, id)->op)->class_ == KRF__CLASS_REDUCE;
    }
    return any && limits->many_threads;
}
