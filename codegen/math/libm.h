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
