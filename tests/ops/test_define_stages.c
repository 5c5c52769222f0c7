/* Bodies that C computes in stages, beside the same composed of the library's functions: the bits are equal, whatever control flow and side effects are around the calls. */
#include "ops/common.h"

enum { N = 1000 };

static runs all;

typedef struct definition {
    const char *label, *parameters, *results, *body;
    const char *call, *composed; /* over x, y (floats) and n (i32, with zeros) */
} definition;

#define SOFT(x) "log1p(exp(" x "))"
#define DEEP(x) "(" SOFT(x) " + " SOFT(SOFT("-(" x ")") " / 2") ")"

static const definition definitions[] = {
    {"nested calls", "F x", "F r", "r = max(x, F(0)) + log1p(exp(-fabs(x)));", "f(x)", "maximum(x, 0) + log1p(exp(-abs(x)))"},
    {"it returns", "F x", "F r", "return max(x, F(0)) + log1p(exp(-fabs(x)));", "f(x)", "maximum(x, 0) + log1p(exp(-abs(x)))"},
    {"quotients are handed on", "F x, F y", "F r", "const F z = (x - 0.25) / y, e = exp(z), l = log1p(e) / y;\nr = z * tanh(l) - z / e;", "f(x, y)",
     "(x - 0.25) / y * tanh(log1p(exp((x - 0.25) / y)) / y) - (x - 0.25) / y / exp((x - 0.25) / y)"},
    {"cases", "F x", "F r", "if (x > 1) {\n    r = x + log1p(exp(-x));\n} else {\n    r = log1p(exp(x));\n}", "f(x)", "where(x > 1, x + log1p(exp(-x)), log1p(exp(x)))"},
    {"cases of an operand that changes", "F x, F y", "F r", "if (y > 0) x = x * y;\nr = log1p(exp(-fabs(x)));", "f(x, y)", "log1p(exp(-abs(where(y > 0, x * y, x))))"},
    {"cases with an operand's name", "F x, F y", "F r", "if (y > 0) {\n    const F x = y / 3;\n    r = log1p(exp(-fabs(x)));\n} else {\n    r = log1p(exp(-fabs(x))) / 2;\n}", "f(x, y)",
     "where(y > 0, log1p(exp(-abs(y / 3))), log1p(exp(-abs(x))) / 2)"},
    {"cases that take a step", "F x, F y", "F r", "if (y > 0 && x++ > 0) r = log1p(exp(-fabs(x)));\nelse r = tanh(exp(-fabs(x)));", "f(x, y)",
     "where(y > 0, where(x > 0, log1p(exp(-abs(x + 1))), tanh(exp(-abs(x + 1)))), tanh(exp(-abs(x))))"},
    {"it leaves early", "F x, F y", "F r", "if (x > y) { r = exp(x); return; }\nif (x < 0) { r = 2; return; }\nr = log(2 + exp(sin(x)));", "f(x, y)",
     "where(x > y, exp(x), where(x < 0, 2, log(2 + exp(sin(x)))))"},
    {"it returns in between", "F x", "F r", "if (x < 0) return tanh(exp(x));\nF t = exp(-x);\nreturn log1p(t) / 3;", "f(x)", "where(x < 0, tanh(exp(x)), log1p(exp(-x)) / 3)"},
    {"no division of a case that is not taken", "F x, i32 n", "F r", "i32 q = n != 0 ? 7 / n : 0;\nif (n != 0) q += 5 / n;\nr = log1p(exp(sin(x))) + q + exp(F(n != 0 ? 9 / n : 1));", "f(x, n)",
     "log1p(exp(sin(x))) + both(x, n) + exp(nine(x, n))"},
    {"side effects", "F x, F y", "F r", "F t = x, u;\nr = log(2 + exp(u = sin(t += 1)));\nr = r * u - t;\nr += log1p(exp(-fabs(y))) / 2;", "f(x, y)",
     "log(2 + exp(sin(x + 1))) * sin(x + 1) - (x + 1) + log1p(exp(-abs(y))) / 2"},
    {"one name twice", "F x, F y", "F r", "F z = x / y;\n{ i32 z = 7 / 2; r = log1p(exp(-fabs(x / z))); }\nr = tanh(r) / z;", "f(x, y)", "tanh(log1p(exp(-abs(x / 3)))) / (x / y)"},
    {"assigned again", "F x, F y", "F r", "F z = x / y;\nr = exp(sin(z));\nz = r / y;\nr = log1p(r) + z;\nz = exp(cos(r)) / z;\nr -= z;", "f(x, y)",
     "log1p(exp(sin(x / y))) + exp(sin(x / y)) / y - exp(cos(log1p(exp(sin(x / y))) + exp(sin(x / y)) / y)) / (exp(sin(x / y)) / y)"},
    {"two types", "F x", "F r", "f64 d = exp(f64(sin(x)));\nr = F(log1p(d));", "f(x)", "wide(x)"},
    {"a loop", "F x", "F r", "for (int i = 0; i < 3; i++) r += log1p(exp(sin(x)));", "f(x)", "0 + log1p(exp(sin(x))) + log1p(exp(sin(x))) + log1p(exp(sin(x)))"},
    {"arrays and pointers", "F x, F y", "F r", "F a[2] = {exp(sin(x)), exp(sin(y))}, *p = &a[1];\n*p = log1p(*p);\na[0] = log(1 + a[0]);\nr = tanh(a[0]) - a[1];", "f(x, y)",
     "tanh(log(1 + exp(sin(x)))) - log1p(exp(sin(y)))"},
    {"a switch", "F x, i32 n", "F r", "switch (n & 3) {\ncase 0: r = log1p(exp(sin(x))); break;\ncase 1: r = 2;\ndefault: r += exp(cos(x)) / 3;\n}", "f(x, n)",
     "where((n & 3) == 0, log1p(exp(sin(x))), where((n & 3) == 1, 2 + exp(cos(x)) / 3, exp(cos(x)) / 3))"},
    {"over lines", "F x", "F r", "r = log1p( // of\n    exp(\n        sin(x)) /* the inner\none */) + exp(\ncos(x));", "f(x)", "log1p(exp(sin(x))) + exp(cos(x))"},
    {"of definitions", "F x, F y", "F r", "F a, b;\nparts(x, y, &a, &b);\nr = soft(a) - log1p(exp(b)) / 2;", "f(x, y)", "log1p(exp(exp(sin(x)) - y)) - log1p(exp(log1p(exp(cos(y))))) / 2"},
    {"of definitions of definitions", "F x, F y", "F r", "F t = deep(x / y);\nif (y > 0) t = soft(t + deep(y)) - soft(soft(t));\nr = tanh(t) / y;", "f(x, y)",
     "tanh(where(y > 0, " SOFT(DEEP("x / y") " + " DEEP("y")) " - " SOFT(SOFT(DEEP("x / y"))) ", " DEEP("x / y") ")) / y"},
    {"operands that change", "F x", "F r", "F t = x;\nr = soft(t += 1);\nr += deep(t *= 2);\nr /= soft(t);", "f(x)", "(soft(x + 1) + " DEEP("(x + 1) * 2") ") / soft((x + 1) * 2)"},
    {"of a costly operand", "F x", "F r", "r = log1p(exp(x));", "f(tanh(f(sin(x)))) + exp(f(cos(x)))", "log1p(exp(tanh(log1p(exp(sin(x)))))) + exp(log1p(exp(cos(x))))"},
};

