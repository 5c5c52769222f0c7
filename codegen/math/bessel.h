// Bessel functions of the first kind of orders 0 and 1: scalar code, as they are rarely in the middle of a computation. f32 by way of f64. Three ranges:
// a power series; up to the third zero's far side a polynomial about each zero, times the distance from it, so that no digit is lost there; then Hankel's
// J = M(x) cos(x - (2 order + 1) pi / 4 + phi(x)), whose errors are of M beside the zeros. Coefficients: interpolation at Chebyshev's nodes, at 60 digits.

//@ krf_bessel_sum
// c[0] + c[1] x + ... + c[10] x^10.
KRF_FN double krf_bessel_sum(double x, const double *c) {
    double p0 = __builtin_fma(x, c[1], c[0]), p1 = __builtin_fma(x, c[3], c[2]), p2 = __builtin_fma(x, c[5], c[4]);
    double p3 = __builtin_fma(x, c[7], c[6]), p4 = __builtin_fma(x, c[9], c[8]);
    double x2 = x * x;
    double q0 = __builtin_fma(x2, p1, p0), q1 = __builtin_fma(x2, p3, p2), q2 = __builtin_fma(x2, c[10], p4);
    double x4 = x2 * x2;
    return __builtin_fma(x4, __builtin_fma(x4, q2, q1), q0);
}

//@ krf_bessel_near
// c: a zero as the sum of two, then the coefficients of 1 (as the sum of two), u, ..., u^17 in J / (x - zero), where u = x - c[0]. Error 2^-60.
KRF_FN double krf_bessel_near(double x, const double *c) {
    double u = x - c[0]; // exact
    double u2 = u * u;
    double u4 = u2 * u2;
    double p0 = __builtin_fma(u, c[17], c[16]), p1 = __builtin_fma(u, c[19], c[18]);
    double p = __builtin_fma(u4, c[20], __builtin_fma(u2, p1, p0));
    double s = __builtin_fma(u, __builtin_fma(u4 * u4 * (u2 * u), p, krf_bessel_sum(u, c + 5)), c[4]);
    double w = u * s;
    krf_dd v = krf_two_sum(c[2], w);
    double low = __builtin_fma(u, s, -w) + (v.lo + c[3]);
    return __builtin_fma(u, v.hi, __builtin_fma(u, low, -c[1] * v.hi));
}

//@ krf_bessel_far
// M(x) sin(x - pi / 4 + phi(x) + more pi / 2). c: phi = (c[0] + c[12] / x^2 + ... + c[22] / x^22) / x, M = (sqrt(2 / pi) + c[1] / x^2 + ...
// + c[11] / x^22) / sqrt(x). Errors 2^-60 and 2^-62.
KRF_FN double krf_bessel_far(double x, const double *c, unsigned long long more) {
    krf_angle a = krf_reduce(x);
    double inverse = 1.0 / x;
    double z = inverse * inverse;
    double phi = c[0] * inverse;
    double phi_low = __builtin_fma(c[0], inverse, -phi) + inverse * __builtin_fma(z, krf_bessel_sum(z, c + 12), c[0] * __builtin_fma(-x, inverse, 1.0));
    int left = a.hi < 0.0;
    krf_dd s = krf_two_sum(a.hi, left ? 0x1.921fb54442d18p-1 : -0x1.921fb54442d18p-1);
    krf_dd t = krf_two_sum(s.hi, phi);
    double low = (t.lo + s.lo) + (a.lo + (left ? 0x1.1a62633145c07p-55 : -0x1.1a62633145c07p-55)) + phi_low;
    krf_dd sum = krf_two_sum(t.hi, low);
    a.hi = sum.hi;
    a.lo = sum.lo;
    a.quarters += more - (unsigned long long)left;
    krf_dd sine = (a.quarters & 1) != 0 ? krf_cos_near(a) : krf_sin_near(a);
    double w = __builtin_fma(z, krf_bessel_sum(z, c + 1), -0x1.cbc0d30ebfd15p-55);
    krf_dd m, root;
    m.hi = 0x1.9884533d43651p-1 + w;
    m.lo = (0x1.9884533d43651p-1 - m.hi) + w;
    root.hi = __builtin_sqrt(x);
    root.lo = __builtin_fma(-root.hi, root.hi, x) / (2.0 * root.hi);
    krf_dd y = krf_dd_quotient(krf_dd_product(m, sine), root);
    return (a.quarters & 2) != 0 ? -(y.hi + y.lo) : y.hi + y.lo;
}

