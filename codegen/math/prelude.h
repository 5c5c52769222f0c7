// Helpers of generated kernels and of the interpreter that are no elementary functions: integer arithmetic that wraps
// and never traps (x // 0 and x % 0 are 0), Python's // and %, shifts by any count, maximum and minimum that propagate
// NaN. 8 and 16 bits are served by 32. Valid C11 and CUDA C++; no operands make them undefined.
// The includer defines KRF_FN ("static inline", or "static __device__ __forceinline__"), and KRF_F32(f) and KRF_F64(f),
// the C library's function f: __builtin_fmodf and __builtin_fmod in C, fmodf and fmod in CUDA.
// A line "//@ NAME" starts the section that defines NAME; sections name only what earlier sections define.

//@ krf_bool
// What users' code computes bools in: elsewhere these are bytes of 0 and 1, in which 1 + 1, 256 and 0.5 would not be true.
#ifdef __cplusplus
typedef bool krf_bool;
#else
typedef _Bool krf_bool;
#endif

//@ krf_quotient_i32
// a / b, not by 0, nor of the lowest by -1. In f64, which has room for 32 bits beside what a quotient differs by from the next whole number: processors have vectors of these.
KRF_FN int krf_quotient_i32(int a, int b) {
#ifdef __CUDACC__
    return a / b;
#else
    return (int)((double)a / (double)b);
#endif
}

//@ krf_quotient_u32
// Likewise, not by 0 or 1: a quotient by 2 or more is an int, which vectors are converted to.
KRF_FN unsigned krf_quotient_u32(unsigned a, unsigned b) {
#ifdef __CUDACC__
    return a / b;
#else
    return (unsigned)(int)(((double)(int)(a ^ 0x80000000u) + 0x1p31) / ((double)(int)(b ^ 0x80000000u) + 0x1p31));
#endif
}

//@ krf_floor_divide_i32
// Division by 0 gives 0; the divisor -1 is negation that wraps, because the lowest value / -1 traps.
// By a positive literal without comparisons: of a negative number, -1 - a is divided, and the quotient turned back.
KRF_FN int krf_floor_divide_i32(int a, int b) {
#ifndef __CUDA_ARCH__
    if (__builtin_constant_p(b) && b > 0) {
        int sign = a >> 31;
        return (int)((unsigned)(a ^ sign) / (unsigned)b) ^ sign;
    }
#endif
    int d = b == 0 || b == -1 ? 1 : b;
    int q = krf_quotient_i32(a, d), r = a - q * d;
    q -= r != 0 && (r < 0) != (d < 0);
    return b == 0 ? 0 : b == -1 ? (int)(0 - (unsigned)a) : q;
}

//@ krf_floor_divide_i64
// Division by 0 gives 0; the divisor -1 is negation that wraps, because the lowest value / -1 traps.
KRF_FN long long krf_floor_divide_i64(long long a, long long b) {
#ifndef __CUDA_ARCH__
    if (__builtin_constant_p(b) && b > 0) {
        long long sign = a >> 63;
        return (long long)((unsigned long long)(a ^ sign) / (unsigned long long)b) ^ sign;
    }
#endif
    long long d = b == 0 || b == -1 ? 1 : b;
    long long q = a / d, r = a % d;
    q -= r != 0 && (r < 0) != (d < 0);
    return b == 0 ? 0 : b == -1 ? (long long)(0 - (unsigned long long)a) : q;
}

//@ krf_remainder_i32
KRF_FN int krf_remainder_i32(int a, int b) {
#ifndef __CUDA_ARCH__
    if (__builtin_constant_p(b) && b > 0) { // the same division, should the quotient be wanted too
        int sign = a >> 31;
        return (int)((unsigned)a - (unsigned)((int)((unsigned)(a ^ sign) / (unsigned)b) ^ sign) * (unsigned)b);
    }
#endif
    int d = b == 0 || b == -1 ? 1 : b; // any remainder by 1 is the 0 that is wanted
    int r = a - krf_quotient_i32(a, d) * d;
    return r != 0 && (r < 0) != (d < 0) ? r + d : r;
}

