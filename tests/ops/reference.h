/* The references of reference.def as functions, the rules of promotion, and distances in units of the last place.
 * Shared by the tests of operations and the random graphs. */
#ifndef KRF_TESTS_OPS_REFERENCE_H
#define KRF_TESTS_OPS_REFERENCE_H

#include "ops/common.h"

#include <float.h>

/* ---- references ---- */

#define NONE 0

static inline wide power_of_two(wide n) {
    wide r = 1;
    while (n-- > 0) {
        r *= 2;
    }
    return r;
}

/* The low bits of a product: that of two u64 needs more than a wide has. */
static inline wide product(wide a, wide b) {
    __extension__ typedef unsigned __int128 bits;
    return (wide)((bits)a * (bits)b);
}

static inline wide floor_quotient(wide a, wide b) {
    wide q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/* The value in two's complement of that many bits. */
static inline int64_t wrap(wide v, int bits) {
    uint64_t low = (uint64_t)v & (UINT64_MAX >> (64 - bits)), sign = (uint64_t)1 << (bits - 1);
    return (low & sign) != 0 ? -(int64_t)(~low & (sign - 1)) - 1 : (int64_t)low;
}

/* DESIGN: an integer to a negative power is 0 except for the bases 1 and -1. */
static inline wide modular_power(wide a, wide b, int bits) {
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    }
    wide r = 1;
    for (int bit = 63; bit >= 0; bit--) {
        r = wrap(r * r, bits);
        if ((b >> bit & 1) != 0) {
            r = wrap(r * a, bits);
        }
    }
    return r;
}

/* The larger in the order ... < -0 < +0 < ...; NaN if either is. */
static inline double larger(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return (double)NAN;
    }
    if (a == 0 && b == 0) {
        return signbit(a) ? b : a;
    }
    return a < b ? b : a;
}

/* Python's float //: floor of the exact quotient; NaN for an infinite dividend; a zero has the sign of a / b; x / 0
 * where b is 0. */
static inline double floor_divide_real(double a, double b) {
    if (isnan(a) || isnan(b) || (isinf(a) && b != 0)) {
        return (double)NAN;
    }
    if (b == 0) {
        return a / b;
    }
    if (a == 0 || (isinf(b) && signbit(a) == signbit(b))) {
        return signbit(a) == signbit(b) ? 0.0 : -0.0;
    }
    if (isinf(b)) {
        return -1;
    }
    double rest = fmod(a, b);
    long double q = rintl(((long double)a - (long double)rest) / (long double)b);
    if (rest != 0 && (rest < 0) != (b < 0)) {
        q -= 1;
    }
    return q == 0 ? (signbit(a) == signbit(b) ? 0.0 : -0.0) : (double)q;
}

/* Python's float %: the sign of b, zeros too; a finite a by an infinite b of the other sign is b. */
static inline double remainder_real(double a, double b) {
    if (isnan(a) || isnan(b) || isinf(a) || b == 0) {
        return (double)NAN;
    }
    if (a == 0) {
        return copysign(0.0, b);
    }
    if (isinf(b)) {
        return signbit(a) == signbit(b) ? a : b;
    }
    double rest = fmod(a, b);
    return rest == 0 ? copysign(0.0, b) : (rest < 0) != (b < 0) ? rest + b : rest;
}

/* powl, but with our own sign at zeros and infinities: glibc's is wrong for (-inf) ** -2**63. */
static inline long double power_real(long double a, long double b) {
    if ((a == 0 || isinf(a)) && signbit(a) && !isnan(b) && !isinf(b)) {
        long double magnitude = powl(-a, b);
        return fmodl(fabsl(b), 2) == 1 ? -magnitude : magnitude;
    }
    return powl(a, b);
}

static inline double half_to_even(double a) {
    if (!(fabs(a) < 0x1p52)) {
        return a;
    }
    double below = floor(a), part = a - below;
    double r = part > 0.5 || (part == 0.5 && fmod(below, 2) != 0) ? below + 1 : below;
    return copysign(r, a);
}

