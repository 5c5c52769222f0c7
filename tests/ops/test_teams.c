/* Reductions over what takes long in f64, whose chunks several warps share on a GPU: arrays of all lengths, aligned or not, by steps and backwards; reductions of other dtypes, stored
 * elements and reductions of users in the same kernel; rows. KRF_TEST_DEVICE. */
#include "ops/teams.h"

/* ---- programs ---- */

static double odd_exp(double x) { return exp(x) - exp(-x); }
static double odd_log(double x) { return log(1.5 + x) - log(1.5 - x); }
static double log_of_sum(double x) { return log(0.5 * exp(-x * x / 8) + 0.5 * exp(-x * x / 2)); }
static double odd_log_of_sum(double x) { return x * log_of_sum(x); }
static double rare_exp(double x) { return x > 1.1 ? exp(x) : 0; }

#define EXPS "return exp(x), exp(x) - exp(-x)", {exp, odd_exp}

static const program sum_exp = {"sum(exp(x) - exp(-x))", EXPS, {{SUM, ODD, false}}, 1},
                     prod_exp = {"prod(exp(x))", EXPS, {{PROD, COSTLY, false}}, 1},
                     sum_spin = {"sum(spin(x))", "return spin(x), spin(x)", {spin, spin}, {{SUM, ODD, false}}, 1},
                     likelihood = {"y = log(0.5*exp(-x*x/8) + 0.5*exp(-x*x/2))\nreturn -sum(y), -sum(x*y)", "y = log(0.5*exp(-x*x/8) + 0.5*exp(-x*x/2))\nreturn y, x*y",
                                   {log_of_sum, odd_log_of_sum}, {{SUM, COSTLY, true}, {SUM, ODD, true}}, 2},
                     ends = {"return max(sin(x)), min(sin(x)), sum(sin(x))", "return sin(x), sin(x)", {sin, sin}, {{MAX, COSTLY, false}, {MIN, COSTLY, false}, {SUM, ODD, false}}, 3},
                     three = {"y = exp(x)\nreturn sum(y), max(y), prod(y)", EXPS, {{SUM, COSTLY, false}, {MAX, COSTLY, false}, {PROD, COSTLY, false}}, 3},
                     mixed = {"return prod(exp(x)), any(x > 1.1), count_nonzero(x > 0.5), sum(b), sum(h)", EXPS,
                              {{PROD, COSTLY, false}, {ANY, RARE, false}, {COUNT, ABOVE, false}, {SUM, BYTES, false}, {SUM, FLOATS, false}}, 5},
                     average = {"mean(log(1.5 + x) - log(1.5 - x))", "y = log(1.5 + x) - log(1.5 - x)\nreturn y, y", {odd_log, odd_log}, {{MEAN, ODD, false}}, 1},
                     stored = {"y = exp(x)\nreturn y, prod(y)", EXPS, {{ELEMENTS, COSTLY, false}, {PROD, COSTLY, false}}, 2},
                     pair = {"y = exp(x) - exp(-x)\ns, m = pair(y)\nreturn s, m, sum(y)", EXPS, {{SUM, ODD, false}, {MAX, ODD, false}, {SUM, ODD, false}}, 3},
                     latest = {"latest(where(x > 1.1, exp(x), 0))", "y = where(x > 1.1, exp(x), 0)\nreturn y, y", {rare_exp, rare_exp}, {{LATEST, COSTLY, false}}, 1},
                     prod_rows = {"prod(exp(x), axis=1)", EXPS, {{PROD, COSTLY, false}}, 1},
                     three_rows = {"y = exp(x)\nreturn sum(y, axis=1), max(y, axis=1), prod(y, axis=1)", EXPS, {{SUM, COSTLY, false}, {MAX, COSTLY, false}, {PROD, COSTLY, false}}, 3};

/* ---- tests ---- */

/* Asked once for each example. */
static bool is_chosen(void) {
    static int64_t examples_so_far;
    return in_shard(examples_so_far++);
}

