/* Maps of bytes alone, which a GPU takes four at once (codegen/cuda_byte4.c), and the largest and smallest of their columns (codegen/cuda_bytes.c): all pairs of integers of 8 bits and of bools, with whole words and some bytes behind them, beside numbers and single elements that go to all four; against
 * arithmetic on int. */
#include "ops/common.h"

enum { PAIRS = 256 * 256, FEW = PAIRS - 253 * 256 - 3 }; /* some whole vectors, and 13 bytes more */

static runs all;

typedef int formula(int x, int y, int z);

static int sum(int x, int y, int z) { return (void)z, x + y; }
static int difference(int x, int y, int z) { return (void)z, x - y; }
static int opposite(int x, int y, int z) { return (void)y, (void)z, -x; }
static int magnitude(int x, int y, int z) { return (void)y, (void)z, x < 0 ? -x : x; }
static int both(int x, int y, int z) { return (void)z, x & y; }
static int either(int x, int y, int z) { return (void)z, x | y; }
static int one_of(int x, int y, int z) { return (void)z, x ^ y; }
static int not_these(int x, int y, int z) { return (void)y, (void)z, ~x; }
static int not_this(int x, int y, int z) { return (void)y, (void)z, !x; }
static int smaller(int x, int y, int z) { return (void)z, x < y ? x : y; }
static int larger(int x, int y, int z) { return (void)z, x > y ? x : y; }
static int is(int x, int y, int z) { return (void)z, x == y; }
static int is_not(int x, int y, int z) { return (void)z, x != y; }
static int below(int x, int y, int z) { return (void)z, x < y; }
static int above(int x, int y, int z) { return (void)z, x > y; }
static int not_above(int x, int y, int z) { return (void)z, x <= y; }
static int not_below(int x, int y, int z) { return (void)z, x >= y; }
static int chosen(int x, int y, int z) { return (void)z, x < y ? y : x - 3; }
static int chosen_bool(int x, int y, int z) { return (void)z, x != y ? y : !x; }
static int there(int x, int y, int z) { return (void)y, (void)z, x != 0; }
static int counted(int x, int y, int z) { return (void)z, x + (x < y) + (x == 7); }
static int beside(int x, int y, int z) { return (x < z ? x : z) + y; }
static int next_to(int x, int y, int z) { return (void)y, (void)z, x; }

enum { INTEGERS = 1, SIGNED = 2, BOOLS = 4 };

/* What it gives: the operands' dtype, or bools. */
static const struct {
    const char *program;
    formula *formula;
    int of;
    bool bools;
} cases[] = {
    {"x + y", sum, INTEGERS, false},
    {"x - y", difference, INTEGERS, false},
    {"-x + 0 * y", opposite, SIGNED, false},
    {"abs(x) | (y & 0)", magnitude, SIGNED, false},
    {"x & y", both, INTEGERS | BOOLS, false},
    {"x | y", either, INTEGERS | BOOLS, false},
    {"x ^ y", one_of, INTEGERS | BOOLS, false},
    {"~x", not_these, INTEGERS, false},
    {"~x", not_this, BOOLS, false},
    {"minimum(x, y)", smaller, INTEGERS | BOOLS, false},
    {"maximum(x, y)", larger, INTEGERS | BOOLS, false},
    {"x == y", is, INTEGERS | BOOLS, true},
    {"x != y", is_not, INTEGERS | BOOLS, true},
    {"x < y", below, INTEGERS | BOOLS, true},
    {"x > y", above, INTEGERS | BOOLS, true},
    {"x <= y", not_above, INTEGERS | BOOLS, true},
    {"x >= y", not_below, INTEGERS | BOOLS, true},
    {"where(x < y, y, x - 3)", chosen, INTEGERS, false},
    {"where(x ^ y, y, ~x)", chosen_bool, BOOLS, false},
    {"x.astype(bool)", there, INTEGERS, true},
    {"x + (x < y) + (x == 7)", counted, INTEGERS, false},
    {"minimum(x, z) + y", beside, INTEGERS, false},
    {"minimum(x, z[:, None]) + y", beside, INTEGERS, false},
    {"roll(roll(x, 5), -5)", next_to, INTEGERS, false},
};

/* Values that follow one another, each `times` times. */
static krf_array *bytes(krf_context *context, krf_dtype dtype, int n, int times) {
    static char data[PAIRS];
    const int values = dtype == KRF_BOOL ? 2 : 256, lowest = dtype == KRF_I8 ? -128 : 0;
    krf_array *a = NULL;
    for (int i = 0; i < n; i++) {
        put(data, i, whole_number(dtype, lowest + i / times % values));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &(int64_t){n}, data, &a), KRF_OK);
    return a;
}

