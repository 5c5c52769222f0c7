/* Kernels of several rounds whose rows lie side by side in memory (softmax over the first axis, or over channels): how many kernels an expression becomes, the bytes
 * these move, and that their results have the bits of one operation a kernel. The device is KRF_TEST_DEVICE's; on a CPU no rows of this kind share a kernel, and what
 * is looked at is that there are several. Softmax and layer normalisation are also compared with sums in f64. */
#include "rows/rows.h"

#define MAX(a) "max(x, axis=" a ", keepdims=True)"
#define SOFTMAX(a) "exp(x - " MAX(a) ") / sum(exp(x - " MAX(a) "), axis=" a ", keepdims=True)"
#define LOG_SOFTMAX(a) "x - " MAX(a) " - log(sum(exp(x - " MAX(a) "), axis=" a ", keepdims=True))"
#define STANDARDISED(a) "(x - mean(x, axis=" a ", keepdims=True)) / sqrt(var(x, axis=" a ", keepdims=True) + 1e-5)"
#define LAYER_NORM STANDARDISED("0") " * u[:, None] + v[:, None]"
#define COSTLY "sin(x) + cos(x) + tan(x) + sinh(x) + cosh(x) + atan(x)"
#define LONGER COSTLY " + " "sin(y) + cos(y) + tan(y) + sinh(y) + cosh(y) + atan(y) + sin(x * y) + cos(x * y) + tanh(x - y) + atan(x - y)"

enum { SEVERAL = -2 };

typedef struct example {
    const char *text;
    int outputs, kernels;   /* on a GPU; SEVERAL: two or more, REST: not looked at */
    const char *schedule;   /* on a GPU, of the first kernel; "row_col": several kernels on a CPU */
    int rank;
    int64_t shape[4];       /* of x and y; u, v and i: the first axis, w and j the last, c the second */
    int64_t reads, writes;  /* bytes, on a GPU; REST: not looked at */
    const char *of;         /* what x and y are made by; NULL: as they are */
} example;

