/* Maps on a GPU of windows along the fast dimension (a filter of 31 taps): what a thread's elements read of an array overlaps, and is loaded once, as the words of memory in which it lies, from which each takes its own. One by
 * one the caches would be asked for each tap. */
#include "plan/schedule.h"
#include "plan/vector.h"

#include <string.h>

enum { LEAST_TAPS = 6, MOST_REACH = 64 /* elements between the first and the last tap: they lie in registers */, WORD = 16, MOST_STATEMENTS = 2048, LEAST_ELEMENTS = 1024 /* fewer are done with before it matters */ };

static int size_of(const krf__operand *o) { return (int)krf_dtype_size((krf_dtype)o->dtype); }

static bool is_tap(const krf__kernel *k, const krf__operand *o) { return !o->store && !o->counts && !o->gathered && !o->half && o->inner == 0 && o->strides[k->n_kept - 1] == 1; }

static bool same_window(const krf__operand *a, const krf__operand *b) {
    return a->buffer == b->buffer && a->dtype == b->dtype && b->offset - a->offset >= 0 && b->offset - a->offset < MOST_REACH && memcmp(a->strides, b->strides, sizeof a->strides) == 0;
}

/* The first operand of the window that an operand is a tap of: the one that lies the furthest before it. */
static uint32_t first_of(const krf__kernel *k, uint32_t operand) {
    uint32_t first = operand;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (is_tap(k, &k->operands[i]) && same_window(&k->operands[i], &k->operands[operand]) && k->operands[i].offset < k->operands[first].offset) {
            first = i;
        }
    }
    return first;
}

static int taps_of(const krf__kernel *k, uint32_t first) {
    int taps = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        taps += is_tap(k, &k->operands[i]) && first_of(k, i) == first;
    }
    return taps;
}

/* Whether rows begin where words do. */
static bool in_rows(const krf__kernel *k, const krf__operand *o, int v) {
    bool whole = true;
    for (int d = 0; d + 1 < k->n_kept; d++) {
        whole &= o->strides[d] % v == 0;
    }
    return whole;
}

int krf__span_vector(const krf__kernel *k) {
    const int fast = k->n_kept - 1;
    int bytes = 1, taps = 0;
    bool may = true;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        may = o->counts || (!o->gathered && !o->half && krf__stride_class(k, o, fast) <= 1);
        bytes = !o->counts && o->strides[fast] == 1 && size_of(o) > bytes ? size_of(o) : bytes;
    }
    const int v = WORD / bytes;
    may &= v > 1 && k->kept_size >= LEAST_ELEMENTS && (k->n_kept == 1 || k->extents[fast] % v == 0) && (int64_t)k->n_domain * v <= MOST_STATEMENTS;
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        const uint32_t first = is_tap(k, o) ? first_of(k, i) : i;
        const bool tap = is_tap(k, o) && first_of(k, first) == first && taps_of(k, first) >= LEAST_TAPS;
        taps += tap;
        may = o->strides[fast] != 1 || o->counts || (tap ? in_rows(k, o, v) : krf__in_vectors(k, o, fast, v));
    }
    return may && taps > 0 ? v : 1;
}

void krf__mark_spans(krf__kernel *k) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        const uint32_t first = is_tap(k, o) ? first_of(k, i) : i;
        if (is_tap(k, o) && taps_of(k, first) >= LEAST_TAPS) {
            const krf__operand *f = &k->operands[first];
            o->record = (uint16_t)(1 + first);
            o->element = (int16_t)(f->offset % k->vector + (o->offset - f->offset));
            o->loose = false;
        }
    }
}
