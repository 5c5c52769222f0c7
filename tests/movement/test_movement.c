/* What moves elements, against what NumPy gives (cases.def, made by make_cases.py): for several dtypes, in every run. Then the C functions against the text
 * form, errors, how many kernels there are, and outputs that are written over inputs. */
#include "ops/common.h"

#define LIST(...) {__VA_ARGS__}

typedef struct example {
    const char *program;
    int rank;
    int64_t shape[KRF_MAX_RANK];
    int64_t values[512];
} example;

static const example examples[] = {
#define CASE(program, rank, shape, ...) {program, rank, shape, __VA_ARGS__},
#include "movement/cases.def"
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static runs all;

/* 1, 2, 3, ... */
static krf_array *counting(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape) {
    int64_t size = 1;
    for (int i = 0; i < rank; i++) {
        size *= shape[i];
    }
    char *data = malloc((size_t)size * 8 + 8);
    assert_non_null(data);
    for (int64_t i = 0; i < size; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = i + 1}, dtype));
    }
    krf_array *a = NULL;
    assert_int_equal(krf_array_from_host(context, dtype, rank, shape, data, &a), KRF_OK);
    free(data);
    return a;
}

static krf_array *places(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, int n, const int64_t *values) {
    char data[512];
    krf_array *a = NULL;
    for (int i = 0; i < n; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = values[i]}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, rank, shape, data, &a), KRF_OK);
    return a;
}

enum { INPUTS = 7 };

static void make_inputs(krf_context *context, krf_dtype dtype, krf_dtype index, krf_array **arrays, krf_binding *bindings) {
    static const char *const names[INPUTS] = {"x", "v", "m", "z", "s", "i", "j"};
    arrays[0] = counting(context, dtype, 3, (int64_t[]){2, 3, 4});
    arrays[1] = counting(context, dtype, 1, (int64_t[]){5});
    arrays[2] = counting(context, dtype, 2, (int64_t[]){3, 4});
    arrays[3] = counting(context, dtype, 2, (int64_t[]){0, 3});
    arrays[4] = places(context, dtype, 0, NULL, 1, (int64_t[]){7});
    arrays[5] = places(context, index, 2, (int64_t[]){2, 3}, 6, (int64_t[]){2, -1, 0, 1, 1, -3});
    arrays[6] = places(context, index, 1, (int64_t[]){3}, 3, (int64_t[]){0, 3, -2});
    for (int k = 0; k < INPUTS; k++) {
        bindings[k] = krf_bind_array(names[k], arrays[k]);
    }
}

static void release(krf_array **arrays) {
    for (int k = 0; k < INPUTS; k++) {
        krf_array_release(arrays[k]);
    }
}

static void compare(const char *what, const char *label, krf_array *got, krf_dtype cast, const example *want) {
    char data[4096], a[64], b[64];
    int64_t size = krf_array_size(got);
    assert_true((size_t)size * krf_dtype_size(krf_array_dtype(got)) <= sizeof data);
    assert_int_equal(krf_array_rank(got), want->rank);
    for (int i = 0; i < want->rank; i++) {
        assert_int_equal(krf_array_shape(got)[i], want->shape[i]);
    }
    assert_int_equal(krf_array_to_host(got, data, (size_t)size * krf_dtype_size(krf_array_dtype(got))), KRF_OK);
    for (int64_t i = 0; i < size; i++) {
        value expected = convert(convert((value){.dtype = KRF_I64, .i = want->values[i]}, cast), krf_array_dtype(got));
        value found = get(data, krf_array_dtype(got), i);
        if (!same(found, expected)) {
            fail_msg("%s, %s, %s: element %" PRId64 " is %s, not %s", what, label, krf_dtype_name(krf_array_dtype(got)), i, show(found, a, 64),
                     show(expected, b, 64));
        }
    }
}

