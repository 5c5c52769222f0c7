/* Prints graphs in the text form: declarations, assignments, the return line. Nodes come operands first, in depth-first
 * order from the outputs; each gets a text made of its operands' texts, and a text that is used twice, long, or deep is
 * assigned to a name. No recursion. Called by the tools, the tests and the plan's listings. */
#include "ir/print.h"

#include "base/mem.h"
#include "ir/build_raw.h"
#include "ir/parser.h"
#include "ir/print_node.h"
#include "ir/text.h"

#include <string.h>

/* How long the operands of one line may be together, how deep each; what is no longer than NAME gains nothing from a
 * name. */
enum { LONG = 84, DEEP = 8, NAME = 12 };

/* Nodes of a graph whose parts are printed as expressions. */
enum { LARGE = 4096 };

typedef struct printer {
    const krf_graph *g;
    size_t n; /* nodes 0 to n - 1 matter */
    uint32_t *uses;
    uint32_t *order; /* what is reached from the outputs, operands first */
    size_t n_order;
    krf__text *texts; /* by node */
    krf__map taken;   /* names of placeholders */
    int next_x, next_s, next_t;
    krf__str *out;
} printer;

typedef struct visit {
    uint32_t id;
    int next;
} visit;

static int arity_of(const printer *p, uint32_t id) {
    return krf__print_arity(p->g, id);
}

static bool is_leaf(const printer *p, uint32_t id) { return arity_of(p, id) == 0; }

static bool is_constant(const printer *p, uint32_t id) { return krf__node_of(p->g, id)->op == KRF__constant; }

/* Puts an output and what it needs into the order. The stack holds each node at most once. */
static void reach(printer *p, uint32_t output, visit *stack) {
    size_t depth = 0;
    if (p->uses[output]++ == 0) {
        stack[depth++] = (visit){output, 0};
    }
    while (depth > 0) {
        visit *top = &stack[depth - 1];
        if (top->next == arity_of(p, top->id)) {
            p->order[p->n_order++] = top->id;
            depth--;
            continue;
        }
        uint32_t arg = krf__print_operand(p->g, top->id, top->next++);
        if (p->uses[arg]++ == 0) {
            stack[depth++] = (visit){arg, 0};
        }
    }
}

static bool start(printer *p, const krf_graph *g, int n, const uint32_t *outputs, krf__str *out) {
    *p = (printer){.g = g, .out = out, .n = 1};
    for (int i = 0; i < n; i++) {
        p->n = outputs[i] >= p->n ? (size_t)outputs[i] + 1 : p->n;
    }
    p->uses = krf__calloc(p->n, sizeof *p->uses);
    p->order = krf__calloc(p->n, sizeof *p->order);
    p->texts = krf__calloc(p->n, sizeof *p->texts);
    visit *stack = krf__calloc(p->n, sizeof *stack);
    bool done = p->uses != NULL && p->order != NULL && p->texts != NULL && stack != NULL;
    for (int i = 0; done && i < n; i++) {
        reach(p, outputs[i], stack);
    }
    krf__mem_free(stack);
    out->failed |= !done;
    return done;
}

static void finish(printer *p) {
    for (size_t i = 0; p->texts != NULL && i < p->n_order; i++) {
        krf__mem_free(p->texts[p->order[i]].data);
    }
    krf__mem_free(p->texts);
    krf__mem_free(p->uses);
    krf__mem_free(p->order);
    krf__map_free(&p->taken, NULL);
}

static void set_text(printer *p, uint32_t id, krf__str *text, krf__text facts) {
    krf__mem_free(p->texts[id].data);
    facts.length = text->length;
    facts.data = krf__str_take(text);
    p->texts[id] = facts;
    p->out->failed |= facts.data == NULL;
}

static void set_name(printer *p, uint32_t id, krf__str *name) {
    set_text(p, id, name, (krf__text){.level = KRF__LEVEL_ATOM});
}

/* The next of x0, x1, ... that no placeholder is called. */
static void set_fresh_name(printer *p, uint32_t id, char letter) {
    int *next = letter == 'x' ? &p->next_x : letter == 's' ? &p->next_s : &p->next_t;
    krf__str name = {0};
    do {
        krf__str_clear(&name);
        krf__str_printf(&name, "%c%d", letter, (*next)++);
    } while (!name.failed && krf__map_get(&p->taken, name.data, name.length) != NULL);
    set_name(p, id, &name);
}

