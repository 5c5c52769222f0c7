/* Maps go through a dimension backwards where that is how memory lies: images turned by a quarter are squares then, as transposed ones are. Elements of maps may be computed in any order. */
#include "plan/schedule.h"

/* Whether elements that are read follow one another backwards along a dimension, and none do forwards. */
static bool is_backwards(const krf__kernel *k, int d) {
    bool backwards = false, forwards = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (!o->store && !o->counts && !o->gathered) {
            backwards |= o->strides[d] == -1;
            forwards |= o->strides[d] == 1;
        }
    }
    return backwards && !forwards;
}

void krf__kernel_flip(krf__kernel *k) {
    for (int d = 0; d < k->n_kept - 1 && k->n_reduced == 0; d++) {
        const bool flips = k->extents[d] > 0 && is_backwards(k, d);
        for (uint32_t i = 0; i < k->n_operands && flips; i++) {
            krf__operand *o = &k->operands[i];
            o->offset += o->strides[d] * (k->extents[d] - 1);
            o->strides[d] = -o->strides[d];
        }
    }
}
