/* Sums and means of whole numbers of 8 or 16 bits in f32 and f64, which are sums of integers where these are exact (src/pass/fold.c), and sums of products of bytes, which a GPU takes four at once (codegen/cuda_bytes.c):
 * against 64-bit arithmetic, up to the last length of which f32 has room for the largest sum. */
#include "ops/common.h"

enum { MOST = 1 << 20, ROW = 5003 };

static runs all;

static int64_t lowest(krf_dtype dtype) { return dtype == KRF_I8 ? -128 : dtype == KRF_I16 ? -32768 : 0; }
static int64_t highest(krf_dtype dtype) { return dtype == KRF_BOOL ? 1 : dtype == KRF_I8 ? 127 : dtype == KRF_U8 ? 255 : dtype == KRF_I16 ? 32767 : 65535; }

/* Of the magnitude that needs most room, or the same but for some. */
static int64_t element(krf_dtype dtype, int64_t i, bool mixed) {
    const int64_t most = -lowest(dtype) > highest(dtype) ? lowest(dtype) : highest(dtype);
    return mixed && i % 7 == 3 ? (most == 1 ? 0 : most + (most < 0 ? i % 100 : -(i % 100))) : most;
}

static krf_array *numbers(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, bool mixed, int64_t *total) {
    static char data[2 * MOST];
    krf_array *a = NULL;
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        n *= shape[d];
    }
    assert_true(n <= MOST);
    *total = 0;
    for (int64_t i = 0; i < n; i++) {
        put(data, (int)i, whole_number(dtype, element(dtype, i, mixed)));
        *total += element(dtype, i, mixed);
    }
    assert_int_equal(krf_array_from_host(context, dtype, rank, shape, data, &a), KRF_OK);
    return a;
}

static double number(krf_array *a) {
    double f64 = 0;
    float f32 = 0;
    read_back(a, krf_array_dtype(a) == KRF_F64 ? (void *)&f64 : (void *)&f32, krf_dtype_size(krf_array_dtype(a)));
    return krf_array_dtype(a) == KRF_F64 ? f64 : (double)f32;
}

static void check_sum(const run *r, krf_dtype dtype, int64_t n, bool mixed) {
    static const char *const programs[] = {"sum(f32(x))", "sum(f64(x))", "mean(f32(x))", "mean(f64(x))"};
    int64_t total;
    krf_array *x = numbers(r->context, dtype, 1, &n, mixed, &total);
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        krf_array *got = NULL;
        evaluate_text(r, programs[p], 1, (krf_binding[]){krf_bind_array("x", x)}, 1, &got);
        const double want = p == 2 ? (double)((float)total / (float)n) : p == 3 ? (double)total / (double)n : (double)total, found = number(got);
        if (!collecting && found != want) {
            fail_msg("%s of %" PRId64 " %s, %s: %.17g, not %.17g", programs[p], n, krf_dtype_name(dtype), r->label, found, want);
        }
        krf_array_release(got);
    }
    krf_array_release(x);
}

/* Up to the lengths from which on the largest sum is no f32 number's neighbour any more: 2^24 of bools would be, too, but take long. */
static void test_sums(void **unused) {
    static const struct {
        krf_dtype dtype;
        int64_t most;
    } limits[] = {{KRF_U8, 65536}, {KRF_I8, 131072}, {KRF_U16, 256}, {KRF_I16, 512}, {KRF_BOOL, MOST}};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t l = 0; l < sizeof limits / sizeof *limits && !passed_over(&all.run[r]); l++) {
            for (int mixed = 0; mixed < 2; mixed++) {
                check_sum(&all.run[r], limits[l].dtype, limits[l].most, mixed != 0);
                check_sum(&all.run[r], limits[l].dtype, limits[l].most - 255, mixed != 0);
                check_sum(&all.run[r], limits[l].dtype, 1, mixed != 0);
            }
        }
    }
}

