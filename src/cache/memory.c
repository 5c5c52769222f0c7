/* The kernels that are loaded. One lock guards the map; what makes a value (compiling, loading) runs without it. An
 * entry is put into the map before its value is made, so that a second thread finds it and waits instead of making it
 * again. Entries stay until the cache is destroyed. Owned by the context; called by sched/exec. */
#include "cache/memory.h"

#include "base/fail.h"
#include "base/map.h"
#include "base/mem.h"

#include <pthread.h>

typedef enum entry_state { EMPTY, MAKING, READY } entry_state;

typedef struct entry {
    entry_state state; /* EMPTY: not made yet, or the last make failed */
    void *value;       /* READY only; may be NULL */
} entry;

struct krf__memory_cache {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* some entry left the state MAKING */
    krf__map entries;
};

krf__memory_cache *krf__memory_cache_create(void)
{
    krf__memory_cache *cache = krf__calloc(1, sizeof *cache);
    if (cache == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&cache->lock, NULL) != 0) {
        goto fail;
    }
    if (pthread_cond_init(&cache->changed, NULL) != 0) {
        pthread_mutex_destroy(&cache->lock);
        goto fail;
    }
    return cache;
fail:
    krf__mem_free(cache);
    return NULL;
}

void krf__memory_cache_destroy(krf__memory_cache *cache, void (*free_value)(void *user, void *value), void *user)
{
    if (cache == NULL) {
        return;
    }
    for (size_t i = 0; i < cache->entries.capacity; i++) {
        const entry *e = cache->entries.entries[i].value;
        if (e != NULL && e->state == READY && free_value != NULL) {
            free_value(user, e->value);
        }
    }
    krf__map_free(&cache->entries, krf__mem_free);
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->lock);
    krf__mem_free(cache);
}

/* The entry of the key, new and EMPTY if there was none; NULL when out of memory. The lock is held. */
static entry *find_or_add(krf__memory_cache *cache, const void *key, size_t bytes)
{
    entry *e = krf__map_get(&cache->entries, key, bytes);
    if (e != NULL) {
        return e;
    }
    e = krf__calloc(1, sizeof *e);
    if (e != NULL && !krf__map_put(&cache->entries, key, bytes, e)) {
        krf__mem_free(e);
        e = NULL;
    }
    return e;
}

krf_status krf__memory_cache_get(krf__memory_cache *cache, const void *key, size_t bytes,
                                 krf_status (*make)(void *user, void **value), void *user, void **value, bool *hit)
{
    krf_status status = KRF_OK;
    *value = NULL;
    pthread_mutex_lock(&cache->lock);
    entry *e = find_or_add(cache, key, bytes);
    while (e != NULL && e->state == MAKING) {
        pthread_cond_wait(&cache->changed, &cache->lock);
    }
    bool ready = e != NULL && e->state == READY;
    if (ready) {
        *value = e->value;
    } else if (e != NULL) {
        e->state = MAKING;
    }
    pthread_mutex_unlock(&cache->lock);
    if (hit != NULL) {
        *hit = ready;
    }
    if (ready) {
        return KRF_OK;
    }
    if (e == NULL) {
        return krf__fail_memory();
    }

    /* A thread that waited for a make that failed comes here and tries for itself: its caller gets a message of its
     * own. */
    void *made = NULL;
    status = make(user, &made);

    pthread_mutex_lock(&cache->lock);
    e->state = status == KRF_OK ? READY : EMPTY;
    e->value = status == KRF_OK ? made : NULL;
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
    *value = status == KRF_OK ? made : NULL;
    return status;
}

bool krf__memory_cache_has(krf__memory_cache *cache, const void *key, size_t bytes)
{
    pthread_mutex_lock(&cache->lock);
    const entry *e = krf__map_get(&cache->entries, key, bytes);
    const bool ready = e != NULL && e->state == READY;
    pthread_mutex_unlock(&cache->lock);
    return ready;
}
