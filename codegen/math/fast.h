// What fast kernels on a GPU call in f32, from the processor's approximations; docs/accuracy.md has their errors. Sections as in prelude.h; for kernels on a GPU only.

//@ krf_fast_expf
KRF_FN float krf_fast_expf(float x) { return __expf(x); }

//@ krf_fast_logf
KRF_FN float krf_fast_logf(float x) { return __logf(x); }

//@ krf_fast_log2f
KRF_FN float krf_fast_log2f(float x) { return __log2f(x); }

//@ krf_fast_log10f
KRF_FN float krf_fast_log10f(float x) { return __log10f(x); }
