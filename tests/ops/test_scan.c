/* Scans against their order as docs/architecture.md states it (tree.h): floats must have its bits on
 * both tiers and on the GPU, whatever the shape, the axis, the layout and what else is in the kernel. And the order itself against exact sums. */
#include "ops/tree.h"

static runs all_runs;

/* ---- cases ---- */

typedef struct layout {
    bool back, transposed; /* every axis backwards; axes in reverse order */
    bool fused;            /* |x| before, minus x behind; floats */
} layout;

/* Elements around 1, or special ones; small integers where sums and products shall not wrap at once. */
static value random_element(krf_dtype dtype, bool special, uint64_t *state) {
    static const double odd[] = {-0.0, 0.0, INFINITY, -(double)INFINITY, NAN, 1e30, -1e30, 0x1p-140};
    uint64_t bits = next_random(state);
    value v = {.dtype = is_real(dtype) ? KRF_F64 : KRF_I64};
    v.f = special && bits % 8 == 0 ? odd[bits >> 8 & 7] : (bits & 16 ? 1 : -1) * exp2(random_unit(state) - 0.5);
    v.i = special ? (int64_t)(bits >> (bits >> 59)) : (int64_t)(bits % 7) - 3;
    return convert(v, dtype);
}

static krf_expr build(const scan *s, const layout *l, krf_expr x, int rank, int axis) {
    krf_range ranges[4];
    for (int i = 0; i < rank; i++) {
        ranges[i] = (krf_range){KRF_NONE, KRF_NONE, -1};
    }
    x = l->transposed ? krf_transpose(x, NULL) : x;
    x = l->back ? krf_slice(x, rank, ranges) : x;
    return l->fused ? krf_subtract(s->build(krf_abs(x), axis), x) : s->build(x, axis);
}

/* Examples are shared out by what they are, as they are gone through twice. */
static void check(const scan *s, krf_dtype dtype, int rank, const int64_t *shape, int axis, layout l, bool special, uint64_t seed) {
    if (!in_shard((int64_t)seed + (int)dtype + axis + 2 * l.back + 3 * l.transposed)) {
        return;
    }
    int64_t base[4], steps[4], outer = 1, inner = 1, size = 1;
    for (int i = 0; i < rank; i++) {
        base[i] = l.transposed ? shape[rank - 1 - i] : shape[i];
        outer *= i < axis ? shape[i] : 1;
        inner *= i > axis ? shape[i] : 1;
        size *= shape[i];
    }
    for (int64_t i = 0, step = 1; i < rank; i++) { /* of the scanned view's axes, in the memory of the array */
        int d = l.transposed ? (int)i : rank - 1 - (int)i;
        steps[d] = step;
        step *= shape[d];
    }
    const krf_dtype to = result_dtype(s->op, dtype);
    const int64_t n = shape[axis];
    char *memory = malloc((size_t)size * bytes_of(dtype) + 1);
    value *seen = malloc(((size_t)size + 1) * sizeof *seen), *want = malloc(((size_t)size + 1) * sizeof *want);
    value *row = malloc(2 * (size_t)(n + 1) * sizeof *row);
    assert_true(memory != NULL && seen != NULL && want != NULL && row != NULL);
    for (int64_t i = 0; i < size; i++) {
        put(memory, i, random_element(dtype, special, &seed));
    }
    for (int64_t i = 0; i < size; i++) { /* seen[i]: element i in C order of what is scanned */
        int64_t rest = i, at = 0;
        for (int d = rank - 1; d >= 0; d--) {
            int64_t index = rest % shape[d];
            at += (l.back ? shape[d] - 1 - index : index) * steps[d];
            rest /= shape[d];
        }
        seen[i] = get(memory, dtype, at);
    }
    for (int64_t o = 0; o < outer && !collecting; o++) {
        for (int64_t k = 0; k < inner; k++) {
            for (int64_t i = 0; i < n; i++) {
                row[i] = seen[(o * n + i) * inner + k];
                row[i].f = l.fused ? fabs(row[i].f) : row[i].f;
            }
            expect_row(s, dtype, row, n, row + n);
            for (int64_t i = 0; i < n; i++) {
                int64_t at = (o * n + i) * inner + k;
                want[at] = row[n + i];
                if (l.fused) {
                    want[at].f = round_to(to, (long double)want[at].f - (long double)seen[at].f);
                }
            }
        }
    }
    for (int i = 0; i < all_runs.n; i++) {
        run *r = &all_runs.run[i];
        if (passed_over(r)) {
            continue;
        }
        char what[128];
        snprintf(what, sizeof what, "%s of %s, rank %d, axis %d of %" PRId64 "%s%s%s on %s", s->name, name_of(dtype), rank, axis, n,
                 l.back ? ", back" : "", l.transposed ? ", transposed" : "", l.fused ? ", fused" : "", r->label);
        krf_array *in = NULL, *out = NULL;
        krf_graph *g = krf_graph_create(r->context);
        krf_status status = krf_array_from_host(r->context, dtype, rank, base, memory, &in);
        status = status == KRF_OK ? krf_eval(build(s, &l, krf_input(g, in), rank, i % 2 == 0 ? axis : axis - rank), &out) : status;
        if (status != KRF_OK) {
            COMPLAIN("%s: %s", what, krf_error_message());
        } else {
            void *got = collecting ? NULL : to_host(out, to, rank, shape, what);
            for (int64_t k = 0; got != NULL && k < size; k++) {
                if (!same(get(got, to, k), want[k])) {
                    char texts[2][64];
                    COMPLAIN("%s: element %" PRId64 " is %s, not %s", what, k, show(get(got, to, k), texts[0], 64), show(want[k], texts[1], 64));
                    break;
                }
            }
            free(got);
        }
        krf_array_release(out);
        krf_array_release(in);
        krf_graph_destroy(g);
    }
    free(memory);
    free(seen);
    free(want);
    free(row);
}

