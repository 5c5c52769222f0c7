/* Literals, and names that are no calls: values, constants, extents. */
#include "ir/parser.h"

#include <math.h>

uint32_t krf__parse_number(krf__parser *p, bool negative) {
    krf__token t = p->token;
    double value = t.real;
    uint32_t id;
    if (t.kind == KRF__TOKEN_INT) {
        if (negative && t.integer > (uint64_t)1 << 63) {
            return krf__parse_fail(p, KRF_E_PARSE, t.start, "an integer beyond 64 bits");
        }
        id = !negative && t.integer > INT64_MAX ? krf__build_large(p->g, t.integer)
                                                : krf__build_int(p->g, (int64_t)(negative ? 0 - t.integer : t.integer), true);
    } else if (t.kind == KRF__TOKEN_IMAGINARY) {
        id = krf__build_complex(p->g, 0, negative ? -value : value, true);
    } else {
        if (t.kind == KRF__TOKEN_NAME) {
            krf__parse_constant(&t, &value);
        }
        /* There is one NaN: its sign would be lost in print. */
        id = krf__build_real(p->g, negative && !isnan(value) ? -value : value, true);
    }
    krf__parse_next(p);
    return krf__parse_built(p, t.start, id);
}

bool krf__parse_at_number(krf__parser *p) {
    double value;
    return p->token.kind == KRF__TOKEN_INT || p->token.kind == KRF__TOKEN_REAL || p->token.kind == KRF__TOKEN_IMAGINARY
           || (krf__parse_constant(&p->token, &value) && krf__parse_find(p, &p->values, &p->token) == NULL
               && krf__parse_find(p, &p->extents, &p->token) == NULL);
}

uint32_t krf__parse_name(krf__parser *p, const krf__token *name, bool np) {
    const krf__symbol *value = np ? NULL : krf__parse_find(p, &p->values, name);
    const krf__symbol *extent = np ? NULL : krf__parse_find(p, &p->extents, name);
    double number;
    if (value != NULL) {
        krf__parse_next(p);
        return value->id;
    }
    if (krf__token_is(name, "True") || krf__token_is(name, "False")) {
        krf__parse_next(p);
        return krf__parse_built(p, name->start, krf__build_bool(p->g, *name->start == 'T'));
    }
    if (extent != NULL) {
        krf__parse_next(p);
        return krf__parse_built(p, name->start, krf__build_int(p->g, extent->extent, true));
    }
    if (krf__parse_constant(name, &number)) {
        return krf__parse_number(p, false);
    }
    krf__parse_refuse_word(p);
    if (krf__token_is(name, "None")) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "None is not a value");
    }
    if (krf__parse_is_function(name) || krf__parse_find_function(p, name) != NULL) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%.*s is a function: it needs its operands in parentheses",
                               KRF__SHOWN(name));
    }
    return krf__parse_undefined(p, name, false);
}
