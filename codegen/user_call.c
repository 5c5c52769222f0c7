/* Calls of what users define, in a kernel's text. */
#include "codegen/user.h"

#include <string.h>

static void put_of_round(krf__user_printing *p) {
    const krf__kernel *k = p->e->k;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        const krf_op *op = k->instrs[i].op == KRF__call ? krf__result_of(k->instrs[i].value)->op : NULL;
        uint8_t letters[26];
        krf__cuts cuts;
        if (op != NULL) {
            krf__user_letters(k, &k->instrs[i], letters);
            krf__user_cuts_of(p->e, i, &cuts);
            krf__user_put_instance(p, op, letters, &cuts);
        }
    }
}

void krf__emit_user_functions(krf__emitter *e, krf__str *out) {
    krf__user_printing p = {.e = e, .out = out};
    if (e->kernel->n_ops == 0) {
        return;
    }
    const krf__kernel *whole = e->k;
    for (uint32_t r = 0; r < krf__kernel_rounds(whole); r++) {
        const krf__kernel round = krf__kernel_round(whole, r);
        e->k = &round;
        put_of_round(&p);
        krf__user_put_folds(&p);
    }
    e->k = whole;
    krf__map_free(&p.done, NULL);
}

/* Whether a call is made where it stands in a round: not one that nothing needs, or whose result an earlier round has kept. */
static bool is_made(const krf__emitter *e, uint32_t instr) {
    return e->target->gpu ? e->needed[instr] && instr != e->replaced : !krf__c_passed_over(e, instr);
}

/* The first instruction of the part, and of its stage, that makes the same call: all its results are there. */
static uint32_t first_of(const krf__emitter *e, uint32_t instr) {
    const krf__kernel *k = e->k;
    const krf__instr *call = &k->instrs[instr];
    const bool domain = instr < k->n_domain, in_round = domain && k != e->kernel;
    for (uint32_t i = domain ? 0 : k->n_domain; i < instr; i++) {
        const krf__instr *other = &k->instrs[i];
        const bool printed = !domain || (e->stage_of[i] == e->stage_of[instr] && (!in_round || is_made(e, i)));
        if (other->op == KRF__call && other->args[0] == call->args[0] && printed && krf__result_of(other->value)->op == krf__result_of(call->value)->op) {
            return i;
        }
    }
    return instr;
}

/* The piece that ends with a cut, or all of the body: its name, and its operands. */
static void put_call(const krf__emitter *e, uint32_t instr, int piece, const krf__cuts *cuts, krf__str *out) {
    const krf__instr *call = &e->k->instrs[instr];
    const krf_op *op = krf__result_of(call->value)->op;
    uint32_t operands[KRF__MOST_DEFINED];
    uint8_t letters[26];
    const int n = krf__user_operands(e->k, call, operands);
    krf__user_letters(e->k, call, letters);
    krf__user_put_piece_name(call->op == KRF__fold_map ? op->map : op, letters, cuts, piece, out);
    for (int i = 0; i < n; i++) {
        krf__str_put(out, i == 0 ? "(" : ", ");
        krf__emit_value(e, operands[i], out);
    }
    krf__user_put_known(cuts, piece, instr, out);
}

void krf__emit_call_before(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *call = &e->k->instrs[instr];
    const krf_op *op = krf__result_of(call->value)->op;
    uint8_t letters[26];
    krf__cuts cuts;
    if (op->n_results == 1 || first_of(e, instr) != instr) {
        return;
    }
    krf__user_letters(e->k, call, letters);
    for (int r = 0; r < op->n_results; r++) {
        krf__str_printf(out, "%s c%u_%d; ", krf__user_type((int)krf__variable_dtype(&op->variables[r], letters)), instr, r);
    }
    krf__user_cuts_of(e, instr, &cuts);
    put_call(e, instr, cuts.n, &cuts, out);
    for (int r = 0; r < op->n_results; r++) {
        krf__str_printf(out, ", &c%u_%d", instr, r);
    }
    krf__str_put(out, "); ");
}

void krf__emit_call(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *call = &e->k->instrs[instr];
    const krf__result *result = krf__result_of(call->value);
    krf__cuts cuts;
    const bool hide = krf__user_hides(e, result->op) && krf__is_real((krf_dtype)call->dtype);
    if (hide) {
        krf__str_printf(out, "krf_opaque_%s(", krf__dtype((krf_dtype)call->dtype)->helper);
    }
    if (result->op->n_results > 1) {
        krf__str_printf(out, "c%u_%d", first_of(e, instr), result->index);
    } else {
        krf__user_cuts_of(e, instr, &cuts);
        put_call(e, instr, cuts.n, &cuts, out);
        krf__str_char(out, ')');
    }
    krf__str_put(out, hide ? ")" : "");
}

/* ---- in stages ---- */

int krf__call_stages(const krf__emitter *e, uint32_t instr) {
    krf__cuts cuts;
    krf__user_cuts_of(e, instr, &cuts);
    return cuts.last;
}

static bool has_stages(const krf__emitter *e, uint32_t instr, krf__cuts *cuts) {
    const krf__op op = (krf__op)e->k->instrs[instr].op;
    cuts->n = 0;
    if (op == KRF__fold_map || (op == KRF__call && first_of(e, instr) == instr)) {
        krf__user_cuts_of(e, instr, cuts);
    }
    return cuts->n > 0;
}

void krf__emit_call_blocks(const krf__emitter *e, uint32_t instr, int length, krf__str *out) {
    krf__cuts cuts;
    for (int i = 0; has_stages(e, instr, &cuts) && i < cuts.n; i++) {
        krf__str_printf(out, "%s b%u_%d[%d];\n", cuts.list[i].type, instr, i, length);
    }
}

void krf__emit_call_stage(const krf__emitter *e, uint32_t instr, int stage, krf__str *out) {
    krf__cuts cuts;
    for (int i = 0; has_stages(e, instr, &cuts) && i < cuts.n; i++) {
        if (cuts.list[i].stage == stage) {
            krf__str_printf(out, "    b%u_%d[k] = ", instr, i);
            put_call(e, instr, i, &cuts, out);
            krf__str_put(out, ");\n");
        }
    }
}
