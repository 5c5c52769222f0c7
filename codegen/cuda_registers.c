/* What the threads of CUDA's row kernels have registers for: what stays there from round to round, and what is loaded just before it is used. */
#include "codegen/cuda.h"

#define LONG_BODY 80 /* instructions of all rounds, costly ones several times: more are not written out 32 times */
#define SHARED_REGISTERS 40 /* of short rows whose length is known: what rows share */
#define OTHER_REGISTERS 24 /* places, and what a body is at */
#define MOST_REGISTERS 255 /* of a thread */
#define HELD_REGISTERS 8   /* of a thread whose row lies in shared memory: two vectors at a time */
#define SHARED_BYTES 232448 /* of a multiprocessor that has clusters; and what a block needs besides its rows */
#define OTHER_BYTES 4096

/* Elements of an operand that a thread has of a row. */
static int elements_of(const krf__kernel *k) { return k->schedule == KRF__ROW_COL ? krf__side_elements(k) : 32; }

/* With so many blocks on a multiprocessor. */
static int registers_of_thread(const krf__kernel *k, int blocks) {
    const int n = KRF__REGISTERS / krf__row_threads(k) / blocks;
    return n < MOST_REGISTERS ? n : MOST_REGISTERS;
}

/* Registers that hold a thread's elements of an operand; none where it is the same all along the row. */
static int registers_of(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    const int size = o->counts || o->gathered ? 8 : (int)krf_dtype_size((krf_dtype)o->dtype);
    bool along = false;
    for (int d = k->n_kept; d < k->n_kept + k->n_reduced; d++) {
        along |= o->strides[d] != 0;
    }
    return !along || o->inner != 0 ? 0 : o->aligned && !o->counts ? 8 * size : elements_of(k) / k->vector * (size > 4 ? 2 : 1);
}

/* Whether what is loaded along rows takes a register an element. */
static bool loads_words(const krf__kernel *k) {
    bool words = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        words &= registers_of(k, i) <= elements_of(k);
    }
    return words;
}

/* Of the round that has most. A lane of rows side by side that has one element needs none beside it, or as many more as it is wider than the element. */
static int accumulators_of(const krf__kernel *k) {
    if (k->schedule == KRF__ROW_COL && krf__side_elements(k) <= KRF__LANES / krf__side_threads(k)) {
        bool wide = false;
        for (uint32_t r = 0; r < krf__kernel_rounds(k); r++) {
            const krf__kernel round = krf__kernel_round(k, r);
            for (uint32_t i = 0; i < round.n_reductions; i++) {
                wide |= krf_dtype_size((krf_dtype)round.instrs[round.n_domain + i].dtype) > 4;
            }
        }
        return wide && loads_words(k) ? elements_of(k) : 0;
    }
    const int lanes = k->schedule == KRF__ROW_COL ? krf__side_lanes(k) : 8;
    int most = 0;
    for (uint32_t r = 0; r < krf__kernel_rounds(k); r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        int n = 0;
        for (uint32_t i = 0; i < round.n_reductions; i++) {
            n += (krf_dtype_size((krf_dtype)round.instrs[round.n_domain + i].dtype) > 4 ? 2 : 1) * lanes * (int)krf__accumulator_words(&round, i);
        }
        most = n > most ? n : most;
    }
    return most;
}

/* What a thread has to keep from round to round where rows stay. */
static int staying(const krf__kernel *k) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        n += krf__rounds_with(k, i) > 1 ? registers_of(k, i) : 0;
    }
    return n;
}

/* Not where they would not stay in registers after all: memory is read again for less than spilling takes. */
bool krf__cuda_row_stays(const krf__emitter *e) {
    const krf__kernel *k = e->kernel;
    int n = 0;
    for (uint32_t r = 0; r < krf__kernel_rounds(k) && !krf__short_rows(k); r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        for (uint32_t i = 0; i < round.n_domain; i++) {
            n += krf__costly(&round.instrs[i]) ? 4 : 1;
        }
    }
    return !krf__holds_rows(k) && n * elements_of(k) <= LONG_BODY * 32 && (krf__short_rows(k) || staying(k) + accumulators_of(k) < registers_of_thread(k, 1));
}

