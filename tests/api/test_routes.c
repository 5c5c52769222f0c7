/* Evaluations of graphs that differ in nothing, in scalars, in their arrays, or in how these lie: each finds a plan by the graph as it was built, and none may find
 * another's. Sums of a few small integers are exact, and computed here as they are defined. Device: KRF_TEST_DEVICE (default "cpu"). */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 203, ROUNDS = 5 };

static krf_context *ctx;
static krf_graph *g;

static double element(int seed, int i) { return (double)((i * 37 + seed * 101) % 50); }

static krf_array *array_of(int seed, int n) {
    double *data = malloc((size_t)n * sizeof *data);
    krf_array *a = NULL;
    for (int i = 0; i < n; i++) {
        data[i] = element(seed, i);
    }
    assert_ok(krf_array_from_host(ctx, KRF_F64, 1, (int64_t[]){n}, data, &a));
    free(data);
    return a;
}

static krf_array *view_of(krf_array *a, int n, int stride, int offset) {
    krf_array *view = NULL;
    assert_ok(krf_array_view(a, 1, (int64_t[]){n}, (int64_t[]){stride}, offset, &view));
    return view;
}

static void assert_elements(krf_array *a, double (*expected)(int round, int i), int round) {
    double data[N];
    assert_ok(krf_array_to_host(a, data, sizeof data));
    for (int i = 0; i < N; i++) {
        if (data[i] != expected(round, i)) {
            fail_msg("round %d, element %d: %g, expected %g", round, i, data[i], expected(round, i));
        }
    }
}

static long long hits(void) {
    krf_cache_stats stats = {.size = sizeof stats};
    assert_ok(krf_context_cache_stats(ctx, &stats));
    return stats.plan_hits;
}

static krf_expr scaled(krf_expr x, double a) { return krf_multiply(x, krf_real(g, a)); }

/* a x + b y: other values, and other arrays, each round. */
static double sum_of_two(int round, int i) { return (3.0 + round) * element(round, i) + (7.0 - round) * element(round + 10, i); }

static void test_other_scalars_and_arrays(void **state) {
    (void)state;
    const long long before = hits();
    for (int round = 0; round < ROUNDS; round++) {
        krf_array *x = array_of(round, N), *y = array_of(round + 10, N), *out = NULL;
        krf_graph_reset(g);
        assert_ok(krf_eval(krf_add(scaled(krf_input(g, x), 3.0 + round), scaled(krf_input(g, y), 7.0 - round)), &out));
        assert_elements(out, sum_of_two, round);
        krf_array_release(x);
        krf_array_release(y);
        krf_array_release(out);
    }
    assert_in_range(hits() - before, ROUNDS - 2, ROUNDS); /* 6.0 and 5.0 and so on are arguments; 2.0 would be text */
}

/* The same sum, its second part built first: the plan's inputs and scalars are in another order than the graph's. */
static void test_built_in_another_order(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        krf_array *x = array_of(round, N), *y = array_of(round + 10, N), *out = NULL;
        krf_graph_reset(g);
        krf_expr second = scaled(krf_input(g, y), 7.0 - round), first = scaled(krf_input(g, x), 3.0 + round);
        krf_expr unused = scaled(krf_input(g, y), 11.0 + round); /* counts as a scalar of the graph alone */
        assert_true(krf_expr_ok(unused));
        assert_ok(krf_eval(krf_add(first, second), &out));
        assert_elements(out, sum_of_two, round);
        krf_array_release(x);
        krf_array_release(y);
        krf_array_release(out);
    }
}

/* One array, and two equal ones. */
static double doubled(int round, int i) { return (4.0 + round) * element(round, i) + element(round, i); }
static double of_two(int round, int i) { return (4.0 + round) * element(round, i) + element(round + 1, i); }

static void test_one_array_or_two(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        krf_array *x = array_of(round, N), *y = array_of(round + 1, N), *out = NULL, *other = NULL;
        krf_graph_reset(g);
        assert_ok(krf_eval(krf_add(scaled(krf_input(g, x), 4.0 + round), krf_input(g, x)), &out));
        krf_graph_reset(g);
        assert_ok(krf_eval(krf_add(scaled(krf_input(g, x), 4.0 + round), krf_input(g, y)), &other));
        assert_elements(out, doubled, round);
        assert_elements(other, of_two, round);
        krf_array_release(x);
        krf_array_release(y);
        krf_array_release(out);
        krf_array_release(other);
    }
}

/* mean(x) a + x: the count that the mean divides by is a scalar that a pass makes; once the user's scalar is equal to it. */
static double mean_and_x(int round, int i) {
    double sum = 0;
    for (int k = 0; k < N; k++) {
        sum += element(round, k);
    }
    return sum / N * (N - 2.0 + round) + element(round, i);
}

static void test_scalars_of_passes(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        krf_array *x = array_of(round, N), *out = NULL;
        krf_graph_reset(g);
        krf_expr e = krf_input(g, x);
        assert_ok(krf_eval(krf_add(krf_multiply(krf_mean(e, 0, NULL, false), krf_real(g, N - 2.0 + round)), e), &out));
        assert_elements(out, mean_and_x, round);
        krf_array_release(x);
        krf_array_release(out);
    }
}

/* The same graph over arrays that lie in other ways: whole, from the second element on, every second, from the last on. */
static double reversed_at_last(int round, int i) {
    static const int first[] = {0, 1, 1, N - 1}, step[] = {1, 1, 2, -1};
    return 5.0 * element(0, first[round] + step[round] * i) + 9.0;
}

