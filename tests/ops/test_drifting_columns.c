/* Reductions down columns on a GPU whose rows begin anywhere within a word of memory, of which threads take the words as they lie (src/plan/column_drift.c, codegen/cuda_column_drift.c): widths around those of vectors and of
 * blocks, lengths around the borders of lanes and chunks, more chunks than blocks, fewer rows than threads under each other, views, rows so far apart that they begin in every place of a word, arrays that begin within one,
 * several operands that begin alike or do not, of rows, of columns and of places, results that are computed on, folds of users whose operands have their sides, and sums whose elements are copied by words. Against the
 * canonical tree of tree.h over elements that are made here; whatever is no element, before, between and behind rows, is so large that no result with it is the same, or no number. And which kernels are of this kind, and
 * that they have room in shared memory. KRF_TEST_DEVICE. */
#include "ops/columns.h"

#include "helpers.h"

enum { MOST_COLUMNS = 320, SHORT_COLUMN = 128, SHARED_MEMORY = 48 << 10, DRIFTS = 1, OTHER = 0, EITHER = -1 };

static const char drifting_text[] = "int beside;"; /* only kernels of this kind have */
static runs all;
static const run *short_run; /* a GPU's that has such kernels of few rows too, which otherwise lie beside one another */

enum { SCALED = OTHERS, WIDE_SUM, WIDE_PRODUCT };

static double by_column(const series *s, int64_t i) { return fit(s, s->x[i] * s->c); }
static double tripled(const series *s, int64_t i) { return fit(s, paired(s, i) + s->c); }
static double chosen(const series *s, int64_t i) { return s->y[i] != 0 ? s->x[i] : 0; }
static double two_of_three(const series *s, int64_t i) { return (i + s->j) % 3 > 0 ? s->x[i] : 0; }
static double quotient(const series *s, int64_t i) { return floor(s->x[i] / (double)(s->j + 1)); }

static value result_of(const series *s, int op, step *of) {
    const series exact = {s->x, s->y, s->w, s->c, s->n, s->j, KRF_F64};
    switch (op) {
    case MEAN_TWICE: return number(mean_twice(s));
    case VARIANCE: return number(variance(s));
    case FIRST_OF_MOST: return number(first_of(s, 1));
    case FIRST_OF_LEAST: return number(first_of(s, -1));
    case LATEST: return number(folded(s, op).m);
    case PATH: return number(folded(s, op).b);
    case SCALED: return number(fit(s, fit(s, fit(s, reduced(s, SUM, of).f) * s->c) + s->c));
    case WIDE_SUM: return reduced(&exact, SUM, of);
    case WIDE_PRODUCT: return reduced(&exact, PROD, of);
    default: return reduced(s, op, of);
    }
}

/* ---- programs ---- */

/* # stands for the rows, @ for the columns; d is x in f64. */
typedef struct program {
    const char *text;
    struct {
        int op;
        step *of;
    } results[MOST_OF_PROGRAM];
    kind kind;
} program;

static const program sums = {"sum(x, axis=0)", {{SUM, itself}}, ANY_DIGITS}, several = {"sum(x, axis=0), max(x, axis=0)", {{SUM, itself}, {MAX, itself}}, ANY_DIGITS}, means = {"mean(x, axis=0) * 2 + 1", {{MEAN_TWICE, itself}}, ANY_DIGITS},
                     weights = {"sum(x * w[:, None], axis=0)", {{SUM, weighted}}, SMALL}, by_columns = {"sum(x * c, axis=0)", {{SUM, by_column}}, SMALL}, centred = {"sum((x - c)**2, axis=0, keepdims=True)", {{SUM, distance}}, SMALL},
                     both = {"sum(x * w[:, None] * c + a, axis=0)", {{SUM, crossed}}, SMALL}, beside = {"sum(x * y, axis=0)", {{SUM, paired}}, SMALL}, besides = {"sum(x * y + c, axis=0)", {{SUM, tripled}}, SMALL},
                     chosen_ones = {"sum(where(y, x, 0), axis=0)", {{SUM, chosen}}, ANY_DIGITS}, thirds = {"sum(where((arange(#)[:, None] + arange(@)) % 3 > 0, x, 0), axis=0)", {{SUM, two_of_three}}, ANY_DIGITS},
                     quotients = {"sum(x // (arange(@) + 1), axis=0)", {{SUM, quotient}}, ANY_DIGITS}, products = {"prod(x, axis=0)", {{PROD, itself}}, NEAR_ONE}, ends = {"max(x, axis=0), min(x, axis=0)", {{MAX, itself}, {MIN, itself}}, ZEROS},
                     largest_ones = {"max(x, axis=0)", {{MAX, itself}}, ZEROS}, least_ones = {"min(x, axis=0)", {{MIN, itself}}, ZEROS}, first_most = {"argmax(x, axis=0)", {{FIRST_OF_MOST, itself}}, WHOLE}, first_least = {"argmin(x, axis=0)", {{FIRST_OF_LEAST, itself}}, WHOLE},
                     anywhere = {"any(x > 3, axis=0)", {{ANY, is_more}}, ANY_DIGITS}, everywhere = {"all(x > -50, axis=0)", {{ALL, is_above}}, ANY_DIGITS}, counted = {"sum(x > 3, axis=0)", {{COUNT, is_more}}, ANY_DIGITS},
                     statistics = {"mean(x, axis=0) * 2 + 1, var(x, axis=0)", {{MEAN_TWICE, itself}, {VARIANCE, itself}}, ANY_DIGITS}, variances = {"var(x, axis=0)", {{VARIANCE, itself}}, ANY_DIGITS},
                     moments = {"sum(d, axis=0), sum(d * d, axis=0)", {{WIDE_SUM, itself}, {WIDE_SUM, squared}}, ANY_DIGITS}, wide_sums = {"sum(d, axis=0)", {{WIDE_SUM, itself}}, ANY_DIGITS}, wide_both = {"sum(d, axis=0), prod(d, axis=0)", {{WIDE_SUM, itself}, {WIDE_PRODUCT, itself}}, NEAR_ONE},
                     many = {"sum(x, axis=0), max(x, axis=0), sum(x * x, axis=0), min(x, axis=0)", {{SUM, itself}, {MAX, itself}, {SUM, squared}, {MIN, itself}}, SMALL}, scaled = {"sum(x, axis=0) * c + c", {{SCALED, itself}}, SMALL}, scaled_twice = {"sum(x * c, axis=0) * c + c", {{SCALED, by_column}}, SMALL},
                     last = {"latest(x, axis=0)", {{LATEST, itself}}, RARE}, turns = {"path(x, axis=0, result=1)", {{PATH, itself}}, WHOLE};

