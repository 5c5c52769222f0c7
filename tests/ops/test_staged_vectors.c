/* Short rows that a GPU stages in shared memory (codegen/cuda_stage.c): those that it reads from there in vectors of four bytes (halves and integers of 16 bits in rows of an even length, bytes that are not folded by four), and
 * those of kernels of several rounds (row_short), whose blocks are rounded so that they begin with words of 16 bytes. Sums, places, what all rows share or each row has one of, elements that are stored as well: against the canonical
 * tree of tree.h. Functions: against kernels of one operation that move one element at a time. NaN, infinities and zeros of both signs; all numbers of rows of a few blocks; kernels for all lengths, and those in whose text the length stands. */
#include "ops/outer.h"
#include "ops/programs.h"
#include "ops/tree.h"

enum { MOST_RESULTS = 3, LONGEST = 256, MOST_ROWS = 1000, MOST = (MOST_ROWS + 1) * LONGEST, AROUND = 16 };

static runs all, known; /* on a GPU, known: the length of a row is text */
static run plain;       /* the device's, on which nothing is fused, and elements are moved one at a time */

/* ---- programs ---- */

/* x has rows; w is one for all of them, s has an element for each. Elements are written behind their operands; d: as f32. */
typedef struct staged_case {
    const char *text;
    struct {
        const char *element;
        int op;
    } results[MOST_RESULTS];
    bool real; /* of floats alone */
} staged_case;

static const staged_case cases[] = {
    {.text = "sum(x, axis=1)", .results = {{"x", SUM}}},
    {.text = "return max(x, axis=1), argmax(x, axis=1)", .results = {{"x", MAX}, {"x", ARGMAX}}},
    {.text = "sum(x * w, axis=1)", .results = {{"xw*", SUM}}},
    {.text = "argmin(x, axis=1)", .results = {{"x", ARGMIN}}},
    {.text = "return min(x, axis=1), sum(x, axis=1), mean(x, axis=1)", .results = {{"x", MIN}, {"x", SUM}, {"x", MEAN}}},
    {.text = "sum(x - s[:, None], axis=1)", .results = {{"xs-", SUM}}},
    {.text = "return x + w, sum(x + w, axis=1)", .results = {{"xw+", ELEMENTS}, {"xw+", SUM}}},
    {.text = "return prod(x, axis=1), max(x * x, axis=1)", .results = {{"x", PROD}, {"xx*", MAX}}},
    {.text = "return x < w, max(x, axis=1)", .results = {{"xw<", ELEMENTS}, {"x", MAX}}},
    {.text = "return f32(x), sum(f32(x), axis=1)", .results = {{"xd", ELEMENTS}, {"xd", SUM}}, .real = true},
    {.text = "return x - s[:, None], x < w, min(x, axis=1)", .results = {{"xs-", ELEMENTS}, {"xw<", ELEMENTS}, {"x", MIN}}},
};
enum { CASES = sizeof cases / sizeof *cases };

static const char *const rounds[] = {
    "var(x, axis=1)",
    "logsumexp(x, axis=1)",
    "e = exp(x - max(x, axis=1)[:, None])\nreturn e / sum(e, axis=1)[:, None]",
    "(x - mean(x, axis=1)[:, None]) / sqrt(var(x, axis=1)[:, None] + 0.00001)",
    "return x / sum(x, axis=1)[:, None], max(x, axis=1)",
    "e = exp(x + y - max(x + y, axis=1)[:, None])\nreturn e / sum(e, axis=1)[:, None], x > w",
    "return f32(x) - f32(max(x, axis=1))[:, None], x - min(x, axis=1)[:, None]",
};
enum { ROUNDS = sizeof rounds / sizeof *rounds };

/* ---- operands ---- */

enum { X, Y, W, S, ARRAYS };

/* Memory has `offset` elements before the array; on: it has a row more, and the text takes those from the second on. */
typedef struct staged_example {
    const char *text;
    krf_dtype dtype;
    int64_t rows, n, offset;
    bool on;
} staged_example;

static value elements[ARRAYS][MOST + 2 * AROUND];
static char memory[ARRAYS][(MOST + 2 * AROUND) * 8];

static int64_t before_of(const staged_example *e) { return e->offset + (e->on ? e->n : 0); }

