/* Operators, literals and names, by recursive descent with Python's precedence. Operators of one level are a loop, so
 * that a sum of 100,000 terms needs no stack; what nests (brackets, signs, powers) is counted. Called by the statements
 * and the calls. */
#include "ir/parser.h"

#include <math.h>
#include <string.h>

enum { LEVEL_COMPARE = 1 };

typedef struct operator_row {
    int token, level;
    krf__op op;
} operator_row;

static const operator_row binary_operators[] = {
    {KRF__TOKEN_EQUAL, LEVEL_COMPARE, KRF__equal},
    {KRF__TOKEN_NOT_EQUAL, LEVEL_COMPARE, KRF__not_equal},
    {'<', LEVEL_COMPARE, KRF__less},
    {KRF__TOKEN_LESS_EQUAL, LEVEL_COMPARE, KRF__less_equal},
    {'>', LEVEL_COMPARE, KRF__greater},
    {KRF__TOKEN_GREATER_EQUAL, LEVEL_COMPARE, KRF__greater_equal},
    {'|', 2, KRF__bitwise_or},
    {'^', 3, KRF__bitwise_xor},
    {'&', 4, KRF__bitwise_and},
    {KRF__TOKEN_LEFT_SHIFT, 5, KRF__left_shift},
    {KRF__TOKEN_RIGHT_SHIFT, 5, KRF__right_shift},
    {'+', 6, KRF__add},
    {'-', 6, KRF__subtract},
    {'*', 7, KRF__multiply},
    {'/', 7, KRF__divide},
    {KRF__TOKEN_FLOOR_DIVIDE, 7, KRF__floor_divide},
    {'%', 7, KRF__remainder},
};

static const operator_row *find_operator(int token) {
    for (size_t i = 0; i < sizeof binary_operators / sizeof *binary_operators; i++) {
        if (binary_operators[i].token == token) {
            return &binary_operators[i];
        }
    }
    return NULL;
}

static uint32_t parse_unary(krf__parser *p);

/* Words that Python has between operands and that have no array meaning. */
void krf__parse_refuse_word(krf__parser *p) {
    static const char *const words[][2] = {{"and", "use & or logical_and, with comparisons in parentheses"},
                                           {"or", "use | or logical_or, with comparisons in parentheses"},
                                           {"not", "use ~ or logical_not"},
                                           {"if", "use where(condition, x, y)"},
                                           {"is", "use =="},
                                           {"in", "it has no meaning for arrays"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (krf__token_is(&p->token, words[i][0])) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "'%s' is not supported: %s", words[i][0], words[i][1]);
        }
    }
}

static uint32_t parse_binary(krf__parser *p, int lowest) {
    uint32_t left = parse_unary(p);
    while (!p->failed) {
        const operator_row *row = find_operator(p->token.kind);
        if (row == NULL) {
            krf__parse_refuse_word(p);
        }
        if (row == NULL || row->level < lowest) {
            break;
        }
        const char *at = p->token.start;
        krf__parse_next(p);
        uint32_t right = parse_binary(p, row->level + 1);
        if (p->failed) {
            return 0;
        }
        left = krf__parse_built(p, at, krf__build(p->g, row->op, 2, (uint32_t[]){left, right}));
        const operator_row *next = find_operator(p->token.kind);
        if (row->level == LEVEL_COMPARE && next != NULL && next->level == LEVEL_COMPARE) {
            return krf__parse_fail(p, KRF_E_PARSE, p->token.start, "comparisons do not chain: write (a < b) & (b < c)");
        }
    }
    return p->failed ? 0 : left;
}

uint32_t krf__parse_expression(krf__parser *p) { return p->failed ? 0 : parse_binary(p, 0); }

bool krf__parse_constant(const krf__token *name, double *value) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"inf", INFINITY}, {"nan", NAN}, {"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (krf__token_is(name, constants[i].name)) {
            *value = constants[i].value;
            return true;
        }
    }
    return false;
}

