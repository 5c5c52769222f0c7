/* The C target's maps that gather at places which follow one another, but at ends, or which come several times each (krf__instr.value of a fetch): each strip of them lies in memory as it is, is one element, or is laid
 * out: around an end, and where elements repeat. So the loop over a strip reads what follows, of which compilers make vectors; gathered one by one none are made. */
#include "codegen/emitter.h"

static bool is_run(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    return i->op == KRF__fetch && i->value != 0 && !krf__c_passed_over(e, instr);
}

bool krf__c_put_fetched(const krf__emitter *e, const krf__instr *i, krf__str *out) {
    const uint32_t instr = (uint32_t)(i - e->k->instrs);
    if (!is_run(e, instr)) {
        return false;
    }
    krf__str_printf(out, "run%u[k]", instr);
    return true;
}

/* What a place is computed of. */
static void put_computed(krf__emitter *e, uint32_t place, krf__str *out) {
    krf__mark_needed(e, place);
    for (uint32_t n = 0; n <= place; n++) {
        if (e->needed[n] && !krf__instr_free(&e->k->instrs[n]) && !krf__c_is_fixed(e, n)) {
            krf__str_put(out, "    ");
            krf__c_put_statement(e, n, out);
        }
    }
}

static void put_place(krf__emitter *e, uint32_t place, const char *name, const char *k, krf__str *out) {
    krf__str_printf(out, "long long %s%u;\n{\n    const int k = %s;\n", name, place, k);
    put_computed(e, place, out);
    krf__str_printf(out, "    %s%u = ", name, place);
    krf__emit_value(e, place, out);
    krf__str_put(out, ";\n}\n");
}

/* Whether an earlier one has the same places. */
static bool is_known(const krf__emitter *e, uint32_t instr) {
    bool known = false;
    for (uint32_t n = 0; n < instr; n++) {
        known |= is_run(e, n) && e->k->instrs[n].args[0] == e->k->instrs[instr].args[0];
    }
    return known;
}

/* Elements that repeat, of which a strip may begin with the last of one: `lead` of them are the first. Those that all are there are stored side by side, of which compilers make vectors. */
static void put_repeated(krf__emitter *e, uint32_t n, int strip, krf__str *out) {
    const krf__instr *i = &e->k->instrs[n];
    const char *type = krf__storage_type(i->dtype), *name = e->operand_names[i->slot];
    const uint32_t place = i->args[0];
    const int times = (int)(i->value - KRF__FETCH_REPEATS);
    if (!is_known(e, n)) {
        put_place(e, place, "first", "0", out);
        krf__str_printf(out, "int lead%u = 1;\nfor (int k = 1; k < %d && k < m; k++) {\n", place, times);
        put_computed(e, place, out);
        krf__str_printf(out, "    lead%u += ", place);
        krf__emit_value(e, place, out);
        krf__str_printf(out, " == first%u;\n}\nconst int whole%u = (m - lead%u) / %d;\n", place, place, place, times);
    }
    krf__str_printf(out, "%s laid%u[%d];\nconst %s *const run%u = laid%u;\n{\nconst %s *const from = p_%s + first%u;\n", type, n, strip, type, n, n, type, name, place);
    krf__str_printf(out, "for (int k = 0; k < lead%u; k++) {\n    laid%u[k] = from[0];\n}\nfor (int h = 0; h < whole%u; h++) {\n", place, n, place);
    for (int t = 0; t < times; t++) {
        krf__str_printf(out, "    laid%u[lead%u + %d * h + %d] = from[1 + h];\n", n, place, times, t);
    }
    krf__str_printf(out, "}\nfor (int k = lead%u + %d * whole%u; k < m; k++) {\n    laid%u[k] = from[1 + whole%u];\n}\n}\n", place, times, place, n, place);
}

static void put_run(krf__emitter *e, uint32_t n, int strip, krf__str *out) {
    const krf__instr *i = &e->k->instrs[n];
    if (i->value != KRF__FETCH_STEPS) {
        put_repeated(e, n, strip, out);
        return;
    }
    const char *type = krf__storage_type(i->dtype), *name = e->operand_names[i->slot];
    const uint32_t place = i->args[0];
    if (!is_known(e, n)) {
        put_place(e, place, "first", "0", out);
        put_place(e, place, "second", "m > 1", out);
        put_place(e, place, "last", "m - 1", out);
    }
    krf__str_printf(out, "%s laid%u[%d];\nconst %s *run%u = laid%u;\nif (last%u - first%u == m - 1) {\n    run%u = p_%s + first%u;\n", type, n, strip, type, n, n, place, place, n, name, place);
    krf__str_printf(out, "} else if (last%u == first%u && second%u == first%u) {\n    const %s one = p_%s[first%u];\n    for (int k = 0; k < m; k++) {\n        laid%u[k] = one;\n    }\n} else {\n", place, place, place,
                    place, type, name, place, n);
    krf__str_put(out, "for (int k = 0; k < m; k++) {\n");
    put_computed(e, place, out);
    krf__str_printf(out, "    laid%u[k] = p_%s[", n, name);
    krf__emit_value(e, place, out);
    krf__str_put(out, "];\n}\n}\n");
}

void krf__c_put_runs(krf__emitter *e, int strip, krf__str *out) {
    for (uint32_t n = 0; n < e->k->n_domain; n++) {
        if (is_run(e, n)) {
            put_run(e, n, strip, out);
        }
    }
}
