/* What tests of results do all the time: calls that must succeed or fail, arrays of host memory as operands, values of expressions. */
#ifndef KRF_TESTS_HELPERS_H
#define KRF_TESTS_HELPERS_H

#include "device.h"

static inline void assert_done(krf_status status, const char *call, const char *file, int line) {
    if (status != KRF_OK) {
        print_error("%s: %s: %s\n", call, krf_status_name(status), krf_error_message());
        _fail(file, line);
    }
}

#define assert_ok(call) assert_done((call), #call, __FILE__, __LINE__)

static inline void assert_failed(krf_status got, krf_status wanted, const char *part, const char *file, int line) {
    if (got != wanted || strstr(krf_error_message(), part) == NULL) {
        print_error("%s, not %s: \"%s\" (\"%s\")\n", krf_status_name(got), krf_status_name(wanted), krf_error_message(), part);
        _fail(file, line);
    }
}

/* That status, and a message with that part. */
#define assert_fails(status, call, part) assert_failed((call), status, part, __FILE__, __LINE__)

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
