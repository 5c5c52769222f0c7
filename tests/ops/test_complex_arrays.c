/* Complex arrays: layouts, views, reductions, scalars, plans, promotion, casts and errors. Elements are small whole numbers, so that every sum and
 * product is exact and expected values are plain C. */
#include "ops/common.h"

#include <complex.h>
#undef I

enum { ROWS = 4, COLUMNS = 6, MANY = 100003 };

static runs all_runs;

/* The operands: z and w are complex, x is f32, of z's dtype's part; k is i16. */
static double zr(int i, int j) { return (i * 7 + j * 3) % 11 - 5; }
static double zi(int i, int j) { return (i * 5 + j * 2) % 7 - 3; }
static double wr(int j) { return j - 2; }
static double wi(int j) { return 3 - j; }
static double xr(int i, int j) { return i - j; }

static double total(int j, double (*f)(int, int)) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        sum += f(i, j);
    }
    return sum;
}

static double so_far(int i, double (*f)(int)) {
    double sum = 0;
    for (int j = 0; j <= i; j++) {
        sum += f(j);
    }
    return sum;
}

/* w[first] * ... * w[end - 1]: the real or the imaginary part. */
static double product_of(int first, int end, int half) {
    double re = 1, im = 0;
    for (int j = first; j < end; j++) {
        double next = re * wr(j) - im * wi(j);
        im = re * wi(j) + im * wr(j);
        re = next;
    }
    return half == 0 ? re : im;
}

static double squares(int i) {
    double sum = 0;
    for (int j = 0; j < COLUMNS; j++) {
        sum += zr(i, j) * zr(i, j) + zi(i, j) * zi(i, j);
    }
    return sum;
}

static double variance(int i) {
    double re = 0, im = 0, sum = 0;
    for (int j = 0; j < COLUMNS; j++) {
        re += zr(i, j) / COLUMNS;
        im += zi(i, j) / COLUMNS;
    }
    for (int j = 0; j < COLUMNS; j++) {
        sum += (zr(i, j) - re) * (zr(i, j) - re) + (zi(i, j) - im) * (zi(i, j) - im);
    }
    return sum / COLUMNS;
}

/* The sum of conj(z) * z.T, each in its own C order. */
static double conjugated(int half) {
    double sum = 0;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
        double re = zr(k / COLUMNS, k % COLUMNS), im = -zi(k / COLUMNS, k % COLUMNS);
        double other_re = zr(k % ROWS, k / ROWS), other_im = zi(k % ROWS, k / ROWS);
        sum += half == 0 ? re * other_re - im * other_im : re * other_im + im * other_re;
    }
    return sum;
}

static bool zero(int i, int j) { return zr(i, j) == 0 && zi(i, j) == 0; }

