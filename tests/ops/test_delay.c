/* Reductions that wait for a later kernel over the same elements and axes which reads the same (pass/delay.c): how many kernels there are and what they read; which must not wait; and that results are the same.
 * KRF_TEST_DEVICE. */
#include "ops/plans.h"
#include "ops/tree.h"

#define LAYER_NORM \
    "m = mean(x, axis=1, keepdims=True)\n" \
    "v = mean((x - m)**2, axis=1, keepdims=True)\n" \
    "r = 1/sqrt(v + 0.5)\n" \
    "h = (x - m)*r\n"
#define BACKWARD \
    LAYER_NORM "e = d*s\n" \
    "return r*(e - mean(e, axis=1, keepdims=True) - h*mean(e*h, axis=1, keepdims=True)), sum(d*h, axis=0), sum(d, axis=0)"
#define STATISTIC "r = sum(x, axis=1, keepdims=True)\n"

#define UNTIL_THIRD STATISTIC "a = sum(d*r, axis=0)\nb = sum(d, axis=0)\nq = sum(x*r, axis=1, keepdims=True)\nt = sum(x*q*b, axis=1, keepdims=True)\nreturn a, b, sum(d*t, axis=0)"

enum { N = 4096, M = 1024 };
#define WHOLE (INT64_C(4) * N * M)  /* bytes of x and of d, */
#define SIDE (INT64_C(4) * N)       /* of a number for each row, */
#define TOP (INT64_C(4) * M)        /* and for each column */

static const char *const targets[] = {"c", "cuda"};

static void plans_are(const char *program, const char *fusion, int n, const kernel *kernels) {
    for (int t = 0; t < 2; t++) {
        must_have(program, fusion, targets[t], N, M, 5, n, kernels);
    }
}

static void finish(void) {
    const int found = failures;
    failures = 0;
    assert_int_equal(found, 0);
}

/* The sum of the gradient waits for that of its products with normalised rows: d and x are read twice in all. */
static void test_layer_norm(void **unused) {
    (void)unused;
    plans_are(BACKWARD, NULL, 2, (kernel[]){{"row", 2 * WHOLE + TOP, WHOLE + 2 * SIDE}, {"reduce_col", 2 * WHOLE + 2 * SIDE, 2 * TOP}});
    plans_are(LAYER_NORM "return sum(d*h, axis=0), sum(d, axis=0)", NULL, 2, (kernel[]){{"row", WHOLE, 2 * SIDE}, {"reduce_col", 2 * WHOLE + 2 * SIDE, 2 * TOP}});
    plans_are(STATISTIC "return sum(d, axis=0), sum(d*r, axis=0)", NULL, 2, (kernel[]){{"reduce_row", WHOLE, SIDE}, {"reduce_col", WHOLE + SIDE, 2 * TOP}});
    plans_are(STATISTIC "return sum(d, axis=0)*2 + s, max(abs(d), axis=0), sum(d*r, axis=0)", NULL, 2, (kernel[]){{"reduce_row", WHOLE, SIDE}, {"reduce_col", WHOLE + SIDE + TOP, 3 * TOP}}); /* with what stands behind */
    finish();
}

/* Reductions that have waited go on to wait for others, as long as nothing needs the first ones before. */
static void test_chains(void **unused) {
    (void)unused;
    plans_are(STATISTIC "a = sum(d*r, axis=0)\nq = sum(x*r, axis=1, keepdims=True)\nt = sum(x*q, axis=1, keepdims=True)\nreturn sum(d, axis=0), a, sum(d*t, axis=0)", NULL, 2,
              (kernel[]){{"row", WHOLE, 2 * SIDE}, {"reduce_col", WHOLE + 2 * SIDE, 3 * TOP}});
    plans_are(STATISTIC "a = sum(d*r, axis=0)\nt = sum(x*a, axis=1, keepdims=True)\nreturn sum(d, axis=0), a, sum(d*t, axis=0)", NULL, 4,
              (kernel[]){{"reduce_row", WHOLE, SIDE}, {"reduce_col", WHOLE + SIDE, 2 * TOP}, {"reduce_row", WHOLE + TOP, SIDE}, {"reduce_col", WHOLE + SIDE, TOP}});
    /* the sum of d may wait for the second step's kernel, and then that one for no other: the third step needs it */
    plans_are(UNTIL_THIRD, NULL, 4, (kernel[]){{"row", WHOLE, 2 * SIDE}, {"reduce_col", WHOLE + SIDE, 2 * TOP}, {"reduce_row", WHOLE + SIDE + TOP, SIDE}, {"reduce_col", WHOLE + SIDE, TOP}});
    finish();
}

