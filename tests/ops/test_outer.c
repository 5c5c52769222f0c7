/* Reductions over short rows of all pairs: operands that are each the same along one of the last two dimensions of the results, of which the threads of a GPU that share a row have several results. Every
 * dtype, lengths and extents around a block's, views, what stands beside the rows; which kernels do that, and that none of it shows in a result. KRF_TEST_DEVICE. */
#include "ops/outer.h"
#include "ops/tree.h"

#define PAIRS {"nl", "ml"}
static const program squares = {"sum((x[:, None, :] - y[None, :, :])**2, axis=2)", PAIRS, {{SUM, "xy-s", "r", "nm"}}},
                     products = {"prod(x[:, None, :] * y[None, :, :], axis=2)", PAIRS, {{PROD, "xy*", "r", "nm"}}},
                     sums = {"sum(x[:, None, :] + y[None, :, :], axis=2)", PAIRS, {{SUM, "xy+", "r", "nm"}}},
                     most = {"max(x[:, None, :] - y[None, :, :], axis=2)", PAIRS, {{MAX, "xy-", "r", "nm"}}},
                     least = {"min(x[:, None, :] * y[None, :, :], axis=2)", PAIRS, {{MIN, "xy*", "r", "nm"}}},
                     averages = {"mean((x[:, None, :] - y[None, :, :])**2, axis=2)", PAIRS, {{MEAN, "xy-s", "r", "nm"}}},
                     below = {"any(x[:, None, :] < y[None, :, :], axis=2)", PAIRS, {{ANY, "xy<", "r", "nm"}}},
                     all_below = {"all(x[:, None, :] < y[None, :, :], axis=2)", PAIRS, {{ALL, "xy<", "r", "nm"}}},
                     differ = {"sum(x[:, None, :] ^ y[None, :, :], axis=2)", PAIRS, {{SUM, "xy^", "r", "nm"}}},
                     latest = {"latest(x[:, None, :] - y[None, :, :], axis=2)", PAIRS, {{LATEST, "xy-", "r", "nm"}}},
                     swapped = {"sum((y[:, None, :] - x[None, :, :])**2, axis=2)", {"ml", "nl"}, {{SUM, "yx-s", "r", "nm"}}},
                     batched = {"sum((x[:, :, None, :] - y[:, None, :, :])**2, axis=3)", {"bnl", "bml"}, {{SUM, "xy-s", "r", "bnm"}}},
                     batched_lines = {"sum(x[:, :, None, :] * y[None, None, :, :], axis=3)", {"bnl", "ml"}, {{SUM, "xy*", "r", "bnm"}}},
                     batched_columns = {"sum((x[None, :, None, :] - y[:, None, :, :])**2, axis=3)", {"nl", "bml"}, {{SUM, "xy-s", "r", "bnm"}}},
                     weighted = {"sum((x[:, None, :] - y[None, :, :])**2 * w[None, None, :], axis=2)", {"nl", "ml", "l"}, {{SUM, "xy-sw*", "r", "nm"}}},
                     scaled = {"sum((x[:, None, :] - y[None, :, :]) * w, axis=2)", {"nl", "ml", ""}, {{SUM, "xy-w*", "r", "nm"}}},
                     of_lines = {"sum((x[:, None, :] - y[None, :, :]) * f[:, None, None], axis=2)", {"nl", "ml", NULL, "n"}, {{SUM, "xy-f*", "r", "nm"}}},
                     of_columns = {"sum((x[:, None, :] - y[None, :, :]) * f[None, :, None], axis=2)", {"nl", "ml", NULL, "m"}, {{SUM, "xy-f*", "r", "nm"}}},
                     of_both = {"sum((x[:, None, :] - y[None, :, :]) * z[:, :, None], axis=2)", {"nl", "ml", NULL, NULL, "nm"}, {{SUM, "xy-z*", "r", "nm"}}},
                     of_each = {"sum((x[:, None, :] - y[None, :, :]) * z, axis=2)", {"nl", "ml", NULL, NULL, "nml"}, {{SUM, "xy-z*", "r", "nm"}}},
                     one_kind = {"sum((x[:, None, :] - w[None, None, :])**2 * z[:, :, None], axis=2)", {"nl", NULL, "l", NULL, "nm"}, {{SUM, "xw-sz*", "r", "nm"}}},
                     distances = {"sqrt(sum((x[:, None, :] - y[None, :, :])**2, axis=2))", PAIRS, {{SUM, "xy-s", "rq", "nm"}}},
                     rooted = {"sqrt(mean((x[:, None, :] - y[None, :, :])**2, axis=2)) * z + f[:, None] - w[None, :]", {"nl", "ml", "m", "n", "nm"}, {{MEAN, "xy-s", "rqz*f+w-", "nm"}}},
                     in_both = {"sum((x[:, None, :] - y[None, :, :]) * f[:, None, None], axis=2) * w[None, :] - f[:, None]", {"nl", "ml", "m", "n"}, {{SUM, "xy-f*", "rw*f-", "nm"}}},
                     mixed = {"sum((f32(x)[:, None, :] - y[None, :, :])**2, axis=2)", PAIRS, {{SUM, "xcy-s", "r", "nm"}}},
                     doubled = {"u = x*2\nreturn u, sum((u[:, None, :] - y[None, :, :])**2, axis=2)", PAIRS, {{ELEMENTS, "x2", NULL, "nl"}, {SUM, "x2y-s", "r", "nm"}}},
                     own = {"sum((x[:, None, :] - x[None, :, :])**2, axis=2)", PAIRS, {{SUM, "xy-s", "r", "nm"}}},
                     two = {"d = x[:, None, :] - y[None, :, :]\nreturn sum(d*d, axis=2), max(d, axis=2)", PAIRS, {{SUM, "xy-s", "r", "nm"}, {MAX, "xy-", "r", "nm"}}},
                     stored = {"d = x[:, None, :] - y[None, :, :]\nreturn d, sum(d*d, axis=2)", PAIRS, {{ELEMENTS, "xy-", NULL, "nml"}, {SUM, "xy-s", "r", "nm"}}};

