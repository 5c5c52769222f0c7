/* Calls of what users define: name(x, y), or name(x, y, result=1) for one of several results. */
#include "ir/build_call.h"
#include "ir/parser.h"

const krf_op *krf__parse_find_op(const krf__parser *p, const krf__token *name) { return krf__defined_find(p->g->defined, name->start, name->length); }

/* Behind `result=`. */
static void parse_result(krf__parser *p, const krf_op *op, int *result) {
    const char *at = p->token.start;
    int64_t wanted = 0;
    if (krf__parse_int(p, &wanted) && (wanted < 0 || wanted >= op->n_results)) {
        krf__parse_fail(p, KRF_E_PARSE, at, "%s has results 0 to %d", op->name, op->n_results - 1);
    }
    *result = (int)wanted;
}

uint32_t krf__parse_op(krf__parser *p, const krf_op *op, const krf__token *name, uint32_t self) {
    const krf__token open = p->token;
    const char *const whole = p->whole;
    uint32_t operands[KRF__MOST_OPERANDS] = {self}, results[KRF__MOST_RESULTS];
    int n = self != 0, result = -1;
    krf__parse_next(p);
    p->whole = NULL;
    while (!p->failed && p->token.kind != ')') {
        if (krf__token_is(&p->token, "result") && krf__parse_peek(p).kind == '=') {
            krf__parse_next(p);
            krf__parse_next(p);
            parse_result(p, op, &result);
        } else if (p->token.kind == KRF__TOKEN_NAME && krf__parse_peek(p).kind == '=') {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes no keyword %.*s", op->name, KRF__SHOWN(&p->token));
        } else if (n == op->n_parameters) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes %d operand%s, not more", op->name, n, n == 1 ? "" : "s");
        } else {
            operands[n++] = krf__parse_expression(p);
        }
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    if (!krf__parse_close(p, &open)) {
        return 0;
    }
    p->whole = whole;
    if (n < op->n_parameters) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%s takes %d operand%s, not %d", op->name, op->n_parameters, op->n_parameters == 1 ? "" : "s", n);
    }
    if (!krf__build_call(p->g, op, n, operands, results)) {
        return krf__parse_built(p, name->start, 0);
    }
    return result >= 0 ? results[result] : krf__parse_several(p, name, op->n_results, results);
}
