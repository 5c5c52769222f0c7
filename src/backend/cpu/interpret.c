/* The schedules of the block interpreter (interpret.h), and the canonical tree of reductions: in a chunk, lane j
 * combines elements j, j + 256, ... in order; lanes are then combined in halves. Long rows take a block of 256
 * elements, one for each lane, at a time. Short rows, and reductions over outer dimensions, do 256 results at a time
 * and visit the lanes in the order in which the tree needs them, so that eight partial results suffice. Both add up in
 * the same order. A lane without elements holds the identity, which changes nothing when combined: it is left out. */
#include "backend/cpu/interpret.h"
#include "backend/cpu/interpret_scan.h"
#include "backend/cpu/program.h"
#include <string.h>

#define SHORT_ROW 64 /* elements of a row up to which a block of many rows is faster */

static int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t chunks_of(const krf__kernel *k) { return k->chunks > 1 ? k->chunks : 1; }

int64_t krf__interpret_units(const krf__kernel *k) {
    switch (k->schedule) {
    case KRF__TILE: return krf__tile_units(k);
    case KRF__MAP:
    case KRF__SCAN:
    case KRF__ROW:
    case KRF__ROW_COL:
    case KRF__ROW_SHORT: return k->kept_size;
    case KRF__REDUCE_COL: return (k->kept_size + krf__column_side(k) - 1) / krf__column_side(k) * chunks_of(k);
    default: return k->kept_size * chunks_of(k);
    }
}

/* ---- reductions ---- */

static const krf__instr *reduction(const krf__program *p, uint32_t r) { return &p->k->instrs[p->k->n_domain + r]; }

static size_t accumulator_bytes(const krf__program *p, uint32_t r) { return krf__dtype(reduction(p, r)->dtype)->bytes; }

static krf__combine_loop *combine_of(const krf__program *p, uint32_t r) {
    return p->loops->combine[reduction(p, r)->dtype][reduction(p, r)->op];
}

/* Level 0 of the tree is where the results' part finds the value. */
static char *accumulator(const krf__program *p, uint32_t r, int level) {
    return level == 0 ? p->values[p->k->n_domain + r].home
                      : p->accumulators + ((size_t)(level - 1) * p->k->n_reductions + r) * KRF__BLOCK_BYTES;
}

/* The domain's values of the current block, n of them, into the accumulators of a level. */
static void accumulate(krf__program *p, int level, int64_t n, bool first) {
    for (uint32_t r = 0; r < p->k->n_reductions; r++) {
        const void *x = p->values[reduction(p, r)->args[0]].at;
        if (first) {
            memcpy(accumulator(p, r, level), x, (size_t)n * accumulator_bytes(p, r));
        } else {
            combine_of(p, r)(n, x, accumulator(p, r, level));
        }
    }
}

/* Lanes [0, lanes) to one, in halves. */
static void combine_lanes(krf__combine_loop *combine, size_t bytes, char *acc, int64_t lanes) {
    for (int64_t half = KRF__LANES / 2; half > 0; half /= 2) {
        if (lanes > half) {
            combine(lanes - half, acc + (size_t)half * bytes, acc);
            lanes = half;
        }
    }
}

/* Chunk c of the result at p->index[KRF__KEPT], into lane 0 of the accumulators at level 1. */
static void reduce_row(krf__program *p, int64_t c) {
    const krf__kernel *k = p->k;
    const int64_t begin = c * k->chunk, length = minimum(k->chunk, k->reduced_size - begin);
    krf__program_refresh(p, KRF__PER_RESULT, minimum(length, KRF__LANES));
    for (int64_t i = 0; i < length; i += KRF__LANES) {
        const int64_t n = minimum(KRF__LANES, length - i);
        krf__index_of(p->rank[KRF__REDUCED], p->extents[KRF__REDUCED], begin + i, p->index[KRF__REDUCED]);
        krf__program_run(p, &p->domain, KRF__REDUCED, n);
        accumulate(p, 1, n, i == 0);
    }
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        combine_lanes(combine_of(p, r), accumulator_bytes(p, r), accumulator(p, r, 1), minimum(length, KRF__LANES));
    }
}

/* Some results of one chunk, a block wide. */
typedef struct tile {
    krf__program *p;
    int64_t begin, length; /* the chunk's elements */
    int64_t n;             /* results from p->index[KRF__KEPT] on */
} tile;

/* Lanes lane, lane + step, lane + 2 * step, ... combined, into the accumulators of a level. */
static void reduce_lanes(const tile *t, int64_t lane, int64_t step, int level) {
    krf__program *p = t->p;
    if (step == KRF__LANES) {
        for (int64_t i = lane; i < t->length; i += KRF__LANES) {
            krf__index_of(p->rank[KRF__REDUCED], p->extents[KRF__REDUCED], t->begin + i, p->index[KRF__REDUCED]);
            krf__program_run(p, &p->domain, KRF__KEPT, t->n);
            accumulate(p, level, t->n, i == lane);
        }
        return;
    }
    reduce_lanes(t, lane, 2 * step, level);
    if (lane + step < t->length) {
        reduce_lanes(t, lane + step, 2 * step, level + 1);
        for (uint32_t r = 0; r < p->k->n_reductions; r++) {
            combine_of(p, r)(t->n, accumulator(p, r, level + 1), accumulator(p, r, level));
        }
    }
}

