/* Counts, sums and extremes of what is computed of bytes, which a GPU takes four at once (codegen/cuda_byte4.c, cuda_bytes.c): of integers of 8 bits and of bools, of all elements and along rows, several results at once, lengths
 * around words, vectors and chunks, views that begin anywhere; values at both ends, and one unlike all others in each of the last places; against arithmetic on int. */
#include "ops/common.h"

#include <limits.h>

enum { MOST_RESULTS = 3, NAMES = 5, SINGLE = 17, LONG = 1200007, MOST = LONG + 4096, MOST_ROWS = 70, LAST_PLACES = 17 };

static runs all, apart;

/* ---- what is computed of an element, and what of all of them ---- */

typedef int formula(int x, int y, int m);

static int as_u8(int x) { return x & 255; }
static int as_i8(int x) { return ((x & 255) ^ 128) - 128; }
static int above_3(int x, int y, int m) { return (void)y, (void)m, x > 3; }
static int between(int x, int y, int m) { return (void)y, (void)m, x > 3 && x < 10; }
static int above_100(int x, int y, int m) { return (void)y, (void)m, x > 100; }
static int below_17(int x, int y, int m) { return (void)y, (void)m, x < SINGLE; }
static int same_as_y(int x, int y, int m) { return (void)m, x == y; }
static int not_y(int x, int y, int m) { return (void)m, x != y; }
static int not_above_y(int x, int y, int m) { return (void)m, x <= y; }
static int both(int x, int y, int m) { return (void)m, x & y; }
static int either(int x, int y, int m) { return (void)m, x | y; }
static int one_of(int x, int y, int m) { return (void)m, x ^ y; }
static int with_5(int x, int y, int m) { return (void)y, (void)m, x ^ 5; }
static int chosen(int x, int y, int m) { return (void)y, m ? x : 0; }
static int as_it_is(int x, int y, int m) { return (void)y, (void)m, x; }
static int magnitude(int x, int y, int m) { return (void)y, (void)m, as_i8(x < 0 ? -x : x); }
static int signed_x(int x, int y, int m) { return (void)y, (void)m, as_i8(x); }
static int unsigned_x(int x, int y, int m) { return (void)y, (void)m, as_u8(x); }
static int sum_u8(int x, int y, int m) { return (void)m, as_u8(x + y); }
static int sum_i8(int x, int y, int m) { return (void)m, as_i8(x + y); }
static int difference_u8(int x, int y, int m) { return (void)m, as_u8(x - y); }
static int difference_i8(int x, int y, int m) { return (void)m, as_i8(x - y); }
static int m_or_above(int x, int y, int m) { return (void)y, m || x > 3; }
static int m_not_same(int x, int y, int m) { return m != (x == y); }

typedef enum how { ADDED, LEAST, MOST_OF, SOME, EVERY } how;
enum { OWN = -1 }; /* x's dtype */

/* Which layouts it goes through, of which each is a kernel more: long ones and short, long ones and rows, all that take words, or all. ALONE: it never takes words. */
enum { SHORT = 1, ROWS = 2, MORE = 4, OTHERS = 8, ALONE = 16, WORDS = SHORT | ROWS | MORE, ALL = WORDS | OTHERS };

typedef struct byte_case {
    const char *text; /* ~ stands for the axis, if any */
    krf_dtype dtype; /* of x and y, and of one, an array of rank 0; m is bool, s a number of each run */
    int layouts;
    struct {
        formula *of;
        how how;
        int gives;
    } results[MOST_RESULTS];
} byte_case;