/* Rows in turn have anything that rounds, rare numbers among zeros below 0, and such zeros alone. */
static void fill(const staged_example *e) {
    uint64_t seed = (uint64_t)(e->n + 1000 * e->rows);
    const int64_t sizes[ARRAYS] = {before_of(e) + e->rows * e->n + AROUND, e->rows * e->n, e->n, e->rows};
    for (int a = 0; a < ARRAYS; a++) {
        const int64_t before = a == X ? before_of(e) : 0;
        for (int64_t k = 0; k < sizes[a]; k++) {
            const int64_t at = k - before, row = at / e->n;
            const bool beside = a == X && (at < 0 || at >= e->rows * e->n);
            elements[a][k] = beside || a == W || a == S ? draw(e->dtype, false, &seed) : row % 6 == 4 && is_real(e->dtype) ? number(e->dtype, -0.0) : draw(e->dtype, row % 3 == 2, &seed);
            elements[a][k] = beside && is_real(e->dtype) ? number(e->dtype, k % 2 == 0 ? (double)NAN : (double)INFINITY) : elements[a][k];
            put(memory[a], k, elements[a][k]);
        }
    }
}

static void make_all(krf_context *context, const staged_example *e, krf_array *arrays[ARRAYS]) {
    const int64_t height = e->rows + e->on, size = e->offset + height * e->n + AROUND;
    krf_array *base = NULL;
    assert_ok(krf_array_from_host(context, e->dtype, 1, &size, memory[X], &base));
    assert_ok(krf_array_view(base, 2, (int64_t[]){height, e->n}, NULL, e->offset, &arrays[X]));
    krf_array_release(base);
    assert_ok(krf_array_from_host(context, e->dtype, 2, (int64_t[]){e->rows, e->n}, memory[Y], &arrays[Y]));
    assert_ok(krf_array_from_host(context, e->dtype, 1, &e->n, memory[W], &arrays[W]));
    assert_ok(krf_array_from_host(context, e->dtype, 1, &e->rows, memory[S], &arrays[S]));
}

static void describe(const run *r, const staged_example *e, char *what, size_t bytes) {
    snprintf(what, bytes, "%s%s: %s of %s, %" PRId64 " rows of %" PRId64 ", from %" PRId64 "%s", r->label, r == &known.run[0] ? ", length known" : "", e->text, name_of(e->dtype), e->rows, e->n, e->offset, e->on ? " and a row" : "");
}

/* Leaves the results; the plan is the caller's to release. */
static krf_plan *run_example(const run *r, const staged_example *e, int n, krf_array **got) {
    krf_array *arrays[ARRAYS] = {NULL};
    char text[300];
    if (r == &known.run[0]) { /* a context has few for each kind of kernel: each example is the first */
        krf__lengths *l = &r->context->lengths;
        memset(l->kinds, 0, sizeof l->kinds);
    }
    make_all(r->context, e, arrays);
    snprintf(text, sizeof text, "x = a%s\n%s%s", e->on ? "[1:]" : "", strstr(e->text, "return ") != NULL ? "" : "return ", e->text);
    krf_plan *plan = run_program(r, text, (krf_binding[]){krf_bind_array("a", arrays[X]), krf_bind_array("y", arrays[Y]), krf_bind_array("w", arrays[W]), krf_bind_array("s", arrays[S])}, ARRAYS, n, got);
    for (int a = 0; a < ARRAYS; a++) {
        krf_array_release(arrays[a]);
    }
    return plan;
}

/* ---- reductions ---- */

static value element_of(const staged_example *e, const char *steps, int64_t i, int64_t j) {
    const value of[] = {elements[X][before_of(e) + i * e->n + j], elements[W][j], elements[S][i]};
    value stack[2];
    int n = 0;
    for (const char *s = steps; *s != '\0'; s++) {
        if (strchr("xws", *s) != NULL) {
            stack[n++] = of[strchr("xws", *s) - "xws"];
        } else if (*s == 'd') {
            stack[n - 1] = convert(stack[n - 1], KRF_F32);
        } else {
            n--;
            stack[n - 1] = step_of(*s, stack[n - 1], stack[n]);
        }
    }
    return stack[0];
}

/* Whether rows of an operand that begin with words are read from shared memory by four bytes: two elements, or four; those of longer rows are not staged. */
static bool by_four_bytes(const staged_example *e) {
    const int64_t v = 4 / (int64_t)bytes_of(e->dtype), row = e->n * (int64_t)bytes_of(e->dtype);
    return v > 1 && e->n % v == 0 && e->n % (2 * v) != 0 && row > 16 && row <= 448;
}

