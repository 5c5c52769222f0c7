/* reduce, accumulate and outer of a function of two operands, as NumPy's ufuncs have them: by its name in the text form, the library's or one of the context's. */
#ifndef KRF_IR_BUILD_UFUNC_H
#define KRF_IR_BUILD_UFUNC_H

#include "ir/build_composed.h"

uint32_t krf__build_ufunc_reduce(krf_graph *g, const char *function, uint32_t x, const krf__axes *axes);
uint32_t krf__build_ufunc_accumulate(krf_graph *g, const char *function, uint32_t x, int axis);
uint32_t krf__build_ufunc_outer(krf_graph *g, const char *function, uint32_t x, uint32_t y);

#endif
