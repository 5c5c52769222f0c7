/* Arrays to and from the host, and to other arrays. */
#include "base/fail.h"
#include "sched/array.h"
#include "sched/copy.h"
#include "sched/eval.h"
#include <kerfuse/stream.h>

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
        return krf__array_read(array, NULL, data);
    }
    krf_array *whole = NULL;
    krf_status status = krf_array_create(context, array->dtype, array->rank, array->shape, &whole);
    status = status == KRF_OK ? krf__copy_elements(whole, array) : status;
    status = status == KRF_OK ? krf__array_read(whole, NULL, data) : status;
    krf_array_release(whole);
    return status;
}

static krf_status check_async(const char *name, const krf_array *array, const void *data, size_t bytes) {
    if (array == NULL || (data == NULL && bytes > 0)) {
        return krf__fail(KRF_E_ARGUMENT, "%s: %s is NULL", name, array == NULL ? "array" : "data");
    }
    size_t need = (size_t)array->size * krf_dtype_size(array->dtype);
    if (bytes != need) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the array has %zu bytes, not %zu", name, need, bytes);
    }
    return krf__array_contiguous(array)
               ? KRF_OK
               : krf__fail(KRF_E_SHAPE, "%s: the array is not in C order: copy it with krf_array_copy", name);
}

krf_status krf_array_upload_async(krf_array *array, const void *data, size_t bytes, void *stream) {
    krf_status status = check_async("krf_array_upload_async", array, data, bytes);
    if (status == KRF_OK && array->storage->read_only) {
        status = krf__fail(KRF_E_ARGUMENT, "krf_array_upload_async: the array is read-only");
    }
    return status == KRF_OK && bytes > 0 ? krf__array_start_fill(array, stream, data) : status;
}

krf_status krf_array_download_async(krf_array *array, void *data, size_t bytes, void *stream) {
    krf_status status = check_async("krf_array_download_async", array, data, bytes);
    return status == KRF_OK && bytes > 0 ? krf__array_start_read(array, stream, data) : status;
}
