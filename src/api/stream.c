/* Streams and events as the user sees them. */
#include <kerfuse/stream.h>

#include "base/fail.h"
#include "base/mem.h"
#include "sched/context.h"

#include <string.h>

struct krf_stream {
    krf_context *context; /* retained */
    void *handle;
    int lane;   /* KRF__NO_LANE: its handle stands for several streams, or nothing is ordered */
    bool owned; /* made here */
};

struct krf_event {
    krf_context *context; /* retained */
    void *event;
    bool timed;
    atomic_bool recorded;
};

#define PER_THREAD ((void *)2) /* CU_STREAM_PER_THREAD */

static const krf__streams *streams_of(const krf_context *c) { return c->backend->streams; }

krf_stream_options krf_stream_options_default(void) { return (krf_stream_options){.size = sizeof(krf_stream_options)}; }

void *krf_context_stream(krf_context *context) {
    if (context == NULL) {
        return NULL;
    }
    krf__order_share(context->order);
    return streams_of(context)->own(context->device);
}

static krf_status new_stream(krf_context *context, krf_stream **stream) {
    krf_stream *s = krf__calloc(1, sizeof *s);
    if (s == NULL) {
        return krf__fail_memory();
    }
    s->context = context;
    s->lane = KRF__NO_LANE;
    krf__context_retain(context);
    *stream = s;
    return KRF_OK;
}

static krf_status join(krf_stream *s) {
    return streams_of(s->context)->ordered && s->handle != PER_THREAD
               ? krf__order_join(s->context->order, s, s->handle, &s->lane)
               : KRF_OK;
}

static krf_status check(const char *name, const krf_context *context, krf_stream **stream) {
    if (context == NULL || stream == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: %s is NULL", name, context == NULL ? "context" : "stream");
    }
    *stream = NULL;
    return KRF_OK;
}

krf_status krf_stream_create(krf_context *context, const krf_stream_options *options, krf_stream **stream) {
    krf_stream_options whole = krf_stream_options_default();
    krf_status status = check("krf_stream_create", context, stream);
    if (status == KRF_OK && options != NULL && options->size <= sizeof options->size) {
        status = krf__fail(KRF_E_ARGUMENT, "krf_stream_create: start from krf_stream_options_default()");
    }
    if (status != KRF_OK) {
        return status;
    }
    if (options != NULL) {
        memcpy(&whole, options, options->size < sizeof whole ? options->size : sizeof whole);
    }
    krf_stream *s = NULL;
    status = new_stream(context, &s);
    if (status != KRF_OK) {
        return status;
    }
    status = streams_of(context)->create(context->device, whole.priority, whole.blocking, &s->handle);
    s->owned = status == KRF_OK;
    status = status == KRF_OK ? join(s) : status;
    if (status != KRF_OK) {
        krf_stream_destroy(s);
        return status;
    }
    *stream = s;
    return KRF_OK;
}

krf_status krf_stream_wrap(krf_context *context, void *handle, krf_stream **stream) {
    krf_status status = check("krf_stream_wrap", context, stream);
    if (status == KRF_OK && handle == NULL && streams_of(context)->ordered) {
        status = krf__fail(KRF_E_ARGUMENT, "krf_stream_wrap: the handle is NULL; the legacy default stream is (void *)1");
    }
    status = status == KRF_OK ? krf__order_handle(context->order, handle) : status;
    krf_stream *s = NULL;
    status = status == KRF_OK ? new_stream(context, &s) : status;
    if (status != KRF_OK) {
        return status;
    }
    s->handle = streams_of(context)->ordered ? handle : NULL;
    status = join(s);
    if (status != KRF_OK) {
        krf_stream_destroy(s);
        return status;
    }
    *stream = s;
    return KRF_OK;
}

void krf_stream_destroy(krf_stream *s) {
    if (s == NULL) {
        return;
    }
    if (s->lane != KRF__NO_LANE) {
        krf__order_part(s->context->order, s->lane);
    }
    if (s->owned) {
        streams_of(s->context)->destroy(s->context->device, s->handle);
    }
    krf__context_release(s->context);
    krf__mem_free(s);
}

void *krf_stream_handle(const krf_stream *stream) { return stream != NULL ? stream->handle : NULL; }

krf_status krf_stream_synchronize(krf_stream *s) {
    return s != NULL ? s->context->backend->synchronize(s->context->device, s->handle)
                     : krf__fail(KRF_E_ARGUMENT, "krf_stream_synchronize: stream is NULL");
}

