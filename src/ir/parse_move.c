/* Functions that move elements (take, roll, pad, concatenate and their kin), and sums over several operands (vdot, average, histogram). A table says what each takes, in order and by keyword; then one builder is
 * called. Called by parse_call.c. */
#include "ir/build_movement.h"
#include "ir/build_sums.h"
#include "ir/parser.h"

#include "base/mem.h"

#include <string.h>

/* What an argument is: an expression; a list of them; an integer; integers, or None; pairs of integers; one of the modes of pad; two numbers; True or
 * False. */
typedef enum kind { NONE, VALUE, VALUES, INTEGER, INTEGERS, PAIRS, MODE, RANGE, FLAG } kind;

typedef struct parameter {
    const char *name;
    kind kind;
    bool optional;
} parameter;

enum { MOST_PARAMETERS = 4 };

typedef enum mover {
    TAKE, TAKE_ALONG_AXIS, ROLL, REPEAT, TILE, PAD, CONCATENATE, CONCAT, STACK, SPLIT, DIAGONAL, TRACE, WINDOWS, MOVEAXIS, SWAPAXES, RAVEL, FLATTEN,
    ATLEAST_1D, ATLEAST_2D, ATLEAST_3D, DIFF, INDICES,
    OUTER, INNER, DOT, VDOT, AVERAGE, HISTOGRAM, MOVERS
} mover;

static const struct {
    const char *name;
    parameter takes[MOST_PARAMETERS];
} movers[MOVERS] = {
    [TAKE] = {"take", {{"x", VALUE, false}, {"indices", VALUE, false}, {"axis", INTEGERS, true}}},
    [TAKE_ALONG_AXIS] = {"take_along_axis", {{"x", VALUE, false}, {"indices", VALUE, false}, {"axis", INTEGERS, true}}},
    [ROLL] = {"roll", {{"x", VALUE, false}, {"shift", INTEGERS, false}, {"axis", INTEGERS, true}}},
    [REPEAT] = {"repeat", {{"x", VALUE, false}, {"repeats", INTEGER, false}, {"axis", INTEGERS, true}}},
    [TILE] = {"tile", {{"x", VALUE, false}, {"reps", INTEGERS, false}}},
    [PAD] = {"pad", {{"x", VALUE, false}, {"pad_width", PAIRS, false}, {"mode", MODE, true}, {"constant_values", VALUE, true}}},
    [CONCATENATE] = {"concatenate", {{"arrays", VALUES, false}, {"axis", INTEGERS, true}}},
    [CONCAT] = {"concat", {{"arrays", VALUES, false}, {"axis", INTEGERS, true}}},
    [STACK] = {"stack", {{"arrays", VALUES, false}, {"axis", INTEGER, true}}},
    [SPLIT] = {"split", {{"x", VALUE, false}, {"sections", INTEGER, false}, {"axis", INTEGER, true}}},
    [DIAGONAL] = {"diagonal", {{"x", VALUE, false}, {"offset", INTEGER, true}, {"axis1", INTEGER, true}, {"axis2", INTEGER, true}}},
    [TRACE] = {"trace", {{"x", VALUE, false}, {"offset", INTEGER, true}, {"axis1", INTEGER, true}, {"axis2", INTEGER, true}}},
    [WINDOWS] = {"sliding_window_view", {{"x", VALUE, false}, {"window_shape", INTEGERS, false}, {"axis", INTEGERS, true}}},
    [MOVEAXIS] = {"moveaxis", {{"x", VALUE, false}, {"source", INTEGERS, false}, {"destination", INTEGERS, false}}},
    [SWAPAXES] = {"swapaxes", {{"x", VALUE, false}, {"axis1", INTEGER, false}, {"axis2", INTEGER, false}}},
    [RAVEL] = {"ravel", {{"x", VALUE, false}}},
    [FLATTEN] = {"flatten", {{"x", VALUE, false}}},
    [ATLEAST_1D] = {"atleast_1d", {{"x", VALUE, false}}},
    [ATLEAST_2D] = {"atleast_2d", {{"x", VALUE, false}}},
    [ATLEAST_3D] = {"atleast_3d", {{"x", VALUE, false}}},
    [DIFF] = {"diff", {{"x", VALUE, false}, {"n", INTEGER, true}, {"axis", INTEGER, true}}},
    [INDICES] = {"indices", {{"dimensions", INTEGERS, false}}},
    [OUTER] = {"outer", {{"x", VALUE, false}, {"y", VALUE, false}}},
    [INNER] = {"inner", {{"x", VALUE, false}, {"y", VALUE, false}}},
    [DOT] = {"dot", {{"x", VALUE, false}, {"y", VALUE, false}}},
    [VDOT] = {"vdot", {{"x", VALUE, false}, {"y", VALUE, false}}},
    [AVERAGE] = {"average", {{"x", VALUE, false}, {"axis", INTEGERS, true}, {"weights", VALUE, true}, {"keepdims", FLAG, true}}},
    [HISTOGRAM] = {"histogram", {{"x", VALUE, false}, {"bins", INTEGER, false}, {"range", RANGE, false}}},
};

