/* Columns whose sums in f64 leave registers no room for loads under way, so that a GPU has their elements copied to shared memory (codegen/cuda_column_ahead.c): lengths around the borders of lanes, of chunks and of what is
 * copied at once, widths around those of blocks, views, several axes that are reduced or kept, signs of zero and NaN, results that are computed on. Against the canonical tree of tree.h over elements that are made from
 * their places here; whatever is no element, before, between and behind rows, is so large that no sum with it is the same. KRF_TEST_DEVICE. */
#include "ops/programs.h"
#include "ops/tree.h"

#include "helpers.h"

enum { MOST_COLUMNS = 512, SHORT_COLUMN = 128, ROWS_BEHIND = 1024 };

static runs all;
static const run *short_run; /* a GPU's that has this kernel for up to 128 rows too, whose columns otherwise lie beside one another */

/* ---- programs ---- */

/* What is reduced, and w's element beside it. */
typedef struct series {
    const double *x;
    int64_t n;
    double w;
    krf_dtype dtype;
} series;

typedef double step(double x);
static double itself(double x) { return x; }
static double squared(double x) { return x * x; }
static double cubed(double x) { return squared(x) * x; }
static double less_one(double x) { return x - 1; }

static double reduce_steps(const series *c, reduction_op op, bool narrow, step *of) {
    double *elements = malloc((size_t)c->n * sizeof *elements);
    assert_non_null(elements);
    for (int64_t i = 0; i < c->n; i++) {
        elements[i] = of(c->x[i]);
    }
    const double found = canonical_tree(op, narrow, elements, c->n);
    free(elements);
    return found;
}

static double wide_one(const series *c, reduction_op op, step *of) { return reduce_steps(c, op, false, of); }
static double narrow_sum(const series *c) { return reduce_steps(c, SUM, true, itself); } /* of halves too, which it then is rounded to */
static double rounded(const series *c, double x) { return round_to(c->dtype, (long double)x); }

/* In one pass, as docs/conventions.md says of f32 columns of more than 8,192 elements. */
static double variance(const series *c) {
    const double n = (double)c->n, sum = wide_one(c, SUM, itself), left = wide_one(c, SUM, squared) - sum * sum / n;
    return nearest_float((left < 0 ? 0 : left) / n);
}

typedef void formula(const series *c, double *results);
static void sums(const series *c, double *results) {
    results[0] = wide_one(c, SUM, itself);
    results[1] = wide_one(c, SUM, squared);
}
static void one_sum(const series *c, double *results) { results[0] = wide_one(c, SUM, itself); }
static void products(const series *c, double *results) {
    results[0] = wide_one(c, PROD, itself);
    results[1] = wide_one(c, MAX, itself);
    results[2] = wide_one(c, SUM, less_one);
}
static void three_sums(const series *c, double *results) {
    results[0] = narrow_sum(c);
    sums(c, results + 1);
}
static void counted(const series *c, double *results) {
    results[0] = 0;
    for (int64_t i = 0; i < c->n; i++) {
        results[0] += c->x[i] > 0;
    }
    results[1] = wide_one(c, MIN, itself);
}
static void divided(const series *c, double *results) {
    const double sum = wide_one(c, SUM, itself);
    results[0] = sum / c->w;
    results[1] = wide_one(c, SUM, squared) - sum * c->w;
}
static void seven(const series *c, double *results) {
    results[0] = wide_one(c, SUM, itself) + wide_one(c, SUM, squared);
    results[1] = wide_one(c, SUM, cubed) - wide_one(c, MAX, itself);
    results[2] = wide_one(c, MIN, itself) * wide_one(c, PROD, itself);
    results[3] = wide_one(c, SUM, less_one);
}
static void seven_and_a_half(const series *c, double *results) {
    seven(c, results);
    results[3] += rounded(c, narrow_sum(c));
}
static void eight(const series *c, double *results) {
    seven(c, results);
    results[3] += wide_one(c, PROD, less_one);
}
static void mean_and_variance(const series *c, double *results) {
    results[0] = nearest_float(narrow_sum(c) / (double)c->n);
    results[1] = variance(c);
}
static void by_deviation(const series *c, double *results) { results[0] = c->w / rounded(c, nearest_float(sqrt(variance(c)))); }

