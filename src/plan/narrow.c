/* Maps on the CPU whose rows are short: loops over one row after the other would have more ends than elements. */
#include "plan/schedule.h"

enum { MOST = KRF__NARROW_SLACK - 1, FEWEST = 1024 /* elements: fewer are not worth a kernel of their own */ };

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

void krf__kernel_narrow(krf__kernel *k) {
    const int fast = k->n_kept - 1;
    bool narrow = fast > 0 && k->extents[fast] <= MOST && k->kept_size >= FEWEST;
    for (uint32_t i = 0; i < k->n_operands && narrow; i++) {
        const krf__operand *o = &k->operands[i];
        const krf__narrow_place place = krf__narrow_place_of(k, o);
        const bool in_order = place == KRF__NARROW_FLAT || place == KRF__NARROW_CONSTANT;
        narrow = o->store ? place == KRF__NARROW_FLAT && o->strides[fast] == 1 : in_order || (!o->counts && !o->gathered && !o->half);
    }
    k->narrow = narrow;
}
