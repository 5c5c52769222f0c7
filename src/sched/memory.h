/* Memory of a context's device: free lists over the backend's allocate, so that a warm run asks the driver for nothing.
 * A block remembers the lanes (order.h) that used it; who takes it orders its own lane behind them before the first use.
 * Thread-safe. */
#ifndef KRF_SCHED_MEMORY_H
#define KRF_SCHED_MEMORY_H

#include "backend/backend.h"
#include "sched/order.h"
#include <kerfuse/memory.h>

typedef struct krf__pool krf__pool;

typedef struct krf__pool_options {
    bool keeps;              /* freed blocks here; false where the backend does so itself */
    size_t limit;            /* bytes that are held at most; 0: no limit */
    krf_allocator allocator; /* allocate NULL: the backend's */
} krf__pool_options;

krf_status krf__pool_create(const krf__backend *backend, krf__device *device, krf__order *order,
                            const krf__pool_options *options, krf__pool **pool);
void krf__pool_destroy(krf__pool *pool); /* before the order and the device are closed; NULL is allowed */

/* bytes 0: *data is NULL. lane: where it will be used first, so that a block is preferred that waits for nobody;
 * KRF__NO_LANE: not known yet. *lanes: those to wait for. */
krf_status krf__pool_allocate(krf__pool *pool, size_t bytes, int lane, void **data, uint64_t *lanes);
/* bytes: as allocated; lanes: that used it; data NULL is allowed. */
void krf__pool_deallocate(krf__pool *pool, void *data, size_t bytes, uint64_t lanes);

/* The same, ordered for a lane that is the only one to use it. */
krf_status krf__pool_borrow(krf__pool *pool, size_t bytes, krf__lane *lane, void **data);

/* Memory that work still to come uses: kept until that is over. */
typedef struct krf__held {
    void *data;
    size_t bytes;   /* of tickets: their number */
    bool tickets;
    struct krf__held *next;
} krf__held;
void krf__pool_release(krf__pool *pool, krf__held *held); /* the list, after all work; NULL is allowed */

/* Counters that are zero, and are zero again after every run. They belong to one run until they are given back. */
krf_status krf__pool_take_tickets(krf__pool *pool, size_t count, krf__lane *lane, void **tickets);
void krf__pool_give_tickets(krf__pool *pool, void *tickets, size_t count, uint64_t lanes);

/* Gives all that is free back to the system. */
void krf__pool_trim(krf__pool *pool);
void krf__pool_stats(krf__pool *pool, krf_memory_stats *stats);

/* "8G", "512M", "50%" of all, "1000000"; NULL: 0, no limit. False for anything else. */
bool krf__memory_limit_parse(const char *text, size_t all, size_t *bytes);

#endif
