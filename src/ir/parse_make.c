/* Functions that make arrays in the graph: arange, linspace, full and its kin, eye, triu and tril. Called by parse_call.c. */
#include "ir/build_composed.h"
#include "ir/parser.h"

#include <string.h>

typedef enum maker { ARANGE, LINSPACE, FULL, ZEROS, ONES, FULL_LIKE, ZEROS_LIKE, ONES_LIKE, EYE, TRI, TRIU, TRIL, MAKERS } maker;

static const struct {
    const char *name;
    int least, most; /* arguments, keywords among them */
    const char *keyword; /* what the last one may be called */
} makers[MAKERS] = {
    [ARANGE] = {"arange", 1, 3, "step"},
    [LINSPACE] = {"linspace", 3, 4, "endpoint"},
    [FULL] = {"full", 2, 3, "dtype"},
    [ZEROS] = {"zeros", 1, 2, "dtype"},
    [ONES] = {"ones", 1, 2, "dtype"},
    [FULL_LIKE] = {"full_like", 2, 3, "dtype"},
    [ZEROS_LIKE] = {"zeros_like", 1, 2, "dtype"},
    [ONES_LIKE] = {"ones_like", 1, 2, "dtype"},
    [EYE] = {"eye", 1, 4, "dtype"},
    [TRI] = {"tri", 1, 4, "dtype"},
    [TRIU] = {"triu", 1, 2, "k"},
    [TRIL] = {"tril", 1, 2, "k"},
};

const char *krf__parse_maker_name(size_t i) { return i < MAKERS ? makers[i].name : NULL; }

typedef struct arguments {
    krf__parser *p;
    maker which;
    int n; /* read so far */
} arguments;

/* Whether another argument follows; goes behind its comma, and behind the keyword if it is called so. */
static bool more(arguments *a, const char *keyword) {
    krf__parser *p = a->p;
    if (p->failed || p->token.kind == ')' || (a->n > 0 && !krf__parse_skip(p, ',')) || p->token.kind == ')') {
        return false;
    }
    if (p->token.kind == KRF__TOKEN_NAME && krf__parse_peek(p).kind == '=') {
        if (!krf__token_is(&p->token, keyword)) {
            if (!krf__token_is(&p->token, makers[a->which].keyword)) {
                krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes no keyword %.*s here", makers[a->which].name, KRF__SHOWN(&p->token));
            }
            a->n += a->n == 0; /* the comma has been read: what follows is the keyword of a later argument */
            return false;
        }
        krf__parse_next(p);
        krf__parse_next(p);
    }
    a->n++;
    return !p->failed;
}

static bool last_keyword(arguments *a) {
    krf__parser *p = a->p;
    const char *keyword = makers[a->which].keyword;
    if (!p->failed && p->token.kind == KRF__TOKEN_NAME && krf__token_is(&p->token, keyword) && krf__parse_peek(p).kind == '=') {
        krf__parse_next(p);
        krf__parse_next(p);
        return true;
    }
    return more(a, keyword);
}

static int64_t integer(arguments *a, const char *keyword, int64_t otherwise) {
    int64_t value = otherwise;
    if (more(a, keyword)) {
        krf__parse_int(a->p, &value);
    }
    return value;
}

static double real(arguments *a, const char *keyword) {
    krf__parser *p = a->p;
    const char *at = p->token.start;
    if (!more(a, keyword)) {
        return 0;
    }
    uint32_t x = krf__parse_expression(p);
    const krf__node *n = krf__node_of(p->g, x);
    if (x == 0 || n->op != KRF__constant) {
        krf__parse_fail(p, KRF_E_PARSE, at, "%s: the bounds are numbers", makers[a->which].name);
        return 0;
    }
    return krf__bits_to_f64((krf_dtype)n->dtype, n->value);
}

static uint32_t arange(arguments *a) {
    int64_t bounds[3] = {0, 0, 1};
    int n = 0;
    static const char *const keywords[] = {"start", "stop", "step"};
    while (n < 3 && more(a, keywords[n])) {
        krf__parse_int(a->p, &bounds[n++]);
    }
    if (n == 1) {
        bounds[1] = bounds[0];
        bounds[0] = 0;
    }
    return a->p->failed ? 0 : krf__build_arange(a->p->g, bounds[0], bounds[1], bounds[2]);
}

static uint32_t linspace(arguments *a) {
    double start = real(a, "start"), stop = real(a, "stop");
    int64_t n = integer(a, "num", 50);
    bool endpoint = true;
    if (last_keyword(a)) {
        endpoint = !krf__token_is(&a->p->token, "False");
        krf__parse_next(a->p);
    }
    return a->p->failed ? 0 : krf__build_linspace(a->p->g, start, stop, n, endpoint);
}

/* full(shape, value), zeros(shape), ...: a value made larger; the _like ones take shape and dtype from an array. */
static uint32_t filled(arguments *a) {
    krf__parser *p = a->p;
    bool like = a->which >= FULL_LIKE, given = a->which == FULL || a->which == FULL_LIKE, one = a->which == ONES || a->which == ONES_LIKE;
    krf__ints shape = {0};
    uint32_t model = 0, value;
    krf_dtype dtype = KRF_F64;
    bool has_dtype = !given;
    if (like && more(a, "x")) {
        model = krf__parse_expression(p);
        dtype = (krf_dtype)krf__node_of(p->g, model)->dtype;
        has_dtype = true;
    } else if (more(a, "shape")) {
        krf__parse_ints(p, &shape, false);
    }
    value = !given ? krf__build_int(p->g, one, true) : more(a, "fill_value") ? krf__parse_expression(p) : 0;
    if (last_keyword(a)) {
        has_dtype = krf__parse_dtype(p, &dtype);
    }
    if (p->failed || (like && model == 0)) {
        return 0;
    }
    value = has_dtype ? krf__build_cast(p->g, value, dtype) : value;
    const krf__node *n = krf__node_of(p->g, model);
    return like ? krf__build_broadcast_to(p->g, value, n->rank, krf__shape_of(p->g, model))
                : krf__build_broadcast_to(p->g, value, shape.n, shape.of);
}

static uint32_t diagonal(arguments *a) {
    int64_t rows = integer(a, "N", 0), columns = integer(a, "M", rows), k = integer(a, "k", 0);
    krf_dtype dtype = KRF_F64;
    if (last_keyword(a)) {
        krf__parse_dtype(a->p, &dtype);
    }
    return a->p->failed ? 0 : (a->which == EYE ? krf__build_eye : krf__build_tri)(a->p->g, rows, columns, k, dtype);
}

static uint32_t triangle(arguments *a) {
    uint32_t x = more(a, "x") ? krf__parse_expression(a->p) : 0;
    int64_t k = integer(a, "k", 0);
    return a->p->failed ? 0 : krf__build_triangle(a->p->g, x, k, a->which == TRIU);
}

uint32_t krf__parse_maker(krf__parser *p, size_t which, const krf__token *name, const krf__token *open) {
    arguments a = {.p = p, .which = (maker)which};
    uint32_t x = which == ARANGE ? arange(&a) : which == LINSPACE ? linspace(&a) : which <= ONES_LIKE ? filled(&a) : which <= TRI ? diagonal(&a) : triangle(&a);
    krf__parse_skip(p, ',');
    if (!krf__parse_close(p, open)) {
        return 0;
    }
    if (a.n < makers[which].least) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%s takes %d to %d arguments, not %d", makers[which].name, makers[which].least,
                               makers[which].most, a.n);
    }
    return krf__parse_built(p, name->start, x);
}
