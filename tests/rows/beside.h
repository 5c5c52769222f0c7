/* What the tests of rows that lie side by side on the CPU share: contexts that fuse, on both tiers (or a GPU), beside one that does not and interprets; an expression's results in each, and what is known
 * about its kernels. Includers include ops/common.h themselves, by which a test is known. */
#ifndef TESTS_ROWS_BESIDE_H
#define TESTS_ROWS_BESIDE_H

#include "ops/common.h"

enum { AXES = 4, MOST_GIVEN = 6, MOST_OUT = 6 };

static runs all;          /* that fuse */
static krf_context *off;  /* the other one */
static bool off_is_noted; /* as runs are, see collect() */

static inline void open_against(const char *device) {
    krf_context_options options = krf_context_options_default();
    options.device = device;
    options.cache = off_is_noted ? KRF_CACHE_OFF : options.cache; /* notes are no images */
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.fusion = "off";
    off = open_or_skip(&options);
}

static inline int run_beside(const struct CMUnitTest *tests, size_t n) {
    const int failed = run_on(&all, tests, n);
    krf_context_destroy(off);
    return failed;
}

/* The other one is on the same device: functions such as exp have bits of their own on a GPU. */
static inline int run_beside_own(const struct CMUnitTest *tests, size_t n) {
    setenv("KRF_EXACT_MEMORY", "1", 0); /* what lies behind an array is nobody's */
    off_is_noted = open_noted_runs(&all, false)->cuda;
    open_against(asked_device());
    if (off_is_noted) {
        batch_install(off);
    }
    return run_beside(tests, n);
}

/* It is the CPU's: what is only added, multiplied and divided has the same bits everywhere. */
static inline int run_beside_cpu(const struct CMUnitTest *tests, size_t n) {
    open_noted_runs(&all, false);
    open_against("cpu");
    return run_beside(tests, n);
}

static inline int64_t size_of_shape(int rank, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        n *= shape[d];
    }
    return n;
}

/* An operand: elements in C order, of which the program may be given a view. */
typedef struct given {
    const char *name;
    krf_dtype dtype;
    int rank;
    int64_t shape[AXES];
    const void *data;
    int seen_rank; /* 0: all of it */
    int64_t seen[AXES], strides[AXES], offset;
} given;

typedef struct results {
    int n, kernels;
    krf_dtype dtype[MOST_OUT];
    int64_t size[MOST_OUT];
    char *data[MOST_OUT];
    char schedule[16], last[16]; /* of the first kernel, as reads and writes, and of the last */
    int64_t reads, writes;
} results;

static inline void free_results(results *r) {
    for (int k = 0; k < r->n; k++) {
        free(r->data[k]);
    }
    r->n = 0;
}

/* The array that the program sees, and its memory. */
static inline krf_array *array_of(krf_context *context, const given *g, krf_array **base) {
    krf_array *view = NULL;
    if (krf_array_from_host(context, g->dtype, g->rank, g->shape, g->data, base) != KRF_OK ||
        (g->seen_rank > 0 && krf_array_view(*base, g->seen_rank, g->seen, g->strides, g->offset, &view) != KRF_OK)) {
        fail_msg("%s: %s", g->name, krf_error_message());
    }
    return view != NULL ? view : krf_array_retain(*base);
}

