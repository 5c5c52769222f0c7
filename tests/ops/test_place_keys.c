/* Keys that users write themselves, of an element above a place, the largest of a row: one that is as argmax composes it, which on a GPU finds the place by values (plan/place.c), and many that only look so: another order of the places, places
 * that leave their bits, that repeat, or that go on from row to row, casts that lose digits, fewer bits than the number has. Against a loop that makes every key. */
#include "ops/common.h"

static runs all_runs;

typedef int64_t key_of(double x, int64_t row, int64_t place, int64_t n);

static int32_t order_of(double x) {
    const float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return isnan(narrow) ? INT32_MAX : narrow == 0 ? 0 : (bits >> 31) != 0 ? (int32_t)(~bits | UINT32_C(1) << 31) : (int32_t)bits;
}

static int64_t byte_key(double x, int64_t low) { return (int32_t)((uint32_t)(int32_t)x << 16 | (uint32_t)(int32_t)low); }
static int64_t half_key(double x, int bits, int64_t low) { return (int32_t)(((uint32_t)order_of(x) & ~((UINT32_C(1) << bits) - 1)) | (uint32_t)(int32_t)low); }

static int64_t byte_down(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x, 65535 - place); }
static int64_t byte_inverted(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(~(int)x, 65535 - place); }
static int64_t from_128(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x - 128, 65535 - place); }
static int64_t from_127(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x - 127, 65535 - place); }
static int64_t to_128(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(128 - x, 65535 - place); }
static int64_t less_by_one(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x, 65534 - place); }
static int64_t byte_up(double x, int64_t row, int64_t place, int64_t n) { return (void)row, byte_key(x, 65535 - (n - 1 - place)); }
static int64_t in_steps(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x, 65535 - 100 * place); }
static int64_t from_far(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x, 65535 - (place + 65500)); }
static int64_t from_near(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x, 65535 - (place + 3)); }
static int64_t repeated(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x, 65535 - place % 256); }
static int64_t by_row(double x, int64_t row, int64_t place, int64_t n) { return (void)place, (void)n, byte_key(x, 65535 - row); }
static int64_t over_rows(double x, int64_t row, int64_t place, int64_t n) { return byte_key(x, 65535 - (row * n + place)); }
static int64_t fewer_bits(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, (int32_t)((uint32_t)(int32_t)x << 13 | (uint32_t)(8191 - place)); }
static int64_t added(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, (int32_t)x * 65536 + 65535 - place; }
static int64_t half_13(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, half_key(x, 13, 8191 - place); }
static int64_t half_16(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, half_key(x, 16, 65535 - place); }
static int64_t half_up(double x, int64_t row, int64_t place, int64_t n) { return (void)row, half_key(x, 16, 65535 - (n - 1 - place)); }
static int64_t negative_16(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, half_key(-x, 16, 65535 - place); }
static int64_t negative_13(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, half_key(-x, 13, 8191 - place); }
static int64_t as_f16(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, half_key(round_to(KRF_F16, (long double)x), 13, 8191 - place); }
static int64_t as_bf16(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, half_key(round_to(KRF_BF16, (long double)x), 16, 65535 - place); }
static int64_t as_negative_f16(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, half_key(-round_to(KRF_F16, (long double)x), 13, 8191 - place); }
static int64_t other_bits(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, half_key(x, 13, 65535 - place); }
static int64_t half_in_rows(double x, int64_t row, int64_t place, int64_t n) { return half_key(x, 16, 65535 - (row * n + place)); }

/* Of 64 bits: the order in the upper half. */
static int64_t long_key(int64_t order, int64_t low) { return (int64_t)((uint64_t)order << 32 | (uint64_t)low); }
static int64_t inverted(int64_t place) { return (int64_t)(UINT32_MAX - (uint32_t)place); }

