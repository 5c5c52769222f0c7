/* One block, or the blocks of a cluster, on fibers: each runs until it waits. What can never go on is seen at once: no fiber can run, and some have
 * not ended. */
#include "engine.h"
#include "fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum state { READY, AT_BARRIER, AT_SHUFFLE, AT_CLUSTER, ENDED } state;

typedef struct lane {
    fake_fiber fiber;
    fakecuda_thread here;
    state state;
    int line;                /* where it waits */
    unsigned mask, delta;    /* of its shuffle */
    unsigned long long bits; /* that it gives, then gets */
    bool arrived, waited;    /* at the cluster's barrier, and not waited there yet; once at least */
    uint64_t awaited;        /* the turn in which it arrived */
} lane;

typedef struct crew {
    const fake_work *work;
    bool abandoned;
    unsigned count;        /* lanes of the cluster: those of a block side by side */
    unsigned arrived;      /* at the cluster's barrier */
    uint64_t turn;         /* how often it opened */
    lane lanes[FAKE_MOST_BLOCKS * FAKE_MAX_THREADS];
} crew;

static pthread_key_t crew_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_crew(void *user) {
    crew *c = user;
    for (int i = 0; i < FAKE_MOST_BLOCKS * FAKE_MAX_THREADS; i++) {
        fake_fiber_free(&c->lanes[i].fiber);
    }
    free(c);
}

static void make_key(void) { pthread_key_create(&crew_key, free_crew); }

/* The stacks of a stream's thread, kept until it ends. */
static crew *my_crew(void) {
    pthread_once(&once, make_key);
    crew *c = pthread_getspecific(crew_key);
    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c) {
            fake_die("out of host memory");
        }
        pthread_setspecific(crew_key, c);
    }
    return c;
}

/* ---- in a fiber ---- */

static void leave(lane *l) { fake_fiber_leave(&l->fiber, l->state == ENDED); }

static unsigned block_of(const crew *c, const lane *l) { return (unsigned)(l - c->lanes) / c->work->threads; }

static void body(void *user) {
    lane *l = user;
    crew *c = my_crew();
    c->work->call[block_of(c, l)](c->work->arguments);
    l->state = ENDED;
    leave(l);
}

void fake_fiber_barrier(int line) {
    lane *l = fake_me.engine;
    l->state = AT_BARRIER;
    l->line = line;
    leave(l);
}

void fake_fiber_yield(void) { leave(fake_me.engine); }

void fake_fiber_arrive(int line) {
    lane *l = fake_me.engine;
    crew *c = my_crew();
    char where[160];
    if (l->arrived) {
        fake_die("%s: line %d: arrives at the cluster's barrier again without having waited", fake_where(where), line);
    }
    l->arrived = true;
    l->awaited = c->turn;
    if (++c->arrived == c->count) {
        c->arrived = 0;
        c->turn++;
        for (unsigned i = 0; i < c->count; i++) {
            c->lanes[i].state = c->lanes[i].state == AT_CLUSTER ? READY : c->lanes[i].state;
        }
    }
}

void fake_fiber_wait(int line) {
    lane *l = fake_me.engine;
    char where[160];
    if (!l->arrived) {
        fake_die("%s: line %d: waits at the cluster's barrier without having arrived", fake_where(where), line);
    }
    if (my_crew()->turn == l->awaited) {
        l->state = AT_CLUSTER;
        l->line = line;
        leave(l);
    }
    l->arrived = false;
    l->waited = true;
}

const fake_copy *fake_fiber_copy(int rank, int line) {
    const lane *l = fake_me.engine;
    const crew *c = my_crew();
    const unsigned block = rank == FAKE_OWN ? block_of(c, l) : (unsigned)rank;
    char where[160];
    if (block >= c->work->cluster) {
        fake_die("%s: line %d: the cluster has no block %u", fake_where(where), line, block);
    }
    bool alive = false;
    for (unsigned i = 0; i < c->work->threads && !alive; i++) {
        alive = c->lanes[block * c->work->threads + i].state != ENDED;
    }
    if (!alive || !l->waited) {
        fake_die("%s: line %d: shared memory of block %u of the cluster, which %s", fake_where(where), line, block,
                 alive ? "may not have begun" : "has ended");
    }
    return c->work->copies[block];
}

void fake_fiber_abandon(void) {
    lane *l = fake_me.engine;
    my_crew()->abandoned = true;
    l->state = ENDED;
    leave(l);
    fake_die("an abandoned fiber went on");
}

/* Whether all lanes that the mask names are at this shuffle. */
static bool complete(const lane *warp, unsigned count, unsigned mask, int line) {
    for (unsigned i = 0; i < count; i++) {
        if ((mask >> i & 1) != 0 && (warp[i].state != AT_SHUFFLE || warp[i].mask != mask || warp[i].line != line)) {
            return false;
        }
    }
    return true;
}

