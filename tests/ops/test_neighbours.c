/* Reductions of differences between rows of one array, long enough for chunks that the warps of a block share because what they read is read again (plan/schedule.c): results by the canonical tree, whatever the
 * length of rows, the dtype, and how far apart the rows are. KRF_TEST_DEVICE. */
#include "ops/tree.h"

enum { MOST = 40 * 20000 };

static runs all;

/* The element at (i, j) of what is reduced, from an array of n columns. */
typedef double element(const double *x, int64_t n, int64_t i, int64_t j);

static double single(double v) { return (double)(float)v; }
static double below(const double *x, int64_t n, int64_t i, int64_t j) { return single(x[(i + 1) * n + j] - x[i * n + j]); }
static double squared(const double *x, int64_t n, int64_t i, int64_t j) { return single(below(x, n, i, j) * below(x, n, i, j)); }
static double three_below(const double *x, int64_t n, int64_t i, int64_t j) { return single(x[(i + 3) * n + j] - x[i * n + j]); }
static double both(const double *x, int64_t n, int64_t i, int64_t j) { return single(fabs(below(x, n, i, j)) + fabs(single(x[i * n + j + 1] - x[i * n + j]))); }
static double cross(const double *x, int64_t n, int64_t i, int64_t j) {
    return single(single(single(single(x[i * n + j + 1] + x[(i + 2) * n + j + 1]) + x[(i + 1) * n + j]) + x[(i + 1) * n + j + 2]) - single(4 * x[(i + 1) * n + j + 1]));
}
static double beside(const double *x, int64_t n, int64_t i, int64_t j) { return single(x[i * n + j + 1] - x[i * n + j]); } /* near: a kernel as any other */

static const struct {
    const char *program;
    reduction_op op;
    element *of;
    int64_t fewer_rows, fewer_columns;
} cases[] = {
    {"sum((x[1:] - x[:-1])**2)", SUM, squared, 1, 0},
    {"sum(x[3:] - x[:-3])", SUM, three_below, 3, 0},
    {"max(x[1:] - x[:-1])", MAX, below, 1, 0},
    {"min(x[1:, :-1] - x[:-1, :-1])", MIN, below, 1, 1},
    {"sum(abs(x[1:, :-1] - x[:-1, :-1]) + abs(x[:-1, 1:] - x[:-1, :-1]))", SUM, both, 1, 1},
    {"mean(x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1])", MEAN, cross, 2, 2},
    {"sum(x[:, 1:] - x[:, :-1])", SUM, beside, 0, 1},
};

static double canonical(reduction_op op, const double *x, int64_t n) { return op == MEAN ? single(canonical_tree(SUM, true, x, n) / (double)n) : canonical_tree(op, true, x, n); }

static void test_trees(void **unused) {
    static const int64_t shapes[][2] = {{700, 1031}, {300, 1024}, {130, 4099}, {129, 2048}, {257, 1030}, {40, 20000}};
    static double x[MOST], values[MOST];
    static float data[MOST];
    uint64_t seed = 3;
    (void)unused;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int64_t lines = shapes[s][0], columns = shapes[s][1];
        for (int64_t i = 0; i < lines * columns; i++) {
            data[i] = (float)((double)random_below(&seed, 1 << 24) / (1 << 20)) - 8.0f;
            x[i] = (double)data[i];
        }
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            const int64_t down = lines - cases[c].fewer_rows, across = columns - cases[c].fewer_columns;
            for (int64_t i = 0; i < down * across; i++) {
                values[i] = cases[c].of(x, columns, i / across, i % across);
            }
            const double want = canonical(cases[c].op, values, down * across);
            for (int r = 0; r < all.n; r++) {
                krf_context *context = all.run[r].context;
                krf_array *array = NULL, *got = NULL;
                krf_expr y;
                float found = 0;
                krf_graph *g = krf_graph_create(context);
                assert_int_equal(krf_array_from_host(context, KRF_F32, 2, shapes[s], data, &array), KRF_OK);
                krf_status status = krf_parse(g, cases[c].program, (krf_binding[]){krf_bind_array("x", array)}, 1, &y);
                status = status == KRF_OK ? krf_eval(y, &got) : status;
                if (status != KRF_OK || krf_array_to_host(got, &found, sizeof found) != KRF_OK) {
                    fail_msg("%s, %s: %s", cases[c].program, all.run[r].label, krf_error_message());
                }
                if ((double)found != want) {
                    fail_msg("%s of (%d, %d), %s: %.9g, not %.9g", cases[c].program, (int)lines, (int)columns, all.run[r].label, (double)found, want);
                }
                krf_array_release(got);
                krf_array_release(array);
                krf_graph_destroy(g);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trees)};
    open_runs(&all, false);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    close_runs(&all);
    return failed;
}
