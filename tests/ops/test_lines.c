/* Reductions along rows whose operands are each the same along the row, or along the last dimension of the results: a warp of a GPU has several results then, and threads of short rows have them one after the
 * other. Every dtype, lengths around the borders of rows, tiles and chunks, few results of many chunks, views, what stands beside the rows; which kernels do that, and that none of it shows in a result.
 * KRF_TEST_DEVICE. */
#include "ops/outer.h"
#include "ops/tree.h"

#define PAIRS {"n", "l"}
static const program distances = {"sum(abs(x[:, None] - y[None, :]), axis=1)", PAIRS, {{SUM, "xy-a", "r", "n"}}},
                     squares = {"mean((x[:, None] - y[None, :])**2, axis=1)", PAIRS, {{MEAN, "xy-s", "r", "n"}}},
                     least = {"min(x[:, None] * y[None, :], axis=1)", PAIRS, {{MIN, "xy*", "r", "n"}}},
                     most = {"max(x[:, None] - y[None, :], axis=1)", PAIRS, {{MAX, "xy-", "r", "n"}}},
                     latest = {"latest(x[:, None] - y[None, :], axis=1)", PAIRS, {{LATEST, "xy-", "r", "n"}}},
                     nearest_one = {"argmin(abs(x[:, None] - y[None, :]), axis=1)", PAIRS, {{ARGMIN, "xy-a", "r", "n"}}},
                     scaled = {"sum(abs(x[:, None] * 0.75 - y[None, :] * w) * 2, axis=1)", {"n", "l", ""}, {{SUM, "xtyw*-a2", "r", "n"}}},
                     weighted = {"sum(abs(x[:, None] - y[None, :]) * w[None, :], axis=1)", {"n", "l", "l"}, {{SUM, "xy-aw*", "r", "n"}}},
                     weighing = {"sum(abs(x[:, None] - y[None, :]) * f[:, None], axis=1)", {"n", "l", NULL, "n"}, {{SUM, "xy-af*", "r", "n"}}},
                     doubled = {"u = x*2\nreturn u, sum(abs(u[:, None] - y[None, :]), axis=1)", PAIRS, {{ELEMENTS, "x2", NULL, "n"}, {SUM, "x2y-a", "r", "n"}}},
                     mixed = {"sum(abs(f32(x)[:, None] - y[None, :]), axis=1)", PAIRS, {{SUM, "xcy-a", "r", "n"}}},
                     rooted = {"sqrt(mean((x[:, None] - y[None, :])**2, axis=1)) * z + f - x", {"n", "l", NULL, "n", "n"}, {{MEAN, "xy-s", "rqz*f+x-", "n"}}},
                     at_places = {"sum(abs(x[:, None] - y[None, :]) * f32(arange(1030))[None, :], axis=1)", PAIRS, {{SUM, "xy-ai*", "r", "n"}}},
                     only_places = {"sum(abs(x[:, None] - f32(arange(301))[None, :]), axis=1)", {"n"}, {{SUM, "xi-a", "r", "n"}}},
                     batched = {"sum(abs(x[:, :, None] - y[:, None, :]), axis=2)", {"bn", "bl"}, {{SUM, "xy-a", "r", "bn"}}},
                     batched_mine = {"sum(abs(x[:, :, None] - y[None, None, :]), axis=2)", {"bn", "l"}, {{SUM, "xy-a", "r", "bn"}}},
                     batched_rows = {"sum(abs(x[None, :, None] - y[:, None, :]), axis=2)", {"n", "bl"}, {{SUM, "xy-a", "r", "bn"}}},
                     beside = {"sum(abs(x[:, :, None] - y[:, None, :]), axis=2) * z + f[None, :] - w[:, None]", {"bn", "bl", "b", "n", "bn"}, {{SUM, "xy-a", "rz*f+w-", "bn"}}},
                     solid = {"max(x[:, :, :, None] - y[:, None, None, :], axis=3)", {"bmn", "bl"}, {{MAX, "xy-", "r", "bmn"}}},
                     mine_of_both = {"sum(abs(x[:, None, :] - w[None, :, None]), axis=2)", {"ml", NULL, "n"}, {{SUM, "xw-a", "r", "mn"}}},
                     both_kinds = {"sum(abs(w[:, None, None] * x[None, :, None] - y[None, None, :]), axis=2)", {"n", "l", "m"}, {{SUM, "wx*y-a", "r", "mn"}}},
                     two_axes = {"sum(abs(x[:, None, None] - y[None, :, :]), axis=(1, 2))", {"n", "lk"}, {{SUM, "xy-a", "r", "n"}}},
                     weighted_axes = {"sum(abs(x[:, None, None] - y[None, :, :] * w[None, None, :]), axis=(1, 2))", {"n", "lk", "k"}, {{SUM, "xyw*-a", "r", "n"}}},
                     axes = {"min(x[:, None, None] - y[None, :, None] * w[None, None, :], axis=(1, 2))", {"n", "l", "k"}, {{MIN, "xyw*-", "r", "n"}}},
                     planar = {"min((x[:, None, 0] - y[None, :, 0])**2 + (x[:, None, 1] - y[None, :, 1])**2, axis=1)", {"nk", "lk"}, {{MIN, "Axy-sBxy-s+", "r", "n"}}},
                     nearest = {"argmin(sum((x[:, None, :] - y[None, :, :])**2, axis=2), axis=1)", {"nk", "lk"}, {{ARGMIN, "Axy-sCxy-s+Bxy-s+", "r", "n"}}},
                     both_ways = {"sum(abs(x[:, None] - y[None, :]) * z, axis=1)", {"n", "l", NULL, NULL, "nl"}, {{SUM, "xy-az*", "r", "n"}}},
                     costly = {"sum(exp((x[:, None] - y[None, :]) * 0), axis=1)", PAIRS, {{SUM, "xy-0e", "r", "n"}}},
                     places_of_lines = {"sum(abs(x[:, None] - y[None, :]) * f32(arange(33))[:, None], axis=1)", PAIRS, {{SUM, "xy-aj*", "r", "n"}}},
                     classes = {"sum(f32(arange(33))[:, None] < y[None, :], axis=1)", {NULL, "l"}, {{SUM, "jy<", "r", "n"}}},
                     stored = {"d = x[:, None] - y[None, :]\nreturn d, sum(d*d, axis=1)", PAIRS, {{ELEMENTS, "xy-", NULL, "nl"}, {SUM, "xy-s", "r", "n"}}},
                     two = {"d = x[:, None] * y[None, :]\nreturn sum(d, axis=1), min(d, axis=1)", PAIRS, {{SUM, "xy*", "r", "n"}, {MIN, "xy*", "r", "n"}}};

