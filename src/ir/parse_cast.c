/* Calls of casts: f32(x), cast(x, f32), x.astype(dtype=f32). */
#include "ir/parse_call.h"

static const char *const names[] = {"cast", "astype"};
enum { CASTS = sizeof names / sizeof *names };

static const char *cast_name(size_t i) { return i < CASTS ? names[i] : NULL; }

static uint32_t *argument(krf__parser *p, krf__arguments *a) {
    if (a->n == 0) {
        return krf__parse_operand(p, a);
    }
    const char *at = p->token.start;
    const bool named = krf__parse_at_keyword(p);
    if (named && (a->has_dtype || !krf__parse_keyword(p, "dtype"))) {
        krf__parse_refuse_keyword(p, &a->name);
    } else if (named && a->n > 1) {
        krf__parse_twice(p, &a->name, at, "dtype");
    }
    if (a->n++ > 1 || a->has_dtype) {
        krf__parse_close(p, &a->bracket);
        return NULL;
    }
    krf__parse_dtype(p, &a->dtype);
    return NULL;
}

static void complete(krf__parser *p, krf__arguments *a) {
    krf__parse_need_operand(p, a);
    if (!p->failed && a->n == 1 && !a->has_dtype) {
        krf__parse_expected(p, "a dtype");
    }
}

static uint32_t build(krf__parser *p, krf__arguments *a) { return krf__parse_built(p, a->name.start, krf__build_astype(p->g, a->ids[0], a->dtype)); }

/* has_dtype: the function's name is one. */
const krf__family krf__cast_calls = {.name = cast_name, .argument = argument, .given = krf__parse_behind_operand, .complete = complete, .build = build};
