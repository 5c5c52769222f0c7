/* Reductions of rows that a warp of a GPU loads at once, and of rows that are a little too long for it, narrow elements and wide ones: rows that begin at each place of a vector, that lie apart or overlap, one, few, and as
 * many as a GPU has warps for, which then have longer ones; operands that all rows share beside; several reductions together; results in further expressions. Elements are small whole numbers, of which plain loops give
 * the one result that is exact, and what lies between rows is larger and smaller than all of them. On a GPU the kernel's text says whether there is a loop over a row. */
#include "ops/common.h"
#include "ops/programs.h"

static runs all_runs;

enum { MANY = 4100, STEP = 16, MOST_RESULTS = 3, MOST_BYTES = 1 << 21 };

typedef enum fold { SUM, MEAN, MAX, MIN, PROD, ANY, ALL, COUNT, PLACE, TWICE } fold;

/* An element, of what is read of x, y, the mask and w. */
typedef int64_t element(int64_t x, int64_t y, bool mask, int64_t w);

static int64_t x_alone(int64_t x, int64_t y, bool mask, int64_t w) { return (void)y, (void)mask, (void)w, x; }
static int64_t square(int64_t x, int64_t y, bool mask, int64_t w) { return (void)y, (void)mask, (void)w, x * x; }
static int64_t product(int64_t x, int64_t y, bool mask, int64_t w) { return (void)mask, (void)w, x * y; }
static int64_t other_square(int64_t x, int64_t y, bool mask, int64_t w) { return (void)x, (void)mask, (void)w, y * y; }
static int64_t rarely_two(int64_t x, int64_t y, bool mask, int64_t w) { return (void)y, (void)mask, (void)w, x == 11 ? 2 : 1; }
static int64_t masked(int64_t x, int64_t y, bool mask, int64_t w) { return (void)y, (void)w, mask ? x : 0; }
static int64_t with_row(int64_t x, int64_t y, bool mask, int64_t w) { return (void)y, (void)mask, x * w; }
static int64_t above_row(int64_t x, int64_t y, bool mask, int64_t w) { return (void)y, (void)mask, x + w; }
static int64_t is_above(int64_t x, int64_t y, bool mask, int64_t w) { return (void)y, (void)mask, x > w; }

enum { BOOLS = 1, WHOLE = 2, REALS = 4, COMPLEX = 8, NUMBERS = WHOLE | REALS, UNCOUPLED = BOOLS | NUMBERS };