/* Of short rows threads have 8 results, where elements come one at a time; of longer ones a warp 4, or 2 of accumulators of 8 bytes, and 8 of those that any order serves, but none beyond the last; of vectors of 16, whose
 * lanes meet, it has no several. */
static int taken_of(bool free, bool eight, int64_t length, int64_t last, int64_t vector) {
    const int lines = free && last >= 8 ? 8 : (eight && !free) || last < 4 ? 2 : 4;
    return last < 2 ? ONE_BY_ONE : length <= 256 ? (length % vector != 0 || vector == 1 ? 8 : ONE_BY_ONE) : vector > 8 ? ONE_BY_ONE : lines;
}

static int taken(bool eight, int64_t length, int64_t last, int64_t vector) { return taken_of(false, eight, length, last, vector); }
static bool is_free(int op) { return op == MIN || op == MAX || op == ARGMIN || op == ARGMAX || op == ANY || op == ALL; }

static int64_t vector_of(krf_dtype dtype) { return dtype == KRF_F16 || dtype == KRF_BF16 ? 8 : 16 / (int64_t)bytes_of(dtype); }

static void try_rows(const program *p, krf_dtype dtype, int64_t n, int64_t l, bool odd) {
    const bool eight = dtype == KRF_F64 || (p->results[0].op == ARGMIN && bytes_of(dtype) > 2);
    try_example((example){.p = p, .dtype = dtype, .other = dtype, .extents = {1, n, 1, l}, .odd = odd}, taken_of(is_free(p->results[0].op), eight, l, n, vector_of(dtype)));
}

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {17, 19, 23, 31, 32, 33, 63, 65, 100, 129, 201, 255, 256, 257, 300, 512, 1000, 1023, 1024, 1025, 1027, 1028, 2048, 5000, 16383, 16384, 16385};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_F16, KRF_BF16};
    (void)unused;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            try_rows(&distances, dtypes[d], 5 + (int64_t)(k + d) % 4, lengths[k], false);
        }
        try_rows(k % 2 == 0 ? &squares : &least, KRF_F32, 6, lengths[k], k % 4 > 1);
    }
    assert_int_equal(failures, 0);
}

