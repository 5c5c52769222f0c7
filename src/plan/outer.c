/* Whether the threads that share a short row share several results: where each operand is the same along one of the last two dimensions of these, as in distances between all pairs of points, a row that is
 * loaded serves many. One result at a time every row would be read again for each, of the second-level cache, which is then the limit (bench/results). */
#include "plan/vector.h"

#define MOST_VECTORS 4 /* of a thread */
#define MOST_STATEMENTS 1024
#define SHORT_FROM 2 /* times krf__limits.literal_from, elements of all rows: of fewer there are not blocks enough for a GPU, and caches deliver what is read again. Reckoned, not measured: */
#define LONG_FROM 4

/* Whether operands are of both kinds, and of no other. */
static bool two_kinds(const krf__kernel *k) {
    const int below = k->n_kept - 2, beside = k->n_kept - 1;
    bool all = true, first = false, second = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (krf__loads(k, i)) {
            all &= !o->counts && !o->gathered && !o->half && o->inner == 0 && krf_dtype_size((krf_dtype)o->dtype) > 1 && (o->strides[below] == 0 || o->strides[beside] == 0);
            first |= o->strides[below] != 0;
            second |= o->strides[beside] != 0;
        }
    }
    return all && first && second;
}

static bool has_blocks(const krf__kernel *k, const krf__limits *limits) {
    const int64_t times = k->schedule == KRF__REDUCE_ROW ? LONG_FROM : SHORT_FROM;
    return k->kept_size >= times * limits->literal_from / k->reduced_size;
}

/* Whether a short row suits its threads. */
static bool suits_threads(const krf__kernel *k, const krf__limits *limits) {
    const int64_t threads = krf__outer_threads(k), vectors = (k->reduced_size + threads * k->vector - 1) / (threads * k->vector);
    return k->reduced_size <= limits->literal && (k->vector == 1 || k->reduced_size >= KRF__OUTER_LEAST * k->vector) && vectors <= MOST_VECTORS && threads * vectors * k->vector * k->n_domain <= MOST_STATEMENTS;
}

/* Whether a warp has registers for the lanes of 8 results, and nothing is left behind the last whole vector. */
static bool suits_warps(const krf__kernel *k) {
    return k->chunks == 1 && !k->drifts && k->reduced_size % k->vector == 0 && krf_dtype_size((krf_dtype)k->instrs[k->n_domain].dtype) <= 4
           && 8 * krf__reduce_vectors(k) * k->vector * (int)k->n_domain <= MOST_STATEMENTS;
}

static bool is_outer(const krf__kernel *k, const krf__limits *limits) {
    if (limits->outer == 0 || k->lines > 1 || k->n_kept < 2 || k->n_kept > 3 || k->n_reduced != 1 || k->n_reductions != 1 || k->staged) {
        return false;
    }
    const bool suits = k->schedule == KRF__REDUCE_SHORT ? suits_threads(k, limits) : k->schedule == KRF__REDUCE_ROW && suits_warps(k);
    return suits && has_blocks(k, limits) && k->extents[k->n_kept - 1] >= krf__outer_side(k) && k->extents[k->n_kept - 2] >= krf__outer_side(k) && krf__accumulator_words(k, 0) == 1 && !krf__costly_domain(k)
           && !krf__stores_elements(k) && two_kinds(k);
}

void krf__kernel_outer(krf__kernel *k, const krf__limits *limits) {
    k->outer = is_outer(k, limits);
    if (!k->outer && k->schedule == KRF__REDUCE_SHORT && k->reduced_size > KRF__OUTER_MOST * MOST_VECTORS * k->vector) { /* more than they hold */
        k->schedule = KRF__REDUCE_ROW;
        k->outer = is_outer(k, limits);
        k->schedule = k->outer ? KRF__REDUCE_ROW : KRF__REDUCE_SHORT;
    }
}
