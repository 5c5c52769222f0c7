/* Calls of elementwise functions: sin(x), x.power(y), where(c, x, y). */
#include "ir/parse_call.h"

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    const int arity = krf__op_info_of(a->op)->arity;
    if (krf__parse_at_keyword(p)) {
        krf__parse_refuse_keyword(p, &a->name);
    } else if (a->n == arity) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s takes %d operand%s, not more", KRF__SHOWN(&a->name), arity, arity == 1 ? "" : "s");
    }
    return p->failed ? NULL : &a->ids[a->n++];
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    const int arity = krf__op_info_of(a->op)->arity;
    if (a->n < arity) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%.*s takes %d operand%s, not %d", KRF__SHOWN(&a->name), arity, arity == 1 ? "" : "s", a->n);
    }
    return krf__parse_built(p, a->name.start, krf__build(p->g, a->op, arity, a->ids));
}

const krf__family krf__elementwise_calls = {.argument = argument, .build = build};
