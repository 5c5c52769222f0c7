/* Launches: cuLaunchKernel and cuLaunchKernelEx, and what graphs of kernels do. */
#include "engine.h"
#include "graph.h"
#include "heap.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

typedef struct launch {
    fake_work work;
    void *block; /* the arguments and their addresses, freed after the run */
} launch;

static void run(void *payload) {
    launch *l = payload;
    if (!fake_stuck()) {
        fake_run(&l->work);
    }
    free(l->block);
}

/* Copies the arguments, each aligned as its type may need. */
static bool copy_arguments(const fakecuda_kernel *kernel, void *const *arguments, launch *l) {
    size_t bytes = (kernel->arguments + 1) * sizeof(void *);
    for (unsigned i = 0; i < kernel->arguments; i++) {
        bytes = (bytes + 15) / 16 * 16 + kernel->bytes[i];
    }
    l->block = aligned_alloc(16, (bytes + 15) / 16 * 16);
    void **addresses = l->block;
    char *at = (char *)(addresses + kernel->arguments + 1);
    for (unsigned i = 0; l->block && i < kernel->arguments; i++) {
        at += (16 - (uintptr_t)at % 16) % 16;
        if (!arguments[i]) {
            free(l->block);
            return false;
        }
        memcpy(at, arguments[i], kernel->bytes[i]);
        addresses[i] = at;
        at += kernel->bytes[i];
    }
    l->work.arguments = addresses;
    return l->block != NULL;
}

static const char *wrong_shape(fakecuda_index grid, fakecuda_index block, unsigned cluster, unsigned shared, unsigned most_shared) {
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
        return "a dimension is 0";
    }
    if (grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535) {
        return "the grid is too large";
    }
    if (block.x > FAKE_MAX_THREADS || block.y > FAKE_MAX_THREADS || block.z > 64
        || (uint64_t)block.x * block.y * block.z > FAKE_MAX_THREADS) {
        return "the block is too large";
    }
    if (cluster == 0 || cluster > FAKE_MOST_BLOCKS || grid.x % cluster != 0) {
        return "the grid is not made of clusters, or these are too large";
    }
    return shared > most_shared ? "more dynamic shared memory than the function was given" : NULL;
}

/* What is to be launched, and where it lies; a message otherwise. */
static cu_library check(const char *call, const cu_kernel_node_params *p, unsigned *index, cu_result *result) {
    cu_library library = fake_library_of(fake_function_of(p), index);
    if (!library) {
        *result = fake_misuse(FAKE_INVALID_HANDLE, "%s: %p is no function, and %p no kernel", call, (void *)p->function, (void *)p->kernel);
        return NULL;
    }
    fakecuda_index grid = {p->grid_x, p->grid_y, p->grid_z}, block = {p->block_x, p->block_y, p->block_z};
    const char *wrong = wrong_shape(grid, block, fake_kernel_of(library, *index)->cluster, p->shared_bytes, fake_dynamic_of(library, *index));
    if (wrong || p->extra || (fake_kernel_of(library, *index)->arguments > 0 && !p->arguments)) {
        *result = fake_misuse(FAKE_INVALID_VALUE, "%s: %s", call, wrong ? wrong : "an argument is missing");
        return NULL;
    }
    *result = KRF__CUDA_SUCCESS;
    return library;
}

void **fake_copy_arguments(const char *call, const cu_kernel_node_params *params, cu_result *result) {
    unsigned index;
    cu_library library = check(call, params, &index, result);
    launch l = {.block = NULL};
    if (library && !copy_arguments(fake_kernel_of(library, index), params->arguments, &l)) {
        *result = fake_misuse(FAKE_INVALID_VALUE, "%s: an argument is missing", call);
        return NULL;
    }
    return l.block;
}

