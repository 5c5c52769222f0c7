/* Rows of halves that lie in shared memory, of which a warp of a GPU has two chunks, one after the other (codegen/cuda_turns.c): in one block and in several, whole vectors or by the words in which they begin anywhere,
 * with chunks that are not there. Their bits are those of one operation a kernel, and of the CPU's interpreter where all is rounded exactly; and they are what plain loops in f64 give.
 * ctest: on a device */
#include "ops/common.h"
#include "rows/turns.h"

enum { MOST = 400000, FEW = 8 };

static double x_at[MOST], g_at[MOST], b_at[MOST], wanted[TURNS_OUT][MOST];
static char x_bits[2 * MOST + 16], g_bits[2 * MOST], b_bits[2 * MOST];
static int32_t t_at[FEW];

static krf_dtype now;
static double rounded(double x) { return round_to(now, (long double)x); }

/* ---- plain loops: n elements of a row, which has a number; what it comes to, of each result ---- */

typedef void row_formula(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]);

static double most_of(const double *x, int64_t n) {
    double most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, x[i]);
    }
    return most;
}

static double sum_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

static double log_of_sum(const double *x, int64_t n) {
    const double most = most_of(x, n);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += exp(x[i] - most);
    }
    return most + log(sum);
}

static void softmax(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    (void)row;
    *out[1] = most_of(x, n);
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = rounded(exp(rounded(x[i] - *out[1])));
    }
    *out[2] = rounded(sum_of(out[0], n));
    for (int64_t i = 0; i < n; i++) {
        out[0][i] /= *out[2];
    }
}

static void log_softmax(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    const double all = log_of_sum(x, n);
    (void)row;
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = x[i] - all;
    }
}

static void logsumexp(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    (void)row;
    *out[0] = log_of_sum(x, n);
}

static void cross_entropy(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) { *out[0] = log_of_sum(x, n) - x[t_at[row]]; }

static void standardised(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    const double mean = sum_of(x, n) / (double)n;
    double square = 0;
    (void)row;
    for (int64_t i = 0; i < n; i++) {
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = (x[i] - mean) / sqrt(square + 1e-5);
    }
}

static void layer_norm(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    standardised(x, n, row, out);
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = out[0][i] * g_at[i] + b_at[i];
    }
}

static void shares(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    const double sum = sum_of(x, n);
    (void)row;
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = x[i] / sum;
    }
}

static void several(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    const double mean = sum_of(x, n) / (double)n;
    (void)row;
    *out[1] = *out[3] = 0;
    *out[2] = most_of(x, n);
    for (int64_t i = 0; i < n; i++) {
        *out[1] += x[i] * x[i];
        *out[3] = fmin(*out[3], x[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = (x[i] - mean) / (*out[2] - *out[3]);
    }
}

static void of_halves(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    double square = 0;
    (void)row;
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = rounded(tanh(rounded(x[i] * 0.5)));
    }
    const double mean = rounded(sum_of(out[0], n) / (double)n);
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = rounded(out[0][i] - mean);
        square += rounded(out[0][i] * out[0][i]) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        out[0][i] /= sqrt(square + 1e-5);
    }
}

static void integers(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    (void)row;
    *out[1] = sum_of(x, n);
    *out[2] = most_of(x, n);
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = (double)wrap_to(now, (wide)(x[i] - *out[2]));
    }
}

static int64_t reversed(int64_t byte) {
    int64_t r = 0;
    for (int b = 0; b < 8; b++) {
        r |= (byte >> b & 1) << (7 - b);
    }
    return r;
}

/* The order of the canonical tree: chunks, and the 256 lanes of each, by the reversed bits of their numbers; a lane's elements from the first one on. In it the fold is taken, which does not commute. */
static void folded(const double *x, int64_t n, int64_t row, double *const out[TURNS_OUT]) {
    uint32_t sum = 0;
    (void)row;
    for (int64_t k = 0; k < 256 * 1024; k++) {
        const int64_t i = reversed(k >> 10) * 1024 + reversed(k >> 2 & 255) + (k & 3) * 256;
        if (i < n) {
            const uint32_t b = (uint32_t)(int64_t)x[i];
            sum = sum * (2 * b + 1) + b;
        }
    }
    *out[1] = (double)sum;
    for (int64_t i = 0; i < n; i++) {
        out[0][i] = (double)wrap_to(now, (wide)x[i] - (wide)sum);
    }
}

