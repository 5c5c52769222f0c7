/* Calls of what users define: name(x, y), or name(x, y, result=1) for one of several results; of reductions, name(x, axis=0, keepdims=True), or name(x, axis=0, scan=True). */
#include "ir/build_call.h"
#include "ir/parse_call.h"

enum { RESULT, AXIS, KEEPDIMS, SCAN };

/* Behind `result=`. */
static void parse_result(krf__parser *p, const krf_op *op, int64_t *result) {
    const char *at = p->token.start;
    int64_t wanted = 0;
    if (krf__parse_int(p, &wanted) && (wanted < 0 || wanted >= op->n_results)) {
        krf__parse_fail(p, KRF_E_PARSE, at, "%s has results 0 to %d", op->name, op->n_results - 1);
    }
    *result = wanted;
}

static void parse_keyword(krf__parser *p, krf__arguments *a) {
    const bool reduces = a->defined->map != NULL;
    if (krf__parse_option(p, a, RESULT, "result")) {
        parse_result(p, a->defined, &a->integers[0]);
    } else if (reduces && krf__parse_option(p, a, AXIS, "axis")) {
        a->has_axis = true;
        krf__parse_ints(p, &a->ints[0], false);
    } else if (reduces && krf__parse_option(p, a, KEEPDIMS, "keepdims")) {
        a->keepdims = krf__parse_flag(p);
    } else if (reduces && krf__parse_option(p, a, SCAN, "scan")) {
        a->scan = krf__parse_flag(p);
    } else {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes no keyword %.*s", a->defined->name, KRF__SHOWN(&p->token));
    }
}

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    if (krf__parse_at_keyword(p)) {
        parse_keyword(p, a);
    } else if (a->n == a->defined->n_parameters) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s takes %d operand%s, not more", a->defined->name, a->n, a->n == 1 ? "" : "s");
    } else {
        return &a->ids[a->n++];
    }
    return NULL;
}

static bool build_results(krf__parser *p, const krf__arguments *a, uint32_t *results) {
    const krf_op *op = a->defined;
    const bool all = !a->has_axis || a->ints[0].none;
    int axes[KRF_MAX_RANK];
    if (op->map == NULL) {
        return krf__build_call(p->g, op, a->n, a->ids, results);
    }
    if (!krf__parse_axes(p, a->name.start, &a->ints[0], axes)) {
        return false;
    }
    if (a->scan && (all || a->ints[0].n != 1)) {
        krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%s: a scan runs along one axis: say which", op->name);
        return false;
    }
    if (a->scan) {
        return krf__build_fold_scan(p->g, op, a->n, a->ids, axes[0], results);
    }
    const krf__axes reduced = {a->ints[0].n, all ? NULL : axes, a->keepdims};
    return krf__build_fold(p->g, op, a->n, a->ids, &reduced, results);
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    const krf_op *op = a->defined;
    uint32_t results[KRF__MOST_RESULTS];
    if (a->n < op->n_parameters) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%s takes %d operand%s, not %d", op->name, op->n_parameters, op->n_parameters == 1 ? "" : "s", a->n);
    }
    if (!build_results(p, a, results)) {
        return krf__parse_built(p, a->name.start, 0);
    }
    return a->given[RESULT] ? results[a->integers[0]] : krf__parse_several(p, &a->name, op->n_results, results);
}

const krf__family krf__defined_calls = {.argument = argument, .build = build};
