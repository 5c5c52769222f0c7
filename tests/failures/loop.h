/* "Fail the n-th call, for n = 1, 2, 3, ..., until a run passes": the loop itself. */
#ifndef FAILURES_LOOP_H
#define FAILURES_LOOP_H

/* One run with the n-th call failing. */
typedef enum verdict {
    LOOP_MORE,  /* the fault was met, and all promises were kept */
    LOOP_LAST,  /* the same, and this process is of no use any more */
    LOOP_DONE,  /* there was no n-th call */
    LOOP_WRONG, /* a promise was broken; a line on stderr says which */
} verdict;
typedef verdict (*loop_body)(void *user, long n);

/* Runs body(user, first), body(user, first + step), ... until it is done. In child processes of `batch` runs each: one
 * that crashes is noticed, and what the C library keeps for ever (loaded kernels) does not add up. Returns how many n
 * met a fault; adds to *wrong. */
long loop_until_done(loop_body body, void *user, long first, long step, int batch, int *wrong);

#endif
