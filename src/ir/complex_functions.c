/* Complex arithmetic and elementary functions over pairs of real nodes. The inverse functions follow W. Kahan, "Branch Cuts for Complex Elementary
 * Functions, or Much Ado About Nothing's Sign Bit" (1987): no step cancels. */
#include "ir/complex_functions.h"

#include "ir/build_calls.h"

#include <math.h>

#define PI_2 1.5707963267948966
#define LN2 0.69314718055994531
#define INF REAL((double)INFINITY)

/* ---- arithmetic ---- */

krf__pair krf__complex_negative(krf_graph *g, krf__pair a) {
    return (krf__pair){NEGATIVE(a.re), a.im != 0 ? NEGATIVE(a.im) : 0};
}

krf__pair krf__complex_turn(krf_graph *g, krf__pair a) { return (krf__pair){NEGATIVE(IM(a)), a.re}; }
krf__pair krf__complex_turn_back(krf_graph *g, krf__pair a) { return (krf__pair){IM(a), NEGATIVE(a.re)}; }

krf__pair krf__complex_scale(krf_graph *g, krf__pair a, double by) {
    return (krf__pair){MULTIPLY(a.re, REAL(by)), a.im != 0 ? MULTIPLY(a.im, REAL(by)) : 0};
}

krf__pair krf__complex_add(krf_graph *g, krf__pair a, krf__pair b) {
    return (krf__pair){ADD(a.re, b.re), a.im != 0 && b.im != 0 ? ADD(a.im, b.im) : a.im + b.im};
}

krf__pair krf__complex_multiply(krf_graph *g, krf__pair a, krf__pair b) {
    if (a.im == 0 || b.im == 0) { /* C's product with a real number: no NaN of infinity times 0 */
        uint32_t real = a.im == 0 ? a.re : b.re, im = a.im + b.im;
        return (krf__pair){MULTIPLY(a.re, b.re), im != 0 ? MULTIPLY(im, real) : 0};
    }
    return (krf__pair){SUBTRACT(MULTIPLY(a.re, b.re), MULTIPLY(a.im, b.im)), ADD(MULTIPLY(a.re, b.im), MULTIPLY(a.im, b.re))};
}

krf__pair krf__complex_where(krf_graph *g, uint32_t condition, krf__pair a, krf__pair b) {
    bool real = a.im == 0 && b.im == 0;
    return (krf__pair){WHERE(condition, a.re, b.re), real ? 0 : WHERE(condition, IM(a), IM(b))};
}

/* x with the sign of y; of a NaN that of +0, for a NaN's sign may differ between two ways of evaluating it and must not show elsewhere. */
static uint32_t signed_as(krf_graph *g, uint32_t x, uint32_t y) { return COPYSIGN(x, WHERE(ISNAN(y), REAL(0), y)); }

/* The exponent by which a number's larger part lies in [0.5, 1); 0 for 0, infinities and NaN. */
static uint32_t exponent(krf_graph *g, krf__pair a) { return FREXP_EXPONENT(FMAX(ABS(a.re), ABS(IM(a)))); }

static krf__pair by_power_of_two(krf_graph *g, krf__pair a, uint32_t power) {
    return (krf__pair){LDEXP(a.re, power), LDEXP(IM(a), power)};
}

/* 1 / b of a number without extreme exponent: infinite for zero, zero for infinity. */
static krf__pair inverse(krf_graph *g, krf__pair b) {
    uint32_t d = ADD(MULTIPLY(b.re, b.re), MULTIPLY(b.im, b.im)), none = EQUAL(d, ZERO);
    uint32_t infinite = ISINF(FMAX(ABS(b.re), ABS(b.im)));
    uint32_t re = WHERE(none, COPYSIGN(INF, b.re), DIVIDE(b.re, d)), im = WHERE(none, b.im, DIVIDE(b.im, d));
    return (krf__pair){WHERE(infinite, signed_as(g, ZERO, b.re), re), NEGATIVE(WHERE(infinite, signed_as(g, ZERO, b.im), im))};
}

