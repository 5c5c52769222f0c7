/* The CUDA target's reductions by warps: a warp a chunk. All follow the canonical tree
 * (docs/architecture.md): schedules decide who computes a lane, never which elements or in which order. */
#include "codegen/cuda.h"

#include <stdio.h>

static void put_combined(krf__emitter *e, uint32_t r, krf__str *out) {
    const bool guarded = krf__cuda_guards(e), costly = krf__costly_domain(e->k) && !guarded; /* a condition around what takes long would keep elements from overlapping */
    const int held = krf__cuda_accumulators(e);
    char slot[48];
    if (e->k->vector > 8) {
        snprintf(slot, sizeof slot, "%s %% 8", krf__cuda_element(e));
    } else if (held == 1) {
        snprintf(slot, sizeof slot, "0");
    } else if (krf__cuda_quads(e) * e->k->vector > held) {
        snprintf(slot, sizeof slot, "q %% (%d / V) * V + %s", held, krf__cuda_element(e));
    } else {
        snprintf(slot, sizeof slot, "q * V + %s", krf__cuda_element(e));
    }
    krf__str_put(out, costly || guarded ? "" : "if (");
    if (!costly && !guarded) {
        krf__cuda_put_there(e, out);
        krf__str_put(out, ") {\n    ");
    }
    if (!costly && krf__cuda_takes_product(e, r)) {
        char lane[64];
        snprintf(lane, sizeof lane, "acc%u[%s]", r, slot);
        krf__str_printf(out, "%s = ", lane);
        krf__cuda_put_product_added(e, r, lane, out);
        krf__str_put(out, guarded ? ";\n" : ";\n}\n");
        return;
    }
    krf__str_printf(out, "acc%u[%s] = red%u(acc%u[%s], ", r, slot, e->reduction + r, r, slot);
    if (costly) {
        krf__cuda_put_there(e, out);
        krf__str_put(out, " ? ");
    }
    krf__cuda_put_summand(e, r, out);
    krf__str_put(out, costly ? " : " : guarded ? ");\n" : ");\n}\n");
    if (costly) {
        krf__str_put(out, krf__sums_narrow(e, r) ? "(int)" : "");
        krf__emit_identity(e, r, out);
        krf__str_put(out, ");\n");
    }
}

static void reduce_body(krf__emitter *e, krf__str *out) {
    e->mode = 0;
    if (e->bytes4) {
        krf__cuda_put_statements(e, 0, e->k->n_domain, "", out);
    }
    if (e->k->places || krf__cuda_by_fours(e) || e->bytes4) {
        (e->k->places ? krf__cuda_put_place_taken : krf__cuda_put_fours)(e, out);
        return;
    }
    krf__cuda_put_statements(e, 0, e->k->n_domain, "", out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (krf__cuda_has_pairs(e, r)) {
            krf__cuda_put_pair_compared(e, r, out);
        } else {
            krf__cuda_put_each(e, put_combined, r, out);
        }
    }
    krf__cuda_put_taken(e, out);
}

static void reduce_stores(krf__emitter *e, krf__str *out) { krf__cuda_put_elements(e, "valid", out); }

/* Element k of these is added to the accumulator of its lane; to any, where no order matters. */
static void put_rest_lanes(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const bool free = krf__all_order_free(k);
    if (!free) {
        krf__str_printf(out, "        #pragma unroll\n        for (int n = 0; n < %d; n++) {\n            if (n == ", krf__cuda_accumulators(e));
        if (k->vector > 8) {
            krf__str_put(out, "k % 8) {\n");
        } else {
            krf__str_printf(out, "rest_lane / (%d * V) * V + k) {\n", krf__cuda_together(e));
        }
    }
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        if (!krf__cuda_has_top(e, r)) {
            krf__str_printf(out, free ? "        acc%u[0] = red%u(acc%u[0], " : "                acc%u[n] = red%u(acc%u[n], ", r, r, r);
            krf__cuda_put_summand(e, r, out);
            krf__str_put(out, ");\n");
        }
    }
    krf__str_put(out, free ? "" : "            }\n        }\n");
}

/* The up to V - 1 elements after the last whole vector: the thread of their lanes takes them one by one. */
static void reduce_rest(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str position = {0};
    if (k->places) {
        krf__cuda_put_place_keys(e, out);
    }
    if (!k->rest) {
        return;
    }
    krf__str_printf(out, "const int rest = (int)((last - first) %% %d), rest_lane = (int)((last - first - rest) %% 256);\n", k->vector);
    krf__str_printf(out, "if (thread == rest_lane / %d %% %d) {\n    #pragma unroll 1\n", k->vector, krf__cuda_together(e));
    krf__str_printf(out, "    for (int k = 0; k < rest; k++) {\n        const %s p_k = last - rest + k;\n", krf__index_type(e));
    krf__emit_position(e, KRF__PART_REDUCED, "p_k", &position);
    krf__cuda_put_lines(out, "        ", position.data);
    e->mode = 3;
    krf__cuda_put_statements(e, 0, k->n_domain, "        ", out);
    e->mode = 0;
    krf__cuda_put_element(e, "        ", out);
    uint32_t tops = 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        if (krf__cuda_has_top(e, r)) {
            krf__cuda_put_top_of_one(e, r, out);
            tops++;
        }
    }
    if (tops < k->n_reductions) {
        put_rest_lanes(e, out);
    }
    krf__str_put(out, "    }\n}\n");
    out->failed |= position.failed;
    krf__str_free(&position);
}

static void accumulators(krf__emitter *e, krf__str *out) {
    if (e->k->n_reductions > 0) {
        krf__str_printf(out, "const int V = %d;\n", e->k->vector);
    }
    if (e->k->places) {
        krf__cuda_put_place_counts(e, out);
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const int n = krf__cuda_accumulators(e);
        if (krf__cuda_has_top(e, r)) {
            krf__cuda_put_tops(e, r, out);
            continue;
        }
        if (krf__cuda_has_pairs(e, r)) {
            krf__cuda_put_pairs(e, r, out);
            continue;
        }
        krf__str_printf(out, "%s acc%u[%d];\n#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    acc%u[n] = ", krf__cuda_accumulator_type(e, r), r, n, n, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

/* What a chunk comes to: in one warp, or in several that share it. */
static void warp_tree(krf__emitter *e, krf__str *out) {
    if (e->k->team > 1) {
        krf__cuda_put_team_tree(e, out);
    } else {
        krf__cuda_put_warp_tree(e, out);
    }
}

static void warp_chunk_loops(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->relay ? "relay_chunk" : e->k->tiles ? "team_chunk" : "warp_chunk", out); }
static void warp_chunk(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, warp_chunk_loops, out); }

static void put_tile(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__cuda_tile(e)); }
static void put_quads(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__cuda_quads(e)); }

const krf__hole krf__cuda_reduce_holes[] = {
    {"WARP_CHUNK", warp_chunk},
    {"ACCUMULATORS", accumulators},
    {"TILE", put_tile},
    {"QUADS", put_quads},
    {"REDUCE_VECTORS", krf__cuda_put_vectors},
    {"REDUCE_BODY", reduce_body},
    {"TURNS", krf__cuda_put_turns},
    {"REDUCE_STORES", reduce_stores},
    {"REDUCE_REST", reduce_rest},
    {"WARP_TREE", warp_tree},
    {"RESULTS", krf__cuda_put_results},
    {NULL, NULL},
};
