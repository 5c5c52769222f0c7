/* Functions of single bytes, which come from tables of their 256 values (pass/tables.c): the bits of what computes each element, values of the C library, and where there are tables at all, but in complex numbers. */
#include "ops/common.h"

enum { ROWS = 80, COLUMNS = 257, ELEMENTS = ROWS * COLUMNS };

static double gamma_of(double x) { return trunc(255 * pow(x / 255, 0.4545)); }
static double decoded(double x) { return x / 255 <= 0.04045 ? x / 255 / 12.92 : pow((x / 255 + 0.055) / 1.055, 2.4); }
static double of_exp(double x) { return exp(x / 50); }
static double of_exp_f64(double x) { return exp(x); }
static double of_tanh(double x) { return tanh(x / 100); }
static double scaled(double x) { return trunc(100 * exp(x / 50)); }
static double waves(double x) { return sin(x) * sin(x) + cos(x); }
static double given_power(double x) { return pow(x / 255, 1.75); }
static double times_weak(double x) { return exp(x / 50) * 3; }
static double chosen(double x) { return x > 100 ? sin(x) : 0.5; }
static double exp_cos(double x) { return exp(x / 50) * cos(x); }
static double exp_sin(double x) { return exp(x / 50) * sin(x); }
static double log_real(double x) { return log((x + 1) * sqrt(2)); }
static double quarter(double x) { return (void)x, atan(1); }
static double root_real(double x) { return sqrt(x * (sqrt(2) + 1) / 2); }
static double root_imaginary(double x) { return -sqrt(x * (sqrt(2) - 1) / 2); }
static double asin_real(double x) { return asin(2 / (hypot(2, x) + x)); } /* of |z + 1| + |z - 1|, z being 1 + i x */
static double asin_imaginary(double x) { return log((hypot(2, x) + x) / 2 + sqrt(x * (hypot(2, x) + x) / 2)); }
static double one_of(double x) { return (void)x, 1; }
static double of_hypot(double x) { return hypot(exp(x / 50), x); }
static double of_sum(double x) { return sin((double)((int)(x + x) % 256)); }

