/* Rows of halves that lie in shared memory, of which a warp of a GPU has two chunks, one after the other (codegen/cuda_turns.c): in one block and in several, whole vectors or by the words in which they begin anywhere,
 * with chunks that are not there. Their bits are those of one operation a kernel, and of the CPU's interpreter where all is rounded exactly; and they are what plain loops in f64 give.
 * ctest: on a device */
#include "ops/common.h"
#include "rows/turns_loops.h"

#define ALONG ", axis=1, keepdims=True)"
#define CENTRED "z = f32(x); c = z - mean(z" ALONG "; y = c / sqrt(mean(c * c" ALONG " + 1e-5); return "

static const struct {
    const char *text;
    row_formula *formula;
    int outputs;
    bool everywhere;     /* all is rounded exactly */
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
    {"h = folded(u32(x), axis=1, keepdims=True, result=1); return x - H(h), h", folded, 2, false, 0, 0, "turn < 2;"},
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
    {SOFTMAX, KRF_BF16, 8, 8193, 0, false}, {SOFTMAX, KRF_F16, 3, 16385, 0, true},          {SOFTMAX, KRF_BF16, 3, 17001, 0, true},       {SOFTMAX, KRF_F16, 3, 20481, 0, false},
    {SOFTMAX, KRF_BF16, 3, 50257, 0, false}, {SOFTMAX, KRF_BF16, 1, 131073, 0, false},      {LOG_SOFTMAX, KRF_BF16, 3, 33001, 0, false},  {LOGSUMEXP, KRF_F16, 3, 16383, 1, false},
    {LOGSUMEXP, KRF_BF16, 3, 20480, 3, false}, {CROSS_ENTROPY, KRF_BF16, 3, 50257, 0, false}, {STANDARDISED, KRF_F16, 8, 10239, 0, false}, {STANDARDISED, KRF_BF16, 3, 18000, 3, true},
    {LAYER_NORM, KRF_F16, 3, 50257, 0, false}, {SHARES, KRF_BF16, 3, 20487, 0, true},       {SEVERAL, KRF_BF16, 3, 20487, 0, false},      {SEVERAL, KRF_F16, 1, 65537, 0, false},
    {OF_HALVES, KRF_F16, 3, 17407, 0, false}, {OF_HALVES, KRF_BF16, 3, 34815, 0, true},     {OF_HALVES, KRF_F16, 3, 16381, 3, true},      {INTEGERS, KRF_I16, 3, 33001, 0, false},
    {INTEGERS, KRF_U16, 3, 20481, 0, false},
};

/* Rows differ, and all of one are below 0, but for sums. In each there is one largest number, in odd places of vectors, and of lanes, and in the first and the last, and one smallest. */
static void fill(int program, const given *in) {
    static const double spans[] = {8, 6000};
    const bool whole = !is_real(in->dtype), is_unsigned = in->dtype == KRF_U16;
    const int64_t width = in->from + in->n, places[] = {in->n - 1, 1033, 0, 2047, 8};
    const double span = spans[whole];
    uint64_t seed = (uint64_t)in->n;
    assert_true(in->rows * width <= MOST && in->rows <= FEW);
    for (int64_t i = 0; i < in->rows * width; i++) {
        const int64_t row = i / width, column = i % width - in->from;
        double x = (random_unit(&seed) - 0.5) * span - (row == 1 ? 0.6 * span : 0);
        x = column == places[row % 5] ? x + span : column == in->n - 4 - row ? x - span : x;
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
        if (p == INTEGERS && strstr(got.source, "turn < ") != NULL) {
            COMPLAIN("%s: in turn", what);
        }
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
    krf_context *older = open_turns(asked_device(), NULL, false), *const newer = apart;
    apart = open_turns(asked_device(), "off", false);
    assert_int_equal(krf_context_device(older, &info), KRF_OK);
    check(older, SOFTMAX, run_of(2), strcmp(info.arch, "sm_89") == 0 ? "turn < 2;" : NULL);
    krf_context_destroy(older);
    krf_context_destroy(apart);
    apart = newer;
    unsetenv("FAKECUDA_ARCH");
    assert_int_equal(complaints(), 0);
}

int main(void) {
    open_all();
    define(fused);
    define(apart);
    return run_all(TESTS(noted_test(test_rows), cmocka_unit_test(test_older_devices)));
}
