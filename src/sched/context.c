/* Opens and closes a context: chooses the backend, makes the caches, and takes all of it down when the last reference
 * goes. */
#include "sched/context.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/ranges.h"
#include "sched/kernels.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool krf__device_parse(const char *text, krf__device_kind *kind, int *index, const char **uuid) {
    *index = 0;
    *uuid = NULL;
    if (text == NULL || strcmp(text, "auto") == 0) {
        *kind = KRF__DEVICE_AUTO;
        return true;
    }
    if (strcmp(text, "cpu") == 0) {
        *kind = KRF__DEVICE_CPU;
        return true;
    }
    if (strncmp(text, "cuda", 4) != 0) {
        return false;
    }
    *kind = KRF__DEVICE_CUDA;
    text += 4;
    if (*text == '\0') {
        return true;
    }
    if (*text++ != ':' || *text == '\0') {
        return false;
    }
    if (strncasecmp(text, "GPU-", 4) == 0) {
        *uuid = text;
        return strlen(text) < 48 && text[4 + strspn(text + 4, "0123456789abcdefABCDEF-")] == '\0';
    }
    for (; *text >= '0' && *text <= '9' && *index < 100000; text++) {
        *index = *index * 10 + (*text - '0');
    }
    return *text == '\0';
}

static krf_status open_device(krf_context *c, const krf_context_options *o) {
    krf__device_kind kind = KRF__DEVICE_AUTO;
    c->threads = o->threads;
    krf__device_options options = {.threads = o->threads,
                                   .compiler = o->compiler,
                                   .cuda_driver = o->cuda_driver,
                                   .nvrtc = o->nvrtc,
                                   .log = &c->log};
    krf_status status = KRF_E_DEVICE;
    krf__device_parse(o->device, &kind, &options.index, &options.uuid);
    if (kind != KRF__DEVICE_CPU) {
        c->backend = &krf__backend_cuda;
        c->is_cuda = true;
        status = c->backend->open(&options, &c->device);
        if (status != KRF_OK && kind == KRF__DEVICE_AUTO) {
            krf__log_line(&c->log, "no CUDA device, the CPU is used: %s", krf_error_message());
        }
    }
    if (kind == KRF__DEVICE_CPU || (kind == KRF__DEVICE_AUTO && status != KRF_OK)) {
        c->backend = &krf__backend_cpu;
        c->is_cuda = false;
        status = c->backend->open(&options, &c->device);
    }
    return status;
}

static krf_status open_pool(krf_context *c, const krf_context_options *o) {
    krf_device_info info = {.size = sizeof info};
    krf__pool_options options = {.keeps = c->is_cuda && o->allocator == NULL && !o->exact_memory};
    krf_status status = o->memory_limit != NULL ? c->backend->info(c->device, &info) : KRF_OK;
    krf__memory_limit_parse(o->memory_limit, (size_t)info.memory, &options.limit);
    if (o->allocator != NULL) {
        options.allocator = *o->allocator;
        krf__order_share(c->order); /* it gets the stream */
    }
    return status == KRF_OK ? krf__pool_create(c->backend, c->device, c->order, &options, &c->pool) : status;
}

static krf_status fill(krf_context *c, const krf_context_options *o) {
    krf_status status = open_device(c, o);
    if (status == KRF_OK) {
        krf__limits_of_device(&c->limits, c->backend->row(c->device), c->backend->blocks(c->device), c->backend->many_threads);
        status = krf__order_create(c->backend, c->device, &c->order);
    }
    if (status == KRF_OK) {
        status = open_pool(c, o);
    }
    if (status == KRF_OK) {
        status = krf__staging_create(c->backend, c->device, &c->staging);
    }
    if (status == KRF_OK && o->nvrtc != NULL) {
        c->nvrtc = krf__strdup(o->nvrtc);
        status = c->nvrtc != NULL ? KRF_OK : krf__fail_memory();
    }
    if (status == KRF_OK) {
        c->kernels = krf__memory_cache_create();
        c->disk = krf__disk_cache_create(o->cache_dir, o->cache, o->cache_limit, &c->log);
        status = c->kernels != NULL && c->disk != NULL ? KRF_OK : krf__fail_memory();
    }
    return status;
}

krf_status krf__context_open(const krf_context_options *options, krf_context **context) {
    krf_context *c = krf__calloc(1, sizeof *c);
    *context = NULL;
    if (c == NULL) {
        return krf__fail_memory();
    }
    atomic_init(&c->references, 1);
    c->cpu_tier = options->cpu_tier;
    c->blocking_compile = options->blocking_compile;
    krf__limits_parse(options->fusion, &c->asked);
    c->limits = c->asked;
    c->fast = options->math == KRF_MATH_FAST;
    krf__defined_open(&c->defined);
    pthread_mutex_init(&c->plans.lock, NULL);
    pthread_mutex_init(&c->lengths.lock, NULL);
    pthread_mutex_init(&c->queue.lock, NULL);
    pthread_cond_init(&c->queue.changed, NULL);
    c->queue.pid = (int)getpid();
    krf__log_open(&c->log, options->log, options->log_user);
    krf__ranges_open();
    const char *dump = secure_getenv("KRF_DUMP"); /* a set-uid program must not write where its caller says */
    c->dump = dump != NULL && dump[0] != '\0' ? krf__strdup(dump) : NULL;
    krf_status status = fill(c, options);
    if (status != KRF_OK) {
        krf__context_release(c);
        return status;
    }
    *context = c;
    return KRF_OK;
}

void krf__context_retain(krf_context *context) { atomic_fetch_add(&context->references, 1); }

static void free_kernel(void *user, void *value) {
    krf_context *c = user;
    krf__kernel_unload(c, value);
}

void krf__context_release(krf_context *c) {
    if (c == NULL || atomic_fetch_sub(&c->references, 1) != 1) {
        return;
    }
    krf__kernels_stop(c);
    krf__plan_cache_free(&c->plans);
    krf__memory_cache_destroy(c->kernels, free_kernel, c);
    krf__staging_destroy(c->staging);
    krf__pool_destroy(c->pool);
    krf__order_destroy(c->order);
    if (c->device != NULL) {
        c->backend->close(c->device);
    }
    krf__disk_cache_destroy(c->disk);
    krf__defined_close(&c->defined);
    krf__log_close(&c->log);
    krf__mem_free(c->nvrtc);
    krf__mem_free(c->dump);
    pthread_cond_destroy(&c->queue.changed);
    pthread_mutex_destroy(&c->queue.lock);
    pthread_mutex_destroy(&c->plans.lock);
    krf__mem_free(c);
}