/* X, Y, M and W stand for slices of x, y, a mask and a row. */
static const struct program {
    const char *text;
    fold folds[MOST_RESULTS];
    element *elements[MOST_RESULTS];
    int kinds;
    int loads; /* of arrays of the dtype, but for the row */
    bool mask;
} programs[] = {
    {"sum(X, axis=1)", {SUM}, {x_alone}, UNCOUPLED | COMPLEX, 1, false},
    {"mean(X, axis=1)", {MEAN}, {x_alone}, UNCOUPLED | COMPLEX, 1, false},
    {"max(X, axis=1)", {MAX}, {x_alone}, UNCOUPLED, 1, false},
    {"min(X, axis=1)", {MIN}, {x_alone}, UNCOUPLED, 1, false},
    {"any(X, axis=1)", {ANY}, {x_alone}, UNCOUPLED, 1, false},
    {"all(X, axis=1)", {ALL}, {x_alone}, UNCOUPLED, 1, false},
    {"prod(where(X == 11, X - 9, X - X + 1), axis=1)", {PROD}, {rarely_two}, NUMBERS, 1, false},
    {"count_nonzero(X, axis=1)", {COUNT}, {x_alone}, UNCOUPLED, 1, false},
    {"sum(X * X, axis=1)", {SUM}, {square}, NUMBERS, 1, false},
    {"sum(X * Y, axis=1)", {SUM}, {product}, NUMBERS, 2, false},
    {"argmax(where(M, X, 0), axis=1)", {PLACE}, {masked}, NUMBERS, 1, true},
    {"argmax(X, axis=1)", {PLACE}, {x_alone}, UNCOUPLED, 1, false},
    {"sum(X * W, axis=1)", {SUM}, {with_row}, NUMBERS, 1, false},
    {"max(X + W, axis=1)", {MAX}, {above_row}, NUMBERS, 1, false},
    {"sum(X > W, axis=1)", {COUNT}, {is_above}, NUMBERS, 1, false},
    {"return min(X, axis=1), max(X, axis=1), sum(X, axis=1)", {MIN, MAX, SUM}, {x_alone, x_alone, x_alone}, NUMBERS, 1, false},
    {"return sum(X * Y, axis=1), sum(X * X, axis=1), max(Y * Y, axis=1)", {SUM, SUM, MAX}, {product, square, other_square}, NUMBERS, 2, false},
    {"return max(where(M, X, 0), axis=1), any(X, axis=1), mean(X, axis=1)", {MAX, ANY, MEAN}, {masked, x_alone, x_alone}, NUMBERS, 1, true},
    {"sum(X, axis=1) * 2 + max(X, axis=1)", {TWICE}, {x_alone}, NUMBERS, 1, false},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* How rows lie: so many of n elements, from the `from`-th of so many (before + from is where the first begins), the next `pitch` elements on; 0: behind what is `behind` them. */
typedef struct layout {
    int64_t rows, n, before, from, behind, pitch;
} layout;

static int64_t width_of(const layout *l) { return l->from + l->n + l->behind; }
static int64_t pitch_of(const layout *l) { return l->pitch > 0 ? l->pitch : width_of(l); }
static int64_t size_of(const layout *l) { return l->before + (l->rows - 1) * pitch_of(l) + width_of(l); }

/* ---- elements ---- */

static uint64_t mixed(int64_t at, uint64_t of) {
    uint64_t state = (uint64_t)at * 3 + of;
    return next_random(&state);
}

/* Zeros that may have another among them, others that may have a zero, few values, and those with rare large and small ones. */
static int64_t drawn(krf_dtype dtype, int64_t at, uint64_t of) {
    const uint64_t bits = mixed(at, of);
    const int lot = (int)((at / 1500) % 4);
    const bool is_signed = is_complex(dtype) || !facts_of(dtype)->is_unsigned, rare = bits >> 20 & 1 ? bits >> 32 < UINT32_MAX / 300 : false;
    if (lot < 2 || dtype == KRF_BOOL) {
        const int64_t other = dtype == KRF_BOOL ? 1 : is_signed && (bits & 1) != 0 ? -2 : 2;
        return dtype == KRF_BOOL && lot > 1 ? (int64_t)(bits & 1) : rare == (lot == 0) ? other : 0;
    }
    return lot == 3 && rare ? (is_signed && (bits & 2) != 0 ? -11 : 11) : (int64_t)(bits >> 4 & 3) - (is_signed ? 1 : 0);
}

/* Where that is no row. */
static int64_t around(krf_dtype dtype, int64_t at) { return dtype == KRF_BOOL ? at & 1 : (at & 1) == 0 ? 111 : facts_of(dtype)->is_unsigned ? 0 : -112; }

static int64_t position(const layout *l, int64_t row, int64_t k) { return l->before + row * pitch_of(l) + l->from + k; }

static value number(krf_dtype dtype, int64_t whole) {
    value v = whole_number(dtype, whole);
    v.im = is_complex(dtype) ? (double)(1 - whole % 3) : 0;
    return v;
}

static void fill(char *memory, krf_dtype dtype, const layout *l, uint64_t of) {
    for (int64_t i = 0; i < size_of(l); i++) {
        const int64_t column = (i - l->before) % pitch_of(l) - l->from;
        const bool inside = l->pitch > 0 || (column >= 0 && column < l->n && i >= l->before);
        put(memory, i, number(dtype, inside ? drawn(dtype, i, of) : around(dtype, i)));
    }
}

static krf_array *array_of(krf_context *context, krf_dtype dtype, const layout *l, uint64_t of) {
    static char memory[MOST_BYTES];
    krf_array *base = NULL, *view = NULL;
    const int64_t size = size_of(l);
    assert_true(size * (int64_t)bytes_of(dtype) <= MOST_BYTES);
    fill(memory, dtype, l, of);
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, memory, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, 2, (int64_t[]){l->rows, width_of(l)}, (int64_t[]){pitch_of(l), 1}, l->before, &view), KRF_OK);
    krf_array_release(base);
    return view;
}

