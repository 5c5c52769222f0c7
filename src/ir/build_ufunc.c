/* Sums, products and extremes are the library's own; every other function becomes a definition of a reduction: of one field where the function has an identity, else with a
 * second one that says whether there was an element. */
#include "ir/build_ufunc.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/body_function.h"
#include "ir/build_call.h"
#include "ir/make_op.h"

#include <math.h>
#include <string.h>

/* What the library has for a function; poison: nothing. neutral: it has an identity. absolute: the identity takes the sign away, hypot(0, -3) is 3: so does the map, that it be no
 * matter how often the identity takes part. */
static const struct {
    krf__op function, reduction, scan;
    bool neutral;
    double identity;
    bool absolute;
} known[] = {
    {KRF__add, KRF__sum, KRF__cumsum, true, 0, false},
    {KRF__multiply, KRF__prod, KRF__cumprod, true, 1, false},
    {KRF__maximum, KRF__max, KRF__cummax, false, 0, false},
    {KRF__minimum, KRF__min, KRF__cummin, false, 0, false},
    {KRF__logical_and, KRF__all, KRF__cummin, true, 1, false},
    {KRF__logical_or, KRF__any, KRF__cummax, true, 0, false},
    {KRF__hypot, KRF__poison, KRF__poison, true, 0, true},
    {KRF__logaddexp, KRF__poison, KRF__poison, true, -INFINITY, false},
    {KRF__fmax, KRF__poison, KRF__poison, true, NAN, false},
    {KRF__fmin, KRF__poison, KRF__poison, true, NAN, false},
    {KRF__gcd, KRF__poison, KRF__poison, true, 0, true},
    {KRF__lcm, KRF__poison, KRF__poison, true, 1, true},
    {KRF__bitwise_or, KRF__poison, KRF__poison, true, 0, false},
    {KRF__bitwise_xor, KRF__poison, KRF__poison, true, 0, false},
    {KRF__bitwise_and, KRF__poison, KRF__poison, true, -1, false},
};
enum { KNOWN = sizeof known / sizeof *known };

static size_t find_known(krf__op op) {
    size_t i = 0;
    while (i < KNOWN && known[i].function != op) {
        i++;
    }
    return op == KRF__poison ? (size_t)KNOWN : i;
}

/* That of a function where its operands are x. Without NaNs fmax is maximum, whose identity is an end of the dtype. */
static size_t find_for(const krf_graph *g, krf__op op, uint32_t x) {
    const bool no_nan = krf__is_int(krf__dtype_of(g, x)) || krf__dtype_of(g, x) == KRF_BOOL;
    return find_known(no_nan && op == KRF__fmax ? KRF__maximum : no_nan && op == KRF__fmin ? KRF__minimum : op);
}

typedef struct ufunc {
    krf__op op;         /* poison: a definition */
    const krf_op *own;  /* retained */
    char type[16];      /* of operands and result */
    bool neutral;
    double identity;
    bool absolute;
} ufunc;

static uint32_t refuse(krf_graph *g, const char *method, const char *function, const char *why) {
    return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %.64s %s", method, function, why);
}

static bool find(krf_graph *g, const char *method, const char *function, ufunc *u) {
    *u = (ufunc){.op = krf__op_from_name(function, strlen(function))};
    const krf__op_info *info = krf__op_info_of(u->op);
    if (u->op != KRF__poison && (info->class_ != KRF__CLASS_ELEMENTWISE || info->arity != 2)) {
        refuse(g, method, function, "is no function of two operands");
        return false;
    }
    if (u->op == KRF__poison) {
        u->own = krf__defined_find(g->defined, function, strlen(function));
        if (u->own == NULL) {
            refuse(g, method, function, "is no function here");
        } else if (u->own->map != NULL || u->own->n_parameters != 2 || u->own->n_results != 1) {
            refuse(g, method, function, "is no function of two operands with one result");
        }
    }
    return g->status == KRF_OK;
}

