/* Reductions with a handful of results beside one another, which a GPU takes as several of one result each (plan/spread.c): columns that come by no vectors, products of columns, rows that share what they read. Every
 * dtype and reduction, views, what stands behind the reductions, lengths around the borders of lanes and chunks; which kernels do that and what they read, and that none of it shows in a result. KRF_TEST_DEVICE. */
#include "ops/outer.h"
#include "ops/tree.h"

#include <float.h>

/* Whether the plan for a GPU must have one kernel of one result for each reduction, must not, or may: where that depends on addresses, which a plan's text does not know. */
typedef enum verdict { STAYS, SPREADS, EITHER } verdict;

#define COLUMNS {"ln"}
#define PAIRS {"ln", "lm"}
static const program sums = {"sum(x, axis=0)", COLUMNS, {{SUM, "x", "r", "n"}}},
                     means = {"mean(x, axis=0)", COLUMNS, {{MEAN, "x", "r", "n"}}},
                     keeping = {"sum(x, axis=0, keepdims=True)", COLUMNS, {{SUM, "x", "r", "bn"}}},
                     latest = {"latest(x, axis=0)", COLUMNS, {{LATEST, "x", "r", "n"}}},
                     cubes = {"sum(cube(x), axis=0)", COLUMNS, {{SUM, "xsx*", "r", "n"}}},
                     both_ends = {"low, high = ends(x, axis=0)\nreturn low, high", COLUMNS, {{MIN, "x", "r", "n"}, {MAX, "x", "r", "n"}}},
                     least_and_most = {"return min(x, axis=0), max(x, axis=0)", COLUMNS, {{MIN, "x", "r", "n"}, {MAX, "x", "r", "n"}}},
                     two_sums = {"return sum(x, axis=0), sum(x*y[:, None], axis=0)", {"ln", "l"}, {{SUM, "x", "r", "n"}, {SUM, "xy*", "r", "n"}}},
                     weighted = {"sum(x*y[:, None], axis=0)", {"ln", "l"}, {{SUM, "xy*", "r", "n"}}},
                     by_column = {"sum(x*y[None, :], axis=0)", {"ln", "n"}, {{SUM, "xy*", "r", "n"}}},
                     centred = {"mean((x - y[None, :])**2, axis=0)", {"ln", "n"}, {{MEAN, "xy-s", "r", "n"}}},
                     below = {"count_nonzero(x < y[None, :], axis=0)", {"ln", "n"}, {{SUM, "xy<", "r", "n"}}},
                     grams = {"mean(x[:, :, None]*x[:, None, :], axis=0)", PAIRS, {{MEAN, "xy*", "r", "nm"}}},
                     turned_grams = {"mean(x[:, None, :]*x[:, :, None], axis=0)", PAIRS, {{MEAN, "yx*", "r", "nm"}}},
                     differences = {"sum(x[:, :, None] - x[:, None, :], axis=0)", PAIRS, {{SUM, "xy-", "r", "nm"}}},
                     orders = {"sum(x[:, :, None] < x[:, None, :], axis=0)", PAIRS, {{SUM, "xy<", "r", "nm"}}},
                     crosses = {"sum(x[:, :, None]*y[:, None, :], axis=0)", PAIRS, {{SUM, "xy*", "r", "nm"}}},
                     weighted_grams = {"sum(x[:, :, None]*x[:, None, :]*w[:, None, None], axis=0)", {"ln", "lm", "l"}, {{SUM, "xy*w*", "r", "nm"}}},
                     rows_of_products = {"sum(x[:, None, :]*x[None, :, :], axis=2)", {"nl", "ml"}, {{SUM, "xy*", "r", "nm"}}},
                     rows_alone = {"sum(x, axis=1)", {"nl"}, {{SUM, "x", "r", "n"}}},
                     affine = {"mean(x, axis=0)*w + f", {"ln", NULL, "n", "n"}, {{MEAN, "x", "rw*f+", "n"}}},
                     read_again = {"sum(x - y[None, :], axis=0)*y + f", {"ln", "n", NULL, "n"}, {{SUM, "xy-", "ry*f+", "n"}}},
                     sum_and_scaled = {"s = sum(x, axis=0)\nreturn s, s*w", {"ln", NULL, "n"}, {{SUM, "x", "r", "n"}, {SUM, "x", "rw*", "n"}}},
                     scaled_by_one = {"sum(x, axis=0)*z", {"ln", NULL, NULL, NULL, ""}, {{SUM, "x", "rz*", "n"}}},
                     gram_and_bias = {"sum(x[:, :, None]*x[:, None, :], axis=0)*w[None, :] + f[:, None] - z", {"ln", "lm", "m", "n", "nm"}, {{SUM, "xy*", "rw*f+z-", "nm"}}},
                     around = {"sum(x, axis=(0, 2))", {"lnk"}, {{SUM, "x", "r", "n"}}},
                     around_weighted = {"sum(x*y[None, None, :]*w[:, None, None], axis=(0, 2))", {"lnk", "k", "l"}, {{SUM, "xy*w*", "r", "n"}}},
                     three_kept = {"sum(x, axis=0)", {"lbnm"}, {{SUM, "x", "r", "bnm"}}},
                     three_kept_weighted = {"sum(x*y[None, :, None, :], axis=0) - z", {"lbnm", "bm", NULL, NULL, "bnm"}, {{SUM, "xy*", "rz-", "bnm"}}},
                     turned_kept = {"sum(x, axis=0).T", {"lnm"}, {{SUM, "x", "r", "mn"}}},
                     three_quarters = {"sum(x*0.75, axis=0)*0.75", COLUMNS, {{SUM, "xt", "rt", "n"}}}, /* a constant of both parts */
                     cast = {"sum(f32(x)*y[:, None], axis=0)", {"ln", "l"}, {{SUM, "xcy*", "r", "n"}}};

