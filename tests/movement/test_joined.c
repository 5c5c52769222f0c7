/* What joins arrays: stored as parts by one kernel (pass/lower_joined.c), and views of it that show one part (pass/lower_known.c). Random expressions and takes against plain loops, a table of expressions against
 * an interpreter without fusion, under several limits; how many kernels there are and what they move; given outputs, with strides and in place; other values of the same plan. */
#include "ops/common.h"

static runs all;
static krf_context *reference; /* an interpreter that fuses nothing */
static krf_context *unfused;   /* the device without fusion, for functions whose last bits are its own */

static krf_context *open_other(const char *device, const char *fusion) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    options.device = device;
    options.fusion = fusion;
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.threads = 1;
    options.cache = KRF_CACHE_OFF;
    if (krf_context_create(&options, &context) != KRF_OK) {
        fail_msg("%s, %s: %s", device, fusion, krf_error_message());
    }
    return context;
}

static krf_array *array_of(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, int seed) {
    int64_t size = 1;
    for (int i = 0; i < rank; i++) {
        size *= shape[i];
    }
    char *data = malloc((size_t)size * 16 + 1);
    krf_array *a = NULL;
    assert_non_null(data);
    for (int64_t i = 0; i < size; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = (i * 7 + seed * 5 + i / 16) % 23 - (krf_dtype_size(dtype) > 1 ? 11 : 0)}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, rank, shape, data, &a), KRF_OK);
    free(data);
    return a;
}

/* Compilers take a while: they have a part of what the interpreter has. */
static bool left_out(const run *r, int64_t item, int parts) { return passed_over(r) || (r->compiled && item % parts != 0); }

/* What array_of wrote. */
static float number_of(int64_t i, int seed) { return (float)((i * 7 + seed * 5 + i / 16) % 23 - 11); }

/* ---- named inputs ---- */

static const struct {
    const char *name;
    krf_dtype dtype;
    int rank;
    int64_t shape[KRF_MAX_RANK];
} inputs[] = {
    {"x", KRF_F32, 2, {4, 64}},  {"y", KRF_F32, 2, {4, 64}},        {"h", KRF_F32, 2, {4, 32}},          {"k", KRF_F32, 2, {4, 32}},
    {"r", KRF_F32, 1, {4}},      {"c", KRF_F32, 1, {32}},           {"u", KRF_F32, 1, {48}},             {"v", KRF_F32, 1, {48}},
    {"w", KRF_F32, 1, {128}},    {"q", KRF_F32, 4, {2, 3, 4, 32}},  {"z", KRF_F32, 2, {4, 0}},           {"s", KRF_F32, 0, {0}},
    {"n", KRF_F32, 2, {4, 7}},   {"i", KRF_I64, 2, {4, 64}},        {"b", KRF_U8, 2, {4, 64}},           {"e", KRF_F32, 8, {1, 2, 1, 2, 1, 2, 1, 32}},
    {"p", KRF_F32, 2, {6, 96}},  {"o", KRF_C64, 2, {4, 32}},        {"f", KRF_F32, 2, {4, 128}},         {"j", KRF_BF16, 2, {4, 64}},
};
enum { INPUTS = sizeof inputs / sizeof *inputs, MOST_OUTPUTS = 4 };

typedef struct bound {
    krf_array *arrays[INPUTS];
    krf_binding bindings[INPUTS];
} bound;

static void bind_all(krf_context *context, bound *b) {
    for (int k = 0; k < INPUTS; k++) {
        b->arrays[k] = array_of(context, inputs[k].dtype, inputs[k].rank, inputs[k].shape, k);
        b->bindings[k] = krf_bind_array(inputs[k].name, b->arrays[k]);
    }
}

static void release(bound *b) {
    for (int k = 0; k < INPUTS; k++) {
        krf_array_release(b->arrays[k]);
    }
}

typedef struct results {
    int n;
    krf_dtype dtypes[MOST_OUTPUTS];
    int64_t sizes[MOST_OUTPUTS];
    char *data[MOST_OUTPUTS];
} results;

static void free_results(results *r) {
    for (int k = 0; k < r->n; k++) {
        free(r->data[k]);
    }
}

