/* Every elementwise operation and cast against references written separately (reference.def): all combinations of input
 * dtypes, weak scalars on both sides, special values, and every layout an operand can have. The tiers must agree in
 * every bit. Prints the table of the largest errors.
 *
 * Many expressions go into one evaluation, so that one kernel holds many operations: compiling is what takes the time.
 * On the compiled tier a layout gets only every so-many-th expression, others each time. */
#include "ops/reference.h"

/* ---- operands ---- */

typedef enum form { ARRAY, WEAK_INT, WEAK_REAL } form;
typedef enum way {
    PLAIN,
    VIEW,
    SLICE,
    STEP,
    FLIP,
    TRANSPOSE
} way; /* PLAIN, VIEW: an array; else a view in the graph */

#define RANK 3

typedef struct source {
    form form;
    krf_dtype dtype;
    value scalar;
    way way;
    int rank;
    int64_t shape[RANK], strides[RANK], offset; /* as the operation sees it */
    int base_rank;
    int64_t base_shape[RANK];
    int64_t count; /* elements in memory */
    void *memory;
} source;

/* One expression: an operation, or a cast when op is negative. */
typedef struct expression {
    int op;
    krf_dtype to;
    int args[3];
} expression;

static int arity_of(const expression *e) { return e->op < 0 ? 1 : ops[e->op].arity; }

/* The dtype that is computed in and that of the result, and whether the result is weak; false when the operation is not
 * defined. */
static bool typing(const expression *e, const source *sources, krf_dtype *compute, krf_dtype *result, bool *weak) {
    int n = arity_of(e);
    bool strong = false, weak_int = false, weak_real = false;
    krf_dtype common = KRF_BOOL;
    if (e->op < 0) {
        *compute = *result = e->to;
        *weak = false;
        return true;
    }
    const rule r = ops[e->op].reference->rule;
    for (int k = r == WHERE ? 1 : 0; k < n; k++) {
        const source *s = &sources[e->args[k]];
        common = s->form != ARRAY ? common : strong ? promote(common, s->dtype) : s->dtype;
        strong |= s->form == ARRAY;
        weak_int |= s->form == WEAK_INT;
        weak_real |= s->form == WEAK_REAL;
    }
    if (!strong) {
        common = weak_real ? KRF_F64 : KRF_I64;
    } else {
        common = weak_real ? with_weak_real(common) : weak_int ? with_weak_int(common) : common;
    }
    if (common == NO_DTYPE && r != LOGIC) {
        return false;
    }
    *compute = r == REAL || r == CLOSE ? float_of(common) : r == LOGIC ? KRF_BOOL : common;
    *result = r == COMPARE || r == TEST || r == CLOSE ? KRF_BOOL : r != ORDER ? *compute : *compute == KRF_F64 ? KRF_I64 : KRF_I32;
    *weak = !strong && *result != KRF_BOOL && r != WHERE && r != ORDER;
    for (int k = r == WHERE ? 1 : 0; k < n; k++) { /* literals must fit */
        const source *s = &sources[e->args[k]];
        if (s->form == WEAK_INT && !is_real(*compute) && *compute != KRF_BOOL && wide_of(convert(s->scalar, *compute)) != s->scalar.i) {
            return false;
        }
    }
    if (r == NUMBER) {
        return common != KRF_BOOL;
    }
    return r == ORDER ? is_real(common) : r == BITS ? !is_real(common) : r == SHIFT ? !is_real(common) && common != KRF_BOOL : true;
}

