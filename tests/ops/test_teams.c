/* Reductions over what takes long in f64, whose chunks several warps share on a GPU: each must be the canonical tree (tree.h) of the elements that the same context gives alone,
 * bit for bit; those lie near what the C library gives. Arrays of all lengths, aligned or not, by steps and backwards; reductions of other dtypes, stored elements and reductions
 * of users in the same kernel; rows. KRF_TEST_DEVICE. */
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

static double odd_exp(double x) { return exp(x) - exp(-x); }
static double odd_log(double x) { return log(1.5 + x) - log(1.5 - x); }
static double log_of_sum(double x) { return log(0.5 * exp(-x * x / 8) + 0.5 * exp(-x * x / 2)); }
static double odd_log_of_sum(double x) { return x * log_of_sum(x); }
static double rare_exp(double x) { return x > 1.1 ? exp(x) : 0; }

/* Exactly rounded operations in a loop: the same bits everywhere. */
static double spin(double x) {
    double y = x;
    for (int i = 0; i < 5; i++) {
        y = y * 0.7 + x * 0.4;
    }
    return y;
}

#define EXPS "return exp(x), exp(x) - exp(-x)", {exp, odd_exp}

static const program sum_exp = {"sum(exp(x) - exp(-x))", EXPS, {{SUM, ODD, false}}, 1},
                     prod_exp = {"prod(exp(x))", EXPS, {{PROD, COSTLY, false}}, 1},
                     sum_spin = {"sum(spin(x))", "return spin(x), spin(x)", {spin, spin}, {{SUM, ODD, false}}, 1},
                     likelihood = {"y = log(0.5*exp(-x*x/8) + 0.5*exp(-x*x/2))\nreturn -sum(y), -sum(x*y)", "y = log(0.5*exp(-x*x/8) + 0.5*exp(-x*x/2))\nreturn y, x*y",
                                   {log_of_sum, odd_log_of_sum}, {{SUM, COSTLY, true}, {SUM, ODD, true}}, 2},
                     ends = {"return max(sin(x)), min(sin(x)), sum(sin(x))", "return sin(x), sin(x)", {sin, sin}, {{MAX, COSTLY, false}, {MIN, COSTLY, false}, {SUM, ODD, false}}, 3},
                     three = {"y = exp(x)\nreturn sum(y), max(y), prod(y)", EXPS, {{SUM, COSTLY, false}, {MAX, COSTLY, false}, {PROD, COSTLY, false}}, 3},
                     mixed = {"return prod(exp(x)), any(x > 1.1), count_nonzero(x > 0.5), sum(b), sum(h)", EXPS,
                              {{PROD, COSTLY, false}, {ANY, RARE, false}, {COUNT, ABOVE, false}, {SUM, BYTES, false}, {SUM, FLOATS, false}}, 5},
                     average = {"mean(log(1.5 + x) - log(1.5 - x))", "y = log(1.5 + x) - log(1.5 - x)\nreturn y, y", {odd_log, odd_log}, {{MEAN, ODD, false}}, 1},
                     stored = {"y = exp(x)\nreturn y, prod(y)", EXPS, {{ELEMENTS, COSTLY, false}, {PROD, COSTLY, false}}, 2},
                     pair = {"y = exp(x) - exp(-x)\ns, m = pair(y)\nreturn s, m, sum(y)", EXPS, {{SUM, ODD, false}, {MAX, ODD, false}, {SUM, ODD, false}}, 3},
                     latest = {"latest(where(x > 1.1, exp(x), 0))", "y = where(x > 1.1, exp(x), 0)\nreturn y, y", {rare_exp, rare_exp}, {{LATEST, COSTLY, false}}, 1},
                     prod_rows = {"prod(exp(x), axis=1)", EXPS, {{PROD, COSTLY, false}}, 1},
                     three_rows = {"y = exp(x)\nreturn sum(y, axis=1), max(y, axis=1), prod(y, axis=1)", EXPS, {{SUM, COSTLY, false}, {MAX, COSTLY, false}, {PROD, COSTLY, false}}, 3};

