/* Results whose last axis has a few fields, which the CPU computes field by field from what all fields of a record share and stores together (pass/lower_records.c, plan/record.c, codegen/c_store.c): in all dtypes, from
 * and to memory of any layout; against plain loops over whole numbers. And what their fields round, against loops that round after each operation. */
#include "ops/common.h"

static runs all;

enum { RANK = 4, MOST_FIELDS = 9, TABLE = 40, BEFORE = 3, GUARD = 1 };

/* Of an element x, of what its record has (s, and its last element, where x is wider than the result), and of the field's weight. */
typedef int formula(int x, int s, int w, int last, int field);

static int product(int x, int s, int w, int last, int field) { return (void)w, (void)last, (void)field, x * s; }
static int by_last(int x, int s, int w, int last, int field) { return (void)w, (void)s, (void)field, x * last; }
static int weighted(int x, int s, int w, int last, int field) { return (void)x, (void)last, (void)field, (s + 1) * w; }
static int bit(int x, int s, int w, int last, int field) { return (void)x, (void)w, (void)last, s >> field & 1; }
static int more(int x, int s, int w, int last, int field) { return (void)w, (void)last, (void)field, s > x; }
static int chosen(int x, int s, int w, int last, int field) { return (void)last, field % 2 == 0 ? s + x : s * w; }
static int joined(int x, int s, int w, int last, int field) { return (void)w, (void)last, field == 0 ? x + s : x * s; }
static int found(int x, int s, int w, int last, int field);
static int found_for_it(int x, int s, int w, int last, int field);
static int plus(int x, int s, int w, int last, int field) { return (void)w, (void)last, (void)field, x + s; }

