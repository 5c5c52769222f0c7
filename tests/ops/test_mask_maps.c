/* Bools that maps make up words of (krf__cuda_adds_up), where no strips are: one dimension and its end, rows of any length, all dtypes, halves among what is computed; and which kernels masks have, as text of the CUDA target, which needs no
 * device. KRF_TEST_DEVICE. */
#include "ops/common.h"
#include "ops/masks.h"

/* ---- what elements become ---- */

static value less(const value *v) { return truth(is_less(v[0], v[1])); }
static value not_less(const value *v) { return truth(!is_less(v[0], v[1])); }
static value equal(const value *v) { return truth(is_equal(v[0], v[1])); }
static value no_number(const value *v) { return truth(is_real(v[0].dtype) ? isnan(v[0].f) : is_complex(v[0].dtype) && (isnan(v[0].f) || isnan(v[0].im))); }
static value infinite(const value *v) { return truth(isinf(v[0].f)); }
static value is_finite(const value *v) { return truth(isfinite(v[0].f)); }
static value less_or_none(const value *v) { return truth(is_less(v[0], v[1]) || isnan(v[2].f)); }
static value taken_apart(const value *v) { return difference(v[0], v[1]); }
static value as_halves(const value *v) { return truth(is_less(convert(v[0], KRF_F16), convert(v[1], KRF_F16))); }
static value sum_of_bf16(const value *v) {
    const value p = convert(v[0], KRF_BF16), q = convert(v[1], KRF_BF16);
    return truth(round_to(KRF_BF16, (long double)(p.f + q.f)) < convert(v[2], KRF_BF16).f);
}
static value half_below(const value *v) { return truth(v[0].i < 3); }
static value not_zero(const value *v) { return convert(v[0], KRF_BOOL); }
static value as_u8(const value *v) { return convert(v[0], KRF_U8); }
static value chosen(const value *v) { return is_less(v[0], v[1]) ? v[2] : v[3]; }
static value by_field(const value *v) { return truth(here[2] == 0 ? is_less(v[0], v[1]) : here[2] == 1 ? is_equal(v[0], v[1]) : here[2] == 2 ? is_less(v[1], v[0]) : !is_equal(v[0], v[1])); }
static value here_across(const value *v) { return truth(wide_of(v[0]) == here[2]); }
static value up_to_here(const value *v) { return truth(here[2] <= wide_of(v[0])); }

#define LINE .axes = "m"
#define OF(...) .gives = {__VA_ARGS__}
#define ONE .arrays = 1, .taken = 1, .results = 1, .array = {ALONG("m")}, .takes = {TAKE(0)}
#define TWO .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("m"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}
#define THREE .arrays = 3, .taken = 3, .results = 1, .array = {ALONG("m"), ALONG("m"), ALONG("m")}, .takes = {TAKE(0), TAKE(1), TAKE(2)}

