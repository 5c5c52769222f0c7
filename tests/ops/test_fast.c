/* KRF_MATH_FAST against exact values: results lie within the bounds that docs/accuracy.md states; f16 and bf16 are rounded where they are stored and not between;
 * whole numbers stay exact; and neither mode runs a kernel of the other, in one process with one disk cache. */
#include "ops/common.h"

enum { N = 4096 };

static krf_context *contexts[2]; /* by krf_math */
static bool interprets;          /* there is no compiler: FAST is PRECISE then */

static void evaluate(krf_math math, const char *program, krf_dtype dtype, const double *x, const double *y, double *out) {
    krf_context *context = contexts[math];
    krf_graph *g = krf_graph_create(context);
    const int64_t n = N;
    const double *const data[2] = {x, y};
    static const char *const names[2] = {"x", "y"};
    krf_array *arrays[2], *result = NULL;
    krf_binding bindings[2];
    krf_expr parsed;
    char *memory = malloc(N * bytes_of(dtype));
    assert_non_null(memory);
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < N; i++) {
            put(memory, i, convert((value){.dtype = KRF_F64, .f = data[k][i]}, dtype));
        }
        assert_int_equal(krf_array_from_host(context, dtype, 1, &n, memory, &arrays[k]), KRF_OK);
        bindings[k] = krf_bind_array(names[k], arrays[k]);
    }
    free(memory);
    if (krf_parse(g, program, bindings, 2, &parsed) != KRF_OK || krf_eval(parsed, &result) != KRF_OK) {
        fail_msg("%s: %s", program, krf_error_message());
    }
    memory = to_host(result, dtype, 1, &n, program);
    for (int64_t i = 0; i < N; i++) {
        out[i] = get(memory, dtype, i).f;
    }
    free(memory);
    krf_array_release(result);
    krf_array_release(arrays[0]);
    krf_array_release(arrays[1]);
    krf_graph_destroy(g);
}

/* ---- bounds ---- */

static double softplus(double x, double y) { return (void)y, fmax(x, 0) + log1p(exp(-fabs(x))); }
static double product(double x, double y) { return (x - y) * (x - y) * x + y; }
static double exponential(double x, double y) { return (void)y, exp(x); }
static double logarithm(double x, double y) { return (void)x, log(y); }
static double quotient(double x, double y) { return x / y; }
static double scaled(double x, double y) { return (void)y, x / 3.6875; }
static double root(double x, double y) { return (void)x, sqrt(y); }
static double tangent(double x, double y) { return (void)y, tanh(x); }

/* The bound: ulp units of the last place of the exact value, as many more for each 1 of abs(x), and an absolute part. */
typedef struct bound {
    const char *program;
    double (*exact)(double, double);
    krf_dtype dtype;
    double ulp, ulp_by_x, absolute;
} bound;

static const bound bounds[] = {
    {"exp(x)", exponential, KRF_F32, 3, 1.173, 0},
    {"log(y)", logarithm, KRF_F32, 4, 0, 0x1p-21},
    {"x / y", quotient, KRF_F32, 2, 0, 0},
    {"x / 3.6875", scaled, KRF_F32, 2.5, 0, 0},
    {"x / 3.6875", scaled, KRF_F64, 1.5, 0, 0},
    {"sqrt(y)", root, KRF_F32, 2, 0, 0},
    {"tanh(x)", tangent, KRF_F32, 4, 0, 0},
    {"tanh(x)", tangent, KRF_F64, 4, 0, 0},
    {"exp(x)", exponential, KRF_F64, 4, 0, 0},
    {"exp(x)", exponential, KRF_F16, 0.51, 0, 0},
    {"exp(x)", exponential, KRF_BF16, 0.51, 0, 0},
    {"log(y)", logarithm, KRF_F16, 0.51, 0, 0x1p-20},
    {"x / y", quotient, KRF_F16, 0.51, 0, 0},
    {"(x - y) * (x - y) * x + y", product, KRF_F16, 0.51, 0, 0x1p-14},
    {"(x - y) * (x - y) * x + y", product, KRF_BF16, 0.51, 0, 0x1p-14},
    {"maximum(x, 0) + log1p(exp(-abs(x)))", softplus, KRF_F16, 0.55, 0, 0},
    {"maximum(x, 0) + log1p(exp(-abs(x)))", softplus, KRF_BF16, 0.55, 0, 0},
    {"maximum(x, 0) + log1p(exp(-abs(x)))", softplus, KRF_F32, 4, 1.173, 0},
};

static double ulp_of(krf_dtype dtype, double exact) {
    int exponent;
    frexp(exact, &exponent);
    exponent = exponent - 1 < facts_of(dtype)->lowest ? facts_of(dtype)->lowest : exponent - 1;
    return ldexp(1, exponent - facts_of(dtype)->digits + 1);
}

