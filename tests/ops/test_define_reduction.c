/* What users reduce and scan with, against loops here, over all shapes of rows and columns; a sum and a product in a body have the bits of the library's own; ufuncs' reduce,
 * accumulate and outer. */
#include "helpers.h"
#include "ops/common.h"

#include <limits.h>

static runs all;
static krf_context *split[2]; /* contexts that fuse little */

/* Asked once for each example. */
static bool is_chosen(void) {
    static int64_t examples_so_far;
    return in_shard(examples_so_far++);
}

static krf_reduction *define(krf_context *c, const char *name, const char *parameters, const char *fields, const char *identity, const char *map, const char *combine,
                             const char *results, const char *post) {
    krf_reduction *r = NULL;
    if (krf_reduction_define(c, name, parameters, fields, identity, map, combine, results, post, &r) != KRF_OK) {
        fail_msg("%s: %s", name, krf_error_message());
    }
    return r;
}

typedef struct reductions {
    krf_reduction *total, *product, *welford, *least, *lse;
} reductions;

static const char welford_combine[] = "n = a_n + b_n;\nF d = b_mean - a_mean, f = n > 0 ? b_n / n : 0;\nmean = a_mean + d * f;\nm2 = a_m2 + b_m2 + d * d * a_n * f;";

static reductions define_all(krf_context *c) {
    reductions r;
    r.total = define(c, "total", "T x", "T s", "-0.0", "s = x;", "s = a_s + b_s;", NULL, NULL);
    r.product = define(c, "product", "T x", "T p", "1", "p = x;", "p = a_p * b_p;", NULL, NULL);
    r.welford = define(c, "welford", "F x", "F n, F mean, F m2", "0, 0, 0", "n = 1;\nmean = x;\nm2 = 0;", welford_combine, "F average, F variance", "average = mean;\nvariance = m2 / n;");
    r.least = define(c, "least", "T x, i64 i", "T v, i64 at", "inf, inf", "v = x; at = i;",
                     "bool b = b_v < a_v || (b_v == a_v && b_at < a_at);\nv = b ? b_v : a_v;\nat = b ? b_at : a_at;", NULL, NULL);
    r.lse = define(c, "lse", "F x", "F top, F rest", "-inf, 0", "top = x;\nrest = 1;",
                   "top = max(a_top, b_top);\nrest = top > -INFINITY ? a_rest * exp(a_top - top) + b_rest * exp(b_top - top) : F(0);", "F y", "y = log(rest) + top;");
    return r;
}

static void release_all(krf_context *c, const reductions *r) {
    krf_reduction *const list[] = {r->total, r->product, r->welford, r->least, r->lse};
    static const char *const names[] = {"total", "product", "welford", "least", "lse"};
    for (int i = 0; i < 5; i++) {
        krf_reduction_release(list[i]);
        assert_int_equal(krf_op_undefine(c, names[i]), KRF_OK);
    }
}

static krf_expr matrix(krf_graph *g, krf_context *c, int64_t rows, int64_t columns, const double *data) {
    return host_input(g, c, KRF_F64, 2, (int64_t[]){rows, columns}, data);
}

enum { OUTPUTS = 9 };

/* Everything at once: prologue, folds of one and several fields, the library's own beside them, epilogues; then a second round over the rows. */
static void build(const reductions *r, krf_expr x, int axis, krf_expr out[OUTPUTS]) {
    krf_graph *g = x.graph;
    const int64_t n = krf_expr_shape(x)[axis];
    krf_expr y = krf_add(krf_multiply(x, krf_real(g, 0.5)), krf_real(g, 0.25)), two[2];
    krf_expr at = axis == 1 ? krf_arange(g, 0, n, 1) : krf_reshape(krf_arange(g, 0, n, 1), 2, (int64_t[]){n, 1});
    krf_reduction_call(r->total, 1, &y, 1, &axis, false, &out[0]);
    out[1] = krf_sum(y, 1, &axis, false);
    krf_reduction_call(r->product, 1, &y, 1, &axis, true, &out[2]);
    out[3] = krf_prod(y, 1, &axis, true);
    krf_reduction_call(r->welford, 1, &y, 1, &axis, false, two);
    out[4] = two[0];
    out[5] = krf_multiply(krf_sqrt(two[1]), krf_real(g, 2));
    krf_reduction_call(r->least, 2, (krf_expr[]){y, at}, 1, &axis, true, two);
    out[6] = two[1];
    krf_reduction_call(r->lse, 1, &y, 1, &axis, true, &out[7]);
    krf_expr centred = krf_subtract(y, two[0]); /* back over the rows */
    krf_reduction_call(r->total, 1, &centred, 1, &axis, false, &out[8]);
}

static void *read_all(krf_array *a, size_t n, size_t size) {
    void *data = malloc(n * size + 1);
    assert_non_null(data);
    assert_int_equal(krf_array_to_host(a, data, n * size), KRF_OK);
    krf_array_release(a);
    return data;
}

static void near_or_fail(double x, double expected, double relative, const char *what, int64_t rows, int64_t columns, int axis) {
    if (!(fabs(x - expected) <= relative * fmax(fabs(expected), 1))) {
        fail_msg("%s of (%" PRId64 ", %" PRId64 ") over axis %d: %.17g, expected %.17g", what, rows, columns, axis, x, expected);
    }
}

