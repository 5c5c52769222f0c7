/* Views of values that are made of what was reduced to little (pass/lower_under.c): such a value is computed again from its operands and what was reduced, not stored and read. Which kernels there are, what they move,
 * where the value is stored all the same, and that results are those of a value that is stored. KRF_TEST_DEVICE. */
#include "ops/plans.h"
#include "ops/tree.h"

#define MEAN_OF_COLUMNS "m = mean(x, axis=0)\n"
#define MEAN_OF_ROWS "m = mean(x, axis=1, keepdims=True)\n"

enum { N = 1 << 19, M = 64, TAKEN = 500 };
#define WHOLE (INT64_C(4) * N * M) /* bytes of x and of d, */
#define SIDE (INT64_C(4) * N)      /* of a number for each row, */
#define TOP (INT64_C(4) * M)       /* and for each column */

static void plan_is(const char *program, int64_t columns, int n, const kernel *kernels) { must_have(program, NULL, "cuda", N, columns, TAKEN, n, kernels); }

static void finish(void) {
    const int found = failures;
    failures = 0;
    assert_int_equal(found, 0);
}

/* The covariance of points: x is read twice, and nothing of its size is written. */
static void test_covariance(void **unused) {
    const int64_t points = INT64_C(12) * N;
    static const char *const program = "m = x - mean(x, axis=0)\nmean(m[:, :, None]*m[:, None, :], axis=0)";
    (void)unused;
    plan_is(program, 3, 2, (kernel[]){{"reduce_all", points, 12}, {"reduce_all", points + 12, 36}});
    must_have(program, NULL, "c", N, 3, TAKEN, 2, (kernel[]){{"reduce_col", points, 12}, {"reduce_col", points + 12, 36}});
    finish();
}

static void test_again(void **unused) {
    (void)unused;
    plan_is(MEAN_OF_COLUMNS "return (x - m).T", M, 2, (kernel[]){{"reduce_col", WHOLE, TOP}, {"tile", WHOLE + TOP, WHOLE}});
    plan_is(MEAN_OF_COLUMNS "return ((x - m)/std(x, axis=0)).T", M, 2, (kernel[]){{"reduce_col", WHOLE, 2 * TOP}, {"tile", WHOLE + 2 * TOP, WHOLE}});
    plan_is(MEAN_OF_COLUMNS "return ((x - m)*s + 1).T", M, 2, (kernel[]){{"reduce_col", WHOLE, TOP}, {"tile", WHOLE + 2 * TOP, WHOLE}});
    plan_is(MEAN_OF_ROWS "return (x - m)[:, ::-1]", M, 2, (kernel[]){{"", WHOLE, SIDE}, {"map", WHOLE + SIDE, WHOLE}});
    plan_is(MEAN_OF_ROWS "return take(x - m, i, axis=0)", M, 2, (kernel[]){{"", WHOLE, SIDE}, {"map", -1, INT64_C(4) * TAKEN * M}});
    plan_is(MEAN_OF_ROWS "return take((x - m)/std(x, axis=1, keepdims=True), i, axis=0)", M, 2, (kernel[]){{"", WHOLE, 2 * SIDE}, {"map", -1, INT64_C(4) * TAKEN * M}});
    finish();
}

/* Where it is dear to compute, reads more than it has bytes, takes many operations, or is not much larger than what was reduced. */
static void test_stored(void **unused) {
    const int64_t narrow = INT64_C(16) * N;
    (void)unused;
    plan_is("e = exp(x - max(x, axis=1, keepdims=True))\np = e/sum(e, axis=1, keepdims=True)\nreturn p[:, ::-1] + p", M, 2, (kernel[]){{"", WHOLE, WHOLE}, {"map", WHOLE, WHOLE}});
    plan_is(MEAN_OF_COLUMNS "return exp(x - m).T", M, 3, (kernel[]){{"reduce_col", WHOLE, TOP}, {"map", WHOLE + TOP, WHOLE}, {"tile", WHOLE, WHOLE}});
    plan_is(MEAN_OF_COLUMNS "return ((x - m)*d).T", M, 3, (kernel[]){{"reduce_col", WHOLE, TOP}, {"map", 2 * WHOLE + TOP, WHOLE}, {"tile", WHOLE, WHOLE}});
    plan_is(MEAN_OF_COLUMNS "return ((((((((x - m)*2 + 1)*3 + 2)*5 + 3)*7 + 4)*6) + 5)*7).T", M, 3, (kernel[]){{"reduce_col", WHOLE, TOP}, {"map", WHOLE + TOP, WHOLE}, {"tile", WHOLE, WHOLE}});
    plan_is(MEAN_OF_ROWS "return (x - m)[:, ::-1]", 4, 2, (kernel[]){{"", narrow, narrow}, {"map", narrow, narrow}});
    finish();
}

