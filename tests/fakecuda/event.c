/* Events: a place in the line of a stream. */
#include "stream.h"

#include <stdlib.h>
#include <time.h>

/* When an event's place was reached; shared by the event and the work that writes it. */
typedef struct fake_time {
    atomic_int users;
    struct timespec at;
} fake_time;

struct CUevent_st {
    fake_object object;
    int device;
    pthread_mutex_t lock; /* hosts only */
    fake_line *line;      /* NULL: never recorded */
    uint64_t seq;
    bool timed;
    fake_time *time;
};

static void time_drop(fake_time *t) {
    /* As lines: who drops it is not ordered by that, except for the one that frees it. */
    if (t && atomic_fetch_sub_explicit(&t->users, 1, memory_order_release) == 1) {
        (void)atomic_load_explicit(&t->users, memory_order_acquire);
        free(t);
    }
}

/* Shares the line; NULL where the event was never recorded. */
static fake_line *place(cu_event event, uint64_t *seq) {
    pthread_mutex_lock(&event->lock);
    fake_line *line = event->line ? fake_line_share(event->line) : NULL;
    *seq = event->seq;
    pthread_mutex_unlock(&event->lock);
    return line;
}

static void set_place(cu_event event, fake_line *line, uint64_t seq, fake_time *time) {
    pthread_mutex_lock(&event->lock);
    fake_line *old = event->line;
    time_drop(event->time);
    event->time = time;
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
    e->device = fake_device();
    e->timed = (flags & KRF__CU_EVENT_DISABLE_TIMING) == 0;
    fake_object_add(&e->object, FAKE_EVENT);
    *event = e;
    return KRF__CUDA_SUCCESS;
}

cu_result cuEventDestroy_v2(cu_event event) {
    ENTER(cuEventDestroy_v2, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(event, FAKE_EVENT);
    fake_object_remove(&event->object);
    set_place(event, NULL, 0, NULL);
    pthread_mutex_destroy(&event->lock);
    free(event);
    return KRF__CUDA_SUCCESS;
}

static void take_time(void *payload) {
    fake_time *t = *(fake_time **)payload;
    clock_gettime(CLOCK_MONOTONIC, &t->at);
    time_drop(t);
}

cu_result cuEventRecord(cu_event event, cu_stream stream) {
    ENTER(cuEventRecord, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(event, FAKE_EVENT);
    FIND_STREAM(s, stream);
    CHECK_DEVICE(event, s->device);
    if (s->capture) {
        return fake_misuse(FAKE_NOT_SUPPORTED, "cuEventRecord: events of captures are not simulated");
    }
    fake_time *time = calloc(1, sizeof *time);
    if (!time) {
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    atomic_init(&time->users, 2);
    uint64_t seq = fake_enqueue(s, take_time, &time, sizeof time);
    set_place(event, fake_line_share(s->line), seq, time);
    return KRF__CUDA_SUCCESS;
}

static cu_result ask(cu_event event, bool wait) {
    uint64_t seq;
    cu_result refused = fake_capture_refuses(NULL);
    if (refused) {
        return refused;
    }
    fake_line *line = place(event, &seq);
    bool reached = true;
    if (line && wait) {
        fake_line_wait(line, seq);
    } else if (line) {
        reached = fake_line_reached(line, seq);
    }
    if (line) {
        fake_line_drop(line);
    }
    return reached ? fake_stuck() : KRF__CUDA_ERROR_NOT_READY;
}

cu_result cuEventQuery(cu_event event) {
    ENTER(cuEventQuery, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(event, FAKE_EVENT);
    return ask(event, false);
}

cu_result cuEventSynchronize(cu_event event) {
    ENTER(cuEventSynchronize, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(event, FAKE_EVENT);
    return ask(event, true);
}

cu_result cuEventElapsedTime(float *milliseconds, cu_event from, cu_event to) {
    ENTER(cuEventElapsedTime, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(from, FAKE_EVENT);
    CHECK_HANDLE(to, FAKE_EVENT);
    if (!milliseconds) {
        return FAKE_INVALID_VALUE;
    }
    if (!from->timed || !to->timed || !from->line || !to->line) {
        return FAKE_INVALID_HANDLE;
    }
    cu_result first = ask(from, false), second = ask(to, false);
    if (first || second) {
        return first ? first : second;
    }
    *milliseconds = (float)((double)(to->time->at.tv_sec - from->time->at.tv_sec) * 1e3
                            + (double)(to->time->at.tv_nsec - from->time->at.tv_nsec) * 1e-6);
    return KRF__CUDA_SUCCESS;
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
