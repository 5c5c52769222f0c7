/* Maps of short rows, of which the CPU computes once what is the same in all rows (codegen/c_period.c): weights, places and functions of them, beside operands of any layout; against plain loops over whole numbers. */
#include "ops/common.h"

static runs all;

enum { MOST_ROWS = 400, LONGEST = 63 };

/* Of an element, its column's weights, its row's number and its column. */
typedef int formula(int x, int w, int h, int column);

static int sum(int x, int w, int h, int column) { return (void)h, (void)column, x + w; }
static int square(int x, int w, int h, int column) { return (void)h, (void)column, x + w * w; }
static int place(int x, int w, int h, int column) { return (void)h, (void)w, x + column; }
static int place_of_it(int x, int w, int h, int column) { return (void)h, x + column % 5 * w; }
static int chosen(int x, int w, int h, int column) { return (void)column, w > 2 ? x + h : w * w; }
static int scaled(int x, int w, int h, int column) { return (void)column, (void)h, x + w * 3 + 3; }
static int root(int x, int w, int h, int column) { return (void)column, (void)h, x + w; }
static int without(int x, int w, int h, int column) { return (void)x, (void)column, w * w + h; }
static int compared(int x, int w, int h, int column) { return (void)h, x > w + column % 3; }

static const struct example {
    const char *program; /* E: the length of rows; D: the dtype; p: 3 */
    formula *formula;
    int kind; /* 0: any dtype, 1: floats, 2: bools are given */
    bool period; /* something is computed once, in any dtype */
} examples[] = {
    {"x + w", sum, 0, false},
    {"x + w * w", square, 0, true},
    {"x + D(arange(E))", place, 0, true},
    {"x + D(arange(E) % 5) * w", place_of_it, 0, true},
    {"where(w > 2, x + h, w * w)", chosen, 0, true},
    {"x + (w + 1) * p", scaled, 0, true},
    {"x + sqrt(w * w)", root, 1, true},
    {"sqrt(x * x) + sqrt(w * w)", root, 1, true},
    {"sqrt(x * x) + D(arange(E))", place, 1, false},
    {"w * w + h", without, 0, true},
    {"x > w + D(arange(E) % 3)", compared, 2, true},
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

static int number_at(int64_t i, int values) { return (int)((i * 7 + i / 31) % values); }

typedef struct operand {
    krf_array *array;
    int64_t offset, strides[3];
    int values;
} operand;

/* Of the strides that are given, from an offset on. */
static operand make(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const int64_t *strides, int64_t offset, int values) {
    operand o = {.offset = offset, .values = values};
    static char data[(MOST_ROWS + 1) * (LONGEST + 8) * 2 * 8];
    const int64_t size = (int64_t)sizeof data / 8;
    krf_array *base = NULL;
    memcpy(o.strides, strides, (size_t)rank * sizeof *strides);
    for (int64_t i = 0; i < size; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = number_at(i, values)}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, rank, shape, strides, offset, &o.array), KRF_OK);
    krf_array_release(base);
    return o;
}

static int element(const operand *o, int rank, const int64_t *index) {
    int64_t at = o->offset;
    for (int d = 0; d < rank; d++) {
        at += index[d] * o->strides[d];
    }
    return number_at(at, o->values);
}

static void write_program(const char *program, int length, krf_dtype dtype, char *text) {
    for (; *program != '\0'; program++) {
        if (*program == 'E' || *program == 'D') {
            text += *program == 'E' ? sprintf(text, "%d", length) : sprintf(text, "%s", krf_dtype_name(dtype));
        } else {
            *text++ = *program;
        }
    }
    *text = '\0';
}