static void finish(void) { /* a test's own failures */
    const int found = failures;
    failures = 0;
    assert_int_equal(found, 0);
}

/* ---- plans ---- */

/* What a program's kernels read of its operands: each element of them once. Where x is read under two names, y is no operand. */
static int64_t bytes_read(const example *e) {
    int64_t bytes = 0;
    for (int i = 0; i < OPERANDS; i++) {
        const char *axes = e->p->axes[i];
        int64_t size = 1;
        for (const char *c = axes; c != NULL && *c != '\0'; c++) {
            size *= e->extents[axis_of(*c)];
        }
        bytes += axes != NULL && !(i == 1 && e->same) ? size * (int64_t)bytes_of(i == 0 ? e->dtype : e->other) : 0;
    }
    return bytes;
}

static void look_at(krf_graph *g, int n, const krf_expr *results, verdict wanted, int64_t bytes, const char *what) {
    char *text = NULL, domain[] = "domain (1,) x reduced";
    size_t size = 0;
    int64_t read = 0;
    assert_ok(krf_dump(g, n, results, KRF_DUMP_PLAN, "cuda", NULL, &text, &size));
    const char *reads = strstr(text, "reads ");
    const bool spread = strstr(text, " reduce_all\n") != NULL && strstr(text, domain) != NULL;
    if (wanted != EITHER && (spread != (wanted == SPREADS) || (spread && strstr(text, "# 1 kernel,") == NULL))) {
        COMPLAIN("%s: a kernel %s be of one result for each reduction:\n%s", what, wanted == SPREADS ? "should" : "should not", text);
    } else if (bytes > 0 && (reads == NULL || sscanf(reads, "reads %" SCNd64, &read) != 1 || read != bytes)) {
        COMPLAIN("%s: the kernel should read %" PRId64 " bytes:\n%s", what, bytes, text);
    }
    krf_free(text);
}

/* ---- evaluation ---- */

/* The memory of the first result, where the caller gives it: every second element of it, the last one first. */
static krf_array *given_memory(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape) {
    int64_t strides[AXES], step = 2, offset = 0;
    krf_array *base = NULL, *view = NULL;
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = -step;
        offset += (shape[d] - 1) * step;
        step *= shape[d];
    }
    assert_ok(krf_array_create(context, dtype, 1, &step, &base));
    assert_ok(krf_array_view(base, rank, shape, strides, offset, &view));
    krf_array_release(base);
    return view;
}

