/* Elementwise operations over complex operands for the oracle. Sums, differences and products are those of the parts, bit for bit; functions lie within
 * so many units in the last place of the norm of ops/complex_reference.h. A row of complex.def without one here does not compile.
 *
 * A number that is known to be real has the imaginary part +0, which no operation reads: z * x is (re * x, im * x), as in C. */
#include "ops/common.h"
#include "ops/complex_reference.h"

#include "fuzz/oracle.h"

/* What comes of it; of TRUTH a bool. */
typedef enum gives { PAIR, PART, TRUTH } gives;

/* BY_PARTS: these bits. WITHIN: near the reference. The others have rules of their own. */
typedef enum way_of { BY_PARTS, WITHIN, QUOTIENT, POWER, NEAR } way_of;

/* ROW(name, what it gives, way, whether numbers known to be real give one, how near it must be in c64 and in c128) */
#define ROWS(ROW) \
    ROW(add, PAIR, BY_PARTS, true, 0, 0) \
    ROW(subtract, PAIR, BY_PARTS, true, 0, 0) \
    ROW(multiply, PAIR, BY_PARTS, true, 0, 0) \
    ROW(divide, PAIR, QUOTIENT, true, 1.01, 8) \
    ROW(power, PAIR, POWER, false, 1.01, 8) \
    ROW(negative, PAIR, BY_PARTS, true, 0, 0) \
    ROW(conj, PAIR, BY_PARTS, true, 0, 0) \
    ROW(sign, PAIR, WITHIN, false, 1.01, 8) \
    ROW(where, PAIR, BY_PARTS, true, 0, 0) \
    ROW(real_part, PART, BY_PARTS, true, 0, 0) \
    ROW(imag_part, PART, BY_PARTS, true, 0, 0) \
    ROW(abs, PART, WITHIN, false, 4, 4) \
    ROW(angle, PART, WITHIN, false, 1.01, 8) \
    ROW(equal, TRUTH, BY_PARTS, false, 0, 0) \
    ROW(not_equal, TRUTH, BY_PARTS, false, 0, 0) \
    ROW(isnan, TRUTH, BY_PARTS, false, 0, 0) \
    ROW(isinf, TRUTH, BY_PARTS, false, 0, 0) \
    ROW(isfinite, TRUTH, BY_PARTS, false, 0, 0) \
    ROW(sqrt, PAIR, WITHIN, false, 1.01, 8) \
    ROW(exp, PAIR, WITHIN, false, 1.01, 8) \
    ROW(expm1, PAIR, WITHIN, false, 1.01, 8) \
    ROW(log, PAIR, WITHIN, false, 1.01, 8) \
    ROW(log1p, PAIR, WITHIN, false, 1.01, 8) \
    ROW(log2, PAIR, WITHIN, false, 1.01, 8) \
    ROW(log10, PAIR, WITHIN, false, 1.01, 8) \
    ROW(sin, PAIR, WITHIN, false, 1.01, 8) \
    ROW(cos, PAIR, WITHIN, false, 1.01, 8) \
    ROW(tan, PAIR, WITHIN, false, 1.01, 8) \
    ROW(asin, PAIR, WITHIN, false, 1.01, 8) \
    ROW(acos, PAIR, WITHIN, false, 1.01, 8) \
    ROW(atan, PAIR, WITHIN, false, 1.01, 8) \
    ROW(sinh, PAIR, WITHIN, false, 1.01, 8) \
    ROW(cosh, PAIR, WITHIN, false, 1.01, 8) \
    ROW(tanh, PAIR, WITHIN, false, 1.01, 8) \
    ROW(asinh, PAIR, WITHIN, false, 1.01, 8) \
    ROW(acosh, PAIR, WITHIN, false, 1.01, 8) \
    ROW(atanh, PAIR, WITHIN, false, 1.01, 8) \
    ROW(positive, PAIR, BY_PARTS, true, 0, 0) \
    ROW(square, PAIR, BY_PARTS, true, 0, 0) \
    ROW(reciprocal, PAIR, QUOTIENT, true, 1.01, 8) \
    ROW(isclose, TRUTH, NEAR, false, 0, 0) \
    ROW(lerp, PAIR, BY_PARTS, true, 0, 0)

enum {
#define ROW(name, ...) ROW_##name,
    ROWS(ROW)
#undef ROW
    N_ROWS
};

