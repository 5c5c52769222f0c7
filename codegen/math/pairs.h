// What is left of the logarithm of a complex number beside two numbers that say it to 53 bits: powers multiply it by large
// exponents. In pairs (krf_dd) of about 2^-104, one text for C and CUDA C, branch-free.

//@ krf_dd_plus
// a + b.
KRF_FN krf_dd krf_dd_plus(krf_dd a, krf_dd b) {
    krf_dd s = krf_two_sum(a.hi, b.hi), t = krf_two_sum(a.lo, b.lo), r;
    double c = s.lo + t.hi, hi = s.hi + c, d = (s.hi - hi) + c + t.lo;
    r.hi = hi + d;
    r.lo = (hi - r.hi) + d;
    return r;
}

//@ krf_dd_times
// a b.
KRF_FN krf_dd krf_dd_times(krf_dd a, krf_dd b) {
    double p = a.hi * b.hi, low = __builtin_fma(a.hi, b.hi, -p) + __builtin_fma(a.hi, b.lo, a.lo * b.hi);
    krf_dd r;
    r.hi = p + low;
    r.lo = (p - r.hi) + low;
    return r;
}

//@ krf_dd_over
// a / b.
KRF_FN krf_dd krf_dd_over(krf_dd a, krf_dd b) {
    double q = a.hi / b.hi, low = (__builtin_fma(-q, b.hi, a.hi) + __builtin_fma(-q, b.lo, a.lo)) / b.hi;
    krf_dd r;
    r.hi = q + low;
    r.lo = (q - r.hi) + low;
    return r;
}

//@ krf_dd_of
KRF_FN krf_dd krf_dd_of(double hi, double lo) {
    krf_dd r;
    r.hi = hi;
    r.lo = lo;
    return r;
}

//@ krf_dd_series_step
// c + z p for a c that is larger.
KRF_FN krf_dd krf_dd_series_step(krf_dd z, krf_dd p, double c, double c_low) {
    krf_dd t = krf_dd_times(z, p);
    double hi = c + t.hi, low = ((c - hi) + t.hi) + (t.lo + c_low);
    krf_dd r;
    r.hi = hi + low;
    r.lo = (hi - r.hi) + low;
    return r;
}

//@ krf_dd_series
// u (1 + z / 3 + z^2 / 5 + ...), abs(z) <= 1/64: the area tangent of u where z = u^2, its arc tangent where z = -u^2.
KRF_FN krf_dd krf_dd_series(krf_dd u, krf_dd z) {
    double p = __builtin_fma(z.hi, 1.0 / 35.0, 1.0 / 33.0);
    p = __builtin_fma(z.hi, p, 1.0 / 31.0);
    p = __builtin_fma(z.hi, p, 1.0 / 29.0);
    p = __builtin_fma(z.hi, p, 1.0 / 27.0);
    p = __builtin_fma(z.hi, p, 1.0 / 25.0);
    p = __builtin_fma(z.hi, p, 1.0 / 23.0);
    p = __builtin_fma(z.hi, p, 1.0 / 21.0);
    p = __builtin_fma(z.hi, p, 1.0 / 19.0);
    krf_dd s = krf_dd_series_step(z, krf_dd_of(p, 0.0), 0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61);
    s = krf_dd_series_step(z, s, 0x1.1111111111111p-4, 0x1.1111111111111p-60);
    s = krf_dd_series_step(z, s, 0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58);
    s = krf_dd_series_step(z, s, 0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59);
    s = krf_dd_series_step(z, s, 0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58);
    s = krf_dd_series_step(z, s, 0x1.2492492492492p-3, 0x1.2492492492492p-57);
    s = krf_dd_series_step(z, s, 0x1.999999999999ap-3, -0x1.999999999999ap-57);
    s = krf_dd_series_step(z, s, 0x1.5555555555555p-2, 0x1.5555555555555p-56);
    s = krf_dd_series_step(z, s, 1.0, 0.0);
    return krf_dd_times(u, s);
}

//@ krf_rest
// y - t, where t is y but for its last bits; 0 where there is no such t.
KRF_FN double krf_rest(krf_dd y, double t) {
    double r = (y.hi - t) + y.lo;
    return r - r == 0.0 ? r : 0.0;
}

//@ krf_middle
// A power of 2 that brings a number to where neither squares nor their last bits leave the range, and its exponent.
KRF_FN krf_dd krf_middle(double most) {
    int large = most > 0x1p500, small = most < 0x1p-400;
    krf_dd r;
    r.hi = large ? 0x1p-600 : small ? 0x1p600 : 1.0;
    r.lo = large ? -600.0 : small ? 600.0 : 0.0;
    return r;
}

