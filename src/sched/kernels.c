/* From a planned kernel to something that can be launched: memory cache, disk cache, compiler, in this order. On the
 * CPU the tier decides whether a kernel is compiled at all; in the automatic tier small work is interpreted, and larger
 * work is interpreted until a thread of the context's own has compiled the kernel. Both give the same bits, so nobody
 * can tell when the switch happens. */
#include "sched/kernels.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/ranges.h"
#include "base/thread.h"
#include "codegen/emit.h"
#include "codegen/raw.h"
#include "plan/raw_call.h"
#include "sched/explain.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define LARGE_RUN 2000000     /* operations of one run from which on compiling pays */
#define LARGE_TOTAL 100000000 /* the same for all runs so far together: about as long as a compilation takes */

/* COLD: may be compiled once it is worth it; BUSY: being compiled; SETTLED: loaded, or for the interpreter for good. */
typedef enum state { COLD, BUSY, SETTLED } state;

struct krf__loaded {
    krf__module *_Atomic module; /* NULL: interpret */
    atomic_int state;
    atomic_llong work; /* operations interpreted */
};

/* What a kernel is compiled from, and its name on disk. */
typedef struct text {
    krf__str source, key;
} text;

typedef struct krf__compile_job {
    struct krf__compile_job *next;
    krf__loaded *loaded;
    text text;
    char name[32];
} krf__compile_job;

krf_status krf__kernel_source(const krf__kernel *kernel, const char *target, krf__str *out) {
    const krf__target *t = krf__target_of(target);
    if (t == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "\"%s\" is not a target; \"c\" and \"cuda\" are", target);
    }
    if (kernel->raw != NULL && krf__raw_source(kernel->raw->raw, t) == NULL) {
        const bool cuda = strcmp(target, "cuda") == 0;
        return krf__fail(KRF_E_UNSUPPORTED, "%s: the raw kernel has no %s source; give its definition one (.%s), or run it on %s", kernel->raw->raw->name, cuda ? "CUDA" : "C", cuda ? "cuda" : "c",
                         cuda ? "the CPU" : "a CUDA device");
    }
    krf__emit(kernel, t, out);
    return out->failed ? krf__fail_memory() : KRF_OK;
}

static void free_text(text *t) {
    krf__str_free(&t->source);
    krf__str_free(&t->key);
}

static krf_status make_text(krf_context *c, const krf__kernel *kernel, text *t) {
    *t = (text){0};
    krf_status status = krf__kernel_source(kernel, c->backend->target, &t->source);
    if (status == KRF_OK) {
        krf__str_putn(&t->key, t->source.data, t->source.length + 1);
        status = c->backend->identity(c->device, &t->key);
    }
    if (status == KRF_OK && t->key.failed) {
        status = krf__fail_memory();
    }
    if (status != KRF_OK) {
        free_text(t);
    }
    return status;
}

/* *module stays NULL on a miss. An entry that does not load is dropped, unless that is not its fault. */
static krf_status load_from_disk(krf_context *c, const text *t, const char *name, krf__module **module) {
    void *image = NULL;
    size_t bytes = 0;
    *module = NULL;
    if (!krf__disk_cache_get(c->disk, t->key.data, t->key.length, &image, &bytes)) {
        return KRF_OK;
    }
    krf_status status = c->backend->load(c->device, image, bytes, name, module);
    krf__mem_free(image);
    if (status == KRF_OK) {
        krf__count(&c->counters.disk_hits, 1);
        return KRF_OK;
    }
    *module = NULL;
    if (status == KRF_E_LOST || status == KRF_E_FORKED || status == KRF_E_MEMORY) {
        return status;
    }
    krf__log_line(&c->log, "%s: the kernel on disk does not load and is compiled anew: %s", name, krf_error_message());
    krf__disk_cache_drop(c->disk, t->key.data, t->key.length);
    return KRF_OK;
}

static krf_status compile(krf_context *c, const text *t, const char *name, krf__module **module) {
    void *image = NULL;
    size_t bytes = 0;
    struct timespec start = {0}, end = {0};
    bool timed = clock_gettime(CLOCK_MONOTONIC, &start) == 0;
    krf__range_begin("compile", name);
    krf_status status = c->backend->compile(c->device, t->source.data, name, &image, &bytes);
    krf__range_end();
    timed = clock_gettime(CLOCK_MONOTONIC, &end) == 0 && timed;
    if (status == KRF_OK) {
        long long us = !timed ? 0 : (end.tv_sec - start.tv_sec) * 1000000LL + (end.tv_nsec - start.tv_nsec) / 1000;
        krf__count(&c->counters.compiled, 1);
        krf__count(&c->counters.compile_us, us);
        krf__log_line(&c->log, "%s: compiled in %lld ms", name, us / 1000);
        status = c->backend->load(c->device, image, bytes, name, module);
    }
    if (status == KRF_OK) {
        krf__disk_cache_put(c->disk, t->key.data, t->key.length, image, bytes);
    }
    krf__mem_free(image);
    return status;
}

