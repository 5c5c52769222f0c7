/* Calls of what users define: name(x, y), or name(x, y, result=1) for one of several results; of reductions, name(x, axis=0, keepdims=True), or name(x, axis=0, scan=True). */
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

typedef struct call {
    const krf_op *op;
    uint32_t operands[KRF__MOST_DEFINED];
    int n, result;
    krf__ints axes;
    bool keepdims, scan;
} call;

static void parse_keyword(krf__parser *p, call *c) {
    const krf__token name = p->token;
    const bool reduces = c->op->map != NULL;
    krf__parse_next(p);
    krf__parse_next(p);
    if (krf__token_is(&name, "result")) {
        parse_result(p, c->op, &c->result);
    } else if (reduces && krf__token_is(&name, "axis")) {
        krf__parse_ints(p, &c->axes, false);
    } else if (reduces && (krf__token_is(&name, "keepdims") || krf__token_is(&name, "scan"))) {
        const bool yes = krf__token_is(&p->token, "True");
        *(krf__token_is(&name, "scan") ? &c->scan : &c->keepdims) = yes;
        if (!yes && !krf__token_is(&p->token, "False")) {
            krf__parse_expected(p, "True or False");
        }
        krf__parse_next(p);
    } else {
        krf__parse_fail(p, KRF_E_PARSE, name.start, "%s takes no keyword %.*s", c->op->name, KRF__SHOWN(&name));
    }
}

static void parse_operands(krf__parser *p, call *c) {
    while (!p->failed && p->token.kind != ')') {
        if (p->token.kind == KRF__TOKEN_NAME && krf__parse_peek(p).kind == '=') {
            parse_keyword(p, c);
        } else if (c->n == c->op->n_parameters) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes %d operand%s, not more", c->op->name, c->n, c->n == 1 ? "" : "s");
        } else {
            c->operands[c->n++] = krf__parse_expression(p);
        }
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
}

static bool build(krf__parser *p, const call *c, const krf__token *name, uint32_t *results) {
    int axes[KRF_MAX_RANK];
    if (c->op->map == NULL) {
        return krf__build_call(p->g, c->op, c->n, c->operands, results);
    }
    if (!krf__parse_axes(p, name->start, &c->axes, axes)) {
        return false;
    }
    if (c->scan && (c->axes.none || c->axes.n != 1)) {
        krf__parse_fail(p, KRF_E_PARSE, name->start, "%s: a scan runs along one axis: say which", c->op->name);
        return false;
    }
    if (c->scan) {
        return krf__build_fold_scan(p->g, c->op, c->n, c->operands, axes[0], results);
    }
    const krf__axes reduced = {c->axes.n, c->axes.none ? NULL : axes, c->keepdims};
    return krf__build_fold(p->g, c->op, c->n, c->operands, &reduced, results);
}

uint32_t krf__parse_op(krf__parser *p, const krf_op *op, const krf__token *name, uint32_t self) {
    const krf__token open = p->token;
    const char *const whole = p->whole;
    call c = {.op = op, .operands = {self}, .n = self != 0, .result = -1, .axes = {.none = true}};
    uint32_t results[KRF__MOST_RESULTS];
    krf__parse_next(p);
    p->whole = NULL;
    parse_operands(p, &c);
    if (!krf__parse_close(p, &open)) {
        return 0;
    }
    p->whole = whole;
    if (c.n < op->n_parameters) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%s takes %d operand%s, not %d", op->name, op->n_parameters, op->n_parameters == 1 ? "" : "s", c.n);
    }
    if (!build(p, &c, name, results)) {
        return krf__parse_built(p, name->start, 0);
    }
    return c.result >= 0 ? results[c.result] : krf__parse_several(p, name, op->n_results, results);
}
