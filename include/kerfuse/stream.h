/* Streams and events. Work that is given to one stream is done in order, that of different streams at the same time,
 * unless arrays pass from one to another: then the later stream waits for the earlier one, and the host does not. An
 * array knows who wrote it and who reads it; memory that is given back is handed out again in that order as well. What
 * a stream of the caller does without kerfuse, and two arrays that wrap the same memory, are the caller's to order.
 *
 * Functions that start work take the handle of a stream: a CUstream or cudaStream_t, be it the caller's (also the legacy
 * and the per-thread default stream, (void *)1 and (void *)2), a krf_stream's (krf_stream_handle), or NULL for the
 * context's own. On the CPU all work is done when a call returns; the same program runs, with NULL for all handles.
 *
 * Threads: all functions may be called from any thread; destroying is the last use. */
#ifndef KERFUSE_STREAM_H
#define KERFUSE_STREAM_H

#include <kerfuse/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The handle of the context's own stream, for other libraries: what NULL means here. NULL on the CPU, and for NULL. */
KRF_API void *krf_context_stream(krf_context *context);

typedef struct krf_stream krf_stream;

typedef struct krf_stream_options {
    size_t size;  /* sizeof(krf_stream_options) */
    int priority; /* lower numbers go first; 0: normal. What the device does not have is the nearest that it has */
    bool blocking; /* in order with the legacy default stream, as streams of the runtime API's cudaStreamCreate are */
} krf_stream_options;
KRF_API krf_stream_options krf_stream_options_default(void);

/* A new stream. options: NULL for the defaults. At most 39 streams of a context exist at a time.
 * Errors: KRF_E_ARGUMENT, KRF_E_MEMORY, KRF_E_DEVICE, KRF_E_UNSUPPORTED when there are too many. */
KRF_API krf_status krf_stream_create(krf_context *context, const krf_stream_options *options, krf_stream **stream);

/* Makes a stream of the caller known, which must live until krf_stream_destroy. Not needed before its handle is used;
 * but a stream that is known to live costs no event a run. Errors: as krf_stream_create. */
KRF_API krf_status krf_stream_wrap(krf_context *context, void *handle, krf_stream **stream);

/* Work that the stream was given is still done. The handle of a wrapped stream stays as it is. NULL is allowed. */
KRF_API void krf_stream_destroy(krf_stream *stream);

KRF_API void *krf_stream_handle(const krf_stream *stream); /* NULL on the CPU, and for NULL */

/* Waits for all work of the stream; or says whether it is done. Errors of kernels surface here. */
KRF_API krf_status krf_stream_synchronize(krf_stream *stream);
KRF_API krf_status krf_stream_query(krf_stream *stream, bool *done);

/* A place in a stream. timed: its time can be asked for, at some cost. Errors: KRF_E_ARGUMENT, KRF_E_MEMORY, KRF_E_DEVICE. */
typedef struct krf_event krf_event;
KRF_API krf_status krf_event_create(krf_context *context, bool timed, krf_event **event);
KRF_API void krf_event_destroy(krf_event *event); /* NULL is allowed */

/* Puts the event behind what the stream was given so far; takes it away from where it was. */
KRF_API krf_status krf_event_record(krf_event *event, void *stream);

/* What the stream is given from now on waits until the event is reached; the host does not. An event that was never
 * recorded is reached. */
KRF_API krf_status krf_event_wait(krf_event *event, void *stream);

/* The host waits for it; or asks. */
KRF_API krf_status krf_event_synchronize(krf_event *event);
KRF_API krf_status krf_event_query(krf_event *event, bool *done);

/* The time between two timed events that were recorded, in milliseconds. Waits for both. Errors: KRF_E_ARGUMENT. */
KRF_API krf_status krf_event_elapsed(krf_event *from, krf_event *to, double *milliseconds);

/* ---- copies that do not wait ---- */

/* Pinned memory of the host, which the device reads and writes by itself: copies from and to it overlap with kernels and
 * with the host's work. Memory of the CPU where that is the device. Free it after the copies are done; NULL is allowed.
 * Errors: KRF_E_ARGUMENT for 0 bytes, KRF_E_MEMORY. */
KRF_API krf_status krf_host_allocate(krf_context *context, size_t bytes, void **data);
KRF_API void krf_host_free(krf_context *context, void *data);

/* Starts to copy exactly bytes = size * itemsize from the host to an array in C order. Pinned memory must stay as it is
 * until the stream has done it. Pageable memory may be changed when the call returns: it was copied to pinned memory, for
 * which a call may have to wait when more than 32 MiB are under way.
 * Errors: KRF_E_ARGUMENT, KRF_E_SHAPE for another order, KRF_E_MEMORY, KRF_E_DEVICE; KRF_E_UNSUPPORTED for pageable
 * memory while the stream is being captured. */
KRF_API krf_status krf_array_upload_async(krf_array *array, const void *data, size_t bytes, void *stream);

/* The same from an array to the host, which has the data when the stream has done it. */
KRF_API krf_status krf_array_download_async(krf_array *array, void *data, size_t bytes, void *stream);

#ifdef __cplusplus
}
#endif

#endif