/* u: each byte in turn, s: the same as i8, v: in another order, w: numbers; all [80, 257]. p: one number, k: a weak one. Kernels with tables, and without. */
static const struct {
    const char *program;
    int outputs, tables, none;
    double (*of)(double u_or_s); /* what an element of the result is; NULL: of more */
    bool is_signed;
    double within;
    double (*imaginary)(double u_or_s);
} examples[] = {
    {"(255 * (u.astype(f32) / 255)**0.4545).astype(u8)", 1, 2, 1, gamma_of, false, 0, NULL},
    {"y = u.astype(f32) / 255; where(y <= 0.04045, y / 12.92, ((y + 0.055) / 1.055)**2.4)", 1, 2, 1, decoded, false, 1e-6, NULL},
    {"x = s.astype(f32) / 50; exp(x) + exp(x) * 0 ", 1, 2, 1, of_exp, true, 1e-6, NULL},
    {"exp(u.astype(f64)) + sin(s.astype(f64)) * 0", 1, 2, 1, of_exp_f64, false, 1e-14, NULL},
    {"tanh(tanh(s.astype(bf16) / 100) * 0 + s.astype(bf16) / 100)", 1, 2, 1, of_tanh, true, 1e-2, NULL},
    {"(u.astype(f32) / 255)**1 + tanh(u.astype(f16) / 100).astype(f32) * 0 - (u.astype(f32) / 255)**1 + tanh(u.astype(f16) / 100).astype(f32)", 1, 2, 1, of_tanh, false, 2e-3, NULL},
    {"(exp(s.astype(f32) / 50) * 100 + sin(s.astype(f32)) * 0).astype(i32)", 1, 2, 1, scaled, true, 0, NULL},
    {"y = sin(u.astype(f32)); y * y + cos(u.astype(f32))", 1, 2, 1, waves, false, 1e-5, NULL},
    {"(u.astype(f32) / 255)**p", 1, 2, 1, given_power, false, 1e-6, NULL},
    {"exp(u.astype(f32) / 50) * k + cos(u.astype(f32)) * 0", 1, 2, 1, times_weak, false, 1e-6, NULL},
    {"where(u > 100, sin(u.astype(f32)), 0.5) + cos(u.astype(f32)) * 0", 1, 2, 1, chosen, false, 1e-5, NULL},
    {"z = u + u; sin(z.astype(f32)) + cos(z.astype(f32)) * 0", 1, 2, 1, of_sum, false, 1e-5, NULL}, /* bytes that are computed */
    {"sin(u.astype(f32))**2 * w", 1, 2, 1, NULL, false, 0, NULL},
    {"(u.astype(f32) / 255)**2.2 * (v.astype(f32) / 255)**1.8", 1, 2, 1, NULL, false, 0, NULL}, /* two */
    {"((u.astype(f32) / 255)**2.2)[::2]", 1, 2, 1, NULL, false, 0, NULL},
    {"y = (u.astype(f32) / 255)**2.2; y[1:, 3:] + y[:-1, :-3]", 1, 2, 1, NULL, false, 0, NULL},
    {"((u.astype(f32) / 255)**2.2).reshape(-1, 8)", 1, 2, 1, NULL, false, 0, NULL},
    {"(u[1:, 3:].astype(f32) / 255)**2.2 + (u[:-1, :-3].astype(f32) / 255)**2.2", 1, 2, 1, NULL, false, 0, NULL},
    {"mean((u.astype(f32) / 255)**2.2)", 1, 2, 1, NULL, false, 0, NULL},
    {"sum((u.astype(f32) / 255)**2.2, axis=0)", 1, 2, 1, NULL, false, 0, NULL},
    {"argmax(sin(u.astype(f32)) + cos(u.astype(f32)), axis=1)", 1, 2, 1, NULL, false, 0, NULL},
    {"y = (u.astype(f32) / 255)**2.2; y, max(y), mean(y * w)", 3, 2, 1, NULL, false, 0, NULL},
    /* Real functions of complex numbers, and sums, which are taken by parts. */
    {"abs(complex_of(exp(u.astype(f64) / 50), u.astype(f64)))", 1, 2, 1, of_hypot, false, 1e-14, NULL},
    {"imag(exp(complex_of(s.astype(f64) / 50, s.astype(f64))))", 1, 2, 1, exp_sin, true, 1e-13, NULL},
    {"angle(complex_of(u.astype(f32) + 1, -u.astype(f32) - 1)) * 1 + exp(u.astype(f32)) * 0", 1, 2, 1, NULL, false, 0, NULL},
    {"real(log(complex_of(u.astype(f64) + 1, u.astype(f64) + 1))) * w", 1, 2, 1, NULL, false, 0, NULL},
    {"sum(abs(exp(complex_of(u.astype(f32) / 50, u.astype(f32)))), axis=1)", 1, 2, 1, NULL, false, 0, NULL},
    {"sum(exp(complex_of(s.astype(f64) / 50, s.astype(f64))), axis=1)", 1, 2, 1, NULL, false, 0, NULL},
    /* No element of a complex result comes from one, nor its parts. */
    {"complex_of(exp(u.astype(f64) / 50), 1)", 1, 1, 1, NULL, false, 0, NULL},
    {"complex_of(1, exp(s.astype(f64) / 50))", 1, 1, 1, one_of, true, 1e-14, of_exp},
    {"exp(complex_of(s.astype(f64) / 50, s.astype(f64)))", 1, 1, 1, exp_cos, true, 1e-13, exp_sin},
    {"log(complex_of(u.astype(f64) + 1, u.astype(f64) + 1))", 1, 1, 1, log_real, false, 1e-13, quarter},
    {"sqrt(complex_of(u.astype(f64), -u.astype(f64)))", 1, 1, 1, root_real, false, 1e-13, root_imaginary},
    {"asin(complex_of(f64(1), u.astype(f64)))", 1, 1, 1, asin_real, false, 1e-12, asin_imaginary},
    {"asin(complex_of(f32(1), u.astype(f32)))", 1, 1, 1, asin_real, false, 1e-5, asin_imaginary},
    {"exp(complex_of(u.astype(f32) / 50, v.astype(f32)))", 1, 1, 1, NULL, false, 0, NULL},
    {"complex_of(exp(u.astype(f32) / 50), w)", 1, 1, 1, NULL, false, 0, NULL},
    {"exp(complex_of(u.astype(f32) / 50, u.astype(f32)))[::2]", 1, 1, 1, NULL, false, 0, NULL},
    {"z = exp(complex_of(s.astype(f32) / 50, s.astype(f32))); z, real(z)", 2, 1, 1, NULL, false, 0, NULL},
    {"z = exp(complex_of(s.astype(f32) / 50, s.astype(f32))); z, abs(z)", 2, 3, 1, NULL, false, 0, NULL}, /* what is real beside them does */
    /* None is worth while: what is cheap, what others go over again, what is turned, or made of more than a byte. */
    {"u.astype(f32) * 2 + 1", 1, 1, 1, NULL, false, 0, NULL},
    {"y = (u.astype(f32) / 255)**2.2; y / sum(y, axis=1)[:, None]", 1, -1, -1, NULL, false, 0, NULL},
    {"cumsum((u.astype(f32) / 255)**2.2, axis=1)", 1, 1, 1, NULL, false, 0, NULL},
    {"(u.T.astype(f32) / 255)**2.2", 1, 1, 1, NULL, false, 0, NULL},
    {"((u.astype(f32) / 255)**2.2).T", 1, 1, 1, NULL, false, 0, NULL},
    {"((u.astype(f32) + v.astype(f32)) / 510)**2.2", 1, 1, 1, NULL, false, 0, NULL},
    {"(u.astype(i16).astype(f32) / w)**2", 1, 1, 1, NULL, false, 0, NULL},
    {"(w / 300)**2.2", 1, 1, 1, NULL, false, 0, NULL},
};

