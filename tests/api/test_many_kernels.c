/* Plans of many kernels, which several threads compile: each counted once, right results, and the message of the one that does not compile. ctest: race.
 * Device: KRF_TEST_DEVICE (default "cpu", where all is compiled). */
#include "helpers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS = 11, THREADS = 4 };

static char folder[] = "/tmp/kerfuse-many-XXXXXX";

static pthread_t caller;
static atomic_int elsewhere; /* lines about a compilation that came from other threads than the caller's */

static void note_thread(void *user, const char *line) {
    (void)user;
    if (strstr(line, "compiled in") != NULL && pthread_equal(pthread_self(), caller) == 0) {
        atomic_fetch_add(&elsewhere, 1);
    }
}

static int threads_asked;

static krf_context *open_context(krf_cache_mode cache) {
    krf_context_options o = krf_context_options_default();
    o.threads = threads_asked;
    o.log = note_thread;
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_COMPILE;
    o.cache = cache;
    o.cache_dir = folder;
    return open_or_skip(&o);
}

static krf_cache_stats stats_of(krf_context *context) {
    krf_cache_stats stats = {.size = sizeof stats};
    assert_ok(krf_context_cache_stats(context, &stats));
    return stats;
}

/* Expression i of the family over i + 2 numbers: none shares a kernel with another, for each has an extent and constants of its own. */
static krf_expr expression(krf_graph *g, krf_context *context, int i, int family) {
    float data[KERNELS + 2];
    char text[100];
    const int64_t n = i + 2;
    krf_expr y;
    for (int k = 0; k < n; k++) {
        data[k] = (float)(k + 1);
    }
    krf_array *array = NULL;
    assert_ok(krf_array_from_host(context, KRF_F32, 1, &n, data, &array));
    snprintf(text, sizeof text, "x * x * %d + %d", i + 3, family);
    assert_ok(krf_parse(g, text, (krf_binding[]){krf_bind_array("x", array)}, 1, &y));
    krf_array_release(array);
    return y;
}

static bool all_right(krf_array **results, int family) {
    bool right = true;
    for (int i = 0; i < KERNELS; i++) {
        float got[KERNELS + 2];
        right &= krf_array_to_host(results[i], got, sizeof *got * (size_t)(i + 2)) == KRF_OK;
        for (int k = 0; right && k < i + 2; k++) {
            right &= got[k] == (float)((k + 1) * (k + 1) * (i + 3) + family);
        }
        krf_array_release(results[i]);
    }
    return right;
}

static void run_all(krf_context *context, int family) {
    krf_graph *g = krf_graph_create(context);
    krf_expr y[KERNELS];
    krf_array *results[KERNELS] = {NULL};
    for (int i = 0; i < KERNELS; i++) {
        y[i] = expression(g, context, i, family);
    }
    assert_ok(krf_eval_many(KERNELS, y, results));
    assert_true(all_right(results, family));
    krf_graph_destroy(g);
}

static void test_counts(void **state) {
    (void)state;
    krf_context *first = open_context(KRF_CACHE_ON);
    run_all(first, 1);
    krf_cache_stats s = stats_of(first);
    assert_int_equal(s.compiled, KERNELS);
    assert_int_equal(s.memory_hits, 0);
    assert_int_equal(s.disk_hits, 0);
    run_all(first, 1);
    s = stats_of(first);
    assert_int_equal(s.compiled, KERNELS);
    assert_int_equal(s.memory_hits, KERNELS);
    krf_context_destroy(first);
    krf_context *second = open_context(KRF_CACHE_ON);
    run_all(second, 1);
    s = stats_of(second);
    assert_int_equal(s.compiled, 0);
    assert_int_equal(s.memory_hits, 0);
    assert_int_equal(s.disk_hits, KERNELS);
    krf_context_destroy(second);
}

/* Several threads where as many are asked for; the caller's alone where that is. */
static void test_options(void **state) {
    (void)state;
    caller = pthread_self();
    for (threads_asked = 1; threads_asked <= 4; threads_asked += 3) {
        krf_context *context = open_context(KRF_CACHE_OFF);
        atomic_store(&elsewhere, 0);
        run_all(context, 20 + threads_asked);
        if (threads_asked == 1) {
            assert_int_equal(atomic_load(&elsewhere), 0);
        } else {
            assert_true(atomic_load(&elsewhere) > 0);
        }
        krf_context_destroy(context);
    }
    threads_asked = 0;
}

/* One of a plan's kernels does not compile: the message is that of its line, and the others serve the next plan. */
static void test_failure(void **state) {
    (void)state;
    krf_context *context = open_context(KRF_CACHE_OFF);
    krf_op *op = NULL;
    assert_ok(krf_op_define(context, "wrong", "f32 x", "f32 y", "y = x + missing_name;", NULL, &op));
    krf_graph *g = krf_graph_create(context);
    krf_expr y[KERNELS];
    krf_array *results[KERNELS] = {NULL};
    for (int i = 0; i < KERNELS; i++) {
        y[i] = expression(g, context, i, 5);
        y[i] = i == KERNELS / 2 ? krf_op_apply(op, y[i]) : y[i];
    }
    assert_int_equal(krf_eval_many(KERNELS, y, results), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "missing_name"));
    for (int i = 0; i < KERNELS; i++) {
        assert_null(results[i]);
    }
    krf_graph_destroy(g);
    krf_op_release(op);
    run_all(context, 5);
    krf_context_destroy(context);
}

typedef struct worker {
    krf_context *context;
    krf_graph *g;
    krf_expr y[KERNELS];
    krf_array *results[KERNELS];
    krf_status status;
} worker;

static void *evaluate(void *user) {
    worker *w = user;
    w->status = krf_eval_many(KERNELS, w->y, w->results);
    return NULL;
}

/* Threads that want the same kernels at the same time compile each once. */
static void test_threads(void **state) {
    (void)state;
    krf_context *context = open_context(KRF_CACHE_OFF);
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (worker){.context = context, .g = krf_graph_create(context)};
        for (int i = 0; i < KERNELS; i++) {
            workers[t].y[i] = expression(workers[t].g, context, i, 9);
        }
    }
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_create(&threads[t], NULL, evaluate, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(workers[t].status, KRF_OK);
        assert_true(all_right(workers[t].results, 9));
        krf_graph_destroy(workers[t].g);
    }
    assert_int_equal(stats_of(context).compiled, KERNELS);
    krf_context_destroy(context);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void) {
    krf_context_destroy(open_context(KRF_CACHE_OFF));
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_options), cmocka_unit_test(test_failure), cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
