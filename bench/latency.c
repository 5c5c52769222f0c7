/* Host time of small calls on a GPU, beside the cheapest driver calls that do the same work. Prints one line a case: microseconds.
 *   kerfuse-latency [--device cuda:0]
 * Bare calls replay the very kernels of the plan, taken from a capture of one run. */
#include <kerfuse/kerfuse.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct node_params { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    void *function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
} node_params;

static struct driver {
    void *library;
    int (*cuInit)(unsigned), (*cuDeviceGet)(int *, int), (*cuDevicePrimaryCtxRetain)(void **, int), (*cuCtxPushCurrent_v2)(void *);
    int (*cuStreamCreate)(void **, unsigned), (*cuStreamSynchronize)(void *), (*cuStreamBeginCapture_v2)(void *, int), (*cuStreamEndCapture)(void *, void **);
    int (*cuGraphInstantiateWithFlags)(void **, void *, unsigned long long), (*cuGraphLaunch)(void *, void *), (*cuGraphGetNodes)(void *, void **, size_t *);
    int (*cuGraphKernelNodeGetParams_v2)(void *, node_params *), (*cuGraphExecKernelNodeSetParams_v2)(void *, void *, const node_params *);
    int (*cuKernelGetFunction)(void **, void *);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
} cu;

#define GET(name) (*(void **)&cu.name = dlsym(cu.library, #name), cu.name == NULL)

static void fail(const char *what) {
    fprintf(stderr, "kerfuse-latency: %s: %s\n", what, krf_error_message());
    exit(1);
}
#define OK(call)         \
    do {                 \
        if ((call) != 0) { \
            fail(#call); \
        }                \
    } while (0)

static void open_driver(void) {
    const char *path = getenv("KRF_LIBCUDA");
    void *context;
    int device;
    cu.library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW);
    if (cu.library == NULL || GET(cuInit) || GET(cuDeviceGet) || GET(cuDevicePrimaryCtxRetain) || GET(cuCtxPushCurrent_v2) || GET(cuStreamCreate) || GET(cuStreamSynchronize)
        || GET(cuStreamBeginCapture_v2) || GET(cuStreamEndCapture) || GET(cuGraphInstantiateWithFlags) || GET(cuGraphLaunch) || GET(cuGraphGetNodes)
        || GET(cuGraphKernelNodeGetParams_v2) || GET(cuGraphExecKernelNodeSetParams_v2) || GET(cuKernelGetFunction) || GET(cuLaunchKernel)) {
        fprintf(stderr, "kerfuse-latency: no CUDA driver, or one older than 12.0\n");
        exit(77);
    }
    OK(cu.cuInit(0));
    OK(cu.cuDeviceGet(&device, 0));
    OK(cu.cuDevicePrimaryCtxRetain(&context, device));
    OK(cu.cuCtxPushCurrent_v2(context));
}

/* ---- what is timed ---- */

enum { N = 100000, CHAIN = 20, BATCH = 200, BATCHES = 30 };

typedef struct state {
    krf_context *context, *apart;
    krf_array *x[2], *y[2], *chain_in, *chain_out;
    krf_plan *plan, *scaled, *chain;
    void *stream, *passing, *exec, *chain_exec, *node;
    node_params kernel, other, named[2][2]; /* named: by function and by kernel, where the driver tells either */
    int turn;
} state;

static void run_plan(krf_plan *plan, void *stream, krf_array *x, krf_array *y, const double *scale) {
    krf_binding bindings[2] = {krf_bind_array("x", x), krf_bind_real("s", scale != NULL ? *scale : 0)};
    krf_array *out[1] = {y};
    OK(krf_plan_run(plan, stream, scale != NULL ? 2 : 1, bindings, out));
}

static void bare_launch(state *s) {
    const node_params *k = &s->kernel;
    OK(cu.cuLaunchKernel(k->function, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2], k->shared, s->stream, k->arguments, NULL));
}
static void bare_graph(state *s) { OK(cu.cuGraphLaunch(s->exec, s->stream)); }
static void bare_graph_set(state *s) {
    OK(cu.cuGraphExecKernelNodeSetParams_v2(s->exec, s->node, s->turn++ % 2 == 0 ? &s->kernel : &s->other));
    OK(cu.cuGraphLaunch(s->exec, s->stream));
}
static void set_named(state *s, int way) {
    OK(cu.cuGraphExecKernelNodeSetParams_v2(s->exec, s->node, &s->named[way][s->turn++ % 2]));
    OK(cu.cuGraphLaunch(s->exec, s->stream));
}
static void bare_set_function(state *s) { set_named(s, 0); }
static void bare_set_kernel(state *s) { set_named(s, 1); }
static void bare_chain(state *s) { OK(cu.cuGraphLaunch(s->chain_exec, s->stream)); }
static void run_same(state *s) { run_plan(s->plan, s->stream, s->x[0], s->y[0], NULL); }
static void run_own_stream(state *s) { run_plan(s->plan, NULL, s->x[0], s->y[0], NULL); }
static void run_passing(state *s) { run_plan(s->plan, s->passing, s->x[0], s->y[0], NULL); }
static void run_pointers(state *s) {
    s->turn++;
    run_plan(s->plan, s->stream, s->x[s->turn % 2], s->y[s->turn % 2], NULL);
}
static void run_scalar(state *s) {
    const double scale = 1 + (double)(s->turn++ % 1000);
    run_plan(s->scaled, s->stream, s->x[0], s->y[0], &scale);
}
static void run_new_output(state *s) {
    krf_binding binding = krf_bind_array("x", s->x[0]);
    krf_array *out = NULL;
    OK(krf_plan_run(s->plan, NULL, 1, &binding, &out));
    krf_array_release(out);
}
static void run_chain(state *s) { run_plan(s->chain, s->stream, s->chain_in, s->chain_out, NULL); }

