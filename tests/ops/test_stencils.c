/* Stencils: maps whose elements need several rows of an array. Extents around a block's, every dtype, arrays with gaps, backwards and across, operands beside them; which kernels go
 * by strips, what they must move, and that none of it shows in a result. Elements are small whole numbers: every sum of them is exact. KRF_TEST_DEVICE. */
#include "ops/stencils.h"

static const krf_dtype all_dtypes[] = {KRF_BOOL, KRF_I8, KRF_I16, KRF_I32, KRF_I64, KRF_U8, KRF_U16, KRF_U32, KRF_U64, KRF_F16, KRF_BF16, KRF_F32, KRF_F64};

static const stencil cross = {.text = "x[:-2,1:-1] + x[2:,1:-1] + x[1:-1,:-2] + x[1:-1,2:]", .rank = 2, .less = {2, 2}, .n = 4, .taps = {AT(0, 1), AT(2, 1), AT(1, 0), AT(1, 2)}};

static const stencil square = {
    .text = "x[:-2,:-2] + x[:-2,1:-1] + x[:-2,2:] + x[1:-1,:-2] + x[1:-1,1:-1] + x[1:-1,2:] + x[2:,:-2] + x[2:,1:-1] + x[2:,2:]", .rank = 2, .less = {2, 2}, .n = 9,
    .taps = {AT(0, 0), AT(0, 1), AT(0, 2), AT(1, 0), AT(1, 1), AT(1, 2), AT(2, 0), AT(2, 1), AT(2, 2)}};

/* Strips, of 8 elements or of 4, are where both extents have 16, a sixth of all loads can be saved, and 48 registers hold the rows: of five points only where those have 4 bytes, or
 * where rows begin with words, which neighbours share. */
static const char *by_sides(const int64_t *extents) { return extents[0] >= 16 && extents[1] >= 16 ? "tile" : "map"; }
static const char *of_cross(krf_dtype dtype, const int64_t *extents, int64_t gap) {
    return bytes_of(dtype) > 4 && (extents[1] % 2 != 0 || gap % 2 != 0) ? "map" : by_sides(extents);
}

static void test_extents(void **unused) {
    static const int64_t shapes[][RANK] = {{16, 16}, {15, 16}, {16, 15}, {16, 17}, {17, 130}, {19, 33}, {23, 31}, {24, 128}, {25, 129}, {31, 33}, {32, 64}, {33, 32}, {63, 65}, {64, 64}, {65, 66}, {66, 31}, {130, 63}, {2, 130},
                                           {130, 2}, {1, 40}, {40, 1}, {3, 3}, {1, 1}, {0, 20}, {20, 0}};
    static const krf_dtype dtypes[] = {KRF_I8, KRF_F32, KRF_F64};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            try_example(&cross, dtypes[d], shapes[s], 0, false, of_cross(dtypes[d], shapes[s], 0), NULL);
            try_example(&square, dtypes[d], shapes[s], 0, false, by_sides(shapes[s]), NULL);
        }
    }
    assert_int_equal(failures, 0);
}

static void test_dtypes(void **unused) {
    (void)unused;
    for (size_t d = 0; d < sizeof all_dtypes / sizeof *all_dtypes; d++) {
        const int64_t extents[RANK] = {42, 66};
        try_example(&cross, all_dtypes[d], extents, 3, false, of_cross(all_dtypes[d], extents, 3), NULL);
        try_example(&square, all_dtypes[d], extents, 0, false, "tile", NULL);
    }
    try_example(&cross, KRF_C64, (int64_t[RANK]){33, 35}, 0, false, "map", NULL); /* halves of complex elements */
    assert_int_equal(failures, 0);
}