const char *krf__parse_mover_name(size_t i) { return i < MOVERS ? movers[i].name : NULL; }

typedef struct argument {
    bool given;
    uint32_t id;
    int64_t integer;
    krf__ints ints;
    int64_t pairs[2 * KRF_MAX_RANK];
    int n_pairs;   /* -1: one for all axes */
    uint32_t *ids;
    size_t n_ids, capacity;
    double range[2];
} argument;

typedef struct call {
    krf__parser *p;
    mover which;
    const krf__token *name;
    argument arguments[MOST_PARAMETERS];
    int axes[KRF_MAX_RANK];
} call;

static void parse_values(krf__parser *p, argument *a) {
    krf__token open = p->token;
    if (open.kind != '(' && open.kind != '[') {
        krf__parse_expected(p, "a list of arrays in brackets");
        return;
    }
    krf__parse_next(p);
    while (!p->failed && p->token.kind != ')' && p->token.kind != ']') {
        uint32_t id = krf__parse_expression(p);
        if (p->failed) {
            return;
        }
        if (!krf__grow(&a->ids, &a->capacity, a->n_ids + 1, sizeof *a->ids)) {
            krf__parse_memory(p);
            return;
        }
        a->ids[a->n_ids++] = id;
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    krf__parse_close(p, &open);
}

/* n for all ends; (before, after) for all axes; ((before, after), ...) for each. */
static void parse_pairs(krf__parser *p, argument *a) {
    krf__token open = p->token;
    bool nested = false;
    if (open.kind == '(' || open.kind == '[') {
        int next = krf__parse_peek(p).kind;
        nested = next == '(' || next == '[';
    }
    if (!nested) {
        krf__ints one;
        krf__parse_ints(p, &one, false);
        if (!p->failed && (one.none || one.n < 1 || one.n > 2)) {
            krf__parse_fail(p, KRF_E_PARSE, open.start, "a width, a pair of widths, or a pair for each axis");
        }
        a->pairs[0] = one.of[0];
        a->pairs[1] = one.of[one.n == 2];
        a->n_pairs = -1;
        return;
    }
    krf__parse_next(p);
    while (!p->failed && p->token.kind != ')' && p->token.kind != ']') {
        krf__ints one;
        const char *at = p->token.start;
        krf__parse_ints(p, &one, false);
        if (!p->failed && (one.none || one.n < 1 || one.n > 2 || a->n_pairs == KRF_MAX_RANK)) {
            krf__parse_fail(p, KRF_E_PARSE, at, "a pair of widths for each axis");
        }
        if (p->failed) {
            return;
        }
        a->pairs[2 * a->n_pairs] = one.of[0];
        a->pairs[2 * a->n_pairs++ + 1] = one.of[one.n == 2];
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    krf__parse_close(p, &open);
}

/* A word, in quotes or not. */
static void parse_mode(krf__parser *p, argument *a) {
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
    krf__token word = p->token;
    word.kind = word.kind == KRF__TOKEN_STRING ? KRF__TOKEN_NAME : word.kind;
    for (int i = 0; i < 4; i++) {
        if (krf__token_is(&word, modes[i])) {
            a->integer = i;
            krf__parse_next(p);
            return;
        }
    }
    krf__parse_expected(p, "'constant', 'edge', 'reflect' or 'wrap'");
}

/* (low, high), of numbers. */
static void parse_range(krf__parser *p, argument *a) {
    krf__token open = p->token;
    bool bracket = krf__parse_skip(p, '(') || krf__parse_skip(p, '[');
    for (int i = 0; bracket && i < 2; i++) {
        const char *at = p->token.start;
        const krf__node *n = krf__node_of(p->g, krf__parse_expression(p));
        if (!p->failed && n->op != KRF__constant) {
            krf__parse_fail(p, KRF_E_PARSE, at, "the ends of a range are numbers");
        }
        a->range[i] = p->failed ? 0 : krf__bits_to_f64((krf_dtype)n->dtype, n->value);
        if (i == 0 && !krf__parse_skip(p, ',')) {
            krf__parse_expected(p, "','");
        }
    }
    if (bracket) {
        krf__parse_close(p, &open);
    } else {
        krf__parse_expected(p, "a pair of numbers in brackets");
    }
}

static void parse_flag(krf__parser *p, argument *a) {
    a->integer = krf__token_is(&p->token, "True");
    if (a->integer == 0 && !krf__token_is(&p->token, "False")) {
        krf__parse_expected(p, "True or False");
    }
    krf__parse_next(p);
}

static void parse_argument(krf__parser *p, kind what, argument *a) {
    switch (what) {
    case VALUE: a->id = krf__parse_expression(p); break;
    case VALUES: parse_values(p, a); break;
    case INTEGER: krf__parse_int(p, &a->integer); break;
    case INTEGERS: krf__parse_ints(p, &a->ints, false); break;
    case PAIRS: parse_pairs(p, a); break;
    case MODE: parse_mode(p, a); break;
    case RANGE: parse_range(p, a); break;
    case FLAG: parse_flag(p, a); break;
    case NONE: break;
    }
    a->given = !p->failed && !(what == INTEGERS && a->ints.none);
}

/* The parameter that the current token is the keyword of; goes behind its `=`. -1: no keyword; the number of parameters: of none (and the error). */
static int keyword(call *c) {
    krf__parser *p = c->p;
    if (p->failed || p->token.kind != KRF__TOKEN_NAME || krf__parse_peek(p).kind != '=') {
        return -1;
    }
    for (int i = 0; i < MOST_PARAMETERS && movers[c->which].takes[i].kind != NONE; i++) {
        if (krf__token_is(&p->token, movers[c->which].takes[i].name)) {
            krf__parse_next(p);
            krf__parse_next(p);
            return i;
        }
    }
    krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes no keyword %.*s here", movers[c->which].name, KRF__SHOWN(&p->token));
    return MOST_PARAMETERS;
}

static void parse_arguments(call *c, uint32_t self) {
    krf__parser *p = c->p;
    const parameter *takes = movers[c->which].takes;
    int next = 0;
    if (self != 0) {
        c->arguments[0] = (argument){.given = true, .id = self};
        next = 1;
        if (takes[0].kind != VALUE) {
            krf__parse_fail(p, KRF_E_PARSE, c->name->start, "%s is no method", movers[c->which].name);
        }
    }
    while (!p->failed && p->token.kind != ')') {
        int by_name = keyword(c), i = by_name >= 0 ? by_name : next++;
        if (p->failed) {
            return;
        }
        if (i >= MOST_PARAMETERS || takes[i].kind == NONE || c->arguments[i].given) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s does not take this argument%s", movers[c->which].name,
                            i < MOST_PARAMETERS && takes[i].kind != NONE ? " twice" : "");
            return;
        }
        parse_argument(p, takes[i].kind, &c->arguments[i]);
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    for (int i = 0; !p->failed && i < MOST_PARAMETERS; i++) {
        if (takes[i].kind != NONE && !takes[i].optional && !c->arguments[i].given) {
            krf__parse_fail(p, KRF_E_PARSE, c->name->start, "%s needs %s", movers[c->which].name, takes[i].name);
        }
    }
}

/* An integer that is an axis; otherwise: when it is not given. */
static int axis_of(call *c, const argument *a, int otherwise) {
    krf__ints list = a->ints;
    if (!a->given) {
        return otherwise;
    }
    if (list.n == 0) {
        list = (krf__ints){.n = 1, .of = {a->integer}};
    }
    if (list.n != 1) {
        krf__parse_fail(c->p, KRF_E_ARGUMENT, c->name->start, "%s takes one axis", movers[c->which].name);
        return 0;
    }
    return krf__parse_axes(c->p, c->name->start, &list, c->axes) ? c->axes[0] : 0;
}

/* Along an axis, or over all elements as if x had one axis. */
static uint32_t flat_or(call *c, const argument *axis, uint32_t x, int *found) {
    *found = axis_of(c, axis, 0);
    return c->p->failed ? 0 : axis->given ? x : krf__build_ravel(c->p->g, x);
}

static uint32_t build_roll(call *c, uint32_t x) {
    const argument *a = c->arguments;
    int64_t shifts[KRF_MAX_RANK];
    const int n = a[2].given && a[2].ints.n > a[1].ints.n ? a[2].ints.n : a[1].ints.n;
    int axes[KRF_MAX_RANK];
    krf__parse_axes(c->p, c->name->start, &a[2].ints, axes);
    if (!c->p->failed && (n < 1 || (a[1].ints.n != n && a[1].ints.n != 1) || (a[2].given ? a[2].ints.n != n && a[2].ints.n != 1 : n != 1))) {
        krf__parse_fail(c->p, KRF_E_ARGUMENT, c->name->start, "roll: %d shifts and %d axes", a[1].ints.n, a[2].given ? a[2].ints.n : 0);
    }
    for (int i = 0; i < n; i++) {
        shifts[i] = a[1].ints.of[a[1].ints.n == 1 ? 0 : i];
        axes[i] = axes[a[2].ints.n == 1 ? 0 : i];
    }
    return c->p->failed ? 0 : krf__build_roll(c->p->g, x, n, shifts, a[2].given ? axes : NULL);
}

static uint32_t build_pad(call *c, uint32_t x) {
    const argument *a = c->arguments;
    krf_graph *g = c->p->g;
    int rank = krf__node_of(g, x)->rank;
    int64_t widths[2 * KRF_MAX_RANK];
    if (a[1].n_pairs >= 0 && a[1].n_pairs != rank) {
        return krf__parse_fail(c->p, KRF_E_ARGUMENT, c->name->start, "pad: %d pairs of widths for rank %d", a[1].n_pairs, rank);
    }
    for (int i = 0; i < 2 * rank; i++) {
        widths[i] = a[1].pairs[a[1].n_pairs < 0 ? i % 2 : i];
    }
    uint32_t value = a[3].given ? a[3].id : krf__build_int(g, 0, true);
    return krf__build_pad(g, x, widths, (krf_pad_mode)a[2].integer, value);
}

static uint32_t build_join(call *c) {
    const argument *a = c->arguments;
    krf_graph *g = c->p->g;
    int n = a[0].n_ids < 1u << 20 ? (int)a[0].n_ids : 1 << 20, axis = axis_of(c, &a[1], 0);
    bool flat = c->which != STACK && !a[1].given && a[1].ints.none;
    for (int k = 0; flat && k < n; k++) {
        a[0].ids[k] = krf__build_ravel(g, a[0].ids[k]);
    }
    return c->p->failed ? 0 : (c->which == STACK ? krf__build_stack : krf__build_concatenate)(g, n, a[0].ids, axis);
}

static uint32_t build_windows(call *c, uint32_t x) {
    const argument *a = c->arguments;
    if (a[2].given && a[2].ints.n != a[1].ints.n) {
        return krf__parse_fail(c->p, KRF_E_ARGUMENT, c->name->start, "sliding_window_view: %d windows and %d axes", a[1].ints.n, a[2].ints.n);
    }
    krf__parse_axes(c->p, c->name->start, &a[2].ints, c->axes);
    return c->p->failed ? 0 : krf__build_windows(c->p->g, x, a[1].ints.n, a[1].ints.of, a[2].given ? c->axes : NULL);
}

static uint32_t build_move_axes(call *c, uint32_t x) {
    const argument *a = c->arguments;
    int from[KRF_MAX_RANK], to[KRF_MAX_RANK];
    if (a[1].ints.n != a[2].ints.n) {
        return krf__parse_fail(c->p, KRF_E_ARGUMENT, c->name->start, "moveaxis: %d axes to %d places", a[1].ints.n, a[2].ints.n);
    }
    krf__parse_axes(c->p, c->name->start, &a[1].ints, from);
    krf__parse_axes(c->p, c->name->start, &a[2].ints, to);
    return c->p->failed ? 0 : krf__build_move_axes(c->p->g, x, a[1].ints.n, from, to);
}

/* split(x, n)[k]: the parts are no array, so one of them is named at once. */
static uint32_t build_section(call *c, uint32_t x) {
    krf__parser *p = c->p;
    krf__token open = p->token;
    int64_t which = 0;
    int axis = axis_of(c, &c->arguments[2], 0);
    if (!p->failed && open.kind != '[') {
        return krf__parse_fail(p, KRF_E_PARSE, c->name->start, "split gives several arrays: name one of them, as in split(x, 2)[0]");
    }
    krf__parse_next(p);
    krf__parse_int(p, &which);
    which = which < 0 ? which + c->arguments[1].integer : which;
    return krf__parse_close(p, &open) ? krf__build_section(p->g, x, c->arguments[1].integer, which, axis) : 0;
}

static uint32_t build_average(call *c, uint32_t x) {
    const argument *a = c->arguments;
    krf__axes axes = {a[1].ints.n, a[1].given ? c->axes : NULL, a[3].integer != 0};
    krf__parse_axes(c->p, c->name->start, &a[1].ints, c->axes);
    return c->p->failed ? 0 : krf__build_average(c->p->g, x, a[2].given ? a[2].id : 0, &axes);
}

static uint32_t build(call *c) {
    const argument *a = c->arguments;
    krf_graph *g = c->p->g;
    uint32_t x = a[0].id;
    int axis, axis2;
    switch (c->which) {
    case TAKE: x = flat_or(c, &a[2], x, &axis); return x == 0 ? 0 : krf__build_take(g, x, a[1].id, axis);
    case TAKE_ALONG_AXIS: axis = axis_of(c, &a[2], -1); return krf__build_take_along_axis(g, x, a[1].id, axis);
    case ROLL: return build_roll(c, x);
    case REPEAT: x = flat_or(c, &a[2], x, &axis); return x == 0 ? 0 : krf__build_repeat(g, x, a[1].integer, axis);
    case TILE: return krf__build_tile(g, x, a[1].ints.n, a[1].ints.of);
    case PAD: return build_pad(c, x);
    case CONCATENATE:
    case CONCAT:
    case STACK: return build_join(c);
    case SPLIT: return build_section(c, x);
    case DIAGONAL:
    case TRACE:
        axis = axis_of(c, &a[2], 0);
        axis2 = axis_of(c, &a[3], 1);
        return (c->which == TRACE ? krf__build_trace : krf__build_diagonal)(g, x, a[1].integer, axis, axis2);
    case WINDOWS: return build_windows(c, x);
    case MOVEAXIS: return build_move_axes(c, x);
    case SWAPAXES:
        axis = axis_of(c, &a[1], 0);
        axis2 = axis_of(c, &a[2], 0);
        return krf__build_swap_axes(g, x, axis, axis2);
    case RAVEL:
    case FLATTEN: return krf__build_ravel(g, x);
    case ATLEAST_1D:
    case ATLEAST_2D:
    case ATLEAST_3D: return krf__build_at_least(g, x, (int)c->which - ATLEAST_1D + 1);
    case DIFF:
        axis = axis_of(c, &a[2], -1);
        if (a[1].integer < 0 || a[1].integer > 1000) {
            return krf__parse_fail(c->p, KRF_E_ARGUMENT, c->name->start, "diff: 0 to 1000 times");
        }
        return krf__build_diff(g, x, a[1].given ? (int)a[1].integer : 1, axis);
    case INDICES: return krf__build_indices(g, a[0].ints.n, a[0].ints.of);
    case OUTER: return krf__build_outer(g, x, a[1].id);
    case INNER:
    case DOT: return krf__build_dot(g, movers[c->which].name, x, a[1].id);
    case VDOT: return krf__build_vdot(g, x, a[1].id);
    case AVERAGE: return build_average(c, x);
    case HISTOGRAM: return krf__build_histogram(g, x, a[1].integer, a[2].range[0], a[2].range[1]);
    case MOVERS: break;
    }
    return 0;
}

uint32_t krf__parse_mover(krf__parser *p, size_t which, const krf__token *name, const krf__token *open, uint32_t self) {
    call c = {.p = p, .which = (mover)which, .name = name};
    uint32_t x = 0;
    parse_arguments(&c, self);
    if (krf__parse_close(p, open)) {
        x = krf__parse_built(p, name->start, build(&c));
    }
    for (int i = 0; i < MOST_PARAMETERS; i++) {
        krf__mem_free(c.arguments[i].ids);
    }
    return p->failed ? 0 : x;
}
