/* Memory of a context: figures, limits, and allocators of the caller. Memory that arrays and temporaries give back is
 * kept and used again; on CUDA in the order of the streams that used it, without the host waiting. */
#ifndef KERFUSE_MEMORY_H
#define KERFUSE_MEMORY_H

#include <kerfuse/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a context holds of its device's memory, in bytes. reserved - used is kept for later. Sizes are rounded up (by an
 * eighth at most, and to 512 bytes), as they are taken. */
typedef struct krf_memory_stats {
    size_t size;           /* set by the caller to sizeof(krf_memory_stats) */
    int64_t used;          /* by arrays and by runs that are under way */
    int64_t reserved;      /* taken from the driver, the system or the caller's allocator, and not given back */
    int64_t most_used, most_reserved; /* the most there has been of either */
    int64_t free_blocks;   /* kept; 0 on the CPU, which keeps them elsewhere */
    int64_t allocations;   /* calls of the driver, the system or the caller's allocator, so far */
    int64_t limit;         /* that reserved keeps to; 0: none */
} krf_memory_stats;

/* Errors: KRF_E_ARGUMENT. Thread-safe, as all of this. */
KRF_API krf_status krf_context_memory_stats(krf_context *context, krf_memory_stats *stats);

/* Gives all memory that is not in use back to the driver, the system or the caller's allocator. On CUDA it waits for
 * the context's own stream. Errors: KRF_E_ARGUMENT. */
KRF_API krf_status krf_context_trim(krf_context *context);

#ifdef __cplusplus
}
#endif

#endif
