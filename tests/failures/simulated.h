/* The doubles of libcuda and libnvrtc (tests/fakecuda) in this process, and a program that brings a stream of its own.
 */
#ifndef FAILURES_SIMULATED_H
#define FAILURES_SIMULATED_H

#include "failures/scenario.h"

/* What a double offers to tests. NULL members: it has no such function. */
typedef struct doubles {
    unsigned (*calls)(const char *name);
    void (*fail)(const char *name, unsigned n, unsigned code);
    void (*reset)(void);
    int (*live)(void); /* the driver's only */
} doubles;

extern doubles simulated[2]; /* the driver, NVRTC */
bool simulated_open(void);   /* false: KRF_LIBCUDA and KRF_LIBNVRTC are not the doubles */
int simulated_side(const char *entry);

/* Makes the stream. Once in each process, before anything fails. */
bool simulated_open_user(void);

/* For SCENE_EXTRA: plans on that stream, also while it is being captured; a sum that blocks share; PTX and a cubin. */
krf_status simulated_extra(scene *s);

#endif
