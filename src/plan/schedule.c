/* Chooses a kernel's schedule and shape class from extents and strides alone. */
#include "plan/copies.h"
#include "plan/schedule.h"
#include "plan/vector.h"

#include <string.h>

#define SECTOR 32 /* bytes that a GPU reads at once */
#define ALONG_BOTH 1024 /* more than a kernel has operands */
#define SCAN_TILE_BYTES (256 << 10) /* of short rows of a scan that are turned */
#define SCAN_ROWS 16 /* fewer short rows of a scan are not worth turning */
#define CACHED_CHUNKS 16384 /* of what comes from caches, of which a warp has several results at once */
#define SHORT_ROW 1024 /* elements that a warp has in vectors of eight bytes, four a thread */
#define MANY_ROWS 4096 /* each of which a warp of a GPU has to itself */
#define FEW_CHUNKS 16 /* of such a row */
#define EVEN_CHUNKS 8 /* the same where the warps of a block would share them evenly (rows of 2,048 bf16 0.77 and 1.03 of an H200's copy bandwidth, of 8,192 0.81 and 0.89; of 16,384 0.90 and 0.73) */
#define FEWEST_ROWS 64 /* that give all threads of a processor work */
#define FEWEST_CHUNKS 64 /* longer than the canonical tree's, that do so where rows are fewer */
#define SHORT_COLUMN 128 /* elements of a reduction by columns, on a GPU: threads of longer ones have a lane or more each where lanes are divided among them */
#define SHORT_ANY 64 /* where any order will do (sums of 128 i8 0.0464 -> 0.0258 ms of 64 MB) */
#define MOST_SQUARE 16 /* results of columns along each dimension, of which a processor has a kernel for each number of them */

/* Whether neighbouring threads should take neighbouring results: most loads move fastest along the last kept dimension. What moves along one of the two alone counts only where the others are even: it stays in
 * the caches whichever way (a weight for each row of a sum of columns). */
static bool columns(const krf__kernel *k, const krf__limits *limits) {
    int along_kept = 0, along_reduced = 0;
    bool gathers = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        gathers |= k->operands[i].gathered;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (!o->store && !o->gathered && (!o->counts || gathers)) { /* what is gathered moves as its places do */
            int64_t kept = o->strides[k->n_kept - 1], reduced = o->strides[k->n_kept + k->n_reduced - 1];
            kept = kept < 0 ? -kept : kept;
            reduced = reduced < 0 ? -reduced : reduced;
            const int weight = kept != 0 && reduced != 0 ? ALONG_BOTH : 1;
            along_kept += kept != 0 && (reduced == 0 || kept < reduced) && k->extents[k->n_kept - 1] > 1 ? weight : 0;
            along_reduced += reduced != 0 && (kept == 0 || reduced < kept) ? weight : 0;
        }
    }
    return along_kept > along_reduced && !(limits->outer != 0 && krf__shares_rows(k) && !krf__costly_domain(k));
}

/* Whether columns have few results in several dimensions, as the squares of a Gram matrix: loops over these of unknown length would be more than what is computed. */
static bool few_results(const krf__kernel *k) {
    bool few = k->schedule == KRF__REDUCE_COL && k->n_kept > 1 && k->kept_size > 0;
    for (int d = 0; d < k->n_kept; d++) {
        few &= k->extents[d] <= MOST_SQUARE;
    }
    return few && k->kept_size <= KRF__COLUMN_SIDE;
}

/* Small extents of maps, and of results in short rows, but for the first dimension, by which nothing is divided; on the CPU those of few results. */
static void mark_literal(krf__kernel *k, const krf__limits *limits) {
    k->literal = k->across || (k->flat && k->schedule == KRF__REDUCE_COL) ? 1 : !limits->many_threads && few_results(k) ? (1u << k->n_kept) - 1 : 0;
    for (int d = 1; d < k->n_kept && (k->schedule == KRF__MAP || k->narrow); d++) {
        k->literal |= k->extents[d] <= KRF__LITERAL_MOST || (k->period > 0 && d == k->n_kept - 1 && k->extents[d] < k->vector) ? 1u << d : 0;
    }
}

