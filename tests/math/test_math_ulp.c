// Error of codegen/math/real.h, and of f32 tanh, against MPFR (f64) and the long double libm (f32), in ULP of the exact result.
// KRF_TEST_EXHAUSTIVE=1 runs through all 2^32 floats. Without FMA hardware (-mfma, -march=x86-64-v3)
// __builtin_fma calls libm: the same bits, much slower.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#define KRF_FN static inline
#include "codegen/math/real.h"
#include "codegen/math/floats.h"

#define LIMIT_ULP 2.0
#define WRONG 1e30 // the "error" of a wrong NaN, infinity or sign of zero

enum { REF_BITS = 160, RANDOM_POINTS = 200000, WINDOW = 500, ARRAY = 1003 };

typedef struct pair {
    double x, y; // exact in f32 as well
} pair;

typedef struct func {
    const char *name;
    float (*f32)(float);
    double (*f64)(double);
    long double (*wide)(long double);
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    const double *hard; // f64 neighbourhoods to search densely
    size_t n_hard;
    const pair *special;
    size_t n_special;
} func;

#define LN2 0.69314718055994531
#define INF ((double)INFINITY)
#define NOT ((double)NAN)

static const double hard_exp[] = {0.0, 1.0, -1.0, 0.5, -0.35, 0.3465, LN2 / 2, -LN2 / 2, LN2 * 1.5, -LN2 * 1.5, LN2, -LN2, 2 * LN2, LN2 * 10.5, LN2 * 511.5,
                                  709.782712893384, 709.436139303104, 710.0, -708.396418532264, -745.133219101941, -746.0, -37.0, -36.7, -40.0, 88.72, -103.97};
static const double hard_log[] = {0.75, 1.0, 1.5, 2.0, 3.0, 0.375, 0.25, 0.5, LN2, 0x1p-1022, 0x1p-1068, DBL_MAX, 0x1.8p1023, 0x1p-126};
static const double hard_log1p[] = {0.0, 0.5, -0.25, -0.5, -0.625, 1.0, 2.0, 5.0, -1.0, 0x1p-53, -0x1p-53, 0x1p-1022, 0x1p52, 0x1p53, 0x1p54, DBL_MAX, 0x1.8p1023, -0x1.8p-2, 0x1p1022};
static const double hard_tanh[] = {0.0, 0.25, -0.25, 0.5, 0.549, 1.0, 1.55, 2.0, 8.7, 9.01, 9.02, 11.0, 18.7, 19.06, 19.07, 22.0, 0x1p-27, 0x1p-1021, 0.52, 0.87};

static const pair special_exp[] = {{0.0, 1.0}, {-0.0, 1.0}, {INF, INF}, {-INF, 0.0}, {NOT, NOT}, {0x1p-149, 1.0}, {-0x1p-149, 1.0}, {1e3, INF}, {-2e3, 0.0}, {0x1p127, INF}, {-0x1p127, 0.0}};
static const pair special_expm1[] = {{0.0, 0.0}, {-0.0, -0.0}, {INF, INF}, {-INF, -1.0}, {NOT, NOT}, {0x1p-149, 0x1p-149}, {-0x1p-149, -0x1p-149},
                                     {0x1p-126, 0x1p-126}, {1e3, INF}, {-1e3, -1.0}, {0x1p127, INF}, {-0x1p127, -1.0}};
static const pair special_log[] = {{0.0, -INF}, {-0.0, -INF}, {1.0, 0.0}, {INF, INF}, {-INF, NOT}, {NOT, NOT}, {-1.0, NOT}, {-0x1p-149, NOT}, {-0x1p127, NOT}};
static const pair special_log1p[] = {{0.0, 0.0}, {-0.0, -0.0}, {-1.0, -INF}, {INF, INF}, {-INF, NOT}, {NOT, NOT}, {-0x1.000002p0, NOT}, {-2.0, NOT},
                                     {-0x1p127, NOT}, {0x1p-149, 0x1p-149}, {-0x1p-149, -0x1p-149}, {0x1p-126, 0x1p-126}};
