/* The partial results of the chunks of a long reduction of the CUDA target: where they are put, and how the block that comes last folds them. */
#include "codegen/cuda.h"

#include <stdio.h>

static void put_partial(krf__emitter *e, uint32_t r, bool read, const char *index, krf__str *out) {
    const uint32_t words = krf__accumulator_words(e->k, r), before = krf__accumulator_words_before(e->k, r);
    krf__str_put(out, words > 1 && read ? krf__reduction_type(e, r) : ""); /* ?: takes no volatile struct */
    krf__str_printf(out, words > 1 && read ? "_read(*(%s%s *)(a.scratch + " : "*(%s%s *)(a.scratch + ", read ? "volatile const " : words > 1 ? "" : "volatile ", krf__reduction_type(e, r));
    if (words == 1) {
        krf__str_printf(out, "(%u * kept + o) * a.chunks + %s)", before, index);
    } else {
        krf__str_printf(out, "%uLL * kept * a.chunks + (o * a.chunks + (%s)) * %u%s", before, index, words, read ? "))" : ")");
    }
}

static void chunk_done(krf__emitter *e, krf__str *out) {
    if (e->k->chunks == 1) {
        krf__cuda_put_results(e, out);
        return;
    }
    krf__str_put(out, "if (alone) {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    shared%u[c] = r%u;\n", r, r);
    }
    krf__str_put(out, "} else {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_partial(e, r, false, "c", out);
        krf__str_printf(out, " = r%u;\n", r);
    }
    krf__str_put(out, "}\n");
}

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s shared%u[256];\n", krf__reduction_type(e, r), r);
    }
}

static void put_identity(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__emit_identity(e, r, out);
    krf__str_put(out, ";\n");
}

/* Of lanes without a chunk. */
static void shared_nothing(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "shared%u[n] = ", r);
        put_identity(e, r, out);
    }
}

/* Reductions from `first` on whose partial results are loaded together, as far as registers go. */
static uint32_t loaded_together(const krf__emitter *e, uint32_t first) {
    enum { BYTES = 24 };
    size_t bytes = 0;
    uint32_t r = first;
    for (; r < e->k->n_reductions && (r == first || bytes < BYTES); r++) {
        bytes += krf__cuda_accumulator_bytes(e, r);
    }
    return bytes > BYTES && r > first + 1 ? r - 1 : r;
}

/* Lane t of the tree over chunks is thread t, which loads 16 partial results at once: all of as many chunks as most arrays have. */
static void block_combine_loops(krf__emitter *e, krf__str *out) {
    for (uint32_t first = 0, end; first < e->k->n_reductions; first = end) {
        end = loaded_together(e, first);
        const int n = krf__accumulator_bytes(e->k) > 8 || krf__costly_domain(e->k) ? 8 : 16;
        for (uint32_t r = first; r < end; r++) {
            krf__str_printf(out, "%s r%u = ", krf__reduction_type(e, r), r);
            put_identity(e, r, out);
        }
        krf__str_printf(out, "#pragma unroll 1\nfor (int n = threadIdx.x; n < (int)a.chunks; n += %d) {\n", 256 * n);
        for (uint32_t r = first; r < end; r++) {
            krf__str_printf(out, "    %s part%u[%d];\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        part%u[k] = n + k * 256 < (int)a.chunks ? ", krf__reduction_type(e, r), r, n, n, r);
            put_partial(e, r, true, "n + k * 256", out);
            krf__str_put(out, " : ");
            put_identity(e, r, out);
            krf__str_put(out, "    }\n");
        }
        for (uint32_t r = first; r < end; r++) {
            krf__str_printf(out, "    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        r%u = red%u(r%u, part%u[k]);\n    }\n", n, r, r, r, r);
        }
        krf__str_put(out, "}\n");
        for (uint32_t r = first; r < end; r++) {
            krf__str_printf(out, "shared%u[threadIdx.x] = r%u;\n", r, r);
        }
    }
    krf__str_put(out, "__syncthreads();\n");
}

/* Lanes of the block that are 32 apart, by the tree; integers as they come, for which fewer registers do. */
static void put_lanes(krf__emitter *e, uint32_t r, krf__str *out) {
    const char *type = krf__reduction_type(e, r);
    if (krf__any_order(e->k)) {
        krf__str_printf(out, "%s r%u = ", type, r);
        put_identity(e, r, out);
        krf__str_printf(out, "#pragma unroll 1\nfor (int n = thread; n < lanes; n += 32) {\n    r%u = red%u(r%u, shared%u[n]);\n}\n", r, r, r, r);
        return;
    }
    krf__str_printf(out, "%s acc%u[8];\n#pragma unroll\nfor (int k = 0; k < 8; k++) {\n    acc%u[k] = shared%u[k * 32 + thread];\n}\n", type, r, r, r);
}

/* By one warp. (Which warp is asked before how many lanes there are: the other way round ptxas 13.0
 * loads a tile of argmax one vector after the other.) */
static void block_tree_loops(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_lanes(e, r, out);
    }
    if (!krf__any_order(e->k)) {
        krf__cuda_put_halves(e, 8, 1, out);
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        char value[16];
        snprintf(value, sizeof value, "r%u", r);
        if (!krf__any_order(e->k)) {
            krf__str_printf(out, "%s r%u = acc%u[0];\n", krf__reduction_type(e, r), r, r);
        }
        krf__str_printf(out, "#pragma unroll 1\nfor (int d = 16; d > 0; d /= 2) {\n    if (d < lanes) {\n        r%u = red%u(r%u, ", r, r, r);
        krf__cuda_put_shuffle(e, r, "down", value, "d", out);
        krf__str_put(out, ");\n    }\n}\n");
    }
}

static void block_combine(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, block_combine_loops, out); }
static void block_tree(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, block_tree_loops, out); }
static void split(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->chunks > 1 ? "true" : "false"); }

const krf__hole krf__cuda_partial_holes[] = {
    {"CHUNK_DONE", chunk_done},
    {"SPLIT", split},
    {"SHARED", shared},
    {"SHARED_NOTHING", shared_nothing},
    {"BLOCK_COMBINE", block_combine},
    {"BLOCK_TREE", block_tree},
    {NULL, NULL},
};
