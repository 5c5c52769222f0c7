/* The CUDA back end: opening and closing a device, and the table of functions that the rest of kerfuse calls. Uses the device's primary
 * context, so pointers and streams are those of the runtime API and of other libraries in the process. */
#include "backend/cuda/device.h"

#include "base/fail.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MARK_BYTES = 4096 };

/* ---- opening ---- */

/* "GPU-" and the bytes in groups of 4, 2, 2, 2 and 6, as CUDA_VISIBLE_DEVICES and nvidia-smi write it; "" where the
 * driver does not tell. */
static krf_status find_uuid(krf__device *d, cu_device id, char text[48]) {
    cu_uuid uuid;
    text[0] = '\0';
    if (!d->driver.cuDeviceGetUuid_v2) {
        return KRF_OK;
    }
    krf_status status = CU(d, cuDeviceGetUuid_v2(&uuid, id));
    size_t at = status == KRF_OK ? (size_t)snprintf(text, 48, "GPU-") : 0;
    for (int i = 0; status == KRF_OK && i < 16; i++) {
        bool group = i == 4 || i == 6 || i == 8 || i == 10;
        at += (size_t)snprintf(text + at, 48 - at, "%s%02x", group ? "-" : "", (unsigned)(unsigned char)uuid.bytes[i]);
    }
    return status;
}

/* The device with the ordinal, or the first whose UUID begins so. */
static krf_status choose(krf__device *d, int index, const char *uuid) {
    int count = 0;
    krf_status status = CU(d, cuDeviceGetCount(&count));
    for (int i = 0; status == KRF_OK && uuid && i < count; i++) {
        cu_device id;
        status = CU(d, cuDeviceGet(&id, i));
        status = status == KRF_OK ? find_uuid(d, id, d->uuid) : status;
        if (status == KRF_OK && strncasecmp(d->uuid, uuid, strlen(uuid)) == 0) {
            d->index = i;
            d->id = id;
            return KRF_OK;
        }
    }
    if (status == KRF_OK && uuid) {
        return krf__fail(KRF_E_DEVICE,
                         "there is no CUDA device %s among the %d that the driver shows; CUDA_VISIBLE_DEVICES is %s",
                         uuid, count, krf__driver_visible());
    }
    if (status == KRF_OK && (index < 0 || index >= count)) {
        return krf__fail(KRF_E_DEVICE, "there is no CUDA device %d: the driver shows %d; CUDA_VISIBLE_DEVICES is %s",
                         index, count, krf__driver_visible());
    }
    d->index = index;
    status = status == KRF_OK ? CU(d, cuDeviceGet(&d->id, index)) : status;
    return status == KRF_OK ? find_uuid(d, d->id, d->uuid) : status;
}

static krf_status describe(krf__device *d, int index, const char *uuid) {
    int major = 0, minor = 0;
    krf_status status = choose(d, index, uuid);
    if (status == KRF_OK) {
        status = CU(d, cuDeviceGetName(d->name, (int)sizeof d->name, d->id));
    }
    if (status == KRF_OK) {
        status = CU(d, cuDeviceTotalMem_v2(&d->memory, d->id));
    }
    if (status == KRF_OK) {
        status = CU(d, cuDeviceGetAttribute(&d->multiprocessors, KRF__CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d->id));
    }
    if (status == KRF_OK) {
        status = CU(d, cuDeviceGetAttribute(&d->most_shared, KRF__CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, d->id));
    }
    if (status == KRF_OK) {
        status = CU(d, cuDeviceGetAttribute(&major, KRF__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->id));
    }
    if (status == KRF_OK) {
        status = CU(d, cuDeviceGetAttribute(&minor, KRF__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->id));
    }
    d->capability = major * 10 + minor;
    snprintf(d->arch, sizeof d->arch, "sm_%d", d->capability);
    return status;
}

/* A pool of our own, because thresholds of the default pool are the application's. Without a threshold the driver gives
 * memory back to the system at every synchronisation. No pool is no failure: virtual GPUs have none. */
static krf_status create_pool(krf__device *d) {
    const krf__driver *cu = &d->driver;
    int supported = 0;
    if (!cu->cuMemPoolCreate || !cu->cuMemPoolDestroy || !cu->cuMemPoolSetAttribute || !cu->cuMemPoolTrimTo
        || !cu->cuMemAllocFromPoolAsync || !cu->cuMemFreeAsync
        || cu->cuDeviceGetAttribute(&supported, KRF__CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, d->id)
               != KRF__CUDA_SUCCESS
        || !supported) {
        return KRF_OK;
    }
    cu_pool_properties properties;
    memset(&properties, 0, sizeof properties); /* padding too: the driver wants reserved bytes zero */
    properties.allocation_type = KRF__CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handle_types = KRF__CU_MEM_HANDLE_TYPE_NONE;
    properties.location.type = KRF__CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = d->id;
    uint64_t keep = UINT64_MAX;
    krf_status status = CU(d, cuMemPoolCreate(&d->pool, &properties));
    return status == KRF_OK ? CU(d, cuMemPoolSetAttribute(d->pool, KRF__CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep))
                            : status;
}

static krf_status create_streams(krf__device *d) {
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = CU(d, cuStreamCreate(&d->stream, KRF__CU_STREAM_NON_BLOCKING));
    }
    if (status == KRF_OK) {
        status = create_pool(d);
    }
    return krf__cuda_leave(d, &e, status);
}

