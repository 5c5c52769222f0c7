/* Copies between contexts. Between GPUs neither the host nor any stream but the two contexts' own ones waits: the copy is work of the destination's own stream, which
 * waits for the source's own stream first, and that one waits for the copy before it goes on, so that each context's order stays its own affair. */
#include "sched/across.h"

#include "base/fail.h"
#include "sched/eval.h"

static size_t bytes_of(const krf_array *a) { return (size_t)a->size * krf_dtype_size(a->dtype); }

static krf_status between_gpus(krf_array *to, krf_array *from) {
    krf_context *a = from->storage->context, *b = to->storage->context;
    krf__lane reader, writer;
    krf_status status = krf__lane_enter(a->order, NULL, &reader);
    status = status == KRF_OK ? krf__lane_enter(b->order, NULL, &writer) : status;
    if (status != KRF_OK) { /* own streams are entered without anything that could be left undone */
        return status;
    }
    status = krf__lane_reads(&reader, &from->storage->uses);
    status = status == KRF_OK ? krf__lane_writes(&writer, &to->storage->uses) : status;
    status = status == KRF_OK ? krf__lane_follow_other(&writer, &reader) : status;
    const bool ordered = status == KRF_OK;
    if (ordered) {
        status = b->backend->copy_from(b->device, to->data, a->device, from->data, bytes_of(from), writer.stream);
        const krf_status behind = krf__lane_follow_other(&reader, &writer);
        if (behind != KRF_OK) { /* the source's memory must not be used again before it was read */
            b->backend->streams->drain(b->device, writer.stream);
        }
        status = status == KRF_OK ? behind : status;
    }
    status = krf__lane_finish(&reader, status);
    status = krf__lane_finish(&writer, status);
    if (ordered) {
        krf__lane_has_read(&reader, &from->storage->uses);
        krf__lane_has_written(&writer, &to->storage->uses);
    }
    return status;
}

/* Both in C order. What a CPU's array holds is there when a call returns, and may be changed then. */
static krf_status move_across(krf_array *to, krf_array *from) {
    const krf_context *a = from->storage->context, *b = to->storage->context;
    if (a->is_cuda && b->is_cuda) {
        return between_gpus(to, from);
    }
    if (a->is_cuda) {
        return krf__array_read(from, NULL, to->data);
    }
    return krf__array_fill(to, from->data);
}

/* A new array in C order, of the context and for the elements of `like`. */
static krf_status make_like(krf_context *context, const krf_array *like, krf_array **array) {
    return krf__array_make(context, like->dtype, like->rank, like->shape, KRF__OWN_LANE, array);
}

krf_status krf__copy_across(krf_array *to, krf_array *from) {
    krf_array *gathered = NULL, *received = NULL;
    krf_status status = KRF_OK;
    if (!krf__array_contiguous(from) || krf__arrays_overlap(to, from)) {
        status = make_like(from->storage->context, from, &gathered);
        status = status == KRF_OK ? krf__copy_elements(gathered, from) : status;
    }
    if (status == KRF_OK && !krf__array_contiguous(to)) {
        status = make_like(to->storage->context, to, &received);
    }
    if (status == KRF_OK) {
        status = move_across(received != NULL ? received : to, gathered != NULL ? gathered : from);
    }
    if (status == KRF_OK && received != NULL) {
        status = krf__copy_elements(to, received);
    }
    krf_array_release(gathered);
    krf_array_release(received);
    return status;
}
