/* Blocks on OS threads. For ThreadSanitizer: a barrier orders the threads of its block or cluster, a shuffle those of its
 * warp, a fence whoever has a fence as well, an atomic nobody. So each has a lock of its own. */
#include "engine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_S = 30, STACK = 256 * 1024 };

/* Where some threads wait for the others. */
typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    unsigned expected, arrived, ended;
    uint64_t turn;
    int line;
    unsigned mask;                      /* of lanes that have arrived at a shuffle */
    unsigned long long bits[FAKE_WARP]; /* given */
    unsigned delta[FAKE_WARP], named;   /* asked for; by the mask of that shuffle */
    unsigned long long result[FAKE_WARP];
} meeting;

struct team;

/* The blocks that run together: one, or a cluster. */
typedef struct group {
    meeting barrier;
    struct team *teams[FAKE_MOST_BLOCKS];
    atomic_bool abandoned;
} group;

typedef struct team {
    const fake_work *work;
    void (*call)(void *const *arguments);
    const fake_copy *copy;
    group *group;
    meeting barrier, warps[FAKE_MAX_THREADS / FAKE_WARP];
    pthread_mutex_t *fence; /* of all blocks of the launch */
} team;

typedef struct member {
    team *team;
    unsigned index;
    bool arrived, waited; /* at the cluster's barrier, and not waited there yet; once at least */
    uint64_t awaited;     /* the turn in which it arrived */
    fakecuda_thread here;
    pthread_t thread;
} member;

/* ---- in a thread ---- */

/* With m->lock held: until the turn is over, the block is abandoned, or it is certain that nobody comes. */
static void wait_turn(meeting *m, uint64_t turn, const char *what, int line) {
    member *self = fake_me.engine;
    char where[160];
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_S;
    while (m->turn == turn && !atomic_load_explicit(&self->team->group->abandoned, memory_order_relaxed)) {
        if (pthread_cond_timedwait(&m->opened, &m->lock, &end) == ETIMEDOUT) {
            fake_die("%s: line %d: waits for ever at a %s", fake_where(where), line, what);
        }
    }
    bool abandoned = m->turn == turn;
    pthread_mutex_unlock(&m->lock);
    if (abandoned) {
        siglongjmp(fake_me.exit, 1);
    }
}

static void open_meeting(meeting *m) {
    m->arrived = 0;
    m->turn++;
    pthread_cond_broadcast(&m->opened);
}

void fake_thread_barrier(int line) {
    member *self = fake_me.engine;
    meeting *m = &self->team->barrier;
    char where[160];
    pthread_mutex_lock(&m->lock);
    if (m->ended > 0) {
        fake_die("%s: line %d: a barrier that %u threads of the block do not reach", fake_where(where), line, m->ended);
    }
    if (m->arrived > 0 && m->line != line) {
        fake_die("%s: at the barrier of line %d, another thread at that of line %d", fake_where(where), line, m->line);
    }
    m->line = line;
    if (++m->arrived == m->expected) {
        open_meeting(m);
        pthread_mutex_unlock(&m->lock);
    } else {
        wait_turn(m, m->turn, "barrier", line);
    }
}

void fake_thread_arrive(int line) {
    member *self = fake_me.engine;
    meeting *m = &self->team->group->barrier;
    char where[160];
    if (self->arrived) {
        fake_die("%s: line %d: arrives at the cluster's barrier again without having waited", fake_where(where), line);
    }
    self->arrived = true;
    pthread_mutex_lock(&m->lock);
    self->awaited = m->turn;
    if (++m->arrived == m->expected) {
        open_meeting(m);
    }
    pthread_mutex_unlock(&m->lock);
}

void fake_thread_wait(int line) {
    member *self = fake_me.engine;
    meeting *m = &self->team->group->barrier;
    char where[160];
    if (!self->arrived) {
        fake_die("%s: line %d: waits at the cluster's barrier without having arrived", fake_where(where), line);
    }
    pthread_mutex_lock(&m->lock);
    wait_turn(m, self->awaited, "cluster's barrier", line);
    self->arrived = false;
    self->waited = true;
}

