/* What elementwise functions are over complex numbers: expressions over the real and the imaginary parts (complex.def). Called by
 * pass/split.c. */
#ifndef KRF_IR_COMPLEX_H
#define KRF_IR_COMPLEX_H

#include "ir/build.h"

/* A complex value as two real nodes. im 0: a value that is known to be real, whose imaginary part is +0. */
typedef struct krf__pair {
    uint32_t re, im;
} krf__pair;

/* Its parts, over operands whose parts have the dtype `part`; real and bool results are pairs without an imaginary part. {0, 0} when the graph
 * has an error. */
krf__pair krf__complex_apply(krf_graph *g, krf__op op, krf_dtype part, const krf__pair *operands);

#endif
