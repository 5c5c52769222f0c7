/* What tests share that look at a program's kernels as well as at its results: its plan, which is run, and results against what they must be. */
#ifndef KRF_TESTS_OPS_PROGRAMS_H
#define KRF_TESTS_OPS_PROGRAMS_H

#include "ops/common.h"

enum { MOST_OF_PROGRAM = 4 };

/* Leaves the n results; the plan is the caller's to release. */
static inline krf_plan *run_program(const run *r, const char *text, const krf_binding *bindings, int n_bindings, int n, krf_array **got) {
    krf_expr results[MOST_OF_PROGRAM];
    krf_graph *g = krf_graph_create(r->context);
    krf_plan *plan = NULL;
    int count = 0;
    krf_status status = krf_parse_many(g, text, bindings, n_bindings, MOST_OF_PROGRAM, results, &count);
    status = status == KRF_OK ? krf_compile(g, n, results, NULL, &plan) : status;
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 0, NULL, got) : status;
    if (status != KRF_OK || count != n) {
        fail_msg("%s, %s: %s", text, r->label, krf_error_message());
    }
    krf_graph_destroy(g);
    return plan;
}

/* The first element that is another one than wanted, which is of the result's dtype or becomes that; releases the result. */
static inline void compare_values(const run *r, const char *text, krf_array *of, krf_array *got, const value *want, int64_t n) {
    const krf_dtype dtype = krf_array_dtype(got);
    char *data = malloc((size_t)n * bytes_of(dtype));
    assert_true(data != NULL && krf_array_size(got) == n);
    if (!collecting) {
        read_back(got, data, (size_t)n * bytes_of(dtype));
    }
    for (int64_t i = 0; i < n && !collecting; i++) {
        const value found = get(data, dtype, i), wanted = want[i].dtype == dtype ? want[i] : convert(want[i], dtype);
        char a[64], b[64];
        if (!same(found, wanted)) {
            COMPLAIN("%s of %s, %" PRId64 " x %" PRId64 ", %s: element %" PRId64 " is %s, not %s", text, name_of(krf_array_dtype(of)), krf_array_shape(of)[0], krf_array_shape(of)[1], r->label, i, show(found, a, 64), show(wanted, b, 64));
            break;
        }
    }
    free(data);
    krf_array_release(got);
}

/* How many rows a block has at once, where a kernel of short rows says so in numbers; else 0. */
static inline int64_t rows_of_block(krf_plan *plan) {
    int64_t found = 0;
    for (int i = 0; i < krf_plan_kernels(plan); i++) {
        krf_kernel_info info = {.size = sizeof info};
        assert_int_equal(krf_plan_kernel(plan, i, &info), KRF_OK);
        const char *at = info.source != NULL ? strstr(info.source, ", rows = ") : NULL;
        found = at != NULL ? strtoll(at + strlen(", rows = "), NULL, 10) : found;
    }
    return found;
}

#endif
