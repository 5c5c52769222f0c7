/* fmod, remainder and floor_divide of f32, which compiled kernels compute by vectors of f64, and of f16 and bf16, which go through them; against the C library's fmodf and the rules of Python and NumPy: of all pairs of
 * special values, of random bits, so that quotients have up to 277 binary digits, and of quotients that are nearly whole. */
#include "ops/common.h"

static runs all;

enum { PIECE = 1 << 16, OPERATIONS = 3 };

static const char *const programs[OPERATIONS] = {"fmod(a, b)", "a % b", "a // b"};

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The sign of the divisor, on zeros too. */
static float python_remainder(float a, float b) {
    volatile float mod = fmodf(a, b);
    if (mod == 0) {
        return copysignf(0, b);
    }
    mod = (b < 0) != (mod < 0) ? mod + b : mod;
    return mod;
}

/* As npy_floor_divide. */
static float python_quotient(float a, float b) {
    volatile float mod = fmodf(a, b), difference = a - mod, quotient = difference / b, whole, over;
    if (b == 0) {
        return a / b;
    }
    if (mod != 0 && (b < 0) != (mod < 0)) {
        quotient = quotient - 1;
    }
    if (quotient == 0) {
        return copysignf(0, a / b);
    }
    whole = floorf(quotient);
    over = quotient - whole;
    return over > 0.5F ? whole + 1 : whole;
}

static float expected(int operation, float a, float b) { return operation == 0 ? fmodf(a, b) : operation == 1 ? python_remainder(a, b) : python_quotient(a, b); }

static bool same_number(float a, float b) { return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)); }

/* Asked once for each example. */
static bool is_chosen(void) {
    static int64_t examples_so_far;
    return in_shard(examples_so_far++);
}

/* All operations on n pairs. */
static void check(krf_dtype dtype, const void *a, const void *b, int64_t n) {
    static char got[PIECE * 4];
    if (!is_chosen()) {
        return;
    }
    for (int r = 0; r < all.n; r++) {
        krf_array *in[2] = {NULL}, *out[OPERATIONS] = {NULL};
        krf_graph *g = krf_graph_create(all.run[r].context);
        krf_expr results[OPERATIONS];
        assert_int_equal(krf_array_from_host(all.run[r].context, dtype, 1, &n, a, &in[0]), KRF_OK);
        assert_int_equal(krf_array_from_host(all.run[r].context, dtype, 1, &n, b, &in[1]), KRF_OK);
        for (int k = 0; k < OPERATIONS; k++) {
            assert_int_equal(krf_parse(g, programs[k], (krf_binding[]){krf_bind_array("a", in[0]), krf_bind_array("b", in[1])}, 2, &results[k]), KRF_OK);
        }
        assert_int_equal(krf_eval_many(OPERATIONS, results, out), KRF_OK);
        for (int k = 0; k < OPERATIONS; k++) {
            assert_int_equal(krf_array_to_host(out[k], got, (size_t)n * bytes_of(dtype)), KRF_OK);
            for (int64_t i = 0; i < n; i++) {
                const float x = (float)get(a, dtype, i).f, y = (float)get(b, dtype, i).f, there = (float)get(got, dtype, i).f, exact = expected(k, x, y);
                const float wanted = dtype == KRF_F32 ? exact : (float)round_to(dtype, (long double)exact);
                if (!same_number(there, wanted)) {
                    COMPLAIN("%s, %s, %s: of %a and %a it is %a, not %a", all.run[r].label, name_of(dtype), programs[k], (double)x, (double)y, (double)there, (double)wanted);
                }
            }
            krf_array_release(out[k]);
        }
        krf_graph_destroy(g);
        krf_array_release(in[0]);
        krf_array_release(in[1]);
    }
}

static float a_of[PIECE], b_of[PIECE];

static void test_special(void **unused) {
    static const uint32_t bits[] = {0, 1, 2, 3, 0x7fffff, 0x800000, 0x800001, 0xffffff, 0x3f800000, 0x3f800001, 0x3f7fffff, 0x40000000, 0x40400000, 0x3eaaaaab, 0x4b000000, 0x4b800000, 0x4b7fffff, 0x7f7fffff, 0x7f7ffffe,
                                    0x7f000000, 0x7f800000, 0x7fc00000, 0x7f800001, 0x40490fdb, 0x00400000, 0x5f000000, 0x33800000};
    enum { NUMBERS = 2 * sizeof bits / sizeof *bits };
    (void)unused;
    for (int i = 0; i < NUMBERS * NUMBERS; i++) {
        a_of[i] = float_of(bits[i / NUMBERS / 2] | (i / NUMBERS % 2 != 0 ? 0x80000000U : 0));
        b_of[i] = float_of(bits[i % NUMBERS / 2] | (i % 2 != 0 ? 0x80000000U : 0));
    }
    check(KRF_F32, a_of, b_of, NUMBERS * NUMBERS);
    assert_int_equal(failures, 0);
}

static void test_random_bits(void **unused) {
    uint64_t seed = 7;
    (void)unused;
    for (int piece = 0; piece < 32; piece++) {
        for (int i = 0; i < PIECE; i++) {
            const uint64_t bits = next_random(&seed);
            a_of[i] = float_of((uint32_t)bits);
            b_of[i] = float_of((uint32_t)(bits >> 32));
        }
        check(KRF_F32, a_of, b_of, PIECE);
    }
    assert_int_equal(failures, 0);
}