static const example examples[] = {
    {"x - max(x, axis=0)", 1, 1, "row_col", 2, {50, 60}, 12000, 12000, NULL},
    {LAYER_NORM, 1, 1, "row_col", 2, {300, 33}, 4 * (9900 + 600), 39600, NULL},
    {STANDARDISED("0") " * w + 1", 1, 1, "row_col", 2, {300, 33}, 4 * (9900 + 33), 39600, NULL},
    {"x * rsqrt(mean(x * x, axis=0) + 1e-5) * u[:, None]", 1, 1, "row_col", 2, {700, 40}, 4 * (28000 + 700), 112000, NULL},
    {"(x - mean(x, axis=0)[None, :]) / std(x, axis=0)[None, :]", 1, 1, "row_col", 2, {400, 37}, 59200, 59200, NULL}, /* means without their axis, which comes back */
    {"std(x, axis=0) + mean(x, axis=0) * 2", 1, 1, "row_col", 2, {400, 37}, 59200, 148, NULL},
    {"x - logsumexp(x, axis=0)", 1, 1, "row_col", 2, {129, 130}, 67080, 67080, NULL},
    {"argmax(x, axis=0), max(x, axis=0)", 2, 1, "reduce_col", 2, {300, 33}, 39600, 12 * 33, NULL},
    {"argmax(f64(x), axis=0), max(f64(x), axis=0)", 2, 1, "row_col", 2, {300, 33}, 39600, 16 * 33, NULL},
    {"argmax(x, axis=0), x - max(x, axis=0)", 2, 1, "row_col", 2, {300, 33}, 39600, 39600 + 8 * 33, NULL},
    {"x * 2, x - max(x * 2, axis=0), sum(exp(x - max(x * 2, axis=0)), axis=0)", 3, 1, "row_col", 2, {301, 33}, 39732, 2 * 39732 + 132, NULL},
    {"x - max(x, axis=0), (x - max(x, axis=0)) > -3, sum(x, axis=0)", 3, 1, "row_col", 2, {301, 33}, 39732, 39732 + 9933 + 132, NULL},
    {"any(x > 4.9, axis=0), x - max(y, axis=0), all(x < y, axis=0)", 3, 1, "row_col", 2, {64, 33}, 2 * 8448, 8448 + 66, NULL},
    {"log(x) - max(log(x), axis=0)", 1, 1, "row_col", 2, {64, 33}, 8448, 8448, NULL}, /* NaN */
    /* Wanted again, and by more than one. */
    {SOFTMAX("0") " + x", 1, 1, "row_col", 2, {513, 33}, 67716, 67716, NULL},
    {SOFTMAX("0") " - mean(x, axis=0) * exp(x - max(x, axis=0))", 1, 1, "row_col", 2, {513, 33}, 67716, 67716, NULL},
    {SOFTMAX("0") ", exp(x - max(x, axis=0))", 2, 1, "row_col", 2, {1500, 9}, 54000, 108000, NULL},
    {"x / sum(exp(x), axis=0) / max(exp(x), axis=0)", 1, 1, "row_col", 2, {100, 33}, 13200, 13200, NULL},
    {"exp(x) / sum(exp(x) * exp(x), axis=0) * sum(exp(x) * 2, axis=0)", 1, 1, "row_col", 2, {100, 33}, 13200, 13200, NULL},
    {"sum(x * exp(w), axis=0) * exp(w) - x", 1, 1, "row_col", 2, {100, 33}, 13332, 13200, NULL}, /* what differs from row to row alone */
    {"sum(x * exp(u[:, None]), axis=0) * exp(u[:, None]) - x", 1, 1, "row_col", 2, {100, 33}, 13600, 13200, NULL}, /* what all rows share */
    {"exp(u[:, None] * w) / sum(exp(u[:, None] * w), axis=0)", 1, 1, "row_col", 2, {100, 33}, 4 * 133, 13200, NULL}, /* no load has elements of its own in every row */
    {"logsumexp(u[:, None] * w, axis=0)", 1, 1, NULL, 2, {100, 33}, 4 * 133, 132, NULL},
    /* Other types. */
    {SOFTMAX("0"), 1, 1, "row_col", 2, {300, 34}, 20400, 20400, "f16(x)"},
    {SOFTMAX("0"), 1, 1, "row_col", 2, {2000, 7}, 28000, 28000, "bf16(x)"},
    {SOFTMAX("0"), 1, 1, "row_col", 2, {1000, 33}, 264000, 264000, "f64(x)"},
    {STANDARDISED("0"), 1, 1, "row_col", 2, {96, 66}, 12672, 12672, "bf16(x)"},
    {STANDARDISED("0"), 1, 1, "row_col", 2, {3000, 5}, 120000, 120000, "f64(x)"},
    {"x - sum(abs(x), axis=0, keepdims=True)", 1, 1, "row_col", 2, {300, 33}, 19800, REST, "i16(x * 6000)"},
    {"x - max(x, axis=0)", 1, 1, "row_col", 2, {3000, 9}, 27000, 27000, "i8(x * 20)"},
    {"x * 3 - sum(x, axis=0), x & max(x, axis=0)", 2, 1, "row_col", 2, {90, 33}, REST, REST, "u8(x * 20 + 110)"},
    {"x ^ any(x, axis=0), sum(x, axis=0) > 40", 2, 1, NULL, 2, {90, 33}, 2970, 3003, "x > 2"},
    {"x // (max(x, axis=0) - min(x, axis=0) + 1)", 1, 1, "row_col", 2, {130, 33}, 34320, 34320, "i64(x * 1000000)"},
    {"x - mean(x, axis=0)", 1, 1, "row_col", 2, {130, 33}, 34320, 34320, "complex(x, x * 2 + 1)"},
    {"x / sum(abs(x), axis=0) * conj(x)", 1, 1, "row_col", 2, {1100, 12}, 105600, 105600, "complex(x, x * 2 + 1)"},
    {"f16(x) - max(f16(x), axis=0)", 1, 1, "row_col", 2, {300, 33}, 39600, 19800, NULL},
    {"f64(x) / sum(f64(x) * f64(x), axis=0)", 1, 1, "row_col", 2, {300, 33}, 39600, 79200, NULL},
    /* More than a thread's registers hold, or a block's shared memory. */
    {"x * y * x[::-1] - max(x * y * y[::-1], axis=0) * sum(x + x[::-1] * y[::-1], axis=0)", 1, 1, "row_col", 2, {1024, 33}, 2 * 270336, 270336, "f64(x)"},
    {"x * y * x[::-1] - max(x * y * y[::-1], axis=0) * sum(x + x[::-1] * y[::-1], axis=0)", 1, 1, "row_col", 2, {8000, 3}, 2 * 96000, 96000, NULL},
    {"x - sum(x, axis=0) * sum(x * x, axis=0) * max(x, axis=0) * min(x, axis=0) * sum(abs(x), axis=0) * max(abs(x), axis=0) * sum(x * 2, axis=0)", 1, 1, "row_col", 2, {257, 65},
     133640, 133640, "f64(x)"},
    {"x - sum(x, axis=0) * sum(x * x, axis=0) * max(x, axis=0) * min(x, axis=0) * sum(y, axis=0) * sum(x * y, axis=0) * max(x * y, axis=0)", 1, 1, "row_col", 2, {2500, 11},
     440000, 220000, "f64(x)"},
    {"z = f64(x); t = z - sum(z, axis=0) * sum(z * z, axis=0) * max(z, axis=0) * min(z, axis=0) * sum(abs(z), axis=0); "
     "return t - sum(t, axis=0) * sum(t * t, axis=0) * max(t, axis=0) * min(t, axis=0) * sum(abs(t), axis=0)", 1, 1, "row_col", 2, {5000, 17}, 340000, 680000, NULL},
    /* Places and gathers. */
    {"x * arange(300)[:, None] - sum(x * arange(300)[:, None], axis=0)", 1, 1, "row_col", 2, {300, 33}, 39600, REST, NULL},
    {"x - arange(33) * max(x * arange(33), axis=0)", 1, 1, "row_col", 2, {300, 33}, 39600, REST, NULL},
    {"roll(x, 2, axis=0) - max(roll(x, 2, axis=0), axis=0)", 1, REST, NULL, 2, {300, 33}, REST, REST, NULL},
    {"roll(x, 3, axis=1) - max(x * roll(x, 3, axis=1), axis=0)", 1, REST, NULL, 2, {2000, 33}, REST, REST, NULL},
    {"x[i] - max(x[i], axis=0)", 1, 1, "row_col", 2, {300, 33}, REST, 39600, NULL},
    {"x[i, :] * y - mean(x[i] * y, axis=0)", 1, 1, "row_col", 2, {1300, 33}, REST, 171600, NULL},
    {"logsumexp(x[:, j], axis=0)", 1, REST, NULL, 2, {300, 33}, REST, REST, NULL},
    {"x[:, j] - logsumexp(x, axis=0)", 1, 1, "row_col", 2, {300, 33}, REST, 39600, NULL},
    {"x - max(x, axis=0)[j]", 1, SEVERAL, NULL, 2, {300, 33}, REST, REST, NULL}, /* another row's result */
    /* Views. */
    {"x[:, 1:] - max(x[:, 1:], axis=0)", 1, 1, "row_col", 2, {200, 34}, 26400, 26400, NULL},
    {"x[3:-2, 5:-4] - max(x[3:-2, 5:-4], axis=0)", 1, 1, "row_col", 2, {205, 42}, 26400, 26400, NULL},
    {"x[1:, 2:] / sum(y[:-1, :-2] * x[1:, 2:], axis=0)", 1, 1, "row_col", 2, {201, 35}, 26400, 13200, "f16(x)"},
    {"x[:, ::-1] - max(x[:, ::-1] * y, axis=0)", 1, 1, "row_col", 2, {200, 33}, 52800, 26400, NULL},
    {"x[::-1] - max(x[::-1] * y, axis=0)", 1, 1, "row_col", 2, {200, 33}, 52800, 26400, NULL},
    {"x[::3] - max(x[::3], axis=0)", 1, 1, "row_col", 2, {600, 33}, 26400, 26400, NULL},
    {"x[:, ::2] - max(x[:, ::2], axis=0)", 1, 1, "row_col", 2, {200, 66}, 26400, 26400, NULL}, /* as far apart as the halves of complex numbers */
    {"x[:, ::3] - max(x[:, ::3], axis=0)", 1, SEVERAL, NULL, 2, {200, 66}, REST, REST, NULL},
    {"x.T - max(x.T, axis=0)", 1, SEVERAL, NULL, 2, {33, 200}, REST, REST, NULL},
    {"x + y.T - max(x + y.T, axis=0)", 1, SEVERAL, NULL, 2, {60, 60}, REST, REST, NULL},
    {"x.T - max(x, axis=0)", 1, SEVERAL, NULL, 2, {60, 60}, REST, REST, NULL},
    /* Rows that do not fill blocks. */
    {SOFTMAX("0"), 1, 1, NULL, 2, {40, 1}, 160, 160, NULL},
    {SOFTMAX("0"), 1, 1, "row_col", 2, {40, 7}, 1120, 1120, NULL},
    {SOFTMAX("0"), 1, 1, "row_col", 2, {40, 129}, 20640, 20640, NULL},
    {SOFTMAX("0"), 1, 1, "row_col", 2, {5, 1000}, 20000, 20000, NULL},
    {SOFTMAX("0"), 1, 1, "row_col", 2, {20, 129}, 10320, 10320, NULL},
    {SOFTMAX("0"), 1, 1, "row_col", 2, {2, 31}, 248, 248, NULL},
    {SOFTMAX("0"), 1, 1, "row_col", 2, {4100, 2}, 32800, 32800, NULL},
    /* Rows whose elements lie far apart. */
    {SOFTMAX("0"), 1, 1, "row_col", 2, {129, 8192}, 4227072, 4227072, NULL},
    {STANDARDISED("0"), 1, 1, "row_col", 2, {300, 8195}, 9834000, 9834000, NULL},
    /* Middle axes, several axes, axes of one element. */
    {SOFTMAX("1"), 1, 1, "row_col", 3, {5, 40, 7}, 5600, 5600, NULL},
    {SOFTMAX("1"), 1, 1, "row_col", 3, {2, 1300, 33}, 343200, 343200, NULL},
    {SOFTMAX("1"), 1, 1, "row_col", 4, {3, 21, 5, 7}, 8820, 8820, NULL},
    {STANDARDISED("1") " * c[:, None, None] + w", 1, 1, "row_col", 4, {2, 96, 6, 11}, 4 * (12672 + 96 + 11), 50688, NULL},
    {"var(x, axis=1), x * 2", 2, 1, "row_col", 4, {3, 100, 4, 5}, 24000, 24240, NULL},
    {SOFTMAX("2"), 1, 1, "row_col", 4, {2, 3, 70, 6}, 10080, 10080, NULL},
    {SOFTMAX("1"), 1, 1, NULL, 4, {6, 300, 1, 1}, 7200, 7200, NULL}, /* rows as any */
    {SOFTMAX("1"), 1, 1, NULL, 4, {6, 20, 1, 1}, 480, 480, NULL},
    {SOFTMAX("1"), 1, 1, "row_col", 4, {6, 30, 9, 1}, 6480, 6480, NULL},
    {SOFTMAX("1"), 1, 1, "row_col", 4, {1, 30, 1, 9}, 1080, 1080, NULL},
    {SOFTMAX("(0, 1)"), 1, 1, "row_col", 3, {5, 60, 33}, 39600, 39600, NULL},
    {SOFTMAX("(0, 1)"), 1, 1, "row_col", 3, {40, 60, 9}, 86400, 86400, NULL},
    {"x[:, 1:] - max(x[:, 1:], axis=(0, 1))", 1, 1, "row_col", 3, {5, 61, 33}, 39600, 39600, NULL}, /* two dimensions remain */
    {"x[:, 1:] - max(x[:, 1:], axis=(0, 1))", 1, 1, "row_col", 3, {40, 61, 9}, 86400, 86400, NULL},
    {SOFTMAX("(0, 2)"), 1, 1, "row_col", 4, {5, 3, 60, 7}, 25200, 25200, NULL},
    {SOFTMAX("(1, 2)"), 1, 1, "row_col", 4, {3, 10, 60, 7}, 50400, 50400, NULL},
    {SOFTMAX("(0, 2)"), 1, SEVERAL, NULL, 3, {5, 9, 30}, REST, REST, NULL}, /* neither the last axes nor beside them */
    {STANDARDISED("(0, 2, 3)"), 1, SEVERAL, NULL, 4, {4, 6, 5, 7}, REST, REST, NULL},
    {"swapaxes(x, 0, 1) - max(swapaxes(x, 0, 1), axis=0)", 1, 1, "row_col", 3, {5, 40, 7}, 5600, 5600, NULL},
    {"x - max(x, axis=1, keepdims=True) - max(x, axis=0)", 1, SEVERAL, NULL, 2, {50, 60}, REST, REST, NULL}, /* rows and columns */
    {"x - max(max(x, axis=0) * 2)", 1, SEVERAL, NULL, 2, {50, 60}, REST, REST, NULL}, /* all rows' results */
    {"x - flip(max(x, axis=0, keepdims=True), axis=1)", 1, SEVERAL, NULL, 2, {50, 60}, REST, REST, NULL},
    {"x - max(x, axis=0)[:, None]", 1, SEVERAL, NULL, 2, {60, 60}, REST, REST, NULL},
    {"x - cumsum(max(x, axis=0))", 1, SEVERAL, NULL, 2, {50, 60}, REST, REST, NULL},
    /* Nothing. */
    {"x - sum(x, axis=0)", 1, REST, NULL, 2, {0, 9}, REST, REST, NULL},
    {"x - sum(x, axis=0), mean(x, axis=0)", 2, REST, NULL, 2, {0, 9}, REST, REST, NULL},
    {SOFTMAX("0"), 1, REST, NULL, 2, {9, 0}, REST, REST, NULL},
    {STANDARDISED("1"), 1, REST, NULL, 3, {4, 9, 0}, REST, REST, NULL},
    {STANDARDISED("1"), 1, REST, NULL, 3, {0, 9, 4}, REST, REST, NULL},
};

