/* Variances down columns by parts of 256 rows (ir/build_variance.c): of f64, complex and long integers, more than 8,192 elements a result of which 32 or more lie beside one another; and what is just not so. Against two passes in
 * long double with a bound that a difference of sums would miss by far; all tiers, devices and settings of fusion must have the same bits. Rows, and fewer columns: test_parts.c. */
#include "ops/common.h"

#include "rows/beside.h"

enum { MOST = 700000, MOST_RESULTS = 200, KINDS = 9 };

typedef struct example {
    const char *program;
    krf_dtype dtype;
    int rank, first, reduced; /* axes first to first + reduced - 1 */
    int64_t shape[3];
    int ddof;
} example;

static char data[MOST * 16];

/* By column: element p of n of it. A difference of sums of what is near 1e9 has no digit left. */
static double number(int kind, int64_t p, int64_t n, double unit) {
    switch (kind) {
    case 0: return 1e6 + unit;
    case 1: return 1e9 + unit;
    case 2: return 7;
    case 3: return p == n - 1 ? (double)NAN : unit;
    case 4: return 1e8 + 1000 * (double)(p / 256) + unit; /* parts are far apart */
    case 5: return p == n / 2 ? -(double)INFINITY : unit;
    case 6: return p % 2 == 0 ? 1e200 : -1e200; /* whose squares are infinite */
    case 7: return -1e9 + unit * 1e-3;
    default: return 0.1;
    }
}

/* What c64 and 32 bits have digits for. */
static double smaller(krf_dtype dtype, int kind, int64_t p, int64_t n, double unit) {
    if (dtype == KRF_C64) {
        return kind == 3 || kind == 5 || kind == 2 ? number(kind, p, n, unit) : kind == 6 ? (p % 2 == 0 ? 1e30 : -1e30) : 1000 + unit;
    }
    return kind == 2 ? 7 : kind == 3 ? 1999999999 : kind == 4 ? 1e6 * (double)(p / 256) + floor(100 * unit) : 1e9 + floor(100 * unit);
}

static int64_t column_of(const example *e, int64_t i) {
    int64_t inner = 1, n = 1;
    for (int d = 0; d < e->rank; d++) {
        inner *= d >= e->first + e->reduced ? e->shape[d] : 1;
        n *= d >= e->first && d < e->first + e->reduced ? e->shape[d] : 1;
    }
    return i / (inner * n) * inner + i % inner;
}

static int64_t length_of(const example *e) { return size_of_shape(e->reduced, e->shape + e->first); }

static void fill(const example *e) {
    static int64_t met[MOST_RESULTS];
    uint64_t seed = 5;
    memset(met, 0, sizeof met);
    for (int64_t i = 0; i < size_of_shape(e->rank, e->shape); i++) {
        const int64_t j = column_of(e, i), p = met[j]++, n = length_of(e);
        const double unit = 3.4641016151377544 * random_unit(&seed), other = 3.4641016151377544 * random_unit(&seed); /* a deviation of 1 */
        const int kind = (int)(j % KINDS);
        const bool small = e->dtype == KRF_C64 || !(is_real(e->dtype) || is_complex(e->dtype));
        value v = {.dtype = is_complex(e->dtype) ? KRF_C128 : KRF_F64, .f = small ? smaller(e->dtype, kind, p, n, unit) : number(kind, p, n, unit)};
        v.im = !is_complex(e->dtype) ? 0 : kind == 2 ? 3 : kind == 6 || kind == 8 ? 0.5 : small ? other - 300 : 1e6 + other;
        put(data, i, convert(v, e->dtype));
    }
}

static void variances(const example *e, long double *wanted) {
    static long double near[2][MOST_RESULTS], means[2][MOST_RESULTS];
    const int64_t size = size_of_shape(e->rank, e->shape);
    const long double n = (long double)length_of(e);
    memset(means, 0, sizeof means);
    memset(wanted, 0, MOST_RESULTS * sizeof *wanted);
    for (int pass = 0; pass < 3; pass++) {
        for (int64_t i = size - 1; i >= 0; i--) {
            const value v = get(data, e->dtype, i);
            const int64_t j = column_of(e, i);
            const long double x = is_real(e->dtype) || is_complex(e->dtype) ? (long double)v.f : (long double)wide_of(v), y = (long double)v.im;
            if (pass == 0) {
                near[0][j] = x;
                near[1][j] = y;
            } else if (pass == 1) {
                means[0][j] += (x - near[0][j]) / n;
                means[1][j] += (y - near[1][j]) / n;
            } else {
                const long double a = x - near[0][j] - means[0][j], b = y - near[1][j] - means[1][j];
                wanted[j] += (a * a + b * b) / (n - e->ddof);
            }
        }
    }
}