static void test_layouts(void **state) {
    (void)state;
    static const int first[] = {0, 1, 1, N - 1}, step[] = {1, 1, 2, -1};
    krf_array *x = array_of(0, 2 * N + 2);
    for (int again = 0; again < 2; again++) {
        for (int round = 0; round < 4; round++) {
            krf_array *view = view_of(x, N, step[round], first[round]), *out = NULL;
            krf_graph_reset(g);
            assert_ok(krf_eval(krf_add(scaled(krf_input(g, view), 5.0), krf_real(g, 9.0)), &out));
            assert_elements(out, reversed_at_last, round);
            krf_array_release(view);
            krf_array_release(out);
        }
    }
    krf_array_release(x);
}

/* An array that nothing uses may be unaligned while the one in use is not, and the other way round. */
static double third(int round, int i) { return 3.0 * element(0, i + round); }

static void test_alignment_of_others(void **state) {
    (void)state;
    krf_array *x = array_of(0, N + 2), *views[2] = {view_of(x, N, 1, 0), view_of(x, N, 1, 1)};
    for (int again = 0; again < 2; again++) {
        for (int round = 0; round < 2; round++) {
            krf_array *out = NULL;
            krf_graph_reset(g);
            krf_expr unused = krf_input(g, views[1 - round]);
            assert_true(krf_expr_ok(unused));
            assert_ok(krf_eval(scaled(krf_input(g, views[round]), 3.0), &out));
            assert_elements(out, third, round);
            krf_array_release(out);
        }
    }
    krf_array_release(views[0]);
    krf_array_release(views[1]);
    krf_array_release(x);
}

/* Outputs: new, given, the input itself, and the input the other way round, which the plan must not write in place. */
static double turned(int round, int i) { return (6.0 + round) * element(0, i); }

static void test_outputs(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        for (int round = 0; round < 4; round++) {
            krf_array *x = array_of(0, N), *other = array_of(1, N), *back = view_of(x, N, -1, N - 1);
            krf_array *given[] = {NULL, other, x, back};
            krf_graph_reset(g);
            assert_ok(krf_eval(scaled(krf_input(g, x), 6.0 + round), &given[round]));
            assert_elements(given[round], turned, round);
            if (round == 0) {
                krf_array_release(given[0]);
            }
            krf_array_release(x);
            krf_array_release(other);
            krf_array_release(back);
        }
    }
}

/* Integers decide what passes make of a graph: where elements come from, and how often a power multiplies. */
static double rolled(int round, int i) { return element(0, ((i - 20 * round) % N + N) % N); }
static const int places[ROUNDS] = {20, 40, -30, 60, -203}; /* from the end where negative: what passes know of them decides about the kernel */
static double taken(int round, int i) { return element(0, i) + element(0, (places[round] + N) % N); }

static void test_integers(void **state) {
    (void)state;
    krf_array *x = array_of(0, N);
    for (int round = 0; round < ROUNDS; round++) {
        krf_array *out = NULL, *one = NULL;
        krf_graph_reset(g);
        assert_ok(krf_eval(krf_roll(krf_input(g, x), 1, (int64_t[]){20 * round}, (int[]){0}), &out));
        assert_elements(out, rolled, round);
        krf_graph_reset(g);
        krf_expr e = krf_input(g, x);
        assert_ok(krf_eval(krf_add(e, krf_take(e, krf_int(g, places[round]), 0)), &one));
        assert_elements(one, taken, round);
        krf_array_release(out);
        krf_array_release(one);
    }
    krf_array_release(x);
}

/* Results that change places, and shapes of one size. */
static double tripled(int round, int i) { return 3.0 * element(0, i + 0 * round); }
static double raised(int round, int i) { return element(0, i + 0 * round) + 5.0; }

static void test_several_results(void **state) {
    (void)state;
    krf_array *x = array_of(0, N);
    for (int round = 0; round < 4; round++) {
        krf_array *outs[2] = {NULL, NULL};
        krf_graph_reset(g);
        krf_expr e = krf_input(g, x), results[2] = {scaled(e, 3.0), krf_add(e, krf_real(g, 5.0))};
        krf_expr in_turn[2] = {results[round % 2], results[1 - round % 2]};
        assert_ok(krf_eval_many(2, in_turn, outs));
        assert_elements(outs[round % 2], tripled, round);
        assert_elements(outs[1 - round % 2], raised, round);
        krf_array_release(outs[0]);
        krf_array_release(outs[1]);
    }
    krf_array_release(x);
}

/* Complex scalars are two each. */
static void test_complex_scalars(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const double re = 3.0 + round, im = 7.0 - 2 * round;
        krf_array *x = array_of(round, N), *out = NULL;
        double data[2 * N];
        krf_graph_reset(g);
        assert_ok(krf_eval(krf_add(krf_multiply(krf_input(g, x), krf_complex(g, re, im)), krf_real(g, 10.0 * re)), &out));
        assert_ok(krf_array_to_host(out, data, sizeof data));
        for (int i = 0; i < N; i++) {
            assert_true(data[2 * i] == re * element(round, i) + 10.0 * re && data[2 * i + 1] == im * element(round, i));
        }
        krf_array_release(x);
        krf_array_release(out);
    }
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    options.device = asked_device();
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.blocking_compile = true;
    ctx = open_or_skip(&options);
    g = krf_graph_create(ctx);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_scalars_and_arrays), cmocka_unit_test(test_built_in_another_order), cmocka_unit_test(test_one_array_or_two),
        cmocka_unit_test(test_scalars_of_passes),        cmocka_unit_test(test_layouts),                cmocka_unit_test(test_alignment_of_others),
        cmocka_unit_test(test_outputs),                  cmocka_unit_test(test_integers),               cmocka_unit_test(test_several_results),
        cmocka_unit_test(test_complex_scalars),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
    return failed;
}
