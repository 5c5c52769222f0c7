/* Streams, events and asynchronous copies. Results must be right whatever streams the work is put on, and streams that
 * have nothing to do with each other must not wait. Device: KRF_TEST_DEVICE (default "cpu"). */
#include "helpers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static krf_context *open_context(void) {
    krf_context_options o = krf_context_options_default();
    krf_context *ctx = NULL;
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.cache = KRF_CACHE_OFF;
    o.threads = 2;
    o.blocking_compile = true;
    assert_ok(krf_context_create(&o, &ctx));
    return ctx;
}

static krf_stream *new_stream(krf_context *ctx) {
    krf_stream *s = NULL;
    assert_ok(krf_stream_create(ctx, NULL, &s));
    return s;
}

/* A function of the simulated driver, to count its calls, or of any driver; NULL where there is none. */
static void find(const char *name, void *function) {
    const char *path = getenv("KRF_LIBCUDA");
    void *library = on_gpu() ? dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    void *address = library != NULL ? dlsym(library, name) : NULL;
    memcpy(function, &address, sizeof address);
}

/* ---- plans over one array of floats ---- */

enum { N = 300000 }; /* more than a kernel keeps on the chip */

static float host[N], back[N];

/* y = x * 2 + 1, n times over: long enough for what follows too early to be noticed. */
static krf_plan *make_plan(krf_context *ctx, int times) {
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N});
    krf_plan *plan = NULL;
    for (int i = 0; i < times; i++) {
        y = krf_add(krf_multiply(y, krf_int(g, 2)), krf_int(g, 1));
    }
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

/* The same by way of a temporary: y = x - sum(x) + sum(x) takes scratch, counters and two kernels. */
static krf_plan *make_sum_plan(krf_context *ctx) {
    krf_graph *g = krf_graph_create(ctx);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), sum = krf_sum(x, 0, NULL, false);
    krf_expr y = krf_add(x, krf_subtract(sum, sum));
    krf_plan *plan = NULL;
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    assert_true(krf_plan_kernels(plan) > 1);
    krf_graph_destroy(g);
    return plan;
}

static float value(int i, int round) { return (float)(i % 100 + round); }

static void fill(int round) {
    for (int i = 0; i < N; i++) {
        host[i] = value(i, round);
    }
}

static krf_array *new_array(krf_context *ctx) {
    krf_array *a = NULL;
    int64_t n = N;
    assert_ok(krf_array_create(ctx, KRF_F32, 1, &n, &a));
    return a;
}

static void run(krf_plan *plan, void *stream, krf_array *x, krf_array **y) {
    krf_binding b = krf_bind_array("x", x);
    assert_ok(krf_plan_run(plan, stream, 1, &b, y));
}

/* Every element is f(value) after `times` times f(v) = 2 v + 1. */
static void check(const float *got, int round, int times) {
    for (int i = 0; i < N; i++) {
        float expected = value(i, round);
        for (int t = 0; t < times; t++) {
            expected = expected * 2 + 1;
        }
        if (got[i] != expected) {
            fail_msg("round %d: element %d is %g, not %g", round, i, (double)got[i], (double)expected);
        }
    }
}

static void check_array(krf_array *a, int round, int times) {
    assert_ok(krf_array_to_host(a, back, sizeof back));
    check(back, round, times);
}

/* ---- tests ---- */

