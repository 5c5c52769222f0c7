// Rows that become columns: for C only. Processors are slow at reading every n-th element, and at scattering them; squares of 8 by 8 elements are turned in registers.
// Sections as in prelude.h.

//@ KRF_TURN
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define KRF_SHUFFLES
#endif
#endif
#ifdef KRF_SHUFFLES
// Halves of 16 bytes come last: that is what processors without wide shuffles are quickest at.
#define KRF_TURN_SQUARE(bytes, type) \
    typedef type krf_one_##bytes __attribute__((may_alias)); \
    typedef type krf_eight_##bytes __attribute__((vector_size(8 * bytes), aligned(bytes), may_alias)); \
    KRF_FN void krf_turn_square_##bytes(krf_one_##bytes *to, long long to_step, const krf_one_##bytes *from, long long from_step) { \
        krf_eight_##bytes a[8], b[8]; \
        for (int i = 0; i < 8; i++) { \
            a[i] = *(const krf_eight_##bytes *)(from + i * from_step); \
        } \
        for (int i = 0; i < 8; i += 2) { \
            b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13); \
            b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15); \
        } \
        for (int i = 0; i < 8; i += 4) { \
            for (int k = 0; k < 2; k++) { \
                a[i + 2 * k] = __builtin_shufflevector(b[i + k], b[i + 2 + k], 0, 1, 8, 9, 4, 5, 12, 13); \
                a[i + 2 * k + 1] = __builtin_shufflevector(b[i + k], b[i + 2 + k], 2, 3, 10, 11, 6, 7, 14, 15); \
            } \
        } \
        for (int i = 0; i < 4; i++) { \
            b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11); \
            b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15); \
        } \
        for (int i = 0; i < 8; i++) { \
            *(krf_eight_##bytes *)(to + i * to_step) = b[i]; \
        } \
    }
#else
#define KRF_TURN_SQUARE(bytes, type) \
    typedef type krf_one_##bytes __attribute__((may_alias)); \
    KRF_FN void krf_turn_square_##bytes(krf_one_##bytes *to, long long to_step, const krf_one_##bytes *from, long long from_step) { \
        krf_one_##bytes square[8][8]; \
        for (int i = 0; i < 8; i++) { \
            for (int k = 0; k < 8; k++) { \
                square[i][k] = from[i * from_step + k]; \
            } \
        } \
        for (int k = 0; k < 8; k++) { \
            for (int i = 0; i < 8; i++) { \
                to[k * to_step + i] = square[i][k]; \
            } \
        } \
    }
#endif
// Element k of row i, of rows that are from_step apart, goes to to[k * to_step + i]. What lies between rows may be read, but nothing behind the last.
// Rows to come are fetched ahead: those far apart no processor finds by itself.
#define KRF_TURN(bytes, type) \
    KRF_TURN_SQUARE(bytes, type) \
    KRF_FN void krf_turn_##bytes(void *to_, long long to_step, const void *from_, long long from_step, int rows, int columns) { \
        krf_one_##bytes *to = (krf_one_##bytes *)to_; \
        const krf_one_##bytes *from = (const krf_one_##bytes *)from_; \
        const long long end = (rows - 1) * from_step + columns; \
        for (int i = 0; i < rows; i += 8) { \
            const int high = rows - i < 8 ? rows - i : 8; \
            for (int r = 0; r < high && from_step * bytes >= 256; r++) { \
                for (int k = 0; k < columns * bytes + 63; k += 64) { \
                    __builtin_prefetch((const char *)(from + (i + 16 + r) * from_step) + (k < columns * bytes ? k : columns * bytes - 1)); \
                } \
            } \
            for (int k = 0; k < columns; k += 8) { \
                const int wide = columns - k < 8 ? columns - k : 8; \
                if (high == 8 && wide == 8) { \
                    krf_turn_square_##bytes(to + k * to_step + i, to_step, from + i * from_step + k, from_step); \
                } else if (high == 8 && from_step > 0 && (i + 7) * from_step + k + 8 <= end) { \
                    krf_one_##bytes square[8][8]; \
                    krf_turn_square_##bytes(square[0], 8, from + i * from_step + k, from_step); \
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
        } \
    }

//@ krf_turn_1
KRF_TURN(1, unsigned char)

//@ krf_turn_2
KRF_TURN(2, unsigned short)

//@ krf_turn_4
KRF_TURN(4, unsigned)

//@ krf_turn_8
KRF_TURN(8, unsigned long long)
