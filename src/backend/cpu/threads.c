/* The thread pool: see threads.h. A worker joins the current job by one compare-and-swap on a word, the gate, which
 * holds whether the job is open, how many workers are in it, and its number. When the pieces are all taken the
 * submitter closes the gate, so that nobody can join any more, and waits only for those inside. The job's fields are
 * written while the gate is closed and nobody is inside; whoever got in may read them.
 *
 * Waiting is a short spin, then a condition variable: a long spin against a descheduled thread was measured at
 * milliseconds, a bare futex at 55 us a job. */
#include "backend/cpu/threads.h"

#include "backend/cpu/host.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define MOST_THREADS 1024
#define SPINS 2000 /* pauses, 30 to 50 us */

#define GATE_JOINED UINT64_C(0xffff) /* workers inside */
#define GATE_OPEN UINT64_C(0x10000)
#define GATE_NUMBER_SHIFT 17 /* the job's number, from 1 */

/* The workers of one process. After a fork the child has none of them, and perhaps a locked mutex: it leaves its
 * parent's team alone and makes one of its own. */
typedef struct team {
    struct team *previous; /* the parent process's; only to be freed */
    pid_t owner;
    int threads, started; /* started: workers; written by whoever holds busy */
    bool start_tried;
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    atomic_int sleepers;
    atomic_bool waiting, stop; /* waiting: the submitter sleeps until all are out */
    krf__piece_function run;
    void *user;
    int64_t pieces;
    char apart0[64]; /* keeps what all threads write on lines of their own */
    _Atomic uint64_t gate;
    char apart1[64];
    _Atomic int64_t next;
    char apart2[64];
    atomic_bool busy; /* some thread submits */
    pthread_t workers[];
} team;

struct krf__threads {
    int threads;
    _Atomic(team *) current; /* NULL until the first job */
};

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* "yield" takes no time on most ARM processors */
#endif
}

/* ---- workers ---- */

static bool has_news(team *t, uint64_t last) {
    uint64_t gate = atomic_load(&t->gate);
    return (gate & GATE_OPEN) != 0 && gate >> GATE_NUMBER_SHIFT != last;
}

/* Waits for a job other than the last one. False: the pool is being destroyed. */
static bool await_job(team *t, uint64_t last) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&t->stop, memory_order_relaxed) || has_news(t, last)) {
            return !atomic_load(&t->stop);
        }
        pause_briefly();
    }
    pthread_mutex_lock(&t->mutex);
    /* First counted among the sleepers, then one more look; the submitter opens the gate, then looks for sleepers. */
    atomic_fetch_add(&t->sleepers, 1);
    while (!atomic_load(&t->stop) && !has_news(t, last)) {
        pthread_cond_wait(&t->wake, &t->mutex);
    }
    atomic_fetch_sub(&t->sleepers, 1);
    pthread_mutex_unlock(&t->mutex);
    return !atomic_load(&t->stop);
}

/* Gets into the job that is open, unless it is `last`, which has no pieces left. */
static bool join_job(team *t, uint64_t *last) {
    uint64_t gate = atomic_load(&t->gate);
    while ((gate & GATE_OPEN) != 0 && gate >> GATE_NUMBER_SHIFT != *last) {
        if (atomic_compare_exchange_weak(&t->gate, &gate, gate + 1)) {
            *last = gate >> GATE_NUMBER_SHIFT;
            return true;
        }
    }
    return false;
}

static void take_pieces(team *t) {
    for (;;) {
        int64_t piece = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (piece >= t->pieces) {
            return;
        }
        t->run(t->user, piece);
    }
}

static void leave_job(team *t) {
    uint64_t before = atomic_fetch_sub(&t->gate, 1);
    if ((before & GATE_OPEN) == 0 && (before & GATE_JOINED) == 1 && atomic_load(&t->waiting)) {
        pthread_mutex_lock(&t->mutex);
        pthread_cond_signal(&t->done);
        pthread_mutex_unlock(&t->mutex);
    }
}

static void *work(void *user) {
    team *t = user;
    uint64_t last = 0;
    while (await_job(t, last)) {
        if (join_job(t, &last)) {
            take_pieces(t);
            leave_job(t);
        }
    }
    return NULL;
}

/* Starts the workers, as many as the system gives. */
static void start_workers(team *t) {
    t->start_tried = true;
    while (t->started < t->threads - 1 && krf__thread_start(&t->workers[t->started], work, t)) {
        pthread_setname_np(t->workers[t->started], "kerfuse");
        t->started++;
    }
}

/* ---- submitting ---- */