/* That the block has not ended is not looked for: it would order threads that nothing orders. */
const fake_copy *fake_thread_copy(int rank, int line) {
    const member *self = fake_me.engine;
    const team *own = self->team;
    char where[160];
    if (rank == FAKE_OWN) {
        return own->copy;
    }
    if ((unsigned)rank >= own->work->cluster) {
        fake_die("%s: line %d: the cluster has no block %d", fake_where(where), line, rank);
    }
    if (!self->waited) {
        fake_die("%s: line %d: shared memory of block %d of the cluster, which may not have begun", fake_where(where), line,
                 rank);
    }
    return own->group->teams[rank]->copy;
}

/* All lanes that the mask names have arrived: gives each what it asked for. */
static void exchange(meeting *m, unsigned mask) {
    for (unsigned i = 0; i < FAKE_WARP; i++) {
        unsigned from = i + m->delta[i] < FAKE_WARP ? i + m->delta[i] : i;
        if ((mask >> i & 1) != 0) {
            m->result[i] = (mask >> from & 1) != 0 ? m->bits[from] : 0xcdcdcdcdcdcdcdcdull;
        }
    }
}

unsigned long long fake_thread_shuffle(unsigned mask, unsigned long long bits, unsigned delta, int line) {
    member *self = fake_me.engine;
    const unsigned own = self->index % FAKE_WARP;
    meeting *m = &self->team->warps[self->index / FAKE_WARP];
    const unsigned there = m->expected == FAKE_WARP ? UINT_MAX : (1u << m->expected) - 1;
    char where[160];
    if ((mask >> own & 1) == 0) {
        fake_die("%s: line %d: a shuffle whose mask %#x does not name the thread", fake_where(where), line, mask);
    }
    pthread_mutex_lock(&m->lock);
    if (m->mask != 0 && (m->line != line || m->named != mask)) {
        fake_die("%s: at the shuffle of line %d, another thread of the warp at that of line %d", fake_where(where),
                 line, m->line);
    }
    m->line = line;
    m->named = mask;
    m->mask |= 1u << own;
    m->bits[own] = bits;
    m->delta[own] = delta;
    if ((mask & there) == m->mask) {
        exchange(m, m->mask);
        m->mask = 0;
        open_meeting(m);
        pthread_mutex_unlock(&m->lock);
    } else {
        wait_turn(m, m->turn, "shuffle", line);
    }
    return m->result[own];
}

/* __threadfence is a sequentially consistent fence of the device (PTX: membar.gl is fence.sc.gpu): of any two, one is
 * first and synchronizes with the other. */
void fake_thread_fence(void) {
    member *self = fake_me.engine;
    pthread_mutex_lock(self->team->fence);
    pthread_mutex_unlock(self->team->fence);
}

static void wake(meeting *m) {
    pthread_mutex_lock(&m->lock);
    pthread_cond_broadcast(&m->opened);
    pthread_mutex_unlock(&m->lock);
}

static void wake_group(group *g, const fake_work *w) {
    wake(&g->barrier);
    for (unsigned b = 0; b < w->cluster; b++) {
        wake(&g->teams[b]->barrier);
        for (unsigned i = 0; i * FAKE_WARP < w->threads; i++) {
            wake(&g->teams[b]->warps[i]);
        }
    }
}

