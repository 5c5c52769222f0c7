/* Kernels of several rounds: each round is printed as if it were the kernel. Instructions are numbered anew in each, so that a round stands in a scope of its
 * own; what combines two values is numbered through. */
#include "codegen/emitter.h"

void krf__emit_rounds(krf__emitter *e, void (*print)(krf__emitter *e, krf__str *out), krf__str *out) {
    const krf__kernel *k = e->k;
    if (k->n_rounds == 0) {
        print(e, out);
        return;
    }
    e->reduction = 0;
    for (uint32_t r = 0; r < k->n_rounds; r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        e->k = &round;
        print(e, out);
        e->reduction += round.n_reductions;
        e->k = k;
    }
    e->reduction = 0;
}

void krf__emit_row_values(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].inner != 0 && e->k->operands[i].store) {
            krf__str_printf(out, "%s %s;\n", krf__storage_type(e->k->operands[i].dtype), e->operand_names[i]);
        }
    }
}
