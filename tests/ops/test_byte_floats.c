/* Integers of 8 bits that become floats, which a GPU does by words of four (codegen/cuda_convert.c): all of them to f32, f16 and bf16, in maps, reductions along rows and columns, and rows of several rounds; odd lengths, and
 * views that begin anywhere; against plain conversions, and the canonical tree (tree.h). Bools are converted as they are. */
#include "ops/programs.h"
#include "ops/tree.h"

enum { MOST_ROWS = 7, TURNED_ROWS = 40, MOST = TURNED_ROWS * 1100, STEPS = 12, PARTS = 6, ACROSS = 5 }; /* room for as many rows that are turned, and for MOST_ROWS of 4097 */

static runs all;
static const krf_dtype bytes[] = {KRF_U8, KRF_I8, KRF_BOOL};

/* Of all values, in an order in which no two of a word are alike; rows begin with others. */
static int number(krf_dtype dtype, int64_t i) { return dtype == KRF_BOOL ? i * 7 % 11 < 5 : (int)((i * 37 + i / 256 * 101) % 256) - (dtype == KRF_I8 ? 128 : 0); }

/* Rows of memory, with so many elements before the first and a gap behind each. */
static krf_array *make(krf_context *context, krf_dtype dtype, int64_t height, int64_t length, int64_t before, int64_t gap) {
    static char data[MOST + 4096];
    const int64_t size = before + height * (length + gap);
    krf_array *base = NULL, *view = NULL;
    for (int64_t i = 0; i < size; i++) {
        put(data, i, whole_number(dtype, number(dtype, i)));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, 2, (int64_t[]){height, length}, (int64_t[]){length + gap, 1}, before, &view), KRF_OK);
    krf_array_release(base);
    return view;
}

/* The results of a program of x; whether a kernel has words of four is asked where `fours` is 0 or 1. */
static void evaluate(const run *r, const char *text, krf_array *x, int n, krf_array **got, int fours) {
    krf_plan *plan = run_program(r, text, (krf_binding[]){krf_bind_array("x", x)}, 1, n, got);
    const bool found = has_text(plan, "krf_float_of_u8(v_") || has_text(plan, "krf_float_of_i8(v_");
    if (fours >= 0 && found != (fours == 1 && all.cuda)) {
        COMPLAIN("%s of %s, %" PRId64 " x %" PRId64 ", %s: bytes should%s become floats by four", text, name_of(krf_array_dtype(x)), krf_array_shape(x)[0], krf_array_shape(x)[1], r->label, fours == 1 ? "" : " not");
    }
    krf_plan_release(plan);
}

static value real(double x) { return (value){.dtype = KRF_F64, .f = x}; }

/* ---- maps ---- */

static double plain(int x) { return x; }
static double half_more(int x) { return x * 1.5; }
static double tenth(int x) { return nearest_float(x * (double)0.1f); }
static double root(int x) { return nearest_float(sqrt(fabs((double)x))); }
static double wandering(int x) {
    double u = x;
    for (int k = 0; k < STEPS; k++) {
        u = fabs(u - x * 0.5) - k;
    }
    return u;
}
static double chosen(int x) { return x > 3 ? x : -0.5; }

static const struct map {
    const char *text;
    double (*formula)(int x);
    int fours; /* 1: the plan of rows that lie one behind the other has words of four; -1: it depends */
} maps[] = {
    {"x.astype(f32)", plain, 1},
    {"x.astype(f16)", plain, 1},
    {"x.astype(bf16)", plain, 1},
    {"x.astype(f32) * 1.5", half_more, 1},
    {"x.astype(f32) * 0.1", tenth, 1},
    {"x.astype(f16) * 1.5", half_more, 1},
    {"(x.astype(f32) * 1.5).astype(u8)", half_more, 1},
    {"sqrt(abs(x.astype(f32)))", root, 1},
    {"where(x.astype(bf16) > 3, x.astype(bf16), bf16(-0.5))", chosen, 1},
    {"~", wandering, -1},
    {"x.astype(f64)", plain, 0},
    {"x.astype(i16)", plain, 0},
};
enum { MAPS = sizeof maps / sizeof *maps };

/* ~ stands for a long body. */
static void write_map(const char *map, const char *part, char *text) {
    text += *map == '~' ? sprintf(text, "u = %s.astype(f32)\n", part) : 0;
    for (int k = 0; k < STEPS && *map == '~'; k++) {
        text += sprintf(text, "u = abs(u - %s.astype(f32) * 0.5) - %d\n", part, k);
    }
    for (map = *map == '~' ? "return u" : map; *map != '\0'; map++) {
        text += *map == 'x' ? sprintf(text, "%s", part) : sprintf(text, "%c", *map);
    }
}

