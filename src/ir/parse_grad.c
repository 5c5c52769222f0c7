/* Derivatives in the text form: grad(y, x), value_and_grad(y, x), jvp(y, x, tangent), stop_gradient(x). Called by parse_call.c. */
#include "ir/grad.h"
#include "ir/parser.h"

#include <string.h>

static const char *const names[] = {"grad", "value_and_grad", "jvp", "stop_gradient"};
enum { GRAD, VALUE_AND_GRAD, JVP, STOP_GRADIENT, COUNT };

const char *krf__parse_grad_name(size_t i) { return i < COUNT ? names[i] : NULL; }

static int parse_operands(krf__parser *p, const krf__token *name, const krf__token *open, uint32_t self, uint32_t *ids) {
    int n = 0;
    if (self != 0) {
        ids[n++] = self;
    }
    while (!p->failed && p->token.kind != ')') {
        const char *at = p->token.start;
        uint32_t x = krf__parse_expression(p);
        if (!p->failed && n == KRF__PARSE_VALUES) {
            krf__parse_fail(p, KRF_E_PARSE, at, "%.*s takes at most %d operands", KRF__SHOWN(name), KRF__PARSE_VALUES);
        }
        if (!p->failed) {
            ids[n++] = x;
        }
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    return krf__parse_close(p, open) ? n : 0;
}

uint32_t krf__parse_grad(krf__parser *p, size_t which, const krf__token *name, const krf__token *open, uint32_t self) {
    uint32_t ids[KRF__PARSE_VALUES], results[KRF__PARSE_VALUES], tangents[KRF__PARSE_VALUES / 2];
    const char *const whole = p->whole;
    p->whole = NULL;
    int n = parse_operands(p, name, open, self, ids);
    p->whole = whole;
    if (p->failed) {
        return 0;
    }
    if (which == STOP_GRADIENT && n == 1) {
        return krf__parse_built(p, name->start, krf__build_stop_gradient(p->g, ids[0]));
    }
    if (n < 2 || which == STOP_GRADIENT || (which == JVP && n % 2 == 0)) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start,
                               which == STOP_GRADIENT ? "stop_gradient takes one operand"
                               : which == JVP         ? "jvp takes what is differentiated, then pairs of a variable and its tangent"
                                            : "%s takes what is differentiated, then the variables",
                               names[which]);
    }
    if (which == JVP) {
        uint32_t by[KRF__PARSE_VALUES / 2];
        for (int k = 0; k < n / 2; k++) {
            by[k] = ids[1 + 2 * k];
            tangents[k] = ids[2 + 2 * k];
        }
        return krf__parse_built(p, name->start, krf__build_jvp(p->g, ids[0], n / 2, by, tangents));
    }
    const int first = which == VALUE_AND_GRAD;
    results[0] = ids[0];
    if (!krf__build_grad(p->g, ids[0], n - 1, ids + 1, results + first)) {
        return krf__parse_built(p, name->start, 0);
    }
    return krf__parse_several(p, name, n - 1 + first, results);
}