static void evaluate(krf_context *context, const bound *b, const char *text, results *out) {
    krf_graph *g = krf_graph_create(context);
    krf_expr xs[MOST_OUTPUTS];
    krf_array *arrays[MOST_OUTPUTS] = {NULL};
    krf_status status = krf_parse_many(g, text, b->bindings, INPUTS, MOST_OUTPUTS, xs, &out->n);
    status = status == KRF_OK ? krf_eval_many(out->n, xs, arrays) : status;
    if (status != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    for (int k = 0; k < out->n; k++) {
        out->dtypes[k] = krf_array_dtype(arrays[k]);
        out->sizes[k] = krf_array_size(arrays[k]);
        const size_t bytes = (size_t)out->sizes[k] * krf_dtype_size(out->dtypes[k]);
        out->data[k] = malloc(bytes + 1);
        assert_non_null(out->data[k]);
        assert_int_equal(krf_array_to_host(arrays[k], out->data[k], bytes), KRF_OK);
        krf_array_release(arrays[k]);
    }
    krf_graph_destroy(g);
}

static void compare(const char *text, const char *label, const results *got, const results *want) {
    char a[64], b[64];
    assert_int_equal(got->n, want->n);
    for (int k = 0; k < got->n; k++) {
        bool alike = got->dtypes[k] == want->dtypes[k] && got->sizes[k] == want->sizes[k];
        if (!alike) {
            COMPLAIN("%s, %s: result %d has another dtype or size", text, label, k);
        }
        for (int64_t i = 0; i < got->sizes[k] && alike; i++) {
            const value found = get(got->data[k], got->dtypes[k], i), expected = get(want->data[k], want->dtypes[k], i);
            alike = same(found, expected);
            if (!alike) {
                COMPLAIN("%s, %s: element %" PRId64 " of result %d is %s, not %s", text, label, i, k, show(found, a, 64), show(expected, b, 64));
            }
        }
    }
}

/* ---- the table ---- */

#define LEFT "x[:, :32]"
#define RIGHT "x[:, 32:]"
#define ROTARY "concatenate((" LEFT " * c - " RIGHT " * h, " RIGHT " * c + " LEFT " * h), axis=1)"
#define ROTARY_SWAPPED "x * y + concatenate((-" RIGHT ", " LEFT "), axis=1) * y[0]"
#define ROTARY_PAIRS "reshape(stack((q[..., ::2] * c[:16] - q[..., 1::2] * u[:16], q[..., 1::2] * c[:16] + q[..., ::2] * u[:16]), axis=-1), (2, 3, 4, 32))"
#define ROTARY_HEADS "concatenate((q[..., :16] * c[:16] - q[..., 16:] * c[16:], q[..., 16:] * c[:16] + q[..., :16] * c[16:]), axis=-1)"
#define SINES "concatenate((sin(r[:, None] * c), cos(r[:, None] * c)), axis=-1)"
#define GATED "concatenate((y[:, :32] * " RIGHT " * (1 + " LEFT " * (1 - 1 / (1 + exp(-" LEFT ")))) / (1 + exp(-" LEFT ")), y[:, :32] * " LEFT " / (1 + exp(-" LEFT "))), axis=1)"

typedef struct example {
    const char *text;
    bool own, limited; /* its functions are the device's own; small enough for every limit on a device */
    int kernels;       /* 0: not looked at; for a GPU: */
    int64_t reads, writes; /* elements of the first kernel, where there is one; reads -1: not looked at */
    bool gathers;
    int on_cpu; /* kernels there, where they are others, or are not those that `reads` tells of; 0: the same */
    int parts;  /* of the only output; 0: not looked at */
} example;

/* gathers: by places that no strides tell. */
static const example examples[] = {
    {ROTARY, false, true, 1, 4 * 64 + 32 + 128, 256, false, 0, 0},
    {ROTARY_SWAPPED, false, false, 1, 256 + 256, 256, false, 0, 0},
    {ROTARY_HEADS, false, false, 1, 768 + 32, 768, false, 0, 0},
    {ROTARY_PAIRS, false, false, 0, 0, 0, true, 0, 0},
    {SINES, true, false, 1, 4 + 32, 256, false, 0, 0},
    {GATED, true, false, 1, 256 + 128, 256, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1)", false, true, 1, 256, 256, false, 0, 2},
    {"concatenate((h * 2, k + 1), axis=0)", false, false, 1, 256, 256, false, 0, 0},
    {"concatenate((h * 2, k + 1, h - k), axis=1)", false, true, 1, 256, 384, false, 0, 0},
    {"concatenate((h * 2, k + 1, h - k, k - h), axis=1)", false, true, 1, 256, 512, false, 0, 4},
    {"concatenate((h * 2, k + 1, h - k, k - h, h * k), axis=1)", false, false, 1, -1, 640, true, 0, 0}, /* too many parts */
    {"concatenate((q * 2, q[::-1]), axis=1)", false, false, 1, 768, 1536, false, 0, 0},
    {"concatenate((q + 1, q * q, q), axis=2)", false, false, 1, 768, 2304, false, 0, 0},
    {"stack((h * 2, k + 1), axis=0)", false, true, 1, 256, 256, false, 0, 0},
    {"stack((h * 2, k + 1), axis=1)", false, false, 1, 256, 256, false, 0, 0},
    {"stack((h * 2, k + 1), axis=2)", false, false, 1, 256, 256, false, 0, 0}, /* the parts of a part of 1 element do not lie together, and need no gather */
    {"stack((h * 2, k, h + 1, h * c), axis=1)", false, false, 1, -1, 512, false, 0, 0},
    {"concatenate((x, y), axis=1)", false, false, 1, 512, 512, false, 1, 0},
    {"stack((b, b[::-1]), axis=0)", false, false, 1, 256, 512, false, 1, 0},
    {"x * y + f[:, 64:] * concatenate((h, k), axis=1) - f[:, :64]", false, false, 1, 512 + 512 + 256, 256, false, 0, 0},
    {"concatenate((r[:, None] + c, r[:, None] * h), axis=1)", false, false, 1, 4 + 32 + 128, 256, false, 0, 0},
    {"concatenate((broadcast_to(r[:, None], (4, 32)), broadcast_to(c, (4, 32)) * s), axis=1)", false, false, 1, 4 + 32 + 1, 256, false, 0, 0},
    {"concatenate((zeros((4, 32)), h * 2), axis=1)", false, false, 1, -1, -1, false, 0, 0},
    {"concatenate((u * 2, concatenate((u, v)) + 1, v - 1))", false, false, 1, -1, 192, true, 0, 0},
    {"concatenate((c * 2, w[:64] + 1, c - 1))", false, true, 1, 32 + 64, 128, false, 0, 0}, /* n, 2 n, n */
    {"concatenate((c * 2, c + 1, w[:64] - 1))", false, false, 1, 32 + 64, 128, false, 0, 4}, /* n, n, 2 n */
    {"concatenate((n * 2, h + 1), axis=1)", false, false, 1, -1, 156, true, 0, 0}, /* 7 and 32 */
    {"concatenate((u[:12] * 2, v[:36] + 1))", false, false, 1, -1, 48, true, 0, 0}, /* 12 of 4 parts do not lie together */
    {"concatenate((u[:16] * 2, v[:32] + 1))", false, false, 1, -1, 48, false, 0, 0},
    {"concatenate((u[:15] * 2, v[:15] + 1))", false, false, 1, -1, 30, true, 0, 0},
    {"concatenate((n * 2, n + 1), axis=1)", false, false, 1, -1, 56, true, 0, 0},
    {"concatenate((n * 2, n + 1), axis=0)", false, false, 1, 28, 56, false, 0, 0},
    {ROTARY ", " ROTARY, false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1), concatenate((h * 2, k + 1), axis=1) - max(concatenate((h * 2, k + 1), axis=1), axis=1, keepdims=True)", false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1), take(concatenate((h * 2, k + 1), axis=1), i[0, :32], axis=0)", false, false, 2, -1, 256, true, 0, 0}, /* read from where it is stored */
    {"concatenate((h * 2, k + 1), axis=1), concatenate((h * 2, k + 1), axis=1) * 3", false, true, 1, 256, 512, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1), concatenate((h * 2, k + 1), axis=1) * 3, sum(concatenate((h * 2, k + 1), axis=1) * 3, axis=1)", false, true, 0, 0, 0, true, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1) + x, concatenate((h * 2, k + 1), axis=1) - y", false, false, 1, 128 + 128 + 512, 512, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1), sum(concatenate((h * 2, k + 1), axis=1), axis=1)", false, true, 0, 0, 0, true, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1), sum(h, axis=1), h / sum(h, axis=1, keepdims=True)", false, true, 0, 0, 0, false, 0, 0},
    {"h * 2, concatenate((h * 2, k + 1), axis=1), concatenate((k + 1, h * 2), axis=0)", false, true, 1, 256, 128 + 512, false, 0, 0},
    {"concatenate((h * 2, k * 3, k + 1), axis=1), concatenate((k * 3, k + 1), axis=1)", false, true, 1, 256, 384 + 256, false, 0, 0},
    {"concatenate((h * 2, k * 3, k + 1, h), axis=1), concatenate((k * 3, k + 1, h), axis=1), concatenate((k + 1, h), axis=1)", false, true, 0, 0, 0, false, 0, 0},
    {"concatenate((h / sum(h, axis=1, keepdims=True), k), axis=1)", false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((h * max(k), h + max(k)), axis=1)", false, true, 0, 0, 0, true, 0, 0},
    {"sum(concatenate((h * 2, k + 1), axis=1) * x, axis=1)", false, false, 1, -1, 4, true, 0, 0},
    {"cumulative_sum(x, axis=1), concatenate((h * 2, k + 1), axis=1)", false, false, 0, 0, 0, false, 0, 0},
    {"concatenate((cumulative_sum(h, axis=1), k), axis=1)", false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((sum(q, axis=2), max(q, axis=2)), axis=-1)", false, true, 0, 0, 0, true, 0, 0},
    {"concatenate((sum(sliding_window_view(h, 3, axis=1), axis=2), k[:, :30]), axis=1)", false, true, 1, 128 + 120, 240, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1), o * 2", false, false, 1, 256 + 256, 256 + 256, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1), var(h, axis=1), concatenate((h - 1, k), axis=1), h + sum(k, axis=1, keepdims=True)", false, true, 0, 0, 0, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1).T", false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((h.T * 2, k.T + 1), axis=0)", false, false, 1, 256, 256, false, 0, 0},
    {"concatenate((f[:, 0:32] - f[:, 32:64], f[:, 1:33] + f[:, 33:65]), axis=1)", false, false, 1, -1, 256, false, 0, 0},
    {"concatenate((p[1:-1] - p[:-2], p[2:] * p[1:-1]), axis=0)", false, false, 1, 576, 8 * 96, false, 0, 0},
    {"concatenate((o * 2, o + 1), axis=1)", false, false, 0, 0, 0, true, 0, 0},
    {"real(concatenate((o * 2, o + 1), axis=1))", false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((z, x), axis=1) * 2", false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((z, z), axis=1) * 2", false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((z * 2, z + 1), axis=0)", false, false, 0, 0, 0, true, 0, 0},
    {"concatenate((h[:0] * 2, k + 1), axis=0)", false, false, 0, 0, 0, true, 0, 0},
    {"stack((s * 2, s + 1))", false, false, 0, 0, 0, true, 0, 0},
    {"s * 2", false, false, 1, 1, 1, false, 0, 0},
    {"concatenate((e * 2, e + 1), axis=0)", false, false, 1, 256, 512, false, 0, 0},
    {"concatenate((e * 2, e + 1), axis=3)", false, false, 1, 256, 512, false, 0, 0},
    {"concatenate((e * 2, e + 1, e, e - 1), axis=-1)", false, true, 1, 256, 1024, false, 0, 0},
    {"concatenate((i + 1, i * 2), axis=1)", false, false, 1, 256, 512, false, 0, 0},
    {"concatenate((arange(32) * 2, arange(32) + 100))", false, false, 1, 0, 64, false, 1, 0},
    {"concatenate((arange(32) * 5000000000, arange(32)[::-1] + c))", false, false, 1, 32, 64, false, 0, 0},
    {"f16(concatenate((h * 2, k + 1), axis=1)), concatenate((h * 2, k + 1), axis=1) > 0", false, true, 1, -1, -1, false, 0, 0},
    {"concatenate((j[:, :32] * 2 - j[:, 32:], j[:, 32:] + j[:, :32]), axis=1)", false, false, 1, -1, -1, false, 0, 0},
    /* choices that are no joins */
    {"where(arange(64) < 32, x * 2, y * 3)", false, false, 1, 256, 256, false, 0, 0},
    {"where(arange(4)[:, None] < 2, x * 2, y * 3)", false, false, 1, 256, 256, false, 0, 0},
    {"where(arange(64)[16:48] < 32, h * 2, k * 3)", false, false, 1, 128, 128, false, 0, 0},
    {"where(arange(64)[::-1] < 32, x * 2, y * 3)", false, false, 1, 512, 256, false, 0, 1},
    {"where(arange(128)[::2] < 32, x * 2, y * 3)", false, false, 1, 512, 256, false, 0, 1},
    {"where(arange(64)[16:] < 32, x[:, 16:] * 2, y[:, 16:] * 3)", false, false, 1, 192, 192, false, 0, 3},
    {"where(arange(64) <= 31, x * 2, y * 3)", false, false, 0, 0, 0, false, 0, 0},
    {"where(arange(64) >= 32, x * 2, y * 3)", false, false, 0, 0, 0, false, 0, 0},
    {"where(arange(64) < 70, x * 2, y * 3), where(arange(64) < -5, x * 2, y * 3)", false, false, 0, 0, 0, false, 0, 0},
    {"where(arange(64)[5:] < -9223372036854775807, x[:, 5:] * 2, y[:, 5:] * 3)", false, false, 0, 0, 0, false, 0, 0},
    {"where(arange(64) < 16, x * 2, where(arange(64) < 48, y * 3, x - 1))", false, false, 1, -1, 256, false, 0, 0},
    {"where(arange(64) < 32, x, where(arange(4)[:, None] < 2, y, 1)) * 2", false, false, 1, 256, 256, false, 0, 2}, /* two axes */
    {"where(arange(64) < where(arange(64) < 32, 10, 50), x, y) * 2", false, false, 0, 0, 0, false, 0, 0},
    {"take(x * 2, where(arange(64) < 32, arange(64) + 32, arange(64) - 32), axis=1)", false, false, 1, 256, 256, false, 0, 0},
    /* views of joins: one part, a part and a bit, both */
    {"concatenate((h * 2, k + 1), axis=1)[:, :32]", false, false, 1, 128, 128, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1)[:, 32:] * c", false, false, 1, 128 + 32, 128, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1)[:, 40:48]", false, false, 1, 32, 32, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1)[:, 31:33]", false, false, 1, -1, 8, true, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1)[:, ::-1]", false, false, 1, -1, 256, true, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1)[:, 63:31:-2]", false, false, 1, 64, 64, false, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1)[1:3, 30:62:2]", false, false, 1, -1, 32, true, 0, 0},
    {"concatenate((h * 2, k + 1), axis=1)[:, 32]", false, false, 1, 4, 4, false, 0, 0},
    {"concatenate((h, k, h * 2), axis=1)[:, 32:64] - concatenate((k, h), axis=1)[:, :32]", false, false, 1, 128, 128, false, 0, 0},
    {"pad(h, ((0, 0), (16, 16)))[:, 16:48] * 2", false, false, 1, 128, 128, false, 0, 0},
    {"pad(h, ((0, 0), (16, 16)), constant_values=3)[:, :16] * 2 + c[:16]", false, false, 0, 0, 0, false, 0, 0},
    {"pad(h * 2, ((1, 1), (16, 16)), 'edge')[1:-1, 8:40]", false, false, 1, -1, 128, true, 0, 0},
    {"pad(h * 2, ((1, 1), (16, 16)), 'reflect')[1:-1, 16:-16]", false, false, 1, -1, 128, true, 0, 0},
    {"pad(h * 2, ((1, 1), (16, 16)), 'wrap')", false, false, 0, 0, 0, true, 0, 0},
    {"roll(concatenate((h * 2, k + 1), axis=1), 32, axis=1)", false, true, 0, 0, 0, true, 0, 0},
    {"roll(x * 2, 8, axis=1)[:, 8:]", false, false, 1, 224, 224, false, 0, 0},
    {"roll(x * 2, 8, axis=1)[:, :8]", false, false, 1, 32, 32, false, 0, 0},
    {"repeat(concatenate((h * 2, k + 1), axis=1), 2, axis=1)", false, false, 0, 0, 0, true, 0, 0},
    {"tile(h * 2, (2, 2))", false, false, 0, 0, 0, true, 0, 0},
    {"split(concatenate((h * 2, k + 1), axis=1), 2, axis=1)[1] + h", false, false, 1, 256, 128, false, 0, 0},
    {"x.at[:, 16:32].set(h[:, :16]) * 2", false, false, 0, 0, 0, true, 0, 0},
    {"diff(concatenate((h * 2, k + 1), axis=1), axis=1)", false, false, 0, 0, 0, true, 0, 0},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static void test_table(void **unused) {
    bound of_reference, bounds[MAX_RUNS], of_unfused;
    (void)unused;
    bind_all(reference, &of_reference);
    bind_all(unfused, &of_unfused);
    for (int r = 0; r < all.n; r++) {
        bind_all(all.run[r].context, &bounds[r]);
    }
    for (int k = 0; k < EXAMPLES; k++) {
        results want;
        if (!in_shard(k / 4)) { /* one of four is compiled */
            continue;
        }
        evaluate(examples[k].own ? unfused : reference, examples[k].own ? &of_unfused : &of_reference, examples[k].text, &want);
        for (int r = 0; r < all.n; r++) {
            results got;
            if (left_out(&all.run[r], k, 4)) {
                continue;
            }
            evaluate(all.run[r].context, &bounds[r], examples[k].text, &got);
            if (!collecting) {
                compare(examples[k].text, all.run[r].label, &got, &want);
            }
            free_results(&got);
        }
        free_results(&want);
    }
    for (int r = 0; r < all.n; r++) {
        release(&bounds[r]);
    }
    release(&of_unfused);
    release(&of_reference);
}

