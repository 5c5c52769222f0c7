/* Rows of halves that are computed in f32, of which threads of a GPU keep a costly value from one round to the next in registers of its own, "w_in0" (codegen/cuda_keep.c): the bits of the same program whose rounds are kernels of their
 * own, and what plain loops in f64 give; lengths that stay in registers, odd ones, and longer ones. */
#include "ops/common.h"

enum { MOST_COLUMNS = 40001, MOST_RESULTS = 2, ROWS = 3 };

static krf_context *fused, *alone; /* of KRF_TEST_DEVICE; alone: a kernel has one round */

static double x_at[ROWS * MOST_COLUMNS], y_at[ROWS * MOST_COLUMNS], bias[MOST_COLUMNS], wanted[ROWS * MOST_COLUMNS];
static const double scale = 0.75;

typedef void row_formula(const double *x, const double *y, double *out, int64_t n);

static double biased(const double *x, int64_t i) { return x[i] * scale + bias[i]; }

static void softmax_of(double *out, int64_t n) {
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, out[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        sum += out[i] = exp(out[i] - most);
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] /= sum;
    }
}

static void softmax(const double *x, const double *y, double *out, int64_t n) {
    (void)y;
    for (int64_t i = 0; i < n; i++) {
        out[i] = biased(x, i);
    }
    softmax_of(out, n);
}

static void masked(const double *x, const double *y, double *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = y[i] > 0 ? biased(x, i) : -1e30;
    }
    softmax_of(out, n);
}

static void of_two(const double *x, const double *y, double *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = x[i] + y[i];
    }
    softmax_of(out, n);
}

static void exponentials(const double *x, const double *y, double *out, int64_t n) {
    double sum = 0;
    (void)y;
    for (int64_t i = 0; i < n; i++) {
        sum += out[i] = exp(x[i] * 0.5);
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] /= sum;
    }
}

static void with_itself(const double *x, const double *y, double *out, int64_t n) {
    exponentials(x, y, out, n);
    for (int64_t i = 0; i < n; i++) {
        out[i] += x[i];
    }
}

static void three_rounds(const double *x, const double *y, double *out, int64_t n) {
    double mean = 0, square = 0;
    (void)y;
    for (int64_t i = 0; i < n; i++) {
        mean += (out[i] = tanh(x[i] * 0.5)) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        square += (out[i] - mean) * (out[i] - mean) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = (out[i] - mean) / sqrt(square + 1e-5);
    }
}

static void gradient(const double *x, const double *y, double *out, int64_t n) {
    double dot = 0;
    softmax(x, y, out, n);
    for (int64_t i = 0; i < n; i++) {
        dot += out[i] * y[i];
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = scale * out[i] * (y[i] - dot);
    }
}

#define OF(z) z "\ne = exp(z - max(z, axis=1, keepdims=True))\nreturn "
#define BIASED "z = f32(x) * s + b[None]"

static const struct {
    const char *text; /* H: the halves' dtype */
    row_formula *formula;
    bool halves; /* results are */
    bool kept;   /* where rows stay in registers */
} examples[] = {
    {OF(BIASED) "e / sum(e, axis=1, keepdims=True)", softmax, false, true},
    {OF(BIASED) "H(e / sum(e, axis=1, keepdims=True))", softmax, true, true},
    {OF("z = where(y > 0, f32(x) * s + b[None], -1e30)") "e / sum(e, axis=1, keepdims=True)", masked, false, true},
    {OF("z = f32(x) + f32(y)") "H(e / sum(e, axis=1, keepdims=True))", of_two, true, true},
    {"e = exp(f32(x) * 0.5)\nreturn e / sum(e, axis=1, keepdims=True)", exponentials, false, true},
    {"e = exp(f32(x) * 0.5)\nreturn e / sum(e, axis=1, keepdims=True) + f32(x)", with_itself, false, false},
    {"t = tanh(f32(x) * 0.5)\nc = t - mean(t, axis=1, keepdims=True)\nreturn c / sqrt(mean(c * c, axis=1, keepdims=True) + 1e-5)", three_rounds, false, true},
    {"t = tanh(f32(x) * 0.5)\nc = t - mean(t, axis=1, keepdims=True)\nreturn H(c / sqrt(mean(c * c, axis=1, keepdims=True) + 1e-5))", three_rounds, true, true},
    {OF("v = f32(x)\nz = v * s + b[None]") "grad(sum(e / sum(e, axis=1, keepdims=True) * f32(y)), v)", gradient, false, false},
};

