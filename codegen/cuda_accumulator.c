/* The CUDA target's accumulators of a chunk, those of a thread: their type, how many there are, and what an element adds to one. */
#include "codegen/cuda.h"

const char *krf__cuda_accumulator_type(const krf__emitter *e, uint32_t r) { return krf__sums_narrow(e, r) ? "int" : krf__reduction_type(e, r); }

int krf__cuda_accumulators(const krf__emitter *e) {
    if (e->k->lines > 1 && e->k->schedule != KRF__REDUCE_SHORT && krf__all_order_free(e->k)) { /* registers are for more results then */
        return 1;
    }
    return e->k->schedule == KRF__ROW_COL ? krf__side_lanes(e->k) : 8 / e->k->team;
}

size_t krf__cuda_accumulator_bytes(const krf__emitter *e, uint32_t r) {
    const uint32_t words = krf__accumulator_words(e->k, r);
    return words > 1 ? 8 * words : krf_dtype_size((krf_dtype)krf__reduction(e, r)->dtype);
}

int64_t krf__cuda_shared_bytes(const krf__emitter *e, uint32_t r) {
    const int64_t bytes = (int64_t)krf__cuda_accumulator_bytes(e, r);
    return bytes < 4 ? 4 : bytes;
}

void krf__cuda_put_summand(const krf__emitter *e, uint32_t r, krf__str *out) {
    const uint32_t value = krf__reduction(e, r)->args[0];
    const bool narrow = krf__sums_narrow(e, r);
    krf__str_put(out, narrow ? "(int)" : "");
    krf__emit_value(e, narrow ? e->k->instrs[value].args[0] : value, out);
}
