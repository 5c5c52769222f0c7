// The error function and its kin, and a Bessel function of f64, as explog.h.

//@ krf_erf_near
// erf(y) for abs(y) <= 1 as the sum of two. Polynomial error 2^-63.
KRF_FN krf_dd krf_erf_near(double y) {
    double z = y * y;
    double p0 = __builtin_fma(z, 0x1.ce2f21a042b55p-4, -0x1.812746b0379e6p-2);
    double p1 = __builtin_fma(z, 0x1.565bcd0dcca57p-8, -0x1.b82ce312856a9p-6);
    double p2 = __builtin_fma(z, 0x1.f9a32221ec89cp-14, -0x1.c02db3dda370ep-11);
    double p3 = __builtin_fma(z, 0x1.b9df61b75d4f7p-20, -0x1.f4d1e861d7aa2p-17);
    double p4 = __builtin_fma(z, 0x1.f7c8f60a0a037p-27, -0x1.5f20c65a4ef89p-23);
    double p5 = __builtin_fma(z, 0x1.069a3aefe3848p-34, -0x1.38d8e6c308443p-30);
    double z2 = z * z;
    double p6 = __builtin_fma(z2, p1, p0);
    double p7 = __builtin_fma(z2, p3, p2);
    double p8 = __builtin_fma(z2, p5, p4);
    double z4 = z2 * z2;
    double p9 = __builtin_fma(z4, p7, p6);
    double z8 = z4 * z4;
    double p = __builtin_fma(z8, p8, p9);
    krf_dd r;
    r.hi = y * 0x1.20dd750429b6dp+0;
    r.lo = __builtin_fma(y, 0x1.20dd750429b6dp+0, -r.hi) + __builtin_fma(y * z, p, y * 0x1.1ae3a914fed8p-56);
    return r;
}

//@ krf_erfc_sum
// erfc(w) exp(w^2 - square - square_low) for w >= 0: the tail of the normal distribution, where `square` is what w^2 is meant
// to be. exp(w^2) erfc(w) (1 + 2 w) is a polynomial of t = (w - 4) / (w + 4) up to w = 28, error 2^-59.
KRF_FN krf_scaled krf_erfc_sum(double w, double square, double square_low) {
    double t = (w - 4.0) / (w + 4.0);
    double p0 = __builtin_fma(t, 0x1.f7f5df66fd6dcp-7, -0x1.1df1ad154a28fp-3);
    double p1 = __builtin_fma(t, -0x1.9ddb23c3e89c5p-4, 0x1.16ecefcfa54a3p-4);
    double p2 = __builtin_fma(t, -0x1.0fb06dfe54a09p-4, 0x1.7fee004e0fe37p-4);
    double p3 = __builtin_fma(t, -0x1.09623882b4e11p-6, 0x1.3079edf6d4546p-5);
    double p4 = __builtin_fma(t, -0x1.8d4a9c3910418p-11, 0x1.49c6726f1bd46p-8);
    double p5 = __builtin_fma(t, 0x1.3be06abacaf3dp-13, -0x1.a1df161bc5376p-13);
    double p6 = __builtin_fma(t, -0x1.788d9ad348414p-17, -0x1.995acf57114e2p-16);
    double p7 = __builtin_fma(t, 0x1.3bcf3fde298fdp-22, 0x1.7f3487e028e37p-18);
    double p8 = __builtin_fma(t, 0x1.3e75f037e231ap-24, -0x1.bb71f9a5c5d24p-21);
    double p9 = __builtin_fma(t, -0x1.2c88fcb30e2acp-26, 0x1.d9f5c7bc74136p-24);
    double p10 = __builtin_fma(t, 0x1.ce961471fa42cp-30, -0x1.e3ea3f9bbb19p-27);
    double t2 = t * t;
    double p11 = __builtin_fma(t2, p1, p0);
    double p12 = __builtin_fma(t2, p3, p2);
    double p13 = __builtin_fma(t2, p5, p4);
    double p14 = __builtin_fma(t2, p7, p6);
    double p15 = __builtin_fma(t2, p9, p8);
    double p16 = __builtin_fma(t2, 0x1.4a4f5677baaedp-30, p10);
    double t4 = t2 * t2;
    double p17 = __builtin_fma(t4, p12, p11);
    double p18 = __builtin_fma(t4, p14, p13);
    double p19 = __builtin_fma(t4, p16, p15);
    double t8 = t4 * t4;
    double p20 = __builtin_fma(t8, p18, p17);
    double t16 = t8 * t8;
    double p = __builtin_fma(t16, p19, p20);
    double n = __builtin_fma(t, p, 0x1.3ba5916e9fd7fp+0);
    double n_low = __builtin_fma(t, p, 0x1.3ba5916e9fd7fp+0 - n);
    double d = 1.0 + 2.0 * w, d_low = (w < 0.5 ? (1.0 - d) + 2.0 * w : (2.0 * w - d) + 1.0);
    double inverse = 1.0 / d;
    double v = n * inverse;
    double v_low = (__builtin_fma(-v, d, n) + (n_low - v * d_low)) * inverse;
    krf_scaled e = krf_exp_sum(-square, -square_low);
    double r = v * e.of.hi;
    e.of.lo = __builtin_fma(v, e.of.hi, -r) + __builtin_fma(v, e.of.lo, v_low * e.of.hi);
    e.of.hi = r;
    return e;
}

