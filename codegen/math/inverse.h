// Inverse circular functions, as explog.h.

//@ krf_arc
// The angle of the point (d, n), n >= 0 and d >= 0, not both 0 or infinite, in 0 to pi / 2: of + turn. By the arc tangent
// of at most tan(pi / 8) after turning the point back by 0, pi / 4 or pi / 2. Polynomial error 2^-59.
KRF_FN krf_dd krf_arc(double n, double d) {
    int low = n < 0x1.a827999fcef32p-2 * d, high = 0x1.a827999fcef32p-2 * n > d;
    krf_dd s = krf_two_sum(n, -d), t = krf_two_sum(n, d);
    double a = high ? -d : s.hi, a_low = high ? 0.0 : s.lo;
    double b = high ? n : t.hi, b_low = high ? 0.0 : t.lo;
    a = low ? n : a, a_low = low ? 0.0 : a_low; // one select after the other: gcc makes branches of nested ones
    b = low ? d : b, b_low = low ? 0.0 : b_low;
    double u = a / b;
    double u_low = (__builtin_fma(-u, b, a) + (a_low - u * b_low)) / b;
    double z = u * u;
    double p0 = __builtin_fma(z, 0x1.99999999958aap-3, -0x1.555555555553dp-2);
    double p1 = __builtin_fma(z, 0x1.c71c70e6f177cp-4, -0x1.24924922af6eep-3);
    double p2 = __builtin_fma(z, 0x1.3b111ae960f93p-4, -0x1.745cf8f67bf3ep-4);
    double p3 = __builtin_fma(z, 0x1.df10643dd15fep-5, -0x1.10ebcc467fecfp-4);
    double p4 = __builtin_fma(z, 0x1.37e1199ae47a7p-5, -0x1.9cd779bf6a519p-5);
    double z2 = z * z;
    double p5 = __builtin_fma(z2, p1, p0);
    double p6 = __builtin_fma(z2, p3, p2);
    double p7 = __builtin_fma(z2, -0x1.25821d30e8e6ap-6, p4);
    double z4 = z2 * z2;
    double p8 = __builtin_fma(z4, p6, p5);
    double z8 = z4 * z4;
    double p = __builtin_fma(z8, p7, p8);
    u_low = __builtin_fma(u * z, p, u_low);
    double turn = high ? 0x1.921fb54442d18p+0 : 0x1.921fb54442d18p-1;
    double turn_low = high ? 0x1.1a62633145c07p-54 : 0x1.1a62633145c07p-55;
    turn = low ? 0.0 : turn, turn_low = low ? 0.0 : turn_low;
    krf_dd r;
    r.hi = turn + u;
    r.lo = ((turn - r.hi) + u) + (turn_low + u_low);
    return r;
}

//@ krf_atan
KRF_FN double krf_atan(double x) {
    double y = __builtin_fabs(x);
    y = y > 0x1p60 ? 0x1p60 : y;
    krf_dd r = krf_arc(y, 1.0);
    double v = r.hi + r.lo;
    return krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(x) & 0x8000000000000000u));
}

//@ krf_atan2
// Points of extreme size are brought to the middle of the range, those at infinity or 0 to an axis or a diagonal.
KRF_FN double krf_atan2(double y, double x) {
    double a = __builtin_fabs(y), b = __builtin_fabs(x);
    double most = a > b ? a : b;
    double scale = most > 0x1p1000 ? 0x1p-100 : most < 0x1p-900 ? 0x1p100 : 1.0;
    double infinite = krf_unbits_f64(0x7ff0000000000000u);
    double n = most == infinite ? (a == infinite ? 1.0 : 0.0) : a * scale;
    double d = most == infinite ? (b == infinite ? 1.0 : 0.0) : b * scale;
    d = most == 0.0 ? 1.0 : d;
    krf_dd r = krf_arc(n, d);
    int left = (krf_bits_f64(x) >> 63) != 0;
    double h = 0x1.921fb54442d18p+1 - r.hi;
    double h_low = ((0x1.921fb54442d18p+1 - h) - r.hi) + (0x1.1a62633145c07p-53 - r.lo);
    double v = left ? h + h_low : r.hi + r.lo;
    v = krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(y) & 0x8000000000000000u));
    return ((x != x) | (y != y)) ? x + y : v;
}

