/* Times kerfuse on the workloads of workloads.txt, on one device, and in the same run what the device can move. bench/README.md tells the rest. */
#include "limits.h"
#include "workloads.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPEAT = 101, MAX_ONLY = 64, MAX_RESULTS = 8, MOST_LAUNCHES = 4000 };

/* Long enough that starting and waiting for a batch of launches does not show (microseconds). */
#define BATCH_GPU 12e-3
#define BATCH_CPU 1e-3
#define WARM_CPU 0.1 /* seconds of runs before a batch */
#define MOST_WARM 8
#define LIMIT_BYTES ((size_t)256 << 20)
#define SIMULATED 64 /* a scale from which on nothing is measured but that it works */

static const char help[] =
    "usage: kerfuse-bench [options]\n"
    "\n"
    "      --device D       auto (default), cpu, cuda, cuda:1\n"
    "      --only TEXT      workloads whose name holds the text; may be given several times\n"
    "      --scale K        divides the first size of each workload\n"
    "      --repeat R       timings, of which the median counts (GPU 7, CPU 15)\n"
    "      --math WHICH     precise, fast, or both (default): the rows bound by arithmetic in either mode\n"
    "      --clock WHICH    of a GPU: wall (default), long batches on kerfuse's own stream; events, on a stream of the caller\n"
    "      --no-runs        plans and compiles only\n"
    "      --spills         names the kernels that use local memory (CUDA)\n"
    "      --json           one object a line\n"
    "      --list           the names of the workloads\n"
    "      --workloads FILE another table\n";

typedef struct bench {
    krf_context *contexts[2]; /* precise, fast */
    krf_device_info info;
    const char *only[MAX_ONLY];
    int n_only, repeat;
    int64_t scale;
    bool json, spills, list, no_runs, events, precise, fast;
    const char *table, *device;
    bench_gpu *gpu;
    bench_cpu cpu;
    double limits[BENCH_LIMITS]; /* GB/s; on the CPU those that were measured beside the last workload */
    bool failed;
} bench;

/* One workload while it is measured. */
typedef struct job {
    const bench_workload *w;
    krf_context *context;
    const char *math;
    krf_array *inputs[BENCH_INPUTS], *outputs[MAX_RESULTS];
    krf_plan *plan;
    int n_outputs;
    double bytes_in, bytes_out, plan_ms, compile_ms, times[MAX_REPEAT], limit_times[MAX_REPEAT], launches_ms;
    bench_limit limit;
} job;

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

/* ---- inputs and plans ---- */

/* Parses and compiles. load: its kernels too. */
static krf_status make_plan(krf_context *context, const char *text, int n, const krf_binding *bindings, bool load, krf_plan **plan, int *count) {
    krf_compile_options options = krf_compile_options_default();
    krf_graph *g = krf_graph_create(context);
    krf_expr results[MAX_RESULTS];
    krf_status status = krf_parse_many(g, text, bindings, n, MAX_RESULTS, results, count);
    options.load = load;
    status = status != KRF_OK ? status : krf_compile(g, *count, results, &options, plan);
    krf_graph_destroy(g);
    return status;
}

/* Numbers from 0.1 to 1, or integers from 1 to 99, made on the device by one kernel a dtype. */
static krf_status make_input(krf_context *context, const bench_input *input, int seed, krf_array **array) {
    const char *name = krf_dtype_name(input->dtype);
    int64_t n = 1;
    char text[192];
    krf_plan *plan = NULL;
    krf_array *flat = NULL;
    int count = 0;
    for (int i = 0; i < input->rank; i++) {
        n *= input->shape[i];
    }
    switch (input->dtype) {
    case KRF_BOOL: snprintf(text, sizeof text, "random_bernoulli(0.5, %lld, seed)", (long long)n); break;
    case KRF_F16:
    case KRF_BF16:
    case KRF_F32:
    case KRF_F64: snprintf(text, sizeof text, "random_uniform(%lld, seed, dtype=%s) * 0.9 + 0.1", (long long)n, name); break;
    case KRF_C64:
    case KRF_C128:
        name = input->dtype == KRF_C64 ? "f32" : "f64";
        snprintf(text, sizeof text, "complex(random_uniform(%lld, seed, dtype=%s), random_uniform(%lld, seed + 100, dtype=%s))", (long long)n,
                 name, (long long)n, name);
        break;
    default: snprintf(text, sizeof text, "random_integers(1, 100, %lld, seed, dtype=%s)", (long long)n, name);
    }
    const krf_binding binding = krf_bind_int("seed", seed);
    krf_status status = make_plan(context, text, 1, &binding, true, &plan, &count);
    status = status != KRF_OK ? status : krf_plan_run(plan, NULL, 0, NULL, &flat);
    status = status != KRF_OK ? status : krf_array_view(flat, input->rank, input->shape, NULL, 0, array);
    krf_array_release(flat);
    krf_plan_release(plan);
    return status;
}

