// Rows of few elements that are laid out without gaps: for C only. Sections as in prelude.h.

//@ krf_copy_row
// Exactly so many bytes, in two moves that may overlap where they are no more than 128.
KRF_FN void krf_copy_row(void *to_, const void *from_, int bytes) {
    char *const to = (char *)to_;
    const char *const from = (const char *)from_;
#define KRF_MOVE_BOTH(size) \
    __builtin_memcpy(to, from, size); \
    __builtin_memcpy(to + bytes - size, from + bytes - size, size)
    if (bytes > 128) {
        for (int k = 0; k + 64 < bytes; k += 64) {
            __builtin_memcpy(to + k, from + k, 64);
        }
        __builtin_memcpy(to + bytes - 64, from + bytes - 64, 64);
    } else if (bytes >= 64) {
        KRF_MOVE_BOTH(64);
    } else if (bytes >= 32) {
        KRF_MOVE_BOTH(32);
    } else if (bytes >= 16) {
        KRF_MOVE_BOTH(16);
    } else if (bytes >= 8) {
        KRF_MOVE_BOTH(8);
    } else if (bytes >= 4) {
        KRF_MOVE_BOTH(4);
    } else {
        for (int k = 0; k < bytes; k++) {
            to[k] = from[k];
        }
    }
#undef KRF_MOVE_BOTH
}

//@ KRF_FILL_ROW
// In whole vectors, the shortest that are enough: up to 63 bytes behind the row are written too.
#define KRF_FILL_ROW(type) \
    typedef type krf_few __attribute__((vector_size(16), aligned(1), may_alias)); \
    typedef type krf_some __attribute__((vector_size(32), aligned(1), may_alias)); \
    typedef type krf_many __attribute__((vector_size(64), aligned(1), may_alias)); \
    const int bytes = n * (int)sizeof(type); \
    type value; \
    __builtin_memcpy(&value, from, sizeof value); \
    if (bytes <= 16) { \
        *(krf_few *)to = (krf_few){0} + value; \
    } else if (bytes <= 32) { \
        *(krf_some *)to = (krf_some){0} + value; \
    } else { \
        for (int k = 0; k < bytes; k += 64) { \
            *(krf_many *)((char *)to + k) = (krf_many){0} + value; \
        } \
    }

//@ krf_fill_row_1
KRF_FN void krf_fill_row_1(void *to, const void *from, int n) { KRF_FILL_ROW(unsigned char) }

//@ krf_fill_row_2
KRF_FN void krf_fill_row_2(void *to, const void *from, int n) { KRF_FILL_ROW(unsigned short) }

//@ krf_fill_row_4
KRF_FN void krf_fill_row_4(void *to, const void *from, int n) { KRF_FILL_ROW(unsigned) }

//@ krf_fill_row_8
KRF_FN void krf_fill_row_8(void *to, const void *from, int n) { KRF_FILL_ROW(unsigned long long) }
