/* Reductions of integers of 8 or 16 bits. */
#include "plan/kernel.h"

/* Whether no square of such a byte wraps. */
static bool has_squares(krf_dtype dtype, krf_dtype of) { return krf_dtype_size(dtype) >= 4 || dtype == (of == KRF_I8 ? KRF_I16 : KRF_U16); }

/* The byte that is loaded, cast and multiplied by itself; else NULL. */
static const krf__instr *squared_byte(const krf__kernel *k, const krf__instr *product) {
    const krf__instr *cast = &k->instrs[product->args[0]], *load = cast->op == KRF__cast ? &k->instrs[cast->args[0]] : cast;
    const bool squared = product->op == KRF__multiply && product->args[0] == product->args[1];
    return squared && load->op == KRF__load && krf_dtype_size((krf_dtype)load->dtype) == 1 && has_squares((krf_dtype)product->dtype, (krf_dtype)load->dtype) ? load : NULL;
}

bool krf__narrow_sum(const krf__kernel *k, uint32_t r) {
    const krf__instr *i = &k->instrs[k->n_domain + r], *value = &k->instrs[i->args[0]];
    const bool integers = krf__dtype((krf_dtype)value->from)->kind != KRF__KIND_REAL && krf__dtype((krf_dtype)i->dtype)->kind != KRF__KIND_REAL;
    const bool narrow = krf_dtype_size((krf_dtype)value->from) < 4 || (value->op == KRF__cast && squared_byte(k, &k->instrs[value->args[0]]) != NULL);
    return k->schedule != KRF__SCAN && i->op == KRF__sum && value->op == KRF__cast && integers && narrow && krf_dtype_size((krf_dtype)value->dtype) == 8;
}

krf__bytes_fold krf__bytes_fold_of(const krf__kernel *k, uint32_t r, const krf__instr **load) {
    const krf__instr *i = &k->instrs[k->n_domain + r], *value = &k->instrs[i->args[0]], *inner = value->op == KRF__cast ? &k->instrs[value->args[0]] : value, *squared = squared_byte(k, inner);
    const bool found = i->op == KRF__max || i->op == KRF__min || i->op == KRF__any || i->op == KRF__all;
    *load = squared != NULL ? squared : inner;
    if ((*load)->op != KRF__load || krf_dtype_size((krf_dtype)(*load)->dtype) != 1 || k->operands[(*load)->slot].counts) {
        return KRF__BYTES_OTHER;
    }
    if (krf__narrow_sum(k, r)) {
        return squared != NULL ? KRF__BYTES_SQUARES : KRF__BYTES_SUM;
    }
    return found && value == *load && k->schedule != KRF__SCAN ? KRF__BYTES_TOP : KRF__BYTES_OTHER;
}
