/* Functions that have a shorter text where their argument is known to lie in a part of their range have the same bits as where that was stored and is read again, of which nothing is known;
 * and softplus those of the operations that it consists of. */
#include "ops/common.h"

static runs all_runs;

enum { N = 4000 };

static const char *const arguments[] = {
    "exp(-abs(x))", "exp(-(x * x))", "exp(minimum(x, 0))", "exp(minimum(-0.5, x))", "exp(-0.5 * abs(x))", "exp(abs(x) * -3)", "exp(-exp(x))",
    "exp(x)", "exp(-x)", "exp(abs(x))", "exp(maximum(x, 0))", "exp(0.5 * abs(x))", "exp(minimum(x, 0.5))", "exp(-0.5 * x)", "abs(x)", /* not below 1 */
};

static void compare(const run *r, krf_dtype dtype, const char *fused, krf_array *x, const char *parts, krf_array *of) {
    const int64_t n = N;
    krf_array *both[2] = {evaluate_of(r, fused, x), evaluate_of(r, parts, of)};
    char *got = collecting ? NULL : to_host(both[0], dtype, 1, &n, fused), *want = collecting ? NULL : to_host(both[1], dtype, 1, &n, parts);
    for (int64_t i = 0; got != NULL && want != NULL && i < N; i++) {
        if (!same(get(got, dtype, i), get(want, dtype, i))) {
            COMPLAIN("%s of %s, %s: element %" PRId64 " is %a, not %a", fused, name_of(dtype), r->label, i, get(got, dtype, i).f, get(want, dtype, i).f);
            break;
        }
    }
    free(got);
    free(want);
    krf_array_release(both[0]);
    krf_array_release(both[1]);
}

static void check(const run *r, krf_dtype dtype, const char *memory) {
    const int64_t n = N;
    krf_array *x = NULL;
    assert_int_equal(krf_array_from_host(r->context, dtype, 1, &n, memory, &x), KRF_OK);
    for (size_t k = 0; k < sizeof arguments / sizeof *arguments; k++) {
        char fused[64];
        snprintf(fused, sizeof fused, "log1p(%s)", arguments[k]);
        krf_array *of = evaluate_of(r, arguments[k], x);
        compare(r, dtype, fused, x, "log1p(x)", of);
        krf_array_release(of);
    }
    compare(r, dtype, "softplus(x)", x, "where(x > 0, x, 0) + log1p(exp(-abs(x)))", x);
    krf_array_release(x);
}

static void test_bits(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64};
    static const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-149, 0.6931471805599453, -0.6931471805599453, 0x1p-24, -0x1p-25, 87, -87, 88.8, -88.8, 104, -104, 1e30, -1e30, 0.5, 1};
    static char memory[N * sizeof(double)];
    (void)unused;
    failures = 0;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        uint64_t seed = 20261129;
        for (int64_t i = 0; i < N; i++) {
            const double any = (random_unit(&seed) - 0.5) * (i % 3 == 0 ? 4 : i % 3 == 1 ? 40 : 250);
            put(memory, i, (value){.dtype = dtypes[d], .f = round_to(dtypes[d], (long double)(i < (int64_t)(sizeof special / sizeof *special) ? special[i] : any))});
        }
        for (int r = 0; r < all_runs.n; r++) {
            if (!passed_over(&all_runs.run[r])) {
                check(&all_runs.run[r], dtypes[d], memory);
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all_runs, false), TESTS(noted_test(test_bits))); }
