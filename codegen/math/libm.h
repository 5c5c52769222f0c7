// Functions of the C library that stand in until codegen/math/real.h has its own: what F(...) in ops.def names and
// real.h lacks. For C only (the interpreter and emitted C); CUDA calls its own library. Where real.h gains a function,
// its two sections here go. The includer defines KRF_FN; a line "//@ NAME" starts the section that defines NAME.

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

//@ krf_sinf
KRF_FN float krf_sinf(float x) { return __builtin_sinf(x); }

//@ krf_sin
KRF_FN double krf_sin(double x) { return __builtin_sin(x); }

//@ krf_cosf
KRF_FN float krf_cosf(float x) { return __builtin_cosf(x); }

//@ krf_cos
KRF_FN double krf_cos(double x) { return __builtin_cos(x); }

//@ krf_tanf
KRF_FN float krf_tanf(float x) { return __builtin_tanf(x); }

//@ krf_tan
KRF_FN double krf_tan(double x) { return __builtin_tan(x); }

//@ krf_powf
KRF_FN float krf_powf(float a, float b) { return __builtin_powf(a, b); }

//@ krf_pow
KRF_FN double krf_pow(double a, double b) { return __builtin_pow(a, b); }

//@ krf_atan2f
KRF_FN float krf_atan2f(float a, float b) { return __builtin_atan2f(a, b); }

//@ krf_atan2
KRF_FN double krf_atan2(double a, double b) { return __builtin_atan2(a, b); }

//@ krf_hypotf
KRF_FN float krf_hypotf(float a, float b) { return __builtin_hypotf(a, b); }

//@ krf_hypot
KRF_FN double krf_hypot(double a, double b) { return __builtin_hypot(a, b); }
