/* Maps over rows that vectors of memory do not end with (plan/flat.c, and the shorter vectors of plan/vector.c): beside x, which lies as the domain does, weights of columns, of rows and of planes, places, masks and
 * other dtypes; against plain loops over whole numbers. On a GPU the kernel's text says whether vectors go on over the ends of rows. */
#include "ops/common.h"

static runs all;

/* An element of x, and what belongs to its column, row and plane. */
typedef int formula(int x, int column, int row, int plane, int at);

static int by_column(int x, int column, int row, int plane, int at) { return (void)row, (void)plane, (void)at, x + column; }
static int by_row(int x, int column, int row, int plane, int at) { return (void)column, (void)plane, (void)at, x + row; }
static int by_all(int x, int column, int row, int plane, int at) { return (void)at, x + column + row + plane; }
static int by_place(int x, int column, int row, int plane, int at) { return (void)column, (void)plane, x + row + at % 50; }
static int chosen(int x, int column, int row, int plane, int at) { return (void)at, (void)plane, column % 2 == 1 ? x : row; }
static int compared(int x, int column, int row, int plane, int at) { return (void)row, (void)plane, (void)at, x > 2 * column; }
static int two_of_it(int x, int column, int row, int plane, int at) { return (void)row, (void)plane, (void)at, x + x + column; }

static const struct {
    const char *program;
    formula *formula;
    bool bools; /* what it gives */
    int planes, columns, last; /* of x that are left out before the first; of columns, behind the last */
} cases[] = {
    {"x + g", by_column, false, 0, 0, 0},
    {"x + h[:, None]", by_row, false, 0, 0, 0},
    {"x + g + h[:, None] + q[:, None, None]", by_all, false, 0, 0, 0},
    {"x + h[:, None] + AS(arange(COLUMNS) % 50)", by_place, false, 0, 0, 0},
    {"where(g % 2 == 1, x, h[:, None])", chosen, false, 0, 0, 0},
    {"x > g * 2", compared, true, 0, 0, 0},
    {"x + g + x", two_of_it, false, 0, 0, 0},
    {"x[1:] + g", by_column, false, 1, 0, 0}, /* from the border of a vector on, or not */
    {"x[:, :, 1:] + g[1:]", by_column, false, 0, 1, 0},
    {"x[:, :, :-1] + g[:-1]", by_column, false, 0, 0, 1},
};

/* Planes, rows and columns: fewer elements than a vector has, whole vectors and some elements more, rows of two or four elements, of a multiple of eight, and of sixteen. */
static const int shapes[][3] = {{1, 2, 3}, {2, 5, 25}, {3, 7, 9}, {2, 9, 12}, {1, 40, 2}, {2, 30, 4}, {3, 11, 101}, {2, 3, 1002}, {5, 8, 24}, {2, 6, 32}};

enum { MOST = 2 * 9 * 1100 };

static krf_array *numbers(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, int modulus, int step, int64_t before) {
    static char data[(MOST + 64) * 8];
    int64_t size = before, strides[3], stride = 1;
    krf_array *base = NULL, *view = NULL;
    for (int i = 0, n = 1; i < rank; i++) {
        size += i == rank - 1 ? n * shape[i] : 0;
        n *= (int)shape[i];
    }
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape[i];
    }
    for (int64_t i = 0; i < size; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = i < before ? 77 : (i - before) * step % modulus}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, rank, shape, strides, before, &view), KRF_OK);
    krf_array_release(base);
    return view;
}

static void write_program(const char *program, const char *dtype, int columns, char *text) {
    for (; *program != 0; program++) {
        if (strncmp(program, "AS", 2) == 0) {
            text += sprintf(text, "%s", dtype);
            program++;
        } else if (strncmp(program, "COLUMNS", 7) == 0) {
            text += sprintf(text, "%d", columns);
            program += 6;
        } else {
            *text++ = *program;
        }
    }
    *text = 0;
}

/* What plan/flat.c is for: one or two bytes an element, and rows of which vectors of eight do not go along. If x lies as the domain does it begins with a vector of memory, or its rows have some vectors. Halves a step apart, as single columns are, are as fast without. Arrays that begin elsewhere
 * have another kernel, which a plan does not show. */