/* x or y: `of` makes it of numbers. */
static krf_array *operand(krf_context *context, const example *e, int64_t from) {
    krf_array *plain = array_of(context, e->rank, e->shape, from), *made = NULL;
    if (e->of == NULL) {
        return plain;
    }
    const krf_binding x = krf_bind_array("x", plain);
    krf_graph *g = krf_graph_create(context);
    krf_expr of;
    if (krf_parse(g, e->of, &x, 1, &of) != KRF_OK || krf_eval(of, &made) != KRF_OK) {
        fail_msg("%s: %s", e->of, krf_error_message());
    }
    krf_graph_destroy(g);
    krf_array_release(plain);
    return made;
}

static krf_array *places(krf_context *context, int64_t n) {
    int64_t *data = malloc((size_t)n * sizeof *data + 1);
    krf_array *array = NULL;
    for (int64_t i = 0; i < n; i++) {
        data[i] = (i * 7 + 3) % n - (i % 5 == 0 ? n : 0); /* some from the end */
    }
    assert_int_equal(krf_array_from_host(context, KRF_I64, 1, &n, data, &array), KRF_OK);
    free(data);
    return array;
}

enum { OPERANDS = 8 };

static void run(krf_context *context, const example *e, result *out) {
    static const char *const names[OPERANDS] = {"x", "y", "u", "v", "w", "c", "i", "j"};
    const int64_t *first = e->shape, *last = e->shape + e->rank - 1;
    krf_array *arrays[OPERANDS] = {operand(context, e, 0),            operand(context, e, 77),                    array_of(context, 1, first, 5), array_of(context, 1, first, 9),
                                   array_of(context, 1, last, 13), array_of(context, 1, e->shape + 1, 21), places(context, *first),        places(context, *last)};
    krf_binding bindings[OPERANDS];
    for (int k = 0; k < OPERANDS; k++) {
        bindings[k] = krf_bind_array(names[k], arrays[k]);
    }
    evaluate(context, e->text, e->outputs, OPERANDS, bindings, out);
    for (int k = 0; k < OPERANDS; k++) {
        krf_array_release(arrays[k]);
    }
}

