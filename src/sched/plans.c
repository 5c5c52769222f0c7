/* Makes plans ready to run, names them by canonical bytes, and keeps the ones that krf_eval used last. */
#include "sched/plans.h"

#include "backend/backend.h"

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ir/raw.h"
#include "plan/arguments.h"

#include <string.h>

static void measure(krf__compiled *c) {
    for (uint32_t i = 0; i < c->data.n_kernels; i++) {
        const krf__kernel *k = &c->data.kernels[i];
        size_t scratch = krf__scratch_bytes(k), tickets = krf__ticket_count(k);
        uint32_t fields = krf__argument_fields(k);
        c->scratch_bytes = scratch > c->scratch_bytes ? scratch : c->scratch_bytes;
        c->tickets = tickets > c->tickets ? tickets : c->tickets;
        c->fields = fields > c->fields ? fields : c->fields;
        c->operands = k->n_operands > c->operands ? k->n_operands : c->operands;
        c->scalars = k->n_scalars > c->scalars ? k->n_scalars : c->scalars;
    }
    if (c->data.n_kernels == 1 && c->data.kernels[0].early) {
        int64_t read, written;
        krf__kernel_bytes(&c->data.kernels[0], &read, &written);
        c->overlapped = read + written;
    }
}

/* As krf__plan_make; with kernels for all lengths of rows, where there have been enough whose kernels know theirs. */
static krf_status make(const krf_graph *lowered, int n, const uint32_t *outputs, const krf__plan_options *options, krf__lengths *lengths, krf__plan_data *data) {
    krf_status status = krf__plan_make(lowered, n, outputs, options, data);
    if (status == KRF_OK && !krf__lengths_admit(lengths, data)) {
        krf__limits limits = *options->limits;
        krf__plan_options general = *options;
        limits.literal = 0;
        general.limits = &limits;
        krf__plan_free(data);
        status = krf__plan_make(lowered, n, outputs, &general, data);
    }
    return status;
}

krf_status krf__compiled_make(const krf_graph *lowered, int n, const uint32_t *outputs, const krf__plan_options *options, krf__lengths *lengths, krf__compiled **compiled) {
    krf__compiled *c = krf__calloc(1, sizeof *c);
    *compiled = NULL;
    if (c == NULL) {
        return krf__fail_memory();
    }
    krf_status status = make(lowered, n, outputs, options, lengths, &c->data);
    if (status != KRF_OK) {
        krf__mem_free(c);
        return status;
    }
    atomic_init(&c->references, 1);
    c->loaded = krf__malloc(c->data.n_kernels * sizeof *c->loaded);
    if (c->loaded == NULL) {
        krf__compiled_release(c);
        return krf__fail_memory();
    }
    for (uint32_t i = 0; i < c->data.n_kernels; i++) {
        atomic_init(&c->loaded[i], NULL);
    }
    measure(c);
    *compiled = c;
    return KRF_OK;
}

void krf__compiled_release(krf__compiled *c) {
    if (c != NULL && atomic_fetch_sub(&c->references, 1) == 1) {
        for (int i = 0; i < KRF__REPLAYS; i++) {
            krf__replay *replay = atomic_load(&c->replays[i].replay);
            if (replay != NULL) {
                c->replays[i].kind->free(c->replays[i].device, replay);
            }
        }
        krf__plan_free(&c->data);
        krf__mem_free((void *)c->loaded);
        krf__mem_free(c);
    }
}

void krf__route_release(krf__route *r) {
    if (r != NULL && atomic_fetch_sub(&r->references, 1) == 1) {
        krf__compiled_release(r->compiled);
        krf__mem_free(r);
    }
}

/* ---- the cache ---- */

void krf__plan_cache_free(krf__plan_cache *cache) {
    for (int i = 0; i < cache->n; i++) {
        krf__mem_free(cache->entries[i].key);
        krf__route_release(cache->entries[i].route);
    }
    cache->n = 0;
}

/* The lock is held. */
static krf__plan_entry *find(krf__plan_cache *cache, uint64_t hash, const void *key, size_t bytes) {
    for (int i = 0; i < cache->n; i++) {
        krf__plan_entry *e = &cache->entries[i];
        if (cache->hashes[i] == hash && e->bytes == bytes && memcmp(e->key, key, bytes) == 0) {
            e->used = ++cache->now;
            return e;
        }
    }
    return NULL;
}

krf__route *krf__plan_cache_get(krf__plan_cache *cache, const void *key, size_t bytes) {
    uint64_t hash = krf__hash64(key, bytes);
    pthread_mutex_lock(&cache->lock);
    krf__plan_entry *e = find(cache, hash, key, bytes);
    krf__route *found = e != NULL ? e->route : NULL;
    if (found != NULL) {
        atomic_fetch_add(&found->references, 1);
    }
    pthread_mutex_unlock(&cache->lock);
    return found;
}

