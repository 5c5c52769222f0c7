/* Rows that lie side by side in memory, whose elements a CPU stores from tiles: outputs of 16 MiB and more, whole lines of which go past the caches wherever rows begin; memory with guards around and between rows; and outputs
 * that lie over an input, or partly so. Against one operation a kernel, bit for bit, and every element against a loop in f64. */
#include "ops/common.h"

#include "rows/beside.h"

#define SOFTMAX(a) "m = max(x, axis=" a ", keepdims=True); e = exp(x - m); return e / sum(e, axis=" a ", keepdims=True)"
#define WHOLES(a) "m = min(x, axis=" a ", keepdims=True); s = max(x - m, axis=" a ", keepdims=True); return x ^ s"

enum { GUARD = 0xa5, AROUND = 70 };

typedef enum laid { TIGHT, GAPS, BACKWARDS, EVERY_SECOND } laid; /* GAPS: three elements after each row of the last axis */

typedef struct example {
    const char *text;
    krf_dtype dtype;
    int rank, axis;
    int64_t shape[AXES];
    laid laid;
    int64_t begins; /* the output's first element in its memory, of which 64 bytes are a line */
} example;

static void lay_out(const example *e, int64_t *strides, int64_t *offset, int64_t *size) {
    int64_t step = e->laid == EVERY_SECOND ? 2 : 1;
    *offset = e->begins;
    for (int d = e->rank - 1; d >= 0; d--) {
        strides[d] = e->laid == BACKWARDS ? -step : step;
        *offset += e->laid == BACKWARDS ? step * (e->shape[d] - 1) : 0;
        step = step * e->shape[d] + (d == e->rank - 1 && e->laid == GAPS ? 3 : 0);
    }
    *size = e->begins + step + AROUND;
}

static void *fill(const example *e, int64_t n) {
    char *data = malloc((size_t)n * bytes_of(e->dtype) + 1);
    uint64_t seed = (uint64_t)n;
    assert_non_null(data);
    if (e->dtype == KRF_F32) { /* millions, without what put() does for each */
        for (int64_t i = 0; i < n; i++) {
            ((float *)(void *)data)[i] = (float)(next_random(&seed) >> 40) * 0x1p-21f - 4;
        }
        return data;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t number = (int64_t)(next_random(&seed) >> 57);
        put(data, i, is_real(e->dtype) ? (value){.dtype = e->dtype, .f = (double)number / 16 - 4} : whole_number(e->dtype, number));
    }
    return data;
}

/* In C order: the same with one loop after the other. */
static void check_values(const example *e, const char *x, const char *got, const char *what) {
    int64_t inner = 1, n = e->shape[e->axis], outer = 1;
    const bool whole = !is_real(e->dtype);
    const double unit = e->dtype == KRF_F32 ? 0x1p-24 : e->dtype == KRF_BF16 ? 0x1p-8 : 0x1p-11;
    for (int d = 0; d < e->rank; d++) {
        inner *= d > e->axis ? e->shape[d] : 1;
        outer *= d < e->axis ? e->shape[d] : 1;
    }
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t k = 0; k < inner; k++) {
            double largest = -INFINITY, least = INFINITY, sum = 0, power[1024];
            for (int64_t p = 0; p < n; p++) {
                const value v = get_real(x, e->dtype, (o * n + p) * inner + k);
                power[p] = whole ? (double)v.i : v.f;
                largest = fmax(largest, power[p]);
                least = fmin(least, power[p]);
            }
            for (int64_t p = 0; p < n && !whole; p++) {
                sum += power[p] = exp(power[p] - largest);
            }
            for (int64_t p = 0; p < n; p++) {
                const value v = get_real(got, e->dtype, (o * n + p) * inner + k);
                const double want = whole ? (double)wrap_to(e->dtype, (wide)((int64_t)power[p] ^ (int64_t)(largest - least))) : power[p] / sum, found = whole ? (double)v.i : v.f;
                if (!(fabs(found - want) <= (whole ? 0 : unit * want * 40 + (e->dtype == KRF_F16 ? 0x1p-23 : 0)))) {
                    COMPLAIN("%s: element %" PRId64 ", %" PRId64 ", %" PRId64 " is %.9g, not %.9g", what, o, p, k, found, want);
                    return;
                }
            }
        }
    }
}

