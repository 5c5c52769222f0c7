// Gamma functions of f64: scalar code, as they are rarely in the middle of a computation. Of f32: gammas.h.

//@ krf_dd_product
KRF_FN krf_dd krf_dd_product(krf_dd a, krf_dd b) {
    krf_dd r;
    double p = a.hi * b.hi;
    double low = __builtin_fma(a.hi, b.hi, -p) + (a.hi * b.lo + a.lo * b.hi);
    r.hi = p + low;
    r.lo = (p - r.hi) + low;
    return r;
}

//@ krf_dd_quotient
KRF_FN krf_dd krf_dd_quotient(krf_dd a, krf_dd b) {
    krf_dd r;
    r.hi = a.hi / b.hi;
    r.lo = (__builtin_fma(-r.hi, b.hi, a.hi) + (a.lo - r.hi * b.lo)) / b.hi;
    return r;
}

//@ krf_log_pair
// log(x + low) as the sum of two, good to 2^-64 beside the multiple of ln 2; x > 0 and finite.
KRF_FN krf_dd krf_log_pair(double x, double low) {
    krf_scaled l = krf_log_parts(x);
    double m = l.n * 0x1.62e42fefa38p-1; // exact
    double h = m + l.of.hi;
    double h_low = (m - h) + l.of.hi + (__builtin_fma(l.n, 0x1.ef35793c7673p-45, l.of.lo) + low / x);
    krf_dd r;
    r.hi = h + h_low;
    r.lo = (h - r.hi) + h_low;
    return r;
}

//@ krf_log_gamma_far
// log(gamma(y + low)) for y >= 8, Stirling's formula: y (L - 1) - L / 2 + log(2 pi) / 2 + P(1 / y^2) / y, where L = log(y). The error of P / y is
// 2^-69, all others are of L's low part: hence the sum is good to 2^-65 y, and exp of it to 2^-57.
KRF_FN krf_dd krf_log_gamma_far(double y, double low) {
    double i = 1.0 / y;
    double z = i * i;
    double p0 = __builtin_fma(z, -0x1.6c16c16c16b32p-9, 0x1.5555555555555p-4);
    double p1 = __builtin_fma(z, -0x1.38137ecdbd6c5p-11, 0x1.a01a019ee9c1bp-11);
    double p2 = __builtin_fma(z, -0x1.f600ebd337befp-10, 0x1.b94f76dfeed6p-11);
    double p3 = __builtin_fma(z, -0x1.560fa1e72cad8p-6, 0x1.96ef6632fddbbp-8);
    double z2 = z * z;
    double p4 = __builtin_fma(z2, p1, p0);
    double p5 = __builtin_fma(z2, p3, p2);
    double p = __builtin_fma(z2 * z2, p5, p4);
    krf_dd l = krf_log_pair(y, 0.0);
    krf_dd m = krf_two_sum(l.hi, -1.0);
    double v = y * m.hi;
    double v_low = __builtin_fma(y, m.hi, -v) + y * (m.lo + l.lo);
    krf_dd s = krf_two_sum(v, -0.5 * l.hi);
    krf_dd t = krf_two_sum(s.hi, 0x1.d67f1c864beb5p-1);
    double rest = __builtin_fma(i, p, low * (l.hi - 0.5 * i)) - __builtin_fma(0.5, l.lo, 0x1.65b5a1b7ff5dfp-55);
    rest += t.lo + (s.lo + v_low);
    krf_dd r;
    r.hi = t.hi + rest;
    r.lo = (t.hi - r.hi) + rest;
    return r;
}

//@ krf_gamma_parts
// factor * exp(power)
typedef struct krf_gamma_parts {
    krf_dd factor, power;
} krf_gamma_parts;