/* ---- examples ---- */

/* How x is taken out of m: by which rows and columns, what of a row of m lies behind the last; elements of memory before m, and behind each of its rows. */
typedef struct layout {
    const char *rows, *columns;
    int first_row, row_step, first_column, rest, before, gap;
} layout;
static const layout plain = {":", ":", 0, 1, 0, 0, 0, 0};

/* y is as wide as x and lies as that does in its own memory, but of its dtype, with more between rows and more before them. */
typedef struct example {
    const program *p;
    krf_dtype dtype;
    int64_t rows, columns;
    layout layout;
    int drifts;
    krf_dtype other;
    int more_gap, more_before;
} example;

static bool has_other(const example *e) { return strstr(e->p->text, "x * y") != NULL || strstr(e->p->text, "(y,") != NULL; }
static krf_dtype computed_in(const example *e) { return has_other(e) && is_real(e->other) && bytes_of(e->other) > bytes_of(e->dtype) ? e->other : e->dtype; }

static double element(const example *e, int64_t i, int64_t j) { return element_of(e->dtype, e->p->kind, e->rows, i, j); }

/* What is no element, of which results that know it are others: each second example has what is no number, or the least. */
static value anything(const example *e, krf_dtype dtype) {
    const bool second = (e->rows + e->columns) % 2 != 0, is_float = is_real(dtype);
    return !second ? largest(dtype) : is_float ? (value){.dtype = dtype, .f = (double)NAN} : whole_number(dtype, facts_of(dtype)->is_unsigned ? 0 : -((int64_t)1 << (8 * bytes_of(dtype) - 1)));
}

/* An array of these values, so far into memory, which ends with the last of its rows. */
static krf_array *make(krf_context *context, const example *e, krf_dtype dtype, int rank, const int64_t *shape, const int64_t *strides, int64_t before, int64_t first, const int64_t *steps, const int64_t *counts, const double *values) {
    int64_t size = before + 1;
    krf_array *base = NULL, *view = NULL;
    for (int d = 0; d < rank; d++) {
        size += (shape[d] - 1) * strides[d];
    }
    char *data = calloc((size_t)size, bytes_of(dtype));
    assert_non_null(data);
    if (!collecting) {
        put(data, 0, anything(e, dtype));
        for (int64_t i = 1; i < size; i++) {
            memcpy(data + (size_t)i * bytes_of(dtype), data, bytes_of(dtype));
        }
    }
    for (int64_t t = 0; t < counts[0] * counts[1] && !collecting; t++) {
        put(data, before + first + t / counts[1] * steps[0] + t % counts[1] * steps[1], is_real(dtype) ? (value){.dtype = dtype, .f = values[t]} : whole_number(dtype, (int64_t)values[t]));
    }
    assert_ok(krf_array_from_host(context, dtype, 1, &size, data, &base));
    assert_ok(krf_array_view(base, rank, shape, strides, before, &view));
    krf_array_release(base);
    free(data);
    return view;
}

/* As x is laid out. */
static krf_array *make_wide(const run *r, const example *e, krf_dtype dtype, int more_gap, int more_before, const double *values) {
    const layout *l = &e->layout;
    const int apart = abs(l->row_step);
    const int64_t width = l->first_column + e->columns + l->rest, row = width + l->gap + more_gap, n = l->first_row + (e->rows - 1) * apart + 1, first_row = l->row_step < 0 ? n - 1 : l->first_row;
    const int64_t shape[] = {n, width}, strides[] = {row, 1}, steps[] = {l->row_step * row, 1}, counts[] = {e->rows, e->columns};
    return make(r->context, e, dtype, 2, shape, strides, l->before + more_before, first_row * row + l->first_column, steps, counts, values);
}

static krf_array *make_line(const run *r, const example *e, int64_t n, int64_t stride, const double *values) {
    const int64_t steps[] = {stride, 0}, counts[] = {n, 1};
    return make(r->context, e, e->dtype, 1, &n, &stride, 0, 0, steps, counts, values);
}

