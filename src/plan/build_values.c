/* A node's value as instructions. */
#include "plan/building.h"

#include "base/fail.h"
#include "base/mem.h"

krf_status krf__note(building *b, uint32_t id, uint32_t instr) {
    if (instr == UINT32_MAX) {
        return krf__fail_memory();
    }
    b->p->instr_of[id] = instr + 1;
    b->p->touched[b->n_touched++] = id;
    return KRF_OK;
}

bool krf__keep_op(building *b, const krf_op *op) {
    krf__kernel *k = b->k;
    for (uint32_t i = 0; i < k->n_ops; i++) {
        if (k->ops[i] == op) {
            return true;
        }
    }
    if (!krf__grow(&k->ops, &b->ops_capacity, k->n_ops + (size_t)1, sizeof *k->ops)) {
        return false;
    }
    k->ops[k->n_ops++] = krf__op_retain(op);
    return true;
}

static krf_status add_computed(building *b, uint32_t id) {
    const krf_graph *g = b->p->g;
    const krf__node *n = krf__node_of(g, id);
    krf__instr instr = {.op = n->op, .dtype = n->dtype, .value = n->op == KRF__call ? n->value : 0};
    int arity = krf__op_info_of(n->op)->arity;
    if (n->op == KRF__gather) {
        uint32_t slot = krf__add_read(b, n->args[0], true);
        instr = (krf__instr){.op = KRF__fetch, .dtype = n->dtype, .from = KRF_I64, .args = {b->p->instr_of[n->args[1]] - 1}, .slot = slot, .value = n->value};
        return krf__note(b, id, slot == UINT32_MAX ? slot : krf__add_instr(b, instr));
    }
    for (int i = 0; i < arity; i++) {
        instr.args[i] = b->p->instr_of[n->args[i]] - 1;
    }
    instr.from = krf__node_of(g, n->args[arity - 1])->dtype;
    if (n->op == KRF__call && !krf__keep_op(b, krf__result_of(n->value)->op)) {
        return krf__fail_memory();
    }
    return krf__note(b, id, krf__add_instr(b, instr));
}

/* Adds what the value of `root` needs, operands before users. */
krf_status krf__add_value(building *b, uint32_t root) {
    krf__planning *p = b->p;
    krf_status status = KRF_OK;
    size_t depth = 0;
    p->stack[depth++] = root;
    while (status == KRF_OK && depth > 0) {
        uint32_t id = p->stack[depth - 1], behind = krf__value_behind(b, id);
        const krf__node *n = krf__node_of(p->g, id);
        krf__op op = krf__node_of(p->g, behind)->op;
        if (p->instr_of[id] != 0) {
            depth--;
        } else if (behind != id || op == KRF__constant || op == KRF__scalar || op == KRF__part || krf__loaded(b, id)) {
            status = krf__note(b, id, krf__add_leaf(b, behind));
            depth--;
        } else {
            size_t before = depth;
            for (int i = krf__op_info_of(n->op)->arity - 1; i >= (n->op == KRF__gather); i--) { /* a gather's view is no value */
                if (p->instr_of[n->args[i]] == 0) {
                    p->stack[depth++] = n->args[i];
                }
            }
            if (depth == before) {
                status = add_computed(b, id);
                depth--;
            }
        }
    }
    return status;
}