/* Vectors of 16 bytes, of narrow elements also of 8 and 4, where rows are whole ones; of short rows 4 threads, or 8 with up to 4 vectors each, as long as that is not too much text; of longer rows a warp, if sums
 * have 4 bytes and rows are of one chunk. */
static bool takes(krf_dtype dtype, int64_t l, int operations) {
    const int64_t bytes = (int64_t)bytes_of(dtype);
    int64_t v = 16 / bytes;
    while (l % v != 0 && v * bytes > 4 && bytes == 2) {
        v /= 2;
    }
    v = l % v != 0 ? 1 : v;
    if (l > 32 * v) {
        return is_real(dtype) && dtype != KRF_F64 && l <= 1024;
    }
    return bytes > 1 && l > 6 && (v == 1 || l >= 4 * v) && (l + 8 * v - 1) / (8 * v) * 8 * v * operations <= 1024;
}

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 18, 24, 31, 32, 33, 64, 96, 100, 128, 129, 132, 200, 256, 257, 260, 513, 1000, 1024, 1028, 1032};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_F16, KRF_I32, KRF_BF16, KRF_I16, KRF_I64};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            const bool each = d < 3, some = k % 4 == d % 4 || lengths[k] == 64;
            if (each || some) {
                try_pairs(&squares, dtypes[d], 17 + (int64_t)(k + d) % 3 * 7, 18 + (int64_t)(5 * k + d) % 16, lengths[k], takes(dtypes[d], lengths[k], bytes_of(dtypes[d]) == 2 ? 5 : 4));
            }
        }
    }
    for (int64_t l = 136; l <= 256; l += 40) { /* a cast less */
        try_pairs(&products, KRF_F16, 18, 17, l, takes(KRF_F16, l, 4));
    }
    try_pairs(&squares, KRF_U8, 20, 20, 64, false);
    try_pairs(&squares, KRF_I8, 20, 20, 31, false);
    try_pairs(&differ, KRF_BOOL, 20, 20, 32, false);
    assert_int_equal(failures, 0);
}

