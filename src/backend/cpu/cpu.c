/* The CPU behind the backend contract: host memory, a thread pool, the system's C compiler and a loader, each in a file
 * of its own. Everything is done when a call returns, so streams mean nothing here. */
#include "backend/backend.h"

#include "backend/cpu/compiler.h"
#include "backend/cpu/host.h"
#include "backend/cpu/launch.h"
#include "backend/cpu/loader.h"
#include "backend/cpu/memory.h"
#include "backend/cpu/stream.h"
#include "backend/cpu/threads.h"
#include "base/fail.h"
#include "base/mem.h"

#include <string.h>

#define SHARED_BYTES ((size_t)4 << 20) /* from here on, copies are shared by the threads */
#define COPY_BYTES ((size_t)1 << 20)   /* a piece: below the size where memcpy changes to stores around the cache */
#define MOST_SLACK ((size_t)1 << 30)

struct krf__device {
    krf__threads *threads;
    krf__host_memory *memory;
    krf__compiler compiler;
    char *model;
    int64_t main_memory;
};

static void cpu_close(krf__device *device) {
    if (device == NULL) {
        return;
    }
    krf__threads_destroy(device->threads);
    krf__host_memory_destroy(device->memory);
    krf__compiler_close(&device->compiler);
    krf__mem_free(device->model);
    krf__mem_free(device);
}

static krf_status cpu_open(const krf__device_options *options, krf__device **device) {
    *device = NULL;
    krf__device *d = krf__calloc(1, sizeof *d);
    if (d == NULL) {
        return krf__fail_memory();
    }
    d->model = krf__cpu_model();
    d->main_memory = krf__main_memory();
    size_t slack = (size_t)d->main_memory / 8;
    krf_status status = d->model == NULL ? krf__fail_memory() : KRF_OK;
    if (status == KRF_OK) {
        status = krf__threads_create(options->threads, &d->threads);
    }
    if (status == KRF_OK) {
        status = krf__host_memory_create(slack < MOST_SLACK ? slack : MOST_SLACK, &d->memory);
    }
    if (status == KRF_OK) {
        status = krf__compiler_open(options->compiler, options->log, &d->compiler);
    }
    if (status != KRF_OK) {
        cpu_close(d);
        return status;
    }
    *device = d;
    return KRF_OK;
}

static krf_status cpu_info(krf__device *device, krf_device_info *info) {
    info->is_cuda = false;
    info->name = device->model;
    info->arch = device->compiler.isa.name;
    info->compiler = device->compiler.words != NULL ? device->compiler.words[0] : NULL;
    info->multiprocessors = krf__threads_count(device->threads);
    info->memory = device->main_memory;
    return KRF_OK;
}

static int cpu_index(krf__device *device) {
    (void)device;
    return 0;
}

static krf_status cpu_allocate(krf__device *device, size_t bytes, void **data) {
    return krf__host_memory_allocate(device->memory, bytes, data);
}

static void cpu_deallocate(krf__device *device, void *data, size_t bytes) {
    krf__host_memory_deallocate(device->memory, data, bytes);
}

static void cpu_taken(krf__device *device, krf__taken *taken) {
    *taken = (krf__taken){.allocations = krf__host_memory_allocations(device->memory),
                          .kept = krf__host_memory_kept(device->memory)};
}

static void cpu_trim(krf__device *device) { krf__host_memory_trim(device->memory); }

/* A copy, or with from NULL a filling with zeros. */
typedef struct transfer {
    char *to;
    const char *from;
    size_t bytes;
} transfer;

static void move_piece(void *user, int64_t piece) {
    const transfer *t = user;
    size_t lo = (size_t)piece * COPY_BYTES;
    size_t n = t->bytes - lo < COPY_BYTES ? t->bytes - lo : COPY_BYTES;
    if (t->from != NULL) {
        memcpy(t->to + lo, t->from + lo, n);
    } else {
        memset(t->to + lo, 0, n);
    }
}