krf__pair krf__complex_divide(krf_graph *g, krf__pair a, krf__pair b, bool roomy) {
    if (b.im == 0) {
        return (krf__pair){DIVIDE(a.re, b.re), a.im != 0 ? DIVIDE(a.im, b.re) : 0};
    }
    if (roomy) {
        return krf__complex_multiply(g, a, inverse(g, b));
    }
    uint32_t of_a = exponent(g, a), of_b = exponent(g, b);
    krf__pair small = {LDEXP(a.re, NEGATIVE(of_a)), a.im != 0 ? LDEXP(a.im, NEGATIVE(of_a)) : 0};
    krf__pair y = krf__complex_multiply(g, small, inverse(g, by_power_of_two(g, b, NEGATIVE(of_b))));
    return by_power_of_two(g, y, SUBTRACT(of_a, of_b));
}

krf__pair krf__complex_sign(krf_graph *g, krf__pair a, bool roomy) {
    uint32_t zero = LOGICAL_AND(EQUAL(a.re, ZERO), EQUAL(IM(a), ZERO));
    krf__pair s = roomy ? (krf__pair){a.re, IM(a)} : by_power_of_two(g, a, NEGATIVE(exponent(g, a)));
    uint32_t size = WHERE(zero, REAL(1), HYPOT(s.re, s.im));
    return (krf__pair){DIVIDE(s.re, size), DIVIDE(s.im, size)};
}

/* ---- roots, exponentials, logarithms ---- */

static uint32_t larger_part(krf_graph *g, krf__pair a) { return MAXIMUM(ABS(a.re), ABS(IM(a))); }

krf__pair krf__complex_sqrt(krf_graph *g, krf__pair a, bool roomy) {
    uint32_t x = a.re, y = IM(a), back = 0;
    if (!roomy) { /* by powers of 4, so that the sum below neither overflows nor loses digits */
        uint32_t most = larger_part(g, a), large = GREATER(most, REAL(0x1p1000)), small = LESS(most, REAL(0x1p-900));
        uint32_t scale = WHERE(large, REAL(0x1p-8), WHERE(small, REAL(0x1p200), REAL(1)));
        back = WHERE(large, REAL(0x1p4), WHERE(small, REAL(0x1p-100), REAL(1)));
        x = MULTIPLY(x, scale);
        y = MULTIPLY(y, scale);
    }
    uint32_t t = SQRT(MULTIPLY(ADD(ABS(x), HYPOT(x, y)), REAL(0.5)));
    uint32_t u = WHERE(EQUAL(t, ZERO), y, DIVIDE(y, ADD(t, t)));
    uint32_t left = LESS(x, ZERO), endless = ISINF(y);
    uint32_t re = WHERE(left, ABS(u), t), im = WHERE(left, signed_as(g, t, y), u);
    if (back != 0) {
        re = MULTIPLY(re, back);
        im = MULTIPLY(im, back);
    }
    return (krf__pair){WHERE(endless, INF, re), WHERE(endless, y, im)};
}

/* y, or 0 where it is not finite and `instead` holds: its sine and cosine are multiplied by something that decides the product. */
static uint32_t angle_unless(krf_graph *g, uint32_t y, uint32_t instead) {
    return WHERE(LOGICAL_AND(instead, LOGICAL_NOT(ISFINITE(y))), ZERO, y);
}

/* An exponent that may be too large, and the factor by which its exponential is too small then: the sine or the cosine may bring the product
 * back into range. */
typedef struct bounded {
    uint32_t x, factor;
} bounded;

static bounded bound(krf_graph *g, uint32_t x, bool both_ways, bool roomy) {
    const double least = 700, less = 80, factor = 5.5406223843935098e34; /* exp(80) */
    if (roomy) {
        return (bounded){x, 0};
    }
    uint32_t large = GREATER(both_ways ? ABS(x) : x, REAL(least));
    uint32_t smaller = SUBTRACT(both_ways ? ABS(x) : x, REAL(less));
    return (bounded){WHERE(large, both_ways ? COPYSIGN(smaller, x) : smaller, x), WHERE(large, REAL(factor), REAL(1))};
}

static uint32_t bounded_product(krf_graph *g, uint32_t x, uint32_t y, uint32_t factor) {
    uint32_t product = MULTIPLY(x, y);
    return factor != 0 ? MULTIPLY(product, factor) : product;
}

