/* Rows of any length and dtype that begin anywhere: with as many warps as they have chunks, from vectors or element by element, in registers or in shared memory, in one block or several, they
 * have the bits of one operation a kernel. The device is KRF_TEST_DEVICE's. */
#include "rows/rows.h"

enum { ROWS = 3, LONGEST_PLAIN = 32768 /* rows that one kernel takes without clusters, of 4 bytes */ };

static const char *const texts[] = {
    "x = w[:, from:]; e = exp(x - max(x, axis=1, keepdims=True)); e / sum(e, axis=1, keepdims=True)",
    "x = w[:, from:]; d = x - mean(x, axis=1, keepdims=True); d / sqrt(mean(d**2, axis=1, keepdims=True) + 1) * x[0] + x[2]",
    "x = w[:, from:]; var(x, axis=1)",
    "x = w[:, from:].astype(f32); d = x - mean(x, axis=1, keepdims=True); sum(d * d * d, axis=1)",
    "x = w[:, from:]; d = x - mean(x, axis=1, keepdims=True); d / sqrt(mean(d**2, axis=1, keepdims=True) + 1) * r[0, from:] + r[1, from:]",
    "x = w[:, from:]; y = r[:, from:]; m = max(x, axis=1, keepdims=True); (x - m) * sum(x * y, axis=1, keepdims=True) + y",
};

/* The rows as they lie in memory: `from` elements more each. */
static krf_array *rows_of(krf_context *context, krf_dtype dtype, int64_t length, int64_t number) {
    const int64_t shape[2] = {ROWS, length};
    krf_array *plain = array_of(context, 2, shape, number), *cast = NULL;
    krf_graph *g = krf_graph_create(context);
    assert_int_equal(krf_eval(krf_cast(krf_input(g, plain), dtype), &cast), KRF_OK);
    krf_graph_destroy(g);
    krf_array_release(plain);
    return cast;
}

static void run(krf_context *context, const char *text, krf_dtype dtype, int64_t n, int64_t from, result *out) {
    krf_array *w = rows_of(context, dtype, n + from, 11);
    krf_array *r = rows_of(context, dtype, n + from, 17);
    const krf_binding bindings[3] = {krf_bind_array("w", w), krf_bind_array("r", r), krf_bind_int("from", from)};
    evaluate(context, text, 1, 3, bindings, out);
    krf_array_release(w);
    krf_array_release(r);
}

static void check(krf_context *fused, krf_context *unfused, const char *text, krf_dtype dtype, int64_t n, int64_t from) {
    result got = {0}, want = {0};
    run(fused, text, dtype, n, from, &got);
    run(unfused, text, dtype, n, from, &want);
    if (device_of(fused).is_cuda && (n <= LONGEST_PLAIN || has_clusters(fused))) {
        assert_int_equal(got.kernels, 1);
    }
    if (differing(&got, &want) >= 0) {
        fail_msg("%s of %s rows of %lld from %lld on differs from one operation a kernel", text, krf_dtype_name(dtype), (long long)n, (long long)from);
    }
    free_result(&got);
    free_result(&want);
}

static void test_rows_that_begin_anywhere(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_BF16, KRF_I16, KRF_F64};
    static const int64_t lengths[] = {300, 1025, 1027, 2049, 2055, 3000, 3001, 5500, 4097, 8193, 12289, 20481, 33333, 50257};
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    int number = 0;
    (void)unused;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
                const int64_t from = (int64_t)((t + d + l) % 3);
                if (in_shard(number++) && (dtypes[d] != KRF_F64 || lengths[l] < 20000)) { /* longer ones of 8 bytes are several kernels */
                    check(fused, unfused, texts[t], dtypes[d], lengths[l], from);
                }
            }
        }
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* 12 chunks of f32 are the 48 KiB that a launch may have unasked, but for what the kernel has of its own. */
static void test_all_unasked_memory(void **unused) {
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    (void)unused;
    check(fused, unfused, texts[0], KRF_F32, 12288, 0);
    check(fused, unfused, texts[0], KRF_F32, 12284, 0);
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* One kernel serves all numbers of chunks that it has room for. */
static void test_lengths_share_kernels(void **unused) {
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    char name[32] = "";
    (void)unused;
    for (int64_t n = 4097; n < 8192; n += 1023) { /* 5 to 8 chunks, none of them whole vectors */
        result got = {0}, want = {0};
        run(fused, texts[0], KRF_F32, n | 1, 0, &got);
        run(unfused, texts[0], KRF_F32, n | 1, 0, &want);
        assert_int_equal(differing(&got, &want), -1);
        assert_true(name[0] == '\0' || strcmp(got.name, name) == 0 || !device_of(fused).is_cuda);
        snprintf(name, sizeof name, "%s", got.name);
        free_result(&got);
        free_result(&want);
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_that_begin_anywhere), cmocka_unit_test(test_all_unasked_memory), cmocka_unit_test(test_lengths_share_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
