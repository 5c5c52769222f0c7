/* The text of a raw kernel: the user's own, with its own line numbers, and behind it what holds its parameters against the definition (CUDA), or calls it with the
 * values of the argument block (C). */
#include "codegen/raw.h"

#include "codegen/emitter.h"
#include "ir/raw.h"
#include "plan/raw_call.h"

#include <string.h>

const char *krf__raw_source(const krf__raw *raw, const krf__target *target) { return strcmp(target->name, "cuda") == 0 ? raw->cuda : raw->c; }

/* A line for each of the user's options, which backend/cuda/nvrtc.c reads. */
static void put_options(const krf__raw *raw, krf__str *out) {
    krf__str_put(out, raw->units.at == NULL ? "// NVRTC option: --no-minimal\n" : ""); /* the user may use all that CUDA has */
    for (const char *at = raw->options; at != NULL && *at != '\0';) {
        const size_t blanks = strspn(at, " \t\n"), length = strcspn(at + blanks, " \t\n");
        if (length > 0) {
            krf__str_put(out, "// NVRTC option: ");
            krf__str_putn(out, at + blanks, length);
            krf__str_char(out, '\n');
        }
        at += blanks + length;
    }
}

static void put_source(const krf__raw *raw, const char *source, const char *suffix, krf__str *out) {
    krf__str_printf(out, "#line 1 \"%s%s\"\n", raw->name, suffix);
    krf__str_put(out, source);
    krf__str_printf(out, "\n#line 1 \"definition of %s\"\n", raw->name);
}

static int kind_of(krf_dtype dtype) { return krf__is_half(dtype) || krf__is_complex(dtype) ? 0 : krf__is_real(dtype) ? 2 : 1; }

static void put_check(const krf__raw *raw, krf__str *out) {
    krf__str_put(out, krf__embedded_text("raw_check.cu"));
    krf__str_printf(out, "static_assert(krf_function<decltype(%s)>::count == %d, \"%s: the kernel has another number of parameters than its definition\");\n", raw->name, raw->n_parameters, raw->name);
    for (int i = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        const int bytes = (int)krf_dtype_size(p->dtype);
        krf__str_printf(out, "static_assert(krf_parameter<%d, decltype(%s)>::", i, raw->name);
        if (p->role == KRF__ROLE_SCALAR) {
            krf__str_printf(out, "number(%d, %d)", bytes, kind_of(p->dtype));
        } else {
            krf__str_printf(out, "array(%d, %d, %d)", bytes, kind_of(p->dtype), krf__is_complex(p->dtype) ? bytes / 2 : -1);
        }
        krf__str_printf(out, ", \"%s: parameter %d of the kernel is not %.*s, %s %s, as the definition has it\");\n", raw->name, i + 1, (int)p->name.length, p->name.at,
                        p->role == KRF__ROLE_SCALAR ? "a number of" : "a pointer to elements of", krf_dtype_name(p->dtype));
    }
}

/* Whether the pointer has the type of its elements. Of integers of 64 bits and of a byte there are several, and of complex and half numbers none in C11 for sure: those convert to what the function has. */
static bool is_typed(krf_dtype dtype) { return dtype == KRF_F32 || dtype == KRF_F64 || dtype == KRF_I32 || dtype == KRF_U32 || dtype == KRF_I16 || dtype == KRF_U16; }

static void put_number_type(krf_dtype dtype, krf__str *out) {
    krf__str_put(out, krf__is_complex(dtype) ? (dtype == KRF_C64 ? "float _Complex" : "double _Complex") : krf__storage_type((int)dtype));
}

static void put_call(const krf__kernel *k, krf__str *out) {
    const krf__raw *raw = k->raw->raw;
    krf__str_put(out, "/* strict pointers */\n"); /* backend/cpu/compiler.h reads it */
    krf__str_printf(out, "void %s(const void *krf_fields, long long krf_lo, long long krf_hi) {\n    const unsigned long long *krf_a = krf_fields;\n    (void)krf_lo, (void)krf_hi;\n", k->name);
    for (int i = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        if (p->role == KRF__ROLE_SCALAR) {
            krf__str_put(out, "    ");
            put_number_type(p->dtype, out);
            krf__str_printf(out, " krf_%d;\n    __builtin_memcpy(&krf_%d, krf_a + %u, sizeof krf_%d);\n", i, i, k->raw->slots[i].field, i);
        }
    }
    krf__str_printf(out, "    %s(%s", raw->name, raw->units.at != NULL ? "krf_lo, krf_hi, " : "");
    for (int i = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        krf__str_put(out, i > 0 ? ", " : "");
        if (p->role == KRF__ROLE_SCALAR) {
            krf__str_printf(out, "krf_%d", i);
        } else {
            krf__str_printf(out, "(%s *)krf_a[%u]", is_typed(p->dtype) ? krf__storage_type((int)p->dtype) : "void", k->raw->slots[i].field);
        }
    }
    krf__str_put(out, ");\n}\n");
}

void krf__emit_raw(const krf__kernel *k, const krf__target *target, krf__str *out) {
    const krf__raw *raw = k->raw->raw;
    const bool cuda = strcmp(target->name, "cuda") == 0;
    krf__str_printf(out, "/* %s: ", k->name);
    krf__put_comment(k->expression, out);
    krf__str_put(out, " */\n");
    if (cuda) {
        put_options(raw, out);
    }
    put_source(raw, krf__raw_source(raw, target), cuda ? ".cu" : ".c", out);
    if (cuda && raw->units.at == NULL) {
        put_check(raw, out);
    } else if (!cuda) {
        put_call(k, out);
    }
}
