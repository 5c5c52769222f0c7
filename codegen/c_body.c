/* The C target's bodies, which are cut into stages after each costly function, whose results go through a local block: a long dependent chain in one loop would leave the processor waiting. */
#include "codegen/emitter.h"

/* Whether an instruction uses a value in a stage: stores do in the last one, calls in all that they take. */
static bool uses_in(const krf__emitter *e, uint32_t user, uint32_t value, uint32_t stage, uint32_t last) {
    const bool store = e->k->instrs[user].op == KRF__store;
    const uint32_t end = store ? last : e->stage_of[user], first = store ? last : e->first_stage_of[user];
    return first <= stage && stage <= end && krf__instr_uses(e->k, user, value);
}

static void put_statement(krf__emitter *e, uint32_t instr, krf__str *out) {
    krf__str_put(out, "    ");
    if (krf__c_is_there(e, instr)) {
        krf__c_put_kept(e, instr, out);
    } else if (krf__c_draws(e, instr)) {
        krf__c_put_drawn(e, instr, out);
    } else {
        krf__c_put_statement(e, instr, out);
    }
}

/* Marks what stage `stage` needs from earlier ones: loads are repeated, other values come from their blocks. */
static void put_stage_inputs(krf__emitter *e, uint32_t stage, uint32_t last, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        bool used = false;
        if (e->stage_of[i] >= stage || krf__c_left_out(e, i) || krf__c_is_fixed(e, i) || krf__instr_free(&k->instrs[i]) || k->instrs[i].op == KRF__store || k->instrs[i].op == KRF__bind) {
            continue;
        }
        for (uint32_t u = i + 1; u < k->n_domain && !used; u++) {
            used |= !krf__c_passed_over(e, u) && uses_in(e, u, i, stage, last);
        }
        for (uint32_t r = 0; r < k->n_reductions; r++) {
            used |= stage == last && k->instrs[k->n_domain + r].args[0] == i;
        }
        if (used && (k->instrs[i].op == KRF__load || krf__c_is_there(e, i))) {
            put_statement(e, i, out);
        } else if (used) {
            krf__str_printf(out, "    const %s t%u = b%u[k];\n", krf__instr_type(e, i), i, i);
        }
    }
}

static bool used_later(const krf__emitter *e, uint32_t instr, uint32_t last) {
    const krf__kernel *k = e->k;
    if (k->instrs[instr].op == KRF__bind) {
        return false;
    }
    for (uint32_t u = instr + 1; u < k->n_domain + k->n_reductions; u++) {
        if (u < k->n_domain && krf__c_passed_over(e, u)) {
            continue;
        }
        uint32_t at = u >= k->n_domain || k->instrs[u].op == KRF__store ? last : e->stage_of[u];
        if (at > e->stage_of[instr] && (u < k->n_domain ? krf__instr_uses(k, u, instr) : k->instrs[u].args[0] == instr)) {
            return true;
        }
    }
    return false;
}

/* An element of an output, into its block: what an earlier stage or round handed on is rounded already, else the store rounds, or the conversion behind the loops. */
static void put_stored(krf__emitter *e, const krf__instr *store, uint32_t last, krf__str *out) {
    const uint32_t value = store->args[0];
    const bool half = krf__is_half((krf_dtype)store->dtype), converts = krf__c_converts_store(e, store->slot);
    const bool rounded = half && !krf__instr_free(&e->k->instrs[value]) && (e->stage_of[value] < last || krf__c_is_there(e, value));
    krf__str_put(out, "    ");
    krf__c_put_stored(e, store->slot, out);
    krf__str_put(out, " = ");
    if (half && !converts) {
        krf__str_printf(out, "krf_store_%s(", krf_dtype_name((krf_dtype)store->dtype));
    }
    if (rounded) {
        krf__emit_value(e, value, out);
    } else {
        krf__emit_unrounded(e, value, out);
    }
    krf__str_put(out, half && !converts ? ");\n" : ";\n");
}