/* The exponential but for a factor (0: 1), which is multiplied last. Sine and cosine are of one angle, which compilers reduce once: an infinite exponential times the sine of 0 is the NaN that is wanted. */
static krf__pair exp_but_for(krf_graph *g, krf__pair a, bool roomy, bool single, uint32_t *factor) {
    uint32_t x = a.re, y = IM(a), angle = angle_unless(g, y, ISINF(x));
    bounded b = bound(g, x, false, roomy);
    uint32_t e = roomy ? EXP_SINGLE(b.x) : EXP(b.x), im = MULTIPLY(e, single ? SIN_SINGLE(angle) : SIN(angle));
    *factor = b.factor;
    return (krf__pair){MULTIPLY(e, single ? COS_SINGLE(angle) : COS(angle)), WHERE(EQUAL(y, ZERO), y, im)};
}

static krf__pair times(krf_graph *g, krf__pair a, uint32_t factor) {
    return factor != 0 ? (krf__pair){MULTIPLY(a.re, factor), MULTIPLY(a.im, factor)} : a;
}

/* A c64's parts are f32's, in f64. */
krf__pair krf__complex_exp(krf_graph *g, krf__pair a, bool roomy) {
    uint32_t factor;
    krf__pair e = exp_but_for(g, a, roomy, roomy, &factor);
    return times(g, e, factor);
}

krf__pair krf__complex_expm1(krf_graph *g, krf__pair a, bool roomy) {
    uint32_t x = a.re, y = angle_unless(g, IM(a), ISINF(x)), half = SIN(MULTIPLY(y, REAL(0.5)));
    krf__pair e = krf__complex_exp(g, a, roomy);
    uint32_t re = SUBTRACT(MULTIPLY(EXPM1(x), COS(y)), MULTIPLY(REAL(2), MULTIPLY(half, half)));
    return (krf__pair){WHERE(GREATER(x, REAL(40)), e.re, re), e.im};
}

/* log of the modulus. Near 1 by log1p(|a|^2 - 1), whose terms are exact enough; `near` (0: nowhere) says where u is |a|^2 - 1 more exactly. */
static uint32_t log_modulus(krf_graph *g, krf__pair a, uint32_t near, uint32_t u, bool roomy) {
    uint32_t most = larger_part(g, a), least = MINIMUM(ABS(a.re), ABS(IM(a)));
    uint32_t around = LOGICAL_AND(GREATER_EQUAL(most, REAL(0.5)), LESS_EQUAL(most, REAL(2)));
    uint32_t square = ADD(MULTIPLY(SUBTRACT(most, ONE), ADD(most, ONE)), MULTIPLY(least, least));
    krf__pair b = {a.re, IM(a)};
    uint32_t power = 0;
    if (!roomy) { /* the larger part in [1, 2): its square neither overflows nor loses digits */
        power = SUBTRACT(exponent(g, a), ONE);
        b = by_power_of_two(g, b, NEGATIVE(power));
    }
    /* by squares, whose root would cost digits that a large power brings to light */
    uint32_t far = MULTIPLY(REAL(0.5), LOG(ADD(MULTIPLY(b.re, b.re), MULTIPLY(b.im, b.im))));
    far = power != 0 ? ADD(far, MULTIPLY(power, REAL(LN2))) : far;
    far = WHERE(ISINF(FMAX(ABS(a.re), ABS(IM(a)))), INF, far);
    if (near != 0) {
        square = WHERE(near, u, square);
        around = LOGICAL_OR(near, around);
    }
    return WHERE(around, MULTIPLY(REAL(0.5), LOG1P(square)), far);
}

krf__pair krf__complex_log(krf_graph *g, krf__pair a, bool roomy) {
    return (krf__pair){log_modulus(g, a, 0, 0, roomy), ATAN2(IM(a), a.re)};
}

krf__pair krf__complex_log1p(krf_graph *g, krf__pair a, bool roomy) {
    krf__pair more = {ADD(ONE, a.re), IM(a)};
    uint32_t u = ADD(MULTIPLY(a.re, ADD(REAL(2), a.re)), MULTIPLY(IM(a), IM(a)));
    return (krf__pair){log_modulus(g, more, LESS(larger_part(g, a), REAL(0.5)), u, roomy), ATAN2(more.im, more.re)};
}

