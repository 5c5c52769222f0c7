/* Short rows that a GPU stages in shared memory by whole vectors, because threads which have two or an odd number of these each would leave gaps, and all operands of short rows of any width (src/plan/stage.c): rounds (x / sum(x),
 * softmax, layer norm, x - max(x)), two results, results wider and narrower than what they are made of, places beside elements, what all rows share or each has one of, operands that lie across, apart and off the borders of words,
 * results likewise, and in the place of operands; and sums of products of up to four operands. Against plain loops: the bits where each step is rounded exactly, long double and a bound where functions are not. Which rows
 * are staged, and that no block asks for more shared memory than there is, from the kernels' texts. */
#include "ops/outer.h"
#include "ops/programs.h"
#include "ops/tree.h"

enum { MOST_RESULTS = 3, LONGEST = 64, MOST_ELEMENTS = 80000, AROUND = 19, SHARED_MOST = 49152 };

static runs all; /* on a GPU: lengths are text, and none is */

/* Each test fails for itself. */
static void finish(void) {
    const int n = failures;
    failures = 0;
    assert_int_equal(n, 0);
}

/* ---- programs ---- */

/* x, y, z, u have rows; t lies across; w and v are one row for all; s has an element for each row. */
enum { X, Y, Z, U, T, W, V, S, ARRAYS };
static const char *const names[ARRAYS] = {"x", "y", "z", "u", "t", "w", "v", "s"};

typedef struct line {
    const value *of[ARRAYS]; /* from the row's first element on */
    int64_t n;
} line;

/* What a row's results must be: of whole[k] results an element for each of the row. Exactly, unless tolerance is not 0. */
typedef struct wanted {
    value exact[MOST_RESULTS][LONGEST];
    long double real[MOST_RESULTS][LONGEST], tolerance[MOST_RESULTS][LONGEST];
} wanted;

typedef enum kinds { ANY_DTYPE, FLOATS, WIDE_FLOATS } kinds;

typedef struct staged_program {
    const char *text;
    void (*row)(const line *l, wanted *w);
    kinds kinds;
    int n;
    bool of_row[MOST_RESULTS]; /* one element a row */
    bool reduces;              /* and has no rounds: the length is text only where arrays are large */
    bool any_numbers;          /* NaN and infinities as well */
    bool sums;                 /* rows without elements have results, too */
} staged_program;

static value quotient(value a, value b) {
    if (!is_real(b.dtype)) {
        return (value){.dtype = KRF_F64, .f = convert(a, KRF_F64).f / convert(b, KRF_F64).f};
    }
    const double r = a.f / b.f;
    return (value){.dtype = b.dtype, .f = b.dtype == KRF_F64 ? r : round_to(b.dtype, (long double)nearest_float(r))};
}

/* The longer one's dtype: of integers, whose sums are of 64 bits. */
static value minus_sum(value a, value sum) { return step_of('-', convert(a, sum.dtype), sum); }

static void copy_row(const line *l, int array, value *row) { memcpy(row, l->of[array], (size_t)l->n * sizeof *row); }

static void all_steps(char op, value *row, const value *beside, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        row[j] = step_of(op, row[j], beside[j]);
    }
}

/* Each of a row over its sum. */
static void over_sum(const value *row, int64_t n, value *to) {
    const value sum = reduce(SUM, row, n);
    for (int64_t j = 0; j < n; j++) {
        to[j] = quotient(row[j], sum);
    }
}

static void less(const value *row, int op, int64_t n, value *to) {
    const value found = reduce(op, row, n);
    for (int64_t j = 0; j < n; j++) {
        to[j] = step_of('-', row[j], found);
    }
}

static void row_quotients(const line *l, wanted *w) { over_sum(l->of[X], l->n, w->exact[0]); }

static void row_less_max(const line *l, wanted *w) { less(l->of[X], MAX, l->n, w->exact[0]); }

static void row_mask(const line *l, wanted *w) {
    const value m = reduce(MAX, l->of[X], l->n);
    less(l->of[X], MAX, l->n, w->exact[0]);
    for (int64_t j = 0; j < l->n; j++) {
        w->exact[1][j] = step_of('<', l->of[X][j], m);
    }
}

static void row_place(const line *l, wanted *w) {
    less(l->of[X], MIN, l->n, w->exact[0]);
    w->exact[1][0] = reduce(ARGMAX, l->of[X], l->n);
}

static void row_residual(const line *l, wanted *w) {
    copy_row(l, X, w->exact[0]);
    all_steps('+', w->exact[0], l->of[Y], l->n);
    over_sum(w->exact[0], l->n, w->exact[1]);
}

static void row_narrow(const line *l, wanted *w) {
    over_sum(l->of[X], l->n, w->exact[0]);
    for (int64_t j = 0; j < l->n; j++) {
        w->exact[0][j] = convert(w->exact[0][j], KRF_BF16);
    }
}

static void row_wide(const line *l, wanted *w) {
    less(l->of[X], MAX, l->n, w->exact[0]);
    for (int64_t j = 0; j < l->n; j++) {
        w->exact[0][j] = convert(w->exact[0][j], KRF_F64);
    }
}

/* y is read in one round alone. */
static void row_products(const line *l, wanted *w) {
    value row[LONGEST];
    copy_row(l, X, row);
    all_steps('*', row, l->of[Y], l->n);
    const value sum = reduce(SUM, row, l->n);
    for (int64_t j = 0; j < l->n; j++) {
        w->exact[0][j] = minus_sum(l->of[X][j], sum);
    }
}

