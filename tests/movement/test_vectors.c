/* What a GPU gathers of whole vectors of memory (plan/runs.c): rows joined, padded, rolled and cut by multiples of a vector, and by others, of every size of element; against plain loops over the places. */
#include "ops/common.h"

enum { LINES = 3, COLUMNS = 64, NOTHING = -1, JOINED = 1000 };

static runs all;

/* The place of the element, in x, or in y from JOINED on; NOTHING: the number 5. */
typedef int place(int line, int column, int *from_line);

static int joined(int line, int column, int *from_line) { return *from_line = line, column < COLUMNS ? column : JOINED + column - COLUMNS; }
static int joined_three(int line, int column, int *from_line) { return *from_line = line, column < 16 ? column : column < 16 + COLUMNS ? JOINED + column - 16 : column - COLUMNS; }
static int joined_by_fours(int line, int column, int *from_line) { return *from_line = line, column < 20 ? column : JOINED + column - 20; }
static int joined_odd(int line, int column, int *from_line) { return *from_line = line, column < 13 ? column : JOINED + column - 13; }
static int turned(int line, int column, int *from_line) { return *from_line = line, column < 32 ? JOINED + 32 + column : column - 32; }
static int padded(int line, int column, int *from_line) { return *from_line = line, column < 16 || column >= 16 + COLUMNS ? NOTHING : column - 16; }
static int padded_lines(int line, int column, int *from_line) { return *from_line = line - 1, line < 1 || line > LINES || column < 16 || column >= 16 + COLUMNS ? NOTHING : column - 16; }
static int padded_odd(int line, int column, int *from_line) { return *from_line = line, column < 3 || column >= 3 + COLUMNS ? NOTHING : column - 3; }
static int edges(int line, int column, int *from_line) { return *from_line = line, column < 16 ? 0 : column >= 16 + COLUMNS ? COLUMNS - 1 : column - 16; }
static int rolled(int line, int column, int *from_line) { return *from_line = line, (column + COLUMNS - 16) % COLUMNS; }
static int rolled_odd(int line, int column, int *from_line) { return *from_line = line, (column + COLUMNS - 7) % COLUMNS; }
static int rolled_one(int line, int column, int *from_line) { return *from_line = line + 1, (column + 61 - 7) % 61; }
static int rolled_last(int line, int column, int *from_line) { return *from_line = line + 2, 3 + (column + 60) % 61; }
static int rolled_few(int line, int column, int *from_line) { return *from_line = line + 1, (column + 5) % 11; }
static int between_edges(int line, int column, int *from_line) { return *from_line = line, column < 1 ? 0 : column - 1; }
static int rolled_both(int line, int column, int *from_line) { return *from_line = (line + 1) % LINES, (column + COLUMNS - 32) % COLUMNS; }
static int cut(int line, int column, int *from_line) { return *from_line = line, column + 16 < COLUMNS ? column + 16 : JOINED + column + 16 - COLUMNS; }
static int stepped(int line, int column, int *from_line) { return *from_line = line, 2 * column < COLUMNS ? 2 * column : JOINED + 2 * column - COLUMNS; }
static int lines_taken(int line, int column, int *from_line) { return *from_line = 2 * line % LINES, column; }
static int lines_cut(int line, int column, int *from_line) { return *from_line = 2 * line % LINES, column + 16; }
static int lines_cut_odd(int line, int column, int *from_line) { return *from_line = 2 * line % LINES, column + 3; }
static int kept_inside(int line, int column, int *from_line) { return *from_line = line, column < 16 ? 0 : column - 16 < COLUMNS - 1 ? column - 16 : COLUMNS - 1; }

