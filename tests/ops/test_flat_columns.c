/* Reductions down a few columns whose rows follow one another without a gap, of which a GPU takes 256 as one stretch of memory (src/plan/flat_columns.c, codegen/cuda_column_flat.c): widths that come in vectors and
 * others, lengths around the borders of lanes and chunks, more chunks than blocks, dtypes, operands of rows, of columns, of places and with gaps, where memory begins, results that are computed on, folds of users whose
 * operands have their sides. Against the canonical tree of tree.h over elements that are made here; whatever is no element is so large that no result with it is the same. And which kernels are of this kind, and that
 * they have room in shared memory. KRF_TEST_DEVICE. */
#include "ops/columns.h"

#include "helpers.h"

enum { MOST_COLUMNS = 65, SHARED_MEMORY = 48 << 10, FLAT = 1, OTHER = 0, EITHER = -1 };

static const char flat_text[] = " = start * n0 + ("; /* only kernels of this kind have: where a thread's vector begins */
static runs all;
static int taken; /* examples whose kernels are */

enum { BOTH_PARTS = OTHERS };

static double other(const series *s, int64_t i) { return s->y[i]; }
static double two_of_three(const series *s, int64_t i) { return i % 3 > 0 ? s->x[i] : 0; }

static value result_of(const series *s, int op, step *of) {
    switch (op) {
    case MEAN_TWICE: return number(mean_twice(s));
    case VARIANCE: return number(variance(s));
    case FIRST_OF_MOST: return number(first_of(s, 1));
    case FIRST_OF_LEAST: return number(first_of(s, -1));
    case LATEST: return number(folded(s, op).m);
    case PATH: return number(folded(s, op).b);
    case BOTH_PARTS: return (value){.dtype = KRF_C64, .f = reduced(s, SUM, of).f, .im = 2 * reduced(s, SUM, of).f};
    default: return reduced(s, op, of);
    }
}

/* ---- programs ---- */

/* $ stands for the axes, # for the rows. z is complex, of y and twice that. */
typedef struct program {
    const char *text;
    struct {
        int op;
        step *of;
    } results[MOST_OF_PROGRAM];
    kind kind;
    bool turned; /* y is transposed; else it has gaps */
} program;

static const program sums = {"sum(x, axis=$)", {{SUM, itself}}, ANY_DIGITS, false}, several = {"sum(x, axis=$), max(x, axis=$)", {{SUM, itself}, {MAX, itself}}, ANY_DIGITS, false},
                     means = {"mean(x, axis=$) * 2 + 1", {{MEAN_TWICE, itself}}, ANY_DIGITS, false}, weights = {"sum(x * w[:, None], axis=$)", {{SUM, weighted}}, SMALL, false},
                     centred = {"sum((x - c)**2, axis=$, keepdims=True)", {{SUM, distance}}, SMALL, false}, both = {"sum(x * w[:, None] * c + a, axis=$)", {{SUM, crossed}}, SMALL, false},
                     beside = {"sum(x * y, axis=$)", {{SUM, paired}}, SMALL, false}, across = {"sum(x * y, axis=$)", {{SUM, paired}}, SMALL, true}, parts = {"sum(real(z) * x, axis=$)", {{SUM, paired}}, SMALL, false},
                     pairs = {"sum(z, axis=$)", {{BOTH_PARTS, other}}, SMALL, false}, thirds = {"sum(where(arange(#)[:, None] % 3 > 0, x, 0), axis=$)", {{SUM, two_of_three}}, ANY_DIGITS, false},
                     products = {"prod(x, axis=$)", {{PROD, itself}}, NEAR_ONE, false}, ends = {"max(x, axis=$), min(x, axis=$)", {{MAX, itself}, {MIN, itself}}, ZEROS, false},
                     firsts = {"argmax(x, axis=$), argmin(x, axis=$)", {{FIRST_OF_MOST, itself}, {FIRST_OF_LEAST, itself}}, WHOLE, false},
                     asked = {"any(x > 3, axis=$), all(x > -50, axis=$), sum(x > 3, axis=$)", {{ANY, is_more}, {ALL, is_above}, {COUNT, is_more}}, ANY_DIGITS, false},
                     statistics = {"mean(x, axis=$) * 2 + 1, var(x, axis=$)", {{MEAN_TWICE, itself}, {VARIANCE, itself}}, ANY_DIGITS, false},
                     many = {"sum(x, axis=$), max(x, axis=$), sum(x * x, axis=$), min(x, axis=$)", {{SUM, itself}, {MAX, itself}, {SUM, squared}, {MIN, itself}}, SMALL, false},
                     last = {"latest(x, axis=$)", {{LATEST, itself}}, RARE, false}, turns = {"path(x, axis=$, result=1)", {{PATH, itself}}, WHOLE, false};