static void write_program(const example *e, char *text, size_t bytes) {
    size_t n = (size_t)snprintf(text, bytes, "x = m[%s, %s]\ny = z[%s, %s]\nd = x.astype(f64)\nreturn ", e->layout.rows, e->layout.columns, e->layout.rows, e->layout.columns);
    for (const char *c = e->p->text; *c != '\0'; c++) {
        n += (size_t)(*c == '#' ? snprintf(text + n, bytes - n, "%d", (int)e->rows) : *c == '@' ? snprintf(text + n, bytes - n, "%d", (int)e->columns) : snprintf(text + n, bytes - n, "%c", *c));
    }
    assert_true(n < bytes);
}

static void compute(const example *e, const double *x, const double *y, const double *w, value want[MOST_OF_PROGRAM][MOST_COLUMNS]) {
    double *own = malloc(2 * (size_t)e->rows * sizeof *own), *own_y = own + e->rows;
    assert_non_null(own);
    for (int64_t j = 0; j < e->columns; j++) {
        for (int64_t i = 0; i < e->rows; i++) {
            own[i] = x[i * e->columns + j];
            own_y[i] = y[i * e->columns + j];
        }
        for (int k = 0; k < MOST_OF_PROGRAM && e->p->results[k].of != NULL; k++) {
            want[k][j] = result_of(&(series){own, own_y, w, w[j], e->rows, j, computed_in(e)}, e->p->results[k].op, e->p->results[k].of);
        }
    }
    free(own);
}

static void try_run(const run *r, const example *e) {
    static value want[MOST_OF_PROGRAM][MOST_COLUMNS];
    const int64_t n = e->rows * e->columns;
    const krf_dtype other = has_other(e) ? e->other : e->dtype;
    double *x_values = malloc(2 * (size_t)n * sizeof *x_values), *y_values = x_values + n; /* w and c are the first of these */
    krf_array *got[MOST_OF_PROGRAM] = {NULL};
    char text[256];
    int results = 0;
    assert_true(x_values != NULL && e->columns <= MOST_COLUMNS);
    for (int64_t i = 0; i < n && !collecting; i++) {
        x_values[i] = element(e, i / e->columns, i % e->columns);
        y_values[i] = other == KRF_BOOL ? (double)(i * 7919 % 61 > 20) : weight(e->dtype, i);
    }
    while (results < MOST_OF_PROGRAM && e->p->results[results].of != NULL) {
        results++;
    }
    krf_array *const x = make_wide(r, e, e->dtype, 0, 0, x_values), *const y = make_wide(r, e, other, e->more_gap, e->more_before, y_values), *const w = make_line(r, e, e->rows, 2, y_values), *const c = make_line(r, e, e->columns, 1, y_values);
    const krf_binding bindings[] = {krf_bind_array("m", x), krf_bind_array("z", y), krf_bind_array("w", w), krf_bind_array("c", c), krf_bind_real("a", 0.25)};
    write_program(e, text, sizeof text);
    krf_plan *plan = run_program(r, text, bindings, 5, results, got);
    if (all.cuda && e->drifts != EITHER && has_text(plan, drifting_text) != (e->drifts == DRIFTS)) {
        COMPLAIN("%s\nof %s, %" PRId64 " x %" PRId64 ", %s: threads should%s take the words of memory", text, name_of(e->dtype), e->rows, e->columns, r->label, e->drifts == DRIFTS ? "" : " not");
    }
    if (!collecting) {
        compute(e, x_values, y_values, y_values, want);
    }
    for (int k = 0; k < results; k++) {
        compare_values(r, text, x, got[k], want[k], e->columns);
    }
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(w);
    krf_array_release(c);
    krf_plan_release(plan);
    free(x_values);
}

/* Everywhere; where there is nothing of this, as in what a CPU compiles, a few. Few rows drift where none lie beside one another. */
static void try_example(const example *e, int number_of) {
    const bool is_short = e->rows <= SHORT_COLUMN;
    for (int k = 0; k < all.n; k++) {
        const run *r = &all.run[k];
        if (!passed_over(r) && (!r->compiled || number_of % 13 == 0) && (!all.cuda || (r == short_run) == is_short)) {
            try_run(r, e);
        }
    }
}

/* ---- tests ---- */

#define COUNT_OF(list) (int)(sizeof(list) / sizeof *(list))

/* Last blocks of a vector of columns, and of a few more, too. */
static void test_widths(void **unused) {
    static const int64_t widths[] = {33, 34, 35, 37, 39, 41, 43, 46, 49, 51, 57, 65, 66, 67, 74, 87, 98, 101, 117, 119, 129, 131, 146, 163, 177, 190, 201, 225, 241, 257, 258, 261, 289, 299, 301}, lengths[] = {300, 1025, 257, 1024, 700};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_BF16, KRF_I32, KRF_F16};
    static const program *const programs[] = {&sums, &by_columns, &means};
    const example narrow[] = {{&sums, KRF_F32, 300, 178, plain, DRIFTS, 0, 0, 0}, {&by_columns, KRF_BF16, 300, 207, plain, DRIFTS, 0, 0, 0}, {&centred, KRF_F32, 300, 179, plain, DRIFTS, 0, 0, 0}, {&sums, KRF_I32, 300, 107, plain, DRIFTS, 0, 0, 0}, {&sums, KRF_I32, 1024, 93, plain, DRIFTS, 0, 0, 0},
                              {&moments, KRF_F32, 1300, 146, plain, DRIFTS, 0, 0, 0}, {&moments, KRF_F32, 1300, 88, plain, OTHER, 0, 0, 0}, {&moments, KRF_BF16, 1300, 230, plain, DRIFTS, 0, 0, 0}, {&moments, KRF_BF16, 300, 229, plain, OTHER, 0, 0, 0}};
    (void)unused;
    for (int t = 0; t < COUNT_OF(narrow); t++) {
        try_example(&narrow[t], t);
    }
    for (int t = 0; t < COUNT_OF(widths) * 2; t++) {
        const int k = t / 2, d = (t + k) % 4;
        try_example(&(example){programs[d == 2 ? 2 * (k % 2) : (k + d) % 3], dtypes[d], lengths[(k + 2 * d) % 5], widths[k], plain, DRIFTS, 0, 0, 0}, t);
    }
    assert_int_equal(failures, 0);
}

