/* Reductions over small windows, and over few elements, become elementwise operations on their places, so that stencils, small convolutions and products of small
 * matrices are maps: each element is read from the caches, neighbouring results are neighbouring threads, and what comes before and after joins the same
 * kernel. The operations are those of the canonical tree (docs/architecture.md): one element a lane, lanes combined in halves. */
#include "pass/lower_window.h"

#include "pass/lower_beside.h"
#include "pass/lower_under.h"

enum { MOST_PLACES = 32, MOST_POOLED = 16, FEWEST_RESULTS = 32, FEWEST_BESIDE = 64, FEWEST_COLUMNS = 16384, MOST_OPERATIONS = 128 };

static krf__op combining(krf__op reduction) {
    switch (reduction) {
    case KRF__sum: return KRF__add;
    case KRF__prod: return KRF__multiply;
    case KRF__max: return KRF__maximum;
    case KRF__min: return KRF__minimum;
    case KRF__any: return KRF__logical_or;
    case KRF__all: return KRF__logical_and;
    default: return KRF__poison;
    }
}

/* Whether the reduction is of columns, of which many lie side by side, and so many that the time they take is worth a kernel for their length alone. */
static bool of_columns(const krf__lowering *l, uint32_t reduction, int64_t size) {
    const uint32_t x = krf__node_of(l->in, reduction)->args[0];
    const int last = krf__node_of(l->in, x)->rank - 1;
    return size >= FEWEST_COLUMNS && last >= 0 && (krf__ints_of(l->in, reduction)[0] >> last & 1) == 0 && krf__shape_of(l->in, x)[last] >= FEWEST_BESIDE &&
           !l->traits[l->map[x]].apart;
}

/* Whether rows and columns are reduced, and between them something is not, as where images are pooled: elements of a result lie some by some, and rows of them nowhere. */
static bool pools(const krf__lowering *l, uint32_t reduction) {
    const uint32_t x = krf__node_of(l->in, reduction)->args[0];
    const int64_t mask = krf__ints_of(l->in, reduction)[0], *shape = krf__shape_of(l->in, x);
    bool reduced = false, between = false, found = false;
    for (int i = 0; i < krf__node_of(l->in, x)->rank; i++) {
        const bool here = (mask >> i & 1) != 0 && shape[i] > 1;
        found |= here && between;
        reduced |= here;
        between |= reduced && !here && shape[i] > 1;
    }
    return found;
}

/* Few elements for each of many results, and nothing larger than these is wanted: what a row's elements are compared with or divided by stays a round of one kernel
 * (rows.c), and what is stored of every element goes through the rows with their sums. */
static bool few(const krf__lowering *l, uint32_t reduction, int64_t count) {
    const int64_t size = krf__shape_size(krf__node_of(l->in, reduction)->rank, krf__shape_of(l->in, reduction));
    const uint32_t x = krf__node_of(l->in, reduction)->args[0];
    if (size < FEWEST_RESULTS || l->largest[reduction] > size || l->largest[0] > size || l->rounds[x] || l->traits[l->map[x]].reduces) {
        return false;
    }
    return count <= l->unrolled || (l->unrolled > 0 && count <= MOST_POOLED && (pools(l, reduction) || krf__lower_reads_beside(l, reduction))) || (count <= l->columns_unrolled && of_columns(l, reduction, size));
}

uint32_t krf__lower_windows(krf__lowering *l, uint32_t reduction) {
    const krf__node *n = krf__node_of(l->in, reduction);
    const uint32_t x = l->map[n->args[0]];
    const int64_t mask = krf__ints_of(l->in, reduction)[0], *shape = krf__shape_of(l->in, n->args[0]);
    const int rank = krf__node_of(l->in, n->args[0])->rank;
    const krf__op op = combining(n->op);
    int64_t at[KRF_MAX_RANK] = {0}, count = 1;
    uint32_t lanes[MOST_PLACES];
    for (int i = 0; i < rank && count <= MOST_PLACES; i++) {
        count *= (mask >> i & 1) != 0 ? shape[i] : 1;
    }
    if (op == KRF__poison || !(l->traits[x].windows || few(l, reduction, count)) || l->repeated == 0 || count < 1 || count > MOST_PLACES ||
        !krf__lower_small(l, x, MOST_OPERATIONS / (int)count - 1)) {
        return 0;
    }
    for (int64_t k = 0; k < count; k++) {
        krf__change change = {.mask = mask, .at = at, .keepdims = n->keepdims};
        lanes[k] = krf__lower_under(l, &change, x);
        if (lanes[k] == 0) {
            return 0;
        }
        for (int i = rank - 1; i >= 0; i--) { /* the next place in C order over the reduced axes */
            if ((mask >> i & 1) != 0 && ++at[i] < shape[i]) {
                break;
            }
            at[i] = 0;
        }
    }
    for (int64_t half = 128; half > 0; half /= 2) {
        for (int64_t k = 0; k + half < count; k++) {
            lanes[k] = krf__lower_build(l, op, 2, (uint32_t[]){lanes[k], lanes[k + half]});
            if (lanes[k] == 0) {
                return 0;
            }
        }
        count = count > half ? half : count;
    }
    return lanes[0];
}
