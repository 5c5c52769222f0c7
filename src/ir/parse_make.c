/* Functions that make arrays in the graph: arange, linspace, full and its kin, eye, triu and tril. */
#include "ir/build_composed.h"
#include "ir/parse_call.h"

typedef enum maker { ARANGE, LINSPACE, FULL, ZEROS, ONES, FULL_LIKE, ZEROS_LIKE, ONES_LIKE, EYE, TRI, TRIU, TRIL, MAKERS } maker;

/* What an argument is: an integer; integers; a number; an expression; and two that may be last, and by their keyword come before others that are left out. */
typedef enum kind { NONE, INTEGER, INTEGERS, NUMBER, VALUE, FLAG, DTYPE } kind;

enum { MOST = 4 };

static const struct {
    const char *name;
    int least, most; /* arguments, keywords among them */
    struct {
        const char *keyword;
        kind kind;
    } takes[MOST];
} makers[MAKERS] = {
    [ARANGE] = {"arange", 1, 3, {{"start", INTEGER}, {"stop", INTEGER}, {"step", INTEGER}}},
    [LINSPACE] = {"linspace", 3, 4, {{"start", NUMBER}, {"stop", NUMBER}, {"num", INTEGER}, {"endpoint", FLAG}}},
    [FULL] = {"full", 2, 3, {{"shape", INTEGERS}, {"fill_value", VALUE}, {"dtype", DTYPE}}},
    [ZEROS] = {"zeros", 1, 2, {{"shape", INTEGERS}, {"dtype", DTYPE}}},
    [ONES] = {"ones", 1, 2, {{"shape", INTEGERS}, {"dtype", DTYPE}}},
    [FULL_LIKE] = {"full_like", 2, 3, {{"x", VALUE}, {"fill_value", VALUE}, {"dtype", DTYPE}}},
    [ZEROS_LIKE] = {"zeros_like", 1, 2, {{"x", VALUE}, {"dtype", DTYPE}}},
    [ONES_LIKE] = {"ones_like", 1, 2, {{"x", VALUE}, {"dtype", DTYPE}}},
    [EYE] = {"eye", 1, 4, {{"N", INTEGER}, {"M", INTEGER}, {"k", INTEGER}, {"dtype", DTYPE}}},
    [TRI] = {"tri", 1, 4, {{"N", INTEGER}, {"M", INTEGER}, {"k", INTEGER}, {"dtype", DTYPE}}},
    [TRIU] = {"triu", 1, 2, {{"x", VALUE}, {"k", INTEGER}}},
    [TRIL] = {"tril", 1, 2, {{"x", VALUE}, {"k", INTEGER}}},
};

static const char *name_of(size_t i) { return i < MAKERS ? makers[i].name : NULL; }

/* The parameter that the current argument is for: the next one, or the last by its keyword, which is passed. -1: it is for none, which is an error. */
static int parameter_of(krf__parser *p, const krf__arguments *a) {
    const int most = makers[a->which].most, last = most - 1, next = a->current;
    for (int k = 0; k < most && krf__parse_at_keyword(p); k++) {
        if (a->given[k] && krf__token_is(&p->token, makers[a->which].takes[k].keyword)) {
            krf__parse_twice(p, &a->name, p->token.start, makers[a->which].takes[k].keyword);
        }
    }
    if (next < most && !krf__parse_at_keyword(p)) {
        return next;
    }
    if (next < most && krf__parse_keyword(p, makers[a->which].takes[next].keyword)) {
        return next;
    }
    if (next < most && !p->failed && !krf__token_is(&p->token, makers[a->which].takes[last].keyword)) {
        krf__parse_refuse_keyword(p, &a->name);
    } else if (next < most && makers[a->which].takes[last].kind >= FLAG && krf__parse_keyword(p, makers[a->which].takes[last].keyword)) {
        return last;
    } else if (krf__parse_at_keyword(p)) {
        krf__parse_refuse_keyword(p, &a->name);
    } else {
        krf__parse_close(p, &a->bracket);
    }
    return -1;
}

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    const char *at = a->n == 0 ? p->token.start : a->comma;
    const int k = parameter_of(p, a);
    if (k < 0) {
        return NULL;
    }
    a->n += k == a->current || a->n == 0; /* what is left out does not count, but for the first */
    a->current = k + 1;
    a->given[k] = true;
    switch (makers[a->which].takes[k].kind) {
    case INTEGER: krf__parse_int(p, &a->integers[k]); return NULL;
    case INTEGERS: krf__parse_ints(p, &a->ints[0], false); return NULL;
    case DTYPE: a->has_dtype = krf__parse_dtype(p, &a->dtype); return NULL;
    case FLAG:
        a->endpoint = !krf__token_is(&p->token, "False");
        krf__parse_next(p);
        return NULL;
    default: a->at = at; return &a->ids[k];
    }
}

