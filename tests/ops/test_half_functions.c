/* Functions of f16 and bf16, for which a GPU has texts of its own (codegen/math/half_math.h): all arguments there are, and pairs of powers, against the C library's long double functions. */
#include "ops/reference.h"

static runs all;

static long double sigmoid_of(long double x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
static long double silu_of(long double x) { return x < -2000 ? -0.0L : x * sigmoid_of(x); }
static long double gelu_of(long double x) { return x < -200 ? -0.0L : x * erfcl(-x * sqrtl(0.5L)) / 2; }
static long double gelu_tanh_of(long double x) { return x < -200 ? -0.0L : x > 200 ? x : x * sigmoid_of(2 * sqrtl(2 / M_PIl) * (x + 0.044715L * x * x * x)); }
static long double softplus_of(long double x) { return isnan(x) ? x : (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }

static const struct {
    const char *text;
    long double (*of)(long double x);
} functions[] = {
    {"exp(x)", expl},   {"expm1(x)", expm1l}, {"log(x)", logl},   {"log2(x)", log2l},         {"log10(x)", log10l},         {"log1p(x)", log1pl},           {"tanh(x)", tanhl},
    {"sin(x)", sinl},   {"cos(x)", cosl},
    {"erf(x)", erfl},   {"erfc(x)", erfcl},   {"asin(x)", asinl}, {"acos(x)", acosl},         {"atan(x)", atanl},           {"asinh(x)", asinhl},           {"atanh(x)", atanhl},
    {"silu(x)", silu_of}, {"gelu(x)", gelu_of}, {"gelu_tanh(x)", gelu_tanh_of}, {"sigmoid(x)", sigmoid_of}, {"softplus(x)", softplus_of},
};

enum { ARGUMENTS = 65536 };
static uint16_t first[ARGUMENTS], second[ARGUMENTS], got[ARGUMENTS];

static krf_array *array_of(krf_context *context, krf_dtype dtype, const uint16_t *bits) {
    krf_array *a = NULL;
    assert_int_equal(krf_array_from_host(context, dtype, 1, &(int64_t){ARGUMENTS}, bits, &a), KRF_OK);
    return a;
}

static void compare(const char *text, const run *r, krf_dtype dtype, long i, long double want) {
    const value found = get(got, dtype, i);
    if (!(ulp_distance(found, want, 0) <= 0.51)) {
        char a[64], b[64], c[64];
        fail_msg("%s of %s, %s: of %s, %s it is %s, not %Lg", text, krf_dtype_name(dtype), r->label, show(get(first, dtype, i), a, 64), show(get(second, dtype, i), b, 64), show(found, c, 64), want);
    }
}

static void test_all_arguments(void **unused) {
    (void)unused;
    for (int i = 0; i < ARGUMENTS; i++) {
        first[i] = second[i] = (uint16_t)i;
    }
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < 2; d++) {
            const krf_dtype dtype = d == 0 ? KRF_F16 : KRF_BF16;
            krf_array *x = array_of(all.run[r].context, dtype, first);
            for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
                krf_array *y = evaluate_of(&all.run[r], functions[f].text, x);
                assert_int_equal(krf_array_to_host(y, got, sizeof got), KRF_OK);
                for (int i = 0; i < ARGUMENTS; i++) {
                    compare(functions[f].text, &all.run[r], dtype, i, functions[f].of((long double)get(first, dtype, i).f));
                }
                krf_array_release(y);
            }
            krf_array_release(x);
        }
    }
}

/* 256 bases of all sizes with as many exponents each; then bases next to 1 and -1 with whole exponents, some between these, and infinite ones. */
static void test_powers(void **unused) {
    static const double whole[] = {0, 1, -1, 2, -3, 7, 100, -255, 0.5, 1.5, 2.5, 2.75, -0.75, 3.25, INFINITY, -INFINITY};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int d = 0; d < 4; d++) {
            const krf_dtype dtype = d % 2 == 0 ? KRF_F16 : KRF_BF16;
            const unsigned one = half_bits(dtype, 1);
            for (int i = 0; i < ARGUMENTS; i++) {
                first[i] = (uint16_t)(d < 2 ? (unsigned)i / 256 * 256 + (unsigned)i / 256 % 3 * 100 : (one + (unsigned)i / 16 % 2048 - 1024) | (i < ARGUMENTS / 2 ? 0u : 0x8000u));
                second[i] = (uint16_t)(d < 2 ? (unsigned)i % 256 * 256 + (unsigned)i % 5 * 51 : half_bits(dtype, whole[i % 16]));
            }
            krf_array *x = array_of(all.run[r].context, dtype, first), *y = array_of(all.run[r].context, dtype, second), *z = NULL;
            evaluate_text(&all.run[r], "x**y", 2, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", y)}, 1, &z);
            assert_int_equal(krf_array_to_host(z, got, sizeof got), KRF_OK);
            for (int i = 0; i < ARGUMENTS; i++) {
                compare("x**y", &all.run[r], dtype, i, powl((long double)get(first, dtype, i).f, (long double)get(second, dtype, i).f));
            }
            krf_array_release(z);
            krf_array_release(y);
            krf_array_release(x);
        }
    }
}

int main(void) { return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_all_arguments), cmocka_unit_test(test_powers))); }
