/* Maps in which only what is broadcast along rows is wide (krf__cached_vector of plan/vector.c), as masks of f32 x[:, None] < y[None, :] are: on a GPU a thread's vector is that of what is stored, and what comes from the
 * caches takes several accesses, "word[4]". Every width of both, rows of whole vectors and others, views, what streams beside it, long bodies, results in views and in place; against plain loops over whole numbers. */
#include "ops/common.h"

enum { BATCH = 3, ROWS = 5, LONGEST = 272, GAP = 16, MOST = BATCH * ROWS * (LONGEST + GAP) + GAP, OPERANDS = 7 };
enum { ALONE, IN_ROWS, IN_PLACE };
static runs all;

/* What belongs to an element: of x its row's, of y, w and m its column's, of z its own, of q its batch's; how often a long body repeats itself. */
typedef struct sample { int x, y, w, z, m, q, column, steps; } sample;
typedef int formula(const sample *s);
static int smaller_of(int a, int b) { return a < b ? a : b; }
static int less(const sample *s) { return s->x < s->y; }
static int distance(const sample *s) { return abs(s->x - s->y); }
static int difference(const sample *s) { return s->x - s->y; }
static int between(const sample *s) { return (s->x < s->y) & (s->w != s->x); }
static int chosen(const sample *s) { return s->x < s->y ? s->z : 7; }
static int lowest(const sample *s) { return smaller_of(s->z, abs(s->y)); }
static int masked(const sample *s) { return s->m ? s->z : abs(s->y); }
static int masked_less(const sample *s) { return s->m && s->y > s->x; }
static int placed(const sample *s) { return s->y < s->column - s->x; }
static int scaled(const sample *s) { return 2 * s->x < s->y; }
static int summed(const sample *s) { return s->y + s->z > s->x; }
static int batched(const sample *s) { return (s->x < s->y) ^ (s->q > 0); }
static int any_row(const sample *s) { return s->q > s->y; }
static int repeated(const sample *s) {
    int u = s->x - s->y;
    for (int k = 0; k < s->steps; k++) {
        u = smaller_of(abs(u - s->y), s->x + 100);
    }
    return u;
}
static int repeated_over(const sample *s) { return repeated(s) > 20; }

/* $ is a slice of y's columns, @ y's dtype, # the length of rows, ~ stands for the long body. */
typedef struct example {
    const char *program;
    formula *formula;
    krf_dtype gives;
    const char *x, *y; /* their axes */
    bool z;            /* beside them, and stored as it is */
    int rank, steps;
} example;
static const example examples[] = {
    {"x[:, None] < y[None, $]", less, KRF_BOOL, "n", "l", false, 2, 0},
    {"abs(x[:, None] - y[None, $]).astype(u8)", distance, KRF_U8, "n", "l", false, 2, 0},
    {"(x[:, None] - y[None, $]).astype(i8)", difference, KRF_I8, "n", "l", false, 2, 0},
    {"abs(x[:, None] - y[None, $]).astype(f16)", distance, KRF_F16, "n", "l", false, 2, 0},
    {"(x[:, None] - y[None, $]).astype(bf16)", difference, KRF_BF16, "n", "l", false, 2, 0},
    {"(x[:, None] < y[None, $]) & (w[None, :] != x[:, None].astype(i16))", between, KRF_BOOL, "n", "l", false, 2, 0},
    {"where(x[:, None] < y[None, $], z, 7)", chosen, KRF_U8, "n", "l", true, 2, 0},
    {"minimum(z.astype(f32), abs(y[None, $]).astype(f32)).astype(u8)", lowest, KRF_U8, "n", "l", true, 2, 0},
    {"where(m[None, :], z, abs(y[None, $]).astype(u8))", masked, KRF_U8, "n", "l", true, 2, 0},
    {"where(m[None, :], y[None, $] > x[:, None], False)", masked_less, KRF_BOOL, "n", "l", false, 2, 0},
    {"y[None, $] < arange(#).astype(@)[None, :] - x[:, None]", placed, KRF_BOOL, "n", "l", false, 2, 0},
    {"two.astype(@) * x[:, None] < y[None, $]", scaled, KRF_BOOL, "n", "l", false, 2, 0},
    {"y[None, $].astype(f64) + z > x[:, None].astype(f64)", summed, KRF_BOOL, "n", "l", true, 2, 0},
    {"(x[:, :, None] < y[:, None, $]) ^ (q[:, None, None] > 0)", batched, KRF_BOOL, "bn", "bl", false, 3, 0},
    {"(x[None, :, None] < y[:, None, $]) ^ (q[:, None, None] > 0)", batched, KRF_BOOL, "n", "bl", false, 3, 0},
    {"where(x[:, :, None] < y[None, None, $], z, 7)", chosen, KRF_U8, "bn", "l", true, 3, 0},
    {"(q[:, None, None] > y[None, None, $]) & (x[None, :, None] > -100)", any_row, KRF_BOOL, "n", "l", false, 3, 0},
    {"~u > 20", repeated_over, KRF_BOOL, "n", "l", false, 2, 11},
    {"~u > 20", repeated_over, KRF_BOOL, "n", "l", false, 2, 33},
    {"~u.astype(f32)", repeated, KRF_F32, "n", "l", false, 2, 33}, /* of f64 and i64 by twos that are taken in turn, from two accesses */
};