/* What a pool of values holds: first those that break things, then random ones of every magnitude. */
static value sample(krf_dtype dtype, int64_t index, uint64_t *state) {
    static const double reals[] = {
        0.0,      -0.0,     INFINITY, -INFINITY, NAN,    1,       -1,     0.5,        -0.5,
        1.5,      -1.5,     2.5,      2,         -2,     3,       -3,     7,          -7,
        0.1,      -0.1,     1e-3,     10,        -10,    88.7,    -87.5,  709.5,      -745,
        0x1.8p23, 0x1p24,   -0x1p31,  0x1p31,    0x1p53, -0x1p63, 0x1p63, 2147483647, 0x1.fffffep62,
        M_PI,     M_PI / 2, -0x1p-26, 1e30,      -1e-30, 1e5,
    };
    static const int64_t integers[] = {
        0,
        1,
        -1,
        2,
        -2,
        3,
        -3,
        7,
        -7,
        10,
        31,
        32,
        33,
        63,
        64,
        65,
        -31,
        -32,
        -64,
        100,
        -5,
        46341,
        65536,
        INT32_MAX,
        INT32_MIN,
        INT32_MIN + 1,
        INT32_MAX - 1,
        16777217,
        -16777219,
        5,
    };
    static const int64_t longs[] = {
        INT64_MAX,
        INT64_MIN,
        INT64_MIN + 1,
        INT64_MAX - 1,
        INT64_C(1) << 32,
        -(INT64_C(1) << 31) - 1,
        INT64_C(9007199254740993),
        INT64_C(3037000500),
        -INT64_C(9007199254740995),
        INT64_C(0x7fffffbfffffffff),
        INT64_C(0x4000004000000001),
        INT64_C(16777217) << 20,
    };
    const int64_t n_reals = (int64_t)(sizeof reals / sizeof *reals),
                  n_integers = (int64_t)(sizeof integers / sizeof *integers);
    const int64_t n_longs = (int64_t)(sizeof longs / sizeof *longs);
    uint64_t bits = next_random(state);
    value v = {.dtype = dtype};
    if (dtype == KRF_BOOL) {
        v.i = index < 2 ? index : (int64_t)(bits & 1);
        return v;
    }
    if (!is_real(dtype)) {
        int64_t random = (int64_t)bits >> (next_random(state) % 64);
        v.i = index < n_integers                                 ? integers[index]
              : index < n_integers + n_longs && bytes_of(dtype) == 8 ? longs[index - n_integers]
                                                                 : random;
        return convert(v, dtype);
    }
    const dtype_facts *f = facts_of(dtype);
    const bool narrow = dtype != KRF_F64;
    const double normal = ldexp(1, f->lowest), last = ldexp(1, 1 - f->digits);
    const double limits[] = {normal * last, normal - normal * last, normal, (2 - last) * ldexp(1, 1 - f->lowest), 1 - last / 2, 1 + last};
    if (index < n_reals) {
        v.f = reals[index];
    } else if (index < n_reals + 12) {
        int64_t k = index - n_reals;
        v.f = k % 2 == 0 ? limits[k / 2] : -limits[k / 2];
    } else if (index % 4 == 0) {
        v = get(&bits, dtype, 0); /* any bits at all */
    } else if (index % 4 == 1) {
        v.f = (random_unit(state) - 0.5) * 20;
    } else if (index % 4 == 2) {
        v.f = (double)(random_below(state, 41) - 20) / 2;
    } else {
        v.f =
            (random_unit(state) - 0.5) * pow(10, (double)random_below(state, narrow ? 60 : 500) - (narrow ? 30 : 250));
    }
    return convert(v, dtype);
}

static void c_order(int rank, const int64_t *shape, int64_t *strides) {
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= shape[i];
    }
}

static void allocate(source *s) {
    s->memory = malloc((size_t)s->count * bytes_of(s->dtype) + 1);
    assert_non_null(s->memory);
}

/* An array of that shape, or a part of a larger one, filled with samples of everyday size and some special ones. */
static source make_source(krf_dtype dtype, way w, int rank, const int64_t *shape, uint64_t seed) {
    source s = {.form = ARRAY, .dtype = dtype, .way = w, .rank = rank, .base_rank = rank};
    uint64_t state = seed;
    s.count = 1;
    for (int i = 0; i < rank; i++) {
        s.shape[i] = s.base_shape[i] = shape[i];
        s.count *= shape[i];
    }
    c_order(rank, shape, s.strides);
    int last = rank - 1;
    switch (w) {
    case VIEW: /* offset by 1 in the fast dimension, steps of -1 where there is a slow one: nothing a graph view would
                  give */
        s.base_rank = 1;
        s.offset = 1;
        if (rank == 2) {
            s.offset += (shape[0] - 1) * (shape[1] + 3);
            s.strides[0] = -(shape[1] + 3);
        }
        s.count = s.base_shape[0] = rank == 2 ? shape[0] * (shape[1] + 3) + 1 : s.count + 1;
        break;
    case SLICE:
        s.base_shape[last] = shape[last] + 1;
        s.count = s.count / shape[last] * s.base_shape[last];
        c_order(rank, s.base_shape, s.strides);
        s.offset = 1;
        break;
    case STEP:
        s.base_shape[last] = 2 * shape[last] - 1;
        s.count = s.count / shape[last] * s.base_shape[last];
        c_order(rank, s.base_shape, s.strides);
        s.strides[last] = 2;
        break;
    case FLIP:
        s.offset = shape[last] - 1;
        s.strides[last] = -1;
        break;
    case TRANSPOSE:
        s.base_shape[0] = shape[1];
        s.base_shape[1] = shape[0];
        s.strides[0] = 1;
        s.strides[1] = shape[0];
        break;
    default: break;
    }
    allocate(&s);
    for (int64_t i = 0; i < s.count; i++) {
        put(s.memory, i, sample(dtype, (int64_t)(next_random(&state) % 96), &state));
    }
    return s;
}

static source make_weak(form kind, int64_t i, double f) {
    source s = {.form = kind, .dtype = kind == WEAK_INT ? KRF_I64 : KRF_F64};
    s.scalar = (value){.dtype = s.dtype, .i = i, .f = f};
    return s;
}

