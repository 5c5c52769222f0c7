/* Reductions down a few columns, of which a GPU takes as many rows together as come in whole words (src/pass/widen.c), where any order will do: of all sizes here (KRF_FUSION=widen=0). Rows left over, one row, several axes, arrays with gaps, several results, and what is computed of
 * the elements; against comparisons and sums of whole numbers. */
#include "ops/common.h"

enum { MOST = 70000, RESULTS = 3 };

static runs all;

typedef enum fold { SUM, LARGEST, LEAST, SOME, EVERY } fold;

/* ~ stands for the axes. `above`: of whether elements are more than 3. */
static const struct {
    const char *text;
    int n;
    struct {
        fold how;
        bool above;
    } results[RESULTS];
    bool whole; /* not of floats: the order decides */
} programs[] = {
    {"max(x, axis=~)", 1, {{LARGEST, false}}, false},
    {"sum(x, axis=~), min(x, axis=~)", 2, {{SUM, false}, {LEAST, false}}, true},
    {"any(x > 3, axis=~), all(x > 3, axis=~), sum(x > 3, axis=~)", 3, {{SOME, true}, {EVERY, true}, {SUM, true}}, false},
};

static int64_t element(krf_dtype dtype, int64_t i) {
    const int64_t low = dtype == KRF_BOOL || dtype == KRF_U8 || dtype == KRF_U16 ? 0 : -100, x = (i * 7919 + i / 251 * 13) % 211 + low;
    return dtype == KRF_BOOL ? i % 5 < 2 : dtype == KRF_U8 || dtype == KRF_I8 ? x % 127 : x;
}

static int64_t folded(fold how, int64_t a, int64_t b) {
    switch (how) {
    case SUM: return a + b;
    case LARGEST: return a > b ? a : b;
    case LEAST: return a < b ? a : b;
    case SOME: return a != 0 || b != 0;
    default: return a != 0 && b != 0;
    }
}

/* [rows, columns], or [2, rows, columns] by both first axes; `gap` elements lie between rows. */
static void check(const run *r, size_t p, krf_dtype dtype, int64_t rows, int64_t columns, bool two, int64_t gap) {
    static char data[8 * MOST];
    static int64_t want[MOST];
    const int64_t shape[] = {2, rows, columns}, strides[] = {rows * (columns + gap), columns + gap, 1}, n = (two ? 2 : 1) * rows;
    krf_array *memory = NULL, *x = NULL, *got[RESULTS] = {NULL};
    char text[160], *to = text;
    for (const char *from = programs[p].text; *from != '\0'; from++) {
        to += *from == '~' ? sprintf(to, "%s", two ? "(0, 1)" : "0") : sprintf(to, "%c", *from);
    }
    *to = '\0';
    assert_true(n * (columns + gap) <= MOST);
    for (int64_t i = 0; i < n * (columns + gap); i++) {
        put(data, (int)i, whole_number(dtype, element(dtype, i)));
    }
    assert_int_equal(krf_array_from_host(r->context, dtype, 1, &(int64_t){n * (columns + gap)}, data, &memory), KRF_OK);
    assert_int_equal(krf_array_view(memory, two ? 3 : 2, shape + !two, strides + !two, 0, &x), KRF_OK);
    evaluate_text(r, text, 1, (krf_binding[]){krf_bind_array("x", x)}, programs[p].n, got);
    for (int k = 0; k < programs[p].n; k++) {
        const krf_dtype gives = krf_array_dtype(got[k]);
        read_back(got[k], data, (size_t)columns * krf_dtype_size(gives));
        for (int64_t i = 0; i < n * columns; i++) {
            const int64_t at = element(dtype, i / columns * (columns + gap) + i % columns), of = programs[p].results[k].above ? at > 3 : at;
            want[i % columns] = i < columns ? of : folded(programs[p].results[k].how, want[i % columns], of);
        }
        for (int64_t c = 0; c < columns && !collecting; c++) {
            const value wanted = whole_number(gives, want[c]), found = get(data, gives, (int)c);
            char a[64], b[64];
            if (!same(found, wanted)) {
                fail_msg("%s of %s [%s%" PRId64 ", %" PRId64 "], gap %" PRId64 ", %s: result %d of column %" PRId64 " is %s, not %s", text, krf_dtype_name(dtype), two ? "2, " : "", rows, columns, gap, r->label, k, c, show(found, a, 64), show(wanted, b, 64));
            }
        }
        krf_array_release(got[k]);
    }
    krf_array_release(x);
    krf_array_release(memory);
}

static void test_columns(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_I8, KRF_BOOL, KRF_I16, KRF_F16, KRF_I32, KRF_F32, KRF_I64};
    static const int64_t columns[] = {2, 3, 5, 8, 9, 12, 17, 33, 40};
    static const int64_t rows[] = {1, 15, 16, 200, 777};
    int t = 0;
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t p = 0; p < sizeof programs / sizeof *programs && !passed_over(&all.run[r]); p++) {
            for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
                for (size_t c = 0; c < sizeof columns / sizeof *columns; c++, t++) {
                    const bool real = dtypes[d] == KRF_F16 || dtypes[d] == KRF_F32;
                    if ((!programs[p].whole || !real) && (dtypes[d] != KRF_BOOL || p == 0) && (c + d + p) % 3 == 0 && !(all.run[r].compiled && t % 8 != 0)) {
                        for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
                            check(&all.run[r], p, dtypes[d], rows[n], columns[c], t % 4 == 1, t % 5 == 2 ? 3 : 0);
                        }
                    }
                }
            }
        }
    }
}

