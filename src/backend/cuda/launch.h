/* The launch shape of a kernel on a CUDA device. The skeletons in codegen/skeleton are written for exactly these
 * shapes. */
#ifndef KRF_BACKEND_CUDA_LAUNCH_H
#define KRF_BACKEND_CUDA_LAUNCH_H

#include "plan/kernel.h"

#define KRF__CUDA_BLOCK 256

typedef struct krf__grid {
    uint32_t x, y, z, block_x, block_y, block_z;
    uint32_t shared; /* dynamic, in bytes */
    bool too_large; /* a kernel that does not stride over its blocks would need more of them than CUDA has */
} krf__grid;

void krf__cuda_grid(const krf__kernel *k, int multiprocessors, krf__grid *g);

#endif