static void check(size_t c, const run *r, krf_dtype dtype, int n) {
    static char data[PAIRS];
    const int values = dtype == KRF_BOOL ? 2 : 256, lowest = dtype == KRF_I8 ? -128 : 0, z = 17;
    krf_context *context = r->context;
    krf_array *x = bytes(context, dtype, n, 1), *y = bytes(context, dtype, n, values), *single = NULL, *got = NULL;
    char a[64], b[64];
    put(data, 0, whole_number(dtype, z));
    assert_int_equal(krf_array_from_host(context, dtype, 1, &(int64_t){1}, data, &single), KRF_OK);
    evaluate_text(r, cases[c].program, 3, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", y), krf_bind_array("z", single)}, 1, &got);
    const krf_dtype gives = cases[c].bools ? KRF_BOOL : dtype;
    assert_int_equal(krf_array_dtype(got), gives);
    read_back(got, data, (size_t)n);
    for (int i = 0; i < n; i++) {
        const int of_x = lowest + i % values, of_y = lowest + i / values % values;
        const value want = whole_number(gives, cases[c].formula(of_x, of_y, z)), found = get(data, gives, i);
        if (!same(found, want)) {
            fail_msg("%s of %s, %d, %s: element %d is %s, not %s", cases[c].program, krf_dtype_name(dtype), n, r->label, i, show(found, a, 64), show(want, b, 64));
        }
    }
    krf_array_release(got);
    krf_array_release(single);
    krf_array_release(y);
    krf_array_release(x);
}

static void test_pairs(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_I8, KRF_BOOL};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            for (size_t d = 0; d < 3; d++) {
                const int of = dtypes[d] == KRF_BOOL ? BOOLS : dtypes[d] == KRF_I8 ? INTEGERS | SIGNED : INTEGERS;
                if ((cases[c].of & of) != 0) {
                    check(c, &all.run[r], dtypes[d], PAIRS);
                    check(c, &all.run[r], dtypes[d], FEW);
                }
            }
        }
    }
}

/* ---- columns ---- */

enum { MOST_BYTES = 320000, MOST_COLUMNS = 1000, RESULTS = 2 };

/* Of bools some columns have one that is unlike the others, at another place each, some none. */
static int element(krf_dtype dtype, int rows, int row, int column) {
    const bool odd = row == column * 7 % rows && column % 4 < 2;
    return dtype == KRF_BOOL ? odd != (column % 2 == 0) : (row * 89 + column * 57 + row * column) % (column % 5 == 0 ? 256 : 100) - (dtype == KRF_I8 ? 128 : 0);
}

/* The smallest and the largest of each column. */
static void check_columns(const run *r, krf_dtype dtype, int rows, int columns) {
    static char data[MOST_BYTES];
    static int64_t wanted[RESULTS][MOST_COLUMNS];
    static const char *const programs[2][RESULTS] = {{"min(x, axis=0)", "max(x, axis=0)"}, {"all(x, axis=0)", "any(x, axis=0)"}};
    krf_array *x = NULL, *got[RESULTS] = {NULL};
    for (int i = 0; i < rows * columns; i++) {
        const int of = element(dtype, rows, i / columns, i % columns), c = i % columns;
        put(data, i, whole_number(dtype, of));
        wanted[0][c] = i < columns || of < wanted[0][c] ? of : wanted[0][c];
        wanted[1][c] = i < columns || of > wanted[1][c] ? of : wanted[1][c];
    }
    assert_int_equal(krf_array_from_host(r->context, dtype, 2, (const int64_t[]){rows, columns}, data, &x), KRF_OK);
    for (int k = 0; k < RESULTS; k++) { /* each by itself: of two a thread has fewer columns, and takes them one by one */
        evaluate_text(r, programs[dtype == KRF_BOOL][k], 1, (krf_binding[]){krf_bind_array("x", x)}, 1, &got[k]);
        const krf_dtype gives = krf_array_dtype(got[k]);
        char a[64], b[64];
        read_back(got[k], data, (size_t)columns * krf_dtype_size(gives));
        for (int c = 0; c < columns; c++) {
            const value want = whole_number(gives, wanted[k][c]), found = get(data, gives, c);
            if (!same(found, want)) {
                fail_msg("%s [%d, %d], %s: result %d of column %d is %s, not %s", krf_dtype_name(dtype), rows, columns, r->label, k, c, show(found, a, 64), show(want, b, 64));
            }
        }
        krf_array_release(got[k]);
    }
    krf_array_release(x);
}

/* Whole vectors of columns, some more, and vectors that begin anywhere; of several chunks, and with rows left over. */
static void test_columns(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_I8, KRF_BOOL};
    static const int shapes[][2] = {{1, 16}, {37, 48}, {300, 128}, {301, 1000}, {2000, 16}, {5000, 64}, {70, 33}, {129, 272}, {3000, 8}};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (size_t d = 0; d < 3; d++) {
                check_columns(&all.run[r], dtypes[d], shapes[s][0], shapes[s][1]);
            }
        }
    }
}

/* Threads of a GPU take rows of eight as words: results do not tell. */
static void test_rows_of_eight(void **unused) {
    (void)unused;
    krf_graph *g = krf_graph_create(all.run[0].context);
    const krf_expr most = krf_max(krf_placeholder(g, "x", KRF_U8, 2, (int64_t[]){3000, 8}), 1, (int[]){0}, false);
    char *text = NULL;
    size_t bytes = 0;
    assert_int_equal(krf_dump(g, 1, &most, KRF_DUMP_SOURCE, "cuda", NULL, &text, &bytes), KRF_OK);
    assert_non_null(strstr(text, "unsigned four[2]"));
    assert_null(strstr(text, "start * n0 + (")); /* not by stretches of rows */
    krf_free(text);
    krf_graph_destroy(g);
}

int main(void) { return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_pairs), cmocka_unit_test(test_columns), cmocka_unit_test(test_rows_of_eight))); }
