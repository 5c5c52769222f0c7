// sin, cos, tan, sinpi, cospi: as real.h. Every argument is reduced without a branch: the finite f64 numbers are cut into
// groups by their exponents, and each group has 2 / pi times its power of 2, less what makes whole turns, in a table.
// The f32 functions compute in f64 with shorter polynomials, and round once.

//@ krf_dd
// A number as the sum of two, lo at most half a unit of the last place of hi.
typedef struct krf_dd {
    double hi, lo;
} krf_dd;

//@ krf_two_sum
// a + b without an error (Knuth).
KRF_FN krf_dd krf_two_sum(double a, double b) {
    krf_dd r;
    r.hi = a + b;
    double c = r.hi - a;
    r.lo = (a - (r.hi - c)) + (b - c);
    return r;
}

//@ krf_angle
// quarters * pi / 2 + hi + lo, with abs(hi) hardly above pi / 4; quarters: the low bits count.
typedef struct krf_angle {
    double hi, lo;
    unsigned long long quarters;
} krf_angle;

//@ krf_two_over_pi
// 2^(32 i) * 2 / pi as the sum of four numbers, for i > 0 less a multiple of 4.
static const double krf_two_over_pi[124] = {
    0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55, -0x1.6447e493ad4cep-109, 0x1.e21c820ff28b2p-163,
    0x1.27220a94fe13bp+1, -0x1.05c1596447e49p-53, -0x1.d6a66c3bc6fbep-108, -0x1.ae9c5421443aap-168,
    0x1.fc2757d1f534ep+0, -0x1.1f924eb53361ep-55, 0x1.c820ff28b1d5fp-111, -0x1.443a9e48db91cp-168,
    0x1.f534ddc0db629p+0, 0x1.664f10e4107f9p-54, 0x1.163abdebbc562p-108, -0x1.236e4716f6c8bp-162,
    0x1.b6c52b3278872p-1, 0x1.07f9458eaf7afp-58, -0x1.d4f246dc8e2dfp-115, 0x1.374b801924bbbp-170,
    0x1.3c439041fe516p+0, 0x1.d5ef5de2b0db9p-55, 0x1.1b8e909374b8p-110, 0x1.924bba8274648p-166,
    0x1.fe5163abdebbcp+0, 0x1.586dc91b8e909p-54, 0x1.ba5c00c925dd4p-109, 0x1.3a32439fc3bd6p-165,
    0x1.ef5de2b0db923p+1, 0x1.c74849ba5c00dp-53, -0x1.b688afb1736f2p-107, 0x1.fc3bd63962535p-161,
    0x1.b7246e3a424ddp+0, 0x1.700324977504fp-55, -0x1.cdbc603c429c7p-109, 0x1.894d39f74411bp-163,
    0x1.2126e97003249p+1, 0x1.dd413a32439fcp-53, 0x1.deb1cb129a73fp-108, -0x1.77dca0ad144bbp-164,
    0x1.924bba8274648p-6, 0x1.cfe1deb1cb12ap-60, -0x1.63045df7282b4p-114, -0x1.44bb7b16638fep-168,
    0x1.04e8c90e7f0efp+1, 0x1.63962534e7dd1p-53, 0x1.1afa975da2427p-111, 0x1.338e04d68befdp-165,
    0x1.fc3bd63962535p-1, -0x1.822efb9415a29p-57, 0x1.a24274ce38136p-111, -0x1.741037d8cdc54p-165,
    0x1.62534e7dd1047p-1, -0x1.0568a25dbd8b3p-55, -0x1.c7eca5d040df6p-111, -0x1.9b8a719f2b318p-166,
    0x1.74411afa975dap+1, 0x1.213a671c09ad1p-54, 0x1.f7e413991d63ap-108, -0x1.f2b3182d8dee8p-162,
    0x1.2ebb4484e99c7p+0, 0x1.35a2fbf209cc9p-59, -0x1.4e33e566305b2p-115, 0x1.08bf177bf2507p-169,
    0x1.d338e04d68bfp-1, -0x1.bec66e29c67cbp-56, 0x1.9cfa4e422fc5ep-111, -0x1.036be27003b4p-167,
    0x1.5a2fbf209cc8fp+1, -0x1.38cf9598c16c7p-53, 0x1.17e2ef7e4a0ecp-110, 0x1.ff897ffde0598p-164,
    0x1.3991d63983534p+0, -0x1.82d8dee81d108p-54, -0x1.b5f13801da001p-110, 0x1.e05980fef2f12p-164,
    0x1.835339f49c846p+0, -0x1.d1081b5f13802p-58, 0x1.2fffbc0b301fep-113, -0x1.a1dce94beb25cp-169,
    0x1.3908bf177bf25p-1, 0x1.d8ffc4bffef03p-59, -0x1.9fc04343b9d29p-114, -0x1.f592e092c9813p-168,
    0x1.defc941d8ffc5p+1, -0x1.00043f4cfe022p-53, 0x1.788c5ad05369p-107, -0x1.25930261b069fp-161,
    0x1.8ffc4bffef02dp+1, -0x1.fc04343b9d298p-54, 0x1.4da3eda6cfd9ep-109, 0x1.3e584dba7a32p-163,
    0x1.ef02cc07f7979p+1, -0x1.ce94beb25c126p-53, 0x1.b3f6793e584dcp-107, -0x1.61738132c3403p-161,
    0x1.f79788c5ad053p+1, 0x1.a3eda6cfd9e5p-53, -0x1.a7b24585ce04dp-107, 0x1.3cbfd45aea4f7p-161,
    0x1.ad05368fb69b4p+1, -0x1.30d834f648b0cp-56, 0x1.8fd9a797fa8b6p-110, -0x1.5b08a7028341dp-165,
    0x1.b69b3f6793e58p+1, 0x1.36e9e8c7ecd3dp-53, -0x1.00ae9456c229cp-107, -0x1.41a0e84c2f8c6p-164,
    0x1.93e584dba7a32p+1, -0x1.32c3402ba515bp-57, -0x1.14e050683a131p-114, 0x1.0739f78a5292fp-168,
    0x1.a7a31fb34f2ffp+1, 0x1.45aea4f758fd8p-53, -0x1.a0e84c2f8c608p-108, -0x1.d6b5b45650128p-162,
    0x1.4f2ff516ba93ep+1, -0x1.4e050683a130cp-54, 0x1.ce7de294a4baap-110, -0x1.404a04ee072a3p-164,
    0x1.7527bac7ebe5fp+0, 0x1.7b3d0739f78a5p-56, 0x1.497535fdafd89p-111, -0x1.ca8bdea7f33eep-170,
};

