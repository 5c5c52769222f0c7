/* argmax and argmin against a loop that compares elements: every dtype, NaN and equal elements at several places, zeros of both signs, infinities and the
 * ends of the dtypes, every axis, rows that fill no vector, chunks and several of them. */
#include "ops/common.h"

static runs all_runs;

/* What elements are made of: ANY whatever; FEW some special values, again and again; ONE the same everywhere but at one place. */
typedef enum filling { ANY, FEW, ONE, FILLINGS } filling;

static value few(krf_dtype dtype, uint64_t bits) {
    static const double reals[] = {-0.0, 0.0, 1, -1, INFINITY, -(double)INFINITY, 0x1p-149, -0x1p-149};
    static const int64_t whole[] = {0, 1, -1, 7, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN};
    const value v = {.dtype = is_real(dtype) ? KRF_F64 : KRF_I64, .i = whole[bits & 7], .f = reals[bits & 7]};
    return convert(v, dtype);
}

static value element(krf_dtype dtype, filling how, bool nans, uint64_t *seed) {
    const uint64_t bits = next_random(seed);
    if (is_real(dtype) && nans && bits % 97 == 0) {
        return (value){.dtype = dtype, .f = bits >> 40 & 1 ? -(double)NAN : (double)NAN};
    }
    if (how == FEW) {
        return few(dtype, bits >> 8);
    }
    const double real = ldexp(random_unit(seed) - 0.5, (int)(bits >> 8 & 31) - 16);
    return how == ONE ? convert((value){.dtype = KRF_I64, .i = 3}, dtype)
                      : convert((value){.dtype = is_real(dtype) ? KRF_F64 : KRF_I64, .i = (int64_t)bits, .f = real}, dtype);
}

/* Whether a is to be found rather than b, which stands before it. */
static bool beats(value a, value b, bool smallest) {
    if (is_real(a.dtype)) {
        return !isnan(b.f) && (isnan(a.f) || (smallest ? a.f < b.f : a.f > b.f));
    }
    return smallest ? wide_of(a) < wide_of(b) : wide_of(a) > wide_of(b);
}

/* axis -1: over all. */
static int64_t place_of(const value *x, int rank, const int64_t *shape, int axis, int64_t result, bool smallest) {
    int64_t inner = 1, n = 1, best = 0;
    for (int i = 0; i < rank; i++) {
        inner *= axis >= 0 && i > axis ? shape[i] : 1;
        n *= axis < 0 || i == axis ? shape[i] : 1;
    }
    const value *first = x + result / inner * n * inner + result % inner;
    for (int64_t k = 1; k < n; k++) {
        best = beats(first[k * inner], first[best * inner], smallest) ? k : best;
    }
    return best;
}

static void check(krf_dtype dtype, int rank, const int64_t *shape, int axis, filling how, bool nans, bool keep, uint64_t seed) {
    int64_t size = 1, results = 1, left[4];
    int n_left = 0;
    for (int i = 0; i < rank; i++) {
        size *= shape[i];
        const bool gone = axis < 0 || i == axis;
        results *= gone ? 1 : shape[i];
        if (!gone || keep) {
            left[n_left++] = gone ? 1 : shape[i];
        }
    }
    char *memory = malloc((size_t)size * bytes_of(dtype) + 1);
    value *x = malloc((size_t)size * sizeof *x);
    assert_true(memory != NULL && x != NULL);
    for (int64_t i = 0; i < size; i++) {
        put(memory, i, element(dtype, how, nans, &seed));
        x[i] = get(memory, dtype, i);
    }
    if (how == ONE) { /* at one place of all, the last of them now and then */
        const int64_t at = seed % 3 == 0 ? size - 1 : random_below(&seed, size);
        put(memory, at, convert((value){.dtype = KRF_I64, .i = seed & 8 ? 4 : 2}, dtype));
        x[at] = get(memory, dtype, at);
    }
    for (int i = 0; i < all_runs.n; i++) {
        const run *r = &all_runs.run[i];
        if (passed_over(r)) {
            continue;
        }
        krf_array *in = NULL, *out[3] = {NULL};
        krf_graph *g = krf_graph_create(r->context);
        assert_int_equal(krf_array_from_host(r->context, dtype, rank, shape, memory, &in), KRF_OK);
        const int axes[1] = {i % 2 == 0 ? axis : axis - rank}, *of = axis < 0 ? NULL : axes;
        const krf_expr e = krf_input(g, in);
        const krf_expr built[3] = {krf_argmax(e, 1, of, keep), krf_argmin(e, 1, of, keep), krf_max(e, 1, of, keep)};
        if (krf_eval_many(3, built, out) != KRF_OK) {
            fail_msg("%s: %s", r->label, krf_error_message());
        }
        for (int smallest = 0; smallest < 2 && !collecting; smallest++) {
            char what[128];
            snprintf(what, sizeof what, "%s of %s, rank %d, axis %d, %" PRId64 " elements on %s", smallest ? "argmin" : "argmax", name_of(dtype), rank, axis,
                     size, r->label);
            void *got = to_host(out[smallest], KRF_I64, n_left, left, what);
            for (int64_t k = 0; got != NULL && k < results; k++) {
                const int64_t want = place_of(x, rank, shape, axis, k, smallest != 0);
                if (get(got, KRF_I64, k).i != want) {
                    COMPLAIN("%s: result %" PRId64 " is %" PRId64 ", not %" PRId64, what, k, get(got, KRF_I64, k).i, want);
                    break;
                }
            }
            free(got);
        }
        for (int k = 0; k < 3; k++) {
            krf_array_release(out[k]);
        }
        krf_array_release(in);
        krf_graph_destroy(g);
    }
    free(memory);
    free(x);
}

