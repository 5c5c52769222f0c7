/* Rows that follow one another without a gap are one dimension (krf__kernel_collapse), in which strips see none: views of one array that lie some rows apart tell how long these are. */
#include "plan/schedule.h"

#include <string.h>

#define LEAST_ROW 2048 /* elements: rows closer together are there in the caches (differences of rows of 4 KiB 0.98 of the copy bandwidth on an H200, by strips 0.95; of 32 KiB 0.94 and 0.99) */
#define MOST_VIEWS 64  /* operands: of more, to look for rows would take long */

/* What the distances of views of one array that move alike are multiples of: a row's length, where they are some rows apart; 0 without such views. */
static int64_t row_between(const krf__kernel *k) {
    int64_t row = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const krf__operand *a = &k->operands[i], *b = &k->operands[j];
            const int64_t distance = a->offset < b->offset ? b->offset - a->offset : a->offset - b->offset;
            const bool same = !a->store && !b->store && !a->counts && !b->counts && a->buffer == b->buffer && memcmp(a->strides, b->strides, sizeof a->strides) == 0;
            row = same ? krf__common_divisor(row, distance) : row;
        }
    }
    return row;
}

int64_t krf__part_rows(krf__kernel *k) {
    const int last = k->n_kept - 1;
    const int64_t row = k->n_operands <= MOST_VIEWS && k->n_kept < KRF__MAX_KERNEL_DIMS ? row_between(k) : 0;
    if (row < LEAST_ROW || k->extents[last] % row != 0 || k->extents[last] / row < KRF__TILE_LEAST) {
        return 0;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].strides[last + 1] = k->operands[i].strides[last];
        k->operands[i].strides[last] *= row;
    }
    k->extents[last + 1] = row;
    k->extents[last] /= row;
    k->n_kept++;
    return row;
}

void krf__join_rows(krf__kernel *k, int64_t row) {
    const int last = k->n_kept - 1;
    for (uint32_t i = 0; i < k->n_operands && row > 0; i++) {
        k->operands[i].strides[last - 1] = k->operands[i].strides[last];
        k->operands[i].strides[last] = 0;
    }
    if (row > 0) {
        k->extents[last - 1] *= row;
        k->extents[last] = 0;
        k->n_kept--;
    }
}