//@ krf_erf
KRF_FN double krf_erf(double x) {
    double y = __builtin_fabs(x);
    y = y > 6.5 ? 6.5 : y;
    double a = y * y;
    krf_scaled c = krf_erfc_sum(y, a, 0.0);
    double far = 1.0 - krf_power_of_two(c.of, c.n);
    krf_dd r = krf_erf_near(y);
    double v = y < 1.0 ? r.hi + r.lo : far;
    v = krf_unbits_f64(krf_bits_f64(v) | (krf_bits_f64(x) & 0x8000000000000000u));
    return x == x ? v : x;
}

//@ krf_erfc
KRF_FN double krf_erfc(double x) {
    double y = __builtin_fabs(x);
    y = y > 27.5 ? 27.5 : y;
    double a = y * y;
    krf_scaled c = krf_erfc_sum(y, a, __builtin_fma(y, y, -a));
    double far = krf_power_of_two(c.of, c.n);
    far = x < 0.0 ? 2.0 - far : far;
    krf_dd r = krf_erf_near(x);
    double h = 1.0 - r.hi;
    double near = h + (((1.0 - h) - r.hi) - r.lo);
    double v = y < 0.5 ? near : far;
    return x == x ? v : x;
}

//@ krf_gelu
// x / 2 erfc(-x / sqrt(2)); the square of that argument is exactly x^2 / 2.
KRF_FN double krf_gelu(double x) {
    double y = __builtin_fabs(x);
    int far = y > 39.0;
    double b = far ? 39.0 : y;
    double a = 0.5 * b * b;
    krf_scaled c = krf_erfc_sum(b * 0x1.6a09e667f3bcdp-1, a, __builtin_fma(0.5 * b, b, -a));
    double tail = 0.5 * krf_power_of_two(c.of, c.n);
    double d = 1.0 - tail;
    double d_low = ((1.0 - d) - tail) + (c.n > -40.0 ? -0.5 * c.of.lo * krf_unbits_f64(krf_bits_f64(c.n + (0x1.8p52 + 1023.0)) << 52) : 0.0);
    krf_dd r;
    r.hi = y * d;
    r.lo = far ? 0.0 : __builtin_fma(y, d, -r.hi) + y * d_low;
    krf_dd s;
    s.hi = -0.5 * b * c.of.hi;
    s.lo = __builtin_fma(-0.5 * b, c.of.hi, -s.hi) - 0.5 * b * c.of.lo;
    int negative = x < 0.0;
    r.hi = negative ? s.hi : r.hi;
    r.lo = negative ? s.lo : r.lo;
    double v = krf_power_of_two(r, negative ? c.n : 0.0);
    krf_dd f = krf_erf_near(b * 0x1.6a09e667f3bcdp-1); // in the middle by erf
    double sign = negative ? -0.5 : 0.5;
    double h = __builtin_fma(sign, f.hi, 0.5);
    double h_low = __builtin_fma(sign, f.hi, 0.5 - h) + sign * f.lo;
    double m = y * h;
    double middle = m + (__builtin_fma(y, h, -m) + y * h_low);
    middle = y < 0x1p-900 ? 0.5 * y : middle;
    v = y < 0.75 ? middle : v;
    v = krf_unbits_f64((krf_bits_f64(v) & 0x7fffffffffffffffu) | (krf_bits_f64(x) & 0x8000000000000000u));
    return x == x ? v : x;
}