/* Views of y: from the first of its elements on, by steps. */
static const struct { const char *text; int first, step; } slices[] = {{":", 0, 1}, {"1:", 1, 1}, {"3:", 3, 1}, {"8:", 8, 1}, {"::2", 0, 2}, {"::-1", -1, -1}};

/* Whole vectors of 16, of 8, of 4 and of 2, and none. */
static const int lengths[] = {64, 48, 24, 40, 100, 36, 70, 37, 16, LONGEST};
static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_I32, KRF_I64, KRF_F16, KRF_BF16, KRF_I16};
enum { EXAMPLES = sizeof examples / sizeof *examples, SLICES = sizeof slices / sizeof *slices, LENGTHS = sizeof lengths / sizeof *lengths, WIDE = sizeof dtypes / sizeof *dtypes };
static int number(char operand, int b, int n, int l) {
    switch (operand) {
    case 'x': return (n * 37 + b * 11) % 120 - 60;
    case 'y': return (l * 7 + b * 31) % 120 - 60;
    case 'w': return (l * 11 + 5) % 90 - 45;
    case 'z': return (l * 3 + n * 41 + b * 17) % 200;
    case 'm': return l % 3 == 1;
    default: return operand == 'q' ? b * 13 - 10 : 2;
    }
}

/* With these axes; memory has so many elements before the first, and behind each row. */
static krf_array *make(krf_context *context, char operand, krf_dtype dtype, const char *axes, const int *extents, int64_t before, int64_t gap) {
    static char data[2 * MOST * 8];
    int64_t shape[3], strides[3], size = 1;
    const int rank = (int)strlen(axes);
    krf_array *base = NULL, *view = NULL;
    for (int d = rank - 1; d >= 0; d--) {
        shape[d] = extents[strchr("bnl", axes[d]) - "bnl"];
        strides[d] = size;
        size *= shape[d] + (d == rank - 1 ? gap : 0);
    }
    for (int64_t i = -before; i < size; i++) {
        int64_t at[3] = {0}, rest = i;
        for (int d = rank - 1; d >= 0 && i >= 0; d--) {
            at[strchr("bnl", axes[d]) - "bnl"] = rest % (shape[d] + (d == rank - 1 ? gap : 0));
            rest /= shape[d] + (d == rank - 1 ? gap : 0);
        }
        put(data, i + before, whole_number(dtype, i < 0 ? 77 : number(operand, (int)at[0], (int)at[1], (int)at[2])));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &(int64_t){size + before}, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, rank, shape, strides, before, &view), KRF_OK);
    krf_array_release(base);
    return view;
}

static void write_program(const example *e, const char *slice, krf_dtype dtype, int length, char *text) {
    for (const char *c = e->program; *c != '\0'; c++) {
        if (*c == '~') {
            text += sprintf(text, "u = x[:, None] - y[None, %s]\n", slice);
            for (int k = 0; k < e->steps; k++) {
                text += sprintf(text, "u = minimum(abs(u - y[None, %s]), x[:, None] + 100)\n", slice);
            }
            text += sprintf(text, "return ");
        } else {
            text += *c == '#' ? sprintf(text, "%d", length) : *c == '$' ? sprintf(text, "%s", slice) : *c == '@' ? sprintf(text, "%s", krf_dtype_name(dtype)) : sprintf(text, "%c", *c);
        }
    }
}