/* u8 results beyond 255 wrap as NumPy's do; f16 holds all of these numbers. */
static void test_numpy(void **state) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_I64, KRF_U8, KRF_F16, KRF_F64}, indices[] = {KRF_I64, KRF_I8, KRF_I32, KRF_I16, KRF_I64};
    (void)state;
    for (int d = 0; d < 5; d++) {
        for (int r = 0; r < all.n; r++) {
            krf_context *context = all.run[r].context;
            krf_array *arrays[INPUTS];
            krf_binding bindings[INPUTS];
            make_inputs(context, dtypes[d], indices[d], arrays, bindings);
            for (int k = 0; k < EXAMPLES; k++) {
                const example *e = &examples[k];
                if ((all.run[r].compiled || all.cuda) && ((d > 0 && k % 4 != d % 4) || !in_shard(k))) {
                    continue; /* compilers take a while */
                }
                krf_graph *g = krf_graph_create(context);
                krf_expr y;
                krf_array *got = NULL;
                krf_status status = krf_parse(g, e->program, bindings, INPUTS, &y);
                status = status == KRF_OK ? krf_eval(y, &got) : status;
                if (status != KRF_OK) {
                    fail_msg("%s, %s: %s", e->program, all.run[r].label, krf_error_message());
                }
                compare(e->program, all.run[r].label, got, krf_array_dtype(got), e);
                krf_array_release(got);
                krf_graph_destroy(g);
            }
            release(arrays);
        }
    }
}

/* ---- the C functions: each against the text form ---- */

static krf_expr var[INPUTS];
#define X var[0]
#define V var[1]
#define M var[2]
#define I var[5]
#define J var[6]

static krf_expr section(krf_expr x, int sections, int axis, int which) {
    krf_expr parts[8];
    krf_split(x, sections, axis, parts);
    return parts[which];
}

static void test_functions(void **state) {
    static const int64_t widths[6] = {1, 0, 0, 2, 1, 1}, two[2] = {2, 2}, shifts[2] = {1, 2}, shape[2] = {2, 3};
    static const int axes[2] = {0, 2}, first[2] = {0, 1}, to[2] = {-1, 0};
    static const krf_range ranges[2] = {{1, KRF_NONE, 1}, {KRF_NONE, KRF_NONE, -2}};
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *context = all.run[r].context;
        krf_array *arrays[INPUTS];
        krf_binding bindings[INPUTS];
        make_inputs(context, KRF_F32, KRF_I32, arrays, bindings);
        krf_graph *g = krf_graph_create(context);
        for (int k = 0; k < INPUTS; k++) {
            var[k] = krf_input(g, arrays[k]);
        }
        const struct {
            krf_expr made;
            const char *text;
        } pairs[] = {
            {krf_take(X, I, 1), "take(x, i, axis=1)"},
            {krf_take_along_axis(X, krf_reshape(J, 3, (int64_t[]){1, 3, 1}), -2), "take_along_axis(x, j.reshape(1, 3, 1), axis=1)"},
            {krf_index(X, 2, (int[]){1, 2}, (krf_expr[]){I, J}), "x[:, i, j]"},
            {krf_index(X, 2, axes, (krf_expr[]){krf_remainder(I, krf_int(g, 2)), J}), "x[i % 2, :, j]"},
            {krf_index(X, 1, (int[]){2}, (krf_expr[]){J}), "x[..., j]"},
            {krf_diagonal(X, 1, 1, 2), "diagonal(x, 1, 1, 2)"},
            {krf_sliding_window_view(X, 2, two, (int[]){1, 2}), "sliding_window_view(x, (2, 2), axis=(1, 2))"},
            {krf_moveaxis(X, 2, first, to), "moveaxis(x, (0, 1), (-1, 0))"},
            {krf_swapaxes(X, 0, -1), "swapaxes(x, 0, 2)"},
            {krf_ravel(X), "ravel(x)"},
            {krf_atleast_1d(X), "x"},
            {krf_atleast_2d(V), "v[None]"},
            {krf_atleast_3d(V), "v[None, :, None]"},
            {section(X, 2, -1, 1), "x[..., 2:]"},
            {krf_roll(X, 1, shifts, NULL), "roll(x, 1)"},
            {krf_roll(X, 2, shifts, axes), "roll(x, (1, 2), axis=(0, 2))"},
            {krf_repeat(X, 3, 1), "repeat(x, 3, axis=1)"},
            {krf_tile(V, 2, two), "tile(v, (2, 2))"},
            {krf_pad(X, widths, KRF_PAD_CONSTANT, (krf_expr){0}), "pad(x, ((1, 0), (0, 2), (1, 1)))"},
            {krf_pad(X, widths, KRF_PAD_CONSTANT, krf_scalar(g, 5)), "pad(x, ((1, 0), (0, 2), (1, 1)), constant_values=5)"},
            {krf_pad(X, widths, KRF_PAD_EDGE, (krf_expr){0}), "pad(x, ((1, 0), (0, 2), (1, 1)), 'edge')"},
            {krf_pad(X, widths, KRF_PAD_REFLECT, (krf_expr){0}), "pad(x, ((1, 0), (0, 2), (1, 1)), mode=\"reflect\")"},
            {krf_pad(X, widths, KRF_PAD_WRAP, (krf_expr){0}), "pad(x, ((1, 0), (0, 2), (1, 1)), mode=wrap)"},
            {krf_concatenate(3, (krf_expr[]){M, krf_cast(M, KRF_I16), M}, 1), "concatenate((m, m, m), axis=1)"},
            {krf_stack(2, (krf_expr[]){M, M}, -1), "stack([m, m], axis=2)"},
            {krf_set_slice(X, 2, ranges, krf_scalar(g, 9)), "x.at[1:, ::-2].set(9)"},
            {krf_trace(M, -1, 0, 1), "trace(m, offset=-1)"},
            {krf_diff(X, 2, 1), "diff(x, n=2, axis=1)"},
            {krf_indices(g, 2, shape), "indices((2, 3))"},
        };
        for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
            krf_expr want;
            krf_expr both;
            krf_array *got = NULL;
            bool equal = false;
            if (krf_parse(g, pairs[k].text, bindings, INPUTS, &want) != KRF_OK) {
                fail_msg("%s", krf_error_message());
            }
            assert_true(krf_expr_ok(pairs[k].made));
            assert_int_equal(krf_expr_dtype(pairs[k].made), krf_expr_dtype(want));
            both = krf_all(krf_equal(pairs[k].made, want), 0, NULL, false);
            assert_int_equal(krf_expr_rank(pairs[k].made), krf_expr_rank(want));
            for (int i = 0; i < krf_expr_rank(want); i++) {
                assert_int_equal(krf_expr_shape(pairs[k].made)[i], krf_expr_shape(want)[i]);
            }
            assert_int_equal(krf_eval(both, &got), KRF_OK);
            assert_int_equal(krf_array_to_host(got, &equal, sizeof equal), KRF_OK);
            if (!equal) {
                fail_msg("%s: the C function gives something else", pairs[k].text);
            }
            krf_array_release(got);
        }
        krf_graph_destroy(g);
        release(arrays);
    }
}

