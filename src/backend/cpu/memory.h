/* The CPU backend's memory: buffers of arrays and temporaries, kept after release so that a warm run neither asks the
 * system for memory nor takes page faults. Thread-safe. */
#ifndef KRF_BACKEND_CPU_MEMORY_H
#define KRF_BACKEND_CPU_MEMORY_H

#include <kerfuse/base.h>

typedef struct krf__host_memory krf__host_memory;

/* slack: bytes that the buffers in use and kept together may exceed the most that was ever in use by. */
krf_status krf__host_memory_create(size_t slack, krf__host_memory **memory);
void krf__host_memory_destroy(krf__host_memory *memory); /* frees what is kept; NULL is allowed */

/* Aligned to 256 bytes; from 2 MiB on to 2 MiB, on huge pages where the system has them. Contents are undefined. */
krf_status krf__host_memory_allocate(krf__host_memory *memory, size_t bytes, void **data);
/* bytes: as allocated. NULL is allowed. */
void krf__host_memory_deallocate(krf__host_memory *memory, void *data, size_t bytes);

size_t krf__host_memory_kept(krf__host_memory *memory);         /* bytes in the free lists */
int64_t krf__host_memory_allocations(krf__host_memory *memory); /* that were asked of the system, so far */
void krf__host_memory_trim(krf__host_memory *memory);           /* empties the free lists */

#endif
