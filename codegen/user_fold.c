/* What users reduce with: an accumulator is a value like any other, of one field or a struct of several, so that schedules know nothing of it but its type, its identity,
 * and how two are combined. Functions have the number of their reduction among the kernel's instructions: map7, none7, post7_0. */
#include "codegen/user.h"

#include <string.h>

const krf_op *krf__fold_op(const krf__instr *i) {
    const bool folds = i->op == KRF__fold || i->op == KRF__fold_scan || i->op == KRF__fold_map || i->op == KRF__fold_post;
    return folds ? krf__result_of(i->value)->op : NULL;
}

static uint32_t number_of(const krf__emitter *e, uint32_t r) { return (uint32_t)(krf__reduction(e, r) - e->kernel->instrs); }

static void letters_of(const krf__emitter *e, uint32_t r, uint8_t letters[26]) {
    krf__user_letters(e->k, &e->k->instrs[krf__reduction(e, r)->args[0]], letters);
}

/* The reduction of a fold_map or fold_post instruction. */
static uint32_t reduction_of(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    uint32_t r = 0;
    if (i->op == KRF__fold_post) {
        return i->args[0] - e->k->n_domain;
    }
    while (r + 1 < e->k->n_reductions && !(krf__reduction(e, r)->args[0] == instr && krf__fold_op(krf__reduction(e, r)) != NULL)) {
        r++;
    }
    return r;
}

const char *krf__instr_type(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    return i->op == KRF__fold_map ? krf__reduction_type(e, reduction_of(e, instr)) : i->dtype == KRF_BOOL ? e->bool_type : krf__c_type(i->dtype);
}

static const char *field_type(const krf_op *op, const uint8_t letters[26], int field) {
    return krf__user_type((int)krf__variable_dtype(&op->map->variables[field], letters));
}

/* CUDA: memory that other blocks write is volatile, of which C++ copies no struct by itself; and shuffles go field by field. No members: gcc would guard the shared ones of the
 * doubles. Whole words, as which they are copied to shared memory; and aligned as their widest field is: of fewer bytes NVRTC 13.0 makes structs that are 12 bytes in a union, and 16 apart in an array. */
static void put_struct(krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const char *type) {
    const bool c = krf__user_in_c(p->e);
    const int n = op->map->n_results;
    krf__str *out = p->out;
    bool wide = false;
    for (int f = 0; f < n; f++) {
        wide |= krf_dtype_size(krf__variable_dtype(&op->map->variables[f], letters)) == 8;
    }
    if (c) {
        krf__str_put(out, "typedef struct {\n");
    } else {
        krf__str_printf(out, "struct __align__(%d) %s {\n", wide ? 8 : 4, type);
    }
    for (int f = 0; f < n; f++) {
        krf__str_printf(out, "    %s f%d;\n", field_type(op, letters, f), f);
    }
    if (c) {
        krf__str_printf(out, "} %s;\n", type);
        return;
    }
    krf__str_printf(out, "};\n%s %s %s_read(const volatile %s &x) {\n    %s y;\n", p->e->target->inline_function, type, type, type, type);
    for (int f = 0; f < n; f++) {
        krf__str_printf(out, "    y.f%d = x.f%d;\n", f, f);
    }
    krf__str_put(out, "    return y;\n}\n");
    static const char *const shuffles[] = {"", "down_", "xor_"}; /* krf__cuda_put_shuffle calls them */
    for (size_t s = 0; s < sizeof shuffles / sizeof *shuffles; s++) {
        krf__str_printf(out, "%s %s %s_%sshuffle(const %s &x, int lane) {\n    %s y;\n", p->e->target->inline_function, type, type, shuffles[s], type, type);
        for (int f = 0; f < n; f++) {
            const bool narrow = krf_dtype_size(krf__variable_dtype(&op->map->variables[f], letters)) < 4 && !krf__is_half(krf__variable_dtype(&op->map->variables[f], letters));
            krf__str_printf(out, "    y.f%d = (%s)__shfl_%ssync(0xffffffffu, %sx.f%d, lane);\n", f, field_type(op, letters, f), shuffles[s], narrow ? "(int)" : "", f);
        }
        krf__str_put(out, "    return y;\n}\n");
    }
}

