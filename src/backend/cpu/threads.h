/* The CPU backend's thread pool. A job is a number of pieces; threads take pieces from one atomic counter. The caller
 * of run takes part and never waits for a worker that has not joined in, so that a sleeping or descheduled worker costs
 * nothing. Everything but destroy may be called from several threads at once, from inside a piece, and after a fork. */
#ifndef KRF_BACKEND_CPU_THREADS_H
#define KRF_BACKEND_CPU_THREADS_H

#include <kerfuse/base.h>

typedef struct krf__threads krf__threads;
typedef void (*krf__piece_function)(void *user, int64_t piece);

/* threads: the caller's included; 0: krf__cpu_count(). Starts no thread: the first job of two pieces or more does. */
krf_status krf__threads_create(int threads, krf__threads **pool);
void krf__threads_destroy(krf__threads *pool); /* NULL is allowed; no job may be running */
int krf__threads_count(const krf__threads *pool);

/* Calls run(user, i) once for each i in [0, pieces), in any order, on any of the threads, and returns when all are
 * done. While another job has the workers, the caller runs its pieces itself, until the workers are free. */
void krf__threads_run(krf__threads *pool, int64_t pieces, krf__piece_function run, void *user);

#endif
