/* Values that two rounds of a kernel have in common. */
#include "codegen/emitter.h"

#define MOST_STEPS 512 /* of a comparison: subexpressions that are shared are compared again */

bool krf__dear(const krf__instr *i) { return krf__costly(i) || i->op == KRF__divide; }

bool krf__same_value(krf__match *m, uint32_t i, uint32_t j) {
    const krf__instr *x = &m->a->instrs[i], *y = &m->b->instrs[j];
    if (x->op != y->op || x->dtype != y->dtype || x->from != y->from || m->steps++ >= MOST_STEPS) {
        return false;
    }
    if (x->op == KRF__fold_map || (x->op == KRF__call && x->value != y->value)) {
        return false;
    }
    if (x->op == KRF__constant) {
        return x->value == y->value;
    }
    if (x->op == KRF__load || x->op == KRF__scalar) {
        const bool element = x->op == KRF__load && (x->slot == m->slot || m->slot == KRF__ANY_SLOT);
        m->loads |= element;
        return x->slot == y->slot && (element || x->op == KRF__scalar || m->a->operands[x->slot].inner != 0);
    }
    const krf__op_info *info = krf__op_info_of((krf__op)x->op);
    bool all = info->class_ == KRF__CLASS_ELEMENTWISE || x->op == KRF__cast;
    m->costly |= krf__dear(x);
    for (int a = 0; all && a < info->arity; a++) {
        all = krf__same_value(m, x->args[a], y->args[a]);
    }
    return all;
}
