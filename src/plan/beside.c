/* Which operands of a reduction lie a few elements behind others, with the same strides, as fields of records do: their elements have one address, and a number that is text. Differences of places are small then, or a kernel
 * would be one for each length of a row. */
#include "plan/vector.h"

#include <string.h>

#define MOST 15 /* elements */

static bool may_share(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    return krf__loads(k, operand) && !o->counts && !o->gathered && !o->half && o->inner == 0 && !o->store;
}

void krf__kernel_beside(krf__kernel *k, const krf__limits *limits) {
    const bool may = limits->many_threads && limits->vectors != 0 && k->n_rounds == 0 && k->vector == 1 && (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        o->beside = 0;
        o->apart = 0;
        for (uint32_t j = 0; j < i && may && o->beside == 0 && may_share(k, i); j++) {
            const krf__operand *first = &k->operands[j];
            const int64_t apart = o->offset - first->offset;
            if (may_share(k, j) && first->beside == 0 && first->buffer == o->buffer && first->dtype == o->dtype && apart >= -MOST && apart <= MOST && memcmp(first->strides, o->strides, sizeof o->strides) == 0) {
                o->beside = (uint16_t)(j + 1);
                o->apart = (int16_t)apart;
            }
        }
    }
}