/* The bounds of linspace are known. */
static uint32_t *given(krf__parser *p, krf__arguments *a) {
    const int k = a->current - 1;
    const krf__node *n = krf__node_of(p->g, a->ids[k]);
    if (!p->failed && makers[a->which].takes[k].kind == NUMBER && n->op != KRF__constant) {
        krf__parse_fail(p, KRF_E_PARSE, a->at, "%s: the bounds are numbers", makers[a->which].name);
    } else if (makers[a->which].takes[k].kind == NUMBER) {
        a->reals[k] = krf__bits_to_f64((krf_dtype)n->dtype, n->value);
    }
    return NULL;
}

static uint32_t arange(krf_graph *g, const krf__arguments *a) {
    const int64_t *bounds = a->integers, step = a->given[2] ? bounds[2] : 1;
    return a->given[1] ? krf__build_arange(g, bounds[0], bounds[1], step) : krf__build_arange(g, 0, bounds[0], step);
}

/* full(shape, value), zeros(shape), ...: a value made larger; the _like ones take shape and dtype from an array. */
static uint32_t filled(krf_graph *g, const krf__arguments *a) {
    const bool like = a->which >= FULL_LIKE, given = a->which == FULL || a->which == FULL_LIKE, one = a->which == ONES || a->which == ONES_LIKE;
    const uint32_t model = like ? a->ids[0] : 0;
    uint32_t value = given ? a->ids[1] : krf__build_int(g, one, true);
    if (like && model == 0) {
        return 0;
    }
    if (like || !given || a->has_dtype) {
        value = krf__build_cast(g, value, a->has_dtype ? a->dtype : like ? krf__dtype_of(g, model) : KRF_F64);
    }
    const krf__node *n = krf__node_of(g, model);
    return like ? krf__build_broadcast_to(g, value, n->rank, krf__shape_of(g, model)) : krf__build_broadcast_to(g, value, a->ints[0].n, a->ints[0].of);
}

static uint32_t diagonal(krf_graph *g, const krf__arguments *a) {
    const int64_t rows = a->integers[0], columns = a->given[1] ? a->integers[1] : rows;
    return (a->which == EYE ? krf__build_eye : krf__build_tri)(g, rows, columns, a->integers[2], a->has_dtype ? a->dtype : KRF_F64);
}

static uint32_t make(krf_graph *g, const krf__arguments *a) {
    const maker which = (maker)a->which;
    if (which == LINSPACE) {
        return krf__build_linspace(g, a->reals[0], a->reals[1], a->given[2] ? a->integers[2] : 50, !a->given[3] || a->endpoint);
    }
    return which == ARANGE ? arange(g, a) : which <= ONES_LIKE ? filled(g, a) : which <= TRI ? diagonal(g, a) : krf__build_triangle(g, a->ids[0], a->integers[1], which == TRIU);
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    const maker which = (maker)a->which;
    if (a->n < makers[which].least) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%s takes %d to %d arguments, not %d", makers[which].name, makers[which].least, makers[which].most, a->n);
    }
    return krf__parse_built(p, a->name.start, make(p->g, a));
}

const krf__family krf__make_calls = {.name = name_of, .argument = argument, .given = given, .build = build, .no_methods = true};
