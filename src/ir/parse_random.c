/* Functions that make random arrays: random_uniform((n, 3), key, offset=0, dtype=f32) and its kin. */
#include "ir/build_random.h"
#include "ir/parse_call.h"

enum { LOW, HIGH, CHANCE, SHAPE, KEY, OFFSET, DTYPE, PARAMETERS };
static const char *const parameters[PARAMETERS] = {"low", "high", "p", "shape", "key", "offset", "dtype"};

typedef enum draw { BITS, UNIFORM, NORMAL, INTEGERS, BERNOULLI, DRAWS } draw;

static const struct {
    const char *name;
    int own[3]; /* its parameters before the shape, -1 at the end */
    bool typed;
    krf_dtype dtype; /* unless given */
} draws[DRAWS] = {
    [BITS] = {"random_bits", {-1}, true, KRF_U64},
    [UNIFORM] = {"random_uniform", {-1}, true, KRF_F64},
    [NORMAL] = {"random_normal", {-1}, true, KRF_F64},
    [INTEGERS] = {"random_integers", {LOW, HIGH, -1}, true, KRF_I64},
    [BERNOULLI] = {"random_bernoulli", {CHANCE, -1}, false, KRF_BOOL},
};

static const char *name_of(size_t i) { return i < DRAWS ? draws[i].name : NULL; }

/* Its parameters, as they stand without keywords. */
static int order_of(draw which, int order[PARAMETERS]) {
    int n = 0;
    while (draws[which].own[n] >= 0) {
        order[n] = draws[which].own[n];
        n++;
    }
    for (int parameter = SHAPE; parameter <= (draws[which].typed ? DTYPE : OFFSET); parameter++) {
        order[n++] = parameter;
    }
    return n;
}

/* The parameter that the current argument is for, by keyword or by its place; -1 after an error. */
static int parameter_of(krf__parser *p, const krf__arguments *a, int place) {
    int order[PARAMETERS];
    const int n = order_of((draw)a->which, order);
    const char *name = draws[a->which].name;
    const bool keyword = krf__parse_at_keyword(p);
    int found = !keyword && place < n ? order[place] : -1;
    for (int i = 0; keyword && i < n; i++) {
        found = krf__token_is(&p->token, parameters[order[i]]) ? order[i] : found;
    }
    if (keyword && found < 0) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes no keyword %.*s", name, KRF__SHOWN(&p->token));
    } else if (found < 0) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes at most %d arguments", name, n);
    } else if (a->given[found]) {
        krf__parse_twice(p, &a->name, p->token.start, parameters[found]);
    } else if (keyword) {
        krf__parse_next(p);
        krf__parse_next(p);
    }
    return p->failed ? -1 : found;
}

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    const int parameter = parameter_of(p, a, a->n++);
    if (parameter < 0) {
        return NULL;
    }
    a->given[parameter] = true;
    if (parameter == SHAPE) {
        krf__parse_ints(p, &a->ints[0], false);
    } else if (parameter == DTYPE) {
        krf__parse_dtype(p, &a->dtype);
    } else {
        return &a->ids[parameter];
    }
    return NULL;
}

static uint32_t build_draw(krf_graph *g, const krf__arguments *a) {
    const krf__draw d = {a->ints[0].n, a->ints[0].of, a->ids[KEY], a->given[OFFSET] ? a->ids[OFFSET] : krf__build_int(g, 0, true)};
    const krf_dtype dtype = a->given[DTYPE] ? a->dtype : draws[a->which].dtype;
    switch ((draw)a->which) {
    case BITS: return krf__build_random_bits(g, &d, dtype);
    case UNIFORM: return krf__build_random_uniform(g, &d, dtype);
    case NORMAL: return krf__build_random_normal(g, &d, dtype);
    case INTEGERS: return krf__build_random_integers(g, &d, a->ids[LOW], a->ids[HIGH], dtype);
    default: return krf__build_random_bernoulli(g, &d, a->ids[CHANCE]);
    }
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    int order[PARAMETERS];
    const int n = order_of((draw)a->which, order);
    const char *name = draws[a->which].name;
    for (int i = 0; i < n; i++) {
        if (!a->given[order[i]] && order[i] < OFFSET) {
            return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%s needs %s", name, parameters[order[i]]);
        }
    }
    if (a->ints[0].none) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%s: the shape is an integer or a tuple, not None", name);
    }
    return krf__parse_built(p, a->name.start, build_draw(p->g, a));
}

const krf__family krf__random_calls = {.name = name_of, .argument = argument, .build = build, .no_methods = true};
