// Rows that become columns: for C only. Processors are slow at reading every n-th element, and at scattering them; squares of 8 by 8 elements are turned in registers.
// Sections as in prelude.h.

//@ KRF_TURN_SQUARE
// Halves of 16 bytes come last: that is what processors without wide shuffles are quickest at.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define KRF_TURN_SQUARE(to, to_step, from, from_step) \
    { \
        krf_one *const columns_at = to; \
        const krf_one *const rows_at = from; \
        krf_eight a[8], b[8]; \
        _Pragma("GCC unroll 8") \
        for (int s = 0; s < 8; s++) { \
            a[s] = *(const krf_eight *)(rows_at + s * (from_step)); \
        } \
        _Pragma("GCC unroll 8") \
        for (int s = 0; s < 8; s += 2) { \
            b[s] = __builtin_shufflevector(a[s], a[s + 1], 0, 8, 1, 9, 4, 12, 5, 13); \
            b[s + 1] = __builtin_shufflevector(a[s], a[s + 1], 2, 10, 3, 11, 6, 14, 7, 15); \
        } \
        _Pragma("GCC unroll 8") \
        for (int s = 0; s < 8; s += 4) { \
            _Pragma("GCC unroll 8") \
            for (int h = 0; h < 2; h++) { \
                a[s + 2 * h] = __builtin_shufflevector(b[s + h], b[s + 2 + h], 0, 1, 8, 9, 4, 5, 12, 13); \
                a[s + 2 * h + 1] = __builtin_shufflevector(b[s + h], b[s + 2 + h], 2, 3, 10, 11, 6, 7, 14, 15); \
            } \
        } \
        _Pragma("GCC unroll 8") \
        for (int s = 0; s < 4; s++) { \
            b[s] = __builtin_shufflevector(a[s], a[s + 4], 0, 1, 2, 3, 8, 9, 10, 11); \
            b[s + 4] = __builtin_shufflevector(a[s], a[s + 4], 4, 5, 6, 7, 12, 13, 14, 15); \
        } \
        _Pragma("GCC unroll 8") \
        for (int s = 0; s < 8; s++) { \
            *(krf_eight *)(columns_at + s * (to_step)) = b[s]; \
        } \
    }
#endif
#endif
#ifndef KRF_TURN_SQUARE
#define KRF_TURN_SQUARE(to, to_step, from, from_step) \
    { \
        krf_one *const columns_at = to; \
        const krf_one *const rows_at = from; \
        krf_one part[8][8]; \
        _Pragma("GCC unroll 8") \
        for (int s = 0; s < 8; s++) { \
            _Pragma("GCC unroll 8") \
            for (int h = 0; h < 8; h++) { \
                part[s][h] = rows_at[s * (from_step) + h]; \
            } \
        } \
        _Pragma("GCC unroll 8") \
        for (int h = 0; h < 8; h++) { \
            _Pragma("GCC unroll 8") \
            for (int s = 0; s < 8; s++) { \
                columns_at[h * (to_step) + s] = part[s][h]; \
            } \
        } \
    }
#endif

//@ KRF_TURN
// Element k of row i, of rows that are from_step apart, goes to to[k * to_step + i]. What lies between rows may be read, but nothing behind the last.
// Rows to come are fetched ahead: those far apart no processor finds by itself.
#define KRF_TURN \
    krf_one *const to = (krf_one *)to_, square[8][8]; \
    const krf_one *const from = (const krf_one *)from_; \
    const int size = (int)sizeof(krf_one); \
    const long long end = (rows - 1) * from_step + columns; \
    for (int i = 0; i < rows; i += 8) { \
        const int high = rows - i < 8 ? rows - i : 8; \
        for (int r = 0; r < high && from_step * size >= 256; r++) { \
            for (int k = 0; k < columns * size + 63; k += 64) { \
                __builtin_prefetch((const char *)(from + (i + 16 + r) * from_step) + (k < columns * size ? k : columns * size - 1)); \
            } \
        } \
        for (int k = 0; k < columns; k += 8) { \
            const int wide = columns - k < 8 ? columns - k : 8; \
            if (high == 8 && wide == 8) { \
                KRF_TURN_SQUARE(to + k * to_step + i, to_step, from + i * from_step + k, from_step) \
            } else if (high == 8 && from_step > 0 && (i + 7) * from_step + k + 8 <= end) { \
                KRF_TURN_SQUARE(square[0], 8, from + i * from_step + k, from_step) \
                for (int c = 0; c < wide; c++) { \
                    __builtin_memcpy(to + (k + c) * to_step + i, square[c], sizeof square[c]); \
                } \
            } else { \
                for (int r = 0; r < high; r++) { \
                    for (int c = 0; c < wide; c++) { \
                        to[(k + c) * to_step + i + r] = from[(i + r) * from_step + k + c]; \
                    } \
                } \
            } \
        } \
    }

//@ krf_turn_1
static void krf_turn_1(void *to_, long long to_step, const void *from_, long long from_step, int rows, int columns) {
    typedef unsigned char krf_one __attribute__((may_alias));
    typedef unsigned char krf_eight __attribute__((vector_size(8), aligned(1), may_alias));
    KRF_TURN
}

//@ krf_turn_2
static void krf_turn_2(void *to_, long long to_step, const void *from_, long long from_step, int rows, int columns) {
    typedef unsigned short krf_one __attribute__((may_alias));
    typedef unsigned short krf_eight __attribute__((vector_size(16), aligned(2), may_alias));
    KRF_TURN
}

//@ krf_turn_4
static void krf_turn_4(void *to_, long long to_step, const void *from_, long long from_step, int rows, int columns) {
    typedef unsigned krf_one __attribute__((may_alias));
    typedef unsigned krf_eight __attribute__((vector_size(32), aligned(4), may_alias));
    KRF_TURN
}

//@ krf_turn_8
static void krf_turn_8(void *to_, long long to_step, const void *from_, long long from_step, int rows, int columns) {
    typedef unsigned long long krf_one __attribute__((may_alias));
    typedef unsigned long long krf_eight __attribute__((vector_size(64), aligned(8), may_alias));
    KRF_TURN
}
