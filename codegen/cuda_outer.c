/* The CUDA target's reductions of rows whose threads share several results (krf__kernel.outer): what stands in the holes of skeleton/short_outer.cu, row_outer.cu and of their bodies. What a thread makes of its
 * elements of a result is what cuda_short.c prints, and cuda_reduce.c. */
#include "codegen/cuda.h"

static bool is_short(const krf__emitter *e) { return e->k->schedule == KRF__REDUCE_SHORT; }
static bool in_lines(const krf__emitter *e) { return e->k->lines > 1; }
static int threads_of(const krf__emitter *e) { return in_lines(e) ? 32 : krf__outer_threads(e->kernel); }
static int results_of(const krf__emitter *e) { return in_lines(e) ? e->k->lines : krf__outer_results(e->kernel); }
/* Of a result, that a thread of a warp has; and of these, what the tree over threads begins with. */
static int lanes_of(const krf__emitter *e) { return krf__cuda_accumulators(e); }
static int vector_of(const krf__emitter *e) { return lanes_of(e) == 1 ? 1 : e->k->vector; }
static int across_of(const krf__emitter *e) { return results_of(e) / 2; }

static bool is_first(const krf__emitter *e, uint32_t operand) { return krf__cuda_in_domain(e, operand, KRF__load) && krf__outer_first(e->kernel, operand); }
static bool is_second(const krf__emitter *e, uint32_t operand) { return krf__cuda_in_domain(e, operand, KRF__load) && !krf__outer_first(e->kernel, operand); }

/* The lanes of a result, of each reduction. */
static void put_lanes_of(const krf__emitter *e, const char *result, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "auto *acc%u = all%u + %s * %d;\n", r, r, result, lanes_of(e));
    }
}

static void put_own(krf__emitter *e, krf__str *out) { put_lanes_of(e, in_lines(e) ? "line" : "(below * 4 + beside)", out); }
static void lanes_own(krf__emitter *e, krf__str *out) { put_lanes_of(e, "result", out); }

static void lanes_kept(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "all%u[result * %d + k] = acc%u[k];\n", r, vector_of(e), r);
    }
}

static void put_results(krf__emitter *e, krf__str *out) { krf__str_i64(out, results_of(e)); }
static void put_vector(krf__emitter *e, krf__str *out) { krf__str_i64(out, vector_of(e)); }
static void put_threads(krf__emitter *e, krf__str *out) { krf__str_i64(out, threads_of(e)); }
static void put_across(krf__emitter *e, krf__str *out) { krf__str_i64(out, across_of(e)); }
static void put_lines(krf__emitter *e, krf__str *out) { krf__str_printf(out, "n%d", e->k->n_kept - 2); }
static void put_line(krf__emitter *e, krf__str *out) { krf__str_printf(out, "i%d", e->k->n_kept - 2); }
static void put_columns(krf__emitter *e, krf__str *out) { krf__str_printf(out, "n%d", e->k->n_kept - 1); }
static void put_column(krf__emitter *e, krf__str *out) { krf__str_printf(out, "i%d", e->k->n_kept - 1); }

static void batch(krf__emitter *e, krf__str *out) {
    if (e->k->n_kept > 2) {
        krf__str_printf(out, "const %s down = (n1 + %d) / %d, i0 = square / down;\n", krf__index_type(e), krf__outer_side(e->k) - 1, krf__outer_side(e->k));
    }
}

static void put_square(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->n_kept > 2 ? "(square - i0 * down)" : "square"); }

/* Told how many blocks there may be, ptxas 13.0 loads sooner where they fit; elsewhere it would spill. */
static void bounds(krf__emitter *e, krf__str *out) {
    const size_t words = (krf_dtype_size((krf_dtype)krf__reduction(e, 0)->dtype) + 3) / 4 * (size_t)(threads_of(e) * e->k->vector);
    krf__str_put(out, words <= 32 && krf__cuda_quads(e) <= 2 ? "256, 4" : "256");
}

