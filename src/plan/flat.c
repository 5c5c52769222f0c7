/* Maps on a GPU whose elements of one or two bytes lie in memory as the domain goes, beside others that do not: vectors go on over the ends of rows. What lies along the rows of views, as slices do, is taken out of the
 * words around it where no row ends within; all else, as weights of columns, is read one by one, from the caches. */
#include "plan/vector.h"

#define MOST_BYTES 2 /* of elements: wider ones are as fast one by one */
#define MOST 8       /* elements of a vector, where some have each its own place */
#define VECTORS 4    /* that a row has at least, if others end within it */

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

/* Whether rows of it lie apart, or do not begin with vectors. */
static bool lies_in_rows(const krf__kernel *k, const krf__operand *o) {
    const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
    return o->strides[k->n_kept - 1] == 1 && size <= MOST_BYTES && k->extents[k->n_kept - 1] >= VECTORS * 16 / size && !o->store && !o->counts && !o->gathered && !o->half && !is_shared(k, o);
}

void krf__kernel_flat(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    bool may = limits->vectors != 0 && !unaligned && k->schedule == KRF__MAP && !k->across && k->n_kept > 1, loads = false, apart = false;
    int bytes = 1;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        const bool flat = lies_flat(k, o), rows = lies_in_rows(k, o);
        const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        may &= flat || rows || is_shared(k, o);
        bytes = (flat || rows) && size > bytes ? size : bytes;
        loads |= (flat || rows) && !o->store;
        apart |= !flat && !rows;
    }
    const int v = 16 / bytes < MOST || !apart ? 16 / bytes : MOST;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        may &= !lies_flat(k, o) || o->offset % v == 0 || (!o->store && lies_in_rows(k, o));
    }
    k->flat = may && loads && bytes <= MOST_BYTES && k->vector < v;
    k->vector = k->flat ? v : k->vector;
    for (uint32_t i = 0; i < k->n_operands && k->flat; i++) {
        krf__operand *o = &k->operands[i];
        const bool flat = lies_flat(k, o) && o->offset % v == 0;
        o->aligned = flat || lies_in_rows(k, o);
        o->loose = o->aligned && !flat;
    }
}

bool krf__flat_apart(const krf__kernel *k) {
    bool apart = false;
    for (uint32_t i = 0; i < k->n_operands && k->flat; i++) {
        apart |= !k->operands[i].aligned;
    }
    return apart;
}
