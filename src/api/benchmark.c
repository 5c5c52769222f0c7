/* Timing of a plan: events around runs, and the clock. */
#include <kerfuse/plan.h>
#include <kerfuse/stream.h>

#include "api/info.h"
#include "api/plan.h"
#include "base/fail.h"
#include "base/mem.h"

#include <stdlib.h>
#include <time.h>

krf_benchmark_options krf_benchmark_options_default(void) {
    return (krf_benchmark_options){
        .size = sizeof(krf_benchmark_options), .warm_up = 10, .repeat = 1000, .seconds = 2};
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The same arguments for every run. */
typedef struct job {
    krf_plan *plan;
    void *stream;
    int n;
    const krf_binding *bindings;
    krf_array **outputs;
    krf_event *from, *to;
} job;

static krf_status run(const job *j, double *cpu, double *gpu) {
    krf_status status = krf_event_record(j->from, j->stream);
    double start = now_us(), ms = 0;
    status = status == KRF_OK ? krf_plan_run(j->plan, j->stream, j->n, j->bindings, j->outputs) : status;
    *cpu = now_us() - start;
    status = status == KRF_OK ? krf_event_record(j->to, j->stream) : status;
    status = status == KRF_OK ? krf_event_elapsed(j->from, j->to, &ms) : status;
    *gpu = ms * 1e3;
    return status;
}

static krf_status measure(const job *j, const krf_benchmark_options *o, double *cpu, double *gpu, int *runs) {
    krf_status status = KRF_OK;
    double unused[2], end = 0;
    for (int i = 0; status == KRF_OK && i < o->warm_up; i++) {
        status = run(j, &unused[0], &unused[1]);
    }
    end = now_us() + o->seconds * 1e6;
    for (*runs = 0; status == KRF_OK && *runs < o->repeat && (*runs == 0 || now_us() < end); ++*runs) {
        status = run(j, &cpu[*runs], &gpu[*runs]);
    }
    return status;
}

static krf_status benchmark(job *j, const krf_benchmark_options *o, krf_benchmark_times *times) {
    int runs = 0;
    double *cpu = krf__malloc((size_t)o->repeat * 2 * sizeof *cpu), *gpu = cpu != NULL ? cpu + o->repeat : NULL;
    if (cpu == NULL) {
        return krf__fail_memory();
    }
    krf_status status = krf_event_create(j->plan->context, true, &j->from);
    status = status == KRF_OK ? krf_event_create(j->plan->context, true, &j->to) : status;
    status = status == KRF_OK ? measure(j, o, cpu, gpu, &runs) : status;
    if (status == KRF_OK) {
        qsort(cpu, (size_t)runs, sizeof *cpu, by_value);
        qsort(gpu, (size_t)runs, sizeof *gpu, by_value);
        *times = (krf_benchmark_times){.runs = runs,
                                       .cpu_min = cpu[0],
                                       .cpu_median = cpu[runs / 2],
                                       .cpu_max = cpu[runs - 1],
                                       .gpu_min = gpu[0],
                                       .gpu_median = gpu[runs / 2],
                                       .gpu_max = gpu[runs - 1]};
    }
    krf_event_destroy(j->from);
    krf_event_destroy(j->to);
    krf__mem_free(cpu);
    return status;
}

krf_status krf_benchmark(krf_plan *plan, const krf_benchmark_options *options, int n, const krf_binding *bindings,
                         krf_array **outputs, krf_benchmark_times *times) {
    krf_benchmark_options whole = krf_benchmark_options_default();
    krf_benchmark_times full = {0};
    if (plan == NULL || outputs == NULL || times == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_benchmark: an argument is NULL");
    }
    if (options != NULL && options->size <= sizeof options->size) {
        return krf__fail(KRF_E_ARGUMENT, "krf_benchmark: start from krf_benchmark_options_default()");
    }
    if (options != NULL) {
        memcpy(&whole, options, options->size < sizeof whole ? options->size : sizeof whole);
    }
    if (whole.warm_up < 0 || whole.repeat < 1 || whole.repeat > 100000000 || !(whole.seconds >= 0)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_benchmark: warm_up %d, repeat %d and %g seconds make no sense", whole.warm_up,
                         whole.repeat, whole.seconds);
    }
    job j = {.plan = plan, .stream = whole.stream, .n = n, .bindings = bindings, .outputs = outputs};
    krf_status status = benchmark(&j, &whole, &full);
    return status == KRF_OK ? krf__info_give("krf_benchmark", times, &full, sizeof full) : status;
}
