/* The C target: facts about a kernel that its files share, and the part over results. */
#include "codegen/emitter.h"

#define STRIP_BYTES 512

int krf__c_fast_dim(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    return e->side_by_side || k->schedule == KRF__ROW_COL || k->schedule == KRF__REDUCE_COL || krf__is_map(k) || krf__scans_beside(k) ? k->n_kept - 1 : k->n_kept + k->n_reduced - 1;
}

int krf__c_strip_length(const krf__emitter *e) {
    int widest = 1;
    if (e->k->schedule == KRF__ROW_COL) {
        return e->k->columns;
    }
    if (!krf__is_map(e->k)) {
        return krf__scans_beside(e->k) ? KRF__SCAN_COLUMNS : KRF__LANES;
    }
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        const int bytes = krf__value_bytes((krf_dtype)e->k->instrs[i].dtype);
        widest = bytes > widest ? bytes : widest;
    }
    return STRIP_BYTES / widest;
}

bool krf__c_in_domain(const krf__kernel *k, uint32_t operand) {
    bool domain = false;
    for (uint32_t n = 0; n < k->n_domain && !domain; n++) {
        krf__op op = k->instrs[n].op;
        domain = (op == KRF__load || op == KRF__fetch || op == KRF__store) && k->instrs[n].slot == operand;
    }
    return domain;
}

bool krf__c_once(const krf__emitter *e) { return e->folds && krf__short_rows(e->kernel); }

const char *krf__c_lane_type(const krf__emitter *e, uint32_t r) { return krf__sums_narrow(e, r) ? "int" : krf__reduction_type(e, r); }

bool krf__c_turned(const krf__emitter *e, uint32_t operand) {
    const krf__kernel *k = e->kernel;
    const krf__operand *o = &k->operands[operand];
    const int inner = krf__stride_class(k, o, k->n_kept + k->n_reduced - 1);
    bool loaded = false;
    for (uint32_t i = 0; i < k->n_instrs && !loaded; i++) {
        loaded = k->instrs[i].op == KRF__load && k->instrs[i].slot == operand;
    }
    if (k->schedule == KRF__ROW_COL) {
        return krf__copied_beside(k, operand);
    }
    return e->side_by_side && !k->narrow && (loaded || o->store) && !o->counts && !o->gathered && o->inner == 0 && krf__stride_class(k, o, k->n_kept - 1) >= 2
           && (o->store || k->schedule == KRF__SCAN ? inner == 1 && k->n_kept == 1 && k->n_reduced == 1 : inner != 0);
}

bool krf__c_crosses(const krf__emitter *e, uint32_t operand) {
    return krf__c_turned(e, operand) || (e->k->schedule == KRF__TILE && krf__tile_crosses(e->k, &e->k->operands[operand]));
}

static krf__narrow_place place_of(const krf__emitter *e, uint32_t operand) { return krf__narrow_place_of(e->k, &e->k->operands[operand]); }

bool krf__c_laid_out(const krf__emitter *e, uint32_t operand) {
    return e->k->narrow && place_of(e, operand) != KRF__NARROW_FLAT && place_of(e, operand) != KRF__NARROW_CONSTANT;
}

void krf__c_put_narrow_offset(const krf__emitter *e, uint32_t operand, const char *result, krf__str *out) {
    const int fast = e->k->n_kept - 1;
    if (place_of(e, operand) == KRF__NARROW_FLAT) {
        krf__str_printf(out, " + %s", result);
        if (krf__stride_class(e->k, &e->k->operands[operand], fast) >= 2) {
            krf__str_printf(out, " * %s_s%d", e->operand_names[operand], fast);
        }
    }
}

int krf__c_class(const krf__emitter *e, uint32_t operand) {
    const bool copied = krf__c_crosses(e, operand) || krf__c_laid_out(e, operand);
    return copied ? 1 : krf__stride_class(e->k, &e->k->operands[operand], krf__c_fast_dim(e));
}

void krf__c_put_result_offset(const krf__emitter *e, uint32_t operand, krf__str *out) {
    if (e->k->narrow) {
        krf__c_put_narrow_offset(e, operand, e->side_by_side ? "(o + k)" : "o", out);
        return;
    }
    krf__emit_offset(e, operand, KRF__PART_KEPT, -1, out);
    if (e->k->schedule == KRF__SCAN) {
        krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, out);
    }
}

void krf__c_put_results(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    e->mode = 1;
    for (uint32_t i = k->n_domain + k->n_reductions; i < k->n_instrs; i++) {
        krf__emit_statement(e, i, out);
    }
    for (uint32_t i = k->n_domain + k->n_reductions; i < k->n_instrs; i++) {
        const krf__instr *s = &k->instrs[i];
        if (s->op != KRF__store || (k->schedule == KRF__SCAN && !e->side_by_side)) { /* those are made in strips: c_scan_strip.c */
            continue;
        }
        if (k->schedule == KRF__SCAN && krf__c_turned(e, s->slot)) {
            krf__str_printf(out, "tile_%s[p][at + k] = ", e->operand_names[s->slot]);
            krf__emit_stored(e, s->args[0], (krf_dtype)s->dtype, out);
            krf__str_put(out, ";\n");
            continue;
        }
        krf__str_printf(out, k->operands[s->slot].inner == 0 ? "a->%s[0" : e->side_by_side ? "%s[at + k]" : "%s", e->operand_names[s->slot]);
        if (k->operands[s->slot].inner == 0) {
            krf__c_put_result_offset(e, s->slot, out);
            krf__str_put(out, "]");
        }
        krf__str_put(out, " = ");
        krf__emit_stored(e, s->args[0], (krf_dtype)s->dtype, out);
        krf__str_put(out, ";\n");
    }
    e->mode = 0;
}

void krf__c_put_each_result(krf__emitter *e, krf__str *out) {
    if (e->k->narrow) {
        krf__str_put(out, "for (int k = 0; k < m; k++) {\n    {\n");
        return;
    }
    const int fast = e->k->n_kept - 1;
    const char *type = krf__index_type(e);
    krf__str_printf(out, "for (int k = 0; k < m; k++) {\n    const %s i%d_k = i%d + k;\n    {\n    const %s i%d = i%d_k;\n", type, fast, fast, type, fast, fast);
}