/* ---- examples ---- */

/* x is so many rows and columns of an array that has some rows more before them, begins so far into memory, and has so much between rows; with planes, which are reduced too, it has that many rows of each. */
typedef struct example {
    const program *p;
    krf_dtype dtype;
    int64_t rows, columns;
    int before, first, gap, planes;
} example;

static int64_t reduced_of(const example *e) { return e->planes > 0 ? e->planes * e->rows : e->rows; }

static double element(const example *e, int64_t i, int64_t j) { return element_of(e->dtype, e->p->kind, reduced_of(e), i, j); }

/* An array of these values, so far into memory, which ends with the last. */
static krf_array *make(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const int64_t *strides, int64_t before, const double *values) {
    int64_t size = before + 1, n = 1;
    krf_array *base = NULL, *view = NULL;
    for (int d = 0; d < rank; d++) {
        size += (shape[d] - 1) * strides[d];
        n *= shape[d];
    }
    char *data = calloc((size_t)size, bytes_of(dtype));
    assert_non_null(data);
    for (int64_t i = 0; i < size && !collecting; i++) {
        put(data, i, largest(dtype));
    }
    for (int64_t t = 0; t < n && !collecting; t++) {
        int64_t left = t, place = before;
        for (int d = rank - 1; d >= 0; d--) {
            place += left % shape[d] * strides[d];
            left /= shape[d];
        }
        put(data, place, is_real(dtype) || is_complex(dtype) ? (value){.dtype = dtype, .f = values[t], .im = 2 * values[t]} : whole_number(dtype, (int64_t)values[t]));
    }
    assert_ok(krf_array_from_host(context, dtype, 1, &size, data, &base));
    assert_ok(krf_array_view(base, rank, shape, strides, before, &view));
    krf_array_release(base);
    free(data);
    return view;
}

static krf_array *make_x(const run *r, const example *e) {
    const int64_t of_plane = e->rows + e->first, row = e->columns + e->gap, shape[] = {e->planes, of_plane, e->columns}, strides[] = {of_plane * row, row, 1}, n = (e->planes > 0 ? e->planes : 1) * of_plane * e->columns;
    double *values = malloc((size_t)n * sizeof *values);
    assert_non_null(values);
    for (int64_t t = 0; t < n && !collecting; t++) {
        const int64_t i = t / e->columns % of_plane - e->first;
        values[t] = i < 0 ? largest(e->dtype).f + (double)largest(e->dtype).i : element(e, t / e->columns / of_plane * e->rows + i, t % e->columns);
    }
    krf_array *x = make(r->context, e->dtype, 2 + (e->planes > 0), shape + (e->planes == 0), strides + (e->planes == 0), e->before, values);
    free(values);
    return x;
}

