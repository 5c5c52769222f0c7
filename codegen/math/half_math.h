// Functions of f16 and bf16, computed in f32 from the processor's approximations: good to 2^-18 of the value (log1p of bf16: 2^-16), so that the rounding is within 0.51 ULP.
// Sections as in prelude.h; for kernels on a GPU only.

//@ krf_ex2_half
// 2^y, where no result below 2^-126 is wanted: what the processor's needs for those is left out.
KRF_FN float krf_ex2_half(float y) {
#ifdef __CUDA_ARCH__
    float x;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(y));
    return x;
#else
    return KRF_F32(exp2)(y);
#endif
}

//@ krf_exp_f16
// What f16 rounds to 0 is far above 2^-126.
KRF_FN float krf_exp_f16(float x) { return krf_ex2_half(x * 0x1.715476p+0f); }

//@ krf_exp_bf16
// The square of 2^(y/2), which is never so small.
KRF_FN float krf_exp_bf16(float x) {
    float root = krf_ex2_half(x * 0x1.715476p-1f);
    return root * root;
}

//@ krf_expm1_half
KRF_FN float krf_expm1_half(float x) {
    float p = KRF_F32(fma)(x, 0x1.6c16c2p-10f, 0x1.111112p-7f);
    p = KRF_F32(fma)(x, KRF_F32(fma)(x, p, 0x1.555556p-5f), 0x1.555556p-3f);
    p = KRF_F32(fma)(x, KRF_F32(fma)(x, p, 0.5f), 1.0f);
    return KRF_F32(fabs)(x) < 0.25f ? x * p : krf_ex2_half(x * 0x1.715476p+0f) - 1;
}

//@ krf_log_of_one_and_half
// The logarithm of 1 + t for t up to 1/16, error 2^-20.2; the processor's is good to an absolute 2^-22 there, and not to so many digits.
KRF_FN float krf_log_of_one_and_half(float t) {
    float p = KRF_F32(fma)(t, -0x1.00d4e2p-2f, 0x1.55ef4ap-2f);
    return t * KRF_F32(fma)(t, KRF_F32(fma)(t, p, -0x1.ffffd6p-2f), 1.0f);
}

//@ krf_log_half
KRF_FN float krf_log_half(float x) {
    float t = x - 1;
    return KRF_F32(fabs)(t) <= 0x1p-4f ? krf_log_of_one_and_half(t) : __logf(x);
}

//@ krf_log2_half
KRF_FN float krf_log2_half(float x) {
    float t = x - 1;
    return KRF_F32(fabs)(t) <= 0x1p-4f ? krf_log_of_one_and_half(t) * 0x1.715476p+0f : __log2f(x);
}

//@ krf_log10_half
KRF_FN float krf_log10_half(float x) {
    float t = x - 1;
    return KRF_F32(fabs)(t) <= 0x1p-4f ? krf_log_of_one_and_half(t) * 0x1.bcb7b2p-2f : __log10f(x);
}

//@ krf_log_normal_half
// Of x that is no subnormal: what __logf does about those is left out.
KRF_FN float krf_log_normal_half(float x) {
#ifdef __CUDA_ARCH__
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y * 0x1.62e430p-1f;
#else
    return __logf(x);
#endif
}

//@ krf_log1p_f16
// The processor's is good to an absolute 2^-22: near 1 a polynomial is better.
KRF_FN float krf_log1p_f16(float x) {
    float p = KRF_F32(fma)(x, KRF_F32(fma)(x, -0.25f, 0x1.555556p-2f), -0.5f), large = krf_log_normal_half(1 + x);
    return KRF_F32(fabs)(x) <= 0x1p-4f ? x * KRF_F32(fma)(x, p, 1.0f) : large;
}

//@ krf_log1p_bf16
KRF_FN float krf_log1p_bf16(float x) {
    float p = KRF_F32(fma)(x, 0x1.555556p-2f, -0.5f), large = krf_log_normal_half(1 + x);
    return KRF_F32(fabs)(x) <= 0x1p-5f ? x * KRF_F32(fma)(x, p, 1.0f) : large;
}