unsigned long long fake_fiber_shuffle(unsigned mask, unsigned long long bits, unsigned delta, int line) {
    lane *l = fake_me.engine;
    crew *c = my_crew();
    const unsigned index = (unsigned)(l - c->lanes) % c->work->threads, first = index / FAKE_WARP * FAKE_WARP;
    const unsigned count = c->work->threads - first < FAKE_WARP ? c->work->threads - first : FAKE_WARP;
    lane *warp = l - (index - first);
    char where[160];
    if ((mask >> (index - first) & 1) == 0) {
        fake_die("%s: line %d: a shuffle whose mask %#x does not name the thread", fake_where(where), line, mask);
    }
    l->state = AT_SHUFFLE;
    l->line = line;
    l->mask = mask;
    l->delta = delta;
    l->bits = bits;
    if (complete(warp, count, mask, line)) {
        unsigned long long given[FAKE_WARP];
        for (unsigned i = 0; i < FAKE_WARP; i++) {
            given[i] = i < count && (mask >> i & 1) != 0 ? warp[i].bits : 0xcdcdcdcdcdcdcdcdull;
        }
        for (unsigned i = 0; i < count; i++) {
            if ((mask >> i & 1) != 0) {
                warp[i].bits = given[i + warp[i].delta < FAKE_WARP ? i + warp[i].delta : i];
                warp[i].state = READY;
            }
        }
    } else {
        leave(l);
    }
    return l->bits;
}

/* ---- the scheduler ---- */

static const char *name_of(state s) { return s == AT_BARRIER ? "barrier" : s == AT_SHUFFLE ? "shuffle" : "cluster's barrier"; }

/* All lanes of a block that have not ended are at the same barrier: they go on. Anything else is an error that CUDA does
 * not define, unless all of them wait for other blocks of the cluster. */
static bool open_block(crew *c, lane *lanes, lane **outside) {
    lane *first = NULL;
    unsigned ended = 0;
    char where[160];
    for (unsigned i = 0; i < c->work->threads; i++) {
        lane *l = &lanes[i];
        if (l->state == ENDED) {
            ended++;
        } else if (!first) {
            first = l;
        } else if (l->state != first->state || l->line != first->line) {
            fake_me.here = &l->here;
            fake_die("%s: waits at line %d (%s), another thread at line %d (%s): they wait for ever", fake_where(where),
                     l->line, name_of(l->state), first->line, name_of(first->state));
        }
    }
    if (!first) {
        return false;
    }
    fake_me.here = &first->here;
    if (first->state == AT_SHUFFLE) {
        fake_die("%s: line %d: a shuffle waits for threads that its mask %#x names and that have ended",
                 fake_where(where), first->line, first->mask);
    }
    if (first->state == AT_CLUSTER) {
        *outside = first;
        return false;
    }
    if (ended > 0) {
        fake_die("%s: line %d: a barrier that %u threads of the block do not reach", fake_where(where), first->line,
                 ended);
    }
    for (unsigned i = 0; i < c->work->threads; i++) {
        lanes[i].state = READY;
    }
    return true;
}

/* False: all have ended. */
static bool open_barrier(crew *c) {
    lane *outside = NULL;
    bool any = false;
    char where[160];
    for (unsigned b = 0; b < c->work->cluster; b++) {
        any |= open_block(c, &c->lanes[b * c->work->threads], &outside);
    }
    if (!any && outside) {
        fake_me.here = &outside->here;
        fake_die("%s: line %d: a cluster's barrier that %u threads of the cluster do not reach", fake_where(where),
                 outside->line, c->count - c->arrived);
    }
    return any;
}

bool fake_run_fibers(const fake_work *w, uint64_t n) {
    crew *c = my_crew();
    c->work = w;
    c->count = w->cluster * w->threads;
    c->arrived = 0;
    c->turn = 0;
    c->abandoned = false;
    fake_me.mode = FAKE_FIBERS;
    for (unsigned i = 0; i < c->count; i++) {
        lane *l = &c->lanes[i];
        l->here = fake_thread_at(w, fake_block_at(w, n + i / w->threads), i % w->threads);
        l->state = READY;
        l->arrived = l->waited = false;
        fake_fiber_make(&l->fiber, body, l);
    }
    do {
        bool ran = true;
        for (uint64_t turn = 0; ran && !c->abandoned; turn++) {
            ran = false;
            for (unsigned i = 0; i < c->count && !c->abandoned; i++) {
                lane *l = &c->lanes[fake_order(i, c->count, w->seed ? w->seed + turn : 0)];
                if (l->state == READY) {
                    ran = true;
                    fake_me.engine = l;
                    fake_me.here = &l->here;
                    fake_fiber_enter(&l->fiber);
                }
            }
        }
    } while (!c->abandoned && open_barrier(c));
    return !c->abandoned;
}
