// Exponentials and logarithms to other bases, and powers, as real.h: of f64, in pairs of numbers where one is not enough.

//@ krf_power_of_two
// value = hi + lo times 2^n: in two factors, as n goes beyond the range of exponents; only the last product can round
// again. n is whole, -1200 <= n <= 1200.
KRF_FN double krf_power_of_two(krf_dd value, double n) {
    unsigned long long b = krf_bits_f64(n + 0x1.8p52);
    unsigned long long h = (b << 51) & 0xfff0000000000000u;
    double v = (value.hi + value.lo) * krf_unbits_f64(h + 0x3ff0000000000000u);
    return v * krf_unbits_f64((b << 52) - h + 0x3ff0000000000000u);
}

//@ krf_exp_near
// exp(r + low) for abs(r) <= 0.3473 as the sum of two. Polynomial error 2^-58.
KRF_FN krf_dd krf_exp_near(double r, double low) {
    double p0 = __builtin_fma(r, 0x1.5555555555561p-3, 0x1.000000000000cp-1);
    double p1 = __builtin_fma(r, 0x1.111111110d521p-7, 0x1.555555554feeap-5);
    double p2 = __builtin_fma(r, 0x1.a01a01bb4979fp-13, 0x1.6c16c185f19bbp-10);
    double p3 = __builtin_fma(r, 0x1.71ddded5f7163p-19, 0x1.a01995c25a308p-16);
    double p4 = __builtin_fma(r, 0x1.af871eed5ef93p-26, 0x1.28b1117d3ebb7p-22);
    double r2 = r * r;
    double p5 = __builtin_fma(r2, p1, p0);
    double p6 = __builtin_fma(r2, p3, p2);
    double r4 = r2 * r2;
    double p7 = __builtin_fma(r4, p6, p5);
    double r8 = r4 * r4;
    double p = __builtin_fma(r8, p4, p7);
    double c = __builtin_fma(r * r, p, low);
    double q = r + c, q_low = (r - q) + c;
    krf_dd e;
    e.hi = 1.0 + q;
    e.lo = ((1.0 - e.hi) + q) + __builtin_fma(low, q, q_low);
    return e;
}

//@ krf_scaled
// (hi + lo) 2^n
typedef struct krf_scaled {
    krf_dd of;
    double n;
} krf_scaled;

//@ krf_exp_sum
// exp(x + low), its low part counted; abs(x) <= 800.
KRF_FN krf_scaled krf_exp_sum(double x, double low) {
    krf_scaled e;
    e.n = __builtin_rint(x * 0x1.71547652b82fep+0);
    double r = __builtin_fma(e.n, -0x1.62e42fefa39efp-1, x); // exact
    double s = __builtin_fma(e.n, -0x1.abc9e3b39803fp-56, r);
    e.of = krf_exp_near(s, __builtin_fma(e.n, -0x1.abc9e3b39803fp-56, r - s) + low);
    return e;
}

//@ krf_exp2
KRF_FN double krf_exp2(double x) {
    double y = x > 1100.0 ? 1100.0 : x;
    y = y < -1100.0 ? -1100.0 : y;
    double n = __builtin_rint(y);
    double f = y - n;
    double r = f * 0x1.62e42fefa39efp-1;
    double low = __builtin_fma(f, 0x1.62e42fefa39efp-1, -r) + f * 0x1.abc9e3b39803fp-56;
    return krf_power_of_two(krf_exp_near(r, low), n);
}

//@ krf_exp10
// x = n log10(2) + r; log10(2) in a part whose products with n are exact, and another.
KRF_FN double krf_exp10(double x) {
    double y = x > 330.0 ? 330.0 : x;
    y = y < -330.0 ? -330.0 : y;
    double n = __builtin_rint(y * 0x1.a934f0979a371p+1);
    double f = __builtin_fma(n, -0x1.34413509f78p-2, y);
    double g = __builtin_fma(n, -0x1.fef311f12b358p-46, f);
    double g_low = __builtin_fma(n, -0x1.fef311f12b358p-46, f - g);
    double r = g * 0x1.26bb1bbb55516p+1;
    double low = __builtin_fma(g, 0x1.26bb1bbb55516p+1, -r) + __builtin_fma(g_low, 0x1.26bb1bbb55516p+1, g * -0x1.f48ad494ea3e9p-53);
    return krf_power_of_two(krf_exp_near(r, low), n);
}

