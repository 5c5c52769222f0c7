/* Builds call nodes. */
#include "ir/build_call.h"

#include <string.h>

static bool wrong_number(krf_graph *g, const krf_op *op, int n) {
    krf__graph_fail(g, KRF_E_ARGUMENT, "%s: takes %d operand%s, not %d", op->name, op->n_parameters, op->n_parameters == 1 ? "" : "s", n);
    return false;
}

static bool refuse_complex(krf_graph *g, const krf_op *op, const uint32_t *operands) {
    for (int i = 0; i < op->n_parameters; i++) {
        if (krf__is_complex(krf__dtype_of(g, operands[i]))) {
            krf__graph_fail(g, KRF_E_DTYPE, "%s: operand %s is %s; a definition works on real numbers: hand it real(z), imag(z) or abs(z)", op->name, op->parameters[i].name,
                            krf_dtype_name(krf__dtype_of(g, operands[i])));
            return false;
        }
    }
    return true;
}

/* The dtype that each letter stands for. */
static bool find_letters(krf_graph *g, const krf_op *op, const uint32_t *operands, uint8_t letters[26]) {
    for (char letter = 'A'; letter <= 'Z'; letter++) {
        uint32_t own[KRF__MOST_DEFINED];
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
    const bool weak = n->weak && (krf__dtype(from)->kind <= krf__dtype(to)->kind || (krf__is_int(from) && krf__is_int(to)));
    if (op->parameters[i].letter == 0 && !weak && (!krf__promote(from, to, &both) || both != to)) {
        return krf__graph_fail(g, KRF_E_DTYPE, "%s: operand %s is %s, and %s was declared: cast it", op->name, op->parameters[i].name, krf_dtype_name(from), krf_dtype_name(to));
    }
    return krf__build_given(g, op->name, x, to);
}

/* Operands by the signature of `op`: converted, checked, and made a chain. What letters stand for, and the shape of all. */
static uint32_t build_chain(krf_graph *g, const krf_op *op, int n, const uint32_t *operands, uint8_t letters[26], int *rank, int64_t *shape) {
    uint32_t chain = 0;
    *rank = 0;
    if (n != op->n_parameters) {
        wrong_number(g, op, n);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        if (operands[i] == 0 || operands[i] >= g->n_nodes) {
            return 0;
        }
    }
    if (!refuse_complex(g, op, operands) || !find_letters(g, op, operands, letters)) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        const uint32_t x = convert(g, op, i, operands[i], krf__variable_dtype(&op->parameters[i], letters));
        if (x == 0) {
            return 0;
        }
        int64_t own[KRF_MAX_RANK], before[KRF_MAX_RANK];
        const int own_rank = krf__node_of(g, x)->rank, rank_before = *rank;
        memcpy(own, krf__shape_of(g, x), (size_t)own_rank * sizeof *own);
        memcpy(before, shape, (size_t)rank_before * sizeof *before);
        if (!krf__shape_broadcast(rank_before, shape, own_rank, own, rank, shape)) {
            krf__str list = {0};
            krf__str_shape(&list, rank_before, before);
            krf__str_put(&list, " and ");
            krf__str_shape(&list, own_rank, own);
            krf__graph_fail(g, KRF_E_SHAPE, "%s: shapes %s do not broadcast", op->name, list.data != NULL ? list.data : "?");
            krf__str_free(&list);
            return 0;
        }
        krf__node bind = {.op = KRF__bind, .dtype = (uint8_t)krf__dtype_of(g, x), .rank = (uint8_t)*rank, .args = {chain, x}};
        chain = i == 0 ? x : krf__graph_add(g, &bind, shape, NULL);
        if (chain == 0) {
            return 0;
        }
    }
    if (krf__shape_size(*rank, shape) < 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "%s: the result has more than 2^63 elements", op->name);
    }
    return chain;
}

/* A node like this one for each result. */
static bool add_results(krf_graph *g, const krf_op *op, krf__node node, const uint8_t letters[26], const int64_t *shape, const int64_t *ints, uint32_t *results) {
    for (int r = 0; r < op->n_results; r++) {
        node.dtype = (uint8_t)krf__variable_dtype(&op->variables[r], letters);
        node.value = (uint64_t)(uintptr_t)&op->results[r];
        results[r] = krf__graph_add(g, &node, shape, ints);
        if (results[r] == 0) {
            memset(results, 0, (size_t)op->n_results * sizeof *results);
            return false;
        }
    }
    return true;
}

bool krf__build_call(krf_graph *g, const krf_op *op, int n, const uint32_t *operands, uint32_t *results) {
    uint8_t letters[26];
    int rank;
    int64_t shape[KRF_MAX_RANK];
    memset(results, 0, (size_t)op->n_results * sizeof *results);
    if (op->map != NULL) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "%s: is a reduction: call it with axes", op->name);
        return false;
    }
    const uint32_t chain = build_chain(g, op, n, operands, letters, &rank, shape);
    const krf__node call = {.op = KRF__call, .rank = (uint8_t)rank, .args = {chain}};
    return chain != 0 && add_results(g, op, call, letters, shape, NULL, results);
}

