/* The CUDA target's maps: what stands in the holes of skeleton/map.cu, map_vector.cu and map_each.cu; bodies and stores serve tiles too. */
#include "codegen/cuda.h"

enum { LONG_BODY = 96, TOGETHER = 2, MOST_BYTES = 2 /* of elements whose vectors are taken out of two words: wider ones are loaded one by one */ };

/* ---- a vector a thread ---- */

static bool in_rows(const krf__emitter *e, uint32_t operand) { return e->k->flat && e->k->operands[operand].loose; }

/* Of what lies backwards, a vector's last element is its first in memory. */
static void put_row_address(krf__emitter *e, uint32_t operand, const char *further, const char *turned, krf__str *out) {
    krf__str_printf(out, "a.%s", e->operand_names[operand]);
    krf__cuda_put_offset(e, operand, false, out);
    if (e->k->operands[operand].turned) {
        krf__str_printf(out, "%s - %d, %d)", turned, e->k->vector - 1, e->k->vector);
    } else {
        krf__str_printf(out, "%s, %d)", further, e->k->vector);
    }
}

/* Of each operand whose rows lie apart: the words around its vector; the first vector of the next row, where that is there; and what is between them. */
static void put_row_words(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand], *type = krf__cuda_word_type(e, operand);
    krf__str_printf(out, "%s next_%s = {};\nconst krf_words<%s> words_%s = krf_words_around<%s>(", type, name, type, name, type);
    put_row_address(e, operand, " - beyond", " + beyond", out);
    krf__str_put(out, ";\n");
}

static const char *turning(const krf__emitter *e, uint32_t operand) {
    const bool bytes = krf_dtype_size((krf_dtype)e->k->operands[operand].dtype) == 1;
    return !e->k->operands[operand].turned ? "" : bytes ? "krf_turned_bytes" : "krf_turned_pairs";
}

static void put_row_next(krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "next_%s = %s(krf_window<%s>(", e->operand_names[operand], turning(e, operand), krf__cuda_word_type(e, operand));
    put_row_address(e, operand, "", "", out);
    krf__str_put(out, ");\n");
}

static void put_row_first(krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "v_%s.word = %s(krf_word_of(words_%s));\n", e->operand_names[operand], turning(e, operand), e->operand_names[operand]);
}

static void put_row_between(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand];
    krf__str_printf(out, "v_%s.word = krf_between(v_%s.word, next_%s, (unsigned)beyond * %du);\n", name, name, name, (unsigned)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype));
}

static void put_each_in_rows(krf__emitter *e, void (*put)(krf__emitter *e, uint32_t operand, krf__str *out), const char *indent, krf__str *out) {
    krf__str lines = {0};
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (in_rows(e, i)) {
            put(e, i, &lines);
        }
    }
    krf__cuda_put_lines(out, indent, lines.data);
    out->failed |= lines.failed;
    krf__str_free(&lines);
}

/* Vectors of rows that lie apart, all at once. Where a row ends within them: the last vector of that and the first of the next, for which there is no waiting before those are under way; behind the last row there may be anything. */
static void put_row_loads(krf__emitter *e, krf__str *out) {
    const int row = e->k->n_kept - 1, v = e->k->vector;
    const char *type = krf__index_type(e);
    krf__str position = {0};
    krf__str_printf(out, "const %s beyond = i%d + %d > n%d ? i%d + %d - n%d : 0;\n", type, row, v, row, row, v, row);
    put_each_in_rows(e, put_row_words, "", out);
    krf__str_printf(out, "if (whole && beyond > 0) {\n    const %s place = i + %d - beyond;\n", type, v);
    krf__emit_position(e, KRF__PART_KEPT, "place", &position);
    krf__cuda_put_lines(out, "    ", position.data);
    put_each_in_rows(e, put_row_next, "    ", out);
    krf__str_put(out, "}\n");
    put_each_in_rows(e, put_row_first, "", out);
    krf__str_put(out, "if (beyond > 0) {\n");
    put_each_in_rows(e, put_row_between, "    ", out);
    krf__str_put(out, "}\n");
    out->failed |= position.failed;
    krf__str_free(&position);
}

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
            krf__cuda_put_union(e, i, out);
            krf__str_put(out, ";\n");
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
        any_in_rows |= in_rows(e, i);
        if (in_rows(e, i)) {
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
        put_row_loads(e, out);
    }
}