static void row_turned(const line *l, wanted *w) {
    value row[LONGEST];
    copy_row(l, X, row);
    all_steps('+', row, l->of[T], l->n);
    less(row, MAX, l->n, w->exact[0]);
}

static void row_shared(const line *l, wanted *w) {
    value row[LONGEST];
    copy_row(l, X, row);
    all_steps('*', row, l->of[W], l->n);
    less(row, MIN, l->n, w->exact[0]);
}

static void row_each(const line *l, wanted *w) {
    value row[LONGEST];
    for (int64_t j = 0; j < l->n; j++) {
        row[j] = step_of('-', l->of[X][j], l->of[S][0]);
    }
    over_sum(row, l->n, w->exact[0]);
    w->exact[1][0] = reduce(MAX, row, l->n);
}

static void row_three(const line *l, wanted *w) {
    value row[LONGEST];
    copy_row(l, X, row);
    all_steps('-', row, l->of[Y], l->n);
    all_steps('*', row, l->of[Z], l->n);
    less(row, MIN, l->n, w->exact[0]);
}

static void row_deviations(const line *l, wanted *w) {
    const value mean = reduce(MEAN, l->of[X], l->n);
    w->exact[0][0] = mean;
    for (int64_t j = 0; j < l->n; j++) {
        w->exact[1][j] = minus_sum(l->of[X][j], mean);
    }
}

/* Results of three widths. */
static void row_widths(const line *l, wanted *w) {
    const value m = reduce(MIN, l->of[X], l->n);
    for (int64_t j = 0; j < l->n; j++) {
        w->exact[0][j] = convert(step_of('-', l->of[X][j], m), KRF_F32);
        w->exact[1][j] = step_of('<', m, l->of[X][j]);
        w->exact[2][j] = convert(l->of[X][j], KRF_F16);
    }
}

static void row_sum_of_two(const line *l, wanted *w) {
    value row[LONGEST];
    copy_row(l, X, row);
    all_steps('*', row, l->of[Y], l->n);
    w->exact[0][0] = reduce(SUM, row, l->n);
}

static void row_sum_of_three(const line *l, wanted *w) {
    value row[LONGEST];
    copy_row(l, X, row);
    all_steps('*', row, l->of[Y], l->n);
    all_steps('*', row, l->of[Z], l->n);
    w->exact[0][0] = reduce(SUM, row, l->n);
}

static void row_sum_of_four(const line *l, wanted *w) {
    value row[LONGEST], beside[LONGEST];
    copy_row(l, X, row);
    all_steps('-', row, l->of[Y], l->n);
    copy_row(l, Z, beside);
    all_steps('-', beside, l->of[U], l->n);
    all_steps('*', row, beside, l->n);
    w->exact[0][0] = reduce(SUM, row, l->n);
}

static void row_sum_and_most(const line *l, wanted *w) {
    row_sum_of_two(l, w);
    w->exact[1][0] = reduce(MAX, l->of[Z], l->n);
}

static void row_place_alone(const line *l, wanted *w) { w->exact[0][0] = reduce(ARGMAX, l->of[X], l->n); }

static void row_kept_products(const line *l, wanted *w) {
    copy_row(l, X, w->exact[0]);
    all_steps('*', w->exact[0], l->of[Y], l->n);
    w->exact[1][0] = reduce(SUM, w->exact[0], l->n);
}

static void row_place_of_products(const line *l, wanted *w) {
    row_kept_products(l, w);
    w->exact[1][0] = reduce(ARGMIN, w->exact[0], l->n);
}

static void row_weighted(const line *l, wanted *w) {
    value row[LONGEST];
    copy_row(l, X, row);
    all_steps('*', row, l->of[W], l->n);
    w->exact[0][0] = reduce(SUM, row, l->n);
    w->exact[1][0] = reduce(MIN, l->of[X], l->n);
}

/* ---- functions: long double, and how many units of the last place they may be off ---- */

static long double unit_of(krf_dtype dtype) { return ldexpl(1, -facts_of(dtype)->digits); }

static void row_softmax(const line *l, wanted *w) {
    long double most = (long double)l->of[X][0].f, sum = 0;
    for (int64_t j = 1; j < l->n; j++) {
        most = fmaxl(most, (long double)l->of[X][j].f);
    }
    for (int64_t j = 0; j < l->n; j++) {
        w->real[0][j] = expl((long double)l->of[X][j].f - most);
        sum += w->real[0][j];
    }
    for (int64_t j = 0; j < l->n; j++) {
        w->real[0][j] /= sum;
        w->tolerance[0][j] = 12 * unit_of(l->of[X][0].dtype) * w->real[0][j];
    }
}

static void normalize(const line *l, long double *to, long double *tolerance) {
    long double mean = 0, var = 0, most = 0;
    for (int64_t j = 0; j < l->n; j++) {
        mean += (long double)l->of[X][j].f / (long double)l->n;
        most = fmaxl(most, fabsl((long double)l->of[X][j].f));
    }
    for (int64_t j = 0; j < l->n; j++) {
        const long double d = (long double)l->of[X][j].f - mean;
        var += d * d / (long double)l->n;
    }
    const long double deviation = sqrtl(var + 0.00001L);
    for (int64_t j = 0; j < l->n; j++) {
        to[j] = ((long double)l->of[X][j].f - mean) / deviation;
        tolerance[j] = 12 * unit_of(l->of[X][0].dtype) * (1 + most / deviation) * (1 + fabsl(to[j]));
    }
}

