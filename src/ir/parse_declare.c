/* Reads a declaration, `x: f32[n, 64] strides (64, 1)`, `s: f64`, `mu: float`: a bound name must agree with it, another
 * becomes a placeholder. Extents that are names are taken from the bindings, from earlier declarations, or asked for.
 * Called by parse.c. */
#include "base/mem.h"
#include "ir/parser.h"

#include <string.h>

typedef struct declaration {
    krf__token name, type;
    krf_dtype dtype;
    bool weak, strided;
    int rank;
    int64_t shape[KRF_MAX_RANK], strides[KRF_MAX_RANK];
} declaration;

static int64_t ask_extent(krf__parser *p, const krf__token *name) {
    char text[256];
    if (p->missing_extent == NULL || name->length >= sizeof text) {
        return -1;
    }
    memcpy(text, name->start, name->length);
    text[name->length] = '\0';
    return p->missing_extent(p->user, text);
}

/* One extent: a number, or a name that stands for one. */
static void parse_extent(krf__parser *p, int64_t *extent) {
    krf__token t = p->token;
    if (t.kind == KRF__TOKEN_NAME) {
        const krf__symbol *s = krf__parse_find(p, &p->extents, &t);
        *extent = s != NULL ? s->extent : ask_extent(p, &t);
        if (*extent < 0) {
            krf__parse_fail(p, KRF_E_PARSE, t.start, "the size %.*s is not known: bind it, or an array that has it",
                            KRF__SHOWN(&t));
            return;
        }
        if (s == NULL) {
            krf__parse_set(p, &p->extents, t.start, t.length, (krf__symbol){.extent = *extent});
        }
    } else if (t.kind == KRF__TOKEN_INT && t.integer <= INT64_MAX) {
        *extent = (int64_t)t.integer;
    } else {
        krf__parse_expected(p, "a size (a number or a name)");
        return;
    }
    krf__parse_next(p);
}

static void parse_shape(krf__parser *p, declaration *d) {
    krf__token open = p->token;
    krf__parse_next(p);
    while (!p->failed && p->token.kind != ']') {
        if (d->rank == KRF_MAX_RANK) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "a rank is at most %d", KRF_MAX_RANK);
            return;
        }
        parse_extent(p, &d->shape[d->rank++]);
        if (!krf__parse_skip(p, ',')) {
            break;
        }
    }
    krf__parse_close(p, &open);
}

/* f32[n, 64] strides (64, 1), or one of the weak types. */
static void parse_type(krf__parser *p, declaration *d) {
    d->type = p->token;
    if (krf__token_is(&d->type, "int") || krf__token_is(&d->type, "float") || krf__token_is(&d->type, "complex")) {
        d->weak = true;
        d->dtype = *d->type.start == 'i' ? KRF_I64 : *d->type.start == 'f' ? KRF_F64 : KRF_C128;
        krf__parse_next(p);
        if (p->token.kind == '[') {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start,
                            "%.*s is the type of a weak scalar; arrays have a dtype such as %s", KRF__SHOWN(&d->type),
                            krf_dtype_name(d->dtype));
        }
        return;
    }
    if (!krf__parse_dtype(p, &d->dtype) || p->token.kind != '[') {
        return;
    }
    parse_shape(p, d);
    if (p->failed || !krf__token_is(&p->token, "strides")) {
        return;
    }
    krf__ints ints;
    krf__token at = p->token;
    krf__parse_next(p);
    if (!krf__parse_ints(p, &ints, false)) {
        return;
    }
    if (ints.none || ints.n != d->rank) {
        krf__parse_fail(p, KRF_E_PARSE, at.start, "%d strides for rank %d", ints.n, d->rank);
        return;
    }
    d->strided = true;
    memcpy(d->strides, ints.of, sizeof d->strides);
}

/* Strides as far as they matter: none do in an empty array, nor where an extent is 1. */
static bool same_strides(const declaration *d, const int64_t *strides) {
    bool same = true;
    for (int i = 0; i < d->rank; i++) {
        if (d->shape[i] == 0) {
            return true;
        }
        same &= d->shape[i] == 1 || d->strides[i] == strides[i];
    }
    return same;
}

static bool strides_agree(const krf__parser *p, const declaration *d, uint32_t id) {
    const krf__node *n = krf__node_of(p->g, id);
    int64_t strides[KRF_MAX_RANK];
    if (!d->strided) {
        return true;
    }
    if (n->op == KRF__input) {
        return same_strides(d, p->g->arrays[n->value]->strides);
    }
    if (n->op == KRF__placeholder) {
        return same_strides(d, p->g->placeholders[n->value].strides);
    }
    krf__shape_c_strides(d->rank, d->shape, strides);
    return same_strides(d, strides);
}

/* A known integer that the declared integer cannot hold. */
static bool out_of_range(const krf__parser *p, const declaration *d, uint32_t id) {
    const krf__node *n = krf__node_of(p->g, id);
    const bool known = (n->op == KRF__scalar || n->op == KRF__constant) && n->weak;
    return known && d->rank == 0 && d->dtype != KRF_BOOL && krf__is_int((krf_dtype)n->dtype) && krf__is_int(d->dtype)
           && !krf__int_fits(d->dtype, krf__bits_to_i64(KRF_I64, n->value));
}

