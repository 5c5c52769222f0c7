/* The public functions from end to end, on the device that KRF_TEST_DEVICE names (default "cpu"). Internal headers are
 * used for two things only: to make the n-th allocation fail, and to spoil an entry of the disk cache. */
#include "backend/backend.h"
#include "base/mem.h"
#include "helpers.h"
#include "sched/context.h"
#include "sched/kernels.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define assert_message(part) assert_contains(krf_error_message(), (part), __LINE__)
static void assert_contains(const char *text, const char *part, int line) {
    if (strstr(text, part) == NULL) {
        fail_msg("line %d: \"%s\" is not in \"%s\"", line, part, text);
    }
}

static krf_context_options options_of(krf_cpu_tier tier) {
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    o.cpu_tier = tier;
    o.cache = KRF_CACHE_OFF;
    o.threads = 4;
    o.blocking_compile = true;
    return o;
}

static krf_context *open_tier(krf_cpu_tier tier) {
    krf_context_options o = options_of(tier);
    krf_context *ctx = NULL;
    assert_ok(krf_context_create(&o, &ctx));
    return ctx;
}

static krf_context *open_context(void) { return open_tier(KRF_CPU_INTERPRET); }

static krf_cache_stats stats_of(krf_context *ctx) {
    krf_cache_stats s = {.size = sizeof s};
    assert_ok(krf_context_cache_stats(ctx, &s));
    return s;
}

/* 0, 1, 2, ... in f32. */
static krf_array *iota(krf_context *ctx, int rank, const int64_t *shape) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) {
        n *= shape[i];
    }
    float *data = malloc((size_t)n * sizeof *data + 1);
    for (int64_t i = 0; i < n; i++) {
        data[i] = (float)i;
    }
    krf_array *a = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_F32, rank, shape, data, &a));
    free(data);
    return a;
}

static krf_array *iota1(krf_context *ctx, int64_t n) { return iota(ctx, 1, &n); }

/* The elements as floats, to be freed. */
static float *floats(krf_array *a) {
    size_t bytes = (size_t)krf_array_size(a) * sizeof(float);
    float *data = malloc(bytes + 1);
    assert_int_equal(krf_array_dtype(a), KRF_F32);
    assert_ok(krf_array_to_host(a, data, bytes));
    return data;
}

static void assert_floats(krf_array *a, int64_t n, const float *expected) {
    assert_int_equal(krf_array_size(a), n);
    float *data = floats(a);
    for (int64_t i = 0; i < n; i++) {
        if (data[i] != expected[i] && !(isnan(data[i]) && isnan(expected[i]))) {
            fail_msg("element %lld is %g, not %g", (long long)i, (double)data[i], (double)expected[i]);
        }
    }
    free(data);
}

static double scalar_of(krf_array *a) {
    union {
        uint8_t b;
        int32_t i;
        int64_t l;
        float f;
        double d;
    } u;
    assert_int_equal(krf_array_size(a), 1);
    assert_ok(krf_array_to_host(a, &u, krf_dtype_size(krf_array_dtype(a))));
    switch (krf_array_dtype(a)) {
    case KRF_BOOL: return u.b;
    case KRF_I32: return u.i;
    case KRF_I64: return (double)u.l;
    case KRF_F32: return (double)u.f;
    case KRF_F64: return u.d;
    default: fail_msg("a dtype that this test does not read");
    }
    return 0;
}

static krf_expr softplus(krf_expr x) {
    return krf_add(krf_maximum(x, krf_scalar(x.graph, 0)), krf_log1p(krf_exp(krf_negative(krf_abs(x)))));
}

/* ---- facts ---- */

static void test_facts(void **state) {
    (void)state;
    assert_int_equal(krf_version(), KRF_VERSION_NUMBER);
    assert_string_equal(krf_version_text(), "0.1.0");
    assert_string_equal(krf_status_name(KRF_OK), "KRF_OK");
    assert_string_equal(krf_status_name(KRF_E_SHAPE), "KRF_E_SHAPE");
    assert_string_equal(krf_status_text(KRF_E_MEMORY), "out of memory");
    assert_string_equal(krf_status_name((krf_status)999), "?");
    assert_non_null(krf_status_text((krf_status)-1));
    krf_dtype dtype = KRF_U8;
    assert_false(krf_dtype_from_name(NULL, &dtype));
    assert_false(krf_dtype_from_name("f32", NULL));
    assert_int_equal(dtype, KRF_U8);
    krf_context_options o = krf_context_options_default();
    assert_int_equal(o.size, sizeof o);
    setenv("KRF_THREADS", "3", 1);
    setenv("KRF_CPU_TIER", "1", 1);
    setenv("KRF_BLOCKING_COMPILE", "1", 1);
    setenv("KRF_CACHE", "read-only", 1);
    o = krf_context_options_default();
    assert_int_equal(o.threads, 3);
    assert_int_equal(o.cpu_tier, KRF_CPU_COMPILE);
    assert_true(o.blocking_compile);
    assert_int_equal(o.cache, KRF_CACHE_READ_ONLY);
    setenv("KRF_THREADS", "-3x", 1);
    setenv("KRF_CPU_TIER", "7", 1);
    o = krf_context_options_default();
    assert_int_equal(o.threads, 0);
    assert_int_equal(o.cpu_tier, KRF_CPU_AUTO);
    unsetenv("KRF_THREADS");
    unsetenv("KRF_CPU_TIER");
    unsetenv("KRF_BLOCKING_COMPILE");
    unsetenv("KRF_CACHE");
}

static void test_environment(void **state) {
    (void)state;
    static const struct {
        const char *name, *wrong[12], *right[8];
    } variables[] = {
        {"KRF_MEMORY_LIMIT", {"1MB", "1MiB", "1m", "1.5M", "1e6", "abc", "-5", "150%", "0%", "0.0001%", "0"}, {"1G", "50%", "64000000", ""}},
        {"KRF_MATH", {"fst", "FAST", "1"}, {"fast", "precise", ""}},
        {"KRF_CACHE", {"ro", "readonly", "0"}, {"on", "off", "read-only", ""}},
        {"KRF_CPU_TIER", {"x", "2", "-1", "01"}, {"0", "1", ""}},
        {"KRF_THREADS", {"abc", "-3", "2x", " 2", "99999999999"}, {"2", "0", ""}},
        {"KRF_FUSION", {"bogus", "operations=0", "operations"}, {"off", "operations=8,results=1", ""}},
        {"KRF_EXACT_MEMORY", {"2", "y"}, {"1", "0", "yes", "no", "off", ""}},
        {"KRF_BLOCKING_COMPILE", {"2", "sure"}, {"1", "0", "true", "false", ""}},
    };
    for (size_t v = 0; v < sizeof variables / sizeof *variables; v++) {
        const char *before = getenv(variables[v].name);
        char *kept = before != NULL ? strdup(before) : NULL;
        krf_context *ctx = NULL;
        for (size_t i = 0; i < 12 && variables[v].wrong[i] != NULL; i++) {
            setenv(variables[v].name, variables[v].wrong[i], 1);
            krf_context_options o = krf_context_options_default();
            o.device = "cpu";
            assert_int_equal(krf_context_create(i % 2 == 0 ? &o : NULL, &ctx), KRF_E_ARGUMENT);
            assert_null(ctx);
            assert_message(variables[v].name);
            assert_message(variables[v].wrong[i]);
        }
        for (size_t i = 0; i < 8 && variables[v].right[i] != NULL; i++) {
            setenv(variables[v].name, variables[v].right[i], 1);
            krf_context_options o = krf_context_options_default();
            o.device = "cpu";
            assert_ok(krf_context_create(&o, &ctx));
            krf_context_destroy(ctx);
            ctx = NULL;
        }
        kept != NULL ? setenv(variables[v].name, kept, 1) : unsetenv(variables[v].name);
        free(kept);
    }
}

static void test_context_options(void **state) {
    (void)state;
    static const char *const wrong[] = {"gpu", "cuda:", "cuda:x", "cuda1", "", "cpu:0"};
    krf_context_options o = options_of(KRF_CPU_INTERPRET);
    krf_context *ctx = (krf_context *)&o;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.device = wrong[i];
        assert_int_equal(krf_context_create(&o, &ctx), KRF_E_ARGUMENT);
        assert_null(ctx);
    }
    assert_int_equal(krf_context_create(&o, NULL), KRF_E_ARGUMENT);
    o = options_of(KRF_CPU_INTERPRET);
    o.size = 0;
    assert_int_equal(krf_context_create(&o, &ctx), KRF_E_ARGUMENT);
    o = options_of(KRF_CPU_INTERPRET);
    o.threads = -1;
    assert_int_equal(krf_context_create(&o, &ctx), KRF_E_ARGUMENT);
    o = options_of(KRF_CPU_INTERPRET);
    o.device = "cuda";
    o.cuda_driver = "/nonexistent/libcuda.so";
    assert_int_equal(krf_context_create(&o, &ctx), KRF_E_DEVICE);
    assert_message("/nonexistent/libcuda.so");
    o.device = "auto";
    assert_ok(krf_context_create(&o, &ctx));
    krf_device_info info = {.size = sizeof info};
    assert_ok(krf_context_device(ctx, &info));
    assert_false(info.is_cuda);
    assert_non_null(info.name);
    assert_int_equal(info.multiprocessors, 4);
    memset(&info, 0x55, sizeof info); /* an older caller, whose struct ends after the name */
    info.size = offsetof(krf_device_info, arch);
    const char *arch = info.arch;
    assert_ok(krf_context_device(ctx, &info));
    assert_ptr_equal(info.arch, arch);
    info.size = 0;
    assert_int_equal(krf_context_device(ctx, &info), KRF_E_ARGUMENT);
    assert_ok(krf_context_synchronize(ctx));
    krf_context_destroy(ctx);
    krf_context_destroy(NULL);
    o.size = offsetof(krf_context_options, threads); /* an older caller */
    assert_ok(krf_context_create(&o, &ctx));
    krf_context_destroy(ctx);
}

/* ---- evaluation ---- */

