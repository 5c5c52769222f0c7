/* Reductions of differences between rows of one array, long enough for chunks that the warps of a block share because what they read is read again (plan/team.c), and of elements that are stored as well: results by
 * the canonical tree, whatever the length of rows and chunks, and how far apart the rows are. KRF_TEST_DEVICE. */
#include "ops/tree.h"

enum { MOST = 1030 * 8210, LONG_CHUNKS = 1 << 22 /* elements, above which chunks have 2,048; of twice as many 4,096 */ };

static runs all;

/* The element at (i, j) of what is reduced, from an array of n columns. */
typedef double element(const float *x, int64_t n, int64_t i, int64_t j);

static double single(double v) { return (double)(float)v; }
static double below(const float *x, int64_t n, int64_t i, int64_t j) { return (double)(x[(i + 1) * n + j] - x[i * n + j]); }
static double squared(const float *x, int64_t n, int64_t i, int64_t j) { return single(below(x, n, i, j) * below(x, n, i, j)); }
static double three_below(const float *x, int64_t n, int64_t i, int64_t j) { return (double)(x[(i + 3) * n + j] - x[i * n + j]); }
static double both(const float *x, int64_t n, int64_t i, int64_t j) { return single(fabs(below(x, n, i, j)) + fabs((double)(x[i * n + j + 1] - x[i * n + j]))); }
static double cross(const float *x, int64_t n, int64_t i, int64_t j) {
    return (double)(x[i * n + j + 1] + x[(i + 2) * n + j + 1] + x[(i + 1) * n + j] + x[(i + 1) * n + j + 2] - 4 * x[(i + 1) * n + j + 1]);
}
static double beside(const float *x, int64_t n, int64_t i, int64_t j) { return (double)(x[i * n + j + 1] - x[i * n + j]); } /* near: a kernel as any other */

static double length(const float *x, int64_t n, int64_t i, int64_t j) {
    const double a = below(x, n, i, j), b = beside(x, n, i, j);
    return single(sqrt(single(single(a * a) + single(b * b))));
}
static double far_below(const float *x, int64_t n, int64_t i, int64_t j) { return (double)(x[(i + 1) * n + 2 * j] - x[i * n + 2 * j]); }
static double from_end(const float *x, int64_t n, int64_t i, int64_t j) { return (double)(x[(i + 1) * n + n - 1 - j] - x[i * n + n - 1 - j]); }
static double with_column(const float *x, int64_t n, int64_t i, int64_t j) { return (double)((x[(i + 1) * n + j] - x[i * n + j]) * x[i * n]); }

typedef struct neighbours {
    const char *program;
    reduction_op op;
    element *of;
    int64_t fewer_rows, fewer_columns;
    bool halved; /* rows have every second element */
} neighbours;

static const neighbours cases[] = {
    {"sum((x[1:] - x[:-1])**2)", SUM, squared, 1, 0, false},
    {"sum(x[3:] - x[:-3])", SUM, three_below, 3, 0, false},
    {"max(x[1:] - x[:-1])", MAX, below, 1, 0, false},
    {"min(x[1:, :-1] - x[:-1, :-1])", MIN, below, 1, 1, false},
    {"sum(abs(x[1:, :-1] - x[:-1, :-1]) + abs(x[:-1, 1:] - x[:-1, :-1]))", SUM, both, 1, 1, false},
    {"mean(x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1])", MEAN, cross, 2, 2, false},
    {"sum(x[:, 1:] - x[:, :-1])", SUM, beside, 0, 1, false},
};

/* Where chunks have whole tiles: by steps, of one stride and of several, backwards; of too many loads for that; and in one row, without. */
static const neighbours long_cases[] = {
    {"sum(sqrt((x[1:, :-1] - x[:-1, :-1])**2 + (x[:-1, 1:] - x[:-1, :-1])**2))", SUM, length, 1, 1, false},
    {"max(x[1:, :-1] - x[:-1, :-1])", MAX, below, 1, 1, false},
    {"sum(x[1:, ::-1] - x[:-1, ::-1])", SUM, from_end, 1, 0, false},
    {"sum((x[1:, :-1] - x[:-1, :-1]) * x[:-1, :1])", SUM, with_column, 1, 1, false},
    {"mean(x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1])", MEAN, cross, 2, 2, false},
    {"sum((x[1:] - x[:-1])**2)", SUM, squared, 1, 0, false},
};
static double eight_below(const float *x, int64_t n, int64_t i, int64_t j) { return (double)(x[(i + 8) * n + j] - x[i * n + j]); }
static const neighbours short_case = {"sum(x[8:, :-1] - x[:-8, :-1])", SUM, eight_below, 8, 1, false}; /* rows end several times in a step */
static const neighbours halved_case = {"sum(x[1:, ::2] - x[:-1, ::2])", SUM, far_below, 1, 0, true};

