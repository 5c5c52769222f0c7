/* One group becomes one kernel: body, operands, collapsed dimensions, schedule, shape class, key. */
#ifndef KRF_PLAN_BUILD_H
#define KRF_PLAN_BUILD_H

#include "plan/planning.h"

/* group: index of the group, or of the first of those that are its rounds. */
krf_status krf__kernel_build(krf__planning *p, uint32_t group, krf__kernel *k);

#endif