//@ krf_erfinv
// Up to 1/2 a polynomial of x^2. Beyond that x times one of w = -log(1 - x^2) up to 3.25, of sqrt(w) up to 3.45 and from there
// on, each about the middle of its interval. Errors 2^-59.
KRF_FN double krf_erfinv(double x) {
    double w = -krf_log((1.0 - x) * (1.0 + x));
    double s = __builtin_sqrt(w);
    int second = w < 3.25, third = s < 3.45;
    double small;
    {
        double z = x * x;
        double p0 = __builtin_fma(z, 0x1.053c2c0aafb7p-3, 0x1.db29fb2fee66p-3);
        double p1 = __builtin_fma(z, 0x1.0a1316ea8d5acp-4, 0x1.62847c4fd2a0fp-4);
        double p2 = __builtin_fma(z, 0x1.5ee2602b22ca2p-5, 0x1.a7c8c9564a8e8p-5);
        double p3 = __builtin_fma(z, 0x1.fe2eb2034e9fdp-6, 0x1.2b336ee673fedp-5);
        double p4 = __builtin_fma(z, 0x1.0ef8ef80f6f3cp-7, 0x1.0326e7194cd6p-5);
        double p5 = __builtin_fma(z, -0x1.3a7ec36d1b74ap-4, 0x1.2ec5611313ed7p-4);
        double z2 = z * z;
        double p6 = __builtin_fma(z2, p1, p0);
        double p7 = __builtin_fma(z2, p3, p2);
        double p8 = __builtin_fma(z2, p5, p4);
        double z4 = z2 * z2;
        double p9 = __builtin_fma(z4, p7, p6);
        double p10 = __builtin_fma(z4, 0x1.d1556ac337d9fp-4, p8);
        double z8 = z4 * z4;
        double p = __builtin_fma(z8, p10, p9);
        small = __builtin_fma(x, 0x1.c5bf891b4ef6bp-1, __builtin_fma(x * z, p, x * -0x1.618f13eb7ca89p-55));
    }
    double a, b;
    {
        double t = w - 1.75;
        double p0 = __builtin_fma(t, -0x1.44d02760b8ff7p-11, 0x1.006e81544974p-2);
        double p1 = __builtin_fma(t, 0x1.a7135967969b5p-13, -0x1.f28aa3a828295p-10);
        double p2 = __builtin_fma(t, -0x1.631e6c7afa895p-18, 0x1.ff74a1c270027p-17);
        double p3 = __builtin_fma(t, 0x1.9ebde67b3f82dp-24, 0x1.43933bb8575fdp-23);
        double p4 = __builtin_fma(t, -0x1.36865b5b85a15p-30, -0x1.805582ba4352fp-27);
        double p5 = __builtin_fma(t, -0x1.6ada09c745606p-39, 0x1.6ce77229eb4f5p-32);
        double p6 = __builtin_fma(t, 0x1.54cd16a08bbb9p-41, -0x1.ec4dbd076bc7ap-38);
        double p7 = __builtin_fma(t, -0x1.38d01d7256d5ep-46, 0x1.d07cfe32ed265p-44);
        double t2 = t * t;
        double p8 = __builtin_fma(t2, p1, p0);
        double p9 = __builtin_fma(t2, p3, p2);
        double p10 = __builtin_fma(t2, p5, p4);
        double p11 = __builtin_fma(t2, p7, p6);
        double t4 = t2 * t2;
        double p12 = __builtin_fma(t4, p9, p8);
        double p13 = __builtin_fma(t4, p11, p10);
        double t8 = t4 * t4;
        double p14 = __builtin_fma(t8, p13, p12);
        double t16 = t8 * t8;
        double p = __builtin_fma(t16, -0x1.70dc7fcfa0f7dp-51, p14);
        a = __builtin_fma(t, p, 0x1.508eb3b7a7c44p+0);
        b = __builtin_fma(t, p, 0x1.508eb3b7a7c44p+0 - a);
    }
    double c, d;
    {
        double t = s - (third ? 2.625 : 4.75);
        double p0 = __builtin_fma(t, (third ? 0x1.9c14903bab664p-6 : 0x1.c8755814e081ap-15), (third ? 0x1.fac072fd7f8b5p-1 : 0x1.02a49dbf7fecep+0));
        double p1 = __builtin_fma(t, (third ? 0x1.f0e4da3e79c4fp-7 : 0x1.ba51185adb3e9p-14), (third ? -0x1.73818b0c289c3p-6 : -0x1.3fb38271a1935p-12));
        double p2 = __builtin_fma(t, (third ? -0x1.a732957463f27p-13 : 0x1.c76ae222c365ep-18), (third ? -0x1.860a3f38cef08p-8 : -0x1.d60cebe6f91dcp-16));
        double p3 = __builtin_fma(t, (third ? -0x1.b31ff9059eaedp-11 : 0x1.1894594701d7bp-21), (third ? 0x1.c831ae546db5bp-10 : -0x1.c452e146ff8a9p-20));
        double p4 = __builtin_fma(t, (third ? 0x1.0b2e50b50e85bp-12 : 0x1.0d0831327b762p-23), (third ? -0x1.46d3135f1c6e9p-14 : -0x1.f2bf7310594a4p-23));
        double p5 = __builtin_fma(t, (third ? -0x1.bbe1a41d72856p-16 : 0x1.ffee477d596e4p-26), (third ? -0x1.79ef02b109afp-14 : -0x1.19e77221bd32ep-24));
        double p6 = __builtin_fma(t, (third ? -0x1.ef67a6955e633p-18 : 0x1.7eee01f7bbac5p-29), (third ? 0x1.18652c0d2dc54p-15 : -0x1.76131f8e5947ep-27));
        double p7 = __builtin_fma(t, (third ? 0x1.060cc05209421p-18 : -0x1.1d44e5e628f81p-32), (third ? -0x1.52de85387a573p-18 : -0x1.b08d403cd88bp-33));
        double p8 = __builtin_fma(t, (third ? -0x1.a0a5dca2b0ff4p-21 : -0x1.0339b063cd005p-34), (third ? -0x1.cdbbc2c32f386p-22 : 0x1.75edbb3db572cp-33));
        double p9 = __builtin_fma(t, (third ? 0x1.38bbc70029fc4p-26 : 0x1.074948a9331a8p-40), (third ? 0x1.d7daaf7d6c427p-22 : 0x1.7dc9b0f442bd7p-37));
        double p10 = __builtin_fma(t, (third ? 0x1.044b4028c2cf9p-25 : 0x1.91b9b9982f88p-41), (third ? -0x1.f5607e750605dp-24 : -0x1.e08017770ba6cp-40));
        double p11 = __builtin_fma(t, (third ? -0x1.a6025a9cb3e47p-28 : -0x1.5bbef1ea0caf4p-45), (third ? 0x1.0ac0359464272p-26 : -0x1.842fe50113ad6p-44));
        double t2 = t * t;
        double p12 = __builtin_fma(t2, p1, p0);
        double p13 = __builtin_fma(t2, p3, p2);
        double p14 = __builtin_fma(t2, p5, p4);
        double p15 = __builtin_fma(t2, p7, p6);
        double p16 = __builtin_fma(t2, p9, p8);
        double p17 = __builtin_fma(t2, p11, p10);
        double t4 = t2 * t2;
        double p18 = __builtin_fma(t4, p13, p12);
        double p19 = __builtin_fma(t4, p15, p14);
        double p20 = __builtin_fma(t4, p17, p16);
        double t8 = t4 * t4;
        double p21 = __builtin_fma(t8, p19, p18);
        double p22 = __builtin_fma(t8, (third ? -0x1.8807eb20f717cp-31 : 0x1.9586d77376ffbp-47), p20);
        double t16 = t8 * t8;
        double p = __builtin_fma(t16, p22, p21);
        double first = third ? 0x1.3ac7d0d879053p+1 : 0x1.263a980ea57dcp+2;
        c = __builtin_fma(t, p, first);
        d = __builtin_fma(t, p, first - c);
    }
    a = second ? a : c;
    b = second ? b : d;
    double v = __builtin_fma(x, a, x * b);
    v = __builtin_fabs(x) < 0.5 ? small : v;
    v = x == 0.0 ? x : v;
    return __builtin_fabs(x) == 1.0 ? x * krf_unbits_f64(0x7ff0000000000000u) : v;
}

