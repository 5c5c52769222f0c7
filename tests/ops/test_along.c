/* Reductions over several dimensions by whole tiles: the row of a tile is found once, and what is the same along the last dimension is loaded once for a tile. Lengths around the borders of tiles, dtypes, views, and what
 * lies along which dimension. And reductions of pairs that any order serves: eight results a warp, with one accumulator each, in longer chunks. KRF_TEST_DEVICE. */
#include "ops/outer.h"
#include "ops/tree.h"

#define PAIRS {"l", "k"}
static const program pairs = {"sum(x[:, None] - y[None, :])", PAIRS, {{SUM, "xy-", "r", ""}}},
                     least = {"min(x[:, None] * y[None, :])", PAIRS, {{MIN, "xy*", "r", ""}}},
                     latest = {"latest(x[:, None] - y[None, :])", PAIRS, {{LATEST, "xy-", "r", ""}}},
                     scaled = {"mean(x[:, None] * w - y[None, :] + f)", {"l", "k", "", ""}, {{MEAN, "xw*y-f+", "r", ""}}},
                     weighted = {"sum(x * y[:, None])", {"lk", "l"}, {{SUM, "xy*", "r", ""}}},
                     weights_along = {"sum(x * y[None, :])", {"lk", "k"}, {{SUM, "xy*", "r", ""}}},
                     all_ways = {"sum(x * y[:, None] - w[None, :] * f[:, None])", {"lk", "l", "k", "l"}, {{SUM, "xy*wf*-", "r", ""}}},
                     several = {"d = x * y[:, None]\nreturn sum(d), max(d - w[:, None])", {"lk", "l", "l"}, {{SUM, "xy*", "r", ""}, {MAX, "xy*w-", "r", ""}}},
                     unlike = {"return min(x[:, None] - y[None, :]), sum(x[:, None] * w)", {"l", "k", "lk"}, {{MIN, "xy-", "r", ""}, {SUM, "xw*", "r", ""}}},
                     mixed = {"sum(f32(x) * y[:, None])", {"lk", "l"}, {{SUM, "xcy*", "r", ""}}},
                     stored = {"d = x * y[:, None]\nreturn d, sum(d)", {"lk", "l"}, {{ELEMENTS, "xy*", NULL, "lk"}, {SUM, "xy*", "r", ""}}},
                     batch = {"sum(x[:, :, None] - y[:, None, :], axis=(1, 2))", {"nl", "nk"}, {{SUM, "xy-", "r", "n"}}},
                     batch_least = {"min(x[:, :, None] - y[:, None, :], axis=(1, 2))", {"nl", "nk"}, {{MIN, "xy-", "r", "n"}}},
                     batch_weighted = {"sum(x * y[None, :, None], axis=(1, 2))", {"nlk", "l"}, {{SUM, "xy*", "r", "n"}}},
                     batch_along = {"sum(x * y[None, None, :], axis=(1, 2))", {"nlk", "k"}, {{SUM, "xy*", "r", "n"}}},
                     batch_both = {"sum(x * y[None, :, :] - w[None, :, None] + f[:, None, None], axis=(1, 2)) * f", {"nlk", "lk", "l", "n"}, {{SUM, "xy*w-f+", "rf*", "n"}}},
                     batch_outer = {"sum(f32(x)[:, :, None] * y[None, None, :], axis=(1, 2))", {"nl", "k"}, {{SUM, "xcy*", "r", "n"}}},
                     own = {"min(x[:, None, None] - y[None, :, None] * w[None, None, :], axis=(1, 2))", {"n", "l", "k"}, {{MIN, "xyw*-", "r", "n"}}},
                     batches = {"sum(x[:, :, :, None] - y[:, None, None, :], axis=(2, 3))", {"bnl", "bk"}, {{SUM, "xy-", "r", "bn"}}},
                     three = {"sum(x[:, None, None] - y[None, :, None] * w)", {"h", "l", "k"}, {{SUM, "xyw*-", "r", ""}}},
                     solid = {"sum(x * y[:, None, None] - w[None, :, None])", {"hlk", "h", "l"}, {{SUM, "xy*w-", "r", ""}}},
                     outer_two = {"sum(x[:, :, None] * y)", {"hl", "k"}, {{SUM, "xy*", "r", ""}}},
                     three_of_each = {"sum(x[:, None, :, None] - y[None, :, None, None] * w, axis=(1, 2, 3))", {"nl", "h", "k"}, {{SUM, "xyw*-", "r", "n"}}},
                     gathered = {"sum(f32(take(x, y % 50))[:, None] * f32(w) - f32(f)[:, None])", {"m", "l", "lk", "l"}, {{SUM, "yGxdwd*fd-", "r", ""}}},
                     gathered_along = {"sum(f32(take(x, y % 50))[None, :] * f32(w)[:, None])", {"m", "k", "l"}, {{SUM, "yGxdwd*", "r", ""}}},
                     gathered_both = {"sum(f32(take(x, y % 50)) * f32(w)[:, None])", {"m", "lk", "l"}, {{SUM, "yGxdwd*", "r", ""}}},
                     records = {"sum((x[:, None, 0] - y[None, :]) * x[:, None, 1])", {"lm", "k"}, {{SUM, "Mxy-Nx*", "r", ""}}};