/* What counts along the last dimension alone, from 0, where its extent is text. */
static void mark_numbers(krf__kernel *k, const krf__limits *limits) {
    const int last = k->n_kept - 1;
    for (uint32_t i = 0; i < k->n_operands && limits->many_threads && k->schedule == KRF__MAP && last > 0; i++) {
        krf__operand *o = &k->operands[i];
        bool alone = o->counts && o->offset == 0 && o->strides[last] == 1 && (k->literal >> last & 1) != 0;
        for (int d = 0; d < last; d++) {
            alone &= o->strides[d] == 0;
        }
        o->numbers = alone;
    }
}

static bool needs_wide(const krf__kernel *k) {
    const int64_t most = INT32_MAX / 2; /* a block's overhang and a vector more must not wrap either */
    if (k->kept_size > most || k->reduced_size > most || k->kept_size > most / (k->chunks > 0 ? k->chunks : 1)) {
        return true;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        int64_t span = 0;
        for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
            int64_t step = k->operands[i].strides[d] < 0 ? -k->operands[i].strides[d] : k->operands[i].strides[d], part;
            if (__builtin_mul_overflow(step, k->extents[d], &part) || __builtin_add_overflow(span, part, &span) || span > most) {
                return true;
            }
        }
    }
    return false;
}

/* Rows that one warp has, or threads of one, whose vectors or staged elements lie where a length that is known lets compilers ask for nothing; of longer rows those of several
 * rounds: others have a kernel for all lengths. */
static void mark_literal_rows(krf__kernel *k, const krf__limits *limits) {
    const bool chunk = ((k->schedule == KRF__ROW && !krf__holds_rows(k)) || (k->schedule == KRF__ROW_COL && k->n_rounds > 0)) && k->chunks == 1 && !k->whole, reduced = k->schedule == KRF__REDUCE_SHORT && (k->staged || k->outer || k->lines > 1 || k->vector > 1 || limits->vectors == 0) && k->kept_size >= limits->literal_from / (k->reduced_size > 0 ? k->reduced_size : 1);
    const bool rows = k->schedule == KRF__ROW_SHORT || reduced || chunk;
    k->literal |= rows && k->n_reduced == 1 && k->reduced_size > 0 && k->reduced_size <= limits->literal ? 1u << k->n_kept : 0;
}

/* What a warp, or several that share a chunk, load at once. */
static int64_t tile_of(const krf__kernel *k) { return 32 * (int64_t)k->team * k->vector * krf__reduce_vectors(k); }

/* Whether nothing is left after the last tile, or the last chunk where a block has all tiles of one. Columns have no such kernels: on the H200 they are slower. */
static bool whole_tiles(const krf__kernel *k) {
    if (k->drifts) {
        return false;
    }
    if (k->schedule == KRF__ROW) {
        return k->reduced_size == k->chunk * krf__row_warps(k);
    }
    if (k->schedule == KRF__ROW_COL) {
        return k->n_rounds > 0 && k->reduced_size == (int64_t)krf__side_threads(k) * krf__side_elements(k) * krf__row_warps(k);
    }
    if (k->relay) {
        return k->reduced_size % k->chunk == 0;
    }
    return (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW) && k->reduced_size % tile_of(k) == 0 && (k->chunks == 1 || k->chunk % tile_of(k) == 0);
}

/* Whether all elements of such a tile lie in one row of the last dimension. */
static bool tiles_lie_along(const krf__kernel *k) {
    const bool warps = (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW) && k->team == 1 && k->lines == 1 && k->whole;
    const int last = k->n_kept + k->n_reduced - 1;
    bool near = true; /* what lies across is limited by how lines of memory are reached, not by how places are found ((x - x.T)^2 0.278 and 0.295 ms) */
    for (uint32_t i = 0; i < k->n_operands; i++) {
        near &= k->operands[i].strides[last] <= KRF__RECORD_MOST && k->operands[i].strides[last] >= -KRF__RECORD_MOST;
    }
    return warps && near && k->n_reduced > 1 && !krf__stores_elements(k) && k->extents[last] % tile_of(k) == 0;
}

