/* Functions of the text: `gauss(x, mu, s) = exp(-0.5*((x-mu)/s)**2) / (s*sqrt(2*pi))`. A definition notes where the body stands and looks at its names; a call
 * reads the body, with the arguments in the place of the parameters, as if it stood there. */
#include "base/mem.h"
#include "ir/parse_call.h"

#include <string.h>

static bool same_name(const krf__token *a, const krf__token *b) { return a->length == b->length && memcmp(a->start, b->start, a->length) == 0; }

const krf__function *krf__parse_find_function(krf__parser *p, const krf__token *name) {
    uintptr_t place = (uintptr_t)krf__map_get(&p->functions, name->start, name->length);
    return place != 0 ? &p->function_list[place - 1] : NULL;
}

bool krf__parse_defines(const krf__parser *p) {
    krf__lexer ahead = p->lexer;
    krf__token t = krf__lex(&ahead);
    int depth = 0;
    if (p->token.kind != KRF__TOKEN_NAME || t.kind != '(') {
        return false;
    }
    do {
        depth += t.kind == '(' || t.kind == '[' ? 1 : t.kind == ')' || t.kind == ']' ? -1 : 0;
        t = krf__lex(&ahead);
    } while (depth > 0 && t.kind != KRF__TOKEN_END && t.kind != KRF__TOKEN_ERROR);
    return depth == 0 && t.kind == '=';
}

/* Behind '(' of a definition. */
static void parse_parameters(krf__parser *p, krf__function *f) {
    while (!p->failed && p->token.kind != ')') {
        if (p->token.kind != KRF__TOKEN_NAME) {
            krf__parse_expected(p, "the name of a parameter");
        } else if (f->n_params == KRF__PARSE_PARAMS) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a function has at most %d parameters", KRF__PARSE_PARAMS);
        }
        for (int k = 0; !p->failed && k < f->n_params; k++) {
            if (same_name(&f->params[k], &p->token)) {
                krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s has two parameters named %.*s", KRF__SHOWN(&f->name), KRF__SHOWN(&p->token));
            }
        }
        if (!p->failed) {
            f->params[f->n_params++] = p->token;
            krf__parse_next(p);
        }
        if (!krf__parse_skip(p, ',') && !p->failed && p->token.kind != ')') {
            krf__parse_expected(p, "',' or ')'");
        }
    }
    if (!p->failed && f->n_params == 0) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a function needs a parameter: %.*s = ... gives a value a name", KRF__SHOWN(&f->name));
    }
    krf__parse_next(p);
}

/* A name in a body: something that is known by now. */
static void check_name(krf__parser *p, const krf__function *f, const krf__token *before) {
    const krf__token name = p->token;
    const int next = krf__parse_peek(p).kind;
    krf_dtype dtype;
    double number;
    bool parameter = false;
    if (before->kind == '.' || (next == '=' && (before->kind == ',' || before->kind == '('))) {
        return; /* a method, a keyword */
    }
    for (int k = 0; k < f->n_params; k++) {
        parameter |= same_name(&f->params[k], &name);
    }
    if (next == '(' && same_name(&name, &f->name) && !parameter) {
        krf__parse_fail(p, KRF_E_PARSE, name.start, "%.*s calls itself: functions are inlined, and none can be recursive", KRF__SHOWN(&name));
        return;
    }
    const bool value = parameter || krf__parse_find(p, &p->values, &name) != NULL || krf__parse_find(p, &p->placeholders, &name) != NULL;
    const bool word = krf__token_is(&name, "True") || krf__token_is(&name, "False") || krf__token_is(&name, "None") || krf__token_is(&name, "np");
    const krf_op *op = krf__parse_find_op(p, &name);
    krf__op_release(op);
    const bool function = op != NULL || krf__parse_is_function(&name) || krf__parse_find_function(p, &name) != NULL || krf__parse_token_dtype(&name, &dtype);
    if (value || word || function || krf__parse_find(p, &p->extents, &name) != NULL || (next != '(' && krf__parse_constant(&name, &number))) {
        return;
    }
    krf__parse_refuse_word(p);
    if (!p->failed) {
        krf__parse_undefined(p, &name, next == '(');
    }
}

