/* Interval arithmetic over the few operations that places are made with. Where a result could wrap, it is all of the dtype. */
#include "pass/interval.h"

#define BUDGET 512 /* visits: expressions share parts, and a walk does not */

static krf__interval all_of(krf_dtype dtype) {
    int bits = 8 * krf__dtype(dtype)->bytes;
    switch (krf__dtype(dtype)->kind) {
    case KRF__KIND_BOOL: return (krf__interval){0, 1};
    case KRF__KIND_UINT: return (krf__interval){0, bits == 64 ? INT64_MAX : (int64_t)((UINT64_C(1) << bits) - 1)};
    case KRF__KIND_SINT: return (krf__interval){-(int64_t)(UINT64_MAX >> (65 - bits)) - 1, (int64_t)(UINT64_MAX >> (65 - bits))};
    default: return (krf__interval){INT64_MIN, INT64_MAX};
    }
}

static krf__interval hull(int n, const int64_t *values) {
    krf__interval r = {values[0], values[0]};
    for (int i = 1; i < n; i++) {
        r.low = values[i] < r.low ? values[i] : r.low;
        r.high = values[i] > r.high ? values[i] : r.high;
    }
    return r;
}

/* Of a leaf or a view: only ranges are known. */
static bool places_of(const krf_graph *g, uint32_t id, krf__interval *r) {
    const krf__node *n = krf__node_of(g, id);
    if (krf__node_of(g, n->op == KRF__view ? n->args[0] : id)->op != KRF__iota) {
        return false;
    }
    krf__layout layout = krf__memory_layout(g, id);
    r->low = r->high = layout.offset;
    for (int i = 0; i < layout.rank; i++) {
        int64_t reach = layout.shape[i] > 0 ? layout.strides[i] * (layout.shape[i] - 1) : 0;
        *(reach < 0 ? &r->low : &r->high) += reach;
    }
    return true;
}

static bool product(krf__interval a, krf__interval b, krf__interval *r) {
    int64_t corners[4];
    if (__builtin_mul_overflow(a.low, b.low, &corners[0]) || __builtin_mul_overflow(a.low, b.high, &corners[1]) ||
        __builtin_mul_overflow(a.high, b.low, &corners[2]) || __builtin_mul_overflow(a.high, b.high, &corners[3])) {
        return false;
    }
    *r = hull(4, corners);
    return true;
}

static int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); } /* b > 0 */

/* The result over operands that were found; false where it is not known. All but where in i64. */
static bool combine(krf__op op, const krf__interval *x, krf__interval *r) {
    const krf__interval a = x[0], b = x[1];
    switch (op) {
    case KRF__add: return !__builtin_add_overflow(a.low, b.low, &r->low) && !__builtin_add_overflow(a.high, b.high, &r->high);
    case KRF__subtract: return !__builtin_sub_overflow(a.low, b.high, &r->low) && !__builtin_sub_overflow(a.high, b.low, &r->high);
    case KRF__multiply: return product(a, b, r);
    case KRF__negative: return !__builtin_sub_overflow(0, a.high, &r->low) && !__builtin_sub_overflow(0, a.low, &r->high);
    case KRF__abs:
        if (a.low == INT64_MIN) {
            return false;
        }
        *r = a.low >= 0 ? a : (krf__interval){a.high >= 0 ? 0 : -a.high, -a.low > a.high ? -a.low : a.high};
        return true;
    case KRF__minimum: *r = (krf__interval){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high}; return true;
    case KRF__maximum: *r = (krf__interval){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}; return true;
    case KRF__remainder:
        if (b.low <= 0) {
            return false;
        }
        *r = (krf__interval){0, b.high - 1};
        return true;
    case KRF__floor_divide:
        if (b.low <= 0) {
            return false;
        }
        *r = hull(4, (int64_t[]){floor_quotient(a.low, b.low), floor_quotient(a.low, b.high), floor_quotient(a.high, b.low),
                                 floor_quotient(a.high, b.high)});
        return true;
    case KRF__where: *r = hull(4, (int64_t[]){b.low, b.high, x[2].low, x[2].high}); return true;
    default: return false;
    }
}

/* Whether the interval of a node follows from those of its operands. */
static bool follows(const krf__node *n) { return n->op == KRF__cast || (krf__op_info_of(n->op)->class_ == KRF__CLASS_ELEMENTWISE && n->dtype == KRF_I64); }

krf__interval krf__interval_from(const krf_graph *g, uint32_t id, const krf__interval operands[3]) {
    const krf__node *n = krf__node_of(g, id);
    const krf__interval all = all_of((krf_dtype)n->dtype);
    krf__interval r = all;
    if (krf__is_real((krf_dtype)n->dtype) || krf__is_complex((krf_dtype)n->dtype) || places_of(g, id, &r)) {
        return r;
    }
    if ((n->op == KRF__constant || n->op == KRF__scalar) && n->dtype != KRF_U64) {
        r.low = r.high = krf__bits_to_i64((krf_dtype)n->dtype, n->value);
        return r;
    }
    if (n->op == KRF__cast && !krf__is_real(krf__dtype_of(g, n->args[0])) && !krf__is_complex(krf__dtype_of(g, n->args[0]))) {
        r = operands[0];
        return krf__dtype_of(g, n->args[0]) != KRF_U64 && r.low >= all.low && r.high <= all.high ? r : all;
    }
    if (!follows(n)) {
        return all;
    }
    for (int k = 0; k < krf__op_info_of(n->op)->arity; k++) {
        if (krf__dtype_of(g, n->args[k]) != (n->op == KRF__where && k == 0 ? KRF_BOOL : KRF_I64)) {
            return all;
        }
    }
    return combine(n->op, operands, &r) ? r : all;
}

static krf__interval visit(const krf_graph *g, uint32_t id, int *budget) {
    const krf__node *n = krf__node_of(g, id);
    krf__interval x[3] = {{0, 0}};
    if (--*budget < 0) {
        return all_of((krf_dtype)n->dtype);
    }
    for (int k = 0; k < 3 && follows(n); k++) {
        x[k] = n->args[k] != 0 ? visit(g, n->args[k], budget) : x[k];
    }
    return krf__interval_from(g, id, x);
}

krf__interval krf__interval_of(const krf_graph *g, uint32_t id) {
    int budget = BUDGET;
    return visit(g, id, &budget);
}
