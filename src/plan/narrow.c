/* Maps and reductions on the CPU whose results lie in short rows: loops over one row after the other would have more ends than elements. */
#include "plan/schedule.h"

#define MOST (KRF__NARROW_SLACK - 1)
#define MOST_OPERANDS 64 /* which may each have a tile on a thread's stack */

krf__narrow_place krf__narrow_place_of(const krf__kernel *k, const krf__operand *o) {
    const int fast = k->n_kept - 1;
    bool flat = true, constant = true;
    for (int d = 0; d < fast; d++) {
        flat &= o->strides[d] == o->strides[d + 1] * k->extents[d + 1];
        constant &= o->strides[d] == 0;
    }
    if (constant) {
        return o->strides[fast] == 0 ? KRF__NARROW_CONSTANT : KRF__NARROW_PERIOD;
    }
    return flat ? KRF__NARROW_FLAT : o->strides[fast] == 0 ? KRF__NARROW_SPREAD : KRF__NARROW_ROWS;
}

/* Whether the part over results takes the operand: there none is laid out. */
static bool of_results(const krf__kernel *k, uint32_t operand) {
    bool results = false;
    for (uint32_t i = k->n_domain + k->n_reductions; i < k->n_instrs; i++) {
        const krf__op op = (krf__op)k->instrs[i].op;
        results |= (op == KRF__load || op == KRF__fetch) && k->instrs[i].slot == operand;
    }
    return results;
}

void krf__kernel_narrow(krf__kernel *k, const krf__limits *limits) {
    const int fast = k->n_kept - 1;
    const bool fits = limits->narrow_from != UINT32_MAX && (k->schedule == KRF__MAP || k->schedule == KRF__REDUCE_COL || (k->schedule == KRF__REDUCE_SHORT && k->side));
    bool narrow = fits && fast > 0 && k->n_operands <= MOST_OPERANDS && k->extents[fast] <= MOST && k->kept_size > 0 && k->kept_size >= limits->narrow_from;
    for (uint32_t i = 0; i < k->n_operands && narrow; i++) {
        const krf__operand *o = &k->operands[i];
        const krf__narrow_place place = krf__narrow_place_of(k, o);
        const bool in_order = place == KRF__NARROW_FLAT || place == KRF__NARROW_CONSTANT;
        const bool whole_rows = o->gathered && o->strides[fast] != 0 && !in_order; /* are read by vectors as they are */
        narrow = o->store ? place == KRF__NARROW_FLAT : in_order || (!whole_rows && !of_results(k, i));
    }
    k->narrow = narrow;
}
