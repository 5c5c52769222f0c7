/* The CUDA target. Operands of a vector kernel travel through unions of a 16-byte word (or less) and its elements; every load is issued before the
 * first use. Streaming hints (.cs): most operands are read or written once. No __restrict__: an output may be an input. */
#include "codegen/emitter.h"

#include <string.h>

static const krf__instr *reduction(const krf__emitter *e, uint32_t r) { return &e->k->instrs[e->k->n_domain + r]; }
static const char *reduction_type(const krf__emitter *e, uint32_t r) { return krf__c_type(reduction(e, r)->dtype); }

static bool in_domain(const krf__emitter *e, uint32_t operand, krf__op op) {
    for (uint32_t n = 0; n < e->k->n_domain; n++) {
        if (e->k->instrs[n].op == op && e->k->instrs[n].slot == operand) {
            return true;
        }
    }
    return false;
}

static bool vectored(const krf__emitter *e, uint32_t operand) { return e->k->operands[operand].aligned; }

/* The builtin type of a whole vector of an operand. */
static const char *word_type(const krf__emitter *e, uint32_t operand) {
    switch (krf_dtype_size((krf_dtype)e->k->operands[operand].dtype) * (size_t)e->k->vector) {
    case 16: return "uint4";
    case 8: return "uint2";
    case 4: return "unsigned";
    case 2: return "unsigned short";
    default: return "unsigned char";
    }
}

static void put_offset(const krf__emitter *e, uint32_t operand, bool reduced, krf__str *out) {
    krf__emit_offset(e, operand, KRF__PART_KEPT, -1, out);
    if (reduced) {
        krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, out);
    }
}

/* ---- map ---- */

static void map_loads(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    bool tail = k->vector > 1 && k->n_kept == 1;
    if (tail) {
        krf__str_printf(out, "const bool whole = i + %d <= n0;\n", k->vector);
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__c_type(k->operands[i].dtype);
        if (vectored(e, i)) {
            krf__str_printf(out, "union { %s word; %s at[%d]; } v_%s;\n", word_type(e, i), type, k->vector, name);
        }
        if (k->operands[i].store) {
            continue;
        }
        if (!vectored(e, i)) {
            krf__str_printf(out, "const %s v_%s = a.%s[0", type, name, name);
            put_offset(e, i, false, out);
            krf__str_put(out, "];\n");
            continue;
        }
        const char *lead = tail ? "if (whole) {\n    " : "";
        krf__str_printf(out, "%sv_%s.word = __ldcs((const %s *)(a.%s", lead, name, word_type(e, i), name);
        put_offset(e, i, false, out);
        krf__str_put(out, "));\n");
        if (tail) {
            krf__str_printf(out, "} else {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        v_%s.at[k] = i + k < n0 ? a.%s[i + k] : (%s)0;\n    }\n}\n",
                            k->vector, name, name, type);
        }
    }
}

/* The value of a load in the innermost loop. */
static void load(const krf__emitter *e, const krf__instr *i, krf__str *out) {
    const char *name = e->operand_names[i->slot];
    if (e->mode == 1) { /* over results */
        krf__str_printf(out, "a.%s[0", name);
        put_offset(e, i->slot, false, out);
        krf__str_put(out, "]");
    } else if (e->mode == 3 || e->k->schedule == KRF__REDUCE_COL) {
        krf__str_printf(out, "a.%s[0", name);
        put_offset(e, i->slot, true, out);
        krf__str_put(out, "]");
    } else if (e->k->schedule == KRF__MAP) {
        krf__str_printf(out, vectored(e, i->slot) ? "v_%s.at[k]" : "v_%s", name);
    } else if (vectored(e, i->slot)) {
        krf__str_printf(out, "v_%s[q].at[k]", name);
    } else {
        krf__str_printf(out, "v_%s[q]", name);
    }
}

static void put_lines(krf__str *out, const char *indent, const char *text) {
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, "\n") + 1;
        krf__str_put(out, indent);
        krf__str_putn(out, text, length);
        text += length;
    }
}

