/* Quotients by a divisor that many elements share, which kernels may compute through its reciprocal: each has the bits of one division, for divisors and dividends
 * of all sizes, infinities, NaN, subnormal numbers and both zeros. Of a scalar, of a row's own result, of a kept column, and of literals. */
#include "ops/common.h"

enum { N = 2046, SHORT_ROWS = 66 };

static const krf_dtype dtypes[] = {KRF_F16, KRF_BF16, KRF_F32, KRF_F64};
static const char *const programs[] = {"x / s[0]", "x / max(t, 1, keepdims=True)", "x / s[:, newaxis]", "x / min(t, 1, keepdims=True)"}; /* the last one of short rows */

static double of_any_bits(krf_dtype dtype, uint64_t *seed) {
    const uint64_t bits = next_random(seed);
    return get(&bits, dtype, 0).f;
}

static void check(krf_context *context, krf_dtype dtype, double divisor, const char *program, uint64_t seed, int *wrong) {
    krf_graph *g = krf_graph_create(context);
    const int64_t rows = program == programs[3] ? SHORT_ROWS : 2, shape[2] = {rows, N / rows}, two = 2;
    char *x = malloc(N * bytes_of(dtype)), *t = malloc(N * bytes_of(dtype));
    krf_array *arrays[3], *result = NULL;
    krf_expr parsed;
    assert_non_null(x);
    assert_non_null(t);
    for (int64_t i = 0; i < N; i++) {
        const double any = of_any_bits(dtype, &seed), near = (1 + random_unit(&seed)) * ldexp(1, (int)random_below(&seed, 40) - 20) * divisor;
        const double tie = divisor * (double)(2 * random_below(&seed, 30) + 1) * ldexp(1, facts_of(dtype)->lowest - facts_of(dtype)->digits); /* of subnormal quotients */
        put(x, i, (value){.dtype = dtype, .f = round_to(dtype, (long double)(i % 2 == 0 ? any : i % 17 == 1 ? copysign(0, any) : i % 17 == 3 ? tie : i % 17 == 5 ? copysign(INFINITY, any) : near))});
        put(t, i, (value){.dtype = dtype, .f = divisor});
    }
    assert_int_equal(krf_array_from_host(context, dtype, 2, shape, x, &arrays[0]), KRF_OK);
    assert_int_equal(krf_array_from_host(context, dtype, 1, &two, t, &arrays[1]), KRF_OK);
    assert_int_equal(krf_array_from_host(context, dtype, 2, shape, t, &arrays[2]), KRF_OK);
    const krf_binding bindings[3] = {krf_bind_array("x", arrays[0]), krf_bind_array("s", arrays[1]), krf_bind_array("t", arrays[2])};
    if (krf_parse(g, program, bindings, 3, &parsed) != KRF_OK || krf_eval(parsed, &result) != KRF_OK) {
        fail_msg("%s: %s", program, krf_error_message());
    }
    char *got = to_host(result, dtype, 2, shape, program);
    for (int64_t i = 0; i < N; i++) {
        const double a = get(x, dtype, i).f;
        const value want = {.dtype = dtype, .f = round_to(dtype, (long double)(dtype == KRF_F64 ? a / divisor : (double)((float)a / (float)divisor)))};
        if (!same(get(got, dtype, i), want) && (*wrong)++ < 8) {
            print_error("%s in %s: %a / %a: %a, not %a\n", program, name_of(dtype), a, divisor, get(got, dtype, i).f, want.f);
        }
    }
    free(got);
    free(x);
    free(t);
    krf_array_release(result);
    for (int k = 0; k < 3; k++) {
        krf_array_release(arrays[k]);
    }
    krf_graph_destroy(g);
}

/* Literals are f32: their decimal digits say them exactly. A sum of one element and a quotient beside a row's result are other schedules than a map. */
static void check_literal(krf_context *context, float divisor, uint64_t seed, int *wrong) {
    static const char *const forms[] = {"x / (%.9g)", "sum(x[:, :, newaxis] / (%.9g), axis=2)", "x / (%.9g) * any(x == x, 1, keepdims=True)"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        char program[128];
        snprintf(program, sizeof program, forms[f], (double)divisor);
        check(context, KRF_F32, (double)divisor, program, seed, wrong);
    }
}

static void test_literals(void **unused) {
    (void)unused;
    static const float divisors[] = {3, 255, 1.5f, 0.1f, -0.229f, 6, 10, 1000, 14, 0x1.fffffep0f, 0x1.fffffep-1f, 0x1.000002p0f, 16777215, 16777214, -8388607.5f, 0x1.8p-100f, 0x1.8p-101f, 1e-20f, 1e-40f, 1e20f, 3e38f, 4, -0.5f};
    runs r = {.n = 0};
    int wrong = 0;
    open_runs(&r, true);
    for (int c = 0; c < r.n; c++) {
        for (size_t n = 0; n < sizeof divisors / sizeof *divisors; n++) {
            check_literal(r.run[c].context, divisors[n], 20261129 + n, &wrong);
        }
    }
    close_runs(&r);
    assert_int_equal(wrong, 0);
}

static void test_bits(void **unused) {
    (void)unused;
    static const double everyday[] = {3, 14, 1.9921875, -0.1, 0x1.fffffep0, 0x1.ffep-3, 7e-5, 123456789, 1e-6, 1e18, 98, 0, -0.0, INFINITY, NAN}; /* x * (1 / 98.0) is not x / 98.0 for some x that is */
    runs r = {.n = 0};
    int wrong = 0;
    open_runs(&r, true);
    for (int c = 0; c < r.n; c++) {
        uint64_t seed = 20261122;
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            for (size_t n = 0; n < 40; n++) {
                const double divisor = round_to(dtypes[d], (long double)(n < sizeof everyday / sizeof *everyday ? everyday[n] : of_any_bits(dtypes[d], &seed)));
                check(r.run[c].context, dtypes[d], divisor, programs[n % 3], seed + n, &wrong);
                check(r.run[c].context, dtypes[d], divisor, programs[(n + 1) % 3], seed + n, &wrong);
                check(r.run[c].context, dtypes[d], divisor, programs[3], seed + n, &wrong);
            }
        }
    }
    close_runs(&r);
    assert_int_equal(wrong, 0);
}

int main(void) { return run_whole(TESTS(cmocka_unit_test(test_bits), cmocka_unit_test(test_literals))); }