//@ krf_gamma_to_parts
// abs(gamma(x)) for a finite x that is no pole: y = abs(x) is brought beyond 8 by gamma(y) = gamma(y + n) / (y (y + 1) ... (y + n - 1)), and
// gamma(-y) = -pi / (y sin(pi y) gamma(y)).
KRF_FN krf_gamma_parts krf_gamma_to_parts(double x) {
    double y = __builtin_fabs(x), k = 0.0;
    krf_dd product;
    product.hi = 1.0;
    product.lo = 0.0;
    for (; y + k < 8.0; k += 1.0) {
        product = krf_dd_product(product, krf_two_sum(y, k));
    }
    krf_dd z = krf_two_sum(y, k);
    krf_gamma_parts r;
    r.power = krf_log_gamma_far(z.hi, z.lo);
    krf_dd a, b;
    if (x > 0.0) {
        a.hi = 1.0;
        a.lo = 0.0;
        b = product;
    } else {
        krf_angle angle = krf_reduce_pi(y);
        krf_dd s = (angle.quarters & 1) != 0 ? krf_cos_near(angle) : krf_sin_near(angle);
        krf_dd pi;
        pi.hi = 0x1.921fb54442d18p+1;
        pi.lo = 0x1.1a62633145c07p-53;
        a = krf_dd_product(pi, product);
        b.hi = s.hi < 0.0 ? -y : y;
        b.lo = 0.0;
        b = krf_dd_product(b, s);
        r.power.hi = -r.power.hi;
        r.power.lo = -r.power.lo;
    }
    r.factor = krf_dd_quotient(a, b);
    return r;
}

//@ krf_tgamma
KRF_FN double krf_tgamma(double x) {
    double whole = __builtin_floor(x), half = 0.5 * whole;
    double sign = x < 0.0 && __builtin_floor(half) != half ? -1.0 : 1.0;
    if (__builtin_fabs(x) < 0x1p-60) {
        return 1.0 / x;
    }
    if (!(x > -184.5 && x < 172.0)) { // beyond, abs(gamma(x)) is below 2^-1075 or above 2^1024
        double infinite = krf_unbits_f64(0x7ff0000000000000u);
        return x > 0.0 ? infinite : whole == x || x != x ? krf_unbits_f64(0x7ff8000000000000u) : sign * 0.0;
    }
    if (x < 0.0 && whole == x) {
        return krf_unbits_f64(0x7ff8000000000000u);
    }
    krf_gamma_parts g = krf_gamma_to_parts(x);
    krf_scaled e = krf_exp_sum(g.power.hi, g.power.lo);
    return sign * krf_power_of_two(krf_dd_product(e.of, g.factor), e.n);
}

//@ krf_log_gamma_near_1
// log(gamma(1 + t)) for abs(t) <= 1/16, -t times Euler's constant and t^2 P(t): relative to t, error 2^-61.
KRF_FN double krf_log_gamma_near_1(double t) {
    double z = t * t, w = z * z;
    double p0 = __builtin_fma(t, -0x1.9a4d55beab2e5p-2, 0x1.a51a6625307d3p-1);
    double p1 = __builtin_fma(t, -0x1.a8b9c17a83e77p-3, 0x1.151322ac7d88fp-2);
    double p2 = __builtin_fma(t, -0x1.2703a29c3232ep-3, 0x1.5b40cb0fb29cp-3);
    double p3 = __builtin_fma(t, -0x1.c80306deb53cbp-4, 0x1.010b380322866p-3);
    double p4 = __builtin_fma(t, -0x1.77f400df2f807p-4, 0x1.99fd45f92b7abp-4);
    double p = __builtin_fma(w, __builtin_fma(w, __builtin_fma(z, 0x1.592890aa76b34p-4, p4), __builtin_fma(z, p3, p2)), __builtin_fma(z, p1, p0));
    double v = t * -0x1.2788cfc6fb619p-1;
    double v_low = __builtin_fma(t, -0x1.2788cfc6fb619p-1, -v) + t * 0x1.6cb90701fbfabp-58;
    return v + __builtin_fma(z, p, v_low);
}

