// Functions that CUDA's library lacks, from those that it has. Sections as in prelude.h; for kernels on a GPU only.

//@ krf_sigmoid_f32
KRF_FN float krf_sigmoid_f32(float x) {
    float e = KRF_F32(exp)(-KRF_F32(fabs)(x));
    return (x < 0 ? e : 1) / (1 + e);
}

//@ krf_exp_parts_f32
// (hi + lo) * first * second; first and second powers of 2.
typedef struct krf_exp_parts_f32 {
    float hi, lo, first, second;
} krf_exp_parts_f32;

//@ krf_exp_to_parts_f32
// exp(x + low) for x from -160 to 0, good to 2^-26: krf_expf of real.h, with what rounding takes from r and from 1 + r kept. CUDA's expf is 2 ULP
// off, which a product with x may double.
KRF_FN krf_exp_parts_f32 krf_exp_to_parts_f32(float x, float low) {
    float t = KRF_F32(fma)(x, 0x1.715476p+0f, 0x1.8p23f), n = t - 0x1.8p23f;
    float s = KRF_F32(fma)(n, -0x1.62e43p-1f, x); // exact
    float c = KRF_F32(fma)(n, 0x1.05c61p-29f, low), r = s + c, r_low = (s - r) + c;
    float r2 = r * r;
    float q = KRF_F32(fma)(r, 0x1.123b48p-7f, 0x1.5558d4p-5f);
    q = KRF_F32(fma)(r2, 0x1.6a2214p-10f, q);
    q = KRF_F32(fma)(r2, q, KRF_F32(fma)(r, 0x1.55549p-3f, 0x1.fffffcp-2f));
    krf_exp_parts_f32 e;
    e.hi = 1 + r;
    e.lo = ((1 - e.hi) + r) + KRF_F32(fma)(r2, q, r_low);
    unsigned b = krf_pre_bits_f32(t), h = (b << 22) & 0xff800000u;
    e.first = krf_pre_unbits_f32(h + 0x3f800000u);
    e.second = krf_pre_unbits_f32((b << 23) - h + 0x3f800000u);
    return e;
}

//@ krf_swish_f32
// y * sigmoid(u + low), low a small part of u; y and u have the same sign. Below 0 as y * exp(u) / (1 + exp(u)), where the powers of 2 come last: the
// exponential may be too small where the result is not.
KRF_FN float krf_swish_f32(float y, float u, float low) {
    bool below = u < 0;
    float a = KRF_F32(fabs)(u);
    krf_exp_parts_f32 e = krf_exp_to_parts_f32(a > 160 ? -160 : -a, below ? low : -low);
    float v = (below ? KRF_F32(fma)(y, e.hi, y * e.lo) : y) / (1 + (e.hi + e.lo) * e.first * e.second);
    return below ? v * e.first * e.second : v;
}

//@ krf_silu_f32
KRF_FN float krf_silu_f32(float x) {
    float y = x < -120 ? -120 : x; // at -infinity -0
    return krf_swish_f32(y, y, 0);
}

//@ krf_gelu_f32
// The tail of the normal distribution beyond b = abs(x) is exp(-b * b / 2) * G / (b + k) with k = 3.4375 and G a polynomial of t = (b - k) / (b + k),
// relative error 2^-26.5 up to b = 13.4, from where on results are subnormal. In pairs up to the last product.
KRF_FN float krf_gelu_f32(float x) {
    bool below = x < 0;
    float b = KRF_F32(fabs)(x);
    b = b > 14.5f ? 14.5f : b;
    float d = b + 3.4375f, c = d - b, d_low = (b - (d - c)) + (3.4375f - c);
    float i = 1 / d, rest = KRF_F32(fma)(-i, d, 1.0f) - i * d_low;
    float t = KRF_F32(fma)(-6.875f * i, rest, KRF_F32(fma)(-6.875f, i, 1.0f));
    float p = KRF_F32(fma)(t, 0x1.0bb63cp-13f, 0x1.8a7bc6p-12f);
    p = KRF_F32(fma)(t, p, -0x1.68c6p-11f);
    p = KRF_F32(fma)(t, p, -0x1.674aaap-9f);
    p = KRF_F32(fma)(t, p, 0x1.dc3ac2p-8f);
    p = KRF_F32(fma)(t, p, 0x1.a7ee38p-7f);
    p = KRF_F32(fma)(t, p, -0x1.b7186ap-4f);
    p = KRF_F32(fma)(t, p, 0x1.38d776p-2f);
    p = KRF_F32(fma)(t, p, -0x1.1e684p-1f);
    float g = KRF_F32(fma)(t, p, 0x1.7c4e3ap-1f), g_low = KRF_F32(fma)(t, p, 0x1.7c4e3ap-1f - g);
    float m = g * i, m_low = KRF_F32(fma)(g, i, -m) + KRF_F32(fma)(g_low, i, m * rest);
    float square = b * b;
    krf_exp_parts_f32 e = krf_exp_to_parts_f32(-0.5f * square, -0.5f * KRF_F32(fma)(b, b, -square));
    float w = below ? -b : 1, v = w * m, v_low = KRF_F32(fma)(w, m, -v) + w * m_low;
    v = KRF_F32(fma)(v, e.hi, KRF_F32(fma)(v_low, e.hi, v * e.lo)) * e.first * e.second;
    return below ? v : x * (1 - v);
}

//@ krf_gelu_tanh_f32
// u = z * (A + B * z * z) as a sum of two: the exponential multiplies its error by u.
KRF_FN float krf_gelu_tanh_f32(float x) {
    float y = x < -12 ? -12 : x, z = y > 12 ? 12 : y, square = z * z, cube = 0x1.2444f2p-4f * square, p = 0x1.988454p+0f + cube, u = z * p;
    float more = p - 0x1.988454p+0f, p_low = (0x1.988454p+0f - (p - more)) + (cube - more);
    p_low += KRF_F32(fma)(0x1.2444f2p-4f, square, -cube) + 0x1.2444f2p-4f * KRF_F32(fma)(z, z, -square) + (-0x1.857936p-25f + 0x1.49b16ap-29f * square);
    return krf_swish_f32(y, u, KRF_F32(fma)(z, p, -u) + z * p_low);
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

//@ krf_gelu_f64
// Below -1 the tail of erfc at a = -x / sqrt(2), whose slope over its value is near a + sqrt(a * a + 2): it multiplies what rounding took from a.
// Where erfc would be subnormal, erfcx(a) * exp(-a * a), of which exp(-600) comes last.
KRF_FN double krf_gelu_f64(double x) {
    double y = x < -40 ? -40 : x;
    double a = -y * 0x1.6a09e667f3bcdp-1, lost = KRF_F64(fma)(-y, 0x1.6a09e667f3bcdp-1, -a) - y * -0x1.bdd3413b26456p-55;
    if (y >= -1 || y != y) {
        return y * KRF_F64(normcdf)(y);
    }
    if (a < 26.4) {
        double p = KRF_F64(erfc)(a);
        return 0.5 * y * (p - p * lost * (a + KRF_F64(sqrt)(a * a + 2)));
    }
    double square = a * a, d = 600 - square, rest = ((600 - d) - square) - KRF_F64(fma)(a, a, -square) - 2 * a * lost;
    double p = 0.5 * y * KRF_F64(erfcx)(a) * KRF_F64(exp)(d);
    return KRF_F64(copysign)((p + p * rest) * 0x1.4dd4d0d12c071p-866, y);
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
