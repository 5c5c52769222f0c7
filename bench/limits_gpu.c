/* The CUDA driver by dlopen, so that the benchmark is built where there is none. */
#include "limits.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned int cu_result;
typedef unsigned long long cu_address;

/* Versioned names have one signature for ever; what is OPTIONAL has a substitute. */
#define ENTRIES(REQUIRED, OPTIONAL)                                             \
    REQUIRED(cuInit, (unsigned int flags))                                      \
    REQUIRED(cuDeviceGet, (int *device, int ordinal))                           \
    REQUIRED(cuDevicePrimaryCtxRetain, (void **context, int device))            \
    REQUIRED(cuDevicePrimaryCtxRelease_v2, (int device))                        \
    REQUIRED(cuCtxPushCurrent_v2, (void *context))                              \
    REQUIRED(cuCtxPopCurrent_v2, (void **context))                              \
    REQUIRED(cuStreamCreate, (void **stream, unsigned int flags))               \
    REQUIRED(cuStreamDestroy_v2, (void *stream))                                \
    REQUIRED(cuStreamSynchronize, (void *stream))                               \
    REQUIRED(cuMemcpyDtoDAsync_v2, (cu_address to, cu_address from, size_t bytes, void *stream)) \
    REQUIRED(cuMemsetD8Async, (cu_address to, unsigned char value, size_t bytes, void *stream))  \
    OPTIONAL(cuEventCreate, (void **event, unsigned int flags))                 \
    OPTIONAL(cuEventDestroy_v2, (void *event))                                  \
    OPTIONAL(cuEventRecord, (void *event, void *stream))                        \
    OPTIONAL(cuEventSynchronize, (void *event))                                 \
    OPTIONAL(cuEventElapsedTime, (float *milliseconds, void *start, void *end))

enum { NON_BLOCKING = 1 };

struct bench_gpu {
#define FIELD(name, arguments) cu_result(*name) arguments;
    ENTRIES(FIELD, FIELD)
#undef FIELD
    void *library, *context, *stream, *events[2];
    int device;
    bool clock;
};

#define LOAD(name, arguments) *(void **)&g->name = dlsym(g->library, #name);
#define MISSING(name, arguments) || g->name == NULL
#define NOTHING(name, arguments)

static bool enter(const bench_gpu *g) { return g->cuCtxPushCurrent_v2(g->context) == 0; }

static void leave(const bench_gpu *g) {
    void *context = NULL;
    g->cuCtxPopCurrent_v2(&context);
}

bench_gpu *bench_gpu_open(int device) {
    const char *path = getenv("KRF_LIBCUDA");
    bench_gpu *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return NULL;
    }
    g->library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (g->library != NULL) {
        ENTRIES(LOAD, LOAD)
    }
    if (g->library == NULL ENTRIES(MISSING, NOTHING) || g->cuInit(0) != 0 || g->cuDeviceGet(&g->device, device) != 0
        || g->cuDevicePrimaryCtxRetain(&g->context, g->device) != 0) {
        fprintf(stderr, "kerfuse-bench: no CUDA driver\n");
        bench_gpu_close(g);
        return NULL;
    }
    bool ok = enter(g) && g->cuStreamCreate(&g->stream, NON_BLOCKING) == 0;
    g->clock = ok && g->cuEventElapsedTime != NULL && g->cuEventSynchronize != NULL && g->cuEventCreate(&g->events[0], 0) == 0
               && g->cuEventCreate(&g->events[1], 0) == 0;
    leave(g);
    if (!ok) {
        fprintf(stderr, "kerfuse-bench: the CUDA driver gives no stream\n");
        bench_gpu_close(g);
        return NULL;
    }
    return g;
}

void *bench_gpu_stream(const bench_gpu *g) { return g->stream; }

bool bench_gpu_start(bench_gpu *g) {
    if (!g->clock || !enter(g)) {
        return false;
    }
    bool ok = g->cuEventRecord(g->events[0], g->stream) == 0;
    leave(g);
    return ok;
}

double bench_gpu_stop(bench_gpu *g) {
    float ms = 0;
    bool ok = enter(g) && g->cuEventRecord(g->events[1], g->stream) == 0 && g->cuEventSynchronize(g->events[1]) == 0
              && g->cuEventElapsedTime(&ms, g->events[0], g->events[1]) == 0;
    leave(g);
    return ok ? (double)ms / 1e3 : 0;
}

double bench_gpu_run(bench_gpu *g, bench_limit what, void *to, void *from, size_t bytes, int times) {
    cu_result failed = enter(g) ? 0 : 1;
    double start = bench_now();
    for (int i = 0; i < times && failed == 0; i++) {
        failed = what == BENCH_WRITE ? g->cuMemsetD8Async((cu_address)to, 1, bytes, g->stream)
                                     : g->cuMemcpyDtoDAsync_v2((cu_address)to, (cu_address)from, bytes, g->stream);
    }
    failed = failed != 0 ? failed : g->cuStreamSynchronize(g->stream);
    double seconds = bench_now() - start;
    leave(g);
    return failed == 0 ? seconds / times : 0;
}

void bench_gpu_close(bench_gpu *g) {
    if (g == NULL) {
        return;
    }
    if (g->context != NULL) {
        if (enter(g)) {
            for (int i = 0; i < 2; i++) {
                if (g->events[i] != NULL) {
                    g->cuEventDestroy_v2(g->events[i]);
                }
            }
            if (g->stream != NULL) {
                g->cuStreamDestroy_v2(g->stream);
            }
            leave(g);
        }
        g->cuDevicePrimaryCtxRelease_v2(g->device);
    }
    if (g->library != NULL) {
        dlclose(g->library);
    }
    free(g);
}