static void run_into(krf_context *context, const example *e, const void *x, char *memory, int64_t size, int64_t *strides, int64_t offset) {
    krf_array *operand = NULL, *base = NULL, *view = NULL;
    krf_graph *g = krf_graph_create(context);
    krf_expr result;
    memset(memory, GUARD, (size_t)size * bytes_of(e->dtype));
    if (krf_array_from_host(context, e->dtype, e->rank, e->shape, x, &operand) != KRF_OK || krf_array_from_host(context, e->dtype, 1, &size, memory, &base) != KRF_OK ||
        krf_array_view(base, e->rank, e->shape, strides, offset, &view) != KRF_OK || krf_parse(g, e->text, (krf_binding[]){krf_bind_array("x", operand)}, 1, &result) != KRF_OK || krf_eval(result, &view) != KRF_OK) {
        fail_msg("%s: %s", e->text, krf_error_message());
    }
    assert_int_equal(krf_array_to_host(base, memory, (size_t)size * bytes_of(e->dtype)), KRF_OK);
    krf_graph_destroy(g);
    krf_array_release(view);
    krf_array_release(base);
    krf_array_release(operand);
}

/* The view's elements to `plain`, in C order, and guards in their place. */
static void take_out(const example *e, char *memory, const int64_t *strides, int64_t offset, char *plain) {
    const size_t bytes = bytes_of(e->dtype);
    int64_t index[AXES] = {0};
    for (int64_t i = size_of_shape(e->rank, e->shape); i > 0; i--, plain += bytes) {
        int64_t at = offset;
        for (int d = 0; d < e->rank; d++) {
            at += index[d] * strides[d];
        }
        memcpy(plain, memory + (size_t)at * bytes, bytes);
        memset(memory + (size_t)at * bytes, GUARD, bytes);
        for (int d = e->rank - 1; d >= 0 && ++index[d] == e->shape[d]; d--) {
            index[d] = 0;
        }
    }
}

static void check(const example *e) {
    const int64_t n = size_of_shape(e->rank, e->shape);
    const size_t bytes = bytes_of(e->dtype);
    int64_t strides[AXES], offset, size;
    lay_out(e, strides, &offset, &size);
    char *const x = fill(e, n), *const memory = malloc((size_t)size * bytes), *const got = malloc((size_t)n * bytes);
    results want = {0};
    assert_true(memory != NULL && got != NULL);
    if (!collecting || off_is_noted) {
        given operand = {"x", e->dtype, e->rank, {0}, .data = x};
        memcpy(operand.shape, e->shape, sizeof operand.shape);
        evaluate(off, e->text, 1, &operand, 1, &want);
        assert_int_equal(want.dtype[0], e->dtype);
    }
    for (int r = 0; r < all.n; r++) {
        char what[300];
        if (passed_over(&all.run[r])) {
            continue;
        }
        run_into(all.run[r].context, e, x, memory, size, strides, offset);
        if (collecting) {
            continue;
        }
        snprintf(what, sizeof what, "%s of %s [%" PRId64 ", %" PRId64 ", %" PRId64 "], laid %d from %" PRId64 ", %s", e->text, name_of(e->dtype), e->shape[0], e->shape[1], e->shape[2], (int)e->laid, e->begins, all.run[r].label);
        take_out(e, memory, strides, offset, got);
        if (memcmp(got, want.data[0], (size_t)n * bytes) != 0) {
            COMPLAIN("%s: not the bits of one operation a kernel", what);
            check_values(e, x, got, what);
        }
        for (size_t i = 0; i < (size_t)size * bytes; i++) {
            if ((unsigned char)memory[i] != GUARD) {
                COMPLAIN("%s: byte %zu, which is of no element, was written", what, i);
                break;
            }
        }
    }
    if (!collecting) {
        check_values(e, x, want.data[0], e->text);
    }
    free_results(&want);
    free(got);
    free(memory);
    free(x);
}

