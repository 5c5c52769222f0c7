/* Arrays to the host and to other arrays. Contiguous memory is copied as it is; anything else is an expression that
 * says "the elements of". */
#include "base/fail.h"
#include "ir/build.h"
#include "sched/eval.h"

static krf_status evaluate_copy(krf_array *destination, krf_array *source) {
    krf_graph g;
    krf_status status = krf__graph_init(&g, source->storage->context);
    if (status != KRF_OK) {
        return status;
    }
    uint32_t id = krf__build_input(&g, source);
    status = id == 0 ? g.status : krf__eval(&g, 1, &id, &destination);
    krf__graph_free(&g);
    return status;
}

static bool same_elements(const krf_array *a, const krf_array *b) {
    bool same = a->data == b->data;
    for (int i = 0; i < a->rank; i++) {
        same &= a->shape[i] == 1 || a->strides[i] == b->strides[i];
    }
    return same;
}

krf_status krf_array_copy(krf_array *destination, krf_array *source) {
    if (destination == NULL || source == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_copy: %s is NULL", destination == NULL ? "destination" : "source");
    }
    krf_context *context = source->storage->context;
    krf_status status = krf__output_check(context, "krf_array_copy: destination", destination, source->dtype,
                                          source->rank, source->shape);
    if (status != KRF_OK || source->size == 0 || same_elements(destination, source)) {
        return status;
    }
    const char *low, *high, *to_low, *to_high;
    krf__array_range(source, &low, &high);
    krf__array_range(destination, &to_low, &to_high);
    bool apart = to_high <= low || high <= to_low;
    if (apart && krf__array_contiguous(destination) && krf__array_contiguous(source)) {
        return context->backend->copy(context->device, destination->data, source->data, (size_t)(high - low), NULL);
    }
    return evaluate_copy(destination, source);
}

krf_status krf_array_to_host(krf_array *array, void *data, size_t bytes) {
    if (array == NULL || (data == NULL && bytes > 0)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_to_host: %s is NULL", array == NULL ? "array" : "data");
    }
    size_t need = (size_t)array->size * krf_dtype_size(array->dtype);
    if (bytes != need) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_to_host: the array has %zu bytes, not %zu", need, bytes);
    }
    krf_context *context = array->storage->context;
    if (bytes == 0) {
        return KRF_OK;
    }
    if (krf__array_contiguous(array)) {
        return context->backend->download(context->device, data, array->data, bytes, NULL);
    }
    krf_array *whole = NULL;
    krf_status status = krf_array_create(context, array->dtype, array->rank, array->shape, &whole);
    status = status == KRF_OK ? evaluate_copy(whole, array) : status;
    status = status == KRF_OK ? context->backend->download(context->device, data, whole->data, bytes, NULL) : status;
    krf_array_release(whole);
    return status;
}