//@ krf_log_rest
// log(hypot(x, y)) - t. The larger part is brought to [1/2, 2) and is not touched there: then the square of the modulus less 1 has
// all bits that count beside the angle. The square is 2^j / c times a number close to 1, whose logarithm is an area tangent.
KRF_FN double krf_log_rest(double x, double y, double t) {
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    double most = a > b ? a : b, least = a > b ? b : a;
    krf_dd by = krf_middle(most);
    double m = most * by.hi, e = 0.0;
    int away = !((m >= 0.5) & (m < 2.0));
    unsigned long long exponent = away ? krf_bits_f64(m) >> 52 & 0x7ff : 1023;
    double factor = krf_unbits_f64((2046 - exponent) << 52);
    e = krf_unbits_f64(exponent | 0x4330000000000000u) - (0x1p52 + 1023.0) - by.lo;
    m *= factor;
    double n = least * by.hi * factor;
    double square = n * n;
    krf_dd f = krf_dd_times(krf_two_sum(m, 1.0), krf_dd_of(m - 1.0, 0.0));
    f = krf_dd_plus(f, krf_dd_of(square, __builtin_fma(n, n, -square)));
    unsigned long long bits = krf_bits_f64(1.0 + f.hi), w = bits + (0x4000000000000000u - 0x3fe6a09e667f3bcdu);
    double j = krf_unbits_f64((w >> 52) | 0x4330000000000000u) - (0x1p52 + 1024.0);
    double power = krf_unbits_f64(0x7ff0000000000000u - (w & 0xfff0000000000000u));
    double near = (1.0 + f.hi) * power;
    int above = near > 1.19, below = near < 0.84;
    double c = power * (above ? 0.75 : below ? 1.25 : 1.0);
    krf_dd log_c = krf_dd_of(above ? 0x1.269621134db92p-2 : below ? -0x1.c8ff7c79a9a22p-3 : 0.0,
                             above ? 0x1.e0efadd9db02bp-56 : below ? 0x1.4f689f8434012p-57 : 0.0);
    krf_dd g = krf_dd_plus(krf_dd_times(f, krf_dd_of(c, 0.0)), krf_dd_of(c - 1.0, 0.0));
    krf_dd s = krf_dd_over(g, krf_dd_plus(g, krf_dd_of(2.0, 0.0)));
    krf_dd near_log = krf_dd_series(s, krf_dd_times(s, s)); // half of it, as is wanted
    krf_dd far = krf_dd_times(krf_dd_of(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56), krf_dd_of(e + 0.5 * j, 0.0));
    far = krf_dd_plus(far, krf_dd_of(0.5 * log_c.hi, 0.5 * log_c.lo));
    return krf_rest(krf_dd_plus(far, near_log), t);
}

//@ krf_arc_rest
// The angle of the point (x, y) less t. In the eighth of the circle next to the x axis by an arc tangent, after turning the point
// back by that of the nearest quarter k / 4.
KRF_FN double krf_arc_rest(double y, double x, double t) {
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    int steep = b > a;
    double most = steep ? b : a, least = steep ? a : b;
    double by = krf_middle(most).hi, d = most * by, n = least * by;
    double k = __builtin_rint(4.0 * (n / d)) * 0.25;
    krf_dd over = krf_two_sum(n, -(k * d)), under = krf_two_sum(d, k * n);
    over = krf_dd_plus(over, krf_dd_of(-__builtin_fma(k, d, -(k * d)), 0.0));
    under = krf_dd_plus(under, krf_dd_of(__builtin_fma(k, n, -(k * n)), 0.0));
    krf_dd u = krf_dd_over(over, under), z = krf_dd_times(u, u);
    int first = k == 0.25, second = k == 0.5, third = k == 0.75, fourth = k == 1.0;
    double turn = first ? 0x1.f5b75f92c80ddp-3 : 0.0, turn_low = first ? 0x1.8ab6e3cf7afbdp-57 : 0.0;
    turn = second ? 0x1.dac670561bb4fp-2 : turn, turn_low = second ? 0x1.a2b7f222f65e2p-56 : turn_low;
    turn = third ? 0x1.4978fa3269ee1p-1 : turn, turn_low = third ? 0x1.2419a87f2a458p-56 : turn_low;
    turn = fourth ? 0x1.921fb54442d18p-1 : turn, turn_low = fourth ? 0x1.1a62633145c07p-55 : turn_low;
    krf_dd r = krf_dd_plus(krf_dd_of(turn, turn_low), krf_dd_series(u, krf_dd_of(-z.hi, -z.lo)));
    int left = (krf_bits_f64(x) >> 63) != 0, above = (krf_bits_f64(y) >> 63) == 0;
    double base = steep ? 0x1.921fb54442d18p+0 : 0.0, base_low = steep ? 0x1.1a62633145c07p-54 : 0.0;
    base = (left & !steep) ? 0x1.921fb54442d18p+1 : base, base_low = (left & !steep) ? 0x1.1a62633145c07p-53 : base_low;
    int minus = steep != left; // of 0 and pi / 2 with the angle, or the other way round
    r = krf_dd_plus(krf_dd_of(base, base_low), krf_dd_of(minus ? -r.hi : r.hi, minus ? -r.lo : r.lo));
    return krf_rest(krf_dd_of(above ? r.hi : -r.hi, above ? r.lo : -r.lo), t);
}

//@ krf_log_restf
KRF_FN float krf_log_restf(float x, float y, float t) { return (float)krf_log_rest((double)x, (double)y, (double)t); }

//@ krf_arc_restf
KRF_FN float krf_arc_restf(float y, float x, float t) { return (float)krf_arc_rest((double)y, (double)x, (double)t); }
