/* What the tests of reductions over rows of all pairs share: operands in all layouts, what must come out, namely the canonical tree (tree.h) of elements that are computed here step by step, and the
 * evaluation everywhere, with a look at whether kernels go by squares of results, or by several. */
#ifndef KRF_TESTS_OPS_OUTER_H
#define KRF_TESTS_OPS_OUTER_H

#include "ops/places.h"
#include "ops/tree.h"

#include "fuzz/batch.h"
#include "helpers.h"
#include "sched/context.h"

enum { AXES = 6, OPERANDS = 5, RESULTS = 2, LATEST = REDUCTIONS, ELEMENTS, ARGMAX, ARGMIN };

/* How kernels go about their results: one by one, by squares of them (true, where a test knows of nothing else), or by so many. */
enum { ONE_BY_ONE = 0, SQUARES = 1 };

/* How an operand's last dimension, its row, lies in memory: one row after the other; from the second element of memory on; with gaps that are whole vectors; across; each second element; backwards; the
 * rows themselves in order, but the last one first; the row is one element, again and again; or all rows are the same one. */
typedef enum layout { PLAIN, OFFSET, GAPS, TURNED, TWOS, BACK, ROWS_BACK, SPREAD, ALIKE } layout;

/* b, n, m, l, k, h: along a batch, the lines and the columns of the results, and the rows that are reduced, in one dimension or two, or three, of which h is the first. The elements of a result and what becomes of it are written behind their
 * operands: x, y, w, f, z are operands, r is what was reduced, i, j and p places along l, n and k, s squares, q is the root, a the absolute value, e the exponential of a zero, c casts to y's dtype, 2 doubles,
 * t takes three quarters, 0 nothing, d makes f32 of it, G takes the element of what comes next that lies along m where it says; A, B, C: operands behind it are at 0, 1, 2 along k, which is written out then, and not reduced; M, N: at 0, 1 along m. */
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
    int along;              /* 1: a kernel finds the row of a tile once, -1: none does, 0: either */
    operand operands[OPERANDS];
} example;

static inline int axis_of(char c) { return (int)(strchr("bnmlkh", c) - "bnmlkh"); }

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

static inline value number(krf_dtype dtype, double f) { return convert((value){.dtype = KRF_F64, .f = f}, dtype); }