static void look(const example *e, const result *r, bool gpu) {
    const bool beside = e->schedule != NULL && strcmp(e->schedule, "row_col") == 0, tiles = !gpu && strcmp(r->schedule, "row_col") == 0; /* on a CPU: where that is faster (test_tiles_rule.c) */
    bool right = e->kernels == REST || (gpu && e->kernels != SEVERAL ? r->kernels == e->kernels : (gpu || beside || e->kernels == SEVERAL) && !tiles ? r->kernels >= 2 : true);
    right &= !gpu || ((e->schedule == NULL || strcmp(r->schedule, e->schedule) == 0) && (e->reads == REST || r->reads == e->reads) && (e->writes == REST || r->writes == e->writes));
    if (!right) {
        fail_msg("%s of [%lld, %lld, %lld, %lld] %s: %d kernels, %s, reads %lld bytes, writes %lld", e->text, (long long)e->shape[0], (long long)e->shape[1], (long long)e->shape[2],
                 (long long)e->shape[3], e->of != NULL ? e->of : "", r->kernels, r->schedule, (long long)r->reads, (long long)r->writes);
    }
}

/* Under several settings of fusion, each as one operation a kernel. */
static void check(int n, krf_context *const *contexts, const char *const *settings, krf_context *unfused, const example *e) {
    static int examples_so_far;
    if (!in_shard(examples_so_far++)) {
        return;
    }
    result want = {0};
    run(unfused, e, &want);
    for (int c = 0; c < n; c++) {
        result got = {0};
        run(contexts[c], e, &got);
        look(e, &got, device_of(contexts[c]).is_cuda);
        const int k = differing(&got, &want);
        if (k >= 0) {
            fail_msg("%s of [%lld, %lld, %lld, %lld] %s, fusion %s: result %d differs from one operation a kernel", e->text, (long long)e->shape[0], (long long)e->shape[1],
                     (long long)e->shape[2], (long long)e->shape[3], e->of != NULL ? e->of : "", settings[c], k);
        }
        free_result(&got);
    }
    free_result(&want);
}

