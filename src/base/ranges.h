/* Ranges of time for profilers (NVTX), in the domain "kerfuse". A profiler names its library in NVTX_INJECTION64_PATH, as Nsight Systems and Nsight Compute do; where
 * there is none a range costs one comparison. */
#ifndef KRF_BASE_RANGES_H
#define KRF_BASE_RANGES_H

#include <stddef.h>

/* Looks for a profiler; the first call in a process decides. */
void krf__ranges_open(void);

extern void *krf__ranges_domain; /* NULL: no profiler. Set before the first context is there, and then constant */

/* Both through the functions below. */
void krf__ranges_push(const char *what, const char *name);
void krf__ranges_pop(void);

/* From begin to end on one thread; ranges nest. name: copied, "WHAT NAME" where what is not NULL. */
static inline void krf__range_begin(const char *what, const char *name) {
    if (krf__ranges_domain != NULL) {
        krf__ranges_push(what, name);
    }
}

static inline void krf__range_end(void) {
    if (krf__ranges_domain != NULL) {
        krf__ranges_pop();
    }
}

#endif
