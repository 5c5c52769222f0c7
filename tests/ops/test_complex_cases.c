/* The special values of complex functions (complex_cases.def) in c64 and c128 on every tier, or on the GPU; and of each its conjugate, for
 * f(conj(z)) = conj(f(z)), and the opposite number of odd and even functions. */
#include "ops/common.h"

#define PI 3.14159265358979323846
#define PI_2 (PI / 2)
#define PI_4 (PI / 4)
#define INF ((double)INFINITY)
#define FINITE 1.5

enum { ODD = 1, EVEN = 2 };

typedef struct part {
    double value;
    bool any_sign;
} part;

typedef struct special_case {
    const char *text, *name;
    double re, im;
    part want[2];
} special_case;

#define WANT(x, text) {(double)(x), text[0] == 'S'} /* SIGN(...) */
#define CASE(name, re, im, want_re, want_im) {#name "(" #re ", " #im ")", #name, re, im, {WANT(want_re, #want_re), WANT(want_im, #want_im)}},
#define SIGN(x) x
static const special_case cases[] = {
#include "ops/complex_cases.def"
};
enum { CASES = sizeof cases / sizeof *cases };

static runs all_runs;

static int symmetry(const char *name) {
    static const char *const odd[] = {"asinh", "atanh", "sinh", "tanh"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        if (strcmp(name, odd[i]) == 0) {
            return ODD;
        }
    }
    return strcmp(name, "cosh") == 0 ? EVEN : 0;
}

static bool fits(double got, part want, bool single) {
    if (isnan(want.value)) {
        return isnan(got);
    }
    if (want.value == 0 || isinf(want.value)) {
        return fabs(got) == fabs(want.value) && (want.any_sign || signbit(got) == signbit(want.value));
    }
    double near = want.any_sign ? fabs(got) - fabs(want.value) : got - want.value;
    return fabs(near) <= fabs(want.value) * (single ? 2e-7 : 4e-16);
}

/* Way 0: as it stands; 1: the conjugate; 2: the opposite; 3: the opposite's conjugate. */
static void operand(const special_case *c, int way, double parts[2]) {
    parts[0] = way >= 2 ? -c->re : c->re;
    parts[1] = (way == 1) != (way == 2) ? -c->im : c->im;
}

static void check_result(const run *r, const special_case *c, bool single, int way, bool real, const double got[2]) {
    part want[2] = {c->want[0], c->want[1]};
    int s = symmetry(c->name);
    bool turned = real && way > 0 && strcmp(c->name, "angle") == 0;
    want[0].value = turned != (way >= 2 && s == ODD) ? -want[0].value : want[0].value;
    want[1].value = (way == 1 || way == 3) != (way >= 2 && s == ODD) ? -want[1].value : want[1].value;
    if ((way < 2 || s != 0) && (!fits(got[0], want[0], single) || (!real && !fits(got[1], want[1], single)))) {
        COMPLAIN("%s: %s in %s, way %d: (%.17g, %.17g), not (%.17g, %.17g)", r->label, c->text, single ? "c64" : "c128", way, got[0], got[1],
                 want[0].value, want[1].value);
    }
}

/* Cases [first, end), all of one function, in all ways: one array. */
static void check_function(run *r, int first, int end, bool single) {
    int n = 4 * (end - first);
    double *parts = calloc(2 * (size_t)n, sizeof *parts);
    float *narrow = calloc(2 * (size_t)n, sizeof *narrow);
    krf_graph *g = krf_graph_create(r->context);
    krf_array *z = NULL, *out = NULL;
    krf_expr y;
    char text[64];
    for (int i = 0; i < n; i++) {
        operand(&cases[first + i / 4], i % 4, parts + 2 * i);
        narrow[2 * i] = (float)parts[2 * i];
        narrow[2 * i + 1] = (float)parts[2 * i + 1];
    }
    assert_int_equal(krf_array_from_host(r->context, single ? KRF_C64 : KRF_C128, 1, (int64_t[]){n}, single ? (void *)narrow : (void *)parts, &z),
                     KRF_OK);
    krf_binding name = krf_bind_array("z", z);
    snprintf(text, sizeof text, "%s(z)", cases[first].name);
    if (krf_parse(g, text, &name, 1, &y) != KRF_OK || krf_eval(y, &out) != KRF_OK) {
        fail_msg("%s: %s: %s", r->label, text, krf_error_message());
    }
    krf_dtype dtype = krf_array_dtype(out);
    bool real = dtype == KRF_F32 || dtype == KRF_F64;
    assert_int_equal(krf_array_to_host(out, single ? (void *)narrow : (void *)parts, (size_t)n * krf_dtype_size(dtype)), KRF_OK);
    for (int i = 0; i < n; i++) {
        int at = real ? i : 2 * i, next = real ? i : at + 1;
        double got[2] = {single ? (double)narrow[at] : parts[at], single ? (double)narrow[next] : parts[next]};
        check_result(r, &cases[first + i / 4], single, i % 4, real, got);
    }
    krf_array_release(z);
    krf_array_release(out);
    krf_graph_destroy(g);
    free(parts);
    free(narrow);
}

