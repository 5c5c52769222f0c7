// What only kernels on a GPU need. Sections as in prelude.h; inline PTX stands here, in tell.h, in half.h, in cast.h and in krf_maximum and krf_minimum, each time with a
// twin for the host's compiler, which compiles kernels for the simulated GPU (tests/fakecuda).

//@ krf_next_may_come
// Says that blocks of the kernel after this one may be there before this one has ended, so that they need not be sent for: they wait by themselves.
KRF_FN void krf_next_may_come(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

//@ krf_next_may_come_if_few
// The same in grids of few blocks. Of many, each that says so takes 1.2 ns of the whole GPU's time (H200): longer than those need that move 4 KiB.
KRF_FN void krf_next_may_come_if_few(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("{\n\t.reg .pred few;\n\tsetp.lt.u32 few, %0, 2048;\n\t@few griddepcontrol.launch_dependents;\n\t}" ::"r"(gridDim.x) : "memory");
#endif
}

//@ krf_wait_for_last
// Waits for all that the kernel before wrote, which may not have ended when this one's blocks are there already. Elsewhere kernels begin when they may.
KRF_FN void krf_wait_for_last(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#elif !defined(__CUDACC__)
    __grid_dependency_wait();
#endif
}

//@ krf_ticket
// The next number, which counts back to zero after the last one. Whoever takes a later one finds what was written before, also by threads with which there was a barrier:
// by a release and an acquire, which take less time than two fences.
KRF_FN unsigned krf_ticket(unsigned *at, unsigned last) {
    unsigned number;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(number) : "l"(at), "r"(last) : "memory");
#else
    __threadfence();
    number = atomicInc(at, last);
    __threadfence();
#endif
    return number;
}

//@ krf_opaque_f32
// Hides a value from constant folding: a compiler rounds functions of constants otherwise than the device does.
KRF_FN float krf_opaque_f32(float x) {
#ifdef __CUDACC__
    asm("" : "+f"(x));
    return x;
#else
    volatile float hidden = x;
    return hidden;
#endif
}

//@ krf_opaque_f64
KRF_FN double krf_opaque_f64(double x) {
#ifdef __CUDACC__
    asm("" : "+d"(x));
    return x;
#else
    volatile double hidden = x;
    return hidden;
#endif
}

//@ krf_cut_i8
// Results of 8 and 16 bits are computed in 32 and taken for any 32 bits before they are cut: ptxas 13.0 forgets to cut a 16-bit negation, also one that
// a subtraction or a product by -1 became, when its result is made wider (the lowest i16).
KRF_FN signed char krf_cut_i8(unsigned x) {
#ifdef __CUDACC__
    asm("" : "+r"(x));
#endif
    return (signed char)x;
}

//@ krf_cut_u8
KRF_FN unsigned char krf_cut_u8(unsigned x) {
#ifdef __CUDACC__
    asm("" : "+r"(x));
#endif
    return (unsigned char)x;
}

//@ krf_cut_i16
KRF_FN short krf_cut_i16(unsigned x) {
#ifdef __CUDACC__
    asm("" : "+r"(x));
#endif
    return (short)x;
}

//@ krf_cut_u16
KRF_FN unsigned short krf_cut_u16(unsigned x) {
#ifdef __CUDACC__
    asm("" : "+r"(x));
#endif
    return (unsigned short)x;
}

//@ krf_rounded_f32
// The lower bits of the nearest whole number, halves to the even one, of x within low and high, which have 16 bits; of NaN 0.
KRF_FN unsigned krf_rounded_f32(float x, float low, float high) {
    float inside = KRF_F32(fmin)(KRF_F32(fmax)(x, low), high);
    return x == x ? krf_bits_f32(inside + 0x1.8p23f) : 0u;
}

//@ krf_quotient_of_place
// i / n; m is krf__reciprocal(n) of plan/arguments.h.
KRF_FN int krf_quotient_of_place(int i, int n, unsigned m) {
    unsigned share = (unsigned)((unsigned long long)(unsigned)i * m >> 32);
    return (int)((share + (unsigned)i) >> (32 - __clz(n - 1)));
}

//@ krf_begin_one_by_one
// Of many more blocks than there is room for, `blocks` on each multiprocessor, those that come first begin one after the other, within so many cycles. Results do not depend on it.
KRF_FN void krf_begin_one_by_one(int blocks, int cluster, int cycles) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    unsigned processors;
    asm("mov.u32 %0, %%nsmid;" : "=r"(processors));
    const unsigned room = processors * (unsigned)blocks;
    if (blockIdx.x < room && gridDim.x >= 4 * room) {
        const long long begin = clock64(), wait = (long long)cycles * (blockIdx.x / (unsigned)cluster) / (room / (unsigned)cluster);
        while (clock64() - begin < wait) {
            __nanosleep(100);
        }
    }