static const program
    x_less_y = {.text = "x < y", TWO, OF(less), LINE}, x_not_less_y = {.text = "~(x < y)", TWO, OF(not_less), LINE}, x_equal_y = {.text = "x == y", TWO, OF(equal), LINE}, isnan_x = {.text = "isnan(x)", ONE, OF(no_number), LINE},
    isinf_x = {.text = "isinf(x)", ONE, OF(infinite), LINE}, isfinite_x = {.text = "isfinite(x)", ONE, OF(is_finite), LINE}, bool_x = {.text = "bool(x)", ONE, OF(not_zero), LINE},
    three = {.text = "(x < y) | isnan(z)", THREE, OF(less_or_none), LINE}, halves = {.text = "f16(x) < f16(y)", TWO, OF(as_halves), LINE}, halves_of_bytes = {.text = "f16(x) < 3", ONE, OF(half_below), LINE},
    sum_of_halves = {.text = "bf16(x) + bf16(y) < bf16(z)", THREE, OF(sum_of_bf16), LINE}, neighbours = {.text = "x[1:] < x[:-1]", .arrays = 1, .taken = 2, .results = 1, .array = {LONGER("m", 1)}, .takes = {FROM(0, 1), TAKE(0)}, OF(less), LINE},
    steps = {.text = "x[::2] < x[1::2]", .arrays = 1, .taken = 2, .results = 1, .array = {TIMES("m", 2)}, .takes = {STEPS(0, 0, 2), STEPS(0, 1, 2)}, OF(less), LINE},
    with_difference = {.text = "return x < y, x - y", .arrays = 2, .taken = 2, .results = 2, .array = {ALONG("m"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, OF(less, taken_apart), LINE},
    with_bytes = {.text = "return u8(x), x < y", .arrays = 2, .taken = 2, .results = 2, .array = {ALONG("m"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, OF(as_u8, less), LINE},
    two_masks = {.text = "return x == y, x < y", .arrays = 2, .taken = 2, .results = 2, .array = {ALONG("m"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, OF(equal, less), LINE},
    choice = {.text = "where(x < y, z, w)", .arrays = 4, .taken = 4, .results = 1, .array = {ALONG("m"), ALONG("m"), ALONG("m"), ALONG("m")}, .takes = {TAKE(0), TAKE(1), TAKE(2), TAKE(3)}, OF(chosen), LINE},
    with_row = {.text = "x < y", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("nm"), ALONG("m")}, .takes = {TAKE(0), TAKE(1)}, OF(less)},
    with_column = {.text = "x < y[:, None]", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("nm"), ALONG("n")}, .takes = {TAKE(0), TAKE(1)}, OF(less)},
    with_both = {.text = "(x < y[:, None]) | isnan(z)", .arrays = 3, .taken = 3, .results = 1, .array = {ALONG("nm"), ALONG("n"), ALONG("m")}, .takes = {TAKE(0), TAKE(1), TAKE(2)}, OF(less_or_none)},
    of_fields = {.text = "x[:, 0] < x[:, 1]", .arrays = 1, .taken = 2, .results = 1, .array = {ALONG("m2")}, .takes = {FROM(0, 0), FROM(0, 1)}, OF(less), LINE},
    records_of_two = {.text = "stack([x < y, x == y], axis=-1)", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), ALONG("n")}, .takes = {TAKE(0), TAKE(1)}, OF(by_field)},
    records_of_four = {.text = "stack([x < y, x == y, y < x, x != y], axis=-1)", .arrays = 2, .taken = 2, .results = 1, .array = {ALONG("n"), ALONG("n")}, .takes = {TAKE(0), TAKE(1)}, OF(by_field)},
    one_hot = {.text = "x[:, None] == arange(#)[None, :]", .arrays = 1, .taken = 1, .results = 1, .array = {ALONG("n")}, .takes = {TAKE(0)}, OF(here_across)},
    lengths_of = {.text = "arange(#)[None, :] <= x[:, None]", .arrays = 1, .taken = 1, .results = 1, .array = {ALONG("n")}, .takes = {TAKE(0)}, OF(up_to_here)};

/* ---- one dimension ---- */

static const int64_t ends[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 1023, 1024, 1025, 4095, 4096, 4097, 4111, 9000};
enum { ENDS = sizeof ends / sizeof *ends };

static void test_ends(void **unused) {
    static const struct {
        const program *p;
        krf_dtype dtype;
    } cases[] = {{&x_less_y, KRF_F32}, {&x_less_y, KRF_F64}, {&x_less_y, KRF_I16}, {&x_less_y, KRF_U8}, {&x_less_y, KRF_F16}, {&x_not_less_y, KRF_F32}, {&x_equal_y, KRF_BOOL}, {&x_equal_y, KRF_I64}, {&x_equal_y, KRF_C64}, {&isnan_x, KRF_F32},
                 {&isnan_x, KRF_F64}, {&isnan_x, KRF_BF16}, {&isnan_x, KRF_C64}, {&isinf_x, KRF_F32}, {&isfinite_x, KRF_F32}, {&isfinite_x, KRF_F16}, {&isfinite_x, KRF_F64}, {&bool_x, KRF_F32}, {&bool_x, KRF_I16}, {&three, KRF_F32},
                 {&halves, KRF_F32}, {&halves, KRF_F64}, {&halves_of_bytes, KRF_U8}, {&sum_of_halves, KRF_F32}, {&neighbours, KRF_F32}, {&neighbours, KRF_I16}, {&neighbours, KRF_U8}, {&steps, KRF_F32}, {&steps, KRF_I16},
                 {&with_difference, KRF_F32}, {&with_difference, KRF_F16}, {&with_bytes, KRF_F32}, {&with_bytes, KRF_I32}, {&two_masks, KRF_F32}, {&two_masks, KRF_U16}};
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int i = 0; i < ENDS; i++) {
            example e = {.p = cases[k].p, .dtypes = {cases[k].dtype, cases[k].dtype, cases[k].dtype}, .extents = {1, 1, ends[i]}, .rooms = i % 3 == 0 ? 0x1f : 0};
            e.layouts[0] = i % 4 == 1 ? SECOND : PLAIN;
            e.layouts[1] = i % 5 == 2 ? WORD_ON : i % 5 == 3 ? TWOS : PLAIN;
            try_example(&e);
        }
    }
    for (int i = 0; i < ENDS; i++) {
        try_example(&(example){.p = &choice, .dtypes = {KRF_F32, KRF_F32, KRF_BOOL, KRF_BOOL}, .extents = {1, 1, ends[i]}});
        try_example(&(example){.p = &x_less_y, .dtypes = {KRF_U8, KRF_F32}, .extents = {1, 1, ends[i]}});
        try_example(&(example){.p = &x_less_y, .dtypes = {KRF_F32, KRF_F16}, .extents = {1, 1, ends[i]}});
    }
    for (int i = 0; i < ENDS; i++) {
        try_example(&(example){.p = &of_fields, .dtypes = {i % 2 == 0 ? KRF_F32 : KRF_I16}, .extents = {1, 1, ends[i]}});
        try_example(&(example){.p = &records_of_two, .dtypes = {KRF_F32, KRF_F32}, .extents = {1, ends[i], 2}, .rooms = 0x7f});
        try_example(&(example){.p = &records_of_four, .dtypes = {KRF_F32, KRF_F32}, .extents = {1, ends[i], 4}, .rooms = 0x7f});
        try_example(&(example){.p = &records_of_four, .dtypes = {KRF_F64, KRF_F64}, .extents = {1, ends[i], 4}});
    }
    none_failed();
}