//@ krf_reduce
// x = y 2^(32 i), where i > 0 only if y is whole: then whole multiples of 4 may be dropped from y's factor. The products
// with its four parts are exact but for the last; those that can be large are reduced first. About 2^-122 is left of
// them, and no f64 is closer to a multiple of pi / 2 than 2^-61.
KRF_FN krf_angle krf_reduce(double x) {
    unsigned long long b = krf_bits_f64(x), e = b >> 52 & 0x7ff;
    unsigned long long i = ((e < 1075 ? 1075 : e) - 1075) >> 5;
    double y = krf_unbits_f64(b - (i << 57));
    double c0 = krf_two_over_pi[4 * i], c1 = krf_two_over_pi[4 * i + 1];
    double c2 = krf_two_over_pi[4 * i + 2], c3 = krf_two_over_pi[4 * i + 3];
    double p0 = y * c0, p1 = y * c1, p2 = y * c2, p3 = y * c3;
    double e0 = __builtin_fma(y, c0, -p0), e1 = __builtin_fma(y, c1, -p1), e2 = __builtin_fma(y, c2, -p2);
    p0 -= 4.0 * __builtin_rint(0.25 * p0);
    e0 -= 4.0 * __builtin_rint(0.25 * e0);
    p1 -= 4.0 * __builtin_rint(0.25 * p1);
    krf_dd s = krf_two_sum(p0, e0);
    krf_dd t = krf_two_sum(s.hi, p1);
    double n = __builtin_rint(t.hi);
    krf_dd u = krf_two_sum(e1, p2);
    krf_dd v = krf_two_sum(t.hi - n, u.hi);
    krf_dd w = krf_two_sum(s.lo, t.lo);
    krf_dd q = krf_two_sum(w.hi, v.lo);
    krf_dd f = krf_two_sum(v.hi, q.hi);
    double low = f.lo + (w.lo + q.lo + u.lo + (e2 + p3));
    double hi = f.hi + low, lo = (f.hi - hi) + low;
    krf_angle a;
    int small = __builtin_fabs(x) < 0.78;
    double r = hi * 0x1.921fb54442d18p+0;
    a.hi = small ? x : r;
    a.lo = __builtin_fma(hi, 0x1.921fb54442d18p+0, -r) + __builtin_fma(lo, 0x1.921fb54442d18p+0, hi * 0x1.1a62633145c07p-54);
    a.lo = small ? 0.0 : a.lo;
    a.quarters = krf_bits_f64((small ? 0.0 : n) + 0x1.8p52);
    return a;
}