static void define(krf_context *c, const char *name, const char *parameters, const char *results, const char *body) {
    krf_op *op = NULL;
    if (krf_op_define(c, name, parameters, results, body, NULL, &op) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    krf_op_release(op);
}

static void define_sum(krf_context *c, const definition *def) {
    krf_reduction *sum = NULL;
    if (krf_reduction_define(c, "total", def->parameters, def->results, "-0.0", def->body, "r = a_r + b_r;", NULL, NULL, &sum) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    krf_reduction_release(sum);
}

/* What the compositions lack: C's division, and a function of f64. One stage each. */
static void define_helpers(krf_context *c) {
    define(c, "both", "F x, i32 n", "F q", "i32 a = n != 0 ? 7 / n : 0, b = n != 0 ? 5 / n : 0;\nq = a + b;");
    define(c, "nine", "F x, i32 n", "F q", "q = n != 0 ? 9 / n : 1;");
    define(c, "soft", "F x", "F r", "return log1p(exp(x));");
    define(c, "deep", "F x", "F r", "return soft(x) + soft(soft(-x) / 2);");
    define(c, "parts", "F x, F y", "F a, F b", "a = exp(sin(x)) - y;\nb = log1p(exp(cos(y)));");
}

static void bind_all(krf_context *c, krf_dtype dtype, krf_binding bindings[3]) {
    double x[N], y[N];
    int32_t n[N];
    for (int i = 0; i < N; i++) {
        static const double special[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, 88.8, -104, 3e-42};
        x[i] = i < 7 ? special[i] : i == 7 ? (double)NAN : (i - 500) * 0.0173;
        y[i] = (i % 53 - 26) * 0.11 + 0.013;
        n[i] = i % 7 - 3;
    }
    const void *data[] = {x, y, n};
    static const char *const names[] = {"x", "y", "n"};
    for (int i = 0; i < 3; i++) {
        krf_array *given = NULL, *array = NULL;
        krf_graph *g = krf_graph_create(c);
        assert_int_equal(krf_array_from_host(c, i == 2 ? KRF_I32 : KRF_F64, 1, (int64_t[]){N}, data[i], &given), KRF_OK);
        assert_int_equal(krf_eval(krf_cast(krf_input(g, given), i == 2 ? KRF_I32 : dtype), &array), KRF_OK);
        krf_graph_destroy(g);
        krf_array_release(given);
        bindings[i] = krf_bind_array(names[i], array);
    }
}

static void compare(krf_context *c, const char *label, const char *what, const krf_binding bindings[3], const char *made, const char *known) {
    krf_graph *g = krf_graph_create(c);
    krf_expr both[2];
    krf_array *out[2] = {NULL, NULL};
    if (krf_parse(g, made, bindings, 3, &both[0]) != KRF_OK || krf_parse(g, known, bindings, 3, &both[1]) != KRF_OK || krf_eval(both[0], &out[0]) != KRF_OK ||
        krf_eval(both[1], &out[1]) != KRF_OK) {
        fail_msg("%s: %s: %s", label, what, krf_error_message());
    }
    unsigned char a[N * 8], b[N * 8];
    const krf_dtype dtype = krf_array_dtype(out[0]);
    const int n = (int)krf_array_size(out[0]);
    assert_int_equal(krf_array_dtype(out[1]), dtype);
    assert_int_equal(krf_array_size(out[1]), n);
    assert_int_equal(krf_array_to_host(out[0], a, (size_t)n * krf_dtype_size(dtype)), KRF_OK);
    assert_int_equal(krf_array_to_host(out[1], b, (size_t)n * krf_dtype_size(dtype)), KRF_OK);
    for (int i = 0; i < n; i++) {
        if (!same(get(a, dtype, i), get(b, dtype, i))) {
            fail_msg("%s: %s of %s: element %d is %.17g, not %.17g", label, what, name_of(dtype), i, get(a, dtype, i).f, get(b, dtype, i).f);
        }
    }
    krf_array_release(out[0]);
    krf_array_release(out[1]);
    krf_graph_destroy(g);
}

static void test_bits(void **state) {
    (void)state;
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64};
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        define_helpers(c);
        for (size_t d = 0; d < 2; d++) {
            krf_binding bindings[3];
            char composed[512];
            bind_all(c, dtypes[d], bindings);
            for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
                const definition *def = &definitions[i];
                if (!in_shard((int64_t)i)) {
                    continue;
                }
                const bool two_types = strcmp(def->composed, "wide(x)") == 0;
                define(c, "f", def->parameters, def->results, def->body);
                define_sum(c, def);
                snprintf(composed, sizeof composed, "%s", !two_types ? def->composed : dtypes[d] == KRF_F32 ? "f32(log1p(exp(f64(sin(x)))))" : "log1p(exp(sin(x)))");
                compare(c, all.run[r].label, def->label, bindings, def->call, composed);
                assert_int_equal(krf_op_undefine(c, "f"), KRF_OK);
                if (def->call[0] == 'f' && strchr(def->call + 2, '(') == NULL) { /* as the map of a reduction */
                    char sum[600], made[600];
                    snprintf(sum, sizeof sum, "sum(%s)", composed);
                    snprintf(made, sizeof made, "total%s", def->call + 1);
                    compare(c, all.run[r].label, def->label, bindings, made, sum);
                }
                assert_int_equal(krf_op_undefine(c, "total"), KRF_OK);
            }
            for (int i = 0; i < 3; i++) {
                krf_array_release(bindings[i].array);
            }
        }
    }
}

/* The line of a mistake behind a call that goes over several. */
static void test_lines(void **state) {
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        krf_graph *g = krf_graph_create(c);
        krf_array *array = NULL;
        krf_expr y;
        define(c, "wrong", "F x", "F r", "F t = log1p(\nexp(\nx\n));\nr = tanh(t) / tea;\n");
        assert_int_equal(krf_parse(g, "wrong(f64(arange(100)))", NULL, 0, &y), KRF_OK);
        assert_int_equal(krf_eval(y, &array), KRF_E_COMPILE);
        if (strstr(krf_error_message(), "wrong, line 5: error: ") == NULL || strstr(krf_error_message(), "r = tanh(t) / tea;") == NULL) {
            fail_msg("%s: %s", all.run[r].label, krf_error_message());
        }
        assert_int_equal(krf_op_undefine(c, "wrong"), KRF_OK);
        krf_graph_destroy(g);
    }
}

int main(void) {
    open_runs(&all, false);
    const int failed = run_whole(TESTS(cmocka_unit_test(test_bits), cmocka_unit_test(test_lines)));
    destroy_runs(&all);
    return failed;
}
