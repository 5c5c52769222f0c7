/* Arrays with memory: made, filled, read. What a user may ask for is checked by the caller. */
#ifndef KRF_SCHED_ARRAY_H
#define KRF_SCHED_ARRAY_H

#include "ir/array.h"
#include "sched/context.h"

/* A storage and an array in C order with one reference each; the storage holds the context. NULL: out of memory. */
krf_array *krf__array_new(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape,
                          void (*destroy)(krf__storage *storage));

/* With new memory. lane: where it will be used first, or KRF__NO_LANE. */
krf_status krf__array_make(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, int lane,
                           krf_array **array);

/* All bytes of an array in C order from or to the host; the call waits for the copy. */
krf_status krf__array_fill(krf_array *array, const void *data);
krf_status krf__array_read(krf_array *array, void *stream, void *data);

/* The same without waiting. Pinned memory is read or written when the stream gets there; pageable memory is read by the
 * time the call returns, and written by a thread of the driver's. */
krf_status krf__array_start_fill(krf_array *array, void *stream, const void *data);
krf_status krf__array_start_read(krf_array *array, void *stream, void *data);

/* Copies the bytes of an array in C order to another one of as many. */
krf_status krf__array_move(krf_array *destination, krf_array *source, void *stream);

#endif