/* ---- rows ---- */

static void test_rows(void **unused) {
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 8, 10, 12, 16, 17, 20, 24, 31, 32, 33, 64, 100, 128, 1000};
    static const krf_dtype whole[] = {KRF_I64, KRF_I32, KRF_U8, KRF_I16}, dtypes[] = {KRF_F32, KRF_I16, KRF_F64, KRF_U8, KRF_BF16};
    (void)unused;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (int64_t n = 1; n < 70; n += n == 1 ? 6 : 31) {
            const krf_dtype dtype = dtypes[k % 5];
            try_example(&(example){.p = &one_hot, .dtypes = {whole[k % 2]}, .extents = {1, n, lengths[k]}, .rooms = 0x7f});
            try_example(&(example){.p = &one_hot, .dtypes = {whole[k % 4]}, .extents = {1, n, lengths[k]}});
            try_example(&(example){.p = &lengths_of, .dtypes = {whole[k % 2]}, .extents = {1, n, lengths[k]}});
            try_example(&(example){.p = &with_row, .dtypes = {KRF_F32, KRF_F32}, .extents = {1, n, lengths[k]}, .rooms = 0x7f});
            try_example(&(example){.p = &with_row, .dtypes = {dtype, dtype}, .extents = {1, n, lengths[k]}});
            try_example(&(example){.p = &with_column, .dtypes = {KRF_F32, KRF_F32}, .extents = {1, n, lengths[k]}});
            try_example(&(example){.p = &with_column, .dtypes = {dtype, dtype}, .extents = {1, n, lengths[k]}, .layouts = {k % 3 == 0 ? SECOND : PLAIN}});
            try_example(&(example){.p = &with_both, .dtypes = {KRF_F32, KRF_F32, KRF_F32}, .extents = {1, n, lengths[k]}});
        }
    }
    none_failed();
}

/* ---- which kernels there are ---- */

/* Of arrays named x and y, of one dimension or two (the second not 0). */
static char *text_of(const char *expression, krf_dtype x_dtype, krf_dtype y_dtype, const int64_t *x_shape, const int64_t *y_shape) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    krf_expr results[RESULTS];
    char *text = NULL;
    int n = 0;
    size_t size = 0;
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    krf_graph *g = krf_graph_create(context);
    const krf_binding bindings[] = {krf_bind_expr("x", krf_placeholder(g, "x", x_dtype, x_shape[1] != 0 ? 2 : 1, x_shape)), krf_bind_expr("y", krf_placeholder(g, "y", y_dtype, y_shape[1] != 0 ? 2 : 1, y_shape))};
    if (krf_parse_many(g, expression, bindings, 2, RESULTS, results, &n) != KRF_OK || krf_dump(g, n, results, KRF_DUMP_SOURCE, "cuda", NULL, &text, &size) != KRF_OK) {
        fail_msg("%s: %s", expression, krf_error_message());
    }
    krf_graph_destroy(g);
    krf_context_destroy(context);
    return text;
}

