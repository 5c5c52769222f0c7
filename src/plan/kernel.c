/* Facts that follow from a planned kernel: the canonical tree's chunks, stride classes, rounds. */
#include "plan/kernel.h"

#include "base/mem.h"
#include "plan/raw_call.h"

#include <string.h>

int64_t krf__chunk_length(int64_t n) {
    int log2 = n <= 1 ? 0 : 64 - __builtin_clzll((unsigned long long)(n - 1));
    int chunk = log2 - 12;
    return (int64_t)1 << (chunk < 10 ? 10 : chunk > 14 ? 14 : chunk);
}

size_t krf__narrowest(const krf__kernel *k) {
    size_t bytes = 16;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const size_t size = krf_dtype_size((krf_dtype)k->operands[i].dtype);
        bytes = size < bytes ? size : bytes;
    }
    return bytes;
}

bool krf__any_order(const krf__kernel *k) {
    const bool costly = krf__costly_domain(k);
    bool exact = k->n_reductions > 0 && !(krf__stores_elements(k) && krf__narrowest(k) >= 4);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        const krf__instr *i = &k->instrs[k->n_domain + r];
        const bool extreme = k->schedule == KRF__REDUCE_COL && (i->op == KRF__max || i->op == KRF__min) && !costly;
        exact &= (extreme || krf__dtype((krf_dtype)i->dtype)->kind != KRF__KIND_REAL) && i->op != KRF__fold;
    }
    return exact;
}

bool krf__order_free(const krf__instr *reduction) {
    const bool whole = krf__dtype((krf_dtype)reduction->dtype)->kind < KRF__KIND_REAL;
    return reduction->op == KRF__max || reduction->op == KRF__min || (whole && !krf__op_is_fold((krf__op)reduction->op));
}

bool krf__all_order_free(const krf__kernel *k) {
    bool all = k->n_reductions > 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        all &= krf__order_free(&k->instrs[k->n_domain + r]);
    }
    return all;
}

bool krf__loads(const krf__kernel *k, uint32_t operand) {
    for (uint32_t n = 0; n < k->n_domain; n++) {
        if ((k->instrs[n].op == KRF__load || k->instrs[n].op == KRF__fetch) && k->instrs[n].slot == operand) {
            return true;
        }
    }
    return false;
}

bool krf__literal_rows(const krf__kernel *k) { return krf__short_rows(k) && (k->literal >> k->n_kept & 1) != 0; }

bool krf__literal_chunk(const krf__kernel *k) { return (k->schedule == KRF__ROW || k->schedule == KRF__ROW_COL) && (k->literal >> k->n_kept & 1) != 0; }

bool krf__costly(const krf__instr *i) {
    if (i->op == KRF__call || i->op == KRF__fold_map) {
        return krf__result_of(i->value)->op->costly;
    }
    return krf__op_is_costly((krf__op)i->op, krf__dtype((krf_dtype)i->from)->kind);
}

bool krf__costly_domain(const krf__kernel *k) {
    bool any = false;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        any |= krf__costly(&k->instrs[i]);
    }
    return any;
}

const char *krf__schedule_name(krf__schedule schedule) {
    static const char *const names[KRF__SCHEDULE_COUNT] = {"map", "reduce_all", "reduce_row", "reduce_short", "reduce_col", "scan", "row", "row_short", "row_col", "tile", "raw"};
    return (unsigned)schedule < KRF__SCHEDULE_COUNT ? names[schedule] : "?";
}

bool krf__short_rows(const krf__kernel *k) { return k->schedule == KRF__REDUCE_SHORT || k->schedule == KRF__ROW_SHORT; }

bool krf__is_map(const krf__kernel *k) { return k->schedule == KRF__MAP || k->schedule == KRF__TILE; }

int krf__stride_class(const krf__kernel *k, const krf__operand *o, int dim) {
    (void)k;
    return o->strides[dim] == 0 ? 0 : o->strides[dim] == 1 ? 1 : (o->half && o->strides[dim] == 2) || o->fixed == dim + 1 ? 3 : 2;
}

uint32_t krf__kernel_rounds(const krf__kernel *k) { return k->n_rounds > 0 ? k->n_rounds : 1; }

krf__kernel krf__kernel_round(const krf__kernel *k, uint32_t r) {
    krf__kernel round = *k;
    if (k->n_rounds == 0) {
        return round;
    }
    const krf__round *from = &k->rounds[r];
    round.instrs = k->instrs + from->first;
    round.n_instrs = from->n_instrs;
    round.n_domain = from->n_domain;
    round.n_reductions = from->n_reductions;
    round.n_rounds = 0;
    return round;
}

bool krf__same_for_rows(const krf__kernel *k, const krf__operand *o) {
    bool same = true;
    for (int d = 0; d < k->n_kept; d++) {
        same &= o->strides[d] == 0;
    }
    return same;
}

bool krf__shared_by_rows(const krf__kernel *k, const krf__operand *o) {
    bool shared = false;
    for (int d = 0; d < k->n_kept; d++) {
        shared |= o->strides[d] == 0;
    }
    return shared;
}

bool krf__along_rows(const krf__kernel *k, uint32_t operand) {
    bool along = false;
    for (int d = k->n_kept; d < k->n_kept + k->n_reduced; d++) {
        along |= k->operands[operand].strides[d] != 0;
    }
    return along && !k->operands[operand].counts && krf__loads(k, operand);
}

int krf__rounds_with(const krf__kernel *k, uint32_t operand) {
    int n = 0;
    for (uint32_t r = 0; r < krf__kernel_rounds(k); r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        n += krf__loads(&round, operand);
    }
    return n;
}

const char *krf__kernel_symbol(const krf__kernel *k) { return k->raw != NULL ? k->raw->raw->name : k->name; }

void krf__kernel_free(krf__kernel *k) {
    krf__raw_call_free(k->raw);
    krf__mem_free(k->operands);
    krf__mem_free(k->scalars);
    krf__mem_free(k->instrs);
    for (uint32_t i = 0; i < k->n_ops; i++) {
        krf__op_release(k->ops[i]);
    }
    krf__mem_free((void *)k->ops);
    krf__mem_free(k->key);
    krf__mem_free(k->expression);
    memset(k, 0, sizeof *k);
}

bool krf__stores_elements(const krf__kernel *k) {
    bool found = false;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        found |= k->instrs[i].op == KRF__store;
    }
    return found;
}
