/* The kernels of a call: the user's body as a function of pointers and strides, and a loop over the outer axes around it, for CUDA and for the CPU. */
#include "ir/gufunc.h"

#include <string.h>

enum { MOST_IN_TEXT = 8 }; /* sizes up to which loops over them unroll */

static int operands_of(const krf__gufunc_call *c) { return c->f->n_inputs + c->f->n_results; }
static const char *type_of(const krf__gufunc_call *c, int i) { return c->dtypes[i] == KRF_BOOL ? "bool" : krf__dtype(c->dtypes[i])->storage; } /* so that 1 + 1 is true */
static int outer_of(const krf__gufunc_call *c, int i) { return c->shapes[i].rank - c->f->cores[i].rank; }

/* Whether operand i moves along outer axis d of the call. */
static bool moves(const krf__gufunc_call *c, int i, int d) {
    const int own = d - (c->outer - outer_of(c, i));
    return own >= 0 && (c->shapes[i].shape[own] != 1 || c->extents[d] == 1) && c->extents[d] != 1;
}

static void put_name(const krf__gufunc_call *c, int i, krf__str *out) { krf__str_printf(out, "krf_%.*s", (int)c->f->cores[i].name.length, c->f->cores[i].name.at); }

/* ---- parameters ---- */

/* How each parameter of a kernel is written: arrays, then extents and strides of outer axes, strides of small ones, and sizes that are no text. */
typedef enum way { DECLARE, DEFINE, PASS } way; /* in C; in the language of raw kernels; as arguments of the body */

static void put_comma(krf__str *out, bool *first) {
    krf__str_put(out, *first ? "" : ", ");
    *first = false;
}

static void put_arrays(const krf__gufunc_call *c, bool kernel, way how, krf__str *out, bool *first) {
    for (int i = 0; i < operands_of(c); i++) {
        const bool result = i >= c->f->n_inputs;
        put_comma(out, first);
        if (how == DEFINE) {
            krf__str_printf(out, "%s %s ", result ? "out" : "in", krf_dtype_name(c->dtypes[i]));
        } else if (how == DECLARE) {
            krf__str_printf(out, "%s%s *", result ? "" : "const ", type_of(c, i));
        }
        put_name(c, i, out);
        for (int d = 0; d < c->outer && how == PASS && !kernel; d++) {
            if (moves(c, i, d)) {
                krf__str_printf(out, " + krf_i%d * ", d);
                put_name(c, i, out);
                krf__str_printf(out, "_s%d", d);
            }
        }
    }
}

/* Strides of the small axes. */
static void put_core_strides(const krf__gufunc_call *c, way how, krf__str *out, bool *first) {
    for (int i = 0; i < operands_of(c); i++) {
        for (int d = 0; d < c->f->cores[i].rank; d++) {
            put_comma(out, first);
            krf__str_put(out, how == DEFINE ? "i64 " : how == DECLARE ? "long long " : "");
            put_name(c, i, out);
            krf__str_printf(out, "_%d", d);
            if (how == DEFINE) {
                krf__str_put(out, " = ");
                put_name(c, i, out);
                krf__str_printf(out, ".strides[%d]", outer_of(c, i) + d);
            }
        }
    }
}

/* The operand and the axis that size s is read from; false where it is text. */
static bool source_of(const krf__gufunc_call *c, int s, int *operand, int *axis) {
    for (int i = 0; i < c->f->n_inputs && c->sizes[s] > MOST_IN_TEXT; i++) {
        for (int d = 0; d < c->f->cores[i].rank; d++) {
            if (c->f->cores[i].sizes[d] == s) {
                *operand = i;
                *axis = outer_of(c, i) + d;
                return true;
            }
        }
    }
    return false;
}

static bool is_number(const krf__gufunc_call *c, int s) { return *c->f->sizes[s].name.at >= '0' && *c->f->sizes[s].name.at <= '9'; }