static int64_t long_real(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key(order_of(x), inverted(place)); }
static int64_t long_negative(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key(order_of(-x), inverted(place)); }
static int64_t long_whole(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, inverted(place)); }
static int64_t long_clamped(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key(convert((value){.dtype = KRF_F32, .f = x}, KRF_I32).i, inverted(place)); }
static int64_t long_inverted(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key(~(int64_t)x, inverted(place)); }
static int64_t long_turned(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x - 2147483648, inverted(place)); }
static int64_t long_turned_inverted(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key(~((int64_t)x - 2147483648), inverted(place)); }
static int64_t long_wrapped(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int32_t)(uint32_t)x, inverted(place)); }
static int64_t long_other_bit(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int32_t)((uint32_t)x ^ UINT32_C(1) << 30), inverted(place)); }
static int64_t long_all_bits(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int32_t)((uint32_t)x ^ UINT32_MAX), inverted(place)); }
static int64_t long_31(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, (int64_t)((uint64_t)(int64_t)x << 31 | (uint64_t)inverted(place)); }
static int64_t long_33(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, (int64_t)((uint64_t)(int64_t)x << 33 | (uint64_t)inverted(place)); }
static int64_t long_upwards(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, place); }
static int64_t long_all_ones(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, -1 - place); }
static int64_t long_from_3(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, inverted(place + 3)); }
static int64_t long_before_3(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, inverted(place - 3)); }
static int64_t long_from_end(double x, int64_t row, int64_t place, int64_t n) { return (void)row, long_key((int64_t)x, inverted(INT64_C(4294967296) - n + place)); }
static int64_t long_over_end(double x, int64_t row, int64_t place, int64_t n) { return (void)row, long_key((int64_t)x, inverted(INT64_C(4294967297) - n + place)); }
static int64_t long_in_twos(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, inverted(2 * place)); }
static int64_t long_backwards(double x, int64_t row, int64_t place, int64_t n) { return (void)row, long_key((int64_t)x, inverted(n - 1 - place)); }
static int64_t long_repeated(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, inverted(place % 256)); }
static int64_t long_by_row(double x, int64_t row, int64_t place, int64_t n) { return (void)place, (void)n, long_key((int64_t)x, inverted(row)); }
static int64_t long_over_rows(double x, int64_t row, int64_t place, int64_t n) { return long_key((int64_t)x, inverted(row * n + place)); }
static int64_t long_given(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, inverted(place * 7 % 64)); }
static int64_t byte_given(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, byte_key(x, 65535 - place * 7 % 64); }
static int64_t long_times(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, ((int64_t)x * 32) | inverted(place); }
static int64_t long_upper_bit(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int32_t)((uint32_t)x | UINT32_C(1) << 31), inverted(place)); }
static int64_t long_narrow_inverted(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, long_key((int64_t)x, (int64_t)(uint16_t)~place); }
static int64_t long_added(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, (int64_t)((uint64_t)(int64_t)x << 32) + inverted(place); }
static int64_t long_xored(double x, int64_t row, int64_t place, int64_t n) { return (void)row, (void)n, (int64_t)((uint64_t)(int64_t)x << 32) ^ inverted(place); }

enum { MANY = 4096, BETWEEN = 16 }; /* rows, each of which a warp of a GPU has to itself however long it is: they overlap, and begin so many elements after one another */

enum { ANY, TAKEN, LEFT }; /* whether places are found by values: said where it must be so, or must not */

/* Of so many rows only those are gone over whose places do not fit their bits, on a GPU; of others the text is looked at. */

