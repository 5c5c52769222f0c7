/* Columns on a GPU whose rows follow one another without a gap: 256 rows are one stretch of memory, of which a thread takes vectors whatever columns they are of (codegen/cuda_column_flat.c). So a warp reads whole lines
 * where columns are few, or rows do not come in vectors. */
#include "plan/schedule.h"
#include "plan/vector.h"

#define LEAST_ROWS 1024 /* a chunk */
#define FEW_COLUMNS 3
#define LEAST_OF_FEW (48 << 20) /* bytes of so few columns: less is faster by as many reductions (8 MB of three columns of f32 0.0035 and 0.0042 ms of an H200, 134 MB 0.0353 and 0.0331) */
#define MOST_VECTOR 8
#define MOST_STEPS 4 /* of 256 rows, that the shortest chunk has */
#define MOST_WRITTEN 512 /* statements; of more than one step half of it */
#define MOST_THREADS 1024
#define LEAST_THREADS 192 /* fewer are slower, whatever is under way (sums of 7 columns of f32 by 168 threads 0.0384 ms, by 224 0.0364) */
#define MOST_BYTES 128 /* of a thread's accumulators, and of what it loads at once */
#define ENOUGH_BYTES (32 << 10) /* under way on a multiprocessor */
#define WIDE_BYTES 16 /* of an element's accumulators: the sums of variances. A block alone takes longer for these than copies do (plan/copies.c: eight columns of f32 0.0416 and 0.0582 ms) */
#define MOST_SHARED (46 << 10)
#define PAD 32 /* elements, of all of a vector */

static bool lies_flat(const krf__kernel *k, const krf__operand *o) { return o->strides[0] == 1 && o->strides[1] == k->kept_size && !o->counts && !o->gathered && !o->half; }
static bool is_flat(const krf__kernel *k, uint32_t operand) { return krf__loads(k, operand) && lies_flat(k, &k->operands[operand]); }

int krf__flat_bytes(const krf__kernel *k) {
    int bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        bytes += is_flat(k, i) ? (int)krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
    }
    return bytes;
}

/* A way to share 256 rows out among threads, which load their vectors of some steps at once. */
typedef struct sharing {
    int vector, steps, threads;
    int blocks, teams; /* blocks of a multiprocessor, 2 or 1, and teams of one; 0: there is no room */
} sharing;

/* Registers that a thread needs, or else ptxas 13.0 spills, which halves the speed: fitted to what it takes for sums, variances and places. */
static int registers_of(const krf__kernel *k, int folded, int loaded) {
    const int share = krf__lane_bytes(k) > 2 * krf__flat_bytes(k) ? 35 : 30; /* percent; what is converted takes more */
    return 38 + folded * share / 100 + loaded * 9 / 16 + (loaded > MOST_BYTES / 2 ? 12 : 0);
}

/* Those that there are: each quarter of a multiprocessor has as many of its warps, and gives registers out by eights. */
static int registers_for(int blocks, int threads) {
    const int warps = (blocks * ((threads + 31) / 32) + 3) / 4, most = KRF__REGISTERS / 4 / 32 / warps / 8 * 8;
    return most < 255 ? most : 255;
}

/* Elements of a reduction that a team has in shared memory. */
static int shared_of(int threads, int vector) { return threads * vector + PAD; }

static sharing shared_out(const krf__kernel *k, int vector, int vectors, int steps) {
    const int elements = vector * vectors, folded = elements * krf__lane_bytes(k), loaded = steps * elements * krf__flat_bytes(k), registers = registers_of(k, folded, loaded);
    sharing s = {.vector = vector, .steps = steps, .threads = KRF__LANES / elements * (int)k->kept_size};
    const int memory = MOST_SHARED / (shared_of(s.threads, vector) * krf__lane_bytes(k));
    const bool room = s.threads <= MOST_THREADS && memory > 0 && folded <= MOST_BYTES && loaded <= MOST_BYTES && steps * elements * (int)k->n_domain <= (steps > 1 ? MOST_WRITTEN / 2 : MOST_WRITTEN);
    s.blocks = !room || registers > registers_for(1, s.threads) ? 0 : registers > registers_for(2, s.threads) ? 1 : 2;
    s.teams = s.blocks > 0;
    while (s.blocks > 0 && s.teams < memory && (s.teams + 1) * s.threads <= MOST_THREADS / 2 && registers <= registers_for(s.blocks, (s.teams + 1) * s.threads)) {
        s.teams++;
    }
    return s;
}

