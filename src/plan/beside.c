/* Which operands lie a few elements behind others, with the same strides, as fields of records do: their elements have one address, and a number that is text. Differences of places are small then, or a kernel
 * would be one for each length of a row. On a GPU those of reductions; on the CPU those of maps, whose strides of a few elements are text too: gcc then takes whole records apart, where it would load element by
 * element (colours of u8 that become grey 3.5 -> 0.85 ms by one thread). */
#include "plan/vector.h"

#include <string.h>

#define MOST 15 /* elements */

static bool may_share(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    return krf__loads(k, operand) && !o->counts && !o->gathered && !o->half && o->inner == 0 && !o->store;
}

static bool same_records(const krf__operand *a, const krf__operand *b) { return a->buffer == b->buffer && a->dtype == b->dtype && memcmp(a->strides, b->strides, sizeof a->strides) == 0; }

/* Whether both ends of records are loaded. Else gcc leaves the last records of a strip to a loop of scalars, which are half of it where bytes become numbers of 4 bytes. */
static bool has_ends(const krf__kernel *k, uint32_t operand, int64_t stride) {
    int64_t low = k->operands[operand].offset, high = low;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (may_share(k, i) && same_records(o, &k->operands[operand])) {
            low = o->offset < low ? o->offset : low;
            high = o->offset > high ? o->offset : high;
        }
    }
    return high - low == stride - 1;
}

static bool widens(const krf__kernel *k, const krf__operand *o) {
    size_t widest = 1;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const size_t bytes = krf_dtype_size((krf_dtype)k->instrs[i].dtype);
        widest = bytes > widest ? bytes : widest;
    }
    return widest >= 4 * krf_dtype_size((krf_dtype)o->dtype);
}

static void mark_fixed(krf__kernel *k, bool records) {
    const int fast = k->n_kept - 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        const bool is_short = records && may_share(k, i) && o->strides[fast] >= 2 && o->strides[fast] <= KRF__RECORD_MOST;
        o->fixed = is_short && (!widens(k, o) || has_ends(k, i, o->strides[fast])) ? (uint8_t)(fast + 1) : 0;
    }
}

void krf__kernel_beside(krf__kernel *k, const krf__limits *limits) {
    const bool reduces = limits->many_threads && limits->vectors != 0 && k->n_rounds == 0 && k->vector == 1 && (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW);
    const bool records = !limits->many_threads && k->schedule == KRF__MAP && k->n_kept > 0;
    mark_fixed(k, records);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        const bool may = reduces || (records && o->fixed != 0);
        o->beside = 0;
        o->apart = 0;
        for (uint32_t j = 0; j < i && may && o->beside == 0 && may_share(k, i); j++) {
            const krf__operand *first = &k->operands[j];
            const int64_t apart = o->offset - first->offset;
            if (may_share(k, j) && first->beside == 0 && same_records(first, o) && apart >= -MOST && apart <= MOST) {
                o->beside = (uint16_t)(j + 1);
                o->apart = (int16_t)apart;
            }
        }
    }
}