typedef struct row {
    gives gives;
    way_of way;
    bool stays_real;
    double within[2];
} row;

static const row rows[N_ROWS] = {
#define ROW(name, gives, way, real, narrow, wide) {gives, way, real, {narrow, wide}},
    ROWS(ROW)
#undef ROW
};

/* The functions that the library's table says take complex operands. */
static const struct {
    const char *name;
    int row;
} taking[] = {
#define COMPLEX(name, ...) {#name, ROW_##name},
#define COMPOSED(name) {#name, ROW_##name},
#include "ir/complex.def"
};

/* -1: it takes none. */
static int row_of(int op) {
    enum { MOST_OPS = 400, UNKNOWN = 0 };
    static int known[MOST_OPS]; /* the row + 2 */
    if (known[op] == UNKNOWN) {
        known[op] = 1;
        for (size_t i = 0; i < sizeof taking / sizeof *taking; i++) {
            known[op] = strcmp(op_name(op), taking[i].name) == 0 ? taking[i].row + 2 : known[op];
        }
    }
    return known[op] - 2;
}

bool op_takes_complex(int op) { return row_of(op) >= 0; }
bool complex_stays_real(int op) { return rows[row_of(op)].stays_real; }

krf_dtype complex_result(int op, krf_dtype compute) {
    const gives what = rows[row_of(op)].gives;
    return what == TRUTH ? KRF_BOOL : what == PART ? part_of(compute) : compute;
}

/* Of real numbers alone a quotient, and an absolute value, are exact. */
bool complex_open(int op, const bool *real) {
    const int at = row_of(op);
    return at == ROW_divide ? !real[1] : at == ROW_reciprocal || at == ROW_abs ? !real[0] : rows[at].way != BY_PARTS;
}

/* ---- by parts ---- */

typedef struct pair {
    double re, im;
    bool real;
} pair;

/* One operation on parts: on numbers of f32 a double is rounded without harm. */
static double rounded(krf_dtype part, double x) { return part == KRF_F32 ? nearest_float(x) : x; }
static double sum(krf_dtype part, double a, double b) { return rounded(part, a + b); }
static double product(krf_dtype part, double a, double b) { return rounded(part, a * b); }

static pair negative(pair a) { return (pair){-a.re, a.real ? 0 : -a.im, a.real}; }

static pair add(krf_dtype part, pair a, pair b) {
    double im = a.real ? b.im : b.real ? a.im : sum(part, a.im, b.im);
    return (pair){sum(part, a.re, b.re), im, a.real && b.real};
}

static pair multiply(krf_dtype part, pair a, pair b) {
    if (a.real || b.real) {
        double by = a.real ? a.re : b.re;
        return (pair){product(part, a.re, b.re), a.real && b.real ? 0 : product(part, a.real ? b.im : a.im, by), a.real && b.real};
    }
    double re = sum(part, product(part, a.re, b.re), -product(part, a.im, b.im));
    return (pair){re, sum(part, product(part, a.re, b.im), product(part, a.im, b.re)), false};
}

static pair by_real(krf_dtype part, pair a, double b) {
    return (pair){rounded(part, a.re / b), a.real ? 0 : rounded(part, a.im / b), a.real};
}

static pair pair_of(value v, bool real) { return (pair){v.f, v.im, real}; }

static value as_value(krf_dtype dtype, pair a) {
    return is_complex(dtype) ? (value){.dtype = dtype, .f = a.re, .im = a.real ? 0 : a.im} : (value){.dtype = dtype, .f = a.re};
}

