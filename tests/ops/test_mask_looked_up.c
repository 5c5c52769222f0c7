/* Bools of elements that are looked up: rolled, taken out of a table, repeated and padded ones that are compared, of which a thread has several vectors (krf__map_each). Their words are made up of bits that are added, so that each
 * must begin empty. Whole rows and others, many and few. KRF_TEST_DEVICE. */
#include "device.h"

#define MOST (160 * 4096)

static float xs[MOST];
static int32_t places[MOST];
static unsigned char got[3 * MOST];

enum { TABLE = 100 };
static float table[TABLE];

/* What element c of row r is, of `columns`; x being the row. */
typedef bool expectation(const float *x, const int32_t *at, int64_t columns, int64_t c);

static bool rolled(const float *x, const int32_t *at, int64_t columns, int64_t c) {
    (void)at;
    return x[(c + columns - 1) % columns] < x[c];
}

static bool rolled_back(const float *x, const int32_t *at, int64_t columns, int64_t c) {
    (void)at;
    return x[(c + 3) % columns] >= x[c] && x[c] != 0;
}

static bool taken(const float *x, const int32_t *at, int64_t columns, int64_t c) {
    (void)x;
    (void)columns;
    return table[at[c]] > 1;
}

static bool taken_twice(const float *x, const int32_t *at, int64_t columns, int64_t c) {
    (void)columns;
    return table[at[c]] < x[c] || table[TABLE - 1 - at[c]] == x[c];
}

static bool repeated(const float *x, const int32_t *at, int64_t columns, int64_t c) {
    (void)at;
    (void)columns;
    return x[c / 2] > 1;
}

static bool padded(const float *x, const int32_t *at, int64_t columns, int64_t c) {
    (void)at;
    return c > 0 && c <= columns && x[c - 1] > 0;
}

static const struct {
    const char *text;
    expectation *expected;
    int times, more; /* columns of a result, of each of x and beside these */
} cases[] = {{"roll(x, 1, axis=1) < x", rolled, 1, 0},
             {"(roll(x, -3, axis=1) >= x) & (x != 0)", rolled_back, 1, 0},
             {"take(t, at) > 1", taken, 1, 0},
             {"(take(t, at) < x) | (take(t, 99 - at) == x)", taken_twice, 1, 0},
             {"repeat(x, 2, axis=1) > 1", repeated, 2, 0},
             {"pad(x, ((0, 0), (1, 1))) > 0", padded, 1, 2}};

static const int64_t shapes[][2] = {{1, 3}, {3, 4}, {1, 64}, {33, 64}, {7, 100}, {1, 4096}, {130, 4096}, {129, 4093}, {2, 70001}};

static void check(krf_context *context, const char *text, expectation *expected, int times, int more, int64_t rows, int64_t columns) {
    const int64_t shape[] = {rows, columns}, n = TABLE, wide = columns * times + more;
    krf_array *x, *at, *t, *result = NULL;
    krf_expr results[1];
    int n_results = 0;
    krf_graph *g = krf_graph_create(context);
    assert_int_equal(krf_array_from_host(context, KRF_F32, 2, shape, xs, &x), KRF_OK);
    assert_int_equal(krf_array_from_host(context, KRF_I32, 2, shape, places, &at), KRF_OK);
    assert_int_equal(krf_array_from_host(context, KRF_F32, 1, &n, table, &t), KRF_OK);
    const krf_binding bindings[] = {krf_bind_expr("x", krf_input(g, x)), krf_bind_expr("at", krf_input(g, at)), krf_bind_expr("t", krf_input(g, t))};
    if (krf_parse_many(g, text, bindings, 3, 1, results, &n_results) != KRF_OK || krf_eval(results[0], &result) != KRF_OK || krf_array_to_host(result, got, (size_t)(rows * wide)) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < wide; c++) {
            const bool is = expected(xs + r * columns, places + r * columns, columns, c);
            if (got[r * wide + c] != is) {
                fail_msg("%s of [%d, %d]: [%d, %d] is %d, not %d", text, (int)rows, (int)columns, (int)r, (int)c, got[r * wide + c], is);
            }
        }
    }
    krf_array_release(result);
    krf_array_release(x);
    krf_array_release(at);
    krf_array_release(t);
    krf_graph_destroy(g);
}

static void test_looked_up(void **unused) {
    krf_context_options options = krf_context_options_default();
    options.device = asked_device();
    krf_context *context = open_or_skip(&options);
    (void)unused;
    for (int i = 0; i < MOST; i++) {
        xs[i] = (float)(i * 7919LL % 13 - 6);
        places[i] = (int32_t)(i * 104729LL % TABLE);
    }
    for (int i = 0; i < TABLE; i++) {
        table[i] = (float)(i * 31 % 9 - 4);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            check(context, cases[k].text, cases[k].expected, cases[k].times, cases[k].more, shapes[s][0], shapes[s][1]);
        }
    }
    krf_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_looked_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