static void test_all(void **unused) {
    static const int64_t extents[] = {1, 2, 5, 17, 255, 256, 257, 1023, 1024, 1025, 4099, 20000, 70001};
    (void)unused;
    failures = 0;
    for (int d = 0; d < DTYPES; d++) {
        for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
            for (int how = 0; how < FILLINGS; how++) {
                check((krf_dtype)d, 1, &extents[i], -1, (filling)how, i % 3 == 1, i % 2 == 0, (uint64_t)(1000 * d + 10 * (int)i + how));
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_axes(void **unused) {
    static const int64_t shapes[][3] = {{3, 5, 7}, {40, 3, 300}, {2, 1500, 3}, {1, 1, 1}, {2, 2, 2049}};
    (void)unused;
    failures = 0;
    for (int d = 0; d < DTYPES; d++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            for (int axis = -1; axis < 3; axis++) {
                check((krf_dtype)d, 3, shapes[i], axis, (filling)((d + axis + 1) % FILLINGS), axis % 2 == 0, axis == 1, (uint64_t)(100 * d + 10 * (int)i + axis));
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* What a block of elements decides as a whole where nothing else is computed: lowest elements alone, sorted ones, equal ones in several blocks, NaN first, late and last. */
typedef enum sequence { LOWEST, RISING, FALLING, STEPS, NAN_FIRST, NAN_LATE, NAN_LAST, SEQUENCES } sequence;

static value of_sequence(krf_dtype dtype, sequence how, int64_t i, int64_t n) {
    const bool nan = is_real(dtype) && ((how == NAN_FIRST && i == 0) || (how == NAN_LATE && i >= n / 2) || (how == NAN_LAST && i == n - 1));
    const int64_t whole = how == LOWEST ? INT64_MIN : how == FALLING ? n - i : how == STEPS ? (i / 300) % 7 : i;
    if (nan || (is_real(dtype) && how == LOWEST)) {
        return (value){.dtype = dtype, .f = nan ? (double)NAN : -(double)INFINITY};
    }
    if (how == LOWEST) { /* of this dtype, not of its last bits */
        return (value){.dtype = dtype, .i = facts_of(dtype)->is_unsigned ? 0 : -(INT64_C(1) << (8 * bytes_of(dtype) - 1))};
    }
    return convert((value){.dtype = KRF_I64, .i = whole}, dtype);
}

static void check_alone(krf_dtype dtype, int64_t rows, int64_t n, int axis, sequence how) {
    const int64_t shape[2] = {rows, n}, results = axis < 0 ? 1 : rows;
    char *memory = malloc((size_t)(rows * n) * bytes_of(dtype) + 1);
    value *x = malloc((size_t)(rows * n) * sizeof *x);
    assert_true(memory != NULL && x != NULL);
    for (int64_t i = 0; i < rows * n; i++) {
        put(memory, i, of_sequence(dtype, how, axis < 0 ? i : i % n, axis < 0 ? rows * n : n));
        x[i] = get(memory, dtype, i);
    }
    for (int r = 0; r < 2 * all_runs.n; r++) {
        const run *now = &all_runs.run[r / 2];
        const bool smallest = r % 2 == 1;
        if (passed_over(now)) {
            continue;
        }
        krf_array *in = NULL, *out = NULL;
        krf_graph *g = krf_graph_create(now->context);
        assert_int_equal(krf_array_from_host(now->context, dtype, 2, shape, memory, &in), KRF_OK);
        const int axes[1] = {axis}, *of = axis < 0 ? NULL : axes;
        if (krf_eval(smallest ? krf_argmin(krf_input(g, in), 1, of, false) : krf_argmax(krf_input(g, in), 1, of, false), &out) != KRF_OK) {
            fail_msg("%s: %s", now->label, krf_error_message());
        }
        void *got = collecting ? NULL : to_host(out, KRF_I64, axis < 0 ? 0 : 1, shape, "alone");
        for (int64_t k = 0; got != NULL && k < results; k++) {
            const int64_t want = place_of(x, 2, shape, axis, k, smallest);
            if (get(got, KRF_I64, k).i != want) {
                COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 "], axis %d, sequence %d on %s: result %" PRId64 " is %" PRId64 ", not %" PRId64, smallest ? "argmin" : "argmax",
                         name_of(dtype), rows, n, axis, (int)how, now->label, k, get(got, KRF_I64, k).i, want);
                break;
            }
        }
        free(got);
        krf_array_release(out);
        krf_array_release(in);
        krf_graph_destroy(g);
    }
    free(memory);
    free(x);
}

static void test_alone(void **unused) {
    static const krf_dtype dtypes[] = {KRF_I8, KRF_U16, KRF_I32, KRF_F16, KRF_F32};
    static const int64_t shapes[][2] = {{1, 1}, {1, 255}, {1, 256}, {1, 257}, {3, 1000}, {2, 5000}, {1, 70001}};
    (void)unused;
    failures = 0;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            for (int how = 0; how < SEQUENCES; how++) {
                check_alone(dtypes[d], shapes[i][0], shapes[i][1], -1, (sequence)how);
                check_alone(dtypes[d], shapes[i][0], shapes[i][1], 1, (sequence)how);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Keys of users over places that leave 32 bits: they are not in order. */
static void test_counted(void **unused) {
    static const int64_t starts[] = {0, 5, INT64_C(4294967296) - 700, INT64_C(4294967296) - 1, INT64_C(4294967296) + 5};
    enum { N = 1500 };
    (void)unused;
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        char text[160];
        int32_t x[N];
        int64_t want = INT64_MIN;
        const int64_t shape[1] = {N};
        for (int i = 0; i < N; i++) {
            x[i] = i % 400 == 399 ? 7 : 3;
            const int64_t both = (int64_t)x[i] * (INT64_C(1) << 32) + (int64_t)~(uint32_t)(starts[s] + i);
            want = both > want ? both : want;
        }
        snprintf(text, sizeof text, "max((i64(x) << 32) | i64(~u32(arange(%" PRId64 ")[%" PRId64 ":])))", starts[s] + N, starts[s]);
        for (int r = 0; r < all_runs.n; r++) {
            krf_array *in = NULL, *out = NULL;
            krf_graph *g = krf_graph_create(all_runs.run[r].context);
            assert_int_equal(krf_array_from_host(all_runs.run[r].context, KRF_I32, 1, shape, x, &in), KRF_OK);
            const krf_binding name = krf_bind_array("x", in);
            krf_expr e;
            int64_t got = 0;
            if (krf_parse(g, text, &name, 1, &e) != KRF_OK || krf_eval(e, &out) != KRF_OK) {
                fail_msg("%s: %s: %s", all_runs.run[r].label, text, krf_error_message());
            }
            assert_int_equal(krf_array_to_host(out, &got, sizeof got), KRF_OK);
            if (got != want) {
                fail_msg("%s: %s is %" PRId64 ", not %" PRId64, all_runs.run[r].label, text, got, want);
            }
            krf_array_release(out);
            krf_array_release(in);
            krf_graph_destroy(g);
        }
    }
}

/* Every special value against each other one, both ways round, with what stands between. */
static void test_pairs(void **unused) {
    static const double specials[] = {-0.0, 0.0, INFINITY, -(double)INFINITY, NAN, -(double)NAN, 1, -1, 0x1p-149, -0x1p-149, 0x1.fffffep127, -0x1.fffffep127};
    enum { N = sizeof specials / sizeof *specials };
    static const krf_dtype dtypes[] = {KRF_F16, KRF_BF16, KRF_F32, KRF_F64};
    const int64_t shape[2] = {N * N, 2};
    (void)unused;
    failures = 0;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        char memory[N * N * 2 * 8];
        value x[N * N * 2];
        for (int i = 0; i < N * N * 2; i++) {
            const double special = specials[i % 2 == 0 ? i / 2 / N : i / 2 % N];
            put(memory, i, isnan(special) ? (value){.dtype = dtypes[d], .f = special} : convert((value){.dtype = KRF_F64, .f = special}, dtypes[d]));
            x[i] = get(memory, dtypes[d], i);
        }
        for (int r = 0; r < all_runs.n; r++) {
            if (passed_over(&all_runs.run[r])) {
                continue;
            }
            krf_array *in = NULL, *out[2] = {NULL};
            krf_graph *g = krf_graph_create(all_runs.run[r].context);
            assert_int_equal(krf_array_from_host(all_runs.run[r].context, dtypes[d], 2, shape, memory, &in), KRF_OK);
            const krf_expr e = krf_input(g, in), built[2] = {krf_argmax(e, 1, (int[]){1}, false), krf_argmin(e, 1, (int[]){1}, false)};
            assert_int_equal(krf_eval_many(2, built, out), KRF_OK);
            for (int smallest = 0; smallest < 2; smallest++) {
                void *got = collecting ? NULL : to_host(out[smallest], KRF_I64, 1, shape, "pairs");
                for (int k = 0; got != NULL && k < N * N; k++) {
                    if (get(got, KRF_I64, k).i != place_of(x, 2, shape, 1, k, smallest != 0)) {
                        COMPLAIN("%s of %g, %g in %s: %" PRId64 " on %s", smallest ? "argmin" : "argmax", x[2 * k].f, x[2 * k + 1].f, name_of(dtypes[d]),
                                 get(got, KRF_I64, k).i, all_runs.run[r].label);
                    }
                }
                free(got);
                krf_array_release(out[smallest]);
            }
            krf_array_release(in);
            krf_graph_destroy(g);
        }
    }
    assert_int_equal(failures, 0);
}

/* A value and its place, of what is computed on the way: one kernel, which reads once. Only dtypes of 64 bits need two. */
static void test_kernels(void **unused) {
    static const struct {
        const char *text;
        int outputs, kernels;
        int64_t read;
    } cases[] = {
        {"x: f32[100000]; return argmax(x)", 1, 1, 400000},
        {"x: f32[100000]; return argmin(abs(x) - 1), max(x), argmax(x)", 3, 1, 400000},
        {"x: f16[100000]; return argmax(x), sum(x)", 2, 1, 200000},
        {"x: u32[300, 700]; return argmax(x, axis=1), max(x, axis=1)", 2, 1, 840000},
        {"x: bool[300, 700]; return argmax(x, axis=0), any(x, axis=0)", 2, 1, 210000},
        {"x: f64[300, 700]; return argmax(x, axis=1), max(x, axis=1)", 2, 1, 1680000},
        {"x: f64[1000000]; return argmax(x)", 1, 2, 8000000},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krf_graph *g = krf_graph_create(all_runs.run[0].context);
        krf_expr results[3];
        krf_plan *plan = NULL;
        krf_kernel_info info = {.size = sizeof info};
        int count = 0;
        assert_int_equal(krf_parse_many(g, cases[i].text, NULL, 0, 3, results, &count), KRF_OK);
        assert_int_equal(count, cases[i].outputs);
        assert_int_equal(krf_compile(g, count, results, NULL, &plan), KRF_OK);
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        if (krf_plan_kernels(plan) != cases[i].kernels || info.bytes_read != cases[i].read) {
            fail_msg("%s: %d kernels, the first reads %" PRId64 " bytes", cases[i].text, krf_plan_kernels(plan), info.bytes_read);
        }
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
}

static void test_refused(void **unused) {
    static const char *const texts[] = {"argmax(full((0,), f32(1)))", "argmin(full((3, 0), i32(1)), axis=1)", "argmax(full((3, 0), i32(1)))",
                                        "argmax(full((3,), c64(1j)))", "argmax(full((3, 2), f32(1)), axis=2)", "argmax(full((3, 2), f32(1)), axis=(0, 1))",
                                        "order_key(i32(full((3,), 1)))", "order_key(full((3,), c64(1j)))"};
    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        krf_graph *g = krf_graph_create(all_runs.run[0].context);
        krf_expr x;
        if (krf_parse(g, texts[i], NULL, 0, &x) == KRF_OK) {
            fail_msg("%s is no error", texts[i]);
        }
        krf_graph_destroy(g);
    }
}

int main(void) {
    return run_part_on(open_noted_runs(&all_runs, false),
                       TESTS(noted_test(test_all), noted_test(test_axes), noted_test(test_alone), cmocka_unit_test(test_counted), noted_test(test_pairs),
                             cmocka_unit_test(test_kernels), cmocka_unit_test(test_refused)));
}
