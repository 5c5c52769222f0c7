// Functions of f16 and bf16, computed in f32 from the processor's approximations: good to 2^-18 of the value, so that the rounding to f16 is within 0.51 ULP.
// Sections as in prelude.h; for kernels on a GPU only.

//@ krf_exp_half
KRF_FN float krf_exp_half(float x) { return __expf(x); }

//@ krf_expm1_half
KRF_FN float krf_expm1_half(float x) {
    float p = KRF_F32(fma)(x, 0x1.6c16c2p-10f, 0x1.111112p-7f);
    p = KRF_F32(fma)(x, KRF_F32(fma)(x, p, 0x1.555556p-5f), 0x1.555556p-3f);
    p = KRF_F32(fma)(x, KRF_F32(fma)(x, p, 0.5f), 1.0f);
    return KRF_F32(fabs)(x) < 0.25f ? x * p : __expf(x) - 1;
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

//@ krf_log1p_half
// 1 + x is never subnormal: what __logf does about that is left out.
KRF_FN float krf_log1p_half(float x) {
#ifdef __CUDA_ARCH__
    float large;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(large) : "f"(1 + x));
    large *= 0x1.62e430p-1f;
#else
    float large = __logf(1 + x);
#endif
    return KRF_F32(fabs)(x) <= 0.125f ? krf_log_of_one_and_half(x) : large;
}

//@ krf_tanh_half
KRF_FN float krf_tanh_half(float x) {
    float a = KRF_F32(fabs)(x), s = x * x;
    float p = KRF_F32(fma)(s, KRF_F32(fma)(s, -0x1.ba1ba2p-5f, 0x1.111112p-3f), -0x1.555556p-2f);
    float large = 1 - __fdividef(2.0f, __expf(2 * a) + 1);
    return KRF_F32(copysign)(a < 0.25f ? KRF_F32(fma)(a * s, p, a) : large, x);
}

//@ krf_sigmoid_half
KRF_FN float krf_sigmoid_half(float x) {
    float e = __expf(-KRF_F32(fabs)(x));
    return __fdividef(x < 0 ? e : 1.0f, 1 + e);
}

//@ krf_silu_half
KRF_FN float krf_silu_half(float x) {
    float y = x < -120 ? -120 : x; // at -infinity -0
    return y * krf_sigmoid_half(y);
}
