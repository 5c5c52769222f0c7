/* The CUDA target's reductions of rows by a warp each: what stands in the holes of skeleton/reduce_row.cu and warp_chunks.cu. The chunks of a row follow one another, and meet in the threads of the warp, by the canonical
 * tree: of 32 lanes or fewer. */
#include "codegen/cuda.h"

#include <stdio.h>

static void none(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s of_chunk%u = ", krf__reduction_type(e, r), r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

static void kept(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        char value[16];
        snprintf(value, sizeof value, "r%u", r);
        krf__str_printf(out, "r%u = ", r);
        krf__cuda_put_shuffle(e, r, NULL, value, "0", out);
        krf__str_printf(out, ";\nif (thread == c) {\n    of_chunk%u = r%u;\n}\n", r, r);
    }
}

static void tree(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s r%u = of_chunk%u;\n", krf__reduction_type(e, r), r, r);
    }
    krf__cuda_put_results_down(e, " 1", 16, NULL, out);
}

static void row(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->chunks > 1 ? "warp_chunks" : "warp_row", out); }

const krf__hole krf__cuda_chunk_holes[] = {
    {"ROW_CHUNKS", row}, {"CHUNKS_NONE", none}, {"CHUNKS_KEPT", kept}, {"CHUNKS_TREE", tree}, {NULL, NULL},
};