static void write_program(const example *e, char *text, size_t bytes) {
    size_t n = (size_t)snprintf(text, bytes, "x = m[%s%d:]\nreturn ", e->planes > 0 ? ":, " : "", e->first);
    for (const char *c = e->p->text; *c != '\0'; c++) {
        n += (size_t)(*c == '$' ? snprintf(text + n, bytes - n, "%s", e->planes > 0 ? "(0, 1)" : "0") : *c == '#' ? snprintf(text + n, bytes - n, "%d", (int)e->rows) : snprintf(text + n, bytes - n, "%c", *c));
    }
    assert_true(n < bytes);
}

static void compute(const example *e, const double *y, const double *w, value want[MOST_OF_PROGRAM][MOST_COLUMNS]) {
    const int64_t n = reduced_of(e);
    double *x = malloc(2 * (size_t)n * sizeof *x), *own_y = x + n;
    assert_non_null(x);
    for (int64_t j = 0; j < e->columns; j++) {
        for (int64_t i = 0; i < n; i++) {
            x[i] = element(e, i, j);
            own_y[i] = y[i * e->columns + j];
        }
        for (int k = 0; k < MOST_OF_PROGRAM && e->p->results[k].of != NULL; k++) {
            want[k][j] = result_of(&(series){x, own_y, w, w[j], n, j, e->dtype}, e->p->results[k].op, e->p->results[k].of);
        }
    }
    free(x);
}

static void try_run(const run *r, const example *e) {
    static value want[MOST_OF_PROGRAM][MOST_COLUMNS];
    const int64_t n = reduced_of(e), shape[] = {n, e->columns}, strides[] = {e->p->turned ? 1 : e->columns + 1, e->p->turned ? n : 1};
    double *y_values = malloc((size_t)(n * e->columns) * sizeof *y_values); /* w and c are the first of these */
    krf_array *got[MOST_OF_PROGRAM] = {NULL};
    char text[256];
    int results = 0;
    assert_non_null(y_values);
    for (int64_t i = 0; i < n * e->columns; i++) {
        y_values[i] = weight(e->dtype, i);
    }
    while (results < MOST_OF_PROGRAM && e->p->results[results].of != NULL) {
        results++;
    }
    krf_array *const x = make_x(r, e), *const y = make(r->context, e->dtype, 2, shape, strides, 0, y_values), *const z = make(r->context, KRF_C64, 2, shape, (int64_t[]){e->columns, 1}, 0, y_values);
    krf_array *const w = make(r->context, e->dtype, 1, &n, &(int64_t){2}, 0, y_values), *const c = make(r->context, e->dtype, 1, &e->columns, &(int64_t){1}, 0, y_values);
    const krf_binding bindings[] = {krf_bind_array("m", x), krf_bind_array("y", y), krf_bind_array("z", z), krf_bind_array("w", w), krf_bind_array("c", c), krf_bind_real("a", 0.25)};
    write_program(e, text, sizeof text);
    krf_plan *plan = run_program(r, text, bindings, 6, results, got);
    taken += has_text(plan, flat_text);
    if (!collecting) {
        compute(e, y_values, y_values, want);
    }
    for (int k = 0; k < results; k++) {
        compare_values(r, text, x, got[k], want[k], e->columns);
    }
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(z);
    krf_array_release(w);
    krf_array_release(c);
    krf_plan_release(plan);
    free(y_values);
}

/* Everywhere; where there is nothing of this, as in what a CPU compiles, a few. */
static void try_example(const example *e, int number_of) {
    for (int k = 0; k < all.n; k++) {
        if (!passed_over(&all.run[k]) && (!all.run[k].compiled || number_of % 13 == 0)) {
            try_run(&all.run[k], e);
        }
    }
}

/* At the end of a test: so many of its examples are flat, wherever the plan's borders are. */
static void must_be_taken(int least) {
    if (all.cuda && taken < least) {
        COMPLAIN("%d kernels are taken flat, not %d", taken, least);
    }
    taken = 0;
    assert_int_equal(failures, 0);
}

/* ---- tests ---- */