static int times_in(const char *text, const char *part) {
    int n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

static void must_have(const char *expression, krf_dtype x, krf_dtype y, int64_t n, int64_t m, const char *part, int times) {
    char *text = text_of(expression, x, y, (int64_t[]){n, 0}, (int64_t[]){m, 0});
    const int found = times_in(text, part);
    if (times < 0 ? found == 0 : found != times) {
        COMPLAIN("%s of %s and %s [%" PRId64 ", %" PRId64 "]: \"%s\" %d times, not %d", expression, name_of(x), name_of(y), n, m, part, found, times);
    }
    krf_free(text);
}

/* How often a result is stored by such a word in a strip of a thread: once a row. */
static void test_words(void **unused) {
    static const char *const less_than = "x[:, None] < y[None, :]", *const whole = "*(uint2 *)at_out0 = v_out0.word;", *const half = "*(unsigned *)at_out0 = v_out0.word;", *const quarter = "*(unsigned short *)at_out0 = v_out0.word;";
    static const krf_dtype widest[] = {KRF_F32, KRF_I32, KRF_U32, KRF_F64, KRF_I64, KRF_U64};
    (void)unused;
    for (int d = 0; d < 6; d++) {
        const char *vector = bytes_of(widest[d]) == 4 ? "union { uint4 word[2]; " : "union { uint4 word[4]; ";
        must_have(less_than, widest[d], widest[d], 100, 64, whole, 8);
        must_have(less_than, widest[d], widest[d], 100, 1000, whole, 8);
        must_have(less_than, widest[d], widest[d], 100, 16, whole, 8);
        must_have(less_than, widest[d], widest[d], 100, 64, vector, 1);
        must_have(less_than, widest[d], widest[d], 100, 64, "v_out0.four[7 / 4] += 1u << 7 % 4 * 8;", 8);
        must_have(less_than, widest[d], widest[d], 100, 64, "unsigned four[2]; } v_out0 = {};", 8);
        must_have(less_than, widest[d], widest[d], 100, 64, "v_out0.at[", 0);
        for (int64_t m = 20; m < 1020; m = 2 * m + 4) { /* multiples of 4, and of nothing more */
            must_have(less_than, widest[d], widest[d], 100, m, whole, 0);
            must_have(less_than, widest[d], widest[d], 100, m, half, 8);
            must_have(less_than, widest[d], widest[d], 100, m, "v_out0.four[3 / 4] += 1u << 3 % 4 * 8;", 8);
            must_have(less_than, widest[d], widest[d], 100, m - 2, quarter, 8);
            must_have(less_than, widest[d], widest[d], 100, m - 2, "four[", 0);
            must_have(less_than, widest[d], widest[d], 100, m - 1, "v_out0.word", 0);
        }
        must_have(less_than, widest[d], widest[d], 15, 64, "at_out0", 0); /* no strips */
    }
    must_have("f16(x[:, None] - y[None, :])", KRF_F64, KRF_F64, 100, 64, "*(uint4 *)at_out0 = v_out0.word;", 8);
    must_have("u8(x[:, None] - y[None, :])", KRF_F32, KRF_F32, 100, 64, whole, 8);
    must_have("u8(x[:, None] - y[None, :])", KRF_F32, KRF_F32, 100, 64, "+= 1u <<", 0);
    must_have("f16(x[:, None] - y[None, :])", KRF_F32, KRF_F32, 100, 64, "at_out0", 0); /* half as wide */
    must_have("x[:, None] - y[None, :]", KRF_F32, KRF_F32, 100, 64, "at_out0", 0);
    must_have(less_than, KRF_I16, KRF_I16, 100, 64, "at_out0", 0);
    must_have(less_than, KRF_F16, KRF_F16, 100, 64, "+= 1u <<", 0);
    must_have(less_than, KRF_BF16, KRF_F32, 100, 64, "+= 1u <<", 0);
    must_have(less_than, KRF_F32, KRF_F16, 100, 64, whole, 8);
    for (int d = 0; d < 6; d++) { /* elements that lie apart are loaded one by one, not so many of them */
        must_have("x[:, None] < y[None, ::2]", widest[d], widest[d], 100, 128, bytes_of(widest[d]) == 4 ? half : quarter, 8);
        must_have("x[:, None] < y[None, ::-1]", widest[d], widest[d], 100, 64, bytes_of(widest[d]) == 4 ? half : quarter, 8);
    }
    none_failed();
}

/* Of so many instructions, loads and stores among them: that and one more. */
static void test_bodies(void **unused) {
    static const char *const twelve = "(((x[:, None] + y[None, :]) * x[:, None] - y[None, :]) * x[:, None] + y[None, :]) * x[:, None] * y[None, :] + x[:, None] < y[None, :]",
                      *const thirteen = "(((x[:, None] + y[None, :]) * x[:, None] - y[None, :]) * x[:, None] + y[None, :]) * x[:, None] * y[None, :] + x[:, None] - y[None, :] < x[:, None]";
    (void)unused;
    must_have(twelve, KRF_F32, KRF_F32, 100, 64, "*(uint2 *)at_out0 = v_out0.word;", 4); /* strips of four rows */
    must_have(thirteen, KRF_F32, KRF_F32, 100, 64, "at_out0", 0);
    must_have("(((x[:-1, None] + y[None, :]) * x[1:, None] - y[None, :]) * x[:-1, None] + y[None, :]) * x[:-1, None] * y[None, :] + x[:-1, None] - y[None, :] < x[1:, None]", KRF_F32, KRF_F32, 101, 64, "*(uint2 *)at_out0", 0);
    must_have("(((x[:-1, None] + y[None, 3:]) * x[1:, None] - y[None, 3:]) * x[:-1, None] + y[None, 3:]) * x[:-1, None] * y[None, 3:] + x[:-1, None] - y[None, 3:] < x[1:, None]", KRF_F32, KRF_F32, 101, 67, "*(uint2 *)at_out0", 0);
    none_failed();
}

/* Words of memory in which a row's elements lie: no more are loaded, for the last of them may be where memory ends. */
static void test_loads(void **unused) {
    char text[120];
    (void)unused;
    for (int d = 0; d < 2; d++) {
        const krf_dtype dtype = d == 0 ? KRF_F32 : KRF_F64;
        const int64_t per = 16 / (int64_t)bytes_of(dtype);
        for (int64_t from = 0; from < 9; from++) {
            const int64_t at = from % 8, words = (at + 7) / per - at / per + 1;
            snprintf(text, sizeof text, "(x[:-1, None] <= y[None, %" PRId64 ":]) & (y[None, %" PRId64 ":] < x[1:, None])", from, from);
            must_have(text, dtype, dtype, 101, 64 + from, "((const uint4 *)at_in1)[", (int)words);
        }
    }
    none_failed();
}

/* Threads beside one another: of rows of 16 words and fewer as many as there are, of 4 at least, a power of two; so it is with rows of single elements, whatever their length. */
static void test_sides(void **unused) {
    static const struct {
        const char *text;
        krf_dtype dtype;
        int64_t columns; /* of a result, whose x has 2 more */
        int side;
    } cases[] = {{NULL, KRF_F32, 16, 4}, {NULL, KRF_F32, 32, 4}, {NULL, KRF_F32, 40, 8}, {NULL, KRF_F32, 64, 8}, {NULL, KRF_F32, 72, 16}, {NULL, KRF_F32, 128, 16}, {NULL, KRF_F32, 136, 64}, {NULL, KRF_F32, 4096, 64},
                 {NULL, KRF_F32, 20, 8}, {NULL, KRF_F32, 36, 16}, {NULL, KRF_F32, 68, 64}, {NULL, KRF_F64, 32, 4}, {NULL, KRF_F64, 18, 16}, {NULL, KRF_F64, 34, 64}, {NULL, KRF_F32, 18, 16},
                 {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F32, 16, 8}, {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F32, 17, 32}, {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F32, 32, 16},
                 {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F32, 34, 64}, {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F64, 18, 16}, {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_BF16, 30, 16},
                 {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_U8, 32, 16}, {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F32, 16384, 128},
                 {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F32, 33, 64}, {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F32, 65, 128}, {"x[2:, 1:-1] - 2 * x[1:-1, 1:-1] + x[:-2, 2:]", KRF_F32, 1001, 256}};
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *expression = cases[k].text != NULL ? cases[k].text : "x[:, None] < y[None, :]";
        const int64_t x[] = {100, cases[k].text != NULL ? cases[k].columns + 2 : 0}, y[] = {cases[k].columns, 0};
        char *text = text_of(expression, cases[k].dtype, cases[k].dtype, x, y), part[60];
        snprintf(part, sizeof part, "int x = threadIdx.x %% %d, y = threadIdx.x / %d;", cases[k].side, cases[k].side);
        if (strstr(text, part) == NULL) {
            const char *has = strstr(text, "int x = threadIdx.x");
            COMPLAIN("%s of %s [%" PRId64 "]: %.50s, not %s", expression, name_of(cases[k].dtype), cases[k].columns, has != NULL ? has : "no strips", part);
        }
        krf_free(text);
    }
    none_failed();
}

int main(void) {
    return run_on(open_noted_runs(&all_runs, false), TESTS(noted_test(test_ends), noted_test(test_rows), cmocka_unit_test(test_words), cmocka_unit_test(test_bodies), cmocka_unit_test(test_loads), cmocka_unit_test(test_sides)));
}
