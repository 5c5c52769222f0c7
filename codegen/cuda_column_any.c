/* The CUDA target's reductions of integers by columns, for which no order matters: what stands in the holes of skeleton/column_any.cu and any_chunk.cu. A thread has one
 * accumulator of each of its columns, of 32 bits where a chunk's sum fits them. */
#include "codegen/cuda.h"

static int columns(const krf__emitter *e) { return e->k->abreast * e->k->vector; }
static void put_columns(krf__emitter *e, krf__str *out) { krf__str_i64(out, columns(e)); }

static void put_each(krf__emitter *e, krf__str *out, void (*put)(krf__emitter *e, uint32_t r, krf__str *out)) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put(e, r, out);
    }
}

static void put_array(krf__emitter *e, uint32_t r, const char *type, const char *name, int n, krf__str *out) {
    krf__str_printf(out, "%s %s%u[%d];\n#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    %s%u[k] = ", type, name, r, n, n, name, r);
    krf__emit_identity(e, r, out);
    krf__str_put(out, ";\n}\n");
}

/* What lasts for all chunks of a block: accumulators, or where a chunk has narrow ones what the thread is left with. */
static void put_cleared(krf__emitter *e, uint32_t r, krf__str *out) {
    const bool narrow = krf__sums_narrow(e, r);
    if (krf__cuda_has_column_tops(e, r)) {
        krf__cuda_put_column_tops(e, r, out);
        return;
    }
    put_array(e, r, krf__reduction_type(e, r), narrow ? "own" : "acc", narrow ? krf__cuda_columns_left(e) : e->k->vector, out);
}

static void clear(krf__emitter *e, krf__str *out) {
    krf__cuda_put_column_sides(e, out);
    put_each(e, out, put_cleared);
}

/* ---- elements ---- */

static void step(krf__emitter *e, krf__str *out) { krf__str_i64(out, 256 / e->k->abreast * krf__cuda_columns_together(e)); }

static void put_accumulators(krf__emitter *e, uint32_t r, krf__str *out) {
    if (krf__sums_narrow(e, r)) {
        put_array(e, r, krf__cuda_accumulator_type(e, r), "acc", e->k->vector, out);
    }
}

static void start(krf__emitter *e, krf__str *out) { put_each(e, out, put_accumulators); }

static void put_taken(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "acc%u[k] = red%u(acc%u[k], ", r, r, r);
    krf__cuda_put_summand(e, r, out);
    krf__str_put(out, ");\n");
}

static void body(krf__emitter *e, krf__str *out) {
    if (krf__cuda_by_fours(e)) {
        krf__cuda_put_one_of_four(e, out);
    } else {
        krf__cuda_put_column_element(e, "inside", out);
        put_each(e, out, put_taken);
    }
}

static void put_folded(krf__emitter *e, uint32_t r, krf__str *out) {
    if (krf__sums_narrow(e, r)) {
        krf__cuda_put_column_tree(e, r, out);
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    own%u[k] = red%u(own%u[k], (%s)acc%u[k]);\n}\n", krf__cuda_columns_left(e), r, r, r, krf__reduction_type(e, r), r);
    }
}

static void fold(krf__emitter *e, krf__str *out) { put_each(e, out, put_folded); }

static void chunk_loops(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "any_chunk", out); }
static void chunk(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, chunk_loops, out); }

/* ---- warps, and blocks ---- */

static void put_warp(krf__emitter *e, uint32_t r, krf__str *out) { krf__str_printf(out, "    shared%u[mine + k] = %s%u[k];\n", r, krf__sums_narrow(e, r) ? "own" : "acc", r); }

static void put_folded_at_last(krf__emitter *e, uint32_t r, krf__str *out) {
    if (krf__cuda_has_column_tops(e, r)) {
        krf__cuda_put_column_tops_apart(e, r, out);
    }
    if (!krf__sums_narrow(e, r)) {
        krf__cuda_put_column_tree(e, r, out);
    }
}

/* What a thread has goes where its columns are; of threads that have the same one column, which alone are left then, the first has what they found. */
static void meet(krf__emitter *e, krf__str *out) {
    const int side = e->k->abreast, left = krf__cuda_columns_left(e);
    int n = e->k->vector, d = 16;
    put_each(e, out, put_folded_at_last);
    krf__str_printf(out, "const int mine = thread / 32 * %d + (int)threadIdx.x * %d", columns(e), n);
    for (; n > left; n /= 2, d /= 2) {
        krf__str_printf(out, " + thread / %d %% 2 * %d", d, n / 2);
    }
    krf__str_put(out, ";\n");
    if (d >= side) {
        krf__str_printf(out, "if (thread %% %d / %d == 0) {\n", 2 * d, side);
    }
    krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", left);
    put_each(e, out, put_warp);
    krf__str_put(out, d >= side ? "}\n}\n" : "}\n");
}

