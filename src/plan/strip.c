/* Whether threads of a map take strips of it: some elements that follow one another along a dimension that is not the last, for which rows of an array, as far as their neighbours need
 * them too, are loaded once. A stencil's thread would else load each of them for every element: what the caches of a multiprocessor deliver, not memory, is then the limit. */
#include "plan/schedule.h"

#define LONG_STRIP 8
#define SHORT_STRIP 4
#define MOST_REGISTERS 48 /* of a thread, for the rows of all operands */
#define MOST_STATEMENTS 512
#define MOST_ROWS 8       /* of an array, that an element needs */

/* How many steps of dimension d operand o lies behind another view of the same array, if it is that alone by which they differ; else false. */
static bool steps_behind(const krf__kernel *k, const krf__operand *o, const krf__operand *other, int d, int64_t *steps) {
    bool same = !o->store && !o->counts && !other->store && !other->counts && o->buffer == other->buffer && o->dtype == other->dtype && o->strides[d] != 0;
    for (int i = 0; i < k->n_kept; i++) {
        same &= o->strides[i] == other->strides[i];
    }
    if (!same || (o->offset - other->offset) % o->strides[d] != 0) {
        return false;
    }
    *steps = (o->offset - other->offset) / o->strides[d];
    return *steps < MOST_ROWS && -*steps < MOST_ROWS;
}

/* The operand that the others which share rows with operand i lie behind: the first of them in dimension d. */
static uint32_t first_of(const krf__kernel *k, uint32_t i, int d) {
    uint32_t first = i;
    int64_t least = 0, steps;
    for (uint32_t j = 0; j < k->n_operands; j++) {
        if (j != i && steps_behind(k, &k->operands[j], &k->operands[i], d, &steps) && steps < least) {
            least = steps;
            first = j;
        }
    }
    return first;
}

/* Rows that a thread loads for so many elements, of what is not the same for all of them, and the registers of all; marks who reads whose. Rows further apart than MOST_ROWS have an operand each. */
static int rows_of(krf__kernel *k, int d, int strip, int *registers) {
    int rows = 0;
    int64_t steps;
    *registers = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        const uint32_t first = o->store || o->counts ? i : first_of(k, i, d);
        o->rows_of = (uint16_t)(first == i || first_of(k, first, d) != first ? 0 : first + 1);
        o->row = (uint16_t)(o->rows_of != 0 && steps_behind(k, o, &k->operands[first], d, &steps) ? steps : 0);
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->store || o->counts || o->rows_of != 0) {
            continue;
        }
        const int n = o->strides[d] == 0 ? 1 : strip + krf__strip_span(k, i);
        rows += o->strides[d] == 0 ? 0 : n;
        *registers += n * (krf_dtype_size((krf_dtype)o->dtype) > 4 ? 2 : 1);
    }
    return rows;
}

static void forget(krf__kernel *k) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].rows_of = k->operands[i].row = 0;
    }
}

static bool may_have_strips(const krf__kernel *k) {
    bool may = k->n_kept > 1 && k->extents[k->n_kept - 1] >= KRF__TILE_LEAST && !krf__costly_domain(k); /* else the caches wait for the body */
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        may &= !o->gathered && !o->half && (!o->store || o->strides[k->n_kept - 1] == 1);
    }
    return may;
}

/* Loads of an element, of what is not the same along dimension d. */
static int loads_of(const krf__kernel *k, int d) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        n += !k->operands[i].store && !k->operands[i].counts && k->operands[i].strides[d] != 0;
    }
    return n;
}

void krf__kernel_strips(krf__kernel *k) {
    int best = 0, dim = -1, length = 0, registers;
    for (int strip = LONG_STRIP; strip >= SHORT_STRIP && dim < 0 && may_have_strips(k); strip /= 2) {
        for (int d = k->n_kept - 2; d >= 0 && strip * (int)k->n_domain <= MOST_STATEMENTS; d--) {
            const int all = loads_of(k, d) * strip, saved = all - rows_of(k, d, strip, &registers);
            if (k->extents[d] >= KRF__TILE_LEAST && registers <= MOST_REGISTERS && saved > best && 6 * saved >= all) { /* a sixth at least */
                best = saved;
                dim = d;
                length = strip;
            }
        }
    }
    forget(k);
    if (dim >= 0) {
        k->schedule = KRF__TILE;
        k->tile = dim;
        k->strip = length;
        rows_of(k, dim, length, &registers);
    }
}
