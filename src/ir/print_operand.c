/* What texts say of a node's operands, so that the builder makes the same node again: which conversions it makes by itself and no text says, and constants. These are the delicate part: 0.1 alone is a weak scalar, and
 * its text depends on what the builder would convert it to in that place. Called by print.c and print_node.c. */
#include "ir/print_node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_elementwise(const krf__node *n) {
    return krf__op_info_of((krf__op)n->op)->class_ == KRF__CLASS_ELEMENTWISE;
}

/* The shortest decimal whose double, rounded to float, is this value: what the parser and the cast make of it. */
static void put_f32(krf__str *out, double value) {
    double written = value;
    if (isfinite(value)) {
        char text[32];
        int digits = 1;
        do {
            snprintf(text, sizeof text, "%.*g", digits, value);
            written = strtod(text, NULL); /* in the locale that snprintf wrote in */
        } while ((double)(float)written != value && ++digits <= 17);
    }
    krf__str_f64(out, written);
}

/* A literal without its dtype. NaN has no sign in the text form. */
static void put_value(krf__str *out, const krf__node *c) {
    if (c->dtype == KRF_BOOL) {
        krf__str_put(out, c->value != 0 ? "True" : "False");
    } else if (c->weak && c->dtype == KRF_U64) {
        krf__str_printf(out, "%llu", (unsigned long long)c->value);
    } else if (krf__is_int((krf_dtype)c->dtype)) {
        krf__str_i64(out, krf__bits_to_i64((krf_dtype)c->dtype, c->value)); /* u64(-1): a literal is an i64, and its cast wraps */
    } else {
        double value = krf__bits_to_f64((krf_dtype)c->dtype, c->value);
        if (c->dtype != KRF_F64) {
            put_f32(out, value);
        } else {
            krf__str_f64(out, value);
        }
    }
}

/* Whether node n is a cast of something weak, as the builder makes where a weak operand meets a strong one. */
static bool casts_weak(const krf_graph *g, const krf__node *n) {
    return n->op == KRF__cast && krf__node_of(g, n->args[0])->weak;
}

/* Whether node n is what an operation makes of a real operand beside complex ones: a cast that no text says, for what programs call one is another node. */
static bool stays_real(const krf_graph *g, const krf__node *n) {
    return n->op == KRF__cast && krf__is_complex((krf_dtype)n->dtype) && !krf__is_complex(krf__dtype_of(g, n->args[0]));
}

/* Whether an operand of the operation is complex, so that real ones are converted. */
static bool meets_complex(const krf_graph *g, const krf__node *parent) {
    bool any = false;
    for (int k = 0; k < krf__op_info_of((krf__op)parent->op)->arity; k++) {
        const krf__node *a = krf__node_of(g, parent->args[k]);
        any |= krf__is_complex((krf_dtype)a->dtype) && !stays_real(g, a);
    }
    return any;
}

/* Whether a strong operand of the same operation gives a weak one in place i the dtype that operand i has. */
static bool dtype_follows(const krf_graph *g, const krf__node *parent, int i) {
    const krf__op_info *info = krf__op_info_of((krf__op)parent->op);
    int first = info->rule == KRF__RULE_WHERE ? 1 : 0;
    bool joint = info->rule == KRF__RULE_NUMBER || info->rule == KRF__RULE_REAL || info->rule == KRF__RULE_COMPARE
                 || info->rule == KRF__RULE_BITS || info->rule == KRF__RULE_WHERE || info->rule == KRF__RULE_ANY;
    for (int k = first; joint && i >= first && k < info->arity; k++) {
        const krf__node *other = krf__node_of(g, parent->args[k]);
        const krf_dtype dtype = krf__dtype_of(g, parent->args[i]);
        const bool strong = other->op != KRF__constant && !other->weak && !casts_weak(g, other) && (krf_dtype)other->dtype == dtype;
        if (k != i && strong && (!stays_real(g, other) || krf__complex_of(krf__dtype_of(g, other->args[0])) == dtype)) {
            return true;
        }
    }
    return false;
}