static void define(krf_context *context, krf_reduction **definition) {
    assert_int_equal(krf_reduction_define(context, "folded", "u32 x", "u32 a, u32 b", "1, 0", "a = 2 * x + 1; b = x;", "a = a_a * b_a; b = a_b * b_a + b_b;", NULL, NULL, definition), KRF_OK);
}

/* ---- programs ---- */

#define ALONG ", axis=1, keepdims=True)"
#define CENTRED "z = f32(x); c = z - mean(z" ALONG "; y = c / sqrt(mean(c * c" ALONG " + 1e-5); return "

static const struct {
    const char *text;
    row_formula *formula;
    int outputs;
    bool everywhere;    /* all is rounded exactly */
    double units, least; /* of what results that are halves may differ by: of their last place, and at all; f32 by 16 */
    const char *says;
} programs[] = {
    {"m = max(x" ALONG "; e = exp(x - m); s = sum(e" ALONG "; return e / s, m, s", softmax, 3, false, 2, 0x1p-23, "turn < 2;"},
    {"z = f32(x); d = z - max(z" ALONG "; return H(d - log(sum(exp(d)" ALONG "))", log_softmax, 1, false, 1, 2e-5, "turn < 2;"},
    {"logsumexp(f32(x), axis=1)", logsumexp, 1, false, 0, 0, "turn < 2;"},
    {"m = max(x, axis=1)[:, None]; return log(sum(exp(x.astype(f32) - m), axis=1)) + m[:, 0] - take_along_axis(x, t[:, None], axis=1)[:, 0]", cross_entropy, 1, false, 0, 0, "turn < 2;"},
    {CENTRED "H(y)", standardised, 1, true, 1, 4e-6, "turn < 2;"},
    {CENTRED "H(y * g + b)", layer_norm, 1, true, 1, 2e-5, "turn < 2;"},
    {"x / sum(x" ALONG, shares, 1, true, 2, 0x1p-23, "turn < 2;"},
    {"z = f32(x); m = max(x" ALONG "; k = min(z" ALONG "; q = sum(z * z" ALONG "; return H((z - sum(z" ALONG " / n) / (m - k)), q, m, k", several, 4, true, 1, 1e-6, "turn < 2;"},
    {"v = tanh(x * 0.5); c = v - mean(v" ALONG "; return c / sqrt(mean(c * c" ALONG " + 1e-5)", of_halves, 1, false, 6, 1e-4, "turn < 2;"},
    {"m = max(x" ALONG "; return x - m, sum(x, axis=1), m", integers, 3, true, 0, 0, "(int)warp * 2048,"}, /* any order will do: all at once */
    {"h = folded(u32(x)" ", axis=1, keepdims=True, result=1); return x - H(h), h", folded, 2, false, 0, 0, "turn < 2;"},
};

enum { SOFTMAX, LOG_SOFTMAX, LOGSUMEXP, CROSS_ENTROPY, STANDARDISED, LAYER_NORM, SHARES, SEVERAL, OF_HALVES, INTEGERS, FOLDED };

