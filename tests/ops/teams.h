/* What the tests of reductions over costly elements share: what a program must give, namely the canonical tree (tree.h) of the elements that the same context gives alone, bit for bit;
 * and that those lie near what the C library gives. */
#ifndef KRF_TESTS_OPS_TEAMS_H
#define KRF_TESTS_OPS_TEAMS_H

#include "ops/places.h"
#include "ops/tree.h"

#define RESULTS 5

/* ---- programs ---- */

/* What a result is made of: the costly elements, their odd part, whether x is above 0.5 or 1.1, the arrays b and h. Elements come in pairs x and -x: a sum of odd ones is
 * nothing but what was rounded, and a product of exp(x) stays in range while every step of it rounds, so that both show in which order it was. */
typedef enum source { COSTLY, ODD, ABOVE, RARE, BYTES, FLOATS } source;

/* As users define them: the elements themselves; a sum beside a maximum; the one that comes latest in the tree and is not 0. */
enum { ELEMENTS = REDUCTIONS, COUNT, LATEST };

typedef struct program {
    const char *text, *leaf;    /* over x, of f64, b, of i8, and h, of f32; the costly elements alone, and the odd ones */
    double (*near[2])(double x); /* these, about */
    struct {
        int op;
        source of;
        bool minus;
    } results[RESULTS];
    int n;
} program;

/* Exactly rounded operations in a loop: the same bits everywhere. */
static inline double spin(double x) {
    double y = x;
    for (int i = 0; i < 5; i++) {
        y = y * 0.7 + x * 0.4;
    }
    return y;
}

