/* Functions made of others. Called by build.c. */
#ifndef KRF_IR_COMPOSE_H
#define KRF_IR_COMPOSE_H

#include "ir/build.h"

/* Whether the function is an expression over others: it has no code of its own, and no node of a graph holds it. */
bool krf__is_composed(krf__op op);

/* Whether more than one of these rounds its result. */
bool krf__composed_rounds_often(krf__op op);

/* Its nodes; the operands have been promoted by its rule. */
uint32_t krf__compose(krf_graph *g, krf__op op, const uint32_t *args);

#endif
