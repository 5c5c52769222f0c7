/* The CUDA target's columns that add up more than registers hold beside what is under way: sums in f64 of what is narrower, as variances have. What stands in the holes of skeleton/column_ahead.cu, which goes over
 * a turn's lanes as column_each.cu does, but has their elements copied to shared memory. */
#include "codegen/cuda.h"

#define STEPS 4 /* elements of each lane of a turn that are copied at once */

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

static void put_place(const krf__emitter *e, uint32_t operand, const char *thread, krf__str *out) {
    krf__str_printf(out, "held_%s[((side * %d + u) * %d + g) * 256 + %s]", e->operand_names[operand], STEPS, krf__cuda_columns_together(e), thread);
}

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands && e->k->copied; i++) {
        if (krf__cuda_in_domain(e, i, KRF__load)) {
            krf__str_printf(out, "__shared__ __align__(16) %s held_%s[%d];\n", type_of(e, i), e->operand_names[i], 2 * STEPS * krf__cuda_columns_together(e) * 256);
        }
    }
}

static void copy(krf__emitter *e, krf__str *out) {
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_in_domain(e, i, KRF__load)) {
            krf__str_put(out, "krf_copy_part(&");
            put_place(e, i, "thread", out);
            krf__str_printf(out, ", (const unsigned long long *)(a.%s", e->operand_names[i]);
            krf__cuda_put_offset(e, i, true, out);
            krf__str_put(out, "));\n");
        }
    }
}

static void first(krf__emitter *e, krf__str *out) {
    if (e->k->copied) {
        krf__emit_skeleton(e, "column_first", out);
    }
}

static void word(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_in_domain(e, i, KRF__load)) {
            krf__str_put(out, e->k->drifts ? "krf_copy_row_word((uint4 *)&" : "krf_copy_later(&");
            put_place(e, i, "(thread / 32 * 32 + thread % 8 * 4)", out);
            krf__str_printf(out, ", a.%s", e->operand_names[i]);
            krf__cuda_put_offset(e, i, true, out);
            if (e->k->drifts) {
                krf__str_put(out, ", ");
                krf__cuda_put_column_ends(e, i, out);
            }
            krf__str_put(out, ");\n");
        }
    }
}

/* Devices without copies that come later load a turn's words at once, for which 64 registers have no room: one by one, means and variances of f32 take 1.00 to 1.03 times as long on an H200. Pairs of halves, which have more registers, would take 1.05 to 1.07. */
static void unroll(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->vector > 1 ? STEPS : 1); }

static void copies(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->drifts ? "column_drift_words" : e->k->copied_words ? "column_words" : "column_copies", out); }
static void meet(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->copied_words ? "__syncwarp();\n" : ""); }
static void part(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_part", out); }

static void read(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_in_domain(e, i, KRF__load)) {
            krf__str_printf(out, "v_%s[g]%s = ", e->operand_names[i], krf__cuda_as_word(e, i));
            put_place(e, i, "thread", out);
            krf__str_put(out, ";\n");
        }
    }
}

const krf__hole krf__cuda_column_ahead_holes[] = {
    {"AHEAD_SHARED", shared}, {"COLUMN_FIRST", first}, {"AHEAD_STEPS", put_steps}, {"AHEAD_LENGTH", put_length}, {"AHEAD_COPIES", copies}, {"AHEAD_COPY", copy}, {"AHEAD_WORD", word}, {"AHEAD_UNROLL", unroll}, {"AHEAD_MEET", meet}, {"AHEAD_PART", part}, {"AHEAD_READ", read}, {NULL, NULL},
};
