/* Maps of all pairs of records (plan/strip.c): what each operand has along one dimension only may lie apart in memory, as fields do. Against formulas of whole numbers; on a GPU the kernel's text says how many elements
 * a thread stores at once. KRF_TEST_DEVICE. */
#include "ops/common.h"

static runs all;

enum { MOST = 70 * 140, FIELDS = 3 };

/* p and q: records; r, b: a row of p and q. */
typedef int formula(const int (*p)[FIELDS], const int (*q)[FIELDS], int rows, int columns, int r, int c);

static int square(int v) { return v * v; }
static int distance(const int (*p)[FIELDS], const int (*q)[FIELDS], int rows, int columns, int r, int c) {
    return (void)rows, (void)columns, square(p[r][0] - q[c][0]) + square(p[r][1] - q[c][1]) + square(p[r][2] - q[c][2]);
}
static int backwards(const int (*p)[FIELDS], const int (*q)[FIELDS], int rows, int columns, int r, int c) { return (void)rows, p[r][1] * q[columns - 1 - c][2] + q[c][0]; }
static int beside(const int (*p)[FIELDS], const int (*q)[FIELDS], int rows, int columns, int r, int c) { return (void)rows, (void)columns, p[r][0] * q[c][1] + p[r][2]; }
static int beside_other(const int (*p)[FIELDS], const int (*q)[FIELDS], int rows, int columns, int r, int c) { return (void)rows, (void)columns, p[r][2] - q[c][1] * q[c][2]; }
static int with_line(const int (*p)[FIELDS], const int (*q)[FIELDS], int rows, int columns, int r, int c) { return (void)rows, (void)columns, p[r][0] * q[c][0] + p[r][1] * q[c][2] + c % 5; }

static int with_line_back(const int (*p)[FIELDS], const int (*q)[FIELDS], int rows, int columns, int r, int c) { return (void)rows, p[r][0] * q[c][0] + (columns - 1 - c) % 5; }

static const struct {
    const char *program;
    formula *of[2];
    int results;
} cases[] = {
    {"(p[:, None, 0] - q[None, :, 0])**2 + (p[:, None, 1] - q[None, :, 1])**2 + (p[:, None, 2] - q[None, :, 2])**2", {distance, NULL}, 1},
    {"p[:, None, 1] * q[None, ::-1, 2] + q[None, :, 0]", {backwards, NULL}, 1},
    {"return p[:, None, 0] * q[None, :, 1] + p[:, None, 2], p[:, None, 2] - q[None, :, 1] * q[None, :, 2]", {beside, beside_other}, 2},
    {"p[:, None, 0] * q[None, :, 0] + p[:, None, 1] * q[None, :, 2] + line", {with_line, NULL}, 1},
    {"p[:, None, 0] * q[None, :, 0] + line[::-1]", {with_line_back, NULL}, 1},
};

static const int shapes[][2] = {{32, 64}, {33, 68}, {70, 140}, {37, 66}, {40, 65}, {64, 32}, {3, 40}, {33, 136}};

static void fill(int (*x)[FIELDS], int n, int step) {
    for (int i = 0; i < n * FIELDS; i++) {
        x[i / FIELDS][i % FIELDS] = i * step % 7 - 3;
    }
}

static krf_array *upload(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const int *numbers) {
    char data[140 * FIELDS * 8];
    const int64_t n = rank == 2 ? shape[0] * shape[1] : shape[0];
    krf_array *array = NULL;
    for (int64_t i = 0; i < n; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = numbers[i]}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, rank, shape, data, &array), KRF_OK);
    return array;
}

/* The largest vectors of 16 bytes whose multiple a row is; of two elements at least. */
static int vector_of(krf_dtype dtype, int columns) {
    int v = 16 / (int)krf_dtype_size(dtype);
    while (v > 1 && columns % v != 0) {
        v /= 2;
    }
    return v;
}

static void check(size_t k, const run *r, krf_dtype dtype, int rows, int columns) {
    static int p[140][FIELDS], q[140][FIELDS], line[140];
    static char data[MOST * 8];
    const int64_t of_p[] = {rows, FIELDS}, of_q[] = {columns, FIELDS};
    fill(p, rows, 3);
    fill(q, columns, 5);
    for (int i = 0; i < columns; i++) {
        line[i] = i % 5;
    }
    krf_array *arrays[] = {upload(r->context, dtype, 2, of_p, &p[0][0]), upload(r->context, dtype, 2, of_q, &q[0][0]), upload(r->context, dtype, 1, of_q, line)}, *got[2] = {NULL};
    const krf_binding bindings[] = {krf_bind_array("p", arrays[0]), krf_bind_array("q", arrays[1]), krf_bind_array("line", arrays[2])};
    krf_graph *graph = krf_graph_create(r->context);
    krf_plan *plan = NULL;
    krf_expr results[2];
    krf_kernel_info info = {.size = sizeof info};
    char a[64], b[64];
    int count = 0;
    krf_status status = krf_parse_many(graph, cases[k].program, bindings, 3, 2, results, &count);
    status = status == KRF_OK ? krf_compile(graph, cases[k].results, results, NULL, &plan) : status;
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 0, NULL, got) : status;
    if (status != KRF_OK) {
        fail_msg("%s, %s: %s", cases[k].program, r->label, krf_error_message());
    }
    assert_int_equal(krf_plan_kernels(plan), 1);
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    if (all.cuda && info.source != NULL && rows >= 32 && columns >= 32 && vector_of(dtype, columns) > 1 && krf_dtype_size(dtype) >= 4 && strstr(info.source, "*)at_out0 = v_out0.word;") == NULL) {
        fail_msg("%s, %s, [%d, %d]: threads should store several elements at once", cases[k].program, krf_dtype_name(dtype), rows, columns);
    }
    for (int n = 0; n < cases[k].results; n++) {
        assert_int_equal(krf_array_to_host(got[n], data, (size_t)rows * (size_t)columns * krf_dtype_size(dtype)), KRF_OK);
        for (int i = 0; i < rows * columns; i++) {
            const int number = cases[k].of[n]((const int(*)[FIELDS])p, (const int(*)[FIELDS])q, rows, columns, i / columns, i % columns);
            const value want = convert((value){.dtype = KRF_I64, .i = number}, dtype), found = get(data, dtype, i);
            if (!same(found, want)) {
                fail_msg("%s, %s, %s, [%d, %d], result %d: element %d is %s, not %s", cases[k].program, r->label, krf_dtype_name(dtype), rows, columns, n, i, show(found, a, 64), show(want, b, 64));
            }
        }
        krf_array_release(got[n]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(graph);
    for (int i = 0; i < 3; i++) {
        krf_array_release(arrays[i]);
    }
}

static void test_pairs(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_I64, KRF_I8, KRF_F64, KRF_BF16, KRF_I16, KRF_I32};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                const krf_dtype dtype = dtypes[(k * 3 + s) % (sizeof dtypes / sizeof *dtypes)];
                check(k, &all.run[r], KRF_F32, shapes[s][0], shapes[s][1]);
                if (dtype != KRF_F32) {
                    check(k, &all.run[r], dtype, shapes[s][0], shapes[s][1]);
                }
            }
        }
    }
}

int main(void) { return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_pairs))); }
