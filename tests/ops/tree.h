/* Reductions and scans as docs/semantics.md and docs/architecture.md state them, written from there and as naively as they
 * can be: their orders over floats, plain loops over integers. Shared by the tests of them and the random graphs. */
#ifndef KRF_TESTS_OPS_TREE_H
#define KRF_TESTS_OPS_TREE_H

#include "ops/common.h"

/* ---- the canonical tree (docs/architecture.md) ---- */

typedef enum reduction_op { SUM, PROD, MAX, MIN, MEAN, ANY, ALL, REDUCTIONS } reduction_op;

/* A reduction of ops.def that is not in this file does not compile. */
enum { HAS_sum = SUM, HAS_prod = PROD, HAS_max = MAX, HAS_min = MIN, HAS_mean = MEAN, HAS_any = ANY, HAS_all = ALL };
typedef struct reduction_row {
    int op;
    const char *name;
    krf_expr (*build)(krf_expr x, int n_axes, const int *axes, bool keepdims);
} reduction_row;
#define NODE(name, arity)
#define OP(name, arity, RULE, infix, doc)
#define CODE(name, KIND, ...)
#define CUDA(name, KIND, ...)
#define GRAD(name, ...)
#define REDUCE(name, RULE, doc) [HAS_##name] = {HAS_##name, #name, krf_##name},
#define COMBINE(name, KIND, identity, ...)
#define ALIAS(other, name)
static const reduction_row rows[REDUCTIONS] = {
#include "ir/ops.def"
};
#include "ir/ops_undef.h"

/* The dtype that is accumulated in and returned. */
static inline krf_dtype result_dtype(reduction_op op, krf_dtype x) {
    switch (op) {
    case SUM:
    case PROD: return is_real(x) ? x : facts_of(x)->is_unsigned && x != KRF_BOOL ? KRF_U64 : KRF_I64;
    case MEAN: return is_real(x) ? x : KRF_F64;
    case ANY:
    case ALL: return KRF_BOOL;
    default: return x;
    }
}

static inline double larger(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return (double)NAN;
    }
    return a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

static inline double combine_real(reduction_op op, bool narrow, double a, double b) {
    double r = op == MAX ? larger(a, b) : op == MIN ? -larger(-a, -b) : op == PROD ? a * b : a + b;
    return narrow ? (double)(float)r
                  : r; /* one rounding: the double sum or product of floats is exact, or rounds innocuously */
}

/* 256 lanes, each over every 256th element in order, then halves added to halves. Lanes without an element hold the
 * identity, which changes nothing: halves that hold nothing else are left out. */
static inline double chunk_tree(reduction_op op, bool narrow, const double *x, int64_t n) {
    double lanes[256];
    int used = 256;
    while (used > 1 && used / 2 >= n) {
        used /= 2;
    }
    for (int lane = 0; lane < used; lane++) {
        lanes[lane] = op == MAX ? -(double)INFINITY : op == MIN ? (double)INFINITY : op == PROD ? 1.0 : -0.0;
        for (int64_t i = lane; i < n; i += 256) {
            lanes[lane] = combine_real(op, narrow, lanes[lane], x[i]);
        }
    }
    for (int half = used / 2; half > 0; half /= 2) {
        for (int lane = 0; lane < half; lane++) {
            lanes[lane] = combine_real(op, narrow, lanes[lane], lanes[lane + half]);
        }
    }
    return lanes[0];
}

static inline double canonical_tree(reduction_op op, bool narrow, const double *x, int64_t n) {
    int64_t chunk = 1024; /* 4096 chunks or fewer, where 1,024 to 16,384 elements make that possible */
    while (chunk < 16384 && chunk * 4096 < n) {
        chunk *= 2;
    }
    int64_t chunks = (n + chunk - 1) / chunk;
    if (n == 0) {
        return op == PROD ? 1 : 0;
    }
    double *partial = malloc((size_t)chunks * sizeof *partial);
    assert_non_null(partial);
    for (int64_t c = 0; c < chunks; c++) {
        partial[c] = chunk_tree(op, narrow, x + c * chunk, n - c * chunk < chunk ? n - c * chunk : chunk);
    }
    double r = chunks == 1 ? partial[0] : chunk_tree(op, narrow, partial, chunks);
    free(partial);
    return r;
}

