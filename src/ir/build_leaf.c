/* Numbers, and what is cast: nodes for which nothing is promoted. */
#include "ir/build.h"

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
