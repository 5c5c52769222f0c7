/* The CUDA target's kernels of several rounds: what stands in the holes of skeleton/row.cu and of the skeletons of its rounds. The loads, the accumulators and a
 * warp's part of the canonical tree are those of reductions (cuda_reduce.c). */
#include "codegen/cuda.h"

#include <stdio.h>

/* Whether all warps have a chunk that the text has room for. */
static bool has_all_warps(const krf__kernel *k) { return k->whole || krf__row_rows(k) > 1; }

/* Warps are numbered through a row, which has as many as it has chunks, or as its blocks have. Every block must have begun before another writes into its shared memory: that is waited for where it happens first. */
static void place(krf__emitter *e, krf__str *out) {
    const int n = krf__row_warps(e->k) / krf__row_share(e->k), blocks = e->k->cluster;
    if (e->k->schedule == KRF__ROW_COL) {
        krf__cuda_put_side_place(e, out);
    } else if (has_all_warps(e->k) && blocks == 1) {
        krf__str_printf(out, "const int thread = threadIdx.x %% 32, warp = threadIdx.x / 32 %% %d, row = threadIdx.x / (32 * %d);\n", n, n);
    } else if (has_all_warps(e->k)) {
        krf__str_printf(out, "__cluster_barrier_arrive_relaxed();\nconst int thread = threadIdx.x %% 32, warp = blockIdx.x %% %d * %d + threadIdx.x / 32, row = 0;\n", blocks, n / blocks);
    } else if (blocks == 1) {
        krf__str_put(out, "const int thread = threadIdx.x % 32, warps = blockDim.x / 32, warp = threadIdx.x / 32, row = 0;\n");
    } else {
        krf__str_printf(out, "__cluster_barrier_arrive_relaxed();\nconst int thread = threadIdx.x %% 32, warps = blockDim.x / 32 * %d, warp = blockIdx.x %% %d * (blockDim.x / 32) + threadIdx.x / 32, row = 0;\n",
                        blocks, blocks);
    }
}

/* Blocks that begin together load together, and then compute, and memory has nothing to do; large ones are few, and stay in step. Half as long again as memory takes for what those have that begin first. */
static void begin(krf__emitter *e, krf__str *out) {
    enum { FEW = 5, BYTES_A_CYCLE = 12 /* two thirds of a multiprocessor's share of what memory delivers (H200: softmax of rows of 32,000 bf16 0.0690 -> 0.0669 ms, deviations of 32,768 f32 0.0725 -> 0.0647) */ };
    const int blocks = krf__cuda_row_blocks(e);
    if (krf__holds_rows(e->k) && blocks <= FEW) {
        krf__str_printf(out, "krf_begin_one_by_one(%d, %d, %d);\n", blocks, e->k->cluster, blocks * (int)krf__held_bytes(e->k) / BYTES_A_CYCLE);
    }
}

static void at(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    if (e->k->cluster == 1) {
        krf__str_printf(out, "(%s)blockIdx.x * %d + row", type, krf__row_rows(e->k));
    } else if (krf__row_rows(e->k) == 1) {
        krf__str_printf(out, "(%s)(blockIdx.x / %d)", type, e->k->cluster);
    } else {
        krf__str_printf(out, "(%s)(blockIdx.x / %d) * %d + row", type, e->k->cluster, krf__row_rows(e->k));
    }
}

/* Not to ask for each vector whether the row is there saves a compiler a tenth (layer norm of 262,144 f32 154 -> 140 ms), and changes no time but that of rows that shared memory holds, 0.97 for softmax of 20,480 bf16. */
static void own(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, krf__row_rows(e->k) == 1 && !krf__holds_rows(e->k) ? "row_alone" : "row_beside", out); }

static void chunk(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    if (e->k->words) {
        krf__cuda_put_chunk_words(e, out);
    } else {
        const int length = 1024 * krf__row_share(e->k);
        krf__str_printf(out, "const %s first = (%s)warp * %d, last = first + %d < ", type, type, length, length);
        krf__cuda_put_reduced_size(e, out);
        krf__str_printf(out, " ? first + %d : ", length);
        krf__cuda_put_reduced_size(e, out);
        krf__str_put(out, ";\n");
    }
}