//@ krf_reduce_f32
// As krf_reduce for an f32. What makes whole multiples of 4 with numbers from 2^45 on, 2^66 on, ... is left out of 2 / pi, of which two parts do then: the first product's whole part has room
// for its quarters, and what it loses is known.
KRF_FN krf_angle krf_reduce_f32(float x) {
    double y = (double)x, size = __builtin_fabs(y);
    double c0 = 0x1.45f306dc9c883p-1, c1 = -0x1.6b01ec5417056p-55;
    c0 = size < 0x1p45 ? c0 : 0x1.b727220a94fe1p-23, c1 = size < 0x1p45 ? c1 : 0x1.d5f47d4d37703p-78; // one select after the other, as in krf_arc
    c0 = size < 0x1p66 ? c0 : -0x1.df56b01ec5417p-43, c1 = size < 0x1p66 ? c1 : -0x1.596447e493ad5p-101;
    c0 = size < 0x1p87 ? c0 : 0x1.fc2757d1f534ep-64, c1 = size < 0x1p87 ? c1 : -0x1.1f924eb53361ep-119;
    c0 = size < 0x1p108 ? c0 : -0x1.05c1596447e49p-85, c1 = size < 0x1p108 ? c1 : -0x1.d6a66c3bc6fbep-140;
    double p = y * c0, n = __builtin_rint(p);
    krf_angle a;
    a.hi = ((p - n) + __builtin_fma(y, c1, __builtin_fma(y, c0, -p))) * 0x1.921fb54442d18p+0;
    a.lo = 0.0;
    a.quarters = krf_bits_f64(n + 0x1.8p52);
    return a;
}

//@ krf_sin_near
// sin(a.hi + a.lo) without the quarters, as a sum of two. Polynomial error 2^-58.
KRF_FN krf_dd krf_sin_near(krf_angle a) {
    double z = a.hi * a.hi;
    double p0 = __builtin_fma(z, 0x1.111111110f83p-7, -0x1.5555555555549p-3);
    double p1 = __builtin_fma(z, 0x1.71de356eeb041p-19, -0x1.a01a019c07dacp-13);
    double p2 = __builtin_fma(z, 0x1.5d90dde08b898p-33, -0x1.ae5e5f176d378p-26);
    double z2 = z * z;
    double p3 = __builtin_fma(z2, p1, p0);
    double z4 = z2 * z2;
    double p = __builtin_fma(z4, p2, p3);
    double t = __builtin_fma(a.hi * z, p, __builtin_fma(-0.5 * z, a.lo, a.lo));
    krf_dd r;
    r.hi = a.hi + t;
    r.lo = (a.hi - r.hi) + t;
    return r;
}

//@ krf_cos_near
// Polynomial error 2^-64.
KRF_FN krf_dd krf_cos_near(krf_angle a) {
    double z = a.hi * a.hi;
    double h = 0.5 * z;
    double p0 = __builtin_fma(z, -0x1.6c16c16c14f32p-10, 0x1.555555555554bp-5);
    double p1 = __builtin_fma(z, -0x1.27e4f7e3b918ap-22, 0x1.a01a019c7acc3p-16);
    double p2 = __builtin_fma(z, -0x1.8fa201c3011ffp-37, 0x1.1ee9d2cde4e4ap-29);
    double z2 = z * z;
    double p3 = __builtin_fma(z2, p1, p0);
    double z4 = z2 * z2;
    double p = __builtin_fma(z4, p2, p3);
    double w = 1.0 - h;
    double t = ((1.0 - w) - h) + __builtin_fma(-a.hi, a.lo, z * z * p);
    krf_dd r;
    r.hi = w + t;
    r.lo = (w - r.hi) + t;
    return r;
}

//@ krf_sin_of
// The sine with the quarters.
KRF_FN double krf_sin_of(krf_angle a) {
    double s = krf_sin_near(a).hi, c = krf_cos_near(a).hi;
    unsigned long long u = krf_bits_f64((a.quarters & 1) != 0 ? c : s);
    return krf_unbits_f64(u ^ (a.quarters & 2) << 62);
}

//@ krf_sines_single
// The sine and the cosine of an angle without the quarters. Polynomial errors 2^-37 and 2^-41: enough for f32.
typedef struct krf_sine_single {
    double sine, cosine;
} krf_sine_single;
KRF_FN krf_sine_single krf_sines_single(krf_angle a) {
    double z = a.hi * a.hi, z2 = z * z;
    double p0 = __builtin_fma(z, 0x1.111108864fd18p-7, -0x1.5555554ca43d3p-3);
    double p1 = __builtin_fma(z, 0x1.6cd535a4baa8dp-19, -0x1.a00f90a0e377bp-13);
    double q0 = __builtin_fma(z, -0x1.6c16b8188b9p-10, 0x1.5555554ec8e18p-5);
    double q1 = __builtin_fma(z, -0x1.241c41f12dd78p-22, 0x1.a010d35f3594ap-16);
    krf_sine_single r;
    r.sine = __builtin_fma(a.hi * z, __builtin_fma(z2, p1, p0), a.hi);
    r.cosine = __builtin_fma(z2, __builtin_fma(z2, q1, q0), __builtin_fma(-0.5, z, 1.0));
    return r;
}

