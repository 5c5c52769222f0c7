/* How many results a warp has at once, of reductions whose operands are each the same along the last dimension of the results, or along the row: sums over all pairs of what two points have in common. What all results
 * share is loaded once for so many, instead of by each from the caches, which are then the limit (bench/results). */
#include "plan/vector.h"

#define MOST_LINES 4
#define FREE_LINES 8          /* where a result has one accumulator, as any order serves */
#define SHORT_LINES 8
#define MOST_BYTES 24        /* of a lane's accumulators of all results */
#define MOST_STATEMENTS 1024
#define FROM 8               /* times krf__limits.literal_from, elements of all rows: of fewer there are not warps enough for a GPU */

bool krf__in_lines(const krf__kernel *k, uint32_t operand) {
    bool same = true;
    for (int d = k->n_kept; d < k->n_kept + k->n_reduced; d++) {
        same &= k->operands[operand].strides[d] == 0;
    }
    return same;
}

bool krf__shares_rows(const krf__kernel *k) {
    const int last = k->n_kept - 1;
    bool all = true, mine = false, shared = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (krf__loads(k, i)) {
            const bool same = krf__in_lines(k, i);
            all &= !o->gathered && !o->half && o->inner == 0 && (same || o->strides[last] == 0);
            mine |= same && o->strides[last] != 0;
            shared |= !same;
        }
    }
    return all && mine && shared;
}

/* Whether what rows share is at the same place for all of them. */
static bool same_for_all(const krf__kernel *k) {
    bool all = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        all &= !krf__loads(k, i) || krf__in_lines(k, i) || krf__same_for_rows(k, &k->operands[i]);
    }
    return all;
}

/* A warp that has a chunk of a row, or threads that have a short one, and then the next. */
static bool has_warps(const krf__kernel *k) {
    return (k->schedule == KRF__REDUCE_ALL && k->chunks > 1) || (k->schedule == KRF__REDUCE_ROW && k->chunks == 1) || (k->schedule == KRF__REDUCE_SHORT && k->vector == 1 && k->n_reduced == 1);
}

int krf__kernel_lines(const krf__kernel *k, const krf__limits *limits) {
    const int64_t share = (int64_t)krf__reduce_vectors(k) * k->vector * k->n_domain;
    const bool is_short = k->schedule == KRF__REDUCE_SHORT;
    const bool one = krf__all_order_free(k);
    int lines = is_short ? SHORT_LINES : one ? FREE_LINES : MOST_LINES;
    if (limits->outer == 0 || !has_warps(k) || k->n_reductions == 0 || krf__accumulator_words_before(k, k->n_reductions) != k->n_reductions || krf__costly_domain(k) || krf__stores_elements(k) || k->vector > 8 || !krf__shares_rows(k)
        || k->kept_size < FROM * limits->literal_from / k->reduced_size) {
        return 1;
    }
    if (is_short) {
        return same_for_all(k) && KRF__LINE_ELEMENTS * k->n_domain <= MOST_STATEMENTS ? lines : 1;
    }
    while (lines > 1 && ((size_t)lines * krf__accumulator_bytes(k) > (one ? 8 : 1) * MOST_BYTES || lines * share > MOST_STATEMENTS || lines > k->extents[k->n_kept - 1])) {
        lines /= 2;
    }
    return lines;
}
