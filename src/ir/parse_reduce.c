/* Calls of reductions and scans: sum(x, axis=0, keepdims=True), cumsum(x, 1), var(x, ddof=1). */
#include "ir/build_composed.h"
#include "ir/build_movement.h"
#include "ir/parse_call.h"

enum { AXIS, KEEPDIMS, DTYPE, DDOF };

static bool composes(const krf__arguments *a) { return a->op == KRF__poison; }
static bool scans(const krf__arguments *a) { return !composes(a) && krf__op_info_of(a->op)->class_ == KRF__CLASS_SCAN; }

static bool casts(const krf__arguments *a) {
    const krf__op folded = composes(a) ? KRF__poison : krf__op_reduction(a->op);
    return folded == KRF__sum || folded == KRF__prod || folded == KRF__mean;
}

/* Python's max(x, y) is not ours: say so. */
static void parse_axis(krf__parser *p, krf__arguments *a) {
    bool two = (a->op == KRF__max || a->op == KRF__min) && p->token.kind == KRF__TOKEN_NAME && krf__parse_find(p, &p->values, &p->token) != NULL;
    if (two) {
        const char *name = a->op == KRF__max ? "max" : "min";
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%s reduces over axes: the larger or smaller of two is %simum",
                        name, name);
    }
    a->has_axis = true;
    krf__parse_ints(p, &a->ints[0], false);
}

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    const bool counts = composes(a) && krf__composed_has_ddof((krf__composed)a->which);
    if (a->n == 0) {
        return krf__parse_operand(p, a);
    }
    if (!scans(a) && krf__parse_option(p, a, KEEPDIMS, "keepdims")) {
        a->keepdims = krf__parse_flag(p);
    } else if (casts(a) && krf__parse_option(p, a, DTYPE, "dtype")) {
        a->has_dtype = krf__parse_dtype(p, &a->dtype);
    } else if (counts && (krf__parse_option(p, a, DDOF, "ddof") || krf__parse_option(p, a, DDOF, "correction"))) {
        krf__parse_int(p, &a->integers[0]);
    } else if (krf__parse_option(p, a, AXIS, "axis") || (!a->given[AXIS] && !krf__parse_at_keyword(p))) {
        a->given[AXIS] = true;
        parse_axis(p, a);
    } else if (krf__parse_at_keyword(p)) {
        krf__parse_refuse_keyword(p, &a->name);
    } else {
        krf__parse_expected(p, "a keyword");
    }
    return NULL;
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    const krf__ints *list = &a->ints[0];
    const char *at = a->name.start;
    const bool all = !a->has_axis || list->none;
    uint32_t x = a->ids[0];
    int axes[KRF_MAX_RANK];
    if (!krf__parse_axes(p, at, list, axes)) {
        return 0;
    }
    if (a->has_dtype) {
        x = krf__parse_built(p, at, krf__build_cast(p->g, x, a->dtype));
    }
    if (composes(a)) {
        krf__axes reduced = {list->n, all ? NULL : axes, a->keepdims};
        return krf__parse_built(p, at, krf__build_composed(p->g, (krf__composed)a->which, x, &reduced, (double)a->integers[0]));
    }
    if (x == 0) {
        return 0;
    }
    if (scans(a) && list->n > 1) {
        return krf__parse_fail(p, KRF_E_PARSE, at, "%.*s runs along one axis", KRF__SHOWN(&a->name));
    }
    if (scans(a)) { /* without an axis over all elements in C order, as NumPy's */
        x = all ? krf__parse_built(p, at, krf__build_ravel(p->g, x)) : x;
        return krf__parse_built(p, at, krf__build_scan(p->g, a->op, x, all ? 0 : axes[0]));
    }
    return krf__parse_built(p, at, krf__build_reduce(p->g, a->op, x, list->n, all ? NULL : axes, a->keepdims));
}

const krf__family krf__reduce_calls = {.argument = argument, .given = krf__parse_behind_operand, .complete = krf__parse_need_operand, .build = build};