cu_result fake_launch(const char *call, const cu_kernel_node_params *p, bool early, cu_stream s) {
    unsigned index;
    cu_result result;
    cu_library library = check(call, p, &index, &result);
    if (!library) {
        return result;
    }
    const fakecuda_kernel *kernel = fake_kernel_of(library, index);
    fake_catch_faults();
    launch l = {.work = {.grid = {p->grid_x, p->grid_y, p->grid_z},
                         .block = {p->block_x, p->block_y, p->block_z},
                         .threads = p->block_x * p->block_y * p->block_z,
                         .shared = p->shared_bytes,
                         .early = early,
                         .cluster = kernel->cluster}};
    l.work.n_copies = fake_blocks_at_once() > kernel->cluster ? fake_blocks_at_once() : kernel->cluster;
    fake_library_copies(library, s, l.work.copies, l.work.n_copies);
    for (unsigned i = 0; i < l.work.n_copies; i++) {
        l.work.call[i] = l.work.copies[i]->image->kernels[index].call;
    }
    if (!copy_arguments(kernel, p->arguments, &l)) {
        return fake_misuse(FAKE_INVALID_VALUE, "%s: an argument is missing", call);
    }
    if (fake_function_device(fake_function_of(p)) != s->device) {
        free(l.block);
        return fake_misuse(FAKE_INVALID_HANDLE, "%s: %s was loaded for device %d, and the stream is of device %d", call, kernel->name, fake_function_device(fake_function_of(p)), s->device);
    }
    for (unsigned i = 0; i < kernel->arguments; i++) {
        cu_address foreign = fake_heap_foreign(s->device, l.work.arguments[i], kernel->bytes[i]);
        if (foreign != 0) {
            free(l.block);
            return fake_misuse(FAKE_INVALID_VALUE, "%s: %s takes %#llx, memory of another device, which device %d has no access to", call, kernel->name, foreign, s->device);
        }
    }
    static atomic_uint launches;
    uint64_t seed = (uint64_t)fake_setting("FAKECUDA_SEED", 0);
    l.work.name = kernel->name;
    l.work.kernel = kernel;
    l.work.device = s->device;
    l.work.line = s->line;
    l.work.seed = seed ? seed * 1000003 + atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) : 0;
    uint64_t seq = fake_enqueue(s, run, &l, sizeof l);
    for (unsigned i = 0; i < l.work.n_copies; i++) {
        uint64_t last = atomic_load_explicit(&l.work.copies[i]->last, memory_order_relaxed); /* another thread may be at it, for the same stream */
        while (last < seq && !atomic_compare_exchange_weak_explicit(&l.work.copies[i]->last, &last, seq, memory_order_relaxed, memory_order_relaxed)) {
        }
    }
    return KRF__CUDA_SUCCESS;
}

/* Attributes other than this one are not used. */
static bool allows_early(const cu_launch_config *c, bool *early) {
    for (unsigned i = 0; i < c->attribute_count; i++) {
        if (c->attributes[i].id != KRF__CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
            return false;
        }
        *early |= c->attributes[i].value.allowed != 0;
    }
    return true;
}

static cu_result launch_checked(const char *call, const cu_kernel_node_params *params, bool early, cu_stream stream) {
    unsigned index;
    cu_result result;
    if (!check(call, params, &index, &result)) {
        return result;
    }
    FIND_STREAM(s, stream);
    cu_result captured;
    return fake_captured(s, &captured) ? captured : fake_launch(call, params, early, s);
}

cu_result cuLaunchKernelEx(const cu_launch_config *config, cu_function function, void **arguments, void **extra) {
    ENTER(cuLaunchKernelEx, FAKE_NEEDS_CURRENT);
    bool early = false;
    if (!config || (config->attribute_count > 0 && !config->attributes) || !allows_early(config, &early)) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuLaunchKernelEx: no shape, or an attribute that is unknown");
    }
    const cu_kernel_node_params params = {function, config->grid_x, config->grid_y, config->grid_z, config->block_x, config->block_y, config->block_z, config->shared_bytes, arguments, extra, NULL, NULL};
    return launch_checked("cuLaunchKernelEx", &params, early, config->stream);
}

cu_result cuLaunchKernel(cu_function function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                         unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                         cu_stream stream, void **arguments, void **extra) {
    ENTER(cuLaunchKernel, FAKE_NEEDS_CURRENT);
    const cu_kernel_node_params params = {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, arguments, extra, NULL, NULL};
    return launch_checked("cuLaunchKernel", &params, false, stream);
}