static const byte_case cases[] = {
    {"count_nonzero((x > 3) & (x < 10)~)", KRF_U8, WORDS, {{between, ADDED, KRF_I64}}},
    {"any(x > 3~), min(x ^ y~), sum(x~)", KRF_U8, ALL, {{above_3, SOME, KRF_BOOL}, {one_of, LEAST, OWN}, {as_it_is, ADDED, KRF_U64}}},
    {"all(m | (x > 3)~), sum(m ^ (x == y)~)", KRF_U8, WORDS, {{m_or_above, EVERY, KRF_BOOL}, {m_not_same, ADDED, KRF_I64}}},
    {"sum(i64(x ^ y)~)", KRF_U8, SHORT, {{one_of, ADDED, KRF_I64}}},
    {"sum(where(m, x, 0)~), max(x ^ 5~)", KRF_U8, ROWS, {{chosen, ADDED, KRF_U64}, {with_5, MOST_OF, OWN}}},
    {"all(x == y~)", KRF_U8, ROWS, {{same_as_y, EVERY, KRF_BOOL}}},
    {"min(x | y~), any(x ^ y~)", KRF_U8, SHORT, {{either, LEAST, OWN}, {not_y, SOME, KRF_BOOL}}},
    {"count_nonzero(x > 3~), max(x~)", KRF_U8, ROWS, {{above_3, ADDED, KRF_I64}, {as_it_is, MOST_OF, OWN}}},
    {"count_nonzero(x ^ y~), sum(i64(x.astype(i8))~), max(x.astype(i8)~)", KRF_U8, SHORT, {{not_y, ADDED, KRF_I64}, {signed_x, ADDED, KRF_I64}, {signed_x, MOST_OF, KRF_I8}}},
    {"sum(i64(x + y)~), min(x - y~), max(x + y~)", KRF_U8, ROWS, {{sum_u8, ADDED, KRF_I64}, {difference_u8, LEAST, OWN}, {sum_u8, MOST_OF, OWN}}},
    {"max(abs(x)~)", KRF_I8, WORDS, {{magnitude, MOST_OF, OWN}}},
    {"any(x > 100~)", KRF_I8, SHORT, {{above_100, SOME, KRF_BOOL}}},
    {"any(x > 3~), min(x ^ y~), sum(x~)", KRF_I8, ROWS, {{above_3, SOME, KRF_BOOL}, {one_of, LEAST, OWN}, {as_it_is, ADDED, KRF_I64}}},
    {"sum(where(m, x, 0)~), min(x | y~)", KRF_I8, SHORT, {{chosen, ADDED, KRF_I64}, {either, LEAST, OWN}}},
    {"count_nonzero(x > 3~), sum(i64(x.astype(u8))~), min(x.astype(u8)~)", KRF_I8, ROWS, {{above_3, ADDED, KRF_I64}, {unsigned_x, ADDED, KRF_I64}, {unsigned_x, LEAST, KRF_U8}}},
    {"sum(i64(x + y)~), min(x - y~), max(x + y~)", KRF_I8, SHORT, {{sum_i8, ADDED, KRF_I64}, {difference_i8, LEAST, OWN}, {sum_i8, MOST_OF, OWN}}},
    {"count_nonzero(x < s~), all(x <= y~)", KRF_I8, SHORT, {{below_17, ADDED, KRF_I64}, {not_above_y, EVERY, KRF_BOOL}}},
    {"count_nonzero(x < one~), all(x <= y~)", KRF_U8, SHORT | ALONE, {{below_17, ADDED, KRF_I64}, {not_above_y, EVERY, KRF_BOOL}}},
    {"sum(x & y~)", KRF_BOOL, WORDS, {{both, ADDED, KRF_I64}}},
    {"all(x == y~), sum(x == y~)", KRF_BOOL, ROWS, {{same_as_y, EVERY, KRF_BOOL}, {same_as_y, ADDED, KRF_I64}}},
};
enum { CASES = sizeof cases / sizeof *cases };

static int n_results(const byte_case *c) { return c->results[1].of == NULL ? 1 : c->results[2].of == NULL ? 2 : 3; }

static krf_dtype given_by(const byte_case *c, int k) { return c->results[k].gives == OWN ? c->dtype : (krf_dtype)c->results[k].gives; }

/* What a kernel that takes words has in its text for it. */
static const char *words_of(how by) {
    return by == ADDED ? "__dp4a(" : by == SOME ? "krf_take_bools<krf_any_tops>(" : by == EVERY ? "krf_take_bools<krf_all_tops>(" : by == LEAST ? "krf_take_bytes<krf_min_" : "krf_take_bytes<krf_max_";
}

static void write_text(const byte_case *c, bool along, char text[128]) {
    for (const char *p = c->text; *p != '\0'; p++) {
        text += *p == '~' ? sprintf(text, "%s", along ? ", axis=1" : "") : sprintf(text, "%c", *p);
    }
    *text = '\0';
}

static int64_t folded(how by, int64_t a, int b) {
    switch (by) {
    case ADDED: return a + b;
    case LEAST: return b < a ? b : a;
    case MOST_OF: return b > a ? b : a;
    case SOME: return a != 0 || b != 0;
    default: return a != 0 && b != 0;
    }
}

/* ---- elements ---- */

typedef enum pattern { MIXED, HIGHEST, ENDS, LOWEST, ALIKE, ONE_HIGH, ONE_LOW, FILLS } pattern;

