/* What the context's own stream was given last: a kernel may read before the one before it has ended where that writes nothing that it reads (krf__kernel.ahead). That is known of
 * work that was given while nobody else gave any, by those who have the stream: who has asked for its handle may give it work that is not seen here.
 *
 * Thread-safe. */
#ifndef KRF_SCHED_LAST_H
#define KRF_SCHED_LAST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct krf__memory {
    const char *low, *high; /* [low, high) */
} krf__memory;

enum { KRF__MOST_WRITTEN = 8 };

typedef struct krf__last {
    atomic_bool shared;
    _Atomic uint64_t begun, ended; /* pieces of work */
    pthread_mutex_t lock;
    uint64_t number; /* of the work that is known; 0: none */
    bool fills; /* it was launched as one that fills all multiprocessors */
    int n;
    krf__memory written[KRF__MOST_WRITTEN];
} krf__last;

/* A piece of work: from the first thing that it gives the stream until it has given it all. */
typedef struct krf__turn {
    uint64_t number; /* from 1 */
    bool alone;      /* all work before it was given when it began */
} krf__turn;

void krf__last_create(krf__last *last);
void krf__last_destroy(krf__last *last);
void krf__last_share(krf__last *last); /* from now on nothing is known */
krf__turn krf__last_begin(krf__last *last);
void krf__last_end(krf__last *last);

/* Whether the work before this one is one kernel, which writes nothing of `read`; *fills: and whether it was told that it fills all multiprocessors. */
bool krf__last_apart(krf__last *last, const krf__turn *turn, int n, const krf__memory *read, bool *fills);

/* That this work was one kernel, which waits for what is before it and only then says that others may come, and all that it writes: KRF__MOST_WRITTEN at most. Before it ends. */
void krf__last_wrote(krf__last *last, const krf__turn *turn, bool fills, int n, const krf__memory *written);

#endif
