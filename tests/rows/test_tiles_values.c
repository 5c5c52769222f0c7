/* Rows that lie side by side in memory, of which the CPU takes a tile through all rounds: operands of any kind, several results, special numbers, reductions of the user's own, random numbers and fast arithmetic, against one
 * operation a kernel and against plain loops. */
#include "ops/common.h"

#include "rows/beside.h"

enum { MOST = 40000, MOST_ROWS = 1024 };

static float x[MOST], y[MOST], u[MOST_ROWS], v[MOST_ROWS];
static int64_t places[MOST_ROWS], columns_of[MOST_ROWS];

/* Of n rows and `width` columns. */
static void fill(int64_t n, int64_t width) {
    uint64_t seed = (uint64_t)(n * 1000 + width);
    for (int64_t i = 0; i < n * width; i++) {
        x[i] = (float)(6 * random_unit(&seed) - 3);
        y[i] = (float)(4 * random_unit(&seed) - 2);
    }
    for (int64_t i = 0; i < MOST_ROWS; i++) {
        u[i] = (float)(2 * random_unit(&seed) - 1);
        v[i] = (float)(2 * random_unit(&seed) - 0.5);
        places[i] = random_below(&seed, n) - (i % 3 == 0 ? n : 0); /* some from the end */
        columns_of[i] = random_below(&seed, width);
    }
}

static void bind_all(int64_t n, int64_t width, given *operands) {
    operands[0] = (given){"x", KRF_F32, 2, {n, width}, .data = x};
    operands[1] = (given){"y", KRF_F32, 2, {n, width}, .data = y};
    operands[2] = (given){"u", KRF_F32, 1, {n}, .data = u};
    operands[3] = (given){"v", KRF_F32, 1, {width}, .data = v};
    operands[4] = (given){"i", KRF_I64, 1, {n}, .data = places};
    operands[5] = (given){"j", KRF_I64, 1, {width}, .data = columns_of};
}

enum { OPERANDS = 6 };

/* A GPU has other schedules, which test_columns looks at: a part of this one. */
static bool left_out(int item) { return !in_shard(item) || (all.cuda && item % 3 != 0); }

/* ---- operands ---- */

typedef long double element(int64_t p, int64_t k);
static int64_t n_now, width_now;

static long double at(const float *of, int64_t p, int64_t k) { return (long double)of[p * width_now + k]; }
static long double weighted(int64_t p, int64_t k) { return at(x, p, k) * (long double)u[p]; }
static long double added(int64_t p, int64_t k) { return at(x, p, k) + (long double)v[k]; }
static long double halved(int64_t p, int64_t k) { return at(x, p, k) * 0.5L + (long double)u[p] * (long double)v[k]; }
static long double outer(int64_t p, int64_t k) { return (long double)u[p] * (long double)v[k]; }
static long double of_both(int64_t p, int64_t k) { return at(x, p, k) * at(y, p, k); }
static long double turned(int64_t p, int64_t k) { return at(x, p, k) + (long double)y[k * n_now + p]; }
static long double backwards(int64_t p, int64_t k) { return at(x, p, k) - at(x, n_now - 1 - p, k); }
static long double mirrored(int64_t p, int64_t k) { return at(x, p, k) + at(y, p, width_now - 1 - k); }
static long double taken(int64_t p, int64_t k) { return at(x, (places[p] + n_now) % n_now, k); }
static long double taken_along(int64_t p, int64_t k) { return at(x, p, columns_of[k]) + at(y, p, k); }
static long double counted(int64_t p, int64_t k) { return at(x, p, k) + (long double)p / 64; }
static long double counted_along(int64_t p, int64_t k) { return at(x, p, k) * (long double)(k % 4); }
static long double chosen(int64_t p, int64_t k) { return x[p * width_now + k] > 0 ? at(x, p, k) : (long double)v[k]; }
static long double scaled(int64_t p, int64_t k) { return at(x, p, k) * 0.75L - 2; }

