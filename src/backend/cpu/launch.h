/* Runs a kernel on the CPU, compiled or interpreted, over the thread pool. */
#ifndef KRF_BACKEND_CPU_LAUNCH_H
#define KRF_BACKEND_CPU_LAUNCH_H

#include "backend/backend.h"
#include "backend/cpu/threads.h"

krf_status krf__launch_run(krf__threads *threads, const krf__launch *launch);

/* How a range of units is cut: `length` units a piece. Depends on the kernel alone, never on the threads. */
typedef struct krf__cut {
    int64_t units, length;
    bool alone; /* too little work to share */
} krf__cut;

krf__cut krf__cut_units(const krf__kernel *kernel);   /* the domain */
krf__cut krf__cut_results(const krf__kernel *kernel); /* folding of chunks */

#endif