/* Every reduction of every dtype. */
static void test_dtypes(void **unused) {
    static const struct { const char *name; int op; } all[] = {{"sum", SUM}, {"prod", PROD}, {"max", MAX}, {"min", MIN}, {"mean", MEAN}, {"any", ANY}, {"all", ALL}, {"argmax", ARGMAX}, {"argmin", ARGMIN}};
    (void)unused;
    for (int dtype = 0; dtype < DTYPES; dtype++) {
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const bool of_places = all[k].op == ARGMAX || all[k].op == ARGMIN, whole = !is_real((krf_dtype)dtype), adds = all[k].op == SUM || all[k].op == PROD || all[k].op == MEAN;
            const bool narrow = whole && bytes_of((krf_dtype)dtype) < 4 && all[k].op != PROD; /* sums of 32 bits have room for a chunk */
            const bool eight = of_places ? bytes_of((krf_dtype)dtype) > 2 : adds ? (whole && !narrow) || dtype == KRF_F64 : all[k].op != ANY && all[k].op != ALL && bytes_of((krf_dtype)dtype) == 8;
            char text[80], element[] = {'x', 'y', all[k].op == ANY || all[k].op == ALL ? '<' : dtype == KRF_BOOL ? '^' : '-', '\0'};
            snprintf(text, sizeof text, "%s(x[:, None] %s y[None, :], axis=1)", all[k].name, element + 2);
            const program p = {text, PAIRS, {{all[k].op, element, "r", "n"}}};
            for (int length = 0; length < 3; length++) {
                static const int64_t lengths[] = {37, 300, 1100};
                const int64_t l = length == 1 && (k + (size_t)dtype) % 2 == 0 ? 515 : lengths[length], v = vector_of((krf_dtype)dtype);
                if (length < 2 || (k + (size_t)dtype) % 3 == 0) {
                    try_example((example){.p = &p, .dtype = (krf_dtype)dtype, .other = (krf_dtype)dtype, .extents = {1, 6, 1, l}}, of_places && bytes_of((krf_dtype)dtype) == 8 ? ONE_BY_ONE : taken_of(is_free(all[k].op) || (whole && all[k].op != MEAN), eight, l, 6, v));
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_extents(void **unused) {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 33}, lengths[] = {17, 300, 1030};
    (void)unused;
    for (size_t k = 0; k < sizeof extents / sizeof *extents; k++) {
        for (size_t d = 0; d < 3; d++) {
            const int64_t n = extents[k], l = lengths[d];
            try_rows(&distances, KRF_F32, n, l, false);
            try_rows(&distances, KRF_F64, n, l, false);
            for (int64_t b = 2; b < 4 && n > 1; b++) {
                const int own = l > 256 ? taken(false, l, n, 1) : ONE_BY_ONE; /* short ones of their own are not the same for all */
                try_example((example){.p = &batched, .dtype = KRF_F32, .other = KRF_F32, .extents = {b, n, 1, l}}, own);
                try_example((example){.p = &batched_rows, .dtype = KRF_F32, .other = KRF_F32, .extents = {b, n, 1, l}}, own);
                try_example((example){.p = &batched_mine, .dtype = KRF_F32, .other = KRF_F32, .extents = {b, n, 1, l}}, taken(false, l, b * n, 4));
                try_example((example){.p = &solid, .dtype = KRF_F32, .other = KRF_F32, .extents = {b, n, 2, l}, .layouts = {GAPS}}, l > 256 ? taken_of(true, false, l, n, 1) : ONE_BY_ONE);
            }
        }
        try_example((example){.p = &batched, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, extents[k], 1, 301}}, taken(false, 301, extents[k], 4));
    }
    for (int64_t n = 1; n < 8; n++) { /* few results of many chunks: blocks share them, and the last one has what all came to */
        try_rows(&distances, KRF_F32, n, n < 3 ? 300000 : 33000, false);
        try_rows(n % 2 == 0 ? &nearest_one : &squares, KRF_F32, n, n == 2 ? 300001 : 17000, false);
        try_rows(&most, KRF_F64, n, 20001, n == 3);
    }
    try_example((example){.p = &batched, .dtype = KRF_F32, .other = KRF_F32, .extents = {2, 3, 1, 30000}}, 2);
    try_rows(&distances, KRF_F32, 700, 2049, false); /* more groups than blocks run at once; and a block that has some to itself, but no room for their chunks */
    try_rows(&most, KRF_F64, 17, 270000, false);
    assert_int_equal(failures, 0);
}

static void test_operations(void **unused) {
    static const program *const all[] = {&distances, &squares, &least, &most, &scaled, &weighted, &weighing, &doubled, &rooted, &nearest_one, &stored};
    static const int64_t lengths[] = {39, 301, 1030};
    (void)unused;
    for (size_t d = 0; d < sizeof lengths / sizeof *lengths; d++) {
        const int64_t l = lengths[d];
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            try_rows(all[k], KRF_F32, 7, l, false);
            try_rows(all[k], k == 9 ? KRF_F16 : KRF_F64, 7, l, k != 9);
            if (k < 4) { /* NaN, infinities, and rows that have nothing but -0.0 */
                try_rows(all[k], KRF_F32, 14, l, true);
            }
        }
        try_example((example){.p = &both_ways, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 33, 1, l}}, ONE_BY_ONE);
        try_example((example){.p = &costly, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 33, 1, l}}, ONE_BY_ONE);
        try_rows(&nearest_one, KRF_F32, 40, l, true);
        try_rows(&places_of_lines, KRF_F32, 33, l, false);
        try_example((example){.p = &classes, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 33, 1, l}}, taken_of(true, false, l, 33, vector_of(KRF_F32))); /* counts */
        try_example((example){.p = &two, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 6, 1, l}, .odd = d == 1}, l <= 256 ? 8 : 2);
        try_example((example){.p = &two, .dtype = KRF_F64, .other = KRF_F64, .extents = {1, 6, 1, l}}, l <= 256 ? 8 : ONE_BY_ONE);
        try_example((example){.p = &latest, .dtype = KRF_F64, .other = KRF_F64, .extents = {1, 9, 1, l}}, l <= 256 ? 8 : 2);
        try_example((example){.p = &mixed, .dtype = KRF_F16, .other = KRF_F32, .extents = {1, 6, 1, l}}, l <= 256 ? 8 : 4);
        try_example((example){.p = &beside, .dtype = KRF_F32, .other = KRF_F32, .extents = {3, 6, 1, l}}, l <= 256 ? ONE_BY_ONE : 4);
        try_example((example){.p = &mine_of_both, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 17, 18, l}}, l <= 256 ? SQUARES : 4);
        try_example((example){.p = &both_kinds, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 17, 18, l < 256 ? 31 : l}}, l <= 256 ? 8 : 4);
        try_example((example){.p = &planar, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 6, 1, l, 2}, .odd = d == 1}, l <= 256 ? 8 : 4);
        try_example((example){.p = &nearest, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 6, 1, l == 39 ? 64 : l, 3}}, l <= 256 ? 8 : 4);
    }
    try_rows(&at_places, KRF_F32, 5, 1030, false);
    try_rows(&only_places, KRF_F32, 6, 301, false);
    for (int64_t k = 17; k < 60; k += 19) { /* rows of several dimensions */
        const int64_t l = 2 * k - 3;
        try_example((example){.p = &two_axes, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 6, 1, l, k}}, 4);
        try_example((example){.p = &weighted_axes, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 6, 1, l, k}}, 4);
        try_example((example){.p = &weighted_axes, .dtype = KRF_F64, .other = KRF_F64, .extents = {1, 5, 1, l, k}, .layouts = {PLAIN, GAPS}}, 2);
        try_example((example){.p = &axes, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 7, 1, l, k}}, 4);
    }
    try_example((example){.p = &axes, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 7, 1, 5, 19}}, ONE_BY_ONE);
    assert_int_equal(failures, 0);
}

