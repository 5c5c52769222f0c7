/* Views of what joins, pads or rolls arrays show one part of it more often than not: there the choice between parts is decided, no end is reached, and places go on by strides. */
#include "pass/lower_known.h"

#include "pass/interval.h"

#include <string.h>

typedef enum answer { OPEN, NO, YES } answer;

static answer smaller(krf__interval a, krf__interval b) { return a.high < b.low ? YES : a.low >= b.high ? NO : OPEN; }

static answer turned(answer a) { return a == YES ? NO : a == NO ? YES : OPEN; }

static answer both(answer a, answer b) { return a == NO || b == NO ? NO : a == YES && b == YES ? YES : OPEN; }

static answer condition(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    if (n->op == KRF__logical_and) {
        return both(condition(g, n->args[0]), condition(g, n->args[1]));
    }
    if (n->args[1] == 0 || krf__dtype_of(g, n->args[0]) != KRF_I64 || krf__dtype_of(g, n->args[1]) != KRF_I64) {
        return OPEN;
    }
    const krf__interval a = krf__interval_of(g, n->args[0]), b = krf__interval_of(g, n->args[1]);
    switch ((krf__op)n->op) {
    case KRF__less: return smaller(a, b);
    case KRF__greater: return smaller(b, a);
    case KRF__less_equal: return turned(smaller(b, a));
    case KRF__greater_equal: return turned(smaller(a, b));
    default: return OPEN;
    }
}

/* The operand that an end does not reach. */
static int within(const krf_graph *g, const krf__node *n) {
    const krf__interval a = krf__interval_of(g, n->args[0]), b = krf__interval_of(g, n->args[1]);
    const bool first = n->op == KRF__minimum ? a.high <= b.low : a.low >= b.high, second = n->op == KRF__minimum ? b.high <= a.low : b.low >= a.high;
    return first ? 0 : second ? 1 : -1;
}

/* Whether an operand is all of the result. */
static bool is_whole(const krf_graph *g, const krf__node *node, uint32_t operand) {
    int rank = 0;
    int64_t shape[KRF_MAX_RANK];
    for (int k = 0; k < krf__op_info_of((krf__op)node->op)->arity; k++) {
        krf__shape_broadcast(rank, shape, krf__node_of(g, node->args[k])->rank, krf__shape_of(g, node->args[k]), &rank, shape);
    }
    return krf__dtype_of(g, operand) == (krf_dtype)node->dtype && krf__shape_equal(rank, shape, krf__node_of(g, operand)->rank, krf__shape_of(g, operand));
}

uint32_t krf__lower_known(const krf__lowering *l, const krf__node *node) {
    int operand = -1;
    if (node->op == KRF__where && l->traits[node->args[0]].places) {
        const answer a = condition(l->out, node->args[0]);
        operand = a == YES ? 1 : a == NO ? 2 : -1;
    } else if ((node->op == KRF__minimum || node->op == KRF__maximum) && node->dtype == KRF_I64 && (l->traits[node->args[0]].places || l->traits[node->args[1]].places)) {
        operand = within(l->out, node);
    }
    return operand >= 0 && is_whole(l->out, node, node->args[operand]) ? node->args[operand] : 0;
}

static bool number(const krf_graph *g, uint32_t id, int64_t *value) {
    const krf__node *n = krf__node_of(g, id);
    *value = krf__bits_to_i64(KRF_I64, n->value);
    return (n->op == KRF__constant || n->op == KRF__scalar) && n->dtype == KRF_I64;
}

static bool scaled(krf__layout *layout, int64_t by) {
    bool fits = !__builtin_mul_overflow(layout->offset, by, &layout->offset);
    for (int i = 0; i < layout->rank; i++) {
        fits &= !__builtin_mul_overflow(layout->strides[i], by, &layout->strides[i]);
    }
    return fits;
}

bool krf__lower_strided(const krf_graph *g, uint32_t places, krf__layout *layout) {
    const krf__node *n = krf__node_of(g, places);
    int64_t value;
    if (krf__node_of(g, n->op == KRF__view ? n->args[0] : places)->op == KRF__iota) {
        *layout = krf__memory_layout(g, places);
        return true;
    }
    if (n->dtype != KRF_I64 || (n->op != KRF__add && n->op != KRF__subtract && n->op != KRF__multiply)) {
        return false;
    }
    const int range = n->op != KRF__subtract && number(g, n->args[0], &value) ? 1 : 0;
    if (!number(g, n->args[1 - range], &value) || !krf__lower_strided(g, n->args[range], layout)) {
        return false;
    }
    switch ((krf__op)n->op) {
    case KRF__multiply: return scaled(layout, value);
    case KRF__subtract: return !__builtin_sub_overflow(layout->offset, value, &layout->offset);
    default: return !__builtin_add_overflow(layout->offset, value, &layout->offset);
    }
}
