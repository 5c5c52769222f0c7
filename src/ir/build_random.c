/* Random arrays: expressions over ranges and the op philox. Arithmetic is exact, or one text on all targets (ndtri), so that the bits of a result are the
 * same on all. */
#include "ir/build_random.h"

#include "base/fail.h"

static uint32_t call(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }
static uint32_t whole(krf_graph *g, int64_t value) { return krf__build_int(g, value, true); }
static uint32_t scaled(krf_graph *g, uint32_t x, double by) { return call(g, KRF__multiply, x, krf__build_real(g, by, true)); }

/* A key, an offset or a bound as u64; a known one as an argument of the kernel. */
static uint32_t argument(krf_graph *g, const char *name, const char *what, uint32_t x) {
    const krf__node *n = krf__node_of(g, x);
    if (x == 0) {
        return 0;
    }
    if (!krf__is_int((krf_dtype)n->dtype)) {
        return krf__graph_fail(g, KRF_E_DTYPE, "%s: the %s is an integer, not %s", name, what, krf_dtype_name((krf_dtype)n->dtype));
    }
    if (n->op == KRF__constant || n->op == KRF__scalar) {
        krf__node scalar = {.op = KRF__scalar, .dtype = KRF_U64, .value = krf__bits_cast((krf_dtype)n->dtype, KRF_U64, n->value)};
        return krf__graph_add(g, &scalar, NULL, NULL);
    }
    return krf__build_cast(g, x, KRF_U64);
}

/* u64: of each element in C order the pair of words at its place (pairs), or (words) the word at its place in the low 32 bits. */
static uint32_t draw_from(krf_graph *g, const char *name, const krf__draw *draw, bool words) {
    uint32_t key = argument(g, name, "key", draw->key), offset = argument(g, name, "offset", draw->offset);
    const char *fault = krf__shape_fault(draw->rank, draw->shape);
    if (fault != NULL) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %s", name, fault);
    }
    int64_t size = krf__shape_size(draw->rank, draw->shape);
    krf__node iota = {.op = KRF__iota, .dtype = KRF_I64, .rank = 1};
    uint32_t place = krf__build_reshape(g, krf__graph_add(g, &iota, &size, NULL), draw->rank, draw->shape);
    place = krf__build_cast(g, place, KRF_U64);
    /* Twice the block, and which pair of it: in this form compilers see that neighbours share a block, which is the dear part. */
    uint32_t block = call(g, KRF__add, offset, call(g, KRF__right_shift, place, whole(g, words ? 2 : 1)));
    uint32_t pair = call(g, KRF__bitwise_and, words ? call(g, KRF__right_shift, place, whole(g, 1)) : place, whole(g, 1));
    uint32_t bits = call(g, KRF__philox, call(g, KRF__bitwise_or, call(g, KRF__left_shift, block, whole(g, 1)), pair), key);
    if (words) {
        uint32_t shift = call(g, KRF__multiply, call(g, KRF__bitwise_and, place, whole(g, 1)), whole(g, 32));
        bits = call(g, KRF__right_shift, bits, shift);
    }
    return bits;
}

/* Keys and other operands may be arrays, but do not make the result larger. */
static uint32_t of_shape(krf_graph *g, const char *name, const krf__draw *draw, uint32_t x) {
    if (x == 0 || krf__shape_equal(krf__node_of(g, x)->rank, krf__shape_of(g, x), draw->rank, draw->shape)) {
        return x;
    }
    krf__str wanted = {0}, found = {0};
    krf__str_shape(&wanted, draw->rank, draw->shape);
    krf__str_shape(&found, krf__node_of(g, x)->rank, krf__shape_of(g, x));
    krf__graph_fail(g, KRF_E_SHAPE, "%s: with its operands the result has shape %s, not %s", name, found.data != NULL ? found.data : "?",
                    wanted.data != NULL ? wanted.data : "?");
    krf__str_free(&wanted);
    krf__str_free(&found);
    return 0;
}

static uint32_t not_for(krf_graph *g, const char *name, const char *kind, krf_dtype dtype) {
    return krf__graph_fail(g, KRF_E_DTYPE, "%s: the dtype is %s, not %s", name, kind, krf_dtype_name(dtype));
}

/* The highest n bits of what was drawn, as an integer that any float of n digits holds. */
static uint32_t highest(krf_graph *g, uint32_t bits, bool words, int n) {
    uint32_t x = words ? krf__build_cast(g, bits, KRF_U32) : bits;
    x = n == (words ? 32 : 64) ? x : call(g, KRF__right_shift, x, whole(g, (words ? 32 : 64) - n));
    return krf__build_cast(g, x, words && n < 32 ? KRF_I32 : KRF_I64); /* processors have more instructions for signed ones */
}

uint32_t krf__build_random_bits(krf_graph *g, const krf__draw *draw, krf_dtype dtype) {
    static const char name[] = "random_bits";
    if (!krf__is_int(dtype)) {
        return not_for(g, name, "an integer's", dtype);
    }
    int width = 8 * (int)krf_dtype_size(dtype);
    uint32_t bits = draw_from(g, name, draw, width < 64);
    if (width < 64) {
        bits = krf__build_cast(g, bits, KRF_U32);
        bits = width == 32 ? bits : call(g, KRF__right_shift, bits, whole(g, 32 - width));
    }
    return of_shape(g, name, draw, krf__build_cast(g, bits, dtype));
}

