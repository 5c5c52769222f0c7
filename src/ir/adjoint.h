/* What nodes that are no elementwise functions hand on of a gradient, and of a tangent. Called by grad.c and jvp.c. Ids of one graph; 0 with an error in
 * the graph.
 *
 * adjoint: what the gradient G of node `id` adds to that of its operand. G has the node's shape. The result broadcasts to the operand's shape; where it is
 * smaller it stands for as many equal numbers.
 * tangent: what the tangent T of the operand, in its shape, adds to that of the node. */
#ifndef KRF_IR_ADJOINT_H
#define KRF_IR_ADJOINT_H

#include "ir/build.h"

uint32_t krf__adjoint_view(krf_graph *g, uint32_t id, uint32_t G);
uint32_t krf__adjoint_take(krf_graph *g, uint32_t id, uint32_t G); /* take, take_along_axis */

uint32_t krf__adjoint_reduce(krf_graph *g, uint32_t id, uint32_t G);
uint32_t krf__tangent_reduce(krf_graph *g, uint32_t id, uint32_t T);

uint32_t krf__adjoint_scan(krf_graph *g, uint32_t id, uint32_t G);
uint32_t krf__tangent_scan(krf_graph *g, uint32_t id, uint32_t T);

/* Zeros of a shape. They lie in no memory. */
uint32_t krf__zeros(krf_graph *g, krf_dtype dtype, int rank, const int64_t *shape);

/* Sums of a gradient c, which broadcasts to `from`, over the axes along which a value of shape `to` was stretched to it: of shape `to`, or broadcasting to
 * it. The error names the function `name`. */
uint32_t krf__adjoint_stretched(krf_graph *g, uint32_t c, int from_rank, const int64_t *from, int to_rank, const int64_t *to);

#endif
