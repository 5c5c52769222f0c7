/* Reductions that are expressions over others. They are built with reduced axes kept, and lose them at the end. */
#include "ir/build_composed.h"

#include "base/fail.h"

#include <math.h>

static const struct {
    const char *name;
    bool ddof;
} infos[KRF__COMPOSED_COUNT] = {
#define COMPOSED(name, doc) {#name, false},
#define DDOF(name, doc) {#name, true},
#include "ir/composed.def"
};

const char *krf__composed_name(krf__composed which) { return infos[which].name; }
bool krf__composed_has_ddof(krf__composed which) { return infos[which].ddof; }

typedef struct composing {
    krf_graph *g;
    const krf__axes *axes;
    krf__composed which;
} composing;

static uint32_t call1(const composing *c, krf__op op, uint32_t x) { return krf__build(c->g, op, 1, (uint32_t[]){x}); }
static uint32_t call2(const composing *c, krf__op op, uint32_t x, uint32_t y) { return krf__build(c->g, op, 2, (uint32_t[]){x, y}); }
static uint32_t where(const composing *c, uint32_t x, uint32_t y, uint32_t z) {
    return krf__build(c->g, KRF__where, 3, (uint32_t[]){x, y, z});
}
static uint32_t reduce(const composing *c, krf__op op, uint32_t x) {
    return krf__build_reduce(c->g, op, x, c->axes->n, c->axes->of, true);
}
static krf_dtype dtype_of(const composing *c, uint32_t x) { return (krf_dtype)krf__node_of(c->g, x)->dtype; }
static bool may_be_nan(const composing *c, uint32_t x) { return krf__is_real(dtype_of(c, x)) || krf__is_complex(dtype_of(c, x)); }
/* What has room for abs(x) of the lowest x, where the sum has it anyway. */
static uint32_t wide_integer(const composing *c, uint32_t x) { return x != 0 && krf__dtype(dtype_of(c, x))->kind == KRF__KIND_SINT ? krf__build_cast(c->g, x, KRF_I64) : x; }
/* abs(x)**2 without the root. */
static uint32_t squared(const composing *c, uint32_t x) {
    if (x == 0 || !krf__is_complex(dtype_of(c, x))) {
        return call2(c, KRF__multiply, x, x);
    }
    uint32_t re = call1(c, KRF__real_part, x), im = call1(c, KRF__imag_part, x);
    return call2(c, KRF__add, call2(c, KRF__multiply, re, re), call2(c, KRF__multiply, im, im));
}
static uint32_t number(const composing *c, double value) { return krf__build_real(c->g, value, true); }

/* How many elements each result is made of. */
static double count(const composing *c, uint32_t x, uint32_t reduced) {
    const krf__node *n = krf__node_of(c->g, x);
    double all = 1;
    for (int i = 0; i < n->rank; i++) {
        bool gone = krf__shape_of(c->g, reduced)[i] != krf__shape_of(c->g, x)[i];
        all *= gone ? (double)krf__shape_of(c->g, x)[i] : 1;
    }
    return all;
}

/* f32 elements of a result: more are read only once; fewer stay in registers between two passes. It decides results, so it is no device's: KRF__ROW_BLOCK
 * (pass/pass.h), which started from the same registers, may change with devices, and this one not with it. */
#define ONCE 32768
#define ONCE_DOWN 8192 /* the same where the last axis stays */

/* Whether the last axis of more than one element is as long as before. */
static bool keeps_last_axis(const composing *c, uint32_t x, uint32_t reduced) {
    int last = krf__node_of(c->g, x)->rank - 1;
    while (last > 0 && krf__shape_of(c->g, x)[last] == 1) {
        last--;
    }
    return last >= 0 && krf__shape_of(c->g, reduced)[last] == krf__shape_of(c->g, x)[last];
}

/* In f64, where the squares of f32 numbers are exact: relative error about 1e-16 (1 + (mean / std)^2). */
static uint32_t variance_once(const composing *c, uint32_t x, double n, double divisor) {
    uint32_t wide = krf__build_cast(c->g, x, KRF_F64), sum = reduce(c, KRF__sum, wide), squares = reduce(c, KRF__sum, squared(c, wide));
    uint32_t of_mean = call2(c, KRF__divide, squared(c, sum), number(c, n));
    uint32_t left = call2(c, KRF__maximum, call2(c, KRF__subtract, squares, of_mean), number(c, 0));
    return krf__build_cast(c->g, call2(c, KRF__divide, left, krf__build_real(c->g, divisor, false)), KRF_F32);
}

/* Of bools and integers of 8 or 16 bits, whose sums and squares are exact: about the whole number next to the mean, so that what is left of that is half or less, and equal elements have none. Sums may go round: what
 * is subtracted does too. */
