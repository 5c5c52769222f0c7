// Quotients by a divisor that many elements share: its reciprocal is taken out of the loop, and what is left is without branches. f64 is divided so in fast
// kernels only, and f32 otherwise in kernels of several rounds, where an element is divided by what its row has. Divisors whose reciprocal is none are scaled. Sections as in prelude.h; for
// kernels on a GPU only.

//@ krf_quotient_f16
// With the division's bits, as krf_quotient_f32: f32 has more than twice the digits. The first part is as much smaller as fast kernels' reciprocals may be too large.
KRF_FN float krf_quotient_f16(float a, float b) {
    float r = 1 / b, high = r * 0x1.fffff8p-1f, rest = KRF_F32(fma)(-b, high, 1.0f) * r, low = rest == rest ? rest : high;
    return KRF_F32(fma)(a, high, a * low);
}

//@ krf_quotient_bf16
// With the division's bits: of all pairs of bf16 the product rounds as the quotient does.
KRF_FN float krf_quotient_bf16(float a, float b) {
    float scale = KRF_F32(fabs)(b) < 0x1p-100f ? 0x1p64f : 1.0f;
    return a * scale * (1 / (b * scale));
}

//@ krf_quotient_f32
// With the division's bits, and without the branch of each that keeps compilers from loading ahead: f64 has more than twice the digits, so that a product by the
// reciprocal rounds as the quotient does: that is no nearer to the middle of two numbers than 2^-49 of itself, or exactly there, as subnormal ones may be. So the reciprocal is the sum of two
// numbers, and products that lie in the middle are exact. Both have its sign, or infinite numbers would meet with their opposite; that of 0 and of infinity has no second part of its own. GPUs with few units for f64 divide.
KRF_FN float krf_quotient_f32(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000 && __CUDA_ARCH__ != 1030
    return a / b;
#else
    double r = 1 / (double)b, high = r * (1 - 0x1p-52), rest = KRF_F64(fma)(-(double)b, high, 1.0) * r, low = rest == rest ? rest : high;
    return (float)KRF_F64(fma)((double)a, high, (double)a * low);
#endif
}

//@ krf_over_f32
// With the division's bits, for a literal b from 2^-100 on in absolute value that is no multiple of 2, so that no subnormal quotient lies in the middle of two numbers (a = 9 * 2^-149, b = 6). The quotient
// by the rounded reciprocal is put right once (Markstein): what it leaves of a is exact if both are scaled, so that it is not subnormal, and a is not too large for that. What is left of infinity is
// NaN, and taken for a number, which changes nothing; the signs of the second step keep -0. All but eight instructions are of b, and done by the compiler.
KRF_FN float krf_over_f32(float a, float b) {
    float size = KRF_F32(fabs)(b), s = krf_unbits_f32((278u << 23) - (krf_bits_f32(size) & 0x7f800000u)), r = 1 / b;
    bool large = KRF_F32(fabs)(a) >= 0x1p126f / s;
    float x = large ? a * (0.25f / s) : a, q = x * r;
    float left = KRF_F32(fmin)(KRF_F32(fma)(q, size * s, b < 0 ? x * s : x * -s), 0x1.fffffep127f);
    q = KRF_F32(fma)(left, -KRF_F32(fabs)(r) / s, q);
    return large ? q * (4 * s) : q;
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
