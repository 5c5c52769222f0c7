// The exact values of the real functions of one and two variables, by MPFR: what the tests and the measurement of
// accuracy compare with. Results have REF_BITS bits, rounded a few times.
#ifndef KRF_TESTS_MATH_EXACT_H
#define KRF_TESTS_MATH_EXACT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <mpfr.h>

enum { REF_BITS = 160, WORK_BITS = 300 };

typedef void exact_function(mpfr_t r, const mpfr_t a, const mpfr_t b);

// Numbers to work with, of WORK_BITS; one thread.
static mpfr_t exact_work[6];

static inline void exact_open(void) {
    for (int i = 0; i < 6; i++) {
        mpfr_init2(exact_work[i], WORK_BITS);
    }
}

static inline void exact_close(void) {
    for (int i = 0; i < 6; i++) {
        mpfr_clear(exact_work[i]);
    }
    mpfr_free_cache();
}

#define EXACT1(name) \
    static inline void exact_##name(mpfr_t r, const mpfr_t a, const mpfr_t b) { \
        (void)b; \
        mpfr_##name(r, a, MPFR_RNDN); \
    }
#define EXACT2(name, call) \
    static inline void exact_##name(mpfr_t r, const mpfr_t a, const mpfr_t b) { mpfr_##call(r, a, b, MPFR_RNDN); }
EXACT1(exp)
EXACT1(expm1)
EXACT1(exp2)
EXACT1(exp10)
EXACT1(log)
EXACT1(log1p)
EXACT1(log2)
EXACT1(log10)
EXACT1(sin)
EXACT1(cos)
EXACT1(tan)
EXACT1(asin)
EXACT1(acos)
EXACT1(atan)
EXACT1(sinh)
EXACT1(cosh)
EXACT1(tanh)
EXACT1(asinh)
EXACT1(acosh)
EXACT1(atanh)
EXACT1(sqrt)
EXACT1(cbrt)
EXACT1(erf)
EXACT1(erfc)
EXACT1(gamma)
EXACT1(digamma)
EXACT1(j0)
EXACT2(power, pow)
EXACT2(atan2, atan2)
EXACT2(hypot, hypot)
#undef EXACT1
#undef EXACT2

static inline void exact_rsqrt(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    (void)b;
    mpfr_rec_sqrt(r, a, MPFR_RNDN);
    if (mpfr_zero_p(a) && mpfr_signbit(a)) { // IEEE's rSqrt
        mpfr_set_inf(r, -1);
    }
}

static inline void exact_lgamma(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    int sign;
    (void)b;
    mpfr_lgamma(r, &sign, a, MPFR_RNDN);
}

static inline void exact_j1(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    (void)b;
    mpfr_j1(r, a, MPFR_RNDN);
    if (mpfr_inf_p(a)) { // odd there too
        mpfr_set_zero(r, mpfr_signbit(a) ? -1 : 1);
    }
}

// x less its whole turns in w, then times pi in w.
static inline void exact_half_turns(mpfr_t w, const mpfr_t a) {
    mpfr_set_ui(exact_work[5], 2, MPFR_RNDN);
    mpfr_fmod(w, a, exact_work[5], MPFR_RNDN);
}

static inline void exact_sinpi(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[0], pi = exact_work[1];
    (void)b;
    exact_half_turns(w, a);
    if (mpfr_integer_p(w)) {
        mpfr_set_zero(r, mpfr_signbit(a) ? -1 : 1);
        return;
    }
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(w, w, pi, MPFR_RNDN);
    mpfr_sin(r, w, MPFR_RNDN);
}

static inline void exact_cospi(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[0], pi = exact_work[1];
    (void)b;
    exact_half_turns(w, a);
    mpfr_mul_2ui(pi, w, 1, MPFR_RNDN);
    if (mpfr_integer_p(pi) && !mpfr_integer_p(w)) {
        mpfr_set_zero(r, 1);
        return;
    }
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(w, w, pi, MPFR_RNDN);
    mpfr_cos(r, w, MPFR_RNDN);
}