/* ---- tests ---- */

/* Around the borders of runs, warps, tiles and the interpreter's blocks. */
static void test_extents(void **unused) {
    static const int64_t extents[] = {1, 2, 7, 8, 9, 31, 63, 255, 256, 257, 511, 513, 2049, 4095, 4096, 4097, 8192, 8193, 20000};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        for (size_t s = 0; s < 4; s++) {
            check(&scans[s], i % 2 == 0 ? KRF_F32 : KRF_F64, 1, &extents[i], 0, (layout){0}, false, 10 * i + s);
            check(&scans[s], KRF_I32, 1, &extents[i], 0, (layout){0}, true, 10 * i + s);
        }
    }
    assert_int_equal(failures, 0);
}

/* Around the borders of groups of tiles, alone and of several rows, along rows and across them. */
static void test_groups(void **unused) {
    static const int64_t shapes[][2] = {{1, 131072}, {1, 131073}, {2, 143000}, {1, 400000}, {140000, 3}, {300001, 1}};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int axis = shapes[i][0] > shapes[i][1] ? 0 : 1;
        check(&scans[0], KRF_F32, 2, shapes[i], axis, (layout){0}, false, 900 + i);
        check(&scans[0], KRF_F64, 2, shapes[i], axis, (layout){0}, false, 920 + i);
        check(&scans[i % 4], KRF_I32, 2, shapes[i], axis, (layout){0}, true, 940 + i);
    }
    assert_int_equal(failures, 0);
}

/* On a GPU rows of half a tile or less share one, from runs on whose numbers are multiples of a power of two: around the borders of runs, of warps and of what a row
 * has to itself, with more rows than a block has, and a last block that is partly filled. */