/* RESULT: Z complex, X real, B bool, I i64. The last two columns: the value at (i, j). */
#define CASES(CASE) \
    CASE("z", Z, 2, ROWS, COLUMNS, zr(i, j), zi(i, j)) \
    CASE("z.T", Z, 2, COLUMNS, ROWS, zr(j, i), zi(j, i)) \
    CASE("z[::-1, 1::2]", Z, 2, ROWS, 3, zr(3 - i, 1 + 2 * j), zi(3 - i, 1 + 2 * j)) \
    CASE("z.T.reshape(3, 8)", Z, 2, 3, 8, zr((i * 8 + j) % ROWS, (i * 8 + j) / ROWS), zi((i * 8 + j) % ROWS, (i * 8 + j) / ROWS)) \
    CASE("(z + 1).T.reshape(8, 3) * 2", Z, 2, 8, 3, 2 * zr((i * 3 + j) % ROWS, (i * 3 + j) / ROWS) + 2, \
         2 * zi((i * 3 + j) % ROWS, (i * 3 + j) / ROWS)) \
    CASE("broadcast_to(w, (4, 6))", Z, 2, ROWS, COLUMNS, wr(j), wi(j)) \
    CASE("concatenate([z, z.conj()[:, :2]], 1)", Z, 2, ROWS, 8, zr(i, j % 6), j < 6 ? zi(i, j) : -zi(i, j % 6)) \
    CASE("take(z * w, 5 - 5 * arange(2), 1)", Z, 2, ROWS, 2, zr(i, 5 - 5 * j) * wr(5 - 5 * j) - zi(i, 5 - 5 * j) * wi(5 - 5 * j), \
         zr(i, 5 - 5 * j) * wi(5 - 5 * j) + zi(i, 5 - 5 * j) * wr(5 - 5 * j)) \
    CASE("roll(z, 1, 0)", Z, 2, ROWS, COLUMNS, zr((i + 3) % 4, j), zi((i + 3) % 4, j)) \
    CASE("z + w", Z, 2, ROWS, COLUMNS, zr(i, j) + wr(j), zi(i, j) + wi(j)) \
    CASE("z * w", Z, 2, ROWS, COLUMNS, zr(i, j) * wr(j) - zi(i, j) * wi(j), zr(i, j) * wi(j) + zi(i, j) * wr(j)) \
    CASE("z * x - 3", Z, 2, ROWS, COLUMNS, zr(i, j) * xr(i, j) - 3, zi(i, j) * xr(i, j)) \
    CASE("2j * z", Z, 2, ROWS, COLUMNS, -2 * zi(i, j), 2 * zr(i, j)) \
    CASE("(1 - 2j) + x", Z, 2, ROWS, COLUMNS, 1 + xr(i, j), -2) \
    CASE("-2j - x", Z, 2, ROWS, COLUMNS, -xr(i, j), -2) \
    CASE("z ** 2", Z, 2, ROWS, COLUMNS, zr(i, j) * zr(i, j) - zi(i, j) * zi(i, j), 2 * zr(i, j) * zi(i, j)) \
    CASE("z ** 0", Z, 2, ROWS, COLUMNS, 1, 0) \
    CASE("(z / 2) ** -1 * z", Z, 2, ROWS, COLUMNS, zero(i, j) ? (double)NAN : 2, zero(i, j) ? (double)NAN : 0) \
    CASE("where(x > 0, z, w)", Z, 2, ROWS, COLUMNS, xr(i, j) > 0 ? zr(i, j) : wr(j), xr(i, j) > 0 ? zi(i, j) : wi(j)) \
    CASE("where(z, x, 2j)", Z, 2, ROWS, COLUMNS, zero(i, j) ? 0 : xr(i, j), zero(i, j) ? 2 : 0) \
    CASE("where(isnan(z), 0, z) + real(z) * 1j", Z, 2, ROWS, COLUMNS, zr(i, j), zi(i, j) + zr(i, j)) \
    CASE("complex(x, real(z))", Z, 2, ROWS, COLUMNS, xr(i, j), zr(i, j)) \
    CASE("complex(x, 1)", Z, 2, ROWS, COLUMNS, xr(i, j), 1) \
    CASE("complex(real(w), x).T", Z, 2, COLUMNS, ROWS, wr(i), xr(j, i)) \
    CASE("real(z)", X, 2, ROWS, COLUMNS, zr(i, j), 0) \
    CASE("imag(z.T)", X, 2, COLUMNS, ROWS, zi(j, i), 0) \
    CASE("imag(x)", X, 2, ROWS, COLUMNS, 0, 0) \
    CASE("imag(c64(1 / x)) + 0 * x", X, 2, ROWS, COLUMNS, 0, 0) /* of infinity */ \
    CASE("conj(x) + real(x)", X, 2, ROWS, COLUMNS, 2 * xr(i, j), 0) \
    CASE("real(z * conj(z))", X, 2, ROWS, COLUMNS, zr(i, j) * zr(i, j) + zi(i, j) * zi(i, j), 0) \
    CASE("abs(3 * x + 4j * x)", X, 2, ROWS, COLUMNS, 5 * fabs(xr(i, j)), 0) \
    CASE("real(complex(real(w), x))", X, 2, ROWS, COLUMNS, wr(j), 0) \
    CASE("z == w", B, 2, ROWS, COLUMNS, zr(i, j) == wr(j) && zi(i, j) == wi(j), 0) \
    CASE("z != x", B, 2, ROWS, COLUMNS, zr(i, j) != xr(i, j) || zi(i, j) != 0, 0) \
    CASE("logical_not(z)", B, 2, ROWS, COLUMNS, zero(i, j), 0) \
    CASE("bool(z) & isfinite(z)", B, 2, ROWS, COLUMNS, !zero(i, j), 0) \
    CASE("isclose(z, z + 1e-9)", B, 2, ROWS, COLUMNS, 1, 0) \
    CASE("sum(z, axis=0)", Z, 1, COLUMNS, 1, total(i, zr), total(i, zi)) \
    CASE("sum(z, axis=0, keepdims=True) + z", Z, 2, ROWS, COLUMNS, total(j, zr) + zr(i, j), total(j, zi) + zi(i, j)) \
    CASE("mean(z, axis=0) * 4 + w", Z, 1, COLUMNS, 1, total(i, zr) + wr(i), total(i, zi) + wi(i)) \
    CASE("sum(z * 1j, axis=0)", Z, 1, COLUMNS, 1, -total(i, zi), total(i, zr)) \
    CASE("sum(complex(real(w), x), axis=0)", Z, 1, COLUMNS, 1, ROWS * wr(i), total(i, xr)) \
    CASE("norm(z, axis=1) ** 2", X, 1, ROWS, 1, squares(i), 0) \
    CASE("var(z, axis=1)", X, 1, ROWS, 1, variance(i), 0) \
    CASE("any(z, axis=0) & all(w)", B, 1, COLUMNS, 1, 1, 0) \
    CASE("cumsum(w * 1j)", Z, 1, COLUMNS, 1, -so_far(i, wi), so_far(i, wr)) \
    CASE("conj(cumsum(w + 1))[::2]", Z, 1, 3, 1, so_far(2 * i, wr) + 2 * i + 1, -so_far(2 * i, wi)) \
    CASE("a = complex(2 * arange(2) + 1, 2 * arange(2) + 2); return vdot(a, a + (4 + 4j))", C128, 0, 1, 1, 70, -8) /* of NumPy's manual */ \
    CASE("a = complex(2 * arange(2) + 1, 2 * arange(2) + 2); return vdot(a + (4 + 4j), a)", C128, 0, 1, 1, 70, 8) /* likewise */ \
    CASE("a = complex(2 * arange(2) + 1, 2 * arange(2) + 2); return dot(a, a + (4 + 4j))", C128, 0, 1, 1, -18, 68) \
    CASE("a = complex(2 * arange(2) + 1, 2 * arange(2) + 2); return inner(a + (4 + 4j), a)", C128, 0, 1, 1, -18, 68) \
    CASE("vdot(w, x[0])", Z, 0, 1, 1, -25, -10) \
    CASE("vdot(x[0], w)", Z, 0, 1, 1, -25, 10) \
    CASE("vdot(z, z.T)", Z, 0, 1, 1, conjugated(0), conjugated(1)) \
    CASE("average(w, weights=arange(6))", Z, 0, 1, 1, 25 / 15.0, -10 / 15.0) \
    CASE("average(w, weights=w)", Z, 0, 1, 1, -16 / 3.0, -16 / 3.0) \
    CASE("prod(w[:3])", Z, 0, 1, 1, product_of(0, 3, 0), product_of(0, 3, 1)) \
    CASE("prod(z[:3, 1:] * 0 + w[1:], axis=1)", Z, 1, 3, 1, product_of(1, COLUMNS, 0), product_of(1, COLUMNS, 1)) \
    CASE("prod(z * 0 + 1j, axis=(1, 0), keepdims=True)", Z, 2, 1, 1, 1, 0) \
    CASE("prod(z[:2, :1] * 0 + 2j, axis=0)", Z, 1, 1, 1, -4, 0) \
    CASE("prod(z[:, :0], axis=1)", Z, 1, ROWS, 1, 1, 0) \
    CASE("count_nonzero(z)", I, 0, 1, 1, counted(), 0) \
    CASE("z[:0].sum()", Z, 0, 1, 1, 0, 0) \
    CASE("eye(4, dtype=c64) * 1j", C64, 2, ROWS, ROWS, 0, i == j) \
    CASE("full((2, 3), 1 + 2j)", C128, 2, 2, 3, 1, 2) \
    CASE("arange(3) * 1j", C128, 1, 3, 1, 0, i) \
    CASE("zeros_like(z)", Z, 2, ROWS, COLUMNS, 0, 0)

