/* Reductions that store elements as well, whose chunks blocks of a GPU have at once (KRF_FUSION relay): the elements, and the canonical tree of them, bit for bit; chunks of all lengths, arrays that end within a tile
 * or with one, rows, steps; and once more, as blocks count chunks that they take and count back to zero. KRF_TEST_DEVICE. */
#include "ops/places.h"
#include "ops/tree.h"

typedef struct shape {
    int64_t rows, n, step, offset;
} shape;

typedef struct program {
    const char *text; /* over x and z: elements first, then reductions of them along the last axis */
    krf_dtype dtype;
    int n, op[3];
} program;

static double *memory_of(const shape *s, uint64_t seed, krf_dtype dtype, int64_t *count) {
    *count = s->offset + s->rows * s->n * s->step;
    double *x = malloc((size_t)*count * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < *count; i++) { /* of many sizes: each order of a sum has other bits */
        const double v = ldexp(random_unit(&seed) - 0.5, (int)random_below(&seed, 12));
        x[i] = dtype == KRF_F32 ? (double)(float)v : v;
    }
    return x;
}

static krf_array *operand_of(krf_context *c, const shape *s, krf_dtype dtype, const double *x, int64_t count) {
    krf_array *base = NULL, *view = NULL;
    const int64_t sizes[] = {s->rows, s->n}, strides[] = {s->n * s->step, s->step};
    float *narrow = malloc((size_t)count * sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t i = 0; i < count; i++) {
        narrow[i] = (float)x[i];
    }
    if (krf_array_from_host(c, dtype, 1, &count, dtype == KRF_F32 ? (const void *)narrow : x, &base) != KRF_OK || krf_array_view(base, 2, sizes, strides, s->offset, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    krf_array_release(base);
    free(narrow);
    return view;
}

static double rounded(krf_dtype dtype, double x) { return dtype == KRF_F32 ? (double)(float)x : x; }

/* The elements of the programs below. */
static double element_of(const program *p, double x, double z) {
    return strchr(p->text, 'z') != NULL ? rounded(p->dtype, x - z) : rounded(p->dtype, rounded(p->dtype, x * 3) + 1);
}

static void check(const program *p, const shape *s, const place *where, krf_array **got, const double *want) {
    const int64_t all = s->rows * s->n;
    for (int r = 0; r < p->n; r++) {
        const int64_t size = r == 0 ? all : s->rows;
        const size_t bytes = (size_t)size * krf_dtype_size(p->dtype);
        void *data = malloc(bytes);
        assert_true(data != NULL && krf_array_size(got[r]) == size && krf_array_to_host(got[r], data, bytes) == KRF_OK);
        for (int64_t i = 0; i < size; i++) {
            const double is = get(data, p->dtype, i).f, due = r == 0 ? want[i] : canonical_tree((reduction_op)p->op[r], p->dtype == KRF_F32, want + i * s->n, s->n);
            if (!same_real(is, due)) {
                COMPLAIN("%s: %s of %" PRId64 " x %" PRId64 ", step %" PRId64 " from %" PRId64 ": result %d, element %" PRId64 " is %a, not %a", where->label, p->text, s->rows, s->n, s->step, s->offset, r, i, is, due);
                break;
            }
        }
        free(data);
        krf_array_release(got[r]);
    }
}

/* Blocks have chunks at once where they are asked to, and only there: these are shorter than what they have so of themselves. */
static void check_text(const place *p, krf_plan *plan, bool asked) {
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    if (p->cuda && krf_plan_kernels(plan) == 1 && (strstr(info.source, "runner = ") != NULL) != asked) {
        COMPLAIN("%s: blocks %s chunks at once", p->label, asked ? "have no" : "have");
    }
}

static void try_in(const program *p, const shape *s, int n_in, bool asked) {
    int64_t count;
    double *x = memory_of(s, 3, p->dtype, &count), *z = memory_of(s, 4, p->dtype, &count), *want = malloc((size_t)(s->rows * s->n) * sizeof *want);
    assert_non_null(want);
    for (int64_t i = 0; i < s->rows * s->n; i++) {
        want[i] = element_of(p, x[s->offset + i * s->step], z[s->offset + i * s->step]);
    }
    for (int i = 0; i < n_in; i++) {
        krf_graph *g = krf_graph_create(places[i].context);
        krf_array *arrays[] = {operand_of(places[i].context, s, p->dtype, x, count), operand_of(places[i].context, s, p->dtype, z, count)}, *got[3] = {NULL};
        const krf_binding bindings[] = {krf_bind_array("x", arrays[0]), krf_bind_array("z", arrays[1])};
        krf_expr results[3];
        krf_plan *plan = NULL;
        int n = 0;
        if (krf_parse_many(g, p->text, bindings, 2, 3, results, &n) != KRF_OK || krf_compile(g, n, results, NULL, &plan) != KRF_OK) {
            fail_msg("%s: %s: %s", places[i].label, p->text, krf_error_message());
        }
        if (places[i].fuses) {
            check_text(&places[i], plan, asked || places[i].fusion != NULL);
        }
        for (int turn = 0; turn < (places[i].fusion != NULL ? 2 : 1); turn++) {
            memset(got, 0, sizeof got);
            if (krf_plan_run(plan, NULL, 0, NULL, got) != KRF_OK) {
                fail_msg("%s: %s: %s", places[i].label, p->text, krf_error_message());
            }
            check(p, s, &places[i], got, want);
        }
        krf_plan_release(plan);
        krf_array_release(arrays[0]);
        krf_array_release(arrays[1]);
        krf_graph_destroy(g);
    }
    free(x);
    free(z);
    free(want);
}

static void try_shape(const program *p, const shape *s) { try_in(p, s, n_places, false); }

static const program one = {"y = x * 3 + 1\nreturn y, sum(y, axis=1)", KRF_F32, 2, {0, SUM, 0}}, both = {"y = x * 3 + 1\nreturn y, sum(y, axis=1), max(y, axis=1)", KRF_F32, 3, {0, SUM, MAX}},
                     two = {"y = x - z\nreturn y, sum(y, axis=1)", KRF_F32, 2, {0, SUM, 0}}, doubles = {"y = x - z\nreturn y, sum(y, axis=1), min(y, axis=1)", KRF_F64, 3, {0, SUM, MIN}};

/* Of 256 chunks: whole ones, an element more or less than a tile of one, than a chunk; longer chunks. */
static void test_lengths(void **unused) {
    static const int64_t lengths[] = {262144, 262144 + 256, 262144 + 257, 262144 + 767, 300001, 4194304 + 513};
    (void)unused;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const shape s = {1, lengths[k], 1, 0};
        try_shape(k % 2 == 0 ? &one : &both, &s);
    }
    assert_int_equal(failures, 0);
}

static void test_programs(void **unused) {
    static const shape shapes[] = {{1, 262144, 1, 0}, {1, 300001, 1, 1}, {1, 270000, 2, 1}, {2, 262400, 1, 0}};
    static const program *const all[] = {&two, &doubles, &one, &both};
    (void)unused;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        try_shape(all[k], &shapes[k]);
        try_shape(all[(k + 1) % 4], &shapes[k]);
    }
    assert_int_equal(failures, 0);
}

