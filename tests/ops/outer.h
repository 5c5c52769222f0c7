/* What the tests of reductions over short rows of all pairs share: operands in all layouts, what must come out, namely the canonical tree (tree.h) of elements that are computed here step by step, and the
 * evaluation everywhere, with a look at whether kernels go by squares of results. */
#ifndef KRF_TESTS_OPS_OUTER_H
#define KRF_TESTS_OPS_OUTER_H

#include "ops/places.h"
#include "ops/tree.h"

#include "fuzz/batch.h"
#include "helpers.h"
#include "sched/context.h"

enum { AXES = 4, OPERANDS = 5, RESULTS = 2, LONGEST = 1032, LATEST = REDUCTIONS, ELEMENTS };

/* How an operand's last dimension, its row, lies in memory: one row after the other; from the second element of memory on; with gaps that are whole vectors; across; each second element; backwards; the
 * rows themselves in order, but the last one first; the row is one element, again and again; or all rows are the same one. */
typedef enum layout { PLAIN, OFFSET, GAPS, TURNED, TWOS, BACK, ROWS_BACK, SPREAD, ALIKE } layout;

/* b, n, m, l: along a batch, the lines and the columns of the results, and the rows that are reduced. The elements of a result and what becomes of it are written behind their operands: x, y, w, f, z are
 * operands, r is what was reduced, s squares, q is the root, c casts to y's dtype, 2 doubles. */
typedef struct program {
    const char *text, *axes[OPERANDS]; /* of x, y, w, f, z */
    struct {
        int op;
        const char *element, *then, *axes;
    } results[RESULTS];
} program;

/* ---- operands ---- */

typedef struct operand {
    int rank;
    int64_t shape[AXES], strides[AXES], along[AXES], offset, count; /* along: strides by axis */
    value *elements; /* of memory */
    void *memory;
} operand;

typedef struct example {
    const program *p;
    krf_dtype dtype, other; /* of x; of all others */
    int64_t extents[AXES];
    layout layouts[OPERANDS];
    bool odd, turned, same; /* elements that are special; the result is written across; y has the elements of x */
    operand operands[OPERANDS];
} example;

static inline int axis_of(char c) { return (int)(strchr("bnml", c) - "bnml"); }

static inline value draw(krf_dtype dtype, bool odd, uint64_t *seed) {
    static const double specials[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1, -1, 1e30};
    const uint64_t bits = next_random(seed);
    if (!is_real(dtype)) {
        return convert((value){.dtype = KRF_I64, .i = (int64_t)(dtype == KRF_BOOL ? bits & 1 : bits)}, dtype);
    }
    return convert((value){.dtype = KRF_F64, .f = odd && bits % 64 < 8 ? specials[bits % 8] : odd ? -0.0 : 0.5 + random_unit(seed)}, dtype);
}

static inline operand make_operand(const example *e, int i, uint64_t *seed) {
    const char *axes = e->p->axes[i];
    const krf_dtype dtype = i == 0 ? e->dtype : e->other;
    const layout how = e->layouts[i];
    operand o = {.rank = (int)strlen(axes), .offset = how == OFFSET};
    int64_t step = how == TWOS ? 2 : 1, order[AXES];
    for (int k = 0; k < o.rank; k++) { /* in memory, from the innermost one on */
        order[k] = how == TURNED && k < 2 ? o.rank - 2 + k : o.rank - 1 - k;
    }
    o.count = 1 + o.offset;
    for (int k = 0; k < o.rank; k++) {
        const int64_t d = order[k], n = e->extents[axis_of(axes[d])];
        const bool back = (how == BACK && d == o.rank - 1) || (how == ROWS_BACK && d == o.rank - 2);
        o.shape[d] = n;
        o.strides[d] = (how == SPREAD && d == o.rank - 1) || (how == ALIKE && d == o.rank - 2) ? 0 : back ? -step : step;
        o.offset += back ? (n - 1) * step : 0;
        o.count += o.strides[d] != 0 ? (n - 1) * step : 0;
        step = o.strides[d] == 0 ? step : step * n + (how == GAPS && k == 0 ? 16 : 0);
        o.along[axis_of(axes[d])] = o.strides[d];
    }
    o.elements = malloc((size_t)o.count * sizeof *o.elements);
    o.memory = malloc((size_t)o.count * bytes_of(dtype));
    assert_true(o.elements != NULL && o.memory != NULL);
    for (int64_t k = 0; k < o.count; k++) {
        o.elements[k] = draw(dtype, e->odd, seed);
        put(o.memory, k, o.elements[k]);
    }
    return o;
}

static inline krf_array *array_of(krf_context *context, krf_dtype dtype, const operand *o) {
    krf_array *base = NULL, *view = NULL;
    assert_ok(krf_array_from_host(context, dtype, 1, &o->count, o->memory, &base));
    assert_ok(krf_array_view(base, o->rank, o->shape, o->strides, o->offset, &view));
    krf_array_release(base);
    return view;
}

/* ---- what must come out ---- */

