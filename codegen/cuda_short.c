/* The CUDA target's reductions of short rows: what stands in the holes of skeleton/short_rows.cu and short_row.cu. Lane (q * threads + thread) * V + k of the
 * canonical tree is accumulator q * V + k of a thread; how many threads share a row, the launch decides (krf__short_threads). */
#include "codegen/cuda.h"

static int accumulators(const krf__emitter *e) { return krf__cuda_quads(e) * e->k->vector; }

static bool in_domain(const krf__emitter *e, uint32_t operand) { return krf__cuda_in_domain(e, operand, KRF__load) && !(e->k->places && e->k->operands[operand].counts); }

static void put_loads(krf__emitter *e, krf__str *out) { krf__cuda_put_loads(e, in_domain, out); }
static void loads(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, e->k->lines > 1 ? krf__cuda_put_line_loads : put_loads, out); }

/* What all rows share. */
static void fixed(krf__emitter *e, krf__str *out) {
    if (e->k->lines > 1) {
        krf__str_printf(out, "const %s last = length;\n", krf__index_type(e));
        krf__cuda_unrolled(e, krf__cuda_put_shared_loads, out);
    }
}

static void put_lane(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "acc%u[q * V + %s] = valid ? ", r, krf__cuda_element(e));
    krf__cuda_put_summand(e, r, out);
    krf__str_put(out, " : ");
    krf__emit_identity(e, r, out);
    krf__str_put(out, ";\n");
}

static void body(krf__emitter *e, krf__str *out) {
    e->mode = 0;
    krf__cuda_put_statements(e, 0, e->k->n_domain, "", out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__cuda_put_each(e, put_lane, r, out);
    }
    krf__cuda_put_taken(e, out);
}

/* Whether all elements are stored where a block's rows are staged, which has room for rows beyond the last one, too. */
static bool stages_stores(const krf__emitter *e) {
    bool all = krf__literal_rows(e->kernel);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        all &= !e->k->operands[i].store || e->k->operands[i].staged;
    }
    return all;
}

static void stores(krf__emitter *e, krf__str *out) { krf__cuda_put_elements(e, stages_stores(e) ? "valid" : "valid && inside", out); }

/* What takes long is skipped where there is an element for no thread. */
static bool guards(const krf__emitter *e) { return e->kernel->staged && !krf__literal_rows(e->k) && krf__costly_domain(e->k); }

static void guard(krf__emitter *e, krf__str *out) { krf__str_put(out, guards(e) ? "if (q * threads < length) {\n" : ""); }
static void unguard(krf__emitter *e, krf__str *out) { krf__str_put(out, guards(e) ? "}\n" : ""); }

static void start(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "const int V = %d;\n", e->k->vector);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s acc%u[%d];\n", krf__cuda_accumulator_type(e, r), r, accumulators(e));
        if (guards(e)) {
            krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    acc%u[n] = ", accumulators(e), r);
            krf__emit_identity(e, r, out);
            krf__str_put(out, ";\n}\n");
        }
    }
}

static void vector(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "short_vector", out); }
static void halves(krf__emitter *e, krf__str *out) { krf__cuda_put_halves(e, accumulators(e), e->k->vector, out); }
static void put_tree(krf__emitter *e, krf__str *out) { krf__cuda_put_row_tree(e, krf__short_threads(e->kernel), out); }

static void tree(krf__emitter *e, krf__str *out) {
    if (krf__literal_rows(e->kernel)) {
        krf__cuda_unrolled(e, put_tree, out);
    } else {
        krf__cuda_put_tree(e, e->k->vector, "threads / 2", out);
    }
}


/* ---- what is folded as it comes, in any order: bytes four at once, and places ---- */

static void folded_start(krf__emitter *e, krf__str *out) {
    if (e->k->places) {
        krf__str_printf(out, "const %s first = 0, p = 0;\n%s acc0[1] = {", krf__index_type(e), krf__cuda_accumulator_type(e, 0));
        krf__emit_identity(e, 0, out);
        krf__str_put(out, "};\n");
        krf__cuda_put_place_counts(e, out);
        return;
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (krf__cuda_has_top(e, r)) {
            krf__cuda_put_tops(e, r, out);
        } else {
            krf__str_printf(out, "int acc%u[%d] = {};\n", r, e->k->vector / 4);
        }
    }
}

static void folded(krf__emitter *e, krf__str *out) {
    if (e->k->places) {
        krf__cuda_put_place_taken(e, out);
        return;
    }
    if (e->k->parted) { /* a bit for each byte of the word that is one of the row */
        krf__str_put(out, "const int left = last - (q * threads + thread) * 4;\nconst unsigned there = left >= 4 ? 15u : (1u << (left > 0 ? left : 0)) - 1u;\n");
    }
    krf__cuda_put_fours(e, out);
}

static void folded_tree(krf__emitter *e, krf__str *out) {
    if (e->k->places) {
        krf__cuda_put_place_keys(e, out);
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__cuda_accumulator_type(e, r);
        if (krf__cuda_has_top(e, r)) {
            krf__cuda_put_top_tree(e, r, "threads / 2", true, out);
            continue;
        }
        if (e->k->fours) {
            krf__str_printf(out, "#pragma unroll\nfor (int k = 1; k < %d; k++) {\n    acc%u[0] += acc%u[k];\n}\n", e->k->vector / 4, r, r);
        }
        krf__str_printf(out, "#pragma unroll\nfor (int d = threads / 2; d > 0; d /= 2) {\n    acc%u[0] = red%u(acc%u[0], (%s)__shfl_down_sync(0xffffffffu, acc%u[0], d));\n}\n", r, r, r, type, r);
        krf__str_printf(out, "%s r%u = acc%u[0];\n", krf__reduction_type(e, r), r, r);
    }
}

/* Left alone ptxas 13.0 takes 32 registers of rows of 50 halves and spills one. */
static void bounds(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->staged && e->k->vector > 1 && !e->k->fours ? "256, 4" : "256"); }

static void put_row(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->fours || e->k->places ? "short_folded" : "short_row", out); }
static void row(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, put_row, out); }

const krf__hole krf__cuda_short_holes[] = {
    {"SHORT_GUARD", guard},
    {"SHORT_UNGUARD", unguard},
    {"SHORT_ROW", row}, {"SHORT_BOUNDS", bounds},
    {"SHORT_START", start},
    {"SHORT_LOADS", loads}, {"SHORT_FIXED", fixed},
    {"SHORT_BODY", body},
    {"SHORT_STORES", stores},
    {"SHORT_VECTOR", vector},
    {"SHORT_HALVES", halves},
    {"SHORT_TREE", tree},
    {"FOLDED_START", folded_start},
    {"FOLDED", folded},
    {"FOLDED_TREE", folded_tree},
    {NULL, NULL},
};
