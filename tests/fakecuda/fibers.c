/* One block on fibers: each runs until it waits. What can never go on is seen at once: no fiber can run, and some have
 * not ended. */
#include "engine.h"
#include "fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum state { READY, AT_BARRIER, AT_SHUFFLE, ENDED } state;

typedef struct lane {
    fake_fiber fiber;
    fakecuda_thread here;
    state state;
    int line;                /* where it waits */
    unsigned mask, delta;    /* of its shuffle */
    unsigned long long bits; /* that it gives, then gets */
} lane;

typedef struct crew {
    const fake_work *work;
    void (*call)(void *const *arguments);
    bool abandoned;
    lane lanes[FAKE_MAX_THREADS];
} crew;

static pthread_key_t crew_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_crew(void *user) {
    crew *c = user;
    for (int i = 0; i < FAKE_MAX_THREADS; i++) {
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

static void body(void *user) {
    lane *l = user;
    crew *c = my_crew();
    c->call(c->work->arguments);
    l->state = ENDED;
    leave(l);
}

void fake_fiber_barrier(int line) {
    lane *l = fake_me.engine;
    l->state = AT_BARRIER;
    l->line = line;
    leave(l);
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
    const unsigned index = (unsigned)(l - c->lanes), first = index / FAKE_WARP * FAKE_WARP;
    const unsigned count = c->work->threads - first < FAKE_WARP ? c->work->threads - first : FAKE_WARP;
    lane *warp = &c->lanes[first];
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

/* All that have not ended are at the same barrier: they go on. Anything else is an error that CUDA does not define. */
static bool open_barrier(crew *c) {
    const lane *first = NULL;
    unsigned waiting = 0, ended = 0;
    char where[160];
    for (unsigned i = 0; i < c->work->threads; i++) {
        const lane *l = &c->lanes[i];
        if (l->state == ENDED) {
            ended++;
            continue;
        }
        waiting++;
        if (!first) {
            first = l;
        } else if (l->state != first->state || l->line != first->line) {
            fake_me.here = &c->lanes[i].here;
            fake_die("%s: waits at line %d %s, another thread at line %d %s: they wait for ever", fake_where(where),
                     l->line, l->state == AT_BARRIER ? "(barrier)" : "(shuffle)", first->line,
                     first->state == AT_BARRIER ? "(barrier)" : "(shuffle)");
        }
    }
    if (waiting == 0) {
        return false;
    }
    fake_me.here = &c->lanes[first - c->lanes].here;
    if (first->state == AT_SHUFFLE) {
        fake_die("%s: line %d: a shuffle waits for threads that its mask %#x names and that have ended",
                 fake_where(where), first->line, first->mask);
    }
    if (ended > 0) {
        fake_die("%s: line %d: a barrier that %u threads of the block do not reach", fake_where(where), first->line,
                 ended);
    }
    for (unsigned i = 0; i < c->work->threads; i++) {
        c->lanes[i].state = READY;
    }
    return true;
}

bool fake_run_fibers(const fake_work *w, fakecuda_index block) {
    crew *c = my_crew();
    c->work = w;
    c->call = w->call[0];
    c->abandoned = false;
    fake_me.mode = FAKE_FIBERS;
    for (unsigned i = 0; i < w->threads; i++) {
        lane *l = &c->lanes[i];
        l->here = fake_thread_at(w, block, i);
        l->state = READY;
        fake_fiber_make(&l->fiber, body, l);
    }
    do {
        bool ran = true;
        for (uint64_t turn = 0; ran && !c->abandoned; turn++) {
            ran = false;
            for (unsigned i = 0; i < w->threads && !c->abandoned; i++) {
                lane *l = &c->lanes[fake_order(i, w->threads, w->seed ? w->seed + turn : 0)];
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
