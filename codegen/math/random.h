// Random numbers that are functions of their place: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as
// easy as 1, 2, 3; SC 2011) and the inverse of the normal distribution function. One text for C and CUDA C, so that both
// have the same bits; branch-free. Sections as in prelude.h.

//@ krf_philox_words
typedef struct krf_philox_words {
    unsigned a, b, c, d;
} krf_philox_words;

//@ krf_philox_round
KRF_FN krf_philox_words krf_philox_round(krf_philox_words x, unsigned key_low, unsigned key_high) {
    unsigned long long p = (unsigned long long)x.a * 0xd2511f53u, q = (unsigned long long)x.c * 0xcd9e8d57u;
    krf_philox_words y;
    y.a = (unsigned)(q >> 32) ^ x.b ^ key_low;
    y.b = (unsigned)q;
    y.c = (unsigned)(p >> 32) ^ x.d ^ key_high;
    y.d = (unsigned)p;
    return y;
}

//@ krf_philox_block
// The four words of the block whose 128-bit counter is low + 2^64 high; a is its first word. Each round's key is the last one's
// plus a constant.
KRF_FN krf_philox_words krf_philox_block(unsigned long long low, unsigned long long high, unsigned long long key) {
    unsigned k = (unsigned)key, l = (unsigned)(key >> 32);
    krf_philox_words x;
    x.a = (unsigned)low;
    x.b = (unsigned)(low >> 32);
    x.c = (unsigned)high;
    x.d = (unsigned)(high >> 32);
    x = krf_philox_round(x, k, l);
    x = krf_philox_round(x, k + 0x9e3779b9u, l + 0xbb67ae85u);
    x = krf_philox_round(x, k + 0x3c6ef372u, l + 0x76cf5d0au);
    x = krf_philox_round(x, k + 0xdaa66d2bu, l + 0x32370b8fu);
    x = krf_philox_round(x, k + 0x78dde6e4u, l + 0xed9eba14u);
    x = krf_philox_round(x, k + 0x1715609du, l + 0xa9066899u);
    x = krf_philox_round(x, k + 0xb54cda56u, l + 0x646e171eu);
    x = krf_philox_round(x, k + 0x5384540fu, l + 0x1fd5c5a3u);
    x = krf_philox_round(x, k + 0xf1bbcdc8u, l + 0xdb3d7428u);
    return krf_philox_round(x, k + 0x8ff34781u, l + 0x96a522adu);
}

//@ krf_philox_pair
// Words 0 and 1 of block j / 2 where j is even, else words 2 and 3; the first one is the low half.
KRF_FN unsigned long long krf_philox_pair(unsigned long long j, unsigned long long key) {
    krf_philox_words x = krf_philox_block(j >> 1, 0, key);
    unsigned low = (j & 1) != 0 ? x.c : x.a, high = (j & 1) != 0 ? x.d : x.b;
    return (unsigned long long)high << 32 | low;
}

//@ krf_multiply_high_i8
// The product of narrow integers has all its bits in the next wider type.
KRF_FN signed char krf_multiply_high_i8(int a, int b) { return (signed char)(a * b >> 8); }

//@ krf_multiply_high_i16
KRF_FN short krf_multiply_high_i16(int a, int b) { return (short)(a * b >> 16); }

//@ krf_multiply_high_i32
KRF_FN int krf_multiply_high_i32(int a, int b) { return (int)((long long)a * b >> 32); }

//@ krf_multiply_high_u8
KRF_FN unsigned char krf_multiply_high_u8(unsigned a, unsigned b) { return (unsigned char)(a * b >> 8); }

//@ krf_multiply_high_u16
KRF_FN unsigned short krf_multiply_high_u16(unsigned a, unsigned b) { return (unsigned short)(a * b >> 16); }

//@ krf_multiply_high_u32
KRF_FN unsigned krf_multiply_high_u32(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }

//@ krf_multiply_high_u64
// By halves: no sum of the three parts in the middle exceeds 64 bits.
KRF_FN unsigned long long krf_multiply_high_u64(unsigned long long a, unsigned long long b) {
    unsigned long long a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    unsigned long long upper = a1 * b0 + (a0 * b0 >> 32);
    unsigned long long middle = a0 * b1 + (upper & 0xffffffffu);
    return a1 * b1 + (upper >> 32) + (middle >> 32);
}

//@ krf_multiply_high_i64
// A negative number is 2^64 less than its bits say, which takes the other factor off the high half.
KRF_FN long long krf_multiply_high_i64(long long a, long long b) {
    unsigned long long u = (unsigned long long)a, v = (unsigned long long)b;
    return (long long)(krf_multiply_high_u64(u, v) - (a < 0 ? v : 0) - (b < 0 ? u : 0));
}