static const example examples[] = {
    {SOFTMAX("0"), KRF_F32, 2, 0, {21, 200003}, TIGHT, 0},
    {SOFTMAX("0"), KRF_F32, 2, 0, {21, 200003}, GAPS, 5},
    {SOFTMAX("0"), KRF_F32, 2, 0, {256, 16390}, TIGHT, 15},
    {SOFTMAX("0"), KRF_F32, 2, 0, {300, 14000}, TIGHT, 1}, /* whole lines, begun within one */
    {SOFTMAX("0"), KRF_BF16, 2, 0, {64, 140001}, TIGHT, 0},
    {SOFTMAX("0"), KRF_BF16, 2, 0, {64, 140001}, GAPS, 31},
    {SOFTMAX("0"), KRF_F16, 2, 0, {1000, 8416}, TIGHT, 3},
    {SOFTMAX("1"), KRF_F32, 3, 1, {3, 21, 66701}, TIGHT, 7},
    {SOFTMAX("1"), KRF_F32, 3, 1, {3001, 21, 67}, TIGHT, 0}, /* rows of a few lines, some of them whole */
    {SOFTMAX("1"), KRF_F32, 3, 1, {6301, 21, 33}, GAPS, 9},  /* of a line and a bit */
    {WHOLES("0"), KRF_U8, 2, 0, {64, 262201}, TIGHT, 33},
    {WHOLES("0"), KRF_I64, 2, 0, {40, 52501}, TIGHT, 3},
    {WHOLES("0"), KRF_I16, 2, 0, {100, 84001}, EVERY_SECOND, 0}, /* whose elements do not lie side by side */
    {WHOLES("0"), KRF_U16, 2, 0, {100, 84001}, BACKWARDS, 2},
    /* Small ones, which stay in the caches. */
    {SOFTMAX("0"), KRF_F32, 2, 0, {21, 1003}, GAPS, 5},
    {SOFTMAX("1"), KRF_F32, 3, 1, {5, 40, 77}, BACKWARDS, 1},
    {SOFTMAX("0"), KRF_BF16, 2, 0, {64, 333}, EVERY_SECOND, 3},
    {WHOLES("0"), KRF_I8, 2, 0, {64, 600}, GAPS, 1},
};

static void test_lines(void **unused) {
    (void)unused;
    for (int k = 0; k < (int)(sizeof examples / sizeof *examples); k++) {
        if (in_shard(k) && !(all.cuda && k < 14)) {
            check(&examples[k]);
        }
    }
    assert_int_equal(complaints(), 0);
}