static krf_expr source_expr(run *r, krf_graph *g, const source *s, krf_array **array) {
    *array = NULL;
    if (s->form != ARRAY) {
        return s->form == WEAK_INT ? krf_int(g, s->scalar.i) : krf_real(g, s->scalar.f);
    }
    krf_array *base = NULL, *view = NULL;
    assert_int_equal(krf_array_from_host(r->context, s->dtype, s->base_rank, s->base_shape, s->memory, &base), KRF_OK);
    if (s->way == VIEW) {
        krf_status status = krf_array_view(base, s->rank, s->shape, s->strides, s->offset, &view);
        if (status != KRF_OK) {
            fail_msg("krf_array_view: %s", krf_error_message());
        }
        krf_array_release(base);
        base = view;
    }
    *array = base;
    krf_expr x = krf_input(g, base);
    krf_range ranges[RANK];
    for (int i = 0; i < RANK; i++) {
        ranges[i] = (krf_range){KRF_NONE, KRF_NONE, 1};
    }
    switch (s->way) {
    case SLICE: ranges[s->rank - 1].start = 1; return krf_slice(x, s->rank, ranges);
    case STEP: ranges[s->rank - 1].step = 2; return krf_slice(x, s->rank, ranges);
    case FLIP: return krf_flip(x, -1);
    case TRANSPOSE: return krf_transpose(x, NULL);
    default: return x;
    }
}

/* ---- what is expected ---- */

typedef struct layout {
    int rank;
    int64_t shape[RANK], size;
} layout;

static layout result_layout(const expression *e, const source *sources) {
    layout out = {.size = 1};
    for (int k = 0; k < arity_of(e); k++) {
        out.rank = sources[e->args[k]].rank > out.rank ? sources[e->args[k]].rank : out.rank;
    }
    for (int i = 0; i < out.rank; i++) {
        out.shape[i] = 1;
        for (int k = 0; k < arity_of(e); k++) {
            const source *s = &sources[e->args[k]];
            int at = i - (out.rank - s->rank);
            out.shape[i] = at >= 0 && s->shape[at] != 1 ? s->shape[at] : out.shape[i];
        }
        out.size *= out.shape[i];
    }
    return out;
}

static value operand_at(const source *s, const layout *l, int64_t index) {
    if (s->form != ARRAY) {
        return s->scalar;
    }
    int64_t offset = s->offset;
    for (int i = l->rank - 1; i >= 0; i--) {
        int at = i - (l->rank - s->rank);
        if (at >= 0 && s->shape[at] != 1) {
            offset += index % l->shape[i] * s->strides[at];
        }
        index /= l->shape[i];
    }
    return get(s->memory, s->dtype, offset);
}

static double worst[OPS][2];
static bool on_cuda;

/* x to a small weak integer is a chain of multiplications, not pow. */
static bool is_chain(const expression *e, const source *sources) {
    if (e->op < 0 || strcmp(ops[e->op].name, "power") != 0 || sources[e->args[1]].form != WEAK_INT) {
        return false;
    }
    int64_t k = sources[e->args[1]].scalar.i;
    return k >= -8 && k <= 8 && is_real(sources[e->args[0]].dtype);
}

static bool check_real(const expression *e, const reference *r, krf_dtype compute, value a, value b, value c, value got,
                       bool chain) {
    if (chain) { /* each factor rounds once; near the ends of the range the chain may leave it on the way */
        long double want = powl((long double)a.f, (long double)b.f),
                    most = powl(fabsl((long double)a.f), fabsl((long double)b.f));
        long double end = ldexpl(1, -facts_of(compute)->lowest - 1);
        bool everyday = !(fabsl((long double)a.f) > 0) || isinf(a.f) || (most < end && most > 1 / end);
        return !everyday || ulp_distance(got, want, 0) <= 8;
    }
    if (r->ulp[on_cuda][compute == KRF_F64] > 0) {
        long double want = r->exact((long double)a.f, (long double)b.f, (long double)c.f);
        double distance = ulp_distance(got, want, amplitude(r->name, compute, (long double)a.f, (long double)b.f, on_cuda));
        double *table = &worst[e->op][compute == KRF_F64];
        *table = distance > *table && !is_half(compute) ? distance : *table;
        return distance <= ulp_bound(r, compute, on_cuda);
    }
    value want = exact_value(r, compute, a, b, c);
    if (got.dtype == KRF_BOOL) {
        return got.i == (want.f != 0);
    }
    /* Python's way to a quotient rounds twice: when it has all digits of the dtype, it may be the next whole number. */
    double whole = compute == KRF_F64 ? 0x1p51 : 0x1p22;
    if (r->f64 == double_floor_divide && fabs(want.f) >= whole) {
        return fabs(got.f - want.f) <= 1 || ulp_distance(got, (long double)want.f, 0) <= 1;
    }
    return same(got, want);
}