static void row_norm(const line *l, wanted *w) { normalize(l, w->real[0], w->tolerance[0]); }

static void row_weighted_norm(const line *l, wanted *w) {
    normalize(l, w->real[0], w->tolerance[0]);
    for (int64_t j = 0; j < l->n; j++) {
        const long double by = (long double)l->of[W][j].f, more = (long double)l->of[V][j].f;
        w->real[0][j] = w->real[0][j] * by + more;
        w->tolerance[0][j] = w->tolerance[0][j] * fabsl(by) + 4 * unit_of(l->of[X][0].dtype) * (fabsl(more) + fabsl(w->real[0][j]));
    }
}

#define NORM "(x - mean(x, axis=1)[:, None]) / sqrt(var(x, axis=1)[:, None] + 0.00001)"

static const staged_program programs[] = {
    {.text = "x / sum(x, axis=1)[:, None]", .row = row_quotients, .n = 1, .any_numbers = true, .sums = true},
    {.text = "e = exp(x - max(x, axis=1)[:, None])\nreturn e / sum(e, axis=1)[:, None]", .row = row_softmax, .kinds = FLOATS, .n = 1},
    {.text = NORM, .row = row_norm, .kinds = FLOATS, .n = 1},
    {.text = NORM " * w + v", .row = row_weighted_norm, .kinds = FLOATS, .n = 1},
    {.text = "x - max(x, axis=1)[:, None]", .row = row_less_max, .n = 1, .any_numbers = true},
    {.text = "m = max(x, axis=1)[:, None]\nreturn x - m, x < m", .row = row_mask, .n = 2, .any_numbers = true},
    {.text = "return x - min(x, axis=1)[:, None], argmax(x, axis=1)", .row = row_place, .n = 2, .of_row = {false, true}, .any_numbers = true},
    {.text = "s = x + y\nreturn s, s / sum(s, axis=1)[:, None]", .row = row_residual, .n = 2, .sums = true},
    {.text = "bf16(x / sum(x, axis=1)[:, None])", .row = row_narrow, .kinds = WIDE_FLOATS, .n = 1, .sums = true},
    {.text = "f64(x - max(x, axis=1)[:, None])", .row = row_wide, .n = 1, .any_numbers = true},
    {.text = "x - sum(x * y, axis=1)[:, None]", .row = row_products, .kinds = FLOATS, .n = 1, .sums = true},
    {.text = "a = x + t.T\nreturn a - max(a, axis=1)[:, None]", .row = row_turned, .n = 1},
    {.text = "a = x * w\nreturn a - min(a, axis=1)[:, None]", .row = row_shared, .n = 1, .any_numbers = true},
    {.text = "a = x - s[:, None]\nreturn a / sum(a, axis=1)[:, None], max(a, axis=1)", .row = row_each, .n = 2, .of_row = {false, true}},
    {.text = "a = (x - y) * z\nreturn a - min(a, axis=1)[:, None]", .row = row_three, .n = 1},
    {.text = "m = mean(x, axis=1)\nreturn m, x - m[:, None]", .row = row_deviations, .n = 2, .of_row = {true, false}},
    {.text = "m = min(x, axis=1)[:, None]\nreturn f32(x - m), m < x, f16(x)", .row = row_widths, .kinds = WIDE_FLOATS, .n = 3},
    {.text = "sum(x * y, axis=1)", .row = row_sum_of_two, .n = 1, .of_row = {true}, .reduces = true, .sums = true},
    {.text = "sum(x * y * z, axis=1)", .row = row_sum_of_three, .n = 1, .of_row = {true}, .reduces = true, .sums = true},
    {.text = "sum((x - y) * (z - u), axis=1)", .row = row_sum_of_four, .n = 1, .of_row = {true}, .reduces = true, .sums = true},
    {.text = "return sum(x * y, axis=1), max(z, axis=1)", .row = row_sum_and_most, .n = 2, .of_row = {true, true}, .reduces = true},
    {.text = "argmax(x, axis=1)", .row = row_place_alone, .n = 1, .of_row = {true}, .reduces = true, .any_numbers = true},
    {.text = "a = x * y\nreturn a, sum(a, axis=1)", .row = row_kept_products, .n = 2, .of_row = {false, true}, .reduces = true, .sums = true},
    {.text = "a = x * y\nreturn a, argmin(a, axis=1)", .row = row_place_of_products, .n = 2, .of_row = {false, true}, .reduces = true},
    {.text = "return sum(x * w, axis=1), min(x, axis=1)", .row = row_weighted, .n = 2, .of_row = {true, true}, .reduces = true},
};
enum { PROGRAMS = sizeof programs / sizeof *programs, RESIDUAL = 7 };

static bool takes(const staged_program *p, krf_dtype dtype) { return p->kinds == ANY_DTYPE || (is_real(dtype) && (p->kinds == FLOATS || bytes_of(dtype) >= 4)); }

/* ---- operands ---- */

