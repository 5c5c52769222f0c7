/* Reverse mode: from the result down to the variables, each node hands the gradient on to its operands; what several users hand to one node is added.
 * Forward mode: from the variables up. Both visit each node once, in the order of the graph. */
#include "ir/grad.h"

#include "base/mem.h"
#include "ir/adjoint.h"
#include "ir/build_call.h"
#include "ir/build_raw.h"
#include "ir/derive.h"
#include "ir/derive_call.h"

#include <string.h>

/* A gradient that was handed to a node. It broadcasts to the shape of `like`, to which the node's own value was stretched; sums over what was stretched
 * wait until all have come. */
typedef struct contribution {
    uint32_t gradient, like, next;
} contribution;

typedef struct differentiating {
    krf_graph *g;
    const char *name;
    size_t n;              /* nodes that were there before */
    uint8_t *depends;      /* on a variable: VARIABLE, or its operands do */
    bool *needed;          /* forward: for the result */
    uint32_t *first;       /* contributions to a node; forward: its tangent */
    contribution *list;
    size_t n_list, capacity;
} differentiating;

enum { INDEPENDENT, DEPENDENT, VARIABLE };

static bool is_float(const krf_graph *g, uint32_t x) { return krf__is_real(krf__dtype_of(g, x)) || krf__is_complex(krf__dtype_of(g, x)); }
static uint32_t add(krf_graph *g, uint32_t x, uint32_t y) { return krf__build(g, KRF__add, 2, (uint32_t[]){x, y}); }

static bool is_raw(const krf_graph *g, uint32_t id) { return krf__node_of(g, id)->op >= KRF__raw_kernel && krf__node_of(g, id)->op <= KRF__raw_result; }

/* Whether a gradient goes from a node to its operand x, number `operand`. */
static bool passes(const krf_graph *g, uint32_t id, int operand, uint32_t x) {
    const krf__node *n = krf__node_of(g, id);
    if (is_raw(g, id)) {
        return true;
    }
    if (!is_float(g, x) || n->op == KRF__stop_gradient || n->op == KRF__bind) {
        return false;
    }
    if (n->op == KRF__call) {
        return !krf__call_is_flat(g, id, operand);
    }
    if (krf__op_is_fold((krf__op)n->op)) {
        return true;
    }
    if (krf__op_info_of(n->op)->class_ != KRF__CLASS_ELEMENTWISE) {
        return operand == 0;
    }
    const bool complex = krf__is_complex(krf__dtype_of(g, n->args[operand]));
    return (complex && (n->op == KRF__imag_part || n->op == KRF__angle || n->op == KRF__sign)) ||
           krf__derivative_of((krf__op)n->op, operand) != KRF__DERIVATIVE_NONE;
}

static bool begin(differentiating *d, krf_graph *g, const char *name, uint32_t y, int n, const uint32_t *by) {
    *d = (differentiating){.g = g, .name = name, .n = (size_t)y + 1};
    for (int k = 0; k < n; k++) {
        if (by[k] == 0 || by[k] >= g->n_nodes) {
            return false;
        }
        if (!is_float(g, by[k])) {
            krf__graph_fail(g, KRF_E_DTYPE, "%s: variable %d is %s; derivatives are by floats and complex numbers: cast it first", name, k + 1,
                            krf_dtype_name(krf__dtype_of(g, by[k])));
            return false;
        }
        if (krf__node_of(g, by[k])->op == KRF__constant) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: variable %d is a constant: differentiate by an input, a placeholder or an expression of them", name,
                            k + 1);
            return false;
        }
    }
    d->depends = krf__calloc(d->n, sizeof *d->depends);
    d->first = krf__calloc(d->n, sizeof *d->first);
    if (d->depends == NULL || d->first == NULL) {
        krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (%s)", name);
        return false;
    }
    for (int k = 0; k < n; k++) {
        if (by[k] < d->n) {
            d->depends[by[k]] = VARIABLE;
        }
    }
    for (uint32_t id = 1; id < d->n; id++) {
        uint32_t operands[KRF__MOST_DEFINED];
        const int arity = krf__operands(g, id, operands);
        for (int k = 0; k < arity && d->depends[id] == INDEPENDENT && (is_float(g, id) || is_raw(g, id)); k++) {
            d->depends[id] = d->depends[operands[k]] != INDEPENDENT && passes(g, id, k, operands[k]) ? DEPENDENT : INDEPENDENT;
        }
    }
    return true;
}