static void test_cases(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        for (int first = 0, end, function = 0; first < CASES; first = end, function++) {
            for (end = first + 1; end < CASES && strcmp(cases[end].name, cases[first].name) == 0;) {
                end++;
            }
            if (in_shard(function)) {
                check_function(&all_runs.run[r], first, end, true);
                check_function(&all_runs.run[r], first, end, false);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- a NaN's sign ---- */

/* Every function over NaN beside all kinds of numbers; z and w are what the next array holds. */
static const char *const of_nan[] = {"sign(z)", "abs(z)", "angle(z)", "sqrt(z)", "exp(z)", "expm1(z)", "log(z)", "log1p(z)", "log2(z)", "log10(z)",
                                     "sin(z)", "cos(z)", "tan(z)", "asin(z)", "acos(z)", "atan(z)", "sinh(z)", "cosh(z)", "tanh(z)", "asinh(z)",
                                     "acosh(z)", "atanh(z)", "1 / z", "(2 - 1j) / z", "z / (2 - 1j)", "z ** (1 + 2j)", "(1 + 2j) ** z", "z * z"};
enum { KINDS = 7, POINTS = 2 * KINDS };

static krf_array *points(krf_context *context, bool single, double nan) {
    const double kinds[KINDS] = {nan, 0, -0.0, INF, -INF, FINITE, -FINITE};
    double parts[2 * POINTS];
    float narrow[2 * POINTS];
    krf_array *z = NULL;
    for (int i = 0; i < POINTS; i++) {
        parts[2 * i + i / KINDS] = nan;
        parts[2 * i + 1 - i / KINDS] = kinds[i % KINDS];
    }
    for (int i = 0; i < 2 * POINTS; i++) {
        narrow[i] = (float)parts[i];
    }
    assert_int_equal(krf_array_from_host(context, single ? KRF_C64 : KRF_C128, 1, (int64_t[]){POINTS}, single ? (void *)narrow : (void *)parts, &z), KRF_OK);
    return z;
}

static void test_nan_signs(void **unused) {
    (void)unused;
    for (int i = 0; i < all_runs.n * 2 * (int)(sizeof of_nan / sizeof *of_nan); i++) {
        run *r = &all_runs.run[i % all_runs.n];
        const bool single = i / all_runs.n % 2 == 0;
        const char *text = of_nan[i / all_runs.n / 2];
        if (!in_shard(i / all_runs.n / 2)) {
            continue;
        }
        char results[2][16 * POINTS];
        krf_dtype dtype = KRF_BOOL;
        for (int negative = 0; negative < 2; negative++) {
            krf_array *z = points(r->context, single, copysign((double)NAN, negative ? -1 : 1)), *out = NULL;
            krf_graph *g = krf_graph_create(r->context);
            krf_binding name = krf_bind_array("z", z);
            krf_expr y;
            if (krf_parse(g, text, &name, 1, &y) != KRF_OK || krf_eval(y, &out) != KRF_OK) {
                fail_msg("%s: %s: %s", r->label, text, krf_error_message());
            }
            dtype = krf_array_dtype(out);
            assert_int_equal(krf_array_to_host(out, results[negative], POINTS * krf_dtype_size(dtype)), KRF_OK);
            krf_array_release(z);
            krf_array_release(out);
            krf_graph_destroy(g);
        }
        for (int k = 0; k < POINTS; k++) {
            char one[128], other[128];
            value a = get(results[0], dtype, k), b = get(results[1], dtype, k);
            if (!same(a, b)) {
                COMPLAIN("%s: %s in %s at point %d: %s, of NaN with the other sign %s", r->label, text, single ? "c64" : "c128", k, show(a, one, 128),
                         show(b, other, 128));
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_on(open_runs(&all_runs, false), TESTS(cmocka_unit_test(test_cases), cmocka_unit_test(test_nan_signs))); }
