/* Kernels of several rounds: how many kernels an expression becomes, the bytes these move, and that their results have the bits of one operation a kernel. The
 * device is KRF_TEST_DEVICE's. Whether the operations themselves are right, tests/ops and tests/fuzz show; here softmax and layer normalisation are also
 * compared with sums in f64. */
#include "rows/rows.h"

#define SOFTMAX "exp(x - max(x, axis=1, keepdims=True)) / sum(exp(x - max(x, axis=1, keepdims=True)), axis=1, keepdims=True)"
#define LOG_SOFTMAX "x - max(x, axis=1, keepdims=True) - log(sum(exp(x - max(x, axis=1, keepdims=True)), axis=1, keepdims=True))"
#define LAYER_NORM "(x - mean(x, axis=1, keepdims=True)) / sqrt(var(x, axis=1, keepdims=True) + 1e-5) * g + b"

/* Rows of two axes, as weights go with one of them. */
#define GROUPS "reshape(x, (3, 4, -1))"
#define GROUP_NORM "(" GROUPS " - mean(" GROUPS ", axis=(1, 2), keepdims=True)) * rsqrt(var(" GROUPS ", axis=(1, 2), keepdims=True) + 1e-5) * g[:4][None, :, None] + b[:4][None, :, None]"

/* Both prices of an option: strikes y, 0.5 years, 2 % interest, 30 % volatility. */
#define D1 "(log(abs(x) / abs(y)) + 0.0325) / 0.2121320343559643"
#define CDF(x) "0.5 * erfc(-(" x ") * 0.7071067811865476)"
#define CALL "abs(x) * " CDF(D1) " - abs(y) * 0.9900498337491681 * " CDF(D1 " - 0.2121320343559643")
#define BLACK_SCHOLES CALL ", " CALL " - abs(x) + abs(y) * 0.9900498337491681"

typedef struct example {
    const char *text;
    int outputs, kernels;
    const char *schedule; /* of the first kernel */
    int64_t rows, columns;
    int64_t reads, writes; /* elements, of 4 bytes; REST: not looked at */
} example;

