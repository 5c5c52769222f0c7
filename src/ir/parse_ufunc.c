/* hypot.reduce(x, axis=0, keepdims=True), hypot.accumulate(x, axis=0), hypot.outer(x, y). */
#include "base/mem.h"
#include "ir/build_ufunc.h"
#include "ir/parser.h"

#include <string.h>

static const char *const names[] = {"reduce", "accumulate", "outer"};
enum { REDUCE, ACCUMULATE, OUTER, COUNT };

static size_t find_name(const krf__token *name) {
    size_t i = 0;
    while (i < COUNT && !krf__token_is(name, names[i])) {
        i++;
    }
    return i;
}

bool krf__parse_at_ufunc(const krf__parser *p) {
    krf__lexer ahead = p->lexer;
    if (p->token.kind != KRF__TOKEN_NAME || krf__lex(&ahead).kind != '.') {
        return false;
    }
    const krf__token method = krf__lex(&ahead);
    return method.kind == KRF__TOKEN_NAME && find_name(&method) < COUNT && krf__lex(&ahead).kind == '(';
}

typedef struct call {
    uint32_t operands[2];
    int n;
    krf__ints axes;
    bool keepdims;
} call;

static void parse_rest(krf__parser *p, size_t which, call *c) {
    const int most = which == OUTER ? 2 : 1;
    while (!p->failed && p->token.kind != ')') {
        const krf__token name = p->token;
        const bool keyword = name.kind == KRF__TOKEN_NAME && krf__parse_peek(p).kind == '=';
        if (keyword) {
            krf__parse_next(p);
            krf__parse_next(p);
        }
        if (keyword && which != OUTER && krf__token_is(&name, "axis")) {
            krf__parse_ints(p, &c->axes, false);
        } else if (keyword && which == REDUCE && krf__token_is(&name, "keepdims")) {
            c->keepdims = krf__token_is(&p->token, "True");
            if (!c->keepdims && !krf__token_is(&p->token, "False")) {
                krf__parse_expected(p, "True or False");
            }
            krf__parse_next(p);
        } else if (keyword) {
            krf__parse_fail(p, KRF_E_PARSE, name.start, "%s takes no keyword %.*s", names[which], KRF__SHOWN(&name));
        } else if (c->n == most) {
            krf__parse_fail(p, KRF_E_PARSE, name.start, "%s takes %d operand%s, not more", names[which], most, most == 1 ? "" : "s");
        } else {
            c->operands[c->n++] = krf__parse_expression(p);
        }
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    if (!p->failed && c->n < most) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes %d operand%s", names[which], most, most == 1 ? "" : "s");
    }
}

uint32_t krf__parse_ufunc(krf__parser *p) {
    const char *const whole = p->whole;
    const krf__token function = p->token, *name = &function;
    call c = {.axes = {.none = true}};
    int axes[KRF_MAX_RANK];
    uint32_t y = 0;
    krf__parse_next(p);
    krf__parse_next(p);
    const size_t which = find_name(&p->token);
    krf__parse_next(p);
    const krf__token open = p->token;
    krf__parse_next(p);
    p->whole = NULL;
    parse_rest(p, which, &c);
    if (!krf__parse_close(p, &open) || !krf__parse_axes(p, name->start, &c.axes, axes)) {
        return 0;
    }
    p->whole = whole;
    if (which == ACCUMULATE && c.axes.n > 1) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "accumulate runs along one axis");
    }
    char *text = krf__calloc(function.length + 1, 1);
    if (text == NULL) {
        return krf__parse_memory(p);
    }
    memcpy(text, function.start, function.length);
    if (which == OUTER) {
        y = krf__build_ufunc_outer(p->g, text, c.operands[0], c.operands[1]);
    } else if (which == ACCUMULATE) { /* along the first axis, as NumPy's */
        y = krf__build_ufunc_accumulate(p->g, text, c.operands[0], c.axes.none ? 0 : axes[0]);
    } else {
        y = krf__build_ufunc_reduce(p->g, text, c.operands[0], &(krf__axes){c.axes.n, c.axes.none ? NULL : axes, c.keepdims});
    }
    krf__mem_free(text);
    return krf__parse_built(p, name->start, y);
}
