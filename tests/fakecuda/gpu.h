/* What the tests of the doubles share: the driver's and NVRTC's entry points, found as kerfuse finds them, and kernels
 * from text. Included after cmocka.h. */
#ifndef FAKECUDA_GPU_H
#define FAKECUDA_GPU_H

#include "backend/cuda/driver.h"
#include "backend/cuda/nvrtc.h"
#include "backend/cuda/symbols.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static krf__driver cu;
static krf__nvrtc rtc;
static cu_context context;
static char arch[16];

#define assert_cu(expected, call) \
    do { \
        cu_result assert_result = (call); \
        if (assert_result != (expected)) { \
            fail_msg("%s gave %u, not %u", #call, assert_result, (unsigned)(expected)); \
        } \
    } while (0)

/* Opens the driver and NVRTC and makes the first device's context current. False: there is none. */
static inline bool open_gpu(void) {
    char *file = NULL;
    int major = 0, minor = 0;
    if (krf__driver_open(&cu, NULL) != KRF_OK) {
        printf("skipped: %s\n", krf_error_message());
        return false;
    }
    if (krf__nvrtc_find(NULL, cu.version / 1000, &file) != KRF_OK || !file || krf__nvrtc_load(&rtc, file) != KRF_OK) {
        printf("skipped: no libnvrtc\n");
        return false;
    }
    krf__mem_free(file);
    cu.cuDeviceGetAttribute(&major, KRF__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    cu.cuDeviceGetAttribute(&minor, KRF__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
    snprintf(arch, sizeof arch, "%d", major * 10 + minor);
    return cu.cuDevicePrimaryCtxRetain(&context, 0) == 0 && cu.cuCtxPushCurrent_v2(context) == 0;
}

static inline void close_gpu(void) {
    cu_context popped;
    cu.cuCtxPopCurrent_v2(&popped);
    cu.cuDevicePrimaryCtxRelease_v2(0);
    krf__driver_close(&cu);
}

typedef struct kernel {
    cu_library library;
    cu_kernel kernel;
    cu_function function;
} kernel;

static inline kernel build_kernel(const char *source, const char *name) {
    kernel k = {0};
    void *image = NULL;
    size_t bytes = 0;
    if (krf__nvrtc_build(&rtc, arch, false, source, name, &image, &bytes) != KRF_OK) {
        fprintf(stderr, "%s\n", krf_error_message());
        exit(1);
    }
    if (cu.cuLibraryLoadData(&k.library, image, NULL, NULL, 0, NULL, NULL, 0) != 0
        || cu.cuLibraryGetKernel(&k.kernel, k.library, name) != 0
        || cu.cuKernelGetFunction(&k.function, k.kernel) != 0) {
        fprintf(stderr, "%s does not load\n", name);
        exit(1);
    }
    krf__mem_free(image);
    return k;
}

static inline cu_result launch(const kernel *k, unsigned blocks, unsigned threads, cu_stream stream, void **arguments) {
    return cu.cuLaunchKernel(k->function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL);
}

static inline cu_address new_memory(size_t bytes) {
    cu_address address = 0;
    if (cu.cuMemAlloc_v2(&address, bytes) != 0) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return address;
}

static inline cu_stream new_stream(unsigned flags) {
    cu_stream stream = NULL;
    if (cu.cuStreamCreate(&stream, flags) != 0) {
        fprintf(stderr, "no stream\n");
        exit(1);
    }
    return stream;
}

/* In a child; its exit status, or -1. What it writes to stderr ends up in text. */
static inline int run_child(void (*body)(void), char *text, size_t bytes) {
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        exit(0); /* and not _exit: what is left is reported then */
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n = 1; n > 0 && length + 1 < bytes; length += (size_t)n) {
        n = read(ends[0], text + length, bytes - 1 - length);
        n = n < 0 ? 0 : n;
    }
    text[length] = '\0';
    close(ends[0]);
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
