// Helpers as those of prelude.h: functions that take numbers apart or put them together, all of them exact. Valid C11 and
// CUDA C++; no operands make them undefined. Sections name only what prelude.h and earlier sections define.

//@ krf_fmod_i32
KRF_FN int krf_fmod_i32(int a, int b) {
    const int d = b == 0 || b == -1 ? 1 : b; // any remainder by 1 is the 0 that is wanted
#ifndef __CUDA_ARCH__
    if (__builtin_constant_p(b)) {
        return a % d;
    }
#endif
    return a - krf_quotient_i32(a, d) * d;
}

//@ krf_fmod_i64
KRF_FN long long krf_fmod_i64(long long a, long long b) {
    return a % (b == 0 || b == -1 ? 1 : b); // any remainder by 1 is the 0 that is wanted
}

//@ krf_gcd_i32
// Euclid's, on magnitudes: that of the lowest value has no positive number of its own, and wraps back to it.
KRF_FN int krf_gcd_i32(int a, int b) {
    unsigned m = a < 0 ? 0 - (unsigned)a : (unsigned)a, n = b < 0 ? 0 - (unsigned)b : (unsigned)b;
    while (n != 0) {
        unsigned rest = m % n;
        m = n;
        n = rest;
    }
    return (int)m;
}

//@ krf_gcd_i64
// Euclid's, on magnitudes: that of the lowest value has no positive number of its own, and wraps back to it.
KRF_FN long long krf_gcd_i64(long long a, long long b) {
    unsigned long long m = a < 0 ? 0 - (unsigned long long)a : (unsigned long long)a, n = b < 0 ? 0 - (unsigned long long)b : (unsigned long long)b;
    while (n != 0) {
        unsigned long long rest = m % n;
        m = n;
        n = rest;
    }
    return (long long)m;
}

//@ krf_lcm_i32
KRF_FN int krf_lcm_i32(int a, int b) {
    unsigned m = a < 0 ? 0 - (unsigned)a : (unsigned)a, n = b < 0 ? 0 - (unsigned)b : (unsigned)b;
    unsigned d = (unsigned)krf_gcd_i32(a, b);
    return (int)(m / (d == 0 ? 1 : d) * n);
}

//@ krf_lcm_i64
KRF_FN long long krf_lcm_i64(long long a, long long b) {
    unsigned long long m = a < 0 ? 0 - (unsigned long long)a : (unsigned long long)a, n = b < 0 ? 0 - (unsigned long long)b : (unsigned long long)b;
    unsigned long long d = (unsigned long long)krf_gcd_i64(a, b);
    return (long long)(m / (d == 0 ? 1 : d) * n);
}

//@ krf_popcount_i32
// Sums of 2, 4 and 8 bits side by side, then of the bytes by a product, where vectors have no instruction for it.
KRF_FN int krf_popcount_i32(int x) {
#ifdef __AVX512VPOPCNTDQ__
    return __builtin_popcount((unsigned)x);
#else
    unsigned u = (unsigned)x;
    u -= u >> 1 & 0x55555555u;
    u = (u & 0x33333333u) + (u >> 2 & 0x33333333u);
    u = (u + (u >> 4)) & 0x0f0f0f0fu;
    return (int)(u * 0x01010101u >> 24);
#endif
}