static void test_widths(void **unused) {
    static const int64_t widths[] = {2, 3, 4, 5, 7, 8, 10, 13, 16, 17, 31, 33, 48, 63, 64, 65}, lengths[] = {1300, 1024, 1025, 2048, 1023, 1279, 5000};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_BF16, KRF_F64, KRF_F16};
    static const program *const programs[] = {&sums, &weights, &centred, &both, &means};
    (void)unused;
    for (int t = 0; t < 16 * 4; t++) {
        const int k = t / 4, d = t % 4;
        if (d < 2 || (k + d) % 2 == 0) {
            try_example(&(example){programs[(k + d) % 5], dtypes[d], lengths[(k + 2 * d) % 7], widths[k], 0, 0, 0, 0}, t);
        }
    }
    must_be_taken(15);
}

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {1023, 1024, 1025, 1279, 1280, 1281, 1535, 1537, 1791, 1793, 2047, 2048, 2049, 3073, 5000};
    static const example kinds[] = {{&sums, KRF_F32, 0, 5, 0, 0, 0, 0}, {&weights, KRF_BF16, 0, 10, 0, 0, 0, 0}, {&sums, KRF_F64, 0, 7, 0, 0, 0, 0}, {&several, KRF_U8, 0, 7, 0, 0, 0, 0}, {&sums, KRF_F32, 0, 31, 0, 0, 0, 0}};
    (void)unused;
    for (int t = 0; t < 15 * 5; t++) {
        example e = kinds[t % 5];
        e.rows = lengths[t / 5];
        try_example(&e, t);
    }
    must_be_taken(50);
}