/* One step, rounded to its dtype: exact in f64, or rounded innocuously, where that is narrower. */
static inline value step_of(char op, value a, value b) {
    if (op == '<') {
        return (value){.dtype = KRF_BOOL, .i = is_real(a.dtype) ? a.f < b.f : wide_of(a) < wide_of(b)};
    }
    if (is_real(a.dtype)) {
        const double r = op == '+' ? a.f + b.f : op == '-' ? a.f - b.f : op == '*' ? a.f * b.f : sqrt(a.f);
        return (value){.dtype = a.dtype, .f = a.dtype == KRF_F64 ? r : a.dtype == KRF_F32 ? nearest_float(r) : round_to(a.dtype, (long double)r)};
    }
    const uint64_t p = (uint64_t)a.i, q = (uint64_t)b.i, r = op == '+' ? p + q : op == '-' ? p - q : op == '*' ? p * q : p ^ q;
    return (value){.dtype = a.dtype, .i = wrap_to(a.dtype, (wide)r)};
}

static inline value compute(const example *e, const char *steps, value reduced, const int64_t *at) {
    value stack[4];
    int n = 0;
    for (const char *s = steps; *s != '\0'; s++) {
        const char *named = strchr("xywfz", *s);
        if (named != NULL) {
            const operand *o = &e->operands[named - "xywfz"];
            int64_t where = o->offset;
            for (int d = 0; d < AXES; d++) {
                where += at[d] * o->along[d];
            }
            stack[n++] = o->elements[where];
        } else if (*s == 'r') {
            stack[n++] = reduced;
        } else if (*s == 'c') {
            stack[n - 1] = convert(stack[n - 1], e->other);
        } else if (*s == 's' || *s == 'q' || *s == '2') {
            stack[n - 1] = step_of(*s == 's' ? '*' : *s == '2' ? '+' : 'q', stack[n - 1], stack[n - 1]);
        } else {
            n--;
            stack[n - 1] = step_of(*s, stack[n - 1], stack[n]);
        }
    }
    return stack[0];
}

/* Each operand has its side: the one that comes latest in the tree and is not 0. */
static inline double latest_of(const double *x, int64_t n) {
    double lanes[256] = {0};
    memcpy(lanes, x, (size_t)n * sizeof *x);
    for (int half = 128; half > 0; half /= 2) {
        for (int k = 0; k < half; k++) {
            lanes[k] = lanes[k + half] != 0 ? lanes[k + half] : lanes[k];
        }
    }
    return lanes[0];
}

static inline value reduce(int op, const value *x, int64_t n) {
    double real[LONGEST];
    int64_t whole[LONGEST];
    const krf_dtype from = x[0].dtype;
    value v = {.dtype = op == LATEST ? from : result_dtype((reduction_op)op, from)};
    for (int64_t i = 0; i < n; i++) {
        real[i] = is_real(from) ? x[i].f : (double)wide_of(x[i]);
        whole[i] = x[i].i;
    }
    if (!is_real(v.dtype)) {
        v.i = wrap_to(v.dtype, (wide)reduce_integers((reduction_op)op, v.dtype, whole, n));
        return v;
    }
    v.f = op == LATEST ? latest_of(real, n) : canonical_tree(op == MEAN ? SUM : (reduction_op)op, v.dtype != KRF_F64, real, n);
    v.f = op == MEAN && v.dtype != KRF_F64 ? nearest_float(v.f / (double)n) : op == MEAN ? v.f / (double)n : v.f;
    v.f = round_to(v.dtype, (long double)v.f);
    return v;
}

static inline value expected(const example *e, int r, int64_t index) {
    const char *axes = e->p->results[r].axes;
    int64_t at[AXES] = {0};
    value row[LONGEST] = {{0}};
    for (int d = (int)strlen(axes) - 1; d >= 0; d--) {
        const int64_t n = e->extents[axis_of(axes[d])];
        at[axis_of(axes[d])] = index % n;
        index /= n;
    }
    if (e->p->results[r].op == ELEMENTS) {
        return compute(e, e->p->results[r].element, row[0], at);
    }
    for (at[3] = 0; at[3] < e->extents[3]; at[3]++) {
        row[at[3]] = compute(e, e->p->results[r].element, row[0], at);
    }
    return compute(e, e->p->results[r].then, reduce(e->p->results[r].op, row, e->extents[3]), at);
}

/* ---- evaluation ---- */

static inline void look_at_plan(const example *e, krf_graph *g, int n, const krf_expr *results, bool taken, const char *what) {
    char *text = NULL;
    size_t bytes = 0;
    assert_ok(krf_dump(g, n, results, KRF_DUMP_PLAN, "cuda", NULL, &text, &bytes));
    if (e->layouts[0] != OFFSET && e->layouts[1] != OFFSET && (strstr(text, ", by squares of results") != NULL) != taken) { /* a dump knows no addresses */
        COMPLAIN("%s: squares of results %s:\n%s", what, taken ? "are missing" : "are not for this", text);
    }
    krf_free(text);
}

