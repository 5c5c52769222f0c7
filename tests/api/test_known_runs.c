/* Runs with arrays that a plan knows already are as right as the first one, and those with others are checked: whatever lies at an address, however arrays turn, from any
 * number of threads. Device: KRF_TEST_DEVICE (default "cpu"). ctest: race. */
#include "helpers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static krf_context *ctx;

static krf_plan *compile(const char *program) {
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y;
    krf_plan *plan = NULL;
    assert_ok(krf_parse(g, program, NULL, 0, &y));
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

/* n elements: first, first + 1, ... */
static krf_array *counting(int64_t n, int first) {
    float data[2 * N];
    krf_array *a = NULL;
    for (int i = 0; i < n; i++) {
        data[i] = (float)(first + i);
    }
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, &n, data, &a));
    return a;
}

static krf_status run(krf_plan *plan, krf_array *x, krf_array *y) {
    krf_binding b = krf_bind_array("x", x);
    return krf_plan_run(plan, NULL, 1, &b, &y);
}

static void check(krf_array *a, int n, float first, float step) {
    float got[2 * N];
    assert_ok(krf_array_to_host(a, got, sizeof *got * (size_t)n));
    for (int i = 0; i < n; i++) {
        if (got[i] != first + step * (float)i) {
            fail_msg("element %d is %g, not %g", i, (double)got[i], (double)(first + step * (float)i));
        }
    }
}

/* More turns than a plan remembers, and each array in more than one. */
static void arrays_turn(void **state) {
    (void)state;
    krf_plan *plan = compile("x: f32[1000]; 2 * x + 1");
    krf_array *x[7], *y[3];
    for (int i = 0; i < 7; i++) {
        x[i] = counting(N, i);
    }
    for (int i = 0; i < 3; i++) {
        y[i] = counting(N, -1);
    }
    for (int turn = 0; turn < 60; turn++) {
        const int i = turn * turn % 7, k = turn < 30 ? turn % 3 : 0;
        assert_ok(run(plan, x[i], y[k]));
        check(y[k], N, (float)(2 * i + 1), 2);
    }
    for (int i = 0; i < 7; i++) {
        krf_array_release(x[i]);
    }
    for (int i = 0; i < 3; i++) {
        krf_array_release(y[i]);
    }
    krf_plan_release(plan);
}

/* Memory that was given back comes again with another array: its shape counts, not where it lies. */
static void address_returns(void **state) {
    (void)state;
    krf_plan *plan = compile("x: f32[1000]; x + 1");
    krf_array *x = counting(N, 0), *y = counting(N, 0);
    assert_ok(run(plan, x, y));
    assert_ok(run(plan, x, y));
    for (int turn = 0; turn < 8; turn++) {
        krf_array *other;
        krf_array_release(x);
        assert_ok(krf_array_create(ctx, turn % 2 == 0 ? KRF_F32 : KRF_I32, 2, (int64_t[]){turn % 2 == 0 ? 10 : 1, turn % 2 == 0 ? 100 : N}, &x));
        assert_int_equal(run(plan, x, y), turn % 2 == 0 ? KRF_E_SHAPE : KRF_E_DTYPE);
        assert_int_equal(run(plan, y, x), turn % 2 == 0 ? KRF_E_SHAPE : KRF_E_DTYPE);
        krf_array_release(x);
        other = counting(N, turn);
        assert_ok(run(plan, other, y));
        check(y, N, (float)(turn + 1), 1);
        x = other;
    }
    krf_array_release(x);
    krf_array_release(y);
    krf_plan_release(plan);
}

static void refill(krf_array *a, int64_t n) {
    float data[2 * N];
    for (int i = 0; i < n; i++) {
        data[i] = (float)i;
    }
    assert_ok(krf_array_upload_async(a, data, sizeof *data * (size_t)n, NULL));
    assert_ok(krf_context_synchronize(ctx));
}

