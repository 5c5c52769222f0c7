/* Subscripts: x[1:-1, ::2, None, ..., 3, i]. A subscript is one slice over all axes, then a reshape where an integer takes an axis away or None adds one, then arrays index what is
 * left. As of calls (parse_call.h), parse_expr.c goes over the items and reads those that are expressions. */
#include "ir/parse_subscript.h"

#include "ir/build_movement.h"

#include <string.h>

/* A bound of a slice, or KRF_NONE where none stands. */
static void parse_bound(krf__parser *p, int64_t *bound) {
    if (p->failed || p->token.kind == ':' || p->token.kind == ',' || p->token.kind == ']' || krf__parse_none(p)) {
        return;
    }
    krf__parse_bound(p, bound);
}

/* Whether a slice stands here: a colon before the item ends. Looks no deeper than expressions may nest, so that brackets in brackets are not read again and again. */
static bool at_slice(const krf__parser *p) {
    krf__lexer ahead = p->lexer;
    krf__token t = p->token;
    int depth = 0;
    while (depth >= 0 && depth <= KRF__PARSE_DEPTH && t.kind != KRF__TOKEN_END && t.kind != KRF__TOKEN_ERROR && (depth > 0 || t.kind != ',')) {
        if (t.kind == ':') {
            return depth == 0;
        }
        depth += t.kind == '(' || t.kind == '[' ? 1 : t.kind == ')' || t.kind == ']' ? -1 : 0;
        t = krf__lex(&ahead);
    }
    return false;
}

/* Whether a number or a size stands here alone. What is computed may be an array. */
static bool at_integer(krf__parser *p) {
    krf__lexer ahead = p->lexer;
    krf__token t = p->token;
    if (t.kind == '-' || t.kind == '+') {
        t = krf__lex(&ahead);
    }
    const bool integer = t.kind == KRF__TOKEN_INT || krf__parse_size(p, &t) != NULL;
    const int next = krf__lex(&ahead).kind;
    return integer && (next == ',' || next == ']');
}

void krf__parse_item_given(krf__parser *p, krf__subscript *s) {
    krf__item *it = &s->items[s->n - 1];
    const krf__node *n = krf__node_of(p->g, it->id);
    if (it->id != 0 && n->op == KRF__constant && n->weak && n->dtype == KRF_I64) {
        it->kind = KRF__ITEM_INTEGER;
        it->range.start = krf__bits_to_i64(KRF_I64, n->value);
    } else if (it->id != 0 && n->op == KRF__constant && n->weak && n->dtype == KRF_U64) {
        krf__parse_fail(p, KRF_E_PARSE, it->at, "an integer outside -2**63 to 2**63 - 1");
    } else if (it->id != 0 && !krf__is_int((krf_dtype)n->dtype)) {
        krf__parse_fail(p, KRF_E_DTYPE, it->at, "a subscript is made of integers, slices, None, ... and arrays of integers; this is %s%s",
                        krf_dtype_name((krf_dtype)n->dtype), n->dtype == KRF_BOOL ? " (use where for masks)" : "");
    }
}

static void parse_slice(krf__parser *p, krf__item *it) {
    parse_bound(p, &it->range.start);
    if (!krf__parse_skip(p, ':')) {
        krf__parse_expected(p, "':'");
    }
    parse_bound(p, &it->range.stop);
    if (krf__parse_skip(p, ':')) {
        parse_bound(p, &it->range.step);
        if (it->range.step == 0) {
            krf__parse_fail(p, KRF_E_PARSE, it->at, "the step of a slice is not 0");
        }
    }
}

