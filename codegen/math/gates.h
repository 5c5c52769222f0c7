// Functions that neural networks and statistics make of exp and log, as explog.h.

//@ krf_logit
// By the odds u = x / (1 - x) or their inverse, whichever is above 1: both as 1 + (1 - 2 y) / y, y the smaller of x, 1 - x.
// Outside 0 to 1 is NaN before all else: gcc 13 takes a guard of the result for true where y is negative.
KRF_FN double krf_logit(double a) {
    double x = ((a >= 0.0) & (a <= 1.0)) ? a : krf_unbits_f64(0x7ff8000000000000u);
    int upper = x > 0.5;
    double y = upper ? 1.0 - x : x; // exact
    double n = 1.0 - 2.0 * y, n_low = (1.0 - n) - 2.0 * y;
    double u = n / y;
    double u_low = (__builtin_fma(-u, y, n) + n_low) / y;
    double v = krf_log1p(u) + u_low / (1.0 + u);
    double tiny = -krf_log(y); // 1 / y may overflow; log(1 / y - 1) is that of 1 / y
    v = y < 0x1p-60 ? tiny : v;
    return upper ? v : 0.0 - v; // +0 at 1/2
}

//@ krf_logitf
KRF_FN float krf_logitf(float x) { return (float)krf_logit((double)x); }

//@ krf_logaddexp
// The difference as a sum of two: where the larger operand is near 0 the result is hardly more than the exponential.
KRF_FN double krf_logaddexp(double a, double b) {
    double most = a > b ? a : b, least = a > b ? b : a;
    krf_dd d = krf_two_sum(least, -most);
    double low = d.lo == d.lo ? d.lo : 0.0; // infinities
    double e = krf_exp(a == b ? 0.0 : a != a ? a : d.hi);
    return most + krf_log1p(__builtin_fma(low, e, e));
}

//@ krf_gate
// x / (1 + exp(-(y + low))), one where x is NaN. For negative y as x e / (1 + e) with e = exp(y), whose power of 2 comes
// last: e may be too small where the result is not.
KRF_FN double krf_gate(double x, double y, double low) {
    int negative = y < 0.0;
    double a = -__builtin_fabs(y);
    int far = !(a > -760.0);
    a = far ? -760.0 : a;
    low = far ? 0.0 : low;
    double x1 = (negative & (x < -800.0)) ? -800.0 : x;
    krf_scaled e = krf_exp_sum(a, negative ? low : -low);
    double f = krf_power_of_two(e.of, e.n);
    double d = 1.0 + f, d_low = ((1.0 - d) + f) + (e.n > -60.0 ? e.of.lo * krf_unbits_f64(krf_bits_f64(e.n + (0x1.8p52 + 1023.0)) << 52) : 0.0);
    double n = negative ? x1 * e.of.hi : x1;
    double n_low = negative ? __builtin_fma(x1, e.of.hi, -n) + x1 * e.of.lo : 0.0;
    double inverse = 1.0 / d;
    krf_dd v;
    v.hi = n * inverse;
    v.lo = inverse * (__builtin_fma(-v.hi, d, n) + (n_low - v.hi * d_low));
    v.lo = __builtin_fabs(v.hi) < 0x1p1000 && __builtin_fabs(v.hi) > 0x1p-960 ? v.lo : 0.0;
    double r = krf_power_of_two(v, negative ? e.n : 0.0);
    return krf_unbits_f64(krf_bits_f64(r) | (krf_bits_f64(x) & 0x8000000000000000u)); // the sums lose the sign of -0
}

//@ krf_sigmoid
KRF_FN double krf_sigmoid(double x) {
    double y = krf_gate(1.0, x, 0.0);
    return x == x ? y : x;
}

//@ krf_silu
KRF_FN double krf_silu(double x) { return krf_gate(x, x, 0.0); }

//@ krf_gelu_tanh
// x / 2 (1 + tanh(u)) = x / (1 + exp(-2 u)), 2 u = k x (1 + 0.044715 x^2), k = 2 sqrt(2 / pi): in pairs, as exp makes much of
// little.
KRF_FN double krf_gelu_tanh(double x) {
    double z = x * x, z_low = __builtin_fma(x, x, -z);
    double c = z * 0x1.2444f2a4d8b4bp-4;
    double c_low = __builtin_fma(z, 0x1.2444f2a4d8b4bp-4, -c) + __builtin_fma(z, -0x1.6c843a29d1c7p-61, z_low * 0x1.2444f2a4d8b4bp-4);
    krf_dd s = krf_two_sum(0x1.9884533d43651p+0, c);
    double s_low = s.lo + (c_low + -0x1.cbc0d30ebfd15p-54);
    double u = x * s.hi;
    double u_low = __builtin_fma(x, s.hi, -u) + x * s_low;
    return krf_gate(x, u, u_low);
}