/* A bound scalar takes the declared type where that loses nothing: numbers come through the C API as weak ones. 0: it
 * does not. */
static uint32_t adapt_scalar(krf__parser *p, const declaration *d, uint32_t id) {
    const krf__node *n = krf__node_of(p->g, id);
    bool known = n->op == KRF__scalar || n->op == KRF__constant;
    bool narrower = krf__is_complex((krf_dtype)n->dtype) ? !krf__is_complex(d->dtype)
                    : krf__is_real((krf_dtype)n->dtype)  ? !krf__is_real(d->dtype) && !krf__is_complex(d->dtype)
                                                         : d->dtype == KRF_BOOL;
    if (!n->weak || d->rank != 0 || narrower || out_of_range(p, d, id)) {
        return 0;
    }
    if (!d->weak) {
        return krf__build_astype(p->g, id, d->dtype);
    }
    if (krf__is_complex(d->dtype)) {
        return krf__build(p->g, KRF__complex_of, 2, (uint32_t[]){id, krf__build_real(p->g, 0, true)});
    }
    return known ? krf__build_real(p->g, krf__bits_to_f64((krf_dtype)n->dtype, n->value), n->op == KRF__constant) : 0;
}

/* A declared name that is bound: the same node, when it is what the text says. */
static uint32_t check_bound(krf__parser *p, const declaration *d, uint32_t id) {
    const krf__node *n = krf__node_of(p->g, id);
    if (d->weak != n->weak || d->dtype != (krf_dtype)n->dtype) {
        uint32_t adapted = adapt_scalar(p, d, id);
        if (adapted != 0 || p->g->status != KRF_OK) {
            return krf__parse_built(p, d->name.start, adapted);
        }
        if (out_of_range(p, d, id)) {
            return krf__parse_fail(p, KRF_E_DTYPE, d->type.start, "%.*s is declared %.*s, whose range has no %lld", KRF__SHOWN(&d->name), KRF__SHOWN(&d->type),
                                   (long long)krf__bits_to_i64(KRF_I64, n->value));
        }
        const char *weak = krf__weak_name((krf_dtype)n->dtype);
        return krf__parse_fail(p, KRF_E_DTYPE, d->type.start, "%.*s is declared %.*s and bound to %s",
                               KRF__SHOWN(&d->name), KRF__SHOWN(&d->type),
                               n->weak ? weak : krf_dtype_name((krf_dtype)n->dtype));
    }
    if (!krf__shape_equal(d->rank, d->shape, n->rank, krf__shape_of(p->g, id))) {
        krf__str shapes = {0};
        krf__str_shape(&shapes, d->rank, d->shape);
        krf__str_put(&shapes, " and bound to shape ");
        krf__str_shape(&shapes, n->rank, krf__shape_of(p->g, id));
        krf__parse_fail(p, KRF_E_SHAPE, d->name.start, "%.*s is declared with shape %s", KRF__SHOWN(&d->name),
                        shapes.failed ? "?" : shapes.data);
        krf__str_free(&shapes);
        return 0;
    }
    if (!strides_agree(p, d, id)) {
        return krf__parse_fail(p, KRF_E_SHAPE, d->name.start,
                               "%.*s is declared with other strides than it is bound with", KRF__SHOWN(&d->name));
    }
    return id;
}

/* A placeholder for a declared name that nothing binds. */
static uint32_t new_placeholder(krf__parser *p, const declaration *d) {
    char *name = krf__malloc(d->name.length + 1);
    if (name == NULL) {
        return krf__parse_memory(p);
    }
    memcpy(name, d->name.start, d->name.length);
    name[d->name.length] = '\0';
    int64_t c_strides[KRF_MAX_RANK];
    bool strided = false;
    if (d->strided && krf__shape_size(d->rank, d->shape) >= 0) {
        krf__shape_c_strides(d->rank, d->shape, c_strides);
        strided = !same_strides(d, c_strides);
    }
    uint32_t id = krf__build_placeholder(p->g, name, d->dtype, d->weak, d->rank, d->shape, strided ? d->strides : NULL);
    krf__mem_free(name);
    return krf__parse_built(p, d->name.start, id);
}

void krf__parse_declaration(krf__parser *p) {
    declaration d = {.name = p->token};
    const krf__symbol *known = krf__parse_find(p, &p->values, &d.name);
    if (known != NULL && known->declared) {
        krf__parse_fail(p, KRF_E_PARSE, d.name.start, "%.*s is declared or assigned already", KRF__SHOWN(&d.name));
        return;
    }
    krf__parse_next(p);
    krf__parse_next(p);
    parse_type(p, &d);
    if (p->failed) {
        return;
    }
    uint32_t bound = krf__parse_bound_name(p, &d.name);
    uint32_t id = bound != 0 ? check_bound(p, &d, bound) : new_placeholder(p, &d);
    if (id != 0) {
        krf__parse_set(p, &p->values, d.name.start, d.name.length, (krf__symbol){.id = id, .declared = true});
    }
}