/* Limits that cut everywhere. On a device, of few expressions, one of them. */
static void test_limits(void **unused) {
    static const char *const limits[] = {"operations=4,fields=40,results=1,repeated=8", "fields=12", "fields=24", "operations=4", "operations=1", "results=1", "repeated=0", "repeated=3", "repeated=8", "prologue=0,epilogue=0", "row=0"};
    bound of_reference;
    (void)unused;
    bind_all(reference, &of_reference);
    for (size_t l = 0; l < (all.cuda ? 1 : sizeof limits / sizeof *limits); l++) {
        krf_context *context = open_other(all.cuda ? "cuda" : "cpu", limits[l]);
        bound b;
        bind_all(context, &b);
        for (int k = 0; k < EXAMPLES; k++) {
            results want, got;
            if (!in_shard((int)l + k / 4) || (all.cuda && (!examples[k].limited || k % 2 != 0))) {
                continue;
            }
            evaluate(reference, &of_reference, examples[k].text, &want);
            evaluate(context, &b, examples[k].text, &got);
            if (!examples[k].own || !all.cuda) {
                compare(examples[k].text, limits[l], &got, &want);
            }
            free_results(&want);
            free_results(&got);
        }
        release(&b);
        krf_context_destroy(context);
    }
    release(&of_reference);
}

