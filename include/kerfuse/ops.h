/* The operations. Generated from src/ir/ops.def: change that.
 *
 * Every function appends a node to the graph of its operands and returns it; none evaluates anything, and none fails loudly: poison in, poison
 * out, and krf_graph_error tells why. Operands broadcast as in NumPy and are promoted as docs/semantics.md says; all must be of one graph.
 *
 * Reductions: axes: n_axes distinct axes, negative ones counted from the end; NULL for all axes. keepdims: reduced axes stay with extent 1.
 * Sums and products of floats are taken in one fixed order, the same on every device.
 *
 * Scans: the result has the shape of x; axis counts from the end where it is negative. x of rank 0 is an error. */
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

/* x / y, the true quotient. Bools and integers of 8 and 16 bits are divided as f32, of 32 and 64 bits as f64. */
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

/* x + y i, of two real numbers: c64; c128 of f64 and of integers of 32 and 64 bits. */
KRF_API krf_expr krf_complex_of(krf_expr x, krf_expr y);

/* The real part of a complex number; x itself of others. */
KRF_API krf_expr krf_real_part(krf_expr x);

/* The imaginary part of a complex number; 0 of others. */
KRF_API krf_expr krf_imag_part(krf_expr x);

/* x with the sign of the imaginary part changed; x itself of what is not complex. */
KRF_API krf_expr krf_conj(krf_expr x);

/* The angle of a complex number, atan2(imag(x), real(x)): 0 or pi of others, NaN for NaN. */
KRF_API krf_expr krf_angle(krf_expr x);

/* x. */
KRF_API krf_expr krf_positive(krf_expr x);

/* x * x. */
KRF_API krf_expr krf_square(krf_expr x);

/* 1 / x. Bools and integers of 8 and 16 bits in f32, of 32 and 64 bits in f64. */
KRF_API krf_expr krf_reciprocal(krf_expr x);

/* Rounded towards zero. */
KRF_API krf_expr krf_trunc(krf_expr x);

/* The magnitude of x with the sign of y, of zeros and NaNs too. */
KRF_API krf_expr krf_copysign(krf_expr x, krf_expr y);

/* Whether the sign bit is set: below zero, -0 and negative NaNs. */
KRF_API krf_expr krf_signbit(krf_expr x);

/* An integer that is larger where x is: i32, of f64 i64. The bits of x, of negative numbers ~bits with the sign set; 0 for -0, the largest for NaN. */
KRF_API krf_expr krf_order_key(krf_expr x);

/* Whether x is neither infinite nor NaN. */
KRF_API krf_expr krf_isfinite(krf_expr x);

/* Whether abs(x - y) <= 1e-8 + 1e-5 * abs(y), or x == y. */
KRF_API krf_expr krf_isclose(krf_expr x, krf_expr y);

/* The next number of the dtype after x in the direction of y; y if they are equal. */
KRF_API krf_expr krf_nextafter(krf_expr x, krf_expr y);

/* The larger; the other one if one is NaN. +0 is above -0. */
KRF_API krf_expr krf_fmax(krf_expr x, krf_expr y);

/* The smaller; the other one if one is NaN. -0 is below +0. */
KRF_API krf_expr krf_fmin(krf_expr x, krf_expr y);

/* minimum(maximum(x, y), z): x kept between y and z, and z where y > z. */
KRF_API krf_expr krf_clip(krf_expr x, krf_expr y, krf_expr z);

/* The remainder with the sign of x, as C's fmod and %. Integers: by zero gives 0. */
KRF_API krf_expr krf_fmod(krf_expr x, krf_expr y);

/* x * y + z with one rounding. */
KRF_API krf_expr krf_fma(krf_expr x, krf_expr y, krf_expr z);

/* x + z * (y - x): x where z is 0, and on towards y. */
KRF_API krf_expr krf_lerp(krf_expr x, krf_expr y, krf_expr z);

/* 0 below zero, y at zero, 1 above; NaN for NaN. */
KRF_API krf_expr krf_heaviside(krf_expr x, krf_expr y);

/* 0 for NaN, the largest number for infinity, the lowest for -infinity, else x. */
KRF_API krf_expr krf_nan_to_num(krf_expr x);

/* x * 2**y for a whole y (a fraction is dropped), rounded once. */
KRF_API krf_expr krf_ldexp(krf_expr x, krf_expr y);