/* y is what is reduced, d that in f64; $ stands for the axes. A thread's accumulators of a lane of one column take so many bytes. */
typedef struct program {
    const char *text;
    formula *formula;
    int results, bytes;
    bool near_one; /* elements, of which products stay within bounds */
} program;

static const program moments = {"sum(d, axis=$), sum(d * d, axis=$)", sums, 2, 16, false}, alone = {"-sum(-d, axis=$)", one_sum, 1, 8, false}, scaled = {"sum(d, axis=$) / w, sum(d * d, axis=$) - sum(d, axis=$) * w", divided, 2, 16, false},
                     three = {"prod(d, axis=$), max(d, axis=$), sum(d - 1, axis=$)", products, 3, 24, true}, mixed = {"sum(y, axis=$), sum(d, axis=$), sum(d * d, axis=$)", three_sums, 3, 20, false},
                     positive = {"sum(y > 0, axis=$), min(d, axis=$)", counted, 2, 16, false},
                     most = {"sum(d, axis=$) + sum(d * d, axis=$), sum(d * d * d, axis=$) - max(d, axis=$), min(d, axis=$) * prod(d, axis=$), sum(d - 1, axis=$) + sum(y, axis=$)", seven_and_a_half, 4, 60, true},
                     too_many = {"sum(d, axis=$) + sum(d * d, axis=$), sum(d * d * d, axis=$) - max(d, axis=$), min(d, axis=$) * prod(d, axis=$), sum(d - 1, axis=$) + prod(d - 1, axis=$)", eight, 4, 64, true},
                     statistics = {"mean(y, axis=$), var(y, axis=$)", mean_and_variance, 2, 20, false}, deviations = {"w / std(y, axis=$)", by_deviation, 1, 16, false};

/* ---- examples ---- */

/* How y is taken out of x: by which rows and columns, what of a row of x lies behind the last; elements of memory before x, and behind each of its rows. */
typedef struct layout {
    const char *rows, *columns;
    int first_row, row_step, first_column, column_step, rest, before, gap;
} layout;
static const layout plain = {":", ":", 0, 1, 0, 1, 0, 0, 0};

enum { ROWS, PLANES, BATCHES };

/* y has so many rows and columns; or several planes of them, which are reduced as well, or are not. */
typedef struct example {
    const program *p;
    krf_dtype dtype;
    int64_t rows, columns;
    layout layout;
    int axes, planes;
} example;

static int64_t reduced_of(const example *e) { return e->axes == PLANES ? e->planes * e->rows : e->rows; }
static int64_t kept_of(const example *e) { return e->axes == BATCHES ? e->planes * e->columns : e->columns; }

/* Row i of n: whole numbers of all digits times powers of two, so that hardly a sum is without rounding; or near one. Some columns hold nothing but -0, some end with what is infinite, or no number. */
static double element(const example *e, int64_t i, int64_t n, int64_t j) {
    static const double last[] = {NAN, INFINITY, -INFINITY, 0x1p-14};
    static const double powers[] = {0x1p-13, 0x1p-12, 0x1p-11, 0x1p-10, 0x1p-9, 0x1p-8, 0x1p-7, 0x1p-6, 0x1p-5, 0x1p-4, 0x1p-3, 0x1p-2, 0x1p-1, 1, 2, 4};
    uint64_t seed = (uint64_t)i * 1031 + (uint64_t)j * UINT64_C(0x1000000000001) + (uint64_t)n;
    const uint64_t bits = next_random(&seed);
    if (!is_real(e->dtype)) {
        return (double)wide_of(whole_number(e->dtype, (int64_t)(bits >> 7)));
    }
    if ((j + n) % 7 == 2) {
        return -0.0;
    }
    if ((j + n) % 7 == 4 && i == n - 1) {
        return last[j / 7 % 4];
    }
    const int digits = facts_of(e->dtype)->digits;
    const double sign = (bits & 16) != 0 ? -1 : 1, power = powers[bits % 16], whole = (double)(bits >> (64 - digits)), size = (double)((uint64_t)1 << digits);
    return e->p->near_one ? sign * (0.5 + floor(whole / 2) / size) * (double)(1 + (bits >> 5) % 2) : sign * whole * (e->dtype == KRF_F16 ? power : power * power * power);
}