static double counted(void) {
    int n = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            n += !zero(i, j);
        }
    }
    return n;
}

enum { Z = 'z', X = 'x', B = 'b', I = 'i', C64 = '4', C128 = '8' };

static void expect(int which, int i, int j, double *re, double *im) {
    int at = 0;
#define CASE(text, result, rank, rows, columns, re_, im_) \
    if (at++ == which) { \
        *re = re_; \
        *im = im_; \
        return; \
    }
    CASES(CASE)
#undef CASE
}

static const struct {
    const char *text;
    char result;
    int rank, rows, columns;
} cases[] = {
#define CASE(text, result, rank, rows, columns, re, im) {text, result, rank, rows, columns},
    CASES(CASE)
#undef CASE
};
enum { N_CASES = sizeof cases / sizeof *cases };

/* ---- elements in memory ---- */

static void put_part(char *to, bool single, int at, double x) {
    float narrow = (float)x;
    memcpy(to + at * (single ? 4 : 8), single ? (void *)&narrow : (void *)&x, single ? 4 : 8);
}

static double get_part(const char *from, bool single, int at) {
    float narrow;
    double full;
    memcpy(&narrow, from + 4 * (single ? at : 0), sizeof narrow);
    memcpy(&full, from + 8 * (single ? 0 : at), sizeof full);
    return single ? (double)narrow : full;
}

enum { IN_ORDER, COLUMNS_FIRST, BACKWARDS, SPREAD, LAYOUTS };