//@ krf_popcount_i64
KRF_FN long long krf_popcount_i64(long long x) {
#ifdef __AVX512VPOPCNTDQ__
    return __builtin_popcountll((unsigned long long)x);
#else
    unsigned long long u = (unsigned long long)x;
    u -= u >> 1 & 0x5555555555555555u;
    u = (u & 0x3333333333333333u) + (u >> 2 & 0x3333333333333333u);
    u = (u + (u >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (long long)(u * 0x0101010101010101u >> 56);
#endif
}

//@ krf_fmod_u32
KRF_FN unsigned krf_fmod_u32(unsigned a, unsigned b) { return krf_remainder_u32(a, b); }

//@ krf_gcd_u32
KRF_FN unsigned krf_gcd_u32(unsigned a, unsigned b) {
    while (b != 0) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

//@ krf_lcm_u32
KRF_FN unsigned krf_lcm_u32(unsigned a, unsigned b) {
    unsigned d = krf_gcd_u32(a, b);
    return a / (d == 0 ? 1 : d) * b;
}

//@ krf_popcount_u32
KRF_FN unsigned krf_popcount_u32(unsigned x) {
    return (unsigned)krf_popcount_i32((int)x);
}

//@ krf_fmod_u64
KRF_FN unsigned long long krf_fmod_u64(unsigned long long a, unsigned long long b) {
    return b == 0 ? 0 : a % b;
}

//@ krf_gcd_u64
KRF_FN unsigned long long krf_gcd_u64(unsigned long long a, unsigned long long b) {
    while (b != 0) {
        unsigned long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

//@ krf_lcm_u64
KRF_FN unsigned long long krf_lcm_u64(unsigned long long a, unsigned long long b) {
    unsigned long long d = krf_gcd_u64(a, b);
    return a / (d == 0 ? 1 : d) * b;
}

//@ krf_popcount_u64
KRF_FN unsigned long long krf_popcount_u64(unsigned long long x) {
    return (unsigned long long)krf_popcount_i64((long long)x);
}

//@ krf_negative_f32
// For results of functions: gcc 12 makes -fma(a, b, c) one instruction that computes (-a) * b - c, which gives +0 for -0.
KRF_FN float krf_negative_f32(float x) { return krf_pre_unbits_f32(krf_pre_bits_f32(x) ^ 0x80000000u); }

//@ krf_negative_f64
// As for f32.
KRF_FN double krf_negative_f64(double x) { return krf_pre_unbits_f64(krf_pre_bits_f64(x) ^ 0x8000000000000000u); }

//@ krf_signbit_f32
KRF_FN int krf_signbit_f32(float x) {
    return (int)(krf_pre_bits_f32(x) >> 31);
}

//@ krf_signbit_f64
KRF_FN int krf_signbit_f64(double x) {
    return (int)(krf_pre_bits_f64(x) >> 63);
}

//@ krf_order_key_f32
KRF_FN int krf_order_key_f32(float x) {
    int bits = (int)krf_pre_bits_f32(x + 0.0f); // -0 becomes +0
    int key = bits ^ (bits >> 31 & 0x7fffffff);
#ifdef __CUDACC__
    return key; // the sum has made 0x7fffffff of every NaN
#else
    return x != x ? 0x7fffffff : key;
#endif
}

//@ krf_order_key_f64
KRF_FN long long krf_order_key_f64(double x) {
    long long bits = (long long)krf_pre_bits_f64(x + 0.0);
    long long key = bits ^ (bits >> 63 & 0x7fffffffffffffffll);
    return x != x ? 0x7fffffffffffffffll : key;
}

//@ krf_nextafter_f32
// The bits of a positive number and its neighbour above differ by one.
KRF_FN float krf_nextafter_f32(float a, float b) {
    unsigned bits = krf_pre_bits_f32(a), least = (krf_pre_bits_f32(b) & 0x80000000u) + 1;
    bits = (a < b) == (a > 0) ? bits + 1 : bits - 1;
    float next = krf_pre_unbits_f32(a == 0 ? least : bits);
    next = a == b ? b : next;
    return a != a || b != b ? a + b : next;
}

//@ krf_nextafter_f64
// The bits of a positive number and its neighbour above differ by one.
KRF_FN double krf_nextafter_f64(double a, double b) {
    unsigned long long bits = krf_pre_bits_f64(a), least = (krf_pre_bits_f64(b) & 0x8000000000000000u) + 1;
    bits = (a < b) == (a > 0) ? bits + 1 : bits - 1;
    double next = krf_pre_unbits_f64(a == 0 ? least : bits);
    next = a == b ? b : next;
    return a != a || b != b ? a + b : next;
}

//@ krf_fmax_f32
KRF_FN float krf_fmax_f32(float a, float b) {
    float both = krf_maximum_f32(a, b);
    both = b != b ? a : both;
    return a != a ? b : both;
}

//@ krf_fmin_f32
KRF_FN float krf_fmin_f32(float a, float b) {
    float both = krf_minimum_f32(a, b);
    both = b != b ? a : both;
    return a != a ? b : both;
}

//@ krf_fmax_f64
KRF_FN double krf_fmax_f64(double a, double b) {
    double both = krf_maximum_f64(a, b);
    both = b != b ? a : both;
    return a != a ? b : both;
}

//@ krf_fmin_f64
KRF_FN double krf_fmin_f64(double a, double b) {
    double both = krf_minimum_f64(a, b);
    both = b != b ? a : both;
    return a != a ? b : both;
}

//@ krf_fmod_f64
KRF_FN double krf_fmod_f64(double a, double b) {
    return KRF_F64(fmod)(a, b);
}

//@ krf_nan_to_num_f32
KRF_FN float krf_nan_to_num_f32(float x) {
    float y = x > 0x1.fffffep127f ? 0x1.fffffep127f : x;
    y = y < -0x1.fffffep127f ? -0x1.fffffep127f : y;
    return x != x ? 0 : y;
}

//@ krf_nan_to_num_f64
KRF_FN double krf_nan_to_num_f64(double x) {
    double y = x > 0x1.fffffffffffffp1023 ? 0x1.fffffffffffffp1023 : x;
    y = y < -0x1.fffffffffffffp1023 ? -0x1.fffffffffffffp1023 : y;
    return x != x ? 0 : y;
}

//@ krf_frexp_mantissa_f32
KRF_FN float krf_frexp_mantissa_f32(float x) {
    float y = x < 0x1p-126f && x > -0x1p-126f ? x * 0x1p25f : x; // subnormal numbers have leading zeros
    unsigned bits = (krf_pre_bits_f32(y) & 0x807fffffu) | 0x3f000000u;
    return x - x == 0 && x != 0 ? krf_pre_unbits_f32(bits) : x;
}

//@ krf_frexp_mantissa_f64
KRF_FN double krf_frexp_mantissa_f64(double x) {
    double y = x < 0x1p-1022 && x > -0x1p-1022 ? x * 0x1p54 : x; // subnormal numbers have leading zeros
    unsigned long long bits = (krf_pre_bits_f64(y) & 0x800fffffffffffffu) | 0x3fe0000000000000u;
    return x - x == 0 && x != 0 ? krf_pre_unbits_f64(bits) : x;
}

//@ krf_frexp_exponent_f32
KRF_FN float krf_frexp_exponent_f32(float x) {
    int tiny = x < 0x1p-126f && x > -0x1p-126f;
    float y = tiny ? x * 0x1p25f : x;
    int exponent = (int)(krf_pre_bits_f32(y) >> 23 & (0x7f800000u >> 23)) - 126 - (tiny ? 25 : 0);
    return x - x == 0 && x != 0 ? (float)exponent : 0;
}

//@ krf_frexp_exponent_f64
KRF_FN double krf_frexp_exponent_f64(double x) {
    int tiny = x < 0x1p-1022 && x > -0x1p-1022;
    double y = tiny ? x * 0x1p54 : x;
    int exponent = (int)(krf_pre_bits_f64(y) >> 52 & (0x7ff0000000000000u >> 52)) - 1022 - (tiny ? 54 : 0);
    return x - x == 0 && x != 0 ? (double)exponent : 0;
}

//@ krf_ldexp_f32
// The mantissa by two powers of 2: the first product is normal and hence exact, so only the second one can round.
KRF_FN float krf_ldexp_f32(float a, float b) {
    int tiny = a < 0x1p-126f && a > -0x1p-126f;
    unsigned bits = krf_pre_bits_f32(tiny ? a * 0x1p25f : a);
    float count = b > 600 ? 600 : b; // beyond that the result is 0 or infinite anyway
    count = count < -600 ? -600 : count;
    int exponent = (int)(bits >> 23 & (0x7f800000u >> 23)) - 127 - (tiny ? 25 : 0) + (int)(b == b ? count : 0);
    int first = exponent > 127 ? 127 : exponent < -126 ? -126 : exponent;
    int rest = exponent - first;
    rest = rest > 1 ? 1 : rest < -30 ? -30 : rest;
    float y = krf_pre_unbits_f32((bits & 0x807fffffu) | 0x3f800000u);
    y = y * krf_pre_unbits_f32((unsigned)(first + 127) << 23) * krf_pre_unbits_f32((unsigned)(rest + 127) << 23);
    y = a - a == 0 && a != 0 ? y : a;
    return b == b ? y : b;
}

//@ krf_ldexp_f64
// The mantissa by two powers of 2: the first product is normal and hence exact, so only the second one can round.
KRF_FN double krf_ldexp_f64(double a, double b) {
    int tiny = a < 0x1p-1022 && a > -0x1p-1022;
    unsigned long long bits = krf_pre_bits_f64(tiny ? a * 0x1p54 : a);
    double count = b > 5000 ? 5000 : b; // beyond that the result is 0 or infinite anyway
    count = count < -5000 ? -5000 : count;
    int exponent = (int)(bits >> 52 & (0x7ff0000000000000u >> 52)) - 1023 - (tiny ? 54 : 0) + (int)(b == b ? count : 0);
    int first = exponent > 1023 ? 1023 : exponent < -1022 ? -1022 : exponent;
    int rest = exponent - first;
    rest = rest > 1 ? 1 : rest < -60 ? -60 : rest;
    double y = krf_pre_unbits_f64((bits & 0x800fffffffffffffu) | 0x3ff0000000000000u);
    y = y * krf_pre_unbits_f64((unsigned long long)(first + 1023) << 52) * krf_pre_unbits_f64((unsigned long long)(rest + 1023) << 52);
    y = a - a == 0 && a != 0 ? y : a;
    return b == b ? y : b;
}
