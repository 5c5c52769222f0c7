/* The operations. Generated from src/ir/ops.def: change that.
 *
 * Every function appends a node to the graph of its operands and returns it; none evaluates anything, and none fails loudly: poison in, poison
 * out, and krf_graph_error tells why. Operands broadcast as in NumPy and are promoted as docs/semantics.md says; all must be of one graph.
 *
 * Reductions: axes: n_axes distinct axes, negative ones counted from the end; NULL for all axes. keepdims: reduced axes stay with extent 1.
 * Sums and products of floats are taken in one fixed order, the same on every device. */
#ifndef KERFUSE_OPS_H
#define KERFUSE_OPS_H

#include <kerfuse/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* x + y. */
KRF_API krf_expr krf_add(krf_expr x, krf_expr y);

/* x - y. */
KRF_API krf_expr krf_subtract(krf_expr x, krf_expr y);

/* x * y. */
KRF_API krf_expr krf_multiply(krf_expr x, krf_expr y);

/* x / y, the true quotient. Integers are divided as f64. */
KRF_API krf_expr krf_divide(krf_expr x, krf_expr y);

/* The quotient rounded down, as Python's //. Integers: division by zero gives 0. */
KRF_API krf_expr krf_floor_divide(krf_expr x, krf_expr y);

/* The remainder with the sign of y, as Python's %. Integers: by zero gives 0. */
KRF_API krf_expr krf_remainder(krf_expr x, krf_expr y);

/* x to the power y. A literal integer exponent of at most 8 in magnitude is a chain of multiplications. */
KRF_API krf_expr krf_power(krf_expr x, krf_expr y);

/* -x. */
KRF_API krf_expr krf_negative(krf_expr x);

/* The absolute value. The lowest integer stays as it is. */
KRF_API krf_expr krf_abs(krf_expr x);

/* -1, 0 or 1; NaN for NaN. */
KRF_API krf_expr krf_sign(krf_expr x);

/* x == y. */
KRF_API krf_expr krf_equal(krf_expr x, krf_expr y);

/* x != y. */
KRF_API krf_expr krf_not_equal(krf_expr x, krf_expr y);

/* x < y. */
KRF_API krf_expr krf_less(krf_expr x, krf_expr y);

/* x <= y. */
KRF_API krf_expr krf_less_equal(krf_expr x, krf_expr y);

/* x > y. */
KRF_API krf_expr krf_greater(krf_expr x, krf_expr y);

/* x >= y. */
KRF_API krf_expr krf_greater_equal(krf_expr x, krf_expr y);

/* x and y, both taken as x != 0. */
KRF_API krf_expr krf_logical_and(krf_expr x, krf_expr y);

/* x or y, both taken as x != 0. */
KRF_API krf_expr krf_logical_or(krf_expr x, krf_expr y);

/* One of x and y, both taken as x != 0. */
KRF_API krf_expr krf_logical_xor(krf_expr x, krf_expr y);

/* not x, taken as x != 0. */
KRF_API krf_expr krf_logical_not(krf_expr x);

/* The bits that both have. */
KRF_API krf_expr krf_bitwise_and(krf_expr x, krf_expr y);

/* The bits that either has. */
KRF_API krf_expr krf_bitwise_or(krf_expr x, krf_expr y);

/* The bits that one of them has. */
KRF_API krf_expr krf_bitwise_xor(krf_expr x, krf_expr y);

/* The bits that x has not; not x for bools. */
KRF_API krf_expr krf_invert(krf_expr x);

/* x shifted up by y bits; 0 when y is negative or not below the width. */
KRF_API krf_expr krf_left_shift(krf_expr x, krf_expr y);

/* x shifted down by y bits, keeping the sign; 0 or -1 when y is negative or not below the width. */
KRF_API krf_expr krf_right_shift(krf_expr x, krf_expr y);

/* The larger. NaN if either is; +0 is above -0. */
KRF_API krf_expr krf_maximum(krf_expr x, krf_expr y);

/* The smaller. NaN if either is; -0 is below +0. */
KRF_API krf_expr krf_minimum(krf_expr x, krf_expr y);

/* y where condition is true, else z. */
KRF_API krf_expr krf_where(krf_expr condition, krf_expr y, krf_expr z);

/* The square root, correctly rounded; NaN below zero. */
KRF_API krf_expr krf_sqrt(krf_expr x);

