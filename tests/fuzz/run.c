/* One evaluation of a graph in one way: memory for blocks and given outputs, the evaluation, the results, and a look at
 * all memory that should not have changed. */
#include "fuzz/evaluate.h"
#include "sched/context.h"

/* What a block or the memory behind a given output held before, and which elements may be written. */
typedef struct memory {
    krf_array *base;
    krf_dtype dtype;
    int64_t count;
    unsigned char *before;
} memory;

typedef struct running {
    const graph *g;
    const way *w;
    report *r;
    memory blocks[MOST_LEAVES], given[MOST_OUTPUTS];
    krf_array *leaves[MOST_LEAVES];
    int n; /* results */
    int nodes[MOST_OUTPUTS + MOST_NODES];
    krf_array *outputs[MOST_OUTPUTS + MOST_NODES];
    krf_graph *graph;
    krf_expr exprs[MOST_OUTPUTS + MOST_NODES];
} running;

static bool failed(running *x, const char *what) {
    return fails(x->r, "%s: %s: %s", x->w->label, what, krf_error_message());
}

static bool make_memory(running *x, memory *m, krf_dtype dtype, int64_t count, void *contents) {
    *m = (memory){.dtype = dtype, .count = count, .before = contents};
    return krf_array_from_host(x->w->context, dtype, 1, &count, contents, &m->base) == KRF_OK || failed(x, "from_host");
}

static bool make_leaves(running *x) {
    const graph *g = x->g;
    for (int k = 0; k < g->n_leaves; k++) {
        const leaf *l = &g->leaves[k];
        memory *m = &x->blocks[l->block];
        if (m->before == NULL
            && !make_memory(x, m, g->blocks[l->block].dtype, g->blocks[l->block].count, block_memory(g, l->block))) {
            return false;
        }
        if (krf_array_view(m->base, l->rank, l->shape, l->strides, l->offset, &x->leaves[k]) != KRF_OK) {
            return failed(x, "view");
        }
    }
    return true;
}

/* Memory of which the output takes every third element, the last axis backwards; in C order where plans demand that. */
static bool make_strided(running *x, int k) {
    const facts *f = &x->g->nodes[x->nodes[k]].is;
    const int64_t gap = x->w->form == WITH_INPUTS ? 3 : 1;
    int64_t strides[RANK], step = gap, offset = 2, count = gap * f->size + 5;
    for (int i = f->rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= f->shape[i];
        if (i == f->rank - 1 && gap > 1 && f->shape[i] > 0) {
            strides[i] = -gap;
            offset += gap * (f->shape[i] - 1);
        }
    }
    unsigned char *contents = malloc((size_t)count * bytes_of(f->dtype));
    assert_non_null(contents);
    memset(contents, f->dtype == KRF_BOOL ? 1 : 0x5a, (size_t)count * bytes_of(f->dtype));
    return make_memory(x, &x->given[k], f->dtype, count, contents)
           && (krf_array_view(x->given[k].base, f->rank, f->shape, strides, offset, &x->outputs[k]) == KRF_OK
               || failed(x, "view"));
}

static bool make_outputs(running *x) {
    for (int k = 0; k < x->g->n_outputs; k++) {
        const output *o = &x->g->outputs[k];
        x->nodes[x->n++] = o->node;
        if (x->w->given && o->how == GIVEN_STRIDED && !make_strided(x, k)) {
            return false;
        }
        if (x->w->given && o->how == GIVEN_LEAF
            && (x->w->form == WITH_INPUTS || leaf_in_c_order(&x->g->leaves[o->leaf]))) {
            x->outputs[k] = krf_array_retain(x->leaves[o->leaf]);
        }
    }
    if (x->w->open) {
        x->n += graph_open_nodes(x->g, x->nodes + x->n);
    }
    return true;
}

/* ---- the ways to evaluate ---- */

static krf_binding bind_value(const char *name, value v) {
    return is_complex(v.dtype) ? krf_bind_complex(name, v.f, v.im) : is_real(v.dtype) ? krf_bind_real(name, v.f) : krf_bind_int(name, v.i);
}