/* z in memory of another order: the same elements, other strides. */
static krf_array *make_z(krf_context *context, bool single, int layout) {
    enum { ROOM = 4 * ROWS * COLUMNS };
    char data[16 * ROOM];
    krf_array *base = NULL, *z = NULL;
    int64_t strides[2] = {COLUMNS, 1}, offset = 0;
    memset(data, 0x5a, sizeof data);
    switch (layout) {
    case COLUMNS_FIRST: strides[0] = 1, strides[1] = ROWS; break;
    case BACKWARDS: strides[0] = -COLUMNS, strides[1] = -1, offset = ROWS * COLUMNS - 1; break;
    case SPREAD: strides[0] = 2 * COLUMNS + 3, strides[1] = 2, offset = 5; break;
    default: break;
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            int at = (int)(offset + i * strides[0] + j * strides[1]);
            put_part(data, single, 2 * at, zr(i, j));
            put_part(data, single, 2 * at + 1, zi(i, j));
        }
    }
    assert_int_equal(krf_array_from_host(context, single ? KRF_C64 : KRF_C128, 1, (int64_t[]){ROOM}, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, 2, (int64_t[]){ROWS, COLUMNS}, strides, offset, &z), KRF_OK);
    krf_array_release(base);
    return z;
}

static krf_array *make_w(krf_context *context, bool single) {
    char data[16 * COLUMNS];
    krf_array *w = NULL;
    for (int j = 0; j < COLUMNS; j++) {
        put_part(data, single, 2 * j, wr(j));
        put_part(data, single, 2 * j + 1, wi(j));
    }
    assert_int_equal(krf_array_from_host(context, single ? KRF_C64 : KRF_C128, 1, (int64_t[]){COLUMNS}, data, &w), KRF_OK);
    return w;
}

static krf_array *make_x(krf_context *context, bool single) {
    char data[8 * ROWS * COLUMNS];
    krf_array *x = NULL;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        put_part(data, single, i, xr(i / COLUMNS, i % COLUMNS));
    }
    assert_int_equal(krf_array_from_host(context, single ? KRF_F32 : KRF_F64, 2, (int64_t[]){ROWS, COLUMNS}, data, &x), KRF_OK);
    return x;
}

static krf_dtype dtype_of(char result, bool single) {
    switch (result) {
    case Z: return single ? KRF_C64 : KRF_C128;
    case X: return single ? KRF_F32 : KRF_F64;
    case B: return KRF_BOOL;
    case I: return KRF_I64;
    default: return result == C64 ? KRF_C64 : KRF_C128;
    }
}

static double element(const char *data, krf_dtype dtype, int at, int half) {
    switch (dtype) {
    case KRF_C64: return get_part(data, true, 2 * at + half);
    case KRF_C128: return get_part(data, false, 2 * at + half);
    case KRF_F32: return half == 0 ? get_part(data, true, at) : 0;
    case KRF_F64: return half == 0 ? get_part(data, false, at) : 0;
    case KRF_BOOL: return half == 0 ? data[at] : 0;
    default: {
        int64_t whole;
        memcpy(&whole, data + 8 * at, sizeof whole);
        return half == 0 ? (double)whole : 0;
    }
    }
}

static bool near(double got, double want, bool single) {
    return isnan(want) ? isnan(got) : fabs(got - want) <= (fabs(want) + 1) * (single ? 1e-6 : 1e-14);
}

static void check_case(const run *r, int which, bool single, int layout, krf_array *out) {
    krf_dtype dtype = dtype_of(cases[which].result, single);
    int64_t shape[2] = {cases[which].rows, cases[which].columns};
    bool fits = krf_array_dtype(out) == dtype && krf_array_rank(out) == cases[which].rank;
    for (int k = 0; k < cases[which].rank && fits; k++) {
        fits = krf_array_shape(out)[k] == shape[k];
    }
    if (!fits) {
        COMPLAIN("%s: %s: another dtype or shape: %s of rank %d", r->label, cases[which].text, krf_dtype_name(krf_array_dtype(out)), krf_array_rank(out));
        return;
    }
    char data[16 * 64];
    assert_int_equal(krf_array_to_host(out, data, (size_t)krf_array_size(out) * krf_dtype_size(dtype)), KRF_OK);
    for (int at = 0; at < cases[which].rows * cases[which].columns; at++) {
        double re = 0, im = 0, got[2] = {element(data, dtype, at, 0), element(data, dtype, at, 1)};
        expect(which, at / cases[which].columns, at % cases[which].columns, &re, &im);
        if (!near(got[0], re, single) || !near(got[1], im, single)) {
            COMPLAIN("%s: %s in %s, layout %d: element %d is (%g, %g), not (%g, %g)", r->label, cases[which].text, single ? "c64" : "c128", layout, at,
                     got[0], got[1], re, im);
            return;
        }
    }
}