/* Views of either operand: rows of 40 elements come in whole vectors, and so are not taken as they are. */
static void test_layouts(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_F64};
    static const int64_t lengths[] = {40, 41, 304, 1104, 1105};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            static const layout lines[] = {OFFSET, TWOS, BACK}, batches[] = {OFFSET, GAPS, TURNED, TWOS, BACK, ROWS_BACK, ALIKE};
            const int64_t l = lengths[k], eight = dtypes[d] == KRF_F64;
            for (size_t how = 0; how < 3; how++) { /* a plan knows no addresses: that of an array that begins elsewhere is as of one in vectors */
                try_example((example){.p = &distances, .dtype = dtypes[d], .other = dtypes[d], .extents = {1, 6, 1, l}, .layouts = {PLAIN, lines[how]}}, taken(eight, l, 6, how == 0 ? vector_of(dtypes[d]) : 1));
                try_example((example){.p = &distances, .dtype = dtypes[d], .other = dtypes[d], .extents = {1, 6, 1, l}, .layouts = {lines[how], how == 1 ? BACK : PLAIN}}, taken(eight, l, 6, how == 1 ? 1 : vector_of(dtypes[d])));
            }
            for (size_t how = (k + d) % 2; how < 7 && k > 1; how += d == 0 ? 1 : 2) {
                try_example((example){.p = &batched, .dtype = dtypes[d], .other = dtypes[d], .extents = {3, 5, 1, l}, .layouts = {batches[how], batches[how]}}, taken(eight, l, 5, 1));
                try_example((example){.p = &batched, .dtype = dtypes[d], .other = dtypes[d], .extents = {3, 5, 1, l}, .layouts = {batches[(how + 3) % 7], PLAIN}}, taken(eight, l, 5, 1));
            }
            try_example((example){.p = &batched, .dtype = dtypes[d], .other = dtypes[d], .extents = {3, 5, 1, l}, .layouts = {SPREAD, PLAIN}}, ONE_BY_ONE); /* nobody has anything for himself */
            try_example((example){.p = &distances, .dtype = dtypes[d], .other = dtypes[d], .extents = {1, 5, 1, l}, .layouts = {PLAIN, SPREAD}}, ONE_BY_ONE); /* nothing is shared */
        }
    }
    assert_int_equal(failures, 0);
}

