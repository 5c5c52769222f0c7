/* The CUDA target's maps of windows: a thread loads the words of memory in which the taps of all its elements lie, and each tap has its vector of these. */
#include "codegen/cuda.h"

/* How far the last tap lies behind the first one. */
static int reach_of(const krf__emitter *e, uint32_t first) {
    int reach = 0;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const int apart = e->k->operands[i].element - e->k->operands[first].element;
        reach = e->k->operands[i].record == first + 1 && apart > reach ? apart : reach;
    }
    return reach;
}

void krf__cuda_put_span_loads(const krf__emitter *e, uint32_t first, krf__str *out) {
    const krf__kernel *k = e->k;
    const krf__operand *o = &k->operands[first];
    const char *name = e->operand_names[first], *type = krf__storage_type(o->dtype);
    const int v = k->vector, reach = reach_of(e, first), words = (o->element + reach + 2 * v - 1) / v;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->operands[i].record == first + 1) {
            krf__cuda_put_union(e, i, out);
            krf__str_put(out, ";\n");
        }
    }
    krf__str_printf(out, "union { %s word[%d]; %s at[%d]; } r_%s = {};\n", krf__cuda_word_type(e, first), words, type, words * v, name);
    krf__str_printf(out, "if (i + %d <= ", 2 * v); /* what lies behind the last tap in its word is in the array then */
    krf__cuda_put_domain_size(e, out);
    krf__str_printf(out, ") {\n#pragma unroll\nfor (int w = 0; w < %d; w++) {\n    r_%s.word[w] = *((const %s *)(a.%s", words, name, krf__cuda_word_type(e, first), name);
    krf__cuda_put_offset(e, first, false, out);
    krf__str_printf(out, " - %d) + w);\n}\n} else {\n#pragma unroll\nfor (int w = 0; w < %d; w++) {\n", o->element, reach + v);
    if (k->n_kept == 1) {
        krf__str_printf(out, "    r_%s.at[w + %d] = i + w < n0 + %d ? a.%s[w", name, o->element, reach, name);
    } else {
        krf__str_printf(out, "    r_%s.at[w + %d] = a.%s[w", name, o->element, name);
    }
    krf__cuda_put_offset(e, first, false, out);
    krf__str_put(out, "]");
    if (k->n_kept == 1) {
        krf__str_printf(out, " : (%s)0", type);
    }
    krf__str_printf(out, ";\n}\n}\n#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", v);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->operands[i].record == first + 1) {
            krf__str_printf(out, "    v_%s.at[k] = r_%s.at[k + %d];\n", e->operand_names[i], name, k->operands[i].element);
        }
    }
    krf__str_put(out, "}\n");
}
