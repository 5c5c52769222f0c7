/* The kernels that are loaded: canonical key bytes -> whatever the caller stores. Thread-safe. Two threads that miss on the same key at the same time
 * do not compile it twice: the second waits for the first. */
#ifndef KRF_CACHE_MEMORY_H
#define KRF_CACHE_MEMORY_H

#include <kerfuse/base.h>
#include <stdbool.h>

typedef struct krf__memory_cache krf__memory_cache;

krf__memory_cache *krf__memory_cache_create(void); /* NULL when out of memory */
void krf__memory_cache_destroy(krf__memory_cache *cache, void (*free_value)(void *user, void *value), void *user);

/* Finds key (compared in full). On a miss calls make(user, &value) without holding a lock, stores what it made, and returns it; a make that fails is not
 * stored, its status is returned, and the next caller tries again. *hit (may be NULL) says which it was. */
krf_status krf__memory_cache_get(krf__memory_cache *cache, const void *key, size_t bytes,
                                 krf_status (*make)(void *user, void **value), void *user, void **value, bool *hit);

bool krf__memory_cache_has(krf__memory_cache *cache, const void *key, size_t bytes); /* waits for none that is being made */

#endif