/* One row, of whole vectors and of others, and some; from places of memory that vectors begin at, or not, and parts of what does. */
static void test_maps(void **unused) {
    static const int64_t lengths[] = {256, 255, 257, 1024, 1003, 1007, 514, 3, 1023, 1036}, befores[] = {0, 1, 0, 2, 3, 0, 4, 16, 7};
    static const char *const parts[PARTS] = {"x", "x[:, 1:]", "x[:, 5:]", "x[:, 8:]", "x[1:]", "x.T"};
    static value want[MOST];
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int t = 0; t < MAPS * 3 * 10 && !passed_over(&all.run[r]); t++) {
            const int m = t / 30, d = t / 10 % 3, l = t % 10, part = (m + d + l) % 4 == 0 ? (l + m) % PARTS : 0;
            const int64_t height = part == ACROSS ? TURNED_ROWS : part == 4 ? 3 : t % 7 == 0 ? 2 : 1, length = part > 0 && lengths[l] < 9 ? 99 : lengths[l], before = befores[(l + m + d) % 9], gap = t % 3 == 0 ? 16 : t % 5 == 0, row = part == 4, column = (int64_t[PARTS]){0, 1, 5, 8, 0, 0}[part];
            if ((all.run[r].compiled && t % 16 != 0) || (*maps[m].text == '~' && l != 3 && l != 5)) {
                continue;
            }
            krf_array *x = make(all.run[r].context, bytes[d], height, length, before, gap), *got = NULL;
            const int64_t shown = length - column, n = shown * (height - row);
            char text[8000];
            write_map(maps[m].text, parts[part], text);
            for (int64_t i = 0; i < n; i++) {
                const int64_t at = part == ACROSS ? i % height * (length + gap) + i / height : (row + i / shown) * (length + gap) + column + i % shown;
                want[i] = real(maps[m].formula(number(bytes[d], before + at)));
            }
            evaluate(&all.run[r], text, x, 1, &got, bytes[d] == KRF_BOOL ? 0 : part > 0 || height > 1 ? -1 : maps[m].fours);
            compare_values(&all.run[r], text, x, got, want, n);
            krf_array_release(x);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- reductions ---- */

/* Over elements that are scaled first, in f32; of halves as they are. */
static const struct reduction {
    const char *text;
    krf_dtype dtype;
    double scale;
    reduction_op op;
} reductions[] = {
    {"sum(x.astype(f32) * 0.1, axis=1)", KRF_F32, (double)0.1f, SUM},
    {"mean(x.astype(f32) * 0.7, axis=1)", KRF_F32, (double)0.7f, MEAN},
    {"max(x.astype(f32), axis=1)", KRF_F32, 1, MAX},
    {"sum(x.astype(f16) * 0.125, axis=1)", KRF_F16, 0.125, SUM},
    {"mean(x.astype(bf16), axis=1)", KRF_BF16, 1, MEAN},
    {"min(x.astype(bf16), axis=1)", KRF_BF16, 1, MIN},
    {"sum(x.astype(f32) * 0.1, axis=0)", KRF_F32, (double)0.1f, SUM},
    {"max(x.astype(f16), axis=0)", KRF_F16, 1, MAX},
    {"mean(x.astype(f32) * 0.1)", KRF_F32, (double)0.1f, MEAN},
};

static double reduced(reduction_op op, krf_dtype dtype, const double *x, int64_t n) {
    const double whole = canonical_tree(op == MEAN ? SUM : op, true, x, n);
    return round_to(dtype, (long double)(op == MEAN ? nearest_float(whole / (double)n) : whole));
}

static const int64_t lengths[] = {31, 255, 256, 257, 511, 512, 513, 767, 768, 769, 1000, 1023, 1024, 1025, 1028, 2048, 4095, 4096, 4097};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void test_reductions(void **unused) {
    static value want[MOST];
    static double items[MOST];
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int t = 0; t < 9 * 3 * LENGTHS && !passed_over(&all.run[r]); t++) {
            const struct reduction *p = &reductions[t / 3 / LENGTHS];
            const krf_dtype dtype = bytes[t / LENGTHS % 3];
            const bool down = strstr(p->text, "axis=0") != NULL, along = strstr(p->text, "axis=1") != NULL;
            const int64_t length = lengths[t % LENGTHS], before = (int64_t[]){0, 3, 0, 16, 1}[t % 5], gap = t % 4 == 0 ? 16 : t % 7 == 0, height = down ? MOST_ROWS : 3, n = down ? length : along ? height : 1;
            const int64_t in = down ? height : along ? length : height * length;
            if ((all.run[r].compiled && t % 17 != 0) || ((dtype == KRF_BOOL || length == 31) && t % 4 != 0)) {
                continue;
            }
            krf_array *x = make(all.run[r].context, dtype, height, length, before, gap), *got = NULL;
            for (int64_t k = 0; k < n; k++) {
                for (int64_t i = 0; i < in; i++) {
                    const int64_t row = down ? i : along ? k : i / length, column = down ? k : i % length;
                    items[i] = round_to(p->dtype, (long double)(number(dtype, before + row * (length + gap) + column) * p->scale));
                }
                want[k] = real(reduced(p->op, p->dtype, items, in));
            }
            evaluate(&all.run[r], p->text, x, 1, &got, dtype == KRF_BOOL ? 0 : along && before == 0 && gap != 1 && length % 16 == 0 && p->op != MAX && p->op != MIN ? 1 : -1);
            compare_values(&all.run[r], p->text, x, got, want, n);
            krf_array_release(x);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- rows of several rounds ---- */

/* The exponentials of the library are taken as they are of f32 in memory; all else is computed here. */
static void test_rounds(void **unused) {
    static const char text[] = "f = x.astype(f32) * 0.05\ne = exp(f - max(f, axis=1)[:, None])\nreturn e / sum(e, axis=1)[:, None], x.astype(f32) - mean(x.astype(f32), axis=1)[:, None]", centred[] = "h = x.astype(bf16)\nreturn h - mean(h, axis=1)[:, None]";
    static value want[3][MOST];
    static double items[MOST];
    static float exponents[MOST], powers[MOST];
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int t = 0; t < 3 * LENGTHS && !passed_over(&all.run[r]); t++) {
            const krf_dtype dtype = bytes[t / LENGTHS];
            const int64_t length = lengths[t % LENGTHS], before = (int64_t[]){0, 0, 0, 3, 1}[t % 5], height = 3, n = height * length;
            if (t % (all.run[r].compiled ? 16 : dtype == KRF_BOOL ? 9 : 6) != 0) {
                continue;
            }
            krf_array *x = make(all.run[r].context, dtype, height, length, before, 0), *in = NULL, *e = NULL, *got[3] = {NULL};
            for (int64_t i = 0; i < n; i++) {
                items[i] = nearest_float(number(dtype, before + i) * (double)0.05f);
            }
            for (int64_t i = 0; i < n; i++) {
                exponents[i] = (float)items[i] - (float)canonical_tree(MAX, true, items + i / length * length, length);
            }
            assert_int_equal(krf_array_from_host(all.run[r].context, KRF_F32, 1, &n, exponents, &in), KRF_OK);
            e = evaluate_of(&all.run[r], "exp(x)", in);
            read_back(e, powers, (size_t)n * sizeof *powers);
            for (int64_t row = 0; row < height; row++) {
                double *now = items + row * length;
                for (int64_t i = 0; i < length; i++) {
                    now[i] = (double)powers[row * length + i];
                }
                const double sum = canonical_tree(SUM, true, now, length);
                for (int64_t i = 0; i < length; i++) {
                    want[0][row * length + i] = real(nearest_float(now[i] / sum));
                    now[i] = number(dtype, before + row * length + i);
                }
                const double mean = reduced(MEAN, KRF_F32, now, length), of_halves = reduced(MEAN, KRF_BF16, now, length);
                for (int64_t i = 0; i < length; i++) {
                    want[1][row * length + i] = real(nearest_float(now[i] - mean));
                    want[2][row * length + i] = real(now[i] - of_halves);
                }
            }
            evaluate(&all.run[r], text, x, 2, got, dtype == KRF_BOOL ? 0 : before == 0 && length % 16 == 0 ? 1 : -1);
            evaluate(&all.run[r], centred, x, 1, got + 2, dtype == KRF_BOOL ? 0 : -1);
            for (int k = 0; k < 3; k++) {
                compare_values(&all.run[r], k < 2 ? text : centred, x, got[k], want[k], n);
            }
            krf_array_release(in);
            krf_array_release(e);
            krf_array_release(x);
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all, false), TESTS(noted_test(test_maps), noted_test(test_reductions), noted_test(test_rounds))); }
