/* Derivatives in the text form: grad(y, x), value_and_grad(y, x), jvp(y, x, tangent), stop_gradient(x). */
#include "ir/grad.h"
#include "ir/parse_call.h"

static const char *const names[] = {"grad", "value_and_grad", "jvp", "stop_gradient"};
enum { GRAD, VALUE_AND_GRAD, JVP, STOP_GRADIENT, COUNT };

static const char *name_of(size_t i) { return i < COUNT ? names[i] : NULL; }

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    a->at = p->token.start;
    if (krf__parse_at_keyword(p)) {
        krf__parse_refuse_keyword(p, &a->name);
        return NULL;
    }
    return &a->ids[a->n < KRF__PARSE_VALUES ? a->n : 0];
}

static uint32_t *given(krf__parser *p, krf__arguments *a) {
    if (a->n++ == KRF__PARSE_VALUES) {
        krf__parse_fail(p, KRF_E_PARSE, a->at, "%.*s takes at most %d operands", KRF__SHOWN(&a->name), KRF__PARSE_VALUES);
    }
    return NULL;
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    const size_t which = a->which;
    const int n = a->n;
    uint32_t results[KRF__PARSE_VALUES], tangents[KRF__PARSE_VALUES / 2];
    if (which == STOP_GRADIENT && n == 1) {
        return krf__parse_built(p, a->name.start, krf__build_stop_gradient(p->g, a->ids[0]));
    }
    if (n < 2 || which == STOP_GRADIENT || (which == JVP && n % 2 == 0)) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start,
                               which == STOP_GRADIENT ? "stop_gradient takes one operand"
                               : which == JVP         ? "jvp takes what is differentiated, then pairs of a variable and its tangent"
                                            : "%s takes what is differentiated, then the variables",
                               names[a->which]);
    }
    if (which == JVP) {
        uint32_t by[KRF__PARSE_VALUES / 2];
        for (int k = 0; k < n / 2; k++) {
            by[k] = a->ids[1 + 2 * k];
            tangents[k] = a->ids[2 + 2 * k];
        }
        return krf__parse_built(p, a->name.start, krf__build_jvp(p->g, a->ids[0], n / 2, by, tangents));
    }
    const int first = which == VALUE_AND_GRAD;
    results[0] = a->ids[0];
    if (!krf__build_grad(p->g, a->ids[0], n - 1, a->ids + 1, results + first)) {
        return krf__parse_built(p, a->name.start, 0);
    }
    return krf__parse_several(p, &a->name, n - 1 + first, results);
}

const krf__family krf__grad_calls = {.name = name_of, .argument = argument, .given = given, .build = build};