/* On the CPU: a row of few runs leaves most of a vector empty. Tiles of all operands must fit a thread's stack. */
static bool scans_short_rows(const krf__kernel *k) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        bytes += KRF__SCAN_BESIDE * KRF__SCAN_COLUMNS * krf_dtype_size((krf_dtype)k->operands[i].dtype);
    }
    return k->reduced_size <= KRF__SCAN_BESIDE && k->kept_size >= SCAN_ROWS && krf__accumulator_bytes(k) <= 8 && bytes <= SCAN_TILE_BYTES;
}

/* Whether a block has two tiles. Of 64M f32 0.175 -> 0.167 ms on an H200, where a tile waits for others two fifths of its time; fewer tiles are left to as many blocks. */
static bool goes_by_pairs(const krf__kernel *k, const krf__limits *limits) {
    return k->chunks > 1 && !k->side && krf__scan_is_small(k) && !krf__scans_columns(k) && k->kept_size * k->chunks >= limits->pairs;
}

/* On a GPU: whether blocks have columns side by side, of long ones a sector of memory at least; and where they are too few to go down each to its end, parts of them. */
static void scan_columns(krf__kernel *k, const krf__limits *limits) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const size_t size = krf_dtype_size((krf_dtype)k->operands[i].dtype);
        bytes = size > bytes ? size : bytes;
    }
    k->side = krf__scans_columns(k) && krf__accumulator_bytes(k) <= 8 && (k->chunks > 1 ? (size_t)k->extents[k->n_kept - 1] * bytes >= SECTOR : k->kept_size >= KRF__SIDE_COLUMNS);
    if (!k->side) {
        return;
    }
    const bool few = k->kept_size < (bytes == 4 ? limits->walk : limits->walk / 4) && (k->chunks > 1 || (k->extents[k->n_kept - 1] >= KRF__SIDE_COLUMNS && k->reduced_size >= 2 * KRF__SCAN_SHARE));
    k->columns = few ? 4 : KRF__SIDE_COLUMNS;
    while (k->columns < KRF__SIDE_COLUMNS && k->columns < k->extents[k->n_kept - 1]) {
        k->columns *= 2;
    }
    k->chunk = few ? (int64_t)KRF__SCAN_SHARE * KRF__SIDE_COLUMNS / k->columns : k->reduced_size;
    k->chunks = (k->reduced_size + k->chunk - 1) / k->chunk;
}

/* On the CPU: whether a scan goes row by row over columns that lie side by side. Of few, and of less than a vector where one thread would have all, rows go together tile by tile ([1M, 8] 20.4 -> 6.5 ms by
 * two threads; [1M, 16] 20.6 and 22.4). */
static bool goes_by_columns(const krf__kernel *k) {
    enum { FEW = 7 };
    const int64_t side = krf__scans_columns(k) ? k->extents[k->n_kept - 1] : 0;
    return side > (k->chunks > 1 && k->kept_size < FEWEST_ROWS ? KRF__SCAN_ROWS_MOST : FEW);
}

/* Whether the warps of a block that share a row, 8 at most, have about as much to do. */
static bool shares_evenly(int64_t n, int64_t chunk) {
    const int64_t chunks = n / chunk;
    int64_t warps = 1;
    while (warps < 8 && warps < chunks) {
        warps *= 2;
    }
    const int64_t turns = (chunks + warps - 1) / warps;
    return n % chunk == 0 && 8 * chunks >= 7 * turns * warps;
}

/* On a GPU: whether a warp takes all chunks of a row, which are there sooner than the warps of a block have met: of narrow elements, of integers, and where warps would not have as much to do as one another. Four bytes
 * an element, which are not so soon there (rows of 1,536 f32 0.99 and 1.08 of an H200's copy bandwidth, of 8,192 i32 0.94 and 1.05; of 2,048 f32 1.06 and 1.04), only of few chunks. */
