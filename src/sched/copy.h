/* Copies of arrays. */
#ifndef KRF_SCHED_COPY_H
#define KRF_SCHED_COPY_H

#include <kerfuse/array.h>

/* krf_array_copy of arrays that are no NULL. */
krf_status krf__copy(krf_array *destination, krf_array *source);

#endif
