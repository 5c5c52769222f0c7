// Quotients by a divisor that many elements share: its reciprocal is taken out of the loop, and what is left is without branches. f32 and f64 are divided so in fast
// kernels only: from a reciprocal, compilers make correctly rounded quotients themselves. Divisors whose reciprocal is none are scaled. Sections as in prelude.h; for
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
