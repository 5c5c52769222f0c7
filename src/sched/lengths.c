/* Remembers the lengths that stand in kernels' texts. */
#include "sched/lengths.h"

#include "base/hash.h"

/* A kernel's operations and dtypes. What tells two kinds apart and is left out here makes them share their lengths. */
static uint64_t kind_of(const krf__kernel *k) {
    uint64_t hash = 1 | (uint64_t)k->n_instrs << 8 | (uint64_t)k->n_rounds << 40 | (uint64_t)k->fast << 50;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        const krf__instr *x = &k->instrs[i];
        const uint64_t words[2] = {hash, (uint64_t)x->op | (uint64_t)x->dtype << 16 | (uint64_t)x->from << 24 | (uint64_t)x->args[0] << 32};
        hash = krf__hash64(words, sizeof words) | 1;
    }
    return hash;
}

/* The lock is held. */
static bool admit(krf__lengths *l, uint64_t kind, int most, int64_t length) {
    for (int i = 0; i < KRF__KINDS; i++) {
        if (l->kinds[i].kind != kind) {
            continue;
        }
        for (int n = 0; n < l->kinds[i].n; n++) {
            if (l->kinds[i].seen[n] == length) {
                return true;
            }
        }
        if (l->kinds[i].n == most) {
            return false;
        }
        l->kinds[i].seen[l->kinds[i].n++] = length;
        return true;
    }
    l->kinds[l->next].kind = kind;
    l->kinds[l->next].n = 1;
    l->kinds[l->next].seen[0] = length;
    l->next = (l->next + 1) % KRF__KINDS;
    return true;
}

bool krf__lengths_admit(krf__lengths *lengths, const krf__plan_data *plan) {
    bool all = true;
    pthread_mutex_lock(&lengths->lock);
    for (uint32_t i = 0; i < plan->n_kernels && all; i++) {
        const krf__kernel *k = &plan->kernels[i];
        all = !(krf__literal_rows(k) || krf__literal_chunk(k)) || admit(lengths, kind_of(k), k->n_rounds > 0 || k->outer ? KRF__LENGTHS : KRF__LENGTHS_ALONE, k->reduced_size);
    }
    pthread_mutex_unlock(&lengths->lock);
    return all;
}
