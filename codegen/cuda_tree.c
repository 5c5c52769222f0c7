/* The CUDA target's part of the canonical tree that a thread or a warp folds: accumulators of 256 lanes, or of a short row's. */
#include "codegen/cuda.h"

#include <stdio.h>

/* shfl of types that CUDA has no overload for goes by way of int. */
static void put_shuffle(krf__emitter *e, uint32_t r, const char *type, const char *which, const char *value, const char *lane, krf__str *out) {
    krf_dtype dtype = (krf_dtype)krf__reduction(e, r)->dtype;
    bool narrow = krf_dtype_size(dtype) < 4 && !krf__is_half(dtype);
    if (krf__accumulator_words(e->k, r) > 1) { /* a struct has functions of its own (user_fold.c) */
        krf__str_printf(out, "%s_%s%sshuffle(%s, %s)", type, which != NULL ? which : "", which != NULL ? "_" : "", value, lane);
        return;
    }
    krf__str_printf(out, narrow ? "(%s)__shfl_%s%ssync(0xffffffffu, (int)(%s), %s)" : "(%s)__shfl_%s%ssync(0xffffffffu, %s, %s)", type, which != NULL ? which : "",
                    which != NULL ? "_" : "", value, lane);
}

void krf__cuda_put_shuffle(krf__emitter *e, uint32_t r, const char *which, const char *value, const char *lane, krf__str *out) {
    put_shuffle(e, r, krf__reduction_type(e, r), which, value, lane, out);
}

static void halve_accumulators(int first, int last, uint32_t r, uint32_t f, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int n = %d; n >= %d; n /= 2) {\n    #pragma unroll\n    for (int k = 0; k < n; k++) {\n        acc%u[k] = red%u(acc%u[k], acc%u[k + n]);\n    }\n}\n",
                    first, last, r, f, r, r);
}

/* The first step of n accumulators that are no power of two: the others of the tree would be the identity. */
static void fold_beyond(int n, int half, uint32_t r, uint32_t f, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    acc%u[k] = red%u(acc%u[k], acc%u[k + %d]);\n}\n", n - half, r, f, r, r, half);
}

void krf__cuda_put_halves(krf__emitter *e, int n, int left, krf__str *out) {
    int half = 1; /* the largest power of two below n */
    while (half * 2 < n) {
        half *= 2;
    }
    for (uint32_t r = 0; r < e->k->n_reductions && n > 1; r++) {
        if (half * 2 > n) {
            fold_beyond(n, half, r, e->reduction + r, out);
        }
        halve_accumulators(half * 2 > n ? half / 2 : half, left, r, e->reduction + r, out);
    }
}

/* acc0[k] with the one of the thread d further on. */
static void put_down(krf__emitter *e, uint32_t r, const char *k, krf__str *out) {
    char value[32];
    snprintf(value, sizeof value, "acc%u[%s]", r, k);
    krf__str_printf(out, "%s = red%u(%s, ", value, e->reduction + r, value);
    put_shuffle(e, r, krf__cuda_accumulator_type(e, r), "down", value, "d", out);
    krf__str_put(out, ");\n");
}

/* All of n with those of the thread d further on. */
static void put_vector_down(krf__emitter *e, uint32_t r, int n, int d, krf__str *out) {
    krf__str_printf(out, "{\n    const int d = %d;\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        ", d, n);
    put_down(e, r, "k", out);
    krf__str_put(out, "    }\n}\n");
}

static void put_result(krf__emitter *e, uint32_t r, krf__str *out) { krf__str_printf(out, "%s r%u = acc%u[0];\n", krf__reduction_type(e, r), r, r); }

void krf__cuda_put_tree(krf__emitter *e, int n, const char *half, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (krf__cuda_has_top(e, r)) {
            krf__cuda_put_top_tree(e, r, krf__cuda_writes_tree(e), out);
            continue;
        }
        krf__str_printf(out, "#pragma unroll 1\nfor (int d = %s; d > 0; d /= 2) {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        ", half, n);
        put_down(e, r, "k", out);
        krf__str_put(out, "    }\n}\n");
        halve_accumulators(n / 2, 1, r, e->reduction + r, out);
        put_result(e, r, out);
    }
}

/* Threads d apart share their n accumulators, rather than fold all of them twice over: one takes the first half of both, the other the second. */
static void put_shared_halves(krf__emitter *e, uint32_t r, int n, int d, krf__str *out) {
    const bool commutes = !krf__op_is_fold((krf__op)krf__reduction(e, r)->op);
    const char *type = krf__cuda_accumulator_type(e, r);
    char mine[96], others[96];
    snprintf(mine, sizeof mine, "upper%d ? acc%u[k + %d] : acc%u[k]", d, r, n / 2, r);
    snprintf(others, sizeof others, "upper%d ? acc%u[k] : acc%u[k + %d]", d, r, r, n / 2);
    char lanes[16];
    snprintf(lanes, sizeof lanes, "%d", d);
    krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    const %s mine = %s, other = ", n / 2, type, mine);
    put_shuffle(e, r, type, "xor", others, lanes, out);
    krf__str_printf(out, ";\n    acc%u[k] = red%u(", r, e->reduction + r);
    if (commutes) {
        krf__str_put(out, "mine, other);\n}\n");
    } else {
        krf__str_printf(out, "upper%d ? other : mine, upper%d ? mine : other);\n}\n", d, d);
    }
}

/* Whether a thread folds what it has by itself first, as it makes no difference which elements meet first. */
bool krf__cuda_goes_by_threads(const krf__emitter *e, uint32_t r) { return krf__order_free(krf__reduction(e, r)); }

static int log2_of(int n) { return n > 1 ? 1 + log2_of(n / 2) : 0; }

