/* Evaluation at once: passes, a plan from the cache or a new one, and a run of it. */
#ifndef KRF_SCHED_EVAL_H
#define KRF_SCHED_EVAL_H

#include "sched/exec.h"
#include "sched/outputs.h"

/* Evaluates nodes of a graph. ids: valid ones. As krf_eval_many otherwise. */
krf_status krf__eval(const krf_graph *graph, int n, const uint32_t *ids, krf_array **outputs);

/* An array's elements into another of its context, dtype and shape, whatever their layouts. */
krf_status krf__copy_elements(krf_array *destination, krf_array *source);

/* After a run: where it made another array than the one that was given (because of a conflict), that is copied to the
 * given one. given[k] NULL: gets made[k]. stream: not NULL only if all that were given are in C order. */
krf_status krf__deliver(void *stream, int n, krf_array **given, krf_array **made);

#endif