/* The one that has enough under way, two blocks rather than one, for while one is at a chunk's tree the other loads; and of equal ones that by four words of 16 bytes a thread. */
static sharing best_sharing(const krf__kernel *k, int vector) {
    sharing best = {0};
    int most = 0;
    for (int vectors = 1; vectors * vector <= KRF__LANES; vectors *= 2) {
        for (int steps = 1; steps <= MOST_STEPS; steps *= 2) {
            const sharing s = shared_out(k, vector, vectors, steps);
            const int bytes = s.blocks * s.teams * s.threads * steps * vectors * vector * krf__flat_bytes(k), loaded = steps * vectors * vector * krf__flat_bytes(k), score = 2 * s.blocks * (bytes < ENOUGH_BYTES ? bytes : ENOUGH_BYTES) + (loaded == MOST_BYTES / 2);
            const bool better = score > most && (s.teams * s.threads >= LEAST_THREADS || most == 0);
            best = better ? s : best;
            most = better ? score : most;
        }
    }
    return best;
}

/* That by the longest vectors that all flat operands begin with and that have room; of no blocks: there are no such operands, or something stands in the way. */
static sharing by_longest_vectors(const krf__kernel *k, bool unaligned) {
    int bytes = 0, v;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const int size = is_flat(k, i) ? (int)krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
        bytes = size > bytes ? size : bytes;
        if (k->operands[i].gathered || k->operands[i].inner != 0) {
            return (sharing){0};
        }
    }
    if (bytes == 0) {
        return (sharing){0};
    }
    v = unaligned ? 1 : 16 / bytes < MOST_VECTOR ? 16 / bytes : MOST_VECTOR;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        while (is_flat(k, i) && k->operands[i].offset % v != 0) {
            v /= 2;
        }
    }
    sharing s = best_sharing(k, v);
    while (v > 1 && s.blocks == 0) {
        v /= 2;
        s = best_sharing(k, v);
    }
    return s;
}

/* What does not lie so is loaded element by element, when it is wanted: of columns that may become reductions of one result each (plan/spread.c) that is slower (sums of products with a weight of each row). */
static bool reads_apart(const krf__kernel *k) {
    bool apart = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        apart |= krf__along_rows(k, i) && !lies_flat(k, &k->operands[i]);
    }
    return apart;
}

static bool is_worth(const krf__kernel *k, const sharing *s) {
    const bool few = k->kept_size <= FEW_COLUMNS && k->kept_size * k->reduced_size < LEAST_OF_FEW / krf__flat_bytes(k);
    const bool copies = krf__lane_bytes(k) >= WIDE_BYTES && k->kept_size % s->vector == 0 && s->blocks == 1;
    return !few && !copies && !(k->kept_size <= KRF__SPREAD_RESULTS && reads_apart(k)) && !(krf__any_order(k) && k->vector > 1);
}

void krf__columns_flat(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const bool columns = limits->vectors != 0 && k->schedule == KRF__REDUCE_COL && k->n_kept == 1 && k->n_reduced == 1 && k->kept_size > 1 && k->kept_size <= limits->flat;
    const sharing s = columns && k->reduced_size >= LEAST_ROWS && !krf__stores_elements(k) ? by_longest_vectors(k, unaligned) : (sharing){0};
    if (s.blocks == 0 || s.vector < k->vector || !is_worth(k, &s)) {
        return;
    }
    k->flat = true;
    k->vector = s.vector;
    k->whole = k->kept_size * k->reduced_size % s.vector == 0;
    k->abreast = s.threads;
    k->flat_steps = s.steps;
    k->flat_teams = s.teams;
    k->flat_alone = s.blocks == 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].aligned = is_flat(k, i);
        k->operands[i].loose = false;
    }
}

int krf__flat_vectors(const krf__kernel *k) { return KRF__LANES * (int)k->kept_size / (k->abreast * k->vector); }
int krf__flat_shared(const krf__kernel *k) { return shared_of(k->abreast, k->vector); }
