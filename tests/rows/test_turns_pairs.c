/* The largest and the smallest halves of rows of several rounds, which a GPU compares two with two others (codegen/cuda_pairs.c), in registers and in shared memory: NaN, infinities, zeros of both signs, and the only
 * largest and smallest number of a row in every kind of place. Bits are those of plain loops, and of the CPU's interpreter.
 * ctest: on a device */
#include "ops/common.h"
#include "rows/turns.h"

enum { LONGEST = 20480, MOST_CASES = 60, MOST = LONGEST * MOST_CASES };

static double x_at[MOST];
static char x_bits[2 * MOST], none[2 * LONGEST];
static int32_t no_places[MOST_CASES];

/* ---- rows ---- */

typedef struct special {
    const char *what;
    double others, number; /* in the place; 0: of others a random number, from 1 to 2, or from -2 to -1 where `below` is set */
    int64_t place;         /* from the end where it is below 0 */
    bool below;
} special;

#define INF (double)INFINITY
#define QUIET (double)NAN

/* others: RANDOM stands for such a number, which no dtype of halves has. */
static const double RANDOM = 1e300;

static special cases[MOST_CASES];
static int n_cases;

static void add(const char *what, double others, double number, int64_t place, bool below, int64_t n) {
    if (place < n && -place <= n) {
        assert_true(n_cases < MOST_CASES);
        cases[n_cases++] = (special){what, others, number, place < 0 ? place + n : place, below};
    }
}

static void add_cases(int64_t n) {
    static const int64_t nans[] = {0, 1, 6, 262, -8, -3, -1}, borders[] = {0, 1, 7, 8, 255, 256, 1023, 1024, 2047, 8193, -9, -8, -2, -1}, zeros[] = {0, 1, 12, 13, -2, -1};
    n_cases = 0;
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
        add("NaN", RANDOM, QUIET, nans[i], i % 2 == 0, n);
    }
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        add("the largest", RANDOM, -0.5, borders[i], true, n);
        add("the smallest", RANDOM, 0.5, borders[i], false, n);
    }
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        add("+0 of -0", -0.0, 0.0, zeros[i], false, n);
        add("-0 of +0", 0.0, -0.0, zeros[i], false, n);
    }
    add("-inf", -INF, -INF, 0, false, n);
    add("+inf", INF, INF, 0, false, n);
    add("a number of -inf", -INF, -3, -1, false, n);
    add("a number of +inf", INF, 3, -2, false, n);
    add("NaN of -inf", -INF, QUIET, 9, false, n);
    add("NaN of +inf", INF, QUIET, 16, false, n);
    add("-0", -0.0, -0.0, 0, false, n);
    add("+inf of numbers", RANDOM, INF, 11, true, n);
    add("-inf of numbers", RANDOM, -INF, 22, false, n);
    add("subnormals", 0x1p-24, 0x1p-23, -1, false, n); /* of f16 */
}

static void fill(krf_dtype dtype, int64_t n) {
    uint64_t seed = (uint64_t)n;
    for (int64_t i = 0; i < n_cases * n; i++) {
        const special *c = &cases[i / n];
        const double some = (1 + random_unit(&seed)) * (c->below ? -1 : 1), x = i % n == c->place ? c->number : c->others == RANDOM ? some : c->others;
        const value v = convert((value){.dtype = KRF_F64, .f = x}, dtype);
        put(x_bits, i, v);
        x_at[i] = v.f;
    }
}

/* ---- programs ---- */

static bool is_larger(double a, double b) { return a > b || (a == b && signbit(b) && !signbit(a)); }

/* In f64; -0 is below +0, and NaN is what there is. */
static double extreme(const double *x, int64_t n, bool least) {
    double found = x[0];
    for (int64_t i = 0; i < n; i++) {
        if (isnan(x[i])) {
            return x[i];
        }
        found = (least ? is_larger(found, x[i]) : is_larger(x[i], found)) ? x[i] : found;
    }
    return found;
}

#define ALONG ", axis=1, keepdims=True)"

