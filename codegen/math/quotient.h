// Quotients by a divisor that many elements share: its reciprocal is taken out of the loop, and what is left is without branches. f64 is divided so in fast
// kernels only, and f32 otherwise in kernels of several rounds, where an element is divided by what its row has. Divisors whose reciprocal is none are scaled. Sections as in prelude.h; for
// kernels on a GPU only.

//@ krf_quotient_f16
// With the division's bits: f32 has twice the digits, so that one correction, within an ULP of f32, rounds as the quotient does; exact quotients stay exact. Where
// there is no remainder to speak of (0, infinity, NaN) the product is the quotient.
KRF_FN float krf_quotient_f16(float a, float b) {
    float r = 1 / b, q = a * r, rest = KRF_F32(fma)(-q, b, a);
    return KRF_F32(fabs)(rest) > 0 && KRF_F32(fabs)(q) <= 0x1.fffffep127f ? KRF_F32(fma)(rest, r, q) : q;
}

//@ krf_quotient_bf16
// With the division's bits: of all pairs of bf16 the product rounds as the quotient does.
KRF_FN float krf_quotient_bf16(float a, float b) {
    float scale = KRF_F32(fabs)(b) < 0x1p-100f ? 0x1p64f : 1.0f;
    return a * scale * (1 / (b * scale));
}

//@ krf_quotient_f32
// With the division's bits, and without the branch of each that keeps compilers from loading ahead: f64 has more than twice the digits, so that a product by the
// reciprocal, within two ULPs of f64, rounds as the quotient does: that is no nearer to the middle of two numbers than 2^-49 of itself, or exactly there, as subnormal
// ones may be, for which it is corrected. GPUs with few units for f64 divide.
KRF_FN float krf_quotient_f32(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000 && __CUDA_ARCH__ != 1030
    return a / b;
#else
    double r = 1 / (double)b, q = (double)a * r, rest = KRF_F64(fma)(-q, (double)b, (double)a);
    return (float)(KRF_F64(fabs)(rest) > 0 ? KRF_F64(fma)(rest, r, q) : q);
#endif
}

//@ krf_fast_quotient_f32
KRF_FN float krf_fast_quotient_f32(float a, float b) {
    float scale = KRF_F32(fabs)(b) > 0x1p100f ? 0x1p-60f : 1.0f; // fast kernels take subnormal numbers for 0
    return a * scale * (1 / (b * scale));
}

//@ krf_fast_quotient_f64
KRF_FN double krf_fast_quotient_f64(double a, double b) {
    double scale = KRF_F64(fabs)(b) > 0x1p900 ? 0x1p-200 : KRF_F64(fabs)(b) < 0x1p-900 ? 0x1p200 : 1.0;
    return a * scale * (1 / (b * scale));
}
