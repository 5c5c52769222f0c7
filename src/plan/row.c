/* How kernels of several rounds share their rows out: among the blocks of a cluster, or side by side. */
#include "plan/schedule.h"
#include "plan/vector.h"

#define OTHER_REGISTERS 32 /* of a thread of rows that lie side by side, besides those that hold elements */
#define MEETING_BYTES 40960 /* of shared memory, of which a block has 48 KiB */
#define HELD_BYTES 66560 /* of shared memory, of a block that has rows there: 64 KiB of elements, and what it takes to have them as they lie in memory */
#define HELD_PLAIN 40960 /* on devices without clusters, some of which have 48 KiB for a block, with what rounds meet in */
#define HELD_WARPS 16    /* of such a block */
#define HALF_WARPS 8     /* of one that takes half of that, so that twice as many have room */
#define EACH 16          /* elements of a thread of rows that lie side by side */
#define FAR_EACH 32      /* the same where they lie far apart: */
#define FAR_THREADS 512  /* of a block then */
#define FAR_BYTES 32768  /* from an element of a row to the next */
#define FAR_LENGTH 128
#define TILE_BYTES (256 << 10) /* on the CPU: of what several rounds read, or keep, of a tile of such rows: half of a core's second cache */
#define ACCUMULATED_BYTES (128 << 10) /* of accumulators there: of eight lanes, and for each level of the tree */
#define ACCUMULATORS 16
#define MOST_COLUMNS 512
#define LEAST_COLUMNS 8
#define WORDS_LEAST 1025 /* elements of a row that goes by words that begin elsewhere */
#define WORD_BYTES 16    /* of one */

bool krf__rows_lie_beside(const krf__kernel *k) {
    int beside = 0, along = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        int64_t kept = o->strides[k->n_kept - 1], reduced = o->strides[k->n_kept + k->n_reduced - 1];
        kept = kept < 0 ? -kept : kept;
        reduced = reduced < 0 ? -reduced : reduced;
        if (kept != 0 && reduced != 0 && o->inner == 0 && !o->counts && !o->gathered) {
            *(kept < reduced ? &beside : &along) += 1;
        }
    }
    return beside > along;
}

/* Whether the operand has elements of its own in every row. */
static bool is_of_rows(const krf__kernel *k, const krf__operand *o) {
    bool along = false, across = k->kept_size == 1;
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        *(d < k->n_kept ? &across : &along) |= o->strides[d] != 0;
    }
    return along && across && o->inner == 0 && !o->counts && !o->gathered;
}

/* Registers that a thread needs for its 32 elements of all such operands. */
static int registers_of_row(const krf__kernel *k) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        n += is_of_rows(k, o) && krf__rounds_with(k, i) > 0 ? (krf_dtype_size((krf_dtype)o->dtype) > 4 ? 64 : 32) : 0;
    }
    return n;
}

/* Where one block is too small, as many as leave each half of a multiprocessor's registers or less: so that one row is read while another is computed or written. More
 * would wait for more. Rows of fewer chunks than a block has warps are shared where a block's registers do not hold them. */
static int cluster_of(const krf__kernel *k, uint32_t row) {
    const int warps = krf__row_warps(k), words = 32 * warps * registers_of_row(k), held = warps > 32 ? KRF__ROW_BLOCK / 2 : KRF__ROW_BLOCK;
    int blocks = 1;
    if (row <= KRF__ROW_BLOCK) {
        return 1;
    }
    while (blocks < KRF__ROW_CLUSTER && blocks < warps && ((warps > 32 && warps / blocks > 16) || words / blocks > held)) {
        blocks *= 2;
    }
    return blocks;
}

/* Operands that several rounds load, of which blocks may have their parts of rows in shared memory: as whole vectors of 16 bytes, or element by element where rows begin
 * anywhere. */
static bool may_be_held(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    const bool along = k->n_reduced == 1 && o->strides[k->n_kept] == 1;
    return is_of_rows(k, o) && along && (k->vector == 1 || (int)krf_dtype_size((krf_dtype)o->dtype) * k->vector == 16) && krf__rounds_with(k, operand) > 1;
}

/* The operand by whose words rows go, as all begin alike. */
static const krf__operand *leader(const krf__kernel *k) {
    const krf__operand *found = NULL;
    for (uint32_t i = k->n_operands; i-- > 0;) {
        found = is_of_rows(k, &k->operands[i]) && !k->operands[i].store ? &k->operands[i] : found;
    }
    return found;
}

/* Whether rounds that store elements load, along rows, what is held alone: they go over it vector by vector, and would wait for each of other loads. */
static bool stores_what_is_held(const krf__kernel *k) {
    bool alone = true;
    for (uint32_t r = 0; r < k->n_rounds; r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        for (uint32_t i = 0; i < round.n_domain && round.n_reductions == 0; i++) {
            const krf__instr *s = &round.instrs[i];
            const krf__operand *o = &k->operands[s->slot];
            alone &= (s->op != KRF__load && s->op != KRF__fetch) || o->inner != 0 || o->counts || may_be_held(k, s->slot) || krf__stride_class(k, o, k->n_kept + k->n_reduced - 1) == 0;
        }
    }
    return alone;
}