static bool plan_has(krf_context *context, const char *program, krf_dtype dtype, int64_t n, const char *text) {
    krf_graph *g = krf_graph_create(context);
    krf_expr results[2];
    char *dump = NULL;
    size_t size = 0;
    int count = 0;
    assert_non_null(g);
    assert_int_equal(krf_parse_many(g, program, (krf_binding[]){krf_bind_expr("x", krf_placeholder(g, "x", dtype, 1, &n))}, 1, 2, results, &count), KRF_OK);
    assert_int_equal(krf_dump(g, count, results, KRF_DUMP_PLAN, "cuda", NULL, &dump, &size), KRF_OK);
    const bool found = strstr(dump, text) != NULL;
    krf_free(dump);
    krf_graph_destroy(g);
    return found;
}

/* One element more, and f32 might round: the order decides then. So where others compute with the same numbers. */
static void test_limits(void **unused) {
    krf_context *c = all.run[0].context;
    (void)unused;
    assert_true(plan_has(c, "sum(f32(x))", KRF_U8, 65536, "sum(u64(x0))") && plan_has(c, "sum(f32(x))", KRF_U8, 65537, "sum(f32(x0))"));
    assert_true(plan_has(c, "mean(f32(x))", KRF_I8, 131072, "sum(i64(x0))") && plan_has(c, "mean(f32(x))", KRF_I8, 131073, "sum(f32(x0))"));
    assert_true(plan_has(c, "sum(f32(x))", KRF_U16, 256, "sum(u64(x0))") && plan_has(c, "sum(f32(x))", KRF_U16, 257, "sum(f32(x0))"));
    assert_true(plan_has(c, "sum(f32(x))", KRF_I16, 512, "sum(i64(x0))") && plan_has(c, "sum(f32(x))", KRF_I16, 513, "sum(f32(x0))"));
    assert_true(plan_has(c, "mean(f32(x))", KRF_BOOL, 1 << 24, "sum(i64(x0))") && plan_has(c, "mean(f32(x))", KRF_BOOL, (1 << 24) + 1, "sum(f32(x0))"));
    assert_true(plan_has(c, "sum(f64(x))", KRF_U16, INT64_C(1) << 30, "sum(u64(x0))"));
    assert_true(plan_has(c, "sum(f32(x)), sum(f32(x) * f32(x))", KRF_U8, 100, "sum(f32(x0))"));
}

/* No elements: nothing is added up. */
static void test_empty(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        int64_t total, n = 0;
        krf_array *x = numbers(all.run[r].context, KRF_U8, 1, &n, false, &total), *got = NULL;
        evaluate_text(&all.run[r], "sum(f32(x))", 1, (krf_binding[]){krf_bind_array("x", x)}, 1, &got);
        assert_true(collecting || number(got) == 0);
        krf_array_release(got);
        krf_array_release(x);
    }
}

/* Numbers that are no array's. */
static void test_numbers(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n && !passed_over(&all.run[r]); r++) {
        krf_array *got[2] = {NULL};
        int64_t sum = 0;
        int8_t largest = 0;
        evaluate_text(&all.run[r], "sum(i8(full(5000, 100))), max(i8(full(5000, -3)))", 0, NULL, 2, got);
        read_back(got[0], &sum, sizeof sum);
        read_back(got[1], &largest, sizeof largest);
        assert_true(collecting || (sum == 500000 && largest == -3));
        krf_array_release(got[0]);
        krf_array_release(got[1]);
    }
}

/* ---- products ---- */

enum { ROWS = 9 };

static int64_t factor(krf_dtype dtype, int64_t i, int which) {
    const int64_t span = highest(dtype) - lowest(dtype) + 1;
    return i % 5 == which ? lowest(dtype) : i % 5 == 2 ? highest(dtype) : lowest(dtype) + (i * (which == 0 ? 37 : 91)) % span;
}