static void compare(krf_context *c, int64_t rows, int64_t columns, int axis) {
    if (!is_chosen()) {
        return;
    }
    double *data = malloc((size_t)(rows * columns) * sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < rows * columns; i++) {
        data[i] = (double)((i * 7919) % 1009) / 500.0 + 0.5; /* around 2: products stay in range for short rows alone */
    }
    const reductions r = define_all(c);
    krf_graph *g = krf_graph_create(c);
    krf_expr out[OUTPUTS];
    krf_array *results[OUTPUTS] = {NULL};
    build(&r, matrix(g, c, rows, columns, data), axis, out);
    if (krf_graph_status(g) != KRF_OK || krf_eval_many(OUTPUTS, out, results) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    const int64_t kept = axis == 1 ? rows : columns, n = axis == 1 ? columns : rows;
    void *got[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) {
        got[k] = read_all(results[k], (size_t)kept, 8);
    }
    assert_memory_equal(got[0], got[1], (size_t)kept * 8); /* the canonical tree, the same operation */
    assert_memory_equal(got[2], got[3], (size_t)kept * 8);
    for (int64_t q = 0; q < kept; q++) {
        long double sum = 0, squares = 0, exps = 0;
        int64_t least = 0;
        for (int64_t l = 0; l < n; l++) {
            const double y = data[axis == 1 ? q * n + l : l * kept + q] * 0.5 + 0.25, best = data[axis == 1 ? q * n + least : least * kept + q] * 0.5 + 0.25;
            sum += y;
            exps += expl(y);
            least = y < best ? l : least;
        }
        const double lowest = data[axis == 1 ? q * n + least : least * kept + q] * 0.5 + 0.25;
        for (int64_t l = 0; l < n; l++) {
            const long double d = data[axis == 1 ? q * n + l : l * kept + q] * 0.5 + 0.25 - sum / n;
            squares += d * d;
        }
        near_or_fail(((double *)got[4])[q], (double)(sum / n), 1e-14, "welford's mean", rows, columns, axis);
        near_or_fail(((double *)got[5])[q], (double)(2 * sqrtl(squares / n)), 1e-12, "welford's deviation", rows, columns, axis);
        assert_int_equal(((int64_t *)got[6])[q], least);
        near_or_fail(((double *)got[7])[q], (double)logl(exps), 1e-13, "log-sum-exp", rows, columns, axis);
        near_or_fail(((double *)got[8])[q], (double)(sum - n * (long double)lowest), 1e-9, "sum behind the least", rows, columns, axis);
    }
    for (int k = 0; k < OUTPUTS; k++) {
        free(got[k]);
    }
    free(data);
    krf_graph_destroy(g);
    release_all(c, &r);
}

/* The one that is latest in the canonical tree (docs/architecture.md) of a chunk and not 0: associative, but each operand has its side. */
static double latest(const double *x, int64_t n) {
    double lanes[256] = {0};
    for (int64_t e = 0; e < n; e++) {
        lanes[e % 256] = x[e] != 0 ? x[e] : lanes[e % 256];
    }
    for (int half = 128; half > 0; half /= 2) {
        for (int j = 0; j < half; j++) {
            lanes[j] = lanes[j + half] != 0 ? lanes[j + half] : lanes[j];
        }
    }
    return lanes[0];
}

static void try_sides(krf_context *c, krf_reduction *r, krf_dtype dtype, int64_t n) {
    enum { ROWS = 5 };
    if (!is_chosen()) {
        return;
    }
    double *data = malloc((size_t)(ROWS * n) * sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < ROWS * n; i++) {
        data[i] = i * 7919 % 11 == 0 ? (double)(i % 97 + 1) : 0;
    }
    krf_graph *g = krf_graph_create(c);
    krf_array *x, *y;
    krf_expr found;
    assert_int_equal(krf_eval(krf_cast(matrix(g, c, ROWS, n, data), dtype), (x = NULL, &x)), KRF_OK);
    const krf_expr operand = krf_input(g, x);
    krf_reduction_call(r, 1, &operand, 1, (int[]){1}, false, &found);
    if (krf_eval(krf_cast(found, KRF_F64), (y = NULL, &y)) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    double *got = read_all(y, ROWS, 8);
    for (int q = 0; q < ROWS; q++) {
        if (got[q] != latest(data + q * n, n)) {
            fail_msg("row %d of %" PRId64 " %s: %g, expected %g", q, n, krf_dtype_name(dtype), got[q], latest(data + q * n, n));
        }
    }
    free(got);
    free(data);
    krf_array_release(x);
    krf_graph_destroy(g);
}

/* Rows of one chunk that a warp folds, by vectors of 1, 2, 4 and 8. */
static void test_sides(void **state) {
    (void)state;
    static const int64_t lengths[] = {257, 504, 998, 1000, 1024};
    for (int i = 0; i < all.n; i++) {
        krf_context *c = all.run[i].context;
        krf_reduction *r = define(c, "latest", "T x", "T v", "0", "v = x;", "v = b_v != 0 ? b_v : a_v;", NULL, NULL);
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            try_sides(c, r, KRF_F32, lengths[k]);
            try_sides(c, r, KRF_F64, lengths[k]);
            try_sides(c, r, KRF_I16, lengths[k]);
        }
        krf_reduction_release(r);
        assert_int_equal(krf_op_undefine(c, "latest"), KRF_OK);
    }
}

static void test_shapes(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {1, 7}, {3, 256}, {40, 5}, {5, 700}, {130, 33}, {3, 3000}, {1, 70000}};
    for (int r = 0; r < (all.cuda ? 1 : all.n); r++) {
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            compare(all.run[r].context, shapes[k][0], shapes[k][1], 0);
            compare(all.run[r].context, shapes[k][0], shapes[k][1], 1);
        }
    }
    compare(split[0], 5, 700, 1);
    compare(split[1], 5, 700, 0);
    compare(split[1], 3, 3000, 1);
}

