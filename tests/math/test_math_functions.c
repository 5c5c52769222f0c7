// Every function of codegen/math against MPFR: special arguments (all pairs of them where there are two) and random ones. At
// most 2 ULP, or what stands beside the function: f32 where it goes by way of f64 as close as one rounding allows. accuracy.c measures with more samples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "math/exact.h"
#include "math/measure.h"

#define KRF_FN static inline
#include "codegen/math/real.h"
#include "codegen/math/trig.h"
#include "codegen/math/explog.h"
#include "codegen/math/hyper.h"
#include "codegen/math/gates.h"
#include "codegen/math/single.h"
#include "codegen/math/floats.h"
#include "codegen/math/tails.h"
#include "codegen/math/powers.h"
#include "codegen/math/roots.h"
#include "codegen/math/arcs.h"
#include "codegen/math/inverse.h"
#include "codegen/math/pairs.h"
#include "codegen/math/erf.h"
#include "codegen/math/special.h"
#include "codegen/math/gammas.h"
#include "codegen/math/bessel.h"

// ROUNDED: f32 is computed in f64 and rounded once.
#define ROUNDED 0.505
#define ONE(name, code, limit, limit_f32) {#name, limit, limit_f32, krf_##code, krf_##code##f, NULL, NULL}
#define TWO(name, code, limit, limit_f32) {#name, limit, limit_f32, NULL, NULL, krf_##code, krf_##code##f}
static const function functions[] = {
    ONE(exp, exp, 2, 2),                            ONE(expm1, expm1, 2, 2),                        ONE(log, log, 2, 2),
    ONE(log1p, log1p, 2, 2),                        ONE(tanh, tanh, 2, 2),                          ONE(sin, sin, 2, ROUNDED),
    ONE(cos, cos, 2, ROUNDED),                      ONE(tan, tan, 2, ROUNDED),                      ONE(sinpi, sinpi, 2, ROUNDED),
    ONE(cospi, cospi, 2, ROUNDED),                  ONE(exp2, exp2, 2, 0.9),                        ONE(exp10, exp10, 2, ROUNDED),
    ONE(log2, log2, 2, 1.1),                        ONE(log10, log10, 2, 1.4),                      TWO(power, pow, 2, 1.1),
    ONE(sinh, sinh, 2, 1.7),                    ONE(cosh, cosh, 2, 1.5),                        ONE(asinh, asinh, 2, 1.9),
    ONE(acosh, acosh, 2, 1.9),                  ONE(atanh, atanh, 2, 2.1),                  ONE(cbrt, cbrt, 2, ROUNDED),
    TWO(hypot, hypot, 2, ROUNDED),                  ONE(sigmoid, sigmoid, 2, 2.3),                  ONE(silu, silu, 2, 1.7),
    ONE(gelu, gelu, 2, 3.2),                    ONE(logit, logit, 2, ROUNDED),                  ONE(gelu_tanh, gelu_tanh, 2, 1.9),
    TWO(logaddexp, logaddexp, 3, 2.9),              ONE(asin, asin, 2, 1.6),                    ONE(acos, acos, 2, 1.2),
    ONE(atan, atan, 2, 1.2),                    TWO(atan2, atan2, 2, 1.7),                  ONE(erf, erf, 2, 0.95),
    ONE(erfc, erfc, 2, 3.1),                    ONE(erfinv, erfinv, 3, 1.8),                    ONE(i0, i0, 3, 2.0),
    ONE(digamma, digamma, 4, 1.9),                  ONE(gamma, tgamma, 2, 2.1),                     ONE(lgamma, lgamma, 2, 1.8),
    ONE(j0, j0, 2, ROUNDED),                        ONE(j1, j1, 2, ROUNDED),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

// Where f32 errs most over all arguments, beyond what samples find, and how far (docs/accuracy.md).
static const struct {
    const char *name;
    double x, y, limit;
} farthest[] = {
    {"exp2", 0x1.00b0e8p-1, 0, 0.88}, {"log2", 0x1.69f6b4p+0, 0, 1.21}, {"log10", 0x1.68bffep-1, 0, 1.35}, {"cbrt", 0x1.494dd4p-127, 0, 0.51},
    {"asin", 0x1.0e08bap-1, 0, 1.69}, {"acos", 0x1.1575a8p-1, 0, 1.15}, {"atan", 0x1.063e94p+0, 0, 1.37}, {"atan2", -0x1.b98af6p-1, 0x1.9cda3ep+0, 1.62},
    {"sinh", 0x1.6b11dp+0, 0, 1.62}, {"cosh", 0x1.21cf36p+2, 0, 1.49}, {"asinh", 0x1.0922ecp-1, 0, 1.93}, {"acosh", 0x1.01d23p+0, 0, 2.10},
    {"tanh", 0x1.43183ap-1, 0, 1.34}, {"atanh", 0x1.f36e1cp-3, 0, 2.02}, {"erf", 0x1.0edb98p+0, 0, 0.99}, {"sigmoid", -0x1.193ea8p+0, 0, 2.26}, {"silu", -0x1.9b0ae6p+1, 0, 1.80}, {"silu", -0x1.9ad81ep+1, 0, 1.80},
    {"gelu_tanh", -0x1.60480ep+0, 0, 1.92}, {"erfc", 0x1.170556p+0, 0, 3.31}, {"erfc", 0x1.a1c5dcp-1, 0, 3.31}, {"gelu", -0x1.96f61p+3, 0, 3.65}, {"power", 0x1.023684p+0, 0x1.3d092ep+13, 1.87}, {"power", 0x1.690746p-1, -0x1.fbb7e8p+7, 1.87},
    {"lgamma", 0x1.55c4d4p+1, 0, 2.64}, {"lgamma", -0x1.1fde46p+3, 0, 2.89}, {"gamma", 0x1.56cb7cp+4, 0, 2.17}, {"gamma", -0x1.66a4a6p+4, 0, 2.96}, {"digamma", 0x1.0d9c5p+1, 0, 2.78}, {"digamma", -0x1.dcd2d6p+3, 0, 2.84}, {"i0", 0x1.189e12p+2, 0, 3.23}, {"i0", 0x1.4b951ap+3, 0, 3.16},
};

/* Logarithms of complex numbers of all sizes, near the unit circle and near the axes: a part's first 53 bits and its rest, by the error of both beside
 * the modulus of the logarithm, in bits. */
static void test_rests(void **unused) {
    (void)unused;
    uint64_t state = 5;
    double worst[2] = {-200, -200};
    mpfr_t a, b, part[2], all, off;
    mpfr_inits2(300, a, b, part[0], part[1], all, off, (mpfr_ptr)0);
    for (long i = 0; i < 4 * RANDOM_ARGUMENTS; i++) {
        const double turn = (double)(int64_t)exact_random(&state) * 0x1p-63 * M_PI, small = exp2((double)(exact_random(&state) % 70) * -1.0);
        const double size = exp2((double)(exact_random(&state) % 2000) - 1000);
        double x = i % 4 == 0 ? size * cos(turn) : i % 4 == 1 ? cos(turn) : i % 4 == 2 ? 1 + turn * small : turn;
        double y = i % 4 == 0 ? size * sin(turn) : i % 4 == 1 ? sin(turn) + small : i % 4 == 2 ? small * cos(9 * turn) : small;
        x = (i & 4) != 0 ? x : (i & 8) != 0 ? y : -x;
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_set_d(b, y, MPFR_RNDN);
        mpfr_hypot(part[0], a, b, MPFR_RNDN);
        mpfr_log(part[0], part[0], MPFR_RNDN);
        mpfr_atan2(part[1], b, a, MPFR_RNDN);
        mpfr_hypot(all, part[0], part[1], MPFR_RNDN);
        for (int k = 0; k < 2 && !mpfr_zero_p(all); k++) {
            const double first = mpfr_get_d(part[k], MPFR_RNDN) * (1 + ((int)(i % 5) - 2) * 0x1p-52); /* CUDA's last bits are others */
            mpfr_sub_d(off, part[k], first, MPFR_RNDN);
            mpfr_sub_d(off, off, k == 0 ? krf_log_rest(x, y, first) : krf_arc_rest(y, x, first), MPFR_RNDN);
            mpfr_div(off, off, all, MPFR_RNDN);
            const double bits = log2(fabs(mpfr_get_d(off, MPFR_RNDN)));
            if (bits > worst[k]) {
                worst[k] = bits;
                printf("%s 2^%.1f at (%a, %a)\n", k == 0 ? "log_rest" : "arc_rest", bits, x, y);
            }
        }
    }
    mpfr_clears(a, b, part[0], part[1], all, off, (mpfr_ptr)0);
    assert_true(worst[0] < -102 && worst[1] < -102);
}

static void test_f32(void **state) {
    (void)state;
    for (int i = 0; i < FUNCTIONS; i++) {
        measure(&functions[i], true);
    }
}

static void test_farthest_f32(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof farthest / sizeof *farthest; i++) {
        const function *fn = functions;
        while (strcmp(fn->name, farthest[i].name) != 0) {
            fn++;
            assert_true(fn < functions + FUNCTIONS);
        }
        const double ulp = error_at(fn, row_of(fn->name), true, farthest[i].x, farthest[i].y);
        if (!(ulp <= farthest[i].limit)) {
            fail_msg("%s f32: %g ULP at (%a, %a)", fn->name, ulp, farthest[i].x, farthest[i].y);
        }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_f32),         cmocka_unit_test(test_farthest_f32), cmocka_unit_test(test_f64),
                                       cmocka_unit_test(test_first_zeros), cmocka_unit_test(test_rests)};
    exact_open();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    exact_close();
    return failed;
}