static void test_short_rows(void **unused) {
    static const int64_t shapes[][3] = {{300, 1, 2}, {70, 3, 16}, {1, 257, 17}, {65, 2, 33}, {5, 13, 100}, {1, 33, 256}, {3, 3, 257}, {1, 17, 512}, {9, 1, 513}, {1, 5, 1024}, {2, 2, 1025}, {1, 3, 2048}, {1, 3, 2049}};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check(&scans[i % 4], KRF_F32, 3, shapes[i], 2, (layout){.fused = true}, false, 700 + i);
        check(&scans[0], KRF_F64, 3, shapes[i], 2, (layout){.back = true}, false, 720 + i);
        check(&scans[(i + 2) % 4], KRF_I32, 3, shapes[i], 2, (layout){0}, true, 740 + i);
    }
    assert_int_equal(failures, 0);
}

/* On a GPU, 16 columns a block: their runs, warps and tiles, the last block partly filled, other dimensions around. */
static void test_columns(void **unused) {
    static const int64_t shapes[][3] = {{1, 1, 16}, {2, 15, 33}, {1, 16, 17}, {1, 513, 40}, {3, 700, 16}, {1, 513, 16}, {1, 4096, 16}, {1, 4097, 130}, {1, 9000, 128}, {1, 131600, 16}};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check(&scans[i % 4], KRF_F32, 3, shapes[i], 1, (layout){.fused = true}, false, 500 + i);
        check(&scans[0], KRF_F64, 3, shapes[i], 1, (layout){0}, false, 520 + i);
        check(&scans[(i + 2) % 4], KRF_I32, 3, shapes[i], 1, (layout){0}, true, 540 + i);
        check(&scans[(i + 1) % 4], KRF_F16, 3, shapes[i], 1, (layout){.back = true}, false, 560 + i);
    }
    assert_int_equal(failures, 0);
}

/* On a GPU, columns of four runs or fewer, a thread's each: around the borders of runs, with blocks partly filled, and one element more. Rows of few columns follow one another. */
static void test_short_columns(void **unused) {
    static const int64_t shapes[][3] = {{200, 1, 3}, {40, 7, 5}, {6, 15, 3}, {90, 16, 3}, {2, 17, 24}, {3, 32, 16}, {2, 33, 16}, {9, 47, 2}, {1, 48, 40}, {2, 49, 9}, {5, 63, 4}, {2, 64, 150}, {2, 65, 8}};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check(&scans[i % 4], KRF_F32, 3, shapes[i], 1, (layout){.fused = true}, false, 1500 + i);
        check(&scans[0], KRF_F64, 3, shapes[i], 1, (layout){.back = i % 2 == 0}, false, 1520 + i);
        check(&scans[(i + 2) % 4], KRF_I32, 3, shapes[i], 1, (layout){0}, true, 1540 + i);
        check(&scans[(i + 1) % 4], KRF_BF16, 3, shapes[i], 1, (layout){0}, false, 1560 + i);
    }
    assert_int_equal(failures, 0);
}

/* On a GPU, columns of more than a block's part of them: of 4 to 16 columns a block, around the borders of shares, tiles and groups of tiles, with other dimensions around. */
static void test_long_columns(void **unused) {
    static const int64_t shapes[][3] = {{1, 1024, 16}, {2, 1025, 40}, {2, 4609, 8}, {1, 8193, 9}, {3, 5000, 12}, {1, 12800, 17}, {1, 131072, 4}, {1, 135681, 8}, {1, 266241, 4}};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check(&scans[i % 4], KRF_F32, 3, shapes[i], 1, (layout){.fused = true}, false, 1700 + i);
        check(&scans[0], KRF_F64, 3, shapes[i], 1, (layout){.back = i % 2 == 0}, false, 1720 + i);
        if (all_runs.cuda) {
            check(&scans[(i + 2) % 4], KRF_I32, 3, shapes[i], 1, (layout){0}, true, 1740 + i);
            check(&scans[(i + 1) % 4], KRF_BF16, 3, shapes[i], 1, (layout){0}, false, 1760 + i);
        }
    }
    assert_int_equal(failures, 0);
}

/* On the CPU, results that go past the caches: of one row that threads share, of rows and columns that begin at borders of lines of memory and elsewhere. Sums of small integers are exact in
 * any order. */