/* A number as the sum of two: its leading bits, and those that do not fit in there. */
typedef struct sum_of_two {
    uint32_t hi, lo;
} sum_of_two;

/* x y + z w, its leading bits and the next ones: nothing that rounding takes is lost but what the low parts lose themselves (two-sum, two-product). */
static sum_of_two products(krf_graph *g, uint32_t x, sum_of_two y, uint32_t z, sum_of_two w) {
    uint32_t p = MULTIPLY(x, y.hi), q = MULTIPLY(z, w.hi), sum = ADD(p, q), t = SUBTRACT(sum, p);
    uint32_t lost = ADD(SUBTRACT(p, SUBTRACT(sum, t)), SUBTRACT(q, t));
    uint32_t low = ADD(FMA(x, y.hi, NEGATIVE(p)), FMA(z, w.hi, NEGATIVE(q)));
    low = ADD(ADD(lost, low), ADD(MULTIPLY(x, y.lo), MULTIPLY(z, w.lo)));
    uint32_t hi = ADD(sum, low), lo = ADD(SUBTRACT(sum, hi), low), counts = LOGICAL_AND(ISFINITE(hi), NOT_EQUAL(low, ZERO)); /* else a zero keeps its sign */
    return (sum_of_two){WHERE(counts, hi, sum), WHERE(counts, lo, ZERO)};
}

/* exp(b log(a)) where log(a) is known to twice as many bits: its last ones are multiplied by b, and count. What they add to the exponent, at most half a
 * unit of its last place, turns and scales the result. */
static krf__pair power_in_pairs(krf_graph *g, krf__pair a, krf__pair b) {
    krf__pair l = krf__complex_log(g, a, false);
    sum_of_two size = {l.re, LOG_REST(a.re, IM(a), l.re)}, angle = {l.im, ARC_REST(IM(a), a.re, l.im)};
    sum_of_two minus = {NEGATIVE(angle.hi), NEGATIVE(angle.lo)};
    sum_of_two re = products(g, b.re, size, IM(b), minus), im = products(g, b.re, angle, IM(b), size);
    uint32_t factor;
    krf__pair y = exp_but_for(g, (krf__pair){re.hi, im.hi}, false, false, &factor);
    uint32_t more = ADD(ONE, re.lo), c = MULTIPLY(more, COS(im.lo)), s = MULTIPLY(more, SIN(im.lo));
    uint32_t turns = LOGICAL_AND(NOT_EQUAL(s, ZERO), LOGICAL_AND(ISFINITE(y.re), ISFINITE(y.im)));
    uint32_t turned_re = SUBTRACT(MULTIPLY(y.re, c), MULTIPLY(y.im, s)), turned_im = ADD(MULTIPLY(y.im, c), MULTIPLY(y.re, s));
    /* beyond the range the turned parts say which infinities they are */
    uint32_t cosine = COS(im.hi), sine = SIN(im.hi), e = EXP(bound(g, re.hi, false, false).x);
    uint32_t beyond = LOGICAL_AND(LOGICAL_AND(NOT_EQUAL(s, ZERO), EQUAL(e, INF)), LOGICAL_AND(ISFINITE(re.hi), ISFINITE(im.hi)));
    uint32_t far_re = SUBTRACT(MULTIPLY(cosine, c), MULTIPLY(sine, s)), far_im = ADD(MULTIPLY(sine, c), MULTIPLY(cosine, s));
    uint32_t near_re = WHERE(turns, turned_re, MULTIPLY(y.re, c)), near_im = WHERE(turns, turned_im, MULTIPLY(y.im, c));
    return times(g, (krf__pair){WHERE(LOGICAL_AND(beyond, NOT_EQUAL(far_re, ZERO)), MULTIPLY(e, far_re), near_re),
                                WHERE(LOGICAL_AND(beyond, NOT_EQUAL(far_im, ZERO)), MULTIPLY(e, far_im), near_im)}, factor);
}

