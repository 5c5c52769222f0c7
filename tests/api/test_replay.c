/* Plans that run again and again: the same results whatever way their kernels are started, from streams and threads of any number. On the simulated GPU
 * kernels of a replay run in another order than that of the plan, wherever they may. Device: KRF_TEST_DEVICE (default "cpu"). ctest: race. */
#include "helpers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000, RUNS = 9 };

static krf_context *ctx; /* every operation a kernel */

/* How often an entry of the driver was called; -1: it is no simulated one. */
static long calls_of(const char *entry) {
    const char *path = getenv("KRF_LIBCUDA");
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    unsigned (*calls)(const char *);
    *(void **)&calls = library != NULL ? dlsym(library, "fakecuda_calls") : NULL;
    long n = calls != NULL ? (long)calls(entry) : -1;
    if (library != NULL) {
        dlclose(library);
    }
    return n;
}

static long graphs(void) { return calls_of("cuGraphLaunch"); }

static krf_plan *compile(krf_context *context, const char *program) {
    krf_graph *g = krf_graph_create(context);
    krf_expr results[4];
    krf_plan *plan = NULL;
    int n = 0;
    assert_ok(krf_parse_many(g, program, NULL, 0, 4, results, &n));
    assert_ok(krf_compile(g, n, results, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

static krf_array *array_of(const float *data) {
    krf_array *a = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){N}, data, &a));
    return a;
}

/* Small integers: all that is computed of them is exact. */
static void fill(float *data, int seed) {
    for (int i = 0; i < N; i++) {
        data[i] = (float)((i * 37 + seed * 101) % 50);
    }
}

static void check(krf_array *a, const float *want, const char *what, int run) {
    static float got[N];
    assert_ok(krf_array_to_host(a, got, sizeof got));
    for (int i = 0; i < N; i++) {
        if (got[i] != want[i]) {
            fail_msg("%s, run %d: element %d is %g, not %g", what, run, i, (double)got[i], (double)want[i]);
        }
    }
}

/* Temporaries that share memory, kernels that wait for two others, and some that wait for none. */
static const char text[] = "x: f32[5000]; y: f32[5000]; s: float\n"
                           "a = x + s; b = y * a; c = a - b; d = abs(c); e = y + 3; f = e * 2; g = maximum(d, f); h = minimum(b, c)\n"
                           "return g + h, e * 5";

static void expect(const float *x, const float *y, float s, float *first, float *second) {
    for (int i = 0; i < N; i++) {
        const float a = x[i] + s, b = y[i] * a, c = a - b, d = c < 0 ? -c : c, f = (y[i] + 3) * 2;
        first[i] = (d > f ? d : f) + (b < c ? b : c);
        second[i] = (y[i] + 3) * 5;
    }
}

static void arguments_change(void **state) {
    (void)state;
    static float data[2][N], want[2][N];
    krf_plan *plan = compile(ctx, text);
    assert_true(krf_plan_kernels(plan) > 8);
    const long before = graphs();
    krf_array *in[2] = {NULL, NULL}, *kept[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        fill(data[i], i);
        in[i] = array_of(data[i]);
    }
    for (int run = 0; run < 2 * RUNS; run++) { /* other scalars; other inputs; results in new memory, then in what is there */
        const int swap = run / 2 % 2;
        krf_binding b[] = {krf_bind_array("x", in[swap]), krf_bind_array("y", in[!swap]), krf_bind_real("s", run % 5)};
        krf_array *out[2] = {run < RUNS ? NULL : kept[0], run < RUNS ? NULL : kept[1]};
        assert_ok(krf_plan_run(plan, NULL, 3, b, out));
        expect(data[swap], data[!swap], (float)(run % 5), want[0], want[1]);
        check(out[0], want[0], "first", run);
        check(out[1], want[1], "second", run);
        for (int k = 0; k < 2 && run < RUNS; k++) {
            krf_array_release(kept[k]);
            kept[k] = out[k];
        }
    }
    assert_true(before < 0 || graphs() >= before + 2 * RUNS - 4); /* it was replayed at all */
    krf_plan_release(plan);
    for (int i = 0; i < 2; i++) {
        krf_array_release(in[i]);
        krf_array_release(kept[i]);
    }
}