//@ krf_log_gamma_near_2
// log(gamma(2 + t)) for abs(t) <= 1/8, likewise: error 2^-61.
KRF_FN double krf_log_gamma_near_2(double t) {
    double z = t * t, w = z * z;
    double p0 = __builtin_fma(t, -0x1.13e001a55760dp-4, 0x1.4a34cc4a60fa6p-2);
    double p1 = __builtin_fma(t, -0x1.e404fc216d053p-8, 0x1.51322ac7d84cap-6);
    double p2 = __builtin_fma(t, -0x1.38ac5cec3b806p-10, 0x1.7add6ead5ce07p-9);
    double p3 = __builtin_fma(t, -0x1.d3f9de6ed7a74p-13, 0x1.0b36b0dafe0c6p-11);
    double p4 = __builtin_fma(t, -0x1.7c4aa1f57fd55p-15, 0x1.a1230f5d85ca3p-14);
    double p = __builtin_fma(w, __builtin_fma(w, __builtin_fma(z, 0x1.5bcece70b0ed3p-16, p4), __builtin_fma(z, p3, p2)), __builtin_fma(z, p1, p0));
    double v = t * 0x1.b0ee6072093cep-2;
    double v_low = __builtin_fma(t, 0x1.b0ee6072093cep-2, -v) + t * 0x1.6cb90701fbfabp-58;
    return v + __builtin_fma(z, p, v_low);
}

//@ krf_lgamma
KRF_FN double krf_lgamma(double x) {
    double size = __builtin_fabs(x);
    if (!(size <= 0x1.fffffffffffffp1023)) {
        return x != x ? x : size;
    }
    if (size < 0x1p-60) {
        return size == 0.0 ? krf_unbits_f64(0x7ff0000000000000u) : -krf_log(size);
    }
    if ((x < 0.0 && __builtin_floor(x) == x) || x > 0x1.754d9278b51a7p+1014) {
        return krf_unbits_f64(0x7ff0000000000000u);
    }
    if (__builtin_fabs(x - 1.0) <= 0.0625 || __builtin_fabs(x - 2.0) <= 0.125) {
        return x < 1.5 ? krf_log_gamma_near_1(x - 1.0) : krf_log_gamma_near_2(x - 2.0);
    }
    krf_gamma_parts g = krf_gamma_to_parts(x);
    krf_dd l = krf_log_pair(g.factor.hi, g.factor.lo);
    krf_dd s = krf_two_sum(g.power.hi, l.hi);
    return s.hi + (s.lo + (g.power.lo + l.lo));
}