/* m of x = m * 2**e with 0.5 <= abs(m) < 1; x itself for 0, infinities and NaN. */
KRF_API krf_expr krf_frexp_mantissa(krf_expr x);

/* e of x = m * 2**e with 0.5 <= abs(m) < 1, in x's dtype; 0 for 0, infinities and NaN. */
KRF_API krf_expr krf_frexp_exponent(krf_expr x);

/* The greatest common divisor, not negative; gcd(0, 0) is 0. */
KRF_API krf_expr krf_gcd(krf_expr x, krf_expr y);

/* The least common multiple, not negative; 0 if either is 0. */
KRF_API krf_expr krf_lcm(krf_expr x, krf_expr y);

/* How many bits of x are 1, in x's dtype; of the two's complement below zero. */
KRF_API krf_expr krf_popcount(krf_expr x);

/* How many bits of abs(x) are 1, in x's dtype, as NumPy counts them. */
KRF_API krf_expr krf_bitwise_count(krf_expr x);

/* The upper half of the bits of x * y. */
KRF_API krf_expr krf_multiply_high(krf_expr x, krf_expr y);

/* 64 random bits for counter x and key y, both wrapped to 64 bits: words 2x % 4 and 2x % 4 + 1 (the lower half) of block x // 2 of Philox4x32-10. The low bits in narrower dtypes. */
KRF_API krf_expr krf_philox(krf_expr x, krf_expr y);

/* 1 / sqrt(x); inf at 0, -inf at -0. */
KRF_API krf_expr krf_rsqrt(krf_expr x);

/* The cube root, of negative numbers too. */
KRF_API krf_expr krf_cbrt(krf_expr x);

/* 2 to the power x. */
KRF_API krf_expr krf_exp2(krf_expr x);

/* 10 to the power x. */
KRF_API krf_expr krf_exp10(krf_expr x);

/* The logarithm to base 2; -inf at zero, NaN below. */
KRF_API krf_expr krf_log2(krf_expr x);

/* The logarithm to base 10; -inf at zero, NaN below. */
KRF_API krf_expr krf_log10(krf_expr x);

/* log(exp(x) + exp(y)) without overflow on the way. */
KRF_API krf_expr krf_logaddexp(krf_expr x, krf_expr y);

/* x * log(y); 0 where x is 0 and y is no NaN. */
KRF_API krf_expr krf_xlogy(krf_expr x, krf_expr y);

/* x * log1p(y); 0 where x is 0 and y is no NaN. */
KRF_API krf_expr krf_xlog1py(krf_expr x, krf_expr y);

/* log(x / (1 - x)); -inf at 0, inf at 1, NaN outside. */
KRF_API krf_expr krf_logit(krf_expr x);

/* sin(pi * x), with no error from the product. */
KRF_API krf_expr krf_sinpi(krf_expr x);

/* cos(pi * x), with no error from the product. */
KRF_API krf_expr krf_cospi(krf_expr x);

/* sin(pi * x) / (pi * x), as NumPy's; 1 at 0. */
KRF_API krf_expr krf_sinc(krf_expr x);

/* The arc sine in radians; NaN outside -1 to 1. */
KRF_API krf_expr krf_asin(krf_expr x);

/* The arc cosine in radians; NaN outside -1 to 1. */
KRF_API krf_expr krf_acos(krf_expr x);

/* The arc tangent in radians. */
KRF_API krf_expr krf_atan(krf_expr x);

/* The hyperbolic sine. */
KRF_API krf_expr krf_sinh(krf_expr x);

/* The hyperbolic cosine. */
KRF_API krf_expr krf_cosh(krf_expr x);

/* The inverse of sinh. */
KRF_API krf_expr krf_asinh(krf_expr x);

/* The inverse of cosh, not negative; NaN below 1. */
KRF_API krf_expr krf_acosh(krf_expr x);

/* The inverse of tanh; infinite at -1 and 1, NaN outside. */
KRF_API krf_expr krf_atanh(krf_expr x);

/* Degrees to radians: x * pi / 180. */
KRF_API krf_expr krf_deg2rad(krf_expr x);

/* Radians to degrees: x * 180 / pi. */
KRF_API krf_expr krf_rad2deg(krf_expr x);

/* The error function. */
KRF_API krf_expr krf_erf(krf_expr x);

