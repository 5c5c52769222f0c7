/* Memory of a CUDA device: a stream-ordered pool, copies, and waiting. */
#include "backend/cuda/device.h"

#include "base/fail.h"

/* Memory that was freed but is still in use by the stream becomes available by waiting; what the pool holds in pieces
 * too small, by giving it back to the driver. */
static krf_status reclaim(krf__device *d) {
    krf_status status = CU(d, cuStreamSynchronize(d->stream));
    return status == KRF_OK && d->pool ? CU(d, cuMemPoolTrimTo(d->pool, 0)) : status;
}

static cu_result try_allocate(krf__device *d, size_t bytes, cu_address *address) {
    return d->pool ? d->driver.cuMemAllocFromPoolAsync(address, bytes, d->pool, d->stream)
                   : d->driver.cuMemAlloc_v2(address, bytes);
}

static krf_status allocate(krf__device *d, size_t bytes, cu_address *address) {
    cu_result result = try_allocate(d, bytes, address);
    if (result == KRF__CUDA_ERROR_OUT_OF_MEMORY) {
        krf_status status = reclaim(d);
        if (status != KRF_OK) {
            return status;
        }
        result = try_allocate(d, bytes, address);
    }
    if (result == KRF__CUDA_ERROR_OUT_OF_MEMORY) {
        size_t available = 0, total = 0;
        d->driver.cuMemGetInfo_v2(&available, &total);
        return krf__fail(KRF_E_MEMORY, "out of device memory: %zu bytes were asked for, %zu of %zu are free on %s", bytes,
                         available, total, d->name);
    }
    return krf__driver_check(&d->driver, result, d->pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc_v2");
}

krf_status krf__cuda_allocate(krf__device *d, size_t bytes, void **data) {
    *data = NULL;
    krf__entry e;
    cu_enum mode;
    cu_address address = 0;
    krf_status status = krf__cuda_enter(d, &e);
    status = status == KRF_OK ? krf__cuda_relax(d, &mode) : status;
    if (status == KRF_OK) {
        status = allocate(d, bytes, &address);
        d->driver.cuThreadExchangeStreamCaptureMode(&mode); /* the memory is there, whatever this says */
    }
    status = krf__cuda_leave(d, &e, status);
    if (status == KRF_OK) {
        *data = (void *)(uintptr_t)address;
        atomic_fetch_add_explicit(&d->allocations, 1, memory_order_relaxed);
    }
    return status;
}

void krf__cuda_deallocate(krf__device *d, void *data, size_t bytes) {
    (void)bytes;
    krf__entry e;
    cu_enum mode;
    if (!data) {
        return;
    }
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        cu_address address = krf__cuda_address(data);
        bool relaxed = krf__cuda_relax(d, &mode) == KRF_OK;
        /* A failure has no one to go to; a sticky one marks the device lost, which the next call tells. */
        status = d->pool ? CU(d, cuMemFreeAsync(address, d->stream)) : CU(d, cuMemFree_v2(address));
        status = relaxed ? krf__cuda_unrelax(d, &mode, status) : status;
    }
    krf__cuda_leave(d, &e, status);
}

void krf__cuda_taken(krf__device *d, krf__taken *taken) {
    *taken = (krf__taken){.allocations = atomic_load_explicit(&d->allocations, memory_order_relaxed)};
}

void krf__cuda_trim(krf__device *d) {
    krf__entry e;
    cu_enum mode;
    krf_status status = krf__cuda_enter(d, &e);
    status = status == KRF_OK ? krf__cuda_relax(d, &mode) : status;
    krf__cuda_leave(d, &e, status == KRF_OK ? krf__cuda_unrelax(d, &mode, reclaim(d)) : status);
}

/* Waits for a copy from or to memory of the caller, who may do with it what he likes as soon as the call returns, failed
 * or not. Hence once more if waiting fails: the copy may still be going on. */
static krf_status await_copy(krf__device *d, cu_stream stream) {
    krf_status status = CU(d, cuStreamSynchronize(stream));
    if (status != KRF_OK && status != KRF_E_LOST) {
        (void)d->driver.cuStreamSynchronize(stream);
    }
    return status;
}

/* Waits for the copy: the driver stages pageable memory, but reads pinned memory when the stream gets there. */
krf_status krf__cuda_upload(krf__device *d, void *to, const void *from, size_t bytes, void *stream) {
    krf__entry e;
    krf_status status = krf__cuda_enter_stream(d, stream, true, &e);
    if (status == KRF_OK && bytes) {
        status = CU(d, cuMemcpyHtoDAsync_v2(krf__cuda_address(to), from, bytes, e.stream));
        if (status == KRF_OK) {
            status = await_copy(d, e.stream);
        }
    }
    return krf__cuda_leave(d, &e, status);
}

krf_status krf__cuda_download(krf__device *d, void *to, const void *from, size_t bytes, void *stream) {
    krf__entry e;
    krf_status status = krf__cuda_enter_stream(d, stream, true, &e);
    if (status == KRF_OK && bytes) {
        status = CU(d, cuMemcpyDtoHAsync_v2(to, krf__cuda_address(from), bytes, e.stream));
        if (status == KRF_OK) {
            status = await_copy(d, e.stream);
        }
    }
    return krf__cuda_leave(d, &e, status);
}

krf_status krf__cuda_copy(krf__device *d, void *to, const void *from, size_t bytes, void *stream) {
    krf__entry e;
    krf_status status = krf__cuda_enter_stream(d, stream, false, &e);
    if (status == KRF_OK && bytes) {
        status = CU(d, cuMemcpyDtoDAsync_v2(krf__cuda_address(to), krf__cuda_address(from), bytes, e.stream));
    }
    return krf__cuda_leave(d, &e, status);
}

krf_status krf__cuda_zero(krf__device *d, void *data, size_t bytes, void *stream) {
    krf__entry e;
    krf_status status = krf__cuda_enter_stream(d, stream, false, &e);
    if (status == KRF_OK && bytes) {
        status = CU(d, cuMemsetD8Async(krf__cuda_address(data), 0, bytes, e.stream));
    }
    return krf__cuda_leave(d, &e, status);
}

krf_status krf__cuda_synchronize(krf__device *d, void *stream) {
    krf__entry e;
    krf_status status = krf__cuda_enter_stream(d, stream, true, &e);
    if (status == KRF_OK) {
        status = stream ? CU(d, cuStreamSynchronize(e.stream)) : CU(d, cuCtxSynchronize());
    }
    return krf__cuda_leave(d, &e, status);
}
