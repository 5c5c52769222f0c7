/* Fields of records, which maps on the CPU take apart by vectors (plan/beside.c), and reductions of a few elements or of squares of them, which are written out as such maps (pass/lower_window.c): records of 2 to 10
 * elements, of which all, some or one are read, in any order; against plain loops over whole numbers. */
#include "ops/common.h"

static runs all;

enum { MOST_WIDE = 10, MOST = 1000 };

/* Of the record at `x`, of so many elements. */
typedef int formula(const int *x, int width);

static int first_and_last(const int *x, int width) { return x[0] + 2 * x[width - 1]; }
static int backwards(const int *x, int width) { return 3 * x[width - 1] + x[width / 2] + x[0]; }
static int second(const int *x, int width) { return (void)width, x[1] + 1; }
static int next_to_it(const int *x, int width) { return (void)width, x[1] - x[0] + 60; }
static int total(const int *x, int width) {
    int sum = 0;
    for (int i = 0; i < width; i++) {
        sum += x[i];
    }
    return sum;
}
static int largest(const int *x, int width) {
    int most = x[0];
    for (int i = 1; i < width; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}
static int least(const int *x, int width) {
    int most = x[0];
    for (int i = 1; i < width; i++) {
        most = x[i] < most ? x[i] : most;
    }
    return most;
}

static const struct {
    const char *program;
    formula *formula;
    bool widens; /* sums have another dtype: of whole numbers i64 or u64 */
} cases[] = {
    {"x[:, 0] + 2 * x[:, -1]", first_and_last, false}, {"3 * x[:, -1] + x[:, WIDE // 2] + x[:, 0]", backwards, false}, {"x[:, 1] + 1", second, false}, {"x[:, 1] - x[:, 0] + 60", next_to_it, false},
    {"sum(x, axis=1)", total, true}, {"max(x, axis=1)", largest, false}, {"min(x, axis=1)", least, false}, {"max(x[:, ::-1], axis=1)", largest, false},
};

static int number_at(int64_t i) { return (int)(i * 7 % 23); }

static krf_array *array_of(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape) {
    static char data[MOST * MOST_WIDE * 8];
    krf_array *x = NULL;
    int64_t size = 1;
    for (int i = 0; i < rank; i++) {
        size *= shape[i];
    }
    for (int64_t i = 0; i < size; i++) {
        put(data, i, whole_number(dtype, number_at(i)));
    }
    assert_int_equal(krf_array_from_host(context, dtype, rank, shape, data, &x), KRF_OK);
    return x;
}

static void compare(const run *r, const char *text, krf_dtype dtype, krf_array *got, int64_t i, int number) {
    static char data[MOST * 8];
    char a[64], b[64];
    if (i == 0) {
        read_back(got, data, (size_t)krf_array_size(got) * krf_dtype_size(krf_array_dtype(got)));
    }
    const value want = whole_number(krf_array_dtype(got), number), found = get(data, krf_array_dtype(got), i);
    if (!same(found, want)) {
        fail_msg("%s, %s, %s, %" PRId64 " results: element %" PRId64 " is %s, not %s", text, r->label, krf_dtype_name(dtype), krf_array_size(got), i, show(found, a, 64), show(want, b, 64));
    }
}

static void check(size_t k, const run *r, krf_dtype dtype, int width, int64_t n) {
    const int64_t shape[2] = {n, width};
    krf_array *x = array_of(r->context, dtype, 2, shape);
    char text[100], *at = text;
    for (const char *p = cases[k].program; *p != 0; p++) {
        if (strncmp(p, "WIDE // 2", 9) == 0) {
            at += sprintf(at, "%d", width / 2);
            p += 8;
        } else {
            *at++ = *p;
        }
    }
    *at = 0;
    krf_array *got = evaluate_of(r, text, x);
    assert_int_equal(krf_array_size(got), n);
    assert_true(cases[k].widens || krf_array_dtype(got) == dtype);
    for (int64_t i = 0; i < n; i++) {
        int record[MOST_WIDE];
        for (int f = 0; f < width; f++) {
            record[f] = number_at(i * width + f);
        }
        compare(r, text, dtype, got, i, cases[k].formula(record, width));
    }
    krf_array_release(got);
    krf_array_release(x);
}

static void test_fields(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_F32, KRF_BF16, KRF_I16, KRF_F64, KRF_I8, KRF_F16, KRF_I32};
    static const int64_t lengths[] = {1000, 129, 33, 1, 512, 0, 257};
    (void)unused;
    int turn = 0;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            for (int width = 2; width <= MOST_WIDE; width++, turn++) {
                for (int d = 0; d < (all.run[r].compiled || all.cuda ? 1 : 3) && in_shard(turn); d++) {
                    check(k, &all.run[r], dtypes[((int)k + width + d) % 8], width, lengths[((int)k * 2 + width + d) % 7]);
                }
            }
        }
    }
}

