/* What follows from the launch of a raw kernel once all of its parameters are known. */
#include "plan/raw_call.h"

#include "base/mem.h"
#include "ir/dtype.h"

#include <string.h>

void krf__raw_pack(const krf__raw_call *call, void *const *pointers, const uint64_t *scalars, uint64_t *fields) {
    const krf__raw *raw = call->raw;
    for (int i = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        const krf__raw_slot *slot = &call->slots[i];
        const size_t bytes = krf_dtype_size(krf__part_of(p->dtype));
        uint64_t parts[2] = {slot->bits[0], slot->bits[1]};
        if (p->role != KRF__ROLE_SCALAR) {
            fields[slot->field] = (uint64_t)(uintptr_t)pointers[slot->operand];
            continue;
        }
        for (int half = 0; half < (krf__is_complex(p->dtype) ? 2 : 1); half++) {
            if (!slot->known[half]) {
                parts[half] = krf__bits_cast((krf_dtype)slot->from[half], krf__part_of(p->dtype), scalars[slot->scalar[half]]);
            }
            fields[slot->field] = half == 0 ? 0 : fields[slot->field];
            memcpy((char *)&fields[slot->field] + (size_t)half * bytes, &parts[half], bytes);
        }
    }
}

void krf__raw_addresses(const krf__raw_call *call, const uint64_t *fields, void **addresses) {
    for (int i = 0; i < call->raw->n_parameters; i++) {
        addresses[i] = (void *)(uintptr_t)&fields[call->slots[i].field];
    }
}

void krf__raw_bytes(const krf__raw_call *call, int64_t *read, int64_t *written) {
    const krf__raw *raw = call->raw;
    for (int i = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        const int64_t bytes = call->slots[i].size * (int64_t)krf_dtype_size(p->dtype);
        *read += p->role == KRF__ROLE_IN || p->role == KRF__ROLE_INOUT ? bytes : 0;
        *written += krf__parameter_written(p) ? bytes : 0;
    }
}

int64_t krf__raw_elements(const krf__raw_call *call) {
    int64_t n = 0;
    for (int i = 0; i < call->raw->n_parameters; i++) {
        n += call->slots[i].size;
    }
    return n;
}

void krf__raw_call_free(krf__raw_call *call) {
    if (call != NULL) {
        krf__raw_release(call->raw);
        krf__mem_free(call);
    }
}
