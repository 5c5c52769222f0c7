/* Memory of a context's device: free lists over the backend's allocate, so that a warm run asks the driver for nothing.
 * A block that is given back may be handed out at once: all work that used it was ordered before whatever is started
 * from now on. Thread-safe. */
#ifndef KRF_SCHED_MEMORY_H
#define KRF_SCHED_MEMORY_H

#include "backend/backend.h"

typedef struct krf__pool krf__pool;

/* pooled: keep freed blocks here; false where the backend does so itself. limit: bytes kept at most. */
krf_status krf__pool_create(const krf__backend *backend, krf__device *device, bool pooled, size_t limit,
                            krf__pool **pool);
void krf__pool_destroy(krf__pool *pool); /* before the device is closed; NULL is allowed */

/* bytes 0: *data is NULL. */
krf_status krf__pool_allocate(krf__pool *pool, size_t bytes, void **data);
void krf__pool_deallocate(krf__pool *pool, void *data, size_t bytes); /* bytes: as allocated; data NULL is allowed */

/* Counters that are zero, and are zero again after every run. They belong to one run until they are given back. */
krf_status krf__pool_take_tickets(krf__pool *pool, size_t count, void *stream, void **tickets);
void krf__pool_give_tickets(krf__pool *pool, void *tickets, size_t count);

#endif