/* Bits where only exactly rounded operations are used: everywhere the same. */
static void test_same_bits(void **state) {
    (void)state;
    enum { N = 5000 };
    static double data[N], first[2];
    for (int i = 0; i < N; i++) {
        data[i] = (double)((i * 7919) % 1009) * 0.37 - 100;
    }
    krf_context *contexts[MAX_RUNS + 2];
    int n = 0;
    for (int r = 0; r < all.n; r++) {
        contexts[n++] = all.run[r].context;
    }
    contexts[n++] = split[0];
    contexts[n++] = split[1];
    for (int k = 0; k < n; k++) {
        const reductions r = define_all(contexts[k]);
        krf_graph *g = krf_graph_create(contexts[k]);
        krf_expr x = matrix(g, contexts[k], 1, N, data), two[2];
        krf_array *results[2] = {NULL};
        double out[2];
        krf_reduction_call(r.welford, 1, &x, 0, NULL, false, two);
        assert_int_equal(krf_eval_many(2, two, results), KRF_OK);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(krf_array_to_host(results[i], &out[i], 8), KRF_OK);
            krf_array_release(results[i]);
        }
        if (k == 0) {
            memcpy(first, out, sizeof first);
        }
        assert_memory_equal(out, first, sizeof first);
        krf_graph_destroy(g);
        release_all(contexts[k], &r);
    }
}

