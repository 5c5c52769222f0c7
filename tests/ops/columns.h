/* Elements of columns, and what reductions of them come to, of users too: shared by the tests of few columns and of those whose rows begin anywhere. */
#ifndef KRF_TESTS_OPS_COLUMNS_H
#define KRF_TESTS_OPS_COLUMNS_H

#include "ops/programs.h"
#include "ops/tree.h"

#include "helpers.h"

/* ---- what is reduced: x, beside y as wide, w of each row, c of each column, which is number j ---- */

typedef struct series {
    const double *x, *y, *w;
    double c;
    int64_t n, j;
    krf_dtype dtype; /* of what is computed of them */
} series;

typedef double step(const series *s, int64_t i);

static inline double fit(const series *s, double x) { return is_real(s->dtype) ? round_to(s->dtype, (long double)x) : x; }
static inline double itself(const series *s, int64_t i) { return s->x[i]; }
static inline double squared(const series *s, int64_t i) { return fit(s, s->x[i] * s->x[i]); }
static inline double weighted(const series *s, int64_t i) { return fit(s, s->x[i] * s->w[i]); }
static inline double distance(const series *s, int64_t i) { return fit(s, fit(s, s->x[i] - s->c) * fit(s, s->x[i] - s->c)); }
static inline double crossed(const series *s, int64_t i) { return fit(s, fit(s, weighted(s, i) * s->c) + 0.25); }
static inline double paired(const series *s, int64_t i) { return fit(s, s->x[i] * s->y[i]); }
static inline double is_more(const series *s, int64_t i) { return s->x[i] > 3; }
static inline double is_above(const series *s, int64_t i) { return s->x[i] > -50; }

/* ---- what it comes to: the reductions of tree.h, and these ---- */

enum { COUNT = REDUCTIONS, MEAN_TWICE, VARIANCE, FIRST_OF_MOST, FIRST_OF_LEAST, LATEST, PATH, OTHERS };

static inline value number(double x) { return (value){.dtype = KRF_F64, .f = x}; }

static inline value reduced(const series *s, int op, step *of) {
    const bool real = is_real(s->dtype) && op != ANY && op != ALL && op != COUNT;
    double *elements = malloc((size_t)s->n * sizeof *elements);
    int64_t *whole = malloc((size_t)s->n * sizeof *whole);
    value found = {.dtype = KRF_I64};
    assert_true(elements != NULL && whole != NULL);
    for (int64_t i = 0; i < s->n; i++) {
        elements[i] = of(s, i);
        whole[i] = real ? 0 : (int64_t)elements[i];
    }
    if (real) {
        found = number(canonical_tree((reduction_op)op, s->dtype != KRF_F64, elements, s->n));
    } else {
        found.i = reduce_integers(op == COUNT ? SUM : (reduction_op)op, KRF_I64, whole, s->n);
    }
    free(elements);
    free(whole);
    return found;
}

/* f64 holds those of this test's integers. */
static inline double mean_twice(const series *s) {
    const value sum = reduced(s, SUM, itself);
    const double mean = (is_real(s->dtype) ? sum.f : (double)sum.i) / (double)s->n;
    return !is_real(s->dtype) || s->dtype == KRF_F64 ? mean * 2 + 1 : fit(s, fit(s, fit(s, nearest_float(mean)) * 2) + 1);
}

/* In one pass, as docs/conventions.md says of f32 columns of more than 8,192 elements. */
static inline double variance(const series *s) {
    const series exact = {.x = s->x, .n = s->n, .dtype = KRF_F64};
    const double n = (double)s->n, sum = reduced(&exact, SUM, itself).f, left = reduced(&exact, SUM, squared).f - sum * sum / n;
    return nearest_float((left < 0 ? 0 : left) / n);
}

/* The first of the largest, or of those that are no number. */
static inline double first_of(const series *s, double sign) {
    int64_t best = 0;
    for (int64_t i = 1; i < s->n; i++) {
        best = !isnan(s->x[best]) && (isnan(s->x[i]) || sign * s->x[i] > sign * s->x[best]) ? i : best;
    }
    return (double)best;
}

/* What the folds below accumulate. Sides count in the order of lanes, not of rows. */
typedef struct pair {
    double m, b;
} pair;

static inline pair fold(int op, pair a, pair b) { return op == LATEST ? (b.m != 0 ? b : a) : (pair){a.m * b.m, a.b * b.m + b.b}; }

static inline pair fold_chunk(int op, const pair *x, int64_t n) {
    pair lanes[256];
    for (int lane = 0; lane < 256; lane++) {
        lanes[lane] = (pair){op == PATH, 0};
        for (int64_t i = lane; i < n; i += 256) {
            lanes[lane] = fold(op, lanes[lane], x[i]);
        }
    }
    for (int half = 128; half > 0; half /= 2) {
        for (int lane = 0; lane < half; lane++) {
            lanes[lane] = fold(op, lanes[lane], lanes[lane + half]);
        }
    }
    return lanes[0];
}

