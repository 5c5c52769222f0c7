/* Initialisation, errors, what the device is, and what every entry point does first. */
#include "fake.h"
#include "image.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

fake_entry fake_entries[] = {
#define CU_FUNCTION(name, need, arguments) {#name, 0},
#include "backend/cuda/driver.def"
#define CU_FUNCTION(name, need, arguments) {#name, 0},
#include "extra.def"
};
const int fake_entry_count = FAKE_ENTRIES;

static atomic_int owner; /* the process that called cuInit */
static atomic_uint stuck[FAKE_MOST_DEVICES];

static const struct {
    cu_result code;
    const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {226, "CUDA_ERROR_CONTAINED", "Invalid access of peer GPU memory over nvlink or a hardware error"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on global/shared address space"},
    {718, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory not completely freed"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "the MPS client has been terminated"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE", "asynchronous error from an external device"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

/* ---- entering ---- */

bool fake_is_sticky(cu_result code) {
    switch (code) {
    case 226:
    case 700:
    case 702:
    case 710:
    case 714:
    case 715:
    case 716:
    case 717:
    case 718:
    case 719:
    case 721:
    case 810:
    case 911:
    case 999: return true;
    default: return false;
    }
}

void fake_stick(cu_result code) {
    unsigned none = 0;
    atomic_compare_exchange_strong_explicit(&stuck[fake_device()], &none, code, memory_order_relaxed, memory_order_relaxed);
}

cu_result fake_stuck(void) { return atomic_load_explicit(&stuck[fake_device()], memory_order_relaxed); }

void fake_reset_more(void) {
    for (int d = 0; d < FAKE_MOST_DEVICES; d++) {
        atomic_store(&stuck[d], 0);
    }
}

bool fake_is_owner(void) { return atomic_load(&owner) == (int)getpid(); }

cu_result fake_enter(int entry, fake_need need) {
    const char *name = fake_entries[entry].name;
    cu_result code = fake_call(entry);
    if (code != KRF__CUDA_SUCCESS) {
        /* Before there is a context there is nothing that could be lost. */
        if (fake_is_sticky(code) && entry != FAKE_cuInit) {
            fake_stick(code);
        }
        return code;
    }
    if (fake_in_host_call()) {
        return fake_misuse(FAKE_NOT_PERMITTED, "%s: called by a function of cuLaunchHostFunc", name);
    }
    if (need >= FAKE_NEEDS_INIT && !fake_is_owner()) {
        return fake_misuse(FAKE_NOT_INITIALIZED, "%s: this process did not call cuInit%s", name,
                           atomic_load(&owner) ? ", but one that it was forked from" : "");
    }
    if (need >= FAKE_NEEDS_HEALTH && fake_stuck() != KRF__CUDA_SUCCESS) {
        return fake_stuck();
    }
    if (need == FAKE_NEEDS_CURRENT && !fake_current()) {
        return fake_misuse(FAKE_INVALID_CONTEXT, "%s: this thread has no current context", name);
    }
    return KRF__CUDA_SUCCESS;
}

/* ---- initialisation and errors ---- */

cu_result cuInit(unsigned int flags) {
    ENTER(cuInit, FAKE_NEEDS_NOTHING);
    if (flags != 0) {
        return FAKE_INVALID_VALUE;
    }
    int none = 0;
    atomic_compare_exchange_strong(&owner, &none, (int)getpid());
    return KRF__CUDA_SUCCESS;
}

cu_result cuDriverGetVersion(int *version) {
    ENTER(cuDriverGetVersion, FAKE_NEEDS_NOTHING);
    if (!version) {
        return FAKE_INVALID_VALUE;
    }
    *version = (int)fake_setting("FAKECUDA_VERSION", 13000);
    return KRF__CUDA_SUCCESS;
}

static cu_result find_error(cu_result code, bool name, const char **text) {
    if (!text) {
        return FAKE_INVALID_VALUE;
    }
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code) {
            *text = name ? errors[i].name : errors[i].text;
            return KRF__CUDA_SUCCESS;
        }
    }
    return FAKE_INVALID_VALUE;
}

cu_result cuGetErrorName(cu_result error, const char **name) {
    ENTER(cuGetErrorName, FAKE_NEEDS_NOTHING);
    return find_error(error, true, name);
}

cu_result cuGetErrorString(cu_result error, const char **text) {
    ENTER(cuGetErrorString, FAKE_NEEDS_NOTHING);
    return find_error(error, false, text);
}

/* ---- the device ---- */

int fake_arch(void) { return (int)fake_setting("FAKECUDA_ARCH", 90); }
int fake_multiprocessors(void) { return (int)fake_setting("FAKECUDA_MULTIPROCESSORS", 4); }
int fake_devices(void) {
    const long n = fake_setting("FAKECUDA_DEVICES", 1);
    return n < 1 || n > FAKE_MOST_DEVICES ? 1 : (int)n;
}
bool fake_reach(int device, int peer) { return device != peer && fake_setting("FAKECUDA_PEERS", 1) != 0; }
static bool no_device(cu_device device) { return device < 0 || device >= fake_devices(); }
size_t fake_total_memory(void) { return (size_t)fake_setting("FAKECUDA_MEMORY", 2L << 30); }

cu_result cuDeviceGetCount(int *count) {
    ENTER(cuDeviceGetCount, FAKE_NEEDS_INIT);
    if (!count) {
        return FAKE_INVALID_VALUE;
    }
    *count = fake_devices();
    return KRF__CUDA_SUCCESS;
}

cu_result cuDeviceGet(cu_device *device, int ordinal) {
    ENTER(cuDeviceGet, FAKE_NEEDS_INIT);
    if (!device) {
        return FAKE_INVALID_VALUE;
    }
    if (no_device(ordinal)) {
        return FAKE_INVALID_DEVICE;
    }
    *device = ordinal;
    return KRF__CUDA_SUCCESS;
}

cu_result cuDeviceGetName(char *name, int length, cu_device device) {
    ENTER(cuDeviceGetName, FAKE_NEEDS_INIT);
    if (!name || length <= 0) {
        return FAKE_INVALID_VALUE;
    }
    if (no_device(device)) {
        return FAKE_INVALID_DEVICE;
    }
    snprintf(name, (size_t)length, "Simulated GPU");
    return KRF__CUDA_SUCCESS;
}

cu_result cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device) {
    ENTER(cuDeviceGetUuid_v2, FAKE_NEEDS_INIT);
    if (!uuid) {
        return FAKE_INVALID_VALUE;
    }
    if (no_device(device)) {
        return FAKE_INVALID_DEVICE;
    }
    for (int i = 0; i < 16; i++) {
        uuid->bytes[i] = (char)(0xa0 + i + 16 * device);
    }
    return KRF__CUDA_SUCCESS;
}