static void reduce_tile(krf__program *p, int64_t c, int64_t n) {
    const krf__kernel *k = p->k;
    const int64_t begin = c * k->chunk;
    const tile t = {p, begin, minimum(k->chunk, k->reduced_size - begin), n};
    reduce_lanes(&t, 0, 1, 0);
}

/* ---- results ---- */

static void set_results(krf__program *p, int64_t first) {
    krf__index_of(p->rank[KRF__KEPT], p->extents[KRF__KEPT], first, p->index[KRF__KEPT]);
}

/* The third part, for n results from `first` on whose values are at level 0. */
static void finish_results(krf__program *p, int64_t first, int64_t n) {
    memset(p->index[KRF__REDUCED], 0, sizeof p->index[KRF__REDUCED]);
    set_results(p, first);
    krf__program_run(p, &p->results, KRF__KEPT, n);
}

/* The accumulators of n results of chunk c, to scratch: values at `level`, element i of them for result first + i. */
static void keep_partials(const krf__program *p, int level, int64_t first, int64_t n, int64_t c, uint64_t *scratch) {
    const int64_t chunks = p->k->chunks;
    for (uint32_t r = 0; r < p->k->n_reductions; r++) {
        uint64_t *to = scratch + (p->k->kept_size * (int64_t)r + first) * chunks + c;
        for (int64_t i = 0; i < n; i++) {
            to[i * chunks] = krf__element_bits(accumulator(p, r, level), (int)accumulator_bytes(p, r), i);
        }
    }
}

/* Lane 0 at level 1 becomes element i at level 0. */
static void keep_result(const krf__program *p, int64_t i) {
    for (uint32_t r = 0; r < p->k->n_reductions; r++) {
        const size_t bytes = accumulator_bytes(p, r);
        memcpy(accumulator(p, r, 0) + (size_t)i * bytes, accumulator(p, r, 1), bytes);
    }
}

/* ---- schedules ---- */

static void run_map(krf__program *p, int64_t lo, int64_t hi) {
    for (int64_t i = lo; i < hi; i += p->block) {
        set_results(p, i);
        krf__program_run(p, &p->domain, KRF__KEPT, minimum(p->block, hi - i));
    }
}

/* Tiles [lo, hi), a row of one after the other: rows below find the lines that those above them have brought. */
static void run_map_tiles(krf__program *p, int64_t lo, int64_t hi) {
    const krf__kernel *k = p->k;
    const int last = k->n_kept - 1;
    const int64_t height = k->extents[k->tile], width = k->extents[last];
    const int64_t down = (height + KRF__TILE_ROWS - 1) / KRF__TILE_ROWS, across = (width + KRF__TILE_COLUMNS - 1) / KRF__TILE_COLUMNS;
    for (int64_t u = lo; u < hi; u++) {
        const int64_t top = u % down * KRF__TILE_ROWS, left = u / down % across * KRF__TILE_COLUMNS;
        const int64_t n = minimum(KRF__TILE_COLUMNS, width - left), bottom = minimum(top + KRF__TILE_ROWS, height);
        int64_t *index = p->index[KRF__KEPT], batch = u / down / across;
        for (int d = last - 1; d >= 0; d--) {
            if (d != k->tile) {
                index[d] = batch % k->extents[d];
                batch /= k->extents[d];
            }
        }
        for (index[k->tile] = top; index[k->tile] < bottom; index[k->tile]++) {
            for (int64_t j = 0; j < n; j += p->block) {
                index[last] = left + j;
                krf__program_run(p, &p->domain, KRF__KEPT, minimum(p->block, n - j));
            }
        }
    }
}

/* Results [lo, hi) of a reduction over no elements. */
static void run_empty(krf__program *p, int64_t lo, int64_t hi) {
    for (uint32_t r = 0; r < p->k->n_reductions; r++) {
        const krf__instr *in = reduction(p, r);
        krf__splat(accumulator(p, r, 0), (int)accumulator_bytes(p, r),
                   krf__empty_bits((krf__op)in->op, (krf_dtype)in->dtype), KRF__LANES);
    }
    for (int64_t o = lo; o < hi; o += KRF__LANES) {
        finish_results(p, o, minimum(KRF__LANES, hi - o));
    }
}

/* Results [lo, hi) in one chunk, many at a time. */
static void run_short_rows(krf__program *p, int64_t lo, int64_t hi) {
    for (int64_t o = lo; o < hi; o += KRF__LANES) {
        const int64_t n = minimum(KRF__LANES, hi - o);
        set_results(p, o);
        reduce_tile(p, 0, n);
        finish_results(p, o, n);
    }
}