/* 1 - erf(x), accurate where that is small. */
KRF_API krf_expr krf_erfc(krf_expr x);

/* The inverse of erf; infinite at -1 and 1, NaN outside. */
KRF_API krf_expr krf_erfinv(krf_expr x);

/* The inverse of the normal distribution function: x with that probability below it; infinite at 0 and 1, NaN outside. */
KRF_API krf_expr krf_ndtri(krf_expr x);

/* The gamma function; NaN at negative integers, infinite at zeros. */
KRF_API krf_expr krf_gamma(krf_expr x);

/* log(abs(gamma(x))); inf at integers up to 0. */
KRF_API krf_expr krf_lgamma(krf_expr x);

/* The derivative of lgamma; NaN at negative integers, infinite at zeros. */
KRF_API krf_expr krf_digamma(krf_expr x);

/* The modified Bessel function of the first kind of order 0. */
KRF_API krf_expr krf_i0(krf_expr x);

/* The Bessel function of the first kind of order 0. */
KRF_API krf_expr krf_j0(krf_expr x);

/* The Bessel function of the first kind of order 1. */
KRF_API krf_expr krf_j1(krf_expr x);

/* 1 / (1 + exp(-x)). */
KRF_API krf_expr krf_sigmoid(krf_expr x);

/* log(sigmoid(x)). */
KRF_API krf_expr krf_log_sigmoid(krf_expr x);

/* log(1 + exp(x)). */
KRF_API krf_expr krf_softplus(krf_expr x);

/* x where it is positive, else 0; NaN for NaN. */
KRF_API krf_expr krf_relu(krf_expr x);

/* x * sigmoid(x); -0 at -inf. */
KRF_API krf_expr krf_silu(krf_expr x);

/* x times the normal distribution function: x / 2 * erfc(-x / sqrt(2)); -0 at -inf. */
KRF_API krf_expr krf_gelu(krf_expr x);

/* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))); -0 at -inf. */
KRF_API krf_expr krf_gelu_tanh(krf_expr x);

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

/* The cumulative sum along an axis. Bools and integers are summed in 64 bits, f16 and bf16 in f32. */
KRF_API krf_expr krf_cumsum(krf_expr x, int axis);

/* The cumulative product along an axis. Bools and integers are multiplied in 64 bits, f16 and bf16 in f32. */
KRF_API krf_expr krf_cumprod(krf_expr x, int axis);

/* The largest element so far along an axis; NaN from the first NaN on. */
KRF_API krf_expr krf_cummax(krf_expr x, int axis);

/* The smallest element so far along an axis; NaN from the first NaN on. */
KRF_API krf_expr krf_cummin(krf_expr x, int axis);

/* Reductions that are expressions over those above. ddof: what is subtracted from the count; 1 for samples. */
/* The variance: the mean of squared differences from the mean, in two passes, or over more than 65,536 f32 elements (131,072 f16 and bf16; 8,192 where the last axis stays) in one by sums in f64, over more than 131,072 others in one by parts, unless the last axis stays; divided by count - ddof. Integers and bools in f64; bools and integers of 8 or 16 bits in one pass, by sums of integers. */
KRF_API krf_expr krf_var(krf_expr x, double ddof, int n_axes, const int *axes, bool keepdims);

/* The standard deviation: the square root of var. */
KRF_API krf_expr krf_std(krf_expr x, double ddof, int n_axes, const int *axes, bool keepdims);

/* How many elements are not 0 (NaN is not), as i64. */
KRF_API krf_expr krf_count_nonzero(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The largest less the smallest. NaN if any is. An error over no elements. */
KRF_API krf_expr krf_ptp(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* log(sum(exp(x))) without overflow on the way. Integers and bools in f64. */
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

/* The Euclidean norm: sqrt(sum(abs(x)**2)). Integers and bools in f64. */
KRF_API krf_expr krf_norm(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The sum of absolute values. Integers in 64 bits. */
KRF_API krf_expr krf_norm1(krf_expr x, int n_axes, const int *axes, bool keepdims);

/* The largest absolute value, NaN if any is. Of integers in their dtype, in which abs of the lowest is itself: cast to a wider one where it may occur. An error over no elements. */
KRF_API krf_expr krf_norminf(krf_expr x, int n_axes, const int *axes, bool keepdims);

#ifdef __cplusplus
}
#endif

#endif
