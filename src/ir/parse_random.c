/* Functions that make random arrays: random_uniform((n, 3), key, offset=0, dtype=f32) and its kin. Called by parse_call.c, behind the opening bracket. */
#include "ir/build_random.h"
#include "ir/parser.h"

#include <string.h>

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

const char *krf__parse_random_name(size_t i) { return i < DRAWS ? draws[i].name : NULL; }

typedef struct arguments {
    int order[PARAMETERS], n; /* the parameters, as they stand without keywords */
    bool given[PARAMETERS];
    uint32_t ids[PARAMETERS];
    krf__ints shape;
    krf_dtype dtype;
} arguments;

static arguments expected(draw which) {
    arguments a = {.dtype = draws[which].dtype};
    for (int i = 0; draws[which].own[i] >= 0; i++) {
        a.order[a.n++] = draws[which].own[i];
    }
    for (int parameter = SHAPE; parameter <= (draws[which].typed ? DTYPE : OFFSET); parameter++) {
        a.order[a.n++] = parameter;
    }
    return a;
}

/* The parameter that the current argument is for, by keyword or by its place; -1 after an error. */
static int parameter_of(krf__parser *p, const arguments *a, const char *name, int place) {
    bool keyword = p->token.kind == KRF__TOKEN_NAME && krf__parse_peek(p).kind == '=';
    int found = !keyword && place < a->n ? a->order[place] : -1;
    for (int i = 0; keyword && i < a->n; i++) {
        found = krf__token_is(&p->token, parameters[a->order[i]]) ? a->order[i] : found;
    }
    if (keyword && found < 0) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes no keyword %.*s", name, KRF__SHOWN(&p->token));
    } else if (found < 0) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes at most %d arguments", name, a->n);
    } else if (a->given[found]) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s: %s is given twice", name, parameters[found]);
    } else if (keyword) {
        krf__parse_next(p);
        krf__parse_next(p);
    }
    return p->failed ? -1 : found;
}

static void read_arguments(krf__parser *p, const char *name, arguments *a) {
    for (int place = 0; !p->failed && p->token.kind != ')'; place++) {
        int parameter = parameter_of(p, a, name, place);
        if (parameter < 0) {
            return;
        }
        a->given[parameter] = true;
        if (parameter == SHAPE) {
            krf__parse_ints(p, &a->shape, false);
        } else if (parameter == DTYPE) {
            krf__parse_dtype(p, &a->dtype);
        } else {
            a->ids[parameter] = krf__parse_expression(p);
        }
        if (!krf__parse_skip(p, ',')) {
            return;
        }
    }
}

static uint32_t build(krf_graph *g, draw which, const arguments *a) {
    krf__draw d = {a->shape.n, a->shape.of, a->ids[KEY], a->ids[OFFSET]};
    switch (which) {
    case BITS: return krf__build_random_bits(g, &d, a->dtype);
    case UNIFORM: return krf__build_random_uniform(g, &d, a->dtype);
    case NORMAL: return krf__build_random_normal(g, &d, a->dtype);
    case INTEGERS: return krf__build_random_integers(g, &d, a->ids[LOW], a->ids[HIGH], a->dtype);
    default: return krf__build_random_bernoulli(g, &d, a->ids[CHANCE]);
    }
}

uint32_t krf__parse_random(krf__parser *p, size_t which, const krf__token *name, const krf__token *open) {
    arguments a = expected((draw)which);
    read_arguments(p, draws[which].name, &a);
    if (!krf__parse_close(p, open)) {
        return 0;
    }
    for (int i = 0; i < a.n; i++) {
        if (!a.given[a.order[i]] && a.order[i] < OFFSET) {
            return krf__parse_fail(p, KRF_E_PARSE, name->start, "%s needs %s", draws[which].name, parameters[a.order[i]]);
        }
    }
    if (a.shape.none) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%s: the shape is an integer or a tuple, not None", draws[which].name);
    }
    if (!a.given[OFFSET]) {
        a.ids[OFFSET] = krf__build_int(p->g, 0, true);
    }
    return krf__parse_built(p, name->start, build(p->g, (draw)which, &a));
}
