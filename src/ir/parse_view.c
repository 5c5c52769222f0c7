/* Integers that are no operands (axes, shapes) and subscripts: x[1:-1, ::2, None, ..., 3]. A subscript is one slice
 * over all axes, then a reshape where an integer takes an axis away or None adds one. Called by parse_expr.c and
 * parse_call.c. */
#include "ir/parser.h"

#include <limits.h>

bool krf__parse_int(krf__parser *p, int64_t *value) {
    if (p->failed) {
        return false;
    }
    bool negative = p->token.kind == '-';
    if (negative || p->token.kind == '+') {
        krf__parse_next(p);
    }
    krf__token t = p->token;
    const krf__symbol *extent = t.kind == KRF__TOKEN_NAME ? krf__parse_find(p, &p->extents, &t) : NULL;
    if (p->failed || (t.kind != KRF__TOKEN_INT && extent == NULL)) {
        krf__parse_expected(p, "an integer");
        return false;
    }
    if (extent == NULL && t.integer > INT64_MAX) {
        krf__parse_fail(p, KRF_E_PARSE, t.start, "an integer beyond 64 bits");
        return false;
    }
    int64_t magnitude = extent != NULL ? extent->extent : (int64_t)t.integer;
    *value = negative ? -magnitude : magnitude;
    krf__parse_next(p);
    return !p->failed;
}

static bool skip_none(krf__parser *p) {
    bool none = krf__token_is(&p->token, "None");
    if (none && !p->failed) {
        krf__parse_next(p);
    }
    return none && !p->failed;
}

bool krf__parse_ints(krf__parser *p, krf__ints *ints, bool items_none) {
    *ints = (krf__ints){0};
    krf__token open = p->token;
    if (p->failed) {
        return false;
    }
    if (skip_none(p)) {
        ints->none = true;
        return true;
    }
    if (open.kind != '(' && open.kind != '[') {
        ints->n = 1;
        return krf__parse_int(p, &ints->of[0]);
    }
    krf__parse_next(p);
    while (!p->failed && p->token.kind != ')' && p->token.kind != ']') {
        if (ints->n == KRF_MAX_RANK) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a rank is at most %d", KRF_MAX_RANK);
            return false;
        }
        if (items_none && skip_none(p)) {
            ints->of[ints->n] = KRF_NONE;
        } else {
            krf__parse_int(p, &ints->of[ints->n]);
        }
        ints->n++;
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    return krf__parse_close(p, &open);
}

bool krf__parse_axes(krf__parser *p, const char *at, const krf__ints *ints, int axes[KRF_MAX_RANK]) {
    for (int i = 0; i < ints->n; i++) {
        if (ints->of[i] < INT_MIN / 2 || ints->of[i] > INT_MAX / 2) {
            krf__parse_fail(p, KRF_E_ARGUMENT, at, "axis %lld is out of range", (long long)ints->of[i]);
            return false;
        }
        axes[i] = (int)ints->of[i];
    }
    return !p->failed;
}

typedef enum item_kind { ITEM_SLICE, ITEM_INTEGER, ITEM_NONE, ITEM_ELLIPSIS } item_kind;

typedef struct item {
    item_kind kind;
    const char *at;
    krf_range range; /* integer: its start */
} item;

/* A bound of a slice, or KRF_NONE where none stands. */
static void parse_bound(krf__parser *p, int64_t *bound) {
    if (p->failed || p->token.kind == ':' || p->token.kind == ',' || p->token.kind == ']' || skip_none(p)) {
        return;
    }
    krf__parse_int(p, bound);
}

static void parse_item(krf__parser *p, item *it) {
    *it = (item){.kind = ITEM_SLICE, .at = p->token.start, .range = {KRF_NONE, KRF_NONE, 1}};
    if (krf__token_is(&p->token, "np") && krf__parse_peek(p).kind == '.') { /* np.newaxis */
        krf__parse_next(p);
        krf__parse_next(p);
    }
    bool none = krf__token_is(&p->token, "None") || krf__token_is(&p->token, "newaxis");
    if (krf__parse_skip(p, KRF__TOKEN_ELLIPSIS)) {
        it->kind = ITEM_ELLIPSIS;
        return;
    }
    if (none && krf__parse_peek(p).kind != ':') {
        krf__parse_next(p);
        it->kind = ITEM_NONE;
        return;
    }
    bool name = p->token.kind == KRF__TOKEN_NAME && !none && krf__parse_find(p, &p->extents, &p->token) == NULL;
    if (p->token.kind == KRF__TOKEN_REAL || name) {
        krf__parse_fail(p, KRF_E_PARSE, it->at, "a subscript is made of integers, slices, None and ...");
    }
    parse_bound(p, &it->range.start);
    if (!krf__parse_skip(p, ':')) {
        it->kind = ITEM_INTEGER;
        if (it->range.start == KRF_NONE) {
            krf__parse_expected(p, "an integer or a slice");
        }
        return;
    }
    parse_bound(p, &it->range.stop);
    if (krf__parse_skip(p, ':')) {
        parse_bound(p, &it->range.step);
        if (it->range.step == 0) {
            krf__parse_fail(p, KRF_E_PARSE, it->at, "the step of a slice is not 0");
        }
    }
}