static bool check_element(const expression *e, const source *sources, krf_dtype compute, const value *x, value got) {
    value a = convert(x[0], compute), b = arity_of(e) > 1 ? convert(x[1], compute) : a;
    value c = arity_of(e) > 2 ? convert(x[2], compute) : b;
    if (e->op < 0) {
        return same(got, convert(x[0], e->to));
    }
    const reference *r = ops[e->op].reference;
    if (r->rule == WHERE) {
        return same(got, convert(convert(x[0], KRF_BOOL).i != 0 ? x[1] : x[2], compute));
    }
    if (is_real(compute)) {
        return check_real(e, r, compute, a, b, c, got, is_chain(e, sources));
    }
    value want = {.dtype = got.dtype};
    int bits = 8 * (int)bytes_of(compute);
    want.i = compute == KRF_BOOL ? r->boolean((int)a.i, (int)b.i) : wrap_to(compute, r->integer(wide_of(a), wide_of(b), wide_of(c), bits));
    return same(got, want);
}

static const char *describe(const expression *e, const source *sources, char *text, size_t bytes) {
    int at = snprintf(text, bytes, "%s(", e->op < 0 ? "cast" : ops[e->op].name);
    for (int k = 0; k < arity_of(e); k++) {
        const source *s = &sources[e->args[k]];
        at += snprintf(text + at, bytes - (size_t)at, "%s%s%s", k > 0 ? ", " : "",
                       s->form == ARRAY ? name_of(s->dtype) : "weak ",
                       s->form == ARRAY      ? ""
                       : s->form == WEAK_INT ? "int"
                                             : "float");
        if (s->form == WEAK_INT) {
            at += snprintf(text + at, bytes - (size_t)at, " %" PRId64, s->scalar.i);
        } else if (s->form == WEAK_REAL) {
            at += snprintf(text + at, bytes - (size_t)at, " %g", s->scalar.f);
        }
    }
    snprintf(text + at, bytes - (size_t)at, e->op < 0 ? ") to %s" : ")%s", e->op < 0 ? name_of(e->to) : "");
    return text;
}

static void check_values(const expression *e, const source *sources, const layout *l, const void *data,
                         const char *label) {
    krf_dtype compute, result;
    bool weak;
    char text[160], numbers[4][64];
    typing(e, sources, &compute, &result, &weak);
    for (int64_t i = 0, shown = 0; i < l->size && shown < 3; i++) {
        value x[3] = {{0}}, got = get(data, result, i);
        for (int k = 0; k < arity_of(e); k++) {
            x[k] = operand_at(&sources[e->args[k]], l, i);
        }
        bool proper = result != KRF_BOOL || ((const unsigned char *)data)[i] <= 1;
        if (!proper || !check_element(e, sources, compute, x, got)) {
            shown++;
            for (int k = 0; k < 3; k++) {
                show(x[k], numbers[k], sizeof numbers[k]);
            }
            COMPLAIN("%s: %s: element %" PRId64 ": %s | %s | %s gave %s%s", label,
                     describe(e, sources, text, sizeof text), i, numbers[0], arity_of(e) > 1 ? numbers[1] : "-",
                     arity_of(e) > 2 ? numbers[2] : "-", show(got, numbers[3], sizeof numbers[3]),
                     proper ? "" : ", a bool that is neither 0 nor 1");
        }
    }
}

/* ---- batches ---- */

static runs all_runs;

/* Builds the expressions that are to be evaluated and checks what the builders promise. */
static void build_batch(krf_graph *g, int n, const expression *list, const source *sources, const krf_expr *operands,
                        krf_expr *built) {
    char text[160];
    for (int i = 0; i < n; i++) {
        const expression *e = &list[i];
        krf_expr x[3] = {{0}};
        krf_dtype compute, result;
        bool weak;
        typing(e, sources, &compute, &result, &weak);
        for (int k = 0; k < arity_of(e); k++) {
            x[k] = operands[e->args[k]];
        }
        built[i] = e->op < 0 ? krf_cast(x[0], e->to) : ops[e->op].build(x);
        layout l = result_layout(e, sources);
        bool fits = krf_expr_ok(built[i]) && krf_expr_dtype(built[i]) == result && krf_expr_rank(built[i]) == l.rank;
        for (int d = 0; fits && d < l.rank; d++) {
            fits = krf_expr_shape(built[i])[d] == l.shape[d];
        }
        if (!fits || krf_expr_weak(built[i]) != weak) {
            COMPLAIN("%s: dtype %s, weak %d, rank %d; expected %s, weak %d, rank %d: %s",
                     describe(e, sources, text, sizeof text), name_of(krf_expr_dtype(built[i])),
                     krf_expr_weak(built[i]), krf_expr_rank(built[i]), name_of(result), weak, l.rank,
                     krf_graph_error(g));
        }
    }
}