/* exp(b log(a)) where there is room. */
static krf__pair power_in_f64(krf_graph *g, krf__pair a, krf__pair b) {
    uint32_t none;
    return exp_but_for(g, krf__complex_multiply(g, (krf__pair){b.re, IM(b)}, krf__complex_log(g, a, true)), true, false, &none);
}

/* exp(b log(a)); 0 to the power 0 is 1, to powers with a positive real part 0. */
krf__pair krf__complex_power(krf_graph *g, krf__pair a, krf__pair b, bool roomy) {
    krf__pair y = roomy ? power_in_f64(g, a, b) : power_in_pairs(g, a, b);
    uint32_t zero = LOGICAL_AND(EQUAL(a.re, ZERO), EQUAL(IM(a), ZERO));
    uint32_t none = LOGICAL_AND(EQUAL(b.re, ZERO), EQUAL(IM(b), ZERO)), vanishes = LOGICAL_AND(zero, GREATER(b.re, ZERO));
    krf__pair special = {WHERE(vanishes, ZERO, y.re), WHERE(vanishes, ZERO, y.im)};
    return (krf__pair){WHERE(none, ONE, special.re), WHERE(none, ZERO, special.im)};
}

/* ---- hyperbolic functions; the trigonometric ones are these of i a ---- */

krf__pair krf__complex_sinh(krf_graph *g, krf__pair a, bool roomy) {
    uint32_t x = a.re, y = IM(a), decides = LOGICAL_OR(ISINF(x), EQUAL(x, ZERO));
    bounded b = bound(g, x, true, roomy);
    uint32_t re = bounded_product(g, SINH(b.x), COS(angle_unless(g, y, decides)), b.factor);
    uint32_t im = bounded_product(g, COSH(b.x), SIN(y), b.factor);
    return (krf__pair){re, WHERE(EQUAL(y, ZERO), y, im)};
}

krf__pair krf__complex_cosh(krf_graph *g, krf__pair a, bool roomy) {
    uint32_t x = a.re, y = IM(a);
    bounded b = bound(g, x, true, roomy);
    uint32_t re = bounded_product(g, COSH(b.x), COS(angle_unless(g, y, ISINF(x))), b.factor);
    uint32_t im = bounded_product(g, SINH(b.x), SIN(angle_unless(g, y, EQUAL(x, ZERO))), b.factor);
    return (krf__pair){re, WHERE(EQUAL(y, ZERO), MULTIPLY(signed_as(g, REAL(1), x), y), im)};
}

/* Kahan's formula over tan(y) and sinh(x). Beyond 300 the imaginary part is below 1e-260 of the real one: it is 0. */
krf__pair krf__complex_tanh(krf_graph *g, krf__pair a, bool roomy) {
    (void)roomy;
    const double most = 300;
    uint32_t x = a.re, y = IM(a), size = ABS(x);
    uint32_t s = SINH(COPYSIGN(MINIMUM(size, REAL(most)), x)), t = TAN(angle_unless(g, y, ISINF(x)));
    uint32_t beta = ADD(ONE, MULTIPLY(t, t)), s2 = MULTIPLY(s, s), rho = SQRT(ADD(ONE, s2)), d = ADD(ONE, MULTIPLY(beta, s2));
    uint32_t re = WHERE(EQUAL(x, ZERO), x, DIVIDE(MULTIPLY(MULTIPLY(beta, rho), s), d));
    uint32_t im = WHERE(GREATER(size, REAL(most)), MULTIPLY(t, ZERO), WHERE(EQUAL(y, ZERO), y, DIVIDE(t, d)));
    return (krf__pair){re, im};
}

/* ---- their inverses ---- */

/* Numbers so large that products of square roots may overflow are made smaller; the logarithm in the result then gets `more` back. */
typedef struct shrunk {
    krf__pair a;
    uint32_t more; /* 0: nothing */
} shrunk;

static shrunk shrink(krf_graph *g, krf__pair a, bool roomy) {
    if (roomy) {
        return (shrunk){{a.re, IM(a)}, 0};
    }
    uint32_t large = GREATER(larger_part(g, a), REAL(0x1p1000)), scale = WHERE(large, REAL(0x1p-40), REAL(1));
    return (shrunk){{MULTIPLY(a.re, scale), MULTIPLY(IM(a), scale)}, WHERE(large, REAL(40 * LN2), REAL(0))};
}

