// Gamma functions, and i0, in f32 alone, within 3.3 ULP: one text for C and CUDA. Of gamma functions a CPU computes what negative and subnormal arguments need of all; a GPU, of those that come (_by_branchf). Sections as in prelude.h.

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

//@ krf_gamma_partf
// gamma(z), or 1 / gamma(z) if `below`, z = y + 1 below 1 and y >= 0 elsewhere: exp((z - 1/2) (log(z) - 1)) = 2^n (1 + q), t = n * 2^23, times h, a polynomial of 1 / (z + 1/4), relative error 2^-28.4.
// What exp is of is a sum of two, and so is log(z) - 1; of the latter f^3 times a polynomial has an error of 2^-27.6 / z. Beyond `most` the result is infinite or 0.
typedef struct krf_gamma_part {
    float q, h;
    unsigned t;
} krf_gamma_part;
KRF_FN krf_gamma_part krf_gamma_partf(float y, int below) {
    float z = y < 1.0f ? y + 1.0f : y, most = below ? 44.0f : 35.2f;
    z = z > most ? most : z;
    float u = krf_rcpf(z + 0.25f);
    float h = __builtin_fmaf(u, 0x1.250944p-10f, -0x1.d6660ep-11f);
    h = __builtin_fmaf(u, h, 0x1.b07d76p-8f);
    h = __builtin_fmaf(u, h, 0x1.2e95ccp-5f);
    h = __builtin_fmaf(u, h, 0x1.037986p-3f);
    h = __builtin_fmaf(u, h, 0x1.853574p+0f);
    unsigned b = krf_bits_f32(z), m = (0x3faaaaaau - b) & 0xff800000u;
    float f = krf_unbits_f32(b + m) - 1.0f, n = (float)(int)m;
    float a = __builtin_fmaf(f, 0x1.00e056p-3f, -0x1.090e18p-3f);
    a = __builtin_fmaf(f, a, 0x1.b28402p-4f);
    a = __builtin_fmaf(f, a, -0x1.f29d1cp-4f);
    a = __builtin_fmaf(f, a, 0x1.253b94p-3f);
    a = __builtin_fmaf(f, a, -0x1.55a1a6p-3f);
    a = __builtin_fmaf(f, a, 0x1.9994fcp-3f);
    a = __builtin_fmaf(f, a, -0x1.fffedep-3f);
    a = __builtin_fmaf(f, a, 0x1.55555ap-2f);
    float square = f * f, k = __builtin_fmaf(n, -0x1.62e4p-24f, -1.0f), c = k + f, l = __builtin_fmaf(-0.5f, square, c);
    float low = __builtin_fmaf(-0.5f, square, c - l) + (f - (c - k));
    low = __builtin_fmaf(n, -0x1.7f7d1cp-43f, __builtin_fmaf(-0.5f, __builtin_fmaf(f, f, -square), low));
    low = __builtin_fmaf(f * square, a, low);
    float w = below ? 0.5f - z : z - 0.5f, p = w * l, p_low = __builtin_fmaf(w, low, __builtin_fmaf(w, l, -p));
    float t = __builtin_fmaf(p + p_low, 0x1.715476p+0f, 0x1.8p23f), whole = t - 0x1.8p23f;
    krf_gamma_part g;
    g.q = krf_exp_nearf(__builtin_fmaf(whole, -0x1.62e43p-1f, p) + __builtin_fmaf(whole, 0x1.05c61p-29f, p_low));
    g.h = h;
    g.t = krf_bits_f32(t) << 23;
    return g;
}

