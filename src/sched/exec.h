/* Runs plans: addresses for buffers, memory for temporaries and outputs, and a launch for each kernel. */
#ifndef KRF_SCHED_EXEC_H
#define KRF_SCHED_EXEC_H

#include "sched/run.h"

/* Finds all kernels, and loads or compiles them as the tier says. */
krf_status krf__plan_prepare(krf_context *context, krf__compiled *compiled);

/* On failure outputs that were NULL are NULL again. */
krf_status krf__plan_execute(const krf__run *run);

#endif
