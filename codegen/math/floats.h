// f32 functions in f32 alone, as exp and log of real.h: within 2.9 ULP (docs/accuracy.md), in four fifths to a third of the time that f64 and one rounding take (single.h). Sections as in prelude.h.

//@ krf_rcpf
// 1 / y, KRF_RCP by tests: on a GPU to one unit of the last place, without what a quotient needs for small and large divisors (below 2^-126 and above 2^126 in absolute value: infinity and 0).
KRF_FN float krf_rcpf(float y) {
#ifdef KRF_RCP
    return KRF_RCP(y);
#elif defined(__CUDA_ARCH__)
    float x;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(y));
    return x;
#else
    return 1.0f / y;
#endif
}

//@ krf_exp_nearf
// exp(r) - 1 for abs(r) <= 0.3473, as krf_expf.
KRF_FN float krf_exp_nearf(float r) {
    float r2 = r * r;
    float q = __builtin_fmaf(r, 0x1.123b48p-7f, 0x1.5558d4p-5f);
    q = __builtin_fmaf(r2, 0x1.6a2214p-10f, q);
    q = __builtin_fmaf(r2, q, __builtin_fmaf(r, 0x1.55549p-3f, 0x1.fffffcp-2f));
    return __builtin_fmaf(r2, q, r);
}

//@ krf_exp2f
// 2^x = 2^n 2^r, n = rint(x), r exact, abs(r) <= 1/2; polynomial error 2^-29. Powers of whole numbers are exact.
KRF_FN float krf_exp2f(float x) {
    float y = x > 129.0f ? 129.0f : x;
    int none = y < -151.0f;
    y = none ? -151.0f : y;
    float t = y + 0x1.8p23f; // low bits: n
    float r = y - (t - 0x1.8p23f);
    float r2 = r * r;
    float a = __builtin_fmaf(r, 0x1.c6b08ep-5f, 0x1.ebfbep-3f);
    float b = __builtin_fmaf(r, 0x1.5d879ep-10f, 0x1.3b2a1cp-7f);
    float c = __builtin_fmaf(r, 0x1.00a582p-16f, 0x1.444p-13f);
    float q = __builtin_fmaf(r, 0x1.62e43p-1f, r2 * __builtin_fmaf(r2, __builtin_fmaf(r2, c, b), a));
    unsigned bits = krf_bits_f32(t);
    unsigned h = (bits << 22) & 0xff800000u; // in two factors, as krf_expf
    float s = krf_unbits_f32(h + 0x3f800000u);
    return __builtin_fmaf(q, s, s) * krf_unbits_f32(none ? 0 : (bits << 23) - h + 0x3f800000u);
}

//@ krf_log2f
// As krf_logf, but 1 + f lies between sqrt(1/2) and sqrt(2), where less is lost at n = -1: n + f / ln 2 + f^2 P(f), polynomial error 2^-27.5. Powers of 2 have whole logarithms.
KRF_FN float krf_log2f(float x) {
    int tiny = x < 0x1p-126f;
    unsigned b = krf_bits_f32(tiny ? x * 0x1p25f : x);
    unsigned m = (0x3fb504f2u - b) & 0xff800000u;
    float f = krf_unbits_f32(b + m) - 1.0f;
    float n = (float)(int)(tiny ? m + (25u << 23) : m) * -0x1p-23f;
    float f2 = f * f, f4 = f2 * f2;
    float p0 = __builtin_fmaf(f, 0x1.ec7086p-2f, -0x1.715472p-1f);
    float p1 = __builtin_fmaf(f, 0x1.2781d8p-2f, -0x1.7159c6p-2f);
    float p2 = __builtin_fmaf(f, 0x1.a28d72p-3f, -0x1.eadce2p-3f);
    float p3 = __builtin_fmaf(f, 0x1.7fb76ep-3f, -0x1.85e6eap-3f);
    p2 = __builtin_fmaf(f4, -0x1.ceaa28p-4f, __builtin_fmaf(f2, p3, p2));
    p0 = __builtin_fmaf(f4, p2, __builtin_fmaf(f2, p1, p0));
    float v = n + __builtin_fmaf(f, 0x1.715476p+0f, __builtin_fmaf(f2, p0, f * 0x1.4ae0cp-26f));
    v = x <= 0x1.fffffep127f ? v : x;
    return x > 0.0f ? v : krf_unbits_f32(x == 0.0f ? 0xff800000u : 0x7fc00000u);
}