static void build_and_eval(state *s) {
    krf_graph *g = krf_graph_create(s->context);
    krf_expr x = krf_input(g, s->x[0]);
    krf_expr y = krf_add(krf_maximum(x, krf_int(g, 0)), krf_log1p(krf_exp(krf_negative(krf_abs(x)))));
    krf_array *out[1] = {s->y[0]};
    OK(krf_eval(y, out));
    krf_graph_destroy(g);
}

/* ---- how ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void drain(state *s) {
    OK(cu.cuStreamSynchronize(s->stream));
    OK(cu.cuStreamSynchronize(s->passing));
    OK(krf_context_synchronize(s->context));
}

/* Per call: of the host alone, queued; with what the device takes, drained; and one call with a wait. Medians. */
static void time_case(state *s, const char *name, void (*call)(state *s)) {
    double host[BATCHES], drained[BATCHES], waited[BATCH];
    for (int i = 0; i < 50; i++) {
        call(s);
    }
    drain(s);
    for (int b = 0; b < BATCHES; b++) {
        const double start = now();
        for (int i = 0; i < BATCH; i++) {
            call(s);
        }
        host[b] = (now() - start) / BATCH;
        drain(s);
        drained[b] = (now() - start) / BATCH;
    }
    for (int i = 0; i < BATCH; i++) {
        const double start = now();
        call(s);
        OK(cu.cuStreamSynchronize(s->stream));
        waited[i] = now() - start;
    }
    qsort(host, BATCHES, sizeof *host, by_value);
    qsort(drained, BATCHES, sizeof *drained, by_value);
    qsort(waited, BATCH, sizeof *waited, by_value);
    printf("%-34s %8.2f %8.2f %8.2f\n", name, host[BATCHES / 2], drained[BATCHES / 2], waited[BATCH / 2]);
    fflush(stdout);
}

static double batch_of(state *s, void (*call)(state *s)) {
    const double start = now();
    for (int i = 0; i < BATCH; i++) {
        call(s);
    }
    const double host = (now() - start) / BATCH;
    drain(s);
    return host;
}

/* Batches of both in turn: a processor that changes its clock changes both. The differences' median, and that of the tenth in which calls took longest. */
static void time_over(state *s, const char *name, void (*bare)(state *s), void (*call)(state *s)) {
    enum { TURNS = 10 * BATCHES };
    double first[TURNS], over[TURNS], slow[TURNS / 10], limit;
    int n = 0;
    for (int b = 0; b < TURNS; b++) {
        first[b] = batch_of(s, bare);
        over[b] = batch_of(s, call) - first[b];
    }
    double sorted[TURNS];
    memcpy(sorted, first, sizeof first);
    qsort(sorted, TURNS, sizeof *sorted, by_value);
    limit = sorted[TURNS - TURNS / 10];
    for (int b = 0; b < TURNS && n < TURNS / 10; b++) {
        if (first[b] >= limit) {
            slow[n++] = over[b];
        }
    }
    qsort(over, TURNS, sizeof *over, by_value);
    qsort(slow, (size_t)n, sizeof *slow, by_value);
    printf("%-34s %8.2f %8.2f   beside %.2f and %.2f\n", name, over[TURNS / 2], slow[n / 2], sorted[TURNS / 2], sorted[TURNS - TURNS / 20]);
    fflush(stdout);
}