static void test_programs(void **unused) {
    static const example examples[] = {
        {&several, KRF_F32, 1300, 5, 0, 0, 0, 0}, {&several, KRF_F64, 1301, 7, 0, 0, 0, 0}, {&several, KRF_F16, 1300, 17, 0, 0, 0, 0}, {&several, KRF_BF16, 2301, 5, 0, 0, 0, 0}, {&several, KRF_F32, 1300, 64, 0, 0, 0, 0},
        {&pairs, KRF_F32, 1301, 5, 0, 0, 0, 0}, {&beside, KRF_F32, 1300, 10, 0, 0, 0, 0}, {&beside, KRF_F16, 1301, 13, 0, 0, 0, 0}, {&beside, KRF_F64, 1025, 10, 0, 0, 0, 0}, {&beside, KRF_I32, 1025, 11, 0, 0, 0, 0},
        {&across, KRF_F32, 1300, 10, 0, 0, 0, 0}, {&across, KRF_F64, 1025, 3, 0, 0, 0, 0}, {&parts, KRF_F32, 1301, 11, 0, 0, 0, 0}, {&thirds, KRF_F32, 1300, 11, 0, 0, 0, 0}, {&thirds, KRF_BF16, 1111, 16, 0, 0, 0, 0},
        {&thirds, KRF_I64, 1111, 13, 0, 0, 0, 0}, {&products, KRF_F32, 1300, 7, 0, 0, 0, 0}, {&products, KRF_F64, 1024, 10, 0, 0, 0, 0}, {&products, KRF_F16, 1999, 5, 0, 0, 0, 0},
        {&products, KRF_I8, 1999, 6, 0, 0, 0, 0}, {&ends, KRF_F32, 1300, 7, 0, 0, 0, 0}, {&ends, KRF_F64, 1111, 15, 0, 0, 0, 0}, {&ends, KRF_BF16, 2050, 33, 0, 0, 0, 0}, {&ends, KRF_I16, 1300, 17, 0, 0, 0, 0},
        {&ends, KRF_F32, 1300, 8, 0, 0, 0, 0}, {&firsts, KRF_F32, 1300, 11, 0, 0, 0, 0}, {&firsts, KRF_F16, 1025, 13, 0, 0, 0, 0}, {&firsts, KRF_I8, 2049, 11, 0, 0, 0, 0}, {&firsts, KRF_F64, 1300, 3, 0, 0, 0, 0},
        {&firsts, KRF_I32, 1024, 17, 0, 0, 0, 0}, {&asked, KRF_F32, 1300, 5, 0, 0, 0, 0}, {&asked, KRF_BF16, 1024, 17, 0, 0, 0, 0}, {&asked, KRF_I64, 1300, 7, 0, 0, 0, 0}, {&asked, KRF_I8, 1300, 7, 0, 0, 0, 0},
        {&statistics, KRF_F32, 8193, 5, 0, 0, 0, 0}, {&statistics, KRF_BF16, 9001, 5, 0, 0, 0, 0}, {&statistics, KRF_F32, 8193, 10, 0, 0, 0, 0}, {&many, KRF_F32, 1300, 5, 0, 0, 0, 0},
        {&many, KRF_F16, 1300, 4, 0, 0, 0, 0}, {&many, KRF_I32, 1300, 7, 0, 0, 0, 0}, {&sums, KRF_I32, 1300, 5, 0, 0, 0, 0}, {&sums, KRF_I64, 1301, 5, 0, 0, 0, 0}, {&sums, KRF_I8, 1300, 7, 0, 0, 0, 0},
        {&sums, KRF_U8, 2050, 5, 0, 0, 0, 0}, {&sums, KRF_U16, 1300, 31, 0, 0, 0, 0}, {&means, KRF_I32, 1300, 10, 0, 0, 0, 0}, {&means, KRF_U8, 1300, 5, 0, 0, 0, 0}, {&weights, KRF_I8, 1300, 13, 0, 0, 0, 0},
        {&weights, KRF_I64, 1025, 11, 0, 0, 0, 0}, {&centred, KRF_I32, 1025, 7, 0, 0, 0, 0}, {&last, KRF_F32, 1300, 5, 0, 0, 0, 0}, {&last, KRF_F64, 2049, 10, 0, 0, 0, 0}, {&last, KRF_I32, 1300, 5, 0, 0, 0, 0},
        {&last, KRF_F16, 1024, 33, 0, 0, 0, 0}, {&turns, KRF_F32, 1300, 4, 0, 0, 0, 0}, {&turns, KRF_F32, 2049, 10, 0, 0, 0, 0}, {&turns, KRF_F64, 1300, 5, 0, 0, 0, 0}, {&turns, KRF_I32, 1025, 7, 0, 0, 0, 0},
        {&turns, KRF_F16, 1300, 16, 0, 0, 0, 0}, {&turns, KRF_F32, 1024, 33, 0, 0, 0, 0},
    };
    (void)unused;
    for (int t = 0; t < (int)(sizeof examples / sizeof *examples); t++) {
        try_example(&examples[t], t);
    }
    must_be_taken(30);
}

/* Memory that begins within a vector, rows that are left out, gaps, and two dimensions that are reduced. */
static void test_views(void **unused) {
    static const struct {
        int before, first, gap, planes;
    } layouts[] = {{1, 0, 0, 0}, {2, 0, 0, 0}, {3, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}, {0, 3, 0, 0}, {0, 4, 0, 0}, {1, 1, 0, 0}, {4, 2, 0, 0}, {0, 0, 1, 0}, {1, 0, 3, 0}, {0, 0, 0, 2}, {1, 0, 0, 7}, {0, 1, 0, 3}, {0, 0, 2, 2}};
    static const int64_t widths[] = {13, 5, 10, 7};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_F64, KRF_U8, KRF_I32};
    (void)unused;
    for (int t = 0; t < 15 * 3; t++) {
        const int k = t / 3, d = (t + k) % 5, planes = layouts[k].planes;
        const program *const p = d < 3 && t % 2 == 0 && planes == 0 ? &weights : &sums;
        try_example(&(example){p, dtypes[d], planes > 0 ? 1300 / planes + 1 : 1100 + 37 * (t % 3), widths[(t + k) % 4], layouts[k].before, layouts[k].first, layouts[k].gap, planes}, t);
    }
    must_be_taken(20);
}

