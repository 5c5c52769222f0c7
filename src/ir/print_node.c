/* Prints single nodes so that the builder makes the same node again from the text. The delicate part is constants: 0.1
 * alone is a weak scalar, and its text depends on what the builder would convert it to in that place. Called by
 * print.c. */
#include "ir/print_node.h"

#include "ir/build_raw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct printing {
    const krf_graph *g;
    uint32_t id;
    const krf__node *node;
    const krf__text *texts;
    krf__str *out;
    int depth; /* of what was printed so far */
} printing;

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
static void put_constant(krf__str *out, const krf_graph *g, const krf__node *parent, int i, const krf__node *c) {
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
    put_constant(out, g, NULL, 0, krf__node_of(g, id));
}

/* Operand i, in parentheses when it binds less tightly than `level`. */
static void put_operand(printing *p, int i, int level) {
    uint32_t arg = krf__print_operand(p->g, p->id, i);
    const krf__node *a = krf__node_of(p->g, arg);
    krf__str literal = {0};
    krf__text text = p->texts[arg];
    if (a->op == KRF__constant) {
        put_constant(&literal, p->g, p->node, i, a);
        if (literal.failed) {
            p->out->failed = true;
            krf__str_free(&literal);
            return;
        }
        text = (krf__text){.data = literal.data, .length = literal.length};
        text.level = *literal.data == '-' ? KRF__LEVEL_UNARY : KRF__LEVEL_ATOM;
        text.depth = literal.data[literal.length - 1] == ')';
    }
    bool brackets = text.level < level;
    krf__str_put(p->out, brackets ? "(" : "");
    krf__str_putn(p->out, text.data, text.length);
    krf__str_put(p->out, brackets ? ")" : "");
    if (text.depth + brackets > p->depth) {
        p->depth = text.depth + brackets;
    }
    krf__str_free(&literal);
}

int krf__print_arity(const krf_graph *g, uint32_t id) {
    uint32_t operands[KRF__MOST_DEFINED];
    return krf__operands(g, id, operands);
}

static void put_call(printing *p, const char *name) {
    const bool fold = krf__op_is_fold((krf__op)p->node->op);
    const char *function = fold ? krf__result_of(p->node->value)->op->function : NULL;
    krf__str_put(p->out, function != NULL ? function : "");
    krf__str_put(p->out, function != NULL ? "." : "");
    krf__str_put(p->out, name);
    krf__str_char(p->out, '(');
    for (int i = 0; i < krf__print_arity(p->g, p->id); i++) {
        krf__str_put(p->out, i > 0 ? ", " : "");
        put_operand(p, i, 0);
    }
    p->depth++;
}

static int level_of(const char *infix) {
    static const char *const levels[] = {"|", "^", "&", "<< >>", "+ -", "* / // %"};
    for (int i = 0; i < 6; i++) {
        const char *found = strstr(levels[i], infix);
        char behind = found != NULL ? found[strlen(infix)] : '?';
        if (behind == ' ' || behind == '\0') {
            return i + 2;
        }
    }
    return strcmp(infix, "**") == 0 ? KRF__LEVEL_POWER : KRF__LEVEL_COMPARE;
}

/* Whether the node is c64(x) or c128(x) of a real x. */
static bool is_astype(const printing *p) {
    const krf__node *im = krf__node_of(p->g, p->node->args[1]);
    return p->node->op == KRF__complex_of && !p->node->weak && im->op == KRF__constant && !im->weak && im->value == 0;
}

