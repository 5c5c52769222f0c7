/* Calls of elementwise functions: sin(x), x.power(y), where(c, x, y). */
#include "ir/parse_call.h"

/* clip(x, low, high), where a bound may be None or missing: a_min and a_max, or min and max, by keyword. */
static uint32_t *clip_argument(krf__parser *p, krf__arguments *a) {
    static const char *const names[2][2] = {{"a_min", "min"}, {"a_max", "max"}};
    const char *at = p->token.start;
    int i = 0;
    if (!krf__parse_at_keyword(p)) {
        i = a->n++;
    }
    for (int k = 0; i == 0 && a->n > 0 && k < 4; k++) {
        i = krf__parse_keyword(p, names[k / 2][k % 2]) ? k / 2 + 1 : 0;
    }
    if (i == 0 && krf__parse_at_keyword(p)) {
        krf__parse_refuse_keyword(p, &a->name);
    } else if (i > 2) {
        krf__parse_fail(p, KRF_E_PARSE, at, "clip takes 3 operands, not more");
    } else if (a->given[i]) {
        krf__parse_twice(p, &a->name, at, names[i > 1][0]);
    }
    if (p->failed) {
        return NULL;
    }
    a->given[i] = true;
    if (i > 0 && krf__token_is(&p->token, "None")) {
        krf__parse_next(p);
        return NULL;
    }
    return &a->ids[i];
}

static uint32_t build_clip(krf__parser *p, krf__arguments *a) {
    const uint32_t low = a->ids[1], high = a->ids[2];
    if (a->ids[0] == 0 || (low == 0 && high == 0)) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "clip takes an array and a bound or two: clip(x, low, high), clip(x, low, None)");
    }
    const krf__op op = high == 0 ? KRF__maximum : low == 0 ? KRF__minimum : KRF__clip;
    return krf__parse_built(p, a->name.start, krf__build(p->g, op, op == KRF__clip ? 3 : 2, op == KRF__minimum ? (uint32_t[]){a->ids[0], high} : a->ids));
}

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    if (a->op == KRF__clip) {
        return clip_argument(p, a);
    }
    const int arity = krf__op_info_of(a->op)->arity;
    if (krf__parse_at_keyword(p)) {
        krf__parse_refuse_keyword(p, &a->name);
    } else if (a->n == arity) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s takes %d operand%s, not more", KRF__SHOWN(&a->name), arity, arity == 1 ? "" : "s");
    }
    return p->failed ? NULL : &a->ids[a->n++];
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    if (a->op == KRF__clip) {
        return build_clip(p, a);
    }
    const int arity = krf__op_info_of(a->op)->arity;
    if (a->n < arity) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%.*s takes %d operand%s, not %d", KRF__SHOWN(&a->name), arity, arity == 1 ? "" : "s", a->n);
    }
    return krf__parse_built(p, a->name.start, krf__build(p->g, a->op, arity, a->ids));
}

const krf__family krf__elementwise_calls = {.argument = argument, .build = build};
