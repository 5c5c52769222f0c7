/* Reads workloads.txt: names, sizes, and programs in the text form, with the inputs that they declare. */
#ifndef KRF_BENCH_WORKLOADS_H
#define KRF_BENCH_WORKLOADS_H

#include <kerfuse/kerfuse.h>

enum { BENCH_NAME = 48, BENCH_SIZES = 4, BENCH_INPUTS = 8 };

typedef struct bench_input {
    char name[BENCH_NAME];
    krf_dtype dtype;
    int rank;
    int64_t shape[KRF_MAX_RANK];
} bench_input;

typedef struct bench_workload {
    char name[BENCH_NAME], *program; /* in the memory of the list */
    char size_names[BENCH_SIZES][BENCH_NAME];
    int64_t sizes[BENCH_SIZES];
    int n_sizes;
    bool math; /* bound by arithmetic */
    bench_input inputs[BENCH_INPUTS];
    int n_inputs;
} bench_workload;

typedef struct bench_workloads {
    bench_workload *of;
    int n;
    char *memory;
} bench_workloads;

/* Reads a file; the first size of each workload is divided by scale. NULL, or one line that says what is wrong: then the list is empty. */
const char *bench_workloads_read(const char *path, int64_t scale, bench_workloads *list);
void bench_workloads_free(bench_workloads *list);

#endif