/* What is too much to be repeated is stored as it is, not once more as parts; parts that are too much for a kernel are stored, not what is joined of them. */
static void test_too_much(void **unused) {
    static const struct {
        const char *fusion, *text;
        int kernels;
    } cases[] = {{"repeated=4", ROTARY, 2}, {"operations=4", "concatenate((h * 2 + k, k * 3 - h, k + 1 + h * k, h - k * 5), axis=1)", 3}};
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        krf_context *context = open_other(all.cuda ? "cuda" : "cpu", cases[k].fusion);
        const krf_compile_options options = {.size = sizeof options, .load = false};
        krf_graph *g = krf_graph_create(context);
        krf_expr y;
        krf_plan *plan = NULL;
        bound b;
        bind_all(context, &b);
        assert_int_equal(krf_parse(g, cases[k].text, b.bindings, INPUTS, &y), KRF_OK);
        assert_int_equal(krf_compile(g, 1, &y, &options, &plan), KRF_OK);
        assert_int_equal(krf_plan_kernels(plan), cases[k].kernels);
        krf_plan_release(plan);
        krf_graph_destroy(g);
        release(&b);
        krf_context_destroy(context);
    }
}

/* ---- kernels ---- */

static bool gathers(const char *source) { /* what a kernel computes is its first line */
    const char *end = strchr(source, '\n'), *found = strstr(source, "gather(");
    return found != NULL && end != NULL && found < end;
}

static void test_kernels(void **unused) {
    krf_context *context = all.run[0].context;
    const krf_compile_options options = {.size = sizeof options, .load = false};
    bound b;
    (void)unused;
    bind_all(context, &b);
    for (int k = 0; k < EXAMPLES; k++) {
        const example *e = &examples[k];
        krf_graph *g = krf_graph_create(context);
        krf_expr xs[MOST_OUTPUTS];
        krf_plan *plan = NULL;
        krf_kernel_info info = {.size = sizeof info};
        int n;
        if (e->kernels == 0) {
            krf_graph_destroy(g);
            continue;
        }
        assert_int_equal(krf_parse_many(g, e->text, b.bindings, INPUTS, MOST_OUTPUTS, xs, &n), KRF_OK);
        assert_int_equal(krf_compile(g, n, xs, &options, &plan), KRF_OK);
        const int kernels = krf_plan_kernels(plan);
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        const int64_t item = (int64_t)krf_dtype_size(krf_expr_dtype(xs[0]));
        if (kernels != (!all.cuda && e->on_cpu > 0 ? e->on_cpu : e->kernels)) {
            COMPLAIN("%s: %d kernels", e->text, kernels);
        }
        if ((all.cuda || e->on_cpu == 0) && ((e->reads >= 0 && info.bytes_read != e->reads * item) || (e->writes >= 0 && info.bytes_written != e->writes * item) || gathers(info.source) != e->gathers)) {
            COMPLAIN("%s: reads %" PRId64 " and writes %" PRId64 " bytes, %s", e->text, info.bytes_read, info.bytes_written, gathers(info.source) ? "gathers" : "gathers nothing");
        }
        if (e->parts > 0 && info.elements * e->parts * item != info.bytes_written) {
            COMPLAIN("%s: %" PRId64 " elements are no %d parts", e->text, info.elements, e->parts);
        }
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
    release(&b);
}

/* ---- parts beside reductions of the same elements: one kernel ---- */

static void test_beside(void **unused) {
    static const char *const texts[] = {
        "l = x[:, :%d]; r = x[:, %d:]; return concatenate((l * 2, r + 1), axis=1), sum(l, axis=1)",
        "l = x[:, :%d]; r = x[:, %d:]; return concatenate((l * 2, r + 1, l, r - l), axis=1), l - max(l, axis=1, keepdims=True), r * sum(r, axis=1, keepdims=True)",
        "l = x[:, :%d]; r = x[:, %d:]; return concatenate((l * 2, r + 1), axis=0), max(l, axis=0)",
        "l = f16(x[:, :%d]); r = f16(x[:, %d:]); return concatenate((l * 2, r + 1), axis=1), l - max(l, axis=1, keepdims=True)",
    };
    static const int halves[] = {32, 33, 1100, 5000};
    (void)unused;
    for (size_t k = 0; k < sizeof halves / sizeof *halves; k++) {
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            const int64_t shape[2] = {3, 2 * halves[k]};
            char text[256];
            results want;
            if (!in_shard((int64_t)(4 * k + t))) {
                continue;
            }
            snprintf(text, sizeof text, texts[t], halves[k], halves[k]);
            for (int r = -1; r < all.n; r++) {
                krf_context *context = r < 0 ? reference : all.run[r].context;
                const krf_compile_options options = {.size = sizeof options, .load = false};
                if (r >= 0 && left_out(&all.run[r], (int64_t)(k + t), 4)) {
                    continue;
                }
                bound b;
                results got;
                krf_graph *g = krf_graph_create(context);
                krf_expr xs[MOST_OUTPUTS];
                krf_plan *plan = NULL;
                int n;
                bind_all(context, &b);
                krf_array_release(b.arrays[0]);
                b.arrays[0] = array_of(context, KRF_F32, 2, shape, 1);
                b.bindings[0] = krf_bind_array("x", b.arrays[0]);
                evaluate(context, &b, text, r < 0 ? &want : &got);
                if (r >= 0 && !collecting) {
                    assert_int_equal(krf_parse_many(g, text, b.bindings, INPUTS, MOST_OUTPUTS, xs, &n), KRF_OK);
                    assert_int_equal(krf_compile(g, n, xs, &options, &plan), KRF_OK);
                    if (krf_plan_kernels(plan) != 1) {
                        COMPLAIN("%s, %s: %d kernels", text, all.run[r].label, krf_plan_kernels(plan));
                    }
                    krf_plan_release(plan);
                    compare(text, all.run[r].label, &got, &want);
                }
                if (r >= 0) {
                    free_results(&got);
                }
                release(&b);
                krf_graph_destroy(g);
            }
            free_results(&want);
        }
    }
}

/* ---- random expressions, against their values element by element ---- */

enum { LINES = 64, COLUMNS = 128, MOST_NODES = 48, TEXT = 1 << 16 };

typedef enum kind { LEAF, LINE, COLUMN, NUMBER, ADD, SUBTRACT, MULTIPLY, CONCATENATE, CHOICE, SLICE, ROLL, TAKE, KINDS } kind;

typedef struct node {
    kind kind;
    int lines, columns;
    int first[2], step[2];   /* of leaves and slices */
    int axis, by, compares;  /* by: a place or a number */
    int n;
    const struct node *of[5];
} node;

typedef struct making {
    uint64_t dice;
    int n;
    node nodes[MOST_NODES];
} making;

static int below(making *m, int n) { return (int)random_below(&m->dice, n); }

static const node *make(making *m, int depth, int lines, int columns);

static node *add_node(making *m, int lines, int columns) {
    assert_true(m->n < MOST_NODES);
    node *n = &m->nodes[m->n++];
    *n = (node){.lines = lines, .columns = columns, .by = below(m, 4), .axis = below(m, 2)};
    return n;
}

static const node *make_leaf(making *m, node *n, bool broadcast) {
    const int extents[2] = {n->lines, n->columns}, most[2] = {LINES, COLUMNS};
    n->kind = broadcast ? (kind)(LEAF + below(m, 4)) : LEAF;
    for (int d = 0; d < 2; d++) {
        const int room = most[d] - extents[d];
        n->step[d] = extents[d] > 1 && below(m, 4) == 0 ? (below(m, 2) == 0 && 2 * extents[d] <= most[d] ? 2 : -1) : 1;
        n->first[d] = n->step[d] == 2 ? below(m, most[d] - 2 * extents[d] + 1) : below(m, room + 1) + (n->step[d] < 0 ? extents[d] - 1 : 0);
        n->first[d] -= n->step[d] == 1 ? n->first[d] % (below(m, 2) == 0 ? 1 : 4) : 0;
    }
    n->by = below(m, 5) - 2;
    return n;
}