/* ---- loads ---- */

/* Where it is not told that a large block may be alone, ptxas 13.0 gives some kernels of 1,024 threads 32 registers each and spills. */
static void bounds(krf__emitter *e, krf__str *out) {
    const int threads = krf__row_threads(e->k);
    if (e->k->cluster > 1) {
        krf__str_printf(out, "__cluster_dims__(%d, 1, 1) ", e->k->cluster);
    }
    const int blocks = krf__cuda_row_blocks(e);
    const bool told = e->k->cluster > 1 || threads == KRF__ROW_THREADS || blocks > 1;
    krf__str_printf(out, told ? "__launch_bounds__(%d, %d)" : "__launch_bounds__(%d)", threads, blocks);
}

static void put_shared_loads(krf__emitter *e, krf__str *out) { krf__cuda_put_loads(e, krf__cuda_of_several_rounds, out); }
static void put_own_loads(krf__emitter *e, krf__str *out) { krf__cuda_put_loads(e, krf__cuda_of_this_round, out); }

static void put_common_loads(krf__emitter *e, krf__str *out) { krf__cuda_put_loads(e, krf__cuda_of_all_rows, out); }
static void common_loads(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, put_common_loads, out); }

static void row_loads(krf__emitter *e, krf__str *out) {
    krf__cuda_put_held_copies(e, out);
    krf__cuda_put_turns_whole(e, out);
    if (krf__cuda_row_stays(e)) {
        if (!krf__short_rows(e->k)) {
            krf__str_printf(out, "const %s p = first;\n", krf__index_type(e));
            krf__cuda_put_whole(e, out);
        }
        krf__cuda_unrolled(e, put_shared_loads, out);
    }
}

static void round_loads(krf__emitter *e, krf__str *out) {
    if (krf__cuda_loads_late(e)) {
        krf__cuda_put_late_loads(e, krf__cuda_of_this_round, true, krf__cuda_loads_next(e) ? "0" : NULL, out);
    } else {
        krf__cuda_unrolled(e, put_own_loads, out);
    }
}

static void late_loads(krf__emitter *e, krf__str *out) {
    if (krf__cuda_loads_late(e) && !krf__cuda_loads_next(e)) {
        krf__cuda_put_late_loads(e, krf__cuda_of_this_round, false, "q", out);
    }
}

static void next_loads(krf__emitter *e, krf__str *out) {
    if (krf__cuda_loads_late(e) && krf__cuda_loads_next(e)) {
        krf__cuda_put_late_loads(e, krf__cuda_of_this_round, false, "(q + 1)", out);
    }
}

static void guard(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__cuda_guards(e) ? "if (valid) {\n" : ""); }
static void guard_end(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__cuda_guards(e) ? "}\n" : ""); }

static void round_fixed(krf__emitter *e, krf__str *out) {
    krf__cuda_keep(e);
    krf__cuda_put_fixed(e, out);
}

static void round_loop(krf__emitter *e, krf__str *out) {
    if (krf__cuda_row_stays(e)) {
        krf__str_put(out, "{\n");
    } else {
        krf__str_printf(out, "#pragma unroll 1\nfor (%s p = first; p < last; p += %d) {\n", krf__index_type(e), krf__cuda_tile(e));
        krf__cuda_put_whole(e, out);
    }
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_walks(e) && krf__cuda_in_domain(e, i, KRF__store)) {
            krf__cuda_put_walk(e, i, out);
        }
    }
}

/* ---- rounds that reduce ---- */

static void shared_of_round(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s shared%u[%d];\n", krf__reduction_type(e, r), e->reduction + r, krf__row_warps(e->k) * krf__row_rows(e->k));
    }
}

static void shared(krf__emitter *e, krf__str *out) {
    if (e->k->schedule == KRF__ROW_COL) {
        krf__emit_rounds(e, krf__cuda_put_side_shared, out);
    } else if (krf__row_warps(e->k) > 1) {
        krf__emit_rounds(e, shared_of_round, out);
    }
}

