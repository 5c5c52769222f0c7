/* Scans for which no order matters, of integers and bools and of the largest and smallest of anything, whatever tile they are in and
 * whoever has it. Along rows, down columns, of single rows of many tiles that threads share, of few and of many rows; beside each other, beside scans whose order does matter, of floats and of users; of what is computed and with
 * something computed of them; sums and products that wrap around. Against plain loops here, with one thread and with two, compiled and interpreted, and on the GPU. */
#include "ops/outer.h"
#include "ops/programs.h"
#include "ops/tree.h"

enum { MOST_SCANS = 4, TILE = 4096, GROUP = 32 * TILE, MOST_SIZE = 420000 };

static runs all;

/* ---- programs ---- */

/* x, y and w are of one dtype; w has an element for each place of a row. */
enum { XX, YY, WW, ARRAYS };
static const char *const names[ARRAYS] = {"x", "y", "w"};

typedef struct line {
    const value *x, *y, *w;
    int64_t n;
    value *to[MOST_SCANS];
} line;

typedef enum of { ALL_KINDS, NO_BOOL, OF_FLOATS_TOO, OF_64_BITS } of;

typedef struct scan_program {
    const char *text;
    void (*row)(const line *l);
    int n;
    of of;
} scan_program;

static value put_together(int op, value a, value b) {
    if (is_real(a.dtype)) { /* the largest and the smallest alone */
        return (value){.dtype = a.dtype, .f = op == MAX ? larger(a.f, b.f) : -larger(-a.f, -b.f)};
    }
    if (op == MAX || op == MIN) {
        return (wide_of(b) > wide_of(a)) == (op == MAX) ? b : a;
    }
    return (value){.dtype = a.dtype, .i = op == SUM ? (int64_t)((uint64_t)a.i + (uint64_t)b.i) : (int64_t)((uint64_t)a.i * (uint64_t)b.i)};
}

static void run_over(int op, const value *x, int64_t n, value *to) {
    const krf_dtype dtype = result_dtype((reduction_op)op, x[0].dtype);
    for (int64_t i = 0; i < n; i++) {
        const value v = convert(x[i], dtype);
        to[i] = i == 0 ? v : put_together(op, to[i - 1], v);
    }
}

static void step_all(char op, const value *a, const value *b, int64_t n, value *to) {
    for (int64_t i = 0; i < n; i++) {
        to[i] = step_of(op, a[i], b[i]);
    }
}

static void row_sum(const line *l) { run_over(SUM, l->x, l->n, l->to[0]); }
static void row_prod(const line *l) { run_over(PROD, l->x, l->n, l->to[0]); }
static void row_max(const line *l) { run_over(MAX, l->x, l->n, l->to[0]); }
static void row_min(const line *l) { run_over(MIN, l->x, l->n, l->to[0]); }

static value scratch[2][MOST_SIZE];

static void row_before(const line *l) { /* x * y - w */
    step_all('*', l->x, l->y, l->n, scratch[0]);
    step_all('-', scratch[0], l->w, l->n, scratch[0]);
    run_over(SUM, scratch[0], l->n, l->to[0]);
}

static void row_behind(const line *l) { /* - x * y */
    step_all('*', l->x, l->y, l->n, scratch[0]);
    run_over(MAX, l->x, l->n, scratch[1]);
    step_all('-', scratch[1], scratch[0], l->n, l->to[0]);
}

static void row_both(const line *l) { /* of x - y, and then * x + w; of 64 bits */
    step_all('-', l->x, l->y, l->n, scratch[0]);
    run_over(SUM, scratch[0], l->n, scratch[1]);
    step_all('*', scratch[1], l->x, l->n, scratch[1]);
    step_all('+', scratch[1], l->w, l->n, l->to[0]);
}

static void row_two(const line *l) {
    run_over(MAX, l->x, l->n, l->to[0]);
    run_over(MIN, l->x, l->n, l->to[1]);
}

/* Both with something before them, and one behind. */
static void row_four(const line *l) {
    step_all('*', l->x, l->y, l->n, scratch[0]);
    run_over(MAX, scratch[0], l->n, scratch[1]);
    step_all('-', scratch[1], l->w, l->n, l->to[0]);
    step_all('-', l->x, l->y, l->n, scratch[0]);
    run_over(MIN, scratch[0], l->n, l->to[1]);
}