static bool any_round(const krf__kernel *k, bool (*is)(const krf__kernel *k)) {
    bool any = false;
    for (uint32_t r = 0; r < k->n_rounds; r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        any |= is(&round);
    }
    return any;
}

static bool stores(const krf__kernel *k) { return any_round(k, krf__stores_elements); }
static bool costs(const krf__kernel *k) { return any_round(k, krf__costly_domain); }

/* Of halves all gain by words. Of f32 rows that are only read, by no costly functions (var of 4,097 f32 0.0771 -> 0.0612 ms of an H200, logsumexp of 25,001 0.150 -> 0.159), and those that blocks share, if nothing else is loaded where they
 * are stored (softmax of 33,333 f32 0.1673 -> 0.1594; layer norm of 50,257 0.155 -> 0.184); in registers they take 0.95 to 1.05 times as long. */
static bool gains_by_words(const krf__kernel *k, int size) { return size == 2 || (size == 4 && (stores(k) ? k->cluster > 1 && stores_what_is_held(k) : !costs(k))); }

/* Rows that do not come in vectors. All that is of rows begins alike in each; of what they share vectors are taken out of two. A row's first threads have more to do, which short ones do not make up for. */
static bool by_words(const krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const krf__operand *first = leader(k);
    const bool wanted = limits->many_threads && limits->held != 0 && limits->vectors != 0 && limits->loose >= 2 && !unaligned;
    const int size = first != NULL ? (int)krf_dtype_size((krf_dtype)first->dtype) : 0;
    bool may = wanted && gains_by_words(k, size) && k->vector == 1 && k->n_reduced == 1 && k->reduced_size >= WORDS_LEAST && krf__commutes(k) && krf__takes_anything(k);
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->inner == 0 && o->strides[k->n_kept] != 0) {
            may &= krf__stride_class(k, o, k->n_kept) == 1 && (int)krf_dtype_size((krf_dtype)o->dtype) == size && !o->counts && !o->gathered && (!(o->store || is_of_rows(k, o)) || krf__goes_with(k, o, first, WORD_BYTES / size));
        }
    }
    return may;
}

/* Whether warps may have several chunks each. */
static bool takes_turns(const krf__kernel *k) { return k->vector > 1; }

/* Whether blocks have room for the row, once warps have as many chunks each as leave no more of them than may be. */
static bool fits(krf__kernel *k, int most) {
    k->chunks_each = 1;
    const int warps = takes_turns(k) && krf__held_bytes(k) <= HELD_BYTES / 2 ? HALF_WARPS : HELD_WARPS;
    while (takes_turns(k) && krf__row_threads(k) > 32 * warps) {
        k->chunks_each *= 2;
    }
    return krf__row_threads(k) <= 32 * HELD_WARPS && krf__held_bytes(k) <= (most > 1 ? HELD_BYTES : HELD_PLAIN);
}

/* Where blocks share rows, those that lie in shared memory leave registers for three blocks of a multiprocessor: fewer, larger ones. With 128 KiB, of which there is room for one, rows
 * of 262,144 were slower than in registers (0.69 of the copy bandwidth on the H200, not 0.735). */
static void hold_rows(krf__kernel *k, int most) {
    const int shared_by = k->cluster;
    bool all = true, any = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].held = may_be_held(k, i);
        any |= k->operands[i].held;
        all &= k->operands[i].held || krf__rounds_with(k, i) < 2 || !is_of_rows(k, &k->operands[i]);
    }
    k->cluster = shared_by > 1 && !takes_turns(k) ? 2 : 1;
    while (k->cluster < most && !fits(k, most)) {
        k->cluster *= 2;
    }
    if (!all || !any || !fits(k, most)) {
        k->cluster = shared_by;
        k->chunks_each = 1;
        for (uint32_t i = 0; i < k->n_operands; i++) {
            k->operands[i].held = false;
        }
    }
}

/* Rows of one block lie in registers as fast or faster, but where these have no room for a second block of rows that are only read (H200, logsumexp of 20,000 f32 0.112 -> 0.093 ms), and for a softmax and its like: costly functions hide the loops over shared memory, whose text compiles in half the
 * time, and what is loaded and stored one by one goes there by 16 bytes. */
static bool better_held(const krf__kernel *k) {
    const bool costly = costs(k);
    bool wide = true, halves = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const size_t size = krf_dtype_size((krf_dtype)k->operands[i].dtype);
        wide &= !may_be_held(k, i) || size >= 4;
        halves &= !may_be_held(k, i) || size == 2;
    }
    return k->cluster > 1 || (wide && !stores(k) && krf__row_warps(k) > HELD_WARPS) || (wide && costly && stores(k) && stores_what_is_held(k) && (k->vector > 1 || k->chunks > 1)) || (halves && k->chunks > 1 && (k->vector == 1 || (krf__row_warps(k) > HALF_WARPS && stores_what_is_held(k))));
}

