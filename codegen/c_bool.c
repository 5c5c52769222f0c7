/* The C target's bools: as wide as the narrowest numbers of the kernel. Compilers make vectors of as many elements as the narrowest type of a loop has: beside f64, bools in bytes would unroll all else
 * eight times, which takes ten times as long to compile and the registers of all. */
#include "codegen/emitter.h"

static void narrow(krf_dtype dtype, int *bytes) {
    const int own = krf__value_bytes(dtype);
    *bytes = own < *bytes ? own : *bytes;
}

const char *krf__c_bool_type(const krf__kernel *k) {
    static const char *const types[] = {NULL, "unsigned char", "short", NULL, "int", NULL, NULL, NULL, "long long"};
    int bytes = 8;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (!krf__is_real((krf_dtype)k->operands[i].dtype)) {
            narrow((krf_dtype)k->operands[i].dtype, &bytes);
        }
    }
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        const bool reduces = i >= k->n_domain && i < k->n_domain + k->n_reductions;
        if (k->instrs[i].dtype != KRF_BOOL || reduces) {
            narrow((krf_dtype)k->instrs[i].dtype, &bytes);
        }
    }
    return types[bytes];
}