cu_result cuDeviceGetAttribute(int *value, cu_enum attribute, cu_device device) {
    ENTER(cuDeviceGetAttribute, FAKE_NEEDS_INIT);
    if (!value) {
        return FAKE_INVALID_VALUE;
    }
    if (no_device(device)) {
        return FAKE_INVALID_DEVICE;
    }
    switch (attribute) {
    case KRF__CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = fake_multiprocessors(); break;
    case KRF__CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = FAKECUDA_DYNAMIC; break;
    case KRF__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = fake_arch() / 10; break;
    case KRF__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = fake_arch() % 10; break;
    case KRF__CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *value = fake_setting("FAKECUDA_POOLS", 1) != 0; break;
    default: return fake_misuse(FAKE_INVALID_VALUE, "cuDeviceGetAttribute: attribute %u is not simulated", attribute);
    }
    return KRF__CUDA_SUCCESS;
}

cu_result cuDeviceCanAccessPeer(int *can, cu_device device, cu_device peer) {
    ENTER(cuDeviceCanAccessPeer, FAKE_NEEDS_INIT);
    if (!can) {
        return FAKE_INVALID_VALUE;
    }
    if (no_device(device) || no_device(peer)) {
        return FAKE_INVALID_DEVICE;
    }
    *can = fake_reach(device, peer);
    return KRF__CUDA_SUCCESS;
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device) {
    ENTER(cuDeviceTotalMem_v2, FAKE_NEEDS_INIT);
    if (!bytes) {
        return FAKE_INVALID_VALUE;
    }
    if (no_device(device)) {
        return FAKE_INVALID_DEVICE;
    }
    *bytes = fake_total_memory();
    return KRF__CUDA_SUCCESS;
}