static void misuse_is_told(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_stream *s = (krf_stream *)&ctx, *other = NULL;
    krf_event *e = (krf_event *)&ctx, *plain = NULL, *timed = NULL;
    krf_stream_options o = krf_stream_options_default();
    void *data = &ctx;
    bool done;
    double ms;
    assert_fails(KRF_E_ARGUMENT, krf_stream_create(NULL, NULL, &s), "context is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_stream_create(ctx, NULL, NULL), "stream is NULL");
    o.size = 0;
    assert_fails(KRF_E_ARGUMENT, krf_stream_create(ctx, &o, &s), "krf_stream_options_default");
    assert_null(s);
    assert_fails(KRF_E_ARGUMENT, krf_stream_wrap(NULL, NULL, &s), "context is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_stream_synchronize(NULL), "stream is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_stream_query(NULL, &done), "stream is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_event_create(NULL, true, &e), "context is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_event_create(ctx, true, NULL), "event is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_event_record(NULL, NULL), "event is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_event_wait(NULL, NULL), "event is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_event_synchronize(NULL), "event is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_event_query(NULL, &done), "event is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_host_allocate(NULL, 1, &data), "context is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_host_allocate(ctx, 0, &data), "0 bytes");
    assert_null(data);
    krf_stream_destroy(NULL);
    krf_event_destroy(NULL);
    krf_host_free(ctx, NULL);
    assert_null(krf_stream_handle(NULL));

    s = new_stream(ctx);
    assert_fails(KRF_E_ARGUMENT, krf_stream_query(s, NULL), "done is NULL");
    assert_ok(krf_event_create(ctx, false, &plain));
    assert_ok(krf_event_create(ctx, true, &timed));
    assert_fails(KRF_E_ARGUMENT, krf_event_query(plain, NULL), "done is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_event_elapsed(timed, timed, &ms), "first event was not recorded");
    assert_ok(krf_event_record(timed, NULL));
    assert_fails(KRF_E_ARGUMENT, krf_event_elapsed(timed, plain, &ms), "second event was not made with timed");
    assert_fails(KRF_E_ARGUMENT, krf_event_elapsed(timed, timed, NULL), "NULL");
    krf_context *elsewhere = open_context();
    krf_event *foreign = NULL;
    assert_ok(krf_event_create(elsewhere, true, &foreign));
    assert_fails(KRF_E_ARGUMENT, krf_event_elapsed(timed, foreign, &ms), "different contexts");
    krf_event_destroy(foreign);
    krf_context_destroy(elsewhere);
    if (on_gpu()) { /* a krf_stream is no handle */
        krf_plan *plan = make_plan(ctx, 1);
        krf_array *x = new_array(ctx), *y = NULL;
        krf_binding b = krf_bind_array("x", x);
        assert_fails(KRF_E_ARGUMENT, krf_plan_run(plan, s, 1, &b, &y), "krf_stream_handle");
        assert_fails(KRF_E_ARGUMENT, krf_event_record(plain, s), "krf_stream_handle");
        assert_fails(KRF_E_ARGUMENT, krf_stream_wrap(ctx, s, &other), "krf_stream_handle");
        assert_fails(KRF_E_ARGUMENT, krf_stream_wrap(ctx, NULL, &other), "handle is NULL");
        assert_null(y);
        krf_array_release(x);
        krf_plan_release(plan);
    }
    krf_array *a = new_array(ctx), *turned = NULL;
    assert_ok(krf_array_view(a, 1, (int64_t[]){10}, (int64_t[]){-1}, 20, &turned));
    assert_fails(KRF_E_ARGUMENT, krf_array_upload_async(NULL, host, 4, NULL), "array is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_array_upload_async(a, NULL, sizeof host, NULL), "data is NULL");
    assert_fails(KRF_E_ARGUMENT, krf_array_upload_async(a, host, 4, NULL), "1200000 bytes, not 4");
    assert_fails(KRF_E_SHAPE, krf_array_upload_async(turned, host, 40, NULL), "C order");
    assert_fails(KRF_E_ARGUMENT, krf_array_download_async(a, NULL, sizeof host, NULL), "data is NULL");
    assert_fails(KRF_E_SHAPE, krf_array_download_async(turned, host, 40, NULL), "C order");
    krf_array_release(turned);
    krf_array_release(a);
    krf_event_destroy(plain);
    krf_event_destroy(timed);
    krf_context_destroy(ctx);
    krf_stream_destroy(s); /* outlives it */
}

static void streams_are_counted(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_stream *s[60] = {NULL};
    int n = 0;
    for (; n < 60 && krf_stream_create(ctx, NULL, &s[n]) == KRF_OK; n++) {
        assert_int_equal(krf_stream_handle(s[n]) != NULL, on_gpu());
    }
    assert_int_equal(n, on_gpu() ? 39 : 60);
    if (on_gpu()) {
        assert_fails(KRF_E_UNSUPPORTED, krf_stream_create(ctx, NULL, &s[n]), "39 streams");
        krf_stream_destroy(s[7]);
        s[7] = new_stream(ctx);
    }
    for (int i = 0; i < n; i++) {
        krf_stream_destroy(s[i]);
    }
    krf_context_destroy(ctx);
}

static void events_tell_the_time(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_stream *s = new_stream(ctx);
    krf_event *from = NULL, *to = NULL;
    krf_plan *plan = make_plan(ctx, 20);
    krf_array *x = new_array(ctx), *y = NULL;
    bool done = false;
    double ms = -1;
    fill(0);
    assert_ok(krf_event_create(ctx, true, &from));
    assert_ok(krf_event_create(ctx, true, &to));
    assert_ok(krf_event_wait(from, krf_stream_handle(s))); /* never recorded */
    assert_ok(krf_event_query(from, &done));
    assert_true(done);
    assert_ok(krf_array_upload_async(x, host, sizeof host, krf_stream_handle(s)));
    assert_ok(krf_event_record(from, krf_stream_handle(s)));
    run(plan, krf_stream_handle(s), x, &y);
    assert_ok(krf_event_record(to, krf_stream_handle(s)));
    assert_ok(krf_event_elapsed(from, to, &ms));
    assert_true(ms > 0 && ms < 10000);
    assert_ok(krf_event_elapsed(to, from, &ms));
    assert_true(ms < 0);
    assert_ok(krf_event_query(to, &done));
    assert_true(done);
    assert_ok(krf_event_synchronize(to));
    assert_ok(krf_stream_synchronize(s));
    assert_ok(krf_stream_query(s, &done));
    assert_true(done);
    krf_array_release(x);
    krf_array_release(y);
    krf_plan_release(plan);
    krf_event_destroy(from);
    krf_event_destroy(to);
    krf_stream_destroy(s);
    krf_context_destroy(ctx);
}

static void plans_are_timed(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_stream *s = new_stream(ctx);
    krf_plan *plan = make_plan(ctx, 3);
    krf_array *x = new_array(ctx), *y = NULL;
    krf_binding b = krf_bind_array("x", x);
    krf_benchmark_options o = krf_benchmark_options_default();
    krf_benchmark_times t = {.size = sizeof t};
    fill(2);
    assert_ok(krf_array_upload_async(x, host, sizeof host, krf_stream_handle(s)));
    o.warm_up = 2;
    o.repeat = 21;
    o.stream = krf_stream_handle(s);
    assert_ok(krf_benchmark(plan, &o, 1, &b, &y, &t));
    assert_int_equal(t.runs, 21);
    assert_true(t.cpu_min > 0 && t.cpu_min <= t.cpu_median && t.cpu_median <= t.cpu_max && t.cpu_max < 1e8);
    assert_true(t.gpu_min > 0 && t.gpu_min <= t.gpu_median && t.gpu_median <= t.gpu_max && t.gpu_max < 1e8);
    check_array(y, 2, 3);
    o.seconds = 0;
    assert_ok(krf_benchmark(plan, &o, 1, &b, &y, &t));
    assert_int_equal(t.runs, 1);
    assert_fails(KRF_E_ARGUMENT, krf_benchmark(plan, &o, 0, NULL, &y, &t), "not bound");
    assert_fails(KRF_E_ARGUMENT, krf_benchmark(NULL, &o, 1, &b, &y, &t), "NULL");
    assert_fails(KRF_E_ARGUMENT, krf_benchmark(plan, &o, 1, &b, NULL, &t), "NULL");
    assert_fails(KRF_E_ARGUMENT, krf_benchmark(plan, &o, 1, &b, &y, NULL), "NULL");
    o.repeat = 0;
    assert_fails(KRF_E_ARGUMENT, krf_benchmark(plan, &o, 1, &b, &y, &t), "repeat 0");
    o.size = 0;
    assert_fails(KRF_E_ARGUMENT, krf_benchmark(plan, &o, 1, &b, &y, &t), "krf_benchmark_options_default");
    krf_array_release(x);
    krf_array_release(y);
    krf_plan_release(plan);
    krf_stream_destroy(s);
    krf_context_destroy(ctx);
}

static void devices_have_names(void **state) {
    (void)state;
    krf_context *ctx = open_context(), *same = NULL;
    krf_device_info info = {.size = sizeof info};
    krf_context_options o = krf_context_options_default();
    char name[80];
    assert_ok(krf_context_device(ctx, &info));
    assert_int_equal(info.index, 0);
    assert_int_equal(info.capability_major > 0, on_gpu());
    assert_int_equal(krf_context_stream(ctx) != NULL, on_gpu());
    assert_null(krf_context_stream(NULL));
    static const char *const wrong[] = {"cuda:GPU-12x", "cuda:gpu", "cuda:GPU-a0a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6a7a8a9a0a1a2a3a4"};
    for (int i = 0; i < 3; i++) {
        o.device = wrong[i];
        assert_fails(KRF_E_ARGUMENT, krf_context_create(&o, &same), "is no device");
    }
    if (on_gpu()) {
        char arch[16];
        snprintf(arch, sizeof arch, "sm_%d%d", info.capability_major, info.capability_minor);
        assert_string_equal(arch, info.arch);
        assert_memory_equal(info.uuid, "GPU-", 4);
        assert_int_equal(strlen(info.uuid), 40);
        for (size_t length = strlen(info.uuid); length > 4; length -= 12) { /* whole, and beginnings of it */
            snprintf(name, sizeof name, "cuda:%.*s", (int)length, info.uuid);
            o.device = name;
            assert_ok(krf_context_create(&o, &same));
            krf_device_info again = {.size = sizeof again};
            assert_ok(krf_context_device(same, &again));
            assert_string_equal(again.uuid, info.uuid);
            krf_context_destroy(same);
        }
        o.device = "cuda:GPU-00000000-1111-2222-3333-444444444444";
        assert_fails(KRF_E_DEVICE, krf_context_create(&o, &same), "no CUDA device GPU-00000000-1111");
    } else {
        assert_null(info.uuid);
    }
    krf_context_destroy(ctx);
}

/* What passes from stream to stream: results, inputs that are written again while they are read, memory that is given
 * back while it is used. streams[k]: handles. */
static void pass_around(krf_context *ctx, void *const *streams, int n, int rounds) {
    krf_plan *slow = make_plan(ctx, 15), *once = make_plan(ctx, 1), *sum = make_sum_plan(ctx);
    krf_array *x = new_array(ctx), *kept = new_array(ctx);
    for (int round = 0; round < rounds; round++) {
        void *a = streams[round % n], *b = streams[(round + 1) % n], *c = streams[(round * 3 + 2) % n];
        krf_array *y = NULL, *z = NULL, *w = NULL, *other = NULL;
        fill(round);
        assert_ok(krf_array_upload_async(x, host, sizeof host, a)); /* which others may be reading still */
        run(slow, a, x, &y);
        run(once, b, y, &z);             /* behind the stream that made y */
        krf_array_release(y);            /* while b reads it */
        other = new_array(ctx);          /* likely where y was */
        run(once, c, x, &other);         /* behind b */
        run(sum, c, z, &w);
        fill(round + 1000);
        assert_ok(krf_array_upload_async(x, host, sizeof host, b)); /* behind a and c, which read it */
        check_array(w, round, 16);
        check_array(z, round, 16);
        check_array(other, round, 1);
        run(once, a, x, &kept);
        assert_ok(krf_array_copy(x, kept)); /* on the context's own */
        run(sum, b, x, &kept);
        check_array(kept, round + 1000, 1);
        krf_array_release(z);
        krf_array_release(w);
        krf_array_release(other);
    }
    krf_array_release(x);
    krf_array_release(kept);
    krf_plan_release(slow);
    krf_plan_release(once);
    krf_plan_release(sum);
}

static void arrays_pass_between_streams(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_stream *s[3] = {new_stream(ctx), new_stream(ctx), new_stream(ctx)};
    void *handles[4] = {krf_stream_handle(s[0]), krf_stream_handle(s[1]), NULL, krf_stream_handle(s[2])};
    pass_around(ctx, handles, 4, on_gpu() && getenv("KRF_LIBCUDA") == NULL ? 100 : 12);
    for (int i = 0; i < 3; i++) {
        krf_stream_destroy(s[i]);
    }
    krf_context_destroy(ctx);
}

/* Streams that the context does not know are those of another context; and the default streams. */
static void streams_of_others(void **state) {
    (void)state;
    krf_context *ctx = open_context(), *elsewhere = open_context();
    krf_stream *s[2] = {new_stream(elsewhere), new_stream(elsewhere)};
    void *handles[5] = {krf_stream_handle(s[0]), krf_stream_handle(s[1]), NULL, NULL, NULL};
    if (on_gpu()) {
        handles[3] = (void *)1; /* CU_STREAM_LEGACY, CU_STREAM_PER_THREAD */
        handles[4] = (void *)2;
    }
    pass_around(ctx, handles, 5, on_gpu() && getenv("KRF_LIBCUDA") == NULL ? 100 : 10);
    krf_stream *known = NULL, *legacy = NULL, *thread = NULL;
    assert_ok(krf_stream_wrap(ctx, handles[0], &known));
    assert_ok(krf_stream_wrap(ctx, (void *)1, &legacy));
    assert_ok(krf_stream_wrap(ctx, (void *)2, &thread));
    assert_ptr_equal(krf_stream_handle(known), handles[0]);
    pass_around(ctx, handles, 5, 5);
    krf_stream_destroy(known);
    pass_around(ctx, handles, 5, 5);
    krf_stream_destroy(legacy);
    krf_stream_destroy(thread);
    krf_stream_destroy(s[0]);
    krf_stream_destroy(s[1]);
    for (int i = 0; i < 70; i++) { /* more than are remembered; each gone after its call */
        krf_stream *passing = new_stream(elsewhere);
        void *handle[2] = {krf_stream_handle(passing), NULL};
        if (i % 10 == 0) {
            pass_around(ctx, handle, 2, 1);
        } else {
            krf_array *a = new_array(ctx);
            fill(i);
            assert_ok(krf_array_upload_async(a, host, sizeof host, handle[0]));
            krf_stream_destroy(passing);
            passing = NULL;
            check_array(a, i, 0);
            krf_array_release(a);
        }
        krf_stream_destroy(passing);
    }
    krf_context_destroy(elsewhere);
    krf_context_destroy(ctx);
}

/* So many that the first ones are forgotten while they are at work: what they wrote is still waited for. */
static void forgotten_streams_are_waited_for(void **state) {
    (void)state;
    enum { STREAMS = 36 };
    krf_context *ctx = open_context(), *elsewhere = open_context();
    krf_stream *s[STREAMS];
    krf_array *x = new_array(ctx), *y[STREAMS] = {NULL};
    krf_plan *slow = make_plan(ctx, 15), *once = make_plan(ctx, 1);
    fill(1);
    assert_ok(krf_array_upload_async(x, host, sizeof host, NULL));
    for (int i = 0; i < STREAMS; i++) {
        s[i] = new_stream(elsewhere);
        for (int turn = 0; turn < 5 && i < 6; turn++) {
            run(slow, krf_stream_handle(s[i]), x, &y[i]);
        }
        run(once, krf_stream_handle(s[i]), x, &y[i]);
    }
    for (int i = 0; i < STREAMS; i++) {
        check_array(y[i], 1, 1);
        krf_array_release(y[i]);
    }
    krf_array_release(x);
    krf_plan_release(slow);
    krf_plan_release(once);
    for (int i = 0; i < STREAMS; i++) {
        krf_stream_destroy(s[i]);
    }
    krf_context_destroy(elsewhere);
    krf_context_destroy(ctx);
}

/* With room for little more than one run's memory, that of a run on one stream goes to the next on another, while it is
 * in use: outputs, temporaries, scratch. */
static void scarce_memory_passes_between_streams(void **state) {
    (void)state;
    krf_context_options o = krf_context_options_default();
    krf_context *ctx = NULL;
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.blocking_compile = true;
    o.memory_limit = "5200K";
    assert_ok(krf_context_create(&o, &ctx));
    krf_graph *g = krf_graph_create(ctx);
    krf_expr sums = krf_cumsum(krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), 0);
    krf_expr both = krf_add(sums, krf_flip(sums, 0));
    krf_plan *plan = NULL, *slow = make_plan(ctx, 15);
    krf_stream *s[3] = {new_stream(ctx), new_stream(ctx), new_stream(ctx)};
    assert_ok(krf_compile(g, 1, &both, NULL, &plan));
    krf_graph_destroy(g);
    krf_array *x = new_array(ctx), *given = NULL;
    fill(0);
    assert_ok(krf_array_upload_async(x, host, sizeof host, NULL));
    double all = 0;
    for (int i = 0; i < N; i++) {
        all += (double)host[i]; /* below 2^24: exact in any order */
    }
    for (int round = 0; round < 12; round++) {
        krf_array *y = NULL, *z = NULL;
        if (round == 6) {
            given = new_array(ctx);
        }
        run(round % 2 && !given ? slow : plan, krf_stream_handle(s[round % 3]), x, &y);
        krf_array_release(y);
        z = krf_array_retain(given); /* then only a temporary is where y was */
        run(plan, krf_stream_handle(s[(round + 1) % 3]), x, &z);
        assert_ok(krf_array_to_host(z, back, sizeof back));
        double before = 0, after = all;
        for (int i = 0; i < N; i++) { /* the sum up to i, and the one up to its mirror image */
            before += (double)host[i];
            if ((double)back[i] != before + after) {
                fail_msg("round %d: element %d is %g, not %g", round, i, (double)back[i], before + after);
            }
            after -= (double)host[N - 1 - i];
        }
        krf_array_release(z);
    }
    krf_array_release(given);
    krf_array_release(x);
    krf_plan_release(plan);
    krf_plan_release(slow);
    for (int i = 0; i < 3; i++) {
        krf_stream_destroy(s[i]);
    }
    krf_context_destroy(ctx);
}

/* On the simulated device, where calls are counted: one stream costs no event at all, streams that share nothing but
 * what they read wait once, and memory goes round on the stream that has it. */
static void nothing_waits_that_need_not(void **state) {
    (void)state;
    unsigned (*calls)(const char *);
    find("fakecuda_calls", &calls);
    if (calls == NULL) {
        skip();
    }
    krf_context *ctx = open_context();
    krf_stream *s[2] = {new_stream(ctx), new_stream(ctx)};
    krf_plan *plan = make_plan(ctx, 2), *sum = make_sum_plan(ctx);
    krf_array *x = NULL;
    int64_t n = N;
    fill(0);
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, &n, host, &x));
    for (int streams = 0; streams <= 2; streams++) { /* the context's own; one; two */
        unsigned before[4] = {0};
        static const char *const names[4] = {"cuEventRecord", "cuStreamWaitEvent", "cuMemAllocFromPoolAsync",
                                             "cuEventQuery"};
        for (int round = 0; round < 60; round++) {
            void *stream = streams == 0 ? NULL : krf_stream_handle(s[round % streams]);
            krf_array *y = NULL, *z = NULL;
            if (round == 20) {
                for (int k = 0; k < 4; k++) {
                    before[k] = calls(names[k]);
                }
            }
            run(plan, stream, x, &y);
            run(sum, stream, y, &z);
            krf_array_release(y);
            krf_array_release(z);
        }
        for (int k = 0; k < 4; k++) {
            if (calls(names[k]) != before[k]) {
                fail_msg("%d streams: %u calls of %s", streams, calls(names[k]) - before[k], names[k]);
            }
        }
    }
    krf_array_release(x);
    krf_plan_release(plan);
    krf_plan_release(sum);
    krf_stream_destroy(s[0]);
    krf_stream_destroy(s[1]);
    krf_context_destroy(ctx);
}