static void end(differentiating *d) {
    krf__mem_free(d->depends);
    krf__mem_free(d->needed);
    krf__mem_free(d->first);
    krf__mem_free(d->list);
}

static void unknown(differentiating *d, uint32_t id) {
    static const struct {
        krf__op op;
        const char *why;
    } reasons[] = {{KRF__digamma, ": trigamma is no function here"}, {KRF__i0, ": i1 is no function here"}};
    const krf__op op = (krf__op)krf__node_of(d->g, id)->op;
    const char *why = "";
    if (krf__op_is_fold(op)) {
        krf__graph_fail(d->g, KRF_E_ARGUMENT, "%s: the derivative of the reduction %s is not known: reduce what is to be differentiated by the library's functions", d->name,
                        krf__result_of(krf__node_of(d->g, id)->value)->op->name);
        return;
    }
    if (op == KRF__call) {
        krf__graph_fail(d->g, KRF_E_ARGUMENT, "%s: %s was defined without derivatives", d->name, krf__result_of(krf__node_of(d->g, id)->value)->op->name);
        return;
    }
    if (is_raw(d->g, id)) {
        krf__graph_fail(d->g, KRF_E_ARGUMENT, "%s: the derivative of the raw kernel %s is not known; krf_stop_gradient takes what it computes for a constant", d->name, krf__raw_of(d->g, id)->name);
        return;
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        why = reasons[i].op == op ? reasons[i].why : why;
    }
    krf__graph_fail(d->g, KRF_E_ARGUMENT, "%s: the derivative of %s is not known%s", d->name, krf__op_info_of(op)->name, why);
}

/* ---- reverse ---- */

static bool give(differentiating *d, uint32_t id, uint32_t gradient, uint32_t like) {
    if (gradient == 0 || !krf__grow(&d->list, &d->capacity, d->n_list + 2, sizeof *d->list)) {
        if (d->g->status == KRF_OK) {
            krf__graph_fail(d->g, KRF_E_MEMORY, "out of host memory (%s)", d->name);
        }
        return false;
    }
    d->n_list += d->n_list == 0; /* 0 stands for none */
    d->list[d->n_list] = (contribution){gradient, like, d->first[id]};
    d->first[id] = (uint32_t)d->n_list++;
    return true;
}

/* A contribution in the dtype of the node, summed over what was stretched. */
static uint32_t own_shape(differentiating *d, uint32_t id, const contribution *c) {
    krf_graph *g = d->g;
    const krf_dtype dtype = krf__dtype_of(g, id);
    int64_t from[KRF_MAX_RANK], to[KRF_MAX_RANK];
    const int from_rank = krf__node_of(g, c->like)->rank, to_rank = krf__node_of(g, id)->rank;
    uint32_t x = c->gradient;
    memcpy(from, krf__shape_of(g, c->like), (size_t)from_rank * sizeof *from);
    memcpy(to, krf__shape_of(g, id), (size_t)to_rank * sizeof *to);
    if (krf__is_complex(krf__dtype_of(g, x)) && !krf__is_complex(dtype)) {
        x = krf__build(g, KRF__real_part, 1, &x);
    }
    x = krf__adjoint_stretched(g, x, from_rank, from, to_rank, to);
    return krf__build_cast(g, x, dtype);
}

enum { SHAPES = 4 };

/* Adds what was handed to a node in one shape, before it is summed: one sum instead of several. rest: of further shapes, summed; 0 for nothing. */
static int gather(differentiating *d, uint32_t id, contribution *sums, uint32_t *rest) {
    krf_graph *g = d->g;
    int n = 0;
    *rest = 0;
    for (uint32_t at = d->first[id]; at != 0; at = d->list[at].next) {
        const contribution c = d->list[at];
        int k = 0;
        while (k < n && !(krf__same_shape(g, sums[k].gradient, c.gradient) && krf__same_shape(g, sums[k].like, c.like))) {
            k++;
        }
        if (k == SHAPES) {
            uint32_t x = own_shape(d, id, &c);
            *rest = *rest == 0 ? x : add(g, *rest, x);
        } else if (k == n) {
            sums[n++] = c;
        } else {
            sums[k].gradient = add(g, sums[k].gradient, c.gradient);
        }
    }
    return n;
}

