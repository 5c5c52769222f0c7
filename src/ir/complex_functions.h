/* Complex functions as expressions over real nodes. For complex.c and the file that defines them only.
 *
 * roomy: the parts are f64 and came from f32, so that squares neither overflow nor vanish and scaling is left out.
 * Special values are those of C's Annex G; the branch cuts are C's, on either side of which the sign of a zero decides. */
#ifndef KRF_IR_COMPLEX_FUNCTIONS_H
#define KRF_IR_COMPLEX_FUNCTIONS_H

#include "ir/complex.h"

static inline krf__pair krf__real(uint32_t re) { return (krf__pair){re, 0}; }

krf__pair krf__complex_negative(krf_graph *g, krf__pair a);
krf__pair krf__complex_turn(krf_graph *g, krf__pair a);                /* i a */
krf__pair krf__complex_turn_back(krf_graph *g, krf__pair a);           /* -i a */
krf__pair krf__complex_scale(krf_graph *g, krf__pair a, double by);
krf__pair krf__complex_add(krf_graph *g, krf__pair a, krf__pair b);
krf__pair krf__complex_multiply(krf_graph *g, krf__pair a, krf__pair b); /* (ac - bd) + (ad + bc) i, as it stands */
krf__pair krf__complex_where(krf_graph *g, uint32_t condition, krf__pair a, krf__pair b);
krf__pair krf__complex_divide(krf_graph *g, krf__pair a, krf__pair b, bool roomy);
krf__pair krf__complex_sign(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_power(krf_graph *g, krf__pair a, krf__pair b, bool roomy);

krf__pair krf__complex_sqrt(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_exp(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_expm1(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_log(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_log1p(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_sinh(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_cosh(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_tanh(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_asinh(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_acos(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_acosh(krf_graph *g, krf__pair a, bool roomy);
krf__pair krf__complex_atanh(krf_graph *g, krf__pair a, bool roomy);

/* The imaginary part as a node. A real 0, not a whole one: -0 is another side of a branch cut. */
#define IM(a) ((a).im != 0 ? (a).im : REAL(0))

#endif
