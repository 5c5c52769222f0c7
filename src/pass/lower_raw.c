/* What a raw kernel gets to read: memory, in C order unless it asks for strides. Everything else is computed, or copied, into memory of its own first; so is what it
 * writes into. */
#include "pass/lower_raw.h"

#include "ir/build_raw.h"

static bool c_order(const krf__layout *layout) {
    const krf__layout c = krf__layout_c(layout->rank, layout->shape);
    bool same = true;
    for (int i = 0; i < layout->rank; i++) {
        same &= layout->shape[i] == 1 || layout->strides[i] == c.strides[i];
    }
    return same || krf__shape_size(layout->rank, layout->shape) == 0;
}

/* Whether the value lies in memory as it is. A view may be of a number, or of a range. */
static bool in_memory(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    if (n->op == KRF__view) {
        const krf__op base = krf__node_of(g, n->args[0])->op;
        return base != KRF__constant && base != KRF__scalar && base != KRF__iota && base != KRF__part && !(base == KRF__placeholder && krf__node_of(g, n->args[0])->rank == 0) &&
               !(krf__is_complex((krf_dtype)krf__node_of(g, n->args[0])->dtype) && !krf__is_complex((krf_dtype)n->dtype));
    }
    return n->op == KRF__input || n->op == KRF__raw_result || (n->op == KRF__placeholder && n->rank > 0);
}

/* The elements of x in C order, in memory of their own once they are stored. own: not 0 where nobody may share it. */
static uint32_t copy_of(krf__lowering *l, uint32_t x, int64_t own) {
    const krf__node *n = krf__node_of(l->out, x);
    const krf__node copy = {.op = KRF__cast, .dtype = n->dtype, .rank = n->rank, .args = {x}, .n_ints = own != 0};
    return x == 0 ? 0 : krf__lower_add(l, &copy, krf__shape_of(l->out, x), &own);
}

uint32_t krf__lower_argument(krf__lowering *l, uint32_t argument, uint32_t x) {
    const krf__parameter *p = krf__raw_parameter_of(l->in, argument);
    const krf__node *n = krf__node_of(l->out, x);
    const bool written = p->role == KRF__ROLE_INOUT, leaf = krf__op_is_leaf((krf__op)n->op) || n->op == KRF__raw_result;
    if (x == 0 || p->role == KRF__ROLE_SCALAR || n->op == KRF__complex_of) {
        return x; /* complex values got what they need when they were split */
    }
    const krf__layout layout = krf__memory_layout(l->out, x);
    if (!written && (!leaf || (in_memory(l->out, x) && (p->strided || c_order(&layout))))) {
        return x;
    }
    return copy_of(l, x, written ? (int64_t)argument : 0);
}

uint32_t krf__lower_result(krf__lowering *l, int k, const uint32_t *outputs) {
    bool earlier = false;
    for (int i = 0; i < k; i++) {
        earlier |= outputs[i] == outputs[k];
    }
    return earlier && krf__node_of(l->out, outputs[k])->op == KRF__raw_result && !krf__is_complex((krf_dtype)krf__node_of(l->out, outputs[k])->dtype) ? copy_of(l, outputs[k], 0) : outputs[k];
}