static double canonical(reduction_op op, const double *x, int64_t n) { return op == MEAN ? single(canonical_tree(SUM, true, x, n) / (double)n) : canonical_tree(op, true, x, n); }

static float data[MOST];
static double values[MOST];

static void fill(uint64_t seed, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        data[i] = (float)((double)random_below(&seed, 1 << 24) / (1 << 20)) - 8.0f;
    }
}

/* Asked once for each example. */
static bool is_chosen(void) {
    static int64_t examples_so_far;
    return in_shard(examples_so_far++);
}

static void try_case(const neighbours *c, const int64_t *shape) {
    if (!is_chosen()) {
        return;
    }
    const int64_t down = shape[0] - c->fewer_rows, across = c->halved ? (shape[1] + 1) / 2 : shape[1] - c->fewer_columns;
    for (int64_t i = 0; i < down * across; i++) {
        values[i] = c->of(data, shape[1], i / across, i % across);
    }
    const double want = canonical(c->op, values, down * across);
    for (int r = 0; r < all.n; r++) {
        krf_array *array = NULL;
        float found = 0;
        assert_int_equal(krf_array_from_host(all.run[r].context, KRF_F32, 2, shape, data, &array), KRF_OK);
        krf_array *got = evaluate_of(&all.run[r], c->program, array);
        read_back(got, &found, sizeof found);
        if ((double)found != want) {
            fail_msg("%s of (%d, %d), %s: %.9g, not %.9g", c->program, (int)shape[0], (int)shape[1], all.run[r].label, (double)found, want);
        }
        krf_array_release(got);
        krf_array_release(array);
    }
}

static void test_trees(void **unused) {
    static const int64_t shapes[][2] = {{700, 1031}, {300, 1024}, {130, 4099}, {129, 2048}, {257, 1030}, {40, 20000}};
    (void)unused;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        fill(3 + s, shapes[s][0] * shapes[s][1]);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            try_case(&cases[c], shapes[s]);
        }
    }
}

static void test_long_chunks(void **unused) {
    static const int64_t shapes[][2] = {{1030, 4110}, {2200, 2017}}, halved[] = {1030, 8210}, short_rows[] = {21100, 203};
    (void)unused;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        assert_true((shapes[s][0] - 2) * (shapes[s][1] - 2) > LONG_CHUNKS && shapes[s][0] * shapes[s][1] <= MOST);
        fill(11 + s, shapes[s][0] * shapes[s][1]);
        for (size_t c = 0; c < sizeof long_cases / sizeof *long_cases; c++) {
            try_case(&long_cases[c], shapes[s]);
        }
    }
    fill(5, MOST);
    try_case(&halved_case, halved);
    try_case(&long_cases[0], halved);
    try_case(&short_case, halved);
    fill(6, short_rows[0] * short_rows[1]);
    try_case(&short_case, short_rows);
}

/* What is reduced is a result too. */
static void test_stored(void **unused) {
    static const int64_t lengths[] = {262144, 262145, 300001, LONG_CHUNKS + 4099};
    static float y[MOST];
    (void)unused;
    for (size_t s = 0; s < sizeof lengths / sizeof *lengths; s++) {
        const int64_t n = lengths[s];
        if (!is_chosen()) {
            continue;
        }
        fill(21 + s, n);
        for (int64_t i = 0; i < n; i++) {
            values[i] = (double)(2 * data[i] + 1);
        }
        const double want[] = {canonical(SUM, values, n), canonical(MAX, values, n)};
        for (int r = 0; r < all.n; r++) {
            krf_array *array = NULL, *got[3] = {NULL};
            float found[2] = {0};
            assert_int_equal(krf_array_from_host(all.run[r].context, KRF_F32, 1, &n, data, &array), KRF_OK);
            evaluate_text(&all.run[r], "y = 2 * x + 1\nreturn y, sum(y), max(y)", 1, (krf_binding[]){krf_bind_array("x", array)}, 3, got);
            read_back(got[0], y, (size_t)n * sizeof *y);
            read_back(got[1], &found[0], sizeof *found);
            read_back(got[2], &found[1], sizeof *found);
            for (int64_t i = 0; i < n; i++) {
                if ((double)y[i] != values[i]) {
                    fail_msg("element %d of %d, %s: %.9g, not %.9g", (int)i, (int)n, all.run[r].label, (double)y[i], values[i]);
                }
            }
            for (int k = 0; k < 2; k++) {
                if ((double)found[k] != want[k]) {
                    fail_msg("result %d of %d elements, %s: %.9g, not %.9g", k + 1, (int)n, all.run[r].label, (double)found[k], want[k]);
                }
            }
            for (int k = 0; k < 3; k++) {
                krf_array_release(got[k]);
            }
            krf_array_release(array);
        }
    }
}

int main(void) {
    setenv("KRF_FUSION", "again=0", 1); /* of themselves only arrays of more than 32M elements go so */
    return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_trees), cmocka_unit_test(test_long_chunks), cmocka_unit_test(test_stored)));
}