//@ krf_remainder_i64
KRF_FN long long krf_remainder_i64(long long a, long long b) {
#ifndef __CUDA_ARCH__
    if (__builtin_constant_p(b) && b > 0) {
        long long sign = a >> 63;
        return (long long)((unsigned long long)a - (unsigned long long)((long long)((unsigned long long)(a ^ sign) / (unsigned long long)b) ^ sign) * (unsigned long long)b);
    }
#endif
    long long d = b == 0 || b == -1 ? 1 : b; // any remainder by 1 is the 0 that is wanted
    long long r = a % d;
    return r != 0 && (r < 0) != (d < 0) ? r + d : r;
}

//@ krf_power_i32
// By squaring. A negative exponent gives the truncated reciprocal: 1 and -1 have one, all others (0 too) give 0.
KRF_FN int krf_power_i32(int a, int b) {
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0;
    }
    unsigned result = 1, square = (unsigned)a;
    for (unsigned e = (unsigned)b; e != 0; e >>= 1) {
        result *= (e & 1) != 0 ? square : 1;
        square *= square;
    }
    return (int)result;
}

//@ krf_power_i64
// By squaring. A negative exponent gives the truncated reciprocal: 1 and -1 have one, all others (0 too) give 0.
KRF_FN long long krf_power_i64(long long a, long long b) {
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0;
    }
    unsigned long long result = 1, square = (unsigned long long)a;
    for (unsigned long long e = (unsigned long long)b; e != 0; e >>= 1) {
        result *= (e & 1) != 0 ? square : 1;
        square *= square;
    }
    return (long long)result;
}

//@ krf_left_shift_i32
KRF_FN int krf_left_shift_i32(int a, int b) {
    unsigned count = (unsigned)b;
    int shifted = (int)((unsigned)a << (count & 31));
    return count < 32 ? shifted : 0;
}

//@ krf_left_shift_i64
KRF_FN long long krf_left_shift_i64(long long a, long long b) {
    unsigned long long count = (unsigned long long)b;
    long long shifted = (long long)((unsigned long long)a << (count & 63));
    return count < 64 ? shifted : 0;
}

//@ krf_right_shift_i32
// A count out of range leaves the sign alone, and so does the largest count.
KRF_FN int krf_right_shift_i32(int a, int b) {
    unsigned count = (unsigned)b;
    return a >> (count < 32 ? count : 31);
}

//@ krf_right_shift_i64
// A count out of range leaves the sign alone, and so does the largest count.
KRF_FN long long krf_right_shift_i64(long long a, long long b) {
    unsigned long long count = (unsigned long long)b;
    return a >> (count < 64 ? count : 63);
}

//@ krf_floor_divide_u32
KRF_FN unsigned krf_floor_divide_u32(unsigned a, unsigned b) {
#ifndef __CUDA_ARCH__
    if (__builtin_constant_p(b)) { // a product
        return b == 0 ? 0 : a / b;
    }
#endif
    return b == 0 ? 0 : b == 1 ? a : krf_quotient_u32(a, b < 2 ? 2 : b);
}

//@ krf_remainder_u32
KRF_FN unsigned krf_remainder_u32(unsigned a, unsigned b) {
#ifndef __CUDA_ARCH__
    if (__builtin_constant_p(b)) {
        return b == 0 ? 0 : a % b;
    }
#endif
    const unsigned d = b < 2 ? 2 : b, r = a - krf_quotient_u32(a, d) * d;
    return b < 2 ? 0 : r;
}

//@ krf_power_u32
KRF_FN unsigned krf_power_u32(unsigned a, unsigned b) {
    unsigned result = 1, square = a;
    for (unsigned e = b; e != 0; e >>= 1) {
        result *= (e & 1) != 0 ? square : 1;
        square *= square;
    }
    return result;
}

//@ krf_left_shift_u32
KRF_FN unsigned krf_left_shift_u32(unsigned a, unsigned b) { return b < 32 ? a << (b & 31) : 0; }

//@ krf_right_shift_u32
KRF_FN unsigned krf_right_shift_u32(unsigned a, unsigned b) { return b < 32 ? a >> (b & 31) : 0; }

//@ krf_floor_divide_u64
KRF_FN unsigned long long krf_floor_divide_u64(unsigned long long a, unsigned long long b) { return b == 0 ? 0 : a / b; }

