/* Softmax and its like over rows that lie side by side in memory, of which the CPU takes a tile through all rounds: every dtype, length and width at the borders of what lanes, turns and tiles are, axes and views of any
 * kind, against one operation a kernel, bit for bit, and against plain loops in long double. Which rows become one kernel: test_tiles_rule.c; what goes past the caches: test_tiles_lines.c. */
#include "ops/common.h"

#include "rows/beside.h"

enum { MOST = 560000 };

/* What x is and the program sees of it, in C order; x lies in C order too. */
typedef struct layout {
    const char *view, *axis; /* NULL: x */
    unsigned reduced;        /* a bit for each axis of what is seen */
    int rank;
    int64_t base[AXES];
    int seen_rank; /* 0: the base */
    int64_t seen[AXES], strides[AXES], offset;
    bool bound;      /* x is the view itself */
    int cpu_kernels; /* 0: as the rule says; 1; 2: several; -1: not looked at */
} layout;

static struct {
    int64_t size, count, results;
    int of[MOST], at[MOST]; /* to which row an element belongs, and where it lies in the base */
} seen;

static char data[MOST * 16];

static void look_at(const layout *l) {
    const bool plain = l->seen_rank == 0;
    const int rank = plain ? l->rank : l->seen_rank;
    const int64_t *shape = plain ? l->base : l->seen;
    int64_t index[AXES] = {0}, strides[AXES], steps[AXES] = {0};
    seen.size = size_of_shape(rank, shape);
    seen.results = 1;
    assert_true(seen.size <= MOST && size_of_shape(l->rank, l->base) <= MOST);
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = !plain ? l->strides[d] : d == rank - 1 ? 1 : strides[d + 1] * shape[d + 1];
        if ((l->reduced >> d & 1) == 0) {
            steps[d] = seen.results;
            seen.results *= shape[d];
        }
    }
    seen.count = seen.results > 0 ? seen.size / seen.results : 0;
    for (int64_t i = 0; i < seen.size; i++) {
        int64_t at = l->offset, of = 0;
        for (int d = 0; d < rank; d++) {
            at += index[d] * strides[d];
            of += index[d] * steps[d];
        }
        seen.at[i] = (int)at;
        seen.of[i] = (int)of;
        for (int d = rank - 1; d >= 0 && ++index[d] == shape[d]; d--) {
            index[d] = 0;
        }
    }
}

/* ---- what is computed ---- */

typedef enum kind { SOFTMAX, NORM, SMALLEST, PARITY, TURNED } kind;

/* z is what is seen, %s the axes; two rounds of reductions each, but for NORM. */
static const char *const programs[] = {
    [SOFTMAX] = "m = max(z, axis=%s, keepdims=True); e = exp(z - m); return e / sum(e, axis=%s, keepdims=True)",
    [NORM] = "d = z - mean(z, axis=%s, keepdims=True); return d / sqrt(var(z, axis=%s, keepdims=True) + 0.125)",
    [SMALLEST] = "d = z - min(z, axis=%s, keepdims=True); return d - sum(d, axis=%s, keepdims=True)",
    [PARITY] = "t = z ^ any(z, axis=%s, keepdims=True); return z ^ all(t, axis=%s, keepdims=True)",
    [TURNED] = "t = z - mean(z, axis=%s, keepdims=True); return t / (1 + sum(abs(t), axis=%s, keepdims=True))",
};

static kind kind_of(krf_dtype dtype, int turn) { return is_complex(dtype) ? TURNED : dtype == KRF_BOOL ? PARITY : !is_real(dtype) ? SMALLEST : turn % 2 == 0 ? SOFTMAX : NORM; }

/* Differences of whole numbers stay within 8 bits; of real ones no sum is exact. Bools: rows of all, none and one. */
static void fill(krf_dtype dtype, int64_t n, int64_t last) {
    uint64_t seed = (uint64_t)dtype + 77;
    for (int64_t i = 0; i < n; i++) {
        const double unit = random_unit(&seed);
        value v = {.dtype = dtype};
        if (is_complex(dtype)) {
            v = convert((value){.dtype = KRF_C128, .f = 8 * unit - 3, .im = 5 * random_unit(&seed) - 2}, dtype);
        } else if (is_real(dtype)) {
            v = convert((value){.dtype = KRF_F64, .f = 8 * unit - 3}, dtype);
        } else if (dtype == KRF_BOOL) {
            v.i = i % last % 4 == 1 || (i % last % 4 == 2 && i < last) || (i % last % 4 == 3 && unit < 0.5);
        } else {
            v = whole_number(dtype, (int64_t)(100 * unit) - (facts_of(dtype)->is_unsigned ? 0 : 50));
        }
        put(data, i, v);
    }
}