/* How rows lie: one after the other; from the second element of memory on; with 16 elements between them, or 3; after another row. RESULT_ON: results that are given lie as operands do, the first one in the place of x. */
typedef enum lie { WHOLE, OFF_BORDER, APART, APART_ODD, LATER, LIES } lie;
static const char *const lies[LIES] = {"", ", off the border", ", apart", ", apart by 3", ", a row later"};

typedef struct staged_example {
    const staged_program *p;
    krf_dtype dtype;
    int64_t n_rows, n;
    lie in, out; /* of x, y, z, u; of results of whole rows, where `given` */
    bool beside; /* only y, z, u lie so */
    bool given, in_place, odd;
} staged_example;

static value elements[ARRAYS][MOST_ELEMENTS];

static int64_t gap_of(lie l) { return l == APART ? 16 : l == APART_ODD ? 3 : 0; }
static int64_t before_of(lie l, int64_t n) { return l == OFF_BORDER ? 1 : l == LATER ? n : l == APART_ODD ? 2 : 0; }

static int64_t size_of(const staged_example *e, int a) { return a == W || a == V ? e->n : a == S ? e->n_rows : e->n_rows * e->n; }

static bool used(const staged_example *e, int a) {
    const char *at = e->p->text; /* names stand alone */
    for (at = strchr(at, names[a][0]); at != NULL; at = strchr(at + 1, names[a][0])) {
        const bool begins = at == e->p->text || strchr(" (\n", at[-1]) != NULL, ends = at[1] == '\0' || strchr(" ),.[\n", at[1]) != NULL;
        if (begins && ends) {
            return true;
        }
    }
    return false;
}

static value draw_one(krf_dtype dtype, bool odd, uint64_t *seed) {
    const value v = draw(dtype, odd, seed);
    return is_real(dtype) && !odd && next_random(seed) % 3 == 0 ? number(dtype, -v.f) : v;
}

static void fill(const staged_example *e) {
    uint64_t seed = (uint64_t)(e->n + 1000 * e->n_rows);
    for (int a = 0; a < ARRAYS; a++) {
        for (int64_t k = 0; k < size_of(e, a); k++) {
            elements[a][k] = draw_one(e->dtype, e->odd && a == X && k / e->n % 4 == 3, &seed);
        }
    }
}

/* Memory of rows; what lies around them is anything. Nothing lies behind the last. */
static krf_array *make_rows(krf_context *context, krf_dtype dtype, const value *from, int64_t n_rows, int64_t n, lie how) {
    const int64_t gap = gap_of(how), before = before_of(how, n), size = before + n_rows * (n + gap) - (n_rows > 0 ? gap : 0);
    krf_array *base = NULL, *view = NULL;
    char *memory = malloc((size_t)size * bytes_of(dtype) + 1);
    assert_non_null(memory);
    for (int64_t k = 0; k < size; k++) {
        const int64_t at = k - before;
        const bool beside = at < 0 || at % (n + gap) >= n;
        put(memory, k, !beside ? from[at / (n + gap) * n + at % (n + gap)] : is_real(dtype) ? number(dtype, k % 2 == 0 ? (double)NAN : (double)INFINITY) : whole_number(dtype, 77));
    }
    if (how == WHOLE) {
        assert_ok(krf_array_from_host(context, dtype, 2, (int64_t[]){n_rows, n}, memory, &view));
    } else {
        assert_ok(krf_array_from_host(context, dtype, 1, &size, memory, &base));
        assert_ok(krf_array_view(base, 2, (int64_t[]){n_rows, n}, (int64_t[]){n + gap, 1}, before, &view));
        krf_array_release(base);
    }
    free(memory);
    return view;
}

static krf_array *make_operand_of(krf_context *context, const staged_example *e, int a) {
    krf_array *array = NULL;
    if (a == T) {
        value *turned = malloc((size_t)(e->n_rows * e->n + 1) * sizeof *turned);
        assert_non_null(turned);
        for (int64_t i = 0; i < e->n_rows; i++) {
            for (int64_t j = 0; j < e->n; j++) {
                turned[j * e->n_rows + i] = elements[T][i * e->n + j];
            }
        }
        array = make_rows(context, e->dtype, turned, e->n, e->n_rows, WHOLE);
        free(turned);
        return array;
    }
    if (a == W || a == V || a == S) {
        char *memory = malloc((size_t)size_of(e, a) * bytes_of(e->dtype) + 1);
        assert_non_null(memory);
        for (int64_t k = 0; k < size_of(e, a); k++) {
            put(memory, k, elements[a][k]);
        }
        assert_ok(krf_array_from_host(context, e->dtype, 1, (int64_t[]){size_of(e, a)}, memory, &array));
        free(memory);
        return array;
    }
    return make_rows(context, e->dtype, elements[a], e->n_rows, e->n, e->beside && a == X ? WHOLE : e->in);
}

/* ---- results that are given ---- */

enum { UNTOUCHED = 0x2a };

/* Rows among bytes that nobody may write. */
static krf_array *make_result(krf_context *context, krf_dtype dtype, int64_t n_rows, int64_t n, lie how, krf_array **base) {
    const int64_t gap = gap_of(how), before = before_of(how, n), size = before + n_rows * (n + gap) + AROUND;
    krf_array *view = NULL;
    char *memory = malloc((size_t)size * bytes_of(dtype));
    assert_non_null(memory);
    memset(memory, dtype == KRF_BOOL ? 1 : UNTOUCHED, (size_t)size * bytes_of(dtype));
    assert_ok(krf_array_from_host(context, dtype, 1, &size, memory, base));
    assert_ok(krf_array_view(*base, 2, (int64_t[]){n_rows, n}, (int64_t[]){n + gap, 1}, before, &view));
    free(memory);
    return view;
}