/* The fields of an accumulator, or their addresses, as operands: "A" or "&y.f0, &y.f1". */
static void put_fields(krf__str *out, const char *value, int n, const char *before) {
    for (int f = 0; f < n; f++) {
        krf__str_printf(out, n > 1 ? "%s%s%s.f%d" : "%s%s%s", f > 0 ? ", " : "", before, value, f);
    }
}

static void put_map(krf__user_printing *p, uint32_t r, const krf_op *op, const uint8_t letters[26], const krf__cuts *cuts, const char *type) {
    krf__str *out = p->out;
    krf__str_printf(out, "%s %s map%u(", krf__user_inlined(p->e), type, number_of(p->e, r));
    for (int i = 0; i < op->n_parameters; i++) {
        krf__str_printf(out, "%s%s x%d", i > 0 ? ", " : "", krf__user_type((int)krf__variable_dtype(&op->parameters[i], letters)), i);
    }
    for (int i = 0; i < cuts->n; i++) {
        krf__str_printf(out, ", %s c%d", cuts->list[i].type, i);
    }
    krf__str_printf(out, op->map->n_results > 1 ? ") { %s y; " : ") { %s y = ", type);
    const krf_dtype first = krf__variable_dtype(&op->map->variables[0], letters);
    const bool hide = op->map->n_results == 1 && krf__is_real(first) && krf__user_hides(p->e, op->map);
    if (hide) {
        krf__str_printf(out, "krf_opaque_%s(", krf__dtype(first)->helper);
    }
    krf__user_put_piece_name(op->map, letters, cuts, cuts->n, out);
    krf__str_char(out, '(');
    krf__user_put_list(out, "x", 0, op->n_parameters, ", ");
    krf__str_put(out, cuts->n > 0 ? ", " : "");
    krf__user_put_list(out, "c", 0, cuts->n, ", ");
    if (op->map->n_results > 1) {
        krf__str_put(out, ", ");
        put_fields(out, "y", op->map->n_results, "&");
    }
    krf__str_put(out, hide ? ")); return y; }\n" : "); return y; }\n");
}

static void put_none(krf__user_printing *p, uint32_t r, const krf_op *op, const uint8_t letters[26], const char *type) {
    krf__str *out = p->out;
    krf__str_printf(out, "%s %s none%u(void) { %s y; ", krf__user_inlined(p->e), type, number_of(p->e, r), type);
    for (int f = 0; f < op->map->n_results; f++) {
        const krf_dtype dtype = krf__variable_dtype(&op->map->variables[f], letters);
        const uint64_t bits = krf__bits_cast(KRF_F64, dtype, krf__bits_from_f64(KRF_F64, op->identity[f]));
        krf__str_printf(out, op->map->n_results > 1 ? "y.f%d = " : "y = ", f);
        krf__emit_literal(p->e, dtype, bits, out);
        krf__str_put(out, "; ");
    }
    krf__str_put(out, "return y; }\n");
}

static void put_posts(krf__user_printing *p, uint32_t r, const krf_op *op, const uint8_t letters[26], const char *type) {
    krf__str *out = p->out;
    const int fields = op->map->n_results;
    for (int k = 0; k < op->n_results; k++) {
        krf__str_printf(out, "%s %s post%u_%d(%s y) { ", krf__user_inlined(p->e), krf__user_type((int)krf__variable_dtype(&op->variables[k], letters)), number_of(p->e, r), k, type);
        if (op->post == NULL) {
            krf__str_printf(out, fields > 1 ? "return y.f%d; }\n" : "return y; }\n", k);
            continue;
        }
        for (int i = 0; i < op->n_results && op->n_results > 1; i++) {
            krf__str_printf(out, "%s r%d; ", krf__user_type((int)krf__variable_dtype(&op->variables[i], letters)), i);
        }
        krf__str_put(out, op->n_results > 1 ? "" : "return ");
        krf__user_put_instance_name(op->post, letters, out);
        krf__str_char(out, '(');
        put_fields(out, "y", fields, "");
        if (op->n_results > 1) {
            krf__str_put(out, ", ");
            krf__user_put_list(out, "&r", 0, op->n_results, ", ");
            krf__str_printf(out, "); return r%d; }\n", k);
        } else {
            krf__str_put(out, "); }\n");
        }
    }
}

