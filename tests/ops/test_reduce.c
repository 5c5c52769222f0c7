/* Every reduction against the canonical tree, written here once more and as naively as it can be: floats must have its
 * bits on both tiers, with one thread and two, whatever the shape, the axes, the layout of the operand and what else is
 * in the kernel. And the tree itself against exact sums. */
#include "ops/tree.h"

/* ---- operands ---- */

#define RANK 5

/* PLAIN: an array in C order. VIEW: an array with a pitch, the first axis backwards, not on a border. The others are
 * views in the graph. */
typedef enum way { PLAIN, VIEW, STEP, BACK, TRANSPOSED, STRETCHED, WAYS } way;
typedef enum filling { EVERYDAY, SPECIAL, ALL_EQUAL, LARGE } filling;

typedef struct input {
    krf_dtype dtype;
    way way;
    int rank;
    int64_t shape[RANK], strides[RANK], offset; /* as the reduction sees it */
    int base_rank;
    int64_t base_shape[RANK];
    int64_t count;
    void *memory;
} input;

static void c_order(int rank, const int64_t *shape, int64_t *strides) {
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= shape[i];
    }
}

/* Everyday floats lie around 1 with either sign, so that long products stay in range while every sum and product
 * rounds. Large integers are those of the upper half of a dtype. */
static value element(krf_dtype dtype, filling how, uint64_t *state) {
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e30, -1e30, 0x1p-149,
                                     5,   -0.0,     -0.0,      -0.0, 3,   1,    2,     1};
    uint64_t bits = next_random(state);
    value v = {.dtype = dtype};
    if (how == LARGE) {
        const uint64_t highest = UINT64_MAX >> (64 - 8 * bytes_of(dtype) + !facts_of(dtype)->is_unsigned);
        v.i = (int64_t)(highest - bits % (highest / 2 + 1));
    } else if (how == ALL_EQUAL) {
        v.f = -0.0;
        v.i = 1;
    } else if (is_real(dtype)) {
        v.f = (bits & 1 ? 1 : -1) * exp2(random_unit(state) - 0.5);
        v.f = how == SPECIAL && bits % 16 < 5 ? special[(bits >> 8) % 16] : v.f;
    } else if (dtype == KRF_BOOL) {
        v.i = bits % 7 != 0;
    } else {
        v.i =
            how == SPECIAL && bits % 5 == 0 ? (bits & 32 ? INT64_MAX : INT64_MIN) : (int64_t)(bits | 1) >> (bits >> 58);
        if (how == SPECIAL && bits % 5 == 0) { /* the ends of a signed dtype; an unsigned one wraps them */
            v.i = (v.i < 0 ? INT64_MIN : INT64_MAX) >> (64 - 8 * (int)bytes_of(dtype));
        }
    }
    return convert(v, dtype);
}

enum { PERIOD = 1000003 }; /* after which elements come again; a prime, so that neither rows nor chunks are alike */

static input make_input(krf_dtype dtype, way w, int rank, const int64_t *shape, filling how, uint64_t seed) {
    input x = {.dtype = dtype, .way = w, .rank = rank, .base_rank = rank};
    int64_t middle = rank / 2;
    for (int i = 0; i < rank; i++) {
        x.shape[i] = x.base_shape[i] = shape[i];
    }
    if (w == VIEW && rank > 0) {
        x.base_shape[rank - 1] += 3;
    } else if (w == STEP && rank > 0) {
        x.base_shape[rank - 1] = shape[rank - 1] > 0 ? 2 * shape[rank - 1] - 1 : 0;
    } else if (w == TRANSPOSED) {
        for (int i = 0; i < rank; i++) {
            x.base_shape[i] = shape[rank - 1 - i];
        }
    } else if (w == STRETCHED && rank > 0) {
        x.base_shape[middle] = 1;
    }
    c_order(rank, x.base_shape, x.strides);
    x.count = rank > 0 ? x.strides[0] * x.base_shape[0] : 1;
    if (w == VIEW && rank > 0) {
        x.base_rank = 1;
        x.offset = 1 + (rank > 1 && shape[0] > 0 ? (shape[0] - 1) * x.strides[0] : 0);
        x.strides[0] = rank > 1 ? -x.strides[0] : 1;
        x.base_shape[0] = ++x.count;
    } else if (w == STEP && rank > 0) {
        x.strides[rank - 1] = 2;
    } else if (w == BACK) {
        for (int i = 0; i < rank; i++) {
            x.offset += shape[i] > 0 ? (shape[i] - 1) * x.strides[i] : 0;
            x.strides[i] = -x.strides[i];
        }
    } else if (w == TRANSPOSED) {
        for (int i = 0; 2 * i < rank; i++) {
            int64_t swap = x.strides[i];
            x.strides[i] = x.strides[rank - 1 - i];
            x.strides[rank - 1 - i] = swap;
        }
    } else if (w == STRETCHED && rank > 0) {
        x.strides[middle] = 0;
    }
    x.memory = malloc((size_t)x.count * bytes_of(dtype) + 1);
    assert_non_null(x.memory);
    const int64_t made = x.count < PERIOD ? x.count : PERIOD;
    for (int64_t i = 0; i < made; i++) {
        put(x.memory, i, element(dtype, how, &seed));
    }
    for (int64_t i = made; i < x.count; i += made) {
        memcpy((char *)x.memory + (size_t)i * bytes_of(dtype), x.memory, (size_t)(x.count - i < made ? x.count - i : made) * bytes_of(dtype));
    }
    return x;
}