static const node *make_concatenate(making *m, node *n, int depth) {
    const int extents[2] = {n->lines, n->columns};
    n->axis = extents[0] > 1 && below(m, 3) == 0 ? 0 : 1;
    const int extent = extents[n->axis];
    n->n = 2 + below(m, extent % 4 == 0 ? 3 : 2);
    for (int k = 0, left = extent; k < n->n; k++) {
        const bool equal = n->by != 0 && extent % n->n == 0;
        const int rest = n->n - 1 - k, own = rest == 0 ? left : equal ? extent / n->n : left > rest ? 1 + below(m, left - rest) : 0;
        n->of[k] = make(m, depth - 1, n->axis == 0 ? own : n->lines, n->axis == 0 ? n->columns : own);
        left -= own;
    }
    return n;
}

static const node *make(making *m, int depth, int lines, int columns) {
    node *n = add_node(m, lines, columns);
    const bool room = m->n + 12 < MOST_NODES && lines > 0 && columns > 1;
    n->kind = !room ? LEAF : depth > 2 && below(m, 2) == 0 ? CONCATENATE : (kind)(ADD + below(m, KINDS - ADD));
    if (depth <= 0 || !room) {
        return make_leaf(m, n, false);
    }
    const int extents[2] = {lines, columns}, extent = extents[n->axis];
    switch (n->kind) {
    case ADD:
    case SUBTRACT:
    case MULTIPLY: {
        const bool broadcast = below(m, 3) == 0;
        n->of[0] = make(m, depth - 1, lines, columns);
        n->of[1] = broadcast ? make_leaf(m, add_node(m, lines, columns), true) : make(m, depth - 1, lines, columns);
        return n;
    }
    case CHOICE:
        n->compares = below(m, 4);
        n->by = below(m, 3) == 0 ? below(m, extent + 4) - 2 : extent / 2;
        n->of[0] = make(m, depth - 1, lines, columns);
        n->of[1] = make(m, depth - 1, lines, columns);
        return n;
    case SLICE: { /* of what has an axis of up to twice the extent */
        int whole[2] = {lines, columns};
        for (int d = 0; d < 2; d++) {
            n->step[d] = 1;
        }
        const int more = below(m, extent + 1);
        n->step[n->axis] = below(m, 4) == 0 ? -1 : below(m, 4) == 0 ? 2 : 1;
        whole[n->axis] = n->step[n->axis] == 2 ? 2 * extent + more : extent + more;
        n->first[n->axis] = n->step[n->axis] == 2 ? below(m, more + 1) : (below(m, 3) == 0 ? 0 : below(m, 2) == 0 ? more : below(m, more + 1)) + (n->step[n->axis] < 0 ? extent - 1 : 0);
        if (whole[0] > LINES || whole[1] > COLUMNS) {
            n->first[n->axis] = n->step[n->axis] < 0 ? extent - 1 : 0;
            n->step[n->axis] = n->step[n->axis] == 2 ? 1 : n->step[n->axis];
            whole[n->axis] = extent;
        }
        n->of[0] = make(m, depth - 1, whole[0], whole[1]);
        return n;
    }
    case ROLL:
        n->by = below(m, 2) == 0 ? extent / 2 : below(m, 2 * extent + 1) - extent;
        n->of[0] = make(m, depth - 1, lines, columns);
        return n;
    case TAKE: { /* at first + step * i, which may leave the axis */
        const int of = below(m, 3) == 0 ? 1 + below(m, n->axis == 0 ? 16 : 64) : extent;
        n->step[0] = below(m, 5) - 2;
        n->first[0] = below(m, 3) == 0 ? below(m, 3 * of) - of : n->step[0] < 0 ? of - 1 : 0;
        n->of[0] = make(m, depth - 1, n->axis == 0 ? of : lines, n->axis == 0 ? columns : of);
        return n;
    }
    default: n->kind = CONCATENATE; return make_concatenate(m, n, depth);
    }
}

static int place_of(const node *n, int i, int extent) {
    int place = n->first[0] + n->step[0] * i;
    place += place < 0 ? extent : 0;
    return place < 0 ? 0 : place >= extent ? extent - 1 : place;
}

static bool holds(const node *n, int place) {
    return n->compares == 0 ? place < n->by : n->compares == 1 ? place <= n->by : n->compares == 2 ? place > n->by : place >= n->by;
}

static float value_at(const node *n, int line, int column) {
    int at[2] = {line, column};
    switch (n->kind) {
    case LEAF: return number_of((int64_t)(n->first[0] + n->step[0] * line) * COLUMNS + n->first[1] + n->step[1] * column, 1);
    case LINE: return number_of(n->first[0] + line, 2);
    case COLUMN: return number_of(n->first[1] + column, 3);
    case NUMBER: return (float)n->by;
    case ADD: return value_at(n->of[0], line, column) + value_at(n->of[1], line, column);
    case SUBTRACT: return value_at(n->of[0], line, column) - value_at(n->of[1], line, column);
    case MULTIPLY: return value_at(n->of[0], line, column) * value_at(n->of[1], line, column);
    case CONCATENATE:
        for (int k = 0; k < n->n; k++) {
            const int own = n->axis == 0 ? n->of[k]->lines : n->of[k]->columns;
            if (at[n->axis] < own) {
                return value_at(n->of[k], at[0], at[1]);
            }
            at[n->axis] -= own;
        }
        return 0;
    case CHOICE: return value_at(n->of[holds(n, at[n->axis]) ? 0 : 1], line, column);
    case SLICE: return value_at(n->of[0], n->first[0] + n->step[0] * line, n->first[1] + n->step[1] * column);
    case ROLL: {
        const int extent = n->axis == 0 ? n->lines : n->columns;
        at[n->axis] = ((at[n->axis] - n->by) % extent + extent) % extent;
        return value_at(n->of[0], at[0], at[1]);
    }
    default:
        at[n->axis] = place_of(n, at[n->axis], n->axis == 0 ? n->of[0]->lines : n->of[0]->columns);
        return value_at(n->of[0], at[0], at[1]);
    }
}

#define SAY(...) (*to += (size_t)snprintf(text + *to, *to < TEXT ? TEXT - *to : 0, __VA_ARGS__))

static void say_range(const node *n, int d, int extent, char *text, size_t *to) {
    const int last = n->first[d] + n->step[d] * extent;
    SAY(last < 0 ? "%d::%d" : "%d:%d:%d", n->first[d], last < 0 ? n->step[d] : last, n->step[d]);
}

static void say(const node *n, char *text, size_t *to) {
    static const char *const operators[] = {[ADD] = "+", [SUBTRACT] = "-", [MULTIPLY] = "*"}, *const comparisons[] = {"<", "<=", ">", ">="};
    switch (n->kind) {
    case LEAF:
    case SLICE:
        if (n->kind == LEAF) {
            SAY("x");
        } else {
            say(n->of[0], text, to);
        }
        SAY("[");
        say_range(n, 0, n->lines, text, to);
        SAY(", ");
        say_range(n, 1, n->columns, text, to);
        SAY("]");
        return;
    case LINE: SAY("r[%d:%d, None]", n->first[0], n->first[0] + n->lines); return;
    case COLUMN: SAY("c[%d:%d]", n->first[1], n->first[1] + n->columns); return;
    case NUMBER: SAY("(%d)", n->by); return;
    case CONCATENATE:
        SAY("concatenate((");
        for (int k = 0; k < n->n; k++) {
            say(n->of[k], text, to);
            SAY(", ");
        }
        SAY("), axis=%d)", n->axis);
        return;
    case CHOICE:
        SAY("where(arange(%d)%s %s %d, ", n->axis == 0 ? n->lines : n->columns, n->axis == 0 ? "[:, None]" : "", comparisons[n->compares], n->by);
        say(n->of[0], text, to);
        SAY(", ");
        say(n->of[1], text, to);
        SAY(")");
        return;
    case ROLL:
        SAY("roll(");
        say(n->of[0], text, to);
        SAY(", %d, axis=%d)", n->by, n->axis);
        return;
    case TAKE:
        SAY("take(");
        say(n->of[0], text, to);
        SAY(", arange(%d) * %d + %d, axis=%d)", n->axis == 0 ? n->lines : n->columns, n->step[0], n->first[0], n->axis);
        return;
    default:
        SAY("(");
        say(n->of[0], text, to);
        SAY(" %s ", operators[n->kind]);
        say(n->of[1], text, to);
        SAY(")");
        return;
    }
}

