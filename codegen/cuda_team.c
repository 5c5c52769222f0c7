/* The CUDA target's reductions whose warps share a chunk (krf__kernel.team): a team of them, each thread of which has fewer lanes of the canonical tree. What stands in
 * the holes of skeleton/reduce_all.cu for that, and for warps that have a chunk each. */
#include "codegen/cuda.h"

static bool shares(const krf__emitter *e) { return e->k->team > 1; }

/* The lanes of all chunks that a block has at once: of one reduction, then of the next. */
static void shared(krf__emitter *e, krf__str *out) {
    if (shares(e)) {
        krf__str_put(out, "__shared__ union {\n");
        for (uint32_t r = 0; r < e->k->n_reductions; r++) {
            krf__str_printf(out, "    %s of%u[%d];\n", krf__cuda_accumulator_type(e, r), r, KRF__LANES * 8 / e->k->team);
        }
        krf__str_put(out, "} meet;\n");
    }
}

static void place(krf__emitter *e, krf__str *out) {
    const int together = krf__cuda_together(e);
    krf__str_printf(out, "const int thread = threadIdx.x %% %d, team = threadIdx.x / %d, teams = blockDim.x / %d;\n", together, together, together);
}

/* The teams of a block meet, and so take as many turns each. */
static void goes_on(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, shares(e) ? "c - team < (%s)a.chunks" : "c < (%s)a.chunks", krf__index_type(e));
}

/* Of a team without a chunk: nothing, but what it loads before it finds that out is there. */
static void bounds(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    if (shares(e)) {
        krf__str_printf(out, "const bool any = c < (%s)a.chunks;\nconst %s first = any ? c * (%s)a.chunk : 0;\nconst %s last = !any ? 0 : ", type, type, type, type);
    } else {
        krf__str_printf(out, "const %s first = c * (%s)a.chunk;\nconst %s last = ", type, type, type);
    }
    krf__cuda_put_reduced_size(e, out);
    krf__str_printf(out, " - first < (%s)a.chunk ? ", type);
    krf__cuda_put_reduced_size(e, out);
    krf__str_printf(out, " : first + (%s)a.chunk;\n", type);
}

static void ends(krf__emitter *e, krf__str *out) { krf__str_put(out, shares(e) ? "thread == 0 && any" : "thread == 0"); }

void krf__cuda_put_team_tree(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_put(out, "__syncthreads();\n#pragma unroll\n");
        krf__str_printf(out, "for (int n = 0; n < %d; n++) {\n    meet.of%u[team * %d + thread * V + n] = acc%u[n];\n}\n", krf__cuda_accumulators(e), r, KRF__LANES, r);
        krf__str_printf(out, "__syncthreads();\n%s r%u = ", krf__reduction_type(e, r), r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\nif (thread < 32) {\n%s acc%u[8];\n", krf__cuda_accumulator_type(e, r), r);
        krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < 8; n++) {\n    acc%u[n] = meet.of%u[team * %d + n * 32 + thread];\n}\n", r, r, KRF__LANES);
        krf__cuda_put_lane_halves(e, r, out);
        krf__str_printf(out, "r%u = acc%u[0];\n}\n", r, r);
    }
}

const krf__hole krf__cuda_team_holes[] = {
    {"TEAM_SHARED", shared}, {"TEAM_PLACE", place}, {"TEAM_GOES_ON", goes_on}, {"TEAM_BOUNDS", bounds}, {"TEAM_ENDS", ends}, {NULL, NULL},
};
