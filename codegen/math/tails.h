// The tail of the normal distribution in f32 alone, and what is made of it: within 3.7 ULP; the same text for C and CUDA. Sections as in prelude.h.

//@ krf_geluf
// max(x, 0) less the tail: with b = abs(x), s = b / (b + k), k = 3.34375, that is s exp(-b * b / 2) G(s - 1/4), relative error 2^-24.3 up to b = 13.5 (results are subnormal from 13.15 on). G is
// 2^-32 of it, and the power of 2 has 2^32, until the last product.
KRF_FN float krf_geluf(float x) {
    float b = __builtin_fabsf(x);
    b = b > 14.5f ? 14.5f : b;
    float half = -0.5f * b, y = half * b;
    krf_exp_below e = krf_exp_belowf(y, __builtin_fmaf(half, b, -y));
    float s = krf_near_quotientf(b, b + 3.34375f), t = s - 0.25f;
    float g = __builtin_fmaf(0x1.fb859ap-37f, t, -0x1.3195ep-36f);
    g = __builtin_fmaf(g, t, -0x1.b16dbcp-36f);
    g = __builtin_fmaf(g, t, 0x1.bace2p-36f);
    g = __builtin_fmaf(g, t, 0x1.128c7cp-34f);
    g = __builtin_fmaf(g, t, -0x1.08c7d2p-34f);
    g = __builtin_fmaf(g, t, -0x1.5adac2p-33f);
    g = __builtin_fmaf(g, t, 0x1.b8644cp-32f);
    g = __builtin_fmaf(g, t, -0x1.d270b2p-32f);
    g = __builtin_fmaf(g, t, 0x1.197924p-32f);
    float v = s * e.scale * __builtin_fmaf(g, e.q, g);
    return x < 0.0f ? -v : x - v;
}

//@ krf_erfcf
// As gelu: exp(-b * b) G(t) / (b + k) with k = 1.5, t = (b - k) / (b + k), relative error 2^-27.4 up to b = 9.4; the reciprocal knows what the sum b + k lost. Up to 1/2 as 1 - erf(x), error 2^-25.
KRF_FN float krf_erfcf(float x) {
    float b = __builtin_fabsf(x);
    b = b > 10.25f ? 10.25f : b;
    float square = b * b;
    krf_exp_below e = krf_exp_belowf(-square, __builtin_fmaf(-b, b, square));
    float d = b + 1.5f, lost = b - (d - 1.5f), inverse = krf_rcpf(d);
    inverse = __builtin_fmaf(__builtin_fmaf(-inverse, lost, __builtin_fmaf(-inverse, d, 1.0f)), inverse, inverse);
    float t = __builtin_fmaf(-3.0f, inverse, 1.0f);
    float g = __builtin_fmaf(-0x1.f2cfd8p-44f, t, 0x1.b6de18p-43f);
    g = __builtin_fmaf(g, t, 0x1.04986ep-41f);
    g = __builtin_fmaf(g, t, -0x1.b39f8p-43f);
    g = __builtin_fmaf(g, t, -0x1.374dfcp-39f);
    g = __builtin_fmaf(g, t, -0x1.09e612p-39f);
    g = __builtin_fmaf(g, t, 0x1.8756f2p-37f);
    g = __builtin_fmaf(g, t, 0x1.35beecp-36f);
    g = __builtin_fmaf(g, t, -0x1.0404ecp-33f);
    g = __builtin_fmaf(g, t, 0x1.edf488p-33f);
    float v = inverse * e.scale * __builtin_fmaf(g, e.q, g);
    v = x < 0.0f ? 2.0f - v : v;
    float q = __builtin_fmaf(square, 0x1.355342p-8f, -0x1.b667d8p-6f);
    q = __builtin_fmaf(square, q, 0x1.ce2522p-4f);
    q = __builtin_fmaf(square, q, -0x1.812732p-2f);
    q = __builtin_fmaf(square, q, 0x1.20dd74p+0f);
    return b < 0.5f ? __builtin_fmaf(-x, q, 1.0f) : v; // 1 at 0
}
