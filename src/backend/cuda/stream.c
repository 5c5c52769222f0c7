/* Streams, events and pinned memory of a CUDA device. */
#include "backend/cuda/device.h"

#include "base/fail.h"

/* One driver call between enter and leave. */
#define CALL(d, call) \
    do { \
        krf__entry call_entry; \
        krf_status call_status = krf__cuda_enter(d, &call_entry); \
        return krf__cuda_leave(d, &call_entry, call_status == KRF_OK ? CU(d, call) : call_status); \
    } while (0)

/* The same for calls that captures forbid. */
static krf_status enter_relaxed(krf__device *d, krf__entry *e, cu_enum *mode) {
    krf_status status = krf__cuda_enter(d, e);
    return status == KRF_OK ? krf__cuda_relax(d, mode) : status;
}

static krf_status leave_relaxed(krf__device *d, krf__entry *e, cu_enum *mode, krf_status status) {
    return krf__cuda_leave(d, e, krf__cuda_unrelax(d, mode, status));
}

static cu_stream handle(const krf__device *d, void *stream) { return stream ? stream : d->stream; }

static void *own(krf__device *d) { return d->stream; }

/* ---- streams ---- */

static krf_status create(krf__device *d, int priority, bool blocking, void **stream) {
    krf__entry e;
    cu_stream made = NULL;
    unsigned flags = blocking ? KRF__CU_STREAM_DEFAULT : KRF__CU_STREAM_NON_BLOCKING;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = CU(d, cuStreamCreateWithPriority(&made, flags, priority));
    }
    status = krf__cuda_leave(d, &e, status);
    *stream = status == KRF_OK ? made : NULL;
    return status;
}

/* Results are of no interest: nobody is left to tell. */
static void destroy(krf__device *d, void *stream) {
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    krf__cuda_leave(d, &e, status == KRF_OK ? CU(d, cuStreamDestroy_v2(stream)) : status);
}

/* NOT_READY is an answer and no failure. */
static krf_status answer(krf__device *d, cu_result result, const char *call, bool *done) {
    *done = result == KRF__CUDA_SUCCESS;
    return result == KRF__CUDA_ERROR_NOT_READY ? KRF_OK : krf__driver_check(&d->driver, result, call);
}

static krf_status query(krf__device *d, void *stream, bool *done) {
    krf__entry e;
    krf_status status = krf__cuda_enter_stream(d, stream, true, &e);
    *done = false;
    if (status == KRF_OK) {
        status = answer(d, d->driver.cuStreamQuery(e.stream), "cuStreamQuery", done);
    }
    return krf__cuda_leave(d, &e, status);
}

static void drain(krf__device *d, void *stream) {
    const krf__driver *cu = &d->driver;
    cu_context current = NULL, popped;
    cu_enum mode = KRF__CU_STREAM_CAPTURE_MODE_RELAXED;
    bool pushed = cu->cuCtxGetCurrent(&current) == KRF__CUDA_SUCCESS && current != d->context
                  && cu->cuCtxPushCurrent_v2(d->context) == KRF__CUDA_SUCCESS;
    if (cu->cuThreadExchangeStreamCaptureMode(&mode) == KRF__CUDA_SUCCESS) { /* as krf__cuda_relax, without a message */
        cu->cuStreamSynchronize(handle(d, stream));
        cu->cuThreadExchangeStreamCaptureMode(&mode);
    }
    if (pushed) {
        cu->cuCtxPopCurrent_v2(&popped);
    }
}

static krf_status capturing(krf__device *d, void *stream, bool *is) {
    krf__entry e;
    cu_enum capture = KRF__CU_STREAM_CAPTURE_STATUS_NONE;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = CU(d, cuStreamIsCapturing(handle(d, stream), &capture));
    }
    *is = capture != KRF__CU_STREAM_CAPTURE_STATUS_NONE;
    return krf__cuda_leave(d, &e, status);
}

static krf_status identity(krf__device *d, void *stream, uint64_t *id) {
    krf__entry e;
    unsigned long long number = 0;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = CU(d, cuStreamGetId(handle(d, stream), &number));
    }
    *id = number;
    return krf__cuda_leave(d, &e, status);
}

/* ---- events ---- */

static krf_status event_create(krf__device *d, bool timed, void **event) {
    krf__entry e;
    cu_event made = NULL;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = CU(d, cuEventCreate(&made, timed ? KRF__CU_EVENT_DEFAULT : KRF__CU_EVENT_DISABLE_TIMING));
    }
    status = krf__cuda_leave(d, &e, status);
    *event = status == KRF_OK ? made : NULL;
    return status;
}

