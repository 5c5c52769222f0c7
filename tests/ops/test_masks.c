/* Masks of all pairs and what else narrows (plan/strip.c, has words of several accesses there): every dtype, comparisons and what is made of some, casts of differences, several results, row lengths and heights on both sides of what strips
 * and blocks have, operands that lie anywhere, results that do. KRF_TEST_DEVICE. */
#include "ops/common.h"
#include "ops/masks.h"

/* ---- what elements become ---- */

static value less(const value *v) { return truth(is_less(v[0], v[1])); }
static value greater(const value *v) { return truth(is_less(v[1], v[0])); }
static value at_most(const value *v) { return truth(is_at_most(v[0], v[1])); }
static value equal(const value *v) { return truth(is_equal(v[0], v[1])); }
static value unequal(const value *v) { return truth(!is_equal(v[0], v[1])); }
static value both(const value *v) { return truth(is_at_most(v[0], v[1]) && is_less(v[1], v[2])); }
static value either(const value *v) { return truth(is_less(v[0], v[1]) || is_equal(v[2], v[1])); }
static value both_rows(const value *v) { return truth(is_at_most(v[1], v[0]) && is_less(v[0], v[2])); }
static value less_than_all(const value *v) { return truth(is_less(v[0], v[1]) && is_less(v[2], v[0]) && !is_equal(v[0], v[3])); }
static value less_and(const value *v) { return truth(is_less(v[0], v[1]) && is_less(v[2], v[1])); }
static value in_cube(const value *v) { return truth(is_less(v[0], v[1]) != is_less(v[1], v[2])); }
static value taken_apart(const value *v) { return difference(v[0], v[1]); }
static value to_f16(const value *v) { return convert(difference(v[0], v[1]), KRF_F16); }
static value to_bf16(const value *v) { return convert(difference(v[0], v[1]), KRF_BF16); }
static value to_u8(const value *v) { return convert(difference(v[0], v[1]), KRF_U8); }
static value to_i8(const value *v) { return convert(difference(v[0], v[1]), KRF_I8); }
static value to_i16(const value *v) { return convert(difference(v[0], v[1]), KRF_I16); }
static value as_halves(const value *v) { return truth(is_less(convert(v[0], KRF_F16), convert(v[1], KRF_F16))); }
static value as_bf16(const value *v) { return truth(is_at_most(difference(convert(v[0], KRF_BF16), convert(v[1], KRF_BF16)), whole_number(KRF_BF16, 1))); }

#define PAIRS(...) .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, .gives = {__VA_ARGS__}
#define THREE(third, ...) .arrays = 3, .taken = 3, .results = 1, .array = {ALONG("n"), ALONG("m"), ALONG(third)}, .takes = {TAKE(0), TAKE(1), TAKE(2)}, .gives = {__VA_ARGS__}

