/* What a reduction needs besides its operands: scratch memory and tickets. */
#include "plan/kernel.h"

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Of rounds: every row's values, then the partial results of the round that has most. */
static size_t rounds_scratch(const krf__kernel *k) {
    size_t most = 0;
    for (uint32_t r = 0; r < k->n_rounds; r++) {
        size_t partials = k->chunks > 1 ? (size_t)k->chunks * k->rounds[r].n_reductions : 0;
        most = partials > most ? partials : most;
    }
    return (size_t)k->kept_size * (k->n_inner + most) * 8;
}

size_t krf__scratch_bytes(const krf__kernel *k) {
    if (k->n_rounds > 0) {
        return rounds_scratch(k);
    }
    if (k->chained) {
        return (size_t)(k->kept_size * k->chunks) * krf__chain_words(k) * 8;
    }
    if (k->schedule == KRF__SCAN && k->columns == KRF__SCAN_COLUMNS) { /* of the CPU: columns of their own to the end */
        return 0;
    }
    if (k->schedule == KRF__SCAN && k->side && k->chunks > 1) {
        const int64_t words = 2 * divide_up(k->reduced_size, KRF__SCAN_TILE) + divide_up(k->reduced_size, KRF__SCAN_SHARE);
        return (size_t)(k->kept_size * words) * krf__accumulator_words_before(k, k->n_reductions) * 8;
    }
    const size_t each = k->schedule == KRF__SCAN ? 16 : 8; /* of scans, also what comes before */
    return k->n_reductions == 0 || k->chunks <= 1 || k->schedule == KRF__REDUCE_ROW ? 0 : (size_t)(k->kept_size * k->chunks) * krf__accumulator_words_before(k, k->n_reductions) * each;
}

int krf__scan_words(const krf__kernel *k) {
    const bool single = k->n_reductions == 1 && krf__accumulator_words(k, 0) == 1;
    return !single ? 1 : krf_dtype_size((krf_dtype)k->instrs[k->n_domain].dtype) <= 4 ? 2 : 4;
}

size_t krf__ticket_count(const krf__kernel *k) {
    if (k->n_reductions == 0 || k->chunks <= 1 || (k->side && k->schedule != KRF__SCAN) || k->schedule == KRF__REDUCE_ROW) {
        return 0;
    }
    if (k->schedule == KRF__SCAN) {
        const int64_t tiles = divide_up(k->reduced_size, KRF__SCAN_TILE), groups = divide_up(tiles, KRF__SCAN_GROUP), shares = k->side ? divide_up(k->reduced_size, KRF__SCAN_SHARE) : 0;
        const int64_t done = k->side ? tiles * divide_up(k->kept_size, k->columns) : 0; /* by blocks, of their tiles */
        return 2 + (size_t)(done + done % 2) + (krf__scan_words(k) > 2 ? 4 : 2) * (size_t)(k->kept_size * (shares + tiles + groups)); /* a word of each, or two */
    }
    return (size_t)(k->schedule == KRF__REDUCE_COL ? divide_up(k->kept_size, krf__column_tile(k)) : k->relay ? 2 * k->kept_size : k->kept_size); /* of a relay a second one, of chunks that are taken */
}