/* softmax(z) * by is taken. */
static const struct {
    const char *z, *by;
    element *of;
    bool one; /* kernel, where x alone would be */
} cases[] = {
    {"x * u[:, None]", "v", weighted, true},
    {"x + v", "u[:, None]", added, true},
    {"x * 0.5 + u[:, None] * v", "1", halved, true},
    {"u[:, None] * v", "y", outer, false},
    {"x * y", "y", of_both, true},
    {"x + y.reshape(W, N).T", "1", turned, false},
    {"x - x[::-1]", "1", backwards, true},
    {"x + y[:, ::-1]", "1", mirrored, true},
    {"x[i]", "1", taken, false},
    {"take(x, j, axis=1) + y", "v", taken_along, false},
    {"x + f32(arange(N))[:, None] / 64", "1", counted, true},
    {"x * f32(arange(W) % 4)", "1", counted_along, true},
    {"where(x > 0, x, v)", "u[:, None]", chosen, true},
    {"x * 0.75 - 2", "3", scaled, true},
};

static long double weight_of(const char *by, int64_t p, int64_t k) { return strcmp(by, "v") == 0 ? (long double)v[k] : by[0] == 'u' ? (long double)u[p] : strcmp(by, "y") == 0 ? at(y, p, k) : (long double)atoi(by); }

enum { TEXT = 400 };

/* N and W stand for the extents. */
static void write_extents(const char *plain, char text[TEXT]) {
    size_t length = 0;
    for (const char *c = plain; *c != '\0' && length + 8 < TEXT; c++) {
        const bool named = (*c == 'N' && c[1] != 'o') || *c == 'W';
        length += (size_t)(named ? snprintf(text + length, 8, "%d", (int)(*c == 'N' ? n_now : width_now)) : snprintf(text + length, 8, "%c", *c));
    }
}

static void write_softmax(const char *z, const char *by, char text[TEXT]) {
    char plain[TEXT];
    snprintf(plain, sizeof plain, "z = %s; m = max(z, axis=0); e = exp(z - m); return e / sum(e, axis=0) * %s", z, by);
    write_extents(plain, text);
}

static void check_softmax(element *of, const char *by, const results *got, long double roundings, const char *what) {
    for (int64_t k = 0; k < width_now; k++) {
        long double largest = -INFINITY, sum = 0;
        for (int64_t p = 0; p < n_now; p++) {
            largest = of(p, k) > largest ? of(p, k) : largest;
        }
        for (int64_t p = 0; p < n_now; p++) {
            sum += expl(of(p, k) - largest);
        }
        for (int64_t p = 0; p < n_now; p++) {
            const long double want = expl(of(p, k) - largest) / sum * weight_of(by, p, k), found = (long double)get(got->data[0], KRF_F32, p * width_now + k).f;
            if (!(fabsl(found - want) <= roundings * 0x1p-24L * fabsl(want))) {
                COMPLAIN("%s: element %" PRId64 ", %" PRId64 " is %.9Lg, not %.9Lg", what, p, k, found, want);
                return;
            }
        }
    }
}

static const int64_t shapes[][2] = {{100, 70}, {256, 129}, {512, 64}, {37, 600}, {1024, 32}};
enum { SHAPES = sizeof shapes / sizeof *shapes, CASES = sizeof cases / sizeof *cases };

static void test_operands(void **unused) {
    (void)unused;
    for (int c = 0, item = 0; c < CASES; c++) {
        for (int s = 0; s < (c % 7 == 0 ? 2 : 1); s++, item++) {
            given operands[OPERANDS];
            results want = {0};
            char text[TEXT], what[460];
            n_now = shapes[(c * 2 + s) % SHAPES][0];
            width_now = shapes[(c * 2 + s) % SHAPES][1];
            if (left_out(item)) {
                continue;
            }
            fill(n_now, width_now);
            bind_all(n_now, width_now, operands);
            write_softmax(cases[c].z, cases[c].by, text);
            snprintf(what, sizeof what, "%s of [%d, %d]", text, (int)n_now, (int)width_now);
            const bool two = strchr(cases[c].z, 'y') != NULL || strchr(cases[c].by, 'y') != NULL || cases[c].of == backwards, fits = !two || n_now <= 512;
            must_agree(text, OPERANDS, operands, 1, cases[c].one && fits ? 1 : 0, what, &want);
            if (!collecting) {
                check_softmax(cases[c].of, cases[c].by, &want, 80, what);
            }
            free_results(&want);
        }
    }
    assert_int_equal(complaints(), 0);
}