static void test_example(void **state) {
    (void)state;
    for (int tier = 0; tier < 3; tier++) {
        enum { N = 1000 };
        float data[N];
        krf_context *ctx = open_tier((krf_cpu_tier)tier);
        krf_array *a = NULL, *out = NULL;
        for (int i = 0; i < N; i++) {
            data[i] = (float)(i - N / 2) * 0.05f;
        }
        assert_ok(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){N}, data, &a));
        krf_graph *g = krf_graph_create(ctx);
        assert_ok(krf_eval(softplus(krf_input(g, a)), &out));
        assert_string_equal(krf_graph_error(g), "");
        krf_graph_destroy(g);
        float *result = floats(out);
        for (int i = 0; i < N; i++) {
            double x = (double)data[i], expected = fmax(x, 0) + log1p(exp(-fabs(x)));
            assert_true(fabs((double)result[i] - expected) <= 1e-6 * (1 + expected));
        }
        free(result);
        krf_array_release(a);
        krf_array_release(out);
        krf_context_destroy(ctx);
    }
}

static void test_many(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_array *a = iota(ctx, 2, (int64_t[]){3, 4}), *out[5] = {0};
    krf_graph *g = krf_graph_create(ctx);
    krf_expr x = krf_input(g, a), s = krf_sum(x, 1, (int[]){1}, false);
    krf_expr xs[5] = {krf_add(x, krf_scalar(g, 1)), s, krf_mean(x, 0, NULL, false), x, s};
    assert_ok(krf_eval_many(5, xs, out));
    assert_floats(out[0], 12, (float[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    assert_floats(out[1], 3, (float[]){6, 22, 38});
    assert_floats(out[4], 3, (float[]){6, 22, 38});
    assert_ptr_not_equal(out[1], out[4]);
    assert_true(scalar_of(out[2]) == 5.5);
    assert_floats(out[3], 12, (float[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    assert_ptr_not_equal(out[3], a);
    for (int k = 0; k < 5; k++) {
        krf_array_release(out[k]);
    }
    assert_ok(krf_eval_many(0, NULL, NULL));
    assert_int_equal(krf_eval_many(1, NULL, NULL), KRF_E_ARGUMENT);
    krf_array_release(a);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

/* Unsigned integers of C, and what krf_scalar makes of every type. */
static void test_unsigned_scalars(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    const uint64_t ends[2] = {5, UINT64_MAX - 1};
    uint64_t got[2] = {0};
    krf_array *a = NULL, *out = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_U64, 1, (int64_t[]){2}, ends, &a));
    krf_expr x = krf_input(g, a);
    assert_ok(krf_eval(krf_maximum(x, krf_scalar(g, UINT64_MAX)), &out));
    assert_ok(krf_array_to_host(out, got, sizeof got));
    assert_true(got[0] == UINT64_MAX && got[1] == UINT64_MAX);
    assert_ok(krf_eval(krf_minimum(x, krf_uint(g, UINT64_C(1) << 63)), &out));
    assert_ok(krf_array_to_host(out, got, sizeof got));
    assert_true(got[0] == 5 && got[1] == UINT64_C(9223372036854775808));
    krf_array_release(out);
    assert_int_equal(krf_expr_dtype(krf_uint(g, UINT64_MAX)), KRF_U64);
    assert_true(krf_expr_weak(krf_uint(g, UINT64_MAX)));
    assert_int_equal(krf_expr_dtype(krf_uint(g, INT64_MAX)), KRF_I64);
    assert_int_equal(krf_expr_dtype(krf_scalar(g, (size_t)3)), KRF_I64);
    assert_int_equal(krf_expr_dtype(krf_scalar(g, 3000000000u)), KRF_I64);
    assert_int_equal(krf_expr_dtype(krf_scalar(g, true)), KRF_I64);
    assert_int_equal(krf_expr_dtype(krf_scalar(g, 3.0L)), KRF_F64);
    assert_int_equal(krf_graph_status(g), KRF_OK);
    assert_false(krf_expr_ok(krf_add(krf_cast(krf_int(g, 1), KRF_I64), krf_uint(g, UINT64_MAX))));
    assert_int_equal(krf_graph_status(g), KRF_E_DTYPE);
    assert_false(krf_expr_ok(krf_uint(NULL, 1)) || krf_expr_ok(krf_uint(NULL, UINT64_MAX)));
    krf_array_release(a);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

static void test_weak_results(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_expr i = krf_add(krf_int(g, 40), krf_int(g, 2)), f = krf_multiply(krf_real(g, 1.25), krf_int(g, 4));
    krf_array *out[3] = {0};
    assert_true(krf_expr_weak(i));
    assert_ok(krf_eval_many(3, (krf_expr[]){i, f, krf_int(g, 7)}, out));
    assert_int_equal(krf_array_dtype(out[0]), KRF_I64);
    assert_int_equal(krf_array_dtype(out[1]), KRF_F64);
    assert_true(scalar_of(out[0]) == 42 && scalar_of(out[1]) == 5 && scalar_of(out[2]) == 7);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(krf_array_rank(out[k]), 0);
        krf_array_release(out[k]);
    }
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

/* ---- outputs that are given ---- */

static void test_given_outputs(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_array *a = iota1(ctx, 6), *b = iota1(ctx, 6), *out = NULL, *wrong = NULL;
    assert_ok(krf_array_create(ctx, KRF_F32, 1, (int64_t[]){6}, &out));
    krf_graph *g = krf_graph_create(ctx);
    krf_expr sum = krf_add(krf_input(g, a), krf_input(g, b));
    krf_array *given = out;
    assert_ok(krf_eval(sum, &given));
    assert_ptr_equal(given, out);
    assert_floats(out, 6, (float[]){0, 2, 4, 6, 8, 10});
    /* in place: one kernel, no copy */
    given = a;
    assert_ok(krf_eval(sum, &given));
    assert_floats(a, 6, (float[]){0, 2, 4, 6, 8, 10});
    assert_ok(krf_eval(sum, &given)); /* read again when evaluated */
    assert_floats(a, 6, (float[]){0, 3, 6, 9, 12, 15});
    /* what does not fit */
    assert_ok(krf_array_create(ctx, KRF_F64, 1, (int64_t[]){6}, &wrong));
    given = wrong;
    assert_int_equal(krf_eval(sum, &given), KRF_E_DTYPE);
    assert_ptr_equal(given, wrong);
    assert_message("output 0: the result is f32, the array that was given is f64");
    krf_array_release(wrong);
    wrong = iota1(ctx, 5);
    assert_int_equal(krf_eval(sum, &wrong), KRF_E_SHAPE);
    assert_message("(6,)");
    assert_message("(5,)");
    krf_array_release(wrong);
    krf_context *other = open_context();
    wrong = iota1(other, 6);
    assert_int_equal(krf_eval(sum, &wrong), KRF_E_ARGUMENT);
    krf_array_release(wrong);
    krf_context_destroy(other);
    /* elements that share memory */
    assert_ok(krf_array_view(a, 2, (int64_t[]){2, 6}, (int64_t[]){0, 1}, 0, &wrong));
    krf_expr tall = krf_broadcast_to(sum, 2, (int64_t[]){2, 6});
    assert_int_equal(krf_eval(tall, &wrong), KRF_E_ARGUMENT);
    krf_array_release(wrong);
    krf_graph_destroy(g);
    krf_array_release(a);
    krf_array_release(b);
    krf_array_release(out);
    krf_context_destroy(ctx);
}

static void test_overlap(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_array *a = iota1(ctx, 8), *low = NULL, *high = NULL, *back = NULL;
    assert_ok(krf_array_view(a, 1, (int64_t[]){7}, NULL, 0, &low));
    assert_ok(krf_array_view(a, 1, (int64_t[]){7}, NULL, 1, &high));
    assert_ok(krf_array_view(a, 1, (int64_t[]){8}, (int64_t[]){-1}, 7, &back));
    krf_array *given = high; /* a[1:] = a[:-1] + a[1:] */
    assert_ok(krf_eval(krf_add(krf_input(g, low), krf_input(g, high)), &given));
    assert_floats(a, 8, (float[]){0, 1, 3, 5, 7, 9, 11, 13});
    given = a; /* a = a[::-1], and twice that */
    assert_ok(krf_eval(krf_input(g, back), &given));
    assert_floats(a, 8, (float[]){13, 11, 9, 7, 5, 3, 1, 0});
    given = back;
    assert_ok(krf_eval(krf_add(krf_input(g, a), krf_scalar(g, 1)), &given));
    assert_floats(a, 8, (float[]){1, 2, 4, 6, 8, 10, 12, 14});
    /* x -= mean(x): the sum reads all of it */
    given = a;
    krf_expr x = krf_input(g, a);
    assert_ok(krf_eval(krf_subtract(x, krf_mean(x, 0, NULL, false)), &given));
    assert_floats(a, 8, (float[]){-6.125f, -5.125f, -3.125f, -1.125f, 0.875f, 2.875f, 4.875f, 6.875f});
    krf_array_release(low);
    krf_array_release(high);
    krf_array_release(back);
    krf_array_release(a);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

/* What krf_eval_many says, and a plan too where both outputs are in C order. */
static krf_status run_two(krf_graph *g, krf_expr first, krf_expr second, krf_array *x, krf_array *y) {
    krf_expr both[2] = {first, second};
    krf_array *outputs[2] = {x, y};
    krf_plan *plan = NULL;
    krf_status status = krf_eval_many(2, both, outputs);
    if (krf_array_rank(x) == 1 && krf_array_strides(x)[0] == 1 && krf_array_strides(y)[0] == 1) {
        assert_ok(krf_compile(g, 2, both, NULL, &plan));
        assert_int_equal(krf_plan_run(plan, NULL, 0, NULL, outputs), status);
        krf_plan_release(plan);
    }
    return status;
}

static void test_outputs_that_share(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_array *w = iota1(ctx, 12), *low, *high, *even, *odd, *left, *right, *third, *back;
    krf_expr x = krf_cast(krf_arange(g, 0, 6, 1), KRF_F32), y = krf_add(x, krf_int(g, 100));
    krf_expr x2 = krf_reshape(x, 2, (int64_t[]){3, 2}), y2 = krf_reshape(y, 2, (int64_t[]){3, 2});
    assert_ok(krf_array_view(w, 1, (int64_t[]){6}, NULL, 0, &low));
    assert_ok(krf_array_view(w, 1, (int64_t[]){6}, NULL, 3, &high));
    assert_int_equal(run_two(g, x, y, low, low), KRF_E_ARGUMENT);
    assert_message("outputs 0 and 1 share memory");
    assert_int_equal(run_two(g, x, y, high, low), KRF_E_ARGUMENT);
    assert_message("outputs 0 and 1 share memory");
    assert_floats(w, 12, (float[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}); /* nothing was written */
    krf_array_release(high);
    assert_ok(krf_array_view(w, 1, (int64_t[]){6}, NULL, 6, &high));
    assert_ok(run_two(g, x, y, low, high));
    assert_floats(w, 12, (float[]){0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105});
    /* elements of one between those of the other */
    assert_ok(krf_array_view(w, 1, (int64_t[]){6}, (int64_t[]){2}, 0, &even));
    assert_ok(krf_array_view(w, 1, (int64_t[]){6}, (int64_t[]){2}, 1, &odd));
    assert_ok(run_two(g, x, y, even, odd));
    assert_floats(w, 12, (float[]){0, 100, 1, 101, 2, 102, 3, 103, 4, 104, 5, 105});
    assert_ok(krf_array_view(w, 2, (int64_t[]){3, 2}, (int64_t[]){4, 1}, 0, &left));
    assert_ok(krf_array_view(w, 2, (int64_t[]){3, 2}, (int64_t[]){4, 1}, 2, &right));
    assert_ok(run_two(g, x2, y2, left, right));
    assert_floats(w, 12, (float[]){0, 1, 100, 101, 2, 3, 102, 103, 4, 5, 104, 105});
    assert_ok(krf_array_view(w, 2, (int64_t[]){3, 2}, (int64_t[]){4, 1}, 1, &third));
    assert_int_equal(run_two(g, x2, y2, left, third), KRF_E_ARGUMENT);
    assert_int_equal(run_two(g, x2, y2, third, right), KRF_E_ARGUMENT);
    assert_ok(krf_array_view(w, 1, (int64_t[]){6}, (int64_t[]){-2}, 11, &back));
    assert_ok(run_two(g, x, y, even, back));
    assert_floats(w, 12, (float[]){0, 105, 1, 104, 2, 103, 3, 102, 4, 101, 5, 100});
    assert_int_equal(run_two(g, x, y, odd, back), KRF_E_ARGUMENT);
    krf_array *all[] = {w, low, high, even, odd, left, right, third, back};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krf_array_release(all[i]);
    }
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

static void test_strided_outputs(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_array *all = iota(ctx, 2, (int64_t[]){4, 6}), *x = iota(ctx, 2, (int64_t[]){3, 2}), *column = NULL,
              *turned = NULL, *row = NULL;
    assert_ok(krf_array_view(all, 2, (int64_t[]){3, 2}, (int64_t[]){6, 3}, 1, &column));
    krf_array *given = column;
    assert_ok(krf_eval(krf_negative(krf_input(g, x)), &given));
    assert_floats(column, 6, (float[]){0, -1, -2, -3, -4, -5});
    assert_floats(all, 24,
                  (float[]){0, 0, 2, 3, -1, 5, 6, -2, 8, 9, -3, 11, 12, -4, 14, 15, -5, 17, 18, 19, 20, 21, 22, 23});
    /* in place through other strides of the same memory */
    assert_ok(krf_array_view(x, 2, (int64_t[]){2, 3}, (int64_t[]){1, 2}, 0, &turned));
    given = turned;
    assert_ok(krf_eval(krf_add(krf_transpose(krf_input(g, x), NULL), krf_scalar(g, 10)), &given));
    assert_floats(x, 6, (float[]){10, 11, 12, 13, 14, 15});
    given = turned; /* a real conflict, and strides */
    assert_ok(krf_eval(krf_flip(krf_transpose(krf_input(g, x), NULL), 1), &given));
    assert_floats(x, 6, (float[]){14, 15, 12, 13, 10, 11});
    /* a reduction into strides */
    assert_ok(krf_array_view(all, 1, (int64_t[]){3}, (int64_t[]){6}, 0, &row));
    given = row;
    assert_ok(krf_eval(krf_sum(krf_input(g, x), 1, (int[]){1}, false), &given));
    assert_floats(row, 3, (float[]){29, 25, 21});
    krf_array_release(row);
    krf_array_release(turned);
    krf_array_release(column);
    krf_array_release(x);
    krf_array_release(all);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

/* ---- arrays ---- */

static void count_call(void *user) { ++*(int *)user; }

static void test_wrap_and_view(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_array *a = NULL, *v = NULL, *w = NULL;
    if (!on_gpu()) {
        float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        int calls = 0;
        assert_ok(
            krf_array_wrap(ctx, KRF_F32, 2, (int64_t[]){2, 2}, (int64_t[]){-4, 2}, memory + 5, count_call, &calls, &a));
        assert_floats(a, 4, (float[]){5, 7, 1, 3});
        assert_ok(krf_array_view(a, 1, (int64_t[]){4}, (int64_t[]){2}, -4, &v));
        assert_floats(v, 4, (float[]){1, 3, 5, 7});
        krf_array_release(a);
        assert_int_equal(calls, 0);
        assert_int_equal(krf_array_view(v, 1, (int64_t[]){5}, (int64_t[]){2}, 0, &w), KRF_E_SHAPE);
        assert_int_equal(krf_array_view(v, 1, (int64_t[]){4}, (int64_t[]){2}, -1, &w), KRF_E_SHAPE);
        assert_null(w);
        krf_array_release(v);
        assert_int_equal(calls, 1);
        assert_int_equal(krf_array_wrap(ctx, KRF_F32, 1, (int64_t[]){1}, NULL, (char *)memory + 1, NULL, NULL, &w),
                         KRF_E_ARGUMENT);
        assert_int_equal(krf_array_wrap(ctx, KRF_F32, 1, (int64_t[]){1}, NULL, NULL, NULL, NULL, &w), KRF_E_ARGUMENT);
        assert_int_equal(krf_array_wrap(ctx, KRF_F32, 2, (int64_t[]){2, 2}, (int64_t[]){INT64_MAX, INT64_MAX}, memory,
                                        NULL, NULL, &w),
                         KRF_E_SHAPE);
        assert_ok(krf_array_wrap(ctx, KRF_F32, 1, (int64_t[]){0}, NULL, NULL, count_call, &calls, &a));
        krf_array_release(a);
        assert_int_equal(calls, 2);
    }
    a = iota(ctx, 2, (int64_t[]){3, 4});
    assert_int_equal(krf_array_rank(a), 2);
    assert_int_equal(krf_array_shape(a)[1], 4);
    assert_int_equal(krf_array_strides(a)[0], 4);
    assert_ptr_equal(krf_array_context(a), ctx);
    assert_non_null(krf_array_data(a));
    assert_ok(krf_array_view(a, 2, (int64_t[]){4, 3}, (int64_t[]){1, 4}, 0, &v));
    assert_floats(v, 12, (float[]){0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    assert_ok(krf_array_create(ctx, KRF_F32, 2, (int64_t[]){4, 3}, &w));
    assert_ok(krf_array_copy(w, v));
    assert_floats(w, 12, (float[]){0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    krf_array_release(w);
    /* a copy onto itself, moved by one */
    assert_ok(krf_array_view(a, 1, (int64_t[]){11}, NULL, 1, &w));
    krf_array_release(v);
    assert_ok(krf_array_view(a, 1, (int64_t[]){11}, NULL, 0, &v));
    assert_ok(krf_array_copy(w, v));
    assert_floats(a, 12, (float[]){0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    assert_ok(krf_array_copy(w, w));
    assert_int_equal(krf_array_copy(a, w), KRF_E_SHAPE);
    assert_int_equal(krf_array_copy(NULL, w), KRF_E_ARGUMENT);
    float few[3];
    assert_int_equal(krf_array_to_host(a, few, sizeof few), KRF_E_ARGUMENT);
    assert_message("48");
    krf_array_release(a);
    assert_int_equal(krf_array_create(ctx, KRF_F32, 1, (int64_t[]){-1}, &a), KRF_E_SHAPE);
    assert_null(a);
    assert_int_equal(krf_array_create(ctx, KRF_F32, 2, (int64_t[]){INT64_MAX, 2}, &a), KRF_E_SHAPE);
    assert_int_equal(krf_array_create(ctx, (krf_dtype)77, 0, NULL, &a), KRF_E_ARGUMENT);
    assert_int_equal(krf_array_create(ctx, KRF_F32, KRF_MAX_RANK + 1, NULL, &a), KRF_E_ARGUMENT);
    assert_int_equal(krf_array_create(ctx, KRF_F32, 1, (int64_t[]){(int64_t)1 << 55}, &a), KRF_E_MEMORY);
    assert_null(a);
    assert_int_equal(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){4}, NULL, &a), KRF_E_ARGUMENT);
    assert_null(a);
    krf_array_release(NULL);
    assert_null(krf_array_retain(NULL));
    krf_array_release(v);
    krf_array_release(w);
    krf_context_destroy(ctx);
}

static void test_unaligned(void **state) {
    (void)state;
    for (int tier = 0; tier < 2; tier++) {
        krf_context *ctx = open_tier((krf_cpu_tier)tier);
        krf_graph *g = krf_graph_create(ctx);
        krf_array *a = iota1(ctx, 1001), *v = NULL, *out = NULL, *sum = NULL, *to = NULL;
        assert_ok(krf_array_view(a, 1, (int64_t[]){1000}, NULL, 1, &v));
        krf_expr x = krf_add(krf_input(g, v), krf_scalar(g, 1));
        assert_ok(krf_eval(x, &out));
        float *data = floats(out);
        for (int i = 0; i < 1000; i++) {
            assert_true(data[i] == (float)(i + 2));
        }
        free(data);
        krf_array_release(out);
        assert_ok(krf_eval(krf_sum(x, 0, NULL, false), &sum));
        assert_true(scalar_of(sum) == 501500);
        krf_array_release(sum);
        /* a plan compiled for any array, run with one that starts between borders, and written to one */
        krf_expr p = krf_placeholder(g, "p", KRF_F32, 1, (int64_t[]){1000});
        krf_expr y = krf_multiply(p, krf_scalar(g, 3));
        krf_plan *plan = NULL;
        assert_ok(krf_compile(g, 1, &y, NULL, &plan));
        krf_binding b = krf_bind_array("p", v);
        out = NULL;
        assert_ok(krf_plan_run(plan, NULL, 1, &b, &out));
        to = v;
        assert_ok(krf_plan_run(plan, NULL, 1, &b, &to));
        data = floats(v);
        float *made = floats(out);
        assert_memory_equal(data, made, 1000 * sizeof *data);
        assert_true(data[0] == 3 && data[999] == 3000);
        free(data);
        free(made);
        krf_array_release(out);
        krf_plan_release(plan);
        krf_array_release(v);
        krf_array_release(a);
        krf_graph_destroy(g);
        krf_context_destroy(ctx);
    }
}

/* Masks of 0 and 255 are common, and bytes of any value are true in C. */
static void test_bools_from_host(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_array *mask = NULL, *out[3] = {0};
    unsigned char bytes[5];
    int64_t sum;
    assert_ok(krf_array_from_host(ctx, KRF_BOOL, 1, (int64_t[]){5}, (unsigned char[]){0, 1, 2, 255, 128}, &mask));
    assert_ok(krf_array_to_host(mask, bytes, sizeof bytes));
    assert_memory_equal(bytes, ((unsigned char[]){0, 1, 1, 1, 1}), sizeof bytes);
    krf_expr x = krf_input(g, mask);
    assert_ok(krf_eval_many(3, (krf_expr[]){krf_sum(x, 0, NULL, false), krf_bitwise_xor(x, krf_flip(x, 0)), krf_equal(x, krf_int(g, 1))}, out));
    assert_ok(krf_array_to_host(out[0], &sum, sizeof sum));
    assert_true(sum == 4);
    assert_ok(krf_array_to_host(out[1], bytes, sizeof bytes));
    assert_memory_equal(bytes, ((unsigned char[]){1, 0, 0, 0, 1}), sizeof bytes);
    assert_ok(krf_array_to_host(out[2], bytes, sizeof bytes));
    assert_memory_equal(bytes, ((unsigned char[]){0, 1, 1, 1, 1}), sizeof bytes);
    for (int k = 0; k < 3; k++) {
        krf_array_release(out[k]);
    }
    krf_array_release(mask);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

static void test_shapes(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_array *empty = NULL, *out[4] = {0};
    assert_ok(krf_array_from_host(ctx, KRF_F32, 2, (int64_t[]){3, 0}, NULL, &empty));
    assert_null(krf_array_data(empty));
    krf_expr x = krf_input(g, empty);
    assert_ok(krf_eval_many(4,
                            (krf_expr[]){krf_add(x, x), krf_sum(x, 1, (int[]){1}, false), krf_mean(x, 0, NULL, false),
                                         krf_sum(x, 1, (int[]){0}, false)},
                            out));
    assert_int_equal(krf_array_size(out[0]), 0);
    assert_null(krf_array_data(out[0]));
    assert_ok(krf_array_to_host(out[0], NULL, 0));
    assert_floats(out[1], 3, (float[]){0, 0, 0});
    assert_true(isnan(scalar_of(out[2])));
    assert_int_equal(krf_array_size(out[3]), 0);
    assert_ok(krf_array_copy(out[0], empty));
    for (int k = 0; k < 4; k++) {
        krf_array_release(out[k]);
    }
    krf_array_release(empty);
    /* rank 0 */
    krf_array *zero = NULL, *r = NULL;
    double value = 2.5;
    assert_ok(krf_array_from_host(ctx, KRF_F64, 0, NULL, &value, &zero));
    assert_ok(krf_eval(krf_multiply(krf_input(g, zero), krf_real(g, 4.0)), &r));
    assert_int_equal(krf_array_rank(r), 0);
    assert_true(scalar_of(r) == 10);
    krf_array_release(r);
    krf_array_release(zero);
    /* rank 8, turned and sliced */
    int64_t shape[8] = {2, 3, 2, 2, 3, 2, 2, 3};
    int axes[8] = {7, 0, 6, 1, 5, 2, 4, 3};
    krf_array *a = iota(ctx, 8, shape);
    krf_range ranges[8] = {{2, KRF_NONE, -1},        {0, 2, 1}, {1, 2, 1}, {0, 3, 2},
                           {KRF_NONE, KRF_NONE, -1}, {0, 2, 1}, {0, 3, 2}, {0, 2, 1}};
    krf_expr e = krf_slice(krf_transpose(krf_input(g, a), axes), 8, ranges);
    r = NULL;
    assert_ok(krf_eval(krf_add(e, krf_scalar(g, 1)), &r));
    assert_int_equal(krf_array_rank(r), 8);
    float *data = floats(r);
    int64_t strides[8], at = 0;
    for (int i = 7, step = 1; i >= 0; step *= (int)shape[i--]) {
        strides[i] = step;
    }
    const int64_t *s = krf_array_shape(r), start[8] = {2, 0, 1, 0, 1, 0, 0, 0}, step[8] = {-1, 1, 1, 2, -1, 1, 2, 1};
    int64_t index[8] = {0};
    for (;; at++) {
        int64_t from = 0;
        for (int k = 0; k < 8; k++) {
            from += (start[k] + step[k] * index[k]) * strides[axes[k]];
        }
        assert_true(data[at] == (float)(from + 1));
        int k = 7;
        while (k >= 0 && ++index[k] == s[k]) {
            index[k--] = 0;
        }
        if (k < 0) {
            break;
        }
    }
    assert_int_equal(at + 1, krf_array_size(r));
    free(data);
    krf_array_release(r);
    krf_array_release(a);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

static void test_large_graphs(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_array *a = iota1(ctx, 100), *out = NULL, *many[500];
    krf_expr x = krf_input(g, a), one = krf_int(g, 1);
    for (int i = 0; i < 10000; i++) {
        x = i % 2 == 0 ? krf_add(x, one) : krf_maximum(krf_negative(x), krf_negative(krf_negative(krf_negative(x))));
    }
    assert_ok(krf_eval(x, &out));
    float *data = floats(out), expected = 7;
    for (int i = 0; i < 10000; i++) {
        expected = i % 2 == 0 ? expected + 1 : -expected;
    }
    assert_true(data[7] == expected);
    free(data);
    krf_array_release(out);
    krf_graph_reset(g);
    assert_false(krf_expr_ok(x));
    for (int i = 0; i < 500; i++) {
        many[i] = iota1(ctx, 10);
        krf_expr term = krf_multiply(krf_input(g, many[i]), krf_int(g, i));
        x = i == 0 ? term : krf_add(x, term);
    }
    out = NULL;
    assert_ok(krf_eval(x, &out));
    data = floats(out);
    assert_true(data[9] == 9 * 124750.0f);
    free(data);
    for (int i = 0; i < 500; i++) {
        krf_array_release(many[i]);
    }
    krf_array_release(out);
    krf_array_release(a);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

/* ---- plans ---- */

static void test_plans(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_array *fixed = iota1(ctx, 4);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){4}), s = krf_placeholder(g, "s", KRF_F32, 0, NULL);
    krf_expr w = krf_placeholder_weak(g, NULL, KRF_I64);
    krf_expr ys[2] = {krf_add(krf_multiply(x, s), krf_multiply(krf_input(g, fixed), w)), krf_sum(x, 0, NULL, false)};
    krf_plan *plan = NULL;
    assert_ok(krf_compile(g, 2, ys, NULL, &plan));
    krf_graph_destroy(g);
    krf_array_release(fixed);
    assert_int_equal(krf_plan_placeholders(plan), 3);
    assert_string_equal(krf_plan_placeholder_name(plan, 0), "x");
    assert_null(krf_plan_placeholder_name(plan, 2));
    assert_null(krf_plan_placeholder_name(plan, 3));
    assert_int_equal(krf_plan_outputs(plan), 2);
    assert_in_range(krf_plan_kernels(plan), 1, 2);
    krf_array *data = iota1(ctx, 4), *out[2] = {0}, *rank0 = NULL;
    krf_binding by_position[3] = {krf_bind_array(NULL, data), krf_bind_real(NULL, 0.5), krf_bind_int(NULL, 10)};
    assert_ok(krf_plan_run(plan, NULL, 3, by_position, out));
    assert_floats(out[0], 4, (float[]){0, 10.5f, 21, 31.5f});
    assert_true(scalar_of(out[1]) == 6);
    krf_array *first = out[0];
    krf_binding by_name[3] = {krf_bind_int("s", 2), krf_bind_array("x", data), krf_bind_int(NULL, 100)};
    assert_ok(krf_plan_run(plan, NULL, 3, by_name, out)); /* written in place */
    assert_ptr_equal(out[0], first);
    assert_floats(out[0], 4, (float[]){0, 102, 204, 306});
    float half = 0.5f;
    assert_ok(krf_array_from_host(ctx, KRF_F32, 0, NULL, &half, &rank0));
    by_name[0] = krf_bind_array("s", rank0);
    assert_ok(krf_plan_run(plan, NULL, 3, by_name, out));
    assert_floats(out[0], 4, (float[]){0, 100.5f, 201, 301.5f});
    krf_array *in_place[2] = {data, out[1]}; /* two kernels: the sum must see the old values */
    assert_ok(krf_plan_run(plan, NULL, 3, by_name, in_place));
    assert_floats(data, 4, (float[]){0, 100.5f, 201, 301.5f});
    assert_true(scalar_of(out[1]) == 6);
    for (int i = 0; i < krf_plan_kernels(plan); i++) {
        krf_kernel_info info = {.size = sizeof info};
        assert_ok(krf_plan_kernel(plan, i, &info));
        assert_non_null(strstr(info.source, info.name));
        assert_true(info.operations > 0 && info.elements == 4 && info.bytes_read > 0 && info.bytes_written > 0);
        assert_true(i == 0 ? info.cut[0] == '\0' : info.cut[0] != '\0');
        assert_true(on_gpu() ? info.registers > 0 : info.registers == -1);
    }
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernel(plan, 99, &info), KRF_E_ARGUMENT);
    krf_array_release(rank0);
    krf_array_release(data);
    krf_array_release(out[0]);
    krf_array_release(out[1]);
    krf_context_destroy(ctx);
    krf_plan_release(plan); /* keeps what it needs of the context */
    krf_plan_release(NULL);
}

static void test_wrong_bindings(void **state) {
    (void)state;
    krf_context *ctx = open_context(), *other = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){4, 2}), n = krf_placeholder(g, "n", KRF_I32, 0, NULL);
    krf_expr y = krf_add(x, krf_cast(n, KRF_F32));
    krf_array *out = NULL, *right = iota(ctx, 2, (int64_t[]){4, 2}), *wrong = NULL;
    krf_plan *plan = NULL;
    assert_int_equal(krf_eval(y, &out), KRF_E_ARGUMENT);
    assert_message("(x, n)");
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    krf_binding b[3] = {krf_bind_array("x", right), krf_bind_int("n", 1), krf_bind_int("m", 1)};
#define RUN(count) krf_plan_run(plan, NULL, count, b, &out)
    assert_int_equal(RUN(1), KRF_E_ARGUMENT);
    assert_message("n: not bound");
    assert_int_equal(RUN(3), KRF_E_ARGUMENT);
    assert_message("m: the plan has no placeholder of this name; it has x, n");
    b[2] = krf_bind_int(NULL, 1);
    assert_int_equal(RUN(3), KRF_E_ARGUMENT);
    b[2] = krf_bind_int("n", 1);
    assert_int_equal(RUN(3), KRF_E_ARGUMENT);
    assert_message("n: bound twice");
    b[1] = krf_bind_real("n", 1);
    assert_int_equal(RUN(2), KRF_E_DTYPE);
    b[1] = krf_bind_int("n", INT64_MAX);
    assert_int_equal(RUN(2), KRF_E_DTYPE);
    assert_message("out of the range of i32");
    b[1] = krf_bind_expr("n", n);
    assert_int_equal(RUN(2), KRF_E_ARGUMENT);
    b[1] = krf_bind_array("n", right);
    assert_int_equal(RUN(2), KRF_E_DTYPE);
    b[1] = krf_bind_int("n", 1);
    b[0] = krf_bind_int("x", 1);
    assert_int_equal(RUN(2), KRF_E_ARGUMENT);
    b[0] = krf_bind_array("x", NULL);
    assert_int_equal(RUN(2), KRF_E_ARGUMENT);
    assert_ok(krf_array_create(ctx, KRF_F64, 1, (int64_t[]){10}, &wrong));
    b[0] = krf_bind_array("x", wrong);
    assert_int_equal(RUN(2), KRF_E_DTYPE);
    assert_string_equal(krf_error_message(), "x: the plan was compiled for f32 (4, 2) in C order, not f64 (10,)");
    krf_array_release(wrong);
    wrong = iota(ctx, 2, (int64_t[]){2, 4});
    b[0] = krf_bind_array("x", wrong);
    assert_int_equal(RUN(2), KRF_E_SHAPE);
    assert_string_equal(krf_error_message(), "x: the plan was compiled for f32 (4, 2) in C order, not f32 (2, 4)");
    krf_array_release(wrong);
    assert_ok(krf_array_view(right, 2, (int64_t[]){4, 2}, (int64_t[]){1, 4}, 0, &wrong));
    b[0] = krf_bind_array("x", wrong);
    assert_int_equal(RUN(2), KRF_E_SHAPE);
    assert_string_equal(krf_error_message(),
                        "x: the plan was compiled for f32 (4, 2) in C order, not f32 (4, 2) with strides (1, 4)");
    b[0] = krf_bind_array("x", right);
    out = wrong;
    assert_int_equal(RUN(2), KRF_E_SHAPE);
    assert_message("not in C order");
    krf_array_release(wrong);
    out = NULL;
    wrong = iota(other, 2, (int64_t[]){4, 2});
    b[0] = krf_bind_array("x", wrong);
    assert_int_equal(RUN(2), KRF_E_ARGUMENT);
    krf_array_release(wrong);
    assert_null(out);
    b[0] = krf_bind_array("x", right);
    assert_ok(RUN(2));
    assert_floats(out, 8, (float[]){1, 2, 3, 4, 5, 6, 7, 8});
    krf_array_release(out);
    krf_plan_release(plan);
    /* a placeholder with strides */
    krf_expr t = krf_placeholder_strided(g, "t", KRF_F32, 2, (int64_t[]){2, 4}, (int64_t[]){1, 2});
    krf_expr z = krf_negative(t);
    assert_ok(krf_compile(g, 1, &z, &(krf_compile_options){.size = sizeof(krf_compile_options), .load = false}, &plan));
    assert_ok(krf_array_view(right, 2, (int64_t[]){2, 4}, (int64_t[]){1, 2}, 0, &wrong));
    krf_binding all[3] = {krf_bind_array("x", right), krf_bind_int("n", 1), krf_bind_array("t", wrong)};
    out = NULL;
    assert_ok(krf_plan_run(plan, NULL, 3, all, &out));
    assert_floats(out, 8, (float[]){0, -2, -4, -6, -1, -3, -5, -7});
    all[2] = krf_bind_array("t", right);
    assert_int_equal(krf_plan_run(plan, NULL, 3, all, &out), KRF_E_SHAPE);
    krf_array_release(wrong);
    krf_array_release(out);
    krf_array_release(right);
    krf_plan_release(plan);
    assert_int_equal(krf_plan_run(NULL, NULL, 0, NULL, &out), KRF_E_ARGUMENT);
    assert_int_equal(krf_compile(g, 0, NULL, NULL, &plan), KRF_E_ARGUMENT);
    assert_null(plan);
    krf_graph_destroy(g);
    krf_context_destroy(other);
    krf_context_destroy(ctx);
}

/* ---- errors ---- */

static void test_wrong_shapes(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    const int64_t ones[KRF_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, large[] = {6442450944, 4294967296};
    krf_array *a = iota1(ctx, 1), *out = NULL;
#define WRONG(call, word) \
    do { \
        assert_false(krf_expr_ok(call)); \
        if (strstr(krf_graph_error(g), word) == NULL) { \
            fail_msg("%s", krf_graph_error(g)); \
        } \
        krf_graph_reset(g); \
    } while (0)
    WRONG(krf_reshape(krf_input(g, a), 2, large), "there are more than 2**63 - 1 elements");
    WRONG(krf_reshape(krf_input(g, a), 1, (int64_t[]){-2}), "extents must be at least 0; one may be -1");
    WRONG(krf_reshape(krf_input(g, a), 2, NULL), "reshape: the shape is NULL");
    WRONG(krf_reshape(krf_input(g, a), KRF_MAX_RANK + 1, ones), "reshape: a rank is 0 to 16");
    WRONG(krf_broadcast_to(krf_input(g, a), 2, large), "broadcast_to: there are more than 2**63 - 1 elements");
    WRONG(krf_broadcast_to(krf_input(g, a), 2, NULL), "broadcast_to: the shape is NULL");
    WRONG(krf_placeholder(g, "x", KRF_F32, 2, large), "x: there are more than 2**63 - 1 elements");
    WRONG(krf_placeholder(g, "x", (krf_dtype)99, 0, NULL), "x: the dtype is none");
    WRONG(krf_indices(g, KRF_MAX_RANK, ones), "indices: a shape has at most 15 extents");
    WRONG(krf_random_uniform(g, 1, NULL, KRF_F32, krf_int(g, 1), krf_int(g, 0)), "random_uniform: the shape is NULL");
    WRONG(krf_expand_dims(krf_broadcast_to(krf_input(g, a), KRF_MAX_RANK, ones), 0), "expand_dims: rank 16 is the most");
#undef WRONG
    assert_int_equal(krf_array_create(ctx, KRF_F32, 1, NULL, &out), KRF_E_ARGUMENT);
    assert_message("the shape is NULL");
    krf_array_release(a);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

static void test_errors(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx), *h = krf_graph_create(ctx);
    krf_array *a = iota1(ctx, 7), *b = iota1(ctx, 1024), *out = NULL;
    krf_expr bad = krf_exp(krf_add(krf_input(g, a), krf_input(g, b)));
    assert_false(krf_expr_ok(bad));
    assert_int_equal(krf_expr_rank(bad), 0);
    assert_int_equal(krf_expr_dtype(bad), KRF_BOOL);
    assert_null(krf_expr_shape(bad));
    assert_int_equal(krf_graph_status(g), KRF_E_SHAPE);
    assert_string_equal(krf_graph_error(g), "add: shapes (7,) and (1024,) do not broadcast");
    assert_int_equal(krf_eval(bad, &out), KRF_E_SHAPE);
    assert_null(out);
    assert_string_equal(krf_error_message(), krf_graph_error(g));
    krf_plan *plan = NULL;
    assert_int_equal(krf_compile(g, 1, &bad, NULL, &plan), KRF_E_SHAPE);
    assert_null(plan);
    krf_graph_reset(g);
    assert_int_equal(krf_graph_status(g), KRF_OK);
    assert_ok(krf_eval(krf_add(krf_input(g, a), krf_input(g, a)), &out));
    krf_array_release(out);
    out = NULL;
    /* two graphs */
    krf_expr mixed = krf_add(krf_input(g, a), krf_input(h, a));
    assert_int_equal(krf_eval(mixed, &out), KRF_E_ARGUMENT);
    assert_message("different graphs");
    assert_int_equal(krf_graph_status(h), KRF_OK);
    krf_graph_reset(g);
    krf_expr pair[2] = {krf_input(g, a), krf_input(h, a)};
    krf_array *outs[2] = {0};
    assert_int_equal(krf_eval_many(2, pair, outs), KRF_E_ARGUMENT);
    /* nothing at all, and what a reset forgot */
    assert_int_equal(krf_eval((krf_expr){0}, &out), KRF_E_ARGUMENT);
    assert_int_equal(krf_eval((krf_expr){g, 0}, &out), KRF_E_ARGUMENT);
    assert_int_equal(krf_eval((krf_expr){g, 1000}, &out), KRF_E_ARGUMENT);
    krf_expr old = krf_exp(krf_exp(pair[0]));
    krf_graph_reset(g);
    assert_false(krf_expr_ok(krf_negative(old)));
    assert_int_equal(krf_graph_status(g), KRF_E_ARGUMENT);
    krf_graph_reset(g);
    assert_false(krf_expr_ok(krf_add((krf_expr){0}, (krf_expr){0})));
    assert_false(krf_expr_ok(krf_input(NULL, a)));
    assert_false(krf_expr_ok(krf_input(g, NULL)));
    krf_graph_reset(g);
    assert_false(krf_expr_ok(krf_placeholder(g, "a b", KRF_F32, 0, NULL)));
    krf_graph_reset(g);
    krf_context *other = open_context();
    krf_array *foreign = iota1(other, 7);
    assert_false(krf_expr_ok(krf_input(g, foreign)));
    krf_array_release(foreign);
    krf_context_destroy(other);
    krf_graph *orphan = krf_graph_create(NULL);
    assert_int_equal(krf_graph_status(orphan), KRF_E_ARGUMENT);
    krf_graph_destroy(orphan);
    krf_graph_destroy(NULL);
    krf_array_release(a);
    krf_array_release(b);
    krf_graph_destroy(g);
    krf_graph_destroy(h);
    krf_context_destroy(ctx);
}

static void test_nil_graph(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_array *a = iota1(ctx, 4), *out = NULL;
    krf__mem_fail_at(1);
    krf_graph *g = krf_graph_create(ctx);
    krf__mem_fail_at(0);
    assert_non_null(g);
    assert_int_equal(krf_graph_status(g), KRF_E_MEMORY);
    assert_string_equal(krf_graph_error(g), "out of host memory");
    krf_expr all[] = {krf_input(g, a),
                      krf_int(g, 3),
                      krf_real(g, 1.5),
                      krf_placeholder(g, "x", KRF_F32, 0, NULL),
                      krf_placeholder_weak(g, NULL, KRF_F64),
                      krf_cast(krf_input(g, a), KRF_F64),
                      krf_sum((krf_expr){g, 1}, 0, NULL, false),
                      krf_add((krf_expr){g, 0}, (krf_expr){g, 0}),
                      krf_transpose((krf_expr){g, 0}, NULL),
                      krf_flip((krf_expr){g, 0}, 0),
                      krf_take((krf_expr){g, 0}, (krf_expr){g, 0}, 0),
                      krf_concatenate(1, (krf_expr[]){{g, 0}}, 0),
                      krf_indices(g, 2, (int64_t[]){2, 3})};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_false(krf_expr_ok(all[i]));
    }
    krf_graph_reset(g);
    assert_int_equal(krf_eval(all[0], &out), KRF_E_MEMORY);
    krf_expr y;
    assert_int_equal(krf_parse(g, "1 + 1", NULL, 0, &y), KRF_E_MEMORY);
    krf_graph_destroy(g);
    g = krf_graph_create(ctx);
    krf_binding twice[] = {krf_bind_int("n", 1), krf_bind_real("x", 2), krf_bind_real("n", 3)};
    assert_int_equal(krf_parse(g, "n + x", twice, 3, &y), KRF_E_ARGUMENT);
    assert_message("binding 2 (n) has the name of one before it");
    krf_graph_destroy(g);
    krf_array_release(a);
    krf_context_destroy(ctx);
}

static void test_parse_and_dump(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    krf_array *a = iota(ctx, 2, (int64_t[]){3, 4}), *out = NULL;
    krf_binding b[4] = {krf_bind_array("x", a), krf_bind_int("k", 2), krf_bind_real("r", 0.25),
                        krf_bind_expr("e", krf_real(g, 100))};
    krf_expr y, many[2];
    assert_ok(krf_parse(g, "x: f32[n, 4]\nreturn sum(x * k + r, axis=1) + e", b, 4, &y));
    assert_ok(krf_eval(y, &out));
    assert_floats(out, 3, (float[]){113, 145, 177});
    krf_array_release(out);
    krf_binding extent = krf_bind_int("n", 5);
    int count = 7;
    assert_ok(krf_parse_many(g, "z: f32[n]; return z + 1, n * 2", &extent, 1, 2, many, &count));
    assert_int_equal(count, 2);
    assert_int_equal(krf_expr_shape(many[0])[0], 5);
    assert_true(krf_expr_weak(many[1]));
    char *text = NULL;
    size_t size = 0;
    assert_ok(krf_dump(g, 1, many, KRF_DUMP_GRAPH, NULL, NULL, &text, &size));
    assert_int_equal(strlen(text), size);
    assert_contains(text, "f32[5]", __LINE__);
    krf_free(text);
    for (int target = 0; target < 2; target++) {
        assert_ok(krf_dump(g, 1, &y, KRF_DUMP_SOURCE, target == 0 ? "c" : "cuda", NULL, &text, &size));
        assert_contains(text, target == 0 ? "void krf_reduce_" : "__global__", __LINE__);
        krf_free(text);
    }
    assert_ok(krf_dump(g, 2, (krf_expr[]){y, many[0]}, KRF_DUMP_PLAN, NULL, NULL, &text, &size));
    assert_contains(text, "kernel 1", __LINE__);
    krf_free(text);
    assert_int_equal(krf_dump(g, 1, &y, KRF_DUMP_SOURCE, "metal", NULL, &text, &size), KRF_E_ARGUMENT);
    assert_null(text);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(krf_dump(g, 1, &y, KRF_DUMP_SOURCE, "cuda", (const char *const[]){"foo", "sm_1", "sm_90ab", ""}[i], &text, &size), KRF_E_ARGUMENT);
        assert_message("is not an architecture such as sm_90");
        assert_null(text);
    }
    assert_int_equal(krf_dump(g, 1, &y, KRF_DUMP_PTX, "c", NULL, &text, &size), KRF_E_ARGUMENT);
    assert_int_equal(krf_dump(g, 2, (krf_expr[]){y, many[0]}, KRF_DUMP_CUBIN, "cuda", NULL, &text, &size),
                     KRF_E_ARGUMENT);
    krf_status status = krf_dump(g, 1, &y, KRF_DUMP_PTX, NULL, NULL, &text, &size);
    if (status == KRF_OK) {
        assert_contains(text, ".visible .entry krf_reduce_", __LINE__);
        krf_free(text);
        assert_ok(krf_dump(g, 1, &y, KRF_DUMP_CUBIN, "cuda", "sm_90", &text, &size));
        assert_memory_equal(text, "\177ELF", 4);
        krf_free(text);
    } else {
        assert_int_equal(status, KRF_E_COMPILE); /* no NVRTC here */
    }
    krf_free(NULL);
    /* errors have a place, and are the graph's too */
    assert_int_equal(krf_parse(g, "x +* 2", b, 4, &y), KRF_E_PARSE);
    assert_false(krf_expr_ok(y));
    assert_message("line 1, column 4");
    assert_int_equal(krf_graph_status(g), KRF_E_PARSE);
    krf_graph_reset(g);
    assert_int_equal(krf_parse(g, "1, 2", NULL, 0, &y), KRF_E_PARSE);
    krf_graph_reset(g);
    b[0].name = NULL;
    assert_int_equal(krf_parse(g, "1", b, 1, &y), KRF_E_ARGUMENT);
    krf_graph_reset(g);
    assert_int_equal(krf_parse(g, NULL, NULL, 0, &y), KRF_E_ARGUMENT);
    krf_array_release(a);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

/* ---- caches ---- */

static void test_scalars_are_arguments(void **state) {
    (void)state;
    krf_context *ctx = open_tier(KRF_CPU_COMPILE);
    krf_array *a = iota1(ctx, 8), *out = NULL;
    for (int i = 0; i < 1000; i++) {
        krf_graph *g = krf_graph_create(ctx);
        krf_expr x = krf_input(g, a);
        double r = 3 + i * 0.37;
        assert_ok(krf_eval(krf_add(krf_multiply(x, krf_real(g, r)), krf_real(g, -7.25 * i - 4)), &out));
        krf_graph_destroy(g);
        if (i % 100 == 0) {
            float *data = floats(out);
            assert_true(data[3] == (float)((float)(3 * (float)r) + (float)(-7.25 * i - 4)));
            free(data);
        }
    }
    krf_cache_stats s = stats_of(ctx);
    assert_int_equal(s.compiled, 1);
    assert_int_equal(s.plan_misses, 1);
    assert_int_equal(s.plan_hits, 999);
    assert_int_equal(s.memory_hits, 999);
    krf_array_release(a);
    krf_array_release(out);
    krf_context_destroy(ctx);
}

static int64_t loaded_for(krf_context *ctx, krf_expr (*make)(krf_expr), int rank, bool columns, const char *what) {
    uint64_t seed = 12345;
    int64_t before = stats_of(ctx).compiled;
    const int64_t most = getenv("KRF_LIBCUDA") != NULL ? 1000000 : 10000000; /* a simulated GPU takes seconds for more */
    krf_graph *g = krf_graph_create(ctx);
    for (int i = 0; i < 1000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double u = (double)(seed >> 11) / 9007199254740992.0;
        int64_t n = i < 40 ? i + 1 : (int64_t)pow(10, 7 * u);
        int64_t shape[2] = {columns ? n : 3, columns ? 1 + (int64_t)(seed >> 40) % 100 : n};
        krf_plan *plan = NULL;
        krf_graph_reset(g);
        krf_expr y = make(krf_placeholder(g, "x", KRF_F32, rank, rank == 1 ? &n : shape));
        assert_ok(krf_compile(g, 1, &y, NULL, &plan));
        if (i % 25 == 0 && n < 100000 && (rank == 1 || shape[0] * shape[1] < most)) {
            krf_array *x = iota(ctx, rank, rank == 1 ? &n : shape), *out = NULL;
            krf_binding b = krf_bind_array("x", x);
            assert_ok(krf_plan_run(plan, NULL, 1, &b, &out));
            krf_array_release(x);
            krf_array_release(out);
        }
        krf_plan_release(plan);
    }
    krf_graph_destroy(g);
    int64_t made = stats_of(ctx).compiled - before;
    print_message("%s: %lld kernels for 1000 lengths\n", what, (long long)made);
    return made;
}

static krf_expr full_sum(krf_expr x) { return krf_sum(x, 0, NULL, false); }
static krf_expr row_mean(krf_expr x) { return krf_mean(x, 1, (int[]){1}, false); }
static krf_expr row_softmax(krf_expr x) {
    krf_expr e = krf_exp(krf_subtract(x, krf_max(x, 1, (int[]){1}, true)));
    return krf_divide(e, krf_sum(e, 1, (int[]){1}, true));
}

static void test_kernel_counts(void **state) {
    (void)state;
    krf_context *ctx = open_tier(KRF_CPU_COMPILE);
    assert_in_range(loaded_for(ctx, softplus, 1, false, "softplus"), 1, 2);
    assert_in_range(loaded_for(ctx, full_sum, 1, false, "sum"), 1, 3);
    assert_in_range(loaded_for(ctx, row_mean, 2, false, "row mean (3, n)"), 1, 9); /* rows of up to 32 elements have a kernel of their own on the CPU */
    assert_in_range(loaded_for(ctx, row_mean, 2, true, "row mean (n, 1..100)"), 1, 12); /* rows of 2 to 6 elements have a kernel each, on the CPU those of 2 to 9; on a GPU the first length of large arrays has one too */
    assert_in_range(loaded_for(ctx, row_softmax, 2, true, "softmax of rows (n, 1..100)"), 4, 16); /* the first four lengths have kernels of their own, and on the CPU rows of up to 32 elements */
    krf_context_destroy(ctx);
}

/* The source of a function of rows of so many elements. */
static char *source_of(krf_context *ctx, krf_expr (*make)(krf_expr), const char *target, int64_t row) {
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y = make(krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){100000, row}));
    char *text = NULL;
    size_t size = 0;
    assert_ok(krf_dump(g, 1, &y, KRF_DUMP_SOURCE, target, NULL, &text, &size));
    krf_graph_destroy(g);
    return text;
}

static krf_expr full_variance(krf_expr x) { return krf_var(x, 0, 0, NULL, false); }

/* How many elements a variance is of is no part of its text: arrays of other lengths would each wait for a compiler. */
static void test_variances_share_kernels(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    for (int i = 0; i < 2; i++) {
        char *one = source_of(ctx, full_variance, i == 0 ? "c" : "cuda", 19), *other = source_of(ctx, full_variance, i == 0 ? "c" : "cuda", 35);
        assert_string_equal(one, other);
        krf_free(one);
        krf_free(other);
    }
    krf_context_destroy(ctx);
}

/* Text in C says nothing of vectors, so that lengths which are no multiples of one do not make another; text in CUDA C does. */
static void test_c_has_no_vectors(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_expr (*const makes[])(krf_expr) = {row_mean, row_softmax};
    for (size_t i = 0; i < 4; i++) {
        const bool c = i % 2 == 0;
        char *whole = source_of(ctx, makes[i / 2], c ? "c" : "cuda", 136), *odd = source_of(ctx, makes[i / 2], c ? "c" : "cuda", 139);
        assert_int_equal(strcmp(whole, odd) == 0, c);
        krf_free(whole);
        krf_free(odd);
    }
    krf_context_destroy(ctx);
}

static void test_plan_cache_bound(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_graph *g = krf_graph_create(ctx);
    for (int round = 0; round < 2; round++) {
        for (int64_t n = 1; n <= 300; n++) {
            krf_array *a = iota1(ctx, n), *out = NULL;
            krf_graph_reset(g);
            assert_ok(krf_eval(krf_add(krf_input(g, a), krf_scalar(g, 1)), &out));
            krf_array_release(a);
            krf_array_release(out);
        }
    }
    krf_cache_stats s = stats_of(ctx);
    assert_int_equal(s.plan_hits + s.plan_misses, 600);
    assert_true(s.plan_misses > 300);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

/* Two kernels that differ in the dtype of an inner value alone: one must not be taken for the other. */
static void test_inner_dtypes(void **state) {
    (void)state;
    krf_context *ctx = open_tier(KRF_CPU_COMPILE);
    krf_graph *g = krf_graph_create(ctx);
    krf_array *x = iota1(ctx, 300), *narrow = NULL, *wide = NULL;
    float expected[2][300];
    for (int i = 0; i < 300; i++) {
        expected[0][i] = i < 128 ? (float)i : 127; /* casts clamp */
        expected[1][i] = (float)i;
    }
    assert_ok(krf_eval(krf_cast(krf_cast(krf_input(g, x), KRF_I8), KRF_F32), &narrow));
    assert_ok(krf_eval(krf_cast(krf_cast(krf_input(g, x), KRF_I16), KRF_F32), &wide));
    assert_floats(narrow, 300, expected[0]);
    assert_floats(wide, 300, expected[1]);
    krf_array_release(x);
    krf_array_release(narrow);
    krf_array_release(wide);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

static char folder[] = "/tmp/krf-test-api-XXXXXX";

static void eval_softplus(krf_context *ctx) {
    krf_array *a = iota1(ctx, 10), *out = NULL;
    krf_graph *g = krf_graph_create(ctx);
    assert_ok(krf_eval(softplus(krf_input(g, a)), &out));
    float *data = floats(out);
    assert_true(fabsf(data[9] - 9.000123f) < 1e-5f);
    free(data);
    krf_array_release(a);
    krf_array_release(out);
    krf_graph_destroy(g);
}

static void test_disk_cache(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    krf_context_options o = options_of(KRF_CPU_COMPILE);
    o.cache = KRF_CACHE_ON;
    o.cache_dir = folder;
    krf_context *ctx = NULL;
    for (int round = 0; round < 3; round++) {
        o.cpu_tier = round == 2 ? KRF_CPU_AUTO : KRF_CPU_COMPILE; /* even small work uses a kernel that is there */
        assert_ok(krf_context_create(&o, &ctx));
        eval_softplus(ctx);
        krf_cache_stats s = stats_of(ctx);
        assert_int_equal(s.compiled, round == 0);
        assert_int_equal(s.disk_hits, round > 0);
        assert_int_equal(s.interpreted, 0);
        assert_true(round > 0 ? s.disk_bytes_read > 0 : s.disk_bytes_written > 0 && s.compile_ms > 0);
        if (round == 2) { /* an entry that is whole but no kernel */
            krf_graph *g = krf_graph_create(ctx);
            krf_expr y = softplus(krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){10}));
            krf_plan *plan = NULL;
            assert_ok(krf_compile(g, 1, &y, NULL, &plan));
            krf_kernel_info info = {.size = sizeof info};
            assert_ok(krf_plan_kernel(plan, 0, &info));
            krf__str key = {0};
            krf__str_putn(&key, info.source, strlen(info.source) + 1);
            assert_ok(ctx->backend->identity(ctx->device, &key));
            krf__disk_cache_put(ctx->disk, key.data, key.length, "junk", 4);
            krf__str_free(&key);
            krf_plan_release(plan);
            krf_graph_destroy(g);
        }
        krf_context_destroy(ctx);
    }
    o.cpu_tier = KRF_CPU_COMPILE;
    for (int round = 0; round < 2; round++) {
        assert_ok(krf_context_create(&o, &ctx));
        eval_softplus(ctx);
        assert_int_equal(stats_of(ctx).compiled, round == 0);
        assert_int_equal(stats_of(ctx).disk_hits, round > 0);
        krf_context_destroy(ctx);
    }
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- tiers ---- */

static void count_line(void *user, const char *line) {
    assert_null(strchr(line, '\n'));
    if (strstr(line, "compiled in") != NULL) {
        atomic_fetch_add((atomic_int *)user, 1);
    }
}

static void test_automatic_tier(void **state) {
    (void)state;
    if (on_gpu()) {
        skip();
    }
    enum { N = 1000000 };
    atomic_int lines;
    atomic_init(&lines, 0);
    krf_context_options o = options_of(KRF_CPU_AUTO);
    o.blocking_compile = false;
    o.log = count_line;
    o.log_user = &lines;
    krf_context *ctx = NULL;
    assert_ok(krf_context_create(&o, &ctx));
    krf_array *a = iota1(ctx, N), *small = iota1(ctx, 100), *out = NULL, *first = NULL;
    krf_graph *g = krf_graph_create(ctx);
    for (int i = 0; i < 10; i++) {
        krf_array *s = NULL;
        assert_ok(krf_eval(krf_negative(krf_input(g, small)), &s));
        krf_array_release(s);
    }
    krf_cache_stats s = stats_of(ctx);
    assert_int_equal(s.compiled, 0);
    assert_int_equal(s.interpreted, 10);
    krf_expr y = softplus(krf_multiply(krf_input(g, a), krf_real(g, 1e-4)));
    assert_ok(krf_eval(y, &first)); /* the interpreter, while a thread compiles */
    assert_true(stats_of(ctx).interpreted == 11);
    for (int i = 0; i < 500 && stats_of(ctx).memory_hits == 0; i++) {
        assert_ok(krf_eval(y, &out));
        usleep(10000);
    }
    s = stats_of(ctx);
    assert_int_equal(s.compiled, 1);
    assert_true(s.memory_hits > 0);
    assert_int_equal(atomic_load(&lines), 1);
    float *interpreted = floats(first), *compiled = floats(out);
    assert_memory_equal(interpreted, compiled, N * sizeof(float));
    free(interpreted);
    free(compiled);
    krf_array_release(first);
    krf_array_release(out);
    krf_array_release(a);
    krf_array_release(small);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
    /* destroyed while it compiles */
    assert_ok(krf_context_create(&o, &ctx));
    a = iota1(ctx, N);
    g = krf_graph_create(ctx);
    out = NULL;
    assert_ok(krf_eval(krf_exp(krf_input(g, a)), &out));
    out = (krf_array_release(out), NULL);
    assert_ok(krf_eval(krf_log(krf_input(g, a)), &out));
    krf_array_release(out);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
    krf_array_release(a);
    /* blocking */
    o.blocking_compile = true;
    assert_ok(krf_context_create(&o, &ctx));
    a = iota1(ctx, N);
    g = krf_graph_create(ctx);
    out = NULL;
    assert_ok(krf_eval(softplus(krf_input(g, a)), &out));
    s = stats_of(ctx);
    assert_int_equal(s.compiled, 1);
    assert_int_equal(s.interpreted, 0);
    krf_array_release(out);
    krf_array_release(a);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
    /* a compiler that fails: the interpreter serves, but not where compiling was demanded */
    o.compiler = "/bin/false";
    for (int tier = KRF_CPU_COMPILE; tier <= KRF_CPU_AUTO; tier++) {
        o.cpu_tier = (krf_cpu_tier)tier;
        assert_ok(krf_context_create(&o, &ctx));
        a = iota1(ctx, N);
        g = krf_graph_create(ctx);
        out = NULL;
        bool usable = ctx->backend->can_compile(ctx->device);
        krf_status status = krf_eval(softplus(krf_input(g, a)), &out);
        assert_int_equal(status, tier == KRF_CPU_COMPILE && usable ? KRF_E_COMPILE : KRF_OK);
        krf_array_release(out);
        krf_array_release(a);
        krf_graph_destroy(g);
        krf_context_destroy(ctx);
    }
}

/* ---- lifetimes ---- */

static void test_destroy_with_arrays(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_array *a = iota1(ctx, 5), *v = NULL, *out = NULL;
    krf_graph *g = krf_graph_create(ctx);
    assert_ok(krf_array_view(a, 1, (int64_t[]){5}, (int64_t[]){-1}, 4, &v));
    assert_ok(krf_eval(krf_add(krf_input(g, v), krf_scalar(g, 1)), &out));
    krf_context_destroy(ctx);
    krf_array_release(a);
    assert_floats(out, 5, (float[]){5, 4, 3, 2, 1});
    assert_floats(v, 5, (float[]){4, 3, 2, 1, 0});
    krf_array_release(v);
    krf_array_release(out);
    krf_graph_destroy(g);
}

/* ---- out of memory ---- */

static krf_status whole_life(krf_context *ctx, krf_array *a, krf_array *v, float *result) {
    krf_graph *g = krf_graph_create(ctx);
    krf_array *out[2] = {0};
    krf_expr x = krf_input(g, a);
    krf_expr mean = krf_mean(x, 1, (int[]){1}, true);
    krf_expr ys[2] = {krf_subtract(softplus(x), mean), krf_add(krf_input(g, v), krf_real(g, 0.125))};
    krf_status status = krf_eval_many(2, ys, out);
    if (status == KRF_OK) {
        status = krf_array_to_host(out[0], result, 64 * sizeof *result);
    }
    if (status != KRF_OK && krf_graph_status(g) == KRF_OK) {
        assert_true(status == KRF_E_MEMORY);
    }
    krf_array_release(out[0]);
    krf_array_release(out[1]);
    /* a plan, and a given output that is in the way */
    krf_plan *plan = NULL;
    krf_expr p = krf_placeholder(g, "p", KRF_F32, 2, (int64_t[]){8, 8});
    krf_expr z = krf_add(p, krf_transpose(p, NULL));
    krf_array *given = NULL;
    status = status == KRF_OK ? krf_graph_status(g) : status;
    status = status == KRF_OK ? krf_compile(g, 1, &z, NULL, &plan) : status;
    status = status == KRF_OK ? krf_array_create(ctx, KRF_F32, 2, (int64_t[]){8, 8}, &given) : status;
    status = status == KRF_OK ? krf_array_copy(given, a) : status;
    krf_binding b = krf_bind_array("p", given);
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 1, &b, &given) : status;
    krf_kernel_info info = {.size = sizeof info};
    status = status == KRF_OK ? krf_plan_kernel(plan, 0, &info) : status;
    char *text = NULL;
    size_t size = 0;
    status = status == KRF_OK ? krf_dump(g, 1, &z, KRF_DUMP_SOURCE, "cuda", NULL, &text, &size) : status;
    krf_free(text);
    krf_array_release(given);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    return status;
}

static void test_out_of_memory(void **state) {
    (void)state;
    float expected[64] = {0}, result[64] = {0};
    krf_context *ctx = open_context();
    krf_array *a = iota(ctx, 2, (int64_t[]){8, 8}), *v = NULL;
    assert_ok(krf_array_view(a, 2, (int64_t[]){4, 8}, (int64_t[]){16, -1}, 7, &v));
    assert_ok(whole_life(ctx, a, v, expected));
    krf_array_release(a);
    krf_array_release(v);
    krf_context_destroy(ctx);
    ctx = open_context(); /* caches are cold again */
    a = iota(ctx, 2, (int64_t[]){8, 8});
    assert_ok(krf_array_view(a, 2, (int64_t[]){4, 8}, (int64_t[]){16, -1}, 7, &v));
    krf_status status = KRF_E_MEMORY;
    long n = 0;
    while (status != KRF_OK) {
        krf__mem_fail_at(++n);
        status = whole_life(ctx, a, v, result);
        krf__mem_fail_at(0);
        if (status != KRF_OK && status != KRF_E_MEMORY) {
            fail_msg("allocation %ld: %s: %s", n, krf_status_name(status), krf_error_message());
        }
        if (status != KRF_OK) { /* the next call is right */
            assert_ok(whole_life(ctx, a, v, result));
            assert_memory_equal(result, expected, sizeof result);
        }
        if (status != KRF_OK && n % (on_gpu() ? 64 : 1) == 0) { /* and the one after that finds cold caches */
            krf_array_release(a);
            krf_array_release(v);
            krf_context_destroy(ctx);
            ctx = open_context();
            a = iota(ctx, 2, (int64_t[]){8, 8});
            assert_ok(krf_array_view(a, 2, (int64_t[]){4, 8}, (int64_t[]){16, -1}, 7, &v));
        }
    }
    print_message("%ld allocations could fail\n", n - 1);
    assert_memory_equal(result, expected, sizeof result);
    krf_array_release(a);
    krf_array_release(v);
    krf_context_destroy(ctx);
    krf_context_options o = options_of(KRF_CPU_INTERPRET);
    for (n = 1, status = KRF_E_MEMORY; status != KRF_OK; n++) {
        krf__mem_fail_at(n);
        status = krf_context_create(&o, &ctx);
        krf__mem_fail_at(0);
        assert_true(status == KRF_OK || (status == KRF_E_MEMORY && ctx == NULL));
    }
    krf_context_destroy(ctx);
}

/* ---- threads ---- */

typedef struct worker {
    krf_context *ctx;
    krf_plan *plan;
    krf_array *shared;
    int number, failures;
} worker;

static void *work(void *user) {
    worker *w = user;
    for (int i = 0; i < 60; i++) {
        krf_graph *g = krf_graph_create(w->ctx);
        krf_array *out = NULL, *planned = NULL;
        krf_expr x = krf_input(g, w->shared);
        float k = (float)(w->number * 100 + i), got[2] = {0};
        krf_expr y = krf_add(krf_multiply(x, krf_real(g, (double)k)), krf_sum(x, 0, NULL, false));
        krf_binding b[2] = {krf_bind_array("x", w->shared), krf_bind_real("k", (double)k)};
        krf_array *last = NULL;
        w->failures += krf_eval(y, &out) != KRF_OK || krf_plan_run(w->plan, NULL, 2, b, &planned) != KRF_OK
                       || krf_array_view(out, 1, (int64_t[]){2}, (int64_t[]){5}, 0, &last) != KRF_OK
                       || krf_array_to_host(last, got, sizeof got) != KRF_OK || got[0] != 499500
                       || got[1] != 499500 + 5 * k;
        krf_array_release(last);
        last = NULL;
        w->failures += krf_array_view(planned, 1, (int64_t[]){2}, (int64_t[]){5}, 0, &last) != KRF_OK
                       || krf_array_to_host(last, got, sizeof got) != KRF_OK || got[0] != k || got[1] != k + 5;
        krf_array_release(last);
        krf_array_release(out);
        krf_array_release(planned);
        if (i % 10 == 0) { /* a kernel of this thread's own */
            krf_array *own = NULL;
            krf_expr z = x;
            for (int j = 0; j <= w->number; j++) {
                z = krf_sqrt(krf_add(z, krf_int(g, 1)));
            }
            w->failures += krf_eval(z, &own) != KRF_OK;
            krf_array_release(own);
        }
        krf_graph_destroy(g);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    for (int tier = 0; tier < 3; tier++) {
        krf_context_options o = options_of((krf_cpu_tier)tier);
        o.blocking_compile = false;
        krf_context *ctx = NULL;
        assert_ok(krf_context_create(&o, &ctx));
        krf_graph *g = krf_graph_create(ctx);
        krf_expr y =
            krf_add(krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){1000}), krf_placeholder(g, "k", KRF_F32, 0, NULL));
        worker workers[4];
        krf_plan *plan = NULL;
        assert_ok(krf_compile(g, 1, &y, &(krf_compile_options){.size = sizeof(krf_compile_options)}, &plan));
        krf_array *shared = iota1(ctx, 1000);
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) {
            workers[i] = (worker){.ctx = ctx, .plan = plan, .shared = shared, .number = i};
            assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(workers[i].failures, 0);
        }
        krf_array_release(shared);
        krf_plan_release(plan);
        krf_graph_destroy(g);
        krf_context_destroy(ctx);
    }
}

int main(int argc, char **argv) {
    krf_context_options o = options_of(KRF_CPU_AUTO);
    krf_context_destroy(open_or_skip(&o));
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_context_options),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_unsigned_scalars),
        cmocka_unit_test(test_weak_results),
        cmocka_unit_test(test_given_outputs),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_outputs_that_share),
        cmocka_unit_test(test_strided_outputs),
        cmocka_unit_test(test_wrap_and_view),
        cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_bools_from_host),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_large_graphs),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_wrong_bindings),
        cmocka_unit_test(test_wrong_shapes),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_nil_graph),
        cmocka_unit_test(test_parse_and_dump),
        cmocka_unit_test(test_scalars_are_arguments),
        cmocka_unit_test(test_kernel_counts),
        cmocka_unit_test(test_variances_share_kernels),
        cmocka_unit_test(test_c_has_no_vectors),
        cmocka_unit_test(test_plan_cache_bound),
        cmocka_unit_test(test_inner_dtypes),
        cmocka_unit_test(test_disk_cache),
        cmocka_unit_test(test_automatic_tier),
        cmocka_unit_test(test_destroy_with_arrays),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