/* From few rows on, of which some threads have none, to some chunks. */
static void test_lengths(void **unused) {
    static const int64_t lengths[] = {1, 2, 5, 7, 8, 9, 31, 33, 63, 64, 65, 100, 127, 128, 129, 191, 193, 255, 256, 257, 319, 385, 511, 513, 1023, 1024, 1025, 1279, 1281, 2047, 2048, 2049, 3073, 5000};
    const example kinds[] = {{&sums, KRF_F32, 0, 33, plain, DRIFTS, 0, 0, 0}, {&sums, KRF_BF16, 0, 67, plain, DRIFTS, 0, 0, 0}, {&sums, KRF_I16, 0, 41, plain, DRIFTS, 0, 0, 0}, {&moments, KRF_F32, 0, 35, plain, DRIFTS, 0, 0, 0}, {&moments, KRF_BF16, 0, 51, plain, DRIFTS, 0, 0, 0}};
    (void)unused;
    for (int t = 0; t < COUNT_OF(lengths) * 5; t++) {
        example e = kinds[t % 5];
        e.rows = lengths[t / 5];
        e.drifts = e.rows == 1 || (e.rows <= SHORT_COLUMN && t % 5 == 2) ? EITHER : e.drifts; /* one row is a map, and what goes in any order has another border */
        try_example(&e, t);
    }
    assert_int_equal(failures, 0);
}

static void test_programs(void **unused) {
    static const struct {
        const program *p;
        krf_dtype dtype;
        int rows, columns, drifts;
    } examples[] = {
        {&several, KRF_F32, 1300, 65, DRIFTS}, {&several, KRF_F16, 700, 67, DRIFTS}, {&several, KRF_BF16, 1300, 51, DRIFTS}, {&several, KRF_I32, 700, 33, EITHER}, {&means, KRF_U16, 1300, 45, DRIFTS}, {&means, KRF_U32, 1300, 33, DRIFTS},
        {&means, KRF_I16, 1300, 77, DRIFTS}, {&sums, KRF_U16, 700, 39, DRIFTS}, {&sums, KRF_U32, 1301, 35, DRIFTS}, {&sums, KRF_F16, 1025, 129, DRIFTS}, {&products, KRF_F32, 1300, 35, DRIFTS}, {&products, KRF_F16, 600, 37, DRIFTS},
        {&products, KRF_BF16, 1300, 37, DRIFTS}, {&products, KRF_I32, 1100, 51, DRIFTS}, {&products, KRF_U16, 600, 51, DRIFTS}, {&ends, KRF_F32, 1300, 37, DRIFTS}, {&ends, KRF_BF16, 1030, 69, DRIFTS}, {&ends, KRF_I32, 700, 37, EITHER},
        {&largest_ones, KRF_F32, 1300, 33, DRIFTS}, {&largest_ones, KRF_F16, 1300, 69, DRIFTS}, {&largest_ones, KRF_BF16, 900, 35, DRIFTS}, {&largest_ones, KRF_I16, 1300, 35, EITHER}, {&largest_ones, KRF_U32, 500, 65, EITHER},
        {&least_ones, KRF_F32, 600, 73, DRIFTS}, {&least_ones, KRF_I32, 1300, 33, EITHER}, {&least_ones, KRF_U16, 600, 34, EITHER}, {&first_most, KRF_F32, 1300, 35, DRIFTS}, {&first_most, KRF_BF16, 700, 35, DRIFTS}, {&first_most, KRF_I32, 1300, 35, DRIFTS},
        {&first_least, KRF_F32, 1025, 43, DRIFTS}, {&first_least, KRF_F16, 600, 43, DRIFTS}, {&first_least, KRF_U16, 1300, 43, DRIFTS}, {&anywhere, KRF_F32, 1300, 65, DRIFTS}, {&anywhere, KRF_BF16, 700, 65, DRIFTS}, {&anywhere, KRF_I32, 1300, 65, DRIFTS},
        {&everywhere, KRF_F32, 700, 67, DRIFTS}, {&everywhere, KRF_F16, 1300, 69, DRIFTS}, {&everywhere, KRF_I16, 1300, 75, DRIFTS}, {&counted, KRF_F32, 1300, 33, DRIFTS}, {&counted, KRF_BF16, 700, 69, DRIFTS},
        {&statistics, KRF_F32, 8193, 33, DRIFTS}, {&statistics, KRF_BF16, 9001, 35, DRIFTS}, {&variances, KRF_F32, 8200, 19, EITHER}, {&variances, KRF_F16, 8193, 67, DRIFTS}, {&moments, KRF_F32, 1300, 65, DRIFTS}, {&moments, KRF_F16, 2100, 101, DRIFTS},
        {&moments, KRF_I32, 1300, 35, DRIFTS}, {&moments, KRF_U16, 1025, 35, DRIFTS}, {&wide_sums, KRF_F32, 1300, 35, DRIFTS}, {&wide_sums, KRF_BF16, 1300, 34, DRIFTS}, {&wide_both, KRF_F32, 1300, 90, DRIFTS}, {&wide_both, KRF_BF16, 700, 90, DRIFTS},
        {&many, KRF_F16, 1300, 37, EITHER}, {&many, KRF_F32, 1300, 37, EITHER}, {&scaled, KRF_F32, 1300, 65, DRIFTS}, {&scaled, KRF_BF16, 700, 51, DRIFTS}, {&scaled_twice, KRF_F32, 1300, 51, DRIFTS}, {&scaled_twice, KRF_F16, 700, 38, DRIFTS},
        {&quotients, KRF_I32, 1300, 33, DRIFTS}, {&quotients, KRF_U16, 700, 39, DRIFTS}, {&last, KRF_F32, 1300, 33, OTHER}, {&last, KRF_I32, 2049, 35, OTHER}, {&last, KRF_F16, 1024, 51, OTHER}, {&last, KRF_U16, 700, 51, OTHER},
        {&turns, KRF_F32, 1300, 33, OTHER}, {&turns, KRF_F32, 600, 90, OTHER}, {&turns, KRF_I32, 1025, 35, OTHER}, {&turns, KRF_F16, 1300, 43, OTHER}, {&turns, KRF_I16, 1300, 77, OTHER},
        {&sums, KRF_F64, 1300, 65, OTHER}, {&sums, KRF_U8, 1300, 65, OTHER}, {&sums, KRF_F32, 1300, 64, OTHER}, {&sums, KRF_BF16, 1300, 72, OTHER},
    };
    (void)unused;
    for (int t = 0; t < COUNT_OF(examples); t++) {
        try_example(&(example){examples[t].p, examples[t].dtype, examples[t].rows, examples[t].columns, plain, examples[t].drifts, 0, 0, 0}, t);
    }
    assert_int_equal(failures, 0);
}