/* Elements of a row of x, rows of a plane of it, and where an element of y lies in memory. */
static int64_t row_of(const example *e) { return e->layout.first_column + (e->columns - 1) * abs(e->layout.column_step) + 1 + e->layout.rest; }
static int64_t rows_of(const example *e) { return e->layout.first_row + (e->rows - 1) * abs(e->layout.row_step) + 1; }
static int64_t place(const example *e, int64_t plane, int64_t row, int64_t column) {
    const layout *l = &e->layout;
    const int64_t r = (l->row_step < 0 ? rows_of(e) - 1 : l->first_row) + row * l->row_step, c = (l->column_step < 0 ? row_of(e) - 1 : l->first_column) + column * l->column_step;
    return l->before + (plane * rows_of(e) + r) * (row_of(e) + l->gap) + c;
}

static value largest(krf_dtype dtype) {
    const int bits = 8 * (int)bytes_of(dtype);
    return is_real(dtype) ? (value){.dtype = dtype, .f = dtype == KRF_F16 ? 0x1.8p15 : 0x1.8p100} : whole_number(dtype, facts_of(dtype)->is_unsigned ? -1 : ((int64_t)1 << (bits - 1)) - 1);
}

static void fill(const example *e, char *data, int64_t size) {
    const size_t bytes = bytes_of(e->dtype);
    const int64_t n = reduced_of(e);
    put(data, 0, largest(e->dtype));
    for (int64_t i = 1; i < size; i++) {
        memcpy(data + (size_t)i * bytes, data, bytes);
    }
    for (int64_t t = 0; t < e->planes * e->rows * e->columns; t++) {
        const int64_t p = t / e->columns / e->rows, i = t / e->columns % e->rows, j = t % e->columns;
        const double x = element(e, e->axes == PLANES ? p * e->rows + i : i, n, e->axes == BATCHES ? p * e->columns + j : j);
        put(data, place(e, p, i, j), is_real(e->dtype) ? (value){.dtype = e->dtype, .f = x} : whole_number(e->dtype, (int64_t)x));
    }
}

static krf_array *make(krf_context *context, const example *e) {
    const int64_t row = row_of(e) + e->layout.gap, plane = rows_of(e) * row, size = e->layout.before + e->planes * plane + ((e->rows + e->columns) % 2 == 0 ? ROWS_BEHIND * row : 0); /* or none, so that AddressSanitizer sees what is read there */
    const int64_t shape[3] = {e->planes, rows_of(e), row_of(e)}, strides[3] = {plane, row, 1};
    const int alone_in_memory = e->axes == ROWS;
    char *data = calloc((size_t)size, bytes_of(e->dtype));
    krf_array *base = NULL, *view = NULL;
    assert_non_null(data);
    if (!collecting) {
        fill(e, data, size);
    }
    assert_ok(krf_array_from_host(context, e->dtype, 1, &size, data, &base));
    assert_ok(krf_array_view(base, 3 - alone_in_memory, shape + alone_in_memory, strides + alone_in_memory, e->layout.before, &view));
    krf_array_release(base);
    free(data);
    return view;
}

static double weight(int64_t j) { return 0.75 + (double)j / 4; }

static krf_array *make_weights(krf_context *context, int64_t n) {
    double data[MOST_COLUMNS];
    krf_array *array = NULL;
    for (int64_t j = 0; j < n; j++) {
        data[j] = weight(j);
    }
    assert_ok(krf_array_from_host(context, KRF_F64, 1, &n, data, &array));
    return array;
}

static void write_program(const example *e, char *text, size_t bytes) {
    const char *const axes[] = {"0", "(0, 1)", "1"};
    size_t n = (size_t)snprintf(text, bytes, "y = x[%s%s, %s]\nd = y.astype(f64)\nreturn ", e->axes == ROWS ? "" : ":, ", e->layout.rows, e->layout.columns);
    for (const char *c = e->p->text; *c != '\0'; c++) {
        n += (size_t)(*c == '$' ? snprintf(text + n, bytes - n, "%s", axes[e->axes]) : snprintf(text + n, bytes - n, "%c", *c));
    }
    assert_true(n < bytes);
}

