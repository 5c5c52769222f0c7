/* Columns on a GPU whose rows begin anywhere within a word of memory, as those of odd lengths and of views do: a thread takes words that lie on borders, as all rows of its lanes begin alike; those above and below it have
 * other columns in them (codegen/cuda_column_drift.c). */
#include "plan/schedule.h"
#include "plan/copies.h"
#include "plan/vector.h"

#define MOST_BYTES 16          /* of a thread's accumulators of a lane, */
#define MOST_OF_PAIRS 40       /* and of two columns of halves */
#define MOST_SIZE 4            /* of an element: wider ones gain nothing */
#define MOST_INSTRS 32         /* of longer bodies threads hold one column */
#define MOST_SIDE 65           /* threads that lie side by side */
#define LEAST_SIDE 5
#define LEAST_GROUPS 8         /* rows so far apart begin alike */
#define LEAST_THREADS 192
#define MOST_THREADS 544
#define MOST_SHARED (15 << 10) /* bytes of partial results, beside what is copied */
#define LEAST_BYTES 64         /* of a row */

/* Nanoseconds of an H200, fitted to sums of f32 and bf16 in 49 to 4,097 columns by seven ways to share them out (within 15 percent of all but a few). */
#define STEP 320  /* that a thread waits for its four loads */
#define BEGIN 400 /* before a chunk's first, */
#define LEVEL 220 /* for each level of the tree over groups behind its last, */
#define LAST 320  /* and in the block that comes last, for four lanes */
#define BYTES 28  /* that memory brings a multiprocessor in one */
#define MANY_CHUNKS (1 << 30) /* more do not change which way is the best */

static bool is_taken(const krf__operand *o) { return !o->counts && !o->gathered && !o->half && o->inner == 0 && o->beside == 0 && o->record == 0; }
static bool streams(const krf__operand *o) { return o->strides[0] == 1 && !o->counts; }

/* Elements that a thread of such columns has side by side, 0: they do not begin alike, or something else stands in the way. What all rows share is loaded element by element. */
static int vector_of(const krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const krf__operand *first = NULL;
    int bytes = 1, n = 0, v;
    bool may = k->n_instrs <= MOST_INSTRS && krf__takes_anything(k), halves = true;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        if (!krf__loads(k, i)) {
            continue;
        }
        may = (o->counts || is_taken(o)) && krf__stride_class(k, o, 0) <= 1;
        halves &= size == 2;
        bytes = streams(o) && size > bytes ? size : bytes;
        if (streams(o) && o->strides[1] != 0) {
            first = o;
            n++;
        }
    }
    for (v = 16 / bytes; v > 1 && v * krf__lane_bytes(k) > MOST_BYTES;) {
        v /= 2;
    }
    v = v == 1 && halves && 2 * krf__lane_bytes(k) <= MOST_OF_PAIRS ? 2 : v;
    for (uint32_t i = 0; i < k->n_operands && may && first != NULL; i++) {
        const krf__operand *o = &k->operands[i];
        may = !krf__loads(k, i) || !streams(o) || o->strides[1] == 0 || krf__goes_with(k, o, first, 16 / bytes);
    }
    return may && first != NULL && bytes > 1 && bytes <= MOST_SIZE && k->kept_size * bytes >= LEAST_BYTES && (uint32_t)bytes <= limits->loose && (!unaligned || n == 1) ? v : 0;
}

static void set_vectors(krf__kernel *k, int v) {
    k->vector = v;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        o->aligned = v > 1 && krf__loads(k, i) && streams(o);
        o->loose = o->aligned && o->strides[1] == 0;
    }
}

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Columns of a block of so many threads side by side. */
static int64_t tile_of(const krf__kernel *k, int side) { return (int64_t)side * k->vector - (krf__column_word(k) - 1); }

/* Whether the last block has a vector of columns at least, as that which comes last reads what all found by such. */
static bool leaves_vectors(const krf__kernel *k, int side) {
    const int64_t rest = k->kept_size % tile_of(k, side);
    return rest == 0 || rest >= k->vector;
}

/* ---- how 256 lanes of some columns are shared out, copied ones aside ---- */

static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* Bytes of an element, of all operands by whose words threads go. */
static int64_t element_bytes(const krf__kernel *k) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        bytes += krf__column_drifts(k, i) ? (int64_t)krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
    }
    return bytes;
}