static uint32_t variance_of_integers(const composing *c, uint32_t x, double n, double divisor) {
    const krf_dtype dtype = dtype_of(c, x);
    const uint32_t y = krf__build_cast(c->g, x, dtype == KRF_U16 ? KRF_U32 : KRF_I32), elements = krf__build_int(c->g, (int64_t)n, false), two = krf__build_int(c->g, 2, true);
    const uint32_t sum = krf__build_cast(c->g, reduce(c, KRF__sum, x), KRF_I64), squares = krf__build_cast(c->g, reduce(c, KRF__sum, squared(c, y)), KRF_I64);
    const uint32_t twice = call2(c, KRF__multiply, two, sum), middle = call2(c, KRF__floor_divide, call2(c, KRF__add, twice, elements), call2(c, KRF__multiply, two, elements));
    const uint32_t all = call2(c, KRF__multiply, middle, elements); /* as many as there are elements of it */
    const uint32_t about = call2(c, KRF__subtract, squares, call2(c, KRF__multiply, middle, call2(c, KRF__subtract, twice, all)));
    const uint32_t rest = krf__build_cast(c->g, call2(c, KRF__subtract, sum, all), KRF_F64);
    const uint32_t left = call2(c, KRF__subtract, krf__build_cast(c->g, about, KRF_F64), call2(c, KRF__divide, squared(c, rest), krf__build_real(c->g, n, false)));
    return call2(c, KRF__divide, left, krf__build_real(c->g, divisor, false));
}

static uint32_t variance(const composing *c, uint32_t x, double ddof) {
    uint32_t mean = reduce(c, KRF__mean, x);
    if (mean == 0) {
        return 0;
    }
    double n = count(c, x, mean);
    if (krf__is_narrow(dtype_of(c, x))) {
        return variance_of_integers(c, x, n, n > ddof ? n - ddof : 0);
    }
    if (dtype_of(c, x) == KRF_F32 && n > (keeps_last_axis(c, x, mean) ? ONCE_DOWN : ONCE)) {
        return variance_once(c, x, n, n > ddof ? n - ddof : 0);
    }
    uint32_t d = call2(c, KRF__subtract, x, mean), sum = reduce(c, KRF__sum, squared(c, d));
    return call2(c, KRF__divide, sum, krf__build_real(c->g, n > ddof ? n - ddof : 0, false));
}

/* exp of what is left when the largest is taken off; an infinite largest stays. */
static uint32_t logsumexp(const composing *c, uint32_t x) {
    uint32_t largest = reduce(c, KRF__max, x);
    if (largest == 0) {
        return 0;
    }
    uint32_t finite = call2(c, KRF__equal, call2(c, KRF__subtract, largest, largest), number(c, 0));
    uint32_t shift = krf__build_stop_gradient(c->g, where(c, finite, largest, number(c, 0))); /* the result does not depend on it */
    uint32_t sum = reduce(c, KRF__sum, call1(c, KRF__exp, call2(c, KRF__subtract, x, shift)));
    return call2(c, KRF__add, call1(c, KRF__log, sum), shift);
}

/* Whether the order of a number has room in 32 bits, and a place too; not where there is an error to find: complex numbers, no elements. */
static bool has_key(const composing *c, uint32_t x, int64_t n) {
    const krf_dtype dtype = dtype_of(c, x);
    return !krf__is_complex(dtype) && krf_dtype_size(dtype) <= 4 && n > 0 && n <= (int64_t)1 << 32;
}

/* An i32 that is larger where x is, or (smallest) where x is smaller; the largest for NaN. */
static uint32_t order(const composing *c, bool smallest, uint32_t x) {
    const krf_dtype dtype = dtype_of(c, x);
    if (krf__is_real(dtype)) {
        return call1(c, KRF__order_key, smallest ? call1(c, KRF__negative, x) : x);
    }
    if (dtype == KRF_U32) {
        x = call2(c, KRF__bitwise_xor, x, krf__build_int(c->g, (int64_t)1 << 31, true));
    }
    x = krf__build_cast(c->g, x, KRF_I32);
    return smallest ? call1(c, KRF__invert, x) : x;
}

/* One reduction, of the order in the high half of an i64 and the place in the low one, inverted: the first is the largest. */
static uint32_t place_by_key(const composing *c, bool smallest, uint32_t x, uint32_t places) {
    uint32_t high = call2(c, KRF__left_shift, krf__build_cast(c->g, order(c, smallest, x), KRF_I64), krf__build_int(c->g, 32, true));
    uint32_t low = krf__build_cast(c->g, call1(c, KRF__invert, krf__build_cast(c->g, places, KRF_U32)), KRF_I64);
    uint32_t found = reduce(c, KRF__max, call2(c, KRF__bitwise_or, high, low));
    return krf__build_cast(c->g, call1(c, KRF__invert, krf__build_cast(c->g, found, KRF_U32)), KRF_I64);
}

