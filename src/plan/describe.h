/* What a kernel computes, in words. */
#ifndef KRF_PLAN_DESCRIBE_H
#define KRF_PLAN_DESCRIBE_H

#include "plan/planning.h"

/* The kernel's canonical expression. Of a node that folds: the dtype that stands for its accumulator: of several fields one of 8 bytes, of half types f32. */
krf_status krf__kernel_describe(const krf__planning *p, uint32_t index, krf__kernel *k);
uint8_t krf__accumulator_dtype(const krf_graph *g, uint32_t id);

#endif