//@ krf_tanh_half
KRF_FN float krf_tanh_half(float x) {
    float a = KRF_F32(fabs)(x), s = x * x;
    float p = KRF_F32(fma)(s, KRF_F32(fma)(s, -0x1.ba1ba2p-5f, 0x1.111112p-3f), -0x1.555556p-2f);
    float large = KRF_F32(fma)(-2.0f, krf_rcpf(krf_ex2_half(a * 0x1.715476p+1f) + 1), 1.0f);
    return KRF_F32(copysign)(a < 0.25f ? KRF_F32(fma)(a * s, p, a) : large, x);
}

//@ krf_sigmoid_half
KRF_FN float krf_sigmoid_half(float x) {
    float e = krf_exp_bf16(-KRF_F32(fabs)(x));
    return (x < 0 ? e : 1.0f) * krf_rcpf(1 + e);
}

//@ krf_silu_half
KRF_FN float krf_silu_half(float x) {
    float y = x < -120 ? -120 : x; // at -infinity -0
    return y * krf_sigmoid_half(y);
}

//@ krf_gelu_tanh_f16
// With b = abs(x), e = exp(-k b (1 + 0.044715 b^2)) and k = 2 sqrt(2 / pi) that is -b e / (1 + e) below 0, and x more above. What lies beyond the end has the end's.
KRF_FN float krf_gelu_tanh_f16(float x) {
    float a = KRF_F32(fabs)(x), b = a > 6 ? 6 : a;
    float e = krf_ex2_half(b * KRF_F32(fma)(b * b, -0x1.a5a7dp-4f, -0x1.26aec2p+1f));
    return KRF_F32(fma)(-b * e, krf_rcpf(1 + e), x < 0 ? 0 : x);
}

//@ krf_gelu_tanh_bf16
KRF_FN float krf_gelu_tanh_bf16(float x) {
    float a = KRF_F32(fabs)(x), b = a > 10.75f ? 10.75f : a;
    float root = krf_ex2_half(b * KRF_F32(fma)(b * b, -0x1.a5a7dp-5f, -0x1.26aec2p+0f));
    return KRF_F32(fma)(-b * root * krf_rcpf(KRF_F32(fma)(root, root, 1.0f)), root, x < 0 ? 0 : x);
}

//@ krf_tail_f16
// The tail of the normal distribution beyond b, erfc(b / sqrt(2)) / 2, for b up to 6, as a power of 2: its exponent is a polynomial, error 2^-19.3.
KRF_FN float krf_tail_f16(float b) {
    float p = KRF_F32(fma)(b, 0x1.acdc94p-25f, -0x1.6bd8dcp-20f);
    p = KRF_F32(fma)(b, KRF_F32(fma)(b, p, 0x1.c36e72p-17f), -0x1.0486e2p-15f);
    p = KRF_F32(fma)(b, KRF_F32(fma)(b, p, -0x1.3d11dap-11f), 0x1.00defap-7f);
    p = KRF_F32(fma)(b, KRF_F32(fma)(b, p, -0x1.b3c54ap-5f), -0x1.d5e99p-2f);
    return krf_ex2_half(KRF_F32(fma)(b, KRF_F32(fma)(b, p, -0x1.26b24p+0f), -0x1.ffffdp-1f));
}

