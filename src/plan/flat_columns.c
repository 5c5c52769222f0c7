/* Columns on a GPU whose rows follow one another without a gap: 256 rows are one stretch of memory, of which a thread takes vectors whatever columns they are of (codegen/cuda_column_flat.c). So a warp reads whole lines
 * where columns are few, or rows do not come in vectors. */
#include "plan/schedule.h"
#include "plan/vector.h"

#define LEAST_ROWS 1024 /* a chunk */
#define FEW_COLUMNS 3
#define LEAST_OF_FEW (48 << 20) /* bytes of so few columns: less is faster by as many reductions (8 MB of three columns of f32 0.0035 and 0.0042 ms of an H200, 134 MB 0.0353 and 0.0331) */
#define MOST_VECTOR 8
#define MOST_WRITTEN 512 /* statements */
#define MOST_BYTES 64    /* of a thread's accumulators, and of what it loads for 256 rows; */
#define MOST_THREADS 384 /* then a multiprocessor has two blocks of so many threads, with more than FEW_BYTES of accumulators of FEWER_THREADS; */
#define FEW_BYTES 16
#define FEWER_THREADS 320
#define ALONE_THREADS 512 /* else one of so many, or with up to twice the bytes of MOST_THREADS */
#define WIDE_BYTES 16 /* of an element's accumulators: the sums of variances. A block alone takes longer for these than copies do (plan/copies.c: eight columns of f32 0.0416 and 0.0582 ms) */
#define MOST_SHARED (46 << 10)

static bool lies_flat(const krf__kernel *k, const krf__operand *o) { return o->strides[0] == 1 && o->strides[1] == k->kept_size && !o->counts && !o->gathered && !o->half; }
static bool is_flat(const krf__kernel *k, uint32_t operand) { return krf__loads(k, operand) && lies_flat(k, &k->operands[operand]); }

/* Bytes of an element's accumulators: sums of small integers have no narrow ones here (krf__sums_narrow). */
static int accumulated(const krf__kernel *k) {
    int bytes = 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        const int size = (int)krf__accumulator_size(k, r);
        bytes += size < 4 ? 4 : size;
    }
    return bytes;
}

static int threads_of(const krf__kernel *k, int vector, int vectors) { return KRF__LANES / (vector * vectors) * (int)k->kept_size; }
static int shared_of(const krf__kernel *k, int vector, int threads) { return (threads + KRF__FLAT_PAD / vector) * vector * accumulated(k); }
static int most_threads(int bytes) { return bytes <= FEW_BYTES ? MOST_THREADS : FEWER_THREADS; }

int krf__flat_bytes(const krf__kernel *k) {
    int bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        bytes += is_flat(k, i) ? (int)krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
    }
    return bytes;
}

/* Whether registers have room for a block; `alone`: if a multiprocessor has no other. */
static bool fits(const krf__kernel *k, int vector, int vectors, bool alone) {
    const int folded = vector * vectors * accumulated(k), loaded = vector * vectors * krf__flat_bytes(k), threads = threads_of(k, vector, vectors);
    const int bytes = folded > loaded ? folded : loaded;
    if (alone) {
        return (bytes <= MOST_BYTES ? threads <= ALONE_THREADS : bytes <= 2 * MOST_BYTES && threads <= MOST_THREADS) && shared_of(k, vector, threads) <= MOST_SHARED;
    }
    return bytes <= MOST_BYTES && threads <= most_threads(folded);
}

/* The vectors of each thread, a power of two; 0: there is no room. */
static int vectors_of(const krf__kernel *k, int vector) {
    for (int alone = 0; alone <= 1; alone++) {
        for (int n = 1; n * vector <= KRF__LANES; n *= 2) {
            if (fits(k, vector, n, alone != 0)) {
                return (uint32_t)(n * vector) * k->n_domain <= MOST_WRITTEN ? n : 0;
            }
        }
    }
    return 0;
}

/* The longest that all flat operands begin with; 0: there are none, or something stands in the way. */
static int longest_vector(const krf__kernel *k, bool unaligned) {
    int bytes = 0, v;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const int size = is_flat(k, i) ? (int)krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
        bytes = size > bytes ? size : bytes;
        if (k->operands[i].gathered || k->operands[i].inner != 0) {
            return 0;
        }
    }
    if (bytes == 0) {
        return 0;
    }
    v = unaligned ? 1 : 16 / bytes < MOST_VECTOR ? 16 / bytes : MOST_VECTOR;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        while (is_flat(k, i) && k->operands[i].offset % v != 0) {
            v /= 2;
        }
    }
    while (v > 1 && vectors_of(k, v) == 0) {
        v /= 2;
    }
    return vectors_of(k, v) > 0 ? v : 0;
}

/* What does not lie so is loaded element by element, when it is wanted: of columns that may become reductions of one result each (plan/spread.c) that is slower (sums of products with a weight of each row). */
static bool reads_apart(const krf__kernel *k) {
    bool apart = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        apart |= krf__along_rows(k, i) && !lies_flat(k, &k->operands[i]);
    }
    return apart;
}

static bool are_worth(const krf__kernel *k, int v) {
    const bool few = k->kept_size <= FEW_COLUMNS && k->kept_size * k->reduced_size < LEAST_OF_FEW / krf__flat_bytes(k);
    const bool copies = accumulated(k) >= WIDE_BYTES && k->kept_size % v == 0 && !fits(k, v, vectors_of(k, v), false);
    return !few && !copies && !(k->kept_size <= KRF__SPREAD_RESULTS && reads_apart(k)) && !(krf__any_order(k) && k->vector > 1);
}

void krf__columns_flat(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const bool columns = limits->vectors != 0 && k->schedule == KRF__REDUCE_COL && k->n_kept == 1 && k->n_reduced == 1 && k->kept_size > 1 && k->kept_size <= limits->flat;
    const int v = columns && k->reduced_size >= LEAST_ROWS && !krf__stores_elements(k) ? longest_vector(k, unaligned) : 0;
    if (v == 0 || v < k->vector || !are_worth(k, v)) {
        return;
    }
    k->flat = true;
    k->vector = v;
    k->whole = k->kept_size * k->reduced_size % v == 0;
    k->abreast = threads_of(k, v, vectors_of(k, v));
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].aligned = is_flat(k, i);
        k->operands[i].loose = false;
    }
}

int krf__flat_vectors(const krf__kernel *k) { return KRF__LANES * (int)k->kept_size / (k->abreast * k->vector); }

int krf__flat_teams(const krf__kernel *k) {
    const int most = most_threads(k->vector * krf__flat_vectors(k) * accumulated(k));
    const int room = MOST_SHARED / shared_of(k, k->vector, k->abreast), teams = k->abreast < most ? most / k->abreast : 1;
    return teams < room ? teams : room;
}

bool krf__flat_alone(const krf__kernel *k) { return !fits(k, k->vector, krf__flat_vectors(k), false); }