//@ krf_asin_near
// asin(s + low) for 0 <= s <= 1/2. Polynomial error 2^-60.
KRF_FN krf_dd krf_asin_near(double s, double low) {
    double z = s * s;
    double p0 = __builtin_fma(z, 0x1.333333332df08p-4, 0x1.5555555555578p-3);
    double p1 = __builtin_fma(z, 0x1.f1c71a8b73cbbp-6, 0x1.6db6db722be76p-5);
    double p2 = __builtin_fma(z, 0x1.1c49ddc21ee28p-6, 0x1.6e8bdfea857f9p-6);
    double p3 = __builtin_fma(z, 0x1.757763bb73842p-7, 0x1.ca2149bd356afp-7);
    double p4 = __builtin_fma(z, 0x1.e14f180c379ap-9, 0x1.618b946fd0abap-7);
    double p5 = __builtin_fma(z, -0x1.59fb48df37e55p-6, 0x1.6505872031881p-6);
    double z2 = z * z;
    double p6 = __builtin_fma(z2, p1, p0);
    double p7 = __builtin_fma(z2, p3, p2);
    double p8 = __builtin_fma(z2, p5, p4);
    double z4 = z2 * z2;
    double p9 = __builtin_fma(z4, p7, p6);
    double p10 = __builtin_fma(z4, 0x1.0be5d5805f863p-5, p8);
    double z8 = z4 * z4;
    double p = __builtin_fma(z8, p10, p9);
    krf_dd r;
    r.hi = s;
    r.lo = __builtin_fma(s * z, p, low);
    return r;
}

//@ krf_asin_half
// Of y = abs(x): asin(y) up to 1/2; beyond that asin(sqrt((1 - y) / 2)), which is half of acos(y). NaN above 1.
KRF_FN krf_dd krf_asin_half(double y) {
    double w = 0.5 * (1.0 - y); // exact from 1/2 on
    double s = __builtin_sqrt(w);
    double s_low = __builtin_fma(-s, s, w) / (s == 0.0 ? 1.0 : 2.0 * s);
    int near = y <= 0.5;
    return krf_asin_near(near ? y : s, near ? 0.0 : s_low);
}

//@ krf_asin
KRF_FN double krf_asin(double x) {
    double y = __builtin_fabs(x);
    krf_dd r = krf_asin_half(y);
    double h = 0x1.921fb54442d18p+0 - 2.0 * r.hi;
    double h_low = ((0x1.921fb54442d18p+0 - h) - 2.0 * r.hi) + (0x1.1a62633145c07p-54 - 2.0 * r.lo);
    double v = y <= 0.5 ? r.hi + r.lo : h + h_low;
    return krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(x) & 0x8000000000000000u));
}

//@ krf_acos
KRF_FN double krf_acos(double x) {
    double y = __builtin_fabs(x);
    krf_dd r = krf_asin_half(y);
    int near = y <= 0.5, left = x < 0.0;
    // pi / 2 - asin(x); beyond 1/2 twice the half, or pi less that
    double base = near ? 0x1.921fb54442d18p+0 : left ? 0x1.921fb54442d18p+1 : 0.0;
    double base_low = near ? 0x1.1a62633145c07p-54 : left ? 0x1.1a62633145c07p-53 : 0.0;
    double factor = near ? 1.0 : 2.0;
    factor = near == left ? factor : -factor;
    double t = factor * r.hi;
    double h = base + t;
    return h + (((base - h) + t) + __builtin_fma(factor, r.lo, base_low));
}
