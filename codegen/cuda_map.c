/* The CUDA target's maps: what stands in the holes of skeleton/map.cu and map_vector.cu; bodies serve map_each.cu (cuda_each.c) too, bodies and stores tiles. */
#include "codegen/cuda.h"

enum { LONG_BODY = 96, TOGETHER = 2, MOST_BYTES = 2 /* of elements whose vectors are taken out of two words: wider ones are loaded one by one */ };

/* ---- a vector a thread ---- */

static void map_loads(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const bool tail = krf__cuda_has_tail(k);
    bool any_in_rows = false;
    if (tail) {
        krf__str_printf(out, "const bool whole = i + %d <= ", k->vector);
        krf__cuda_put_domain_size(e, out);
        krf__str_put(out, ";\n");
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->flat && !krf__cuda_vectored(e, i)) {
            continue;
        }
        const char *name = e->operand_names[i], *type = krf__storage_type(k->operands[i].dtype);
        const int stride = k->operands[i].fixed != 0 ? (int)k->operands[i].strides[k->n_kept - 1] : 1;
        if (k->operands[i].record != 0 && !k->operands[i].store) {
            if (k->operands[i].record == i + 1 && k->spans) {
                krf__cuda_put_span_loads(e, i, out);
            } else if (k->operands[i].record == i + 1) {
                krf__cuda_put_record_loads(e, i, tail, out);
            }
            continue;
        }
        if (krf__cuda_vectored(e, i)) {
            krf__cuda_put_stored(e, i, out);
        }
        if (k->operands[i].store) {
            continue;
        }
        if (k->operands[i].counts || k->operands[i].gathered) {
            krf__str_printf(out, "const %s%s v_%s = ", k->operands[i].counts ? "long long" : type, k->operands[i].counts ? "" : " *", name);
            krf__cuda_put_first(e, i, out);
            krf__cuda_put_offset(e, i, false, out);
            krf__str_put(out, ";\n");
            continue;
        }
        if (!krf__cuda_vectored(e, i)) {
            krf__str_printf(out, "const %s v_%s = a.%s[0", type, name, name);
            krf__cuda_put_offset(e, i, false, out);
            krf__str_put(out, "];\n");
            continue;
        }
        any_in_rows |= krf__cuda_in_rows(e, i);
        if (krf__cuda_in_rows(e, i)) {
            continue;
        }
        krf__str_put(out, tail ? "if (whole) {\n    " : "");
        if (k->operands[i].loose && stride == 1 && krf_dtype_size((krf_dtype)k->operands[i].dtype) <= MOST_BYTES) {
            krf__str offset = {0};
            krf__cuda_put_offset(e, i, false, &offset);
            krf__str_printf(out, "v_%s.word = ", name);
            krf__cuda_put_word(e, i, offset.data != NULL ? offset.data : "", out);
            krf__str_put(out, ";\n");
            out->failed |= offset.failed;
            krf__str_free(&offset);
        } else if (k->operands[i].loose) {
            krf__str_printf(out, "#pragma unroll\n    for (int k = 0; k < %d; k++) {\n        v_%s.at[k] = a.%s[k", k->vector, name, name);
            if (stride > 1) {
                krf__str_printf(out, " * %d", stride);
            }
            krf__cuda_put_offset(e, i, false, out);
            krf__str_put(out, "];\n    }\n");
        } else {
            const int words = krf__cuda_words(e, i);
            if (words > 1) {
                krf__str_printf(out, "#pragma unroll\nfor (int w = 0; w < %d; w++) {\n    v_%s.word[w] = ((const %s *)(a.%s", words, name, krf__cuda_word_type(e, i), name);
                krf__cuda_put_offset(e, i, false, out);
                krf__str_put(out, "))[w];\n}\n");
                continue;
            }
            const bool again = krf__cuda_reads_again(e, i);
            krf__str_printf(out, again ? "v_%s.word = *(const %s *)(a.%s" : "v_%s.word = __ldcs((const %s *)(a.%s", name, krf__cuda_word_type(e, i), name);
            krf__cuda_put_offset(e, i, false, out);
            krf__str_put(out, again ? ");\n" : "));\n");
        }
        if (tail) {
            krf__str_printf(out, "} else {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        v_%s.at[k] = i + k < ", k->vector, name);
            krf__cuda_put_domain_size(e, out);
            if (stride > 1) {
                krf__str_printf(out, " ? a.%s[(i + k) * %d] : (%s)0;\n    }\n}\n", name, stride, type);
            } else {
                krf__str_printf(out, " ? a.%s[i + k] : (%s)0;\n    }\n}\n", name, type);
            }
        }
    }
    if (any_in_rows) {
        krf__cuda_put_row_loads(e, out);
    }
}

/* ---- what is done with it ---- */

/* Whether a loop takes the elements of vectors in turn, two at a time: long bodies are arithmetic, for which a multiprocessor has other warps, and compilers half of the work (50
 * functions: 1.6 % slower, 126 to 194 ms of NVRTC less than 99). Fast ones are short to compile, and 4 % slower so. */
static bool in_turn(const krf__emitter *e) {
    bool may = e->k->schedule == KRF__MAP && !e->k->flat && !e->k->spans && e->k->n_domain > LONG_BODY && e->k->vector > TOGETHER && !e->twos && !e->k->fast;
    for (uint32_t i = 0; i < e->k->n_operands; i++) { /* registers of 4 bytes or more are moved whole */
        may &= !krf__cuda_vectored(e, i) || krf_dtype_size((krf_dtype)e->k->operands[i].dtype) >= 4;
    }
    return may;
}

