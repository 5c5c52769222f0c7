/* Maps on a GPU whose elements of one or two bytes lie in memory as the domain goes, beside others that do not, as weights of columns are: vectors go on over the ends of rows, and the others are read one by one,
 * from the caches. */
#include "plan/vector.h"

#define MOST_BYTES 2 /* of elements: wider ones are as fast one by one */
#define MOST 8       /* elements of a vector: each has its own place */

static bool lies_flat(const krf__kernel *k, const krf__operand *o) {
    bool flat = o->strides[k->n_kept - 1] == 1;
    for (int d = 0; d + 1 < k->n_kept; d++) {
        flat &= o->strides[d] == o->strides[d + 1] * k->extents[d + 1];
    }
    return flat && !o->counts && !o->gathered && !o->half;
}

/* Whether other places of the domain read the same elements. */
static bool is_shared(const krf__kernel *k, const krf__operand *o) {
    bool shared = o->counts;
    for (int d = 0; d < k->n_kept; d++) {
        shared |= o->strides[d] == 0;
    }
    return shared && !o->gathered && !o->store;
}

void krf__kernel_flat(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    bool may = limits->vectors != 0 && !unaligned && k->schedule == KRF__MAP && !k->across && k->n_kept > 1, loads = false;
    int bytes = 1;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        const bool flat = lies_flat(k, o);
        const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        may &= flat || is_shared(k, o);
        bytes = flat && size > bytes ? size : bytes;
        loads |= flat && !o->store;
    }
    const int v = 16 / bytes < MOST ? 16 / bytes : MOST;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        may &= !lies_flat(k, &k->operands[i]) || k->operands[i].offset % v == 0;
    }
    k->flat = may && loads && bytes <= MOST_BYTES && k->vector < v;
    k->vector = k->flat ? v : k->vector;
    for (uint32_t i = 0; i < k->n_operands && k->flat; i++) {
        k->operands[i].aligned = lies_flat(k, &k->operands[i]);
        k->operands[i].loose = false;
    }
}
