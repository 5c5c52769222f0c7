/* Pinned memory of the host, and what kind of memory an address is. */
#include "heap.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

typedef struct pinned {
    fake_object object;
    unsigned char *data;
    size_t bytes;
} pinned;

enum { UNWRITTEN = 0xc5 };

cu_result cuMemHostAlloc(void **data, size_t bytes, unsigned int flags) {
    ENTER(cuMemHostAlloc, FAKE_NEEDS_CURRENT);
    if (!data || bytes == 0 || (flags & ~7u) != 0) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemHostAlloc: %zu bytes, flags %#x", bytes, flags);
    }
    cu_result refused = fake_capture_refuses(NULL);
    if (refused) {
        return refused;
    }
    pinned *p = calloc(1, sizeof *p);
    unsigned char *memory = p && bytes < SIZE_MAX / 4 ? malloc(bytes) : NULL;
    if (!memory) {
        free(p);
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    memset(memory, UNWRITTEN, bytes);
    p->data = memory;
    p->bytes = bytes;
    fake_object_add(&p->object, FAKE_PINNED);
    *data = memory;
    return KRF__CUDA_SUCCESS;
}

static pinned *find(const void *data) {
    pinned *found = NULL;
    pthread_rwlock_rdlock(&fake_lock);
    for (fake_object *o = fake_object_first(FAKE_PINNED); o && !found; o = o->next) {
        pinned *p = (pinned *)(void *)o;
        size_t offset = (size_t)((uintptr_t)data - (uintptr_t)p->data);
        found = offset < p->bytes ? p : NULL;
    }
    pthread_rwlock_unlock(&fake_lock);
    return found;
}

/* Copies that still use it are reported by the sanitizers. */
cu_result cuMemFreeHost(void *data) {
    ENTER(cuMemFreeHost, FAKE_NEEDS_CURRENT);
    pinned *p = find(data);
    if (!p || p->data != data) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemFreeHost: %p is not the start of pinned memory", data);
    }
    fake_object_remove(&p->object);
    free(p->data);
    free(p);
    return KRF__CUDA_SUCCESS;
}

cu_result cuPointerGetAttribute(void *value, cu_enum attribute, cu_address address) {
    enum { DEVICE = 2 };
    ENTER(cuPointerGetAttribute, FAKE_NEEDS_CURRENT);
    if (!value || attribute != KRF__CU_POINTER_ATTRIBUTE_MEMORY_TYPE) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuPointerGetAttribute: attribute %u is not simulated", attribute);
    }
    cu_enum type = find((const void *)(uintptr_t)address) ? KRF__CU_MEMORYTYPE_HOST
                   : fake_heap_holds(address, 1)          ? DEVICE
                                                          : 0;
    memcpy(value, &type, sizeof type);
    return type != 0 ? KRF__CUDA_SUCCESS : FAKE_INVALID_VALUE;
}
