/* Derivatives of calls, from the definition's own text. */
#include "ir/derive_call.h"

#include "ir/derive.h"
#include "ir/text.h"

#include <string.h>

static const char *derivative_of(const krf_graph *g, uint32_t Y, int operand) {
    const krf__result *r = krf__result_of(krf__node_of(g, Y)->value);
    return r->op->derivatives != NULL ? r->op->derivatives[r->index * r->op->n_parameters + operand] : NULL;
}

bool krf__call_is_flat(const krf_graph *g, uint32_t Y, int operand) {
    const char *text = derivative_of(g, Y, operand);
    return text != NULL && strcmp(text, "0") == 0;
}

/* Parses a derivative where names mean what they meant when it was defined, in whatever context the graph is. */
static bool parse_slope(krf_graph *g, const krf_op *op, const char *text, int n, const krf__name *names, uint32_t *slope) {
    krf__defined *const outside = g->defined;
    krf__defined known;
    int count = 0;
    krf_status status = KRF_OK;
    krf__defined_open(&known);
    for (size_t i = 0; i < op->n_named && status == KRF_OK; i++) {
        status = krf__op_register(&known, (krf_op *)(uintptr_t)op->named[i]);
    }
    g->defined = &known;
    if (status != KRF_OK) {
        krf__graph_fail(g, status, "out of host memory (the derivative of %s)", op->name);
    } else {
        status = krf__parse(g, text, names, n, NULL, NULL, 1, slope, &count);
    }
    g->defined = outside;
    krf__defined_close(&known);
    return status == KRF_OK;
}

uint32_t krf__derive_call(krf_graph *g, uint32_t Y, int operand, uint32_t G) {
    const krf__node call = *krf__node_of(g, Y);
    const krf_op *op = krf__result_of(call.value)->op;
    const char *text = derivative_of(g, Y, operand);
    uint32_t operands[KRF__MOST_DEFINED], slope;
    krf__name names[KRF__MOST_DEFINED + KRF__MOST_RESULTS];
    uint8_t dtypes[KRF__MOST_DEFINED], letters[26];
    int n = 0;
    if (text == NULL || G == 0) {
        return 0;
    }
    krf__operands(g, Y, operands);
    for (int i = 0; i < op->n_parameters; i++) {
        dtypes[i] = (uint8_t)krf__dtype_of(g, operands[i]);
        names[n++] = (krf__name){.name = op->parameters[i].name, .id = operands[i]};
    }
    krf__op_letters(op, dtypes, letters);
    for (int r = 0; r < op->n_results; r++) {
        krf__node result = call;
        int64_t shape[KRF_MAX_RANK];
        memcpy(shape, krf__shape_of(g, Y), call.rank * sizeof *shape);
        result.value = (uint64_t)(uintptr_t)&op->results[r];
        result.dtype = (uint8_t)krf__variable_dtype(&op->variables[r], letters);
        names[n] = (krf__name){.name = op->variables[r].name, .id = krf__graph_add(g, &result, shape, NULL)};
        if (names[n++].id == 0) {
            return 0;
        }
    }
    return parse_slope(g, op, text, n, names, &slope) ? krf__derive_multiply(g, G, slope) : 0;
}
