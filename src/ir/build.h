/* Checked construction of nodes: shapes broadcast, dtypes promoted, weak scalars converted, arguments validated. What the public builders and the parser
 * call. Ids of one graph go in; poison in, poison out; the first error is kept in the graph. */
#ifndef KRF_IR_BUILD_H
#define KRF_IR_BUILD_H

#include "ir/graph.h"

uint32_t krf__build(krf_graph *g, krf__op op, int n, const uint32_t *args);             /* elementwise */
bool krf__build_defined(krf_graph *g, krf__op op, int n, const uint32_t *args); /* whether it is for operands of these dtypes; false: and the error */
/* Parts of it. The dtype that operands are promoted to, if there is one; an operand in a dtype, of which an integer that is known must be in the range: name is for
 * the error; the float dtype that a dtype computes in. */
bool krf__build_common(const krf_graph *g, int n, const uint32_t *args, krf_dtype *dtype);
uint32_t krf__build_convert(krf_graph *g, const char *name, uint32_t x, krf_dtype dtype);
krf_dtype krf__build_float_of(krf_dtype dtype);
bool krf__build_axes(krf_graph *g, const char *name, int rank, int n_axes, const int *axes, int64_t *mask); /* the bit mask of axes; NULL: all */
krf_dtype krf__accumulator(krf__op op, krf_dtype given); /* what a reduction of `given` accumulates in; f16 and bf16 are rounded at the end */
uint32_t krf__build_reduce(krf_graph *g, krf__op op, uint32_t x, int n_axes, const int *axes, bool keepdims); /* axes NULL: all */
uint32_t krf__build_scan(krf_graph *g, krf__op op, uint32_t x, int axis);
/* What an operation converts an operand with: beside complex ones a real number stays real, and has no imaginary part. */
uint32_t krf__build_cast(krf_graph *g, uint32_t x, krf_dtype dtype);
uint32_t krf__build_astype(krf_graph *g, uint32_t x, krf_dtype dtype); /* what a program says: of a real number, a complex one whose imaginary part is +0 */
uint32_t krf__build_given(krf_graph *g, const char *name, uint32_t value, krf_dtype dtype); /* the same, but that a weak integer that is known must fit (KRF_E_DTYPE) */
uint32_t krf__build_stop_gradient(krf_graph *g, uint32_t x);
uint32_t krf__build_input(krf_graph *g, krf_array *array);
uint32_t krf__build_placeholder(krf_graph *g, const char *name, krf_dtype dtype, bool weak, int rank, const int64_t *shape, const int64_t *strides);

/* A weak scalar that is an argument of the kernel, or (literal) one that is printed into it. */
uint32_t krf__build_int(krf_graph *g, int64_t value, bool literal);
uint32_t krf__build_real(krf_graph *g, double value, bool literal);
uint32_t krf__build_large(krf_graph *g, uint64_t value); /* printed, weak, of u64: an integer that i64 does not hold */
uint32_t krf__build_complex(krf_graph *g, double re, double im, bool literal);
uint32_t krf__build_bool(krf_graph *g, bool value); /* a rank-0 bool constant, not weak */

uint32_t krf__build_transpose(krf_graph *g, uint32_t x, const int *axes); /* NULL: reversed */
uint32_t krf__build_slice(krf_graph *g, uint32_t x, int n, const krf_range *ranges);
uint32_t krf__build_reshape(krf_graph *g, uint32_t x, int rank, const int64_t *shape);
uint32_t krf__build_broadcast_to(krf_graph *g, uint32_t x, int rank, const int64_t *shape);
uint32_t krf__build_expand_dims(krf_graph *g, uint32_t x, int axis);
uint32_t krf__build_squeeze(krf_graph *g, uint32_t x, int axis);
uint32_t krf__build_flip(krf_graph *g, uint32_t x, int axis);

/* build_take.c. Names of axes in errors are those of `name`. */
uint32_t krf__build_diagonal(krf_graph *g, uint32_t x, int64_t offset, int axis1, int axis2);
uint32_t krf__build_windows(krf_graph *g, uint32_t x, int n, const int64_t *windows, const int *axes); /* axes NULL: all */
uint32_t krf__build_take(krf_graph *g, uint32_t x, uint32_t index, int axis);
uint32_t krf__build_take_along_axis(krf_graph *g, uint32_t x, uint32_t index, int axis);

/* x indexed by several arrays together, along ascending axes; the axes of their broadcast shape come to stand before the axis `at` of what is left. */
uint32_t krf__build_index(krf_graph *g, uint32_t x, int n, const int *axes, const uint32_t *indices, int at);

/* The axis counted from the front; false (and the error) when there is none. */
bool krf__build_axis(krf_graph *g, const char *name, int rank, int axis, int *found);

#endif
