/* What the tests of kernels of several rounds share: contexts of KRF_TEST_DEVICE, data, and an expression's results with what is known about its kernels. */
#ifndef TESTS_ROWS_ROWS_H
#define TESTS_ROWS_ROWS_H

#include <kerfuse/kerfuse.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"
#include "shard.h"

enum { REST = -1, MOST_OUTPUTS = 4 };

static inline krf_context *open_context(const char *fusion) {
    krf_context_options options = krf_context_options_default();
    options.device = asked_device();
    options.fusion = fusion;
    return open_or_skip(&options);
}

static inline krf_device_info device_of(krf_context *context) {
    krf_device_info info = {.size = sizeof info};
    assert_int_equal(krf_context_device(context, &info), KRF_OK);
    return info;
}

/* Whether blocks of the device may share a row: from compute capability 9.0 on. */
static inline bool has_clusters(krf_context *context) {
    const krf_device_info info = device_of(context);
    return info.is_cuda && atoi(info.arch + strlen("sm_")) >= 90;
}

/* Neighbours differ, rows differ, and there are equal elements in a row. */
static inline float element(int64_t i) { return (float)((i * 2654435761u >> 7) % 1000) / 100 - 5; }

static inline krf_array *array_of(krf_context *context, int rank, const int64_t *shape, int64_t from) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) {
        n *= shape[i];
    }
    float *data = malloc((size_t)n * sizeof *data + 1);
    krf_array *array = NULL;
    for (int64_t i = 0; i < n; i++) {
        data[i] = element(i + from);
    }
    assert_int_equal(krf_array_from_host(context, KRF_F32, rank, shape, data, &array), KRF_OK);
    free(data);
    return array;
}

typedef struct result {
    int outputs;
    void *data[MOST_OUTPUTS];
    size_t bytes[MOST_OUTPUTS];
    int kernels;
    char schedule[16], name[32]; /* of the first kernel, as what follows */
    int64_t reads, writes; /* bytes */
} result;

/* Evaluates `text`, of as many outputs. */
static inline void evaluate(krf_context *context, const char *text, int outputs, int n, const krf_binding *bindings, result *out) {
    krf_graph *g = krf_graph_create(context);
    krf_expr results[MOST_OUTPUTS];
    krf_plan *plan = NULL;
    krf_array *values[MOST_OUTPUTS] = {NULL};
    krf_kernel_info info = {.size = sizeof info};
    if (krf_parse_many(g, text, bindings, n, MOST_OUTPUTS, results, &out->outputs) != KRF_OK || krf_compile(g, out->outputs, results, NULL, &plan) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    assert_int_equal(out->outputs, outputs);
    out->kernels = krf_plan_kernels(plan);
    out->schedule[0] = out->name[0] = '\0';
    out->reads = out->writes = 0;
    if (out->kernels > 0) {
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        snprintf(out->schedule, sizeof out->schedule, "%s", info.schedule);
        snprintf(out->name, sizeof out->name, "%s", info.name);
        out->reads = info.bytes_read;
        out->writes = info.bytes_written;
    }
    if (krf_plan_run(plan, NULL, 0, NULL, values) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    for (int k = 0; k < outputs; k++) {
        out->bytes[k] = (size_t)krf_array_size(values[k]) * krf_dtype_size(krf_array_dtype(values[k]));
        out->data[k] = malloc(out->bytes[k] + 1);
        assert_int_equal(krf_array_to_host(values[k], out->data[k], out->bytes[k]), KRF_OK);
        krf_array_release(values[k]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

static inline void free_result(result *r) {
    for (int k = 0; k < MOST_OUTPUTS; k++) {
        free(r->data[k]);
    }
}

/* The number of the first output that differs in any bit, or -1. */
static inline int differing(const result *a, const result *b) {
    assert_int_equal(a->outputs, b->outputs);
    for (int k = 0; k < a->outputs; k++) {
        assert_int_equal(a->bytes[k], b->bytes[k]);
        if (memcmp(a->data[k], b->data[k], a->bytes[k]) != 0) {
            return k;
        }
    }
    return -1;
}

#endif
