/* Threads with streams of their own over one context: runs, evaluations, copies, memory that goes from one to another,
 * streams that come and go. Built with ThreadSanitizer (preset tsan) on the simulated device this shows that no wait
 * between streams is missing. ctest: race. Device: KRF_TEST_DEVICE (default "cpu"). */
#include "helpers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 25, N = 1200 };

static krf_context *ctx, *elsewhere;
static krf_plan *plan, *sum;
static krf_array *common; /* all read it */

typedef struct worker {
    pthread_t thread;
    int number;
    char failure[300];
} worker;

static krf_status work(int number, int round) {
    static const int64_t shape[1] = {N};
    float data[N], got[N], total = 0;
    krf_stream *a = NULL, *b = NULL;
    krf_event *event = NULL;
    krf_array *x = NULL, *y = NULL, *z = NULL, *s = NULL, *t = NULL;
    for (int i = 0; i < N; i++) {
        data[i] = (float)((i + number * round) % 17);
        total += data[i] * 2 + 1;
    }
    krf_status status = krf_stream_create(round % 3 == 0 ? elsewhere : ctx, NULL, &a);
    status = status == KRF_OK ? krf_stream_create(ctx, NULL, &b) : status;
    status = status == KRF_OK ? krf_event_create(ctx, false, &event) : status;
    status = status == KRF_OK ? krf_array_create(ctx, KRF_F32, 1, shape, &x) : status;
    status = status == KRF_OK ? krf_array_upload_async(x, data, sizeof data, krf_stream_handle(a)) : status;
    krf_binding of_x = krf_bind_array("x", x), of_common = krf_bind_array("x", common);
    status = status == KRF_OK ? krf_plan_run(plan, krf_stream_handle(b), 1, &of_x, &y) : status;
    status = status == KRF_OK ? krf_plan_run(plan, krf_stream_handle(a), 1, &of_common, &z) : status;
    krf_binding of_y = krf_bind_array("x", y);
    status = status == KRF_OK ? krf_plan_run(sum, krf_stream_handle(round % 2 ? a : b), 1, &of_y, &s) : status;
    status = status == KRF_OK ? krf_event_record(event, krf_stream_handle(b)) : status;
    status = status == KRF_OK ? krf_event_wait(event, krf_stream_handle(a)) : status;
    krf_graph *g = krf_graph_create(ctx);
    status = status == KRF_OK ? krf_eval(krf_add(krf_input(g, z), krf_input(g, y)), &t) : status;
    krf_graph_destroy(g);
    krf_array_release(y);
    krf_stream_destroy(a);
    status = status == KRF_OK ? krf_array_download_async(t, got, sizeof got, krf_stream_handle(b)) : status;
    status = status == KRF_OK ? krf_stream_synchronize(b) : status;
    for (int i = 0; status == KRF_OK && i < N; i++) {
        if (got[i] != data[i] * 2 + 1 + (float)i * 2 + 1) {
            fprintf(stderr, "thread %d, round %d: element %d is %g\n", number, round, i, (double)got[i]);
            status = KRF_E_INTERNAL;
        }
    }
    status = status == KRF_OK ? krf_array_to_host(s, got, sizeof *got) : status;
    if (status == KRF_OK && got[0] != total) {
        fprintf(stderr, "thread %d, round %d: the sum is %g, not %g\n", number, round, (double)got[0], (double)total);
        status = KRF_E_INTERNAL;
    }
    if (status == KRF_OK && round % 8 == 7) {
        status = krf_context_trim(ctx);
    }
    krf_array_release(x);
    krf_array_release(z);
    krf_array_release(s);
    krf_array_release(t);
    krf_event_destroy(event);
    krf_stream_destroy(b);
    return status;
}

static void *run(void *user) {
    worker *w = user;
    for (int round = 0; round < ROUNDS && w->failure[0] == '\0'; round++) {
        if (work(w->number, round) != KRF_OK) {
            snprintf(w->failure, sizeof w->failure, "thread %d, round %d: %s", w->number, round, krf_error_message());
        }
    }
    return NULL;
}

static void streams_of_threads(void **state) {
    (void)state;
    worker workers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (worker){.number = t};
        assert_int_equal(pthread_create(&workers[t].thread, NULL, run, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
    }
    for (int t = 0; t < THREADS; t++) {
        if (workers[t].failure[0] != '\0') {
            fail_msg("%s", workers[t].failure);
        }
    }
    krf_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(krf_context_memory_stats(ctx, &stats), KRF_OK);
    assert_true(stats.used < 10 * N * (int)sizeof(float)); /* what is left is `common` */
}

static void open_all(void) {
    static float data[N];
    static const int64_t shape[1] = {N};
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.blocking_compile = true;
    ctx = open_or_skip(&o);
    elsewhere = open_or_skip(&o);
    krf_graph *g = krf_graph_create(ctx);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, shape);
    krf_expr y = krf_add(krf_multiply(x, krf_int(g, 2)), krf_int(g, 1)), s = krf_sum(x, 0, NULL, false);
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    assert_ok(krf_compile(g, 1, &s, NULL, &sum));
    krf_graph_destroy(g);
    for (int i = 0; i < N; i++) {
        data[i] = (float)i;
    }
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, shape, data, &common));
}

int main(void) {
    open_all();
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams_of_threads)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_array_release(common);
    krf_plan_release(plan);
    krf_plan_release(sum);
    krf_context_destroy(ctx);
    krf_context_destroy(elsewhere);
    return failed;
}