/* The vectors' next element becomes their first. */
static void put_moves(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int h = 0; h < %d; h++) {\n", TOGETHER);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (!krf__cuda_vectored(e, i)) {
            continue;
        }
        krf__str_printf(out, "    const %s first_%s = v_%s.at[0];\n", krf__storage_type(e->k->operands[i].dtype), name, name);
        for (int k = 0; k + 1 < e->k->vector; k++) {
            krf__str_printf(out, "    v_%s.at[%d] = v_%s.at[%d];\n", name, k, name, k + 1);
        }
        krf__str_printf(out, "    v_%s.at[%d] = first_%s;\n", name, e->k->vector - 1, name);
    }
    krf__str_put(out, "}\n");
}

/* The body and what it stores, k being the element's number in the vector. */
static void put_element(krf__emitter *e, krf__str *out) {
    krf__str taken = {0};
    krf__cuda_put_statements(e, 0, e->k->n_domain, "    ", out);
    krf__cuda_put_taken(e, &taken);
    krf__cuda_put_lines(out, "    ", taken.data);
    out->failed |= taken.failed;
    krf__str_free(&taken);
}

static void put_in_turn(krf__emitter *e, krf__str *out) {
    e->in_turn = true;
    krf__str_printf(out, "#pragma unroll 1\nfor (int turn = 0; turn < %d; turn += %d) {\n#pragma unroll\nfor (int h = 0; h < %d; h++) {\n    const int k = turn + h;\n", e->k->vector, TOGETHER,
                    TOGETHER);
    put_element(e, out);
    krf__str_put(out, "}\n");
    put_moves(e, out);
    krf__str_put(out, "}\n");
    e->in_turn = false;
}

/* The element's place, where vectors go on over the ends of rows: what lies beyond the domain has that of the vector's first. */
static void put_own_place(krf__emitter *e, krf__str *out) {
    krf__str position = {0};
    if (!krf__flat_apart(e->k)) {
        return;
    }
    krf__str_printf(out, "    const %s place = i + k < ", krf__index_type(e));
    krf__cuda_put_domain_size(e, out);
    krf__str_put(out, " ? i + k : i;\n");
    krf__emit_position(e, KRF__PART_KEPT, "place", &position);
    krf__cuda_put_lines(out, "    ", position.data);
    out->failed |= position.failed;
    krf__str_free(&position);
}

static void map_body(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    e->mode = 0;
    if (k->vector == 1) {
        krf__cuda_put_statements(e, 0, k->n_domain, "", out);
        return;
    }
    if (in_turn(e)) {
        put_in_turn(e, out);
        return;
    }
    krf__cuda_put_runs(e, out);
    krf__str_put(out, "#pragma unroll\nfor (int k = 0; k < ");
    krf__cuda_put_turns(e, out);
    krf__str_put(out, "; k++) {\n");
    put_own_place(e, out);
    put_element(e, out);
    krf__str_put(out, "}\n");
}

/* Left alone ptxas 13.0 takes so few registers that loads of runs wait for each other. */
static void bounds(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__cuda_period_crowds(e) ? "256, 8" : krf__cuda_has_runs(e) && !in_turn(e) ? "256, 4" : "256"); }

static void map_stores(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const bool tail = krf__cuda_has_tail(k);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *s = &k->instrs[i];
        const char *name = s->op == KRF__store ? e->operand_names[s->slot] : NULL;
        if (name == NULL) {
            continue;
        }
        if (k->vector == 1) {
            krf__cuda_put_store(e, s, false, out);
            continue;
        }
        if (k->operands[s->slot].record != 0) {
            if (k->operands[s->slot].record == s->slot + 1) {
                krf__cuda_put_record_stores(e, s->slot, tail, out);
            }
            continue;
        }
        if (k->schedule == KRF__TILE) { /* strips: lines that two blocks write stay until they are whole; a stencil of 8190 x 8190 f32 is 1.02 times as fast as by __stcs */
            krf__str_printf(out, "*(%s *)at_%s = v_%s.word;\n", krf__cuda_word_type(e, s->slot), name, name);
            continue;
        }
        krf__str_printf(out, "%s__stcs((%s *)(a.%s", tail ? "if (whole) {\n    " : "", krf__cuda_word_type(e, s->slot), name);
        krf__cuda_put_offset(e, s->slot, false, out);
        krf__str_printf(out, "), v_%s.word);\n", name);
        if (tail) {
            krf__str_printf(out, "} else {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        if (i + k < ", k->vector);
            krf__cuda_put_domain_size(e, out);
            krf__str_printf(out, ") {\n            a.%s[i + k] = v_%s.at[k];\n        }\n    }\n}\n", name, name);
        }
    }
}

static void elements(krf__emitter *e, krf__str *out) {
    if (krf__map_each(e->k) > 1) {
        krf__cuda_unrolled(e, krf__cuda_put_several, out);
    } else {
        krf__emit_skeleton(e, e->k->period > 0 ? "map_period" : "map_vector", out);
    }
}

static void block(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->backwards ? "(gridDim.x - 1 - blockIdx.x)" : "blockIdx.x"); }

const krf__hole krf__cuda_map_holes[] = {
    {"MAP_BLOCK", block},
    {"MAP_ELEMENTS", elements},
    {"MAP_BOUNDS", bounds},
    {"MAP_LOADS", map_loads},
    {"MAP_BODY", map_body},
    {"MAP_STORES", map_stores},
    {NULL, NULL},
};