/* Columns and rows that are left out, rows that go backwards, or lie so far apart that they begin in each place of a word, arrays that begin within one. */
static void test_views(void **unused) {
    static const layout layouts[] = {{":", "1:", 0, 1, 1, 0, 0, 0},      {":", "2:", 0, 1, 2, 0, 0, 0},      {":", "3:-1", 0, 1, 3, 1, 0, 0},   {":", "4:", 0, 1, 4, 0, 0, 1},     {":", "5:-2", 0, 1, 5, 2, 0, 0},   {":", "6:", 0, 1, 6, 0, 0, 3},      {":", "7:-1", 0, 1, 7, 1, 0, 0},   {"::2", ":", 0, 2, 0, 0, 0, 0},
                                     {"1::3", "1:", 1, 3, 1, 0, 0, 0},   {"::-1", ":", 0, -1, 0, 0, 0, 0},   {"::-2", "2:", 0, -2, 2, 0, 0, 1}, {"3:", ":-1", 3, 1, 0, 1, 0, 0},   {":", ":", 0, 1, 0, 0, 1, 0},      {":", ":", 0, 1, 0, 0, 3, 0},       {":", ":", 0, 1, 0, 0, 5, 2},      {"1:", "1:", 1, 1, 1, 0, 7, 0},
                                     {":", ":", 0, 1, 0, 0, 2, 1},       {":", ":-3", 0, 1, 0, 3, 6, 0},     {":", ":", 0, 1, 0, 0, 0, 1},      {":", ":", 0, 1, 0, 0, 0, 2},      {":", ":", 0, 1, 0, 0, 0, 3},      {":", ":", 0, 1, 0, 0, 0, 5},       {":", ":", 0, 1, 0, 0, 0, 6},      {":", ":", 0, 1, 0, 0, 0, 7}};
    static const struct {
        const program *p;
        krf_dtype dtype;
        int64_t columns;
    } kinds[] = {{&sums, KRF_F32, 65}, {&moments, KRF_BF16, 65}, {&sums, KRF_BF16, 97}, {&moments, KRF_F32, 43}, {&by_columns, KRF_F16, 46}, {&means, KRF_I32, 35}, {&both, KRF_F32, 35}, {&products, KRF_U16, 49}};
    (void)unused;
    for (int t = 0; t < COUNT_OF(layouts) * 4; t++) {
        const int k = t / 4, d = (t + k) % 8;
        try_example(&(example){kinds[d].p, kinds[d].dtype, 290 + 377 * (t % 3), kinds[d].columns, layouts[k], DRIFTS, 0, 0, 0}, t);
    }
    assert_int_equal(failures, 0);
}

