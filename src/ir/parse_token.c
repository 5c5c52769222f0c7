/* Goes over the words of a program, and keeps what its names stand for. Called by all other files of the parser. */
#include "base/mem.h"
#include "ir/parser.h"

#include <string.h>

void krf__parse_next(krf__parser *p) {
    p->token = krf__lex(&p->lexer);
    if (p->token.kind == KRF__TOKEN_ERROR) {
        if (p->token.integer != 0) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s U+%04X", p->lexer.error, (unsigned)p->token.integer);
        }
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s", p->lexer.error);
    }
}

bool krf__parse_deeper(krf__parser *p) {
    if (++p->depth > KRF__PARSE_DEPTH) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "nested deeper than %d levels", KRF__PARSE_DEPTH);
    }
    return !p->failed;
}

krf__token krf__parse_peek(const krf__parser *p) {
    krf__lexer ahead = p->lexer;
    return krf__lex(&ahead);
}

bool krf__parse_skip(krf__parser *p, int kind) {
    if (p->failed || p->token.kind != kind) {
        return false;
    }
    krf__parse_next(p);
    return true;
}

bool krf__parse_close(krf__parser *p, const krf__token *open) {
    int kind = open->kind == '(' ? ')' : ']';
    if (p->failed) {
        return false;
    }
    if (p->token.kind == KRF__TOKEN_END) {
        krf__parse_fail(p, KRF_E_PARSE, open->start, "this '%c' is never closed", *open->start);
    } else if (p->token.kind != kind) {
        krf__parse_expected(p, kind == ')' ? "')'" : "']'");
    } else {
        krf__parse_next(p);
    }
    return !p->failed;
}

const krf__symbol *krf__parse_find(krf__parser *p, const krf__map *map, const krf__token *name) {
    for (int k = 0; p->call != NULL && map == &p->values && k < p->call->function->n_params; k++) {
        const krf__token *param = &p->call->function->params[k];
        if (param->length == name->length && memcmp(param->start, name->start, name->length) == 0) {
            return &p->call->arguments[k];
        }
    }
    uintptr_t place = (uintptr_t)krf__map_get(map, name->start, name->length);
    return place != 0 ? &p->symbols[place - 1] : NULL;
}

void krf__parse_set(krf__parser *p, krf__map *map, const char *name, size_t length, krf__symbol symbol) {
    uintptr_t place = (uintptr_t)krf__map_get(map, name, length);
    if (place == 0) {
        if (!krf__grow(&p->symbols, &p->symbols_capacity, p->n_symbols + 1, sizeof symbol)
            || !krf__map_put(map, name, length, (void *)(uintptr_t)(p->n_symbols + 1))) {
            krf__parse_memory(p);
            return;
        }
        place = ++p->n_symbols;
    }
    p->symbols[place - 1] = symbol;
}

/* What a name stood for before the text declared it: a bound value, or a placeholder that the graph has already. */
uint32_t krf__parse_bound_name(krf__parser *p, const krf__token *name) {
    const krf__symbol *s = krf__parse_find(p, &p->values, name);
    s = s != NULL ? s : krf__parse_find(p, &p->placeholders, name);
    return s != NULL ? s->id : 0;
}

bool krf__parse_ends(const krf__parser *p) { return p->token.kind == KRF__TOKEN_NEWLINE || p->token.kind == KRF__TOKEN_END; }

bool krf__parse_at_keyword(const krf__parser *p) { return !p->failed && p->token.kind == KRF__TOKEN_NAME && krf__parse_peek(p).kind == '='; }

bool krf__parse_keyword(krf__parser *p, const char *name) {
    if (!krf__parse_at_keyword(p) || !krf__token_is(&p->token, name)) {
        return false;
    }
    krf__parse_next(p);
    krf__parse_next(p);
    return !p->failed;
}

void krf__parse_twice(krf__parser *p, const krf__token *function, const char *at, const char *parameter) {
    krf__parse_fail(p, KRF_E_PARSE, at, "%.*s: %s is given twice", KRF__SHOWN(function), parameter);
}

void krf__parse_refuse_keyword(krf__parser *p, const krf__token *function) {
    krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s takes no keyword %.*s here", KRF__SHOWN(function), KRF__SHOWN(&p->token));
}
