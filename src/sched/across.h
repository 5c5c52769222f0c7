/* Copies between arrays of different contexts. */
#ifndef KRF_SCHED_ACROSS_H
#define KRF_SCHED_ACROSS_H

#include "sched/array.h"

/* krf_array_copy of arrays of two contexts that have the same dtype and shape and at least one element. */
krf_status krf__copy_across(krf_array *destination, krf_array *source);

#endif