static const pair special_tanh[] = {{0.0, 0.0}, {-0.0, -0.0}, {INF, 1.0}, {-INF, -1.0}, {NOT, NOT}, {0x1p-149, 0x1p-149}, {-0x1p-149, -0x1p-149},
                                    {0x1p-126, 0x1p-126}, {50.0, 1.0}, {-50.0, -1.0}, {20.0, 1.0}, {0x1p127, 1.0}};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define FUNC(name, hard, special) {#name, krf_##name##f, krf_##name, name##l, mpfr_##name, hard, COUNT(hard), special, COUNT(special)}

static const func funcs[] = {
    FUNC(exp, hard_exp, special_exp),
    FUNC(expm1, hard_exp, special_expm1),
    FUNC(log, hard_log, special_log),
    FUNC(log1p, hard_log1p, special_log1p),
    FUNC(tanh, hard_tanh, special_tanh),
};

static uint64_t next_random(uint64_t *state) { // splitmix64
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static float float_of(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static double double_of(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static double error_f64(const func *fn, double x, mpfr_t ref, mpfr_t arg) {
    double got = fn->f64(x);
    mpfr_set_d(arg, x, MPFR_RNDN);
    fn->exact(ref, arg, MPFR_RNDN);
    if (mpfr_nan_p(ref) || isnan(got)) return mpfr_nan_p(ref) && isnan(got) ? 0.0 : WRONG;
    if (mpfr_zero_p(ref) || (mpfr_inf_p(ref) && !isfinite(x))) {
        double want = mpfr_get_d(ref, MPFR_RNDN);
        return got == want && !signbit(got) == !signbit(want) ? 0.0 : WRONG;
    }
    if (!signbit(got) != !mpfr_signbit(ref)) return WRONG;
    if (mpfr_inf_p(ref) || mpfr_get_exp(ref) > DBL_MAX_EXP) {
        if (isinf(got)) return 0.0;
        if (mpfr_inf_p(ref)) return WRONG;
    }
    // A wrong infinity counts as the next number after DBL_MAX.
    mpfr_set_d(arg, isinf(got) ? copysign(0x1p1023, got) : got, MPFR_RNDN);
    if (isinf(got)) mpfr_mul_2ui(arg, arg, 1, MPFR_RNDN);
    long exponent = (long)mpfr_get_exp(ref) - DBL_MANT_DIG;
    const long least = DBL_MIN_EXP - DBL_MANT_DIG;
    if (exponent < least) exponent = least;
    mpfr_sub(arg, arg, ref, MPFR_RNDN);
    mpfr_mul_2si(arg, arg, -exponent, MPFR_RNDN);
    return fabs(mpfr_get_d(arg, MPFR_RNDU));
}

static double error_f32(const func *fn, float x) {
    float got = fn->f32(x);
    long double ref = fn->wide((long double)x);
    if (isnan(ref) || isnan(got)) return isnan(ref) && isnan(got) ? 0.0 : WRONG;
    if (ref == 0.0L || !isfinite(x)) return (long double)got == ref && !signbit(got) == !signbit(ref) ? 0.0 : WRONG;
    if (!signbit(got) != !signbit(ref)) return WRONG;
    if (isinf(got) && fabsl(ref) >= 0x1p128L) return 0.0;
    if (isinf(ref)) return WRONG;
    long double value = isinf(got) ? copysignl(0x1p128L, ref) : (long double)got;
    int exponent;
    frexpl(ref, &exponent);
    exponent -= FLT_MANT_DIG;
    const int least = FLT_MIN_EXP - FLT_MANT_DIG;
    if (exponent < least) exponent = least;
    return (double)ldexpl(fabsl(value - ref), -exponent);
}

typedef struct worst {
    double ulp, at;
} worst;

static void record(worst *w, double ulp, double at) {
    if (ulp > w->ulp) *w = (worst){ulp, at};
}

static void report(const func *fn, const char *dtype, worst w) {
    printf("%-6s %s  max_ulp %.4f  at %a\n", fn->name, dtype, w.ulp, w.at);
    fflush(stdout);
    assert_true(w.ulp <= LIMIT_ULP);
}

static void test_special_values(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(funcs); i++) {
        const func *fn = &funcs[i];
        for (size_t j = 0; j < fn->n_special; j++) {
            pair p = fn->special[j];
            double got[2] = {fn->f64(p.x), (double)fn->f32((float)p.x)};
            for (int k = 0; k < 2; k++) {
                int right = isnan(p.y) ? isnan(got[k]) : (got[k] == p.y && !signbit(got[k]) == !signbit(p.y));
                if (!right) fail_msg("%s %s of %a: %a, not %a", fn->name, k ? "f32" : "f64", p.x, got[k], p.y);
            }
        }
    }
    // NaNs of any payload and sign: exponent arithmetic must not turn them into numbers.
    for (size_t i = 0; i < COUNT(funcs); i++)
        for (unsigned bit = 0; bit < 52; bit++)
            for (unsigned sign = 0; sign < 2; sign++) {
                uint64_t payload = (UINT64_C(1) << bit) | ((uint64_t)sign << 63);
                assert_true(isnan(funcs[i].f64(double_of(UINT64_C(0x7ff8000000000000) | payload))));
                if (bit < 23) assert_true(isnan(funcs[i].f32(float_of(UINT32_C(0x7fc00000) | (UINT32_C(1) << bit) | ((uint32_t)sign << 31)))));
            }
}

static void test_f32(void **state) {
    (void)state;
#if LDBL_MANT_DIG < 64
    skip(); // no wider type to compare with
#endif
    const char *env = getenv("KRF_TEST_EXHAUSTIVE");
    const uint64_t step = env && strcmp(env, "1") == 0 ? 1 : 599; // a prime
    for (size_t i = 0; i < COUNT(funcs); i++) {
        const func *fn = &funcs[i];
        worst w = {0.0, 0.0};
        for (uint64_t u = 0; u < UINT64_C(1) << 32; u += step) {
            float x = float_of((uint32_t)u);
            record(&w, error_f32(fn, x), (double)x);
        }
        for (size_t j = 0; j < fn->n_hard; j++) {
            float x = (float)fn->hard[j];
            for (int k = 0; k < WINDOW; k++) x = nextafterf(x, -INFINITY);
            for (int k = 0; k < 2 * WINDOW; k++, x = nextafterf(x, INFINITY)) record(&w, error_f32(fn, x), (double)x);
        }
        report(fn, "f32", w);
    }
}

static void test_f64(void **state) {
    (void)state;
    mpfr_t ref, arg;
    mpfr_init2(ref, REF_BITS);
    mpfr_init2(arg, REF_BITS);
    for (size_t i = 0; i < COUNT(funcs); i++) {
        const func *fn = &funcs[i];
        worst w = {0.0, 0.0};
        uint64_t seed = 1;
        for (int k = 0; k < RANDOM_POINTS; k++) {
            uint64_t u = next_random(&seed);
            double x[3] = {double_of(u), 0.0, 0.0}; // the whole range
            // moderate size, where results are neither trivial nor out of range; then linear over the exp range
            x[1] = ldexp(copysign(1.0 + (double)(u >> 12) * 0x1p-52, u & 1 ? 1.0 : -1.0), (int)((u >> 1) % 24) - 13);
            x[2] = ((double)(u >> 11) * 0x1p-53 - 0.5) * ((u & 1) != 0 ? 1500.0 : 4.0);
            for (int j = 0; j < 3; j++) record(&w, error_f64(fn, x[j], ref, arg), x[j]);
        }
        for (size_t j = 0; j < fn->n_hard; j++) {
            double x = fn->hard[j];
            for (int k = 0; k < WINDOW; k++) x = nextafter(x, -INFINITY);
            for (int k = 0; k < 2 * WINDOW; k++, x = nextafter(x, INFINITY)) record(&w, error_f64(fn, x, ref, arg), x);
            for (int k = 0; k < WINDOW; k++) { // and a coarser neighbourhood
                x = fn->hard[j] * (1.0 + ((double)(next_random(&seed) >> 11) * 0x1p-53 - 0.5) * 0x1p-6);
                record(&w, error_f64(fn, x, ref, arg), x);
            }
        }
        report(fn, "f64", w);
    }
    mpfr_clear(ref);
    mpfr_clear(arg);
    mpfr_free_cache();
}

// The loop that the compiler vectorises, its remainder included, has the bits of one call at a time.
static void test_array_bits(void **state) {
    (void)state;
    static double x64[ARRAY], y64[ARRAY];
    static float x32[ARRAY], y32[ARRAY];
    uint64_t seed = 2;
    for (int i = 0; i < ARRAY; i++) {
        uint64_t u = next_random(&seed);
        x64[i] = i % 4 ? ldexp((double)(int64_t)u, (int)(u % 16) - 71) : double_of(u);
        x32[i] = i % 4 ? (float)x64[i] : float_of((uint32_t)u);
    }
#define CHECK(name)                                                                                                                \
    for (int i = 0; i < ARRAY; i++) y64[i] = krf_##name(x64[i]), y32[i] = krf_##name##f(x32[i]);                                   \
    for (int i = 0; i < ARRAY; i++) {                                                                                              \
        double (*volatile f64)(double) = krf_##name;                                                                               \
        float (*volatile f32)(float) = krf_##name##f;                                                                              \
        double a = f64(x64[i]);                                                                                                    \
        float b = f32(x32[i]);                                                                                                     \
        assert_true(isnan(a) ? isnan(y64[i]) : memcmp(&a, &y64[i], sizeof a) == 0);                                                \
        assert_true(isnan(b) ? isnan(y32[i]) : memcmp(&b, &y32[i], sizeof b) == 0);                                                \
    }
    CHECK(exp)
    CHECK(expm1)
    CHECK(log)
    CHECK(log1p)
    CHECK(tanh)
#undef CHECK
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_array_bits),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