static double number_of(krf_expr x) {
    krf_array *array = NULL;
    double number = 0;
    if (!krf_expr_ok(x) || krf_eval(krf_cast(x, KRF_F64), &array) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    assert_int_equal(krf_array_to_host(array, &number, sizeof number), KRF_OK);
    krf_array_release(array);
    return number;
}

/* One kernel for values and payload; over nothing the post of the identity; over no axes each element; dtypes; several axes. */
static void test_edges(void **state) {
    (void)state;
    krf_context *c = all.run[0].context;
    const reductions r = define_all(c);
    krf_graph *g = krf_graph_create(c);
    double data[24];
    for (int i = 0; i < 24; i++) {
        data[i] = (i * 5) % 24;
    }
    krf_expr x = matrix(g, c, 4, 6, data), none = krf_slice(x, 1, (krf_range[]){{0, 0, 1}}), two[2], one;
    krf_plan *plan = NULL;
    krf_reduction_call(r.welford, 1, &x, 0, NULL, false, two);
    assert_int_equal(krf_compile(g, 2, two, NULL, &plan), KRF_OK);
    assert_int_equal(krf_plan_kernels(plan), 1);
    krf_plan_release(plan);
    assert_true(number_of(two[0]) == 11.5);
    assert_true(fabs(number_of(two[1]) - 575.0 / 12) < 1e-12); /* (24^2 - 1) / 12 */

    krf_reduction_call(r.total, 1, &none, 0, NULL, false, &one);
    assert_true(number_of(one) == 0);
    krf_reduction_call(r.lse, 1, &none, 0, NULL, false, &one);
    assert_true(number_of(one) == (double)-INFINITY);
    krf_reduction_call(r.total, 1, &x, 0, (int[]){0}, false, &one); /* no axes */
    assert_int_equal(krf_expr_rank(one), 2);
    assert_true(number_of(krf_sum(one, 0, NULL, false)) == 276);
    krf_expr cube = krf_reshape(krf_cast(x, KRF_I32), 3, (int64_t[]){2, 3, 4});
    krf_reduction_call(r.total, 1, &cube, 2, (int[]){0, -1}, true, &one);
    assert_int_equal(krf_expr_dtype(one), KRF_I32);
    assert_int_equal(krf_expr_shape(one)[1], 3);
    assert_true(number_of(krf_sum(one, 0, NULL, false)) == 276);
    krf_expr half = krf_cast(krf_add(x, krf_real(g, 0.125)), KRF_F16); /* accumulates in f32, rounds once */
    krf_reduction_call(r.total, 1, &half, 0, NULL, false, &one);
    assert_int_equal(krf_expr_dtype(one), KRF_F16);
    assert_true(number_of(one) == round_to(KRF_F16, 276 + 24 * 0.125L));

    krf_reduction *length = define(c, "extent", "F x", "F s", "0", "s = x * x;", "s = a_s + b_s;", "F y", "y = sqrt(s);"); /* a square beyond f16, over no axes too */
    krf_expr large = krf_cast(krf_multiply(krf_expand_dims(x, 2), krf_int(g, 20)), KRF_F16);
    const int axes[] = {2};
    for (int k = 0; k < 3; k++) {
        if (k < 2) {
            krf_reduction_call(length, 1, &large, k, axes, false, &one);
        } else {
            krf_reduction_scan(length, 1, &large, 2, &one);
        }
        assert_true(number_of(krf_max(one, 0, NULL, false)) == 460);
    }
    krf_reduction_release(length);
    assert_int_equal(krf_op_undefine(c, "extent"), KRF_OK);

    /* errors */
    krf_reduction *bad = NULL;
    static const struct {
        const char *identity, *map, *combine, *results, *post, *message;
    } faults[] = {
        {"0", "a = x; b = x;", "a = a_a + b_a; b = a_b;", NULL, NULL, "the identity \"0\" has 1 number, the accumulator 2 fields"},
        {"0, x", "a = x; b = x;", "a = a_a + b_a; b = a_b;", NULL, NULL, "x is not defined"},
        {"0, 0", "a = x;", "a = a_a + b_a; b = a_b;", NULL, NULL, "bad_map: the body never assigns the result b"},
        {"0, 0", "a = x; b = x;", "a = a_a + b_a;", NULL, NULL, "bad_combine: the body never assigns the result b"},
        {"0, 0", "a = x; b = x;", "a = a_a + b_a; b = b_b;", "T r", "q = a;", "bad_post: the body never assigns the result r"},
        {"0, 0", "a = x; b = x;", "a = a_a + b_a; b = b_b;", "T r", NULL, "results and post belong together"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_not_equal(krf_reduction_define(c, "bad", "T x", "T a, T b", faults[i].identity, faults[i].map, faults[i].combine, faults[i].results, faults[i].post, &bad), KRF_OK);
        assert_null(bad);
        if (strstr(krf_error_message(), faults[i].message) == NULL) {
            fail_msg("\"%s\" is not in: %s", faults[i].message, krf_error_message());
        }
    }
    assert_int_equal(krf_reduction_define(c, "sum", "T x", "T a", "0", "a = x;", "a = a_a + b_a;", NULL, NULL, &bad), KRF_E_ARGUMENT);
    assert_int_equal(krf_reduction_define(c, "total", "T x", "T a", "0", "a = x;", "a = a_a + b_a;", NULL, NULL, &bad), KRF_E_ARGUMENT);
    assert_non_null(strstr(krf_error_message(), "total is defined already"));
    krf_expr y;
    krf_reduction_call(r.total, 1, &x, 1, (int[]){2}, false, &y);
    assert_non_null(strstr(krf_graph_error(g), "total: axis 2 is out of range for rank 2"));
    krf_graph_reset(g);
    x = matrix(g, c, 4, 6, data);
    krf_reduction_call(r.total, 1, &x, 0, NULL, false, &y);
    krf_grad(y, 1, &x, &one);
    assert_non_null(strstr(krf_graph_error(g), "grad: the derivative of the reduction total is not known"));

    /* by a result itself: of its square twice the result, in both directions; still not by an operand, whichever it is */
    krf_reduction *dot = define(c, "dot_of", "T x, T w", "T s", "0", "s = x * w;", "s = a_s + b_s;", NULL, NULL);
    for (int refused = -1; refused < 2; refused++) {
        krf_graph_reset(g);
        x = matrix(g, c, 4, 6, data);
        krf_expr both[2] = {x, matrix(g, c, 4, 6, data)}, running, derivatives[2];
        krf_reduction_call(dot, 2, both, 0, NULL, false, &y);
        krf_reduction_scan(r.total, 1, &x, 1, &running);
        if (refused < 0) {
            krf_grad(krf_multiply(y, y), 1, &y, &one);
            assert_true(number_of(one) == 2 * 4324); /* the squares of 0 to 23 */
            assert_true(number_of(krf_jvp(krf_multiply(y, y), 1, &y, (krf_expr[]){krf_int(g, 1)})) == 2 * 4324);
            krf_grad(krf_sum(krf_square(running), 0, NULL, false), 1, &running, &one);
            assert_true(number_of(krf_max(one, 0, NULL, false)) == 2 * (18 + 23 + 4 + 9 + 14 + 19)); /* the last row's */
        } else {
            krf_grad(krf_multiply(y, y), 2, (krf_expr[]){y, both[refused]}, derivatives);
            assert_non_null(strstr(krf_graph_error(g), "grad: the derivative of the reduction dot_of is not known"));
        }
    }
    krf_reduction_release(dot);
    assert_int_equal(krf_op_undefine(c, "dot_of"), KRF_OK);
    krf_graph_destroy(g);
    release_all(c, &r);
}

/* ---- scans ---- */

static void test_scans(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{1, 7}, {3, 700}, {2, 9000}, {300, 40}, {9000, 3}, {4200, 10}};
    for (int k_run = 0; k_run < all.n; k_run++) {
        krf_context *c = all.run[k_run].context;
        const reductions r = define_all(c);
        /* neither commutative nor with an inverse: x -> a x + b, composed */
        krf_reduction *affine = define(c, "affine", "f32 a", "f32 m", "1", "m = a;", "m = a_m * b_m;", "f32 y", "y = m + 1;");
        for (size_t k = 0; k < 2 * sizeof shapes / sizeof *shapes; k++) {
            if (!is_chosen()) {
                continue;
            }
            const int64_t rows = shapes[k / 2][0], columns = shapes[k / 2][1], size = rows * columns;
            const int axis = (int)(k % 2);
            double *data = malloc((size_t)size * sizeof *data), *means = malloc((size_t)size * sizeof *means);
            float *ours = malloc((size_t)size * sizeof *ours), *known = malloc((size_t)size * sizeof *known);
            assert_true(data != NULL && means != NULL && ours != NULL && known != NULL);
            for (int64_t i = 0; i < size; i++) {
                data[i] = (i * 7919) % 3 == 0 ? 0.5 : (i * 104729) % 2 == 0 ? 2 : 1;
            }
            krf_graph *g = krf_graph_create(c);
            krf_expr x = matrix(g, c, rows, columns, data), narrow = krf_cast(x, KRF_F32), y, two[2];
            krf_array *array = NULL, *other = NULL;
            krf_reduction_scan(affine, 1, &narrow, axis, &y);
            assert_int_equal(krf_eval(krf_subtract(y, krf_int(g, 1)), &array), KRF_OK);
            assert_int_equal(krf_eval(krf_subtract(krf_add(krf_cumprod(narrow, axis), krf_int(g, 1)), krf_int(g, 1)), &other), KRF_OK);
            assert_int_equal(krf_array_to_host(array, ours, (size_t)size * 4), KRF_OK);
            assert_int_equal(krf_array_to_host(other, known, (size_t)size * 4), KRF_OK);
            assert_memory_equal(ours, known, (size_t)size * 4);
            krf_array_release(array);
            array = NULL;
            krf_reduction_scan(r.welford, 1, &x, axis, two);
            krf_device_info info = {.size = sizeof info};
            assert_int_equal(krf_context_device(c, &info), KRF_OK);
            if (info.is_cuda) {
                if (columns > 1 && (axis == 1 || rows > 1)) {
                    assert_int_equal(krf_eval(two[0], &array), KRF_E_ARGUMENT);
                    assert_non_null(strstr(krf_error_message(), "that of welford has 3"));
                }
            } else {
                assert_int_equal(krf_eval(two[0], &array), KRF_OK);
                assert_int_equal(krf_array_to_host(array, means, (size_t)size * 8), KRF_OK);
                for (int64_t q = 0; q < (axis == 1 ? rows : columns); q++) {
                    long double sum = 0;
                    for (int64_t l = 0; l < (axis == 1 ? columns : rows); l++) {
                        const int64_t i = axis == 1 ? q * columns + l : l * columns + q;
                        sum += data[i];
                        near_or_fail(means[i], (double)(sum / (l + 1)), 1e-13, "running mean", rows, columns, axis);
                    }
                }
            }
            krf_array_release(array);
            krf_array_release(other);
            krf_graph_destroy(g);
            free(data);
            free(means);
            free(ours);
            free(known);
        }
        krf_reduction_release(affine);
        assert_int_equal(krf_op_undefine(c, "affine"), KRF_OK);
        release_all(c, &r);
    }
}

/* ---- functions of two operands ---- */

static void expect_text(krf_context *c, const char *text, int64_t n, const double *expected) {
    if (!is_chosen()) {
        return;
    }
    const double data[6] = {3, 4, 12, -1, 0.5, 2};
    krf_graph *g = krf_graph_create(c), *again = krf_graph_create(c);
    krf_array *x = NULL, *y = NULL;
    krf_expr e, parsed;
    double out[36];
    char *printed = NULL;
    size_t size;
    assert_int_equal(krf_array_from_host(c, KRF_F64, 2, (int64_t[]){2, 3}, data, &x), KRF_OK);
    const krf_binding binding = krf_bind_array("x", x);
    if (krf_parse(g, text, &binding, 1, &e) != KRF_OK || krf_eval(krf_cast(e, KRF_F64), &y) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    assert_int_equal(krf_array_size(y), n);
    assert_int_equal(krf_array_to_host(y, out, (size_t)n * 8), KRF_OK);
    for (int64_t i = 0; i < n; i++) {
        near_or_fail(out[i], expected[i], 1e-14, text, n, i, 0);
    }
    assert_int_equal(krf_dump(g, 1, &e, KRF_DUMP_GRAPH, NULL, NULL, &printed, &size), KRF_OK);
    if (krf_parse(again, printed, NULL, 0, &parsed) != KRF_OK) {
        fail_msg("%s\n%s", printed, krf_error_message());
    }
    krf_free(printed);
    krf_array_release(x);
    krf_array_release(y);
    krf_graph_destroy(g);
    krf_graph_destroy(again);
}

/* Accumulators of bools: of C's, so that 256 trues are true, as one is, and the parity of 3 is. */
static void test_bools(void **state) {
    (void)state;
    for (int k_run = 0; k_run < all.n; k_run++) {
        krf_context *c = all.run[k_run].context;
        krf_reduction *some = define(c, "some", "T x", "T s", "0", "s = x;", "s = a_s + b_s;", NULL, NULL);
        krf_reduction *both = define(c, "both", "bool x", "bool some, bool odd, i32 n", "0, 0, 0", "some = 2 * x; odd = x; n = some;", "some = a_some + b_some; odd = a_odd ^ b_odd; n = a_n + b_n;",
                                     "bool any, bool other, i32 count", "any = 256 * some; other = odd - 1; count = n;");
        krf_reduction *alike = define(c, "alike", "bool x", "bool s", "0.5", "s = 256 * x;", "s = a_s * b_s * 256;", NULL, NULL);
        const double ones[6] = {1, 1, 1, 1, 1, 1};
        expect_text(c, "some(x > 0)", 1, ones);
        expect_text(c, "i32(some(arange(256) > -1)) + i32(some(arange(1000) > 998)) * 2 + i32(some(arange(1000) < 0)) * 4", 1, (double[]){3});
        expect_text(c, "where(some(broadcast_to(x[:, :, None] > -2, (2, 3, 256)), axis=2), 1, 0)", 6, ones);
        expect_text(c, "some(x > 0, axis=1, scan=True)", 6, (double[]){1, 1, 1, 0, 1, 1});
        expect_text(c, "alike(x > -2, axis=1)", 2, ones);
        expect_text(c, "alike(x > 0, axis=1)", 2, (double[]){1, 0});
        expect_text(c, "alike(arange(0) > 0)", 1, ones);
        expect_text(c, "both(x > 0, axis=1, result=0)", 2, ones);
        expect_text(c, "both(x > 0, axis=1, result=1)", 2, (double[]){0, 1}); /* of 3 and of 2: C's (bool)(odd - 1) */
        expect_text(c, "both(x > 0, axis=1, result=2)", 2, (double[]){3, 2});
        krf_reduction_release(some);
        krf_reduction_release(both);
        krf_reduction_release(alike);
        static const char *const names[] = {"some", "both", "alike"};
        for (int i = 0; i < 3; i++) {
            assert_int_equal(krf_op_undefine(c, names[i]), KRF_OK);
        }
    }
}

/* Fields of less than a word each, one or several, over so many chunks that blocks copy each other's. */
static void test_narrow_fields(void **state) {
    static const struct {
        const char *dtype;
        int factor, modulus, least;
    } cases[] = {{"u8", 37, 251, 0}, {"i16", 7919, 30011, -15000}, {"i8", 11, 127, -64}};
    (void)state;
    for (int k_run = 0; k_run < all.n; k_run++) {
        krf_context *c = all.run[k_run].context;
        krf_reduction *odd = define(c, "odd_of", "T x", "T odd", "0", "odd = x;", "odd = a_odd ^ b_odd;", NULL, NULL);
        krf_reduction *span = define(c, "span_of", "T x", "T lo, T odd, T hi", "inf, 0, -inf", "lo = x; odd = x; hi = x;", "lo = min(a_lo, b_lo); odd = a_odd ^ b_odd; hi = max(a_hi, b_hi);", NULL, NULL);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int want[3] = {INT_MAX, 0, INT_MIN};
            for (int n = 0; n < 300001; n++) {
                const int x = (int)((int64_t)n * cases[i].factor % cases[i].modulus) + cases[i].least;
                want[0] = x < want[0] ? x : want[0];
                want[1] ^= x;
                want[2] = x > want[2] ? x : want[2];
            }
            char text[200];
            for (int field = 0; field < 3; field++) {
                snprintf(text, sizeof text, "span_of(%s(arange(300001) * %d %% %d + %d), axis=0, result=%d)", cases[i].dtype, cases[i].factor, cases[i].modulus, cases[i].least, field);
                expect_text(c, text, 1, (double[]){want[field]});
            }
            snprintf(text, sizeof text, "odd_of(%s(arange(300001) * %d %% %d + %d), axis=0)", cases[i].dtype, cases[i].factor, cases[i].modulus, cases[i].least);
            expect_text(c, text, 1, (double[]){want[1]});
        }
        krf_reduction_release(odd);
        assert_int_equal(krf_op_undefine(c, "odd_of"), KRF_OK);
        krf_reduction_release(span);
        assert_int_equal(krf_op_undefine(c, "span_of"), KRF_OK);
    }
}

/* What a function starts from changes nothing, in no dtype: of NumPy, the least and the largest of 1 to 5 and of -1 to -5. */
static void test_identities(void **state) {
    (void)state;
    static const char *const dtypes[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"};
    for (int k_run = 0; k_run < all.n; k_run++) {
        krf_context *c = all.run[k_run].context;
        for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
            char text[200];
            snprintf(text, sizeof text, "fmin.reduce(%s(arange(1, 6)), axis=0) * 10 + fmax.reduce(%s(arange(1, 6)), axis=0)", dtypes[i], dtypes[i]);
            expect_text(c, text, 1, (double[]){15});
            snprintf(text, sizeof text, "fmin.accumulate(%s(arange(5, 2, -1)), axis=0) * 10 + fmax.accumulate(%s(arange(5, 2, -1)), axis=0)", dtypes[i], dtypes[i]);
            expect_text(c, text, 3, (double[]){55, 45, 35});
            if (*dtypes[i] != 'f') { /* the highest bits too */
                snprintf(text, sizeof text, "bitwise_and.reduce(%s(full(3, 7)), axis=0) + %s(bitwise_and.reduce(~%s(zeros(3)) ^ 2, axis=0) == ~%s(2))", dtypes[i], dtypes[i], dtypes[i], dtypes[i]);
                expect_text(c, text, 1, (double[]){8});
                snprintf(text, sizeof text, "bitwise_and.accumulate(%s(arange(7, 4, -1)), axis=0)", dtypes[i]);
                expect_text(c, text, 3, (double[]){7, 6, 4});
            }
            if (*dtypes[i] != 'u') {
                snprintf(text, sizeof text, "fmin.reduce(%s(-arange(1, 6)), axis=0) * 10 + fmax.reduce(%s(-arange(1, 6)), axis=0)", dtypes[i], dtypes[i]);
                expect_text(c, text, 1, (double[]){-51});
                snprintf(text, sizeof text, "fmax.accumulate(%s(arange(-3, 0)), axis=0)", dtypes[i]);
                expect_text(c, text, 3, (double[]){-3, -2, -1});
            }
        }
        expect_text(c, "fmin.reduce(arange(3) > 0, axis=0) * 10 + fmax.reduce(arange(3) > 0, axis=0) * 1", 1, (double[]){1});
        expect_text(c, "fmax.reduce(where(x > 3, nan, x), axis=0)", 3, (double[]){3, 0.5, 2});
        expect_text(c, "fmin.reduce(zeros((0, 3)), axis=1)", 0, NULL); /* no results: none that lacks elements */
        static const char *const empty[] = {"fmin.reduce(arange(0), axis=0)", "fmax.reduce(arange(0), axis=0)", "fmin.reduce(zeros(0), axis=0)", "fmax.reduce(zeros((3, 0)), axis=1)"};
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
            krf_graph *g = krf_graph_create(c);
            krf_expr y;
            assert_int_equal(krf_parse(g, empty[i], NULL, 0, &y), KRF_E_SHAPE);
            assert_non_null(strstr(krf_error_message(), "no "));
            krf_graph_destroy(g);
        }
    }
}

