/* The language of GRAD and COMPOSE rows: calls that build nodes of the graph g. Arguments and results are node ids, 0 is poison. For the files that
 * expand such rows only: the names are short. */
#ifndef KRF_IR_BUILD_CALLS_H
#define KRF_IR_BUILD_CALLS_H

#include "ir/build.h"

#define CALL1(op, x) krf__build(g, KRF__##op, 1, (uint32_t[]){x})
#define CALL2(op, x, y) krf__build(g, KRF__##op, 2, (uint32_t[]){x, y})

/* Weak literals: they take the dtype of what they meet. */
#define ZERO krf__build_int(g, 0, true)
#define ONE krf__build_int(g, 1, true)
#define REAL(value) krf__build_real(g, value, true)
#define NONE 0

#define NEGATIVE(x) CALL1(negative, x)
#define ABS(x) CALL1(abs, x)
#define SIGN(x) CALL1(sign, x)
#define TRUNC(x) CALL1(trunc, x)
#define IMAG_PART(x) CALL1(imag_part, x) /* of a real number: 0 */
#define SQRT(x) CALL1(sqrt, x)
#define RSQRT(x) CALL1(rsqrt, x)
#define EXP(x) CALL1(exp, x)
#define LOG(x) CALL1(log, x)
#define SIN(x) CALL1(sin, x)
#define COS(x) CALL1(cos, x)
#define SINPI(x) CALL1(sinpi, x)
#define COSPI(x) CALL1(cospi, x)
#define TAN(x) CALL1(tan, x)
#define ASINH(x) CALL1(asinh, x)
#define LOG1P(x) CALL1(log1p, x)
#define EXPM1(x) CALL1(expm1, x)
#define SINH(x) CALL1(sinh, x)
#define COSH(x) CALL1(cosh, x)
#define ERFC(x) CALL1(erfc, x)
#define DIGAMMA(x) CALL1(digamma, x)
#define J0(x) CALL1(j0, x)
#define J1(x) CALL1(j1, x)
#define SIGMOID(x) CALL1(sigmoid, x)
#define FREXP_EXPONENT(x) CALL1(frexp_exponent, x)
#define ISNAN(x) CALL1(isnan, x)
#define ISINF(x) CALL1(isinf, x)
#define ISFINITE(x) CALL1(isfinite, x)
#define LOGICAL_NOT(x) CALL1(logical_not, x)

#define ADD(x, y) CALL2(add, x, y)
#define SUBTRACT(x, y) CALL2(subtract, x, y)
#define MULTIPLY(x, y) CALL2(multiply, x, y)
#define DIVIDE(x, y) CALL2(divide, x, y)
#define FLOOR_DIVIDE(x, y) CALL2(floor_divide, x, y)
#define POWER(x, y) CALL2(power, x, y)
#define HYPOT(x, y) CALL2(hypot, x, y)
#define LDEXP(x, y) CALL2(ldexp, x, y)
#define COPYSIGN(x, y) CALL2(copysign, x, y)
#define ATAN2(x, y) CALL2(atan2, x, y)
#define EXP_SINGLE(x) CALL1(exp_single, x)
#define SIN_SINGLE(x) CALL1(sin_single, x)
#define COS_SINGLE(x) CALL1(cos_single, x)
#define SOFTPLUS(x) CALL1(softplus, x)
#define MAXIMUM(x, y) CALL2(maximum, x, y)
#define FMAX(x, y) CALL2(fmax, x, y)
#define MINIMUM(x, y) CALL2(minimum, x, y)
#define EQUAL(x, y) CALL2(equal, x, y)
#define NOT_EQUAL(x, y) CALL2(not_equal, x, y)
#define LESS(x, y) CALL2(less, x, y)
#define GREATER(x, y) CALL2(greater, x, y)
#define LESS_EQUAL(x, y) CALL2(less_equal, x, y)
#define GREATER_EQUAL(x, y) CALL2(greater_equal, x, y)
#define LOGICAL_AND(x, y) CALL2(logical_and, x, y)
#define LOGICAL_OR(x, y) CALL2(logical_or, x, y)

#define FMA(x, y, z) krf__build(g, KRF__fma, 3, (uint32_t[]){x, y, z})
#define LOG_REST(x, y, t) krf__build(g, KRF__log_rest, 3, (uint32_t[]){x, y, t})
#define ARC_REST(y, x, t) krf__build(g, KRF__arc_rest, 3, (uint32_t[]){y, x, t})
#define WHERE(condition, y, z) krf__build(g, KRF__where, 3, (uint32_t[]){condition, y, z})

/* What derivatives of several functions are made of. The larger of two, or another choice: half of G to each where they are equal. */
#define CHOSEN(first) WHERE(first, G, WHERE(EQUAL(A, B), MULTIPLY(G, REAL(0.5)), ZERO))

/* x, or 1 where it is nearer to 0: what is not taken there shall have finite derivatives all the same. */
#define AWAY(x, least) WHERE(LESS(ABS(x), REAL(least)), ONE, x)

/* The derivatives of sinc up to 1/4 and of j1 near 0, by their series. */
#define STEP(first, rest, square) ADD(REAL(first), MULTIPLY(rest, square))
#define SINC_SLOPE(x) MULTIPLY(x, SINC_SERIES(MULTIPLY(x, x)))
#define SINC_SERIES(q) STEP(-3.289868133696453, STEP(3.246969701133414, STEP(-1.144510944732505, SINC_REST(q), q), q), q)
#define SINC_REST(q) STEP(0.20918278254123832, STEP(-0.023460810354558225, STEP(0.001781145516372851, SINC_LAST(q), q), q), q)
#define SINC_LAST(q) STEP(-9.766223126318928e-05, REAL(4.049947846619241e-06), q)
#define J1_SLOPE(x) STEP(0.5, STEP(-0.1875, STEP(0.013020833333333334, REAL(-0.00037977430555555556), MULTIPLY(x, x)), MULTIPLY(x, x)), MULTIPLY(x, x))

/* 2 sqrt(2 / pi) (1 + c x^2): gelu_tanh(x) = x sigmoid(x * this) where c = 0.044715; three times that c: the derivative of its argument. */
#define GELU_SLOPE(x, product) ADD(REAL(1.5957691216057308), MULTIPLY(REAL(product), MULTIPLY(x, x)))

#endif