typedef struct pair {
    char label[40];
    krf_context *with, *without;
} pair;

static pair pairs[2];
static int n_pairs;

static krf_context *open_context(const char *device, krf_cpu_tier tier, const char *fusion) {
    krf_context_options options = krf_context_options_default();
    options.device = device;
    options.cpu_tier = tier;
    options.threads = 2;
    options.blocking_compile = true;
    options.fusion = fusion;
    return open_or_skip(&options);
}

static void open_pair(const char *device, krf_cpu_tier tier) {
    pair *p = &pairs[n_pairs++];
    snprintf(p->label, sizeof p->label, "%s, tier %d", device, (int)tier);
    p->with = open_context(device, tier, "tables=20000");
    p->without = open_context(device, tier, "tables=0");
}

typedef struct result {
    int kernels;
    krf_dtype dtype[3];
    int64_t size[3];
    void *data[3];
} result;

static krf_array *filled(krf_context *c, krf_dtype dtype, int seed) {
    static char data[8 * ELEMENTS];
    krf_array *a = NULL;
    for (int i = 0; i < ELEMENTS; i++) {
        put(data, i, convert(dtype == KRF_F32 ? (value){.dtype = KRF_F64, .f = i * 0.37 + 1} : (value){.dtype = KRF_I64, .i = seed * i + seed / 2}, dtype));
    }
    assert_int_equal(krf_array_from_host(c, dtype, 2, (int64_t[]){ROWS, COLUMNS}, data, &a), KRF_OK);
    return a;
}

