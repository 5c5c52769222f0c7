// The device side of CUDA C++ for the host compiler, as far as generated kernels use it. The double of NVRTC includes
// this before each kernel and ends the text with one FAKECUDA_KERNEL a kernel and FAKECUDA_IMAGE. No system headers:
// they would cost more than the kernel. A function that is missing here is a compile error that names it.
#ifndef FAKECUDA_CUDASIM_H
#define FAKECUDA_CUDASIM_H

#include "image.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define warpSize 32
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __restrict__ __restrict
// One copy of the image runs one block at a time, so that static is per block. The section tells what to poison.
#define __shared__ static __attribute__((section("fakecuda_shared")))

static const fakecuda_runtime *fakecuda_calls;

#define threadIdx (fakecuda_calls->here()->thread)
#define blockIdx (fakecuda_calls->here()->block)
#define blockDim (fakecuda_calls->here()->block_dim)
#define gridDim (fakecuda_calls->here()->grid_dim)

#define __syncthreads() fakecuda_calls->barrier(__LINE__)
// Both arrivals order what was written before: that a relaxed one does not is not simulated.
#define __cluster_barrier_arrive() fakecuda_calls->cluster_arrive(__LINE__)
#define __cluster_barrier_arrive_relaxed() fakecuda_calls->cluster_arrive(__LINE__)
#define __cluster_barrier_wait() fakecuda_calls->cluster_wait(__LINE__)
#define __grid_dependency_wait() fakecuda_calls->grid_wait()
#define __cluster_map_shared_rank(at, rank) fakecuda_calls->map_shared(at, rank, __LINE__)
#define __threadfence() fakecuda_calls->fence()
#define __threadfence_block() fakecuda_calls->fence()
#define atomicInc(at, limit) fakecuda_calls->atomic_inc(at, limit)
#define __shfl_down_sync(mask, value, delta) fakecuda_shuffle_down(mask, value, delta, __LINE__)
#define __shfl_sync(mask, value, lane) fakecuda_shuffle_down(mask, value, (unsigned)(lane) % 32 - fakecuda_lane(), __LINE__)
#define __shfl_xor_sync(mask, value, lanes) fakecuda_shuffle_down(mask, value, (fakecuda_lane() ^ (unsigned)(lanes)) - fakecuda_lane(), __LINE__)
#define __shfl_up_sync(mask, value, delta) fakecuda_shuffle_down(mask, value, fakecuda_lane() < (unsigned)(delta) ? 0 : 0 - (unsigned)(delta), __LINE__)
#define __syncwarp(...) fakecuda_sync_warp(__LINE__ __VA_OPT__(, ) __VA_ARGS__)
#define __ballot_sync(mask, value) fakecuda_ballot(mask, (value) != 0, __LINE__)
#define __any_sync(mask, value) (fakecuda_ballot(mask, (value) != 0, __LINE__) != 0)
#define __all_sync(mask, value) (fakecuda_ballot(mask, (value) == 0, __LINE__) == 0)

typedef decltype(sizeof 0) size_t;

#define FAKECUDA_VECTOR2(type, name, alignment) \
    struct alignas(alignment) name { \
        type x, y; \
    }; \
    static inline name make_##name(type x, type y) { return {x, y}; }
#define FAKECUDA_VECTOR3(type, name, alignment) \
    struct alignas(alignment) name { \
        type x, y, z; \
    }; \
    static inline name make_##name(type x, type y, type z) { return {x, y, z}; }
#define FAKECUDA_VECTOR4(type, name, alignment) \
    struct alignas(alignment) name { \
        type x, y, z, w; \
    }; \
    static inline name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }
FAKECUDA_VECTOR2(unsigned, uint2, 8)
FAKECUDA_VECTOR3(unsigned, uint3, 4)
FAKECUDA_VECTOR4(unsigned, uint4, 16)
FAKECUDA_VECTOR2(int, int2, 8)
FAKECUDA_VECTOR3(int, int3, 4)
FAKECUDA_VECTOR4(int, int4, 16)
FAKECUDA_VECTOR2(float, float2, 8)
FAKECUDA_VECTOR3(float, float3, 4)
FAKECUDA_VECTOR4(float, float4, 16)
FAKECUDA_VECTOR2(double, double2, 16)
FAKECUDA_VECTOR3(double, double3, 8)
FAKECUDA_VECTOR2(unsigned char, uchar2, 2)
FAKECUDA_VECTOR4(unsigned char, uchar4, 4)
FAKECUDA_VECTOR2(long long, longlong2, 16)

