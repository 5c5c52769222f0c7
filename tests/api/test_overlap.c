/* Kernels that read before the one before them has ended: only where that writes nothing that they read, and nothing else was given to the stream. What is computed is right
 * in any case: on the simulated GPU who reads too early finds what memory had before. Device: KRF_TEST_DEVICE (default "cpu"). ctest: race. */
#include "helpers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 16, HALF = N / 2, RUNS = 3 }; /* as many as are launched before plans are replayed */

#if defined __SANITIZE_THREAD__
#define MILLIONS 0 /* of elements, by a thread of the host each, take many minutes; and what is large here has one thread that asks for it */
#else
#define MILLIONS 1
#endif

static bool overlaps; /* whether the device does */

/* Two plans that are not replayed yet, over arrays x, y, z of their own context: y = x[::-1] + 1, and the sum of something. */
typedef struct bench {
    krf_context *ctx;
    krf_plan *map, *sum;
    krf_array *x, *y, *z;
    float data[N];
} bench;

static krf_plan *compile(krf_context *ctx, const char *program) {
    krf_graph *g = krf_graph_create(ctx);
    krf_expr result;
    krf_plan *plan = NULL;
    int n = 0;
    assert_ok(krf_parse_many(g, program, NULL, 0, 1, &result, &n));
    assert_ok(krf_compile(g, 1, &result, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

static krf_array *array_of(bench *b) {
    krf_array *a = NULL;
    assert_ok(krf_array_from_host(b->ctx, KRF_F32, 1, (int64_t[]){N}, b->data, &a));
    return a;
}

static bench *new_bench(const char *sum) {
    bench *b = calloc(1, sizeof *b);
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.blocking_compile = true;
    assert_non_null(b);
    assert_ok(krf_context_create(&o, &b->ctx));
    for (int i = 0; i < N; i++) {
        b->data[i] = (float)(i % 64);
    }
    b->map = compile(b->ctx, "x: f32[65536]\nx[::-1] + 1");
    b->sum = compile(b->ctx, sum);
    b->x = array_of(b);
    b->y = array_of(b);
    b->z = array_of(b);
    return b;
}

static void free_bench(bench *b) {
    krf_array_release(b->x);
    krf_array_release(b->y);
    krf_array_release(b->z);
    krf_plan_release(b->map);
    krf_plan_release(b->sum);
    krf_context_destroy(b->ctx);
    free(b);
}

static long overlapped(const bench *b) {
    krf_cache_stats s = {.size = sizeof s};
    assert_ok(krf_context_cache_stats(b->ctx, &s));
    return (long)s.overlapped;
}

static void run_map(bench *b, krf_array *from, krf_array *to) {
    const krf_binding in = krf_bind_array("x", from);
    assert_ok(krf_plan_run(b->map, NULL, 1, &in, &to));
}

/* Whether the run overlapped; *sum: an array of one f32, for later. */
static bool run_sum(bench *b, void *stream, krf_array *of, krf_array **sum) {
    const krf_binding in = krf_bind_array("x", of);
    const long before = overlapped(b);
    *sum = NULL;
    assert_ok(krf_plan_run(b->sum, stream, 1, &in, sum));
    return overlapped(b) > before;
}

static void expect(krf_array **sum, double want) {
    float got;
    assert_ok(krf_array_to_host(*sum, &got, sizeof got));
    krf_array_release(*sum);
    *sum = NULL;
    if ((double)got != want) {
        fail_msg("%g, not %g", (double)got, want);
    }
}

static const char whole[] = "x: f32[65536]\nsum(x)", half[] = "x: f32[32768]\nsum(x)";
static const double sum_of_x = 1024.0 * (63 * 64 / 2), sum_of_y = 1024.0 * (64 * 65 / 2); /* 0 to 63, 1 to 64, exact in f32 in any order */

static void what_was_written_last(void **unused) {
    (void)unused;
    bench *b = new_bench(whole);
    krf_array *s = NULL;
    run_map(b, b->x, b->y);
    assert_false(run_sum(b, NULL, b->y, &s));
    expect(&s, sum_of_y);
    free_bench(b);
}

static void what_was_not(void **unused) {
    (void)unused;
    bench *b = new_bench(whole);
    krf_array *s[RUNS] = {NULL};
    run_map(b, b->x, b->y);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(run_sum(b, NULL, i == 1 ? b->y : b->z, &s[i]), overlaps);
    }
    for (int i = 0; i < RUNS; i++) {
        expect(&s[i], i == 1 ? sum_of_y : sum_of_x);
    }
    free_bench(b);
}

/* Of a length whose chunks leave some warps without one. */
static void nothing_to_add(void **unused) {
    (void)unused;
    enum { ODD = 60000 };
    bench *b = new_bench("x: f32[60000]\nsum(x)");
    krf_array *part = NULL, *s = NULL;
    assert_ok(krf_array_view(b->z, 1, (int64_t[]){ODD}, (int64_t[]){1}, 0, &part));
    run_map(b, b->x, b->y);
    assert_int_equal(run_sum(b, NULL, part, &s), overlaps);
    expect(&s, ODD / 64 * (63 * 64 / 2) + ODD % 64 * (ODD % 64 - 1) / 2);
    krf_array_release(part);
    free_bench(b);
}

/* Maps whose threads load more than they store, some of which have nothing to store. */
static void products_of_rows(void **unused) {
    (void)unused;
    enum { ROWS = 20139 }; /* of the last thousand results one is there */
    static float got[3 * ROWS];
    static const float matrix[9] = {1, 2, 3, 0, 1, 4, 5, 6, 0};
    bench *b = new_bench("x: f32[20139,3]; m: f32[3,3]\nsum(x[:, None, :] * m[None, :, :], axis=2)");
    krf_array *rows = NULL, *m = NULL, *out[RUNS] = {NULL};
    assert_ok(krf_array_view(b->z, 2, (int64_t[]){ROWS, 3}, NULL, 0, &rows));
    assert_ok(krf_array_from_host(b->ctx, KRF_F32, 2, (int64_t[]){3, 3}, matrix, &m));
    const krf_binding in[] = {krf_bind_array("x", rows), krf_bind_array("m", m)};
    for (int run = 0; run < RUNS; run++) {
        const long before = overlapped(b);
        assert_ok(krf_plan_run(b->sum, NULL, 2, in, &out[run]));
        assert_int_equal(overlapped(b) - before, overlaps && run > 0);
    }
    for (int run = 0; run < RUNS; run++) {
        assert_ok(krf_array_to_host(out[run], got, sizeof got));
        for (int i = 0; i < 3 * ROWS; i++) {
            const float *x = b->data + i / 3 * 3, *row = matrix + i % 3 * 3;
            if (got[i] != x[0] * row[0] + x[1] * row[1] + x[2] * row[2]) {
                fail_msg("run %d, element %d: %g", run, i, (double)got[i]);
            }
        }
        krf_array_release(out[run]);
    }
    krf_array_release(rows);
    krf_array_release(m);
    free_bench(b);
}

/* Columns of integers, one chunk of them and several: no two runs' blocks may meet in the same memory. */
static void columns_of_bytes(void **unused) {
    (void)unused;
    static const int64_t shapes[2][2] = {{512, 128}, {4096, 16}};
    static int8_t bytes[N];
    for (int i = 0; i < N; i++) {
        bytes[i] = (int8_t)(i * 37 % 251 - 125);
    }
    for (int n = 0; n < 2; n++) {
        bench *b = new_bench(n == 0 ? "x: i8[512,128]\nsum(x, axis=0)" : "x: i8[4096,16]\nsum(x, axis=0)");
        krf_array *x = NULL, *out[RUNS] = {NULL};
        assert_ok(krf_array_from_host(b->ctx, KRF_I8, 2, shapes[n], bytes, &x));
        const krf_binding in = krf_bind_array("x", x);
        for (int run = 0; run < RUNS; run++) {
            const long before = overlapped(b);
            assert_ok(krf_plan_run(b->sum, NULL, 1, &in, &out[run]));
            assert_int_equal(overlapped(b) - before, overlaps && run > 0);
        }
        for (int run = 0; run < RUNS; run++) {
            int64_t got[128];
            assert_ok(krf_array_to_host(out[run], got, (size_t)shapes[n][1] * sizeof *got));
            for (int64_t c = 0; c < shapes[n][1]; c++) {
                int64_t want = 0;
                for (int64_t r = 0; r < shapes[n][0]; r++) {
                    want += bytes[r * shapes[n][1] + c];
                }
                assert_int_equal(got[c], want);
            }
            krf_array_release(out[run]);
        }
        krf_array_release(x);
        free_bench(b);
    }
}

/* Two halves of one array: neighbours in memory are apart. */
static void halves(void **unused) {
    (void)unused;
    for (int same = 0; same < 2; same++) {
        bench *b = new_bench(half);
        krf_plan *map = compile(b->ctx, "x: f32[32768]\nx[::-1] + 1");
        krf_array *low = NULL, *high = NULL, *s = NULL;
        assert_ok(krf_array_view(b->y, 1, (int64_t[]){HALF}, (int64_t[]){1}, 0, &low));
        assert_ok(krf_array_view(b->y, 1, (int64_t[]){HALF}, (int64_t[]){1}, HALF, &high));
        krf_plan_release(b->map);
        b->map = map;
        krf_array *x = NULL;
        assert_ok(krf_array_view(b->x, 1, (int64_t[]){HALF}, (int64_t[]){1}, 0, &x));
        run_map(b, x, low);
        assert_int_equal(run_sum(b, NULL, same ? low : high, &s), overlaps && !same);
        expect(&s, same ? sum_of_y / 2 : sum_of_x / 2);
        krf_array_release(x);
        krf_array_release(low);
        krf_array_release(high);
        free_bench(b);
    }
}

enum { UPLOAD, COPY, WAIT, HANDLE, MINE, HOW_MANY };

/* Work that is no kernel, and streams that others have. */
static void something_between(void **unused) {
    (void)unused;
    for (int what = 0; what < HOW_MANY; what++) {
        bench *b = new_bench(whole);
        krf_array *s = NULL, *fresh = NULL;
        krf_event *e = NULL;
        krf_stream *stream = NULL;
        void *handle = NULL;
        assert_ok(krf_event_create(b->ctx, false, &e));
        assert_ok(krf_event_record(e, NULL));
        run_map(b, b->x, b->y);
        if (what == UPLOAD) {
            fresh = array_of(b);
        } else if (what == COPY) {
            assert_ok(krf_array_copy(b->z, b->x));
        } else if (what == WAIT) {
            assert_ok(krf_event_wait(e, NULL));
        } else if (what == HANDLE) {
            (void)krf_context_stream(b->ctx);
        } else {
            assert_ok(krf_stream_create(b->ctx, NULL, &stream));
            handle = krf_stream_handle(stream);
        }
        assert_false(run_sum(b, handle, b->z, &s));
        expect(&s, sum_of_x);
        krf_array_release(fresh);
        krf_event_destroy(e);
        krf_stream_destroy(stream);
        free_bench(b);
    }
}

/* Each reads what the one before wrote, and large enough for what is too early to be noticed. */
static void chain(void **unused) {
    (void)unused;
    enum { LARGE = 1 << 20, TIMES = 24 };
    static float data[LARGE];
    krf_context_options o = krf_context_options_default();
    krf_context *ctx = NULL;
    krf_array *a[2] = {NULL, NULL}, *sums[TIMES] = {NULL}, *others[TIMES] = {NULL}, *c = NULL;
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.blocking_compile = true;
    assert_ok(krf_context_create(&o, &ctx));
    krf_plan *map = compile(ctx, "x: f32[1048576]\nx[::-1] + 1"), *sum = compile(ctx, "x: f32[1048576]\nsum(x)"), *most = compile(ctx, "x: f32[1024,1024]\nmax(x, axis=0)");
    for (int i = 0; i < LARGE; i++) {
        data[i] = (float)(i % 4);
    }
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){LARGE}, data, &a[0]));
    assert_ok(krf_array_from_host(ctx, KRF_F32, 2, (int64_t[]){1024, 1024}, data, &c));
    for (int run = 0; run < TIMES; run++) {
        const krf_binding b = krf_bind_array("x", a[run % 2]), constant = krf_bind_array("x", c);
        assert_ok(krf_plan_run(map, NULL, 1, &b, &a[(run + 1) % 2]));
        const krf_binding written = krf_bind_array("x", a[(run + 1) % 2]);
        assert_ok(krf_plan_run(sum, NULL, 1, &written, &sums[run]));
        assert_ok(krf_plan_run(most, NULL, 1, &constant, &others[run]));
    }
    for (int run = 0; run < TIMES; run++) {
        static float columns[1024];
        expect(&sums[run], LARGE * (1.5 + run + 1));
        assert_ok(krf_array_to_host(others[run], columns, sizeof columns));
        for (int i = 0; i < 1024; i++) {
            assert_true(columns[i] == (float)(i % 4));
        }
        krf_array_release(others[run]);
    }
    krf_array_release(a[0]);
    krf_array_release(a[1]);
    krf_array_release(c);
    krf_plan_release(map);
    krf_plan_release(sum);
    krf_plan_release(most);
    krf_context_destroy(ctx);
}