uint32_t *krf__parse_item(krf__parser *p, krf__subscript *s) {
    if (s->n == KRF__PARSE_ITEMS) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a rank is at most %d", KRF_MAX_RANK);
        return NULL;
    }
    krf__item *it = &s->items[s->n++];
    *it = (krf__item){.kind = KRF__ITEM_SLICE, .at = p->token.start, .range = {KRF_NONE, KRF_NONE, 1}};
    if (krf__token_is(&p->token, "np") && krf__parse_peek(p).kind == '.') { /* np.newaxis */
        krf__parse_next(p);
        krf__parse_next(p);
    }
    bool none = krf__token_is(&p->token, "None") || krf__token_is(&p->token, "newaxis");
    if (krf__parse_skip(p, KRF__TOKEN_ELLIPSIS)) {
        it->kind = KRF__ITEM_ELLIPSIS;
        if (s->dots++ > 0) {
            krf__parse_fail(p, KRF_E_PARSE, it->at, "one ... is enough");
        }
        return NULL;
    }
    if (none && krf__parse_peek(p).kind != ':') {
        krf__parse_next(p);
        it->kind = KRF__ITEM_NONE;
        return NULL;
    }
    if (p->token.kind == KRF__TOKEN_REAL) {
        krf__parse_fail(p, KRF_E_PARSE, it->at, "a subscript is made of integers, slices, None, ... and arrays of integers");
    }
    if (p->token.kind == ',' || p->token.kind == ']') {
        krf__parse_expected(p, "an integer or a slice");
    }
    if (p->failed) {
        return NULL;
    }
    if (at_slice(p)) {
        parse_slice(p, it);
        return NULL;
    }
    if (at_integer(p)) {
        it->kind = KRF__ITEM_INTEGER;
        krf__parse_int(p, &it->range.start);
        return NULL;
    }
    it->kind = KRF__ITEM_ARRAY;
    return &it->id;
}

/* The range that an integer index stands for; false (and the error) when the axis has no such element. */
static bool index_range(krf__parser *p, const krf__item *it, int axis, int64_t extent, krf_range *range) {
    int64_t index = it->range.start < 0 ? it->range.start + extent : it->range.start;
    if (index < 0 || index >= extent) {
        krf__parse_fail(p, KRF_E_SHAPE, it->at, "index %lld is out of range for axis %d of extent %lld",
                        (long long)it->range.start, axis, (long long)extent);
        return false;
    }
    *range = (krf_range){index, index + 1, 1};
    return true;
}

/* As NumPy has it: integers count as arrays where there are any, and the places' axes stand where the arrays stood if these are side by side. */
static void find_arrays(const krf__item *items, int n, krf__subscript *s) {
    int first = -1, last = -1, advanced = 0, kept = 0;
    for (int i = 0; i < n; i++) {
        if (items[i].kind == KRF__ITEM_ARRAY || items[i].kind == KRF__ITEM_INTEGER) {
            first = first < 0 ? i : first;
            last = i;
            advanced++;
        }
    }
    s->places = 0;
    for (int i = 0; i < first && last - first + 1 == advanced; i++) {
        kept += items[i].kind == KRF__ITEM_SLICE || items[i].kind == KRF__ITEM_NONE;
        kept += items[i].kind == KRF__ITEM_ELLIPSIS ? (int)items[i].range.start : 0;
    }
    s->places = kept;
}

/* items: with one ellipsis, whose range starts with the number of its axes. */
static bool resolve(krf__parser *p, uint32_t x, const krf__item *items, int n, krf__subscript *s) {
    int axis = 0;
    for (int i = 0; i < n; i++) {
        int axes = items[i].kind == KRF__ITEM_NONE ? 0 : items[i].kind == KRF__ITEM_ELLIPSIS ? (int)items[i].range.start : 1;
        s->reshaped |= items[i].kind == KRF__ITEM_NONE || items[i].kind == KRF__ITEM_INTEGER;
        if (items[i].kind == KRF__ITEM_NONE) {
            s->from[s->kept++] = -1;
        }
        if (items[i].kind == KRF__ITEM_ARRAY) {
            s->axes[s->n_arrays] = s->kept;
            s->ids[s->n_arrays++] = items[i].id;
        }
        for (; axes > 0; axes--, axis++) {
            s->ranges[axis] = items[i].kind == KRF__ITEM_SLICE ? items[i].range : (krf_range){KRF_NONE, KRF_NONE, 1};
            if (items[i].kind != KRF__ITEM_INTEGER) {
                s->from[s->kept++] = axis;
            } else if (!index_range(p, &items[i], axis, krf__shape_of(p->g, x)[axis], &s->ranges[axis])) {
                return false;
            }
        }
    }
    find_arrays(items, n, s);
    return true;
}