/* Evaluates the list in one run; data[i] stays NULL for what another stride of a sparse run takes. */
static void evaluate_batch(run *r, int n, const expression *list, int n_sources, const source *sources, void **data,
                           const char *label) {
    krf_graph *g = krf_graph_create(r->context);
    krf_array **arrays = calloc((size_t)n_sources, sizeof *arrays), **outputs = calloc((size_t)n + 1, sizeof *outputs);
    krf_expr *operands = calloc((size_t)n_sources, sizeof *operands), *built = calloc((size_t)n + 1, sizeof *built);
    char text[160];
    for (int i = 0; i < n_sources; i++) {
        operands[i] = source_expr(r, g, &sources[i], &arrays[i]);
    }
    build_batch(g, n, list, sources, operands, built);
    krf_status status = krf_eval_many(n, built, outputs);
    if (status != KRF_OK) {
        COMPLAIN("%s: %s: %s: %s", r->label, label, krf_status_name(status), krf_error_message());
    }
    for (int i = 0; i < n; i++) {
        krf_dtype compute, result;
        bool weak;
        typing(&list[i], sources, &compute, &result, &weak);
        layout l = result_layout(&list[i], sources);
        data[i] = status == KRF_OK
                      ? to_host(outputs[i], result, l.rank, l.shape, describe(&list[i], sources, text, sizeof text))
                      : NULL;
        krf_array_release(outputs[i]);
    }
    krf_graph_destroy(g);
    for (int i = 0; i < n_sources; i++) {
        krf_array_release(arrays[i]);
    }
    free(arrays);
    free(outputs);
    free(operands);
    free(built);
}

static void compare_runs(const expression *e, const source *sources, const void *a, const void *b, const char *label) {
    krf_dtype compute, result;
    bool weak;
    char text[160], left[64], right[64];
    typing(e, sources, &compute, &result, &weak);
    layout l = result_layout(e, sources);
    for (int64_t i = 0; i < l.size; i++) {
        if (!same(get(a, result, i), get(b, result, i))) {
            COMPLAIN("%s: %s: element %" PRId64 ": %s gave %s, %s gave %s", label,
                     describe(e, sources, text, sizeof text), i, all_runs.run[0].label,
                     show(get(a, result, i), left, sizeof left), all_runs.run[1].label,
                     show(get(b, result, i), right, sizeof right));
            return;
        }
    }
}

static int batches;

/* Functions of constants that are printed into kernels: compilers like to compute or to replace them (pow(x, -1),
 * sin(0.5)), and then round otherwise. */
static bool tempting(const expression *e, const source *sources) {
    bool constant = false;
    int reals = 0;
    for (int k = 0; k < arity_of(e); k++) {
        const source *s = &sources[e->args[k]];
        double v = s->form == WEAK_INT ? (double)s->scalar.i : s->scalar.f;
        constant |= s->form != ARRAY && (v == -1 || v == 2 || v == 0.5);
        reals += s->form == WEAK_REAL || is_real(s->dtype);
    }
    return e->op >= 0 && ops[e->op].reference->ulp[0][0] > 0 && constant && reals == arity_of(e);
}

/* Everything in the first run, checked against the references; every `sparse`-th expression in the second run, which
 * must have the same bits. */
static void check_batch(int total, const expression *all, int n_sources, const source *sources, int sparse,
                        const char *label) {
    expression *list = calloc((size_t)total + 1, sizeof *list);
    assert_non_null(list);
    int n = 0;
    for (int i = 0; i < total; i++) {
        list[n] = all[i];
        n += in_shard(i);
    }
    void **first = calloc((size_t)n + 1, sizeof *first), **second = calloc((size_t)n + 1, sizeof *second);
    expression *some = calloc((size_t)n + 1, sizeof *some);
    int *origin = calloc((size_t)n + 1, sizeof *origin), m = 0;
    evaluate_batch(&all_runs.run[0], n, list, n_sources, sources, first, label);
    for (int i = 0; i < n; i++) {
        layout l = result_layout(&list[i], sources);
        if (first[i] != NULL) {
            check_values(&list[i], sources, &l, first[i], label);
        }
        if (i % sparse == batches % sparse || tempting(&list[i], sources)) {
            origin[m] = i;
            some[m++] = list[i];
        }
    }
    for (int r = 1; r < all_runs.n; r++) {
        evaluate_batch(&all_runs.run[r], m, some, n_sources, sources, second, label);
        for (int i = 0; i < m; i++) {
            if (first[origin[i]] != NULL && second[i] != NULL) {
                compare_runs(&some[i], sources, first[origin[i]], second[i], label);
            }
            free(second[i]);
        }
    }
    for (int i = 0; i < n; i++) {
        free(first[i]);
    }
    batches++;
    free(first);
    free(second);
    free(some);
    free(list);
    free(origin);
}