/* Accesses of 16 bytes for what a thread has of y: 16 bytes of what is stored, or as much as 64 of y are, and whole vectors of rows; of bodies of more than 32 operations half as much, of more than 64 what y alone has. */
static int wanted_words(const example *e, krf_dtype dtype, int length, int slice) {
    const int bytes = (int)bytes_of(dtype), least = 16 / bytes;
    const bool flat = e->z && length % 8 != 0; /* vectors go on over the ends of rows (plan/flat.c) */
    int vector = 16 / (int)bytes_of(e->gives);
    while (vector * bytes > 64 || length % vector != 0 || (vector > 8 && e->steps > 0) || (vector > 4 && e->steps > 20)) {
        vector /= 2;
    }
    const bool begins = slices[slice].step == 1 && slices[slice].first % least == 0;
    return begins && !flat && vector > least && length % least == 0 ? vector / least : 1;
}

static int found_words(const char *source) {
    int most = 1;
    for (const char *at = source != NULL ? strstr(source, "int w = 0; w < ") : NULL; at != NULL; at = strstr(at + 1, "int w = 0; w < ")) {
        most = atoi(at + 15) > most && strstr(source, ".word[w] = ") != NULL ? atoi(at + 15) : most;
    }
    return most;
}

/* The result lies by itself, or in rows with a gap behind each, from an element of memory on; or where z is. */
static void check(const run *r, const example *e, krf_dtype dtype, int rows, int length, int slice, int64_t before, int where, int64_t from, int gap) {
    static char data[2 * MOST * 8], text[4096];
    const char fill = e->gives == KRF_BOOL ? 1 : 77, behind[2] = {fill, fill};
    const int step = slices[slice].step, first = slices[slice].first < 0 ? length - 1 : slices[slice].first, batch = e->rank == 3 ? BATCH : 1;
    const int extents[3] = {batch, rows, length}, of_y[3] = {batch, rows, step < 0 ? length : first + (length - 1) * step + 1};
    const int64_t row = where == IN_ROWS ? length + gap : length, z_gap = where == ALONE ? gap : 0, size = from + batch * rows * row, shape[3] = {batch, rows, length}, strides[3] = {rows * row, row, 1};
    krf_context *context = r->context;
    krf_array *const operands[OPERANDS] = {make(context, 'x', dtype, e->x, extents, 0, 0), make(context, 'y', dtype, e->y, of_y, before, 0), make(context, 'w', KRF_I16, "l", extents, 0, 0),
                                           make(context, 'z', KRF_U8, e->rank == 3 ? "bnl" : "nl", extents, 0, z_gap), make(context, 'm', KRF_BOOL, "l", extents, 0, 0), make(context, 'q', KRF_I32, "b", extents, 0, 0), make(context, '2', KRF_I32, "", extents, 0, 0)};
    krf_binding bindings[OPERANDS];
    krf_array *got = NULL, *memory = NULL;
    krf_graph *g = krf_graph_create(context);
    krf_plan *plan = NULL;
    krf_expr result;
    for (int i = 0; i < OPERANDS; i++) {
        bindings[i] = krf_bind_array((const char *[]){"x", "y", "w", "z", "m", "q", "two"}[i], operands[i]);
    }
    memset(data, fill, sizeof data);
    if (where == IN_ROWS) {
        assert_int_equal(krf_array_from_host(context, e->gives, 1, &size, data, &memory), KRF_OK);
        assert_int_equal(krf_array_view(memory, e->rank, shape + 3 - e->rank, strides + 3 - e->rank, from, &got), KRF_OK);
    }
    got = where == IN_PLACE ? operands[3] : got;
    write_program(e, slices[slice].text, dtype, length, text);
    krf_status status = krf_parse(g, text, bindings, OPERANDS, &result);
    status = status == KRF_OK ? krf_compile(g, 1, &result, NULL, &plan) : status;
    status = status != KRF_OK ? status : where != ALONE ? krf_eval(result, &got) : krf_plan_run(plan, NULL, 0, NULL, &got);
    krf_kernel_info info = {.size = sizeof info};
    if (status != KRF_OK || krf_plan_kernels(plan) != 1) {
        fail_msg("%s, %s: %s", text, r->label, krf_error_message());
    }
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    const int words = all.cuda && (rows > 1 || (e->rank > 2 && strlen(e->y) == 1)) ? wanted_words(e, dtype, length, slice) : 1;
    if (info.source != NULL && (gap % GAP == 0 || where != ALONE || !e->z) && found_words(info.source) != words) {
        COMPLAIN("%s of %s, %s, %d x %d: the kernel should have words[%d], not [%d]", text, name_of(dtype), r->label, rows, length, words, found_words(info.source));
    }
    if (!collecting) {
        read_back(memory != NULL ? memory : got, data, (size_t)size * bytes_of(e->gives));
    }
    for (int64_t i = 0; i < size && !collecting; i++) {
        const int column = (int)((i - from) % row), n = (int)((i - from) / row % rows), b = (int)((i - from) / row / rows), of_x = strlen(e->x) > 1 ? b : 0, of_b = strlen(e->y) > 1 ? b : 0;
        const sample s = {number('x', of_x, n, 0), number('y', of_b, n, first + column * step), number('w', 0, 0, column), number('z', b, n, column), number('m', 0, 0, column), number('q', b, 0, 0), column, e->steps};
        const bool inside = i >= from && column < length;
        const value found = get(data, e->gives, i);
        const value want = inside ? whole_number(e->gives, e->formula(&s)) : get(behind, e->gives, 0);
        char a[64], c[64];
        if (!same(found, want)) {
            COMPLAIN("%s of %s, %s, %d x %d from %" PRId64 ", %d: element %" PRId64 " is %s, not %s", text, name_of(dtype), r->label, rows, length, before, where, i, show(found, a, 64), show(want, c, 64));
            break;
        }
    }
    krf_array_release(where == IN_PLACE ? NULL : got);
    krf_array_release(memory);
    for (int i = 0; i < OPERANDS; i++) {
        krf_array_release(operands[i]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

/* All lengths and views of masks, of every dtype; of the others each dtype with some, in turn; of one row, of which nothing comes again. Memory begins where vectors do, or not, of which a plan's kernel does not know. C is
 * compiled for some. */
static void test_masks(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int t = 0; t < EXAMPLES * WIDE * LENGTHS && !passed_over(&all.run[r]); t++) {
            const int k = t / WIDE / LENGTHS, d = t / LENGTHS % WIDE, l = t % LENGTHS, s = k == 0 ? (l < LENGTHS - SLICES ? 0 : l - LENGTHS + SLICES) : (l + d) % 3 == 0 ? (k + l) % SLICES : 0;
            if ((k == 0 || (l + d + k) % 4 == 0) && in_shard(t) && (!all.run[r].compiled || (l + d) % 8 == 0)) {
                check(&all.run[r], &examples[k], dtypes[d], k > 0 && t % 11 == 0 ? 1 : ROWS, lengths[k == 0 ? (l + d) % LENGTHS : l], s, (const int[]){0, 16, 0, 3}[(k + d + l) % 4], ALONE, 0, (const int[]){0, GAP, 4, 8}[t % 4]);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Nothing is written between rows, and a vector is read before it is written. */
static void test_results(void **unused) {
    static const int in_rows[] = {0, 1, 3, 6, 13, 15};
    (void)unused;
    for (int r = 0; r < all.n && !passed_over(&all.run[r]); r++) {
        for (int k = 0; k < 6; k++) {
            for (int l = 0; l < 6; l += all.run[r].compiled ? 4 : 1) {
                check(&all.run[r], &examples[in_rows[k]], dtypes[(k + l) % WIDE], ROWS, lengths[l], 0, 0, IN_ROWS, (const int[]){0, 16, 1}[(k + l) % 3], (const int[]){GAP, 4, 8, 3}[l % 4]);
            }
        }
        for (int l = 0; l < LENGTHS; l += all.run[r].compiled ? 4 : 1) {
            check(&all.run[r], &examples[6 + l % 3], dtypes[l % WIDE], ROWS, lengths[l], 0, 0, IN_PLACE, 0, 0);
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all, false), TESTS(noted_test(test_masks), noted_test(test_results))); }
