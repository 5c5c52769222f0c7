/* Functions made of others, and derivatives. Called by build.c for the first. */
#ifndef KRF_IR_COMPOSE_H
#define KRF_IR_COMPOSE_H

#include "ir/build.h"

/* Whether the function is an expression over others: it has no code of its own, and no node of a graph holds it. */
bool krf__is_composed(krf__op op);

/* Its nodes; the operands have been promoted by its rule. */
uint32_t krf__compose(krf_graph *g, krf__op op, const uint32_t *args);

/* The derivative by an operand (0, 1, 2) of a node Y with operands args, times the gradient G that comes from above. 0 when there is none, or the
 * graph has an error; composed functions have none, as no node holds them. It has the broadcast shape of Y. */
uint32_t krf__derive(krf_graph *g, krf__op op, int operand, const uint32_t *args, uint32_t Y, uint32_t G);

#endif
