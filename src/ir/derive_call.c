/* Derivatives of calls, which the definition builds itself. */
#include "ir/derive_call.h"

#include "ir/derive.h"

#include <string.h>

static const char *derivative_of(const krf_graph *g, uint32_t Y, int operand) {
    const krf__result *r = krf__result_of(krf__node_of(g, Y)->value);
    return r->op->derivatives != NULL ? r->op->derivatives[r->index * r->op->n_parameters + operand] : NULL;
}

bool krf__call_is_flat(const krf_graph *g, uint32_t Y, int operand) {
    const char *text = derivative_of(g, Y, operand);
    return text != NULL && strcmp(text, "0") == 0;
}

uint32_t krf__derive_call(krf_graph *g, uint32_t Y, int operand, uint32_t G) {
    const krf__node call = *krf__node_of(g, Y);
    const krf_op *op = krf__result_of(call.value)->op;
    const char *text = derivative_of(g, Y, operand);
    uint32_t operands[KRF__MOST_DEFINED], named[KRF__MOST_DEFINED + KRF__MOST_RESULTS];
    uint8_t dtypes[KRF__MOST_DEFINED], letters[26];
    int n = 0;
    if (text == NULL || G == 0) {
        return 0;
    }
    krf__operands(g, Y, operands);
    for (int i = 0; i < op->n_parameters; i++) {
        dtypes[i] = (uint8_t)krf__dtype_of(g, operands[i]);
        named[n++] = operands[i];
    }
    krf__op_letters(op, dtypes, letters);
    for (int r = 0; r < op->n_results; r++) {
        krf__node result = call;
        int64_t shape[KRF_MAX_RANK];
        memcpy(shape, krf__shape_of(g, Y), call.rank * sizeof *shape);
        result.value = (uint64_t)(uintptr_t)&op->results[r];
        result.dtype = (uint8_t)krf__variable_dtype(&op->variables[r], letters);
        named[n] = krf__graph_add(g, &result, shape, NULL);
        if (named[n++] == 0) {
            return 0;
        }
    }
    const uint32_t slope = op->derive(g, op, text, named);
    return slope != 0 ? krf__derive_multiply(g, G, slope) : 0;
}