static double array_bytes(const krf_array *a) { return (double)krf_array_size(a) * (double)krf_dtype_size(krf_array_dtype(a)); }

/* Everything up to the first result. */
static krf_status prepare(const bench *b, job *j) {
    krf_binding bindings[BENCH_INPUTS + BENCH_SIZES];
    krf_cache_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    krf_status status = KRF_OK;
    int n = 0;
    for (int i = 0; i < j->w->n_inputs && status == KRF_OK; i++) {
        status = make_input(j->context, &j->w->inputs[i], i + 1, &j->inputs[i]);
        if (status == KRF_OK) {
            bindings[n++] = krf_bind_array(j->w->inputs[i].name, j->inputs[i]);
            j->bytes_in += array_bytes(j->inputs[i]);
        }
    }
    for (int i = 0; i < j->w->n_sizes; i++) {
        bindings[n++] = krf_bind_int(j->w->size_names[i], j->w->sizes[i]);
    }
    /* The lesser of two: the first one warms the processor's caches up. */
    for (int i = 0; i < 2 && status == KRF_OK; i++) {
        double start = bench_now();
        status = make_plan(j->context, j->w->program, n, bindings, false, &j->plan, &j->n_outputs);
        double ms = (bench_now() - start) * 1e3;
        j->plan_ms = i == 0 || ms < j->plan_ms ? ms : j->plan_ms;
        krf_plan_release(j->plan);
        j->plan = NULL;
    }
    const double start = bench_now();
    status = status != KRF_OK ? status : krf_context_cache_stats(j->context, &before);
    status = status != KRF_OK ? status : make_plan(j->context, j->w->program, n, bindings, true, &j->plan, &j->n_outputs);
    status = status != KRF_OK ? status : krf_context_cache_stats(j->context, &after);
    j->compile_ms = after.compiled > before.compiled ? (bench_now() - start) * 1e3 - j->plan_ms : 0; /* what a caller waits for: kernels are compiled side by side */
    if (status == KRF_OK && !b->no_runs) {
        status = krf_plan_run(j->plan, b->events ? bench_gpu_stream(b->gpu) : NULL, 0, NULL, j->outputs);
        status = status != KRF_OK ? status : krf_context_synchronize(j->context);
    }
    for (int i = 0; i < j->n_outputs && j->outputs[i] != NULL; i++) {
        j->bytes_out += array_bytes(j->outputs[i]);
    }
    /* Of a GPU a copy stands for reads as well: it reads as fast as it copies. */
    j->limit = j->bytes_in * 8 < j->bytes_out ? BENCH_WRITE : !b->info.is_cuda && j->bytes_out * 8 < j->bytes_in ? BENCH_READ : BENCH_COPY;
    return status;
}

static void release(job *j) {
    krf_plan_release(j->plan);
    for (int i = 0; i < BENCH_INPUTS; i++) {
        krf_array_release(j->inputs[i]);
    }
    for (int i = 0; i < MAX_RESULTS; i++) {
        krf_array_release(j->outputs[i]);
    }
}

/* ---- timing ---- */

