/* What the examples need besides kerfuse: a check, a clock, samples, and arrays as C sees them. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <kerfuse/kerfuse.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Ends the example where something failed. */
static inline void check(krf_status status) {
    if (status != KRF_OK) {
        fprintf(stderr, "%s\n", krf_error_message());
        exit(EXIT_FAILURE);
    }
}

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The default device. CPU kernels are compiled before their first run, not beside it: all timed runs are alike. */
static inline krf_context *open_device(void) {
    krf_context_options options = krf_context_options_default();
    krf_context *ctx = NULL;
    krf_device_info device = {.size = sizeof device};
    options.blocking_compile = true;
    check(krf_context_create(&options, &ctx));
    check(krf_context_device(ctx, &device));
    printf("device: %s (%s)\n", device.name, device.arch);
    return ctx;
}

/* A .npy file, or 10 million f32 between -20 and 20, other ones for another seed. */
static inline krf_array *load_or_make(krf_context *ctx, const char *path, int64_t seed) {
    enum { N = 10000000 };
    krf_array *array = NULL;
    if (path != NULL) {
        check(krf_array_load(ctx, path, &array));
        return array;
    }
    float *data = malloc(sizeof *data * N);
    for (int64_t i = 0; data != NULL && i < N; i++) {
        data[i] = (float)(i * seed % N) * (40.0f / N) - 20;
    }
    check(krf_array_from_host(ctx, KRF_F32, 1, (int64_t[]){N}, data, &array));
    free(data);
    return array;
}

/* An expression's elements as doubles, to be freed. krf_eval is compile and run in one; it makes the output from NULL.
 */
static inline double *as_doubles(krf_expr x) {
    krf_array *converted = NULL;
    check(krf_eval(krf_cast(x, KRF_F64), &converted));
    size_t bytes = (size_t)krf_array_size(converted) * sizeof(double);
    double *data = malloc(bytes + 1);
    check(krf_array_to_host(converted, data, bytes));
    krf_array_release(converted);
    return data;
}

/* Bytes of all elements. */
static inline double bytes_of(const krf_array *array) {
    return (double)krf_array_size(array) * (double)krf_dtype_size(krf_array_dtype(array));
}

/* Time of a plan's fastest run of ten. Outputs that are NULL are made by the first. */
static inline double time_plan(krf_context *ctx, krf_plan *plan, krf_array **outputs) {
    double best = INFINITY;
    for (int i = 0; i < 10; i++) {
        double start = seconds();
        check(krf_plan_run(plan, NULL, 0, NULL, outputs));
        check(krf_context_synchronize(ctx));
        best = fmin(best, seconds() - start);
    }
    return best;
}

/* Bytes read and written in a second by plain copies of an array: what a kernel's speed is to be compared with. */
static inline double copy_bandwidth(krf_context *ctx, krf_array *array) {
    double best = INFINITY;
    krf_array *copy = NULL;
    check(krf_array_create(ctx, krf_array_dtype(array), krf_array_rank(array), krf_array_shape(array), &copy));
    for (int i = 0; i < 10; i++) {
        double start = seconds();
        check(krf_array_copy(copy, array));
        check(krf_context_synchronize(ctx));
        best = fmin(best, seconds() - start);
    }
    krf_array_release(copy);
    return 2 * bytes_of(array) / best;
}

#endif