/* More than 256, so that blocks have several, one after the other, and as many at once as they have teams. */
static void test_many_chunks(void **unused) {
    static const example examples[] = {{&sums, KRF_BF16, 2 * 262144 + 1301, 4, 0, 0, 0, 0}, {&sums, KRF_F32, 262144 + 1301, 4, 0, 0, 0, 0}, {&several, KRF_F64, 262144 + 1024, 5, 0, 0, 0, 0},
                                       {&several, KRF_I8, 262144 + 2049, 5, 1, 0, 0, 0}, {&turns, KRF_F32, 262144 + 777, 4, 0, 0, 0, 0}, {&many, KRF_F16, 262144 + 3001, 5, 0, 0, 0, 0}};
    (void)unused;
    for (int t = 0; t < 6; t++) {
        try_example(&examples[t], t + 1);
    }
    must_be_taken(4);
}

/* Two and three columns are taken so where they are many megabytes. Of more than 4M rows chunks have 2,048. */
static void test_large(void **unused) {
    (void)unused;
    if (all.cuda && getenv("KRF_LIBCUDA") == NULL) {
        try_example(&(example){&sums, KRF_F64, 2100000 + 511, 3, 0, 0, 0, 0}, 1);
        try_example(&(example){&sums, KRF_F32, 6300000 + 777, 2, 0, 0, 0, 0}, 1);
        must_be_taken(1);
    }
    assert_int_equal(failures, 0);
}

/* Bytes of shared memory of a kernel's reductions; of structs a word, at least. */
static int64_t shared_of(const char *kernel) {
    int64_t bytes = 0;
    for (const char *at = strstr(kernel, "__shared__ "); at != NULL; at = strstr(at + 1, "__shared__ ")) {
        char type[64];
        int count;
        if (sscanf(at, "__shared__ %63[a-z_ 0-9][%d]", type, &count) == 2 && strstr(type, " shared") != NULL) {
            bytes += count * (strstr(type, "long long") != NULL || strstr(type, "double") != NULL ? 8 : strstr(type, "char") != NULL ? 1 : strstr(type, "short") != NULL ? 2 : 4);
        }
    }
    return bytes;
}

/* Whether a program over an x of this shape is a flat kernel, which then has room. */
static void check_kernel(krf_dtype dtype, int64_t n, int64_t m, const char *text, int flat) {
    const int64_t shape[] = {n, m};
    krf_graph *g = krf_graph_create(all.run[0].context);
    const krf_binding bindings[] = {krf_bind_expr("x", krf_placeholder(g, "x", dtype, 2, shape)), krf_bind_expr("w", krf_placeholder(g, "w", dtype, 1, shape))};
    krf_expr results[MOST_OF_PROGRAM];
    char *source = NULL;
    size_t bytes = 0;
    int count = 0;
    if (krf_parse_many(g, text, bindings, 2, MOST_OF_PROGRAM, results, &count) != KRF_OK || krf_dump(g, count, results, KRF_DUMP_SOURCE, "cuda", NULL, &source, &bytes) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    const bool is = strstr(source, flat_text) != NULL;
    if (flat != EITHER && is != (flat == FLAT)) {
        COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 "] should%s be taken flat", text, name_of(dtype), n, m, flat == FLAT ? "" : " not");
    }
    if (is && shared_of(source) + 64 > SHARED_MEMORY) {
        COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 "] has %" PRId64 " bytes of shared memory", text, name_of(dtype), n, m, shared_of(source));
    }
    krf_free(source);
    krf_graph_destroy(g);
}

