// Quotients by a divisor that many elements share: the compiler takes its reciprocal out of the loop, and a product corrected twice is rounded as a division
// is. The first product is within 1.5 ULP, the first correction makes it one of the quotient's two neighbours, and from such a one Markstein's step with the
// rounded reciprocal rounds correctly, as long as remainders are exact: within the bounds here. Sections as in prelude.h; for kernels on a GPU only.

//@ krf_quotient_f32
KRF_FN float krf_quotient_f32(float a, float b) {
    float r = KRF_F32(fabs)(b) >= 0x1p-20f && KRF_F32(fabs)(b) <= 0x1p60f ? 1 / b : krf_pre_unbits_f32(0x7fc00000u); // no number: see the last step
    float q = a * r;
    q = KRF_F32(fma)(KRF_F32(fma)(-q, b, a), r, q);
    q = KRF_F32(fma)(KRF_F32(fma)(-q, b, a), r, q);
    if (!(KRF_F32(fabs)(q) >= 0x1p-80f && KRF_F32(fabs)(q) <= 0x1p60f)) {
        q = a / b;
    }
    return q;
}

//@ krf_quotient_f64
KRF_FN double krf_quotient_f64(double a, double b) {
    double r = KRF_F64(fabs)(b) >= 0x1p-200 && KRF_F64(fabs)(b) <= 0x1p500 ? 1 / b : krf_pre_unbits_f64(0x7ff8000000000000ull);
    double q = a * r;
    q = KRF_F64(fma)(KRF_F64(fma)(-q, b, a), r, q);
    q = KRF_F64(fma)(KRF_F64(fma)(-q, b, a), r, q);
    if (!(KRF_F64(fabs)(q) >= 0x1p-600 && KRF_F64(fabs)(q) <= 0x1p500)) {
        q = a / b;
    }
    return q;
}

//@ krf_quotient_half
// f16 or bf16 by the same: half the digits of f32 hold, so that one correction, within an ULP of f32, rounds as the quotient does; exact quotients stay exact.
// Where there is no remainder to speak of (0,
// infinity, NaN) the product is the quotient.
KRF_FN float krf_quotient_half(float a, float b) {
    float r = 1 / b, q = a * r, rest = KRF_F32(fma)(-q, b, a);
    q = KRF_F32(fabs)(rest) > 0 && KRF_F32(fabs)(q) <= 0x1.fffffep127f ? KRF_F32(fma)(rest, r, q) : q;
    if (!(KRF_F32(fabs)(b) >= 0x1p-100f && KRF_F32(fabs)(b) <= 0x1p100f)) {
        q = a / b;
    }
    return q;
}