uint32_t krf__build_random_uniform(krf_graph *g, const krf__draw *draw, krf_dtype dtype) {
    static const char name[] = "random_uniform";
    if (!krf__is_real(dtype)) {
        return not_for(g, name, "a float's", dtype);
    }
    int digits = dtype == KRF_F64 ? 53 : dtype == KRF_F32 ? 24 : dtype == KRF_F16 ? 11 : 8;
    uint32_t x = highest(g, draw_from(g, name, draw, digits < 53), digits < 53, digits);
    return of_shape(g, name, draw, scaled(g, krf__build_cast(g, x, dtype), 1.0 / (double)((int64_t)1 << digits)));
}

/* Of the middle of one of 2^32 intervals of probability, in f32: 2 p - 1 of p, and 1 less its magnitude, which has digits of its own near 0. */
static uint32_t normal_f32(krf_graph *g, uint32_t word) {
    uint32_t high = krf__build_cast(g, call(g, KRF__bitwise_xor, krf__build_cast(g, word, KRF_U32), whole(g, 0x80000000)), KRF_I32); /* of p - 1/2 */
    uint32_t size = call(g, KRF__bitwise_xor, high, call(g, KRF__right_shift, high, whole(g, 31)));
    uint32_t parts[2] = {high, call(g, KRF__subtract, whole(g, INT32_MAX), size)};
    for (int i = 0; i < 2; i++) { /* (n + 1/2) / 2^31 */
        uint32_t terms[3] = {krf__build_cast(g, parts[i], KRF_F32), krf__build_real(g, 0x1p-31, true), krf__build_real(g, 0x1p-32, true)};
        parts[i] = krf__build(g, KRF__fma, 3, terms);
    }
    return krf__build(g, KRF__ndtri_split, 2, parts);
}

/* Of the middle of one of 2^32, or 2^52, intervals of probability: neither 0 nor 1, and as many below 1/2 as above. */
uint32_t krf__build_random_normal(krf_graph *g, const krf__draw *draw, krf_dtype dtype) {
    static const char name[] = "random_normal";
    if (!krf__is_real(dtype)) {
        return not_for(g, name, "a float's", dtype);
    }
    if (dtype != KRF_F64) {
        return of_shape(g, name, draw, krf__build_cast(g, normal_f32(g, draw_from(g, name, draw, true)), dtype));
    }
    uint32_t x = krf__build_cast(g, highest(g, draw_from(g, name, draw, false), false, 52), KRF_F64);
    x = scaled(g, call(g, KRF__add, x, krf__build_real(g, 0.5, true)), 0x1p-52);
    return of_shape(g, name, draw, krf__build(g, KRF__ndtri, 1, &x));
}

/* Whether a bound is known, and its value. */
static bool known(const krf_graph *g, uint32_t x, int64_t *value) {
    const krf__node *n = krf__node_of(g, x);
    if ((n->op != KRF__constant && n->op != KRF__scalar) || n->dtype == KRF_U64 || !krf__is_int((krf_dtype)n->dtype)) {
        return false;
    }
    *value = krf__bits_to_i64((krf_dtype)n->dtype, n->value);
    return true;
}

static uint32_t bound(krf_graph *g, const char *name, const char *what, uint32_t x) {
    if (x == 0) {
        return 0;
    }
    krf_dtype dtype = (krf_dtype)krf__node_of(g, x)->dtype;
    return krf__is_int(dtype) ? krf__build_cast(g, x, KRF_U64)
                              : krf__graph_fail(g, KRF_E_DTYPE, "%s: %s is an integer, not %s", name, what, krf_dtype_name(dtype));
}

/* low plus the upper half of 64 bits times the span: of 2^64 equal parts each integer has as many as any other, or one more. */
uint32_t krf__build_random_integers(krf_graph *g, const krf__draw *draw, uint32_t low, uint32_t high, krf_dtype dtype) {
    static const char name[] = "random_integers";
    int64_t from, to;
    if (!krf__is_int(dtype)) {
        return not_for(g, name, "an integer's", dtype);
    }
    if (low != 0 && high != 0 && known(g, low, &from) && known(g, high, &to)) {
        if (from >= to) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: no integer is at least %lld and below %lld", name, (long long)from, (long long)to);
        }
        if (!krf__int_fits(dtype, from) || !krf__int_fits(dtype, to - 1)) {
            return krf__graph_fail(g, KRF_E_DTYPE, "%s: the integers from %lld to %lld are not all in the range of %s", name, (long long)from,
                                   (long long)to - 1, krf_dtype_name(dtype));
        }
    }
    low = bound(g, name, "low", low);
    high = bound(g, name, "high", high);
    uint32_t above = call(g, KRF__multiply_high, draw_from(g, name, draw, false), call(g, KRF__subtract, high, low));
    return of_shape(g, name, draw, krf__build_cast(g, call(g, KRF__add, low, above), dtype));
}

uint32_t krf__build_random_bernoulli(krf_graph *g, const krf__draw *draw, uint32_t p) {
    static const char name[] = "random_bernoulli";
    uint32_t x = krf__build_cast(g, highest(g, draw_from(g, name, draw, false), false, 53), KRF_F64);
    x = scaled(g, x, 1.0 / (double)((int64_t)1 << 53));
    return of_shape(g, name, draw, call(g, KRF__less, x, p == 0 ? 0 : krf__build_cast(g, p, KRF_F64)));
}
