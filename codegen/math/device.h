// What only kernels on a GPU need. Sections as in prelude.h; inline PTX stands here and nowhere else, each time with a
// twin for the host's compiler, which compiles kernels for the simulated GPU (tests/fakecuda).

//@ krf_opaque_f32
// Hides a value from constant folding: a compiler rounds functions of constants otherwise than the device does.
KRF_FN float krf_opaque_f32(float x) {
#ifdef __CUDACC__
    asm("" : "+f"(x));
    return x;
#else
    volatile float hidden = x;
    return hidden;
#endif
}

//@ krf_opaque_f64
KRF_FN double krf_opaque_f64(double x) {
#ifdef __CUDACC__
    asm("" : "+d"(x));
    return x;
#else
    volatile double hidden = x;
    return hidden;
#endif
}

//@ krf_negative_i8
// 8 and 16 bits: ptxas 13.0 forgets to cut a 16-bit negation when its result is made wider (the lowest i16), unless it takes the result for any 32 bits.
KRF_FN signed char krf_negative_i8(signed char x) {
    unsigned r = 0u - (unsigned)x;
#ifdef __CUDACC__
    asm("" : "+r"(r));
#endif
    return (signed char)r;
}

//@ krf_negative_u8
KRF_FN unsigned char krf_negative_u8(unsigned char x) {
    unsigned r = 0u - (unsigned)x;
#ifdef __CUDACC__
    asm("" : "+r"(r));
#endif
    return (unsigned char)r;
}

//@ krf_negative_i16
KRF_FN short krf_negative_i16(short x) {
    unsigned r = 0u - (unsigned)x;
#ifdef __CUDACC__
    asm("" : "+r"(r));
#endif
    return (short)r;
}

//@ krf_negative_u16
KRF_FN unsigned short krf_negative_u16(unsigned short x) {
    unsigned r = 0u - (unsigned)x;
#ifdef __CUDACC__
    asm("" : "+r"(r));
#endif
    return (unsigned short)r;
}

//@ krf_negative_i32
KRF_FN int krf_negative_i32(int x) { return (int)((unsigned)0 - (unsigned)x); }

//@ krf_negative_u32
KRF_FN unsigned krf_negative_u32(unsigned x) { return (unsigned)((unsigned)0 - (unsigned)x); }

//@ krf_negative_i64
KRF_FN long long krf_negative_i64(long long x) { return (long long)((unsigned long long)0 - (unsigned long long)x); }

//@ krf_negative_u64
KRF_FN unsigned long long krf_negative_u64(unsigned long long x) { return (unsigned long long)((unsigned long long)0 - (unsigned long long)x); }
