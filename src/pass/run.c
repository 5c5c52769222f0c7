/* Runs of places, found from the leaves up as intervals are. */
#include "pass/run.h"

#include "pass/from_end.h"

enum { FAR = INT32_MAX, MOST_REPEATED = 8 };

#define UNKNOWN ((krf__run){.kind = KRF__RUN_UNKNOWN, .multiple = 1})

static int64_t power_in(int64_t x) {
    const uint64_t lowest = (uint64_t)x & (0 - (uint64_t)x); /* of the lowest number too */
    return lowest == 0 || lowest > KRF__RUN_MOST ? KRF__RUN_MOST : (int64_t)lowest;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static krf__run number(int64_t value) { return (krf__run){.kind = KRF__RUN_NUMBER, .offset = value, .multiple = power_in(value)}; }
static krf__run same(int64_t multiple) { return (krf__run){.kind = KRF__RUN_SAME, .multiple = multiple}; }

static bool is_same(const krf__run *r) { return r->kind == KRF__RUN_NUMBER || r->kind == KRF__RUN_SAME; }

/* A range, or a view of one. */
static krf__run of_places(const krf_graph *g, uint32_t id, int behind) {
    const krf__layout layout = krf__memory_layout(g, id);
    const int last = layout.rank - 1 - behind;
    krf__run r = {.kind = KRF__RUN_SAME, .offset = layout.offset, .low = INT64_MIN, .high = INT64_MAX, .multiple = KRF__RUN_MOST};
    for (int d = 0; d < layout.rank; d++) {
        const int64_t stride = layout.shape[d] > 1 ? layout.strides[d] : 0;
        if (d < last || stride == 0) {
            r.multiple = least(r.multiple, power_in(stride));
        } else {
            r.kind = stride == 1 ? KRF__RUN_STEPS : KRF__RUN_UNKNOWN;
        }
    }
    return r.kind == KRF__RUN_SAME ? same(least(r.multiple, power_in(layout.offset))) : r;
}

static krf__run moved(krf__run r, int64_t by) {
    r.offset += by;
    r.low += r.low != INT64_MIN ? by : 0;
    r.high += r.high != INT64_MAX ? by : 0;
    return r;
}

static krf__run sum(const krf__run *x, const krf__run *y, int sign) {
    if (x->kind == KRF__RUN_NUMBER && y->kind == KRF__RUN_NUMBER) {
        return number(x->offset + sign * y->offset);
    }
    if (is_same(x) && is_same(y)) {
        return same(least(x->multiple, y->multiple));
    }
    if (x->kind == KRF__RUN_STEPS && y->kind == KRF__RUN_NUMBER) {
        return moved(*x, sign * y->offset);
    }
    if (x->kind == KRF__RUN_STEPS && y->kind == KRF__RUN_SAME) {
        krf__run r = *x;
        r.multiple = least(r.multiple, y->multiple);
        return r;
    }
    if (x->kind == KRF__RUN_REPEATS && is_same(y)) {
        return *x;
    }
    return sign > 0 && (y->kind == KRF__RUN_STEPS || y->kind == KRF__RUN_REPEATS) && is_same(x) ? sum(y, x, 1) : UNKNOWN;
}

static krf__run bounded(const krf__run *x, const krf__run *y, bool above) {
    if (is_same(x) && is_same(y)) {
        return same(least(x->multiple, y->multiple));
    }
    if (x->kind != KRF__RUN_STEPS || y->kind != KRF__RUN_NUMBER) {
        return y->kind == KRF__RUN_STEPS && x->kind == KRF__RUN_NUMBER ? bounded(y, x, above) : UNKNOWN;
    }
    krf__run r = *x;
    if (above) {
        r.high = least(r.high, y->offset);
        r.low = least(r.low, y->offset);
    } else {
        r.low = r.low > y->offset ? r.low : y->offset;
        r.high = r.high > y->offset ? r.high : y->offset;
    }
    return r;
}

static krf__run product(const krf__run *x, const krf__run *y) {
    if (x->kind == KRF__RUN_NUMBER && y->kind == KRF__RUN_NUMBER) {
        return number(x->offset * y->offset);
    }
    return is_same(x) && is_same(y) ? same(least(x->multiple * y->multiple, KRF__RUN_MOST)) : UNKNOWN;
}

static bool is_open(const krf__run *r) { return r->kind == KRF__RUN_STEPS && r->low == INT64_MIN && r->high == INT64_MAX; }

static bool is_number(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id), *leaf = n->op == KRF__view ? krf__node_of(g, n->args[0]) : n;
    return leaf->op == KRF__constant || leaf->op == KRF__scalar;
}

/* Rounded down: of places that step, each comes as often as the divisor says, but for the first and the last. */
static krf__run quotient(const krf_graph *g, const krf__node *n, const krf__run *x, const krf__run *y) {
    const krf__node *by = krf__node_of(g, n->args[1]);
    if (!is_open(x) || x->turns || by->op != KRF__constant || y->kind != KRF__RUN_NUMBER || y->offset < 2 || y->offset > MOST_REPEATED) { /* scalars may have other values in the same kernel */
        return is_same(x) && is_same(y) ? same(1) : UNKNOWN;
    }
    return (krf__run){.kind = KRF__RUN_REPEATS, .low = INT64_MIN, .high = INT64_MAX, .multiple = 1, .divisor = (int)y->offset};
}