static bool by_warps(const krf__kernel *k, const krf__limits *limits) {
    const size_t bytes = krf__loaded_bytes(k);
    const int64_t chunk = krf__chunk_length(k->reduced_size), chunks = (k->reduced_size + chunk - 1) / chunk;
    const bool few = chunks <= EVEN_CHUNKS, uneven = !shares_evenly(k->reduced_size, chunk);
    const bool narrow = bytes == 1 || (bytes == 2 && (few || uneven)), wider = bytes == 4 && few && (uneven || krf__any_order(k));
    return limits->many_threads && chunks <= FEW_CHUNKS && k->kept_size >= MANY_ROWS && (narrow || wider);
}

/* Chunks that are longer than the canonical tree's, where any order will do: a thread's share of a processor, if there are enough for all (sums of 4M i8 2.3 times as fast, argmax of f32 twice); on a GPU whole rows, a warp's,
 * and of narrow elements, which are there before what a chunk before them came to is folded, as long ones as leave each warp some; so of what all results load from the caches, such as pairs of points. */
static int64_t chunk_of(const krf__kernel *k, const krf__limits *limits) {
    int64_t chunk = krf__chunk_length(k->reduced_size);
    const bool narrow = krf__loaded_bytes(k) <= 2, rows = k->kept_size >= MANY_ROWS && k->reduced_size <= limits->chunk && (narrow || !shares_evenly(k->reduced_size, chunk));
    const bool cached = limits->many_threads && krf__all_order_free(k) && !krf__stores_elements(k) && krf__loaded_bytes(k) == 0;
    if (chunk >= limits->chunk || columns(k, limits) || !(krf__any_order(k) || cached)) {
        return chunk;
    }
    if (!cached && (limits->many_threads ? rows : k->kept_size >= FEWEST_ROWS || k->kept_size * (k->reduced_size / limits->chunk) >= FEWEST_CHUNKS)) {
        return limits->chunk;
    }
    const int64_t least = cached ? CACHED_CHUNKS : 2 * MANY_ROWS;
    while (limits->many_threads && narrow && 2 * chunk <= limits->chunk && k->kept_size * (k->reduced_size / (2 * chunk)) >= least) {
        chunk *= 2;
    }
    return chunk;
}

/* Rows that do not come in whole vectors: threads take those of memory, if these are longer; of short rows of halves twice as long as those of eight bytes, which take fewer instructions (sums of rows of 300 0.0522 -> 0.0490 ms,
 * argmax 0.087 -> 0.046), and for places of bytes more than four times (rows of 300 0.100 -> 0.070). */
static void let_drift(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const bool rows = (k->schedule == KRF__REDUCE_ROW || k->schedule == KRF__REDUCE_ALL) && (limits->teams == 0 || krf__team_of(k, limits) == 1);
    const bool short_rows = k->schedule == KRF__REDUCE_ROW && k->chunks == 1 && k->reduced_size <= SHORT_ROW;
    const int v = rows ? krf__drifting_vector(k, unaligned, limits) : 1;
    const int worth = v == 8 && short_rows ? 2 : v == 16 && krf__place_of(k).found ? 4 : 1;
    k->drifts = v > worth * k->vector;
    k->vector = k->drifts ? v : k->vector;
}

/* Which operands of a map go out, or on a GPU come in, together. */
static void mark_together(krf__kernel *k, const krf__limits *limits) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].record = 0;
    }
    if (!limits->many_threads) {
        krf__store_records(k);
    } else if (k->spread) {
        krf__mark_spread(k);
    } else if (k->spans) {
        krf__mark_spans(k);
    } else if (!k->flat) { /* whose other operands have each element's own place */
        krf__mark_records(k);
    }
}

/* Rows that a warp loads at once, of narrow elements, or in any order: others wait for memory whatever their text is, and each text has to be compiled. */
static bool comes_at_once(const krf__kernel *k) {
    const bool rows = k->schedule == KRF__REDUCE_ROW && k->chunks == 1 && k->lines == 1 && !k->outer, gains = krf__loaded_bytes(k) <= 2 || krf__any_order(k);
    return rows && gains && k->reduced_size + (k->drifts ? k->vector - 1 : 0) <= 32 * (int64_t)k->vector * krf__reduce_vectors(k);
}

