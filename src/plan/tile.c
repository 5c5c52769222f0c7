/* Whether a map goes over its elements by squares of two dimensions, and over words of them. */
#include "plan/schedule.h"

/* The dimension along which most of those loads are contiguous that are not along the last one; -1: none is. */
static int crossed(krf__kernel *k) {
    int best = -1, most = 0;
    for (int d = k->n_kept - 2; d >= 0; d--) {
        int loads = 0;
        k->tile = d;
        for (uint32_t i = 0; i < k->n_operands; i++) {
            loads += krf__tile_crosses(k, &k->operands[i]);
        }
        if (loads > most && k->extents[d] >= KRF__TILE_LEAST && krf__tile_bytes(k) <= KRF__TILE_MOST_BYTES) {
            most = loads;
            best = d;
        }
    }
    return best;
}

static int tile_dim(krf__kernel *k, const krf__limits *limits) {
    const int fast = k->n_kept - 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->gathered || (o->half && !limits->many_threads) || (o->store && o->strides[fast] != (o->half ? 2 : 1))) {
            return -1;
        }
    }
    return k->extents[fast] >= KRF__TILE_LEAST ? crossed(k) : -1;
}

/* Whether words of v elements of an operand, along one of the dimensions of a tile, are words of memory. */
static bool has_words(const krf__kernel *k, const krf__operand *o, int v) {
    const int along = krf__tile_crosses(k, o) ? k->tile : k->n_kept - 1;
    bool whole = o->strides[along] == 1 && o->offset % v == 0;
    for (int d = 0; d < k->n_kept; d++) {
        whole &= d == along || o->strides[d] % v == 0;
    }
    return whole;
}

/* Whether all that is read and written has elements of one size and lies in whole words of v. */
static bool all_in_words(const krf__kernel *k, int v) {
    const int fast = k->n_kept - 1, size = (int)krf_dtype_size((krf_dtype)k->operands[0].dtype);
    bool whole = k->extents[fast] % v == 0 && k->extents[k->tile] % v == 0;
    for (uint32_t i = 0; i < k->n_operands && whole; i++) {
        const krf__operand *o = &k->operands[i];
        const bool stays = !o->store && o->strides[fast] == 0; /* while a word is computed */
        whole &= !o->counts && (int)krf_dtype_size((krf_dtype)o->dtype) == size && (stays || has_words(k, o, v));
    }
    return whole;
}

/* How many elements a tile's words have: as many as 4 bytes hold; of halves and of four bytes, where one operand alone is read, as many as 8 do (transposes of bf16 0.0682 -> 0.0667 ms of an H200, permutations of f32 0.2674 and 0.2749 -> 0.2652 and 0.2720). */
static int tile_vector(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const int fast = k->n_kept - 1, size = (int)krf_dtype_size((krf_dtype)k->operands[0].dtype);
    const bool may = limits->vectors != 0 && !unaligned && size <= 4 && k->extents[fast] > 32 && k->extents[k->tile] > 32, alone = k->n_operands == 2 && size > 1;
    int v = alone ? 8 / size : 4 / size;
    v = v * size > 4 && !all_in_words(k, v) ? 4 / size : v;
    k->vector = may && v > 1 && all_in_words(k, v) ? v : 1;
    return krf__tile_bytes(k) <= KRF__TILE_MOST_BYTES ? k->vector : 1;
}

void krf__kernel_tile(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const int tile = tile_dim(k, limits);
    k->schedule = tile >= 0 ? KRF__TILE : KRF__MAP;
    k->tile = tile >= 0 ? tile : 0;
    k->vector = tile >= 0 ? tile_vector(k, unaligned, limits) : k->vector;
    if (tile < 0 && k->vector == 1 && limits->vectors != 0) {
        krf__kernel_across(k);
    }
    if (tile < 0 && !k->across && limits->strips != 0) {
        krf__kernel_strips(k, unaligned, limits);
    }
}
