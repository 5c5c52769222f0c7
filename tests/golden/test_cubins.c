/* Every kernel of the golden cases through the real NVRTC, for an old, a common and a new architecture; the cubin must use
 * few enough registers and no local memory: a loop that was not unrolled puts its arrays there. Needs NVRTC, no GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "golden/cubin.h"

#include <glob.h>
#include <kerfuse/kerfuse.h>
#include <stdio.h>
#include <stdlib.h>

/* 128 registers: two blocks of 256 threads a multiprocessor. Three f64 reductions at once need 104, all others at most 64. */
enum { MOST_REGISTERS = 128, MOST_RESULTS = 8 };

static int kernels;

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void check_kernel(const char *case_, const char *source, const char *name) {
    static const char *const archs[] = {"sm_75", "sm_90", "sm_100"};
    const char *const part = getenv("KRF_TEST_SHARD"); /* one of them at a time: each compiles for half a minute */
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        if (part != NULL && (size_t)atoi(part) % (sizeof archs / sizeof *archs) != i) {
            continue;
        }
        void *image = NULL;
        size_t bytes = 0;
        if (krf__nvrtc_compile(NULL, archs[i], false, source, name, &image, &bytes) != KRF_OK) {
            fail_msg("%s, %s: %s", case_, archs[i], krf_error_message());
        }
        cubin_usage usage = cubin_read(image, bytes);
        krf__mem_free(image);
        if (usage.registers < 8 || usage.registers > MOST_REGISTERS || usage.frame_bytes != 0) {
            fail_msg("%s, %s, %s: %d registers (at most %d), %d bytes of local memory (none)", case_, archs[i], name,
                     usage.registers, MOST_REGISTERS, usage.frame_bytes);
        }
        kernels++;
    }
}

/* The kernels of a dump one by one: each begins with a comment that says its name. */
static void check_kernels(const char *case_, char *source) {
    static const char start[] = "/* krf_";
    for (char *kernel = strstr(source, start), *next; kernel != NULL; kernel = next) {
        char name[64];
        assert_int_equal(sscanf(kernel, "/* %63[a-z0-9_]", name), 1);
        next = strstr(kernel + 1, start);
        if (next != NULL) {
            next[-1] = '\0';
        }
        check_kernel(case_, kernel, name);
    }
}

static void check_case(krf_context *context, const char *path) {
    char *text = read_file(path), *source = NULL;
    krf_graph *graph = krf_graph_create(context);
    krf_expr results[MOST_RESULTS];
    int count = 0;
    size_t size;
    if (krf_parse_many(graph, text, NULL, 0, MOST_RESULTS, results, &count) != KRF_OK
        || krf_dump(graph, count, results, KRF_DUMP_SOURCE, "cuda", NULL, &source, &size) != KRF_OK) {
        fail_msg("%s: %s", path, krf_error_message());
    }
    check_kernels(strrchr(path, '/') + 1, source);
    krf_free(source);
    krf_graph_destroy(graph);
    free(text);
}

static krf_context *open_context(void) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    options.device = "cpu";
    options.cache = KRF_CACHE_OFF;
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    return context;
}

static void golden_kernels_need_few_registers_and_no_local_memory(void **state) {
    (void)state;
    char pattern[4096];
    void *image = NULL;
    size_t bytes;
    if (krf__nvrtc_compile(NULL, "sm_90", false, "extern \"C\" __global__ void k(float *a) { *a = 1; }", "k", &image, &bytes)
        != KRF_OK) {
        puts(krf_error_message());
        skip();
    }
    krf__mem_free(image);
    krf_context *context = open_context();
    snprintf(pattern, sizeof pattern, "%s/tests/golden/*.krf", getenv("KRF_SOURCE_DIR"));
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        check_case(context, found.gl_pathv[i]);
    }
    globfree(&found);
    krf_context_destroy(context);
    printf("%d kernels compiled\n", kernels);
    assert_true(kernels >= 30);
}

/* Rows that blocks of a cluster share: threads have 64 registers where a row takes all of 8 blocks, and what stays must stay there. Devices without clusters
 * get kernels without. */
