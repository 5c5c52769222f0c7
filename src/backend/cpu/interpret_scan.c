/* Scans of the block interpreter, in the order of docs/architecture.md: a tile lies in memory by the place in a run,
 * so that one step of all runs is one call of a loop. */
#include "backend/cpu/interpret_scan.h"

#include "base/fail.h"
#include "base/mem.h"

#include <string.h>

#define WARP 32

typedef struct scanned {
    char *tile;      /* KRF__SCAN_RUN rows of KRF__LANES elements */
    char *total;     /* of each run */
    char *before;    /* what comes before each run */
    uint64_t groups, within, carry; /* bits: what the groups of tiles before come to, the tiles of this group, both */
} scanned;

static const krf__instr *scan_of(const krf__program *p, uint32_t r) { return &p->k->instrs[p->k->n_domain + r]; }

/* The tile's element i, in C order. */
static char *place(const scanned *s, size_t bytes, int64_t i) {
    return s->tile + ((size_t)(i % KRF__SCAN_RUN) * KRF__LANES + (size_t)(i / KRF__SCAN_RUN)) * bytes;
}

static void copy(char *to, const char *from, size_t bytes) {
    switch (bytes) { /* a call for each element would cost more than the scan */
    case 8: memcpy(to, from, 8); break;
    case 4: memcpy(to, from, 4); break;
    case 2: memcpy(to, from, 2); break;
    default: *to = *from;
    }
}

/* The totals of a warp's runs become those of all its runs up to each: Hillis and Steele's steps. */
static void scan_warp(krf__combine_loop *combine, size_t bytes, char *total) {
    char old[WARP * 8];
    for (size_t s = 1; s < WARP; s *= 2) {
        memcpy(old, total, WARP * bytes);
        combine((int64_t)(WARP - s), old, total + s * bytes);
    }
}

/* n elements in place. */
static void scan_tile(krf__combine_loop *combine, int bytes, uint64_t neutral, scanned *s, int64_t first, int64_t n) {
    const size_t b = (size_t)bytes, row = KRF__LANES * b;
    const int64_t runs = (n + KRF__SCAN_RUN - 1) / KRF__SCAN_RUN, warps = (runs + WARP - 1) / WARP;
    char all[8];
    for (int64_t i = n; i < runs * KRF__SCAN_RUN; i++) {
        krf__splat(place(s, b, i), bytes, neutral, 1);
    }
    for (size_t i = 1; i < KRF__SCAN_RUN; i++) {
        combine(runs, s->tile + (i - 1) * row, s->tile + i * row);
    }
    krf__splat(s->total, bytes, neutral, warps * WARP);
    memcpy(s->total, s->tile + (KRF__SCAN_RUN - 1) * row, (size_t)runs * b);
    krf__splat(all, bytes, neutral, 1);
    for (int64_t w = 0; w < warps; w++) {
        char *total = s->total + (size_t)w * WARP * b, *before = s->before + (size_t)w * WARP * b;
        scan_warp(combine, b, total);
        krf__splat(before, bytes, krf__element_bits(all, bytes, 0), WARP);
        combine(WARP - 1, total, before + b); /* the first run: all of it comes from other warps */
        combine(1, total + (WARP - 1) * b, all);
    }
    krf__splat(s->total, bytes, s->carry, runs);
    combine(runs, s->total, s->before);
    for (size_t i = 0; i < KRF__SCAN_RUN; i++) {
        combine(runs, s->before, s->tile + i * row);
    }
    combine(1, all, &s->within);
    if (first / KRF__SCAN_TILE % KRF__SCAN_GROUP == KRF__SCAN_GROUP - 1) {
        combine(1, &s->within, &s->groups);
        krf__splat(&s->within, bytes, neutral, 1);
    }
    s->carry = s->groups;
    combine(1, &s->within, &s->carry);
}

static void scan_row(krf__program *p, scanned *scans, int64_t o) {
    const krf__kernel *k = p->k;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        const krf__instr *in = scan_of(p, r);
        scans[r].carry = krf__identity_bits((krf__op)in->op, (krf_dtype)in->dtype);
        krf__splat(&scans[r].carry, krf__dtype((krf_dtype)in->dtype)->bytes, scans[r].carry, 1);
        scans[r].groups = scans[r].within = scans[r].carry;
    }
    krf__index_of(p->rank[KRF__KEPT], p->extents[KRF__KEPT], o, p->index[KRF__KEPT]);
    krf__program_refresh(p, KRF__PER_RESULT, KRF__LANES);
    for (int64_t first = 0; first < k->reduced_size; first += KRF__SCAN_TILE) {
        const int64_t n = k->reduced_size - first < KRF__SCAN_TILE ? k->reduced_size - first : KRF__SCAN_TILE;
        for (int64_t at = 0; at < n; at += KRF__LANES) {
            const int64_t m = n - at < KRF__LANES ? n - at : KRF__LANES;
            krf__index_of(p->rank[KRF__REDUCED], p->extents[KRF__REDUCED], first + at, p->index[KRF__REDUCED]);
            krf__program_run(p, &p->domain, KRF__REDUCED, m);
            for (uint32_t r = 0; r < k->n_reductions; r++) {
                const size_t bytes = krf__dtype((krf_dtype)scan_of(p, r)->dtype)->bytes;
                const char *x = p->values[scan_of(p, r)->args[0]].at;
                for (int64_t i = 0; i < m; i++) {
                    copy(place(&scans[r], bytes, at + i), x + (size_t)i * bytes, bytes);
                }
            }
        }
        for (uint32_t r = 0; r < k->n_reductions; r++) {
            const krf__instr *in = scan_of(p, r);
            scan_tile(p->loops->combine[in->dtype][krf__op_reduction((krf__op)in->op)], krf__dtype((krf_dtype)in->dtype)->bytes,
                      krf__identity_bits((krf__op)in->op, (krf_dtype)in->dtype), &scans[r], first, n);
        }
        for (int64_t at = 0; at < n; at += KRF__LANES) {
            const int64_t m = n - at < KRF__LANES ? n - at : KRF__LANES;
            for (uint32_t r = 0; r < k->n_reductions; r++) {
                const size_t bytes = krf__dtype((krf_dtype)scan_of(p, r)->dtype)->bytes;
                char *to = p->values[k->n_domain + r].home;
                for (int64_t i = 0; i < m; i++) {
                    copy(to + (size_t)i * bytes, place(&scans[r], bytes, at + i), bytes);
                }
            }
            krf__index_of(p->rank[KRF__REDUCED], p->extents[KRF__REDUCED], first + at, p->index[KRF__REDUCED]);
            krf__program_run(p, &p->results, KRF__REDUCED, m);
        }
    }
}

krf_status krf__interpret_scan(krf__program *p, int64_t lo, int64_t hi) {
    const size_t n = p->k->n_reductions, row = (size_t)KRF__LANES * 8, each = (KRF__SCAN_RUN + 2) * row;
    scanned *scans = krf__malloc(n * (sizeof *scans + each) + 64);
    if (scans == NULL) {
        return krf__fail_memory();
    }
    char *memory = (char *)(scans + n);
    memory += (64 - (uintptr_t)memory % 64) % 64;
    for (size_t r = 0; r < n; r++) {
        scans[r] = (scanned){.tile = memory + r * each, .total = memory + r * each + KRF__SCAN_RUN * row,
                             .before = memory + r * each + (KRF__SCAN_RUN + 1) * row};
    }
    for (int64_t o = lo; o < hi; o++) {
        scan_row(p, scans, o);
    }
    krf__mem_free(scans);
    return KRF_OK;
}
