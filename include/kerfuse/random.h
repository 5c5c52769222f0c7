/* Random arrays that are made where they are used and read no memory. */
#ifndef KERFUSE_RANDOM_H
#define KERFUSE_RANDOM_H

#include <kerfuse/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nothing is random but by key and place: the same key and offset give the same bits on every device, whatever the result is fused with, and a
 * slice of a random array is the slice of the whole. The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as
 * 1, 2, 3; SC 2011), with the 64-bit key as its key and the block's number, below 2^63, as its counter. Each block has four words of 32 bits:
 *   32-bit draws (f32, f16, bf16, integers of random_bits below 64 bits): element i, in C order, takes word i % 4 of block offset + i / 4
 *   64-bit draws (all else): words 0 and 1 (i even) or 2 and 3 (i odd) of block offset + i / 2, the first one as the low half
 * So an array of n elements takes n / 4 or n / 2 blocks, rounded up: the next array with the same key starts at an offset above them.
 * key, offset: integers, taken modulo 2^64 (offset 2^63); of rank 0, or arrays that broadcast to shape. A krf_int is an argument of the kernel, so
 * that another key or offset needs no other kernel. The derivative with respect to them is none.
 * All return poison after an error, which the graph keeps: KRF_E_DTYPE, KRF_E_SHAPE, KRF_E_ARGUMENT. */

/* 0 <= x < 1: k * 2^-d with d the digits of the dtype (f64 53, f32 24, f16 11, bf16 8), every k below 2^d alike. */
KRF_API krf_expr krf_random_uniform(krf_graph *graph, int rank, const int64_t *shape, krf_dtype dtype, krf_expr key, krf_expr offset);

/* The standard normal distribution: krf_ndtri((k + 1/2) * 2^-d), every k below 2^d alike, d = 52 for f64. For f32, f16 and bf16 d = 32, and f64's
 * result is rounded. So |x| is at most 8.21, or 6.24. The same bits on every device. */
KRF_API krf_expr krf_random_normal(krf_graph *graph, int rank, const int64_t *shape, krf_dtype dtype, krf_expr key, krf_expr offset);

/* low <= x < high; an integer's probability is within 2^-64 of 1 / (high - low). The same numbers in every dtype. low, high: integers, of rank 0 or
 * arrays that broadcast to shape. Known ones must hold low < high and fit the dtype; run-time ones count modulo 2^64, and low where they are equal. */
KRF_API krf_expr krf_random_integers(krf_graph *graph, int rank, const int64_t *shape, krf_dtype dtype, krf_expr low, krf_expr high,
                                     krf_expr key, krf_expr offset);

/* Bools that are true with probability p, to 2^-53: of rank 0 or an array that broadcasts to shape. False for NaN. */
KRF_API krf_expr krf_random_bernoulli(krf_graph *graph, int rank, const int64_t *shape, krf_expr p, krf_expr key, krf_expr offset);

/* Random bits in every bit of an integer dtype: the upper bits of a word, the word, or a pair. */
KRF_API krf_expr krf_random_bits(krf_graph *graph, int rank, const int64_t *shape, krf_dtype dtype, krf_expr key, krf_expr offset);

#ifdef __cplusplus
}
#endif

#endif
