// Hyperbolic functions and their inverses, as explog.h.

//@ krf_exp_both
// exp(y) = of 2^n and exp(-y) 2^-n, as it stands beside it: what sinh and cosh add and subtract. y = abs(x) <= 720.
typedef struct krf_exp_pair {
    krf_dd up, down;
    double n;
} krf_exp_pair;
KRF_FN krf_exp_pair krf_exp_both(double y) {
    krf_scaled e = krf_exp_sum(y, 0.0);
    double inverse = 1.0 / e.of.hi;
    double k = e.n > 40.0 ? 40.0 : e.n; // beyond, exp(-y) is nothing beside exp(y)
    double scale = krf_unbits_f64((0x3ffull << 52) - ((krf_bits_f64(k + 0x1.8p52) & 0xff) << 53));
    krf_exp_pair p;
    p.up = e.of;
    p.down.hi = inverse * scale;
    p.down.lo = inverse * (__builtin_fma(-inverse, e.of.hi, 1.0) - inverse * e.of.lo) * scale;
    p.n = e.n;
    return p;
}

//@ krf_sinh
// Up to 1 by a polynomial of error 2^-63.
KRF_FN double krf_sinh(double x) {
    double y = __builtin_fabs(x);
    y = y > 720.0 ? 720.0 : y;
    krf_exp_pair e = krf_exp_both(y);
    krf_dd s;
    s.hi = e.up.hi - e.down.hi;
    s.lo = ((e.up.hi - s.hi) - e.down.hi) + (e.up.lo - e.down.lo);
    double v = krf_power_of_two(s, e.n - 1.0);
    double z = y * y;
    double p0 = __builtin_fma(z, 0x1.11111111110a1p-7, 0x1.5555555555556p-3);
    double p1 = __builtin_fma(z, 0x1.71de3a45f7262p-19, 0x1.a01a01a0291fbp-13);
    double p2 = __builtin_fma(z, 0x1.611a3a2280f5ap-33, 0x1.ae64676685ce1p-26);
    double z2 = z * z;
    double p3 = __builtin_fma(z2, p1, p0);
    double p4 = __builtin_fma(z2, 0x1.b4cf77f2edb97p-41, p2);
    double z4 = z2 * z2;
    double p = __builtin_fma(z4, p4, p3);
    v = y < 1.0 ? __builtin_fma(y * z, p, y) : v;
    v = krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(x) & 0x8000000000000000u));
    return x == x ? v : x;
}

//@ krf_cosh
KRF_FN double krf_cosh(double x) {
    double y = __builtin_fabs(x);
    y = y > 720.0 ? 720.0 : y;
    krf_exp_pair e = krf_exp_both(y);
    krf_dd s;
    s.hi = e.up.hi + e.down.hi;
    s.lo = ((e.up.hi - s.hi) + e.down.hi) + (e.up.lo + e.down.lo);
    double v = krf_power_of_two(s, e.n - 1.0);
    return x == x ? v : x;
}

//@ krf_asinh
// log1p(y + y^2 / (1 + sqrt(1 + y^2))), the argument as a sum of two. For large y log(2 y) = log1p(y) + ln 2.
KRF_FN double krf_asinh(double x) {
    double a = __builtin_fabs(x);
    int large = !(a < 0x1p100);
    double y = large ? 1.0 : a;
    double z = y * y, z_low = __builtin_fma(y, y, -z);
    krf_dd t = krf_two_sum(1.0, z);
    double t_low = t.lo + z_low;
    double s = __builtin_sqrt(t.hi);
    double s_low = (__builtin_fma(-s, s, t.hi) + t_low) / (2.0 * s);
    double d = s + 1.0, d_low = (s - d) + 1.0 + s_low;
    double w = z / d;
    double w_low = (__builtin_fma(-w, d, z) + z_low - w * d_low) / d;
    double u = y + w, u_low = (y - u) + w + w_low;
    double v = krf_log1p(large ? a : u) + (large ? 0x1.62e42fefa39efp-1 : u_low / (1.0 + u));
    return krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(x) & 0x8000000000000000u));
}

//@ krf_acosh
// With t = x - 1: log1p(t + sqrt(t (t + 2))).
KRF_FN double krf_acosh(double x) {
    int large = x >= 0x1p100;
    double y = large ? 2.0 : x;
    double t = y - 1.0, t_low = (y - t) - 1.0;
    double p = y + 1.0, p_low = (y - p) + 1.0;
    double q = t * p;
    double q_low = __builtin_fma(t, p, -q) + __builtin_fma(t, p_low, t_low * p);
    double s = __builtin_sqrt(q);
    double s_low = (__builtin_fma(-s, s, q) + q_low) / (s == 0.0 ? 1.0 : 2.0 * s);
    double u = s + t, u_low = (s - u) + t + (s_low + t_low);
    double v = krf_log1p(large ? x : u) + (large ? 0x1.62e42fefa39efp-1 : u_low / (1.0 + u));
    return x < 1.0 ? krf_unbits_f64(0x7ff8000000000000u) : v;
}

//@ krf_atanh
// log1p(2 y / (1 - y)) / 2
KRF_FN double krf_atanh(double x) {
    double y = __builtin_fabs(x);
    double d = 1.0 - y, d_low = (1.0 - d) - y;
    double u = 2.0 * y / d;
    double u_low = (__builtin_fma(-u, d, 2.0 * y) - u * d_low) / d;
    double v = 0.5 * (krf_log1p(u) + (y == 1.0 ? 0.0 : u_low / (1.0 + u)));
    v = y < 0x1p-500 ? y : v; // the remainders would be subnormal
    return krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(x) & 0x8000000000000000u));
}