//@ krf_ndtri_tail
// -log(x) for 0 < x < 1: x = 2^e m with m about 1, and log(m) = 2 atanh((m - 1) / (m + 1)) by its series.
KRF_FN double krf_ndtri_tail(double x) {
    int tiny = x < 0x1p-1022;
    unsigned long long bits = krf_pre_bits_f64(tiny ? x * 0x1p54 : x) - 0x3fe6a09e00000000u; // about sqrt(1 / 2)
    double e = (double)((int)(bits >> 52) - ((bits >> 63) != 0 ? 4096 : 0) - (tiny ? 54 : 0));
    double m = krf_pre_unbits_f64((bits & 0xfffffffffffffu) + 0x3fe6a09e00000000u);
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = KRF_F64(fma)(z, 2.0 / 23.0, 2.0 / 21.0);
    p = KRF_F64(fma)(z, p, 2.0 / 19.0);
    p = KRF_F64(fma)(z, p, 2.0 / 17.0);
    p = KRF_F64(fma)(z, p, 2.0 / 15.0);
    p = KRF_F64(fma)(z, p, 2.0 / 13.0);
    p = KRF_F64(fma)(z, p, 2.0 / 11.0);
    p = KRF_F64(fma)(z, p, 2.0 / 9.0);
    p = KRF_F64(fma)(z, p, 2.0 / 7.0);
    p = KRF_F64(fma)(z, p, 2.0 / 5.0);
    p = KRF_F64(fma)(z, p, 2.0 / 3.0);
    double near = KRF_F64(fma)(s * z, p, 2.0 * s);
    return -KRF_F64(fma)(e, 0x1.62e42fefa39efp-1, KRF_F64(fma)(e, 0x1.abc9e3b39803fp-56, near));
}

//@ krf_ndtri_f64
// The rational approximations of M. J. Wichura (Algorithm AS 241, Applied Statistics 37, 1988), errors about 2^-53: of p - 1/2
// between 0.075 and 0.925, beyond that of s = sqrt(-log) of the smaller tail, with other coefficients from 5 on. The numerators here have
// less taken off: 2.5, or 1.25 or 1.375 times s, which is most of the result and is added last. rest: what s lost in rounding.
KRF_FN double krf_ndtri_f64(double p) {
    double q = p - 0.5, r = KRF_F64(fma)(-q, q, 0.180625);
    double a = -10557.157268402014, b = 5226.495278852854;
    a = KRF_F64(fma)(a, r, -38392.138755716725);
    a = KRF_F64(fma)(a, r, -31003.968573223076);
    a = KRF_F64(fma)(a, r, -7112.5318224166185);
    a = KRF_F64(fma)(a, r, 246.20371194758334);
    a = KRF_F64(fma)(a, r, 253.62343157640666);
    a = KRF_F64(fma)(a, r, 27.358341137782098);
    a = KRF_F64(fma)(a, r, 0.8871328727963667);
    b = KRF_F64(fma)(b, r, 28729.085735721943);
    b = KRF_F64(fma)(b, r, 39307.89580009271);
    b = KRF_F64(fma)(b, r, 21213.794301586597);
    b = KRF_F64(fma)(b, r, 5394.196021424751);
    b = KRF_F64(fma)(b, r, 687.1870074920579);
    b = KRF_F64(fma)(b, r, 42.31333070160091);
    b = KRF_F64(fma)(b, r, 1.0);
    double middle = KRF_F64(fma)(q, a / b, 2.5 * q);
    double other = 1.0 - p, least = p < 0.5 ? p : other;
    double w = krf_ndtri_tail(least > 0 ? least : 0.5), s = KRF_F64(sqrt)(w);
    double rest = KRF_F64(fma)(-s, s, w) / (s + s);
    int far = s > 5.0;
    double t = s - (far ? 5.0 : 1.6);
    a = far ? -2.810861767161167e-15 : -1.313437589555521e-09;
    a = KRF_F64(fma)(a, t, far ? 5.575559106408668e-09 : 9.005065215378e-05);
    a = KRF_F64(fma)(a, t, far ? 7.513894878290674e-07 : 0.002630324167749544);
    a = KRF_F64(fma)(a, t, far ? 3.378150773404395e-05 : 0.026253421515867605);
    a = KRF_F64(fma)(a, t, far ? 0.0006688424750304365 : 0.11204113086603323);
    a = KRF_F64(fma)(a, t, far ? 0.0060138766851451815 : 0.1728326170632498);
    a = KRF_F64(fma)(a, t, far ? 0.01866432455913676 : -0.14976197220411483);
    a = KRF_F64(fma)(a, t, far ? -0.0350615089076152 : -0.7260454071189724);
    a = KRF_F64(fma)(a, t, far ? -0.21709535649889622 : -0.5765628892503164);
    b = far ? 2.0442631033899397e-15 : 1.0507500716444169e-09;
    b = KRF_F64(fma)(b, t, far ? 1.421511758316446e-07 : 0.0005475938084995345);
    b = KRF_F64(fma)(b, t, far ? 1.8463183175100548e-05 : 0.015198666563616457);
    b = KRF_F64(fma)(b, t, far ? 0.0007868691311456133 : 0.14810397642748008);
    b = KRF_F64(fma)(b, t, far ? 0.014875361290850615 : 0.6897673349851);
    b = KRF_F64(fma)(b, t, far ? 0.1369298809227358 : 1.6763848301838038);
    b = KRF_F64(fma)(b, t, far ? 0.599832206555888 : 2.053191626637759);
    b = KRF_F64(fma)(b, t, 1.0);
    double tail = KRF_F64(fma)(far ? 1.375 : 1.25, s, KRF_F64(fma)(1.45, rest, a / b));
    tail = least > 0 ? tail : krf_pre_unbits_f64(0x7ff0000000000000u);
    tail = q < 0 ? -tail : tail;
    double size = q < 0 ? -q : q, both = size <= 0.425 ? middle : tail;
    return ((p >= 0) & (p <= 1)) ? both : krf_pre_unbits_f64(0x7ff8000000000000u); // p - 1/2 may round to -1/2
}