/* Whether the text form can call a placeholder so without hiding something that a program needs. */
static bool usable(const char *name) {
    static const char *const words[] = {"return", "and",  "or",  "not", "if", "is",  "in",   "True",
                                        "False",  "None", "inf", "nan", "np", "int", "float", "complex"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (name == NULL || *name == '\0' || (*name >= '0' && *name <= '9') || name[strspn(name, letters)] != '\0') {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i]) == 0) {
            return false;
        }
    }
    krf__token token = {.kind = KRF__TOKEN_NAME, .start = name, .length = strlen(name)};
    return !krf__parse_is_function(&token);
}

/* A range has no name: its text stands wherever it is used. */
static void set_range(printer *p, uint32_t id) {
    krf__str text = {0};
    krf__str_printf(&text, "arange(%lld)", (long long)krf__shape_of(p->g, id)[0]);
    set_text(p, id, &text, (krf__text){.level = KRF__LEVEL_ATOM});
}

/* Neither has a raw kernel: a comment says what it takes. */
static void set_raw(printer *p, uint32_t id, bool comment) {
    const krf__raw *raw = krf__raw_of(p->g, id);
    krf__str text = {0};
    krf__str_put(&text, raw->name);
    set_text(p, id, &text, (krf__text){.level = KRF__LEVEL_ATOM});
    if (comment) {
        krf__str_printf(p->out, raw->units.at == NULL ? "# raw kernel %s(" : "# generalised function %s(", raw->name);
        for (const char *at = raw->texts[0]; *at != '\0'; at++) {
            krf__str_char(p->out, *at == '\n' ? ' ' : *at);
        }
        krf__str_put(p->out, ")\n");
    }
}

static void declare(printer *p, uint32_t id, const int64_t *strides) {
    const krf__node *n = krf__node_of(p->g, id);
    const int64_t *shape = krf__shape_of(p->g, id);
    const char *weak = krf__weak_name((krf_dtype)n->dtype);
    krf__str_printf(p->out, "%s: %s", p->texts[id].data, n->weak ? weak : krf_dtype_name((krf_dtype)n->dtype));
    for (int i = 0; i < n->rank; i++) {
        krf__str_put(p->out, i == 0 ? "[" : ", ");
        krf__str_i64(p->out, shape[i]);
    }
    krf__str_put(p->out, n->rank > 0 ? "]" : "");
    int64_t c_strides[KRF_MAX_RANK];
    bool contiguous = true;
    krf__shape_c_strides(n->rank, shape, c_strides);
    for (int i = 0; strides != NULL && i < n->rank; i++) {
        contiguous &= shape[i] == 1 || strides[i] == c_strides[i];
    }
    if (!contiguous && krf__shape_size(n->rank, shape) > 0) {
        krf__str_put(p->out, " strides ");
        krf__str_shape(p->out, n->rank, strides);
    }
    krf__str_char(p->out, '\n');
}

/* Placeholders in their order, for a plan binds them by it; then inputs, then scalars, in order of use: read back, all
 * are placeholders in the order in which they stand here. */
static void declare_leaves(printer *p) {
    const krf_graph *g = p->g;
    for (size_t i = 0; i < g->n_placeholders; i++) {
        const krf__placeholder *known = &g->placeholders[i];
        if (known->node < p->n && p->uses[known->node] > 0 && usable(known->name)) {
            krf__str name = {0};
            krf__str_put(&name, known->name);
            p->out->failed |= !krf__map_put(&p->taken, known->name, strlen(known->name), p);
            set_name(p, known->node, &name);
        }
    }
    for (size_t i = 0; i < g->n_placeholders && !p->out->failed; i++) {
        const krf__placeholder *known = &g->placeholders[i];
        if (known->node < p->n && p->uses[known->node] > 0) {
            if (p->texts[known->node].data == NULL) {
                set_fresh_name(p, known->node, 'x');
            }
            declare(p, known->node, known->strided ? known->strides : NULL);
        }
    }
    for (int scalars = 0; scalars < 2; scalars++) {
        for (size_t i = 0; i < p->n_order && !p->out->failed; i++) {
            uint32_t id = p->order[i];
            const krf__node *n = krf__node_of(g, id);
            if (is_leaf(p, id) && !is_constant(p, id) && p->texts[id].data == NULL
                && (n->op == KRF__scalar) == (scalars == 1)) {
                if (n->op == KRF__iota || n->op == KRF__raw_kernel) {
                    n->op == KRF__iota ? set_range(p, id) : set_raw(p, id, true);
                    continue;
                }
                set_fresh_name(p, id, scalars ? 's' : 'x');
                declare(p, id, n->op == KRF__input ? g->arrays[n->value]->strides : NULL);
            }
        }
    }
}

