/* Statements of a kernel's body: one an instruction, assigned through a cast to the result's type, so that no precedence parentheses are needed. */
#include "codegen/emitter.h"

#include <math.h>
#include <string.h>

const char *krf__c_type(int dtype) { return krf__dtype((krf_dtype)dtype)->value; }
const char *krf__storage_type(int dtype) { return krf__dtype((krf_dtype)dtype)->storage; }

static bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The unsigned type that integer code computes in: at least as wide as int. */
static const char *unsigned_type(krf_dtype dtype) { return krf_dtype_size(dtype) == 8 ? "unsigned long long" : "unsigned"; }

/* Functions of which CUDA has texts of ours beside its own: approximations, which serve f16 and bf16 (math/half_math.h) and, some of them, f32 in fast kernels
 * (math/fast.h); and in f64 (math/device_f64.h). */
static const struct {
    const char *name;
    bool fast_f32, own_f64;
} own_texts[] = {
    {"exp", true, true},    {"log", true, true},    {"log2", true, false},     {"log10", true, false}, {"expm1", false, false},
    {"log1p", false, true}, {"tanh", false, false}, {"sigmoid", false, false}, {"silu", false, false},
};

/* How such a function's name is printed; NULL: as any other. */
static const char *own_name(const krf__emitter *e, krf_dtype dtype, const char *name, size_t length) {
    for (size_t i = 0; e->target->approximates && i < sizeof own_texts / sizeof *own_texts; i++) {
        if (strlen(own_texts[i].name) == length && strncmp(own_texts[i].name, name, length) == 0) {
            return krf__is_half(dtype) ? "krf_%.*s_half" : dtype == KRF_F32 && e->k->fast && own_texts[i].fast_f32 ? "krf_fast_%.*sf" : dtype == KRF_F64 && own_texts[i].own_f64 ? "krf_%.*s_f64" : NULL;
        }
    }
    return NULL;
}

/* F(exp), H(maximum), N(nextafter) and K(0.5): the names that differ by dtype. inner: the text in the parentheses. */
static void put_call(const krf__emitter *e, char kind, krf_dtype dtype, const char *inner, size_t length, krf__str *out) {
    const krf__dtype_info *info = krf__dtype(dtype);
    if (kind == 'K') {
        krf__str_printf(out, "(%s)(%.*s)", info->value, (int)length, inner);
    } else if (kind != 'N' && own_name(e, dtype, inner, length) != NULL) {
        krf__str_printf(out, own_name(e, dtype, inner, length), (int)length, inner);
    } else if (kind == 'F') {
        krf__str_printf(out, "%s%.*s%s", e->target->function_prefix, (int)length, inner, info->suffix);
    } else {
        krf__str_printf(out, "krf_%.*s_%s", (int)length, inner, kind == 'H' ? info->helper : info->name);
    }
}

static bool cuts(const krf__emitter *e, krf_dtype dtype) {
    krf__kind kind = krf__dtype(dtype)->kind;
    return e->target->cuts_integers && krf_dtype_size(dtype) < 4 && (kind == KRF__KIND_SINT || kind == KRF__KIND_UINT);
}

void krf__emit_code(const krf__emitter *e, const char *code, krf_dtype dtype, const char *const operands[3], krf__str *out) {
    for (const char *at = code; *at != '\0';) {
        size_t n = 0;
        while (letter(at[n])) {
            n++;
        }
        if (strncmp(at, "(T)(", 4) == 0 && cuts(e, dtype)) {
            krf__str_printf(out, "krf_cut_%s", krf_dtype_name(dtype));
            n = 3;
        } else if (n == 1 && *at >= 'A' && *at <= 'C') {
            krf__str_put(out, operands[*at - 'A']);
        } else if (n == 1 && *at == 'T') {
            krf__str_put(out, krf__c_type((int)dtype));
        } else if (n == 1 && *at == 'U') {
            krf__str_put(out, unsigned_type(dtype));
        } else if (n == 1 && at[1] == '(' && strchr("KFHN", *at) != NULL) {
            size_t inner = strcspn(at, ")") - 2;
            put_call(e, *at, dtype, at + 2, inner, out);
            n = inner + 3;
        } else {
            n = n > 0 ? n : 1;
            krf__str_putn(out, at, n);
        }
        at += n;
    }
}

void krf__emit_value(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    if (i->op == KRF__constant) {
        bool negative = i->dtype != KRF_BOOL && signbit(krf__bits_to_f64((krf_dtype)i->dtype, i->value)); /* --0.0 is no C */
        krf__str_put(out, negative ? "(" : "");
        krf__emit_literal(e, (krf_dtype)i->dtype, i->value, out);
        krf__str_put(out, negative ? ")" : "");
    } else if (i->op == KRF__scalar) {
        krf__str text = {0};
        krf__str_printf(&text, "%ss%u", e->target->arguments, i->slot);
        krf__emit_loaded((krf_dtype)i->dtype, text.data != NULL ? text.data : "", out);
        out->failed |= text.failed;
        krf__str_free(&text);
    } else {
        krf__str_printf(out, "t%u", instr);
    }
}