static void check(const example *e) {
    static long double wanted[MOST_RESULTS];
    char what[200];
    results want = {0};
    given x = {"x", e->dtype, e->rank, {0}, .data = data};
    memcpy(x.shape, e->shape, sizeof e->shape);
    assert_true(size_of_shape(e->rank, e->shape) <= MOST && size_of_shape(e->rank, e->shape) / length_of(e) <= MOST_RESULTS);
    snprintf(what, sizeof what, "%s of %s [%" PRId64 ", %" PRId64 ", %" PRId64 "]", e->program, name_of(e->dtype), e->shape[0], e->shape[1], e->shape[2]);
    if (!collecting) {
        fill(e);
        variances(e, wanted);
    }
    must_agree(e->program, 1, &x, 1, 0, what, &want);
    for (int64_t j = 0; !collecting && j < want.size[0]; j++) {
        const int kind = (int)(j % KINDS);
        const bool single = e->dtype == KRF_C64, passes = e->shape[1] == 31 || e->shape[0] == 8192, real = is_real(e->dtype) || is_complex(e->dtype), beyond = real && (kind == 3 || kind == 5);
        const double got = get(want.data[0], want.dtype[0], j).f;
        const long double w = strncmp(e->program, "std", 3) == 0 ? sqrtl(wanted[j]) : wanted[j];
        bool right = fabsl((long double)got - w) <= w * (single ? 1e-5L : passes && kind == 7 ? 1e-7L : 1e-12L) + (real && !single && kind == 8 ? 1e-15L : 0);
        right = beyond ? isnan(got) : real && kind == 6 ? isinf(got) && got > 0 : kind == 2 ? got == 0 : right;
        if (!right && !(single && kind == 8 && fabs(got) < 1)) {
            COMPLAIN("%s: column %" PRId64 " (%d) is %.17g, not %.17Lg", what, j, kind, got, w);
        }
    }
    free_results(&want);
}

static const example examples[] = {
    {"var(x, axis=0)", KRF_F64, 2, 0, 1, {8193, 32}, 0},
    {"std(x, axis=0, ddof=1)", KRF_F64, 2, 0, 1, {8200, 33}, 1},
    {"var(x, axis=0, keepdims=True)", KRF_F64, 2, 0, 1, {10007, 64}, 0},
    {"var(x, axis=0)", KRF_F64, 2, 0, 1, {16385, 33}, 0},
    {"var(x, axis=0)", KRF_F64, 2, 0, 1, {16384, 36}, 0}, /* no rest */
    {"var(x, axis=0)", KRF_F64, 2, 0, 1, {16385, 31}, 0}, /* two passes, and so the next, in which means are rounded */
    {"var(x, axis=0)", KRF_F64, 2, 0, 1, {8192, 32}, 0},
    {"std(x, axis=1, keepdims=True)", KRF_F64, 3, 1, 1, {2, 8193, 36}, 0},
    {"var(x, axis=0, ddof=1)", KRF_F64, 3, 0, 1, {8300, 4, 9}, 1}, /* two axes behind */
    {"var(x, axis=(0, 1))", KRF_F64, 3, 0, 2, {2, 8193, 36}, 0},
    {"var(x, axis=(0, 1))", KRF_F64, 3, 0, 2, {33, 250, 36}, 0}, /* of which neither has a part */
    {"var(x, axis=0)", KRF_C128, 2, 0, 1, {8200, 33}, 0},
    {"std(x, axis=1, ddof=2)", KRF_C128, 3, 1, 1, {2, 8193, 32}, 2},
    {"var(x, axis=0, ddof=1)", KRF_C64, 2, 0, 1, {10007, 36}, 1},
    {"var(x, axis=0)", KRF_I32, 2, 0, 1, {10007, 33}, 0},
    {"std(x, axis=0, ddof=1)", KRF_I64, 2, 0, 1, {8193, 64}, 1},
    {"var(x, axis=1)", KRF_U32, 3, 1, 1, {2, 8200, 32}, 0},
    {"var(x, axis=0, keepdims=True)", KRF_U64, 2, 0, 1, {16385, 32}, 0},
};