/* Along one dimension; of two, three and four; by steps; and through windows. */
static void test_shapes(void **unused) {
    static const stencil vertical = {.text = "x[2:,1:-1] - 2*x[1:-1,1:-1] + x[:-2,1:-1]", .rank = 2, .less = {2, 2}, .n = 3, .taps = {AT(2, 1), TIMES(-2, 1, 1), AT(0, 1)}};
    static const stencil two = {.text = "x[1:,1:] - x[:-1,1:] + 3*x[1:,:-1] - 2*x[:-1,:-1]", .rank = 2, .less = {1, 1}, .n = 4, .taps = {AT(1, 1), TIMES(-1, 0, 1), TIMES(3, 1, 0), TIMES(-2, 0, 0)}};
    static const stencil far = {.text = "x[7:,1:-1] + x[3:-4,1:-1] - 2*x[:-7,1:-1]", .rank = 2, .less = {7, 2}, .n = 3, .taps = {AT(7, 1), AT(3, 1), TIMES(-2, 0, 1)}};
    static const stencil farther = {.text = "x[12:,1:-1] + 2*x[4:-8,1:-1] + 3*x[8:-4,1:-1] - x[:-12,1:-1]", .rank = 2, .less = {12, 2}, .n = 4,
                                    .taps = {AT(12, 1), TIMES(2, 4, 1), TIMES(3, 8, 1), TIMES(-1, 0, 1)}};
    static const stencil apart = {.text = "x[8:,2:] + x[5:-3,:-2] + x[:-8,1:-1]", .rank = 2, .less = {8, 2}, .n = 3, .taps = {AT(8, 2), AT(5, 0), AT(0, 1)}};
    static const stencil column = {.text = "x[2:,1:] + x[1:-1,1:2] - 2*x[:-2,1:]", .rank = 2, .less = {2, 1}, .n = 3, .taps = {AT(2, 1), {.start = {1, 1}, .fixed = 2}, TIMES(-2, 0, 1)}};
    static const stencil row = {.text = "x[:,:-3] - x[:,1:-2] + x[:,2:-1] - x[:,3:]", .rank = 2, .less = {0, 3}, .n = 4, .taps = {AT(0, 0), TIMES(-1, 0, 1), AT(0, 2), TIMES(-1, 0, 3)}};
    static const stencil coarse = {.text = "x[:-2:2,1:-1] + 2*x[1:-1:2,1:-1] + x[2::2,1:-1]", .rank = 2, .less = {1, 2}, .times = {2, 1}, .n = 3, .taps = {AT(0, 1), TIMES(2, 1, 1), AT(2, 1)}};
    static const stencil seven = {
        .text = "x[1:-1,1:-1,1:-1]*-6 + x[2:,1:-1,1:-1] + x[:-2,1:-1,1:-1] + x[1:-1,2:,1:-1] + x[1:-1,:-2,1:-1] + x[1:-1,1:-1,2:] + x[1:-1,1:-1,:-2]", .rank = 3, .less = {2, 2, 2},
        .n = 7, .taps = {TIMES(-6, 1, 1, 1), AT(2, 1, 1), AT(0, 1, 1), AT(1, 2, 1), AT(1, 0, 1), AT(1, 1, 2), AT(1, 1, 0)}};
    static const stencil first = {.text = "x[2:,1:,1:] - 2*x[1:-1,1:,1:] + 3*x[:-2,1:,1:]", .rank = 3, .less = {2, 1, 1}, .n = 3, .taps = {AT(2, 1, 1), TIMES(-2, 1, 1, 1), TIMES(3, 0, 1, 1)}};
    static const stencil planes = {.text = "x[2:] - 2*x[1:-1] + 3*x[:-2]", .rank = 3, .less = {2, 0, 0}, .n = 3, .taps = {AT(2), TIMES(-2, 1), TIMES(3, 0)}};
    static const stencil batches = {.text = "x[:,2:,:,1:] - 2*x[:,1:-1,:,1:] + 3*x[:,:-2,:,:-1]", .rank = 4, .less = {0, 2, 0, 1}, .n = 3, .taps = {AT(0, 2, 0, 1), TIMES(-2, 0, 1, 0, 1), TIMES(3, 0, 0, 0, 0)}};
    static const struct {
        const stencil *s;
        int64_t extents[RANK];
        const char *schedule;
    } cases[] = {
        {&vertical, {64, 131}, "tile"}, {&vertical, {33, 17}, "tile"}, {&vertical, {130, 65}, "tile"}, {&vertical, {16, 15}, "map"},
        {&two, {64, 64}, "tile"},   {&far, {66, 33}, "tile"},  {&far, {17, 31}, "tile"}, {&farther, {39, 65}, NULL}, {&apart, {66, 33}, "map"}, {&column, {33, 66}, "tile"}, {&row, {40, 64}, "map"},      {&coarse, {33, 65}, NULL},
        {&seven, {17, 3, 33}, "tile"}, {&seven, {3, 17, 33}, "tile"}, {&seven, {17, 18, 65}, "tile"}, {&seven, {15, 15, 65}, "map"}, {&seven, {17, 18, 15}, "map"}, {&seven, {1, 2, 1}, "map"},
        {&first, {18, 2, 33}, "tile"}, {&first, {65, 20, 16}, "tile"}, {&first, {15, 20, 33}, "map"}, {&planes, {20, 3, 30}, NULL}, {&planes, {33, 17, 1}, NULL},
        {&batches, {2, 33, 3, 17}, "tile"}, {&batches, {3, 16, 20, 65}, NULL}, {&batches, {20, 5, 3, 33}, "map"}, {&batches, {0, 17, 2, 33}, NULL},
    };
    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        try_example(cases[c].s, KRF_F32, cases[c].extents, 0, false, cases[c].schedule, NULL);
        try_example(cases[c].s, KRF_I16, cases[c].extents, 0, false, cases[c].schedule, NULL);
        try_example(cases[c].s, KRF_F64, cases[c].extents, 0, false, cases[c].schedule, NULL);
    }
    assert_int_equal(failures, 0);
}

