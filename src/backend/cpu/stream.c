/* Streams and events where every call is complete when it returns: a stream is nothing, an event the time at which it
 * was recorded. */
#include "backend/cpu/stream.h"

#include "base/fail.h"
#include "base/mem.h"

#include <string.h>
#include <time.h>

typedef struct moment {
    bool recorded;
    struct timespec time;
} moment;

static void *own(krf__device *d) {
    (void)d;
    return NULL;
}

static krf_status create(krf__device *d, int priority, bool blocking, void **stream) {
    (void)d, (void)priority, (void)blocking;
    *stream = NULL;
    return KRF_OK;
}

static void destroy(krf__device *d, void *stream) { (void)d, (void)stream; }

static krf_status query(krf__device *d, void *stream, bool *done) {
    (void)d, (void)stream;
    *done = true;
    return KRF_OK;
}

static void drain(krf__device *d, void *stream) { (void)d, (void)stream; }

static krf_status capturing(krf__device *d, void *stream, bool *is) {
    (void)d, (void)stream;
    *is = false;
    return KRF_OK;
}

static krf_status identity(krf__device *d, void *stream, uint64_t *id) {
    (void)d, (void)stream;
    *id = 0;
    return KRF_OK;
}

static krf_status event_create(krf__device *d, bool timed, void **event) {
    (void)d, (void)timed;
    *event = krf__calloc(1, sizeof(moment));
    return *event != NULL ? KRF_OK : krf__fail_memory();
}

static void event_destroy(krf__device *d, void *event) {
    (void)d;
    krf__mem_free(event);
}

static krf_status event_record(krf__device *d, void *event, void *stream) {
    moment *m = event;
    (void)d, (void)stream;
    m->recorded = true;
    clock_gettime(CLOCK_MONOTONIC, &m->time);
    return KRF_OK;
}

static krf_status event_wait(krf__device *d, void *event, void *stream) {
    (void)d, (void)event, (void)stream;
    return KRF_OK;
}

static krf_status event_query(krf__device *d, void *event, bool *done) { return query(d, event, done); }

static krf_status event_synchronize(krf__device *d, void *event) {
    (void)d, (void)event;
    return KRF_OK;
}

static krf_status event_elapsed(krf__device *d, void *from, void *to, double *ms) {
    const moment *a = from, *b = to;
    (void)d;
    *ms = (double)(b->time.tv_sec - a->time.tv_sec) * 1e3 + (double)(b->time.tv_nsec - a->time.tv_nsec) * 1e-6;
    return a->recorded && b->recorded ? KRF_OK : krf__fail(KRF_E_ARGUMENT, "the event was never recorded");
}

static krf_status host_allocate(krf__device *d, size_t bytes, void **data) {
    (void)d;
    *data = krf__malloc(bytes);
    return *data != NULL ? KRF_OK : krf__fail_memory();
}

static void host_deallocate(krf__device *d, void *data) {
    (void)d;
    krf__mem_free(data);
}

static bool host_pinned(krf__device *d, const void *data) {
    (void)d, (void)data;
    return true;
}

static krf_status copy(krf__device *d, void *to, const void *from, size_t bytes, void *stream) {
    return krf__backend_cpu.copy(d, to, from, bytes, stream);
}

static krf_status call(krf__device *d, void *stream, void (*function)(void *user), void *user) {
    (void)d, (void)stream;
    function(user);
    return KRF_OK;
}

const krf__streams krf__cpu_streams = {
    .ordered = false,
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
    .start_upload = copy,
    .start_download = copy,
    .call = call,
};
