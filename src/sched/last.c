#include "sched/last.h"

void krf__last_create(krf__last *l) {
    atomic_init(&l->shared, false);
    atomic_init(&l->begun, 0);
    atomic_init(&l->ended, 0);
    l->number = 0;
    pthread_mutex_init(&l->lock, NULL);
}

void krf__last_destroy(krf__last *l) { pthread_mutex_destroy(&l->lock); }

void krf__last_share(krf__last *l) { atomic_store(&l->shared, true); }

/* What had ended is counted first: as much as had begun afterwards, so that nothing is under way. */
krf__turn krf__last_begin(krf__last *l) {
    const uint64_t ended = atomic_load(&l->ended), before = atomic_fetch_add(&l->begun, 1);
    return (krf__turn){.number = before + 1, .alone = ended == before};
}

void krf__last_end(krf__last *l) { atomic_fetch_add(&l->ended, 1); }

static bool meet(int n, const krf__memory *a, int m, const krf__memory *b) {
    bool found = false;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            found |= a[i].low < b[j].high && b[j].low < a[i].high;
        }
    }
    return found;
}

bool krf__last_apart(krf__last *l, const krf__turn *turn, int n, const krf__memory *read, bool *fills) {
    bool apart = turn->alone && !atomic_load(&l->shared);
    *fills = false;
    if (apart) {
        pthread_mutex_lock(&l->lock);
        apart = atomic_load(&l->begun) == turn->number && turn->number > 1 && l->number == turn->number - 1;
        *fills = apart && l->fills;
        apart = apart && !meet(l->n, l->written, n, read);
        pthread_mutex_unlock(&l->lock);
    }
    return apart;
}

/* Who begins meanwhile has the next number, and is not alone: to whoever comes after that this work is not the last. */
void krf__last_wrote(krf__last *l, const krf__turn *turn, bool fills, int n, const krf__memory *written) {
    if (!turn->alone || n > KRF__MOST_WRITTEN) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    l->number = turn->number;
    l->fills = fills;
    l->n = n;
    for (int i = 0; i < n; i++) {
        l->written[i] = written[i];
    }
    pthread_mutex_unlock(&l->lock);
}
