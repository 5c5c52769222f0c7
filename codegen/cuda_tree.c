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

void krf__cuda_put_results_down(krf__emitter *e, const char *unroll, int half, const char *condition, krf__str *out) {
    if (e->k->n_reductions == 0) {
        return;
    }
    krf__str_printf(out, "#pragma unroll%s\nfor (int d = %d; d > 0; d /= 2) {\n", unroll, half);
    if (condition != NULL) {
        krf__str_printf(out, "    if (%s) {\n", condition);
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        char value[16];
        snprintf(value, sizeof value, "r%u", r);
        krf__str_printf(out, "%sr%u = red%u(r%u, ", condition != NULL ? "        " : "    ", r, e->reduction + r, r);
        krf__cuda_put_shuffle(e, r, "down", value, "d", out);
        krf__str_put(out, ");\n");
    }
    krf__str_put(out, condition != NULL ? "    }\n}\n" : "}\n");
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
            krf__cuda_put_top_tree(e, r, "16", krf__cuda_writes_tree(e), out);
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
typedef struct lanes {
    int n, threads;
} lanes;
static int shared_steps(lanes l) { return log2_of(l.n) < log2_of(l.threads) ? log2_of(l.n) : log2_of(l.threads); }
static int lanes_left(lanes l) { return l.n >> shared_steps(l); }
static int first_step(lanes l) {
    const int after = l.threads / 2 >> shared_steps(l);
    return after > 0 ? after : l.threads / 2;
}

static void put_lanes_shared(krf__emitter *e, uint32_t r, lanes l, krf__str *out) {
    for (int s = 0; s < shared_steps(l); s++) {
        put_shared_halves(e, r, l.n >> s, l.threads / 2 >> s, out);
    }
}

static void put_lanes_result(krf__emitter *e, uint32_t r, lanes l, krf__str *out) {
    halve_accumulators(lanes_left(l) / 2, 1, r, e->reduction + r, out);
    put_result(e, r, out);
}

static void put_lane_tree(krf__emitter *e, uint32_t r, lanes l, krf__str *out) {
    put_lanes_shared(e, r, l, out);
    for (int s = 0, d = first_step(l); s < log2_of(l.threads); s++, d = d > 1 ? d / 2 : l.threads / 2) {
        put_vector_down(e, r, lanes_left(l), d, out);
    }
    put_lanes_result(e, r, l, out);
}

static void put_sides(const krf__emitter *e, int n, int threads, krf__str *out) {
    for (int d = threads / 2; n > 1 && d > 0 && e->k->n_reductions > 0; n /= 2, d /= 2) {
        krf__str_printf(out, "const bool upper%d = (thread & %d) != 0;\n", d, d);
    }
}

void krf__cuda_put_row_tree(krf__emitter *e, int threads, krf__str *out) {
    put_sides(e, e->k->vector, threads, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_lane_tree(e, r, (lanes){e->k->vector, threads}, out);
    }
}

/* Half of a vector for each thread more that has the same columns, until one is left. */
int krf__cuda_columns_left(const krf__emitter *e) {
    int n = e->k->vector;
    for (int d = 16; d >= e->k->abreast && n > 1; d /= 2) {
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
    for (; d >= e->k->abreast; d /= 2) {
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

void krf__cuda_put_lane_halves(krf__emitter *e, uint32_t first, uint32_t end, krf__str *out) {
    for (uint32_t r = first; r < end; r++) {
        halve_accumulators(4, 1, r, r, out);
    }
    krf__str_put(out, "#pragma unroll 1\nfor (int d = 16; d > 0; d /= 2) {\n");
    for (uint32_t r = first; r < end; r++) {
        krf__str_put(out, "    ");
        put_down(e, r, "0", out);
    }
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

static bool has_own_tree(const krf__emitter *e, uint32_t r) { return krf__cuda_has_pairs(e, r) || krf__cuda_has_top(e, r); }

static lanes lanes_of(const krf__emitter *e, uint32_t r) { return (lanes){krf__cuda_goes_by_threads(e, r) ? 1 : e->k->vector, 32}; }

/* Whether a reduction's steps are written out; the others' are those of one loop, or of two: threads that shared a vector begin elsewhere. */
static bool written_out(const krf__emitter *e, uint32_t r) { return krf__cuda_writes_tree(e) || (lanes_of(e, r).n == 1 && e->k->schedule == KRF__ROW); }

static void put_looped(krf__emitter *e, int n, krf__str *out) {
    const lanes l = {n, 32};
    bool any = false;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const bool here = !has_own_tree(e, r) && !written_out(e, r) && lanes_of(e, r).n == n;
        if (here && !any) {
            krf__str_printf(out, "#pragma unroll 1\nfor (int step = 0, d = %d; step < %d; step++, d = d > 1 ? d / 2 : %d) {\n", first_step(l), log2_of(32), 16);
        }
        if (here) {
            krf__str_put(out, "    ");
            put_down(e, r, "0", out);
        }
        any |= here;
    }
    krf__str_put(out, any ? "}\n" : "");
}

void krf__cuda_put_warp_tree(krf__emitter *e, krf__str *out) {
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
    put_sides(e, ordered ? e->k->vector : 1, 32, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (krf__cuda_has_pairs(e, r)) {
            krf__cuda_put_pairs_tree(e, r, out);
            continue;
        }
        if (krf__cuda_has_top(e, r)) {
            krf__cuda_put_top_tree(e, r, "16", krf__cuda_writes_tree(e), out);
            continue;
        }
        halve_accumulators(4, lanes_of(e, r).n, r, e->reduction + r, out);
        if (written_out(e, r)) {
            put_lane_tree(e, r, lanes_of(e, r), out);
        } else {
            put_lanes_shared(e, r, lanes_of(e, r), out);
        }
    }
    put_looped(e, e->k->vector, out);
    if (e->k->vector != 1) {
        put_looped(e, 1, out);
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (!has_own_tree(e, r) && !written_out(e, r)) {
            put_lanes_result(e, r, lanes_of(e, r), out);
        }
    }
}
