/* Events: a place in the line of a stream. */
#include "stream.h"

#include <stdlib.h>

struct CUevent_st {
    fake_object object;
    pthread_mutex_t lock; /* hosts only */
    fake_line *line;      /* NULL: never recorded */
    uint64_t seq;
};

/* Shares the line; NULL where the event was never recorded. */
static fake_line *place(cu_event event, uint64_t *seq) {
    pthread_mutex_lock(&event->lock);
    fake_line *line = event->line ? fake_line_share(event->line) : NULL;
    *seq = event->seq;
    pthread_mutex_unlock(&event->lock);
    return line;
}

static void set_place(cu_event event, fake_line *line, uint64_t seq) {
    pthread_mutex_lock(&event->lock);
    fake_line *old = event->line;
    event->line = line;
    event->seq = seq;
    pthread_mutex_unlock(&event->lock);
    if (old) {
        fake_line_drop(old);
    }
}

cu_result cuEventCreate(cu_event *event, unsigned int flags) {
    ENTER(cuEventCreate, FAKE_NEEDS_CURRENT);
    if (!event || (flags & ~3u) != 0) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuEventCreate: no place for the event, or flags %#x", flags);
    }
    cu_event e = calloc(1, sizeof *e);
    if (!e) {
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_init(&e->lock, NULL);
    fake_object_add(&e->object, FAKE_EVENT);
    *event = e;
    return KRF__CUDA_SUCCESS;
}

cu_result cuEventDestroy_v2(cu_event event) {
    ENTER(cuEventDestroy_v2, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(event, FAKE_EVENT);
    fake_object_remove(&event->object);
    set_place(event, NULL, 0);
    pthread_mutex_destroy(&event->lock);
    free(event);
    return KRF__CUDA_SUCCESS;
}

static void nothing(void *payload) { (void)payload; }

cu_result cuEventRecord(cu_event event, cu_stream stream) {
    ENTER(cuEventRecord, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(event, FAKE_EVENT);
    FIND_STREAM(s, stream);
    if (s->capture) {
        return fake_misuse(FAKE_NOT_SUPPORTED, "cuEventRecord: events of captures are not simulated");
    }
    uint64_t seq = fake_enqueue(s, nothing, NULL, 0);
    set_place(event, fake_line_share(s->line), seq);
    return KRF__CUDA_SUCCESS;
}

cu_result cuEventQuery(cu_event event) {
    ENTER(cuEventQuery, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(event, FAKE_EVENT);
    uint64_t seq;
    fake_line *line = place(event, &seq);
    bool reached = !line || fake_line_reached(line, seq);
    if (line) {
        fake_line_drop(line);
    }
    return reached ? fake_stuck() : 600;
}

cu_result cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned int flags) {
    ENTER(cuStreamWaitEvent, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(event, FAKE_EVENT);
    FIND_STREAM(s, stream);
    if (flags != 0) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuStreamWaitEvent: flags %#x", flags);
    }
    if (s->capture) { /* the event was recorded outside of the capture: no other kind exists here */
        s->capture_broken = true;
        return FAKE_CAPTURE_ISOLATION;
    }
    uint64_t seq;
    fake_line *line = place(event, &seq);
    if (line) {
        fake_enqueue_wait(s, line, seq);
        fake_line_drop(line);
    }
    return KRF__CUDA_SUCCESS;
}