static inline void exact_sinc(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[2];
    if (mpfr_zero_p(a)) {
        mpfr_set_ui(r, 1, MPFR_RNDN);
        return;
    }
    exact_sinpi(w, a, b);
    mpfr_const_pi(exact_work[3], MPFR_RNDN);
    mpfr_mul(exact_work[3], exact_work[3], a, MPFR_RNDN);
    mpfr_div(r, w, exact_work[3], MPFR_RNDN);
}

// 1 / (1 + exp(-a))
static inline void exact_sigmoid(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[0];
    (void)b;
    mpfr_neg(w, a, MPFR_RNDN);
    mpfr_exp(w, w, MPFR_RNDN);
    mpfr_add_ui(w, w, 1, MPFR_RNDN);
    mpfr_ui_div(r, 1, w, MPFR_RNDN);
}

static inline bool exact_minus_infinity(mpfr_t r, const mpfr_t a) {
    if (mpfr_inf_p(a) && mpfr_signbit(a)) {
        mpfr_set_zero(r, -1);
        return true;
    }
    return false;
}

static inline void exact_silu(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    if (!exact_minus_infinity(r, a)) {
        exact_sigmoid(exact_work[1], a, b);
        mpfr_mul(r, exact_work[1], a, MPFR_RNDN);
    }
}

static inline void exact_gelu(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[0], half = exact_work[1];
    (void)b;
    if (exact_minus_infinity(r, a)) {
        return;
    }
    mpfr_set_d(half, 0.5, MPFR_RNDN);
    mpfr_sqrt(w, half, MPFR_RNDN);
    mpfr_mul(w, w, a, MPFR_RNDN);
    mpfr_neg(w, w, MPFR_RNDN);
    mpfr_erfc(w, w, MPFR_RNDN);
    mpfr_mul(w, w, half, MPFR_RNDN);
    mpfr_mul(r, w, a, MPFR_RNDN);
}

static inline void exact_gelu_tanh(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[2], c = exact_work[3];
    if (exact_minus_infinity(r, a)) {
        return;
    }
    mpfr_set_str(c, "0.044715", 10, MPFR_RNDN);
    mpfr_mul(c, c, a, MPFR_RNDN);
    mpfr_mul(c, c, a, MPFR_RNDN);
    mpfr_add_ui(c, c, 1, MPFR_RNDN);
    mpfr_const_pi(w, MPFR_RNDN);
    mpfr_ui_div(w, 8, w, MPFR_RNDN);
    mpfr_sqrt(w, w, MPFR_RNDN);
    mpfr_mul(w, w, c, MPFR_RNDN);
    mpfr_mul(w, w, a, MPFR_RNDN);
    exact_sigmoid(exact_work[1], w, b);
    mpfr_mul(r, exact_work[1], a, MPFR_RNDN);
}

// max + log1p(exp(min - max)) in WORK_BITS
static inline void exact_logaddexp(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[0];
    bool order = mpfr_greater_p(a, b) != 0;
    if (mpfr_nan_p(a) || mpfr_nan_p(b)) {
        mpfr_set_nan(r);
        return;
    }
    if (mpfr_equal_p(a, b)) {
        mpfr_set_ui(w, 0, MPFR_RNDN);
    } else {
        mpfr_sub(w, order ? b : a, order ? a : b, MPFR_RNDN);
    }
    mpfr_exp(w, w, MPFR_RNDN);
    mpfr_log1p(w, w, MPFR_RNDN);
    mpfr_add(r, w, order ? a : b, MPFR_RNDN);
}

static inline void exact_softplus(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[0]; // of -|a|, as exp(a) leaves even MPFR's range
    (void)b;
    mpfr_abs(w, a, MPFR_RNDN);
    mpfr_neg(w, w, MPFR_RNDN);
    mpfr_exp(w, w, MPFR_RNDN);
    mpfr_log1p(w, w, MPFR_RNDN);
    if (!mpfr_signbit(a)) {
        mpfr_add(w, w, a, MPFR_RNDN);
    }
    mpfr_set(r, w, MPFR_RNDN);
}

static inline void exact_log_sigmoid(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_neg(exact_work[1], a, MPFR_RNDN);
    exact_softplus(r, exact_work[1], b);
    mpfr_neg(r, r, MPFR_RNDN);
}

