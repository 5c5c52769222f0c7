/* Reductions of integers of 8 or 16 bits. */
#include "plan/kernel.h"

/* Whether no product of two such bytes wraps: squares of negative ones come back from it, other products without a sign do not. */
static bool has_products(krf_dtype dtype, const krf__instr *a, const krf__instr *b) {
    const bool sign = a->dtype == KRF_I8 || b->dtype == KRF_I8, has_sign = krf__dtype(dtype)->kind == KRF__KIND_SINT;
    return krf_dtype_size(dtype) >= 4 ? !sign || has_sign || a == b : dtype == (sign ? KRF_I16 : KRF_U16);
}

/* The byte that is loaded, and cast; else NULL. */
static const krf__instr *cast_byte(const krf__kernel *k, uint32_t instr) {
    const krf__instr *cast = &k->instrs[instr], *load = cast->op == KRF__cast ? &k->instrs[cast->args[0]] : cast;
    return load->op == KRF__load && krf_dtype_size((krf_dtype)load->dtype) == 1 ? load : NULL;
}

/* Whether two bytes are loaded, cast and multiplied, or one by itself; NULL where not. */
static bool multiplies_bytes(const krf__kernel *k, const krf__instr *product, const krf__instr *loads[2]) {
    loads[0] = loads[1] = NULL;
    if (product->op == KRF__multiply) {
        const krf__instr *a = cast_byte(k, product->args[0]), *b = cast_byte(k, product->args[1]);
        const bool both = a != NULL && b != NULL && has_products((krf_dtype)product->dtype, a, b);
        loads[0] = both ? a : NULL;
        loads[1] = both ? b : NULL;
    }
    return loads[0] != NULL;
}

bool krf__narrow_sum(const krf__kernel *k, uint32_t r) {
    const krf__instr *i = &k->instrs[k->n_domain + r], *value = &k->instrs[i->args[0]], *loads[2];
    const bool integers = krf__dtype((krf_dtype)value->from)->kind != KRF__KIND_REAL && krf__dtype((krf_dtype)i->dtype)->kind != KRF__KIND_REAL;
    const bool narrow = krf_dtype_size((krf_dtype)value->from) < 4 || (value->op == KRF__cast && multiplies_bytes(k, &k->instrs[value->args[0]], loads));
    return k->schedule != KRF__SCAN && i->op == KRF__sum && value->op == KRF__cast && integers && narrow && krf_dtype_size((krf_dtype)value->dtype) == 8;
}

krf__bytes_fold krf__bytes_fold_of(const krf__kernel *k, uint32_t r, const krf__instr *loads[2]) {
    const krf__instr *i = &k->instrs[k->n_domain + r], *value = &k->instrs[i->args[0]], *inner = value->op == KRF__cast ? &k->instrs[value->args[0]] : value;
    const bool found = i->op == KRF__max || i->op == KRF__min || i->op == KRF__any || i->op == KRF__all, products = multiplies_bytes(k, inner, loads);
    loads[0] = products ? loads[0] : inner;
    loads[1] = products ? loads[1] : inner;
    for (int n = 0; n < 2; n++) {
        if (loads[n]->op != KRF__load || krf_dtype_size((krf_dtype)loads[n]->dtype) != 1 || k->operands[loads[n]->slot].counts) {
            return KRF__BYTES_OTHER;
        }
    }
    if (krf__narrow_sum(k, r)) {
        return products ? KRF__BYTES_PRODUCTS : KRF__BYTES_SUM;
    }
    return found && value == loads[0] && k->schedule != KRF__SCAN ? KRF__BYTES_TOP : KRF__BYTES_OTHER;
}

bool krf__folds_bytes(const krf__kernel *k) {
    bool all = k->n_reductions > 0, products = false;
    for (uint32_t r = 0; all && r < k->n_reductions; r++) {
        const krf__instr *loads[2];
        const krf__bytes_fold fold = krf__bytes_fold_of(k, r, loads);
        all = fold != KRF__BYTES_OTHER;
        products |= fold == KRF__BYTES_PRODUCTS;
    }
    for (uint32_t n = 0; all && n < k->n_domain; n++) {
        all = k->instrs[n].op == KRF__load || k->instrs[n].op == KRF__cast || (products && k->instrs[n].op == KRF__multiply);
    }
    return all;
}