/* At the first token of a body; goes behind its last. tuple: (x, y) and nothing else. */
static void pass_body(krf__parser *p, krf__function *f) {
    krf__token before = {.kind = '='};
    int depth = 0;
    bool opened = p->token.kind == '(', closed = false, comma = false;
    if (krf__parse_ends(p)) {
        krf__parse_expected(p, "an expression");
    }
    while (!p->failed && !krf__parse_ends(p)) {
        const int kind = p->token.kind;
        opened &= !closed; /* what follows the bracket makes it part of an expression */
        if (kind == KRF__TOKEN_NAME) {
            check_name(p, f, &before);
        }
        depth += kind == '(' || kind == '[' ? 1 : kind == ')' || kind == ']' ? -1 : 0;
        comma |= kind == ',' && depth == 1;
        closed = opened && depth == 0;
        before = p->token;
        if (!p->failed) {
            krf__parse_next(p);
        }
    }
    f->tuple = opened && closed && comma;
}

void krf__parse_definition(krf__parser *p) {
    krf__function f = {.name = p->token};
    if (krf__parse_find_function(p, &f.name) != NULL) {
        krf__parse_fail(p, KRF_E_PARSE, f.name.start, "the function %.*s is defined already", KRF__SHOWN(&f.name));
    } else if (krf__parse_find(p, &p->values, &f.name) != NULL) {
        krf__parse_fail(p, KRF_E_PARSE, f.name.start, "%.*s is a value already, and cannot be a function too", KRF__SHOWN(&f.name));
    }
    krf__parse_next(p);
    krf__parse_next(p);
    parse_parameters(p, &f);
    f.body = p->lexer; /* behind `=` */
    krf__parse_skip(p, '=');
    pass_body(p, &f);
    if (p->failed) {
        return;
    }
    if (!krf__grow(&p->function_list, &p->functions_capacity, p->n_functions + 1, sizeof f) ||
        !krf__map_put(&p->functions, f.name.start, f.name.length, (void *)(uintptr_t)(p->n_functions + 1))) {
        krf__parse_memory(p);
        return;
    }
    p->function_list[p->n_functions++] = f;
}

/* ---- calls ---- */

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    if (krf__parse_at_keyword(p)) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s takes no keywords: its operands go by their places", KRF__SHOWN(&a->own->name));
    }
    a->at = p->token.start;
    return p->failed ? NULL : &a->ids[a->n];
}

static uint32_t *given(krf__parser *p, krf__arguments *a) {
    const krf__function *f = a->own;
    if (a->n++ == f->n_params) {
        krf__parse_fail(p, KRF_E_PARSE, a->at, "%.*s takes %d operand%s, not more", KRF__SHOWN(&f->name), f->n_params, f->n_params == 1 ? "" : "s");
    }
    return NULL;
}

const krf__family krf__own_calls = {.argument = argument, .given = given};

bool krf__parse_enter(krf__parser *p, const krf__arguments *a, krf__call *call) {
    const krf__function *f = a->own;
    *call = (krf__call){.function = f, .at = a->name.start, .outer = p->call, .lexer = p->lexer, .token = p->token};
    if (a->n != f->n_params) {
        krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%.*s takes %d operand%s, not %d", KRF__SHOWN(&f->name), f->n_params, f->n_params == 1 ? "" : "s", a->n);
        return false;
    }
    if (++p->n_calls > KRF__PARSE_CALLS) {
        krf__parse_fail(p, KRF_E_PARSE, a->name.start, "more than %d calls of the program's functions", KRF__PARSE_CALLS);
        return false;
    }
    for (int k = 0; k < a->n; k++) {
        call->arguments[k] = (krf__symbol){.id = a->ids[k], .declared = true};
    }
    p->lexer = f->body;
    p->call = call;
    krf__parse_next(p);
    if (f->tuple) {
        krf__parse_next(p);
    }
    return true;
}

void krf__parse_leave(krf__parser *p, const krf__call *call) {
    const bool tuple = call->function->tuple;
    if (!p->failed && !(tuple ? p->token.kind == ')' : krf__parse_ends(p))) {
        krf__parse_expected(p, "an operator or the end of the function");
    }
    p->call = call->outer;
    p->lexer = call->lexer;
    p->token = call->token;
}