#define ROWS {"n", "l"}
static const program most = {"max(x[:, None] - y[None, :], axis=1)", ROWS, {{MAX, "xy-", "r", "n"}}},
                     ends = {"d = x[:, None] * y[None, :]\nreturn max(d, axis=1), min(d, axis=1)", ROWS, {{MAX, "xy*", "r", "n"}, {MIN, "xy*", "r", "n"}}},
                     counted = {"return min(x[:, None] - y[None, :], axis=1), sum(x[:, None] < y[None, :], axis=1)", ROWS, {{MIN, "xy-", "r", "n"}, {SUM, "xy<", "r", "n"}}},
                     placed = {"d = x[:, None] - y[None, :]\nreturn argmax(d, axis=1), max(d, axis=1)", ROWS, {{ARGMAX, "xy-", "r", "n"}, {MAX, "xy-", "r", "n"}}},
                     ordered = {"d = x[:, None] * y[None, :]\nreturn sum(d, axis=1), min(d, axis=1)", ROWS, {{SUM, "xy*", "r", "n"}, {MIN, "xy*", "r", "n"}}},
                     beside = {"max(x[:, :, None] - y[:, None, :], axis=2) * z + f[None, :]", {"bn", "bl", NULL, "n", "bn"}, {{MAX, "xy-", "rz*f+", "bn"}}},
                     both_kinds = {"min(w[:, None, None] * x[None, :, None] - y[None, None, :], axis=2)", {"n", "l", "m"}, {{MIN, "wx*y-", "r", "mn"}}};

/* `along` is 1 where the row of a tile must be found once, and -1 where it may not. */
static void try_all(const program *p, krf_dtype dtype, int64_t l, int64_t k, int along) { try_example((example){.p = p, .dtype = dtype, .other = dtype, .extents = {1, 1, 1, l, k}, .along = along}, ONE_BY_ONE); }

static void try_batch(const program *p, krf_dtype dtype, int64_t n, int64_t l, int64_t k, int along, int taken) { try_example((example){.p = p, .dtype = dtype, .other = dtype, .extents = {1, n, 1, l, k}, .along = along}, taken); }

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {256, 384, 128, 255, 257, 260, 512, 768, 1020, 1024, 1025, 1028, 1280, 2048, 3072, 4096}, lines[] = {2, 5, 33};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_BF16, KRF_F16};
    (void)unused;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
            try_all(&pairs, KRF_F32, lines[l], lengths[k], lengths[k] % 256 == 0 ? 1 : -1);
            try_all((k + l) % 2 == 0 ? &weighted : &weights_along, KRF_F32, lines[l], lengths[k], lengths[k] % 256 == 0 ? 1 : -1);
            if (l == k % 3) {
                try_all((k + l) % 3 == 0 ? &all_ways : &pairs, dtypes[(k + l / 2) % 4], lines[l], lengths[k], 0);
            }
        }
    }
    try_all(&pairs, KRF_F32, 515, 1024, 1); /* chunks of which a warp has several */
    try_all(&weighted, KRF_F32, 2051, 256, 1);
    try_all(&latest, KRF_F64, 255, 512, 1);
    assert_int_equal(failures, 0);
}