/* ---- results ---- */

static const struct {
    const char *text;
    int outputs, kernels;
} programs[] = {
    {"m = max(x, axis=0); e = exp(x - m); s = sum(e, axis=0); return e / s, m, s", 3, 1},
    {"m = mean(x, axis=0); w = var(x, axis=0); return (x - m) / sqrt(w + 1e-5) * u[:, None] + v, m, w", 3, 1},
    {"m = max(x, axis=0); e = exp(x - m); p = e / sum(e, axis=0); return p, p / sum(p * p, axis=0), max(p, axis=0)", 3, 1}, /* elements before the last round */
    {"m = max(x, axis=0); e = exp(x - m); p = e / sum(e, axis=0); return f16(p), p > 0.02, i32(x * 1000) - i32(m), f64(p)", 4, 0},
    {"m = max(x, axis=0); e = exp(x - m); p = e / sum(e, axis=0); return p[None], argmax(x, axis=0), complex(p, x)", 3, 0},
    {"a = x - mean(x, axis=0); b = a / max(abs(a), axis=0); c = b - sum(b * u[:, None], axis=0); return c / sum(abs(c), axis=0), min(c, axis=0), prod(b, axis=0)", 3, 0},
    {"t = x - max(x, axis=0); return all(t < 0, axis=0), any(exp(t) > 0.99, axis=0), sum(i8(t), axis=0), sum(t > -1, axis=0)", 4, 1},
    {"d = x - mean(x, axis=0); return sum(d * d * d, axis=0) / sum(d * d, axis=0), std(x, axis=0)", 2, 1},
    {"x - logsumexp(x * y, axis=0)", 1, 0},
    {"t = x - sum(x, axis=0) * sum(x * x, axis=0) * max(x, axis=0) * min(x, axis=0) * sum(abs(x), axis=0); return t - sum(t, axis=0) * sum(t * t, axis=0) * max(t, axis=0)", 1, 1},
    {"r = random_uniform((N, W), 7, dtype=f32); m = max(r + x, axis=0); e = exp(r + x - m); return e / sum(e, axis=0), r", 2, 0},
    {"r = random_normal((N, W), 11, offset=3, dtype=f32); m = max(r, axis=0); e = exp(r - m); return e / sum(e, axis=0)", 1, 0},
    {"k = random_uniform((N, W), 5, dtype=f32) < 0.5; m = max(where(k, x, -9), axis=0); s = sum(where(k, x - m, 0), axis=0); return where(k, x - s, m)", 1, 0},
};

static void test_programs(void **unused) {
    (void)unused;
    for (int k = 0; k < (int)(sizeof programs / sizeof *programs); k++) {
        given operands[OPERANDS];
        char text[TEXT], what[460];
        n_now = shapes[k % 3][0];
        width_now = shapes[k % 3][1];
        write_extents(programs[k].text, text);
        if (!left_out(k)) {
            fill(n_now, width_now);
            bind_all(n_now, width_now, operands);
            snprintf(what, sizeof what, "%s of [%d, %d]", text, (int)n_now, (int)width_now);
            must_agree(text, OPERANDS, operands, programs[k].outputs, programs[k].kernels, what, NULL);
        }
    }
    assert_int_equal(complaints(), 0);
}

/* ---- special numbers ---- */

enum { SPECIALS = 12 };