void krf__emit_loaded(krf_dtype dtype, const char *text, krf__str *out) {
    if (krf__is_half(dtype)) {
        krf__str_printf(out, "krf_load_%s(%s)", krf_dtype_name(dtype), text);
    } else {
        krf__str_put(out, text);
    }
}

/* Results of f16 and bf16 are rounded from f32, unless the operation is exact there. Fast kernels round where a cast asks for it. */
static bool rounds(const krf__emitter *e, const krf__instr *i) {
    const krf__op_info *info = krf__op_info_of((krf__op)i->op);
    krf__rule rule = info->rule;
    bool computed = info->class_ == KRF__CLASS_ELEMENTWISE || i->op == KRF__cast;
    bool exact = rule == KRF__RULE_ANY || rule == KRF__RULE_WHERE || i->op == KRF__negative || i->op == KRF__abs;
    return krf__is_half((krf_dtype)i->dtype) && computed && !exact && (!e->k->fast || i->op == KRF__cast);
}

/* A store rounds anyway: it takes the result from before it was rounded, and where nothing else needs that, it is rounded once. */
void krf__emit_stored(const krf__emitter *e, uint32_t instr, krf_dtype dtype, krf__str *out) {
    if (krf__is_half(dtype)) {
        krf__str_printf(out, "krf_store_%s(", krf_dtype_name(dtype));
    }
    if (e->target->stores_unrounded && rounds(e, &e->k->instrs[instr])) {
        krf__str_printf(out, "u%u", instr);
    } else {
        krf__emit_value(e, instr, out);
    }
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

static void put_cast(const krf__instr *i, const char *operand, krf__str *out) {
    const krf__dtype_info *from = krf__dtype((krf_dtype)i->from), *to = krf__dtype((krf_dtype)i->dtype);
    if (to->kind == KRF__KIND_BOOL) {
        krf__str_printf(out, "%s != 0", operand);
    } else if (from->kind == KRF__KIND_REAL && to->kind != KRF__KIND_REAL) {
        krf__str_printf(out, "krf_cast_%s_%s(%s)", from->helper, to->name, operand);
    } else if (krf__is_half((krf_dtype)i->dtype)) {
        const char *around = narrowing((krf_dtype)i->from);
        size_t at = strcspn(around, "%");
        krf__str_printf(out, "%.*s%s%s", (int)at, around, operand, around + at + 2);
    } else {
        krf__str_put(out, operand);
    }
}

bool krf__costly(const krf__instr *i) {
    if (i->op == KRF__call || i->op == KRF__fold_map) {
        return krf__result_of(i->value)->op->costly;
    }
    const char *code = krf__op_info_of(i->op)->class_ == KRF__CLASS_ELEMENTWISE
                           ? krf__op_code(i->op, krf__dtype((krf_dtype)i->from)->kind, false)
                           : NULL;
    static const char *const cheap[] = {"F(fabs)", "F(sqrt)", "F(floor)", "F(ceil)", "F(rint)", "F(trunc)", "F(copysign)", "F(fma)"};
    if (code == NULL || strstr(code, "F(") == NULL) {
        return false;
    }
    for (size_t n = 0; n < sizeof cheap / sizeof *cheap; n++) {
        if (strstr(code, cheap[n]) != NULL) {
            return false;
        }
    }
    return true;
}

bool krf__costly_domain(const krf__emitter *e) {
    bool any = false;
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        any |= krf__costly(&e->k->instrs[i]);
    }
    return any;
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

/* Whether an instruction of the domain has one value for all elements that a thread takes one after the other. */
static bool shared(const krf__emitter *e, uint32_t instr, int depth) {
    const krf__kernel *k = e->k;
    const krf__instr *i = &k->instrs[instr];
    const bool vectors = k->schedule == KRF__MAP ? k->vector > 1 : k->schedule != KRF__TILE && k->schedule != KRF__REDUCE_COL;
    if (i->op == KRF__constant || i->op == KRF__scalar) {
        return true;
    }
    if (i->op == KRF__load) {
        const krf__operand *o = &k->operands[i->slot];
        return o->inner != 0 || (vectors && !o->counts && krf__stride_class(k, o, k->n_kept + k->n_reduced - 1) == 0);
    }
    bool all = (krf__op_info_of(i->op)->class_ == KRF__CLASS_ELEMENTWISE || i->op == KRF__cast) && depth > 0;
    for (int a = 0; all && a < krf__op_info_of(i->op)->arity; a++) {
        all = shared(e, i->args[a], depth - 1);
    }
    return all;
}

static bool is_power_of_two(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0xfffffffffffffu) == 0;
}

/* The code of a quotient whose divisor's reciprocal serves many elements; NULL: a division serves, as by powers of 2, of which compilers make products. */
static const char *shared_quotient(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr], *by = &e->k->instrs[i->args[1]];
    const bool half = krf__is_half((krf_dtype)i->from);
    if (i->op != KRF__divide || !e->target->approximates || !(half || e->k->fast) || e->mode != 0 || instr >= e->k->n_domain || !shared(e, i->args[1], 4) ||
        shared(e, i->args[0], 4) ||
        (by->op == KRF__constant && is_power_of_two(krf__bits_to_f64((krf_dtype)by->dtype, by->value)))) {
        return NULL;
    }
    return half ? "H(opaque)(N(quotient)(A, B))" : "H(opaque)(H(fast_quotient)(A, B))";
}