static void define_all(krf_context *c) {
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

static int64_t place_of(const operand *o, int64_t i) { return o->offset + (o->rows > 0 ? i / o->n * o->pitch : 0) + i % o->n * o->step; }

/* Pairs in any places; one element that is left is 0. */
static void fill_row(operand *o, int64_t row) {
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

static operand make_operand(int64_t n_rows, int64_t n, int64_t pitch, int64_t step, int64_t offset) {
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

static void free_operand(operand *o) {
    free(o->x);
    free(o->b);
    free(o->h);
}

static krf_array *view_of(krf_context *c, const operand *o, krf_dtype dtype, const void *memory) {
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

static outcome evaluate(const place *p, const char *text, const operand *o) {
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

static void free_outcome(outcome *o) {
    for (int r = 0; r < o->n; r++) {
        free(o->values[r]);
    }
    free(o->source);
}

/* The tree of what keeps the later of two elements that are not 0. */
static double latest_chunk(const double *x, int64_t n) {
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

static double latest_tree(const double *x, int64_t n) {
    double partial[4096] = {0};
    assert_true(n <= 4096 * 1024); /* chunks of 1,024 */
    for (int64_t c = 0; c * 1024 < n; c++) {
        partial[c] = latest_chunk(x + c * 1024, n - c * 1024 < 1024 ? n - c * 1024 : 1024);
    }
    return n <= 1024 ? partial[0] : latest_chunk(partial, (n + 1023) / 1024);
}

/* Result k of `n` elements from `first` on; leaves: the costly ones of all, and the odd ones. */
static value expected(const program *p, int k, const operand *o, const outcome *leaves, int64_t first, int64_t n) {
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

static void check(const program *p, const place *where, const operand *o, const outcome *leaves, int64_t results, const outcome *got) {
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
static void check_leaves(const program *p, const place *where, const operand *o, const outcome *leaves, const outcome *known) {
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
static void try_program(const program *p, const operand *o, int64_t results) {
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

/* The elements are written over those that they come from: none may be read again. */
static void try_over(int64_t n, int64_t offset) {
    for (int i = 0; i < n_places; i++) {
        operand o = make_operand(0, n, 0, 1, offset);
        outcome leaves = evaluate(&places[i], stored.leaf, &o), got = {.n = 2, .sizes = {n, 1}};
        krf_graph *g = krf_graph_create(places[i].context);
        krf_array *x = view_of(places[i].context, &o, KRF_F64, o.x), *results[] = {x, NULL};
        krf_expr y = krf_exp(krf_input(g, x)), both[] = {y, krf_prod(y, 0, NULL, false)};
        got.values[0] = malloc((size_t)n * sizeof *got.values[0]);
        got.values[1] = malloc(sizeof *got.values[1]);
        double *data = malloc((size_t)n * sizeof *data), product;
        assert_true(got.values[0] != NULL && got.values[1] != NULL && data != NULL);
        if (krf_eval_many(2, both, results) != KRF_OK || krf_array_to_host(x, data, (size_t)n * sizeof *data) != KRF_OK || krf_array_to_host(results[1], &product, sizeof product) != KRF_OK) {
            fail_msg("%s: %s", places[i].label, krf_error_message());
        }
        for (int64_t k = 0; k < n; k++) {
            got.values[0][k] = get(data, KRF_F64, k);
        }
        got.values[1][0] = get(&product, KRF_F64, 0);
        check(&stored, &places[i], &o, &leaves, 1, &got);
        krf_array_release(x);
        krf_array_release(results[1]);
        krf_graph_destroy(g);
        free_outcome(&leaves);
        free_outcome(&got);
        free(data);
        free_operand(&o);
    }
}

/* ---- tests ---- */

static void try_line(const program *p, int64_t n, int64_t step, int64_t offset) {
    operand o = make_operand(0, n, 0, step, offset);
    try_program(p, &o, 1);
    free_operand(&o);
}

static void test_lengths(void **unused) {
    static const int64_t lengths[] = {1, 2, 3, 255, 256, 257, 258, 1023, 1024, 1025, 1026, 4095, 4096, 4097, 16383, 16384, 16385, 16386, 50001, 300000, 1100003};
    (void)unused;
    try_line(&sum_exp, 0, 1, 0);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        try_line(&sum_exp, lengths[k], 1, 0);
        if (lengths[k] < 300000) {
            try_line(&prod_exp, lengths[k], 1, 0);
            try_line(&prod_exp, lengths[k], 1, 1);
            try_line(&prod_exp, lengths[k], 2, 0);
            try_line(&prod_exp, lengths[k], -1, 0);
        }
    }
    assert_int_equal(failures, 0);
}

/* Chunks of 2,048 elements. */
static void test_long_chunks(void **unused) {
    (void)unused;
    const int all = n_places;
    n_places = 2; /* on a GPU those that differ */
    try_line(&sum_spin, (1 << 22) + 3, 1, 0);
    n_places = all;
    assert_int_equal(failures, 0);
}

/* One reduction and several, of one dtype and of several; what is stored beside them; what users define. */
static void test_programs(void **unused) {
    static const program *const all[] = {&sum_spin, &likelihood, &ends, &three, &mixed, &average, &stored, &pair, &latest};
    static const int64_t lengths[] = {1, 257, 16385, 50001};
    (void)unused;
    for (size_t p = 0; p < sizeof all / sizeof *all; p++) {
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            try_line(all[p], lengths[k], 1, 0);
        }
        try_line(all[p], 30003, 1, 1);
        if (p < 2) { /* whole tiles */
            try_line(all[p], 16384, 1, 0);
        }
    }
    try_over(16385, 0);
    try_over(50001, 1);
    assert_int_equal(failures, 0);
}

/* Long rows, of whole vectors and of others; and all elements of rows with gaps between them. */
static void test_rows(void **unused) {
    static const int64_t counts[] = {1, 3, 40}, lengths[] = {1025, 3000, 5001};
    (void)unused;
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) {
            for (int gap = 0; gap < 3 && counts[r] * lengths[k] < 150000; gap++) {
                operand o = make_operand(counts[r], lengths[k], lengths[k] + gap, 1, gap);
                try_program(&prod_rows, &o, counts[r]);
                try_program(&prod_exp, &o, 1);
                if (gap == 0) {
                    try_program(&three_rows, &o, counts[r]);
                    try_program(&mixed, &o, 1);
                }
                free_operand(&o);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static int open_all(void **unused) {
    (void)unused;
    setenv("FAKECUDA_SEED", "3", 0); /* threads in another order than their own: a barrier that is missing shows */
    open_places("teams=0");
    for (int p = 0; p < n_places; p++) {
        define_all(places[p].context);
    }
    return 0;
}

static int close_all(void **unused) {
    (void)unused;
    close_places();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths), cmocka_unit_test(test_long_chunks), cmocka_unit_test(test_programs), cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