/* Rows lie `gap` elements apart from one another, the first behind `before` of them, elements `step` from one another; or, of y, all in the place of the first. A GPU must take words, or need not. */
typedef struct layout {
    bool words, along;
    int64_t rows, columns, before, gap, step;
    bool shared;
} layout;

static int64_t memory_of(const layout *l) { return l->before + l->rows * (l->columns * l->step + l->gap); }
static int64_t place_of(const layout *l, int64_t i) { return l->before + i / l->columns * (l->columns * l->step + l->gap) + i % l->columns * l->step; }
static krf_dtype integer(krf_dtype dtype) { return dtype == KRF_BOOL ? KRF_U8 : dtype; }
static int lowest(krf_dtype dtype) { return dtype == KRF_I8 ? -128 : 0; }
static int highest(krf_dtype dtype) { return dtype == KRF_I8 ? 127 : dtype == KRF_U8 ? 255 : 1; }

/* In an order in which no two of a word are alike. */
static int mixed(krf_dtype dtype, int64_t i) { return dtype == KRF_BOOL ? i * 7 % 11 < 5 : (int)((i * 37 + i / 256 * 101) % 256) + lowest(dtype); }

static int at_ends(krf_dtype dtype, int64_t i) {
    static const int values[] = {0, 127, 128, 255};
    uint64_t state = (uint64_t)i;
    const int found = values[random_below(&state, 4)];
    return dtype == KRF_BOOL ? found > 127 : dtype == KRF_I8 ? as_i8(found) : found;
}

static int element_of_x(pattern fill, krf_dtype dtype, int64_t i, bool unlike) {
    switch (fill) {
    case ENDS: return at_ends(dtype, i);
    case LOWEST: return lowest(dtype);
    case HIGHEST: return highest(dtype);
    case ONE_HIGH: return unlike ? highest(dtype) : 0;
    case ONE_LOW: return unlike ? lowest(dtype) : highest(dtype);
    default: return mixed(dtype, i);
    }
}

static int element_of_y(pattern fill, krf_dtype dtype, int64_t i, int x) {
    switch (fill) {
    case MIXED: return i % 3 == 0 ? x : mixed(dtype, i + i / 7 + 1);
    case ENDS: return at_ends(dtype, i + 1000000007);
    case ALIKE: return x;
    case ONE_LOW: return highest(dtype);
    default: return 0;
    }
}

static int element_of_m(pattern fill, int64_t i, bool unlike) { return fill == ONE_HIGH ? unlike : fill == ONE_LOW ? !unlike : fill != LOWEST && fill != ALIKE && (fill == HIGHEST || i * 5 % 7 < 4); }

static char data[3][MOST]; /* x, y, m */
static const char *const names[NAMES] = {"x", "y", "m", "one", "s"};

/* Which is unlike the others of a row: one of the last, another in each row. */
static bool is_unlike(const layout *l, int64_t i, int64_t from_end) { return i % l->columns == l->columns - 1 - (from_end + (l->along ? i / l->columns : 0)) % l->columns && (l->along || i / l->columns == l->rows - 1); }

static void fill_data(pattern fill, krf_dtype dtype, const layout *l, int64_t from_end) {
    assert_true(memory_of(l) <= MOST && l->rows <= MOST_ROWS);
    for (int64_t i = 0; i < memory_of(l) && memory_of(l) > l->rows * l->columns; i++) { /* between the elements is what would be noticed */
        data[0][i] = (char)(fill == LOWEST || fill == ONE_HIGH ? highest(dtype) : lowest(dtype));
        data[1][i] = (char)(data[0][i] ^ 1);
        data[2][i] = (char)(i % 2);
    }
    for (int64_t i = 0; i < l->rows * l->columns; i++) {
        const bool unlike = is_unlike(l, i, from_end);
        const int64_t place = place_of(l, i);
        const int x = element_of_x(fill, dtype, i, unlike);
        data[0][place] = (char)x;
        data[1][place] = (char)(l->shared && i >= l->columns ? data[1][place_of(l, i % l->columns)] : element_of_y(fill, dtype, i, x));
        data[2][place] = (char)element_of_m(fill, i, unlike);
    }
}

static int number(krf_dtype dtype, char byte) { return dtype == KRF_I8 ? as_i8(byte) : as_u8(byte); }