static void copies_need_not_wait(void **state) {
    (void)state;
    enum { LARGE = 45 << 20 }; /* more than is staged at a time */
    krf_context *ctx = open_context();
    krf_stream *s = new_stream(ctx), *t = new_stream(ctx);
    void *a = krf_stream_handle(s), *b = krf_stream_handle(t);
    krf_array *x = new_array(ctx), *large = NULL;
    krf_plan *plan = make_plan(ctx, 3);
    float *pinned = NULL;
    void *more = NULL;
    assert_ok(krf_host_allocate(ctx, sizeof host, (void **)&pinned));
    for (int round = 0; round < 5; round++) {
        krf_array *y = NULL;
        fill(round);
        memcpy(pinned, host, sizeof host);
        if (round % 2 == 0) {
            assert_ok(krf_array_upload_async(x, pinned, sizeof host, a));
        } else {
            assert_ok(krf_array_upload_async(x, host, sizeof host, a));
            memset(host, 0xff, sizeof host); /* it was read */
        }
        run(plan, a, x, &y);
        if (round % 3 == 0) {
            assert_ok(krf_array_download_async(y, back, sizeof back, b));
            assert_ok(krf_stream_synchronize(t));
            check(back, round, 3);
        } else {
            assert_ok(krf_array_download_async(y, pinned, sizeof host, b));
            assert_ok(krf_stream_synchronize(t));
            check(pinned, round, 3);
        }
        krf_array_release(y);
    }
    int64_t n = LARGE;
    unsigned char *bytes = malloc(LARGE);
    assert_ok(krf_array_create(ctx, KRF_U8, 1, &n, &large));
    for (int64_t i = 0; i < n; i++) {
        bytes[i] = (unsigned char)(i * 7 % 251);
    }
    assert_ok(krf_array_upload_async(large, bytes, LARGE, a));
    memset(bytes, 0, LARGE);
    assert_ok(krf_array_download_async(large, bytes, LARGE, b));
    assert_ok(krf_stream_synchronize(t));
    for (int64_t i = 0; i < n; i++) {
        if (bytes[i] != (unsigned char)(i * 7 % 251)) {
            fail_msg("byte %lld is %d", (long long)i, bytes[i]);
        }
    }
    free(bytes);
    assert_ok(krf_context_trim(ctx)); /* pinned memory too */
    assert_ok(krf_array_upload_async(x, host, sizeof host, NULL));
    assert_ok(krf_host_allocate(ctx, 1, &more));
    krf_host_free(ctx, more);
    krf_array_release(large);
    krf_array_release(x);
    krf_plan_release(plan);
    krf_stream_destroy(s);
    krf_stream_destroy(t);
    assert_ok(krf_context_synchronize(ctx));
    krf_host_free(ctx, pinned);
    krf_context_destroy(ctx);
}

