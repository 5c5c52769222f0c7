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

/* Complex numbers have no extremes. */
bool reduction_defined(int op, krf_dtype x) { return !is_complex(x) || (op != MAX && op != MIN); }
krf_dtype reduction_dtype(int op, krf_dtype x) { return is_complex(x) && op != ANY && op != ALL ? x : result_dtype((reduction_op)op, x); }
bool reduction_of_none(int op) { return op != MAX && op != MIN; }

/* The first half of the elements times the second half, until one is left; odd ones wait and follow, the last one to wait first. */
static value complex_product(krf_dtype dtype, const value *x, int64_t n) {
    static int multiply = -1;
    const bool none[3] = {false};
    value *left = malloc((size_t)n * sizeof *left + 1), rest = {.dtype = KRF_BOOL}, one = {.dtype = dtype, .f = 1};
    multiply = multiply < 0 ? op_find("multiply") : multiply;
    assert_non_null(left);
    memcpy(left, x, (size_t)n * sizeof *left);
    for (int64_t m = n; m > 1; m /= 2) {
        if (m % 2 != 0) {
            rest = rest.dtype == KRF_BOOL ? left[m - 1] : complex_value(multiply, dtype, (value[3]){left[m - 1], rest}, none);
        }
        for (int64_t i = 0; i < m / 2; i++) {
            left[i] = complex_value(multiply, dtype, (value[3]){left[i], left[m / 2 + i]}, none);
        }
    }
    value r = n == 0 ? one : rest.dtype == KRF_BOOL ? left[0] : complex_value(multiply, dtype, (value[3]){left[0], rest}, none);
    free(left);
    return r;
}

/* By parts, but for products; of a number known to be real the real part alone. */
static value reduce_complex(int op, krf_dtype from, bool real, const value *x, int64_t n) {
    value *part = malloc((size_t)n * sizeof *part + 1), r = {.dtype = from};
    assert_non_null(part);
    for (int half = 0; half < (real ? 1 : 2); half++) {
        for (int64_t i = 0; i < n; i++) {
            part[i] = (value){.dtype = part_of(from), .f = half == 0 ? x[i].f : x[i].im};
        }
        *(half == 0 ? &r.f : &r.im) = reduction_value(op, part_of(from), true, part, n).f;
    }
    free(part);
    return r;
}

value reduction_value(int op, krf_dtype from, bool real, const value *x, int64_t n) {
    value v = {.dtype = reduction_dtype(op, from)};
    const bool narrow = v.dtype != KRF_F64;
    if (is_complex(v.dtype)) {
        return op == PROD && !real ? complex_product(from, x, n) : reduce_complex(op, from, real, x, n);
    }
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
bool scan_defined(int op, krf_dtype x) { return !is_complex(x) || scans[op].op == SUM; }
krf_dtype scan_dtype(int op, krf_dtype x) { return is_complex(x) ? x : result_dtype(scans[op].op, x); }

void scan_values(int op, krf_dtype from, const value *x, int64_t n, value *y) {
    if (!is_complex(from)) {
        expect_row(&scans[op], from, x, n, y);
        return;
    }
    value *part = malloc(2 * (size_t)n * sizeof *part + 1);
    assert_non_null(part);
    for (int half = 0; half < 2; half++) {
        for (int64_t i = 0; i < n; i++) {
            part[i] = (value){.dtype = part_of(from), .f = half == 0 ? x[i].f : x[i].im};
        }
        expect_row(&scans[op], part_of(from), part, n, part + n);
        for (int64_t i = 0; i < n; i++) {
            y[i].dtype = from;
            *(half == 0 ? &y[i].f : &y[i].im) = part[n + i].f;
        }
    }
    free(part);
}