static inline int64_t reduce_integers(reduction_op op, krf_dtype dtype, const int64_t *x, int64_t n) {
    uint64_t r = op == PROD || op == ALL ? 1 : (op == MAX || op == MIN) && n > 0 ? (uint64_t)x[0] : 0;
    for (int64_t i = 0; i < n && dtype == KRF_U64 && (op == MAX || op == MIN); i++) {
        r = ((uint64_t)x[i] > r) == (op == MAX) ? (uint64_t)x[i] : r;
    }
    for (int64_t i = 0; i < n && !(dtype == KRF_U64 && (op == MAX || op == MIN)); i++) {
        int64_t now = (int64_t)r;
        r = op == SUM    ? r + (uint64_t)x[i]
            : op == PROD ? r * (uint64_t)x[i]
            : op == MAX  ? (uint64_t)(x[i] > now ? x[i] : now)
            : op == MIN  ? (uint64_t)(x[i] < now ? x[i] : now)
            : op == ANY  ? (uint64_t)(x[i] != 0 || now != 0)
                         : (uint64_t)(x[i] != 0 && now != 0);
    }
    return (int64_t)r;
}

/* ---- scans: their order (docs/architecture.md) ---- */

enum {
#define SCAN(name, reduction, doc) SCAN_##name,
#define NODE(...)
#define OP(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
    SCANS
};

typedef struct scan {
    const char *name;
    krf_expr (*build)(krf_expr x, int axis);
    reduction_op op;
} scan;

static const scan scans[SCANS] = {
#define SCAN(name, reduction, doc) {#name, krf_##name, (reduction_op)HAS_##reduction},
#define NODE(...)
#define OP(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
};

static inline double neutral(reduction_op op) {
    return op == MAX ? -(double)INFINITY : op == MIN ? (double)INFINITY : op == PROD ? 1.0 : -0.0;
}

/* Tiles of 256 runs of 16; 32 runs are a warp, 32 tiles a group. Before a tile: the groups before its own, one after the other, with the tiles before it in its own,
 * likewise. Before a run of a tile: the warps before its own, one after the other, with
 * the runs of its own warp before it, which are folded by doubling steps. */
static inline void scan_reals(reduction_op op, bool narrow, const double *x, int64_t n, double *y) {
    double carry = neutral(op), groups = carry, within = carry;
    for (int64_t first = 0; first < n; first += 4096) {
        double total[256], so_far[256], warps = neutral(op);
        for (int r = 0; r < 256; r++) {
            double sum = neutral(op);
            for (int i = 0; i < 16; i++) {
                int64_t at = first + 16 * r + i;
                if (at < n) {
                    sum = i == 0 ? x[at] : combine_real(op, narrow, sum, x[at]);
                    y[at] = sum;
                }
            }
            total[r] = sum;
        }
        for (int step = 1; step < 32; step *= 2) {
            for (int r = 0; r < 256; r++) {
                so_far[r] = r % 32 >= step ? combine_real(op, narrow, total[r - step], total[r]) : total[r];
            }
            memcpy(total, so_far, sizeof total);
        }
        for (int r = 0; r < 256; r++) {
            double own = r % 32 > 0 ? total[r - 1] : neutral(op);
            double before = combine_real(op, narrow, carry, combine_real(op, narrow, warps, own));
            for (int64_t at = first + 16 * r; at < n && at < first + 16 * r + 16; at++) {
                y[at] = combine_real(op, narrow, before, y[at]);
            }
            warps = r % 32 == 31 ? combine_real(op, narrow, warps, total[r]) : warps;
        }
        within = combine_real(op, narrow, within, warps);
        if (first / 4096 % 32 == 31) {
            groups = combine_real(op, narrow, groups, within);
            within = neutral(op);
        }
        carry = combine_real(op, narrow, groups, within);
    }
}

/* The values of a row, as they must be. */
static inline void expect_row(const scan *s, krf_dtype from, const value *x, int64_t n, value *y) {
    const krf_dtype to = result_dtype(s->op, from);
    if (is_real(to)) {
        double *in = malloc(2 * (size_t)n * sizeof *in + 1), *out = in + n;
        assert_non_null(in);
        for (int64_t i = 0; i < n; i++) {
            in[i] = x[i].f;
        }
        scan_reals(s->op, from != KRF_F64, in, n, out);
        for (int64_t i = 0; i < n; i++) {
            y[i] = convert((value){.dtype = KRF_F64, .f = out[i]}, to);
        }
        free(in);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t pair[2] = {i > 0 ? y[i - 1].i : 0, convert(x[i], to).i};
        y[i].dtype = to;
        y[i].i = i == 0           ? pair[1]
                 : to != KRF_BOOL ? wrap_to(to, (wide)reduce_integers(s->op, to, pair, 2))
                 : s->op == MAX   ? pair[0] | pair[1]
                                  : pair[0] & pair[1];
    }
}

#endif