/* Those that lie apart have other rows, or begin elsewhere: of what is known of them, or of arrays, which a plan does not know; it then has another kernel. */
static void test_operands(void **unused) {
    static const layout second = {":", "1:", 0, 1, 1, 0, 0, 0}, turned = {"::-1", "3:", 0, -1, 3, 0, 0, 0}, within = {":", ":", 0, 1, 0, 0, 1, 0};
    const example examples[] = {
        {&beside, KRF_F32, 1300, 65, plain, DRIFTS, KRF_F32, 0, 0},         {&beside, KRF_BF16, 1300, 65, plain, DRIFTS, KRF_BF16, 0, 0},     {&beside, KRF_F16, 700, 51, second, DRIFTS, KRF_F16, 0, 0},        {&beside, KRF_F32, 1300, 43, turned, DRIFTS, KRF_F32, 0, 0},
        {&beside, KRF_I32, 1300, 35, second, DRIFTS, KRF_I32, 0, 0},        {&beside, KRF_F32, 1300, 65, plain, OTHER, KRF_F32, 1, 0},        {&beside, KRF_BF16, 700, 65, second, OTHER, KRF_BF16, 2, 0},       {&beside, KRF_F32, 700, 65, plain, DRIFTS, KRF_F32, 4, 0},
        {&beside, KRF_BF16, 700, 65, plain, DRIFTS, KRF_BF16, 8, 0},        {&beside, KRF_BF16, 1300, 65, plain, DRIFTS, KRF_F32, 0, 0},      {&beside, KRF_F32, 1300, 65, plain, DRIFTS, KRF_BF16, 0, 0},       {&beside, KRF_F16, 700, 43, turned, DRIFTS, KRF_F32, 4, 0},
        {&beside, KRF_F32, 700, 43, second, DRIFTS, KRF_F16, 8, 0},         {&beside, KRF_BF16, 700, 43, second, OTHER, KRF_F32, 2, 0},       {&beside, KRF_F32, 700, 65, plain, EITHER, KRF_F32, 0, 1},         {&beside, KRF_F32, 700, 65, within, EITHER, KRF_F32, 0, 0},
        {&beside, KRF_BF16, 700, 65, within, EITHER, KRF_BF16, 0, 2},       {&beside, KRF_BF16, 700, 65, plain, EITHER, KRF_BF16, 0, 4},      {&beside, KRF_F32, 700, 65, within, EITHER, KRF_BF16, 0, 0},       {&besides, KRF_F32, 700, 65, plain, DRIFTS, KRF_F32, 0, 0},
        {&besides, KRF_BF16, 1300, 51, second, DRIFTS, KRF_BF16, 0, 0},     {&chosen_ones, KRF_F32, 1300, 65, plain, DRIFTS, KRF_BOOL, 0, 0}, {&chosen_ones, KRF_BF16, 700, 65, second, DRIFTS, KRF_BOOL, 8, 0}, {&chosen_ones, KRF_I16, 700, 51, plain, EITHER, KRF_BOOL, 0, 0},
        {&chosen_ones, KRF_F32, 1300, 65, plain, OTHER, KRF_BOOL, 1, 0},    {&chosen_ones, KRF_F32, 700, 65, second, EITHER, KRF_BOOL, 0, 1}, {&weights, KRF_F32, 1300, 65, plain, DRIFTS, 0, 0, 0},            {&weights, KRF_BF16, 700, 43, second, DRIFTS, 0, 0, 0},
        {&weights, KRF_I32, 1300, 35, plain, DRIFTS, 0, 0, 0},              {&by_columns, KRF_BF16, 1300, 47, plain, DRIFTS, 0, 0, 0},        {&by_columns, KRF_F32, 300, 89, second, DRIFTS, 0, 0, 0},          {&by_columns, KRF_I32, 700, 47, turned, DRIFTS, 0, 0, 0},
        {&centred, KRF_F32, 700, 99, plain, DRIFTS, 0, 0, 0},               {&centred, KRF_BF16, 1300, 131, turned, DRIFTS, 0, 0, 0},         {&both, KRF_F16, 700, 99, plain, DRIFTS, 0, 0, 0},                 {&both, KRF_F32, 1300, 35, within, DRIFTS, 0, 0, 0},
        {&thirds, KRF_F32, 1300, 65, plain, DRIFTS, 0, 0, 0},               {&thirds, KRF_BF16, 700, 35, second, DRIFTS, 0, 0, 0},            {&thirds, KRF_I32, 700, 35, turned, DRIFTS, 0, 0, 0},              {&thirds, KRF_I16, 1300, 51, within, DRIFTS, 0, 0, 0},
    };
    (void)unused;
    for (int t = 0; t < COUNT_OF(examples); t++) {
        try_example(&examples[t], t);
    }
    assert_int_equal(failures, 0);
}

/* More than 256, so that blocks have several. */
static void test_many_chunks(void **unused) {
    static const struct {
        const program *p;
        krf_dtype dtype;
        int more, columns;
    } examples[] = {{&sums, KRF_F32, 1301, 17}, {&moments, KRF_F32, 511, 17}, {&sums, KRF_BF16, 2048, 33}, {&turns, KRF_F32, 1, 17}};
    (void)unused;
    for (int t = 0; t < COUNT_OF(examples); t++) {
        try_example(&(example){examples[t].p, examples[t].dtype, 262144 + examples[t].more, examples[t].columns, plain, EITHER, 0, 0, 0}, t + 1);
    }
    assert_int_equal(failures, 0);
}

/* Bytes of shared memory of a kernel; of structs 16, at least. */
static int64_t shared_of(const char *kernel) {
    int64_t bytes = 0;
    for (const char *at = strstr(kernel, "__shared__ "); at != NULL; at = strstr(at + 1, "__shared__ ")) {
        const char *end = strchr(at, ';'), *brackets = strchr(at, '[');
        char type[64] = {0};
        if (brackets != NULL && brackets < end) {
            memcpy(type, at, brackets - at < 63 ? (size_t)(brackets - at) : 63);
            bytes += atoi(brackets + 1) * (strstr(type, "struct") != NULL || strstr(type, "uint4") != NULL ? 16 : strstr(type, "long long") != NULL || strstr(type, "double") != NULL ? 8 : strstr(type, "char") != NULL ? 1 : strstr(type, "short") != NULL ? 2 : 4);
        }
    }
    return bytes;
}

