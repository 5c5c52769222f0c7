/* What runs at the same time: two independent kernels of a plan, and the copies of a chunked loop beside its kernels.
 *   kerfuse-overlap [--device cuda:0] [--chunks 64] [--bytes 8388608] [--microseconds 10]
 * One line a figure. Kernels are timed by events around many runs; the loop by the host's clock, from its first call to the end of all its streams. */
#include <kerfuse/kerfuse.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK(call)         \
    do {                 \
        if ((call) != 0) { \
            fail(#call); \
        }                \
    } while (0)

static void fail(const char *what) {
    fprintf(stderr, "kerfuse-overlap: %s: %s\n", what, krf_error_message());
    exit(1);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

static krf_plan *compile(krf_context *context, const char *text) {
    krf_graph *g = krf_graph_create(context);
    krf_expr y[2];
    int n = 0;
    krf_plan *plan = NULL;
    OK(krf_parse_many(g, text, NULL, 0, 2, y, &n));
    OK(krf_compile(g, n, y, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

static krf_array *array_of(krf_context *context, krf_dtype dtype, int64_t n) {
    krf_array *a;
    void *zeros = calloc((size_t)n, krf_dtype_size(dtype));
    OK(krf_array_from_host(context, dtype, 1, &n, zeros, &a));
    free(zeros);
    return a;
}

/* ---- two kernels ---- */

/* Few elements, so that one kernel leaves most multiprocessors to the other; another number of them in each, so that they are no one kernel. */
enum { N_FIRST = 16384, N_SECOND = 16128, MOST_STEPS = 250, RUNS = 20, ROUNDS = 9, PLAIN = 3 };

typedef struct pair {
    krf_context *context;
    void *stream;
    krf_event *from, *to;
    krf_array *in[2], *out[2];
} pair;

static void chain(char *text, int kernels, int steps) {
    char *at = text + sprintf(text, "x: f64[%d]; a = x", N_FIRST);
    if (kernels == 2) {
        at += sprintf(at, "; y: f64[%d]; b = y", N_SECOND);
    }
    for (int i = 0; i < steps; i++) {
        at += sprintf(at, kernels == 2 ? "; a = exp(-a); b = exp(-b)" : "; a = exp(-a)");
    }
    sprintf(at, kernels == 2 ? "; return a, b" : "; return a");
}

static krf_plan *make(const pair *p, int kernels, int steps) {
    char *text = malloc((size_t)steps * 40 + 200);
    chain(text, kernels, steps);
    krf_plan *plan = compile(p->context, text);
    free(text);
    return plan;
}

static void run(const pair *p, krf_plan *plan) {
    const krf_binding bindings[2] = {krf_bind_array("x", p->in[0]), krf_bind_array("y", p->in[1])};
    krf_array *out[2] = {p->out[0], p->out[1]};
    OK(krf_plan_run(plan, p->stream, krf_plan_placeholders(plan), bindings, out));
}

/* Microseconds a run, by events behind work that keeps the stream busy until all runs are queued. */
static double time_runs(const pair *p, krf_plan *busy, krf_plan *plan, int runs) {
    double ms = 0;
    for (int i = 0; i < RUNS; i++) {
        run(p, busy);
    }
    OK(krf_event_record(p->from, p->stream));
    for (int i = 0; i < runs; i++) {
        run(p, plan);
    }
    OK(krf_event_record(p->to, p->stream));
    OK(krf_event_elapsed(p->from, p->to, &ms));
    return ms * 1e3 / runs;
}

static double time_replays(const pair *p, krf_plan *plan) {
    double us[ROUNDS];
    for (int i = 0; i < 10; i++) {
        run(p, plan);
    }
    for (int i = 0; i < ROUNDS; i++) {
        us[i] = time_runs(p, plan, plan, RUNS);
    }
    return median(us, ROUNDS);
}

/* The first runs of a plan are launches one by one. */
static double time_launches(const pair *p, krf_plan *busy, int kernels, int steps) {
    double us[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        krf_plan *plan = make(p, kernels, steps);
        us[i] = time_runs(p, busy, plan, PLAIN);
        krf_plan_release(plan);
    }
    return median(us, ROUNDS);
}

static void two_kernels(krf_context *context, double wanted) {
    krf_stream *stream;
    pair p = {.context = context};
    OK(krf_stream_create(context, NULL, &stream));
    p.stream = krf_stream_handle(stream);
    OK(krf_event_create(context, true, &p.from));
    OK(krf_event_create(context, true, &p.to));
    for (int i = 0; i < 2; i++) {
        p.in[i] = array_of(context, KRF_F64, i == 0 ? N_FIRST : N_SECOND);
        p.out[i] = array_of(context, KRF_F64, i == 0 ? N_FIRST : N_SECOND);
    }
    int steps = 4;
    krf_plan *one = make(&p, 1, steps);
    double alone = time_replays(&p, one);
    while (alone < wanted && steps < MOST_STEPS) {
        const int more = (int)(steps * wanted / alone);
        steps = more > 4 * steps ? 4 * steps : more > steps ? more : steps + 1;
        steps = steps > MOST_STEPS ? MOST_STEPS : steps;
        krf_plan_release(one);
        one = make(&p, 1, steps);
        alone = time_replays(&p, one);
    }
    krf_plan *both = make(&p, 2, steps);
    if (krf_plan_kernels(one) != 1 || krf_plan_kernels(both) != 2) {
        printf("two kernels: skipped, %d steps are %d and %d kernels\n", steps, krf_plan_kernels(one), krf_plan_kernels(both));
    } else {
        const double replayed = time_replays(&p, both), single = time_launches(&p, one, 1, steps), launched = time_launches(&p, both, 2, steps);
        printf("one kernel alone, replayed: %.2f us\n", alone);
        printf("two independent kernels, replayed: %.2f us, %.2f of one (1 is side by side, 2 one after the other)\n", replayed, replayed / alone);
        printf("one kernel alone, launched: %.2f us\n", single);
        printf("two independent kernels, launched: %.2f us, %.2f of one\n", launched, launched / single);
    }
    krf_plan_release(one);
    krf_plan_release(both);
    for (int i = 0; i < 2; i++) {
        krf_array_release(p.in[i]);
        krf_array_release(p.out[i]);
    }
    krf_event_destroy(p.from);
    krf_event_destroy(p.to);
    krf_stream_destroy(stream);
}

/* ---- a chunked loop ---- */

enum { STREAMS = 3, TURNS = 5, COPY_IN = 1, COMPUTE = 2, COPY_OUT = 4, ALL = 7 };

typedef struct loop {
    krf_context *context;
    krf_plan *plan;
    krf_stream *streams[STREAMS];
    krf_array *in[STREAMS], *out[STREAMS];
    char *from, *to; /* pinned, all chunks */
    size_t bytes;    /* of a chunk */
    int chunks;
} loop;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Milliseconds for all chunks, of the legs in `legs`. */
static double time_loop(loop *l, int legs) {
    double ms[TURNS];
    for (int turn = -1; turn < TURNS; turn++) {
        const double start = now();
        for (int c = 0; c < l->chunks; c++) {
            const int s = c % STREAMS;
            void *stream = krf_stream_handle(l->streams[s]);
            const krf_binding x = krf_bind_array("x", l->in[s]);
            if (legs & COPY_IN) {
                OK(krf_array_upload_async(l->in[s], l->from + (size_t)c * l->bytes, l->bytes, stream));
            }
            if (legs & COMPUTE) {
                OK(krf_plan_run(l->plan, stream, 1, &x, &l->out[s]));
            }
            if (legs & COPY_OUT) {
                OK(krf_array_download_async(l->out[s], l->to + (size_t)c * l->bytes, l->bytes, stream));
            }
        }
        for (int s = 0; s < STREAMS; s++) {
            OK(krf_stream_synchronize(l->streams[s]));
        }
        if (turn >= 0) { /* the first one warms up */
            ms[turn] = now() - start;
        }
    }
    return median(ms, TURNS);
}

/* exp(-x) again and again, so that the result shows whether each chunk went all the way. */
static void check_loop(const loop *l) {
    const float *to = (const float *)(const void *)l->to;
    const size_t n = l->bytes / sizeof *to;
    for (int c = 0; c < l->chunks; c++) {
        if (!(to[(size_t)c * n] > 0.5f && to[(size_t)c * n + n - 1] < 0.65f)) { /* the fixed point of exp(-x) is 0.567 */
            fprintf(stderr, "kerfuse-overlap: chunk %d has %g and %g\n", c, (double)to[(size_t)c * n], (double)to[(size_t)c * n + n - 1]);
            exit(1);
        }
    }
}

static void chunked_loop(krf_context *context, int chunks, size_t bytes) {
    loop l = {.context = context, .bytes = bytes / sizeof(float) * sizeof(float), .chunks = chunks};
    const int64_t n = (int64_t)(l.bytes / sizeof(float));
    char text[1024], *at = text + sprintf(text, "x: f32[%lld]; y = x", (long long)n);
    for (int i = 0; i < 24; i++) {
        at += sprintf(at, "; y = exp(-y)");
    }
    sprintf(at, "; y");
    l.plan = compile(context, text);
    OK(krf_host_allocate(context, l.bytes * (size_t)chunks, (void **)&l.from));
    OK(krf_host_allocate(context, l.bytes * (size_t)chunks, (void **)&l.to));
    memset(l.to, 0, l.bytes * (size_t)chunks);
    for (size_t i = 0; i < (size_t)n * (size_t)chunks; i++) {
        ((float *)(void *)l.from)[i] = (float)(i % 1000) * 1e-3f;
    }
    for (int s = 0; s < STREAMS; s++) {
        OK(krf_stream_create(context, NULL, &l.streams[s]));
        l.in[s] = array_of(context, KRF_F32, n);
        l.out[s] = array_of(context, KRF_F32, n);
    }
    const double legs[3] = {time_loop(&l, COPY_IN), time_loop(&l, COMPUTE), time_loop(&l, COPY_OUT)};
    const double all = time_loop(&l, ALL);
    double slowest = legs[0];
    for (int i = 1; i < 3; i++) {
        slowest = legs[i] > slowest ? legs[i] : slowest;
    }
    check_loop(&l);
    printf("loop of %d chunks of %zu bytes on %d streams\n", chunks, l.bytes, STREAMS);
    printf("copy in alone: %.3f ms\ncompute alone: %.3f ms\ncopy out alone: %.3f ms\n", legs[0], legs[1], legs[2]);
    printf("all three: %.3f ms, %.3f of the slowest leg (1 is all hidden, %.2f nothing)\n", all, all / slowest, (legs[0] + legs[1] + legs[2]) / slowest);
    for (int s = 0; s < STREAMS; s++) {
        krf_array_release(l.in[s]);
        krf_array_release(l.out[s]);
        krf_stream_destroy(l.streams[s]);
    }
    krf_host_free(context, l.from);
    krf_host_free(context, l.to);
    krf_plan_release(l.plan);
}

int main(int argc, char **argv) {
    krf_context *context;
    krf_context_options options = krf_context_options_default();
    double microseconds = 10;
    int chunks = 64;
    size_t bytes = (size_t)8 << 20;
    options.blocking_compile = true;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0) {
            options.device = argv[i + 1];
        } else if (strcmp(argv[i], "--chunks") == 0) {
            chunks = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--bytes") == 0) {
            bytes = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--microseconds") == 0) {
            microseconds = atof(argv[i + 1]);
        } else {
            argc = 0;
        }
    }
    if (argc % 2 == 0 || chunks < 1 || bytes < sizeof(float)) {
        fprintf(stderr, "usage: kerfuse-overlap [--device cuda:0] [--chunks 64] [--bytes 8388608] [--microseconds 10]\n");
        return 2;
    }
    OK(krf_context_create(&options, &context));
    two_kernels(context, microseconds);
    chunked_loop(context, chunks, bytes);
    krf_context_destroy(context);
    return 0;
}