static void test_shapes(void **unused) {
    (void)unused;
    check_kernel(KRF_F32, 1024, 10, "sum(x, axis=0)", FLAT);
    check_kernel(KRF_F32, 1023, 10, "sum(x, axis=0)", OTHER);
    check_kernel(KRF_F32, 1000, 10, "sum(x, axis=0)", OTHER);
    check_kernel(KRF_F32, 4096, 65, "sum(x, axis=0)", OTHER);
    check_kernel(KRF_F64, 4096, 48, "sum(x, axis=0)", OTHER); /* no room */
    check_kernel(KRF_BF16, 4096, 5, "sum(x, axis=0)", FLAT);
    check_kernel(KRF_F32, 4096, 2, "sum(x, axis=0)", OTHER); /* too little of so few */
    check_kernel(KRF_F32, 1 << 23, 2, "sum(x, axis=0)", FLAT);
    check_kernel(KRF_F32, 4096, 10, "sum(x[:, :9], axis=0)", OTHER); /* gaps alone, */
    check_kernel(KRF_F32, 4096, 10, "sum(x[:, :9] * x[:, 1:], axis=0)", OTHER);
    check_kernel(KRF_F32, 4096, 10, "sum(x[::-1], axis=0)", OTHER);
    check_kernel(KRF_F32, 4096, 10, "sum(x * x[::-1], axis=0)", FLAT); /* or beside what has none */
    check_kernel(KRF_F32, 4096, 10, "sum(x[1:] * x[:-1], axis=0)", FLAT);
    check_kernel(KRF_F32, 4096, 10, "sum(x * w[:, None], axis=0)", FLAT);
    check_kernel(KRF_F32, 4096, 5, "sum(x * w[:, None], axis=0)", OTHER); /* loaded once, where each column is a reduction */
    check_kernel(KRF_F32, 4096, 10, "x * 2, sum(x, axis=0)", OTHER); /* elements are stored */
    check_kernel(KRF_F32, 4096, 10, "sum(x, axis=1)", OTHER);
    check_kernel(KRF_F32, 4096, 8, "max(x, axis=0)", OTHER); /* in any order, by vectors */
    check_kernel(KRF_F32, 4096, 7, "max(x, axis=0)", FLAT);
    check_kernel(KRF_U8, 4096, 16, "max(x, axis=0)", OTHER);
    check_kernel(KRF_U8, 4096, 33, "max(x, axis=0)", OTHER);
    check_kernel(KRF_U8, 4096, 33, "sum(x, axis=0)", OTHER);
    assert_int_equal(failures, 0);
}

/* As much as all devices have, whatever is added up. */
static void test_shared_memory(void **unused) {
    static const char *const texts[] = {"sum(x, axis=0)", "sum(x > 3, axis=0)", "sum(x, axis=0), sum(x * x, axis=0)", "var(x, axis=0)", "sum(x, axis=0), max(x, axis=0), sum(x * x, axis=0), min(x, axis=0)", "path(x, axis=0)"};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_F16, KRF_I8, KRF_U16, KRF_I32, KRF_I64};
    static const int64_t widths[] = {2, 3, 4, 5, 7, 8, 12, 13, 15, 16, 17, 21, 26, 31, 47, 49, 63};
    (void)unused;
    for (int t = 0; t < 6 * 7 * 17; t++) {
        check_kernel(dtypes[t / 17 % 7], 9000 + t % 2, widths[t % 17], texts[t / 17 / 7], EITHER);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    setenv("FAKECUDA_SEED", "5", 0);    /* threads in another order than their own */
    setenv("KRF_EXACT_MEMORY", "1", 0); /* AddressSanitizer sees what is read behind arrays */
    open_noted_runs(&all, false);
    for (int k = 0; k < all.n; k++) {
        define_folds(all.run[k].context);
    }
    return run_part_on(&all, TESTS(noted_test(test_widths), noted_test(test_lengths), noted_test(test_programs), noted_test(test_views), noted_test(test_many_chunks), cmocka_unit_test(test_large), cmocka_unit_test(test_shapes), cmocka_unit_test(test_shared_memory)));
}