/* a3: a leaf; k5: the scalar of node 5. A value of rank 0 is bound as an array or as a number. */
static krf_binding binding_of(const running *x, const char *name) {
    int index = atoi(name + 1);
    if (name[0] == 'k') {
        const value v = x->g->nodes[index].scalar;
        return bind_value(name, v);
    }
    const leaf *l = &x->g->leaves[index];
    const value v = block_element(x->g, l->block, l->offset);
    const bool too_large = v.dtype == KRF_U64 && v.i < 0; /* for krf_bind_int */
    if (l->rank > 0 || too_large || (x->g->seed + (uint64_t)index) % 2 == 0) {
        return krf_bind_array(name, x->leaves[index]);
    }
    return bind_value(name, v);
}

/* Whether a second run would read what the first one wrote. */
static bool writes_leaves(const running *x) {
    bool any = false;
    for (int k = 0; k < x->g->n_outputs; k++) {
        any |= x->w->given && x->g->outputs[k].how == GIVEN_LEAF;
    }
    return any;
}

/* Twice: what a run leaves behind must not matter to the next. */
static bool run_plan(running *x) {
    krf_plan *plan = NULL;
    krf_binding bindings[MOST_LEAVES + MOST_NODES];
    if (krf_compile(x->graph, x->n, x->exprs, NULL, &plan) != KRF_OK) {
        return failed(x, "compile");
    }
    int n = krf_plan_placeholders(plan);
    for (int i = 0; i < n; i++) {
        bindings[i] = binding_of(x, krf_plan_placeholder_name(plan, i));
    }
    bool right = true;
    for (int times = 0; right && times < (writes_leaves(x) ? 1 : 2); times++) {
        for (int k = 0; times > 0 && k < x->n; k++) { /* what was not given is made anew */
            if (k >= MOST_OUTPUTS || x->given[k].base == NULL) {
                krf_array_release(x->outputs[k]);
                x->outputs[k] = NULL;
            }
        }
        right = krf_plan_run(plan, NULL, n, bindings, x->outputs) == KRF_OK || failed(x, "run");
    }
    krf_plan_release(plan);
    return right;
}

/* Prints the graph and puts the parsed text in its place. */
static bool parse_again(running *x) {
    char *text = NULL;
    size_t size;
    int count = 0;
    if (krf_dump(x->graph, x->n, x->exprs, KRF_DUMP_GRAPH, NULL, NULL, &text, &size) != KRF_OK) {
        return failed(x, "dump");
    }
    krf_graph *parsed = krf_graph_create(x->w->context);
    bool right =
        krf_parse_many(parsed, text, NULL, 0, MOST_OUTPUTS + MOST_NODES, x->exprs, &count) == KRF_OK && count == x->n;
    if (!right) {
        fails(x->r, "%s: parse: %s\n%s", x->w->label, krf_error_message(), text);
    }
    krf_free(text);
    krf_graph_destroy(x->graph);
    x->graph = parsed;
    return right;
}

static bool run_graph(running *x) {
    krf_expr built[MOST_NODES];
    x->graph = krf_graph_create(x->w->context);
    if (!build_graph(x->graph, x->g, x->w->form, x->leaves, built, x->r)) {
        return false;
    }
    for (int k = 0; k < x->n; k++) {
        x->exprs[k] = built[x->nodes[k]];
    }
    if (x->w->form == PARSED && !parse_again(x)) {
        return false;
    }
    if (x->w->form != WITH_INPUTS) {
        return run_plan(x);
    }
    return krf_eval_many(x->n, x->exprs, x->outputs) == KRF_OK || failed(x, "eval");
}

/* ---- what came out ---- */

static bool take_results(running *x, results *out) {
    for (int k = 0; k < x->n; k++) {
        const facts *f = &x->g->nodes[x->nodes[k]].is;
        size_t bytes = (size_t)f->size * bytes_of(f->dtype);
        out->of[out->n++] = malloc(bytes + 1);
        assert_non_null(out->of[k]);
        if (x->outputs[k] == NULL || krf_array_size(x->outputs[k]) != f->size
            || krf_array_dtype(x->outputs[k]) != f->dtype) {
            return fails(x->r, "%s: result %d has another size or dtype than its expression", x->w->label, k);
        }
        if (krf_array_to_host(x->outputs[k], out->of[k], bytes) != KRF_OK) {
            return failed(x, "to_host");
        }
    }
    return true;
}

