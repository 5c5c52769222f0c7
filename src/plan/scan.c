/* Scans: how their rows are shared out. */
#include "plan/kernel.h"

bool krf__scan_is_small(const krf__kernel *k) {
    enum { PLAIN = 16 /* instructions */ };
    return k->n_reductions == 1 && krf_dtype_size((krf_dtype)k->instrs[k->n_domain].dtype) <= 4 && krf__accumulator_words(k, 0) == 1 && k->n_instrs < PLAIN;
}

/* Blocks that wait for one another need others beside them: half the threads leave shared memory for more tiles. */
int krf__scan_threads(const krf__kernel *k) { return k->chunks > 1 && krf__scan_is_small(k) ? KRF__LANES / 2 : KRF__LANES; }

int krf__scan_tiles(const krf__kernel *k) { return k->pairs ? 2 : 1; }

int krf__scan_runs(const krf__kernel *k) {
    int runs = k->chunks > 1 || k->side ? KRF__LANES : 1;
    while (runs < KRF__LANES && (int64_t)runs * KRF__SCAN_RUN < k->reduced_size) {
        runs *= 2;
    }
    return runs;
}

bool krf__scans_columns(const krf__kernel *k) {
    bool along = false, across = false;
    for (uint32_t i = 0; i < k->n_operands && k->schedule == KRF__SCAN && k->n_kept > 0 && k->n_reduced > 0; i++) {
        along |= krf__stride_class(k, &k->operands[i], k->n_kept + k->n_reduced - 1) == 1;
        across |= krf__stride_class(k, &k->operands[i], k->n_kept - 1) == 1;
    }
    return across && !along;
}

bool krf__scans_alone(const krf__kernel *k) {
    enum { RUNS = 4 };
    return k->schedule == KRF__SCAN && k->side && k->reduced_size <= RUNS * KRF__SCAN_RUN;
}

uint32_t krf__chain_words(const krf__kernel *k) { return (1 + 2 * krf__accumulator_words_before(k, k->n_reductions) + 7) / 8 * 8; }

bool krf__scans_beside(const krf__kernel *k) { return k->schedule == KRF__SCAN && (k->side || k->columns > 0); }

int64_t krf__scan_rows(const krf__kernel *k) { return krf__scans_beside(k) ? KRF__SCAN_COLUMNS : krf__scans_columns(k) ? k->extents[k->n_kept - 1] : 1; }
