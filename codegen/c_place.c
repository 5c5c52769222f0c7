/* The C target's places of the largest element (argmax, argmin), which are the largest of keys of 64 bits: a key of the element above the complement of its place. A block's
 * elements are compared first, in half the bits; where one is larger than all before it, the first such one is found and is the only one whose place is taken. */
#include "codegen/emitter.h"

static const krf__instr *argument(const krf__kernel *k, const krf__instr *i, krf__op op, krf_dtype dtype) {
    const krf__instr *found = &k->instrs[i->args[0]];
    return found->op == op && found->dtype == dtype ? found : NULL;
}

/* What counts along the row, where this is its complement in 32 bits, so that of two alike the first is larger; NULL. */
static const krf__instr *place_in(const krf__emitter *e, const krf__instr *low) {
    const krf__instr *bits = low->op == KRF__cast ? argument(e->k, low, KRF__invert, KRF_U32) : NULL, *narrow = bits != NULL ? argument(e->k, bits, KRF__cast, KRF_U32) : NULL;
    const krf__instr *load = narrow != NULL ? argument(e->k, narrow, KRF__load, KRF_I64) : NULL;
    const krf__operand *o = load != NULL ? &e->k->operands[load->slot] : NULL;
    return o != NULL && o->counts && krf__stride_class(e->k, o, krf__c_fast_dim(e)) == 1 ? load : NULL;
}

bool krf__c_compares_first(krf__emitter *e, uint32_t *key) {
    const krf__kernel *k = e->k;
    const bool rows = (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW) && k->n_reduced == 1 && !e->side_by_side;
    if (!rows || k->n_reductions != 1 || k->instrs[k->n_domain].op != KRF__max || k->instrs[k->n_domain].dtype != KRF_I64 || krf__c_find_stages(e) != 0) {
        return false;
    }
    const krf__instr *both = &k->instrs[k->instrs[k->n_domain].args[0]], *high = both->op == KRF__bitwise_or ? &k->instrs[both->args[0]] : NULL;
    if (high == NULL || high->op != KRF__left_shift || place_in(e, &k->instrs[both->args[1]]) == NULL) {
        return false;
    }
    const krf__instr *wide = &k->instrs[high->args[0]], *by = &k->instrs[high->args[1]];
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (k->instrs[i].op == KRF__store || krf__c_draws(e, i)) {
            return false;
        }
    }
    *key = wide->args[0];
    return wide->op == KRF__cast && wide->from == KRF_I32 && by->op == KRF__constant && by->value == 32;
}

/* Loops of one step each: gcc makes a branch of the larger of two keys where a NaN has one of its own, and no vectors of that. Ranges of users may leave 32
 * bits, and all their places are looked at then. */
void krf__c_put_comparison(krf__emitter *e, uint32_t key, krf__str *out) {
    const krf__instr *both = &e->k->instrs[e->k->instrs[e->k->n_domain].args[0]];
    const char *place = e->operand_names[place_in(e, &e->k->instrs[both->args[1]])->slot];
    krf__str_printf(out, "int keys[%d], most = -2147483647 - 1, from = 0, to = m;\nif (p_%s + j + m <= 4294967296LL) {\n", KRF__LANES, place);
    krf__str_put(out, "for (int k = 0; k < m; k++) {\n");
    for (uint32_t i = 0; i <= key; i++) {
        if (!krf__instr_free(&e->k->instrs[i])) {
            krf__str_put(out, "    ");
            krf__c_put_statement(e, i, out);
        }
    }
    krf__str_put(out, "    keys[k] = ");
    krf__emit_value(e, key, out);
    krf__str_put(out, ";\n}\nfor (int k = 0; k < m; k++) {\n    most = most > keys[k] ? most : keys[k];\n}\nfrom = m;\n");
    krf__str_put(out, "if (most > so_far) {\nso_far = most;\nfor (int k = 0; k < m; k++) {\n    keys[k] = keys[k] == most ? k : m;\n}\n");
    krf__str_put(out, "for (int k = 0; k < m; k++) {\n    from = from < keys[k] ? from : keys[k];\n}\n}\nto = from < m ? from + 1 : m;\n}\n");
}
