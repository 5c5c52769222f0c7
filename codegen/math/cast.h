// Casts of real numbers to integers: they truncate, clamp to the ends, and send NaN to 0, which C leaves undefined and CUDA
// does unevenly. A NaN fails all comparisons. What truncates to 0 does so before it is converted: gcc takes (float)(int)x for
// trunc(x), which is -0 for -0.5. Of f32 a GPU has one instruction for all that, up to 32 bits. Sections as in prelude.h.

//@ krf_cast_f32_i8
KRF_FN signed char krf_cast_f32_i8(float x) {
#ifdef __CUDACC__
    int whole;
    asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(whole) : "f"(x));
    return (signed char)whole;
#else
    float size = KRF_F32(fabs)(x);
    float inside = size >= 1 && size < 128.0f ? x : 0;
    int whole = (int)inside;
    whole = x >= 128.0f ? 127 : whole;
    return (signed char)(x <= -128.0f ? -128 : whole);
#endif
}

//@ krf_cast_f32_i16
KRF_FN short krf_cast_f32_i16(float x) {
#ifdef __CUDACC__
    short whole;
    asm("cvt.rzi.s16.f32 %0, %1;" : "=h"(whole) : "f"(x));
    return whole;
#else
    float size = KRF_F32(fabs)(x);
    float inside = size >= 1 && size < 32768.0f ? x : 0;
    int whole = (int)inside;
    whole = x >= 32768.0f ? 32767 : whole;
    return (short)(x <= -32768.0f ? -32768 : whole);
#endif
}

//@ krf_cast_f32_i32
KRF_FN int krf_cast_f32_i32(float x) {
#ifdef __CUDACC__
    int whole;
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole) : "f"(x));
    return whole;
#else
    float size = KRF_F32(fabs)(x);
    float inside = size >= 1 && size < 2147483648.0f ? x : 0;
    int whole = (int)inside;
    whole = x >= 2147483648.0f ? 0x7fffffff : whole;
    return x <= -2147483648.0f ? -0x7fffffff - 1 : whole;
#endif
}

//@ krf_cast_f32_i64
KRF_FN long long krf_cast_f32_i64(float x) {
    float size = KRF_F32(fabs)(x);
    float inside = size >= 1 && size < 9223372036854775808.0f ? x : 0;
    long long whole = (long long)inside;
    whole = x >= 9223372036854775808.0f ? 0x7fffffffffffffffll : whole;
    return x <= -9223372036854775808.0f ? -0x7fffffffffffffffll - 1 : whole;
}

//@ krf_cast_f32_u8
KRF_FN unsigned char krf_cast_f32_u8(float x) {
#ifdef __CUDACC__
    unsigned whole;
    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(whole) : "f"(x));
    return (unsigned char)whole;
#else
    float inside = x >= 1 && x < 256.0f ? x : 0;
    int whole = (int)inside;
    return (unsigned char)(x >= 256.0f ? 255 : whole);
#endif
}

//@ krf_cast_f32_u16
KRF_FN unsigned short krf_cast_f32_u16(float x) {
#ifdef __CUDACC__
    unsigned short whole;
    asm("cvt.rzi.u16.f32 %0, %1;" : "=h"(whole) : "f"(x));
    return whole;
#else
    float inside = x >= 1 && x < 65536.0f ? x : 0;
    int whole = (int)inside;
    return (unsigned short)(x >= 65536.0f ? 65535 : whole);
#endif
}

//@ krf_cast_f32_u32
KRF_FN unsigned krf_cast_f32_u32(float x) {
#ifdef __CUDACC__
    unsigned whole;
    asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(whole) : "f"(x));
    return whole;
#else
    float inside = x >= 1 && x < 4294967296.0f ? x : 0;
    unsigned whole = (unsigned)inside;
    return x >= 4294967296.0f ? 0xffffffffu : whole;
#endif
}

//@ krf_cast_f32_u64
KRF_FN unsigned long long krf_cast_f32_u64(float x) {
    float inside = x >= 1 && x < 18446744073709551616.0f ? x : 0;
    unsigned long long whole = (unsigned long long)inside;
    return x >= 18446744073709551616.0f ? 0xffffffffffffffffull : whole;
}

//@ krf_cast_f64_i8
KRF_FN signed char krf_cast_f64_i8(double x) {
    double size = KRF_F64(fabs)(x);
    double inside = size >= 1 && size < 128.0 ? x : 0;
    int whole = (int)inside;
    whole = x >= 128.0 ? 127 : whole;
    return (signed char)(x <= -128.0 ? -128 : whole);
}

//@ krf_cast_f64_i16
KRF_FN short krf_cast_f64_i16(double x) {
    double size = KRF_F64(fabs)(x);
    double inside = size >= 1 && size < 32768.0 ? x : 0;
    int whole = (int)inside;
    whole = x >= 32768.0 ? 32767 : whole;
    return (short)(x <= -32768.0 ? -32768 : whole);
}

//@ krf_cast_f64_i32
KRF_FN int krf_cast_f64_i32(double x) {
    double size = KRF_F64(fabs)(x);
    double inside = size >= 1 && size < 2147483648.0 ? x : 0;
    int whole = (int)inside;
    whole = x >= 2147483648.0 ? 0x7fffffff : whole;
    return x <= -2147483648.0 ? -0x7fffffff - 1 : whole;
}

//@ krf_cast_f64_i64
KRF_FN long long krf_cast_f64_i64(double x) {
    double size = KRF_F64(fabs)(x);
    double inside = size >= 1 && size < 9223372036854775808.0 ? x : 0;
    long long whole = (long long)inside;
    whole = x >= 9223372036854775808.0 ? 0x7fffffffffffffffll : whole;
    return x <= -9223372036854775808.0 ? -0x7fffffffffffffffll - 1 : whole;
}

//@ krf_cast_f64_u8
KRF_FN unsigned char krf_cast_f64_u8(double x) {
    double inside = x >= 1 && x < 256.0 ? x : 0;
    int whole = (int)inside;
    return (unsigned char)(x >= 256.0 ? 255 : whole);
}

//@ krf_cast_f64_u16
KRF_FN unsigned short krf_cast_f64_u16(double x) {
    double inside = x >= 1 && x < 65536.0 ? x : 0;
    int whole = (int)inside;
    return (unsigned short)(x >= 65536.0 ? 65535 : whole);
}

//@ krf_cast_f64_u32
KRF_FN unsigned krf_cast_f64_u32(double x) {
    double inside = x >= 1 && x < 4294967296.0 ? x : 0;
    unsigned whole = (unsigned)inside;
    return x >= 4294967296.0 ? 0xffffffffu : whole;
}

//@ krf_cast_f64_u64
KRF_FN unsigned long long krf_cast_f64_u64(double x) {
    double inside = x >= 1 && x < 18446744073709551616.0 ? x : 0;
    unsigned long long whole = (unsigned long long)inside;
    return x >= 18446744073709551616.0 ? 0xffffffffffffffffull : whole;
}
