/* Values that are compared with a few bounds, which are maps then (pass/lower_window.c); and bags of rows of a table, whose places are the same along a strip (codegen/c_fixed.c): against formulas, and the bits of sums of floats against an
 * interpreter that fuses nothing. */
#include "ops/common.h"

#include "ops/against.h"

static runs all;
static krf_context *reference;

enum { MOST_WRITTEN_OUT = 16 };

static int64_t bounds; /* how many there are */

static int64_t squared(int64_t a) { return a * a; }
static int64_t value_of(const int64_t *i) { return number(0, now->given[0].rank == 1 ? i[0] : i[0] * now->given[0].shape[1] + i[1]); }

static int64_t above(const int64_t *i) {
    int64_t n = 0;
    for (int64_t k = 0; k < bounds; k++) {
        n += value_of(i) > number(1, k);
    }
    return n;
}

static int64_t distance_at(const int64_t *i, int64_t *place) {
    int64_t least = INT64_MAX;
    for (int64_t k = 0; k < bounds; k++) {
        const int64_t here = squared(value_of(i) - number(1, k));
        *place = here < least ? k : *place;
        least = here < least ? here : least;
    }
    return least;
}

static int64_t nearest(const int64_t *i) { int64_t place = 0; return distance_at(i, &place); }
static int64_t place_of_nearest(const int64_t *i) { int64_t place = 0; return distance_at(i, &place), place; }

static int64_t farthest(const int64_t *i) {
    int64_t most = 0;
    for (int64_t k = 0; k < bounds; k++) {
        const int64_t here = squared(value_of(i) - number(1, k));
        most = here > most ? here : most;
    }
    return most;
}

static int64_t any_equal(const int64_t *i) {
    bool any = false;
    for (int64_t k = 0; k < bounds; k++) {
        any |= value_of(i) == number(1, k);
    }
    return any;
}

static int64_t all_differ(const int64_t *i) { return !any_equal(i); }
static int64_t doubled(const int64_t *i) { return (int64_t)1 << above(i); }
static int64_t above_and_more(const int64_t *i) { return above(i) * 2 + value_of(i); }

static int64_t above_ranges(const int64_t *i) {
    int64_t n = 0;
    for (int64_t k = 0; k < bounds; k++) {
        n += value_of(i) > k;
    }
    return n;
}

static const struct {
    const char *text; /* K: how many bounds */
    formula *formula;
    krf_dtype dtype; /* KRF_U64: the operands' */
    int rank;
    bool map;
} examples[] = {
    {"sum(i32(x[:, None] > e[None, :]), axis=1)", above, KRF_I64, 1, true},
    {"sum(i32(x[None, :] > e[:, None]), axis=0)", above, KRF_I64, 1, true},
    {"min((x[:, None] - e[None, :]) ** 2, axis=1)", nearest, KRF_U64, 1, true},
    {"argmin((x[:, None] - e[None, :]) ** 2, axis=1)", place_of_nearest, KRF_I64, 1, false},
    {"max((x[:, None] - e[None, :]) ** 2, axis=1)", farthest, KRF_U64, 1, true},
    {"any(x[:, None] == e[None, :], axis=1)", any_equal, KRF_BOOL, 1, true},
    {"all(x[:, None] != e[None, :], axis=1)", all_differ, KRF_BOOL, 1, true},
    {"prod(f32(x[:, None] > e[None, :]) + 1, axis=1)", doubled, KRF_F32, 1, true},
    {"sum(i32(x[:, :, None] > e), axis=2)", above, KRF_I64, 2, true},
    {"sum(i32(x[..., None] > e), axis=-1) * 2 + i64(x)", above_and_more, KRF_I64, 1, true},
    {"sum(i32(i32(x[:, None]) > i32(arange(K))), axis=1) + i64(e[0]) * 0", above_ranges, KRF_I64, 1, true},
};

