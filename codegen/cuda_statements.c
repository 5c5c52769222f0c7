/* The CUDA target: the statements of a body, what does not vary before what does, half-precision ones by twos, and bytes by four. */
#include "codegen/cuda.h"

/* Of the domain part, only what depends on a load (varying), or only what does not. */
static void put_some(krf__emitter *e, uint32_t first, uint32_t last, bool varying, const char *indent, krf__str *out) {
    for (uint32_t i = first; i < last; i++) {
        krf__str line = {0};
        const bool in_round = i < e->k->n_domain && e->k != e->kernel;
        if ((i < e->k->n_domain && e->taint[i] != varying) || (in_round && !e->needed[i])) {
            continue;
        }
        if (e->twos && varying && e->mode == 0 && i < e->k->n_domain) {
            krf__cuda_put_twos(e, i, &line);
        } else if (e->bytes4 && varying && e->mode != 3 && i < e->k->n_domain) {
            krf__cuda_put_byte4(e, i, &line);
        } else if (in_round && i == e->replaced) {
            krf__cuda_put_kept(e, i, &line);
        } else {
            krf__emit_statement(e, i, &line);
            if (in_round && i == e->saved) {
                krf__cuda_put_kept(e, i, &line);
            }
        }
        krf__cuda_put_lines(out, indent, line.data);
        out->failed |= line.failed;
        krf__str_free(&line);
    }
}

void krf__cuda_put_statements(krf__emitter *e, uint32_t first, uint32_t last, const char *indent, krf__str *out) {
    put_some(e, first, last, true, indent, out);
}

/* Computed once a thread, because the compiler may not fold it. */
void krf__cuda_put_fixed(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *n = &k->instrs[i];
        e->taint[i] = (n->op == KRF__load && k->operands[n->slot].inner == 0) || n->op == KRF__fetch;
        for (int a = 0; a < krf__op_info_of(k->instrs[i].op)->arity; a++) {
            e->taint[i] |= e->taint[k->instrs[i].args[a]];
        }
    }
    put_some(e, 0, k->n_domain, false, "", out);
    krf__cuda_by_twos(e);
    krf__cuda_by_byte4(e);
}

void krf__cuda_put_results(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = r%u;\n", krf__reduction_type(e, r), k->n_domain + r, r);
    }
    e->mode = 1;
    krf__cuda_put_statements(e, k->n_domain + k->n_reductions, k->n_instrs, "", out);
    e->mode = 0;
    for (uint32_t i = k->n_domain + k->n_reductions; i < k->n_instrs; i++) {
        if (k->instrs[i].op == KRF__store) {
            krf__cuda_put_store(e, &k->instrs[i], false, out);
        }
    }
}
