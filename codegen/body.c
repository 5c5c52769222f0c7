/* Statements of a kernel's body: one an instruction, assigned through a cast to the result's type, so that no precedence parentheses are needed. */
#include "codegen/emitter.h"

#include <string.h>

bool krf__rounds(const krf__emitter *e, const krf__instr *i) {
    const krf__op_info *info = krf__op_info_of((krf__op)i->op);
    krf__rule rule = info->rule;
    bool computed = info->class_ == KRF__CLASS_ELEMENTWISE || i->op == KRF__cast;
    bool exact = rule == KRF__RULE_ANY || rule == KRF__RULE_WHERE || i->op == KRF__negative || i->op == KRF__abs;
    return krf__is_half((krf_dtype)i->dtype) && computed && !exact && (!e->k->fast || i->op == KRF__cast);
}

/* A store rounds anyway: it takes the result from before it was rounded, and where nothing else needs that, it is rounded once. */
void krf__emit_unrounded(const krf__emitter *e, uint32_t instr, krf__str *out) {
    if (e->target->stores_unrounded && krf__rounds(e, &e->k->instrs[instr])) {
        krf__str_printf(out, "u%u", instr);
    } else {
        krf__emit_value(e, instr, out);
    }
}

void krf__emit_stored(const krf__emitter *e, uint32_t instr, krf_dtype dtype, krf__str *out) {
    if (krf__is_half(dtype)) {
        krf__str_printf(out, "krf_store_%s(", krf_dtype_name(dtype));
    }
    krf__emit_unrounded(e, instr, out);
    krf__str_put(out, krf__is_half(dtype) ? ")" : "");
}

/* Wide types reach f16 and bf16 by way of an f32 that rounds as they would. */
static const char *narrowing(krf_dtype from) {
    switch (from) {
    case KRF_I32:
    case KRF_U32:
    case KRF_F64: return "krf_odd_f64(%s)";
    case KRF_I64: return "krf_odd_f64(krf_odd_i64(%s))";
    case KRF_U64: return "krf_odd_f64(krf_odd_u64(%s))";
    default: return "%s";
    }
}

static void put_cast(const krf__emitter *e, const krf__instr *i, const char *operand, krf__str *out) {
    const krf__dtype_info *from = krf__dtype((krf_dtype)i->from), *to = krf__dtype((krf_dtype)i->dtype);
    if (e->target->converted != NULL && e->target->converted(e, i, out)) {
        return;
    }
    if (to->kind == KRF__KIND_BOOL) {
        krf__str_printf(out, "%s != 0", operand);
    } else if (from->kind == KRF__KIND_REAL && to->kind != KRF__KIND_REAL) {
        krf__str_printf(out, "krf_cast_%s_%s(%s)", from->helper, to->name, operand);
    } else if (krf__is_half((krf_dtype)i->dtype)) {
        const char *around = narrowing((krf_dtype)i->from);
        size_t at = strcspn(around, "%");
        krf__str_printf(out, "%.*s%s%s", (int)at, around, operand, around + at + 2);
    } else if (from->kind == KRF__KIND_BOOL && to->kind == KRF__KIND_REAL && e->target->chooses_bools && e->k->instrs[i->args[0]].op != KRF__load) {
        krf__str_printf(out, "%s ? 1 : 0", operand);
    } else {
        krf__str_put(out, operand);
    }
}

/* Whether a place may be computed of a bool. gcc 12 vectorises such an element x[c] with -1, the mask, where c is 1. */
static bool has_counted_bool(const krf__kernel *k, uint32_t end) {
    bool any = false;
    for (uint32_t n = 0; n < end && !any; n++) {
        any = k->instrs[n].op == KRF__cast && k->instrs[n].from == KRF_BOOL;
    }
    return any;
}

/* The element so many elements on from the operand's place; none where the target has no place for one. */
static void put_fetch(const krf__emitter *e, const krf__instr *i, krf__str *out) {
    const char *condition = e->target->fetch_condition != NULL ? e->target->fetch_condition(e) : NULL;
    krf__str element = {0};
    if (e->target->fetched != NULL && e->target->fetched(e, i, &element)) {
        krf__emit_loaded((krf_dtype)i->dtype, element.data != NULL ? element.data : "", out);
        krf__str_put(out, ";\n");
        out->failed |= element.failed;
        krf__str_free(&element);
        return;
    }
    e->target->load(e, i, &element);
    krf__str_char(&element, '[');
    const bool hide = e->target->hides_places && has_counted_bool(e->k, (uint32_t)(i - e->k->instrs));
    krf__str_put(&element, hide ? "({ long long place = " : "");
    krf__emit_value(e, i->args[0], &element);
    krf__str_put(&element, hide ? "; __asm__(\"\" : \"+r\"(place)); place; })" : "");
    krf__str_char(&element, ']');
    if (condition != NULL) {
        krf__str_printf(out, "%s ? ", condition);
    }
    krf__emit_loaded((krf_dtype)i->dtype, element.data != NULL ? element.data : "", out);
    if (condition != NULL) {
        krf__str_printf(out, " : (%s)0", krf__c_type(i->dtype));
    }
    krf__str_put(out, ";\n");
    out->failed |= element.failed;
    krf__str_free(&element);
}

