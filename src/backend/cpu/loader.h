/* Compiled kernels in memory, made callable. */
#ifndef KRF_BACKEND_CPU_LOADER_H
#define KRF_BACKEND_CPU_LOADER_H

#include <kerfuse/base.h>

/* Computes units [lo, hi) of a launch; what a unit is depends on the schedule. */
typedef void (*krf__kernel_function)(const void *fields, long long lo, long long hi);

struct krf__module {             /* backend.h names it */
    krf__kernel_function run;    /* symbol NAME */
    krf__kernel_function finish; /* symbol NAME_finish: folds the chunks of results [lo, hi); NULL when there is none */
};

/* Loads a shared object. Its code stays for the life of the process: other threads may be running it. KRF_E_COMPILE
 * when the image is not one, or holds no such kernel. */
krf_status krf__loader_load(const void *image, size_t bytes, const char *name, struct krf__module *module);

#endif
