/* Kernels of a CUDA device: which compiler would make them, making, loading and launching them. */
#include "backend/cuda/device.h"
#include "backend/cuda/launch.h"
#include "base/fail.h"
#include "base/mem.h"
#include "plan/raw_call.h"

#include <stdio.h>
#include <string.h>

#define EVERYBODYS_SHARED 49152 /* bytes that every launch may have */

/* ---- the compiler ---- */

/* Cubins of a newer major version than the driver's may not load; NVRTC 13 does not know devices before sm_75. */
static int newest_major(const krf__device *d) {
    int major = d->driver.version / 1000;
    return d->capability < 75 && major > 12 ? 12 : major;
}

static krf_status find_locked(krf__device *d) {
    krf_status status = krf__nvrtc_find(d->nvrtc_wanted, newest_major(d), &d->nvrtc_file);
    if (status != KRF_OK) {
        return status;
    }
    krf__str key = {0}, text = {0};
    krf__nvrtc_identity(d->nvrtc_file, &key);
    d->nvrtc_key = krf__str_take(&key);
    if (d->nvrtc_file) {
        krf__str_printf(&text, "NVRTC (%s)", d->nvrtc_file);
        d->nvrtc_text = krf__str_take(&text);
    }
    if (!d->nvrtc_key || (d->nvrtc_file && !d->nvrtc_text)) {
        krf__mem_free(d->nvrtc_file);
        krf__mem_free(d->nvrtc_key);
        krf__mem_free(d->nvrtc_text);
        d->nvrtc_file = d->nvrtc_key = d->nvrtc_text = NULL;
        return krf__fail_memory();
    }
    d->nvrtc_searched = true;
    return KRF_OK;
}

krf_status krf__cuda_find_nvrtc(krf__device *d) {
    pthread_mutex_lock(&d->nvrtc_lock);
    krf_status status = d->nvrtc_searched ? KRF_OK : find_locked(d);
    pthread_mutex_unlock(&d->nvrtc_lock);
    return status;
}

krf_status krf__cuda_identity(krf__device *d, krf__str *key) {
    krf_status status = krf__cuda_find_nvrtc(d);
    if (status == KRF_OK) {
        krf__str_printf(key, "cuda\narch %s\noptions %s\nnvrtc %s\n", d->arch, krf__nvrtc_options, d->nvrtc_key);
    }
    return status;
}

bool krf__cuda_can_compile(krf__device *d) {
    (void)d;
    return true; /* when there is no compiler, compile says what to install */
}

static krf_status load_nvrtc(krf__device *d) {
    krf_status status = krf__cuda_find_nvrtc(d);
    if (status != KRF_OK) {
        return status;
    }
    pthread_mutex_lock(&d->nvrtc_lock);
    if (!d->nvrtc_file) {
        status = krf__nvrtc_missing(newest_major(d));
    } else if (!d->nvrtc_loaded) {
        status = krf__nvrtc_load(&d->nvrtc, d->nvrtc_file);
        if (status == KRF_OK) {
            snprintf(d->nvrtc_version, sizeof d->nvrtc_version, "NVRTC %d.%d", d->nvrtc.major, d->nvrtc.minor);
            d->nvrtc_loaded = true;
        }
    }
    pthread_mutex_unlock(&d->nvrtc_lock);
    return status;
}

/* A cubin for exactly this device; for one that NVRTC does not know yet, PTX for the newest that it knows, which the
 * driver translates. */
krf_status krf__cuda_compile(krf__device *d, const char *source, const char *name, void **image, size_t *bytes) {
    krf_status status = load_nvrtc(d);
    if (status != KRF_OK) {
        return status;
    }
    int arch = krf__nvrtc_best(&d->nvrtc, d->capability);
    if (arch == 0) {
        return krf__nvrtc_refuse(&d->nvrtc, d->capability);
    }
    char digits[16];
    snprintf(digits, sizeof digits, "%d", arch);
    return krf__nvrtc_build(&d->nvrtc, digits, arch != d->capability, source, name, image, bytes);
}

/* ---- modules ---- */