static void look_around(krf_array *base, int64_t n_rows, int64_t n, lie how, const char *what) {
    const int64_t gap = gap_of(how), before = before_of(how, n), size = krf_array_size(base);
    const size_t bytes = bytes_of(krf_array_dtype(base));
    char *memory = malloc((size_t)size * bytes);
    assert_non_null(memory);
    read_back(base, memory, (size_t)size * bytes);
    for (int64_t k = 0; k < size; k++) {
        const int64_t at = k - before;
        if (at < 0 || at >= n_rows * (n + gap) || at % (n + gap) >= n) {
            for (size_t b = 0; b < bytes; b++) {
                if (memory[(size_t)k * bytes + b] != (krf_array_dtype(base) == KRF_BOOL ? 1 : UNTOUCHED)) {
                    COMPLAIN("%s: element %" PRId64 " beside a result was written", what, at);
                    free(memory);
                    return;
                }
            }
        }
    }
    free(memory);
}

/* ---- evaluation ---- */

static void forget_lengths(krf_context *context) { /* which has few for each kind of kernel: each example is the first */
    krf__lengths *l = &context->lengths;
    memset(l->kinds, 0, sizeof l->kinds);
}

static bool knows_lengths(const run *r) { return all.cuda && r == &all.run[0]; }

/* What a block declares, from its kernel's text. */
static int64_t shared_bytes(const char *kernel) {
    int64_t sum = 0;
    for (const char *at = strstr(kernel, "__shared__ uint4 tile_"); at != NULL; at = strstr(at + 1, "__shared__ uint4 tile_")) {
        const char *many = strchr(at, '[');
        sum += many != NULL ? 16 * strtoll(many + 1, NULL, 10) : 0;
    }
    return sum;
}

static void compare_rows(const staged_example *e, krf_array *const *got, const char *what) {
    static wanted w;
    char *data[MOST_RESULTS];
    bool same_as_wanted = true;
    for (int k = 0; k < e->p->n; k++) {
        const size_t bytes = (size_t)krf_array_size(got[k]) * bytes_of(krf_array_dtype(got[k]));
        assert_true(krf_array_size(got[k]) == e->n_rows * (e->p->of_row[k] ? 1 : e->n));
        data[k] = malloc(bytes + 1);
        assert_non_null(data[k]);
        read_back(got[k], data[k], bytes);
    }
    for (int64_t i = 0; i < e->n_rows && e->n == 0 && e->p->reduces; i++) { /* sums of nothing */
        const value found = get(data[e->p->n - 1], krf_array_dtype(got[e->p->n - 1]), i);
        if (found.i != 0 || found.f != 0 || signbit(found.f)) {
            COMPLAIN("%s: row %" PRId64 " of no elements is not 0", what, i);
        }
    }
    for (int64_t i = 0; i < e->n_rows && e->n > 0 && same_as_wanted; i++) {
        line l = {.n = e->n};
        for (int a = 0; a < ARRAYS; a++) {
            l.of[a] = elements[a] + (a == S ? i : a == W || a == V ? 0 : i * e->n);
        }
        memset(w.tolerance, 0, sizeof w.tolerance);
        e->p->row(&l, &w);
        for (int k = 0; k < e->p->n; k++) {
            const int64_t each = e->p->of_row[k] ? 1 : e->n;
            for (int64_t j = 0; j < each && same_as_wanted; j++) {
                const value found = get(data[k], krf_array_dtype(got[k]), i * each + j);
                const long double off = (long double)found.f - w.real[k][j], most = w.tolerance[k][j];
                char a[64], b[64];
                same_as_wanted = most > 0 ? fabsl(off) <= most : same(found, w.exact[k][j]);
                if (!same_as_wanted && most > 0) {
                    COMPLAIN("%s: result %d, row %" PRId64 ", %" PRId64 " is %s, not %.17Lg, by %Lg and not %Lg", what, k, i, j, show(found, a, 64), w.real[k][j], off, most);
                } else if (!same_as_wanted) {
                    COMPLAIN("%s: result %d, row %" PRId64 ", %" PRId64 " is %s, not %s", what, k, i, j, show(found, a, 64), show(w.exact[k][j], b, 64));
                }
            }
        }
    }
    for (int k = 0; k < e->p->n; k++) {
        free(data[k]);
    }
}

static int n_staged; /* plans, on a GPU */