//@ krf_log10f
// As krf_log2f: n log10(2), its first part exact, + f / ln 10 + f^2 P(f), polynomial error 2^-27.8. The powers of 10 that an f32 holds have whole logarithms.
KRF_FN float krf_log10f(float x) {
    int tiny = x < 0x1p-126f;
    unsigned b = krf_bits_f32(tiny ? x * 0x1p25f : x);
    unsigned m = (0x3fb504f2u - b) & 0xff800000u;
    float f = krf_unbits_f32(b + m) - 1.0f;
    float n = (float)(int)(tiny ? m + (25u << 23) : m) * -0x1p-23f;
    float f2 = f * f, f4 = f2 * f2;
    float p0 = __builtin_fmaf(f, 0x1.287a7p-3f, -0x1.bcb7aap-3f);
    float p1 = __builtin_fmaf(f, 0x1.63d074p-4f, -0x1.bcbf46p-4f);
    float p2 = __builtin_fmaf(f, 0x1.f84e48p-5f, -0x1.276ca4p-4f);
    float p3 = __builtin_fmaf(f, 0x1.ccdp-5f, -0x1.d75e5cp-5f);
    p2 = __builtin_fmaf(f4, -0x1.10cdccp-5f, __builtin_fmaf(f2, p3, p2));
    p0 = __builtin_fmaf(f4, p2, __builtin_fmaf(f2, p1, p0));
    float low = __builtin_fmaf(f2, p0, __builtin_fmaf(n, 0x1.3509f8p-18f, f * -0x1.5b235ep-27f));
    float h = n * 0x1.344p-2f;
    float v = __builtin_fmaf(f, 0x1.bcb7b2p-2f, h);
    v += __builtin_fmaf(f, 0x1.bcb7b2p-2f, h - v) + low;
    v = x <= 0x1.fffffep127f ? v : x;
    return x > 0.0f ? v : krf_unbits_f32(x == 0.0f ? 0xff800000u : 0x7fc00000u);
}

//@ krf_exp_belowf
// exp(y + low) = (1 + q) scale 2^-32, for y from -110 to 0 and a small low: what is multiplied by such a scale is rounded once, by 2^-32.
typedef struct krf_exp_below {
    float q, scale;
} krf_exp_below;
KRF_FN krf_exp_below krf_exp_belowf(float y, float low) {
    float t = __builtin_fmaf(y, 0x1.715476p+0f, 0x1.8p23f), n = t - 0x1.8p23f;
    krf_exp_below e;
    e.q = krf_exp_nearf(__builtin_fmaf(n, -0x1.62e43p-1f, y) + __builtin_fmaf(n, 0x1.05c61p-29f, low)); // the first product is exact
    e.scale = krf_unbits_f32((krf_bits_f32(t) << 23) + 0x4f800000u);
    return e;
}

//@ krf_logaddexpf
// The larger operand, and e = exp(d) = s (1 + q), d the difference as a sum of two, with log(1 + e) = e + e^2 P(e), polynomial error 2^-27.5: as s and what is smaller than half of it, which is added to
// what the sum with s loses. What e is without its last digits no longer matters where its square would be too small for an f32.
KRF_FN float krf_logaddexpf(float a, float b) {
    float most = a > b ? a : b, least = a > b ? b : a, d = least - most;
    int none = !(d >= -110.0f); // or both infinite
    float y = none ? -110.0f : d;
    krf_exp_below x = krf_exp_belowf(y, none ? 0.0f : (least - d) - most);
    float s = x.scale * 0x1p-32f, e = y > -20.0f ? __builtin_fmaf(x.q, s, s) : 0.0f;
    float e2 = e * e, e4 = e2 * e2;
    float p0 = __builtin_fmaf(e, 0x1.554dd4p-2f, -0x1.ffffd2p-2f);
    float p1 = __builtin_fmaf(e, 0x1.93510cp-3f, -0x1.ff249ep-3f);
    float p2 = __builtin_fmaf(e, 0x1.b50b32p-4f, -0x1.3a597ap-3f);
    float p3 = __builtin_fmaf(e, 0x1.4a24a0p-6f, -0x1.d78b46p-5f);
    p2 = __builtin_fmaf(e4, -0x1.b1650ep-9f, __builtin_fmaf(e2, p3, p2));
    p0 = __builtin_fmaf(e4, p2, __builtin_fmaf(e2, p1, p0));
    float more = most > s ? most : s, less = most > s ? s : most, sum = most + s;
    float v = sum + __builtin_fmaf(e2, p0, __builtin_fmaf(x.q, s, less - (sum - more)));
    v = none ? most + 0.0f : v; // no -0
    return a == a ? v : a;
}

