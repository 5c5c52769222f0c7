// What blocks of a kernel tell one another while they run: words in memory that are written and read as they are, and past the caches of multiprocessors. Sections as in prelude.h.

//@ krf_say
// A word that other blocks wait for, and that tells them all there is to know.
KRF_FN void krf_say(unsigned long long *at, unsigned long long word) {
#ifdef __CUDACC__
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(word) : "memory");
#else
    __atomic_store_n(at, word, __ATOMIC_RELAXED);
#endif
}

//@ krf_hear
KRF_FN unsigned long long krf_hear(const unsigned long long *at) {
#ifdef __CUDACC__
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

//@ krf_said
// What two such words tell: half of a value each, beside the state. Where that is not the same in both, one of them is on its way: then nothing is known.
struct krf_said {
    unsigned state;
    unsigned long long bits;
};

//@ krf_say_halves
KRF_FN void krf_say_halves(unsigned long long *at, unsigned state, unsigned long long bits) {
    krf_say(at, (unsigned long long)state << 32 | (unsigned)bits);
    krf_say(at + 1, (unsigned long long)state << 32 | bits >> 32);
}

//@ krf_hear_halves
KRF_FN struct krf_said krf_hear_halves(const unsigned long long *at) {
    const unsigned long long low = krf_hear(at), high = krf_hear(at + 1);
    const unsigned state = (unsigned)(low >> 32);
    return {state == (unsigned)(high >> 32) ? state : 0u, high << 32 | (unsigned)low};
}

//@ krf_publish
// A word that other blocks wait for; what this thread wrote before is there when they see it.
KRF_FN void krf_publish(unsigned *at, unsigned value) {
#ifdef __CUDACC__
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

//@ krf_forget
// Such a word is 0 again: as it was written by other blocks, and read by them, no plain store.
KRF_FN void krf_forget(unsigned *at) {
#ifdef __CUDACC__
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(0u) : "memory");
#else
    __atomic_store_n(at, 0u, __ATOMIC_RELAXED);
#endif
}

//@ krf_observe
// Such a word, as it is now; several may be on their way at once. What was written before it is there after a __threadfence().
KRF_FN unsigned krf_observe(const unsigned *at) {
#ifdef __CUDACC__
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}