value complex_value(int op, krf_dtype compute, const value *x, const bool *real) {
    const krf_dtype part = part_of(compute), to = complex_result(op, compute);
    const pair a = pair_of(x[0], real[0]), b = pair_of(x[1], real[1]), c = pair_of(x[2], real[2]);
    bool truth = false;
    switch (row_of(op)) {
    case ROW_add: return as_value(to, add(part, a, b));
    case ROW_subtract: return as_value(to, add(part, a, negative(b)));
    case ROW_multiply: return as_value(to, multiply(part, a, b));
    case ROW_divide: return as_value(to, by_real(part, a, b.re));
    case ROW_reciprocal: return as_value(to, by_real(part, (pair){1, 0, true}, a.re));
    case ROW_negative: return as_value(to, negative(a));
    case ROW_conj: return as_value(to, (pair){a.re, -a.im, a.real});
    case ROW_positive: return as_value(to, a);
    case ROW_square: return as_value(to, multiply(part, a, a));
    case ROW_lerp: return as_value(to, add(part, a, multiply(part, c, add(part, b, negative(a)))));
    case ROW_where: return as_value(to, x[0].i != 0 ? b : c);
    case ROW_real_part: return as_value(to, a);
    case ROW_imag_part: return as_value(to, (pair){a.im, 0, true});
    case ROW_abs: return as_value(to, (pair){fabs(a.re), 0, true});
    case ROW_equal: truth = a.re == b.re && a.im == b.im; break;
    case ROW_not_equal: truth = a.re != b.re || a.im != b.im; break;
    case ROW_isnan: truth = isnan(a.re) || isnan(a.im); break;
    case ROW_isinf: truth = isinf(a.re) || isinf(a.im); break;
    default: truth = isfinite(a.re) && isfinite(a.im); break;
    }
    return (value){.dtype = KRF_BOOL, .i = truth};
}

value complex_power_chain(krf_dtype dtype, value x, bool real, int64_t k) {
    pair r = pair_of(x, real), base = r;
    int64_t top = 1;
    if (k == 0) {
        return (value){.dtype = dtype, .f = 1};
    }
    while (2 * top <= k) {
        top *= 2;
    }
    for (int64_t bit = top / 2; bit > 0; bit /= 2) {
        r = multiply(part_of(dtype), r, r);
        r = (k & bit) != 0 ? multiply(part_of(dtype), r, base) : r;
    }
    return as_value(dtype, r);
}

/* ---- near the reference ---- */

static cx wide_complex(value v) { return make((long double)v.f, (long double)v.im); }
static bool is_zero(cx z) { return creall(z) == 0 && cimagl(z) == 0; }
static bool any_nan(cx z) { return isnan(creall(z)) || isnan(cimagl(z)); }
static bool any_infinity(cx z) { return isinf(creall(z)) || isinf(cimagl(z)); }

/* Infinity stands for all that lies beyond the last number. */
static long double apart(long double want, double got, long double end) {
    const long double beyond = got < 0 ? end + want : end - want;
    return !isinf(got) ? fabsl(want - (long double)got) : beyond > 0 ? beyond : 0;
}

/* Within so many units in the last place of the norm, signs of zeros apart. */
static bool within(cx want, value got, krf_dtype part, double bound) {
    const dtype_facts *f = facts_of(part);
    const long double end = ldexpl(1, 2 - f->lowest), least = ldexpl(1, f->lowest), norm = cabsl(want);
    const long double off = hypotl(apart(creall(want), got.f, end), apart(cimagl(want), got.im, end));
    return off <= (long double)bound * ldexpl(1, ilogbl(norm < least ? least : norm) - f->digits + 1);
}

static bool near(cx want, value got, krf_dtype part, double bound) {
    const bool re = creall(want) != 0 || got.f != 0 || (bool)signbit(creall(want)) == (bool)signbit(got.f);
    const bool im = !is_complex(got.dtype) || cimagl(want) != 0 || got.im != 0 || (bool)signbit(cimagl(want)) == (bool)signbit(got.im);
    return re && im && within(want, got, part, bound);
}

static bool special_part(long double want, double got, krf_dtype part, bool any_sign) {
    if (isnan(want) || isnan(got)) {
        return isnan(want) && isnan(got);
    }
    if (isinf(want) || want == 0) {
        return fabs(got) == (double)fabsl(want) && (any_sign || (bool)signbit(got) == (bool)signbit(want));
    }
    value g = {.dtype = part, .f = any_sign ? fabs(got) : got};
    return near(make(any_sign ? fabsl(want) : want, 0), g, part, 8);
}

/* Annex G: which sign it is stays open where the angle is none, and where NaN has one. */
static bool sign_is_open(int at, cx z) {
    const bool of_imaginary = at == ROW_exp || at == ROW_expm1 || at == ROW_sinh || at == ROW_cosh || at == ROW_tanh;
    const bool of_real = at == ROW_sin || at == ROW_cos || at == ROW_tan;
    return any_nan(z) || (of_imaginary && isinf(cimagl(z))) || (of_real && isinf(creall(z)));
}

