/* Memory of a context: figures, limits, the caller's allocator, and that a warm program asks nobody for memory.
 * Device: KRF_TEST_DEVICE (default "cpu"). */
#include "helpers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_says(const char *part) {
    if (strstr(krf_error_message(), part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, krf_error_message());
    }
}

static krf_context_options options(void) {
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.cache = KRF_CACHE_OFF;
    o.threads = 2;
    o.blocking_compile = true;
    return o;
}

static krf_context *open_with(const char *limit, const krf_allocator *allocator) {
    krf_context_options o = options();
    krf_context *ctx = NULL;
    o.memory_limit = limit;
    o.allocator = allocator;
    assert_ok(krf_context_create(&o, &ctx));
    return ctx;
}

static krf_memory_stats stats_of(krf_context *ctx) {
    krf_memory_stats s = {.size = sizeof s};
    assert_ok(krf_context_memory_stats(ctx, &s));
    return s;
}

static krf_array *bytes_array(krf_context *ctx, int64_t n) {
    krf_array *a = NULL;
    assert_ok(krf_array_create(ctx, KRF_U8, 1, &n, &a));
    return a;
}

static void figures(void **state) {
    (void)state;
    krf_context *ctx = open_with(NULL, NULL);
    krf_memory_stats s = stats_of(ctx);
    assert_int_equal(s.used, 0);
    assert_int_equal(s.limit, 0);
    krf_array *a = bytes_array(ctx, 100000), *b = bytes_array(ctx, 3 << 20);
    s = stats_of(ctx);
    assert_in_range(s.used, 100000 + (3 << 20), (100000 + (3 << 20)) * 9 / 8);
    assert_true(s.reserved >= s.used && s.most_used == s.used && s.most_reserved == s.reserved);
    assert_int_equal(s.allocations, 2);
    krf_array_release(a);
    krf_array_release(b);
    s = stats_of(ctx);
    assert_int_equal(s.used, 0);
    assert_true(s.most_used >= 100000 + (3 << 20) && s.reserved >= 100000 + (3 << 20));
    assert_int_equal(s.free_blocks, on_gpu() ? 2 : 0);
    a = bytes_array(ctx, 100000);
    assert_int_equal(stats_of(ctx).allocations, 2); /* it was kept */
    assert_ok(krf_context_trim(ctx));
    s = stats_of(ctx);
    assert_int_equal(s.free_blocks, 0);
    assert_in_range(s.reserved, s.used, s.used + 100000);
    krf_array_release(a);
    assert_ok(krf_context_trim(ctx));
    assert_int_equal(stats_of(ctx).reserved, 0);
    a = bytes_array(ctx, 100000);
    assert_int_equal(stats_of(ctx).allocations, 3);
    krf_array_release(a);

    assert_int_equal(krf_context_memory_stats(NULL, &s), KRF_E_ARGUMENT);
    assert_int_equal(krf_context_memory_stats(ctx, NULL), KRF_E_ARGUMENT);
    s.size = 0;
    assert_int_equal(krf_context_memory_stats(ctx, &s), KRF_E_ARGUMENT);
    assert_int_equal(krf_context_trim(NULL), KRF_E_ARGUMENT);
    krf_context_destroy(ctx);
}

/* Two kernels and a temporary, an output that is made and released, another shape between: nothing is asked of the
 * driver once it is warm. */
static void warm_runs_allocate_nothing(void **state) {
    (void)state;
    enum { RUNS = 10000, WARM = 10 };
    krf_context *ctx = open_with(NULL, NULL);
    krf_graph *g = krf_graph_create(ctx);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){3, 2});
    krf_expr y = krf_multiply(krf_subtract(x, krf_sum(x, 1, (int[]){0}, false)), krf_int(g, 2));
    krf_plan *plan = NULL;
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    static const float data[6] = {1, 2, 3, 4, 5, 6}, expected[6] = {-16, -20, -12, -16, -8, -12};
    float got[6];
    krf_array *in = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_F32, 2, (int64_t[]){3, 2}, data, &in));
    krf_binding b = krf_bind_array("x", in);
    krf_memory_stats before = {0}, after;
    for (int i = 0; i < RUNS + WARM; i++) {
        if (i == WARM) {
            before = stats_of(ctx);
        }
        krf_array *out = NULL, *other = i % 7 == 0 ? bytes_array(ctx, 5000) : NULL;
        assert_ok(krf_plan_run(plan, NULL, 1, &b, &out));
        krf_array_release(other);
        if (i % 1000 == 0 || i == RUNS + WARM - 1) {
            assert_ok(krf_array_to_host(out, got, sizeof got));
            assert_memory_equal(got, expected, sizeof got);
        }
        krf_array_release(out);
    }
    after = stats_of(ctx);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(after.reserved, before.reserved);
    assert_int_equal(after.used, before.used);
    assert_int_equal(after.most_reserved, before.most_reserved);
    krf_array_release(in);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}