/* Whether operand i of a node, written as a bare literal, might become a chain of multiplications, which the node is not. */
static bool would_chain(const krf__node *parent, int i, const krf__node *constant) {
    return parent->op == KRF__power && i == 1 && fabs(krf__bits_to_f64((krf_dtype)constant->dtype, constant->value)) <= 8;
}

/* Casts that the builder puts before a weak operand are not written: `mu * x`. Under a node that is weak itself they
 * could not be, for a cast gives something strong. */
uint32_t krf__print_operand(const krf_graph *g, uint32_t id, int i) {
    const krf__node *n = krf__node_of(g, id);
    uint32_t operands[KRF__MOST_DEFINED];
    krf__operands(g, id, operands);
    uint32_t arg = operands[i];
    if (n->op == KRF__call || krf__op_is_fold((krf__op)n->op)) {
        return arg;
    }
    const krf__node *a = krf__node_of(g, arg);
    const bool real = stays_real(g, a) && meets_complex(g, n);
    if (!is_elementwise(n) || (!real && !casts_weak(g, a))) {
        return arg;
    }
    const krf__node *source = krf__node_of(g, a->args[0]);
    krf_dtype from = (krf_dtype)source->dtype, to = (krf_dtype)a->dtype;
    if (!n->weak && source->weak && source->op == KRF__constant && krf__is_int(from) && would_chain(n, i, source)) {
        return arg;
    }
    if (real) {
        return a->args[0];
    }
    bool promotes = from != to && krf__dtype(from)->kind <= krf__dtype(to)->kind;
    return n->weak || (promotes && dtype_follows(g, n, i)) ? a->args[0] : arg;
}

/* A double as the integer literal that gives it when converted; false when there is none. */
static bool put_as_integer(krf__str *out, double value, bool exact) {
    double limit = exact ? 9007199254740992.0 : 9223372036854775808.0;
    if (!(fabs(value) <= limit) || value != floor(value) || (value == 0 && signbit(value))) {
        return false;
    }
    krf__str_i64(out, value >= 9223372036854775808.0 ? INT64_MAX : (int64_t)value);
    return true;
}

/* Constant c as operand i of a node. Bare where the builder would convert the literal to the same constant; else
 * dtype(literal). A literal of the operation's own dtype stays weak in the graph, so constants of i64 and f64 that are
 * not weak came otherwise: f64 from an integer literal, or both from a cast. */
void krf__print_literal(krf__str *out, const krf_graph *g, const krf__node *parent, int i, const krf__node *c) {
    double value = krf__bits_to_f64((krf_dtype)c->dtype, c->value);
    bool chain = parent != NULL && would_chain(parent, i, c);
    bool kept = krf__dtype((krf_dtype)c->dtype)->kind == KRF__KIND_REAL
                || value < 0; /* integers to negative powers are no chains */
    bool bare = (c->weak && (!chain || kept)) || c->dtype == KRF_BOOL;
    const bool converted = parent != NULL && krf__node_of(g, parent->args[i]) != c; /* by the operation: the text keeps the dtype that it has */
    if (!bare && parent != NULL && is_elementwise(parent) && !converted) {
        if (c->dtype == KRF_F64 && (parent->weak || (!chain && dtype_follows(g, parent, i)))
            && put_as_integer(out, value, !parent->weak)) {
            return;
        }
        bare = (c->dtype == KRF_F32 || (c->dtype == KRF_I32 && !chain)) && dtype_follows(g, parent, i);
    }
    if (!bare) {
        krf__str_printf(out, "%s(", krf_dtype_name((krf_dtype)c->dtype));
    }
    put_value(out, c);
    krf__str_put(out, bare ? "" : ")");
}

void krf__print_constant(const krf_graph *g, uint32_t id, krf__str *out) {
    krf__print_literal(out, g, NULL, 0, krf__node_of(g, id));
}