/* ---- errors ---- */

static void test_errors(void **state) {
    static const struct {
        const char *text, *part;
        krf_status status;
    } wrong[] = {
        {"take(x, j, axis=3)", "take: axis 3 is out of range for rank 3", KRF_E_ARGUMENT},
        {"take(x, v, axis=0)", "take: the index is f32", KRF_E_DTYPE},
        {"take(x, j > 0, axis=0)", "the index is bool", KRF_E_DTYPE},
        {"take(z, j, axis=0)", "axis 0 of the array is empty", KRF_E_SHAPE},
        {"take_along_axis(x, j, axis=0)", "have to be of one rank", KRF_E_SHAPE},
        {"take_along_axis(m, i[:, :2] * 0, axis=1)", "(3, 4) and (2, 2)", KRF_E_SHAPE},
        {"x[i, j[:2]]", "do not broadcast", KRF_E_SHAPE},
        {"x[v]", "arrays of integers; this is f32", KRF_E_DTYPE},
        {"x[x > 1]", "use where for masks", KRF_E_DTYPE},
        {"x[i, i, i, i]", "4 indices for rank 3", KRF_E_SHAPE},
        {"x[2.5]", "made of integers", KRF_E_PARSE},
        {"pad(u8(x), 1, constant_values=300)", "pad: the integer 300 is out of the range of u8", KRF_E_DTYPE},
        {"pad(u8(x), 1, constant_values=-1)", "pad: the integer -1 is out of the range of u8", KRF_E_DTYPE},
        {"i8(m).at[0].set(128)", "at: the integer 128 is out of the range of i8", KRF_E_DTYPE},
        {"roll(x, 1, axis=4)", "roll: axis 4", KRF_E_ARGUMENT},
        {"roll(x, (1, 2, 3), axis=(0, 1))", "3 shifts and 2 axes", KRF_E_ARGUMENT},
        {"roll(x)", "roll needs shift", KRF_E_PARSE},
        {"roll(x, 1, axes=0)", "takes no keyword axes", KRF_E_PARSE},
        {"roll(x, 1, 0, 0)", "does not take this argument", KRF_E_PARSE},
        {"roll(x, 1, shift=2)", "twice", KRF_E_PARSE},
        {"repeat(x, -1, axis=0)", "a count of -1", KRF_E_ARGUMENT},
        {"tile(v, -2)", "a count of -2", KRF_E_ARGUMENT},
        {"pad(v, -1)", "a width of -1", KRF_E_ARGUMENT},
        {"pad(x, ((1, 1), (2, 2)))", "2 pairs of widths for rank 3", KRF_E_ARGUMENT},
        {"pad(v, 5, 'reflect')", "reflects at most 4 elements, not 5", KRF_E_SHAPE},
        {"pad(z, 1, 'edge')", "is empty", KRF_E_SHAPE},
        {"pad(v, 1, 'mirror')", "'constant', 'edge', 'reflect' or 'wrap'", KRF_E_PARSE},
        {"pad(v, 1, constant_values=v)", "rank 1, not 0", KRF_E_SHAPE},
        {"pad(v, 9223372036854775807)", "a width of", KRF_E_ARGUMENT},
        {"concatenate((x, m))", "(2, 3, 4) and (3, 4)", KRF_E_SHAPE},
        {"concatenate((m, x[0, :, :2]), axis=0)", "have to agree but for", KRF_E_SHAPE},
        {"concatenate((s, s))", "axis 0 is out of range for rank 0", KRF_E_ARGUMENT},
        {"concatenate(())", "0 arrays", KRF_E_ARGUMENT},
        {"concatenate((u64(j), i64(j)))", "no integer holds both", KRF_E_DTYPE},
        {"concatenate(v)", "a list of arrays", KRF_E_PARSE},
        {"stack((x, x[:1]))", "have to be the same", KRF_E_SHAPE},
        {"split(v, 2)[0]", "no 2 equal parts", KRF_E_SHAPE},
        {"split(m, 3)[3]", "part 3 of 3", KRF_E_ARGUMENT},
        {"split(m, 3)", "name one of them", KRF_E_PARSE},
        {"diagonal(v)", "diagonal: axis 1 is out of range for rank 1", KRF_E_ARGUMENT},
        {"diagonal(m, 0, 1, -1)", "both axes are 1", KRF_E_ARGUMENT},
        {"trace(v)", "has no diagonal", KRF_E_SHAPE},
        {"sliding_window_view(v, 6)", "a window of 6 along axis 0 of extent 5", KRF_E_SHAPE},
        {"sliding_window_view(x, 2)", "1 windows for rank 3", KRF_E_ARGUMENT},
        {"sliding_window_view(x, (2, 2), axis=0)", "2 windows and 1 axes", KRF_E_ARGUMENT},
        {"moveaxis(x, (0, 0), (1, 2))", "given twice", KRF_E_ARGUMENT},
        {"swapaxes(x, 0, 3)", "axis 3", KRF_E_ARGUMENT},
        {"diff(x, n=-1)", "0 to 1000 times", KRF_E_ARGUMENT},
        {"x.at[i].set(0)", "slices and integers", KRF_E_PARSE},
        {"x.at[0].put(0)", "set, add, multiply", KRF_E_PARSE},
        {"x.at[0].set(v)", "broadcast_to", KRF_E_SHAPE},
        {"x.at", "a subscript", KRF_E_PARSE},
        {"pad(v, 1, 'ed ge')", "a string is a single word", KRF_E_PARSE},
    };
    krf_context *context = all.run[0].context;
    krf_array *arrays[INPUTS];
    krf_binding bindings[INPUTS];
    (void)state;
    make_inputs(context, KRF_F32, KRF_I64, arrays, bindings);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        krf_graph *g = krf_graph_create(context);
        krf_expr y;
        krf_status status = krf_parse(g, wrong[k].text, bindings, INPUTS, &y);
        if (status != wrong[k].status || strstr(krf_graph_error(g), wrong[k].part) == NULL) {
            fail_msg("%s: %s: %s", wrong[k].text, krf_status_name(status), krf_graph_error(g));
        }
        assert_false(krf_expr_ok(y));
        krf_graph_destroy(g);
    }
    release(arrays);
}

