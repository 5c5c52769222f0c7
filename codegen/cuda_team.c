/* The CUDA target's reductions whose warps share a chunk (krf__kernel.team): a team of them, each thread of which has fewer lanes of the canonical tree. What stands in
 * the holes of skeleton/reduce_all.cu for that, and for warps that have a chunk each. */
#include "codegen/cuda.h"

static bool shares(const krf__emitter *e) { return e->k->team > 1; }

uint32_t krf__cuda_meet_end(const krf__emitter *e, uint32_t first, int64_t *bytes) {
    enum { MOST = 16 };
    uint32_t end = first;
    for (*bytes = 0; end < e->k->n_reductions && (end == first || e->k->relay || *bytes + krf__cuda_shared_bytes(e, end) <= MOST); end++) {
        *bytes += krf__cuda_shared_bytes(e, end);
    }
    return end;
}

/* The lanes of all chunks that a block has at once: of some reductions together, then of the next. */
static void shared(krf__emitter *e, krf__str *out) {
    if (!shares(e)) {
        return;
    }
    int64_t bytes;
    krf__str_put(out, "__shared__ union {\n");
    for (uint32_t first = 0, end; first < e->k->n_reductions; first = end) {
        end = krf__cuda_meet_end(e, first, &bytes);
        krf__str_put(out, "    struct {\n");
        for (uint32_t r = first; r < end; r++) {
            krf__str_printf(out, "        %s of%u[%d];\n", krf__cuda_accumulator_type(e, r), r, KRF__LANES * 8 / e->k->team);
        }
        krf__str_printf(out, "    } from%u;\n", first);
    }
    krf__str_put(out, "} meet;\n");
    if (e->k->relay) {
        krf__str_printf(out, "__shared__ %s next_chunk;\n", krf__index_type(e));
    }
}

static void place(krf__emitter *e, krf__str *out) {
    const int together = krf__cuda_together(e);
    if (e->k->relay) {
        krf__str_printf(out, "const int thread = threadIdx.x %% %d, runner = threadIdx.x / %d, team = 0, teams = 1;\n", together, together);
        return;
    }
    krf__str_printf(out, "const int thread = threadIdx.x %% %d, team = threadIdx.x / %d, teams = blockDim.x / %d;\n", together, together, together);
}

/* The teams of a block meet, and so take as many turns each. */
static void goes_on(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, shares(e) ? "c - team < (%s)a.chunks" : "c < (%s)a.chunks", krf__index_type(e));
}

/* Blocks that have a chunk at once take the next one that none has: so what all of them are at lies side by side. */
static void next(krf__emitter *e, krf__str *out) {
    if (e->k->relay) {
        krf__str_put(out, "c = next_chunk");
    } else {
        krf__str_printf(out, "c += (%s)gridDim.x * teams", krf__index_type(e));
    }
}

/* Of a team without a chunk: nothing, but what it loads before it finds that out is there. */
static void bounds(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    if (e->k->relay) {
        krf__str_printf(out, "const %s first = c * (%s)a.chunk + runner * %d, last = ", type, type, krf__cuda_tile(e));
        krf__cuda_put_reduced_size(e, out);
        krf__str_printf(out, " - first < %d ? ", krf__cuda_tile(e));
        krf__cuda_put_reduced_size(e, out);
        krf__str_printf(out, " : first + %d;\n", krf__cuda_tile(e));
        return;
    }
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

static void ends(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->relay ? "threadIdx.x == 0" : shares(e) ? "thread == 0 && any" : "thread == 0"); }

static void runners(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, KRF__RUNNERS);
}

static void take(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "acc%u[0] = meet.from0.of%u[thread];\n", r, r);
    }
}

static void give(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "meet.from0.of%u[thread] = acc%u[0];\n", r, r);
    }
}

/* Before the lanes of `end - first` reductions are folded, all of them are in shared memory. */
static void put_all_there(krf__emitter *e, uint32_t first, uint32_t end, krf__str *out) {
    if (e->k->relay) {
        return;
    }
    krf__str_put(out, "__syncthreads();\n");
    for (uint32_t r = first; r < end; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    meet.from%u.of%u[team * %d + thread * V + n] = acc%u[n];\n}\n", krf__cuda_accumulators(e), first, r, KRF__LANES, r);
    }
    krf__str_put(out, "__syncthreads();\n");
}

/* Each warp's first threads fold what they meet in; the others keep the identity. */
static void put_met(krf__emitter *e, uint32_t first, uint32_t end, krf__str *out) {
    put_all_there(e, first, end, out);
    for (uint32_t r = first; r < end; r++) {
        krf__str_printf(out, "%s r%u = ", krf__reduction_type(e, r), r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
    krf__str_put(out, e->k->relay ? "if (threadIdx.x < 32) {\n" : "if (thread < 32) {\n");
    for (uint32_t r = first; r < end; r++) {
        krf__str_printf(out, "    %s acc%u[8];\n", krf__cuda_accumulator_type(e, r), r);
        krf__str_printf(out, "    #pragma unroll\n    for (int n = 0; n < 8; n++) {\n        acc%u[n] = meet.from%u.of%u[team * %d + n * 32 + thread];\n    }\n", r, first, r, KRF__LANES);
    }
    krf__str halves = {0};
    krf__cuda_put_lane_halves(e, first, end, &halves);
    krf__cuda_put_lines(out, "    ", halves.data != NULL ? halves.data : "");
    out->failed |= halves.failed;
    krf__str_free(&halves);
    for (uint32_t r = first; r < end; r++) {
        krf__str_printf(out, "    r%u = acc%u[0];\n", r, r);
    }
    krf__str_put(out, "}\n");
}

void krf__cuda_put_team_tree(krf__emitter *e, krf__str *out) {
    int64_t bytes;
    for (uint32_t first = 0, end; first < e->k->n_reductions; first = end) {
        end = krf__cuda_meet_end(e, first, &bytes);
        put_met(e, first, end, out);
    }
}

const krf__hole krf__cuda_team_holes[] = {
    {"TEAM_SHARED", shared}, {"TEAM_PLACE", place}, {"TEAM_GOES_ON", goes_on}, {"TEAM_NEXT", next}, {"TEAM_BOUNDS", bounds}, {"TEAM_ENDS", ends}, {"RUNNERS", runners}, {"RELAY_TAKE", take}, {"RELAY_GIVE", give}, {NULL, NULL},
};