/* Places that count from the end where they are negative. A block of them is so as a whole, or not. */
static krf__run from_end(const krf_graph *g, uint32_t id, const krf__run operands[3]) {
    const krf__run *x = &operands[2], *there = &operands[1];
    uint32_t end;
    krf__run r = *x;
    if (!krf__counts_from_end(g, id, &end) || !is_number(g, end) || !is_open(x) || x->turns || there->offset == x->offset + 1) {
        return UNKNOWN;
    }
    r.multiple = least(least(x->multiple, there->multiple), power_in(there->offset - x->offset));
    r.turns = true;
    return r;
}

/* What has no rule is the same where its operands are. */
static krf__run of_others(const krf_graph *g, uint32_t id, const krf__run operands[3]) {
    const krf__node *n = krf__node_of(g, id);
    const int arity = krf__op_info_of(n->op)->arity;
    bool all = arity > 0 && krf__op_info_of(n->op)->class_ == KRF__CLASS_ELEMENTWISE;
    for (int k = 0; k < arity; k++) {
        all &= is_same(&operands[k]);
    }
    return all ? same(1) : UNKNOWN;
}

static krf__run by_rules(const krf_graph *g, uint32_t id, int behind, const krf__run operands[3]) {
    const krf__node *n = krf__node_of(g, id), *leaf = n->op == KRF__view ? krf__node_of(g, n->args[0]) : n;
    if (leaf->op == KRF__iota) {
        return of_places(g, id, behind);
    }
    if (leaf->op == KRF__constant || leaf->op == KRF__scalar) {
        return number(krf__bits_to_i64((krf_dtype)leaf->dtype, leaf->value));
    }
    switch ((krf__op)n->op) {
    case KRF__view: {
        const krf__layout layout = krf__memory_layout(g, id);
        return layout.rank > behind && layout.strides[layout.rank - 1 - behind] == 0 ? same(1) : UNKNOWN;
    }
    case KRF__cast: return krf__is_real(krf__dtype_of(g, n->args[0])) && is_same(&operands[0]) ? same(1) : operands[0];
    case KRF__add: return sum(&operands[0], &operands[1], 1);
    case KRF__subtract: return sum(&operands[0], &operands[1], -1);
    case KRF__floor_divide: return quotient(g, n, &operands[0], &operands[1]);
    case KRF__multiply: return product(&operands[0], &operands[1]);
    case KRF__minimum: return bounded(&operands[0], &operands[1], true);
    case KRF__maximum: return bounded(&operands[0], &operands[1], false);
    case KRF__where: {
        const krf__run others = of_others(g, id, operands);
        return others.kind != KRF__RUN_UNKNOWN ? others : from_end(g, id, operands);
    }
    default: return of_others(g, id, operands);
    }
}

/* Numbers are the same along all axes. */
static krf__run along(krf__run r, int behind) { return r.behind == behind || r.kind == KRF__RUN_NUMBER ? r : UNKNOWN; }

/* What has no such axis, or one element there, is the same along it, whatever it is. */
static krf__run run_along(const krf_graph *g, uint32_t id, krf__interval interval, int behind, const krf__run operands[3]) {
    const krf__node *n = krf__node_of(g, id);
    const krf__kind kind = krf__dtype((krf_dtype)n->dtype)->kind;
    const bool real = kind == KRF__KIND_REAL || kind == KRF__KIND_COMPLEX, wraps = interval.low < -FAR || interval.high > FAR || (kind != KRF__KIND_BOOL && krf_dtype_size((krf_dtype)n->dtype) < 4);
    const krf__run r = real ? of_others(g, id, operands) : by_rules(g, id, behind, operands);
    if (r.kind == KRF__RUN_UNKNOWN) {
        return n->rank <= behind || krf__shape_of(g, id)[n->rank - 1 - behind] == 1 ? same(1) : r;
    }
    if (r.kind != KRF__RUN_SAME && wraps) { /* what is lost is a multiple of any block */
        return r.kind == KRF__RUN_NUMBER ? same(r.multiple) : UNKNOWN;
    }
    return r;
}

krf__run krf__run_from(const krf_graph *g, uint32_t id, krf__interval interval, int behind, const krf__run operands[3]) {
    krf__run r = run_along(g, id, interval, behind, (krf__run[]){along(operands[0], behind), along(operands[1], behind), along(operands[2], behind)});
    r.behind = behind;
    return r;
}

uint64_t krf__run_blocks(const krf__run *places) {
    int64_t blocks = least(places->multiple, power_in(places->offset));
    if (places->kind == KRF__RUN_REPEATS) {
        return 1 | (uint64_t)places->divisor << KRF__RUN_DIVISOR;
    }
    if (places->kind != KRF__RUN_STEPS) {
        return is_same(places) ? (uint64_t)places->multiple | KRF__RUN_ROWS : 1;
    }
    blocks = places->low != INT64_MIN ? least(blocks, power_in(places->low)) : blocks;
    blocks = places->high != INT64_MAX ? least(blocks, power_in(places->high + 1)) : blocks;
    return (uint64_t)blocks | (!places->turns || is_open(places) ? KRF__RUN_ALONG : 0);
}
