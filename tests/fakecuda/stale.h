/* What a kernel finds that may begin before the one before it has ended: memory as it was before that one, until it waits. It is a means to find faults, and is left out
 * for large blocks of memory, where streams are at work side by side, and where CUDA threads are OS threads. */
#ifndef FAKECUDA_STALE_H
#define FAKECUDA_STALE_H

#include "engine.h"

/* Around all that touches device memory, but for kernels that see old contents, beside which nothing else may run. */
void fake_touch(void);
void fake_touched(void);

/* Memory that has been filled for the first time, and that is about to be for the last. */
void fake_stale_add(unsigned char *at, size_t bytes);
void fake_stale_drop(const unsigned char *at);

/* Around the run of a kernel; whether it sees old contents. They go when one of its threads waits, if it has stored nothing, or else when it ends. */
bool fake_stale_begin(const fake_work *w);
void fake_stale_wait(void);
void fake_stale_end(void);

/* Somebody has waited for this place of a line: what is launched now finds all that was written before it. */
void fake_stale_forget(const struct fake_line *line, uint64_t seq);

#endif