static void test_windows(void **unused) {
    static stencil sum, most, five = {.text = "sum(sliding_window_view(x, (5, 5)), axis=(-2, -1))", .rank = 2, .less = {4, 4}, .n = 25};
    (void)unused;
    sum = most = square;
    sum.text = "sum(sliding_window_view(x, (3, 3)), axis=(-2, -1))";
    most.text = "max(sliding_window_view(x, (3, 3)), axis=(-2, -1))";
    most.most = true;
    for (int large = 0; large < 2; large++) {
        const int64_t *extents = large ? (int64_t[RANK]){66, 65} : (int64_t[RANK]){17, 15};
        try_example(&sum, KRF_F32, extents, 0, false, by_sides(extents), NULL);
        try_example(&most, KRF_F16, extents, 0, false, by_sides(extents), NULL);
        try_example(&most, KRF_I32, extents, 3, false, by_sides(extents), NULL);
    }
    for (int t = 0; t < five.n; t++) {
        five.taps[t].start[0] = t / 5;
        five.taps[t].start[1] = t % 5;
    }
    try_example(&five, KRF_F32, (int64_t[RANK]){34, 65}, 0, false, "tile", NULL);
    try_example(&five, KRF_F64, (int64_t[RANK]){34, 65}, 0, false, "map", NULL); /* more rows than registers hold */
    assert_int_equal(failures, 0);
}

/* Views that go backwards: by rows, by columns, by both. */
static void test_backwards(void **unused) {
    static const stencil rows = {.text = "x[::-1][2:,1:-1] - 2*x[::-1][1:-1,1:-1] + 3*x[::-1][:-2,1:-1]", .rank = 2, .less = {2, 2}, .n = 3,
                                 .taps = {{.start = {2, 1}, .flipped = 1}, {.start = {1, 1}, .weight = -2, .flipped = 1}, {.start = {0, 1}, .weight = 3, .flipped = 1}}};
    static const stencil columns = {.text = "flip(x, axis=1)[2:,1:] - 2*flip(x, axis=1)[1:-1,:-1] + 3*flip(x, axis=1)[:-2,1:]", .rank = 2, .less = {2, 1}, .n = 3,
                                    .taps = {{.start = {2, 1}, .flipped = 2}, {.start = {1, 0}, .weight = -2, .flipped = 2}, {.start = {0, 1}, .weight = 3, .flipped = 2}}};
    static const stencil both = {.text = "x[::-1,::-1][2:,1:] - 2*x[::-1,::-1][1:-1,:-1] + 3*x[::-1,::-1][:-2,1:] + x[1:-1,1:]", .rank = 2, .less = {2, 1}, .n = 4,
                                 .taps = {{.start = {2, 1}, .flipped = 3}, {.start = {1, 0}, .weight = -2, .flipped = 3}, {.start = {0, 1}, .weight = 3, .flipped = 3}, AT(1, 1)}};
    const stencil *const all[] = {&rows, &columns, &both};
    (void)unused;
    for (int s = 0; s < 3; s++) {
        for (int large = 0; large < 2; large++) {
            try_example(all[s], large ? KRF_F32 : KRF_U8, large ? (int64_t[RANK]){64, 65} : (int64_t[RANK]){31, 33}, 0, false, "tile", NULL);
        }
    }
    assert_int_equal(failures, 0);
}

