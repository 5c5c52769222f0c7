/* What tells kernels apart. */
#ifndef KRF_PLAN_KEY_H
#define KRF_PLAN_KEY_H

#include "plan/kernel.h"

/* Writes the canonical bytes and the name. */
krf_status krf__kernel_key(krf__kernel *k);

#endif
