/* Sums over several operands: products of vectors, weighted means, counts in bins. Expressions over the functions of ops.h, which fuse like them. */
#ifndef KERFUSE_SUMS_H
#define KERFUSE_SUMS_H

#include <kerfuse/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As NumPy's, but bools have to be cast, and inner, dot and vdot multiply and sum integers in 64 bits, as which they are returned, and halves in f32, rounded once at the end. All return poison after an error, which the graph
 * keeps: KRF_E_SHAPE, KRF_E_DTYPE, KRF_E_ARGUMENT.
 * outer: x[i] * y[j] at (i, j), in the dtype of krf_multiply: u8 stays u8 and wraps; both are taken as vectors in C order.
 * inner, dot: sum(x * y) of two vectors of one length; where either is of rank 0 the product, in the dtype of krf_multiply.
 * vdot: sum(conj(x) * y) of all elements in C order, whatever the shapes; as many of both. inner and dot conjugate nothing. */
KRF_API krf_expr krf_outer(krf_expr x, krf_expr y);
KRF_API krf_expr krf_inner(krf_expr x, krf_expr y);
KRF_API krf_expr krf_dot(krf_expr x, krf_expr y);
KRF_API krf_expr krf_vdot(krf_expr x, krf_expr y);

/* sum(x * weights) / sum(weights) over axes (NULL for all), in the floats or complex numbers that both are promoted to, f64 for integers. weights: of the shape of x, or of
 * rank 1 with one for each place along the one axis. NaN or infinite where the weights' sum is 0. krf_mean is the average without weights. */
KRF_API krf_expr krf_average(krf_expr x, krf_expr weights, int n_axes, const int *axes, bool keepdims);

/* How many elements of x, in any shape, lie in each of `bins` equal bins from low to high, as i64 of shape (bins,). Bin k holds what is at least
 * edge k and below edge k + 1, the last one its upper edge too; the edges are krf_linspace's, rounded to x's float dtype (f64 for integers). What lies
 * outside, and NaN, counts nowhere. low == high stands for a range of 1 about it. Takes time in proportion to bins. */
KRF_API krf_expr krf_histogram(krf_expr x, int64_t bins, double low, double high);

#ifdef __cplusplus
}
#endif

#endif
