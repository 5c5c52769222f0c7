/* Rows that stay in registers: a costly value of an element, that a later round wants again, takes the place of the element itself where nothing else wants
 * that. The exponentials of a softmax are computed once. Those of f32 whose elements are halves have registers of their own, "w_in0", as the halves are done with then. */
#include "codegen/cuda.h"

/* Marks what a round needs of its domain part when instruction `given` is there already. Whether it loads the operand then. */
static bool needs(const krf__kernel *k, uint32_t given, uint32_t slot, bool *needed) {
    bool loads = false;
    for (uint32_t n = 0; n < k->n_domain; n++) {
        needed[n] = k->instrs[n].op == KRF__store;
    }
    for (uint32_t n = k->n_instrs; n-- > 0;) {
        const krf__instr *i = &k->instrs[n];
        if (n < k->n_domain && (!needed[n] || n == given)) {
            continue;
        }
        loads |= n < k->n_domain && (i->op == KRF__load || i->op == KRF__fetch) && i->slot == slot;
        for (int a = 0; a < krf__op_info_of((krf__op)i->op)->arity; a++) {
            if (i->args[a] < k->n_domain) {
                needed[i->args[a]] = true;
            }
        }
    }
    return loads;
}

/* From an instruction on. */
static bool loads_from(const krf__kernel *k, uint32_t first, uint32_t slot) {
    bool any = false;
    for (uint32_t n = first; n < k->n_domain; n++) {
        any |= (k->instrs[n].op == KRF__load || k->instrs[n].op == KRF__fetch) && k->instrs[n].slot == slot;
    }
    return any;
}

static bool loads_element(const krf__kernel *k, uint32_t slot) { return loads_from(k, 0, slot); }

/* The instruction of a round that is the given one of an earlier round, and stands for all uses of the operand there; n_domain: there is none. */
static uint32_t counterpart(const krf__kernel *a, uint32_t i, const krf__kernel *b, uint32_t slot, bool *needed) {
    for (uint32_t j = 0; j < b->n_domain; j++) {
        krf__match m = {.a = a, .b = b, .slot = KRF__ANY_SLOT};
        if (krf__same_value(&m, i, j) && m.loads && m.costly && !needs(b, j, slot, needed)) {
            return j;
        }
    }
    return b->n_domain;
}

/* Whether all later rounds that load the operand can do with instruction i of round r instead, and there is one. */
static bool serves(const krf__kernel *whole, uint32_t r, uint32_t i, uint32_t slot, bool *needed) {
    const krf__kernel a = krf__kernel_round(whole, r);
    bool any = false;
    for (uint32_t later = r + 1; later < whole->n_rounds; later++) {
        const krf__kernel b = krf__kernel_round(whole, later);
        if (loads_element(&b, slot)) {
            if (counterpart(&a, i, &b, slot, needed) == b.n_domain) {
                return false;
            }
            any = true;
        }
    }
    return any;
}

/* Whether a value can take the place of an operand's elements, or have registers instead. */
static bool has_place(const krf__emitter *e, const krf__operand *o, const krf__instr *value) {
    return value->op != KRF__load && (value->dtype == o->dtype || (value->dtype == KRF_F32 && krf__is_half((krf_dtype)o->dtype) && krf__cuda_row_stays(e) && !krf__short_rows(e->kernel)));
}

static bool found(const krf__emitter *e, uint32_t slot, uint32_t *round, uint32_t *instr) {
    const krf__kernel *whole = e->kernel;
    const krf__operand *o = &whole->operands[slot];
    if (o->store || krf__cuda_of_all_rows(e, slot) || o->inner != 0 || o->counts || o->gathered || !(krf__cuda_vectored(e, slot) || whole->vector == 1)) {
        return false;
    }
    for (*round = 0; *round + 1 < whole->n_rounds; ++*round) {
        const krf__kernel a = krf__kernel_round(whole, *round);
        for (*instr = a.n_domain; (*instr)-- > 0;) {
            if (has_place(e, o, &a.instrs[*instr]) && !loads_from(&a, *instr, slot) && serves(whole, *round, *instr, slot, e->asked)) {
                return true;
            }
        }
    }
    return false;
}

void krf__cuda_keep(krf__emitter *e) {
    const krf__kernel *k = e->k, *whole = e->kernel;
    uint32_t round, instr;
    e->saved = e->replaced = UINT32_MAX;
    for (uint32_t n = 0; n < k->n_domain; n++) {
        e->needed[n] = true;
    }
    for (uint32_t slot = 0; slot < whole->n_operands; slot++) {
        if ((krf__cuda_row_stays(e) || whole->operands[slot].held) && found(e, slot, &round, &instr)) {
            const krf__kernel a = krf__kernel_round(whole, round);
            const uint32_t here = (uint32_t)(k->instrs - whole->instrs);
            e->kept_slot = slot;
            e->saved = here == whole->rounds[round].first ? instr : UINT32_MAX;
            e->replaced = here > whole->rounds[round].first && loads_element(k, slot) ? counterpart(&a, instr, k, slot, e->asked) : UINT32_MAX;
            if (e->replaced != UINT32_MAX) {
                needs(k, e->replaced, slot, e->needed);
                return;
            }
            break;
        }
    }
    for (uint32_t n = 0; n < k->n_domain; n++) {
        e->needed[n] = true;
    }
}

bool krf__cuda_keeps_wide(const krf__emitter *e, uint32_t operand) {
    uint32_t round, instr;
    for (uint32_t slot = 0; slot <= operand; slot++) {
        if (krf__cuda_row_stays(e) && found(e, slot, &round, &instr)) {
            return slot == operand && krf__kernel_round(e->kernel, round).instrs[instr].dtype != e->kernel->operands[slot].dtype;
        }
    }
    return false;
}

/* What stands in the place of an element from one round to the next. */
void krf__cuda_put_kept(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr], load = {.op = KRF__load, .dtype = i->dtype, .from = i->dtype, .slot = e->kept_slot};
    krf__str element = {0};
    e->target->load(e, &load, &element);
    const bool wide = i->dtype != e->kernel->operands[e->kept_slot].dtype, rest = wide && e->mode == 3; /* "w_in0[q]" for "v_in0[q]", "w_rest_in0" for "rest_in0" */
    if (wide && !rest && element.data != NULL) {
        element.data[0] = 'w';
    }
    if (instr == e->saved) {
        krf__str_printf(out, "%s%s = ", rest ? "w_" : "", element.data != NULL ? element.data : "");
        krf__emit_stored(e, instr, (krf_dtype)i->dtype, out);
    } else {
        krf__str_printf(out, "const %s t%u%s = %s", krf__c_type(i->dtype), instr, krf__lane(e, instr), rest ? "w_" : "");
        krf__emit_loaded((krf_dtype)i->dtype, element.data != NULL ? element.data : "", out);
        if (krf__is_half((krf_dtype)i->dtype)) {
            krf__str_printf(out, ", u%u = t%u", instr, instr); /* stores take what was not rounded */
        }
    }
    krf__str_put(out, ";\n");
    out->failed |= element.failed;
    krf__str_free(&element);
}