static const program
    x_less_y = {.text = "x[:, None] < y[None, :]", PAIRS(less)}, y_less_x = {.text = "y[None, :] < x[:, None]", PAIRS(greater)}, x_at_most_y = {.text = "x[:, None] <= y[None, :]", PAIRS(at_most)},
    x_equal_y = {.text = "x[:, None] == y[None, :]", PAIRS(equal)}, x_unequal_y = {.text = "x[:, None] != y[None, :]", PAIRS(unequal)},
    between = {.text = "(x[:, None] <= y[None, :]) & (y[None, :] < z[:, None])", THREE("n", both)}, one_of = {.text = "(x[:, None] < y[None, :]) | (z[:, None] == y[None, :])", THREE("n", either)},
    between_rows = {.text = "(y[None, :] <= x[:, None]) & (x[:, None] < z[None, :])", THREE("m", both_rows)}, beside_one = {.text = "(x[:, None] < y[None, :]) & (z < y[None, :])", THREE("", less_and)},
    bins = {.text = "(x[:-1, None] <= y[None, :]) & (y[None, :] < x[1:, None])", .arrays = 2, .taken = 3, .results = 1, .array = {LONGER("n", 1), ALONG("m")}, .takes = {TAKE(0), TAKE(1), FROM(0, 1)}, .gives = {both}},
    bins_from_second = {.text = "(x[:-1, None] <= y[None, 1:]) & (y[None, 1:] < x[1:, None])", .arrays = 2, .taken = 3, .results = 1, .array = {LONGER("n", 1), LONGER("m", 1)}, .takes = {TAKE(0), FROM(1, 1), FROM(0, 1)}, .gives = {both}},
    bins_from_sixth = {.text = "(x[:-1, None] <= y[None, 5:]) & (y[None, 5:] < x[1:, None])", .arrays = 2, .taken = 3, .results = 1, .array = {LONGER("n", 1), LONGER("m", 5)}, .takes = {TAKE(0), FROM(1, 5), FROM(0, 1)}, .gives = {both}},
    bins_to_end = {.text = "(x[:-1, None] <= y[None, 3:-1]) & (y[None, 3:-1] < x[1:, None])", .arrays = 2, .taken = 3, .results = 1, .array = {LONGER("n", 1), LONGER("m", 4)}, .takes = {TAKE(0), FROM(1, 3), FROM(0, 1)}, .gives = {both}},
    three_rows = {.text = "(x[:, None] < y[None, 1:]) & (x[:, None] > z[None, 2:]) & (x[:, None] != w[None, 7:])", .arrays = 4, .taken = 4, .results = 1, .array = {ALONG("n"), LONGER("m", 1), LONGER("m", 2), LONGER("m", 7)},
                  .takes = {TAKE(0), FROM(1, 1), FROM(2, 2), FROM(3, 7)}, .gives = {less_than_all}},
    on_one = {.text = "x[:, None] < y[None, 1:]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), LONGER("m", 1)}, .takes = {TAKE(0), FROM(1, 1)}, .gives = {less}},
    steps = {.text = "x[:, None] < y[None, ::2]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), TIMES("m", 2)}, .takes = {TAKE(0), STEPS(1, 0, 2)}, .gives = {less}},
    steps_down = {.text = "x[::2, None] < y[None, :]", .arrays = 2, .taken = 2, .results = 1, .array = {TIMES("n", 2), ALONG("m")}, .takes = {STEPS(0, 0, 2), TAKE(1)}, .gives = {less}},
    back = {.text = "x[:, None] < y[None, ::-1]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), ALONG("m")}, .takes = {TAKE(0), STEPS(1, 0, -1)}, .gives = {less}},
    upwards = {.text = "x[::-1, None] < y[None, :]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), ALONG("m")}, .takes = {STEPS(0, 0, -1), TAKE(1)}, .gives = {less}},
    field = {.text = "x[:, None] < y[None, :, 1]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), ALONG("m2")}, .takes = {TAKE(0), FROM(1, 1)}, .gives = {less}},
    field_down = {.text = "x[:, 1][:, None] < y[None, :]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n2"), ALONG("m")}, .takes = {FROM(0, 1), TAKE(1)}, .gives = {less}},
    turned = {.text = "(y[:, None] < x[None, :]).T", PAIRS(greater)},
    within = {.text = "x[:, :, None] == x[:, None, :]", .arrays = 1, .taken = 2, .results = 1, .array = {ALONG("bm")}, .takes = {{.array = 0, .axes = "bn"}, TAKE(0)}, .gives = {equal}, .axes = "bnm"},
    batches = {.text = "x[:, :, None] < y[:, None, :]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("bn"), ALONG("bm")}, .takes = {TAKE(0), TAKE(1)}, .gives = {less}, .axes = "bnm"},
    peaks = {.text = "(x[1:-1, 1:-7] < x[2:, 1:-7]) & (x[:-2, 1:-7] < x[1:-1, 1:-7]) & (x[1:-1, 1:-7] != x[1:-1, 2:-6])", .arrays = 1, .taken = 4, .results = 1, .array = {{.axes = "nm", .more = 8, .deeper = 2}},
             .takes = {{.from = 1, .down = 1}, {.from = 1, .down = 2}, {.from = 1}, {.from = 2, .down = 1}}, .gives = {less_than_all}},
    batches_of_rows = {.text = "x[None, :, None] < y[:, None, :]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), ALONG("bm")}, .takes = {TAKE(0), TAKE(1)}, .gives = {less}, .axes = "bnm"},
    cube = {.text = "(x[:, None, None] < y[None, :, None]) ^ (y[None, :, None] < z[None, None, :])", .arrays = 3, .taken = 3, .results = 1, .array = {ALONG("b"), ALONG("n"), ALONG("m")}, .takes = {TAKE(0), TAKE(1), TAKE(2)}, .gives = {in_cube}, .axes = "bnm"},
    f16s = {.text = "f16(x[:, None] - y[None, :])", PAIRS(to_f16)}, bf16s = {.text = "bf16(x[:, None] - y[None, :])", PAIRS(to_bf16)}, u8s = {.text = "u8(x[:, None] - y[None, :])", PAIRS(to_u8)},
    i8s = {.text = "i8(x[:, None] - y[None, :])", PAIRS(to_i8)}, i16s = {.text = "i16(x[:, None] - y[None, :])", PAIRS(to_i16)}, halves = {.text = "f16(x[:, None]) < f16(y[None, :])", PAIRS(as_halves)},
    bf16_halves = {.text = "bf16(x[:, None]) - bf16(y[None, :]) <= 1", PAIRS(as_bf16)},
    with_u8 = {.text = "d = x[:, None] - y[None, :]\nreturn x[:, None] < y[None, :], u8(d)", .arrays = 2, .taken = 2, .results = 2, .array = {ALONG("n"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, .gives = {less, to_u8}},
    with_f16 = {.text = "d = x[:, None] - y[None, :]\nreturn x[:, None] < y[None, :], f16(d)", .arrays = 2, .taken = 2, .results = 2, .array = {ALONG("n"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, .gives = {less, to_f16}},
    with_i16 = {.text = "d = x[:, None] - y[None, :]\nreturn x[:, None] == y[None, :], i16(d)", .arrays = 2, .taken = 2, .results = 2, .array = {ALONG("n"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, .gives = {equal, to_i16}},
    with_whole = {.text = "return x[:, None] < y[None, :], x[:, None] - y[None, :]", .arrays = 2, .taken = 2, .results = 2, .array = {ALONG("n"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, .gives = {less, taken_apart}},
    two_masks = {.text = "return x[:, None] < y[None, :], x[:, None] == y[None, :]", .arrays = 2, .taken = 2, .results = 2, .array = {ALONG("n"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, .gives = {less, equal}};

/* How a result is stored, of whose row a thread has as many elements as it has whole words of, eight at most. */
static const char *stored_by(int64_t m) {
    return m % 8 == 0 ? "*(uint2 *)at_out0 = v_out0.word;" : m % 4 == 0 ? "*(unsigned *)at_out0 = v_out0.word;" : m % 2 == 0 ? "*(unsigned short *)at_out0 = v_out0.word;" : NULL;
}

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {15, 16, 17, 18, 20, 24, 31, 32, 33, 34, 36, 40, 48, 63, 64, 65, 68, 72, 127, 128, 129, 130, 132, 136, 256, 500, 504, 512, 520, 1000, 1024, 1032};
    static const int64_t heights[] = {1, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 255, 257, 511, 512, 513, 2047};
    int turn = 0;
    (void)unused;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
            const int64_t n = heights[h], m = lengths[k];
            const bool strips = n >= 16 && m >= 16;
            if (n * m > 300000 || (n > 100 && (k + h) % 3 != 0)) {
                continue;
            }
            try_pairs(&x_less_y, KRF_F32, n, m, strips ? stored_by(m) : NULL);
            if (h % 4 == (size_t)turn++ % 4) {
                try_pairs(&x_equal_y, KRF_I64, n, m, strips ? stored_by(m) : NULL);
            }
        }
    }
    none_failed();
}

static void test_heights(void **unused) {
    (void)unused;
    for (int64_t n = 16; n < 42; n++) {
        try_pairs(&x_less_y, KRF_F32, n, 40, stored_by(40));
        try_pairs(&x_less_y, KRF_F32, 512 + 8 - n, 24, stored_by(24));
        try_pairs(&x_equal_y, KRF_I64, n, 20, stored_by(20));
    }
    try_pairs(&x_less_y, KRF_F32, 2047, 512, stored_by(512));
    try_pairs(&x_less_y, KRF_F32, 5003, 16, stored_by(16));
    try_pairs(&x_less_y, KRF_F32, 1031, 1032, stored_by(1032)); /* more than a million */
    none_failed();
}

static void test_dtypes(void **unused) {
    static const program *const all[] = {&x_less_y, &x_at_most_y, &x_equal_y, &x_unequal_y, &y_less_x};
    (void)unused;
    for (int d = 0; d < ALL_DTYPES; d++) {
        for (int k = 0; k < 5; k++) {
            const krf_dtype dtype = (krf_dtype)d;
            const bool compared = is_complex(dtype) ? k == 2 || k == 3 : dtype != KRF_BOOL || k == 2 || k == 3;
            if (compared && (k == d % 5 || k == 2 || bytes_of(dtype) == 4)) {
                try_pairs(all[k], dtype, 70 + d, 64, bytes_of(dtype) >= 4 && !is_complex(dtype) ? stored_by(64) : NULL);
                try_pairs(all[k], dtype, 33, k == 2 ? 132 : 36, NULL);
            }
        }
    }
    static const krf_dtype mixed[][2] = {{KRF_U8, KRF_F64}, {KRF_F64, KRF_U8}, {KRF_F16, KRF_F32}, {KRF_F32, KRF_BF16}, {KRF_I16, KRF_I64}, {KRF_F32, KRF_F64}, {KRF_BOOL, KRF_I32}};
    for (size_t k = 0; k < sizeof mixed / sizeof *mixed; k++) {
        try_example(&(example){.p = &x_less_y, .dtypes = {mixed[k][0], mixed[k][1]}, .extents = {1, 41, 72}, .has = stored_by(72)});
        try_example(&(example){.p = &x_less_y, .dtypes = {mixed[k][0], mixed[k][1]}, .extents = {1, 41, 68}, .lacks = "uint2 *)at_out0"});
    }
    none_failed();
}

static void test_programs(void **unused) {
    static const program *const all[] = {&between, &one_of, &between_rows, &beside_one, &bins, &two_masks};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_I32, KRF_I64, KRF_F16, KRF_U32};
    (void)unused;
    for (int k = 0; k < 6; k++) {
        for (int64_t m = 64; m <= 72; m += 4) {
            try_pairs(all[k], dtypes[k], 45, m, dtypes[k] == KRF_F16 ? NULL : stored_by(m));
            try_pairs(all[k], KRF_F32, 33, m, stored_by(m));
        }
    }
    none_failed();
}

static void test_casts(void **unused) {
    static const struct {
        const program *p;
        krf_dtype dtype;
        const char *has;
    } cases[] = {{&f16s, KRF_F64, "*(uint4 *)at_out0"}, {&bf16s, KRF_F64, "*(uint4 *)at_out0"}, {&u8s, KRF_F64, "*(uint2 *)at_out0"}, {&i16s, KRF_I64, "*(uint4 *)at_out0"}, {&i8s, KRF_I64, "*(uint2 *)at_out0"}, {&u8s, KRF_F32, "*(uint2 *)at_out0"},
                 {&i8s, KRF_I32, "*(uint2 *)at_out0"}, {&i8s, KRF_F64, "*(uint2 *)at_out0"}, {&f16s, KRF_F32, NULL}, {&halves, KRF_F32, NULL}, {&bf16_halves, KRF_F32, NULL}, {&halves, KRF_F64, NULL}, {&with_u8, KRF_F64, "*(uint2 *)at_out1"},
                 {&with_f16, KRF_F64, "*(uint4 *)at_out1"}, {&with_i16, KRF_I64, "*(uint4 *)at_out1"}, {&with_u8, KRF_F32, "*(uint2 *)at_out1"}, {&with_whole, KRF_F32, NULL}};
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        try_pairs(cases[k].p, cases[k].dtype, 43, 64, cases[k].has);
        try_pairs(cases[k].p, cases[k].dtype, 20, 36, NULL);
        try_pairs(cases[k].p, cases[k].dtype, 67, 64, cases[k].has);
    }
    none_failed();
}

static void test_batches(void **unused) {
    static const int64_t extents[][RANK] = {{3, 64, 64}, {1, 40, 40}, {5, 36, 36}, {2, 33, 33}, {17, 16, 16}, {2, 264, 264}};
    (void)unused;
    for (size_t k = 0; k < sizeof extents / sizeof *extents; k++) {
        const int64_t b = extents[k][0], n = extents[k][1], m = extents[k][2];
        try_example(&(example){.p = &within, .dtypes = {KRF_F32}, .extents = {b, n, m}, .has = stored_by(m)});
        try_example(&(example){.p = &within, .dtypes = {KRF_I64}, .extents = {b, n, m}, .has = stored_by(m)});
        try_example(&(example){.p = &batches, .dtypes = {KRF_F32, KRF_F32}, .extents = {b, n + 9, m}, .has = stored_by(m)});
        try_example(&(example){.p = &batches_of_rows, .dtypes = {KRF_F32, KRF_F32}, .extents = {b, n - (k % 2 == 1 ? 9 : 0), m}});
        try_example(&(example){.p = &cube, .dtypes = {KRF_F32, KRF_F32, KRF_F32}, .extents = {b, n, m}});
        try_example(&(example){.p = &cube, .dtypes = {KRF_F32, KRF_F32, KRF_F32}, .extents = {n, b, m}});
    }
    none_failed();
}

/* What the text takes of arrays, and where users say that they lie. */
static void test_views(void **unused) {
    static const program *const texts[] = {&on_one, &steps, &steps_down, &back, &upwards, &field, &field_down, &turned, &bins, &bins_from_second, &bins_from_sixth, &three_rows};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_I32, KRF_I64};
    (void)unused;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        for (int64_t m = 64; m <= 72; m += 4) {
            try_pairs(texts[k], KRF_F32, 37, m, NULL);
            try_pairs(texts[k], dtypes[k % 4], 64, m, NULL);
        }
        try_pairs(texts[k], KRF_F64, 19, 136, NULL);
    }
    for (int k = 0; k < 6; k++) { /* rows that strips share */
        static const int64_t lengths[] = {64, 66, 68, 33, 128, 1000};
        try_pairs(&peaks, KRF_F32, 37, lengths[k], lengths[k] % 4 == 0 ? stored_by(4) : NULL);
        try_pairs(&peaks, k % 2 == 0 ? KRF_F64 : KRF_I32, 64, lengths[k], NULL);
        try_pairs(&peaks, k % 2 == 0 ? KRF_U8 : KRF_BF16, 41, lengths[k], NULL);
    }
    for (int x = 0; x < LAYOUTS; x++) {
        for (int y = 0; y < LAYOUTS; y++) {
            example e = {.p = &x_less_y, .dtypes = {KRF_F32, KRF_F32, KRF_F32}, .extents = {1, 37, 72}, .layouts = {(layout)x, (layout)y, (layout)x}};
            try_example(&e);
            e.p = (x + y) % 2 == 0 ? &between : &bins;
            e.extents[2] = 64 + y % 2 * 4;
            try_example(&e);
            e.dtypes[0] = e.dtypes[1] = KRF_I64;
            e.p = &x_equal_y;
            try_example(&e);
        }
    }
    none_failed();
}

/* Into memory of users: rows with gaps that are whole words and with such that are none, from its second element on, across. */
static void test_rooms(void **unused) {
    static const int64_t lengths[] = {64, 72, 68, 136, 33};
    (void)unused;
    for (int k = 0; k < 5; k++) {
        const int all = (1 << sizeof rooms / sizeof *rooms) - 1;
        try_example(&(example){.p = &x_less_y, .dtypes = {KRF_F32, KRF_F32}, .extents = {1, 37, lengths[k]}, .rooms = all});
        try_example(&(example){.p = &x_equal_y, .dtypes = {KRF_I64, KRF_I64}, .extents = {1, 41, lengths[k]}, .rooms = all});
        try_example(&(example){.p = &f16s, .dtypes = {KRF_F64, KRF_F64}, .extents = {1, 26, lengths[k]}, .rooms = all});
        try_example(&(example){.p = &batches, .dtypes = {KRF_F32, KRF_F32}, .extents = {3, 23, lengths[k]}, .rooms = all});
    }
    none_failed();
}

/* Memory that ends behind the last element, or within the 16 bytes in which that lies: nothing that follows is loaded. */
static void test_end_of_memory(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_I32, KRF_I64};
    static const program *const all[] = {&x_less_y, &bins, &bins_from_second, &bins_from_sixth, &bins_to_end, &three_rows, &f16s};
    (void)unused;
    if (all_runs.cuda && getenv("KRF_LIBCUDA") == NULL) {
        return;
    }
    for (int k = 0; k < 7; k++) {
        for (int d = 0; d < 4; d++) {
            const bool taken = all[k] != &f16s || is_real(dtypes[d]);
            for (int64_t n = 23; n < 34 && taken; n += 8 + d % 2) {
                try_example(&(example){.p = all[k], .dtypes = {dtypes[d], dtypes[d], dtypes[d], dtypes[d]}, .extents = {1, n, 64}, .layouts = {LAST, LAST, LAST, LAST}});
                try_example(&(example){.p = all[k], .dtypes = {dtypes[d], dtypes[d], dtypes[d], dtypes[d]}, .extents = {1, n, 68}, .layouts = {LAST, LAST, LAST, LAST}});
            }
        }
    }
    none_failed();
}

int main(void) {
    return run_on(open_noted_runs(&all_runs, false), TESTS(noted_test(test_lengths), noted_test(test_heights), noted_test(test_dtypes), noted_test(test_programs), noted_test(test_casts), noted_test(test_batches), noted_test(test_views),
                                                           noted_test(test_rooms), noted_test(test_end_of_memory)));
}
