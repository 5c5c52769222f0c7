/* Times kerfuse on one device, and in the same run what the device can move: a copy through kerfuse, and on the CPU plain-store copies and reads by
 * threads of its own. Each row is the median over runs, the workloads taken in turn so that a slow moment hits all of them.
 *
 *   kerfuse-bench [--device cpu|cuda] [--size N] [--repeat R] [--only NAME] [--json]
 *
 * GB/s counts the least bytes: each input read once, each output written once. */
#include <getopt.h>
#include <kerfuse/kerfuse.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MAX_REPEAT 101
#define LAUNCHES 10 /* of a GPU between two looks at the clock */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(krf_status status) {
    if (status != KRF_OK) {
        fprintf(stderr, "kerfuse-bench: %s: %s\n", krf_status_name(status), krf_error_message());
        exit(1);
    }
}

/* ---- what the machine can do: plain loops over huge pages, one piece a thread ---- */

typedef struct piece {
    const double *from;
    double *to;
    size_t n;
    double sum;
} piece;

/* The addition keeps compilers from calling memcpy, which would write past the cache. */
__attribute__((noinline)) static void *copy_piece(void *p) {
    piece *it = p;
    for (size_t i = 0; i < it->n; i++) {
        it->to[i] = it->from[i] + 0.0;
    }
    return NULL;
}

__attribute__((noinline)) static void *read_piece(void *p) {
    piece *it = p;
    double lanes[64] = {0};
    for (size_t i = 0; i + 64 <= it->n; i += 64) {
        for (size_t k = 0; k < 64; k++) {
            lanes[k] += it->from[i + k];
        }
    }
    for (size_t k = 0; k < 64; k++) {
        it->sum += lanes[k];
    }
    return NULL;
}

static double run_pieces(void *(*work)(void *), const double *from, double *to, size_t n, int threads) {
    piece pieces[64];
    pthread_t ids[64];
    double start = now();
    for (int t = 0; t < threads; t++) {
        size_t first = n * (size_t)t / (size_t)threads, last = n * ((size_t)t + 1) / (size_t)threads;
        pieces[t] = (piece){from + first, to == NULL ? NULL : to + first, last - first, 0};
        if (pthread_create(&ids[t], NULL, work, &pieces[t]) != 0) {
            exit(1);
        }
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(ids[t], NULL);
    }
    return now() - start;
}

static double *huge(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        exit(1);
    }
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 1, bytes);
    return p;
}

/* ---- workloads ---- */

typedef struct workload {
    const char *name, *text;
    krf_dtype dtype;
    int inputs;
    double writes; /* outputs of full size */
    int64_t divide; /* of --size */
} workload;

static const workload workloads[] = {
    {"copy_f32", NULL, KRF_F32, 1, 1, 1},
    {"softplus_f32", "maximum(x,0)+log1p(exp(-abs(x)))", KRF_F32, 1, 1, 1},
    {"softplus_f64", "maximum(x,0)+log1p(exp(-abs(x)))", KRF_F64, 1, 1, 1},
    {"sqdiff_f32", "(x-y)**2", KRF_F32, 2, 1, 1},
    {"sum_sqdiff_f32", "sum((x-y)**2)", KRF_F32, 2, 0, 1},
    {"sum_f32", "sum(x)", KRF_F32, 1, 0, 1},
    {"sum_f32_1M", "sum(x)", KRF_F32, 1, 0, 64},
    {"rowmean_f32_8192", "mean(reshape(x, (-1, 8192)), axis=1)", KRF_F32, 1, 0, 1},
    {"rowsum_f32_64", "sum(reshape(x, (-1, 64)), axis=1)", KRF_F32, 1, 1.0 / 64, 1},
    {"colsum_f32_8192", "sum(reshape(x, (-1, 8192)), axis=0)", KRF_F32, 1, 0, 1},
    {"outer_sqdiff_f32", "r = reshape(x, (-1, 8192)); (r - r[0:1, :])**2", KRF_F32, 1, 1, 1},
    {"nll_f64", "z = (x - 0.1) / 1.7; -sum(-0.5 * z * z - log(1.7))", KRF_F64, 1, 0, 2},
};
#define N_WORKLOADS (sizeof workloads / sizeof *workloads)

typedef struct prepared {
    krf_plan *plan;
    krf_array *inputs[2], *output;
    double bytes, compile_ms, times[MAX_REPEAT];
} prepared;

static krf_array *samples(krf_context *ctx, krf_dtype dtype, int64_t n, unsigned seed) {
    krf_array *a;
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    void *data = malloc((size_t)n * krf_dtype_size(dtype));
    if (data == NULL) {
        exit(1);
    }
    for (int64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(state >> 40) / (1 << 24) * 16 - 8;
        if (dtype == KRF_F32) {
            ((float *)data)[i] = (float)v;
        } else {
            ((double *)data)[i] = v;
        }
    }
    check(krf_array_from_host(ctx, dtype, 1, &n, data, &a));
    free(data);
    return a;
}

static void prepare(krf_context *ctx, const workload *w, int64_t size, prepared *p) {
    int64_t n = size / w->divide;
    krf_binding names[2];
    krf_cache_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    for (int i = 0; i < w->inputs; i++) {
        p->inputs[i] = samples(ctx, w->dtype, n, (unsigned)i + 1);
        names[i] = krf_bind_array(i == 0 ? "x" : "y", p->inputs[i]);
    }
    p->bytes = (double)n * (double)krf_dtype_size(w->dtype) * ((double)w->inputs + w->writes);
    if (w->text == NULL) {
        check(krf_array_create(ctx, w->dtype, 1, &n, &p->output));
        return;
    }
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y;
    check(krf_parse(g, w->text, names, w->inputs, &y));
    check(krf_context_cache_stats(ctx, &before));
    check(krf_compile(g, 1, &y, NULL, &p->plan));
    check(krf_context_cache_stats(ctx, &after));
    p->compile_ms = after.compile_ms - before.compile_ms;
    krf_graph_destroy(g);
}