//@ krf_log_parts
// log(x) = of.hi + of.lo + n ln 2, the sum of two good to 2^-64; n whole. For x > 0 and finite. x = 2^n (1 + f) with 1 + f
// between sqrt(1/2) and sqrt(2); log(1 + f) = 2 s (1 + z / 3 + z^2 P(z)) with s = f / (2 + f), z = s^2. Error of P 2^-73.
KRF_FN krf_scaled krf_log_parts(double x) {
    int tiny = x < 0x1p-1022;
    unsigned long long b = krf_bits_f64(tiny ? x * 0x1p54 : x);
    unsigned long long w = b + (0x4000000000000000u - 0x3fe6a09e667f3bcdu); // 2048 more than the exponent, and a fraction
    krf_scaled y;
    y.n = krf_unbits_f64((w >> 52) | 0x4330000000000000u) - (tiny ? 0x1p52 + 1024.0 + 54.0 : 0x1p52 + 1024.0);
    double f = krf_unbits_f64(b - (w & 0xfff0000000000000u) + 0x4000000000000000u) - 1.0;
    double d = 2.0 + f, d_low = (2.0 - d) + f;
    double inverse = 1.0 / d;
    double s = f * inverse;
    double s_low = (__builtin_fma(-s, d, f) - s * d_low) * inverse;
    double z = s * s;
    double z_low = __builtin_fma(s, s, -z) + 2.0 * s * s_low;
    double p0 = __builtin_fma(z, 0x1.249249249304fp-3, 0x1.9999999999996p-3);
    double p1 = __builtin_fma(z, 0x1.745d1833d85f7p-4, 0x1.c71c71c57d3c9p-4);
    double p2 = __builtin_fma(z, 0x1.1120c544ee4fcp-4, 0x1.3b13624e178bbp-4);
    double p3 = __builtin_fma(z, 0x1.eb25d40ae4e5ep-5, 0x1.de30f5209f34p-5);
    double z2 = z * z;
    double p4 = __builtin_fma(z2, p1, p0);
    double p5 = __builtin_fma(z2, p3, p2);
    double z4 = z2 * z2;
    double p = __builtin_fma(z4, p5, p4);
    double t = z * 0x1.5555555555555p-2;
    double t_low = __builtin_fma(z, 0x1.5555555555555p-2, -t) + __builtin_fma(z, 0x1.5555555555555p-56, z_low * 0x1.5555555555555p-2);
    t_low = __builtin_fma(z * z, p, t_low);
    double u = 2.0 * s * t;
    double u_low = __builtin_fma(2.0 * s, t, -u) + 2.0 * __builtin_fma(s, t_low, s_low * t);
    double v = 2.0 * s + u;
    double v_low = (2.0 * s - v) + u + (u_low + 2.0 * s_low);
    y.of.hi = v + v_low;
    y.of.lo = (v - y.of.hi) + v_low;
    return y;
}

//@ krf_log_ends
// What logarithms give outside the positive finite numbers, else y.
KRF_FN double krf_log_ends(double x, double y) {
    y = x <= 0x1.fffffffffffffp1023 ? y : x;
    return x > 0.0 ? y : krf_unbits_f64(x == 0.0 ? 0xfff0000000000000u : 0x7ff8000000000000u);
}

//@ krf_log2
KRF_FN double krf_log2(double x) {
    krf_scaled l = krf_log_parts(x);
    double p = l.of.hi * 0x1.71547652b82fep+0;
    double p_low = __builtin_fma(l.of.hi, 0x1.71547652b82fep+0, -p);
    p_low += __builtin_fma(l.of.hi, 0x1.777d0ffda0d24p-56, l.of.lo * 0x1.71547652b82fep+0);
    double s = l.n + p;
    double s_low = (l.n - s) + p; // n is 0 or larger than p
    return krf_log_ends(x, s + (s_low + p_low));
}

//@ krf_log10
KRF_FN double krf_log10(double x) {
    krf_scaled l = krf_log_parts(x);
    double p = l.of.hi * 0x1.bcb7b1526e50ep-2;
    double p_low = __builtin_fma(l.of.hi, 0x1.bcb7b1526e50ep-2, -p);
    p_low += __builtin_fma(l.of.hi, 0x1.95355baaafad3p-57, l.of.lo * 0x1.bcb7b1526e50ep-2);
    double m = l.n * 0x1.34413509f78p-2; // exact
    double s = m + p;
    double s_low = (m - s) + p;
    return krf_log_ends(x, s + (s_low + __builtin_fma(l.n, 0x1.fef311f12b358p-46, p_low)));
}

//@ krf_pow
// exp(y log|x|), both as sums of two; then the special cases of IEEE's pow, as selects.
KRF_FN double krf_pow(double x, double y) {
    double a = __builtin_fabs(x);
    krf_scaled l = krf_log_parts(a);
    double m = l.n * 0x1.62e42fefa38p-1; // exact
    double h = m + l.of.hi;
    double h_low = (m - h) + l.of.hi + __builtin_fma(l.n, 0x1.ef35793c7673p-45, l.of.lo);
    double hi = h + h_low, lo = (h - hi) + h_low;
    double e = y * hi;
    int far = !(__builtin_fabs(e) < 760.0);
    double e_low = __builtin_fma(y, hi, -e) + y * lo;
    e_low = far ? 0.0 : e_low;
    double c = far ? (e < 0.0 ? -760.0 : 760.0) : e;
    krf_scaled r = krf_exp_sum(c, e_low);
    double v = krf_power_of_two(r.of, r.n);
    double half = 0.5 * y;
    int whole = __builtin_rint(y) == y;
    int odd = whole & (__builtin_rint(half) != half);
    double infinite = krf_unbits_f64(0x7ff0000000000000u);
    v = ((a == 0.0) | (a == infinite)) ? ((a == 0.0) == (y > 0.0) ? 0.0 : infinite) : v;
    v = ((x < 0.0) & (a != infinite) & !whole) ? krf_unbits_f64(0x7ff8000000000000u) : v;
    unsigned long long sign = krf_bits_f64(x) & 0x8000000000000000u;
    v = krf_unbits_f64(krf_bits_f64(v) ^ (sign & (0 - (unsigned long long)odd))); // a choice by what is the same for all, as with a constant exponent, is not vectorised by gcc 12
    v = ((a == 1.0) & (__builtin_fabs(y) == infinite)) ? 1.0 : v;
    v = ((x != x) | (y != y)) ? x + y : v;
    return ((x == 1.0) | (y == 0.0)) ? 1.0 : v;
}