void krf__plan_cache_put(krf__plan_cache *cache, const void *key, size_t bytes, krf__route *route) {
    uint64_t hash = krf__hash64(key, bytes);
    krf__plan_entry dropped = {0};
    void *copy = krf__malloc(bytes);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, key, bytes);
    pthread_mutex_lock(&cache->lock);
    if (find(cache, hash, key, bytes) != NULL) { /* another thread was faster */
        dropped.key = copy;
    } else {
        int place = cache->n < KRF__PLANS_KEPT ? cache->n++ : 0;
        if (place == 0 && cache->n == KRF__PLANS_KEPT) {
            for (int i = 1; i < cache->n; i++) {
                place = cache->entries[i].used < cache->entries[place].used ? i : place;
            }
            dropped = cache->entries[place];
        }
        atomic_fetch_add(&route->references, 1);
        cache->hashes[place] = hash;
        cache->entries[place] =
            (krf__plan_entry){.key = copy, .bytes = bytes, .route = route, .used = ++cache->now};
    }
    pthread_mutex_unlock(&cache->lock);
    krf__mem_free(dropped.key);
    krf__route_release(dropped.route);
}

/* ---- keys ---- */

static void put64(krf__str *s, uint64_t value) { krf__str_putn(s, (const char *)&value, sizeof value); }
static void put_many(krf__str *s, size_t n, const int64_t *values) {
    krf__str_putn(s, (const char *)values, n * sizeof *values);
}

void krf__plan_key(const krf_graph *g, int n, const uint32_t *outputs, const krf__plan_options *options,
                   krf__str *key) {
    put64(key, g->n_nodes);
    for (uint32_t id = 1; id < g->n_nodes; id++) {
        const krf__node *node = krf__node_of(g, id);
        /* The values of an enumeration serve: these bytes never leave the process. */
        put64(key, (uint64_t)node->op | (uint64_t)node->dtype << 16 | (uint64_t)node->weak << 24
                       | (uint64_t)node->rank << 32 | (uint64_t)node->keepdims << 40 | (uint64_t)(node->op == KRF__scalar ? 0 : node->n_ints) << 48);
        put64(key, node->args[0] | (uint64_t)node->args[1] << 32);
        put64(key, node->args[2]);
        if (node->op == KRF__call || krf__op_is_fold((krf__op)node->op)) {
            const krf__result *result = krf__result_of(node->value);
            put64(key, (uint64_t)result->index | (uint64_t)result->op->text_bytes << 8);
            krf__str_putn(key, result->op->text, result->op->text_bytes);
        } else {
            put64(key, node->op == KRF__scalar ? 0 : node->value);
        }
        put_many(key, node->rank, krf__shape_of(g, id));
        put_many(key, node->op == KRF__scalar ? 0 : node->n_ints, krf__ints_of(g, id));
    }
    put64(key, g->n_arrays);
    for (size_t i = 0; i < g->n_arrays; i++) { /* dtype and shape stand in the nodes */
        put64(key, (uint64_t)g->arrays[i]->rank);
        put_many(key, (size_t)g->arrays[i]->rank, g->arrays[i]->strides);
    }
    put64(key, g->n_raws);
    for (size_t i = 0; i < g->n_raws; i++) {
        put64(key, g->raws[i]->key_bytes);
        krf__str_putn(key, (const char *)g->raws[i]->key, g->raws[i]->key_bytes);
    }
    const krf__limits *limits = options->limits != NULL ? options->limits : &krf__default_limits;
    put64(key, options->unaligned);
    put64(key, limits->operations | (uint64_t)limits->fields << 32);
    put64(key, limits->results | (uint64_t)limits->repeated << 32);
    put64(key, limits->prologue | (uint64_t)limits->epilogue << 32);
    put64(key, limits->row | (uint64_t)limits->unrolled << 32);
    put64(key, limits->reductions | (uint64_t)limits->columns << 32);
    put64(key, limits->columns_unrolled | (uint64_t)limits->narrow_from << 32);
    put64(key, limits->chunk | (uint64_t)limits->whole << 32 | (uint64_t)limits->early << 33 | (uint64_t)limits->literal << 34);
    put64(key, limits->literal_from | (uint64_t)limits->teams << 32 | (uint64_t)limits->held << 33 | (uint64_t)limits->strips << 34 | (uint64_t)limits->vectors << 35 | (uint64_t)limits->loose << 36 | (uint64_t)limits->outer << 60);
    put64(key, limits->spread | (uint64_t)limits->tables << 32);
    put64(key, limits->pairs | (uint64_t)limits->relay << 32);
    put64(key, limits->blocks | (uint64_t)limits->again << 32);
    put64(key, limits->widen | (uint64_t)limits->flat << 32);
    put64(key, limits->recur);
    put64(key, limits->walk | (uint64_t)limits->beside << 32 | (uint64_t)limits->many_threads << 63);
    put64(key, (uint64_t)n);
    for (int k = 0; k < n; k++) {
        const int64_t *strides = options->output_strides != NULL ? options->output_strides[k] : NULL;
        put64(key, outputs[k] | (uint64_t)(strides != NULL) << 32);
        if (strides != NULL) {
            put_many(key, krf__node_of(g, outputs[k])->rank, strides);
        }
    }
}

void krf__built_key(const krf_graph *g, int n, const uint32_t *outputs, const krf__plan_options *options, krf__str *key) {
    krf__plan_key(g, n, outputs, options, key);
    for (size_t i = 0; i < g->n_arrays; i++) {
        put64(key, krf__array_aligned(g->arrays[i]));
    }
    put64(key, true); /* a lowered graph's key ends with its outputs */
}

uint32_t krf__plan_values(const krf_graph *g, uint64_t *values) {
    uint32_t n = 0;
    for (uint32_t id = 1; id < g->n_nodes; id++) {
        if (krf__node_of(g, id)->op == KRF__scalar) {
            values[n++] = krf__node_of(g, id)->value;
        }
    }
    return n;
}