static krf_expr input_expr(run *r, krf_graph *g, const input *x, krf_array **array) {
    krf_array *base = NULL, *view = NULL;
    krf_status status = krf_array_from_host(r->context, x->dtype, x->base_rank, x->base_shape, x->memory, &base);
    if (status == KRF_OK && x->way == VIEW && x->rank > 0) {
        status = krf_array_view(base, x->rank, x->shape, x->strides, x->offset, &view);
        krf_array_release(base);
        base = view;
    }
    if (status != KRF_OK) {
        fail_msg("input: %s", krf_error_message());
    }
    *array = base;
    krf_expr e = krf_input(g, base);
    krf_range ranges[RANK];
    for (int i = 0; i < x->rank; i++) {
        ranges[i] = (krf_range){KRF_NONE, KRF_NONE, x->way == BACK ? -1 : 1};
    }
    switch (x->way) {
    case STEP:
        if (x->rank > 0) {
            ranges[x->rank - 1].step = 2;
        }
        return krf_slice(e, x->rank, ranges);
    case BACK: return krf_slice(e, x->rank, ranges);
    case TRANSPOSED: return krf_transpose(e, NULL);
    case STRETCHED: return krf_broadcast_to(e, x->rank, x->shape);
    default: return e;
    }
}

/* ---- reductions and what they must give ---- */

typedef struct reduction {
    int input;
    reduction_op op;
    unsigned mask;
    bool keepdims;
    bool as_f32;   /* of f32(x) */
    bool prologue; /* of x * x + x, for floats */
    bool epilogue; /* sqrt(|r|) * 3 - r, for floats */
} reduction;

typedef struct outcome {
    krf_dtype dtype;
    int rank;
    int64_t shape[RANK], size;
    void *data;
} outcome;

/* One operation of a dtype over f64's: exact there, or rounded again innocuously. */
static double rounded(krf_dtype dtype, double x) { return round_to(dtype, (long double)x); }

static double before(const reduction *r, krf_dtype dtype, double x) {
    return r->prologue ? rounded(dtype, rounded(dtype, x * x) + x) : x;
}

static double after(const reduction *r, krf_dtype dtype, double x) {
    return r->epilogue ? rounded(dtype, rounded(dtype, rounded(dtype, sqrt(fabs(x))) * 3) - x) : x;
}

static value reduce_values(const reduction *r, krf_dtype from, const value *x, int64_t n) {
    value v = {.dtype = result_dtype(r->op, from)};
    if (!is_real(v.dtype)) {
        int64_t *items = malloc((size_t)n * sizeof *items + 1);
        assert_non_null(items);
        for (int64_t i = 0; i < n; i++) {
            items[i] = (x[i].dtype == v.dtype ? x[i] : convert(x[i], v.dtype)).i;
        }
        v.i = reduce_integers(r->op, v.dtype, items, n);
        free(items);
        return v;
    }
    double *items = malloc((size_t)n * sizeof *items + 1);
    assert_non_null(items);
    for (int64_t i = 0; i < n; i++) {
        items[i] = before(r, v.dtype, x[i].dtype == v.dtype ? x[i].f : convert(x[i], v.dtype).f);
    }
    const krf_dtype accumulator = is_half(v.dtype) ? KRF_F32 : v.dtype;
    v.f = canonical_tree(r->op, accumulator == KRF_F32, items, n);
    if (r->op == MEAN) {
        v.f = rounded(accumulator, v.f / rounded(accumulator, (double)n));
    }
    v.f = after(r, v.dtype, rounded(v.dtype, v.f));
    free(items);
    return v;
}

/* The element of x at a position counted in C order over the axes of `axes` (a mask), plus an offset. */
static int64_t offset_of(const input *x, unsigned axes, int64_t index) {
    int64_t offset = 0;
    for (int i = x->rank - 1; i >= 0; i--) {
        if ((axes >> i & 1) != 0 && x->shape[i] > 0) {
            offset += index % x->shape[i] * x->strides[i];
            index /= x->shape[i];
        }
    }
    return offset;
}

static outcome expected(const reduction *r, const input *x) {
    const krf_dtype from = r->as_f32 ? KRF_F32 : x->dtype, dtype = result_dtype(r->op, from);
    outcome out = {.dtype = dtype, .size = 1};
    int64_t n = 1;
    for (int i = 0; i < x->rank; i++) {
        bool gone = (r->mask >> i & 1) != 0;
        n *= gone ? x->shape[i] : 1;
        out.size *= gone ? 1 : x->shape[i];
        if (!gone || r->keepdims) {
            out.shape[out.rank++] = gone ? 1 : x->shape[i];
        }
    }
    out.data = malloc((size_t)out.size * bytes_of(dtype) + 1);
    value *values = malloc((size_t)n * sizeof *values + 1);
    int64_t *offsets = malloc((size_t)n * sizeof *offsets + 1);
    assert_non_null(out.data);
    assert_non_null(values);
    assert_non_null(offsets);
    for (int64_t i = 0; i < n; i++) {
        offsets[i] = offset_of(x, r->mask, i);
    }
    for (int64_t o = 0; o < out.size; o++) {
        int64_t start = x->offset + offset_of(x, ~r->mask, o);
        for (int64_t i = 0; i < n; i++) {
            values[i] = get(x->memory, x->dtype, start + offsets[i]);
        }
        if (r->mask == 0) { /* nothing is reduced: the value itself, in the result's dtype */
            value v = convert(values[0], dtype);
            v.f = is_real(dtype) ? after(r, dtype, before(r, dtype, v.f)) : v.f;
            put(out.data, o, v);
        } else {
            put(out.data, o, reduce_values(r, from, values, n));
        }
    }
    free(offsets);
    free(values);
    return out;
}