static void put_sizes(const krf__gufunc_call *c, way how, krf__str *out, bool *first) {
    for (int s = 0; s < c->f->n_sizes; s++) {
        int operand, axis;
        if (is_number(c, s) || !source_of(c, s, &operand, &axis)) {
            continue;
        }
        put_comma(out, first);
        krf__str_printf(out, "%skrf_size_%.*s", how == DEFINE ? "i64 " : how == DECLARE ? "long long " : "", (int)c->f->sizes[s].name.length, c->f->sizes[s].name.at);
        if (how == DEFINE) {
            krf__str_put(out, " = ");
            put_name(c, operand, out);
            krf__str_printf(out, ".shape[%d]", axis);
        }
    }
}

static void put_units(const krf__gufunc_call *c, krf__str *out) {
    for (int d = 0; d < c->outer; d++) {
        krf__str_put(out, d > 0 ? " * " : "");
        put_name(c, c->f->n_inputs, out);
        krf__str_printf(out, ".shape[%d]", d);
    }
    krf__str_put(out, c->outer == 0 ? "1" : "");
}

/* Extents and strides of the outer axes. */
static void put_outer(const krf__gufunc_call *c, way how, krf__str *out, bool *first) {
    const char *type = how == DEFINE ? "i64 " : "long long ";
    put_comma(out, first);
    krf__str_printf(out, "%skrf_units", type);
    if (how == DEFINE) {
        krf__str_put(out, " = ");
        put_units(c, out);
    }
    for (int d = 1; d < c->outer; d++) {
        put_comma(out, first);
        krf__str_printf(out, "%skrf_n%d", type, d);
        if (how == DEFINE) {
            krf__str_put(out, " = ");
            put_name(c, c->f->n_inputs, out);
            krf__str_printf(out, ".shape[%d]", d);
        }
    }
    for (int i = 0; i < operands_of(c); i++) {
        for (int d = 0; d < c->outer; d++) {
            if (!moves(c, i, d)) {
                continue;
            }
            put_comma(out, first);
            krf__str_put(out, type);
            put_name(c, i, out);
            krf__str_printf(out, "_s%d", d);
            if (how == DEFINE) {
                krf__str_put(out, " = ");
                put_name(c, i, out);
                krf__str_printf(out, ".strides[%d]", d - (c->outer - outer_of(c, i)));
            }
        }
    }
}

/* ---- the body ---- */

static void put_accessor(const krf__gufunc_call *c, int i, krf__str *out) {
    const krf__core *core = &c->f->cores[i];
    krf__str_printf(out, "#define %.*s(", (int)core->name.length, core->name.at);
    for (int d = 0; d < core->rank; d++) {
        krf__str_printf(out, "%skrf_at%d", d > 0 ? ", " : "", d);
    }
    krf__str_put(out, ") ");
    put_name(c, i, out);
    krf__str_put(out, "[");
    for (int d = 0; d < core->rank; d++) {
        krf__str_printf(out, "%s(krf_at%d) * ", d > 0 ? " + " : "", d);
        put_name(c, i, out);
        krf__str_printf(out, "_%d", d);
    }
    krf__str_put(out, core->rank == 0 ? "0]\n" : "]\n");
}

