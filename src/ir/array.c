/* Facts that follow from an array's shape and strides, its id and its reference count. */
#include "ir/array.h"

#include "base/mem.h"

uint64_t krf__array_new_id(void) {
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

bool krf__array_contiguous(const krf_array *array) {
    int64_t step = 1;
    if (array->size == 0) {
        return true;
    }
    for (int i = array->rank - 1; i >= 0; i--) {
        if (array->shape[i] != 1 && array->strides[i] != step) {
            return false;
        }
        step *= array->shape[i];
    }
    return true;
}

void krf__array_range(const krf_array *array, const char **low, const char **high) {
    int64_t item = (int64_t)krf_dtype_size(array->dtype);
    *low = *high = array->data;
    if (array->size == 0) {
        return;
    }
    *high += item;
    for (int i = 0; i < array->rank; i++) {
        int64_t reach = array->strides[i] * (array->shape[i] - 1) * item;
        *(reach < 0 ? low : high) += reach;
    }
}

krf_array *krf_array_retain(krf_array *array) {
    if (array != NULL) {
        atomic_fetch_add_explicit(&array->references, 1, memory_order_relaxed);
    }
    return array;
}

void krf_array_release(krf_array *array) {
    if (array == NULL || atomic_fetch_sub(&array->references, 1) != 1) {
        return;
    }
    krf__storage *storage = array->storage;
    krf__mem_free(array);
    if (atomic_fetch_sub(&storage->references, 1) == 1) {
        storage->destroy(storage);
    }
}

krf_dtype krf_array_dtype(const krf_array *array) { return array->dtype; }
int krf_array_rank(const krf_array *array) { return array->rank; }
const int64_t *krf_array_shape(const krf_array *array) { return array->shape; }
const int64_t *krf_array_strides(const krf_array *array) { return array->strides; }
int64_t krf_array_size(const krf_array *array) { return array->size; }
void *krf_array_data(const krf_array *array) { return array->data; }
krf_context *krf_array_context(const krf_array *array) { return array->storage->context; }

bool krf__arrays_overlap(const krf_array *a, const krf_array *b) {
    const char *a_low, *a_high, *b_low, *b_high;
    if (a == NULL || b == NULL || a->size == 0 || b->size == 0) {
        return false;
    }
    krf__array_range(a, &a_low, &a_high);
    krf__array_range(b, &b_low, &b_high);
    return a_low < b_high && b_low < a_high;
}