//@ krf_tail_root_bf16
// The square root of that for b up to 13.75, which is never so small as the tail; error of the tail's exponent 2^-14.5, as much as a rounding to bf16 leaves.
KRF_FN float krf_tail_root_bf16(float b) {
    float c = b - 6.875f;
    float p = KRF_F32(fma)(c, -0x1.d1561p-31f, 0x1.8129bp-27f);
    p = KRF_F32(fma)(c, KRF_F32(fma)(c, p, -0x1.491962p-25f), 0x1.27340ep-22f);
    p = KRF_F32(fma)(c, KRF_F32(fma)(c, p, -0x1.7a808ep-18f), 0x1.f6fec8p-15f);
    p = KRF_F32(fma)(c, KRF_F32(fma)(c, p, -0x1.35042ap-11f), -0x1.6a6336p-2f);
    return krf_ex2_half(KRF_F32(fma)(c, KRF_F32(fma)(c, p, -0x1.43d9a4p+2f), -0x1.31d938p+4f));
}

//@ krf_gelu_f16
KRF_FN float krf_gelu_f16(float x) {
    float a = KRF_F32(fabs)(x), b = a > 6 ? 6 : a;
    return KRF_F32(fma)(-b, krf_tail_f16(b), x < 0 ? 0 : x);
}

//@ krf_gelu_bf16
KRF_FN float krf_gelu_bf16(float x) {
    float a = KRF_F32(fabs)(x), b = a > 13.75f ? 13.75f : a, root = krf_tail_root_bf16(b);
    return KRF_F32(fma)(-b * root, root, x < 0 ? 0 : x);
}

//@ krf_erfc_f16
KRF_FN float krf_erfc_f16(float x) {
    float a = KRF_F32(fabs)(x) * 0x1.6a09e6p+0f, tail = krf_tail_f16(a > 6 ? 6 : a);
    return KRF_F32(fma)(x < 0 ? -2.0f : 2.0f, tail, x < 0 ? 2.0f : 0.0f);
}

//@ krf_erfc_bf16
KRF_FN float krf_erfc_bf16(float x) {
    float a = KRF_F32(fabs)(x) * 0x1.6a09e6p+0f, root = krf_tail_root_bf16(a > 13.75f ? 13.75f : a);
    return KRF_F32(fma)(root * (x < 0 ? -2.0f : 2.0f), root, x < 0 ? 2.0f : 0.0f);
}

//@ krf_erf_half
// Up to 1/2 a polynomial, beyond 1 - erfc(a), this as a power of 2 with a polynomial for its exponent, absolute error 2^-22.5.
KRF_FN float krf_erf_half(float x) {
    float a = KRF_F32(fabs)(x), s = x * x, b = a > 3.1f ? 3.1f : a;
    float p = KRF_F32(fma)(s, -0x1.8f5282p-6f, 0x1.cc9748p-4f);
    p = KRF_F32(fma)(s, KRF_F32(fma)(s, p, -0x1.81220ap-2f), 0x1.20dd72p+0f);
    float q = KRF_F32(fma)(b, -0x1.3f42b2p-9f, 0x1.b79c44p-6f);
    q = KRF_F32(fma)(b, KRF_F32(fma)(b, q, -0x1.250dbep-3f), -0x1.d8f4ep-1f);
    q = KRF_F32(fma)(b, KRF_F32(fma)(b, q, -0x1.a0274cp+0f), -0x1.89fa64p-12f);
    return KRF_F32(copysign)(a < 0.5f ? a * p : 1 - krf_ex2_half(q), x);
}

//@ krf_logaddexp_f16
KRF_FN float krf_logaddexp_f16(float a, float b) {
    float most = a > b ? a : b, apart = a == b ? 0 : KRF_F32(fabs)(a - b);
    return most + krf_log1p_f16(krf_exp_f16(-apart));
}

//@ krf_logaddexp_bf16
KRF_FN float krf_logaddexp_bf16(float a, float b) {
    float most = a > b ? a : b, apart = a == b ? 0 : KRF_F32(fabs)(a - b);
    return most + krf_log1p_bf16(krf_exp_bf16(-apart));
}

//@ krf_softplus_f16
KRF_FN float krf_softplus_f16(float x) { return (x > 0 ? x : 0) + krf_log1p_f16(krf_exp_f16(-KRF_F32(fabs)(x))); }

