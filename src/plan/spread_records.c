/* Reductions that were spread over records of bytes (plan/spread.c), as colours are: whole records are loaded by words. */
#include "plan/schedule.h"
#include "plan/vector.h"

#define RECORDS 4      /* of bytes, which a thread loads by words: byte by byte colours take more than twice as long */
#define MOST_FIELDS 4

/* The operand that has the first field of records of bytes, of which all fields are loaded, and nothing else is; -1: there is none. */
static int64_t first_field(const krf__kernel *k) {
    const int fast = k->n_kept + k->n_reduced - 1;
    int64_t first = -1, fields = 0;
    bool all = k->spread && k->n_reduced == 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (krf__along_rows(k, i)) {
            first = first < 0 || k->operands[i].offset < k->operands[first].offset ? i : first;
            fields++;
        }
    }
    for (uint32_t i = 0; i < k->n_operands && first >= 0; i++) {
        const krf__operand *o = &k->operands[i], *f = &k->operands[first];
        all &= !krf__along_rows(k, i) || (!o->counts && !o->gathered && krf_dtype_size((krf_dtype)o->dtype) == 1 && o->dtype == f->dtype && o->buffer == f->buffer && o->strides[fast] == fields && o->offset - f->offset < fields);
    }
    return all && first >= 0 && fields >= 2 && fields <= MOST_FIELDS && k->operands[first].offset % krf__record_word(RECORDS * (int)fields) == 0 ? first : -1;
}

/* What takes long is as fast byte by byte, a lane of each result (colours that are divided by 255 take 0.92 of the time). */
static bool divides(const krf__kernel *k) {
    bool found = false;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        found |= k->instrs[i].op == KRF__divide;
    }
    return found;
}

int krf__spread_vector(const krf__kernel *k, bool unaligned, const krf__limits *limits) {
    return !unaligned && limits->vectors != 0 && !krf__costly_domain(k) && !divides(k) && first_field(k) >= 0 ? RECORDS : 1;
}

void krf__mark_spread(krf__kernel *k) {
    const int64_t first = k->vector == RECORDS ? first_field(k) : -1;
    for (uint32_t i = 0; i < k->n_operands && first >= 0; i++) {
        k->operands[i].record = krf__along_rows(k, i) ? (uint16_t)(1 + first) : 0;
    }
}
