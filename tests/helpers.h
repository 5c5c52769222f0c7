/* What tests of results do all the time: calls that must succeed, arrays of host memory as operands, values of expressions. */
#ifndef KRF_TESTS_HELPERS_H
#define KRF_TESTS_HELPERS_H

#include <kerfuse/kerfuse.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define assert_ok(call) \
    do { \
        if ((call) != KRF_OK) { \
            fail_msg("%s: %s", #call, krf_error_message()); \
        } \
    } while (0)

/* A copy of host memory in C order, as an operand. */
static inline krf_expr host_input(krf_graph *g, krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const void *data) {
    krf_array *array = NULL;
    assert_ok(krf_array_from_host(context, dtype, rank, shape, data, &array));
    krf_expr x = krf_input(g, array);
    krf_array_release(array);
    return x;
}

/* The value of an expression, of `bytes` bytes. */
static inline void eval_into(krf_expr x, void *data, size_t bytes) {
    krf_array *array = NULL;
    if (!krf_expr_ok(x)) {
        fail_msg("%s", krf_graph_error(x.graph));
    }
    assert_ok(krf_eval(x, &array));
    assert_ok(krf_array_to_host(array, data, bytes));
    krf_array_release(array);
}

#endif