/* Registers of a thread's elements of a row whose length is known, of the operands up to this one that rows share. */
static int shared_registers(const krf__kernel *k, uint32_t operand) {
    int n = 0;
    for (uint32_t i = 0; i <= operand; i++) {
        const krf__operand *o = &k->operands[i];
        n += krf__same_for_rows(k, &k->operands[i]) && registers_of(k, i) > 0 ? krf__reduce_vectors(k) * (o->counts || o->gathered ? 2 : (k->vector * (int)krf_dtype_size((krf_dtype)o->dtype) + 3) / 4) : 0;
    }
    return n;
}

bool krf__cuda_of_all_rows(const krf__emitter *e, uint32_t operand) {
    const krf__kernel *k = e->kernel;
    return krf__literal_rows(k) && k->n_rounds > 0 && krf__same_for_rows(k, &k->operands[operand]) && krf__rounds_with(k, operand) > 0 && registers_of(k, operand) > 0
           && shared_registers(k, operand) <= SHARED_REGISTERS;
}

bool krf__cuda_of_several_rounds(const krf__emitter *e, uint32_t operand) {
    return krf__cuda_row_stays(e) && e->k->operands[operand].inner == 0 && krf__rounds_with(e->kernel, operand) > 1 && !krf__cuda_of_all_rows(e, operand);
}

bool krf__cuda_of_this_round(const krf__emitter *e, uint32_t operand) {
    return e->k->operands[operand].inner == 0 && krf__cuda_in_domain(e, operand, KRF__load) && !krf__cuda_of_several_rounds(e, operand)
           && !krf__cuda_of_all_rows(e, operand);
}

/* What the round at hand alone loads. */
static int passing(const krf__emitter *e) {
    int n = 0;
    for (uint32_t i = 0; i < e->kernel->n_operands; i++) {
        n += krf__cuda_of_this_round(e, i) ? registers_of(e->kernel, i) : 0;
    }
    return n;
}

/* Blocks should have a multiprocessor together with blocks of other rows, which are read while these are computed: as many as its registers hold of what stays.
 * Elements that are loaded one by one need more registers for places. */
int krf__cuda_row_blocks(const krf__emitter *e) {
    const krf__kernel *k = e->kernel;
    if (krf__holds_rows(k)) {
        const int each = accumulators_of(k) + OTHER_REGISTERS + HELD_REGISTERS;
        const int room = SHARED_BYTES / (int)(krf__held_bytes(k) + OTHER_BYTES), most = KRF__REGISTERS / krf__row_threads(k) / each;
        return room < most ? room : most > 1 ? most : 1;
    }
    const bool beside = k->schedule == KRF__ROW_COL;
    const int stay = staying(k) + (k->n_rounds == 0 ? passing(e) : 0), each = (stay > 32 || beside ? stay : 32) + accumulators_of(k) + OTHER_REGISTERS;
    const int blocks = KRF__REGISTERS / krf__row_threads(k) / each;
    return (beside || (k->schedule == KRF__ROW && k->vector > 1)) && blocks > 1 && krf__cuda_row_stays(e) ? blocks : 1;
}

bool krf__cuda_loads_late(const krf__emitter *e) {
    const krf__kernel *k = e->kernel;
    const int n = staying(k) + accumulators_of(k) + OTHER_REGISTERS + passing(e);
    return !krf__short_rows(k) && krf__cuda_row_stays(e) && n > registers_of_thread(k, krf__cuda_row_blocks(e));
}

/* Blocks that share a row are few: while they wait for a load nothing else is under way. The next vector is loaded before the one at hand is stored, for compilers do
 * not know that the store leaves it as it is. Elsewhere registers are better spent on more blocks. */
bool krf__cuda_loads_next(const krf__emitter *e) { return e->k->cluster > 1; }