static void test_columns(void **unused) {
    (void)unused;
    for (int k = 0; k < (int)(sizeof examples / sizeof *examples); k++) {
        if (in_shard(k)) {
            check(&examples[k]);
        }
    }
    assert_int_equal(complaints(), 0);
}

/* Of views, what their copies have. */
static void test_views(void **unused) {
    static const struct {
        const char *view, *copy; /* of a [8300, 70] */
    } cases[] = {{"x[:, 1:37]", "x[:, 1:37] + 0"}, {"x[::-1]", "x[::-1] + 0"}, {"x[3:-5, ::2]", "x[3:-5, ::2] + 0"}, {"x[:, ::-1]", "x[:, ::-1] + 0"}, {"x * 2 + arange(70)", "x * 2 + arange(70)"}};
    (void)unused;
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        const example e = {"", KRF_F64, 2, 0, 1, {8300, 70}, 0};
        char text[100], what[140];
        results one = {0}, other = {0};
        const given x = {"x", KRF_F64, 2, {8300, 70}, .data = data};
        if (!in_shard(k)) {
            continue;
        }
        fill(&e);
        snprintf(text, sizeof text, "var(%s, axis=0)", cases[k].view);
        must_agree(text, 1, &x, 1, 0, text, &one);
        if (!collecting) {
            snprintf(text, sizeof text, "%s", cases[k].copy);
            evaluate(off, text, 1, &x, 1, &other);
            const given copy = {"x", KRF_F64, 2, {k == 2 ? 8292 : 8300, k == 0 ? 36 : k == 2 ? 35 : 70}, .data = other.data[0]};
            results of_copy = {0};
            evaluate(all.run[0].context, "var(x, axis=0)", 1, &copy, 1, &of_copy);
            snprintf(what, sizeof what, "var of %s, and of its copy", cases[k].view);
            equal_results(&of_copy, &one, what);
            free_results(&of_copy);
        }
        free_results(&other);
        free_results(&one);
    }
    assert_int_equal(complaints(), 0);
}

/* One kernel goes over the array, which it reads once, and leaves what a second one takes together; or both read it. */
static void test_kernels(void **unused) {
    static const struct {
        const char *text;
        int64_t read;
        bool parts;
    } cases[] = {
        {"x: f64[16384, 64]; return var(x, axis=0)", 8388608, true},     {"x: i64[16384, 64]; return std(x, axis=0)", 8388608, true},
        {"x: i32[16384, 64]; return var(x, axis=0)", 4194304, true},     {"x: f64[4, 16384, 32]; return var(x, axis=1)", 16777216, true},
        {"x: f64[16384, 31]; return var(x, axis=0)", 4063232, false},    {"x: f64[8192, 64]; return var(x, axis=0)", 4194304, false},
        {"x: f64[4, 16384, 31]; return var(x, axis=1)", 16252928, false},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krf_graph *g = krf_graph_create(all.run[0].context);
        krf_expr result;
        krf_plan *plan = NULL;
        krf_kernel_info info = {.size = sizeof info}, next = {.size = sizeof next};
        int count = 0;
        assert_int_equal(krf_parse_many(g, cases[i].text, NULL, 0, 1, &result, &count), KRF_OK);
        assert_int_equal(krf_compile(g, 1, &result, NULL, &plan), KRF_OK);
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        const int n = krf_plan_kernels(plan);
        assert_true(n < 2 || krf_plan_kernel(plan, 1, &next) == KRF_OK);
        const bool once = n == 2 && next.bytes_read < info.bytes_read / 8, twice = n == 2 && next.bytes_read >= info.bytes_read;
        if (!all.cuda && (info.bytes_read != cases[i].read || !(cases[i].parts ? once : twice))) {
            COMPLAIN("%s: %d kernels, the first reads %" PRId64 " bytes, the second %" PRId64, cases[i].text, n, info.bytes_read, next.bytes_read);
        }
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
    assert_int_equal(complaints(), 0);
}

int main(void) { return run_beside_cpu(TESTS(noted_test(test_columns), noted_test(test_views), cmocka_unit_test(test_kernels))); }