template <class To, class From> static inline To fakecuda_bits(From from) {
    static_assert(sizeof(To) >= sizeof(From), "bits would be lost");
    To to = To();
    __builtin_memcpy(&to, &from, sizeof from);
    return to;
}

// Atomics order nothing, as on the device.
template <class T, class F> static inline T fakecuda_update(T *at, F next) {
    T old;
    __atomic_load(at, &old, __ATOMIC_RELAXED);
    for (;;) {
        T value = next(old);
        if (__atomic_compare_exchange(at, &old, &value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            return old;
        }
    }
}
#define FAKECUDA_ATOMIC(name, T, expression) \
    static inline T name(T *at, T value) { \
        return fakecuda_update(at, [=](T old) -> T { return expression; }); \
    }
#define FAKECUDA_ATOMICS(T) \
    FAKECUDA_ATOMIC(atomicMin, T, value < old ? value : old) \
    FAKECUDA_ATOMIC(atomicMax, T, value > old ? value : old) \
    FAKECUDA_ATOMIC(atomicAnd, T, old & value) \
    FAKECUDA_ATOMIC(atomicOr, T, old | value) \
    FAKECUDA_ATOMIC(atomicXor, T, old ^ value) \
    FAKECUDA_ATOMIC(atomicExch, T, value) \
    static inline T atomicCAS(T *at, T compare, T value) { \
        return fakecuda_update(at, [=](T old) -> T { return old == compare ? value : old; }); \
    }
FAKECUDA_ATOMICS(int)
FAKECUDA_ATOMICS(unsigned)
FAKECUDA_ATOMICS(unsigned long long)
static inline unsigned atomicAdd(unsigned *at, unsigned value) { return fakecuda_calls->atomic_add(at, value); }
FAKECUDA_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
FAKECUDA_ATOMIC(atomicAdd, unsigned long long, old + value)
FAKECUDA_ATOMIC(atomicAdd, float, old + value)
FAKECUDA_ATOMIC(atomicAdd, double, old + value)
FAKECUDA_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
FAKECUDA_ATOMIC(atomicSub, unsigned, old - value)
FAKECUDA_ATOMIC(atomicExch, float, value)
FAKECUDA_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)

static inline unsigned fakecuda_lane() {
    const fakecuda_thread *me = fakecuda_calls->here();
    return (me->thread.x + me->block_dim.x * (me->thread.y + me->block_dim.y * me->thread.z)) % 32;
}

/* delta may wrap around to threads before this one. */
template <class T> static inline T fakecuda_shuffle_down(unsigned mask, T value, unsigned delta, int line) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles 4 or 8 bytes");
    unsigned long long bits = fakecuda_bits<unsigned long long>(value);
    bits = fakecuda_calls->shuffle_down(mask, bits, delta, line);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void fakecuda_sync_warp(int line, unsigned mask = 0xffffffffu) { fakecuda_calls->shuffle_down(mask, 0, 0, line); }

static inline unsigned fakecuda_ballot(unsigned mask, bool value, int line) {
    const fakecuda_thread *me = fakecuda_calls->here();
    const unsigned threads = me->block_dim.x * me->block_dim.y * me->block_dim.z, lane = fakecuda_lane();
    const unsigned index = me->thread.x + me->block_dim.x * (me->thread.y + me->block_dim.y * me->thread.z), there = threads - (index - lane);
    unsigned bits = 0;
    for (unsigned i = 0; i < 32; i++) {
        const unsigned long long other = fakecuda_calls->shuffle_down(mask, value, i - lane, line);
        bits |= i < there && (mask >> i & 1) != 0 && other != 0 ? 1u << i : 0;
    }
    return bits;
}