krf_status krf_stream_query(krf_stream *s, bool *done) {
    if (s == NULL || done == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_stream_query: %s is NULL", s == NULL ? "stream" : "done");
    }
    return streams_of(s->context)->query(s->context->device, s->handle, done);
}

/* ---- events ---- */

krf_status krf_event_create(krf_context *context, bool timed, krf_event **event) {
    if (context == NULL || event == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_event_create: %s is NULL", context == NULL ? "context" : "event");
    }
    *event = NULL;
    krf_event *e = krf__calloc(1, sizeof *e);
    if (e == NULL) {
        return krf__fail_memory();
    }
    e->context = context;
    e->timed = timed;
    krf_status status = streams_of(context)->event_create(context->device, timed, &e->event);
    if (status != KRF_OK) {
        krf__mem_free(e);
        return status;
    }
    krf__context_retain(context);
    *event = e;
    return KRF_OK;
}

void krf_event_destroy(krf_event *e) {
    if (e != NULL) {
        streams_of(e->context)->event_destroy(e->context->device, e->event);
        krf__context_release(e->context);
        krf__mem_free(e);
    }
}

static krf_status no_event(const char *name) { return krf__fail(KRF_E_ARGUMENT, "%s: event is NULL", name); }

/* Streams mean nothing where calls are complete when they return. */
static krf_status handle_of(const krf_context *c, void **stream) {
    *stream = streams_of(c)->ordered ? *stream : NULL;
    return krf__order_handle(c->order, *stream);
}

krf_status krf_event_record(krf_event *e, void *stream) {
    krf_status status = e != NULL ? handle_of(e->context, &stream) : no_event("krf_event_record");
    status = status == KRF_OK ? streams_of(e->context)->event_record(e->context->device, e->event, stream) : status;
    if (status == KRF_OK) {
        atomic_store(&e->recorded, true);
    }
    return status;
}

krf_status krf_event_wait(krf_event *e, void *stream) {
    krf_status status = e != NULL ? handle_of(e->context, &stream) : no_event("krf_event_wait");
    if (status == KRF_OK) {
        status = streams_of(e->context)->event_wait(e->context->device, e->event, stream);
        krf__order_worked(e->context->order, stream);
    }
    return status;
}

krf_status krf_event_synchronize(krf_event *e) {
    return e != NULL ? streams_of(e->context)->event_synchronize(e->context->device, e->event)
                     : no_event("krf_event_synchronize");
}

krf_status krf_event_query(krf_event *e, bool *done) {
    if (e == NULL || done == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_event_query: %s is NULL", e == NULL ? "event" : "done");
    }
    return streams_of(e->context)->event_query(e->context->device, e->event, done);
}

krf_status krf_event_elapsed(krf_event *from, krf_event *to, double *milliseconds) {
    if (from == NULL || to == NULL || milliseconds == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_event_elapsed: an argument is NULL");
    }
    *milliseconds = 0;
    if (from->context != to->context) {
        return krf__fail(KRF_E_ARGUMENT, "krf_event_elapsed: the events belong to different contexts");
    }
    if (!from->timed || !to->timed || !atomic_load(&from->recorded) || !atomic_load(&to->recorded)) {
        bool first = !from->timed || !atomic_load(&from->recorded);
        return krf__fail(KRF_E_ARGUMENT, "krf_event_elapsed: the %s event was not %s", first ? "first" : "second",
                         (first ? from : to)->timed ? "recorded" : "made with timed");
    }
    krf_status status = krf_event_synchronize(from);
    status = status == KRF_OK ? krf_event_synchronize(to) : status;
    return status == KRF_OK
               ? streams_of(from->context)->event_elapsed(from->context->device, from->event, to->event, milliseconds)
               : status;
}

/* ---- memory of the host ---- */

krf_status krf_host_allocate(krf_context *context, size_t bytes, void **data) {
    if (context == NULL || data == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_host_allocate: %s is NULL", context == NULL ? "context" : "data");
    }
    *data = NULL;
    return bytes > 0 ? streams_of(context)->host_allocate(context->device, bytes, data)
                     : krf__fail(KRF_E_ARGUMENT, "krf_host_allocate: 0 bytes");
}

void krf_host_free(krf_context *context, void *data) {
    if (context != NULL && data != NULL) {
        streams_of(context)->host_deallocate(context->device, data);
    }
}