/* What thread `lane` of the warp has of result r. */
static void put_shuffle(krf__emitter *e, uint32_t r, const char *lane, krf__str *out) {
    krf__str value = {0};
    krf__str_printf(&value, "r%u", r);
    krf__cuda_put_shuffle(e, r, NULL, value.data != NULL ? value.data : "", lane, out);
    out->failed |= value.failed;
    krf__str_free(&value);
}

/* Results of which a row's is made: of chunks, or of warps. */
static int partials(const krf__emitter *e) { return krf__row_warps(e->k) / (krf__cuda_goes_in_turn(e) ? 1 : krf__row_share(e->k)); }

/* Puts a warp's results where all warps of the row find them. Blocks of a cluster have each a copy, written by the others, so that none reads the memory of one that
 * may have ended. Every round has shared memory of its own: one barrier a round is enough. */
static void put_partials(krf__emitter *e, krf__str *out) {
    const int n = partials(e), blocks = e->k->cluster;
    char chunk[32];
    snprintf(chunk, sizeof chunk, krf__cuda_goes_in_turn(e) ? "warp * %d + turn" : "warp", krf__row_share(e->k));
    if (blocks > 1 && e->reduction == 0) {
        krf__str_put(out, krf__cuda_goes_in_turn(e) ? "if (turn == 0) {\n    __cluster_barrier_wait();\n}\n" : "__cluster_barrier_wait();\n");
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const uint32_t f = e->reduction + r;
        if (blocks == 1) {
            krf__str_printf(out, "if (thread == 0) {\n    shared%u[row * %d + %s] = r%u;\n}\n", f, n, chunk, r);
            continue;
        }
        krf__str_printf(out, "r%u = ", r);
        put_shuffle(e, r, "0", out);
        krf__str_printf(out, ";\nif (thread < %d) {\n    *(%s *)__cluster_map_shared_rank(&shared%u[%s], thread) = r%u;\n}\n", blocks, krf__reduction_type(e, r), f, chunk, r);
    }
}

static void put_meeting(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->cluster > 1 ? "__cluster_barrier_arrive();\n__cluster_barrier_wait();\n" : "__syncthreads();\n"); }

static void turns_end(krf__emitter *e, krf__str *out) {
    if (krf__cuda_goes_in_turn(e)) {
        put_partials(e, out);
        krf__cuda_put_turns_end(e, out);
    }
}

/* What a warp found, or the identity where there is no such warp. */
static void put_found(krf__emitter *e, uint32_t r, const char *warp, krf__str *out) {
    const bool all = has_all_warps(e->k);
    krf__str_printf(out, "red%u(", e->reduction + r);
    krf__emit_identity(e, r, out);
    if (all) {
        krf__str_put(out, ", ");
    } else if (krf__cuda_goes_in_turn(e)) {
        krf__str_printf(out, ", %s < warps * %d ? ", warp, krf__row_share(e->k));
    } else {
        krf__str_printf(out, ", %s < warps ? ", warp);
    }
    krf__str_printf(out, all ? "shared%u[%s]" : "shared%u[%s] : ", e->reduction + r, warp);
    if (!all) {
        krf__emit_identity(e, r, out);
    }
    krf__str_put(out, ");\n");
}

/* Lane w of the tree over chunks is warp w's result, or the identity; every warp of the row does that tree. A thread has lanes that are 32 apart: accumulators anew,
 * for those of a chunk may be of a narrower type. */
static void put_row_tree(krf__emitter *e, krf__str *out) {
    const int n = partials(e), each = n > 32 ? n / 32 : 1, threads = n / each;
    char lane[48];
    snprintf(lane, sizeof lane, krf__row_rows(e->k) > 1 ? "row * %d + thread %% %d" : "thread %% %d", n, n);
    krf__str_put(out, each > 1 ? "{\n" : "");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (each > 1) {
            krf__str_printf(out, "%s acc%u[%d];\n#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    acc%u[k] = ", krf__reduction_type(e, r), r, each, each, r);
            put_found(e, r, "k * 32 + thread", out);
            krf__str_put(out, "}\n");
        } else {
            krf__str_printf(out, "r%u = ", r);
            put_found(e, r, lane, out);
        }
    }
    if (each > 1) {
        krf__cuda_put_halves(e, each, 1, out);
    }
    for (uint32_t r = 0; r < e->k->n_reductions && each > 1; r++) {
        krf__str_printf(out, "r%u = acc%u[0];\n", r, r);
    }
    krf__str_put(out, each > 1 ? "}\n" : "");
    krf__cuda_put_results_down(e, krf__cuda_writes_tree(e) ? "" : " 1", threads / 2, NULL, out);
}

