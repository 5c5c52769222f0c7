/* Arrays that are made in the graph: ranges are expressions over iota, which lies in no memory. */
#include "base/fail.h"
#include "ir/build_composed.h"

static uint32_t call(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }

static uint32_t iota(krf_graph *g, int64_t n) {
    krf__node node = {.op = KRF__iota, .dtype = KRF_I64, .rank = 1};
    return krf__graph_add(g, &node, &n, NULL);
}

uint32_t krf__build_arange(krf_graph *g, int64_t start, int64_t stop, int64_t step) {
    if (step == 0) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "arange: the step is 0");
    }
    uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t width = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t n = (step > 0) == (stop > start) && stop != start ? (span - 1) / width + 1 : 0;
    if (n > INT64_MAX) {
        return krf__graph_fail(g, KRF_E_SHAPE, "arange: the result has more than 2^63 elements");
    }
    uint32_t x = iota(g, (int64_t)n);
    x = step == 1 ? x : call(g, KRF__multiply, x, krf__build_int(g, step, false));
    return start == 0 ? x : call(g, KRF__add, x, krf__build_int(g, start, false));
}

uint32_t krf__build_linspace(krf_graph *g, double start, double stop, int64_t n, bool endpoint) {
    if (n < 0) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "linspace: %lld elements", (long long)n);
    }
    int64_t steps = endpoint ? n - 1 : n;
    uint32_t i = iota(g, n);
    double step = steps > 0 ? (stop - start) / (double)steps : 0;
    uint32_t x = krf__build_cast(g, i, KRF_F64);
    x = call(g, KRF__add, call(g, KRF__multiply, x, krf__build_real(g, step, false)), krf__build_real(g, start, false));
    if (!endpoint || n < 2) {
        return x;
    }
    uint32_t last = call(g, KRF__equal, i, krf__build_int(g, n - 1, false));
    return krf__build(g, KRF__where, 3, (uint32_t[]){last, krf__build_real(g, stop, false), x});
}

uint32_t krf__build_places(krf_graph *g, int rank, const int64_t *shape, int axis) {
    int64_t places[KRF_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        places[i] = i == axis ? shape[i] : 1;
    }
    return krf__build_reshape(g, iota(g, shape[axis]), rank, places);
}

/* True where column - row is at least k. */
static uint32_t upper_part(krf_graph *g, int64_t rows, int64_t columns, int64_t k) {
    const int64_t shape[2] = {rows, columns};
    uint32_t row = krf__build_places(g, 2, shape, 0), column = krf__build_places(g, 2, shape, 1);
    return call(g, KRF__greater_equal, column, call(g, KRF__add, row, krf__build_int(g, k, false)));
}

/* The diagonal above k would be beyond the last column in any case: no overflow. */
static uint32_t above(krf_graph *g, int64_t rows, int64_t columns, int64_t k) {
    return upper_part(g, rows, columns, k == INT64_MAX ? k : k + 1);
}

static bool extents_valid(krf_graph *g, const char *name, int64_t rows, int64_t columns) {
    if (rows < 0 || columns < 0 || krf__shape_size(2, (int64_t[]){rows, columns}) < 0) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %lld rows of %lld columns", name, (long long)rows, (long long)columns);
        return false;
    }
    return true;
}

uint32_t krf__build_tri(krf_graph *g, int64_t rows, int64_t columns, int64_t k, krf_dtype dtype) {
    if (!extents_valid(g, "tri", rows, columns)) {
        return 0;
    }
    uint32_t beyond = above(g, rows, columns, k);
    return krf__build_cast(g, krf__build(g, KRF__logical_not, 1, &beyond), dtype);
}

uint32_t krf__build_eye(krf_graph *g, int64_t rows, int64_t columns, int64_t k, krf_dtype dtype) {
    if (!extents_valid(g, "eye", rows, columns)) {
        return 0;
    }
    uint32_t beyond = above(g, rows, columns, k), within = krf__build(g, KRF__logical_not, 1, &beyond);
    return krf__build_cast(g, call(g, KRF__logical_and, within, upper_part(g, rows, columns, k)), dtype);
}

uint32_t krf__build_triangle(krf_graph *g, uint32_t x, int64_t k, bool upper) {
    int rank = krf__node_of(g, x)->rank;
    if (x == 0 || rank < 2) {
        return x == 0 ? 0 : krf__graph_fail(g, KRF_E_SHAPE, "%s: an array of rank %d has no rows and columns", upper ? "triu" : "tril", rank);
    }
    int64_t rows = krf__shape_of(g, x)[rank - 2], columns = krf__shape_of(g, x)[rank - 1];
    uint32_t zero = krf__build_int(g, 0, true), kept = upper ? upper_part(g, rows, columns, k) : above(g, rows, columns, k);
    if (krf__node_of(g, x)->dtype == KRF_BOOL) {
        zero = krf__build_bool(g, false);
    }
    return krf__build(g, KRF__where, 3, (uint32_t[]){kept, upper ? x : zero, upper ? zero : x});
}
