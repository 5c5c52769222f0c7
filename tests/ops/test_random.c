/* Random arrays. The generator against the known-answer vectors of Random123 (its file kat_vectors); what each draw makes of the words, computed here
 * once more; the distributions of ten million; the same bits on all runs, in slices, fused and through the text form; keys that need no kernel. */
#include "ops/reference.h"

#define KRF_FN static inline __attribute__((unused))
#define KRF_F32(name) __builtin_##name##f
#define KRF_F64(name) __builtin_##name
#include "codegen/math/prelude.h"
#include "codegen/math/random.h"

static void test_vectors(void **state) {
    static const uint32_t vectors[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const uint32_t *v = vectors[i];
        krf_philox_words x = krf_philox_block((uint64_t)v[1] << 32 | v[0], (uint64_t)v[3] << 32 | v[2], (uint64_t)v[5] << 32 | v[4]);
        assert_int_equal(x.a, v[6]);
        assert_int_equal(x.b, v[7]);
        assert_int_equal(x.c, v[8]);
        assert_int_equal(x.d, v[9]);
    }
    assert_true(philox_pair(0, 0) == 0xe169c58d6627e8d5 && philox_pair(1, 0) == 0x9b00dbd8bc57ac4c); /* the reference, too */
}

/* ---- evaluation ---- */

static void check_graph(krf_graph *g) {
    if (krf_graph_status(g) != KRF_OK) {
        fail_msg("%s", krf_graph_error(g));
    }
}