static const struct example {
    const char *program; /* @: the axes before the last one; F: fields; D: the dtype */
    formula *formula;
    int values;      /* numbers below this */
    krf_dtype given; /* ALL_DTYPES: the operands' */
    bool wide, whole_numbers;
    int least_bytes; /* of dtypes from which so many fields, not only two or three, are stored together; 0: one cannot say */
} examples[] = {
    {"x * s", product, 13, (krf_dtype)ALL_DTYPES, false, false, 0},
    {"x[@:F] * x[@F:]", by_last, 13, (krf_dtype)ALL_DTYPES, true, false, 2},
    {"(s + 1) * w", weighted, 11, (krf_dtype)ALL_DTYPES, false, false, 0},
    {"(s >> D(arange(F))) & 1", bit, 120, (krf_dtype)ALL_DTYPES, false, true, 1},
    {"s > x", more, 13, KRF_BOOL, false, false, 0},
    {"where(arange(F) % 2 == 0, s + x, s * w)", chosen, 13, (krf_dtype)ALL_DTYPES, false, false, 0},
    {"concatenate((x[@:1] + s, x[@1:] * s), axis=-1)", joined, 13, (krf_dtype)ALL_DTYPES, false, false, 0},
    {"x + take(t, i32(s), axis=0)", found, 13, (krf_dtype)ALL_DTYPES, false, false, 0},
    {"take(t, i32(s) + arange(F), axis=0) * s", found_for_it, 13, (krf_dtype)ALL_DTYPES, false, false, 0},
    {"f32(x[@:F]) * f32(x[@F:])", by_last, 13, KRF_F32, true, false, 0},
    {"f16(x) + f16(s)", plus, 13, KRF_F16, false, false, 0},
    {"bf16(x) * bf16(s)", product, 13, KRF_BF16, false, false, 0},
    {"u8(i32(x) + i32(s))", plus, 13, KRF_U8, false, false, 0},
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

static int number_at(int64_t i, int values) { return (int)((i * 7 + i / 31) % values); }
static int found(int x, int s, int w, int last, int field) { return (void)w, (void)last, (void)field, x + number_at(s, 11); }
static int found_for_it(int x, int s, int w, int last, int field) { return (void)x, (void)w, (void)last, number_at(s + field, 11) * s; }

/* ---- memory ---- */

typedef enum layout { PLAIN, GAPS, LONG_GAPS, STEPS, BACK_FIELDS, BACK_ALL, PLANES, LAYOUTS, ONE_FIELD = LAYOUTS, ONE_RECORD, IN_LAYOUTS } layout;

typedef struct memory {
    int64_t strides[RANK], offset, size; /* in elements; size: of all that it takes, and BEFORE on both sides */
} memory;

static memory lay(layout l, int rank, const int64_t *shape) {
    memory m = {.offset = BEFORE};
    int64_t size = l == STEPS ? 2 : 1;
    for (int n = 0; n < rank; n++) {
        const int d = l == PLANES ? (n == rank - 1 ? rank - 1 : rank - 2 - n) : rank - 1 - n;
        const bool back = l == BACK_ALL || (l == BACK_FIELDS && d == rank - 1), one = (l == ONE_FIELD && d == rank - 1) || (l == ONE_RECORD && d < rank - 1);
        m.strides[d] = one ? 0 : back ? -size : size;
        m.offset += back ? size * (shape[d] - 1) : 0;
        size = one ? size : size * shape[d] + (n == 0 ? (l == GAPS ? 1 : l == LONG_GAPS ? 5 : 0) : 0);
    }
    m.size = size + 2 * BEFORE;
    return m;
}

static int64_t place_of(const memory *m, int rank, const int64_t *index) {
    int64_t at = m->offset;
    for (int d = 0; d < rank; d++) {
        at += index[d] * m->strides[d];
    }
    return at;
}

static void next_index(int rank, const int64_t *shape, int64_t *index) {
    for (int d = rank - 1; d >= 0 && ++index[d] == shape[d]; d--) {
        index[d] = 0;
    }
}

static krf_array *view_of(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const memory *m, const void *data, krf_array **base) {
    krf_array *view = NULL;
    if (krf_array_from_host(context, dtype, 1, &m->size, data, base) != KRF_OK || krf_array_view(*base, rank, shape, m->strides, m->offset, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    return view;
}

static krf_array *numbers(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const memory *m, int values) {
    krf_array *base = NULL;
    char *data = malloc((size_t)m->size * 8);
    assert_non_null(data);
    for (int64_t i = 0; i < m->size; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = number_at(i, values)}, dtype));
    }
    krf_array *view = view_of(context, dtype, rank, shape, m, data, &base);
    krf_array_release(base);
    free(data);
    return view;
}

/* ---- one example ---- */

typedef struct trial {
    const struct example *example;
    const run *run;
    krf_dtype dtype, given;
    int fields, rank;
    int64_t shape[RANK]; /* of the result */
    layout in, out;
    char what[300];
    char *want; /* in C order */
} trial;

static void write_program(const trial *t, char *text) {
    for (const char *p = t->example->program; *p != '\0'; p++) {
        const bool word = p > t->example->program && ((p[-1] >= 'a' && p[-1] <= 'z') || (p[-1] >= '0' && p[-1] <= '9'));
        if (*p == '@') {
            for (int d = 1; d < t->rank; d++) {
                text += sprintf(text, ":, ");
            }
        } else if (!word && (*p == 'F' || *p == 'D')) {
            text += *p == 'F' ? sprintf(text, "%d", t->fields) : sprintf(text, "%s", krf_dtype_name(t->dtype));
        } else {
            *text++ = *p;
        }
    }
    *text = '\0';
}

static void compare(const trial *t, const char *got, const char *how) {
    int64_t size = 1;
    char a[64], b[64];
    for (int d = 0; d < t->rank; d++) {
        size *= t->shape[d];
    }
    for (int64_t i = 0; i < size && !collecting; i++) {
        const value found_there = get(got, t->given, i), wanted = get(t->want, t->given, i);
        if (!same(found_there, wanted)) {
            COMPLAIN("%s, %s: element %" PRId64 " is %s, not %s", t->what, how, i, show(found_there, a, sizeof a), show(wanted, b, sizeof b));
            return;
        }
    }
}