static void test_examples(void **unused) {
    static const char *const settings[] = {"as usual"};
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    (void)unused;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        check(1, &fused, settings, unfused, &examples[i]);
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* ---- lengths ---- */

typedef struct sweep {
    const char *text;
    int outputs, often;             /* at every often-th length, of the long ones at more */
    int element, length, column;    /* bytes that are read of an element of the domain, of the first axis and of the last; REST: not looked at */
    int stored, result;             /* bytes that are written of an element of the domain, and of a row */
} sweep;

static const sweep sweeps[] = {
    {SOFTMAX("0"), 1, 1, 4, 0, 0, 4, 0},
    {"mean(x, axis=0), var(x, axis=0), x - mean(x, axis=0)", 3, 2, 4, 0, 0, 4, 8},
    {LOG_SOFTMAX("0"), 1, 10, 4, 0, 0, 4, 0},
    {LAYER_NORM, 1, 5, 4, 8, 0, 4, 0},
    {STANDARDISED("0") " * w", 1, 10, 4, 0, 4, 4, 0},
    {"var(x, axis=0)", 1, 9, 4, 0, 0, 0, 4},
    {"logsumexp(x, axis=0)", 1, 9, 4, 0, 0, 0, 4},
    {"(x - y) - max(x - y, axis=0) * max(abs(x), axis=0)", 1, 9, 8, 0, 0, 4, 0},
    {"argmax(f64(x), axis=0), max(f64(x), axis=0)", 2, 10, 4, 0, 0, 0, 16},
    {"f16(x * y), max(f16(x * y), axis=0), any(x < y, axis=0)", 3, 10, REST, 0, 0, 0, 0},
    {"x * 2, x - max(x * 2, axis=0)", 2, 10, 4, 0, 0, 8, 0},
    {"f16(x) / sum(f16(x), axis=0)", 1, 10, 4, 0, 0, 2, 0},
    {"bf16(x) - mean(bf16(x), axis=0)", 1, 10, 4, 0, 0, 2, 0},
    {"f64(x) / sum(f64(x) * f64(x), axis=0)", 1, 9, 4, 0, 0, 8, 0},
    {"i16(x * 6000) - sum(i16(abs(x) * 6000), axis=0, keepdims=True)", 1, 10, 4, 0, 0, 8, 0}, /* of a chunk in 32 bits, of the row in 64 */
    {"x - roll(x, 2, axis=0) * max(x * y, axis=0)", 1, 10, REST, 0, 0, 0, 0},
    {COSTLY " - sum(" COSTLY ", axis=0)", 1, 6, 4, 0, 0, 4, 0}, /* too long to be written out for each element of a thread */
    {"(" LONGER ") / sum(" LONGER ", axis=0), max(" LONGER ", axis=0)", 2, 10, 8, 0, 0, 4, 4},
};

static const int64_t lengths[] = {1,   2,   3,   15,  16,  17,  31,  32,  33,   63,   64,   65,   127,  128,  129,  255,  256,
                                  257, 300, 511, 512, 513, 700, 1023, 1024, 1025, 2048, 2049, 3000, 4096, 5000, 8191, 8192, 8193};
enum { LENGTHS = sizeof lengths / sizeof *lengths, SWEEPS = sizeof sweeps / sizeof *sweeps, SETTINGS = 3 };

/* The longest row of this kind that one kernel has; 0 on a CPU. */
static int64_t longest(krf_context *context) { return !device_of(context).is_cuda ? 0 : has_clusters(context) ? 8192 : 1024; }

/* Lengths at the borders of threads, of what each has and of chunks; rows that fill no block, or several. */
static void test_lengths(void **unused) {
    static const char *const settings[SETTINGS] = {"as usual", "literal=0", "whole=0"};
    static const int64_t columns[] = {33, 7, 129, 31, 64}, fewer[] = {9, 2, 33, 7};
    krf_context *unfused = open_context("off"), *contexts[SETTINGS] = {NULL, open_context("literal=0"), open_context("whole=0")};
    (void)unused;
    for (size_t l = 0; l < LENGTHS; l++) {
        const int64_t n = lengths[l], side = n > 600 ? fewer[l % 4] : columns[l % 5];
        contexts[0] = open_context(NULL); /* kernels know the first few lengths that a context has */
        const bool one = n <= longest(contexts[0]);
        for (size_t t = 0; t < SWEEPS; t++) {
            const sweep *s = &sweeps[t];
            const bool known = one && n > 1 && s->element != REST, once = n > 8192 && strncmp(s->text, "var(", 4) == 0; /* a reduction then, of sums in f64 */
            const example e = {s->text, s->outputs, n == 1 || s->element == REST ? REST : one || once ? 1 : SEVERAL, known ? "row_col" : NULL, 2, {n, side},
                               known ? s->element * n * side + s->length * n + s->column * side : REST, known ? s->stored * n * side + s->result * side : REST, NULL};
            const size_t often = (size_t)(n > 1024 ? s->often / 3 + 1 : s->often); /* fewer kernels serve the long ones */
            if (l % often == t % often) {
                check((n & (n - 1)) == 0 ? SETTINGS : SETTINGS - 1, contexts, settings, unfused, &e); /* others have no whole tiles */
            }
        }
        krf_context_destroy(contexts[0]);
    }
    for (int c = 1; c < SETTINGS; c++) {
        krf_context_destroy(contexts[c]);
    }
    krf_context_destroy(unfused);
}

/* Accumulators of two fields; and of the first positive number, in the tree's order, it is seen which operand stands on which side. */
static void test_defined(void **unused) {
    static const char *const settings[] = {"as usual", "literal=0"};
    static const int64_t few[] = {12, 40, 256, 300, 1024, 1500, 2500, 5000};
    krf_context *contexts[3] = {open_context(NULL), open_context("literal=0"), open_context("off")};
    krf_reduction *firsts[3] = {NULL};
    const int64_t most = longest(contexts[0]);
    (void)unused;
    for (int c = 0; c < 3; c++) {
        assert_int_equal(krf_reduction_define(contexts[c], "first", "F x", "F found, F value", "0, 0", "found = x > 0; value = x > 0 ? x : 0;",
                                              "found = a_found + b_found > 0; value = a_found > 0 ? a_value : b_value;", NULL, NULL, &firsts[c]), KRF_OK);
    }
    for (size_t l = 0; l < sizeof few / sizeof *few; l++) {
        const bool one = few[l] <= most;
        const int64_t elements = few[l] * 9;
        const example plain = {"x - first(x, axis=0, result=1)", 1, one ? 1 : SEVERAL, one ? "row_col" : NULL, 2, {few[l], 9},
                               one ? 4 * elements : REST, one ? 4 * elements : REST, NULL};
        example wide = plain;
        wide.of = "f64(x)";
        wide.reads = wide.writes = one ? 8 * elements : REST;
        check(2, contexts, settings, contexts[2], &plain);
        check(2, contexts, settings, contexts[2], &wide);
    }
    for (int c = 0; c < 3; c++) {
        krf_reduction_release(firsts[c]);
        krf_context_destroy(contexts[c]);
    }
}

/* The settings do what they say: how long rows may be, and which lengths stand in a kernel's text. */
static void test_settings(void **unused) {
    static const char *const settings[] = {"columns=0", "columns=100", "literal=0", "whole=0", "as usual"};
    static const int64_t lengths_of_a_class[] = {257, 300, 400, 500, 511, 510, 300};
    krf_context *contexts[] = {open_context("columns=0"), open_context("columns=100"), open_context("literal=0"), open_context("whole=0"), open_context(NULL)};
    krf_context *unfused = open_context("off");
    const bool gpu = device_of(unfused).is_cuda;
    (void)unused;
    const example none = {SOFTMAX("0"), 1, SEVERAL, NULL, 2, {90, 33}, REST, REST, NULL}, some = {SOFTMAX("0"), 1, 1, "row_col", 2, {100, 33}, 13200, 13200, NULL},
                  more = {SOFTMAX("0"), 1, SEVERAL, NULL, 2, {101, 33}, REST, REST, NULL};
    check(1, contexts, settings, unfused, &none);
    check(1, contexts + 1, settings + 1, unfused, &some);
    check(1, contexts + 1, settings + 1, unfused, &more);
    char names[sizeof lengths_of_a_class / sizeof *lengths_of_a_class][32], general[32] = "";
    for (size_t l = 0; gpu && l < sizeof names / sizeof *names; l++) {
        const example e = {SOFTMAX("0"), 1, 1, "row_col", 2, {lengths_of_a_class[l], 33}, REST, REST, NULL};
        result of_all = {0}, r = {0};
        check(3, contexts + 2, settings + 2, unfused, &e);
        run(contexts[2], &e, &of_all);
        run(contexts[4], &e, &r);
        assert_true(l == 0 || strcmp(of_all.name, general) == 0); /* one kernel for all of them */
        memcpy(general, of_all.name, sizeof general);
        memcpy(names[l], r.name, sizeof r.name);
        for (size_t k = 0; k < l; k++) {
            const bool same = lengths_of_a_class[k] == lengths_of_a_class[l] || (k > 3 && l > 3 && l != 6);
            assert_int_equal(strcmp(names[k], names[l]) == 0, same);
        }
        assert_int_equal(strcmp(r.name, general) == 0, l == 4 || l == 5);
        free_result(&of_all);
        free_result(&r);
    }
    const example whole = {SOFTMAX("0"), 1, 1, "row_col", 2, {2048, 33}, REST, REST, NULL};
    result with = {0}, without = {0};
    run(contexts[4], &whole, &with);
    run(contexts[3], &whole, &without);
    assert_int_equal(strcmp(with.name, without.name) != 0, gpu);
    assert_int_equal(differing(&with, &without), -1);
    free_result(&with);
    free_result(&without);
    for (size_t c = 0; c < sizeof contexts / sizeof *contexts; c++) {
        krf_context_destroy(contexts[c]);
    }
    krf_context_destroy(unfused);
}

/* Rows whose elements are whole half lines of memory apart, and others: blocks have other numbers of them side by side, and so other kernels. */
static void test_widths(void **unused) {
    static const char *const settings[] = {"as usual"};
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    const bool gpu = device_of(unfused).is_cuda;
    char names[2][32];
    (void)unused;
    for (int64_t k = 0; k < 2; k++) {
        const example e = {SOFTMAX("0"), 1, 1, "row_col", 2, {1024, 64 + k}, 4096 * (64 + k), 4096 * (64 + k), NULL};
        result r = {0};
        check(1, &fused, settings, unfused, &e);
        run(fused, &e, &r);
        memcpy(names[k], r.name, sizeof names[k]);
        free_result(&r);
    }
    assert_true(!gpu || strcmp(names[0], names[1]) != 0);
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* Reductions alone over few elements of columns are done as such rows are: few kernels for all lengths, and the bits of other schedules. */
static void test_short_columns(void **unused) {
    static const char *const texts[] = {"sum(x, axis=0)", "x * 2, max(x, axis=0)", "argmax(f64(x), axis=0), mean(i16(x), axis=0)", "any(x > 4, axis=0)"};
    static const char *const settings[] = {"as usual"};
    static const int64_t few[] = {7, 8, 15, 16, 17, 31, 32, 33, 50, 64, 65, 100, 127, 128, 129, 200};
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    const bool gpu = device_of(unfused).is_cuda;
    (void)unused;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        char names[sizeof few / sizeof *few][32];
        int distinct = 0;
        for (size_t l = 0; l < sizeof few / sizeof *few; l++) {
            const example e = {texts[t], t == 1 || t == 2 ? 2 : 1, REST, !gpu || t == 2 ? NULL : few[l] <= (t == 3 ? 64 : 128) ? "row_col" : "reduce_col", 2, {few[l], 70}, REST, REST, NULL};
            result r = {0};
            bool seen = false;
            check(1, &fused, settings, unfused, &e);
            run(fused, &e, &r);
            for (size_t k = 0; k < l; k++) {
                seen |= strcmp(names[k], r.name) == 0;
            }
            distinct += !seen;
            memcpy(names[l], r.name, sizeof names[l]);
            free_result(&r);
        }
        assert_true(distinct <= 5 || t == 2);
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* On a CPU reductions over at most 32 elements of many columns are written out, where neighbouring columns are neighbours in memory. */
static void test_many_columns(void **unused) {
    static const struct {
        example e;
        bool out; /* written out */
    } cases[] = {
        {{"sum(x, axis=0)", 1, REST, NULL, 2, {21, 16384}, REST, REST, NULL}, true},
        {{"max(x, axis=0), min(y, axis=0)", 2, REST, NULL, 2, {32, 16384}, REST, REST, NULL}, true},
        {{"prod(x, axis=1), mean(x, axis=1)", 2, REST, NULL, 3, {3, 7, 5463}, REST, REST, NULL}, true},
        {{"any(x > 4, axis=1)", 1, REST, NULL, 3, {257, 3, 64}, REST, REST, NULL}, true},
        {{"sum(abs(x) * w, axis=0) + w", 1, REST, NULL, 2, {5, 16387}, REST, REST, NULL}, true},
        {{"sum(x, axis=0)", 1, REST, NULL, 2, {19, 16391}, REST, REST, "f16(x)"}, true},
        {{"mean(x, axis=0), max(x, axis=0)", 2, REST, NULL, 2, {30, 16384}, REST, REST, "bf16(x)"}, true},
        {{"sum(x, axis=0), all(x > -5, axis=0)", 2, REST, NULL, 2, {31, 16384}, REST, REST, "i8(x * 20)"}, true},
        {{"sum(x, axis=(0, 1))", 1, REST, NULL, 3, {5, 6, 16384}, REST, REST, "f64(x)"}, true},
        {{"sum(x, axis=0)", 1, REST, NULL, 2, {33, 16384}, REST, REST, NULL}, false},
        {{"sum(x, axis=0)", 1, REST, NULL, 2, {16, 16383}, REST, REST, NULL}, false}, /* few results: a kernel serves other lengths too */
        {{"sum(x, axis=1)", 1, REST, NULL, 3, {300, 12, 63}, REST, REST, NULL}, false},
        {{"sum(x, axis=1)", 1, REST, NULL, 2, {16384, 21}, REST, REST, NULL}, false},
        {{"sum(x.T, axis=0)", 1, REST, NULL, 2, {16384, 21}, REST, REST, NULL}, false},
        {{"sum(abs(x[:, ::2]), axis=0)", 1, REST, NULL, 2, {21, 32768}, REST, REST, NULL}, false},
        {{"sum(x[:, j], axis=0)", 1, REST, NULL, 2, {10, 16384}, REST, REST, NULL}, false},
        {{"x - max(x, axis=0)", 1, REST, NULL, 2, {9, 16384}, REST, REST, NULL}, false}, /* something larger is made of them */
    };
    static const char *const settings[] = {"as usual"};
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    const bool gpu = device_of(unfused).is_cuda;
    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        result r = {0};
        check(1, &fused, settings, unfused, &cases[c].e);
        run(fused, &cases[c].e, &r);
        if (!gpu && (strcmp(r.schedule, "map") == 0) != cases[c].out) {
            fail_msg("%s of [%lld, %lld]: %s", cases[c].e.text, (long long)cases[c].e.shape[0], (long long)cases[c].e.shape[1], r.schedule);
        }
        free_result(&r);
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
}

/* Devices before 9.0: what the simulated one then is. */
static void test_older_devices(void **unused) {
    static const char *const settings[] = {"of an older device"};
    const example one = {SOFTMAX("0"), 1, 1, "row_col", 2, {1024, 9}, 36864, 36864, NULL}, several = {SOFTMAX("0"), 1, SEVERAL, NULL, 2, {1025, 9}, REST, REST, NULL};
    (void)unused;
    setenv("FAKECUDA_ARCH", "89", 1);
    krf_context *fused = open_context(NULL), *unfused = open_context("off");
    if (getenv("FAKECUDA_TMPDIR") != NULL && device_of(fused).is_cuda) { /* the simulated one */
        assert_false(has_clusters(fused));
    }
    if (!has_clusters(fused)) {
        check(1, &fused, settings, unfused, &one);
        check(1, &fused, settings, unfused, &several);
    }
    krf_context_destroy(fused);
    krf_context_destroy(unfused);
    unsetenv("FAKECUDA_ARCH");
}

/* ---- values ---- */

/* Softmax over an axis of n elements: `after` elements apart, starting at x(from). */
static double share_of(int64_t from, int64_t n, int64_t after, int64_t at) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        largest = fmax(largest, element(from + i * after));
    }
    for (int64_t i = 0; i < n; i++) {
        sum += exp(element(from + i * after) - largest);
    }
    return exp(element(from + at * after) - largest) / sum;
}

static double normed(int64_t from, int64_t n, int64_t after, int64_t at) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        mean += element(from + i * after) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        squares += (element(from + i * after) - mean) * (element(from + i * after) - mean) / (double)n;
    }
    return (element(from + at * after) - mean) / sqrt(squares + 1e-5);
}