static krf_expr build(const reduction *r, const input *x, krf_expr e, uint64_t style) {
    int axes[RANK], n = 0;
    for (int i = 0; i < x->rank; i++) {
        if ((r->mask >> i & 1) != 0) {
            axes[n++] = (style >> i & 1) != 0 ? i - x->rank : i; /* negative ones count from the end */
        }
    }
    if ((style & 64) != 0 && n > 1) { /* the order in which axes are named means nothing */
        int swap = axes[0];
        axes[0] = axes[n - 1];
        axes[n - 1] = swap;
    }
    bool all = r->mask == (1u << x->rank) - 1 && (style & 128) != 0;
    e = r->as_f32 ? krf_cast(e, KRF_F32) : e;
    if (r->prologue) {
        e = krf_add(krf_multiply(e, e), e);
    }
    e = rows[r->op].build(e, n, all ? NULL : axes, r->keepdims);
    return r->epilogue ? krf_subtract(krf_multiply(krf_sqrt(krf_abs(e)), krf_int(e.graph, 3)), e) : e;
}

static const char *describe(const reduction *r, const input *x, char *text, size_t bytes) {
    static const char *const ways[WAYS] = {"plain", "view", "step 2", "backwards", "transposed", "stretched"};
    int at = snprintf(text, bytes, "%s%s%s of %s %s%s (", rows[r->op].name, r->prologue ? " with prologue" : "",
                      r->epilogue ? " with epilogue" : "", ways[x->way], name_of(x->dtype), r->as_f32 ? " as f32" : "");
    for (int i = 0; i < x->rank; i++) {
        at += snprintf(text + at, bytes - (size_t)at, "%" PRId64 "%s", x->shape[i], i + 1 < x->rank ? ", " : "");
    }
    snprintf(text + at, bytes - (size_t)at, ") over axes 0x%x%s", r->mask, r->keepdims ? ", keepdims" : "");
    return text;
}

/* ---- batches ---- */

static runs all_runs;

static void check_result(const run *r, const reduction *now, const input *x, const outcome *want, krf_array *got) {
    char text[160], left[64], right[64];
    describe(now, x, text, sizeof text);
    void *data = to_host(got, want->dtype, want->rank, want->shape, text);
    for (int64_t i = 0; data != NULL && i < want->size; i++) {
        value a = get(data, want->dtype, i), b = get(want->data, want->dtype, i);
        if (!same(a, b)) {
            COMPLAIN("%s: %s: element %" PRId64 ": %s, the canonical tree gives %s", r->label, text, i,
                     show(a, left, sizeof left), show(b, right, sizeof right));
            break;
        }
    }
    free(data);
}

static int batches[2]; /* that were, and while collecting: the same ones again */

/* What the compiled tier gets, for compiling is what takes the time: of each dtype some reductions (small kernels, and
 * the same text again and again), and every `sparse`-th set of axes, another one in each batch. */
static bool for_compiler(const reduction *r, const input *x, int sparse) {
    static const unsigned ops[DTYPES] = {[KRF_BOOL] = 1u << ANY | 1u << ALL,
                                         [KRF_I8] = 1u << SUM | 1u << MAX,
                                         [KRF_U16] = 1u << MIN | 1u << PROD,
                                         [KRF_U64] = 1u << MAX,
                                         [KRF_F16] = 1u << SUM | 1u << MEAN,
                                         [KRF_BF16] = 1u << SUM | 1u << MIN,
                                         [KRF_I32] = 1u << SUM | 1u << MIN,
                                         [KRF_I64] = 1u << PROD,
                                         [KRF_F32] = 1u << SUM | 1u << MEAN | 1u << MAX,
                                         [KRF_F64] = 1u << SUM | 1u << PROD | 1u << MIN};
    const bool some = r->as_f32 ? bytes_of(x->dtype) == 2 : (ops[x->dtype] >> r->op & 1) != 0;
    return some && ((int)r->mask + batches[collecting]) % sparse == 0
           && r->keepdims == (r->mask % 2 == 1);
}

/* KRF_TEST_FEWER=3: each third reduction of a batch, others of the next. */
static bool for_device(const reduction *r, const input *x) {
    const int every = getenv("KRF_TEST_FEWER") != NULL ? atoi(getenv("KRF_TEST_FEWER")) : 1;
    return every < 2 || ((int)r->mask + (int)r->op + (int)x->dtype + batches[collecting]) % every == 0;
}

/* All reductions in one evaluation, in every run, each time with the axes named in another way. */
static void check_batch(int n_inputs, const input *inputs, int total, const reduction *all, int sparse) {
    int n = total;
    const reduction *list = all;
    reduction *some = calloc((size_t)total, sizeof *some);
    int *origin = calloc((size_t)total, sizeof *origin);
    outcome *want = calloc((size_t)n, sizeof *want);
    krf_array **arrays = calloc((size_t)n_inputs, sizeof *arrays), **outputs = calloc((size_t)n, sizeof *outputs);
    krf_expr *operands = calloc((size_t)n_inputs, sizeof *operands), *built = calloc((size_t)n, sizeof *built);
    uint64_t state = 3;
    char text[160];
    for (int i = 0; i < n; i++) {
        want[i] = collecting ? (outcome){.size = 0} : expected(&list[i], &inputs[list[i].input]);
    }
    for (int k = 0; k < all_runs.n; k++) {
        run *r = &all_runs.run[k];
        if (passed_over(r)) {
            continue;
        }
        n = 0;
        for (int i = 0; i < total; i++) {
            if (r->compiled ? for_compiler(&all[i], &inputs[all[i].input], sparse) : for_device(&all[i], &inputs[all[i].input])) {
                origin[n] = i;
                some[n++] = all[i];
            }
        }
        list = some;
        if (n == 0) {
            continue;
        }
        krf_graph *g = krf_graph_create(r->context);
        for (int i = 0; i < n_inputs; i++) {
            operands[i] = input_expr(r, g, &inputs[i], &arrays[i]);
        }
        for (int i = 0; i < n; i++) {
            const input *x = &inputs[list[i].input];
            built[i] = build(&list[i], x, operands[list[i].input], next_random(&state));
            if (!krf_expr_ok(built[i]) || krf_expr_dtype(built[i]) != want[origin[i]].dtype
                || krf_expr_rank(built[i]) != want[origin[i]].rank) {
                COMPLAIN("%s: %s, rank %d; expected %s, rank %d: %s", describe(&list[i], x, text, sizeof text),
                         name_of(krf_expr_dtype(built[i])), krf_expr_rank(built[i]), name_of(want[origin[i]].dtype),
                         want[origin[i]].rank, krf_graph_error(g));
            }
            outputs[i] = NULL;
        }
        krf_status status = krf_eval_many(n, built, outputs);
        if (status != KRF_OK) {
            COMPLAIN("%s: %s and others: %s: %s", r->label, describe(&list[0], &inputs[0], text, sizeof text),
                     krf_status_name(status), krf_error_message());
        }
        for (int i = 0; i < n; i++) {
            if (status == KRF_OK && !collecting) {
                check_result(r, &list[i], &inputs[list[i].input], &want[origin[i]], outputs[i]);
            }
            krf_array_release(outputs[i]);
        }
        krf_graph_destroy(g);
        for (int i = 0; i < n_inputs; i++) {
            krf_array_release(arrays[i]);
        }
    }
    for (int i = 0; i < total; i++) {
        free(want[i].data);
    }
    free(want);
    free(some);
    free(origin);
    free(arrays);
    free(outputs);
    free(operands);
    free(built);
}