/* Rows of a block, if the plan says so. */
static int64_t try_on(const run *now, const staged_example *e) {
    krf_array *arrays[ARRAYS] = {NULL}, *got[MOST_RESULTS] = {NULL}, *bases[MOST_RESULTS] = {NULL};
    krf_binding bindings[ARRAYS];
    krf_expr results[MOST_RESULTS];
    krf_graph *g = krf_graph_create(now->context);
    krf_plan *plan = NULL;
    char text[300], what[500];
    int n = 0, n_bindings = 0;
    snprintf(what, sizeof what, "%s: %s of %s, %" PRId64 " rows of %" PRId64 "%s%s%s%s%s%s", now->label, e->p->text, name_of(e->dtype), e->n_rows, e->n, lies[e->in], e->beside ? " but for x" : "", e->given ? ", results given" : "",
             e->given ? lies[e->out] : "", e->in_place ? ", in place" : "", e->odd ? ", odd numbers" : "");
    snprintf(text, sizeof text, "%s%s", strstr(e->p->text, "return ") != NULL ? "" : "return ", e->p->text);
    if (knows_lengths(now)) {
        forget_lengths(now->context);
    }
    for (int a = 0; a < ARRAYS; a++) {
        if (used(e, a)) {
            arrays[a] = make_operand_of(now->context, e, a);
            bindings[n_bindings++] = krf_bind_array(names[a], arrays[a]);
        }
    }
    if (krf_parse_many(g, text, bindings, n_bindings, MOST_RESULTS, results, &n) != KRF_OK || n != e->p->n || krf_compile(g, n, results, NULL, &plan) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    for (int k = 0; k < n && e->given; k++) {
        const krf_dtype dtype = krf_expr_dtype(results[k]);
        if (e->in_place && k == 0 && dtype == e->dtype && !e->p->of_row[k]) {
            got[k] = arrays[X];
            krf_array_retain(got[k]);
        } else if (!e->p->of_row[k]) {
            got[k] = make_result(now->context, dtype, e->n_rows, e->n, e->out, &bases[k]);
        }
    }
    if (krf_eval_many(n, results, got) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    if (!collecting) {
        compare_rows(e, got, what);
    }
    for (int k = 0; k < n; k++) {
        if (bases[k] != NULL && !collecting) {
            look_around(bases[k], e->n_rows, e->n, e->out, what);
        }
        krf_array_release(bases[k]);
        krf_array_release(got[k]);
    }
    for (int a = 0; a < ARRAYS; a++) {
        krf_array_release(arrays[a]);
    }
    const int64_t n_rows = knows_lengths(now) && !collecting ? rows_of_block(plan) : 0;
    n_staged += n_rows > 0 && has_text(plan, "uint4 tile_in0[");
    krf_plan_release(plan);
    krf_graph_destroy(g);
    return n_rows;
}

/* compiled: on the CPU. some: on a GPU also where no length is text. */
static int64_t try_example_of(staged_example e, bool compiled, bool some) {
    int64_t found = 0;
    e.odd &= e.p->any_numbers;
    if (!collecting) {
        assert_true(e.n_rows * e.n <= MOST_ELEMENTS);
        fill(&e);
    }
    for (int r = 0; r < all.n; r++) {
        const run *now = &all.run[r];
        if (passed_over(now) || (now->compiled && !compiled) || (all.cuda && r > 0 && !some)) {
            continue;
        }
        const int64_t n_rows = try_on(now, &e);
        found = n_rows > 0 ? n_rows : found;
    }
    return found;
}

/* Numbers of rows that end with whole warps, and next to these; with whole blocks, whose last has one row, or all but one. */
static void try_numbers(staged_example e, int64_t salt) {
    static const int64_t counts[] = {1, 2, 63, 64, 65, 127, 128, 129, 1000};
    const bool compiled = salt % 11 == 0, some = salt % 3 == 0;
    int64_t block = 0;
    for (int c = 0; c < 3; c++) {
        e.n_rows = c == 2 && salt % 3 > 0 ? 400 + salt % 7 : counts[(salt + 4 * c) % 9];
        const int64_t found = try_example_of(e, compiled && c != 1, some);
        block = found > 0 ? found : block;
    }
    for (int64_t times = 1; times <= 2 && block > 0; times++) {
        e.n_rows = times * block + (times == 1 ? 1 : -1);
        if (e.n_rows > 0 && e.n_rows * e.n <= MOST_ELEMENTS / 2) {
            try_example_of(e, false, false);
        }
    }
}

static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_BF16, KRF_F16, KRF_I32, KRF_I64, KRF_U8};
enum { WIDTHS = sizeof dtypes / sizeof *dtypes };

/* From 2 to 36, then every eighth. */
static int64_t next_length(int64_t n) { return n < 36 ? n + 1 : n == 36 ? 40 : n == 40 ? 44 : n + 8; }

/* Whether rows over their sum are staged: whole rows of what has no vectors, few vectors, and never more than memory allows. */
static bool has_gaps(krf_dtype dtype, int64_t n) {
    switch (bytes_of(dtype)) {
    case 8: return n == 4 || n == 6 || n == 10;
    case 4: return n == 8 || n == 12 || n == 20 || n == 36 || n == 44;
    case 2: return n == 16 || n == 24;
    default: return n == 16;
    }
}

static void try_programs(int first, int last, int64_t step) {
    n_staged = 0;
    for (int p = first; p < last; p++) {
        for (int d = 0; d < WIDTHS; d++) {
            for (int64_t n = 2; n <= 60 && takes(&programs[p], dtypes[d]); n = next_length(n)) {
                const int64_t salt = 31 * p + 7 * d + n;
                const bool gaps = has_gaps(dtypes[d], n) && (d < 4 || salt % 3 == 0);
                if (gaps || salt % step == 0) {
                    try_numbers((staged_example){.p = &programs[p], .dtype = dtypes[d], .n = n, .odd = salt % 2 == 0}, salt);
                }
                if (salt % (3 * step) == 5) {
                    const lie in = (lie)(1 + salt / step % 4);
                    try_numbers((staged_example){.p = &programs[p], .dtype = dtypes[d], .n = n, .in = in, .beside = salt % 4 == 3, .odd = salt % 5 == 0}, salt);
                }
            }
        }
    }
    assert_true(!all.cuda || collecting || n_staged > 300); /* else the test would see little of what it is for */
    finish();
}

static void test_rounds(void **unused) {
    (void)unused;
    try_programs(0, 9, 29);
}

static void test_more_rounds(void **unused) {
    (void)unused;
    try_programs(9, 17, 29);
}

static void test_reductions(void **unused) {
    (void)unused;
    try_programs(17, PROGRAMS, 17);
}

/* Results that are given: they may lie anywhere, and the first in the place of x. */
static void test_given(void **unused) {
    static const int of[] = {0, 4, 5, 6, RESIDUAL, 8, 14, 16, 22};
    static const int64_t lengths[] = {12, 8, 9, 6, 16, 21, 20, 4, 31};
    (void)unused;
    for (int p = 0; p < 9; p++) {
        for (int d = 0; d < WIDTHS; d++) {
            for (int t = (p + d) % 2; t < 3 && takes(&programs[of[p]], dtypes[d]); t += 2) {
                const staged_example e = {.p = &programs[of[p]], .dtype = dtypes[d], .n = lengths[(p + 2 * d + 3 * t) % 9], .in = t == 1 ? (lie)((p + d) % LIES) : WHOLE, .given = true, .out = (lie)((p + d + t) % LIES), .in_place = (p + t) % 2 == 0};
                try_numbers(e, 5 * p + d + t);
            }
        }
    }
    finish();
}

static void test_nothing(void **unused) {
    (void)unused;
    for (int p = 0; p < PROGRAMS; p++) {
        for (int d = p % 2; d < WIDTHS; d += 2) {
            if (takes(&programs[p], dtypes[d])) {
                try_example_of((staged_example){.p = &programs[p], .dtype = dtypes[d], .n = 12}, false, true);
                try_example_of((staged_example){.p = &programs[p], .dtype = dtypes[d], .n = 7}, false, true);
            }
            if (takes(&programs[p], dtypes[d]) && programs[p].sums && programs[p].kinds != WIDE_FLOATS) {
                try_example_of((staged_example){.p = &programs[p], .dtype = dtypes[d], .n_rows = 65}, false, true);
                try_example_of((staged_example){.p = &programs[p], .dtype = dtypes[d], .n_rows = 0}, false, true);
            }
        }
    }
    finish();
}

/* ---- texts ---- */

enum { TEXTS = 3 };
static krf_context *texts[TEXTS]; /* with lengths, without, and as users have it */

/* The kernels for a GPU of a program whose operands have so many rows; y and u may be of another dtype. */
static char *source_of(krf_context *context, const char *text, krf_dtype dtype, krf_dtype other, int64_t n_rows, int64_t n) {
    krf_graph *g = krf_graph_create(context);
    krf_binding bindings[ARRAYS];
    krf_expr results[MOST_RESULTS];
    char *source = NULL, whole[300];
    size_t bytes = 0;
    int count = 0;
    forget_lengths(context);
    for (int a = 0; a < ARRAYS; a++) {
        const int64_t rows_first[2] = {n_rows, n}, across[2] = {n, n_rows}, one[1] = {a == S ? n_rows : n};
        const int rank = a == W || a == V || a == S ? 1 : 2;
        bindings[a] = krf_bind_expr(names[a], krf_placeholder(g, names[a], a == Y || a == U ? other : dtype, rank, rank == 1 ? one : a == T ? across : rows_first));
    }
    snprintf(whole, sizeof whole, "%s%s", strstr(text, "return ") != NULL ? "" : "return ", text);
    if (krf_parse_many(g, whole, bindings, ARRAYS, MOST_RESULTS, results, &count) != KRF_OK || krf_dump(g, count, results, KRF_DUMP_SOURCE, "cuda", NULL, &source, &bytes) != KRF_OK) {
        fail_msg("%s of %s: %s", text, name_of(dtype), krf_error_message());
    }
    krf_graph_destroy(g);
    return source;
}

static void check_staged(const char *text, krf_dtype dtype, int64_t n_rows, int64_t n, bool staged) {
    char *source = source_of(texts[0], text, dtype, dtype, n_rows, n);
    if ((strstr(source, "tile_in0[") != NULL) != staged) {
        COMPLAIN("%s of %s, %" PRId64 " rows of %" PRId64 " should%s be staged", text, name_of(dtype), n_rows, n, staged ? "" : " not");
    }
    krf_free(source);
}

/* Rows of no whole vectors, of two vectors, or of an odd number of few; of eight bytes an element only short ones, where both what is loaded and what is stored would take too much of a block's memory. */
static void test_which(void **unused) {
    static const struct {
        const char *text;
        krf_dtype dtype;
        int64_t staged[12], not_staged[12]; /* lengths */
    } cases[] = {
        {"s = x + y\nreturn s, s / sum(s, axis=1)[:, None]", KRF_F32, {8, 12, 20, 7, 31}, {4, 16, 28, 36, 44, 33}},
        {"s = x + y\nreturn s, s / sum(s, axis=1)[:, None]", KRF_BF16, {16, 7, 31, 33}, {8, 24, 40, 32}},
        {"x - max(x, axis=1)[:, None]", KRF_I64, {3, 4, 5, 6, 10, 31, 33}, {2, 8, 12, 14, 35, 37}},
        {"sum(x * y, axis=1)", KRF_F64, {7, 9, 15, 21, 31}, {8, 12, 20}},
        {"sum(x * y * z, axis=1)", KRF_F32, {7, 9, 15, 21, 31}, {8, 12, 32}},
        {"sum(x * y * z, axis=1)", KRF_F64, {7, 9, 15, 21}, {8, 12, 35}},
        {"sum((x - y) * (z - u), axis=1)", KRF_F32, {7, 9, 15, 21}, {8, 12, 33, 35}},
        {"a = (x - y) * z\nreturn a - min(a, axis=1)[:, None]", KRF_F64, {3, 6, 10, 15, 21}, {12, 14, 35}},
    };
    (void)unused;
    for (int64_t n = 2; n <= 60; n++) {
        const char *text = programs[0].text;
        check_staged(text, KRF_F32, 100000, n, n % 4 != 0 || has_gaps(KRF_F32, n));
        check_staged(text, KRF_F64, 100000, n, has_gaps(KRF_F64, n) || (n % 2 == 1 && n <= 33));
        check_staged(text, KRF_I64, 100000, n, has_gaps(KRF_F64, n) || (n % 2 == 1 && n <= 33));
        check_staged(text, KRF_BF16, 100000, n, n % 8 != 0 || has_gaps(KRF_BF16, n));
        check_staged(text, KRF_F16, 100000, n, n % 8 != 0 || has_gaps(KRF_BF16, n));
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int k = 0; k < 12; k++) {
            for (int staged = 0; staged < 2; staged++) {
                const int64_t n = staged != 0 ? cases[c].staged[k] : cases[c].not_staged[k];
                if (n > 0) {
                    check_staged(cases[c].text, cases[c].dtype, 200000, n, staged != 0);
                }
            }
        }
    }
    finish();
}