/* Columns of a thread: two of halves where all vectors of rows are whole, one of what is wider, but of single sums, which registers have room for. Where memory begins a plan does not know, which is for arrays that begin with a vector; it then has another kernel. */
static int columns_of_thread(const example *e) {
    const layout *l = &e->layout;
    const int64_t row = row_of(e) + l->gap, places[] = {row * l->row_step, e->axes == ROWS ? 0 : rows_of(e) * row, place(e, 0, 0, 0) - l->before};
    int v = strchr(e->p->text, 'w') != NULL ? 2 : bytes_of(e->dtype) == 2 ? 8 : 4; /* of 16 bytes; w is of f64 */
    for (int k = 0; k < 3; k++) {
        while (places[k] % v != 0) {
            v = bytes_of(e->dtype) == 2 ? v / 2 : 1;
        }
    }
    const bool whole = v > 1 && l->column_step == 1 && e->columns % v == 0;
    return whole && e->p->bytes <= (bytes_of(e->dtype) == 2 ? 20 : 8) ? 2 : 1;
}

/* Whether elements go by way of shared memory: four bytes at once, accumulators of 16 to 60 bytes, and four lanes a thread or more. */
static bool goes_ahead(const example *e, bool short_ones) {
    const int v = columns_of_thread(e), bytes = v * e->p->bytes;
    int threads = 1;
    while (threads < 32 && threads * v * (v > 1 && threads >= 8 ? 2 : 1) < kept_of(e)) {
        threads *= 2;
    }
    return e->p->formula != counted /* in any order */ && (v * (int)bytes_of(e->dtype) == 4 && bytes >= 16 && bytes <= 60 && threads >= 4 && reduced_of(e) > (short_ones ? 1 : SHORT_COLUMN));
}

static void compute(const example *e, value want[MOST_OF_PROGRAM][MOST_COLUMNS]) {
    const int64_t n = reduced_of(e);
    double *elements = malloc((size_t)n * sizeof *elements);
    assert_non_null(elements);
    for (int64_t j = 0; j < kept_of(e); j++) {
        double results[MOST_OF_PROGRAM] = {0};
        for (int64_t i = 0; i < n; i++) {
            elements[i] = element(e, i, n, j);
        }
        e->p->formula(&(series){elements, n, weight(j % e->columns), e->dtype}, results);
        for (int k = 0; k < e->p->results; k++) {
            want[k][j] = (value){.dtype = KRF_F64, .f = results[k]};
        }
    }
    free(elements);
}

static void try_run(const run *r, const example *e) {
    static value want[MOST_OF_PROGRAM][MOST_COLUMNS];
    const bool ahead = goes_ahead(e, r == short_run);
    krf_array *const x = make(r->context, e), *const w = make_weights(r->context, e->columns);
    krf_array *got[MOST_OF_PROGRAM] = {NULL};
    char text[1024];
    write_program(e, text, sizeof text);
    krf_plan *plan = run_program(r, text, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("w", w)}, 2, e->p->results, got);
    const bool drifts = all.cuda && has_text(plan, "krf_copy_row_word((uint4 *)&held_"); /* of halves, too, whose rows have no whole words (test_drifting_columns.c) */
    if (all.cuda && !drifts && (has_text(plan, "krf_copy_part(&held_") || has_text(plan, "krf_copy_later(&held_")) != ahead) {
        COMPLAIN("%s\nof %s, %d x %" PRId64 " x %" PRId64 ", %s: elements should%s be copied to shared memory", text, name_of(e->dtype), e->planes, e->rows, e->columns, r->label, ahead ? "" : " not");
    }
    if (!collecting) {
        compute(e, want);
    }
    for (int k = 0; k < e->p->results; k++) {
        compare_values(r, text, x, got[k], want[k], kept_of(e));
    }
    krf_array_release(x);
    krf_array_release(w);
    krf_plan_release(plan);
}

