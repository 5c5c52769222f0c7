/* The C target's quotients and remainders of integers, and places of what is gathered, that are the same for all elements of a strip, as of the number of its row: computed before its loops, for compilers leave a division
 * where it is not told that the loop turns at all, and a loop with one gets no vectors; nor does one whose places are not known to be numbers. */
#include "codegen/emitter.h"

enum { VARIES, SAME, WANTED };

static bool divides(const krf__instr *i) { return (i->op == KRF__remainder || i->op == KRF__floor_divide) && krf__dtype((krf_dtype)i->dtype)->kind != KRF__KIND_REAL; }

static bool is_same(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    if (krf__c_passed_over(e, instr) || krf__c_draws(e, instr)) {
        return false;
    }
    if (i->op == KRF__load) {
        return e->k->operands[i->slot].inner == 0 && krf__c_class(e, i->slot) == 0;
    }
    bool same = krf__op_info_of((krf__op)i->op)->class_ == KRF__CLASS_ELEMENTWISE || i->op == KRF__cast;
    for (int a = 0; same && a < krf__op_info_of((krf__op)i->op)->arity; a++) {
        same = krf__instr_free(&e->k->instrs[i->args[a]]) || e->forms[i->args[a]] == SAME;
    }
    return same && !krf__instr_free(i);
}

void krf__c_find_fixed(krf__emitter *e) {
    const krf__kernel *k = e->k;
    const bool rows = e->side_by_side || e->together || e->folds || k->narrow; /* elements of a strip lie in several */
    for (uint32_t i = 0; i < k->n_domain; i++) {
        e->forms[i] = !rows && is_same(e, i) ? SAME : VARIES;
    }
    for (uint32_t i = k->n_domain; i-- > 0;) {
        if (k->instrs[i].op == KRF__fetch && e->forms[k->instrs[i].args[0]] == SAME) {
            e->forms[k->instrs[i].args[0]] = WANTED;
        }
        e->forms[i] = e->forms[i] == SAME && divides(&k->instrs[i]) ? WANTED : e->forms[i];
        for (int a = 0; e->forms[i] == WANTED && a < krf__op_info_of((krf__op)k->instrs[i].op)->arity; a++) {
            const uint32_t arg = k->instrs[i].args[a];
            e->forms[arg] = e->forms[arg] == SAME ? WANTED : e->forms[arg];
        }
    }
}

bool krf__c_is_fixed(const krf__emitter *e, uint32_t instr) { return e->forms[instr] == WANTED; }
