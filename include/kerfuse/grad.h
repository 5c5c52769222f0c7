/* Derivatives of expressions, as expressions: nothing is computed when they are built, and value and gradients fuse into the same kernels. docs/gradients.md
 * says what can be differentiated, and what the conventions are. */
#ifndef KERFUSE_GRAD_H
#define KERFUSE_GRAD_H

#include <kerfuse/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reverse mode: the derivatives of y, one real number (rank 0), by n expressions of its graph: inputs, placeholders, scalars of krf_real, or any
 * expression that y is made of, which then counts as a value of its own. gradients: n expressions, written; gradients[k] has the shape and dtype of by[k] and
 * is 0 everywhere where y does not depend on it. They can be differentiated again. Complex variables: dy/dre - i dy/dim, as JAX has it.
 * Errors (gradients are poison, the graph keeps the message): KRF_E_SHAPE if y is not of rank 0, KRF_E_DTYPE if y is not real or a variable neither real
 * nor complex, KRF_E_ARGUMENT if a variable is a constant or y is made of something without a known derivative, which the message names. Takes time in
 * proportion to the size of the graph. Source: reverse accumulation; conventions at ties and for complex numbers are JAX's. */
KRF_API void krf_grad(krf_expr y, int n, const krf_expr *by, krf_expr *gradients);

/* The same with y itself in front: n + 1 results, to be handed to krf_compile or krf_eval_many together. */
KRF_API void krf_value_and_grad(krf_expr y, int n, const krf_expr *by, krf_expr *results);

/* Forward mode: how y, of any shape, changes when by[k] change by tangents[k] (each broadcasts to the shape of by[k]): the Jacobian times the tangents, in
 * the shape and dtype of y. Errors as above; y may be real or complex. */
KRF_API krf_expr krf_jvp(krf_expr y, int n, const krf_expr *by, const krf_expr *tangents);

/* x, which counts as a constant where something is differentiated: of any dtype and shape. Errors: none but x's own. */
KRF_API krf_expr krf_stop_gradient(krf_expr x);

#ifdef __cplusplus
}
#endif

#endif