/* Dividends that are multiples of the divisor, to the nearest float or the next ones, at each scale that a step of the division begins with. */
static void test_nearly_whole(void **unused) {
    uint64_t seed = 8;
    (void)unused;
    for (int piece = 0; piece < 16; piece++) {
        for (int i = 0; i < PIECE; i++) {
            const int exponent = (int)random_below(&seed, 252) - 126, shift = (int)random_below(&seed, piece % 2 == 0 ? 24 : 254 - (exponent + 126));
            const double whole = (double)(random_below(&seed, 1 << 23) + 1), y = ldexp(1 + random_unit(&seed), exponent);
            float b = (float)y, a = (float)ldexp(whole * (double)b, shift - 23);
            const int64_t next = random_below(&seed, 4);
            a = next == 1 ? nextafterf(a, INFINITY) : next == 2 ? nextafterf(a, 0) : a;
            a_of[i] = random_below(&seed, 2) == 0 ? a : -a;
            b_of[i] = random_below(&seed, 2) == 0 ? b : -b;
        }
        check(KRF_F32, a_of, b_of, PIECE);
    }
    assert_int_equal(failures, 0);
}

/* Every number with others, which go through all. */
static void test_halves(void **unused) {
    static uint16_t a[PIECE], b[PIECE];
    (void)unused;
    for (int d = 0; d < 2; d++) {
        for (unsigned piece = 0; piece < 10; piece++) {
            for (unsigned i = 0; i < PIECE; i++) {
                a[i] = (uint16_t)i;
                b[i] = (uint16_t)(i * (2 * piece + 1) * 40503U + piece * 8191U);
            }
            check(d == 0 ? KRF_F16 : KRF_BF16, a, b, PIECE);
        }
    }
    assert_int_equal(failures, 0);
}

/* Of integers by literal divisors, which kernels know: a quotient alone, a remainder alone, and both; rounded down, 0 by 0. */
static void test_literals(void **unused) {
    enum { NUMBERS_THERE = 96, DIVISORS = 12 };
    static const int64_t divisors[DIVISORS] = {7, 1, 2, 64, 10, 100, 127, 86400, INT32_MAX, -1, -9, 0};
    static const krf_dtype dtypes[] = {KRF_I64, KRF_I32, KRF_I16, KRF_I8};
    static const int64_t n = NUMBERS_THERE;
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++) {
            const int bits = 8 * (int)krf_dtype_size(dtypes[t]);
            const int64_t most = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
            char data[NUMBERS_THERE * 8], got[4][NUMBERS_THERE * 8];
            int64_t x[NUMBERS_THERE];
            uint64_t seed = 9;
            for (int i = 0; i < NUMBERS_THERE; i++) {
                const int64_t any = (int64_t)(next_random(&seed) >> (64 - bits + random_below(&seed, bits - 2) + 1));
                x[i] = i < 40 ? i - 20 : i < 48 ? most - (i - 40) : i < 56 ? -most - 1 + (i - 48) : i % 2 == 0 ? any : -any;
                put(data, i, convert((value){.dtype = KRF_I64, .i = x[i]}, dtypes[t]));
            }
            for (int k = 0; k < DIVISORS && divisors[k] <= most; k++) {
                if (!is_chosen()) {
                    continue;
                }
                const int64_t d = divisors[k];
                krf_array *of = NULL, *out[4] = {NULL};
                char text[120];
                krf_graph *g = krf_graph_create(all.run[r].context);
                krf_expr results[4];
                assert_int_equal(krf_array_from_host(all.run[r].context, dtypes[t], 1, &n, data, &of), KRF_OK);
                const krf_binding bound = krf_bind_array("x", of);
                for (int both = 0; both < 2; both++) { /* in kernels of their own, then in one */
                    snprintf(text, sizeof text, "x // (%" PRId64 ")", d);
                    assert_int_equal(krf_parse(g, text, &bound, 1, &results[0]), KRF_OK);
                    snprintf(text, sizeof text, "x %% (%" PRId64 ")", d);
                    assert_int_equal(krf_parse(g, text, &bound, 1, &results[1]), KRF_OK);
                    if (both == 1 ? krf_eval_many(2, results, &out[2]) != KRF_OK : krf_eval(results[0], &out[0]) != KRF_OK || krf_eval(results[1], &out[1]) != KRF_OK) {
                        fail_msg("%s: %s", text, krf_error_message());
                    }
                }
                for (int o = 0; o < 4; o++) {
                    assert_int_equal(krf_array_to_host(out[o], got[o], NUMBERS_THERE * krf_dtype_size(dtypes[t])), KRF_OK);
                    for (int i = 0; i < NUMBERS_THERE; i++) {
                        const bool wraps = d == -1 && x[i] == -most - 1;
                        const int64_t whole = d == 0 || wraps ? 0 : x[i] / d, rest = d == 0 || wraps ? 0 : x[i] % d, below = rest != 0 && (rest < 0) != (d < 0) ? 1 : 0;
                        const int64_t want = o % 2 == 0 ? (wraps ? x[i] : whole - below) : rest + below * d;
                        const value there = get(got[o], dtypes[t], i);
                        if (there.i != want) {
                            fail_msg("%s, %s: %" PRId64 " %s %" PRId64 " is %" PRId64 ", not %" PRId64, all.run[r].label, krf_dtype_name(dtypes[t]), x[i], o % 2 == 0 ? "//" : "%", d, there.i, want);
                        }
                    }
                    krf_array_release(out[o]);
                }
                krf_graph_destroy(g);
                krf_array_release(of);
            }
        }
    }
}

int main(void) {
    return run_on(open_runs(&all, false),
                  TESTS(cmocka_unit_test(test_special), cmocka_unit_test(test_random_bits), cmocka_unit_test(test_nearly_whole), cmocka_unit_test(test_halves),
                        cmocka_unit_test(test_literals)));
}
