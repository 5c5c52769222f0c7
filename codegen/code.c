/* What all text is made of: the code of an operation over its operands, values, types, and what weighs an instruction. Calls nothing of what users define. */
#include "codegen/emitter.h"

#include <math.h>
#include <string.h>

const char *krf__c_type(int dtype) { return krf__dtype((krf_dtype)dtype)->value; }
int krf__value_bytes(krf_dtype dtype) { return krf__is_half(dtype) ? (int)sizeof(float) : (int)krf_dtype_size(dtype); }
const char *krf__storage_type(int dtype) { return krf__dtype((krf_dtype)dtype)->storage; }

static bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The unsigned type that integer code computes in: at least as wide as int. */
static const char *unsigned_type(krf_dtype dtype) { return krf_dtype_size(dtype) == 8 ? "unsigned long long" : "unsigned"; }

/* Functions of which CUDA has texts of ours beside its own: approximations, which serve f16 and bf16 (math/half_math.h) and, some of them, f32 in fast kernels
 * (math/fast.h); in f64 (math/device_f64.h); and that of the CPU in f32 (math/real.h, math/powers.h). */
static const struct {
    const char *name;
    bool each_half; /* f16 and bf16 have one each */
    bool fast_f32, own_f64, own_f32;
} own_texts[] = {
    {"exp", true, true, true, false},
    {"log", false, true, true, false},
    {"log2", false, true, false, false},
    {"log10", false, true, false, false},
    {"expm1", false, false, false, false},
    {"log1p", true, false, true, true},
    {"tanh", false, false, false, false},
    {"sigmoid", false, false, false, false},
    {"silu", false, false, false, false},
    {"gelu", true, false, false, false},
    {"gelu_tanh", true, false, false, false},
    {"erf", false, false, false, false},
    {"erfc", true, false, false, false},
    {"logaddexp", true, false, false, false},
    {"softplus", true, false, false, false},
    {"pow", true, false, false, true},
    {"sin", true, false, false, false},
    {"cos", true, false, false, false},
    {"asin", false, false, false, false},
    {"acos", false, false, false, false},
    {"atan", false, false, false, false},
    {"asinh", false, false, false, false},
    {"atanh", false, false, false, false},
};

/* Quotients that are whole numbers, and what they leave (math/division.h): of integers of 8 and 16 bits, whose text is one, and of f16, bf16 and f32, whose is one too, and f64. */
static const struct {
    const char *name;
    bool real;
} whole_texts[] = {{"floor_divide", true}, {"remainder", false}, {"fmod", false}};

static const char *whole_name(krf_dtype dtype, const char *name, size_t length) {
    const bool real = krf__is_real(dtype), narrow = !real && krf_dtype_size(dtype) < 4;
    for (size_t i = 0; (real || narrow) && i < sizeof whole_texts / sizeof *whole_texts; i++) {
        if (strlen(whole_texts[i].name) == length && strncmp(whole_texts[i].name, name, length) == 0 && (narrow || whole_texts[i].real)) {
            return narrow ? "krf_whole_%.*s_i16" : dtype == KRF_F64 ? "krf_whole_%.*s_f64" : "krf_whole_%.*s_f32";
        }
    }
    return NULL;
}

/* How such a function's name is printed; NULL: as any other. */
static const char *own_name(const krf__emitter *e, krf_dtype dtype, const char *name, size_t length) {
    for (size_t i = 0; e->target->approximates && i < sizeof own_texts / sizeof *own_texts; i++) {
        if (strlen(own_texts[i].name) == length && strncmp(own_texts[i].name, name, length) == 0) {
            if (krf__is_half(dtype)) {
                return !own_texts[i].each_half ? "krf_%.*s_half" : dtype == KRF_F16 ? "krf_%.*s_f16" : "krf_%.*s_bf16";
            }
            if (dtype == KRF_F32) {
                return e->k->fast && own_texts[i].fast_f32 ? "krf_fast_%.*sf" : own_texts[i].own_f32 ? "krf_%.*sf" : NULL;
            }
            return dtype == KRF_F64 && own_texts[i].own_f64 ? "krf_%.*s_f64" : NULL;
        }
    }
    return e->target->approximates ? whole_name(dtype, name, length) : NULL;
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

bool krf__inexact(const krf__instr *i) { return krf__costly(i) && !(i->op == KRF__power && i->from == KRF_F32); }

bool krf__cuts_integers(const krf__emitter *e, krf_dtype dtype) {
    krf__kind kind = krf__dtype(dtype)->kind;
    return e->target->cuts_integers && krf_dtype_size(dtype) < 4 && (kind == KRF__KIND_SINT || kind == KRF__KIND_UINT);
}

void krf__emit_code(const krf__emitter *e, const char *code, krf_dtype dtype, const char *const operands[3], krf__str *out) {
    for (const char *at = code; *at != '\0';) {
        size_t n = 0;
        while (letter(at[n])) {
            n++;
        }
        if (strncmp(at, "(T)(", 4) == 0 && krf__cuts_integers(e, dtype)) {
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

const char *krf__lane(const krf__emitter *e, uint32_t instr) { return e->lane == 0 || instr >= e->k->n_domain || !e->taint[instr] ? "" : e->lane == 1 ? "a" : "b"; }

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
        krf__str_printf(out, "t%u%s", instr, krf__lane(e, instr));
    }
}

void krf__emit_loaded(krf_dtype dtype, const char *text, krf__str *out) {
    if (krf__is_half(dtype)) {
        krf__str_printf(out, "krf_load_%s(%s)", krf_dtype_name(dtype), text);
    } else {
        krf__str_put(out, text);
    }
}

bool krf__instr_free(const krf__instr *i) { return i->op == KRF__constant || i->op == KRF__scalar; }

const krf__instr *krf__reduction(const krf__emitter *e, uint32_t r) { return &e->k->instrs[e->k->n_domain + r]; }
const char *krf__reduction_type(const krf__emitter *e, uint32_t r) {
    const char *own = e->fold_types[krf__reduction(e, r) - e->kernel->instrs];
    return *own != '\0' ? own : krf__c_type(krf__reduction(e, r)->dtype);
}