static void check_cases(run *r, bool single, int layout) {
    krf_graph *g = krf_graph_create(r->context);
    krf_array *z = make_z(r->context, single, layout), *w = make_w(r->context, single), *x = make_x(r->context, single);
    for (int which = 0; which < N_CASES; which++) {
        if (!in_shard(which)) {
            continue;
        }
        krf_binding names[] = {krf_bind_array("z", z), krf_bind_array("w", w), krf_bind_array("x", x)};
        krf_array *out = NULL;
        krf_expr y;
        krf_graph_reset(g);
        if (krf_parse(g, cases[which].text, names, 3, &y) != KRF_OK || krf_eval(y, &out) != KRF_OK) {
            COMPLAIN("%s: %s: %s", r->label, cases[which].text, krf_error_message());
            continue;
        }
        if (!collecting) {
            check_case(r, which, single, layout, out);
        }
        krf_array_release(out);
    }
    krf_graph_destroy(g);
    krf_array_release(z);
    krf_array_release(w);
    krf_array_release(x);
}

static void test_values(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        for (int layout = 0; layout < LAYOUTS && !passed_over(&all_runs.run[r]); layout++) {
            check_cases(&all_runs.run[r], true, layout);
            check_cases(&all_runs.run[r], false, layout);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- where results go ---- */

static void test_outputs(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            krf_context *context = all_runs.run[r].context;
            krf_graph *g = krf_graph_create(context);
            krf_array *z = make_z(context, true, IN_ORDER), *out = make_z(context, true, layout), *w = make_w(context, true);
            krf_expr y = krf_multiply(krf_input(g, z), krf_input(g, w));
            assert_int_equal(krf_eval(y, &out), KRF_OK);
            char data[8 * ROWS * COLUMNS];
            assert_int_equal(krf_array_to_host(out, data, sizeof data), KRF_OK);
            for (int at = 0; at < ROWS * COLUMNS; at++) {
                int i = at / COLUMNS, j = at % COLUMNS;
                assert_true(element(data, KRF_C64, at, 0) == zr(i, j) * wr(j) - zi(i, j) * wi(j));
                assert_true(element(data, KRF_C64, at, 1) == zr(i, j) * wi(j) + zi(i, j) * wr(j));
            }
            /* in place, and over the input in another order */
            krf_array *same = krf_array_retain(z);
            assert_int_equal(krf_eval(y, &same), KRF_OK);
            assert_int_equal(krf_array_to_host(z, data, sizeof data), KRF_OK);
            assert_true(element(data, KRF_C64, 3, 0) == zr(0, 3) * wr(3) - zi(0, 3) * wi(3));
            assert_true(element(data, KRF_C64, 3, 1) == zr(0, 3) * wi(3) + zi(0, 3) * wr(3));
            krf_array *back = NULL;
            assert_int_equal(krf_array_view(z, 2, (int64_t[]){ROWS, COLUMNS}, (int64_t[]){-COLUMNS, -1}, ROWS * COLUMNS - 1, &back), KRF_OK);
            assert_int_equal(krf_eval(krf_conj(krf_input(g, z)), &back), KRF_OK);
            assert_int_equal(krf_array_to_host(z, data, sizeof data), KRF_OK);
            assert_true(element(data, KRF_C64, ROWS * COLUMNS - 4, 1) == -(zr(0, 3) * wi(3) + zi(0, 3) * wr(3)));
            krf_array_release(back);
            krf_array_release(same);
            krf_array_release(z);
            krf_array_release(w);
            krf_array_release(out);
            krf_graph_destroy(g);
        }
    }
}

/* ---- scalars and plans ---- */

static void test_plans(void **unused) {
    (void)unused;
    static const char program[] = "z: c128[4, 6]\na: complex\nb: c64\nreturn a * z + b, real(b) * imag(z)";
    for (int r = 0; r < all_runs.n; r++) {
        krf_context *context = all_runs.run[r].context;
        krf_graph *g = krf_graph_create(context);
        krf_array *z = make_z(context, false, IN_ORDER), *b = NULL;
        krf_expr y[2];
        krf_plan *plan = NULL;
        int n = 0;
        assert_int_equal(krf_parse_many(g, program, NULL, 0, 2, y, &n), KRF_OK);
        assert_int_equal(krf_compile(g, 2, y, NULL, &plan), KRF_OK);
        int64_t compiled = 0;
        for (int k = 0; k < 3; k++) {
            krf_array *out[2] = {NULL, NULL};
            float b_data[2] = {(float)k, 2};
            assert_int_equal(krf_array_from_host(context, KRF_C64, 0, NULL, b_data, &b), KRF_OK);
            krf_binding bindings[] = {krf_bind_array("z", z), krf_bind_complex("a", 1 + k, -k), k < 2 ? krf_bind_array("b", b) : krf_bind_complex("b", k, 2)};
            if (krf_plan_run(plan, NULL, 3, bindings, out) != KRF_OK) {
                fail_msg("%s", krf_error_message());
            }
            char data[16 * ROWS * COLUMNS];
            assert_int_equal(krf_array_to_host(out[0], data, sizeof data), KRF_OK);
            assert_true(element(data, KRF_C128, 8, 0) == (1 + k) * zr(1, 2) + k * zi(1, 2) + k);
            assert_true(element(data, KRF_C128, 8, 1) == (1 + k) * zi(1, 2) - k * zr(1, 2) + 2);
            assert_int_equal(krf_array_to_host(out[1], data, sizeof data / 2), KRF_OK);
            assert_true(element(data, KRF_F64, 8, 0) == k * zi(1, 2));
            krf_cache_stats stats = {.size = sizeof stats};
            krf_context_cache_stats(context, &stats);
            assert_true(k == 0 || stats.compiled == compiled);
            compiled = stats.compiled;
            for (int i = 0; i < 2; i++) {
                krf_array_release(out[i]);
            }
            krf_array_release(b);
        }
        krf_binding wrong[] = {krf_bind_array("z", z), krf_bind_real("a", 1), krf_bind_complex("b", 1, 1), krf_bind_int("c", 1)};
        krf_array *out[2] = {NULL, NULL};
        assert_int_equal(krf_plan_run(plan, NULL, 3, wrong, out), KRF_OK); /* a real number is a complex one */
        krf_array_release(out[0]);
        krf_array_release(out[1]);
        krf_plan_release(plan);
        krf_array_release(z);
        krf_graph_destroy(g);
    }
}