static int attribute(krf__device *d, krf__module *module, cu_enum which) {
    int value = -1;
    return d->driver.cuFuncGetAttribute(&value, which, module->function) == KRF__CUDA_SUCCESS ? value : -1;
}

static krf_status load_library(krf__device *d, const void *image, const char *name, krf__module *m) {
    cu_kernel kernel = NULL;
    krf_status status = CU(d, cuLibraryLoadData(&m->library, image, NULL, NULL, 0, NULL, NULL, 0));
    if (status == KRF_OK) {
        status = CU(d, cuLibraryGetKernel(&kernel, m->library, name));
    }
    if (status == KRF_OK) {
        /* Brings the code to the device now: at the first launch it could wait for other work, and may not happen
         * during a capture. */
        status = CU(d, cuKernelGetFunction(&m->function, kernel));
    }
    if (status == KRF_OK) {
        m->most_threads = attribute(d, m, KRF__CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        m->static_shared = attribute(d, m, KRF__CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
        m->registers = attribute(d, m, KRF__CU_FUNC_ATTRIBUTE_NUM_REGS);
        atomic_init(&m->shared, 0);
    }
    if (status != KRF_OK && m->library) {
        d->driver.cuLibraryUnload(m->library);
    }
    return status;
}

krf_status krf__cuda_load(krf__device *d, const void *image, size_t bytes, const char *name, krf__module **module) {
    *module = NULL;
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
    enum { ELF_HEADER = 64 };
    krf__module *m = krf__calloc(1, sizeof *m);
    if (!m) {
        return krf__fail_memory();
    }
    /* The driver takes no size: PTX must end in a NUL, which it need not have in a file of the cache, and what is
     * neither PTX nor a cubin is read as far as a cubin's header. */
    char *padded = NULL;
    if (bytes < ELF_HEADER || memcmp(image, elf, sizeof elf) != 0) {
        padded = krf__calloc(1, bytes + ELF_HEADER);
        if (!padded) {
            krf__mem_free(m);
            return krf__fail_memory();
        }
        memcpy(padded, image, bytes);
    }
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = load_library(d, padded ? padded : image, name, m);
    }
    status = krf__cuda_leave(d, &e, status);
    krf__mem_free(padded);
    if (status != KRF_OK) {
        krf__mem_free(m);
        return status;
    }
    *module = m;
    return KRF_OK;
}

void krf__cuda_unload(krf__device *d, krf__module *module) {
    if (!module) {
        return;
    }
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = CU(d, cuCtxSynchronize()); /* the kernel may be running, on any stream */
    }
    if (status == KRF_OK) {
        status = CU(d, cuLibraryUnload(module->library));
    }
    krf__cuda_leave(d, &e, status);
    krf__mem_free(module);
}

