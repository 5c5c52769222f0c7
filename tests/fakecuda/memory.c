/* Entry points that allocate and free device memory. */
#include "heap.h"

#include "stream.h"

#include <stdlib.h>
#include <string.h>

struct CUmemPoolHandle_st {
    fake_object object;
    int device;
    atomic_uint users; /* devices that may use its memory, as bits */
};

unsigned fake_pool_users(cu_pool pool) { return atomic_load_explicit(&pool->users, memory_order_relaxed); }

cu_result cuMemAlloc_v2(cu_address *address, size_t bytes) {
    ENTER(cuMemAlloc_v2, FAKE_NEEDS_CURRENT);
    cu_result refused = fake_capture_refuses(NULL);
    if (refused) {
        return refused;
    }
    if (!address || bytes == 0) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemAlloc: nowhere to put the address, or 0 bytes");
    }
    fake_memory *m = fake_heap_new(bytes, NULL, NULL);
    if (!m) {
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    fake_heap_begin(m);
    *address = (cu_address)(uintptr_t)m->user;
    return KRF__CUDA_SUCCESS;
}

/* Waits for all work, as the real one does for memory of cuMemAlloc. */
cu_result cuMemFree_v2(cu_address address) {
    ENTER(cuMemFree_v2, FAKE_NEEDS_CURRENT);
    cu_result refused = fake_capture_refuses(NULL);
    if (refused) {
        return refused;
    }
    if (address == 0) {
        return KRF__CUDA_SUCCESS;
    }
    fake_memory *m = fake_heap_find(address);
    if (!m) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemFree: %#llx is not the start of an allocation", address);
    }
    fake_drain_all();
    fake_heap_end(m);
    fake_heap_delete(m);
    return fake_stuck();
}

cu_result cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER(cuMemGetInfo_v2, FAKE_NEEDS_CURRENT);
    if (!available || !total) {
        return FAKE_INVALID_VALUE;
    }
    size_t used;
    fake_heap_usage(&used);
    *total = fake_total_memory();
    *available = *total - used;
    return KRF__CUDA_SUCCESS;
}

/* ---- pools ---- */

cu_result cuMemPoolCreate(cu_pool *pool, const cu_pool_properties *properties) {
    ENTER(cuMemPoolCreate, FAKE_NEEDS_HEALTH);
    if (!pool || !properties || properties->allocation_type != KRF__CU_MEM_ALLOCATION_TYPE_PINNED
        || properties->handle_types != KRF__CU_MEM_HANDLE_TYPE_NONE
        || properties->location.type != KRF__CU_MEM_LOCATION_TYPE_DEVICE || properties->location.id < 0
        || properties->location.id >= fake_devices()) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemPoolCreate: properties that are not simulated");
    }
    for (size_t i = 0; i < sizeof properties->reserved; i++) {
        if (properties->reserved[i] != 0) {
            return fake_misuse(FAKE_INVALID_VALUE, "cuMemPoolCreate: reserved bytes must be 0");
        }
    }
    cu_pool p = calloc(1, sizeof *p);
    if (!p) {
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    p->device = properties->location.id;
    atomic_init(&p->users, 1u << p->device);
    fake_object_add(&p->object, FAKE_POOL);
    *pool = p;
    return KRF__CUDA_SUCCESS;
}

/* The real one lives on until its memory is freed; here it must be freed, and its frees must have happened. */
cu_result cuMemPoolDestroy(cu_pool pool) {
    ENTER(cuMemPoolDestroy, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(pool, FAKE_POOL);
    fake_drain_all();
    size_t left = fake_heap_trim(pool);
    if (left > 0) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemPoolDestroy: %zu bytes of the pool are in use", left);
    }
    fake_object_remove(&pool->object);
    free(pool);
    return KRF__CUDA_SUCCESS;
}

