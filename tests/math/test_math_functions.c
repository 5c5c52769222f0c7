// Every function of codegen/math against MPFR: special arguments (all pairs of them where there are two) and random ones. At
// most 2 ULP, or what stands beside the function; f32 as close as f64 and one rounding allow. accuracy.c measures with more samples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "math/exact.h"

#define KRF_FN static inline
#include "codegen/math/real.h"
#include "codegen/math/trig.h"
#include "codegen/math/explog.h"
#include "codegen/math/hyper.h"
#include "codegen/math/gates.h"
#include "codegen/math/roots.h"
#include "codegen/math/inverse.h"
#include "codegen/math/erf.h"
#include "codegen/math/special.h"
#include "codegen/math/bessel.h"

#define KRF_F32(name) __builtin_##name##f
#define KRF_F64(name) __builtin_##name
#define __builtin_erfinvf(x) (x) /* CUDA's own: not called here */
#include "codegen/math/prelude.h"
#include "codegen/math/device_math.h"

enum { RANDOM_ARGUMENTS = 12000 };

typedef struct function {
    const char *name;
    double limit;
    double (*f64)(double);
    float (*f32)(float);
    double (*pair_f64)(double, double);
    float (*pair_f32)(float, float);
} function;

#define ONE(name, code, limit) {#name, limit, krf_##code, krf_##code##f, NULL, NULL}
#define TWO(name, code, limit) {#name, limit, NULL, NULL, krf_##code, krf_##code##f}
static const function functions[] = {
    ONE(exp, exp, 2),         ONE(expm1, expm1, 2),     ONE(log, log, 2),         ONE(log1p, log1p, 2),
    ONE(tanh, tanh, 2),       ONE(sin, sin, 2),         ONE(cos, cos, 2),         ONE(tan, tan, 2),
    ONE(sinpi, sinpi, 2),     ONE(cospi, cospi, 2),     ONE(exp2, exp2, 2),       ONE(exp10, exp10, 2),
    ONE(log2, log2, 2),       ONE(log10, log10, 2),     TWO(power, pow, 2),       ONE(sinh, sinh, 2),
    ONE(cosh, cosh, 2),       ONE(asinh, asinh, 2),     ONE(acosh, acosh, 2),     ONE(atanh, atanh, 2),
    ONE(cbrt, cbrt, 2),       TWO(hypot, hypot, 2),     ONE(sigmoid, sigmoid, 2), ONE(silu, silu, 2),
    ONE(gelu, gelu, 2),       ONE(logit, logit, 2),     ONE(gelu_tanh, gelu_tanh, 2), TWO(logaddexp, logaddexp, 3),
    ONE(asin, asin, 2),       ONE(acos, acos, 2),       ONE(atan, atan, 2),       TWO(atan2, atan2, 2),
    ONE(erf, erf, 2),         ONE(erfc, erfc, 2),       ONE(erfinv, erfinv, 3),   ONE(i0, i0, 3),
    ONE(digamma, digamma, 4), ONE(gamma, tgamma, 2),    ONE(lgamma, lgamma, 2),   ONE(j0, j0, 2),
    ONE(j1, j1, 2),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

// What GPUs run of our own in f32: it consists of exactly rounded operations, hence the bits here are those there.
static const function device[] = {
    {"silu", 3, NULL, krf_silu_f32, NULL, NULL},
    {"gelu", 3, NULL, krf_gelu_f32, NULL, NULL},
    {"gelu_tanh", 3, NULL, krf_gelu_tanh_f32, NULL, NULL},
    {"erfc", 3, NULL, krf_erfc_f32, NULL, NULL},
};
enum { DEVICE = sizeof device / sizeof *device };

static const exact_row *row_of(const char *name) {
    for (int i = 0; i < EXACT_COUNT; i++) {
        if (strcmp(exact_rows[i].name, name) == 0) {
            return &exact_rows[i];
        }
    }
    fail_msg("%s is not in EXACT_ROWS", name);
    return NULL;
}

static void measure(const function *fn, bool narrow) {
    const exact_row *row = row_of(fn->name);
    const long specials = row->arity == 1 ? EXACT_SPECIALS : (long)EXACT_SPECIALS * EXACT_SPECIALS;
    double worst = 0, at = 0, beside = 0;
    uint64_t state = 7;
    mpfr_t exact, a, b;
    mpfr_init2(exact, REF_BITS);
    mpfr_init2(a, 53);
    mpfr_init2(b, 53);
    assert_int_equal(row->arity, fn->f32 != NULL ? 1 : 2);
    for (long i = 0; i < specials + RANDOM_ARGUMENTS; i++) {
        double x = i < specials ? exact_special[i % EXACT_SPECIALS] : exact_sample(row, narrow, &state);
        double y = i < specials ? exact_special[i / EXACT_SPECIALS] : exact_sample(row, narrow, &state);
        double got;
        if (narrow) {
            x = (double)(float)x;
            y = (double)(float)y;
            got = (double)(row->arity == 1 ? fn->f32((float)x) : fn->pair_f32((float)x, (float)y));
        } else {
            got = row->arity == 1 ? fn->f64(x) : fn->pair_f64(x, y);
        }
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_set_d(b, y, MPFR_RNDN);
        row->exact(exact, a, b);
        double scale = exact_scale(row->name, x, y);
        double ulp = narrow ? exact_error_f32(got, exact, scale) : exact_error_f64(got, exact, scale);
        if (ulp > worst) {
            worst = ulp;
            at = x;
            beside = y;
        }
    }
    printf("%-10s %s %7.3f at (%a, %a)\n", fn->name, narrow ? "f32" : "f64", worst, at, beside);
    fflush(stdout);
    mpfr_clear(exact);
    mpfr_clear(a);
    mpfr_clear(b);
    if (!(worst <= fn->limit)) {
        fail_msg("%s %s: %g ULP at (%a, %a)", fn->name, narrow ? "f32" : "f64", worst, at, beside);
    }
}

static void test_f32(void **state) {
    (void)state;
    for (int i = 0; i < FUNCTIONS; i++) {
        measure(&functions[i], true);
    }
}

static void test_device_f32(void **state) {
    (void)state;
    for (int i = 0; i < DEVICE; i++) {
        measure(&device[i], true);
    }
}

static void test_f64(void **state) {
    (void)state;
    for (int i = 0; i < FUNCTIONS; i++) {
        measure(&functions[i], false);
    }
}

// The first three zeros of j0 and of j1 cost no digits: errors there count in units of the last place of the result itself.
static void test_first_zeros(void **unused) {
    enum { NEAR = 2000 };
    static const double zeros[2][3] = {{0x1.33d152e971b40p+1, 0x1.6148f5b2c2e45p+2, 0x1.14eb56cccdecap+3},
                                       {0x1.ea75575af6f09p+1, 0x1.c0ff5f3b47250p+2, 0x1.458d0d0bdfc29p+3}};
    uint64_t state = 11;
    mpfr_t exact, a;
    (void)unused;
    mpfr_init2(exact, REF_BITS);
    mpfr_init2(a, 53);
    for (int i = 0; i < 6 * NEAR; i++) {
        const int order = i / (3 * NEAR), k = i % NEAR;
        const double away = ldexp(1.5, -(k % 52)) * ((double)(int64_t)exact_random(&state) * 0x1p-63);
        const double x = k < 20 ? zeros[order][i / NEAR % 3] + (k - 10) * 0x1p-50 : zeros[order][i / NEAR % 3] + away;
        mpfr_set_d(a, x, MPFR_RNDN);
        (order == 0 ? exact_j0 : exact_j1)(exact, a, a);
        const double ulp = exact_error_f64(order == 0 ? krf_j0(x) : krf_j1(x), exact, 0);
        if (!(ulp <= 2.5)) {
            fail_msg("j%d f64: %g ULP at %a", order, ulp, x);
        }
    }
    mpfr_clear(exact);
    mpfr_clear(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_f32), cmocka_unit_test(test_device_f32), cmocka_unit_test(test_f64),
                                       cmocka_unit_test(test_first_zeros)};
    exact_open();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    exact_close();
    return failed;
}
