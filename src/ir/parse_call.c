/* Calls: f(x, y), x.f(y) and np.f(x, y) are the same. Elementwise functions and reductions come from ops.def; views and
 * casts, whose arguments are not all operands, from the table here. Called by parse_expr.c. */
#include "ir/build_composed.h"
#include "ir/build_movement.h"
#include "ir/parser.h"

#include <string.h>

typedef enum function_kind {
    FUNCTION_NONE,
    FUNCTION_ELEMENTWISE,
    FUNCTION_REDUCE,
    FUNCTION_COMPOSED, /* var(x, axis=0) */
    FUNCTION_MAKE,     /* arange(n) */
    FUNCTION_MOVE,     /* roll(x, 1) */
    FUNCTION_RANDOM,   /* random_uniform(n, key) */
    FUNCTION_GRAD,     /* grad(y, x) */
    FUNCTION_DTYPE, /* f32(x) */
    FUNCTION_CAST,
    FUNCTION_TRANSPOSE,
    FUNCTION_RESHAPE,
    FUNCTION_BROADCAST_TO,
    FUNCTION_EXPAND_DIMS,
    FUNCTION_SQUEEZE,
    FUNCTION_FLIP,
    FUNCTION_SLICE
} function_kind;

/* keyword: what the second argument is called; NULL: not given by keyword. */
static const struct {
    const char *name;
    function_kind kind;
    const char *keyword;
} views[] = {
    {"transpose", FUNCTION_TRANSPOSE, "axes"},
    {"permute_dims", FUNCTION_TRANSPOSE, "axes"},
    {"reshape", FUNCTION_RESHAPE, "shape"},
    {"broadcast_to", FUNCTION_BROADCAST_TO, "shape"},
    {"expand_dims", FUNCTION_EXPAND_DIMS, "axis"},
    {"squeeze", FUNCTION_SQUEEZE, "axis"},
    {"flip", FUNCTION_FLIP, "axis"},
    {"slice", FUNCTION_SLICE, NULL},
    {"cast", FUNCTION_CAST, "dtype"},
    {"astype", FUNCTION_CAST, "dtype"},
};
enum { N_VIEWS = sizeof views / sizeof *views };

/* Functions whose arguments have files of their own. */
static const struct {
    function_kind kind;
    const char *(*name)(size_t i);
} families[] = {{FUNCTION_MAKE, krf__parse_maker_name},
                {FUNCTION_MOVE, krf__parse_mover_name},
                {FUNCTION_RANDOM, krf__parse_random_name},
                {FUNCTION_GRAD, krf__parse_grad_name}};
enum { N_FAMILIES = sizeof families / sizeof *families };

typedef struct function {
    krf__token name;
    function_kind kind;
    krf__op op;
    size_t which; /* of the composed reductions, the makers or the movers */
    krf_dtype dtype;
    const char *keyword;
    krf__token open; /* its bracket */
    uint32_t self;
} function;

static function find_function(const krf__token *name) {
    function f = {.name = *name, .kind = FUNCTION_NONE};
    for (size_t i = 0; i < N_VIEWS; i++) {
        if (krf__token_is(name, views[i].name)) {
            f.kind = views[i].kind;
            f.keyword = views[i].keyword;
            return f;
        }
    }
    for (size_t k = 0; k < N_FAMILIES; k++) {
        for (size_t i = 0; families[k].name(i) != NULL; i++) {
            if (krf__token_is(name, families[k].name(i))) {
                f.kind = families[k].kind;
                f.which = i;
                return f;
            }
        }
    }
    for (size_t i = 0; i < KRF__COMPOSED_COUNT; i++) {
        if (krf__token_is(name, krf__composed_name((krf__composed)i))) {
            f.kind = FUNCTION_COMPOSED;
            f.which = i;
            return f;
        }
    }
    f.op = krf__op_from_name(name->start, name->length);
    krf__op_class class_ = krf__op_info_of(f.op)->class_;
    if (f.op != KRF__poison && class_ != KRF__CLASS_NODE) {
        f.kind = krf__op_folds(f.op) ? FUNCTION_REDUCE : FUNCTION_ELEMENTWISE;
    } else if (krf__parse_token_dtype(name, &f.dtype)) {
        f.kind = FUNCTION_DTYPE;
    }
    return f;
}

