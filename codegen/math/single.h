// f32 functions by way of f64 that is good to some 2^-33 of the value: enough for one rounding to f32 (0.5012 ULP were the most found), for a half
// to a third of what the last digits of f64 cost in pairs. Sections as in prelude.h.

//@ krf_exp_single
// exp(x), and 0 from -110 on, where nothing that f32 holds is left of the exponential times x: no product is too small for f64, or for what comes of it. Up to 200 it is finite, for a
// sine may bring it back to what f32 holds; infinite beyond. Polynomial error 2^-33.
KRF_FN double krf_exp_single(double x) {
    int endless = x > 200.0, none = x < -110.0;
    double y = endless ? 200.0 : x;
    y = none ? -110.0 : y;
    double t = __builtin_fma(y, 0x1.71547652b82fep+0, 0x1.8p52);
    double n = t - 0x1.8p52;
    double r = __builtin_fma(n, -0x1.62e42fefa39efp-1, y);
    double r2 = r * r;
    double a = __builtin_fma(r, 0x1.000000289873ap-1, 1.0);
    double b = __builtin_fma(r, 0x1.5554ac8ab8909p-5, 0x1.555555675e3d0p-3);
    double c = __builtin_fma(r, 0x1.6d758bcd6903ap-10, 0x1.1110c613ed8f1p-7);
    c = __builtin_fma(r2, 0x1.a151b9b9f9468p-13, c);
    double q = __builtin_fma(r2, __builtin_fma(r2, c, b), a);
    return __builtin_fma(q, r, 1.0) * krf_unbits_f64(none ? 0 : endless ? 0x7ff0000000000000u : (krf_bits_f64(t) << 52) + 0x3ff0000000000000u);
}

//@ krf_exp_singlef
KRF_FN float krf_exp_singlef(float x) { return (float)krf_exp_single((double)x); }

//@ krf_sin_single
// The sine of an f32's value.
KRF_FN double krf_sin_single(double x) {
    double y = krf_sin_of_single(krf_reduce_f32((float)x));
    y = x == 0.0 ? x : y;
    return x - x == 0.0 ? y : x - x;
}

//@ krf_sin_singlef
KRF_FN float krf_sin_singlef(float x) { return (float)krf_sin_single((double)x); }

//@ krf_cos_single
KRF_FN double krf_cos_single(double x) {
    krf_angle a = krf_reduce_f32((float)x);
    a.quarters += 1;
    double y = krf_sin_of_single(a);
    return x - x == 0.0 ? y : x - x;
}

//@ krf_cos_singlef
KRF_FN float krf_cos_singlef(float x) { return (float)krf_cos_single((double)x); }

//@ krf_exp10f
KRF_FN float krf_exp10f(float x) { return (float)krf_exp_single(0x1.26bb1bbb55516p+1 * (double)x); }