static void spread_there(const example *e, const place *p, verdict wanted, value *want[RESULTS]) {
    static const char *const names[OPERANDS] = {"x", "y", "w", "f", "z"};
    krf_array *arrays[OPERANDS] = {NULL}, *got[RESULTS] = {NULL};
    krf_binding bindings[OPERANDS];
    krf_graph *g = krf_graph_create(p->context);
    krf_expr results[RESULTS];
    krf_plan *plan = NULL;
    char what[300];
    int n = 0, n_bindings = 0;
    snprintf(what, sizeof what, "%s: %s of %s [%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "] as %d", p->label, e->p->text, name_of(e->dtype), e->extents[0], e->extents[1], e->extents[2], e->extents[3], e->extents[4],
             (int)e->layouts[0]);
    for (int i = 0; i < OPERANDS; i++) {
        if (e->p->axes[i] != NULL) {
            arrays[i] = array_of(p->context, i == 0 ? e->dtype : e->other, &e->operands[i]);
            bindings[n_bindings++] = krf_bind_array(names[i], arrays[i]);
        }
    }
    if (krf_parse_many(g, e->p->text, bindings, n_bindings, RESULTS, results, &n) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    look_at(g, n, results, wanted, wanted == SPREADS ? bytes_read(e) : 0, what);
    n = wanted == STAYS ? 0 : n; /* those kernels have their own tests */
    int64_t shapes[RESULTS][AXES], sizes[RESULTS];
    for (int r = 0; r < n; r++) {
        sizes[r] = 1;
        for (int d = 0; e->p->results[r].axes[d] != '\0'; d++) {
            shapes[r][d] = e->extents[axis_of(e->p->results[r].axes[d])];
            sizes[r] *= shapes[r][d];
        }
    }
    if (e->turned && n > 0) {
        got[0] = given_memory(p->context, krf_expr_dtype(results[0]), (int)strlen(e->p->results[0].axes), shapes[0]);
    }
    const krf_status status = n == 0 ? KRF_OK : e->turned ? krf_eval_many(n, results, got) : krf_compile(g, n, results, NULL, &plan);
    if (status != KRF_OK || (plan != NULL && krf_plan_run(plan, NULL, 0, NULL, got) != KRF_OK)) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    if (plan != NULL && p->cuda && wanted == SPREADS) { /* and what ran, which knows addresses */
        krf_kernel_info info = {.size = sizeof info};
        assert_ok(krf_plan_kernel(plan, 0, &info));
        if (krf_plan_kernels(plan) != 1 || strcmp(info.schedule, "reduce_all") != 0 || info.bytes_read != bytes_read(e)) {
            COMPLAIN("%s: %d kernels, %s, that read %" PRId64 " bytes", what, krf_plan_kernels(plan), info.schedule, info.bytes_read);
        }
    }
    for (int r = 0; r < n; r++) {
        compare_result(got[r], r, want[r], (int)strlen(e->p->results[r].axes), shapes[r], sizes[r], what);
        krf_array_release(got[r]);
    }
    for (int i = 0; i < OPERANDS; i++) {
        krf_array_release(arrays[i]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

static void spread_everywhere(example e, verdict wanted) {
    value *want[RESULTS] = {NULL};
    uint64_t seed = 11;
    if (!is_chosen(&e)) {
        return;
    }
    for (int d = 0; d < AXES; d++) {
        e.extents[d] = e.extents[d] > 0 ? e.extents[d] : 1;
    }
    for (int i = 0; i < OPERANDS; i++) {
        if (e.p->axes[i] != NULL) {
            seed = e.same ? 11 : seed;
            e.operands[i] = make_operand(&e, i, &seed);
        }
    }
    for (int r = 0; r < RESULTS && e.p->results[r].element != NULL && !collecting && wanted != STAYS; r++) {
        int64_t size = 1;
        for (const char *c = e.p->results[r].axes; *c != '\0'; c++) {
            size *= e.extents[axis_of(*c)];
        }
        want[r] = malloc((size_t)size * sizeof *want[r]);
        assert_non_null(want[r]);
        for (int64_t k = 0; k < size; k++) {
            want[r][k] = expected(&e, r, k);
        }
    }
    for (int p = 0; p < n_places; p++) {
        spread_there(&e, &places[p], wanted, want);
    }
    for (int i = 0; i < OPERANDS; i++) {
        free(e.operands[i].elements);
        free(e.operands[i].memory);
    }
    free(want[0]);
    free(want[1]);
}

static void columns(const program *p, krf_dtype dtype, int64_t l, int64_t n, verdict wanted) { spread_everywhere((example){.p = p, .dtype = dtype, .other = dtype, .extents = {1, n, 1, l}}, wanted); }

static void pairs(const program *p, krf_dtype dtype, int64_t l, int64_t n, verdict wanted) {
    spread_everywhere((example){.p = p, .dtype = dtype, .other = dtype, .extents = {1, n, n, l}, .same = true}, wanted);
}

/* Columns come by vectors of 16 bytes, or of 8 and 4 of narrow elements, where rows have whole ones; and a thread keeps 48 bytes of accumulators for each of its lanes. */
static verdict wanted_of(krf_dtype dtype, int64_t n, int64_t accumulator) {
    const int64_t bytes = (int64_t)bytes_of(dtype);
    const bool vectors = n % (16 / bytes) == 0 || (bytes < 4 && (n * bytes) % 4 == 0);
    return vectors && bytes < 4 ? EITHER : n < 2 || n > 9 || vectors || n * accumulator > 48 ? STAYS : SPREADS;
}

/* ---- tests ---- */

static void test_columns(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_F16, KRF_BF16, KRF_I32};
    (void)unused;
    for (int64_t n = 1; n <= 11; n++) {
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            if (d < 2 || n == 3 || n == 7) {
                const int64_t accumulator = dtypes[d] == KRF_F64 || dtypes[d] == KRF_I32 ? 8 : 4;
                columns(&sums, dtypes[d], 1500 + 7 * n, n, n == 1 ? EITHER : wanted_of(dtypes[d], n, accumulator));
            }
        }
    }
    columns(&means, KRF_F32, 3000, 3, SPREADS);
    columns(&keeping, KRF_F32, 1100, 5, SPREADS);
    finish();
}

/* Every reduction of every dtype. */
static void test_dtypes(void **unused) {
    static const struct { const char *name; int op; } all[] = {{"sum", SUM}, {"prod", PROD}, {"max", MAX}, {"min", MIN}, {"mean", MEAN}, {"any", ANY}, {"all", ALL}, {"argmax", ARGMAX}, {"argmin", ARGMIN}};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_F16, KRF_BF16, KRF_I8, KRF_U8, KRF_I32, KRF_U32, KRF_I64, KRF_U64, KRF_BOOL};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            char text[40];
            const bool known = is_real(dtypes[d]) && bytes_of(dtypes[d]) > 2 && all[k].op != ARGMAX && all[k].op != ARGMIN;
            snprintf(text, sizeof text, "%s(x, axis=0)", all[k].name);
            const program p = {text, COLUMNS, {{all[k].op, "x", "r", "n"}}};
            if ((d < 2 && k < 5) || (d + k) % 3 == 0) {
                spread_everywhere((example){.p = &p, .dtype = dtypes[d], .other = dtypes[d], .extents = {1, 3, 1, 1100 + (int64_t)k}, .odd = (d + k) % 3 == 0}, known ? SPREADS : EITHER);
            }
        }
    }
    finish();
}