static inline void define_all(krf_context *c) {
    krf_op *op = NULL;
    krf_reduction *r = NULL;
    if (krf_op_define(c, "spin", "f64 x", "f64 y", "y = x;\nfor (int i = 0; i < 5; i++) { y = y * 0.7 + x * 0.4; }", NULL, &op) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    krf_op_release(op);
    if (krf_reduction_define(c, "pair", "f64 x", "f64 s, f64 m", "-0.0, -inf", "s = x; m = x;", "s = a_s + b_s; m = max(a_m, b_m);", NULL, NULL, &r) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    krf_reduction_release(r);
    if (krf_reduction_define(c, "latest", "f64 x", "f64 v", "0", "v = x;", "v = b_v != 0 ? b_v : a_v;", NULL, NULL, &r) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    krf_reduction_release(r);
}

/* ---- operands ---- */

/* rows (0: one, of rank 1) of n elements: element i of row r lies at offset + r * pitch + i * step. */
typedef struct operand {
    int64_t rows, n, pitch, step, offset, count;
    double *x;
    int8_t *b;
    float *h;
} operand;

static inline int64_t place_of(const operand *o, int64_t i) { return o->offset + (o->rows > 0 ? i / o->n * o->pitch : 0) + i % o->n * o->step; }

/* Pairs in any places; one element that is left is 0. */
static inline void fill_row(operand *o, int64_t row) {
    uint64_t seed = (uint64_t)(o->n + row);
    for (int64_t i = 0; i < o->n; i++) {
        const int64_t at = place_of(o, row * o->n + i), before = i > 0 ? place_of(o, row * o->n + i - 1) : at;
        const double x = 1.2 * random_unit(&seed);
        o->x[at] = i % 2 == 1 ? -o->x[before] : i + 1 < o->n ? x : 0;
        o->h[at] = (float)o->x[at];
    }
    for (int64_t i = o->n - 1; i > 0; i--) {
        const int64_t a = place_of(o, row * o->n + i), b = place_of(o, row * o->n + random_below(&seed, i + 1));
        const double x = o->x[a];
        o->x[a] = o->x[b];
        o->x[b] = x;
        o->h[a] = (float)o->x[a];
        o->h[b] = (float)x;
    }
}

static inline operand make_operand(int64_t n_rows, int64_t n, int64_t pitch, int64_t step, int64_t offset) {
    const int64_t all = n_rows > 0 ? n_rows : 1;
    operand o = {.rows = n_rows, .n = n, .pitch = pitch, .step = step, .offset = offset + (step < 0 ? (n > 0 ? n - 1 : 0) : 0)};
    o.count = all * (n_rows > 0 ? pitch : 2 * n) + offset + 8;
    o.x = malloc((size_t)o.count * sizeof *o.x);
    o.b = malloc((size_t)o.count);
    o.h = malloc((size_t)o.count * sizeof *o.h);
    assert_true(o.x != NULL && o.b != NULL && o.h != NULL);
    for (int64_t i = 0; i < o.count; i++) {
        o.x[i] = 0.5;
        o.h[i] = 0.5F;
        o.b[i] = (int8_t)(i * 7919 % 251 - 125);
    }
    for (int64_t r = 0; r < all; r++) {
        fill_row(&o, r);
    }
    return o;
}

static inline void free_operand(operand *o) {
    free(o->x);
    free(o->b);
    free(o->h);
}

static inline krf_array *view_of(krf_context *c, const operand *o, krf_dtype dtype, const void *memory) {
    krf_array *base = NULL, *view = NULL;
    const int64_t shape[] = {o->rows, o->n}, strides[] = {o->pitch, o->step};
    const int skip = o->rows > 0 ? 0 : 1;
    if (krf_array_from_host(c, dtype, 1, &o->count, memory, &base) != KRF_OK || krf_array_view(base, 2 - skip, shape + skip, strides + skip, o->offset, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    krf_array_release(base);
    return view;
}

/* ---- evaluation ---- */

typedef struct outcome {
    int n;
    value *values[RESULTS];
    int64_t sizes[RESULTS];
    bool alone;     /* one kernel, of reduce_all */
    char *source;   /* of that */
} outcome;

static inline outcome evaluate(const place *p, const char *text, const operand *o) {
    outcome out = {0};
    krf_graph *g = krf_graph_create(p->context);
    krf_array *arrays[] = {view_of(p->context, o, KRF_F64, o->x), view_of(p->context, o, KRF_I8, o->b), view_of(p->context, o, KRF_F32, o->h)}, *got[RESULTS] = {NULL};
    const krf_binding bindings[] = {krf_bind_array("x", arrays[0]), krf_bind_array("b", arrays[1]), krf_bind_array("h", arrays[2])};
    krf_expr results[RESULTS];
    krf_plan *plan = NULL;
    krf_kernel_info info = {.size = sizeof info};
    if (krf_parse_many(g, text, bindings, 3, RESULTS, results, &out.n) != KRF_OK || krf_compile(g, out.n, results, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, got) != KRF_OK) {
        fail_msg("%s: %s of %" PRId64 ": %s", p->label, text, o->n, krf_error_message());
    }
    if (krf_plan_kernels(plan) == 1) {
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        out.alone = strcmp(info.schedule, "reduce_all") == 0;
        out.source = strdup(info.source);
    }
    for (int r = 0; r < out.n; r++) {
        const krf_dtype dtype = krf_array_dtype(got[r]);
        const size_t size = (size_t)krf_array_size(got[r]), bytes = size * bytes_of(dtype);
        void *data = malloc(bytes + 1);
        out.sizes[r] = (int64_t)size;
        out.values[r] = malloc(size * sizeof(value) + 1);
        assert_true(data != NULL && out.values[r] != NULL && krf_array_to_host(got[r], data, bytes) == KRF_OK);
        for (size_t i = 0; i < size; i++) {
            out.values[r][i] = get(data, dtype, (int64_t)i);
        }
        free(data);
        krf_array_release(got[r]);
    }
    for (int i = 0; i < 3; i++) {
        krf_array_release(arrays[i]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    return out;
}

static inline void free_outcome(outcome *o) {
    for (int r = 0; r < o->n; r++) {
        free(o->values[r]);
    }
    free(o->source);
}

/* The tree of what keeps the later of two elements that are not 0. */
static inline double latest_chunk(const double *x, int64_t n) {
    double lanes[256] = {0};
    for (int64_t i = 0; i < n; i++) {
        lanes[i % 256] = x[i] != 0 ? x[i] : lanes[i % 256];
    }
    for (int half = 128; half > 0; half /= 2) {
        for (int j = 0; j < half; j++) {
            lanes[j] = lanes[j + half] != 0 ? lanes[j + half] : lanes[j];
        }
    }
    return lanes[0];
}

static inline double latest_tree(const double *x, int64_t n) {
    double partial[4096] = {0};
    assert_true(n <= 4096 * 1024); /* chunks of 1,024 */
    for (int64_t c = 0; c * 1024 < n; c++) {
        partial[c] = latest_chunk(x + c * 1024, n - c * 1024 < 1024 ? n - c * 1024 : 1024);
    }
    return n <= 1024 ? partial[0] : latest_chunk(partial, (n + 1023) / 1024);
}

/* Result k of `n` elements from `first` on; leaves: the costly ones of all, and the odd ones. */
static inline value expected(const program *p, int k, const operand *o, const outcome *leaves, int64_t first, int64_t n) {
    const int op = p->results[k].op;
    const source of = p->results[k].of;
    if (of == COSTLY || of == ODD || of == FLOATS) {
        const krf_dtype dtype = of == FLOATS ? KRF_F32 : KRF_F64;
        double *x = malloc((size_t)n * sizeof *x + 1);
        assert_non_null(x);
        for (int64_t i = 0; i < n; i++) {
            x[i] = of == FLOATS ? (double)o->h[place_of(o, first + i)] : leaves->values[of == ODD][first + i].f;
        }
        const double y = op == LATEST ? latest_tree(x, n) : canonical_tree(op == MEAN ? SUM : (reduction_op)op, of == FLOATS, x, n);
        free(x);
        return (value){.dtype = dtype, .f = op == MEAN ? y / (double)n : p->results[k].minus ? -y : y};
    }
    value v = {.dtype = op == ANY ? KRF_BOOL : KRF_I64};
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = place_of(o, first + i);
        v.i += of == BYTES ? o->b[at] : o->x[at] > (of == RARE ? 1.1 : 0.5);
    }
    v.i = op == ANY ? v.i != 0 : v.i;
    return v;
}

static inline void check(const program *p, const place *where, const operand *o, const outcome *leaves, int64_t results, const outcome *got) {
    const int64_t all = (o->rows > 0 ? o->rows : 1) * o->n, n = all / results;
    assert_int_equal(got->n, p->n);
    for (int k = 0; k < p->n; k++) {
        const bool elements = p->results[k].op == ELEMENTS;
        assert_int_equal(got->sizes[k], elements ? all : results);
        for (int64_t i = 0; i < got->sizes[k]; i++) {
            const value want = elements ? leaves->values[0][i] : expected(p, k, o, leaves, i * n, n);
            char a[64], b[64];
            if (!same(got->values[k][i], want)) {
                COMPLAIN("%s: %s of %" PRId64 " x %" PRId64 ", %" PRId64 " apart, from %" PRId64 " on: result %d, element %" PRId64 " is %s, not %s", where->label, p->text, o->rows, o->n,
                         o->step, o->offset, k, i, show(got->values[k][i], a, sizeof a), show(want, b, sizeof b));
                break;
            }
        }
    }
}

/* The elements lie near what they should be, and are those of another context where it says. */
static inline void check_leaves(const program *p, const place *where, const operand *o, const outcome *leaves, const outcome *known) {
    for (int l = 0; l < 2; l++) {
        for (int64_t k = 0; k < leaves->sizes[l]; k++) {
            const double x = leaves->values[l][k].f, about = p->near[l](o->x[place_of(o, k)]);
            if (!(fabs(x - about) <= 1e-12 * fmax(fabs(about), 1e-3)) || (known != NULL && !same_real(x, known->values[l][k].f)) || (p->near[l] == spin && !same_real(x, about))) {
                COMPLAIN("%s: %s: element %" PRId64 " is %a, not %a", where->label, p->leaf, k, x, known != NULL ? known->values[l][k].f : about);
                break;
            }
        }
    }
}

/* Everywhere; `results`: of how many elements each is. The places of a GPU have the same elements, and so have those of a CPU; where teams share a kernel it has another text. */
static inline void try_program(const program *p, const operand *o, int64_t results) {
    const int64_t all = (o->rows > 0 ? o->rows : 1) * o->n;
    outcome first[2] = {{0}, {0}};
    for (int i = 0; i < n_places; i++) {
        const place *where = &places[i];
        outcome now[2] = {evaluate(where, p->leaf, o), evaluate(where, p->text, o)};
        assert_int_equal(now[0].n, 2);
        assert_true(now[0].sizes[0] == all && now[0].sizes[1] == all);
        check_leaves(p, where, o, &now[0], i > 0 && where->cuda == places[0].cuda ? &first[0] : NULL);
        check(p, where, o, &now[0], results, &now[1]);
        if (where->fuses && !now[1].alone && all > 0) {
            COMPLAIN("%s: %s of %" PRId64 " is not one reduce_all", where->label, p->text, all);
        }
        if (i == 1 && where->cuda && first[1].alone && now[1].alone && strcmp(first[1].source, now[1].source) == 0) {
            COMPLAIN("%s: %s of %" PRId64 " is not shared", where->label, p->text, all);
        }
        for (int k = 0; k < 2; k++) {
            if (i == 0) {
                first[k] = now[k];
            } else {
                free_outcome(&now[k]);
            }
        }
    }
    free_outcome(&first[0]);
    free_outcome(&first[1]);
}

#endif
