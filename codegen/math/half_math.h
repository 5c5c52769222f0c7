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
// The logarithm of 1 + t for t up to 1/8, where the processor's is good to an absolute 2^-21.4 and not to so many digits.
KRF_FN float krf_log_of_one_and_half(float t) {
    float p = KRF_F32(fma)(t, -0x1.555556p-3f, 0x1.99999ap-3f);
    p = KRF_F32(fma)(t, KRF_F32(fma)(t, p, -0.25f), 0x1.555556p-2f);
    return t * KRF_F32(fma)(t, KRF_F32(fma)(t, p, -0.5f), 1.0f);
}

//@ krf_log_half
KRF_FN float krf_log_half(float x) {
    float t = x - 1;
    return KRF_F32(fabs)(t) <= 0.125f ? krf_log_of_one_and_half(t) : __logf(x);
}

//@ krf_log2_half
KRF_FN float krf_log2_half(float x) {
    float t = x - 1;
    return KRF_F32(fabs)(t) <= 0.125f ? krf_log_of_one_and_half(t) * 0x1.715476p+0f : __log2f(x);
}

//@ krf_log10_half
KRF_FN float krf_log10_half(float x) {
    float t = x - 1;
    return KRF_F32(fabs)(t) <= 0.125f ? krf_log_of_one_and_half(t) * 0x1.bcb7b2p-2f : __log10f(x);
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

//@ krf_reciprocal_half
// Of y >= 1: what a quotient's needs for small and large divisors is left out.
KRF_FN float krf_reciprocal_half(float y) {
#ifdef __CUDA_ARCH__
    float x;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(y));
    return x;
#else
    return 1 / y;
#endif
}

//@ krf_tanh_half
KRF_FN float krf_tanh_half(float x) {
    float a = KRF_F32(fabs)(x), s = x * x;
    float p = KRF_F32(fma)(s, KRF_F32(fma)(s, -0x1.ba1ba2p-5f, 0x1.111112p-3f), -0x1.555556p-2f);
    float large = KRF_F32(fma)(-2.0f, krf_reciprocal_half(krf_ex2_half(a * 0x1.715476p+1f) + 1), 1.0f);
    return KRF_F32(copysign)(a < 0.25f ? KRF_F32(fma)(a * s, p, a) : large, x);
}

//@ krf_sigmoid_half
KRF_FN float krf_sigmoid_half(float x) {
    float e = krf_exp_bf16(-KRF_F32(fabs)(x));
    return (x < 0 ? e : 1.0f) * krf_reciprocal_half(1 + e);
}

//@ krf_silu_half
KRF_FN float krf_silu_half(float x) {
    float y = x < -120 ? -120 : x; // at -infinity -0
    return y * krf_sigmoid_half(y);
}