static int put_elementwise(printing *p) {
    const krf__op_info *info = krf__op_info_of((krf__op)p->node->op);
    if (is_astype(p)) {
        krf__str_printf(p->out, "%s(", krf_dtype_name((krf_dtype)p->node->dtype));
        put_operand(p, 0, 0);
        krf__str_char(p->out, ')');
        p->depth++;
        return KRF__LEVEL_ATOM;
    }
    /* A minus before a number would be part of it. */
    bool literal = krf__node_of(p->g, krf__print_operand(p->g, p->id, 0))->op == KRF__constant;
    if (*info->infix == '\0' || (info->arity == 1 && literal)) {
        put_call(p, info->name);
        krf__str_char(p->out, ')');
        return KRF__LEVEL_ATOM;
    }
    if (info->arity == 1) {
        krf__str_put(p->out, info->infix);
        put_operand(p, 0, KRF__LEVEL_UNARY);
        return KRF__LEVEL_UNARY;
    }
    int level = level_of(info->infix);
    bool power = level == KRF__LEVEL_POWER;
    put_operand(p, 0, power ? KRF__LEVEL_ATOM : level == KRF__LEVEL_COMPARE ? level + 1 : level);
    krf__str_printf(p->out, " %s ", info->infix);
    put_operand(p, 1, power ? KRF__LEVEL_UNARY : level + 1);
    return level;
}

static void put_reduction(printing *p) {
    int rank = krf__node_of(p->g, p->node->args[0])->rank, axes = 0;
    uint64_t mask = p->node->n_ints > 0 ? (uint64_t)krf__ints_of(p->g, p->id)[0] : 0;
    int64_t list[KRF_MAX_RANK];
    for (int i = 0; i < rank && i < KRF_MAX_RANK; i++) {
        if ((mask >> i & 1) != 0) {
            list[axes++] = i;
        }
    }
    const bool fold = krf__op_is_fold((krf__op)p->node->op);
    const krf__result *result = fold ? krf__result_of(p->node->value) : NULL;
    const char *method = !fold || result->op->function == NULL ? NULL : p->node->op == KRF__fold ? "reduce" : "accumulate";
    put_call(p, method != NULL ? method : fold ? result->op->name : krf__op_info_of((krf__op)p->node->op)->name);
    if (axes == 1 && (rank > 1 || p->node->op == KRF__fold_scan)) {
        krf__str_printf(p->out, ", axis=%d", (int)list[0]);
    } else if (axes < rank || (method != NULL && rank > 1)) { /* without axes such a method reduces the first */
        krf__str_put(p->out, ", axis=");
        krf__str_shape(p->out, axes, list);
    }
    if (fold && result->op->n_results > 1) {
        krf__str_printf(p->out, ", result=%d", result->index);
    }
    krf__str_put(p->out, p->node->op == KRF__fold_scan && method == NULL ? ", scan=True" : "");
    krf__str_put(p->out, p->node->keepdims ? ", keepdims=True)" : ")");
}

static void put_slice(printing *p) {
    const krf__node *x = krf__node_of(p->g, p->node->args[0]);
    const int64_t *from = krf__shape_of(p->g, p->node->args[0]), *to = krf__shape_of(p->g, p->id);
    const int64_t *ints = krf__ints_of(p->g, p->id);
    int shown = x->rank;
    while (shown > 1 && ints[2 * shown - 2] == 0 && ints[2 * shown - 1] == 1 && to[shown - 1] == from[shown - 1]) {
        shown--;
    }
    put_operand(p, 0, KRF__LEVEL_ATOM);
    for (int i = 0; i < shown; i++) {
        int64_t start = ints[2 * i], step = ints[2 * i + 1], last = to[i] > 0 ? start + (to[i] - 1) * step : 0;
        krf__str_put(p->out, i == 0 ? "[" : ", ");
        if (to[i] == 0) {
            krf__str_put(p->out, from[i] == 0 ? ":" : "0:0");
            continue;
        }
        if (start != (step > 0 ? 0 : from[i] - 1)) {
            krf__str_i64(p->out, start);
        }
        krf__str_char(p->out, ':');
        if (last + step >= 0 && last + step < from[i]) {
            krf__str_i64(p->out, step > 0 ? last + 1 : last - 1);
        }
        if (step != 1) {
            krf__str_char(p->out, ':');
            krf__str_i64(p->out, step);
        }
    }
    krf__str_char(p->out, ']');
}

static void put_transpose(printing *p) {
    const int64_t *axes = krf__ints_of(p->g, p->id);
    if (p->node->rank == 2 && axes[0] == 1) {
        put_operand(p, 0, KRF__LEVEL_ATOM);
        krf__str_put(p->out, ".T");
        return;
    }
    put_call(p, "transpose");
    krf__str_put(p->out, ", ");
    krf__str_shape(p->out, p->node->rank, axes);
    krf__str_char(p->out, ')');
}

