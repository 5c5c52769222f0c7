/* The argument block of a kernel. */
#include "plan/arguments.h"

#include "plan/raw_call.h"

#include <string.h>

static uint32_t stride_fields(const krf__kernel *k) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        for (int d = 0; d < k->n_kept + k->n_reduced && k->operands[i].inner == 0; d++) {
            n += krf__stride_class(k, &k->operands[i], d) == 2;
        }
    }
    return n;
}

static uint32_t pointer_fields(const krf__kernel *k) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        n += k->operands[i].inner == 0;
    }
    return n;
}

uint32_t krf__argument_fields(const krf__kernel *k) {
    if (k->raw != NULL) {
        return k->raw->n_fields;
    }
    return pointer_fields(k) + k->n_scalars + (uint32_t)(k->n_kept + k->n_reduced) + stride_fields(k) + (k->n_reductions > 0 ? 4 : 0) + (k->period > 0 ? 2 : 0) + k->ahead;
}

uint32_t krf__reciprocal(uint32_t n) {
    uint64_t power = 1;
    while (power < n) {
        power *= 2;
    }
    return (uint32_t)(((power - n) << 32) / n + 1);
}

bool krf__divides_by(const krf__kernel *k, int dim) {
    return !k->wide && (k->literal >> dim & 1) == 0 && dim != 0 && dim != k->n_kept;
}

void krf__argument_pack(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch, void *tickets,
                        uint64_t *fields) {
    int dims = k->n_kept + k->n_reduced;
    if (k->raw != NULL) {
        krf__raw_pack(k->raw, pointers, scalars, fields);
        return;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->operands[i].inner == 0) {
            *fields++ = (uint64_t)(uintptr_t)pointers[i];
        }
    }
    for (uint32_t i = 0; i < k->n_scalars; i++) {
        *fields++ = scalars[i];
    }
    for (int d = 0; d < dims; d++) {
        *fields++ = (uint64_t)k->extents[d] | (krf__divides_by(k, d) && k->extents[d] > 0 ? (uint64_t)krf__reciprocal((uint32_t)k->extents[d]) << 32 : 0);
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        for (int d = 0; d < dims; d++) {
            if (k->operands[i].inner == 0 && krf__stride_class(k, &k->operands[i], d) == 2) {
                *fields++ = (uint64_t)k->operands[i].strides[d];
            }
        }
    }
    if (k->n_reductions > 0) {
        *fields++ = (uint64_t)k->chunk;
        *fields++ = (uint64_t)k->chunks;
        *fields++ = (uint64_t)(uintptr_t)scratch;
        *fields++ = (uint64_t)(uintptr_t)tickets;
    }
    if (k->period > 0) {
        *fields++ = (uint64_t)k->period;
        *fields++ = (uint64_t)k->periods;
    }
    if (k->ahead) {
        *fields = KRF__NOT_APART;
    }
}

void krf__argument_set_apart(const krf__kernel *k, bool fills, uint64_t *fields) {
    if (k->ahead) {
        fields[krf__argument_fields(k) - 1] = fills ? KRF__APART_AND_FILLS : KRF__APART;
    }
}

static bool put(uint64_t *field, uint64_t value) {
    const bool other = *field != value;
    *field = value;
    return other;
}

static bool repack_raw(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, uint32_t n, uint64_t *fields) {
    uint64_t fresh[2 * KRF__MOST_PARAMETERS];
    bool changed = false;
    memcpy(fresh, fields, n * sizeof *fields);
    krf__raw_pack(k->raw, pointers, scalars, fresh);
    for (uint32_t i = 0; i < n; i++) {
        changed |= put(&fields[i], fresh[i]);
    }
    return changed;
}

bool krf__argument_repack(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch, void *tickets, uint32_t n, uint64_t *fields) {
    bool changed = false;
    uint64_t *field = fields;
    if (k->raw != NULL) {
        return repack_raw(k, pointers, scalars, n, fields);
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->operands[i].inner == 0) {
            changed |= put(field++, (uint64_t)(uintptr_t)pointers[i]);
        }
    }
    for (uint32_t i = 0; i < k->n_scalars; i++) {
        changed |= put(field++, scalars[i]);
    }
    if (k->n_reductions > 0) {
        field = fields + n - 2 - k->ahead;
        changed |= put(field, (uint64_t)(uintptr_t)scratch);
        changed |= put(field + 1, (uint64_t)(uintptr_t)tickets);
    }
    return changed;
}
