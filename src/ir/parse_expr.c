/* Expressions, by recursive descent with Python's precedence: operators, and what they stand between. All that holds expressions in brackets, calls and subscripts, is read here, so that
 * the recursion is in one file; what stands in the brackets besides is the business of families (parse_call.h) and parse_subscript.c, which do not know this file. Operators of one level are
 * a loop, so that a sum of 100,000 terms needs no stack; what nests (brackets, signs, powers) is counted. */
#include "base/mem.h"
#include "ir/parse_call.h"
#include "ir/parse_subscript.h"

void krf__parse_value(krf__parser *p, krf__values *values) {
    p->whole = p->token.start;
    p->several.n = 0;
    uint32_t id = krf__parse_expression(p);
    p->whole = NULL;
    *values = p->several;
    if (values->n == 0) {
        *values = (krf__values){.n = 1, .ids = {id}};
    }
}

void krf__parse_values(krf__parser *p, int close, krf__values *values) {
    krf__values more;
    values->n = 0;
    do {
        const char *at = p->token.start;
        if (p->failed || krf__parse_ends(p) || p->token.kind == close) {
            break; /* a last comma */
        }
        krf__parse_value(p, &more);
        if (!p->failed && values->n + more.n > KRF__PARSE_VALUES) {
            krf__parse_fail(p, KRF_E_PARSE, at, "more than %d values", KRF__PARSE_VALUES);
        }
        for (int k = 0; !p->failed && k < more.n; k++) {
            values->ids[values->n++] = more.ids[k];
        }
    } while (krf__parse_skip(p, ','));
}

/* ---- calls ---- */

/* A call of a function of the text: its body, as if it stood here. */
static uint32_t parse_body(krf__parser *p, krf__arguments *a) {
    const char *const whole = p->whole;
    krf__call call;
    krf__values values;
    if (!krf__parse_enter(p, a, &call)) {
        return 0;
    }
    krf__parse_values(p, a->own->tuple ? ')' : 0, &values);
    krf__parse_leave(p, &call);
    p->whole = whole;
    return krf__parse_several(p, &a->name, values.n, values.ids);
}

/* At '('. self: what stands before the dot of a method, else 0. Values in brackets are not alone in their statement. */
static uint32_t parse_arguments(krf__parser *p, krf__arguments *a, uint32_t self) {
    const krf__family *family = a->family;
    const char *const whole = p->whole;
    uint32_t x = 0;
    a->bracket = p->token;
    if (self != 0 && !family->no_methods) {
        a->ids[a->n++] = self;
        a->method = true;
    }
    krf__parse_next(p);
    p->whole = NULL;
    while (!p->failed && p->token.kind != ')') {
        uint32_t *value = family->argument(p, a);
        while (value != NULL && !p->failed) {
            *value = krf__parse_expression(p);
            value = family->given != NULL ? family->given(p, a) : NULL;
        }
        a->comma = p->token.start;
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    if (!p->failed && family->complete != NULL) {
        family->complete(p, a);
    }
    if (krf__parse_close(p, &a->bracket)) {
        p->whole = whole;
        x = a->own != NULL ? parse_body(p, a) : family->build(p, a);
    }
    krf__mem_free(a->list);
    return p->failed ? 0 : x;
}

/* At the bracket, or at hypot of hypot.reduce(x). own: the function of the text that the name is, or NULL. */
static uint32_t parse_call(krf__parser *p, const krf__token *name, const krf__function *own, uint32_t self) {
    krf__arguments a = {.name = *name, .own = own, .family = own != NULL ? &krf__own_calls : NULL};
    if (p->token.kind != '(') {
        krf__parse_ufunc_name(p, &a);
    }
    if (a.family != NULL || krf__parse_find_call(p, &a)) {
        const uint32_t x = parse_arguments(p, &a, self);
        krf__op_release(a.defined);
        return x;
    }
    if (krf__token_is(name, "float") || krf__token_is(name, "int")) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%.*s is no function: name a dtype, such as f64(x) or i64(x)", KRF__SHOWN(name));
    }
    return krf__parse_undefined(p, name, true);
}

/* ---- subscripts ---- */

