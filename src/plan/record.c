/* Operands of maps whose elements lie side by side in memory, as both halves of complex results and the fields of records do: they go out, or come in, together. */
#include "plan/schedule.h"

#include <string.h>

/* The operand of the field behind `from`, so many elements further on; -1: there is none. */
static int64_t field_of(const krf__kernel *k, const krf__operand *from, int64_t apart) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->store == from->store && o->inner == 0 && !o->counts && !o->gathered && o->buffer == from->buffer && o->dtype == from->dtype && o->offset == from->offset + apart
            && memcmp(o->strides, from->strides, sizeof o->strides) == 0) {
            return i;
        }
    }
    return -1;
}

bool krf__begins_record(const krf__kernel *k, const krf__operand *o) {
    const int64_t fields = k->n_kept > 0 ? o->strides[k->n_kept - 1] : 0;
    bool begins = o->inner == 0 && !o->counts && !o->gathered && fields >= 2 && fields <= KRF__RECORD_MOST;
    for (int64_t f = 1; f < fields && begins; f++) {
        begins = field_of(k, o, f) >= 0;
    }
    return begins;
}

bool krf__is_in_record(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    bool in = false;
    for (int64_t f = 1; f < o->strides[k->n_kept - 1] && !in; f++) {
        const int64_t first = field_of(k, o, -f);
        in = first >= 0 && krf__begins_record(k, &k->operands[first]);
    }
    return in;
}

void krf__set_record(krf__kernel *k, uint32_t first) {
    const int64_t fields = k->operands[first].strides[k->n_kept - 1];
    for (int64_t f = 0; f < fields; f++) {
        krf__operand *field = &k->operands[field_of(k, &k->operands[first], f)];
        field->record = (uint16_t)(1 + first);
        field->fixed = field->half ? 0 : (uint8_t)k->n_kept;
    }
}

void krf__store_records(krf__kernel *k) {
    for (uint32_t i = 0; i < k->n_operands && k->schedule == KRF__MAP; i++) {
        if (k->operands[i].store && k->operands[i].record == 0 && krf__begins_record(k, &k->operands[i])) {
            krf__set_record(k, i);
        }
    }
}