/* Bits of 32 that a place may have beside the order of a number: of f16, as f32, its sign, 8 bits of exponent and 10 of mantissa are the others. */
static int bits_for_place(krf_dtype dtype) {
    switch (dtype) {
    case KRF_BOOL:
    case KRF_I8:
    case KRF_U8: return 24;
    case KRF_I16:
    case KRF_U16:
    case KRF_BF16: return 16;
    case KRF_F16: return 13;
    default: return 0;
    }
}

/* The same within an i32. */
static uint32_t place_by_short_key(const composing *c, bool smallest, uint32_t x, uint32_t places) {
    const krf_dtype dtype = dtype_of(c, x);
    const int bits = bits_for_place(dtype);
    const uint32_t most = krf__build_int(c->g, ((int64_t)1 << bits) - 1, true), above = krf__build_int(c->g, -((int64_t)1 << bits), true);
    if (dtype == KRF_U8 || dtype == KRF_U16) {
        x = call2(c, KRF__subtract, krf__build_cast(c->g, x, KRF_I32), krf__build_int(c->g, dtype == KRF_U8 ? 128 : 32768, true));
    }
    uint32_t high = order(c, smallest, x);
    high = krf__is_real(dtype) ? call2(c, KRF__bitwise_and, high, above) : call2(c, KRF__left_shift, high, krf__build_int(c->g, bits, true));
    const uint32_t low = call2(c, KRF__subtract, most, krf__build_cast(c->g, places, KRF_I32)), found = reduce(c, KRF__max, call2(c, KRF__bitwise_or, high, low));
    return krf__build_cast(c->g, call2(c, KRF__subtract, most, call2(c, KRF__bitwise_and, found, most)), KRF_I64);
}

/* The least place at which the element is the largest (smallest) one; NaN is not equal to itself. */
static uint32_t place_by_value(const composing *c, krf__op op, uint32_t x, uint32_t places, int64_t none) {
    uint32_t extreme = reduce(c, op, x), hit = extreme == 0 ? 0 : call2(c, KRF__equal, x, extreme);
    if (hit != 0 && krf__is_real(dtype_of(c, x))) {
        hit = call2(c, KRF__logical_or, hit, call1(c, KRF__isnan, x));
    }
    return hit == 0 ? 0 : reduce(c, KRF__min, where(c, hit, places, krf__build_int(c->g, none, false)));
}

static uint32_t place(const composing *c, krf__op op, uint32_t x) {
    const int rank = krf__node_of(c->g, x)->rank;
    int64_t shape[KRF_MAX_RANK], n;
    uint32_t places;
    for (int i = 0; i < rank; i++) {
        shape[i] = krf__shape_of(c->g, x)[i];
    }
    if (c->axes->of == NULL) {
        n = krf__shape_size(rank, shape);
        places = krf__build_reshape(c->g, krf__build_arange(c->g, 0, n, 1), rank, shape);
    } else {
        const int axis = c->axes->n != 1 ? 0 : c->axes->of[0] < 0 ? c->axes->of[0] + rank : c->axes->of[0];
        if (c->axes->n != 1) {
            return krf__graph_fail(c->g, KRF_E_ARGUMENT, "%s: takes one axis, or none for all elements, not %d",
                                   krf__composed_name(c->which), c->axes->n);
        }
        if (axis < 0 || axis >= rank) {
            return reduce(c, op, x); /* which says why not */
        }
        n = shape[axis];
        places = krf__build_places(c->g, rank, shape, axis);
    }
    if (n > 1 && n <= (int64_t)1 << bits_for_place(dtype_of(c, x))) {
        return place_by_short_key(c, op == KRF__min, x, places);
    }
    return has_key(c, x, n) ? place_by_key(c, op == KRF__min, x, places) : place_by_value(c, op, x, places, n);
}

static uint32_t without_nan(const composing *c, uint32_t x, double instead) {
    return may_be_nan(c, x) ? where(c, call1(c, KRF__isnan, x), number(c, instead), x) : x;
}

static uint32_t nan_extreme(const composing *c, krf__op op, uint32_t x, double instead) {
    if (!krf__is_real(dtype_of(c, x))) {
        return reduce(c, op, x);
    }
    uint32_t extreme = reduce(c, op, without_nan(c, x, instead));
    return where(c, reduce(c, KRF__all, call1(c, KRF__isnan, x)), number(c, (double)NAN), extreme);
}