static inline value compute(const example *e, const char *steps, value reduced, const int64_t *start) {
    value stack[4];
    int64_t at[AXES];
    int n = 0;
    memcpy(at, start, sizeof at);
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
        } else if (*s >= 'A' && *s <= 'C') {
            at[4] = *s - 'A';
        } else if (*s == 'i' || *s == 'j' || *s == 'p') {
            stack[n++] = number(e->other, (double)at[*s == 'i' ? 3 : *s == 'j' ? 1 : 4]);
        } else if (*s == 'G') {
            const wide i = wide_of(stack[--n]) % e->extents[2];
            at[2] = (int64_t)(i < 0 ? i + e->extents[2] : i);
        } else if (*s == 'M' || *s == 'N') {
            at[2] = *s - 'M';
        } else if (*s == 'd') {
            stack[n - 1] = convert(stack[n - 1], KRF_F32);
        } else if (*s == 'a') {
            stack[n - 1] = is_real(stack[n - 1].dtype) ? number(stack[n - 1].dtype, fabs(stack[n - 1].f)) : wide_of(stack[n - 1]) < 0 ? step_of('-', (value){.dtype = stack[n - 1].dtype}, stack[n - 1]) : stack[n - 1];
        } else if (*s == 'e') {
            stack[n - 1] = number(stack[n - 1].dtype, exp(stack[n - 1].f));
        } else if (*s == 't' || *s == '0') {
            stack[n - 1] = step_of('*', stack[n - 1], number(stack[n - 1].dtype, *s == 't' ? 0.75 : 0));
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
static inline double latest_of_chunk(const double *x, int64_t n) {
    double lanes[256] = {0};
    for (int64_t k = 0; k < n; k++) {
        lanes[k % 256] = x[k] != 0 ? x[k] : lanes[k % 256];
    }
    for (int half = 128; half > 0; half /= 2) {
        for (int k = 0; k < half; k++) {
            lanes[k] = lanes[k + half] != 0 ? lanes[k + half] : lanes[k];
        }
    }
    return lanes[0];
}

static inline double latest_of(const double *x, int64_t n) {
    double chunks[256] = {0};
    assert_true(n <= 256 * 1024);
    for (int64_t c = 0; c * 1024 < n; c++) {
        chunks[c] = latest_of_chunk(x + c * 1024, n - c * 1024 < 1024 ? n - c * 1024 : 1024);
    }
    return latest_of_chunk(chunks, (n + 1023) / 1024);
}

/* The first of the largest, or of the smallest; NaN is both. */
static inline int64_t place_of(int op, const value *x, int64_t n) {
    int64_t found = 0;
    for (int64_t k = 1; k < n; k++) {
        const value a = op == ARGMAX ? x[k] : x[found], b = op == ARGMAX ? x[found] : x[k];
        const bool beyond = is_real(a.dtype) ? a.f > b.f || (isnan(x[k].f) && !isnan(x[found].f)) : wide_of(a) > wide_of(b);
        found = beyond ? k : found;
    }
    return found;
}

static inline value reduce(int op, const value *x, int64_t n) {
    const krf_dtype from = x[0].dtype;
    if (op == ARGMAX || op == ARGMIN) {
        return (value){.dtype = KRF_I64, .i = place_of(op, x, n)};
    }
    double *real = malloc((size_t)n * sizeof *real);
    int64_t *whole = malloc((size_t)n * sizeof *whole);
    assert_true(real != NULL && whole != NULL);
    value v = {.dtype = op == LATEST ? from : result_dtype((reduction_op)op, from)};
    for (int64_t i = 0; i < n; i++) {
        real[i] = is_real(from) ? x[i].f : (double)wide_of(x[i]);
        whole[i] = is_real(from) ? x[i].f != 0 : x[i].i;
    }
    if (!is_real(v.dtype)) {
        v.i = wrap_to(v.dtype, (wide)reduce_integers((reduction_op)op, v.dtype, whole, n));
    } else {
        v.f = op == LATEST ? latest_of(real, n) : canonical_tree(op == MEAN ? SUM : (reduction_op)op, v.dtype != KRF_F64, real, n);
        v.f = op == MEAN && v.dtype != KRF_F64 ? nearest_float(v.f / (double)n) : op == MEAN ? v.f / (double)n : v.f;
        v.f = round_to(v.dtype, (long double)v.f);
    }
    free(real);
    free(whole);
    return v;
}

static inline value expected(const example *e, int r, int64_t index) {
    const char *axes = e->p->results[r].axes;
    int64_t at[AXES] = {0};
    const int64_t across = strchr(e->p->results[r].element, 'A') == NULL ? e->extents[4] : 1, along = e->extents[5] * e->extents[3];
    const value none = {0};
    for (int d = (int)strlen(axes) - 1; d >= 0; d--) {
        const int64_t n = e->extents[axis_of(axes[d])];
        at[axis_of(axes[d])] = index % n;
        index /= n;
    }
    if (e->p->results[r].op == ELEMENTS) {
        return compute(e, e->p->results[r].element, none, at);
    }
    value *row = malloc((size_t)(along * across) * sizeof *row);
    assert_non_null(row);
    for (int64_t k = 0; k < along * across; k++) {
        at[5] = k / across / e->extents[3];
        at[3] = k / across % e->extents[3];
        at[4] = k % across;
        row[k] = compute(e, e->p->results[r].element, none, at);
    }
    const value reduced = reduce(e->p->results[r].op, row, along * across);
    free(row);
    return compute(e, e->p->results[r].then, reduced, at);
}

/* ---- evaluation ---- */

/* How the reductions of a plan go about their results, as it says: the last of them that does not go one by one. */
static inline int found_in_plan(const char *text) {
    int found = strstr(text, ", by squares of results") != NULL ? SQUARES : ONE_BY_ONE;
    for (const char *at = strstr(text, ", by "); at != NULL; at = strstr(at + 1, ", by ")) {
        int results = 0, end = 0;
        if (sscanf(at, ", by %d results%n", &results, &end) == 1 && end > 0) {
            found = found == SQUARES ? -1 : results; /* both at once is wrong whatever is expected */
        }
    }
    return found;
}

/* The same of a kernel's source: threads of short rows have their results one after the other, and so one's own operands at a time. */
static inline int found_in_source(const char *text) {
    const char *mine = strstr(text, "mine_"), *many = mine != NULL ? strchr(mine, '[') : NULL;
    const int results = many != NULL ? atoi(many + 1) : ONE_BY_ONE;
    return strstr(text, ", square = (") != NULL ? SQUARES : results == 1 ? 8 : results;
}

static inline void look_at_plan(const example *e, krf_graph *g, int n, const krf_expr *results, int taken, const char *what) {
    char *text = NULL;
    size_t bytes = 0;
    assert_ok(krf_dump(g, n, results, KRF_DUMP_PLAN, "cuda", NULL, &text, &bytes));
    if (e->layouts[0] != OFFSET && e->layouts[1] != OFFSET && found_in_plan(text) != taken) { /* a dump knows no addresses */
        COMPLAIN("%s: the plan should have %d results at once (1: by squares, 0: neither):\n%s", what, taken, text);
    }
    krf_free(text);
    if (e->along != 0) {
        assert_ok(krf_dump(g, n, results, KRF_DUMP_SOURCE, "cuda", NULL, &text, &bytes));
        if ((strstr(text, "tile_p") != NULL) != (e->along > 0)) {
            COMPLAIN("%s: the row of a tile should%s be found once", what, e->along > 0 ? "" : " not");
        }
        krf_free(text);
    }
}

/* The first element that is another one than wanted, while kernels are not just being collected. */
static inline void compare_result(krf_array *got, int r, const value *want, int rank, const int64_t *shape, int64_t size, const char *what) {
    void *data = collecting ? NULL : to_host(got, want[0].dtype, rank, shape, what);
    for (int64_t k = 0; data != NULL && k < size; k++) {
        const value v = get(data, want[0].dtype, k);
        char a[64], b[64];
        if (!same(v, want[k])) {
            COMPLAIN("%s: result %d, element %" PRId64 " is %s, not %s", what, r, k, show(v, a, sizeof a), show(want[k], b, sizeof b));
            break;
        }
    }
    free(data);
}

static inline void try_place(example *e, const place *p, int taken, value *want[RESULTS]) {
    static const char *const names[OPERANDS] = {"x", "y", "w", "f", "z"};
    krf_array *arrays[OPERANDS] = {NULL}, *got[RESULTS] = {NULL};
    krf_binding bindings[OPERANDS];
    krf_graph *g = krf_graph_create(p->context);
    krf_expr results[RESULTS];
    krf_plan *plan = NULL;
    char what[400];
    int n = 0, n_bindings = 0;
    int found = ONE_BY_ONE;
    taken = strncmp(p->fusion, "outer=0", 7) != 0 ? taken : ONE_BY_ONE;
    snprintf(what, sizeof what, "%s: %s of %s [%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 ", %" PRId64 "] as %d, %d", p->label, e->p->text, name_of(e->dtype), e->extents[0], e->extents[1], e->extents[2],
             e->extents[3], e->extents[4], e->extents[5], (int)e->layouts[0], (int)e->layouts[1]);
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
    look_at_plan(e, g, n, results, taken, what);
    for (int k = 0; k < krf_plan_kernels(plan); k++) {
        krf_kernel_info info = {.size = sizeof info};
        assert_ok(krf_plan_kernel(plan, k, &info));
        found = found_in_source(info.source) != ONE_BY_ONE ? found_in_source(info.source) : found;
    }
    if (found != (p->cuda ? taken : ONE_BY_ONE)) {
        COMPLAIN("%s: a kernel has %d results at once (1: squares, 0: neither), not %d", what, found, taken);
    }
    for (int r = 0; r < n; r++) {
        int64_t shape[AXES], size = 1;
        const int rank = (int)strlen(e->p->results[r].axes);
        for (int d = 0; d < rank; d++) {
            shape[d] = e->extents[axis_of(e->p->results[r].axes[d])];
            size *= shape[d];
        }
        compare_result(got[r], r, want[r], rank, shape, size, what);
        krf_array_release(got[r]);
    }
    for (int i = 0; i < OPERANDS; i++) {
        krf_array_release(arrays[i]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

/* Examples are shared out by what they are, as they are gone through twice. */
static inline bool is_chosen(const example *e) {
    int64_t sum = (int64_t)e->dtype + 17 * e->odd;
    for (int d = 0; d < AXES; d++) {
        sum = (31 * sum + e->extents[d] + (d < 2 ? (int64_t)e->layouts[d] : 0)) % 10007;
    }
    for (const char *at = e->p->text; *at != '\0'; at++) {
        sum = (31 * sum + *at) % 10007;
    }
    return in_shard(sum);
}

static inline void try_example(example e, int taken) {
    value *want[RESULTS] = {NULL};
    uint64_t seed = 7;
    if (!is_chosen(&e)) {
        return;
    }
    for (int d = 0; d < AXES; d++) {
        e.extents[d] = e.extents[d] > 0 ? e.extents[d] : 1;
    }
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
    for (int p = collecting && !places[0].cuda ? 1 : 0; p < n_places; p++) { /* an interpreter compiles nothing */
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

static inline void try_pairs(const program *p, krf_dtype dtype, int64_t n, int64_t m, int64_t l, int taken) { try_example((example){.p = p, .dtype = dtype, .other = dtype, .extents = {1, n, m, l}}, taken); }

/* Looks at a plan alone, of rows of 300; the results are other tests' matter. */
static inline void look(krf_context *context, const char *text, krf_dtype dtype, int results) {
    static const double zeros[600];
    static const int64_t length = 300;
    krf_graph *g = krf_graph_create(context);
    krf_array *x = NULL, *y = NULL, *i = NULL;
    krf_expr e;
    char *plan = NULL;
    size_t bytes = 0;
    int n = 0;
    assert_ok(krf_array_from_host(context, dtype, 1, &length, zeros, &x));
    assert_ok(krf_array_from_host(context, KRF_F32, 1, &length, zeros, &y));
    assert_ok(krf_array_from_host(context, KRF_I32, 1, &length, zeros, &i));
    const krf_binding bindings[] = {krf_bind_array("x", x), krf_bind_array("y", y), krf_bind_array("i", i)};
    if (krf_parse_many(g, text, bindings, 3, 1, &e, &n) != KRF_OK || krf_dump(g, 1, &e, KRF_DUMP_PLAN, "cuda", NULL, &plan, &bytes) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    if (found_in_plan(plan) != results) {
        COMPLAIN("%s: the plan should have %d results at once (1: by squares, 0: neither):\n%s", text, results, plan);
    }
    krf_free(plan);
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(i);
    krf_graph_destroy(g);
}

/* The tests at the places of KRF_TEST_DEVICE, on a GPU a second one with another KRF_FUSION, on a CPU the compiled tier, where that is NULL. */
static inline int run_rows(const char *other, const struct CMUnitTest *tests, size_t n) {
    const char *device = asked_device();
    const bool cuda = strcmp(device, "cpu") != 0;
    setenv("FAKECUDA_SEED", "3", 0); /* threads in another order than their own */
    setenv("KRF_EXACT_MEMORY", "1", 0); /* AddressSanitizer sees what is read behind arrays */
    if (cuda || other == NULL) {
        setenv("KRF_CACHE", "off", 1); /* batches take no kernels from the disk */
    }
    add_place(device, KRF_CPU_INTERPRET, "literal_from=1");
    if (cuda ? other != NULL : other == NULL) {
        add_place(device, cuda ? KRF_CPU_INTERPRET : KRF_CPU_COMPILE, cuda ? other : "literal_from=1");
    }
    for (int p = 0; p < n_places; p++) {
        krf_reduction *r = NULL;
        assert_ok(krf_reduction_define(places[p].context, "latest", "f64 x", "f64 v", "0", "v = x;", "v = b_v != 0 ? b_v : a_v;", NULL, NULL, &r));
        krf_reduction_release(r);
        if (cuda || p > 0) {
            batch_install(places[p].context);
        }
    }
    if (cuda || n_places > 1) {
        collect(tests, n);
    }
    return run_on_places(tests, n);
}

#endif
