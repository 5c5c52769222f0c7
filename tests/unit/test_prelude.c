/* Unit tests of codegen/math/prelude.h: every helper next to a reference that computes the same by another way, in
 * __int128 or long double, over all pairs of special values and many random ones. Run under UBSan: no operands may make
 * a helper undefined. libm.h is included as well: it has to be complete and to compile. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define KRF_FN static inline
#define KRF_F32(name) __builtin_##name##f
#define KRF_F64(name) __builtin_##name
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
#include "codegen/math/libm.h"
#include "codegen/math/prelude.h"
#include "codegen/math/cast.h"
#include "codegen/math/numbers.h"

__extension__ typedef __int128 wide;

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { ROUNDS = 200000 };

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return random_state * 2685821657736338717u;
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

static wide floor_quotient(wide a, wide b) {
    wide q = 0;
    if (b != 0) {
        q = a / b;
        q -= q * b > a ? (b > 0) : 0; /* truncation went up: a < 0 < b */
        q -= q * b < a && b < 0 && a > 0 ? 1 : 0;
    }
    return q;
}

/* The low bits of a power, one factor after the other for small exponents, by halves for large ones. */
static uint64_t power_bits(uint64_t a, uint64_t n) {
    if (n < 40) {
        uint64_t r = 1;
        while (n-- > 0) {
            r *= a;
        }
        return r;
    }
    uint64_t half = power_bits(a, n / 2);
    return half * half * (n % 2 ? a : 1);
}

static wide power_of(wide a, wide b) {
    if (b >= 0) {
        return (wide)power_bits((uint64_t)a, (uint64_t)b);
    }
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
}

/* floor(a / 2^b), where a count out of range pushes everything out. */
static wide shifted_down(wide a, wide b, int width) {
    wide r = a;
    for (wide i = 0; i < (b < 0 || b > width ? width : b); i++) {
        r = floor_quotient(r, 2);
    }
    return r;
}

static wide shifted_up(wide a, wide b, int width) {
    wide r = a;
    for (wide i = 0; i < b && b < width; i++) {
        r *= 2;
    }
    return b < 0 || b >= width ? 0 : r;
}

static void check_i64(long long a, long long b) {
    const wide q = floor_quotient(a, b);
    assert_int_equal(krf_floor_divide_i64(a, b), (long long)q);
    assert_int_equal(krf_remainder_i64(a, b), b == 0 ? 0 : (long long)(a - q * b));
    assert_int_equal(krf_power_i64(a, b), (long long)power_of(a, b));
    assert_int_equal(krf_left_shift_i64(a, b), (long long)shifted_up(a, b, 64));
    assert_int_equal(krf_right_shift_i64(a, b), (long long)shifted_down(a, b, 64));
}

static void check_i32(int a, int b) {
    const wide q = floor_quotient(a, b);
    assert_int_equal(krf_floor_divide_i32(a, b), (int)q);
    assert_int_equal(krf_remainder_i32(a, b), b == 0 ? 0 : (int)(a - q * b));
    assert_int_equal(krf_power_i32(a, b), (int)power_of(a, b));
    assert_int_equal(krf_left_shift_i32(a, b), (int)shifted_up(a, b, 32));
    assert_int_equal(krf_right_shift_i32(a, b), (int)shifted_down(a, b, 32));
}

