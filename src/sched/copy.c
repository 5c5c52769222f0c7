/* Copies of arrays. Contiguous memory is copied as it is; anything else is an expression that says "the elements of". */
#include "sched/copy.h"

#include "sched/across.h"
#include "sched/array.h"
#include "sched/eval.h"
#include "sched/outputs.h"

static bool same_elements(const krf_array *a, const krf_array *b) {
    bool same = a->data == b->data;
    for (int i = 0; i < a->rank; i++) {
        same &= a->shape[i] == 1 || a->strides[i] == b->strides[i];
    }
    return same;
}

krf_status krf__copy(krf_array *destination, krf_array *source) {
    krf_context *context = destination->storage->context;
    krf_status status = krf__output_check(context, "krf_array_copy: destination", -1, destination, source->dtype,
                                          source->rank, source->shape);
    if (status != KRF_OK || source->size == 0 || same_elements(destination, source)) {
        return status;
    }
    if (source->storage->context != context) {
        return krf__copy_across(destination, source);
    }
    if (!krf__arrays_overlap(destination, source) && krf__array_contiguous(destination) && krf__array_contiguous(source)) {
        return krf__array_move(destination, source, NULL);
    }
    return krf__copy_elements(destination, source);
}
