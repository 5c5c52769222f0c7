/* The kernels of a plan. What must be compiled is compiled by several threads, which have ended when this returns: a compiler is the most that a first run waits for,
 * and NVRTC takes one processor a kernel. */
#include "sched/find.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/thread.h"

#include <unistd.h>

enum { MOST_THREADS = 8 };

typedef struct finding {
    krf_context *context;
    krf__compiled *compiled;
    bool *fresh; /* of each kernel: it was not there before, and has been counted. NULL: all are there */
    atomic_uint next;
} finding;

static krf_status find_one(finding *f, uint32_t i) {
    krf__loaded *loaded = NULL;
    if (atomic_load_explicit(&f->compiled->loaded[i], memory_order_acquire) != NULL) {
        return KRF_OK;
    }
    krf_status status = krf__kernel_find(f->context, &f->compiled->data.kernels[i], &loaded, &f->fresh[i]);
    if (status == KRF_OK) {
        atomic_store_explicit(&f->compiled->loaded[i], loaded, memory_order_release);
    }
    return status;
}

/* What fails is tried again by the thread that asked, so that it has the message. */
static void *find_some(void *user) {
    finding *f = user;
    for (uint32_t i; (i = atomic_fetch_add(&f->next, 1)) < f->compiled->data.n_kernels;) {
        (void)find_one(f, i);
    }
    return NULL;
}

/* How many kernels are neither here nor in the context: each costs a look on the disk, or a compilation. */
static int missing(const finding *f) {
    const krf__compiled *c = f->compiled;
    int n = 0;
    for (uint32_t i = 0; i < c->data.n_kernels && n < MOST_THREADS; i++) {
        n += atomic_load_explicit(&c->loaded[i], memory_order_acquire) == NULL && !krf__kernel_known(f->context, &c->data.kernels[i]);
    }
    return n;
}

static void find_side_by_side(finding *f, int threads) {
    pthread_t others[MOST_THREADS];
    int n = 0;
    while (n < threads - 1 && krf__thread_start(&others[n], find_some, f)) {
        n++;
    }
    find_some(f);
    while (n > 0) {
        pthread_join(others[--n], NULL);
    }
}

static bool all_loaded(const krf__compiled *c) {
    bool all = true;
    for (uint32_t i = 0; all && i < c->data.n_kernels; i++) {
        all = atomic_load_explicit(&c->loaded[i], memory_order_acquire) != NULL;
    }
    return all;
}

/* Those that are not there yet, as far as they can be had. */
static void find_missing(finding *f) {
    const int n = krf__kernels_compile(f->context) ? missing(f) : 0;
    const long most = n < 2 ? 1 : f->context->threads > 0 ? f->context->threads : sysconf(_SC_NPROCESSORS_ONLN); /* which reads a file */
    if (n > 1 && most > 1) {
        find_side_by_side(f, n < most ? n : (int)most);
    }
}

/* A warm run has all its kernels: it allocates nothing and asks nobody. */
krf_status krf__kernels_find(krf_context *context, krf__compiled *compiled, krf__module **modules) {
    const uint32_t n = compiled->data.n_kernels;
    finding f = {.context = context, .compiled = compiled};
    krf_status status = KRF_OK;
    if (!all_loaded(compiled)) {
        f.fresh = krf__calloc(n, sizeof *f.fresh);
        if (f.fresh == NULL) {
            return krf__fail_memory();
        }
        find_missing(&f);
    }
    for (uint32_t i = 0; status == KRF_OK && i < n; i++) {
        krf__module *module = NULL;
        status = find_one(&f, i);
        const krf__use use = modules == NULL ? KRF__USE_PREPARE : f.fresh != NULL && f.fresh[i] ? KRF__USE_FRESH : KRF__USE_RUN;
        status = status == KRF_OK ? krf__kernel_use(context, compiled->loaded[i], &compiled->data.kernels[i], use, &module) : status;
        if (modules != NULL) {
            modules[i] = module;
        }
    }
    krf__mem_free(f.fresh);
    return status;
}
