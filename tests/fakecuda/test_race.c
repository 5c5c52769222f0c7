/* Kernels of every schedule on the simulated GPU with one OS thread a CUDA thread and two blocks at once, and host
 * threads with streams of their own. Built with ThreadSanitizer (preset tsan) this shows that no barrier, fence or wait
 * for a stream is missing. Small on purpose: a block is 256 threads.
 * ctest: simulated, race. KRF_TEST_DEVICE */
#include <kerfuse/kerfuse.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakecuda/gpu.h"
#include "shard.h"

#define assert_ok(call) \
    do { \
        if ((call) != KRF_OK) { \
            fail_msg("%s: %s", #call, krf_error_message()); \
        } \
    } while (0)

/* Small integers: sums of them are exact in any order. Other ones each time: what a run left behind must not pass for what the next one finds. */
static int64_t first_element;
static double element(int64_t i) { return (double)((i + first_element) * 37 % 11); }

/* Element i of the result over an array of r rows and c columns. */
typedef double expectation(int64_t i, int64_t rows, int64_t columns);

static double column_so_far(int64_t i, int64_t rows, int64_t columns) {
    double sum = 0;
    (void)rows;
    for (int64_t k = i % columns; k <= i; k += columns) {
        sum += element(k);
    }
    return sum;
}

static double scaled(int64_t i, int64_t rows, int64_t columns) {
    (void)rows, (void)columns;
    return element(i) * 2 + 1;
}

static double row_sum(int64_t i, int64_t rows, int64_t columns) {
    double sum = 0;
    (void)rows;
    for (int64_t c = 0; c < columns; c++) {
        sum += element(i * columns + c);
    }
    return sum;
}

static double column_sum(int64_t i, int64_t rows, int64_t columns) {
    double sum = 0;
    for (int64_t r = 0; r < rows; r++) {
        sum += element(r * columns + i);
    }
    return sum;
}

static double sum_so_far(int64_t i, int64_t rows, int64_t columns) {
    static double sum; /* elements are gone through in order */
    (void)rows;
    sum = (i % columns == 0 ? 0 : sum) + element(i);
    return sum;
}

static double with_transposed(int64_t i, int64_t rows, int64_t columns) {
    (void)rows; /* as many as columns */
    return element(i) + 2 * element(i % columns * columns + i / columns);
}

static double above_row_sum(int64_t i, int64_t rows, int64_t columns) {
    return element(i) - row_sum(i / columns, rows, columns);
}

/* Of the sum of an array and what it is when turned around along each axis and along both. */
static double turned(int64_t i, int64_t rows, int64_t columns) {
    const int64_t r = i / columns, c = i % columns;
    return element(i) + element((rows - 1 - r) * columns + c) + element(r * columns + columns - 1 - c) + element(rows * columns - 1 - i);
}

static double turned_above_row_sum(int64_t i, int64_t rows, int64_t columns) {
    static double sum; /* of the row: rows are gone through in order */
    for (int64_t c = 0; i % columns == 0 && c < columns; c++) {
        sum = (c == 0 ? 0 : sum) + turned(i + c, rows, columns);
    }
    return turned(i, rows, columns) - sum;
}

static double above_column_sum(int64_t i, int64_t rows, int64_t columns) {
    return element(i) - column_sum(i % columns, rows, columns);
}

typedef struct example {
    const char *text, *schedule; /* of the first kernel */
    int64_t rows, columns, results;
    expectation *expected;
} example;

static const example examples[] = {
    {"x * 2 + 1", "map", 1, 3001, 3001, scaled},
    {"sum(x)", "reduce_all", 1, 10000, 1, row_sum},             /* 10 chunks, two blocks */
    {"sum(x, axis=1)", "reduce_all", 2, 9500, 2, row_sum},      /* the same for each of two results */
    {"sum(x, axis=1)", "reduce_all", 9, 2100, 9, row_sum},      /* a block a row */
    {"f32(sum(f64(x) * exp(f64(x) * 0), axis=1))", "reduce_all", 2, 9500, 2, row_sum}, /* warps share a chunk */
    {"sum(x, axis=1)", "reduce_row", 20, 301, 20, row_sum},     /* a warp a row */
    {"sum(x, axis=1)", "reduce_short", 45, 61, 45, row_sum},    /* two rows a warp */
    {"sum(x, axis=0)", "reduce_col", 2500, 40, 40, column_sum}, /* 3 chunks */
    {"f32(sum(f64(x), axis=0) + 0 * sum(f64(x) * f64(x), axis=0))", "reduce_col", 1100, 512, 512, column_sum}, /* copied by words; two chunks a block */
    {"f32(sum(i16(x), axis=0))", "reduce_col", 2500, 40, 40, column_sum}, /* in any order */
    {"cumsum(x, axis=1)", "scan", 2, 8300, 2 * 8300, sum_so_far}, /* three tiles a row */
    {"cumsum(x, axis=1)", "scan", 1, 30000, 30000, sum_so_far},       /* eight */
    {"f32(cumsum(f64(x), axis=1))", "scan", 2, 8300, 2 * 8300, sum_so_far}, /* what tiles say does not fit beside their state */
    {"f32(cumsum(f64(x), axis=1))", "scan", 1, 30000, 30000, sum_so_far},
    {"f32(cumsum(f64(x), axis=1))", "scan", 2, 134000, 2 * 134000, sum_so_far}, /* two groups of tiles a row; the last of a group and the next run at once */
    {"cumsum(x, axis=1)", "scan", 3, 1000, 3 * 1000, sum_so_far},     /* one */
    {"cumsum(x, axis=0)", "scan", 1000, 20, 1000 * 20, column_so_far}, /* twice 32 runs; two blocks of 16 columns, which go down them */
    {"cumsum(x, axis=0)", "scan", 4700, 8, 4700 * 8, column_so_far},   /* five of 8 columns, with two shares each */
    {"f32(cumsum(f64(x), axis=0))", "scan", 1100, 20, 1100 * 20, column_so_far}, /* three of 16 */
    {"sum(x, axis=1)", "reduce_short", 1100, 7, 1100, row_sum},          /* two blocks that stage rows */
    {"x - sum(x, axis=1, keepdims=True)", "row_short", 300, 17, 300 * 17, above_row_sum},
    {"x + 2 * x.T", "tile", 70, 70, 70 * 70, with_transposed}, /* nine tiles, five of them partly outside */
    {"x - sum(x, axis=0)", "reduce_col", 8200, 2, 8200 * 2, above_column_sum}, /* two kernels */
    {"x - sum(x, axis=0)", "row_col", 200, 9, 200 * 9, above_column_sum},     /* 16 threads a column */
    {"x - sum(x, axis=0)", "row_col", 1100, 3, 1100 * 3, above_column_sum},   /* two blocks a column */
    {"sum(x, axis=0)", "row_col", 20, 70, 70, column_sum},
    {"x - sum(x, axis=1, keepdims=True)", "row", 3, 2600, 3 * 2600, above_row_sum}, /* four warps a row, of which one has nothing to do; half a block neither */
    {"t = x + flip(x, axis=0) + flip(x, axis=1) + flip(x); return t - sum(t, axis=1, keepdims=True)", "row", 2, 8200, 2 * 8200,
     turned_above_row_sum}, /* two blocks a row, for one has no registers for four arrays; 7 of their 16 warps have nothing to do */
    {"x - sum(x, axis=1, keepdims=True)", "row_short", 21, 50, 21 * 50, above_row_sum},
    {"cumsum(x, axis=1)", "scan", 1, 400000, 400000, sum_so_far}, /* four groups: two minutes, with KRF_EXHAUSTIVE only */
};
enum { EXAMPLES = sizeof examples / sizeof *examples, EVERYDAY = EXAMPLES - 1 };

static krf_context *ctx;

static krf_plan *make_plan(const example *e) {
    int64_t shape[2] = {e->rows, e->columns}, n = e->rows * e->columns;
    float *data = malloc((size_t)n * sizeof *data);
    for (int64_t i = 0; i < n; i++) {
        data[i] = (float)element(i);
    }
    krf_graph *g = krf_graph_create(ctx);
    krf_array *x = NULL;
    krf_expr result;
    krf_plan *plan = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_F32, 2, shape, data, &x));
    krf_binding binding = krf_bind_array("x", x);
    assert_ok(krf_parse(g, e->text, &binding, 1, &result));
    assert_ok(krf_compile(g, 1, &result, NULL, &plan));
    krf_kernel_info info = {.size = sizeof info};
    assert_ok(krf_plan_kernel(plan, 0, &info));
    assert_string_equal(info.schedule, e->schedule);
    krf_graph_destroy(g);
    krf_array_release(x);
    free(data);
    return plan;
}