static inline void try_place(example *e, const place *p, bool taken, value *want[RESULTS]) {
    static const char *const names[OPERANDS] = {"x", "y", "w", "f", "z"};
    krf_array *arrays[OPERANDS] = {NULL}, *got[RESULTS] = {NULL};
    krf_binding bindings[OPERANDS];
    krf_graph *g = krf_graph_create(p->context);
    krf_expr results[RESULTS];
    krf_plan *plan = NULL;
    char what[400];
    int n = 0, n_bindings = 0;
    bool squared = false;
    snprintf(what, sizeof what, "%s: %s of %s [%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "] as %d, %d", p->label, e->p->text, name_of(e->dtype), e->extents[0], e->extents[1], e->extents[2],
             e->extents[3], (int)e->layouts[0], (int)e->layouts[1]);
    for (int i = 0; i < OPERANDS; i++) {
        if (e->p->axes[i] != NULL) {
            arrays[i] = array_of(p->context, i == 0 ? e->dtype : e->other, &e->operands[i]);
            bindings[n_bindings++] = krf_bind_array(names[i], arrays[i]);
        }
    }
    if (e->turned) {
        const int64_t n1 = e->extents[1], n2 = e->extents[2], count = n1 * n2;
        krf_array *base = NULL;
        assert_ok(krf_array_create(p->context, e->other, 1, &count, &base));
        assert_ok(krf_array_view(base, 2, (int64_t[]){n1, n2}, (int64_t[]){1, n1}, 0, &got[0]));
        krf_array_release(base);
    }
    if (krf_parse_many(g, e->p->text, bindings, n_bindings, RESULTS, results, &n) != KRF_OK || krf_compile(g, n, results, NULL, &plan) != KRF_OK ||
        (e->turned ? krf_eval_many(n, results, got) : krf_plan_run(plan, NULL, 0, NULL, got)) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    look_at_plan(e, g, n, results, taken && strncmp(p->fusion, "outer=0", 7) != 0, what);
    for (int k = 0; k < krf_plan_kernels(plan); k++) {
        krf_kernel_info info = {.size = sizeof info};
        assert_ok(krf_plan_kernel(plan, k, &info));
        squared |= strstr(info.source, ", square = (") != NULL;
    }
    if (squared != (taken && p->cuda && strncmp(p->fusion, "outer=0", 7) != 0)) {
        COMPLAIN("%s: a kernel %s", what, squared ? "by squares" : "without squares");
    }
    for (int r = 0; r < n; r++) {
        int64_t shape[AXES], size = 1;
        const int rank = (int)strlen(e->p->results[r].axes);
        for (int d = 0; d < rank; d++) {
            shape[d] = e->extents[axis_of(e->p->results[r].axes[d])];
            size *= shape[d];
        }
        void *data = collecting ? NULL : to_host(got[r], want[r][0].dtype, rank, shape, what);
        for (int64_t k = 0; data != NULL && k < size; k++) {
            const value v = get(data, want[r][0].dtype, k);
            char a[64], b[64];
            if (!same(v, want[r][k])) {
                COMPLAIN("%s: result %d, element %" PRId64 " is %s, not %s", what, r, k, show(v, a, sizeof a), show(want[r][k], b, sizeof b));
                break;
            }
        }
        free(data);
        krf_array_release(got[r]);
    }
    for (int i = 0; i < OPERANDS; i++) {
        krf_array_release(arrays[i]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

static inline void try_example(example e, bool taken) {
    value *want[RESULTS] = {NULL};
    uint64_t seed = 7;
    e.extents[0] = e.extents[0] > 0 ? e.extents[0] : 1;
    for (int i = 0; i < OPERANDS; i++) {
        if (e.p->axes[i] != NULL) {
            seed = e.same ? 7 : seed;
            e.operands[i] = make_operand(&e, i, &seed);
        }
    }
    for (int r = 0; r < RESULTS && e.p->results[r].element != NULL && !collecting; r++) {
        int64_t size = 1;
        for (const char *c = e.p->results[r].axes; *c != '\0'; c++) {
            size *= e.extents[axis_of(*c)];
        }
        want[r] = malloc((size_t)size * sizeof *want[r]);
        assert_non_null(want[r]);
        for (int64_t k = 0; k < size; k++) {
            want[r][k] = expected(&e, r, k);
        }
    }
    for (int p = 0; p < n_places; p++) {
        krf__lengths *l = &places[p].context->lengths; /* a context has squares for one length of each kind of kernel: each example is the first */
        memset(l->kinds, 0, sizeof l->kinds);
        try_place(&e, &places[p], taken, want);
    }
    for (int i = 0; i < OPERANDS; i++) {
        free(e.operands[i].elements);
        free(e.operands[i].memory);
    }
    free(want[0]);
    free(want[1]);
}

static inline void try_pairs(const program *p, krf_dtype dtype, int64_t n, int64_t m, int64_t l, bool taken) { try_example((example){.p = p, .dtype = dtype, .other = dtype, .extents = {1, n, m, l}}, taken); }

#endif