//@ krf_tgammaf
// Of y = -x by reflection: pi / (sin(pi x) y gamma(y)), where y gamma(y) is gamma(y + 1) for y < 1. What dividend and divisor lose is put right. 1 / x up to 2^-25. Factorials below 2^22 are exact.
KRF_FN float krf_tgammaf(float x) {
    float y = __builtin_fabsf(x), whole = __builtin_rintf(x), half = 0.5f * whole, sine = krf_sine_of_pif(x - whole);
    int below = x < 0.0f, low = y < 1.0f, tiny = y < 0x1p-25f;
    krf_gamma_part g = krf_gamma_partf(y, below);
    sine = __builtin_rintf(half) == half ? sine : -sine;
    float one = below ? sine : low ? x : 1.0f, first = below ? 1.0f : g.h, second = below ? g.h : 1.0f, third = (below & !low) ? y : 1.0f;
    float t = second * third, over = one * t, over_low = __builtin_fmaf(one, __builtin_fmaf(second, third, -t), __builtin_fmaf(one, t, -over));
    float a = __builtin_fmaf(first, g.q, first), a_low = __builtin_fmaf(first, g.q, first - a), inverse = 1.0f / (tiny ? x : over), v = a * inverse;
    v = __builtin_fmaf(inverse, __builtin_fmaf(-v, over, a) + __builtin_fmaf(-v, over_low, a_low), v);
    unsigned s = ((g.t >> 1) & 0x7f800000u) | (g.t & 0x80000000u); // in two factors, as krf_expf
    v = v * krf_unbits_f32(s + 0x3f800000u) * krf_unbits_f32(g.t - s + 0x3f800000u);
    v = tiny ? inverse : v;
    v = ((whole == x) & (x > 0.0f) & (x < 11.5f)) ? (v + 0x1.8p23f) - 0x1.8p23f : v;
    return (below & (whole == x)) ? krf_unbits_f32(0x7fc00000u) : v;
}

//@ krf_tgamma_by_branchf
KRF_FN float krf_tgamma_by_branchf(float x) {
    if (!(x >= 0x1p-126f)) {
        return krf_tgammaf(x);
    }
    krf_gamma_part g = krf_gamma_partf(x, 0);
    float v = krf_near_quotientf(__builtin_fmaf(g.h, g.q, g.h), x < 1.0f ? x : 1.0f) * krf_unbits_f32(g.t + 0x3f800000u);
    return (((x + 0x1.8p23f) - 0x1.8p23f == x) & (x < 11.5f)) ? (v + 0x1.8p23f) - 0x1.8p23f : v;
}

//@ krf_digamma_partf
// digamma(y) for y >= 0 and v = 1 / y, digamma(1 + y) if `below`. Up to 2, a distance from the root, which is a sum of two, times a polynomial, relative error 2^-26.7: of y + 1 below 1, less 1 / y;
// from 2 on log(y) - 1 / (2 y) - Q(1 / y^2) / y^2, error 2^-27.6.
KRF_FN float krf_digamma_partf(float y, float v, int below) {
    int low = y < 1.0f, near = y < 2.0f;
    float e = low ? y : y - 1.0f, s = e - 0.5f;
    float p = __builtin_fmaf(s, 0x1.20b02p-7f, -0x1.022e82p-6f);
    p = __builtin_fmaf(s, p, 0x1.300778p-6f);
    p = __builtin_fmaf(s, p, -0x1.ac05c6p-6f);
    p = __builtin_fmaf(s, p, 0x1.4bbdap-5f);
    p = __builtin_fmaf(s, p, -0x1.fbdd7ep-5f);
    p = __builtin_fmaf(s, p, 0x1.8534eap-4f);
    p = __builtin_fmaf(s, p, -0x1.2fedcap-3f);
    p = __builtin_fmaf(s, p, 0x1.eca0dap-3f);
    p = __builtin_fmaf(s, p, -0x1.b1cb64p-2f);
    p = __builtin_fmaf(s, p, 0x1.e6f0ccp-1f);
    unsigned b = krf_bits_f32(y), m = (0x3fbfffffu - b) & 0xff800000u;
    float l = krf_log_sum_f32(krf_unbits_f32(b + m) - 1.0f, (float)(int)m), z = v * v;
    float q = __builtin_fmaf(z, 0x1.df2c5p-10f, -0x1.d2bfbep-9f);
    q = __builtin_fmaf(z, __builtin_fmaf(z, q, 0x1.0ffa0ap-7f), -0x1.555458p-4f);
    float far = __builtin_fmaf(z, q, __builtin_fmaf(below ? 0.5f : -0.5f, v, l));
    float of_one = below ? low ? 0.0f : v : low ? -v : 0.0f; // digamma(1 + y) is digamma(y) + 1 / y
    return near ? __builtin_fmaf((e - 0x1.d8b618p-2f) - 0x1.ab5f2p-27f, p, of_one) : far;
}