/* Another value of a scalar needs no other kernel; what is printed parses to the same result. */
static void test_scalars(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        krf_context *context = all_runs.run[r].context;
        krf_array *z = make_z(context, true, IN_ORDER);
        int64_t misses = 0;
        for (int k = 3; k < 6; k++) {
            krf_graph *g = krf_graph_create(context);
            krf_array *out = NULL;
            krf_expr scaled = krf_multiply(krf_input(g, z), krf_complex(g, k, 10 * k));
            assert_int_equal(krf_expr_dtype(scaled), KRF_C64);
            assert_int_equal(krf_eval(krf_add(scaled, krf_complex(g, 0, 1)), &out), KRF_OK);
            char data[8 * ROWS * COLUMNS], *text = NULL;
            size_t size;
            assert_int_equal(krf_array_to_host(out, data, sizeof data), KRF_OK);
            assert_true(element(data, KRF_C64, 9, 0) == k * zr(1, 3) - 10 * k * zi(1, 3));
            assert_true(element(data, KRF_C64, 9, 1) == k * zi(1, 3) + 10 * k * zr(1, 3) + 1);
            krf_cache_stats stats = {.size = sizeof stats};
            krf_context_cache_stats(context, &stats);
            assert_true(k == 3 || stats.plan_misses == misses);
            misses = stats.plan_misses;
            assert_int_equal(krf_dump(g, 1, &scaled, KRF_DUMP_GRAPH, NULL, NULL, &text, &size), KRF_OK);
            krf_graph *again = krf_graph_create(context);
            krf_expr read;
            char *second = NULL;
            if (krf_parse(again, text, NULL, 0, &read) != KRF_OK) {
                fail_msg("%s\n%s", text, krf_error_message());
            }
            assert_int_equal(krf_dump(again, 1, &read, KRF_DUMP_GRAPH, NULL, NULL, &second, &size), KRF_OK);
            assert_string_equal(text, second);
            krf_free(text);
            krf_free(second);
            krf_graph_destroy(again);
            krf_array_release(out);
            krf_graph_destroy(g);
        }
        krf_array_release(z);
    }
}

static void test_printing(void **unused) {
    (void)unused;
    static const char *const programs[] = {
        "z: c64[3, n]\nreturn exp(2j * z) + conj(z.T.reshape(3, n)) ** -2 / (1 + 3j)",
        "z: c64[n]\nmu: complex\nreturn mu * z + mu, c128(z), c64(2), bool(z), where(z, 1j, z)",
        "x: f32[n]\nreturn complex(x, 1), complex(1, x), 2j * x, real(x * 1j), sum(x * 1j), 1j, c64(1j), -1j * x, 1e-3j + x",
    };
    krf_context *context = all_runs.run[0].context;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char *texts[2] = {NULL, NULL};
        for (int k = 0; k < 2; k++) {
            krf_graph *g = krf_graph_create(context);
            krf_expr y[16];
            krf_binding n = krf_bind_int("n", 5);
            int count = 0;
            size_t size;
            if (krf_parse_many(g, k == 0 ? programs[i] : texts[0], &n, 1, 16, y, &count) != KRF_OK) {
                fail_msg("%s\n%s", k == 0 ? programs[i] : texts[0], krf_error_message());
            }
            assert_int_equal(krf_dump(g, count, y, KRF_DUMP_GRAPH, NULL, NULL, &texts[k], &size), KRF_OK);
            krf_graph_destroy(g);
        }
        assert_string_equal(texts[0], texts[1]);
        krf_free(texts[0]);
        krf_free(texts[1]);
    }
}

/* ---- long reductions: the tree of either part ---- */

