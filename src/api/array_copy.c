/* Arrays to the host and to other arrays. */
#include "base/fail.h"
#include "sched/eval.h"

krf_status krf_array_copy(krf_array *destination, krf_array *source) {
    if (destination == NULL || source == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_copy: %s is NULL", destination == NULL ? "destination" : "source");
    }
    return krf__copy(destination, source);
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
    status = status == KRF_OK ? krf__copy_elements(whole, array) : status;
    status = status == KRF_OK ? context->backend->download(context->device, data, whole->data, bytes, NULL) : status;
    krf_array_release(whole);
    return status;
}
