/* How many lanes a thread of the CUDA target's columns visits together. */
#include "codegen/cuda.h"

int krf__cuda_column_loads(const krf__emitter *e) {
    int n = 0;
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        n += e->k->instrs[i].op == KRF__load;
    }
    return n;
}

/* Lanes that a thread visits together; in any order, elements of a column. */
int krf__cuda_columns_together(const krf__emitter *e) {
    const int lanes = krf__column_each(e->k), loads = krf__cuda_column_loads(e);
    if (e->k->flat) {
        return krf__flat_vectors(e->k);
    }
    if (krf__any_order(e->k) && !e->k->drifts) {
        return loads > 2 || krf__costly_domain(e->k) ? 2 : 4;
    }
    return lanes < KRF__COLUMN_TOGETHER ? lanes : KRF__COLUMN_TOGETHER;
}
