/* The kernels of a plan: found, or compiled side by side. */
#ifndef KRF_SCHED_FIND_H
#define KRF_SCHED_FIND_H

#include "sched/kernels.h"
#include "sched/plans.h"

/* modules[i]: what a run is to launch for kernel i (krf__kernel_use). NULL: the kernels are only prepared. Thread-safe. */
krf_status krf__kernels_find(krf_context *context, krf__compiled *compiled, krf__module **modules);

#endif