/* Bodies of ever more statements, of which a thread has registers for fewer results, and at last for one. */
static void test_bodies(void **unused) {
    static const int steps[] = {12, 14, 15, 18, 30, 31, 36, 62, 65};
    char text[20 * 65 + 40], element[3 * 65 + 2];
    (void)unused;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        const int n = steps[k], statements = 2 * n + 3;
        memset(text, '(', sizeof text);
        memcpy(text, "sum", 3);
        strcpy(text + 4 + n, "x[:, None]");
        strcpy(element, "x");
        for (int i = 0; i < n; i++) {
            strcat(text, "*0.75 - y[None, :])");
            strcat(element, "ty-");
        }
        strcat(text, ", axis=1)");
        const program p = {text, PAIRS, {{SUM, element, "r", "n"}}};
        for (int64_t l = 41; l < 1100; l = 3 * l + 150) {
            try_example((example){.p = &p, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 6, 1, l}}, 8 * statements > 1024 ? ONE_BY_ONE : l <= 256 ? 8 : 32 * statements <= 1024 ? 4 : 16 * statements <= 1024 ? 2 : ONE_BY_ONE);
        }
    }
    assert_int_equal(failures, 0);
}

/* Elements that are not numbers of a row in memory, accumulators of several words, rounds; rows of nothing, by which there must be no division. */
static void test_others(void **unused) {
    static const char *const none[] = {"sum(abs(take(x, i)[:, None] - y[None, :]), axis=1)", "sum(abs(y[:, None] - take(x, i)[None, :]), axis=1)", "sum(abs(x[:0][:, None] - y[None, :]), axis=1)",
                                       "sum(abs(x[:, None] - y[None, :0]), axis=1)", "spread(x[:, None] - y[None, :], axis=1)", "spread(x[:, None] - y[None, :41], axis=1)", "cumsum(x[:, None] - y[None, :], axis=1)", "var(x[:, None] - y[None, :], axis=1)"},
                             *const parts[] = {"sum(abs(real(x)[:, None] - y[None, :]), axis=1)", "sum(abs(imag(x)[:, None] - y[None, :41]), axis=1)", "sum(abs(y[:, None] - real(x)[None, :]), axis=1)",
                                               "sum(x[:, None] * y[None, :], axis=1)"};
    krf_context_options options = krf_context_options_default();
    krf_context *larger = NULL;
    (void)unused;
    for (int p = 0; p < n_places; p++) {
        krf_reduction *r = NULL;
        assert_ok(krf_reduction_define(places[p].context, "spread", "f32 x", "f32 low, f32 high", "0, 0", "low = x; high = x;", "low = a_low < b_low ? a_low : b_low; high = a_high > b_high ? a_high : b_high;", "f32 y", "y = high - low;", &r));
        krf_reduction_release(r);
        look(places[p].context, distances.text, KRF_F32, 4);
        for (size_t k = 0, n = sizeof none / sizeof *none; k < n + sizeof parts / sizeof *parts; k++) {
            look(places[p].context, k < n ? none[k] : parts[k - n], k < n ? KRF_F32 : KRF_C64, ONE_BY_ONE);
        }
    }
    options.device = "cpu";
    options.fusion = "literal_from=1000";
    assert_ok(krf_context_create(&options, &larger));
    look(larger, "sum(abs(x[:26][:, None] - y[None, :]), axis=1)", KRF_F32, 4); /* 8,000 elements of all rows make warps enough, in whole rows; and short ones alike */
    look(larger, "sum(abs(x[:25][:, None] - y[None, :]), axis=1)", KRF_F32, ONE_BY_ONE);
    look(larger, "sum(abs(x[:195][:, None] - y[None, :41]), axis=1)", KRF_F32, 8);
    look(larger, "sum(abs(x[:194][:, None] - y[None, :41]), axis=1)", KRF_F32, ONE_BY_ONE);
    krf_context_destroy(larger);
    assert_int_equal(failures, 0);
}

/* literal=0: one kernel for all lengths of short rows. */
int main(void) {
    return run_rows("literal=0,literal_from=1", TESTS(noted_test(test_lengths), cmocka_unit_test(test_dtypes), cmocka_unit_test(test_extents), cmocka_unit_test(test_operations),
                                                      noted_test(test_layouts), cmocka_unit_test(test_bodies), cmocka_unit_test(test_others)));
}