static void test_bounds(void **unused) {
    (void)unused;
    static double x[N], y[N], out[N];
    int wrong = 0;
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        const bound *k = &bounds[b];
        uint64_t seed = b;
        double worst = 0;
        for (int i = 0; i < N; i++) {
            x[i] = round_to(k->dtype, 8 * (2 * random_unit(&seed) - 1));
            y[i] = round_to(k->dtype, 0.125 + 4 * random_unit(&seed));
        }
        evaluate(KRF_MATH_FAST, k->program, k->dtype, x, y, out);
        for (int i = 0; i < N && (!interprets || !is_half(k->dtype)); i++) {
            const double exact = k->exact(x[i], y[i]), ulp = ulp_of(k->dtype, exact);
            const double allowed = (k->ulp + k->ulp_by_x * fabs(x[i])) * ulp + k->absolute, error = fabs(out[i] - exact);
            worst = error / ulp > worst ? error / ulp : worst;
            if (!(error <= allowed) && wrong++ < 8) {
                print_error("%s in %s: x = %a, y = %a: %a is %.3f ULP off %a\n", k->program, name_of(k->dtype), x[i], y[i], out[i], error / ulp, exact);
            }
        }
        print_message("%-38s %-4s %.3f ULP\n", k->program, name_of(k->dtype), worst);
    }
    assert_int_equal(wrong, 0);
}

/* ---- modes ---- */

/* The fast mode first: what it left in the caches may not serve the precise one, nor the other way round. */
static void test_modes(void **unused) {
    (void)unused;
    static double x[N], y[N], out[N];
    for (int i = 0; i < N; i++) {
        x[i] = 2048;
        y[i] = 0.5;
    }
    for (int turn = 0; turn < 2; turn++) {
        evaluate(KRF_MATH_FAST, "(x + y) - x", KRF_F16, x, y, out);
        assert_true(out[0] == (interprets ? 0 : 0.5) && out[N - 1] == out[0]);
        evaluate(KRF_MATH_PRECISE, "(x + y) - x", KRF_F16, x, y, out);
        assert_true(out[0] == 0 && out[N - 1] == 0);
        evaluate(KRF_MATH_FAST, "f16(f32(x) + f32(y)) - x", KRF_F16, x, y, out);
        assert_true(out[0] == 0 && out[N - 1] == 0); /* a cast rounds */
    }
    for (int i = 0; i < N; i++) {
        x[i] = 1 + 0x1p-12;
        y[i] = 1 + 0x1p-11;
    }
    evaluate(KRF_MATH_FAST, "x * x - y", KRF_F32, x, y, out);
    assert_true(out[0] == 0 || out[0] == 0x1p-24); /* processors without fma do not contract */
    evaluate(KRF_MATH_PRECISE, "x * x - y", KRF_F32, x, y, out);
    assert_true(out[0] == 0);
}

static char *source(krf_math math, const char *target) {
    krf_graph *g = krf_graph_create(contexts[math]);
    const int64_t n = N;
    krf_expr x = krf_placeholder(g, "x", KRF_BF16, 1, &n), y = krf_exp(krf_add(x, x));
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(krf_dump(g, 1, &y, KRF_DUMP_SOURCE, target, NULL, &text, &size), KRF_OK);
    krf_graph_destroy(g);
    return text;
}

static void test_source(void **unused) {
    (void)unused;
    static const char *const targets[] = {"c", "cuda"};
    for (int t = 0; t < 2; t++) {
        char *precise = source(KRF_MATH_PRECISE, targets[t]), *fast = source(KRF_MATH_FAST, targets[t]);
        const size_t name = strlen("/* krf_map_0123456789abcdef");
        assert_true(strncmp(precise, fast, name) != 0); /* the name is made of the key */
        const char *rounding = t == 0 ? "krf_round_bf16(" : "krf_add_bf16x2("; /* a GPU adds two elements at once and rounds them */
        assert_non_null(strstr(precise, rounding));
        assert_null(strstr(fast, rounding));
        assert_null(strstr(fast, "krf_round_bf16("));
        assert_null(strstr(precise, t == 0 ? "fp-contract" : "fmad"));
        assert_non_null(strstr(fast, t == 0 ? "fp-contract=fast" : "--fmad=true"));
        krf_free(precise);
        krf_free(fast);
    }
}

static void test_option(void **unused) {
    (void)unused;
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    options.device = "cpu";
    options.math = (krf_math)2;
    assert_int_equal(krf_context_create(&options, &context), KRF_E_ARGUMENT);
    assert_non_null(strstr(krf_error_message(), "KRF_MATH_FAST"));
    setenv("KRF_MATH", "fast", 1);
    assert_int_equal(krf_context_options_default().math, KRF_MATH_FAST);
    unsetenv("KRF_MATH");
    assert_int_equal(krf_context_options_default().math, KRF_MATH_PRECISE);
}

int main(void) {
    for (int math = 0; math < 2; math++) {
        krf_context_options options = krf_context_options_default();
        options.device = asked_device();
        options.cpu_tier = KRF_CPU_COMPILE;
        options.blocking_compile = true;
        options.math = (krf_math)math;
        contexts[math] = open_or_skip(&options);
    }
    krf_device_info info = {.size = sizeof info};
    krf_context_device(contexts[0], &info);
    interprets = !info.is_cuda && info.compiler == NULL;
    const int failed = run_whole(TESTS(cmocka_unit_test(test_bounds), cmocka_unit_test(test_modes), cmocka_unit_test(test_source), cmocka_unit_test(test_option)));
    krf_context_destroy(contexts[0]);
    krf_context_destroy(contexts[1]);
    return failed;
}
