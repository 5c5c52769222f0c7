/* What every call of the driver comes after and before: whose process it is, whether the device lives, whose context is current. */
#include "backend/cuda/device.h"

#include "base/fail.h"

#include <unistd.h>

krf_status krf__cuda_enter(krf__device *d, krf__entry *e) {
    *e = (krf__entry){.stream = d->stream};
    if (d->owned != NULL ? *d->owned == 0 : getpid() != d->pid) {
        return krf__fail(KRF_E_FORKED,
                         "CUDA does not work in a child of the process that opened the device: open a context after "
                         "fork, or use exec");
    }
    krf_status status = krf__driver_alive(&d->driver);
    cu_context current = NULL;
    if (status == KRF_OK) {
        status = CU(d, cuCtxGetCurrent(&current));
    }
    if (status == KRF_OK && current != d->context) {
        status = CU(d, cuCtxPushCurrent_v2(d->context));
        e->pushed = status == KRF_OK;
    }
    return status;
}

krf_status krf__cuda_enter_stream(krf__device *d, void *stream, bool blocks, krf__entry *e) {
    krf_status status = krf__cuda_enter(d, e);
    if (status != KRF_OK || !stream || stream == d->stream) {
        return status;
    }
    e->stream = stream;
    cu_enum capture = KRF__CU_STREAM_CAPTURE_STATUS_NONE;
    if (blocks) {
        status = CU(d, cuStreamIsCapturing(e->stream, &capture));
    }
    if (capture != KRF__CU_STREAM_CAPTURE_STATUS_NONE) {
        return krf__fail(KRF_E_UNSUPPORTED,
                         "the stream is being captured into a CUDA graph: nothing can wait for it until the "
                         "capture ends");
    }
    return status;
}

krf_status krf__cuda_leave(krf__device *d, krf__entry *e, krf_status status) {
    if (e->pushed) {
        /* What was done is done: a failure here does not undo it. A fault of a kernel that is reported here marks the
         * device lost, which the next call tells. */
        cu_context popped;
        (void)CU(d, cuCtxPopCurrent_v2(&popped));
    }
    return status;
}

krf_status krf__cuda_relax(krf__device *d, cu_enum *mode) {
    *mode = KRF__CU_STREAM_CAPTURE_MODE_RELAXED;
    return CU(d, cuThreadExchangeStreamCaptureMode(mode));
}

krf_status krf__cuda_unrelax(krf__device *d, cu_enum *mode, krf_status status) {
    cu_result result = d->driver.cuThreadExchangeStreamCaptureMode(mode);
    return status == KRF_OK ? krf__driver_check(&d->driver, result, "cuThreadExchangeStreamCaptureMode") : status;
}
