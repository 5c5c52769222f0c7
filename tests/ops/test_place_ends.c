/* argmax and argmin of bytes and halves where the largest element, its equals and NaN stand at each place of a vector, of a warp's vectors and of what is behind the last whole one; zeros of both signs, infinities alone; long rows, cut into parts that
 * leave elements over or do not; views, and results in further expressions; rows that begin anywhere within a vector, of values that are as nothing, with NaN around and at their ends. Against a loop. */
#include "ops/common.h"

static runs all_runs;

enum { LARGEST, SMALLEST };

/* What a row has but at its places; what it has there, and what is an equal of that. */
typedef struct filling {
    double other, found, equal;
} filling;

static const filling whole[2][4] = {{{3, 100, 100}, {0, 1, 1}, {126, 127, 127}, {-128, -127, -127}}, {{3, 1, 1}, {127, 126, 126}, {-100, -128, -128}, {1, 0, 0}}};
static const filling reals[2][6] = {{{-1, 0.0, -0.0}, {-(double)INFINITY, -1, -1}, {1, (double)NAN, (double)NAN}, {1, (double)INFINITY, (double)NAN}, {0x1p-24, 0x1p-14, 0x1p-14}, {1, (double)INFINITY, (double)INFINITY}},
                                    {{1, -0.0, 0.0}, {(double)INFINITY, 1, 1}, {1, (double)NAN, (double)NAN}, {1, -(double)INFINITY, (double)NAN}, {-0x1p-24, -0x1p-14, -0x1p-14}, {-1, -(double)INFINITY, -(double)INFINITY}}};

static bool beats(value a, value b, int which) {
    if (is_real(a.dtype)) {
        return !isnan(b.f) && (isnan(a.f) || (which == SMALLEST ? a.f < b.f : a.f > b.f));
    }
    return which == SMALLEST ? a.i < b.i : a.i > b.i;
}

static int64_t place_of(const char *memory, krf_dtype dtype, int64_t first, int64_t n, int64_t step, int which) {
    int64_t best = 0;
    value found = get(memory, dtype, first);
    for (int64_t k = 1; k < n; k++) {
        const value v = get(memory, dtype, first + k * step);
        if (beats(v, found, which)) {
            best = k;
            found = v;
        }
    }
    return best;
}

static value of(krf_dtype dtype, double x) { return is_real(dtype) ? (value){.dtype = dtype, .f = x} : whole_number(dtype, (int64_t)x); }

static bool text_only; /* nothing runs */

/* Results of a program, of rows that begin `pitch` elements after one another. */
static void check(const run *now, const char *text, krf_array *x, const char *memory, krf_dtype dtype, int64_t rows, int64_t n, int64_t from, int64_t pitch, int64_t step, int which, int found, int kernels) {
    krf_graph *g = krf_graph_create(now->context);
    krf_plan *plan = NULL;
    krf_array *out = NULL;
    krf_expr result;
    krf_status status = krf_parse(g, text, (krf_binding[]){krf_bind_array("x", x)}, 1, &result);
    status = status == KRF_OK ? krf_compile(g, 1, &result, NULL, &plan) : status;
    status = status == KRF_OK && !text_only ? krf_plan_run(plan, NULL, 0, NULL, &out) : status;
    if (status != KRF_OK) {
        fail_msg("%s of %s, %s: %s", text, name_of(dtype), now->label, krf_error_message());
    }
    if (all_runs.cuda && found >= 0 && has_text(plan, "krf_take_place") != (found > 0)) {
        COMPLAIN("%s of %s, rows of %" PRId64 ": the kernel should%s compare values", text, name_of(dtype), n, found > 0 ? "" : " not");
    }
    if (kernels > 0 && all_runs.cuda && krf_plan_kernels(plan) != kernels) {
        COMPLAIN("%s of %s, rows of %" PRId64 ": %d kernels, not %d", text, name_of(dtype), n, krf_plan_kernels(plan), kernels);
    }
    void *got = collecting || text_only ? NULL : to_host(out, KRF_I64, rows > 1 ? 1 : 0, &rows, text);
    for (int64_t k = 0; got != NULL && k < rows; k++) {
        const int64_t want = place_of(memory, dtype, from + k * pitch, n, step, which);
        if (get(got, KRF_I64, k).i != want) {
            COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 "], on %s: result %" PRId64 " is %" PRId64 ", not %" PRId64, text, name_of(dtype), rows, n, now->label, k, get(got, KRF_I64, k).i, want);
            break;
        }
    }
    free(got);
    krf_plan_release(plan);
    krf_array_release(out);
    krf_graph_destroy(g);
}