//@ krf_softplus_bf16
KRF_FN float krf_softplus_bf16(float x) { return (x > 0 ? x : 0) + krf_log1p_bf16(krf_exp_bf16(-KRF_F32(fabs)(x))); }

//@ krf_sqrt_half
// Of no subnormals: what a root needs for those is left out.
KRF_FN float krf_sqrt_half(float y) {
#ifdef __CUDA_ARCH__
    float x;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(y));
    return x;
#else
    return KRF_F32(sqrt)(y);
#endif
}

//@ krf_asinh_half
// Beyond 1/2 the logarithm of a + sqrt(a^2 + 1), of 2 a where that is the same.
KRF_FN float krf_asinh_half(float x) {
    float a = KRF_F32(fabs)(x), s = x * x;
    float p = KRF_F32(fma)(s, KRF_F32(fma)(s, KRF_F32(fma)(s, -0x1.0b9d18p-5f, 0x1.2c2ebap-4f), -0x1.552ab6p-3f), 0x1.ffffecp-1f);
    float half = a > 0x1p20f ? a : 0.5f * (a + krf_sqrt_half(s + 1));
    return KRF_F32(copysign)(a < 0.5f ? a * p : krf_log_normal_half(half) + 0x1.62e430p-1f, x);
}

//@ krf_atanh_half
KRF_FN float krf_atanh_half(float x) {
    float a = KRF_F32(fabs)(x), s = x * x;
    float p = KRF_F32(fma)(s, KRF_F32(fma)(s, KRF_F32(fma)(s, 0x1.7d78bep-3f, 0x1.901f4ep-3f), 0x1.557d6ap-2f), 0x1.ffffe6p-1f);
    return KRF_F32(copysign)(a < 0.4f ? a * p : 0.5f * (krf_log_normal_half(1 + a) - krf_log_normal_half(1 - a)), x);
}

//@ krf_arc_half
// acos(a) of 0 to 1 by the root of 1 - a, which is exact. Polynomial error 2^-22.9.
KRF_FN float krf_arc_half(float a) {
    float p = KRF_F32(fma)(a, 0x1.296ad6p-9f, -0x1.6a8546p-7f);
    p = KRF_F32(fma)(a, KRF_F32(fma)(a, p, 0x1.b7227p-6f), -0x1.8f59aap-5f);
    p = KRF_F32(fma)(a, KRF_F32(fma)(a, p, 0x1.6b7c6p-4f), -0x1.b777b4p-3f);
    return krf_sqrt_half(1 - a) * KRF_F32(fma)(a, p, 0x1.921fb2p+0f);
}

//@ krf_acos_half
KRF_FN float krf_acos_half(float x) {
    float c = krf_arc_half(KRF_F32(fabs)(x));
    return x < 0 ? 0x1.921fb6p+1f - c : c;
}

//@ krf_asin_half
KRF_FN float krf_asin_half(float x) {
    float a = KRF_F32(fabs)(x), s = x * x;
    float p = KRF_F32(fma)(s, KRF_F32(fma)(s, KRF_F32(fma)(s, 0x1.0a788p-4f, 0x1.24d192p-4f), 0x1.55b648p-3f), 0x1.ffffcep-1f);
    return KRF_F32(copysign)(a < 0.5f ? a * p : 0x1.921fb6p+0f - krf_arc_half(a), x);
}

//@ krf_atan_half
KRF_FN float krf_atan_half(float x) {
    float a = KRF_F32(fabs)(x), inverse = krf_rcpf(a), z = a > 1 ? inverse : a, s = z * z;
    float p = KRF_F32(fma)(s, 0x1.01a37cp-7f, -0x1.2f3004p-5f);
    p = KRF_F32(fma)(s, KRF_F32(fma)(s, p, 0x1.5785aap-4f), -0x1.1436ap-3f);
    p = z * KRF_F32(fma)(s, KRF_F32(fma)(s, KRF_F32(fma)(s, p, 0x1.972be6p-3f), -0x1.55437p-2f), 0x1.ffffeap-1f);
    return KRF_F32(copysign)(a > 1 ? 0x1.921fb6p+0f - p : p, x);
}