/* The first three bits over 7, in the order of floats. */
static void sevenths(const value *x, const value *less, int64_t n, value *to) {
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = (uint64_t)x[i].i - (less != NULL ? (uint64_t)less[i].i : 0);
        scratch[0][i] = (value){.dtype = KRF_F32, .f = nearest_float((double)(bits & 7) / 7)};
    }
    expect_row(&scans[SCAN_cumsum], KRF_F32, scratch[0], n, to);
}

/* One scan whose order matters, and one for which it does not. */
static void row_beside_floats(const line *l) {
    sevenths(l->x, NULL, l->n, l->to[0]);
    run_over(MIN, l->x, l->n, l->to[1]);
}

static void row_before_floats(const line *l) {
    run_over(MAX, l->x, l->n, l->to[0]);
    sevenths(l->x, l->y, l->n, l->to[1]);
}

/* A sum that is stored, and of which something is made. */
static void row_stored(const line *l) {
    run_over(SUM, l->x, l->n, l->to[0]);
    step_all('*', l->to[0], l->y, l->n, l->to[1]);
}

/* The last that is not 0. */
static void row_latest(const line *l) {
    run_over(SUM, l->x, l->n, l->to[0]);
    for (int64_t i = 0; i < l->n; i++) {
        l->to[1][i] = l->x[i].i != 0 || i == 0 ? l->x[i] : l->to[1][i - 1];
    }
}

/* How many have been below so far, and whether any has. */
static void row_mask(const line *l) {
    for (int64_t i = 0; i < l->n; i++) {
        scratch[0][i] = step_of('<', l->x[i], l->y[i]);
    }
    run_over(SUM, scratch[0], l->n, l->to[0]);
    run_over(MAX, scratch[0], l->n, l->to[1]);
}

/* Of users: the greatest common divisor so far. */
static void row_divisors(const line *l) {
    for (int64_t i = 0; i < l->n; i++) {
        uint64_t a = i > 0 ? (uint64_t)l->to[0][i - 1].i : 0, b = l->x[i].i < 0 ? -(uint64_t)l->x[i].i : (uint64_t)l->x[i].i;
        while (b != 0) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        l->to[0][i] = (value){.dtype = l->x[i].dtype, .i = (int64_t)a};
    }
    run_over(SUM, l->x, l->n, l->to[1]);
}

static const scan_program programs[] = {
    {"cumsum(x, axis=1)", row_sum, 1, ALL_KINDS},
    {"cumprod(x, axis=1)", row_prod, 1, ALL_KINDS},
    {"cummax(x, axis=1)", row_max, 1, OF_FLOATS_TOO},
    {"cummin(x, axis=1)", row_min, 1, OF_FLOATS_TOO},
    {"cumsum(x * y - w, axis=1)", row_before, 1, NO_BOOL},
    {"cummax(x, axis=1) - x * y", row_behind, 1, NO_BOOL},
    {"cumsum(x - y, axis=1) * x + w", row_both, 1, OF_64_BITS},
    {"return cummax(x, axis=1), cummin(x, axis=1)", row_two, 2, OF_FLOATS_TOO},
    {"d = x - y\nreturn cummax(x * y, axis=1) - w, cummin(d, axis=1)", row_four, 2, NO_BOOL},
    {"return cumsum(f32(x & 7) / 7, axis=1), cummin(x, axis=1)", row_beside_floats, 2, NO_BOOL},
    {"return cummax(x, axis=1), cumsum(f32((x - y) & 7) / 7, axis=1)", row_before_floats, 2, NO_BOOL},
    {"s = cumsum(x, axis=1)\nreturn s, s * y", row_stored, 2, OF_64_BITS},
    {"return cumsum(x < y, axis=1), cummax(x < y, axis=1)", row_mask, 2, ALL_KINDS},
    {"return cumsum(x, axis=1), latest(x, axis=1, scan=True)", row_latest, 2, OF_64_BITS},
    {"return gcd.accumulate(x, axis=1), cumsum(x, axis=1)", row_divisors, 2, OF_64_BITS},
};
enum { PROGRAMS = sizeof programs / sizeof *programs, PLAIN_ONES = 4 };