/* Into memory of the layout: nothing beside the result's elements changes. */
static void check_in_memory(const trial *t, krf_expr x) {
    const memory m = lay(t->out, t->rank, t->shape);
    const size_t bytes = bytes_of(t->given);
    char *data = malloc((size_t)m.size * bytes), *got = malloc((size_t)m.size * bytes);
    krf_array *base = NULL;
    int64_t index[RANK] = {0}, size = 1;
    assert_true(data != NULL && got != NULL);
    memset(data, GUARD, (size_t)m.size * bytes);
    krf_array *out = view_of(t->run->context, t->given, t->rank, t->shape, &m, data, &base);
    if (krf_eval(x, &out) != KRF_OK || krf_array_to_host(base, data, (size_t)m.size * bytes) != KRF_OK) {
        fail_msg("%s: %s", t->what, krf_error_message());
    }
    for (int d = 0; d < t->rank; d++) {
        size *= t->shape[d];
    }
    for (int64_t i = 0; i < size; i++, next_index(t->rank, t->shape, index)) {
        char *at = data + (size_t)place_of(&m, t->rank, index) * bytes;
        memcpy(got + (size_t)i * bytes, at, bytes);
        memset(at, GUARD, bytes);
    }
    for (size_t i = 0; i < (size_t)m.size * bytes && !collecting; i++) {
        if (data[i] != GUARD) {
            COMPLAIN("%s: byte %zu, which is of no element, was written", t->what, i);
            break;
        }
    }
    compare(t, got, "in memory");
    krf_array_release(out);
    krf_array_release(base);
    free(data);
    free(got);
}

/* The result over x, where it has its dtype and shape. */
static void check_over(const trial *t, krf_expr result, krf_array *x) {
    if (!t->example->wide && t->given == t->dtype && t->in < LAYOUTS) {
        if (krf_eval(result, &x) != KRF_OK) {
            fail_msg("%s, over x: %s", t->what, krf_error_message());
        }
        char *got = collecting ? NULL : to_host(x, t->given, t->rank, t->shape, t->what);
        if (got != NULL) {
            compare(t, got, "over x");
        }
        free(got);
    }
}

static bool stored_together(const trial *t) {
    const int f = t->fields, bytes = t->example->least_bytes;
    const bool few = (f == 2 || f == 3) && bytes == 2 && t->in == PLAIN;
    return bytes > 0 && t->run->compiled && t->shape[t->rank - 2] >= 32 && (few || ((f == 2 || f == 3 || f == 4 || f == 8) && (int)bytes_of(t->dtype) <= bytes));
}

