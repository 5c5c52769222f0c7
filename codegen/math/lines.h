// Whole lines of memory, written past the caches: for C only. A line that is written in the usual way is read first, which takes a third of the bandwidth of a copy.
// Sections as in prelude.h.

//@ krf_put_lines
// `to` and `to` + bytes lie on borders of 64 bytes. Whoever hands the memory on calls krf_lines_done() first.
KRF_FN void krf_put_lines(void *to, const void *from, int bytes) {
#if defined(__clang__) && defined(__SSE2__)
    typedef float krf_vector __attribute__((vector_size(16)));
    typedef float krf_loose __attribute__((vector_size(16), may_alias, aligned(1)));
    for (int i = 0; i < bytes; i += 16) {
        __builtin_nontemporal_store((krf_vector)*(const krf_loose *)((const char *)from + i), (krf_vector *)((char *)to + i));
    }
#elif defined(__AVX512F__)
    typedef float krf_vector __attribute__((vector_size(64), may_alias, aligned(1)));
    for (int i = 0; i < bytes; i += 64) {
        __builtin_ia32_movntps512((float *)((char *)to + i), *(const krf_vector *)((const char *)from + i));
    }
#elif defined(__AVX__)
    typedef float krf_vector __attribute__((vector_size(32), may_alias, aligned(1)));
    for (int i = 0; i < bytes; i += 32) {
        __builtin_ia32_movntps256((float *)((char *)to + i), *(const krf_vector *)((const char *)from + i));
    }
#elif defined(__SSE2__)
    typedef float krf_vector __attribute__((vector_size(16), may_alias, aligned(1)));
    for (int i = 0; i < bytes; i += 16) {
        __builtin_ia32_movntps((float *)((char *)to + i), *(const krf_vector *)((const char *)from + i));
    }
#else
    __builtin_memcpy(to, from, (unsigned long)bytes);
#endif
}

//@ krf_lines_done
KRF_FN void krf_lines_done(void) {
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}
