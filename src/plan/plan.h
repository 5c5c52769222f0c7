/* From a lowered graph to a plan. */
#ifndef KRF_PLAN_PLAN_H
#define KRF_PLAN_PLAN_H

#include "plan/data.h"

/* g: a lowered graph (krf__pipeline), whose scalar nodes are numbered in order. */
krf_status krf__plan_make(const krf_graph *g, int n, const uint32_t *outputs, const krf__plan_options *options, krf__plan_data *plan);
void krf__plan_free(krf__plan_data *plan);

/* A readable account of the plan: kernels, schedules, bytes, cuts. */
void krf__plan_print(const krf__plan_data *plan, krf__str *out);

#endif