static krf_plan *compile(krf_context *context, const char *text) {
    krf_graph *g = krf_graph_create(context);
    krf_expr y;
    krf_plan *plan = NULL;
    OK(krf_parse(g, text, NULL, 0, &y));
    OK(krf_compile(g, 1, &y, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

/* A graph of what one run launches. */
static void *capture(state *s, void (*call)(state *s), void **exec) {
    void *graph;
    OK(cu.cuStreamBeginCapture_v2(s->stream, 1));
    call(s);
    OK(cu.cuStreamEndCapture(s->stream, &graph));
    OK(cu.cuGraphInstantiateWithFlags(exec, graph, 0));
    return graph;
}

static void only_kernel(void *graph, node_params *params, void **node) {
    size_t n = 1;
    OK(cu.cuGraphGetNodes(graph, node, &n));
    OK(cu.cuGraphKernelNodeGetParams_v2(*node, params));
}

/* Nodes name their kernel by a function, or by a kernel and a context. */
static void name_both_ways(state *s) {
    for (int i = 0; i < 2; i++) {
        node_params *function = &s->named[0][i], *kernel = &s->named[1][i];
        *function = *kernel = i == 0 ? s->kernel : s->other;
        if (function->function == NULL && function->kernel != NULL) {
            OK(cu.cuKernelGetFunction(&function->function, function->kernel));
        }
        function->kernel = function->context = NULL;
        kernel->function = NULL;
    }
}

static krf_array *array_of(krf_context *context, int64_t n) {
    krf_array *a;
    float *data = malloc((size_t)n * sizeof *data);
    for (int64_t i = 0; data != NULL && i < n; i++) {
        data[i] = -5 + 1e-4f * (float)i;
    }
    OK(krf_array_from_host(context, KRF_F32, 1, &n, data, &a));
    free(data);
    return a;
}

int main(int argc, char **argv) {
    state s = {.turn = 0};
    krf_context_options options = krf_context_options_default();
    char chain[1024] = "x: f32[100000]; y = x", *end = chain + strlen(chain);
    options.device = argc == 3 && strcmp(argv[1], "--device") == 0 ? argv[2] : "cuda";
    options.blocking_compile = true;
    open_driver();
    OK(krf_context_create(&options, &s.context));
    options.fusion = "off";
    OK(krf_context_create(&options, &s.apart));
    krf_stream *stream, *known;
    OK(krf_stream_create(s.context, NULL, &stream));
    s.stream = krf_stream_handle(stream);
    OK(krf_stream_wrap(s.apart, s.stream, &known));
    OK(cu.cuStreamCreate(&s.passing, 1));
    for (int i = 0; i < 2; i++) {
        s.x[i] = array_of(s.context, N);
        s.y[i] = array_of(s.context, N);
    }
    s.chain_in = array_of(s.apart, N);
    s.chain_out = array_of(s.apart, N);
    s.plan = compile(s.context, "x: f32[100000]; maximum(x, 0) + log1p(exp(-abs(x)))");
    s.scaled = compile(s.context, "x: f32[100000]; s: float; s * (maximum(x, 0) + log1p(exp(-abs(x))))");
    for (int i = 0; i < CHAIN; i++) {
        end += sprintf(end, "; y = %s", i % 2 == 0 ? "exp(y)" : "log(y)");
    }
    sprintf(end, "; y");
    s.chain = compile(s.apart, chain);
    if (krf_plan_kernels(s.chain) != CHAIN) {
        fprintf(stderr, "kerfuse-latency: the chain has %d kernels\n", krf_plan_kernels(s.chain));
        return 1;
    }
    for (int i = 0; i < 5; i++) {
        run_same(&s);
        run_pointers(&s);
        run_chain(&s);
    }
    drain(&s);
    void *node;
    s.turn = 0;
    only_kernel(capture(&s, run_pointers, &s.exec), &s.other, &node);
    only_kernel(capture(&s, run_same, &s.exec), &s.kernel, &s.node);
    capture(&s, run_chain, &s.chain_exec);
    name_both_ways(&s);
    printf("# softplus of %d f32; microseconds a call: host, drained, with a wait\n", N);
    time_case(&s, "bare launch", bare_launch);
    time_case(&s, "bare graph", bare_graph);
    time_case(&s, "bare graph, other arguments", bare_graph_set);
    if (s.named[0][0].function != NULL) {
        time_case(&s, "the same, by CUfunction", bare_set_function);
    }
    if (s.named[1][0].kernel != NULL) {
        time_case(&s, "the same, by CUkernel", bare_set_kernel);
    }
    time_case(&s, "plan_run, same arguments", run_same);
    time_case(&s, "plan_run, the context's stream", run_own_stream);
    time_case(&s, "plan_run, a stream not known", run_passing);
    time_case(&s, "plan_run, other arrays", run_pointers);
    time_case(&s, "plan_run, other scalar", run_scalar);
    time_case(&s, "plan_run, new output", run_new_output);
    time_case(&s, "build + eval", build_and_eval);
    time_case(&s, "bare graph of 20 kernels", bare_chain);
    time_case(&s, "plan_run of 20 kernels", run_chain);
    printf("# what a call of the host takes more than a bare one, in turns: median; where the bare one was slowest; and what that took\n");
    time_over(&s, "over a bare graph, same arguments", bare_graph, run_same);
    time_over(&s, "over a set one, other arrays", bare_graph_set, run_pointers);
    time_over(&s, "over a set one, other scalar", bare_graph_set, run_scalar);
    time_over(&s, "over a set one, build + eval", bare_graph_set, build_and_eval);
    return 0;
}
