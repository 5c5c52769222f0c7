/* Nodes of what users define: their facts, their values, and how they are built. */
#include "fuzz/user.h"

#include "sched/context.h"

int user_percent = 25;
bool user_wide_scans = true;

bool node_is_user(const node *n) { return n->kind >= NODE_CALL && n->kind <= NODE_FOLD_SCAN; }

static const char *parameters_of(const node *n) { return n->kind == NODE_CALL ? user_ops[n->op].parameters : user_folds[n->op].parameters; }

static const char *results_of(const node *n) {
    const user_fold *f = &user_folds[n->op];
    return n->kind == NODE_CALL ? user_ops[n->op].results : f->results != NULL ? f->results : f->fields;
}

/* ---- definitions ---- */

/* Each is made once in a process, so that nodes of any graph may have it, and known by name in every context. */
static krf__defined known;
static const krf_op *made[64];

static const krf_op **place_of(node_kind kind, int op) { return &made[kind == NODE_CALL ? op : user_ops_count + op]; }

static void must(krf_status status) {
    if (status != KRF_OK) {
        fprintf(stderr, "%s\n", krf_error_message());
        exit(2);
    }
}

krf__defined *user_defined(void) {
    if (made[0] != NULL) {
        return &known;
    }
    krf__defined_open(&known);
    for (int i = 0; i < user_ops_count; i++) {
        const user_op *f = &user_ops[i];
        krf_op *op;
        must(krf__op_define(&known, f->name, f->parameters, f->results, f->body, f->derivatives, &op));
        *place_of(NODE_CALL, i) = op;
    }
    for (int i = 0; i < user_folds_count; i++) {
        const user_fold *f = &user_folds[i];
        const krf__reduction_text text = {f->name, f->parameters, f->fields, f->identity, f->map, f->combine, f->results, f->post, NULL};
        krf_op *op = NULL;
        if (f->function == NULL) {
            must(krf__reduction_define(&known, &text, &op));
        }
        *place_of(NODE_FOLD, i) = op;
    }
    return &known;
}

void user_define(krf_context *context) {
    user_defined();
    for (int i = 0; i < user_ops_count + user_folds_count; i++) {
        if (made[i] != NULL) {
            must(krf__op_register(&context->defined, (krf_op *)(uintptr_t)made[i]));
        }
    }
}

int user_find(node_kind kind, const krf_op *op) {
    const int n = kind == NODE_CALL ? user_ops_count : user_folds_count;
    const char *name = op->function != NULL ? op->function : op->name;
    for (int i = 0; i < n; i++) {
        const bool function = kind != NODE_CALL && user_folds[i].function != NULL;
        if (strcmp(kind == NODE_CALL ? user_ops[i].name : user_folds[i].name, name) == 0 && function == (op->function != NULL)) {
            return i;
        }
    }
    return -1;
}

/* ---- signatures ---- */

/* Of letters: 'T', and dtype is nothing. */
typedef struct variable {
    char letter;
    krf_dtype dtype;
} variable;

