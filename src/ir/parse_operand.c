/* What reductions, views and casts share: an operand, then arguments that are none. */
#include "ir/parse_call.h"

uint32_t *krf__parse_operand(krf__parser *p, krf__arguments *a) {
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

void krf__parse_need_operand(krf__parser *p, krf__arguments *a) {
    if (a->n == 0) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s needs an operand", KRF__SHOWN(&a->name));
    }
}