/* ---- the thread that compiles ---- */

static void free_job(krf__compile_job *job) {
    free_text(&job->text);
    krf__mem_free(job);
}

static void run_job(krf_context *c, krf__compile_job *job) {
    krf__module *module = NULL;
    krf_status status = compile(c, &job->text, job->name, &module);
    if (status == KRF_OK) {
        atomic_store(&job->loaded->module, module);
    } else {
        krf__log_line(&c->log, "%s stays with the interpreter: %s", job->name, krf_error_message());
    }
    atomic_store(&job->loaded->state, SETTLED);
}

static void *serve(void *user) {
    krf_context *c = user;
    krf__compile_queue *q = &c->queue;
    for (;;) {
        pthread_mutex_lock(&q->lock);
        while (q->first == NULL && !q->stopping) {
            pthread_cond_wait(&q->changed, &q->lock);
        }
        krf__compile_job *job = q->stopping ? NULL : q->first;
        if (job != NULL) {
            q->first = job->next;
            q->last = q->first == NULL ? NULL : q->last;
        }
        pthread_mutex_unlock(&q->lock);
        if (job == NULL) {
            return NULL;
        }
        run_job(c, job);
        free_job(job);
    }
}

/* False when it cannot be done now; the job is then freed. In a child of the process that has the thread there is none,
 * and the lock may never be released. */
