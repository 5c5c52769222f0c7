/* Functions that move elements (take, roll, pad, concatenate and their kin), and sums over several operands (vdot, average, histogram). A table says what each takes, in order and by keyword; then one builder is
 * called. */
#include "ir/build_movement.h"
#include "ir/build_sums.h"
#include "ir/parse_call.h"

#include "base/mem.h"

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
    TAKE, TAKE_ALONG_AXIS, ROLL, REPEAT, TILE, PAD, CONCATENATE, CONCAT, STACK, VSTACK, HSTACK, DSTACK, COLUMN_STACK, SPLIT, DIAGONAL, TRACE, WINDOWS, MOVEAXIS, SWAPAXES, RAVEL, FLATTEN,
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
    [VSTACK] = {"vstack", {{"arrays", VALUES, false}}},
    [HSTACK] = {"hstack", {{"arrays", VALUES, false}}},
    [DSTACK] = {"dstack", {{"arrays", VALUES, false}}},
    [COLUMN_STACK] = {"column_stack", {{"arrays", VALUES, false}}},
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

static const char *name_of(size_t i) { return i < MOVERS ? movers[i].name : NULL; }

/* The place of the next value of a list; NULL behind its bracket. */
static uint32_t *next_in_list(krf__parser *p, krf__arguments *a, bool more) {
    if (more && !p->failed && p->token.kind != ')' && p->token.kind != ']') {
        if (krf__grow(&a->list, &a->list_capacity, a->n_list + 1, sizeof *a->list)) {
            return &a->list[a->n_list++];
        }
        krf__parse_memory(p);
    }
    krf__parse_close(p, &a->open);
    return NULL;
}

static uint32_t *open_list(krf__parser *p, krf__arguments *a) {
    a->open = p->token;
    if (a->open.kind != '(' && a->open.kind != '[') {
        krf__parse_expected(p, "a list of arrays in brackets");
        return NULL;
    }
    krf__parse_next(p);
    return next_in_list(p, a, true);
}

/* n for all ends; (before, after) for all axes; ((before, after), ...) for each. */
static void parse_pairs(krf__parser *p, krf__arguments *a) {
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
static void parse_mode(krf__parser *p, int64_t *mode) {
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
    krf__token word = p->token;
    word.kind = word.kind == KRF__TOKEN_STRING ? KRF__TOKEN_NAME : word.kind;
    for (int i = 0; i < 4; i++) {
        if (krf__token_is(&word, modes[i])) {
            *mode = i;
            krf__parse_next(p);
            return;
        }
    }
    krf__parse_expected(p, "'constant', 'edge', 'reflect' or 'wrap'");
}

/* (low, high), of numbers. */
static uint32_t *open_range(krf__parser *p, krf__arguments *a) {
    a->open = p->token;
    a->n_range = 0;
    if (!krf__parse_skip(p, '(') && !krf__parse_skip(p, '[')) {
        krf__parse_expected(p, "a pair of numbers in brackets");
        return NULL;
    }
    a->at = p->token.start;
    return &a->ids[a->current];
}

/* Behind one of them. */
static uint32_t *next_in_range(krf__parser *p, krf__arguments *a) {
    const krf__node *n = krf__node_of(p->g, a->ids[a->current]);
    if (!p->failed && n->op != KRF__constant) {
        krf__parse_fail(p, KRF_E_PARSE, a->at, "the ends of a range are numbers");
    }
    a->reals[a->n_range] = p->failed ? 0 : krf__bits_to_f64((krf_dtype)n->dtype, n->value);
    if (a->n_range++ == 1) {
        krf__parse_close(p, &a->open);
        return NULL;
    }
    if (!krf__parse_skip(p, ',')) {
        krf__parse_expected(p, "','");
    }
    a->at = p->token.start;
    return &a->ids[a->current];
}

static uint32_t *parse_argument(krf__parser *p, krf__arguments *a) {
    const int i = a->current;
    const kind what = movers[a->which].takes[i].kind;
    uint32_t *value = NULL;
    switch (what) {
    case VALUE: value = &a->ids[i]; break;
    case VALUES: value = open_list(p, a); break;
    case INTEGER: krf__parse_int(p, &a->integers[i]); break;
    case INTEGERS: krf__parse_ints(p, &a->ints[i], false); break;
    case PAIRS: parse_pairs(p, a); break;
    case MODE: parse_mode(p, &a->integers[i]); break;
    case RANGE: value = open_range(p, a); break;
    case FLAG: a->integers[i] = krf__parse_flag(p); break;
    case NONE: break;
    }
    a->given[i] = !p->failed && !(what == INTEGERS && a->ints[i].none);
    return value;
}

/* The parameter that the current token is the keyword of; goes behind its `=`. -1: no keyword; the number of parameters: of none (and the error). */
static int keyword(krf__parser *p, const krf__arguments *a) {
    if (!krf__parse_at_keyword(p)) {
        return -1;
    }
    for (int i = 0; i < MOST_PARAMETERS && movers[a->which].takes[i].kind != NONE; i++) {
        if (krf__parse_keyword(p, movers[a->which].takes[i].name)) {
            return i;
        }
    }
    krf__parse_refuse_keyword(p, &a->name);
    return MOST_PARAMETERS;
}

static void check_method(krf__parser *p, krf__arguments *a) {
    a->given[0] |= a->method;
    if (a->method && movers[a->which].takes[0].kind != VALUE) {
        krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%s is no method", movers[a->which].name);
    }
}

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    const parameter *takes = movers[a->which].takes;
    check_method(p, a);
    const char *at = p->token.start;
    const int by_name = keyword(p, a), i = by_name >= 0 ? by_name : a->n++;
    if (p->failed) {
        return NULL;
    }
    if (i >= MOST_PARAMETERS || takes[i].kind == NONE) {
        krf__parse_fail(p, KRF_E_PARSE, at, "%s does not take this argument", movers[a->which].name);
        return NULL;
    }
    if (a->given[i]) {
        krf__parse_twice(p, &a->name, at, takes[i].name);
        return NULL;
    }
    a->current = i;
    return parse_argument(p, a);
}

