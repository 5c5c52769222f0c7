/* Reductions that store elements as well, or read two places of one array, of arrays so large that threads have many elements at once: whole turns, and ends within one. Sums are of small integers, and so exact in any
 * order. KRF_TEST_DEVICE. */
#include "ops/common.h"

#define MOST ((1 << 24) + 8192)
#define LARGEST 9 /* the last element; others are from -2 to 2 */

static runs all;

static float element(int64_t i, int64_t n) {
    return i == n - 1 ? LARGEST : (float)((int64_t)((uint32_t)i * UINT32_C(2654435761) >> 27) % 5 - 2);
}

static double first_of(krf_array *a) {
    float first = 0;
    read_back(a, &first, sizeof first);
    return (double)first;
}

static void check(const run *r, int64_t n, float *data) {
    krf_array *x = NULL, *got[4] = {NULL};
    krf_graph *g = krf_graph_create(r->context);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        data[i] = element(i, n);
        sum += -2.0 * (double)data[i];
        squares += 4.0 * (double)data[i] * (double)data[i];
    }
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 1, &n, data, &x), KRF_OK);
    krf_expr y = krf_multiply(krf_input(g, x), krf_real(g, -2)), all_of[] = {y, krf_sum(y, 0, NULL, false), krf_min(y, 0, NULL, false), krf_sum(krf_multiply(y, y), 0, NULL, false)};
    if (krf_eval_many(4, all_of, got) != KRF_OK || krf_array_to_host(got[0], data, (size_t)n * sizeof *data) != KRF_OK) {
        fail_msg("%" PRId64 " elements, %s: %s", n, r->label, krf_error_message());
    }
    for (int64_t i = 0; i < n; i++) {
        if (data[i] != -2 * element(i, n)) {
            fail_msg("%s: element %" PRId64 " of %" PRId64 " is %g, not %g", r->label, i, n, (double)data[i], -2.0 * (double)element(i, n));
        }
    }
    if (first_of(got[1]) != sum || first_of(got[2]) != -2.0 * LARGEST || fabs(first_of(got[3]) / squares - 1) > 1e-6) {
        fail_msg("%" PRId64 " elements, %s: sum %.9g, not %.9g; minimum %g, not %d; sum of squares %.9g, not %.9g", n, r->label, first_of(got[1]), sum, first_of(got[2]), -2 * LARGEST, first_of(got[3]), squares);
    }
    for (int i = 0; i < 4; i++) {
        krf_array_release(got[i]);
    }
    krf_array_release(x);
    krf_graph_destroy(g);
}

static void test_large(void **unused) {
    static const int64_t lengths[] = {(1 << 23) + 1, (1 << 23) + 4096, MOST};
    float *data = malloc(MOST * sizeof *data);
    (void)unused;
    assert_non_null(data);
    for (int r = 0; r < all.n; r++) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            check(&all.run[r], lengths[i], data);
        }
    }
    free(data);
}

/* Of integers, whose order would make no difference. */
static void check_integers(const run *r, int64_t n, int32_t *data) {
    krf_array *x = NULL, *got[3] = {NULL};
    krf_graph *g = krf_graph_create(r->context);
    int64_t sum = 0, found = 0;
    int32_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        data[i] = (int32_t)(i % 1000003) * (i % 2 == 0 ? 1000 : -999);
        sum += data[i] + 5;
        most = data[i] + 5 > most ? data[i] + 5 : most;
    }
    assert_int_equal(krf_array_from_host(r->context, KRF_I32, 1, &n, data, &x), KRF_OK);
    krf_expr y = krf_add(krf_input(g, x), krf_int(g, 5)), all_of[] = {y, krf_sum(y, 0, NULL, false), krf_max(y, 0, NULL, false)};
    if (krf_eval_many(3, all_of, got) != KRF_OK || krf_array_to_host(got[0], data, (size_t)n * sizeof *data) != KRF_OK) {
        fail_msg("%" PRId64 " integers, %s: %s", n, r->label, krf_error_message());
    }
    for (int64_t i = 0; i < n; i++) {
        if (data[i] != (int32_t)(i % 1000003) * (i % 2 == 0 ? 1000 : -999) + 5) {
            fail_msg("%s: integer %" PRId64 " of %" PRId64 " is %d", r->label, i, n, (int)data[i]);
        }
    }
    read_back(got[1], &found, sizeof found);
    assert_int_equal(found, sum);
    read_back(got[2], data, sizeof *data);
    assert_int_equal(data[0], most);
    for (int i = 0; i < 3; i++) {
        krf_array_release(got[i]);
    }
    krf_array_release(x);
    krf_graph_destroy(g);
}

static void test_integers(void **unused) {
    int32_t *data = malloc(MOST * sizeof *data);
    (void)unused;
    assert_non_null(data);
    for (int r = 0; r < all.n; r++) {
        check_integers(&all.run[r], 5000, data);
        check_integers(&all.run[r], (1 << 23) + 1, data);
        check_integers(&all.run[r], MOST, data);
    }
    free(data);
}

/* Products of rows and the ones before them, of their first columns. */
static void check_rows(const run *r, int64_t rows, int64_t columns, float *data) {
    enum { WIDTH = 2056 };
    const int64_t shape[] = {rows, WIDTH}, n = rows * WIDTH;
    krf_array *x = NULL;
    char text[64];
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        data[i] = element(i, n);
        sum += i >= WIDTH && i % WIDTH < columns ? (double)data[i] * (double)data[i - WIDTH] : 0;
    }
    snprintf(text, sizeof text, "sum(x[1:, :%d] * x[:-1, :%d])", (int)columns, (int)columns);
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 2, shape, data, &x), KRF_OK);
    krf_array *got = evaluate_of(r, text, x);
    if (first_of(got) != sum) {
        fail_msg("%s of %" PRId64 " rows, %s: %.9g, not %.9g", text, rows, r->label, first_of(got), sum);
    }
    krf_array_release(got);
    krf_array_release(x);
}

static void test_rows(void **unused) {
    float *data = malloc(MOST * sizeof *data);
    (void)unused;
    assert_non_null(data);
    for (int r = 0; r < all.n; r++) {
        check_rows(&all.run[r], 4083, 2056, data);
        check_rows(&all.run[r], 4097, 2051, data);
    }
    free(data);
}

int main(void) { return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_large), cmocka_unit_test(test_integers), cmocka_unit_test(test_rows))); }
