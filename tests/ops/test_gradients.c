/* The GRAD rows of ops.def: each derivative against the difference quotient of the function itself, in f64 through the interpreter, at points
 * inside the function's domain and away from its jumps. */
#include "ops/common.h"

#include "ir/compose.h"
#include "ir/derive.h"

enum { POINTS = 7 };

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

static krf_context *context;

/* Points where everything is defined and smooth: between 0 and 1, for acosh above 1. Operands differ from each other. */
static double point(const char *name, int operand, int i) {
    static const double at[3][POINTS] = {
        {0.17, 0.23, 0.41, 0.57, 0.66, 0.79, 0.88}, {0.93, 0.35, 0.29, 0.71, 0.19, 0.53, 0.61}, {0.31, 0.87, 0.77, 0.27, 0.45, 0.15, 0.69}};
    return at[operand][i] + (strcmp(name, "acosh") == 0 ? 1 : 0);
}

static krf_expr operand(krf_graph *g, const double *values, krf_array **array) {
    assert_int_equal(krf_array_from_host(context, KRF_F64, 1, (int64_t[]){POINTS}, values, array), KRF_OK);
    return krf_input(g, *array);
}

/* The function's values with one operand moved, or (moved < 0) its derivative by operand -1 - moved. False when it has none. */
static bool evaluate(const op_row *row, int moved, double by, double *out) {
    krf_graph *g = krf_graph_create(context);
    krf_array *arrays[3] = {NULL}, *result = NULL;
    uint32_t args[3] = {0};
    for (int k = 0; k < row->arity; k++) {
        double values[POINTS];
        for (int i = 0; i < POINTS; i++) {
            values[i] = point(row->name, k, i) + (k == moved ? by : 0);
        }
        args[k] = operand(g, values, &arrays[k]).id;
    }
    krf_expr y = {g, krf__build(g, row->op, row->arity, args)};
    bool defined = krf_expr_ok(y);
    if (defined && moved < 0) {
        y.id = krf__derive(g, row->op, -1 - moved, args, y.id, krf__build_real(g, 1, true), false);
        defined = y.id != 0;
    }
    if (defined) {
        /* a gradient that does not depend on the operands is a scalar */
        y.id = krf__build_broadcast_to(g, krf__build_cast(g, y.id, KRF_F64), 1, (int64_t[]){POINTS});
        assert_int_equal(krf_eval(y, &result), KRF_OK);
        assert_int_equal(krf_array_to_host(result, out, POINTS * sizeof *out), KRF_OK);
        krf_array_release(result);
    }
    krf_graph_destroy(g);
    for (int k = 0; k < row->arity; k++) {
        krf_array_release(arrays[k]);
    }
    return defined;
}

static void test_rows(void **unused) {
    (void)unused;
    int checked = 0;
    const double h = 1e-5;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const op_row *row = &rows[r];
        if (krf__is_composed(row->op)) {
            continue;
        }
        for (int k = 0; k < row->arity; k++) {
            double derivative[POINTS], above[POINTS], below[POINTS];
            if (!evaluate(row, -1 - k, 0, derivative) || !evaluate(row, k, h, above) || !evaluate(row, k, -h, below)) {
                continue;
            }
            checked++;
            for (int i = 0; i < POINTS; i++) {
                double quotient = (above[i] - below[i]) / (2 * h);
                if (!(fabs(derivative[i] - quotient) <= 1e-6 * (1 + fabs(quotient)))) {
                    COMPLAIN("%s by operand %d at %g: %.12g, not %.12g", row->name, k, point(row->name, k, i), derivative[i], quotient);
                }
            }
        }
    }
    assert_true(checked > 60);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    krf_context_options options = krf_context_options_default();
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_context_destroy(context);
    return failed;
}
