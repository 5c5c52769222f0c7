/* Generalised functions over all kinds of operands, against loops written here; their errors.
 * KRF_TEST_DEVICE */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static krf_context *ctx;

static krf_array *doubles(int rank, const int64_t *shape, double first) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) {
        n *= shape[i];
    }
    double *data = malloc((size_t)(n > 0 ? n : 1) * sizeof *data);
    for (int64_t i = 0; i < n; i++) {
        data[i] = first + (double)(i * 7 % 23);
    }
    krf_array *a = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_F64, rank, shape, data, &a));
    free(data);
    return a;
}

static const char matmul_body[] = "for (int i = 0; i < m; i++)\n"
                                  "    for (int j = 0; j < p; j++) {\n"
                                  "        T sum = 0;\n"
                                  "        for (int k = 0; k < n; k++) sum += a(i, k) * b(k, j);\n"
                                  "        c(i, j) = sum;\n"
                                  "    }\n";

static krf_gufunc *define(const char *name, const char *signature, const char *parameters, const char *body) {
    krf_gufunc *f = NULL;
    const krf_gufunc_description d = {.size = sizeof d, .name = name, .signature = signature, .parameters = parameters, .body = body};
    assert_ok(krf_gufunc_define(ctx, &d, &f));
    return f;
}

/* The product of each pair of matrices: outer axes of both as given, aligned at the last, extents 1 broadcast. */
static void check_product(int ra, const int64_t *sa, int rb, const int64_t *sb, bool turned) {
    krf_gufunc *f = define("matmul", "(m,n),(n,p)->(m,p)", "T a, T b, T c", matmul_body);
    krf_array *a = doubles(ra, sa, -3), *b = doubles(rb, sb, 2), *out = NULL;
    krf_graph *g = krf_graph_create(ctx);
    krf_expr x = krf_input(g, a), y = krf_input(g, b), c;
    int axes[KRF_MAX_RANK];
    for (int i = 0; i < ra; i++) {
        axes[i] = i < ra - 2 ? i : 2 * ra - 3 - i;
    }
    x = turned ? krf_transpose(x, axes) : x;
    krf_gufunc_call(f, g, 2, (krf_expr[]){x, y}, &c);
    assert_ok(krf_eval(krf_multiply(c, krf_int(g, 2)), &out));
    const int64_t *ea = krf_expr_shape(x), m = ea[ra - 2], n = ea[ra - 1], p = sb[rb - 1];
    const int outer = krf_array_rank(out) - 2;
    assert_int_equal(outer, (ra > rb ? ra : rb) - 2);
    assert_int_equal(krf_array_shape(out)[outer], m);
    assert_int_equal(krf_array_shape(out)[outer + 1], p);
    const size_t na = (size_t)krf_array_size(a), nb = (size_t)krf_array_size(b), nc = (size_t)krf_array_size(out);
    double *va = malloc((na + 1) * sizeof *va), *vb = malloc((nb + 1) * sizeof *vb), *vc = malloc((nc + 1) * sizeof *vc);
    assert_ok(krf_array_to_host(a, va, na * sizeof *va));
    assert_ok(krf_array_to_host(b, vb, nb * sizeof *vb));
    assert_ok(krf_array_to_host(out, vc, nc * sizeof *vc));
    for (size_t e = 0; e < nc; e++) {
        int64_t rest = (int64_t)e / p / m, places[2] = {0, 0}, step[2] = {1, 1};
        for (int d = outer - 1; d >= 0; d--) {
            const int64_t extent = krf_array_shape(out)[d], i = rest % extent;
            rest /= extent;
            for (int k = 0; k < 2; k++) {
                const int own = d - (outer - ((k == 0 ? ra : rb) - 2));
                const int64_t has = own >= 0 ? (k == 0 ? sa : sb)[own] : 1;
                places[k] += has == 1 ? 0 : i * step[k];
                step[k] *= has;
            }
        }
        const int64_t i = (int64_t)e / p % m, j = (int64_t)e % p;
        double sum = 0;
        for (int64_t k = 0; k < n; k++) {
            sum += va[places[0] * m * n + (turned ? k * m + i : i * n + k)] * vb[places[1] * n * p + k * p + j];
        }
        if (vc[e] != 2 * sum) {
            fail_msg("element %zu is %g, not %g", e, vc[e], 2 * sum); /* integers: exact in any order */
        }
    }
    free(va);
    free(vb);
    free(vc);
    krf_graph_destroy(g);
    krf_gufunc_release(f);
    krf_array_release(a);
    krf_array_release(b);
    krf_array_release(out);
}

