/* Complex functions by the C library in long double, for results that lie within so many units in the last place of the norm. Shared by the tests
 * of functions and the random graphs. */
#ifndef KRF_TESTS_OPS_COMPLEX_REFERENCE_H
#define KRF_TESTS_OPS_COMPLEX_REFERENCE_H

#include <complex.h>
#include <math.h>
#undef I /* a name that tests want for themselves */

typedef long double complex cx;
typedef cx complex_reference(cx z, cx w);

/* CMPLXL is not in every <complex.h>; re + im * I loses signs of zeros and infinities. */
static inline cx make(long double re, long double im) {
    const union {
        long double parts[2];
        cx whole;
    } z = {{re, im}};
    return z.whole;
}

static inline bool finite_complex(cx z) { return isfinite(creall(z)) && isfinite(cimagl(z)); }

/* Compilers differ in what they make of z / w; long double has room for the square of a double. */
static inline cx quotient(cx z, cx w) {
    long double a = creall(z), b = cimagl(z), c = creall(w), d = cimagl(w), norm = c * c + d * d;
    return finite_complex(z) && finite_complex(w) && norm > 0 ? make((a * c + b * d) / norm, (b * c - a * d) / norm) : z / w;
}

/* Small numbers have their own digits beside the 1, large ones need none of it. */
static inline cx log1p_of(cx z) {
    long double x = creall(z), y = cimagl(z);
    cx far = clogl(make(1 + x, y));
    return hypotl(x, y) < 0.5L ? make(log1pl(x * (2 + x) + y * y) / 2, cimagl(far)) : far;
}

static inline cx expm1_of(cx z) {
    long double x = creall(z), y = cimagl(z);
    cx e = cexpl(z);
    return finite_complex(z) && x < 1 ? make(expm1l(x) * cosl(y) - 2 * sinl(y / 2) * sinl(y / 2), cimagl(e)) : make(creall(e) - 1, cimagl(e));
}

static inline cx sign_of(cx z) { return z == 0 ? 0 : make(creall(z) / cabsl(z), cimagl(z) / cabsl(z)); }
static inline cx scaled_log(cx z, long double by) { return make(creall(clogl(z)) * by, cimagl(clogl(z)) * by); }
static inline cx product_of_complex(cx z, cx w) {
    return make(creall(z) * creall(w) - cimagl(z) * cimagl(w), creall(z) * cimagl(w) + cimagl(z) * creall(w));
}

/* COMPLEX_REFERENCE(name, expression over z and w) */
#define COMPLEX_REFERENCES(COMPLEX_REFERENCE) \
    COMPLEX_REFERENCE(negative, -z) \
    COMPLEX_REFERENCE(conj, conjl(z)) \
    COMPLEX_REFERENCE(square, z *z) \
    COMPLEX_REFERENCE(reciprocal, quotient(1, z)) \
    COMPLEX_REFERENCE(sign, sign_of(z)) \
    COMPLEX_REFERENCE(abs, cabsl(z)) \
    COMPLEX_REFERENCE(angle, cargl(z)) \
    COMPLEX_REFERENCE(sqrt, csqrtl(z)) \
    COMPLEX_REFERENCE(exp, cexpl(z)) \
    COMPLEX_REFERENCE(expm1, expm1_of(z)) \
    COMPLEX_REFERENCE(log, clogl(z)) \
    COMPLEX_REFERENCE(log2, scaled_log(z, 1.44269504088896340735992468100189214L)) \
    COMPLEX_REFERENCE(log10, scaled_log(z, 0.434294481903251827651128918916605082L)) \
    COMPLEX_REFERENCE(log1p, log1p_of(z)) \
    COMPLEX_REFERENCE(sin, csinl(z)) \
    COMPLEX_REFERENCE(cos, ccosl(z)) \
    COMPLEX_REFERENCE(tan, ctanl(z)) \
    COMPLEX_REFERENCE(asin, casinl(z)) \
    COMPLEX_REFERENCE(acos, cacosl(z)) \
    COMPLEX_REFERENCE(atan, catanl(z)) \
    COMPLEX_REFERENCE(sinh, csinhl(z)) \
    COMPLEX_REFERENCE(cosh, ccoshl(z)) \
    COMPLEX_REFERENCE(tanh, ctanhl(z)) \
    COMPLEX_REFERENCE(asinh, casinhl(z)) \
    COMPLEX_REFERENCE(acosh, cacoshl(z)) \
    COMPLEX_REFERENCE(atanh, catanhl(z)) \
    COMPLEX_REFERENCE(add, z + w) \
    COMPLEX_REFERENCE(subtract, z - w) \
    COMPLEX_REFERENCE(multiply, product_of_complex(z, w)) \
    COMPLEX_REFERENCE(divide, quotient(z, w)) \
    COMPLEX_REFERENCE(power, cpowl(z, w))

#define COMPLEX_FUNCTION(name, expression) \
    static inline cx ref_##name(cx z, cx w) { \
        (void)w; \
        return expression; \
    }
COMPLEX_REFERENCES(COMPLEX_FUNCTION)
#undef COMPLEX_FUNCTION

#endif
