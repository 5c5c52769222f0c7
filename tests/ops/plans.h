/* What tests of plans share: which kernels a program over arrays of some shapes has, whatever the device, and what they move; and its values, at smaller shapes, against matrices of f32 that a test computes step by step. */
#ifndef KRF_TESTS_OPS_PLANS_H
#define KRF_TESTS_OPS_PLANS_H

#include "ops/tree.h"
#include "helpers.h"

enum { MOST_KERNELS = 8, MOST_RESULTS = 4, ROWS = 1100, COLUMNS = 37 };

typedef struct kernel {
    char schedule[16];
    int64_t read, written; /* bytes */
} kernel;

typedef struct planned {
    int n;
    kernel kernels[MOST_KERNELS];
    char *text;
} planned;

/* x, d and i: f32 of this shape, and i64 of `places`; s: f32 of a row. */
static inline planned plan_of(const char *program, const char *fusion, const char *target, int64_t n_rows, int64_t n_columns, int64_t places) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    krf_expr results[MOST_RESULTS];
    planned p = {0};
    int n = 0;
    size_t size = 0;
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.fusion = fusion;
    assert_ok(krf_context_create(&options, &context));
    krf_graph *g = krf_graph_create(context);
    const int64_t shape[] = {n_rows, n_columns};
    const krf_binding bindings[] = {krf_bind_expr("x", krf_placeholder(g, "x", KRF_F32, 2, shape)), krf_bind_expr("d", krf_placeholder(g, "d", KRF_F32, 2, shape)), krf_bind_expr("s", krf_placeholder(g, "s", KRF_F32, 1, shape + 1)),
                                    krf_bind_expr("i", krf_placeholder(g, "i", KRF_I64, 1, &places))};
    if (krf_parse_many(g, program, bindings, 4, MOST_RESULTS, results, &n) != KRF_OK || krf_dump(g, n, results, KRF_DUMP_PLAN, target, NULL, &p.text, &size) != KRF_OK) {
        fail_msg("%s: %s", program, krf_error_message());
    }
    for (const char *at = strstr(p.text, "\nkernel "); at != NULL && p.n < MOST_KERNELS; at = strstr(at + 1, "\nkernel ")) {
        kernel *k = &p.kernels[p.n++];
        assert_int_equal(sscanf(at, "\nkernel %*d: %*s %15s", k->schedule), 1);
        assert_int_equal(sscanf(strstr(at, "\n  reads "), "\n  reads %" SCNd64 " bytes, writes %" SCNd64, &k->read, &k->written), 2);
    }
    krf_graph_destroy(g);
    krf_context_destroy(context);
    return p;
}

/* A plan must have these kernels, of these schedules; a NULL schedule and -1 bytes may be any. */
static inline void must_have(const char *program, const char *fusion, const char *target, int64_t n_rows, int64_t n_columns, int64_t places, int n, const kernel *kernels) {
    planned p = plan_of(program, fusion, target, n_rows, n_columns, places);
    bool right = p.n == n;
    for (int k = 0; k < n && right; k++) {
        const kernel *want = &kernels[k], *got = &p.kernels[k];
        right = (want->schedule[0] == '\0' || strcmp(want->schedule, got->schedule) == 0) && (want->read < 0 || want->read == got->read) && (want->written < 0 || want->written == got->written);
    }
    if (!right) {
        COMPLAIN("%s, %s, %s: %d kernels, of which these were expected:", program, fusion != NULL ? fusion : "fused", target, n);
        for (int k = 0; k < n; k++) {
            COMPLAIN("  %s, reads %" PRId64 ", writes %" PRId64, kernels[k].schedule, kernels[k].read, kernels[k].written);
        }
        COMPLAIN("%s", p.text);
    }
    krf_free(p.text);
}

/* ---- values ---- */

typedef float matrix[ROWS][COLUMNS];

static matrix x_values, d_values;
static float s_values[COLUMNS];
static runs all_runs;

static inline void fill_values(uint64_t seed) {
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            x_values[r][c] = (float)(random_unit(&seed) * 3 - 1);
            d_values[r][c] = (float)(random_unit(&seed) - 0.25);
            s_values[c] = (float)(random_unit(&seed) + 0.5);
        }
    }
}

static inline float tree_of(const double *v, int64_t n) { return (float)canonical_tree(SUM, true, v, n); }

static inline float row_sum(matrix m, int r) {
    double v[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        v[c] = (double)m[r][c];
    }
    return tree_of(v, COLUMNS);
}

static inline float column_sum(matrix m, int c) {
    double v[ROWS];
    for (int r = 0; r < ROWS; r++) {
        v[r] = (double)m[r][c];
    }
    return tree_of(v, ROWS);
}

/* Results of f32, one behind the other, on every run and with kernels of several limits. `places`: i. */
static inline void must_give(const char *program, int64_t n_places, const int64_t *places, int64_t size, const float *want) {
    static const int64_t shape[] = {ROWS, COLUMNS};
    for (int r = 0; r < all_runs.n; r++) {
        krf_context *context = all_runs.run[r].context;
        krf_graph *g = krf_graph_create(context);
        krf_array *got[MOST_RESULTS] = {NULL};
        krf_expr results[MOST_RESULTS];
        const int64_t none = 0;
        int n = 0;
        int64_t done = 0;
        const krf_binding bindings[] = {krf_bind_expr("x", host_input(g, context, KRF_F32, 2, shape, x_values)), krf_bind_expr("d", host_input(g, context, KRF_F32, 2, shape, d_values)),
                                        krf_bind_expr("s", host_input(g, context, KRF_F32, 1, shape + 1, s_values)), krf_bind_expr("i", host_input(g, context, KRF_I64, 1, &n_places, places != NULL ? places : &none))};
        if (krf_parse_many(g, program, bindings, 4, MOST_RESULTS, results, &n) != KRF_OK || krf_eval_many(n, results, got) != KRF_OK) {
            fail_msg("%s: %s: %s", all_runs.run[r].label, program, krf_error_message());
        }
        for (int k = 0; k < n; k++) {
            const int64_t own = krf_array_size(got[k]);
            float *data = malloc((size_t)own * sizeof *data);
            assert_true(data != NULL && done + own <= size && krf_array_dtype(got[k]) == KRF_F32);
            assert_ok(krf_array_to_host(got[k], data, (size_t)own * sizeof *data));
            for (int64_t i = 0; i < own; i++) {
                if (!same_real((double)data[i], (double)want[done + i])) {
                    COMPLAIN("%s: %s: result %d, element %" PRId64 " is %a, not %a", all_runs.run[r].label, program, k, i, (double)data[i], (double)want[done + i]);
                    break;
                }
            }
            done += own;
            free(data);
            krf_array_release(got[k]);
        }
        assert_int_equal(done, size);
        krf_graph_destroy(g);
    }
}

static inline runs *open_plans(void) {
    fill_values(17);
    return open_runs(&all_runs, false);
}

#endif
