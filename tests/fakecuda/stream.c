/* Streams: queues and their threads, and the entry points for them. */
#include "stream.h"

#include "library.h"
#include "stale.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* run NULL: the thread ends. */
struct fake_op {
    fake_op *_Atomic next;
    void (*run)(void *payload);
    max_align_t payload[];
};

static _Atomic(cu_stream) legacy_streams[FAKE_MOST_DEVICES]; /* made by the first that uses it */
static cu_stream of_threads;                                 /* default streams of threads, likewise; walk under fake_lock */
static _Thread_local cu_stream of_this_thread[FAKE_MOST_DEVICES];

/* ---- lines ---- */

static fake_line *line_new(void) {
    fake_line *line = calloc(1, sizeof *line);
    if (!line) {
        fake_die("out of host memory");
    }
    pthread_mutex_init(&line->lock, NULL);
    pthread_cond_init(&line->moved, NULL);
    atomic_init(&line->users, 1);
    return line;
}

fake_line *fake_line_share(fake_line *line) {
    atomic_fetch_add_explicit(&line->users, 1, memory_order_relaxed);
    return line;
}

void fake_line_drop(fake_line *line) {
    /* Threads that drop a line are not ordered by that, except for the one that frees it. */
    if (atomic_fetch_sub_explicit(&line->users, 1, memory_order_release) == 1) {
        (void)atomic_load_explicit(&line->users, memory_order_acquire);
        pthread_mutex_destroy(&line->lock);
        pthread_cond_destroy(&line->moved);
        free(line);
    }
}

void fake_line_wait(fake_line *line, uint64_t seq) {
    pthread_mutex_lock(&line->lock);
    while (atomic_load_explicit(&line->done, memory_order_relaxed) < seq) {
        pthread_cond_wait(&line->moved, &line->lock);
    }
    pthread_mutex_unlock(&line->lock);
    fake_stale_forget(line, seq);
}

bool fake_line_reached(fake_line *line, uint64_t seq) {
    bool reached = atomic_load_explicit(&line->done, memory_order_relaxed) >= seq;
    if (reached) {
        fake_line_wait(line, seq);
    }
    return reached;
}

static void line_step(fake_line *line) {
    pthread_mutex_lock(&line->lock);
    uint64_t done = atomic_load_explicit(&line->done, memory_order_relaxed) + 1;
    atomic_store_explicit(&line->done, done, memory_order_relaxed);
    pthread_cond_broadcast(&line->moved);
    pthread_mutex_unlock(&line->lock);
}

/* ---- the thread ---- */

static void *work(void *user) {
    cu_stream s = user;
    fake_work_for(s->device);
    for (;;) {
        while (sem_wait(&s->ready) != 0) { /* a signal */
        }
        fake_op *op = atomic_load_explicit(&s->first->next, memory_order_acquire);
        free(s->first);
        s->first = op;
        if (!op->run) {
            return NULL;
        }
        op->run(op->payload);
        line_step(s->line);
    }
}

static fake_op *op_new(void (*run)(void *), const void *payload, size_t bytes) {
    fake_op *op = malloc(sizeof *op + bytes);
    if (!op) {
        fake_die("out of host memory");
    }
    atomic_init(&op->next, NULL);
    op->run = run;
    if (bytes > 0) {
        memcpy(op->payload, payload, bytes);
    }
    return op;
}

/* With s->enqueue held. */
static void push(cu_stream s, fake_op *op) {
    atomic_store_explicit(&s->last->next, op, memory_order_release);
    s->last = op;
    sem_post(&s->ready);
}

static cu_stream stream_new(bool blocking, bool is_legacy) {
    cu_stream s = calloc(1, sizeof *s);
    if (!s) {
        fake_die("out of host memory");
    }
    static atomic_ullong streams;
    s->id = atomic_fetch_add_explicit(&streams, 1, memory_order_relaxed) + 1;
    s->device = fake_device();
    s->blocking = blocking;
    s->legacy = is_legacy;
    s->line = line_new();
    s->first = s->last = op_new(NULL, NULL, 0);
    sem_init(&s->ready, 0, 0);
    pthread_mutex_init(&s->enqueue, NULL);
    /* Signals are for the threads of the program; faults of kernels still arrive. */
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&s->thread, NULL, work, s) != 0) {
        fake_die("no thread for a stream");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s;
}