/* Around what a lane, a chunk of lanes, and a chunk have; and where chunks are combined by more than one block. */
static void test_lengths(void **unused) {
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 32, 255, 256, 257, 1023, 1024, 1025, 2049, 8193, 262143, 262145};
    (void)unused;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const verdict wanted = lengths[k] > 33 ? SPREADS : EITHER; /* rows side by side have shorter ones */
        columns(&sums, KRF_F32, lengths[k], 3, wanted);
        if (lengths[k] > 33) {
            columns(k % 2 == 0 ? &centred : &weighted, KRF_F32, lengths[k], lengths[k] > 10000 ? 2 : 5, wanted);
        }
        if (lengths[k] > 33 && lengths[k] < 10000) {
            columns(&means, KRF_F64, lengths[k], 3, wanted);
            pairs(&grams, KRF_F32, lengths[k], 3, wanted);
        }
    }
    finish();
}

static void test_products(void **unused) {
    (void)unused;
    for (int64_t l = 900; l < 4000; l += 1777) {
        const program *const all[] = {&grams, &turned_grams, &differences, &orders, &weighted_grams, &gram_and_bias};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            pairs(all[k], KRF_F32, l, 3, SPREADS);
            pairs(all[k], KRF_F64, l, 2, STAYS); /* two columns of f64 are a vector */
            pairs(all[k], KRF_F32, l, 2, EITHER); /* four results come by a vector */
        }
        pairs(&grams, KRF_F16, l, 3, SPREADS);
        spread_everywhere((example){.p = &crosses, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 3, 3, l}}, SPREADS);
        spread_everywhere((example){.p = &crosses, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 2, 3, l}}, SPREADS);
        spread_everywhere((example){.p = &crosses, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 2, 5, l}}, STAYS);
        pairs(&grams, KRF_F32, l, 4, STAYS); /* 16 results */
        pairs(&rows_of_products, KRF_F32, l + 9000, 3, SPREADS);
        columns(&rows_alone, KRF_F32, l + 9000, 3, STAYS); /* each is read once, in any case */
    }
    spread_everywhere((example){.p = &grams, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 3, 3, 1030}, .same = true, .odd = true}, SPREADS);
    finish();
}

/* What is computed behind the reductions reads operands at each of the results. */
static void test_epilogues(void **unused) {
    static const program *const all[] = {&affine, &read_again, &sum_and_scaled, &scaled_by_one, &by_column, &below, &two_sums, &cubes};
    (void)unused;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        columns(all[k], KRF_F32, 1100, 3, SPREADS);
        columns(all[k], k % 2 == 0 ? KRF_F32 : KRF_F64, 2100, k % 2 == 0 ? 2 : 3, k % 2 == 0 ? EITHER : SPREADS);
        for (layout how = OFFSET; how <= BACK; how++) {
            spread_everywhere((example){.p = all[k], .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 3, 1, 1033}, .layouts = {PLAIN, how == TURNED ? PLAIN : how, how == TURNED ? PLAIN : how, BACK}}, EITHER);
        }
    }
    columns(&least_and_most, KRF_F32, 1500, 3, SPREADS);
    columns(&least_and_most, KRF_F32, 1500, 5, STAYS); /* ten reductions */
    columns(&least_and_most, KRF_I32, 1500, 3, SPREADS);
    columns(&three_quarters, KRF_F32, 1500, 3, SPREADS);
    columns(&latest, KRF_F64, 3000, 3, SPREADS);
    columns(&both_ends, KRF_F32, 1500, 3, EITHER);
    spread_everywhere((example){.p = &cast, .dtype = KRF_F16, .other = KRF_F32, .extents = {1, 3, 1, 1500}}, SPREADS);
    finish();
}