static uint32_t grown(krf_graph *g, const shrunk *s, uint32_t x) { return s->more != 0 ? ADD(x, COPYSIGN(s->more, x)) : x; }

static uint32_t endless(krf_graph *g, krf__pair a) { return LOGICAL_OR(ISINF(a.re), ISINF(IM(a))); }

krf__pair krf__complex_asinh(krf_graph *g, krf__pair a, bool roomy) {
    shrunk s = shrink(g, a, roomy);
    krf__pair p = krf__complex_sqrt(g, (krf__pair){ADD(ONE, s.a.im), NEGATIVE(s.a.re)}, roomy);
    krf__pair q = krf__complex_sqrt(g, (krf__pair){SUBTRACT(ONE, s.a.im), s.a.re}, roomy);
    uint32_t re = grown(g, &s, ASINH(SUBTRACT(MULTIPLY(p.re, q.im), MULTIPLY(p.im, q.re))));
    uint32_t im = ATAN2(s.a.im, SUBTRACT(MULTIPLY(p.re, q.re), MULTIPLY(p.im, q.im)));
    uint32_t infinite = endless(g, a);
    im = WHERE(infinite, ATAN2(IM(a), ABS(a.re)), im);
    return (krf__pair){WHERE(infinite, signed_as(g, INF, a.re), re), WHERE(EQUAL(IM(a), ZERO), IM(a), im)};
}

krf__pair krf__complex_acos(krf_graph *g, krf__pair a, bool roomy) {
    shrunk s = shrink(g, a, roomy);
    krf__pair p = krf__complex_sqrt(g, (krf__pair){SUBTRACT(ONE, s.a.re), NEGATIVE(s.a.im)}, roomy);
    krf__pair q = krf__complex_sqrt(g, (krf__pair){ADD(ONE, s.a.re), s.a.im}, roomy);
    uint32_t re = MULTIPLY(REAL(2), ATAN2(p.re, q.re));
    uint32_t im = grown(g, &s, ASINH(SUBTRACT(MULTIPLY(q.re, p.im), MULTIPLY(q.im, p.re))));
    uint32_t infinite = endless(g, a), unknown = LOGICAL_AND(EQUAL(a.re, ZERO), ISNAN(IM(a)));
    re = WHERE(infinite, ATAN2(ABS(IM(a)), a.re), WHERE(unknown, REAL(PI_2), re));
    return (krf__pair){re, WHERE(infinite, NEGATIVE(signed_as(g, INF, IM(a))), im)};
}

krf__pair krf__complex_acosh(krf_graph *g, krf__pair a, bool roomy) {
    krf__pair c = krf__complex_acos(g, a, roomy);
    return (krf__pair){ABS(c.im), signed_as(g, c.re, IM(a))};
}

krf__pair krf__complex_atanh(krf_graph *g, krf__pair a, bool roomy) {
    uint32_t x = ABS(a.re), y = IM(a), less = SUBTRACT(ONE, x), h = HYPOT(less, y);
    uint32_t re = MULTIPLY(REAL(0.25), LOG1P(MULTIPLY(REAL(4), DIVIDE(DIVIDE(x, h), h))));
    if (!roomy) { /* next to 1 the quotient overflows */
        re = WHERE(LESS(h, REAL(1e-100)), MULTIPLY(REAL(0.5), SUBTRACT(REAL(LN2), LOG(h))), re);
    }
    re = WHERE(EQUAL(a.re, ZERO), a.re, COPYSIGN(re, a.re));
    uint32_t below = SUBTRACT(MULTIPLY(less, ADD(ONE, x)), MULTIPLY(y, y));
    uint32_t im = MULTIPLY(REAL(0.5), ATAN2(y, MULTIPLY(REAL(0.5), below)));
    uint32_t infinite = endless(g, a);
    uint32_t turned = WHERE(ISNAN(y), y, COPYSIGN(REAL(PI_2), y));
    return (krf__pair){WHERE(infinite, signed_as(g, REAL(0), a.re), re), WHERE(infinite, turned, im)};
}
