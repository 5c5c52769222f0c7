// Quotients that are whole numbers by reciprocals that are about right, with the bits of prelude.h and numbers.h: a division of the processor's is a dozen instructions and more, of which
// conversions take four times as long as others. Sections as in prelude.h; for kernels on a GPU only.

//@ krf_about_f64
// 1 / y to 2^-35, for y of 2^-1000 to 2^1000 in absolute value.
KRF_FN double krf_about_f64(double y) {
    double x = krf_near_inverse_f64(y);
    return KRF_F64(fma)(x, KRF_F64(fma)(-y, x, 1.0), x);
}

//@ krf_small_float
// A whole number of up to 22 bits as a float: an addition to what has its last digit at 1.
KRF_FN float krf_small_float(int a) {
#ifdef __CUDA_ARCH__
    return __int_as_float(0x4b400000 + a) - 0x1.8p23f;
#else
    return (float)a;
#endif
}

//@ krf_small_floor_divide
// floor(a / b) of numbers of 16 bits and a sign, a where b is 0: a / b is 1 / b or more away from the next whole number, its half that is added makes it half of that at least, and what the reciprocal is off is less.
KRF_FN int krf_small_floor_divide(int a, int b) {
    const float y = krf_small_float(b == 0 ? 1 : b), x = krf_small_float(a) + KRF_F32(copysign)(0.5f, y);
#ifdef __CUDA_ARCH__
    return __float_as_int(__fmaf_rd(x, krf_rcpf(y), 0x1.8p23f)) - 0x4b400000;
#else
    return (int)KRF_F32(floor)(x * krf_rcpf(y));
#endif
}

//@ krf_whole_floor_divide_i16
KRF_FN int krf_whole_floor_divide_i16(int a, int b) { return b == 0 ? 0 : krf_small_floor_divide(a, b); }

//@ krf_whole_remainder_i16
KRF_FN int krf_whole_remainder_i16(int a, int b) { return b == 0 ? 0 : a - krf_small_floor_divide(a, b) * b; }

//@ krf_whole_fmod_i16
// The remainder, whose sign is that of b; or that less b, where the sign is not a's.
KRF_FN int krf_whole_fmod_i16(int a, int b) {
    const int r = krf_whole_remainder_i16(a, b);
    return r != 0 && (r ^ a) < 0 ? r - b : r;
}

//@ krf_floor_quotient_rare_f32
static __device__ __noinline__ float krf_floor_quotient_rare_f32(float a, float b, float mod) { return krf_floor_quotient_f32(a, b, mod); }

//@ krf_whole_floor_divide_f32
// As krf_floor_divide_f32: what fmod leaves of a is a multiple of b but for its rounding, and how many times b it is, up to 2^20, is found without a division.
KRF_FN float krf_whole_floor_divide_f32(float a, float b) {
    const float mod = krf_fmod_f32(a, b), about = (a - mod) * krf_rcpf(b);
    if (!(KRF_F32(fabs)(about) < 0x1p+20f && KRF_F32(fabs)(b) < 0x1p+126f)) {
        return krf_floor_quotient_rare_f32(a, b, mod);
    }
    const float whole = KRF_F32(rint)(about) - (mod != 0 && (b < 0) != (mod < 0) ? 1.0f : 0.0f);
    return whole == 0 ? KRF_F32(copysign)(0.0f, b < 0 ? -a : a) : whole;
}

//@ krf_floor_quotient_rare_f64
static __device__ __noinline__ double krf_floor_quotient_rare_f64(double a, double b, double mod) { return krf_floor_quotient_f64(a, b, mod); }

//@ krf_whole_floor_divide_f64
KRF_FN double krf_whole_floor_divide_f64(double a, double b) {
    const double mod = KRF_F64(fmod)(a, b), about = (a - mod) * krf_about_f64(b);
    if (!(KRF_F64(fabs)(about) < 0x1p+30 && KRF_F64(fabs)(b) < 0x1p+1000 && KRF_F64(fabs)(b) > 0x1p-1000)) {
        return krf_floor_quotient_rare_f64(a, b, mod);
    }
    const double whole = KRF_F64(rint)(about) - (mod != 0 && (b < 0) != (mod < 0) ? 1.0 : 0.0);
    return whole == 0 ? KRF_F64(copysign)(0.0, b < 0 ? -a : a) : whole;
}