static void run_once(const workload *w, prepared *p) {
    check(w->text == NULL ? krf_array_copy(p->output, p->inputs[0]) : krf_plan_run(p->plan, NULL, 0, NULL, &p->output));
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

static void print_row(bool json, const char *name, double ms, double best, double gbs, double of_copy, double of_read, double compile_ms) {
    if (json) {
        printf("{\"name\":\"%s\",\"ms\":%.5f,\"best_ms\":%.5f,\"gb_per_s\":%.1f,\"of_copy\":%.3f,\"of_read\":%.3f,\"compile_ms\":%.2f}\n", name, ms,
               best, gbs, of_copy, of_read, compile_ms);
    } else {
        printf("%-20s %10.4f %10.4f %9.1f %8.3f %8.3f %10.2f\n", name, ms, best, gbs, of_copy, of_read, compile_ms);
    }
}

int main(int argc, char **argv) {
    static const struct option longs[] = {{"device", 1, NULL, 'd'}, {"size", 1, NULL, 'n'}, {"repeat", 1, NULL, 'r'},
                                          {"only", 1, NULL, 'o'},   {"json", 0, NULL, 'j'}, {NULL, 0, NULL, 0}};
    int64_t size = 1 << 26;
    int repeat = 21, option;
    const char *only = NULL;
    bool json = false;
    krf_context_options options = krf_context_options_default();
    options.blocking_compile = true;
    options.cpu_tier = options.cpu_tier == KRF_CPU_AUTO ? KRF_CPU_COMPILE : options.cpu_tier;
    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (option) {
        case 'd': options.device = optarg; break;
        case 'n': size = atoll(optarg); break;
        case 'r': repeat = atoi(optarg); break;
        case 'o': only = optarg; break;
        case 'j': json = true; break;
        default: return 2;
        }
    }
    repeat = repeat < 1 ? 1 : repeat > MAX_REPEAT ? MAX_REPEAT : repeat;
    krf_context *ctx;
    krf_device_info info = {.size = sizeof info};
    check(krf_context_create(&options, &ctx));
    check(krf_context_device(ctx, &info));
    static prepared all[N_WORKLOADS];
    static double copies[MAX_REPEAT], reads[MAX_REPEAT];
    for (size_t w = 0; w < N_WORKLOADS; w++) {
        if (only == NULL || w == 0 || strcmp(only, workloads[w].name) == 0) {
            prepare(ctx, &workloads[w], size, &all[w]);
        }
    }
    size_t n = (size_t)size / 2; /* as doubles: the bytes of the f32 workloads */
    double *from = info.is_cuda ? NULL : huge(n * 8), *to = info.is_cuda ? NULL : huge(n * 8);
    for (int r = -2; r < repeat; r++) { /* two rounds to warm up */
        for (size_t w = 0; w < N_WORKLOADS; w++) {
            if (all[w].bytes == 0) {
                continue;
            }
            int launches = info.is_cuda ? LAUNCHES : 1;
            check(krf_context_synchronize(ctx));
            double start = now();
            for (int i = 0; i < launches; i++) {
                run_once(&workloads[w], &all[w]);
            }
            check(krf_context_synchronize(ctx));
            all[w].times[r < 0 ? 0 : r] = (now() - start) / launches;
        }
        if (!info.is_cuda) {
            copies[r < 0 ? 0 : r] = run_pieces(copy_piece, from, to, n, info.multiprocessors);
            reads[r < 0 ? 0 : r] = run_pieces(read_piece, from, NULL, n, info.multiprocessors);
        }
    }
    double copy = (double)n * 16 / 1e9 / median(copies, repeat), read = (double)n * 8 / 1e9 / median(reads, repeat);
    if (info.is_cuda) {
        copy = read = all[0].bytes / 1e9 / median(all[0].times, repeat);
    }
    printf("# %s, %s, %s, %d %s, %lld elements, %d runs, median\n", info.name, info.arch, info.compiler != NULL ? info.compiler : "no compiler",
           info.multiprocessors, info.is_cuda ? "multiprocessors" : "threads", (long long)size, repeat);
    printf("# copy %.1f GB/s (%s), read %.1f GB/s\n", copy, info.is_cuda ? "device to device" : "plain stores", read);
    if (!json) {
        printf("%-20s %10s %10s %9s %8s %8s %10s\n", "workload", "ms", "best ms", "GB/s", "of copy", "of read", "compile ms");
    }
    for (size_t w = 0; w < N_WORKLOADS; w++) {
        if (all[w].bytes > 0) {
            double t = median(all[w].times, repeat), gbs = all[w].bytes / 1e9 / t;
            print_row(json, workloads[w].name, t * 1e3, all[w].times[0] * 1e3, gbs, gbs / copy, gbs / read, all[w].compile_ms);
        }
        krf_plan_release(all[w].plan);
        krf_array_release(all[w].inputs[0]);
        krf_array_release(all[w].inputs[1]);
        krf_array_release(all[w].output);
    }
    krf_context_destroy(ctx);
    return 0;
}