/* All that was handed to a node, in its shape. */
static uint32_t total(differentiating *d, uint32_t id) {
    contribution sums[SHAPES];
    uint32_t all;
    const int n = gather(d, id, sums, &all);
    for (int k = 0; k < n; k++) {
        uint32_t x = own_shape(d, id, &sums[k]);
        all = all == 0 ? x : add(d->g, all, x);
    }
    return d->g->status == KRF_OK ? all : 0;
}

static uint32_t whole(krf_graph *g, uint32_t gradient, uint32_t id) {
    return krf__build_broadcast_to(g, gradient, krf__node_of(g, id)->rank, krf__shape_of(g, id));
}

static uint32_t derive(krf_graph *g, uint32_t id, int k, const uint32_t *operands, uint32_t G, bool forward) {
    const krf__op op = (krf__op)krf__node_of(g, id)->op;
    return op == KRF__call ? krf__derive_call(g, id, k, G) : krf__derive(g, op, k, operands, id, G, forward);
}

static bool hand_on_elementwise(differentiating *d, uint32_t id, uint32_t G) {
    krf_graph *g = d->g;
    uint32_t operands[KRF__MOST_DEFINED];
    for (int k = krf__operands(g, id, operands) - 1; k >= 0; k--) {
        if (d->depends[operands[k]] == INDEPENDENT || !passes(g, id, k, operands[k])) {
            continue;
        }
        uint32_t c = derive(g, id, k, operands, G, false);
        if (c == 0) {
            unknown(d, id); /* unless there was another error */
            return false;
        }
        if (!give(d, operands[k], c, id)) {
            return false;
        }
    }
    return true;
}

/* Sums and differences of single numbers: what is to be summed waits further, for the sums of their operands. */
static bool passes_unsummed(const differentiating *d, uint32_t id) {
    const krf__node *n = krf__node_of(d->g, id);
    return n->rank == 0 && d->depends[id] != VARIABLE && (n->op == KRF__add || n->op == KRF__subtract || n->op == KRF__negative);
}

static bool pass_unsummed(differentiating *d, uint32_t id) {
    const krf__node n = *krf__node_of(d->g, id);
    contribution sums[SHAPES];
    uint32_t rest;
    const int shapes = gather(d, id, sums, &rest);
    for (int s = 0; s < shapes + (rest != 0); s++) {
        const contribution c = s < shapes ? sums[s] : (contribution){rest, id, 0};
        for (int k = krf__op_info_of(n.op)->arity - 1; k >= 0; k--) {
            const bool minus = n.op == KRF__negative || (n.op == KRF__subtract && k == 1);
            if (d->depends[n.args[k]] != INDEPENDENT && !give(d, n.args[k], minus ? krf__derive_negative(d->g, c.gradient) : c.gradient, c.like)) {
                return false;
            }
        }
    }
    return d->g->status == KRF_OK;
}

static bool hand_on(differentiating *d, uint32_t id, uint32_t G) {
    krf_graph *g = d->g;
    const krf__node n = *krf__node_of(g, id);
    const krf__op_class class_ = krf__op_info_of(n.op)->class_;
    uint32_t c;
    if (class_ == KRF__CLASS_ELEMENTWISE) {
        return hand_on_elementwise(d, id, G);
    }
    if (krf__op_is_fold((krf__op)n.op)) {
        unknown(d, id);
        return false;
    }
    if (krf__op_info_of(n.op)->arity == 0 || d->depends[n.args[0]] == INDEPENDENT) {
        return true;
    }
    if (is_raw(g, id)) {
        unknown(d, id);
        return false;
    }
    if (n.op == KRF__cast) {
        return give(d, n.args[0], G, n.args[0]); /* which the node below converts to its own dtype */
    }
    G = whole(g, G, id);
    if (G == 0) {
        return false;
    }
    if (class_ == KRF__CLASS_REDUCE) {
        c = krf__adjoint_reduce(g, id, G);
    } else if (class_ == KRF__CLASS_SCAN) {
        c = krf__adjoint_scan(g, id, G);
    } else {
        c = n.op == KRF__take || n.op == KRF__take_along_axis ? krf__adjoint_take(g, id, G) : krf__adjoint_view(g, id, G);
    }
    return give(d, n.args[0], c, n.args[0]);
}