static const krf_dtype dtypes[] = {KRF_I32, KRF_I64, KRF_U8, KRF_BOOL, KRF_I8, KRF_U64, KRF_I16, KRF_U32, KRF_U16, KRF_F32, KRF_F64, KRF_F16, KRF_BF16};
enum { INTEGERS = 9, WITH_FLOATS = 13 };

static bool takes(const scan_program *p, krf_dtype dtype) {
    switch (p->of) {
    case NO_BOOL: return !is_real(dtype) && dtype != KRF_BOOL;
    case OF_FLOATS_TOO: return true;
    case OF_64_BITS: return dtype == KRF_I64;
    default: return !is_real(dtype);
    }
}

/* ---- operands: x and y of outer x n x inner elements, scanned along the middle ---- */

typedef enum view { PLAIN_ARRAY, ELSEWHERE, BACKWARDS, TURNED_ROUND, VIEWS } view;
static const char *const views[VIEWS] = {"", ", from the second element on", ", backwards", ", across"};

typedef struct scan_example {
    const scan_program *p;
    krf_dtype dtype;
    int64_t outer, n, inner;
    view view; /* of x */
    bool small; /* numbers, so that no sum wraps; else of all bits, odd where they are multiplied */
    int again;  /* how often plans run */
} scan_example;

static value elements[2][MOST_SIZE], beside[MOST_SIZE];

static value draw_element(const scan_example *e, uint64_t *seed) {
    static const double specials[] = {NAN, INFINITY, -INFINITY, 0, -0.0, -0.0, 0, 1e30};
    const uint64_t bits = next_random(seed);
    if (is_real(e->dtype)) { /* NaN is the end of a row, so that there are few */
        const bool special = bits % 32 == 0, last = bits >> 8 & 7 && !(bits >> 16 & 1023);
        return number(e->dtype, special && !last ? specials[3 + (bits >> 8) % 4] : last ? specials[(bits >> 8) % 3] : random_unit(seed) - 0.5);
    }
    return convert((value){.dtype = KRF_I64, .i = e->small ? (int64_t)(bits % 7) - 3 : e->dtype == KRF_BOOL ? (int64_t)(bits % 64 == 0) : (int64_t)(strstr(e->p->text, "prod") != NULL ? bits | 1 : bits >> (bits >> 60))}, e->dtype);
}

/* Bools: such that a row's product is not 0, nor its largest 1, from the start. */
static void fill(const scan_example *e) {
    uint64_t seed = (uint64_t)(e->n * 31 + e->outer + (int64_t)e->dtype);
    const int64_t size = e->outer * e->n * e->inner;
    for (int64_t k = 0; k < size; k++) {
        elements[XX][k] = draw_element(e, &seed);
        elements[YY][k] = draw_element(e, &seed);
        if (e->dtype == KRF_BOOL) {
            const int64_t along = k / e->inner % e->n;
            elements[XX][k].i = e->p->row == row_prod || e->p->row == row_min ? along < e->n * 2 / 3 || elements[XX][k].i == 0 : along > e->n / 3 && elements[XX][k].i != 0;
        }
        if (e->p->row == row_latest && k % 3 > 0) {
            elements[XX][k].i = 0;
        }
        if (e->p->row == row_divisors) { /* that fall slowly */
            elements[XX][k].i = (int64_t)((uint64_t)(random_below(&seed, 1000) + 1) * (k % 4099 == 0 ? 7560 : 15120) * (k / e->inner % e->n > e->n / 2 ? 1 : 11));
        }
    }
    for (int64_t k = 0; k < e->n; k++) {
        beside[k] = draw_element(e, &seed);
    }
}

