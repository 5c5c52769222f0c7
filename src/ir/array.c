/* Facts that follow from an array's shape and strides. */
#include "ir/array.h"

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