static void put_type(char *text, const krf__variable *v) {
    char letter[2] = {v->letter, '\0'};
    strcpy(text, v->letter != 0 ? letter : krf_dtype_name((krf_dtype)v->dtype));
}

/* A reduction of x's elements by the function; the caller's reference. */
static krf_op *make(krf_graph *g, const char *method, const char *function, uint32_t x, ufunc *u) {
    bool narrow, fits = true;
    if (u->own != NULL) {
        char other[2][16];
        put_type(u->type, &u->own->variables[0]);
        put_type(other[0], &u->own->parameters[0]);
        put_type(other[1], &u->own->parameters[1]);
        fits = strcmp(u->type, other[0]) == 0 && strcmp(u->type, other[1]) == 0;
    } else {
        const krf__rule rule = krf__op_info_of(u->op)->rule;
        strcpy(u->type, rule == KRF__RULE_REAL ? "F" : "T");
        fits = !krf__op_gives_bool(u->op) && krf__body_function(function, strlen(function), &narrow) != KRF__poison;
        const size_t place = find_known(u->op);
        u->neutral = place < KNOWN && known[place].neutral;
        u->identity = place < KNOWN ? known[place].identity : 0;
        u->absolute = place < KNOWN && known[place].absolute;
        if (u->op == KRF__bitwise_and && krf__dtype(krf__dtype_of(g, x))->kind == KRF__KIND_UINT) {
            u->identity = INFINITY; /* all bits: -1, or the upper end */
        }
    }
    if (!fits) {
        refuse(g, method, function, "has no result of its operands' type, or no code of its own: it cannot be applied again and again");
        return NULL;
    }
    if (u->own == NULL && !krf__build_defined(g, u->op, 2, (uint32_t[]){x, x})) {
        return NULL;
    }
    krf__str parameters = {0}, fields = {0}, combine = {0}, results = {0};
    krf__str_printf(&parameters, "%s x", u->type);
    krf__str_printf(&fields, u->neutral ? "%s v" : "%s v, bool any", u->type);
    krf__str_printf(&results, "%s r", u->type);
    if (u->neutral) {
        krf__str_printf(&combine, "v = %s(a_v, b_v);", function);
    } else {
        krf__str_printf(&combine, "any = a_any || b_any;\nif (a_any && b_any) {\n    v = %s(a_v, b_v);\n} else {\n    v = a_any ? a_v : b_v;\n}", function);
    }
    krf__str name = {0};
    krf__str_printf(&name, "%s_of_%s", method, function);
    krf_op *op = NULL;
    if (parameters.failed || fields.failed || combine.failed || results.failed || name.failed) {
        krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (%s)", method);
    } else {
        const krf__reduction_text text = {name.data, parameters.data, fields.data, NULL, u->absolute ? "v = abs(x);" : u->neutral ? "v = x;" : "v = x; any = 1;",
                                          combine.data, results.data, "r = v;", function};
        krf_status status = krf__reduction_make(g->defined, &text, &op);
        if (status == KRF_OK) {
            op->identity[0] = u->identity;
            status = krf__op_set_text(op);
        }
        if (status != KRF_OK) {
            krf__str message = {0};
            krf__str_put(&message, krf_error_message());
            krf__graph_fail(g, status, "%s: %s", method, message.data != NULL ? message.data : "");
            krf__str_free(&message);
            krf__op_release(op);
            op = NULL;
        }
    }
    krf__str_free(&parameters);
    krf__str_free(&fields);
    krf__str_free(&combine);
    krf__str_free(&results);
    krf__str_free(&name);
    return op;
}