/* Everywhere; where there is nothing of this, as in what a CPU compiles, a few. */
static void try_example(const example *e, int number) {
    const bool is_short = reduced_of(e) <= SHORT_COLUMN;
    assert_true(kept_of(e) <= MOST_COLUMNS);
    for (int k = 0; k < all.n; k++) {
        const run *r = &all.run[k];
        const bool other = r->compiled || (all.cuda && r != short_run && is_short);
        if (!passed_over(r) && (!other || number % 29 == 0) && (r != short_run || is_short)) {
            try_run(r, e);
        }
    }
}

/* ---- tests ---- */

static const krf_dtype dtypes[] = {KRF_F32, KRF_BF16, KRF_F16, KRF_I32, KRF_U16, KRF_U32, KRF_I16};
enum { DTYPES_OF_TEST = sizeof dtypes / sizeof *dtypes };

/* Lanes of a chunk are in shared memory by four steps of 256; threads have 4 to 32 of them, four at a time. Of odd widths there are no words of two halves. */
static void test_lengths(void **unused) {
    static const int64_t lengths[] = {1, 2, 3, 7, 63, 64, 65, 127, 128, 129, 191, 193, 255, 256, 257, 320, 511, 512, 513, 767, 769, 1023, 1024, 1025, 1279, 1280, 1281, 2047, 2048, 2049, 5000};
    static const int64_t widths[] = {4, 5, 8, 7, 16, 6, 33, 64, 31, 32, 3, 10, 65, 100, 63, 34, 18, 1, 2};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, WIDTHS = sizeof widths / sizeof *widths };
    (void)unused;
    for (int t = 0; t < LENGTHS * WIDTHS * 3; t++) {
        const int k = t / WIDTHS / 3, l = t / 3 % WIDTHS, d = t % 3;
        const bool other = widths[l] < 3 || (d > 0 && widths[l] % 2 != 0), same = d == 2 && widths[l] != 6 && widths[l] != 34; /* f16 differ in nothing that widths know of */
        if ((k + l + d) % (other ? 20 : 4) == 0 && !same) {
            try_example(&(example){&moments, dtypes[d], lengths[k], widths[l], plain, ROWS, 1}, t);
        }
    }
    assert_int_equal(failures, 0);
}

static void test_programs(void **unused) {
    static const struct {
        const program *p;
        int dtypes; /* the first ones */
    } programs[] = {{&moments, DTYPES_OF_TEST}, {&alone, 5}, {&scaled, 4}, {&positive, 4}, {&three, 3}, {&mixed, 3}, {&most, 2}, {&too_many, 2}};
    static const int64_t lengths[] = {300, 1025, 2300}, widths[] = {34, 64, 6};
    int t = 0;
    (void)unused;
    for (int k = 0; k < 8; k++) {
        for (int d = 0; d < programs[k].dtypes; d++, t++) {
            try_example(&(example){programs[k].p, dtypes[d], lengths[t % 3], widths[(t + k) % 3], plain, ROWS, 1}, t);
        }
    }
    assert_int_equal(failures, 0);
}

static void test_views(void **unused) {
    static const layout layouts[] = {{":", "1:", 0, 1, 1, 1, 0, 0, 0},     {":", "2:", 0, 1, 2, 1, 0, 0, 0},    {":", ":-1", 0, 1, 0, 1, 1, 0, 0},  {":", ":-2", 0, 1, 0, 1, 2, 0, 0}, {":", "1:-1", 0, 1, 1, 1, 1, 0, 0},
                                     {"1:", ":", 1, 1, 0, 1, 0, 0, 0},     {"::2", ":", 0, 2, 0, 1, 0, 0, 0},   {"1::3", ":", 1, 3, 0, 1, 0, 0, 0}, {"::-1", ":", 0, -1, 0, 1, 0, 0, 0}, {"::-2", "2:", 0, -2, 2, 1, 0, 0, 0},
                                     {":", "::2", 0, 1, 0, 2, 0, 0, 0},    {":", "::-1", 0, 1, 0, -1, 0, 0, 0}, {":", ":", 0, 1, 0, 1, 0, 8, 0},    {":", ":", 0, 1, 0, 1, 0, 1, 0},   {":", ":", 0, 1, 0, 1, 0, 2, 0},
                                     {":", ":", 0, 1, 0, 1, 0, 0, 16},     {":", ":", 0, 1, 0, 1, 0, 0, 1},     {":", ":", 0, 1, 0, 1, 0, 16, 6},   {"::-1", "::-1", 0, -1, 0, -1, 0, 3, 5}};
    static const int64_t lengths[] = {129, 700, 1024, 1400}, widths[] = {6, 40, 8, 64, 33};
    enum { LAYOUTS = sizeof layouts / sizeof *layouts };
    (void)unused;
    for (int t = 0; t < LAYOUTS * 3; t++) {
        const int k = t / 3, d = t % 3;
        try_example(&(example){&moments, dtypes[d], lengths[(k + d) % 4], widths[(k + 2 * d) % 5], layouts[k], ROWS, 1}, t);
    }
    assert_int_equal(failures, 0);
}

