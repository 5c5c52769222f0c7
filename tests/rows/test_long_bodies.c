/* Maps of so many operations that a loop takes a vector's elements in turn: they have the bits of one operation a kernel, at the end of an array and at unaligned
 * ones too. The device is KRF_TEST_DEVICE's. */
#include "rows/rows.h"

enum { STEPS = 40, MOST_TEXT = 8192 };

/* `first`, then STEPS times three operations, of which no two are alike. */
static void put_chain(char *text, int room, const char *first) {
    int n = snprintf(text, (size_t)room, "t0 = %s; ", first);
    for (int i = 0; i < STEPS; i++) {
        n += snprintf(text + n, (size_t)(room - n), "t%d = abs(t%d - %d) * y + x; ", i + 1, i, i % 7);
    }
    assert_true(n < room - 64);
}

static void check(krf_context *fused, krf_context *unfused, const char *text, int outputs, int64_t n, int64_t from) {
    result got = {0}, want = {0};
    for (int which = 0; which < 2; which++) {
        krf_context *context = which == 0 ? fused : unfused;
        const int64_t shape[1] = {n + from};
        krf_array *x = array_of(context, 1, shape, 3), *y = array_of(context, 1, shape, 1000);
        const krf_binding bindings[4] = {krf_bind_array("whole_x", x), krf_bind_array("whole_y", y), krf_bind_int("from", from), krf_bind_int("n", n)};
        evaluate(context, text, outputs, 4, bindings, which == 0 ? &got : &want);
        krf_array_release(x);
        krf_array_release(y);
    }
    assert_int_equal(got.kernels, 1);
    if (differing(&got, &want) >= 0) {
        fail_msg("%lld elements from %lld on: result %d differs from one operation a kernel", (long long)n, (long long)from, differing(&got, &want));
    }
    free_result(&got);
    free_result(&want);
}

static void test_chains(void **unused) {
    static const struct {
        const char *first, *last;
        int outputs;
    } texts[] = {
        {"x + y", "t40", 1},
        {"x * y", "t40, t20 - y", 2},
        {"f64(x) / 3", "t40", 1},          /* 2 to a vector */
        {"x + arange(n)", "t40 > t7, f32(t40)", 2},
        {"x + x[::-1]", "t40", 1},
        {"f16(x)", "f16(t40)", 1},
    };
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 1003, 4096};
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    (void)unused;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        static char text[MOST_TEXT];
        static const char *const views = "x = whole_x[from:]; y = whole_y[from:] / 16; ";
        strcpy(text, views);
        put_chain(text + strlen(views), MOST_TEXT - (int)strlen(views), texts[t].first);
        strcat(text, texts[t].last);
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            check(fused, unfused, text, texts[t].outputs, lengths[l], (int64_t)l % 2);
        }
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
