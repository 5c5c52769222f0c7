/* Integers that are no operands (axes, shapes) and subscripts: x[1:-1, ::2, None, ..., 3, i]. A subscript is one slice
 * over all axes, then a reshape where an integer takes an axis away or None adds one, then arrays index what is left. Called by parse_expr.c and
 * parse_call.c. */
#include "ir/build_movement.h"
#include "ir/parser.h"

#include <limits.h>
#include <string.h>

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

typedef enum item_kind { ITEM_SLICE, ITEM_INTEGER, ITEM_NONE, ITEM_ELLIPSIS, ITEM_ARRAY } item_kind;

typedef struct item {
    item_kind kind;
    const char *at;
    krf_range range; /* integer: its start */
    uint32_t id;     /* array */
} item;

/* A bound of a slice, or KRF_NONE where none stands. */
static void parse_bound(krf__parser *p, int64_t *bound) {
    if (p->failed || p->token.kind == ':' || p->token.kind == ',' || p->token.kind == ']' || skip_none(p)) {
        return;
    }
    krf__parse_int(p, bound);
}

/* Whether an expression stands here, rather than an integer or a slice. */
static bool at_expression(const krf__parser *p) {
    krf__lexer ahead = p->lexer;
    krf__token t = p->token;
    if (t.kind == '-' || t.kind == '+') {
        t = krf__lex(&ahead);
    }
    if (t.kind != KRF__TOKEN_INT && t.kind != KRF__TOKEN_NAME && t.kind != ':') {
        return t.kind == '(' || t.kind == '-' || t.kind == '+' || t.kind == '~';
    }
    if (t.kind == ':' || krf__token_is(&t, "None")) {
        return false;
    }
    if (t.kind == KRF__TOKEN_NAME && krf__map_get(&p->extents, t.start, t.length) == NULL) {
        return true;
    }
    int next = krf__lex(&ahead).kind;
    return next != ',' && next != ']' && next != ':';
}

