/* What columns of a block, and lanes of a column, threads of a GPU have. */
#include "plan/kernel.h"

/* Of columns that drift: */
#define REGISTERS 64      /* of a thread, */
#define MORE_REGISTERS 16 /* and for each load after the first */

bool krf__column_drifts(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    return k->drifts && krf__loads(k, operand) && o->strides[0] == 1 && !o->counts && o->strides[1] != 0;
}

int krf__column_groups(const krf__kernel *k) {
    return k->flat ? 1 : k->drifts ? k->groups : KRF__LANES / k->abreast;
}

int krf__column_each(const krf__kernel *k) { return KRF__LANES / krf__column_groups(k); }
int krf__column_word(const krf__kernel *k) {
    int bytes = 1;
    for (uint32_t i = 0; i < k->n_operands && k->copied_words; i++) {
        const int size = krf__loads(k, i) && !k->operands[i].counts ? (int)krf_dtype_size((krf_dtype)k->operands[i].dtype) : 1;
        bytes = size > bytes ? size : bytes;
    }
    return k->drifts && k->copied_words ? 16 / bytes : k->vector;
}

int krf__drifting_blocks(const krf__kernel *k, int threads) {
    int registers = REGISTERS - MORE_REGISTERS;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        registers += krf__column_drifts(k, i) ? MORE_REGISTERS : 0;
    }
    return KRF__REGISTERS / registers / 32 / ((threads + 31) / 32);
}

int64_t krf__column_tile(const krf__kernel *k) { return (int64_t)k->abreast * (k->vector > 1 ? k->vector : 1) - (k->drifts ? krf__column_word(k) - 1 : 0); }
int krf__column_edge(const krf__kernel *k) { return k->abreast + krf__column_word(k) / k->vector; }
