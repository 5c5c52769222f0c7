/* The C target's scans: strips of results, which are made in blocks and copied out. */
#include "codegen/emitter.h"

static bool is_stored(const krf__emitter *e, uint32_t operand) {
    bool stored = false;
    for (uint32_t i = e->k->n_domain + e->k->n_reductions; i < e->k->n_instrs; i++) {
        stored |= e->k->instrs[i].op == KRF__store && e->k->instrs[i].slot == operand;
    }
    return stored;
}

/* Rows to come, of columns that are written in the usual way: a line that is not there yet holds up the stores behind it. */
static void put_ahead(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand];
    if (krf__stride_class(e->k, o, e->k->n_kept) >= 2) {
        krf__str_printf(out, "for (int k = 0; k < m && !(large_%s && (unsigned long long)p_%s %% 64 == 0); k += %d) {\n    __builtin_prefetch(&p_%s[k + %dLL * %s_s%d], 1);\n}\n", name, name,
                        64 / (int)krf_dtype_size((krf_dtype)o->dtype), name, KRF__SCAN_AHEAD, name, e->k->n_kept);
    }
}

void krf__c_put_strip_places(krf__emitter *e, krf__str *out) {
    const bool columns = krf__scans_beside(e->k);
    bool first = !columns;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (!is_stored(e, i)) {
            continue;
        }
        const char *type = krf__storage_type(e->k->operands[i].dtype), *name = e->operand_names[i];
        krf__str_printf(out, "%s *const p_%s = a->%s", type, name, name);
        krf__emit_offset(e, i, KRF__PART_KEPT, -1, out);
        krf__emit_offset(e, i, KRF__PART_REDUCED, -1, out);
        krf__str_put(out, ";\n");
        if (first && krf__c_passes(e, i)) {
            krf__str_printf(out, "m -= m == %d && large_%s ? (int)((unsigned long long)p_%s %% 64 / sizeof *p_%s) : 0;\n", KRF__LANES, name, name, name);
            first = false;
        }
        if (columns && krf__c_passes(e, i)) {
            put_ahead(e, i, out);
        }
        krf__c_put_block(e, i, krf__c_strip_length(e), out);
    }
}

static void put_stores(krf__emitter *e, krf__str *out) {
    e->mode = 1;
    for (uint32_t i = e->k->n_domain + e->k->n_reductions; i < e->k->n_instrs; i++) {
        const krf__instr *s = &e->k->instrs[i];
        if (s->op != KRF__store) {
            continue;
        }
        const bool converts = krf__c_converts_store(e, s->slot);
        krf__str_printf(out, "%s_%s[k] = ", converts ? "f" : "b", e->operand_names[s->slot]);
        if (converts) {
            krf__emit_unrounded(e, s->args[0], out);
        } else {
            krf__emit_stored(e, s->args[0], (krf_dtype)s->dtype, out);
        }
        krf__str_put(out, ";\n");
    }
    e->mode = 0;
}

void krf__c_put_strip(krf__emitter *e, const char *values, krf__str *out) {
    const int fast = krf__c_fast_dim(e);
    const char *type = krf__index_type(e);
    krf__str_printf(out, "for (int k = 0; k < m; k++) {\n    const %s i%d_k = i%d + k;\n    {\n    const %s i%d = i%d_k;\n%s", type, fast, fast, type, fast, fast, values);
    krf__c_put_results(e, out);
    put_stores(e, out);
    krf__str_put(out, "    }\n}\n");
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_stored(e, i)) {
            krf__c_round_block(e, i, out);
            krf__c_copy_out(e, i, out);
        }
    }
}