/* Planes lie one behind the other, or have rows between them. */
static void test_axes(void **unused) {
    static const layout layouts[] = {{":", ":", 0, 1, 0, 1, 0, 0, 0}, {"1:", ":", 1, 1, 0, 1, 0, 0, 0}, {"::-1", "2:", 0, -1, 2, 1, 0, 0, 2}, {"::2", ":-2", 0, 2, 0, 1, 2, 8, 0}, {":", "1:", 0, 1, 1, 1, 0, 0, 1}};
    static const int64_t lengths[] = {43, 130, 342, 513, 1025}, widths[] = {6, 34, 5, 40, 12};
    static const int planes[] = {3, 2, 7, 5};
    (void)unused;
    for (int t = 0; t < 5 * 2 * 3; t++) {
        const int k = t / 6, d = t / 3 % 2, l = t % 3;
        try_example(&(example){l < 2 ? &moments : &scaled, dtypes[d + (k == 4)], lengths[(k + l) % 5], widths[(k + 3 * d) % 5], layouts[k], (k + l) % 2 == 0 ? PLANES : BATCHES, planes[(k + 2 * l) % 4]}, t);
    }
    assert_int_equal(failures, 0);
}

static void test_statistics(void **unused) {
    static const int64_t lengths[] = {8193, 9217, 10240, 8447}, widths[] = {4, 6, 34, 16, 7};
    static const layout layouts[] = {{":", ":", 0, 1, 0, 1, 0, 0, 0}, {"::-1", ":", 0, -1, 0, 1, 0, 0, 0}, {":", "2:", 0, 1, 2, 1, 0, 0, 0}};
    (void)unused;
    for (int t = 0; t < 3 * 5; t++) {
        const int d = t % 3, l = t / 3;
        try_example(&(example){l % 2 == 0 ? &statistics : &deviations, dtypes[d], lengths[(l + d) % 4], widths[(l + 2 * d) % 5], layouts[t % 4 % 3], ROWS, 1}, t);
    }
    assert_int_equal(failures, 0);
}

/* More chunks than blocks, 256 of a column: some have two. Their kernels are those of fewer chunks. */
static void test_many_chunks(void **unused) {
    (void)unused;
    for (int k = 0; k < 3 && !collecting; k++) {
        try_example(&(example){k == 0 ? &mixed : &moments, dtypes[k % 2], 262144 + (const int64_t[]){1025, 511, 2048}[k], (const int64_t[]){5, 6, 3}[k], plain, ROWS, 1}, 1);
    }
    assert_int_equal(failures, 0);
}

