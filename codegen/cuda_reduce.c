/* The CUDA target's reductions by warps: a warp a chunk, and how partial results meet. All follow the canonical tree
 * (docs/architecture.md): schedules decide who computes a lane, never which elements or in which order. */
#include "codegen/cuda.h"

#include <stdio.h>

/* ---- elements that are stored ---- */

static bool stores_element(const krf__emitter *e, uint32_t instr) { return e->k->instrs[instr].op == KRF__store; }

void krf__cuda_put_vectors(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *s = &k->instrs[i];
        if (stores_element(e, i)) {
            if (krf__cuda_vectored(e, s->slot)) {
                krf__cuda_put_union(e, s->slot, out);
                krf__str_put(out, ";\n");
            } else {
                krf__str_printf(out, "struct { %s at[%d]; } v_%s;\n", krf__storage_type(s->dtype), k->vector, e->operand_names[s->slot]);
            }
        }
    }
}

static void put_taken(krf__emitter *e, uint32_t store, krf__str *out) {
    const krf__instr *s = &e->k->instrs[store];
    krf__str_printf(out, "v_%s.at[%s] = ", e->operand_names[s->slot], krf__cuda_element(e));
    krf__emit_stored(e, s->args[0], (krf_dtype)s->dtype, out);
    krf__str_put(out, ";\n");
}

void krf__cuda_put_taken(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        if (stores_element(e, i) && e->twos && krf__is_half((krf_dtype)e->k->instrs[i].dtype)) {
            krf__cuda_put_taken_twos(e, i, out);
        } else if (stores_element(e, i)) {
            krf__cuda_put_each(e, put_taken, i, out);
        }
    }
}

void krf__cuda_put_turns(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->vector / (krf__cuda_by_fours(e) ? 4 : e->twos ? 2 : 1)); }

void krf__cuda_put_elements(krf__emitter *e, const char *condition, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str position = {0};
    bool any = false;
    krf__emit_position(e, KRF__PART_REDUCED, "p_q", &position);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *s = &k->instrs[i];
        if (!stores_element(e, i)) {
            continue;
        }
        if (!any) {
            krf__str_printf(out, "if (%s) {\n    ", condition);
            krf__cuda_put_vector_start(e, out);
            krf__cuda_put_lines(out, "    ", position.data);
            any = true;
        }
        const char *name = e->operand_names[s->slot];
        if (k->operands[s->slot].staged) {
            krf__str_put(out, "    ");
            krf__cuda_put_staged(e, s->slot, out);
            krf__str_printf(out, " = v_%s.at[0];\n", name);
        } else if (k->words) {
            krf__str_printf(out, "    krf_store_row_word(a.%s", name);
            krf__cuda_put_offset(e, s->slot, true, out);
            krf__str_printf(out, ", v_%s.word, (int)-p_q);\n", name);
        } else if (krf__cuda_vectored(e, s->slot)) {
            krf__str_printf(out, "    __stcs((%s *)(a.%s", krf__cuda_word_type(e, s->slot), name);
            krf__cuda_put_offset(e, s->slot, true, out);
            krf__str_printf(out, "), v_%s.word);\n", name);
        } else if (krf__cuda_walks(e)) {
            krf__str_printf(out, "    a.%s[side_%s + ", name, name);
            krf__cuda_put_vector_of_all(e, out);
            krf__str_printf(out, " * step_%s] = v_%s.at[0];\n", name, name);
        } else {
            krf__str_printf(out, "    a.%s[0", name);
            krf__cuda_put_offset(e, s->slot, true, out);
            krf__str_printf(out, "] = v_%s.at[0];\n", name);
        }
    }
    krf__str_put(out, any ? "}\n" : "");
    out->failed |= position.failed;
    krf__str_free(&position);
}

static void reduce_stores(krf__emitter *e, krf__str *out) { krf__cuda_put_elements(e, "valid", out); }