static void products(void **state) {
    (void)state;
    check_product(3, (int64_t[]){1000, 2, 2}, 3, (int64_t[]){1000, 2, 2}, false);
    check_product(3, (int64_t[]){1000, 2, 3}, 3, (int64_t[]){1000, 2, 2}, true);
    check_product(2, (int64_t[]){5, 12}, 2, (int64_t[]){12, 9}, false);                  /* no outer axes; sizes that are no text */
    check_product(4, (int64_t[]){7, 1, 2, 3}, 3, (int64_t[]){6, 3, 4}, false);           /* broadcast both ways */
    check_product(2, (int64_t[]){2, 2}, 5, (int64_t[]){2, 3, 4, 2, 2}, false);
    check_product(3, (int64_t[]){20000, 3, 3}, 3, (int64_t[]){1, 3, 3}, true);           /* enough for all threads */
    check_product(3, (int64_t[]){0, 2, 2}, 3, (int64_t[]){1, 2, 2}, false);              /* nothing */
    check_product(3, (int64_t[]){4, 2, 0}, 3, (int64_t[]){4, 0, 2}, false);              /* sums of nothing */
}

/* Several results, a fixed extent, a number, several dtypes; words for dtypes that promote. */
static void several_results(void **state) {
    (void)state;
    krf_gufunc *f = define("frame", "(3),(3),()->(3),()", "T a, T b, i32 sign, T c, i64 positive",
                           "T length = 0;\n"
                           "c(0) = sign() * (a(1) * b(2) - a(2) * b(1));\n"
                           "c(1) = sign() * (a(2) * b(0) - a(0) * b(2));\n"
                           "c(2) = sign() * (a(0) * b(1) - a(1) * b(0));\n"
                           "for (int i = 0; i < 3; i++) length += c(i);\n"
                           "if (length <= 0) { positive() = 0; return; }\n"
                           "positive() = 1;\n");
    enum { COUNT = 50 };
    float a[COUNT][3];
    double b[3] = {1, -2, 3};
    int sign[COUNT];
    for (int i = 0; i < COUNT; i++) {
        a[i][0] = (float)(i % 5), a[i][1] = (float)(i % 7 - 3), a[i][2] = (float)(i % 3);
        sign[i] = i % 2 == 0 ? 1 : -1;
    }
    krf_array *xa = NULL, *xb = NULL, *xs = NULL, *out[2] = {NULL, NULL};
    assert_ok(krf_array_from_host(ctx, KRF_F32, 2, (int64_t[]){COUNT, 3}, a, &xa));
    assert_ok(krf_array_from_host(ctx, KRF_F64, 1, (int64_t[]){3}, b, &xb));
    assert_ok(krf_array_from_host(ctx, KRF_I32, 1, (int64_t[]){COUNT}, sign, &xs));
    krf_graph *g = krf_graph_create(ctx);
    krf_expr r[2];
    krf_gufunc_call(f, g, 3, (krf_expr[]){krf_input(g, xa), krf_input(g, xb), krf_input(g, xs)}, r);
    assert_int_equal(krf_expr_dtype(r[0]), KRF_F64);
    assert_int_equal(krf_expr_dtype(r[1]), KRF_I64);
    assert_ok(krf_eval_many(2, r, out));
    double c[COUNT][3];
    int64_t positive[COUNT];
    assert_ok(krf_array_to_host(out[0], c, sizeof c));
    assert_ok(krf_array_to_host(out[1], positive, sizeof positive));
    for (int i = 0; i < COUNT; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            const int u = (k + 1) % 3, v = (k + 2) % 3;
            const double want = sign[i] * ((double)a[i][u] * b[v] - (double)a[i][v] * b[u]);
            assert_true(c[i][k] == want);
            sum += want;
        }
        assert_int_equal(positive[i], sum > 0);
    }
    krf_graph_destroy(g);
    krf_gufunc_release(f);
    krf_array_release(xa);
    krf_array_release(xb);
    krf_array_release(xs);
    krf_array_release(out[0]);
    krf_array_release(out[1]);
}