/* Whether a program over an x of this shape, and a y of it, with a row w and a column c, is such a kernel, which then has room. */
static void check_kernel(krf_context *context, krf_dtype dtype, int64_t n, int64_t m, const char *text, int drifts) {
    const int64_t shape[] = {n, m};
    krf_graph *g = krf_graph_create(context);
    const krf_binding bindings[] = {krf_bind_expr("x", krf_placeholder(g, "x", dtype, 2, shape)), krf_bind_expr("y", krf_placeholder(g, "y", dtype, 2, shape)), krf_bind_expr("h", krf_placeholder(g, "h", KRF_F16, 2, shape)),
                                    krf_bind_expr("w", krf_placeholder(g, "w", dtype, 1, shape)), krf_bind_expr("c", krf_placeholder(g, "c", dtype, 1, shape + 1)), krf_bind_expr("u", krf_placeholder(g, "u", KRF_U8, 2, shape))};
    krf_expr results[MOST_OF_PROGRAM];
    char *source = NULL;
    size_t bytes = 0;
    int count = 0;
    if (krf_parse_many(g, text, bindings, 6, MOST_OF_PROGRAM, results, &count) != KRF_OK || krf_dump(g, count, results, KRF_DUMP_SOURCE, "cuda", NULL, &source, &bytes) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    const bool is = strstr(source, drifting_text) != NULL || strstr(source, "const int drift = ") != NULL;
    if (drifts != EITHER && is != (drifts == DRIFTS)) {
        COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 "]: threads should%s take the words of memory", text, name_of(dtype), n, m, drifts == DRIFTS ? "" : " not");
    }
    if (strstr(source, drifting_text) != NULL && shared_of(source) + 64 > SHARED_MEMORY) {
        COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 "] has %" PRId64 " bytes of shared memory", text, name_of(dtype), n, m, shared_of(source));
    }
    krf_free(source);
    krf_graph_destroy(g);
}

/* Of a context for GPUs of the usual size. */
static krf_context *open_for_text(const char *fusion) {
    krf_context_options options = krf_context_options_default();
    options.device = "cpu";
    options.fusion = fusion;
    krf_context *context = open_or_skip(&options);
    define_folds(context);
    return context;
}

