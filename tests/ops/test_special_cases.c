/* The special cases that the standard lists, and those of our own (special_cases.def), in f32 and f64 on every tier, or on the
 * GPU. One evaluation a run and dtype, of a result for each function: its cases beside one another, and the last one again until all functions have as many. */
#include "ops/common.h"

#define INF INFINITY
#define PI 3.14159265358979323846

typedef struct special_case {
    const char *text;
    int arity;
    double x, y, want;
    krf_expr (*build)(krf_expr x, krf_expr y);
} special_case;

/* A function a row would be many; one a name needs a list of names: __LINE__ does not serve, as lines hold several rows. */
#define BUILD1(name) \
    __attribute__((unused)) static krf_expr build_##name(krf_expr x, krf_expr y) { \
        (void)y; \
        return krf_##name(x); \
    }
#define BUILD2(name) \
    __attribute__((unused)) static krf_expr build_##name(krf_expr x, krf_expr y) { return krf_##name(x, y); }
#define BUILD3(name) /* none of these is in the list */
#define NODE(...)
#define OP(name, arity, ...) BUILD##arity(name)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"

#define ONE(name, x, want) {#name "(" #x ")", 1, x, 0, want, build_##name},
#define TWO(name, x, y, want) {#name "(" #x ", " #y ")", 2, x, y, want, build_##name},
static const special_case cases[] = {
#include "ops/special_cases.def"
};
enum { CASES = sizeof cases / sizeof *cases };

static runs all_runs;

/* Exactly the value and its sign; where it is no number of the dtype (parts of pi), at most one unit in the last place off. */
static bool fits(double got, double want, krf_dtype dtype) {
    if (isnan(want)) {
        return isnan(got);
    }
    double near = dtype == KRF_F32 ? (double)(float)want : want;
    double unit = dtype == KRF_F32 ? (double)nextafterf((float)fabs(near), INFINITY) - fabs(near)
                                   : nextafter(fabs(near), INFINITY) - fabs(near);
    /* CUDA's functions are a unit off at some whole numbers: exp10(3), log2(8). */
    bool whole = isinf(near) || near == 0 || (near * 4 == floor(near * 4) && !all_runs.cuda);
    return whole ? got == near && signbit(got) == signbit(near) : fabs(got - near) <= unit;
}

/* Cases [first, end) are all of one function. */
static int end_of(int first) {
    int end = first + 1;
    while (end < CASES && cases[end].build == cases[first].build) {
        end++;
    }
    return end;
}

/* Functions are shared out (shard.h): whether this process has the one whose cases begin there. */
static bool is_chosen(int first) {
    int function = 0;
    for (int at = 0; at < first; at = end_of(at)) {
        function++;
    }
    return in_shard(function);
}

/* The operands of a function's cases, side by side. */
static krf_expr operand(run *r, krf_graph *g, krf_dtype dtype, int first, int count, bool second) {
    unsigned char *bytes = calloc((size_t)count, 8);
    krf_array *array = NULL;
    assert_non_null(bytes);
    for (int i = 0; i < count; i++) {
        const special_case *c = &cases[first + i < end_of(first) ? first + i : end_of(first) - 1];
        put(bytes, i, (value){.dtype = dtype, .f = second ? c->y : c->x});
    }
    assert_int_equal(krf_array_from_host(r->context, dtype, 1, (int64_t[]){count}, bytes, &array), KRF_OK);
    krf_expr e = krf_input(g, array);
    krf_array_release(array);
    free(bytes);
    return e;
}

static void check_dtype(run *r, krf_dtype dtype) {
    krf_graph *g = krf_graph_create(r->context);
    krf_array *out[CASES];
    krf_expr built[CASES];
    int functions = 0, count = 0;
    for (int first = 0; first < CASES; first = end_of(first)) {
        count = end_of(first) - first > count ? end_of(first) - first : count;
    }
    for (int first = 0; first < CASES; first = end_of(first)) {
        if (!is_chosen(first)) {
            continue;
        }
        built[functions] = cases[first].build(operand(r, g, dtype, first, count, false), operand(r, g, dtype, first, count, true));
        assert_true(krf_expr_ok(built[functions]));
        out[functions++] = NULL;
    }
    if (krf_eval_many(functions, built, out) != KRF_OK) {
        fail_msg("%s: %s", r->label, krf_error_message());
    }
    functions = 0;
    for (int first = 0; first < CASES; first = end_of(first)) {
        if (!is_chosen(first)) {
            continue;
        }
        krf_dtype result = krf_array_dtype(out[functions]);
        void *data = to_host(out[functions], result, 1, (int64_t[]){count}, cases[first].text);
        for (int i = 0; i < count; i++) {
            const special_case *c = &cases[first + i < end_of(first) ? first + i : end_of(first) - 1];
            value v = data != NULL ? get(data, result, i) : (value){.f = -12345};
            double got = is_real(result) ? v.f : (double)v.i;
            if (!fits(got, c->want, dtype)) {
                COMPLAIN("%s: %s in %s: %.17g, not %.17g", r->label, c->text, name_of(dtype), got, c->want);
            }
        }
        free(data);
        krf_array_release(out[functions++]);
    }
    krf_graph_destroy(g);
}

