// Four bytes in one word, the first in the lowest: integers of 8 bits, or bools. Sections as in prelude.h; for kernels on a GPU only. Where no row says otherwise, each byte is as an operation on
// it alone gives it, without carries from its neighbours: the highest bits are computed apart.

//@ krf_fourfold
KRF_FN unsigned krf_fourfold(unsigned char x) { return x * 0x01010101u; }

//@ krf_add_u8x4
KRF_FN unsigned krf_add_u8x4(unsigned a, unsigned b) { return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u); }

//@ krf_subtract_u8x4
KRF_FN unsigned krf_subtract_u8x4(unsigned a, unsigned b) { return ((a | 0x80808080u) - (b & 0x7f7f7f7fu)) ^ ((a ^ ~b) & 0x80808080u); }

//@ krf_zero_u8x4
// Bools: whether each is zero.
KRF_FN unsigned krf_zero_u8x4(unsigned x) { return (~(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u) >> 7; }

//@ krf_not_zero_u8x4
KRF_FN unsigned krf_not_zero_u8x4(unsigned x) { return ((((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u) >> 7; }

//@ krf_less_u8x4
// Bools.
KRF_FN unsigned krf_less_u8x4(unsigned a, unsigned b) {
    const unsigned lower = (a | 0x80808080u) - (b & 0x7f7f7f7fu); // highest bits: whether the other seven are no less
    return (((~a & b) | (~(a ^ b) & ~lower)) & 0x80808080u) >> 7;
}

//@ krf_less_i8x4
KRF_FN unsigned krf_less_i8x4(unsigned a, unsigned b) { return krf_less_u8x4(a ^ 0x80808080u, b ^ 0x80808080u); }

//@ krf_dot_u8i8x4
// Products of four u8 with four i8, added to a sum: each u8 is 128 more than an i8 is.
KRF_FN int krf_dot_u8i8x4(unsigned a, int b, int sum) { return __dp4a((int)(a ^ 0x80808080u), b, __dp4a(0x40404040, b, __dp4a(0x40404040, b, sum))); }

//@ krf_where_u8x4
// of: bools.
KRF_FN unsigned krf_where_u8x4(unsigned of, unsigned a, unsigned b) {
    const unsigned mask = of * 255u;
    return (a & mask) | (b & ~mask);
}

//@ krf_abs_i8x4
KRF_FN unsigned krf_abs_i8x4(unsigned x) {
    const unsigned mask = ((x & 0x80808080u) >> 7) * 255u;
    return krf_subtract_u8x4(x ^ mask, mask);
}

//@ krf_min_u8x4
// Of halves that are compared the upper bytes decide, whatever stands in the lower ones.
KRF_FN unsigned krf_min_u8x4(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __byte_perm(__vminu2(a << 8, b << 8), __vminu2(a, b), 0x7351);
#else
    return krf_where_u8x4(krf_less_u8x4(a, b), a, b);
#endif
}

//@ krf_max_u8x4
KRF_FN unsigned krf_max_u8x4(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __byte_perm(__vmaxu2(a << 8, b << 8), __vmaxu2(a, b), 0x7351);
#else
    return krf_where_u8x4(krf_less_u8x4(a, b), b, a);
#endif
}

//@ krf_min_i8x4
KRF_FN unsigned krf_min_i8x4(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __byte_perm(__vmins2(a << 8, b << 8), __vmins2(a, b), 0x7351);
#else
    return krf_where_u8x4(krf_less_i8x4(a, b), a, b);
#endif
}

//@ krf_max_i8x4
KRF_FN unsigned krf_max_i8x4(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __byte_perm(__vmaxs2(a << 8, b << 8), __vmaxs2(a, b), 0x7351);
#else
    return krf_where_u8x4(krf_less_i8x4(a, b), b, a);
#endif
}

//@ krf_float_of_u8
// Byte k of four as the last digits of 2^23. The constant lies in a register for all, as compilers do not see that threadIdx.z is 0; else it would be loaded once more for each.
KRF_FN float krf_float_of_u8(unsigned four, int k) {
#ifdef __CUDA_ARCH__
    return __int_as_float((int)__byte_perm(four, 0x4b000000u + threadIdx.z, 0x7440u + (unsigned)k)) - 0x1p23f;
#else
    return (float)(four >> 8 * k & 255u);
#endif
}

//@ krf_float_of_i8
// The same, of what is 128 more.
KRF_FN float krf_float_of_i8(unsigned four, int k) {
#ifdef __CUDA_ARCH__
    return __int_as_float((int)__byte_perm(four ^ 0x80808080u, 0x4b000000u + threadIdx.z, 0x7440u + (unsigned)k)) - (0x1p23f + 128);
#else
    return (float)(signed char)(four >> 8 * k);
#endif
}