static krf_array *make_x(krf_context *context, const scan_example *e, const value *from) {
    const int64_t size = e->outer * e->n * e->inner, before = e->view == ELSEWHERE ? 1 : 0, count = size + before, shape[3] = {e->outer, e->n, e->inner};
    char *memory = malloc((size_t)count * bytes_of(e->dtype) + 1);
    krf_array *base = NULL, *rows_of = NULL;
    int64_t strides[3] = {e->n * e->inner, e->inner, 1}, offset = before;
    assert_non_null(memory);
    if (e->view == TURNED_ROUND) {
        strides[0] = e->inner;
        strides[1] = e->inner * e->outer;
    } else if (e->view == BACKWARDS) {
        strides[1] = -e->inner;
        offset = (e->n - 1) * e->inner;
    }
    memset(memory, 1, (size_t)count * bytes_of(e->dtype));
    for (int64_t k = 0; k < size; k++) {
        put(memory, offset + k / e->inner / e->n * strides[0] + k / e->inner % e->n * strides[1] + k % e->inner, from[k]);
    }
    assert_ok(krf_array_from_host(context, e->dtype, 1, &count, memory, &base));
    assert_ok(krf_array_view(base, 3, shape, strides, offset, &rows_of));
    krf_array_release(base);
    free(memory);
    return rows_of;
}

static krf_array *make_plain(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const value *from) {
    int64_t size = 1;
    krf_array *array = NULL;
    for (int d = 0; d < rank; d++) {
        size *= shape[d];
    }
    char *memory = malloc((size_t)size * bytes_of(dtype) + 1);
    assert_non_null(memory);
    for (int64_t k = 0; k < size; k++) {
        put(memory, k, from[k]);
    }
    assert_ok(krf_array_from_host(context, dtype, rank, shape, memory, &array));
    free(memory);
    return array;
}

/* ---- evaluation ---- */

static value want[MOST_SCANS][MOST_SIZE];

static void expect_all(const scan_example *e) {
    static value row[2][MOST_SIZE], to[MOST_SCANS][MOST_SIZE];
    for (int64_t o = 0; o < e->outer; o++) {
        for (int64_t k = 0; k < e->inner; k++) {
            for (int a = 0; a < 2; a++) {
                for (int64_t i = 0; i < e->n; i++) {
                    row[a][i] = elements[a][(o * e->n + i) * e->inner + k];
                }
            }
            e->p->row(&(line){row[XX], row[YY], beside, e->n, {to[0], to[1], to[2], to[3]}});
            for (int r = 0; r < e->p->n; r++) {
                for (int64_t i = 0; i < e->n; i++) {
                    want[r][(o * e->n + i) * e->inner + k] = to[r][i];
                }
            }
        }
    }
}

static void try_on(const run *now, const scan_example *e) {
    const int64_t shape[3] = {e->outer, e->n, e->inner}, size = e->outer * e->n * e->inner, places_of[2] = {e->n, 1};
    krf_array *arrays[ARRAYS] = {make_x(now->context, e, elements[XX]), make_plain(now->context, e->dtype, 3, shape, elements[YY]), make_plain(now->context, e->dtype, 2, places_of, beside)};
    krf_binding bindings[ARRAYS];
    char text[300], what[400];
    int n = 0;
    snprintf(what, sizeof what, "%s: %s of %s, %" PRId64 " x %" PRId64 " x %" PRId64 "%s", now->label, e->p->text, name_of(e->dtype), e->outer, e->n, e->inner, views[e->view]);
    snprintf(text, sizeof text, "%s%s", strstr(e->p->text, "return ") != NULL ? "" : "return ", e->p->text);
    for (int a = 0; a < ARRAYS; a++) {
        bindings[n++] = krf_bind_array(names[a], arrays[a]);
    }
    krf_array *got[MOST_SCANS] = {NULL};
    krf_plan *plan = run_program(now, text, bindings, n, e->p->n, got);
    for (int again = 0; again == 0 || again < e->again; again++) {
        if (again > 0) { /* threads meet otherwise each time */
            assert_ok(krf_plan_run(plan, NULL, 0, NULL, got));
        }
        for (int r = 0; r < e->p->n && !collecting; r++) {
            const krf_dtype dtype = want[r][0].dtype;
            void *data = to_host(got[r], dtype, 3, shape, what);
            for (int64_t k = 0; data != NULL && k < size; k++) {
                const value found = get(data, dtype, k);
                char a[64], b[64];
                if (!same(found, want[r][k])) {
                    COMPLAIN("%s: result %d, element %" PRId64 " is %s, not %s", what, r, k, show(found, a, 64), show(want[r][k], b, 64));
                    break;
                }
            }
            free(data);
        }
    }
    krf_plan_release(plan);
    for (int r = 0; r < e->p->n; r++) {
        krf_array_release(got[r]);
    }
    for (int a = 0; a < ARRAYS; a++) {
        krf_array_release(arrays[a]);
    }
}