static krf_array *array_of(const run *now, krf_dtype dtype, int rank, const int64_t *shape, const char *memory) {
    krf_array *x = NULL;
    assert_int_equal(krf_array_from_host(now->context, dtype, rank, shape, memory, &x), KRF_OK);
    return x;
}

enum { ROWS = 264 }; /* more than a warp's vectors, and elements behind the last */

/* A row for each of the last places, which may have equals at two others. */
static void fill_places(char *memory, krf_dtype dtype, int64_t n, const filling *f) {
    const value other = of(dtype, f->other), found = of(dtype, f->found), equal = of(dtype, f->equal);
    for (int64_t i = 0; i < (collecting ? 0 : ROWS * n); i++) {
        put(memory, i, other);
    }
    for (int64_t row = 0; row < ROWS; row++) {
        const int64_t place = n - ROWS + row;
        put(memory, row * n + (row % 3 == 0 ? row * 37 % n : place), equal);
        put(memory, row * n + (place + row % 5 * 8) % n, equal);
        put(memory, row * n + place, found);
    }
}

static const krf_dtype dtypes[] = {KRF_U8, KRF_I8, KRF_F16, KRF_BF16};

static void test_places(void **unused) {
    static const int64_t lengths[] = {264, 512, 1003, 1024};
    static char memory[2 * ROWS * 1024];
    (void)unused;
    failures = 0;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        const size_t fillings = is_real(dtypes[d]) ? sizeof reals[0] / sizeof *reals[0] : sizeof whole[0] / sizeof *whole[0];
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            for (size_t f = 0; f < (i == 0 ? fillings : 2) && !(collecting && f > 0); f++) {
                for (int which = LARGEST; which <= SMALLEST; which++) {
                    const size_t used = i == 0 ? f : (i + f * 2 + d) % fillings;
                    const int64_t n = lengths[i], shape[2] = {ROWS, n};
                    fill_places(memory, dtypes[d], n, is_real(dtypes[d]) ? &reals[which][used] : &whole[which][used]);
                    for (int r = 0; r < all_runs.n; r++) {
                        if (!passed_over(&all_runs.run[r])) {
                            krf_array *x = array_of(&all_runs.run[r], dtypes[d], 2, shape, memory);
                            check(&all_runs.run[r], which == SMALLEST ? "argmin(x, axis=1)" : "argmax(x, axis=1)", x, memory, dtypes[d], ROWS, n, 0, n, 1, which, n % 8 == 0 ? 1 : -1, 0);
                            krf_array_release(x);
                        }
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Few values, of which the largest and the smallest are at some places of each row. */
static void fill_drawn(char *memory, krf_dtype dtype, int64_t n, int64_t row, uint64_t seed) {
    for (int64_t i = 0; i < (collecting ? 0 : n); i++) {
        const uint64_t bits = next_random(&seed);
        const int lot = (int)(i / row % 4);
        const bool rare = bits >> 20 < (UINT64_C(1) << 44) * 3 / (uint64_t)row;
        const double ends[4] = {100, 5, -6, 7}, x = rare ? (bits & 1 ? ends[lot] : -ends[lot] - 1) : (double)(bits >> 4 & 3);
        put(memory, i, is_real(dtype) && lot == 3 && rare && (bits >> 8 & 3) == 0 ? of(dtype, (double)NAN) : of(dtype, dtype == KRF_U8 ? x + 120 : x));
    }
}

/* Rows so long that they go by parts: those that whole chunks, or whole vectors, leave nothing of have two kernels; all elements; and the longest that have none. */
static void test_parts(void **unused) {
    static const struct {
        int64_t rows, n;
        int kernels;
        int dtypes[2];
    } shapes[] = {{9, 128256, 2, {KRF_U8, KRF_F16}},  {9, 128257, 0, {KRF_I8, KRF_BF16}}, {114, 9240, 2, {KRF_I8, KRF_F16}},   {82, 12824, 0, {KRF_U8, KRF_F16}}, {64, 16384, 0, {KRF_U8, KRF_BF16}},
                  {60, 17480, 2, {KRF_BF16, KRF_BF16}}, {128, 8193, 0, {KRF_U8, KRF_F16}},  {129, 8192, 1, {KRF_I8, KRF_F16}}, {1, 1179648, 2, {KRF_U8, KRF_BF16}}, {1, 1048577, 0, {KRF_I8, KRF_F16}}};
    static char memory[2 * 1300000];
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int d = 0; d < 2; d++) {
            const krf_dtype dtype = (krf_dtype)shapes[i].dtypes[d];
            const int64_t shape[2] = {shapes[i].rows, shapes[i].n};
            const int which = (int)(i + (size_t)d) % 2;
            fill_drawn(memory, dtype, shape[0] * shape[1], shape[1], i + 1);
            for (int r = 0; r < all_runs.n; r++) {
                if (!passed_over(&all_runs.run[r])) {
                    krf_array *x = array_of(&all_runs.run[r], dtype, 2, shape, memory);
                    const char *text = shape[0] > 1 ? (which == SMALLEST ? "argmin(x, axis=1)" : "argmax(x, axis=1)") : (which == SMALLEST ? "argmin(x)" : "argmax(x)");
                    check(&all_runs.run[r], text, x, memory, dtype, shape[0], shape[1], 0, shape[1], 1, which, shapes[i].kernels == 2 ? 1 : -1, shapes[i].kernels);
                    krf_array_release(x);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* The longest rows of bytes that a warp numbers, and halves of which it has several tiles; they overlap: a few thousand of them would be long to fill. */
static void test_longest(void **unused) {
    static const struct {
        krf_dtype dtype;
        int64_t n;
        int found;
    } of_rows[] = {{KRF_U8, 8192, 1}, {KRF_F16, 2608, 1}, {KRF_BF16, 3200, 1}, {KRF_F16, 8192, 1}};
    static char memory[2 * (4096 * 16 + 8208)];
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows && all_runs.cuda; i++) {
        const int64_t n = of_rows[i].n, rows = 4096, size = (rows - 1) * 16 + n, shape[2] = {rows, n}, strides[2] = {16, 1};
        krf_array *base = NULL, *x = NULL;
        fill_drawn(memory, of_rows[i].dtype, size, of_rows[i].n * 3, i + 1);
        base = array_of(&all_runs.run[0], of_rows[i].dtype, 1, &size, memory);
        assert_int_equal(krf_array_view(base, 2, shape, strides, 0, &x), KRF_OK);
        text_only = i == 3;
        check(&all_runs.run[0], "argmax(x, axis=1)", x, memory, of_rows[i].dtype, rows, n, 0, 16, 1, LARGEST, of_rows[i].found, 0);
        text_only = false;
        krf_array_release(x);
        krf_array_release(base);
    }
    assert_int_equal(failures, 0);
}

/* Rows that begin elsewhere, that lie apart, backwards or across. */
static void test_views(void **unused) {
    static const struct {
        const char *largest, *smallest;
        int64_t rows, n, from, pitch, step;
        int found;
    } views[] = {
        {"argmax(x[:, 8:], axis=1)", "argmin(x[:, 8:], axis=1)", 40, 600, 8, 608, 1, 1},
        {"argmax(x[::2, 16:-8], axis=1)", "argmin(x[::2, 16:-8], axis=1)", 20, 584, 16, 1216, 1, 1},
        {"argmax(x[::-1, :-3], axis=1)", "argmin(x[::-1, :-3], axis=1)", 40, 605, 39 * 608, -608, 1, 1},
        {"argmax(x[:, 3:], axis=1)", "argmin(x[:, 3:], axis=1)", 40, 605, 3, 608, 1, -1},
        {"argmax(x[:, ::-1], axis=1)", "argmin(x[:, ::-1], axis=1)", 40, 608, 607, 608, -1, 0},
        {"argmax(broadcast_to(x[:, 5:6], (40, 608)), axis=1)", "argmin(broadcast_to(x[:, 5:6], (40, 608)), axis=1)", 40, 608, 5, 608, 0, -1},
        {"argmax(x[:, ::2], axis=1)", "argmin(x[:, ::2], axis=1)", 40, 304, 0, 608, 2, 0},
        {"argmax(x, axis=1) * 3 - argmax(x, axis=1) * 2", "argmin(x, axis=1) * 2 - argmin(x, axis=1)", 40, 608, 0, 608, 1, 1},
        {"sum(where(arange(608) == argmax(x, axis=1)[:, None], arange(608), 0), axis=1)", "sum(where(arange(608) == argmin(x, axis=1)[:, None], arange(608), 0), axis=1)", 40, 608, 0, 608, 1, -1},
    };
    static const int64_t shape[2] = {40, 608};
    static char memory[2 * 40 * 608];
    (void)unused;
    failures = 0;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        fill_drawn(memory, dtypes[d], 40 * 608, 608, d + 1);
        for (int r = 0; r < all_runs.n; r++) {
            for (size_t v = 0; v < sizeof views / sizeof *views && !passed_over(&all_runs.run[r]); v++) {
                krf_array *x = array_of(&all_runs.run[r], dtypes[d], 2, shape, memory);
                for (int which = LARGEST; which <= SMALLEST; which++) {
                    check(&all_runs.run[r], which == SMALLEST ? views[v].smallest : views[v].largest, x, memory, dtypes[d], views[v].rows, views[v].n, views[v].from, views[v].pitch, views[v].step, which, views[v].found, 0);
                }
                krf_array_release(x);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- rows that begin and end anywhere within a vector ---- */

enum { DRIFTING = 48, DRIFT_PITCH = 1017 };

/* The value that loses to all others, or the next one, or the one that all others lose to but NaN. */
static value ranked(krf_dtype dtype, int which, int rank) {
    if (is_real(dtype)) {
        const double ends[] = {-(double)INFINITY, -3, (double)INFINITY};
        return (value){.dtype = dtype, .f = which == SMALLEST ? -ends[rank] : ends[rank]};
    }
    const int64_t low = facts_of(dtype)->is_unsigned ? 0 : -128, high = low + 255;
    return (value){.dtype = dtype, .i = which == SMALLEST ? (rank == 2 ? low : high - rank) : (rank == 2 ? high : low + rank)};
}

/* NaN where there is one, else what all others lose to. */
static value first_of_all(krf_dtype dtype, int which) { return is_real(dtype) ? (value){.dtype = dtype, .f = (double)NAN} : ranked(dtype, which, 2); }

static void fill_drifting(char *memory, krf_dtype dtype, int64_t n, int64_t before, int which) {
    for (int64_t i = 0; i < before + DRIFTING * DRIFT_PITCH; i++) {
        put(memory, i, first_of_all(dtype, which));
    }
    for (int64_t row = 0; row < DRIFTING; row++) {
        const int64_t at = before + row * DRIFT_PITCH;
        const int lot = (int)(row % 8);
        for (int64_t k = 0; k < n; k++) {
            put(memory, at + k, ranked(dtype, which, lot == 7 ? 2 : lot == 4 || lot == 6 ? (int)(k * 7 % 3 == 1) : 0));
        }
        switch (lot) {
        case 1: put(memory, at + n - 1, ranked(dtype, which, 1)); break;
        case 2: put(memory, at, ranked(dtype, which, 1)); break;
        case 3: put(memory, at + row / 8, first_of_all(dtype, which)); break;
        case 4: put(memory, at + n - 1 - row / 8, first_of_all(dtype, which)); break;
        case 5:
            put(memory, at + row % 16, ranked(dtype, which, 2));
            put(memory, at + n - 1 - row % 7, ranked(dtype, which, 2));
            break;
        case 6: put(memory, at + n - 1 - row % 16, ranked(dtype, which, 2)); break;
        default: break;
        }
    }
}

static void test_drifting(void **unused) {
    static const int64_t lengths[] = {1000, 257, 1001, 1017};
    static char memory[2 * (16 + DRIFTING * DRIFT_PITCH)];
    (void)unused;
    failures = 0;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths * 2; i++) {
            const int64_t n = lengths[i / 2], before = i % 2 == 0 ? 0 : 5, size = before + DRIFTING * DRIFT_PITCH, shape[2] = {DRIFTING, n}, strides[2] = {DRIFT_PITCH, 1};
            for (int which = LARGEST; which <= SMALLEST; which++) {
                fill_drifting(memory, dtypes[d], n, before, which);
                for (int r = 0; r < all_runs.n; r++) {
                    krf_array *base = NULL, *x = NULL;
                    if (passed_over(&all_runs.run[r]) || (all_runs.run[r].compiled && i != 3)) {
                        continue;
                    }
                    base = array_of(&all_runs.run[r], dtypes[d], 1, &size, memory);
                    assert_int_equal(krf_array_view(base, 2, shape, strides, before, &x), KRF_OK);
                    check(&all_runs.run[r], which == SMALLEST ? "argmin(x, axis=1)" : "argmax(x, axis=1)", x, memory, dtypes[d], DRIFTING, n, before, DRIFT_PITCH, 1, which, 1, 0);
                    krf_array_release(x);
                    krf_array_release(base);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* The longest ones of bytes that a thread numbers in a byte, whatever place of a vector they begin at: of every 16th row the last element, which has the last number, is larger than all before it. */
static void test_longest_drifting(void **unused) {
    static const struct {
        krf_dtype dtype;
        int64_t n, pitch;
        int found, which;
        bool runs;
    } of_rows[] = {{KRF_U8, 8177, 17, 1, LARGEST, true}, {KRF_I8, 8177, 17, 1, SMALLEST, false}, {KRF_U8, 8178, 17, 0, LARGEST, false}, {KRF_I8, 8191, 17, 0, LARGEST, false}, {KRF_U8, 8192, 17, 0, SMALLEST, false}, {KRF_I8, 8192, 16, 1, LARGEST, false}, {KRF_BF16, 8191, 9, 1, LARGEST, false}};
    static char memory[2 * (4096 * 17 + 8208)];
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows && all_runs.cuda; i++) {
        const int64_t n = of_rows[i].n, pitch = of_rows[i].pitch, rows = 4096, size = (rows - 1) * pitch + n, shape[2] = {rows, n}, strides[2] = {pitch, 1};
        const krf_dtype dtype = of_rows[i].dtype;
        krf_array *base = NULL, *x = NULL;
        memset(memory, 0, sizeof memory);
        for (int64_t j = 0; of_rows[i].runs && !collecting && j < rows / 16; j++) {
            put(memory, (16 * j + 15) * pitch + n - 1, (value){.dtype = dtype, .i = j});
        }
        base = array_of(&all_runs.run[0], dtype, 1, &size, memory);
        assert_int_equal(krf_array_view(base, 2, shape, strides, 0, &x), KRF_OK);
        text_only = !of_rows[i].runs;
        check(&all_runs.run[0], of_rows[i].which == SMALLEST ? "argmin(x, axis=1)" : "argmax(x, axis=1)", x, memory, dtype, rows, n, 0, pitch, 1, of_rows[i].which, of_rows[i].found, 0);
        text_only = false;
        krf_array_release(x);
        krf_array_release(base);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_part_on(open_noted_runs(&all_runs, false),
                       TESTS(noted_test(test_places), noted_test(test_parts), noted_test(test_longest), noted_test(test_views), noted_test(test_drifting),
                             noted_test(test_longest_drifting)));
}
