/* Copies and fills, in the order of their stream. Host memory is read and written when the stream gets there, as pinned
 * memory is: who relies on staging is found out. */
#include "heap.h"
#include "stale.h"
#include "stream.h"

#include <string.h>

typedef struct transfer {
    void *to;
    const void *from; /* NULL: fill */
    size_t bytes;
    int value;
} transfer;

static void run(void *payload) {
    const transfer *t = payload;
    if (fake_stuck()) {
        return;
    }
    fake_touch();
    if (t->from) {
        memmove(t->to, t->from, t->bytes);
    } else {
        memset(t->to, t->value, t->bytes);
    }
    fake_touched();
}

static void *at(cu_address address) { return (void *)(uintptr_t)address; }

static cu_result start(const char *name, cu_stream stream, transfer t, bool to_device, bool from_device) {
    FIND_STREAM(s, stream);
    if (t.bytes == 0) {
        return KRF__CUDA_SUCCESS;
    }
    cu_address to = (cu_address)(uintptr_t)t.to, from = (cu_address)(uintptr_t)t.from;
    CHECK_DEVICE(s, fake_device());
    if ((to_device && !fake_heap_holds(to, t.bytes)) || (from_device && !fake_heap_holds(from, t.bytes)) || !t.to) {
        return fake_misuse(FAKE_INVALID_VALUE, "%s: %zu bytes at %p or %p lie outside any allocation", name, t.bytes,
                           t.to, t.from);
    }
    if ((to_device && !fake_heap_reaches(s->device, to, t.bytes)) || (from_device && !fake_heap_reaches(s->device, from, t.bytes))) {
        return fake_misuse(FAKE_INVALID_VALUE, "%s: memory of another device, which device %d has no access to", name, s->device);
    }
    if (!to_device && fake_heap_holds(to, 1)) {
        return fake_misuse(FAKE_INVALID_VALUE, "%s: %p is device memory", name, t.to);
    }
    cu_result captured;
    if (fake_captured(s, &captured)) {
        return captured;
    }
    fake_enqueue(s, run, &t, sizeof t);
    return KRF__CUDA_SUCCESS;
}

cu_result cuMemcpyHtoDAsync_v2(cu_address to, const void *from, size_t bytes, cu_stream stream) {
    ENTER(cuMemcpyHtoDAsync_v2, FAKE_NEEDS_CURRENT);
    if (bytes > 0 && (!from || fake_heap_holds((cu_address)(uintptr_t)from, 1))) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemcpyHtoDAsync: %p is no host memory", from);
    }
    return start("cuMemcpyHtoDAsync", stream, (transfer){at(to), from, bytes, 0}, true, false);
}

cu_result cuMemcpyDtoHAsync_v2(void *to, cu_address from, size_t bytes, cu_stream stream) {
    ENTER(cuMemcpyDtoHAsync_v2, FAKE_NEEDS_CURRENT);
    return start("cuMemcpyDtoHAsync", stream, (transfer){to, at(from), bytes, 0}, false, true);
}

cu_result cuMemcpyDtoDAsync_v2(cu_address to, cu_address from, size_t bytes, cu_stream stream) {
    ENTER(cuMemcpyDtoDAsync_v2, FAKE_NEEDS_CURRENT);
    return start("cuMemcpyDtoDAsync", stream, (transfer){at(to), at(from), bytes, 0}, true, true);
}

/* Needs no access: what cannot be reached is brought through the host. */
cu_result cuMemcpyPeerAsync(cu_address to, cu_context to_context, cu_address from, cu_context from_context, size_t bytes, cu_stream stream) {
    ENTER(cuMemcpyPeerAsync, FAKE_NEEDS_CURRENT);
    const int to_device = fake_device_of(to_context), from_device = fake_device_of(from_context);
    FIND_STREAM(s, stream);
    if (to_device < 0 || from_device < 0) {
        return fake_misuse(FAKE_INVALID_CONTEXT, "cuMemcpyPeerAsync: %p or %p is no live context", (void *)to_context, (void *)from_context);
    }
    if (!fake_heap_holds(to, bytes) || !fake_heap_holds(from, bytes) || (bytes > 0 && (fake_heap_device(to) != to_device || fake_heap_device(from) != from_device))) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuMemcpyPeerAsync: %zu bytes at %#llx or %#llx are no memory of devices %d and %d", bytes, to, from, to_device, from_device);
    }
    cu_result captured;
    if (bytes == 0 || fake_captured(s, &captured)) {
        return bytes == 0 ? KRF__CUDA_SUCCESS : captured;
    }
    const transfer t = {at(to), at(from), bytes, 0};
    fake_enqueue(s, run, &t, sizeof t);
    return KRF__CUDA_SUCCESS;
}

cu_result cuMemsetD8Async(cu_address to, unsigned char value, size_t bytes, cu_stream stream) {
    ENTER(cuMemsetD8Async, FAKE_NEEDS_CURRENT);
    return start("cuMemsetD8Async", stream, (transfer){at(to), NULL, bytes, value}, true, false);
}
