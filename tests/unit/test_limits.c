/* Unit tests of src/pass/limits.c, and of the context option that sets limits: what a plan is cut into. That no result
 * depends on them is shown by tests/fuzz. */
#include "pass/pass.h"
#include "sched/plans.h"
#include <kerfuse/kerfuse.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

/* A plan that is kept is for the limits that it was made for: no two that differ in one have the same key. */
static void test_keys(void **unused) {
    enum { LIMITS = sizeof(krf__limits) / sizeof(uint32_t) };
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    (void)unused;
    options.device = "cpu";
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    krf_graph *g = krf_graph_create(context);
    const krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){100});
    krf__str keys[LIMITS + 1] = {{0}};
    for (int k = 0; k <= LIMITS; k++) {
        uint32_t values[LIMITS];
        krf__limits l;
        memcpy(values, &krf__default_limits, sizeof values);
        if (k < LIMITS) {
            values[k] = values[k] == 0;
        }
        memcpy(&l, values, sizeof l);
        krf__plan_key(g, 1, (uint32_t[]){x.id}, &(krf__plan_options){.limits = &l}, &keys[k]);
        assert_false(keys[k].failed);
        for (int before = 0; before < k; before++) {
            assert_true(keys[before].length != keys[k].length || memcmp(keys[before].data, keys[k].data, keys[k].length) != 0);
        }
    }
    for (int k = 0; k <= LIMITS; k++) {
        krf__str_free(&keys[k]);
    }
    krf_graph_destroy(g);
    krf_context_destroy(context);
}

typedef int (*program)(krf_graph *g, krf_expr *outputs); /* how many */

/* Kernels of a program at these limits. */
static int kernels_of(program build, const char *fusion) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    krf_plan *plan = NULL;
    krf_expr outputs[20];
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.fusion = fusion;
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    krf_graph *g = krf_graph_create(context);
    const int n_outputs = build(g, outputs);
    assert_int_equal(krf_compile(g, n_outputs, outputs, NULL, &plan), KRF_OK);
    int n = krf_plan_kernels(plan);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_context_destroy(context);
    return n;
}

static krf_expr operand(krf_graph *g, const char *name) { return krf_placeholder(g, name, KRF_F32, 1, (int64_t[]){100}); }

/* sum(exp(x) + y) * 2, x + y */
static int beside(krf_graph *g, krf_expr *outputs) {
    krf_expr x = operand(g, "x"), y = operand(g, "y");
    krf_expr sum = krf_sum(krf_add(krf_exp(x), y), 0, NULL, false);
    outputs[0] = krf_multiply(sum, krf_int(g, 2));
    outputs[1] = krf_add(x, y);
    return 2;
}

static int kernels(const char *fusion) { return kernels_of(beside, fusion); }

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

/* 20 sums of x * k. */
static int sums_of(krf_graph *g, krf_expr x, krf_expr *outputs) {
    for (int i = 0; i < 20; i++) {
        outputs[i] = krf_sum(krf_multiply(x, krf_int(g, i + 2)), 0, NULL, false);
    }
    return 20;
}

static int plain(krf_graph *g, krf_expr *outputs) { return sums_of(g, operand(g, "x"), outputs); }

/* Of five operations. */
static int shared(krf_graph *g, krf_expr *outputs) { return sums_of(g, krf_exp(krf_negative(krf_square(krf_sqrt(krf_abs(operand(g, "x")))))), outputs); }

/* A kernel of eight reductions takes more only for the sake of what they share: compilers need more than twice as long for twice as many. */
static void test_many_reductions(void **unused) {
    (void)unused;
    assert_int_equal(kernels_of(plain, NULL), 3); /* 8, 8 and 4 */
    assert_int_equal(kernels_of(shared, NULL), 1);
    assert_int_equal(kernels_of(plain, "reductions=5"), 4);
    assert_int_equal(kernels_of(shared, "results=5"), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_keys), cmocka_unit_test(test_kernels), cmocka_unit_test(test_many_reductions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