/* a * 2**b, b's fraction dropped; NaN where b is. */
static inline double scaled(double a, double b, bool narrow) {
    int n = isnan(b) ? 0 : (int)fmax(-5000, fmin(5000, trunc(b)));
    return isnan(b) ? b : narrow ? (double)scalbnf((float)a, n) : scalbn(a, n);
}

static inline int exponent_of(double a) {
    int exponent = 0;
    if (!isnan(a) && !isinf(a)) {
        frexp(a, &exponent);
    }
    return exponent;
}

static inline wide magnitude(wide a) { return a < 0 ? -a : a; }

static inline wide common_divisor(wide a, wide b) { return b == 0 ? magnitude(a) : common_divisor(b, a % b); }

static inline int ones(wide a) { return a == 0 ? 0 : (int)(a % 2) + ones(a / 2); }

/* sin(pi a); at whole numbers a zero with the sign of a. */
static inline long double sine_of_half_turns(long double a) {
    long double rest = fmodl(a, 2); /* exact, as all of this up to the sine */
    if (rest == 0 || fabsl(rest) == 1) {
        return copysignl(0, a);
    }
    if (fabsl(rest) > 1) {
        rest -= copysignl(2, rest);
    }
    if (fabsl(rest) > 0.5L) {
        rest = copysignl(1, rest) - rest;
    }
    return fabsl(rest) > 0.25L ? copysignl(cosl(M_PIl * (0.5L - fabsl(rest))), rest) : sinl(M_PIl * rest);
}

/* By halving: erf and erfc grow and fall strictly. */
static inline long double inverse_erf(long double a) {
    long double low = 0, high = 7, target = fabsl(a);
    if (!(target < 1)) {
        return target == 1 ? copysignl(INFINITY, a) : (long double)NAN;
    }
    if (target < 1e-12L) {
        return a * sqrtl(M_PIl) / 2;
    }
    for (int i = 0; i < 110; i++) {
        long double middle = low + (high - low) / 2;
        bool above = target < 0.5L ? erfl(middle) > target : erfcl(middle) < 1 - target;
        *(above ? &high : &low) = middle;
    }
    return copysignl(low, a);
}

/* In the middle through erf, whose argument is exact there; in the tails by halving. */
static inline long double inverse_normal(long double p) {
    long double low = -40, high = 0, least = p > 0.5L ? 1 - p : p;
    if (!(p > 0 && p < 1)) {
        return p == 0 ? -(long double)INFINITY : p == 1 ? (long double)INFINITY : (long double)NAN;
    }
    if (least > 0.25L) {
        return sqrtl(2) * inverse_erf(2 * p - 1);
    }
    for (int i = 0; i < 90; i++) {
        long double middle = (low + high) / 2;
        *(erfcl(-middle * sqrtl(0.5L)) / 2 < least ? &low : &high) = middle;
    }
    return p > 0.5L ? -low : low;
}

/* The upper half of a product of two numbers of that many bits. */
static inline wide high_half(wide a, wide b, int bits) {
    __extension__ typedef unsigned __int128 word;
    if (bits < 64) {
        return floor_quotient(a * b, power_of_two(bits));
    }
    /* Modulo 2^128, of which a product of two u64 needs all bits. */
    word product = (word)a * (word)b;
    return (wide)(uint64_t)(product >> 64);
}

/* Philox4x32-10 as Salmon et al. write it: of words 0 to 3, products of 0 and 2, halves exchanged. Two words of block j / 2. */
static inline uint64_t philox_pair(uint64_t j, uint64_t key) {
    uint32_t word[4] = {(uint32_t)(j / 2), (uint32_t)(j / 2 >> 32), 0, 0}, keys[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t first = (uint64_t)word[0] * 0xD2511F53, second = (uint64_t)word[2] * 0xCD9E8D57;
        uint32_t next[4] = {(uint32_t)(second >> 32) ^ word[1] ^ keys[0], (uint32_t)second,
                            (uint32_t)(first >> 32) ^ word[3] ^ keys[1], (uint32_t)first};
        memcpy(word, next, sizeof word);
        keys[0] += 0x9E3779B9;
        keys[1] += 0xBB67AE85;
    }
    return word[j % 2 * 2] | (uint64_t)word[j % 2 * 2 + 1] << 32;
}