cu_stream fake_stream_of(cu_stream handle) {
    cu_stream *own = &of_this_thread[fake_device()];
    if ((uintptr_t)handle == 2 && !*own) {
        *own = stream_new(true, false);
        pthread_rwlock_wrlock(&fake_lock);
        (*own)->next = of_threads;
        of_threads = *own;
        pthread_rwlock_unlock(&fake_lock);
    }
    if ((uintptr_t)handle == 2) {
        return *own;
    }
    if ((uintptr_t)handle > 2) {
        return fake_object_known(handle, FAKE_STREAM) ? handle : NULL;
    }
    pthread_rwlock_wrlock(&fake_lock);
    cu_stream legacy = atomic_load(&legacy_streams[fake_device()]);
    if (!legacy) {
        legacy = stream_new(false, true);
        atomic_store(&legacy_streams[fake_device()], legacy);
    }
    pthread_rwlock_unlock(&fake_lock);
    return legacy;
}

/* ---- giving work ---- */

typedef struct wait_payload {
    fake_line *line;
    uint64_t seq;
} wait_payload;

static void run_wait(void *payload) {
    const wait_payload *w = payload;
    fake_line_wait(w->line, w->seq);
    fake_line_drop(w->line);
}

static uint64_t submit(cu_stream s, void (*run)(void *), const void *payload, size_t bytes) {
    fake_op *op = op_new(run, payload, bytes);
    pthread_mutex_lock(&s->enqueue);
    push(s, op);
    uint64_t seq = ++s->submitted;
    pthread_mutex_unlock(&s->enqueue);
    return seq;
}

static uint64_t submitted(cu_stream s) {
    pthread_mutex_lock(&s->enqueue);
    uint64_t seq = s->submitted;
    pthread_mutex_unlock(&s->enqueue);
    return seq;
}

void fake_enqueue_wait(cu_stream s, fake_line *line, uint64_t seq) {
    if (seq > 0 && line != s->line) {
        wait_payload w = {fake_line_share(line), seq};
        submit(s, run_wait, &w, sizeof w);
    }
}

/* The legacy stream waits for all blocking streams, and they for it. */
static void order_with_legacy(cu_stream s) {
    cu_stream legacy = atomic_load(&legacy_streams[s->device]);
    if (s->legacy) {
        pthread_rwlock_rdlock(&fake_lock);
        for (fake_object *o = fake_object_first(FAKE_STREAM); o; o = o->next) {
            cu_stream other = (cu_stream)(void *)o;
            if (other->blocking && other->device == s->device) {
                fake_enqueue_wait(s, other->line, submitted(other));
            }
        }
        for (cu_stream other = of_threads; other; other = other->next) {
            if (other->device == s->device) {
                fake_enqueue_wait(s, other->line, submitted(other));
            }
        }
        pthread_rwlock_unlock(&fake_lock);
    } else if (s->blocking && legacy) {
        fake_enqueue_wait(s, legacy->line, submitted(legacy));
    }
}

uint64_t fake_enqueue(cu_stream s, void (*run)(void *), const void *payload, size_t bytes) {
    order_with_legacy(s);
    return submit(s, run, payload, bytes);
}

void fake_drain(cu_stream s) {
    order_with_legacy(s);
    fake_line_wait(s->line, submitted(s));
}

void fake_drain_all(void) {
    pthread_rwlock_rdlock(&fake_lock);
    for (fake_object *o = fake_object_first(FAKE_STREAM); o; o = o->next) {
        cu_stream s = (cu_stream)(void *)o;
        if (s->device == fake_device()) {
            fake_line_wait(s->line, submitted(s));
        }
    }
    for (cu_stream s = of_threads; s; s = s->next) {
        if (s->device == fake_device()) {
            fake_line_wait(s->line, submitted(s));
        }
    }
    cu_stream legacy = atomic_load(&legacy_streams[fake_device()]);
    if (legacy) {
        fake_line_wait(legacy->line, submitted(legacy));
    }
    pthread_rwlock_unlock(&fake_lock);
}

/* ---- entry points ---- */

