/* What a machine can move: copies, reads and writes without arithmetic. And the GPU's own clock. */
#ifndef KRF_BENCH_LIMITS_H
#define KRF_BENCH_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum bench_limit { BENCH_COPY, BENCH_READ, BENCH_WRITE, BENCH_LIMITS } bench_limit;

double bench_now(void); /* seconds */

/* Buffers for plain loops on the CPU, over huge pages. */
typedef struct bench_cpu {
    double *from, *to;
    size_t bytes; /* of each */
    int threads;
} bench_cpu;
bool bench_cpu_open(bench_cpu *c, size_t bytes, int threads);
double bench_cpu_run(const bench_cpu *c, bench_limit what); /* seconds of one run */
void bench_cpu_close(bench_cpu *c);

/* The driver of a GPU, beside the one that kerfuse opened: the primary context of a device, a stream and two events. */
typedef struct bench_gpu bench_gpu;
bench_gpu *bench_gpu_open(int device); /* NULL: there is no driver, with a line on stderr */
void *bench_gpu_stream(const bench_gpu *g);
bool bench_gpu_start(bench_gpu *g);    /* an event on that stream; false: this driver has no clock */
double bench_gpu_stop(bench_gpu *g);   /* waits for a second event; seconds since the first */
double bench_gpu_run(bench_gpu *g, bench_limit what, void *to, void *from, size_t bytes, int times); /* seconds of one copy or memset */
void bench_gpu_close(bench_gpu *g);

#endif
