/* Maps on a GPU whose elements of one or two bytes lie in memory as the domain goes, beside others that do not: vectors go on over the ends of rows. What lies along the rows of views, as slices do, or
 * against them, is taken out of the words around it; all else, as weights of columns, is read one by one, from the caches. */
#include "plan/vector.h"

#define MOST_BYTES 2 /* of elements: wider ones are as fast one by one */
#define MOST 16      /* elements of a vector, where some have each its own place; */
#define MOST_APART 8 /* where these lie so far apart that threads take turns at lines of memory (every other byte 0.053 and 0.074 ms) */
#define ENOUGH 8     /* elements of one that rows have anyway */
#define VECTORS 4    /* that a row has at least, if others end within it */

bool krf__lies_flat(const krf__kernel *k, const krf__operand *o) {
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

/* Whether it is read one by one: what other places of the domain read too, bytes, and halves that follow one another, if backwards; others are as fast without vectors. */
static bool lies_apart(const krf__kernel *k, const krf__operand *o) {
    const int64_t step = o->strides[k->n_kept - 1];
    const size_t size = krf_dtype_size((krf_dtype)o->dtype);
    return is_shared(k, o) || (!o->store && !o->gathered && (size == 1 || (size == MOST_BYTES && (step == 1 || step == -1))));
}

/* Whether those of a row are an even step apart, which as many threads as have vectors of 16 take by turns at the same few places of a cache. */
static bool steps_evenly(const krf__kernel *k, const krf__operand *o) {
    const int64_t step = o->strides[k->n_kept - 1];
    return step != 0 && step % 2 == 0 && k->extents[k->n_kept - 1] > MOST_APART;
}

/* Whether rows of it lie apart, or do not begin with vectors. */
static bool lies_in_rows(const krf__kernel *k, const krf__operand *o) {
    const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
    const int64_t step = o->strides[k->n_kept - 1];
    return (step == 1 || step == -1) && size <= MOST_BYTES && k->extents[k->n_kept - 1] >= VECTORS * 16 / size && !o->store && !o->counts && !o->gathered && !o->half && !is_shared(k, o);
}

void krf__kernel_flat(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    bool may = limits->vectors != 0 && !unaligned && k->schedule == KRF__MAP && !k->across;
    bool narrow = false, apart = false, evenly = false, alone = false; /* of operands: of few bytes; read one by one; a step apart; one by one, though no other place reads them */
    int bytes = 1;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        const bool flat = krf__lies_flat(k, o), rows = lies_in_rows(k, o);
        const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        may &= flat || rows || lies_apart(k, o);
        apart |= !flat && !rows;
        alone |= !flat && !rows && !is_shared(k, o);
        evenly |= lies_apart(k, o) && !o->counts && steps_evenly(k, o);
        bytes = (flat || rows) && size > bytes ? size : bytes;
        narrow |= !o->store && size <= MOST_BYTES && !is_shared(k, o);
    }
    if (k->period > 0) {
        k->flat = true;
        for (uint32_t i = 0; i < k->n_operands; i++) {
            k->operands[i].aligned = krf__period_of(k, &k->operands[i]) == KRF__OF_ELEMENT;
            k->operands[i].loose = false;
        }
        return;
    }
    const int most = evenly ? MOST_APART : MOST, v = 16 / bytes < most || !apart ? 16 / bytes : most;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        may &= !krf__lies_flat(k, o) || o->offset % v == 0 || (!o->store && lies_in_rows(k, o));
    }
    k->flat = may && narrow && bytes <= MOST_BYTES && !(alone && k->vector > 1) && k->vector < (v < ENOUGH ? v : ENOUGH);
    k->vector = k->flat ? v : k->vector;
    for (uint32_t i = 0; i < k->n_operands && k->flat; i++) {
        krf__operand *o = &k->operands[i];
        const bool flat = krf__lies_flat(k, o) && o->offset % v == 0;
        o->aligned = flat || lies_in_rows(k, o);
        o->loose = o->aligned && !flat;
        o->turned = o->loose && o->strides[k->n_kept - 1] == -1;
    }
}

bool krf__flat_apart(const krf__kernel *k) {
    bool apart = false;
    for (uint32_t i = 0; i < k->n_operands && k->flat && k->period == 0; i++) {
        apart |= !k->operands[i].aligned;
    }
    return apart;
}