/* A program of x, with N for the length of rows and R for how many there are. */
static const struct {
    const char *program;
    key_of *key;
    krf_dtype dtype;
    int64_t rows, n;
    int found;
    bool least; /* of the keys, not the most */
    bool is_long;
} cases[] = {
    {"max((i32(x) << 16) | (65535 - i32(arange(N))), axis=1)", byte_down, KRF_I8, 60, 1000, TAKEN, false, false},
    {"max((~i32(x) << 16) | (65535 - i32(arange(N))), axis=1)", byte_inverted, KRF_I8, 60, 1000, TAKEN, false, false},
    {"max(((i32(x) - 128) << 16) | (65535 - i32(arange(N))), axis=1)", from_128, KRF_U8, 60, 1000, TAKEN, false, false},
    {"max(((i32(x) - 128) << 16) | (65535 - i32(arange(N))), axis=1)", from_128, KRF_U8, MANY, 8192, TAKEN, false, false},
    {"max(((i32(x) - 128) << 16) | (65535 - i32(arange(N))), axis=1)", from_128, KRF_U8, MANY, 8176, TAKEN, false, false},
    {"max(((i32(x) - 128) << 16) | (65535 - i32(arange(N))), axis=1)", from_128, KRF_U8, MANY, 8208, LEFT, false, false},
    {"max(((i32(x) - 128) << 16) | (65535 - i32(arange(N))), axis=1)", from_128, KRF_U8, MANY, 8193, LEFT, false, false},
    {"max(((i32(x) - 127) << 16) | (65535 - i32(arange(N))), axis=1)", from_127, KRF_U8, 60, 1000, LEFT, false, false},
    {"max(((128 - i32(x)) << 16) | (65535 - i32(arange(N))), axis=1)", to_128, KRF_U8, 60, 1000, LEFT, false, false},
    {"max(((i32(x) - 128) << 16) | (65535 - i32(arange(N))), axis=1)", from_128, KRF_I8, 60, 1000, LEFT, false, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(N))), axis=1)", byte_down, KRF_U8, 60, 1000, LEFT, false, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(N))), axis=1)", byte_down, KRF_BOOL, 60, 1000, LEFT, false, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(N))), axis=1)", byte_down, KRF_I16, 60, 1000, LEFT, false, false},
    {"max((i32(x) << 16) | (65534 - i32(arange(N))), axis=1)", less_by_one, KRF_I8, 60, 1000, LEFT, false, false},
    {"max((i32(x) << 13) | (8191 - i32(arange(N))), axis=1)", fewer_bits, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) + (65535 - i32(arange(N))), axis=1)", added, KRF_I8, 60, 1000, LEFT, false, false},
    {"min((i32(x) << 16) | (65535 - i32(arange(N))), axis=1)", byte_down, KRF_I8, 60, 1000, LEFT, true, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(N)[::-1])), axis=1)", byte_up, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(0, 100 * N, 100))), axis=1)", in_steps, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(100 * N)[::100])), axis=1)", in_steps, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(65500, 65500 + N))), axis=1)", from_far, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(65500 + N)[65500:])), axis=1)", from_far, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) | (65535 - i32(arange(N + 3)[3:])), axis=1)", from_near, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) | (65535 - i32(u8(arange(N)))), axis=1)", repeated, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) | (65535 - i32(reshape(arange(R), (R, 1)))), axis=1)", by_row, KRF_I8, 60, 1000, ANY, false, false},
    {"max((i32(x) << 16) | (65535 - i32(reshape(arange(R * N), (R, N)))), axis=1)", over_rows, KRF_I8, 100, 1000, ANY, false, false},
    {"max((order_key(x) & -8192) | (8191 - i32(arange(N))), axis=1)", half_13, KRF_F16, 60, 1000, TAKEN, false, false},
    {"max((order_key(x) & -8192) | (8191 - i32(arange(N))), axis=1)", half_13, KRF_F16, MANY, 8192, TAKEN, false, false},
    {"max((order_key(x) & -8192) | (8191 - i32(arange(N))), axis=1)", half_13, KRF_F16, MANY, 8200, LEFT, false, false},
    {"max((order_key(-x) & -8192) | (8191 - i32(arange(N))), axis=1)", negative_13, KRF_F16, 60, 1000, TAKEN, false, false},
    {"max((order_key(x) & -8192) | (8191 - i32(arange(N))), axis=1)", half_13, KRF_BF16, 60, 1000, ANY, false, false},
    {"max((order_key(x) & -65536) | (65535 - i32(arange(N))), axis=1)", half_16, KRF_BF16, 60, 1000, TAKEN, false, false},
    {"max((order_key(-x) & -65536) | (65535 - i32(arange(N))), axis=1)", negative_16, KRF_BF16, 60, 1000, TAKEN, false, false},
    {"max((order_key(x) & -65536) | (65535 - i32(arange(N))), axis=1)", half_16, KRF_F16, 60, 1000, ANY, false, false},
    {"max((order_key(-x) & -65536) | (65535 - i32(arange(N))), axis=1)", negative_16, KRF_F16, 60, 1000, ANY, false, false},
    {"max((order_key(x) & -8192) | (65535 - i32(arange(N))), axis=1)", other_bits, KRF_BF16, 60, 1000, LEFT, false, false},
    {"min((order_key(x) & -65536) | (65535 - i32(arange(N))), axis=1)", half_16, KRF_BF16, 60, 1000, LEFT, true, false},
    {"max((order_key(x) & -65536) | (65535 - i32(arange(N)[::-1])), axis=1)", half_up, KRF_BF16, 60, 1000, ANY, false, false},
    {"max((order_key(x) & -65536) | (65535 - i32(reshape(arange(R * N), (R, N)))), axis=1)", half_in_rows, KRF_BF16, 100, 1000, ANY, false, false},
    {"max((order_key(f16(x)) & -8192) | (8191 - i32(arange(N))), axis=1)", as_f16, KRF_BF16, 60, 1000, ANY, false, false},
    {"max((order_key(-f16(x)) & -8192) | (8191 - i32(arange(N))), axis=1)", as_negative_f16, KRF_BF16, 60, 1000, ANY, false, false},
    {"max((order_key(bf16(x)) & -65536) | (65535 - i32(arange(N))), axis=1)", as_bf16, KRF_F16, 60, 1000, ANY, false, false},
    {"max((i64(order_key(x)) << 32) | i64(~u32(arange(N))), axis=1)", long_real, KRF_F32, 60, 509, TAKEN, false, true},
    {"max((i64(order_key(x)) << 32) | i64(~u32(arange(N))), axis=1)", long_real, KRF_F32, 60, 1000, TAKEN, false, true},
    {"max((i64(order_key(-x)) << 32) | i64(~u32(arange(N))), axis=1)", long_negative, KRF_F32, 60, 509, TAKEN, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(N))), axis=1)", long_whole, KRF_I32, 60, 509, TAKEN, false, true},
    {"max((i64(~x) << 32) | i64(~u32(arange(N))), axis=1)", long_inverted, KRF_I32, 60, 512, TAKEN, false, true},
    {"max((i64(i32(x ^ 2147483648)) << 32) | i64(~u32(arange(N))), axis=1)", long_turned, KRF_U32, 60, 509, TAKEN, false, true},
    {"max((i64(~i32(x ^ 2147483648)) << 32) | i64(~u32(arange(N))), axis=1)", long_turned_inverted, KRF_U32, 60, 1000, TAKEN, false, true},
    {"max((i64(i32(x)) << 32) | i64(~u32(arange(N))), axis=1)", long_wrapped, KRF_U32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(N))), axis=1)", long_whole, KRF_U32, 60, 509, LEFT, false, true},
    {"max((i64(i32(x ^ 1073741824)) << 32) | i64(~u32(arange(N))), axis=1)", long_other_bit, KRF_U32, 60, 509, LEFT, false, true},
    {"max((i64(i32(x ^ 4294967295)) << 32) | i64(~u32(arange(N))), axis=1)", long_all_bits, KRF_U32, 60, 509, LEFT, false, true},
    {"max((i64(i32(u32(x) ^ 2147483648)) << 32) | i64(~u32(arange(N))), axis=1)", long_turned, KRF_U8, 60, 509, LEFT, false, true},
    {"max((x << 32) | i64(~u32(arange(N))), axis=1)", long_whole, KRF_I64, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(N))), axis=1)", long_whole, KRF_I16, 60, 509, LEFT, false, true},
    {"max((i64(i32(x)) << 32) | i64(~u32(arange(N))), axis=1)", long_whole, KRF_I8, 60, 509, LEFT, false, true},
    {"max((i64(i32(x)) << 32) | i64(~u32(arange(N))), axis=1)", long_clamped, KRF_F32, 60, 509, LEFT, false, true},
    {"max((i64(i32(x)) << 32) | i64(~u32(arange(N))), axis=1)", long_wrapped, KRF_I64, 60, 509, LEFT, false, true},
    {"max((i64(~x) << 32) | i64(~u32(arange(N))), axis=1)", long_inverted, KRF_I64, 60, 509, LEFT, false, true},
    {"max((i64(order_key(x)) << 32) | i64(~u32(arange(N))), axis=1)", long_real, KRF_F16, 60, 509, LEFT, false, true},
    {"max((i64(order_key(f32(x))) << 32) | i64(~u32(arange(N))), axis=1)", long_real, KRF_BF16, 60, 509, LEFT, false, true},
    {"max((i64(order_key(f32(x))) << 32) | i64(~u32(arange(N))), axis=1)", long_real, KRF_F64, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(p)), axis=1)", long_given, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i32(x) << 16) | (65535 - i32(p)), axis=1)", byte_given, KRF_I8, 60, 1000, LEFT, false, false},
    {"max((i64(x) * 32) | i64(~u32(arange(N))), axis=1)", long_times, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(i32(x | 2147483648)) << 32) | i64(~u32(arange(N))), axis=1)", long_upper_bit, KRF_U32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u16(arange(N))), axis=1)", long_narrow_inverted, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~i32(arange(N))), axis=1)", long_all_ones, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(4294967297)[4294967297 - N:])), axis=1)", long_over_end, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 31) | i64(~u32(arange(N))), axis=1)", long_31, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 33) | i64(~u32(arange(N))), axis=1)", long_33, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(u32(arange(N))), axis=1)", long_upwards, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~arange(N)), axis=1)", long_all_ones, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(3, N + 3))), axis=1)", long_from_3, KRF_I32, 60, 509, ANY, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(N + 3)[3:])), axis=1)", long_from_3, KRF_I32, 60, 509, ANY, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(-3, N - 3))), axis=1)", long_before_3, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(4294967296 - N, 4294967296))), axis=1)", long_from_end, KRF_I32, 60, 509, ANY, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(4294967297 - N, 4294967297))), axis=1)", long_over_end, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(0, 2 * N, 2))), axis=1)", long_in_twos, KRF_I32, 60, 509, ANY, false, true},
    {"max((i64(x) << 32) | i64(~u32(arange(N)[::-1])), axis=1)", long_backwards, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(u8(arange(N)))), axis=1)", long_repeated, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(reshape(arange(R), (R, 1)))), axis=1)", long_by_row, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) | i64(~u32(reshape(arange(R * N), (R, N)))), axis=1)", long_over_rows, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) + i64(~u32(arange(N))), axis=1)", long_added, KRF_I32, 60, 509, LEFT, false, true},
    {"max((i64(x) << 32) ^ i64(~u32(arange(N))), axis=1)", long_xored, KRF_I32, 60, 509, LEFT, false, true},
    {"min((i64(x) << 32) | i64(~u32(arange(N))), axis=1)", long_whole, KRF_I32, 60, 509, LEFT, true, true},
    {"min((i64(order_key(x)) << 32) | i64(~u32(arange(N))), axis=1)", long_real, KRF_F32, 60, 509, LEFT, true, true},
};

