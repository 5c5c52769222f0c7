/* The CUDA target's rows that lie in shared memory: each warp copies its chunk there without waiting, and from round to round reads, or replaces, that alone. So no barrier is needed, loops
 * over it stay loops, and registers leave room for more blocks. */
#include "codegen/cuda.h"

bool krf__cuda_loops_over_held(const krf__emitter *e) { return e->k->schedule == KRF__ROW && krf__holds_rows(e->k) && !krf__cuda_row_stays(e); }

/* Few vectors go beyond a row: a branch takes less than a choice for each element. */
bool krf__cuda_guards(const krf__emitter *e) { return krf__cuda_loops_over_held(e) && !e->k->whole && e->k->n_reductions > 0; }

static void put_address(krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "a.%s", e->operand_names[operand]);
    krf__cuda_put_offset(e, operand, true, out);
}

/* Each thread has the vectors that it reads later on. */
static void put_vector_copy(krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_put(out, e->k->words ? "krf_copy_row_word(&" : "krf_copy_later(&");
    krf__cuda_put_held_element(e, operand, "0", out);
    krf__str_put(out, ", ");
    put_address(e, operand, out);
    if (e->k->words) {
        krf__str_put(out, ", ");
        krf__cuda_put_row_ends(e, operand, out);
    }
    krf__str_put(out, ");\n");
}

/* Words of 16 bytes are copied as they lie in memory, so that a chunk begins in the midst of its first one. */
static void put_word_copies(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand];
    const int elements = 16 / (int)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype);
    krf__str_printf(out, "#pragma unroll 4\nfor (int w = thread * %d - shift_%s; first < last && w < (int)(last - first); w += %d) {\n", elements, name, 32 * elements);
    krf__str_printf(out, "    krf_copy_row_word((uint4 *)(held_%s + w), from_%s + w, ", name, name);
    krf__cuda_put_row_ends(e, operand, out);
    krf__str_put(out, ");\n}\n");
}

/* A warp's part of the operand, behind so many words of others. */
static void put_place(krf__emitter *e, uint32_t operand, uint32_t before, krf__str *out) {
    const char *name = e->operand_names[operand], *type = krf__storage_type(e->k->operands[operand].dtype);
    const uint32_t all = krf__held_of_warp(e->k);
    if (e->k->vector > 1) {
        krf__str_printf(out, "uint4 *const held_%s = held + %u + threadIdx.x / 32 * %u;\n", name, before, all);
        return;
    }
    krf__str position = {0};
    krf__emit_position(e, KRF__PART_REDUCED, "first", &position);
    krf__str_printf(out, "const %s *from_%s;\n{\n", type, name);
    krf__cuda_put_lines(out, "    ", position.data);
    krf__str_printf(out, "    from_%s = ", name);
    put_address(e, operand, out);
    krf__str_printf(out, ";\n}\nconst int shift_%s = (int)((unsigned long long)from_%s %% 16 / sizeof *from_%s);\n", name, name, name);
    krf__str_printf(out, "%s *const held_%s = (%s *)(held + %u + threadIdx.x / 32 * %u) + shift_%s;\n", type, name, type, before, all, name);
    out->failed |= position.failed;
    krf__str_free(&position);
}

static void put_copies(krf__emitter *e, krf__str *copies, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str position = {0};
    if (k->vector == 1) {
        krf__str_put(out, copies->data != NULL ? copies->data : "");
        krf__str_put(out, "krf_copies_wait();\n__syncwarp();\n");
        return;
    }
    krf__emit_position(e, KRF__PART_REDUCED, "p_q", &position);
    krf__str_printf(out, "#pragma unroll 4\nfor (%s p = first; p < last; p += %d) {\n    const %s p_q = p + thread * %d;\n", krf__index_type(e), 32 * k->vector, krf__index_type(e), k->vector);
    krf__str_printf(out, k->whole ? "    {\n" : "    if (p_q + %d <= last) {\n", k->vector);
    krf__cuda_put_lines(out, "        ", position.data);
    krf__cuda_put_lines(out, "        ", copies->data);
    krf__str_put(out, "    }\n}\nkrf_copies_wait();\n");
    krf__str_put(out, k->words && krf__row_share(k) > 1 ? "__syncwarp();\n" : ""); /* a chunk's rest lies in words of other threads */
    out->failed |= position.failed;
    krf__str_free(&position);
}

/* All copies are under way before the first is waited for. */
void krf__cuda_put_held_copies(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    uint32_t before = 0;
    krf__str copies = {0};
    if (!krf__holds_rows(k)) {
        return;
    }
    krf__str_put(out, "extern __shared__ uint4 held[];\n");
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->operands[i].held) {
            put_place(e, i, before, out);
            (k->vector > 1 ? put_vector_copy : put_word_copies)(e, i, &copies);
            before += krf__held_words(k, i);
        }
    }
    put_copies(e, &copies, out);
    out->failed |= copies.failed;
    krf__str_free(&copies);
}

/* What an element was replaced by (cuda_keep.c) goes where it came from. */
void krf__cuda_put_held_kept(krf__emitter *e, krf__str *out) {
    if (e->saved == UINT32_MAX || !e->k->operands[e->kept_slot].held) {
        return;
    }
    krf__str_put(out, "if (valid) {\n    ");
    krf__cuda_put_vector_start(e, out);
    krf__str_put(out, "    ");
    krf__cuda_put_held_element(e, e->kept_slot, "q", out);
    krf__str_printf(out, e->k->vector > 1 ? " = v_%s[q].word;\n}\n" : " = v_%s[q];\n}\n", e->operand_names[e->kept_slot]);
}