static const struct {
    int program;
    krf_dtype dtype;
    int64_t rows, n, from;
    bool in_place;
} runs_of[] = {
    /* Whole vectors: 9 to 16 chunks, to 32, and in 2, 4 and 8 blocks; all chunks are there, or of the last warp one, or none. */
    {SOFTMAX, KRF_BF16, 5, 8200, 0, false}, {SOFTMAX, KRF_F16, 3, 9216, 0, true},           {SOFTMAX, KRF_BF16, 3, 16384, 0, false},      {SOFTMAX, KRF_F16, 1, 32000, 0, false},
    {SOFTMAX, KRF_BF16, 3, 32768, 0, true}, {SOFTMAX, KRF_BF16, 3, 32776, 0, false},        {SOFTMAX, KRF_F16, 1, 65536, 0, false},       {SOFTMAX, KRF_BF16, 1, 131080, 0, false},
    {LOG_SOFTMAX, KRF_F16, 3, 20480, 0, false}, {LOG_SOFTMAX, KRF_BF16, 1, 65544, 0, true}, {LOGSUMEXP, KRF_BF16, 5, 16384, 0, false},    {CROSS_ENTROPY, KRF_BF16, 3, 32000, 0, false},
    {STANDARDISED, KRF_F16, 3, 16376, 0, false}, {LAYER_NORM, KRF_F16, 3, 40000, 0, true},  {SHARES, KRF_BF16, 3, 20480, 0, false},       {SHARES, KRF_BF16, 1, 262144, 0, false},
    {SEVERAL, KRF_F16, 3, 10000, 0, false}, {SEVERAL, KRF_BF16, 1, 100008, 0, false},       {OF_HALVES, KRF_F16, 3, 20480, 0, true},      {INTEGERS, KRF_I16, 3, 20480, 0, false},
    {INTEGERS, KRF_U16, 1, 131072, 0, false}, {FOLDED, KRF_I16, 3, 16384, 0, false},        {FOLDED, KRF_U16, 3, 20488, 0, true},         {FOLDED, KRF_I16, 1, 70000, 0, false},
    /* Words: the same, where rows begin alike, or each elsewhere. */
    {SOFTMAX, KRF_BF16, 5, 8193, 0, false}, {SOFTMAX, KRF_F16, 3, 16385, 0, true},          {SOFTMAX, KRF_BF16, 3, 17001, 0, true},       {SOFTMAX, KRF_F16, 3, 20481, 0, false},
    {SOFTMAX, KRF_BF16, 3, 50257, 0, false}, {SOFTMAX, KRF_BF16, 1, 131073, 0, false},      {LOG_SOFTMAX, KRF_BF16, 3, 33001, 0, false},  {LOGSUMEXP, KRF_F16, 3, 16383, 1, false},
    {LOGSUMEXP, KRF_BF16, 3, 20480, 3, false}, {CROSS_ENTROPY, KRF_BF16, 3, 50257, 0, false}, {STANDARDISED, KRF_F16, 5, 10239, 0, false}, {STANDARDISED, KRF_BF16, 3, 18000, 3, true},
    {LAYER_NORM, KRF_F16, 3, 50257, 0, false}, {SHARES, KRF_BF16, 3, 20487, 0, true},       {SEVERAL, KRF_BF16, 3, 20487, 0, false},      {SEVERAL, KRF_F16, 1, 65537, 0, false},
    {OF_HALVES, KRF_F16, 3, 17001, 0, false}, {OF_HALVES, KRF_BF16, 3, 33001, 0, true},     {OF_HALVES, KRF_F16, 3, 16381, 3, true},      {INTEGERS, KRF_I16, 3, 33001, 0, false},
    {INTEGERS, KRF_U16, 3, 20481, 0, false},
};

/* Rows differ, and all of one are below 0, but for sums. In each there is one largest number, in odd places of vectors, and of lanes, and in the first and the last, and one smallest. */
static void fill(int program, const given *in) {
    static const double spans[] = {8, 6000};
    const bool whole = !is_real(in->dtype), is_unsigned = in->dtype == KRF_U16;
    const int64_t width = in->from + in->n, places[] = {in->n - 1, 1033, 0, 2047, 8};
    const double span = spans[whole];
    uint64_t seed = (uint64_t)in->n;
    assert_true(in->rows * width <= MOST && in->rows <= 5);
    for (int64_t i = 0; i < in->rows * width; i++) {
        const int64_t row = i / width, column = i % width - in->from;
        double x = (random_unit(&seed) - 0.5) * span - (row == 1 ? 0.6 * span : 0);
        x = column == places[row] ? x + span : column == in->n - 4 - row ? x - span : x;
        x = program == SHARES || is_unsigned ? fabs(x) : x;
        const value v = convert((value){.dtype = KRF_F64, .f = whole ? floor(x) : x}, in->dtype);
        put(x_bits, i, v);
        if (column >= 0) {
            x_at[row * in->n + column] = whole ? (double)v.i : v.f;
        }
    }
    for (int64_t i = 0; i < in->n; i++) {
        const value g = convert((value){.dtype = KRF_F64, .f = random_unit(&seed) * 2}, in->dtype), b = convert((value){.dtype = KRF_F64, .f = random_unit(&seed) - 0.5}, in->dtype);
        put(g_bits, i, g);
        put(b_bits, i, b);
        g_at[i] = g.f;
        b_at[i] = b.f;
    }
    for (int64_t row = 0; row < in->rows; row++) {
        t_at[row] = (int32_t)(row == 0 ? in->n - 1 : row * 1024 - 1);
    }
}