static void test_long_sums(void **unused) {
    (void)unused;
    float *data = malloc(2 * MANY * sizeof *data), *half = malloc(MANY * sizeof *half);
    uint64_t state = 3;
    for (int i = 0; i < 2 * MANY; i++) {
        data[i] = (float)(random_unit(&state) - 0.5);
    }
    for (int r = 0; r < all_runs.n; r++) {
        krf_context *context = all_runs.run[r].context;
        krf_graph *g = krf_graph_create(context);
        krf_array *z = NULL, *parts[2] = {NULL, NULL}, *out[4] = {NULL};
        krf_expr y[4];
        float got[2][2], want[2];
        assert_int_equal(krf_array_from_host(context, KRF_C64, 1, (int64_t[]){MANY}, data, &z), KRF_OK);
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < MANY; i++) {
                half[i] = data[2 * i + k];
            }
            assert_int_equal(krf_array_from_host(context, KRF_F32, 1, (int64_t[]){MANY}, half, &parts[k]), KRF_OK);
            y[2 + k] = krf_sum(krf_input(g, parts[k]), 0, NULL, false);
        }
        y[0] = krf_sum(krf_input(g, z), 0, NULL, false);
        y[1] = krf_divide(krf_sum(krf_conj(krf_input(g, z)), 0, NULL, false), krf_real(g, 2));
        assert_int_equal(krf_eval_many(4, y, out), KRF_OK);
        assert_int_equal(krf_array_to_host(out[0], got[0], 8), KRF_OK);
        assert_int_equal(krf_array_to_host(out[1], got[1], 8), KRF_OK);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(krf_array_to_host(out[2 + k], &want[k], 4), KRF_OK);
            assert_memory_equal(&got[0][k], &want[k], 4); /* the bits of the real sum */
        }
        assert_true(got[1][0] == want[0] / 2 && got[1][1] == -want[1] / 2);
        for (int k = 0; k < 4; k++) {
            krf_array_release(out[k]);
        }
        krf_array_release(z);
        krf_array_release(parts[0]);
        krf_array_release(parts[1]);
        krf_graph_destroy(g);
    }
    free(data);
    free(half);
}

/* ---- fusion ---- */