/* Reductions of every dtype: over all of pairs and of weights, and over rows of pairs, each of which has several beside it. */
static void test_dtypes(void **unused) {
    static const struct { const char *name; int op; } all[] = {{"sum", SUM}, {"prod", PROD}, {"max", MAX}, {"min", MIN}, {"mean", MEAN}, {"any", ANY}, {"all", ALL}, {"argmax", ARGMAX}, {"argmin", ARGMIN}};
    static const int64_t lengths[] = {300, 1023, 1024, 1025, 2048, 2049, 515};
    (void)unused;
    for (int d = 0; d < DTYPES; d++) {
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const krf_dtype dtype = (krf_dtype)d;
            const bool of_rows = k / 2 % 2 == 0, of_places = all[k].op == ARGMAX || all[k].op == ARGMIN, free = of_places || (all[k].op != MEAN && (!is_real(dtype) || all[k].op > PROD));
            char text[80], row[80], element[] = {'x', 'y', all[k].op == ANY || all[k].op == ALL ? '<' : dtype == KRF_BOOL ? '^' : '-', '\0'};
            snprintf(text, sizeof text, of_rows ? "%s(x %s y[:, None])" : "%s(x[:, None] %s y[None, :])", all[k].name, element + 2);
            snprintf(row, sizeof row, "%s(x[:, None] %s y[None, :], axis=1)", all[k].name, element + 2);
            const program p = {text, {of_rows ? "lk" : "l", of_rows ? "l" : "k"}, {{all[k].op, element, "r", ""}}}, rows_of = {row, ROWS, {{all[k].op, element, "r", "n"}}};
            if ((k + (size_t)d) % 7 == 0) {
                try_all(&p, dtype, 4, 1024, 0);
            } else if (free && (k + (size_t)d) % 7 == 1) {
                const int64_t n = 8 + (int64_t)(k + (size_t)d) % 7;
                const int taken = bytes_of(dtype) == 1 || (of_places && bytes_of(dtype) == 8) ? ONE_BY_ONE : of_places && bytes_of(dtype) == 2 ? 4 : 8; /* none of 16 bytes at once and of two words; of many statements four */
                try_example((example){.p = &rows_of, .dtype = dtype, .other = dtype, .extents = {1, n, 1, lengths[(k + 2 * (size_t)d) % 7]}, .odd = k % 2 == 0}, taken);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_operands(void **unused) {
    static const program *const all[] = {&least, &scaled, &all_ways, &several, &unlike, &stored}, *const gathers[] = {&gathered, &gathered_along, &gathered_both};
    (void)unused;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const int along = all[k] == &stored ? -1 : 1;
        try_all(all[k], KRF_F32, 5, 1024, along);
        try_all(all[k], k % 2 == 0 ? KRF_F64 : KRF_BF16, 3, 2048, along);
        try_example((example){.p = all[k], .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 1, 1, 4, 1024}, .odd = true}, ONE_BY_ONE);
    }
    for (size_t k = 0; k < 3; k++) {
        try_example((example){.p = gathers[k], .dtype = KRF_F32, .other = KRF_I32, .extents = {1, 1, 50, 46, 1024}, .along = 1}, ONE_BY_ONE);
        try_example((example){.p = gathers[k], .dtype = KRF_F64, .other = KRF_I64, .extents = {1, 1, 50, 5, 512}, .along = 1}, ONE_BY_ONE);
    }
    try_example((example){.p = &mixed, .dtype = KRF_F16, .other = KRF_F32, .extents = {1, 1, 1, 6, 1024}}, ONE_BY_ONE);
    try_example((example){.p = &mixed, .dtype = KRF_I8, .other = KRF_F32, .extents = {1, 1, 1, 6, 2048}}, ONE_BY_ONE);
    try_example((example){.p = &records, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 1, 2, 40, 1024}, .along = 1}, ONE_BY_ONE);
    for (int64_t k = 256; k < 2049; k *= 2) { /* places along either dimension */
        char text[2][120];
        const program places_of[] = {{text[0], {"l"}, {{SUM, "xp*", "r", ""}}}, {"sum(y[None, :] - f32(arange(9))[:, None])", {NULL, "k"}, {{SUM, "yi-", "r", ""}}}, {"sum(x * f32(arange(9))[:, None])", {"lk"}, {{SUM, "xi*", "r", ""}}}, {text[1], {"lk", "k"}, {{SUM, "xi*p-y-", "r", ""}}}};
        snprintf(text[0], sizeof *text, "sum(x[:, None] * f32(arange(%d))[None, :])", (int)k);
        snprintf(text[1], sizeof *text, "sum(x * f32(arange(9))[:, None] - f32(arange(%d)) - y)", (int)k);
        for (size_t i = 0; i < 4; i++) {
            try_all(&places_of[i], KRF_F32, 9, k, k > 512 ? 1 : 0);
        }
    }
    assert_int_equal(failures, 0);
}