#endif
}

//@ krf_copies_wait
// Until the thread's copies by krf_copy_later and krf_copy_part are there. Elsewhere than on a GPU too they are not there before; on a GPU before 8.0 at once.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
KRF_FN void krf_copies_wait(void) {}
#elif defined(__CUDACC__)
KRF_FN void krf_copies_wait(void) { asm volatile("cp.async.wait_all;" : : : "memory"); }
#else
struct krf_late_copy { void *to; const void *from; int bytes; };
static thread_local struct krf_late_copy krf_copies[4096]; // of all threads of a block, which may be one there
static thread_local int krf_copies_n;
KRF_FN void krf_copies_wait(void) {
    while (krf_copies_n > 0) {
        krf_copies_n--;
        __builtin_memcpy(krf_copies[krf_copies_n].to, krf_copies[krf_copies_n].from, krf_copies[krf_copies_n].bytes);
    }
}
static void krf_copy_noted(void *to, const void *from, int bytes) {
    if (krf_copies_n == 4096) {
        krf_copies_wait();
    }
    if (((unsigned long long)to | (unsigned long long)from) % (bytes == 16 ? 16 : 4) != 0) {
        __builtin_trap(); // as a GPU would end the kernel
    }
    krf_copies[krf_copies_n++] = {to, from, bytes};
}
#endif

//@ krf_copy_later
// 16 bytes from memory to shared memory, which are there once the thread has waited.
KRF_FN void krf_copy_later(void *to, const void *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    *(uint4 *)to = *(const uint4 *)from;
#elif defined(__CUDACC__)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#else
    krf_copy_noted(to, from, 16);
#endif
}

//@ krf_of_word
// What begins a word.
template <typename T> KRF_FN T krf_of_word(unsigned word) {
    T value;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
}

//@ krf_copy_part
// The same of what another block found, in words of four bytes, or of eight where its type lies at such.
template <typename T> KRF_FN void krf_copy_part(T *to, const unsigned long long *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (int i = 0; i < (int)(sizeof(T) / 4); i++) {
        ((unsigned *)to)[i] = ((volatile const unsigned *)from)[i];
    }
#elif defined(__CUDACC__)
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (alignof(T) < 8) {
        for (unsigned i = 0; i < sizeof(T); i += 4) {
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(at + i), "l"((const char *)from + i) : "memory");
        }
    } else {
        for (unsigned i = 0; i < sizeof(T); i += 8) {
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(at + i), "l"((const char *)from + i) : "memory");
        }
    }
#else
    krf_copy_noted(to, from, (int)sizeof(T));
#endif
}

//@ krf_copy_row_word
// The same of an aligned word of which elements before `first` and from `end` on are anything, if not all are such. A GPU copies it whole; elsewhere what lies beside is not touched, for it may be no memory.
template <typename E> KRF_FN void krf_copy_row_word(uint4 *to, const E *from, const E *first, const E *end) {
#ifdef __CUDACC__
    krf_copy_later(to, from);
#else
    enum { V = 16 / sizeof(E) };
    if (from >= first && from + V <= end) {
        krf_copy_later(to, from);
        return;
    }
    for (int i = 0; i < V; i++) {
        if (from + i >= first && from + i < end) {
            ((E *)to)[i] = from[i];
        }
    }
#endif
}

//@ krf_at_hand
// An address that is computed once, here: compilers would compute it anew in each branch that takes it, out of constants that are loaded there.
template <typename T> KRF_FN const T *krf_at_hand(const T *at) {
#ifdef __CUDACC__
    asm("" : "+l"(at));
    __builtin_assume(__isGlobal(at));
#endif
    return at;
}

//@ krf_fetch_ahead
// The line of memory around a place that someone will read.
KRF_FN void krf_fetch_ahead(const void *at) {
#ifdef __CUDACC__
    asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
#else
    (void)at;
#endif
}

//@ krf_there
// A bit for each of 32 elements from number `first` on and before number `last`.
KRF_FN unsigned krf_there(int first, int last) { return (first > 0 ? ~0u << first : ~0u) & (last >= 32 ? ~0u : last > 0 ? ~(~0u << last) : 0); }

//@ krf_bytes_there
// A byte of ones for each of the lowest four bits.
KRF_FN int krf_bytes_there(unsigned bits) { return (int)(((bits & 15) * 0x00204081u & 0x01010101u) * 255u); }

//@ krf_bytes_or
// Four bytes, of which those for which there is no bit are such of `nothing`.
KRF_FN unsigned krf_bytes_or(unsigned bytes, unsigned bits, unsigned nothing) {
    const unsigned there = (unsigned)krf_bytes_there(bits);
    return (bytes & there) | (nothing & ~there);
}