static void wake_workers(team *t, int64_t wanted) {
    if (atomic_load(&t->sleepers) == 0) {
        return;
    }
    pthread_mutex_lock(&t->mutex);
    int sleepers = atomic_load(&t->sleepers);
    if (wanted >= sleepers) {
        pthread_cond_broadcast(&t->wake);
    } else {
        for (int64_t i = 0; i < wanted; i++) {
            pthread_cond_signal(&t->wake);
        }
    }
    pthread_mutex_unlock(&t->mutex);
}

static bool all_out(team *t) { return (atomic_load(&t->gate) & GATE_JOINED) == 0; }

static void await_workers(team *t) {
    for (int i = 0; i < SPINS; i++) {
        if (all_out(t)) {
            return;
        }
        pause_briefly();
    }
    pthread_mutex_lock(&t->mutex);
    atomic_store(&t->waiting, true);
    while (!all_out(t)) {
        pthread_cond_wait(&t->done, &t->mutex);
    }
    atomic_store(&t->waiting, false);
    pthread_mutex_unlock(&t->mutex);
}

/* Runs pieces [first, pieces) with the workers. The caller holds t->busy. */
static void run_together(team *t, int64_t first, int64_t pieces, krf__piece_function run, void *user) {
    if (!t->start_tried) {
        start_workers(t);
    }
    t->run = run;
    t->user = user;
    t->pieces = pieces;
    atomic_store_explicit(&t->next, first, memory_order_relaxed);
    uint64_t number = (atomic_load(&t->gate) >> GATE_NUMBER_SHIFT) + 1;
    atomic_store(&t->gate, number << GATE_NUMBER_SHIFT | GATE_OPEN);
    wake_workers(t, pieces - first - 1);
    take_pieces(t);
    atomic_fetch_and(&t->gate, ~GATE_OPEN);
    await_workers(t);
}

static team *create_team(int threads) {
    team *t = krf__calloc(1, sizeof *t + (size_t)(threads - 1) * sizeof t->workers[0]);
    if (t == NULL) {
        return NULL;
    }
    t->owner = getpid();
    t->threads = threads;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->done, NULL);
    return t;
}

static void destroy_team(team *t) {
    if (t->owner == getpid()) {
        pthread_mutex_lock(&t->mutex);
        atomic_store(&t->stop, true);
        pthread_cond_broadcast(&t->wake);
        pthread_mutex_unlock(&t->mutex);
        for (int i = 0; i < t->started; i++) {
            pthread_join(t->workers[i], NULL);
        }
        pthread_cond_destroy(&t->done);
        pthread_cond_destroy(&t->wake);
        pthread_mutex_destroy(&t->mutex);
    }
    krf__mem_free(t);
}

/* The team of this process, made if need be; NULL when out of memory. */
static team *own_team(krf__threads *pool) {
    team *t = atomic_load(&pool->current);
    pid_t self = getpid();
    if (t != NULL && t->owner == self) {
        return t;
    }
    team *made = create_team(pool->threads);
    if (made == NULL) {
        return NULL;
    }
    made->previous = t;
    if (atomic_compare_exchange_strong(&pool->current, &t, made)) {
        return made;
    }
    destroy_team(made); /* another thread was first */
    return t;
}

krf_status krf__threads_create(int threads, krf__threads **pool) {
    *pool = krf__calloc(1, sizeof **pool);
    if (*pool == NULL) {
        return krf__fail_memory();
    }
    (*pool)->threads = threads > 0 ? threads : krf__cpu_count();
    if ((*pool)->threads > MOST_THREADS) {
        (*pool)->threads = MOST_THREADS;
    }
    return KRF_OK;
}

void krf__threads_destroy(krf__threads *pool) {
    if (pool == NULL) {
        return;
    }
    team *t = atomic_load(&pool->current);
    while (t != NULL) {
        team *previous = t->previous;
        destroy_team(t);
        t = previous;
    }
    krf__mem_free(pool);
}

int krf__threads_count(const krf__threads *pool) { return pool->threads; }

void krf__threads_run(krf__threads *pool, int64_t pieces, krf__piece_function run, void *user) {
    int64_t i = 0;
    team *t = pool->threads > 1 && pieces > 1 ? own_team(pool) : NULL;
    while (t != NULL && pieces - i > 1) {
        /* Inside a piece busy is held until that piece is done, so that a nested job runs here from end to end. */
        if (!atomic_load_explicit(&t->busy, memory_order_relaxed) && !atomic_exchange(&t->busy, true)) {
            run_together(t, i, pieces, run, user);
            atomic_store(&t->busy, false);
            return;
        }
        run(user, i++);
    }
    for (; i < pieces; i++) {
        run(user, i);
    }
}