static uint32_t nan_mean(const composing *c, uint32_t x) {
    if (!may_be_nan(c, x)) {
        return reduce(c, KRF__mean, x);
    }
    uint32_t there = call1(c, KRF__logical_not, call1(c, KRF__isnan, x));
    uint32_t n = krf__build_cast(c->g, reduce(c, KRF__sum, there), dtype_of(c, x));
    return call2(c, KRF__divide, reduce(c, KRF__sum, without_nan(c, x, 0)), n);
}

static uint32_t compose(const composing *c, uint32_t x, double ddof) {
    switch (c->which) {
    case KRF__COMPOSED_var: return variance(c, x, ddof);
    case KRF__COMPOSED_std: return call1(c, KRF__sqrt, variance(c, x, ddof));
    case KRF__COMPOSED_count_nonzero: return reduce(c, KRF__sum, krf__build_cast(c->g, x, KRF_BOOL));
    case KRF__COMPOSED_ptp: return call2(c, KRF__subtract, reduce(c, KRF__max, x), reduce(c, KRF__min, x));
    case KRF__COMPOSED_logsumexp: return logsumexp(c, x);
    case KRF__COMPOSED_argmax: return place(c, KRF__max, x);
    case KRF__COMPOSED_argmin: return place(c, KRF__min, x);
    case KRF__COMPOSED_nansum: return reduce(c, KRF__sum, without_nan(c, x, 0));
    case KRF__COMPOSED_nanprod: return reduce(c, KRF__prod, without_nan(c, x, 1));
    case KRF__COMPOSED_nanmax: return nan_extreme(c, KRF__max, x, -(double)INFINITY);
    case KRF__COMPOSED_nanmin: return nan_extreme(c, KRF__min, x, (double)INFINITY);
    case KRF__COMPOSED_nanmean: return nan_mean(c, x);
    case KRF__COMPOSED_norm: return call1(c, KRF__sqrt, reduce(c, KRF__sum, squared(c, x)));
    case KRF__COMPOSED_norm1: return reduce(c, KRF__sum, call1(c, KRF__abs, wide_integer(c, x)));
    case KRF__COMPOSED_norminf: return reduce(c, KRF__max, call1(c, KRF__abs, x));
    case KRF__COMPOSED_COUNT: break;
    }
    return 0;
}

/* What needs a float in between takes it from the start; f16 and bf16 keep f32's digits until the end. */
static uint32_t widened(krf_graph *g, krf__composed which, uint32_t x) {
    krf_dtype dtype = (krf_dtype)krf__node_of(g, x)->dtype;
    bool places = which == KRF__COMPOSED_argmax || which == KRF__COMPOSED_argmin || which == KRF__COMPOSED_count_nonzero;
    bool real = which == KRF__COMPOSED_var || which == KRF__COMPOSED_std || which == KRF__COMPOSED_logsumexp || which == KRF__COMPOSED_norm;
    if (krf__node_of(g, x)->weak) {
        x = krf__build_cast(g, x, dtype);
    }
    if (places || ((which == KRF__COMPOSED_var || which == KRF__COMPOSED_std) && krf__is_narrow(dtype))) {
        return x;
    }
    return krf__is_half(dtype) ? krf__build_cast(g, x, KRF_F32) : real && !krf__is_real(dtype) && !krf__is_complex(dtype) ? krf__build_cast(g, x, KRF_F64) : x;
}

uint32_t krf__build_composed(krf_graph *g, krf__composed which, uint32_t x, const krf__axes *axes, double ddof) {
    const composing c = {g, axes, which};
    if (x == 0) {
        return 0;
    }
    krf_dtype dtype = (krf_dtype)krf__node_of(g, x)->dtype;
    uint32_t wide = widened(g, which, x), y = compose(&c, wide, ddof);
    if (y == 0) {
        return 0;
    }
    if (krf__is_half(dtype) && wide != x) {
        y = krf__build_cast(g, y, dtype);
    }
    if (axes->keepdims || y == 0) {
        return y;
    }
    int64_t shape[KRF_MAX_RANK];
    int rank = krf__node_of(g, x)->rank, left = 0;
    for (int i = 0; i < rank; i++) {
        bool gone = axes->of == NULL;
        for (int k = 0; k < axes->n && !gone; k++) {
            gone = (axes->of[k] < 0 ? axes->of[k] + rank : axes->of[k]) == i;
        }
        if (!gone) {
            shape[left++] = krf__shape_of(g, y)[i];
        }
    }
    return krf__build_reshape(g, y, left, shape);
}