template <class T> static inline T __ldg(const T *at) { return *at; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
#define FAKECUDA_EXTREMES(T) \
    static inline T min(T a, T b) { return b < a ? b : a; } \
    static inline T max(T a, T b) { return a < b ? b : a; }
FAKECUDA_EXTREMES(int)
FAKECUDA_EXTREMES(unsigned)
FAKECUDA_EXTREMES(long)
FAKECUDA_EXTREMES(unsigned long)
FAKECUDA_EXTREMES(long long)
FAKECUDA_EXTREMES(unsigned long long)
FAKECUDA_EXTREMES(float)
FAKECUDA_EXTREMES(double)

// Vector accesses must be aligned to their size on the device.
template <class T> static inline void fakecuda_check(const T *at, int line) {
    if ((unsigned long)at % sizeof(T) != 0) {
        fakecuda_calls->misaligned(at, line);
    }
}
template <class T> static inline T __ldcs(const T *at, int line = __builtin_LINE()) {
    fakecuda_check(at, line);
    return *at;
}
template <class T> static inline void __stcs(T *at, T value, int line = __builtin_LINE()) {
    fakecuda_check(at, line);
    *at = value;
}

static inline float __int_as_float(int bits) { return fakecuda_bits<float>(bits); }
static inline double __longlong_as_double(long long bits) { return fakecuda_bits<double>(bits); }

static inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; i++) {
        reversed |= (x >> i & 1) << (31 - i);
    }
    return reversed;
}

// Four products of bytes, and what they come to: signed ones, or unsigned ones.
static inline int __dp4a(int a, int b, int sum) {
    for (int i = 0; i < 32; i += 8) {
        sum += (signed char)(a >> i) * (signed char)(b >> i);
    }
    return sum;
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 32; i += 8) {
        sum += (a >> i & 255u) * (b >> i & 255u);
    }
    return sum;
}

// Bytes of two words, by the digits of `which`.
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned which) {
    const unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned bytes = 0;
    for (int i = 0; i < 4; i++) {
        bytes |= (unsigned)(both >> (which >> 4 * i & 7u) * 8 & 255u) << 8 * i;
    }
    return bytes;
}

// Both halves of a word compared alone.
#define FAKECUDA_HALVES(name, half, better) \
    static inline unsigned name(unsigned a, unsigned b) { \
        const half lower = (half)a better (half)b ? (half)a : (half)b, upper = (half)(a >> 16) better (half)(b >> 16) ? (half)(a >> 16) : (half)(b >> 16); \
        return (unsigned)(unsigned short)upper << 16 | (unsigned short)lower; \
    }
FAKECUDA_HALVES(__vmaxu2, unsigned short, >)
FAKECUDA_HALVES(__vminu2, unsigned short, <)
FAKECUDA_HALVES(__vmaxs2, short, >)
FAKECUDA_HALVES(__vmins2, short, <)

#define FAKECUDA_MATH1(name) \
    extern "C" double name(double) noexcept; \
    extern "C" float name##f(float) noexcept;
#define FAKECUDA_MATH2(name) \
    extern "C" double name(double, double) noexcept; \
    extern "C" float name##f(float, float) noexcept;
// clang-format off
FAKECUDA_MATH1(fabs)
FAKECUDA_MATH1(sqrt)
FAKECUDA_MATH1(floor)
FAKECUDA_MATH1(ceil)
FAKECUDA_MATH1(rint)
FAKECUDA_MATH1(trunc)
FAKECUDA_MATH1(exp)
FAKECUDA_MATH1(exp2)
FAKECUDA_MATH1(expm1)
FAKECUDA_MATH1(log)
FAKECUDA_MATH1(log2)
FAKECUDA_MATH1(log10)
FAKECUDA_MATH1(log1p)
FAKECUDA_MATH1(sin)
FAKECUDA_MATH1(cos)
FAKECUDA_MATH1(tan)
FAKECUDA_MATH1(asin)
FAKECUDA_MATH1(acos)
FAKECUDA_MATH1(atan)
FAKECUDA_MATH1(sinh)
FAKECUDA_MATH1(cosh)
FAKECUDA_MATH1(tanh)
FAKECUDA_MATH1(asinh)
FAKECUDA_MATH1(acosh)
FAKECUDA_MATH1(atanh)
FAKECUDA_MATH1(erf)
FAKECUDA_MATH1(erfc)
FAKECUDA_MATH1(j0)
FAKECUDA_MATH1(j1)
FAKECUDA_MATH2(pow)
FAKECUDA_MATH2(atan2)
FAKECUDA_MATH2(hypot)
FAKECUDA_MATH2(fmod)
FAKECUDA_MATH2(copysign)
FAKECUDA_MATH2(nextafter)
// clang-format on
FAKECUDA_MATH2(fmin)
FAKECUDA_MATH2(fmax)
extern "C" int printf(const char *, ...);
extern "C" int abs(int) noexcept;
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;