static void test_large(void **unused) {
    enum { MOST = 4300800 };
    static const int64_t shapes[][3] = {{1, 4194305, 1}, {1001, 4195, 1}, {1, 4200, 1024}, {2, 2100, 1001}};
    float *x = malloc(MOST * sizeof *x), *y = malloc(MOST * sizeof *y);
    uint64_t state = 7;
    (void)unused;
    assert_true(x != NULL && y != NULL);
    if (all_runs.cuda) {
        free(x);
        free(y);
        skip(); /* a GPU's kernels know no such results */
    }
    for (size_t i = 0; i < MOST; i++) {
        x[i] = (float)(next_random(&state) >> 40 & 7) - 3;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *n = shapes[i], size = n[0] * n[1] * n[2];
        for (int r = 0; r < all_runs.n && in_shard((int64_t)i); r++) {
            krf_graph *g = krf_graph_create(all_runs.run[r].context);
            krf_array *in = NULL, *out = NULL;
            assert_int_equal(krf_array_from_host(all_runs.run[r].context, KRF_F32, 3, n, x, &in), KRF_OK);
            assert_int_equal(krf_eval(krf_subtract(krf_cumsum(krf_input(g, in), 1), krf_input(g, in)), &out), KRF_OK);
            assert_int_equal(krf_array_to_host(out, y, (size_t)size * sizeof *y), KRF_OK);
            for (int64_t k = 0; k < size; k++) {
                const bool first = k / n[2] % n[1] == 0;
                if (y[k] != (first ? 0 : y[k - n[2]] + x[k - n[2]])) {
                    fail_msg("%s: shape %zu, element %" PRId64 " is %g", all_runs.run[r].label, i, k, (double)y[k]);
                }
            }
            krf_array_release(out);
            krf_array_release(in);
            krf_graph_destroy(g);
        }
    }
    free(x);
    free(y);
}

static void test_dtypes(void **unused) {
    static const krf_dtype dtypes[] = {KRF_BOOL, KRF_I8, KRF_I16, KRF_I64, KRF_U8, KRF_U16, KRF_U32, KRF_U64, KRF_F16, KRF_BF16};
    static const int64_t shape[] = {3, 300, 2};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        for (size_t s = 0; s < 4; s++) {
            check(&scans[s], dtypes[i], 3, shape, 1, (layout){0}, i % 2 == 0, 100 + 10 * i + s);
        }
    }
    assert_int_equal(failures, 0);
}

static void test_layouts(void **unused) {
    static const int64_t shapes[][4] = {{5, 3, 4, 6}, {2, 1, 2100, 3}, {1, 9, 1, 2}, {40, 2, 3, 1}};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int axis = 0; axis < 4; axis++) {
            for (int way = 0; way < 4; way++) {
                layout l = {.back = way % 2 != 0, .transposed = way / 2 != 0, .fused = (way + axis) % 2 != 0};
                check(&scans[(size_t)(way + axis) % 4], axis % 2 == 0 ? KRF_F32 : KRF_F64, 4, shapes[i], axis, l, way == 3, 7 * i + (uint64_t)axis);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_specials(void **unused) {
    static const int64_t shape[] = {4, 3000};
    (void)unused;
    failures = 0;
    for (size_t s = 0; s < 4; s++) {
        for (int axis = 0; axis < 2; axis++) {
            check(&scans[s], KRF_F32, 2, shape, axis, (layout){0}, true, 1000 + s);
            check(&scans[s], KRF_F64, 2, shape, axis, (layout){.fused = true}, true, 2000 + s);
        }
    }
    assert_int_equal(failures, 0);
}

static void test_empty(void **unused) {
    static const int64_t shapes[][2] = {{0, 3}, {3, 0}, {0, 0}};
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < 3; i++) {
        check(&scans[i], KRF_F32, 2, shapes[i], 0, (layout){0}, false, 1);
        check(&scans[i], KRF_F32, 2, shapes[i], 1, (layout){0}, false, 1);
    }
    assert_int_equal(failures, 0);
}

static void test_refused(void **unused) {
    (void)unused;
    krf_context *c = all_runs.run[0].context;
    krf_graph *g = krf_graph_create(c);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){3, 4});
    krf_array *out = NULL;
    assert_int_equal(krf_eval(krf_cumsum(x, 2), &out), KRF_E_ARGUMENT);
    assert_string_equal(krf_graph_error(g), "cumsum: axis 2 is out of range for rank 2");
    krf_graph_reset(g);
    assert_int_equal(krf_eval(krf_cummax(krf_real(g, 1), 0), &out), KRF_E_SHAPE);
    assert_string_equal(krf_graph_error(g), "cummax: a value of rank 0 has no axis: reshape it to (1,)");
    assert_null(out);
    krf_graph_destroy(g);
}

