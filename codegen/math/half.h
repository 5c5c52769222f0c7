// f16 and bf16 are 16-bit patterns in memory and floats in registers. Every result is rounded once, to nearest, ties to even:
// exact operations on f32 hold more than twice the bits, so rounding them again is innocuous. Selects only, for the
// vectoriser; on a GPU the processor's own conversions, those to bf16 from sm_80 on. Sections as in prelude.h.

//@ krf_load_f16
KRF_FN float krf_load_f16(unsigned short bits) {
#ifdef __CUDA_ARCH__
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
#else
    // The exponent field starts 112 lower; the product also makes subnormal numbers normal. Infinity and NaN have all its bits.
    unsigned magnitude = bits & 0x7fffu;
    unsigned number = krf_pre_bits_f32(krf_pre_unbits_f32(magnitude << 13) * 0x1p112f);
    number |= magnitude >= 0x7c00u ? 0x7f800000u : 0;
    number |= magnitude > 0x7c00u ? 0x7fc00000u : 0; // quiet, as the GPU's conversion makes it
    return krf_pre_unbits_f32(number | (bits & 0x8000u) << 16);
#endif
}

//@ krf_store_f16
KRF_FN unsigned short krf_store_f16(float x) {
#ifdef __CUDA_ARCH__
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#else
    unsigned all = krf_pre_bits_f32(x), magnitude = all & 0x7fffffffu;
    unsigned normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    normal -= 112u << 10;
    // Beside 0.5 a float's last place is the smallest subnormal number of f16.
    unsigned subnormal = krf_pre_bits_f32(krf_pre_unbits_f32(magnitude) + 0.5f) - 0x3f000000u;
    unsigned number = magnitude < 0x38800000u ? subnormal : normal;
    number = magnitude >= 0x47800000u ? 0x7c00u : number;
    number = magnitude > 0x7f800000u ? 0x7e00u : number;
    return (unsigned short)(number | (all >> 16 & 0x8000u));
#endif
}

//@ krf_round_f16
KRF_FN float krf_round_f16(float x) {
#ifdef __CUDA_ARCH__
    return krf_load_f16(krf_store_f16(x));
#else
    // The same without the way through 16 bits: beside 2^13 times its power of two, 0.5 at least, a float's last place is that of f16. From 65,520 on it is infinity.
    unsigned all = krf_pre_bits_f32(x), magnitude = all & 0x7fffffffu, beside = (magnitude & 0x7f800000u) + (13u << 23);
    float large = krf_pre_unbits_f32(beside > 0x3f000000u ? beside : 0x3f000000u);
    unsigned number = krf_pre_bits_f32((krf_pre_unbits_f32(magnitude) + large) - large);
    number = magnitude >= 0x477ff000u ? 0x7f800000u : number;
    number = magnitude > 0x7f800000u ? 0x7fc00000u : number;
    return krf_pre_unbits_f32(number | (all & 0x80000000u));
#endif
}

//@ KRF_HALVES
// Vectors of f16 and of f32 that the processor converts at once, from and to memory.
#if defined(__AVX512F__) && defined(__GNUC__)
#define KRF_HALVES 16
#elif defined(__F16C__) && defined(__GNUC__)
#define KRF_HALVES 8
#endif
#ifdef KRF_HALVES
typedef unsigned short krf_halves __attribute__((vector_size(2 * KRF_HALVES), aligned(2), may_alias));
typedef float krf_floats __attribute__((vector_size(4 * KRF_HALVES), aligned(4), may_alias));
typedef unsigned krf_float_bits __attribute__((vector_size(4 * KRF_HALVES), aligned(4), may_alias));
#endif

//@ krf_load_f16s
// As krf_load_f16 does, n elements.
KRF_FN void krf_load_f16s(float *to, const unsigned short *from, int n) {
    int k = 0;
#ifdef KRF_HALVES
    for (; k + KRF_HALVES <= n; k += KRF_HALVES) {
        krf_floats x;
        __asm__("vcvtph2ps %1, %0" : "=v"(x) : "m"(*(const krf_halves *)(from + k)));
        *(krf_floats *)(to + k) = x;
    }
#endif
    for (; k < n; k++) {
        to[k] = krf_load_f16(from[k]);
    }
}

