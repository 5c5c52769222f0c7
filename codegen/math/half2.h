// Pairs of f16 or bf16 in one word, the first in the lower half: a GPU adds and multiplies both at once, rounding as f32 that is rounded again does. Sections as in
// prelude.h; for kernels on a GPU only.

//@ krf_low_f16
KRF_FN float krf_low_f16(unsigned pair) {
#ifdef __CUDA_ARCH__
    float x;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }" : "=f"(x) : "r"(pair));
    return x;
#else
    return krf_load_f16((unsigned short)(pair & 0xffffu));
#endif
}

//@ krf_high_f16
KRF_FN float krf_high_f16(unsigned pair) {
#ifdef __CUDA_ARCH__
    float x;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }" : "=f"(x) : "r"(pair));
    return x;
#else
    return krf_load_f16((unsigned short)(pair >> 16));
#endif
}

//@ krf_low_bf16
KRF_FN float krf_low_bf16(unsigned pair) { return krf_pre_unbits_f32(pair << 16); }

//@ krf_high_bf16
KRF_FN float krf_high_bf16(unsigned pair) { return krf_pre_unbits_f32(pair & 0xffff0000u); }

//@ krf_twin
KRF_FN unsigned krf_twin(unsigned short bits) {
#ifdef __CUDA_ARCH__
    unsigned pair;
    asm("mov.b32 %0, {%1, %1};" : "=r"(pair) : "h"(bits));
    return pair;
#else
    return bits * 0x10001u;
#endif
}

//@ krf_pack_f16
KRF_FN unsigned krf_pack_f16(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return krf_store_f16(low) | (unsigned)krf_store_f16(high) << 16;
#endif
}

//@ krf_pack_bf16
KRF_FN unsigned krf_pack_bf16(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return krf_store_bf16(low) | (unsigned)krf_store_bf16(high) << 16;
#endif
}

//@ krf_add_f16x2
KRF_FN unsigned krf_add_f16x2(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
    unsigned pair;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return krf_pack_f16(krf_low_f16(a) + krf_low_f16(b), krf_high_f16(a) + krf_high_f16(b));
#endif
}

//@ krf_subtract_f16x2
KRF_FN unsigned krf_subtract_f16x2(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
    unsigned pair;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return krf_pack_f16(krf_low_f16(a) - krf_low_f16(b), krf_high_f16(a) - krf_high_f16(b));
#endif
}

//@ krf_multiply_f16x2
KRF_FN unsigned krf_multiply_f16x2(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
    unsigned pair;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return krf_pack_f16(krf_low_f16(a) * krf_low_f16(b), krf_high_f16(a) * krf_high_f16(b));
#endif
}

//@ krf_add_bf16x2
// Before sm_90 a GPU has but the fused operation: a * 1 is exact.
KRF_FN unsigned krf_add_bf16x2(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(a), "r"(0x3f803f80u), "r"(b));
    return pair;
#else
    return krf_pack_bf16(krf_low_bf16(a) + krf_low_bf16(b), krf_high_bf16(a) + krf_high_bf16(b));
#endif
}

//@ krf_subtract_bf16x2
KRF_FN unsigned krf_subtract_bf16x2(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(b), "r"(0xbf80bf80u), "r"(a));
    return pair;
#else
    return krf_pack_bf16(krf_low_bf16(a) - krf_low_bf16(b), krf_high_bf16(a) - krf_high_bf16(b));
#endif
}

//@ krf_multiply_bf16x2
// A product of -0 plus -0 stays what it is, as any other.
KRF_FN unsigned krf_multiply_bf16x2(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(a), "r"(b), "r"(0x80008000u));
    return pair;
#else
    return krf_pack_bf16(krf_low_bf16(a) * krf_low_bf16(b), krf_high_bf16(a) * krf_high_bf16(b));
#endif
}

//@ krf_max_f16x2
KRF_FN unsigned krf_max_f16x2(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return krf_pack_f16(krf_maximum_f32(krf_low_f16(a), krf_low_f16(b)), krf_maximum_f32(krf_high_f16(a), krf_high_f16(b)));
#endif
}

//@ krf_min_f16x2
KRF_FN unsigned krf_min_f16x2(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return krf_pack_f16(krf_minimum_f32(krf_low_f16(a), krf_low_f16(b)), krf_minimum_f32(krf_high_f16(a), krf_high_f16(b)));
#endif
}

