/* Maps of few rows from memory where an element's counterparts in all rows are neighbours: colours that become planes, or coordinates that become vectors. */
#include "plan/schedule.h"

#include <string.h>

enum { MOST = KRF__TILE_LEAST - 1 /* rows: more are squares */, LONG_BODY = 96 /* instructions that are written out for all rows */ };

/* The dimension along which most loads are contiguous that are not along the last one; -1: none is, or not a short one. */
static int short_dim(const krf__kernel *k) {
    int best = -1, most = 0;
    for (int d = 0; d < k->n_kept - 1; d++) {
        int loads = 0;
        for (uint32_t i = 0; i < k->n_operands; i++) {
            const krf__operand *o = &k->operands[i];
            loads += !o->store && !o->counts && !o->gathered && krf__stride_class(k, o, d) == 1 && krf__stride_class(k, o, k->n_kept - 1) >= 2;
        }
        if (loads > most && k->extents[d] >= 2 && k->extents[d] <= MOST && k->extents[d] * k->n_instrs <= LONG_BODY) {
            most = loads;
            best = d;
        }
    }
    return best;
}

static void move_first(int64_t *values, int d) {
    const int64_t moved = values[d];
    memmove(values + 1, values, (size_t)d * sizeof *values);
    values[0] = moved;
}

void krf__kernel_across(krf__kernel *k) {
    const int d = short_dim(k);
    if (d < 0) {
        return;
    }
    move_first(k->extents, d);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        move_first(k->operands[i].strides, d);
    }
    k->across = true;
}
