/* The CUDA target's reductions whose warps have several results at once (krf__kernel.lines): what stands in the holes of skeleton/all_lines.cu, row_lines.cu and lines_chunk.cu. What a thread makes of its elements is what
 * cuda_outer.c and cuda_reduce.c print. */
#include "codegen/cuda.h"

static bool is_mine(const krf__emitter *e, uint32_t operand) { return krf__cuda_in_domain(e, operand, KRF__load) && krf__in_lines(e->kernel, operand); }
static bool is_shared(const krf__emitter *e, uint32_t operand) { return krf__cuda_in_domain(e, operand, KRF__load) && !krf__in_lines(e->kernel, operand); }

static void lines(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->lines); }
static void threads(krf__emitter *e, krf__str *out) { krf__str_i64(out, 32 / e->k->lines); }

/* Results that follow one another along their last dimension. */
static void groups(krf__emitter *e, krf__str *out) {
    const int last = e->k->n_kept - 1;
    if (last > 0) {
        krf__str_put(out, "(");
        for (int d = 0; d < last; d++) {
            krf__str_printf(out, "n%d * ", d);
        }
    }
    krf__str_printf(out, "((n%d + %d) / %d)%s", last, e->k->lines - 1, e->k->lines, last > 0 ? ")" : "");
}

static void place(krf__emitter *e, krf__str *out) {
    const int last = e->k->n_kept - 1;
    const char *type = krf__index_type(e);
    if (last > 0) {
        krf__str_printf(out, "const %s along = (n%d + %d) / %d, before = group / along * n%d, base = before + group %% along * %d, end = before + n%d, o = base;\n", type, last, e->k->lines - 1, e->k->lines, last,
                        e->k->lines, last);
    } else {
        krf__str_printf(out, "const %s base = group * %d, end = n0, o = base;\n", type, e->k->lines);
    }
}

static void rows(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_mine(e, i)) {
            krf__str_printf(out, "%s mine_%s[%d];\n", e->k->operands[i].counts ? "long long" : krf__storage_type(e->k->operands[i].dtype), e->operand_names[i], e->k->schedule == KRF__REDUCE_SHORT ? 1 : e->k->lines);
        }
    }
}

static void mine(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_mine(e, i)) {
            const bool counts = e->k->operands[i].counts;
            krf__str_printf(out, counts ? "mine_%s[line] = a.%s" : "mine_%s[line] = a.%s[0", e->operand_names[i], e->operand_names[i]);
            krf__cuda_put_offset(e, i, false, out);
            krf__str_put(out, counts ? ";\n" : "];\n");
        }
    }
}

static void taken(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_mine(e, i)) {
            krf__cuda_put_held(e, i, krf__cuda_quads(e), "", out);
            krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    v_%s[n] = mine_%s[line];\n}\n", krf__cuda_quads(e), e->operand_names[i], e->operand_names[i]);
        }
    }
}

void krf__cuda_put_shared_loads(krf__emitter *e, krf__str *out) { krf__cuda_put_loads(e, is_shared, out); }

void krf__cuda_put_line_loads(krf__emitter *e, krf__str *out) {
    rows(e, out);
    krf__str_put(out, "const int line = 0;\n");
    mine(e, out);
    taken(e, out);
}

static void all_shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s found%u[%d];\n", krf__reduction_type(e, r), r, KRF__LANES * e->k->lines);
    }
    krf__cuda_put_parts_shared(e, out);
}

static void own(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s *const shared%u = found%u + line * %d;\n", krf__reduction_type(e, r), r, r, KRF__LANES);
    }
}

static int words_of(size_t bytes) { return (int)(bytes + 3) / 4; }

/* Told that more blocks were wanted, ptxas 13.0 would spill. */
static void bounds(krf__emitter *e, krf__str *out) {
    enum { FOUR_BLOCKS = 48, THREE_BLOCKS = 64 }; /* registers */
    int registers = krf__cuda_accumulators(e) * e->k->lines * words_of(krf__accumulator_bytes(e->kernel));
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const int words = words_of(krf_dtype_size((krf_dtype)e->k->operands[i].dtype)) * (e->k->operands[i].counts ? 3 : 1); /* of places there is what becomes of them, too */
        registers += is_mine(e, i) ? e->k->lines * words : is_shared(e, i) ? krf__cuda_quads(e) * e->k->vector * words : 0;
    }
    krf__str_put(out, registers <= FOUR_BLOCKS ? "256, 4" : registers <= THREE_BLOCKS ? "256, 3" : "256, 2");
}

static void begin(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "lines_begin", out); }
static void put_chunk(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "lines_chunk", out); }
static void chunk(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, put_chunk, out); }

const krf__hole krf__cuda_line_holes[] = {
    {"LINES", lines}, {"LINES_BOUNDS", bounds}, {"LINE_THREADS", threads}, {"LINES_GROUPS", groups}, {"LINES_BEGIN", begin}, {"LINES_PLACE", place}, {"LINES_ROWS", rows}, {"LINES_MINE", mine}, {"LINES_TAKEN", taken},
    {"LINES_LOADS", krf__cuda_put_shared_loads}, {"LINES_SHARED", all_shared}, {"LINES_OWN", own}, {"LINES_CHUNK", chunk}, {NULL, NULL},
};