//@ krf_max_bf16x2
KRF_FN unsigned krf_max_bf16x2(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return krf_pack_bf16(krf_maximum_f32(krf_low_bf16(a), krf_low_bf16(b)), krf_maximum_f32(krf_high_bf16(a), krf_high_bf16(b)));
#endif
}

//@ krf_min_bf16x2
KRF_FN unsigned krf_min_bf16x2(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return krf_pack_bf16(krf_minimum_f32(krf_low_bf16(a), krf_low_bf16(b)), krf_minimum_f32(krf_high_bf16(a), krf_high_bf16(b)));
#endif
}

//@ krf_above_f16x2
// A half of ones for each of a that is larger than that of b.
KRF_FN unsigned krf_above_f16x2(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
    unsigned larger;
    asm("set.gt.u32.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
    return larger;
#else
    return (krf_low_f16(a) > krf_low_f16(b) ? 0xffffu : 0u) | (krf_high_f16(a) > krf_high_f16(b) ? 0xffff0000u : 0u);
#endif
}

//@ krf_below_f16x2
KRF_FN unsigned krf_below_f16x2(unsigned a, unsigned b) { return krf_above_f16x2(b, a); }

//@ krf_above_bf16x2
KRF_FN unsigned krf_above_bf16x2(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    unsigned larger;
    asm("set.gt.u32.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
    return larger;
#else
    return (krf_low_bf16(a) > krf_low_bf16(b) ? 0xffffu : 0u) | (krf_high_bf16(a) > krf_high_bf16(b) ? 0xffff0000u : 0u);
#endif
}

//@ krf_below_bf16x2
KRF_FN unsigned krf_below_bf16x2(unsigned a, unsigned b) { return krf_above_bf16x2(b, a); }

//@ krf_any_nan_f16
KRF_FN bool krf_any_nan_f16(unsigned pair) { return krf_low_f16(pair) != krf_low_f16(pair) || krf_high_f16(pair) != krf_high_f16(pair); }

//@ krf_any_nan_bf16
KRF_FN bool krf_any_nan_bf16(unsigned pair) { return krf_low_bf16(pair) != krf_low_bf16(pair) || krf_high_bf16(pair) != krf_high_bf16(pair); }

//@ krf_pair_or
// A pair, of which what there is no bit for is that of `nothing`.
KRF_FN unsigned krf_pair_or(unsigned pair, unsigned bits, unsigned nothing) {
    const unsigned there = ((bits & 1) * 0xffffu) | ((bits >> 1 & 1) * 0xffff0000u);
    return (pair & there) | (nothing & ~there);
}

//@ krf_take_place
// Two more elements, and their number. The first of equal ones stays, and a NaN, with which nothing compares, leaves a NaN and no number of it.
template <auto larger, auto above> KRF_FN void krf_take_place(unsigned &best, unsigned &turn, unsigned pair, unsigned now) {
    const unsigned taken = above(pair, best);
    turn = (now & taken) | (turn & ~taken);
    best = larger(best, pair);
}

//@ krf_take_place_of_bytes
// Four more, each in the upper half of 16 bits, above a byte of its own that decides between equal ones.
template <auto larger> KRF_FN void krf_take_place_of_bytes(unsigned &lower, unsigned &upper, unsigned four, unsigned order) {
    lower = larger(lower, __byte_perm(four, order, 0x1504));
    upper = larger(upper, __byte_perm(four, order, 0x3726));
}

//@ krf_take_place_of_bytes_there
// Of these, those that there are bits for.
template <auto larger> KRF_FN void krf_take_place_of_bytes_there(unsigned &lower, unsigned &upper, unsigned four, unsigned order, unsigned bits, unsigned nothing) {
    lower = larger(lower, krf_pair_or(__byte_perm(four, order, 0x1504), bits, nothing));
    upper = larger(upper, krf_pair_or(__byte_perm(four, order, 0x3726), bits >> 2, nothing));
}

//@ krf_larger
template <typename T> KRF_FN T krf_larger(T a, T b) { return a > b ? a : b; }

//@ krf_smaller
template <typename T> KRF_FN T krf_smaller(T a, T b) { return a < b ? a : b; }

//@ krf_take_place_of_one
// One more element, and its number.
template <auto larger, typename T> KRF_FN void krf_take_place_of_one(T &best, unsigned &turn, T x, unsigned now, bool taken) {
    turn = taken ? now : turn;
    best = larger(best, x);
}