/* The last stage hands values on: to the blocks of outputs, and to the accumulators. */
static void put_consumers(krf__emitter *e, uint32_t last, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (k->instrs[i].op == KRF__store) {
            put_stored(e, &k->instrs[i], last, out);
        }
    }
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        bool scan = k->schedule == KRF__SCAN;
        krf__str_printf(out, scan ? "    acc%u[at + k] = " : "    acc%u[at + k] = red%u(", r, e->reduction + r);
        if (!scan && (krf__c_lanes_have_one(e) || krf__c_once(e))) { /* the only element of its lane */
            krf__emit_identity(e, r, out);
        } else if (!scan) {
            krf__str_printf(out, "acc%u[at + k]", r);
        }
        krf__str_put(out, scan ? "" : ", ");
        krf__emit_value(e, k->instrs[k->n_domain + r].args[0], out);
        krf__str_put(out, scan ? ";\n" : ");\n");
    }
}

static void put_copy_out(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        if (e->k->instrs[i].op == KRF__store) {
            krf__c_round_block(e, e->k->instrs[i].slot, out);
        }
    }
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        if (e->k->instrs[i].op == KRF__store) {
            krf__c_copy_out(e, e->k->instrs[i].slot, out);
        }
    }
}

static void body(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    uint32_t last = krf__c_find_stages(e);
    krf__c_find_fixed(e);
    int strip = krf__c_strip_length(e);
    uint32_t key = 0;
    e->mode = 0;
    krf__c_put_prefetch(e, out);
    krf__c_put_conversions(e, strip, out);
    const bool compares = krf__c_compares_first(e, &key);
    if (compares) {
        krf__c_put_comparison(e, key, out);
    }
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *instr = &k->instrs[i];
        if (instr->op == KRF__store) {
            krf__c_put_block(e, instr->slot, strip, out);
        } else if (instr->op != KRF__load && !krf__instr_free(instr) && !krf__c_passed_over(e, i) && !krf__c_is_fixed(e, i) && used_later(e, i, last)) {
            krf__str_printf(out, "%s b%u[%d];\n", krf__instr_type(e, i), i, strip);
        }
        if (!krf__c_passed_over(e, i)) {
            krf__emit_call_blocks(e, i, strip, out);
        }
    }
    krf__c_put_draws(e, strip, out);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (krf__c_is_fixed(e, i)) {
            krf__c_put_statement(e, i, out);
        }
    }
    krf__c_put_runs(e, strip, out);
    for (uint32_t stage = 0; stage <= last; stage++) {
        krf__str_put(out, compares ? "for (int k = from; k < to; k++) {\n" : "for (int k = 0; k < m; k++) {\n");
        put_stage_inputs(e, stage, last, out);
        for (uint32_t i = 0; i < k->n_domain; i++) {
            const krf__instr *instr = &k->instrs[i];
            if (krf__c_left_out(e, i) || krf__c_is_fixed(e, i)) {
                continue;
            }
            if (e->first_stage_of[i] <= stage && stage < e->stage_of[i]) {
                krf__emit_call_stage(e, i, (int)(stage - e->first_stage_of[i]), out);
            }
            if (e->stage_of[i] != stage || krf__instr_free(instr) || instr->op == KRF__store || instr->op == KRF__bind) {
                continue;
            }
            put_statement(e, i, out);
            krf__c_keep(e, i, out);
            if (instr->op != KRF__load && !krf__c_is_there(e, i) && used_later(e, i, last)) {
                krf__str_printf(out, "    b%u[k] = t%u;\n", i, i);
            }
        }
        if (stage == last) {
            put_consumers(e, last, out);
        }
        krf__str_put(out, "}\n");
    }
    put_copy_out(e, out);
}

const krf__hole krf__c_body_holes[] = {{"BODY", body}, {NULL, NULL}};
