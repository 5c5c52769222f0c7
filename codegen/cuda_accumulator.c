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
    return krf__accumulator_size(e->k, r);
}

int64_t krf__cuda_shared_bytes(const krf__emitter *e, uint32_t r) {
    const int64_t bytes = (int64_t)krf__cuda_accumulator_bytes(e, r);
    return bytes < 4 ? 4 : bytes;
}

/* Whether an instruction is an f64 of 24 bits at most. */
static bool was_narrow(const krf__kernel *k, uint32_t value) {
    const krf__instr *i = &k->instrs[value];
    return i->op == KRF__cast && i->dtype == KRF_F64 && (i->from == KRF_F32 || krf_dtype_size((krf_dtype)i->from) <= 2);
}

bool krf__cuda_takes_product(const krf__emitter *e, uint32_t r) {
    const krf__instr *fold = krf__reduction(e, r), *i = &e->k->instrs[fold->args[0]];
    return fold->op == KRF__sum && fold->dtype == KRF_F64 && i->op == KRF__multiply && i->dtype == KRF_F64 && was_narrow(e->k, i->args[0]) && was_narrow(e->k, i->args[1]);
}

void krf__cuda_put_product_added(const krf__emitter *e, uint32_t r, const char *lane, krf__str *out) {
    const krf__instr *i = &e->k->instrs[krf__reduction(e, r)->args[0]];
    krf__str_put(out, "__builtin_fma(");
    krf__emit_value(e, i->args[0], out);
    krf__str_put(out, ", ");
    krf__emit_value(e, i->args[1], out);
    krf__str_printf(out, ", %s)", lane);
}

void krf__cuda_put_summand(const krf__emitter *e, uint32_t r, krf__str *out) {
    const uint32_t value = krf__reduction(e, r)->args[0];
    const bool narrow = krf__sums_narrow(e, r);
    krf__str_put(out, narrow ? "(int)" : "");
    krf__emit_value(e, narrow ? e->k->instrs[value].args[0] : value, out);
}