static void try_scan(scan_example e) {
    assert_true(e.outer * e.n * e.inner <= MOST_SIZE);
    if (!takes(e.p, e.dtype)) {
        return;
    }
    if (!collecting) {
        fill(&e);
        expect_all(&e);
    }
    for (int r = 0; r < all.n; r++) {
        if (!passed_over(&all.run[r]) && (all.run[r].noted || (e.n + (int64_t)e.dtype + r) % 4 == 0)) {
            try_on(&all.run[r], &e);
        }
    }
}

/* Each test fails for itself. */
static void finish(void) {
    const int n = failures;
    failures = 0;
    assert_int_equal(n, 0);
}

/* ---- tests ---- */

/* Compilers take a third of a second for a kernel: of each program few dtypes, always the same ones. */
static bool takes_some(int p, int d, int every) { return takes(&programs[p], dtypes[d]) && (programs[p].of == OF_64_BITS || (d + 2 * p) % every == 0); }

/* One row, around the borders of runs, warps, tiles and groups of tiles. */
static void test_single_rows(void **unused) {
    static const int64_t lengths[] = {4097, 8191, 8192, 8193, 12289, 40 * TILE + 1, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP - 1, 2 * GROUP, 2 * GROUP + 1, 3 * GROUP + 4095, 3 * GROUP + TILE + 1};
    static const int64_t of_a_tile[] = {1, 2, 15, 16, 17, 511, 513, 4095, 4096};
    (void)unused;
    for (int p = 0; p < PROGRAMS; p++) {
        for (int d = 0; d < WITH_FLOATS; d++) {
            for (int l = (p + d) % 3; l < 14 && takes_some(p, d, p < PLAIN_ONES ? 2 : 6); l += lengths[l] < GROUP / 2 ? 2 : 3) {
                try_scan((scan_example){.p = &programs[p], .dtype = dtypes[d], .outer = 1, .n = lengths[l], .inner = 1, .small = (p + l) % 4 == 0, .view = p == 9 ? ELSEWHERE : p == 5 ? BACKWARDS : PLAIN_ARRAY});
            }
            for (int l = (p + d) % 2; l < 9 && takes_some(p, d, 7); l += 2) {
                try_scan((scan_example){.p = &programs[p], .dtype = dtypes[d], .outer = 1, .n = of_a_tile[l], .inner = 1, .small = l % 3 == 0});
            }
        }
    }
    finish();
}

/* Threads take tiles of few rows in turn and tell each other what comes before the next: often. */
static void test_again(void **unused) {
    (void)unused;
    for (int p = 0; p < PROGRAMS; p++) {
        for (int d = 0, found = 0; d < INTEGERS && found == 0; d++) {
            if (takes_some(p, d, p < PLAIN_ONES ? 2 : 6)) {
                try_scan((scan_example){.p = &programs[p], .dtype = dtypes[d], .outer = 1, .n = 45 * TILE + 77, .inner = 1, .again = 5});
                try_scan((scan_example){.p = &programs[p], .dtype = dtypes[d], .outer = 3, .n = 9 * TILE + 5, .inner = 1, .again = 5});
                found = 1;
            }
        }
    }
    finish();
}

