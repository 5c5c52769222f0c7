/* Plain loops in f64 that say what the programs of test_turns_rows.c come to, and the arrays that these have. */
#ifndef TESTS_ROWS_TURNS_LOOPS_H
#define TESTS_ROWS_TURNS_LOOPS_H

#include "rows/turns.h"

enum { MOST = 400000, FEW = 8 };

static double x_at[MOST], g_at[MOST], b_at[MOST], wanted[TURNS_OUT][MOST];
static char x_bits[2 * MOST + 16], g_bits[2 * MOST], b_bits[2 * MOST];
static int32_t t_at[FEW];

static krf_dtype now;
static double rounded(double x) { return round_to(now, (long double)x); }

/* n elements of a row, which has a number; what it comes to, of each result. */
typedef void row_formula(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]);

static double most_of(const double *x, int64_t n) {
    double most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, x[i]);
    }
    return most;
}

static double sum_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

static double log_of_sum(const double *x, int64_t n) {
    const double most = most_of(x, n);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += exp(x[i] - most);
    }
    return most + log(sum);
}

static void softmax(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    (void)row;
    *out[1] = most_of(x, n);
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = rounded(exp(rounded(x[i] - *out[1])));
    }
    *out[2] = rounded(sum_of(out[0], n));
    for (int64_t i = 0; i < n; i++) {
        out[0][i] /= *out[2];
    }
}

static void log_softmax(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    const double all = log_of_sum(x, n);
    (void)row;
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = x[i] - all;
    }
}

static void logsumexp(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    (void)row;
    *out[0] = log_of_sum(x, n);
}

static void cross_entropy(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) { *out[0] = log_of_sum(x, n) - x[t_at[row]]; }

static void standardised(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    const double mean = sum_of(x, n) / (double)n;
    double square = 0;
    (void)row;
    for (int64_t i = 0; i < n; i++) {
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = (x[i] - mean) / sqrt(square + 1e-5);
    }
}

static void layer_norm(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    standardised(x, n, row, out);
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = out[0][i] * g_at[i] + b_at[i];
    }
}

static void shares(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    const double sum = sum_of(x, n);
    (void)row;
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = x[i] / sum;
    }
}

static void several(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    const double mean = sum_of(x, n) / (double)n;
    (void)row;
    *out[1] = *out[3] = 0;
    *out[2] = most_of(x, n);
    for (int64_t i = 0; i < n; i++) {
        *out[1] += x[i] * x[i];
        *out[3] = fmin(*out[3], x[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = (x[i] - mean) / (*out[2] - *out[3]);
    }
}

static void of_halves(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    double square = 0;
    (void)row;
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = rounded(tanh(rounded(x[i] * 0.5)));
    }
    const double mean = rounded(sum_of(out[0], n) / (double)n);
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = rounded(out[0][i] - mean);
        square += rounded(out[0][i] * out[0][i]) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        out[0][i] /= sqrt(square + 1e-5);
    }
}

static void integers(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    (void)row;
    *out[1] = sum_of(x, n);
    *out[2] = most_of(x, n);
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = (double)wrap_to(now, (wide)(x[i] - *out[2]));
    }
}

static int64_t reversed(int64_t byte) {
    int64_t r = 0;
    for (int b = 0; b < 8; b++) {
        r |= (byte >> b & 1) << (7 - b);
    }
    return r;
}

/* The order of the canonical tree: chunks, and the 256 lanes of each, by the reversed bits of their numbers; a lane's elements from the first one on. In it the fold is taken, which does not commute. */
static void folded(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    uint32_t sum = 0;
    (void)row;
    for (int64_t k = 0; k < 256 * 1024; k++) {
        const int64_t i = reversed(k >> 10) * 1024 + reversed(k >> 2 & 255) + (k & 3) * 256;
        if (i < n) {
            const uint32_t b = (uint32_t)(int64_t)x[i];
            sum = sum * (2 * b + 1) + b;
        }
    }
    *out[1] = (double)sum;
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = (double)wrap_to(now, (wide)x[i] - (wide)sum);
    }
}

static void define(krf_context *context) {
    krf_reduction *definition = NULL;
    assert_int_equal(krf_reduction_define(context, "folded", "u32 x", "u32 a, u32 b", "1, 0", "a = 2 * x + 1; b = x;", "a = a_a * b_a; b = a_b * b_a + b_b;", NULL, NULL, &definition), KRF_OK);
    krf_reduction_release(definition);
}

#endif