/* What a kernel reads ahead was written by the one before the one before it, while some multiprocessors, that one had no blocks for, may still have it in their caches as it was. */
static void two_before(void **unused) {
    (void)unused;
    enum { LARGE = 1 << 20, TIMES = 24 };
    static float data[LARGE];
    krf_context_options o = krf_context_options_default();
    krf_context *ctx = NULL;
    krf_array *a = NULL, *c = NULL, *before[TIMES] = {NULL}, *sums[TIMES] = {NULL}, *others[TIMES] = {NULL};
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.blocking_compile = true;
    assert_ok(krf_context_create(&o, &ctx));
    krf_plan *more = compile(ctx, "x: f32[1048576]\nx + 1"), *sum = compile(ctx, "x: f32[1048576]\nsum(x)");
    for (int i = 0; i < LARGE; i++) {
        data[i] = (float)(i % 4);
    }
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){LARGE}, data, &a));
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){LARGE}, data, &c));
    for (int run = 0; run < TIMES; run++) {
        const krf_binding changing = krf_bind_array("x", a), constant = krf_bind_array("x", c);
        assert_ok(krf_plan_run(sum, NULL, 1, &changing, &before[run]));
        assert_ok(krf_plan_run(more, NULL, 1, &changing, &a));
        assert_ok(krf_plan_run(sum, NULL, 1, &constant, &others[run]));
        assert_ok(krf_plan_run(sum, NULL, 1, &changing, &sums[run]));
    }
    for (int run = 0; run < TIMES; run++) {
        expect(&before[run], LARGE * (1.5 + run));
        expect(&sums[run], LARGE * (1.5 + run + 1));
        expect(&others[run], LARGE * 1.5);
    }
    krf_array_release(a);
    krf_array_release(c);
    krf_plan_release(more);
    krf_plan_release(sum);
    krf_context_destroy(ctx);
}