//@ krf_j0_near
static const double krf_j0_near[63] = {
    0x1.33d152e971b4p+1, -0x1.0f539d7da258ep-53, -0x1.09cdb3655128p-1, -0x1.375dc0a9c0656p-55, 0x1.ba1deea029495p-4, 0x1.cfae864368d7p-5,
    -0x1.1bb1cbe1a4072p-7, -0x1.1f992590d12b3p-9, 0x1.15382ba06cc5dp-12, 0x1.6ed3b9f07de4cp-15, -0x1.232c77d229b44p-18,
    -0x1.1cce30279d20dp-21, 0x1.7ff991679260fp-25, 0x1.2951bce764be1p-28, -0x1.5c2c3906bf77cp-32, -0x1.bdc41755e3cc1p-36,
    0x1.cd41eb7d4fd6bp-40, 0x1.f6e29e5c37d27p-44, -0x1.d22a391372abcp-48, -0x1.afcf5c9c00a1p-52, 0x1.6e870a38dc527p-56,
    0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54, 0x1.5c6e60a097823p-2, -0x1.53d411ace83b4p-57, -0x1.f8f72e7a848dep-6, -0x1.b2150cb41e8c1p-5,
    0x1.2f7ffe90256bp-8, 0x1.27e31fe9a975bp-9, -0x1.6f641f4194f6ep-13, -0x1.863f481a4104p-15, 0x1.ad77d7484d539p-19, 0x1.32e6d99b56503p-21,
    -0x1.2da37e19e09c1p-25, -0x1.41d72ce851b3fp-28, 0x1.1d0427358a2dep-32, 0x1.e2f2ba2686d09p-36, -0x1.8492f6f6a959cp-40,
    -0x1.102bedf7647a4p-43, 0x1.8f8ba15ff36b7p-48, 0x1.d151aed803c08p-52, -0x1.1729cdc9bf038p-56,
    0x1.14eb56cccdecap+3, -0x1.51970714c7c25p-52, -0x1.15f7977a772d4p-2, 0x1.60b419bfaa04bp-56, 0x1.00f7fcf183e14p-6, 0x1.68b984ec6493bp-5,
    -0x1.48e63600d8412p-9, -0x1.0e0d60385a6c7p-9, 0x1.d79605277519fp-14, 0x1.7800bc5503c21p-15, -0x1.3324842f4a5c8p-19,
    -0x1.30e8cc3485c55p-21, 0x1.ceda4774363bap-26, 0x1.4582ca47ecf62p-28, -0x1.cade09fad40c2p-33, -0x1.edaf25336f76ep-36,
    0x1.43be525330eb4p-40, 0x1.18010400642bdp-43, -0x1.55d0352cd3f14p-48, -0x1.dfcacd2890eb5p-52, 0x1.f84efe7537186p-57,
};

//@ krf_j0_far
static const double krf_j0_far[23] = {
    -0x1p-3, -0x1.9884533d4318p-5, 0x1.524d94ebcba6ap-4, -0x1.bb86246ef1d91p-2, 0x1.2aa7eb2ce7349p+2, -0x1.54e9a0eb4e3b1p+6,
    0x1.2536724bed3edp+11, -0x1.527409477af24p+16, 0x1.ba05213c941a9p+21, -0x1.060e7ea05e57bp+27, 0x1.bb03a675f48c4p+31,
    -0x1.73d478969b39fp+35,
    0x1.0aaaaaaaaaa23p-4, -0x1.ad33333194a31p-3, 0x1.a35845cf137c7p+0, -0x1.7798c316c4e45p+4, 0x1.0bacb90cb9168p+9, -0x1.145009263d5c9p+14,
    0x1.75151379f2677p+19, -0x1.17e189f5334e4p+25, 0x1.775f7dac1fabap+30, -0x1.61adb4ddf516dp+35, 0x1.468c2dc5cbf2ap+39,
};

//@ krf_j0
KRF_FN double krf_j0(double x) {
    double size = __builtin_fabs(x), z = x * x;
    if (!(size <= 0x1.fffffffffffffp1023)) {
        return x != x ? x : 0.0;
    }
    if (size > 10.17) {
        return krf_bessel_far(size, krf_j0_far, 1);
    }
    if (size > 1.0) {
        return krf_bessel_near(size, krf_j0_near + (size > 7.02 ? 42 : size > 3.83 ? 21 : 0));
    }
    double p0 = __builtin_fma(z, -0x1.c71c71c71c716p-12, 0x1p-6);
    double p1 = __builtin_fma(z, -0x1.234567874b30ap-24, 0x1.c71c71c71adc2p-18);
    double p2 = __builtin_fma(z, -0x1.5225471fd3599p-39, 0x1.02e858a2bf834p-31);
    double z2 = z * z;
    double p = __builtin_fma(z2, __builtin_fma(z2, __builtin_fma(z2, 0x1.4e880b36397dcp-47, p2), p1), p0);
    return __builtin_fma(z, __builtin_fma(z, p, -0.25), 1.0);
}

//@ krf_j0f
KRF_FN float krf_j0f(float x) { return (float)krf_j0((double)x); }

