/* What a value of the domain part is computed of, where that is printed apart from the rest. */
#include "codegen/emitter.h"

void krf__mark_needed(krf__emitter *e, uint32_t instr) {
    for (uint32_t n = 0; n <= instr; n++) {
        e->needed[n] = n == instr;
    }
    for (uint32_t n = instr + 1; n-- > 0;) {
        for (int a = 0; e->needed[n] && a < krf__op_info_of((krf__op)e->k->instrs[n].op)->arity; a++) {
            e->needed[e->k->instrs[n].args[a]] = true;
        }
    }
}