/* Results of their own rows: few, which blocks share; and many, a warp's. */
static void test_results(void **unused) {
    static const int64_t results[] = {1, 3, 9};
    (void)unused;
    for (size_t k = 0; k < sizeof results / sizeof *results; k++) {
        const int64_t n = results[k];
        for (int64_t l = 2; l < 7; l += 3) {
            try_batch(&batch, KRF_F32, n, l, 512, 1, ONE_BY_ONE);
            try_batch(&batch_least, KRF_F32, n, l, 256, 1, ONE_BY_ONE);
            try_batch(&batch_weighted, k % 2 == 0 ? KRF_F32 : KRF_BF16, n, l, 1024, 1, ONE_BY_ONE);
            try_batch(&batch_along, k % 2 == 0 ? KRF_F64 : KRF_I8, n, l, 1024, 0, ONE_BY_ONE);
            try_batch(&batch_both, KRF_F32, n, l, 1024, 1, ONE_BY_ONE);
            try_example((example){.p = &three_of_each, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, n, 1, l, 256, 3}}, ONE_BY_ONE);
            try_example((example){.p = &batches, .dtype = KRF_F32, .other = KRF_F32, .extents = {3, n, 1, l, 512}}, ONE_BY_ONE);
            try_batch(&own, KRF_F32, n, l, 1024, 0, n < 2 ? ONE_BY_ONE : n < 4 ? 2 : n < 8 ? 4 : 8); /* one by one it is along, where nothing else is asked for */
        }
    }
    try_batch(&batch_weighted, KRF_F32, 300, 2, 512, 1, ONE_BY_ONE);
    try_example((example){.p = &batch_outer, .dtype = KRF_BF16, .other = KRF_F32, .extents = {1, 4099, 1, 2, 1024}, .along = 1}, ONE_BY_ONE); /* all chunks of a row */
    assert_int_equal(failures, 0);
}

static void test_layouts(void **unused) {
    static const layout layouts[] = {OFFSET, GAPS, TURNED, TWOS, BACK, ROWS_BACK, SPREAD, ALIKE};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_F16};
    (void)unused;
    for (size_t how = 0; how < sizeof layouts / sizeof *layouts; how++) {
        const layout l = layouts[how], of_pairs = l == TURNED ? PLAIN : l, other = how % 2 == 0 ? PLAIN : GAPS;
        const krf_dtype dtype = dtypes[how % 3], next = dtypes[(how + 1) % 2];
        try_example((example){.p = &pairs, .dtype = dtype, .other = dtype, .extents = {1, 1, 1, 5, 1024}, .layouts = {of_pairs}}, ONE_BY_ONE);
        try_example((example){.p = &pairs, .dtype = next, .other = next, .extents = {1, 1, 1, 5, 1024}, .layouts = {PLAIN, of_pairs}}, ONE_BY_ONE);
        try_example((example){.p = &weighted, .dtype = next, .other = next, .extents = {1, 1, 1, 4, 1024}, .layouts = {l}}, ONE_BY_ONE);
        try_example((example){.p = how % 2 == 0 ? &solid : &outer_two, .dtype = dtype, .other = dtype, .extents = {1, 1, 1, 3, 512, 4}, .layouts = {l}}, ONE_BY_ONE);
        try_example((example){.p = &batch_both, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 3, 1, 3, 1024}, .layouts = {l, other}}, ONE_BY_ONE);
    }
    for (int64_t k = 256; k < 5000; k *= 2) {
        try_example((example){.p = &three, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 1, 1, 3, k, 4}, .along = k > 512 ? 1 : 0}, ONE_BY_ONE);
        try_example((example){.p = &three, .dtype = KRF_I8, .other = KRF_I8, .extents = {1, 1, 1, 4, k, 3}}, ONE_BY_ONE);
    }
    assert_int_equal(failures, 0);
}

