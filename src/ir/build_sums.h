/* Sums over several operands: products of vectors, weighted means, counts in bins. Expressions over others. Ids of one graph go in; poison in,
 * poison out. */
#ifndef KRF_IR_BUILD_SUMS_H
#define KRF_IR_BUILD_SUMS_H

#include "ir/build_composed.h"

uint32_t krf__build_outer(krf_graph *g, uint32_t x, uint32_t y);
uint32_t krf__build_dot(krf_graph *g, const char *name, uint32_t x, uint32_t y); /* vectors of one length, or a scalar and anything */
uint32_t krf__build_vdot(krf_graph *g, uint32_t x, uint32_t y);
uint32_t krf__build_average(krf_graph *g, uint32_t x, uint32_t weights, const krf__axes *axes); /* weights 0: alike */
uint32_t krf__build_histogram(krf_graph *g, uint32_t x, int64_t bins, double low, double high);

#endif