static uint32_t *given(krf__parser *p, krf__arguments *a) {
    const kind what = movers[a->which].takes[a->current].kind;
    return what == VALUES ? next_in_list(p, a, krf__parse_skip(p, ',')) : what == RANGE ? next_in_range(p, a) : NULL;
}

static void complete(krf__parser *p, krf__arguments *a) {
    const parameter *takes = movers[a->which].takes;
    check_method(p, a);
    for (int i = 0; !p->failed && i < MOST_PARAMETERS; i++) {
        if (takes[i].kind != NONE && !takes[i].optional && !a->given[i]) {
            krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%s needs %s", movers[a->which].name, takes[i].name);
        }
    }
}

/* An integer that is an axis; otherwise: when it is not given. */
static int axis_of(krf__parser *p, const krf__arguments *a, int k, int otherwise) {
    krf__ints list = a->ints[k];
    int axes[KRF_MAX_RANK];
    if (!a->given[k]) {
        return otherwise;
    }
    if (list.n == 0) {
        list = (krf__ints){.n = 1, .of = {a->integers[k]}};
    }
    if (list.n != 1) {
        krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start, "%s takes one axis", movers[a->which].name);
        return 0;
    }
    return krf__parse_axes(p, a->name.start, &list, axes) ? axes[0] : 0;
}

/* Along an axis, or over all elements as if x had one axis. */
static uint32_t flat_or(krf__parser *p, const krf__arguments *a, int k, uint32_t x, int *found) {
    *found = axis_of(p, a, k, 0);
    return p->failed ? 0 : a->given[k] ? x : krf__build_ravel(p->g, x);
}