static void try_it(trial *t) {
    const struct example *e = t->example;
    const int values = e->values;
    char text[200];
    const int64_t extra = e->wide ? 1 : 0, one[] = {TABLE}, field_shape[] = {t->fields};
    int64_t x_shape[RANK], s_shape[RANK], index[RANK] = {0}, size = 1;
    for (int d = 0; d < t->rank; d++) {
        x_shape[d] = t->shape[d] + (d == t->rank - 1 ? extra : 0);
        s_shape[d] = d == t->rank - 1 ? 1 : t->shape[d];
        size *= t->shape[d];
    }
    const memory x_memory = lay(t->in, t->rank, x_shape), s_memory = lay(t->in == STEPS ? STEPS : t->in == BACK_ALL ? BACK_ALL : PLAIN, t->rank, s_shape);
    const memory w_memory = lay(t->in == BACK_FIELDS ? BACK_ALL : PLAIN, 1, field_shape), t_memory = {.strides = {1}, .offset = 0, .size = TABLE};
    krf_context *context = t->run->context;
    krf_array *x = numbers(context, t->dtype, t->rank, x_shape, &x_memory, values), *s = numbers(context, t->dtype, t->rank, s_shape, &s_memory, values);
    krf_array *w = numbers(context, t->dtype, 1, field_shape, &w_memory, values), *table = numbers(context, t->dtype, 1, one, &t_memory, 11), *got = NULL;
    const krf_binding bindings[] = {krf_bind_array("x", x), krf_bind_array("s", s), krf_bind_array("w", w), krf_bind_array("t", table)};
    t->given = e->given == (krf_dtype)ALL_DTYPES ? t->dtype : e->given;
    t->want = malloc((size_t)size * 8);
    assert_non_null(t->want);
    for (int64_t i = 0; i < size; i++, next_index(t->rank, t->shape, index)) {
        int64_t first[RANK], last[RANK];
        memcpy(first, index, sizeof first);
        memcpy(last, index, sizeof last);
        first[t->rank - 1] = 0;
        last[t->rank - 1] = t->fields;
        const int field = (int)index[t->rank - 1];
        const int number = e->formula(number_at(place_of(&x_memory, t->rank, index), values), number_at(place_of(&s_memory, t->rank, first), values),
                                      number_at(w_memory.offset + field * w_memory.strides[0], values), e->wide ? number_at(place_of(&x_memory, t->rank, last), values) : 0, field);
        put(t->want, i, convert((value){.dtype = KRF_I64, .i = number}, t->given));
    }
    write_program(t, text);
    snprintf(t->what, sizeof t->what, "%s, %s, %s [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "], layouts %d and %d", t->run->label, text, krf_dtype_name(t->dtype), t->shape[0], t->shape[1], t->rank > 2 ? t->shape[2] : 0,
             t->rank > 3 ? t->shape[3] : 0, (int)t->in, (int)t->out);
    krf_graph *g = krf_graph_create(context);
    krf_plan *plan = NULL;
    krf_expr result;
    if (krf_parse(g, text, bindings, 4, &result) != KRF_OK || krf_compile(g, 1, &result, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, &got) != KRF_OK) {
        fail_msg("%s: %s", t->what, krf_error_message());
    }
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernels(plan), 1);
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    if (stored_together(t) && strstr(info.source, "all_out0[") == NULL) {
        COMPLAIN("%s: fields are not stored together", t->what);
    }
    char *data = collecting ? NULL : to_host(got, t->given, t->rank, t->shape, t->what);
    if (data != NULL) {
        compare(t, data, "allocated");
    }
    free(data);
    check_in_memory(t, result);
    check_over(t, result, x);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_array_release(got);
    krf_array_release(x);
    krf_array_release(s);
    krf_array_release(w);
    krf_array_release(table);
    free(t->want);
}