//@ krf_digamma
// On [1, 2] (x - root) times a polynomial, error 2^-59; from 10 on the asymptotic series; from there to the others by
// digamma(x + 1) = digamma(x) + 1 / x, summed in pairs, and by reflection below 0.
KRF_FN double krf_digamma(double x) {
    double y = x, add = 0.0, add_low = 0.0;
    if (__builtin_fabs(x) < 0x1p-60) {
        return -1.0 / x;
    }
    if (x <= 0.0) {
        if (__builtin_floor(x) == x) {
            return x - x == 0.0 ? krf_unbits_f64(0x7ff8000000000000u) : x - x;
        }
        y = 1.0 - x;
        add_low = (1.0 - y) - x; // its derivative is hardly 1 / y
        add_low = add_low / y;
        krf_angle a = krf_reduce_pi(x);
        krf_dd s = krf_sin_near(a), c = krf_cos_near(a);
        int odd = (a.quarters & 1) != 0;
        double n = odd ? -s.hi : c.hi, n_low = odd ? -s.lo : c.lo, d = odd ? c.hi : s.hi, d_low = odd ? c.lo : s.lo;
        double q = n / d;
        double q_low = (__builtin_fma(-q, d, n) + (n_low - q * d_low)) / d;
        add = -q * 0x1.921fb54442d18p+1;
        add_low += -(__builtin_fma(q, 0x1.921fb54442d18p+1, add) + (q_low * 0x1.921fb54442d18p+1 + q * 0x1.1a62633145c07p-53));
    }
    double shift_low = 0.0;
    while (y < 1.0) {
        krf_dd s = krf_two_sum(add, -1.0 / y);
        add = s.hi;
        add_low += s.lo - __builtin_fma(-1.0 / y, y, 1.0) / y;
        double next = y + 1.0;
        shift_low += y < 1.0 ? (1.0 - next) + y : 0.0;
        y = next;
    }
    while (y > 2.0 && y < 10.0) {
        double next = y - 1.0; // exact
        krf_dd s = krf_two_sum(add, 1.0 / next);
        add = s.hi;
        add_low += s.lo + __builtin_fma(-1.0 / next, next, 1.0) / next;
        y = next;
    }
    double v, v_low;
    if (y >= 10.0) {
        double z = 1.0 / (y * y);
        double p0 = __builtin_fma(z, -0x1.11111111110e1p-7, 0x1.5555555555555p-4);
        double p1 = __builtin_fma(z, -0x1.111110726afbbp-8, 0x1.04104103de162p-8);
        double p2 = __builtin_fma(z, -0x1.5960ffad008dp-6, 0x1.f07b27dd9ed3dp-8);
        double p3 = __builtin_fma(z, -0x1.5e8d303cf7fc1p-2, 0x1.4f0d1b5069666p-4);
        double z2 = z * z;
        double p4 = __builtin_fma(z2, p1, p0);
        double p5 = __builtin_fma(z2, p3, p2);
        double z4 = z2 * z2;
        double p = __builtin_fma(z4, p5, p4);
        v = krf_log(y);
        v_low = __builtin_fma(-z, p, -0.5 / y);
    } else {
        double t = y - 1.5;
        double p0 = __builtin_fma(t, 0x1.eca189b8e6f7bp-3, -0x1.b1cb63005ee96p-2);
        double p1 = __builtin_fma(t, 0x1.8512e59037edbp-4, -0x1.2feeeb98a7e2ep-3);
        double p2 = __builtin_fma(t, 0x1.4de9aa1801e22p-5, -0x1.fb442029998efp-5);
        double p3 = __builtin_fma(t, 0x1.2564715678b5bp-6, -0x1.b9f8b14fb4918p-6);
        double p4 = __builtin_fma(t, 0x1.03c0b2acb7602p-7, -0x1.863559266810fp-7);
        double p5 = __builtin_fma(t, 0x1.cd1f288b2fc66p-9, -0x1.5a0806b9806f6p-8);
        double p6 = __builtin_fma(t, 0x1.99e192ea991d7p-10, -0x1.3350d6e774566p-9);
        double p7 = __builtin_fma(t, 0x1.69bb8828a5d83p-11, -0x1.1140b7eb04419p-10);
        double p8 = __builtin_fma(t, 0x1.56bfe7696615dp-12, -0x1.e1c3bd16124bp-12);
        double p9 = __builtin_fma(t, 0x1.804d644e3de5cp-14, -0x1.cbf2290203d92p-13);
        double p10 = __builtin_fma(t, 0x1.00ab2b49292edp-13, -0x1.ed7fe2acfc554p-15);
        double t2 = t * t;
        double p11 = __builtin_fma(t2, p1, p0);
        double p12 = __builtin_fma(t2, p3, p2);
        double p13 = __builtin_fma(t2, p5, p4);
        double p14 = __builtin_fma(t2, p7, p6);
        double p15 = __builtin_fma(t2, p9, p8);
        double p16 = __builtin_fma(t2, -0x1.5ccc887e2e5cdp-14, p10);
        double t4 = t2 * t2;
        double p17 = __builtin_fma(t4, p12, p11);
        double p18 = __builtin_fma(t4, p14, p13);
        double p19 = __builtin_fma(t4, p16, p15);
        double t8 = t4 * t4;
        double p20 = __builtin_fma(t8, p18, p17);
        double t16 = t8 * t8;
        double p21 = __builtin_fma(t16, p19, p20);
        double p = __builtin_fma(t, p21, 0x1.e6f0cbb873616p-1); // by itself: most of p's error is its last step's
        double r = (y - 0x1.762d86356be3fp+0) - (0x1.b86a722197829p-54 - shift_low);
        v = r * p;
        v_low = __builtin_fma(r, p, -v);
    }
    krf_dd s = krf_two_sum(v, add);
    return x - x == 0.0 ? s.hi + (s.lo + (v_low + add_low)) : x > 0.0 ? x : x - x;
}
