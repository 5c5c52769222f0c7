/* A ring of pinned pieces. A piece is free when its event says that the copy (and, to the host, the driver's thread that
 * empties it) is through; the next one in the ring is the one that was started first. */
#include "sched/staging.h"

#include "base/fail.h"
#include "base/mem.h"

#include <pthread.h>
#include <string.h>

enum { PIECES = 8 };
#define PIECE_BYTES ((size_t)4 << 20)

typedef struct piece {
    void *pinned; /* NULL: not there yet */
    void *event;
    bool busy;
    void *to; /* on the host; for empty */
    size_t bytes;
} piece;

struct krf__staging {
    const krf__streams *streams;
    krf__device *device;
    pthread_mutex_t lock;
    piece pieces[PIECES];
    int next;
};

krf_status krf__staging_create(const krf__backend *backend, krf__device *device, krf__staging **staging) {
    *staging = krf__calloc(1, sizeof **staging);
    if (*staging == NULL) {
        return krf__fail_memory();
    }
    (*staging)->streams = backend->streams;
    (*staging)->device = device;
    pthread_mutex_init(&(*staging)->lock, NULL);
    return KRF_OK;
}

static void discard(krf__staging *s, piece *p) {
    if (p->pinned != NULL) {
        s->streams->host_deallocate(s->device, p->pinned);
    }
    if (p->event != NULL) {
        s->streams->event_destroy(s->device, p->event);
    }
    *p = (piece){0};
}

void krf__staging_destroy(krf__staging *s) {
    if (s == NULL) {
        return;
    }
    for (int i = 0; i < PIECES; i++) {
        if (s->pieces[i].busy) {
            (void)s->streams->event_synchronize(s->device, s->pieces[i].event);
        }
        discard(s, &s->pieces[i]);
    }
    pthread_mutex_destroy(&s->lock);
    krf__mem_free(s);
}

void krf__staging_trim(krf__staging *s) {
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < PIECES; i++) {
        piece *p = &s->pieces[i];
        bool done = !p->busy;
        if (done || (s->streams->event_query(s->device, p->event, &done) == KRF_OK && done)) {
            discard(s, p);
        }
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- pieces; the lock is held ---- */

static krf_status make(krf__staging *s, piece *p) {
    krf_status status = s->streams->event_create(s->device, false, &p->event);
    if (status == KRF_OK) {
        status = s->streams->host_allocate(s->device, PIECE_BYTES, &p->pinned);
    }
    if (status != KRF_OK) {
        discard(s, p);
    }
    return status;
}

/* The next piece, free. Where no more memory can be pinned, those that are there serve. */
static krf_status take(krf__staging *s, piece **taken) {
    piece *p = &s->pieces[s->next];
    bool done = true;
    krf_status status = p->busy ? s->streams->event_query(s->device, p->event, &done) : KRF_OK;
    for (int i = 0; status == KRF_OK && !done && i < PIECES; i++) { /* rather a new one than waiting */
        if (s->pieces[i].pinned == NULL && make(s, &s->pieces[i]) == KRF_OK) {
            *taken = &s->pieces[i];
            return KRF_OK;
        }
    }
    if (status == KRF_OK && p->pinned == NULL) {
        status = make(s, p);
    }
    if (status == KRF_OK && p->busy && !done) {
        status = s->streams->event_synchronize(s->device, p->event);
    }
    if (status == KRF_OK) {
        p->busy = false;
        s->next = (s->next + 1) % PIECES;
        *taken = p;
    }
    return status;
}

/* Where the event cannot be recorded the stream is waited for: the piece must not be used twice at once. */
static krf_status started(krf__staging *s, piece *p, krf_status status, void *stream) {
    krf_status recorded = s->streams->event_record(s->device, p->event, stream);
    p->busy = recorded == KRF_OK;
    if (recorded != KRF_OK && recorded != KRF_E_LOST) {
        s->streams->drain(s->device, stream);
    }
    return status == KRF_OK ? recorded : status;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

krf_status krf__staging_upload(krf__staging *s, void *to, const void *from, size_t bytes, void *stream) {
    krf_status status = KRF_OK;
    pthread_mutex_lock(&s->lock);
    for (size_t at = 0; status == KRF_OK && at < bytes; at += PIECE_BYTES) {
        size_t n = least(bytes - at, PIECE_BYTES);
        piece *p;
        status = take(s, &p);
        if (status == KRF_OK) {
            memcpy(p->pinned, (const char *)from + at, n);
            status = s->streams->start_upload(s->device, (char *)to + at, p->pinned, n, stream);
            status = started(s, p, status, stream);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* On the driver's thread. */
static void empty(void *user) {
    const piece *p = user;
    memcpy(p->to, p->pinned, p->bytes);
}

krf_status krf__staging_download(krf__staging *s, void *to, const void *from, size_t bytes, void *stream) {
    krf_status status = KRF_OK;
    pthread_mutex_lock(&s->lock);
    for (size_t at = 0; status == KRF_OK && at < bytes; at += PIECE_BYTES) {
        piece *p;
        status = take(s, &p);
        if (status == KRF_OK) {
            p->to = (char *)to + at;
            p->bytes = least(bytes - at, PIECE_BYTES);
            status = s->streams->start_download(s->device, p->pinned, (const char *)from + at, p->bytes, stream);
            status = status == KRF_OK ? s->streams->call(s->device, stream, empty, p) : status;
            status = started(s, p, status, stream);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}