static bool is_flat(size_t k, krf_dtype dtype, const int *shape) {
    const int bytes = (int)krf_dtype_size(dtype), columns = shape[2] - cases[k].columns - cases[k].last;
    const bool apart = columns < shape[2], begins = cases[k].planes * shape[1] * shape[2] % (16 / bytes) == 0, long_rows = columns >= 4 * 16 / bytes;
    return bytes <= 2 && (apart ? columns % (16 / bytes) != 0 && (bytes == 1 || columns > 1) : columns % 8 != 0 && (begins || long_rows)) && shape[0] > cases[k].planes;
}

static void check(size_t k, const run *r, krf_dtype dtype, const int *shape, int64_t before) {
    const int64_t extents[3] = {shape[0], shape[1], shape[2]};
    krf_array *x = numbers(r->context, dtype, 3, extents, 61, 7, before), *g = numbers(r->context, dtype, 1, extents + 2, 19, 5, 0), *h = numbers(r->context, dtype, 1, extents + 1, 17, 3, 0),
              *q = numbers(r->context, dtype, 1, extents, 13, 6, 0), *got = NULL;
    const krf_binding bindings[] = {krf_bind_array("x", x), krf_bind_array("g", g), krf_bind_array("h", h), krf_bind_array("q", q)};
    krf_graph *graph = krf_graph_create(r->context);
    krf_plan *plan = NULL;
    krf_expr result;
    char text[200], a[64], b[64];
    static char data[MOST * 8];
    write_program(cases[k].program, krf_dtype_name(dtype), shape[2], text);
    krf_status status = krf_parse(graph, text, bindings, 4, &result);
    status = status == KRF_OK ? krf_compile(graph, 1, &result, NULL, &plan) : status;
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 0, NULL, &got) : status;
    if (status != KRF_OK) {
        fail_msg("%s, %s: %s", text, r->label, krf_error_message());
    }
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernels(plan), shape[0] > cases[k].planes);
    if (krf_plan_kernels(plan) > 0) {
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    }
    if (all.cuda && info.source != NULL && (strstr(info.source, " place = i + k <") != NULL) != is_flat(k, dtype, shape)) {
        fail_msg("%s, %s, [%d, %d, %d], from %" PRId64 ": the kernel should%s go on over the ends of rows", text, krf_dtype_name(dtype), shape[0], shape[1], shape[2], before, is_flat(k, dtype, shape) ? "" : " not");
    }
    const krf_dtype given = cases[k].bools ? KRF_BOOL : dtype;
    const int columns = shape[2] - cases[k].columns - cases[k].last, n = (shape[0] - cases[k].planes) * shape[1] * columns;
    assert_int_equal(krf_array_to_host(got, data, (size_t)n * krf_dtype_size(given)), KRF_OK);
    for (int i = 0; i < n; i++) {
        const int column = i % columns + cases[k].columns, row = i / columns % shape[1], plane = i / columns / shape[1] + cases[k].planes;
        const int number = cases[k].formula(((plane * shape[1] + row) * shape[2] + column) * 7 % 61, column * 5 % 19, row * 3 % 17, plane * 6 % 13, column);
        const value want = convert((value){.dtype = KRF_I64, .i = number}, given), found = get(data, given, i);
        if (!same(found, want)) {
            fail_msg("%s, %s, %s, [%d, %d, %d], from %" PRId64 ": element %d is %s, not %s", text, r->label, krf_dtype_name(dtype), shape[0], shape[1], shape[2], before, i, show(found, a, 64), show(want, b, 64));
        }
    }
    krf_array_release(got);
    krf_plan_release(plan);
    krf_graph_destroy(graph);
    krf_array_release(x);
    krf_array_release(g);
    krf_array_release(h);
    krf_array_release(q);
}

static void test_rows(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_BF16, KRF_I8, KRF_F16, KRF_I16, KRF_F32};
    static const int64_t befores[] = {0, 16, 3};
    (void)unused;
    int turn = 0;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                const size_t d = (k + s + s / 6) % 6, from = (k + 2 * s) % 3;
                if (in_shard(turn++)) {
                    check(k, &all.run[r], dtypes[d], shapes[s], befores[from]);
                    check(k, &all.run[r], dtypes[(d + 1) % 2], shapes[s], 0);
                }
            }
        }
    }
}