static void shared_rows_stay_in_registers(void **state) {
    static const char *const programs[] = {
        "x: f32[64, 262144]\ne = exp(x - max(x, axis=1, keepdims=True))\nreturn e / sum(e, axis=1, keepdims=True)",
        "x: f32[64, 65536]\ne = exp(x - max(x, axis=1, keepdims=True))\nreturn e / sum(e, axis=1, keepdims=True)",
        "x: f32[64, 262144]\ng: f32[262144]\nb: f32[262144]\nreturn (x - mean(x, axis=1, keepdims=True)) / sqrt(var(x, axis=1, keepdims=True) + 1e-5) * g + b",
        "x: f32[64, 65536]\ng: f32[65536]\nb: f32[65536]\nreturn (x - mean(x, axis=1, keepdims=True)) / sqrt(var(x, axis=1, keepdims=True) + 1e-5) * g + b",
        "x: f32[64, 262144]\nreturn x - logsumexp(x, axis=1, keepdims=True)",
        "x: f64[64, 131072]\nreturn argmax(x, axis=1), max(x, axis=1)",
        "x: f64[64, 100000]\ne = exp(x - max(x, axis=1, keepdims=True))\nreturn e / sum(e, axis=1, keepdims=True)",
        "x: f32[64, 32768]\ng: f32[32768]\nb: f32[32768]\nreturn (x - mean(x, axis=1, keepdims=True)) / sqrt(var(x, axis=1, keepdims=True) + 1e-5) * g + b",
    };
    enum { PROGRAMS = sizeof programs / sizeof *programs, ALONE = PROGRAMS - 1 }; /* the last is a block's */
    (void)state;
    if (kernels == 0) {
        skip();
    }
    krf_context *context = open_context();
    for (int i = 0; i < PROGRAMS; i++) {
        for (int old = 0; old < 2; old++) {
            krf_graph *graph = krf_graph_create(context);
            krf_expr results[MOST_RESULTS];
            int count = 0;
            size_t size;
            char *source = NULL, name[64];
            assert_int_equal(krf_parse_many(graph, programs[i], NULL, 0, MOST_RESULTS, results, &count), KRF_OK);
            assert_int_equal(krf_dump(graph, count, results, KRF_DUMP_SOURCE, "cuda", old ? "sm_89" : "sm_90", &source, &size), KRF_OK);
            if ((strstr(source, "__cluster_dims__") != NULL) != (!old && i != ALONE)) {
                fail_msg("%s, %s: %s", programs[i], old ? "sm_89" : "sm_90", i == ALONE || old ? "a cluster" : "no cluster");
            }
            assert_int_equal(sscanf(source, "/* %63[a-z0-9_]", name), 1);
            if (!old) {
                void *image = NULL;
                size_t bytes = 0;
                assert_int_equal(krf__nvrtc_compile(NULL, "sm_90", false, source, name, &image, &bytes), KRF_OK);
                cubin_usage usage = cubin_read(image, bytes);
                krf__mem_free(image);
                if (usage.registers > 128 || usage.frame_bytes != 0) {
                    fail_msg("%s: %d registers, %d bytes of local memory", programs[i], usage.registers, usage.frame_bytes);
                }
            }
            krf_free(source);
            krf_graph_destroy(graph);
        }
    }
    krf_context_destroy(context);
}

/* Where blocks have chunks at once, two of them or one, and where warps have them: by what is loaded, stored and added up. */
static void reductions_that_store_elements_stay_in_registers(void **state) {
    static const char *const bodies[] = {"y = x * 2 + 1\nreturn y, sum(y), max(y)", "return x + z, x - z, sum(x * z)", "y = where(x > z, x, z * 2)\nreturn y, sum(y)", "y = x * z + w\nreturn y, sum(y), sum(y * y), min(y)"};
    static const char *const dtypes[][2] = {{"i32", "f32"}, {"i32", "f32"}, {"f64", "i64"}, {"f64", "i64"}};
    static const int sizes[] = {8 << 20, 32 << 20};
    (void)state;
    if (kernels == 0) {
        skip();
    }
    krf_context *context = open_context();
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies * 2 * 2; n++) {
        const char *dtype = dtypes[n / 4][n % 2];
        const int size = sizes[n / 2 % 2];
        char text[256], name[64], *source = NULL;
        snprintf(text, sizeof text, "x: %s[%d]\nz: %s[%d]\nw: %s[%d]\n%s", dtype, size, dtype, size, dtype, size, bodies[n / 4]);
        krf_graph *graph = krf_graph_create(context);
        krf_expr results[MOST_RESULTS];
        int count = 0;
        size_t bytes;
        if (krf_parse_many(graph, text, NULL, 0, MOST_RESULTS, results, &count) != KRF_OK || krf_dump(graph, count, results, KRF_DUMP_SOURCE, "cuda", "sm_90", &source, &bytes) != KRF_OK) {
            fail_msg("%s: %s", text, krf_error_message());
        }
        assert_int_equal(sscanf(source, "/* %63[a-z0-9_]", name), 1);
        check_kernel(text, source, name);
        krf_free(source);
        krf_graph_destroy(graph);
    }
    krf_context_destroy(context);
}

/* Of accumulators of 16 bytes, which a lane has in each of 256 places: compilers must not take them for shorter than they are apart. */
static void accumulators_of_users_have_room(void **state) {
    (void)state;
    if (kernels == 0) {
        skip();
    }
    krf_context *context = open_context();
    krf_reduction *either = NULL;
    assert_int_equal(krf_reduction_define(context, "either", "T x", "T v, bool any", "0, 0", "v = x; any = 1;", "v = a_any ? a_v : b_v; any = a_any || b_any;", "T r", "r = v;", &either), KRF_OK);
    krf_reduction_release(either);
    krf_graph *graph = krf_graph_create(context);
    krf_expr result;
    char *ptx = NULL;
    size_t bytes;
    int count = 0, arrays = 0;
    if (krf_parse_many(graph, "x: f64[1000]\neither(exp(x))", NULL, 0, 1, &result, &count) != KRF_OK || krf_dump(graph, 1, &result, KRF_DUMP_PTX, "cuda", "sm_90", &ptx, &bytes) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    for (const char *at = strstr(ptx, ".shared .align"); at != NULL; at = strstr(at + 1, ".shared .align")) {
        const char *size = strchr(at, '[');
        if (size != NULL && atoi(size + 1) > 256) {
            assert_int_equal(atoi(size + 1) % (256 * 16), 0);
            arrays++;
        }
    }
    assert_true(arrays > 0);
    krf_free(ptx);
    krf_graph_destroy(graph);
    krf_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_kernels_need_few_registers_and_no_local_memory),
        cmocka_unit_test(shared_rows_stay_in_registers),
        cmocka_unit_test(reductions_that_store_elements_stay_in_registers),
        cmocka_unit_test(accumulators_of_users_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