static krf_array *row_of(krf_context *context, krf_dtype dtype, const layout *l) {
    static char memory[1 << 16];
    const int64_t size = width_of(l);
    krf_array *row = NULL;
    for (int64_t i = 0; i < size; i++) {
        put(memory, i, number(dtype, i < l->from || i >= l->from + l->n ? around(dtype, i) : i % 3));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, memory, &row), KRF_OK);
    return row;
}

/* ---- what must come out ---- */

/* A whole number as one of the dtype, which halves and bytes may have to become. */
static int64_t narrowed(krf_dtype dtype, int64_t whole) {
    const value v = whole_number(dtype, whole);
    return is_real(dtype) ? (int64_t)v.f : v.i;
}

static value quotient(krf_dtype dtype, int64_t sum, int64_t n) {
    const krf_dtype given = is_real(dtype) ? dtype : KRF_F64;
    const double q = given == KRF_F64 ? (double)sum / (double)n : nearest_float((double)sum / (double)n);
    return (value){.dtype = given, .f = round_to(given, (long double)q)};
}

static value added_up(krf_dtype dtype, int64_t whole) { return whole_number(is_real(dtype) ? dtype : facts_of(dtype)->is_unsigned && dtype != KRF_BOOL ? KRF_U64 : KRF_I64, whole); }

static value wanted(const struct program *p, int which, krf_dtype dtype, const layout *l, int64_t row) {
    const bool compares = p->elements[which] == is_above;
    int64_t sum = 0, imaginary = 0, most = 0, least = 0, count = 0, place = 0;
    uint64_t times = 1;
    for (int64_t k = 0; k < l->n; k++) {
        const int64_t at = position(l, row, k), x = drawn(dtype, at, 1);
        int64_t of = p->elements[which](x, drawn(dtype, at, 2), (drawn(KRF_BOOL, at + 3000, 3) & 1) != 0, (l->from + k) % 3);
        of = compares || is_complex(dtype) ? of : narrowed(dtype, of);
        place = k > 0 && of > most ? k : place;
        most = k == 0 || of > most ? of : most;
        least = k == 0 || of < least ? of : least;
        sum += of;
        imaginary += 1 - of % 3;
        count += of != 0;
        times *= (uint64_t)of;
    }
    switch (p->folds[which]) {
    case SUM:
    case MEAN:
        if (is_complex(dtype)) {
            const krf_dtype part = part_of(dtype);
            const bool mean = p->folds[which] == MEAN;
            return (value){.dtype = dtype, .f = mean ? quotient(part, sum, l->n).f : (double)sum, .im = mean ? quotient(part, imaginary, l->n).f : (double)imaginary};
        }
        return p->folds[which] == MEAN ? quotient(dtype, sum, l->n) : added_up(dtype, sum);
    case MAX: return whole_number(dtype, most);
    case MIN: return whole_number(dtype, least);
    case PROD: return is_real(dtype) ? (value){.dtype = dtype, .f = round_to(dtype, (long double)times)} : added_up(dtype, (int64_t)times);
    case ANY: return whole_number(KRF_BOOL, count > 0);
    case ALL: return whole_number(KRF_BOOL, count == l->n);
    case COUNT: return whole_number(KRF_I64, count);
    case PLACE: return whole_number(KRF_I64, place);
    default: break;
    }
    const krf_dtype given = added_up(dtype, 0).dtype;
    return is_real(dtype) ? (value){.dtype = given, .f = round_to(given, (long double)round_to(given, 2 * (long double)added_up(dtype, sum).f) + (long double)most)} : whole_number(given, 2 * sum + most);
}