/* Rows of x with a gap, backwards, or neither; weights with steps, backwards, or neither. A second evaluation has another scalar. */
static void check(const struct example *e, const run *r, krf_dtype dtype, int64_t planes, int64_t rows, int64_t length, int layout) {
    const int64_t shape[] = {planes, rows, length}, h_shape[] = {rows, 1}, row = length + (layout == 1 ? 3 : 0), step = layout == 2 ? 2 : layout == 3 ? -1 : 1;
    const int64_t x_strides[] = {rows * row, row, layout == 2 ? -1 : 1}, h_strides[] = {1, 1};
    operand x = make(r->context, dtype, 3, shape, x_strides, layout == 2 ? length + 2 : layout, 13), h = make(r->context, dtype, 2, h_shape, h_strides, layout, 11);
    operand w = make(r->context, dtype, 1, shape + 2, &step, step < 0 ? length + 1 : layout, 7);
    const krf_dtype given = e->kind == 2 ? KRF_BOOL : dtype;
    const int64_t size = planes * rows * length;
    char text[100], what[200], a[64], b[64];
    krf_graph *g = krf_graph_create(r->context);
    krf_expr result;
    krf_plan *plan = NULL;
    write_program(e->program, (int)length, dtype, text);
    snprintf(what, sizeof what, "%s, %s, %s [%d, %d, %d], layout %d", r->label, text, krf_dtype_name(dtype), (int)planes, (int)rows, (int)length, layout);
    const krf_binding bindings[] = {krf_bind_array("x", x.array), krf_bind_array("w", w.array), krf_bind_array("h", h.array), krf_bind_expr("p", krf_placeholder_weak(g, "p", KRF_I64))};
    if (krf_parse(g, text, bindings, 4, &result) != KRF_OK || krf_compile(g, 1, &result, NULL, &plan) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernels(plan), 1);
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    if (e->period && r->compiled && rows * planes > 1 && length > 8 && strstr(info.source, "period") == NULL) {
        COMPLAIN("%s: nothing is computed once", what);
    }
    for (int p = 3; p < (strchr(e->program, 'p') != NULL ? 5 : 4); p++) {
        krf_array *got = NULL;
        int64_t index[3];
        const krf_binding scalar = krf_bind_int("p", p);
        const bool scales = strchr(e->program, 'p') != NULL;
        if (krf_plan_run(plan, NULL, 1, &scalar, &got) != KRF_OK) {
            fail_msg("%s: %s", what, krf_error_message());
        }
        char *data = collecting ? NULL : to_host(got, given, planes > 0 && e->formula == without ? 2 : 3, e->formula == without ? shape + 1 : shape, what);
        for (int64_t i = 0; i < (e->formula == without ? rows * length : size) && data != NULL; i++) {
            index[0] = i / (rows * length);
            index[1] = i / length % rows;
            index[2] = i % length;
            const int64_t of_row[] = {index[1], 0};
            const int weight = element(&w, 1, index + 2);
            const int number = e->formula(element(&x, 3, index), weight, element(&h, 2, of_row), (int)index[2]) + (scales ? (p - 3) * (weight + 1) : 0);
            const value wanted = convert((value){.dtype = KRF_I64, .i = number}, given), found = get(data, given, i);
            if (!same(found, wanted)) {
                COMPLAIN("%s, p = %d: element %" PRId64 " is %s, not %s", what, p, i, show(found, a, sizeof a), show(wanted, b, sizeof b));
                break;
            }
        }
        free(data);
        krf_array_release(got);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_array_release(x.array);
    krf_array_release(w.array);
    krf_array_release(h.array);
}

static void test_rows(void **unused) {
    static const krf_dtype any[] = {KRF_BF16, KRF_F32, KRF_U8, KRF_F16, KRF_I32, KRF_F64, KRF_I8}, floats[] = {KRF_F16, KRF_F32, KRF_BF16, KRF_F64};
    static const int64_t lengths[] = {9, 63, 17, 32, 33, 48, 10}, shapes[][2] = {{1, 200}, {3, 41}, {2, 2}, {1, 1}, {1, 64}, {2, 133}};
    (void)unused;
    int turn = 0;
    for (int r = 0; r < all.n; r++) {
        for (int k = 0; k < EXAMPLES && !passed_over(&all.run[r]); k++) {
            for (int n = 0; n < 7; n++, turn++) {
                for (int s = 0; s < 6 && in_shard(n + k); s++) {
                    check(&examples[k], &all.run[r], examples[k].kind == 1 ? floats[(n + k) % 4] : any[(n + k) % 7], shapes[s][0], shapes[s][1], lengths[(n + s) % 7], (n + s / 2) % 4);
                }
                for (int length = 1; length <= 8 && n == 0 && in_shard(k); length++) {
                    check(&examples[k], &all.run[r], examples[k].kind == 1 ? floats[(length + k) % 4] : any[(length + k) % 7], 1, 50, length, length % 4);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    setenv("KRF_FUSION", "narrow_from=0", 1); /* rows are short, however few they are */
    open_noted_runs(&all, false);
    return run_on(&all, TESTS(noted_test(test_rows)));
}