static const example examples[] = {
    {SOFTMAX, 1, 1, "row", 5, 300, 1500, 1500},
    {SOFTMAX, 1, 1, "row", 5, 257, 5 * 257, 5 * 257},
    {SOFTMAX, 1, 1, "row", 5, 512, 2560, 2560},
    {SOFTMAX, 1, 1, "row", 5, 700, 3500, 3500},
    {SOFTMAX, 1, 1, "row", 3, 1023, 3069, 3069},
    {SOFTMAX, 1, 1, "row", 3, 1024, 3072, 3072},
    {SOFTMAX, 1, 1, "row", 3, 1025, 3075, 3075},   /* two chunks, one of them of an element */
    {SOFTMAX, 1, 1, "row", 3, 3072, 9216, 9216},   /* whole chunks, and a warp without one */
    {SOFTMAX, 1, 1, "row", 2, 4096, 8192, 8192},
    {SOFTMAX, 1, 1, "row", 2, 32768, 65536, 65536},
    {SOFTMAX, 1, 1, "row_short", 1, 7, 7, 7},
    {SOFTMAX, 1, 1, "row_short", 7, 1, 7, 7},
    {SOFTMAX, 1, 1, "row_short", 257, 3, 771, 771},
    {SOFTMAX, 1, 1, "row_short", 100, 20, 2000, 2000},
    {SOFTMAX, 1, 1, "row_short", 70, 100, 7000, 7000}, /* on the CPU 16 rows go on together, and 13 of 300 elements */
    {SOFTMAX, 1, 1, "row", 41, 300, 12300, 12300},
    {SOFTMAX " + x", 1, 1, "row", 3, 1500, 4500, 4500}, /* not only the exponentials are wanted again */
    {SOFTMAX " + x", 1, 1, "row_short", 3, 50, 150, 150},
    {SOFTMAX " - mean(x, axis=1, keepdims=True) * exp(x - max(x, axis=1, keepdims=True))", 1, 1, "row", 3, 1500, 4500, 4500},
    {SOFTMAX ", exp(x - max(x, axis=1, keepdims=True))", 2, 1, "row", 3, 1500, 4500, 9000},
    {"x / sum(exp(x), axis=1, keepdims=True) / max(exp(x), axis=1, keepdims=True)", 1, 1, "row", 3, 1500, 4500, 4500},
    {"exp(x) / sum(exp(x) * exp(x), axis=1, keepdims=True) * sum(exp(x) * 2, axis=1, keepdims=True)", 1, 1, "row", 3, 1500, 4500, 4500},
    {"x - logsumexp(x, axis=1, keepdims=True)", 1, 1, "row", 5, 300, 1500, 1500},
    {LAYER_NORM, 1, 1, "row", 9, 2500, 9 * 2500 + 2 * 2500, 9 * 2500},
    {LAYER_NORM, 1, 1, "row_short", 3, 40, 3 * 40 + 2 * 40, 3 * 40},
    {"x * rsqrt(mean(x * x, axis=1, keepdims=True) + 1e-5) * g", 1, 1, "row", 4, 1000, 5000, 4000},
    {GROUP_NORM, 1, 1, "row", 3, 1280, 3848, 3840},
    {GROUP_NORM, 1, 1, "row", 3, 1284, 3860, 3852}, /* no vectors: 4 does not divide 321 */
    {GROUP_NORM, 1, 1, "row", 3, 4144, 12440, 12432}, /* vectors, and the last chunk has few */
    {GROUP_NORM, 1, 1, "row", 3, 28672, 86024, 86016},
    {GROUP_NORM, 1, 1, "row_short", 3, 64, 200, 192},
    {GROUP_NORM, 1, 1, "row_short", 3, 72, 224, 216},
    {"logsumexp(x, axis=1)", 1, 1, "row", 6, 2000, 12000, 6},
    {"var(x, axis=1)", 1, 1, "row", 6, 2000, 12000, 6},
    {"var(x, axis=1)", 1, 1, "row", 2, 20000, 40000, 2},
    {"var(x, axis=1)", 1, 1, "reduce_all", 2, 70000, 140000, 2},
    {"mean(x), var(x)", 2, 1, "reduce_all", 2, 40000, 80000, 2},
    {"mean(x), var(x)", 2, 1, "reduce_all", 40, 2048, 81920, 2}, /* of whole tiles: by parts of a thread's vectors on a GPU */
    {"std(x, axis=1)[:, None] + mean(x, axis=1)[:, None] * 2", 1, 1, "row", 6, 2000, 12000, 6},
    {"(x - mean(x, axis=1)[:, None]) / std(x, axis=1)[:, None]", 1, 1, "row", 6, 2000, 12000, 12000}, /* means without their axis, which comes back */
    {"mean(x, axis=1), var(x, axis=1), x - mean(x, axis=1, keepdims=True)", 3, 1, "row", 6, 2000, 12000, 12012},
    {"argmax(f64(x), axis=1), max(f64(x), axis=1)", 2, 1, "row", 6, 2000, 12000, REST},
    {"argmax(x, axis=1), max(x, axis=1)", 2, 1, "reduce_all", 6, 2000, 12000, 18},
    {"argmax(x), argmin(x * y), max(x)", 3, 1, "reduce_all", 70, 1003, 2 * 70210, 5},
    {"(x - mean(x)) / std(x)", 1, 1, "row", 20, 30, 600, 600}, /* all of it is one row */
    {"(x - y) - max(x - y, axis=1, keepdims=True) * max(abs(x), axis=1, keepdims=True)", 1, 1, "row", 6, 2000, 24000, 12000},
    {"sin(x) + cos(x) + tan(x) + sinh(x) + cosh(x) + atan(x) - sum(sin(x) + cos(x) + tan(x) + sinh(x) + cosh(x) + atan(x), axis=1, keepdims=True)", 1, 1,
     "row", 3, 1700, 5100, 5100}, /* too long to be written out for each element of a thread */
    /* What users write: one kernel, the least bytes. */
    {"-sum(log(0.3 * exp(-0.5 * ((x - 0.1) / 1.7)**2) / 4.26 + 0.7 * exp(-0.5 * ((x - 1) / 0.5)**2) / 1.25))", 1, 1, "reduce_all", 30, 70, 2100, 1},
    {BLACK_SCHOLES, 2, 1, "map", 30, 70, 4200, 4200},
    {"0.2 * (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])", 1, 1, NULL, 30, 70, 30 * 70 - 2, 28 * 68}, /* on a GPU by strips: ops/test_stencils.c */
    {"sqrt(x * x + y * y - 2 * x * y * cos(x - y))", 1, 1, "map", 30, 70, 4200, 2100},
    {"sum(reshape(x, (-1, 2, 2, 1)) * reshape(y, (-1, 1, 2, 2)), axis=2)", 1, 1, NULL, 30, 72, 4320, 2160},
    {"sum(exp(-(x[0][:, None] - y[0][None, :])**2), axis=1)", 1, 1, "reduce_row", 3, 700, 1400, 700},
    {"mean(x), var(x)", 2, 1, "row", 40, 500, 20000, 2},
    /* Maps beside reductions over the same elements. */
    {"x * 2, mean(x), max(x)", 3, 1, "reduce_all", 70, 1003, 70210, 70212},
    {"x + y, sum(x, axis=1)", 2, 1, "reduce_short", 70, 45, 6300, 3220},
    {"x - y, sum(x * y, axis=0), x > y", 3, 1, "reduce_col", 170, 45, 15300, REST},
    {"x * 2, max(x, axis=1)", 2, 1, "reduce_all", 3, 40000, 120000, 120003},
    {"x * 2, x - max(x * 2, axis=1, keepdims=True), sum(exp(x - max(x * 2, axis=1, keepdims=True)), axis=1)", 3, 1, "row", 5, 2001, 10005, 20015},
    {"y * 2, max(x, axis=1)", 2, 2, "map", 20, 30, REST, REST}, /* nothing is read by both */
    /* What must not share a kernel. */
    {"x.T - max(x.T, axis=1, keepdims=True)", 1, 2, "reduce_col", 200, 60, REST, REST}, /* rows whose elements lie far apart */
    {"x - flip(max(x, axis=1, keepdims=True), axis=0)", 1, 2, "reduce_short", 50, 60, REST, REST}, /* another row's result */
    {"x - max(x, axis=1)", 1, 2, "reduce_short", 60, 60, REST, REST}, /* a row's result for each element of all rows */
    {"x - sum(max(x, axis=1, keepdims=True))", 1, REST, "reduce_short", 50, 60, REST, REST}, /* all rows' results */
    {"x - cumsum(max(x, axis=1, keepdims=True), axis=0)", 1, 3, "reduce_short", 50, 60, REST, REST},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* look: whether its kernels are as they should be. */
static void run(krf_context *context, const example *e, result *out, bool look) {
    int64_t shape[2] = {e->rows, e->columns};
    krf_array *arrays[4] = {array_of(context, 2, shape, 0), array_of(context, 2, shape, 77), array_of(context, 1, shape + 1, 5), array_of(context, 1, shape + 1, 9)};
    const krf_binding bindings[4] = {krf_bind_array("x", arrays[0]), krf_bind_array("y", arrays[1]), krf_bind_array("g", arrays[2]), krf_bind_array("b", arrays[3])};
    evaluate(context, e->text, e->outputs, 4, bindings, out);
    if (look && ((e->kernels != REST && out->kernels != e->kernels) || (e->schedule != NULL && strcmp(out->schedule, e->schedule) != 0) ||
                 (e->reads != REST && out->reads != 4 * e->reads) || (e->writes != REST && out->writes != 4 * e->writes))) {
        fail_msg("%s of [%lld, %lld]: %d kernels, %s, reads %lld bytes, writes %lld", e->text, (long long)e->rows, (long long)e->columns, out->kernels, out->schedule,
                 (long long)out->reads, (long long)out->writes);
    }
    for (int k = 0; k < 4; k++) {
        krf_array_release(arrays[k]);
    }
}

static void check_example(krf_context *fused, krf_context *unfused, const example *e) {
    static int examples_so_far;
    if (!in_shard(examples_so_far++)) {
        return;
    }
    result got = {0}, want = {0};
    run(fused, e, &got, e->schedule != NULL || e->kernels != REST);
    run(unfused, e, &want, false);
    const int k = differing(&got, &want);
    if (k >= 0) {
        fail_msg("%s of [%lld, %lld]: result %d differs from one operation a kernel", e->text, (long long)e->rows, (long long)e->columns, k);
    }
    free_result(&got);
    free_result(&want);
}

static void test_examples(void **unused) {
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    (void)unused;
    for (size_t i = 0; i < EXAMPLES; i++) {
        check_example(fused, unfused, &examples[i]);
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* Several rows a warp on CUDA: lengths at the borders of vectors and of threads that share a row, numbers of rows that fill no warp or block, or several blocks. */
static void test_short_rows(void **unused) {
    static const struct {
        const char *text;
        int outputs;
        const char *schedule;
    } texts[] = {
        {SOFTMAX, 1, "row_short"},
        {LAYER_NORM, 1, "row_short"},
        {"mean(x, axis=1), var(x, axis=1), x - mean(x, axis=1, keepdims=True)", 3, "row_short"},
        {"argmax(f64(x), axis=1), max(f64(x), axis=1)", 2, NULL},
        {"argmax(x, axis=1), max(x, axis=1)", 2, NULL}, /* a map of few columns */
        {"x - roll(x, 2, axis=1) * max(x * y, axis=1, keepdims=True)", 1, NULL},
        {"x + y, sum(x, axis=1)", 2, "reduce_short"},
        {"f16(x * y), max(f16(x * y), axis=1), any(x < y, axis=1)", 3, NULL},
        {"x * 2, x - max(x * 2, axis=1, keepdims=True)", 2, "row_short"},
        {"x - sum((((((((((x * y + 1) * x + 2) * y + 3) * x + 4) * y + 5) * x + 6) * y + 7) * x + 8) * y + 9) * x, axis=1, keepdims=True)", 1, "row_short"},
        {"f16(x) - max(f16(x), axis=1, keepdims=True)", 1, "row_short"},
        {"f64(x) / sum(f64(x) * f64(x), axis=1, keepdims=True)", 1, "row_short"},
        {"sum(x, axis=1)", 1, NULL},
        {"max(x, axis=1), sum(x * y, axis=1)", 2, NULL},
        {"sum(exp(x), axis=1)", 1, NULL},
        {"sum(f64(x) * y, axis=1), max(x, axis=1), min(x + y, axis=1), any(x > y, axis=1)", 4, NULL},
        {"sum(x, axis=1) * max(x, axis=1) + min(x, axis=1) * sum(y, axis=1) + max(y, axis=1)", 1, NULL}, /* accumulators of many leave a thread fewer elements */
        {"sum(x * exp(g), axis=1, keepdims=True) * exp(g) - x", 1, "row_short"}, /* what all rows share is wanted again, and stays */
    };
    static const int64_t lengths[] = {2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 19, 20, 23, 27, 31, 32, 33, 36, 44, 63, 64, 65, 68, 100, 127, 128, 129, 192, 255, 256}, rows[] = {31, 300, 70, 2};
    krf_context *general = open_context("literal=0"), *unfused = open_context("off");
    (void)unused;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        krf_context *fused = open_context("literal_from=0"); /* kernels know the first few lengths that a context has */
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            const example e = {texts[t].text, texts[t].outputs, 1, texts[t].schedule, rows[l % 4], lengths[l], REST, REST};
            check_example(fused, unfused, &e);
            check_example(general, unfused, &e);
        }
        krf_context_destroy(fused);
    }
    krf_context_destroy(general);
    krf_context_destroy(unfused);
}

/* Rows too long for a block: one kernel on the devices whose blocks share rows. Lengths with whole vectors and without, chunks without elements, 2 rows and 1. */
static void test_long_rows(void **unused) {
    static const struct {
        const char *text;
        int outputs, kernels; /* where no blocks share a row; REST: not looked at */
        int64_t more, reads, writes; /* the longest row; elements of the domain that are read and written: what is given, not results of rows */
    } texts[] = {
        {SOFTMAX, 1, 3, 262144, 1, 1},
        {LOG_SOFTMAX, 1, 3, 262144, 1, 1},
        {LAYER_NORM, 1, 3, 262144, 1, 1},
        {"var(f32(arange(x.shape[1]) % 7))", 1, REST, 65536, REST, REST}, /* nothing is loaded */
        {"f32(arange(x.shape[1])) - mean(f32(arange(x.shape[1])))", 1, REST, 262144, REST, REST},
        {"var(bf16(x), axis=1)", 1, REST, 131072, REST, REST},
        {"var(f64(x), axis=1)", 1, REST, 131072, REST, REST}, /* longer ones by parts: ops/test_parts.c */
        {"logsumexp(x, axis=1)", 1, 2, 262144, 1, 0},
        {"f16(x) - max(f16(x), axis=1, keepdims=True)", 1, REST, 262144, REST, REST},
        {"any(x > y, axis=1), argmax(f64(x), axis=1), x - max(i16(x), axis=1, keepdims=True)", 3, REST, 131072, REST, REST},
        {"f64(x) / sum(f64(x) * f64(x), axis=1, keepdims=True)", 1, REST, 262144, REST, REST},
        {"i16(x * 6000) - sum(i16(abs(x) * 6000), axis=1, keepdims=True)", 1, REST, 262144, REST, REST}, /* of a chunk in 32 bits, of the row in 64 */
        {"(x - y) - max(x - y, axis=1, keepdims=True) * max(abs(x), axis=1, keepdims=True)", 1, REST, 131072, 2, 1},
        {"sin(x) + cos(x) + tan(x) + sinh(x) + cosh(x) + atan(x) - sum(sin(x) + cos(x) + tan(x) + sinh(x) + cosh(x) + atan(x), axis=1, keepdims=True)", 1, 2, 262144, 1, 1},
    };
    static const int64_t lengths[] = {32769, 40000, 65536, 100003, 131072, 262144, 262145};
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    const bool clusters = has_clusters(fused);
    (void)unused;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            const int64_t n = lengths[l], rows = n > 200000 ? 1 : 2;
            const bool one = clusters && n <= texts[t].more;
            const bool weights = strcmp(texts[t].text, LAYER_NORM) == 0;
            const int apart = texts[t].kernels - (weights && n > 65536); /* then its mean and its variance are sums beside each other */
            example e = {texts[t].text, texts[t].outputs, one ? 1 : apart, one ? "row" : NULL, rows, n, REST, REST};
            if (one && texts[t].reads != REST) {
                e.reads = texts[t].reads * rows * n + (weights ? 2 * n : 0);
                e.writes = texts[t].writes == 0 ? rows : rows * n;
            }
            if (t < 6 || l % 3 == t % 3) { /* the longer expressions at some of the lengths */
                check_example(fused, unfused, &e);
            }
        }
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* Of many rows each of a processor's threads takes its own; threads share the chunks of few, and of rows that its caches do not hold. */
static void test_rows_of_processors(void **unused) {
    static const char LARGEST[] = "x - max(x, axis=1, keepdims=True)";
    const example examples_of_processors[] = {{SOFTMAX, 1, 1, "row", 64, 33000, 64 * 33000, 64 * 33000}, {SOFTMAX, 1, 3, NULL, 63, 33000, REST, REST}, {LARGEST, 1, 1, "row", 64, 131072, REST, REST}, {LARGEST, 1, 2, NULL, 64, 131073, REST, REST}};
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    (void)unused;
    for (size_t k = 0; k < sizeof examples_of_processors / sizeof *examples_of_processors && !device_of(fused).is_cuda; k++) {
        check_example(fused, unfused, &examples_of_processors[k]);
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* Devices before 9.0: what the simulated one then is. */
static void test_older_devices(void **unused) {
    const example e = {SOFTMAX, 1, 3, NULL, 2, 40000, REST, REST};
    (void)unused;
    setenv("FAKECUDA_ARCH", "89", 1);
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    if (!has_clusters(fused)) {
        check_example(fused, unfused, &e);
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
    unsetenv("FAKECUDA_ARCH");
}

static void test_values(void **unused) {
    krf_context *context = open_context(NULL);
    const example softmax = {SOFTMAX, 1, 1, "row", 3, 1500, REST, REST}, norm = {LAYER_NORM, 1, 1, "row", 3, 1500, REST, REST};
    result s = {0}, n = {0};
    (void)unused;
    run(context, &softmax, &s, true);
    run(context, &norm, &n, true);
    for (int64_t row = 0; row < 3; row++) {
        double largest = -INFINITY, sum = 0, all = 0, squares = 0;
        for (int64_t i = row * 1500; i < row * 1500 + 1500; i++) {
            largest = fmax(largest, element(i));
            all += element(i) / 1500.0;
        }
        for (int64_t i = row * 1500; i < row * 1500 + 1500; i++) {
            sum += exp(element(i) - largest);
            squares += (element(i) - all) * (element(i) - all) / 1500;
        }
        for (int64_t i = row * 1500; i < row * 1500 + 1500; i++) {
            double share = exp(element(i) - largest) / sum, at = (element(i) - all) / sqrt(squares + 1e-5);
            double expected = at * element(i % 1500 + 5) + element(i % 1500 + 9);
            assert_true(fabs(((float *)s.data[0])[i] - share) <= 1e-6 * share);
            assert_true(fabs(((float *)n.data[0])[i] - expected) <= 1e-5 * (fabs(expected) + 1));
        }
    }
    free_result(&s);
    free_result(&n);
    krf_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_short_rows), cmocka_unit_test(test_long_rows), cmocka_unit_test(test_rows_of_processors), cmocka_unit_test(test_older_devices), cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
