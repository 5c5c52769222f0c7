// The tail of the normal distribution in f32 alone, and what is made of it: within 2.8 ULP, on a GPU 3.4; the same text for C and CUDA. Sections as in prelude.h.

//@ krf_tail_atf
// inverse (1 + rest) = 1 / (b + k), t = (b - k) / (b + k). The inverse may be off, and that of a rounded sum: `rest` knows by how much (not all that the sum
// loses where b is more than k, but enough).
typedef struct krf_tail_at {
    float inverse, rest, t;
} krf_tail_at;
KRF_FN krf_tail_at krf_tail_atf(float b, float k) {
    float d = b + k, d_low = b - (d - k);
    krf_tail_at r;
    r.inverse = krf_rcpf(d);
    r.rest = __builtin_fmaf(-r.inverse, d_low, __builtin_fmaf(-r.inverse, d, 1.0f));
    r.t = __builtin_fmaf(-2.0f * k * r.inverse, r.rest, __builtin_fmaf(-2.0f * k, r.inverse, 1.0f));
    return r;
}

//@ krf_tail_of
// (t p + c) inverse (1 + rest) as a sum of two.
typedef struct krf_tail {
    float hi, lo;
} krf_tail;
KRF_FN krf_tail krf_tail_of(krf_tail_at a, float p, float c) {
    float g = __builtin_fmaf(a.t, p, c), g_low = __builtin_fmaf(a.t, p, c - g);
    krf_tail r;
    r.hi = g * a.inverse;
    r.lo = __builtin_fmaf(g_low, a.inverse, __builtin_fmaf(r.hi, a.rest, __builtin_fmaf(g, a.inverse, -r.hi)));
    return r;
}

//@ krf_geluf
// The tail of the normal distribution beyond b = abs(x) is exp(-b * b / 2) * G / (b + k) with k = 3.4375 and G a polynomial of t = (b - k) / (b + k),
// relative error 2^-26.5 up to b = 13.4, from where on results are subnormal.
KRF_FN float krf_geluf(float x) {
    float b = __builtin_fabsf(x);
    b = b > 14.5f ? 14.5f : b;
    float half = -0.5f * b, y = half * b;
    krf_exp_below e = krf_exp_belowf(y, __builtin_fmaf(half, b, -y));
    krf_tail_at a = krf_tail_atf(b, 3.4375f);
    float t2 = a.t * a.t;
    float p0 = __builtin_fmaf(a.t, 0x1.38d776p-2f, -0x1.1e684p-1f);
    float p1 = __builtin_fmaf(a.t, 0x1.a7ee38p-7f, -0x1.b7186ap-4f);
    float p2 = __builtin_fmaf(a.t, -0x1.674aaap-9f, 0x1.dc3ac2p-8f);
    float p3 = __builtin_fmaf(t2, 0x1.0bb63cp-13f, __builtin_fmaf(a.t, 0x1.8a7bc6p-12f, -0x1.68c6p-11f));
    krf_tail m = krf_tail_of(a, __builtin_fmaf(t2, __builtin_fmaf(t2, __builtin_fmaf(t2, p3, p2), p1), p0), 0x1.7c4e3ap-1f);
    float w = b * m.hi, w_low = __builtin_fmaf(b, m.lo, __builtin_fmaf(b, m.hi, -w));
    float v = (w + __builtin_fmaf(w, e.q, w_low)) * e.scale * 0x1p-32f;
    return x < 0.0f ? -v : x - v;
}

//@ krf_erfcf
// As gelu, with exp(-b * b), k = 3 and another polynomial, relative error 2^-26.8 up to b = 9.4; up to 1/2 as 1 - erf(x), error 2^-25.
KRF_FN float krf_erfcf(float x) {
    float b = __builtin_fabsf(x);
    b = b > 10.5f ? 10.5f : b;
    float square = b * b;
    krf_exp_below e = krf_exp_belowf(-square, __builtin_fmaf(-b, b, square));
    krf_tail_at a = krf_tail_atf(b, 3.0f);
    float t2 = a.t * a.t;
    float p0 = __builtin_fmaf(a.t, 0x1.2e3268p-1f, -0x1.c44c48p-1f);
    float p1 = __builtin_fmaf(a.t, 0x1.e9968ap-4f, -0x1.3deaep-2f);
    float p2 = __builtin_fmaf(a.t, -0x1.403eb8p-10f, -0x1.b7b62p-6f);
    float p3 = __builtin_fmaf(t2, -0x1.5a8fbcp-12f, __builtin_fmaf(a.t, -0x1.029162p-11f, 0x1.936d1ap-9f));
    krf_tail m = krf_tail_of(a, __builtin_fmaf(t2, __builtin_fmaf(t2, __builtin_fmaf(t2, p3, p2), p1), p0), 0x1.12f21ep+0f);
    float v = (m.hi + __builtin_fmaf(m.hi, e.q, m.lo)) * e.scale * 0x1p-32f;
    v = x < 0.0f ? 2.0f - v : v;
    float q = __builtin_fmaf(square, 0x1.355342p-8f, -0x1.b667d8p-6f);
    q = __builtin_fmaf(square, q, 0x1.ce2522p-4f);
    q = __builtin_fmaf(square, q, -0x1.812732p-2f);
    q = __builtin_fmaf(square, q, 0x1.20dd74p+0f);
    return b < 0.5f ? __builtin_fmaf(-x, q, 1.0f) : v; // 1 at 0
}