/* Of the domain part, only what depends on a load (varying), or only what does not. */
static void put_some(krf__emitter *e, uint32_t first, uint32_t last, bool varying, const char *indent, krf__str *out) {
    for (uint32_t i = first; i < last; i++) {
        krf__str line = {0};
        if (i < e->k->n_domain && e->taint[i] != varying) {
            continue;
        }
        krf__emit_statement(e, i, &line);
        if (line.data != NULL) {
            krf__str_printf(out, "%s%s", indent, line.data);
        }
        out->failed |= line.failed;
        krf__str_free(&line);
    }
}

static void put_statements(krf__emitter *e, uint32_t first, uint32_t last, const char *indent, krf__str *out) {
    put_some(e, first, last, true, indent, out);
}

/* Extents, and what is the same for every element: computed once a thread, because the compiler may not fold it. */
static void extents(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__emit_extents(e, out);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        e->taint[i] = k->instrs[i].op == KRF__load;
        for (int a = 0; a < krf__op_info_of(k->instrs[i].op)->arity; a++) {
            e->taint[i] |= e->taint[k->instrs[i].args[a]];
        }
    }
    put_some(e, 0, k->n_domain, false, "", out);
}

static void map_body(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    e->mode = 0;
    const char *indent = k->vector > 1 ? "    " : "";
    if (k->vector > 1) {
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", k->vector);
    }
    put_statements(e, 0, k->n_domain, indent, out);
    for (uint32_t i = 0; i < k->n_domain && k->vector > 1; i++) {
        if (k->instrs[i].op == KRF__store) {
            krf__str_printf(out, "    v_%s.at[k] = ", e->operand_names[k->instrs[i].slot]);
            krf__emit_value(e, k->instrs[i].args[0], out);
            krf__str_put(out, ";\n");
        }
    }
    krf__str_put(out, k->vector > 1 ? "}\n" : "");
}

static void map_stores(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    bool tail = k->vector > 1 && k->n_kept == 1;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *s = &k->instrs[i];
        const char *name = s->op == KRF__store ? e->operand_names[s->slot] : NULL;
        if (name == NULL) {
            continue;
        }
        if (k->vector == 1) {
            krf__str_printf(out, "a.%s[0", name);
            put_offset(e, s->slot, false, out);
            krf__str_put(out, "] = ");
            krf__emit_value(e, s->args[0], out);
            krf__str_put(out, ";\n");
            continue;
        }
        krf__str_printf(out, "%s__stcs((%s *)(a.%s", tail ? "if (whole) {\n    " : "", word_type(e, s->slot), name);
        put_offset(e, s->slot, false, out);
        krf__str_printf(out, "), v_%s.word);\n", name);
        if (tail) {
            krf__str_printf(out, "} else {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        if (i + k < n0) {\n            a.%s[i + k] = v_%s.at[k];\n        }\n    }\n}\n",
                            k->vector, name, name);
        }
    }
}

/* ---- reductions by warps ---- */

static int loads_of_domain(const krf__emitter *e) {
    int n = 0;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        n += in_domain(e, i, KRF__load);
    }
    return n;
}

/* Rows of 256 elements a warp loads before it adds: so that about four 16-byte loads a thread are in flight. */
static int rows(const krf__emitter *e) {
    int n = loads_of_domain(e), v = e->k->vector;
    int quads = KRF__LANES / 32 / v;
    return v == 1 || n == 0 || n * quads >= 4 ? 1 : 4 / (n * quads);
}

static int quads(const krf__emitter *e) { return rows(e) * (KRF__LANES / 32 / e->k->vector); }