static uint32_t build_roll(krf__parser *p, krf__arguments *a, uint32_t x) {
    int64_t shifts[KRF_MAX_RANK];
    const int n = a->given[2] && a->ints[2].n > a->ints[1].n ? a->ints[2].n : a->ints[1].n;
    int axes[KRF_MAX_RANK];
    krf__parse_axes(p, a->name.start, &a->ints[2], axes);
    if (!p->failed && (n < 1 || (a->ints[1].n != n && a->ints[1].n != 1) || (a->given[2] ? a->ints[2].n != n && a->ints[2].n != 1 : n != 1))) {
        krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start, "roll: %d shifts and %d axes", a->ints[1].n, a->given[2] ? a->ints[2].n : 0);
    }
    for (int i = 0; i < n; i++) {
        shifts[i] = a->ints[1].of[a->ints[1].n == 1 ? 0 : i];
        axes[i] = axes[a->ints[2].n == 1 ? 0 : i];
    }
    return p->failed ? 0 : krf__build_roll(p->g, x, n, shifts, a->given[2] ? axes : NULL);
}

static uint32_t build_pad(krf__parser *p, krf__arguments *a, uint32_t x) {
    krf_graph *g = p->g;
    int rank = krf__node_of(g, x)->rank;
    int64_t widths[2 * KRF_MAX_RANK];
    if (a->n_pairs >= 0 && a->n_pairs != rank) {
        return krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start, "pad: %d pairs of widths for rank %d", a->n_pairs, rank);
    }
    for (int i = 0; i < 2 * rank; i++) {
        widths[i] = a->pairs[a->n_pairs < 0 ? i % 2 : i];
    }
    uint32_t value = a->given[3] ? a->ids[3] : krf__build_int(g, 0, true);
    return krf__build_pad(g, x, widths, (krf_pad_mode)a->integers[2], value);
}

static int listed(const krf__arguments *a) { return a->n_list < 1u << 20 ? (int)a->n_list : 1 << 20; }

static uint32_t build_join(krf__parser *p, krf__arguments *a) {
    krf_graph *g = p->g;
    int n = listed(a), axis = axis_of(p, a, 1, 0);
    bool flat = a->which != STACK && !a->given[1] && a->ints[1].none;
    for (int k = 0; flat && k < n; k++) {
        a->list[k] = krf__build_ravel(g, a->list[k]);
    }
    return p->failed ? 0 : (a->which == STACK ? krf__build_stack : krf__build_concatenate)(g, n, a->list, axis);
}

/* Arrays of few axes get as many as the result has to have: rows of one axis become rows of a matrix (vstack), or its columns (column_stack). */
static uint32_t build_stacked(krf__parser *p, krf__arguments *a) {
    krf_graph *g = p->g;
    const int least = a->which == HSTACK ? 1 : a->which == DSTACK ? 3 : 2, n = listed(a);
    int axis = a->which == VSTACK ? 0 : least - 1;
    for (int k = 0; k < n; k++) {
        const int rank = krf__node_of(g, a->list[k])->rank;
        const bool turned = a->which == COLUMN_STACK && rank < 2;
        axis = a->which == HSTACK && rank > 1 ? 1 : axis;
        a->list[k] = turned ? krf__build_expand_dims(g, krf__build_at_least(g, a->list[k], 1), 1) : krf__build_at_least(g, a->list[k], least);
    }
    return krf__build_concatenate(g, n, a->list, axis);
}

static uint32_t build_windows(krf__parser *p, krf__arguments *a, uint32_t x) {
    int axes[KRF_MAX_RANK];
    if (a->given[2] && a->ints[2].n != a->ints[1].n) {
        return krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start, "sliding_window_view: %d windows and %d axes", a->ints[1].n, a->ints[2].n);
    }
    krf__parse_axes(p, a->name.start, &a->ints[2], axes);
    return p->failed ? 0 : krf__build_windows(p->g, x, a->ints[1].n, a->ints[1].of, a->given[2] ? axes : NULL);
}

static uint32_t build_move_axes(krf__parser *p, krf__arguments *a, uint32_t x) {
    int from[KRF_MAX_RANK], to[KRF_MAX_RANK];
    if (a->ints[1].n != a->ints[2].n) {
        return krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start, "moveaxis: %d axes to %d places", a->ints[1].n, a->ints[2].n);
    }
    krf__parse_axes(p, a->name.start, &a->ints[1], from);
    krf__parse_axes(p, a->name.start, &a->ints[2], to);
    return p->failed ? 0 : krf__build_move_axes(p->g, x, a->ints[1].n, from, to);
}