/* Of a plan whose results are as many as there are outputs. */
static inline void evaluate(krf_context *context, const char *text, int n, const given *operands, int outputs, results *out) {
    krf_array *base[MOST_GIVEN] = {NULL}, *view[MOST_GIVEN], *made[MOST_OUT] = {NULL};
    krf_binding bindings[MOST_GIVEN];
    krf_expr exprs[MOST_OUT];
    krf_plan *plan = NULL;
    krf_graph *g = krf_graph_create(context);
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n; i++) {
        view[i] = array_of(context, &operands[i], &base[i]);
        bindings[i] = krf_bind_array(operands[i].name, view[i]);
    }
    if (krf_parse_many(g, text, bindings, n, MOST_OUT, exprs, &out->n) != KRF_OK || out->n != outputs || krf_compile(g, out->n, exprs, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, made) != KRF_OK) {
        fail_msg("%s: %d results: %s", text, out->n, krf_error_message());
    }
    out->kernels = krf_plan_kernels(plan);
    for (int k = 0; k < out->kernels; k += out->kernels > 1 && k == 0 ? out->kernels - 1 : 1) {
        krf_kernel_info info = {.size = sizeof info};
        assert_int_equal(krf_plan_kernel(plan, k, &info), KRF_OK);
        snprintf(k == 0 ? out->schedule : out->last, sizeof out->last, "%s", info.schedule);
        if (k == 0) {
            out->reads = info.bytes_read;
            out->writes = info.bytes_written;
        }
    }
    for (int k = 0; k < out->n; k++) {
        out->dtype[k] = krf_array_dtype(made[k]);
        out->size[k] = krf_array_size(made[k]);
        const size_t bytes = (size_t)out->size[k] * bytes_of(out->dtype[k]);
        out->data[k] = malloc(bytes + 1);
        assert_non_null(out->data[k]);
        assert_int_equal(krf_array_to_host(made[k], out->data[k], bytes), KRF_OK);
        krf_array_release(made[k]);
    }
    for (int i = 0; i < n; i++) {
        krf_array_release(view[i]);
        krf_array_release(base[i]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

/* Bits, but for those of NaN. */
static inline bool equal_results(const results *got, const results *want, const char *what) {
    char a[64], b[64];
    for (int k = 0; k < want->n; k++) {
        if (got->dtype[k] != want->dtype[k] || got->size[k] != want->size[k]) {
            COMPLAIN("%s: result %d is %" PRId64 " %s, not %" PRId64 " %s", what, k, got->size[k], name_of(got->dtype[k]), want->size[k], name_of(want->dtype[k]));
            return false;
        }
        if (memcmp(got->data[k], want->data[k], (size_t)want->size[k] * bytes_of(want->dtype[k])) == 0) {
            continue;
        }
        for (int64_t i = 0; i < want->size[k]; i++) {
            const value x = get(got->data[k], got->dtype[k], i), y = get(want->data[k], want->dtype[k], i);
            if (!same(x, y)) {
                COMPLAIN("%s: element %" PRId64 " of result %d is %s, and %s of one operation a kernel", what, i, k, show(x, a, sizeof a), show(y, b, sizeof b));
                return false;
            }
        }
    }
    return true;
}

/* Of one test: the next one has none of its own yet. */
static inline int complaints(void) {
    const int n = failures;
    failures = 0;
    return n;
}

/* The bits of all runs must be those of `off`, whose results stay in *want where it is given. what: how a complaint begins. cpu_kernels: 1; 2: two or more; else not looked at. */
static inline void must_agree(const char *text, int n, const given *operands, int outputs, int cpu_kernels, const char *what, results *want) {
    results own = {0}, *expected = want != NULL ? want : &own;
    if (!collecting || off_is_noted) {
        evaluate(off, text, n, operands, outputs, expected);
    }
    for (int r = 0; r < all.n; r++) {
        results got;
        char label[600];
        if (passed_over(&all.run[r])) {
            continue;
        }
        evaluate(all.run[r].context, text, n, operands, outputs, &got);
        snprintf(label, sizeof label, "%s, %s", what, all.run[r].label);
        if (!all.cuda && (cpu_kernels == 1 ? got.kernels != 1 || strcmp(got.schedule, "row_col") != 0 : got.kernels < cpu_kernels)) {
            COMPLAIN("%s: %d kernels, %s", label, got.kernels, got.schedule);
        }
        if (!collecting) {
            equal_results(&got, expected, label);
        }
        free_results(&got);
    }
    free_results(&own);
}

#endif