/* Small sizes are text: another one is another kernel; large ones are not. Functions of the mathematical library. */
static void kernels_are_shared(void **state) {
    (void)state;
    krf_gufunc *f = define("norm", "(n)->()", "f32 x, f32 y", "float sum = 0;\nfor (int i = 0; i < n; i++) sum += x(i) * x(i);\ny() = sqrt(sum);\n");
    const int64_t lengths[] = {3, 4, 100, 101, 200};
    const int fresh[] = {1, 1, 1, 0, 0};
    for (int k = 0; k < 5; k++) {
        float data[200], want = 0, got = 0;
        krf_cache_stats before = {.size = sizeof before}, after = before;
        assert_ok(krf_context_cache_stats(ctx, &before));
        for (int i = 0; i < lengths[k]; i++) {
            data[i] = (float)(i % 3);
            want += data[i] * data[i];
        }
        krf_array *x = NULL, *y = NULL;
        krf_graph *g = krf_graph_create(ctx);
        krf_expr r;
        assert_ok(krf_array_from_host(ctx, KRF_F32, 1, &lengths[k], data, &x));
        krf_gufunc_call(f, g, 1, (krf_expr[]){krf_input(g, x)}, &r);
        assert_ok(krf_eval(r, &y));
        assert_ok(krf_array_to_host(y, &got, sizeof got));
        assert_true(got == sqrtf(want));
        assert_ok(krf_context_cache_stats(ctx, &after));
        assert_int_equal(after.compiled + after.disk_hits - before.compiled - before.disk_hits, fresh[k]);
        krf_graph_destroy(g);
        krf_array_release(x);
        krf_array_release(y);
    }
    krf_gufunc_release(f);
}

/* C's bools: 1 + 1 and 256 are true, as in other bodies. */
static void bools(void **state) {
    (void)state;
    krf_gufunc *f = define("flags", "(n)->(n),(n)", "T a, T b, bool c", "for (int i = 0; i < n; i++) {\n    T two = a(i) + a(i);\n    b(i) = a(i) + two;\n    bool large = 256 * a(i);\n    c(i) = large;\n}\n");
    const int64_t three = 3;
    const int32_t data[3] = {0, 1, 256};
    krf_array *x = NULL, *out[2] = {NULL, NULL};
    krf_graph *g = krf_graph_create(ctx);
    krf_expr r[2];
    assert_ok(krf_array_from_host(ctx, KRF_I32, 1, &three, data, &x));
    const krf_expr flags = krf_cast(krf_input(g, x), KRF_BOOL);
    krf_gufunc_call(f, g, 1, &flags, r);
    assert_int_equal(krf_expr_dtype(r[0]), KRF_BOOL);
    assert_ok(krf_eval_many(2, r, out));
    for (int k = 0; k < 2; k++) {
        unsigned char got[3];
        assert_ok(krf_array_to_host(out[k], got, sizeof got));
        assert_memory_equal(got, ((const unsigned char[]){0, 1, 1}), sizeof got);
        krf_array_release(out[k]);
    }
    krf_graph_destroy(g);
    krf_gufunc_release(f);
    krf_array_release(x);
}