/* Lines and columns are read forwards. */
static void straighten(making *m) {
    for (int k = 0; k < m->n; k++) {
        node *n = &m->nodes[k];
        for (int d = 0; d < 2 && (n->kind == LINE || n->kind == COLUMN); d++) {
            const int extent = d == 0 ? n->lines : n->columns, most = d == 0 ? LINES : COLUMNS;
            n->first[d] = n->first[d] + extent > most ? most - extent : n->first[d];
        }
    }
}

static bool parts(const char *source) {
    const char *end = strchr(source, '\n'), *found = strstr(source, "concatenate(");
    return found != NULL && end != NULL && found < end;
}

static bool is_parted(krf_graph *g, krf_expr x) {
    const krf_compile_options options = {.size = sizeof options, .load = false};
    krf_kernel_info info = {.size = sizeof info};
    krf_plan *plan = NULL;
    assert_int_equal(krf_compile(g, 1, &x, &options, &plan), KRF_OK);
    const bool parted = krf_plan_kernels(plan) > 0 && krf_plan_kernel(plan, krf_plan_kernels(plan) - 1, &info) == KRF_OK && parts(info.source);
    krf_plan_release(plan);
    return parted;
}

/* Whether it is stored as parts. */
static bool check_random(krf_context *context, const char *label, const krf_binding *bindings, uint64_t seed) {
    static char text[TEXT];
    static const int columns[] = {16, 32, 34, 36, 40, 48, 64, 96, 128}, lines[] = {1, 2, 3, 4, 6, 8, 32};
    making m = {.dice = seed};
    size_t to = 0;
    const int n_lines = lines[below(&m, 7)];
    const node *root = make(&m, 4, n_lines, columns[below(&m, 9)]);
    straighten(&m);
    say(root, text, &to);
    assert_true(to < TEXT);
    const int size = root->lines * root->columns;
    float *data = malloc((size_t)size * sizeof *data + 1);
    krf_array *got = NULL;
    krf_graph *g = krf_graph_create(context);
    krf_expr y;
    krf_status status = krf_parse(g, text, bindings, 3, &y);
    status = status == KRF_OK ? krf_eval(y, &got) : status;
    if (status != KRF_OK) {
        fail_msg("expression %" PRIu64 ", %s: %s: %s", seed, label, text, krf_error_message());
    }
    assert_int_equal(krf_array_size(got), size);
    if (!collecting) {
        assert_int_equal(krf_array_to_host(got, data, (size_t)size * sizeof *data), KRF_OK);
    }
    for (int i = 0; i < size && !collecting; i++) {
        const float want = value_at(root, i / root->columns, i % root->columns);
        if (data[i] != want) {
            COMPLAIN("expression %" PRIu64 ", %s: element (%d, %d) is %g, not %g: %s", seed, label, i / root->columns, i % root->columns, (double)data[i], (double)want, text);
            break;
        }
    }
    const bool parted = is_parted(g, y);
    free(data);
    krf_array_release(got);
    krf_graph_destroy(g);
    return parted;
}

static void test_random(void **unused) {
    const char *count = getenv("KRF_FUZZ_COUNT"), *first = getenv("KRF_FUZZ_SEED");
    const uint64_t from = first != NULL ? strtoull(first, NULL, 10) : 1;
    const int most = count != NULL ? atoi(count) : 1500;
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        krf_context *context = all.run[r].context;
        krf_array *x = array_of(context, KRF_F32, 2, (int64_t[]){LINES, COLUMNS}, 1), *lines = array_of(context, KRF_F32, 1, (int64_t[]){LINES}, 2), *columns = array_of(context, KRF_F32, 1, (int64_t[]){COLUMNS}, 3);
        const krf_binding bindings[] = {krf_bind_array("x", x), krf_bind_array("r", lines), krf_bind_array("c", columns)};
        const int n = all.run[r].compiled ? most / 150 : all.cuda ? most / 40 : most;
        int parted = 0, tried = 0;
        for (int k = 0; k < n && !passed_over(&all.run[r]); k++) {
            if (in_shard(k)) {
                parted += check_random(context, all.run[r].label, bindings, from + (uint64_t)k);
                tried++;
            }
        }
        if (parted < tried / 20 && !collecting) { /* else nothing would be tested but choices */
            COMPLAIN("%s: %d of %d random expressions are stored as parts", all.run[r].label, parted, tried);
        }
        krf_array_release(x);
        krf_array_release(lines);
        krf_array_release(columns);
    }
}

/* ---- places that go on by strides, and some that do not ---- */

static void test_takes(void **unused) {
    enum { N = 128 };
    static const struct {
        const char *places;
        int n, first, step, more; /* more: of the second axis */
        bool strided;             /* what gathers would be slow */
    } takes[] = {
        {"arange(20)", 20, 0, 1, 0, true},
        {"arange(20) + 3", 20, 3, 1, 0, true},
        {"arange(20) * 3 + 1", 20, 1, 3, 0, true},
        {"2 * arange(30) - 0 + 5 - 1", 30, 4, 2, 0, true},
        {"(arange(20) + 3) * 4", 20, 12, 4, 0, true},
        {"arange(3, 40)", 37, 3, 1, 0, true},
        {"arange(3, 40, 5)", 8, 3, 5, 0, true},
        {"arange(40, 3, -5)", 8, 40, -5, 0, true},
        {"arange(40)[::-1]", 40, 39, -1, 0, true},
        {"arange(40)[::-3] + 7", 14, 46, -3, 0, true},
        {"arange(20) * -2 + 38", 20, 38, -2, 0, true},
        {"arange(128) * 0 + 5", 128, 5, 0, 0, true},
        {"i64(arange(20)) + 108", 20, 108, 1, 0, true},
        {"38 - arange(20)", 20, 38, -1, 0, false},
        {"arange(20) + 120", 20, 120, 1, 0, false},   /* the last 12 are the end */
        {"arange(20) - 10", 20, -10, 1, 0, false},    /* the first 10 from the end */
        {"arange(20) - 20", 20, -20, 1, 0, false},
        {"arange(20) - 140", 20, -140, 1, 0, false},  /* the first ones are the beginning */
        {"arange(20) * 20", 20, 0, 20, 0, false},
        {"arange(20) + 200", 20, 200, 1, 0, false},
        {"i32(arange(20)) + 3", 20, 3, 1, 0, false},
        {"arange(4)[:, None] * 16 + arange(16)", 4, 0, 16, 1, false},
        {"arange(64)[8:40]", 32, 8, 1, 0, true},
        {"arange(5, 5)", 0, 0, 0, 0, false},
        {"arange(5, 5) + 300", 0, 0, 0, 0, false},
        {"arange(10) * -1 - 1 - (-9223372036854775807 - 1) - 9223372036854775700", 10, 107, -1, 0, false},
        {"arange(9223372036854775806, 9223372036854775807) + 4", 1, -4 - N, 0, 0, false}, /* wraps: far below */
    };
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        krf_context *context = all.run[r].context;
        krf_array *w = array_of(context, KRF_F32, 1, (int64_t[]){N}, 1), *x = array_of(context, KRF_F32, 2, (int64_t[]){3, N}, 1);
        const krf_binding bindings[] = {krf_bind_array("w", w), krf_bind_array("x", x)};
        for (size_t k = 0; k < sizeof takes / sizeof *takes; k++) {
            for (int form = 0; form < 4 && in_shard((int64_t)k); form++) { /* of one axis; of the second of two, and of the first of two turned; element by element */
                static const char *const texts[] = {"take(w + 0.5, %s)", "take(x, %s, axis=1) * 2", "take(x.T * 2, %s, axis=0)", "take_along_axis(x * 2, (%s)[None], axis=1)"};
                char text[256], line[32];
                float data[1024];
                krf_array *got = NULL;
                krf_graph *g = krf_graph_create(context);
                krf_expr y;
                krf_plan *plan = NULL;
                krf_kernel_info info = {.size = sizeof info};
                snprintf(text, sizeof text, texts[form], takes[k].places);
                snprintf(line, sizeof line, "take %zu, form %d", k, form);
                const int across = takes[k].more != 0 ? 16 : 1, lines = form == 0 ? 1 : 3, n = takes[k].n * across;
                if (left_out(&all.run[r], (int64_t)k + form, 4) || (form == 3 && across > 1) || (form == 2 && n == 0)) {
                    krf_graph_destroy(g);
                    continue;
                }
                krf_status status = krf_parse(g, text, bindings, 2, &y);
                status = status == KRF_OK ? krf_compile(g, 1, &y, NULL, &plan) : status;
                status = status == KRF_OK ? krf_plan_run(plan, NULL, 0, NULL, &got) : status;
                if (status != KRF_OK) {
                    fail_msg("%s, %s: %s", text, all.run[r].label, krf_error_message());
                }
                if (krf_plan_kernels(plan) > 0 && !collecting) {
                    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
                    if (takes[k].strided && gathers(info.source)) {
                        COMPLAIN("%s, %s: gathers", text, all.run[r].label);
                    }
                }
                assert_int_equal(krf_array_size(got), n * lines);
                assert_int_equal(krf_array_to_host(got, data, (size_t)(n * lines) * sizeof *data), KRF_OK);
                for (int i = 0; i < n * lines && !collecting; i++) {
                    const int row = form == 2 ? i % lines : i / n, at = form == 2 ? i / lines : i % n;
                    int64_t place = takes[k].first + (int64_t)takes[k].step * (at / across) + at % across;
                    place += place < 0 ? N : 0;
                    place = place < 0 ? 0 : place >= N ? N - 1 : place;
                    const float want = number_of(row * N + place, 1) * (form == 0 ? 1.0f : 2.0f) + (form == 0 ? 0.5f : 0.0f);
                    if (data[i] != want) {
                        COMPLAIN("%s, %s: element %d is %g, not %g", text, all.run[r].label, i, (double)data[i], (double)want);
                        break;
                    }
                }
                krf_array_release(got);
                krf_plan_release(plan);
                krf_graph_destroy(g);
            }
        }
        krf_array_release(w);
        krf_array_release(x);
    }
}

