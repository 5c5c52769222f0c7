/* hypot.reduce(x, axis=0, keepdims=True), hypot.accumulate(x, axis=0), hypot.outer(x, y). */
#include "base/mem.h"
#include "ir/build_ufunc.h"
#include "ir/parse_call.h"

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

void krf__parse_ufunc_name(krf__parser *p, krf__arguments *a) {
    a->name = p->token;
    krf__parse_next(p);
    krf__parse_next(p);
    a->family = &krf__ufunc_calls;
    a->which = find_name(&p->token);
    krf__parse_next(p);
}

static int most(const krf__arguments *a) { return a->which == OUTER ? 2 : 1; }

static void parse_keyword(krf__parser *p, krf__arguments *a) {
    if (a->which != OUTER && krf__parse_option(p, a, 0, "axis")) {
        a->has_axis = true;
        krf__parse_ints(p, &a->ints[0], false);
    } else if (a->which == REDUCE && krf__parse_option(p, a, 1, "keepdims")) {
        a->keepdims = krf__parse_flag(p);
    } else {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes no keyword %.*s", names[a->which], KRF__SHOWN(&p->token));
    }
}

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    if (krf__parse_at_keyword(p)) {
        parse_keyword(p, a);
    } else if (a->n == most(a)) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes %d operand%s, not more", names[a->which], most(a), most(a) == 1 ? "" : "s");
    } else {
        return &a->ids[a->n++];
    }
    return NULL;
}

static void complete(krf__parser *p, krf__arguments *a) {
    if (a->n < most(a)) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes %d operand%s", names[a->which], most(a), most(a) == 1 ? "" : "s");
    }
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    const bool all = a->has_axis && a->ints[0].none;
    int axes[KRF_MAX_RANK] = {0}; /* along the first axis, as NumPy's */
    uint32_t y = 0;
    if (!krf__parse_axes(p, a->name.start, &a->ints[0], axes)) {
        return 0;
    }
    if (a->which == ACCUMULATE && a->ints[0].n > 1) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "accumulate runs along one axis");
    }
    char *text = krf__calloc(a->name.length + 1, 1);
    if (text == NULL) {
        return krf__parse_memory(p);
    }
    memcpy(text, a->name.start, a->name.length);
    if (a->which == OUTER) {
        y = krf__build_ufunc_outer(p->g, text, a->ids[0], a->ids[1]);
    } else if (a->which == ACCUMULATE) {
        y = krf__build_ufunc_accumulate(p->g, text, a->ids[0], all ? 0 : axes[0]);
    } else {
        const bool scalar = !a->has_axis && krf__node_of(p->g, a->ids[0])->rank == 0;
        y = krf__build_ufunc_reduce(p->g, text, a->ids[0], &(krf__axes){a->has_axis ? a->ints[0].n : 1, all || scalar ? NULL : axes, a->keepdims});
    }
    krf__mem_free(text);
    return krf__parse_built(p, a->name.start, y);
}

const krf__family krf__ufunc_calls = {.argument = argument, .complete = complete, .build = build};