static void test_dimensions(void **unused) {
    (void)unused;
    for (int64_t k = 1; k < 40; k += 12) {
        spread_everywhere((example){.p = &around, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 3, 1, 200, k}}, EITHER);
        spread_everywhere((example){.p = &around_weighted, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 3, 1, 200, k}}, EITHER);
    }
    for (layout how = PLAIN; how <= ROWS_BACK; how++) {
        spread_everywhere((example){.p = &three_kept, .dtype = KRF_F32, .other = KRF_F32, .extents = {3, 1, 3, 1100}, .layouts = {how}}, EITHER);
        spread_everywhere((example){.p = &three_kept, .dtype = KRF_F64, .other = KRF_F64, .extents = {2, 3, 1, 1100}, .layouts = {how}}, EITHER);
        spread_everywhere((example){.p = &three_kept_weighted, .dtype = KRF_F32, .other = KRF_F32, .extents = {2, 2, 2, 1100}, .layouts = {how, BACK}}, EITHER);
        spread_everywhere((example){.p = &turned_kept, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 3, 2, 1100}, .layouts = {how}}, EITHER);
    }
    finish();
}

/* Views of x, and results in memory that the caller gives. */
static void test_layouts(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_F64, KRF_U8};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (layout how = PLAIN; how <= ALIKE; how++) {
            for (int64_t n = d == 0 ? 2 : 3; n < (d == 0 || how < TURNED ? 5 : 4); n++) {
                const verdict wanted = how == TURNED && n == 3 && d != 1 ? STAYS : (how == TWOS || how == BACK) && d == 0 ? SPREADS : EITHER;
                spread_everywhere((example){.p = n == 2 ? &means : &sums, .dtype = dtypes[d], .other = dtypes[d], .extents = {1, n, 1, 1105}, .layouts = {how}}, wanted);
            }
            if ((size_t)how % 4 == d) {
                spread_everywhere((example){.p = &sums, .dtype = dtypes[d], .other = dtypes[d], .extents = {1, 3, 1, 1105}, .layouts = {how}, .turned = true}, EITHER);
            }
            if (how != TURNED && (d == 0 || (size_t)how % 3 == d)) {
                spread_everywhere((example){.p = &grams, .dtype = dtypes[d], .other = dtypes[d], .extents = {1, 3, 3, 1105}, .layouts = {how, how}, .turned = true, .same = true}, EITHER);
            }
        }
    }
    columns(&sums, KRF_F32, 1105, 4, STAYS);
    columns(&sums, KRF_F32, 1105, 8, STAYS);
    finish();
}

/* ---- what has other formulas ---- */

typedef struct source {
    krf_dtype dtype;
    int rank;
    int64_t shape[3];
    const void *data;
} source;

/* The values of a program's results on each place, of one dtype, together. */
static void values_of(const place *p, const char *text, int n_sources, const source *sources, verdict wanted, krf_dtype dtype, int64_t size, value *values) {
    static const char *const names[] = {"x", "y", "i"};
    krf_graph *g = krf_graph_create(p->context);
    krf_array *arrays[3] = {NULL}, *got[4] = {NULL};
    krf_binding bindings[3];
    krf_expr results[4];
    int n = 0;
    for (int s = 0; s < n_sources; s++) {
        assert_ok(krf_array_from_host(p->context, sources[s].dtype, sources[s].rank, sources[s].shape, sources[s].data, &arrays[s]));
        bindings[s] = krf_bind_array(names[s], arrays[s]);
    }
    if (krf_parse_many(g, text, bindings, n_sources, 4, results, &n) != KRF_OK || krf_eval_many(n, results, got) != KRF_OK) {
        fail_msg("%s: %s: %s", p->label, text, krf_error_message());
    }
    look_at(g, n, results, wanted, 0, text);
    int64_t done = 0;
    for (int r = 0; r < n; r++) {
        const int64_t own = krf_array_size(got[r]);
        void *data = malloc((size_t)own * bytes_of(dtype) + 1);
        assert_true(data != NULL && done + own <= size && krf_array_dtype(got[r]) == dtype);
        if (!collecting) {
            assert_ok(krf_array_to_host(got[r], data, (size_t)own * bytes_of(dtype)));
            for (int64_t k = 0; k < own; k++) {
                values[done + k] = get(data, dtype, k);
            }
        }
        done += own;
        free(data);
        krf_array_release(got[r]);
    }
    assert_int_equal(done, size);
    for (int s = 0; s < n_sources; s++) {
        krf_array_release(arrays[s]);
    }
    krf_graph_destroy(g);
}

static void compare_there(const char *text, int n_sources, const source *sources, verdict wanted, int64_t size, const value *want) {
    value got[40];
    assert_true(size <= 40);
    for (int p = 0; p < n_places; p++) {
        values_of(&places[p], text, n_sources, sources, wanted, want[0].dtype, size, got);
        for (int64_t k = 0; k < size && !collecting; k++) {
            char a[64], b[64];
            if (!same(got[k], want[k])) {
                COMPLAIN("%s: %s of %" PRId64 " rows: element %" PRId64 " is %s, not %s", places[p].label, text, n_sources > 0 ? sources[0].shape[0] : 0, k, show(got[k], a, sizeof a), show(want[k], b, sizeof b));
                break;
            }
        }
    }
}

