/* The CUDA target's rows that begin and end within words of memory (krf__kernel.words): a warp has the whole words that end in its chunk, as they lie in memory, so that its elements stand in other lanes of the
 * canonical tree, all by as many, which makes no difference where reductions commute. What belongs to the chunk before is left out again; what is left behind the last whole word its first threads take, an
 * element each. Words that two chunks share are stored by the warp of the second. */
#include "codegen/cuda.h"

#include <stdio.h>

/* Any operand of rows, as all begin alike. */
static uint32_t leader(const krf__emitter *e) {
    uint32_t i = 0;
    while (i + 1 < e->k->n_operands && (e->k->operands[i].store || !krf__cuda_vectored(e, i) || e->k->operands[i].loose)) {
        i++;
    }
    return i;
}

bool krf__cuda_keeps_rest(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    return e->k->words && krf__cuda_vectored(e, operand) && !o->store && !o->loose && krf__rounds_with(e->kernel, operand) > 1;
}

/* In turn, what is held of a chunk's rest is the beginning of the next one's first word; that of the last chunk is there already. */
void krf__cuda_put_rests(krf__emitter *e, bool in_turn, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str position = {0};
    krf__str_printf(out, "const %s p_k = last + (thread < rest ? thread : 0);\n", krf__index_type(e));
    krf__emit_position(e, KRF__PART_REDUCED, "p_k", &position);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__storage_type(k->operands[i].dtype);
        if (krf__cuda_keeps_rest(e, i) && in_turn && k->operands[i].held) {
            krf__str_printf(out, "%s rest_%s = end == all_end ? all_rest_%s : thread < rest ? ((const %s *)held_%s)[last - first + thread] : (%s)0;\n", type, name, name, type, name, type);
        } else if (krf__cuda_keeps_rest(e, i)) {
            if (krf__cuda_keeps_wide(e, i)) {
                krf__str_printf(out, "float w_rest_%s = 0;\n", name);
            }
            krf__str_printf(out, "%s rest_%s = 0;\nif (thread < rest) {\n", type, name);
            krf__cuda_put_lines(out, "    ", position.data);
            krf__str_printf(out, "    rest_%s = a.%s[0", name, name);
            krf__cuda_put_offset(e, i, true, out);
            krf__str_put(out, "];\n}\n");
        }
    }
    out->failed |= position.failed;
    krf__str_free(&position);
}

static void loads(krf__emitter *e, krf__str *out) {
    if (e->k->words) {
        krf__cuda_put_rests(e, false, out);
    }
}

/* Whole words that end in what lies between "begin" and "end", and elements behind these. */
void krf__cuda_put_words_end(krf__emitter *e, krf__str *out) {
    const int v = e->k->vector;
    krf__str_printf(out, "const %s last = begin < end ? first + (end - first) / %d * %d : first;\n", krf__index_type(e), v, v);
    krf__str_put(out, "const int rest = begin < end ? (int)(end - last) : 0;\n");
}

void krf__cuda_put_chunk_words(krf__emitter *e, krf__str *out) {
    const uint32_t i = leader(e);
    const char *type = krf__index_type(e), *name = e->operand_names[i];
    const int n = e->k->n_kept, length = 1024 * krf__row_share(e->k);
    krf__str_printf(out, "const %s begin = (%s)warp * %d, end = begin + %d < n%d ? begin + %d : n%d;\n", type, type, length, length, n, length, n);
    krf__str_printf(out, "const int drift = (int)(krf_beside<%s>(a.%s", krf__cuda_word_type(e, i), name);
    krf__cuda_put_offset(e, i, false, out);
    krf__str_printf(out, ") / %d);\n", (int)krf_dtype_size((krf_dtype)e->k->operands[i].dtype));
    krf__str_printf(out, "const %s first = begin - drift;\n", type);
    krf__cuda_put_words_end(e, out);
}

/* Accumulators have one word of each tile: those of the first have nothing else yet. */
static void lead(krf__emitter *e, krf__str *out) {
    if (!e->k->words || e->k->n_reductions == 0) {
        return;
    }
    krf__str_put(out, "if (p == first && q == 0) {\n    const int lead = thread == 0 ? drift : 0;\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        acc%u[k] = k < lead ? ", e->k->vector - 1, r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, " : acc%u[k];\n    }\n", r);
    }
    krf__str_put(out, "}\n");
}

/* The thread that would have had that word adds them up, in the lanes that it would have been of. */
static void put_rest_of(krf__emitter *e, uint32_t r, krf__str *out) {
    const char *type = krf__cuda_accumulator_type(e, r);
    const int words = krf__cuda_accumulators(e) / e->k->vector;
    char value[32];
    snprintf(value, sizeof value, "rest%u", r);
    krf__str_printf(out, "    const %s %s = thread < rest && last + thread >= begin ? ", type, value);
    krf__cuda_put_summand(e, r, out);
    krf__str_put(out, " : ");
    krf__emit_identity(e, r, out);
    krf__str_printf(out, ";\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        const %s other = ", e->k->vector - 1, type);
    krf__cuda_put_shuffle(e, r, NULL, value, "k", out);
    krf__str_put(out, ";\n");
    for (int word = 0; word < words; word++) {
        krf__str_printf(out, words > 1 ? "        if (takes_rest && rest_word / 32 %% %d == %d) {\n" : "        if (takes_rest) {\n", words, word);
        krf__str_printf(out, "            acc%u[%d + k] = red%u(acc%u[%d + k], other);\n        }\n", r, word * e->k->vector, e->reduction + r, r, word * e->k->vector);
    }
    krf__str_put(out, "    }\n");
}

static void rest(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str position = {0}, stores = {0};
    if (!k->words) {
        return;
    }
    e->mode = 3;
    krf__cuda_put_element(e, "        ", &stores);
    krf__emit_position(e, KRF__PART_REDUCED, "p_k", &position);
    if (k->n_reductions > 0) {
        krf__str_put(out, "{\n");
    } else {
        krf__str_printf(out, "if (rest > 0 && end == n%d && inside) {\n", k->n_kept);
    }
    krf__cuda_put_lines(out, "    ", position.data);
    krf__cuda_put_statements(e, 0, k->n_domain, "    ", out);
    if (k->n_reductions > 0) {
        krf__str_printf(out, "    const int rest_word = (int)(last - first) / %d;\n    const bool takes_rest = thread == rest_word %% 32;\n", k->vector);
    }
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        put_rest_of(e, r, out);
    }
    e->mode = 0;
    if (stores.data != NULL) {
        krf__str_printf(out, "    if (thread < rest && inside && end == n%d) {\n%s    }\n", k->n_kept, stores.data);
    }
    krf__str_put(out, "}\n");
    out->failed |= position.failed || stores.failed;
    krf__str_free(&position);
    krf__str_free(&stores);
}

const krf__hole krf__cuda_word_holes[] = {{"WORDS_LOADS", loads}, {"WORDS_LEAD", lead}, {"WORDS_REST", rest}, {NULL, NULL}};
