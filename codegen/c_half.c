/* The C target's f16 in memory: processors convert vectors of it, which compilers do not know. Strips are converted into blocks of f32 before the loops, and from such blocks behind them. */
#include "codegen/emitter.h"

/* Whether strips of the operand, whose elements lie side by side where a body takes them, are converted before the loops. */
static bool converts(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    return e->mode == 0 && o->dtype == KRF_F16 && !o->store && o->inner == 0 && !o->counts && !o->gathered &&
           krf__c_class(e, operand) == 1;
}

/* Whether it is what a row keeps from an earlier round. */
static bool of_row(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    return e->mode == 0 && o->dtype == KRF_F16 && !o->store && o->inner != 0;
}

static void put_conversion(const krf__emitter *e, const krf__instr *load, int strip, krf__str *out) {
    const char *name = e->operand_names[load->slot];
    if (converts(e, load->slot)) {
        krf__str_printf(out, "float f_%s[%d];\nkrf_load_f16s(f_%s, p_%s + j, m);\n", name, strip, name, name);
    } else if (e->side_by_side) {
        krf__str_printf(out, "float f_%s[%d];\nkrf_load_f16s(f_%s, %s + at, m);\n", name, strip, name, name);
    } else {
        krf__str_printf(out, "const float f_%s = krf_load_f16(", name);
        e->target->load(e, load, out);
        krf__str_put(out, ");\n");
    }
}

void krf__c_put_conversions(const krf__emitter *e, int strip, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const krf__instr *loaded = NULL;
        for (uint32_t n = 0; n < e->k->n_domain; n++) {
            const krf__instr *s = &e->k->instrs[n];
            loaded = s->op == KRF__load && s->slot == i && !krf__c_passed_over(e, n) ? s : loaded;
        }
        if (loaded != NULL && (converts(e, i) || of_row(e, i))) {
            put_conversion(e, loaded, strip, out);
        }
    }
}

void krf__c_put_statement(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    if (i->op == KRF__load && (converts(e, i->slot) || of_row(e, i->slot))) {
        const bool one = of_row(e, i->slot) && !e->side_by_side;
        krf__str_printf(out, one ? "const float t%u = f_%s;\n" : "const float t%u = f_%s[k];\n", instr, e->operand_names[i->slot]);
    } else {
        krf__emit_statement(e, instr, out);
    }
}

/* Where a body puts elements of an output: into b_..., or unrounded into f_..., of which krf__c_put_block declares both. */
bool krf__c_converts_store(const krf__emitter *e, uint32_t operand) { return e->k->operands[operand].store && e->k->operands[operand].dtype == KRF_F16; }