/* ---- several elements a thread: 256 apart, so that neighbouring threads read neighbours and enough loads are under way; or those of all rows, which are few and next to each other in memory ---- */

/* Elements of a block, of which threads have the first; and those of all blocks. */
static void each_block(krf__emitter *e, krf__str *out) { krf__str_printf(out, e->k->across ? "256" : "(256 * %d)", krf__map_each(e->k)); }

static void each_size(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "(");
    krf__cuda_put_domain_size(e, out);
    krf__str_put(out, ")");
}

static void each_inside(krf__emitter *e, krf__str *out) {
    if (e->k->across) {
        krf__str_put(out, "first");
    } else {
        krf__str_put(out, "first + u * 256 < ");
        each_size(e, out);
        krf__str_put(out, " ? first + u * 256 : first");
    }
}

static void each_there(krf__emitter *e, krf__str *out) {
    krf__str_put(out, e->k->across ? "true" : "first + u * 256 < ");
    if (!e->k->across) {
        each_size(e, out);
    }
}

static void each(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__map_each(e->k)); }

static void each_declared(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (!e->k->operands[i].store) {
            krf__cuda_put_held(e, i, krf__map_each(e->k), "", out);
        }
    }
}

static void each_loads(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        krf__str offset = {0};
        if (e->k->operands[i].store) {
            continue;
        }
        krf__cuda_put_offset(e, i, false, &offset);
        krf__cuda_put_held_load(e, i, "[u]", offset.data != NULL ? offset.data : "", false, out);
        out->failed |= offset.failed;
        krf__str_free(&offset);
    }
}

/* ---- what is done with an element, or a vector ---- */

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
static void bounds(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__cuda_has_runs(e) && !in_turn(e) ? "256, 4" : "256"); }

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
        krf__str_printf(out, k->schedule == KRF__TILE ? "%s__stcs((%s *)(at_%s" : "%s__stcs((%s *)(a.%s", tail ? "if (whole) {\n    " : "", krf__cuda_word_type(e, s->slot), name);
        if (k->schedule != KRF__TILE) {
            krf__cuda_put_offset(e, s->slot, false, out);
        }
        krf__str_printf(out, "), v_%s.word);\n", name);
        if (tail) {
            krf__str_printf(out, "} else {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        if (i + k < ", k->vector);
            krf__cuda_put_domain_size(e, out);
            krf__str_printf(out, ") {\n            a.%s[i + k] = v_%s.at[k];\n        }\n    }\n}\n", name, name);
        }
    }
}

static void put_each(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "map_each", out); }

static void elements(krf__emitter *e, krf__str *out) {
    if (krf__map_each(e->k) > 1) {
        krf__cuda_unrolled(e, put_each, out);
    } else {
        krf__emit_skeleton(e, "map_vector", out);
    }
}

static void block(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->backwards ? "(gridDim.x - 1 - blockIdx.x)" : "blockIdx.x"); }

const krf__hole krf__cuda_map_holes[] = {
    {"MAP_BLOCK", block},
    {"MAP_ELEMENTS", elements},
    {"MAP_EACH", each},
    {"EACH_BLOCK", each_block},
    {"EACH_SIZE", each_size},
    {"EACH_INSIDE", each_inside},
    {"EACH_THERE", each_there},
    {"EACH_DECLARED", each_declared},
    {"EACH_LOADS", each_loads},
    {"MAP_BOUNDS", bounds},
    {"MAP_LOADS", map_loads},
    {"MAP_BODY", map_body},
    {"MAP_STORES", map_stores},
    {NULL, NULL},
};