static void *body(void *user) {
    member *self = user;
    team *t = self->team;
    atomic_bool *abandoned = &t->group->abandoned;
    fake_work_for(t->work->device);
    fake_me = (fake_self){.grid_waits = self->team->work->grid_waits,
        .mode = FAKE_THREADS, .kernel = t->work->name, .seed = t->work->seed, .here = &self->here, .engine = self};
    if (sigsetjmp(fake_me.exit, 0) == 0) {
        t->call(t->work->arguments);
    } else {
        atomic_store_explicit(abandoned, true, memory_order_relaxed);
    }
    fake_me.mode = FAKE_IDLE;
    meeting *m = &t->barrier;
    pthread_mutex_lock(&m->lock);
    m->ended++;
    if (m->arrived > 0 && !atomic_load_explicit(abandoned, memory_order_relaxed)) {
        char where[160];
        fake_die("%s: ended, while other threads wait at the barrier of line %d", fake_where(where), m->line);
    }
    pthread_mutex_unlock(&m->lock);
    if (atomic_load_explicit(abandoned, memory_order_relaxed)) {
        wake_group(t->group, t->work);
    }
    return NULL;
}

/* ---- blocks ---- */

static void make_meeting(meeting *m, unsigned expected) {
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->opened, NULL);
    m->expected = expected;
}

static void end_meeting(meeting *m) {
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->opened);
}

static team *make_team(const fake_work *w, unsigned copy, group *g, pthread_mutex_t *fence) {
    team *t = calloc(1, sizeof *t);
    if (!t) {
        fake_die("out of host memory");
    }
    t->work = w;
    t->call = w->call[copy];
    t->copy = w->copies[copy];
    t->group = g;
    g->teams[copy % w->cluster] = t;
    t->fence = fence;
    make_meeting(&t->barrier, w->threads);
    for (unsigned i = 0; i * FAKE_WARP < w->threads; i++) {
        unsigned left = w->threads - i * FAKE_WARP;
        make_meeting(&t->warps[i], left < FAKE_WARP ? left : FAKE_WARP);
    }
    fake_poison_shared(w, w->copies[copy]);
    return t;
}

static void end_team(team *t) {
    end_meeting(&t->barrier);
    for (unsigned i = 0; i * FAKE_WARP < t->work->threads; i++) {
        end_meeting(&t->warps[i]);
    }
    free(t);
}

static group *make_groups(const fake_work *w, unsigned count) {
    group *groups = calloc(count, sizeof *groups);
    if (!groups) {
        fake_die("out of host memory");
    }
    for (unsigned i = 0; i < count; i++) {
        make_meeting(&groups[i].barrier, w->cluster * w->threads);
    }
    return groups;
}

static bool end_groups(group *groups, unsigned count) {
    bool whole = true;
    for (unsigned i = 0; i < count; i++) {
        whole &= !atomic_load(&groups[i].abandoned);
        end_meeting(&groups[i].barrier);
    }
    free(groups);
    return whole;
}

bool fake_run_threads(const fake_work *w, uint64_t n, unsigned at_once) {
    team *teams[FAKE_MOST_BLOCKS];
    pthread_mutex_t fence = PTHREAD_MUTEX_INITIALIZER;
    const unsigned count = at_once * w->threads;
    group *groups = make_groups(w, at_once / w->cluster);
    member *members = calloc(count, sizeof *members);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (unsigned b = 0; b < at_once; b++) {
        teams[b] = make_team(w, b, &groups[b / w->cluster], &fence);
    }
    for (unsigned i = 0; members && i < count; i++) {
        member *m = &members[fake_order(i, count, w->seed)];
        unsigned index = (unsigned)(m - members), b = index % at_once;
        m->team = teams[b];
        m->index = index / at_once;
        m->here = fake_thread_at(w, fake_block_at(w, n + b), m->index);
        if (pthread_create(&m->thread, &attributes, body, m) != 0) {
            fake_die("no thread for a CUDA thread");
        }
    }
    for (unsigned i = 0; members && i < count; i++) {
        pthread_join(members[i].thread, NULL);
    }
    for (unsigned b = 0; b < at_once; b++) {
        end_team(teams[b]);
    }
    const bool whole = end_groups(groups, at_once / w->cluster);
    pthread_attr_destroy(&attributes);
    pthread_mutex_destroy(&fence);
    free(members);
    return whole;
}
