/* Which nodes depend on a variable, and what both directions do with them: see differentiate.h. */
#include "ir/differentiate.h"

#include "base/mem.h"
#include "ir/build_call.h"
#include "ir/build_raw.h"
#include "ir/derive.h"
#include "ir/derive_call.h"

static bool is_float(const krf_graph *g, uint32_t x) { return krf__is_real(krf__dtype_of(g, x)) || krf__is_complex(krf__dtype_of(g, x)); }

/* Whether a gradient goes from a node to its operand x, number `operand`. */
static bool passes(const krf_graph *g, uint32_t id, int operand, uint32_t x) {
    const krf__node *n = krf__node_of(g, id);
    if (krf__op_is_raw((krf__op)n->op)) {
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

bool krf__depends_by(const krf__differentiating *d, uint32_t id, int operand, uint32_t x) {
    return d->depends[x] != KRF__INDEPENDENT && passes(d->g, id, operand, x);
}

bool krf__differentiating_begin(krf__differentiating *d, krf_graph *g, const char *name, uint32_t y, int n, const uint32_t *by) {
    *d = (krf__differentiating){.g = g, .name = name, .n = (size_t)y + 1};
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
    d->found = krf__calloc(d->n, sizeof *d->found);
    if (d->depends == NULL || d->found == NULL) {
        krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (%s)", name);
        return false;
    }
    for (int k = 0; k < n; k++) {
        if (by[k] < d->n) {
            d->depends[by[k]] = KRF__VARIABLE;
        }
    }
    for (uint32_t id = 1; id < d->n; id++) {
        uint32_t operands[KRF__MOST_DEFINED];
        const int arity = krf__operands(g, id, operands);
        for (int k = 0; k < arity && d->depends[id] == KRF__INDEPENDENT && (is_float(g, id) || krf__op_is_raw((krf__op)krf__node_of(g, id)->op)); k++) {
            d->depends[id] = krf__depends_by(d, id, k, operands[k]) ? KRF__DEPENDENT : KRF__INDEPENDENT;
        }
    }
    return true;
}

void krf__differentiating_end(krf__differentiating *d) {
    krf__mem_free(d->depends);
    krf__mem_free(d->found);
}

uint32_t krf__derive_elementwise(krf_graph *g, uint32_t id, int operand, const uint32_t *operands, uint32_t G, bool forward) {
    const krf__op op = (krf__op)krf__node_of(g, id)->op;
    return op == KRF__call ? krf__derive_call(g, id, operand, G) : krf__derive(g, op, operand, operands, id, G, forward);
}

uint32_t krf__derivative_whole(krf_graph *g, uint32_t x, uint32_t id) {
    return krf__build_broadcast_to(g, x, krf__node_of(g, id)->rank, krf__shape_of(g, id));
}

void krf__derivative_unknown(const krf__differentiating *d, uint32_t id) {
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
    if (krf__op_is_raw(op)) {
        krf__graph_fail(d->g, KRF_E_ARGUMENT, "%s: the derivative of the raw kernel %s is not known; krf_stop_gradient takes what it computes for a constant", d->name, krf__raw_of(d->g, id)->name);
        return;
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        why = reasons[i].op == op ? reasons[i].why : why;
    }
    krf__graph_fail(d->g, KRF_E_ARGUMENT, "%s: the derivative of %s is not known%s", d->name, krf__op_info_of(op)->name, why);
}