/* Of those whose turn it is, by what they are. */
static void compare(const char *text, int n_sources, const source *sources, verdict wanted, int64_t size, const value *want) {
    char what[160];
    snprintf(what, sizeof what, "%s %" PRId64 " %" PRId64, text, n_sources > 0 ? sources[0].shape[0] : 0, size);
    if (name_in_shard(what)) {
        compare_there(text, n_sources, sources, wanted, size, want);
    }
}

enum { MOST_ROWS = 40000, MOST_COLUMNS = 5 };
static float numbers[MOST_ROWS * MOST_COLUMNS];
static double column[MOST_ROWS];

static void fill_numbers(uint64_t seed) {
    for (int k = 0; k < MOST_ROWS * MOST_COLUMNS; k++) {
        numbers[k] = (float)(random_unit(&seed) * 2 - 0.75);
    }
}

static value single(double f) { return (value){.dtype = KRF_F32, .f = nearest_float(f)}; }

/* As docs/conventions.md states it where the last axis stays: up to so many elements in two passes, of more in one. */
enum { ONCE_DOWN = 8192 };

static double variance_of(int64_t l, int64_t n, int64_t c) {
    double mean, sum = 0;
    for (int64_t k = 0; k < l; k++) {
        column[k] = (double)numbers[k * n + c];
    }
    if (l <= ONCE_DOWN) {
        mean = nearest_float(canonical_tree(SUM, true, column, l) / (double)l);
        for (int64_t k = 0; k < l; k++) {
            const double d = nearest_float(column[k] - mean);
            column[k] = nearest_float(d * d);
        }
        return nearest_float(canonical_tree(SUM, true, column, l) / (double)l);
    }
    sum = canonical_tree(SUM, false, column, l);
    for (int64_t k = 0; k < l; k++) {
        column[k] *= column[k];
    }
    const double v = (canonical_tree(SUM, false, column, l) - sum * sum / (double)l) / (double)l;
    return nearest_float(v > 0 ? v : 0);
}

static void test_variances(void **unused) {
    static const int64_t lengths[] = {1000, 1025, ONCE_DOWN, ONCE_DOWN + 1, 39999};
    (void)unused;
    fill_numbers(3);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const int64_t l = lengths[k];
        for (int64_t n = 2; n < 6; n++) {
            const source x = {KRF_F32, 2, {l, n}, numbers};
            value variances[MOST_COLUMNS], roots[MOST_COLUMNS];
            for (int64_t c = 0; c < n && !collecting; c++) {
                variances[c] = single(variance_of(l, n, c));
                roots[c] = single(sqrt(variances[c].f)); /* of a rounded variance: the root of f32 is the rounded one of f64 */
            }
            variances[0].dtype = roots[0].dtype = KRF_F32;
            compare("var(x, axis=0)", 1, &x, n == 3 && l > ONCE_DOWN ? SPREADS : EITHER, n, variances);
            if (l <= ONCE_DOWN) {
                compare("std(x, axis=0)", 1, &x, EITHER, n, roots);
            }
        }
    }
    finish();
}

/* Rows that are gathered, some again and again, and from the end; with weights, and both factors of a product. */
static void test_gathers(void **unused) {
    enum { TABLE = 50, L = 2050 };
    static int32_t places_of_rows[L];
    uint64_t seed = 5;
    (void)unused;
    fill_numbers(4);
    for (int k = 0; k < L; k++) {
        places_of_rows[k] = (int32_t)random_below(&seed, 2 * TABLE) - TABLE;
    }
    const source sources[] = {{KRF_F32, 2, {TABLE, 3}, numbers}, {KRF_F32, 1, {L}, numbers + 1000}, {KRF_I32, 1, {L}, places_of_rows}};
    value sums_of[3], weighted_of[3], products[9];
    memset(sums_of, 0, sizeof sums_of);
    for (int64_t c = 0; c < 3; c++) {
        for (int pass = 0; pass < 5; pass++) {
            for (int64_t k = 0; k < L; k++) {
                const float *row = numbers + 3 * ((places_of_rows[k] + TABLE) % TABLE);
                const double x = (double)row[c];
                column[k] = pass == 0 ? x : pass == 1 ? nearest_float(x * (double)numbers[1000 + k]) : nearest_float(x * (double)row[pass - 2]);
            }
            *(pass == 0 ? &sums_of[c] : pass == 1 ? &weighted_of[c] : &products[3 * c + pass - 2]) = single(canonical_tree(SUM, true, column, L));
        }
    }
    compare("sum(take(x, i, axis=0), axis=0)", 3, sources, EITHER, 3, sums_of);
    compare("sum(take(x, i, axis=0)*y[:, None], axis=0)", 3, sources, EITHER, 3, weighted_of);
    compare("t = take(x, i, axis=0)\nsum(t[:, :, None]*t[:, None, :], axis=0)", 3, sources, EITHER, 9, products);
    finish();
}

