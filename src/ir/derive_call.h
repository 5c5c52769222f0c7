/* Derivatives of what users define. */
#ifndef KRF_IR_DERIVE_CALL_H
#define KRF_IR_DERIVE_CALL_H

#include "ir/graph.h"

/* The derivative of call node Y by operand k, times G, as krf__derive has it. 0 with an error in the graph, or where the definition has none. */
uint32_t krf__derive_call(krf_graph *g, uint32_t Y, int operand, uint32_t G);

/* Whether it is 0 wherever there is one. */
bool krf__call_is_flat(const krf_graph *g, uint32_t Y, int operand);

#endif