static void run_rows(krf__program *p, uint64_t *scratch, int64_t lo, int64_t hi) {
    const int64_t chunks = chunks_of(p->k);
    int64_t o = lo / chunks, c = lo % chunks, kept = 0;
    for (int64_t u = lo; u < hi; u++) {
        set_results(p, o);
        reduce_row(p, c);
        if (chunks > 1) {
            keep_partials(p, 1, o, 1, c, scratch);
        } else {
            keep_result(p, kept++);
            if (kept == KRF__LANES || u == hi - 1) {
                finish_results(p, o + 1 - kept, kept);
                kept = 0;
            }
        }
        c = c + 1 < chunks ? c + 1 : 0;
        o += c == 0;
    }
}

static void run_tiles(krf__program *p, uint64_t *scratch, int64_t lo, int64_t hi) {
    const krf__kernel *k = p->k;
    const int64_t side = krf__column_side(k), tiles = (k->kept_size + side - 1) / side;
    int64_t c = lo / tiles, t = lo % tiles;
    for (int64_t u = lo; u < hi; u++) {
        const int64_t end = minimum((t + 1) * side, k->kept_size);
        for (int64_t first = t * side; first < end; first += KRF__COLUMN_SIDE) {
            const int64_t n = minimum(KRF__COLUMN_SIDE, end - first);
            set_results(p, first);
            reduce_tile(p, c, n);
            if (chunks_of(k) > 1) {
                keep_partials(p, 0, first, n, c, scratch);
            } else {
                finish_results(p, first, n);
            }
        }
        t = t + 1 < tiles ? t + 1 : 0;
        c += t == 0;
    }
}

krf_status krf__interpret(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch,
                          int64_t lo, int64_t hi) {
    krf__program p;
    if (lo >= hi) {
        return KRF_OK;
    }
    const bool short_rows = k->schedule != KRF__SCAN && k->chunks <= 1 && k->reduced_size <= SHORT_ROW && k->reduced_size <= hi - lo;
    const bool tiles = k->schedule == KRF__REDUCE_COL;
    krf_status status = krf__program_open(&p, k, pointers, scalars, !krf__is_map(k) && (tiles || short_rows));
    if (status != KRF_OK) {
        krf__program_close(&p);
        return status;
    }
    if (k->schedule == KRF__MAP) {
        run_map(&p, lo, hi);
    } else if (k->schedule == KRF__TILE) {
        run_map_tiles(&p, lo, hi);
    } else if (k->schedule == KRF__SCAN) {
        const int64_t each = krf__scan_rows(k);
        status = krf__interpret_scan(&p, lo * each, minimum(hi * each, k->kept_size)); /* of rows that are shared, whoever has the first tile does all of them */
    } else if (k->reduced_size == 0) {
        const int64_t side = tiles ? krf__column_side(k) : 1;
        run_empty(&p, lo * side, minimum(hi * side, k->kept_size));
    } else if (tiles) {
        run_tiles(&p, scratch, lo, hi);
    } else if (short_rows) {
        run_short_rows(&p, lo, hi);
    } else {
        run_rows(&p, scratch, lo, hi);
    }
    krf__program_close(&p);
    return status;
}

/* Combines the chunks of result o into lane 0 at level 1; level 2 takes what is read. */
static void combine_chunks(const krf__program *p, const uint64_t *scratch, int64_t o) {
    const int64_t chunks = p->k->chunks;
    for (uint32_t r = 0; r < p->k->n_reductions; r++) {
        const uint64_t *from = scratch + (p->k->kept_size * (int64_t)r + o) * chunks;
        const size_t bytes = accumulator_bytes(p, r);
        for (int64_t c = 0; c < chunks; c += KRF__LANES) {
            const int64_t n = minimum(KRF__LANES, chunks - c);
            char *to = accumulator(p, r, c == 0 ? 1 : 2);
            for (int64_t i = 0; i < n; i++) {
                krf__splat(to + (size_t)i * bytes, (int)bytes, from[c + i], 1);
            }
            if (c > 0) {
                combine_of(p, r)(n, to, accumulator(p, r, 1));
            }
        }
        combine_lanes(combine_of(p, r), bytes, accumulator(p, r, 1), minimum(chunks, KRF__LANES));
    }
}

krf_status krf__interpret_finish(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch,
                                 int64_t lo, int64_t hi) {
    krf__program p;
    if (lo >= hi) {
        return KRF_OK;
    }
    krf_status status = krf__program_open(&p, k, pointers, scalars, true); /* tall: accumulators of several levels */
    for (int64_t o = lo; status == KRF_OK && o < hi; o += KRF__LANES) {
        const int64_t n = minimum(KRF__LANES, hi - o);
        for (int64_t i = 0; i < n; i++) {
            combine_chunks(&p, scratch, o + i);
            keep_result(&p, i);
        }
        finish_results(&p, o, n);
    }
    krf__program_close(&p);
    return status;
}