// What CUDA's library has beyond the host's: in long double, and plainly, for few elements are computed here.
extern "C" long double cbrtl(long double) noexcept, exp10l(long double) noexcept, sinl(long double) noexcept, cosl(long double) noexcept, erfl(long double) noexcept, erfcl(long double) noexcept,
    fmodl(long double, long double) noexcept, sqrtl(long double) noexcept;
static inline long double fakecuda_half_turns(long double x, bool cosine) {
    const long double pi = 3.14159265358979323846264338327950288L;
    long double rest = fmodl(x, 2); // exact
    rest = rest > 1 ? rest - 2 : rest < -1 ? rest + 2 : rest;
    if (cosine) {
        long double size = rest < 0 ? -rest : rest;
        return size == 0.5L ? 0 : size < 0.25L ? cosl(pi * size) : sinl(pi * (0.5L - size));
    }
    bool back = rest > 0.5L || rest < -0.5L;
    long double near = back ? (rest > 0 ? 1 - rest : -1 - rest) : rest;
    return rest == 1 || rest == -1 || rest == 0 ? (__builtin_signbit(x) ? -0.0L : 0.0L) : sinl(pi * near);
}
static inline long double fakecuda_erfinv(long double x) {
    long double low = 0, high = 7, target = __builtin_fabsl(x);
    if (!(target < 1)) {
        return target == 1 ? x * __builtin_infl() : __builtin_nanl("");
    }
    for (int i = 0; i < 110 && target > 1e-12L; i++) {
        long double middle = low + (high - low) / 2;
        bool above = target < 0.5L ? erfl(middle) > target : erfcl(middle) < 1 - target;
        (above ? high : low) = middle;
    }
    low = target > 1e-12L ? low : target * 0.886226925452758013649083741670572591L;
    return __builtin_signbit(x) ? -low : low;
}
#define FAKECUDA_OWN(name, expression) \
    static inline double name(double x) { return (double)(expression); } \
    static inline float name##f(float x) { return (float)(expression); }
FAKECUDA_OWN(exp10, exp10l((long double)x)) // the host's own is not exact at whole numbers
FAKECUDA_OWN(cbrt, cbrtl((long double)x))
FAKECUDA_OWN(sinpi, fakecuda_half_turns((long double)x, false))
FAKECUDA_OWN(cospi, fakecuda_half_turns((long double)x, true))
FAKECUDA_OWN(erfinv, fakecuda_erfinv((long double)x))
FAKECUDA_OWN(rsqrt, 1 / sqrtl((long double)x))
// The processor's approximations: here without their errors.
static inline float __expf(float x) { return expf(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __log10f(float x) { return log10f(x); }
static inline float __fdividef(float x, float y) { return x / y; }

// ---- the image
// ------------------------------------------------------------------------------------------------------

template <auto F> struct fakecuda_entry;
template <class... A, void (*F)(A...)> struct fakecuda_entry<F> {
    static_assert((sizeof(A) + ... + 0) <= 32764, "more argument bytes than CUDA has");
    static constexpr unsigned count = sizeof...(A);
    static constexpr unsigned bytes[count + 1] = {sizeof(A)...};
    struct run {
        run(A... a) { F(a...); }
    };
    static void call(void *const *arguments) { run{*static_cast<A *>(*arguments++)...}; }
};

// Both are the linker's, of the section's ends; absent where nothing is shared.
extern "C" __attribute__((weak, visibility("hidden"))) char __start_fakecuda_shared[], __stop_fakecuda_shared[];

#define FAKECUDA_KERNEL(name, cluster) \
    {#name, fakecuda_entry<name>::call, fakecuda_entry<name>::bytes, fakecuda_entry<name>::count, cluster},
#define FAKECUDA_IMAGE(n_kernels, waits, dynamic) \
    extern "C" __attribute__((visibility("default"))) const struct fakecuda_image fakecuda_image_2 = { \
        n_kernels, waits, fakecuda_kernels, &fakecuda_calls, __start_fakecuda_shared, __stop_fakecuda_shared, dynamic};

#endif
