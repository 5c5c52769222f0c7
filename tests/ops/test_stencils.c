/* Stencils: maps whose elements need several rows of an array. Extents around a block's, every dtype, arrays with gaps, backwards and across, operands beside them; which kernels go
 * by strips, what they must move, and that none of it shows in a result. Elements are small whole numbers: every sum of them is exact. KRF_TEST_DEVICE. */
#include "ops/common.h"
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

/* Of a million results or more blocks of a GPU have twice the threads. */
static void test_large(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_BF16, KRF_I16};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        const int64_t extents[RANK] = {1045, 1030};
        try_example(&cross, dtypes[d], extents, 0, false, "tile", NULL);
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
    static const stencil sevens = {.text = "x[:,2:,1:-1,1:-1] - 2*x[:,:-2,1:-1,1:-1] + 3*x[:,1:-1,2:,1:-1] - 4*x[:,1:-1,:-2,1:-1] + 5*x[:,1:-1,1:-1,2:] - 6*x[:,1:-1,1:-1,:-2] + 7*x[:,1:-1,1:-1,1:-1]", .rank = 4, .less = {0, 2, 2, 2}, .n = 7,
                                   .taps = {AT(0, 2, 1, 1), TIMES(-2, 0, 0, 1, 1), TIMES(3, 0, 1, 2, 1), TIMES(-4, 0, 1, 0, 1), TIMES(5, 0, 1, 1, 2), TIMES(-6, 0, 1, 1, 0), TIMES(7, 0, 1, 1, 1)}};
    static const stencil first = {.text = "x[2:,1:,1:] - 2*x[1:-1,1:,1:] + 3*x[:-2,1:,1:]", .rank = 3, .less = {2, 1, 1}, .n = 3, .taps = {AT(2, 1, 1), TIMES(-2, 1, 1, 1), TIMES(3, 0, 1, 1)}};
    static const stencil planes = {.text = "x[2:] - 2*x[1:-1] + 3*x[:-2]", .rank = 3, .less = {2, 0, 0}, .n = 3, .taps = {AT(2), TIMES(-2, 1), TIMES(3, 0)}};
    static const stencil lag = {.text = "3*x[1:] - x[:-1]", .rank = 3, .less = {1, 0, 0}, .n = 2, .taps = {TIMES(3, 1), TIMES(-1, 0)}};
    static const stencil lags = {.text = "x[4096:] - 2*x[2048:-2048] + x[:-4096]", .rank = 1, .less = {4096}, .n = 3, .taps = {AT(4096), TIMES(-2, 2048), AT(0)}};
    static const stencil lag_beside = {.text = "3*x[1:] - x[:-1] + y", .rank = 3, .less = {1, 0, 0}, .arrays = 2, .kinds = {WHOLE, EACH}, .n = 3, .taps = {TIMES(3, 1), TIMES(-1, 0), {.start = {0}, .array = 1}}};
    static const stencil batches = {.text = "x[:,2:,:,1:] - 2*x[:,1:-1,:,1:] + 3*x[:,:-2,:,:-1]", .rank = 4, .less = {0, 2, 0, 1}, .n = 3, .taps = {AT(0, 2, 0, 1), TIMES(-2, 0, 1, 0, 1), TIMES(3, 0, 0, 0, 0)}};
    static const struct {
        const stencil *s;
        int64_t extents[RANK];
        const char *schedule;
    } cases[] = {
        {&vertical, {64, 131}, "tile"}, {&vertical, {33, 17}, "tile"}, {&vertical, {130, 65}, "tile"}, {&vertical, {16, 15}, "map"},
        {&two, {64, 64}, "tile"},   {&far, {66, 33}, "tile"},  {&far, {17, 31}, "tile"}, {&farther, {39, 65}, NULL}, {&apart, {66, 33}, "map"}, {&column, {33, 66}, "tile"}, {&row, {40, 64}, "map"},      {&coarse, {33, 65}, NULL},
        {&seven, {17, 3, 33}, "tile"}, {&seven, {3, 17, 33}, "tile"}, {&seven, {17, 18, 65}, "tile"}, {&seven, {15, 15, 65}, "map"}, {&seven, {17, 18, 15}, "map"}, {&seven, {1, 2, 1}, "map"},
        {&sevens, {3, 5, 18, 33}, "tile"}, {&sevens, {2, 4, 17, 64}, "tile"}, {&sevens, {2, 18, 3, 33}, NULL},
        {&first, {18, 2, 33}, "tile"}, {&first, {65, 20, 16}, "tile"}, {&first, {15, 20, 33}, "map"}, {&planes, {20, 3, 30}, NULL}, {&planes, {20, 64, 32}, "tile"}, {&planes, {18, 64, 33}, "tile"}, {&planes, {17, 65, 33}, "map"}, {&planes, {15, 64, 32}, "map"}, {&planes, {20, 16, 32}, "map"}, {&lag, {20, 64, 32}, "tile"}, {&lag_beside, {20, 64, 32}, "map"}, {&lags, {34816}, "tile"}, {&lags, {34000}, "map"}, {&planes, {33, 17, 1}, NULL},
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

/* ---- strips of words: how a kernel's text declares them, and how many loads it has, each word that its taps need once ---- */

/* Rows of x begin with words; the taps lie on both sides of one that does, at different distances. */
static const stencil around = {.text = "x[1:-1,8:-8] + x[:-2,8:-8] + x[2:,8:-8] + x[1:-1,7:-9] + x[1:-1,10:-6]", .rank = 2, .less = {2, 16}, .n = 5,
                               .taps = {AT(1, 8), AT(0, 8), AT(2, 8), AT(1, 7), AT(1, 10)}};

static void test_words_of_dtypes(void **unused) {
    static const struct {
        int64_t width;
        const char *words[4]; /* of elements of 1, 2, 4, 8 bytes */
        int loads[4];
    } cases[] = {
        {48, {"uint4 word[2]", "uint4 word[3]", "uint4 word[3]", "uint4 word[3]"}, {12, 14, 14, 14}},
        {24, {"uint2 word[3]", "uint4 word[3]", "uint4 word[3]", "uint4 word[3]"}, {26, 14, 14, 14}},
        {36, {"unsigned word[3]", "uint2 word[3]", "uint4 word[3]", "uint4 word[3]"}, {26, 26, 14, 14}},
        {18, {"unsigned short word[3]", "unsigned word[3]", "uint2 word[3]", "uint4 word[3]"}, {26, 26, 26, 14}},
        {17, {"", "", "", ""}, {26, 26, 26, 14}},
    };
    (void)unused;
    for (size_t d = 0; d < sizeof all_dtypes / sizeof *all_dtypes; d++) {
        const krf_dtype dtype = all_dtypes[d];
        const int size = (int)bytes_of(dtype), which = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
        const bool each = dtype == KRF_I8 || dtype == KRF_F16 || dtype == KRF_BF16 || dtype == KRF_F32 || dtype == KRF_I64;
        for (size_t c = 0; c < (each ? sizeof cases / sizeof *cases : 1); c++) {
            try_words(&around, dtype, &dtype, (int64_t[RANK]){21, cases[c].width}, 0, cases[c].words[which], cases[c].loads[which]);
        }
    }
    assert_int_equal(failures, 0);
}

/* Strips of which 1 to 7 elements are there, and blocks that end anywhere. */
static void test_words_of_heights(void **unused) {
    (void)unused;
    for (int64_t height = 16; height < 34; height++) {
        try_words(&around, KRF_F32, (krf_dtype[]){KRF_F32}, (int64_t[RANK]){height, 18 + height % 3 * 120}, 0, "uint2 word[3]", 26);
        try_words(&around, KRF_F64, (krf_dtype[]){KRF_F64}, (int64_t[RANK]){height, 16 + height % 3 * 112}, 0, "uint4 word[3]", 14);
    }
    assert_int_equal(failures, 0);
}

/* How far apart views may lie, to either side, in elements and in rows; to the very last element of memory. */
static void test_words_apart(void **unused) {
    static const stencil sides = {.text = "x[1:,:-14] + 2*x[:-1,7:-7] - 3*x[1:,14:]", .rank = 2, .less = {1, 14}, .n = 3, .taps = {AT(1, 0), TIMES(2, 0, 7), TIMES(-3, 1, 14)}};
    static const stencil seven = {.text = "x[:,:-7] - x[:,7:] + 2*x[:,3:-4]", .rank = 2, .less = {0, 7}, .n = 3, .taps = {AT(0, 0), TIMES(-1, 0, 7), TIMES(2, 0, 3)}};
    static const stencil six = {.text = "x[:,:-6] - x[:,6:] + 2*x[:,3:-3]", .rank = 2, .less = {0, 6}, .n = 3, .taps = {AT(0, 0), TIMES(-1, 0, 6), TIMES(2, 0, 3)}}; /* seven's but for that */
    static const stencil eight = {.text = "x[:,:-8] - x[:,8:] + 2*x[:,3:-5]", .rank = 2, .less = {0, 8}, .n = 3, .taps = {AT(0, 0), TIMES(-1, 0, 8), TIMES(2, 0, 3)}};
    static const stencil nine = {.text = "x[:,:-9] - x[:,9:] + 2*x[:,3:-6]", .rank = 2, .less = {0, 9}, .n = 3, .taps = {AT(0, 0), TIMES(-1, 0, 9), TIMES(2, 0, 3)}};
    static const stencil back = {.text = "x[:,7:] - x[:,:-7] + 2*x[:,3:-4]", .rank = 2, .less = {0, 7}, .n = 3, .taps = {AT(0, 7), TIMES(-1, 0, 0), TIMES(2, 0, 3)}};
    static const stencil farther_back = {.text = "x[:,8:] - x[:,:-8] + 2*x[:,3:-5]", .rank = 2, .less = {0, 8}, .n = 3, .taps = {AT(0, 8), TIMES(-1, 0, 0), TIMES(2, 0, 3)}};
    static const stencil rows = {.text = "x[7:,8:] + 2*x[3:-4,7:-1] - x[:-7,5:-3]", .rank = 2, .less = {7, 8}, .n = 3, .taps = {AT(7, 8), TIMES(2, 3, 7), TIMES(-1, 0, 5)}};
    static const stencil more_rows = {.text = "x[8:,8:] + 2*x[4:-4,7:-1] - x[:-8,1:-7]", .rank = 2, .less = {8, 8}, .n = 3, .taps = {AT(8, 8), TIMES(2, 4, 7), TIMES(-1, 0, 1)}};
    static const stencil unshared = {.text = "x[8:,1:] + 2*x[:-8,:-1]", .rank = 2, .less = {8, 1}, .n = 2, .taps = {AT(8, 1), TIMES(2, 0, 0)}};
    static const stencil alone = {.text = "x[1:,2:] + 2*x[:-1,1:-1]", .rank = 2, .less = {1, 2}, .n = 2, .taps = {AT(1, 2), TIMES(2, 0, 1)}};
    static const struct {
        const stencil *s;
        krf_dtype dtype;
        int64_t gap;
        const char *words;
        int loads;
    } cases[] = {
        {&sides, KRF_F32, 2, "uint4 word[5]", 20}, {&sides, KRF_U8, 2, "uint4 word[2]", 10}, {&seven, KRF_F32, 1, "uint4 word[3]", 12}, {&six, KRF_F32, 2, "uint4 word[3]", 12},
        {&seven, KRF_I16, 1, "uint4 word[2]", 16}, {&seven, KRF_F64, 1, "", 0}, {&eight, KRF_F32, 0, "uint4 word[1]", 12}, {&eight, KRF_U16, 0, "uint4 word[1]", 12},
        {&nine, KRF_F32, 3, "uint4 word[2]", 16}, {&back, KRF_F32, 1, "uint4 word[3]", 12}, {&farther_back, KRF_F32, 0, "uint4 word[3]", 16},
        {&back, KRF_U8, 9, "uint4 word[2]", 8}, {&rows, KRF_F32, 0, "uint4 word[2]", 18}, {&rows, KRF_F16, 0, "uint4 word[2]", 18}, {&more_rows, KRF_F32, 0, "uint4 word[3]", 20},
        {&alone, KRF_F32, 2, "uint4 word[2]", 18}, {&unshared, KRF_F32, 3, "", 0},
    };
    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        try_words(cases[c].s, cases[c].dtype, &cases[c].dtype, (int64_t[RANK]){20, 64}, cases[c].gap, cases[c].words, cases[c].loads);
    }
    assert_int_equal(failures, 0);
}