/* Where the length is known, and elements are narrow or kept for several rounds, each block's first row begins with a word of 16 bytes. */
static void look_at_blocks(const run *r, const staged_example *e, krf_plan *plan, const char *what) {
    const int64_t n_rows = r == &known.run[0] && has_text(plan, "uint4 tile_in") && has_text(plan, "int length = n1, ") ? rows_of_block(plan) : 0;
    if (n_rows * e->n * (int64_t)bytes_of(e->dtype) % 16 != 0) {
        COMPLAIN("%s: blocks of %" PRId64 " rows do not begin with words", what, n_rows);
    }
}

static void compare_case(const staged_case *c, const staged_example *e, krf_array *const *got, const char *what) {
    static value row[LONGEST];
    for (int k = 0; k < MOST_RESULTS && c->results[k].element != NULL; k++) {
        const krf_dtype dtype = krf_array_dtype(got[k]);
        const bool whole = c->results[k].op == ELEMENTS;
        char *data = malloc((size_t)krf_array_size(got[k]) * bytes_of(dtype));
        bool same_as_wanted = true;
        assert_true(data != NULL && krf_array_size(got[k]) == e->rows * (whole ? e->n : 1));
        read_back(got[k], data, (size_t)krf_array_size(got[k]) * bytes_of(dtype));
        for (int64_t i = 0; i < e->rows && same_as_wanted; i++) {
            for (int64_t j = 0; j < e->n; j++) {
                row[j] = element_of(e, c->results[k].element, i, j);
            }
            const value folded = whole ? row[0] : reduce(c->results[k].op, row, e->n);
            for (int64_t j = 0; j < (whole ? e->n : 1) && same_as_wanted; j++) {
                const value wanted = whole ? row[j] : folded, found = get(data, dtype, whole ? i * e->n + j : i);
                char a[64], b[64];
                same_as_wanted = same(found, wanted);
                if (!same_as_wanted) {
                    COMPLAIN("%s: result %d, row %" PRId64 ", %" PRId64 " is %s, not %s", what, k, i, j, show(found, a, 64), show(wanted, b, 64));
                }
            }
        }
        free(data);
    }
}

static void try_case(const runs *where, const staged_case *c, staged_example e, bool compiled) {
    int n = 0;
    for (; n < MOST_RESULTS && c->results[n].element != NULL; n++) {
    }
    e.text = c->text;
    if (!collecting) {
        fill(&e);
    }
    for (int r = 0; r < where->n; r++) {
        const run *now = &where->run[r];
        krf_array *got[MOST_RESULTS] = {NULL};
        char what[400];
        if (passed_over(now) || (now->compiled && !compiled)) {
            continue;
        }
        describe(now, &e, what, sizeof what);
        krf_plan *plan = run_example(now, &e, n, got);
        if (!collecting) {
            const bool stores_nothing = c->results[0].op != ELEMENTS, folds = bytes_of(e.dtype) == 1 && has_text(plan, "int four[");
            if (all.cuda && e.offset == 0 && !e.on && stores_nothing && !folds && e.rows > 1 && has_text(plan, "((unsigned *)tile_in") != by_four_bytes(&e)) {
                COMPLAIN("%s: four bytes at once should%s be read from shared memory", what, by_four_bytes(&e) ? "" : " not");
            }
            if (all.cuda && e.offset == 0 && !e.on && stores_nothing && !folds && e.n * (int64_t)bytes_of(e.dtype) % 8 == 0 && bytes_of(e.dtype) <= 2 && has_text(plan, "uint4 tile_in")) {
                COMPLAIN("%s: rows that come in vectors of eight bytes should not be staged", what);
            }
            look_at_blocks(now, &e, plan, what);
            compare_case(c, &e, got, what);
        }
        for (int k = 0; k < n; k++) {
            krf_array_release(got[k]);
        }
        krf_plan_release(plan);
    }
}

static const int64_t counts[] = {2, 31, 96, 1, 97, 33, 95, 400};

static bool takes(const staged_case *c, krf_dtype dtype) { return !c->real || is_real(dtype); }

