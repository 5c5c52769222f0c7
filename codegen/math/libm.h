// Functions that processors have instructions for: what F(...) in ops.def names and the other files lack. For C only (the
// interpreter and emitted C); CUDA calls its own library. All are exact or exactly rounded (rsqrt in two steps), so it does not
// matter who computes them. The includer defines KRF_FN; a line "//@ NAME" starts the section that defines NAME.

//@ krf_fabsf
KRF_FN float krf_fabsf(float x) { return __builtin_fabsf(x); }

//@ krf_fabs
KRF_FN double krf_fabs(double x) { return __builtin_fabs(x); }

//@ krf_sqrtf
KRF_FN float krf_sqrtf(float x) { return __builtin_sqrtf(x); }

//@ krf_sqrt
KRF_FN double krf_sqrt(double x) { return __builtin_sqrt(x); }

//@ krf_floorf
KRF_FN float krf_floorf(float x) { return __builtin_floorf(x); }

//@ krf_floor
KRF_FN double krf_floor(double x) { return __builtin_floor(x); }

//@ krf_ceilf
KRF_FN float krf_ceilf(float x) { return __builtin_ceilf(x); }

//@ krf_ceil
KRF_FN double krf_ceil(double x) { return __builtin_ceil(x); }

//@ krf_rintf
KRF_FN float krf_rintf(float x) { return __builtin_rintf(x); }

//@ krf_rint
KRF_FN double krf_rint(double x) { return __builtin_rint(x); }

//@ krf_truncf
KRF_FN float krf_truncf(float a) { return __builtin_truncf(a); }

//@ krf_trunc
KRF_FN double krf_trunc(double a) { return __builtin_trunc(a); }

//@ krf_copysignf
KRF_FN float krf_copysignf(float a, float b) { return __builtin_copysignf(a, b); }

//@ krf_copysign
KRF_FN double krf_copysign(double a, double b) { return __builtin_copysign(a, b); }

//@ krf_fmaf
KRF_FN float krf_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

//@ krf_fma
KRF_FN double krf_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

//@ krf_rsqrtf
KRF_FN float krf_rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }

//@ krf_rsqrt
KRF_FN double krf_rsqrt(double x) { return 1 / __builtin_sqrt(x); }
