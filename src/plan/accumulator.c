/* What the accumulators of a reduction take, and how many columns' the CPU has room for. */
#include "plan/kernel.h"

uint32_t krf__accumulator_words(const krf__kernel *k, uint32_t r) {
    const krf__instr *i = &k->instrs[k->n_domain + r];
    if (!krf__op_is_fold((krf__op)i->op)) {
        return 1;
    }
    return (uint32_t)krf__result_of(i->value)->op->map->n_results; /* none takes more than 8 bytes */
}

uint32_t krf__accumulator_words_before(const krf__kernel *k, uint32_t r) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < r; i++) {
        words += krf__accumulator_words(k, i);
    }
    return words;
}

size_t krf__accumulator_size(const krf__kernel *k, uint32_t r) {
    const uint32_t words = krf__accumulator_words(k, r);
    return words > 1 ? 8 * (size_t)words : krf_dtype_size((krf_dtype)k->instrs[k->n_domain + r].dtype);
}

size_t krf__accumulator_bytes(const krf__kernel *k) {
    size_t bytes = 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        size_t size = krf__any_order(k) && krf__narrow_sum(k, r) ? 4 : krf_dtype_size((krf_dtype)k->instrs[k->n_domain + r].dtype);
        bytes += (size < 4 ? 4 : size) * krf__accumulator_words(k, r);
    }
    return bytes;
}

int krf__lane_bytes(const krf__kernel *k) {
    int bytes = 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        const int size = (int)krf__accumulator_size(k, r);
        bytes += size < 4 ? 4 : size;
    }
    return bytes;
}

static bool has_few_accumulators(const krf__kernel *k) { return krf__accumulator_words_before(k, k->n_reductions) <= 4; }

int krf__column_most(const krf__kernel *k) { return has_few_accumulators(k) ? 4 * KRF__COLUMN_SIDE : KRF__COLUMN_SIDE; }

int krf__column_side(const krf__kernel *k) {
    const int most = krf__column_most(k);
    return k->kept_size <= most && k->chunks >= KRF__COLUMN_CHUNKS ? most : KRF__COLUMN_SIDE;
}

/* At least 10 times as many as a lane has results: the tree has 9 levels. */
int krf__column_held(const krf__kernel *k) { return has_few_accumulators(k) ? 16384 : 8192; }