/* Seconds a launch, of so many in a row. */
static krf_status time_batch(const bench *b, job *j, int launches, double *seconds) {
    void *stream = b->events ? bench_gpu_stream(b->gpu) : NULL;
    krf_status status = krf_context_synchronize(j->context);
    bool clock = b->events && bench_gpu_start(b->gpu);
    double start = bench_now();
    for (int i = 0; i < launches && status == KRF_OK; i++) {
        status = krf_plan_run(j->plan, stream, 0, NULL, j->outputs);
    }
    *seconds = clock ? bench_gpu_stop(b->gpu) : 0;
    status = status != KRF_OK ? status : krf_context_synchronize(j->context);
    *seconds = (clock ? *seconds : bench_now() - start) / launches;
    return status;
}

static krf_status measure(bench *b, job *j) {
    const double batch = b->info.is_cuda ? BATCH_GPU : BATCH_CPU;
    double once = 0;
    krf_status status = KRF_OK;
    int launches = 1;
    for (int i = 0; i < 3 && status == KRF_OK; i++) {
        status = time_batch(b, j, launches, &once);
        double wanted = batch / (once > 1e-7 ? once : 1e-7);
        launches = wanted < 1 ? 1 : wanted > MOST_LAUNCHES ? MOST_LAUNCHES : (int)wanted;
    }
    const int warm = once > WARM_CPU ? 1 : once > WARM_CPU / MOST_WARM ? (int)(WARM_CPU / once) : MOST_WARM;
    for (int r = 0; r < b->repeat && status == KRF_OK; r++) {
        /* Beside each other, so that a slow moment hits both; but caches hold what runs back to back leave there, as before those of peers.py: one run does not push out all that a limit left. */
        j->limit_times[r] = b->info.is_cuda ? 0 : bench_cpu_run(&b->cpu, j->limit);
        status = b->info.is_cuda ? KRF_OK : time_batch(b, j, warm, &once);
        status = status == KRF_OK ? time_batch(b, j, launches, &j->times[r]) : status;
    }
    return status;
}

/* GB/s of copies and of memsets on the GPU, 256 MiB a buffer. */
static void measure_gpu_limits(bench *b) {
    krf_array *a[2] = {NULL, NULL};
    const int64_t n = (int64_t)LIMIT_BYTES / (b->scale < SIMULATED ? 1 : 256);
    bool ok = krf_array_create(b->contexts[0], KRF_U8, 1, &n, &a[0]) == KRF_OK && krf_array_create(b->contexts[0], KRF_U8, 1, &n, &a[1]) == KRF_OK
              && krf_context_synchronize(b->contexts[0]) == KRF_OK;
    for (int limit = 0; ok && limit < BENCH_LIMITS; limit++) {
        double times[MAX_REPEAT];
        for (int r = -1; r < 9; r++) {
            times[r < 0 ? 0 : r] = bench_gpu_run(b->gpu, (bench_limit)limit, krf_array_data(a[0]), krf_array_data(a[1]), (size_t)n, 50);
        }
        b->limits[limit] = (limit == BENCH_WRITE ? 1e-9 : 2e-9) * (double)n / median(times, 9);
    }
    krf_array_release(a[0]);
    krf_array_release(a[1]);
}

/* ---- output ---- */

static const char *const limit_names[BENCH_LIMITS] = {"copy", "read", "write"};

static void print_spills(const job *j) {
    for (int i = 0; i < krf_plan_kernels(j->plan); i++) {
        krf_kernel_info info = {.size = sizeof info};
        if (krf_plan_kernel(j->plan, i, &info) == KRF_OK && info.spill_bytes > 0) {
            printf("# %s: kernel %d (%s) has %d bytes of local memory a thread, %d registers\n", j->w->name, i, info.schedule, info.spill_bytes,
                   info.registers);
        }
    }
}