/* Results are of no interest: a lost device and a driver that is gone already (at exit) refuse all of this. */
static void close_driver(krf__device *d) {
    const krf__driver *cu = &d->driver;
    cu_context current = NULL, popped;
    if (!d->context || cu->cuCtxGetCurrent(&current) == KRF__CUDA_ERROR_DEINITIALIZED) {
        return;
    }
    bool pushed = current != d->context && cu->cuCtxPushCurrent_v2(d->context) == KRF__CUDA_SUCCESS;
    if (d->stream) {
        cu->cuStreamSynchronize(d->stream); /* memory is given back in its order */
    }
    if (d->pool) {
        cu->cuMemPoolDestroy(d->pool);
    }
    if (d->stream) {
        cu->cuStreamDestroy_v2(d->stream);
    }
    if (pushed) {
        cu->cuCtxPopCurrent_v2(&popped);
    }
    cu->cuDevicePrimaryCtxRelease_v2(d->id);
}

static void close_device(krf__device *d) {
    if (!d) {
        return;
    }
    if (getpid() == d->pid) {
        close_driver(d);
    }
    krf__driver_close(&d->driver);
    pthread_mutex_destroy(&d->nvrtc_lock);
    krf__mem_free(d->nvrtc_wanted);
    krf__mem_free(d->nvrtc_file);
    krf__mem_free(d->nvrtc_key);
    krf__mem_free(d->nvrtc_text);
    if (d->owned != NULL) {
        munmap((void *)(uintptr_t)d->owned, MARK_BYTES);
    }
    krf__mem_free(d);
}

/* Asking for the process at every call would be a call of the system each. */
static const char *make_mark(void) {
    char *mark = mmap(NULL, MARK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED) {
        return NULL;
    }
    if (madvise(mark, MARK_BYTES, MADV_WIPEONFORK) != 0) {
        munmap(mark, MARK_BYTES);
        return NULL;
    }
    *mark = 1;
    return mark;
}

static krf_status open_device(const krf__device_options *options, krf__device **device) {
    *device = NULL;
    krf__device *d = krf__calloc(1, sizeof *d);
    if (!d) {
        return krf__fail_memory();
    }
    d->pid = getpid();
    d->owned = make_mark();
    atomic_init(&d->allocations, 0);
    pthread_mutex_init(&d->nvrtc_lock, NULL);
    krf_status status = krf__driver_open(&d->driver, options->cuda_driver);
    if (status == KRF_OK && options->nvrtc) {
        d->nvrtc_wanted = krf__strdup(options->nvrtc);
        status = d->nvrtc_wanted ? KRF_OK : krf__fail_memory();
    }
    if (status == KRF_OK) {
        status = describe(d, options->index, options->uuid);
    }
    if (status == KRF_OK) {
        status = CU(d, cuDevicePrimaryCtxRetain(&d->context, d->id));
    }
    if (status == KRF_OK) {
        status = create_streams(d);
    }
    if (status != KRF_OK) {
        close_device(d);
        return status;
    }
    krf__log_line(options->log, "cuda: device %d is %s, %s, driver for CUDA %d.%d%s", d->index, d->name, d->arch,
                  d->driver.version / 1000, d->driver.version % 1000 / 10, d->pool ? "" : ", without memory pools");
    *device = d;
    return KRF_OK;
}

static krf_status info(krf__device *d, krf_device_info *result) {
    krf_status status = krf__cuda_find_nvrtc(d);
    if (status == KRF_E_MEMORY) {
        return status;
    }
    result->is_cuda = true;
    result->name = d->name;
    result->arch = d->arch;
    pthread_mutex_lock(&d->nvrtc_lock);
    result->compiler = d->nvrtc_loaded ? d->nvrtc_version : d->nvrtc_text;
    pthread_mutex_unlock(&d->nvrtc_lock);
    result->multiprocessors = d->multiprocessors;
    result->memory = (int64_t)d->memory;
    result->index = d->index;
    result->capability_major = d->capability / 10;
    result->capability_minor = d->capability % 10;
    result->uuid = d->uuid[0] != '\0' ? d->uuid : NULL;
    return KRF_OK;
}

static int device_index(krf__device *d) { return d->index; }

static uint32_t row(krf__device *d) { return krf__cuda_row(d->capability); }
static uint32_t blocks(krf__device *d) { return 2 * (uint32_t)d->multiprocessors; }

const krf__backend krf__backend_cuda = {
    .name = "cuda",
    .target = "cuda",
    .can_interpret = false,
    .open = open_device,
    .close = close_device,
    .info = info,
    .index = device_index,
    .row = row,
    .blocks = blocks,
    .many_threads = true,
    .allocate = krf__cuda_allocate,
    .deallocate = krf__cuda_deallocate,
    .taken = krf__cuda_taken,
    .trim = krf__cuda_trim,
    .upload = krf__cuda_upload,
    .download = krf__cuda_download,
    .copy = krf__cuda_copy,
    .copy_from = krf__cuda_copy_from,
    .zero = krf__cuda_zero,
    .synchronize = krf__cuda_synchronize,
    .identity = krf__cuda_identity,
    .can_compile = krf__cuda_can_compile,
    .compile = krf__cuda_compile,
    .load = krf__cuda_load,
    .unload = krf__cuda_unload,
    .module_info = krf__cuda_module_info,
    .launch = krf__cuda_launch,
    .replays = &krf__cuda_replays,
    .streams = &krf__cuda_streams,
};
