/* Kernels compiled for each level of x86-64 that the processor has, not for the highest alone: a script takes the place of the compiler, and of the instruction set that it is asked for. Two scans of i8 in one kernel, which
 * gcc 12 leaves out below v3, and in v4, unless null is an address like others (FLAGS in backend/cpu/find.c). */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)

#define V1 "-march=x86-64"
#define V2 V1 " -mcx16 -msahf -mpopcnt -msse3 -mssse3 -msse4.1 -msse4.2"
#define V3 V2 " -mavx -mavx2 -mbmi -mbmi2 -mf16c -mfma -mlzcnt -mmovbe"
#define V4 V3 " -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl"

enum { LEVELS = 4, MOST = 64 * 4097 };

static const char *const flags[LEVELS] = {V1, V2, V3 " -mprefer-vector-width=256", V4 " -mprefer-vector-width=512"};

static int levels_here(void) {
    __builtin_cpu_init();
    const int v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const int v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const int v4 = v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return 1 + (v2 != 0) + v3 + v4;
}

/* A context whose compiler is asked for one level, whatever kerfuse asks for. path: of the script. */
static krf_context *open_level(int level, char *path) {
    const int file = mkstemp(path);
    const char *compiler = getenv("CC") != NULL ? getenv("CC") : "cc";
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    assert_true(file >= 0);
    dprintf(file, "#!/bin/sh\nfor word; do shift; case $word in -m*) ;; *) set -- \"$@\" \"$word\" ;; esac; done\nexec %s %s \"$@\"\n", compiler, flags[level]);
    assert_int_equal(fchmod(file, 0700), 0);
    close(file);
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_COMPILE;
    options.threads = 1;
    options.blocking_compile = true;
    options.cache = KRF_CACHE_OFF;
    options.compiler = path;
    assert_ok(krf_context_create(&options, &context));
    return context;
}

/* Rows of n elements, or columns of as many. */
static void check(krf_context *context, int level, int64_t rows, int64_t n, bool columns) {
    static int8_t x[MOST], least[MOST], most[MOST];
    const int64_t shape[] = {columns ? n : rows, columns ? rows : n}, size = rows * n;
    krf_graph *g = krf_graph_create(context);
    krf_array *got[2] = {NULL};
    uint32_t state = 7;
    for (int64_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (int8_t)((int)(state >> 24) - 128);
    }
    const krf_expr input = host_input(g, context, KRF_I8, 2, shape, x), both[] = {krf_cummin(input, columns ? 0 : 1), krf_cummax(input, columns ? 0 : 1)};
    assert_ok(krf_eval_many(2, both, got));
    assert_ok(krf_array_to_host(got[0], least, (size_t)size));
    assert_ok(krf_array_to_host(got[1], most, (size_t)size));
    for (int64_t r = 0; r < rows; r++) {
        int low = INT8_MAX, high = INT8_MIN;
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = columns ? i * rows + r : r * n + i;
            low = x[at] < low ? x[at] : low;
            high = x[at] > high ? x[at] : high;
            if (least[at] != low || most[at] != high) {
                fail_msg("%s: element %d of row %d of (%d, %d) is %d and %d, not %d and %d", flags[level], (int)i, (int)r, (int)shape[0], (int)shape[1], least[at], most[at], low, high);
            }
        }
    }
    krf_array_release(got[0]);
    krf_array_release(got[1]);
    krf_graph_destroy(g);
}

static void test_scans(void **unused) {
    const int levels = levels_here();
    (void)unused;
    for (int level = 0; level < levels; level++) {
        char path[] = "/tmp/krf-test-XXXXXX";
        krf_context *context = open_level(level, path);
        krf_cache_stats stats = {.size = sizeof stats};
        check(context, level, 1, 5000, false);
        check(context, level, 64, 4097, false);
        check(context, level, 3, 5000, true);
        check(context, level, 100, 1000, true);
        assert_ok(krf_context_cache_stats(context, &stats));
        assert_true(stats.compiled > 0 && stats.interpreted == 0);
        krf_context_destroy(context);
        unlink(path);
    }
    printf("%d levels\n", levels);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    printf("skipped: levels are of x86-64\n");
    return 77;
}

#endif