/* Of each lot of rows few values, and of some next to each other, of which the digits of others do not tell; NaN in few. */
static value drawn(krf_dtype dtype, int64_t row, uint64_t bits) {
    static const double reals[] = {-0.0, 0.0, 1.5, -1, 3, -3, 1e-30, 2}, close[] = {1, 0x1.008p+0, 0x1.01p+0, 0x1.02p+0};
    const int lot = (int)(row % 6);
    if (is_real(dtype)) {
        const double x = lot == 1 ? close[bits & 3] : lot == 2 ? -close[bits & 3] : lot == 3 ? ldexp(close[bits & 3], 100 - (int)(bits >> 9 & 1)) : lot == 4 ? -1e-30 : reals[bits & 7];
        return (value){.dtype = dtype, .f = lot == 5 && (bits >> 20) % 1009 == 0 ? (double)NAN : round_to(dtype, (long double)x)};
    }
    if (bytes_of(dtype) >= 4) {
        static const int64_t ends[] = {0, -1, INT32_MIN, INT32_MAX};
        const int64_t few = lot < 3 ? ends[bits & 3] : lot == 3 ? ends[2 + (bits & 1)] : ends[lot - 2] + (int64_t)(bits % 700 == 0);
        return whole_number(dtype, dtype == KRF_I64 && (bits & 4) != 0 ? few * 8 : few);
    }
    const int64_t any = lot == 1 ? (int64_t)(bits & 255) : lot == 2 ? 255 : lot == 3 ? 0 : lot == 4 ? (int64_t)(bits % 700 == 0) : (int64_t)(bits & 3) + 126;
    return (value){.dtype = dtype, .i = dtype == KRF_BOOL ? any & 1 : any + (facts_of(dtype)->is_unsigned ? 0 : -128)};
}