static void print_row(bench *b, job *j) {
    double seconds = b->no_runs ? 0 : median(j->times, b->repeat), best = b->no_runs ? 0 : j->times[0];
    if (!b->info.is_cuda && !b->no_runs) {
        median(j->limit_times, b->repeat); /* sorts them */
        b->limits[j->limit] = (j->limit == BENCH_COPY ? 2e-9 : 1e-9) * (double)b->cpu.bytes / j->limit_times[0];
    }
    /* The best of both on a CPU, which other processes disturb. */
    const double bytes = j->bytes_in + j->bytes_out, gbs = seconds > 0 ? bytes * 1e-9 / (b->info.is_cuda ? seconds : best) : 0;
    const double of_limit = b->limits[j->limit] > 0 ? gbs / b->limits[j->limit] : 0;
    if (b->json) {
        printf("{\"workload\":\"%s\",\"peer\":\"kerfuse\",\"math\":\"%s\",\"ms\":%.5f,\"best_ms\":%.5f,\"gbs\":%.1f,\"of\":\"%s\",\"of_limit\":%.4f,"
               "\"limit_gbs\":%.1f,\"bytes\":%.0f,\"kernels\":%d,\"compile_ms\":%.2f,\"plan_ms\":%.3f,\"scale\":%lld}\n",
               j->w->name, j->math, seconds * 1e3, best * 1e3, gbs, limit_names[j->limit], of_limit, b->limits[j->limit], bytes,
               krf_plan_kernels(j->plan), j->compile_ms, j->plan_ms, (long long)b->scale);
    } else {
        printf("%-28s %-7s %10.4f %10.4f %8.1f %6.3f of %-5s %3d %9.1f %8.3f\n", j->w->name, j->math, seconds * 1e3, best * 1e3, gbs, of_limit,
               limit_names[j->limit], krf_plan_kernels(j->plan), j->compile_ms, j->plan_ms);
    }
    fflush(stdout);
}

static bool open_context(bench *b, bool fast) {
    krf_context_options options = krf_context_options_default();
    options.device = b->device != NULL ? b->device : options.device;
    options.blocking_compile = true;
    options.cpu_tier = options.cpu_tier == KRF_CPU_AUTO ? KRF_CPU_COMPILE : options.cpu_tier;
    options.math = fast ? KRF_MATH_FAST : KRF_MATH_PRECISE;
    b->info.size = sizeof b->info;
    if (krf_context_create(&options, &b->contexts[fast]) != KRF_OK || krf_context_device(b->contexts[fast], &b->info) != KRF_OK) {
        fprintf(stderr, "kerfuse-bench: %s\n", krf_error_message());
        return false;
    }
    return true;
}

static void run_workload(bench *b, const bench_workload *w, bool fast) {
    job j = {.w = w, .context = b->contexts[fast], .math = fast ? "fast" : "precise"};
    krf_status status = prepare(b, &j);
    status = status != KRF_OK || b->no_runs ? status : measure(b, &j);
    if (status == KRF_OK) {
        print_row(b, &j);
    } else {
        fprintf(stderr, "kerfuse-bench: %s: %s: %s\n", w->name, krf_status_name(status), krf_error_message());
        b->failed = true;
    }
    if (status == KRF_OK && b->spills) {
        print_spills(&j);
    }
    release(&j);
    if (b->info.is_cuda && b->scale < SIMULATED) { /* memory that earlier rows left behind makes later ones up to 5 % slower, copies too */
        krf_context_destroy(b->contexts[fast]);
        b->contexts[fast] = NULL;
        b->failed |= !open_context(b, fast);
    }
}

/* ---- the whole ---- */

static bool wanted(const bench *b, const char *name) {
    bool found = b->n_only == 0;
    for (int i = 0; i < b->n_only && !found; i++) {
        found = strstr(name, b->only[i]) != NULL;
    }
    return found;
}

static bool is_open(const bench *b) { return b->contexts[0] != NULL && (!b->fast || b->contexts[1] != NULL); }

static bool open_limits(bench *b) {
    if (b->info.is_cuda) {
        const char *colon = b->device != NULL ? strchr(b->device, ':') : NULL;
        b->gpu = bench_gpu_open(colon != NULL ? atoi(colon + 1) : 0);
        b->events = b->events && b->gpu != NULL && bench_gpu_start(b->gpu);
        if (b->gpu != NULL && !b->no_runs) {
            measure_gpu_limits(b);
        }
        return b->gpu != NULL;
    }
    b->events = false;
    return b->no_runs || bench_cpu_open(&b->cpu, LIMIT_BYTES / (size_t)(b->scale < 4 ? b->scale : 4), b->info.multiprocessors);
}