static void test_cases(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        check_dtype(&all_runs.run[r], KRF_F32);
        check_dtype(&all_runs.run[r], KRF_F64);
    }
    assert_int_equal(failures, 0);
}

/* The logarithm of 1 is +0; -1 times that, and that by -1, is -0 (IEEE 754, 6.3), also where a compiler knows the -1 and sees how logarithms are computed: of
 * 16 bits it knows that there are no special cases, so that their last step comes right before the sign. */
static void test_signs_of_zero(void **unused) {
    static const char *const texts[] = {"-log(x)", "log(x) * -1", "-1 * log(x)", "log(x) / -1", "xlogy(-1, x)", "xlog1py(-1, x - 1)", "log1p(x - 1) * -1"};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_U16};
    enum { N = 300 };
    (void)unused;
    for (int r = 0; r < 3 * all_runs.n; r++) {
        const run *now = &all_runs.run[r / 3];
        const krf_dtype dtype = dtypes[r % 3], result = dtype == KRF_F64 ? KRF_F64 : KRF_F32;
        char memory[N * 8];
        for (int i = 0; i < N; i++) {
            put(memory, i, (value){.dtype = dtype, .f = 1, .i = 1});
        }
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            if (!in_shard(r + (int64_t)t)) {
                continue;
            }
            krf_graph *g = krf_graph_create(now->context);
            krf_array *in = NULL, *out = NULL;
            krf_expr e;
            assert_int_equal(krf_array_from_host(now->context, dtype, 1, (int64_t[]){N}, memory, &in), KRF_OK);
            const krf_binding name = krf_bind_array("x", in);
            if (krf_parse(g, texts[t], &name, 1, &e) != KRF_OK || krf_eval(e, &out) != KRF_OK) {
                fail_msg("%s: %s: %s", now->label, texts[t], krf_error_message());
            }
            void *data = to_host(out, result, 1, (int64_t[]){N}, texts[t]);
            for (int i = 0; data != NULL && i < N; i++) {
                const double got = get(data, result, i).f;
                if (got != 0 || !signbit(got)) {
                    COMPLAIN("%s: %s in %s: element %d is %g, not -0", now->label, texts[t], name_of(dtype), i, got);
                    break;
                }
            }
            free(data);
            krf_array_release(out);
            krf_array_release(in);
            krf_graph_destroy(g);
        }
    }
    assert_int_equal(failures, 0);
}

/* Logarithms of subnormal f64 and next to them, which a GPU takes another way. Against the C library's of long double, at most two units off. */
static void test_small_arguments(void **unused) {
    static const double x[] = {0x1p-1074, 0x1.8p-1073, 0x1.fffffp-1030, 0x0.fffffffffffffp-1022, 0x1p-1022, 0x1.8p-1022, 0x1p-1000, 0x1p-54, 0.75, 1.5, 0x1.fffffffffffffp1023};
    enum { N = sizeof x / sizeof *x };
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        const run *now = &all_runs.run[r];
        krf_graph *g = krf_graph_create(now->context);
        krf_array *in = NULL, *out[2] = {NULL};
        krf_expr e[2];
        int n = 0;
        assert_int_equal(krf_array_from_host(now->context, KRF_F64, 1, (int64_t[]){N}, x, &in), KRF_OK);
        const krf_binding name = krf_bind_array("x", in);
        assert_int_equal(krf_parse_many(g, "log(x), log1p(x)", &name, 1, 2, e, &n), KRF_OK);
        assert_int_equal(krf_eval_many(2, e, out), KRF_OK);
        for (int f = 0; f < 2; f++) {
            double *data = to_host(out[f], KRF_F64, 1, (int64_t[]){N}, f == 0 ? "log" : "log1p");
            for (int i = 0; data != NULL && i < N; i++) {
                const double want = (double)(f == 0 ? logl(x[i]) : log1pl(x[i])), unit = nextafter(fabs(want), INFINITY) - fabs(want);
                if (!(fabs(data[i] - want) <= 2 * unit)) {
                    COMPLAIN("%s: %s(%a) is %.17g, not %.17g", now->label, f == 0 ? "log" : "log1p", x[i], data[i], want);
                }
            }
            free(data);
            krf_array_release(out[f]);
        }
        krf_array_release(in);
        krf_graph_destroy(g);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_on(open_runs(&all_runs, false),
                  TESTS(cmocka_unit_test(test_cases), cmocka_unit_test(test_signs_of_zero), cmocka_unit_test(test_small_arguments)));
}