static void test_values(void **unused) {
    const example softmaxes[] = {{SOFTMAX("0"), 1, REST, NULL, 2, {700, 33}, REST, REST, NULL}, {SOFTMAX("0"), 1, REST, NULL, 2, {2500, 5}, REST, REST, NULL}};
    const example norm = {STANDARDISED("1") " * c[:, None, None] + w", 1, REST, NULL, 4, {3, 96, 5, 7}, REST, REST, NULL};
    krf_context *context = open_context(NULL);
    (void)unused;
    for (size_t t = 0; t < 2; t++) {
        const int64_t n = softmaxes[t].shape[0], side = softmaxes[t].shape[1];
        result r = {0};
        run(context, &softmaxes[t], &r);
        assert_int_equal(r.bytes[0], 4 * n * side);
        for (int64_t i = 0; i < n * side; i += t == 0 ? 1 : 7) {
            const double want = share_of(i % side, n, side, i / side);
            assert_true(fabs((double)((float *)r.data[0])[i] - want) <= 1e-6 * want);
        }
        free_result(&r);
    }
    result r = {0};
    run(context, &norm, &r);
    assert_int_equal(r.bytes[0], 4 * 3 * 96 * 35);
    for (int64_t i = 0; i < 3 * 96 * 35; i++) {
        const int64_t channel = i / 35 % 96;
        const double want = normed(i - channel * 35, 96, 35, channel) * element(channel + 21) + element(i % 7 + 13);
        assert_true(fabs((double)((float *)r.data[0])[i] - want) <= 1e-5 * (fabs(want) + 1));
    }
    free_result(&r);
    krf_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_lengths),       cmocka_unit_test(test_defined),
                                       cmocka_unit_test(test_settings), cmocka_unit_test(test_widths),      cmocka_unit_test(test_short_columns),
                                       cmocka_unit_test(test_many_columns),
                                       cmocka_unit_test(test_older_devices), cmocka_unit_test(test_values)};
    setenv("KRF_EXACT_MEMORY", "1", 0); /* what lies behind an array is nobody's: the simulated GPU sees who looks there */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