/* Adds n to what the kernels before it wrote. */
static krf_raw_kernel *define_add(krf_context *ctx, const char *name, const char *source) {
    krf_raw_kernel *k = NULL;
    const krf_kernel_description d = {.size = sizeof d, .name = name, .parameters = "inout f32 x[n], i32 a, i32 n", .cuda = source, .c = strcmp(name, "add") == 0 ? "void add(float *x, int a, int n) { for (int i = 0; i < n; i++) x[i] += a; }" : NULL, .grid = "(n + 63) / 64", .block = "64"};
    assert_ok(krf_kernel_define(ctx, &d, &k));
    return k;
}

/* A raw kernel waits for what other streams wrote, and they for it. */
static void raw_kernels_are_ordered(void **state) {
    (void)state;
    krf_context *ctx = open_context();
    krf_raw_kernel *k = define_add(ctx, "add", "extern \"C\" __global__ void add(float *x, int a, int n) {\n"
                                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                               "    if (i < n) x[i] += a;\n"
                                               "}\n");
    krf_stream *s = new_stream(ctx), *t = new_stream(ctx);
    krf_array *x = new_array(ctx);
    fill(0);
    float want[N];
    memcpy(want, host, sizeof want);
    assert_ok(krf_array_upload_async(x, host, sizeof host, krf_stream_handle(s)));
    for (int round = 0; round < 6; round++) {
        assert_ok(krf_kernel_launch(k, krf_stream_handle(round % 2 ? s : t), 2, (krf_binding[]){krf_bind_array("x", x), krf_bind_int("a", round + 1)}, NULL));
    }
    assert_ok(krf_array_to_host(x, host, sizeof host));
    for (int i = 0; i < N; i++) {
        assert_true(host[i] == want[i] + 21);
    }
    krf_array_release(x);
    krf_stream_destroy(s);
    krf_stream_destroy(t);
    krf_kernel_release(k);
    krf_context_destroy(ctx);
}