/* The first element that is wrong; -1 for none. */
static int64_t run_plan(krf_plan *plan, const example *e, void *stream) {
    krf_array *out = NULL;
    float *data = malloc((size_t)e->results * sizeof *data);
    int64_t wrong = -1;
    if (krf_plan_run(plan, stream, 0, NULL, &out) != KRF_OK
        || krf_array_to_host(out, data, (size_t)e->results * sizeof *data) != KRF_OK) {
        fprintf(stderr, "%s: %s\n", e->text, krf_error_message());
        wrong = 0;
    }
    for (int64_t i = 0; i < e->results && wrong < 0; i++) {
        wrong = (double)data[i] == e->expected(i, e->rows, e->columns) ? -1 : i;
    }
    krf_array_release(out);
    free(data);
    return wrong;
}

static void every_schedule(void **state) {
    (void)state;
    static const char *const seeds[] = {"5", "0"};
    for (int s = 0; s < 2; s++) {
        setenv("FAKECUDA_SEED", seeds[s], 1);
        first_element = s;
        for (int i = 0; i < (getenv("KRF_EXHAUSTIVE") != NULL ? EXAMPLES : EVERYDAY); i++) {
            if (!in_shard(i)) {
                continue;
            }
            krf_plan *plan = make_plan(&examples[i]);
            int64_t wrong = run_plan(plan, &examples[i], NULL);
            krf_plan_release(plan);
            if (wrong >= 0) {
                fail_msg("%s: element %lld is wrong", examples[i].text, (long long)wrong);
            }
        }
    }
}