/* Places and numbers that are drawn count along the kept dimension too. The drawn ones are those of the array itself, which other tests hold to the generator. */
static void test_places(void **unused) {
    enum { L = 1300 };
    value got[3 * L], want[3], sums_of[9], halves[3];
    (void)unused;
    fill_numbers(6);
    const source x = {KRF_F32, 2, {L, 3}, numbers};
    values_of(&places[n_places - 1], "random_uniform((1300, 3), 5, dtype=f32)", 0, NULL, EITHER, KRF_F32, collecting ? 3 * L : 3 * L, got);
    for (int64_t c = 0; c < 3; c++) {
        for (int64_t k = 0; k < L; k++) {
            column[k] = collecting ? 0 : got[3 * k + c].f;
        }
        want[c] = single(canonical_tree(SUM, true, column, L));
        for (int64_t k = 0; k < L; k++) {
            column[k] = nearest_float((double)numbers[3 * k + c] * (double)(3 * k + c));
        }
        halves[c] = single(canonical_tree(SUM, true, column, L));
        for (int64_t b = 0; b < 3; b++) {
            for (int64_t k = 0; k < L; k++) {
                column[k] = nearest_float((double)numbers[3 * k + c] * (double)b);
            }
            sums_of[3 * c + b] = single(canonical_tree(SUM, true, column, L));
        }
    }
    compare("sum(random_uniform((1300, 3), 5, dtype=f32), axis=0)", 0, NULL, EITHER, 3, want);
    compare("sum(x*reshape(f32(arange(3900)), (1300, 3)), axis=0)", 1, &x, EITHER, 3, halves);
    compare("sum(x[:, :, None]*f32(arange(3))[None, None, :], axis=0)", 1, &x, EITHER, 9, sums_of);
    finish();
}

/* Complex columns, by parts; an array of 16 columns of which three are read, from behind and from the second row on. */
static void test_parts(void **unused) {
    enum { L = 1500 };
    static float complex_numbers[L * 6];
    (void)unused;
    fill_numbers(7);
    memcpy(complex_numbers, numbers, sizeof complex_numbers);
    for (int64_t n = 2; n < 4; n++) {
        value want[3], parts[6];
        const source x = {KRF_C64, 2, {L, n}, complex_numbers};
        for (int64_t c = 0; c < n; c++) {
            double part[2];
            for (int64_t p = 0; p < 2; p++) {
                for (int64_t k = 0; k < L; k++) {
                    column[k] = (double)complex_numbers[2 * (n * k + c) + p];
                }
                part[p] = canonical_tree(SUM, true, column, L);
                parts[p * n + c] = single(part[p]);
            }
            want[c] = (value){.dtype = KRF_C64, .f = part[0], .im = part[1]};
        }
        compare("sum(x, axis=0)", 1, &x, EITHER, n, want);
        compare("return sum(real(x), axis=0), sum(imag(x), axis=0)", 1, &x, EITHER, 2 * n, parts);
    }
    const source wide_rows = {KRF_F32, 2, {L, 16}, numbers};
    static const struct { const char *text; int64_t first, step, skip; } views[] = {
        {"sum(x[:, :3], axis=0)", 0, 1, 0}, {"sum(x[::-1, 2:5], axis=0)", 2, -1, 0}, {"sum(x[1:, 1:4], axis=0)", 1, 1, 1}, {"sum(x[:, 12:9:-1], axis=0)", 12, 1, 0}, {"sum(x[::2, 13:], axis=0)", 13, 2, 0}};
    for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
        value want[3];
        const int64_t step = views[v].step, l = step == 2 ? (L + 1) / 2 : L - views[v].skip;
        for (int64_t c = 0; c < 3; c++) {
            for (int64_t k = 0; k < l; k++) {
                column[k] = (double)numbers[16 * (step < 0 ? L - 1 - k : views[v].skip + k * step) + views[v].first + (views[v].first == 12 ? -c : c)];
            }
            want[c] = single(canonical_tree(SUM, true, column, l));
        }
        compare(views[v].text, 1, &wide_rows, SPREADS, 3, want);
    }
    finish();
}

/* Columns of no elements, to which no kernel may look. */
static void test_nothing(void **unused) {
    const source x = {KRF_F32, 2, {0, 3}, numbers};
    const value zero = single(0), nan = single((double)NAN), one = single(1);
    (void)unused;
    compare("sum(x, axis=0)", 1, &x, EITHER, 3, (value[]){zero, zero, zero});
    compare("prod(x, axis=0)", 1, &x, EITHER, 3, (value[]){one, one, one});
    compare("mean(x, axis=0)", 1, &x, EITHER, 3, (value[]){nan, nan, nan});
    finish();
}

