/* The CUDA target's sums of bytes as they are loaded: a GPU adds four of them to an accumulator at once. Integers, for which no order matters. */
#include "codegen/cuda.h"

bool krf__cuda_vectored(const krf__emitter *e, uint32_t operand) { return e->k->operands[operand].aligned && !e->k->operands[operand].counts; }

/* The load that a reduction adds up, converted and nothing else; NULL: it is another one. */
static const krf__instr *bytes_of(const krf__emitter *e, uint32_t r) {
    const krf__instr *value = &e->k->instrs[krf__reduction(e, r)->args[0]], *load = value->op == KRF__cast ? &e->k->instrs[value->args[0]] : value;
    const bool bytes = load->op == KRF__load && (load->dtype == KRF_I8 || load->dtype == KRF_U8);
    return bytes && krf__sums_narrow(e, r) && krf__cuda_vectored(e, load->slot) ? load : NULL;
}

bool krf__cuda_by_fours(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    bool all = k->vector == 16 && k->n_reductions > 0;
    for (uint32_t r = 0; all && r < k->n_reductions; r++) {
        all = bytes_of(e, r) != NULL;
    }
    for (uint32_t n = 0; all && n < k->n_domain; n++) {
        all = k->instrs[n].op == KRF__load || k->instrs[n].op == KRF__cast;
    }
    return all;
}

void krf__cuda_put_fours(const krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const krf__instr *load = bytes_of(e, r);
        if (e->k->drifts) {
            krf__str_printf(out, "v_%s[q].four[k] &= krf_bytes_there(there >> 4 * k);\n", e->operand_names[load->slot]);
        }
        krf__str_printf(out, load->dtype == KRF_I8 ? "if (valid) {\n    acc%u[k] = __dp4a(v_%s[q].four[k], 0x01010101, acc%u[k]);\n}\n"
                                                   : "if (valid) {\n    acc%u[k] = (int)__dp4a((unsigned)v_%s[q].four[k], 0x01010101u, (unsigned)acc%u[k]);\n}\n",
                        r, e->operand_names[load->slot], r);
    }
}

/* Of columns: a byte of the four to an accumulator of its own. */
void krf__cuda_put_one_of_four(const krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const krf__instr *load = bytes_of(e, r);
        krf__str_printf(out, load->dtype == KRF_I8 ? "acc%u[k] = __dp4a(v_%s[g].four[k / 4], 1 << k %% 4 * 8, acc%u[k]);\n"
                                                   : "acc%u[k] = (int)__dp4a((unsigned)v_%s[g].four[k / 4], 1u << k %% 4 * 8, (unsigned)acc%u[k]);\n",
                        r, e->operand_names[load->slot], r);
    }
}