/* Poison, NULL, other graphs: an error each, and nothing else. */
static void test_misuse(void **state) {
    krf_context *context = all.run[0].context;
    (void)state;
    for (int k = 0; k < 16; k++) {
        krf_graph *g = krf_graph_create(context), *other = krf_graph_create(context);
        krf_expr x = krf_arange(g, 0, 6, 1), alien = krf_arange(other, 0, 6, 1), poison = {g, 0}, y = poison, parts[2];
        switch (k) {
        case 0: y = krf_take(x, alien, 0); break;
        case 1: y = krf_take(x, poison, 0); break;
        case 2: y = krf_concatenate(2, (krf_expr[]){x, alien}, 0); break;
        case 3: y = krf_stack(0, &x, 0); break;
        case 4: y = krf_pad(x, NULL, KRF_PAD_EDGE, (krf_expr){0}); break;
        case 5: y = krf_pad(x, (int64_t[]){1, 1}, (krf_pad_mode)9, (krf_expr){0}); break;
        case 6: y = krf_roll(x, -1, NULL, NULL); break;
        case 7: y = krf_tile(x, 1, NULL); break;
        case 8: y = krf_set_slice(x, 1, NULL, x); break;
        case 9: y = krf_sliding_window_view(x, 2, (int64_t[]){1, 1}, NULL); break;
        case 10:
            krf_split(x, 2, 3, parts);
            y = parts[1];
            break;
        case 11: y = krf_indices(g, 2, NULL); break;
        case 12: y = krf_index(x, 1, (int[]){0}, &alien); break;
        case 13: y = krf_slice(x, 1, NULL); break;
        case 14: y = krf_ufunc_outer("add", x, (krf_expr){NULL, 0}); break;
        default: y = krf_index(x, 2, (int[]){0, 0}, (krf_expr[]){x, x}); break;
        }
        assert_false(krf_expr_ok(y));
        assert_true(k == 1 || k == 3 || krf_graph_status(g) != KRF_OK);
        krf_graph_destroy(g);
        krf_graph_destroy(other);
    }
}