/* By column: what stands at place p of n, of which the others are ordinary. */
static double special(int column, int64_t p, int64_t n, double unit) {
    const bool first = p == 0, last = p == n - 1, middle = p == n / 2;
    switch (column % SPECIALS) {
    case 1: return -0.0;
    case 2: return middle ? 0.0 : -0.0;
    case 3: return first ? 0.0 : -0.0;
    case 4: return last ? (double)NAN : unit;
    case 5: return first ? (double)NAN : unit;
    case 6: return middle ? (double)INFINITY : unit;
    case 7: return middle ? -(double)INFINITY : unit;
    case 8: return first ? (double)INFINITY : last ? -(double)INFINITY : unit;
    case 9: return (double)NAN;
    case 10: return -(double)INFINITY;
    case 11: return last ? -0.0 : 0.0;
    default: return unit;
    }
}

static void test_specials(void **unused) {
    static const char text[] = "s = sum(x, axis=0); m = max(x, axis=0); t = sum(exp(x - m), axis=0); return s, m, min(x, axis=0), exp(x - m) / t + 0 * s";
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_F16, KRF_BF16};
    static const int64_t few[] = {3, 40, 256, 300, 1024};
    static double data[MOST];
    (void)unused;
    for (int k = 0, item = 0; k < 5; k++) {
        for (int d = k % 2; d < 4; d += 2, item++) {
            const int64_t n = few[k], width = n > 256 ? 32 : 36;
            const krf_dtype dtype = dtypes[d];
            uint64_t seed = (uint64_t)n;
            char what[200];
            results want = {0};
            if (left_out(item)) {
                continue;
            }
            for (int64_t i = 0; i < n * width; i++) {
                put(data, i, convert((value){.dtype = KRF_F64, .f = special((int)(i % width), i / width, n, 1 + random_unit(&seed))}, dtype));
            }
            snprintf(what, sizeof what, "special numbers, %s [%d, %d]", name_of(dtype), (int)n, (int)width);
            must_agree(text, 1, &(given){"x", dtype, 2, {n, width}, .data = data}, 4, n > 256 && width * (int64_t)bytes_of(dtype) % 64 != 0 ? 2 : 1, what, &want);
            for (int64_t c = 0; c < width && !collecting; c++) {
                const int of = (int)(c % SPECIALS);
                const double sum = get(want.data[0], dtype, c).f, most = get(want.data[1], dtype, c).f, least = get(want.data[2], dtype, c).f, share = get(want.data[3], dtype, c).f;
                const bool nan = of == 4 || of == 5 || of == 9, inf = of == 6 || of == 8;
                if (isnan(most) != nan || isnan(least) != nan || isnan(sum) != (nan || of == 8) || isnan(share) != (nan || inf || of == 7 || of == 10) || (inf && !(most == (double)INFINITY)) ||
                    ((of == 7 || of == 8 || of == 10) && !(least == -(double)INFINITY)) || ((of == 1 || of == 2 || of == 3 || of == 11) && sum != 0)) {
                    COMPLAIN("%s: column %d: sum %g, from %g to %g, share %g", what, (int)c, sum, least, most, share);
                    break;
                }
            }
            free_results(&want);
        }
    }
    assert_int_equal(complaints(), 0);
}

/* ---- reductions of the user's own ---- */

/* Neither commutes: which operand stands on which side is seen, and where the tree's halves are. */
static void define(krf_context *context, krf_reduction **made) {
    assert_int_equal(krf_reduction_define(context, "first", "F x", "F found, F value", "0, 0", "found = x > 0; value = x > 0 ? x : 0;", "found = a_found + b_found > 0; value = a_found > 0 ? a_value : b_value;",
                                          NULL, NULL, &made[0]), KRF_OK);
    assert_int_equal(krf_reduction_define(context, "affine", "F x", "F a, F b", "1, 0", "a = x * 0.125 + 0.5; b = x;", "a = a_a * b_a; b = a_b * b_a + b_b;", NULL, NULL, &made[1]), KRF_OK);
}