/* Whether a value may be what a function of the library returns, all but untouched: the last step of some is a fused multiply-add. */
static bool from_function(const krf__emitter *e, uint32_t instr, int depth) {
    const krf__instr *i = &e->k->instrs[instr];
    const bool passes = i->op == KRF__cast || i->op == KRF__where;
    bool any = krf__costly(i) || i->op == KRF__call || i->op == KRF__fold_map || i->op == KRF__fold_post || (passes && depth == 0);
    for (int a = i->op == KRF__where; passes && !any && a < krf__op_info_of(i->op)->arity; a++) {
        any = from_function(e, i->args[a], depth - 1);
    }
    return any;
}

static bool is_minus_one(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    return i->op == KRF__constant && krf__bits_to_f64((krf_dtype)i->dtype, i->value) == -1;
}

/* The code of a sign that is turned by its bit; NULL: a minus serves. gcc 12 makes -fma(a, b, c) one instruction, (-a) * b - c, which gives +0 for -0. */
static const char *turned_bit(const krf__emitter *e, const krf__instr *i) {
    if (!e->target->turns_bits || !krf__is_real((krf_dtype)i->from)) {
        return NULL;
    }
    switch (i->op) {
    case KRF__negative: return from_function(e, i->args[0], 4) ? "H(negative)(A)" : NULL;
    case KRF__multiply:
        return is_minus_one(e, i->args[0]) && from_function(e, i->args[1], 4) ? "H(negative)(B)" : is_minus_one(e, i->args[1]) && from_function(e, i->args[0], 4) ? "H(negative)(A)" : NULL;
    case KRF__divide: return is_minus_one(e, i->args[1]) && from_function(e, i->args[0], 4) ? "H(negative)(A)" : NULL;
    case KRF__xlogy: return is_minus_one(e, i->args[0]) ? "H(negative)(F(log)(B))" : NULL;
    case KRF__xlog1py: return is_minus_one(e, i->args[0]) ? "H(negative)(F(log1p)(B))" : NULL;
    default: return NULL;
    }
}

/* What the compiler must not see is a constant: what it would fold in ways of its own; 0 as a choice, as ptxas 13.0 makes x ? 1.0f : -0.0f, and what becomes of
 * x ? 1.0f : 0.0f when its sign is turned, a conversion of x, which is +0; and an f64 as the choice beside another value, which may become max.f64 (krf_maximum_f64). */
static bool hides(const krf__emitter *e, const krf__instr *i, int operand) {
    const krf__instr *of = e->k->instrs;
    if (!e->target->hides_constants || krf__inexact(i)) {
        return e->target->hides_constants;
    }
    if (i->op != KRF__where || operand == 0 || !krf__is_real((krf_dtype)i->from)) {
        return false;
    }
    const bool first = of[i->args[1]].op == KRF__constant, second = of[i->args[2]].op == KRF__constant;
    return i->from != KRF_F64 ? operand == 2 && first && second : operand == 1 ? first && !second : second && !first;
}

/* Whether a result, before it is cut, may lie outside its dtype: not where it is one of the operands, or made of their bits. */
static bool may_leave(const krf__instr *i, const char *code) {
    const krf_dtype from = (krf_dtype)i->from, to = (krf_dtype)i->dtype;
    if (i->op == KRF__cast) {
        const bool wider = krf_dtype_size(to) > krf_dtype_size(from) && (krf__dtype(from)->kind == KRF__KIND_UINT || krf__dtype(from)->kind == krf__dtype(to)->kind);
        return from != KRF_BOOL && !wider;
    }
    return *code == '\0' || strpbrk(code, "+-*/%~HN") != NULL;
}

