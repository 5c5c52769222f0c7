/* Loads libcuda and turns its results into statuses and messages. The one place that knows which errors are sticky:
 * after those the context answers every call with the same error until the process ends, so the device is marked lost
 * and not asked again. */
#include "backend/cuda/driver.h"

#include "backend/cuda/symbols.h"
#include "base/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUIRED = true, OPTIONAL = false, OLDEST_VERSION = 12000 };

static const krf__symbol symbols[] = {
#define CU_FUNCTION(name, need, arguments) {#name, offsetof(krf__driver, name), need},
#include "backend/cuda/driver.def"
};

const char *krf__driver_visible(void) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible ? visible : "(not set)";
}

static krf_status check_version(krf__driver *driver) {
    if (!driver->cuDriverGetVersion) {
        return krf__fail(KRF_E_DEVICE, "%s is not a CUDA driver: it has no cuDriverGetVersion", driver->path);
    }
    int version = 0;
    cu_result result = driver->cuDriverGetVersion(&version);
    if (result == KRF__CUDA_ERROR_STUB_LIBRARY) {
        return krf__fail(KRF_E_DEVICE,
                         "%s is the CUDA toolkit's stub, not a driver: take the toolkit's stubs folder off "
                         "LD_LIBRARY_PATH or set KRF_LIBCUDA",
                         driver->path);
    }
    if (result != KRF__CUDA_SUCCESS) {
        return krf__driver_failed(driver, result, "cuDriverGetVersion(&version)");
    }
    if (version < OLDEST_VERSION) {
        return krf__fail(KRF_E_DEVICE,
                         "the NVIDIA driver (%s) supports CUDA %d.%d; kerfuse needs CUDA 12.0, which driver "
                         "525 and newer have",
                         driver->path, version / 1000, version % 1000 / 10);
    }
    driver->version = version;
    return KRF_OK;
}

static krf_status initialize(krf__driver *driver) {
    cu_result result = driver->cuInit(0);
    switch (result) {
    case KRF__CUDA_SUCCESS: return KRF_OK;
    case KRF__CUDA_ERROR_NO_DEVICE:
        return krf__fail(KRF_E_DEVICE,
                         "no CUDA device: the driver (%s) is there but shows no GPU; CUDA_VISIBLE_DEVICES is %s",
                         driver->path, krf__driver_visible());
    case KRF__CUDA_ERROR_UNKNOWN:
        /* Not a lost device: nothing was running yet. */
        return krf__fail(KRF_E_DEVICE,
                         "cuInit failed with CUDA_ERROR_UNKNOWN (999): is the nvidia_uvm kernel module loaded, "
                         "and may this user open /dev/nvidia*?");
    default: return krf__driver_failed(driver, result, "cuInit(0)");
    }
}

krf_status krf__driver_open(krf__driver *driver, const char *path) {
    memset(driver, 0, sizeof *driver);
    pthread_mutex_init(&driver->lost_lock, NULL);
    atomic_init(&driver->lost, false);

    if (!path) {
        path = secure_getenv("KRF_LIBCUDA");
    }
    bool chosen = path && *path;
    if (!chosen) {
        path = "libcuda.so.1";
    }
    snprintf(driver->path, sizeof driver->path, "%s", path);

    const char *reason = NULL;
    void *library = krf__symbols_open(path, &reason);
    if (!library) {
        return krf__fail(
            KRF_E_DEVICE, "no CUDA driver: %s%s", reason,
            chosen ? ""
                   : " (it comes with the NVIDIA driver: package libcuda1 on Debian, libnvidia-compute-<version> on "
                     "Ubuntu, nvidia-driver-cuda-libs on Fedora; a container needs `docker run --gpus all`)");
    }
    const char *missing = krf__symbols_resolve(library, symbols, sizeof symbols / sizeof *symbols, driver);
    krf_status status = check_version(driver);
    if (status == KRF_OK && missing) {
        status = krf__fail(KRF_E_DEVICE, "%s has no %s: kerfuse needs the NVIDIA driver 525 (CUDA 12.0) or newer",
                           driver->path, missing);
    }
    return status == KRF_OK ? initialize(driver) : status;
}

void krf__driver_close(krf__driver *driver) { pthread_mutex_destroy(&driver->lost_lock); }

static bool is_sticky(cu_result result) {
    switch (result) {
    case KRF__CUDA_ERROR_CONTAINED:
    case KRF__CUDA_ERROR_ILLEGAL_ADDRESS:
    case KRF__CUDA_ERROR_LAUNCH_TIMEOUT:
    case KRF__CUDA_ERROR_ASSERT:
    case KRF__CUDA_ERROR_HARDWARE_STACK_ERROR:
    case KRF__CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case KRF__CUDA_ERROR_MISALIGNED_ADDRESS:
    case KRF__CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case KRF__CUDA_ERROR_INVALID_PC:
    case KRF__CUDA_ERROR_LAUNCH_FAILED:
    case KRF__CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case KRF__CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case KRF__CUDA_ERROR_EXTERNAL_DEVICE:
    case KRF__CUDA_ERROR_UNKNOWN: return true;
    default: return false;
    }
}

krf_status krf__driver_failed(krf__driver *driver, cu_result result, const char *call) {
    const char *name = NULL, *text = NULL;
    if (driver->cuGetErrorName) {
        driver->cuGetErrorName(result, &name);
    }
    if (driver->cuGetErrorString) {
        driver->cuGetErrorString(result, &text);
    }
    char line[sizeof driver->cause];
    snprintf(line, sizeof line, "%s failed with %s (%u): %s", call, name ? name : "an error this driver does not name",
             result, text ? text : "no text");

    if (is_sticky(result)) {
        pthread_mutex_lock(&driver->lost_lock);
        if (!atomic_load(&driver->lost)) {
            memcpy(driver->cause, line, sizeof line);
            atomic_store(&driver->lost, true);
        }
        pthread_mutex_unlock(&driver->lost_lock);
        return krf__driver_alive(driver);
    }
    return krf__fail(result == KRF__CUDA_ERROR_OUT_OF_MEMORY ? KRF_E_MEMORY : KRF_E_DEVICE, "%s", line);
}

krf_status krf__driver_alive(krf__driver *driver) {
    if (!atomic_load(&driver->lost)) {
        return KRF_OK;
    }
    return krf__fail(KRF_E_LOST, "the CUDA device is lost until this process ends: %s", driver->cause);
}