static void test_fusion(void **unused) {
    (void)unused;
    static const char *const texts[] = {
        "exp(z * w - 1) / (z + 3.5j) - conj(z).sum(axis=1, keepdims=True)",
        "y = log(z + 0.1) * sqrt(w); y - mean(y, axis=0) + y[::-1] ** 2",
        "y = z / (abs(z) + x + 0.3j); where(abs(y) > 0.5, y.T.reshape(4, 6), cumsum(y * w, 1)) - 2j",
        "concatenate([sinh(z), atan(w * z)[:, ::-1]], 1).sum(axis=0)",
    };
    static const char *const limits[] = {NULL, "off", "operations=3,results=1", "operations=7,repeated=2,epilogue=0"};
    const char *device = all_runs.cuda ? getenv("KRF_TEST_DEVICE") : "cpu";
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        char first[16 * 64], data[16 * 64];
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
            krf_context_options options = krf_context_options_default();
            krf_context *context;
            options.device = device;
            options.fusion = limits[l];
            options.cpu_tier = KRF_CPU_INTERPRET;
            assert_int_equal(krf_context_create(&options, &context), KRF_OK);
            krf_graph *g = krf_graph_create(context);
            krf_array *z = make_z(context, true, COLUMNS_FIRST), *w = make_w(context, true), *x = make_x(context, true), *out = NULL;
            krf_binding names[] = {krf_bind_array("z", z), krf_bind_array("w", w), krf_bind_array("x", x)};
            krf_expr y;
            if (krf_parse(g, texts[t], names, 3, &y) != KRF_OK || krf_eval(y, &out) != KRF_OK) {
                fail_msg("%s: %s", texts[t], krf_error_message());
            }
            size_t bytes = (size_t)krf_array_size(out) * 8;
            assert_int_equal(krf_array_to_host(out, l == 0 ? first : data, bytes), KRF_OK);
            if (l > 0 && memcmp(first, data, bytes) != 0) {
                COMPLAIN("%s: other bits under \"%s\"", texts[t], limits[l]);
            }
            krf_array_release(out);
            krf_array_release(z);
            krf_array_release(w);
            krf_array_release(x);
            krf_graph_destroy(g);
            krf_context_destroy(context);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- dtypes ---- */

static void test_promotion(void **unused) {
    (void)unused;
    krf_graph *g = krf_graph_create(all_runs.run[0].context);
    const krf_expr c64 = krf_placeholder(g, NULL, KRF_C64, 1, (int64_t[]){3}), c128 = krf_placeholder(g, NULL, KRF_C128, 1, (int64_t[]){3});
    for (int d = 0; d < DTYPES; d++) {
        krf_dtype dtype = (krf_dtype)d;
        krf_expr x = krf_placeholder(g, NULL, dtype, 1, (int64_t[]){3});
        bool real = dtype >= KRF_F16, widest = dtype == KRF_F64 || (!real && bytes_of(dtype) >= 4);
        assert_int_equal(krf_expr_dtype(krf_add(x, c64)), dtype == KRF_F64 ? KRF_C128 : KRF_C64);
        assert_int_equal(krf_expr_dtype(krf_multiply(c128, x)), KRF_C128);
        assert_int_equal(krf_expr_dtype(krf_add(x, krf_complex(g, 1, 2))), widest ? KRF_C128 : KRF_C64);
        assert_int_equal(krf_expr_dtype(krf_complex_of(x, x)), widest ? KRF_C128 : KRF_C64);
        assert_int_equal(krf_expr_dtype(krf_cast(x, KRF_C64)), KRF_C64);
    }
    assert_int_equal(krf_expr_dtype(krf_add(c64, c128)), KRF_C128);
    assert_int_equal(krf_expr_dtype(krf_add(c64, krf_complex(g, 1, 2))), KRF_C64);
    assert_int_equal(krf_expr_dtype(krf_add(c64, krf_real(g, 0.1))), KRF_C64);
    assert_int_equal(krf_expr_dtype(krf_add(krf_int(g, 1), c128)), KRF_C128);
    assert_int_equal(krf_expr_dtype(krf_multiply(krf_int(g, 3), krf_complex(g, 1, 2))), KRF_C128);
    assert_true(krf_expr_weak(krf_multiply(krf_int(g, 3), krf_complex(g, 1, 2))));
    assert_true(krf_expr_weak(krf_abs(krf_complex(g, 3, 4))));
    assert_int_equal(krf_expr_dtype(krf_scalar(g, (double _Complex)(1 + 2 * _Complex_I))), KRF_C128);
    assert_int_equal(krf_expr_dtype(krf_scalar(g, (float _Complex)(1 + 2 * _Complex_I))), KRF_C128);
    assert_int_equal(krf_expr_dtype(krf_abs(c64)), KRF_F32);
    assert_int_equal(krf_expr_dtype(krf_imag_part(c128)), KRF_F64);
    assert_int_equal(krf_expr_dtype(krf_var(c64, 0, 0, NULL, false)), KRF_F32);
    assert_int_equal(krf_expr_dtype(krf_norm(c128, 0, NULL, false)), KRF_F64);
    assert_int_equal(krf_expr_dtype(krf_isnan(c64)), KRF_BOOL);
    assert_int_equal(krf_graph_status(g), KRF_OK);
    krf_graph_destroy(g);
}

static void test_errors(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"z < 1", "less: not defined for c64 and i64; complex numbers have no order"},
        {"maximum(z, z)", "maximum: not defined for c64 and c64; complex numbers have no order"},
        {"clip(z, 0, 1)", "clip: not defined for c64"},
        {"floor(z)", "floor: not defined for c64; use real(x), imag(x) or abs(x)"},
        {"z % 2", "remainder: not defined for c64"},
        {"z // 2", "floor_divide: not defined for c64"},
        {"z & z", "bitwise_and: not defined for c64"},
        {"erf(z)", "erf: not defined for c64"},
        {"atan2(z, 1)", "atan2: not defined for c64"},
        {"complex(z, 1)", "it takes two real numbers"},
        {"max(z)", "max: not defined for c64; complex numbers have no order: reduce abs(x)"},
        {"argmin(z)", "min: not defined for c64"},
        {"cumprod(z)", "cumprod: not defined for c64"},
        {"cummax(z)", "cummax: not defined for c64; complex numbers have no order"},
        {"logsumexp(z)", "max: not defined for c64"},
        {"f32(z)", "cast: c64 to f32 loses the imaginary part: cast real(x), imag(x) or abs(x)"},
        {"i32(z)", "cast: c64 to i32"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        krf_graph *g = krf_graph_create(all_runs.run[0].context);
        char text[128];
        krf_expr y;
        snprintf(text, sizeof text, "z: c64[3]; %s", wrong[i].text);
        assert_int_equal(krf_parse(g, text, NULL, 0, &y), KRF_E_DTYPE);
        if (strstr(krf_error_message(), wrong[i].part) == NULL) {
            fail_msg("%s: %s", wrong[i].text, krf_error_message());
        }
        krf_graph_destroy(g);
    }
}

int main(void) {
    return run_on(open_noted_runs(&all_runs, false),
                  TESTS(cmocka_unit_test(test_promotion), cmocka_unit_test(test_errors), cmocka_unit_test(test_printing), cmocka_unit_test(test_plans),
                        cmocka_unit_test(test_scalars), cmocka_unit_test(test_outputs), cmocka_unit_test(test_long_sums), cmocka_unit_test(test_fusion), noted_test(test_values)));
}
