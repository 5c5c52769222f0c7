/* Unit tests of src/pass/limits.c, and of the context option that sets limits: what a plan is cut into. That no result
 * depends on them is shown by tests/fuzz. */
#include "pass/pass.h"
#include <kerfuse/kerfuse.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_texts(void **unused) {
    static const char *const wrong[] = {"",
                                        "on",
                                        "operations",
                                        "operations=",
                                        "operations=0",
                                        "results=33",
                                        "operations=8,",
                                        "operations=8;",
                                        "fields=99999999999",
                                        "Results=1"};
    krf__limits l;
    (void)unused;
    assert_true(krf__limits_parse(NULL, &l));
    assert_memory_equal(&l, &krf__default_limits, sizeof l);
    assert_true(krf__limits_parse("operations=8,prologue=0", &l));
    assert_int_equal(l.operations, 8);
    assert_int_equal(l.prologue, 0);
    assert_int_equal(l.results, krf__default_limits.results);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(krf__limits_parse(wrong[i], &l));
    }
}

/* Kernels of sum(exp(x) + y) * 2, x + y, at these limits. */
static int kernels(const char *fusion) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    krf_plan *plan = NULL;
    const int64_t shape[1] = {100};
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.fusion = fusion;
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    krf_graph *g = krf_graph_create(context);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, shape), y = krf_placeholder(g, "y", KRF_F32, 1, shape);
    krf_expr sum = krf_sum(krf_add(krf_exp(x), y), 0, NULL, false);
    const krf_expr outputs[2] = {krf_multiply(sum, krf_int(g, 2)), krf_add(x, y)};
    assert_int_equal(krf_compile(g, 2, outputs, NULL, &plan), KRF_OK);
    int n = krf_plan_kernels(plan);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_context_destroy(context);
    return n;
}

static void test_kernels(void **unused) {
    (void)unused;
    assert_int_equal(kernels(NULL), 1);         /* the reduction with all around it, and the map beside it */
    assert_int_equal(kernels("row=0"), 2);      /* the map by itself */
    assert_int_equal(kernels("off"), 5);        /* exp, add, sum, multiply, add */
    assert_int_equal(kernels("prologue=0"), 2); /* exp(x) + y beside x + y, then the rest */
    assert_int_equal(kernels("prologue=0,results=1"), 3);
    assert_int_equal(kernels("epilogue=0"), 2);
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    options.fusion = "sometimes";
    assert_int_equal(krf_context_create(&options, &context), KRF_E_ARGUMENT);
}

/* Kernels of 20 sums of x[i] * k, or of f(x[i]) * k, where f is five operations. */
static int kernels_of_sums(bool shared, const char *fusion) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    krf_plan *plan = NULL;
    krf_expr sums[20];
    const int64_t shape[1] = {100};
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.fusion = fusion;
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    krf_graph *g = krf_graph_create(context);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, shape);
    krf_expr f = shared ? krf_exp(krf_negative(krf_square(krf_sqrt(krf_abs(x))))) : x;
    for (int i = 0; i < 20; i++) {
        sums[i] = krf_sum(krf_multiply(f, krf_int(g, i + 2)), 0, NULL, false);
    }
    assert_int_equal(krf_compile(g, 20, sums, NULL, &plan), KRF_OK);
    int n = krf_plan_kernels(plan);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_context_destroy(context);
    return n;
}

/* A kernel of eight reductions takes more only for the sake of what they share: compilers need more than twice as long for twice as many. */
static void test_many_reductions(void **unused) {
    (void)unused;
    assert_int_equal(kernels_of_sums(false, NULL), 3); /* 8, 8 and 4 */
    assert_int_equal(kernels_of_sums(true, NULL), 1);
    assert_int_equal(kernels_of_sums(false, "reductions=5"), 4);
    assert_int_equal(kernels_of_sums(true, "results=5"), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_kernels), cmocka_unit_test(test_many_reductions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