/* Of integers without a sign products of negative bytes wrap: these are no small numbers. */
static void test_wrapped(void **unused) {
    enum { LENGTH = 4096 };
    static char x_data[LENGTH], y_data[LENGTH];
    const int64_t shape = LENGTH;
    (void)unused;
    for (int r = 0; r < all.n && !passed_over(&all.run[r]); r++) {
        krf_array *x = NULL, *y = NULL, *got[2] = {NULL};
        uint64_t want[2] = {0}, found[2] = {0};
        for (int i = 0; i < LENGTH; i++) {
            const int64_t a = factor(KRF_I8, i, 0), b = factor(KRF_U8, i, 1);
            put(x_data, i, whole_number(KRF_I8, a));
            put(y_data, i, whole_number(KRF_U8, b));
            want[0] += (uint32_t)a * (uint32_t)b;
            want[1] += (uint32_t)a * (uint32_t)a;
        }
        assert_int_equal(krf_array_from_host(all.run[r].context, KRF_I8, 1, &shape, x_data, &x), KRF_OK);
        assert_int_equal(krf_array_from_host(all.run[r].context, KRF_U8, 1, &shape, y_data, &y), KRF_OK);
        evaluate_text(&all.run[r], "sum(u32(x) * u32(y)), sum(u32(x) * u32(x))", 2, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", y)}, 2, got);
        for (int k = 0; k < 2; k++) {
            read_back(got[k], &found[k], sizeof found[k]);
            assert_true(collecting || found[k] == want[k]);
            krf_array_release(got[k]);
        }
        krf_array_release(y);
        krf_array_release(x);
    }
}

/* Of all elements, of rows, of rows with one that all share, and down columns, few and long ones too, of which a GPU takes four at once. */
static void check_products(const run *r, krf_dtype a, krf_dtype b, int64_t length) {
    static char x_data[ROWS * ROW], y_data[ROWS * ROW];
    static const char *const programs[] = {"sum(i32(x) * i32(y))", "sum(i32(x) * i32(y), axis=1)", "sum(i32(x) * i32(y[0]), axis=1)", "sum(i32(x) * i32(y), axis=0)", "sum(i32(x.reshape(-1, 64)) * i32(y.reshape(-1, 64)), axis=0)"};
    const int64_t shape[] = {ROWS, length};
    krf_array *x = NULL, *y = NULL;
    for (int64_t i = 0; i < ROWS * length; i++) {
        put(x_data, (int)i, whole_number(a, factor(a, i, 0)));
        put(y_data, (int)i, whole_number(b, factor(b, i, 1)));
    }
    assert_int_equal(krf_array_from_host(r->context, a, 2, shape, x_data, &x), KRF_OK);
    assert_int_equal(krf_array_from_host(r->context, b, 2, shape, y_data, &y), KRF_OK);
    for (int p = 0; p < (length % 64 == 0 ? 5 : 4); p++) {
        static int64_t found[ROW], want[ROW];
        const int64_t n = p == 0 ? 1 : p == 3 ? length : p == 4 ? 64 : ROWS;
        krf_array *got = NULL;
        evaluate_text(r, programs[p], 2, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", y)}, 1, &got);
        assert_int_equal(krf_array_dtype(got), KRF_I64);
        read_back(got, found, (size_t)n * sizeof *found);
        memset(want, 0, sizeof want);
        for (int64_t i = 0; i < ROWS * length; i++) {
            want[p == 0 ? 0 : p == 3 ? i % length : p == 4 ? i % 64 : i / length] += factor(a, i, 0) * factor(b, p == 2 ? i % length : i, 1);
        }
        for (int64_t i = 0; i < n; i++) {
            if (!collecting && found[i] != want[i]) {
                fail_msg("%s of %s and %s [%d, %" PRId64 "], %s: result %" PRId64 " is %" PRId64 ", not %" PRId64, programs[p], krf_dtype_name(a), krf_dtype_name(b), ROWS, length, r->label, i, found[i], want[i]);
            }
        }
        krf_array_release(got);
    }
    krf_array_release(y);
    krf_array_release(x);
}

static void test_products(void **unused) {
    static const krf_dtype pairs[][2] = {{KRF_I8, KRF_I8}, {KRF_U8, KRF_U8}, {KRF_U8, KRF_I8}, {KRF_I8, KRF_BOOL}};
    static const int64_t lengths[] = {4096, ROW};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t n = 0; n < 4 && !passed_over(&all.run[r]); n++) {
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
                check_products(&all.run[r], pairs[n][0], pairs[n][1], lengths[l]);
            }
        }
    }
}

int main(void) { return run_on(open_noted_runs(&all, false), TESTS(noted_test(test_sums), cmocka_unit_test(test_limits), noted_test(test_empty), noted_test(test_numbers), noted_test(test_products), noted_test(test_wrapped))); }