/* A warp copies rows that lie in whole words of 16 bytes, those that do in part, or begin elsewhere, do not; and a block has several chunks, of which each GPU chooses its number. */
static void test_words(void **unused) {
    static const int64_t lengths[] = {257, 961, 1023, 5000, 9217, 20481, 4096, 12289}, widths[] = {32, 64, 128, 36, 100, 256, 72, 136};
    static const layout layouts[] = {{":", ":", 0, 1, 0, 1, 0, 0, 0}, {"1:", ":", 1, 1, 0, 1, 0, 0, 0}, {"::-1", ":", 0, -1, 0, 1, 0, 8, 0}, {":", "8:", 0, 1, 8, 1, 0, 0, 8}, {"::2", ":", 0, 2, 0, 1, 0, 16, 16}, {":", "4:", 0, 1, 4, 1, 0, 0, 0}};
    (void)unused;
    for (int t = 0; t < 3 * 8 * 2; t++) {
        const int d = t % 3, l = t / 3 % 8, k = t / 24;
        try_example(&(example){(t + k) % 5 == 0 ? &mixed : &moments, dtypes[d], lengths[(l + 3 * k) % 8], widths[(l + d) % 8], layouts[(t + k) % 6], ROWS, 1}, t);
    }
    for (int t = 0; t < 4; t++) { /* rows that begin at a word's border, and end within one */
        try_example(&(example){&moments, dtypes[t % 2], 1500, (const int64_t[]){35, 66, 101, 70}[t], (layout){":", ":", 0, 1, 0, 1, 0, 0, (const int[]){5, 6, 3, 2}[t]}, ROWS, 1}, t);
    }
    assert_int_equal(failures, 0);
}

static bool is_simulated(void) { return all.cuda && getenv("KRF_LIBCUDA") != NULL; }

/* On a simulated GPU whose kernels are compiled with another flag. */
static void try_simulated(const char *label, const char *flag, const example *e) {
    const char *flags = getenv("FAKECUDA_CXXFLAGS");
    krf_context_options options = krf_context_options_default();
    char usual[1024], changed[1100];
    run r = {0};
    snprintf(usual, sizeof usual, "%s", flags != NULL ? flags : "");
    snprintf(changed, sizeof changed, "%s %s", usual, flag);
    snprintf(r.label, sizeof r.label, "%s", label);
    setenv("FAKECUDA_CXXFLAGS", changed, 1);
    options.device = getenv("KRF_TEST_DEVICE");
    options.blocking_compile = true;
    options.cache = KRF_CACHE_OFF;
    assert_ok(krf_context_create(&options, &r.context));
    try_run(&r, e);
    krf_context_destroy(r.context);
    setenv("FAKECUDA_CXXFLAGS", usual, 1);
}

/* Of more than 8M rows chunks have 4,096, of which 1,024 are copied at once; the last one has one more than that. The simulation takes a tenth of its time where it is optimized. */
static void test_long_chunks(void **unused) {
    const example e = {&moments, KRF_F32, 8388608 + 1025, 5, plain, ROWS, 1};
    (void)unused;
    if (is_simulated()) {
        try_simulated("cuda, optimized", "-O1", &e);
    } else if (all.cuda) {
        try_run(&all.run[0], &e);
    }
    assert_int_equal(failures, 0);
}

/* A GPU before 8.0 has no copies that come later: what is there at once may not lie where elements are still to be read. */
static void test_at_once(void **unused) {
    (void)unused;
    if (is_simulated()) {
        try_simulated("cuda before 8.0", "-D__CUDA_ARCH__=600", &(example){&moments, KRF_F32, 1024, 33, plain, ROWS, 1});
        try_simulated("cuda before 8.0", "-D__CUDA_ARCH__=600", &(example){&moments, KRF_F32, 2300, 6, plain, ROWS, 1});
    }
    assert_int_equal(failures, 0);
}