static bool valid_result(krf_graph *g, const char *name, uint32_t y) {
    const krf__node *n = krf__node_of(g, y);
    if (n->rank != 0) {
        krf__str text = {0};
        krf__str_shape(&text, n->rank, krf__shape_of(g, y));
        krf__graph_fail(g, KRF_E_SHAPE, "%s: what is differentiated has shape %s; a gradient is of one number: take its sum, or use jvp", name,
                        text.data != NULL ? text.data : "?");
        krf__str_free(&text);
        return false;
    }
    if (!krf__is_real((krf_dtype)n->dtype)) {
        krf__graph_fail(g, KRF_E_DTYPE, "%s: what is differentiated is %s; a gradient is of a real number%s", name, krf_dtype_name((krf_dtype)n->dtype),
                        krf__is_complex((krf_dtype)n->dtype) ? ": take its real part, or abs" : "");
        return false;
    }
    return true;
}

bool krf__build_grad(krf_graph *g, uint32_t y, int n, const uint32_t *by, uint32_t *gradients) {
    differentiating d = {0};
    for (int k = 0; k < n; k++) {
        gradients[k] = 0;
    }
    bool valid = y != 0 && y < g->n_nodes && valid_result(g, "grad", y) && begin(&d, g, "grad", y, n, by);
    if (valid) {
        valid = give(&d, y, krf__build_cast(g, krf__build_int(g, 1, true), krf__dtype_of(g, y)), y);
    }
    for (uint32_t id = y; valid && id > 0; id--) {
        if (d.first[id] == 0 || d.depends[id] == INDEPENDENT) {
            continue;
        }
        if (passes_unsummed(&d, id)) {
            valid = pass_unsummed(&d, id);
            continue;
        }
        uint32_t G = total(&d, id);
        for (int k = 0; k < n; k++) {
            gradients[k] = by[k] == id ? whole(g, G, id) : gradients[k];
        }
        valid = G != 0 && hand_on(&d, id, G);
    }
    for (int k = 0; valid && k < n; k++) {
        if (gradients[k] == 0 && g->status == KRF_OK) {
            gradients[k] = krf__zeros(g, krf__dtype_of(g, by[k]), krf__node_of(g, by[k])->rank, krf__shape_of(g, by[k]));
        }
        valid = gradients[k] != 0;
    }
    for (int k = 0; !valid && k < n; k++) {
        gradients[k] = 0;
    }
    end(&d);
    return valid;
}

/* ---- forward ---- */

/* The tangent of a node by those of its operands. */
static uint32_t tangent_elementwise(differentiating *d, uint32_t id) {
    krf_graph *g = d->g;
    uint32_t sum = 0, operands[KRF__MOST_DEFINED];
    const int arity = krf__operands(g, id, operands);
    for (int k = 0; k < arity; k++) {
        if (d->depends[operands[k]] == INDEPENDENT || !passes(g, id, k, operands[k])) {
            continue;
        }
        uint32_t t = derive(g, id, k, operands, d->first[operands[k]], true);
        if (t == 0) {
            unknown(d, id);
            return 0;
        }
        sum = sum == 0 ? t : add(g, sum, t);
    }
    return krf__build_cast(g, sum, krf__dtype_of(g, id));
}

static uint32_t tangent_of(differentiating *d, uint32_t id) {
    krf_graph *g = d->g;
    krf__node n = *krf__node_of(g, id);
    const krf__op_class class_ = krf__op_info_of(n.op)->class_;
    if (is_raw(g, id)) {
        unknown(d, id);
        return 0;
    }
    if (class_ == KRF__CLASS_ELEMENTWISE) {
        return tangent_elementwise(d, id);
    }
    if (krf__op_is_fold((krf__op)n.op)) {
        unknown(d, id);
        return 0;
    }
    uint32_t T = d->first[n.args[0]];
    if (n.op == KRF__cast) {
        return krf__build_cast(g, T, (krf_dtype)n.dtype);
    }
    T = whole(g, T, n.args[0]);
    if (T == 0 || class_ == KRF__CLASS_REDUCE || class_ == KRF__CLASS_SCAN) {
        return T == 0 ? 0 : class_ == KRF__CLASS_REDUCE ? krf__tangent_reduce(g, id, T) : krf__tangent_scan(g, id, T);
    }
    n.args[0] = T; /* views and takes are linear */
    return krf__graph_add(g, &n, krf__shape_of(g, id), krf__ints_of(g, id));
}

