/* Strided copies (strided.h), made once for each element size. */
#include "backend/cpu/strided.h"
#include <kerfuse/base.h>
#include <string.h>

/* Elements are moved as raw bits, whatever type they were written with. */
typedef uint8_t __attribute__((may_alias)) raw_1;
typedef uint16_t __attribute__((may_alias)) raw_2;
typedef uint32_t __attribute__((may_alias)) raw_4;
typedef uint64_t __attribute__((may_alias)) raw_8;

#define MEMCPY_FROM 16 /* elements from which a call pays */

/* Calls body for every stretch of the innermost dimension: `offset` is its first element's, counted from the first
 * element of the run, and `run` its length. */
#define FOR_EACH_STRETCH(body) \
    int64_t at[KRF_MAX_RANK + 1]; \
    const int last = dims->rank - 1; \
    const int64_t stride = dims->strides[last], extent = dims->extents[last]; \
    memcpy(at, index, (size_t)dims->rank * sizeof *at); \
    int64_t offset = 0, first = at[last]; \
    while (n > 0) { \
        const int64_t run = n < extent - first ? n : extent - first; \
        body; \
        n -= run; \
        offset -= first * stride; \
        first = 0; \
        for (int d = last - 1; d >= 0; d--) { \
            offset += dims->strides[d]; \
            if (++at[d] < dims->extents[d]) { \
                break; \
            } \
            offset -= dims->extents[d] * dims->strides[d]; \
            at[d] = 0; \
        } \
    }

#define COPIES(BYTES) \
    static void gather_##BYTES(const krf__strided *dims, const int64_t *index, const raw_##BYTES *array, int64_t n, \
                               raw_##BYTES *packed) { \
        FOR_EACH_STRETCH( \
            const raw_##BYTES *from = array + offset; if (stride == 1 && run >= MEMCPY_FROM) { \
                memcpy(packed, from, (size_t)run *BYTES); \
            } else if (stride == 0) { \
                const raw_##BYTES value = *from; \
                for (int64_t i = 0; i < run; i++) { \
                    packed[i] = value; \
                } \
            } else { \
                for (int64_t i = 0; i < run; i++) { \
                    packed[i] = from[i * stride]; \
                } \
            } packed += run) \
    } \
    static void scatter_##BYTES(const krf__strided *dims, const int64_t *index, raw_##BYTES *array, int64_t n, \
                                const raw_##BYTES *packed) { \
        FOR_EACH_STRETCH( \
            raw_##BYTES *to = array + offset; \
            if (stride == 1 && run >= MEMCPY_FROM) { memcpy(to, packed, (size_t)run *BYTES); } else { \
                for (int64_t i = 0; i < run; i++) { \
                    to[i * stride] = packed[i]; \
                } \
            } packed += run) \
    }

COPIES(1)
COPIES(2)
COPIES(4)
COPIES(8)

#define FETCH(BYTES) \
    { \
        raw_##BYTES *to = packed; \
        const raw_##BYTES *from = array; \
        FOR_EACH_STRETCH( \
            for (int64_t i = 0; i < run; i++) { to[i] = from[offset + i * stride + further[i]]; } \
            to += run; further += run) \
        break; \
    }

void krf__fetch(const krf__strided *dims, const int64_t *index, int bytes, const void *array, const int64_t *further, int64_t n,
                void *packed) {
    switch (bytes) {
    case 1: FETCH(1)
    case 2: FETCH(2)
    case 4: FETCH(4)
    default: FETCH(8)
    }
}

void krf__gather(const krf__strided *dims, const int64_t *index, int bytes, const void *array, int64_t n,
                 void *packed) {
    switch (bytes) {
    case 1: gather_1(dims, index, array, n, packed); break;
    case 2: gather_2(dims, index, array, n, packed); break;
    case 4: gather_4(dims, index, array, n, packed); break;
    default: gather_8(dims, index, array, n, packed); break;
    }
}

void krf__scatter(const krf__strided *dims, const int64_t *index, int bytes, void *array, int64_t n,
                  const void *packed) {
    switch (bytes) {
    case 1: scatter_1(dims, index, array, n, packed); break;
    case 2: scatter_2(dims, index, array, n, packed); break;
    case 4: scatter_4(dims, index, array, n, packed); break;
    default: scatter_8(dims, index, array, n, packed); break;
    }
}

void krf__count(const krf__strided *dims, const int64_t *index, int64_t first_place, int64_t n, int64_t *packed) {
    FOR_EACH_STRETCH(
        for (int64_t i = 0; i < run; i++) { packed[i] = first_place + offset + i * stride; }
        packed += run)
}

#define FILL(BYTES) \
    { \
        raw_##BYTES *to = packed; \
        for (int64_t i = 0; i < n; i++) { \
            to[i] = (raw_##BYTES)bits; \
        } \
        break; \
    }

void krf__splat(void *packed, int bytes, uint64_t bits, int64_t n) {
    switch (bytes) {
    case 1: FILL(1)
    case 2: FILL(2)
    case 4: FILL(4)
    default: FILL(8)
    }
}

uint64_t krf__element_bits(const void *packed, int bytes, int64_t i) {
    switch (bytes) {
    case 1: return ((const raw_1 *)packed)[i];
    case 2: return ((const raw_2 *)packed)[i];
    case 4: return ((const raw_4 *)packed)[i];
    default: return ((const raw_8 *)packed)[i];
    }
}

void krf__index_of(int rank, const int64_t *extents, int64_t position, int64_t *index) {
    for (int d = rank - 1; d > 0; d--) {
        index[d] = position % extents[d];
        position /= extents[d];
    }
    index[0] = position;
}
