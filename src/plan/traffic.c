/* The bytes that a kernel must move. */
#include "plan/kernel.h"
#include "plan/raw_call.h"

/* The elements that an operand names, and the places between which they lie. */
static int64_t elements_of(const krf__kernel *k, const krf__operand *o, int64_t *low, int64_t *high) {
    int64_t n = 1;
    *low = *high = o->offset;
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        n *= o->strides[d] == 0 ? 1 : k->extents[d];
        *(o->strides[d] < 0 ? low : high) += o->strides[d] * (k->extents[d] - 1);
    }
    return n;
}

/* Of all operands in the memory of operand i, once, where i is the first of them. */
static int64_t elements_read(const krf__kernel *k, uint32_t i) {
    int64_t sum = 0, first = INT64_MAX, last = INT64_MIN, low, high;
    for (uint32_t j = 0; j < k->n_operands; j++) {
        const krf__operand *o = &k->operands[j];
        if (o->store || o->counts || o->inner != 0 || o->buffer != k->operands[i].buffer) {
            continue;
        }
        if (j < i) {
            return 0;
        }
        sum += elements_of(k, o, &low, &high);
        first = low < first ? low : first;
        last = high > last ? high : last;
    }
    return sum == 0 || sum < last - first + 1 ? sum : last - first + 1; /* windows overlap: an element is read once */
}

void krf__kernel_bytes(const krf__kernel *k, int64_t *read, int64_t *written) {
    int64_t low, high;
    *read = *written = 0;
    if (k->raw != NULL) {
        krf__raw_bytes(k->raw, read, written);
        return;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        int64_t bytes = (int64_t)krf_dtype_size((krf_dtype)o->dtype);
        if (o->inner != 0) {
            continue;
        }
        if (o->store) {
            *written += bytes * elements_of(k, o, &low, &high);
        } else if (!o->counts) {
            *read += bytes * elements_read(k, i);
        }
    }
}
