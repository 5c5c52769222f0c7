/* How many lengths of rows stand in kernels' texts: few of each kind of kernel, so that rows of ever new lengths do not mean ever new kernels. */
#ifndef KRF_SCHED_LENGTHS_H
#define KRF_SCHED_LENGTHS_H

#include "plan/plan.h"

#include <pthread.h>

#define KRF__LENGTHS 4  /* of a kind, */
#define KRF__LENGTHS_ALONE 1 /* and of reductions alone, whose kernels are to be few; but by squares of results, which there are not without a length, likewise 4 */
#define KRF__KINDS 128 /* that are remembered; of more, the oldest are forgotten */

typedef struct krf__lengths {
    pthread_mutex_t lock;
    struct {
        uint64_t kind; /* a hash of all that a text depends on but lengths and numbers; 0: free */
        int n;
        int64_t seen[KRF__LENGTHS];
    } kinds[KRF__KINDS];
    int next;
} krf__lengths;

/* Whether the kernels of a plan are of lengths that there have been, or there may be more of their kinds; these are remembered. Any thread. */
bool krf__lengths_admit(krf__lengths *lengths, const krf__plan_data *plan);

#endif