//@ krf_i0
// Up to 9 a polynomial of x^2 / 4, error 2^-67; beyond exp(x) / sqrt(x) times one of 1 / x, error 2^-60.
KRF_FN double krf_i0(double x) {
    double y = __builtin_fabs(x);
    y = y > 720.0 ? 720.0 : y;
    double near;
    {
        double z = 0.25 * y * y, z_low = __builtin_fma(0.25 * y, y, -z);
        double p0 = __builtin_fma(z, 0x1p+0, 0x1p+0);
        double p1 = __builtin_fma(z, 0x1.c71c71c71c71fp-6, 0x1p-2);
        double p2 = __builtin_fma(z, 0x1.23456789ac058p-14, 0x1.c71c71c71c6dfp-10);
        double p3 = __builtin_fma(z, 0x1.522a43f6bb611p-25, 0x1.02e85c0894a9ap-19);
        double p4 = __builtin_fma(z, 0x1.0b3132e7a4807p-37, 0x1.522a43ef1f3f5p-31);
        double p5 = __builtin_fma(z, 0x1.69cb02452fe27p-51, 0x1.5601814f0f973p-44);
        double p6 = __builtin_fma(z, 0x1.e768d3beac13dp-66, 0x1.419369f20b439p-58);
        double p7 = __builtin_fma(z, 0x1.767a1d22b2f97p-81, 0x1.3c9b744868a9cp-73);
        double p8 = __builtin_fma(z, 0x1.0a961a2924514p-96, 0x1.263407ac231c1p-89);
        double z2 = z * z;
        double p9 = __builtin_fma(z2, p1, p0);
        double p10 = __builtin_fma(z2, p3, p2);
        double p11 = __builtin_fma(z2, p5, p4);
        double p12 = __builtin_fma(z2, p7, p6);
        double z4 = z2 * z2;
        double p13 = __builtin_fma(z4, p10, p9);
        double p14 = __builtin_fma(z4, p12, p11);
        double z8 = z4 * z4;
        double p15 = __builtin_fma(z8, p14, p13);
        double z16 = z8 * z8;
        double p = __builtin_fma(z16, p8, p15);
        near = __builtin_fma(p, z_low / __builtin_sqrt(1.0 + z), p); // the derivative, nearly
    }
    double b = y < 9.0 ? 9.0 : y;
    double t = 18.0 / b - 1.0;
    double p0 = __builtin_fma(t, 0x1.b776e87b33878p-14, 0x1.840d985c5b7c4p-9);
    double p1 = __builtin_fma(t, 0x1.bee923c4ff373p-21, 0x1.efbe0cdc414cap-18);
    double p2 = __builtin_fma(t, 0x1.11ae5681ce6cp-25, 0x1.263fc4be9b789p-23);
    double p3 = __builtin_fma(t, 0x1.55af20d3b954cp-28, 0x1.6a728728d313bp-27);
    double p4 = __builtin_fma(t, 0x1.24de2c117cc21p-30, 0x1.82a9ae500e91p-29);
    double p5 = __builtin_fma(t, -0x1.e94c16992d7e9p-30, -0x1.af8792b456e0cp-31);
    double p6 = __builtin_fma(t, 0x1.c8f8520e88eaep-31, -0x1.e9442e5d3dfb5p-31);
    double p7 = __builtin_fma(t, -0x1.10530ae434de1p-32, 0x1.189c895f58006p-30);
    double p8 = __builtin_fma(t, 0x1.7e82e13d2169p-35, -0x1.6efa92361b781p-31);
    double p9 = __builtin_fma(t, -0x1.662c8a34e7861p-40, 0x1.4f623ae8a21d7p-32);
    double p10 = __builtin_fma(t, -0x1.b6f93c76a30a6p-41, -0x1.864f2f1d581bdp-34);
    double t2 = t * t;
    double p11 = __builtin_fma(t2, p1, p0);
    double p12 = __builtin_fma(t2, p3, p2);
    double p13 = __builtin_fma(t2, p5, p4);
    double p14 = __builtin_fma(t2, p7, p6);
    double p15 = __builtin_fma(t2, p9, p8);
    double p16 = __builtin_fma(t2, 0x1.ad2af0c04110bp-37, p10);
    double t4 = t2 * t2;
    double p17 = __builtin_fma(t4, p12, p11);
    double p18 = __builtin_fma(t4, p14, p13);
    double p19 = __builtin_fma(t4, p16, p15);
    double t8 = t4 * t4;
    double p20 = __builtin_fma(t8, p18, p17);
    double t16 = t8 * t8;
    double p = __builtin_fma(t16, p19, p20);
    krf_scaled e = krf_exp_sum(b, 0.0);
    double n = __builtin_fma(t, p, 0x1.9b72b66de3991p-2);
    double n_low = __builtin_fma(t, p, 0x1.9b72b66de3991p-2 - n);
    double d = __builtin_sqrt(b), d_low = __builtin_fma(-d, d, b) / (2.0 * d);
    double q = n / d;
    double q_low = (__builtin_fma(-q, d, n) + (n_low - q * d_low)) / d;
    double r = q * e.of.hi;
    e.of.lo = __builtin_fma(q, e.of.hi, -r) + __builtin_fma(q, e.of.lo, q_low * e.of.hi);
    e.of.hi = r;
    double far = krf_power_of_two(e.of, e.n);
    double v = y < 9.0 ? near : far;
    return x == x ? v : x;
}