/* ---- fusion, and outputs over inputs ---- */

static void test_kernels(void **state) {
    static const struct {
        const char *text;
        int kernels;
    } plans[] = {
        {"sum(roll(x, 3, axis=1) * x)", 1},
        {"sum(exp(pad(x, 2)) * 2)", 1},
        {"maximum(concatenate((x, y * 2)), 0) + 1", 1},
        {"sum(sliding_window_view(x * y, (3, 3)), axis=(2, 3))", 1},
        {"take(exp(x) + y, i, axis=0) * 2", 1},
        {"take(sum(x, axis=1), i)", 2},
        {"x.at[1:-1, 1:-1].set(0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]))", 1},
        {"roll(roll(x, 1, axis=0), 1, axis=1) + roll(x, -1, axis=0)", 1},
    };
    krf_context *context = all.run[0].context;
    (void)state;
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        krf_graph *g = krf_graph_create(context);
        krf_binding bindings[3] = {krf_bind_expr("x", krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){64, 48})),
                                   krf_bind_expr("y", krf_placeholder(g, "y", KRF_F32, 2, (int64_t[]){64, 48})),
                                   krf_bind_expr("i", krf_placeholder(g, "i", KRF_I32, 1, (int64_t[]){40}))};
        krf_expr y;
        krf_plan *plan = NULL;
        assert_int_equal(krf_parse(g, plans[k].text, bindings, 3, &y), KRF_OK);
        assert_int_equal(krf_compile(g, 1, &y, NULL, &plan), KRF_OK);
        if (krf_plan_kernels(plan) != plans[k].kernels) {
            fail_msg("%s: %d kernels, not %d", plans[k].text, krf_plan_kernels(plan), plans[k].kernels);
        }
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
}