/* By the canonical tree: 256 lanes, whose numbers are halved bit by bit, each with the elements that are as many apart. */
static double first_of(int64_t column) {
    int best = 1 << 20;
    double found = 0;
    for (int p = 0; p < n_now; p++) {
        int order = p / 256;
        for (int b = 0; b < 8; b++) {
            order |= (p >> b & 1) << (15 - b);
        }
        if (x[p * width_now + column] > 0 && order < best) {
            best = order;
            found = (double)x[p * width_now + column];
        }
    }
    return found;
}

static void test_defined(void **unused) {
    static const char *const texts[] = {"d = x - first(x, axis=0, result=1); m = max(abs(d), axis=0); return d / (m + 1), first(x, axis=0, result=1)",
                                        "d = x - affine(x, axis=0, result=1); return d - affine(d, axis=0, result=1), affine(x, axis=0, result=0)",
                                        "d = x - mean(x, axis=0); return d * first(d, axis=0, result=1), affine(d, axis=0, result=1)"};
    static const int64_t few[] = {7, 40, 256, 1000};
    krf_reduction *made[2 * (MAX_RUNS + 1)] = {NULL};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        define(all.run[r].context, made + 2 * r);
    }
    define(off, made + 2 * MAX_RUNS);
    for (int k = 0, item = 0; k < 4; k++) {
        for (int t = k % 2; t < 3; t += 2, item++) {
            const krf_dtype dtype = (k + t) % 3 == 2 ? KRF_F64 : KRF_F32;
            char text[240], what[300];
            results want = {0};
            n_now = few[k];
            width_now = n_now > 256 ? 32 : 34;
            if (left_out(item)) {
                continue;
            }
            fill(n_now, width_now);
            snprintf(text, sizeof text, dtype == KRF_F64 ? "x = f64(x); %s" : "%s", texts[t]);
            snprintf(what, sizeof what, "%s of [%d, %d]", text, (int)n_now, (int)width_now);
            must_agree(text, 1, &(given){"x", KRF_F32, 2, {n_now, width_now}, .data = x}, 2, t == 2 ? 0 : 1, what, &want);
            for (int64_t c = 0; c < width_now && t == 0 && !collecting; c++) {
                const double got = get(want.data[1], want.dtype[1], c).f, found = first_of(c);
                if (!same_real(got, found)) {
                    COMPLAIN("%s: the first positive number of column %d, in the tree's order, is %.9g, not %.9g", what, (int)c, got, found);
                    break;
                }
            }
            free_results(&want);
        }
    }
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        krf_reduction_release(made[k]);
    }
    assert_int_equal(complaints(), 0);
}

/* ---- fast arithmetic ---- */

/* Which has no bits to compare: within its bounds, and half numbers that are not rounded between. */
static void test_fast(void **unused) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    (void)unused;
    options.device = all.cuda ? getenv("KRF_TEST_DEVICE") : "cpu";
    options.cpu_tier = KRF_CPU_COMPILE;
    options.blocking_compile = true;
    options.math = KRF_MATH_FAST;
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    for (int s = 0; s < 2; s++) {
        given operands[OPERANDS];
        results got;
        char text[TEXT];
        n_now = shapes[s][0];
        width_now = shapes[s][1];
        fill(n_now, width_now);
        bind_all(n_now, width_now, operands);
        write_softmax("x + v", "1", text);
        evaluate(context, text, OPERANDS, operands, 1, &got);
        if (!all.cuda && (got.kernels != 1 || strcmp(got.schedule, "row_col") != 0)) {
            COMPLAIN("fast, %s: %d kernels, %s", text, got.kernels, got.schedule);
        }
        check_softmax(added, "1", &got, 600, text);
        free_results(&got);
    }
    krf_context_destroy(context);
    assert_int_equal(complaints(), 0);
}

int main(void) {
    return run_beside_own(TESTS(noted_test(test_operands), noted_test(test_programs), noted_test(test_specials), cmocka_unit_test(test_defined), cmocka_unit_test(test_fast)));
}