static void put_ints(printing *p, const char *keyword, int n, const int64_t *ints) {
    krf__str_printf(p->out, ", %s", keyword);
    if (n == 1) {
        krf__str_i64(p->out, ints[0]);
    } else {
        krf__str_shape(p->out, n, ints);
    }
}

static void put_moved(printing *p) {
    const int64_t *ints = krf__ints_of(p->g, p->id), *shape = krf__shape_of(p->g, p->id);
    put_call(p, krf__op_info_of((krf__op)p->node->op)->name);
    if (p->node->op == KRF__diagonal) {
        krf__str_printf(p->out, ", %lld, %lld, %lld)", (long long)ints[0], (long long)ints[1], (long long)ints[2]);
        return;
    }
    if (p->node->op == KRF__sliding_window_view) {
        put_ints(p, "", (int)p->node->n_ints, shape + p->node->rank - p->node->n_ints);
    }
    put_ints(p, "axis=", (int)p->node->n_ints, ints);
    krf__str_char(p->out, ')');
}

static void put_joined(printing *p) {
    krf__str_put(p->out, "concatenate((");
    put_operand(p, 0, 0);
    krf__str_put(p->out, ", ");
    put_operand(p, 1, 0);
    krf__str_printf(p->out, "), axis=%lld)", (long long)krf__ints_of(p->g, p->id)[0]);
    p->depth++;
}

/* A kernel is handed its operands one by one, "f(x)(y)", so that each of these is a value that can have a name; its results are named as its parameters are. */
static void put_raw(printing *p) {
    const krf__op op = (krf__op)p->node->op;
    const krf__parameter *parameter = op != KRF__raw_launch ? krf__raw_parameter_of(p->g, p->id) : NULL;
    put_operand(p, 0, KRF__LEVEL_ATOM);
    if (op == KRF__raw_argument) {
        krf__str_char(p->out, '(');
        put_operand(p, 1, 0);
        krf__str_char(p->out, ')');
        p->depth++;
    } else if (op == KRF__raw_result) {
        krf__str_char(p->out, '.');
        const size_t own = krf__raw_of(p->g, p->id)->units.at != NULL ? strlen("krf_") : 0; /* of a generalised function: as its user has it */
        krf__str_putn(p->out, parameter->name.at + own, parameter->name.length - own);
    }
}

void krf__print_node(const krf_graph *g, uint32_t id, const krf__text *texts, krf__str *out, krf__text *facts) {
    const krf__node *n = krf__node_of(g, id);
    const krf__op_info *info = krf__op_info_of((krf__op)n->op);
    printing p = {.g = g, .id = id, .node = n, .texts = texts, .out = out};
    facts->level = KRF__LEVEL_ATOM;
    if (n->op == KRF__call) {
        const krf__result *result = krf__result_of(n->value);
        put_call(&p, result->op->name);
        if (result->op->n_results > 1) {
            krf__str_printf(out, ", result=%d", result->index);
        }
        krf__str_char(out, ')');
    } else if (info->class_ == KRF__CLASS_ELEMENTWISE) {
        facts->level = put_elementwise(&p);
    } else if (krf__op_folds((krf__op)n->op)) {
        put_reduction(&p);
    } else if (n->op == KRF__slice) {
        put_slice(&p);
    } else if (n->op == KRF__transpose) {
        put_transpose(&p);
    } else if (krf__op_is_raw((krf__op)n->op)) {
        put_raw(&p);
    } else if (n->op == KRF__diagonal || n->op == KRF__sliding_window_view || n->op == KRF__take || n->op == KRF__take_along_axis) {
        put_moved(&p);
    } else if (n->op == KRF__joined) {
        put_joined(&p);
    } else {
        put_call(&p, n->op == KRF__cast ? krf_dtype_name((krf_dtype)n->dtype) : info->name);
        if (n->op == KRF__reshape || n->op == KRF__broadcast_to) {
            krf__str_put(out, ", ");
            krf__str_shape(out, n->rank, krf__shape_of(g, id));
        }
        krf__str_char(out, ')');
    }
    facts->depth = p.depth;
}