/* Threads that give work to one stream, each to arrays of its own. */
typedef struct worker {
    bench *b;
    pthread_t thread;
    int wrong;
} worker;

static void *work(void *user) {
    worker *w = user;
    enum { ROUNDS = MILLIONS ? 20 : 4 };
    krf_array *x = NULL, *y = NULL;
    bool ok = krf_array_from_host(w->b->ctx, KRF_F32, 1, (int64_t[]){N}, w->b->data, &x) == KRF_OK;
    for (int i = 0; ok && i < ROUNDS; i++) {
        const krf_binding in = krf_bind_array("x", x);
        krf_array *s = NULL;
        float got = 0;
        ok = krf_plan_run(w->b->map, NULL, 1, &in, &y) == KRF_OK;
        const krf_binding between = krf_bind_array("x", y);
        ok = ok && krf_plan_run(w->b->sum, NULL, 1, &between, &s) == KRF_OK && krf_array_to_host(s, &got, sizeof got) == KRF_OK;
        w->wrong += !ok || (double)got != sum_of_y;
        krf_array_release(s);
    }
    w->wrong += !ok;
    krf_array_release(x);
    krf_array_release(y);
    return NULL;
}

static void threads(void **unused) {
    (void)unused;
    bench *b = new_bench(whole);
    worker workers[3];
    for (int i = 0; i < 3; i++) {
        workers[i] = (worker){.b = b};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    free_bench(b);
}

int main(void) {
    setenv("FAKECUDA_REGISTERS", "64", 1); /* of which four blocks of 256 threads, as reductions have, fill a multiprocessor */
    krf_context_options o = krf_context_options_default();
    krf_device_info info = {.size = sizeof info};
    o.device = asked_device();
    krf_context *ctx = open_or_skip(&o);
    assert_ok(krf_context_device(ctx, &info));
    overlaps = info.capability_major >= 9;
    krf_context_destroy(ctx);
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_written_last), cmocka_unit_test(what_was_not), cmocka_unit_test(halves), cmocka_unit_test(products_of_rows), cmocka_unit_test(columns_of_bytes), cmocka_unit_test(nothing_to_add), cmocka_unit_test(something_between), cmocka_unit_test(threads), cmocka_unit_test(chain), cmocka_unit_test(two_before)};
    return _cmocka_run_group_tests("overlap", tests, sizeof tests / sizeof *tests - (MILLIONS ? 0 : 2), NULL, NULL);
}
