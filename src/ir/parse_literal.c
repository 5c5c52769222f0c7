/* What stands in a program and is no operand: lists of integers (axes, shapes), dtypes, True and False. */
#include "ir/parser.h"

#include <limits.h>
#include <math.h>
#include <string.h>

bool krf__parse_none(krf__parser *p) {
    bool none = krf__token_is(&p->token, "None");
    if (none && !p->failed) {
        krf__parse_next(p);
    }
    return none && !p->failed;
}

/* Whether the bracket is part of an expression, (n + 1) * 2, rather than a list. */
static bool goes_on(const krf__parser *p) {
    krf__lexer ahead = p->lexer;
    krf__token t = p->token;
    int depth = 0;
    do {
        depth += t.kind == '(' || t.kind == '[' ? 1 : t.kind == ')' || t.kind == ']' ? -1 : 0;
        t = krf__lex(&ahead);
    } while (depth > 0 && depth <= KRF__PARSE_DEPTH && t.kind != KRF__TOKEN_END && t.kind != KRF__TOKEN_ERROR);
    return depth == 0 && (t.kind == '+' || t.kind == '-' || t.kind == '*' || t.kind == '/' || t.kind == '%' || t.kind == KRF__TOKEN_FLOOR_DIVIDE);
}

bool krf__parse_ints(krf__parser *p, krf__ints *ints, bool items_none) {
    *ints = (krf__ints){0};
    krf__token open = p->token;
    if (p->failed) {
        return false;
    }
    if (krf__parse_none(p)) {
        ints->none = true;
        return true;
    }
    ints->list = (open.kind == '(' || open.kind == '[') && !goes_on(p);
    if (!ints->list) {
        ints->n = 1;
        return krf__parse_int(p, &ints->of[0]);
    }
    krf__parse_next(p);
    while (!p->failed && p->token.kind != ')' && p->token.kind != ']') {
        if (ints->n == KRF_MAX_RANK) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a rank is at most %d", KRF_MAX_RANK);
            return false;
        }
        if (items_none && krf__parse_none(p)) {
            ints->of[ints->n] = KRF_NONE;
        } else {
            (items_none ? krf__parse_bound : krf__parse_int)(p, &ints->of[ints->n]);
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

bool krf__parse_flag(krf__parser *p) {
    bool value = krf__token_is(&p->token, "True");
    if (!value && !krf__token_is(&p->token, "False")) {
        krf__parse_expected(p, "True or False");
    }
    krf__parse_next(p);
    return value;
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

/* Python's own types, which are NumPy's dtypes of 64 bits there; as types of weak scalars they are read elsewhere (parse_declare.c). */
static bool python_dtype(const krf__token *name, krf_dtype *dtype) {
    static const struct {
        const char *name;
        krf_dtype dtype;
    } types[] = {{"float", KRF_F64}, {"int", KRF_I64}, {"complex", KRF_C128}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (krf__token_is(name, types[i].name)) {
            *dtype = types[i].dtype;
            return true;
        }
    }
    return false;
}

bool krf__parse_dtype(krf__parser *p, krf_dtype *dtype) {
    if (krf__token_is(&p->token, "np") && krf__parse_peek(p).kind == '.') {
        krf__parse_next(p);
        krf__parse_next(p);
    }
    krf__token name = p->token;
    name.kind = name.kind == KRF__TOKEN_STRING ? KRF__TOKEN_NAME : name.kind;
    if (p->failed || name.kind != KRF__TOKEN_NAME) {
        krf__parse_expected(p, "a dtype");
    } else if (krf__parse_token_dtype(&name, dtype) || python_dtype(&name, dtype)) {
        krf__parse_next(p);
    } else {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s is not a dtype", KRF__SHOWN(&name));
    }
    return !p->failed;
}

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
