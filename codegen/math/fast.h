// What fast kernels on a GPU call in f32, from the processor's approximations; docs/accuracy.md has their errors. "half": where the operand is f16 or bf16.
// Sections as in prelude.h; for kernels on a GPU only.

//@ krf_fast_expf
KRF_FN float krf_fast_expf(float x) { return __expf(x); }

//@ krf_fast_exp_half
KRF_FN float krf_fast_exp_half(float x) { return __expf(x); }

//@ krf_fast_logf
KRF_FN float krf_fast_logf(float x) { return __logf(x); }

//@ krf_fast_log_half
KRF_FN float krf_fast_log_half(float x) { return __logf(x); }

//@ krf_fast_log2f
KRF_FN float krf_fast_log2f(float x) { return __log2f(x); }

//@ krf_fast_log2_half
KRF_FN float krf_fast_log2_half(float x) { return __log2f(x); }

//@ krf_fast_log10f
KRF_FN float krf_fast_log10f(float x) { return __log10f(x); }

//@ krf_fast_log10_half
KRF_FN float krf_fast_log10_half(float x) { return __log10f(x); }

//@ krf_fast_log1p_half
// The logarithm of 1 + x has too few digits where x is small.
KRF_FN float krf_fast_log1p_half(float x) {
    float series = x * (1 + x * (-0.5f + x * 0.33333334f));
    return KRF_F32(fabs)(x) < 0.015625f ? series : __logf(1 + x);
}