static void test_ufuncs(void **state) {
    (void)state;
    for (int k_run = 0; k_run < all.n; k_run++) {
        krf_context *c = all.run[k_run].context;
        krf_op *later = NULL;
        assert_int_equal(krf_op_define(c, "longer", "T a, T b", "T y", "y = fabs(b) > fabs(a) ? b : a;", NULL, &later), KRF_OK);
        expect_text(c, "hypot.reduce(x, axis=1)", 2, (double[]){13, sqrt(5.25)});
        expect_text(c, "hypot.accumulate(x, axis=1)", 6, (double[]){3, 5, 13, 1, sqrt(1.25), sqrt(5.25)});
        expect_text(c, "add.reduce(x, axis=None) + multiply.reduce(x, axis=None) + maximum.reduce(x, axis=None) - minimum.reduce(x, axis=None)", 1, (double[]){20.5 - 144 + 12 + 1});
        expect_text(c, "add.reduce(ones((2, 3)))", 3, (double[]){2, 2, 2}); /* over the first axis, as NumPy's */
        expect_text(c, "hypot.reduce(x * 2, keepdims=True)[0, :1]", 1, (double[]){2 * sqrt(10)});
        expect_text(c, "longer.reduce(x)", 3, (double[]){3, 4, 12});
        expect_text(c, "hypot.reduce(x, axis=None)", 1, (double[]){sqrt(174.25)});
        expect_text(c, "hypot.reduce(x, axis=(0, 1)) + hypot.reduce(x, axis=(-1, 0))", 1, (double[]){2 * sqrt(174.25)});
        expect_text(c, "add.reduce(x[0, 0]) + hypot.reduce(-x[0, 1])", 1, (double[]){7}); /* a value of rank 0 has no axes */
        expect_text(c, "add.accumulate(x)", 6, (double[]){3, 4, 12, 2, 4.5, 14});
        expect_text(c, "np.gcd.reduce(i32(x * 6), axis=-1)", 2, (double[]){6, 3});
        expect_text(c, "bitwise_and.reduce(i8(x) | 1, axis=0)", 3, (double[]){3, 1, 1});
        expect_text(c, "longer.reduce(x, axis=0, keepdims=True)", 3, (double[]){3, 4, 12});
        expect_text(c, "subtract.outer(x[0], x[:, 1])", 6, (double[]){-1, 2.5, 0, 3.5, 8, 11.5});
        expect_text(c, "longer.outer(x[1], x[0, 0])", 3, (double[]){3, 3, 3});
        expect_text(c, "gcd.reduce(i64(x[:, :1] * -1), axis=1)", 2, (double[]){3, 1}); /* of one element as of several: no sign is left, as if the identity took part */
        expect_text(c, "lcm.reduce(i8(x[:, :1] * -2), axis=())", 2, (double[]){6, 2});
        expect_text(c, "hypot.reduce(-x[:, 1:2], axis=1)", 2, (double[]){4, 0.5});
        krf_op *joined = NULL; /* of integers: in their own dtype, which f64 could not hold */
        assert_int_equal(krf_op_define(c, "joined", "T a, T b", "T y", "y = a | b;", NULL, &joined), KRF_OK);
        expect_text(c, "joined.reduce((i64(x) << 56) | 1, axis=None) & 1023", 1, (double[]){1});
        expect_text(c, "joined.reduce(i64(x) << 56, axis=None) >> 56", 1, (double[]){-1});
        expect_text(c, "joined.reduce(i8(x), axis=0)", 3, (double[]){-1, 4, 14});
        expect_text(c, "longer.reduce((i64(x) << 40) * 8192 + 1, axis=None) & 1023", 1, (double[]){1});
        krf_op_release(joined);
        assert_int_equal(krf_op_undefine(c, "joined"), KRF_OK);
        if (!all.cuda) {
            expect_text(c, "longer.accumulate(-x, axis=1)", 6, (double[]){-3, -4, -12, 1, 1, -2});
        }
        expect_text(c, "logical_and.accumulate(x - 12, axis=1)", 6, (double[]){1, 1, 0, 1, 1, 1});
        expect_text(c, "logical_or.accumulate(i8(x), axis=1) * 3", 6, (double[]){3, 3, 3, 3, 3, 3});
        expect_text(c, "logical_or.accumulate(i8(x[:, ::-1]) // 12)", 6, (double[]){1, 0, 0, 1, 0, 1}); /* 12, 4, 3; 2, 0, -1 */
        expect_text(c, "logical_and.reduce(i8(x), axis=1) * 2 + logical_or.reduce(x - 2, axis=1)", 2, (double[]){3, 1});
        static const char *const faults[][2] = {{"x: f64[3]\nexp.reduce(x)", "exp is no function of two operands"},   {"x: f64[3]\nless.reduce(x)", "less has no result of its operands' type"},
                                                {"x: f64[0]\nlonger.reduce(x)", "longer has no value over no elements"}, {"x: f64[3]\nlunger.reduce(x)", "lunger is no function here"},
                                                {"x: f64[3]\nhypot.reduce(x, x)", "reduce takes 1 operand, not more"}, {"x: f64[3]\nhypot.accumulate(x, keepdims=True)", "takes no keyword keepdims"},
                                                /* what the function is not defined for, as it says itself of two operands */
                                                {"x: f64[3]\ngcd.reduce(x)", "gcd: not defined for f64 and f64; cast to an integer"},
                                                {"x: f32[3]\nlcm.accumulate(x)", "lcm: not defined for f32 and f32; cast to an integer"},
                                                {"x: f16[3]\nbitwise_or.reduce(x)", "bitwise_or: not defined for f16 and f16; cast to an integer"},
                                                {"x: f64[3]\nright_shift.accumulate(x)", "right_shift: not defined for f64 and f64; cast to an integer"},
                                                {"x: f64[3]\nmultiply_high.reduce(x)", "multiply_high: not defined for f64 and f64; cast to an integer"},
                                                {"x: c64[3]\nbitwise_and.reduce(x)", "bitwise_and: not defined for c64 and c64"},
                                                {"x: bool[3]\ngcd.reduce(x)", "gcd: not defined for bool and bool; cast to an integer"},
                                                {"x: bool[3]\nleft_shift.reduce(x)", "left_shift: not defined for bool and bool; cast to an integer"},
                                                {"x: bool[3]\nsubtract.reduce(x)", "subtract: not defined for bool and bool; cast to a number"},
                                                {"x: bool[3]\nfloor_divide.reduce(x)", "floor_divide: not defined for bool and bool; cast to a number"},
                                                {"x: bool[3]\npower.accumulate(x)", "power: not defined for bool and bool; cast to a number"},
                                                {"x: bool[3]\nfmod.reduce(x)", "fmod: not defined for bool and bool; cast to a number"}};
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
            krf_graph *g = krf_graph_create(c);
            krf_expr y;
            assert_int_not_equal(krf_parse(g, faults[i][0], NULL, 0, &y), KRF_OK);
            if (strstr(krf_error_message(), faults[i][1]) == NULL) {
                fail_msg("%s: %s", faults[i][0], krf_error_message());
            }
            krf_graph_destroy(g);
        }
        krf_op_release(later);
    }
}