/* Prologue, scan and epilogue in one kernel; two scans of one array as well. */
static void test_kernels(void **unused) {
    (void)unused;
    krf_graph *g = krf_graph_create(all_runs.run[0].context);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){300, 400});
    krf_expr outputs[2] = {krf_sqrt(krf_cumsum(krf_multiply(x, x), 1)), krf_subtract(krf_cummax(x, 1), x)};
    krf_plan *plan = NULL;
    assert_int_equal(krf_compile(g, 2, outputs, NULL, &plan), KRF_OK);
    assert_int_equal(krf_plan_kernels(plan), 1);
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

/* Each element against an exact running sum, within the bound of its few dozen roundings. */
static void test_accuracy(void **unused) {
    enum { N = 100000 };
    static float x[N], y[N];
    uint64_t state = 5;
    (void)unused;
    for (int i = 0; i < N; i++) {
        x[i] = (float)random_unit(&state);
    }
    krf_context *c = all_runs.run[all_runs.n - 1].context;
    krf_graph *g = krf_graph_create(c);
    krf_array *in = NULL, *out = NULL;
    assert_int_equal(krf_array_from_host(c, KRF_F32, 1, (int64_t[]){N}, x, &in), KRF_OK);
    assert_int_equal(krf_eval(krf_cumsum(krf_input(g, in), 0), &out), KRF_OK);
    assert_int_equal(krf_array_to_host(out, y, sizeof y), KRF_OK);
    double exact = 0;
    for (int i = 0; i < N; i++) {
        exact += (double)x[i];
        double roundings = 16 + 5 + 8 + 32 + i / 131072 + 3; /* run, warp, warps, tiles, groups, putting together */
        assert_true(fabs((double)y[i] - exact) <= roundings * 0x1p-24 * exact);
    }
    krf_array_release(out);
    krf_array_release(in);
    krf_graph_destroy(g);
}

int main(void) {
    open_noted_runs(&all_runs, true);
    static const char *const more[] = {"walk=0", "pairs=3"}; /* once more with blocks that go down all columns to the end, and that have two tiles of rows of some */
    for (size_t i = 0; all_runs.cuda && i < sizeof more / sizeof *more; i++) {
        setenv("KRF_FUSION", more[i], 1);
        add_run(&all_runs, getenv("KRF_TEST_DEVICE"), KRF_CPU_AUTO, 0, true);
        unsetenv("KRF_FUSION");
        snprintf(all_runs.run[all_runs.n - 1].label, sizeof all_runs.run[0].label, "cuda, %s", more[i]);
    }
    return run_on(&all_runs, TESTS(cmocka_unit_test(test_refused), cmocka_unit_test(test_kernels), noted_test(test_extents), noted_test(test_groups), noted_test(test_short_rows),
                                   noted_test(test_columns), noted_test(test_short_columns), noted_test(test_long_columns), cmocka_unit_test(test_large), noted_test(test_dtypes),
                                   noted_test(test_layouts), noted_test(test_specials), noted_test(test_empty), cmocka_unit_test(test_accuracy)));
}
