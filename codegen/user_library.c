/* Functions of the library as bodies call them: a function for each dtype, from the operation's own row, and around a body a macro that picks by the type of the
 * operands, as C's tgmath.h does: _Generic in C, templates in CUDA. */
#include "codegen/user.h"

#include <string.h>

bool krf__user_begin(krf__user_printing *p, const char *name, size_t length) {
    const bool fresh = krf__map_get(&p->done, name, length) == NULL;
    if (fresh && !krf__map_put(&p->done, name, length, p)) {
        p->out->failed = true;
    }
    return fresh && !p->out->failed;
}

static const uint8_t dtypes[] = {KRF_F32, KRF_F64, KRF_I32, KRF_U32, KRF_I64, KRF_U64};

static const char *code_of(const krf__emitter *e, krf__op op, krf_dtype dtype) { return krf__op_code(op, krf__dtype(dtype)->kind, !krf__user_in_c(e)); }
static bool has_integers(const krf__emitter *e, krf__op op) { return code_of(e, op, KRF_I32) != NULL; }
static bool has_reals(const krf__emitter *e, krf__op op) { return code_of(e, op, KRF_F32) != NULL; }

/* Whether operand k is a condition. */
static bool is_condition(krf__op op, int k) { return krf__op_info_of(op)->rule == KRF__RULE_WHERE && k == 0; }

static const char *result_type(krf__op op, krf_dtype dtype) {
    return krf__op_gives_bool(op) ? "int" : krf__c_type((int)krf__op_result(op, dtype));
}

static void put_function(const krf__user_printing *p, krf__op op, krf_dtype dtype) {
    const krf__op_info *info = krf__op_info_of(op);
    const krf__instr like = {.op = (uint16_t)op, .from = (uint8_t)dtype, .dtype = (uint8_t)dtype};
    const bool hide = p->e->target->hides_constants && krf__inexact(&like);
    char names[3][32];
    const char *operands[3];
    krf__str_printf(p->out, "%s %s op_%s_%s(", krf__user_inlined(p->e), result_type(op, dtype), info->name, krf__user_in_c(p->e) ? krf_dtype_name(dtype) : "");
    for (int k = 0; k < 3; k++) {
        strcpy(names[k], "");
        if (hide) {
            strcpy(names[k], dtype == KRF_F64 ? "krf_opaque_f64(" : "krf_opaque_f32(");
        }
        strncat(names[k], &"A\0B\0C\0"[2 * k], 1);
        strcat(names[k], hide ? ")" : "");
        operands[k] = names[k];
        if (k < info->arity) {
            krf__str_printf(p->out, "%s%s %c", k > 0 ? ", " : "", is_condition(op, k) ? "int" : krf__c_type((int)dtype), 'A' + k);
        }
    }
    krf__str_printf(p->out, ") { return (%s)(", result_type(op, dtype));
    krf__emit_code(p->e, code_of(p->e, op, dtype), dtype, operands, p->out);
    krf__str_put(p->out, "); }\n");
}

void krf__user_put_traits(krf__user_printing *p) {
    static const char text[] = "template <class W, class T> struct op_real { typedef W type; };\n"
                               "template <class W> struct op_real<W, float> { typedef float type; };\n"
                               "template <class W> struct op_real<W, double> { typedef double type; };\n"
                               "template <class W, class T> struct op_number : op_real<W, T> {};\n"
                               "template <class W> struct op_number<W, int> { typedef int type; };\n"
                               "template <class W> struct op_number<W, unsigned> { typedef unsigned type; };\n"
                               "template <class W> struct op_number<W, long> { typedef long long type; };\n"
                               "template <class W> struct op_number<W, unsigned long> { typedef unsigned long long type; };\n"
                               "template <class W> struct op_number<W, long long> { typedef long long type; };\n"
                               "template <class W> struct op_number<W, unsigned long long> { typedef unsigned long long type; };\n";
    if (!krf__user_in_c(p->e) && krf__user_begin(p, "traits", 6)) {
        krf__str_put(p->out, text);
    }
}