static void put_body(const krf__gufunc_call *c, const char *prefix, krf__str *out) {
    const krf__gufunc *f = c->f;
    bool first = true;
    krf__str_printf(out, "%s void krf_body_%s(", prefix, f->name);
    put_arrays(c, true, DECLARE, out, &first);
    put_core_strides(c, DECLARE, out, &first);
    put_sizes(c, DECLARE, out, &first);
    krf__str_put(out, ") {\n");
    for (int i = 0; i < operands_of(c); i++) {
        bool earlier = f->cores[i].generic == 0;
        for (int j = 0; j < i; j++) {
            earlier |= f->cores[j].generic == f->cores[i].generic;
        }
        if (!earlier) {
            krf__str_printf(out, "    typedef %s %.*s;\n", type_of(c, i), (int)f->cores[i].type.length, f->cores[i].type.at);
        }
    }
    for (int s = 0; s < f->n_sizes; s++) {
        int operand, axis;
        if (is_number(c, s)) {
            continue;
        }
        krf__str_printf(out, "    const long long %.*s = ", (int)f->sizes[s].name.length, f->sizes[s].name.at);
        if (source_of(c, s, &operand, &axis)) {
            krf__str_printf(out, "krf_size_%.*s;\n", (int)f->sizes[s].name.length, f->sizes[s].name.at);
        } else {
            krf__str_printf(out, "%lld;\n", (long long)c->sizes[s]);
        }
    }
    for (int i = 0; i < operands_of(c); i++) {
        put_accessor(c, i, out);
    }
    krf__str_printf(out, "#line 1 \"%s\"\n%s\n#line 1 \"around %s\"\n}\n", f->name, f->body, f->name);
    for (int i = 0; i < operands_of(c); i++) {
        krf__str_printf(out, "#undef %.*s\n", (int)f->cores[i].name.length, f->cores[i].name.at);
    }
}

/* ---- the loop ---- */

/* Not the user's name alone: it may be one of CUDA's, as norm is. */
#define KERNEL "krf_gufunc_%s"

static void put_loop(const krf__gufunc_call *c, const char *head, bool processor, krf__str *out) {
    bool first = true;
    krf__str_printf(out, "%s " KERNEL "(%s", head, c->f->name, processor ? "long long krf_lo, long long krf_hi, " : "");
    put_arrays(c, true, DECLARE, out, &first);
    put_outer(c, DECLARE, out, &first);
    put_core_strides(c, DECLARE, out, &first);
    put_sizes(c, DECLARE, out, &first);
    krf__str_put(out, ") {\n");
    krf__str_put(out, processor ? "    for (long long krf_u = krf_lo; krf_u < krf_hi; krf_u++) {\n"
                                   : "    for (long long krf_u = blockIdx.x * (long long)blockDim.x + threadIdx.x; krf_u < krf_units; krf_u += (long long)gridDim.x * blockDim.x) {\n");
    krf__str_put(out, c->outer > 1 ? "        long long krf_rest = krf_u;\n" : "");
    for (int d = c->outer - 1; d > 0; d--) {
        krf__str_printf(out, "        const long long krf_i%d = krf_rest %% krf_n%d;\n        krf_rest /= krf_n%d;\n", d, d, d);
    }
    if (c->outer > 0) {
        krf__str_printf(out, "        const long long krf_i0 = %s;\n", c->outer > 1 ? "krf_rest" : "krf_u");
    }
    first = true;
    krf__str_printf(out, "        krf_body_%s(", c->f->name);
    put_arrays(c, false, PASS, out, &first);
    put_core_strides(c, PASS, out, &first);
    put_sizes(c, PASS, out, &first);
    krf__str_put(out, ");\n    }\n}\n");
}

void krf__gufunc_write(const krf__gufunc_call *c, krf__gufunc_texts *t) {
    bool first = true;
    krf__str_printf(&t->name, KERNEL, c->f->name);
    put_body(c, "static __device__ __forceinline__", &t->cuda);
    put_loop(c, "extern \"C\" __global__ void __launch_bounds__(128)", false, &t->cuda);
    krf__str_put(&t->c, "#include <stdbool.h>\n#include <tgmath.h>\n");
    put_body(c, "static inline", &t->c);
    put_loop(c, "static void", true, &t->c);
    put_arrays(c, true, DEFINE, &t->parameters, &first);
    put_outer(c, DEFINE, &t->parameters, &first);
    put_core_strides(c, DEFINE, &t->parameters, &first);
    put_sizes(c, DEFINE, &t->parameters, &first);
    put_units(c, &t->units);
    krf__str_put(&t->grid, "min(2147483647, max(1, (");
    put_units(c, &t->grid);
    krf__str_put(&t->grid, " + 127) / 128))");
}
