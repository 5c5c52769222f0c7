/* Compiles the kernels of many graphs at once. Most of what a compiler costs is the start; so a back end in front of
 * the real one notes the sources while evaluations only pretend, then has one image made of all, from which modules are
 * taken when kernels run. */
#ifndef KRF_TESTS_FUZZ_BATCH_H
#define KRF_TESTS_FUZZ_BATCH_H

#include <kerfuse/base.h>

/* From now on kernels of this context are launched through here. Three contexts a process, of which kernels of the same text are compiled once. */
void batch_install(krf_context *context);

/* Between these two, launches do nothing and compilations are noted. */
void batch_begin(void);
void batch_end(void); /* compiles what was noted; kernels that were not, or did not compile with the others, are
                         compiled alone when they run */

/* How many kernels were noted and compiled in batches, and alone, so far. */
void batch_counts(long *together, long *alone);

#endif