/* ---- every size of element, and parts that begin anywhere ---- */

static void test_dtypes(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_U8, KRF_BF16, KRF_F64, KRF_BOOL, KRF_I8, KRF_F16, KRF_I16, KRF_I64, KRF_U32, KRF_C64};
    static const int units[] = {32, 16, 17, 18, 20, 24, 36};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        krf_context *context = all.run[r].context;
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            for (size_t w = 0; w < sizeof units / sizeof *units && in_shard((int64_t)d); w++) {
                static char data[40 * 3 * 36 * 16];
                const krf_dtype dtype = dtypes[d];
                const int unit = units[w], rows = unit == 36 ? 40 : 3; /* squares of words of narrow elements */
                const int64_t shape[2] = {rows, unit};
                if (left_out(&all.run[r], (int64_t)(d + w), 4) || (all.cuda && d > 3 && w % 4 != d % 4)) {
                    continue;
                }
                krf_array *x = array_of(context, dtype, 2, shape, 1), *y = array_of(context, dtype, 2, shape, 2), *got = NULL;
                krf_graph *g = krf_graph_create(context);
                krf_expr joined;
                const char *text = dtype == KRF_C64 ? "concatenate((x, y + 0, -x), axis=1)" : "concatenate((maximum(x, y), y, minimum(x, y)), axis=1)";
                krf_status status = krf_parse(g, text, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", y)}, 2, &joined);
                status = status == KRF_OK ? krf_eval(joined, &got) : status;
                if (status != KRF_OK) {
                    fail_msg("%s, %s: %s", text, name_of(dtype), krf_error_message());
                }
                assert_int_equal(krf_array_to_host(got, data, (size_t)(rows * 3 * unit) * krf_dtype_size(dtype)), KRF_OK);
                for (int i = 0; i < rows * 3 * unit && !collecting; i++) {
                    const int line = i / (3 * unit), part = i % (3 * unit) / unit, at = line * unit + i % unit;
                    const value a = convert((value){.dtype = KRF_I64, .i = (at * 7 + 5 + at / 16) % 23 - (krf_dtype_size(dtype) > 1 ? 11 : 0)}, dtype);
                    const value b = convert((value){.dtype = KRF_I64, .i = (at * 7 + 10 + at / 16) % 23 - (krf_dtype_size(dtype) > 1 ? 11 : 0)}, dtype);
                    const bool less = a.i < b.i || a.f < b.f;
                    value want = part == 1 ? b : dtype == KRF_C64 ? a : (part == 0) == less ? b : a, found = get(data, dtype, i);
                    if (dtype == KRF_C64) { /* the sign of a zero is no matter here */
                        want.f = part == 2 ? -want.f : want.f;
                        want.im = found.im == 0 ? found.im : want.im;
                        want.f = found.f == 0 && want.f == 0 ? found.f : want.f;
                    }
                    if (!same(want, found)) {
                        char p[64], q[64];
                        COMPLAIN("%s, %s, %d columns, %s: element %d is %s, not %s", text, name_of(dtype), unit, all.run[r].label, i, show(found, p, 64), show(want, q, 64));
                        break;
                    }
                }
                krf_array_release(got);
                krf_array_release(x);
                krf_array_release(y);
                krf_graph_destroy(g);
            }
        }
    }
}

/* ---- outputs that are given ---- */

/* A rotary embedding of rows of 2 * half into memory that is given: `from` is where x lies in it, or -1: elsewhere. */
typedef struct given {
    int lines, half;
    int64_t strides[2], offset, from;
} given;

static void check_given(krf_context *context, const char *label, const given *e, int number) {
        enum { MOST = 1 << 18 };
    static float before[MOST], data[MOST];
    const int64_t size = e->half > 2000 ? MOST : 8192, shape[2] = {e->lines, 2 * e->half}, half = e->half;
    krf_array *base = NULL, *out = NULL, *x = NULL, *c = array_of(context, KRF_F32, 1, &half, 2), *s = array_of(context, KRF_F32, 1, &half, 3), *other = array_of(context, KRF_F32, 1, &size, 4), *kept;
    for (int i = 0; i < size; i++) {
        before[i] = number_of(i, 1);
    }
    assert_int_equal(krf_array_from_host(context, KRF_F32, 1, &size, before, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, 2, shape, e->strides, e->offset, &out), KRF_OK);
    assert_int_equal(krf_array_view(e->from < 0 ? other : base, 2, shape, e->strides, e->from < 0 ? e->offset : e->from, &x), KRF_OK);
    kept = out;
    char text[256];
    snprintf(text, sizeof text, "concatenate((x[:, :%d] * c - x[:, %d:] * s, x[:, %d:] * c + x[:, :%d] * s), axis=1)", e->half, e->half, e->half, e->half);
    krf_graph *g = krf_graph_create(context);
    krf_expr y;
    krf_status status = krf_parse(g, text, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("c", c), krf_bind_array("s", s)}, 3, &y);
    status = status == KRF_OK ? krf_eval(y, &out) : status;
    if (status != KRF_OK) {
        fail_msg("%s, %s: %s", text, label, krf_error_message());
    }
    assert_ptr_equal(out, kept);
    assert_int_equal(krf_array_to_host(base, data, (size_t)size * sizeof *data), KRF_OK);
    float *const want = malloc(sizeof before);
    assert_non_null(want);
    memcpy(want, before, sizeof before);
    for (int line = 0; line < e->lines; line++) {
        for (int k = 0; k < 2 * e->half; k++) {
            const int64_t from = e->from < 0 ? e->offset : e->from, row = from + line * e->strides[0];
            const float a = e->from < 0 ? number_of(row + k % e->half * e->strides[1], 4) : before[row + k % e->half * e->strides[1]];
            const float b = e->from < 0 ? number_of(row + (k % e->half + e->half) * e->strides[1], 4) : before[row + (k % e->half + e->half) * e->strides[1]];
            const float cos = number_of(k % e->half, 2), sin = number_of(k % e->half, 3);
            want[e->offset + line * e->strides[0] + k * e->strides[1]] = k < e->half ? a * cos - b * sin : b * cos + a * sin;
        }
    }
    for (int i = 0; i < size && !collecting; i++) {
        if (data[i] != want[i]) {
            COMPLAIN("given output %d, %s: element %d of memory is %g, not %g", number, label, i, (double)data[i], (double)want[i]);
            break;
        }
    }
    free(want);
    krf_array_release(out);
    krf_array_release(x);
    krf_array_release(base);
    krf_array_release(other);
    krf_array_release(c);
    krf_array_release(s);
    krf_graph_destroy(g);
}

