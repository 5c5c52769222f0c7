/* Reductions of a few elements of which threads that have results of their own read memory side by side all the same: it is the same for all results, or for all elements of one, as where values are compared with a few
 * bounds; it comes by words of bytes or halves; or it is a small matrix by which all rows are multiplied. */
#include "pass/lower_beside.h"

#include "pass/under.h"

enum { WORD_ELEMENTS = 8 /* more than are written out anyway */, MOST_COLUMNS = 16 };

/* Whether rows of a leaf are a word of bytes or halves, as bits that are packed. */
static bool is_word(const krf_graph *g, uint32_t leaf) {
    const krf__layout layout = krf__memory_layout(g, leaf);
    const int last = layout.rank - 1;
    return last > 0 && krf_dtype_size(krf__dtype_of(g, leaf)) <= 2 && layout.shape[last] == WORD_ELEMENTS && layout.strides[last] == 1 && layout.strides[last - 1] == WORD_ELEMENTS;
}

/* Whether no axis before those that are reduced moves. */
static bool apart_from(const krf__layout *layout, int64_t mask) {
    bool apart = true;
    for (int i = 0; i < layout->rank && (mask >> i & 1) == 0; i++) {
        apart &= layout->shape[i] == 1 || layout->strides[i] == 0;
    }
    return apart;
}

/* Whether that holds of a leaf, whose axes are aligned at the last one, under a reduction over those of the mask. products: its last axis is short, and stays. */
static bool lies_beside(const krf_graph *g, uint32_t leaf, int rank, int64_t mask, bool products) {
    const krf__layout layout = krf__memory_layout(g, leaf);
    bool kept = false, reduced = false, last = false;
    for (int i = 0; i < layout.rank; i++) {
        const bool moves = layout.shape[i] > 1 && layout.strides[i] != 0, here = (mask >> (i + rank - layout.rank) & 1) != 0;
        reduced |= moves && here;
        kept |= moves && !here;
        last |= moves && i == layout.rank - 1;
    }
    const bool shared = products && reduced && (!last || apart_from(&layout, mask >> (rank - layout.rank)));
    return !(kept && reduced) || shared || is_word(g, leaf);
}

bool krf__lower_reads_beside(const krf__lowering *l, uint32_t reduction) {
    const uint32_t x = krf__node_of(l->in, reduction)->args[0];
    const int64_t mask = krf__ints_of(l->in, reduction)[0];
    const int rank = krf__node_of(l->in, x)->rank;
    const bool products = rank > 0 && (mask >> (rank - 1) & 1) == 0 && krf__shape_of(l->in, x)[rank - 1] <= MOST_COLUMNS;
    krf__under under;
    bool beside = rank <= KRF_MAX_RANK && krf__find_under(l->out, 1, &l->map[x], KRF__MOST_REPEATED, &under);
    for (uint32_t i = 0; beside && i < under.n_computed; i++) {
        const krf__op op = (krf__op)krf__node_of(l->out, under.computed[i])->op;
        beside = op != KRF__gather;
    }
    for (uint32_t i = 0; beside && i < under.n_leaves; i++) {
        beside = krf__op_is_leaf((krf__op)krf__node_of(l->out, under.leaves[i])->op) && lies_beside(l->out, under.leaves[i], rank, mask, products);
    }
    return beside;
}
