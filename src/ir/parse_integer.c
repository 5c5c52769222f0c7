/* Integers that are known while the text is read: axes, extents, bounds of slices. Literals, sizes, those of arrays (x.shape[0]) and names of such, with + - * // % and brackets. They do not go through the graph,
 * whose arithmetic wraps around: an extent that did would be another one than was written. */
#include "ir/parser.h"

enum { MOST_VISITS = 1000 }; /* of nodes, for one name */

static int64_t parse_sum(krf__parser *p);

static int64_t out_of_range(krf__parser *p, const char *at) {
    krf__parse_fail(p, KRF_E_PARSE, at, "an integer outside -2**63 to 2**63 - 1");
    return 0;
}

static bool combine(krf__op op, int64_t a, int64_t b, int64_t *value) {
    const bool divides = op == KRF__floor_divide || op == KRF__remainder;
    switch (op) {
    case KRF__add: return !__builtin_add_overflow(a, b, value);
    case KRF__subtract: return !__builtin_sub_overflow(a, b, value);
    case KRF__multiply: return !__builtin_mul_overflow(a, b, value);
    case KRF__negative: return !__builtin_sub_overflow(0, a, value);
    default: break;
    }
    if (!divides || b == 0 || (b == -1 && a == INT64_MIN && op == KRF__floor_divide)) {
        return false;
    }
    if (b == -1 && op == KRF__remainder) { /* the quotient may be out of range */
        *value = 0;
        return true;
    }
    const int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
    *value = op == KRF__floor_divide ? quotient : a - quotient * b;
    return true;
}

/* What a node that was made of literals and sizes comes to. visits: how many more nodes are looked at, for one that is an operand twice is looked at twice. */
static bool whole_number(const krf_graph *g, uint32_t id, int *visits, int64_t *value) {
    const krf__node *n = krf__node_of(g, id);
    int64_t of[2] = {0, 0};
    if (!n->weak || n->dtype != KRF_I64 || --*visits < 0) {
        return false;
    }
    if (n->op == KRF__constant) {
        *value = krf__bits_to_i64(KRF_I64, n->value);
        return true;
    }
    const int arity = n->op == KRF__negative ? 1 : 2;
    const bool computed = n->op == KRF__negative || n->op == KRF__add || n->op == KRF__subtract || n->op == KRF__multiply || n->op == KRF__floor_divide || n->op == KRF__remainder;
    for (int k = 0; k < arity && computed; k++) {
        if (!whole_number(g, n->args[k], visits, &of[k])) {
            return false;
        }
    }
    return computed && combine((krf__op)n->op, of[0], of[1], value);
}

/* A number that comes with each run. */
static bool comes_later(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    n = n->op == KRF__cast ? krf__node_of(g, n->args[0]) : n;
    return n->rank == 0 && (n->op == KRF__scalar || n->op == KRF__placeholder);
}

/* What the text assigns or declares hides a size of its name; but a number that is bound may be that size too, and the size is what is known of it. */
const krf__symbol *krf__parse_size(krf__parser *p, const krf__token *name) {
    const krf__symbol *value = krf__parse_find(p, &p->values, name);
    const bool hidden = value != NULL && value->declared && !comes_later(p->g, value->id);
    return hidden || name->kind != KRF__TOKEN_NAME ? NULL : krf__parse_find(p, &p->extents, name);
}

/* At the dot of x.shape[0]. */
static int64_t parse_of_array(krf__parser *p, uint32_t x) {
    int64_t found = 0;
    krf__parse_next(p);
    const krf__token name = p->token;
    krf__parse_next(p);
    if (!p->failed && !krf__parse_measure(p, x, &name, &found)) {
        krf__parse_fail(p, KRF_E_PARSE, name.start, "%.*s is no integer that is known when the text is read: shape[i], size and ndim are", KRF__SHOWN(&name));
    }
    return found;
}

static int64_t parse_named(krf__parser *p) {
    const krf__token name = p->token;
    const krf__symbol *extent = krf__parse_size(p, &name), *value = krf__parse_find(p, &p->values, &name);
    int visits = MOST_VISITS;
    int64_t found = 0;
    if (value != NULL && krf__parse_peek(p).kind == '.') {
        krf__parse_next(p);
        return parse_of_array(p, value->id);
    }
    if (extent != NULL) {
        found = extent->extent;
    } else if (value == NULL) {
        krf__parse_expected(p, "an integer");
    } else if (!whole_number(p->g, value->id, &visits, &found)) {
        krf__parse_fail(p, KRF_E_PARSE, name.start, "%.*s is no integer that is known when the text is read: literals, sizes and what is made of them are", KRF__SHOWN(&name));
    }
    krf__parse_next(p);
    return found;
}

