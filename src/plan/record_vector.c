/* Maps on a GPU whose elements are fields of records in memory: a thread has the records of a few words, takes the fields out of these and puts them together in registers. Elements one by one ask for each line as often as records
 * have fields. Words of 4 bytes where fields are three, whose records are no power of two long: threads that have 16 bytes side by side each in three accesses leave half of every line to the next one (colours of u8 0.99 of
 * the copy bandwidth of an H100, not 0.53). */
#include "plan/schedule.h"
#include "plan/vector.h"

enum { THIRD = 3, WORD = 4, MOST_WORD = 16, MOST_BYTES = 48 /* of the records of one operand that a thread has */ };

static int size_of(const krf__operand *o) { return (int)krf_dtype_size((krf_dtype)o->dtype); }

static bool is_strided(const krf__kernel *k, const krf__operand *o) {
    const int64_t stride = o->strides[k->n_kept - 1];
    return !o->counts && !o->gathered && stride >= 2 && stride <= KRF__RECORD_MOST;
}

/* Whether records of an operand's length that begin with it come in whole words of v of them. */
static bool has_words(const krf__kernel *k, const krf__operand *o, int v) {
    const int bytes = v * (int)o->strides[k->n_kept - 1] * size_of(o), word = krf__record_word(bytes);
    bool whole = bytes % WORD == 0 && o->offset * size_of(o) % word == 0;
    for (int d = 0; d < k->n_kept - 1; d++) {
        whole &= o->strides[d] * size_of(o) % word == 0;
    }
    return whole;
}

int krf__record_word(int bytes) { return bytes % MOST_WORD == 0 ? MOST_WORD : bytes % 8 == 0 ? 8 : WORD; }

/* Vectors of any other length have no words. */
static int power_in(int n) {
    int power = 1;
    while (2 * power <= n) {
        power *= 2;
    }
    return power;
}

/* The records that a thread would have, by the narrowest; 1: none are in the way of vectors, or of none there are several. */
static int length_of(const krf__kernel *k) {
    int v = 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (is_strided(k, o)) {
            const int fields = (int)o->strides[k->n_kept - 1], own = power_in(fields == THIRD ? WORD / size_of(o) : MOST_WORD / (fields * size_of(o)));
            v = own > v ? own : v;
        }
    }
    return v;
}

int krf__record_vector(const krf__kernel *k) {
    const int fast = k->n_kept - 1, v = length_of(k);
    bool any = false, may = v > 1 && (k->n_kept == 1 || k->extents[fast] % v == 0);
    for (uint32_t i = 0; i < k->n_operands && may; i++) {
        const krf__operand *o = &k->operands[i];
        const bool wide = v * size_of(o) > MOST_WORD || (is_strided(k, o) && v * (int)o->strides[fast] * size_of(o) > MOST_BYTES);
        may = o->counts || o->gathered || (!o->half && !(wide && o->strides[fast] != 0) && (is_strided(k, o) || krf__stride_class(k, o, fast) <= 1));
        if (may && o->store) {
            may = is_strided(k, o) ? krf__begins_record(k, o) || krf__is_in_record(k, i) : o->strides[fast] == 1 && krf__in_vectors(k, o, fast, v);
            may = may && (!krf__begins_record(k, o) || has_words(k, o, v));
        }
        any |= may && krf__begins_record(k, o) && has_words(k, o, v);
    }
    return may && any ? v : 1;
}

/* Fields that are not read with the others of their records, or not from the beginning of a word, are read one by one. */
void krf__mark_records(krf__kernel *k) {
    for (uint32_t i = 0; i < k->n_operands && k->schedule == KRF__MAP && k->vector > 1; i++) {
        krf__operand *o = &k->operands[i];
        if (is_strided(k, o) && o->record == 0 && krf__begins_record(k, o) && has_words(k, o, k->vector)) {
            krf__set_record(k, i);
        }
    }
    for (uint32_t i = 0; i < k->n_operands && k->schedule == KRF__MAP && k->vector > 1; i++) {
        krf__operand *o = &k->operands[i];
        if (is_strided(k, o)) {
            o->aligned = true;
            o->loose = o->record == 0;
            o->fixed = (uint8_t)k->n_kept;
        }
    }
}