/* From so many elements on. */
static void test_limits(void **unused) {
    static const struct { const char *fusion; int64_t l, n; verdict wanted; } cases[] = {
        {NULL, 1 << 19, 3, SPREADS}, {NULL, (1 << 19) - 1, 3, STAYS}, {"spread=1000", 1000, 3, SPREADS}, {"spread=1000", 999, 3, STAYS}, {"spread=0", 1 << 21, 3, STAYS}, {"flat=0", 1 << 21, 9, SPREADS}, {"flat=0", 1 << 21, 10, STAYS},
        {NULL, 1 << 21, 4, STAYS}};
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        krf_context_options options = krf_context_options_default();
        krf_context *context = NULL;
        options.device = "cpu";
        options.fusion = cases[k].fusion;
        assert_ok(krf_context_create(&options, &context));
        krf_graph *g = krf_graph_create(context);
        const krf_expr x = krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){cases[k].l, cases[k].n}), y = krf_mean(x, 1, (int[]){0}, false);
        char *text = NULL;
        size_t size = 0;
        look_at(g, 1, &y, cases[k].wanted, 4 * cases[k].l * cases[k].n, "columns");
        assert_ok(krf_dump(g, 1, &y, KRF_DUMP_PLAN, "c", NULL, &text, &size));
        assert_null(strstr(text, "domain (1,)")); /* a CPU takes columns as they are */
        krf_free(text);
        krf_graph_destroy(g);
        krf_context_destroy(context);
    }
    finish();
}

/* More than 2,048 chunks, which the warps of a block share; and where sums go in any order, near the exact ones. */
static void test_many_chunks(void **unused) {
    enum { L = 2 * (1 << 20) + 1027 };
    if (!name_in_shard(__func__)) {
        return;
    }
    float *x = malloc((size_t)L * 3 * sizeof *x);
    double *one = malloc((size_t)L * sizeof *one), exact[3] = {0}, magnitude = 0;
    uint64_t seed = 9;
    value want[3], got[3];
    (void)unused;
    assert_true(x != NULL && one != NULL);
    for (int64_t k = 0; k < 3 * (int64_t)L; k++) {
        x[k] = (float)(random_unit(&seed) * 2 - 0.75);
        exact[k % 3] += (double)x[k]; /* far nearer than sums of f32 */
        magnitude += fabs((double)x[k]) / 3;
    }
    for (int64_t c = 0; c < 3; c++) {
        for (int64_t k = 0; k < L; k++) {
            one[k] = (double)x[3 * k + c];
        }
        want[c] = single(canonical_tree(SUM, true, one, L));
    }
    const source points = {KRF_F32, 2, {L, 3}, x};
    compare_there("sum(x, axis=0)", 1, &points, SPREADS, 3, want);
    if (places[0].cuda && !collecting) {
        krf_context_options options = krf_context_options_default();
        place fast = {.label = "fast", .fusion = "spread=1,flat=0", .cuda = true};
        options.device = getenv("KRF_TEST_DEVICE");
        options.math = KRF_MATH_FAST;
        options.fusion = fast.fusion;
        assert_ok(krf_context_create(&options, &fast.context));
        values_of(&fast, "sum(x, axis=0)", 1, &points, SPREADS, KRF_F32, 3, got);
        for (int c = 0; c < 3; c++) {
            if (!(fabs(got[c].f - exact[c]) <= 1e-6 * magnitude)) {
                COMPLAIN("fast: column %d has %.9g, not about %.9g", c, got[c].f, exact[c]);
            }
        }
        krf_context_destroy(fast.context);
    }
    free(x);
    free(one);
    finish();
}

int main(void) {
    const struct CMUnitTest tests[] = {noted_test(test_columns), noted_test(test_dtypes), noted_test(test_lengths), noted_test(test_products), noted_test(test_epilogues),
                                       noted_test(test_dimensions), noted_test(test_layouts), noted_test(test_variances), noted_test(test_gathers), noted_test(test_places),
                                       noted_test(test_parts), noted_test(test_nothing), cmocka_unit_test(test_limits), noted_test(test_many_chunks)};
    const size_t n = sizeof tests / sizeof *tests;
    const char *device = asked_device();
    const bool cuda = strcmp(device, "cpu") != 0;
    setenv("FAKECUDA_SEED", "3", 0); /* threads in another order than their own */
    setenv("KRF_EXACT_MEMORY", "1", 0); /* AddressSanitizer sees what is read behind arrays */
    if (cuda) {
        setenv("KRF_CACHE", "off", 1); /* batches take no kernels from the disk */
    }
    add_place(device, KRF_CPU_INTERPRET, "spread=1,flat=0");
    for (int p = 0; p < n_places; p++) {
        krf_op *op = NULL;
        krf_reduction *r = NULL;
        assert_ok(krf_op_define(places[p].context, "cube", "T x", "T y", "y = x * x * x;", NULL, &op));
        krf_op_release(op);
        assert_ok(krf_reduction_define(places[p].context, "latest", "f64 x", "f64 v", "0", "v = x;", "v = b_v != 0 ? b_v : a_v;", NULL, NULL, &r));
        krf_reduction_release(r);
        assert_ok(krf_reduction_define(places[p].context, "ends", "f32 x", "f32 low, f32 high", "inf, -inf", "low = x; high = x;", "low = min(a_low, b_low); high = max(a_high, b_high);", NULL, NULL, &r));
        krf_reduction_release(r);
        if (cuda) {
            batch_install(places[p].context);
        }
    }
    if (cuda) {
        collect(tests, n);
    }
    return run_on_places(tests, n);
}