/* Rows of two bytes an element, of lengths with one vector, a few, and more than are staged. */
static void test_pairs(void **unused) {
    static const int64_t some[] = {10, 18, 34, 50, 62, 90, 110, 150, 222, 226, 250};
    static const krf_dtype dtypes[] = {KRF_F16, KRF_BF16, KRF_I16, KRF_U16};
    (void)unused;
    for (int c = 0; c < CASES; c++) {
        for (int d = 0; d < 4; d++) {
            for (int l = 0; l < 11 && takes(&cases[c], dtypes[d]); l++) {
                const staged_example e = {.dtype = dtypes[d], .rows = counts[(c + l) % 8], .n = some[l], .offset = (c + d + l) % 5 == 4 ? 1 + l % 3 : 0, .on = (c + l) % 3 == 1};
                try_case(&all, &cases[c], e, (c + 4 * d + l) % 31 == 0);
                if ((c + l) % 4 == d) {
                    try_case(&known, &cases[c], e, false);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Bytes of which something is computed, in rows of whole words of four. */
static void test_fours(void **unused) {
    static const int64_t some[] = {12, 20, 36, 100, 204, 252};
    static const krf_dtype dtypes[] = {KRF_U8, KRF_I8, KRF_BOOL};
    (void)unused;
    for (int c = 0; c < CASES; c++) {
        for (int d = 0; d < (cases[c].results[0].element[1] == '\0' ? 3 : 2); d++) {
            for (int l = 0; l < 6 && takes(&cases[c], dtypes[d]) && (dtypes[d] != KRF_BOOL || c < 5); l++) {
                const staged_example e = {.dtype = dtypes[d], .rows = counts[(c + l + d) % 8], .n = some[l], .on = (c + l) % 3 == 1};
                try_case((c + d + l) % 4 == 0 ? &known : &all, &cases[c], e, false);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* All of a block's rows but some, and one more than it has. */
static void test_numbers_of_rows(void **unused) {
    (void)unused;
    for (int64_t n = 2; n <= 150; n += n < 20 || n % 16 == 15 || n % 16 == 0 ? 1 : 15 - n % 16) {
        try_case(&known, &cases[0], (staged_example){.dtype = KRF_BF16, .rows = n, .n = 50}, false);
        try_case(&known, &cases[6], (staged_example){.dtype = KRF_F16, .rows = n, .n = 222}, false);
        try_case(&known, &cases[5], (staged_example){.dtype = KRF_I16, .rows = n, .n = 18, .on = true}, false);
        try_case(&known, &cases[0], (staged_example){.dtype = KRF_F16, .rows = n, .n = 51}, false);
        try_case(&known, &cases[8], (staged_example){.dtype = KRF_U8, .rows = n, .n = 77}, false);
    }
    assert_int_equal(failures, 0);
}

/* Of equal ones the first place counts, and of NaN: of all lengths, and where rows are folded by several threads. */
static void test_places(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F16, KRF_U8, KRF_F32, KRF_I8, KRF_BF16, KRF_I16};
    (void)unused;
    for (int64_t n = 7; n <= LONGEST; n += n < 70 || n == 255 ? 1 : n == 247 ? 8 : 15) {
        for (int c = 1; c < 4; c += 2) {
            for (int d = 0; d < 6; d++) {
                const staged_example e = {.dtype = dtypes[d], .rows = counts[(n + d) % 8], .n = n, .offset = (n + d) % 7 == 3 ? 1 : 0, .on = (n + d) % 5 == 1};
                if ((n + c / 2) % 6 == d) {
                    try_case(&known, &cases[c], e, false);
                } else if ((n + d) % 2 == 0) {
                    try_case(&all, &cases[c], e, false);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- several rounds, and functions ---- */

static void compare_with(const krf_array *ours, krf_array *got, krf_array *want, const char *what, int k) {
    const krf_dtype dtype = krf_array_dtype(want);
    const int64_t size = krf_array_size(want);
    char *a = malloc((size_t)size * bytes_of(dtype)), *b = malloc((size_t)size * bytes_of(dtype));
    assert_true(a != NULL && b != NULL && krf_array_dtype(ours) == dtype && krf_array_size(ours) == size);
    read_back(got, a, (size_t)size * bytes_of(dtype));
    read_back(want, b, (size_t)size * bytes_of(dtype));
    for (int64_t i = 0; i < size; i++) {
        const value found = get(a, dtype, i), wanted = get(b, dtype, i);
        char shown[2][64];
        if (!same(found, wanted)) {
            COMPLAIN("%s: result %d, element %" PRId64 " is %s, not %s", what, k, i, show(found, shown[0], 64), show(wanted, shown[1], 64));
            break;
        }
    }
    free(a);
    free(b);
}

static int results_of(const char *text) { return strstr(text, "None], ") != NULL ? 2 : 1; }

static void try_rounds(const runs *where, staged_example e, bool compiled) {
    krf_array *want[2] = {NULL};
    const int n = results_of(e.text);
    if (!collecting) {
        fill(&e);
    }
    if (!passed_over(&plain)) {
        krf_plan_release(run_example(&plain, &e, n, want));
    }
    for (int r = 0; r < where->n; r++) {
        const run *now = &where->run[r];
        krf_array *got[2] = {NULL};
        char what[400];
        if (passed_over(now) || (now->compiled && !compiled)) {
            continue;
        }
        describe(now, &e, what, sizeof what);
        krf_plan *plan = run_example(now, &e, n, got);
        if (!collecting) {
            look_at_blocks(now, &e, plan, what);
        }
        krf_plan_release(plan);
        for (int k = 0; k < n; k++) {
            if (!collecting) {
                compare_with(got[k], got[k], want[k], what, k);
            }
            krf_array_release(got[k]);
        }
    }
    krf_array_release(want[0]);
    krf_array_release(want[1]);
}

static void test_functions_of_pairs(void **unused) {
    static const int64_t some[] = {10, 18, 34, 50, 62, 90, 110, 150, 222, 226, 250};
    static const krf_dtype dtypes[] = {KRF_F16, KRF_BF16, KRF_I16, KRF_U16};
    (void)unused;
    for (int l = 0; l < 11; l++) {
        for (int d = 0; d < 4; d++) {
            const staged_example e = {.text = rounds[(l + d) % 2], .dtype = dtypes[d], .rows = counts[(l + 3 * d) % 8], .n = some[l], .on = (l + d) % 3 == 1};
            try_rounds(&all, e, false);
            if (l % 4 == d) {
                try_rounds(&known, e, false);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* A block's rows are rounded to words of the narrowest elements; results are wider, or bools. */
static void test_rounds(void **unused) {
    static const int64_t some[] = {171, 185, 215, 255, 101, 33};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_BF16, KRF_U8, KRF_F16};
    (void)unused;
    for (int p = 2; p < ROUNDS; p++) {
        for (int d = 0; d < 4; d++) {
            for (int l = (p + d) % 2; l < 6; l += 2) {
                const staged_example e = {.text = rounds[p], .dtype = dtypes[d], .rows = counts[(p + l + d) % 8], .n = some[l], .offset = (p + l) % 5 == 0 ? 3 : 0, .on = (d + l) % 3 == 0};
                try_rounds((p + l) % 3 == 0 ? &all : &known, e, (p + d + l) % 9 == 0);
                if (!all.cuda) {
                    try_rounds(&all, e, false);
                }
            }
        }
    }
    for (int64_t n = 2; n <= 40; n += n < 18 ? 1 : 7) {
        try_rounds(&known, (staged_example){.text = rounds[2], .dtype = KRF_F32, .rows = n, .n = 255}, false);
        try_rounds(&known, (staged_example){.text = rounds[6], .dtype = KRF_U8, .rows = n, .n = 171}, false);
    }
    assert_int_equal(failures, 0);
}

/* ---- the program ---- */

static void open_one(run *now, const char *device, const char *fusion, const char *label) {
    krf_context_options options = krf_context_options_default();
    options.device = device;
    options.fusion = fusion;
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.blocking_compile = true;
    options.cache = KRF_CACHE_OFF;
    now->context = open_or_skip(&options);
    now->noted = on_gpu();
    if (now->noted) {
        batch_install(now->context);
    }
    snprintf(now->label, sizeof now->label, "%s", label);
}

int main(void) {
    open_noted_runs(&all, false);
    open_one(&plain, asked_device(), "operations=1,results=1,reductions=1,row=0,columns=0,prologue=0,epilogue=0,vectors=0", "not fused");
    if (on_gpu()) {
        open_one(&known.run[0], asked_device(), "literal_from=1", "cuda");
        known.n = 1;
    }
    const int failed = run_part(TESTS(noted_test(test_pairs), noted_test(test_fours), noted_test(test_numbers_of_rows), noted_test(test_places), noted_test(test_functions_of_pairs), noted_test(test_rounds)));
    krf_context_destroy(plain.context);
    close_runs(&all);
    close_runs(&known);
    return failed;
}