/* Whether there are results, and each is of no elements. */
static bool lacks_elements(krf_graph *g, const char *function, uint32_t x, const krf__axes *axes) {
    const int rank = krf__node_of(g, x)->rank;
    int64_t mask;
    bool reduced = false, kept = false;
    for (int i = 0; i < rank && krf__build_axes(g, function, rank, axes->n, axes->of, &mask); i++) {
        const bool empty = krf__shape_of(g, x)[i] == 0, over = (mask >> i & 1) != 0;
        reduced |= empty && over;
        kept |= empty && !over;
    }
    return reduced && !kept;
}

/* x as a known function takes it. */
static uint32_t operand_of(krf_graph *g, size_t place, uint32_t x) {
    return krf__op_info_of(known[place].function)->rule == KRF__RULE_LOGIC ? krf__build_cast(g, x, KRF_BOOL) : x;
}

uint32_t krf__build_ufunc_reduce(krf_graph *g, const char *function, uint32_t x, const krf__axes *axes) {
    ufunc u;
    uint32_t y = 0;
    if (x == 0 || x >= g->n_nodes) {
        return 0;
    }
    const bool found = find(g, "reduce", function, &u);
    const size_t place = found ? find_for(g, u.op, x) : (size_t)KNOWN;
    if (found && place < KNOWN && known[place].reduction != KRF__poison) {
        y = krf__build_reduce(g, known[place].reduction, operand_of(g, place, x), axes->n, axes->of, axes->keepdims);
    } else if (found) {
        krf_op *op = make(g, "reduce", function, x, &u);
        const bool value = u.neutral && !isnan(u.identity); /* NaN begins a reduction by fmax, and is none of its results */
        if (op != NULL && !value && lacks_elements(g, function, x, axes)) {
            krf__graph_fail(g, KRF_E_SHAPE, "reduce: %s has no value over no elements", function);
        } else if (op != NULL) {
            krf__build_fold(g, op, 1, &x, axes, &y);
        }
        krf__op_release(op);
    }
    krf__op_release(u.own);
    return y;
}

uint32_t krf__build_ufunc_accumulate(krf_graph *g, const char *function, uint32_t x, int axis) {
    ufunc u;
    uint32_t y = 0;
    if (x == 0 || x >= g->n_nodes) {
        return 0;
    }
    const bool found = find(g, "accumulate", function, &u);
    const size_t place = found ? find_for(g, u.op, x) : (size_t)KNOWN;
    if (found && place < KNOWN && known[place].scan != KRF__poison) {
        y = krf__build_scan(g, known[place].scan, operand_of(g, place, x), axis);
    } else if (found) {
        krf_op *op = make(g, "accumulate", function, x, &u);
        if (op != NULL) {
            krf__build_fold_scan(g, op, 1, &x, axis, &y);
        }
        krf__op_release(op);
    }
    krf__op_release(u.own);
    return y;
}

uint32_t krf__build_ufunc_outer(krf_graph *g, const char *function, uint32_t x, uint32_t y) {
    ufunc u;
    uint32_t z = 0;
    if (x == 0 || y == 0 || x >= g->n_nodes || y >= g->n_nodes) {
        return 0;
    }
    const int rank = krf__node_of(g, x)->rank, more = krf__node_of(g, y)->rank;
    int64_t shape[2 * KRF_MAX_RANK];
    if (rank + more > KRF_MAX_RANK) {
        return krf__graph_fail(g, KRF_E_SHAPE, "outer: ranks %d and %d make more than %d axes", rank, more, KRF_MAX_RANK);
    }
    for (int i = 0; i < rank + more; i++) {
        shape[i] = i < rank ? krf__shape_of(g, x)[i] : 1;
    }
    if (find(g, "outer", function, &u)) {
        const uint32_t wide = more > 0 ? krf__build_reshape(g, x, rank + more, shape) : x, both[2] = {wide, y};
        if (u.own == NULL) {
            z = wide != 0 ? krf__build(g, u.op, 2, both) : 0;
        } else if (wide != 0) {
            krf__build_call(g, u.own, 2, both, &z);
        }
    }
    krf__op_release(u.own);
    return z;
}