/* ---- host threads with streams ---- */

typedef struct host_thread {
    pthread_t thread;
    cu_stream stream;
    krf_plan **plans;
    int wrong;
} host_thread;

static void *use_stream(void *user) {
    host_thread *h = user;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++) {
            h->wrong += run_plan(h->plans[i], &examples[i], h->stream) >= 0;
        }
    }
    return NULL;
}

static void streams_of_host_threads(void **state) {
    (void)state;
    enum { THREADS = 2 };
    host_thread threads[THREADS];
    krf_plan *plans[2] = {make_plan(&examples[0]), make_plan(&examples[1])};
    assert_true(open_gpu());
    for (int t = 0; t < THREADS; t++) {
        threads[t] = (host_thread){.stream = new_stream(KRF__CU_STREAM_NON_BLOCKING), .plans = plans};
        assert_int_equal(pthread_create(&threads[t].thread, NULL, use_stream, &threads[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t].thread, NULL);
        assert_int_equal(threads[t].wrong, 0);
        assert_cu(0, cu.cuStreamDestroy_v2(threads[t].stream));
    }
    close_gpu();
    krf_plan_release(plans[0]);
    krf_plan_release(plans[1]);
}

int main(void) {
    setenv("FAKECUDA_RACE", "1", 1);
    krf_context_options options = krf_context_options_default();
    options.device = "cuda";
    if (krf_context_create(&options, &ctx) != KRF_OK) {
        printf("skipped: %s\n", krf_error_message());
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_schedule), cmocka_unit_test(streams_of_host_threads)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_context_destroy(ctx);
    return failed;
}
