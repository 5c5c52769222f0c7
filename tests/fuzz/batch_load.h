/* Many kernels out of one image. The back ends' own loaders would load the whole image once for each of them. */
#ifndef KRF_TESTS_FUZZ_BATCH_LOAD_H
#define KRF_TESTS_FUZZ_BATCH_LOAD_H

#include "backend/backend.h"

/* The image's handle, and a module of each kernel (to be freed with free), NULL for what it does not hold. NULL: it
 * could not be loaded. */
typedef void *batch_loader(krf__device *device, const void *image, size_t bytes, size_t n, const char *const *names,
                           krf__module **modules);
typedef void batch_unloader(krf__device *device, void *handle);

batch_loader batch_load_cpu, batch_load_cuda;
batch_unloader batch_unload_cpu, batch_unload_cuda;

#endif