/* x + 1 over n elements of f32, from a range that lies in no memory: 4 n bytes. */
static krf_status evaluate(krf_context *ctx, int64_t n, krf_array **out) {
    krf_graph *g = krf_graph_create(ctx);
    krf_status status = krf_eval(krf_cast(krf_add(krf_arange(g, 0, n, 1), krf_int(g, 1)), KRF_F32), out);
    krf_graph_destroy(g);
    return status;
}

static void limits_are_kept(void **state) {
    (void)state;
    krf_context *ctx = open_with("1M", NULL);
    assert_int_equal(stats_of(ctx).limit, 1 << 20);
    krf_array *a = bytes_array(ctx, 512 << 10), *b = NULL;
    int64_t n = 768 << 10;
    assert_int_equal(krf_array_create(ctx, KRF_U8, 1, &n, &b), KRF_E_MEMORY);
    assert_null(b);
    assert_says("786432 bytes are wanted");
    assert_says("524288 are in use");
    assert_says("1048576");
    assert_int_equal(evaluate(ctx, 192 << 10, &b), KRF_E_MEMORY); /* 768 KiB of results */
    assert_null(b);
    assert_says("786432 bytes are wanted");
    assert_ok(evaluate(ctx, 100, &b));
    float got[100];
    assert_ok(krf_array_to_host(b, got, sizeof got));
    assert_true(got[0] == 1 && got[99] == 100);
    krf_array_release(b);
    krf_array_release(a);
    b = NULL;
    assert_ok(evaluate(ctx, 192 << 10, &b)); /* what was kept of another size makes room */
    assert_true(stats_of(ctx).most_reserved <= 1 << 20);
    krf_array_release(b);
    for (int64_t size = 1; size < 1 << 20; size = size * 3 / 2 + 1) { /* every size in turn, each of which is kept */
        krf_array_release(bytes_array(ctx, size));
        assert_true(stats_of(ctx).reserved <= 1 << 20);
    }
    krf_context_destroy(ctx);
}

static void limits_are_read(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "0", "-1", "8Q", "8GB", "101%", "50%%", "G", " 8G", "1.5G", "99999999999999999999", "0%"};
    krf_context_options o = options();
    krf_context *ctx = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.memory_limit = wrong[i];
        assert_int_equal(krf_context_create(&o, &ctx), KRF_E_ARGUMENT);
        assert_null(ctx);
        assert_says("memory_limit");
    }
    static const struct {
        const char *text;
        int64_t bytes;
    } right[] = {{"123456", 123456}, {"64K", 64 << 10}, {"3M", 3 << 20}, {"8G", INT64_C(8) << 30}, {"2T", INT64_C(2) << 40}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        ctx = open_with(right[i].text, NULL);
        assert_int_equal(stats_of(ctx).limit, right[i].bytes);
        krf_context_destroy(ctx);
    }
    ctx = open_with("50%", NULL);
    krf_device_info info = {.size = sizeof info};
    assert_ok(krf_context_device(ctx, &info));
    assert_in_range(stats_of(ctx).limit, info.memory / 2 - 1, info.memory / 2 + 1);
    krf_context_destroy(ctx);

    setenv("KRF_MEMORY_LIMIT", "64M", 1);
    o = options();
    assert_ok(krf_context_create(&o, &ctx));
    assert_int_equal(stats_of(ctx).limit, 64 << 20);
    krf_context_destroy(ctx);
    setenv("KRF_MEMORY_LIMIT", "much", 1);
    o = options();
    assert_null(o.memory_limit);
    assert_int_equal(krf_context_create(&o, &ctx), KRF_E_ARGUMENT);
    assert_null(ctx);
    unsetenv("KRF_MEMORY_LIMIT");
}