static void free_sources(int n, source *sources) {
    for (int i = 0; i < n; i++) {
        free(sources[i].memory);
    }
}

/* ---- the tests ---- */

/* Which pairs of dtypes an operation is tried with: all of five dtypes, each dtype with itself, and a seventh of the others, another one
 * for each operation. (test_dtypes has the types of all pairs.) */
static bool paired(int a, int b, int op) {
    static const bool common[DTYPES] = {[KRF_BOOL] = true, [KRF_I32] = true, [KRF_I64] = true, [KRF_F32] = true, [KRF_F64] = true};
    return a == b || (common[a] && common[b]) || (a * DTYPES + b + op) % 7 == 0;
}

/* sources[position * DTYPES + dtype]; the combinations for which the operation is defined. */
static int all_combinations(expression *list, const source *sources, int first_dtype, int last_dtype) {
    int n = 0;
    for (int op = 0; op < OPS; op++) {
        int arity = ops[op].arity, total = arity == 1 ? 1 : arity == 2 ? DTYPES : DTYPES * DTYPES;
        for (int a = first_dtype; a <= last_dtype; a++) {
            for (int rest = 0; rest < total; rest++) {
                expression e = {.op = op, .args = {a, DTYPES + rest % DTYPES, 2 * DTYPES + rest / DTYPES}};
                krf_dtype compute, result;
                bool weak;
                if ((arity == 1 || paired(a, rest % DTYPES, op)) && (arity < 3 || paired(rest % DTYPES, rest / DTYPES, op))
                    && typing(&e, sources, &compute, &result, &weak)) {
                    list[n++] = e;
                }
            }
        }
    }
    for (int a = first_dtype; a <= last_dtype; a++) {
        for (int to = 0; to < DTYPES; to++) {
            list[n++] = (expression){.op = -1, .to = (krf_dtype)to, .args = {a}};
        }
    }
    return n;
}

#define MOST_EXPRESSIONS 12000

/* The full cross product of special values, then random ones, in contiguous arrays. */
static void test_values(void **unused) {
    (void)unused;
    enum { SPECIAL = 56, N = SPECIAL * SPECIAL + 1500 };
    source sources[3 * DTYPES];
    uint64_t state = 1;
    for (int position = 0; position < 3; position++) {
        for (int d = 0; d < DTYPES; d++) {
            source *s = &sources[position * DTYPES + d];
            *s = (source){.form = ARRAY,
                          .dtype = (krf_dtype)d,
                          .rank = 1,
                          .shape = {N},
                          .strides = {1},
                          .base_rank = 1,
                          .base_shape = {N},
                          .count = N};
            allocate(s);
            for (int64_t i = 0; i < N; i++) {
                int64_t index = i >= SPECIAL * SPECIAL ? i
                                : position == 0        ? i / SPECIAL
                                : position == 1        ? i % SPECIAL
                                                       : (i * 5 + 1) % SPECIAL;
                put(s->memory, i, sample((krf_dtype)d, index, &state));
            }
        }
    }
    expression *list = calloc(MOST_EXPRESSIONS, sizeof *list);
    for (int a = 0; a < DTYPES; a++) {
        char label[32];
        snprintf(label, sizeof label, "values of %s", name_of((krf_dtype)a));
        check_batch(all_combinations(list, sources, a, a), list, 3 * DTYPES, sources, 6, label);
    }
    free(list);
    free_sources(3 * DTYPES, sources);
    assert_int_equal(failures, 0);
}

typedef struct layout_case {
    const char *name;
    way ways[3];
    int ranks[3];
    int64_t shapes[3][RANK];
} layout_case;