/* What is needed by something that the later kernel needs cannot wait for it; nor can what that kernel needs itself. */
static void test_needed(void **unused) {
    (void)unused;
    plans_are("q = sum(d, axis=0)\nt = sum(d*q, axis=1, keepdims=True)\nreturn sum(d*t, axis=0)", NULL, 3, (kernel[]){{"reduce_col", WHOLE, TOP}, {"reduce_row", WHOLE + TOP, SIDE}, {"reduce_col", WHOLE + SIDE, TOP}});
    plans_are("q = sum(d, axis=0)*2 + s\nt = sum(d*q, axis=1, keepdims=True)\nreturn q, sum(d*t, axis=0)", NULL, 3, (kernel[]){{"reduce_col", WHOLE + TOP, TOP}, {"reduce_row", WHOLE + TOP, SIDE}, {"reduce_col", WHOLE + SIDE, TOP}});
    plans_are("q = mean(d, axis=0)\nreturn sum((d - q)**2, axis=0)", "row=0", 2, (kernel[]){{"reduce_col", WHOLE, TOP}, {"reduce_col", WHOLE + TOP, TOP}});
    finish();
}

/* Nothing waits where it would not save reading: other arrays, a row of the same numbers, other axes; or where kernels would be too large. */
static void test_apart(void **unused) {
    static const char *const fewer[] = {"reductions=1", "results=1"};
    (void)unused;
    plans_are(STATISTIC "return sum(x*r, axis=0), sum(d, axis=0)", NULL, 3, (kernel[]){{"", -1, -1}, {"", -1, -1}, {"reduce_col", WHOLE + SIDE, TOP}});
    plans_are(STATISTIC "return sum(x*r*s, axis=0), sum(d*s, axis=0)", NULL, 3, (kernel[]){{"", -1, -1}, {"", -1, -1}, {"reduce_col", WHOLE + SIDE + TOP, TOP}});
    plans_are(STATISTIC "return sum(d*r, axis=0), sum(d)", NULL, 3, (kernel[]){{"", -1, -1}, {"", -1, -1}, {"reduce_col", WHOLE + SIDE, TOP}});
    plans_are(STATISTIC "return sum(d, axis=0), cumsum(d*r, axis=0)", NULL, 3, (kernel[]){{"", -1, -1}, {"", -1, -1}, {"scan", WHOLE + SIDE, WHOLE}});
    for (int k = 0; k < 2; k++) {
        plans_are(STATISTIC "return sum(d, axis=0), sum(d*r, axis=0)", fewer[k], 3, (kernel[]){{"", -1, -1}, {"", -1, -1}, {"reduce_col", WHOLE + SIDE, TOP}});
    }
    plans_are(STATISTIC "return sum(d, axis=0), max(d, axis=0), sum(d*r, axis=0)", "reductions=2", 3, (kernel[]){{"", -1, -1}, {"", -1, -1}, {"reduce_col", WHOLE + SIDE, TOP}});
    plans_are(STATISTIC "return sum(d, axis=0), max(d, axis=0), sum(d*r, axis=0)", "reductions=3", 2, (kernel[]){{"reduce_row", WHOLE, SIDE}, {"reduce_col", WHOLE + SIDE, 3 * TOP}});
    finish();
}

static void test_values(void **unused) {
    static matrix products, squares, h;
    static float want[ROWS * COLUMNS + 2 * COLUMNS], r[ROWS], row[ROWS], side[ROWS];
    float *columns = want + (int64_t)ROWS * COLUMNS;
    (void)unused;
    for (int i = 0; i < ROWS; i++) {
        const float mean = row_sum(x_values, i) / COLUMNS;
        for (int j = 0; j < COLUMNS; j++) {
            const float apart = x_values[i][j] - mean;
            squares[i][j] = apart * apart;
        }
        r[i] = 1 / (float)sqrt((double)(row_sum(squares, i) / COLUMNS + 0.5F));
        for (int j = 0; j < COLUMNS; j++) {
            h[i][j] = (x_values[i][j] - mean) * r[i];
            products[i][j] = d_values[i][j] * s_values[j];
            squares[i][j] = products[i][j] * h[i][j];
        }
        row[i] = row_sum(products, i) / COLUMNS;
        side[i] = row_sum(squares, i) / COLUMNS;
        for (int j = 0; j < COLUMNS; j++) {
            want[i * COLUMNS + j] = r[i] * (products[i][j] - row[i] - h[i][j] * side[i]);
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            products[i][j] = d_values[i][j] * h[i][j];
        }
    }
    for (int j = 0; j < COLUMNS; j++) {
        columns[j] = column_sum(products, j);
        columns[COLUMNS + j] = column_sum(d_values, j);
    }
    must_give(BACKWARD, 0, NULL, ROWS * COLUMNS + 2 * COLUMNS, want);
    must_give(LAYER_NORM "return sum(d*h, axis=0), sum(d, axis=0)", 0, NULL, 2 * COLUMNS, columns);
    finish();
}

