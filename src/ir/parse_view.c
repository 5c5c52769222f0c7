/* Calls of views whose arguments are integers: transpose(x, (1, 0)), x.reshape(2, -1), squeeze(x, axis=0), slice(x, (1,), (4,)). */
#include "ir/build_movement.h"
#include "ir/parse_call.h"

typedef enum view { TRANSPOSE, PERMUTE_DIMS, RESHAPE, BROADCAST_TO, EXPAND_DIMS, SQUEEZE, FLIP, VIEWS } view;

/* keyword: what the second argument is called. */
static const struct {
    const char *name, *keyword;
} views[VIEWS] = {
    [TRANSPOSE] = {"transpose", "axes"},     [PERMUTE_DIMS] = {"permute_dims", "axes"}, [RESHAPE] = {"reshape", "shape"}, [BROADCAST_TO] = {"broadcast_to", "shape"},
    [EXPAND_DIMS] = {"expand_dims", "axis"}, [SQUEEZE] = {"squeeze", "axis"},           [FLIP] = {"flip", "axis"},
};

static const char *view_name(size_t i) { return i < VIEWS ? views[i].name : NULL; }

/* squeeze and flip over one axis, several, or all that serve: one reshape, one slice. */
static uint32_t build_each(krf__parser *p, const krf__arguments *a, uint32_t x, const krf__ints *list) {
    krf_graph *g = p->g;
    bool flip = a->which == FLIP;
    int axes[KRF_MAX_RANK], rank = krf__node_of(g, x)->rank, kept = 0;
    if (!krf__parse_axes(p, a->name.start, list, axes)) {
        return 0;
    }
    uint32_t wanted = 0;
    for (int i = 0; !list->none && i < list->n; i++) {
        int axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank || (wanted >> axis & 1) != 0) {
            return krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start,
                                   "%s: axis %d is given twice or out of range for rank %d", flip ? "flip" : "squeeze",
                                   axes[i], rank);
        }
        wanted |= 1u << axis;
    }
    int64_t shape[KRF_MAX_RANK];
    krf_range ranges[KRF_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        int64_t extent = krf__shape_of(g, x)[i];
        bool chosen = list->none ? flip || extent == 1 : (wanted >> i & 1) != 0;
        if (chosen && !flip && extent != 1) {
            return krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start, "squeeze: axis %d has extent %lld, not 1", i,
                                   (long long)extent);
        }
        ranges[i] = (krf_range){KRF_NONE, KRF_NONE, chosen ? -1 : 1};
        if (!chosen) {
            shape[kept++] = extent;
        }
    }
    return flip ? krf__build_slice(g, x, rank, ranges) : krf__build_reshape(g, x, kept, shape);
}

static uint32_t build_named(krf__parser *p, const krf__arguments *a, uint32_t x, const krf__ints *list) {
    krf_graph *g = p->g;
    int axes[KRF_MAX_RANK], rank = krf__node_of(g, x)->rank;
    switch ((view)a->which) {
    case RESHAPE: return krf__build_reshape(g, x, list->n, list->of);
    case BROADCAST_TO: return krf__build_broadcast_to(g, x, list->n, list->of);
    case SQUEEZE:
    case FLIP: return build_each(p, a, x, list);
    case EXPAND_DIMS:
        if (list->none || list->n != 1) {
            return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "expand_dims takes one axis");
        }
        return krf__parse_axes(p, a->name.start, list, axes) ? krf__build_expand_dims(g, x, axes[0]) : 0;
    default: /* transpose, permute_dims */
        if (!list->none && list->n != rank) {
            return krf__parse_fail(p, KRF_E_ARGUMENT, a->name.start, "%.*s: %d axes for rank %d", KRF__SHOWN(&a->name),
                                   list->n, rank);
        }
        return krf__parse_axes(p, a->name.start, list, axes) ? krf__build_transpose(g, x, list->none ? NULL : axes) : 0;
    }
}