/* At a literal whose sign is known; negative: a minus stood before it. */
static uint32_t parse_number(krf__parser *p, bool negative) {
    krf__token t = p->token;
    double value = t.real;
    uint32_t id;
    if (t.kind == KRF__TOKEN_INT) {
        if (negative && t.integer > (uint64_t)1 << 63) {
            return krf__parse_fail(p, KRF_E_PARSE, t.start, "an integer beyond 64 bits");
        }
        id = !negative && t.integer > INT64_MAX ? krf__build_large(p->g, t.integer)
                                                : krf__build_int(p->g, (int64_t)(negative ? 0 - t.integer : t.integer), true);
    } else if (t.kind == KRF__TOKEN_IMAGINARY) {
        id = krf__build_complex(p->g, 0, negative ? -value : value, true);
    } else {
        if (t.kind == KRF__TOKEN_NAME) {
            krf__parse_constant(&t, &value);
        }
        /* There is one NaN: its sign would be lost in print. */
        id = krf__build_real(p->g, negative && !isnan(value) ? -value : value, true);
    }
    krf__parse_next(p);
    return krf__parse_built(p, t.start, id);
}

static bool is_number(krf__parser *p) {
    double value;
    return p->token.kind == KRF__TOKEN_INT || p->token.kind == KRF__TOKEN_REAL || p->token.kind == KRF__TOKEN_IMAGINARY
           || (krf__parse_constant(&p->token, &value) && krf__parse_find(p, &p->values, &p->token) == NULL
               && krf__parse_find(p, &p->extents, &p->token) == NULL);
}

/* A name that is no call: a value, a constant, an extent. `np.` before it passes by what the text defines. */
static uint32_t parse_name(krf__parser *p, const krf__token *name, bool np) {
    const krf__symbol *value = np ? NULL : krf__parse_find(p, &p->values, name);
    const krf__symbol *extent = np ? NULL : krf__parse_find(p, &p->extents, name);
    double number;
    if (value != NULL) {
        krf__parse_next(p);
        return value->id;
    }
    if (krf__token_is(name, "True") || krf__token_is(name, "False")) {
        krf__parse_next(p);
        return krf__parse_built(p, name->start, krf__build_bool(p->g, *name->start == 'T'));
    }
    if (extent != NULL) {
        krf__parse_next(p);
        return krf__parse_built(p, name->start, krf__build_int(p->g, extent->extent, true));
    }
    if (krf__parse_constant(name, &number)) {
        return parse_number(p, false);
    }
    krf__parse_refuse_word(p);
    if (krf__token_is(name, "None")) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "None is not a value");
    }
    if (krf__parse_is_function(name) || krf__parse_find_function(p, name) != NULL) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%.*s is a function: it needs its operands in parentheses",
                               KRF__SHOWN(name));
    }
    return krf__parse_undefined(p, name, false);
}

static uint32_t parse_name_or_call(krf__parser *p) {
    krf__token name = p->token;
    bool np =
        krf__token_is(&name, "np") && krf__parse_peek(p).kind == '.' && krf__parse_find(p, &p->values, &name) == NULL;
    if (np) {
        krf__parse_next(p);
        krf__parse_next(p);
        name = p->token;
        if (p->failed || name.kind != KRF__TOKEN_NAME) {
            return krf__parse_expected(p, "a name");
        }
    }
    if (krf__parse_at_ufunc(p) && (np || krf__parse_find(p, &p->values, &name) == NULL)) {
        return krf__parse_ufunc(p);
    }
    if (krf__parse_peek(p).kind != '(') {
        return parse_name(p, &name, np);
    }
    if (!np && krf__parse_find(p, &p->values, &name) != NULL) {
        return krf__parse_fail(p, KRF_E_PARSE, name.start, "%.*s is a value here and cannot be called",
                               KRF__SHOWN(&name));
    }
    krf__parse_refuse_word(p);
    krf__parse_next(p);
    const krf__function *own = np ? NULL : krf__parse_find_function(p, &name);
    return own != NULL ? krf__parse_inlined(p, own, &name, 0) : krf__parse_call(p, &name, 0);
}

