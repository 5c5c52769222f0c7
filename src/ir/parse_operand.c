/* What reductions, views and casts share: an operand, then arguments that are none. */
#include "ir/parse_call.h"

uint32_t *krf__parse_operand(krf__parser *p, krf__arguments *a) {
    if (krf__parse_at_keyword(p)) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s takes its operand first, without a keyword", KRF__SHOWN(&a->name));
    }
    if (p->failed || a->n > 0) {
        return NULL;
    }
    a->n++;
    return &a->ids[0];
}

uint32_t *krf__parse_behind_operand(krf__parser *p, krf__arguments *a) {
    (void)a;
    if (!p->failed && p->token.kind != ')' && p->token.kind != ',') {
        krf__parse_expected(p, "',' or ')'");
    }
    return NULL;
}

bool krf__parse_option(krf__parser *p, krf__arguments *a, int parameter, const char *name) {
    const char *at = p->token.start;
    if (!krf__parse_keyword(p, name)) {
        return false;
    }
    if (a->given[parameter]) {
        krf__parse_twice(p, &a->name, at, name);
    }
    a->given[parameter] = true;
    return !p->failed;
}

void krf__parse_need_operand(krf__parser *p, krf__arguments *a) {
    if (a->n == 0) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s needs an operand", KRF__SHOWN(&a->name));
    }
}