/* Up to 40 by the recurrence, from there by the asymptotic series; below 0 by reflection. */
static inline long double digamma_of(long double a) {
    if (isnan(a) || (isinf(a) && a < 0) || (a < 0 && floorl(a) == a)) {
        return (long double)NAN;
    }
    if (a == 0 || isinf(a)) {
        return a == 0 ? -1 / a : a;
    }
    if (a < 0) {
        return digamma_of(1 - a) - M_PIl * sine_of_half_turns(0.5L - fmodl(a, 1)) / sine_of_half_turns(fmodl(a, 1));
    }
    long double sum = 0;
    for (; a < 40; a++) {
        sum -= 1 / a;
    }
    long double z = 1 / (a * a);
    return sum + logl(a) - 0.5L / a - z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z * (1 / 240.0L - z / 132))));
}

/* Its series. */
static inline long double bessel_i0(long double a) {
    long double term = 1, sum = 1;
    if (!(fabsl(a) < 800)) {
        return isnan(a) ? a : (long double)INFINITY;
    }
    for (int k = 1; k < 3000 && term > sum * 1e-25L; k++) {
        term *= a * a / 4 / k / k;
        sum += term;
    }
    return sum;
}

/* CLOSE: as REAL, but gives bool. SHIFT: integers only. ORDER: floats only, gives integers. */
typedef enum rule { NUMBER, REAL, COMPARE, TEST, LOGIC, BITS, SHIFT, WHERE, ANY, CLOSE, ORDER } rule;

typedef struct reference {
    const char *name;
    rule rule;
    double ulp[2][2]; /* CPU, CUDA; f32, f64 */
    float (*f32)(float a, float b, float c);
    double (*f64)(double a, double b, double c);
    long double (*exact)(long double a, long double b, long double c);
    wide (*integer)(wide a, wide b, wide c, int bits);
    int (*boolean)(int a, int b);
} reference;

#define REAL_FUNCTION(T_, prefix, name, expression) \
    static T_ prefix##name(T_ a, T_ b, T_ c) { \
        typedef T_ T; \
        (void)a; \
        (void)b; \
        (void)c; \
        return (T)(expression); \
    }
#define REFERENCE(name, RULE, f, d, cf, cd, real, integer, boolean) \
    REAL_FUNCTION(float, narrow_, name, real) \
    REAL_FUNCTION(double, double_, name, real) \
    REAL_FUNCTION(long double, exact_, name, real) \
    static wide integer_##name(wide a, wide b, wide c, int bits) { \
        (void)a; \
        (void)b; \
        (void)c; \
        (void)bits; \
        return (integer); \
    } \
    static int boolean_##name(int a, int b) { \
        (void)a; \
        (void)b; \
        return (boolean); \
    } \
    static const reference reference_##name = { \
        #name, RULE, {{f, d}, {cf, cd}}, narrow_##name, double_##name, exact_##name, integer_##name, boolean_##name, \
    };
#include "reference.def"
#undef REFERENCE

/* The library's operations: an op of ops.def without a row in reference.def does not compile. Only name and arity are
 * taken from there. */
typedef struct op_row {
    const char *name;
    int arity;
    const reference *reference;
    krf_expr (*build)(const krf_expr *x);
} op_row;

#define NODE(name, arity)
#define CODE(name, KIND, ...)
#define CUDA(name, KIND, ...)
#define GRAD(name, ...)
#define REDUCE(name, RULE, doc)
#define COMBINE(name, KIND, identity, ...)
#define ALIAS(other, name)
#define CALL1(name) krf_##name(x[0])
#define CALL2(name) krf_##name(x[0], x[1])
#define CALL3(name) krf_##name(x[0], x[1], x[2])
#define OP(name, arity, RULE, infix, doc) \
    static krf_expr build_##name(const krf_expr *x) { return CALL##arity(name); }
#include "ir/ops.def"
#undef OP
#define OP(name, arity, RULE, infix, doc) {#name, arity, &reference_##name, build_##name},
static const op_row ops[] = {
#include "ir/ops.def"
};
#include "ir/ops_undef.h"
#define OPS ((int)(sizeof ops / sizeof *ops))

