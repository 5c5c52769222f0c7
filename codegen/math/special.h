// Gamma functions and Bessel functions: scalar code, ours and the C library's, as they are rarely in the middle of a
// computation. f32 by way of f64.

//@ krf_tgamma
double tgamma(double x);
KRF_FN double krf_tgamma(double x) {
    double infinite = krf_unbits_f64(0x7ff0000000000000u);
    return x == -infinite ? x - x : tgamma(x); // NaN: no limit there
}

//@ krf_tgammaf
KRF_FN float krf_tgammaf(float x) { return (float)krf_tgamma((double)x); }

//@ krf_lgamma
// Not lgamma itself, which writes a global variable.
double lgamma_r(double x, int *sign);
KRF_FN double krf_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

//@ krf_lgammaf
KRF_FN float krf_lgammaf(float x) { return (float)krf_lgamma((double)x); }

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

//@ krf_digammaf
KRF_FN float krf_digammaf(float x) { return (float)krf_digamma((double)x); }

//@ krf_j0
double j0(double x);
KRF_FN double krf_j0(double x) { return j0(x); }

//@ krf_j0f
KRF_FN float krf_j0f(float x) { return (float)krf_j0((double)x); }

//@ krf_j1
double j1(double x);
KRF_FN double krf_j1(double x) { return j1(x); }

//@ krf_j1f
KRF_FN float krf_j1f(float x) { return (float)krf_j1((double)x); }
