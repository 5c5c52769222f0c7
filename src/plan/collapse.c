/* A kernel's dimensions, as few as its operands allow. */
#include "plan/schedule.h"

static bool mergeable(const krf__kernel *k, int outer, int inner) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->strides[outer] != o->strides[inner] * k->extents[inner]) {
            return false;
        }
    }
    return true;
}

static void move_dim(krf__kernel *k, int to, int from) {
    k->extents[to] = k->extents[from];
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].strides[to] = k->operands[i].strides[from];
    }
}

/* Collapses dimensions [first, first + n) into [to, ...), and returns how many are left (at least one, if there was one). */
static int collapse_part(krf__kernel *k, int first, int n, int to) {
    int left = 0;
    for (int d = first; d < first + n; d++) {
        if (k->extents[d] == 1) {
            continue;
        }
        if (left > 0 && mergeable(k, to + left - 1, d)) {
            int64_t extent = k->extents[to + left - 1];
            move_dim(k, to + left - 1, d);
            k->extents[to + left - 1] *= extent;
        } else {
            move_dim(k, to + left, d);
            left++;
        }
    }
    return left;
}

/* A dimension of extent 1, so that every part has one. What the domain loads and a map stores gets stride 1 there: the class of a one-element array is
 * that of a longer one. Results of a reduction have no such dimension. */
static void add_unit_dim(krf__kernel *k, int to, bool domain) {
    k->extents[to] = 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].strides[to] = 0;
    }
    for (uint32_t r = 0; domain && r < krf__kernel_rounds(k); r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        for (uint32_t i = 0; i < round.n_domain; i++) {
            krf__operand *o = &k->operands[round.instrs[i].slot];
            if ((round.instrs[i].op == KRF__load || round.instrs[i].op == KRF__store) && o->inner == 0) {
                o->strides[to] = o->half ? 2 : 1;
            }
        }
    }
}

void krf__kernel_collapse(krf__kernel *k) {
    int kept = k->n_kept, reduced = k->n_reduced;
    bool map = reduced == 0;
    krf__operand *o = k->operands;
    k->n_kept = collapse_part(k, 0, kept, 0);
    if (k->n_kept == 0) {
        /* Dimension 0 may still hold the first reduced one: make room. */
        for (int d = reduced; d > 0 && kept == 0; d--) {
            move_dim(k, d, d - 1);
        }
        kept = kept == 0 ? 1 : kept;
        add_unit_dim(k, 0, map);
        k->n_kept = 1;
    }
    if (!map) {
        k->n_reduced = collapse_part(k, kept, reduced, k->n_kept);
        if (k->n_reduced == 0) {
            add_unit_dim(k, k->n_kept, true);
            k->n_reduced = 1;
        }
    }
    k->kept_size = k->reduced_size = 1;
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        *(d < k->n_kept ? &k->kept_size : &k->reduced_size) *= k->extents[d];
    }
    for (uint32_t i = 0; i < k->n_operands; i++) { /* what lies beyond must not reach the key */
        for (int d = k->n_kept + k->n_reduced; d < KRF__MAX_KERNEL_DIMS; d++) {
            o[i].strides[d] = 0;
        }
    }
}