static void put_template(const krf__user_printing *p, krf__op op) {
    const krf__op_info *info = krf__op_info_of(op);
    const int first = is_condition(op, 0);
    krf__str_put(p->out, "template <class W");
    for (int k = 0; k < info->arity; k++) {
        krf__str_printf(p->out, ", class T%d", k);
    }
    krf__str_printf(p->out, "> %s auto op_%s(", krf__user_inlined(p->e), info->name);
    for (int k = 0; k < info->arity; k++) {
        krf__str_printf(p->out, "%sT%d a%d", k > 0 ? ", " : "", k, k);
    }
    krf__str_printf(p->out, ") { typedef typename %s<W, decltype(", has_integers(p->e, op) ? "op_number" : "op_real");
    for (int k = first; k < info->arity; k++) {
        krf__str_printf(p->out, "%sa%d", k > first ? " + " : "", k);
    }
    krf__str_put(p->out, info->arity - first == 1 ? " + a" : "");
    if (info->arity - first == 1) {
        krf__str_i64(p->out, first);
    }
    krf__str_printf(p->out, ")>::type type; return op_%s_(", info->name);
    for (int k = 0; k < info->arity; k++) {
        krf__str_printf(p->out, "%s(%s)a%d", k > 0 ? ", " : "", is_condition(op, k) ? "int" : "type", k);
    }
    krf__str_put(p->out, "); }\n");
}

void krf__user_put_library(krf__user_printing *p, krf__op op) {
    const char *name = krf__op_info_of(op)->name;
    if (!krf__user_begin(p, name, strlen(name) + 1)) { /* with its NUL: no definition is called so */
        return;
    }
    for (size_t i = 0; i < sizeof dtypes; i++) {
        if (code_of(p->e, op, (krf_dtype)dtypes[i]) != NULL) {
            put_function(p, op, (krf_dtype)dtypes[i]);
        }
    }
    krf__user_put_traits(p);
    if (!krf__user_in_c(p->e)) {
        put_template(p, op);
    }
}

/* ---- macros around a body ---- */

void krf__user_put_copies(krf__str *out, int n) {
    for (int k = 0; k < n; k++) {
        krf__str_printf(out, "__auto_type krf_a%d = (A%d); ", k, k);
    }
}

void krf__user_put_list(krf__str *out, const char *prefix, int first, int n, const char *between) {
    for (int k = first; k < n; k++) {
        krf__str_printf(out, "%s%s%d", k > first ? between : "", prefix, k);
    }
}

void krf__user_put_library_macro(const krf__user_printing *p, const krf__c_token *called, krf__op op, bool only_f32, bool narrow) {
    const krf__op_info *info = krf__op_info_of(op);
    const int first = is_condition(op, 0);
    krf__str *out = p->out;
    krf__str_printf(out, "#define %.*s(", (int)called->length, called->start);
    krf__user_put_list(out, "A", 0, info->arity, ", ");
    if (only_f32) {
        krf__str_printf(out, krf__user_in_c(p->e) ? ") op_%s_f32(" : ") op_%s<float>(", info->name);
        krf__user_put_list(out, krf__user_in_c(p->e) ? "A" : "(float)A", 0, info->arity, ", ");
        krf__str_put(out, ")\n");
        return;
    }
    if (!krf__user_in_c(p->e)) {
        krf__str_printf(out, ") op_%s<%s>(", info->name, narrow ? "float" : "double");
        krf__user_put_list(out, "A", 0, info->arity, ", ");
        krf__str_put(out, ")\n");
        return;
    }
    krf__str_put(out, ") (__extension__ ({ ");
    krf__user_put_copies(out, info->arity);
    krf__str_put(out, "_Generic(");
    krf__user_put_list(out, "krf_a", first, info->arity, " + ");
    krf__str_put(out, info->arity - first == 1 ? " + 0" : "");
    if (has_integers(p->e, op)) {
        krf__str_printf(out, ", int: op_%s_i32, unsigned: op_%s_u32, long: op_%s_i64, unsigned long: op_%s_u64, long long: op_%s_i64, unsigned long long: op_%s_u64",
                        info->name, info->name, info->name, info->name, info->name, info->name);
    }
    if (has_reals(p->e, op)) {
        krf__str_printf(out, ", float: op_%s_f32, double: op_%s_f64", info->name, info->name);
    }
    if (has_reals(p->e, op) && !has_integers(p->e, op)) {
        krf__str_printf(out, ", default: op_%s_%s", info->name, narrow ? "f32" : "f64");
    }
    krf__str_put(out, ")(");
    krf__user_put_list(out, "krf_a", 0, info->arity, ", ");
    krf__str_put(out, "); }))\n");
}