/* Rows: few and long, many of several tiles, short ones, which the CPU turns; columns: few, whose rows go together, and many. */
static void test_shapes(void **unused) {
    static const int64_t shapes[][3] = {{5, 20000, 1}, {63, 4100, 1}, {64, 4097, 1}, {70, 5000, 1}, {1, 4097, 2}, {1, 9000, 7}, {1, 5000, 8}, {1, 5000, 15}, {9, 4500, 3}, {2, 4099, 16}, {3, 300, 1}, {300, 129, 1},
                                        {20, 33, 1}, {15, 128, 1}, {16, 128, 1}, {500, 5, 1}, {3, 700, 64}, {2, 300, 129}, {40, 7, 5}, {66, 17, 9}};
    (void)unused;
    for (int s = 0; s < 20; s++) {
        for (int t = 0; t < 3; t++) {
            const int p = (s / 2 + 5 * t) % PROGRAMS;
            int d = (s / 4 + t) % WITH_FLOATS;
            while (!takes(&programs[p], dtypes[d])) {
                d = (d + 1) % WITH_FLOATS;
            }
            try_scan((scan_example){.p = &programs[p], .dtype = dtypes[d], .outer = shapes[s][0], .n = shapes[s][1], .inner = shapes[s][2], .view = t == 2 ? (view)(s % VIEWS) : PLAIN_ARRAY, .small = s % 3 == 0});
        }
    }
    finish();
}

/* Sums and products pass the ends of their 64 bits, again and again: the plain loops show that they do. */
static void test_wrap(void **unused) {
    static const krf_dtype wide_ones[] = {KRF_I64, KRF_U64};
    (void)unused;
    for (int d = 0; d < 2; d++) {
        for (int p = 0; p < 2; p++) {
            static const int64_t shapes[][3] = {{1, 3 * TILE + 7, 1}, {70, 4100, 1}, {2, 5000, 3}, {1, 500, 20}};
            for (size_t s = 0; s < 4; s++) {
                const scan_example e = {.p = &programs[p], .dtype = wide_ones[d], .outer = shapes[s][0], .n = shapes[s][1], .inner = shapes[s][2]};
                int64_t falls = 0;
                try_scan(e);
                for (int64_t k = e.inner; k < e.n * e.inner && !collecting; k++) {
                    falls += wide_of(want[0][k]) < wide_of(want[0][k - e.inner]);
                }
                assert_true(collecting || falls > 10);
            }
        }
    }
    finish();
}

/* Two scans, and what is before and behind, are one kernel where elements have four bytes: else nothing would be tested of them together. */
static void test_kernels(void **unused) {
    static const int together[] = {4, 5, 6, 7, 8, 9, 10, 11};
    (void)unused;
    for (int t = 0; t < 8; t++) {
        const scan_program *p = &programs[together[t]];
        krf_graph *g = krf_graph_create(all.run[0].context);
        krf_expr results[MOST_SCANS];
        krf_binding bindings[ARRAYS];
        krf_plan *plan = NULL;
        char text[300];
        int n = 0;
        for (int a = 0; a < ARRAYS; a++) {
            bindings[a] = krf_bind_expr(names[a], krf_placeholder(g, names[a], p->of == OF_64_BITS ? KRF_I64 : KRF_I32, a == WW ? 2 : 3, a == WW ? (int64_t[]){50000, 1} : (int64_t[]){2, 50000, 1}));
        }
        snprintf(text, sizeof text, "%s%s", strstr(p->text, "return ") != NULL ? "" : "return ", p->text);
        if (krf_parse_many(g, text, bindings, ARRAYS, MOST_SCANS, results, &n) != KRF_OK || krf_compile(g, n, results, NULL, &plan) != KRF_OK) {
            fail_msg("%s: %s", text, krf_error_message());
        }
        if (krf_plan_kernels(plan) != 1) {
            COMPLAIN("%s has %d kernels", p->text, krf_plan_kernels(plan));
        }
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
    finish();
}

int main(void) {
    setenv("KRF_EXACT_MEMORY", "1", 0); /* what is read behind arrays is seen */
    open_noted_runs(&all, true);
    krf_reduction *latest[MAX_RUNS] = {NULL};
    for (int r = 0; r < all.n; r++) {
        assert_ok(krf_reduction_define(all.run[r].context, "latest", "i64 x", "i64 v", "0", "v = x;", "v = b_v != 0 ? b_v : a_v;", NULL, NULL, &latest[r]));
    }
    const int failed = run_part(TESTS(cmocka_unit_test(test_kernels), noted_test(test_single_rows), noted_test(test_again), noted_test(test_shapes), noted_test(test_wrap)));
    for (int r = 0; r < all.n; r++) {
        krf_reduction_release(latest[r]);
    }
    close_runs(&all);
    return failed;
}