/* Rows alone and backwards, columns backwards, by steps, of three and four dimensions; where rows do not begin with words there are none. */
static void test_words_of_shapes(void **unused) {
    static const stencil row = {.text = "x[:,:-4] - x[:,1:-3] + x[:,2:-2] + 3*x[:,3:-1]", .rank = 2, .less = {0, 4}, .n = 4, .taps = {AT(0, 0), TIMES(-1, 0, 1), AT(0, 2), TIMES(3, 0, 3)}};
    static const stencil up = {.text = "x[::-1][2:,8:-8] - 2*x[::-1][1:-1,7:-9] + 3*x[::-1][:-2,10:-6]", .rank = 2, .less = {2, 16}, .n = 3,
                               .taps = {{.start = {2, 8}, .flipped = 1}, {.start = {1, 7}, .weight = -2, .flipped = 1}, {.start = {0, 10}, .weight = 3, .flipped = 1}}};
    static const stencil left = {.text = "flip(x, axis=1)[2:,8:-8] - 2*flip(x, axis=1)[1:-1,8:-8] + 3*flip(x, axis=1)[:-2,8:-8]", .rank = 2, .less = {2, 16}, .n = 3,
                                 .taps = {{.start = {2, 8}, .flipped = 2}, {.start = {1, 8}, .weight = -2, .flipped = 2}, {.start = {0, 8}, .weight = 3, .flipped = 2}}};
    static const stencil coarse = {.text = "x[:-2:2,8:-8] + 2*x[1:-1:2,7:-9] + x[2::2,9:-7] - x[:-2:2,9:-7]", .rank = 2, .less = {1, 16}, .times = {2, 1}, .n = 4,
                                   .taps = {AT(0, 8), TIMES(2, 1, 7), AT(2, 9), TIMES(-1, 0, 9)}};
    static const stencil every = {.text = "x[2:,:-6:2] + 2*x[1:-1,:-6:2] + x[:-2,2:-4:2]", .rank = 2, .less = {2, 6}, .times = {1, 2}, .n = 3, .taps = {AT(2, 0), TIMES(2, 1, 0), AT(0, 2)}};
    static const stencil cube = {.text = "x[1:-1,1:-1,8:-8]*-6 + x[2:,1:-1,8:-8] + x[:-2,1:-1,8:-8] + x[1:-1,2:,8:-8] + x[1:-1,:-2,8:-8] + 2*x[1:-1,1:-1,9:-7] + x[1:-1,1:-1,5:-11]", .rank = 3, .less = {2, 2, 16},
                                 .n = 7, .taps = {TIMES(-6, 1, 1, 8), AT(2, 1, 8), AT(0, 1, 8), AT(1, 2, 8), AT(1, 0, 8), TIMES(2, 1, 1, 9), AT(1, 1, 5)}};
    static const stencil batches = {.text = "x[:,2:,1:,1:-7] - 2*x[:,1:-1,1:,5:-3] + 3*x[:,:-2,1:,:-8]", .rank = 4, .less = {0, 2, 1, 8}, .n = 3, .taps = {AT(0, 2, 1, 1), TIMES(-2, 0, 1, 1, 5), TIMES(3, 0, 0, 1, 0)}};
    static const stencil one_column = {.text = "x[2:,8:-8] - x[:-2,9:-7] + 2*x[2:,8:9] - 3*x[1:-1,8:9] + 5*x[:-2,8:9]", .rank = 2, .less = {2, 16}, .n = 5,
                                       .taps = {AT(2, 8), TIMES(-1, 0, 9), {.start = {2, 8}, .weight = 2, .fixed = 2}, {.start = {1, 8}, .weight = -3, .fixed = 2}, {.start = {0, 8}, .weight = 5, .fixed = 2}}};
    static const stencil one_row = {.text = "x[2:,8:-8] - x[:-2,9:-7] + 2*x[2:3,8:-8] - 3*x[2:3,7:-9]", .rank = 2, .less = {2, 16}, .n = 4,
                                    .taps = {AT(2, 8), TIMES(-1, 0, 9), {.start = {2, 8}, .weight = 2, .fixed = 1}, {.start = {2, 7}, .weight = -3, .fixed = 1}}};
    static const struct {
        const stencil *s;
        krf_dtype dtype;
        int64_t extents[RANK], gap;
        const char *words;
        int loads;
    } cases[] = {
        {&row, KRF_F32, {20, 64}, 0, "uint4 word[2]", 16}, {&row, KRF_BF16, {18, 40}, 4, "uint4 word[2]", 16}, {&row, KRF_F32, {20, 64}, 1, "", 0},
        {&row, KRF_F32, {20, 66}, 2, "uint2 word[3]", 24}, {&up, KRF_F32, {21, 32}, 0, "uint4 word[3]", 14}, {&up, KRF_I16, {18, 32}, 0, "uint4 word[3]", 14},
        {&left, KRF_F32, {20, 32}, 0, "", 10}, {&coarse, KRF_F32, {20, 32}, 0, "uint4 word[2]", 18}, {&coarse, KRF_F32, {20, 32}, 2, "uint4 word[2]", 18},
        {&every, KRF_F32, {20, 32}, 2, "", 17}, {&cube, KRF_F32, {3, 17, 32}, 0, "uint4 word[3]", 22}, {&cube, KRF_F64, {17, 3, 20}, 0, "", 22},
        {&cube, KRF_F32, {3, 17, 32}, 2, "uint2 word[4]", 26}, {&batches, KRF_F32, {2, 19, 3, 16}, 0, "uint4 word[3]", 15},
        {&batches, KRF_I8, {2, 17, 2, 24}, 0, "uint2 word[2]", 19}, {&one_column, KRF_F32, {21, 32}, 0, "uint4 word[2]", 16},
        {&one_row, KRF_F32, {21, 32}, 0, "uint4 word[2]", 13}, {&around, KRF_F32, {21, 48}, 1, "", 26}, {&around, KRF_F32, {21, 48}, 2, "uint2 word[3]", 26},
        {&around, KRF_F16, {21, 48}, 4, "uint2 word[3]", 26}, {&around, KRF_F32, {21, 17}, 15, "", 26},
    };
    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        try_words(cases[c].s, cases[c].dtype, &cases[c].dtype, cases[c].extents, cases[c].gap, cases[c].words, cases[c].loads);
    }
    assert_int_equal(failures, 0);
}