void krf__emit_statement(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    krf__str operands[3] = {{0}};
    const char *texts[3] = {"", "", ""};
    int arity = krf__op_info_of(i->op)->arity;
    if (i->op == KRF__constant || i->op == KRF__scalar || i->op == KRF__store || i->op == KRF__bind) {
        return;
    }
    if (i->op == KRF__call) {
        krf__emit_call_before(e, instr, out);
        arity = 0;
    }
    const bool folds = i->op == KRF__fold_map || i->op == KRF__fold_post;
    arity = folds ? 0 : arity;
    const bool unrounded = e->target->stores_unrounded && rounds(e, i); /* two names: before and after */
    krf__str_printf(out, "const %s %c%u = ", krf__instr_type(e, instr), unrounded ? 'u' : 't', instr);
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
        bool hide = e->target->hides_constants && krf__costly(i);
        if (hide) {
            krf__str_printf(&operands[k], "krf_opaque_%s(", krf__dtype((krf_dtype)i->from)->helper);
        }
        krf__emit_value(e, i->args[k], &operands[k]);
        krf__str_put(&operands[k], hide ? ")" : "");
        texts[k] = operands[k].data != NULL ? operands[k].data : "";
    }
    const char *code = i->op == KRF__cast || i->op == KRF__call || folds ? "" : krf__op_code(i->op, krf__dtype((krf_dtype)i->from)->kind, e->target == &krf__target_cuda);
    const char *quotient = shared_quotient(e, instr);
    code = quotient != NULL ? quotient : code != NULL ? code : "?";
    if (rounds(e, i) && !unrounded) {
        krf__str_printf(out, "krf_round_%s(", krf_dtype_name((krf_dtype)i->dtype));
    } else if (cuts(e, (krf_dtype)i->dtype) && strncmp(code, "(T)(", 4) != 0) {
        krf__str_printf(out, "krf_cut_%s(", krf_dtype_name((krf_dtype)i->dtype));
    } else {
        krf__str_printf(out, "(%s)(", krf__instr_type(e, instr));
    }
    if (folds) {
        krf__emit_fold_step(e, instr, out);
    } else if (i->op == KRF__cast) {
        put_cast(i, texts[0], out);
    } else if (i->op == KRF__call) {
        krf__emit_call(e, instr, out);
    } else {
        krf__emit_code(e, code, (krf_dtype)i->from, texts, out);
    }
    krf__str_put(out, ")");
    if (unrounded) {
        krf__str_printf(out, ", t%u = krf_round_%s(u%u)", instr, krf_dtype_name((krf_dtype)i->dtype), instr);
    }
    krf__str_put(out, ";\n");
    for (int k = 0; k < arity; k++) {
        out->failed |= operands[k].failed;
        krf__str_free(&operands[k]);
    }
}

bool krf__sums_narrow(const krf__emitter *e, uint32_t r) {
    const krf__instr *i = krf__reduction(e, r), *value = &e->k->instrs[i->args[0]];
    const bool warps = e->target == &krf__target_cuda && e->k->schedule != KRF__REDUCE_COL && e->k->schedule != KRF__SCAN;
    const bool integers = krf__dtype((krf_dtype)value->from)->kind != KRF__KIND_REAL && krf__dtype((krf_dtype)i->dtype)->kind != KRF__KIND_REAL;
    return warps && i->op == KRF__sum && value->op == KRF__cast && integers && krf_dtype_size((krf_dtype)value->from) < 4 &&
           krf_dtype_size((krf_dtype)value->dtype) == 8;
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
        krf__emit_code(e, krf__op_code(i->op, krf__dtype((krf_dtype)i->dtype)->kind, e->target == &krf__target_cuda),
                       (krf_dtype)i->dtype, names, out);
        krf__str_put(out, "); }\n");
        if (krf__sums_narrow(e, r)) {
            krf__str_printf(out, "%s int red%u(int A, int B) { return A + B; }\n", e->target->inline_function, e->reduction + r);
        }
    }
}

const krf__instr *krf__reduction(const krf__emitter *e, uint32_t r) { return &e->k->instrs[e->k->n_domain + r]; }
const char *krf__reduction_type(const krf__emitter *e, uint32_t r) {
    const char *own = e->fold_types[krf__reduction(e, r) - e->kernel->instrs];
    return *own != '\0' ? own : krf__c_type(krf__reduction(e, r)->dtype);
}

void krf__emit_identity(const krf__emitter *e, uint32_t r, krf__str *out) {
    krf_dtype dtype = (krf_dtype)krf__reduction(e, r)->dtype;
    if (krf__fold_op(krf__reduction(e, r)) != NULL) {
        krf__emit_fold_identity(e, r, out);
        return;
    }
    krf__emit_literal(e, dtype, krf__identity_bits(krf__reduction(e, r)->op, dtype), out);
}