static void test_integers(void **state) {
    static const long long special[] = {
        0,
        1,
        -1,
        2,
        -2,
        3,
        -3,
        7,
        -7,
        30,
        31,
        32,
        33,
        62,
        63,
        64,
        65,
        -31,
        -32,
        -33,
        -63,
        -64,
        INT_MAX,
        INT_MIN,
        INT_MAX - 1LL,
        INT_MIN + 1LL,
        UINT_MAX,
        1LL << 32,
        -(1LL << 32),
        LLONG_MAX,
        LLONG_MIN,
        LLONG_MAX - 1,
        LLONG_MIN + 1,
    };
    (void)state;
    for (size_t i = 0; i < COUNT(special); i++) {
        for (size_t j = 0; j < COUNT(special); j++) {
            check_i64(special[i], special[j]);
            check_i32((int)special[i], (int)special[j]);
        }
    }
    for (int i = 0; i < ROUNDS; i++) {
        long long a = (long long)random_bits() >> (random_bits() % 64),
                  b = (long long)random_bits() >> (random_bits() % 64);
        check_i64(a, b);
        check_i32((int)a, (int)b);
    }
    /* The contract in words. */
    assert_int_equal(krf_floor_divide_i32(INT_MIN, -1), INT_MIN);
    assert_int_equal(krf_remainder_i64(LLONG_MIN, -1), 0);
    assert_int_equal(krf_floor_divide_i32(-7, 2), -4);
    assert_int_equal(krf_remainder_i32(-7, 2), 1);
    assert_int_equal(krf_remainder_i32(7, -2), -1);
    assert_int_equal(krf_power_i32(0, -1), 0);
    assert_int_equal(krf_power_i32(0, 0), 1);
    assert_int_equal(krf_right_shift_i64(-1, -5), -1);
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

/* The same number: zeros of the same sign, or both NaN. */
static bool same(double a, double b) { return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b); }

#define ASSERT_SAME(got, expected, a, b) \
    do { \
        const double got_ = (double)(got), expected_ = (double)(expected); \
        if (!same(got_, expected_)) { \
            fail_msg("%s: %a where %a was expected, of %a and %a", #got, got_, expected_, (double)(a), (double)(b)); \
        } \
    } while (0)

/* Python's remainder: exact but for the one rounding of the correction. */
static double remainder_of(double a, double b, bool narrow) {
    if (isnan(a) || isnan(b) || isinf(a) || b == 0) {
        return NAN;
    }
    double m = isinf(b) ? a : fmod(a, b);
    if (m == 0) {
        return signbit(b) ? -0.0 : 0.0;
    }
    if (signbit(m) != signbit(b)) {
        m = narrow ? (double)((float)m + (float)b) : m + b;
    }
    return m;
}

static const double specials[] = {
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    2,
    -2,
    3,
    -3,
    0.1,
    -0.1,
    1e10,
    -1e10,
    0x1p23,
    0x1p24,
    0x1p52,
    0x1p53,
    -0x1p53,
    FLT_MIN,
    -FLT_MIN,
    FLT_TRUE_MIN,
    -FLT_TRUE_MIN,
    FLT_MAX,
    -FLT_MAX,
    INFINITY,
    -INFINITY,
    NAN,
    0x1p31,
    -0x1p31,
    0x1p63,
    -0x1p63,
    2147483646.5,
    2147483647.5,
    -2147483648.5,
    -2147483649.0,
    0x1.fffffep30,
    0x1.fffffffffffffp62,
    1e300,
    1e-310,
    DBL_MAX,
    -DBL_MAX,
    DBL_MIN,
    DBL_TRUE_MIN,
};

static double random_f64(void) {
    uint64_t bits = random_bits();
    double x = ldexp((double)(int64_t)bits, (int)(random_bits() % 80) - 90);
    if (random_bits() % 4 == 0) {
        memcpy(&x, &bits, sizeof x);
    }
    return random_bits() % 4 == 0 ? floor(x) : x;
}

static void check_f64(double a, double b) {
    ASSERT_SAME(krf_remainder_f64(a, b), remainder_of(a, b, false), a, b);
    const double larger = isnan(a) || isnan(b) ? NAN : a > b || (a == b && !signbit(a)) ? a : b;
    const double smaller = isnan(a) || isnan(b) ? NAN : a < b || (a == b && signbit(a)) ? a : b;
    ASSERT_SAME(krf_maximum_f64(a, b), larger, a, b);
    ASSERT_SAME(krf_minimum_f64(a, b), smaller, a, b);
}

static void check_f32(float a, float b) {
    ASSERT_SAME(krf_remainder_f32(a, b), remainder_of((double)a, (double)b, true), a, b);
    const float larger = isnan(a) || isnan(b) ? NAN : a > b || (a == b && !signbit(a)) ? a : b;
    const float smaller = isnan(a) || isnan(b) ? NAN : a < b || (a == b && signbit(a)) ? a : b;
    ASSERT_SAME(krf_maximum_f32(a, b), larger, a, b);
    ASSERT_SAME(krf_minimum_f32(a, b), smaller, a, b);
}

/* Against the floor of the exact quotient, where that is far below the first integer a float cannot hold: above it
 * NumPy's way, which is ours, may be one unit off. The wider type holds a / b apart from an integer that it does not
 * reach. */
static void check_floor_divide(double a, double b) {
    const float x = (float)a, y = (float)b;
    const double near = floor((double)x / (double)y);
    if (fabs(near) < 0x1p21 && fabsf(x) > 1e-30f && fabsf(y) > 1e-30f) {
        ASSERT_SAME(krf_floor_divide_f32(x, y), near, x, y);
    }
    const int64_t m = (int64_t)(random_bits() % (1u << 30)) - (1 << 29), n = (int64_t)(random_bits() % 4096) - 2048;
    const int64_t q = n == 0 ? 0 : (m - (m % n + n) % n) / n;
    if (n != 0 && q != 0) { /* floats that are integers, scaled: the quotient is known */
        ASSERT_SAME(krf_floor_divide_f64(ldexp((double)m, 20), ldexp((double)n, 20)), q, m, n);
    }
}

static void test_floats(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(specials); i++) {
        for (size_t j = 0; j < COUNT(specials); j++) {
            check_f64(specials[i], specials[j]);
            check_f32((float)fmax(fmin(specials[i], (double)FLT_MAX), -(double)FLT_MAX), (float)(specials[j] / 1e300));
            if (fabs(specials[i]) <= (double)FLT_MAX && fabs(specials[j]) <= (double)FLT_MAX) {
                check_f32((float)specials[i], (float)specials[j]);
            }
        }
    }
    const float odd[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.5f, -1.5f, FLT_TRUE_MIN};
    for (size_t i = 0; i < COUNT(odd); i++) {
        for (size_t j = 0; j < COUNT(odd); j++) {
            check_f32(odd[i], odd[j]);
        }
    }
    for (int i = 0; i < ROUNDS; i++) {
        const double a = random_f64(), b = random_f64();
        check_f64(a, b);
        check_f64(a, a);
        if (fabs(a) < (double)FLT_MAX && fabs(b) < (double)FLT_MAX) {
            check_f32((float)a, (float)b);
            check_floor_divide(a, b);
        }
    }
}