static inline pair folded(const series *s, int op) {
    const int64_t chunks = (s->n + 1023) / 1024;
    pair *x = malloc((size_t)(s->n + chunks) * sizeof *x), *found = x + s->n;
    assert_true(x != NULL && chunks <= 4096);
    for (int64_t i = 0; i < s->n; i++) {
        x[i] = op == LATEST ? (pair){s->x[i], 0} : (pair){s->x[i] < 0 ? -1 : 1, s->x[i]};
    }
    for (int64_t c = 0; c < chunks; c++) {
        found[c] = fold_chunk(op, x + c * 1024, s->n - c * 1024 < 1024 ? s->n - c * 1024 : 1024);
    }
    const pair result = fold_chunk(op, found, chunks);
    free(x);
    return result;
}

static inline void define_folds(krf_context *c) {
    krf_reduction *latest = NULL, *path = NULL;
    krf_op *halvings = NULL;
    assert_ok(krf_reduction_define(c, "latest", "T x", "T v", "0", "v = x;", "v = b_v != 0 ? b_v : a_v;", NULL, NULL, &latest));
    assert_ok(krf_reduction_define(c, "path", "T x", "T m, T b", "1, 0", "m = x < 0 ? -1 : 1; b = x;", "m = a_m * b_m; b = a_b * b_m + b_b;", NULL, NULL, &path));
    assert_ok(krf_op_define(c, "halvings", "T x", "T n", "n = 0; while (x != 1) { x = x * (T)0.5; n = n + 1; }", NULL, &halvings));
    krf_op_release(halvings);
    krf_reduction_release(latest);
    krf_reduction_release(path);
}

/* ---- elements ---- */

typedef enum kind { ANY_DIGITS, NEAR_ONE, SMALL, WHOLE, ZEROS, RARE } kind; /* elements; of floats small ones have all digits, too */

static inline double small_number(krf_dtype dtype, uint64_t bits, int most) {
    const double x = (double)(bits % (unsigned)(2 * most + 1)) - most;
    return facts_of(dtype)->is_unsigned ? fabs(x) : x;
}

/* Floats of all digits, so that hardly a sum is without rounding. Some columns hold nothing but -0, some zeros of both signs, some end with what is infinite, or no number. */
static inline double element_of(krf_dtype dtype, kind how, int64_t n, int64_t i, int64_t j) {
    static const double ends_with[] = {NAN, INFINITY, -INFINITY, 0x1p-14};
    uint64_t seed = (uint64_t)i * 1031 + (uint64_t)j * UINT64_C(0x1000000000001) + (uint64_t)n;
    const uint64_t bits = next_random(&seed);
    if (how == RARE) {
        return bits % 16 == 0 ? small_number(dtype, bits >> 8, 100) : 0;
    }
    if (!is_real(dtype)) {
        const int64_t whole = whole_number(dtype, (int64_t)(bits >> 7)).i;
        return how == SMALL || how == WHOLE ? small_number(dtype, bits, 5) : how == NEAR_ONE ? (bits % 2 == 0 ? 1 : small_number(dtype, 0, 1)) : (double)(dtype == KRF_I64 ? whole >> 26 : whole);
    }
    if ((j + n) % 7 == 2 || ((j + n) % 7 == 5 && how == ZEROS)) {
        return (j + n) % 7 == 2 || bits % 2 == 0 ? -0.0 : 0.0;
    }
    if ((j + n) % 7 == 4 && i == n - 1) {
        return ends_with[j / 7 % 4];
    }
    const int digits = facts_of(dtype)->digits;
    const double sign = (bits & 16) != 0 ? -1 : 1, whole = (double)(bits >> (64 - digits));
    return how == WHOLE ? small_number(dtype, bits, 5) : how == NEAR_ONE ? 1 + sign * ldexp(floor(ldexp(whole, -digits / 2 - 1)), 1 - digits) : sign * ldexp(whole, (int)(bits % 8) - digits);
}

static inline double weight(krf_dtype dtype, int64_t i) { return is_real(dtype) ? (double)(i * 7919 % 61 - 20) / 32 : (double)(i % 3); }

static inline value largest(krf_dtype dtype) {
    const int bits = 8 * (int)bytes_of(dtype);
    return is_real(dtype) || is_complex(dtype) ? (value){.dtype = dtype, .f = dtype == KRF_F16 ? 0x1.8p15 : 0x1.8p100} : whole_number(dtype, facts_of(dtype)->is_unsigned ? -1 : (int64_t)((UINT64_C(1) << (bits - 1)) - 1));
}

#endif
