/* Copies of arrays. Contiguous memory is copied as it is; anything else is an expression that says "the elements of". */
#include "sched/eval.h"

#include "ir/build.h"
#include "sched/across.h"
#include "sched/array.h"

krf_status krf__copy_elements(krf_array *destination, krf_array *source) {
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