static cu_result create(const char *name, cu_stream *stream, unsigned int flags) {
    if (!stream || flags > KRF__CU_STREAM_NON_BLOCKING) {
        return fake_misuse(FAKE_INVALID_VALUE, "%s: no place for the stream, or flags %#x", name, flags);
    }
    cu_stream s = stream_new(flags != KRF__CU_STREAM_NON_BLOCKING, false);
    fake_object_add(&s->object, FAKE_STREAM);
    *stream = s;
    return KRF__CUDA_SUCCESS;
}

cu_result cuStreamCreate(cu_stream *stream, unsigned int flags) {
    ENTER(cuStreamCreate, FAKE_NEEDS_CURRENT);
    return create("cuStreamCreate", stream, flags);
}

/* Priorities beyond what the device has are cut to that, so none is wrong. */
cu_result cuStreamCreateWithPriority(cu_stream *stream, unsigned int flags, int priority) {
    ENTER(cuStreamCreateWithPriority, FAKE_NEEDS_CURRENT);
    (void)priority;
    return create("cuStreamCreateWithPriority", stream, flags);
}

/* The real one returns at once and ends the stream when its work is done. */
cu_result cuStreamDestroy_v2(cu_stream stream) {
    ENTER(cuStreamDestroy_v2, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(stream, FAKE_STREAM);
    fake_object_remove(&stream->object);
    pthread_mutex_lock(&stream->enqueue);
    push(stream, op_new(NULL, NULL, 0));
    pthread_mutex_unlock(&stream->enqueue);
    pthread_join(stream->thread, NULL);
    fake_stale_forget(stream->line, UINT64_MAX); /* which another stream's may have the address of */
    fake_library_leave(stream);
    free(stream->first);
    fake_line_drop(stream->line);
    sem_destroy(&stream->ready);
    pthread_mutex_destroy(&stream->enqueue);
    free(stream);
    return KRF__CUDA_SUCCESS;
}

cu_result cuStreamGetId(cu_stream stream, unsigned long long *id) {
    ENTER(cuStreamGetId, FAKE_NEEDS_HEALTH);
    FIND_STREAM(s, stream);
    if (!id) {
        return FAKE_INVALID_VALUE;
    }
    if (s->capture) {
        return fake_capture_refuses(s);
    }
    *id = s->id;
    return KRF__CUDA_SUCCESS;
}

cu_result cuStreamSynchronize(cu_stream stream) {
    ENTER(cuStreamSynchronize, FAKE_NEEDS_HEALTH);
    FIND_STREAM(s, stream);
    cu_result refused = fake_capture_refuses(s);
    if (refused) {
        return refused;
    }
    fake_drain(s);
    return fake_stuck();
}

cu_result cuStreamQuery(cu_stream stream) {
    ENTER(cuStreamQuery, FAKE_NEEDS_HEALTH);
    FIND_STREAM(s, stream);
    cu_result refused = fake_capture_refuses(s);
    if (refused) {
        return refused;
    }
    order_with_legacy(s);
    return fake_line_reached(s->line, submitted(s)) ? fake_stuck() : KRF__CUDA_ERROR_NOT_READY;
}

typedef struct host_call {
    void (*function)(void *user);
    void *user;
} host_call;

static _Thread_local bool in_host_call;

bool fake_in_host_call(void) { return in_host_call; }

static void run_host_call(void *payload) {
    const host_call *c = payload;
    if (!fake_stuck()) {
        fake_touch(); /* it may take long, and nothing waits for it: only that it was there counts */
        fake_touched();
        in_host_call = true;
        c->function(c->user);
        in_host_call = false;
    }
}

cu_result cuLaunchHostFunc(cu_stream stream, void (*function)(void *user), void *user) {
    ENTER(cuLaunchHostFunc, FAKE_NEEDS_CURRENT);
    FIND_STREAM(s, stream);
    cu_result captured;
    if (!function) {
        return FAKE_INVALID_VALUE;
    }
    if (fake_captured(s, &captured)) {
        return captured;
    }
    host_call c = {function, user};
    fake_enqueue(s, run_host_call, &c, sizeof c);
    return KRF__CUDA_SUCCESS;
}

cu_result cuCtxSynchronize(void) {
    ENTER(cuCtxSynchronize, FAKE_NEEDS_CURRENT);
    cu_result refused = fake_capture_refuses(NULL);
    if (refused) {
        return refused;
    }
    fake_drain_all();
    return fake_stuck();
}