/* About how many nanoseconds it takes: a chunk is there no sooner than its loads follow one another, and no sooner than memory has brought all those under way; chunks that do not fill the device take as long as one. */
static int64_t time_of(const krf__kernel *k, int64_t processors, int side, int groups) {
    const int64_t blocks = processors * krf__drifting_blocks(k, side * groups), tile = tile_of(k, side), tiles = divide_up(k->kept_size, tile), lanes = k->chunks < KRF__LANES ? k->chunks : KRF__LANES;
    const int64_t together = max_of(1, tiles * lanes < blocks ? tiles * lanes : blocks), all = tiles * k->chunks < MANY_CHUNKS ? tiles * k->chunks : MANY_CHUNKS, rows = k->chunk < k->reduced_size ? k->chunk : k->reduced_size;
    const int64_t turns = KRF__LANES / groups / KRF__COLUMN_TOGETHER, columns = tile < k->kept_size ? tile : k->kept_size, bytes = (3 * (int64_t)side * k->vector + columns) * element_bytes(k) * rows / 4; /* what neighbours load too comes from the cache */
    const int64_t alone = BEGIN + turns * divide_up(rows, KRF__LANES) * STEP + LEVEL * __builtin_ctz((unsigned)groups), rest = all % together;
    const int64_t time = all / together * max_of(alone, together * bytes / (BYTES * processors)) + (rest > 0 ? max_of(alone, rest * bytes / (BYTES * processors)) + alone / 8 : 0) + turns * LAST * lanes / KRF__LANES;
    return blocks > processors ? time : time + time / 25; /* while one block is at a chunk's tree another loads */
}

/* Which takes least, of equal ones that of the widest blocks. */
static void share_out(krf__kernel *k, const krf__limits *limits) {
    const int64_t processors = limits->blocks > 1 ? limits->blocks / 2 : 1;
    int64_t least = INT64_MAX;
    for (int side = MOST_SIDE; side >= LEAST_SIDE; side--) {
        const bool narrowest = divide_up(k->kept_size, tile_of(k, side)) < divide_up(k->kept_size, tile_of(k, side - 1)); /* that has no more blocks */
        for (int groups = LEAST_GROUPS; groups <= KRF__LANES / KRF__COLUMN_TOGETHER && narrowest && leaves_vectors(k, side); groups *= 2) {
            const int64_t time = krf__drifting_blocks(k, side * groups) > 0 && side * groups >= LEAST_THREADS && side * groups <= MOST_THREADS ? time_of(k, processors, side, groups) : INT64_MAX;
            if (time < least) {
                least = time;
                k->abreast = side;
                k->groups = groups;
            }
        }
    }
}

/* A power of two, as eight threads of a warp copy its words. */
static void share_copies(krf__kernel *k) {
    const bool less = 2 * divide_up(k->kept_size, tile_of(k, 32)) > divide_up(k->kept_size, tile_of(k, 16));
    k->abreast = less ? 16 : 32;
    k->groups = KRF__LANES / k->abreast;
}

/* ---- */

/* Columns that one warp has side by side as they are take two blocks of words, or three (variances of 31 of f32 0.0488 and 0.0653 ms). */
static bool fits_a_warp(const krf__kernel *k) { return k->vector == 1 && k->kept_size <= 32 && k->kept_size > 2 * tile_of(k, 16); }

static bool has_room(const krf__kernel *k) {
    return krf__column_edge(k) * krf__column_groups(k) * k->vector * krf__lane_bytes(k) <= MOST_SHARED;
}

void krf__columns_drift(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const bool columns = limits->many_threads && limits->vectors != 0 && k->schedule == KRF__REDUCE_COL && !k->flat && !k->copied_words && k->n_kept == 1 && k->n_reduced == 1 && !krf__stores_elements(k);
    const int v = columns ? vector_of(k, unaligned, limits) : 0;
    if (v < k->vector || (v == k->vector && !k->copied)) {
        return;
    }
    const krf__kernel before = *k;
    set_vectors(k, v);
    k->drifts = true;
    k->abreast = MOST_SIDE;
    k->copied = k->copied_words = krf__copies_columns(k);
    k->abreast = 0;
    if (k->copied) {
        share_copies(k);
    } else if (v > 1) {
        share_out(k, limits);
    }
    if (k->abreast == 0 || !has_room(k) || fits_a_warp(k) || !leaves_vectors(k, k->abreast)) {
        *k = before;
        krf__mark_vectors(k, 0, unaligned);
    }
}