static uint32_t parse_primary(krf__parser *p) {
    krf__token t = p->token;
    if (t.kind == KRF__TOKEN_NAME) {
        return parse_name_or_call(p);
    }
    if (is_number(p)) {
        return parse_number(p, false);
    }
    if (t.kind == '[') {
        return krf__parse_fail(p, KRF_E_PARSE, t.start, "a list is not a value: bind an array to a name");
    }
    if (t.kind != '(') {
        return krf__parse_expected(p, "an expression");
    }
    krf__parse_next(p);
    uint32_t x = krf__parse_expression(p);
    if (!p->failed && p->token.kind == ',') {
        return krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a tuple is not a value");
    }
    return krf__parse_close(p, &t) ? x : 0;
}

/* At the dot behind x: a method or .T, .mT. */
static uint32_t parse_attribute(krf__parser *p, uint32_t x) {
    krf__parse_next(p);
    krf__token name = p->token;
    if (p->failed || name.kind != KRF__TOKEN_NAME) {
        return krf__parse_expected(p, "the name of a method, or T");
    }
    krf__parse_next(p);
    if (!p->failed && p->token.kind == '(') {
        const krf__function *own = krf__parse_find_function(p, &name);
        return own != NULL ? krf__parse_inlined(p, own, &name, x) : krf__parse_call(p, &name, x);
    }
    if (krf__token_is(&name, "at")) {
        return krf__parse_update(p, x);
    }
    if (krf__token_is(&name, "T")) {
        return krf__parse_built(p, name.start, krf__build_transpose(p->g, x, NULL));
    }
    int rank = krf__node_of(p->g, x)->rank, axes[KRF_MAX_RANK];
    if (!krf__token_is(&name, "mT")) {
        return krf__parse_fail(p, KRF_E_PARSE, name.start, "%.*s is no attribute: there are T and mT, and methods",
                               KRF__SHOWN(&name));
    }
    if (rank < 2) {
        return krf__parse_fail(p, KRF_E_SHAPE, name.start, "mT needs at least 2 axes, not %d", rank);
    }
    for (int i = 0; i < rank; i++) {
        axes[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    }
    return krf__parse_built(p, name.start, krf__build_transpose(p->g, x, axes));
}

static uint32_t parse_postfix(krf__parser *p) {
    uint32_t x = parse_primary(p);
    while (!p->failed) {
        if (p->token.kind == '.') {
            x = parse_attribute(p, x);
        } else if (p->token.kind == '[') {
            x = krf__parse_subscript(p, x);
        } else if (p->token.kind == '(') {
            return krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a value cannot be called");
        } else {
            break;
        }
    }
    return p->failed ? 0 : x;
}

/* The right operand of ** takes signs and further powers, the left one neither. */
static uint32_t parse_power(krf__parser *p) {
    uint32_t base = parse_postfix(p);
    const char *at = p->token.start;
    if (!krf__parse_skip(p, KRF__TOKEN_POWER)) {
        return base;
    }
    uint32_t exponent = parse_unary(p);
    if (p->failed) {
        return 0;
    }
    return krf__parse_built(p, at, krf__build(p->g, KRF__power, 2, (uint32_t[]){base, exponent}));
}

static uint32_t parse_signed(krf__parser *p) {
    krf__token sign = p->token;
    if (sign.kind != '-' && sign.kind != '+' && sign.kind != '~') {
        return parse_power(p);
    }
    krf__parse_next(p);
    if (sign.kind == '-' && !p->failed && is_number(p)) {
        /* -2 is one literal, so that constants print and parse alike; -2 ** x and -2[...] are not. */
        int next = krf__parse_peek(p).kind;
        if (next != KRF__TOKEN_POWER && next != '.' && next != '[' && next != '(') {
            return parse_number(p, true);
        }
    }
    uint32_t x = parse_unary(p);
    if (p->failed || sign.kind == '+') {
        return x;
    }
    return krf__parse_built(p, sign.start, krf__build(p->g, sign.kind == '-' ? KRF__negative : KRF__invert, 1, &x));
}

static uint32_t parse_unary(krf__parser *p) {
    if (p->failed) {
        return 0;
    }
    if (++p->depth > KRF__PARSE_DEPTH) {
        return krf__parse_fail(p, KRF_E_PARSE, p->token.start, "nested deeper than %d levels", KRF__PARSE_DEPTH);
    }
    uint32_t x = parse_signed(p);
    p->depth--;
    return x;
}
