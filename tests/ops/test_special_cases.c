/* The special cases that the standard lists, and those of our own (special_cases.def), in f32 and f64 on every tier, or on the
 * GPU. One evaluation a run and dtype: every case is an expression of its own over rank-0 operands. */
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

static void check_dtype(run *r, krf_dtype dtype) {
    krf_graph *g = krf_graph_create(r->context);
    krf_array **arrays = calloc(2 * CASES, sizeof *arrays), **out = calloc(CASES, sizeof *out);
    krf_expr *built = calloc(CASES, sizeof *built);
    for (int i = 0; i < CASES; i++) {
        unsigned char bytes[2][8];
        put(bytes[0], 0, (value){.dtype = dtype, .f = cases[i].x});
        put(bytes[1], 0, (value){.dtype = dtype, .f = cases[i].y});
        for (int k = 0; k < 2; k++) {
            assert_int_equal(krf_array_from_host(r->context, dtype, 0, NULL, bytes[k], &arrays[2 * i + k]), KRF_OK);
        }
        built[i] = cases[i].build(krf_input(g, arrays[2 * i]), krf_input(g, arrays[2 * i + 1]));
        assert_true(krf_expr_ok(built[i]));
    }
    if (krf_eval_many(CASES, built, out) != KRF_OK) {
        fail_msg("%s: %s", r->label, krf_error_message());
    }
    for (int i = 0; i < CASES; i++) {
        krf_dtype result = krf_array_dtype(out[i]);
        void *data = to_host(out[i], result, 0, NULL, cases[i].text);
        value v = data != NULL ? get(data, result, 0) : (value){.f = -12345};
        double got = is_real(result) ? v.f : (double)v.i;
        if (!fits(got, cases[i].want, dtype)) {
            COMPLAIN("%s: %s in %s: %.17g, not %.17g", r->label, cases[i].text, name_of(dtype), got, cases[i].want);
        }
        free(data);
        krf_array_release(out[i]);
        krf_array_release(arrays[2 * i]);
        krf_array_release(arrays[2 * i + 1]);
    }
    krf_graph_destroy(g);
    free(arrays);
    free(out);
    free(built);
}

static void test_cases(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        check_dtype(&all_runs.run[r], KRF_F32);
        check_dtype(&all_runs.run[r], KRF_F64);
    }
    assert_int_equal(failures, 0);
}

static int open_all(void **unused) {
    (void)unused;
    open_runs(&all_runs, false);
    return 0;
}

static int close_all(void **unused) {
    (void)unused;
    close_runs(&all_runs);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