void krf__cuda_put_element(krf__emitter *e, const char *indent, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (stores_element(e, i)) {
            krf__str_put(out, indent);
            krf__cuda_put_store(e, &k->instrs[i], true, out);
        }
    }
}

/* ---- */

void krf__cuda_put_summand(const krf__emitter *e, uint32_t r, krf__str *out) {
    const uint32_t value = krf__reduction(e, r)->args[0];
    const bool narrow = krf__sums_narrow(e, r);
    krf__str_put(out, narrow ? "(int)" : "");
    krf__emit_value(e, narrow ? e->k->instrs[value].args[0] : value, out);
}

static void put_combined(krf__emitter *e, uint32_t r, krf__str *out) {
    const bool costly = krf__costly_domain(e->k); /* a condition around what takes long would keep elements from overlapping */
    const int held = krf__cuda_accumulators(e);
    char slot[48];
    if (e->k->vector > 8) {
        snprintf(slot, sizeof slot, "%s %% 8", krf__cuda_element(e));
    } else if (krf__cuda_quads(e) * e->k->vector > held) {
        snprintf(slot, sizeof slot, "q %% (%d / V) * V + %s", held, krf__cuda_element(e));
    } else {
        snprintf(slot, sizeof slot, "q * V + %s", krf__cuda_element(e));
    }
    krf__str_put(out, costly ? "" : "if (");
    if (!costly) {
        krf__cuda_put_there(e, out);
        krf__str_put(out, ") {\n    ");
    }
    krf__str_printf(out, "acc%u[%s] = red%u(acc%u[%s], ", r, slot, e->reduction + r, r, slot);
    if (costly) {
        krf__cuda_put_there(e, out);
        krf__str_put(out, " ? ");
    }
    krf__cuda_put_summand(e, r, out);
    krf__str_put(out, costly ? " : " : ");\n}\n");
    if (costly) {
        krf__str_put(out, krf__sums_narrow(e, r) ? "(int)" : "");
        krf__emit_identity(e, r, out);
        krf__str_put(out, ");\n");
    }
}

static void reduce_body(krf__emitter *e, krf__str *out) {
    e->mode = 0;
    if (krf__cuda_by_fours(e)) {
        krf__cuda_put_fours(e, out);
        return;
    }
    krf__cuda_put_statements(e, 0, e->k->n_domain, "", out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__cuda_put_each(e, put_combined, r, out);
    }
    krf__cuda_put_taken(e, out);
}

/* Element k of these is added to the accumulator of its lane. */
static void put_rest_lanes(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str_printf(out, "        #pragma unroll\n        for (int n = 0; n < %d; n++) {\n            if (n == ", krf__cuda_accumulators(e));
    if (k->vector > 8) {
        krf__str_put(out, "k % 8) {\n");
    } else {
        krf__str_printf(out, "rest_lane / (%d * V) * V + k) {\n", krf__cuda_together(e));
    }
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        if (!krf__cuda_has_top(e, r)) {
            krf__str_printf(out, "                acc%u[n] = red%u(acc%u[n], ", r, r, r);
            krf__cuda_put_summand(e, r, out);
            krf__str_put(out, ");\n");
        }
    }
    krf__str_put(out, "            }\n        }\n");
}