static krf_status move(krf__device *device, transfer t) {
    if (t.bytes >= SHARED_BYTES) {
        krf__threads_run(device->threads, (int64_t)((t.bytes - 1) / COPY_BYTES + 1), move_piece, &t);
    } else if (t.bytes > 0 && t.from != NULL) {
        memcpy(t.to, t.from, t.bytes);
    } else if (t.bytes > 0) {
        memset(t.to, 0, t.bytes);
    }
    return KRF_OK;
}

static krf_status cpu_copy(krf__device *device, void *to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    return to == from ? KRF_OK : move(device, (transfer){to, from, bytes});
}

static krf_status cpu_copy_from(krf__device *device, void *to, krf__device *source, const void *from, size_t bytes, void *stream) {
    (void)source;
    return cpu_copy(device, to, from, bytes, stream);
}

static krf_status cpu_zero(krf__device *device, void *data, size_t bytes, void *stream) {
    (void)stream;
    return move(device, (transfer){data, NULL, bytes});
}

static krf_status cpu_synchronize(krf__device *device, void *stream) {
    (void)device;
    (void)stream;
    return KRF_OK;
}

static krf_status cpu_identity(krf__device *device, krf__str *key) {
    return krf__compiler_identity(&device->compiler, key);
}

static bool cpu_can_compile(krf__device *device) { return device->compiler.words != NULL; }

static krf_status cpu_compile(krf__device *device, const char *source, const char *name, void **image, size_t *bytes) {
    return krf__compiler_run(&device->compiler, source, name, image, bytes);
}

static krf_status cpu_load(krf__device *device, const void *image, size_t bytes, const char *name,
                           krf__module **module) {
    (void)device;
    *module = krf__calloc(1, sizeof **module);
    if (*module == NULL) {
        return krf__fail_memory();
    }
    krf_status status = krf__loader_load(image, bytes, name, *module);
    if (status != KRF_OK) {
        krf__mem_free(*module);
        *module = NULL;
    }
    return status;
}

static void cpu_unload(krf__device *device, krf__module *module) {
    (void)device;
    krf__mem_free(module); /* the code stays: see loader.h */
}

static void cpu_module_info(krf__device *device, krf__module *module, krf__module_info *info) {
    (void)device;
    (void)module;
    *info = (krf__module_info){.registers = -1, .shared_bytes = -1, .spill_bytes = -1};
}

static krf_status cpu_launch(krf__device *device, const krf__launch *launch, void *stream) {
    (void)stream;
    return krf__launch_run(device->threads, launch);
}

/* Rows of 512 KB stay in a core's second cache, or near it: softmax and layer norm of rows of 65,536 f32 1.2 and 1.6 times as fast on two threads of a Xeon as by one kernel for each pass over memory. */
uint32_t krf__cpu_row(void) { return 131072; }

static uint32_t cpu_row(krf__device *device) {
    (void)device;
    return krf__cpu_row();
}

static uint32_t cpu_blocks(krf__device *device) {
    (void)device;
    return 0;
}

const krf__backend krf__backend_cpu = {
    .name = "cpu",
    .target = "c",
    .can_interpret = true,
    .open = cpu_open,
    .close = cpu_close,
    .info = cpu_info,
    .index = cpu_index,
    .row = cpu_row,
    .blocks = cpu_blocks,
    .allocate = cpu_allocate,
    .deallocate = cpu_deallocate,
    .taken = cpu_taken,
    .trim = cpu_trim,
    .upload = cpu_copy,
    .download = cpu_copy,
    .copy = cpu_copy,
    .copy_from = cpu_copy_from,
    .zero = cpu_zero,
    .synchronize = cpu_synchronize,
    .identity = cpu_identity,
    .can_compile = cpu_can_compile,
    .compile = cpu_compile,
    .load = cpu_load,
    .unload = cpu_unload,
    .module_info = cpu_module_info,
    .launch = cpu_launch,
    .streams = &krf__cpu_streams,
};
