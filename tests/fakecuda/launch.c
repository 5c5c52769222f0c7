/* cuLaunchKernel. */
#include "engine.h"
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

static const char *wrong_shape(fakecuda_index grid, fakecuda_index block, unsigned cluster, unsigned shared) {
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
    return shared > 0 ? "dynamic shared memory is not simulated" : NULL;
}

cu_result cuLaunchKernel(cu_function function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                         unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                         cu_stream stream, void **arguments, void **extra) {
    ENTER(cuLaunchKernel, FAKE_NEEDS_CURRENT);
    unsigned index;
    cu_library library = fake_library_of(function, &index);
    if (!library) {
        return fake_misuse(FAKE_INVALID_HANDLE, "cuLaunchKernel: %p is no function", (void *)function);
    }
    const fakecuda_kernel *kernel = fake_kernel_of(library, index);
    FIND_STREAM(s, stream);
    fakecuda_index grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    const char *wrong = wrong_shape(grid, block, kernel->cluster, shared_bytes);
    if (wrong) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuLaunchKernel: %s", wrong);
    }
    cu_result captured;
    if (fake_captured(s, &captured)) {
        return captured;
    }
    fake_catch_faults();
    launch l = {.work = {.grid = grid, .block = block, .threads = block_x * block_y * block_z, .cluster = kernel->cluster}};
    l.work.n_copies = fake_blocks_at_once() > kernel->cluster ? fake_blocks_at_once() : kernel->cluster;
    fake_library_copies(library, s, l.work.copies, l.work.n_copies);
    for (unsigned i = 0; i < l.work.n_copies; i++) {
        l.work.call[i] = l.work.copies[i]->image->kernels[index].call;
    }
    if (extra || (kernel->arguments > 0 && !arguments) || !copy_arguments(kernel, arguments, &l)) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuLaunchKernel: an argument is missing");
    }
    static atomic_uint launches;
    uint64_t seed = (uint64_t)fake_setting("FAKECUDA_SEED", 0);
    l.work.name = kernel->name;
    l.work.seed = seed ? seed * 1000003 + atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) : 0;
    uint64_t seq = fake_enqueue(s, run, &l, sizeof l);
    for (unsigned i = 0; i < l.work.n_copies; i++) {
        l.work.copies[i]->last = seq;
    }
    return KRF__CUDA_SUCCESS;
}
