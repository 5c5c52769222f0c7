/* Runs of one kernel on the context's own stream: whether the kernel before writes nothing that this one reads (krf__kernel.ahead). */
#ifndef KRF_SCHED_APART_H
#define KRF_SCHED_APART_H

#include "backend/backend.h"
#include "sched/last.h"
#include "sched/run.h"

/* last: of the lane; NULL is allowed. Before the launch: whether the kernel is apart from what the stream was given last; that is told in its arguments, and the launch is changed where it
 * should not overlap. */
bool krf__run_overlaps(const krf__run *run, krf__last *last, const krf__turn *turn, krf__launch *launch, uint64_t *fields);

/* After it: what the next one is to be apart from. */
void krf__run_has_written(const krf__run *run, krf__last *last, const krf__turn *turn, const krf__launch *launch);

#endif
