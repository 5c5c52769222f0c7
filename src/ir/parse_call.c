/* What the name of a function stands for: f(x, y), x.f(y) and np.f(x, y) are the same. Elementwise functions and reductions come from ops.def, others from the tables of their
 * families; then there is what users define. */
#include "ir/build_composed.h"
#include "ir/parse_call.h"

#include <string.h>

/* Those whose functions are no operations. */
static const krf__family *const families[] = {&krf__view_calls, &krf__slice_calls, &krf__cast_calls, &krf__make_calls, &krf__move_calls, &krf__random_calls, &krf__grad_calls};
enum { N_FAMILIES = sizeof families / sizeof *families };

static bool find_named(const krf__token *name, krf__arguments *a) {
    for (size_t k = 0; k < N_FAMILIES; k++) {
        for (size_t i = 0; families[k]->name(i) != NULL; i++) {
            if (krf__token_is(name, families[k]->name(i))) {
                a->family = families[k];
                a->which = i;
                return true;
            }
        }
    }
    for (size_t i = 0; i < KRF__COMPOSED_COUNT; i++) {
        if (krf__token_is(name, krf__composed_name((krf__composed)i))) {
            a->family = &krf__reduce_calls;
            a->which = i;
            return true;
        }
    }
    return false;
}

/* The library's functions. */
static bool find(const krf__token *name, krf__arguments *a) {
    if (find_named(name, a)) {
        return true;
    }
    const krf__op op = krf__op_from_name(name->start, name->length);
    if (op != KRF__poison && krf__op_info_of(op)->class_ != KRF__CLASS_NODE) {
        a->family = krf__op_folds(op) ? &krf__reduce_calls : &krf__elementwise_calls;
        a->op = op;
    } else if (krf__parse_token_dtype(name, &a->dtype)) {
        a->family = &krf__cast_calls;
        a->has_dtype = true;
    }
    return a->family != NULL;
}

bool krf__parse_is_function(const krf__token *name) {
    krf__arguments a = {.op = KRF__poison};
    return find(name, &a);
}

const char *krf__parse_function_name(size_t i) {
    size_t n = 0;
    for (size_t family = 0; family < N_FAMILIES; family++) {
        for (size_t k = 0; families[family]->name(k) != NULL; k++) {
            if (n++ == i) {
                return families[family]->name(k);
            }
        }
    }
    for (size_t k = 0; k < KRF__COMPOSED_COUNT; k++) {
        if (n++ == i) {
            return krf__composed_name((krf__composed)k);
        }
    }
    for (unsigned op = 0; op < KRF__OP_COUNT; op++) {
        const krf__op_info *info = krf__op_info_of((krf__op)op);
        if (info->class_ != KRF__CLASS_NODE && !info->hidden && n++ == i) {
            return info->name;
        }
    }
    return NULL;
}

const krf_op *krf__parse_find_op(const krf__parser *p, const krf__token *name) { return krf__defined_find(p->g->defined, name->start, name->length); }

bool krf__parse_find_call(krf__parser *p, krf__arguments *a) {
    if (find(&a->name, a)) {
        return true;
    }
    a->defined = krf__parse_find_op(p, &a->name);
    a->family = &krf__defined_calls;
    return a->defined != NULL;
}