/* The elements are written over those that they come from: none may be read again. */
static void try_over(int64_t n, int64_t offset) {
    if (!is_chosen()) {
        return;
    }
    for (int i = 0; i < n_places; i++) {
        operand o = make_operand(0, n, 0, 1, offset);
        outcome leaves = evaluate(&places[i], stored.leaf, &o), got = {.n = 2, .sizes = {n, 1}};
        krf_graph *g = krf_graph_create(places[i].context);
        krf_array *x = view_of(places[i].context, &o, KRF_F64, o.x), *results[] = {x, NULL};
        krf_expr y = krf_exp(krf_input(g, x)), both[] = {y, krf_prod(y, 0, NULL, false)};
        got.values[0] = malloc((size_t)n * sizeof *got.values[0]);
        got.values[1] = malloc(sizeof *got.values[1]);
        double *data = malloc((size_t)n * sizeof *data), product;
        assert_true(got.values[0] != NULL && got.values[1] != NULL && data != NULL);
        if (krf_eval_many(2, both, results) != KRF_OK || krf_array_to_host(x, data, (size_t)n * sizeof *data) != KRF_OK || krf_array_to_host(results[1], &product, sizeof product) != KRF_OK) {
            fail_msg("%s: %s", places[i].label, krf_error_message());
        }
        for (int64_t k = 0; k < n; k++) {
            got.values[0][k] = get(data, KRF_F64, k);
        }
        got.values[1][0] = get(&product, KRF_F64, 0);
        check(&stored, &places[i], &o, &leaves, 1, &got);
        krf_array_release(x);
        krf_array_release(results[1]);
        krf_graph_destroy(g);
        free_outcome(&leaves);
        free_outcome(&got);
        free(data);
        free_operand(&o);
    }
}

static void try_line(const program *p, int64_t n, int64_t step, int64_t offset) {
    if (is_chosen()) {
        operand o = make_operand(0, n, 0, step, offset);
        try_program(p, &o, 1);
        free_operand(&o);
    }
}

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {1, 2, 3, 255, 256, 257, 258, 1023, 1024, 1025, 1026, 4095, 4096, 4097, 16383, 16384, 16385, 16386, 50001, 300000, 1100003};
    (void)unused;
    try_line(&sum_exp, 0, 1, 0);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        try_line(&sum_exp, lengths[k], 1, 0);
        if (lengths[k] < 300000) {
            try_line(&prod_exp, lengths[k], 1, 0);
            try_line(&prod_exp, lengths[k], 1, 1);
            try_line(&prod_exp, lengths[k], 2, 0);
            try_line(&prod_exp, lengths[k], -1, 0);
        }
    }
    assert_int_equal(failures, 0);
}

/* Chunks of 2,048 elements. */
static void test_long_chunks(void **unused) {
    (void)unused;
    const int all = n_places;
    n_places = 2; /* on a GPU those that differ */
    try_line(&sum_spin, (1 << 22) + 3, 1, 0);
    n_places = all;
    assert_int_equal(failures, 0);
}

/* One reduction and several, of one dtype and of several; what is stored beside them; what users define. */
static void test_programs(void **unused) {
    static const program *const all[] = {&sum_spin, &likelihood, &ends, &three, &mixed, &average, &stored, &pair, &latest};
    static const int64_t lengths[] = {1, 257, 16385, 50001};
    (void)unused;
    for (size_t p = 0; p < sizeof all / sizeof *all; p++) {
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            try_line(all[p], lengths[k], 1, 0);
        }
        try_line(all[p], 30003, 1, 1);
        if (p < 2) { /* whole tiles */
            try_line(all[p], 16384, 1, 0);
        }
    }
    try_over(16385, 0);
    try_over(50001, 1);
    assert_int_equal(failures, 0);
}

/* Long rows, of whole vectors and of others; and all elements of rows with gaps between them. */
static void test_rows(void **unused) {
    static const int64_t counts[] = {1, 3, 40}, lengths[] = {1025, 3000, 5001};
    (void)unused;
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) {
            for (int gap = 0; gap < 3 && counts[r] * lengths[k] < 150000; gap++) {
                if (!is_chosen()) {
                    continue;
                }
                operand o = make_operand(counts[r], lengths[k], lengths[k] + gap, 1, gap);
                try_program(&prod_rows, &o, counts[r]);
                try_program(&prod_exp, &o, 1);
                if (gap == 0) {
                    try_program(&three_rows, &o, counts[r]);
                    try_program(&mixed, &o, 1);
                }
                free_operand(&o);
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    setenv("FAKECUDA_SEED", "3", 0); /* threads in another order than their own: a barrier that is missing shows */
    open_places("teams=0");
    for (int p = 0; p < n_places; p++) {
        define_all(places[p].context);
    }
    return run_on_places(TESTS(cmocka_unit_test(test_lengths), cmocka_unit_test(test_long_chunks), cmocka_unit_test(test_programs), cmocka_unit_test(test_rows)));
}
