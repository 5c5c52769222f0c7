// exp, log, log1p and softplus of f64 for GPUs, by the approximations of real.h, whose text serves the arguments that are rare. CUDA's own take up to twice the instructions, most of which
// bring constants into registers; here they stand in constant memory, where the arithmetic reads them. Sections as in prelude.h.

//@ krf_high_f64
// The sign, the exponent and the first 20 digits.
KRF_FN unsigned krf_high_f64(double x) {
#ifdef __CUDACC__
    return (unsigned)__double2hiint(x);
#else
    return (unsigned)(krf_pre_bits_f64(x) >> 32);
#endif
}

//@ krf_low_f64
KRF_FN unsigned krf_low_f64(double x) {
#ifdef __CUDACC__
    return (unsigned)__double2loint(x);
#else
    return (unsigned)krf_pre_bits_f64(x);
#endif
}

//@ krf_of_words_f64
KRF_FN double krf_of_words_f64(unsigned high, unsigned low) {
#ifdef __CUDACC__
    return __hiloint2double((int)high, (int)low);
#else
    return krf_pre_unbits_f64((unsigned long long)high << 32 | low);
#endif
}

//@ krf_near_inverse_f64
// 1 / d to 20 digits.
KRF_FN double krf_near_inverse_f64(double d) {
#ifdef __CUDACC__
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
    return r;
#else
    return krf_of_words_f64(krf_high_f64(1.0 / d), 0);
#endif
}

//@ krf_exp_terms
// 1 / ln 2; ln 2; its rest; then the polynomial of the exp of real.h, the highest power first. A step of Horner's rule has one constant, which an instruction reads where
// it stands; of two constants one would have to be loaded.
__constant__ double krf_exp_terms[13] = {
    0x1.71547652b82fep+0,  0x1.62e42fefa39efp-1,  0x1.abc9e3b39803fp-56, 0x1.ad7e843902746p-26, 0x1.28ae345bd4cf1p-22, 0x1.71df27235aebp-19,  0x1.a019994467c31p-16,
    0x1.a01a0128fbfdcp-13, 0x1.6c16c1846fc08p-10, 0x1.111111112817ep-7,  0x1.555555555072ap-5,  0x1.55555555554f8p-3,  0x1.000000000000ap-1,
};

//@ krf_exp_rare
static __device__ __noinline__ double krf_exp_rare(double x) { return krf_exp(x); }

//@ krf_exp_f64
KRF_FN double krf_exp_f64(double x) {
    const double *k = krf_exp_terms;
    double t = KRF_F64(fma)(x, k[0], 0x1.8p52), n = t - 0x1.8p52;
    double r = KRF_F64(fma)(n, -k[2], KRF_F64(fma)(n, -k[1], x));
    double p = KRF_F64(fma)(r, k[3], k[4]);
    p = KRF_F64(fma)(p, r, k[5]);
    p = KRF_F64(fma)(p, r, k[6]);
    p = KRF_F64(fma)(p, r, k[7]);
    p = KRF_F64(fma)(p, r, k[8]);
    p = KRF_F64(fma)(p, r, k[9]);
    p = KRF_F64(fma)(p, r, k[10]);
    p = KRF_F64(fma)(p, r, k[11]);
    p = KRF_F64(fma)(p, r, k[12]);
    p = KRF_F64(fma)(p, r, 1.0);
    p = KRF_F64(fma)(p, r, 1.0);
    double y = krf_of_words_f64(krf_high_f64(p) + (krf_low_f64(t) << 20), krf_low_f64(p)); // 2^n p: from 2^-1022 on one step is enough
    if ((krf_high_f64(x) & 0x7fffffffu) >= 0x40862000u) { // 708
        y = krf_exp_rare(x);
    }
    return y;
}

//@ krf_log_terms
// The polynomial of log_sum in real.h, the highest power first; ln 2 and its rest.
__constant__ double krf_log_terms[10] = {
    0x1.1b87d9d7daf2ap-3, 0x1.0dca9f9a6e1a7p-3, 0x1.3b35d019d7ac2p-3, 0x1.745c4a5cea6b7p-3, 0x1.c71c749202bc2p-3,
    0x1.24924921e1843p-2, 0x1.999999999c1abp-2, 0x1.555555555554fp-1, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56,
};