/* A block may have 48 KiB, whatever is staged. */
static void test_shared_memory(void **unused) {
    static const krf_dtype others[WIDTHS][3] = {{KRF_F32, KRF_F64, KRF_U8}, {KRF_F64, KRF_U8, KRF_BF16}, {KRF_BF16, KRF_F64}, {KRF_F16, KRF_F64}, {KRF_I32, KRF_I64}, {KRF_I64, KRF_U8, KRF_I32}, {KRF_U8, KRF_I64, KRF_F64}};
    (void)unused;
    for (int p = 0; p < PROGRAMS; p++) {
        for (int t = 0; t < 3 * WIDTHS; t++) {
            const krf_dtype dtype = dtypes[t / 3], other = others[t / 3][t % 3];
            for (int64_t n = 2; n <= 256 && takes(&programs[p], dtype) && (t % 3 == 0 || other != KRF_BOOL); n += n < LONGEST ? 1 : 21) {
                for (int c = 0; c < TEXTS; c++) {
                    char *source = source_of(texts[c], programs[p].text, dtype, other, c == 2 ? 1000 : 100000, n);
                    for (char *at = strstr(source, "__global__"); at != NULL;) {
                        char *next = strstr(at + 1, "__global__");
                        if (next != NULL) {
                            next[-1] = '\0';
                        }
                        if (shared_bytes(at) > SHARED_MOST) {
                            COMPLAIN("%s of %s and %s, rows of %" PRId64 "%s: blocks have %" PRId64 " bytes of shared memory", programs[p].text, name_of(dtype), name_of(other), n, c == 0 ? "" : c == 1 ? ", which is no text" : ", 1000", shared_bytes(at));
                        }
                        at = next;
                    }
                    krf_free(source);
                }
            }
        }
    }
    finish();
}