/* Other distances between fields of records of one length, and records of two lengths from one array, in one context, which keeps kernels. */
static void test_distances(void **unused) {
    enum { ROWS = 40, HALF = ROWS / 2 };
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int width = 2; width <= 4; width++) {
            const int64_t shape[2] = {ROWS, width};
            krf_array *x = array_of(all.run[r].context, KRF_F32, 2, shape);
            for (int field = 1; field < width; field++) {
                char text[100];
                sprintf(text, "x[:, 0] + 2 * x[:, %d]", field);
                krf_array *got = evaluate_of(&all.run[r], text, x);
                for (int i = 0; i < ROWS; i++) {
                    compare(&all.run[r], text, KRF_F32, got, i, number_at((int64_t)i * width) + 2 * number_at((int64_t)i * width + field));
                }
                krf_array_release(got);
                sprintf(text, "x[:%d, 0] + 2 * x[::2, %d]", HALF, field);
                got = evaluate_of(&all.run[r], text, x);
                for (int i = 0; i < HALF; i++) {
                    compare(&all.run[r], text, KRF_F32, got, i, number_at((int64_t)i * width) + 2 * number_at((int64_t)2 * i * width + field));
                }
                krf_array_release(got);
            }
            krf_array_release(x);
        }
    }
}

/* Squares of an image. */
static void test_pools(void **unused) {
    static const struct {
        int side, rows, columns;
        krf_dtype dtype;
    } pools[] = {{2, 9, 33, KRF_U8}, {2, 5, 40, KRF_F32}, {3, 4, 17, KRF_BF16}, {4, 6, 9, KRF_I16}, {4, 3, 32, KRF_U8}, {5, 3, 12, KRF_F32}, {2, 1, 32, KRF_F64}};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t p = 0; p < sizeof pools / sizeof *pools; p++) {
            const int side = pools[p].side, rows = pools[p].rows, columns = pools[p].columns, across = side * columns;
            const int64_t shape[2] = {(int64_t)side * rows, across};
            krf_array *x = array_of(all.run[r].context, pools[p].dtype, 2, shape);
            for (int maxima = 0; maxima < 2; maxima++) {
                char text[100];
                sprintf(text, "%s(reshape(x, (%d, %d, %d, %d)), axis=(1, 3))", maxima ? "max" : "sum", rows, side, columns, side);
                krf_array *got = evaluate_of(&all.run[r], text, x);
                for (int i = 0; i < rows * columns; i++) {
                    int square[25] = {0};
                    for (int e = 0; e < side * side; e++) {
                        square[e] = number_at((i / columns * side + e / side) * (int64_t)across + i % columns * side + e % side);
                    }
                    compare(&all.run[r], text, pools[p].dtype, got, i, maxima ? largest(square, side * side) : total(square, side * side));
                }
                krf_array_release(got);
            }
            krf_array_release(x);
        }
    }
}

int main(void) { return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_fields), cmocka_unit_test(test_distances), cmocka_unit_test(test_pools))); }