//@ krf_store_f16s
// As krf_store_f16 does, n elements, whose arrays have room for whole vectors.
KRF_FN void krf_store_f16s(unsigned short *to, const float *from, int n) {
#ifdef KRF_HALVES
    for (int k = 0; k < n; k += KRF_HALVES) {
        krf_float_bits x = *(const krf_float_bits *)(from + k);
        krf_float_bits nan = (krf_float_bits)((x & 0x7fffffffu) > 0x7f800000u); // of which the processor keeps some bits
        krf_halves y;
        x = (x & ~nan) | (((x & 0x80000000u) | 0x7fc00000u) & nan);
        __asm__("vcvtps2ph $0, %1, %0" : "=v"(y) : "v"(x));
        *(krf_halves *)(to + k) = y;
    }
#else
    for (int k = 0; k < n; k++) {
        to[k] = krf_store_f16(from[k]);
    }
#endif
}

//@ krf_load_bf16
KRF_FN float krf_load_bf16(unsigned short bits) {
#ifdef __CUDA_ARCH__
    float x; // of a pair of elements in one register: one instruction each
    asm("mov.b32 %0, {%1, %2};" : "=f"(x) : "h"((unsigned short)0), "h"(bits));
    return x;
#else
    return krf_pre_unbits_f32((unsigned)bits << 16);
#endif
}

//@ krf_store_bf16
KRF_FN unsigned short krf_store_bf16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#else
    unsigned all = krf_pre_bits_f32(x);
    unsigned number = (all + 0x7fffu + (all >> 16 & 1u)) >> 16;
    return (unsigned short)(x != x ? 0x7fc0u : number);
#endif
}

//@ krf_round_bf16
KRF_FN float krf_round_bf16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair; // x above, 0 below: the bits of the f32
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(x), "f"(0.0f));
    return krf_pre_unbits_f32(pair);
#else
    unsigned all = krf_pre_bits_f32(x); // without the way through 16 bits, which would part neighbours and join them again
    unsigned number = (all + 0x7fffu + (all >> 16 & 1u)) & 0xffff0000u;
    return krf_pre_unbits_f32(x != x ? 0x7fc00000u : number);
#endif
}

//@ krf_odd_f64
// Rounded to odd: what is cut off sets the last bit, so that the next, coarser rounding is that of the number itself.
KRF_FN float krf_odd_f64(double x) {
    float near = (float)x;
    unsigned bits = krf_pre_bits_f32(near);
    double away = x < 0 ? x - (double)near : (double)near - x; // above 0 where rounding went away from zero
    unsigned odd = (bits - (away > 0 ? 1u : 0)) | 1u;
    return krf_pre_unbits_f32(x == x && (double)near != x ? odd : bits);
}

//@ krf_odd_u64
// Beyond a double's 53 bits the last 11 are gathered in the one above them.
KRF_FN double krf_odd_u64(unsigned long long x) {
    unsigned long long gathered = (x & ~0x7ffull) | ((x & 0x7ffull) != 0 ? 0x800ull : 0);
    return (double)(x >> 53 != 0 ? gathered : x);
}

//@ krf_odd_i64
KRF_FN double krf_odd_i64(long long x) {
    double magnitude = krf_odd_u64(x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x);
    return x < 0 ? -magnitude : magnitude;
}

//@ krf_nextafter_f16
KRF_FN float krf_nextafter_f16(float a, float b) {
    unsigned bits = krf_store_f16(a), least = (krf_store_f16(b) & 0x8000u) + 1;
    bits = (a < b) == (a > 0) ? bits + 1 : bits - 1;
    float next = krf_load_f16((unsigned short)(a == 0 ? least : bits));
    next = a == b ? b : next;
    return a != a || b != b ? a + b : next;
}

//@ krf_nextafter_bf16
KRF_FN float krf_nextafter_bf16(float a, float b) {
    unsigned bits = krf_store_bf16(a), least = (krf_store_bf16(b) & 0x8000u) + 1;
    bits = (a < b) == (a > 0) ? bits + 1 : bits - 1;
    float next = krf_load_bf16((unsigned short)(a == 0 ? least : bits));
    next = a == b ? b : next;
    return a != a || b != b ? a + b : next;
}

//@ krf_nan_to_num_f16
KRF_FN float krf_nan_to_num_f16(float x) {
    float y = x > 65504.0f ? 65504.0f : x;
    y = y < -65504.0f ? -65504.0f : y;
    return x != x ? 0 : y;
}

//@ krf_nan_to_num_bf16
KRF_FN float krf_nan_to_num_bf16(float x) {
    float y = x > 0x1.fep127f ? 0x1.fep127f : x;
    y = y < -0x1.fep127f ? -0x1.fep127f : y;
    return x != x ? 0 : y;
}