static void write_program(size_t k, char *text) {
    for (const char *p = cases[k].program; *p != 0; p++) {
        if (*p == 'N' || *p == 'R') {
            text += sprintf(text, "%" PRId64, *p == 'N' ? cases[k].n : cases[k].rows);
        } else {
            *text++ = *p;
        }
    }
    *text = 0;
}

static double number_of(value v) { return is_real(v.dtype) ? v.f : (double)v.i; }

static int64_t step_of(size_t k) { return cases[k].rows == MANY ? BETWEEN : cases[k].n; }
static int64_t size_of(size_t k) { return (cases[k].rows - 1) * step_of(k) + cases[k].n; }

static bool is_run(size_t k) { return cases[k].rows < MANY || (all_runs.cuda && is_half(cases[k].dtype) && cases[k].n > 8192); }

static int64_t wanted(size_t k, const char *memory, int64_t row) {
    int64_t best = 0;
    for (int64_t p = 0; p < cases[k].n; p++) {
        const int64_t key = cases[k].key(number_of(get(memory, cases[k].dtype, row * step_of(k) + p)), row, p, cases[k].n);
        best = p == 0 || (cases[k].least ? key < best : key > best) ? key : best;
    }
    return best;
}

static void check(size_t k, const run *now, const char *memory) {
    const int64_t shape[2] = {cases[k].rows, cases[k].n}, strides[2] = {step_of(k), 1}, size = size_of(k);
    krf_array *base = NULL, *x = NULL, *p = NULL, *out = NULL;
    int32_t given_places[1024]; /* an array that is no count */
    krf_graph *g = krf_graph_create(now->context);
    krf_plan *plan = NULL;
    krf_expr result;
    char text[200];
    const krf_dtype given = cases[k].is_long ? KRF_I64 : KRF_I32;
    write_program(k, text);
    assert_int_equal(krf_array_from_host(now->context, cases[k].dtype, 1, &size, memory, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, 2, shape, strides, 0, &x), KRF_OK);
    for (int32_t i = 0; i < 1024; i++) {
        given_places[i] = i * 7 % 64;
    }
    if (cases[k].n <= 1024) {
        assert_int_equal(krf_array_from_host(now->context, KRF_I32, 1, &cases[k].n, given_places, &p), KRF_OK);
    }
    krf_status status = krf_parse(g, text, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("p", p)}, p != NULL ? 2 : 1, &result);
    status = status == KRF_OK ? krf_compile(g, 1, &result, NULL, &plan) : status;
    status = status == KRF_OK && is_run(k) ? krf_plan_run(plan, NULL, 0, NULL, &out) : status;
    if (status != KRF_OK) {
        fail_msg("%s, %s: %s", text, now->label, krf_error_message());
    }
    if (all_runs.cuda && cases[k].found != ANY && has_text(plan, "krf_take_place") != (cases[k].found == TAKEN)) {
        COMPLAIN("%s of %s: the kernel should%s compare values", text, name_of(cases[k].dtype), cases[k].found == TAKEN ? "" : " not");
    }
    void *got = collecting || !is_run(k) ? NULL : to_host(out, given, 1, shape, text);
    for (int64_t row = 0; got != NULL && row < cases[k].rows; row++) {
        const int64_t want = wanted(k, memory, row);
        if (get(got, given, row).i != want) {
            COMPLAIN("%s of %s, on %s: result %" PRId64 " is %" PRIx64 ", not %" PRIx64, text, name_of(cases[k].dtype), now->label, row, (uint64_t)get(got, given, row).i, (uint64_t)want);
            break;
        }
    }
    free(got);
    krf_plan_release(plan);
    krf_array_release(out);
    krf_array_release(x);
    krf_array_release(p);
    krf_array_release(base);
    krf_graph_destroy(g);
}

static void test_keys(void **unused) {
    (void)unused;
    failures = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *memory = malloc((size_t)size_of(k) * bytes_of(cases[k].dtype));
        uint64_t seed = k;
        assert_non_null(memory);
        for (int64_t i = 0; i < size_of(k); i++) {
            put(memory, i, drawn(cases[k].dtype, cases[k].rows == MANY ? 2 : i / cases[k].n, next_random(&seed)));
        }
        for (int r = 0; r < all_runs.n; r++) {
            if (!passed_over(&all_runs.run[r])) {
                check(k, &all_runs.run[r], memory);
            }
        }
        free(memory);
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all_runs, false), TESTS(noted_test(test_keys))); }