static void test_layouts(void **unused) {
    (void)unused;
    static const layout_case cases[] = {
        {"length 1", {PLAIN, PLAIN, PLAIN}, {1, 1, 1}, {{1}, {1}, {1}}},
        {"length 7", {PLAIN, PLAIN, PLAIN}, {1, 1, 1}, {{7}, {7}, {7}}},
        {"length 255", {PLAIN, PLAIN, PLAIN}, {1, 1, 1}, {{255}, {255}, {255}}},
        {"length 256", {PLAIN, PLAIN, PLAIN}, {1, 1, 1}, {{256}, {256}, {256}}},
        {"length 257", {PLAIN, PLAIN, PLAIN}, {1, 1, 1}, {{257}, {257}, {257}}},
        {"length 1000", {PLAIN, PLAIN, PLAIN}, {1, 1, 1}, {{1000}, {1000}, {1000}}},
        {"unaligned array", {VIEW, PLAIN, VIEW}, {1, 1, 1}, {{1000}, {1000}, {1000}}},
        {"unaligned slice", {SLICE, SLICE, PLAIN}, {1, 1, 1}, {{261}, {261}, {261}}},
        {"step 2", {STEP, PLAIN, STEP}, {1, 1, 1}, {{257}, {257}, {257}}},
        {"step -1", {FLIP, STEP, FLIP}, {1, 1, 1}, {{300}, {300}, {300}}},
        {"(n, 1) with (m)", {PLAIN, PLAIN, PLAIN}, {2, 1, 2}, {{31, 1}, {33}, {31, 33}}},
        {"(m) with (n, 1)", {PLAIN, FLIP, STEP}, {1, 2, 1}, {{19}, {23, 1}, {1}}},
        {"transposed", {TRANSPOSE, PLAIN, PLAIN}, {2, 2, 2}, {{37, 23}, {37, 23}, {37, 23}}},
        {"both transposed", {TRANSPOSE, TRANSPOSE, TRANSPOSE}, {2, 2, 2}, {{16, 24}, {16, 24}, {16, 24}}},
        {"array with a pitch, rows backwards", {VIEW, PLAIN, VIEW}, {2, 2, 2}, {{13, 20}, {13, 20}, {13, 20}}},
        {"rank 0", {PLAIN, PLAIN, PLAIN}, {0, 0, 0}, {{0}, {0}, {0}}},
        {"rank 0 with an array", {PLAIN, PLAIN, PLAIN}, {0, 1, 0}, {{0}, {100}, {0}}},
        {"array with rank 0", {PLAIN, PLAIN, PLAIN}, {1, 0, 1}, {{100}, {0}, {100}}},
        {"rank 3, stretched in the middle", {PLAIN, STEP, PLAIN}, {3, 3, 1}, {{3, 1, 5}, {1, 4, 5}, {1}}},
        {"empty", {PLAIN, PLAIN, PLAIN}, {2, 2, 2}, {{0, 3}, {1, 3}, {0, 1}}},
    };
    expression *list = calloc(5 * MOST_EXPRESSIONS, sizeof *list);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        source sources[3 * DTYPES];
        for (int position = 0; position < 3; position++) {
            for (int d = 0; d < DTYPES; d++) {
                sources[position * DTYPES + d] =
                    make_source((krf_dtype)d, cases[c].ways[position], cases[c].ranks[position],
                                cases[c].shapes[position], 100 * c + (uint64_t)(position * DTYPES + d));
            }
        }
        check_batch(all_combinations(list, sources, 0, DTYPES - 1), list, 3 * DTYPES, sources, 64, cases[c].name);
        free_sources(3 * DTYPES, sources);
    }
    free(list);
    assert_int_equal(failures, 0);
}

/* Weak scalars on either side and on both. Values that are printed into kernels, and others that travel as arguments.
 */
static void test_weak(void **unused) {
    (void)unused;
    static const int64_t ints[] = {0, 1, -1, 2, 3, -3, 7, 8, -8, 40, -100, 65537, INT32_MAX, INT32_MIN};
    static const double reals[] = {0, 1, -1, 2, 0.5, -0.0, 2.5, -1.75, 0.1, 1e300, -1e-310, INFINITY, NAN, 16777217};
    enum { N_INTS = sizeof ints / sizeof *ints, N_REALS = sizeof reals / sizeof *reals, N_WEAK = N_INTS + N_REALS };
    source sources[DTYPES + N_WEAK];
    for (int d = 0; d < DTYPES; d++) {
        sources[d] = make_source((krf_dtype)d, PLAIN, 1, (int64_t[]){150}, 7000 + (uint64_t)d);
        uint64_t state = 5;
        for (int64_t i = 0; i < 60; i++) {
            put(sources[d].memory, i, sample((krf_dtype)d, i, &state));
        }
    }
    for (int i = 0; i < N_WEAK; i++) {
        sources[DTYPES + i] = i < N_INTS ? make_weak(WEAK_INT, ints[i], 0) : make_weak(WEAK_REAL, 0, reals[i - N_INTS]);
    }
    expression *list = calloc(20 * MOST_EXPRESSIONS, sizeof *list);
    for (int turn = 0; turn < 3; turn++) { /* weak on the right, on the left, on both sides */
        int n = 0;
        for (int op = 0; op < OPS; op++) {
            for (int a = 0; a < (turn == 2 ? N_WEAK : DTYPES); a++) {
                for (int w = 0; w < N_WEAK; w++) {
                    int x = turn == 2 ? DTYPES + a : a, y = DTYPES + w;
                    expression e = {.op = op, .args = {turn == 1 ? y : x, turn == 1 ? x : y, turn == 1 ? y : x}};
                    krf_dtype compute, result;
                    bool weak;
                    if ((ops[op].arity == 1 && (turn == 0 || (turn == 1 && a > 0)))
                        || (turn == 2 && (a + w) % 3 != op % 3)) {
                        continue;
                    }
                    if (typing(&e, sources, &compute, &result, &weak)) {
                        list[n++] = e;
                    }
                }
            }
        }
        check_batch(n, list, DTYPES + N_WEAK, sources, 48,
                    turn == 0   ? "weak right"
                    : turn == 1 ? "weak left"
                                : "weak both");
    }
    free(list);
    free_sources(DTYPES, sources);
    assert_int_equal(failures, 0);
}

