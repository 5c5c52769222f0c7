/* Of kernels of several rounds, and of rows that lie side by side: warps, threads and blocks of a row, and what shared memory holds of it. */
#include "plan/kernel.h"

/* `each` elements a thread, as long as there are threads for it. */
int krf__side_threads(const krf__kernel *k) { return k->length <= k->each ? 1 : k->length < 32 * k->each ? k->length / k->each : 32; }

int krf__side_elements(const krf__kernel *k) {
    const int threads = krf__side_threads(k);
    return krf__literal_chunk(k) ? ((int)k->reduced_size + threads - 1) / threads : k->length / threads;
}

int krf__side_lanes(const krf__kernel *k) {
    const int lanes = KRF__LANES / krf__side_threads(k), elements = krf__side_elements(k);
    return elements < lanes ? elements : lanes;
}

int krf__row_warps(const krf__kernel *k) {
    int warps = 1;
    while (warps < k->chunks) {
        warps *= 2;
    }
    return warps;
}

int krf__row_share(const krf__kernel *k) { return k->chunks_each > 1 ? k->chunks_each : 1; }

/* Small blocks: rows side by side wait for each other, and make room for others together. */
int krf__row_rows(const krf__kernel *k) {
    if (k->schedule == KRF__ROW_COL) {
        return k->columns;
    }
    return krf__row_warps(k) < 4 && k->cluster == 1 ? 4 / krf__row_warps(k) : 1;
}

int krf__row_threads(const krf__kernel *k) {
    const int of_row = k->schedule == KRF__ROW_COL ? krf__side_threads(k) : 32 * krf__row_warps(k) / krf__row_share(k) / k->cluster;
    return of_row * krf__row_rows(k);
}

bool krf__copied_beside(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    bool along = false;
    for (int d = k->n_kept; d < k->n_kept + k->n_reduced; d++) {
        along |= o->strides[d] != 0;
    }
    return along && o->strides[k->n_kept - 1] != 0 && !o->store && o->inner == 0 && !o->counts && !o->gathered && krf__rounds_with(k, operand) > 1;
}

bool krf__holds_rows(const krf__kernel *k) {
    bool any = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        any |= k->operands[i].held;
    }
    return any;
}

uint32_t krf__held_words(const krf__kernel *k, uint32_t operand) {
    const uint32_t elements = 16 / (uint32_t)krf_dtype_size((krf_dtype)k->operands[operand].dtype);
    return k->operands[operand].held ? (uint32_t)(k->chunk * krf__row_share(k)) / elements + (k->vector == 1) : 0;
}

uint32_t krf__held_of_warp(const krf__kernel *k) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        words += krf__held_words(k, i);
    }
    return words;
}

uint32_t krf__held_bytes(const krf__kernel *k) { return 16 * krf__held_of_warp(k) * (uint32_t)krf__row_threads(k) / 32; }
