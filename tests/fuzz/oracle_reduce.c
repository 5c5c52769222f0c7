/* Reductions and scans for the oracle, in the orders of tests/ops/tree.h. A row of ops.def that is not there does not
 * compile. */
#include "ops/tree.h"

#include "fuzz/oracle.h"

int reduction_count(void) { return REDUCTIONS; }
const char *reduction_name(int op) { return rows[op].name; }

int reduction_find(const char *name) {
    for (int op = 0; op < REDUCTIONS; op++) {
        if (strcmp(rows[op].name, name) == 0) {
            return op;
        }
    }
    return -1;
}

krf_expr reduction_build(int op, krf_expr x, int n_axes, const int *axes, bool keepdims) {
    return rows[op].build(x, n_axes, axes, keepdims);
}

krf_dtype reduction_dtype(int op, krf_dtype x) { return result_dtype((reduction_op)op, x); }
bool reduction_of_none(int op) { return op != MAX && op != MIN; }

value reduction_value(int op, krf_dtype from, const value *x, int64_t n) {
    value v = {.dtype = reduction_dtype(op, from)};
    const bool narrow = v.dtype != KRF_F64;
    if (!is_real(v.dtype)) {
        int64_t *items = malloc((size_t)n * sizeof *items + 1);
        assert_non_null(items);
        for (int64_t i = 0; i < n; i++) {
            items[i] = convert(x[i], v.dtype).i;
        }
        v.i = reduce_integers((reduction_op)op, v.dtype, items, n);
        free(items);
        return convert(v, v.dtype);
    }
    double *items = malloc((size_t)n * sizeof *items + 1);
    assert_non_null(items);
    for (int64_t i = 0; i < n; i++) {
        items[i] = convert(x[i], v.dtype).f;
    }
    v.f = canonical_tree((reduction_op)op, narrow, items, n);
    if (op == MEAN) {
        v.f = narrow ? (double)((float)v.f / (float)n) : v.f / (double)n;
    }
    free(items);
    v.f = round_to(v.dtype, (long double)v.f); /* f16 and bf16 are accumulated in f32 */
    return v;
}

int scan_count(void) { return SCANS; }
const char *scan_name(int op) { return scans[op].name; }

int scan_find(const char *name) {
    for (int op = 0; op < SCANS; op++) {
        if (strcmp(scans[op].name, name) == 0) {
            return op;
        }
    }
    return -1;
}

krf_expr scan_build(int op, krf_expr x, int axis) { return scans[op].build(x, axis); }
krf_dtype scan_dtype(int op, krf_dtype x) { return result_dtype(scans[op].op, x); }
void scan_values(int op, krf_dtype from, const value *x, int64_t n, value *y) { expect_row(&scans[op], from, x, n, y); }
