/* Prints single nodes so that the builder makes the same node again from the text (operands: print_operand.c). Called by print.c. */
#include "ir/print_node.h"

#include "ir/build_raw.h"

#include <string.h>

typedef struct printing {
    const krf_graph *g;
    uint32_t id;
    const krf__node *node;
    const krf__text *texts;
    krf__str *out;
    int depth; /* of what was printed so far */
} printing;

/* Operand i, in parentheses when it binds less tightly than `level`. */
static void put_operand(printing *p, int i, int level) {
    uint32_t arg = krf__print_operand(p->g, p->id, i);
    const krf__node *a = krf__node_of(p->g, arg);
    krf__str literal = {0};
    krf__text text = p->texts[arg];
    if (a->op == KRF__constant) {
        krf__print_literal(&literal, p->g, p->node, i, a);
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