static const char *word_of(const krf__emitter *e, uint32_t operand) {
    return krf__cuda_vectored(e, operand) ? krf__cuda_word_type(e, operand) : krf__storage_type(e->k->operands[operand].dtype);
}

/* A thread's vectors of the lines' rows. */
static void rows(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_first(e, i)) {
            krf__str_printf(out, "%s first_%s[%d];\n", word_of(e, i), e->operand_names[i], 2 * krf__cuda_quads(e));
        }
    }
}

/* What a thread comes to of each result. */
static void arrays(krf__emitter *e, krf__str *out) {
    const int n = results_of(e) * (is_short(e) ? e->k->vector : lanes_of(e));
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s all%u[%d];\n", krf__cuda_accumulator_type(e, r), r, n);
        if (!is_short(e)) {
            krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    all%u[n] = ", n, r);
            krf__emit_identity(e, r, out);
            krf__str_put(out, ";\n}\n");
        }
    }
}

static void first(krf__emitter *e, krf__str *out) {
    const int quads = krf__cuda_quads(e);
    krf__cuda_put_loads(e, is_first, out);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_first(e, i)) {
            krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    first_%s[below * %d + n] = v_%s[n]%s;\n}\n", quads, e->operand_names[i], quads, e->operand_names[i], krf__cuda_as_word(e, i));
        }
    }
}

static void second(krf__emitter *e, krf__str *out) { krf__cuda_put_loads(e, is_second, out); }

static void taken(krf__emitter *e, krf__str *out) {
    const int quads = krf__cuda_quads(e);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_first(e, i)) {
            krf__cuda_put_held(e, i, quads, "", out);
            krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    v_%s[n]%s = first_%s[below * %d + n];\n}\n", quads, e->operand_names[i], krf__cuda_as_word(e, i), e->operand_names[i], quads);
        }
    }
}

/* Over a row that a thread does not have at once. */
static void over(krf__emitter *e, krf__str *out) {
    if (is_short(e)) {
        krf__str_put(out, "{\n");
    } else {
        krf__str_printf(out, "const int V = %d;\n#pragma unroll 1\nfor (%s p = first; p < last; p += %d) {\n", e->k->vector, krf__index_type(e), krf__cuda_tile(e));
        krf__cuda_put_whole(e, out);
    }
}

static void elements(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, is_short(e) ? "outer_short" : "outer_long", out); }

static void halves(krf__emitter *e, krf__str *out) { krf__cuda_put_halves(e, lanes_of(e), vector_of(e), out); }

static void lanes(krf__emitter *e, krf__str *out) {
    if (!is_short(e)) {
        krf__emit_skeleton(e, "outer_lanes", out);
    }
}

static void tree(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "auto &acc%u = all%u;\n", r, r);
    }
    krf__cuda_put_results_tree(e, results_of(e), vector_of(e), threads_of(e), out);
}

static void put_body(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "outer_body", out); }
static void body(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, put_body, out); }

const krf__hole krf__cuda_outer_holes[] = {
    {"OUTER_OWN", put_own}, {"OUTER_LANES_OWN", lanes_own}, {"OUTER_LANES_KEPT", lanes_kept}, {"OUTER_RESULTS", put_results}, {"OUTER_VECTOR", put_vector}, {"OUTER_LANES", lanes}, {"OUTER_HALVES", halves}, {"OUTER_THREADS", put_threads}, {"OUTER_ACROSS", put_across}, {"OUTER_LINES", put_lines}, {"OUTER_LINE", put_line},
    {"OUTER_COLUMNS", put_columns}, {"OUTER_COLUMN", put_column}, {"OUTER_BATCH", batch}, {"OUTER_BODY", body}, {"OUTER_SQUARE", put_square}, {"OUTER_BOUNDS", bounds}, {"OUTER_ARRAYS", arrays}, {"OUTER_ROWS", rows},
    {"OUTER_FIRST", first}, {"OUTER_SECOND", second}, {"OUTER_TAKEN", taken}, {"OUTER_OVER", over}, {"OUTER_ELEMENTS", elements}, {"OUTER_TREE", tree}, {NULL, NULL},
};
