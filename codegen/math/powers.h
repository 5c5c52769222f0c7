// Powers of f32 in f32 alone: within 1.9 ULP, or 2.1 by a reciprocal that is a unit off; 1.1 where the result lies between 2^-20 and 2^20. The same text for C and CUDA. Sections as in prelude.h.

//@ krf_log2_parts
// log2(a) = n + log2((1 + s) / (1 - s)) / 2^23 for a positive and normal: a is 2^(n / 2^23) g with g between sqrt(1/2) and sqrt(2), and s = (g - 1) / (g + 1), of which lost is what the quotient lost.
typedef struct krf_log2_parts {
    float n, s, lost;
} krf_log2_parts;
KRF_FN krf_log2_parts krf_log2_partsf(float a) {
    unsigned b = krf_bits_f32(a), m = (b - 0x3f3504f3u) & 0xff800000u;
    float g = krf_unbits_f32(b - m), f = g - 1.0f, inverse = krf_rcpf(g + 1.0f);
    krf_log2_parts l;
    l.n = (float)(int)m;
    l.s = f * inverse;
    l.lost = __builtin_fmaf(-l.s, f, __builtin_fmaf(-2.0f, l.s, f)) * inverse;
    return l;
}

//@ krf_log2_sumf
// 2^23 (log2(a) + whole), as a sum of two: n + s (K + W(s * s)), K such that W is least, polynomial error 2^-33. What the quotient lost counts for more the farther s is from 0; what the sum with s K loses
// is known; W takes its largest term exactly. Powers of 2 have whole logarithms.
typedef struct krf_log2_sum {
    float much, rest;
} krf_log2_sum;
KRF_FN krf_log2_sum krf_log2_sumf(float a, float whole) {
    krf_log2_parts p = krf_log2_partsf(a);
    float n = p.n + whole, s = p.s, z = s * s;
    float w = __builtin_fmaf(z, 0x1.55ccaep+21f, 0x1.a5e172p+21f);
    w = __builtin_fmaf(z, w, 0x1.2776f8p+22f);
    w = __builtin_fmaf(z, w, -0x1.38f62p+18f);
    w = __builtin_fmaf(z, 0x1p+23f, __builtin_fmaf(z, w, -0x1.d83daep+16f));
    float much = __builtin_fmaf(s, 0x1.732cb4p+24f, n), rest = __builtin_fmaf(s, w, __builtin_fmaf(s, 0x1.732cb4p+24f, n - much));
    rest = __builtin_fmaf(p.lost, __builtin_fmaf(z, 0x1.715476p+24f, 0x1.715476p+24f), rest);
    krf_log2_sum l;
    l.much = much + rest;
    l.rest = rest - (l.much - much);
    return l;
}

//@ krf_log2_nearf
// The same with fewer steps, where not more than 16 times it is wanted: polynomial error 2^-30.3, and a rest of up to 2^-8.7.
KRF_FN krf_log2_sum krf_log2_nearf(float a) {
    krf_log2_parts p = krf_log2_partsf(a);
    float s = p.s, z = s * s;
    float w = __builtin_fmaf(z, 0x1.ba1baep+21f, 0x1.27471ep+22f);
    w = __builtin_fmaf(z, w, 0x1.ec70e6p+22f);
    w = __builtin_fmaf(z, w, -0x1.d83db2p+16f);
    krf_log2_sum l;
    l.much = __builtin_fmaf(s, 0x1.732cb4p+24f, p.n);
    l.rest = __builtin_fmaf(p.lost, 0x1.77p+24f, __builtin_fmaf(s, w, __builtin_fmaf(s, 0x1.732cb4p+24f, p.n - l.much)));
    return l;
}

//@ krf_pow_partsf
// 2^(y l / 2^23) = q 2^n, n the low bits of t: the exponent's fraction is exact but for two roundings; polynomial error 2^-28.3.
typedef struct krf_pow_parts {
    float log, n, t, q;
} krf_pow_parts;
KRF_FN krf_pow_parts krf_pow_partsf(krf_log2_sum l, float y) {
    krf_pow_parts p;
    float z = y * 0x1p-23f;
    p.log = l.much;
    p.t = __builtin_fmaf(z, l.much, 0x1.8p23f);
    p.n = p.t - 0x1.8p23f;
    float r = __builtin_fmaf(z, l.rest, __builtin_fmaf(z, l.much, -p.n));
    float q = __builtin_fmaf(r, 0x1.4176c8p-13f, 0x1.5f0966p-10f);
    q = __builtin_fmaf(r, q, 0x1.3b2dd6p-7f);
    q = __builtin_fmaf(r, q, 0x1.c6af7ap-5f);
    q = __builtin_fmaf(r, q, 0x1.ebfbdcp-3f);
    q = __builtin_fmaf(r, q, 0x1.62e43p-1f);
    p.q = __builtin_fmaf(r, q, 1.0f);
    return p;
}