//@ krf_remainder_u64
KRF_FN unsigned long long krf_remainder_u64(unsigned long long a, unsigned long long b) { return b == 0 ? 0 : a % b; }

//@ krf_power_u64
KRF_FN unsigned long long krf_power_u64(unsigned long long a, unsigned long long b) {
    unsigned long long result = 1, square = a;
    for (unsigned long long e = b; e != 0; e >>= 1) {
        result *= (e & 1) != 0 ? square : 1;
        square *= square;
    }
    return result;
}

//@ krf_left_shift_u64
KRF_FN unsigned long long krf_left_shift_u64(unsigned long long a, unsigned long long b) { return b < 64 ? a << (b & 63) : 0; }

//@ krf_right_shift_u64
KRF_FN unsigned long long krf_right_shift_u64(unsigned long long a, unsigned long long b) { return b < 64 ? a >> (b & 63) : 0; }

//@ krf_fmod_f32
// Exact as the C library's, which compilers call for each element. Here quotients are taken off from the highest digits on, 48 at a time: each is within a few units of the
// true one, and what is left has no more digits than f64 has.
KRF_FN float krf_fmod_f32(float a, float b) {
#if defined(__CUDACC__) || !(defined(__FMA__) || defined(__ARM_FEATURE_FMA))
    return KRF_F32(fmod)(a, b);
#else
    double x = KRF_F64(fabs)((double)a), y = KRF_F64(fabs)((double)b), inverse = 1 / y, r = x;
    r = KRF_F64(fma)(-KRF_F64(rint)(r * (inverse * 0x1p-240)), y * 0x1p240, r);
    r = KRF_F64(fma)(-KRF_F64(rint)(r * (inverse * 0x1p-192)), y * 0x1p192, r);
    r = KRF_F64(fma)(-KRF_F64(rint)(r * (inverse * 0x1p-144)), y * 0x1p144, r);
    r = KRF_F64(fma)(-KRF_F64(rint)(r * (inverse * 0x1p-96)), y * 0x1p96, r);
    r = KRF_F64(fma)(-KRF_F64(rint)(r * (inverse * 0x1p-48)), y * 0x1p48, r);
    r = KRF_F64(fma)(-KRF_F64(rint)(r * inverse), y, r);
    r = r < 0 ? r + y : r;
    return KRF_F32(copysign)((float)(x < y ? x : r), a);
#endif
}

//@ krf_floor_quotient_f32
// floor(a / b), mod = fmod(a, b), as NumPy's npy_floor_divide: (a - mod) / b is nearly an integer, which rounding then makes exact.
KRF_FN float krf_floor_quotient_f32(float a, float b, float mod) {
    float quotient = (a - mod) / b;
    quotient = mod != 0 && (b < 0) != (mod < 0) ? quotient - 1 : quotient;
    float whole = KRF_F32(floor)(quotient);
    whole = quotient - whole > 0.5f ? whole + 1 : whole;
    whole = quotient == 0 ? KRF_F32(copysign)(0.0f, a / b) : whole;
    return b == 0 ? a / b : whole;
}

//@ krf_floor_divide_f32
KRF_FN float krf_floor_divide_f32(float a, float b) { return krf_floor_quotient_f32(a, b, krf_fmod_f32(a, b)); }

//@ krf_floor_quotient_f64
// floor(a / b), mod = fmod(a, b), as NumPy's npy_floor_divide: (a - mod) / b is nearly an integer, which rounding then makes exact.
KRF_FN double krf_floor_quotient_f64(double a, double b, double mod) {
    double quotient = (a - mod) / b;
    quotient = mod != 0 && (b < 0) != (mod < 0) ? quotient - 1 : quotient;
    double whole = KRF_F64(floor)(quotient);
    whole = quotient - whole > 0.5 ? whole + 1 : whole;
    whole = quotient == 0 ? KRF_F64(copysign)(0.0, a / b) : whole;
    return b == 0 ? a / b : whole;
}

//@ krf_floor_divide_f64
KRF_FN double krf_floor_divide_f64(double a, double b) { return krf_floor_quotient_f64(a, b, KRF_F64(fmod)(a, b)); }