/* In text and back: reductions with several results, scans. */
static void test_text(void **state) {
    (void)state;
    krf_context *c = all.run[0].context;
    const reductions r = define_all(c);
    krf_graph *g = krf_graph_create(c), *again = krf_graph_create(c);
    krf_expr y, z;
    char *printed = NULL, *second = NULL;
    size_t size;
    const char text[] = "x: f32[4, 5]\nm, v = welford(x, axis=1)\nreturn (x - m[:, None]) / sqrt(v[:, None]) + total(x, axis=(0, 1)) + welford(x, axis=(), result=0) + total(x[:, 1:2], axis=1, scan=True) + total(x, axis=0, scan=True) + welford(x, axis=0, keepdims=True, result=1)";
    if (krf_parse(g, text, NULL, 0, &y) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    assert_int_equal(krf_dump(g, 1, &y, KRF_DUMP_GRAPH, NULL, NULL, &printed, &size), KRF_OK);
    if (krf_parse(again, printed, NULL, 0, &z) != KRF_OK) {
        fail_msg("%s\n%s", krf_error_message(), printed);
    }
    assert_int_equal(krf_dump(again, 1, &z, KRF_DUMP_GRAPH, NULL, NULL, &second, &size), KRF_OK);
    assert_string_equal(printed, second);
    krf_free(printed);
    krf_free(second);
    krf_graph_destroy(g);
    krf_graph_destroy(again);
    release_all(c, &r);
}

static void open_all(void) {
    open_runs(&all, true);
    static const char *const fusions[2] = {"off", "operations=3,results=1,repeated=2,row=0"};
    for (int k = 0; k < 2; k++) {
        krf_context_options options = krf_context_options_default();
        options.device = asked_device();
        options.fusion = fusions[k];
        split[k] = open_or_skip(&options);
    }
}

int main(void) {
    open_all();
    const int failed = run_whole(TESTS(cmocka_unit_test(test_sides), cmocka_unit_test(test_shapes), cmocka_unit_test(test_same_bits), cmocka_unit_test(test_edges),
                                       cmocka_unit_test(test_scans), cmocka_unit_test(test_narrow_fields), cmocka_unit_test(test_identities), cmocka_unit_test(test_bools), cmocka_unit_test(test_ufuncs),
                                       cmocka_unit_test(test_text)));
    krf_context_destroy(split[0]);
    krf_context_destroy(split[1]);
    destroy_runs(&all);
    return failed;
}