//@ krf_take_bytes
// Four more bytes of which the largest or smallest is wanted. From compute capability 9.0 on a GPU compares halves of words, of which the upper bytes decide: those of the word, and those below; before, whole words.
template <auto tops> KRF_FN void krf_take_bytes(unsigned &upper, unsigned &lower, unsigned word) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    upper = tops(tops(upper, word), word << 8);
    lower = tops(tops(lower, word << 16), word << 24);
#else
    upper = tops(upper, word);
    lower = tops(lower, word << 8);
#endif
}

//@ krf_top_of_bytes
// Which it is.
template <auto tops> KRF_FN unsigned char krf_top_of_bytes(unsigned a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    return (unsigned char)(a >> 24);
#else
    return (unsigned char)(tops(a, a << 16) >> 24);
#endif
}

//@ krf_take_bools
// The same of bools, which are 0 or 1: all four at once.
template <auto tops> KRF_FN void krf_take_bools(unsigned &some, unsigned &, unsigned word) { some = tops(some, word); }

//@ krf_top_of_bools
template <auto tops> KRF_FN unsigned char krf_top_of_bools(unsigned a) {
    const unsigned halves = tops(a, a << 16);
    return (unsigned char)(tops(halves, halves << 8) >> 24);
}

//@ krf_max_u8_tops
KRF_FN unsigned krf_max_u8_tops(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    return (unsigned)a > (unsigned)b ? a : b;
#else
    return __vmaxu2(a, b);
#endif
}

//@ krf_min_u8_tops
KRF_FN unsigned krf_min_u8_tops(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    return (unsigned)a < (unsigned)b ? a : b;
#else
    return __vminu2(a, b);
#endif
}

//@ krf_max_i8_tops
KRF_FN unsigned krf_max_i8_tops(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    return (int)a > (int)b ? a : b;
#else
    return __vmaxs2(a, b);
#endif
}

//@ krf_min_i8_tops
KRF_FN unsigned krf_min_i8_tops(unsigned a, unsigned b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    return (int)a < (int)b ? a : b;
#else
    return __vmins2(a, b);
#endif
}

//@ krf_any_tops
KRF_FN unsigned krf_any_tops(unsigned a, unsigned b) { return a | b; }

//@ krf_all_tops
KRF_FN unsigned krf_all_tops(unsigned a, unsigned b) { return a & b; }

//@ krf_between
// As many bytes as a word has, from byte `bytes` on of two that follow one another.
KRF_FN unsigned short krf_between(unsigned short low, unsigned short high, unsigned bytes) { return (unsigned short)(((unsigned)high << 16 | low) >> 8 * bytes); }
KRF_FN unsigned krf_between(unsigned low, unsigned high, unsigned bytes) { return (unsigned)(((unsigned long long)high << 32 | low) >> 8 * bytes); }
KRF_FN uint2 krf_between(uint2 low, uint2 high, unsigned bytes) {
    const bool half = (bytes & 4) != 0;
    const unsigned first = half ? low.y : low.x, second = half ? high.x : low.y, third = half ? high.y : high.x;
    return uint2{krf_between(first, second, bytes & 3), krf_between(second, third, bytes & 3)};
}
KRF_FN uint4 krf_between(uint4 low, uint4 high, unsigned bytes) {
    const bool half = (bytes & 8) != 0, one = (bytes & 4) != 0;
    const unsigned a = half ? low.z : low.x, b = half ? low.w : low.y, c = half ? high.x : low.z, d = half ? high.y : low.w, e = half ? high.z : high.x, f = half ? high.w : high.y;
    const unsigned v = one ? b : a, w = one ? c : b, x = one ? d : c, y = one ? e : d, z = one ? f : e;
    return uint4{krf_between(v, w, bytes & 3), krf_between(w, x, bytes & 3), krf_between(x, y, bytes & 3), krf_between(y, z, bytes & 3)};
}

//@ krf_filled
// A word of which all elements, of one or two bytes, are the same.
template <typename T, typename E> KRF_FN T krf_filled(E element) {
    union { T word; unsigned four[sizeof(T) < 4 ? 1 : sizeof(T) / 4]; } all;
    const unsigned four = sizeof(E) == 1 ? (unsigned)(unsigned char)element * 0x01010101u : (unsigned)(unsigned short)element * 0x10001u;
    #pragma unroll
    for (int i = 0; i < (int)(sizeof all.four / 4); i++) {
        all.four[i] = four;
    }
    return all.word;
}

//@ krf_beside
// How many bytes an element lies within its word.
template <typename T> KRF_FN unsigned krf_beside(const void *at) { return (unsigned)((unsigned long long)at % sizeof(T)); }