static void test_values(void **unused) {
    static matrix apart;
    static float want[ROWS * COLUMNS], turned[ROWS * COLUMNS], taken[40 * COLUMNS];
    static int64_t places[40];
    (void)unused;
    for (int j = 0; j < COLUMNS; j++) {
        const float mean = column_sum(x_values, j) / ROWS;
        for (int i = 0; i < ROWS; i++) {
            apart[i][j] = x_values[i][j] - mean;
            want[j * ROWS + i] = apart[i][j];
            turned[j * ROWS + i] = apart[i][j] * s_values[j] + 1;
        }
    }
    must_give(MEAN_OF_COLUMNS "return (x - m).T", 0, NULL, ROWS * COLUMNS, want);
    must_give(MEAN_OF_COLUMNS "return ((x - m)*s + 1).T", 0, NULL, ROWS * COLUMNS, turned);
    for (int i = 0; i < 40; i++) {
        places[i] = i * 7919 % (2 * ROWS) - ROWS; /* from the end too */
        memcpy(taken + (int64_t)i * COLUMNS, apart[(places[i] + ROWS) % ROWS], sizeof *apart);
    }
    must_give(MEAN_OF_COLUMNS "return take(x - m, i, axis=0)", 40, places, 40 * COLUMNS, taken);
    for (int i = 0; i < ROWS; i++) {
        const float mean = row_sum(x_values, i) / COLUMNS;
        for (int j = 0; j < COLUMNS; j++) {
            apart[i][j] = x_values[i][j] - mean;
            want[i * COLUMNS + COLUMNS - 1 - j] = apart[i][j];
        }
    }
    must_give(MEAN_OF_ROWS "return (x - m)[:, ::-1]", 0, NULL, ROWS * COLUMNS, want);
    for (int i = 0; i < 40; i++) {
        memcpy(taken + (int64_t)i * COLUMNS, apart[(places[i] + ROWS) % ROWS], sizeof *apart);
    }
    must_give(MEAN_OF_ROWS "return take(x - m, i, axis=0)", 40, places, 40 * COLUMNS, taken);
    finish();
}

/* Of three of the columns. */
static void test_values_of_covariance(void **unused) {
    static matrix apart, products;
    static float want[9];
    (void)unused;
    for (int j = 0; j < 3; j++) {
        const float mean = column_sum(x_values, j) / ROWS;
        for (int i = 0; i < ROWS; i++) {
            apart[i][j] = x_values[i][j] - mean;
        }
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            for (int i = 0; i < ROWS; i++) {
                products[i][0] = apart[i][a] * apart[i][b];
            }
            want[3 * a + b] = column_sum(products, 0) / ROWS;
        }
    }
    must_give("p = x[:, :3]\nm = p - mean(p, axis=0)\nmean(m[:, :, None]*m[:, None, :], axis=0)", 0, NULL, 9, want);
    finish();
}

/* Values of no elements, of which what was reduced has no more: nothing of them is computed. */
static void test_nothing(void **unused) {
    static const char *const programs[] = {MEAN_OF_ROWS "return (x - m).T", MEAN_OF_ROWS "return (x - m)[:, ::-1]", MEAN_OF_ROWS "return sum((x - m)[:, ::-1], axis=0)", MEAN_OF_COLUMNS "return (x - m).T"};
    (void)unused;
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
        planned p = plan_of(programs[k], NULL, "cuda", 0, M, TAKEN);
        assert_int_equal(p.n, strstr(programs[k], "sum(") != NULL); /* sums over no elements are results */
        krf_free(p.text);
        p = plan_of(programs[k], NULL, "cuda", N, 0, TAKEN);
        krf_free(p.text);
    }
}

int main(void) {
    return run_on(open_plans(),
                  TESTS(cmocka_unit_test(test_covariance), cmocka_unit_test(test_again), cmocka_unit_test(test_stored), cmocka_unit_test(test_values),
                        cmocka_unit_test(test_values_of_covariance), cmocka_unit_test(test_nothing)));
}