typedef struct sums {
    long double largest, least, of_exp, mean, mean_im, squares, lengths;
    int64_t set;
} sums;

static void sum_up(krf_dtype dtype, sums *s) {
    for (int64_t j = 0; j < seen.results; j++) {
        s[j] = (sums){.largest = -INFINITY, .least = INFINITY};
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < seen.size; i++) {
            const value v = get(data, dtype, seen.at[i]);
            sums *own = &s[seen.of[i]];
            const long double x = is_real(dtype) || is_complex(dtype) ? (long double)v.f : (long double)wide_of(v), y = (long double)v.im, n = (long double)seen.count;
            if (pass == 0) {
                own->largest = x > own->largest ? x : own->largest;
                own->least = x < own->least ? x : own->least;
                own->mean += x / n;
                own->mean_im += y / n;
                own->set += x != 0;
            } else {
                own->of_exp += is_real(dtype) ? expl(x - own->largest) : x - own->least;
                own->squares += (x - own->mean) * (x - own->mean) / n;
                own->lengths += hypotl(x - own->mean, y - own->mean_im);
            }
        }
    }
}

static bool near(long double got, long double want, long double tolerance) { return fabsl(got - want) <= tolerance; }

/* Whether element i of the result is what it should be, give or take some roundings to the dtype. */
static bool is_right(kind of, krf_dtype dtype, int64_t i, const sums *s, value got, long double *want) {
    const value v = get(data, dtype, seen.at[i]);
    const long double unit = ldexpl(1, -facts_of(part_of(dtype))->digits), x = (long double)v.f, root = sqrtl(s->squares + 0.125L);
    bool all_set = false;
    wide w;
    switch (of) {
    case SOFTMAX:
        *want = expl(x - s->largest) / s->of_exp;
        return near((long double)got.f, *want, unit * *want * (s->largest - x + 24) + (dtype == KRF_F16 ? 0x1p-23L : 0x1p-130L));
    case NORM:
        *want = (x - s->mean) / root;
        return near((long double)got.f, *want, 48 * unit / root * (1 + fabsl(*want)));
    case SMALLEST:
        w = wide_of(v) - (wide)s->least - (wide)s->of_exp;
        *want = (long double)w;
        return got.i == wrap_to(got.dtype, w);
    case PARITY: /* all of z ^ any(z) are set: none of them is 0 where any(z) is false, none 1 where it is true */
        all_set = s->set > 0 ? seen.count == 0 : seen.count == 0;
        *want = (long double)((v.i != 0) != all_set);
        return got.i == (int64_t)*want;
    case TURNED: *want = (x - s->mean) / (1 + s->lengths); break;
    }
    return near((long double)got.f, *want, 64 * unit / (1 + s->lengths) + 32 * unit * fabsl(*want)) &&
           near((long double)got.im, ((long double)v.im - s->mean_im) / (1 + s->lengths), 64 * unit / (1 + s->lengths) + 32 * unit);
}

/* As pass/rows.c has it. */
static int by_rule(const layout *l, krf_dtype dtype) {
    const int rank = l->seen_rank > 0 ? l->seen_rank : l->rank;
    const int64_t *shape = l->seen_rank > 0 ? l->seen : l->base;
    int64_t beside = 1;
    for (int d = rank - 1; d >= 0 && (l->reduced >> d & 1) == 0; d--) {
        beside *= shape[d];
    }
    return seen.count == 1 || seen.size == 0 ? 0 : seen.count <= 1024 && beside >= 32 && (seen.count <= 256 || beside * (int64_t)bytes_of(dtype) % 64 == 0) ? 1 : 2;
}