/* e to the power x. */
KRF_API krf_expr krf_exp(krf_expr x);

/* exp(x) - 1, accurate near zero. */
KRF_API krf_expr krf_expm1(krf_expr x);

/* The natural logarithm; -inf at zero, NaN below. */
KRF_API krf_expr krf_log(krf_expr x);

/* log(1 + x), accurate near zero. */
KRF_API krf_expr krf_log1p(krf_expr x);

/* The sine of x in radians. */
KRF_API krf_expr krf_sin(krf_expr x);

/* The cosine of x in radians. */
KRF_API krf_expr krf_cos(krf_expr x);

/* The tangent of x in radians. */
KRF_API krf_expr krf_tan(krf_expr x);

/* The hyperbolic tangent. */
KRF_API krf_expr krf_tanh(krf_expr x);

/* The angle of the point (y, x): the arc tangent of x1 / x2 with the quadrant of both signs. */
KRF_API krf_expr krf_atan2(krf_expr x, krf_expr y);

/* sqrt(x * x + y * y) without overflow on the way. */
KRF_API krf_expr krf_hypot(krf_expr x, krf_expr y);

/* Rounded down. */
KRF_API krf_expr krf_floor(krf_expr x);

/* Rounded up. */
KRF_API krf_expr krf_ceil(krf_expr x);

/* Rounded to the nearest integer, halves to the even one. */
KRF_API krf_expr krf_round(krf_expr x);

/* Whether x is NaN. */
KRF_API krf_expr krf_isnan(krf_expr x);

/* Whether x is infinite. */
KRF_API krf_expr krf_isinf(krf_expr x);

/* The sum over axes. Bools and integers are summed in 64 bits, f16 and bf16 in f32. */
KRF_API krf_expr krf_sum(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The product over axes. Bools and integers are multiplied in 64 bits, f16 and bf16 in f32. */
KRF_API krf_expr krf_prod(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The largest over axes, NaN if any is. An error over no elements. */
KRF_API krf_expr krf_max(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The smallest over axes, NaN if any is. An error over no elements. */
KRF_API krf_expr krf_min(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The mean over axes: the sum divided once. Integers and bools in f64. NaN over no elements. */
KRF_API krf_expr krf_mean(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* Whether any element is not 0 (NaN is not). False over no elements. */
KRF_API krf_expr krf_any(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* Whether no element is 0. True over no elements. */
KRF_API krf_expr krf_all(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* Reductions that are expressions over those above. ddof: what is subtracted from the count; 1 for samples. */
/* The variance: the mean of squared differences from the mean, in two passes; divided by count - ddof. Integers and bools in f64. */
KRF_API krf_expr krf_var(krf_expr x, double ddof, int n_axes, const int *axes, bool keepdims);

/* The standard deviation: the square root of var. */
KRF_API krf_expr krf_std(krf_expr x, double ddof, int n_axes, const int *axes, bool keepdims);

/* How many elements are not 0 (NaN is not), as i64. */
KRF_API krf_expr krf_count_nonzero(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The largest less the smallest. NaN if any is. An error over no elements. */
KRF_API krf_expr krf_ptp(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* log(sum(exp(x))) without overflow on the way. */
KRF_API krf_expr krf_logsumexp(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The place of the first largest element, or of the first NaN, as i64: along one axis, or in C order over all. An error over no elements. */
KRF_API krf_expr krf_argmax(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The place of the first smallest element, or of the first NaN, as i64: along one axis, or in C order over all. An error over no elements. */
KRF_API krf_expr krf_argmin(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The sum of what is not NaN. */
KRF_API krf_expr krf_nansum(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The product of what is not NaN. */
KRF_API krf_expr krf_nanprod(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The largest of what is not NaN; NaN where all are. */
KRF_API krf_expr krf_nanmax(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The smallest of what is not NaN; NaN where all are. */
KRF_API krf_expr krf_nanmin(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The mean of what is not NaN; NaN where all are. */
KRF_API krf_expr krf_nanmean(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The Euclidean norm: sqrt(sum(abs(x)**2)). */
KRF_API krf_expr krf_norm(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The sum of absolute values. */
KRF_API krf_expr krf_norm1(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The largest absolute value, NaN if any is. An error over no elements. */
KRF_API krf_expr krf_norminf(krf_expr x, int n_axes, const int *axes, bool keepdims);

#ifdef __cplusplus
}
#endif

#endif
