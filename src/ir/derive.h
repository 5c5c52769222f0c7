/* Derivatives of elementwise functions: the GRAD rows of ops.def, and what functions of complex numbers need besides. Ids of one graph; poison in,
 * poison out.
 *
 * Complex numbers: the gradient G of a real number L by z = x + y i is dL/dx - i dL/dy, so that dL = real(G dz). A function that has a complex
 * derivative then hands on G times it, with nothing conjugated. */
#ifndef KRF_IR_DERIVE_H
#define KRF_IR_DERIVE_H

#include "ir/build.h"

typedef enum krf__derivative {
    KRF__DERIVATIVE_NONE,    /* 0 wherever there is one: floor, comparisons */
    KRF__DERIVATIVE_KNOWN,
    KRF__DERIVATIVE_UNKNOWN  /* there is one, and no expression for it */
} krf__derivative;

/* By an operand (0, 1, 2) of an elementwise function over real or complex numbers. */
krf__derivative krf__derivative_of(krf__op op, int operand);

/* The derivative by an operand of a node Y with operands args. forward: times G, a tangent of the operand: what it adds to Y's. Else times G, the
 * gradient that comes from above: what it adds to the operand's. The result broadcasts to Y's shape. 0 with an error in the graph, or where none is
 * known; a derivative that is 0 everywhere is the node 0. */
uint32_t krf__derive(krf_graph *g, krf__op op, int operand, const uint32_t *args, uint32_t Y, uint32_t G, bool forward);

/* x * y, less what multiplication by 1 and -1 would do; -x likewise. */
uint32_t krf__derive_multiply(krf_graph *g, uint32_t x, uint32_t y);
uint32_t krf__derive_negative(krf_graph *g, uint32_t x);

#endif
