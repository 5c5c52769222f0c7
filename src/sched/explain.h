/* What a compiler found wrong with the body of a user's definition, in the user's own lines. */
#ifndef KRF_SCHED_EXPLAIN_H
#define KRF_SCHED_EXPLAIN_H

#include "plan/kernel.h"

/* After KRF_E_COMPILE of a kernel: gives the status back; the thread's message is about the body where the compiler's is. */
krf_status krf__explain_compile(const krf__kernel *kernel);

/* There is no compiler, and the kernel needs one. */
krf_status krf__explain_missing(const krf__kernel *kernel);

/* A scan by an accumulator of several fields, which a GPU's blocks have no room for. */
krf_status krf__explain_wide_scan(const krf__kernel *kernel);

#endif