//@ krf_digammaf
// Of y = -x by reflection: digamma(1 + y) - pi / tan(pi x), the latter as 1 / r times a polynomial of r^2, error 2^-27.9, with r the distance of x from a whole number.
KRF_FN float krf_digammaf(float x) {
    int below = x < 0.0f;
    float y = __builtin_fabsf(x), whole = __builtin_rintf(x), r = x - whole, z = r * r;
    float c = __builtin_fmaf(z, -0x1.87f0f8p+2f, 0x1.5fb7c6p-5f);
    c = __builtin_fmaf(z, c, -0x1.3d1cdcp+1f);
    c = __builtin_fmaf(z, c, -0x1.f3191cp+0f);
    c = __builtin_fmaf(z, c, -0x1.04ecbp+1f);
    c = __builtin_fmaf(z, c, -0x1.150f5ep+1f);
    c = __builtin_fmaf(z, __builtin_fmaf(z, c, -0x1.a51a7p+1f), 1.0f);
    float v = krf_digamma_partf(y, 1.0f / (below ? y : x), below);
    v = below ? v - c / r : v;
    v = y <= 0x1.fffffep127f ? v : x;
    return (below & (whole == x)) ? krf_unbits_f32(0x7fc00000u) : v;
}

//@ krf_digamma_by_branchf
KRF_FN float krf_digamma_by_branchf(float x) {
    if (!(x >= 0x1p-126f && x <= 0x1.fffffep127f)) {
        return krf_digammaf(x);
    }
    return krf_digamma_partf(x, krf_near_quotientf(1.0f, x), 0);
}

//@ krf_near_rsqrtf
// 1 / sqrt(y) for normal y, to less than an ULP: on a GPU from its approximation, which takes subnormal numbers for 0.
KRF_FN float krf_near_rsqrtf(float y) {
#ifdef KRF_RCP
    float r = KRF_RCP(__builtin_sqrtf(y));
#elif defined(__CUDA_ARCH__)
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(y));
#else
    float r = 1.0f / __builtin_sqrtf(y);
#endif
    return __builtin_fmaf(0.5f * r, __builtin_fmaf(-y * r, r, 1.0f), r);
}

//@ krf_i0f
// Up to 5 a polynomial of x^2, error 2^-31.2; beyond exp(y) / sqrt(y) times one of 1 / y, y = abs(x), error 2^-26.9. That has 2^8, and the power of 2 is as much less: the result is finite up to 91.9, where exp(y) is not.
KRF_FN float krf_i0f(float x) {
    float y = __builtin_fabsf(x);
    y = y > 92.5f ? 92.5f : y;
    float z = y * y, a = __builtin_fmaf(z, 0x1.c3d172p-47f, 0x1.40b55p-39f);
    a = __builtin_fmaf(z, a, 0x1.043bcap-31f);
    a = __builtin_fmaf(z, a, 0x1.232a7p-24f);
    a = __builtin_fmaf(z, a, 0x1.c71e8cp-18f);
    a = __builtin_fmaf(z, a, 0x1.c71c62p-12f);
    a = __builtin_fmaf(z, a, 0x1p-6f);
    a = __builtin_fmaf(z, a, 0.25f);
    float s = krf_near_rsqrtf(y), u = s * s;
    float b = __builtin_fmaf(u, -0x1.53f426p+13f, 0x1.116ec4p+10f);
    b = __builtin_fmaf(u, b, 0x1.febe62p+10f);
    b = __builtin_fmaf(u, b, -0x1.320334p+9f);
    b = __builtin_fmaf(u, b, 0x1.7b9f04p+6f);
    b = __builtin_fmaf(u, b, 0x1.e63ad6p+0f);
    b = __builtin_fmaf(u, b, 0x1.d7ec16p+2f);
    b = __builtin_fmaf(u, b, 0x1.986a9cp+3f);
    b = s * __builtin_fmaf(u, b, 0x1.988458p+6f);
    float t = __builtin_fmaf(y, 0x1.715476p+0f, 0x1.8p23f), n = t - 0x1.8p23f;
    float r = __builtin_fmaf(n, 0x1.05c61p-29f, __builtin_fmaf(n, -0x1.62e43p-1f, y));
    float far = __builtin_fmaf(krf_exp_nearf(r), b, b) * krf_unbits_f32((krf_bits_f32(t) << 23) + 0x3b800000u);
    return y < 5.0f ? __builtin_fmaf(z, a, 1.0f) : far;
}