static void a_captured_run_is_launches_alone(void **state) {
    (void)state;
    struct {
        int (*begin)(void *, unsigned);
        int (*end)(void *, void **);
        int (*nodes)(void *, void **, size_t *);
        int (*destroy)(void *);
        int (*instantiate)(void **, void *, unsigned long long);
        int (*start)(void *, void *);
        int (*destroy_exec)(void *);
        int (*retain)(void **, int);
        int (*release)(int);
        int (*push)(void *);
        int (*pop)(void **);
    } graph;
    find("cuStreamBeginCapture_v2", &graph.begin);
    find("cuStreamEndCapture", &graph.end);
    find("cuGraphGetNodes", &graph.nodes);
    find("cuGraphDestroy", &graph.destroy);
    find("cuGraphInstantiateWithFlags", &graph.instantiate);
    find("cuGraphLaunch", &graph.start);
    find("cuGraphExecDestroy", &graph.destroy_exec);
    find("cuDevicePrimaryCtxRetain", &graph.retain);
    find("cuDevicePrimaryCtxRelease_v2", &graph.release);
    find("cuCtxPushCurrent_v2", &graph.push);
    find("cuCtxPopCurrent_v2", &graph.pop);
    if (graph.begin == NULL) {
        skip();
    }
    krf_context *ctx = open_context(), *elsewhere = open_context();
    for (int known = 0; known < 2; known++) {
        krf_stream *s = new_stream(known ? ctx : elsewhere);
        void *stream = krf_stream_handle(s), *captured = NULL, *pinned = NULL;
        krf_plan *sum = make_sum_plan(ctx), *cold;
        krf_graph *g = krf_graph_create(ctx);
        krf_expr e = krf_add(krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), krf_real(g, 1.5));
        krf_compile_options lazily = krf_compile_options_default();
        lazily.load = false;
        assert_ok(krf_compile(g, 1, &e, &lazily, &cold));
        krf_graph_destroy(g);
        krf_array *x = new_array(ctx), *y = new_array(ctx), *none = NULL;
        krf_binding b = krf_bind_array("x", x);
        assert_ok(krf_host_allocate(ctx, sizeof host, &pinned));
        size_t nodes = 0;
        fill(3);
        assert_ok(krf_array_upload_async(x, host, sizeof host, NULL)); /* a capture cannot wait for it: the host does */
        run(sum, stream, x, &y); /* warm */
        run(sum, NULL, x, &y);
        krf_raw_kernel *warm = define_add(ctx, "add", "extern \"C\" __global__ void add(float *x, int a, int n) { if (blockIdx.x * 64 + threadIdx.x < n) x[blockIdx.x * 64 + threadIdx.x] += a; }");
        krf_raw_kernel *new = define_add(ctx, "other", known ? "extern \"C\" __global__ void other(float *x, int a, int n) { x[0] = a; }"
                                                             : "extern \"C\" __global__ void other(float *x, int a, int n) { x[1] = a; }");
        krf_binding adding[] = {krf_bind_array("x", y), krf_bind_int("a", 0)};
        assert_ok(krf_kernel_launch(warm, NULL, 2, adding, NULL));
        krf_memory_stats before = {.size = sizeof before}, after = before;
        assert_ok(krf_context_memory_stats(ctx, &before));
        assert_int_equal(graph.begin(stream, 0 /* global, the strictest */), 0);
        assert_fails(KRF_E_UNSUPPORTED, krf_plan_run(sum, stream, 1, &b, &none), "output 0 must be given");
        assert_fails(KRF_E_UNSUPPORTED, krf_plan_run(cold, stream, 1, &b, &y), "run the plan once before");
        assert_fails(KRF_E_UNSUPPORTED, krf_array_download_async(y, host, sizeof host, stream), "pinned");
        assert_null(none);
        assert_ok(krf_plan_run(sum, stream, 1, &b, &y));
        assert_fails(KRF_E_UNSUPPORTED, krf_kernel_launch(new, stream, 2, adding, NULL), "launch the kernel once before");
        assert_ok(krf_kernel_launch(warm, stream, 2, adding, NULL));
        assert_ok(krf_array_download_async(y, pinned, sizeof host, stream));
        assert_int_equal(graph.end(stream, &captured), 0);
        assert_ok(krf_context_memory_stats(ctx, &after));
        assert_int_equal(after.allocations, before.allocations);
        assert_int_equal(graph.nodes(captured, NULL, &nodes), 0);
        assert_int_equal(nodes, krf_plan_kernels(sum) + 2);
        void *exec = NULL, *primary = NULL;
        assert_int_equal(graph.retain(&primary, 0) + graph.push(primary), 0);
        const int instantiated = graph.instantiate(&exec, captured, 0); /* the simulated driver starts no captured graphs */
        assert_true(instantiated == 0 || getenv("KRF_LIBCUDA") != NULL);
        if (instantiated == 0) {
            for (int round = 5; round < 8; round++) { /* what runs outside of the graph has memory of its own */
                fill(round);
                krf_array *other = NULL;
                assert_ok(krf_array_upload_async(x, host, sizeof host, stream));
                assert_int_equal(graph.start(exec, stream), 0);
                run(sum, NULL, x, &other);
                assert_ok(krf_stream_synchronize(s));
                check(pinned, round, 0);
                check_array(other, round, 0);
                krf_array_release(other);
            }
            assert_int_equal(graph.destroy_exec(exec), 0);
        }
        assert_int_equal(graph.pop(&primary) + graph.release(0), 0);
        assert_int_equal(graph.destroy(captured), 0);
        krf_kernel_release(warm);
        krf_kernel_release(new);
        krf_plan_release(sum);
        krf_plan_release(cold);
        krf_array_release(x);
        krf_array_release(y);
        krf_stream_destroy(s);
        krf_host_free(ctx, pinned);
    }
    krf_context_destroy(elsewhere);
    krf_context_destroy(ctx);
}

int main(void) {
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    krf_context_destroy(open_or_skip(&o));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse_is_told),
        cmocka_unit_test(streams_are_counted),
        cmocka_unit_test(events_tell_the_time),
        cmocka_unit_test(plans_are_timed),
        cmocka_unit_test(devices_have_names),
        cmocka_unit_test(arrays_pass_between_streams),
        cmocka_unit_test(streams_of_others),
        cmocka_unit_test(forgotten_streams_are_waited_for),
        cmocka_unit_test(scarce_memory_passes_between_streams),
        cmocka_unit_test(nothing_waits_that_need_not),
        cmocka_unit_test(copies_need_not_wait),
        cmocka_unit_test(raw_kernels_are_ordered),
        cmocka_unit_test(a_captured_run_is_launches_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