/* Arrays of another dtype, what is the same in all rows or columns, several results, and places, which no word holds. */
static void test_words_beside(void **unused) {
    static const stencil spread = {.text = "y + x[2:,8:-8] + x[:-2,7:-9] + 2*x[1:-1,10:-6]", .rank = 2, .less = {2, 16}, .arrays = 2, .n = 4, .taps = {{.start = {0}, .array = 1}, AT(2, 8), AT(0, 7), TIMES(2, 1, 10)}};
    static const stencil both = {.text = "return x[1:-1,9:-7] - x[1:-1,7:-9], x[2:,8:-8] - 2*x[:-2,8:-8]", .rank = 2, .less = {2, 16}, .results = 2, .n = 4,
                                 .taps = {AT(1, 9), TIMES(-1, 1, 7), {.start = {2, 8}, .result = 1}, {.start = {0, 8}, .weight = -2, .result = 1}}};
    static const stencil arrays = {.text = "y[2:,8:-8] + x[:-2,8:-8] - 2*x[1:-1,7:-9] + y[1:-1,5:-11] - y[:-2,9:-7] + 3*x[2:,8:-8]", .rank = 2, .less = {2, 16}, .arrays = 2, .n = 6,
                                   .taps = {{.start = {2, 8}, .array = 1}, AT(0, 8), TIMES(-2, 1, 7), {.start = {1, 5}, .array = 1}, {.start = {0, 9}, .weight = -1, .array = 1}, TIMES(3, 2, 8)}};
    static const stencil holes = {.text = "x[:,:-10] - x[:,7:-3] + 2*y[:,:-10] - 3*y[:,3:-7] + y[:,1:-9] - y[:,2:-8]", .rank = 2, .less = {0, 10}, .arrays = 2, .n = 6, /* words that only the other needs */
                                  .taps = {AT(0, 0), TIMES(-1, 0, 7), {.start = {0, 0}, .weight = 2, .array = 1}, {.start = {0, 3}, .weight = -3, .array = 1}, {.start = {0, 1}, .array = 1}, {.start = {0, 2}, .weight = -1, .array = 1}}};
    static const struct {
        const stencil *s;
        kind beside;
        const char *y; /* instead of the text's */
        krf_dtype result, x, y_dtype;
        const char *words;
        int loads;
    } cases[] = {
        {&spread, EACH, NULL, KRF_F32, KRF_F32, KRF_F32, "uint4 word[3]", 18}, {&spread, ROW, NULL, KRF_F32, KRF_F32, KRF_F32, "uint4 word[3]", 15},
        {&spread, COLUMN, NULL, KRF_F32, KRF_F32, KRF_F32, "uint4 word[3]", 18}, {&spread, ONE, NULL, KRF_F32, KRF_F32, KRF_F32, "uint4 word[3]", 15},
        {&spread, EACH, NULL, KRF_F32, KRF_U8, KRF_F32, "unsigned word[3]", 34}, {&spread, EACH, NULL, KRF_F64, KRF_I8, KRF_F64, "unsigned short word[3]", 34},
        {&spread, ROW, NULL, KRF_F64, KRF_F16, KRF_F64, "unsigned word[3]", 27}, {&spread, COLUMN, NULL, KRF_F32, KRF_U8, KRF_F32, "unsigned word[3]", 34},
        {&spread, EACH, NULL, KRF_BF16, KRF_U8, KRF_BF16, "uint2 word[3]", 18}, {&spread, ROW, NULL, KRF_F32, KRF_F32, KRF_BF16, "uint2 word[1]", 15},
        {&spread, PLACES, "i32(arange(32))", KRF_I32, KRF_I32, KRF_I32, "", 0}, {&spread, DOWN, "i32(arange(19))[:,None]", KRF_I32, KRF_I32, KRF_I32, "uint4 word[3]", 14},
        {&both, WHOLE, NULL, KRF_F32, KRF_F32, KRF_F32, "uint4 word[3]", 14}, {&both, WHOLE, NULL, KRF_I16, KRF_I16, KRF_F32, "uint4 word[3]", 14},
        {&arrays, WHOLE, NULL, KRF_F32, KRF_F32, KRF_F32, "uint2 word[4]", 28}, {&arrays, WHOLE, NULL, KRF_F32, KRF_U16, KRF_F32, "uint2 word[2]", 24},
        {&holes, WHOLE, NULL, KRF_F32, KRF_F32, KRF_F32, "uint2 word[5]", 24},
    };
    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        stencil s = *cases[c].s;
        char text[128];
        s.kinds[1] = cases[c].beside;
        if (cases[c].y != NULL) {
            snprintf(text, sizeof text, "%s%s", cases[c].y, s.text + 1);
            s.text = text;
        }
        try_words(&s, cases[c].result, (krf_dtype[]){cases[c].x, cases[c].y_dtype}, (int64_t[RANK]){19, 32}, 0, cases[c].words, cases[c].loads);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    open_places("strips=0");
    open_exact();
    const int failed = run_part(TESTS(cmocka_unit_test(test_extents), cmocka_unit_test(test_large), cmocka_unit_test(test_dtypes), cmocka_unit_test(test_shapes), cmocka_unit_test(test_windows),
                                      cmocka_unit_test(test_backwards), cmocka_unit_test(test_beside), cmocka_unit_test(test_words), cmocka_unit_test(test_edges), cmocka_unit_test(test_bits),
                                      cmocka_unit_test(test_words_of_dtypes), cmocka_unit_test(test_words_of_heights), cmocka_unit_test(test_words_apart),
                                      cmocka_unit_test(test_words_of_shapes), cmocka_unit_test(test_words_beside)));
    krf_context_destroy(exact.context);
    close_places();
    return failed;
}