/* Whether the next batch is one of this process. Asked before its operands are made, which takes longer than to check them. */
static bool next_batch(void) { return in_shard(batches[collecting]++); }

/* Whether the reduction is defined: the largest of nothing is not, unless nothing is asked for. */
static bool defined(reduction_op op, const input *x, unsigned mask) {
    bool empty = false, none = false;
    for (int i = 0; i < x->rank; i++) {
        empty |= (mask >> i & 1) != 0 && x->shape[i] == 0;
        none |= (mask >> i & 1) == 0 && x->shape[i] == 0;
    }
    return (op != MAX && op != MIN) || !empty || none;
}

/* All reductions of one operand over all sets of axes, or over those in `masks` (a bit set of masks). */
static int all_of(reduction *list, int index, const input *x, uint32_t masks, bool both_keepdims) {
    int n = 0;
    for (unsigned mask = 0; mask < 1u << x->rank; mask++) {
        for (int op = 0; op < REDUCTIONS && (masks >> mask & 1) != 0; op++) {
            for (int keep = 0; keep < (both_keepdims ? 2 : 1); keep++) {
                if (defined((reduction_op)op, x, mask)) {
                    list[n++] = (reduction){.input = index,
                                            .op = (reduction_op)op,
                                            .mask = mask,
                                            .keepdims = both_keepdims ? keep == 1 : mask % 2 == 1};
                }
            }
        }
    }
    return n;
}

/* ---- the tests ---- */

static reduction pool[4096];