static inline void exact_logit(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr w = exact_work[0], v = exact_work[1];
    (void)b;
    mpfr_ui_sub(w, 1, a, MPFR_RNDN);
    mpfr_div(v, a, w, MPFR_RNDN); // a f64 near 1/2 leaves at least 240 of the 300 bits
    mpfr_log(r, v, MPFR_RNDN);
    if (mpfr_zero_p(w)) {
        mpfr_set_inf(r, 1);
    }
}

static inline void exact_xlogy(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    if (mpfr_zero_p(a) && !mpfr_nan_p(b)) {
        mpfr_set_zero(r, 1);
        return;
    }
    mpfr_log(exact_work[0], b, MPFR_RNDN);
    mpfr_mul(r, exact_work[0], a, MPFR_RNDN);
}

// The series of (a / 2)^(2 k) / k!^2.
static inline void exact_i0(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr term = exact_work[0], sum = exact_work[1], square = exact_work[2];
    (void)b;
    if (!mpfr_number_p(a)) {
        mpfr_abs(r, a, MPFR_RNDN);
        return;
    }
    mpfr_abs(square, a, MPFR_RNDN);
    if (mpfr_cmp_ui(square, 800) > 0) { // beyond the range of f64
        mpfr_set_inf(r, 1);
        return;
    }
    mpfr_sqr(square, a, MPFR_RNDN);
    mpfr_div_2ui(square, square, 2, MPFR_RNDN);
    mpfr_set_ui(term, 1, MPFR_RNDN);
    mpfr_set_ui(sum, 1, MPFR_RNDN);
    for (unsigned long k = 1; k < 3000; k++) {
        mpfr_mul(term, term, square, MPFR_RNDN);
        mpfr_div_ui(term, term, k * k, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        if (mpfr_zero_p(term) || mpfr_get_exp(term) < mpfr_get_exp(sum) - WORK_BITS) {
            break;
        }
    }
    mpfr_set(r, sum, MPFR_RNDN);
}

// Newton's steps for erf(y) = a, from a start that has the right size near 0 and near 1.
static inline void exact_erfinv(mpfr_t r, const mpfr_t a, const mpfr_t b) {
    mpfr_ptr y = exact_work[0], f = exact_work[1], slope = exact_work[2], w = exact_work[3], one = exact_work[4];
    (void)b;
    mpfr_set_ui(one, 1, MPFR_RNDN);
    if (mpfr_nan_p(a) || mpfr_cmpabs(a, one) > 0) {
        mpfr_set_nan(r);
        return;
    }
    if (mpfr_zero_p(a) || mpfr_cmpabs(a, one) == 0) {
        mpfr_zero_p(a) ? (void)mpfr_set(r, a, MPFR_RNDN) : mpfr_set_inf(r, mpfr_signbit(a) ? -1 : 1);
        return;
    }
    // Winitzki's approximation, good to 0.002: sqrt(sqrt(u^2 - l / k) - u), u = 2 / (pi k) + l / 2, l = log(1 - a^2)
    mpfr_sqr(w, a, MPFR_RNDN);
    mpfr_neg(w, w, MPFR_RNDN);
    mpfr_log1p(w, w, MPFR_RNDN);
    double l = mpfr_get_d(w, MPFR_RNDN), k = 0.147, u = 2 / (M_PI * k) + l / 2;
    double start = fabs(l) < 1e-8 ? 0 : sqrt(sqrt(u * u - l / k) - u);
    if (start > 0) {
        mpfr_set_d(y, mpfr_signbit(a) ? -start : start, MPFR_RNDN);
    } else { // sqrt(pi) / 2 * a
        mpfr_const_pi(y, MPFR_RNDN);
        mpfr_sqrt(y, y, MPFR_RNDN);
        mpfr_div_2ui(y, y, 1, MPFR_RNDN);
        mpfr_mul(y, y, a, MPFR_RNDN);
    }
    for (int step = 0; step < 7; step++) {
        bool low = mpfr_cmpabs(y, one) < 0; // near 1 by erfc, whose digits are not lost
        if (low) {
            mpfr_erf(f, y, MPFR_RNDN);
            mpfr_sub(f, f, a, MPFR_RNDN);
        } else {
            mpfr_abs(w, y, MPFR_RNDN);
            mpfr_erfc(f, w, MPFR_RNDN);
            mpfr_abs(w, a, MPFR_RNDN);
            mpfr_ui_sub(w, 1, w, MPFR_RNDN);
            mpfr_sub(f, w, f, MPFR_RNDN);
            if (mpfr_signbit(a)) {
                mpfr_neg(f, f, MPFR_RNDN);
            }
        }
        mpfr_sqr(slope, y, MPFR_RNDN);
        mpfr_exp(slope, slope, MPFR_RNDN);
        mpfr_const_pi(w, MPFR_RNDN);
        mpfr_sqrt(w, w, MPFR_RNDN);
        mpfr_mul(f, f, slope, MPFR_RNDN);
        mpfr_mul(f, f, w, MPFR_RNDN);
        mpfr_div_2ui(f, f, 1, MPFR_RNDN);
        mpfr_sub(y, y, f, MPFR_RNDN);
        if (mpfr_zero_p(f) || mpfr_get_exp(f) < mpfr_get_exp(y) - REF_BITS) {
            break;
        }
    }
    mpfr_set(r, y, MPFR_RNDN);
}

// name, arity, where results are measured most: random arguments between lo and hi, besides those of any size.
typedef struct exact_row {
    const char *name;
    int arity;
    exact_function *exact;
    double lo, hi;
} exact_row;

#define EXACT_ROWS(ROW) \
    ROW(exp, 1, -746, 710) ROW(expm1, 1, -40, 710) ROW(exp2, 1, -1076, 1024) ROW(exp10, 1, -324, 309) \
    ROW(log, 1, 0, 3) ROW(log1p, 1, -1, 3) ROW(log2, 1, 0, 3) ROW(log10, 1, 0, 3) ROW(sqrt, 1, 0, 4) \
    ROW(rsqrt, 1, 0, 4) ROW(cbrt, 1, -8, 8) ROW(power, 2, 0, 40) ROW(hypot, 2, -4, 4) ROW(sin, 1, -100, 100) \
    ROW(cos, 1, -100, 100) ROW(tan, 1, -100, 100) ROW(sinpi, 1, -10, 10) ROW(cospi, 1, -10, 10) ROW(sinc, 1, -10, 10) \
    ROW(asin, 1, -1, 1) ROW(acos, 1, -1, 1) ROW(atan, 1, -5, 5) ROW(atan2, 2, -5, 5) ROW(sinh, 1, -20, 20) \
    ROW(cosh, 1, -20, 20) ROW(tanh, 1, -20, 20) ROW(asinh, 1, -5, 5) ROW(acosh, 1, 1, 6) ROW(atanh, 1, -1, 1) \
    ROW(erf, 1, -6, 6) ROW(erfc, 1, -6, 28) ROW(erfinv, 1, -1, 1) ROW(gamma, 1, -185, 172) ROW(lgamma, 1, -5, 20) \
    ROW(digamma, 1, -5, 20) ROW(i0, 1, -720, 720) ROW(j0, 1, -40, 40) ROW(j1, 1, -40, 40) ROW(sigmoid, 1, -746, 40) \
    ROW(log_sigmoid, 1, -40, 746) ROW(softplus, 1, -746, 40) ROW(silu, 1, -746, 40) ROW(gelu, 1, -39, 9) \
    ROW(gelu_tanh, 1, -23, 9) ROW(logaddexp, 2, -40, 40) ROW(logit, 1, 0, 1) ROW(xlogy, 2, 0, 4)

static const exact_row exact_rows[] = {
#define ROW(name, arity, lo, hi) {#name, arity, exact_##name, lo, hi},
    EXACT_ROWS(ROW)
#undef ROW
};
enum { EXACT_COUNT = sizeof exact_rows / sizeof *exact_rows };

// Near some zeros no digit of the result is safe: an oscillating function's, or where parts of known size cancel. Errors
// count in units of the last place of this there. 0 for all other functions.
static inline double exact_scale(const char *name, double x, double y) {
    if (strcmp(name, "j0") == 0 || strcmp(name, "j1") == 0) {
        return fabs(x) > 2 && !isinf(x) ? sqrt(2 / (M_PI * fabs(x))) : 0;
    }
    if (strcmp(name, "lgamma") == 0 || strcmp(name, "digamma") == 0) {
        return x < 0 && !isinf(x) ? 4 + log(fabs(x)) : 0;
    }
    return strcmp(name, "logaddexp") == 0 && x < 0 && y < 0 ? fmin(fabs(x), fabs(y)) : 0;
}

#define EXACT_WRONG 1e30 // the "error" of a wrong NaN, infinity or sign

// How far got lies from the exact value, in units of the last place of the exact one (or of scale, if that is larger) in a
// format of `digits` bits with exponents from `least` to `most`; beyond its range the next power of two stands for infinity.
static inline double exact_error(double got, mpfr_t exact, double scale, int digits, long least, long most) {
    if (mpfr_nan_p(exact) || isnan(got)) {
        return mpfr_nan_p(exact) && isnan(got) ? 0.0 : EXACT_WRONG;
    }
    if (mpfr_zero_p(exact)) {
        return got == 0 && !signbit(got) == !mpfr_signbit(exact) ? 0.0 : EXACT_WRONG;
    }
    if (!signbit(got) != !mpfr_signbit(exact) && !(scale > 0)) {
        return EXACT_WRONG;
    }
    if (mpfr_inf_p(exact) || mpfr_get_exp(exact) > most) {
        return isinf(got) ? 0.0 : mpfr_inf_p(exact) ? EXACT_WRONG : 1e9;
    }
    mpfr_ptr difference = exact_work[0];
    if (isinf(got)) {
        mpfr_set_si_2exp(difference, got < 0 ? -1 : 1, most, MPFR_RNDN);
    } else {
        mpfr_set_d(difference, got, MPFR_RNDN);
    }
    int floor = (int)least;
    if (scale > 0) {
        frexp(scale, &floor);
        floor = floor < least ? (int)least : floor;
    }
    long exponent = (long)mpfr_get_exp(exact) < floor ? floor : (long)mpfr_get_exp(exact);
    mpfr_sub(difference, difference, exact, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, digits - exponent, MPFR_RNDN);
    return fabs(mpfr_get_d(difference, MPFR_RNDU));
}

static inline double exact_error_f64(double got, mpfr_t exact, double scale) {
    return exact_error(got, exact, scale, 53, -1021, 1024);
}
static inline double exact_error_f32(double got, mpfr_t exact, double scale) {
    return exact_error(got, exact, scale, 24, -125, 128);
}

// Arguments to try: special ones first, then of any size, of moderate size, close to where functions change, and between
// lo and hi.
static const double exact_special[] = {
    0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1p-149,
    -0x1p-149, 0x1p-126, 1e300, -1e300, 0x1p127, -0x1p127, 0x1.fffffep127, 0x1.fffffffffffffp1023,
    -0x1.fffffffffffffp1023, 4, 7, 8, 10, -10, 0x1p53, 0x1p52, 0x1p54, 0x1p31, 1.5, 2.5, -1.5, 0.75, 0.25,
};
enum { EXACT_SPECIALS = sizeof exact_special / sizeof *exact_special };

static inline uint64_t exact_random(uint64_t *state) { // splitmix64
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline double exact_sample(const exact_row *row, bool narrow, uint64_t *state) {
    static const double corners[] = {0, 1, -1, 0.5, -0.5, 2, M_PI, M_PI / 2, 0.25, 0.78, -0.25, 0.4142135, 2.4142135, 0.9,
                                     1.4616, -0.36};
    const uint64_t kind = exact_random(state) % 4, bits = exact_random(state);
    const double unit = (double)(exact_random(state) >> 11) * 0x1p-53;
    double x;
    if (kind == 0 && narrow) {
        float f;
        uint32_t word = (uint32_t)bits;
        memcpy(&f, &word, sizeof f);
        return (double)f;
    }
    if (kind == 0) {
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    if (kind == 1) {
        x = ldexp((bits & 1) != 0 ? 1 + unit : -1 - unit, (int)((bits >> 1) % 34) - 26);
    } else if (kind == 2) {
        x = corners[bits % 16] + ldexp(unit - 0.5, -(int)((bits >> 4) % 50));
    } else {
        x = row->lo + (row->hi - row->lo) * unit;
    }
    return narrow ? (double)(float)x : x;
}

#endif
