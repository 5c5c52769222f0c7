/* Contexts as the user sees them: options from the environment, checks, facts and counters. */
#include "sched/context.h"

#include "api/environment.h"
#include "api/info.h"
#include "sched/kernels.h"

#include <string.h>

static krf__bad_variable read_defaults(krf_context_options *o) {
    *o = (krf_context_options){.size = sizeof *o, .cpu_tier = KRF_CPU_AUTO, .cache = KRF_CACHE_ON};
    return krf__environment_read(o);
}

krf_context_options krf_context_options_default(void) {
    krf_context_options o;
    read_defaults(&o); /* krf_context_create says what is wrong there */
    return o;
}

static krf_status check(const krf_context_options *o) {
    krf__device_kind kind;
    int index;
    const char *uuid;
    if (!krf__device_parse(o->device, &kind, &index, &uuid)) {
        return krf__fail(KRF_E_ARGUMENT, "\"%s\" is no device; \"auto\", \"cpu\", \"cuda\", \"cuda:1\" and \"cuda:GPU-<uuid>\" are",
                         o->device);
    }
    if (o->threads < 0) {
        return krf__fail(KRF_E_ARGUMENT, "threads: %d is negative", o->threads);
    }
    if ((unsigned)o->cpu_tier > KRF_CPU_AUTO || (unsigned)o->cache > KRF_CACHE_OFF || o->cache_limit < 0) {
        return krf__fail(KRF_E_ARGUMENT, "the options of the context: %s is not valid",
                         (unsigned)o->cpu_tier > KRF_CPU_AUTO ? "cpu_tier"
                         : o->cache_limit < 0                 ? "cache_limit"
                                                              : "cache");
    }
    if ((unsigned)o->math > KRF_MATH_FAST) {
        return krf__fail(KRF_E_ARGUMENT, "math: %d is neither KRF_MATH_PRECISE nor KRF_MATH_FAST", (int)o->math);
    }
    krf__limits limits;
    if (!krf__limits_parse(o->fusion, &limits)) {
        return krf__fail(KRF_E_ARGUMENT, "fusion: \"%s\" is neither \"off\" nor limits such as \"operations=8,results=1\"",
                         o->fusion);
    }
    size_t bytes;
    if (!krf__memory_limit_parse(o->memory_limit, 1, &bytes)) {
        return krf__fail(KRF_E_ARGUMENT, "memory_limit: \"%s\" is no number of bytes such as \"8G\", \"512M\" or \"50%%\"",
                         o->memory_limit);
    }
    if (o->allocator != NULL && (o->allocator->allocate == NULL || o->allocator->deallocate == NULL)) {
        return krf__fail(KRF_E_ARGUMENT, "allocator: %s is NULL",
                         o->allocator->allocate == NULL ? "allocate" : "deallocate");
    }
    return KRF_OK;
}

krf_status krf_context_create(const krf_context_options *options, krf_context **context) {
    if (context == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_context_create: context is NULL");
    }
    *context = NULL;
    krf_context_options whole;
    const krf__bad_variable bad = read_defaults(&whole);
    if (bad.name != NULL) {
        return krf__fail(KRF_E_ARGUMENT, "the environment variable %s: \"%s\" is not valid; %s", bad.name, bad.value, bad.right);
    }
    if (options != NULL) {
        if (options->size <= sizeof options->size) {
            return krf__fail(KRF_E_ARGUMENT, "krf_context_create: start from krf_context_options_default()");
        }
        memcpy(&whole, options, options->size < sizeof whole ? options->size : sizeof whole);
    }
    krf_status status = check(&whole);
    return status == KRF_OK ? krf__context_open(&whole, context) : status;
}

void krf_context_destroy(krf_context *context) {
    if (context != NULL) {
        context->backend->synchronize(context->device, NULL); /* a failure has no one left to go to */
        krf__kernels_stop(context);
        krf__context_release(context);
    }
}

krf_status krf_context_synchronize(krf_context *context) {
    return context != NULL ? context->backend->synchronize(context->device, NULL)
                           : krf__fail(KRF_E_ARGUMENT, "krf_context_synchronize: context is NULL");
}

krf_status krf_context_device(krf_context *context, krf_device_info *info) {
    krf_device_info full = {0};
    if (context == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_context_device: context is NULL");
    }
    krf_status status = context->backend->info(context->device, &full);
    return status == KRF_OK ? krf__info_give("krf_context_device", info, &full, sizeof full) : status;
}

krf_status krf_context_cache_stats(krf_context *context, krf_cache_stats *stats) {
    if (context == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_context_cache_stats: context is NULL");
    }
    const krf__counters *c = &context->counters;
    krf__disk_counters disk;
    krf__disk_cache_counters(context->disk, &disk);
    krf_cache_stats full = {.plan_hits = atomic_load(&c->plan_hits),
                            .plan_misses = atomic_load(&c->plan_misses),
                            .memory_hits = atomic_load(&c->memory_hits),
                            .disk_hits = atomic_load(&c->disk_hits),
                            .compiled = atomic_load(&c->compiled),
                            .interpreted = atomic_load(&c->interpreted),
                            .disk_bytes_read = disk.bytes_read,
                            .disk_bytes_written = disk.bytes_written,
                            .disk_evictions = disk.evictions,
                            .disk_faults = disk.faults,
                            .compile_ms = (double)atomic_load(&c->compile_us) / 1000,
                            .launches = atomic_load(&c->launches),
                            .replays = atomic_load(&c->replays),
                            .overlapped = atomic_load(&c->overlapped)};
    return krf__info_give("krf_context_cache_stats", stats, &full, sizeof full);
}

krf_status krf_context_memory_stats(krf_context *context, krf_memory_stats *stats) {
    if (context == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_context_memory_stats: context is NULL");
    }
    krf_memory_stats full = {0};
    krf__pool_stats(context->pool, &full);
    return krf__info_give("krf_context_memory_stats", stats, &full, sizeof full);
}

krf_status krf_context_trim(krf_context *context) {
    if (context == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_context_trim: context is NULL");
    }
    krf__staging_trim(context->staging);
    krf__pool_trim(context->pool);
    return KRF_OK;
}