//@ krf_remainder_f32
// fmod with the divisor's sign, on zeros too.
KRF_FN float krf_remainder_f32(float a, float b) {
    float mod = krf_fmod_f32(a, b);
    float moved = (b < 0) != (mod < 0) ? mod + b : mod;
    return mod == 0 ? KRF_F32(copysign)(0.0f, b) : moved;
}

//@ krf_remainder_f64
// fmod with the divisor's sign, on zeros too.
KRF_FN double krf_remainder_f64(double a, double b) {
    double mod = KRF_F64(fmod)(a, b);
    double moved = (b < 0) != (mod < 0) ? mod + b : mod;
    return mod == 0 ? KRF_F64(copysign)(0.0, b) : moved;
}

//@ krf_pre_bits_f32
// Through a union, as NVRTC has no such function to copy bytes with.
KRF_FN unsigned krf_pre_bits_f32(float x) {
    union {
        float number;
        unsigned bits;
    } pun;
    pun.number = x;
    return pun.bits;
}

//@ krf_pre_unbits_f32
KRF_FN float krf_pre_unbits_f32(unsigned bits) {
    union {
        unsigned bits;
        float number;
    } pun;
    pun.bits = bits;
    return pun.number;
}

//@ krf_pre_bits_f64
KRF_FN unsigned long long krf_pre_bits_f64(double x) {
    union {
        double number;
        unsigned long long bits;
    } pun;
    pun.number = x;
    return pun.bits;
}

//@ krf_pre_unbits_f64
KRF_FN double krf_pre_unbits_f64(unsigned long long bits) {
    union {
        unsigned long long bits;
        double number;
    } pun;
    pun.bits = bits;
    return pun.number;
}

//@ krf_isinf_f32
// By the bits: NVRTC folds x - x != x - x to false for a constant that is infinite.
KRF_FN int krf_isinf_f32(float x) { return (krf_pre_bits_f32(x) & 0x7fffffffu) == 0x7f800000u; }

//@ krf_isinf_f64
KRF_FN int krf_isinf_f64(double x) { return (krf_pre_bits_f64(x) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull; }

//@ krf_maximum_f32
// Selects only, for the vectoriser. The and of equal numbers is the number, but +0 for zeros of both signs.
KRF_FN float krf_maximum_f32(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
#else
    float other = a > b ? a : b; // b where b is a NaN
    float equal = krf_pre_unbits_f32(krf_pre_bits_f32(a) & krf_pre_bits_f32(b));
    float number = a == b ? equal : other;
    return a != a ? a : number;
#endif
}

//@ krf_maximum_f64
// Selects only, for the vectoriser. The and of equal numbers is the number, but +0 for zeros of both signs. Constants are hidden: NVRTC makes max.f64 of what it knows
// about them, and ptxas 13.0, where it is short of predicates, computes that one's anew as x == 0, which loses the lower half of x.
KRF_FN double krf_maximum_f64(double a, double b) {
#ifdef __CUDACC__
    asm("" : "+d"(a), "+d"(b));
#endif
    double other = a > b ? a : b; // b where b is a NaN
    double equal = krf_pre_unbits_f64(krf_pre_bits_f64(a) & krf_pre_bits_f64(b));
    double number = a == b ? equal : other;
    return a != a ? a : number;
}

//@ krf_minimum_f32
// Selects only, for the vectoriser. The or of equal numbers is the number, but -0 for zeros of both signs.
KRF_FN float krf_minimum_f32(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
#else
    float other = a < b ? a : b; // b where b is a NaN
    float equal = krf_pre_unbits_f32(krf_pre_bits_f32(a) | krf_pre_bits_f32(b));
    float number = a == b ? equal : other;
    return a != a ? a : number;
#endif
}

//@ krf_minimum_f64
// Selects only, for the vectoriser. The or of equal numbers is the number, but -0 for zeros of both signs.
KRF_FN double krf_minimum_f64(double a, double b) {
#ifdef __CUDACC__
    asm("" : "+d"(a), "+d"(b));
#endif
    double other = a < b ? a : b; // b where b is a NaN
    double equal = krf_pre_unbits_f64(krf_pre_bits_f64(a) | krf_pre_bits_f64(b));
    double number = a == b ? equal : other;
    return a != a ? a : number;
}