static void evaluate(size_t e, krf_context *c, const char *label, result *r) {
    const float p = 1.75F;
    krf_array *arrays[5] = {filled(c, KRF_U8, 1), filled(c, KRF_I8, 1), filled(c, KRF_U8, 77), filled(c, KRF_F32, 1)}, *out[3] = {NULL};
    krf_graph *g = krf_graph_create(c);
    krf_expr results[3];
    krf_plan *plan = NULL;
    int found = 0;
    assert_int_equal(krf_array_from_host(c, KRF_F32, 0, NULL, &p, &arrays[4]), KRF_OK);
    const krf_binding bindings[] = {krf_bind_array("u", arrays[0]), krf_bind_array("s", arrays[1]), krf_bind_array("v", arrays[2]), krf_bind_array("w", arrays[3]), krf_bind_array("p", arrays[4]), krf_bind_real("k", 3)};
    krf_status status = krf_parse_many(g, examples[e].program, bindings, 6, 3, results, &found);
    status = status == KRF_OK ? krf_compile(g, examples[e].outputs, results, NULL, &plan) : status;
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 0, NULL, out) : status;
    if (status != KRF_OK) {
        fail_msg("%s, %s: %s", examples[e].program, label, krf_error_message());
    }
    assert_int_equal(found, examples[e].outputs);
    r->kernels = krf_plan_kernels(plan);
    for (int k = 0; k < examples[e].outputs; k++) {
        r->dtype[k] = krf_array_dtype(out[k]);
        r->size[k] = krf_array_size(out[k]);
        r->data[k] = malloc((size_t)r->size[k] * bytes_of(r->dtype[k]));
        read_back(out[k], r->data[k], (size_t)r->size[k] * bytes_of(r->dtype[k]));
        krf_array_release(out[k]);
    }
    for (int k = 0; k < 5; k++) {
        krf_array_release(arrays[k]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

static double number(value v) { return is_real(v.dtype) || is_complex(v.dtype) ? v.f : (double)v.i; }

static void look_at_value(size_t e, const char *label, double x, double found, double want) {
    if (!(fabs(found - want) <= examples[e].within * fmax(fabs(want), 1) + (examples[e].within == 0 ? fabs(want) < 1e-3 : 0))) {
        fail_msg("%s, %s: of %g it is %.17g, not %.17g", examples[e].program, label, x, found, want);
    }
}

static void look_at_values(size_t e, const result *r, const char *label) {
    assert_int_equal(examples[e].imaginary != NULL, examples[e].of != NULL && is_complex(r->dtype[0]));
    for (int64_t i = 0; i < r->size[0] && examples[e].of != NULL; i++) {
        const double x = examples[e].is_signed ? (double)(int8_t)(uint8_t)i : (double)(uint8_t)i;
        const value found = get(r->data[0], r->dtype[0], i);
        look_at_value(e, label, x, number(found), examples[e].of(x));
        if (examples[e].imaginary != NULL) {
            look_at_value(e, label, x, found.im, examples[e].imaginary(x));
        }
    }
}

static void test_examples(void **unused) {
    (void)unused;
    for (int p = 0; p < n_pairs; p++) {
        for (size_t e = 0; e < sizeof examples / sizeof *examples; e++) {
            result with = {0}, without = {0};
            if (!in_shard((int64_t)e)) {
                continue;
            }
            evaluate(e, pairs[p].with, pairs[p].label, &with);
            evaluate(e, pairs[p].without, pairs[p].label, &without);
            if ((examples[e].tables >= 0 && with.kernels != examples[e].tables) || (examples[e].none >= 0 && without.kernels != examples[e].none) || (examples[e].tables < 0 && with.kernels != without.kernels)) {
                fail_msg("%s, %s: %d kernels, and %d without tables", examples[e].program, pairs[p].label, with.kernels, without.kernels);
            }
            look_at_values(e, &with, pairs[p].label);
            for (int k = 0; k < examples[e].outputs; k++) {
                assert_int_equal(with.dtype[k], without.dtype[k]);
                assert_int_equal(with.size[k], without.size[k]);
                for (int64_t i = 0; i < with.size[k]; i++) {
                    const value a = get(with.data[k], with.dtype[k], i), b = get(without.data[k], with.dtype[k], i);
                    if (!same(a, b)) {
                        char left[64], right[64];
                        fail_msg("%s, %s: result %d, element %d is %s by tables, else %s", examples[e].program, pairs[p].label, k, (int)i, show(a, left, 64), show(b, right, 64));
                    }
                }
                free(with.data[k]);
                free(without.data[k]);
            }
        }
    }
}

/* As many elements as it takes longer to compute than to look up; one less, and none comes from a table. */
static void test_sizes(void **unused) {
    (void)unused;
    for (int64_t n = 19999; n <= 20001; n++) {
        krf_graph *g = krf_graph_create(pairs[0].with);
        krf_plan *plan = NULL;
        const krf_expr x = krf_placeholder(g, "x", KRF_U8, 1, &n), y = krf_power(krf_cast(x, KRF_F32), krf_real(g, 0.4));
        assert_int_equal(krf_compile(g, 1, &y, NULL, &plan), KRF_OK);
        assert_int_equal(krf_plan_kernels(plan), n < 20000 ? 1 : 2);
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
}

int main(void) {
    if (on_gpu()) {
        open_pair(asked_device(), KRF_CPU_AUTO);
    } else {
        open_pair("cpu", KRF_CPU_INTERPRET);
        open_pair("cpu", KRF_CPU_COMPILE);
    }
    const int failed = run_whole(TESTS(cmocka_unit_test(test_examples), cmocka_unit_test(test_sizes)));
    for (int p = 0; p < n_pairs; p++) {
        krf_context_destroy(pairs[p].with);
        krf_context_destroy(pairs[p].without);
    }
    return failed;
}
