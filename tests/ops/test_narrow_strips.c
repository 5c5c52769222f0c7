/* Stencils over narrow arrays: of rows of few words a block's threads lie below each other (strip_side in src/plan/tile_shape.c), so that it goes hundreds of rows down. Row lengths and heights on both sides of what threads beside and below
 * each other have, of two dimensions, in batches, and of three whose strips have two places (krf__kernel.layer). Sums of small whole numbers are exact. KRF_TEST_DEVICE. */
#include "ops/common.h"
#include "ops/stencils.h"

static const stencil cross = {.text = "x[:-2,1:-1] + x[2:,1:-1] + 2*x[1:-1,:-2] - x[1:-1,2:]", .rank = 2, .less = {2, 2}, .n = 4, .taps = {AT(0, 1), AT(2, 1), TIMES(2, 1, 0), TIMES(-1, 1, 2)}};
static const stencil slope = {.text = "x[2:,2:] - x[:-2,2:] + x[1:-1,:-2]", .rank = 2, .less = {2, 2}, .n = 3, .taps = {AT(2, 2), TIMES(-1, 0, 2), AT(1, 0)}};
static const stencil down = {.text = "3*x[2:,1:-1] - x[1:-1,1:-1] - x[:-2,1:-1] + x[1:-1,2:]", .rank = 2, .less = {2, 2}, .n = 4, .taps = {TIMES(3, 2, 1), TIMES(-1, 1, 1), TIMES(-1, 0, 1), AT(1, 2)}};
static const stencil batches = {.text = "x[:,2:,1:-1] - 2*x[:,:-2,1:-1] + x[:,1:-1,2:] + 3*x[:,1:-1,:-2]", .rank = 3, .less = {0, 2, 2}, .n = 4, .taps = {AT(0, 2, 1), TIMES(-2, 0, 0, 1), AT(0, 1, 2), TIMES(3, 0, 1, 0)}};
static const stencil seven = {
    .text = "x[1:-1,1:-1,1:-1]*-6 + x[2:,1:-1,1:-1] + x[:-2,1:-1,1:-1] + x[1:-1,2:,1:-1] + x[1:-1,:-2,1:-1] + 2*x[1:-1,1:-1,2:] + 3*x[1:-1,1:-1,:-2]", .rank = 3, .less = {2, 2, 2},
    .n = 7, .taps = {TIMES(-6, 1, 1, 1), AT(2, 1, 1), AT(0, 1, 1), AT(1, 2, 1), AT(1, 0, 1), TIMES(2, 1, 1, 2), TIMES(3, 1, 1, 0)}};

/* By strips on the device, and on a CPU. */
static void try_strips(const stencil *s, krf_dtype dtype, const int64_t *extents, int64_t gap) {
    example e = make_example(s, dtype, extents, gap, false);
    void *want[RESULTS] = {expected(&e, 0)};
    try_place(&e, &places[0], "tile", places[0].cuda ? NULL : "map", want);
    try_place(&e, &places[n_places - 1], NULL, NULL, want);
    free(want[0]);
    free_example(&e);
}

/* Rows that a block has below each other, and one more and one less; of some blocks; and a strip's. */
static const int64_t heights[] = {16, 17, 23, 24, 25, 31, 33, 63, 64, 65, 127, 128, 129, 250, 255, 256, 257, 263, 511, 512, 513, 520, 521, 1030, 2047};
enum { HEIGHTS = sizeof heights / sizeof *heights };

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {16, 17, 18, 20, 24, 30, 31, 32, 33, 34, 36, 40, 48, 60, 62, 63, 64, 65, 66, 68, 70};
    (void)unused;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const bool words = lengths[k] % 2 == 0; /* else single elements */
        for (int h = 0; h < HEIGHTS; h += words ? 1 : 2) {
            if (heights[h] < 600 || (k + (size_t)h) % 4 == 0) {
                try_strips(&cross, KRF_F32, (int64_t[RANK]){heights[h], lengths[k]}, 0);
            }
        }
        try_strips(&cross, KRF_F32, (int64_t[RANK]){131, lengths[k]}, words ? 2 : 3); /* rows with a gap */
        try_strips(&slope, KRF_F32, (int64_t[RANK]){67, lengths[k]}, words ? 2 : 0);
    }
    assert_int_equal(failures, 0);
}

static void test_dtypes(void **unused) {
    static const struct {
        krf_dtype dtype;
        int64_t lengths[5];
    } cases[] = {{KRF_BF16, {16, 32, 40, 66, 70}}, {KRF_F16, {24, 64}}, {KRF_U8, {16, 32, 48, 64, 36}}, {KRF_I8, {18, 64}}, {KRF_F64, {16, 18, 32, 34, 70}}, {KRF_I32, {16, 64}}, {KRF_I64, {20}}, {KRF_I16, {16, 56}}};
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int l = 0; l < 5 && cases[k].lengths[l] != 0; l++) {
            for (int h = 0; h < HEIGHTS; h += 2) {
                try_strips(&down, cases[k].dtype, (int64_t[RANK]){heights[(h + l) % HEIGHTS], cases[k].lengths[l]}, 0);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_batches(void **unused) {
    static const int64_t lengths[] = {16, 18, 32, 64, 66};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_BF16, KRF_U8, KRF_F64};
    (void)unused;
    for (int k = 0; k < 5; k++) {
        for (int h = 0; h < HEIGHTS; h += 3) {
            try_strips(&batches, KRF_F32, (int64_t[RANK]){1 + h % 4, heights[h] < 600 ? heights[h] : 40, lengths[k]}, 0);
        }
        try_strips(&batches, dtypes[k % 4], (int64_t[RANK]){3, 77, lengths[k]}, 0);
        try_strips(&batches, dtypes[k % 4], (int64_t[RANK]){2, 300, lengths[k]}, 0);
    }
    assert_int_equal(failures, 0);
}

/* Places along both dimensions that are not rows: an odd number of either, and few. */
static void test_layers(void **unused) {
    static const int64_t lengths[] = {16, 18, 24, 32, 34, 64, 68}, planes[][2] = {{1, 40}, {2, 16}, {3, 33}, {16, 17}, {17, 16}, {40, 3}, {5, 129}, {7, 257}, {2, 520}, {260, 2}};
    static const krf_dtype dtypes[] = {KRF_BF16, KRF_F64, KRF_I32};
    (void)unused;
    for (int k = 0; k < 7; k++) {
        for (int p = 0; p < 10; p++) {
            try_strips(&seven, KRF_F32, (int64_t[RANK]){planes[p][0], planes[p][1], lengths[k]}, 0);
        }
        try_strips(&seven, dtypes[k % 3], (int64_t[RANK]){17, 67, lengths[k] & ~7}, 0);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    open_places("strips=0");
    const int failed = run_part(TESTS(cmocka_unit_test(test_lengths), cmocka_unit_test(test_dtypes), cmocka_unit_test(test_batches), cmocka_unit_test(test_layers)));
    close_places();
    return failed;
}