static void views_are_not_copied(void **state) {
    (void)state;
    krf_gufunc *f = define("trace", "(n,n)->()", "T a, T y", "T s = 0;\nfor (int i = 0; i < n; i++) s += a(i, i);\ny() = s;\n");
    krf_array *a = doubles(3, (int64_t[]){4, 10, 3}, 0), *out = NULL;
    krf_graph *g = krf_graph_create(ctx);
    krf_expr r, x = krf_slice(krf_transpose(krf_input(g, a), NULL), 3, (krf_range[]){{KRF_NONE, KRF_NONE, -1}, {1, KRF_NONE, 2}, {0, KRF_NONE, 1}}); /* (3, 5, 4) */
    x = krf_slice(x, 2, (krf_range[]){{KRF_NONE, KRF_NONE, 1}, {0, 4, 1}});
    krf_gufunc_call(f, g, 1, &x, &r);
    krf_plan *plan = NULL;
    assert_ok(krf_compile(g, 1, &r, NULL, &plan));
    assert_int_equal(krf_plan_kernels(plan), 1);
    assert_ok(krf_plan_run(plan, NULL, 0, NULL, &out));
    double got[3], data[4 * 10 * 3];
    assert_ok(krf_array_to_host(out, got, sizeof got));
    assert_ok(krf_array_to_host(a, data, sizeof data));
    for (int u = 0; u < 3; u++) {
        double want = 0;
        for (int i = 0; i < 4; i++) {
            want += data[i * 30 + (1 + 2 * i) * 3 + (2 - u)];
        }
        assert_true(got[u] == want);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_gufunc_release(f);
    krf_array_release(a);
    krf_array_release(out);
}

static void wrong_definitions(void **state) {
    (void)state;
    static const struct {
        const char *signature, *parameters, *word;
        krf_status status;
    } cases[] = {
        {"(m,n),(n,p)", "T a, T b", "lacks a '->'", KRF_E_ARGUMENT},
        {"m,n->m", "T a, T b", "lacks a '('", KRF_E_ARGUMENT},
        {"(m,n->(m)", "T a, T b", "lacks a ',' or a ')'", KRF_E_ARGUMENT},
        {"(m,)->(m)", "T a, T b", "extent that is missing", KRF_E_ARGUMENT},
        {"(3a)->()", "T a, T b", "neither a name nor a number", KRF_E_ARGUMENT},
        {"(m)->(m) x", "T a, T b", "goes on", KRF_E_ARGUMENT},
        {"(m)->(k)", "T a, T b", "no operand has the extent k", KRF_E_ARGUMENT},
        {"(m)->(m)", "T a", "1 parameters", KRF_E_ARGUMENT},
        {"(m)->(m)", "T a, T b, T c", "more parameters", KRF_E_ARGUMENT},
        {"(m)->(m)", "T a, b", "written as", KRF_E_ARGUMENT},
        {"(m)->(m)", "T a, T a", "two parameters", KRF_E_ARGUMENT},
        {"(m)->(m)", "T m, T a", "an extent and a parameter", KRF_E_ARGUMENT},
        {"(m)->(m)", "T a, U b", "no operand says which dtype 'U'", KRF_E_DTYPE},
        {"(m)->(m)", "c64 a, c64 b", "c64", KRF_E_DTYPE},
        {"(m)->(m)", "f16 a, f32 b", "cast to f32", KRF_E_DTYPE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const krf_gufunc_description d = {.size = sizeof d, .name = "f", .signature = cases[i].signature, .parameters = cases[i].parameters, .body = ""};
        krf_gufunc *f = (krf_gufunc *)&f;
        krf_status status = krf_gufunc_define(ctx, &d, &f);
        if (status != cases[i].status || strstr(krf_error_message(), cases[i].word) == NULL || f != NULL) {
            fail_msg("%s: %s: %s", cases[i].signature, krf_status_name(status), krf_error_message());
        }
    }
    krf_gufunc *f = NULL;
    assert_int_equal(krf_gufunc_define(ctx, &(krf_gufunc_description){.size = sizeof(krf_gufunc_description), .name = "a b", .signature = "()->()", .parameters = "T a, T b", .body = ""}, &f), KRF_E_ARGUMENT);
    assert_int_equal(krf_gufunc_define(ctx, &(krf_gufunc_description){.size = sizeof(krf_gufunc_description), .name = "a", .signature = "()->()", .parameters = "T a, T b"}, &f), KRF_E_ARGUMENT);
    assert_int_equal(krf_gufunc_define(ctx, &(krf_gufunc_description){.name = "a"}, &f), KRF_E_ARGUMENT);
    assert_int_equal(krf_gufunc_define(NULL, NULL, &f), KRF_E_ARGUMENT);
}

static void wrong_calls(void **state) {
    (void)state;
    static const struct {
        int64_t a[3], b[3];
        int ra, rb;
        const char *word;
    } cases[] = {
        {{4, 3}, {5, 2}, 2, 2, "'(m,n),(n,p)->(m,p)' of shapes (4, 3) and (5, 2): extents differ for n"},
        {{4}, {4, 2}, 1, 2, "(4,) and (4, 2): too few axes for a"},
        {{2, 4, 4}, {3, 4, 4}, 3, 3, "(2, 4, 4) and (3, 4, 4): the axes before those of the signature do not broadcast"},
    };
    krf_gufunc *f = define("matmul", "(m,n),(n,p)->(m,p)", "f64 a, f64 b, f64 c", "#error never compiled");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krf_graph *g = krf_graph_create(ctx);
        krf_array *a = doubles(cases[i].ra, cases[i].a, 0), *b = doubles(cases[i].rb, cases[i].b, 0);
        krf_expr c, inputs[] = {krf_input(g, a), krf_input(g, b), krf_input(g, b)};
        krf_gufunc_call(f, g, 2, inputs, &c);
        assert_false(krf_expr_ok(c));
        if (krf_graph_status(g) != KRF_E_SHAPE || strstr(krf_graph_error(g), cases[i].word) == NULL) {
            fail_msg("%s", krf_graph_error(g));
        }
        krf_graph_reset(g);
        inputs[0] = krf_input(g, a), inputs[1] = krf_cast(krf_input(g, b), KRF_F32);
        krf_gufunc_call(f, g, i == 0 ? 3 : 2, inputs, &c);
        assert_int_equal(krf_graph_status(g), i == 0 ? KRF_E_ARGUMENT : KRF_E_DTYPE);
        assert_true(i == 0 || strstr(krf_graph_error(g), "matmul: b is f32, and f64 was declared: cast it") != NULL);
        krf_graph_destroy(g);
        krf_array_release(a);
        krf_array_release(b);
    }
    krf_gufunc_release(f);
    /* errors of compilers name the body's own lines */
    f = define("broken", "(n)->()", "T x, T y", "T s = 0;\n\ny() = undeclared + s;\n");
    krf_array *x = doubles(1, (int64_t[]){3}, 0), *out = NULL;
    krf_graph *g = krf_graph_create(ctx);
    krf_expr r;
    krf_gufunc_call(f, g, 1, (krf_expr[]){krf_input(g, x)}, &r);
    assert_int_equal(krf_eval(r, &out), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "undeclared"));
    assert_true(strstr(krf_error_message(), "broken:3") != NULL || strstr(krf_error_message(), "broken(3)") != NULL);
    krf_graph_destroy(g);
    krf_array_release(x);
    krf_gufunc_release(f);
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    options.device = asked_device();
    ctx = open_or_skip(&options);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products), cmocka_unit_test(several_results), cmocka_unit_test(kernels_are_shared), cmocka_unit_test(bools), cmocka_unit_test(views_are_not_copied), cmocka_unit_test(wrong_definitions), cmocka_unit_test(wrong_calls),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_context_destroy(ctx);
    return failed;
}