/* To what plain loops gave, each result of a row or of its elements. */
static void must_be_near(int p, const given *in, const made *got, const char *what) {
    for (int64_t row = 0; row < in->rows; row++) {
        double *out[TURNS_OUT];
        for (int k = 0; k < TURNS_OUT; k++) {
            out[k] = wanted[k] + row * (k < got->n ? got->size[k] / in->rows : 0);
        }
        now = in->dtype;
        programs[p].formula(x_at + row * in->n, in->n, row, out);
    }
    for (int k = 0; k < got->n; k++) {
        const double unit = !is_real(got->dtype[k]) ? 0 : (got->dtype[k] == KRF_F32 ? 16 : programs[p].units) * ldexp(1, 1 - facts_of(got->dtype[k])->digits);
        for (int64_t i = 0; i < got->size[k]; i++) {
            const value v = get(got->data[k], got->dtype[k], i);
            const double there = is_real(v.dtype) ? v.f : (double)v.i;
            if (!(fabs(there - wanted[k][i]) <= unit * fabs(wanted[k][i]) + (is_half(v.dtype) ? programs[p].least : 0))) {
                COMPLAIN("%s: element %" PRId64 " of result %d is %.9g, not %.9g", what, i, k, there, wanted[k][i]);
                break;
            }
        }
    }
}

static void check(krf_context *context, int p, given in, const char *says) {
    char text[TURNS_TEXT], what[TURNS_TEXT + 100];
    made got, want;
    fill(p, &in);
    write_text(text, programs[p].text, in.dtype);
    snprintf(what, sizeof what, "%s, %s [%" PRId64 ", %" PRId64 "] from %" PRId64 "%s", text, name_of(in.dtype), in.rows, in.n, in.from, in.in_place ? ", in place" : "");
    evaluate(context, text, &in, programs[p].outputs, &got);
    if (says != NULL) {
        must_be_held(&got, &in, says, what);
    }
    in.in_place = false;
    if (!(collecting && programs[p].everywhere)) {
        evaluate(programs[p].everywhere ? plain : apart, text, &in, programs[p].outputs, &want);
        if (!collecting) {
            must_equal(&got, &want, what, programs[p].everywhere ? "the interpreter" : "one operation a kernel");
            must_be_near(p, &in, &got, what);
        }
        free_made(&want);
    }
    free_made(&got);
}

static given run_of(int64_t i) {
    return (given){.dtype = runs_of[i].dtype, .rows = runs_of[i].rows, .n = runs_of[i].n, .from = runs_of[i].from, .x = x_bits, .g = g_bits, .b = b_bits, .t = t_at, .in_place = runs_of[i].in_place};
}

static void test_rows(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < (int64_t)(sizeof runs_of / sizeof *runs_of); i++) {
        if (in_shard(i) && (clusters || runs_of[i].n <= 32768)) {
            const bool planned = runs_of[i].from == 0 || !runs_of[i].in_place; /* else the plan that is looked at is another one */
            check(fused, runs_of[i].program, run_of(i), clusters && planned ? programs[runs_of[i].program].says : NULL);
        }
    }
    assert_int_equal(complaints(), 0);
}

/* Devices before 9.0: what the simulated one then is. They have room for 16 chunks. */
static void test_older_devices(void **unused) {
    krf_device_info info = {.size = sizeof info};
    (void)unused;
    setenv("FAKECUDA_ARCH", "89", 1);
    krf_context *older = open_turns(device_name(), NULL, false);
    assert_int_equal(krf_context_device(older, &info), KRF_OK);
    check(older, SOFTMAX, run_of(2), strcmp(info.arch, "sm_89") == 0 ? "turn < 2;" : NULL);
    krf_context_destroy(older);
    unsetenv("FAKECUDA_ARCH");
    assert_int_equal(complaints(), 0);
}

static krf_reduction *definitions[2];

static int open_and_define(void **unused) {
    open_all(unused);
    define(fused, &definitions[0]);
    define(apart, &definitions[1]);
    return 0;
}

static int close_and_release(void **unused) {
    krf_reduction_release(definitions[0]);
    krf_reduction_release(definitions[1]);
    return close_all(unused);
}

static void test_compile(void **unused) {
    static void (*const tests[])(void **) = {test_rows};
    (void)unused;
    collect(tests, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compile), cmocka_unit_test(test_rows), cmocka_unit_test(test_older_devices)};
    setenv("KRF_EXACT_MEMORY", "1", 0); /* what lies behind an array is nobody's */
    return cmocka_run_group_tests(tests, open_and_define, close_and_release);
}