static void check(const layout *l, krf_dtype dtype, int turn) {
    static sums s[MOST];
    const kind of = kind_of(dtype, turn);
    char text[300], what[400], a[64];
    results want = {0};
    const int length = snprintf(text, sizeof text, "z = %s; ", l->view != NULL ? l->view : "x");
    snprintf(text + length, sizeof text - (size_t)length, programs[of], l->axis, l->axis);
    snprintf(what, sizeof what, "%s of %s [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", text, name_of(dtype), l->base[0], l->base[1], l->base[2], l->base[3]);
    look_at(l);
    fill(dtype, size_of_shape(l->rank, l->base), l->base[l->rank - 1]);
    given x = {"x", dtype, l->rank, {0}, .data = data, .seen_rank = l->bound ? l->seen_rank : 0, .offset = l->offset};
    memcpy(x.shape, l->base, sizeof x.shape);
    memcpy(x.seen, l->seen, sizeof x.seen);
    memcpy(x.strides, l->strides, sizeof x.strides);
    must_agree(text, 1, &x, 1, l->cpu_kernels != 0 ? l->cpu_kernels : is_complex(dtype) || dtype == KRF_BOOL ? 0 : by_rule(l, dtype), what, &want);
    if (collecting) {
        free_results(&want);
        return;
    }
    sum_up(dtype, s);
    assert_int_equal(want.size[0], seen.size);
    for (int64_t i = 0; i < seen.size; i++) {
        long double wanted = 0;
        const value got = get(want.data[0], want.dtype[0], i);
        if (!is_right(of, dtype, i, &s[seen.of[i]], got, &wanted)) {
            COMPLAIN("%s: element %" PRId64 " is %s, not %.20Lg", what, i, show(got, a, sizeof a), wanted);
            break;
        }
    }
    free_results(&want);
}

/* ---- lengths and widths ---- */

static const krf_dtype dtypes[] = {KRF_F32, KRF_BF16, KRF_F64, KRF_I8, KRF_F16, KRF_I64, KRF_C64, KRF_U16, KRF_BOOL, KRF_I32, KRF_F32, KRF_U8, KRF_C128, KRF_I16, KRF_U64, KRF_F64, KRF_U32};
static const int64_t lengths[] = {1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 1000, 1023, 1024, 1025};
static const int64_t widths[] = {32, 33, 63, 64, 100, 129, 511, 512, 513, 1000};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes, N_LENGTHS = sizeof lengths / sizeof *lengths, N_WIDTHS = sizeof widths / sizeof *widths };

/* A GPU has other schedules, which test_columns looks at: a part of this one. */
static bool left_out(int item) { return !in_shard(item) || (all.cuda && item % 5 != 0); }

static void test_lengths(void **unused) {
    int item = 0;
    (void)unused;
    for (int k = 0; k < N_LENGTHS; k++) {
        for (int t = 0; t < 2; t++, item++) {
            const int64_t n = lengths[k], width = n > 256 && t == 0 ? (k % 2 == 0 ? 64 : 512) : widths[item * 3 % N_WIDTHS];
            const layout l = {NULL, "0", 1, 2, .base = {n, n * width <= MOST ? width : 96}};
            if (!left_out(item)) {
                check(&l, dtypes[item % N_DTYPES], item / N_DTYPES);
            }
        }
    }
    assert_int_equal(complaints(), 0);
}

/* Each dtype with widths below, at and above those of its tiles. */
static void test_widths(void **unused) {
    int item = 0;
    (void)unused;
    for (int d = 0; d < N_DTYPES; d++) {
        for (int t = 0; t < 2; t++, item++) {
            const int64_t width = widths[(d * 3 + t) % N_WIDTHS], n = t == 0 ? 21 : d % 2 == 0 ? 100 : 256;
            const layout l = {NULL, "0", 1, 2, .base = {n, width}};
            if (!left_out(item)) {
                check(&l, dtypes[d], d);
            }
        }
    }
    assert_int_equal(complaints(), 0);
}

/* ---- axes and views ---- */