/* ---- the program ---- */

static krf_context *open_one(const char *device, const char *fusion) {
    krf_context_options options = krf_context_options_default();
    options.device = device;
    options.fusion = fusion;
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.blocking_compile = true;
    options.cache = KRF_CACHE_OFF;
    return open_or_skip(&options);
}

static void open_device(const char *fusion, const char *label) {
    run *now = &all.run[all.n++];
    now->context = open_one(asked_device(), fusion);
    now->noted = true;
    batch_install(now->context);
    snprintf(now->label, sizeof now->label, "%s", label);
}

int main(void) {
    setenv("FAKECUDA_SEED", "5", 0);    /* threads in another order than their own */
    setenv("KRF_EXACT_MEMORY", "1", 0); /* what is read behind arrays is seen */
    texts[0] = open_one("cpu", "literal_from=0");
    texts[1] = open_one("cpu", "literal=0");
    texts[2] = open_one("cpu", NULL);
    if (on_gpu()) {
        all.cuda = true;
        open_device("literal_from=0", "cuda, length known");
        open_device("literal=0", "cuda");
    } else {
        open_noted_runs(&all, false);
    }
    const int failed = run_part(TESTS(cmocka_unit_test(test_which), cmocka_unit_test(test_shared_memory), noted_test(test_rounds), noted_test(test_more_rounds), noted_test(test_reductions), noted_test(test_given), noted_test(test_nothing)));
    for (int c = 0; c < TEXTS; c++) {
        krf_context_destroy(texts[c]);
    }
    close_runs(&all);
    return failed;
}
