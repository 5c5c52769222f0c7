// Inverse circular functions of f32 in f32 alone: within 1.7 ULP, in a quarter of the time of f64. Sections as in prelude.h.

//@ krf_arc_nearf
// atan(u) - u for abs(u) <= 1, polynomial error 2^-28 of the result.
KRF_FN float krf_arc_nearf(float u) {
    float z = u * u, z2 = z * z, z4 = z2 * z2;
    float p0 = __builtin_fmaf(z, 0x1.9991ecp-3f, -0x1.55553ep-2f);
    float p1 = __builtin_fmaf(z, 0x1.c0946cp-4f, -0x1.24211ap-3f);
    float p2 = __builtin_fmaf(z, 0x1.da9c2ep-5f, -0x1.5825f2p-4f);
    float p3 = __builtin_fmaf(z, 0x1.6551e2p-7f, -0x1.fe7d24p-6f);
    p3 = __builtin_fmaf(z2, -0x1.d5a1aap-10f, p3);
    p0 = __builtin_fmaf(z2, p1, p0);
    p2 = __builtin_fmaf(z2, p3, p2);
    return u * z * __builtin_fmaf(z4, p2, p0);
}

//@ krf_atanf
// Beyond 1 as pi / 2 and the angle of -1 / x, the smallest parts first.
KRF_FN float krf_atanf(float x) {
    float y = __builtin_fabsf(x);
    int far = y > 1.0f;
    float u = far ? -1.0f / y : y, p = krf_arc_nearf(u);
    float v = far ? 0x1.921fb6p+0f + (u + (p - 0x1.777a5cp-25f)) : u + p;
    return krf_unbits_f32(krf_bits_f32(v) | (krf_bits_f32(x) & 0x80000000u));
}

//@ krf_atan2f
// The angle of the smaller operand over the larger one, taken from, or added to, that of the nearest axis.
KRF_FN float krf_atan2f(float y, float x) {
    float a = __builtin_fabsf(y), b = __builtin_fabsf(x);
    int steep = a > b, left = (krf_bits_f32(x) >> 31) != 0;
    float most = steep ? a : b, least = steep ? b : a;
    float u = least / (most == 0.0f ? 1.0f : most);
    u = least == krf_unbits_f32(0x7f800000u) ? 1.0f : u; // both are infinite
    float p = krf_arc_nearf(u);
    unsigned turned = steep == left ? 0 : 0x80000000u;
    u = krf_unbits_f32(krf_bits_f32(u) ^ turned), p = krf_unbits_f32(krf_bits_f32(p) ^ turned);
    float axis = left ? 0x1.921fb6p+1f : 0.0f, axis_low = left ? -0x1.777a5cp-24f : 0.0f;
    axis = steep ? 0x1.921fb6p+0f : axis, axis_low = steep ? -0x1.777a5cp-25f : axis_low;
    float v = axis + (u + (p + axis_low));
    v = krf_unbits_f32((krf_bits_f32(v) & 0x7fffffffu) | (krf_bits_f32(y) & 0x80000000u));
    return ((x != x) | (y != y)) ? x + y : v;
}

//@ krf_asin_nearf
// asin(s) - s for 0 <= s <= 1/2, z = s * s; polynomial error 2^-27.6 of the result.
KRF_FN float krf_asin_nearf(float s, float z) {
    float z2 = z * z;
    float p0 = __builtin_fmaf(z, 0x1.3301fep-4f, 0x1.5555c8p-3f);
    float p1 = __builtin_fmaf(z, 0x1.8c30b4p-6f, 0x1.747cbep-5f);
    p1 = __builtin_fmaf(z2, 0x1.596a7ep-5f, p1);
    return s * z * __builtin_fmaf(z2, p1, p0);
}

//@ krf_asinf
// Beyond 1/2 as pi / 2 less twice the angle whose sine is sqrt((1 - x) / 2).
KRF_FN float krf_asinf(float x) {
    float y = __builtin_fabsf(x), w = __builtin_fmaf(-0.5f, y, 0.5f);
    int near = y <= 0.5f;
    float s = near ? y : __builtin_sqrtf(w), p = krf_asin_nearf(s, near ? y * y : w);
    float v = near ? s + p : 0x1.921fb6p+0f - 2.0f * (s + (p + 0x1.777a5cp-26f));
    return krf_unbits_f32(krf_bits_f32(v) | (krf_bits_f32(x) & 0x80000000u));
}

//@ krf_acosf
// pi / 2 less the arc sine; beyond 1/2 twice the angle of krf_asinf, or pi less that.
KRF_FN float krf_acosf(float x) {
    float y = __builtin_fabsf(x), w = __builtin_fmaf(-0.5f, y, 0.5f);
    int near = y <= 0.5f, left = x < 0.0f;
    float s = near ? x : __builtin_sqrtf(w), p = krf_asin_nearf(s, near ? y * y : w);
    float base = left ? 0x1.921fb6p+1f : 0.0f, low = left ? -0x1.777a5cp-24f : 0.0f, factor = left ? -2.0f : 2.0f;
    base = near ? 0x1.921fb6p+0f : base, low = near ? -0x1.777a5cp-25f : low, factor = near ? -1.0f : factor;
    return base + __builtin_fmaf(factor, s, __builtin_fmaf(factor, p, low));
}