/* The special cases of the Array API standard for floor_divide and remainder, and NumPy's where it leaves a choice. */
static void test_division_cases(void **state) {
    static const struct {
        double a, b, quotient, rest;
    } cases[] = {
        {7, 2, 3, 1},
        {-7, 2, -4, 1},
        {7, -2, -4, -1},
        {-7, -2, 3, -1},
        {1, 0.1, 9, 0.09999999999999995},
        {0, 2, 0, 0},
        {-0.0, 2, -0.0, 0},
        {0, -2, -0.0, -0.0},
        {-0.0, -2, 0, -0.0},
        {6, 3, 2, 0},
        {-6, 3, -2, 0},
        {6, -3, -2, -0.0},
        {1, 0, INFINITY, NAN},
        {-1, 0, -INFINITY, NAN},
        {1, -0.0, -INFINITY, NAN},
        {0, 0, NAN, NAN},
        {-0.0, 0, NAN, NAN},
        {1, INFINITY, 0, 1},
        {-1, INFINITY, -1, INFINITY},
        {1, -INFINITY, -1, -INFINITY},
        {-1, -INFINITY, 0, -1},
        {0, INFINITY, 0, 0},
        {-0.0, -INFINITY, 0, -0.0},
        {INFINITY, 2, NAN, NAN},
        {-INFINITY, 2, NAN, NAN},
        {INFINITY, INFINITY, NAN, NAN},
        {INFINITY, 0, INFINITY, NAN},
        {NAN, 1, NAN, NAN},
        {1, NAN, NAN, NAN},
        {NAN, 0, NAN, NAN},
        {0.25, 1, 0, 0.25},
        {-0.25, 1, -1, 0.75},
        {0.25, -1, -1, -0.75},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double a = cases[i].a, b = cases[i].b;
        ASSERT_SAME(krf_floor_divide_f64(a, b), cases[i].quotient, a, b);
        ASSERT_SAME(krf_remainder_f64(a, b), cases[i].rest, a, b);
        if (b != 0.1) {
            ASSERT_SAME(krf_floor_divide_f32((float)a, (float)b), cases[i].quotient, a, b);
            ASSERT_SAME(krf_remainder_f32((float)a, (float)b), cases[i].rest, a, b);
        }
    }
}

