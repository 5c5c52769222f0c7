/* Programs with one mistake each, and their correct twins, for test_sanitizers.sh: plants NAME. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakecuda/gpu.h"

enum { THREADS = 64, N = 2 * THREADS, BYTES = N * (int)sizeof(int) };

static cu_address x, y;
static int host[N];

static void run(const char *source, unsigned blocks, cu_stream stream) {
    kernel k = build_kernel(source, "krf_k");
    void *arguments[] = {&x, &y};
    launch(&k, blocks, THREADS, stream, arguments);
    cu.cuCtxSynchronize();
    cu.cuLibraryUnload(k.library);
}

#define KERNEL(body) "extern \"C\" __global__ void krf_k(int *x, int *y) {\n" body "}\n"

/* ---- two streams ---- */

static void streams(bool waits) {
    cu_stream a = new_stream(1), b = new_stream(1);
    cu_event event = NULL;
    kernel k = build_kernel(KERNEL("x[threadIdx.x] = 1;\n"), "krf_k");
    void *arguments[] = {&x, &y};
    cu.cuEventCreate(&event, KRF__CU_EVENT_DISABLE_TIMING);
    launch(&k, 1, THREADS, a, arguments);
    cu.cuEventRecord(event, a);
    usleep(100000); /* long done; but nothing says so */
    if (waits) {
        cu.cuStreamWaitEvent(b, event, 0);
    }
    cu.cuMemcpyDtoDAsync_v2(y, x, BYTES, b);
    cu.cuStreamSynchronize(b);
    cu.cuStreamSynchronize(a);
    cu.cuEventDestroy_v2(event);
    cu.cuStreamDestroy_v2(a);
    cu.cuStreamDestroy_v2(b);
    cu.cuLibraryUnload(k.library);
}

static void waits_for_event(void) { streams(true); }
static void missing_wait(void) { streams(false); }

static void download(bool waits) {
    cu_stream a = new_stream(1);
    cu.cuMemcpyDtoHAsync_v2(host, x, BYTES, a);
    if (waits) {
        cu.cuStreamSynchronize(a);
    } else {
        usleep(100000);
    }
    printf("%d\n", host[0]);
    cu.cuStreamSynchronize(a);
    cu.cuStreamDestroy_v2(a);
}

static void synchronize(void) { download(true); }
static void missing_synchronize(void) { download(false); }

/* ---- threads of a block, and blocks ---- */

#define REVERSE(barrier) \
    KERNEL("__shared__ int s[64];\n" \
           "s[threadIdx.x] = threadIdx.x;\n" barrier "x[64 * blockIdx.x + threadIdx.x] = s[63 - threadIdx.x];\n")

static void barrier(void) { run(REVERSE("__syncthreads();\n"), 2, NULL); }
static void missing_barrier(void) { run(REVERSE(""), 2, NULL); }

/* Each block of a cluster reads what the other wrote. */
#define SWAP(barrier) \
    "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) krf_k(int *x, int *y) {\n" \
    "__shared__ int s[64];\n" \
    "__cluster_barrier_arrive_relaxed(); __cluster_barrier_wait();\n" \
    "*(int *)__cluster_map_shared_rank(&s[threadIdx.x], 1 - blockIdx.x % 2) = threadIdx.x;\n" barrier \
    "x[64 * blockIdx.x + threadIdx.x] = s[threadIdx.x];\n}\n"

static void cluster(void) { run(SWAP("__cluster_barrier_arrive(); __cluster_barrier_wait();\n"), 2, NULL); }
static void missing_cluster(void) { run(SWAP("__syncthreads();\n"), 2, NULL); }

/* The block that comes last reads what the others wrote. */
#define LAST_BLOCK(fence) \
    KERNEL("__shared__ bool last;\n" \
           "if (threadIdx.x == 0) {\n" \
           "    x[1 + blockIdx.x] = 7;\n    " fence \
           "    last = atomicInc((unsigned *)x, gridDim.x - 1) == gridDim.x - 1;\n" \
           "}\n" \
           "__syncthreads();\n" \
           "if (last) {\n    " fence "    if (threadIdx.x < gridDim.x) y[threadIdx.x] = x[1 + threadIdx.x];\n" \
           "}\n")

static void fence(void) { run(LAST_BLOCK("__threadfence();\n"), 2, NULL); }
static void missing_fence(void) { run(LAST_BLOCK(""), 2, NULL); }

/* ---- bounds ---- */

static void in_bounds(void) { run(KERNEL("if (threadIdx.x < 64)\n x[threadIdx.x] = y[threadIdx.x + 64];\n"), 1, NULL); }
static void out_of_bounds(void) {
    run(KERNEL("if (threadIdx.x < 64)\n x[threadIdx.x] = y[threadIdx.x + 65];\n"), 1, NULL);
}

static void out_of_shared(void) {
    run(KERNEL("__shared__ int s[64];\n"
               "s[threadIdx.x] = 0;\n"
               "__syncthreads();\n"
               "x[threadIdx.x] = s[threadIdx.x + 1];\n"),
        1, NULL);
}

static void use_after_free(void) {
    kernel k = build_kernel(KERNEL("x[threadIdx.x] = y[threadIdx.x];\n"), "krf_k");
    cu_stream stream = new_stream(1);
    cu_pool pool = NULL;
    cu_pool_properties properties;
    memset(&properties, 0, sizeof properties);
    properties.allocation_type = KRF__CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = KRF__CU_MEM_LOCATION_TYPE_DEVICE;
    cu.cuMemPoolCreate(&pool, &properties);
    cu_address old = 0;
    cu.cuMemAllocFromPoolAsync(&old, BYTES, pool, stream);
    cu.cuMemFreeAsync(old, stream);
    void *arguments[] = {&x, &old};
    launch(&k, 1, THREADS, stream, arguments);
    cu.cuCtxSynchronize();
}

static const struct {
    const char *name;
    void (*body)(void);
} plants[] = {
    {"wait", waits_for_event},
    {"missing_wait", missing_wait},
    {"synchronize", synchronize},
    {"missing_synchronize", missing_synchronize},
    {"barrier", barrier},
    {"missing_barrier", missing_barrier},
    {"cluster", cluster},
    {"missing_cluster", missing_cluster},
    {"fence", fence},
    {"missing_fence", missing_fence},
    {"in_bounds", in_bounds},
    {"out_of_bounds", out_of_bounds},
    {"out_of_shared", out_of_shared},
    {"use_after_free", use_after_free},
};

int main(int argc, char **argv) {
    if (argc != 2 || !open_gpu()) {
        return 2;
    }
    x = new_memory(BYTES);
    y = new_memory(BYTES);
    cu.cuMemsetD8Async(x, 0, BYTES, NULL);
    cu.cuMemsetD8Async(y, 0, BYTES, NULL);
    cu.cuStreamSynchronize(NULL);
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        if (strcmp(plants[i].name, argv[1]) == 0) {
            plants[i].body();
            cu.cuMemFree_v2(x);
            cu.cuMemFree_v2(y);
            close_gpu();
            return 0;
        }
    }
    return 2;
}