/* Lanes of `threads` neighbours, n of a vector each: the threads' halves, which share as many as they have, then those of the vector, for which threads now stand. */
static void put_lane_tree(krf__emitter *e, uint32_t r, int n, int threads, bool written, krf__str *out) {
    const int steps = log2_of(n) < log2_of(threads) ? log2_of(n) : log2_of(threads), left = n >> steps, after = threads / 2 >> steps;
    for (int s = 0; s < steps; s++) {
        put_shared_halves(e, r, n >> s, threads / 2 >> s, out);
    }
    const int first = after > 0 ? after : threads / 2;
    for (int s = 0, d = first; s < log2_of(threads) && written; s++, d = d > 1 ? d / 2 : threads / 2) {
        put_vector_down(e, r, left, d, out);
    }
    if (!written) {
        krf__str_printf(out, "#pragma unroll 1\nfor (int step = 0, d = %d; step < %d; step++, d = d > 1 ? d / 2 : %d) {\n    ", first, log2_of(threads), threads / 2);
        put_down(e, r, "0", out);
        krf__str_put(out, "}\n");
    }
    halve_accumulators(left / 2, 1, r, e->reduction + r, out);
    put_result(e, r, out);
}

static void put_sides(const krf__emitter *e, int n, int threads, krf__str *out) {
    for (int d = threads / 2; n > 1 && d > 0 && e->k->n_reductions > 0; n /= 2, d /= 2) {
        krf__str_printf(out, "const bool upper%d = (thread & %d) != 0;\n", d, d);
    }
}

void krf__cuda_put_row_tree(krf__emitter *e, int threads, krf__str *out) {
    put_sides(e, e->k->vector, threads, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_lane_tree(e, r, e->k->vector, threads, true, out);
    }
}

/* Half of a vector for each thread more that has the same columns, until one is left. */
int krf__cuda_columns_left(const krf__emitter *e) {
    int n = e->k->vector;
    for (int d = 16; d >= krf__column_threads(e->k) && n > 1; d /= 2) {
        n /= 2;
    }
    return n;
}

void krf__cuda_put_column_sides(const krf__emitter *e, krf__str *out) {
    for (int n = e->k->vector, d = 16; n > krf__cuda_columns_left(e); n /= 2, d /= 2) {
        krf__str_printf(out, "const bool upper%d = (thread & %d) != 0;\n", d, d);
    }
}

void krf__cuda_put_column_tree(krf__emitter *e, uint32_t r, krf__str *out) {
    const int left = krf__cuda_columns_left(e);
    int n = e->k->vector, d = 16;
    for (; n > left; n /= 2, d /= 2) {
        put_shared_halves(e, r, n, d, out);
    }
    for (; d >= krf__column_threads(e->k); d /= 2) {
        put_vector_down(e, r, left, d, out);
    }
}

void krf__cuda_put_results_tree(krf__emitter *e, int results, int vector, int threads, krf__str *out) {
    const int n = results * vector;
    put_sides(e, results, threads, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        for (int s = 0; s < log2_of(results); s++) {
            put_shared_halves(e, r, n >> s, threads / 2 >> s, out);
        }
        for (int d = threads / results / 2; d > 0; d /= 2) {
            put_vector_down(e, r, vector, d, out);
        }
        halve_accumulators(vector / 2, 1, r, e->reduction + r, out);
        put_result(e, r, out);
    }
}

void krf__cuda_put_lane_halves(krf__emitter *e, uint32_t r, krf__str *out) {
    halve_accumulators(4, 1, r, r, out);
    krf__str_put(out, "#pragma unroll 1\nfor (int d = 16; d > 0; d /= 2) {\n    ");
    put_down(e, r, "0", out);
    krf__str_put(out, "}\n");
}

/* Rows alone, whose trees are shorter so for a compiler, too; but registers are short where words of what all rows share are loaded beside rows that stay in them. */
bool krf__cuda_writes_tree(const krf__emitter *e) {
    const krf__kernel *k = e->kernel;
    bool beside = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        beside |= !k->operands[i].store && krf__same_for_rows(k, &k->operands[i]) && krf_dtype_size((krf_dtype)k->operands[i].dtype) >= 4;
    }
    if (k->schedule == KRF__REDUCE_ROW) { /* places, of 8 bytes, 0.065 ms by a loop and 0.070 without */
        return krf__accumulator_bytes(k) <= 4 * (size_t)k->n_reductions;
    }
    return k->schedule == KRF__ROW && !(beside && krf__cuda_row_stays(e));
}

void krf__cuda_put_warp_tree(krf__emitter *e, krf__str *out) {
    const int lanes = e->k->vector; /* of a vector */
    if (e->k->schedule == KRF__ROW_COL) {
        krf__cuda_put_halves(e, krf__cuda_accumulators(e), 1, out);
        for (uint32_t r = 0; r < e->k->n_reductions; r++) {
            put_result(e, r, out);
        }
        return;
    }
    bool ordered = false;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        ordered |= !krf__cuda_goes_by_threads(e, r) && !krf__cuda_has_pairs(e, r);
    }
    put_sides(e, ordered ? lanes : 1, 32, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const int left = krf__cuda_goes_by_threads(e, r) ? 1 : lanes;
        if (krf__cuda_has_pairs(e, r)) {
            krf__cuda_put_pairs_tree(e, r, out);
            continue;
        }
        if (krf__cuda_has_top(e, r)) {
            krf__cuda_put_top_tree(e, r, krf__cuda_writes_tree(e), out);
            continue;
        }
        halve_accumulators(4, left, r, e->reduction + r, out);
        put_lane_tree(e, r, left, 32, krf__cuda_writes_tree(e) || (left == 1 && e->k->schedule == KRF__ROW), out);
    }
}