/* ---- casts ------------------------------------------------------------------------------------------------------- */

static long long clamped(long double x, long long low, long long high) {
    return isnan(x) ? 0 : x <= (long double)low ? low : x >= (long double)high ? high : (long long)x;
}

static void check_casts(double x) {
    const float f = x > (double)FLT_MAX ? INFINITY : x < -(double)FLT_MAX ? -INFINITY : (float)x;
    assert_int_equal(krf_cast_f64_i32(x), clamped(x, INT_MIN, INT_MAX));
    assert_int_equal(krf_cast_f64_i64(x), clamped(x, LLONG_MIN, LLONG_MAX));
    assert_int_equal(krf_cast_f32_i32(f), clamped((long double)f, INT_MIN, INT_MAX));
    assert_int_equal(krf_cast_f32_i64(f), clamped((long double)f, LLONG_MIN, LLONG_MAX));
}

static void test_casts(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(specials); i++) {
        check_casts(specials[i]);
        check_casts(nextafter(specials[i], INFINITY));
        check_casts(nextafter(specials[i], -INFINITY));
    }
    for (int i = 0; i < ROUNDS; i++) {
        check_casts(random_f64());
        check_casts(ldexp((double)(int64_t)random_bits(), (int)(random_bits() % 8) - 4));
    }
}

/* Every function that F(...) names has both widths, in real.h or in libm.h, and does what its name says. */
static void test_functions(void **state) {
    (void)state;
#define UNARY(name) \
    for (double x = 0.125; x < 3; x += 0.125) { \
        assert_true(fabs(krf_##name(x) - name(x)) <= 4e-16 * (1 + fabs(name(x)))); \
        assert_true(fabsf(krf_##name##f((float)x) - name##f((float)x)) <= 4e-7f * (1 + fabsf(name##f((float)x)))); \
    }
#define BINARY(name) \
    for (double x = 0.125; x < 3; x += 0.125) { \
        assert_true(fabs(krf_##name(x, 1.5) - name(x, 1.5)) <= 4e-16 * (1 + fabs(name(x, 1.5)))); \
        assert_true(fabsf(krf_##name##f((float)x, 2.0f) - name##f((float)x, 2.0f)) <= 4e-6f); \
    }
    UNARY(fabs)
    UNARY(sqrt)
    UNARY(floor)
    UNARY(ceil)
    UNARY(rint)
    UNARY(exp)
    UNARY(expm1)
    UNARY(log)
    UNARY(log1p)
    UNARY(sin)
    UNARY(cos)
    UNARY(tanh)
    BINARY(pow)
    BINARY(atan2)
    BINARY(hypot)
    assert_true(fabs(krf_tan(1) - tan(1)) < 1e-15 && fabsf(krf_tanf(1) - tanf(1)) < 1e-6f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_floats),    cmocka_unit_test(test_division_cases),
        cmocka_unit_test(test_casts),    cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests_name("prelude", tests, NULL, NULL);
}
