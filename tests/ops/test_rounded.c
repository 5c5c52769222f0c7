/* Floats that are rounded, kept within bounds and made integers of 8 or 16 bits, as numbers are quantized: a GPU adds 1.5 * 2^23 and takes the sum's lower bits (codegen/cuda_convert.c). Against nearbyint and comparisons of doubles: halves, whole numbers, what lies
 * next to them and beyond the bounds, infinities and NaN. */
#include "ops/common.h"

enum { MOST = 4096 };

static runs all;

/* Bounds within those of the dtype, in the order in which the program applies them: largest of, least of; NAN: none. */
static const struct {
    const char *program;
    krf_dtype dtype;
    double low, high;
} cases[] = {
    {"round(x).astype(i8)", KRF_I8, NAN, NAN},
    {"round(x).astype(u8)", KRF_U8, NAN, NAN},
    {"round(x).astype(i16)", KRF_I16, NAN, NAN},
    {"round(x).astype(u16)", KRF_U16, NAN, NAN},
    {"clip(round(x), -128, 127).astype(i8)", KRF_I8, -128, 127},
    {"clip(round(x), -7, 7).astype(i8)", KRF_I8, -7, 7},
    {"maximum(minimum(round(x), 100), 3).astype(u8)", KRF_U8, 3, 100},
    {"minimum(round(x), -5).astype(i8)", KRF_I8, NAN, -5},
    {"maximum(round(x), 300).astype(u16)", KRF_U16, 300, NAN},
    {"clip(round(x), -1000, 100000).astype(i16)", KRF_I16, -1000, 100000},
    {"clip(round(x), 2.5, 7).astype(i8)", KRF_I8, 2.5, 7},                   /* no whole number: as any other */
    {"clip(round(x) + 0.25, -3, 3).astype(i8)", KRF_I8, 1000, 1000},         /* nothing that was rounded: see wanted() */
    {"minimum(maximum(minimum(round(x), 90), -90), 20).astype(i8)", KRF_I8, -90, 20},
};

static double lowest(krf_dtype dtype) { return dtype == KRF_I8 ? -128 : dtype == KRF_I16 ? -32768 : 0; }
static double highest(krf_dtype dtype) { return dtype == KRF_I8 ? 127 : dtype == KRF_U8 ? 255 : dtype == KRF_I16 ? 32767 : 65535; }

static int64_t wanted(size_t c, float x) {
    double y = nearbyint((double)x);
    if (isnan(y)) {
        return 0;
    }
    if (cases[c].low == 1000) {
        y = trunc(fmin(fmax((double)((float)y + 0.25f), -3), 3));
    } else {
        y = fmax(y, isnan(cases[c].low) ? -INFINITY : cases[c].low);
        y = trunc(fmin(y, isnan(cases[c].high) ? INFINITY : cases[c].high));
    }
    return (int64_t)fmin(fmax(y, lowest(cases[c].dtype)), highest(cases[c].dtype));
}

static int fill(float *x) {
    static const float near[] = {0, 0.5f, 1, 1.5f, 2.5f, 3, 3.5f, 6.5f, 7, 7.5f, 20.5f, 89.5f, 99.5f, 100.5f, 126.5f, 127, 127.5f, 128, 128.5f, 129, 254.5f, 255, 255.5f, 256, 299.5f, 300.5f, 32766.5f, 32767, 32767.5f, 32768, 65534.5f, 65535, 65535.5f, 65536, 4194303.5f, 8388608, 12582912, 16777216, 3e9f, 1e20f, 3e38f, 1e-30f, 1e-45f, INFINITY};
    int n = 0;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        const float beside[] = {near[i], nextafterf(near[i], 0), nextafterf(near[i], INFINITY)};
        for (int k = 0; k < 3; k++) {
            x[n++] = beside[k];
            x[n++] = -beside[k];
        }
    }
    x[n++] = NAN;
    x[n++] = -NAN;
    uint64_t state = 5;
    while (n < MOST - 3) {
        x[n++] = (float)((random_unit(&state) - 0.5) * 600);
    }
    return n;
}

/* Whole vectors, and some elements more; each by itself too, where rows are read against their order. */
static void check(const run *r, size_t c, const char *program) {
    static float x[MOST];
    static char found[2 * MOST];
    const int n = fill(x);
    const bool backwards = program != cases[c].program;
    const int64_t size = n;
    krf_array *of = NULL, *got = NULL;
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 1, &size, x, &of), KRF_OK);
    evaluate_text(r, program, 1, (krf_binding[]){krf_bind_array("x", of)}, 1, &got);
    assert_int_equal(krf_array_dtype(got), cases[c].dtype);
    read_back(got, found, (size_t)n * krf_dtype_size(cases[c].dtype));
    for (int i = 0; i < n && !collecting; i++) {
        const float from = x[backwards ? n - 1 - i : i];
        const value want = whole_number(cases[c].dtype, wanted(c, from)), is = get(found, cases[c].dtype, i);
        char a[64], b[64];
        if (!same(is, want)) {
            fail_msg("%s, %s: of %.9g it makes %s, not %s", program, r->label, (double)from, show(is, a, 64), show(want, b, 64));
        }
    }
    krf_array_release(got);
    krf_array_release(of);
}

static void test_rounded(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t c = 0; c < sizeof cases / sizeof *cases && !passed_over(&all.run[r]); c++) {
            char turned[128];
            snprintf(turned, sizeof turned, "flip(%s)", cases[c].program);
            check(&all.run[r], c, cases[c].program);
            if (c % 4 == 0) {
                check(&all.run[r], c, turned);
            }
        }
    }
}

int main(void) { return run_on(open_noted_runs(&all, false), TESTS(noted_test(test_rounded))); }
