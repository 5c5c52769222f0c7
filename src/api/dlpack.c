/* Tensors of other libraries as arrays, and arrays as tensors. */
#include "api/dlpack.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/shape.h"
#include "sched/array.h"
#include <kerfuse/dlpack.h>

#include <string.h>

/* ---- dtypes and devices ---- */

static const struct {
    uint8_t code, bits;
} dtypes[] = {
    [KRF_BOOL] = {DLPACK_BOOL, 8},       [KRF_I8] = {DLPACK_INT, 8},      [KRF_I16] = {DLPACK_INT, 16},
    [KRF_I32] = {DLPACK_INT, 32},        [KRF_I64] = {DLPACK_INT, 64},    [KRF_U8] = {DLPACK_UINT, 8},
    [KRF_U16] = {DLPACK_UINT, 16},       [KRF_U32] = {DLPACK_UINT, 32},   [KRF_U64] = {DLPACK_UINT, 64},
    [KRF_F16] = {DLPACK_FLOAT, 16},      [KRF_BF16] = {DLPACK_BFLOAT, 16}, [KRF_F32] = {DLPACK_FLOAT, 32},
    [KRF_F64] = {DLPACK_FLOAT, 64},      [KRF_C64] = {DLPACK_COMPLEX, 64}, [KRF_C128] = {DLPACK_COMPLEX, 128},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static krf_status dtype_of(const DLTensor *t, krf_dtype *dtype) {
    for (int i = 0; i < DTYPES; i++) {
        if (dtypes[i].code == t->dtype.code && dtypes[i].bits == t->dtype.bits && t->dtype.lanes == 1) {
            *dtype = (krf_dtype)i;
            return KRF_OK;
        }
    }
    return krf__fail(KRF_E_DTYPE, "krf_array_from_dlpack: there is no dtype for code %d of %d bits in %d lanes",
                     t->dtype.code, t->dtype.bits, t->dtype.lanes);
}

static krf_status check_device(krf_context *context, const DLTensor *t) {
    int type = t->device.type, index = context->backend->index(context->device);
    bool both = type == DLPACK_CUDA_HOST || type == DLPACK_CUDA_MANAGED;
    if (both || (type == DLPACK_CPU && !context->is_cuda)
        || (type == DLPACK_CUDA && context->is_cuda && t->device.id == index)) {
        return KRF_OK;
    }
    const char *name = type == DLPACK_CPU ? "CPU" : type == DLPACK_CUDA ? "CUDA" : "another kind of";
    return krf__fail(KRF_E_DEVICE,
                     "krf_array_from_dlpack: the tensor lies on %s device %d (type %d), the context is on %s %d", name,
                     t->device.id, type, context->is_cuda ? "CUDA device" : "the CPU, device", index);
}

/* ---- in ---- */

/* Both kinds of tensor; exactly one is there. */
typedef struct source {
    struct DLManagedTensorVersioned *versioned;
    struct DLManagedTensor *legacy;
} source;

static void delete_tensor(source s) {
    if (s.versioned != NULL && s.versioned->deleter != NULL) {
        s.versioned->deleter(s.versioned);
    } else if (s.legacy != NULL && s.legacy->deleter != NULL) {
        s.legacy->deleter(s.legacy);
    }
}

static void delete_versioned(void *tensor) { delete_tensor((source){.versioned = tensor}); }
static void delete_legacy(void *tensor) { delete_tensor((source){.legacy = tensor}); }

static void nothing(void *unused) { (void)unused; }

static void destroy_imported(krf__storage *s) {
    krf_context *context = s->context;
    krf__order_give_back(context->order, s->home, krf__uses_lanes(&s->uses));
    s->deleter(s->user);
    krf__mem_free(s);
    krf__context_release(context);
}

/* The memory is ready in the stream's order: as if that had written it. */
static krf_status came_on(krf_array *a, void *stream) {
    krf__lane lane;
    krf_status status = krf__lane_enter(a->storage->context->order, stream, &lane);
    if (status == KRF_OK) {
        a->storage->home = krf__lane_home(&lane);
        status = krf__lane_finish(&lane, status);
        krf__lane_has_written(&lane, &a->storage->uses);
    }
    return status;
}

static krf_status import(krf_context *context, const DLTensor *t, source s, bool read_only, void *stream,
                         krf_array **array) {
    krf_dtype dtype = KRF_BOOL;
    krf_status status = dtype_of(t, &dtype);
    status = status == KRF_OK ? check_device(context, t) : status;
    if (status == KRF_OK && t->ndim > 0 && t->shape == NULL) {
        status = krf__fail(KRF_E_ARGUMENT, "krf_array_from_dlpack: the tensor has %d dimensions and no shape", t->ndim);
    }
    if (status != KRF_OK) {
        return status;
    }
    void *data = t->data != NULL ? (char *)t->data + t->byte_offset : NULL;
    krf_array *a = NULL;
    status = krf_array_wrap(context, dtype, t->ndim, t->shape, t->strides, data, nothing, NULL, &a);
    if (status != KRF_OK) {
        return status;
    }
    status = came_on(a, stream);
    if (status != KRF_OK) {
        krf_array_release(a);
        return status;
    }
    a->storage->read_only = read_only;
    a->storage->destroy = destroy_imported;
    a->storage->deleter = s.versioned != NULL ? delete_versioned : delete_legacy;
    a->storage->user = s.versioned != NULL ? (void *)s.versioned : (void *)s.legacy;
    *array = a;
    return KRF_OK;
}

static krf_status check(const char *name, const void *first, const void *second, void *result) {
    if (first == NULL || second == NULL || result == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: an argument is NULL", name);
    }
    memset(result, 0, sizeof(void *));
    return KRF_OK;
}

krf_status krf_array_from_dlpack(krf_context *context, struct DLManagedTensorVersioned *tensor, void *stream,
                                 krf_array **array) {
    krf_status status = check("krf_array_from_dlpack", context, tensor, array);
    if (status == KRF_OK && tensor->version.major != DLPACK_MAJOR) {
        status = krf__fail(KRF_E_UNSUPPORTED, "krf_array_from_dlpack: the tensor is of DLPack %u.%u, not 1.x",
                           tensor->version.major, tensor->version.minor);
    }
    return status == KRF_OK ? import(context, &tensor->tensor, (source){.versioned = tensor},
                                     (tensor->flags & DLPACK_READ_ONLY) != 0, stream, array)
                            : status;
}

krf_status krf_array_from_dlpack_legacy(krf_context *context, struct DLManagedTensor *tensor, void *stream,
                                        krf_array **array) {
    krf_status status = check("krf_array_from_dlpack_legacy", context, tensor, array);
    return status == KRF_OK ? import(context, &tensor->tensor, (source){.legacy = tensor}, false, stream, array)
                            : status;
}

/* ---- out ---- */

/* A tensor and what it points to. */
typedef struct exported {
    union {
        struct DLManagedTensorVersioned versioned;
        struct DLManagedTensor legacy;
    } tensor;
    krf_array *array;
    void *stream;
    int64_t shape[KRF_MAX_RANK], strides[KRF_MAX_RANK];
} exported;

/* What the consumer has put on its stream by now is behind the memory's next use. */
static void done(exported *e) {
    krf_context *context = e->array->storage->context;
    krf__lane lane;
    if (krf__lane_enter(context->order, e->stream, &lane) == KRF_OK) {
        krf__lane_finish(&lane, KRF_OK);
        krf__lane_has_read(&lane, &e->array->storage->uses);
    }
    krf_array_release(e->array);
    krf__mem_free(e);
}

static void done_versioned(struct DLManagedTensorVersioned *self) { done(self->manager); }
static void done_legacy(struct DLManagedTensor *self) { done(self->manager); }

static krf_status hand_over(krf_array *a, void *stream) {
    krf__lane lane;
    krf_status status = krf__lane_enter(a->storage->context->order, stream, &lane);
    if (status == KRF_OK) {
        status = krf__lane_writes(&lane, &a->storage->uses);
        status = krf__lane_finish(&lane, status);
        krf__lane_has_read(&lane, &a->storage->uses);
    }
    return status;
}

static krf_status export(krf_array *a, void *stream, exported **made) {
    exported *e = krf__calloc(1, sizeof *e);
    if (e == NULL) {
        return krf__fail_memory();
    }
    krf_status status = hand_over(a, stream);
    if (status != KRF_OK) {
        krf__mem_free(e);
        return status;
    }
    memcpy(e->shape, a->shape, sizeof e->shape);
    memcpy(e->strides, a->strides, sizeof e->strides);
    e->array = krf_array_retain(a);
    e->stream = stream;
    *made = e;
    return KRF_OK;
}

static DLTensor describe(exported *e) {
    const krf_array *a = e->array;
    krf_context *context = a->storage->context;
    return (DLTensor){.data = a->data,
                      .device = {context->is_cuda ? DLPACK_CUDA : DLPACK_CPU, context->backend->index(context->device)},
                      .ndim = a->rank,
                      .dtype = {dtypes[a->dtype].code, dtypes[a->dtype].bits, 1},
                      .shape = e->shape,
                      .strides = e->strides};
}

krf_status krf_array_to_dlpack(krf_array *array, void *stream, struct DLManagedTensorVersioned **tensor) {
    exported *e = NULL;
    krf_status status = check("krf_array_to_dlpack", array, array, (void *)tensor);
    status = status == KRF_OK ? export(array, stream, &e) : status;
    if (status == KRF_OK) {
        e->tensor.versioned =
            (struct DLManagedTensorVersioned){.version = {DLPACK_MAJOR, DLPACK_MINOR},
                                              .manager = e,
                                              .deleter = done_versioned,
                                              .flags = array->storage->read_only ? DLPACK_READ_ONLY : 0,
                                              .tensor = describe(e)};
        *tensor = &e->tensor.versioned;
    }
    return status;
}

krf_status krf_array_to_dlpack_legacy(krf_array *array, void *stream, struct DLManagedTensor **tensor) {
    exported *e = NULL;
    krf_status status = check("krf_array_to_dlpack_legacy", array, array, (void *)tensor);
    if (status == KRF_OK && array->storage->read_only) {
        status = krf__fail(KRF_E_ARGUMENT, "krf_array_to_dlpack_legacy: the array is read-only, which only the versioned "
                                           "struct can say");
    }
    status = status == KRF_OK ? export(array, stream, &e) : status;
    if (status == KRF_OK) {
        e->tensor.legacy =
            (struct DLManagedTensor){.manager = e, .deleter = done_legacy, .tensor = describe(e)};
        *tensor = &e->tensor.legacy;
    }
    return status;
}
