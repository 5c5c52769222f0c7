/* Device memory: allocations between red zones, filled with a pattern when they begin and when they end. The host's
 * part keeps the table; what touches the memory itself is run in the order of a stream. */
#ifndef FAKECUDA_HEAP_H
#define FAKECUDA_HEAP_H

#include "fake.h"

typedef struct fake_memory {
    struct fake_memory *next;
    unsigned char *base, *user;
    size_t total, bytes;    /* of the whole block; that the application asked for */
    cu_pool pool;           /* NULL: cuMemAlloc */
    int device;             /* that it lies on */
    cu_stream freed_on;     /* the pool may give it out again in the order of that stream; NULL: in use */
    struct fake_line *line; /* of freed_on */
    uint64_t freed_at;
} fake_memory;

/* Host part; all take fake_lock. NULL: out of memory. */
fake_memory *fake_heap_new(size_t bytes, cu_pool pool, cu_stream stream);
fake_memory *fake_heap_find(cu_address address);                       /* that begins there and is in use */
bool fake_heap_holds(cu_address address, size_t bytes);                /* inside one that is in use */
bool fake_heap_reaches(int device, cu_address address, size_t bytes);  /* and that the device may use */
int fake_heap_device(cu_address address);                              /* -1: it is inside none */
/* A word of the arguments that is the address of memory that the device may not use; 0: there is none. */
cu_address fake_heap_foreign(int device, const void *block, size_t bytes);
void fake_heap_retire(fake_memory *m, cu_stream stream, uint64_t seq); /* back to its pool */
void fake_heap_delete(fake_memory *m);                                 /* back to the system; nothing may use it */
size_t fake_heap_trim(cu_pool pool); /* deletes what the pool holds and no stream needs; bytes left */
void fake_heap_usage(size_t *used);                                    /* of the device at hand */
unsigned fake_pool_users(cu_pool pool);                                /* devices, as bits */
int fake_heap_live(void);
void fake_heap_report(void);

/* In the order of a stream, or where nothing runs: new memory is filled, red zones are drawn; freed memory is checked
 * and filled. */
void fake_heap_begin(const fake_memory *m);
void fake_heap_end(const fake_memory *m);

#endif