static void *evaluate(krf_expr x, size_t *bytes) {
    krf_array *out = NULL;
    check_graph(x.graph);
    if (krf_eval(x, &out) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    *bytes = (size_t)krf_array_size(out) * krf_dtype_size(krf_array_dtype(out));
    void *data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(krf_array_to_host(out, data, *bytes), KRF_OK);
    krf_array_release(out);
    return data;
}

static krf_expr parse(krf_graph *g, const char *text) {
    krf_expr x;
    if (krf_parse(g, text, NULL, 0, &x) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    return x;
}

static void assert_same(krf_expr x, krf_expr y, const char *what) {
    size_t n, m;
    void *a = evaluate(x, &n), *b = evaluate(y, &m);
    if (n != m || memcmp(a, b, n) != 0) {
        fail_msg("%s: the results differ", what);
    }
    free(a);
    free(b);
}

/* ---- what each draw makes of the words ---- */

enum { COUNT = 203 };

static uint32_t word_of(uint64_t key, uint64_t offset, uint64_t i) {
    return (uint32_t)(philox_pair(2 * (offset + i / 4) + i / 2 % 2, key) >> 32 * (i % 2));
}
static uint64_t pair_of(uint64_t key, uint64_t offset, uint64_t i) { return philox_pair(2 * (offset + i / 2) + i % 2, key); }

static double element_of(const void *data, krf_dtype dtype, int i) {
    switch (dtype) {
    case KRF_F16:
    case KRF_BF16: return half_number(dtype, ((const uint16_t *)data)[i]);
    case KRF_F32: return (double)((const float *)data)[i];
    default: return ((const double *)data)[i];
    }
}

static void check_reals(runs *r, uint64_t key, uint64_t offset) {
    static const struct {
        krf_dtype dtype;
        int digits;
    } cases[] = {{KRF_F64, 53}, {KRF_F32, 24}, {KRF_F16, 11}, {KRF_BF16, 8}};
    for (int k = 0; k < 4 * r->n; k++) {
        krf_dtype dtype = cases[k % 4].dtype;
        krf_graph *g = krf_graph_create(r->run[k / 4].context);
        krf_expr from = krf_int(g, (int64_t)key), at = krf_int(g, (int64_t)offset);
        size_t bytes;
        void *uniform = evaluate(krf_random_uniform(g, 1, (int64_t[]){COUNT}, dtype, from, at), &bytes);
        void *normal = evaluate(krf_random_normal(g, 1, (int64_t[]){COUNT}, dtype, from, at), &bytes);
        assert_int_equal(bytes, COUNT * krf_dtype_size(dtype));
        for (int i = 0; i < COUNT; i++) {
            int digits = cases[k % 4].digits;
            uint64_t word = word_of(key, offset, (uint64_t)i), pair = pair_of(key, offset, (uint64_t)i);
            double top = digits == 53 ? (double)(pair >> 11) : (double)(word >> (32 - digits));
            assert_true(element_of(uniform, dtype, i) == ldexp(top, -digits));
            long double p = digits == 53 ? ldexpl((long double)(pair >> 12) + 0.5L, -52) : ldexpl((long double)word + 0.5L, -32);
            value got = {.dtype = dtype, .f = element_of(normal, dtype, i)};
            double bound = dtype == KRF_F64 || dtype == KRF_F32 ? 3 : 0.51;
            if (!(ulp_distance(got, inverse_normal(p), 0) <= bound)) {
                fail_msg("normal %s of %.20Lg on %s: %.17g, not %.20Lg", krf_dtype_name(dtype), p, r->run[k / 4].label, got.f, inverse_normal(p));
            }
        }
        free(uniform);
        free(normal);
        krf_graph_destroy(g);
    }
}

static void check_integers(runs *r, uint64_t key, uint64_t offset) {
    static const int64_t bounds[][2] = {{0, 2}, {-5, 6}, {-100, 100}, {INT64_MIN, INT64_MAX}, {0, (int64_t)1 << 40}, {7, 8}};
    __extension__ typedef unsigned __int128 word;
    for (int k = 0; k < r->n; k++) {
        krf_graph *g = krf_graph_create(r->run[k].context);
        krf_expr from = krf_int(g, (int64_t)key), at = krf_int(g, (int64_t)offset);
        size_t bytes;
        for (int b = 0; b < 6; b++) {
            krf_dtype dtype = b < 3 ? KRF_I8 : KRF_I64;
            uint64_t span = (uint64_t)bounds[b][1] - (uint64_t)bounds[b][0];
            int8_t *got = evaluate(krf_random_integers(g, 1, (int64_t[]){COUNT}, dtype, krf_int(g, bounds[b][0]), krf_int(g, bounds[b][1]), from, at), &bytes);
            for (int i = 0; i < COUNT; i++) {
                uint64_t above = (uint64_t)((word)pair_of(key, offset, (uint64_t)i) * span >> 64);
                int64_t wanted = (int64_t)((uint64_t)bounds[b][0] + above), found = dtype == KRF_I8 ? got[i] : ((int64_t *)(void *)got)[i];
                assert_true(found == wanted && found >= bounds[b][0] && found < bounds[b][1]);
            }
            free(got);
        }
        uint8_t *bits8 = evaluate(krf_random_bits(g, 1, (int64_t[]){COUNT}, KRF_U8, from, at), &bytes);
        int16_t *bits16 = evaluate(krf_random_bits(g, 1, (int64_t[]){COUNT}, KRF_I16, from, at), &bytes);
        uint32_t *bits32 = evaluate(krf_random_bits(g, 1, (int64_t[]){COUNT}, KRF_U32, from, at), &bytes);
        uint64_t *bits64 = evaluate(krf_random_bits(g, 1, (int64_t[]){COUNT}, KRF_U64, from, at), &bytes);
        uint8_t *coins = evaluate(krf_random_bernoulli(g, 1, (int64_t[]){COUNT}, krf_real(g, 0.3), from, at), &bytes);
        for (int i = 0; i < COUNT; i++) {
            uint32_t x = word_of(key, offset, (uint64_t)i);
            uint64_t pair = pair_of(key, offset, (uint64_t)i);
            assert_true(bits8[i] == x >> 24 && (uint16_t)bits16[i] == x >> 16 && bits32[i] == x && bits64[i] == pair);
            assert_int_equal(coins[i], ldexp((double)(pair >> 11), -53) < 0.3);
        }
        free(bits8);
        free(bits16);
        free(bits32);
        free(bits64);
        free(coins);
        krf_graph_destroy(g);
    }
}

static void test_values(void **state) {
    static const uint64_t at[][2] = {{0, 0}, {42, 1000000007}, {0xfedcba9876543210, (uint64_t)1 << 62}, {(uint64_t)-1, ((uint64_t)1 << 63) - 3}};
    runs r;
    (void)state;
    open_runs(&r, true);
    for (int i = 0; i < 4; i++) {
        check_reals(&r, at[i][0], at[i][1]);
        check_integers(&r, at[i][0], at[i][1]);
    }
    close_runs(&r);
}

/* Tens of thousands, so that kernels run vectorised, in threads and blocks: all runs have the first one's bits. */
static void test_same_bits(void **state) {
    static const char *const texts[] = {
        "random_uniform((217, 241), 5, dtype=f32)",
        "random_uniform((217, 241), 5, 9)",
        "random_normal(52000, 5, dtype=f32)",
        "random_normal(52000, 5)",
        "random_normal(52000, 5, dtype=bf16)",
        "random_integers(-1000, 1000, 52000, key=11, dtype=i16)",
        "random_bernoulli(0.01, 52000, 5)",
        "random_bits(52000, 5, dtype=u16)",
        "sum(random_normal((217, 241), 5) * random_uniform(241, 6), axis=0)",
        "ndtri(random_uniform(52000, 77) * 1e-300)",
    };
    runs r;
    (void)state;
    open_runs(&r, true);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        void *first = NULL;
        for (int k = 0; k < r.n && in_shard((int64_t)t); k++) {
            size_t bytes;
            krf_graph *g = krf_graph_create(r.run[k].context);
            void *data = evaluate(parse(g, texts[t]), &bytes);
            if (first == NULL) {
                first = data;
            } else {
                if (memcmp(first, data, bytes) != 0) {
                    fail_msg("%s: %s has other bits than %s", texts[t], r.run[k].label, r.run[0].label);
                }
                free(data);
            }
            krf_graph_destroy(g);
        }
        free(first);
    }
    close_runs(&r);
}

static void test_views_and_fusion(void **state) {
    runs r;
    (void)state;
    open_runs(&r, false);
    for (int k = 0; k < r.n; k++) {
        krf_graph *g = krf_graph_create(r.run[k].context);
        krf_array *stored = NULL;
        krf_expr x = krf_random_normal(g, 2, (int64_t[]){61, 47}, KRF_F32, krf_int(g, 5), krf_int(g, 3));
        assert_int_equal(krf_eval(x, &stored), KRF_OK);
        krf_expr y = krf_input(g, stored);
        krf_range part[] = {{3, KRF_NONE, 7}, {KRF_NONE, KRF_NONE, -2}};
        assert_same(krf_slice(x, 2, part), krf_slice(y, 2, part), "a slice");
        krf_range rest = {3, KRF_NONE, 1}; /* vectors that begin in the middle of a block */
        assert_same(krf_slice(krf_reshape(x, 1, (int64_t[]){61 * 47}), 1, &rest), krf_slice(krf_reshape(y, 1, (int64_t[]){61 * 47}), 1, &rest), "the rest");
        assert_same(krf_transpose(x, NULL), krf_transpose(y, NULL), "the transpose");
        assert_same(krf_sum(krf_multiply(x, x), 1, (int[]){0}, false), krf_sum(krf_multiply(y, y), 1, (int[]){0}, false), "a sum");
        assert_same(x, krf_reshape(krf_random_normal(g, 1, (int64_t[]){61 * 47}, KRF_F32, krf_int(g, 5), krf_int(g, 3)), 2, (int64_t[]){61, 47}),
                    "another shape");
        /* The shape of an expression lies in the graph, which grows meanwhile. */
        for (int i = 0; i < 300; i++) {
            krf_expr like = krf_random_uniform(g, krf_expr_rank(y), krf_expr_shape(y), KRF_F32, krf_int(g, i), krf_int(g, i));
            assert_true(krf_expr_ok(like) && krf_expr_rank(like) == 2 && krf_expr_shape(like)[1] == 47);
        }
        assert_int_equal(krf_expr_rank(krf_random_normal(g, 0, NULL, KRF_F64, krf_int(g, 1), krf_int(g, 2))), 0);
        krf_array_release(stored);
        /* A part with an offset: four words a block, two pairs. */
        assert_same(parse(g, "random_uniform(100, 5, dtype=f32)[40:]"), parse(g, "random_uniform(60, 5, 10, dtype=f32)"), "an offset of words");
        assert_same(parse(g, "random_uniform(100, 5)[40:]"), parse(g, "random_uniform(60, 5, 20)"), "an offset of pairs");
        assert_same(parse(g, "random_integers(0, 9, 50, 5)"), parse(g, "i64(random_integers(high=9, low=0, shape=(50,), dtype=u8, key=5))"), "a dtype");
        /* Each row with a key of its own. */
        assert_same(parse(g, "random_bits((3, 8), arange(3)[:, None])[2]"), parse(g, "random_bits((3, 8), 2)[2]"), "a key for each row");
        assert_same(parse(g, "random_bernoulli(arange(4) % 2, 4, 1)"), parse(g, "arange(4) % 2 == 1"),
                    "a probability for each element");
        assert_same(parse(g, "random_uniform((), 8)"), parse(g, "random_uniform(1, 8)[0:1].reshape(())"), "rank 0");
        assert_int_equal(krf_expr_shape(parse(g, "random_uniform((0, 3), 8)"))[0], 0);
        krf_graph_destroy(g);
    }
    close_runs(&r);
}

static int64_t compiled(krf_context *context) {
    krf_cache_stats stats = {.size = sizeof stats};
    assert_int_equal(krf_context_cache_stats(context, &stats), KRF_OK);
    return stats.compiled + stats.disk_hits + stats.plan_misses;
}

/* Keys and offsets are arguments of the kernel: known ones, literals in the text, run-time ones. */
static void test_keys_need_no_kernel(void **state) {
    runs r;
    (void)state;
    open_runs(&r, false);
    for (int k = 0; k < r.n; k++) {
        krf_graph *g = krf_graph_create(r.run[k].context);
        int64_t before = 0;
        for (int64_t key = -3; key < 12; key++) {
            char text[64];
            krf_array *a = NULL, *b = NULL;
            snprintf(text, sizeof text, "random_normal(1000, %" PRId64 ", %" PRId64 ")", key, key + 5);
            krf_graph_reset(g);
            krf_expr x = krf_random_normal(g, 1, (int64_t[]){1000}, KRF_F64, krf_int(g, key), krf_int(g, key + 5));
            assert_same(x, parse(g, text), text);
            assert_int_equal(krf_eval(x, &a), KRF_OK);
            krf_array_release(a);
            krf_array_release(b);
            before = key == -3 ? compiled(r.run[k].context) : before;
            assert_int_equal(compiled(r.run[k].context), before);
        }
        krf_graph_reset(g);
        krf_expr key = krf_placeholder_weak(g, "key", KRF_I64), strong = krf_placeholder(g, "other", KRF_U64, 0, NULL);
        krf_expr two[] = {krf_random_uniform(g, 1, (int64_t[]){100}, KRF_F64, key, krf_int(g, 0)),
                          krf_random_uniform(g, 1, (int64_t[]){100}, KRF_F64, strong, krf_int(g, 0))};
        krf_plan *plan = NULL;
        krf_array *out[2] = {NULL, NULL};
        assert_int_equal(krf_compile(g, 2, two, NULL, &plan), KRF_OK);
        krf_binding both[] = {krf_bind_int("key", 17), krf_bind_int("other", 17)};
        if (krf_plan_run(plan, NULL, 2, both, out) != KRF_OK) {
            fail_msg("%s", krf_error_message());
        }
        krf_graph_reset(g);
        assert_same(krf_input(g, out[0]), parse(g, "random_uniform(100, 17)"), "a weak key");
        assert_same(krf_input(g, out[1]), parse(g, "random_uniform(100, 17)"), "a strong key");
        krf_array_release(out[0]);
        krf_array_release(out[1]);
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
    close_runs(&r);
}

/* docs/random.md: pi by chance, in one kernel that reads no memory. */
static void test_pi(void **state) {
    static const char text[] = "p = random_uniform((1000000, 2), 3); 4 * mean(p[:, 0]**2 + p[:, 1]**2 < 1)";
    runs r;
    (void)state;
    open_runs(&r, false);
    for (int k = 0; k < r.n; k++) {
        krf_graph *g = krf_graph_create(r.run[k].context);
        krf_expr x = parse(g, text);
        krf_plan *plan = NULL;
        krf_kernel_info info = {.size = sizeof info};
        size_t bytes;
        assert_int_equal(krf_compile(g, 1, &x, NULL, &plan), KRF_OK);
        assert_int_equal(krf_plan_kernels(plan), 1);
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        assert_int_equal(info.bytes_read, 0);
        double *pi = evaluate(x, &bytes);
        assert_true(fabs(*pi - 3.14159265358979) < 3.3 * 1.64 / 1000); /* 1.64: the deviation of one dart */
        free(pi);
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
    close_runs(&r);
}

/* ---- distributions ---- */

enum { SAMPLES = 10000000, BINS = 1 << 20 };

/* sqrt(n) times the largest distance between the sample's distribution and the uniform one. Looked at between bins, where it is at most a bin less. 0.1 %
 * of samples of the right distribution have 1.95 or more (Kolmogorov). */
static double kolmogorov(const double *u, int64_t n) {
    int64_t *count = calloc(BINS + 1, sizeof *count), below = 0;
    double distance = 0;
    assert_non_null(count);
    for (int64_t i = 0; i < n; i++) {
        assert_true(u[i] >= 0 && u[i] <= 1);
        count[(int64_t)(u[i] * BINS)]++;
    }
    for (int64_t b = 0; b < BINS; b++) {
        below += count[b];
        distance = fmax(distance, fabs((double)below / (double)n - (double)(b + 1) / BINS));
    }
    free(count);
    return (distance + 1.0 / BINS) * sqrt((double)n);
}

static void test_distributions(void **state) {
    static const struct {
        const char *text;
        bool normal, narrow;
    } cases[] = {{"random_uniform(10000000, 1)", false, false},
                 {"random_uniform(10000000, 2, dtype=f32)", false, true},
                 {"random_normal(10000000, 3)", true, false},
                 {"random_normal(10000000, 4, dtype=f32)", true, true}};
    runs r;
    (void)state;
    open_runs(&r, false);
    krf_graph *g = krf_graph_create(r.run[r.n - 1].context); /* one run: all have the same bits */
    for (int c = 0; c < 4; c++) {
        if (!in_shard(c)) {
            continue;
        }
        size_t bytes;
        double *wide_numbers = malloc(SAMPLES * sizeof *wide_numbers);
        void *data = evaluate(parse(g, cases[c].text), &bytes);
        assert_non_null(wide_numbers);
        for (int64_t i = 0; i < SAMPLES; i++) {
            double x = cases[c].narrow ? (double)((float *)data)[i] : ((double *)data)[i];
            wide_numbers[i] = cases[c].normal ? erfc(-x * sqrt(0.5)) / 2 : x;
        }
        double statistic = kolmogorov(wide_numbers, SAMPLES);
        printf("%s: Kolmogorov's statistic %.3f\n", cases[c].text, statistic);
        assert_true(statistic < 1.95);
        free(wide_numbers);
        free(data);
    }
    /* Chi-square of 100 and of 256 equally likely values: its 99.9 % points for 99 and 255 degrees of freedom. */
    static const struct {
        const char *text;
        int values;
        double limit;
    } counts[] = {{"i64(random_integers(-50, 50, 10000000, 5, dtype=i32)) + 50", 100, 148.23}, {"i64(random_bits(10000000, 6, dtype=u8))", 256, 330.52}};
    for (int c = 0; c < 2; c++) {
        if (!in_shard(4 + c)) {
            continue;
        }
        size_t bytes;
        int64_t seen[256] = {0}, *data = evaluate(parse(g, counts[c].text), &bytes);
        double sum = 0, expected = (double)SAMPLES / counts[c].values;
        for (int64_t i = 0; i < SAMPLES; i++) {
            assert_true(data[i] >= 0 && data[i] < counts[c].values);
            seen[data[i]]++;
        }
        for (int v = 0; v < counts[c].values; v++) {
            sum += ((double)seen[v] - expected) * ((double)seen[v] - expected) / expected;
        }
        printf("%s: chi-square %.1f of at most %.1f\n", counts[c].text, sum, counts[c].limit);
        assert_true(sum < counts[c].limit);
        free(data);
    }
    static const double chances[] = {0, 1e-6, 0.3, 0.5, 0.999, 1};
    for (int c = 0; c < 6; c++) {
        if (!in_shard(6 + c)) {
            continue;
        }
        size_t bytes;
        krf_expr coins = krf_random_bernoulli(g, 1, (int64_t[]){SAMPLES}, krf_real(g, chances[c]), krf_int(g, 7 + c), krf_int(g, 0));
        int64_t *heads = evaluate(krf_sum(coins, 0, NULL, false), &bytes);
        double expected = chances[c] * SAMPLES, deviation = sqrt(expected * (1 - chances[c]));
        printf("bernoulli %g: %" PRId64 "\n", chances[c], *heads);
        assert_true(fabs((double)*heads - expected) <= 3.291 * deviation);
        free(heads);
    }
    krf_graph_destroy(g);
    close_runs(&r);
}

/* ---- errors ---- */

static void test_errors(void **state) {
    static const char *const texts[][2] = {
        {"random_uniform(3, 1, dtype=i32)", "random_uniform: the dtype is a float's, not i32"},
        {"random_normal(3, 1, dtype=bool)", "random_normal: the dtype is a float's, not bool"},
        {"random_bits(3, 1, dtype=f32)", "random_bits: the dtype is an integer's, not f32"},
        {"random_uniform(3, 1.5)", "random_uniform: the key is an integer, not f64"},
        {"random_uniform(3, 1, arange(2))", "random_uniform"},
        {"random_uniform(3, arange(4)[:, None])", "random_uniform: with its operands the result has shape (4, 3), not (3,)"},
        {"random_integers(5, 5, 3, 1)", "random_integers: no integer is at least 5 and below 5"},
        {"random_integers(0, 257, 3, 1, dtype=u8)", "random_integers: the integers from 0 to 256 are not all in the range of u8"},
        {"random_integers(0, 2.5, 3, 1)", "random_integers: high is an integer, not f64"},
        {"random_uniform((2, -1), 1)", "random_uniform: extents must be at least 0"},
        {"random_uniform(3)", "random_uniform needs key"},
        {"random_uniform(None, 3)", "random_uniform: the shape is an integer or a tuple, not None"},
        {"random_uniform(3, 1, 0, f32, 5)", "random_uniform takes at most 4 arguments"},
        {"random_uniform(3, 1, key=2)", "random_uniform: key is given twice"},
        {"random_uniform(3, seed=2)", "random_uniform takes no keyword seed"},
        {"random_bernoulli(0.5, 3, 1, dtype=u8)", "random_bernoulli takes no keyword dtype"},
    };
    runs r;
    (void)state;
    open_runs(&r, false);
    krf_graph *g = krf_graph_create(r.run[0].context), *other = krf_graph_create(r.run[0].context);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        krf_expr x;
        assert_int_not_equal(krf_parse(g, texts[i][0], NULL, 0, &x), KRF_OK);
        if (strstr(krf_error_message(), texts[i][1]) == NULL) {
            fail_msg("%s: \"%s\", not \"%s\"", texts[i][0], krf_error_message(), texts[i][1]);
        }
        krf_graph_reset(g);
    }
    assert_false(krf_expr_ok(krf_random_uniform(g, 1, (int64_t[]){3}, KRF_F32, krf_int(other, 1), krf_int(g, 0))));
    assert_string_equal(krf_graph_error(g), "random_uniform: an operand is not an expression of this graph");
    krf_graph_reset(g);
    assert_false(krf_expr_ok(krf_random_uniform(g, 1, NULL, KRF_F32, krf_int(g, 1), krf_int(g, 0))));
    krf_graph_reset(g);
    assert_false(krf_expr_ok(krf_random_uniform(g, 17, (int64_t[17]){0}, KRF_F32, krf_int(g, 1), krf_int(g, 0))));
    krf_graph_reset(g);
    assert_false(krf_expr_ok(krf_random_bits(g, 1, (int64_t[]){3}, (krf_dtype)99, krf_int(g, 1), krf_int(g, 0))));
    assert_false(krf_expr_ok(krf_random_uniform(NULL, 0, NULL, KRF_F32, (krf_expr){NULL, 0}, (krf_expr){NULL, 0})));
    krf_graph_destroy(g);
    krf_graph_destroy(other);
    close_runs(&r);
}

int main(void) {
    return run_whole(TESTS(cmocka_unit_test(test_vectors), cmocka_unit_test(test_values), cmocka_unit_test(test_same_bits), cmocka_unit_test(test_views_and_fusion),
                           cmocka_unit_test(test_keys_need_no_kernel), cmocka_unit_test(test_distributions), cmocka_unit_test(test_errors), cmocka_unit_test(test_pi)));
}