static void expect_error(krf_graph *g, krf_expr x, krf_status status, const char *what) {
    krf_array *out = NULL;
    if (krf_expr_ok(x) || krf_graph_status(g) != status || krf_graph_error(g)[0] == '\0') {
        COMPLAIN("%s: expected %s, not %s (%s)", what, krf_status_name(status), krf_status_name(krf_graph_status(g)),
                 krf_graph_error(g));
    }
    if (krf_eval(x, &out) != status || out != NULL) {
        COMPLAIN("%s: evaluating poison does not return %s", what, krf_status_name(status));
    }
    krf_graph_reset(g);
    if (krf_graph_status(g) != KRF_OK || krf_graph_error(g)[0] != '\0') {
        COMPLAIN("%s: krf_graph_reset keeps the error", what);
    }
}

/* Combinations that are not defined, shapes that do not broadcast, literals out of range. */
static void test_refused(void **unused) {
    (void)unused;
    run *r = &all_runs.run[0];
    krf_graph *g = krf_graph_create(r->context);
    krf_array *arrays[DTYPES], *three, *four;
    source sources[3 * DTYPES];
    unsigned char zeros[64] = {0};
    char text[160];
    for (int d = 0; d < DTYPES; d++) {
        assert_int_equal(krf_array_from_host(r->context, (krf_dtype)d, 1, (int64_t[]){2}, zeros, &arrays[d]), KRF_OK);
        for (int position = 0; position < 3; position++) {
            sources[position * DTYPES + d] = (source){.form = ARRAY, .dtype = (krf_dtype)d};
        }
    }
    for (int op = 0; op < OPS; op++) {
        for (int pair = 0; pair < DTYPES * DTYPES; pair++) {
            expression e = {.op = op, .args = {pair % DTYPES, pair / DTYPES, pair / DTYPES}};
            krf_dtype compute, result;
            bool weak;
            if (!typing(&e, sources, &compute, &result, &weak)) {
                krf_expr x[3];
                for (int k = 0; k < 3; k++) {
                    x[k] = krf_input(g, arrays[e.args[k]]);
                }
                expect_error(g, ops[op].build(x), KRF_E_DTYPE, describe(&e, sources, text, sizeof text));
            }
        }
    }
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 1, (int64_t[]){3}, zeros, &three), KRF_OK);
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 2, (int64_t[]){2, 4}, zeros, &four), KRF_OK);
    expect_error(g, krf_add(krf_input(g, three), krf_input(g, four)), KRF_E_SHAPE, "add: (3,) with (2, 4)");
    expect_error(g, krf_where(krf_input(g, arrays[0]), krf_input(g, three), krf_int(g, 1)), KRF_E_SHAPE,
                 "where: (2,) with (3,)");
    expect_error(g, krf_add(krf_input(g, arrays[KRF_I32]), krf_int(g, INT64_C(1) << 31)), KRF_E_DTYPE, "i32 + 2**31");
    expect_error(g, krf_maximum(krf_int(g, -(INT64_C(1) << 31) - 1), krf_input(g, arrays[KRF_I32])), KRF_E_DTYPE,
                 "maximum(-2**31 - 1, i32)");
    expect_error(g, krf_cast(krf_input(g, three), (krf_dtype)99), KRF_E_ARGUMENT, "cast to dtype 99");
    krf_graph_destroy(g);
    for (int d = 0; d < DTYPES; d++) {
        krf_array_release(arrays[d]);
    }
    krf_array_release(three);
    krf_array_release(four);
    assert_int_equal(failures, 0);
}

static void print_worst(void) {
    printf("\nlargest error in ULP on %s (published: at most 4)\n%-14s %8s %8s\n", on_cuda ? "CUDA" : "the CPU",
           "operation", "f32", "f64");
    for (int op = 0; op < OPS; op++) {
        if (ops[op].reference->ulp[0][0] > 0) {
            printf("%-14s %8.3f %8.3f\n", ops[op].name, worst[op][0], worst[op][1]);
        }
    }
    printf("All other operations are exact, or exactly rounded.\n");
}

int main(void) {
    on_cuda = open_runs(&all_runs, false)->cuda;
    const int failed = run_whole(TESTS(cmocka_unit_test(test_refused), cmocka_unit_test(test_weak), cmocka_unit_test(test_values), cmocka_unit_test(test_layouts)));
    print_worst();
    close_runs(&all_runs);
    return failed;
}