/* The shortest and the longest of the chunks that blocks have at once of themselves: two blocks beside each other, and one. */
static void test_long_chunks(void **unused) {
    static const shape shapes[] = {{1, (1 << 23) + 1, 1, 0}, {1, (1 << 25) + 1, 1, 0}};
    (void)unused;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        try_in(&both, &shapes[k], 1, true);
    }
    assert_int_equal(failures, 0);
}

/* What may not go so however it is asked: one chunk, which has no tickets; functions of f64; what is looked up. */
static void test_others(void **unused) {
    static const struct {
        const char *text;
        int64_t n;
    } others[] = {{"y = exp(x[::-1].astype(f64))\nreturn y, sum(y)", 1000}, {"y = exp(x[::-1].astype(f64))\nreturn y, sum(y)", 300001}, {"y = take(x, i)\nreturn y, sum(y)", 300001}};
    (void)unused;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        for (int p = 0; p < n_places; p++) {
            krf_graph *g = krf_graph_create(places[p].context);
            krf_array *x = NULL, *i = NULL, *got[2] = {NULL};
            const int64_t n = others[k].n;
            float *values = malloc((size_t)n * sizeof *values);
            int32_t *indices = malloc((size_t)n * sizeof *indices);
            assert_true(values != NULL && indices != NULL);
            for (int64_t j = 0; j < n; j++) {
                values[j] = (float)(j % 7) - 3;
                indices[j] = (int32_t)(n - 1 - j);
            }
            assert_true(krf_array_from_host(places[p].context, KRF_F32, 1, &n, values, &x) == KRF_OK && krf_array_from_host(places[p].context, KRF_I32, 1, &n, indices, &i) == KRF_OK);
            const krf_binding bindings[] = {krf_bind_array("x", x), krf_bind_array("i", i)};
            krf_expr results[2];
            krf_plan *plan = NULL;
            int count = 0;
            if (krf_parse_many(g, others[k].text, bindings, 2, 2, results, &count) != KRF_OK || krf_compile(g, count, results, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, got) != KRF_OK) {
                fail_msg("%s: %s: %s", places[p].label, others[k].text, krf_error_message());
            }
            double sum = 0, want = 0;
            float narrow = 0;
            for (int64_t j = 0; j < n; j++) {
                want += k < 2 ? exp(values[j]) : values[j];
            }
            assert_int_equal(krf_array_to_host(got[1], k < 2 ? (void *)&sum : &narrow, k < 2 ? sizeof sum : sizeof narrow), KRF_OK);
            sum = k < 2 ? sum : (double)narrow;
            if (!(fabs(sum - want) <= 1e-4 * fabs(want) + 1e-3)) {
                COMPLAIN("%s: %s of %" PRId64 ": the sum is %g, not %g", places[p].label, others[k].text, n, sum, want);
            }
            if (places[p].fuses) {
                check_text(&places[p], plan, false);
            }
            krf_plan_release(plan);
            krf_array_release(got[0]);
            krf_array_release(got[1]);
            krf_array_release(x);
            krf_array_release(i);
            krf_graph_destroy(g);
            free(values);
            free(indices);
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    setenv("FAKECUDA_SEED", "3", 0); /* threads in another order than their own: a barrier that is missing shows */
    open_places("relay=0");
    return run_on_places(TESTS(cmocka_unit_test(test_lengths), cmocka_unit_test(test_programs), cmocka_unit_test(test_long_chunks), cmocka_unit_test(test_others)));
}
