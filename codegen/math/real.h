// Elementary functions on real numbers: one text for the block interpreter, for emitted C and for CUDA C.
// Branch-free scalar code which gcc and clang vectorise under strict flags (-ffp-contract=off, never fast-math):
// explicit fma, bit patterns by memcpy, rounding by a magic addend, selects. Hence the same bits for every
// compiler, vector width and position. At most 2 ULP (tests/math/test_math_ulp.c); all IEEE special values.
// The includer defines KRF_FN ("static inline" in C). A line "//@ NAME" starts the section that defines NAME;
// sections name only what earlier sections define, so a generator can emit just those that it needs.
// Polynomials: minimax by Remez exchange on the stated interval, coefficients rounded and then refined; evaluated
// in pairs (Estrin), as the length of the chain of fma bounds the speed.

//@ krf_bits_f32
KRF_FN unsigned krf_bits_f32(float x) {
    unsigned u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

//@ krf_unbits_f32
KRF_FN float krf_unbits_f32(unsigned u) {
    float x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}

//@ krf_bits_f64
KRF_FN unsigned long long krf_bits_f64(double x) {
    unsigned long long u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

//@ krf_unbits_f64
KRF_FN double krf_unbits_f64(unsigned long long u) {
    double x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}

//@ krf_expf
// exp(x) = 2^n exp(r), n = rint(x / ln 2), |r| <= 0.3473; polynomial error 2^-28.2.
// With fma the first reduction step is exact, so only the second one rounds.
KRF_FN float krf_expf(float x) {
    // Beyond the clamps the result is inf or 0 anyway; a NaN fails both comparisons and stays.
    float y = x > 89.0f ? 89.0f : x;
    int none = y < -104.0f;
    y = none ? -104.0f : y;
    float t = __builtin_fmaf(y, 0x1.715476p+0f, 0x1.8p23f); // low bits of t: n
    float n = t - 0x1.8p23f;
    float r = __builtin_fmaf(n, -0x1.62e43p-1f, y);
    r = __builtin_fmaf(n, 0x1.05c61p-29f, r);
    float r2 = r * r;
    float q = __builtin_fmaf(r, 0x1.123b48p-7f, 0x1.5558d4p-5f);
    q = __builtin_fmaf(r2, 0x1.6a2214p-10f, q);
    q = __builtin_fmaf(r2, q, __builtin_fmaf(r, 0x1.55549p-3f, 0x1.fffffcp-2f));
    q = __builtin_fmaf(r2, q, r);
    // 2^n in two factors: n = -150..128 exceeds the exponent range; only the last product can round again.
    unsigned b = krf_bits_f32(t);
    unsigned h = (b << 22) & 0xff800000u;
    float s = krf_unbits_f32(h + 0x3f800000u);
    // Times 0, as masked elements of a softmax: products too small for an f32 take processors much longer than others.
    return __builtin_fmaf(q, s, s) * krf_unbits_f32(none ? 0 : (b << 23) - h + 0x3f800000u);
}

//@ krf_exp
// As for f32, polynomial error 2^-57.6.
KRF_FN double krf_exp(double x) {
    double y = x > 710.0 ? 710.0 : x;
    int none = y < -746.0;
    y = none ? -746.0 : y;
    double t = __builtin_fma(y, 0x1.71547652b82fep+0, 0x1.8p52);
    double n = t - 0x1.8p52;
    double r = __builtin_fma(n, -0x1.62e42fefa39efp-1, y);
    r = __builtin_fma(n, -0x1.abc9e3b39803fp-56, r);
    double r2 = r * r;
    double r4 = r2 * r2;
    double a = __builtin_fma(r, 0x1.55555555554f8p-3, 0x1.000000000000ap-1);
    double b = __builtin_fma(r, 0x1.111111112817ep-7, 0x1.555555555072ap-5);
    double c = __builtin_fma(r, 0x1.a01a0128fbfdcp-13, 0x1.6c16c1846fc08p-10);
    double d = __builtin_fma(r, 0x1.71df27235aebp-19, 0x1.a019994467c31p-16);
    double e = __builtin_fma(r, 0x1.ad7e843902746p-26, 0x1.28ae345bd4cf1p-22);
    c = __builtin_fma(r4, e, __builtin_fma(r2, d, c));
    double q = __builtin_fma(r4, c, __builtin_fma(r2, b, a));
    q = __builtin_fma(r2, q, r);
    unsigned long long u = krf_bits_f64(t);
    unsigned long long h = (u << 51) & 0xfff0000000000000u;
    double s = krf_unbits_f64(h + 0x3ff0000000000000u);
    return __builtin_fma(q, s, s) * krf_unbits_f64(none ? 0 : (u << 52) - h + 0x3ff0000000000000u);
}

//@ krf_expm1f
// expm1(x) = 2^n q + (2^n - 1), q = expm1(r) = r + r^2 Q(r) on [-0.352, 0.501], error 2^-28.9.
// n = 0 is kept up to 0.5: with n = 1 just above ln2/2 the sum would double the error of q.
KRF_FN float krf_expm1f(float x) {
    float y = x > 89.0f ? 89.0f : x;
    y = y < -18.0f ? -18.0f : y;
    int small = __builtin_fabsf(y - 0.075f) < 0.425f; // -0.35 < y < 0.5; gcc vectorises no pair of comparisons here
    float t = small ? 0x1.8p23f : __builtin_fmaf(y, 0x1.715476p+0f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = __builtin_fmaf(n, -0x1.62e43p-1f, y);
    r = __builtin_fmaf(n, 0x1.05c61p-29f, r);
    float r2 = r * r;
    float a = __builtin_fmaf(r, 0x1.555562p-3f, 0.5f);
    float b = __builtin_fmaf(r, 0x1.10fceep-7f, 0x1.5554bap-5f);
    float c = __builtin_fmaf(r, 0x1.bb1bb8p-13f, 0x1.6d7926p-10f);
    float q = __builtin_fmaf(r2, __builtin_fmaf(r2, c, b), a);
    q = __builtin_fmaf(r2, q, r);
    // Half of the result, as 2^128 does not fit; halving would round a subnormal, hence q itself if small.
    float s = krf_unbits_f32((krf_bits_f32(t) << 23) + 0x3f000000u);
    float v = 2.0f * __builtin_fmaf(q, s, s - 0.5f);
    v = small ? q : v;
    return krf_unbits_f32(krf_bits_f32(v) | (krf_bits_f32(x) & 0x80000000u)); // q lost the sign of -0
}

//@ krf_expm1
// As for f32, polynomial error 2^-57.6.
KRF_FN double krf_expm1(double x) {
    double y = x > 710.0 ? 710.0 : x;
    y = y < -40.0 ? -40.0 : y;
    int small = __builtin_fabs(y - 0.075) < 0.425;
    double t = small ? 0x1.8p52 : __builtin_fma(y, 0x1.71547652b82fep+0, 0x1.8p52);
    double n = t - 0x1.8p52;
    double r = __builtin_fma(n, -0x1.62e42fefa39efp-1, y);
    r = __builtin_fma(n, -0x1.abc9e3b39803fp-56, r);
    double r2 = r * r;
    double r4 = r2 * r2;
    double a = __builtin_fma(r, 0x1.5555555555549p-3, 0x1.fffffffffffffp-2);
    double b = __builtin_fma(r, 0x1.1111111114465p-7, 0x1.5555555555adep-5);
    double c = __builtin_fma(r, 0x1.a01a0192d871cp-13, 0x1.6c16c16a4f9c5p-10);
    double d = __builtin_fma(r, 0x1.71de3bf3cc06ap-19, 0x1.a01a09247cdecp-16);
    double e = __builtin_fma(r, 0x1.aef328ace2fa2p-26, 0x1.27d6b886e43f3p-22);
    e = __builtin_fma(r2, 0x1.333a524481bd7p-29, e);
    c = __builtin_fma(r4, e, __builtin_fma(r2, d, c));
    double q = __builtin_fma(r4, c, __builtin_fma(r2, b, a));
    q = __builtin_fma(r2, q, r);
    double s = krf_unbits_f64((krf_bits_f64(t) << 52) + 0x3fe0000000000000u);
    double v = 2.0 * __builtin_fma(q, s, s - 0.5);
    v = small ? q : v;
    return krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(x) & 0x8000000000000000u));
}

//@ krf_log_sum_f32
// log(1 + f) - m ln 2 for f in [-0.25, 0.5] as f - f^2/2 + f^3 P(f), relative error 2^-27.6; m8 = 2^23 m, a whole m.
// ln 2 in one float: it is off by 0.05 ULP. The constants' signs keep f = -0 when m8 = +0.
KRF_FN float krf_log_sum_f32(float f, float m8) {
    float f2 = f * f;
    float f4 = f2 * f2;
    float a = __builtin_fmaf(f, 0x1.5555a4p-2f, -0.5f);
    float b = __builtin_fmaf(f, 0x1.99698ep-3f, -0x1.000042p-2f);
    float c = __builtin_fmaf(f, 0x1.2884bap-3f, -0x1.54ef5ep-3f);
    float d = __builtin_fmaf(f, 0x1.ac9c0ep-4f, -0x1.0d8e86p-3f);
    c = __builtin_fmaf(f4, -0x1.7144cep-5f, __builtin_fmaf(f2, d, c));
    a = __builtin_fmaf(f4, c, __builtin_fmaf(f2, b, a));
    float r = __builtin_fmaf(f2, a, f);
    return __builtin_fmaf(m8, -0x1.62e43p-24f, r);
}

//@ krf_log_sum_f64
// log(1 + f) - m ln 2 for f in [-0.25, 0.5], a whole m. With s = f / (2 + f) and z = s^2,
// log(1 + f) = f - (f^2/2 - s (f^2/2 + z P(z))), relative error 2^-62.5: f itself carries the leading digits.
// The caller passes d = 2 + f: it can have it earlier than f, and the division is the longest step.
KRF_FN double krf_log_sum_f64(double f, double d, double m) {
    double s = f / d;
    double z = s * s;
    double g = 0.5 * f * f;
    double z2 = z * z;
    double p = __builtin_fma(z, 0x1.999999999c1abp-2, 0x1.555555555554fp-1);
    double q = __builtin_fma(z, 0x1.c71c749202bc2p-3, 0x1.24924921e1843p-2);
    double u = __builtin_fma(z, 0x1.3b35d019d7ac2p-3, 0x1.745c4a5cea6b7p-3);
    double v = __builtin_fma(z, 0x1.1b87d9d7daf2ap-3, 0x1.0dca9f9a6e1a7p-3);
    p = __builtin_fma(z2 * z2, __builtin_fma(z2, v, u), __builtin_fma(z2, q, p));
    double b = __builtin_fma(-s, __builtin_fma(z, p, g), __builtin_fma(m, 0x1.abc9e3b39803fp-56, g));
    return __builtin_fma(m, -0x1.62e42fefa39efp-1, f - b);
}

//@ krf_logf
// x = 2^-m (1 + f) with 1 + f in [0.75, 1.5): the range that loses least to cancellation at m = +-1.
// Subnormal x is scaled up first.
KRF_FN float krf_logf(float x) {
    int tiny = x < 0x1p-126f;
    float y = tiny ? x * 0x1p25f : x;
    unsigned b = krf_bits_f32(y);
    unsigned m = (0x3fbfffffu - b) & 0xff800000u; // m << 23, rounded so that b + m is in the range
    float f = krf_unbits_f32(b + m) - 1.0f;
    m = tiny ? m + (25u << 23) : m;
    float r = krf_log_sum_f32(f, (float)(int)m);
    r = x <= 0x1.fffffep127f ? r : x;
    return x > 0.0f ? r : krf_unbits_f32(x == 0.0f ? 0xff800000u : 0x7fc00000u);
}

//@ krf_log
// As for f32. 64-bit integers are converted by a magic addend: AVX2 has neither the conversion nor the signed
// shift. The bias of 2048 keeps the shifted value positive; in b + w it flips the sign.
KRF_FN double krf_log(double x) {
    int tiny = x < 0x1p-1022;
    double y = tiny ? x * 0x1p54 : x;
    unsigned long long b = krf_bits_f64(y);
    unsigned long long w = 0xbff7ffffffffffffu - b; // (m + 2048) << 52 and a fraction
    double v = krf_unbits_f64(b + (w & 0xfff0000000000000u)); // -(1 + f)
    double m = krf_unbits_f64((w >> 52) | 0x4330000000000000u) - (tiny ? 0x1p52 + 1994.0 : 0x1p52 + 2048.0);
    double r = krf_log_sum_f64(-1.0 - v, 1.0 - v, m);
    r = x <= 0x1.fffffffffffffp1023 ? r : x;
    return x > 0.0 ? r : krf_unbits_f64(x == 0.0 ? 0xfff0000000000000u : 0x7ff8000000000000u);
}

//@ krf_log1pf
// m is chosen from the rounded 1 + x, but f = 2^m x + (2^m - 1) from x by one fma: no correction term is needed.
// 2^m may be subnormal, hence 2^(m+2) and a product. The subtraction of 1 - 2^m keeps x = -0.
KRF_FN float krf_log1pf(float x) {
    float u = 1.0f + x;
    unsigned m = (0x3fbfffffu - krf_bits_f32(u)) & 0xff800000u;
    float s = 0.25f * krf_unbits_f32(m + 0x40800000u);
    float f = __builtin_fmaf(x, s, -(1.0f - s));
    float r = krf_log_sum_f32(f, (float)(int)m);
    r = x <= 0x1.fffffep127f ? r : x;
    return x > -1.0f ? r : krf_unbits_f32(x == -1.0f ? 0xff800000u : 0x7fc00000u);
}

//@ krf_log1p
// As for f32, with the biased m of krf_log.
KRF_FN double krf_log1p(double x) {
    double u = 1.0 + x;
    unsigned long long w = 0xbff7ffffffffffffu - krf_bits_f64(u);
    double s = 0.25 * krf_unbits_f64((w & 0xfff0000000000000u) + 0xc010000000000000u);
    double f = __builtin_fma(x, s, -(1.0 - s));
    double m = krf_unbits_f64((w >> 52) | 0x4330000000000000u) - (0x1p52 + 2048.0);
    double r = krf_log_sum_f64(f, __builtin_fma(x, s, 1.0 + s), m);
    r = x <= 0x1.fffffffffffffp1023 ? r : x;
    return x > -1.0 ? r : krf_unbits_f64(x == -1.0 ? 0xfff0000000000000u : 0x7ff8000000000000u);
}

//@ krf_tanh
// As for f32.
KRF_FN double krf_tanh(double x) {
    double y = __builtin_fabs(x);
    y = 2.0 * (y > 22.0 ? 22.0 : y); // tanh is 1 from 19.1 on
    double t = y < 0.5 ? 0x1.8p52 : __builtin_fma(y, 0x1.71547652b82fep+0, 0x1.8p52);
    double n = t - 0x1.8p52;
    double r = __builtin_fma(n, -0x1.62e42fefa39efp-1, y);
    r = __builtin_fma(n, -0x1.abc9e3b39803fp-56, r);
    double r2 = r * r;
    double r4 = r2 * r2;
    double a = __builtin_fma(r, 0x1.5555555555549p-3, 0x1.fffffffffffffp-2);
    double b = __builtin_fma(r, 0x1.1111111114465p-7, 0x1.5555555555adep-5);
    double c = __builtin_fma(r, 0x1.a01a0192d871cp-13, 0x1.6c16c16a4f9c5p-10);
    double g = __builtin_fma(r, 0x1.71de3bf3cc06ap-19, 0x1.a01a09247cdecp-16);
    double h = __builtin_fma(r, 0x1.aef328ace2fa2p-26, 0x1.27d6b886e43f3p-22);
    h = __builtin_fma(r2, 0x1.333a524481bd7p-29, h);
    c = __builtin_fma(r4, h, __builtin_fma(r2, g, c));
    c = r2 * __builtin_fma(r4, c, __builtin_fma(r2, b, a));
    double q = r + c;
    double q_low = (r - q) + c;
    double s = krf_unbits_f64((krf_bits_f64(t) << 52) + 0x3ff0000000000000u);
    double e = __builtin_fma(s, q, s - 1.0);
    double e_low = __builtin_fma(s, q_low, __builtin_fma(s, q, (s - 1.0) - e));
    double d = e + 2.0;
    double d_low = ((2.0 - d) + e) + e_low;
    double inverse = 1.0 / d;
    double v = e * inverse;
    double rest = __builtin_fma(-v, d, e) + __builtin_fma(-v, d_low, e_low);
    v = __builtin_fma(rest, inverse, v);
    return krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(x) & 0x8000000000000000u));
}