/* What any order serves. */
static void test_any_order(void **unused) {
    static const program *const all[] = {&most, &ends, &counted, &placed};
    static const int64_t results[] = {8, 9, 15}, lengths[] = {257, 1024, 1025, 2049, 16385};
    (void)unused;
    for (size_t k = 0; k < sizeof results / sizeof *results; k++) {
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            const krf_dtype dtype = l == k ? KRF_F16 : KRF_F32;
            try_example((example){.p = all[(k + l) % 4], .dtype = dtype, .other = dtype, .extents = {1, results[k], 1, lengths[l]}, .odd = (k + l) % 3 == 0}, 8);
        }
        try_example((example){.p = &beside, .dtype = KRF_F32, .other = KRF_F32, .extents = {3, results[k], 1, 1030 - 2 * (int64_t)k}}, 8);
        try_example((example){.p = &both_kinds, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, results[k], 5, 1030}}, 8);
        try_example((example){.p = &ordered, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, results[k], 1, 1100}, .odd = k % 2 == 0}, 2); /* the sum has eight accumulators */
    }
    assert_int_equal(failures, 0);
}

/* So many elements that chunks are twice as long. Differences of numbers so small are exact: the largest one is that from the least y, whose place is known. */
static void test_long_chunks(void **unused) {
    enum { N = 2049, LENGTH = 17001 };
    static float x[N], y[LENGTH];
    const int64_t n = N, length = LENGTH;
    uint64_t seed = 3;
    int64_t least_place = 0;
    (void)unused;
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)random_below(&seed, 1000);
    }
    for (int64_t i = 0; i < length; i++) {
        y[i] = (float)random_below(&seed, 1000000);
        least_place = y[i] < y[least_place] ? i : least_place;
    }
    for (int p = 0; p < n_places && !(collecting && !places[p].cuda); p++) {
        krf_graph *g = krf_graph_create(places[p].context);
        const krf_binding bindings[] = {krf_bind_expr("x", host_input(g, places[p].context, KRF_F32, 1, &n, x)), krf_bind_expr("y", host_input(g, places[p].context, KRF_F32, 1, &length, y))};
        krf_array *got = NULL;
        krf_expr e;
        char *plan = NULL;
        size_t bytes = 0;
        float found[N];
        if (krf_parse(g, most.text, bindings, 2, &e) != KRF_OK || krf_dump(g, 1, &e, KRF_DUMP_PLAN, "cuda", NULL, &plan, &bytes) != KRF_OK || krf_eval(e, &got) != KRF_OK) {
            fail_msg("%s: %s", places[p].label, krf_error_message());
        }
        if (strstr(plan, "9 chunks of 2048, by 8 results") == NULL) {
            COMPLAIN("%s: chunks should be of 2,048 elements:\n%s", places[p].label, plan);
        }
        assert_ok(krf_array_to_host(got, found, sizeof found));
        for (int64_t i = 0; i < n; i++) {
            if (found[i] != x[i] - y[least_place] && !collecting) {
                COMPLAIN("%s: element %" PRId64 " is %a, not %a", places[p].label, i, (double)found[i], (double)(x[i] - y[least_place]));
                break;
            }
        }
        krf_free(plan);
        krf_array_release(got);
        krf_graph_destroy(g);
    }
    for (size_t k = 0; k < 3; k++) { /* not what has an order, of whole numbers as well, or comes from memory */
        static const char *const others[] = {"sum(x[:, None] - y[None, :], axis=1)", "subtract.reduce(i32(x)[:, None] - i32(y)[None, :], axis=1)", "max(z, axis=1)"};
        krf_graph *g = krf_graph_create(places[0].context);
        const krf_binding shapes[] = {krf_bind_expr("x", krf_placeholder(g, "x", KRF_F32, 1, &n)), krf_bind_expr("y", krf_placeholder(g, "y", KRF_F32, 1, &length)), krf_bind_expr("z", krf_placeholder(g, "z", KRF_F32, 2, (const int64_t[]){N, LENGTH}))};
        krf_expr e;
        char *plan = NULL;
        size_t bytes = 0;
        if (krf_parse(g, others[k], shapes, 3, &e) != KRF_OK || krf_dump(g, 1, &e, KRF_DUMP_PLAN, "cuda", NULL, &plan, &bytes) != KRF_OK) {
            fail_msg("%s: %s", others[k], krf_error_message());
        }
        if (strstr(plan, "chunks of 1024") == NULL) {
            COMPLAIN("chunks should be of 1,024 elements:\n%s", plan);
        }
        krf_free(plan);
        krf_graph_destroy(g);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_rows(NULL, TESTS(noted_test(test_lengths), noted_test(test_dtypes), noted_test(test_operands), noted_test(test_results), noted_test(test_layouts),
                                noted_test(test_any_order), noted_test(test_long_chunks)));
}