/* Every example, with each number of fields, and dtypes, layouts and shapes in turn. */
static void test_examples(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_BF16, KRF_F32, KRF_I8, KRF_F16, KRF_I32, KRF_F64}, whole[] = {KRF_U8, KRF_I8, KRF_I32, KRF_U16};
    static const int64_t lengths[] = {1, 31, 32, 33, 63, 64, 65, 127, 129, 1000};
    (void)unused;
    for (int k = 0, turn = 0; k < EXAMPLES; k++) {
        for (int fields = 2 - k % 2; fields <= MOST_FIELDS; fields++) {
            const bool special = fields == 2 || fields == 3 || fields == 4 || fields == 8;
            for (int again = 0; again < (special ? 2 : 1); again++, turn++) {
                trial t = {.example = &examples[k], .fields = fields, .in = (layout)((turn + turn / 9) % IN_LAYOUTS), .out = (layout)((turn * 3 + turn / 7) % LAYOUTS)};
                t.dtype = examples[k].whole_numbers ? whole[(fields + again) % 4] : dtypes[(fields + 2 * k + 3 * again) % 7];
                if (again == 1 || (fields == 1 && examples[k].formula == joined)) {
                    t.in = PLAIN;
                }
                for (int r = 0; r < all.n && in_shard(turn); r++) {
                    t.run = &all.run[r];
                    for (int n = 0; n < 10 && !passed_over(t.run) && !(fields == 1 && examples[k].formula == joined); n++) {
                        if ((n > 1 || turn % 4 == 0) && (n <= 2 || !collecting)) {
                            t.rank = 2;
                            memcpy(t.shape, (int64_t[]){lengths[n], fields, 0, 0}, sizeof t.shape);
                            try_it(&t);
                        }
                    }
                    for (int rank = 3; rank <= 4 && !passed_over(t.run) && special; rank++) {
                        t.rank = rank;
                        memcpy(t.shape, rank == 3 ? (int64_t[]){3, 40, fields, 0} : (int64_t[]){2, 3, 33, fields}, sizeof t.shape);
                        if ((turn + rank) % 3 == 0) {
                            try_it(&t);
                        }
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- what fields round ---- */

enum { RECORDS = 257, COLUMNS = 8 };

/* To the dtype after each operation; volatile, for what compilers do to results side by side is what this test is about. */
static double rounded(krf_dtype dtype, double x) {
    volatile double at = x;
    at = dtype == KRF_F64 ? at : dtype == KRF_F32 ? nearest_float(at) : round_to(dtype, (long double)nearest_float(at));
    return at;
}

static double times(krf_dtype d, double a, double b) { return rounded(d, a * b); }
static double added(krf_dtype d, double a, double b) { return rounded(d, a + b); }

/* Of a record, s and a field. */
typedef double rounding(krf_dtype d, const double *x, double s, int field);

static double plus_or_minus(krf_dtype d, const double *x, double s, int f) { return (void)s, added(d, times(d, x[f], x[2 + f]), f == 0 ? -x[4] : x[5]); }
static double of_both(krf_dtype d, const double *x, double s, int f) { return times(d, plus_or_minus(d, x, s, f), x[6 + f]); }
static double minus_or_plus(krf_dtype d, const double *x, double s, int f) { return (void)s, added(d, times(d, x[f], x[2 + f]), f == 0 ? x[4] : -x[5]); }
static double square_and(krf_dtype d, const double *x, double s, int f) { return (void)s, added(d, times(d, x[f], x[f]), f == 0 ? -x[4] : x[5]); }
static double in_four(krf_dtype d, const double *x, double s, int f) { return (void)s, times(d, added(d, times(d, x[f], x[4 + f]), f % 2 == 0 ? -x[7] : x[7]), x[f]); }
static double scaled(krf_dtype d, const double *x, double s, int f) { return added(d, times(d, times(d, x[f], s), s), x[7]); }
static double of_alpha(krf_dtype d, const double *x, double s, int f) { return (void)s, times(d, x[f], x[3]); }

static const struct {
    const char *program;
    rounding *rounding;
    int fields;
} roundings[] = {
    {"x[:, :2] * x[:, 2:4] + concatenate((-x[:, 4:5], x[:, 5:6]), axis=1)", plus_or_minus, 2},
    {"x[:, :2] * x[:, 2:4] + concatenate((x[:, 4:5], -x[:, 5:6]), axis=1)", minus_or_plus, 2},
    {"x[:, :2] * x[:, 2:4] - concatenate((x[:, 4:5], -x[:, 5:6]), axis=1)", plus_or_minus, 2},
    {"x[:, :2] * x[:, 2:4] + concatenate((x[:, 4:5] * -1, x[:, 5:6]), axis=1)", plus_or_minus, 2},
    {"x[:, :2] * x[:, 2:4] + concatenate((x[:, 4:5] / -1, x[:, 5:6]), axis=1)", plus_or_minus, 2},
    {"concatenate((x[:, :1] * x[:, 2:3] - x[:, 4:5], x[:, 1:2] * x[:, 3:4] + x[:, 5:6]), axis=1) * x[:, 6:]", of_both, 2},
    {"x[:, :2] ** 2 + concatenate((-x[:, 4:5], x[:, 5:6]), axis=1)", square_and, 2},
    {"concatenate((x[:, :1] * x[:, 4:5] - x[:, 7:], x[:, 1:2] * x[:, 5:6] + x[:, 7:], x[:, 2:3] * x[:, 6:7] - x[:, 7:], x[:, 3:4] * x[:, 7:] + x[:, 7:]), axis=1) * x[:, :4]", in_four, 4},
    {"x[:, :3] * s * s + x[:, 7:]", scaled, 3},
    {"x[:, :3] * x[:, 3:4]", of_alpha, 3},
};

static void test_rounding(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F64, KRF_F32, KRF_BF16, KRF_F16};
    static const int64_t shape[] = {RECORDS, COLUMNS}, s_shape[] = {RECORDS, 1};
    static char x[RECORDS * COLUMNS * 8], s[RECORDS * 8], got[RECORDS * 4 * 8];
    uint64_t seed = 1;
    (void)unused;
    for (int d = 0; d < 4; d++) {
        for (int i = 0; i < RECORDS * COLUMNS; i++) {
            put(x, i, convert((value){.dtype = KRF_F64, .f = random_unit(&seed) * 4 - 2}, dtypes[d]));
            put(s, i % RECORDS, convert((value){.dtype = KRF_F64, .f = random_unit(&seed) * 4 - 2}, dtypes[d]));
        }
        for (size_t k = 0; k < sizeof roundings / sizeof *roundings; k++) {
            for (int r = 0; r < all.n && in_shard(d * 16 + (int)k); r++) {
                if (passed_over(&all.run[r])) {
                    continue;
                }
                const int fields = roundings[k].fields;
                krf_array *in[2] = {NULL}, *out = NULL;
                krf_graph *g = krf_graph_create(all.run[r].context);
                krf_expr result;
                assert_int_equal(krf_array_from_host(all.run[r].context, dtypes[d], 2, shape, x, &in[0]), KRF_OK);
                assert_int_equal(krf_array_from_host(all.run[r].context, dtypes[d], 2, s_shape, s, &in[1]), KRF_OK);
                if (krf_parse(g, roundings[k].program, (krf_binding[]){krf_bind_array("x", in[0]), krf_bind_array("s", in[1])}, 2, &result) != KRF_OK || krf_eval(result, &out) != KRF_OK) {
                    fail_msg("%s: %s", roundings[k].program, krf_error_message());
                }
                assert_int_equal(krf_array_to_host(out, got, (size_t)(RECORDS * fields) * bytes_of(dtypes[d])), KRF_OK);
                for (int i = 0; i < RECORDS * fields && !collecting; i++) {
                    double record[COLUMNS];
                    char a[64], b[64];
                    for (int c = 0; c < COLUMNS; c++) {
                        record[c] = get(x, dtypes[d], i / fields * COLUMNS + c).f;
                    }
                    const value wanted = {.dtype = dtypes[d], .f = roundings[k].rounding(dtypes[d], record, get(s, dtypes[d], i / fields).f, i % fields)}, there = get(got, dtypes[d], i);
                    if (!same(there, wanted)) {
                        COMPLAIN("%s, %s: element %d is %s, not %s", roundings[k].program, all.run[r].label, i, show(there, a, sizeof a), show(wanted, b, sizeof b));
                        break;
                    }
                }
                krf_graph_destroy(g);
                krf_array_release(in[0]);
                krf_array_release(in[1]);
                krf_array_release(out);
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    setenv("KRF_FUSION", "narrow_from=0", 1); /* rows of fewer than 64 records are short, however few they are */
    open_noted_runs(&all, false);
    return run_on(&all, TESTS(noted_test(test_examples), noted_test(test_rounding)));
}