/* ---- promotion: DESIGN section 3 as a table ---- */

#define NO_DTYPE ((krf_dtype)ALL_DTYPES)

/* A complex dtype and another: as wide as its parts, c128 of f64. Else rows and columns: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64. Letters: b bool, 1 2 4 8 i8 to i64, A B C D u8 to u64, h f16,
 * g bf16, f f32, d f64, - none. */
static inline krf_dtype promote(krf_dtype a, krf_dtype b) {
    static const char letters[] = "b1248ABCDhgfd";
    static const krf_dtype dtypes[] = {KRF_BOOL, KRF_I8,  KRF_I16, KRF_I32,  KRF_I64, KRF_U8, KRF_U16,
                                       KRF_U32,  KRF_U64, KRF_F16, KRF_BF16, KRF_F32, KRF_F64};
    static const char *const table[DTYPES] = {
        [KRF_BOOL] = "b1248ABCDhgfd", [KRF_I8] = "11248248-hgfd",  [KRF_I16] = "22248248-hgfd",  [KRF_I32] = "44448448-hgfd",
        [KRF_I64] = "88888888-hgfd",  [KRF_U8] = "A2248ABCDhgfd",  [KRF_U16] = "B4448BBCDhgfd",  [KRF_U32] = "C8888CCCDhgfd",
        [KRF_U64] = "D----DDDDhgfd",  [KRF_F16] = "hhhhhhhhhhffd", [KRF_BF16] = "gggggggggfgfd", [KRF_F32] = "ffffffffffffd",
        [KRF_F64] = "ddddddddddddd",
    };
    if (a == NO_DTYPE || b == NO_DTYPE) {
        return NO_DTYPE;
    }
    if (is_complex(a) || is_complex(b)) {
        return a == KRF_C128 || b == KRF_C128 || a == KRF_F64 || b == KRF_F64 ? KRF_C128 : KRF_C64;
    }
    const char *column = letters, *at;
    while (dtypes[column - letters] != b) {
        column++;
    }
    at = strchr(letters, table[a][column - letters]);
    return at != NULL ? dtypes[at - letters] : NO_DTYPE;
}

static inline krf_dtype with_weak_int(krf_dtype a) { return a == KRF_BOOL ? KRF_I64 : a; }
static inline krf_dtype with_weak_real(krf_dtype a) {
    return a == NO_DTYPE || is_real(a) || is_complex(a) ? a : bytes_of(a) <= 2 ? KRF_F32 : KRF_F64;
}
static inline krf_dtype float_of(krf_dtype a) { return with_weak_real(a); }
static inline krf_dtype with_weak_complex(krf_dtype a) {
    return a == NO_DTYPE || is_complex(a) ? a : float_of(a) == KRF_F64 ? KRF_C128 : KRF_C64;
}

/* The neighbour of an f16 or bf16 in the direction of another number, by their bits. */
static inline double half_neighbour(krf_dtype dtype, double a, double b) {
    if (isnan(a) || isnan(b) || a == b) {
        return isnan(a) ? a : b;
    }
    if (a == 0) {
        return copysign(half_number(dtype, 1), b);
    }
    unsigned bits = half_bits(dtype, a);
    return half_number(dtype, (a < b) == (a > 0) ? bits + 1 : bits - 1);
}

/* Where a float stands among all of its dtype, 0 at zero, from its digits: the first below zero is -2, for -0 would have been -1. */
static inline value key_of(krf_dtype compute, double a) {
    const bool wide_ = compute == KRF_F64;
    const int digits = wide_ ? 52 : 23, least = wide_ ? -1022 : -126;
    int exponent;
    const double mantissa = frexp(fabs(a), &exponent);
    int64_t n = wide_ ? INT64_MAX : INT32_MAX;
    if (isnan(a)) {
        return (value){.dtype = wide_ ? KRF_I64 : KRF_I32, .i = n};
    }
    if (isinf(a)) {
        n = (int64_t)(wide_ ? 2047 : 255) << digits;
    } else if (exponent - 1 < least) {
        n = (int64_t)ldexp(fabs(a), digits - least);
    } else {
        n = ((int64_t)(exponent - 1 - least) << digits) + (int64_t)ldexp(mantissa, digits + 1);
    }
    return (value){.dtype = wide_ ? KRF_I64 : KRF_I32, .i = a < 0 ? -1 - n : a == 0 ? 0 : n};
}