/* Nothing is written behind the last element, which is no vector's last. */
static void test_ends(void **unused) {
    static const int64_t shape[] = {9, 25}, strides[] = {25, 1}, size = 9 * 25 + 16;
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        krf_array *x = numbers(all.run[r].context, KRF_U8, 2, shape, 61, 7, 0), *g = numbers(all.run[r].context, KRF_U8, 1, shape + 1, 19, 5, 0), *memory = NULL, *out = NULL;
        krf_graph *graph = krf_graph_create(all.run[r].context);
        unsigned char data[9 * 25 + 16];
        memset(data, 77, sizeof data);
        assert_int_equal(krf_array_from_host(all.run[r].context, KRF_U8, 1, &size, data, &memory), KRF_OK);
        assert_int_equal(krf_array_view(memory, 2, shape, strides, 0, &out), KRF_OK);
        assert_int_equal(krf_eval(krf_add(krf_input(graph, x), krf_input(graph, g)), &out), KRF_OK);
        assert_int_equal(krf_array_to_host(memory, data, sizeof data), KRF_OK);
        for (int i = 0; i < (int)size; i++) {
            assert_int_equal(data[i], i < 9 * 25 ? i * 7 % 61 + i % 25 * 5 % 19 : 77);
        }
        krf_graph_destroy(graph);
        krf_array_release(x);
        krf_array_release(g);
        krf_array_release(out);
        krf_array_release(memory);
    }
}

/* Rows of 24 bytes that do not lie in memory are stored by vectors of 8. */
static void test_short_vectors(void **unused) {
    static const int64_t rows = 40, columns = 24;
    (void)unused;
    for (int r = 0; r < all.n && all.cuda; r++) {
        krf_array *h = numbers(all.run[r].context, KRF_U8, 1, &rows, 61, 7, 0), *g = numbers(all.run[r].context, KRF_U8, 1, &columns, 19, 5, 0), *got = NULL;
        krf_graph *graph = krf_graph_create(all.run[r].context);
        krf_plan *plan = NULL;
        krf_expr result;
        unsigned char data[40 * 24];
        krf_kernel_info info = {.size = sizeof info};
        assert_int_equal(krf_parse(graph, "h[:, None] + g", (krf_binding[]){krf_bind_array("h", h), krf_bind_array("g", g)}, 2, &result), KRF_OK);
        assert_int_equal(krf_compile(graph, 1, &result, NULL, &plan), KRF_OK);
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        assert_non_null(strstr(info.source, "__stcs((uint2 *)"));
        assert_int_equal(krf_plan_run(plan, NULL, 0, NULL, &got), KRF_OK);
        assert_int_equal(krf_array_to_host(got, data, sizeof data), KRF_OK);
        for (int i = 0; i < 40 * 24; i++) {
            assert_int_equal(data[i], i / 24 * 7 % 61 + i % 24 * 5 % 19);
        }
        krf_plan_release(plan);
        krf_graph_destroy(graph);
        krf_array_release(h);
        krf_array_release(g);
        krf_array_release(got);
    }
}

/* The result where x is: a vector is read before it is written. */
static void test_in_place(void **unused) {
    static const int64_t shape[] = {2, 9, 25};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        krf_array *x = numbers(all.run[r].context, KRF_U8, 3, shape, 61, 7, 0), *g = numbers(all.run[r].context, KRF_U8, 1, shape + 2, 19, 5, 0), *out = x;
        krf_graph *graph = krf_graph_create(all.run[r].context);
        unsigned char data[2 * 9 * 25];
        assert_int_equal(krf_eval(krf_add(krf_input(graph, x), krf_input(graph, g)), &out), KRF_OK);
        assert_int_equal(krf_array_to_host(out, data, sizeof data), KRF_OK);
        for (int i = 0; i < 2 * 9 * 25; i++) {
            assert_int_equal(data[i], i * 7 % 61 + i % 25 * 5 % 19);
        }
        krf_graph_destroy(graph);
        krf_array_release(x);
        krf_array_release(g);
    }
}

int main(void) {
    return run_on(open_runs(&all, false),
                  TESTS(cmocka_unit_test(test_rows), cmocka_unit_test(test_ends), cmocka_unit_test(test_short_vectors), cmocka_unit_test(test_in_place)));
}
