// Gamma functions in f32 alone, within 4 ULP: one text for C and CUDA. A CPU computes what negative and subnormal arguments need of all; a GPU, of those that come (_by_branchf). Sections as in prelude.h.

//@ krf_log_gamma_partf
// log(gamma(y)) for y >= 0, but without -log(y) for y < 1 if `below`; `tiny`: y is subnormal.
// Up to 2.5, e (e - 1) P(e - 3/4), relative error 2^-27.8, e = y - 1, or y where that is below 1: of y + 1, less log(y). From there on Stirling's series, (y - 1/2) (log(y) - 1) and a polynomial of 1 / y, error
// 2^-27.2 of the result. y = 2^-m (1 + f) with f from -1/3 to 1/3; the multiple of ln 2 is exact, and so is 1 less: log(y) - 1 keeps its digits near e.
KRF_FN float krf_log_gamma_partf(float y, int below, int tiny) {
    int low = y < 1.0f;
    float t = y - 1.0f, e = low ? y : t, s = e - 0.75f;
    float p = __builtin_fmaf(s, -0x1.15fbf6p-13f, 0x1.f091dcp-13f);
    p = __builtin_fmaf(s, p, -0x1.004936p-12f);
    p = __builtin_fmaf(s, p, 0x1.019472p-11f);
    p = __builtin_fmaf(s, p, -0x1.193764p-10f);
    p = __builtin_fmaf(s, p, 0x1.145acep-9f);
    p = __builtin_fmaf(s, p, -0x1.14db38p-8f);
    p = __builtin_fmaf(s, p, 0x1.1f8d36p-7f);
    p = __builtin_fmaf(s, p, -0x1.382e74p-6f);
    p = __builtin_fmaf(s, p, 0x1.6cb61ap-5f);
    p = __builtin_fmaf(s, p, -0x1.e96586p-4f);
    p = __builtin_fmaf(s, p, 0x1.ccf152p-2f);
    unsigned b = krf_bits_f32(tiny ? y * 0x1p25f : y);
    unsigned m = (0x3faaaaaau - b) & 0xff800000u;
    float f = krf_unbits_f32(b + m) - 1.0f, n = (float)(int)(tiny ? m + (25u << 23) : m);
    float a = __builtin_fmaf(f, -0x1.07c882p-3f, 0x1.1e678cp-3f);
    a = __builtin_fmaf(f, a, -0x1.f332fcp-4f);
    a = __builtin_fmaf(f, a, 0x1.1ed662p-3f);
    a = __builtin_fmaf(f, a, -0x1.559c44p-3f);
    a = __builtin_fmaf(f, a, 0x1.99d044p-3f);
    a = __builtin_fmaf(f, a, -0x1.fffefcp-3f);
    a = __builtin_fmaf(f, a, 0x1.555506p-2f);
    a = __builtin_fmaf(f, a, -0.5f);
    float r = __builtin_fmaf(f * f, a, f);
    float l = __builtin_fmaf(n, -0x1.62e4p-24f, -1.0f) + __builtin_fmaf(n, -0x1.7f7d1cp-43f, r);
    float v = krf_rcpf(y), z = v * v;
    float c = __builtin_fmaf(z, __builtin_fmaf(z, 0x1.4ca5b2p-11f, -0x1.69f0e2p-9f), 0x1.5554b4p-4f);
    float far = __builtin_fmaf(y - 0.5f, l, __builtin_fmaf(v, c, 0x1.acfe3ap-2f));
    float near = __builtin_fmaf(e * (e - 1.0f), p, (low & !below) ? __builtin_fmaf(n, 0x1.62e43p-24f, -r) : 0.0f);
    return y < 2.5f ? near : far;
}

//@ krf_sine_of_pif
// sin(pi r) / pi for abs(r) <= 1/2, error 2^-27.6.
KRF_FN float krf_sine_of_pif(float r) {
    float z = r * r, q = __builtin_fmaf(z, 0x1.959ddp-6f, -0x1.861168p-3f);
    q = __builtin_fmaf(z, __builtin_fmaf(z, q, 0x1.9f9998p-1f), -0x1.a51a5cp+0f);
    return __builtin_fmaf(r * z, q, r);
}

//@ krf_lgammaf
// Of y = -x by reflection: -log(y abs(sin(pi y)) / pi) - log(gamma(y)), where log(y) is left out of both for y < 1. Zeros there keep no digits of their own.
KRF_FN float krf_lgammaf(float x) {
    float y = __builtin_fabsf(x), whole = __builtin_rintf(x), sine = __builtin_fabsf(krf_sine_of_pif(x - whole));
    float v = krf_log_gamma_partf(y, x < 0.0f, y < 0x1p-126f);
    float w = -krf_logf(y < 1.0f ? sine : y * sine) - v;
    v = x < 0.0f ? w : v;
    return ((x <= 0.0f) & (whole == x)) ? krf_unbits_f32(0x7f800000u) : v;
}

//@ krf_lgamma_by_branchf
KRF_FN float krf_lgamma_by_branchf(float x) {
    if (!(x >= 0x1p-126f)) {
        return krf_lgammaf(x);
    }
    return krf_log_gamma_partf(x, 0, 0);
}