/* Which kernels have their elements copied, of x and, as wide, z: n rows of m; w is a row of f64. */
static void test_shapes(void **unused) {
    static const struct {
        krf_dtype dtype;
        int64_t n, m;
        const char *text;
        bool ahead;
    } shapes[] = {
        {KRF_F32, 1000, 64, "sum(d, axis=0), sum(d * d, axis=0)", true},
        {KRF_F32, 129, 64, "sum(d, axis=0), sum(d * d, axis=0)", true},
        {KRF_F32, 128, 64, "sum(d, axis=0), sum(d * d, axis=0)", false}, /* which lie beside one another */
        {KRF_F32, 1000, 3, "sum(d, axis=0), sum(d * d, axis=0)", true},
        {KRF_F32, 1000, 2, "sum(d, axis=0), sum(d * d, axis=0)", false}, /* two lanes a thread */
        {KRF_BF16, 1000, 64, "sum(d, axis=0), sum(d * d, axis=0)", true},
        {KRF_BF16, 1000, 63, "sum(d, axis=0), sum(d * d, axis=0)", true}, /* words of memory have pairs, wherever rows begin */
        {KRF_I16, 1000, 64, "sum(d, axis=0), sum(d * d, axis=0)", true},
        {KRF_I8, 1000, 64, "sum(d, axis=0), sum(d * d, axis=0)", false},
        {KRF_F64, 1000, 64, "sum(d, axis=0), sum(d * d, axis=0)", false},
        {KRF_F32, 1000, 64, "sum(d, axis=0)", false}, /* registers have room for single ones, */
        {KRF_F32, 1000, 63, "sum(d, axis=0)", false},
        {KRF_BF16, 1000, 64, "sum(d, axis=0)", true}, /* but not of two columns */
        {KRF_F32, 1000, 64, "sum(x, axis=0), max(x, axis=0), min(x, axis=0), sum(x * x, axis=0)", false}, /* none is wide */
        {KRF_I32, 1000, 63, "sum(x, axis=0), sum(x * x, axis=0)", false},                                 /* in any order */
        {KRF_F32, 1000, 64, "d * d, sum(d, axis=0), sum(d * d, axis=0)", false},                          /* elements are stored */
        {KRF_F32, 1000, 64, "sum(d * z, axis=0), sum(d, axis=0)", false},                                 /* two operands, */
        {KRF_F32, 1000, 64, "sum(d[1:] - d[:-1], axis=0), sum(d[1:] * d[:-1], axis=0)", false},
        {KRF_F32, 1000, 64, "sum(d * w, axis=0), sum(d, axis=0)", false},
        {KRF_F32, 1000, 64, "sum(d, axis=0) * w, sum(d * d, axis=0) / w", true}, /* but only one in the sums */
        {KRF_F32, 8193, 64, "mean(x, axis=0), var(x, axis=0)", true},
        {KRF_BF16, 8193, 64, "mean(x, axis=0), var(x, axis=0)", true},
        {KRF_F32, 8192, 64, "mean(x, axis=0), var(x, axis=0)", false}, /* in two passes, of f32 */
    };
    (void)unused;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const int64_t shape[] = {shapes[k].n, shapes[k].m};
        krf_graph *g = krf_graph_create(all.run[0].context);
        const krf_binding bindings[] = {krf_bind_expr("x", krf_placeholder(g, "x", shapes[k].dtype, 2, shape)), krf_bind_expr("z", krf_placeholder(g, "z", shapes[k].dtype, 2, shape)), krf_bind_expr("w", krf_placeholder(g, "w", KRF_F64, 1, shape + 1))};
        krf_expr results[MOST_OF_PROGRAM];
        char whole[256], *text = NULL;
        size_t bytes = 0;
        int n = 0;
        snprintf(whole, sizeof whole, "d = x.astype(f64)\nreturn %s", shapes[k].text);
        if (krf_parse_many(g, whole, bindings, 3, MOST_OF_PROGRAM, results, &n) != KRF_OK || krf_dump(g, n, results, KRF_DUMP_SOURCE, "cuda", NULL, &text, &bytes) != KRF_OK) {
            fail_msg("%s: %s", whole, krf_error_message());
        }
        if ((strstr(text, " held_in") != NULL) != shapes[k].ahead) {
            COMPLAIN("%s\nof %s, %" PRId64 " x %" PRId64 ": elements should%s be copied to shared memory", whole, name_of(shapes[k].dtype), shape[0], shape[1], shapes[k].ahead ? "" : " not");
        }
        krf_free(text);
        krf_graph_destroy(g);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    setenv("FAKECUDA_SEED", "3", 0);    /* threads in another order than their own */
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
    return run_part_on(&all, TESTS(noted_test(test_lengths), noted_test(test_programs), noted_test(test_views), noted_test(test_axes), noted_test(test_statistics),
                                   cmocka_unit_test(test_many_chunks), noted_test(test_words), cmocka_unit_test(test_long_chunks), cmocka_unit_test(test_at_once), cmocka_unit_test(test_shapes)));
}