//@ krf_j1_near
static const double krf_j1_near[63] = {
    0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53, -0x1.9c6cf582cbf7fp-2, 0x1.2909f10046204p-56, 0x1.ae8a39f51ad06p-5, 0x1.b589d1da13905p-5,
    -0x1.537544c331d8cp-8, -0x1.24b34099590dbp-9, 0x1.6e4c2d5352e5ap-13, 0x1.83a06e30ca2dbp-15, -0x1.9799d4c924aap-19,
    -0x1.33825cd53b302p-21, 0x1.170691eb919d2p-25, 0x1.4569b3103ea85p-28, -0x1.03b9cbff38279p-32, -0x1.ec627c6131008p-36,
    0x1.5eba7b026002cp-40, 0x1.17a2c28443a8cp-43, -0x1.6448d653156bcp-48, -0x1.e6c7a1342f211p-52, 0x1.816aae18beddcp-57,
    0x1.c0ff5f3b4725p+2, -0x1.b226d9d243827p-54, 0x1.33518b3874e8ap-2, 0x1.89775624084f8p-56, -0x1.5e70dc60362c2p-6, -0x1.80c83bdeee5bp-5,
    0x1.9a4b292e3de31p-9, 0x1.13fbc7d6981ecp-9, -0x1.07358bbdbf825p-13, -0x1.796a751f863e4p-15, 0x1.4255b0155d677p-19,
    0x1.3026e0cd25e2cp-21, -0x1.d48dcd74c8915p-26, -0x1.44639ca41f4dcp-28, 0x1.c62cb3bae9039p-33, 0x1.ecadf91be7fc2p-36,
    -0x1.3bb108ca1ed5p-40, -0x1.181f07cacd3a6p-43, 0x1.4980743127b3bp-48, 0x1.e1608f2b4b838p-52, -0x1.cf261879ac338p-57,
    0x1.458d0d0bdfc29p+3, 0x1.02610a51562b6p-51, -0x1.ff654544ebcd1p-3, -0x1.4c61a76cf273fp-57, 0x1.9223ff2c07846p-7, 0x1.4b0c5d5da6789p-5,
    -0x1.f91a9ee0d2872p-10, -0x1.f51c2489b9e0ep-10, 0x1.6b4c9ca0f6ebbp-14, 0x1.63c5475436a59p-15, -0x1.e3725daf0db6p-20,
    -0x1.25c123899192fp-21, 0x1.7486f6980abf9p-26, 0x1.3e3bf1543ada6p-28, -0x1.78a37c7813533p-33, -0x1.e844432ea21dcp-36,
    0x1.0e21559696d55p-40, 0x1.1775eccf8622cp-43, -0x1.211e9af479322p-48, -0x1.e1de047af0b54p-52, 0x1.b050277959dc3p-57,
};

//@ krf_j1_far
static const double krf_j1_far[23] = {
    0x1.8p-2, 0x1.32633e6df289ap-3, -0x1.3bf658612b1d5p-3, 0x1.48fa4f1bcba2ep-1, -0x1.8b3c7f25e5604p+2, 0x1.a7a41e0827c91p+6,
    -0x1.602cb518a7b55p+11, 0x1.982e5bc4fb45cp+16, -0x1.1db731432256ep+22, 0x1.86c77afb4d831p+27, -0x1.929c2d635ccb6p+32,
    0x1.a9e18abe51cbbp+36,
    -0x1.4fffffffffff9p-3, 0x1.7bccccccaecfbp-2, -0x1.2f486d654d374p+1, 0x1.e9fb9c51a8ef5p+4, -0x1.498b6a956178ap+9, 0x1.4989cdb6ab372p+14,
    -0x1.bedb93b5faf4p+19, 0x1.670cd9c3bd64p+25, -0x1.1595d99490581p+31, 0x1.3ec634309418dp+36, -0x1.7301c3bbfa6e7p+40,
};

//@ krf_j1
KRF_FN double krf_j1(double x) {
    double size = __builtin_fabs(x), z = x * x;
    if (!(size <= 0x1.fffffffffffffp1023)) {
        return x != x ? x : __builtin_copysign(0.0, x);
    }
    if (size < 0x1p-30) {
        return 0.5 * x;
    }
    if (size > 1.9) {
        double y = size > 11.71 ? krf_bessel_far(size, krf_j1_far, 0) : krf_bessel_near(size, krf_j1_near + (size > 8.54 ? 42 : size > 5.33 ? 21 : 0));
        return x < 0.0 ? -y : y;
    }
    double p0 = __builtin_fma(z, 0x1.5555555555555p-9, -0x1p-4);
    double p1 = __builtin_fma(z, 0x1.6c16c16c113d4p-21, -0x1.c71c71c71c6ap-15);
    double p2 = __builtin_fma(z, 0x1.27e4f9e45c774p-35, -0x1.845c8a08f67cfp-28);
    double p3 = __builtin_fma(z, 0x1.2c632fc9bb0fep-51, -0x1.5229861f2b5fap-43);
    double z2 = z * z;
    double p4 = __builtin_fma(z2, __builtin_fma(z2, -0x1.9c00f459b5aaap-60, p3), p2);
    double p = __builtin_fma(z2, __builtin_fma(z2, p4, p1), p0);
    return __builtin_fma(x * z, p, 0.5 * x);
}

//@ krf_j1f
KRF_FN float krf_j1f(float x) { return (float)krf_j1((double)x); }