static void test_bounds(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_I32, KRF_F64, KRF_I16, KRF_BF16, KRF_I64, KRF_F16};
    static const int64_t lengths[] = {1000, 32, 33, 4097};
    int turn = 0;
    (void)unused;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        for (bounds = 1; bounds <= 20; bounds++) {
            for (int r = 0; r < all.n; r++) {
                char text[200], *end = text;
                if (passed_over(&all.run[r]) || (all.run[r].compiled && (bounds + (int64_t)k) % 3 != 0 && bounds != 16)) {
                    continue;
                }
                for (const char *p = examples[k].text; *p != 0; p++) {
                    end += *p == 'K' ? sprintf(end, "%" PRId64, bounds) : sprintf(end, "%c", *p);
                }
                const krf_dtype dtype = dtypes[(k + (size_t)bounds * 2) % 7];
                const int64_t n = lengths[collecting ? 0 : (turn / 3) % 4];
                check c = {.run = &all.run[r], .text = text, .n_given = 2, .n_out = 1, .one_kernel = true};
                c.given[0] = (given){"x", dtype, examples[k].rank, {examples[k].rank == 1 ? n : 40, 7}, turn % 3, -5, 12};
                c.given[1] = (given){"e", dtype, 1, {bounds}, 2, -4, 11};
                c.out[0] = (wanted){examples[k].dtype == KRF_U64 ? dtype : examples[k].dtype, examples[k].rank, {c.given[0].shape[0], 7}, examples[k].formula};
                c.schedule = examples[k].map && bounds > 1 && bounds <= MOST_WRITTEN_OUT ? "map" : NULL;
                c.into = 1u << turn++ % GAPS_AFTER_LINES;
                check_it(&c, all.cuda);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- bags ---- */

static int64_t rows, columns, together; /* of the table; places in a bag */

static int64_t sum_of_bag(const int64_t *i) {
    int64_t sum = 0;
    for (int64_t k = 0; k < together; k++) {
        int64_t place = number(1, i[0] * together + k);
        place = place < 0 ? place + rows : place;
        place = place < 0 ? 0 : place >= rows ? rows - 1 : place;
        sum += number(0, place * columns + i[1]);
    }
    return sum;
}

static int64_t weighted_bag(const int64_t *i) {
    int64_t sum = 0;
    for (int64_t k = 0; k < together; k++) {
        int64_t place = number(1, i[0] * together + k);
        place = place < 0 ? place + rows : place;
        place = place < 0 ? 0 : place >= rows ? rows - 1 : place;
        sum += number(0, place * columns + i[1]) * number(2, i[0] * together + k);
    }
    return sum;
}

static int64_t row_of_quotient(const int64_t *i) { return number(0, i[0] / 3 % rows * columns + i[1]) + number(1, i[0] * together); }

static void test_bags(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_I32, KRF_F64, KRF_I64};
    static const int64_t widths[] = {64, 1, 7, 65, 33, 130}, sizes[] = {4, 1, 0, 17, 3, 8, 40};
    int turn = 0;
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int w = 0; w < 6 && !passed_over(&all.run[r]); w++) {
            for (int s = 0; s < 7; s++, turn++) {
                for (int way = 0; way < 3; way++) {
                    char text[200];
                    rows = way == 2 ? 5 : 20;
                    columns = widths[w];
                    together = sizes[s];
                    if ((together == 0 && way == 2) || (all.run[r].compiled && (w + s + way) % 2 == 1)) {
                        continue;
                    }
                    check c = {.run = &all.run[r], .text = text, .n_given = way == 1 ? 3 : 2, .n_out = 1};
                    strcpy(text, way == 0 ? "sum(take(t, i, axis=0), axis=1)" : "sum(take(t, i, axis=0) * w[:, :, None], axis=1)");
                    if (way == 2) {
                        sprintf(text, "take(t, arange(37) // 3 %% 5, axis=0) + i[:, :1]");
                    }
                    c.given[0] = (given){"t", dtypes[(w + s) % 4], 2, {rows, columns}, turn % 4 == 3 ? 1 : 0, -3, 8};
                    c.given[1] = (given){"i", way == 2 ? dtypes[(w + s) % 4] : turn % 2 == 0 ? KRF_I64 : KRF_I32, 2, {37, together}, 0, way == 2 ? 0 : -24, way == 2 ? 9 : 55};
                    c.given[2] = (given){"w", dtypes[(w + s) % 4], 2, {37, together}, 0, 1, 4};
                    c.out[0] = (wanted){dtypes[(w + s) % 4] == KRF_I32 && way < 2 ? KRF_I64 : dtypes[(w + s) % 4], 2, {37, columns}, way == 0 ? sum_of_bag : way == 1 ? weighted_bag : row_of_quotient};
                    c.into = turn % 3 == 0 ? 1u << turn / 3 % GAPS_AFTER_LINES : 0;
                    check_it(&c, all.cuda);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- what is added up in which order ---- */

static void test_order(void **unused) {
    static const char *const texts[] = {"mean((x[:, None] - e[None, :]) ** 2, axis=1)", "sum(x[:, None] * e[None, :], axis=1)", "sum((x[None, :] - e[:, None]) * 1.5, axis=0)", "prod(x[:, None] - e[None, :], axis=1)", "mean(take(t, i, axis=0), axis=1)"};
    enum { RESULTS = 700, TABLE = 50 };
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_F64, KRF_BF16};
    (void)unused;
    for (int64_t n = 2; n <= 20; n++) {
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            const krf_dtype dtype = dtypes[(n + (int64_t)k) % 4];
            char data[RESULTS * 8];
            char *want = NULL;
            for (int r = -1; r < all.n; r++) {
                krf_context *context = r < 0 ? reference : all.run[r].context;
                const int64_t lengths[][2] = {{RESULTS, 0}, {n, 0}, {TABLE, 7}, {RESULTS / 7, n}};
                uint64_t seed = (uint64_t)n;
                krf_array *arrays[4], *out = NULL;
                krf_binding bindings[4];
                if (r >= 0 && (passed_over(&all.run[r]) || (all.run[r].compiled && (n + (int64_t)k) % 3 != 0))) {
                    continue;
                }
                for (int a = 0; a < 4; a++) {
                    const int64_t size = lengths[a][0] * (a >= 2 ? lengths[a][1] : 1);
                    char *elements = malloc((size_t)size * 8);
                    assert_non_null(elements);
                    for (int64_t i = 0; i < size; i++) {
                        put(elements, i, convert((value){.dtype = KRF_F64, .f = random_unit(&seed) * (a == 3 ? 49 : 4) - (a == 3 ? 0 : 2)}, a == 3 ? KRF_I64 : dtype));
                    }
                    assert_int_equal(krf_array_from_host(context, a == 3 ? KRF_I64 : dtype, a >= 2 ? 2 : 1, lengths[a], elements, &arrays[a]), KRF_OK);
                    bindings[a] = krf_bind_array((const char *[]){"x", "e", "t", "i"}[a], arrays[a]);
                    free(elements);
                }
                krf_graph *g = krf_graph_create(context);
                krf_expr e;
                if (krf_parse(g, texts[k], bindings, 4, &e) != KRF_OK || krf_eval(e, &out) != KRF_OK) {
                    fail_msg("%s: %s", texts[k], krf_error_message());
                }
                assert_true((size_t)krf_array_size(out) * bytes_of(dtype) <= sizeof data && krf_array_dtype(out) == dtype);
                const int64_t size = krf_array_size(out);
                assert_int_equal(krf_array_to_host(out, data, (size_t)size * bytes_of(dtype)), KRF_OK);
                if (r < 0) {
                    want = malloc(sizeof data);
                    assert_non_null(want);
                    memcpy(want, data, sizeof data);
                }
                for (int64_t i = 0; i < size && r >= 0 && !collecting; i++) {
                    char a[64], b[64];
                    if (!same(get(data, dtype, i), get(want, dtype, i))) {
                        COMPLAIN("%s, %s of %" PRId64 ": element %" PRId64 " is %s, not %s", all.run[r].label, texts[k], n, i, show(get(data, dtype, i), a, 64), show(get(want, dtype, i), b, 64));
                        break;
                    }
                }
                krf_graph_destroy(g);
                krf_array_release(out);
                for (int a = 0; a < 4; a++) {
                    krf_array_release(arrays[a]);
                }
            }
            free(want);
        }
    }
    assert_int_equal(failures, 0);
}

/* Whether a number is negative in fewer bits says nothing of it: its sum leaves 32 bits. */
static void test_cut_places(void **unused) {
    static const int32_t numbers[] = {1000000255, 5, -3, 1000000000, 2147483647, -128};
    const int64_t n = sizeof numbers / sizeof *numbers;
    (void)unused;
    for (int r = 0; r < all.n && !collecting; r++) {
        krf_array *x = NULL, *y = NULL;
        int64_t got[sizeof numbers / sizeof *numbers];
        krf_graph *g = krf_graph_create(all.run[r].context);
        krf_expr result;
        assert_int_equal(krf_array_from_host(all.run[r].context, KRF_I32, 1, &n, numbers, &x), KRF_OK);
        const krf_binding bound = krf_bind_array("x", x);
        assert_int_equal(krf_parse(g, "where(x.astype(i8) < 0, x.astype(i64) + 2000000000, x.astype(i64)) + arange(6) * 0", &bound, 1, &result), KRF_OK);
        assert_int_equal(krf_eval(result, &y), KRF_OK);
        assert_int_equal(krf_array_to_host(y, got, sizeof got), KRF_OK);
        for (int i = 0; i < n; i++) {
            assert_true(got[i] == ((int8_t)numbers[i] < 0 ? (int64_t)numbers[i] + 2000000000 : numbers[i]));
        }
        krf_graph_destroy(g);
        krf_array_release(x);
        krf_array_release(y);
    }
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    options.device = "cpu";
    options.fusion = "off";
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.threads = 1;
    reference = open_or_skip(&options);
    const int failed = run_part_on(open_noted_runs(&all, false),
                                   TESTS(noted_test(test_bounds), noted_test(test_bags), noted_test(test_order), noted_test(test_cut_places)));
    krf_context_destroy(reference);
    return failed;
}
