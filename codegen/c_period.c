/* The C target's maps of short rows: what is computed of operands that are the same for all rows alone (weights that become f32, `exp(b)`, the places in a row) is computed once, into a tile as long as a strip and a row. */
#include "codegen/emitter.h"

#include <string.h>

enum { LEFT_OUT = -1 };

static bool repeats(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    if (i->op == KRF__load) {
        return krf__narrow_place_of(e->k, &e->k->operands[i->slot]) == KRF__NARROW_PERIOD && e->k->operands[i->slot].inner == 0;
    }
    if (i->dtype == KRF_BOOL) { /* compared by vectors of what is chosen, faster than widened from bytes */
        return false;
    }
    bool all = (krf__op_info_of((krf__op)i->op)->class_ == KRF__CLASS_ELEMENTWISE || i->op == KRF__cast) && i->op != KRF__call, any = false;
    for (int a = 0; all && a < krf__op_info_of((krf__op)i->op)->arity; a++) {
        all = krf__instr_free(&e->k->instrs[i->args[a]]) || e->kept[i->args[a]] == KRF__KEPT_PERIOD;
        any |= e->kept[i->args[a]] == KRF__KEPT_PERIOD;
    }
    return all && any;
}

/* Whether it is worth a tile: beside costly functions little is gained, and powers of f32 lose a sixth where no i64 keeps their vectors short. */
static bool pays(const krf__emitter *e) {
    bool repeated = false, other = false;
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        const bool costly = krf__costly(&e->k->instrs[i]);
        repeated |= costly && e->kept[i] == KRF__KEPT_PERIOD;
        other |= costly && e->kept[i] == 0;
    }
    return repeated || !other;
}

/* Marks what repeats, and of it what is used by nothing else as left out. */
static void find(krf__emitter *e) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        e->kept[i] = repeats(e, i) ? KRF__KEPT_PERIOD : 0;
    }
    if (!pays(e)) {
        memset(e->kept, 0, k->n_domain * sizeof *e->kept);
        return;
    }
    for (uint32_t i = 0; i < k->n_domain; i++) {
        bool wanted = false;
        for (uint32_t u = i + 1; u < k->n_domain && e->kept[i] == KRF__KEPT_PERIOD; u++) {
            wanted |= e->kept[u] == 0 && krf__instr_uses(k, u, i);
        }
        e->forms[i] = wanted;
    }
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (e->kept[i] == KRF__KEPT_PERIOD && (!e->forms[i] || (k->instrs[i].op == KRF__load && !krf__is_half((krf_dtype)k->instrs[i].dtype)))) {
            e->kept[i] = e->forms[i] ? 0 : LEFT_OUT; /* of what lies in memory as it is computed with there is a tile already */
        }
    }
}

static bool is_period(const krf__emitter *e, uint32_t instr) { return e->k->schedule == KRF__MAP && e->k->narrow && e->kept[instr] == KRF__KEPT_PERIOD; }

void krf__c_put_periods(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const int fast = k->n_kept - 1, strip = krf__c_strip_length(e);
    bool any = false;
    if (k->schedule != KRF__MAP) {
        return;
    }
    find(e);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (is_period(e, i)) {
            krf__str_printf(out, "_Alignas(64) %s period%u[%d];\n", krf__instr_type(e, i), i, strip + 2 * KRF__NARROW_SLACK);
            any = true;
        }
    }
    if (!any) {
        return;
    }
    krf__str_printf(out, "for (int k = 0; k < %d + n%d; k++) {\n    const long long j = 0;\n", strip, fast);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (krf__c_laid_out(e, i) && krf__narrow_place_of(k, &k->operands[i]) == KRF__NARROW_PERIOD && !k->operands[i].gathered) {
            const char *name = e->operand_names[i];
            krf__str_printf(out, "    const %s *const p_%s = tile_%s + %d;\n", k->operands[i].counts ? "long long" : krf__storage_type(k->operands[i].dtype), name, name, KRF__NARROW_SLACK);
        }
    }
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (repeats(e, i) || e->kept[i] != 0) {
            krf__str_put(out, "    ");
            krf__emit_statement(e, i, out);
        }
        if (is_period(e, i)) {
            krf__str_printf(out, "    period%u[%d + k] = t%u;\n", i, KRF__NARROW_SLACK, i);
        }
    }
    krf__str_put(out, "}\n");
}

void krf__c_put_period_pointers(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        if (is_period(e, i)) {
            krf__str_printf(out, "const %s *const p_period%u = period%u + %d + i%d;\n", krf__instr_type(e, i), i, i, KRF__NARROW_SLACK, e->k->n_kept - 1);
        }
    }
}
