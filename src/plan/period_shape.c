/* Maps by periods (krf__kernel.period): what operands are the same for, and how many threads there are. */
#include "plan/kernel.h"

krf__in_period krf__period_of(const krf__kernel *k, const krf__operand *o) {
    const int last = k->n_kept - 1;
    bool same = true; /* in all rows */
    for (int d = 0; d < last; d++) {
        same &= o->strides[d] == 0;
    }
    return o->counts ? KRF__COUNTS : o->strides[last] == 0 ? KRF__OF_ROW : same ? KRF__OF_COLUMN : KRF__OF_ELEMENT;
}

/* Each has the vectors of some periods, as far as there are such; of the last ones, which may be fewer, those that begin with one. */
int64_t krf__period_threads(const krf__kernel *k) {
    const int64_t vectors = (k->kept_size + k->vector - 1) / k->vector, group = k->period * k->periods, rest = vectors % group;
    return vectors / group * k->period + (rest < k->period ? rest : k->period);
}
