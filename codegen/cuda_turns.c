/* The CUDA target's rows of which a warp has several chunks, one after the other: a round that reduces takes them in turn, and each then is all that it has, for names stand for the chunk what they stand for
 * the whole of it elsewhere. */
#include "codegen/cuda.h"

#include <stdio.h>

/* Not where it makes no difference which elements meet first: a warp folds all that it has at once then. */
bool krf__cuda_goes_in_turn(const krf__emitter *e) {
    bool ordered = false;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        ordered |= !krf__cuda_goes_by_threads(e, r);
    }
    return krf__row_share(e->k) > 1 && ordered;
}

/* What the names of all that a warp has are where those of a chunk hide them. */
void krf__cuda_put_turns_whole(const krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *type = krf__index_type(e);
    if (krf__row_share(k) == 1) {
        return;
    }
    krf__str_printf(out, k->words ? "const %s all_first = first, all_begin = begin, all_end = end;\n" : "const %s all_first = first, all_last = last;\n", type);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (krf__cuda_keeps_rest(e, i)) {
            krf__str_printf(out, "%s &all_rest_%s = rest_%s;\n", krf__storage_type(k->operands[i].dtype), e->operand_names[i], e->operand_names[i]);
        }
        if (k->operands[i].held) {
            krf__str_printf(out, "uint4 *const all_held_%s = held_%s;\n", e->operand_names[i], e->operand_names[i]);
        }
    }
}

void krf__cuda_put_turns_begin(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *type = krf__index_type(e);
    if (!krf__cuda_goes_in_turn(e)) {
        return;
    }
    krf__str_printf(out, "#pragma unroll 1\nfor (int turn = 0; turn < %d; turn++) {\nconst %s first = all_first + turn * 1024;\n", krf__row_share(k), type);
    if (k->words) {
        krf__str_printf(out, "const %s begin = all_begin + turn * 1024, end = begin + 1024 < all_end ? begin + 1024 : all_end;\n", type);
        krf__cuda_put_words_end(e, out);
    } else {
        krf__str_printf(out, "const %s last = first + 1024 < all_last ? first + 1024 : all_last;\n", type);
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->operands[i].held) {
            const char *name = e->operand_names[i];
            krf__str_printf(out, "uint4 *const held_%s = all_held_%s + turn * %d;\n", name, name, 1024 / k->vector);
        }
    }
    if (k->words) {
        krf__cuda_put_rests(e, true, out);
    }
}

void krf__cuda_put_turns_end(krf__emitter *e, krf__str *out) {
    if (e->k->words && e->saved != UINT32_MAX && krf__cuda_keeps_rest(e, e->kept_slot)) {
        krf__str_printf(out, "if (begin < end && end == all_end) {\n    all_rest_%s = rest_%s;\n}\n", e->operand_names[e->kept_slot], e->operand_names[e->kept_slot]);
    }
    krf__str_put(out, "}\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s r%u;\n", krf__reduction_type(e, r), r);
    }
}