static void fold_data(const byte_case *c, const layout *l, int64_t want[MOST_RESULTS][MOST_ROWS]) {
    static const int64_t nothing[] = {[ADDED] = 0, [LEAST] = INT_MAX, [MOST_OF] = INT_MIN, [SOME] = 0, [EVERY] = 1};
    for (int k = 0; k < n_results(c); k++) {
        for (int64_t row = 0; row < l->rows; row++) {
            int64_t *now = &want[k][l->along ? row : 0];
            *now = l->along || row == 0 ? nothing[c->results[k].how] : *now;
            for (int64_t i = 0; i < l->columns; i++) {
                const int64_t place = place_of(l, row * l->columns + i);
                *now = folded(c->results[k].how, *now, c->results[k].of(number(c->dtype, data[0][place]), number(c->dtype, data[1][place]), data[2][place]));
            }
        }
    }
}

/* ---- runs ---- */

static void make_operands(krf_context *context, krf_dtype dtype, const layout *l, krf_array **operands) {
    const int64_t size = memory_of(l);
    const char single = SINGLE;
    for (int k = 0; k < 3; k++) {
        krf_array *memory = NULL;
        const int flat = l->rows == 1 && !l->along ? 1 : 0;
        assert_int_equal(krf_array_from_host(context, k < 2 ? dtype : KRF_BOOL, 1, &size, data[k], &memory), KRF_OK);
        assert_int_equal(krf_array_view(memory, 2 - flat, (const int64_t[]){l->rows, l->columns} + flat, (const int64_t[]){k == 1 && l->shared ? 0 : l->columns * l->step + l->gap, l->step} + flat, l->before, &operands[k]), KRF_OK);
        krf_array_release(memory);
    }
    assert_int_equal(krf_array_from_host(context, integer(dtype), 0, NULL, &single, &operands[3]), KRF_OK);
}

/* s has its number when the plan runs. */
static krf_plan *run_text(const run *r, const char *text, krf_array **operands, int n, krf_array **got) {
    krf_graph *g = krf_graph_create(r->context);
    krf_expr results[MOST_RESULTS];
    krf_binding bindings[NAMES];
    krf_plan *plan = NULL;
    int count = 0;
    for (int k = 0; k < NAMES; k++) {
        bindings[k] = k < NAMES - 1 ? krf_bind_array(names[k], operands[k]) : krf_bind_expr(names[k], krf_placeholder_weak(g, names[k], KRF_I64));
    }
    krf_status status = krf_parse_many(g, text, bindings, NAMES, MOST_RESULTS, results, &count);
    status = status == KRF_OK ? krf_compile(g, n, results, NULL, &plan) : status;
    bindings[0] = krf_bind_int("s", SINGLE);
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 1, bindings, got) : status;
    if (status != KRF_OK || count != n) {
        fail_msg("%s, %s: %s", text, r->label, krf_error_message());
    }
    krf_graph_destroy(g);
    return plan;
}

static void run_case(const run *r, const byte_case *c, const layout *l, pattern fill, int64_t want[MOST_RESULTS][MOST_ROWS]) {
    krf_array *operands[NAMES] = {NULL}, *got[MOST_RESULTS] = {NULL};
    const int64_t n = l->along ? l->rows : 1;
    char text[128], a[64], b[64], found[MOST_ROWS * 8];
    write_text(c, l->along, text);
    make_operands(r->context, c->dtype, l, operands);
    krf_plan *plan = run_text(r, text, operands, n_results(c), got);
    for (int k = 0; k < n_results(c); k++) {
        if (all.cuda && r == &all.run[0] && l->words && fill == MIXED && (c->layouts & ALONE) == 0 && !has_text(plan, words_of(c->results[k].how))) {
            COMPLAIN("%s of %s, [%" PRId64 ", %" PRId64 "], before %" PRId64 ", gap %" PRId64 ": the kernel should have %s", text, name_of(c->dtype), l->rows, l->columns, l->before, l->gap, words_of(c->results[k].how));
        }
        const krf_dtype gives = given_by(c, k);
        if (krf_array_dtype(got[k]) != gives || krf_array_size(got[k]) != n) {
            fail_msg("%s of %s: result %d is %" PRId64 " of %s", text, name_of(c->dtype), k, krf_array_size(got[k]), name_of(krf_array_dtype(got[k])));
        }
        read_back(got[k], found, (size_t)n * bytes_of(gives));
        for (int64_t row = 0; row < n && !collecting; row++) {
            const value wanted = whole_number(gives, want[k][row]), now = get(found, gives, row);
            if (!same(now, wanted)) {
                COMPLAIN("%s of %s, [%" PRId64 ", %" PRId64 "], before %" PRId64 ", gap %" PRId64 ", step %" PRId64 ", fill %d, %s: result %d, %" PRId64 " is %s, not %s", text, name_of(c->dtype), l->rows, l->columns, l->before, l->gap, l->step,
                         (int)fill, r->label, k, row, show(now, a, 64), show(wanted, b, 64));
                break;
            }
        }
        krf_array_release(got[k]);
    }
    krf_plan_release(plan);
    for (int k = 0; k < NAMES - 1; k++) {
        krf_array_release(operands[k]);
    }
}