static void put_nothing(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "%s all%u = ", krf__reduction_type(e, r), r);
    krf__emit_identity(e, r, out);
    krf__str_put(out, ";\n");
}

static void nothing(krf__emitter *e, krf__str *out) { put_each(e, out, put_nothing); }

static void put_again(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "all%u = ", r);
    krf__emit_identity(e, r, out);
    krf__str_put(out, ";\n");
}

static void again(krf__emitter *e, krf__str *out) { put_each(e, out, put_again); }

static void put_found(krf__emitter *e, uint32_t r, krf__str *out) {
    (void)e;
    krf__str_printf(out, "all%u = red%u(all%u, shared%u[k]);\n", r, r, r, r);
}

static void found(krf__emitter *e, krf__str *out) { put_each(e, out, put_found); }

static void put_met(krf__emitter *e, uint32_t r, krf__str *out) {
    (void)e;
    krf__str_printf(out, "shared%u[thread] = all%u;\n", r, r);
}

static void put_pair(krf__emitter *e, uint32_t r, krf__str *out) {
    (void)e;
    krf__str_printf(out, "        shared%u[thread] = red%u(shared%u[thread], shared%u[thread + n]);\n", r, r, r, r);
}

static void tree(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "__syncthreads();\n");
    put_each(e, out, put_met);
    krf__str_printf(out, "#pragma unroll 1\nfor (int n = 128; n >= %d; n /= 2) {\n    __syncthreads();\n    if (thread < n) {\n", columns(e));
    put_each(e, out, put_pair);
    krf__str_put(out, "    }\n}\n");
}

/* Results of block b. */
static void put_partial(krf__emitter *e, uint32_t r, const char *qualifier, const char *block, krf__str *out) {
    krf__str_printf(out, "*(%s %s *)(a.scratch + ((long long)%u * gridDim.y + %s) * kept + column)", qualifier, krf__reduction_type(e, r), r, block);
}

static void put_done(krf__emitter *e, uint32_t r, krf__str *out) {
    put_partial(e, r, "volatile", "blockIdx.y", out);
    krf__str_printf(out, " = shared%u[thread];\n", r);
}

static void done(krf__emitter *e, krf__str *out) { put_each(e, out, put_done); }

static void put_got(krf__emitter *e, uint32_t r, krf__str *out) { krf__str_printf(out, "%s got%u[8];\n", krf__reduction_type(e, r), r); }

static void got(krf__emitter *e, krf__str *out) { put_each(e, out, put_got); }

static void put_loaded(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "got%u[n] = block < (int)gridDim.y ? ", r);
    put_partial(e, r, "volatile const", "block", out);
    krf__str_put(out, " : ");
    krf__emit_identity(e, r, out);
    krf__str_put(out, ";\n");
}

static void partials(krf__emitter *e, krf__str *out) { put_each(e, out, put_loaded); }

static void put_gathered(krf__emitter *e, uint32_t r, krf__str *out) {
    (void)e;
    krf__str_printf(out, "all%u = red%u(all%u, got%u[n]);\n", r, r, r, r);
}

static void gathered(krf__emitter *e, krf__str *out) { put_each(e, out, put_gathered); }

static void put_result(krf__emitter *e, uint32_t r, krf__str *out) { krf__str_printf(out, "const %s r%u = shared%u[thread];\n", krf__reduction_type(e, r), r, r); }

static void results(krf__emitter *e, krf__str *out) {
    put_each(e, out, put_result);
    krf__cuda_put_results(e, out);
}

const krf__hole krf__cuda_column_any_holes[] = {
    {"ANY_COLUMNS", put_columns},
    {"ANY_CLEAR", clear},
    {"ANY_STEP", step},
    {"ANY_START", start},
    {"ANY_BODY", body},
    {"ANY_FOLD", fold},
    {"ANY_CHUNK", chunk},
    {"ANY_MEET", meet},
    {"ANY_NOTHING", nothing},
    {"ANY_AGAIN", again},
    {"ANY_FOUND", found},
    {"ANY_TREE", tree},
    {"ANY_DONE", done},
    {"ANY_GOT", got},
    {"ANY_PARTIALS", partials},
    {"ANY_GATHERED", gathered},
    {"ANY_RESULTS", results},
    {NULL, NULL},
};