static void event_destroy(krf__device *d, void *event) {
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    krf__cuda_leave(d, &e, status == KRF_OK ? CU(d, cuEventDestroy_v2(event)) : status);
}

static krf_status event_record(krf__device *d, void *event, void *stream) {
    CALL(d, cuEventRecord(event, handle(d, stream)));
}

/* Who waits goes on with what was computed before the event, maybe on another device: a fault that leaving reports has spoiled it. */
static krf_status event_wait(krf__device *d, void *event, void *stream) {
    krf__entry e;
    krf_status status = krf__cuda_enter(d, &e);
    status = krf__cuda_leave(d, &e, status == KRF_OK ? CU(d, cuStreamWaitEvent(handle(d, stream), event, 0)) : status);
    return status == KRF_OK ? krf__driver_alive(&d->driver) : status;
}

static krf_status event_query(krf__device *d, void *event, bool *done) {
    krf__entry e;
    cu_enum mode;
    krf_status status = enter_relaxed(d, &e, &mode);
    *done = false;
    if (status != KRF_OK) {
        return krf__cuda_leave(d, &e, status);
    }
    status = answer(d, d->driver.cuEventQuery(event), "cuEventQuery", done);
    return leave_relaxed(d, &e, &mode, status);
}

static krf_status event_synchronize(krf__device *d, void *event) {
    krf__entry e;
    cu_enum mode;
    krf_status status = enter_relaxed(d, &e, &mode);
    return status == KRF_OK ? leave_relaxed(d, &e, &mode, CU(d, cuEventSynchronize(event)))
                            : krf__cuda_leave(d, &e, status);
}

static krf_status event_elapsed(krf__device *d, void *from, void *to, double *ms) {
    krf__entry e;
    float elapsed = 0;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = CU(d, cuEventElapsedTime(&elapsed, from, to));
    }
    *ms = (double)elapsed;
    return krf__cuda_leave(d, &e, status);
}

/* ---- the host's memory ---- */

static krf_status host_allocate(krf__device *d, size_t bytes, void **data) {
    krf__entry e;
    cu_enum mode;
    void *made = NULL;
    krf_status status = enter_relaxed(d, &e, &mode);
    if (status == KRF_OK) {
        status = CU(d, cuMemHostAlloc(&made, bytes, KRF__CU_MEMHOSTALLOC_PORTABLE));
        d->driver.cuThreadExchangeStreamCaptureMode(&mode); /* the memory is there, whatever this says */
    }
    status = krf__cuda_leave(d, &e, status);
    *data = status == KRF_OK ? made : NULL;
    return status;
}

static void host_deallocate(krf__device *d, void *data) {
    krf__entry e;
    cu_enum mode;
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        bool relaxed = krf__cuda_relax(d, &mode) == KRF_OK;
        status = CU(d, cuMemFreeHost(data));
        status = relaxed ? krf__cuda_unrelax(d, &mode, status) : status;
    }
    krf__cuda_leave(d, &e, status);
}

/* The driver knows no pageable memory, which is an answer too; on systems where it does, that memory is no worse. */
static bool host_pinned(krf__device *d, const void *data) {
    krf__entry e;
    cu_enum type = 0;
    bool pinned = krf__cuda_enter(d, &e) == KRF_OK
                  && d->driver.cuPointerGetAttribute(&type, KRF__CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                     krf__cuda_address(data))
                         == KRF__CUDA_SUCCESS
                  && type == KRF__CU_MEMORYTYPE_HOST;
    krf__cuda_leave(d, &e, KRF_OK);
    return pinned;
}

static krf_status start_upload(krf__device *d, void *to, const void *from, size_t bytes, void *stream) {
    CALL(d, cuMemcpyHtoDAsync_v2(krf__cuda_address(to), from, bytes, handle(d, stream)));
}

static krf_status start_download(krf__device *d, void *to, const void *from, size_t bytes, void *stream) {
    CALL(d, cuMemcpyDtoHAsync_v2(to, krf__cuda_address(from), bytes, handle(d, stream)));
}

static krf_status call(krf__device *d, void *stream, void (*function)(void *user), void *user) {
    CALL(d, cuLaunchHostFunc(handle(d, stream), function, user));
}

const krf__streams krf__cuda_streams = {
    .ordered = true,
    .own = own,
    .create = create,
    .destroy = destroy,
    .query = query,
    .drain = drain,
    .capturing = capturing,
    .id = identity,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = event_wait,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .event_elapsed = event_elapsed,
    .host_allocate = host_allocate,
    .host_deallocate = host_deallocate,
    .host_pinned = host_pinned,
    .start_upload = start_upload,
    .start_download = start_download,
    .call = call,
};