bool krf__parse_resolve(krf__parser *p, uint32_t x, krf__subscript *s) {
    krf__item *items = s->items;
    int rank = krf__node_of(p->g, x)->rank, given = 0, dots = -1;
    for (int i = 0; i < s->n; i++) {
        given += items[i].kind == KRF__ITEM_SLICE || items[i].kind == KRF__ITEM_INTEGER || items[i].kind == KRF__ITEM_ARRAY;
        dots = items[i].kind == KRF__ITEM_ELLIPSIS ? i : dots;
    }
    if (given > rank) {
        krf__parse_fail(p, KRF_E_SHAPE, s->at, "%d indices for rank %d", given, rank);
    }
    if (p->failed) {
        return false;
    }
    if (dots < 0) {
        dots = s->n;
        items[s->n++] = (krf__item){.kind = KRF__ITEM_ELLIPSIS};
    }
    items[dots].range.start = rank - given;
    if (!resolve(p, x, items, s->n, s)) {
        return false;
    }
    if (s->kept > KRF_MAX_RANK) {
        krf__parse_fail(p, KRF_E_SHAPE, s->at, "a rank is at most %d", KRF_MAX_RANK);
    }
    return !p->failed;
}

uint32_t krf__parse_subscripted(krf__parser *p, uint32_t x, const krf__subscript *s) {
    const char *at = s->at;
    x = krf__parse_built(p, at, krf__build_slice(p->g, x, krf__node_of(p->g, x)->rank, s->ranges));
    if (x != 0 && s->reshaped) {
        int64_t shape[KRF_MAX_RANK];
        for (int i = 0; i < s->kept; i++) {
            shape[i] = s->from[i] < 0 ? 1 : krf__shape_of(p->g, x)[s->from[i]];
        }
        x = krf__parse_built(p, at, krf__build_reshape(p->g, x, s->kept, shape));
    }
    return x == 0 || s->n_arrays == 0 ? x : krf__parse_built(p, at, krf__build_index(p->g, x, s->n_arrays, s->axes, s->ids, s->places));
}

bool krf__parse_update_name(krf__parser *p, const krf__subscript *s, krf__op *op) {
    static const struct {
        const char *name;
        krf__op op;
    } updates[] = {{"set", KRF__poison}, {"add", KRF__add}, {"multiply", KRF__multiply}, {"min", KRF__minimum}, {"max", KRF__maximum}};
    bool known = false;
    if (s->n_arrays > 0) {
        krf__parse_fail(p, KRF_E_PARSE, s->at, "at takes slices and integers; arrays of integers may name a place twice");
    }
    const bool dot = krf__parse_skip(p, '.');
    for (size_t i = 0; dot && i < sizeof updates / sizeof *updates && !known; i++) {
        known = krf__token_is(&p->token, updates[i].name);
        *op = updates[i].op;
    }
    if (!known) {
        krf__parse_expected(p, "set, add, multiply, min or max");
        return false;
    }
    krf__parse_next(p);
    if (!p->failed && p->token.kind != '(') {
        krf__parse_expected(p, "'('");
    }
    return !p->failed;
}

/* The value has the shape that x[slices] has, integers' axes and all. */
uint32_t krf__parse_updated(krf__parser *p, uint32_t x, const krf__subscript *s, krf__op op, uint32_t value) {
    krf_graph *g = p->g;
    const char *at = s->at;
    int rank = krf__node_of(g, x)->rank;
    uint32_t slice = krf__parse_built(p, at, krf__build_slice(g, x, rank, s->ranges));
    int64_t shape[KRF_MAX_RANK], spread[KRF_MAX_RANK];
    if (slice == 0) {
        return 0;
    }
    for (int i = 0; i < s->kept; i++) {
        shape[i] = s->from[i] < 0 ? 1 : krf__shape_of(g, slice)[s->from[i]];
    }
    memcpy(spread, krf__shape_of(g, slice), (size_t)rank * sizeof *spread);
    value = krf__build_broadcast_to(g, krf__build_given(g, "at", value, (krf_dtype)krf__node_of(g, x)->dtype), s->kept, shape);
    value = krf__parse_built(p, at, krf__build_reshape(g, value, rank, spread));
    if (value != 0 && op != KRF__poison) {
        value = krf__build(g, op, 2, (uint32_t[]){slice, value});
    }
    return value == 0 ? krf__parse_built(p, at, 0) : krf__parse_built(p, at, krf__build_set_slice(g, x, rank, s->ranges, value));
}