/* The up to V - 1 elements after the last whole vector: the thread of their lanes takes them one by one. */
static void reduce_rest(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str position = {0};
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
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const int n = krf__cuda_accumulators(e);
        if (krf__cuda_has_top(e, r)) {
            krf__cuda_put_tops(e, r, out);
            continue;
        }
        krf__str_printf(out, "%s acc%u[%d];\n#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    acc%u[n] = ", krf__cuda_accumulator_type(e, r), r, n, n, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

/* ---- partial results ---- */

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

void krf__cuda_put_results(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = r%u;\n", krf__reduction_type(e, r), k->n_domain + r, r);
    }
    e->mode = 1;
    krf__cuda_put_statements(e, k->n_domain + k->n_reductions, k->n_instrs, "", out);
    e->mode = 0;
    for (uint32_t i = k->n_domain + k->n_reductions; i < k->n_instrs; i++) {
        if (k->instrs[i].op == KRF__store) {
            krf__cuda_put_store(e, &k->instrs[i], false, out);
        }
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

static size_t bytes_of_accumulator(const krf__emitter *e, uint32_t r) {
    const uint32_t words = krf__accumulator_words(e->k, r);
    return words > 1 ? 8 * words : krf_dtype_size((krf_dtype)krf__reduction(e, r)->dtype);
}

/* Reductions from `first` on whose partial results are loaded together, as far as registers go. */
static uint32_t loaded_together(const krf__emitter *e, uint32_t first) {
    enum { BYTES = 24 };
    size_t bytes = 0;
    uint32_t r = first;
    for (; r < e->k->n_reductions && (r == first || bytes < BYTES); r++) {
        bytes += bytes_of_accumulator(e, r);
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

/* What a chunk comes to: in one warp, or in several that share it. */
static void warp_tree(krf__emitter *e, krf__str *out) {
    if (e->k->team > 1) {
        krf__cuda_put_team_tree(e, out);
    } else {
        krf__cuda_put_warp_tree(e, out);
    }
}

static void warp_chunk_loops(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "warp_chunk", out); }
static void warp_chunk(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, warp_chunk_loops, out); }
static void block_combine(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, block_combine_loops, out); }
static void block_tree(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, block_tree_loops, out); }

static void put_tile(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__cuda_tile(e)); }
static void put_quads(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__cuda_quads(e)); }
static void split(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->chunks > 1 ? "true" : "false"); }

/* Whether it takes longer to find where elements lie than to load them: several of them, one at a time. */
static bool finds_places(const krf__emitter *e) {
    int loads = 0;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        loads += krf__cuda_in_domain(e, i, KRF__load) && !e->k->operands[i].counts;
    }
    return e->k->vector == 1 && loads > 1;
}

/* Once the loops are written out, most of the compile time is an optimizer that finds nothing to do, but for long chains of dependent operations to mix, and places to share. */
static void option(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__costly_domain(e->k) || finds_places(e) ? "" : "// NVRTC option: --Ofast-compile=min\n"); }

/* As many blocks as the grid has for a multiprocessor; half of them, where accumulators need the registers. Teams are told how many registers they may have: left alone ptxas 13.0
 * takes 64 and spills. */
static void bounds(krf__emitter *e, krf__str *out) {
    size_t bytes = 0;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        bytes += bytes_of_accumulator(e, r);
    }
    int words = 8; /* of loads, where each has several */
    for (uint32_t i = 0; i < e->k->n_operands && e->k->vector == 1; i++) {
        words += krf__cuda_in_domain(e, i, KRF__load) ? krf__cuda_quads(e) * (int)((krf_dtype_size((krf_dtype)e->k->operands[i].dtype) + 3) / 4) : 0;
    }
    if (e->k->team > 1) {
        krf__str_put(out, bytes <= 8 ? "256, 4" : bytes <= 24 ? "256, 3" : "256, 2");
    } else if (krf__costly_domain(e->k) || (krf__any_order(e->k) && !krf__sums_narrow(e, 0))) {
        krf__str_put(out, "256");
    } else {
        krf__str_put(out, bytes <= 8 && words <= 48 ? "256, 4" : "256, 2");
    }
}

const krf__hole krf__cuda_reduce_holes[] = {
    {"REDUCE_BOUNDS", bounds},
    {"REDUCE_OPTION", option},
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
    {"CHUNK_DONE", chunk_done},
    {"SPLIT", split},
    {"SHARED", shared},
    {"SHARED_NOTHING", shared_nothing},
    {"BLOCK_COMBINE", block_combine},
    {"BLOCK_TREE", block_tree},
    {NULL, NULL},
};