void krf__cuda_module_info(krf__device *d, krf__module *module, krf__module_info *info) {
    *info = (krf__module_info){-1, -1, -1};
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        info->registers = attribute(d, module, KRF__CU_FUNC_ATTRIBUTE_NUM_REGS);
        info->shared_bytes = attribute(d, module, KRF__CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
        info->spill_bytes = attribute(d, module, KRF__CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    }
    krf__cuda_leave(d, &e, status);
}

/* What the device, or the kernel as it was compiled, has no room for: said before the driver would refuse it. */
static krf_status check_raw(krf__device *d, const krf__launch *launch, const krf__grid *g) {
    const char *name = launch->kernel->raw->raw->name;
    const uint32_t threads = g->block_x * g->block_y * g->block_z;
    const krf__module *m = launch->module;
    if (m->most_threads > 0 && threads > (uint32_t)m->most_threads) {
        return krf__fail(KRF_E_UNSUPPORTED, "%s: a block of %u threads; as it was compiled, with %d registers a thread, the device has room for %d", name, threads, m->registers, m->most_threads);
    }
    if (d->most_shared > 0 && m->static_shared >= 0 && (int64_t)g->shared + m->static_shared > d->most_shared) {
        return krf__fail(KRF_E_UNSUPPORTED, "%s: %u bytes of dynamic shared memory beside %d of its own; a block on %s has %d in all", name, g->shared, m->static_shared, d->name, d->most_shared);
    }
    return KRF_OK;
}

krf_status krf__cuda_shape(krf__device *d, const krf__launch *launch, krf__grid *g) {
    const krf__kernel *k = launch->kernel;
    krf__cuda_grid(k, d->multiprocessors, g);
    if (k->raw != NULL) {
        return check_raw(d, launch, g);
    }
    return !g->too_large ? KRF_OK
                         : krf__fail(KRF_E_UNSUPPORTED, "%s: %lld results need more blocks than a CUDA grid has", k->name,
                                     (long long)k->kept_size);
}

/* One argument, the whole block by value; of raw kernels each parameter. The driver copies them before it returns. */
void krf__cuda_arguments(const krf__kernel *k, const uint64_t *fields, void **arguments) {
    if (k->raw != NULL) {
        krf__raw_addresses(k->raw, fields, arguments);
    } else {
        arguments[0] = (void *)(uintptr_t)fields;
    }
}

/* More than 48 KiB, of which what a kernel has of its own is a part, must be asked for. What is enough for one launch is for all that need less. */
krf_status krf__cuda_make_room(krf__device *d, krf__module *module, uint32_t shared) {
    uint32_t most = atomic_load_explicit(&module->shared, memory_order_relaxed);
    if ((int64_t)shared + module->static_shared <= EVERYBODYS_SHARED || shared <= most) {
        return KRF_OK;
    }
    krf_status status = CU(d, cuFuncSetAttribute(module->function, KRF__CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
    while (status == KRF_OK && most < shared && !atomic_compare_exchange_weak(&module->shared, &most, shared)) {
    }
    return status;
}

/* What registers and threads leave room for, on processors of compute capability 9.0. */
bool krf__cuda_fills(krf__device *d, const krf__launch *launch) {
    enum { THREADS = 2048, UNIT = 8 }; /* of a multiprocessor; registers come by the unit */
    krf__grid g;
    krf__cuda_grid(launch->kernel, d->multiprocessors, &g);
    const int64_t threads = (int64_t)g.block_x * g.block_y * g.block_z, blocks = (int64_t)g.x * g.y * g.z;
    const int64_t registers = launch->module->registers > 0 ? (launch->module->registers + UNIT - 1) / UNIT * UNIT : KRF__REGISTERS;
    const int64_t by_registers = KRF__REGISTERS / (registers * threads), room = by_registers < THREADS / threads ? by_registers : THREADS / threads;
    return blocks > (room - 1) * d->multiprocessors && blocks <= room * d->multiprocessors;
}

bool krf__cuda_overlaps(krf__device *d) { return d->capability >= 90; }

/* Where the kernel waits itself for what the stream did before, its blocks may be there before that has ended. */
static krf_status start(krf__device *d, const krf__launch *launch, const krf__grid *g, cu_stream stream, void **arguments) {
    if (launch->early && krf__cuda_overlaps(d)) {
        cu_launch_attribute attribute = {.id = KRF__CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value = {.allowed = 1}};
        const cu_launch_config config = {g->x, g->y, g->z, g->block_x, g->block_y, g->block_z, g->shared, stream, &attribute, 1};
        return CU(d, cuLaunchKernelEx(&config, launch->module->function, arguments, NULL));
    }
    return CU(d, cuLaunchKernel(launch->module->function, g->x, g->y, g->z, g->block_x, g->block_y, g->block_z, g->shared, stream, arguments, NULL));
}

krf_status krf__cuda_launch(krf__device *d, const krf__launch *launch, void *stream) {
    krf__grid g;
    krf_status status = krf__cuda_shape(d, launch, &g);
    if (status != KRF_OK) {
        return status;
    }
    krf__entry e;
    status = krf__cuda_enter_stream(d, stream, false, &e);
    if (status == KRF_OK) {
        void *arguments[KRF__MOST_PARAMETERS];
        krf__cuda_arguments(launch->kernel, launch->fields, arguments);
        status = krf__cuda_make_room(d, launch->module, g.shared);
        if (status == KRF_OK) {
            status = start(d, launch, &g, e.stream, arguments);
        }
    }
    return krf__cuda_leave(d, &e, status);
}