static void check(const runs *where, const byte_case *c, const layout *l, pattern fill, int64_t from_end) {
    static int64_t want[MOST_RESULTS][MOST_ROWS];
    if (!collecting) {
        fill_data(fill, c->dtype, l, from_end);
        fold_data(c, l, want);
    }
    for (int r = 0; r < where->n; r++) {
        const bool often = (c->layouts & MORE) != 0 && l->rows == 1; /* what the CPU compiles is not what this is about */
        if (!passed_over(&where->run[r]) && (often || !where->run[r].compiled)) {
            run_case(&where->run[r], c, l, fill, want);
        }
    }
}

/* ---- all elements ---- */

static void test_lengths(void **unused) {
    static const struct {
        int64_t of;
        int layouts, patterns;
    } lengths[] = {
        {1, SHORT, ONE_HIGH}, {15, SHORT, ONE_HIGH}, {16, SHORT, ONE_HIGH}, {17, SHORT, ONE_HIGH}, {255, SHORT, ONE_HIGH}, {4096, MORE, ONE_HIGH},
        {4096 * 3 + 13, SHORT | ROWS, ONE_HIGH}, {65536 * 2 + 5, SHORT | ROWS, ENDS}, {LONG, MORE, 1},
    };
    (void)unused;
    for (int c = 0; c < CASES; c++) {
        for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
            for (int f = 0; f < (collecting ? 1 : lengths[n].patterns) && (cases[c].layouts & lengths[n].layouts) != 0; f++) {
                check(&all, &cases[c], &(layout){.words = true, .rows = 1, .columns = lengths[n].of, .step = 1}, (pattern)f, 0);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* One that is unlike the others, in each of the last places. */
static void test_last(void **unused) {
    static const int64_t lengths[] = {17, 255, 4096 * 3 + 13};
    (void)unused;
    for (int c = 0; c < CASES; c++) {
        for (int n = 0; n < 3 && (cases[c].layouts & MORE) != 0; n++) {
            for (int k = 0; k < LAST_PLACES && !(collecting && k > 0); k++) {
                const layout l = {.words = true, .rows = 1, .columns = lengths[n], .step = 1};
                check(&all, &cases[c], &l, ONE_HIGH, k);
                check(&all, &cases[c], &l, ONE_LOW, k);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Sums for which 32 bits have no room. */
static void test_sums(void **unused) {
    static const struct {
        krf_dtype dtype;
        int number, inverted;
        int64_t n;
    } sums[] = {{KRF_U8, 0, 255, 8421505}, {KRF_U8, 0, 255, 16843010}, {KRF_I8, 127, -128, 16843010}};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int k = 0; k < 3; k++) {
            char *numbers = malloc((size_t)sums[k].n);
            krf_array *x = NULL, *got = NULL;
            int64_t sum = 0;
            assert_non_null(numbers);
            memset(numbers, sums[k].number, (size_t)sums[k].n);
            assert_int_equal(krf_array_from_host(all.run[r].context, sums[k].dtype, 1, &sums[k].n, numbers, &x), KRF_OK);
            got = evaluate_of(&all.run[r], "sum(i64(~x))", x);
            read_back(got, &sum, sizeof sum);
            if (sum != sums[k].n * sums[k].inverted) {
                COMPLAIN("sum of %" PRId64 " %s, %s: %" PRId64, sums[k].n, name_of(sums[k].dtype), all.run[r].label, sum);
            }
            krf_array_release(got);
            krf_array_release(x);
            free(numbers);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- rows, and views ---- */

static void check_layouts(int which, const layout *layouts, size_t n) {
    for (int c = 0; c < CASES; c++) {
        for (size_t k = 0; k < n && (cases[c].layouts & which) != 0; k++) {
            for (int f = 0; f < FILLS && !(collecting && f > 0); f++) {
                check(&all, &cases[c], &layouts[k], (pattern)f, 3);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_rows(void **unused) {
    static const layout some[] = {{true, true, 37, 1008, 0, 0, 1, false}}, words[] = {{true, true, 5, 4096, 16, 32, 1, false}};
    static const layout others[] = {{false, true, 37, 1000, 0, 0, 1, false}, {false, true, 3, 5000, 0, 0, 1, false}, {false, true, 70, 33, 0, 0, 1, false}, {false, true, 7, 1001, 0, 0, 1, false}, {false, true, 37, 1008, 5, 0, 1, false}, {true, true, 37, 1008, 0, 0, 1, true}};
    (void)unused;
    check_layouts(ROWS, some, 1);
    check_layouts(MORE, words, 1);
    check_layouts(OTHERS, others, sizeof others / sizeof *others);
}

static void test_views(void **unused) {
    static const layout words[] = {{true, false, 1, 12300, 16, 0, 1, false}, {true, false, 5, 4096, 0, 16, 1, false}};
    static const layout others[] = {{false, false, 1, 12300, 1, 0, 1, false}, {false, false, 1, 4099, 0, 0, 2, false}, {false, false, 7, 1001, 3, 2, 1, false}, {true, false, 5, 4096, 0, 0, 1, true}};
    (void)unused;
    check_layouts(MORE, words, 2);
    check_layouts(OTHERS, others, sizeof others / sizeof *others);
}

/* ---- each operation by itself ---- */

static void test_apart(void **unused) {
    static const layout l = {false, true, 5, 4096, 0, 0, 1, false};
    (void)unused;
    for (int c = 0; c < CASES; c++) {
        if ((cases[c].layouts & OTHERS) != 0) {
            check(&apart, &cases[c], &l, MIXED, 0);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- texts ---- */

static char *source_of(const char *text, krf_dtype dtype, int rank, const int64_t *shape) {
    krf_context *context = all.run[0].context;
    krf_graph *g = krf_graph_create(context);
    krf_expr results[MOST_RESULTS];
    krf_binding bindings[NAMES];
    char *source = NULL;
    size_t size = 0;
    int n = 0;
    for (int k = 0; k < NAMES; k++) {
        bindings[k] = krf_bind_expr(names[k], k == NAMES - 1 ? krf_placeholder_weak(g, names[k], KRF_I64) : krf_placeholder(g, names[k], k == 2 ? KRF_BOOL : k < 2 ? dtype : integer(dtype), k < 3 ? rank : 0, shape));
    }
    if (krf_parse_many(g, text, bindings, NAMES, MOST_RESULTS, results, &n) != KRF_OK || krf_dump(g, n, results, KRF_DUMP_SOURCE, "cuda", NULL, &source, &size) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    krf_graph_destroy(g);
    return source;
}

/* Whether a GPU does take words, which no result shows. */
static void test_texts(void **unused) {
    static const int64_t shapes[][2] = {{12301, 0}, {37, 1008}};
    (void)unused;
    for (int c = 0; c < CASES; c++) {
        for (int along = 0; along < 2 && (cases[c].layouts & ALONE) == 0; along++) {
            char text[128], *source;
            write_text(&cases[c], along, text);
            source = source_of(text, cases[c].dtype, 1 + along, shapes[along]);
            for (int k = 0; k < n_results(&cases[c]); k++) {
                const char *wanted = words_of(cases[c].results[k].how);
                if (strstr(source, wanted) == NULL) {
                    COMPLAIN("%s of %s should have %s: %.200s", text, name_of(cases[c].dtype), wanted, source);
                }
            }
            krf_free(source);
        }
    }
    assert_int_equal(failures, 0);
}

/* Like another run, but that nothing is fused. */
static void open_apart(void) {
    krf_context_options options = krf_context_options_default();
    run *now = &apart.run[apart.n++];
    options.device = asked_device();
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.fusion = "off";
    options.blocking_compile = true;
    options.cache = KRF_CACHE_OFF;
    now->context = open_or_skip(&options);
    now->noted = on_gpu();
    if (now->noted) {
        batch_install(now->context);
    }
    snprintf(now->label, sizeof now->label, "not fused");
}

int main(void) {
    open_noted_runs(&all, false);
    open_apart();
    const int failed = run_part(TESTS(noted_test(test_lengths), noted_test(test_last), noted_test(test_sums), noted_test(test_rows), noted_test(test_views), noted_test(test_apart), cmocka_unit_test(test_texts)));
    close_runs(&all);
    close_runs(&apart);
    return failed;
}