static int64_t parse_primary(krf__parser *p) {
    const krf__token t = p->token;
    if (t.kind == KRF__TOKEN_NAME) {
        return parse_named(p);
    }
    if (krf__parse_skip(p, '(')) {
        const int64_t value = parse_sum(p);
        krf__parse_close(p, &t);
        return value;
    }
    if (t.kind != KRF__TOKEN_INT) {
        krf__parse_expected(p, "an integer");
        return 0;
    }
    if (t.integer > INT64_MAX) {
        return out_of_range(p, t.start);
    }
    krf__parse_next(p);
    return (int64_t)t.integer;
}

static int64_t parse_signed(krf__parser *p) {
    const krf__token sign = p->token;
    int64_t value;
    if (p->failed || !krf__parse_deeper(p)) {
        return 0;
    }
    if (krf__parse_skip(p, '+')) {
        value = parse_signed(p);
    } else if (!krf__parse_skip(p, '-')) {
        value = parse_primary(p);
    } else if (p->token.kind == KRF__TOKEN_INT && p->token.integer == (uint64_t)1 << 63) {
        krf__parse_next(p);
        value = INT64_MIN;
    } else if (!combine(KRF__negative, parse_signed(p), 0, &value)) {
        value = out_of_range(p, sign.start);
    }
    p->depth--;
    return value;
}

static int64_t parse_product(krf__parser *p) {
    int64_t a = parse_signed(p);
    while (!p->failed) {
        const krf__token t = p->token;
        if (t.kind == '/') {
            krf__parse_fail(p, KRF_E_PARSE, t.start, "'/' gives no integer: use //");
        }
        if (t.kind != '*' && t.kind != KRF__TOKEN_FLOOR_DIVIDE && t.kind != '%') {
            break;
        }
        krf__parse_next(p);
        const int64_t b = parse_signed(p);
        if (p->failed) {
            break;
        }
        if (t.kind != '*' && b == 0) {
            krf__parse_fail(p, KRF_E_PARSE, t.start, "division by 0");
        } else if (!combine(t.kind == '*' ? KRF__multiply : t.kind == '%' ? KRF__remainder : KRF__floor_divide, a, b, &a)) {
            return out_of_range(p, t.start);
        }
    }
    return a;
}

static int64_t parse_sum(krf__parser *p) {
    int64_t a = parse_product(p);
    while (!p->failed && (p->token.kind == '+' || p->token.kind == '-')) {
        const krf__token t = p->token;
        krf__parse_next(p);
        const int64_t b = parse_product(p);
        if (!combine(t.kind == '+' ? KRF__add : KRF__subtract, a, b, &a)) {
            return out_of_range(p, t.start);
        }
    }
    return a;
}

bool krf__parse_int(krf__parser *p, int64_t *value) {
    const int64_t found = p->failed ? 0 : parse_sum(p);
    if (!p->failed) {
        *value = found;
    }
    return !p->failed;
}

bool krf__parse_bound(krf__parser *p, int64_t *bound) {
    const bool found = krf__parse_int(p, bound);
    *bound = found && *bound == KRF_NONE ? KRF_NONE + 1 : *bound;
    return found;
}

/* x.shape, at what follows it. */
static int64_t parse_extent(krf__parser *p, uint32_t x, const krf__token *name) {
    const krf__token open = p->token;
    const int rank = krf__node_of(p->g, x)->rank;
    int64_t axis = 0;
    if (!krf__parse_skip(p, '[')) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "shape is no value: its extents are, as x.shape[0]");
    }
    if (!krf__parse_int(p, &axis) || !krf__parse_close(p, &open)) {
        return 0;
    }
    if (axis < -rank || axis >= rank) {
        return krf__parse_fail(p, KRF_E_SHAPE, name->start, "shape[%lld] is out of range for rank %d", (long long)axis, rank);
    }
    return krf__shape_of(p->g, x)[axis < 0 ? axis + rank : axis];
}

bool krf__parse_measure(krf__parser *p, uint32_t x, const krf__token *name, int64_t *value) {
    const krf__node *n = krf__node_of(p->g, x);
    if (krf__token_is(name, "shape")) {
        *value = parse_extent(p, x, name);
        return true;
    }
    *value = krf__token_is(name, "ndim") ? n->rank : krf__shape_size(n->rank, krf__shape_of(p->g, x));
    return krf__token_is(name, "ndim") || krf__token_is(name, "size");
}
