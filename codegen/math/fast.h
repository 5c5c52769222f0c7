// What fast kernels on a GPU call in f32, from the processor's approximations; docs/accuracy.md has their errors. Sections as in prelude.h; for kernels on a GPU only.

//@ krf_fast_expf
KRF_FN float krf_fast_expf(float x) { return __expf(x); }

//@ krf_fast_logf
KRF_FN float krf_fast_logf(float x) { return __logf(x); }

//@ krf_fast_log2f
KRF_FN float krf_fast_log2f(float x) { return __log2f(x); }

//@ krf_fast_log10f
KRF_FN float krf_fast_log10f(float x) { return __log10f(x); }

//@ krf_fast_quotient_f32
// By a divisor that many elements share.
KRF_FN float krf_fast_quotient_f32(float a, float b) {
    float r = 1 / b;
    return KRF_F32(fabs)(b) >= 0x1p-120f && KRF_F32(fabs)(b) <= 0x1p120f ? a * r : a / b;
}

//@ krf_fast_quotient_f64
KRF_FN double krf_fast_quotient_f64(double a, double b) {
    double r = 1 / b;
    return KRF_F64(fabs)(b) >= 0x1p-1000 && KRF_F64(fabs)(b) <= 0x1p1000 ? a * r : a / b;
}
