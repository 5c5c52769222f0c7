/* Copies between pageable memory of the host and the device that do not wait for the stream: by way of pinned memory.
 * Thread-safe. */
#ifndef KRF_SCHED_STAGING_H
#define KRF_SCHED_STAGING_H

#include "backend/backend.h"

typedef struct krf__staging krf__staging;

krf_status krf__staging_create(const krf__backend *backend, krf__device *device, krf__staging **staging);
void krf__staging_destroy(krf__staging *staging); /* waits for what is under way; NULL is allowed */
void krf__staging_trim(krf__staging *staging);    /* gives pinned memory back that is not in use */

/* from has been read when this returns. Waits only where all pinned memory is in use. */
krf_status krf__staging_upload(krf__staging *staging, void *to, const void *from, size_t bytes, void *stream);
/* to is written in the stream's order. Likewise. */
krf_status krf__staging_download(krf__staging *staging, void *to, const void *from, size_t bytes, void *stream);

#endif