static void test_shapes(void **unused) {
    static const struct {
        krf_dtype dtype;
        int64_t n, m;
        const char *text;
        int drifts;
    } shapes[] = {
        {KRF_F32, 5000, 65, "sum(x, axis=0)", DRIFTS},
        {KRF_F32, 129, 65, "sum(x, axis=0)", DRIFTS},
        {KRF_F32, 128, 65, "sum(x, axis=0)", OTHER}, /* which lie beside one another */
        {KRF_F32, 5000, 64, "sum(x, axis=0)", OTHER},
        {KRF_F32, 5000, 66, "sum(x, axis=0)", DRIFTS},
        {KRF_BF16, 5000, 68, "sum(x, axis=0)", OTHER},
        {KRF_F32, 5000, 17, "sum(x, axis=0)", DRIFTS},
        {KRF_F32, 5000, 15, "sum(x, axis=0)", OTHER}, /* too little of so few */
        {KRF_BF16, 5000, 31, "sum(x, axis=0)", OTHER},
        {KRF_F64, 5000, 65, "sum(x, axis=0)", OTHER}, /* wide elements and bytes */
        {KRF_I64, 5000, 65, "sum(x, axis=0)", OTHER},
        {KRF_U8, 5000, 65, "sum(x, axis=0)", OTHER},
        {KRF_I8, 5000, 65, "max(x, axis=0)", OTHER},
        {KRF_F32, 5000, 65, "sum(x, axis=1)", OTHER},
        {KRF_F32, 5000, 65, "x * 2, sum(x, axis=0)", OTHER}, /* elements are stored */
        {KRF_F32, 5000, 65, "sum(x * y, axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "sum(x * y[::-1], axis=0)", OTHER}, /* rows of one begin otherwise than those of the other */
        {KRF_F32, 5000, 65, "sum(x[1:] * y[:-1], axis=0)", OTHER},
        {KRF_F32, 5000, 65, "sum(x[4:] * y[:-4], axis=0)", DRIFTS},
        {KRF_BF16, 5000, 65, "sum(x[4:] * y[:-4], axis=0)", OTHER},
        {KRF_BF16, 5000, 65, "sum(x[8:] * y[:-8], axis=0)", DRIFTS},
        {KRF_F32, 5000, 66, "sum(x[:, 1:] * y[:, :-1], axis=0)", OTHER},
        {KRF_F32, 5000, 66, "sum(x[:, 1:] * y[:, 1:], axis=0)", DRIFTS},
        {KRF_F32, 5000, 70, "sum(x[:, 4:] * y[:, :-4], axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "sum(x * h, axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "sum(x * u, axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "sum(x * w[:, None], axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "sum(x * c + w[:, None], axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "sum(x * c[::-1], axis=0)", OTHER}, /* neither along the columns, nor the same for all */
        {KRF_F32, 5000, 130, "sum(x[:, ::2], axis=0)", OTHER},
        {KRF_F32, 5000, 65, "sum(x[:, ::-1], axis=0)", OTHER},
        {KRF_F32, 5000, 65, "sum(c + w[:, None], axis=0)", OTHER}, /* nothing is as wide */
        {KRF_F32, 5000, 65, "sum(x * take(c, (arange(65) * 7) % 65), axis=0)", OTHER}, /* what lies beside a block's columns has no place */
        {KRF_F32, 5000, 65, "max(x, axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "argmax(x, axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "latest(x, axis=0)", OTHER}, /* what users define computes with elements alone: of others it need not end */
        {KRF_F32, 5000, 65, "path(x, axis=0, result=1)", OTHER},
        {KRF_F32, 5000, 65, "sum(halvings(x), axis=0)", OTHER},
        {KRF_F32, 67, 3001, "sum(halvings(x[1:]), axis=1)", OTHER}, /* nor rows */
        {KRF_F32, 67, 3001, "sum(x[1:], axis=1)", DRIFTS},
        {KRF_F32, 9000, 65, "mean(x, axis=0), var(x, axis=0)", DRIFTS},
        {KRF_BF16, 9000, 65, "mean(x, axis=0), var(x, axis=0)", DRIFTS},
        {KRF_F32, 9000, 31, "var(x, axis=0)", OTHER}, /* one warp has them side by side */
        {KRF_F32, 9000, 26, "var(x, axis=0)", DRIFTS},
        {KRF_F32, 5000, 65, "sum(x.astype(f64) * c, axis=0), sum(x.astype(f64), axis=0)", OTHER}, /* no columns side by side, and nothing is copied */
        {KRF_F32, 5000, 66, "sum(x.reshape(5000, 2, 33), axis=0)", DRIFTS},                       /* one dimension, */
        {KRF_F32, 5000, 70, "sum(x.reshape(5000, 2, 35)[:, :, 1:], axis=0)", OTHER},             /* two, */
        {KRF_F32, 5000, 65, "sum(x.reshape(2, 2500, 65), axis=(0, 1))", DRIFTS},
        {KRF_F32, 5000, 65, "sum(x.reshape(2, 2500, 65)[:, 1:], axis=(0, 1))", OTHER},
    };
    static const char *const none[] = {"flat=0,loose=0", "flat=0,loose=2", "flat=0,vectors=0"};
    krf_context *const usual = open_for_text("flat=0"), *const flat = open_for_text(NULL);
    (void)unused;
    for (int k = 0; k < COUNT_OF(shapes); k++) {
        check_kernel(usual, shapes[k].dtype, shapes[k].n, shapes[k].m, shapes[k].text, shapes[k].drifts);
    }
    check_kernel(flat, KRF_F32, 5000, 33, "sum(x, axis=0)", OTHER); /* rows without a gap are one stretch */
    check_kernel(flat, KRF_F32, 1000, 33, "sum(x, axis=0)", DRIFTS);
    check_kernel(flat, KRF_F32, 5000, 33, "sum(x[:, 1:], axis=0)", DRIFTS);
    for (int k = 0; k < 3; k++) {
        krf_context *const other = open_for_text(none[k]);
        check_kernel(other, KRF_F32, 5000, 65, "sum(x, axis=0)", OTHER);
        check_kernel(other, KRF_F32, 9000, 65, "mean(x, axis=0), var(x, axis=0)", OTHER);
        check_kernel(other, KRF_BF16, 5000, 65, "sum(x, axis=0)", k == 1 ? DRIFTS : OTHER);
        krf_context_destroy(other);
    }
    krf_context_destroy(usual);
    krf_context_destroy(flat);
    assert_int_equal(failures, 0);
}

/* As much as all devices have, whatever is added up. */
static void test_shared_memory(void **unused) {
    static const char *const texts[] = {"sum(x, axis=0)", "sum(x > 3, axis=0)", "sum(x, axis=0), sum(x * x, axis=0)", "var(x, axis=0)", "sum(x, axis=0), max(x, axis=0), sum(x * x, axis=0), min(x, axis=0)", "path(x, axis=0)", "argmax(x, axis=0)", "sum(x.astype(f64), axis=0), prod(x.astype(f64), axis=0), max(x.astype(f64), axis=0)"};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_U16, KRF_I32};
    static const int64_t widths[] = {17, 35, 51, 65, 101, 163, 261, 511, 1027, 4097, 30001};
    krf_context *const usual = open_for_text("flat=0");
    (void)unused;
    for (int t = 0; t < COUNT_OF(texts) * 4 * COUNT_OF(widths); t++) {
        check_kernel(usual, dtypes[t / COUNT_OF(widths) % 4], t % 2 == 0 ? 9000 : 300, widths[t % COUNT_OF(widths)], texts[t / COUNT_OF(widths) / 4], EITHER);
    }
    krf_context_destroy(usual);
    assert_int_equal(failures, 0);
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    setenv("FAKECUDA_SEED", "7", 0);    /* threads in another order than their own */
    setenv("KRF_EXACT_MEMORY", "1", 0); /* AddressSanitizer sees what is read behind arrays */
    setenv("KRF_FUSION", "flat=0", 1);  /* few columns too */
    open_noted_runs(&all, false);
    if (all.cuda) {
        run *now = &all.run[all.n++];
        options.device = getenv("KRF_TEST_DEVICE");
        options.blocking_compile = true;
        options.cache = KRF_CACHE_OFF;
        options.fusion = "columns=0,unrolled=1,flat=0";
        now->context = open_or_skip(&options);
        batch_install(now->context);
        now->noted = true;
        snprintf(now->label, sizeof now->label, "cuda, none side by side");
        short_run = now;
    }
    for (int k = 0; k < all.n; k++) {
        define_folds(all.run[k].context);
    }
    return run_part_on(&all, TESTS(noted_test(test_widths), noted_test(test_lengths), noted_test(test_programs), noted_test(test_views), noted_test(test_operands), noted_test(test_many_chunks), cmocka_unit_test(test_shapes), cmocka_unit_test(test_shared_memory)));
}
