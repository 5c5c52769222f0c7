// Functions that CUDA's library lacks, from those that it has. Sections as in prelude.h; for kernels on a GPU only.

//@ krf_sigmoid_f32
KRF_FN float krf_sigmoid_f32(float x) {
    float e = KRF_F32(exp)(-KRF_F32(fabs)(x));
    return (x < 0 ? e : 1) / (1 + e);
}

//@ krf_silu_f32
// Below 0 the exponential in two factors: x times the first keeps the second from being subnormal.
KRF_FN float krf_silu_f32(float x) {
    float h = KRF_F32(exp)(-0.5f * KRF_F32(fabs)(x)), e = h * h;
    float y = x < -250 ? -250 : x; // at -infinity -0
    return (x < 0 ? y * h * h : x) / (1 + e);
}

//@ krf_gelu_f32
KRF_FN float krf_gelu_f32(float x) {
    return (x < -40 ? -40 : x) * KRF_F32(normcdf)(x);
}

//@ krf_gelu_tanh_f32
KRF_FN float krf_gelu_tanh_f32(float x) {
    float y = x < -40 ? -40 : x;
    float u = y * (1.5957691216057308f + 0.071354816272600254f * y * y);
    float h = KRF_F32(exp)(-0.5f * KRF_F32(fabs)(u)), e = h * h;
    return (u < 0 ? y * h * h : y) / (1 + e);
}

//@ krf_logaddexp_f32
// What rounding takes from the distance is put back: it would be multiplied by the distance itself.
KRF_FN float krf_logaddexp_f32(float a, float b) {
    float most = a > b ? a : b, least = a > b ? b : a;
    float apart = a == b ? 0 : most - least;
    float back = most - apart;
    float lost = (most - (apart + back)) + (back - least);
    float e = KRF_F32(exp)(-apart);
    e = apart - apart == 0 && lost - lost == 0 ? e - e * lost : e;
    return a != a || b != b ? a + b : most + KRF_F32(log1p)(e);
}

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

//@ krf_silu_f64
// Below 0 the exponential in two factors: x times the first keeps the second from being subnormal.
KRF_FN double krf_silu_f64(double x) {
    double h = KRF_F64(exp)(-0.5 * KRF_F64(fabs)(x)), e = h * h;
    double y = x < -1600 ? -1600 : x; // at -infinity -0
    return (x < 0 ? y * h * h : x) / (1 + e);
}

//@ krf_gelu_f64
KRF_FN double krf_gelu_f64(double x) {
    return (x < -40 ? -40 : x) * KRF_F64(normcdf)(x);
}

//@ krf_gelu_tanh_f64
KRF_FN double krf_gelu_tanh_f64(double x) {
    double y = x < -40 ? -40 : x;
    double u = y * (1.5957691216057308 + 0.071354816272600254 * y * y);
    double h = KRF_F64(exp)(-0.5 * KRF_F64(fabs)(u)), e = h * h;
    return (u < 0 ? y * h * h : y) / (1 + e);
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

//@ krf_digamma_f64
// As krf_digamma of special.h, without its pairs: reflection below 0, recurrence up to 10, the asymptotic series.
KRF_FN double krf_digamma_f64(double x) {
    double y = x, add = 0.0;
    if (x <= 0.0) {
        if (x == 0.0 || KRF_F64(floor)(x) == x) {
            return x == 0.0 ? -1.0 / x : KRF_F64(sqrt)(-1.0);
        }
        y = 1.0 - x;
        add = -3.14159265358979323846 * KRF_F64(cospi)(x) / KRF_F64(sinpi)(x);
    }
    double sum = 0.0;
    while (y < 10.0) {
        sum += 1.0 / y;
        y += 1.0;
    }
    double z = 1.0 / (y * y);
    double p0 = KRF_F64(fma)(z, -0x1.11111111110e1p-7, 0x1.5555555555555p-4);
    double p1 = KRF_F64(fma)(z, -0x1.111110726afbbp-8, 0x1.04104103de162p-8);
    double p2 = KRF_F64(fma)(z, -0x1.5960ffad008dp-6, 0x1.f07b27dd9ed3dp-8);
    double p3 = KRF_F64(fma)(z, -0x1.5e8d303cf7fc1p-2, 0x1.4f0d1b5069666p-4);
    double z2 = z * z;
    double p4 = KRF_F64(fma)(z2, p1, p0);
    double p5 = KRF_F64(fma)(z2, p3, p2);
    double z4 = z2 * z2;
    double p = KRF_F64(fma)(z4, p5, p4);
    return x - x == 0.0 || x > 0.0 ? KRF_F64(log)(y) - (0.5 / y + z * p) - sum + add : x - x;
}

//@ krf_digamma_f32
KRF_FN float krf_digamma_f32(float x) {
    return (float)krf_digamma_f64((double)x);
}