/* All loads of a tile, before the first use. What lies along the row is loaded where it is inside; what is constant there, always. */
static void reduce_loads(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    int v = k->vector;
    krf__str inner = {0};
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__c_type(k->operands[i].dtype);
        if (!in_domain(e, i, KRF__load)) {
            continue;
        }
        if (vectored(e, i)) {
            krf__str_printf(out, "union { %s word; %s at[%d]; } v_%s[%d] = {};\n", word_type(e, i), type, v, name, quads(e));
            krf__str_printf(&inner, "        v_%s[q].word = __ldcs((const %s *)(a.%s", name, word_type(e, i), name);
            put_offset(e, i, true, &inner);
            krf__str_put(&inner, "));\n");
        } else {
            krf__str_printf(out, "%s v_%s[%d] = {};\n", type, name, quads(e));
            krf__str_printf(&inner, "        v_%s[q] = a.%s[0", name, name);
            put_offset(e, i, true, &inner);
            krf__str_put(&inner, "];\n");
        }
    }
    krf__str position = {0};
    krf__emit_position(e, KRF__PART_REDUCED, "p_q", &position);
    /* Whole tiles load without a condition on each vector: so all loads are under way at once. */
    krf__str_printf(out, "const bool whole = p + 256 * %d <= last;\n", rows(e));
    for (int whole = 1; whole >= 0; whole--) {
        krf__str_printf(out, "%s    #pragma unroll\n    for (int q = 0; q < %d; q++) {\n", whole ? "if (whole) {\n" : "} else {\n", quads(e));
        krf__str_printf(out, "        const %s p_q = p + (q * 32 + thread) * %d;\n        ", krf__index_type(e), v);
        if (!whole) {
            krf__str_printf(out, "if (p_q + %d <= last) ", v);
        }
        krf__str_put(out, "{\n");
        put_lines(out, "            ", position.data);
        put_lines(out, "    ", inner.data);
        krf__str_put(out, "        }\n    }\n");
    }
    krf__str_put(out, "}\n");
    out->failed |= inner.failed || position.failed;
    krf__str_free(&inner);
    krf__str_free(&position);
}

static void put_identity(krf__emitter *e, uint32_t r, krf__str *out) {
    krf_dtype dtype = (krf_dtype)reduction(e, r)->dtype;
    krf__emit_literal(e, dtype, krf__identity_bits(reduction(e, r)->op, dtype), out);
}

static void reduce_body(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    e->mode = 0;
    put_statements(e, 0, k->n_domain, "", out);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        const char *slot = rows(e) > 1 ? "q % (8 / V) * V + k" : "q * V + k";
        krf__str_printf(out, "acc%u[%s] = red%u(acc%u[%s], valid ? ", r, slot, r, r, slot);
        krf__emit_value(e, reduction(e, r)->args[0], out);
        krf__str_put(out, " : ");
        put_identity(e, r, out);
        krf__str_put(out, ");\n");
    }
}

/* The up to V - 1 elements after the last whole vector: the thread of their lanes takes them one by one. */
static void reduce_rest(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str position = {0};
    if (!k->rest) {
        return;
    }
    krf__str_printf(out, "const int rest = (int)((last - first) %% %d), rest_lane = (int)((last - first - rest) %% 256);\n", k->vector);
    krf__str_printf(out, "if (thread == rest_lane / %d %% 32) {\n    #pragma unroll 1\n", k->vector);
    krf__str_printf(out, "    for (int k = 0; k < rest; k++) {\n        const %s p_k = last - rest + k;\n", krf__index_type(e));
    krf__emit_position(e, KRF__PART_REDUCED, "p_k", &position);
    put_lines(out, "        ", position.data);
    e->mode = 3;
    put_statements(e, 0, k->n_domain, "        ", out);
    e->mode = 0;
    krf__str_put(out, "        #pragma unroll\n        for (int n = 0; n < 8; n++) {\n            if (n == rest_lane / (32 * V) * V + k) {\n");
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "                acc%u[n] = red%u(acc%u[n], ", r, r, r);
        krf__emit_value(e, reduction(e, r)->args[0], out);
        krf__str_put(out, ");\n");
    }
    krf__str_put(out, "            }\n        }\n    }\n}\n");
    out->failed |= position.failed;
    krf__str_free(&position);
}

static void accumulators(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "const int V = %d;\n", e->k->vector);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s acc%u[8];\n#pragma unroll\nfor (int n = 0; n < 8; n++) {\n    acc%u[n] = ", reduction_type(e, r), r, r);
        put_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

/* shfl of types that CUDA has no overload for goes by way of int. */
static void put_shuffle(krf__emitter *e, uint32_t r, const char *value, const char *distance, krf__str *out) {
    bool byte = krf_dtype_size((krf_dtype)reduction(e, r)->dtype) == 1;
    krf__str_printf(out, "(%s)__shfl_down_sync(0xffffffffu, %s%s, %s)", reduction_type(e, r), byte ? "(int)" : "", value, distance);
}