//@ krf_log_sum_device
// As log_sum in real.h. The quotient s may be an ULP off: at most a 16th of it is part of the result.
KRF_FN double krf_log_sum_device(double f, double d, double m) {
    const double *k = krf_log_terms;
    double r = krf_near_inverse_f64(d), e = KRF_F64(fma)(-d, r, 1.0);
    r = KRF_F64(fma)(r, KRF_F64(fma)(e, e, e), r);
    double s = f * r, z = s * s, g = 0.5 * f * f;
    double p = KRF_F64(fma)(z, k[0], k[1]);
    p = KRF_F64(fma)(p, z, k[2]);
    p = KRF_F64(fma)(p, z, k[3]);
    p = KRF_F64(fma)(p, z, k[4]);
    p = KRF_F64(fma)(p, z, k[5]);
    p = KRF_F64(fma)(p, z, k[6]);
    p = KRF_F64(fma)(p, z, k[7]);
    double b = KRF_F64(fma)(-s, KRF_F64(fma)(p, z, g), KRF_F64(fma)(m, k[9], g));
    return KRF_F64(fma)(m, -k[8], f - b);
}

//@ krf_log_normal_f64
// Of x / 2^below, x neither subnormal nor negative, infinite or NaN.
KRF_FN double krf_log_normal_f64(double x, int below) {
    unsigned high = krf_high_f64(x);
    int w = (int)(0x3ff7ffffu - high); // m << 20 and a fraction: x = 2^-m v
    double v = krf_of_words_f64(high + ((unsigned)w & 0xfff00000u), krf_low_f64(x));
    return krf_log_sum_device(v - 1.0, v + 1.0, (double)((w >> 20) + below));
}

//@ krf_log_rare
static __device__ __noinline__ double krf_log_rare(double x) {
    if (x > 0.0 && x < 0x1p-1022) {
        return krf_log_normal_f64(x * 0x1p54, 54);
    }
    return x > 0.0 ? x : krf_of_words_f64(x == 0.0 ? 0xfff00000u : 0x7ff80000u, 0);
}

//@ krf_log_f64
KRF_FN double krf_log_f64(double x) {
    double y = krf_log_normal_f64(x, 0);
    if (krf_high_f64(x) - 0x00100000u >= 0x7fe00000u) { // subnormal, negative, infinite or NaN
        y = krf_log_rare(x);
    }
    return y;
}

//@ krf_log1p_rare
static __device__ __noinline__ double krf_log1p_rare(double x) { return x > 0.0 ? x : krf_of_words_f64(x == -1.0 ? 0xfff00000u : 0x7ff80000u, 0); }

//@ krf_log1p_f64
KRF_FN double krf_log1p_f64(double x) {
    unsigned high = krf_high_f64(x);
    int w = (int)(0x3ff7ffffu - krf_high_f64(1.0 + x));
    double s = 0.25 * krf_of_words_f64(((unsigned)w & 0xfff00000u) + 0x40100000u, 0);
    double y = krf_log_sum_device(KRF_F64(fma)(x, s, -(1.0 - s)), KRF_F64(fma)(x, s, 1.0 + s), (double)(w >> 20));
    if (high >= 0x7ff00000u && high - 0x80000000u >= 0x3ff00000u) { // infinite, NaN, or not above -1
        y = krf_log1p_rare(x);
    }
    return y;
}

//@ krf_log1p_unit_f64
// krf_log1p_f64(x) with its bits, for 0 <= x < 2, or NaN: two powers of 2 are enough.
KRF_FN double krf_log1p_unit_f64(double x) {
    bool up = krf_high_f64(1.0 + x) >= 0x3ff80000u; // 1.5
    double s = up ? 0.5 : 1.0;
    return krf_log_sum_device(KRF_F64(fma)(x, s, up ? -0.5 : -0.0), KRF_F64(fma)(x, s, up ? 1.5 : 2.0), up ? -1.0 : 0.0);
}

//@ krf_softplus_f64
KRF_FN double krf_softplus_f64(double x) { return (x > 0 ? x : 0) + krf_log1p_unit_f64(krf_exp_f64(-KRF_F64(fabs)(x))); }
