/* The launch of a user's own kernel: how its parameters are filled, and what it reads and writes. */
#ifndef KRF_PLAN_RAW_CALL_H
#define KRF_PLAN_RAW_CALL_H

#include "ir/raw.h"

/* Where the value of a parameter comes from. */
typedef struct krf__raw_slot {
    uint32_t field;        /* its first one in the argument block */
    uint32_t operand;      /* arrays */
    bool known[2];         /* scalars, by halves: bits says what it is; else scalar, a value of dtype `from`, which is converted */
    uint8_t from[2];
    uint64_t bits[2];
    uint32_t scalar[2];
    int64_t size;          /* arrays: elements */
} krf__raw_slot;

typedef struct krf__raw_call {
    krf__raw *raw; /* retained */
    krf__raw_launch launch;
    uint32_t n_fields;
    krf__raw_slot slots[KRF__MOST_PARAMETERS]; /* one for each parameter, in order */
} krf__raw_call;

/* Of all of its arrays. */
int64_t krf__raw_elements(const krf__raw_call *call);

/* pointers: of the kernel's operands; scalars: of the kernel's. fields: call->n_fields of them. */
void krf__raw_pack(const krf__raw_call *call, void *const *pointers, const uint64_t *scalars, uint64_t *fields);

/* The addresses of the parameters in the argument block, as CUDA wants them; there is room for KRF__MOST_PARAMETERS. */
void krf__raw_addresses(const krf__raw_call *call, const uint64_t *fields, void **addresses);

void krf__raw_bytes(const krf__raw_call *call, int64_t *read, int64_t *written);
void krf__raw_call_free(krf__raw_call *call); /* NULL is allowed */

#endif