//@ krf_row_word
// An aligned word of which elements before `first` and from `end` on are anything, if not all are such. A GPU reads it whole; elsewhere what lies beside is not touched, for it may be no memory.
template <typename T, typename E> KRF_FN T krf_row_word(const E *at, const E *first, const E *end) {
#ifdef __CUDACC__
    return __ldcs((const T *)at);
#else
    if (at >= first && at + sizeof(T) / sizeof(E) <= end) {
        return __ldcs((const T *)at);
    }
    T word = {};
    for (int i = 0; i < (int)sizeof(T); i++) {
        const char *byte = (const char *)at + i;
        if (byte >= (const char *)first && byte < (const char *)end) {
            ((char *)&word)[i] = *byte;
        }
    }
    return word;
#endif
}

//@ krf_words
// Two aligned words that follow one another, or one twice, and how many bytes from the first one's begin on a word is wanted.
template <typename T> struct krf_words {
    T low, high;
    unsigned beside;
};

//@ krf_words_around
// Those in which n elements lie that begin at any. Others read these too.
template <typename T, typename E> KRF_FN krf_words<T> krf_words_around(const E *at, int n) {
    const unsigned beside = krf_beside<T>(at);
    const char *low = (const char *)at - beside, *high = beside > 0 ? low + sizeof(T) : low;
#ifdef __CUDACC__
    (void)n;
    return krf_words<T>{*(const T *)low, *(const T *)high, beside};
#else
    return krf_words<T>{krf_row_word<T>((const E *)low, at, at + n), krf_row_word<T>((const E *)high, at, at + n), beside};
#endif
}

//@ krf_word_of
template <typename T> KRF_FN T krf_word_of(krf_words<T> words) { return krf_between(words.low, words.high, words.beside); }

//@ krf_window
// The word of n elements.
template <typename T, typename E> KRF_FN T krf_window(const E *at, int n) { return krf_word_of(krf_words_around<T>(at, n)); }

//@ krf_turned_bytes
// A word's bytes, the last first.
KRF_FN unsigned char krf_turned_bytes(unsigned char a) { return a; }
KRF_FN unsigned short krf_turned_bytes(unsigned short a) { return (unsigned short)(a << 8 | a >> 8); }
KRF_FN unsigned krf_turned_bytes(unsigned a) { return __byte_perm(a, 0, 0x0123); }
KRF_FN uint2 krf_turned_bytes(uint2 a) { return uint2{krf_turned_bytes(a.y), krf_turned_bytes(a.x)}; }
KRF_FN uint4 krf_turned_bytes(uint4 a) { return uint4{krf_turned_bytes(a.w), krf_turned_bytes(a.z), krf_turned_bytes(a.y), krf_turned_bytes(a.x)}; }

//@ krf_turned_pairs
// A word's halves, the last first.
KRF_FN unsigned short krf_turned_pairs(unsigned short a) { return a; }
KRF_FN unsigned krf_turned_pairs(unsigned a) { return a << 16 | a >> 16; }
KRF_FN uint2 krf_turned_pairs(uint2 a) { return uint2{krf_turned_pairs(a.y), krf_turned_pairs(a.x)}; }
KRF_FN uint4 krf_turned_pairs(uint4 a) { return uint4{krf_turned_pairs(a.w), krf_turned_pairs(a.z), krf_turned_pairs(a.y), krf_turned_pairs(a.x)}; }

//@ krf_behind
// The elements of a word but the first, and behind them another.
template <typename T, typename E> KRF_FN T krf_behind(T word, E element) {
    union { T word; E first; } next = {T{}};
    next.first = element;
    return krf_between(word, next.word, sizeof(E));
}

//@ krf_row_window
// A word that begins at any element of a row, or before the row's first, where its elements are anything.
template <typename T, typename E> KRF_FN T krf_row_window(const E *at, const E *first) {
    const unsigned beside = krf_beside<T>(at);
    const char *low = (const char *)at - beside, *high = beside > 0 ? low + sizeof(T) : low;
#ifdef __CUDACC__
    const T before = low + sizeof(T) > (const char *)first ? *(const T *)low : T{};
    return krf_between(before, *(const T *)high, beside);
#else
    const E *end = at + sizeof(T) / sizeof(E);
    return krf_between(krf_row_word<T>((const E *)low, first, end), krf_row_word<T>((const E *)high, first, end), beside);
#endif
}

//@ krf_store_row_word
// The elements of an aligned word from number `from` on.
template <typename E> KRF_FN void krf_store_row_word(E *at, uint4 word, int from) {
    enum { V = 16 / sizeof(E) };
    const union { uint4 word; E at[V]; } all = {word};
    if (from <= 0) {
        __stcs((uint4 *)at, word);
        return;
    }
#pragma unroll
    for (int i = 1; i < V; i++) {
        if (i >= from) {
            at[i] = all.at[i];
        }
    }
}
