/* x // y, x % y and fmod(x, y) of integers, which kernels compute by quotients of floats, and of f64, which a GPU takes by reciprocals, against C's integers of 64 bits and its fmod with the rules of Python and NumPy: of random
 * numbers of all sizes, of the lowest and the highest, by 0 and by -1, and of multiples of the divisor with what lies next to them. */
#include "ops/common.h"

static runs all;

enum { PIECE = 1 << 16, OPERATIONS = 3, EXTREMES = 10, CHUNKS = 8 };

static const char programs[] = "return x // y, x % y, fmod(x, y)";
static char x_of[PIECE * 8], y_of[PIECE * 8], found_in[PIECE * 8];

static int64_t quotient(int64_t x, int64_t y) {
    if (y == 0 || y == -1) {
        return y == 0 ? 0 : (int64_t)(0 - (uint64_t)x);
    }
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

/* operation: as they stand in the program. */
static int64_t of_integers(int operation, int64_t x, int64_t y) {
    const int64_t left = y == 0 || y == -1 ? 0 : x % y;
    return operation == 0 ? quotient(x, y) : operation == 1 ? (left != 0 && (left < 0) != (y < 0) ? left + y : left) : left;
}

static uint64_t of_unsigned(int operation, uint64_t x, uint64_t y) { return y == 0 ? 0 : operation == 0 ? x / y : x % y; }

static double of_reals(int operation, double x, double y) {
    const double left = fmod(x, y);
    if (operation == 2) {
        return left;
    }
    if (operation == 1) {
        return left == 0 ? copysign(0, y) : (y < 0) != (left < 0) ? left + y : left;
    }
    volatile double taken = x - left, ratio = taken / y;
    ratio = left != 0 && (y < 0) != (left < 0) ? ratio - 1 : ratio;
    const double whole = floor(ratio);
    return y == 0 ? x / y : ratio == 0 ? copysign(0, x / y) : ratio - whole > 0.5 ? whole + 1 : whole;
}

static value expected(krf_dtype dtype, int operation, value x, value y) {
    if (dtype == KRF_F64) {
        return (value){.dtype = KRF_F64, .f = of_reals(operation, x.f, y.f)};
    }
    if (dtype == KRF_U64) {
        return (value){.dtype = KRF_U64, .i = (int64_t)of_unsigned(operation, (uint64_t)x.i, (uint64_t)y.i)};
    }
    return whole_number(dtype, of_integers(operation, x.i, y.i));
}

static void check(krf_dtype dtype) {
    for (int r = 0; r < all.n; r++) {
        krf_array *x = NULL, *y = NULL, *out[OPERATIONS] = {NULL};
        const int64_t n = PIECE;
        assert_int_equal(krf_array_from_host(all.run[r].context, dtype, 1, &n, x_of, &x), KRF_OK);
        assert_int_equal(krf_array_from_host(all.run[r].context, dtype, 1, &n, y_of, &y), KRF_OK);
        evaluate_text(&all.run[r], programs, 2, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", y)}, OPERATIONS, out);
        for (int k = 0; k < OPERATIONS; k++) {
            read_back(out[k], found_in, PIECE * bytes_of(dtype));
            for (int64_t i = 0; i < PIECE; i++) {
                const value a = get(x_of, dtype, i), b = get(y_of, dtype, i), want = expected(dtype, k, a, b), got = get(found_in, dtype, i);
                char texts[4][64];
                if (!same(got, want)) {
                    fail_msg("%s, %s, result %d of %s: of %s and %s it is %s, not %s", all.run[r].label, krf_dtype_name(dtype), k, programs, show(a, texts[0], 64), show(b, texts[1], 64), show(got, texts[2], 64), show(want, texts[3], 64));
                }
            }
            krf_array_release(out[k]);
        }
        krf_array_release(y);
        krf_array_release(x);
    }
}

/* Of up to so many bits, mostly fewer. */
static uint64_t of_some_size(uint64_t *seed, int bits) { return next_random(seed) >> (64 - bits + random_below(seed, bits)); }

static int64_t either_sign(uint64_t *seed, uint64_t x) { return (int64_t)(next_random(seed) % 2 == 0 ? x : 0 - x); }

static void test_integers(void **unused) {
    static const krf_dtype dtypes[] = {KRF_I8, KRF_U8, KRF_I16, KRF_U16, KRF_I32, KRF_U32, KRF_I64, KRF_U64};
    uint64_t seed = 11;
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        const int bits = 8 * (int)bytes_of(dtypes[d]);
        const uint64_t half = UINT64_C(1) << (bits - 1); /* the lowest signed number, and one more than the highest */
        const uint64_t extremes[EXTREMES] = {0, 1, 0 - UINT64_C(1), 2, 0 - UINT64_C(2), 3, half, half + 1, half - 1, half - 2};
        for (int64_t i = 0; i < PIECE; i++) {
            int64_t x = either_sign(&seed, of_some_size(&seed, bits)), y = either_sign(&seed, of_some_size(&seed, bits));
            if (i % 3 == 0) { /* a multiple, or next to one */
                x = (int64_t)((uint64_t)y * of_some_size(&seed, bits / 2 + 1) + (uint64_t)random_below(&seed, 3) - 1);
            } else if (i % 3 == 1) {
                x = (int64_t)extremes[i / 3 % EXTREMES];
                y = i % 2 == 0 ? (int64_t)extremes[i / 3 / EXTREMES % EXTREMES] : y;
            }
            put(x_of, i, whole_number(dtypes[d], x));
            put(y_of, i, whole_number(dtypes[d], y));
        }
        check(dtypes[d]);
    }
}

/* Quotients of up to 2^60, most of them whole but for the last digit; and numbers of any bits. */
static void test_reals(void **unused) {
    uint64_t seed = 12;
    (void)unused;
    for (int piece = 0; piece < CHUNKS; piece++) {
        if (!in_shard(piece)) {
            continue;
        }
        for (int64_t i = 0; i < PIECE; i++) {
            const int scale = (int)random_below(&seed, piece % 2 == 0 ? 60 : 2000) - (piece % 2 == 0 ? 30 : 1000);
            double y = ldexp(1 + random_unit(&seed), scale), x = y * (double)of_some_size(&seed, 60);
            const int64_t next = random_below(&seed, 4);
            x = next == 1 ? nextafter(x, INFINITY) : next == 2 ? nextafter(x, 0) : x;
            y = i % 64 == 0 ? 0 : i % 64 == 1 ? INFINITY : i % 64 == 2 ? NAN : y;
            x = i % 32 == 3 ? 0 : i % 64 == 4 ? INFINITY : x;
            if (piece == CHUNKS - 1) {
                const uint64_t bits[2] = {next_random(&seed), next_random(&seed)};
                memcpy(&x, &bits[0], sizeof x);
                memcpy(&y, &bits[1], sizeof y);
            }
            put(x_of, i, (value){.dtype = KRF_F64, .f = next_random(&seed) % 2 == 0 ? x : -x});
            put(y_of, i, (value){.dtype = KRF_F64, .f = next_random(&seed) % 2 == 0 ? y : -y});
        }
        check(KRF_F64);
    }
}

int main(void) { return run_on(open_some_runs(&all, false, false), TESTS(cmocka_unit_test(test_integers), cmocka_unit_test(test_reals))); }
