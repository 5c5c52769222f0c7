/* Many graphs in several processes; what fails is shrunk and written to a file. */
#ifndef KRF_TESTS_FUZZ_WORKER_H
#define KRF_TESTS_FUZZ_WORKER_H

#include "fuzz/session.h"

typedef struct work {
    uint64_t seed;  /* of the first graph; the next ones count on */
    uint64_t count; /* graphs */
    double seconds; /* after which no new batch is begun; 0: no limit */
    target target;
    const char *device; /* "cpu", "cuda", "cuda:1" */
    int jobs, batch;    /* processes; graphs whose kernels are compiled together */
    const char *folder; /* for files of graphs that fail */
    int defined;        /* percent of graphs with what users define; -1: few where the interpreter is tested, since all of them are compiled */
} work;

typedef enum outcome { ALL_RIGHT, SOME_FAILED, NO_DEVICE } outcome;

/* Prints a line for each failure and one of totals. */
outcome work_run(const work *w);

/* Graphs one after the other in a process of their own, which may crash or hang. True when all pass. */
bool check_apart(const work *w, int n, const graph *const *graphs, report *r);

#endif
