/* What values of the domain part are computed of: all of one, where that is printed apart from the rest; and whether an instruction uses another. */
#include "codegen/emitter.h"

void krf__mark_operands(krf__emitter *e, uint32_t end) {
    for (uint32_t n = end; n-- > 0;) {
        for (int a = 0; e->needed[n] && a < krf__op_info_of((krf__op)e->k->instrs[n].op)->arity; a++) {
            e->needed[e->k->instrs[n].args[a]] = true;
        }
    }
}

void krf__mark_needed(krf__emitter *e, uint32_t instr) {
    for (uint32_t n = 0; n <= instr; n++) {
        e->needed[n] = n == instr;
    }
    krf__mark_operands(e, instr + 1);
}

static bool among_operands(const krf__kernel *k, uint32_t chain, uint32_t value, int depth) {
    if (k->instrs[chain].op != KRF__bind || depth == 0) {
        return chain == value;
    }
    return k->instrs[chain].args[1] == value || among_operands(k, k->instrs[chain].args[0], value, depth - 1);
}

bool krf__instr_uses(const krf__kernel *k, uint32_t user, uint32_t value) {
    const krf__instr *i = &k->instrs[user];
    const int arity = krf__op_info_of((krf__op)i->op)->arity;
    bool used = false;
    if (i->op == KRF__bind) {
        return false; /* its call does */
    }
    for (int a = 0; a < arity && !used; a++) {
        used = among_operands(k, i->args[a], value, KRF__MOST_DEFINED);
    }
    return used;
}