/* All threads have then what thread 0 of the row has. */
static void share(krf__emitter *e, krf__str *out) {
    const bool beside = e->k->schedule == KRF__ROW_COL;
    if (beside && e->k->n_reductions > 0) {
        krf__cuda_put_side_share(e, out);
    } else if (e->k->n_reductions > 0 && krf__row_warps(e->k) > 1) {
        if (!krf__cuda_goes_in_turn(e)) {
            put_partials(e, out);
        }
        put_meeting(e, out);
        put_row_tree(e, out);
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = ", krf__reduction_type(e, r), e->k->n_domain + r);
        if (beside || (krf__literal_rows(e->kernel) && krf__short_threads(e->kernel) == 1)) {
            krf__str_printf(out, "r%u", r);
        } else {
            put_shuffle(e, r, krf__short_rows(e->k) ? "leader" : "0", out);
        }
        krf__str_put(out, ";\n");
    }
}

static void results(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const uint32_t first = k->n_domain + k->n_reductions;
    e->mode = 1;
    krf__cuda_put_statements(e, first, k->n_instrs, "", out);
    e->mode = 0;
    for (uint32_t i = first; i < k->n_instrs; i++) {
        const krf__instr *s = &k->instrs[i];
        const char *name = s->op == KRF__store ? e->operand_names[s->slot] : NULL;
        if (name == NULL) {
            continue;
        }
        if (k->operands[s->slot].inner != 0) {
            krf__str_printf(out, "%s = ", name);
            krf__emit_stored(e, s->args[0], (krf_dtype)s->dtype, out);
            krf__str_put(out, ";\n");
        } else {
            krf__str_printf(out, "if (thread == 0%s && inside) {\n    ", krf__short_rows(k) ? "" : " && warp == 0");
            krf__cuda_put_store(e, s, false, out);
            krf__str_put(out, "}\n");
        }
    }
}

/* ---- rounds that store elements ---- */

static void stores(krf__emitter *e, krf__str *out) {
    krf__cuda_put_held_kept(e, out);
    krf__cuda_put_elements(e, "valid && inside", out);
}

static void put_round(krf__emitter *e, krf__str *out) {
    const bool reduces = e->k->n_reductions > 0;
    krf__emit_skeleton(e, !krf__short_rows(e->k) ? "row_round" : reduces ? "short_reduce" : "short_map", out);
}

static void one_round(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, put_round, out); }
static void rounds(krf__emitter *e, krf__str *out) { krf__emit_rounds(e, one_round, out); }

const krf__hole krf__cuda_row_holes[] = {
    {"ROW_BOUNDS", bounds},
    {"ROW_BEGIN", begin},
    {"ROW_PLACE", place},
    {"ROW_AT", at},
    {"ROW_OWN", own},
    {"ROW_CHUNK", chunk},
    {"ROW_SHARED", shared},
    {"ROW_VALUES", krf__emit_row_values},
    {"ROW_COMMON_LOADS", common_loads},
    {"ROW_LOADS", row_loads},
    {"ROUNDS", rounds},
    {"ROUND_FIXED", round_fixed},
    {"TURNS_BEGIN", krf__cuda_put_turns_begin},
    {"TURNS_END", turns_end},
    {"ROUND_LOOP", round_loop},
    {"ROUND_LOADS", round_loads},
    {"ROUND_LATE", late_loads},
    {"ROUND_GUARD", guard},
    {"GUARD_END", guard_end},
    {"ROUND_NEXT", next_loads},
    {"ROUND_SHARE", share},
    {"ROUND_RESULTS", results},
    {"ROUND_VECTORS", krf__cuda_put_vectors},
    {"ROUND_STORES", stores},
    {NULL, NULL},
};
