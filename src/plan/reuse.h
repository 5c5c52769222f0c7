/* Gives temporaries of a plan shared memory by their lifetimes. */
#ifndef KRF_PLAN_REUSE_H
#define KRF_PLAN_REUSE_H

#include "plan/data.h"

krf_status krf__plan_reuse(krf__plan_data *plan);

#endif