void krf__user_put_folds(krf__user_printing *p) {
    krf__emitter *e = p->e;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const krf_op *op = krf__fold_op(krf__reduction(e, r));
        uint8_t letters[26];
        krf__cuts cuts;
        const krf__cuts whole = {.n = 0};
        if (op == NULL) {
            continue;
        }
        letters_of(e, r, letters);
        krf__user_cuts_of(e, krf__reduction(e, r)->args[0], &cuts);
        krf__user_put_instance(p, op->map, letters, &cuts);
        krf__user_put_instance(p, op->combine, letters, &whole);
        if (op->post != NULL) {
            krf__user_put_instance(p, op->post, letters, &whole);
        }
        if (op->map->n_results > 1) {
            krf__str name = {0};
            krf__str_printf(&name, "fold%u", number_of(e, r));
            if (name.data != NULL) {
                strncpy(e->fold_types[number_of(e, r)], name.data, sizeof *e->fold_types - 1);
            }
            p->out->failed |= name.failed;
            krf__str_free(&name);
            put_struct(p, op, letters, krf__reduction_type(e, r));
        }
        put_map(p, r, op, letters, &cuts, krf__reduction_type(e, r));
        put_none(p, r, op, letters, krf__reduction_type(e, r));
        put_posts(p, r, op, letters, krf__reduction_type(e, r));
    }
}

/* ---- in the kernel ---- */

void krf__emit_fold_combine(const krf__emitter *e, uint32_t r, krf__str *out) {
    const krf_op *op = krf__fold_op(krf__reduction(e, r));
    const char *type = krf__reduction_type(e, r);
    const int n = op->map->n_results;
    uint8_t letters[26];
    letters_of(e, r, letters);
    krf__str_printf(out, "%s %s red%u(%s A, %s B) { ", e->target->inline_function, type, e->reduction + r, type, type);
    if (n > 1) {
        krf__str_printf(out, "%s y; ", type);
    } else {
        krf__str_put(out, "return ");
    }
    krf__user_put_instance_name(op->combine, letters, out);
    krf__str_char(out, '(');
    put_fields(out, "A", n, "");
    krf__str_put(out, ", ");
    put_fields(out, "B", n, "");
    if (n > 1) {
        krf__str_put(out, ", ");
        put_fields(out, "y", n, "&");
        krf__str_put(out, "); return y; }\n");
    } else {
        krf__str_put(out, "); }\n");
    }
}

void krf__emit_fold_identity(const krf__emitter *e, uint32_t r, krf__str *out) { krf__str_printf(out, "none%u()", number_of(e, r)); }

void krf__emit_fold_step(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    const uint32_t r = reduction_of(e, instr);
    if (i->op == KRF__fold_post) {
        krf__str_printf(out, "post%u_%d(t%u)", number_of(e, r), krf__result_of(i->value)->index, i->args[0]);
        return;
    }
    uint32_t operands[KRF__MOST_DEFINED];
    const int n = krf__user_operands(e->k, i, operands);
    krf__str_printf(out, "map%u(", number_of(e, r));
    for (int k = 0; k < n; k++) {
        krf__str_put(out, k > 0 ? ", " : "");
        krf__emit_value(e, operands[k], out);
    }
    krf__cuts cuts;
    krf__user_cuts_of(e, instr, &cuts);
    krf__user_put_known(&cuts, cuts.n, instr, out);
    krf__str_char(out, ')');
}
