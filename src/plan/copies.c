/* Columns of a GPU that add up more than registers hold beside what is under way: sums in f64 of what is narrower, as variances have. Their elements are copied to shared memory ahead (codegen/skeleton/column_ahead.cu). */
#include "plan/copies.h"
#include "plan/vector.h"

#define COPIED_BYTES 4      /* of an element, */
#define LEAST_BYTES 16      /* of a thread's accumulators of a lane; */
#define MOST_BYTES 60       /* those of all its lanes' results leave room in the 48 KiB of a block */
#define LINE_BYTES 128
#define OTHER_REGISTERS 24

/* Bytes of the thread's accumulators of one lane; 0 where none is wider than a register. */
static int accumulated(const krf__kernel *k) {
    int bytes = 0;
    bool wide = false;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        bytes += (int)krf__accumulator_size(k, r) * k->vector;
        wide |= krf__accumulator_size(k, r) > 4;
    }
    return wide ? bytes : 0;
}

/* Of several operands, or of wider ones, there would be less under way (sums of two f32 0.071 -> 0.078 ms, of f64 as long as without). */
static bool may_be_copied(const krf__kernel *k, const krf__operand *o) {
    const bool plain = !o->counts && !o->gathered && !o->loose && o->beside == 0 && (k->vector == 1 || o->aligned);
    return plain && (int)krf_dtype_size((krf_dtype)o->dtype) * k->vector == COPIED_BYTES;
}

bool krf__copies_columns(const krf__kernel *k) {
    const bool columns = k->schedule == KRF__REDUCE_COL && !k->flat && !krf__any_order(k) && k->abreast >= KRF__COLUMN_TOGETHER && !krf__stores_elements(k);
    const int bytes = columns ? accumulated(k) : 0;
    int loads = 0;
    bool may = bytes >= LEAST_BYTES && bytes <= MOST_BYTES;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const bool loaded = krf__loads(k, i);
        may &= !loaded || may_be_copied(k, &k->operands[i]);
        loads += loaded;
    }
    return may && loads == 1;
}

bool krf__copies_words(const krf__kernel *k, bool unaligned, const krf__limits *limits) {
    bool all = k->n_kept == 1 && k->n_reduced == 1 && !unaligned && limits->vectors != 0;
    for (uint32_t i = 0; i < k->n_operands && all; i++) {
        const krf__operand *o = &k->operands[i];
        const int v = 16 / (int)krf_dtype_size((krf_dtype)o->dtype);
        all = !krf__loads(k, i) || (o->strides[0] == 1 && k->extents[0] % v == 0 && krf__in_vectors(k, o, 0, v));
    }
    return all;
}

int krf__copying_blocks(const krf__kernel *k) {
    const int registers = accumulated(k) / 4 * (KRF__COLUMN_TOGETHER + krf__column_levels(k) + 1) + OTHER_REGISTERS;
    return registers <= 64 ? 4 : registers <= 80 ? 3 : 2;
}

/* Whether blocks side by side share no line of memory. Those that do had better begin together often: var of [65536, 1000] f32 0.0775 ms of an H200 by a block a chunk, 0.0838 by such that have four. */
static bool lines_are_whole(const krf__kernel *k) {
    bool all = k->copied_words;
    for (uint32_t i = 0; i < k->n_operands && all; i++) {
        const krf__operand *o = &k->operands[i];
        const int64_t size = (int64_t)krf_dtype_size((krf_dtype)o->dtype);
        all = !krf__loads(k, i) || (o->strides[1] * size % LINE_BYTES == 0 && o->offset * size % LINE_BYTES == 0);
    }
    return all;
}

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* A block's end, when it waits for memory, takes some two fifths of a chunk. Of halves, of which a multiprocessor has two blocks at once, the more so: mean and var of [131072, 1000] bf16 0.1047 -> 0.0976 ms though lines are shared.
 * Each launch asks: of numbers of blocks that have as many lanes each only the least is looked at. */
int64_t krf__copying_down(const krf__kernel *k, int multiprocessors, int64_t beside) {
    const int64_t lanes = k->chunks < KRF__LANES ? k->chunks : KRF__LANES, rounds = divide_up(k->chunks, lanes), slots = (int64_t)multiprocessors * krf__copying_blocks(k);
    int64_t best = lanes, least = INT64_MAX;
    if (k->vector == 1 && !lines_are_whole(k)) {
        return lanes;
    }
    for (int64_t down = 1; down <= lanes;) {
        const int64_t each = divide_up(lanes, down), time = divide_up(beside * down, slots) * (5 * each * rounds + 2);
        best = time < least ? down : best;
        least = time < least ? time : least;
        down = each > 1 ? divide_up(lanes, each - 1) : lanes + 1;
    }
    return best;
}