static const layout layouts[] = {
    {NULL, "1", 2, 3, .base = {3, 21, 50}},
    {NULL, "1", 2, 3, .base = {3, 256, 50}},
    {NULL, "1", 2, 3, .base = {5, 1000, 64}},
    {NULL, "1", 2, 3, .base = {2, 1, 50}},
    {NULL, "1", 2, 4, .base = {2, 21, 7, 9}},
    {NULL, "1", 2, 4, .base = {2, 300, 8, 8}},
    {NULL, "2", 4, 4, .base = {2, 3, 70, 40}},
    {NULL, "0", 1, 3, .base = {33, 5, 7}},
    {NULL, "0", 1, 3, .base = {33, 600, 3}}, /* tiles end within the rows that have one last index but one */
    {NULL, "(0, 1)", 3, 3, .base = {5, 60, 64}},
    {NULL, "(0, 1)", 3, 3, .base = {3, 7, 33}},
    {NULL, "(1, 2)", 6, 4, .base = {3, 10, 20, 37}},
    {NULL, "(0, 2)", 5, 4, .base = {5, 3, 40, 34}},
    {NULL, "(0, 2)", 5, 3, .base = {5, 9, 30}, .cpu_kernels = 2},
    {NULL, "1", 2, 4, .base = {3, 31, 1, 40}},
    {NULL, "1", 2, 4, .base = {3, 31, 40, 1}},
    /* Views: in the text, and of the array itself. */
    {"x[:, 1:]", "0", 1, 2, .base = {50, 101}, .seen_rank = 2, .seen = {50, 100}, .strides = {101, 1}, .offset = 1},
    {"x[:, 3:-2]", "0", 1, 2, .base = {256, 518}, .seen_rank = 2, .seen = {256, 513}, .strides = {518, 1}, .offset = 3},
    {"x[2:, 1:65]", "0", 1, 2, .base = {514, 99}, .seen_rank = 2, .seen = {512, 64}, .strides = {99, 1}, .offset = 199},
    {"x[::-1]", "0", 1, 2, .base = {100, 65}, .seen_rank = 2, .seen = {100, 65}, .strides = {-65, 1}, .offset = 99 * 65},
    {"x[:, ::-1]", "0", 1, 2, .base = {100, 65}, .seen_rank = 2, .seen = {100, 65}, .strides = {65, -1}, .offset = 64},
    {"x[::3]", "0", 1, 2, .base = {100, 65}, .seen_rank = 2, .seen = {34, 65}, .strides = {195, 1}, .offset = 0},
    {"x[:, ::2]", "0", 1, 2, .base = {100, 130}, .seen_rank = 2, .seen = {100, 65}, .strides = {130, 2}, .offset = 0},
    {"x[::-2, ::-2]", "0", 1, 2, .base = {61, 131}, .seen_rank = 2, .seen = {31, 66}, .strides = {-262, -2}, .offset = 60 * 131 + 130},
    {"x[:, ::3]", "0", 1, 2, .base = {20, 130}, .seen_rank = 2, .seen = {20, 44}, .strides = {130, 3}, .offset = 0, .cpu_kernels = 2},
    {"x.T", "0", 1, 2, .base = {40, 50}, .seen_rank = 2, .seen = {50, 40}, .strides = {1, 50}, .offset = 0, .cpu_kernels = 2},
    {"x.T", "1", 2, 2, .base = {40, 50}, .seen_rank = 2, .seen = {50, 40}, .strides = {1, 50}, .offset = 0, .cpu_kernels = 2}, /* as they lie, along memory */
    {"swapaxes(x, 0, 1)", "0", 1, 3, .base = {5, 40, 37}, .seen_rank = 3, .seen = {40, 5, 37}, .strides = {37, 1480, 1}, .offset = 0},
    {"x", "0", 1, 2, .base = {50, 101}, .seen_rank = 2, .seen = {49, 100}, .strides = {101, 1}, .offset = 102, .bound = true},
    {"x", "0", 1, 2, .base = {50, 101}, .seen_rank = 2, .seen = {50, 101}, .strides = {-101, -1}, .offset = 50 * 101 - 1, .bound = true},
    {"x", "1", 2, 3, .base = {4, 33, 131}, .seen_rank = 3, .seen = {2, 32, 65}, .strides = {2 * 33 * 131, 131, 2}, .offset = 132, .bound = true},
    {"x", "0", 1, 2, .base = {1, 101}, .seen_rank = 2, .seen = {40, 101}, .strides = {0, 1}, .offset = 0, .bound = true, .cpu_kernels = -1}, /* one row again and again */
    {"x", "0", 1, 2, .base = {70, 101}, .seen_rank = 2, .seen = {32, 64}, .strides = {101, 0}, .offset = 0, .bound = true, .cpu_kernels = -1}, /* and one column */
    {"x", "0", 1, 2, .base = {1, 300}, .seen_rank = 2, .seen = {64, 64}, .strides = {1, 1}, .offset = 0, .bound = true, .cpu_kernels = -1}, /* that lie over one another */
    /* Nothing. */
    {NULL, "0", 1, 2, .base = {9, 0}},
    {NULL, "1", 2, 3, .base = {0, 9, 40}},
    {NULL, "1", 2, 3, .base = {4, 9, 0}},
};

static void test_layouts(void **unused) {
    static const krf_dtype some[] = {KRF_F32, KRF_F64, KRF_F16, KRF_I16, KRF_BF16, KRF_C64};
    (void)unused;
    for (int k = 0, item = 0; k < (int)(sizeof layouts / sizeof *layouts); k++) {
        for (int t = 0; t < (k % 3 == 0 ? 2 : 1); t++, item++) {
            if (!left_out(item)) {
                check(&layouts[k], some[(k + 2 * t) % 6], k / 6 + t);
            }
        }
    }
    assert_int_equal(complaints(), 0);
}

int main(void) { return run_beside_own(TESTS(noted_test(test_lengths), noted_test(test_widths), noted_test(test_layouts))); }