//@ krf_exp_quarterf
// exp(y) / 4 for 0 <= y <= 90, as krf_expf: it is finite where twice as much is.
KRF_FN float krf_exp_quarterf(float y) {
    float t = __builtin_fmaf(y, 0x1.715476p+0f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = __builtin_fmaf(n, -0x1.62e43p-1f, y);
    r = __builtin_fmaf(n, 0x1.05c61p-29f, r);
    float s = krf_unbits_f32((krf_bits_f32(t) << 23) + 0x3e800000u);
    return __builtin_fmaf(krf_exp_nearf(r), s, s);
}

//@ krf_coshf
// 2 e + 1 / (8 e) with e a quarter of exp(abs(x)). Near 0 the errors of both cancel.
KRF_FN float krf_coshf(float x) {
    float y = __builtin_fabsf(x), e = krf_exp_quarterf(y > 89.5f ? 89.5f : y);
    return 2.0f * e + 0.125f / e;
}

//@ krf_sinhf
// Up to 1 by a polynomial, error 2^-31; then as cosh.
KRF_FN float krf_sinhf(float x) {
    float y = __builtin_fabsf(x), z = y * y, e = krf_exp_quarterf(y > 89.5f ? 89.5f : y);
    float p = __builtin_fmaf(z, __builtin_fmaf(z, 0x1.76771ep-19f, 0x1.a01c22p-13f), 0x1.1110eap-7f);
    p = __builtin_fmaf(z, p, 0x1.555556p-3f);
    float v = y < 1.0f ? __builtin_fmaf(y * z, p, y) : 2.0f * e - 0.125f / e;
    return krf_unbits_f32(krf_bits_f32(v) | (krf_bits_f32(x) & 0x80000000u));
}

//@ krf_asinhf
// log1p(y + y^2 / (1 + sqrt(1 + y^2))). For large y log(2 y) = log1p(y) + ln 2.
KRF_FN float krf_asinhf(float x) {
    float a = __builtin_fabsf(x);
    int large = !(a < 0x1p30f);
    float y = large ? 1.0f : a, z = y * y, u = y + z / (1.0f + __builtin_sqrtf(1.0f + z));
    float v = krf_log1pf(large ? a : u) + (large ? 0x1.62e43p-1f : 0.0f);
    return krf_unbits_f32((krf_bits_f32(v) & 0x7fffffffu) | (krf_bits_f32(x) & 0x80000000u));
}

//@ krf_acoshf
// With t = x - 1, which is exact: log1p(t + sqrt(t (t + 2))).
KRF_FN float krf_acoshf(float x) {
    int large = !(x < 0x1p30f);
    float t = (large ? 2.0f : x) - 1.0f, u = t + __builtin_sqrtf(__builtin_fmaf(t, t, t + t));
    float v = krf_log1pf(large ? x : u) + (large ? 0x1.62e43p-1f : 0.0f);
    return x < 1.0f ? krf_unbits_f32(0x7fc00000u) : v;
}

//@ krf_atanhf
// log1p(2 y / (1 - y)) / 2
KRF_FN float krf_atanhf(float x) {
    float y = __builtin_fabsf(x), v = 0.5f * krf_log1pf(2.0f * y / (1.0f - y));
    return krf_unbits_f32((krf_bits_f32(v) & 0x7fffffffu) | (krf_bits_f32(x) & 0x80000000u));
}

//@ krf_tanhf
// Up to 5/8 by a polynomial, error 2^-27.7; then 1 - 2 / (exp(2 y) + 1), which is 1 from 9.02 on.
KRF_FN float krf_tanhf(float x) {
    float y = __builtin_fabsf(x), z = y * y;
    float w = y > 10.0f ? 10.0f : y;
    float t = __builtin_fmaf(w, 0x1.715476p+1f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = __builtin_fmaf(n, -0x1.62e43p-1f, w + w);
    float q = krf_exp_nearf(__builtin_fmaf(n, 0x1.05c61p-29f, r));
    float s = krf_unbits_f32((krf_bits_f32(t) << 23) + 0x3f800000u);
    float far = 1.0f - 2.0f / (__builtin_fmaf(q, s, s) + 1.0f);
    float p = __builtin_fmaf(z, __builtin_fmaf(z, -0x1.b83898p-5f, 0x1.110704p-3f), -0x1.555532p-2f);
    p = __builtin_fmaf(z * z * z, __builtin_fmaf(z, -0x1.758cap-8f, 0x1.521152p-6f), p);
    float v = y < 0.625f ? __builtin_fmaf(y * z, p, y) : far;
    return krf_unbits_f32(krf_bits_f32(v) | (krf_bits_f32(x) & 0x80000000u));
}

//@ krf_erff
// Up to 1 by a polynomial, error 2^-27; then 1 - exp(-T), T a polynomial to which the error function's complement owes it, error 2^-29 of 1. It is 1 from 3.92 on.
KRF_FN float krf_erff(float x) {
    float y = __builtin_fabsf(x);
    y = y > 4.0f ? 4.0f : y;
    float z = y * y, z2 = z * z;
    float p = __builtin_fmaf(z, -0x1.81273ep-2f, 0x1.06eba8p-3f);
    float p1 = __builtin_fmaf(z, -0x1.b7fabap-6f, 0x1.ce2d1p-4f);
    float p2 = __builtin_fmaf(z, -0x1.a45088p-11f, 0x1.54127p-8f);
    p2 = __builtin_fmaf(z2, 0x1.4a569p-14f, p2);
    p = __builtin_fmaf(z2, __builtin_fmaf(z2, p2, p1), p);
    float near = __builtin_fmaf(y, p, y);
    float a = __builtin_fmaf(y, -0x1.852decp-13f, 0x1.814d1cp-9f);
    a = __builtin_fmaf(y, a, -0x1.654236p-6f);
    a = __builtin_fmaf(y, a, 0x1.a60a88p-4f);
    a = __builtin_fmaf(y, a, 0x1.46c584p-1f);
    a = __builtin_fmaf(y, a, 0x1.2085b2p+0f);
    a = -__builtin_fmaf(y, a, 0x1.72e7d2p-12f);
    float t = __builtin_fmaf(a, 0x1.715476p+0f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = __builtin_fmaf(n, -0x1.62e43p-1f, a);
    float q = krf_exp_nearf(r);
    float s = krf_unbits_f32((krf_bits_f32(t) << 23) + 0x3f800000u);
    float far = (1.0f - s) - q * s;
    float v = y < 1.0f ? near : far;
    return krf_unbits_f32(krf_bits_f32(v) | (krf_bits_f32(x) & 0x80000000u));
}

//@ krf_erfinvf
// x + x P, P a polynomial of w = -log(1 - x^2) up to 6 and of sqrt(w) beyond, errors 2^-27. Near 0 the logarithm is far from its last digits, which P does not need there.
KRF_FN float krf_erfinvf(float x) {
    float u = __builtin_fmaf(-x, x, 1.0f);
    unsigned m = (0x3fbfffffu - krf_bits_f32(u)) & 0xff800000u; // as krf_logf
    float f = krf_unbits_f32(krf_bits_f32(u) + m) - 1.0f;
    float w = -krf_log_sum_f32(f, (float)(int)m);
    int far = w > 6.0f;
    float t = far ? __builtin_sqrtf(w) - 3.0f : w - 2.5f;
    float p0 = __builtin_fmaf(t, far ? 0x1.006dcap+0f : 0x1.f91e8cp-3f, far ? 0x1.d53df8p+0f : 0x1.00b8bap-1f);
    float p1 = __builtin_fmaf(t, far ? -0x1.f4dda2p-8f : -0x1.486798p-10f, far ? 0x1.357504p-7f : -0x1.11c37cp-8f);
    float p2 = __builtin_fmaf(t, far ? -0x1.d52754p-9f : -0x1.4c4302p-18f, far ? 0x1.76021ap-8f : 0x1.c9a76cp-13f);
    float p3 = __builtin_fmaf(t, far ? -0x1.cb7a6p-16f : 0x1.f20992p-22f, far ? 0x1.6ceddcp-10f : -0x1.c98164p-19f);
    float p4 = __builtin_fmaf(t, far ? -0x1.2ca38ap-16f : -0x1.29040ep-27f, far ? -0x1.7fa31ep-13f : 0x1.ca09c8p-27f);
    float t2 = t * t;
    p4 = __builtin_fmaf(t2, far ? 0x1.477d86p-15f : 0x1.5aa36cp-31f, p4);
    p2 = __builtin_fmaf(t2 * t2, p4, __builtin_fmaf(t2, p3, p2));
    float v = __builtin_fmaf(x, __builtin_fmaf(t2, __builtin_fmaf(t2, p2, p1), p0), x);
    v = krf_unbits_f32(krf_bits_f32(v) | (krf_bits_f32(x) & 0x80000000u)); // P is negative near 0, and the sum lost the sign of -0
    float y = __builtin_fabsf(x), end = y == 1.0f ? x * krf_unbits_f32(0x7f800000u) : krf_unbits_f32(0x7fc00000u);
    return y < 1.0f ? v : end;
}

//@ krf_near_quotientf
// a / b for b from 2^-126 to 2^125, to less than an ULP: on a GPU without what a quotient needs for other divisors.
KRF_FN float krf_near_quotientf(float a, float b) {
#if defined(__CUDA_ARCH__) || defined(KRF_RCP)
    float r = krf_rcpf(b), v = a * r;
    return __builtin_fmaf(__builtin_fmaf(-v, b, a), r, v);
#else
    return a / b;
#endif
}

//@ krf_gate_belowf
// b / (1 + exp(-(y + low))) for y from -109 to 0: b (1 + q) s / (1 + (1 + q) s), where s has 2^32, so that nothing but the quotient may be subnormal. A CPU puts right what the divisor's sum lost, too.
KRF_FN float krf_gate_belowf(float b, float y, float low) {
    krf_exp_below e = krf_exp_belowf(y, low);
    float s = b * e.scale, a = __builtin_fmaf(s, e.q, s), part = __builtin_fmaf(e.q, e.scale, e.scale), d = 0x1p32f + part;
#if defined(__CUDA_ARCH__) || defined(KRF_RCP)
    return krf_near_quotientf(a, d);
#else
    float lost = part - (d - 0x1p32f), inverse = 1.0f / d, v = a * inverse;
    return __builtin_fmaf(__builtin_fmaf(-v, lost, __builtin_fmaf(-v, d, a)), inverse, v);
#endif
}

//@ krf_sigmoidf
// 1 / (1 + E) or E / (1 + E), E = (1 + q) s of -abs(x): the reciprocal has 2^-32, which the last product takes away.
KRF_FN float krf_sigmoidf(float x) {
    float b = __builtin_fabsf(x);
    int below = x < 0.0f;
    krf_exp_below e = krf_exp_belowf(b > 109.0f ? -109.0f : -b, 0.0f);
    float inverse = krf_near_quotientf(1.0f, 0x1p32f + __builtin_fmaf(e.q, e.scale, e.scale));
    return __builtin_fmaf(inverse, below ? e.q : 0.0f, inverse) * (below ? e.scale : 0x1p32f);
}

//@ krf_siluf
// max(x, 0) - b / (1 + exp(b)) with b = abs(x).
KRF_FN float krf_siluf(float x) {
    float b = __builtin_fabsf(x);
    b = b > 109.0f ? 109.0f : b;
    float v = krf_gate_belowf(b, -b, 0.0f);
    return x < 0.0f ? -v : x - v; // clang 14 takes a choice between -0 and x for a maximum
}

//@ krf_gelu_tanhf
// As silu, with exp(b (k + c b^2)), k = 2 sqrt(2 / pi), c = 0.044715 k: exp makes an error of what it is. k + c b^2 is a multiple of 2^-13 and a rest; k without its last digits is a multiple of 2^-14, so the rest loses nothing to it.
KRF_FN float krf_gelu_tanhf(float x) {
    float b = __builtin_fabsf(x);
    b = b > 10.85f ? 10.85f : b;
    float s = b * b, whole = (__builtin_fmaf(s, 0x1.2444f2p-4f, 0x1.9884p+0f) + 0x1.8p+10f) - 0x1.8p+10f;
    float rest = __builtin_fmaf(s, 0x1.49b16ap-29f, __builtin_fmaf(s, 0x1.2444f2p-4f, 0x1.9884p+0f - whole));
    rest = __builtin_fmaf(__builtin_fmaf(b, b, -s), 0x1.2444f2p-4f, rest) + 0x1.4cf50ep-18f;
    float y = -b * whole, v = krf_gate_belowf(b, y, -__builtin_fmaf(b, rest, __builtin_fmaf(b, whole, y)));
    return x < 0.0f ? -v : x - v;
}