static cx reference_of(int at, cx z) {
    switch (at) {
#define ROW(name, gives, way, ...) CASE_##way(name)
#define CASE_WITHIN(name) case ROW_##name: return ref_##name(z, 0);
#define CASE_BY_PARTS(name)
#define CASE_QUOTIENT(name)
#define CASE_POWER(name)
#define CASE_NEAR(name)
        ROWS(ROW)
#undef ROW
    default: return z;
    }
}

static bool accepts_function(int at, cx z, value got, krf_dtype part) {
    const cx want = reference_of(at, z);
    const bool finite = finite_complex(z) && !any_nan(want) && (!any_infinity(want) || !is_zero(z));
    if (finite && finite_complex(want)) {
        return (at == ROW_sign ? within : near)(want, got, part, rows[at].within[part == KRF_F64]);
    }
    const bool any_sign = sign_is_open(at, z);
    return special_part(creall(want), got.f, part, any_sign) && (!is_complex(got.dtype) || special_part(cimagl(want), got.im, part, any_sign));
}

/* By zero it is infinite unless the dividend is 0, by infinity 0; how infinite dividends are divided is not promised but for that they stay no finite
 * number. */
static bool accepts_quotient(cx z, cx w, value got, krf_dtype part) {
    const cx g = wide_complex(got);
    if (finite_complex(z) && finite_complex(w) && !is_zero(w)) {
        return within(quotient(z, w), got, part, rows[ROW_divide].within[part == KRF_F64]);
    }
    if (any_infinity(w) && finite_complex(z)) {
        return is_zero(g);
    }
    if (is_zero(w) && finite_complex(z) && !is_zero(z)) {
        return any_infinity(g);
    }
    return any_infinity(w) || !finite_complex(g);
}

/* exp(w log(z)), whose error grows with the exponent: c64's is computed in f64, and for c128 the reference has only so many bits. What infinities, NaN and powers of 0 give is not promised, but for 0 and 1. */
static bool accepts_power(cx z, cx w, value got, krf_dtype part) {
    const cx exponent = product_of_complex(w, clogl(z));
    const long double size = cabsl(exponent);
    if (is_zero(w) || (is_zero(z) && creall(w) > 0)) {
        return got.f == (is_zero(w) ? 1 : 0) && got.im == 0;
    }
    if (!finite_complex(z) || !finite_complex(w) || is_zero(z) || size > 0x1p30L) {
        return true;
    }
    const double more = 4 * (double)size * (part == KRF_F32 ? 0x1p-29 : 0x1p-10);
    const cx want = cexpl(exponent);
    if (!finite_complex(want)) {
        return !finite_complex(wide_complex(got));
    }
    return within(want, got, part, rows[ROW_power].within[part == KRF_F64] * (1 + more / 8));
}

/* abs(a - b) <= 1e-8 + 1e-5 * abs(b) of a finite b, or equal. Either will do where the absolute values' last digits decide. */
static bool accepts_close(pair a, pair b, krf_dtype part, bool got) {
    const pair difference = add(part, a, negative(b));
    const double size = round_to(part, hypotl((long double)difference.re, (long double)difference.im));
    const double most = (double)((long double)rounded(part, 1e-8) + (long double)rounded(part, 1e-5) * hypotl((long double)b.re, (long double)b.im));
    const double doubt = ldexp(most, 5 - facts_of(part)->digits);
    const bool finite = isfinite(b.re) && isfinite(b.im);
    if ((a.re == b.re && a.im == b.im) || !finite || !isfinite(size) || !isfinite(most) || fabs(size - most) > doubt) {
        return got == ((a.re == b.re && a.im == b.im) || (finite && size <= most));
    }
    return true;
}

bool complex_accepts(int op, krf_dtype compute, const value *x, const bool *real, value got) {
    const krf_dtype part = part_of(compute);
    const int at = row_of(op);
    switch (rows[at].way) {
    case QUOTIENT:
        return at == ROW_reciprocal ? accepts_quotient(1, wide_complex(x[0]), got, part)
                                    : accepts_quotient(wide_complex(x[0]), wide_complex(x[1]), got, part);
    case POWER: return accepts_power(wide_complex(x[0]), wide_complex(x[1]), got, part);
    case NEAR: return accepts_close(pair_of(x[0], real[0]), pair_of(x[1], real[1]), part, got.i != 0);
    default: return accepts_function(at, wide_complex(x[0]), got, part);
    }
}
