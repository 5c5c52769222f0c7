/* Elements of strided arrays in and out of contiguous memory: what the interpreter does with operands it cannot use in
 * place. A run of elements goes through an array's dimensions in C order, starting anywhere; nothing is divided. */
#ifndef KRF_BACKEND_CPU_STRIDED_H
#define KRF_BACKEND_CPU_STRIDED_H

#include <stdint.h>

/* Dimensions a run goes through. Strides in elements, of any sign. rank is at least 1, extents are at least 1. */
typedef struct krf__strided {
    int rank;
    const int64_t *extents;
    const int64_t *strides;
} krf__strided;

/* Copies n elements of `bytes` (1, 2, 4 or 8) bytes, starting at `index`; `array` is the address of that element. */
void krf__gather(const krf__strided *dims, const int64_t *index, int bytes, const void *array, int64_t n, void *packed);
void krf__scatter(const krf__strided *dims, const int64_t *index, int bytes, void *array, int64_t n,
                  const void *packed);

/* The same, but each element lies so many elements on from its place as `further` says. */
void krf__fetch(const krf__strided *dims, const int64_t *index, int bytes, const void *array, const int64_t *further, int64_t n,
                void *packed);

/* The places of n elements of an array that lies in no memory, the first of which has the place `first`. */
void krf__count(const krf__strided *dims, const int64_t *index, int64_t first, int64_t n, int64_t *packed);

/* n copies of a value given as raw bits; the raw bits of an element. */
void krf__splat(void *packed, int bytes, uint64_t bits, int64_t n);
uint64_t krf__element_bits(const void *packed, int bytes, int64_t i);

/* The index of element `position` in C order. */
void krf__index_of(int rank, const int64_t *extents, int64_t position, int64_t *index);

#endif