//@ krf_ndtri_f32
KRF_FN float krf_ndtri_f32(float p) { return (float)krf_ndtri_f64((double)p); }

//@ krf_ndtri_split_far
KRF_FN float krf_ndtri_split_far(float w) {
    float s = KRF_F32(sqrt)(w) - 2.5f;
    float a = -0x1.dde24p-16f;
    a = KRF_F32(fma)(a, s, 0x1.4d9996p-12f);
    a = KRF_F32(fma)(a, s, -0x1.7df382p-10f);
    a = KRF_F32(fma)(a, s, 0x1.aa615cp-9f);
    a = KRF_F32(fma)(a, s, -0x1.15b278p-9f);
    a = KRF_F32(fma)(a, s, -0x1.01405cp-7f);
    a = KRF_F32(fma)(a, s, 0x1.b41176p-6f);
    a = KRF_F32(fma)(a, s, -0x1.690e16p-5f);
    a = KRF_F32(fma)(a, s, 0x1.97a584p-5f);
    a = KRF_F32(fma)(a, s, 0x1.639ef6p+0f);
    a = KRF_F32(fma)(a, s, 0x1.a6d9eep+1f);
    return a;
}

//@ krf_ndtri_split_f32
// ndtri of p, of which x = 2 p - 1 and y = 1 - |x| are given, both to their last digit: the result over x is a polynomial in w = -log(1 - x^2), or from
// 5.5 on, which one of 500 elements exceeds, in sqrt(w). The errors of the three polynomials: 2^-25, 2^-24 of the result, 2^-24 of w. For x from -1 to 1.
KRF_FN float krf_ndtri_split_f32(float x, float y) {
    unsigned bits = krf_pre_bits_f32(y * (2.0f - y)) - 0x3f3504f3u; // about sqrt(1 / 2)
    float e = (float)((int)bits >> 23), f = krf_pre_unbits_f32((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float l = -0x1.a2c88ap-4f;
    l = KRF_F32(fma)(l, f, 0x1.4a924p-3f);
    l = KRF_F32(fma)(l, f, -0x1.5f9408p-3f);
    l = KRF_F32(fma)(l, f, 0x1.97c2fep-3f);
    l = KRF_F32(fma)(l, f, -0x1.ff9a26p-3f);
    l = KRF_F32(fma)(l, f, 0x1.5558e4p-2f);
    l = KRF_F32(fma)(KRF_F32(fma)(l, f, -0.5f), f * f, f);
    float w = KRF_F32(fma)(e, -0x1.62e43p-1f, -l), t = w - 1.5f;
    float a = -0x1.66beb4p-27f;
    a = KRF_F32(fma)(a, t, 0x1.12ab6cp-23f);
    a = KRF_F32(fma)(a, t, -0x1.1c04b4p-26f);
    a = KRF_F32(fma)(a, t, -0x1.f75a78p-18f);
    a = KRF_F32(fma)(a, t, 0x1.119eacp-15f);
    a = KRF_F32(fma)(a, t, 0x1.07696ap-12f);
    a = KRF_F32(fma)(a, t, -0x1.83c9a6p-9f);
    a = KRF_F32(fma)(a, t, 0x1.4626b8p-10f);
    a = KRF_F32(fma)(a, t, 0x1.6a903cp-2f);
    a = KRF_F32(fma)(a, t, 0x1.c54ba8p+0f);
#ifdef __CUDACC__
    if (w >= 5.5f) {
        a = krf_ndtri_split_far(w);
    }
    return x * a;
#else
    float b = krf_ndtri_split_far(w); // branch-free, for vectors
    return x * (w >= 5.5f ? b : a);
#endif
}

//@ krf_ndtri_split_f64
KRF_FN double krf_ndtri_split_f64(double x, double y) { return krf_ndtri_f64(x < 0 ? 0.5 * y : 1.0 - 0.5 * y); }