/* ---- the caller's allocator: another context's memory ---- */

typedef struct lender {
    krf_context *ctx;
    pthread_mutex_t lock;
    krf_array *lent[64];
    int64_t offset; /* added to addresses: not aligned */
    int given, taken, refuse;
    void *stream;
} lender;

static void *lend(void *user, size_t bytes, void *stream) {
    lender *l = user;
    int64_t n = (int64_t)bytes + 256;
    void *data = NULL;
    pthread_mutex_lock(&l->lock);
    l->stream = stream;
    for (int i = 0; i < 64 && data == NULL && !l->refuse; i++) {
        if (l->lent[i] == NULL && krf_array_create(l->ctx, KRF_U8, 1, &n, &l->lent[i]) == KRF_OK) {
            data = (char *)krf_array_data(l->lent[i]) + l->offset;
            l->given++;
        }
    }
    pthread_mutex_unlock(&l->lock);
    krf_context_synchronize(l->ctx); /* it is on another stream there */
    return data;
}

static void take_back(void *user, void *data, size_t bytes, void *stream) {
    lender *l = user;
    krf_context_synchronize(l->ctx);
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < 64; i++) {
        if (l->lent[i] != NULL && (char *)krf_array_data(l->lent[i]) + l->offset == data
            && (size_t)krf_array_size(l->lent[i]) == bytes + 256 && stream == l->stream) {
            krf_array_release(l->lent[i]);
            l->lent[i] = NULL;
            l->taken++;
        }
    }
    pthread_mutex_unlock(&l->lock);
}

static void allocators_serve(void **state) {
    (void)state;
    lender l = {.ctx = open_with(NULL, NULL)};
    pthread_mutex_init(&l.lock, NULL);
    krf_allocator allocator = {lend, take_back, &l};
    krf_context *ctx = open_with("1M", &allocator);
    krf_array *y = NULL;
    float got[1000];
    for (int round = 0; round < 3; round++) {
        assert_ok(evaluate(ctx, 1000, &y));
        assert_ok(krf_array_to_host(y, got, sizeof got));
        assert_true(got[0] == 1 && got[999] == 1000);
        assert_int_equal(stats_of(ctx).allocations, l.given);
        krf_array_release(y);
        y = NULL;
        assert_int_equal(l.given, round + 1);
        assert_int_equal(l.taken, round + 1);
    }
    assert_int_equal(stats_of(ctx).used, 0);
    l.refuse = 1;
    assert_int_equal(evaluate(ctx, 1000, &y), KRF_E_MEMORY);
    assert_says("allocator");
    l.refuse = 0;
    assert_int_equal(evaluate(ctx, 1 << 20, &y), KRF_E_MEMORY); /* the limit holds for it too */
    assert_says("limit");
    l.offset = 64;
    assert_int_equal(evaluate(ctx, 1000, &y), KRF_E_ARGUMENT);
    assert_says("aligned");
    l.offset = 0;
    assert_ok(evaluate(ctx, 10, &y));
    krf_context_destroy(ctx);
    krf_array_release(y); /* goes back although the context was destroyed */
    assert_int_equal(l.given, l.taken);
    krf_context_destroy(l.ctx);
    pthread_mutex_destroy(&l.lock);

    krf_context_options o = options();
    allocator.deallocate = NULL;
    o.allocator = &allocator;
    assert_int_equal(krf_context_create(&o, &ctx), KRF_E_ARGUMENT);
    assert_says("deallocate is NULL");
}

int main(void) {
    krf_context_options o = options();
    krf_context_destroy(open_or_skip(&o));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures),          cmocka_unit_test(warm_runs_allocate_nothing),
        cmocka_unit_test(limits_are_kept),  cmocka_unit_test(limits_are_read),
        cmocka_unit_test(allocators_serve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
