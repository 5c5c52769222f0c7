// f32 functions by the text that GPUs run where it is another one than a CPU's, against MPFR: with the processor's reciprocal exact, and a unit of its last place larger and smaller. All else there is exactly rounded.
#include "math/exact.h"
#include "math/measure.h"

static int off;

static inline float reciprocal(float y) {
    float r = 1.0f / (fabsf(y) < 0x1p-126f ? 0.0f * y : y);
    if (!(fabsf(r) >= 0x1p-126f && fabsf(r) < INFINITY)) {
        return fabsf(r) < 0x1p-126f ? 0.0f * r : r; // as the processor, which takes subnormal numbers for 0
    }
    unsigned bits;
    memcpy(&bits, &r, sizeof bits);
    bits += (unsigned)off;
    memcpy(&r, &bits, sizeof bits);
    return r;
}

#define KRF_FN static inline
#define KRF_RCP(y) reciprocal(y)
#include "codegen/math/real.h"
#include "codegen/math/floats.h"
#include "codegen/math/tails.h"
#include "codegen/math/gammas.h"
#include "codegen/math/powers.h"

/* As literal exponents are taken. */
static float near_power(float x, float y) { return fabsf(y) <= 16 ? krf_pow_near_f32(x, y) : krf_powf(x, y); }

// And where they err most over all arguments (docs/accuracy.md).
static const struct {
    function function;
    double farthest, beside;
} device[] = {
    {{"sigmoid", 0, 2.26, NULL, krf_sigmoidf, NULL, NULL}, -0x1.193ea8p+0, 0}, {{"silu", 0, 2.67, NULL, krf_siluf, NULL, NULL}, -0x1.9ad81ep+1, 0}, {{"gelu_tanh", 0, 2.67, NULL, krf_gelu_tanhf, NULL, NULL}, -0x1.5f8cbep+1, 0},
    {{"gelu", 0, 3.65, NULL, krf_geluf, NULL, NULL}, -0x1.96f61p+3, 0},        {{"erfc", 0, 3.31, NULL, krf_erfcf, NULL, NULL}, 0x1.170556p+0, 0}, {{"power", 0, 2.02, NULL, NULL, NULL, krf_powf}, 0x1.6a0cfep+0, 0x1.ff6a3ep+7},
    {{"lgamma", 0, 2.89, NULL, krf_lgamma_by_branchf, NULL, NULL}, -0x1.1fde46p+3, 0}, {{"gamma", 0, 2.96, NULL, krf_tgamma_by_branchf, NULL, NULL}, -0x1.66a4a6p+4, 0},
    {{"digamma", 0, 2.84, NULL, krf_digamma_by_branchf, NULL, NULL}, -0x1.dcd2d6p+3, 0}, {{"i0", 0, 3.23, NULL, krf_i0f, NULL, NULL}, 0x1.189e12p+2, 0},
    {{"power", 0, 1.34, NULL, NULL, NULL, near_power}, 0x1.6d342ep+2, 0x1.e9f97ap+3},
};

static void test_device(void **state) {
    (void)state;
    for (off = -1; off <= 1; off++) {
        for (size_t i = 0; i < sizeof device / sizeof *device; i++) {
            const function *fn = &device[i].function;
            measure(fn, true);
            assert_true(error_at(fn, row_of(fn->name), true, device[i].farthest, device[i].beside) <= fn->limit_f32);
        }
    }
}

/* Those below 2^22: 10! is the last. */
static void test_factorials(void **state) {
    (void)state;
    for (off = -1; off <= 1; off++) {
        float factorial = 1;
        for (int n = 1; n <= 11; n++) {
            assert_true(krf_tgamma_by_branchf((float)n) == factorial && krf_tgammaf((float)n) == factorial);
            factorial *= (float)n;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_device), cmocka_unit_test(test_factorials)};
    exact_open();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    exact_close();
    return failed;
}