void krf__emit_statement(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    krf__str operands[3] = {{0}};
    const char *texts[3] = {"", "", ""};
    int arity = krf__op_info_of(i->op)->arity;
    if (krf__instr_free(i) || i->op == KRF__store || i->op == KRF__bind) {
        return;
    }
    if (i->op == KRF__call) {
        krf__emit_call_before(e, instr, out);
        arity = 0;
    }
    const bool folds = i->op == KRF__fold_map || i->op == KRF__fold_post;
    arity = folds ? 0 : arity;
    const bool unrounded = e->target->stores_unrounded && krf__rounds(e, i); /* two names: before and after */
    krf__str_printf(out, "const %s %c%u%s = ", krf__instr_type(e, instr), unrounded ? 'u' : 't', instr, krf__lane(e, instr));
    if (i->op == KRF__load) {
        krf__str element = {0};
        e->target->load(e, i, &element);
        krf__emit_loaded((krf_dtype)i->dtype, element.data != NULL ? element.data : "", out);
        krf__str_put(out, ";\n");
        out->failed |= element.failed;
        krf__str_free(&element);
        return;
    }
    if (i->op == KRF__fetch) {
        put_fetch(e, i, out);
        return;
    }
    for (int k = 0; k < arity; k++) {
        const bool hide = hides(e, i, k);
        if (hide) {
            krf__str_printf(&operands[k], "krf_opaque_%s(", krf__dtype((krf_dtype)i->from)->helper);
        }
        krf__emit_value(e, i->args[k], &operands[k]);
        krf__str_put(&operands[k], hide ? ")" : "");
        texts[k] = operands[k].data != NULL ? operands[k].data : "";
    }
    const char *code = i->op == KRF__cast || i->op == KRF__call || folds ? "" : krf__op_code(i->op, krf__dtype((krf_dtype)i->from)->kind, e->target->gpu);
    const char *quicker = krf__quicker_code(e, instr), *turned = turned_bit(e, i);
    code = quicker != NULL ? quicker : turned != NULL ? turned : code != NULL ? code : "?";
    if (krf__rounds(e, i) && !unrounded) {
        krf__str_printf(out, "krf_round_%s(", krf_dtype_name((krf_dtype)i->dtype));
    } else if (krf__cuts_integers(e, (krf_dtype)i->dtype) && strncmp(code, "(T)(", 4) != 0 && may_leave(i, code)) {
        krf__str_printf(out, "krf_cut_%s(", krf_dtype_name((krf_dtype)i->dtype));
    } else {
        krf__str_printf(out, "(%s)(", krf__instr_type(e, instr));
    }
    if (folds) {
        krf__emit_fold_step(e, instr, out);
    } else if (i->op == KRF__cast) {
        put_cast(e, i, texts[0], out);
    } else if (i->op == KRF__call) {
        krf__emit_call(e, instr, out);
    } else {
        krf__emit_code(e, code, (krf_dtype)i->from, texts, out);
    }
    krf__str_put(out, ")");
    if (unrounded && e->lane == 0) {
        krf__str_printf(out, ", t%u = krf_round_%s(u%u)", instr, krf_dtype_name((krf_dtype)i->dtype), instr);
    }
    krf__str_put(out, ";\n");
    for (int k = 0; k < arity; k++) {
        out->failed |= operands[k].failed;
        krf__str_free(&operands[k]);
    }
}

bool krf__sums_narrow(const krf__emitter *e, uint32_t r) {
    const bool lanes = e->target->gpu && e->k->schedule == KRF__REDUCE_COL && (e->k->flat || e->k->drifts || !krf__any_order(e->k));
    return !lanes && krf__narrow_sum(e->k, r);
}

/* red0(A, B), red1(A, B), ...: how each reduction combines two values. */
void krf__emit_combine_functions(krf__emitter *e, krf__str *out) {
    static const char *const names[3] = {"A", "B", "C"};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const krf__instr *i = &e->k->instrs[e->k->n_domain + r];
        const char *type = krf__reduction_type(e, r);
        if (krf__fold_op(i) != NULL) {
            krf__emit_fold_combine(e, r, out);
            continue;
        }
        krf__str_printf(out, "%s %s red%u(%s A, %s B) { return (%s)(", e->target->inline_function, type, e->reduction + r, type, type, type);
        krf__emit_code(e, krf__op_code(i->op, krf__dtype((krf_dtype)i->dtype)->kind, e->target->gpu),
                       (krf_dtype)i->dtype, names, out);
        krf__str_put(out, "); }\n");
        if (e->target->gpu && krf__sums_narrow(e, r)) {
            krf__str_printf(out, "%s int red%u(int A, int B) { return A + B; }\n", e->target->inline_function, e->reduction + r);
        }
    }
}

void krf__emit_identity(const krf__emitter *e, uint32_t r, krf__str *out) {
    krf_dtype dtype = (krf_dtype)krf__reduction(e, r)->dtype;
    if (krf__fold_op(krf__reduction(e, r)) != NULL) {
        krf__emit_fold_identity(e, r, out);
        return;
    }
    krf__emit_literal(e, dtype, krf__identity_bits(krf__reduction(e, r)->op, dtype), out);
}
