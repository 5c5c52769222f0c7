/* The context: one device with its memory, its kernels and its plans. Everything that lives as long as the device hangs
 * on it. It is kept alive by the user, by graphs and plans, and by the memory of each array. */
#ifndef KRF_SCHED_CONTEXT_H
#define KRF_SCHED_CONTEXT_H

#include "backend/backend.h"
#include "base/log.h"
#include "cache/disk.h"
#include "cache/memory.h"
#include "pass/pass.h"
#include "sched/memory.h"
#include "sched/order.h"
#include "sched/plans.h"
#include "sched/staging.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct krf__counters {
    atomic_llong plan_hits, plan_misses, memory_hits, disk_hits, compiled, interpreted, compile_us, launches, replays, overlapped;
} krf__counters;

struct krf__compile_job; /* see kernels.c */

/* Compiles kernels beside the interpreter. The thread is started by the first job. */
typedef struct krf__compile_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct krf__compile_job *first, *last;
    pthread_t thread;
    bool started, stopping;
    int pid; /* of the process that has the thread */
} krf__compile_queue;

struct krf_context {
    atomic_int references;
    const krf__backend *backend;
    krf__device *device;
    bool is_cuda;
    krf__log log;
    krf_cpu_tier cpu_tier;
    bool blocking_compile;
    int threads;               /* the most that compile, as the options say; 0: as many as there are processors */
    krf__limits asked, limits; /* of fusion: as the options say, and as the device has them */
    bool fast;                  /* KRF_MATH_FAST */
    char *nvrtc; /* as asked for; NULL for none */
    char *dump;  /* the folder for what is made of graphs; NULL for none */
    krf__order *order;
    krf__pool *pool;
    krf__staging *staging;
    krf__memory_cache *kernels;
    krf__disk_cache *disk;
    krf__plan_cache plans;
    krf__lengths lengths;
    krf__compile_queue queue;
    krf__defined defined;       /* names of what the user defines */
    krf__counters counters;
};

/* options: whole and checked. */
krf_status krf__context_open(const krf_context_options *options, krf_context **context);
void krf__context_retain(krf_context *context);
void krf__context_release(krf_context *context); /* the last one closes the device; NULL is allowed */

/* "auto", "cpu", "cuda", "cuda:N", "cuda:GPU-...". False for anything else. index: of the CUDA device; *uuid: not NULL
 * where it is named by that, a part of text. */
typedef enum krf__device_kind { KRF__DEVICE_AUTO, KRF__DEVICE_CPU, KRF__DEVICE_CUDA } krf__device_kind;
bool krf__device_parse(const char *text, krf__device_kind *kind, int *index, const char **uuid);

static inline void krf__count(atomic_llong *counter, long long n) {
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

#endif
