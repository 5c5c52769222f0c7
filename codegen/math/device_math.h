// Functions that CUDA's library lacks, from those that it has, and those of which it promises less than 4 ULP by the text that the CPU runs (erf.h,
// special.h, gammas.h). Sections as in prelude.h; for kernels on a GPU only.

//@ krf_sigmoid_f32
KRF_FN float krf_sigmoid_f32(float x) { return krf_sigmoidf(x); }

//@ krf_silu_f32
KRF_FN float krf_silu_f32(float x) { return krf_siluf(x); }

//@ krf_gelu_tanh_f32
KRF_FN float krf_gelu_tanh_f32(float x) { return krf_gelu_tanhf(x); }

//@ krf_logaddexp_f32
KRF_FN float krf_logaddexp_f32(float a, float b) { return krf_logaddexpf(a, b); }

//@ krf_log1p_unit_f32
// krf_log1pf(x) with its bits, for 0 <= x < 2, or NaN: two powers of 2 are enough, and comparisons find them.
KRF_FN float krf_log1p_unit_f32(float x) {
    bool up = 1 + x >= 1.5f;
    return krf_log_sum_f32(up ? KRF_F32(fma)(x, 0.5f, -0.5f) : x, up ? -0x1p23f : 0.0f);
}

//@ krf_softplus_f32
KRF_FN float krf_softplus_f32(float x) { return (x > 0 ? x : 0) + krf_log1p_unit_f32(KRF_F32(exp)(-KRF_F32(fabs)(x))); }

//@ krf_logit_f32
// 2 x - 1 is exact from 1/4 on; below that nothing cancels.
KRF_FN float krf_logit_f32(float x) {
    float inside = x >= 0 && x <= 1 ? x : (x - x) / (x - x); // NaN: that of functions beyond their domain is not to be relied on
    return x < 0.25f ? KRF_F32(log)(inside) - KRF_F32(log1p)(-inside) : 2 * KRF_F32(atanh)(2 * inside - 1);
}
//@ krf_sigmoid_f64
KRF_FN double krf_sigmoid_f64(double x) {
    double e = KRF_F64(exp)(-KRF_F64(fabs)(x));
    return (x < 0 ? e : 1) / (1 + e);
}

//@ krf_swish_f64
// y * sigmoid(u + low), low a small part of u. Below -700 the exponential in two factors: y times the first keeps the second from being subnormal.
KRF_FN double krf_swish_f64(double y, double u, double low) {
    double a = KRF_F64(fabs)(u);
    bool far = a > 700;
    double h = KRF_F64(exp)(far ? -0.5 * a : -a), e = far ? h * h : h;
    double below = far ? y * h * h : y * h;
    return (u < 0 ? KRF_F64(copysign)(below + below * low, y) : y) / (1 + e); // -0 stays
}

//@ krf_silu_f64
KRF_FN double krf_silu_f64(double x) {
    double y = x < -1600 ? -1600 : x; // at -infinity -0
    return krf_swish_f64(y, y, 0);
}

//@ krf_gelu_tanh_f64
// u = y * (A + B * y * y) as a sum of two: the exponential multiplies its error by u.
KRF_FN double krf_gelu_tanh_f64(double x) {
    double y = x < -40 ? -40 : x, square = y * y, cube = 0x1.2444f2a4d8b4bp-4 * square, p = 0x1.9884533d43651p+0 + cube, u = y * p;
    double more = p - 0x1.9884533d43651p+0, p_low = (0x1.9884533d43651p+0 - (p - more)) + (cube - more);
    p_low += KRF_F64(fma)(0x1.2444f2a4d8b4bp-4, square, -cube) + 0x1.2444f2a4d8b4bp-4 * KRF_F64(fma)(y, y, -square) + (-0x1.cbc0d30ebfd15p-54 + -0x1.6c843a29d1c70p-61 * square);
    return krf_swish_f64(y, u, KRF_F64(fma)(y, p, -u) + y * p_low);
}

//@ krf_logaddexp_f64
// What rounding takes from the distance is put back: it would be multiplied by the distance itself.
KRF_FN double krf_logaddexp_f64(double a, double b) {
    double most = a > b ? a : b, least = a > b ? b : a;
    double apart = a == b ? 0 : most - least;
    double back = most - apart;
    double lost = (most - (apart + back)) + (back - least);
    double e = KRF_F64(exp)(-apart);
    e = apart - apart == 0 && lost - lost == 0 ? e - e * lost : e;
    return a != a || b != b ? a + b : most + KRF_F64(log1p)(e);
}

//@ krf_logit_f64
// 2 x - 1 is exact from 1/4 on; below that nothing cancels.
KRF_FN double krf_logit_f64(double x) {
    double inside = x >= 0 && x <= 1 ? x : (x - x) / (x - x); // NaN: that of functions beyond their domain is not to be relied on
    return x < 0.25 ? KRF_F64(log)(inside) - KRF_F64(log1p)(-inside) : 2 * KRF_F64(atanh)(2 * inside - 1);
}

//@ krf_gelu_f32
KRF_FN float krf_gelu_f32(float x) { return krf_geluf(x); }

//@ krf_erfc_f32
KRF_FN float krf_erfc_f32(float x) { return krf_erfcf(x); }

//@ krf_gelu_f64
KRF_FN double krf_gelu_f64(double x) { return krf_gelu(x); }

//@ krf_erfc_f64
KRF_FN double krf_erfc_f64(double x) { return krf_erfc(x); }

//@ krf_erfinv_f64
KRF_FN double krf_erfinv_f64(double x) { return krf_erfinv(x); }

//@ krf_erfinv_f32
KRF_FN float krf_erfinv_f32(float x) { return KRF_F32(erfinv)(x); }

//@ krf_gamma_f64
KRF_FN double krf_gamma_f64(double x) { return krf_tgamma(x); }

//@ krf_gamma_f32
KRF_FN float krf_gamma_f32(float x) { return krf_tgamma_by_branchf(x); }

//@ krf_lgamma_f64
KRF_FN double krf_lgamma_f64(double x) { return krf_lgamma(x); }

//@ krf_lgamma_f32
KRF_FN float krf_lgamma_f32(float x) { return krf_lgamma_by_branchf(x); }

//@ krf_digamma_f64
KRF_FN double krf_digamma_f64(double x) { return krf_digamma(x); }

//@ krf_digamma_f32
KRF_FN float krf_digamma_f32(float x) { return krf_digamma_by_branchf(x); }

//@ krf_log_rest_f64
KRF_FN double krf_log_rest_f64(double x, double y, double t) { return krf_log_rest(x, y, t); }

//@ krf_log_rest_f32
KRF_FN float krf_log_rest_f32(float x, float y, float t) { return krf_log_restf(x, y, t); }

//@ krf_arc_rest_f64
KRF_FN double krf_arc_rest_f64(double y, double x, double t) { return krf_arc_rest(y, x, t); }

//@ krf_arc_rest_f32
KRF_FN float krf_arc_rest_f32(float y, float x, float t) { return krf_arc_restf(y, x, t); }

//@ krf_i0_f64
KRF_FN double krf_i0_f64(double x) { return krf_i0(x); }

//@ krf_i0_f32
KRF_FN float krf_i0_f32(float x) { return krf_i0f(x); }
