/* Gradients as expressions: nodes that are built like any others, before anything is evaluated. Ids of one graph go in; poison in, poison out. */
#ifndef KRF_IR_GRAD_H
#define KRF_IR_GRAD_H

#include "ir/build.h"

/* The derivatives of y, a real number of rank 0, by n values: gradients[k] has the shape and dtype of by[k]. False, with an error in the graph and
 * gradients of 0, where there is none. Takes time in proportion to the nodes of the graph. */
bool krf__build_grad(krf_graph *g, uint32_t y, int n, const uint32_t *by, uint32_t *gradients);

/* How y changes when by[k] change by tangents[k], which are converted to the dtype of by[k] and broadcast to its shape: of the shape and dtype of y. */
uint32_t krf__build_jvp(krf_graph *g, uint32_t y, int n, const uint32_t *by, const uint32_t *tangents);

#endif