/* At '['; what the items say of x. */
static bool parse_items(krf__parser *p, uint32_t x, krf__subscript *s) {
    const krf__token open = p->token;
    *s = (krf__subscript){.at = open.start};
    krf__parse_next(p);
    while (!p->failed && (p->token.kind != ']' || s->n == 0)) {
        uint32_t *value = krf__parse_item(p, s);
        if (value != NULL) {
            *value = krf__parse_expression(p);
            krf__parse_item_given(p, s);
        }
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    return krf__parse_close(p, &open) && krf__parse_resolve(p, x, s);
}

static uint32_t parse_subscript(krf__parser *p, uint32_t x) {
    krf__subscript s;
    return parse_items(p, x, &s) ? krf__parse_subscripted(p, x, &s) : 0;
}

/* Behind x.at: x.at[slices].set(v) and its kin. */
static uint32_t parse_update(krf__parser *p, uint32_t x) {
    krf__subscript s;
    krf__op op;
    if (p->failed || p->token.kind != '[') {
        return krf__parse_expected(p, "a subscript: x.at[1:3].set(v)");
    }
    if (!parse_items(p, x, &s) || !krf__parse_update_name(p, &s, &op)) {
        return 0;
    }
    const krf__token open = p->token;
    krf__parse_next(p);
    const uint32_t value = krf__parse_expression(p);
    krf__parse_skip(p, ',');
    return krf__parse_close(p, &open) ? krf__parse_updated(p, x, &s, op, value) : 0;
}

/* ---- operands ---- */

static uint32_t parse_name_or_call(krf__parser *p) {
    krf__token name = p->token;
    bool np =
        krf__token_is(&name, "np") && krf__parse_peek(p).kind == '.' && krf__parse_find(p, &p->values, &name) == NULL;
    if (np) {
        krf__parse_next(p);
        krf__parse_next(p);
        if (krf__token_is(&p->token, "linalg") && krf__parse_peek(p).kind == '.') { /* np.linalg.norm */
            krf__parse_next(p);
            krf__parse_next(p);
        }
        name = p->token;
        if (p->failed || name.kind != KRF__TOKEN_NAME) {
            return krf__parse_expected(p, "a name");
        }
    }
    if (krf__parse_at_ufunc(p) && (np || krf__parse_find(p, &p->values, &name) == NULL)) {
        return parse_call(p, &name, NULL, 0);
    }
    if (krf__parse_peek(p).kind != '(') {
        return krf__parse_name(p, &name, np);
    }
    if (!np && krf__parse_find(p, &p->values, &name) != NULL) {
        return krf__parse_fail(p, KRF_E_PARSE, name.start, "%.*s is a value here and cannot be called",
                               KRF__SHOWN(&name));
    }
    krf__parse_refuse_word(p);
    krf__parse_next(p);
    return parse_call(p, &name, np ? NULL : krf__parse_find_function(p, &name), 0);
}

static uint32_t parse_primary(krf__parser *p) {
    krf__token t = p->token;
    if (t.kind == KRF__TOKEN_NAME) {
        return parse_name_or_call(p);
    }
    if (krf__parse_at_number(p)) {
        return krf__parse_number(p, false);
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

/* At the dot behind x: a method or an attribute. */
static uint32_t parse_attribute(krf__parser *p, uint32_t x) {
    krf__parse_next(p);
    krf__token name = p->token;
    if (p->failed || name.kind != KRF__TOKEN_NAME) {
        return krf__parse_expected(p, "the name of a method, or T");
    }
    krf__parse_next(p);
    if (!p->failed && p->token.kind == '(') {
        return parse_call(p, &name, krf__parse_find_function(p, &name), x);
    }
    if (krf__token_is(&name, "at")) {
        return parse_update(p, x);
    }
    return krf__parse_attribute(p, x, &name);
}

static uint32_t parse_postfix(krf__parser *p) {
    uint32_t x = parse_primary(p);
    while (!p->failed) {
        if (p->token.kind == '.') {
            x = parse_attribute(p, x);
        } else if (p->token.kind == '[') {
            x = parse_subscript(p, x);
        } else if (p->token.kind == '(') {
            return krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a value cannot be called");
        } else {
            break;
        }
    }
    return p->failed ? 0 : x;
}

/* ---- operators ---- */

static uint32_t parse_unary(krf__parser *p);

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
    if (sign.kind == '-' && !p->failed && krf__parse_at_number(p)) {
        /* -2 is one literal, so that constants print and parse alike; -2 ** x and -2[...] are not. */
        int next = krf__parse_peek(p).kind;
        if (next != KRF__TOKEN_POWER && next != '.' && next != '[' && next != '(') {
            return krf__parse_number(p, true);
        }
    }
    uint32_t x = parse_unary(p);
    if (p->failed || sign.kind == '+') {
        return x;
    }
    return krf__parse_built(p, sign.start, krf__build(p->g, sign.kind == '-' ? KRF__negative : KRF__invert, 1, &x));
}

static uint32_t parse_unary(krf__parser *p) {
    if (p->failed || !krf__parse_deeper(p)) {
        return 0;
    }
    uint32_t x = parse_signed(p);
    p->depth--;
    return x;
}

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