/* Reduced extents around every border of the tree; few and many results; reduced axis inside and outside. */
static void test_extents(void **unused) {
    (void)unused;
    static const int64_t extents[] = {0,   1,   2,    7,    8,    9,    31,   255,  256,
                                      257, 511, 1000, 1023, 1024, 1025, 1536, 1792, 2049, 5000, 70000, 200001};
    static const int64_t kept[] = {1, 3, 300};
    for (size_t e = 0; e < sizeof extents / sizeof *extents; e++) {
        for (size_t k = 0; k < 3; k++) {
            if (extents[e] * kept[k] > 1000000 && extents[e] != 5000) {
                continue;
            }
            if (!next_batch()) {
                continue;
            }
            input inputs[2 * DTYPES];
            int n = 0, n_inputs = 0;
            for (int d = 0; d < DTYPES; d++) {
                bool large = extents[e] * kept[k] > 100000;
                if (large && d != KRF_F32 && (d != KRF_I32 || k == 2)) {
                    continue; /* time */
                }
                inputs[n_inputs] =
                    make_input((krf_dtype)d, PLAIN, 2, (int64_t[]){kept[k], extents[e]}, EVERYDAY, 10 * e + k);
                n += all_of(pool + n, n_inputs, &inputs[n_inputs], 1u << 2, false);
                n_inputs++;
                inputs[n_inputs] =
                    make_input((krf_dtype)d, PLAIN, 2, (int64_t[]){extents[e], kept[k]}, EVERYDAY, 20 * e + k);
                n += all_of(pool + n, n_inputs, &inputs[n_inputs], 1u << 1, false);
                n_inputs++;
            }
            check_batch(n_inputs, inputs, n, pool, 1);
            for (int i = 0; i < n_inputs; i++) {
                free(inputs[i].memory);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Every rank, every set of axes, every layout. Kernels are cut by shape and axes, so each of these has many. */
static void test_shapes(void **unused) {
    (void)unused;
    static const struct {
        int rank;
        int64_t shape[RANK];
        uint32_t masks;
    } shapes[] = {
        {0, {0}, 1u},
        {1, {0}, 3u},
        {1, {1300}, 3u},
        {2, {5, 270}, 15u},
        {2, {1100, 64}, 2u}, /* columns for two blocks of a GPU */
        {2, {0, 3}, 15u},
        {2, {3, 0}, 15u},
        {3, {4, 1, 33}, 255u},
        {3, {3, 40, 29}, 255u},
        {3, {2, 0, 5}, 255u},
        {4, {3, 4, 5, 6}, 0xffffu},
        {5, {2, 3, 1, 5, 4}, 0x88215a4du},
        {5, {2, 2, 3, 2, 60}, 0x92481234u},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (int w = 0; w < WAYS; w++) {
            if (!next_batch()) {
                continue;
            }
            input inputs[DTYPES];
            int n = 0, n_inputs = 0;
            for (int d = 0; d < DTYPES; d++) {
                /* Layout is a matter of kernels, dtype one of arithmetic: not all pairs on each shape. */
                if (s > 2 && (d + w + (int)s) % 3 != 0) {
                    continue;
                }
                inputs[n_inputs] =
                    make_input((krf_dtype)d, (way)w, shapes[s].rank, shapes[s].shape, EVERYDAY, 7 * s + (uint64_t)w);
                n += all_of(pool + n, n_inputs, &inputs[n_inputs], shapes[s].masks, shapes[s].rank < 4);
                n_inputs++;
            }
            check_batch(n_inputs, inputs, n, pool, shapes[s].rank < 3 ? 2 : 7);
            for (int i = 0; i < n_inputs; i++) {
                free(inputs[i].memory);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* NaN, infinities, zeros of both signs and extreme integers, also where they are rare among many; nothing but -0;
 * nothing but true. */
static void test_specials(void **unused) {
    (void)unused;
    input inputs[6 * DTYPES];
    int n = 0, n_inputs = 0;
    if (!next_batch()) {
        return;
    }
    for (int d = 0; d < DTYPES; d++) {
        for (int turn = 0; turn < 6; turn++) {
            const int64_t shape[2] = {turn < 4 ? 200 : 3, turn % 3 == 0 ? 3 : turn == 5 ? 2000 : 300};
            input *x = &inputs[n_inputs];
            *x = make_input((krf_dtype)d, PLAIN, 2, shape, turn < 3 ? SPECIAL : ALL_EQUAL, (uint64_t)turn);
            if (turn == 5) { /* one that differs at the far end */
                put(x->memory, x->count - 1,
                    convert((value){.dtype = KRF_F64, .f = is_real(x->dtype) ? (double)NAN : 0}, x->dtype));
            }
            n += all_of(pool + n, n_inputs, x, 15u, false);
            n_inputs++;
        }
    }
    check_batch(n_inputs, inputs, n, pool, 2);
    for (int i = 0; i < n_inputs; i++) {
        free(inputs[i].memory);
    }
    assert_int_equal(failures, 0);
}

/* What is computed before and after a reduction is part of its kernel and must not change it. */
static void test_fused(void **unused) {
    (void)unused;
    static const int64_t shapes[][2] = {{1, 4000}, {37, 1030}, {1030, 37}, {300, 8}, {1, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        if (!next_batch()) {
            continue;
        }
        input inputs[4];
        int n = 0;
        for (int k = 0; k < 4; k++) {
            inputs[k] = make_input(k % 2 == 0 ? KRF_F32 : KRF_F64, k < 2 ? PLAIN : TRANSPOSED, 2, shapes[s], EVERYDAY,
                                   5 * s + (uint64_t)k);
            int first = n;
            n += all_of(pool + n, k, &inputs[k], k < 2 ? 15u : 6u, false);
            int m = 0;
            for (int i = first; i < n; i++) { /* any and all have no floats to compute on */
                pool[first + m] = pool[i];
                pool[first + m].prologue = i % 3 != 0;
                pool[first + m].epilogue = i % 3 != 1;
                m += pool[i].op < ANY;
            }
            n = first + m;
        }
        check_batch(4, inputs, n, pool, 1);
        for (int k = 0; k < 4; k++) {
            free(inputs[k].memory);
        }
    }
    assert_int_equal(failures, 0);
}

/* More chunks than lanes, chunks longer than the least, and more chunks than shared memory has room for. */
static void test_large(void **unused) {
    (void)unused;
    static const int64_t extents[] = {(INT64_C(1) << 21) + 77, (INT64_C(5) << 20) + 1, (INT64_C(1) << 22) - 5};
    for (int k = 0; k < 3; k++) {
        if (!next_batch()) {
            continue;
        }
        input x = make_input(k == 0 ? KRF_F32 : KRF_F64, PLAIN, 1, &extents[k], EVERYDAY, 99);
        const reduction both[2] = {{.op = SUM, .mask = 1}, {.op = k == 0 ? MAX : PROD, .mask = 1}};
        check_batch(1, &x, 2, both, 1);
        free(x.memory);
    }
    if (next_batch()) {
        input x = make_input(KRF_F32, STEP, 2, (int64_t[]){2, (INT64_C(1) << 20) + 5}, EVERYDAY, 98);
        const reduction every[2] = {{.op = SUM, .mask = 3}, {.op = MEAN, .mask = 2}};
        check_batch(1, &x, 2, every, 1);
        free(x.memory);
    }
    assert_int_equal(failures, 0);
}

/* Columns that a thread of the CPU takes all together, a few more than it takes of many, in 64 chunks; without gaps and with them. One chunk fewer: as others. */
static void test_columns_together(void **unused) {
    (void)unused;
    static const struct {
        krf_dtype dtype;
        way way;
        int64_t rows, columns;
    } cases[] = {{KRF_F32, PLAIN, 64600, 257}, {KRF_F32, VIEW, 64600, 270}, {KRF_I8, PLAIN, 64600, 1024}, {KRF_F32, PLAIN, 64512, 257}, {KRF_F64, PLAIN, 65537, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!next_batch()) {
            continue;
        }
        input x = make_input(cases[i].dtype, cases[i].way, 2, (int64_t[]){cases[i].rows, cases[i].columns}, EVERYDAY, 96 + i);
        const reduction both[2] = {{.op = SUM, .mask = 1}, {.op = MAX, .mask = 1}};
        check_batch(1, &x, 2, both, 1);
        free(x.memory);
    }
    assert_int_equal(failures, 0);
}

/* Integers as f32: their sums round, which sums in integers would not. Whole arrays, rows and columns, of one chunk and of several. */
static void test_integers_as_f32(void **unused) {
    (void)unused;
    static const krf_dtype dtypes[] = {KRF_U16, KRF_I16, KRF_U8, KRF_I8, KRF_I32, KRF_U64};
    static const int64_t shapes[][2] = {{300, 1000}, {37, 4100}, {7, 70001}, {4100, 37}};
    enum { INTEGERS = 6, EACH = 8 };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        if (!next_batch()) {
            continue;
        }
        input inputs[INTEGERS];
        reduction list[INTEGERS * EACH];
        int n = 0;
        for (int d = 0; d < INTEGERS; d++) {
            inputs[d] = make_input(dtypes[d], s % 3 == 2 ? STEP : PLAIN, 2, shapes[s], LARGE, 41 * s + (uint64_t)d);
            for (unsigned mask = 1; mask <= 3; mask++) {
                list[n++] = (reduction){.input = d, .op = SUM, .mask = mask, .keepdims = mask % 2 == 1, .as_f32 = true};
                list[n++] = (reduction){.input = d, .op = SUM, .mask = mask, .keepdims = mask % 2 == 1};
            }
            list[n++] = (reduction){.input = d, .op = MEAN, .mask = 2, .as_f32 = true};
            list[n++] = (reduction){.input = d, .op = SUM, .mask = 2, .as_f32 = true, .prologue = true, .epilogue = true};
        }
        check_batch(INTEGERS, inputs, n, list, 1);
        for (int d = 0; d < INTEGERS; d++) {
            free(inputs[d].memory);
        }
    }
    assert_int_equal(failures, 0);
}

/* Columns of integers, which vectors of up to 16 hold: of blocks that are full, and that are not; of one chunk, of several, and of more than a column has blocks. One
 * reduction at a time, then two: of several kinds, some round, and are taken in the order of lanes. */
static void test_integer_columns(void **unused) {
    (void)unused;
    static const krf_dtype dtypes[] = {KRF_I8, KRF_U8, KRF_I16, KRF_U16, KRF_I32, KRF_I64};
    static const int64_t shapes[][2] = {{129, 16}, {1000, 144}, {1023, 400}, {1025, 64}, {2300, 272}, {4100, 128}, {300000, 16}};
    static const reduction_op ops[] = {SUM, MAX, PROD, MIN};
    enum { INTEGERS = 6 };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int kinds = s == 6 ? 1 : INTEGERS; /* time */
        input inputs[INTEGERS];
        reduction list[2 * INTEGERS];
        for (int d = 0; d < kinds; d++) {
            inputs[d] = make_input(dtypes[d], PLAIN, 2, shapes[s], LARGE, 43 * s + (uint64_t)d);
        }
        for (size_t o = 0; o <= sizeof ops / sizeof *ops; o++) {
            int n = 0;
            if (!next_batch()) {
                continue;
            }
            for (int d = 0; d < kinds; d++) {
                list[n++] = (reduction){.input = d, .op = ops[o % 4], .mask = 1, .keepdims = true};
                if (o == 4) {
                    list[n++] = (reduction){.input = d, .op = MAX, .mask = 1, .keepdims = true};
                }
            }
            check_batch(kinds, inputs, n, list, 1);
        }
        for (int d = 0; d < kinds; d++) {
            free(inputs[d].memory);
        }
    }
    assert_int_equal(failures, 0);
}

/* Rows that a warp or less reduces: every length at a border of vectors and of threads that share a row, and numbers of rows that fill no warp or block. */
static void test_short_rows(void **unused) {
    (void)unused;
    static const int64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,   12,  15,  16,  17,  24,  31,  32,
                                      33, 48, 63, 64, 65, 72, 96, 100, 127, 128, 129, 136, 192, 255, 256, 257};
    static const int64_t kept[] = {2, 31, 33, 1000};
    static const krf_dtype dtypes[] = {KRF_I8, KRF_F16, KRF_F32, KRF_F64, KRF_U64};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        if (!in_shard((int64_t)l)) {
            continue;
        }
        input inputs[3 * 5];
        int n = 0, n_inputs = 0;
        for (int d = 0; d < 5; d++) {
            for (int w = PLAIN; w <= STEP; w++) {
                if ((int)((l + (size_t)d) % 3) != w - PLAIN) {
                    continue; /* each dtype in each way, at every third length */
                }
                int64_t rows_now = kept[(l + (size_t)d + (size_t)w) % (lengths[l] <= 33 ? 4 : 3)];
                input *x = &inputs[n_inputs];
                *x = make_input(dtypes[d], (way)w, 2, (int64_t[]){rows_now, lengths[l]}, EVERYDAY, 31 * l + (uint64_t)(5 * d + w));
                int first = n;
                n += all_of(pool + n, n_inputs++, x, 1u << 2, false);
                for (int i = first; i < n; i++) {
                    const bool real = is_real(dtypes[d]) && !is_half(dtypes[d]) && pool[i].op < ANY;
                    pool[i].prologue = real && i % 2 == 0;
                    pool[i].epilogue = real && i % 3 == 0;
                }
            }
        }
        check_batch(n_inputs, inputs, n, pool, 1);
        for (int i = 0; i < n_inputs; i++) {
            free(inputs[i].memory);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- short rows: operands of every kind ---- */

enum { SHORT_ROWS = 45, SHORT_MOST = 256 };

typedef struct short_data {
    int64_t n;
    float x[SHORT_ROWS * SHORT_MOST], each[SHORT_ROWS], along[SHORT_MOST];
    int64_t places[SHORT_MOST];
} short_data;

static float tree_of(reduction_op op, const double *items, int64_t n) { return (float)canonical_tree(op, true, items, n); }

/* Row o of the expressions below, from their definitions. */
static float short_expected(int which, const short_data *s, int64_t o) {
    double items[SHORT_MOST], squares[SHORT_MOST];
    const float *x = s->x + o * s->n;
    int64_t largest = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const float v = x[i], twin = s->x[(SHORT_ROWS - 1 - o) * s->n + i];
        squares[i] = (double)(v * v);
        largest = v > x[largest] ? i : largest;
        switch (which) {
        case 0: items[i] = (double)(v * s->each[o]); break;
        case 1: items[i] = (double)(v * s->along[i]); break;
        case 2: items[i] = (double)(i < 3 ? v : v * v); break;
        case 3: items[i] = (double)x[s->places[i]]; break;
        case 4: items[i] = (double)(v - twin); break;
        default: items[i] = (double)v; break;
        }
    }
    switch (which) {
    case 5: return tree_of(MAX, items, s->n) - tree_of(SUM, items, s->n) * tree_of(MIN, squares, s->n);
    case 6: return (float)largest;
    default: return tree_of(SUM, items, s->n);
    }
}

static void check_short(run *r, const short_data *s) {
    static const char *const texts[] = {"sum(x * y[:, None], axis=1)",
                                        "sum(x * w, axis=1)",
                                        "sum(where(arange(%d) < 3, x, x * x), axis=1)",
                                        "sum(take(x, i, axis=1), axis=1)",
                                        "sum(x - x[::-1], axis=1)",
                                        "max(x, axis=1) - sum(x, axis=1) * min(x * x, axis=1)",
                                        "f32(argmax(x, axis=1))"};
    const int64_t shape[2] = {SHORT_ROWS, s->n};
    krf_array *arrays[4] = {NULL};
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 2, shape, s->x, &arrays[0]), KRF_OK);
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 1, shape, s->each, &arrays[1]), KRF_OK);
    assert_int_equal(krf_array_from_host(r->context, KRF_F32, 1, shape + 1, s->along, &arrays[2]), KRF_OK);
    assert_int_equal(krf_array_from_host(r->context, KRF_I64, 1, shape + 1, s->places, &arrays[3]), KRF_OK);
    const krf_binding bindings[4] = {krf_bind_array("x", arrays[0]), krf_bind_array("y", arrays[1]), krf_bind_array("w", arrays[2]),
                                     krf_bind_array("i", arrays[3])};
    for (int t = 0; t < 7; t++) {
        krf_graph *g = krf_graph_create(r->context);
        krf_array *out = NULL;
        krf_expr e;
        char text[80];
        snprintf(text, sizeof text, texts[t], (int)s->n);
        if (krf_parse(g, text, bindings, 4, &e) != KRF_OK || krf_eval(e, &out) != KRF_OK) {
            fail_msg("%s: %s", text, krf_error_message());
        }
        float *data = collecting ? NULL : to_host(out, KRF_F32, 1, shape, text);
        for (int64_t o = 0; data != NULL && o < SHORT_ROWS; o++) {
            const float want = short_expected(t, s, o);
            if (memcmp(&data[o], &want, sizeof want) != 0) {
                COMPLAIN("%s: %s: row %" PRId64 " of length %" PRId64 ": %a, the canonical tree gives %a", r->label, text, o, s->n, (double)data[o],
                         (double)want);
                break;
            }
        }
        free(data);
        krf_array_release(out);
        krf_graph_destroy(g);
    }
    for (int k = 0; k < 4; k++) {
        krf_array_release(arrays[k]);
    }
}

static void test_short_operands(void **unused) {
    (void)unused;
    static const int64_t lengths[] = {1, 2, 3, 4, 8, 15, 16, 33, 64, 100, 127, 128, 129, 256};
    short_data *s = calloc(1, sizeof *s);
    uint64_t state = 77;
    assert_non_null(s);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        s->n = lengths[l];
        for (int64_t i = 0; i < SHORT_ROWS * s->n; i++) {
            s->x[i] = (float)(random_unit(&state) - 0.5);
        }
        for (int64_t o = 0; o < SHORT_ROWS; o++) {
            s->each[o] = (float)random_unit(&state);
        }
        for (int64_t i = 0; i < s->n; i++) {
            s->along[i] = (float)random_unit(&state);
            s->places[i] = (i * 7 + 3) % s->n;
        }
        for (int k = 0; k < all_runs.n && in_shard((int64_t)l); k++) {
            if (passed_over(&all_runs.run[k])) {
                continue;
            }
            check_short(&all_runs.run[k], s);
        }
    }
    free(s);
    assert_int_equal(failures, 0);
}

/* The tree is accurate: against the exact sum, by Neumaier's compensation in long double. */
static void test_accuracy(void **unused) {
    (void)unused;
    run *r = &all_runs.run[0];
    static const int64_t sizes[] = {10, 1000, 70000, 3000000};
    for (int s = 0; s < 4; s++) {
        for (int d = KRF_F32; d <= KRF_F64; d++) {
            for (int one_sign = 0; one_sign < 2; one_sign++) {
                if (!in_shard(s + 2 * (d == KRF_F64) + one_sign)) {
                    continue;
                }
                input x = make_input((krf_dtype)d, PLAIN, 1, &sizes[s], EVERYDAY, 1000 + (uint64_t)s);
                long double sum = 0, lost = 0, size = 0;
                for (int64_t i = 0; i < sizes[s]; i++) {
                    value v = get(x.memory, x.dtype, i);
                    v.f = one_sign != 0 ? fabs(v.f) : v.f;
                    put(x.memory, i, v);
                    long double now = (long double)v.f, next = sum + now;
                    lost += fabsl(sum) >= fabsl(now) ? (sum - next) + now : (now - next) + sum;
                    sum = next;
                    size += fabsl(now);
                }
                krf_graph *g = krf_graph_create(r->context);
                krf_array *array, *out = NULL;
                krf_expr e = input_expr(r, g, &x, &array);
                assert_int_equal(krf_eval(krf_sum(e, 0, NULL, false), &out), KRF_OK);
                unsigned char bytes[8];
                assert_int_equal(krf_array_to_host(out, bytes, bytes_of((krf_dtype)d)), KRF_OK);
                double error = (double)(fabsl((long double)get(bytes, (krf_dtype)d, 0).f - (sum + lost)) / size);
                if (!(error <= (d == KRF_F32 ? 1e-6 : 1e-14))) {
                    COMPLAIN("sum of %" PRId64 " %s: relative error %g", sizes[s], name_of((krf_dtype)d), error);
                }
                krf_array_release(out);
                krf_array_release(array);
                krf_graph_destroy(g);
                free(x.memory);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void expect_error(krf_graph *g, krf_expr x, krf_status status, const char *what) {
    krf_array *out = NULL;
    if (krf_expr_ok(x) || krf_graph_status(g) != status || krf_eval(x, &out) != status || out != NULL) {
        COMPLAIN("%s: %s, not %s", what, krf_status_name(krf_graph_status(g)), krf_status_name(status));
    }
    krf_graph_reset(g);
}

static void test_refused(void **unused) {
    (void)unused;
    run *r = &all_runs.run[0];
    input x = make_input(KRF_F32, PLAIN, 2, (int64_t[]){3, 4}, EVERYDAY, 1),
          none = make_input(KRF_F32, PLAIN, 2, (int64_t[]){3, 0}, EVERYDAY, 1);
    krf_graph *g = krf_graph_create(r->context);
    krf_array *a, *b;
    krf_expr e = input_expr(r, g, &x, &a), f = input_expr(r, g, &none, &b);
    expect_error(g, krf_max(f, 0, NULL, false), KRF_E_SHAPE, "max over nothing");
    f = krf_input(g, b);
    expect_error(g, krf_min(f, 1, (int[]){-1}, true), KRF_E_SHAPE, "min over nothing");
    for (int axis = -4; axis <= 3; axis++) {
        e = krf_input(g, a);
        if (axis < -2 || axis > 1) {
            expect_error(g, krf_sum(e, 1, &axis, false), KRF_E_ARGUMENT, "an axis out of range");
        }
    }
    e = krf_input(g, a);
    expect_error(g, krf_sum(e, 2, (int[]){0, -2}, false), KRF_E_ARGUMENT, "an axis given twice");
    krf_graph_destroy(g);
    krf_array_release(a);
    krf_array_release(b);
    free(x.memory);
    free(none.memory);
    assert_int_equal(failures, 0);
}

/* Weak scalars, constants and stretched values under a reduction: no array is read at all, or one element many times.
 */
static void test_constants(void **unused) {
    (void)unused;
    for (int k = 0; k < all_runs.n; k++) {
        krf_graph *g = krf_graph_create(all_runs.run[k].context);
        const int64_t shape[2] = {7, 300};
        krf_expr two = krf_broadcast_to(krf_cast(krf_real(g, 2.25), KRF_F32), 2, shape);
        krf_expr three = krf_broadcast_to(krf_cast(krf_int(g, 3), KRF_I32), 2, shape);
        krf_expr low = krf_broadcast_to(krf_cast(krf_int(g, -128), KRF_I8), 2, shape); /* abs of it is itself */
        const krf_expr built[] = {krf_sum(krf_int(g, 5), 0, NULL, false),
                                  krf_mean(krf_real(g, 5.5), 0, NULL, true),
                                  krf_any(krf_real(g, NAN), 0, NULL, false),
                                  krf_sum(two, 0, NULL, false),
                                  krf_prod(three, 1, (int[]){1}, false),
                                  krf_max(krf_add(two, three), 1, (int[]){0}, true),
                                  krf_mean(three, 0, NULL, true),
                                  krf_sum(krf_equal(two, two), 1, (int[]){-1}, false),
                                  krf_norm1(low, 0, NULL, false),
                                  krf_norminf(krf_cast(low, KRF_I32), 0, NULL, false)};
        uint64_t power = 1;
        for (int i = 0; i < 300; i++) {
            power *= 3;
        }
        const value want[] = {{.dtype = KRF_I64, .i = 5},
                              {.dtype = KRF_F64, .f = 5.5},
                              {.dtype = KRF_BOOL, .i = 1},
                              {.dtype = KRF_F32, .f = 7 * 300 * 2.25},
                              {.dtype = KRF_I64, .i = (int64_t)power},
                              {.dtype = KRF_F32, .f = 5.25},
                              {.dtype = KRF_F64, .f = 3},
                              {.dtype = KRF_I64, .i = 300},
                              {.dtype = KRF_I64, .i = 7 * 300 * 128},
                              {.dtype = KRF_I32, .i = 128}};
        krf_array *outputs[10] = {NULL};
        krf_status status = krf_eval_many(10, built, outputs);
        if (status != KRF_OK) {
            COMPLAIN("constants: %s: %s", krf_status_name(status), krf_error_message());
        }
        for (int i = 0; i < 10 && status == KRF_OK; i++) {
            char text[64];
            void *data =
                to_host(outputs[i], want[i].dtype, krf_expr_rank(built[i]), krf_expr_shape(built[i]), "constants");
            for (int64_t j = 0; data != NULL && j < krf_array_size(outputs[i]); j++) {
                if (!same(get(data, want[i].dtype, j), want[i])) {
                    COMPLAIN("%s: reduction %d of constants gave %s", all_runs.run[k].label, i,
                             show(get(data, want[i].dtype, j), text, sizeof text));
                    break;
                }
            }
            free(data);
            krf_array_release(outputs[i]);
        }
        krf_graph_destroy(g);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_on(open_noted_runs(&all_runs, true),
                  TESTS(cmocka_unit_test(test_refused), cmocka_unit_test(test_constants), noted_test(test_extents), noted_test(test_shapes), noted_test(test_specials),
                        noted_test(test_fused), noted_test(test_large), noted_test(test_columns_together), cmocka_unit_test(test_accuracy), noted_test(test_short_rows),
                        noted_test(test_short_operands), noted_test(test_integers_as_f32), noted_test(test_integer_columns)));
}
