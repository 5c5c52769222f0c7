/* Facts about the machine and the process that the CPU backend decides by: how many threads may run at once, the
 * instruction set that kernels are compiled for, and what krf_context_device reports. Read when a device is opened. */
#ifndef KRF_BACKEND_CPU_HOST_H
#define KRF_BACKEND_CPU_HOST_H

#include <stdint.h>

/* An instruction set as a name and as the compiler flags that select it (separated by single blanks). Static text. The
 * flags are features one by one, not -march=x86-64-v3: gcc 8 to 10 do not know that name and make the same code. */
typedef struct krf__isa {
    const char *name, *flags;
} krf__isa;

/* What this processor and its kernel (saved registers) support: a feature set, never a guess from the model name. */
krf__isa krf__isa_detect(void);

/* Processors that the calling thread may use: its affinity mask, limited by the cgroup's (v2) cpu.max. At least 1. */
int krf__cpu_count(void);

/* Processors that one line of a cpu.max file grants, rounded up; 0 for no limit. */
int krf__cpu_quota(const char *line);

/* The processor's model name (krf__mem_free); NULL when out of memory. */
char *krf__cpu_model(void);

/* Bytes of main memory. */
int64_t krf__main_memory(void);

#endif