/* Halving over lane numbers: first accumulators 32 * V apart, then threads, then neighbours in a vector. The result is acc[0] of thread 0. */
static void warp_tree(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int n = 4; n >= V; n /= 2) {\n    #pragma unroll\n    for (int k = 0; k < n; k++) {\n        acc%u[k] = red%u(acc%u[k], acc%u[k + n]);\n    }\n}\n",
                        r, r, r, r);
        krf__str_put(out, "#pragma unroll 1\nfor (int n = 16; n > 0; n /= 2) {\n    #pragma unroll\n    for (int k = 0; k < V; k++) {\n");
        krf__str value = {0};
        krf__str_printf(&value, "acc%u[k]", r);
        krf__str_printf(out, "        acc%u[k] = red%u(acc%u[k], ", r, r, r);
        put_shuffle(e, r, value.data != NULL ? value.data : "", "n", out);
        krf__str_put(out, ");\n    }\n}\n");
        out->failed |= value.failed;
        krf__str_free(&value);
        krf__str_printf(out, "#pragma unroll\nfor (int n = V / 2; n > 0; n /= 2) {\n    #pragma unroll\n    for (int k = 0; k < n; k++) {\n        acc%u[k] = red%u(acc%u[k], acc%u[k + n]);\n    }\n}\n",
                        r, r, r, r);
        krf__str_printf(out, "%s r%u = acc%u[0];\n", reduction_type(e, r), r, r);
    }
}

/* ---- partial results ---- */

static void put_partial(krf__emitter *e, uint32_t r, bool read, const char *index, krf__str *out) {
    krf__str_printf(out, "*(%s%s *)(a.scratch + (%u * kept + o) * a.chunks + %s)", read ? "volatile const " : "volatile ", reduction_type(e, r), r, index);
}

/* The part over results, on r0, r1, ...: in a scope of its own. */
static void results(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = r%u;\n", reduction_type(e, r), k->n_domain + r, r);
    }
    e->mode = 1;
    put_statements(e, k->n_domain + k->n_reductions, k->n_instrs, "", out);
    e->mode = 0;
    for (uint32_t i = k->n_domain + k->n_reductions; i < k->n_instrs; i++) {
        if (k->instrs[i].op == KRF__store) {
            krf__str_printf(out, "a.%s[0", e->operand_names[k->instrs[i].slot]);
            put_offset(e, k->instrs[i].slot, false, out);
            krf__str_put(out, "] = ");
            krf__emit_value(e, k->instrs[i].args[0], out);
            krf__str_put(out, ";\n");
        }
    }
}

static void chunk_done(krf__emitter *e, krf__str *out) {
    if (e->k->chunks == 1) {
        results(e, out);
        return;
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_partial(e, r, false, "c", out);
        krf__str_printf(out, " = r%u;\n", r);
    }
    krf__str_put(out, "__threadfence();\n");
}

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, e->k->schedule == KRF__REDUCE_COL ? "__shared__ %s shared%u[8][33];\n" : "__shared__ %s shared%u[256];\n",
                        reduction_type(e, r), r);
    }
}

/* Lane t of the tree over chunks is thread t; halves meet in shared memory. */
static void block_combine(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s r%u = ", reduction_type(e, r), r);
        put_identity(e, r, out);
        krf__str_printf(out, ";\n#pragma unroll 8\nfor (int n = threadIdx.x; n < (int)a.chunks; n += 256) {\n    r%u = red%u(r%u, ", r, r, r);
        put_partial(e, r, true, "n", out);
        krf__str_printf(out, ");\n}\nshared%u[threadIdx.x] = r%u;\n", r, r);
    }
    krf__str_put(out, "#pragma unroll 1\nfor (int n = 128; n > 0; n /= 2) {\n    __syncthreads();\n    if ((int)threadIdx.x < n) {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "        shared%u[threadIdx.x] = r%u = red%u(r%u, shared%u[threadIdx.x + n]);\n", r, r, r, r, r);
    }
    krf__str_put(out, "    }\n}\n");
}

/* ---- reductions by columns ---- */

static void column_stacks(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s stack%u[5], r%u;\n", reduction_type(e, r), r, r);
    }
}

static void column_start(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "r%u = ", r);
        put_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

static void column_body(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    if (e->mode == 2) { /* elements are the partial results of chunks */
        for (uint32_t r = 0; r < k->n_reductions; r++) {
            krf__str_printf(out, "r%u = red%u(r%u, ", r, r, r);
            put_partial(e, r, true, "p", out);
            krf__str_put(out, ");\n");
        }
        return;
    }
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    put_statements(e, 0, k->n_domain, "", out);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "r%u = red%u(r%u, ", r, r, r);
        krf__emit_value(e, reduction(e, r)->args[0], out);
        krf__str_put(out, ");\n");
    }
}

