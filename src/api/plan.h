/* A plan as the user holds it: the lowered graph, its kernels, and what is made of them on demand. */
#ifndef KRF_API_PLAN_H
#define KRF_API_PLAN_H

#include <kerfuse/plan.h>

#include "sched/eval.h"

enum { KRF__KNOWN_RUNS = 4, KRF__KNOWN_ARRAYS = 8 };

/* The arrays of a run that was in order: see plan_known.c. */
typedef struct krf__known {
    _Atomic uint32_t turn;
    _Atomic uint64_t ids[KRF__KNOWN_ARRAYS];
} krf__known;

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
    krf__known known[KRF__KNOWN_RUNS];
    _Atomic uint32_t next_known;
};

typedef struct krf__placeholder_name {
    char text[24];
} krf__placeholder_name;

/* The name of a placeholder, for messages; that of one without a name lies in *number. */
const char *krf__plan_placeholder(const krf_plan *plan, uint32_t placeholder, krf__placeholder_name *number);

/* KRF_OK: *bound and *values hold what the bindings say, one for each placeholder. What the arrays are is not looked at. */
krf_status krf__plan_bind(const krf_plan *plan, void *stream, int n, const krf_binding *bindings, krf_array **bound,
                          uint64_t *values);

/* Whether an array is what a placeholder stands for; whether all arrays of a run are. bound: NULL for scalars; outputs: NULL for those to make. */
krf_status krf__plan_check_input(const krf_plan *plan, uint32_t placeholder, const krf_array *array);
krf_status krf__plan_check(const krf_plan *plan, krf_array *const *bound, krf_array *const *outputs);

typedef struct krf__run_arrays {
    uint32_t n_bound, n_outputs;
    krf_array *const *bound, *const *outputs;
} krf__run_arrays;

/* Whether a run with just these arrays was remembered: they are what the plan takes, start on 16-byte borders and share no memory in a way that matters. */
bool krf__plan_knows(const krf_plan *plan, const krf__run_arrays *arrays);
void krf__plan_remember(krf_plan *plan, const krf__run_arrays *arrays);

#endif