/* A result that lies where other kernels read must wait for these. */
static void results_over_inputs(void **state) {
    (void)state;
    static float x[N], y[N], want[2][N];
    krf_plan *plan = compile(ctx, text);
    fill(x, 3);
    fill(y, 4);
    krf_array *in_x = array_of(x), *in_y = array_of(y);
    for (int run = 0; run < RUNS; run++) {
        krf_binding b[] = {krf_bind_array("x", in_x), krf_bind_array("y", in_y), krf_bind_real("s", 1)};
        krf_array *out[2] = {run % 2 == 0 ? NULL : in_y, run % 2 == 0 ? NULL : in_x};
        assert_ok(krf_plan_run(plan, NULL, 3, b, out));
        expect(x, y, 1, want[0], want[1]);
        check(out[0], want[0], "first", run);
        check(out[1], want[1], "second", run);
        if (run % 2 == 0) {
            krf_array_release(out[0]);
            krf_array_release(out[1]);
        } else {
            fill(x, run);
            fill(y, run + 1);
            assert_ok(krf_array_upload_async(in_x, x, sizeof x, NULL));
            assert_ok(krf_array_upload_async(in_y, y, sizeof y, NULL));
            assert_ok(krf_context_synchronize(ctx));
        }
    }
    krf_plan_release(plan);
    krf_array_release(in_x);
    krf_array_release(in_y);
}

/* Blocks count each other in memory that belongs to one run. */
static void sums(void **state) {
    (void)state;
    enum { MANY = 40000 };
    krf_plan *plan = compile(ctx, "x: f32[40000]; s: float; y = x * s; return sum(y), sum(x) - sum(-y)");
    float *data = malloc(MANY * sizeof *data);
    double sum = 0;
    for (int i = 0; i < MANY; i++) {
        data[i] = (float)(i % 7);
        sum += data[i];
    }
    krf_array *x = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){MANY}, data, &x));
    for (int run = 0; run < RUNS; run++) {
        krf_binding b[] = {krf_bind_array("x", x), krf_bind_real("s", run)};
        krf_array *out[2] = {NULL, NULL};
        float got[2];
        assert_ok(krf_plan_run(plan, NULL, 2, b, out));
        for (int k = 0; k < 2; k++) {
            assert_ok(krf_array_to_host(out[k], &got[k], sizeof got[k]));
            krf_array_release(out[k]);
        }
        assert_true((double)got[0] == sum * run && (double)got[1] == sum + sum * run);
    }
    krf_array_release(x);
    krf_plan_release(plan);
    free(data);
}

/* Each waits for the one before it, which has other results in each run. */
static void sum_of_products(void **state) {
    (void)state;
    static float data[N];
    krf_plan *plan = compile(ctx, "x: f32[5000]; s: float; return sum(x * s)");
    krf_array *x = NULL;
    double sum = 0;
    assert_true(krf_plan_kernels(plan) >= 2);
    for (int i = 0; i < N; i++) {
        data[i] = (float)(i % 7);
        sum += data[i];
    }
    x = array_of(data);
    for (int run = 0; run < RUNS; run++) {
        const krf_binding b[] = {krf_bind_array("x", x), krf_bind_real("s", run)};
        krf_array *out = NULL;
        float got;
        assert_ok(krf_plan_run(plan, NULL, 2, b, &out));
        assert_ok(krf_array_to_host(out, &got, sizeof got));
        krf_array_release(out);
        if ((double)got != sum * run) {
            fail_msg("run %d: %g, not %g", run, (double)got, sum * run);
        }
    }
    krf_array_release(x);
    krf_plan_release(plan);
}

typedef struct worker {
    pthread_t thread;
    krf_plan *plan;
    int number, wrong;
} worker;

static void *work(void *user) {
    worker *w = user;
    float *data = malloc(5 * N * sizeof *data), *x = data, *y = x + N, *first = y + N, *second = first + N, *got = second + N;
    krf_stream *stream = NULL;
    krf_array *in[2] = {NULL, NULL};
    w->wrong += w->number > 0 && krf_stream_create(ctx, NULL, &stream) != KRF_OK;
    for (int run = 0; run < RUNS && w->wrong == 0; run++) {
        krf_array *out[2] = {NULL, NULL};
        fill(x, 10 * w->number + run);
        fill(y, 10 * w->number + run + 1);
        w->wrong += krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){N}, x, &in[0]) != KRF_OK || krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){N}, y, &in[1]) != KRF_OK;
        krf_binding b[] = {krf_bind_array("x", in[0]), krf_bind_array("y", in[1]), krf_bind_real("s", run)};
        w->wrong += w->wrong == 0 && krf_plan_run(w->plan, stream != NULL ? krf_stream_handle(stream) : NULL, 3, b, out) != KRF_OK;
        expect(x, y, (float)run, first, second);
        for (int k = 0; k < 2 && w->wrong == 0; k++) {
            w->wrong += krf_array_to_host(out[k], got, N * sizeof *got) != KRF_OK || memcmp(got, k == 0 ? first : second, N * sizeof *got) != 0;
        }
        for (int k = 0; k < 2; k++) {
            krf_array_release(out[k]);
            krf_array_release(in[k]);
            in[k] = NULL;
        }
    }
    krf_stream_destroy(stream);
    free(data);
    return NULL;
}