/* Puts a result into what the memory held before: what it must hold now. */
static void expect(memory *m, const krf_array *to, const void *elements) {
    size_t bytes = bytes_of(m->dtype);
    const char *base = krf_array_data(m->base), *first = krf_array_data(to);
    int rank = krf_array_rank(to);
    for (int64_t i = 0; i < krf_array_size(to); i++) {
        int64_t rest = i, at = (first - base) / (int64_t)bytes;
        for (int d = rank - 1; d >= 0; d--) {
            at += rest % krf_array_shape(to)[d] * krf_array_strides(to)[d];
            rest /= krf_array_shape(to)[d];
        }
        memcpy(m->before + (size_t)at * bytes, (const char *)elements + (size_t)i * bytes, bytes);
    }
}

static bool unchanged(running *x, const memory *m, const char *what, int index) {
    size_t bytes = (size_t)m->count * bytes_of(m->dtype);
    unsigned char *now = malloc(bytes + 1);
    assert_non_null(now);
    bool right = krf_array_to_host(m->base, now, bytes) == KRF_OK || failed(x, "to_host");
    for (size_t i = 0; right && i < bytes; i++) {
        if (now[i] != m->before[i]) {
            right =
                fails(x->r, "%s: %s %d: element %zu was written and should not have been, or was not where it should",
                      x->w->label, what, index, i / bytes_of(m->dtype));
        }
    }
    free(now);
    return right;
}

static bool check_memory(running *x, const results *out) {
    for (int k = 0; k < x->g->n_outputs; k++) {
        const output *o = &x->g->outputs[k];
        if (x->w->given && o->how == GIVEN_LEAF && x->outputs[k] == x->leaves[o->leaf]) {
            expect(&x->blocks[x->g->leaves[o->leaf].block], x->outputs[k], out->of[k]);
        } else if (x->w->given && o->how == GIVEN_STRIDED) {
            expect(&x->given[k], x->outputs[k], out->of[k]);
        }
    }
    for (int k = 0; k < MOST_LEAVES; k++) {
        if (x->blocks[k].base != NULL && !unchanged(x, &x->blocks[k], "block", k)) {
            return false;
        }
    }
    for (int k = 0; k < MOST_OUTPUTS; k++) {
        if (x->given[k].base != NULL && !unchanged(x, &x->given[k], "the memory of output", k)) {
            return false;
        }
    }
    return true;
}

static void free_running(running *x) {
    for (int k = 0; k < x->n; k++) {
        krf_array_release(x->outputs[k]);
    }
    for (int k = 0; k < MOST_LEAVES; k++) {
        krf_array_release(x->leaves[k]);
        krf_array_release(x->blocks[k].base);
        free(x->blocks[k].before);
    }
    for (int k = 0; k < MOST_OUTPUTS; k++) {
        krf_array_release(x->given[k].base);
        free(x->given[k].before);
    }
    if (x->graph != NULL) {
        krf_graph_destroy(x->graph);
    }
}

bool evaluate(const graph *g, const way *w, results *out, report *r) {
    running x = {.g = g, .w = w, .r = r};
    out->n = 0;
    w->context->limits = w->limits; /* one thread uses the context */
    w->context->limits.many_threads = w->context->backend->many_threads;
    w->context->limits.vectors = w->context->backend->many_threads ? w->limits.vectors : 0; /* text in C has no vectors */
    bool right = make_leaves(&x) && make_outputs(&x) && run_graph(&x);
    if (right && !w->pretend) {
        right = take_results(&x, out) && check_memory(&x, out);
    }
    if (!right || w->pretend) {
        results_free(out);
    }
    free_running(&x);
    return right;
}

void results_free(results *out) {
    for (int k = 0; k < out->n; k++) {
        free(out->of[k]);
    }
    out->n = 0;
}