static void print_head(const bench *b) {
    printf("# %s, %s, %s, %d %s, scale %lld, median of %d\n", b->info.name, b->info.arch, b->info.compiler != NULL ? b->info.compiler : "no compiler",
           b->info.multiprocessors, b->info.is_cuda ? "multiprocessors" : "threads", (long long)b->scale, b->repeat);
    if (b->info.is_cuda) {
        printf("# copy %.1f GB/s, write %.1f GB/s; clock: %s\n", b->limits[BENCH_COPY], b->limits[BENCH_WRITE], b->events ? "events" : "wall");
    }
    if (!b->json) {
        printf("%-28s %-7s %10s %10s %8s %15s %3s %9s %8s\n", "workload", "math", "ms", "best ms", "GB/s", "fraction", "krn", "compile", "plan ms");
    }
}

static bool read_arguments(bench *b, int argc, char **argv) {
    enum { DEVICE = 256, ONLY, SCALE, REPEAT, MATH, CLOCK, NO_RUNS, SPILLS, JSON, LIST, TABLE, HELP };
    static const struct option longs[] = {{"device", 1, NULL, DEVICE}, {"only", 1, NULL, ONLY},       {"scale", 1, NULL, SCALE},
                                          {"repeat", 1, NULL, REPEAT}, {"math", 1, NULL, MATH},       {"clock", 1, NULL, CLOCK},
                                          {"no-runs", 0, NULL, NO_RUNS}, {"spills", 0, NULL, SPILLS}, {"json", 0, NULL, JSON},
                                          {"list", 0, NULL, LIST},     {"workloads", 1, NULL, TABLE}, {"help", 0, NULL, HELP},
                                          {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        switch (c) {
        case DEVICE: b->device = optarg; break;
        case ONLY: b->only[b->n_only] = optarg; b->n_only += b->n_only < MAX_ONLY - 1; break;
        case SCALE: b->scale = atoll(optarg); break;
        case REPEAT: b->repeat = atoi(optarg); break;
        case MATH: b->precise = strcmp(optarg, "fast") != 0; b->fast = strcmp(optarg, "precise") != 0; break;
        case CLOCK: b->events = strcmp(optarg, "events") == 0; break;
        case NO_RUNS: b->no_runs = true; break;
        case SPILLS: b->spills = true; break;
        case JSON: b->json = true; break;
        case LIST: b->list = true; break;
        case TABLE: b->table = optarg; break;
        default: fprintf(c == HELP ? stdout : stderr, "%s", help); exit(c == HELP ? 0 : 2);
        }
    }
    b->scale = b->scale < 1 ? 1 : b->scale;
    b->repeat = b->repeat > MAX_REPEAT ? MAX_REPEAT : b->repeat;
    return optind == argc;
}

int main(int argc, char **argv) {
    bench b = {.scale = 1, .precise = true, .fast = true, .table = KRF_BENCH_WORKLOADS};
    bench_workloads list;
    if (!read_arguments(&b, argc, argv)) {
        fprintf(stderr, "%s", help);
        return 2;
    }
    const char *error = bench_workloads_read(b.table, b.scale, &list);
    if (error != NULL) {
        fprintf(stderr, "kerfuse-bench: %s\n", error);
        return 1;
    }
    if (!b.list) {
        bool ok = open_context(&b, false) && (!b.fast || open_context(&b, true));
        b.repeat = b.repeat > 0 ? b.repeat : b.info.is_cuda ? 7 : 15;
        b.failed = !ok || !open_limits(&b);
        if (!b.failed) {
            print_head(&b);
        }
    }
    for (int i = 0; i < list.n && (b.list || is_open(&b)); i++) {
        const bench_workload *w = &list.of[i];
        if (!wanted(&b, w->name)) {
            continue;
        }
        if (b.list) {
            printf("%s\n", w->name);
            continue;
        }
        if (b.precise) {
            run_workload(&b, w, false);
        }
        if (b.fast && w->math) {
            run_workload(&b, w, true);
        }
    }
    bench_cpu_close(&b.cpu);
    bench_gpu_close(b.gpu);
    krf_context_destroy(b.contexts[0]);
    krf_context_destroy(b.contexts[1]);
    bench_workloads_free(&list);
    return b.failed;
}
