/* Powers of bases that are powers of 2 (pass/fold.c): exact where the exponent is an integer, else within 2 ULP of the C library's, which computes in long double; what overflows, vanishes and is no number; bases with
 * more elements than the exponent. Literal exponents of all sizes, for which a GPU has two texts. KRF_TEST_DEVICE. */
#include "ops/common.h"

#include <float.h>

static runs all;

static const struct {
    const char *base;
    long double value;
    bool exact; /* taken for a power of 2 */
} bases[] = {{"2", 2, true}, {"2.0", 2, true}, {"4.0", 4, true}, {"16", 16, true}, {"256.0", 256, true}, {"65536.0", 65536, true}, {"0.5", 0.5L, true}, {"0.25", 0.25L, true}, {"8.0", 8, false}, {"3.0", 3, false}, {"1.0", 1, false}};

static const double exponents[] = {0, 1, 2, 3, -1, -2, 0.5, -0.5, 0.25, 1.0 / 3, 0.1, -2.7, 3.3, 7.9, -7.1, 1e-3, -1e-30, 5e-324, 20.3, 120.7, -140.2, 1e3, -1e3, 1e30, -1e30, (double)INFINITY, -(double)INFINITY, (double)NAN, -0.0};
enum { COUNT = sizeof exponents / sizeof *exponents };

/* The distance to the next number of the dtype, which f32's and f64's least normal numbers bound from below. */
static long double unit(krf_dtype dtype, long double v) {
    const int digits = dtype == KRF_F32 ? 24 : 53, least = dtype == KRF_F32 ? -149 : -1074;
    int exponent;
    frexpl(v, &exponent);
    return ldexpl(1, exponent - digits < least ? least : exponent - digits);
}

static void check(size_t k, const run *r, krf_dtype dtype) {
    const int64_t n = COUNT;
    char data[COUNT * 8], text[64], a[64];
    krf_array *x = NULL, *got = NULL;
    krf_graph *graph = krf_graph_create(r->context);
    krf_plan *plan = NULL;
    krf_expr result;
    krf_kernel_info info = {.size = sizeof info};
    for (int64_t i = 0; i < n; i++) {
        put(data, i, convert((value){.dtype = KRF_F64, .f = exponents[i]}, dtype));
    }
    assert_int_equal(krf_array_from_host(r->context, dtype, 1, &n, data, &x), KRF_OK);
    snprintf(text, sizeof text, "%s ** x", bases[k].base);
    krf_status status = krf_parse(graph, text, (krf_binding[]){krf_bind_array("x", x)}, 1, &result);
    status = status == KRF_OK ? krf_compile(graph, 1, &result, NULL, &plan) : status;
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 0, NULL, &got) : status;
    if (status != KRF_OK) {
        fail_msg("%s, %s: %s", text, r->label, krf_error_message());
    }
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    if (info.source != NULL && (strstr(info.source, "exp2") != NULL) != bases[k].exact) {
        fail_msg("%s, %s: %s a power of 2", text, r->label, bases[k].exact ? "should be" : "is no");
    }
    char given[COUNT * 8];
    assert_int_equal(krf_array_to_host(got, given, (size_t)n * krf_dtype_size(dtype)), KRF_OK);
    for (int64_t i = 0; i < n; i++) {
        const long double e = get(data, dtype, i).f, want = powl(bases[k].value, e), most = dtype == KRF_F32 ? (long double)FLT_MAX : (long double)DBL_MAX;
        const value found = get(given, dtype, i);
        const bool integer = rintl(e) == e && bases[k].exact, large = want > most;
        const bool good = isnan(want) ? isnan(found.f) : large ? isinf(found.f) && found.f > 0 : fabsl((long double)found.f - want) <= (integer ? 0.5L : 2.0L) * unit(dtype, want);
        if (!good) {
            fail_msg("%s ** %.17g, %s, %s: %s, not %.20Lg", bases[k].base, (double)e, r->label, krf_dtype_name(dtype), show(found, a, 64), want);
        }
    }
    krf_array_release(got);
    krf_array_release(x);
    krf_plan_release(plan);
    krf_graph_destroy(graph);
}