bool krf__parse_is_function(const krf__token *name) { return find_function(name).kind != FUNCTION_NONE; }

const char *krf__parse_function_name(size_t i) {
    if (i < N_VIEWS) {
        return views[i].name;
    }
    size_t n = N_VIEWS;
    for (size_t family = 0; family < N_FAMILIES; family++) {
        for (size_t k = 0; families[family].name(k) != NULL; k++) {
            if (n++ == i) {
                return families[family].name(k);
            }
        }
    }
    for (size_t k = 0; k < KRF__COMPOSED_COUNT; k++) {
        if (n++ == i) {
            return krf__composed_name((krf__composed)k);
        }
    }
    for (unsigned op = 0; op < KRF__OP_COUNT; op++) {
        const krf__op_info *info = krf__op_info_of((krf__op)op);
        if (info->class_ != KRF__CLASS_NODE && !info->hidden && n++ == i) {
            return info->name;
        }
    }
    return NULL;
}

bool krf__parse_token_dtype(const krf__token *name, krf_dtype *dtype) {
    char text[32];
    if (name->kind != KRF__TOKEN_NAME || name->length >= sizeof text) {
        return false;
    }
    memcpy(text, name->start, name->length);
    text[name->length] = '\0';
    return krf_dtype_from_name(text, dtype);
}

bool krf__parse_dtype(krf__parser *p, krf_dtype *dtype) {
    if (krf__token_is(&p->token, "np") && krf__parse_peek(p).kind == '.') {
        krf__parse_next(p);
        krf__parse_next(p);
    }
    if (p->failed || p->token.kind != KRF__TOKEN_NAME) {
        krf__parse_expected(p, "a dtype");
    } else if (krf__parse_token_dtype(&p->token, dtype)) {
        krf__parse_next(p);
    } else {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s is not a dtype", KRF__SHOWN(&p->token));
    }
    return !p->failed;
}

/* Whether the current token is the name of a keyword argument; goes behind its `=`. */
static bool at_keyword(krf__parser *p) {
    return !p->failed && p->token.kind == KRF__TOKEN_NAME && krf__parse_peek(p).kind == '=';
}

static bool skip_keyword(krf__parser *p, const char *name) {
    if (!at_keyword(p) || !krf__token_is(&p->token, name)) {
        return false;
    }
    krf__parse_next(p);
    krf__parse_next(p);
    return !p->failed;
}

static void refuse_keyword(krf__parser *p, const function *f) {
    krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s takes no keyword %.*s here", KRF__SHOWN(&f->name),
                    KRF__SHOWN(&p->token));
}

/* The operand of a reduction, view or cast, with the comma behind it. */
static uint32_t parse_operand(krf__parser *p, const function *f) {
    if (f->self != 0) {
        return f->self;
    }
    if (!p->failed && p->token.kind == ')') {
        return krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s needs an operand", KRF__SHOWN(&f->name));
    }
    uint32_t x = krf__parse_expression(p);
    if (!p->failed && p->token.kind != ')' && !krf__parse_skip(p, ',')) {
        krf__parse_expected(p, "',' or ')'");
    }
    return x;
}