/* The chains, and what must not wait. */
static void test_values_of_chains(void **unused) {
    static matrix products;
    static float r[ROWS], t[ROWS], want[3 * COLUMNS];
    (void)unused;
    for (int needed = 0; needed < 2; needed++) {
        for (int i = 0; i < ROWS; i++) {
            r[i] = row_sum(x_values, i);
        }
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++) {
                products[i][j] = d_values[i][j] * r[i];
            }
        }
        for (int j = 0; j < COLUMNS; j++) {
            want[j] = column_sum(d_values, j);
            want[COLUMNS + j] = column_sum(products, j);
        }
        for (int step = needed; step < 2; step++) {
            for (int i = 0; i < ROWS; i++) {
                for (int j = 0; j < COLUMNS; j++) {
                    products[i][j] = x_values[i][j] * (needed ? want[COLUMNS + j] : step == 0 ? r[i] : t[i]);
                }
                t[i] = row_sum(products, i);
            }
        }
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++) {
                products[i][j] = d_values[i][j] * t[i];
            }
        }
        for (int j = 0; j < COLUMNS; j++) {
            want[2 * COLUMNS + j] = column_sum(products, j);
        }
        must_give(needed ? STATISTIC "a = sum(d*r, axis=0)\nt = sum(x*a, axis=1, keepdims=True)\nreturn sum(d, axis=0), a, sum(d*t, axis=0)"
                         : STATISTIC "a = sum(d*r, axis=0)\nq = sum(x*r, axis=1, keepdims=True)\nt = sum(x*q, axis=1, keepdims=True)\nreturn sum(d, axis=0), a, sum(d*t, axis=0)",
                  0, NULL, 3 * COLUMNS, want);
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            products[i][j] = x_values[i][j] * r[i];
        }
        t[i] = row_sum(products, i);
        for (int j = 0; j < COLUMNS; j++) {
            products[i][j] = d_values[i][j] * r[i];
        }
    }
    for (int j = 0; j < COLUMNS; j++) {
        want[j] = column_sum(products, j);
        want[COLUMNS + j] = column_sum(d_values, j);
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            products[i][j] = x_values[i][j] * t[i] * want[COLUMNS + j];
        }
        t[i] = row_sum(products, i);
        for (int j = 0; j < COLUMNS; j++) {
            products[i][j] = d_values[i][j] * t[i];
        }
    }
    for (int j = 0; j < COLUMNS; j++) {
        want[2 * COLUMNS + j] = column_sum(products, j);
    }
    must_give(UNTIL_THIRD, 0, NULL, 3 * COLUMNS, want);
    for (int j = 0; j < COLUMNS; j++) { /* needed by its column's statistic, behind an epilogue */
        want[j] = column_sum(d_values, j) * 2 + s_values[j];
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            products[i][j] = d_values[i][j] * want[j];
        }
        t[i] = row_sum(products, i);
        for (int j = 0; j < COLUMNS; j++) {
            products[i][j] = d_values[i][j] * t[i];
        }
    }
    for (int j = 0; j < COLUMNS; j++) {
        want[COLUMNS + j] = column_sum(products, j);
    }
    must_give("q = sum(d, axis=0)*2 + s\nt = sum(d*q, axis=1, keepdims=True)\nreturn q, sum(d*t, axis=0)", 0, NULL, 2 * COLUMNS, want);
    finish();
}

int main(void) {
    return run_on(open_plans(),
                  TESTS(cmocka_unit_test(test_layer_norm), cmocka_unit_test(test_chains), cmocka_unit_test(test_needed), cmocka_unit_test(test_apart),
                        cmocka_unit_test(test_values), cmocka_unit_test(test_values_of_chains)));
}