/* A float operation that is rounded exactly: f16 and bf16 compute in f32, which is precise enough that rounding again is innocuous;
 * but for what depends on the dtype itself. */
static inline value exact_value(const reference *f, krf_dtype compute, value a, value b, value c) {
    if (f->rule == ORDER) {
        return key_of(compute, a.f);
    }
    value r = {.dtype = KRF_F64, .f = compute == KRF_F64 ? f->f64(a.f, b.f, c.f) : (double)f->f32((float)a.f, (float)b.f, (float)c.f)};
    if (is_half(compute) && strcmp(f->name, "nextafter") == 0) {
        r.f = half_neighbour(compute, a.f, b.f);
    } else if (is_half(compute) && strcmp(f->name, "nan_to_num") == 0 && isinf(a.f)) {
        r.f = half_neighbour(compute, a.f, 0);
    }
    return convert(r, compute);
}

/* How far a function may be from the exact result, in units of the last place. f16 and bf16 round a good f32. CUDA's bounds count from
 * the rounded result. */
static inline double ulp_bound(const reference *f, krf_dtype compute, bool cuda) {
    return is_half(compute) ? 0.51 : f->ulp[cuda][compute == KRF_F64] + (cuda ? 0.5 : 0);
}

/* Near some functions' zeros no digit of the result is safe: there errors count in units of the last place of what is
 * given here, the amplitude of an oscillating function or the size of what cancels. 0 for all others. */
static inline long double amplitude(const char *name, krf_dtype dtype, long double x, long double y, bool on_cuda) {
    if (strcmp(name, "j0") == 0 || strcmp(name, "j1") == 0) {
        /* Beyond 8 CUDA publishes absolute errors: 2.2e-6 in f32 and 5e-12 in f64, here as multiples of its bounds below 8. */
        const long double published = dtype == KRF_F64 ? 3200 : 4;
        return on_cuda && fabsl(x) > 8 ? published : fabsl(x) > 2 ? sqrtl(2 / (M_PIl * fabsl(x))) : 0;
    }
    if (strcmp(name, "digamma") == 0 || strcmp(name, "lgamma") == 0) {
        const bool root = fabsl(x - 1.4616321449683623L) < 0.01L; /* of digamma */
        return x < 0 ? 4 + logl(fabsl(x)) : root && *name == 'd' ? 1e-2L : 0; /* where the reference's terms cancel too */
    }
    return strcmp(name, "logaddexp") == 0 && x < 0 && y < 0 ? fminl(fabsl(x), fabsl(y)) : 0;
}

/* How far a float lies from the exact value, in units of the last place there, or of the last place of `scale` where
 * that is larger. A wrong sign of zero and a wrong kind are infinitely far. */
static inline double ulp_distance(value got, long double want, long double scale) {
    const dtype_facts *f = facts_of(got.dtype);
    const long double end = ldexpl(1, 2 - f->lowest);
    if (isnan(want) || isnan(got.f)) {
        return isnan(want) && isnan(got.f) ? 0 : (double)INFINITY;
    }
    if ((bool)signbit(got.f) != (bool)signbit(want) && fabsl(want) >= scale / 2) {
        return (double)INFINITY;
    }
    if (isinf(want)) {
        return isinf(got.f) ? 0 : (double)INFINITY;
    }
    long double w = fabsl(want) > end ? end : fabsl(want), g = isinf(got.f) ? end : fabsl((long double)got.f);
    if ((bool)signbit(got.f) != (bool)signbit(want)) {
        g = -g;
    }
    long double unit = w > scale ? w : scale;
    int exponent = unit == 0 ? -20000 : ilogbl(unit >= end ? end / 2 : unit);
    exponent = exponent < f->lowest ? f->lowest : exponent;
    return (double)(fabsl(g - w) / ldexpl(1, exponent - f->digits + 1));
}

#endif
