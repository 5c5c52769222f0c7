/* The CUDA target's maps over records, and reductions of their fields: a thread loads and stores whole words of them, whose fields have vectors of their own in between. */
#include "codegen/cuda.h"

#include <stdio.h>

static int fields_of(const krf__emitter *e, uint32_t first) { return (int)e->k->operands[first].strides[e->k->n_kept + e->k->n_reduced - 1]; }

/* All that a thread has of an operand's records, in bytes. */
static int bytes_of(const krf__emitter *e, uint32_t first) { return e->k->vector * fields_of(e, first) * (int)krf_dtype_size((krf_dtype)e->k->operands[first].dtype); }

static int field(const krf__emitter *e, uint32_t operand, uint32_t first) { return (int)(e->k->operands[operand].offset - e->k->operands[first].offset); }

/* Between the vectors of fields and the records. */
static void put_moved(const krf__emitter *e, uint32_t first, bool loads, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", e->k->vector);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].record == first + 1) {
            char in_record[64];
            snprintf(in_record, sizeof in_record, "r_%s.at[k * %d + %d]", e->operand_names[first], fields_of(e, first), field(e, i, first));
            if (loads) {
                krf__str_printf(out, "    v_%s.at[k] = %s;\n", e->operand_names[i], in_record);
            } else {
                krf__str_printf(out, "    %s = v_%s.at[k];\n", in_record, e->operand_names[i]);
            }
        }
    }
    krf__str_put(out, "}\n");
}

static void put_union(const krf__emitter *e, uint32_t first, krf__str *out) {
    const int bytes = bytes_of(e, first), word = krf__record_word(bytes);
    krf__str_printf(out, "union { %s word[%d]; %s at[%d]; } r_%s", krf__cuda_vector_type(word), bytes / word, krf__storage_type(e->k->operands[first].dtype), e->k->vector * fields_of(e, first), e->operand_names[first]);
}

/* "(const uint4 *)(a.in0 + i * 3)[w]" without the index. */
static void put_words(const krf__emitter *e, uint32_t first, krf__str *out) {
    krf__str_printf(out, "(%s%s *)(a.%s", e->k->operands[first].store ? "" : "const ", krf__cuda_vector_type(krf__record_word(bytes_of(e, first))), e->operand_names[first]);
    krf__cuda_put_offset(e, first, false, out);
    krf__str_put(out, ")");
}

void krf__cuda_put_record_loads(const krf__emitter *e, uint32_t first, bool tail, krf__str *out) {
    const char *name = e->operand_names[first];
    const int fields = fields_of(e, first), bytes = bytes_of(e, first);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].record == first + 1) {
            krf__cuda_put_union(e, i, out);
            krf__str_put(out, ";\n");
        }
    }
    put_union(e, first, out);
    krf__str_put(out, ";\n");
    krf__str_put(out, tail ? "if (whole) {\n" : "");
    krf__str_printf(out, "#pragma unroll\nfor (int w = 0; w < %d; w++) {\n    r_%s.word[w] = __ldcs(", bytes / krf__record_word(bytes), name);
    put_words(e, first, out);
    krf__str_put(out, " + w);\n}\n");
    if (tail) {
        krf__str_printf(out, "} else {\n#pragma unroll\nfor (int w = 0; w < %d; w++) {\n    r_%s.at[w] = i * %d + w < n0 * %d ? a.%s[i * %d + w] : (%s)0;\n}\n}\n", e->k->vector * fields, name, fields, fields, name, fields,
                        krf__storage_type(e->k->operands[first].dtype));
    }
    put_moved(e, first, true, out);
}

void krf__cuda_put_record_stores(const krf__emitter *e, uint32_t first, bool tail, krf__str *out) {
    const char *name = e->operand_names[first];
    const int fields = fields_of(e, first), bytes = bytes_of(e, first);
    krf__str_put(out, "{\n");
    put_union(e, first, out);
    krf__str_put(out, ";\n");
    put_moved(e, first, false, out);
    krf__str_put(out, tail ? "if (whole) {\n" : "");
    krf__str_printf(out, "#pragma unroll\nfor (int w = 0; w < %d; w++) {\n    __stcs(", bytes / krf__record_word(bytes));
    put_words(e, first, out);
    krf__str_printf(out, " + w, r_%s.word[w]);\n}\n", name);
    if (tail) {
        krf__str_printf(out, "} else {\n#pragma unroll\nfor (int w = 0; w < %d; w++) {\n    if (i * %d + w < n0 * %d) {\n        a.%s[i * %d + w] = r_%s.at[w];\n    }\n}\n}\n", e->k->vector * fields, fields, fields, name, fields, name);
    }
    krf__str_put(out, "}\n");
}

void krf__cuda_put_held_records(const krf__emitter *e, uint32_t first, int n, const char *distance, krf__str *declaration, krf__str *load) {
    const char *name = e->operand_names[first];
    const int bytes = bytes_of(e, first), word = krf__record_word(bytes);
    put_union(e, first, declaration);
    krf__str_printf(declaration, "[%d] = {};\n", n);
    for (int w = 0; w < bytes / word; w++) {
        krf__str_printf(load, "r_%s[%s].word[%d] = __ldcs((const %s *)(a.%s%s) + %d);\n", name, e->quad, w, krf__cuda_vector_type(word), name, distance, w);
    }
}

void krf__cuda_put_field(const krf__emitter *e, uint32_t operand, const char *element, krf__str *out) {
    const uint32_t first = e->k->operands[operand].record - 1u;
    krf__str_printf(out, "r_%s[q].at[(%s) * %d + %d]", e->operand_names[first], element, fields_of(e, first), field(e, operand, first));
}
