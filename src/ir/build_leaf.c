/* Numbers, arrays, placeholders, and what is cast: nodes for which nothing is promoted. */
#include "ir/build.h"

#include "base/mem.h"

#include <string.h>

static uint32_t add_leaf(krf_graph *g, krf__op op, krf_dtype dtype, bool weak, uint64_t value) {
    const int64_t own = (int64_t)g->n_nodes;
    krf__node node = {.op = (uint16_t)op, .dtype = (uint8_t)dtype, .weak = weak, .n_ints = op == KRF__scalar && g->traced, .value = value};
    return krf__graph_add(g, &node, NULL, &own);
}

/* Kernels are specialised on these: they are frequent, and compilers do much with them. */
static bool printed_int(int64_t value) { return value >= -1 && value <= 2; }
static bool printed_real(double value) {
    static const double known[] = {0.0, 1.0, -1.0, 2.0, 0.5};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (memcmp(&known[i], &value, sizeof value) == 0) {
            return true;
        }
    }
    return false;
}

uint32_t krf__build_int(krf_graph *g, int64_t value, bool literal) {
    krf__op op = literal || printed_int(value) ? KRF__constant : KRF__scalar;
    return add_leaf(g, op, KRF_I64, true, krf__bits_from_i64(KRF_I64, value));
}

uint32_t krf__build_real(krf_graph *g, double value, bool literal) {
    krf__op op = literal || printed_real(value) ? KRF__constant : KRF__scalar;
    return add_leaf(g, op, KRF_F64, true, krf__bits_from_f64(KRF_F64, value));
}

uint32_t krf__build_large(krf_graph *g, uint64_t value) { return add_leaf(g, KRF__constant, KRF_U64, true, value); }
uint32_t krf__build_bool(krf_graph *g, bool value) { return add_leaf(g, KRF__constant, KRF_BOOL, false, value); }

uint32_t krf__build_cast(krf_graph *g, uint32_t x, krf_dtype dtype) {
    const krf__node *n = krf__node_of(g, x);
    if (x == 0 || ((krf_dtype)n->dtype == dtype && !n->weak)) {
        return x;
    }
    if ((unsigned)dtype >= KRF__DTYPE_COUNT) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "cast: %d is not a dtype", (int)dtype);
    }
    bool complex = krf__is_complex((krf_dtype)n->dtype);
    if (complex && !krf__is_complex(dtype) && dtype != KRF_BOOL) {
        return krf__graph_fail(g, KRF_E_DTYPE, "cast: %s to %s loses the imaginary part: cast real(x), imag(x) or abs(x)",
                               krf_dtype_name((krf_dtype)n->dtype), krf_dtype_name(dtype));
    }
    if (n->op == KRF__constant && !krf__is_complex(dtype)) {
        return add_leaf(g, KRF__constant, dtype, false, krf__bits_cast((krf_dtype)n->dtype, dtype, n->value));
    }
    krf__node node = {.op = KRF__cast, .dtype = (uint8_t)dtype, .rank = n->rank, .args = {x}};
    return krf__graph_add(g, &node, krf__shape_of(g, x), NULL);
}

uint32_t krf__build_stop_gradient(krf_graph *g, uint32_t x) {
    const krf__node *n = krf__node_of(g, x);
    krf__node node = {.op = KRF__stop_gradient, .dtype = n->dtype, .weak = n->weak, .rank = n->rank, .args = {x}};
    return x == 0 || n->op == KRF__constant ? x : krf__graph_add(g, &node, krf__shape_of(g, x), NULL);
}

uint32_t krf__build_input(krf_graph *g, krf_array *array) {
    if (g->nil || g->status != KRF_OK) {
        return 0;
    }
    if (array == NULL) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "input: the array is NULL");
    }
    if (g->context != NULL && krf_array_context(array) != g->context) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "input: the array belongs to another context than the graph: copy it to an array of this one with krf_array_copy");
    }
    size_t index = 0;
    while (index < g->n_arrays && g->arrays[index] != array) {
        index++;
    }
    if (index == g->n_arrays) {
        if (!krf__grow(&g->arrays, &g->arrays_capacity, g->n_arrays + 1, sizeof(krf_array *))) {
            return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (inputs)");
        }
        g->arrays[g->n_arrays++] = krf_array_retain(array);
    }
    krf__node node = {.op = KRF__input, .dtype = (uint8_t)array->dtype, .rank = (uint8_t)array->rank, .value = index};
    return krf__graph_add(g, &node, array->shape, NULL);
}

uint32_t krf__build_placeholder(krf_graph *g, const char *name, krf_dtype dtype, bool weak, int rank,
                                const int64_t *shape, const int64_t *strides) {
    if (g->nil || g->status != KRF_OK) {
        return 0;
    }
    const char *shown = name != NULL ? name : "placeholder";
    const char *fault = (unsigned)dtype >= KRF__DTYPE_COUNT ? "the dtype is none" : krf__shape_fault(rank, shape);
    if (fault != NULL) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %s", shown, fault);
    }
    if (weak && dtype != KRF_I64 && dtype != KRF_F64 && dtype != KRF_C128) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: a weak scalar is KRF_I64, KRF_F64 or KRF_C128", shown);
    }
    for (size_t i = 0; name != NULL && i < g->n_placeholders; i++) {
        if (g->placeholders[i].name != NULL && strcmp(g->placeholders[i].name, name) == 0) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: a placeholder of this name is there already", shown);
        }
    }
    if (!krf__grow(&g->placeholders, &g->placeholders_capacity, g->n_placeholders + 1, sizeof *g->placeholders)) {
        return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (placeholders)");
    }
    krf__placeholder p = {.name = name != NULL ? krf__strdup(name) : NULL, .strided = strides != NULL};
    if (name != NULL && p.name == NULL) {
        return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (placeholders)");
    }
    if (strides != NULL) {
        memcpy(p.strides, strides, (size_t)rank * sizeof *strides);
    } else {
        krf__shape_c_strides(rank, shape, p.strides);
    }
    krf__node node = {.op = KRF__placeholder, .dtype = (uint8_t)dtype, .weak = weak, .rank = (uint8_t)rank,
                      .value = g->n_placeholders};
    p.node = krf__graph_add(g, &node, shape, NULL);
    if (p.node == 0) {
        krf__mem_free(p.name);
        return 0;
    }
    g->placeholders[g->n_placeholders++] = p;
    return p.node;
}