void krf__share_rows(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    k->cluster = k->schedule == KRF__ROW ? cluster_of(k, limits->row) : 1;
    k->chunks_each = 1;
    k->words = k->schedule == KRF__ROW && by_words(k, unaligned, limits);
    k->vector = k->words ? WORD_BYTES / (int)krf_dtype_size((krf_dtype)leader(k)->dtype) : k->vector;
    if (k->schedule == KRF__ROW && limits->held != 0 && better_held(k)) {
        hold_rows(k, limits->row > KRF__ROW_BLOCK ? KRF__ROW_CLUSTER : 1);
    }
}

/* Bytes of shared memory in which the threads of a row meet, and the blocks that share it, in all rounds. */
static int64_t meeting_bytes(const krf__kernel *k) {
    int64_t bytes = 0;
    for (uint32_t r = 0; r < krf__kernel_rounds(k); r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        for (uint32_t i = 0; i < round.n_reductions; i++) {
            const size_t size = krf_dtype_size((krf_dtype)round.instrs[round.n_domain + i].dtype);
            bytes += (int64_t)(krf__accumulator_words(&round, i) > 1 ? 8 * krf__accumulator_words(&round, i) : size);
        }
    }
    return bytes * (krf__side_threads(k) + (k->cluster > 1 ? k->cluster : 0));
}

/* Whether what lies along rows begins at a multiple of 64 bytes in each of them, as far as strides tell. */
static bool in_half_lines(const krf__kernel *k) {
    bool whole = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        for (int d = 0; d < k->n_kept + k->n_reduced && o->inner == 0 && o->strides[k->n_kept - 1] != 0; d++) {
            whole &= d == k->n_kept - 1 || o->strides[d] * (int64_t)krf_dtype_size((krf_dtype)o->dtype) % 64 == 0;
        }
    }
    return whole;
}

/* Whether the elements of a row lie so far apart that memory delivers two lines beside one another faster than one: a block then has as many threads, but twice the columns (H200, softmax down [256, 262144]
 * 0.150 -> 0.140 ms; where they lie 4 KiB apart 0.133 -> 0.145, bf16 0.096 -> 0.099). */
static bool lies_far_apart(const krf__kernel *k) {
    const int dim = k->n_kept + k->n_reduced - 1;
    bool far = k->length >= FAR_LENGTH && k->length < 32 * FAR_EACH;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const int64_t bytes = (int64_t)krf_dtype_size((krf_dtype)o->dtype), stride = o->strides[dim] < 0 ? -o->strides[dim] : o->strides[dim];
        far &= o->inner != 0 || o->counts || stride == 0 || (bytes == 4 && stride * bytes >= FAR_BYTES);
    }
    return far;
}

/* Rows of a block that lie side by side. Blocks are small, so that some load while others compute or store: where many threads share a row, half a line of memory beside
 * one another, else a line or two. */
static int columns_of(const krf__kernel *k) {
    const int threads = krf__side_threads(k), registers = registers_of_row(k), each = registers * krf__side_elements(k) / 32 + OTHER_REGISTERS;
    int columns = threads == 1 ? 128 : k->each == FAR_EACH ? FAR_THREADS / threads : threads <= 4 ? 64 : threads < 32 || !in_half_lines(k) ? 32 : registers > 32 ? 8 : 16;
    while (columns > 8 && columns * threads * each > KRF__REGISTERS) {
        columns /= 2;
    }
    while (columns > 1 && columns * meeting_bytes(k) > MEETING_BYTES) {
        columns /= 2;
    }
    return columns;
}

/* On the CPU: rows of a tile, by what is copied of them, and what stays that takes long. */
static int columns_of_tile(const krf__kernel *k) {
    int64_t bytes = 0, dear = 0, accumulated = 0;
    for (uint32_t r = 0; r < k->n_rounds; r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        const int64_t own = (int64_t)krf__accumulator_bytes(&round);
        accumulated = own > accumulated ? own : accumulated;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        bytes += krf__copied_beside(k, i) ? (int64_t)krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
    }
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        dear = krf__costly(&k->instrs[i]) ? (int64_t)(krf_dtype_size((krf_dtype)k->instrs[i].dtype) < 4 ? 4 : krf_dtype_size((krf_dtype)k->instrs[i].dtype)) : dear;
    }
    int columns = MOST_COLUMNS;
    while (columns > LEAST_COLUMNS && (columns * k->length * (bytes + dear) > TILE_BYTES || columns * ACCUMULATORS * accumulated > ACCUMULATED_BYTES)) {
        columns /= 2;
    }
    return columns;
}

/* Reductions alone have few kernels. */
void krf__set_rows_beside(krf__kernel *k, const krf__limits *limits) {
    k->schedule = KRF__ROW_COL;
    k->vector = 1;
    k->length = k->n_rounds > 0 ? 1 : 16;
    while (k->length < k->chunk && k->length < k->reduced_size) {
        k->length *= 2;
    }
    if (!limits->many_threads) {
        k->each = EACH;
        k->cluster = 1;
        k->columns = columns_of_tile(k);
        return;
    }
    k->each = lies_far_apart(k) ? FAR_EACH : EACH;
    k->cluster = (int)k->chunks;
    k->columns = columns_of(k);
}