/* Assigns the node's text to a name. */
static void hoist(printer *p, uint32_t id) {
    krf__text text = p->texts[id];
    p->texts[id].data = NULL;
    set_fresh_name(p, id, 't');
    if (!p->out->failed) {
        krf__str_printf(p->out, "%s = ", p->texts[id].data);
        krf__str_putn(p->out, text.data, text.length);
        krf__str_char(p->out, '\n');
    }
    krf__mem_free(text.data);
}

/* Gives names to the deepest and longest of these nodes until a line can hold them. */
static void make_room(printer *p, int n, const uint32_t *ids) {
    while (!p->out->failed) {
        size_t total = 0;
        uint32_t longest = 0;
        for (int i = 0; i < n; i++) {
            const krf__text *t = &p->texts[ids[i]];
            if (is_constant(p, ids[i])) {
                continue;
            }
            total += t->length;
            if (!is_leaf(p, ids[i]) && t->length > NAME && (longest == 0 || t->length > p->texts[longest].length)) {
                longest = ids[i];
            }
            if (t->depth >= DEEP) {
                longest = ids[i];
                total = SIZE_MAX / 2;
            }
        }
        if (total <= LONG || longest == 0) {
            return;
        }
        hoist(p, longest);
    }
}

static void print_node(printer *p, uint32_t id, krf__str *text) {
    krf__text facts = {0};
    uint32_t args[KRF__MOST_DEFINED];
    int n = arity_of(p, id);
    for (int i = 0; i < n; i++) {
        args[i] = krf__print_operand(p->g, id, i);
    }
    krf__print_node(p->g, id, p->texts, text, &facts);
    set_text(p, id, text, facts);
    for (int i = 0; i < n; i++) {
        if (--p->uses[args[i]] == 0) {
            krf__mem_free(p->texts[args[i]].data);
            p->texts[args[i]] = (krf__text){0};
        }
    }
}

static void print_body(printer *p) {
    for (size_t i = 0; i < p->n_order && !p->out->failed; i++) {
        uint32_t id = p->order[i], args[KRF__MOST_DEFINED];
        int n = arity_of(p, id);
        if (n == 0) {
            continue;
        }
        for (int k = 0; k < n; k++) {
            args[k] = krf__print_operand(p->g, id, k);
        }
        make_room(p, n, args);
        if (p->out->failed) {
            return;
        }
        krf__str text = {0};
        print_node(p, id, &text);
        if (p->uses[id] > 1 && !p->out->failed) {
            hoist(p, id);
        }
    }
}

void krf__print(const krf_graph *g, int n, const uint32_t *outputs, krf__str *out) {
    printer p;
    if (start(&p, g, n, outputs, out)) {
        p.next_t = 1;
        declare_leaves(&p);
        print_body(&p);
        if (!out->failed) {
            make_room(&p, n, outputs);
        }
        krf__str_put(out, "return ");
        for (int i = 0; i < n && !out->failed; i++) {
            krf__str_put(out, i > 0 ? ", " : "");
            if (is_constant(&p, outputs[i])) {
                krf__print_constant(g, outputs[i], out);
            } else {
                krf__str_put(out, p.texts[outputs[i]].data);
            }
        }
        krf__str_char(out, '\n');
    }
    finish(&p);
}

void krf__print_expression(const krf_graph *g, uint32_t node, size_t limit, krf__str *out) {
    printer p;
    if (node > LARGE) { /* a walk over all below it for each kernel would take longer than all the rest of planning */
        krf__str_printf(out, "%s(...)", krf__op_info_of((krf__op)krf__node_of(g, node)->op)->name);
        return;
    }
    bool ready = start(&p, g, 1, &node, out);
    for (size_t i = 0; ready && i < p.n_order && !out->failed; i++) {
        uint32_t id = p.order[i];
        if (is_leaf(&p, id)) {
            if (krf__node_of(g, id)->op == KRF__iota) {
                set_range(&p, id);
            } else if (krf__node_of(g, id)->op == KRF__raw_kernel) {
                set_raw(&p, id, false);
            } else if (!is_constant(&p, id)) {
                set_fresh_name(&p, id, krf__node_of(g, id)->op == KRF__scalar ? 's' : 'x');
            }
            continue;
        }
        krf__str text = {0};
        print_node(&p, id, &text);
        krf__text *t = &p.texts[id];
        if (t->length > limit) {
            t->length =
                limit; /* a text that was cut fills a user's up to the same place, so nothing wrong follows it */
            t->cut = true;
        }
    }
    if (ready && !out->failed) {
        if (is_constant(&p, node)) {
            krf__print_constant(g, node, out);
        } else {
            krf__str_putn(out, p.texts[node].data, p.texts[node].length);
            krf__str_put(out, p.texts[node].cut ? "..." : "");
        }
    }
    finish(&p);
}
