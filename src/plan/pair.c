/* Complex results of maps on the CPU, whose halves are stored together. */
#include "plan/schedule.h"

static bool lies_between(const krf__kernel *k, const krf__operand *real, const krf__operand *imaginary) {
    bool between = real->half && imaginary->half && imaginary->store && real->buffer == imaginary->buffer && imaginary->offset == real->offset + 1;
    for (int d = 0; d < k->n_kept; d++) {
        between &= real->strides[d] == imaginary->strides[d];
    }
    return between && real->strides[k->n_kept - 1] == 2;
}

void krf__kernel_pairs(krf__kernel *k, const krf__limits *limits) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        o->pair = 0;
        for (uint32_t j = 0; j < k->n_operands && o->store && k->schedule == KRF__MAP && limits->narrow_from != UINT32_MAX; j++) {
            o->pair = lies_between(k, o, &k->operands[j]) ? (uint16_t)(1 + j) : o->pair;
        }
    }
}
