/* Memory of arrays, in the order of the streams that use it. */
#include "sched/array.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/shape.h"

#include <string.h>

static void destroy_owned(krf__storage *s) {
    krf_context *context = s->context;
    krf__pool_deallocate(context->pool, s->data, s->bytes, krf__uses_lanes(&s->uses));
    krf__mem_free(s);
    krf__context_release(context);
}

krf_array *krf__array_new(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape,
                          void (*destroy)(krf__storage *storage)) {
    krf_array *a = krf__calloc(1, sizeof *a);
    krf__storage *s = krf__calloc(1, sizeof *s);
    if (a == NULL || s == NULL) {
        krf__mem_free(a);
        krf__mem_free(s);
        return NULL;
    }
    atomic_init(&a->references, 1);
    a->id = krf__array_new_id();
    atomic_init(&s->references, 1);
    a->dtype = dtype;
    a->rank = rank;
    a->size = krf__shape_size(rank, shape);
    if (rank > 0) {
        memcpy(a->shape, shape, (size_t)rank * sizeof *shape);
    }
    krf__shape_c_strides(rank, shape, a->strides);
    a->storage = s;
    s->context = context;
    s->destroy = destroy;
    krf__context_retain(context);
    return a;
}

krf_status krf__array_make(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, int lane,
                           krf_array **array) {
    *array = NULL;
    krf_array *a = krf__array_new(context, dtype, rank, shape, destroy_owned);
    if (a == NULL) {
        return krf__fail_memory();
    }
    size_t bytes = (size_t)a->size * krf_dtype_size(dtype);
    void *data = NULL;
    uint64_t lanes = 0;
    krf_status status = krf__pool_allocate(context->pool, bytes, lane, &data, &lanes);
    if (status != KRF_OK) {
        krf_array_release(a);
        return status;
    }
    a->data = a->storage->data = data;
    a->storage->bytes = bytes;
    atomic_store_explicit(&a->storage->uses.readers, lanes, memory_order_relaxed);
    *array = a;
    return KRF_OK;
}

static size_t bytes_of(const krf_array *a) { return (size_t)a->size * krf_dtype_size(a->dtype); }

krf_status krf__array_fill(krf_array *a, const void *data) {
    krf_context *c = a->storage->context;
    krf__lane lane;
    krf_status status = krf__lane_enter(c->order, NULL, &lane);
    if (status != KRF_OK) {
        return status;
    }
    status = krf__lane_writes(&lane, &a->storage->uses);
    bool ordered = status == KRF_OK;
    status = ordered ? c->backend->upload(c->device, a->data, data, bytes_of(a), lane.stream) : status;
    status = krf__lane_finish(&lane, status);
    if (ordered) {
        krf__lane_has_written(&lane, &a->storage->uses);
    }
    return status;
}

krf_status krf__array_read(krf_array *a, void *stream, void *data) {
    krf_context *c = a->storage->context;
    krf__lane lane;
    krf_status status = krf__lane_enter(c->order, stream, &lane);
    if (status != KRF_OK) {
        return status;
    }
    status = krf__lane_reads(&lane, &a->storage->uses);
    status = status == KRF_OK ? c->backend->download(c->device, data, a->data, bytes_of(a), lane.stream) : status;
    status = krf__lane_finish(&lane, status);
    krf__lane_has_read(&lane, &a->storage->uses);
    return status;
}

krf_status krf__array_move(krf_array *to, krf_array *from, void *stream) {
    krf_context *c = from->storage->context;
    krf__lane lane;
    krf_status status = krf__lane_enter(c->order, stream, &lane);
    if (status != KRF_OK) {
        return status;
    }
    status = krf__lane_reads(&lane, &from->storage->uses);
    status = status == KRF_OK ? krf__lane_writes(&lane, &to->storage->uses) : status;
    bool ordered = status == KRF_OK;
    status = ordered ? c->backend->copy(c->device, to->data, from->data, bytes_of(from), lane.stream) : status;
    status = krf__lane_finish(&lane, status);
    if (ordered) {
        krf__lane_has_read(&lane, &from->storage->uses);
        krf__lane_has_written(&lane, &to->storage->uses);
    }
    return status;
}

/* While a stream is being captured nothing may be staged: the copy is made later, and maybe often. */
static krf_status pinned(krf_context *c, const krf__lane *lane, const void *data, bool *is) {
    *is = c->backend->streams->host_pinned(c->device, data);
    return *is || !lane->capturing
               ? KRF_OK
               : krf__fail(KRF_E_UNSUPPORTED, "the stream is being captured: the host's memory must be pinned "
                                              "(krf_host_allocate)");
}

krf_status krf__array_start_fill(krf_array *a, void *stream, const void *data) {
    krf_context *c = a->storage->context;
    krf__lane lane;
    bool direct = true;
    krf_status status = krf__lane_enter(c->order, stream, &lane);
    if (status != KRF_OK) {
        return status;
    }
    status = pinned(c, &lane, data, &direct);
    status = status == KRF_OK ? krf__lane_writes(&lane, &a->storage->uses) : status;
    bool ordered = status == KRF_OK;
    if (ordered) {
        status = direct ? c->backend->streams->start_upload(c->device, a->data, data, bytes_of(a), lane.stream)
                        : krf__staging_upload(c->staging, a->data, data, bytes_of(a), lane.stream);
    }
    status = krf__lane_finish(&lane, status);
    if (ordered) {
        krf__lane_has_written(&lane, &a->storage->uses);
    }
    return status;
}

krf_status krf__array_start_read(krf_array *a, void *stream, void *data) {
    krf_context *c = a->storage->context;
    krf__lane lane;
    bool direct = true;
    krf_status status = krf__lane_enter(c->order, stream, &lane);
    if (status != KRF_OK) {
        return status;
    }
    status = pinned(c, &lane, data, &direct);
    status = status == KRF_OK ? krf__lane_reads(&lane, &a->storage->uses) : status;
    if (status == KRF_OK) {
        status = direct ? c->backend->streams->start_download(c->device, data, a->data, bytes_of(a), lane.stream)
                        : krf__staging_download(c->staging, data, a->data, bytes_of(a), lane.stream);
    }
    status = krf__lane_finish(&lane, status);
    krf__lane_has_read(&lane, &a->storage->uses);
    return status;
}