/* Marks what the result is made of: a function without a derivative elsewhere in the graph is no fault. */
static bool mark_needed(differentiating *d, uint32_t y) {
    d->needed = krf__calloc(d->n, sizeof *d->needed);
    if (d->needed == NULL) {
        krf__graph_fail(d->g, KRF_E_MEMORY, "out of host memory (%s)", d->name);
        return false;
    }
    d->needed[y] = true;
    for (uint32_t id = y; id > 0; id--) {
        uint32_t operands[KRF__MOST_DEFINED];
        const int arity = krf__operands(d->g, id, operands);
        for (int k = 0; d->needed[id] && d->depends[id] == DEPENDENT && k < arity; k++) {
            d->needed[operands[k]] = true;
        }
    }
    return true;
}

/* The tangent of variable k, strong, in its dtype. */
static uint32_t given(krf_graph *g, int k, uint32_t variable, uint32_t tangent) {
    const krf__node *x = krf__node_of(g, variable), *t = krf__node_of(g, tangent);
    int rank;
    int64_t shape[KRF_MAX_RANK];
    if (krf__is_complex((krf_dtype)t->dtype) && !krf__is_complex((krf_dtype)x->dtype)) {
        return krf__graph_fail(g, KRF_E_DTYPE, "jvp: tangent %d is %s, variable %d is %s", k + 1, krf_dtype_name((krf_dtype)t->dtype), k + 1,
                               krf_dtype_name((krf_dtype)x->dtype));
    }
    if (!krf__shape_broadcast(x->rank, krf__shape_of(g, variable), t->rank, krf__shape_of(g, tangent), &rank, shape) ||
        !krf__shape_equal(rank, shape, x->rank, krf__shape_of(g, variable))) {
        krf__str text = {0};
        krf__str_shape(&text, t->rank, krf__shape_of(g, tangent));
        krf__str_put(&text, ", the variable ");
        krf__str_shape(&text, x->rank, krf__shape_of(g, variable));
        krf__graph_fail(g, KRF_E_SHAPE, "jvp: tangent %d has shape %s", k + 1, text.data != NULL ? text.data : "?");
        krf__str_free(&text);
        return 0;
    }
    return krf__build_cast(g, tangent, (krf_dtype)x->dtype);
}

uint32_t krf__build_jvp(krf_graph *g, uint32_t y, int n, const uint32_t *by, const uint32_t *tangents) {
    differentiating d = {0};
    uint32_t result = 0;
    bool valid = y != 0 && y < g->n_nodes;
    if (valid && !is_float(g, y)) {
        krf__graph_fail(g, KRF_E_DTYPE, "jvp: what is differentiated is %s; derivatives are of floats and complex numbers", krf_dtype_name(krf__dtype_of(g, y)));
        valid = false;
    }
    valid = valid && begin(&d, g, "jvp", y, n, by) && mark_needed(&d, y);
    for (int k = 0; valid && k < n; k++) {
        uint32_t t = tangents[k] == 0 || tangents[k] >= g->n_nodes ? 0 : given(g, k, by[k], tangents[k]);
        valid = t != 0;
        if (valid && by[k] <= y) {
            d.first[by[k]] = t;
        }
    }
    for (uint32_t id = 1; valid && id <= y; id++) {
        if (d.needed[id] && d.depends[id] == DEPENDENT) {
            d.first[id] = tangent_of(&d, id);
            valid = d.first[id] != 0;
        }
    }
    if (valid) {
        result = d.depends[y] == INDEPENDENT ? krf__zeros(g, krf__dtype_of(g, y), krf__node_of(g, y)->rank, krf__shape_of(g, y)) : whole(g, d.first[y], y);
    }
    end(&d);
    return result;
}
