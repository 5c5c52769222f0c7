/* A plan as the user holds it: the lowered graph, its kernels, and what is made of them on demand. */
#ifndef KRF_API_PLAN_H
#define KRF_API_PLAN_H

#include <kerfuse/plan.h>

#include "sched/eval.h"

struct krf_plan {
    krf_context *context; /* retained */
    krf_graph lowered;    /* retains the inputs */
    char *name;           /* NULL: none */
    int n_outputs;
    uint32_t *outputs; /* nodes of lowered */
    bool inputs_aligned;
    krf__compiled *aligned;           /* for arrays that start on 16-byte borders */
    krf__compiled *_Atomic unaligned; /* for others; made when it is needed first */
    pthread_mutex_t lock;             /* held while something is added to the plan */
    char *_Atomic *sources;           /* of each kernel; made when they are asked for */
    krf__held *_Atomic held;          /* memory that graphs use into which runs were captured */
};

/* Whether all of it can be computed: KRF_OK, and *bound and *values hold what the bindings say, one for each
 * placeholder. */
krf_status krf__plan_bind(const krf_plan *plan, void *stream, int n, const krf_binding *bindings, krf_array **bound,
                          uint64_t *values);

#endif