/* x.reshape((2, -1)), or x.reshape(2, -1) */
static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    krf__ints *list = &a->ints[0];
    if (a->n == 0) {
        return krf__parse_operand(p, a);
    }
    const char *at = p->token.start;
    const bool named = krf__parse_at_keyword(p);
    if (named && !krf__parse_keyword(p, views[a->which].keyword)) {
        krf__parse_refuse_keyword(p, &a->name);
    } else if (named && a->n > 1) {
        krf__parse_twice(p, &a->name, at, views[a->which].keyword);
    }
    if (a->n++ == 1) {
        krf__parse_ints(p, list, false);
        a->one_list = list->list || list->none;
        return NULL;
    }
    if (a->one_list) {
        krf__parse_close(p, &a->bracket);
    } else if (list->n == KRF_MAX_RANK) {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a rank is at most %d", KRF_MAX_RANK);
    } else if (krf__parse_int(p, &list->of[list->n])) {
        list->n++;
    }
    return NULL;
}

static uint32_t build(krf__parser *p, krf__arguments *a) {
    const bool shape = a->which == RESHAPE || a->which == BROADCAST_TO;
    a->ints[0].none |= a->n < 2;
    if (shape && a->ints[0].none) {
        return krf__parse_fail(p, KRF_E_PARSE, a->name.start, "%.*s needs a shape", KRF__SHOWN(&a->name));
    }
    return krf__parse_built(p, a->name.start, build_named(p, a, a->ids[0], &a->ints[0]));
}

const krf__family krf__view_calls = {
    .name = view_name, .argument = argument, .given = krf__parse_behind_operand, .complete = krf__parse_need_operand, .build = build};

/* ---- slice(x, starts, stops, steps), lists over the first axes; None as in x[None:None] ---- */

static const char *slice_name(size_t i) { return i == 0 ? "slice" : NULL; }

static uint32_t *slice_argument(krf__parser *p, krf__arguments *a) {
    if (a->n == 0) {
        return krf__parse_operand(p, a);
    }
    if (krf__parse_at_keyword(p)) {
        krf__parse_refuse_keyword(p, &a->name);
        return NULL;
    }
    if (a->n == 4) {
        krf__parse_close(p, &a->bracket);
        return NULL;
    }
    krf__parse_ints(p, &a->ints[a->n++ - 1], true);
    return NULL;
}

static uint32_t build_slice(krf__parser *p, krf__arguments *a) {
    const krf__ints *lists = a->ints;
    krf_range ranges[KRF_MAX_RANK];
    int n = 0;
    for (int i = 0; i < 3; i++) {
        n = lists[i].n > n ? lists[i].n : n;
    }
    for (int i = 0; i < n; i++) {
        ranges[i].start = i < lists[0].n ? lists[0].of[i] : KRF_NONE;
        ranges[i].stop = i < lists[1].n ? lists[1].of[i] : KRF_NONE;
        ranges[i].step = i < lists[2].n && lists[2].of[i] != KRF_NONE ? lists[2].of[i] : 1;
    }
    return krf__parse_built(p, a->name.start, krf__build_slice(p->g, a->ids[0], n, ranges));
}

const krf__family krf__slice_calls = {
    .name = slice_name, .argument = slice_argument, .given = krf__parse_behind_operand, .complete = krf__parse_need_operand, .build = build_slice};

/* ---- attributes ---- */

uint32_t krf__parse_attribute(krf__parser *p, uint32_t x, const krf__token *name) {
    int64_t measure;
    if (krf__parse_measure(p, x, name, &measure)) {
        return p->failed ? 0 : krf__parse_built(p, name->start, krf__build_int(p->g, measure, true));
    }
    if (krf__token_is(name, "T")) {
        return krf__parse_built(p, name->start, krf__build_transpose(p->g, x, NULL));
    }
    if (krf__token_is(name, "real") || krf__token_is(name, "imag")) {
        return krf__parse_built(p, name->start, krf__build(p->g, krf__token_is(name, "real") ? KRF__real_part : KRF__imag_part, 1, &x));
    }
    int rank = krf__node_of(p->g, x)->rank, axes[KRF_MAX_RANK];
    if (!krf__token_is(name, "mT")) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%.*s is no attribute: there are T, mT, real, imag, shape, size and ndim, and methods",
                               KRF__SHOWN(name));
    }
    if (rank < 2) {
        return krf__parse_fail(p, KRF_E_SHAPE, name->start, "mT needs at least 2 axes, not %d", rank);
    }
    for (int i = 0; i < rank; i++) {
        axes[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    }
    return krf__parse_built(p, name->start, krf__build_transpose(p->g, x, axes));
}
