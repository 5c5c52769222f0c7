/* Random arrays that are made in the graph and read no memory: each element is a function of its place, a key and an offset. The words are those of
 * Philox4x32-10 with the counter (block, 0) and the key: 32-bit draws take word i % 4 of block offset + i / 4 for element i (in C order), 64-bit
 * draws the pair i % 2 of block offset + i / 2. Ids of one graph go in; poison in, poison out. */
#ifndef KRF_IR_BUILD_RANDOM_H
#define KRF_IR_BUILD_RANDOM_H

#include "ir/build.h"

typedef struct krf__draw {
    int rank;
    const int64_t *shape;
    uint32_t key, offset; /* integers, weak ones too; known ones become arguments of the kernel, so that others need no other kernel */
} krf__draw;

uint32_t krf__build_random_bits(krf_graph *g, const krf__draw *draw, krf_dtype dtype);    /* every integer of the dtype alike */
uint32_t krf__build_random_uniform(krf_graph *g, const krf__draw *draw, krf_dtype dtype); /* 0 <= x < 1 */
uint32_t krf__build_random_normal(krf_graph *g, const krf__draw *draw, krf_dtype dtype);  /* mean 0, variance 1 */
uint32_t krf__build_random_integers(krf_graph *g, const krf__draw *draw, uint32_t low, uint32_t high, krf_dtype dtype); /* low <= x < high */
uint32_t krf__build_random_bernoulli(krf_graph *g, const krf__draw *draw, uint32_t p); /* true with probability p */

#endif