//@ krf_pow_signed_half
// x^y from v = abs(x)^y, which is NaN for 1 to an infinite power: the other cases of IEEE's pow. What adding 3 * 2^22 takes from y is no whole number; past 2^22 all are even.
KRF_FN float krf_pow_signed_half(float x, float y, float v) {
    float a = KRF_F32(fabs)(x), b = KRF_F32(fabs)(y), c = b > 0x1p22f ? 0x1p22f : b, t = c + 0x1.8p23f;
    bool whole = t - 0x1.8p23f == c;
    unsigned odd = whole ? krf_pre_bits_f32(t) << 31 : 0;
    float z = krf_pre_unbits_f32(krf_pre_bits_f32(a == 1 ? 1 : v) ^ (odd & krf_pre_bits_f32(x)));
    z = x < 0 && a - a == 0 && !whole ? krf_pre_unbits_f32(0x7fc00000u) : z;
    return x == 1 || y == 0 ? 1 : z;
}

//@ krf_pow_f16
KRF_FN float krf_pow_f16(float x, float y) { return krf_pow_signed_half(x, y, krf_ex2_half(y * KRF_F32(log2)(KRF_F32(fabs)(x)))); }

//@ krf_pow_bf16
KRF_FN float krf_pow_bf16(float x, float y) {
    float root = krf_ex2_half(0.5f * y * KRF_F32(log2)(KRF_F32(fabs)(x)));
    return krf_pow_signed_half(x, y, root * root);
}

//@ krf_sine_half
// sin(x - n pi) for x within pi / 2 of n pi, n and its double up to 2^22; polynomial error 2^-19.8. Both parts of pi are positive: -0 stays what it is.
KRF_FN float krf_sine_half(float x, float n) {
    float r = KRF_F32(fma)(n, -0x1.4442d2p-23f, KRF_F32(fma)(n, -0x1.921fb4p+1f, x)), s = r * r;
    float p = KRF_F32(fma)(s, KRF_F32(fma)(s, -0x1.84dbf4p-13f, 0x1.107136p-7f), -0x1.555112p-3f);
    return r * KRF_F32(fma)(s, p, 1.0f);
}

//@ krf_sin_f16
// By the nearest multiple of pi: the sign changes from each to the next.
KRF_FN float krf_sin_f16(float x) {
    float t = KRF_F32(fma)(x, 0x1.45f306p-2f, 0x1.8p23f);
    return krf_unbits_f32(krf_bits_f32(krf_sine_half(x, t - 0x1.8p23f)) ^ (krf_bits_f32(t) << 31));
}

//@ krf_cos_f16
// As the sine of pi / 2 more.
KRF_FN float krf_cos_f16(float x) {
    float t = KRF_F32(fma)(x, 0x1.45f306p-2f, 0.5f) + 0x1.8p23f;
    return krf_unbits_f32(krf_bits_f32(krf_sine_half(x, (t - 0x1.8p23f) - 0.5f)) ^ (krf_bits_f32(t) << 31));
}

//@ krf_sin_rare
static __device__ __noinline__ float krf_sin_rare(float x) { return KRF_F32(sin)(x); }

//@ krf_cos_rare
static __device__ __noinline__ float krf_cos_rare(float x) { return KRF_F32(cos)(x); }

//@ krf_sin_bf16
KRF_FN float krf_sin_bf16(float x) { return KRF_F32(fabs)(x) < 0x1p+20f ? krf_sin_f16(x) : krf_sin_rare(x); }

//@ krf_cos_bf16
KRF_FN float krf_cos_bf16(float x) { return KRF_F32(fabs)(x) < 0x1p+20f ? krf_cos_f16(x) : krf_cos_rare(x); }
