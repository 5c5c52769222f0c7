/* Random graphs of raw kernels, a generalised function, operations, views and reductions: fused and one operation a kernel, the bits are the same.
 * KRF_TEST_DEVICE */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12, MOST = 24, OUTPUTS = 4, WAYS = 3 };

/* A context with limits of its own for fusion, and what is defined in it. */
typedef struct way {
    krf_context *context;
    krf_raw_kernel *turn, *add;
    krf_gufunc *rows;
} way;
static way ways[WAYS];

static uint64_t state_of_random;
static int pick(int n) { /* Knuth's MMIX generator, upper bits */
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state_of_random >> 33) % (uint64_t)n);
}

static const char turn_c[] = "void turn(const double *x, double *y, int m, int n) {\n"
                             "    for (int i = 0; i < m; i++)\n"
                             "        for (int j = 0; j < n; j++) y[j * m + i] = x[i * n + j];\n"
                             "}\n";
static const char turn_cuda[] = "extern \"C\" __global__ void turn(const double *x, double *y, int m, int n) {\n"
                                "    y[threadIdx.x * m + blockIdx.x] = x[blockIdx.x * n + threadIdx.x];\n"
                                "}\n";
static const char add_c[] = "void add(double *s, const double *x, double *y, int n) {\n"
                            "    for (int i = 0; i < n; i++) { y[i] = s[i] - x[i]; s[i] += 0.25 * x[i]; }\n"
                            "}\n";
static const char add_cuda[] = "extern \"C\" __global__ void add(double *s, const double *x, double *y, int n) {\n"
                               "    int i = blockIdx.x * 32 + threadIdx.x;\n"
                               "    if (i < n) { y[i] = s[i] - x[i]; s[i] += 0.25 * x[i]; }\n"
                               "}\n";

static void open_way(way *w, const char *fusion) {
    krf_context_options options = krf_context_options_default();
    options.device = asked_device();
    options.fusion = fusion;
    w->context = open_or_skip(&options);
    const krf_kernel_description turn = {.size = sizeof turn, .name = "turn", .parameters = "in f64 x[m, n], out f64 y[n, m], i32 m, i32 n", .c = turn_c, .cuda = turn_cuda, .grid = "m", .block = "n"};
    const krf_kernel_description add = {.size = sizeof add, .name = "add", .parameters = "inout f64 s[m, k], in f64 x[m, k], out f64 y[m, k], i32 n = m * k", .c = add_c, .cuda = add_cuda,
                                        .grid = "(m * k + 31) / 32", .block = "32"};
    const krf_gufunc_description rows = {.size = sizeof rows, .name = "rows", .signature = "(n),(m)->()", .parameters = "T a, T b, T c",
                                         .body = "T s = 0;\nfor (int i = 0; i < n; i++) s += a(i);\nfor (int i = 0; i < m; i++) s -= b(i);\nc() = s * 0.125;\n"};
    assert_ok(krf_kernel_define(w->context, &turn, &w->turn));
    assert_ok(krf_kernel_define(w->context, &add, &w->add));
    assert_ok(krf_gufunc_define(w->context, &rows, &w->rows));
}

/* One node more, or two. */
static int grow(const way *w, krf_graph *g, krf_expr *v, int n) {
    const krf_expr a = v[pick(n)], b = v[pick(n)];
    const int kind = pick(12), axis = pick(2);
    krf_expr r[2];
    switch (kind) {
    case 0: v[n++] = krf_add(a, b); break;
    case 1: v[n++] = krf_multiply(a, krf_real(g, 0.5)); break;
    case 2: v[n++] = krf_subtract(a, krf_mean(b, 1, &axis, true)); break;
    case 3: v[n++] = krf_transpose(a, NULL); break;
    case 4:
    case 5: krf_kernel_call(w->turn, g, 1, &a, NULL, NULL, &v[n]); n++; break;
    case 6:
    case 7:
        krf_kernel_call(w->add, g, 2, (krf_expr[]){a, b}, NULL, NULL, r);
        v[n++] = r[0];
        v[n++] = r[1];
        break;
    case 8: {
        const krf_range part[] = {{KRF_NONE, KRF_NONE, 1}, {pick(N), KRF_NONE, 1}};
        krf_gufunc_call(w->rows, g, 2, (krf_expr[]){a, krf_slice(b, 2, part)}, r);
        v[n++] = krf_add(b, krf_expand_dims(r[0], axis));
        break;
    }
    case 9: v[n++] = krf_flip(a, axis); break;
    case 10: v[n++] = krf_cumsum(a, axis); break;
    default: v[n++] = krf_maximum(a, krf_sum(b, 1, &axis, true)); break;
    }
    return n;
}

static void evaluate(const way *w, uint64_t seed, double results[OUTPUTS][N * N]) {
    krf_graph *g = krf_graph_create(w->context);
    krf_array *inputs[2] = {NULL, NULL}, *outputs[OUTPUTS] = {NULL};
    krf_expr v[MOST], wanted[OUTPUTS];
    int n = 0;
    state_of_random = seed;
    for (int k = 0; k < 2; k++) {
        double data[N * N];
        for (int i = 0; i < N * N; i++) {
            data[i] = pick(7) - 3;
        }
        assert_ok(krf_array_from_host(w->context, KRF_F64, 2, (int64_t[]){N, N}, data, &inputs[k]));
        v[n++] = krf_input(g, inputs[k]);
    }
    for (int left = 3 + pick(MOST - 6); left > 0 && n < MOST - 2; left--) {
        n = grow(w, g, v, n);
    }
    for (int k = 0; k < OUTPUTS; k++) {
        wanted[k] = v[pick(n)];
    }
    if (krf_eval_many(OUTPUTS, wanted, outputs) != KRF_OK) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, krf_error_message());
    }
    for (int k = 0; k < OUTPUTS; k++) {
        assert_ok(krf_array_to_host(outputs[k], results[k], sizeof results[k]));
        krf_array_release(outputs[k]);
    }
    krf_graph_destroy(g);
    krf_array_release(inputs[0]);
    krf_array_release(inputs[1]);
}

static void same_bits(void **state) {
    (void)state;
    static double results[WAYS][OUTPUTS][N * N];
    const char *tier = getenv("KRF_CPU_TIER");
    const bool compiles = getenv("KRF_TEST_DEVICE") != NULL || (tier != NULL && strcmp(tier, "1") == 0); /* every kernel, one by one */
    const int count = compiles ? 30 : 500;
    for (int i = 0; i < count; i++) {
        const uint64_t seed = 1 + (uint64_t)i * 7919;
        for (int k = 0; k < WAYS; k++) {
            evaluate(&ways[k], seed, results[k]);
            if (memcmp(results[k], results[0], sizeof results[0]) != 0) {
                fail_msg("seed %llu: fused in way %d the results are others", (unsigned long long)seed, k);
            }
        }
    }
}

int main(void) {
    static const char *const fusions[WAYS] = {NULL, "off", "operations=3,results=1"};
    setenv("KRF_CPU_TIER", "0", 0); /* a thousand kernels would take minutes to compile; raw ones are compiled all the same */
    for (int k = 0; k < WAYS; k++) {
        open_way(&ways[k], fusions[k]);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int k = 0; k < WAYS; k++) {
        krf_kernel_release(ways[k].turn);
        krf_kernel_release(ways[k].add);
        krf_gufunc_release(ways[k].rows);
        krf_context_destroy(ways[k].context);
    }
    return failed;
}