/* Results: L, S: the largest and the smallest number of each row; l, s: what its elements are above these; ?: not looked at by itself. */
static const struct {
    const char *text, *results, *compares[2];
} programs[] = {
    {"m = max(x" ALONG "; return x - m, m", "lL", {"max", NULL}},
    {"k = min(f32(x)" ALONG "; return H(f32(x) - k), k", "sS", {"min", NULL}},
    {"m = max(f32(x)" ALONG "; k = min(x" ALONG "; return x - k, H(f32(x) - m), k, m", "slSL", {"max", "min"}},
    {"m = max(x" ALONG "; k = min(x" ALONG "; z = f32(x); return H(z - m), sum(z, axis=1), k, sum(z * z, axis=1)", "l?S?", {"max", "min"}}, /* one round of four */
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static void must_be_exact(int p, krf_dtype dtype, int64_t n, const made *got, const char *what) {
    char a[64], b[64];
    for (int k = 0; k < got->n; k++) {
        const char kind = programs[p].results[k];
        const bool per_row = kind == 'L' || kind == 'S', least = kind == 'S' || kind == 's';
        for (int64_t row = 0; row < n_cases && kind != '?'; row++) {
            const double found = extreme(x_at + row * n, n, least);
            for (int64_t i = 0; i < (per_row ? 1 : n); i++) {
                const double want = per_row ? found : round_to(dtype, (long double)x_at[row * n + i] - (long double)found);
                const value v = get(got->data[k], got->dtype[k], row * (per_row ? 1 : n) + i), w = {.dtype = v.dtype, .f = want};
                if (!same(v, w)) {
                    COMPLAIN("%s: %s at %" PRId64 ": element %" PRId64 " of result %d is %s, not %s", what, cases[row].what, cases[row].place, i, k, show(v, a, sizeof a), show(w, b, sizeof b));
                    break;
                }
            }
        }
    }
}

static void check(int p, krf_dtype dtype, int64_t n) {
    char text[TURNS_TEXT], what[TURNS_TEXT + 60], says[64];
    made got, want;
    add_cases(n);
    fill(dtype, n);
    write_text(text, programs[p].text, dtype);
    snprintf(what, sizeof what, "%s, %s [%d, %" PRId64 "]", text, name_of(dtype), n_cases, n);
    const given in = {.dtype = dtype, .rows = n_cases, .n = n, .x = x_bits, .g = none, .b = none, .t = no_places};
    evaluate(fused, text, &in, (int)strlen(programs[p].results), &got);
    if (got.kernels != 1 || strcmp(got.schedule, "row") != 0 || (clusters && (strstr(got.source, "extern __shared__") != NULL) != (n > 8192))) {
        COMPLAIN("%s: %d kernels, %s", what, got.kernels, got.schedule);
    }
    for (int i = 0; i < 2 && programs[p].compares[i] != NULL; i++) {
        snprintf(says, sizeof says, "krf_%s_%sx2(pair", programs[p].compares[i], name_of(dtype));
        must_say(&got, says, what);
    }
    if (!collecting) {
        evaluate(plain, text, &in, got.n, &want);
        must_equal(&got, &want, what, "the interpreter");
        must_be_exact(p, dtype, n, &got, what);
        free_made(&want);
    }
    free_made(&got);
}

/* A warp's rows, and those of several, in registers; in shared memory from 8,193 elements on. Vectors fill no tile of a warp, and the last chunk not at all. */
static void test_extremes(void **unused) {
    static const int64_t lengths[] = {304, 512, 1032, 2056, 4096, 8192, 8200, 16384, 16392, LONGEST};
    (void)unused;
    for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++) {
        for (int p = 0; p < PROGRAMS; p++) {
            const krf_dtype dtype = (i + p + p / 2) % 2 == 0 ? KRF_BF16 : KRF_F16;
            if ((p == i % PROGRAMS || p == (i + 1 + i / 4) % PROGRAMS) && in_shard(i)) {
                check(p, dtype, lengths[i]);
            }
        }
    }
    assert_int_equal(complaints(), 0);
}

int main(void) {
    open_all();
    return run_all(TESTS(noted_test(test_extremes)));
}