/* Views of memory that is known: unaligned, in another order, and over what is read. */
static void views(void **state) {
    (void)state;
    krf_plan *plan = compile("x: f32[1000]; x + 1"), *turned = compile("x: f32[1000]; x[::-1]");
    krf_array *whole = counting(2 * N, 0), *low, *odd, *high, *back;
    assert_ok(krf_array_view(whole, 1, (int64_t[]){N}, NULL, 0, &low));
    assert_ok(krf_array_view(whole, 1, (int64_t[]){N}, NULL, 1, &odd));
    assert_ok(krf_array_view(whole, 1, (int64_t[]){N}, NULL, N, &high));
    assert_ok(krf_array_view(whole, 1, (int64_t[]){N}, (int64_t[]){-1}, N - 1, &back));
    for (int turn = 0; turn < 3; turn++) {
        refill(whole, 2 * N);
        assert_ok(run(plan, low, high));
        check(high, N, 1, 1);
        assert_int_equal(run(plan, back, high), KRF_E_SHAPE);
        assert_int_equal(run(plan, low, back), KRF_E_SHAPE);
        refill(whole, 2 * N);
        assert_ok(run(plan, low, odd)); /* over itself, one element on */
        check(odd, N, 1, 1);
        refill(whole, 2 * N);
        assert_ok(run(plan, odd, low));
        check(low, N, 2, 1);
        refill(whole, 2 * N);
        assert_ok(run(turned, low, high));
        check(high, N, N - 1, -1);
        assert_ok(run(turned, low, low));
        check(low, N, N - 1, -1);
        assert_ok(run(turned, low, odd));
        check(odd, N, 0, 1);
    }
    krf_array_release(low);
    krf_array_release(odd);
    krf_array_release(high);
    krf_array_release(back);
    krf_array_release(whole);
    krf_plan_release(plan);
    krf_plan_release(turned);
}

static int64_t kernels_made(void) {
    krf_cache_stats stats = {.size = sizeof stats};
    assert_ok(krf_context_cache_stats(ctx, &stats));
    return stats.compiled + stats.disk_hits;
}

/* Arrays that start between the borders of vectors have kernels of their own, in later runs too. */
static void unaligned(void **state) {
    (void)state;
    krf_graph *g = krf_graph_create(ctx);
    krf_compile_options o = krf_compile_options_default();
    krf_array *whole = counting(2 * N, 0), *odd, *y = counting(N, 0);
    krf_expr e;
    krf_plan *plan = NULL;
    o.load = false;
    assert_ok(krf_parse(g, "x: f32[1000]; 3 * x - 7", NULL, 0, &e));
    assert_ok(krf_compile(g, 1, &e, &o, &plan));
    krf_graph_destroy(g);
    assert_ok(krf_array_view(whole, 1, (int64_t[]){N}, NULL, 1, &odd));
    assert_ok(run(plan, odd, y));
    const int64_t made = kernels_made();
    assert_ok(run(plan, odd, y));
    assert_int_equal(kernels_made(), made);
    check(y, N, -4, 3);
    krf_array_release(odd);
    krf_array_release(whole);
    krf_array_release(y);
    krf_plan_release(plan);
}

typedef struct worker {
    pthread_t thread;
    krf_plan *plan;
    int number, wrong;
} worker;

static void *work(void *user) {
    worker *w = user;
    krf_array *x[3] = {NULL, NULL, NULL}, *y = NULL, *short_one = NULL;
    krf_stream *stream = NULL;
    float data[N], got[N];
    w->wrong += krf_stream_create(ctx, NULL, &stream) != KRF_OK || krf_array_create(ctx, KRF_F32, 1, (int64_t[]){N}, &y) != KRF_OK
                || krf_array_create(ctx, KRF_F32, 1, (int64_t[]){N - 1}, &short_one) != KRF_OK;
    for (int k = 0; k < 3 && w->wrong == 0; k++) {
        for (int i = 0; i < N; i++) {
            data[i] = (float)(100 * w->number + k);
        }
        w->wrong += krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){N}, data, &x[k]) != KRF_OK;
    }
    for (int turn = 0; turn < 40 && w->wrong == 0; turn++) {
        const int k = turn % 3;
        krf_binding good = krf_bind_array("x", x[k]), bad = krf_bind_array("x", short_one);
        w->wrong += krf_plan_run(w->plan, krf_stream_handle(stream), 1, &bad, &y) != KRF_E_SHAPE;
        w->wrong += krf_plan_run(w->plan, krf_stream_handle(stream), 1, &good, &y) != KRF_OK;
        w->wrong += krf_array_to_host(y, got, sizeof got) != KRF_OK || got[0] != (float)(200 * w->number + 2 * k + 1) || got[N - 1] != got[0];
    }
    for (int k = 0; k < 3; k++) {
        krf_array_release(x[k]);
    }
    krf_array_release(y);
    krf_array_release(short_one);
    krf_stream_destroy(stream);
    return NULL;
}

static void threads(void **state) {
    (void)state;
    enum { THREADS = 6 };
    worker workers[THREADS];
    krf_plan *plan = compile("x: f32[1000]; 2 * x + 1");
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (worker){.plan = plan, .number = t};
        assert_int_equal(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        assert_int_equal(workers[t].wrong, 0);
    }
    krf_plan_release(plan);
}

int main(void) {
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.blocking_compile = true;
    ctx = open_or_skip(&o);
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_turn), cmocka_unit_test(address_returns), cmocka_unit_test(views), cmocka_unit_test(unaligned), cmocka_unit_test(threads)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_context_destroy(ctx);
    return failed;
}
