/* Checked construction of reductions and scans: which axes, what they accumulate in, and halves rounded at the end. */
#include "ir/build.h"

/* The bit mask of the axes to reduce; false (and the error) when they are not valid. */
bool krf__build_axes(krf_graph *g, const char *name, int rank, int n_axes, const int *axes, int64_t *mask) {
    *mask = axes == NULL ? ((int64_t)1 << rank) - 1 : 0;
    for (int i = 0; axes != NULL && i < n_axes; i++) {
        int axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: axis %d is out of range for rank %d", name, axes[i], rank);
            return false;
        }
        if ((*mask >> axis & 1) != 0) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: axis %d is given twice", name, axes[i]);
            return false;
        }
        *mask |= (int64_t)1 << axis;
    }
    return true;
}

static bool axis_mask(krf_graph *g, krf__op op, uint32_t x, int n_axes, const int *axes, int64_t *mask) {
    return krf__build_axes(g, krf__op_info_of(op)->name, krf__node_of(g, x)->rank, n_axes, axes, mask);
}

krf_dtype krf__accumulator(krf__op op, krf_dtype given) {
    bool small = krf__is_half(given), floats = krf__is_real(given) || krf__is_complex(given);
    switch (krf__op_info_of(op)->rule) {
    case KRF__RULE_SUM:
        return small ? KRF_F32 : floats ? given : krf__dtype(given)->kind == KRF__KIND_UINT ? KRF_U64 : KRF_I64;
    case KRF__RULE_MEAN: return small ? KRF_F32 : floats ? given : KRF_F64;
    case KRF__RULE_BOOLEAN: return KRF_BOOL;
    default: return given;
    }
}

/* Complex numbers have no extremes, and no products of their parts for cumprod (prod is made of multiplications). False, with the error, for these. */
static bool folds_by_parts(krf_graph *g, krf__op op, uint32_t x) {
    krf__op reduction = krf__op_reduction(op);
    bool product = reduction == KRF__prod && op != KRF__prod;
    if (!krf__is_complex((krf_dtype)krf__node_of(g, x)->dtype) || (!product && krf__op_info_of(reduction)->rule != KRF__RULE_SAME)) {
        return true;
    }
    krf__graph_fail(g, KRF_E_DTYPE, "%s: not defined for %s; %s", krf__op_info_of(op)->name, krf_dtype_name(krf__dtype_of(g, x)),
                    product ? "use exp(cumsum(log(x)))" : "complex numbers have no order: reduce abs(x)");
    return false;
}

uint32_t krf__build_scan(krf_graph *g, krf__op op, uint32_t x, int axis) {
    int64_t mask;
    if (x == 0) {
        return 0;
    }
    if (krf__node_of(g, x)->rank == 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "%s: a value of rank 0 has no axis: reshape it to (1,)", krf__op_info_of(op)->name);
    }
    if (!axis_mask(g, op, x, 1, &axis, &mask) || !folds_by_parts(g, op, x)) {
        return 0;
    }
    krf_dtype given = (krf_dtype)krf__node_of(g, x)->dtype;
    krf_dtype dtype = krf__accumulator(krf__op_reduction(op), given);
    x = krf__build_cast(g, x, dtype);
    if (x == 0) {
        return 0;
    }
    int rank = krf__node_of(g, x)->rank;
    if (krf__shape_of(g, x)[axis < 0 ? axis + rank : axis] > 1) {
        krf__node node = {.op = (uint16_t)op, .dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .args = {x}, .n_ints = 1};
        x = krf__graph_add(g, &node, krf__shape_of(g, x), &mask);
    }
    return krf__is_half(given) ? krf__build_cast(g, x, given) : x;
}

uint32_t krf__build_reduce(krf_graph *g, krf__op op, uint32_t x, int n_axes, const int *axes, bool keepdims) {
    int64_t mask;
    if (x == 0 || !axis_mask(g, op, x, n_axes, axes, &mask) || !folds_by_parts(g, op, x)) {
        return 0;
    }
    krf_dtype given = (krf_dtype)krf__node_of(g, x)->dtype, dtype = krf__accumulator(op, given);
    if (krf__is_half(given) && dtype == KRF_F32) {
        uint32_t sum = krf__build_reduce(g, op, krf__build_cast(g, x, KRF_F32), n_axes, axes, keepdims);
        return krf__build_cast(g, sum, given);
    }
    x = krf__build_cast(g, x, dtype);
    if (x == 0 || mask == 0) {
        return x;
    }
    const krf__node *n = krf__node_of(g, x);
    const int64_t *extents = krf__shape_of(g, x);
    int64_t shape[KRF_MAX_RANK];
    int rank = 0;
    bool empty = false;
    for (int i = 0; i < n->rank; i++) {
        bool reduced = (mask >> i & 1) != 0;
        empty |= reduced && extents[i] == 0;
        if (!reduced || keepdims) {
            shape[rank++] = reduced ? 1 : extents[i];
        }
    }
    if (empty && krf__op_info_of(op)->rule == KRF__RULE_SAME && krf__shape_size(rank, shape) > 0) {
        krf__str text = {0};
        krf__str_shape(&text, n->rank, extents);
        krf__graph_fail(g, KRF_E_SHAPE, "%s: no elements to reduce in shape %s", krf__op_info_of(op)->name,
                        text.data != NULL ? text.data : "?");
        krf__str_free(&text);
        return 0;
    }
    krf__node node = {.op = (uint16_t)op, .dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .keepdims = keepdims,
                      .args = {x}, .n_ints = 1};
    return krf__graph_add(g, &node, shape, &mask);
}