static uint32_t call_elementwise(krf__parser *p, const function *f) {
    int arity = krf__op_info_of(f->op)->arity, n = 0;
    uint32_t args[3] = {0};
    if (f->self != 0) {
        args[n++] = f->self;
    }
    while (!p->failed && p->token.kind != ')') {
        if (at_keyword(p)) {
            refuse_keyword(p, f);
        } else if (n == arity) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s takes %d operand%s, not more", KRF__SHOWN(&f->name),
                            arity, arity == 1 ? "" : "s");
        } else {
            args[n++] = krf__parse_expression(p);
        }
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    if (!krf__parse_close(p, &f->open)) {
        return 0;
    }
    if (n < arity) {
        return krf__parse_fail(p, KRF_E_PARSE, f->name.start, "%.*s takes %d operand%s, not %d", KRF__SHOWN(&f->name),
                               arity, arity == 1 ? "" : "s", n);
    }
    return krf__parse_built(p, f->name.start, krf__build(p->g, f->op, arity, args));
}

static bool parse_flag(krf__parser *p) {
    bool value = krf__token_is(&p->token, "True");
    if (!value && !krf__token_is(&p->token, "False")) {
        krf__parse_expected(p, "True or False");
    }
    krf__parse_next(p);
    return value;
}

/* Python's max(x, y) is not ours: say so. */
static void parse_axis(krf__parser *p, const function *f, krf__ints *axes) {
    bool two = f->kind == FUNCTION_REDUCE && (f->op == KRF__max || f->op == KRF__min) && p->token.kind == KRF__TOKEN_NAME
               && krf__parse_find(p, &p->values, &p->token) != NULL;
    if (two) {
        const char *name = f->op == KRF__max ? "max" : "min";
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s reduces over axes: the larger or smaller of two is %simum",
                        name, name);
    }
    krf__parse_ints(p, axes, false);
}