static krf_array *array_of(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const double *numbers) {
    const int64_t size = rank == 1 ? shape[0] : shape[0] * shape[1];
    char *data = malloc((size_t)size * 8);
    krf_array *array = NULL;
    assert_non_null(data);
    for (int64_t i = 0; i < size; i++) {
        put(data, i, convert((value){.dtype = KRF_F64, .f = numbers[i]}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, rank, shape, data, &array), KRF_OK);
    free(data);
    return array;
}

static void write_text(char *text, const char *from, krf_dtype dtype) {
    for (const char *p = from; *p != 0; p++) {
        text += *p == 'H' ? sprintf(text, "%s", krf_dtype_name(dtype)) : sprintf(text, "%c", *p);
    }
}

/* The results' bits; NULL and a complaint where they are none of that shape. */
static char *evaluate(krf_context *context, const char *text, krf_dtype dtype, krf_dtype result, int64_t n, bool *kept, int *kernels) {
    const int64_t shape[] = {ROWS, n};
    krf_array *arrays[] = {array_of(context, dtype, 2, shape, x_at), array_of(context, dtype, 2, shape, y_at), array_of(context, KRF_F32, 1, &n, bias)}, *out = NULL;
    const krf_binding bindings[] = {krf_bind_array("x", arrays[0]), krf_bind_array("y", arrays[1]), krf_bind_array("b", arrays[2]), krf_bind_real("s", scale)};
    krf_graph *g = krf_graph_create(context);
    krf_plan *plan = NULL;
    krf_expr e;
    if (krf_parse(g, text, bindings, 4, &e) != KRF_OK || krf_compile(g, 1, &e, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, &out) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    *kernels = krf_plan_kernels(plan);
    *kept = false;
    for (int i = 0; i < *kernels; i++) {
        krf_kernel_info info = {.size = sizeof info};
        assert_int_equal(krf_plan_kernel(plan, i, &info), KRF_OK);
        *kept |= info.source != NULL && strstr(info.source, "w_in") != NULL;
    }
    char *data = to_host(out, result, 2, shape, text);
    krf_array_release(out);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    for (int i = 0; i < 3; i++) {
        krf_array_release(arrays[i]);
    }
    return data;
}

static void check(size_t k, krf_dtype dtype, int64_t n) {
    const krf_dtype result = examples[k].halves ? dtype : KRF_F32;
    const double unit = result == KRF_F32 ? 2e-5 : result == KRF_F16 ? 1.2e-3 : 9e-3;
    char text[400], a[64], b[64];
    bool kept, kept_alone;
    int kernels, kernels_alone;
    uint64_t seed = (uint64_t)n;
    for (int64_t i = 0; i < ROWS * n; i++) {
        x_at[i] = convert((value){.dtype = KRF_F64, .f = random_unit(&seed) * 8 - 4}, dtype).f;
        y_at[i] = convert((value){.dtype = KRF_F64, .f = random_unit(&seed) * 4 - 2}, dtype).f;
        bias[i % n] = convert((value){.dtype = KRF_F64, .f = random_unit(&seed) * 2}, KRF_F32).f;
    }
    write_text(text, examples[k].text, dtype);
    char *got = evaluate(fused, text, dtype, result, n, &kept, &kernels), *want = evaluate(alone, text, dtype, result, n, &kept_alone, &kernels_alone);
    if (kept_alone || kernels_alone < 2) {
        COMPLAIN("%s: %d kernels without rounds", text, kernels_alone);
    }
    if (on_gpu() && examples[k].kept != kept && n >= 300 && n <= 1024) {
        COMPLAIN("%s, %s [%" PRId64 "]: %s", text, krf_dtype_name(dtype), n, kept ? "kept" : "not kept");
    }
    for (int64_t row = 0; row < ROWS; row++) {
        examples[k].formula(x_at + row * n, y_at + row * n, wanted + row * n, n);
    }
    for (int64_t i = 0; i < ROWS * n && got != NULL && want != NULL; i++) {
        const value there = get(got, result, i), other = get(want, result, i);
        if (!same(there, other)) {
            COMPLAIN("%s, %s [%" PRId64 "]: element %" PRId64 " is %s, and %s in kernels of their own", text, krf_dtype_name(dtype), n, i, show(there, a, 64), show(other, b, 64));
            break;
        }
        if (!(fabs(there.f - wanted[i]) <= unit * fabs(wanted[i]) + (k >= 5 ? unit * 4 : unit / (double)n))) {
            COMPLAIN("%s, %s [%" PRId64 "]: element %" PRId64 " is %s, not %.9g", text, krf_dtype_name(dtype), n, i, show(there, a, 64), wanted[i]);
            break;
        }
    }
    free(got);
    free(want);
}

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {300, 301, 384, 512, 640, 777, 1000, 1023, 1024, 257, 1032, 2000, 2001, 5000, 40000, 40001};
    int64_t number = 0;
    (void)unused;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            const bool some = (i + k) % 3 == 0 || lengths[i] == 512 || lengths[i] == 1024 || (lengths[i] > 1024 && k < 3 && i % 2 == k % 2);
            if (some && in_shard(number++)) {
                check(k, (i / 3 + k) % 2 == 0 ? KRF_BF16 : KRF_F16, lengths[i]);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static krf_context *open_context(const char *fusion) {
    krf_context_options options = krf_context_options_default();
    options.device = asked_device();
    options.fusion = fusion;
    options.blocking_compile = true;
    return open_or_skip(&options);
}

int main(void) {
    fused = open_context(NULL);
    alone = open_context("row=0");
    const int failed = run_whole(TESTS(cmocka_unit_test(test_lengths)));
    krf_context_destroy(fused);
    krf_context_destroy(alone);
    return failed;
}