/* Two arrays, two results, and what is the same in all rows, in all columns, everywhere, or lies across: then there are squares, with strips or without. */
static void test_beside(void **unused) {
    static const stencil arrays = {.text = "x[2:,1:-1] + x[:-2,1:-1] - 2*x[1:-1,1:-1] + y[2:,:-2] - y[:-2,2:] + 3*y[1:-1,1:-1]", .rank = 2, .less = {2, 2}, .arrays = 2, .n = 6,
                                   .taps = {AT(2, 1), AT(0, 1), TIMES(-2, 1, 1), {.start = {2, 0}, .array = 1}, {.start = {0, 2}, .weight = -1, .array = 1}, {.start = {1, 1}, .weight = 3, .array = 1}}};
    static const stencil both = {.text = "return x[1:-1,2:] - x[1:-1,:-2], x[2:,1:-1] - x[:-2,1:-1]", .rank = 2, .less = {2, 2}, .results = 2, .n = 4,
                                 .taps = {AT(1, 2), TIMES(-1, 1, 0), {.start = {2, 1}, .result = 1}, {.start = {0, 1}, .weight = -1, .result = 1}}};
    static const stencil spread = {.text = "x[2:,1:-1] + x[:-2,1:-1] - x[1:-1,1:-1] + y", .rank = 2, .less = {2, 2}, .arrays = 2, .n = 4, .taps = {AT(2, 1), AT(0, 1), TIMES(-1, 1, 1), {.start = {0}, .array = 1}}};
    static const int64_t extents[][RANK] = {{66, 33}, {33, 65}};
    (void)unused;
    for (int k = 0; k < 2; k++) {
        const krf_dtype dtype = k == 0 ? KRF_F32 : KRF_F64;
        try_example(&arrays, dtype, extents[k], 0, false, "tile", NULL);
        try_example(&arrays, KRF_I8, extents[k], 0, false, "tile", NULL);
        try_example(&both, dtype, extents[k], 0, false, of_cross(dtype, extents[k], 0), NULL);
        for (kind beside = EACH; beside <= TURNED; beside++) {
            stencil s = spread;
            s.kinds[1] = beside;
            s.text = beside == TURNED ? "x[2:,1:-1] + x[:-2,1:-1] - x[1:-1,1:-1] + y.T" : s.text;
            try_example(&s, dtype, extents[k], 0, false, "tile", beside == TURNED ? "tile" : NULL);
        }
    }
    assert_int_equal(failures, 0);
}

/* Narrow elements whose rows lie in whole words of 4 bytes: all of them, some, and where rows do not begin with a word. */
static void test_words(void **unused) {
    static const stencil aligned = {.text = "x[2:,4:-4] - 2*x[1:-1,4:-4] + 3*x[:-2,4:-4]", .rank = 2, .less = {2, 8}, .n = 3, .taps = {AT(2, 4), TIMES(-2, 1, 4), TIMES(3, 0, 4)}};
    static const stencil shifted = {.text = "x[2:,2:-6] - 2*x[1:-1,4:-4] + 3*x[:-2,4:-4]", .rank = 2, .less = {2, 8}, .n = 3, .taps = {AT(2, 2), TIMES(-2, 1, 4), TIMES(3, 0, 4)}};
    static const stencil uneven = {.text = "x[2:,4:-5] - 2*x[1:-1,4:-5] + 3*x[:-2,4:-5]", .rank = 2, .less = {2, 9}, .n = 3, .taps = {AT(2, 4), TIMES(-2, 1, 4), TIMES(3, 0, 4)}};
    static const int64_t extents[][RANK] = {{64, 64}, {36, 132}, {66, 36}, {132, 34}, {35, 65}};
    static const krf_dtype dtypes[] = {KRF_I8, KRF_U16, KRF_F16};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t k = 0; k < sizeof extents / sizeof *extents; k++) {
            try_example(&aligned, dtypes[d], extents[k], 0, false, "tile", NULL);
            try_example(&shifted, dtypes[d], extents[k], 0, false, "tile", NULL);
            try_example(&uneven, dtypes[d], extents[k], 0, false, "tile", NULL);
        }
    }
    assert_int_equal(failures, 0);
}

