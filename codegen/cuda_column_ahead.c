/* The CUDA target's columns that add up more than registers hold beside what is under way: sums in f64 of what is narrower, as variances have. What stands in the holes of skeleton/column_ahead.cu, which goes over
 * a turn's lanes as column_each.cu does, but has their elements copied to shared memory. */
#include "codegen/cuda.h"

#define TOGETHER 4          /* lanes of a turn */
#define STEPS 4             /* elements of each that are copied at once */
#define COPIED_BYTES 4      /* of one */
#define LEAST_BYTES 16      /* of a thread's accumulators of a lane; */
#define MOST_BYTES 60       /* those of all its lanes' results leave room in the 48 KiB of a block */
#define OTHER_REGISTERS 24

/* Bytes of the thread's accumulators of one lane; 0 where none is wider than a register. */
static int accumulated(const krf__emitter *e) {
    int bytes = 0;
    bool wide = false;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        bytes += (int)krf__cuda_accumulator_bytes(e, r) * e->k->vector;
        wide |= krf__cuda_accumulator_bytes(e, r) > 4;
    }
    return wide ? bytes : 0;
}

/* Of several operands, or of wider ones, there would be less under way (sums of two f32 0.071 -> 0.078 ms, of f64 as long as without). */
static bool may_be_copied(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    const bool plain = !o->counts && !o->gathered && !o->loose && o->beside == 0 && (e->k->vector == 1 || o->aligned);
    return plain && (int)krf_dtype_size((krf_dtype)o->dtype) * e->k->vector == COPIED_BYTES;
}

bool krf__cuda_columns_ahead(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    const bool columns = k->schedule == KRF__REDUCE_COL && !krf__any_order(k) && krf__cuda_columns_together(e) == TOGETHER && !krf__stores_elements(k);
    const int bytes = columns ? accumulated(e) : 0;
    int loads = 0;
    bool may = bytes >= LEAST_BYTES && bytes <= MOST_BYTES;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const bool loaded = krf__cuda_in_domain(e, i, KRF__load);
        may &= !loaded || may_be_copied(e, i);
        loads += loaded;
    }
    return may && loads == 1;
}

int krf__cuda_ahead_blocks(const krf__emitter *e) {
    const int registers = accumulated(e) / 4 * (TOGETHER + krf__cuda_column_levels(e) + 1) + OTHER_REGISTERS;
    return registers <= 64 ? 4 : registers <= 80 ? 3 : 2;
}

static void put_steps(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, STEPS);
}

static void put_length(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, KRF__LANES * STEPS);
}

static const char *type_of(const krf__emitter *e, uint32_t operand) {
    return e->k->vector > 1 ? krf__cuda_word_type(e, operand) : krf__storage_type(e->k->operands[operand].dtype);
}

static void put_place(const krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "held_%s[((side * %d + u) * %d + g) * 256 + thread]", e->operand_names[operand], STEPS, TOGETHER);
}

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands && krf__cuda_columns_ahead(e); i++) {
        if (krf__cuda_in_domain(e, i, KRF__load)) {
            krf__str_printf(out, "__shared__ %s held_%s[%d];\n", type_of(e, i), e->operand_names[i], 2 * STEPS * TOGETHER * 256);
        }
    }
}

static void copy(krf__emitter *e, krf__str *out) {
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_in_domain(e, i, KRF__load)) {
            krf__str_put(out, "krf_copy_part(&");
            put_place(e, i, out);
            krf__str_printf(out, ", (const unsigned long long *)(a.%s", e->operand_names[i]);
            krf__cuda_put_offset(e, i, true, out);
            krf__str_put(out, "));\n");
        }
    }
}

static void first(krf__emitter *e, krf__str *out) {
    if (krf__cuda_columns_ahead(e)) {
        krf__emit_skeleton(e, "column_first", out);
    }
}

static void copies(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_copies", out); }
static void part(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_part", out); }

static void read(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_in_domain(e, i, KRF__load)) {
            krf__str_printf(out, "v_%s[g]%s = ", e->operand_names[i], krf__cuda_as_word(e, i));
            put_place(e, i, out);
            krf__str_put(out, ";\n");
        }
    }
}

const krf__hole krf__cuda_column_ahead_holes[] = {
    {"AHEAD_SHARED", shared}, {"COLUMN_FIRST", first}, {"AHEAD_STEPS", put_steps}, {"AHEAD_LENGTH", put_length}, {"AHEAD_COPIES", copies}, {"AHEAD_COPY", copy}, {"AHEAD_PART", part}, {"AHEAD_READ", read}, {NULL, NULL},
};
