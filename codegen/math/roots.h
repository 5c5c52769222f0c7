// Roots, as explog.h.

//@ krf_cbrt
// |x| = 8^k y with y in [1, 8): y^(-1/3) by a polynomial and Newton's steps, and the root from it, corrected.
KRF_FN double krf_cbrt(double x) {
    double a = __builtin_fabs(x);
    int tiny = a < 0x1p-1022;
    unsigned long long b = krf_bits_f64(tiny ? a * 0x1p54 : a);
    double e = krf_unbits_f64((b >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    double k = __builtin_floor((e + 0.5) * 0x1.5555555555555p-2);
    unsigned long long power = krf_bits_f64(k + 0x1.8p52); // low bits: k
    double y = krf_unbits_f64(b - 3 * (power << 52));
    double p0 = __builtin_fma(y, -0x1.86a22e681f05dp-1, 0x1.80a16ba5bfa8ap+0);
    double p1 = __builtin_fma(y, -0x1.689a563532abfp-4, 0x1.570a2fa5c7c66p-2);
    double p2 = __builtin_fma(y, -0x1.136611867c015p-10, 0x1.b2002ef6f4a98p-7);
    double y2 = y * y;
    double p3 = __builtin_fma(y2, p1, p0);
    double p4 = __builtin_fma(y2, 0x1.1d2ec3c3c1e44p-15, p2);
    double y4 = y2 * y2;
    double p = __builtin_fma(y4, p4, p3);
    p = __builtin_fma(p, __builtin_fma(-y * p, p * p, 1.0) * 0x1.5555555555555p-2, p);
    p = __builtin_fma(p, __builtin_fma(-y * p, p * p, 1.0) * 0x1.5555555555555p-2, p);
    double q = y * p * p;
    double r = q * q, r_low = __builtin_fma(q, q, -r);
    double rest = __builtin_fma(-r, q, y) - r_low * q;
    q = __builtin_fma(rest * 0x1.5555555555555p-2, p * p, q);
    q = krf_unbits_f64(krf_bits_f64(q) + (power << 52)) * (tiny ? 0x1p-18 : 1.0);
    q = a - a == 0.0 && a != 0.0 ? q : a;
    return krf_unbits_f64(krf_bits_f64(q) | (krf_bits_f64(x) & 0x8000000000000000u));
}

//@ krf_cbrtf
// As krf_cbrt, abs(x) = 8^(k - 42) y with y in [1/2, 4); one of Newton's steps.
KRF_FN float krf_cbrtf(float x) {
    float a = __builtin_fabsf(x);
    int tiny = a < 0x1p-126f;
    unsigned b = krf_bits_f32(tiny ? a * 0x1p24f : a);
    float third = __builtin_fmaf((float)(int)(b >> 23), 0x1.555556p-2f, -0.25f); // a third of the exponent less a quarter, rounded, is that third's whole part
    unsigned k = krf_bits_f32(third + 0x1.8p23f) & 0xff;
    float y = krf_unbits_f32(b - (3 * k << 23) + (126u << 23)), y2 = y * y;
    float p0 = __builtin_fmaf(y, -0x1.ec278ep+0f, 0x1.e499cp+0f);
    float p1 = __builtin_fmaf(y, -0x1.c6501p-1f, 0x1.b02fd6p+0f);
    float p2 = __builtin_fmaf(y, -0x1.5af846p-5f, 0x1.11649ep-2f);
    p2 = __builtin_fmaf(y2, 0x1.674ca8p-9f, p2);
    float p = __builtin_fmaf(y2, __builtin_fmaf(y2, p2, p1), p0);
    p = __builtin_fmaf(p * 0x1.555556p-2f, __builtin_fmaf(-y * p, p * p, 1.0f), p);
    float pp = p * p, q = y * pp;
    float r = q * q, r_low = __builtin_fmaf(q, q, -r);
    float rest = __builtin_fmaf(-r, q, y) - r_low * q;
    q = __builtin_fmaf(rest * 0x1.555556p-2f, pp, q);
    q = krf_unbits_f32(krf_bits_f32(q) + (k << 23) - (42u << 23)) * (tiny ? 0x1p-8f : 1.0f);
    q = a - a == 0.0f && a != 0.0f ? q : a;
    return krf_unbits_f32(krf_bits_f32(q) | (krf_bits_f32(x) & 0x80000000u));
}

//@ krf_hypot
// The sum of squares as a sum of two, after scaling by a power of 2 where they would leave the range.
KRF_FN double krf_hypot(double x, double y) {
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    double most = a > b ? a : b, least = a > b ? b : a;
    double scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-450 ? 0x1p600 : 1.0;
    double back = most > 0x1p500 ? 0x1p600 : most < 0x1p-450 ? 0x1p-600 : 1.0;
    double m = most * scale, n = least * scale;
    double p = m * m, q = n * n;
    double s = p + q;
    double s_low = ((p - s) + q) + (__builtin_fma(m, m, -p) + __builtin_fma(n, n, -q));
    double r = __builtin_sqrt(s);
    r += (__builtin_fma(-r, r, s) + s_low) / (r == 0.0 ? 1.0 : 2.0 * r);
    r *= back;
    double infinite = krf_unbits_f64(0x7ff0000000000000u);
    r = ((x != x) | (y != y)) ? x + y : r;
    return ((a == infinite) | (b == infinite)) ? infinite : r;
}

//@ krf_hypotf
// Squares of f32 are exact in f64 and stay in its range: the root is off by a unit of its last place.
KRF_FN float krf_hypotf(float x, float y) {
    double a = (double)x, b = (double)y;
    double r = __builtin_sqrt(__builtin_fma(a, a, b * b));
    float infinite = krf_unbits_f32(0x7f800000u);
    return ((__builtin_fabsf(x) == infinite) | (__builtin_fabsf(y) == infinite)) ? infinite : (float)r;
}