static bool enqueue(krf_context *c, krf__compile_job *job) {
    krf__compile_queue *q = &c->queue;
    if (q->pid != (int)getpid()) {
        free_job(job);
        return false;
    }
    pthread_mutex_lock(&q->lock);
    q->started = q->started || (!q->stopping && krf__thread_start(&c->queue.thread, serve, c));
    bool taken = q->started && !q->stopping;
    if (taken) {
        *(q->last != NULL ? &q->last->next : &q->first) = job;
        q->last = job;
        pthread_cond_signal(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    if (!taken) {
        free_job(job);
    }
    return taken;
}

void krf__kernels_stop(krf_context *c) {
    krf__compile_queue *q = &c->queue;
    if (q->pid == (int)getpid()) {
        pthread_mutex_lock(&q->lock);
        q->stopping = true;
        bool join = q->started;
        q->started = false;
        pthread_cond_signal(&q->changed);
        pthread_mutex_unlock(&q->lock);
        if (join) {
            pthread_join(q->thread, NULL);
        }
    }
    while (q->first != NULL) {
        krf__compile_job *job = q->first;
        q->first = job->next;
        atomic_store(&job->loaded->state, SETTLED);
        free_job(job);
    }
    q->last = NULL;
}

/* ---- finding ---- */

typedef struct making {
    krf_context *context;
    const krf__kernel *kernel;
} making;

/* The name of the function in what the compiler makes. */
static const char *symbol_of(const krf_context *c, const krf__kernel *kernel) { return c->is_cuda ? krf__kernel_symbol(kernel) : kernel->name; }

/* Loads it from disk, or compiles it if asked to. */
static krf_status obtain(krf_context *c, const krf__kernel *kernel, bool may_compile, krf__module **module) {
    text t;
    krf_status status = make_text(c, kernel, &t);
    if (status == KRF_OK) {
        status = load_from_disk(c, &t, symbol_of(c, kernel), module);
        if (status == KRF_OK && *module == NULL && may_compile) {
            status = compile(c, &t, symbol_of(c, kernel), module);
            status = status == KRF_E_COMPILE && kernel->n_ops > 0 ? krf__explain_compile(kernel) : status;
        }
        free_text(&t);
    }
    return status;
}

static krf_status make_entry(void *user, void **value) {
    const making *m = user;
    krf_context *c = m->context;
    const bool raw = m->kernel->raw != NULL, must = raw || m->kernel->n_ops > 0; /* the interpreter knows no C */
    const bool can = !c->backend->can_interpret || c->backend->can_compile(c->device);
    bool interpret = c->backend->can_interpret && (c->cpu_tier == KRF_CPU_INTERPRET || !can) && !must;
    bool at_once = !c->backend->can_interpret || c->cpu_tier == KRF_CPU_COMPILE || must;
    if (must && !raw && !can) {
        return krf__explain_missing(m->kernel);
    }
    if (!raw && !c->backend->can_interpret && m->kernel->schedule == KRF__SCAN && krf__accumulator_words(m->kernel, 0) > 1) {
        return krf__explain_wide_scan(m->kernel);
    }
    krf__module *module = NULL;
    krf__loaded *loaded = krf__malloc(sizeof *loaded);
    krf_status status = loaded == NULL ? krf__fail_memory() : KRF_OK;
    if (status == KRF_OK && !interpret) {
        status = obtain(c, m->kernel, at_once, &module);
    }
    if (status != KRF_OK) {
        krf__mem_free(loaded);
        return status;
    }
    atomic_init(&loaded->module, module);
    atomic_init(&loaded->state, interpret || module != NULL ? SETTLED : COLD);
    atomic_init(&loaded->work, 0);
    *value = loaded;
    return KRF_OK;
}

krf_status krf__kernel_find(krf_context *c, const krf__kernel *kernel, krf__loaded **loaded, bool *fresh) {
    making m = {c, kernel}; /* a context has one backend, so that the kernel's key is the whole key */
    void *value = NULL;
    bool hit = false;
    krf_status status = krf__memory_cache_get(c->kernels, kernel->key, kernel->key_bytes, make_entry, &m, &value, &hit);
    *loaded = value;
    *fresh = status == KRF_OK && !hit && krf__kernel_module(value) != NULL;
    return status;
}

bool krf__kernels_compile(const krf_context *c) { return !c->backend->can_interpret || c->cpu_tier == KRF_CPU_COMPILE; }

bool krf__kernel_known(krf_context *c, const krf__kernel *kernel) { return krf__memory_cache_has(c->kernels, kernel->key, kernel->key_bytes); }

krf__module *krf__kernel_module(krf__loaded *loaded) {
    return atomic_load_explicit(&loaded->module, memory_order_acquire);
}

void krf__kernel_unload(krf_context *c, krf__loaded *loaded) {
    krf__module *module = krf__kernel_module(loaded);
    if (module != NULL) {
        c->backend->unload(c->device, module);
    }
    krf__mem_free(loaded);
}

/* ---- using ---- */

static long long work_of(const krf__kernel *k) {
    long long n;
    return __builtin_mul_overflow(k->kept_size, k->reduced_size, &n)
                   || __builtin_mul_overflow(n, (long long)k->n_instrs, &n)
               ? INT64_MAX / 2
               : n;
}

/* Its state is BUSY, and it is this thread that made it so. */
static krf_status compile_cold(krf_context *c, krf__loaded *loaded, const krf__kernel *kernel, krf__module **module) {
    krf__compile_job *job = krf__calloc(1, sizeof *job);
    krf_status status = job == NULL ? krf__fail_memory() : make_text(c, kernel, &job->text);
    if (status != KRF_OK) {
        krf__mem_free(job);
        atomic_store(&loaded->state, COLD);
        return status;
    }
    job->loaded = loaded;
    memcpy(job->name, kernel->name, sizeof job->name);
    if (c->blocking_compile) {
        run_job(c, job);
        free_job(job);
        *module = krf__kernel_module(loaded);
    } else if (!enqueue(c, job)) {
        atomic_store(&loaded->state, COLD);
    }
    return KRF_OK;
}

krf_status krf__kernel_use(krf_context *c, krf__loaded *loaded, const krf__kernel *kernel, krf__use use,
                           krf__module **module) {
    krf_status status = KRF_OK;
    *module = krf__kernel_module(loaded);
    if (*module != NULL) {
        krf__count(&c->counters.memory_hits, use == KRF__USE_RUN);
        return KRF_OK;
    }
    if (atomic_load_explicit(&loaded->state, memory_order_relaxed) == COLD) {
        long long work = work_of(kernel);
        long long total = work + (use == KRF__USE_PREPARE ? 0 : atomic_fetch_add(&loaded->work, work));
        int cold = COLD;
        if ((work >= LARGE_RUN || total >= LARGE_TOTAL)
            && atomic_compare_exchange_strong(&loaded->state, &cold, BUSY)) {
            status = compile_cold(c, loaded, kernel, module);
        }
    }
    if (*module == NULL && status == KRF_OK) {
        krf__count(&c->counters.interpreted, use != KRF__USE_PREPARE);
    }
    return status;
}