static void test_given(void **unused) {
    static const given cases[] = {
        {4, 32, {64, 1}, 0, -1},    {4, 32, {80, 1}, 16, -1},  {4, 32, {69, 1}, 3, -1},      {4, 32, {128, 2}, 1, -1},
        {4, 32, {1, 4}, 5, -1},     {4, 32, {64, -1}, 63, -1}, {4, 32, {-64, 1}, 192, -1},   {4, 18, {36, 1}, 2, -1},
        {4, 32, {64, 1}, 0, 0}, /* in place */
        {4, 32, {80, 1}, 16, 16},   {4, 32, {69, 1}, 3, 3},    {4, 32, {1, 4}, 5, 5},        {1, 2000, {4000, 1}, 0, 0},
        {1, 2000, {4000, -1}, 4100, 4100}, {1, 37, {74, 1}, 1, 1}, {50, 16, {32, 1}, 0, 0}, {1, 130000, {260000, 1}, 0, 0},
        {4, 32, {64, 1}, 0, 32}, /* over a part of it, or the other part alone */
        {4, 32, {64, 1}, 32, 0},    {1, 2000, {4000, 1}, 2000, 0}, {1, 2000, {4000, 1}, 0, 2000}, {1, 2000, {4000, 1}, 4, 0},
    };
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases && !passed_over(&all.run[r]); k++) {
            if (in_shard((int64_t)k)) {
                check_given(all.run[r].context, all.run[r].label, &cases[k], (int)k);
            }
        }
    }
}

/* ---- other values ---- */

static void run_value(krf_context *context, const char *label, const char *text, int64_t p, krf_plan *plan, float (*want)(int64_t p, int line, int column), int columns) {
    float data[4 * 64];
    krf_array *got = NULL;
    if (plan != NULL) {
        krf_array *number = NULL;
        assert_int_equal(krf_array_from_host(context, KRF_I64, 0, NULL, &p, &number), KRF_OK);
        assert_int_equal(krf_plan_run(plan, NULL, 1, (krf_binding[]){krf_bind_array("p", number)}, &got), KRF_OK);
        krf_array_release(number);
    } else {
        bound b;
        krf_graph *g = krf_graph_create(context);
        krf_expr y;
        bind_all(context, &b);
        b.bindings[INPUTS - 1] = krf_bind_int("p", p); /* in the place of j */
        for (int k = 0; k < INPUTS; k++) { /* names are bound once */
            b.bindings[k].name = strcmp(b.bindings[k].name, "p") == 0 && k < INPUTS - 1 ? "unused" : b.bindings[k].name;
        }
        if (krf_parse(g, text, b.bindings, INPUTS, &y) != KRF_OK || krf_eval(y, &got) != KRF_OK) {
            fail_msg("%s, p = %" PRId64 ": %s", text, p, krf_error_message());
        }
        release(&b);
        krf_graph_destroy(g);
    }
    assert_int_equal(krf_array_size(got), 4 * columns);
    assert_int_equal(krf_array_to_host(got, data, (size_t)(4 * columns) * sizeof *data), KRF_OK);
    krf_array_release(got);
    for (int i = 0; i < 4 * columns && !collecting; i++) {
        if (data[i] != want(p, i / columns, i % columns)) {
            COMPLAIN("%s, %s, p = %" PRId64 "%s: element %d is %g, not %g", text, label, p, plan != NULL ? " of a plan" : "", i, (double)data[i], (double)want(p, i / columns, i % columns));
            break;
        }
    }
}

/* x is input 0, y 1, h 2, k 3 */
static float taken(int64_t p, int line, int column) {
    int64_t place = column + p;
    place += place < 0 ? 64 : 0;
    place = place < 0 ? 0 : place > 63 ? 63 : place;
    return number_of(line * 64 + place, 0) * 2;
}
static float scaled(int64_t p, int line, int column) { return taken(column * p - column, line, column); }
static float chosen(int64_t p, int line, int column) { return column < p ? number_of(line * 64 + column, 0) * 2 : number_of(line * 64 + column, 1) * 3; }
static float joined_and_taken(int64_t p, int line, int column) {
    int64_t place = column + p;
    place += place < 0 ? 64 : 0;
    place = place < 0 ? 0 : place > 63 ? 63 : place;
    return place < 32 ? number_of(line * 32 + place, 2) * 2 : number_of(line * 32 + place - 32, 3) + 1;
}
static float multiplied(int64_t p, int line, int column) { return column < 32 ? number_of(line * 32 + column, 2) * (float)p : number_of(line * 32 + column - 32, 3) - (float)p; }

static void test_values(void **unused) {
    static const int64_t values[] = {0, 3, 32, 16, 44, 60, -5, -30, 100, 1, -1, 64, 48, 63, 31, 33};
    static const struct {
        const char *text;
        float (*want)(int64_t p, int line, int column);
        int columns;
    } programs[] = {
        {"take(x, arange(20) + p, axis=1) * 2", taken, 20},
        {"take(x, arange(20) * p, axis=1) * 2", scaled, 20},
        {"where(arange(64) < p, x * 2, y * 3)", chosen, 64},
        {"where(arange(64) < p, x * 2, y * 3)[:, :32]", chosen, 32}, /* of some values one branch is all */
        {"take(concatenate((h * 2, k + 1), axis=1), arange(20) + p, axis=1)", joined_and_taken, 20},
        {"concatenate((h * f32(p), k - f32(p)), axis=1)", multiplied, 64},
    };
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        krf_context *context = all.run[r].context;
        for (size_t k = 0; k < sizeof programs / sizeof *programs && !passed_over(&all.run[r]); k++) {
            if (!in_shard((int64_t)k)) {
                continue;
            }
            bound b;
            krf_graph *g = krf_graph_create(context);
            krf_expr y;
            krf_plan *plan = NULL;
            bind_all(context, &b);
            for (int i = 0; i < INPUTS; i++) {
                b.bindings[i] = strcmp(b.bindings[i].name, "p") == 0 ? krf_bind_expr("p", krf_placeholder(g, "p", KRF_I64, 0, NULL)) : b.bindings[i];
            }
            if (krf_parse(g, programs[k].text, b.bindings, INPUTS, &y) != KRF_OK || krf_compile(g, 1, &y, NULL, &plan) != KRF_OK) {
                fail_msg("%s: %s", programs[k].text, krf_error_message());
            }
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                run_value(context, all.run[r].label, programs[k].text, values[v], NULL, programs[k].want, programs[k].columns);
                run_value(context, all.run[r].label, programs[k].text, values[v], plan, programs[k].want, programs[k].columns);
            }
            krf_plan_release(plan);
            krf_graph_destroy(g);
            release(&b);
        }
    }
}

static void test_failures(void **unused) {
    (void)unused;
    assert_int_equal(failures, 0);
}

int main(void) {
    open_noted_runs(&all, false);
    reference = open_other("cpu", "off");
    unfused = open_other(all.cuda ? "cuda" : "cpu", "off");
    const int failed = run_on(&all, TESTS(noted_test(test_table), cmocka_unit_test(test_limits), cmocka_unit_test(test_too_much), cmocka_unit_test(test_kernels), noted_test(test_beside),
                                          noted_test(test_random), noted_test(test_takes), noted_test(test_dtypes), noted_test(test_given), noted_test(test_values),
                                          cmocka_unit_test(test_failures)));
    krf_context_destroy(reference);
    krf_context_destroy(unfused);
    return failed;
}