/* NaN is the largest and the least wherever it stands; -0 is below +0. */
static void test_floats(void **unused) {
    enum { ROWS = 61, COLUMNS = 5 };
    static float x[ROWS * COLUMNS];
    const int64_t shape[] = {ROWS, COLUMNS};
    (void)unused;
    for (int r = 0; r < all.n && !passed_over(&all.run[r]); r++) {
        krf_array *of = NULL, *got[2] = {NULL};
        float largest[COLUMNS], least[COLUMNS];
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            x[i] = i % COLUMNS == 0 ? -0.0f : i % COLUMNS == 1 ? 0.0f : (float)(i * 37 % 101) - 50;
        }
        x[60 * COLUMNS] = 0.0f; /* the last row, which is left over */
        x[3 * COLUMNS + 1] = -0.0f;
        x[17 * COLUMNS + 2] = NAN;
        x[60 * COLUMNS + 3] = INFINITY;
        assert_int_equal(krf_array_from_host(all.run[r].context, KRF_F32, 2, shape, x, &of), KRF_OK);
        evaluate_text(&all.run[r], "max(x, axis=0), min(x, axis=0)", 1, (krf_binding[]){krf_bind_array("x", of)}, 2, got);
        read_back(got[0], largest, sizeof largest);
        read_back(got[1], least, sizeof least);
        if (!collecting) {
            assert_true(largest[0] == 0 && !signbit(largest[0]) && least[0] == 0 && signbit(least[0]));
            assert_true(largest[1] == 0 && !signbit(largest[1]) && least[1] == 0 && signbit(least[1]));
            assert_true(isnan(largest[2]) && isnan(least[2]));
            assert_true(isinf(largest[3]) && largest[3] > 0);
        }
        krf_array_release(got[0]);
        krf_array_release(got[1]);
        krf_array_release(of);
    }
}

static int kernels_of(const char *fusion, const char *text, krf_dtype dtype, int64_t rows, int64_t columns) {
    krf_context_options options = krf_context_options_default();
    krf_binding binding;
    krf_expr y[2];
    char *dump = NULL;
    size_t size = 0;
    int n = 0, kernels = 0;
    options.device = "cpu";
    options.fusion = fusion;
    krf_context *context = open_or_skip(&options);
    krf_graph *g = krf_graph_create(context);
    binding = krf_bind_expr("x", krf_placeholder(g, "x", dtype, 2, (const int64_t[]){rows, columns}));
    assert_int_equal(krf_parse_many(g, text, &binding, 1, 2, y, &n), KRF_OK);
    assert_int_equal(krf_dump(g, n, y, KRF_DUMP_PLAN, "cuda", NULL, &dump, &size), KRF_OK);
    for (const char *at = dump; (at = strstr(at, "\nkernel ")) != NULL; at++) {
        kernels++;
    }
    krf_free(dump);
    krf_graph_destroy(g);
    krf_context_destroy(context);
    return kernels;
}

/* Two kernels where columns are no whole words and the array is large, three with rows left over, one where the order decides or there is nothing to gain. */
static void test_kernels(void **unused) {
    (void)unused;
    assert_int_equal(kernels_of(NULL, "max(x, axis=0), sum(x, axis=0)", KRF_U8, 1 << 23, 5), 2);
    assert_int_equal(kernels_of(NULL, "sum(x, axis=0)", KRF_U8, (1 << 23) + 1, 5), 3);
    assert_int_equal(kernels_of(NULL, "max(x, axis=0)", KRF_U8, 1 << 21, 5), 2);
    assert_int_equal(kernels_of(NULL, "sum(x, axis=0)", KRF_U8, 1 << 21, 5), 1);
    assert_int_equal(kernels_of(NULL, "sum(x, axis=0)", KRF_U8, 1 << 23, 16), 1);
    assert_int_equal(kernels_of(NULL, "sum(x, axis=0)", KRF_U8, 1 << 24, 4), 1);
    assert_int_equal(kernels_of(NULL, "max(x, axis=0)", KRF_U8, 1 << 24, 4), 2);
    assert_int_equal(kernels_of(NULL, "sum(x, axis=0)", KRF_F32, 1 << 24, 7), 1);
    assert_int_equal(kernels_of(NULL, "max(x, axis=0)", KRF_F32, 1 << 24, 3), 1);
    assert_int_equal(kernels_of(NULL, "max(x, axis=0)", KRF_F32, 1 << 24, 7), 2);
    assert_int_equal(kernels_of("widen=0", "max(x, axis=0)", KRF_U8, 1 << 20, 4), 2);
    assert_int_equal(kernels_of("widen=0", "max(x, axis=0)", KRF_F64, 1 << 20, 5), 1);
    assert_int_equal(kernels_of("widen=0", "max(x, axis=1)", KRF_U8, 1 << 20, 5), 1);
    assert_int_equal(kernels_of("widen=0", "max(x)", KRF_U8, 1 << 20, 5), 1);
}

int main(void) {
    setenv("KRF_FUSION", "widen=0", 1);
    open_noted_runs(&all, false);
    unsetenv("KRF_FUSION");
    return run_on(&all, TESTS(noted_test(test_columns), noted_test(test_floats), cmocka_unit_test(test_kernels)));
}
