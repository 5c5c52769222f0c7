/* Streams: a queue of work and the thread that does it, in order. */
#ifndef FAKECUDA_STREAM_H
#define FAKECUDA_STREAM_H

#include "fake.h"

#include <semaphore.h>

/* How far a stream's work is done; outlives the stream while events or memory refer to it. */
typedef struct fake_line {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    _Atomic uint64_t done;
    atomic_int users;
} fake_line;

typedef struct fake_op fake_op;

struct CUstream_st {
    fake_object object;
    int device;
    unsigned long long id;
    bool blocking, legacy; /* ordered with the legacy stream; that one itself */
    fake_line *line;
    pthread_t thread;
    sem_t ready;
    pthread_mutex_t enqueue; /* hosts only; guards what follows */
    uint64_t submitted;
    fake_op *last;
    cu_graph capture; /* not NULL: work goes there */
    bool capture_broken;
    fake_op *first; /* of the stream's thread */
    cu_stream next; /* default streams of threads: of the next thread */
};

fake_line *fake_line_share(fake_line *line);
void fake_line_drop(fake_line *line);
bool fake_line_reached(fake_line *line, uint64_t seq); /* orders only when it is true */
void fake_line_wait(fake_line *line, uint64_t seq);

/* NULL and 1 mean the legacy stream, 2 this thread's own. Returns NULL when it is no live stream. */
cu_stream fake_stream_of(cu_stream handle);

#define FIND_STREAM(variable, handle) \
    cu_stream variable = fake_stream_of(handle); \
    if (!variable) { \
        return fake_misuse(FAKE_INVALID_HANDLE, "%s: %p is no live stream", __func__, (void *)(handle)); \
    }

/* Runs run(copy of the payload) after all work that the stream has to wait for; the number of that work in the stream's
 * line. */
uint64_t fake_enqueue(cu_stream stream, void (*run)(void *payload), const void *payload, size_t bytes);
void fake_enqueue_wait(cu_stream stream, fake_line *line, uint64_t seq);

void fake_drain(cu_stream stream);
void fake_drain_all(void); /* of the device at hand */

/* ---- capture ---- */

/* Whether work given to the stream went into a graph instead: then *result is what the call returns. */
bool fake_captured(cu_stream stream, cu_result *result);
/* For calls that wait: refused while this thread must not disturb a capture. */
cu_result fake_capture_refuses(cu_stream stream);

#endif