/* split(x, n)[k]: the parts are no array, so one of them is named at once. */
static uint32_t build_section(krf__parser *p, krf__arguments *a, uint32_t x) {
    krf__token open = p->token;
    int64_t which = 0;
    int axis = axis_of(p, a, 2, 0);
    if (!p->failed && open.kind != '[') {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "split gives several arrays: name one of them, as in split(x, 2)[0]");
    }
    krf__parse_next(p);
    krf__parse_int(p, &which);
    which = which < 0 ? which + a->integers[1] : which;
    return krf__parse_close(p, &open) ? krf__build_section(p->g, x, a->integers[1], which, axis) : 0;
}

static uint32_t build_average(krf__parser *p, krf__arguments *a, uint32_t x) {
    int of[KRF_MAX_RANK];
    krf__axes axes = {a->ints[1].n, a->given[1] ? of : NULL, a->integers[3] != 0};
    krf__parse_axes(p, a->name.start, &a->ints[1], of);
    return p->failed ? 0 : krf__build_average(p->g, x, a->given[2] ? a->ids[2] : 0, &axes);
}

static uint32_t build_mover(krf__parser *p, krf__arguments *a) {
    krf_graph *g = p->g;
    uint32_t x = a->ids[0];
    int axis, axis2;
    switch (a->which) {
    case TAKE: x = flat_or(p, a, 2, x, &axis); return x == 0 ? 0 : krf__build_take(g, x, a->ids[1], axis);
    case TAKE_ALONG_AXIS: axis = axis_of(p, a, 2, -1); return krf__build_take_along_axis(g, x, a->ids[1], axis);
    case ROLL: return build_roll(p, a, x);
    case REPEAT: x = flat_or(p, a, 2, x, &axis); return x == 0 ? 0 : krf__build_repeat(g, x, a->integers[1], axis);
    case TILE: return krf__build_tile(g, x, a->ints[1].n, a->ints[1].of);
    case PAD: return build_pad(p, a, x);
    case CONCATENATE:
    case CONCAT:
    case STACK: return build_join(p, a);
    case VSTACK:
    case HSTACK:
    case DSTACK:
    case COLUMN_STACK: return build_stacked(p, a);
    case SPLIT: return build_section(p, a, x);
    case DIAGONAL:
    case TRACE:
        axis = axis_of(p, a, 2, 0);
        axis2 = axis_of(p, a, 3, 1);
        return (a->which == TRACE ? krf__build_trace : krf__build_diagonal)(g, x, a->integers[1], axis, axis2);
    case WINDOWS: return build_windows(p, a, x);
    case MOVEAXIS: return build_move_axes(p, a, x);
    case SWAPAXES:
        axis = axis_of(p, a, 1, 0);
        axis2 = axis_of(p, a, 2, 0);
        return krf__build_swap_axes(g, x, axis, axis2);
    case RAVEL:
    case FLATTEN: return krf__build_ravel(g, x);
    case ATLEAST_1D:
    case ATLEAST_2D:
    case ATLEAST_3D: return krf__build_at_least(g, x, (int)a->which - ATLEAST_1D + 1);
    case DIFF:
        axis = axis_of(p, a, 2, -1);
        if (a->integers[1] < 0 || a->integers[1] > 1000) {
            return krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start, "diff: 0 to 1000 times");
        }
        return krf__build_diff(g, x, a->given[1] ? (int)a->integers[1] : 1, axis);
    case INDICES: return krf__build_indices(g, a->ints[0].n, a->ints[0].of);
    case OUTER: return krf__build_outer(g, x, a->ids[1]);
    case INNER:
    case DOT: return krf__build_dot(g, movers[a->which].name, x, a->ids[1]);
    case VDOT: return krf__build_vdot(g, x, a->ids[1]);
    case AVERAGE: return build_average(p, a, x);
    case HISTOGRAM: return krf__build_histogram(g, x, a->integers[1], a->reals[0], a->reals[1]);
    case MOVERS: break;
    }
    return 0;
}

static uint32_t build(krf__parser *p, krf__arguments *a) { return krf__parse_built(p, a->name.start, build_mover(p, a)); }

const krf__family krf__move_calls = {.name = name_of, .argument = argument, .given = given, .complete = complete, .build = build};