static void column_merge(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "bool carry = true;\n#pragma unroll\nfor (int level = 0; level < 5; level++) {\n    if (carry && (turn >> level & 1) != 0) {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "        r%u = red%u(stack%u[level], r%u);\n", r, r, r, r);
    }
    krf__str_put(out, "    } else if (carry) {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "        stack%u[level] = r%u;\n", r, r);
    }
    krf__str_put(out, "        carry = false;\n    }\n}\n");
}

static void column_tree(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "__syncthreads();\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "shared%u[threadIdx.y][threadIdx.x] = r%u;\n", r, r);
    }
    krf__str_put(out, "for (int n = 4; n > 0; n /= 2) {\n    __syncthreads();\n    if ((int)threadIdx.y < n) {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "        shared%u[threadIdx.y][threadIdx.x] = r%u = red%u(r%u, shared%u[threadIdx.y + n][threadIdx.x]);\n", r, r, r, r, r);
    }
    krf__str_put(out, "    }\n}\n");
}

static void warp_chunk(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "warp_chunk", out); }
static void column_chunk(krf__emitter *e, krf__str *out) {
    e->mode = 0;
    krf__emit_skeleton(e, "column_chunk", out);
}
static void column_combine(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "const %s first = 0, last = (%s)a.chunks;\n", krf__index_type(e), krf__index_type(e));
    e->mode = 2;
    krf__emit_skeleton(e, "column_chunk", out);
    e->mode = 0;
}

static void kept_position(krf__emitter *e, krf__str *out) {
    krf__emit_position(e, KRF__PART_KEPT, e->k->schedule == KRF__MAP ? "i" : "o", out);
}
static void put_rows(krf__emitter *e, krf__str *out) { krf__str_i64(out, rows(e)); }
static void put_quads(krf__emitter *e, krf__str *out) { krf__str_i64(out, quads(e)); }
static void split(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->chunks > 1 ? "true" : "false"); }

static const krf__hole holes[] = {
    {"EXTENTS", extents},
    {"KEPT_POSITION", kept_position},
    {"MAP_LOADS", map_loads},
    {"MAP_BODY", map_body},
    {"MAP_STORES", map_stores},
    {"WARP_CHUNK", warp_chunk},
    {"ACCUMULATORS", accumulators},
    {"ROWS", put_rows},
    {"QUADS", put_quads},
    {"REDUCE_LOADS", reduce_loads},
    {"REDUCE_BODY", reduce_body},
    {"REDUCE_REST", reduce_rest},
    {"WARP_TREE", warp_tree},
    {"RESULTS", results},
    {"CHUNK_DONE", chunk_done},
    {"SPLIT", split},
    {"SHARED", shared},
    {"BLOCK_COMBINE", block_combine},
    {"COLUMN_CHUNK", column_chunk},
    {"COLUMN_COMBINE", column_combine},
    {"COLUMN_STACKS", column_stacks},
    {"COLUMN_START", column_start},
    {"COLUMN_BODY", column_body},
    {"COLUMN_MERGE", column_merge},
    {"COLUMN_TREE", column_tree},
    {NULL, NULL},
};

static const char *const sources[] = {"prelude.h", "device.h", NULL};

const krf__target krf__target_cuda = {
    .name = "cuda",
    .suffix = ".cu",
    .skeletons = {"map", "reduce_all", "reduce_row", "reduce_col"},
    .arguments = "a.",
    .function_prefix = "",
    .definitions = "#define KRF_FN static __device__ __forceinline__\n#define KRF_F32(name) name##f\n#define KRF_F64(name) name\n",
    .sources = sources,
    .hides_constants = true,
    .inline_function = "static __device__ __forceinline__",
    .infinity_f32 = "__int_as_float(0x7f800000)",
    .infinity_f64 = "__longlong_as_double(0x7ff0000000000000LL)",
    .nan_f32 = "__int_as_float(0x7fc00000)",
    .nan_f64 = "__longlong_as_double(0x7ff8000000000000LL)",
    .holes = holes,
    .load = load,
};