cu_result cuMemPoolSetAttribute(cu_pool pool, cu_enum attribute, void *value) {
    ENTER(cuMemPoolSetAttribute, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(pool, FAKE_POOL);
    if (attribute != KRF__CU_MEMPOOL_ATTR_RELEASE_THRESHOLD || !value) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemPoolSetAttribute: attribute %u is not simulated", attribute);
    }
    return KRF__CUDA_SUCCESS; /* the pool keeps everything until it is trimmed */
}

cu_result cuMemPoolSetAccess(cu_pool pool, const cu_access *accesses, size_t count) {
    ENTER(cuMemPoolSetAccess, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(pool, FAKE_POOL);
    for (size_t i = 0; i < count; i++) {
        const cu_access *a = &accesses[i];
        const unsigned bit = 1u << a->location.id;
        if (a->location.type != KRF__CU_MEM_LOCATION_TYPE_DEVICE || a->location.id < 0 || a->location.id >= fake_devices()
            || (a->flags != 0 && a->flags != KRF__CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) {
            return fake_misuse(FAKE_INVALID_VALUE, "cuMemPoolSetAccess: device %d, flags %#x", a->location.id, a->flags);
        }
        if (a->location.id == pool->device ? a->flags == 0 : !fake_reach(a->location.id, pool->device)) {
            return FAKE_INVALID_DEVICE;
        }
        if (a->flags != 0) {
            atomic_fetch_or_explicit(&pool->users, bit, memory_order_relaxed);
        } else {
            atomic_fetch_and_explicit(&pool->users, ~bit, memory_order_relaxed);
        }
    }
    return KRF__CUDA_SUCCESS;
}

cu_result cuMemPoolTrimTo(cu_pool pool, size_t bytes_kept) {
    ENTER(cuMemPoolTrimTo, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(pool, FAKE_POOL);
    if (bytes_kept == 0) {
        fake_heap_trim(pool);
    }
    return KRF__CUDA_SUCCESS;
}

/* ---- in stream order ---- */

/* What happens in the stream works on copies: the host may hand the block out again while its end is still to come. They
   are made under the lock: the block's neighbours in the list may go meanwhile. */
static fake_memory record(const fake_memory *m) {
    pthread_rwlock_rdlock(&fake_lock);
    const fake_memory copy = *m;
    pthread_rwlock_unlock(&fake_lock);
    return copy;
}

static void begin(void *payload) { fake_heap_begin(payload); }
static void end(void *payload) { fake_heap_end(payload); }

cu_result cuMemAllocFromPoolAsync(cu_address *address, size_t bytes, cu_pool pool, cu_stream stream) {
    ENTER(cuMemAllocFromPoolAsync, FAKE_NEEDS_CURRENT);
    CHECK_HANDLE(pool, FAKE_POOL);
    FIND_STREAM(s, stream);
    if (!address || bytes == 0) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemAllocFromPoolAsync: nowhere to put the address, or 0 bytes");
    }
    CHECK_DEVICE(pool, s->device);
    cu_result captured = fake_capture_refuses(NULL);
    if (captured || fake_captured(s, &captured)) {
        return captured;
    }
    fake_memory *m = fake_heap_new(bytes, pool, s);
    if (!m) {
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    const fake_memory copy = record(m);
    fake_enqueue(s, begin, &copy, sizeof copy);
    *address = (cu_address)(uintptr_t)m->user;
    return KRF__CUDA_SUCCESS;
}

cu_result cuMemFreeAsync(cu_address address, cu_stream stream) {
    ENTER(cuMemFreeAsync, FAKE_NEEDS_CURRENT);
    FIND_STREAM(s, stream);
    fake_memory *m = fake_heap_find(address);
    if (!m || !m->pool) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemFreeAsync: %#llx is not the start of memory of a pool", address);
    }
    cu_result captured = fake_capture_refuses(NULL);
    if (captured || fake_captured(s, &captured)) {
        return captured;
    }
    const fake_memory copy = record(m);
    uint64_t seq = fake_enqueue(s, end, &copy, sizeof copy);
    fake_heap_retire(m, s, seq);
    return KRF__CUDA_SUCCESS;
}