/* Whole squares, parts of some, and several; of fewer lines or columns there are none. */
static void test_extents(void **unused) {
    static const int64_t extents[][2] = {{16, 16}, {16, 17}, {17, 16}, {31, 33}, {40, 100}, {100, 40}, {33, 18}, {19, 65}, {15, 16}, {16, 15}, {15, 400}, {400, 15}, {1, 64}, {64, 1}};
    (void)unused;
    for (size_t k = 0; k < sizeof extents / sizeof *extents; k++) {
        const bool taken = extents[k][0] >= 16 && extents[k][1] >= 16;
        try_pairs(&squares, KRF_F32, extents[k][0], extents[k][1], 64, taken); /* 8 threads a row */
        try_pairs(&squares, KRF_F32, extents[k][0], extents[k][1], 16, taken); /* 4 threads */
        try_pairs(&swapped, KRF_F64, extents[k][0], extents[k][1], 13, taken && extents[k][0] > 1);
    }
    for (int64_t n = 7; n < 18; n++) { /* of longer rows, squares of 8 x 8 */
        try_pairs(&squares, KRF_F32, n, n == 9 ? 30 : 24 - n, 200, n > 7 && n < 17);
        try_pairs(&products, KRF_F32, 26 - n, n, 1000, n > 7);
    }
    for (int64_t batch = 1; batch < 4; batch++) {
        for (int64_t m = 16; m < 34; m += 17) {
            const program *const all[] = {&batched, &batched_lines, &batched_columns};
            for (int k = 0; k < 3; k++) {
                try_example((example){.p = all[k], .dtype = KRF_F32, .other = KRF_F32, .extents = {batch, 49 - m, m, k == 1 ? 16 : 32}}, true);
                try_example((example){.p = all[k], .dtype = KRF_F32, .other = KRF_F32, .extents = {batch, m - 7, 9, 300}}, true);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_operations(void **unused) {
    static const program *const all[] = {&products, &sums, &most, &least, &averages, &below, &all_below, &weighted, &scaled, &of_lines, &of_columns, &distances, &rooted, &in_both, &stored};
    static const program *const none[] = {&of_both, &of_each, &one_kind, &two};
    (void)unused;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        for (int odd = 0; odd < 2; odd++) { /* NaN, infinities, and rows that have nothing but -0.0 */
            try_example((example){.p = all[k], .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 19, 33, 24}, .odd = odd}, true);
            try_example((example){.p = all[k], .dtype = KRF_F64, .other = KRF_F64, .extents = {1, 18, 17, 16}, .odd = odd}, true);
            try_example((example){.p = all[k], .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 11, 17, 132 + 256 * odd}, .odd = odd}, true);
        }
        if (k < 12) {
            try_pairs(all[k], KRF_F16, 21, 18, 32, true);
            try_pairs(all[k], k < 11 ? KRF_I32 : KRF_BF16, 17, 20, k < 11 ? 16 : 64, true);
        }
    }
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        try_pairs(none[k], KRF_F32, 19, 33, 32, false);
    }
    try_pairs(&doubled, KRF_F32, 19, 33, 32, true);
    try_pairs(&latest, KRF_F64, 19, 33, 24, true);
    try_pairs(&latest, KRF_F64, 19, 33, 7, true);
    try_example((example){.p = &own, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 35, 35, 32}, .same = true}, true);
    try_example((example){.p = &mixed, .dtype = KRF_F16, .other = KRF_F32, .extents = {1, 19, 33, 32}}, true);
    try_example((example){.p = &squares, .dtype = KRF_F32, .other = KRF_F32, .extents = {1, 19, 33, 32}, .turned = true}, true);
    assert_int_equal(failures, 0);
}

static void test_layouts(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_F64};
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (layout how = OFFSET; how <= ALIKE; how++) {
            for (int both = 0; both < 2; both++) {
                const layout x = both || d == 1 ? how : PLAIN, y = both || d != 1 ? how : PLAIN;
                const bool columns = y == TURNED || (x == SPREAD && y == SPREAD); /* what neighbours want lies side by side, or nothing lies along rows */
                try_example((example){.p = &squares, .dtype = dtypes[d], .other = dtypes[d], .extents = {1, 17, 34, 32}, .layouts = {x, y}}, !columns && how != ALIKE);
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_rows("outer=0,literal_from=1", TESTS(noted_test(test_lengths), noted_test(test_extents), noted_test(test_operations), noted_test(test_layouts)));
}
