/* Stores of maps on the CPU whose elements lie side by side in memory, as both halves of complex results and the fields of records do: they go out together. */
#include "plan/schedule.h"

#include <string.h>

/* The operand that stores the field behind `from`, so many elements further on; -1: none does. */
static int64_t field_of(const krf__kernel *k, const krf__operand *from, int64_t apart) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->store && o->inner == 0 && o->buffer == from->buffer && o->dtype == from->dtype && o->offset == from->offset + apart && memcmp(o->strides, from->strides, sizeof o->strides) == 0) {
            return i;
        }
    }
    return -1;
}

static bool begins_record(const krf__kernel *k, const krf__operand *o) {
    const int64_t fields = k->n_kept > 0 ? o->strides[k->n_kept - 1] : 0;
    bool begins = o->store && o->inner == 0 && o->record == 0 && fields >= 2 && fields <= KRF__RECORD_MOST;
    for (int64_t f = 1; f < fields && begins; f++) {
        begins = field_of(k, o, f) >= 0;
    }
    return begins;
}

void krf__kernel_records(krf__kernel *k, const krf__limits *limits) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].record = 0;
    }
    for (uint32_t i = 0; i < k->n_operands && !limits->many_threads && k->schedule == KRF__MAP; i++) {
        krf__operand *o = &k->operands[i];
        for (int64_t f = 0, fields = begins_record(k, o) ? o->strides[k->n_kept - 1] : 0; f < fields; f++) {
            krf__operand *field = &k->operands[field_of(k, o, f)];
            field->record = (uint16_t)(1 + i);
            field->fixed = field->half ? 0 : (uint8_t)k->n_kept;
        }
    }
}
