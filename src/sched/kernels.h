/* Kernels by key: found in memory, loaded from disk, compiled, or left to the interpreter. */
#ifndef KRF_SCHED_KERNELS_H
#define KRF_SCHED_KERNELS_H

#include "sched/context.h"

/* A kernel that the context knows. Lives as long as the context. */
typedef struct krf__loaded krf__loaded;

/* The kernel's entry, by its key. On return it is loaded, unless the tier leaves that to krf__kernel_use. *fresh: it
 * was not there before, and has been counted. */
krf_status krf__kernel_find(krf_context *context, const krf__kernel *kernel, krf__loaded **loaded, bool *fresh);

/* Whether krf__kernel_find would compile now what is nowhere; and whether the context has the kernel already. */
bool krf__kernels_compile(const krf_context *context);
bool krf__kernel_known(krf_context *context, const krf__kernel *kernel);

/* What a run is to launch: a module, or NULL for the interpreter. In the automatic tier this is where kernels that are
 * large, or run often, are compiled or handed to the thread that compiles. Counts the run unless it is fresh or only
 * prepares one. */
typedef enum krf__use { KRF__USE_RUN, KRF__USE_FRESH, KRF__USE_PREPARE } krf__use;
krf_status krf__kernel_use(krf_context *context, krf__loaded *loaded, const krf__kernel *kernel, krf__use use,
                           krf__module **module);

/* The module if it is loaded, else NULL. */
krf__module *krf__kernel_module(krf__loaded *loaded);

/* The text of a kernel for the context's device, or for a target ("c", "cuda"); KRF_E_ARGUMENT for another. */
krf_status krf__kernel_source(const krf__kernel *kernel, const char *target, krf__str *out);

void krf__kernel_unload(krf_context *context, krf__loaded *loaded);

/* Ends the thread that compiles, after what it is at; jobs that wait are dropped. */
void krf__kernels_stop(krf_context *context);

#endif