static int parse_items(krf__parser *p, item items[KRF__PARSE_ITEMS]) {
    krf__token open = p->token;
    int n = 0, dots = 0;
    krf__parse_next(p);
    while (!p->failed && (p->token.kind != ']' || n == 0)) {
        if (n == KRF__PARSE_ITEMS) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a rank is at most %d", KRF_MAX_RANK);
            return 0;
        }
        parse_item(p, &items[n]);
        dots += items[n].kind == ITEM_ELLIPSIS;
        if (dots > 1) {
            krf__parse_fail(p, KRF_E_PARSE, items[n].at, "one ... is enough");
        }
        n++;
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    return krf__parse_close(p, &open) ? n : 0;
}

/* The range that an integer index stands for; false (and the error) when the axis has no such element. */
static bool index_range(krf__parser *p, const item *it, int axis, int64_t extent, krf_range *range) {
    int64_t index = it->range.start < 0 ? it->range.start + extent : it->range.start;
    if (index < 0 || index >= extent) {
        krf__parse_fail(p, KRF_E_SHAPE, it->at, "index %lld is out of range for axis %d of extent %lld",
                        (long long)it->range.start, axis, (long long)extent);
        return false;
    }
    *range = (krf_range){index, index + 1, 1};
    return true;
}

uint32_t krf__parse_subscript(krf__parser *p, uint32_t x) {
    const char *at = p->token.start;
    item items[KRF__PARSE_ITEMS + 1]; /* and the ... that is not written */
    int n = parse_items(p, items), rank = krf__node_of(p->g, x)->rank, given = 0;
    bool dots = false;
    if (p->failed) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        given += items[i].kind == ITEM_SLICE || items[i].kind == ITEM_INTEGER;
        dots |= items[i].kind == ITEM_ELLIPSIS;
    }
    if (given > rank) {
        return krf__parse_fail(p, KRF_E_SHAPE, at, "%d indices for rank %d", given, rank);
    }
    if (!dots) {
        items[n++] = (item){.kind = ITEM_ELLIPSIS};
    }
    krf_range ranges[KRF_MAX_RANK];
    int axis = 0, kept = 0,
        from[KRF__PARSE_ITEMS + KRF_MAX_RANK]; /* the axis that each axis of the result comes from; -1: None */
    bool reshaped = false;
    for (int i = 0; i < n; i++) {
        int axes = items[i].kind == ITEM_NONE ? 0 : items[i].kind == ITEM_ELLIPSIS ? rank - given : 1;
        reshaped |= items[i].kind == ITEM_NONE || items[i].kind == ITEM_INTEGER;
        if (axes == 0 && items[i].kind == ITEM_NONE) {
            from[kept++] = -1;
        }
        for (; axes > 0; axes--, axis++) {
            ranges[axis] = items[i].kind == ITEM_SLICE ? items[i].range : (krf_range){KRF_NONE, KRF_NONE, 1};
            if (items[i].kind != ITEM_INTEGER) {
                from[kept++] = axis;
            } else if (!index_range(p, &items[i], axis, krf__shape_of(p->g, x)[axis], &ranges[axis])) {
                return 0;
            }
        }
    }
    if (kept > KRF_MAX_RANK) {
        return krf__parse_fail(p, KRF_E_SHAPE, at, "a rank is at most %d", KRF_MAX_RANK);
    }
    x = krf__parse_built(p, at, krf__build_slice(p->g, x, rank, ranges));
    if (x == 0 || !reshaped) {
        return x;
    }
    int64_t shape[KRF_MAX_RANK];
    for (int i = 0; i < kept; i++) {
        shape[i] = from[i] < 0 ? 1 : krf__shape_of(p->g, x)[from[i]];
    }
    return krf__parse_built(p, at, krf__build_reshape(p->g, x, kept, shape));
}
