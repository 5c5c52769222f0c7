// Functions of the C library that stand in until codegen/math/real.h has its own: what F(...) in ops.def names and
// real.h lacks. For C only (the interpreter and emitted C); CUDA calls its own library. Where real.h gains a function,
// its two sections here go. The includer defines KRF_FN; a line "//@ NAME" starts the section that defines NAME.
// Functions that are not exactly rounded go by their plain names, which kernels are compiled to take for any function
// (-fno-builtin-pow ..., src/backend/cpu/find.c). As built-in ones, gcc and clang compute them over constants and turn
// pow(x, -1) into 1 / x: other bits than the interpreter's.

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

//@ krf_sinf
float sinf(float x);
KRF_FN float krf_sinf(float x) { return sinf(x); }

//@ krf_sin
double sin(double x);
KRF_FN double krf_sin(double x) { return sin(x); }

//@ krf_cosf
float cosf(float x);
KRF_FN float krf_cosf(float x) { return cosf(x); }

//@ krf_cos
double cos(double x);
KRF_FN double krf_cos(double x) { return cos(x); }

//@ krf_tanf
float tanf(float x);
KRF_FN float krf_tanf(float x) { return tanf(x); }

//@ krf_tan
double tan(double x);
KRF_FN double krf_tan(double x) { return tan(x); }

//@ krf_powf
float powf(float a, float b);
KRF_FN float krf_powf(float a, float b) { return powf(a, b); }

//@ krf_pow
double pow(double a, double b);
KRF_FN double krf_pow(double a, double b) { return pow(a, b); }

//@ krf_atan2f
float atan2f(float a, float b);
KRF_FN float krf_atan2f(float a, float b) { return atan2f(a, b); }

//@ krf_atan2
double atan2(double a, double b);
KRF_FN double krf_atan2(double a, double b) { return atan2(a, b); }

//@ krf_hypotf
float hypotf(float a, float b);
KRF_FN float krf_hypotf(float a, float b) { return hypotf(a, b); }

//@ krf_hypot
double hypot(double a, double b);
KRF_FN double krf_hypot(double a, double b) { return hypot(a, b); }

//@ krf_cbrtf
float cbrtf(float x);
KRF_FN float krf_cbrtf(float x) { return cbrtf(x); }

//@ krf_cbrt
double cbrt(double x);
KRF_FN double krf_cbrt(double x) { return cbrt(x); }

//@ krf_exp2f
float exp2f(float x);
KRF_FN float krf_exp2f(float x) { return exp2f(x); }

//@ krf_exp2
double exp2(double x);
KRF_FN double krf_exp2(double x) { return exp2(x); }

//@ krf_exp10f
float powf(float a, float b);
KRF_FN float krf_exp10f(float x) { return powf(10, x); }

//@ krf_exp10
double pow(double a, double b);
KRF_FN double krf_exp10(double x) { return pow(10, x); }

//@ krf_log2f
float log2f(float x);
KRF_FN float krf_log2f(float x) { return log2f(x); }

//@ krf_log2
double log2(double x);
KRF_FN double krf_log2(double x) { return log2(x); }

//@ krf_log10f
float log10f(float x);
KRF_FN float krf_log10f(float x) { return log10f(x); }

//@ krf_log10
double log10(double x);
KRF_FN double krf_log10(double x) { return log10(x); }

//@ krf_asinf
float asinf(float x);
KRF_FN float krf_asinf(float x) { return asinf(x); }

//@ krf_asin
double asin(double x);
KRF_FN double krf_asin(double x) { return asin(x); }

//@ krf_acosf
float acosf(float x);
KRF_FN float krf_acosf(float x) { return acosf(x); }

//@ krf_acos
double acos(double x);
KRF_FN double krf_acos(double x) { return acos(x); }

//@ krf_atanf
float atanf(float x);
KRF_FN float krf_atanf(float x) { return atanf(x); }

//@ krf_atan
double atan(double x);
KRF_FN double krf_atan(double x) { return atan(x); }

//@ krf_sinhf
float sinhf(float x);
KRF_FN float krf_sinhf(float x) { return sinhf(x); }

//@ krf_sinh
double sinh(double x);
KRF_FN double krf_sinh(double x) { return sinh(x); }

//@ krf_coshf
float coshf(float x);
KRF_FN float krf_coshf(float x) { return coshf(x); }

//@ krf_cosh
double cosh(double x);
KRF_FN double krf_cosh(double x) { return cosh(x); }

//@ krf_asinhf
float asinhf(float x);
KRF_FN float krf_asinhf(float x) { return asinhf(x); }

//@ krf_asinh
double asinh(double x);
KRF_FN double krf_asinh(double x) { return asinh(x); }

//@ krf_acoshf
float acoshf(float x);
KRF_FN float krf_acoshf(float x) { return acoshf(x); }

//@ krf_acosh
double acosh(double x);
KRF_FN double krf_acosh(double x) { return acosh(x); }

//@ krf_atanhf
float atanhf(float x);
KRF_FN float krf_atanhf(float x) { return atanhf(x); }

//@ krf_atanh
double atanh(double x);
KRF_FN double krf_atanh(double x) { return atanh(x); }

//@ krf_erff
float erff(float x);
KRF_FN float krf_erff(float x) { return erff(x); }

//@ krf_erf
double erf(double x);
KRF_FN double krf_erf(double x) { return erf(x); }

//@ krf_erfcf
float erfcf(float x);
KRF_FN float krf_erfcf(float x) { return erfcf(x); }

//@ krf_erfc
double erfc(double x);
KRF_FN double krf_erfc(double x) { return erfc(x); }

//@ krf_j0f
double j0(double x);
KRF_FN float krf_j0f(float x) { return (float)j0((double)x); }

//@ krf_j0
double j0(double x);
KRF_FN double krf_j0(double x) { return j0(x); }

//@ krf_j1f
double j1(double x);
KRF_FN float krf_j1f(float x) { return (float)j1((double)x); }

//@ krf_j1
double j1(double x);
KRF_FN double krf_j1(double x) { return j1(x); }