/* The output's first element lies so far behind that of x, in the same memory: what is read there is read as it was. */
static void test_over_inputs(void **unused) {
    static const struct {
        example e;
        int64_t behind;
    } cases[] = {
        {{SOFTMAX("0"), KRF_F32, 2, 0, {256, 16390}, TIGHT, 0}, 0}, {{SOFTMAX("0"), KRF_F32, 2, 0, {21, 200003}, TIGHT, 5}, 0},  {{SOFTMAX("0"), KRF_F32, 2, 0, {21, 200003}, TIGHT, 5}, 1},
        {{SOFTMAX("0"), KRF_F32, 2, 0, {21, 1003}, TIGHT, 0}, 0},   {{SOFTMAX("0"), KRF_F32, 2, 0, {100, 33}, TIGHT, 3}, 0},     {{SOFTMAX("0"), KRF_F32, 2, 0, {100, 333}, TIGHT, 3}, -2},
        {{SOFTMAX("1"), KRF_F32, 3, 1, {5, 256, 48}, TIGHT, 3}, 40}, {{WHOLES("0"), KRF_U8, 2, 0, {64, 700}, TIGHT, 3}, 0},      {{SOFTMAX("0"), KRF_BF16, 2, 0, {512, 64}, TIGHT, 0}, 0},
        {{"m = max(x, axis=0); e = exp(x[:, ::-1] - m); return e / sum(e, axis=0)", KRF_F32, 2, 0, {100, 333}, TIGHT, 0}, 0}, /* read in another order */
        {{"m = max(x, axis=0); e = exp(x[::-1] - m); return e / sum(e, axis=0)", KRF_F32, 2, 0, {100, 333}, TIGHT, 0}, 0},
        {{"m = max(x, axis=0); e = exp(x[:, 1:2] - m); return e / sum(e, axis=0)", KRF_F32, 2, 0, {100, 333}, TIGHT, 0}, 0}, /* all rows read one column, which is stored */
    };
    (void)unused;
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        const example *e = &cases[k].e;
        const int64_t n = size_of_shape(e->rank, e->shape), from = e->begins + 64, to = from + cases[k].behind, size = n + from + 128;
        const size_t bytes = bytes_of(e->dtype);
        int64_t strides[AXES] = {0}, step = 1;
        results want = {0};
        if (!in_shard(k) || (all.cuda && k < 3)) {
            continue;
        }
        for (int d = e->rank - 1; d >= 0; d--) {
            strides[d] = step;
            step *= e->shape[d];
        }
        char *const data = fill(e, size), *const got = malloc((size_t)size * bytes);
        assert_non_null(got);
        if (!collecting || off_is_noted) {
            given operand = {"x", e->dtype, e->rank, {0}, .data = data + (size_t)from * bytes};
            memcpy(operand.shape, e->shape, sizeof operand.shape);
            evaluate(off, e->text, 1, &operand, 1, &want);
        }
        for (int r = 0; r < all.n; r++) {
            krf_context *context = all.run[r].context;
            krf_array *base = NULL, *x = NULL, *out = NULL;
            krf_graph *g = krf_graph_create(context);
            krf_expr result;
            if (!passed_over(&all.run[r])) {
                if (krf_array_from_host(context, e->dtype, 1, &size, data, &base) != KRF_OK || krf_array_view(base, e->rank, e->shape, strides, from, &x) != KRF_OK || krf_array_view(base, e->rank, e->shape, strides, to, &out) != KRF_OK ||
                    krf_parse(g, e->text, (krf_binding[]){krf_bind_array("x", x)}, 1, &result) != KRF_OK || krf_eval(result, &out) != KRF_OK) {
                    fail_msg("%s: %s", e->text, krf_error_message());
                }
                assert_int_equal(krf_array_to_host(base, got, (size_t)size * bytes), KRF_OK);
            }
            if (!collecting && (memcmp(got + (size_t)to * bytes, want.data[0], (size_t)n * bytes) != 0 || memcmp(got, data, (size_t)to * bytes) != 0 ||
                                memcmp(got + (size_t)(to + n) * bytes, data + (size_t)(to + n) * bytes, (size_t)(size - to - n) * bytes) != 0)) {
                COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 ", %" PRId64 "], %" PRId64 " behind its operand, %s: other elements, or others written", e->text, name_of(e->dtype), e->shape[0], e->shape[1], e->shape[2], cases[k].behind,
                         all.run[r].label);
            }
            krf_graph_destroy(g);
            krf_array_release(out);
            krf_array_release(x);
            krf_array_release(base);
        }
        free_results(&want);
        free(got);
        free(data);
    }
    assert_int_equal(complaints(), 0);
}

int main(void) { return run_beside_own(TESTS(noted_test(test_lines), noted_test(test_over_inputs))); }
