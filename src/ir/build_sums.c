/* Sums over several operands, as expressions over elementwise operations and reductions. */
#include "ir/build_sums.h"

#include "base/fail.h"
#include "ir/build_movement.h"

#include <math.h>

static uint32_t call(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }
static int rank_of(const krf_graph *g, uint32_t x) { return krf__node_of(g, x)->rank; }

static uint32_t shapes_fail(krf_graph *g, const char *name, uint32_t x, uint32_t y, const char *wanted) {
    krf__str text = {0};
    krf__str_shape(&text, rank_of(g, x), krf__shape_of(g, x));
    krf__str_put(&text, " and ");
    krf__str_shape(&text, rank_of(g, y), krf__shape_of(g, y));
    krf__graph_fail(g, KRF_E_SHAPE, "%s: shapes %s: %s", name, text.data != NULL ? text.data : "?", wanted);
    krf__str_free(&text);
    return 0;
}

uint32_t krf__build_outer(krf_graph *g, uint32_t x, uint32_t y) {
    if (x == 0 || y == 0) {
        return 0;
    }
    return call(g, KRF__multiply, krf__build_expand_dims(g, krf__build_ravel(g, x), 1), krf__build_ravel(g, y));
}

/* Products and sum in the dtype that sums have: 64 bits for integers, f32 for halves, which are rounded at the end. */
static uint32_t sum_of_products(krf_graph *g, uint32_t x, uint32_t y) {
    krf_dtype both, wide;
    if (!krf__promote(krf__dtype_of(g, x), krf__dtype_of(g, y), &both) || both == KRF_BOOL) {
        return call(g, KRF__multiply, x, y); /* which says why not */
    }
    wide = krf__is_half(both) ? KRF_F32 : krf__is_real(both) || krf__is_complex(both) ? both : krf__dtype(both)->kind == KRF__KIND_UINT ? KRF_U64 : KRF_I64;
    uint32_t sum = krf__build_reduce(g, KRF__sum, call(g, KRF__multiply, krf__build_cast(g, x, wide), krf__build_cast(g, y, wide)), 0, NULL, false);
    return krf__is_half(both) ? krf__build_cast(g, sum, both) : sum;
}

uint32_t krf__build_dot(krf_graph *g, const char *name, uint32_t x, uint32_t y) {
    if (x == 0 || y == 0) {
        return 0;
    }
    if (rank_of(g, x) == 0 || rank_of(g, y) == 0) {
        return call(g, KRF__multiply, x, y);
    }
    if (rank_of(g, x) != 1 || !krf__same_shape(g, x, y)) {
        return shapes_fail(g, name, x, y, "takes vectors of one length");
    }
    return sum_of_products(g, x, y);
}

uint32_t krf__build_vdot(krf_graph *g, uint32_t x, uint32_t y) {
    uint32_t a = x == 0 || y == 0 ? 0 : krf__build_ravel(g, x), b = a == 0 ? 0 : krf__build_ravel(g, y);
    if (b == 0) {
        return 0;
    }
    if (krf__is_complex(krf__dtype_of(g, a))) {
        a = krf__build(g, KRF__conj, 1, &a);
    }
    return krf__same_shape(g, a, b) ? sum_of_products(g, a, b) : shapes_fail(g, "vdot", x, y, "takes as many elements of both");
}

/* Weights of x's shape, or one for each place along the only axis. */
static uint32_t spread(krf_graph *g, uint32_t x, uint32_t weights, const krf__axes *axes) {
    int rank = rank_of(g, x), axis = axes->of != NULL && axes->n == 1 ? axes->of[0] : rank;
    axis = axis < 0 ? axis + rank : axis;
    if (krf__same_shape(g, x, weights)) {
        return weights;
    }
    if (rank_of(g, weights) != 1 || axis < 0 || axis >= rank || krf__shape_of(g, weights)[0] != krf__shape_of(g, x)[axis]) {
        return shapes_fail(g, "average", x, weights, "the weights have the shape of x, or are one for each place along the one axis");
    }
    int64_t shape[KRF_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        shape[i] = i == axis ? krf__shape_of(g, x)[i] : 1;
    }
    weights = krf__build_reshape(g, weights, rank, shape);
    return krf__build_broadcast_to(g, weights, rank, krf__shape_of(g, x));
}

/* Beside complex ones real numbers stay real. */
static uint32_t widened(krf_graph *g, uint32_t x, krf_dtype wide) {
    return krf__build_cast(g, x, krf__is_complex(wide) && !krf__is_complex(krf__dtype_of(g, x)) ? krf__part_of(wide) : wide);
}

uint32_t krf__build_average(krf_graph *g, uint32_t x, uint32_t weights, const krf__axes *axes) {
    if (x == 0 || weights == 0) {
        return x == 0 ? 0 : krf__build_reduce(g, KRF__mean, x, axes->n, axes->of, axes->keepdims);
    }
    weights = spread(g, x, weights, axes);
    krf_dtype dtype;
    if (weights == 0) {
        return 0;
    }
    if (!krf__promote(krf__dtype_of(g, x), krf__dtype_of(g, weights), &dtype) || !(krf__is_real(dtype) || krf__is_complex(dtype))) {
        dtype = KRF_F64; /* integers are divided in f64 */
    }
    krf_dtype wide = krf__is_half(dtype) ? KRF_F32 : dtype;
    x = widened(g, x, wide);
    weights = widened(g, weights, wide);
    uint32_t sum = krf__build_reduce(g, KRF__sum, call(g, KRF__multiply, x, weights), axes->n, axes->of, axes->keepdims);
    uint32_t all = krf__build_reduce(g, KRF__sum, weights, axes->n, axes->of, axes->keepdims);
    return krf__build_cast(g, call(g, KRF__divide, sum, all), dtype);
}

/* Edges as NumPy makes them, in x's float dtype; each element is compared with both of its bin: bins comparisons an element. */
uint32_t krf__build_histogram(krf_graph *g, uint32_t x, int64_t bins, double low, double high) {
    if (x == 0) {
        return 0;
    }
    if (bins < 1 || bins == INT64_MAX) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "histogram: %lld bins, not at least 1", (long long)bins);
    }
    if (!isfinite(low) || !isfinite(high) || low > high) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "histogram: the range from %g to %g is not finite, or empty", low, high);
    }
    krf_dtype dtype = krf__is_real(krf__dtype_of(g, x)) && !krf__node_of(g, x)->weak ? krf__dtype_of(g, x) : KRF_F64;
    double widened = low == high ? 0.5 : 0;
    uint32_t edges = krf__build_cast(g, krf__build_linspace(g, low - widened, high + widened, bins + 1, true), dtype);
    uint32_t data = krf__build_cast(g, krf__build_ravel(g, x), dtype);
    uint32_t from = krf__build_expand_dims(g, krf__build_part(g, edges, 0, 0, bins), 1);
    uint32_t to = krf__build_expand_dims(g, krf__build_part(g, edges, 0, 1, bins + 1), 1);
    uint32_t last = krf__build_expand_dims(g, call(g, KRF__equal, krf__build_arange(g, 0, bins, 1), krf__build_int(g, bins - 1, false)), 1);
    uint32_t end = call(g, KRF__logical_and, last, call(g, KRF__equal, data, to));
    uint32_t below = call(g, KRF__logical_or, call(g, KRF__less, data, to), end);
    uint32_t inside = call(g, KRF__logical_and, call(g, KRF__greater_equal, data, from), below);
    return krf__build_reduce(g, KRF__sum, inside, 1, (int[]){1}, false);
}