static void schedule_map(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const int fast = k->n_kept - 1;
    k->schedule = KRF__MAP;
    k->vector = krf__period_vector(k, unaligned, limits);
    if (k->vector > 1) {
        return;
    }
    k->vector = krf__vector_length(k, fast, false, unaligned, limits);
    if (k->n_kept > 1 && k->extents[fast] % k->vector != 0) {
        k->vector = 1;
    }
    krf__kernel_tile(k, unaligned, limits);
    if (k->schedule == KRF__MAP && !k->across && limits->many_threads) {
        k->vector = krf__cached_vector(k);
    }
    if (k->schedule == KRF__MAP && k->vector == 1 && !k->across && !unaligned && limits->vectors != 0) {
        k->vector = krf__loose_vector(k);
        k->vector = k->vector == 1 ? krf__record_vector(k) : k->vector;
        const int span = k->vector == 1 ? krf__span_vector(k) : 1;
        k->spans = span > 1;
        k->vector = k->spans ? span : k->vector == 1 ? krf__pair_vector(k) : k->vector;
    }
}

void krf__kernel_schedule(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    k->cluster = k->team = k->lines = 1;
    k->groups = 0;
    k->side = k->chained = k->across = k->narrow = k->drifts = k->words = k->rest = k->spans = false;
    k->outer = k->once = k->places = k->several = k->copied = k->copied_words = k->relay = k->fours = k->parted = false;
    k->strip = k->periods = 0;
    k->period = 0;
    int fast = k->n_kept + k->n_reduced - 1;
    if (k->n_reduced == 0) {
        schedule_map(k, unaligned, limits);
        fast = k->n_kept - 1; /* strips may have parted it */
    } else if (k->n_rounds > 0) {
        k->schedule = k->reduced_size <= KRF__LANES ? KRF__ROW_SHORT : KRF__ROW;
        k->chunk = krf__chunk_length(k->reduced_size);
        k->chunks = (k->reduced_size + k->chunk - 1) / k->chunk;
        k->vector = krf__vector_length(k, fast, false, unaligned, limits);
        k->vector = k->n_reduced > 1 && k->extents[fast] % k->vector != 0 ? 1 : k->vector;
        k->vector = k->vector > 8 ? 8 : k->vector;
        k->vector = k->reduced_size % k->vector != 0 ? 1 : k->vector;
        if (krf__rows_lie_beside(k) && k->reduced_size <= limits->columns) {
            krf__set_rows_beside(k, limits);
        } else {
            krf__share_rows(k, unaligned, limits);
        }
    } else if (krf__op_info_of((krf__op)k->instrs[k->n_domain].op)->class_ == KRF__CLASS_SCAN) {
        k->schedule = KRF__SCAN;
        k->vector = 1;
        k->chunk = KRF__SCAN_TILE;
        k->chunks = (k->reduced_size + KRF__SCAN_TILE - 1) / KRF__SCAN_TILE;
        k->columns = 0;
        if (limits->many_threads) {
            scan_columns(k, limits);
            k->pairs = goes_by_pairs(k, limits);
        } else {
            k->columns = goes_by_columns(k) ? KRF__SCAN_COLUMNS : 0;
            k->side = k->columns == 0 && limits->beside != 0 && scans_short_rows(k);
            k->chained = k->chunks > 1 && k->kept_size < FEWEST_ROWS && !krf__scans_beside(k);
        }
    } else {
        k->chunk = chunk_of(k, limits);
        k->chunks = (k->reduced_size + k->chunk - 1) / k->chunk;
        k->schedule = columns(k, limits) ? KRF__REDUCE_COL : k->kept_size == 1 || (k->chunks > 1 && !by_warps(k, limits)) ? KRF__REDUCE_ALL : KRF__REDUCE_ROW;
        if (k->schedule == KRF__REDUCE_ROW && k->reduced_size <= KRF__LANES) {
            k->schedule = KRF__REDUCE_SHORT;
        }
        if (k->schedule == KRF__REDUCE_COL) {
            fast = k->n_kept - 1;
            k->vector = krf__column_vector(k, unaligned, limits);
        } else {
            k->vector = krf__vector_length(k, fast, !krf__stores_elements(k), unaligned, limits);
            k->vector = k->n_reduced > 1 && k->extents[fast] % k->vector != 0 ? 1 : k->vector;
            k->vector = limits->teams != 0 && k->schedule == KRF__REDUCE_ALL && (krf__shares_chunks(k, limits) || krf__takes_long(k)) && !krf__any_order(k) ? 1 : k->vector; /* a thread then has one lane of a chunk, which goes to the whole block */
            k->vector = k->vector == 1 ? krf__spread_vector(k, unaligned, limits) : k->vector;
            let_drift(k, unaligned, limits);
        }
        const bool lanes = k->schedule == KRF__REDUCE_SHORT && !(k->reduced_size % 16 == 0 && krf__folds_rows_of_bytes(k, limits));
        k->vector = k->vector > 8 && (!krf__any_order(k) || lanes) ? 8 : k->vector; /* a warp's share of 256 lanes is 8 a thread */
        k->vector = k->schedule == KRF__REDUCE_SHORT && k->reduced_size % k->vector != 0 ? 1 : k->vector;
        k->parted = krf__parts_rows(k, limits);
        k->vector = k->parted ? 4 : k->vector;
        if (limits->many_threads && k->schedule == KRF__REDUCE_COL && krf__rows_lie_beside(k) && k->reduced_size <= (krf__any_order(k) ? SHORT_ANY : SHORT_COLUMN) && k->reduced_size <= limits->columns) {
            krf__set_rows_beside(k, limits);
        }
        k->rest = k->schedule != KRF__REDUCE_SHORT && k->schedule != KRF__REDUCE_COL && k->vector > 1 && !k->drifts && (k->chunks == 1 || k->reduced_size % k->vector != 0);
    }
    k->side |= krf__short_rows(k) && k->reduced_size <= limits->beside;
    krf__kernel_narrow(k, limits);
    k->team = limits->teams != 0 ? krf__team_of(k, limits) : 1;
    k->relay = krf__goes_by_relay(k, limits);
    k->whole = limits->whole != 0 && whole_tiles(k);
    k->rest &= !k->whole;
    krf__mark_steps(k);
    k->lines = k->n_reduced > 0 && k->n_rounds == 0 ? krf__kernel_lines(k, limits) : 1;
    if (k->lines > 1 && (k->rest || k->drifts)) { /* what a warp loads once it may load one by one */
        k->vector = 1;
        k->rest = k->drifts = false;
        k->whole = limits->whole != 0 && whole_tiles(k);
    }
    k->along = tiles_lie_along(k);
    krf__mark_vectors(k, fast, unaligned);
    krf__kernel_flat(k, unaligned, limits);
    krf__columns_flat(k, unaligned, limits);
    mark_literal(k, limits);
    mark_numbers(k, limits);
    k->fours = k->vector % 4 == 0 && krf__folds_rows_of_bytes(k, limits);
    krf__stage_rows(k, limits);
    krf__kernel_outer(k, limits);
    k->once = k->relay || (limits->many_threads && comes_at_once(k));
    k->places = limits->many_threads && krf__finds_place(k);
    mark_literal_rows(k, limits);
    k->wide = needs_wide(k);
    krf__kernel_runs(k, unaligned, limits);
    krf__kernel_beside(k, limits);
    mark_together(k, limits);
    k->abreast = k->schedule != KRF__REDUCE_COL ? 0 : k->flat ? k->abreast : krf__column_threads(k, limits);
    k->copied = limits->many_threads && krf__copies_columns(k);
    k->copied_words = k->copied && krf__copies_words(k, unaligned, limits);
    krf__columns_drift(k, unaligned, limits);
    k->ahead = k->early && krf__gains_ahead(k);
}