static const struct {
    const char *program;
    int lines, columns;
    place *place;
} cases[] = {
    {"concatenate((x, y), axis=1)", LINES, 2 * COLUMNS, joined},
    {"concatenate((x[:, :16], y, x[:, 16:]), axis=1)", LINES, 2 * COLUMNS, joined_three},
    {"concatenate((x[:, :20], y[:, :44]), axis=1)", LINES, COLUMNS, joined_by_fours},
    {"concatenate((x[:, :13], y[:, :35]), axis=1)", LINES, 48, joined_odd},
    {"concatenate((y[:, 32:], x[:, :32]), axis=1)", LINES, COLUMNS, turned},
    {"pad(x, ((0, 0), (16, 32)), 'constant', constant_values=5)", LINES, COLUMNS + 48, padded},
    {"pad(x, ((1, 1), (16, 16)), 'constant', constant_values=5)", LINES + 2, COLUMNS + 32, padded_lines},
    {"pad(x, ((0, 0), (3, 13)), 'constant', constant_values=5)", LINES, COLUMNS + 16, padded_odd},
    {"pad(x, ((0, 0), (16, 16)), 'edge')", LINES, COLUMNS + 32, edges},
    {"roll(x, 16, axis=1)", LINES, COLUMNS, rolled},
    {"roll(x, 7, axis=1)", LINES, COLUMNS, rolled_odd},
    {"roll(x[1, :61], 7)[None, :]", 1, 61, rolled_one},
    {"roll(x[2, 3:], 1)[None, :]", 1, 61, rolled_last},
    {"roll(x, 7, axis=1).astype(u8)", LINES, COLUMNS, rolled_odd},
    {"roll(x[1, :11], -5)[None, :]", 1, 11, rolled_few},
    {"where(x < 121, roll(x, 7, axis=1), roll(x, -5, axis=1))", LINES, COLUMNS, rolled_odd},
    {"where(x < 121, pad(x, ((0, 0), (1, 1)), 'edge')[:, :-2], pad(x, ((0, 0), (1, 1)), 'edge')[:, 2:])", LINES, COLUMNS, between_edges},
    {"where(x < 121, roll(x, 7, axis=1), roll(x, 16, axis=1))", LINES, COLUMNS, rolled_odd},
    {"x + roll(x, 7, axis=1) - x", LINES, COLUMNS, rolled_odd},
    {"concatenate((x, y), axis=1) + concatenate((y, x), axis=1) - concatenate((y, x), axis=1)", LINES, 2 * COLUMNS, joined},
    {"where(roll(x, 3, axis=1) < 121, x + roll(x, 7, axis=1) - x, x)", LINES, COLUMNS, rolled_odd},
    {"roll(x, (-1, 32), axis=(0, 1))", LINES, COLUMNS, rolled_both},
    {"concatenate((x, y), axis=1)[:, 16:80]", LINES, COLUMNS, cut},
    {"concatenate((x, y), axis=1)[:, ::2]", LINES, COLUMNS, stepped},
    {"take(x, arange(6) * 2 % 3, axis=0)", 6, COLUMNS, lines_taken},
    {"take(x, arange(6) * 2 % 3, axis=0)[:, 16:]", 6, COLUMNS - 16, lines_cut},
    {"take(x, arange(6) * 2 % 3, axis=0)[:, 3:35]", 6, 32, lines_cut_odd},
    {"take(x, minimum(maximum(arange(96) - 16, 0), 63), axis=1)", LINES, 96, kept_inside},
};

/* Arrays in C order, and of lines that lie further apart: by whole vectors, and not. */
static const int64_t gaps[] = {0, 16, 5};

static krf_array *rows(krf_context *context, krf_dtype dtype, int64_t gap, int first) {
    const int64_t size = LINES * (COLUMNS + gap), strides[2] = {COLUMNS + gap, 1}, shape[2] = {LINES, COLUMNS};
    char data[LINES * (COLUMNS + 16) * 16];
    krf_array *base = NULL, *view = NULL;
    for (int64_t i = 0; i < size; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = (first + i / strides[0] * COLUMNS + i % strides[0]) % 120}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, 2, shape, strides, 0, &view), KRF_OK);
    krf_array_release(base);
    return view;
}

static void check(const char *program, const char *label, krf_array *got, int lines, int columns, place *of) {
    const krf_dtype dtype = krf_array_dtype(got);
    char data[8 * 2 * COLUMNS * 16], a[64], b[64];
    assert_int_equal(krf_array_shape(got)[0], lines);
    assert_int_equal(krf_array_shape(got)[1], columns);
    assert_int_equal(krf_array_to_host(got, data, (size_t)(lines * columns) * krf_dtype_size(dtype)), KRF_OK);
    for (int i = 0; i < lines * columns; i++) {
        int line = 0;
        const int from = of(i / columns, i % columns, &line), first = from >= JOINED ? 60 : 0;
        const value want = convert((value){.dtype = KRF_I64, .i = from == NOTHING ? 5 : (first + line * COLUMNS + from % JOINED) % 120}, dtype), found = get(data, dtype, i);
        if (!same(found, want)) {
            fail_msg("%s, %s, %s: element %d is %s, not %s", program, label, krf_dtype_name(dtype), i, show(found, a, 64), show(want, b, 64));
        }
    }
}

static void test_places(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_F16, KRF_BF16, KRF_I16, KRF_F32, KRF_I64, KRF_F64};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        krf_context *context = all.run[r].context;
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
                const size_t gap = (k + d) % 3;
                krf_array *x = rows(context, dtypes[d], gaps[gap], 0), *y = rows(context, dtypes[d], gaps[gap], 60), *got = NULL;
                krf_graph *g = krf_graph_create(context);
                krf_expr result;
                if ((all.run[r].compiled && (k + d) % 4 != 0) || !in_shard((int)(k + d))) {
                    krf_array_release(x);
                    krf_array_release(y);
                    krf_graph_destroy(g);
                    continue; /* compilers take a while */
                }
                krf_status status = krf_parse(g, cases[k].program, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", y)}, 2, &result);
                status = status == KRF_OK ? krf_eval(result, &got) : status;
                if (status != KRF_OK) {
                    fail_msg("%s, %s: %s", cases[k].program, all.run[r].label, krf_error_message());
                }
                check(cases[k].program, all.run[r].label, got, cases[k].lines, cases[k].columns, cases[k].place);
                krf_array_release(got);
                krf_array_release(x);
                krf_array_release(y);
                krf_graph_destroy(g);
            }
        }
    }
}

int main(void) { return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_places))); }