/* An array rolled into its own memory: each element is read before, or instead of, being overwritten. */
static void test_in_place(void **state) {
    enum { N = 100000 };
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *context = all.run[r].context;
        int32_t *data = malloc(N * sizeof *data);
        krf_array *a = NULL;
        assert_non_null(data);
        for (int i = 0; i < N; i++) {
            data[i] = i;
        }
        assert_int_equal(krf_array_from_host(context, KRF_I32, 1, (int64_t[]){N}, data, &a), KRF_OK);
        krf_graph *g = krf_graph_create(context);
        krf_expr x = krf_input(g, a);
        assert_int_equal(krf_eval(krf_add(krf_roll(x, 1, (int64_t[]){77}, (int[]){0}), krf_scalar(g, 5)), &a), KRF_OK);
        assert_int_equal(krf_array_to_host(a, data, N * sizeof *data), KRF_OK);
        for (int i = 0; i < N; i++) {
            assert_int_equal(data[i], (i + N - 77) % N + 5);
        }
        krf_graph_destroy(g);
        krf_array_release(a);
        free(data);
    }
}

/* Into memory that holds none of the elements that strides alone would lead to, but those that the places do. */
static void test_overlap(void **state) {
    enum { N = 60000 };
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *context = all.run[r].context;
        int32_t *data = malloc(2 * N * sizeof *data);
        krf_array *a = NULL, *front = NULL, *back = NULL;
        assert_non_null(data);
        for (int i = 0; i < 2 * N; i++) {
            data[i] = i;
        }
        assert_int_equal(krf_array_from_host(context, KRF_I32, 1, (int64_t[]){2 * N}, data, &a), KRF_OK);
        assert_int_equal(krf_array_view(a, 1, (int64_t[]){N}, (int64_t[]){1}, 0, &front), KRF_OK);
        assert_int_equal(krf_array_view(a, 1, (int64_t[]){N}, (int64_t[]){1}, N / 2, &back), KRF_OK);
        krf_graph *g = krf_graph_create(context);
        krf_range backwards = {KRF_NONE, KRF_NONE, -1};
        krf_expr places = krf_slice(krf_arange(g, 0, N, 1), 1, &backwards);
        assert_int_equal(krf_eval(krf_take(krf_input(g, front), places, 0), &back), KRF_OK);
        assert_int_equal(krf_array_to_host(back, data, N * sizeof *data), KRF_OK);
        for (int i = 0; i < N; i++) {
            assert_int_equal(data[i], N - 1 - i);
        }
        krf_graph_destroy(g);
        krf_array_release(front);
        krf_array_release(back);
        krf_array_release(a);
        free(data);
    }
}

/* Other shifts and lengths are other arguments of the same kernel. */
static void test_shared_kernels(void **state) {
    krf_context *context = all.run[all.n - 1].context;
    krf_cache_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    (void)state;
    for (int64_t n = 1000; n < 1010; n++) {
        krf_array *a = counting(context, KRF_F32, 1, &n), *y = NULL;
        krf_graph *g = krf_graph_create(context);
        krf_expr x = krf_input(g, a), rest = krf_slice(x, 1, &(krf_range){1, KRF_NONE, 1}); /* of another length: parts of one are stored for themselves, where alignment tells kernels apart */
        assert_int_equal(krf_eval(krf_concatenate(2, (krf_expr[]){krf_roll(x, 1, (int64_t[]){n - 900}, (int[]){0}), rest}, 0), &y), KRF_OK);
        krf_array_release(y);
        krf_array_release(a);
        krf_graph_destroy(g);
        assert_int_equal(krf_context_cache_stats(context, n == 1000 ? &before : &after), KRF_OK);
    }
    assert_int_equal(after.compiled, before.compiled);
    assert_int_equal(after.disk_hits, before.disk_hits);
}

int main(void) {
    return run_on(open_runs(&all, false),
                  TESTS(cmocka_unit_test(test_numpy), cmocka_unit_test(test_functions), cmocka_unit_test(test_errors), cmocka_unit_test(test_misuse),
                        cmocka_unit_test(test_kernels), cmocka_unit_test(test_in_place), cmocka_unit_test(test_overlap), cmocka_unit_test(test_shared_kernels)));
}