//@ krf_pow_endsf
// The power, with the special cases of IEEE's pow as selects, from the parts of abs(x)^y; of 0, of any.
KRF_FN float krf_pow_endsf(float x, float y, krf_pow_parts p) {
    float a = __builtin_fabsf(x), infinite = krf_unbits_f32(0x7f800000u);
    float log = a == 0.0f ? -infinite : a == infinite ? infinite : p.log, e = y * log;
    unsigned bits = krf_bits_f32(p.t), h = (bits << 22) & 0xff800000u; // in two factors, as the exponential
    float v = p.q * krf_unbits_f32(h + 0x3f800000u) * krf_unbits_f32((bits << 23) - h + 0x3f800000u);
    v = e > 0x1.02p+30f ? infinite : v;
    v = e < -0x1.2ep+30f ? 0.0f : v;
    v = e == e ? v : 1.0f; // 1 to an infinite power
    float half = 0.5f * y;
    int whole = __builtin_rintf(y) == y;
    int odd = whole & (__builtin_rintf(half) != half);
    v = ((x < 0.0f) & (a != infinite) & !whole) ? krf_unbits_f32(0x7fc00000u) : v;
    unsigned sign = krf_bits_f32(x) & 0x80000000u;
    v = krf_unbits_f32(krf_bits_f32(v) ^ (sign & (0 - (unsigned)odd))); // no choice, as in f64
    v = ((x != x) | (y != y)) ? x + y : v;
    return ((x == 1.0f) | (y == 0.0f)) ? 1.0f : v;
}

//@ krf_pow_scaledf
// Of all that are positive and finite.
KRF_FN krf_pow_parts krf_pow_scaledf(float a, float y) {
    int tiny = a < 0x1p-126f;
    return krf_pow_partsf(krf_log2_sumf(tiny ? a * 0x1p24f : a, tiny ? -0x18p23f : 0.0f), y);
}

//@ krf_pow_throughf
// Whether p, made of the bits of any x, are the parts of a result that is positive and normal and not near the ends of such: bits of x that is none make a logarithm of 126 or more in magnitude. With a literal y one comparison is left.
KRF_FN int krf_pow_throughf(float y, krf_pow_parts p) {
    int less = __builtin_fabsf(y) < 1.0f;
    return (!less | (__builtin_fabsf(p.log) <= 0x1.f4p+29f)) & (less | (__builtin_fabsf(p.n) <= 125.0f));
}

//@ krf_pow_joinedf
KRF_FN float krf_pow_joinedf(krf_pow_parts p) { return krf_unbits_f32(krf_bits_f32(p.q) + (krf_bits_f32(p.t) << 23)); }

//@ krf_powf
// On a GPU few go on from where powers of 0 need no logarithm.
KRF_FN float krf_powf(float x, float y) {
#if defined(__CUDA_ARCH__) || defined(KRF_RCP)
    krf_pow_parts p = krf_pow_partsf(krf_log2_sumf(x, 0.0f), y);
    if (krf_pow_throughf(y, p)) {
        return krf_pow_joinedf(p);
    }
    return krf_pow_endsf(x, y, x == 0.0f ? p : krf_pow_scaledf(__builtin_fabsf(x), y));
#else
    return krf_pow_endsf(x, y, krf_pow_scaledf(__builtin_fabsf(x), y));
#endif
}

//@ krf_pow_near_f32
// With abs(y) <= 16: of literal exponents, on a GPU. Within 1.4 ULP.
KRF_FN float krf_pow_near_f32(float x, float y) {
    krf_pow_parts p = krf_pow_partsf(krf_log2_nearf(x), y);
    if (krf_pow_throughf(y, p)) {
        return krf_pow_joinedf(p);
    }
    return krf_pow_endsf(x, y, x == 0.0f ? p : krf_pow_scaledf(__builtin_fabsf(x), y));
}