/* Results of the array's own shape, which are written over it too. */
static void test_edges(void **unused) {
    static const stencil zero = {.text = "pad(x, 1)[2:,1:-1] + pad(x, 1)[:-2,1:-1] - 3*pad(x, 1)[1:-1,2:]", .rank = 2, .edges = ZERO, .n = 3, .taps = {AT(1, 0), AT(-1, 0), TIMES(-3, 0, 1)}};
    static const stencil kept = {.text = "x.at[1:-1,1:-1].set(0.25*(x[:-2,1:-1] + x[2:,1:-1] + x[1:-1,:-2] + x[1:-1,2:]))", .rank = 2, .edges = KEPT, .scale = 0.25, .n = 4,
                                 .taps = {AT(-1, 0), AT(1, 0), AT(0, -1), AT(0, 1)}};
    static const stencil wrap = {.text = "roll(x, 1, axis=0) + roll(x, -1, axis=0) - 3*roll(x, 1, axis=1)", .rank = 2, .edges = WRAP, .n = 3, .taps = {AT(-1, 0), AT(1, 0), TIMES(-3, 0, -1)}};
    static const int64_t extents[][RANK] = {{33, 65}, {16, 17}, {2, 3}};
    (void)unused;
    for (size_t k = 0; k < sizeof extents / sizeof *extents; k++) {
        try_example(&zero, KRF_F32, extents[k], 0, false, NULL, NULL);
        try_example(&zero, KRF_I8, extents[k], 3, false, NULL, NULL);
        try_example(&kept, KRF_F64, extents[k], 0, false, NULL, NULL);
        try_example(&wrap, KRF_I32, extents[k], 0, false, NULL, NULL);
    }
    assert_int_equal(failures, 0);
}

/* Elements that sums round: the same bits everywhere. */
static void test_bits(void **unused) {
    static const stencil heat = {.text = "x[1:-1,1:-1] + 0.1*(x[:-2,1:-1] + x[2:,1:-1] + x[1:-1,:-2] + x[1:-1,2:] - 4*x[1:-1,1:-1])", .rank = 2, .less = {2, 2}, .n = 6,
                                 .taps = {AT(1, 1), AT(0, 1), AT(2, 1), AT(1, 0), AT(1, 2), AT(1, 1)}};
    static const krf_dtype dtypes[] = {KRF_F16, KRF_BF16, KRF_F32, KRF_F64};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        try_example(&heat, dtypes[d], (int64_t[RANK]){65, 130}, 0, true, "tile", NULL); /* of f64 too, as there is a row more to share */
        try_example(&heat, dtypes[d], (int64_t[RANK]){15, 130}, 0, true, "map", NULL);
    }
    assert_int_equal(failures, 0);
}

static int open_all(void **unused) {
    (void)unused;
    open_places("strips=0");
    return 0;
}

static int close_all(void **unused) {
    (void)unused;
    close_places();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extents), cmocka_unit_test(test_dtypes), cmocka_unit_test(test_shapes), cmocka_unit_test(test_windows), cmocka_unit_test(test_backwards),
                                       cmocka_unit_test(test_beside),  cmocka_unit_test(test_words),  cmocka_unit_test(test_edges),  cmocka_unit_test(test_bits)};
    return run_part(tests, sizeof tests / sizeof *tests, open_all, close_all);
}