/* Two threads on the context's own stream, others on streams of their own; some of these share a place for replays. */
static void threads(void **state) {
    (void)state;
    enum { THREADS = 7 };
    worker workers[THREADS];
    krf_plan *plan = compile(ctx, text);
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (worker){.plan = plan, .number = t > 1 ? t : 0};
        assert_int_equal(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        assert_int_equal(workers[t].wrong, 0);
    }
    krf_plan_release(plan);
}

/* What users write knows nothing of kernels that begin early: it neither does, nor does what follows it. */
static void written(void **state) {
    (void)state;
    static float data[N], want[N];
    static const char c[] = "void twice(const float *x, float *y, int n) {\n    for (int i = 0; i < n; i++) y[i] = 2 * x[i];\n}\n";
    static const char cuda[] = "extern \"C\" __global__ void twice(const float *x, float *y, int n) {\n    int i = blockIdx.x * 64 + threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];\n}\n";
    const krf_kernel_description description = {.size = sizeof description, .name = "twice", .parameters = "in f32 x[m], out f32 y[m], i32 n = m", .c = c, .cuda = cuda,
                                                .grid = "(m + 63) / 64", .block = "64"};
    krf_raw_kernel *twice = NULL;
    krf_plan *plan = NULL;
    krf_expr y;
    krf_graph *g = krf_graph_create(ctx);
    assert_ok(krf_kernel_define(ctx, &description, &twice));
    krf_expr x = krf_add(krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), krf_real(g, 1));
    krf_kernel_call(twice, g, 1, &x, NULL, NULL, &y);
    y = krf_subtract(krf_multiply(y, krf_real(g, 3)), krf_real(g, 5));
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    krf_graph_destroy(g);
    assert_true(krf_plan_kernels(plan) >= 4);
    for (int run = 0; run < RUNS; run++) {
        fill(data, run);
        krf_array *in = array_of(data), *out = NULL;
        const krf_binding b = krf_bind_array("x", in);
        assert_ok(krf_plan_run(plan, NULL, 1, &b, &out));
        for (int i = 0; i < N; i++) {
            want[i] = (data[i] + 1) * 6 - 5;
        }
        check(out, want, "written", run);
        krf_array_release(in);
        krf_array_release(out);
    }
    krf_plan_release(plan);
    krf_kernel_release(twice);
}

/* What takes a GPU longer than the host takes for a launch is launched, and may begin while the run before it, whose result it reads in another order, is at work. */
static void large(void **state) {
    (void)state;
    enum { LARGE = 1 << 20, TIMES = 40 };
    static float data[LARGE];
    krf_plan *plan = compile(ctx, "x: f32[1048576]\nx[::-1] + 1");
    const long before = graphs(), launches = calls_of("cuLaunchKernelEx");
    for (int i = 0; i < LARGE; i++) {
        data[i] = (float)(i % 1000);
    }
    krf_array *a[2] = {NULL, NULL};
    assert_int_equal(krf_plan_kernels(plan), 1);
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){LARGE}, data, &a[0]));
    for (int run = 0; run < TIMES; run++) {
        const krf_binding b = krf_bind_array("x", a[run % 2]);
        assert_ok(krf_plan_run(plan, NULL, 1, &b, &a[(run + 1) % 2]));
    }
    assert_ok(krf_array_to_host(a[TIMES % 2], data, sizeof data));
    for (int i = 0; i < LARGE; i++) {
        if (data[i] != (float)(i % 1000 + TIMES)) {
            fail_msg("element %d is %g, not %d", i, (double)data[i], i % 1000 + TIMES);
        }
    }
    assert_int_equal(graphs(), before);
    assert_true(launches < 0 || calls_of("cuLaunchKernelEx") == launches + TIMES);
    krf_array_release(a[0]);
    krf_array_release(a[1]);
    krf_plan_release(plan);
}

int main(void) {
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.blocking_compile = true;
    o.fusion = "off";
    ctx = open_or_skip(&o);
    const struct CMUnitTest tests[] = {cmocka_unit_test(arguments_change), cmocka_unit_test(results_over_inputs), cmocka_unit_test(sums), cmocka_unit_test(sum_of_products), cmocka_unit_test(written), cmocka_unit_test(threads), cmocka_unit_test(large)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_context_destroy(ctx);
    return failed;
}