/* ---- programs ---- */

static void write_program(const struct program *p, const layout *l, char *text) {
    for (const char *s = p->text; *s != '\0'; s++) {
        if (strchr("XYM", *s) != NULL) {
            text += sprintf(text, "%c[:, %" PRId64 ":%" PRId64 "]", *s - 'A' + 'a', l->from, l->from + l->n);
        } else if (*s == 'W') {
            text += sprintf(text, "w[%" PRId64 ":%" PRId64 "]", l->from, l->from + l->n);
        } else {
            *text++ = *s;
        }
    }
    *text = '\0';
}

enum { ANYHOW, ONCE, LOOP };

static void check(const run *r, const struct program *p, krf_dtype dtype, const layout *l, int comes) {
    char text[300];
    krf_array *x = array_of(r->context, dtype, l, 1), *y = array_of(r->context, dtype, l, 2), *m = NULL, *w = row_of(r->context, dtype, l), *got[MOST_RESULTS] = {NULL};
    layout beside = *l;
    int n = 0;
    beside.before += 3000;
    m = array_of(r->context, KRF_BOOL, &beside, 3);
    while (n < MOST_RESULTS && p->elements[n] != NULL) {
        n++;
    }
    write_program(p, l, text);
    krf_plan *plan = run_program(r, text, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", y), krf_bind_array("m", m), krf_bind_array("w", w)}, 4, n, got);
    if (all_runs.cuda && comes != ANYHOW && has_text(plan, "for (; p < last; p += ") != (comes == LOOP)) {
        COMPLAIN("%s of %s, %" PRId64 " rows, %" PRId64 ": a warp should%s load a row at once", text, name_of(dtype), l->rows, l->n, comes == ONCE ? "" : " not");
    }
    for (int i = 0; i < n; i++) {
        const krf_dtype given = krf_array_dtype(got[i]);
        char *found = malloc((size_t)l->rows * bytes_of(given));
        assert_non_null(found);
        if (!collecting) {
            read_back(got[i], found, (size_t)l->rows * bytes_of(given));
        }
        for (int64_t row = 0; row < l->rows && !collecting; row += row < 40 || row > l->rows - 20 ? 1 : 41) { /* the others cost more than they say */
            const value want = wanted(p, i, dtype, l, row), is = get(found, given, row);
            char a[64], b[64];
            if (!same(is, want)) {
                COMPLAIN("%s of %s, %" PRId64 " rows from %" PRId64 " on, %" PRId64 " apart, %s: result %" PRId64 " is %s, not %s", text, name_of(dtype), l->rows, l->before, pitch_of(l), r->label, row, show(is, a, 64), show(want, b, 64));
                break;
            }
        }
        krf_array_release(got[i]);
        free(found);
    }
    krf_plan_release(plan);
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(m);
    krf_array_release(w);
}

static const krf_dtype dtypes[] = {KRF_U8, KRF_BF16, KRF_I32, KRF_F32, KRF_I8, KRF_F16, KRF_I16, KRF_U32, KRF_BOOL, KRF_I64, KRF_F64, KRF_U16, KRF_U64, KRF_C64, KRF_C128};
enum { DTYPES_HERE = sizeof dtypes / sizeof *dtypes };

static bool fits(const struct program *p, krf_dtype dtype) { return (p->kinds & (dtype == KRF_BOOL ? BOOLS : is_complex(dtype) ? COMPLEX : is_real(dtype) ? REALS : WHOLE)) != 0; }

/* The compiler of a processor takes longer: it has a sample of these. */
static void check_some(int turn, int of, const struct program *p, krf_dtype dtype, const layout *l) {
    for (int r = 0; r < all_runs.n; r++) {
        const bool few = all_runs.run[r].compiled || l->rows == MANY;
        if (fits(p, dtype) && turn % of == 0 && !passed_over(&all_runs.run[r]) && (all_runs.cuda || !few || turn % (17 * of) == 0)) {
            check(&all_runs.run[r], p, dtype, l, ANYHOW);
        }
    }
}

/* ---- the tests ---- */

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {256, 257, 264, 300, 511, 512, 513, 768, 1000, 1001, 1023, 1024, 1025, 2047, 2048, 2049, 4099};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    (void)unused;
    failures = 0;
    for (int p = 0; p < PROGRAMS; p++) {
        for (int d = 0; d < DTYPES_HERE; d++) {
            for (int i = 0; i < LENGTHS; i++) {
                check_some(3 * p + d + 5 * i, i == 8 || i == 9 ? 19 : 43, &programs[p], dtypes[d], &(layout){.rows = 5, .n = lengths[i]});
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* At each place of a vector, in rows that lie apart by whole vectors or not, of which something is left out before and behind. */
static void test_begins(void **unused) {
    static const int64_t lengths[] = {264, 300, 1000, 1001, 1023, 1024};
    (void)unused;
    failures = 0;
    int turn = 0;
    for (int p = 0; p < PROGRAMS; p++) {
        for (int64_t from = 0; from < 16; from++) {
            for (int d = 0; d < DTYPES_HERE; d++, turn++) {
                const int64_t n = lengths[(from + d + p) % 6], whole = (16 - (from + n) % 16) % 16;
                check_some(turn, 97, &programs[p], dtypes[d], &(layout){.rows = 5, .n = n, .from = from, .behind = d % 3 == 0 ? 0 : d % 3 == 1 ? whole : whole + 5, .before = turn % 4 == 1 ? 3 : turn % 4 == 2 ? 16 : 0});
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* As many rows as there are warps: they overlap, and begin at the same place of a vector, or at all. */
static void test_many(void **unused) {
    static const int64_t lengths[] = {257, 1001, 1024, 1500, 2048, 2049, 4099};
    (void)unused;
    failures = 0;
    int turn = 0;
    for (int p = 0; p < PROGRAMS; p++) {
        for (int d = 0; d < DTYPES_HERE; d++, turn++) {
            check_some(turn, 17, &programs[p], dtypes[d], &(layout){.rows = MANY, .n = lengths[turn / 17 % 7], .from = turn / 17 % 5, .pitch = turn / 17 % 2 == 0 ? STEP : STEP + 1});
        }
    }
    assert_int_equal(failures, 0);
}

static void test_one(void **unused) {
    static const int64_t lengths[] = {257, 1001, 1024, 4099};
    (void)unused;
    failures = 0;
    int turn = 0;
    for (int p = 0; p < PROGRAMS; p++) {
        for (int d = 0; d < DTYPES_HERE; d++, turn++) {
            check_some(turn, 23, &programs[p], dtypes[d], &(layout){.rows = 1, .n = lengths[turn / 23 % 4], .from = turn % 3, .before = turn % 2});
        }
    }
    assert_int_equal(failures, 0);
}

/* By program. */
static void test_loops(void **unused) {
    static const struct {
        int program;
        krf_dtype dtype;
        layout l;
        int comes;
    } cases[] = {
        {0, KRF_U8, {.rows = 5, .n = 257}, ONCE}, {0, KRF_U8, {.rows = 5, .n = 1024}, ONCE}, {0, KRF_U8, {.rows = 5, .n = 1000, .from = 3, .behind = 5}, ONCE},
        {0, KRF_U8, {.rows = MANY, .n = 2048, .pitch = 16}, ONCE}, {0, KRF_U8, {.rows = MANY, .n = 2049, .pitch = 16}, LOOP}, {0, KRF_I8, {.rows = MANY, .n = 1500, .pitch = 17}, ONCE},
        {0, KRF_BF16, {.rows = 5, .n = 300}, ONCE}, {1, KRF_BF16, {.rows = 5, .n = 1001, .from = 3, .behind = 4}, ONCE}, {0, KRF_BF16, {.rows = 5, .n = 1024}, ONCE},
        {0, KRF_BF16, {.rows = MANY, .n = 1025, .pitch = 16}, LOOP}, {2, KRF_F16, {.rows = 5, .n = 1000}, ONCE}, {0, KRF_I16, {.rows = 5, .n = 1017}, ONCE},
        {0, KRF_BF16, {.rows = 5, .n = 1018}, LOOP}, {2, KRF_U16, {.rows = 5, .n = 512}, ONCE}, {0, KRF_I32, {.rows = 5, .n = 512}, ONCE}, {0, KRF_I32, {.rows = 5, .n = 513}, LOOP},
        {0, KRF_I32, {.rows = 5, .n = 768}, ONCE}, {0, KRF_U32, {.rows = 5, .n = 1000}, LOOP}, {0, KRF_F32, {.rows = 5, .n = 512}, LOOP}, {0, KRF_I64, {.rows = 5, .n = 257}, LOOP},
        {9, KRF_U8, {.rows = 5, .n = 512}, ONCE}, {9, KRF_U8, {.rows = 5, .n = 1000, .from = 8, .behind = 8}, LOOP}, {9, KRF_BF16, {.rows = 5, .n = 512}, LOOP},
        {12, KRF_BF16, {.rows = 5, .n = 1000}, ONCE}, {13, KRF_I8, {.rows = 5, .n = 1000}, ONCE}, {14, KRF_U8, {.rows = 5, .n = 1001}, LOOP}, {14, KRF_U8, {.rows = 5, .n = 1000}, ANYHOW},
        {15, KRF_U8, {.rows = 5, .n = 1000}, ONCE}, {15, KRF_BF16, {.rows = 5, .n = 1001}, ONCE}, {15, KRF_I32, {.rows = 5, .n = 512}, ONCE}, {15, KRF_F32, {.rows = 5, .n = 512}, LOOP},
        {16, KRF_I16, {.rows = 5, .n = 512}, ONCE}, {16, KRF_I8, {.rows = 5, .n = 1001}, LOOP}, {10, KRF_U8, {.rows = 5, .n = 512}, ONCE}, {11, KRF_F32, {.rows = 5, .n = 512}, ONCE},
        {11, KRF_F32, {.rows = 5, .n = 1000}, LOOP}, {11, KRF_U32, {.rows = 5, .n = 509, .from = 3}, ONCE}, {11, KRF_F32, {.rows = 5, .n = 509, .from = 4, .behind = 1}, ONCE},
        {4, KRF_F32, {.rows = 5, .n = 512}, ONCE}, {2, KRF_F32, {.rows = 5, .n = 512}, LOOP}, {17, KRF_BF16, {.rows = 5, .n = 1000}, LOOP}, {18, KRF_U8, {.rows = 5, .n = 1000}, ONCE},
        {18, KRF_BF16, {.rows = 5, .n = 1000}, ONCE}, {0, KRF_C64, {.rows = 5, .n = 512}, LOOP}, {7, KRF_I64, {.rows = 5, .n = 256}, ANYHOW}, {3, KRF_BOOL, {.rows = 5, .n = 1000}, ONCE},
        {5, KRF_BOOL, {.rows = MANY, .n = 2048, .pitch = 16}, ONCE},
    };
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int r = 0; r < all_runs.n; r++) {
            if (!passed_over(&all_runs.run[r]) && (!all_runs.run[r].compiled || i % 7 == 0)) {
                check(&all_runs.run[r], &programs[cases[i].program], cases[i].dtype, &cases[i].l, cases[i].comes);
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_part_on(open_noted_runs(&all_runs, false),
                       TESTS(noted_test(test_lengths), noted_test(test_begins), noted_test(test_many), noted_test(test_one), noted_test(test_loops)));
}