/* ---- reductions ---- */

/* Over nothing: each element alone, as a row of one. The parts have no names in the text form, so calls of them could not be printed; and halves would be rounded between them. */
static bool build_elements(krf_graph *g, const krf_op *op, int n, uint32_t chain, uint32_t *results) {
    uint32_t longer[KRF__MOST_DEFINED];
    int most = 0;
    for (int i = n - 1; i >= 0; i--) {
        int64_t shape[KRF_MAX_RANK + 1];
        const uint32_t x = i > 0 ? krf__node_of(g, chain)->args[1] : chain; /* as it was converted: a weak operand becomes a strong one here */
        const int rank = krf__node_of(g, x)->rank;
        chain = i > 0 ? krf__node_of(g, chain)->args[0] : chain;
        if (rank == KRF_MAX_RANK) {
            krf__graph_fail(g, KRF_E_SHAPE, "%s: over no elements, or a scan of one, operands have at most %d axes; reshape them", op->name, KRF_MAX_RANK - 1);
            return false;
        }
        memcpy(shape, krf__shape_of(g, x), (size_t)rank * sizeof *shape);
        shape[rank] = 1;
        longer[i] = krf__build_reshape(g, x, rank + 1, shape);
        if (longer[i] == 0) {
            return false;
        }
        most = rank > most ? rank : most;
    }
    return krf__build_fold(g, op, n, longer, &(krf__axes){1, &most, false}, results);
}

bool krf__build_fold(krf_graph *g, const krf_op *op, int n, const uint32_t *operands, const krf__axes *axes, uint32_t *results) {
    uint8_t letters[26];
    int64_t whole[KRF_MAX_RANK], shape[KRF_MAX_RANK], mask;
    int from, rank = 0;
    memset(results, 0, (size_t)op->n_results * sizeof *results);
    const uint32_t chain = build_chain(g, op, n, operands, letters, &from, whole);
    if (chain == 0 || !krf__build_axes(g, op->name, from, axes->n, axes->of, &mask)) {
        return false;
    }
    if (mask == 0) {
        return build_elements(g, op, n, chain, results);
    }
    for (int i = 0; i < from; i++) {
        const bool reduced = (mask >> i & 1) != 0;
        if (!reduced || axes->keepdims) {
            shape[rank++] = reduced ? 1 : whole[i];
        }
    }
    const krf__node fold = {.op = KRF__fold, .rank = (uint8_t)rank, .keepdims = axes->keepdims, .args = {chain}, .n_ints = 1};
    return add_results(g, op, fold, letters, shape, &mask, results);
}

bool krf__build_fold_scan(krf_graph *g, const krf_op *op, int n, const uint32_t *operands, int axis, uint32_t *results) {
    uint8_t letters[26];
    int64_t shape[KRF_MAX_RANK], mask;
    int rank;
    memset(results, 0, (size_t)op->n_results * sizeof *results);
    const uint32_t chain = build_chain(g, op, n, operands, letters, &rank, shape);
    if (chain != 0 && rank == 0) {
        krf__graph_fail(g, KRF_E_SHAPE, "%s: a value of rank 0 has no axis: reshape it to (1,)", op->name);
    }
    if (chain == 0 || rank == 0 || !krf__build_axes(g, op->name, rank, 1, &axis, &mask)) {
        return false;
    }
    if (shape[axis < 0 ? axis + rank : axis] <= 1) {
        return build_elements(g, op, n, chain, results);
    }
    const krf__node scan = {.op = KRF__fold_scan, .rank = (uint8_t)rank, .args = {chain}, .n_ints = 1};
    return add_results(g, op, scan, letters, shape, &mask, results);
}

uint32_t krf__build_fold_empty(krf_graph *g, const krf__result *result, const uint8_t letters[26]) {
    const krf_op *op = result->op;
    uint32_t fields[KRF__MOST_RESULTS], results[KRF__MOST_RESULTS];
    for (int i = 0; i < op->map->n_results; i++) {
        const krf_dtype dtype = krf__variable_dtype(&op->map->variables[i], letters);
        const krf__node number = {.op = KRF__constant, .dtype = (uint8_t)dtype, .value = krf__bits_cast(KRF_F64, dtype, krf__bits_from_f64(KRF_F64, op->identity[i]))};
        fields[i] = krf__graph_add(g, &number, NULL, NULL);
        if (fields[i] == 0) {
            return 0;
        }
    }
    if (op->post == NULL) {
        return fields[result->index];
    }
    return krf__build_call(g, op->post, op->map->n_results, fields, results) ? results[result->index] : 0;
}
