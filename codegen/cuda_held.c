/* The CUDA target's rows that lie in shared memory, where the blocks of a cluster share them: each thread copies its vectors there, and from round to round reads, or replaces, those
 * alone. So no barrier is needed, loops over them stay loops, and registers leave room for more blocks. */
#include "codegen/cuda.h"

static void put_copy(krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_put(out, "krf_copy_later(&");
    krf__cuda_put_held_word(e, operand, out);
    krf__str_printf(out, ", a.%s", e->operand_names[operand]);
    krf__cuda_put_offset(e, operand, true, out);
    krf__str_put(out, ");\n");
}

/* All copies are under way before the first is waited for. */
void krf__cuda_put_held_copies(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const long long elements = (long long)krf__held_elements(k);
    const char *type = krf__index_type(e);
    long long place = 0;
    krf__str copies = {0}, position = {0};
    if (elements == 0) {
        return;
    }
    krf__str_printf(out, "const %s part = (%s)(blockIdx.x %% %d) * %lld;\nextern __shared__ uint4 held[];\n", type, type, k->cluster, elements);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->operands[i].held) {
            krf__str_printf(out, "uint4 *const held_%s = held + %lld;\n", e->operand_names[i], place / k->vector);
            put_copy(e, i, &copies);
            place += elements;
        }
    }
    krf__emit_position(e, KRF__PART_REDUCED, "p_q", &position);
    krf__str_printf(out, "#pragma unroll 4\nfor (%s p = first; p < last; p += %d) {\n    const %s p_q = p + thread * %d;\n", type, 32 * k->vector, type, k->vector);
    krf__str_printf(out, k->whole ? "    {\n" : "    if (p_q + %d <= last) {\n", k->vector);
    krf__cuda_put_lines(out, "        ", position.data);
    krf__cuda_put_lines(out, "        ", copies.data);
    krf__str_put(out, "    }\n}\nkrf_copies_wait();\n");
    out->failed |= copies.failed || position.failed;
    krf__str_free(&copies);
    krf__str_free(&position);
}

/* What an element was replaced by (cuda_keep.c) goes where it came from. */
void krf__cuda_put_held_kept(krf__emitter *e, krf__str *out) {
    if (e->saved == UINT32_MAX || !e->k->operands[e->kept_slot].held) {
        return;
    }
    krf__str_put(out, "if (valid) {\n    ");
    krf__cuda_put_vector_start(e, out);
    krf__str_put(out, "    ");
    krf__cuda_put_held_word(e, e->kept_slot, out);
    krf__str_printf(out, " = v_%s[q].word;\n}\n", e->operand_names[e->kept_slot]);
}
