/* Derivatives of every elementwise function of the table, first and second, reverse and forward, against difference quotients of the function itself
 * (of its first derivative), in f64, at points inside its domain and away from its jumps. */
#include "helpers.h"
#include "ops/common.h"

#include "ir/build.h"

enum { POINTS = 7, MOST = 2048 };

typedef struct op_row {
    const char *name;
    int arity;
    krf__op op;
} op_row;

#define NODE(...)
#define OP(name, arity, ...) {#name, arity, KRF__##name},
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
static const op_row rows[] = {
#include "ir/ops.def"
};
#include "ir/ops_undef.h"
enum { ROWS = sizeof rows / sizeof *rows };

static runs all;
static krf_context *interpreter;

/* Points where everything is defined and smooth: between 0 and 1, for acosh above 1. Operands differ from each other. */
static const double points[3][POINTS] = {
    {0.17, 0.23, 0.41, 0.57, 0.66, 0.79, 0.88}, {0.93, 0.35, 0.29, 0.71, 0.19, 0.53, 0.61}, {0.31, 0.87, 0.77, 0.27, 0.45, 0.15, 0.69}};

static void operands(krf_graph *g, krf_context *context, int moved, double by, krf_expr *xs) {
    for (int k = 0; k < 3; k++) {
        double values[POINTS];
        for (int i = 0; i < POINTS; i++) {
            values[i] = points[k][i] + (k == moved ? by : 0);
        }
        xs[k] = host_input(g, context, KRF_F64, 1, (int64_t[]){POINTS}, values);
    }
}

/* The function (order 0), its derivative by operand k, or the derivative of that by the same operand. */
static krf_expr build(const op_row *row, const krf_expr *given, int k, int order) {
    krf_graph *g = given[0].graph;
    krf_expr xs[3] = {given[0], given[1], given[2]};
    if (row->op == KRF__acosh) {
        xs[0] = krf_add(xs[0], krf_scalar(g, 1));
    }
    krf_expr y = {g, krf__build(g, row->op, row->arity, (uint32_t[]){xs[0].id, xs[1].id, xs[2].id})};
    for (int i = 0; krf_expr_ok(y) && i < order; i++) {
        krf_grad(krf_sum(y, 0, NULL, false), 1, &xs[k], &y);
    }
    return y;
}

/* In the interpreter, with operand k moved. False where there is no such derivative, or the result is no float. */
static bool evaluate(const op_row *row, int k, double by, int order, double *out) {
    krf_graph *g = krf_graph_create(interpreter);
    krf_expr xs[3];
    krf_array *result = NULL;
    operands(g, interpreter, k, by, xs);
    krf_expr y = build(row, xs, k, order);
    bool defined = krf_expr_ok(y) && krf_expr_dtype(y) == KRF_F64;
    if (defined) {
        assert_int_equal(krf_eval(y, &result), KRF_OK);
        assert_int_equal(krf_array_to_host(result, out, POINTS * sizeof *out), KRF_OK);
        krf_array_release(result);
    } else if (!krf_expr_ok(y) && order > 0) {
        assert_non_null(strstr(krf_graph_error(g), "is not known")); /* and nothing worse */
    }
    krf_graph_destroy(g);
    return defined;
}

typedef struct expected {
    const op_row *row;
    int k, order;
    double values[POINTS];
} expected;

static expected list[MOST];
static int n_expected;

/* Difference quotients, of all rows and orders. */
static void test_unknown(void **unused) {
    (void)unused;
    const double h = 1e-5;
    static const char *const known_gaps[] = {"digamma", "i0", "lgamma", "gamma"}; /* the last two: their second derivatives */
    for (int r = 0; r < ROWS; r++) {
        for (int k = 0; k < rows[r].arity && in_shard(r); k++) {
            for (int order = 1; order <= 2; order++) {
                double above[POINTS], below[POINTS];
                expected *e = &list[n_expected];
                if (!evaluate(&rows[r], k, 0, 0, above) || krf__op_info_of(rows[r].op)->rule == KRF__RULE_BITS) {
                    continue;
                }
                if (!evaluate(&rows[r], k, 0, order, e->values)) {
                    bool gap = false;
                    for (size_t i = 0; i < sizeof known_gaps / sizeof *known_gaps; i++) {
                        gap |= strcmp(known_gaps[i], rows[r].name) == 0 && (i < 2 || order == 2);
                    }
                    if (!gap) {
                        COMPLAIN("%s by operand %d: no derivative of order %d", rows[r].name, k, order);
                    }
                    continue;
                }
                evaluate(&rows[r], k, h, order - 1, above);
                evaluate(&rows[r], k, -h, order - 1, below);
                *e = (expected){.row = &rows[r], .k = k, .order = order};
                for (int i = 0; i < POINTS; i++) {
                    e->values[i] = (above[i] - below[i]) / (2 * h);
                }
                assert_true(++n_expected < MOST);
            }
        }
    }
    assert_true(n_expected > (getenv("KRF_TEST_SHARD") == NULL ? 200 : 1));
    assert_int_equal(failures, 0);
}

static void compare(const char *label, const char *what, const expected *e, const double *got) {
    for (int i = 0; i < POINTS; i++) {
        if (!(fabs(got[i] - e->values[i]) <= 1e-6 * (fabs(e->values[i]) + 0.1))) {
            COMPLAIN("%s: %s of %s by operand %d, order %d, at point %d: %.12g, not %.12g", label, what, e->row->name, e->k, e->order, i, got[i],
                     e->values[i]);
        }
    }
}

/* All rows as one evaluation. */
static void test_rows(void **unused) {
    (void)unused;
    static krf_expr ys[MOST];
    static krf_array *results[MOST];
    for (int c = 0; c < all.n; c++) {
        krf_graph *g = krf_graph_create(all.run[c].context);
        krf_expr xs[3], one = krf_scalar(g, 1);
        operands(g, all.run[c].context, -1, 0, xs);
        for (int forward = 0; forward < 2; forward++) {
            int n = 0;
            for (int j = 0; j < n_expected; j++) {
                const expected *e = &list[j];
                if (forward && e->row->op == KRF__acosh) {
                    continue; /* its variable is an expression of its own */
                }
                krf_expr y = build(e->row, xs, e->k, forward ? e->order - 1 : e->order);
                ys[n] = forward ? krf_jvp(y, 1, &xs[e->k], &one) : y;
                results[n++] = NULL;
            }
            if (krf_eval_many(n, ys, results) != KRF_OK) {
                fail_msg("%s: %s", all.run[c].label, krf_error_message());
            }
            for (int j = 0, at = 0; j < n_expected; j++) {
                double got[POINTS];
                if (forward && list[j].row->op == KRF__acosh) {
                    continue;
                }
                assert_int_equal(krf_array_to_host(results[at], got, sizeof got), KRF_OK);
                compare(all.run[c].label, forward ? "jvp" : "grad", &list[j], got);
                krf_array_release(results[at++]);
            }
        }
        krf_graph_destroy(g);
    }
    printf("%d derivatives\n", n_expected);
    assert_int_equal(failures, 0);
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    interpreter = open_or_skip(&options);
    const int failed = run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_unknown), cmocka_unit_test(test_rows)));
    krf_context_destroy(interpreter);
    return failed;
}