static uint32_t call_reduce(krf__parser *p, const function *f) {
    bool keepdims = false, has_dtype = false, has_axis = false;
    bool composed = f->kind == FUNCTION_COMPOSED;
    bool scan = !composed && krf__op_info_of(f->op)->class_ == KRF__CLASS_SCAN;
    krf__op folded = composed ? KRF__poison : krf__op_reduction(f->op);
    bool casts = folded == KRF__sum || folded == KRF__prod || folded == KRF__mean;
    bool counts = composed && krf__composed_has_ddof((krf__composed)f->which);
    int64_t ddof = 0;
    krf_dtype dtype = KRF_F64;
    krf__ints list = {.none = true};
    uint32_t x = parse_operand(p, f);
    while (!p->failed && p->token.kind != ')') {
        if (!scan && skip_keyword(p, "keepdims")) {
            keepdims = parse_flag(p);
        } else if (casts && skip_keyword(p, "dtype")) {
            has_dtype = krf__parse_dtype(p, &dtype);
        } else if (counts && (skip_keyword(p, "ddof") || skip_keyword(p, "correction"))) {
            krf__parse_int(p, &ddof);
        } else if (!has_axis && (skip_keyword(p, "axis") || !at_keyword(p))) {
            has_axis = true;
            parse_axis(p, f, &list);
        } else if (at_keyword(p)) {
            refuse_keyword(p, f);
        } else {
            krf__parse_expected(p, "a keyword");
        }
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    int axes[KRF_MAX_RANK];
    if (!krf__parse_close(p, &f->open) || !krf__parse_axes(p, f->name.start, &list, axes)) {
        return 0;
    }
    if (has_dtype) {
        x = krf__parse_built(p, f->name.start, krf__build_cast(p->g, x, dtype));
    }
    if (composed) {
        krf__axes reduced = {list.n, list.none ? NULL : axes, keepdims};
        return krf__parse_built(p, f->name.start, krf__build_composed(p->g, (krf__composed)f->which, x, &reduced, (double)ddof));
    }
    if (x == 0) {
        return 0;
    }
    if (scan && list.n > 1) {
        return krf__parse_fail(p, KRF_E_PARSE, f->name.start, "%.*s runs along one axis", KRF__SHOWN(&f->name));
    }
    if (scan) { /* without an axis over all elements in C order, as NumPy's */
        x = list.none ? krf__parse_built(p, f->name.start, krf__build_ravel(p->g, x)) : x;
        return krf__parse_built(p, f->name.start, krf__build_scan(p->g, f->op, x, list.none ? 0 : axes[0]));
    }
    return krf__parse_built(p, f->name.start, krf__build_reduce(p->g, f->op, x, list.n, list.none ? NULL : axes, keepdims));
}

static uint32_t call_cast(krf__parser *p, const function *f) {
    krf_dtype dtype = f->dtype;
    uint32_t x = parse_operand(p, f);
    if (f->kind == FUNCTION_CAST) {
        skip_keyword(p, f->keyword);
        krf__parse_dtype(p, &dtype);
        krf__parse_skip(p, ',');
    }
    if (!krf__parse_close(p, &f->open)) {
        return 0;
    }
    return krf__parse_built(p, f->name.start, krf__build_cast(p->g, x, dtype));
}

/* slice(x, starts, stops, steps), lists over the first axes; None as in x[None:None]. */
static uint32_t call_slice(krf__parser *p, const function *f) {
    krf__ints lists[3] = {{.none = true}, {.none = true}, {.none = true}};
    uint32_t x = parse_operand(p, f);
    int n = 0;
    for (int i = 0; i < 3 && !p->failed && p->token.kind != ')'; i++) {
        krf__parse_ints(p, &lists[i], true);
        n = lists[i].n > n ? lists[i].n : n;
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    if (!krf__parse_close(p, &f->open)) {
        return 0;
    }
    krf_range ranges[KRF_MAX_RANK];
    for (int i = 0; i < n; i++) {
        ranges[i].start = i < lists[0].n ? lists[0].of[i] : KRF_NONE;
        ranges[i].stop = i < lists[1].n ? lists[1].of[i] : KRF_NONE;
        ranges[i].step = i < lists[2].n && lists[2].of[i] != KRF_NONE ? lists[2].of[i] : 1;
    }
    return krf__parse_built(p, f->name.start, krf__build_slice(p->g, x, n, ranges));
}

/* squeeze and flip over one axis, several, or all that serve: one reshape, one slice. */
static uint32_t build_each(krf__parser *p, const function *f, uint32_t x, const krf__ints *list) {
    krf_graph *g = p->g;
    bool flip = f->kind == FUNCTION_FLIP;
    int axes[KRF_MAX_RANK], rank = krf__node_of(g, x)->rank, kept = 0;
    if (!krf__parse_axes(p, f->name.start, list, axes)) {
        return 0;
    }
    uint32_t wanted = 0;
    for (int i = 0; !list->none && i < list->n; i++) {
        int axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank || (wanted >> axis & 1) != 0) {
            return krf__parse_fail(p, KRF_E_ARGUMENT, f->name.start,
                                   "%s: axis %d is given twice or out of range for rank %d", flip ? "flip" : "squeeze",
                                   axes[i], rank);
        }
        wanted |= 1u << axis;
    }
    int64_t shape[KRF_MAX_RANK];
    krf_range ranges[KRF_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        int64_t extent = krf__shape_of(g, x)[i];
        bool chosen = list->none ? flip || extent == 1 : (wanted >> i & 1) != 0;
        if (chosen && !flip && extent != 1) {
            return krf__parse_fail(p, KRF_E_ARGUMENT, f->name.start, "squeeze: axis %d has extent %lld, not 1", i,
                                   (long long)extent);
        }
        ranges[i] = (krf_range){KRF_NONE, KRF_NONE, chosen ? -1 : 1};
        if (!chosen) {
            shape[kept++] = extent;
        }
    }
    return flip ? krf__build_slice(g, x, rank, ranges) : krf__build_reshape(g, x, kept, shape);
}

static uint32_t build_view(krf__parser *p, const function *f, uint32_t x, const krf__ints *list) {
    krf_graph *g = p->g;
    int axes[KRF_MAX_RANK], rank = krf__node_of(g, x)->rank;
    switch (f->kind) {
    case FUNCTION_RESHAPE: return krf__build_reshape(g, x, list->n, list->of);
    case FUNCTION_BROADCAST_TO: return krf__build_broadcast_to(g, x, list->n, list->of);
    case FUNCTION_SQUEEZE:
    case FUNCTION_FLIP: return build_each(p, f, x, list);
    case FUNCTION_EXPAND_DIMS:
        if (list->none || list->n != 1) {
            return krf__parse_fail(p, KRF_E_PARSE, f->name.start, "expand_dims takes one axis");
        }
        return krf__parse_axes(p, f->name.start, list, axes) ? krf__build_expand_dims(g, x, axes[0]) : 0;
    default:
        if (!list->none && list->n != rank) {
            return krf__parse_fail(p, KRF_E_ARGUMENT, f->name.start, "%.*s: %d axes for rank %d", KRF__SHOWN(&f->name),
                                   list->n, rank);
        }
        return krf__parse_axes(p, f->name.start, list, axes) ? krf__build_transpose(g, x, list->none ? NULL : axes) : 0;
    }
}

static uint32_t call_view(krf__parser *p, const function *f) {
    bool shape = f->kind == FUNCTION_RESHAPE || f->kind == FUNCTION_BROADCAST_TO;
    krf__ints list = {.none = true};
    uint32_t x = parse_operand(p, f);
    if (!p->failed && p->token.kind != ')') {
        skip_keyword(p, f->keyword);
        bool tuple = p->token.kind == '(' || p->token.kind == '[';
        krf__parse_ints(p, &list, false);
        /* x.reshape(2, -1), x.transpose(1, 0) */
        while (krf__parse_skip(p, ',') && !tuple && !list.none && p->token.kind != ')') {
            if (list.n == KRF_MAX_RANK) {
                krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a rank is at most %d", KRF_MAX_RANK);
            }
            if (p->failed || !krf__parse_int(p, &list.of[list.n])) {
                break;
            }
            list.n++;
        }
    }
    if (!krf__parse_close(p, &f->open)) {
        return 0;
    }
    if (shape && list.none) {
        return krf__parse_fail(p, KRF_E_PARSE, f->name.start, "%.*s needs a shape", KRF__SHOWN(&f->name));
    }
    return krf__parse_built(p, f->name.start, build_view(p, f, x, &list));
}

uint32_t krf__parse_call(krf__parser *p, const krf__token *name, uint32_t self) {
    function f = find_function(name);
    f.open = p->token;
    f.self = self;
    if (f.kind == FUNCTION_NONE) {
        const krf_op *op = krf__parse_find_op(p, name);
        if (op != NULL) {
            const uint32_t y = krf__parse_op(p, op, name, self);
            krf__op_release(op);
            return y;
        }
        if (krf__token_is(name, "float") || krf__token_is(name, "int")) {
            return krf__parse_fail(p, KRF_E_PARSE, name->start,
                                   "%.*s is no function: name a dtype, such as f64(x) or i64(x)", KRF__SHOWN(name));
        }
        return krf__parse_undefined(p, name, true);
    }
    krf__parse_next(p);
    switch (f.kind) {
    case FUNCTION_ELEMENTWISE: return call_elementwise(p, &f);
    case FUNCTION_REDUCE:
    case FUNCTION_COMPOSED: return call_reduce(p, &f);
    case FUNCTION_MAKE: return krf__parse_maker(p, f.which, &f.name, &f.open);
    case FUNCTION_MOVE: return krf__parse_mover(p, f.which, &f.name, &f.open, self);
    case FUNCTION_RANDOM: return krf__parse_random(p, f.which, &f.name, &f.open);
    case FUNCTION_GRAD: return krf__parse_grad(p, f.which, &f.name, &f.open, self);
    case FUNCTION_DTYPE:
    case FUNCTION_CAST: return call_cast(p, &f);
    case FUNCTION_SLICE: return call_slice(p, &f);
    default: return call_view(p, &f);
    }
}
