/* Copies between two GPUs. Pools are opened to the other device where the hardware lets them reach each other, so that the copy takes the direct way; else the driver
 * takes it through the host. */
#include "backend/cuda/device.h"

#include "base/fail.h"

/* Memory of pools follows the pool's own list, and not what contexts allow each other. at: whose context is current, and whose failures are reported therefore. */
static krf_status open_pool(krf__device *at, krf__device *d, cu_device peer) {
    const unsigned long long bit = (unsigned)peer < 64 ? 1ULL << peer : 0;
    int can = 0;
    if (d->pool == NULL || d->driver.cuMemPoolSetAccess == NULL || bit == 0 || (atomic_load_explicit(&d->peers, memory_order_relaxed) & bit) != 0) {
        return KRF_OK;
    }
    const cu_access access = {{KRF__CU_MEM_LOCATION_TYPE_DEVICE, peer}, KRF__CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    cu_enum mode;
    krf_status status = CU(at, cuDeviceCanAccessPeer(&can, peer, d->id));
    if (status == KRF_OK && can != 0) {
        status = krf__cuda_relax(at, &mode);
        status = status == KRF_OK ? krf__cuda_unrelax(at, &mode, CU(at, cuMemPoolSetAccess(d->pool, &access, 1))) : status;
    }
    if (status == KRF_OK) {
        atomic_fetch_or_explicit(&d->peers, bit, memory_order_relaxed);
    }
    return status;
}

krf_status krf__cuda_copy_from(krf__device *d, void *to, krf__device *source, const void *from, size_t bytes, void *stream) {
    krf__entry e;
    if (d->driver.cuInit != source->driver.cuInit) {
        return krf__fail(KRF_E_UNSUPPORTED, "the arrays belong to two drivers, %s and %s: copy by way of the host", source->driver.path, d->driver.path);
    }
    krf_status status = krf__driver_alive(&source->driver);
    if (status != KRF_OK) {
        return status;
    }
    status = krf__cuda_enter_stream(d, stream, false, &e);
    const bool apart = d->context != source->context;
    if (status == KRF_OK && apart) {
        status = open_pool(d, source, d->id);
        status = status == KRF_OK ? open_pool(d, d, source->id) : status;
    }
    if (status == KRF_OK && apart) {
        status = CU(d, cuMemcpyPeerAsync(krf__cuda_address(to), d->context, krf__cuda_address(from), source->context, bytes, e.stream));
    } else if (status == KRF_OK) {
        status = CU(d, cuMemcpyDtoDAsync_v2(krf__cuda_address(to), krf__cuda_address(from), bytes, e.stream));
    }
    return krf__cuda_leave(d, &e, status);
}