static void parse_array(krf__parser *p, item *it) {
    it->kind = ITEM_ARRAY;
    it->id = krf__parse_expression(p);
    const krf__node *n = krf__node_of(p->g, it->id);
    if (it->id != 0 && n->op == KRF__constant && n->weak && krf__is_int((krf_dtype)n->dtype)) {
        it->kind = ITEM_INTEGER;
        it->range.start = krf__bits_to_i64(KRF_I64, n->value);
    } else if (!p->failed && p->token.kind == ':') {
        krf__parse_fail(p, KRF_E_PARSE, it->at, "the bounds of a slice are integers");
    } else if (it->id != 0 && !krf__is_int((krf_dtype)n->dtype)) {
        krf__parse_fail(p, KRF_E_DTYPE, it->at, "a subscript is made of integers, slices, None, ... and arrays of integers; this is %s%s",
                        krf_dtype_name((krf_dtype)n->dtype), n->dtype == KRF_BOOL ? " (use where for masks)" : "");
    }
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
    if (p->token.kind == KRF__TOKEN_REAL) {
        krf__parse_fail(p, KRF_E_PARSE, it->at, "a subscript is made of integers, slices, None, ... and arrays of integers");
    }
    if (!p->failed && at_expression(p)) {
        parse_array(p, it);
        return;
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

/* What a subscript says of an array: a slice over all axes; the shape after that; and which of those axes arrays index. */
typedef struct subscript {
    krf_range ranges[KRF_MAX_RANK];
    int kept, from[KRF__PARSE_ITEMS + KRF_MAX_RANK]; /* the axis that each axis of the result comes from; -1: None */
    bool reshaped;
    int n_arrays, axes[KRF_MAX_RANK], at; /* where the places' axes come to stand */
    uint32_t ids[KRF_MAX_RANK];
} subscript;

/* As NumPy has it: integers count as arrays where there are any, and the places' axes stand where the arrays stood if these are side by side. */
static void find_arrays(const item *items, int n, subscript *s) {
    int first = -1, last = -1, advanced = 0, kept = 0;
    for (int i = 0; i < n; i++) {
        if (items[i].kind == ITEM_ARRAY || items[i].kind == ITEM_INTEGER) {
            first = first < 0 ? i : first;
            last = i;
            advanced++;
        }
    }
    s->at = 0;
    for (int i = 0; i < first && last - first + 1 == advanced; i++) {
        kept += items[i].kind == ITEM_SLICE || items[i].kind == ITEM_NONE;
        kept += items[i].kind == ITEM_ELLIPSIS ? (int)items[i].range.start : 0;
    }
    s->at = kept;
}

/* items: with one ellipsis, whose range starts with the number of its axes. */
static bool resolve(krf__parser *p, uint32_t x, const item *items, int n, subscript *s) {
    int axis = 0;
    for (int i = 0; i < n; i++) {
        int axes = items[i].kind == ITEM_NONE ? 0 : items[i].kind == ITEM_ELLIPSIS ? (int)items[i].range.start : 1;
        s->reshaped |= items[i].kind == ITEM_NONE || items[i].kind == ITEM_INTEGER;
        if (items[i].kind == ITEM_NONE) {
            s->from[s->kept++] = -1;
        }
        if (items[i].kind == ITEM_ARRAY) {
            s->axes[s->n_arrays] = s->kept;
            s->ids[s->n_arrays++] = items[i].id;
        }
        for (; axes > 0; axes--, axis++) {
            s->ranges[axis] = items[i].kind == ITEM_SLICE ? items[i].range : (krf_range){KRF_NONE, KRF_NONE, 1};
            if (items[i].kind != ITEM_INTEGER) {
                s->from[s->kept++] = axis;
            } else if (!index_range(p, &items[i], axis, krf__shape_of(p->g, x)[axis], &s->ranges[axis])) {
                return false;
            }
        }
    }
    find_arrays(items, n, s);
    return true;
}

/* At '['. False on failure. */
static bool parse_subscript(krf__parser *p, uint32_t x, subscript *s) {
    const char *at = p->token.start;
    item items[KRF__PARSE_ITEMS + 1]; /* and the ... that is not written */
    int n = parse_items(p, items), rank = krf__node_of(p->g, x)->rank, given = 0, dots = -1;
    *s = (subscript){0};
    for (int i = 0; i < n; i++) {
        given += items[i].kind == ITEM_SLICE || items[i].kind == ITEM_INTEGER || items[i].kind == ITEM_ARRAY;
        dots = items[i].kind == ITEM_ELLIPSIS ? i : dots;
    }
    if (!p->failed && given > rank) {
        krf__parse_fail(p, KRF_E_SHAPE, at, "%d indices for rank %d", given, rank);
    }
    if (p->failed) {
        return false;
    }
    if (dots < 0) {
        dots = n;
        items[n++] = (item){.kind = ITEM_ELLIPSIS};
    }
    items[dots].range.start = rank - given;
    if (!resolve(p, x, items, n, s)) {
        return false;
    }
    if (s->kept > KRF_MAX_RANK) {
        krf__parse_fail(p, KRF_E_SHAPE, at, "a rank is at most %d", KRF_MAX_RANK);
    }
    return !p->failed;
}

uint32_t krf__parse_subscript(krf__parser *p, uint32_t x) {
    const char *at = p->token.start;
    subscript s;
    if (!parse_subscript(p, x, &s)) {
        return 0;
    }
    x = krf__parse_built(p, at, krf__build_slice(p->g, x, krf__node_of(p->g, x)->rank, s.ranges));
    if (x != 0 && s.reshaped) {
        int64_t shape[KRF_MAX_RANK];
        for (int i = 0; i < s.kept; i++) {
            shape[i] = s.from[i] < 0 ? 1 : krf__shape_of(p->g, x)[s.from[i]];
        }
        x = krf__parse_built(p, at, krf__build_reshape(p->g, x, s.kept, shape));
    }
    return x == 0 || s.n_arrays == 0 ? x : krf__parse_built(p, at, krf__build_index(p->g, x, s.n_arrays, s.axes, s.ids, s.at));
}

/* Behind x.at, at '[': x.at[slices].set(v) and its kin. The value has the shape that x[slices] has, integers' axes and all. */
uint32_t krf__parse_update(krf__parser *p, uint32_t x) {
    static const struct {
        const char *name;
        krf__op op;
    } updates[] = {{"set", KRF__poison}, {"add", KRF__add}, {"multiply", KRF__multiply}, {"min", KRF__minimum}, {"max", KRF__maximum}};
    const char *at = p->token.start;
    krf__op op = KRF__poison;
    subscript s;
    bool known = false;
    if (p->failed || p->token.kind != '[') {
        return krf__parse_expected(p, "a subscript: x.at[1:3].set(v)");
    }
    if (!parse_subscript(p, x, &s)) {
        return 0;
    }
    if (s.n_arrays > 0) {
        return krf__parse_fail(p, KRF_E_PARSE, at, "at takes slices and integers; arrays of integers may name a place twice");
    }
    if (!krf__parse_skip(p, '.')) {
        return krf__parse_expected(p, "set, add, multiply, min or max");
    }
    krf__token name = p->token;
    for (size_t i = 0; i < sizeof updates / sizeof *updates && !known; i++) {
        known = krf__token_is(&name, updates[i].name);
        op = updates[i].op;
    }
    if (!known) {
        return krf__parse_expected(p, "set, add, multiply, min or max");
    }
    krf__parse_next(p);
    krf__token open = p->token;
    if (!krf__parse_skip(p, '(')) {
        return krf__parse_expected(p, "'('");
    }
    uint32_t value = krf__parse_expression(p);
    krf__parse_skip(p, ',');
    if (!krf__parse_close(p, &open)) {
        return 0;
    }
    krf_graph *g = p->g;
    int rank = krf__node_of(g, x)->rank;
    uint32_t slice = krf__parse_built(p, at, krf__build_slice(g, x, rank, s.ranges));
    int64_t shape[KRF_MAX_RANK], spread[KRF_MAX_RANK];
    if (slice == 0) {
        return 0;
    }
    for (int i = 0; i < s.kept; i++) {
        shape[i] = s.from[i] < 0 ? 1 : krf__shape_of(g, slice)[s.from[i]];
    }
    memcpy(spread, krf__shape_of(g, slice), (size_t)rank * sizeof *spread);
    value = krf__build_broadcast_to(g, krf__build_cast(g, value, (krf_dtype)krf__node_of(g, x)->dtype), s.kept, shape);
    value = krf__parse_built(p, at, krf__build_reshape(g, value, rank, spread));
    if (value != 0 && op != KRF__poison) {
        value = krf__build(g, op, 2, (uint32_t[]){slice, value});
    }
    return value == 0 ? krf__parse_built(p, at, 0) : krf__parse_built(p, at, krf__build_set_slice(g, x, rank, s.ranges, value));
}