//@ krf_sin_of_single
KRF_FN double krf_sin_of_single(krf_angle a) {
    krf_sine_single r = krf_sines_single(a);
    unsigned long long u = krf_bits_f64((a.quarters & 1) != 0 ? r.cosine : r.sine);
    return krf_unbits_f64(u ^ (a.quarters & 2) << 62);
}

//@ krf_sinf
KRF_FN float krf_sinf(float x) {
    float y = (float)krf_sin_of_single(krf_reduce_f32(x));
    y = x == 0.0f ? x : y;
    return x - x == 0.0f ? y : x - x;
}

//@ krf_sin
KRF_FN double krf_sin(double x) {
    double y = krf_sin_of(krf_reduce(x));
    y = x == 0.0 ? x : y; // the sums lost the sign of -0
    return x - x == 0.0 ? y : x - x;
}

//@ krf_cosf
KRF_FN float krf_cosf(float x) {
    krf_angle a = krf_reduce_f32(x);
    a.quarters += 1;
    float y = (float)krf_sin_of_single(a);
    return x - x == 0.0f ? y : x - x;
}

//@ krf_cos
KRF_FN double krf_cos(double x) {
    krf_angle a = krf_reduce(x);
    a.quarters += 1;
    double y = krf_sin_of(a);
    return x - x == 0.0 ? y : x - x;
}

//@ krf_tanf
KRF_FN float krf_tanf(float x) {
    krf_angle a = krf_reduce_f32(x);
    krf_sine_single r = krf_sines_single(a);
    int odd = (a.quarters & 1) != 0;
    float y = (float)((odd ? -r.cosine : r.sine) / (odd ? r.sine : r.cosine));
    y = x == 0.0f ? x : y;
    return x - x == 0.0f ? y : x - x;
}

//@ krf_tan
// The quotient of sine and cosine, corrected by its remainder: their low parts count.
KRF_FN double krf_tan(double x) {
    krf_angle a = krf_reduce(x);
    krf_dd s = krf_sin_near(a), c = krf_cos_near(a);
    int odd = (a.quarters & 1) != 0;
    double n = odd ? -c.hi : s.hi, n_low = odd ? -c.lo : s.lo;
    double d = odd ? s.hi : c.hi, d_low = odd ? s.lo : c.lo;
    double inverse = 1.0 / d;
    double v = n * inverse;
    double y = __builtin_fma(__builtin_fma(-v, d, n) + __builtin_fma(-v, d_low, n_low), inverse, v);
    y = x == 0.0 ? x : y;
    return x - x == 0.0 ? y : x - x;
}

//@ krf_reduce_pi
// x pi: x less whole turns is exact, and so is the rest of its nearest quarter.
KRF_FN krf_angle krf_reduce_pi(double x) {
    double y = x - 2.0 * __builtin_rint(0.5 * x);
    double n = __builtin_rint(2.0 * y);
    double f = __builtin_fma(-0.5, n, y);
    krf_angle a;
    a.hi = f * 0x1.921fb54442d18p+1;
    a.lo = __builtin_fma(f, 0x1.921fb54442d18p+1, -a.hi) + f * 0x1.1a62633145c07p-53;
    a.quarters = krf_bits_f64(n + 0x1.8p52);
    return a;
}

//@ krf_sinpif
// At whole numbers a zero with the sign of x.
KRF_FN float krf_sinpif(float x) {
    float y = (float)krf_sin_of_single(krf_reduce_pi((double)x));
    y = y == 0.0f ? __builtin_copysignf(0.0f, x) : y;
    return x - x == 0.0f ? y : x - x;
}

//@ krf_sinpi
KRF_FN double krf_sinpi(double x) {
    double y = krf_sin_of(krf_reduce_pi(x));
    y = y == 0.0 ? __builtin_copysign(0.0, x) : y;
    return x - x == 0.0 ? y : x - x;
}

//@ krf_cospif
// +0 at halves.
KRF_FN float krf_cospif(float x) {
    krf_angle a = krf_reduce_pi((double)x);
    a.quarters += 1;
    float y = (float)krf_sin_of_single(a) + 0.0f;
    return x - x == 0.0f ? y : x - x;
}

//@ krf_cospi
KRF_FN double krf_cospi(double x) {
    krf_angle a = krf_reduce_pi(x);
    a.quarters += 1;
    double y = krf_sin_of(a) + 0.0;
    return x - x == 0.0 ? y : x - x;
}