static void test_bases(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
            check(k, &all.run[r], KRF_F32);
            check(k, &all.run[r], KRF_F64);
        }
    }
}

static void test_larger_base(void **unused) {
    static const int64_t one = 1;
    const float exponent = 3;
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        krf_array *x = NULL, *got = NULL;
        double found[5];
        krf_expr result;
        krf_graph *graph = krf_graph_create(all.run[r].context);
        assert_int_equal(krf_array_from_host(all.run[r].context, KRF_F32, 1, &one, &exponent, &x), KRF_OK);
        if (krf_parse(graph, "broadcast_to(4.0, (5,)) ** x", (krf_binding[]){krf_bind_array("x", x)}, 1, &result) != KRF_OK || krf_eval(result, &got) != KRF_OK ||
            krf_array_to_host(got, found, sizeof found) != KRF_OK) {
            fail_msg("%s: %s", all.run[r].label, krf_error_message());
        }
        for (int i = 0; i < 5; i++) {
            assert_true(found[i] == 64.0);
        }
        krf_array_release(got);
        krf_array_release(x);
        krf_graph_destroy(graph);
    }
}

static const struct {
    const char *text;
    double value;
} literals[] = {{"0.5", 0.5}, {"2.2", 2.2}, {"(-1.3)", -1.3}, {"9", 9}, {"(-11)", -11}, {"15.75", 15.75}, {"16.5", 16.5}, {"35", 35}, {"100.5", 100.5}, {"(-77.5)", -77.5}, {"200.5", 200.5}, {"(-250)", -250},
                {"0.0", 0}, {"inf", INFINITY}, {"(-inf)", -INFINITY}, {"nan", NAN}};
enum { SPECIALS = 15, ARGUMENTS = 4096 };

static void check_literal(size_t k, const run *r) {
    static const float specials[SPECIALS] = {0, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f, -2.5f, -3, 0x1.fffffep127f, -0x1p-130f, 0x1.fffffep-1f};
    const int64_t n = ARGUMENTS;
    static float xs[ARGUMENTS], given[ARGUMENTS];
    char text[64];
    krf_array *x = NULL, *got = NULL;
    krf_graph *graph = krf_graph_create(r->context);
    krf_expr result;
    for (int i = 0; i < ARGUMENTS; i++) {
        xs[i] = i < SPECIALS ? specials[i] : exp2f(i % 2 == 0 ? (float)i / 2048 - 1 : (float)(i - 2048) / 16);
    }
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 1, &n, xs, &x), KRF_OK);
    snprintf(text, sizeof text, "x ** %s", literals[k].text);
    if (krf_parse(graph, text, (krf_binding[]){krf_bind_array("x", x)}, 1, &result) != KRF_OK || krf_eval(result, &got) != KRF_OK || krf_array_to_host(got, given, sizeof given) != KRF_OK) {
        fail_msg("%s, %s: %s", text, r->label, krf_error_message());
    }
    for (int i = 0; i < ARGUMENTS; i++) {
        const long double want = powl(xs[i], (float)literals[k].value), found = given[i];
        const bool same = isnan(want) ? isnan(found) : !isnan(found) && signbit(want) == signbit(found);
        if (!same || (fabsl(want) > FLT_MAX ? !isinf(found) : !isnan(want) && !(fabsl(found - want) <= 2.1L * unit(KRF_F32, want)))) {
            fail_msg("%a ** %s, %s: %La, not %La", (double)xs[i], literals[k].text, r->label, found, want);
        }
    }
    krf_array_release(got);
    krf_array_release(x);
    krf_graph_destroy(graph);
}

static void test_literals(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < sizeof literals / sizeof *literals; k++) {
            check_literal(k, &all.run[r]);
        }
    }
}

int main(void) { return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_bases), cmocka_unit_test(test_larger_base), cmocka_unit_test(test_literals))); }
