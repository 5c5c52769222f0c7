/* Calls of what users define: operands promoted by the definition's signature, broadcast. */
#ifndef KRF_IR_BUILD_CALL_H
#define KRF_IR_BUILD_CALL_H

#include "ir/build_composed.h"

/* Writes a node for each result; false, with the error in the graph and poison in results, when it cannot. */
bool krf__build_call(krf_graph *g, const krf_op *op, int n, const uint32_t *operands, uint32_t *results);

/* A reduction over axes (NULL: all), or a scan along one. */
bool krf__build_fold(krf_graph *g, const krf_op *op, int n, const uint32_t *operands, const krf__axes *axes, uint32_t *results);
bool krf__build_fold_scan(krf_graph *g, const krf_op *op, int n, const uint32_t *operands, int axis, uint32_t *results);

/* What a reduction is over no elements, of rank 0. */
uint32_t krf__build_fold_empty(krf_graph *g, const krf__result *result, const uint8_t letters[26]);

#endif
