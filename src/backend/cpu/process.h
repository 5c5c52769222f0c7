/* Runs a program to its end, with a time limit, and keeps the beginning of what it says on its standard error. No
 * shell, no thread, no process-wide state; copes with hosts that ignore SIGCHLD or reap every child themselves. */
#ifndef KRF_BACKEND_CPU_PROCESS_H
#define KRF_BACKEND_CPU_PROCESS_H

#include "base/strbuf.h"

typedef enum krf__end {
    KRF__END_NOT_STARTED, /* code: errno value */
    KRF__END_EXITED,      /* code: exit status */
    KRF__END_SIGNALLED,   /* code: signal */
    KRF__END_TIMED_OUT,   /* it was killed, with the processes it had started */
    KRF__END_UNKNOWN      /* it ended, but somebody else took its status */
} krf__end;

typedef struct krf__process {
    char *const *argv; /* argv[0]: path of the program */
    char *const *environment;
    int input; /* becomes its standard input; standard output is discarded */
    int timeout_ms;
    size_t keep; /* bytes of its standard error to keep */
} krf__process;

krf__end krf__process_run(const krf__process *process, krf__str *errors, int *code);

#endif