static int read_signature(const char *text, variable *list) {
    int n = 0;
    for (const char *at = text; at != NULL && *at != '\0'; n++) {
        char type[16] = "";
        sscanf(at, " %15s", type);
        list[n] = (variable){.letter = type[1] == '\0' ? type[0] : '\0', .dtype = KRF_BOOL};
        if (list[n].letter == '\0') {
            krf_dtype_from_name(type, &list[n].dtype);
        }
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return n;
}

static krf_dtype dtype_of_variable(const variable *v, const krf_dtype letters[26]) { return v->letter != '\0' ? letters[v->letter - 'A'] : v->dtype; }

/* The dtype that each letter stands for, for operands of these facts; false where there is none. */
static bool find_letters(int n, const variable *parameters, const facts *const *args, krf_dtype letters[26]) {
    for (char letter = 'A'; letter <= 'Z'; letter++) {
        const facts *own[MOST_ARGS];
        int count = 0;
        for (int i = 0; i < n; i++) {
            if (parameters[i].letter == letter) {
                own[count++] = args[i];
            }
        }
        krf_dtype common = KRF_F32;
        if (count > 0 && (!operands_promote(count, own, &common) || is_complex(common))) {
            return false;
        }
        letters[letter - 'A'] = letter == 'F' ? float_dtype(common) : common;
    }
    return true;
}

static bool signature_is_narrow(int n, const variable *list, const krf_dtype letters[26]) {
    bool any = false, wide_one = false;
    for (int i = 0; i < n; i++) {
        const krf_dtype dtype = dtype_of_variable(&list[i], letters);
        any |= is_real(dtype);
        wide_one |= dtype == KRF_F64;
    }
    return any && !wide_one;
}

int user_arity(const node *n) {
    variable list[KRF__MOST_DEFINED];
    return read_signature(parameters_of(n), list);
}

int user_results(const node *n) {
    variable list[KRF__MOST_DEFINED];
    return read_signature(results_of(n), list);
}

/* A node's signature with its operands' dtypes. */
typedef struct typing {
    int n, n_results, n_fields;
    variable parameters[KRF__MOST_DEFINED], results[KRF__MOST_RESULTS], fields[KRF__MOST_RESULTS];
    krf_dtype letters[26];
} typing;

static bool find_typing(const graph *g, const node *n, typing *t) {
    const facts *args[MOST_ARGS];
    t->n = read_signature(parameters_of(n), t->parameters);
    t->n_results = read_signature(results_of(n), t->results);
    t->n_fields = n->kind == NODE_CALL ? 0 : read_signature(user_folds[n->op].fields, t->fields);
    for (int i = 0; i < t->n; i++) {
        args[i] = &g->nodes[n->args[i]].is;
    }
    return find_letters(t->n, t->parameters, args, t->letters);
}

static bool is_narrow(const typing *t) {
    variable both[2 * KRF__MOST_DEFINED];
    memcpy(both, t->parameters, (size_t)t->n * sizeof *both);
    memcpy(both + t->n, t->results, (size_t)t->n_results * sizeof *both);
    return signature_is_narrow(t->n + t->n_results, both, t->letters);
}

/* ---- facts ---- */

static int kind_of(krf_dtype dtype) { return dtype == KRF_BOOL ? 0 : is_real(dtype) ? 2 : 1; }

static bool operand_fits(const graph *g, const node *arg, const variable *v, krf_dtype to) {
    const facts *x = &arg->is;
    krf_dtype common;
    if (is_complex(x->dtype)) {
        return false;
    }
    const bool weak = x->weak && kind_of(x->dtype) <= kind_of(to);
    if (v->letter == '\0' && !weak && (!dtypes_promote(x->dtype, to, &common) || common != to)) {
        return false;
    }
    return weak_fits(g, arg, to);
}

static bool takes_dtypes(takes t, const typing *typed) {
    bool right = true;
    for (int i = 0; i < typed->n; i++) {
        const krf_dtype dtype = dtype_of_variable(&typed->parameters[i], typed->letters);
        right &= typed->parameters[i].letter == '\0' || t == TAKES_ANY || (dtype != KRF_BOOL && (t == TAKES_NUMBERS || !is_real(dtype)));
    }
    return right;
}

static bool infer_axes(node *n, const facts *whole) {
    unsigned mask = 0;
    const int count = n->kind == NODE_FOLD ? n->n : 1;
    for (int i = 0; i < count; i++) {
        const int axis = n->axes[i] < 0 ? n->axes[i] + whole->rank : n->axes[i];
        if (axis < 0 || axis >= whole->rank || (mask >> axis & 1) != 0) {
            return false;
        }
        mask |= 1u << axis;
    }
    if (n->kind == NODE_FOLD) {
        n->is.rank = 0;
        for (int i = 0; i < whole->rank; i++) {
            if ((mask >> i & 1) == 0 || n->keepdims) {
                n->is.shape[n->is.rank++] = (mask >> i & 1) != 0 ? 1 : whole->shape[i];
            }
        }
    }
    return true;
}

bool infer_user(const graph *g, node *n) {
    typing t;
    facts whole = {.rank = 0};
    const user_fold *f = n->kind == NODE_CALL ? NULL : &user_folds[n->op];
    if (!find_typing(g, n, &t) || !takes_dtypes(f == NULL ? user_ops[n->op].takes : f->takes, &t) || n->result >= t.n_results) {
        return false;
    }
    for (int i = 0; i < t.n; i++) {
        if (!operand_fits(g, &g->nodes[n->args[i]], &t.parameters[i], dtype_of_variable(&t.parameters[i], t.letters)) || !broadcast(&whole, &g->nodes[n->args[i]].is)) {
            return false;
        }
    }
    bool none = false;
    for (int i = 0; i < whole.rank; i++) {
        none |= whole.shape[i] == 0;
    }
    n->is = (facts){.dtype = dtype_of_variable(&t.results[n->result], t.letters), .real = true, .rank = whole.rank};
    memcpy(n->is.shape, whole.shape, sizeof whole.shape);
    if (f == NULL) {
        return true;
    }
    const bool identity = f->function == NULL || t.n_fields == 1;
    return (!none || identity) && (n->kind == NODE_FOLD || (t.n_fields == 1 || user_wide_scans)) && infer_axes(n, &whole);
}

/* ---- values ---- */

value kept(krf_dtype dtype, value v) {
    v.dtype = is_real(dtype) ? KRF_F64 : KRF_I64;
    return convert(v, is_half(dtype) ? KRF_F32 : dtype);
}

static value stored(krf_dtype dtype, value v) { return convert(kept(dtype, v), dtype); }

bool user_is_open(const node *n) { return n->kind == NODE_CALL ? user_ops[n->op].outer != NULL : user_folds[n->op].near != NULL; }

/* Elements of the operands at a place of the whole shape, as they are converted. */
typedef struct operands {
    const graph *g;
    const node *n;
    const values *v;
    const typing *t;
} operands;

static void read_operands(const operands *o, const facts *whole, int64_t at, value *x) {
    for (int i = 0; i < o->t->n; i++) {
        const facts *f = &o->g->nodes[o->n->args[i]].is;
        int64_t place = 0, step = 1, rest = at;
        for (int k = 1; k <= whole->rank; k++) {
            const int64_t extent = whole->shape[whole->rank - k], index = rest % extent;
            rest /= extent;
            if (k <= f->rank) {
                place += f->shape[f->rank - k] == 1 ? 0 : index * step;
                step *= f->shape[f->rank - k];
            }
        }
        x[i] = convert(get(o->v->of[o->n->args[i]], f->dtype, place), dtype_of_variable(&o->t->parameters[i], o->t->letters));
    }
}

static bool run_call(const operands *o, int id, const void *observed, bool cuda, void *out, report *r) {
    const node *n = o->n;
    const user_op *f = &user_ops[n->op];
    const krf_dtype dtype = n->is.dtype;
    for (int64_t i = 0; i < n->is.size; i++) {
        value x[MOST_ARGS] = {{0}}, y[KRF__MOST_RESULTS] = {{0}}, inner = {0};
        read_operands(o, &n->is, i, x);
        if (f->outer == NULL) {
            f->value(is_narrow(o->t), x, y);
            put(out, i, stored(dtype, y[n->result]));
            continue;
        }
        const value got = get(observed, dtype, i);
        const char *name = f->outer(dtype, n->result, x, &inner);
        char text[2][128];
        if (!op_accepts(op_find(name), dtype, (value[3]){inner, inner, inner}, got, cuda)) {
            return fails(r, "node %d, %s: result %d, element %" PRId64 ": %s of %s is %s, too far from the exact value", id, f->name, n->result, i, name, show(inner, text[0], 128),
                         show(got, text[1], 128));
        }
        put(out, i, got);
    }
    return true;
}

/* The result of a row from what was combined. */
static value last(const operands *o, const row_rule *rule, const accumulator *a) {
    const user_fold *f = rule->fold;
    value y[KRF__MOST_RESULTS] = {{0}};
    if (f->last == NULL) {
        return stored(o->n->is.dtype, a->f[o->n->result]);
    }
    f->last(rule->narrow, a->f, y);
    return stored(o->n->is.dtype, y[o->n->result]);
}

/* The places of a row: the first element is at `first`, and the k-th one is that much further. */
static int64_t row_places(const facts *whole, unsigned mask, int64_t *steps) {
    int64_t n = 1, step = 1, own[RANK];
    for (int i = whole->rank - 1; i >= 0; i--) {
        own[i] = step;
        step *= whole->shape[i];
    }
    for (int i = 0; i < whole->rank; i++) {
        n *= (mask >> i & 1) != 0 ? whole->shape[i] : 1;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t rest = k;
        steps[k] = 0;
        for (int i = whole->rank - 1; i >= 0; i--) {
            if ((mask >> i & 1) != 0) {
                steps[k] += rest % whole->shape[i] * own[i];
                rest /= whole->shape[i];
            }
        }
    }
    return n;
}

static bool run_row(const operands *o, const row_rule *rule, const facts *whole, int64_t first, int64_t n, const int64_t *steps, accumulator *mapped, const void *observed, void *out,
                    int64_t to, report *r) {
    const node *wanted = o->n;
    value *seen = malloc((size_t)n * sizeof *seen + 1);
    assert_non_null(seen);
    bool right = true;
    for (int64_t k = 0; k < n; k++) {
        value x[MOST_ARGS] = {{0}};
        read_operands(o, whole, first + steps[k], x);
        seen[k] = x[0];
        memset(&mapped[k], 0, sizeof mapped[k]);
        rule->fold->value(rule->narrow, x, mapped[k].f);
        for (int f = 0; f < rule->fields; f++) {
            mapped[k].f[f] = kept(rule->dtypes[f], mapped[k].f[f]);
        }
    }
    const int64_t count = wanted->kind == NODE_FOLD ? 1 : n;
    accumulator *totals = mapped + n;
    if (rule->fold->near == NULL && wanted->kind == NODE_FOLD) {
        totals[0] = row_reduce(rule, mapped, n);
    } else if (rule->fold->near == NULL) {
        row_scan(rule, mapped, n, totals);
    }
    for (int64_t k = 0; k < count && right; k++) {
        const int64_t at = wanted->kind == NODE_FOLD ? to : first + steps[k];
        if (rule->fold->near == NULL) {
            put(out, at, last(o, rule, &totals[k]));
            continue;
        }
        const value got = get(observed, wanted->is.dtype, at);
        const value *const rows[1] = {seen};
        char text[128];
        right = rule->fold->near(wanted->is.dtype, rows, wanted->kind == NODE_FOLD ? n : k + 1, got) || fails(r, "%s: element %" PRId64 " is %s, too far from the exact value", rule->fold->name, at, show(got, text, 128));
        put(out, at, got);
    }
    free(seen);
    return right;
}

static bool ruwanted(const operands *o, const void *observed, void *out, report *r) {
    const node *n = o->n;
    const typing *t = o->t;
    facts whole = {.rank = 0, .size = 1};
    for (int i = 0; i < t->n; i++) {
        broadcast(&whole, &o->g->nodes[n->args[i]].is);
    }
    unsigned mask = 0;
    for (int i = 0; i < (n->kind == NODE_FOLD ? n->n : 1); i++) {
        mask |= 1u << (n->axes[i] < 0 ? n->axes[i] + whole.rank : n->axes[i]);
    }
    int64_t length = 1, rows = 1, step = 1, own[RANK];
    for (int i = whole.rank - 1; i >= 0; i--) {
        own[i] = step;
        step *= whole.shape[i];
        *((mask >> i & 1) != 0 ? &length : &rows) *= whole.shape[i];
    }
    row_rule rule = {.fold = &user_folds[n->op], .fields = t->n_fields, .narrow = is_narrow(t)};
    for (int k = 0; k < t->n_fields; k++) {
        rule.dtypes[k] = dtype_of_variable(&t->fields[k], t->letters);
    }
    int64_t *steps = malloc((size_t)length * sizeof *steps + 1);
    accumulator *mapped = malloc(2 * (size_t)(length + 1) * sizeof *mapped);
    assert_non_null(steps);
    assert_non_null(mapped);
    row_places(&whole, mask, steps);
    bool right = true;
    for (int64_t row = 0; row < rows && right && n->is.size > 0; row++) {
        int64_t rest = row, first = 0;
        for (int i = whole.rank - 1; i >= 0; i--) {
            if ((mask >> i & 1) == 0) {
                first += rest % whole.shape[i] * own[i];
                rest /= whole.shape[i];
            }
        }
        right = run_row(o, &rule, &whole, first, length, steps, mapped, observed, out, row, r);
    }
    free(mapped);
    free(steps);
    return right;
}

bool run_user(const graph *g, int id, const values *v, const void *observed, bool cuda, void *out, report *r) {
    typing t;
    const operands o = {g, &g->nodes[id], v, &t};
    find_typing(g, o.n, &t);
    return o.n->kind == NODE_CALL ? run_call(&o, id, observed, cuda, out, r) : ruwanted(&o, observed, out, r);
}

/* ---- the library's ---- */

krf_expr build_user(const node *n, const krf_expr *x) {
    krf_expr results[KRF__MOST_RESULTS] = {{NULL, 0}};
    user_defined();
    const krf_op *op = *place_of(n->kind, n->op);
    const char *function = n->kind == NODE_CALL ? NULL : user_folds[n->op].function;
    if (n->kind == NODE_CALL) {
        krf_op_call(op, user_arity(n), x, results);
    } else if (function != NULL) {
        results[0] = n->kind == NODE_FOLD ? krf_ufunc_reduce(function, x[0], n->n, n->axes, n->keepdims) : krf_ufunc_accumulate(function, x[0], n->axes[0]);
    } else if (n->kind == NODE_FOLD) {
        krf_reduction_call((const krf_reduction *)op, user_arity(n), x, n->n, n->axes, n->keepdims, results);
    } else {
        krf_reduction_scan((const krf_reduction *)op, user_arity(n), x, n->axes[0], results);
    }
    return results[n->result];
}

/* ---- picks ---- */

/* The other results of a call are often wanted too. */
static bool pick_sibling(dice *d, const graph *g, node *n) {
    for (int id = g->n_nodes - 1; id >= 0; id--) {
        const node *other = &g->nodes[id];
        if (other->kind == n->kind && user_results(other) > 1) {
            *n = *other;
            n->result = (int)random_below(d, user_results(n));
            return true;
        }
    }
    return false;
}

void pick_user(dice *d, const graph *g, node *n) {
    const node_kind kind = n->kind;
    if (random_below(d, 4) == 0 && pick_sibling(d, g, n)) {
        return;
    }
    for (int tries = 0; tries < 8; tries++) { /* some row that takes the first operand */
        n->kind = kind;
        n->op = (int)random_below(d, kind == NODE_CALL ? user_ops_count : user_folds_count);
        n->result = (int)random_below(d, user_results(n));
        for (int k = 1; k < user_arity(n); k++) {
            n->args[k] = random_below(d, 4) == 0 ? n->args[0] : (int)random_below(d, g->n_nodes);
        }
        facts whole = g->nodes[n->args[0]].is;
        for (int k = 1; k < user_arity(n); k++) {
            broadcast(&whole, &g->nodes[n->args[k]].is);
        }
        n->keepdims = random_below(d, 5) < 2;
        n->n = 0;
        if (kind == NODE_FOLD) {
            pick_axes(d, n, &whole);
        } else if (kind == NODE_FOLD_SCAN) {
            n->axes[0] = whole.rank > 0 ? (int)random_below(d, whole.rank) : 0;
            n->keepdims = false;
        } else {
            n->keepdims = false;
        }
        if (node_infer(g, n)) {
            return;
        }
    }
}
