/* One library of the driver, as src/backend/cuda/module.c loads it, and all its kernels. */
#include "fuzz/batch_load.h"

#include "backend/cuda/device.h"

#include <stdlib.h>

static krf__module *module_of(krf__device *d, cu_library library, const char *name) {
    cu_kernel kernel = NULL;
    struct krf__module m = {.library = library};
    if (d->driver.cuLibraryGetKernel(&kernel, library, name) != KRF__CUDA_SUCCESS
        || d->driver.cuKernelGetFunction(&m.function, kernel) != KRF__CUDA_SUCCESS
        || d->driver.cuFuncGetAttribute(&m.static_shared, KRF__CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, m.function) != KRF__CUDA_SUCCESS) {
        return NULL;
    }
    struct krf__module *module = malloc(sizeof *module);
    if (module != NULL) {
        *module = m;
    }
    return module;
}

void *batch_load_cuda(krf__device *d, const void *image, size_t bytes, size_t n, const char *const *names,
                      krf__module **modules) {
    cu_library library = NULL;
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    (void)bytes;
    if (status != KRF_OK
        || d->driver.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0) != KRF__CUDA_SUCCESS) {
        library = NULL;
    }
    for (size_t i = 0; i < n; i++) {
        modules[i] = library != NULL ? module_of(d, library, names[i]) : NULL;
    }
    krf__cuda_leave(d, &e, status);
    return library;
}

void batch_unload_cuda(krf__device *d, void *handle) {
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        d->driver.cuLibraryUnload((cu_library)handle);
    }
    krf__cuda_leave(d, &e, status);
}
