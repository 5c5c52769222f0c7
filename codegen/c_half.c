/* The C target's f16 in memory: processors convert vectors of it, which compilers do not know. Strips are converted into blocks of f32 before the loops, and from such blocks behind them. */
#include "codegen/emitter.h"

/* Whether strips of the operand, whose elements lie side by side where a body takes them, are converted before the loops. */
static bool converts(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    return e->mode == 0 && o->dtype == KRF_F16 && !o->store && o->inner == 0 && !o->counts && !o->gathered &&
           (krf__c_crosses(e, operand) || krf__stride_class(e->k, o, krf__c_fast_dim(e)) == 1);
}

void krf__c_put_conversions(const krf__emitter *e, int strip, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        bool loaded = false;
        for (uint32_t n = 0; n < e->k->n_domain; n++) {
            loaded |= e->k->instrs[n].op == KRF__load && e->k->instrs[n].slot == i && !krf__c_left_out(e, n);
        }
        if (loaded && converts(e, i)) {
            krf__str_printf(out, "float f_%s[%d];\nkrf_load_f16s(f_%s, p_%s + j, m);\n", name, strip, name, name);
        }
    }
}

void krf__c_put_statement(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    if (i->op == KRF__load && converts(e, i->slot)) {
        krf__str_printf(out, "const float t%u = f_%s[k];\n", instr, e->operand_names[i->slot]);
    } else {
        krf__emit_statement(e, instr, out);
    }
}

/* Where a body puts elements of an output: into b_..., or unrounded into f_..., of which krf__c_put_block declares both. */
bool krf__c_converts_store(const krf__emitter *e, uint32_t operand) { return e->k->operands[operand].store && e->k->operands[operand].dtype == KRF_F16; }
