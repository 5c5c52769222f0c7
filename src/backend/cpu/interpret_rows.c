/* Kernels of several rounds: some rows at a time, few enough to stay in the caches, go through one round after the other, each an ordinary kernel. What a
 * round keeps for later ones lies in scratch, an element of 8 bytes a row. */
#include "backend/cpu/interpret_rows.h"

#include "backend/cpu/interpret.h"
#include "base/fail.h"
#include "base/mem.h"

#include <string.h>

#define BLOCK_ELEMENTS 16384

/* A round with the operands that it uses, and their addresses. */
typedef struct round {
    krf__kernel k;
    void **pointers;
} round;

static bool names_operand(const krf__instr *i) { return i->op == KRF__load || i->op == KRF__fetch || i->op == KRF__store; }

static void open_round(const krf__kernel *k, uint32_t r, void *const *pointers, char *inner, round *out, krf__operand *operands,
                       krf__instr *instrs) {
    out->k = krf__kernel_round(k, r);
    out->k.n_operands = 0;
    memcpy(instrs, out->k.instrs, out->k.n_instrs * sizeof *instrs);
    for (uint32_t i = 0; i < out->k.n_instrs; i++) {
        if (names_operand(&instrs[i])) {
            const krf__operand *o = &k->operands[instrs[i].slot];
            void *at = o->inner != 0 ? inner + (size_t)(o->inner - 1) * (size_t)k->kept_size * 8 : pointers[instrs[i].slot];
            operands[out->k.n_operands] = *o;
            out->pointers[out->k.n_operands] = at;
            instrs[i].slot = out->k.n_operands++;
        }
    }
    out->k.operands = operands;
    out->k.instrs = instrs;
    if (out->k.n_reductions > 0) {
        out->k.schedule = k->chunks > 1 ? KRF__REDUCE_ALL : KRF__REDUCE_ROW;
    } else {
        out->k.schedule = KRF__MAP;
        out->k.n_kept = k->n_kept + k->n_reduced;
        out->k.n_reduced = 0;
        out->k.kept_size = k->kept_size * k->reduced_size;
        out->k.reduced_size = 1;
    }
}

static krf_status run_round(const round *r, const krf__kernel *k, const uint64_t *scalars, void *partials, int64_t lo, int64_t hi) {
    if (r->k.n_reductions == 0) {
        return krf__interpret(&r->k, r->pointers, scalars, NULL, lo * k->reduced_size, hi * k->reduced_size);
    }
    krf_status status = krf__interpret(&r->k, r->pointers, scalars, partials, lo * k->chunks, hi * k->chunks);
    if (status == KRF_OK && k->chunks > 1) {
        status = krf__interpret_finish(&r->k, r->pointers, scalars, partials, lo, hi);
    }
    return status;
}

krf_status krf__interpret_rows(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch, int64_t lo, int64_t hi) {
    round rounds[KRF__MAX_ROUNDS];
    krf_status status = KRF_OK;
    const size_t n = (size_t)k->n_instrs + 1;
    krf__operand *operands = krf__malloc(n * sizeof *operands);
    krf__instr *instrs = krf__malloc(n * sizeof *instrs);
    void **addresses = krf__malloc(n * sizeof *addresses);
    if (operands == NULL || instrs == NULL || addresses == NULL) {
        status = krf__fail_memory();
    }
    for (uint32_t r = 0; status == KRF_OK && r < k->n_rounds; r++) {
        const uint32_t first = k->rounds[r].first;
        rounds[r].pointers = addresses + first;
        open_round(k, r, pointers, scratch, &rounds[r], operands + first, instrs + first);
    }
    void *partials = scratch == NULL ? NULL : (char *)scratch + (size_t)k->kept_size * k->n_inner * 8;
    int64_t length = k->reduced_size < BLOCK_ELEMENTS ? BLOCK_ELEMENTS / k->reduced_size : 1;
    for (int64_t at = lo; status == KRF_OK && at < hi; at += length) {
        const int64_t end = hi - at < length ? hi : at + length;
        for (uint32_t r = 0; status == KRF_OK && r < k->n_rounds; r++) {
            status = run_round(&rounds[r], k, scalars, partials, at, end);
        }
    }
    krf__mem_free(operands);
    krf__mem_free(instrs);
    krf__mem_free(addresses);
    return status;
}
