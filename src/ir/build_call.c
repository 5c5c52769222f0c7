/* Builds call nodes, and their derivatives from the definition's own text. */
#include "ir/build_call.h"

#include "ir/derive.h"
#include "ir/text.h"

#include <string.h>

static krf_dtype dtype_of(const krf_graph *g, uint32_t x) { return (krf_dtype)krf__node_of(g, x)->dtype; }

static bool wrong_number(krf_graph *g, const krf_op *op, int n) {
    krf__graph_fail(g, KRF_E_ARGUMENT, "%s: takes %d operand%s, not %d", op->name, op->n_parameters, op->n_parameters == 1 ? "" : "s", n);
    return false;
}

static bool refuse_complex(krf_graph *g, const krf_op *op, const uint32_t *operands) {
    for (int i = 0; i < op->n_parameters; i++) {
        if (krf__is_complex(dtype_of(g, operands[i]))) {
            krf__graph_fail(g, KRF_E_DTYPE, "%s: operand %s is %s; a definition works on real numbers: hand it real(z), imag(z) or abs(z)", op->name, op->parameters[i].name,
                            krf_dtype_name(dtype_of(g, operands[i])));
            return false;
        }
    }
    return true;
}

/* The dtype that each letter stands for. */
static bool find_letters(krf_graph *g, const krf_op *op, const uint32_t *operands, uint8_t letters[26]) {
    for (char letter = 'A'; letter <= 'Z'; letter++) {
        uint32_t own[KRF__MOST_OPERANDS];
        int n = 0;
        for (int i = 0; i < op->n_parameters; i++) {
            if (op->parameters[i].letter == letter) {
                own[n++] = operands[i];
            }
        }
        krf_dtype dtype = KRF_F32;
        if (n > 0 && !krf__build_common(g, n, own, &dtype)) {
            krf__graph_fail(g, KRF_E_DTYPE, "%s: no integer holds all operands of type %c: cast one of them", op->name, letter);
            return false;
        }
        letters[letter - 'A'] = (uint8_t)(letter == 'F' ? krf__build_float_of(dtype) : dtype);
    }
    return true;
}

/* Operand i in the dtype of its parameter. */
static uint32_t convert(krf_graph *g, const krf_op *op, int i, uint32_t x, krf_dtype to) {
    const krf__node *n = krf__node_of(g, x);
    const krf_dtype from = (krf_dtype)n->dtype;
    krf_dtype both;
    const bool weak = n->weak && krf__dtype(from)->kind <= krf__dtype(to)->kind;
    if (op->parameters[i].letter == 0 && !weak && (!krf__promote(from, to, &both) || both != to)) {
        return krf__graph_fail(g, KRF_E_DTYPE, "%s: operand %s is %s, and %s was declared: cast it", op->name, op->parameters[i].name, krf_dtype_name(from), krf_dtype_name(to));
    }
    return krf__build_cast(g, krf__build_convert(g, op->name, x, to), to); /* strong, if it was weak */
}

bool krf__build_call(krf_graph *g, const krf_op *op, int n, const uint32_t *operands, uint32_t *results) {
    uint8_t letters[26];
    uint32_t chain = 0;
    int rank = 0;
    int64_t shape[KRF_MAX_RANK];
    memset(results, 0, (size_t)op->n_results * sizeof *results);
    if (n != op->n_parameters) {
        return wrong_number(g, op, n);
    }
    for (int i = 0; i < n; i++) {
        if (operands[i] == 0 || operands[i] >= g->n_nodes) {
            return false;
        }
    }
    if (!refuse_complex(g, op, operands) || !find_letters(g, op, operands, letters)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        const uint32_t x = convert(g, op, i, operands[i], krf__variable_dtype(&op->parameters[i], letters));
        if (x == 0) {
            return false;
        }
        int64_t own[KRF_MAX_RANK], before[KRF_MAX_RANK];
        const int own_rank = krf__node_of(g, x)->rank, rank_before = rank;
        memcpy(own, krf__shape_of(g, x), (size_t)own_rank * sizeof *own);
        memcpy(before, shape, (size_t)rank * sizeof *before);
        if (!krf__shape_broadcast(rank, shape, own_rank, own, &rank, shape)) {
            krf__str list = {0};
            krf__str_shape(&list, rank_before, before);
            krf__str_put(&list, " and ");
            krf__str_shape(&list, own_rank, own);
            krf__graph_fail(g, KRF_E_SHAPE, "%s: shapes %s do not broadcast", op->name, list.data != NULL ? list.data : "?");
            krf__str_free(&list);
            return false;
        }
        krf__node bind = {.op = KRF__bind, .dtype = (uint8_t)dtype_of(g, x), .rank = (uint8_t)rank, .args = {chain, x}};
        chain = i == 0 ? x : krf__graph_add(g, &bind, shape, NULL);
        if (chain == 0) {
            return false;
        }
    }
    if (krf__shape_size(rank, shape) < 0) {
        krf__graph_fail(g, KRF_E_SHAPE, "%s: the result has more than 2^63 elements", op->name);
        return false;
    }
    for (int r = 0; r < op->n_results; r++) {
        krf__node call = {.op = KRF__call, .dtype = (uint8_t)krf__variable_dtype(&op->variables[r], letters), .rank = (uint8_t)rank, .args = {chain},
                          .value = (uint64_t)(uintptr_t)&op->results[r]};
        results[r] = krf__graph_add(g, &call, shape, NULL);
        if (results[r] == 0) {
            memset(results, 0, (size_t)op->n_results * sizeof *results);
            return false;
        }
    }
    return true;
}

/* ---- derivatives ---- */

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
    uint32_t operands[KRF__MOST_OPERANDS], slope;
    krf__name names[KRF__MOST_OPERANDS + KRF__MOST_RESULTS];
    uint8_t dtypes[KRF__MOST_OPERANDS], letters[26];
    int n = 0, count = 0;
    if (text == NULL || G == 0) {
        return 0;
    }
    krf__operands(g, Y, operands);
    for (int i = 0; i < op->n_parameters; i++) {
        dtypes[i] = (uint8_t)dtype_of(g, operands[i]);
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
    if (krf__parse(g, text, names, n, NULL, NULL, 1, &slope, &count) != KRF_OK) {
        return 0;
    }
    return krf__derive_multiply(g, G, slope);
}
