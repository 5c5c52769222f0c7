/* What the tests of results share: the runs to compare (tiers and numbers of threads, or the GPU), main, single elements of
 * any dtype with the test's own rules of conversion, a random generator, and comparison of bits. Nothing here comes
 * from the library's tables. */
#ifndef KRF_TESTS_OPS_COMMON_H
#define KRF_TESTS_OPS_COMMON_H

#include <kerfuse/kerfuse.h>

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"
#include "fuzz/batch.h"
#include "shard.h"

/* ---- runs ---- */

typedef struct run {
    char label[32];
    krf_context *context;
    bool compiled; /* tier 1 with a compiler: nothing may be interpreted */
    bool noted;    /* kernels are compiled together, see collect() */
} run;

#define MAX_RUNS 4

typedef struct runs {
    int n;
    bool cuda;
    run run[MAX_RUNS];
} runs;

static inline void add_run(runs *r, const char *device, krf_cpu_tier tier, int threads, bool together) {
    krf_context_options options = krf_context_options_default();
    run *now = &r->run[r->n];
    options.device = device;
    options.cpu_tier = tier;
    options.threads = threads;
    options.blocking_compile = true;
    options.cache = together ? KRF_CACHE_OFF : options.cache;
    now->context = open_or_skip(&options);
    krf_device_info info = {.size = sizeof info};
    assert_int_equal(krf_context_device(now->context, &info), KRF_OK);
    now->compiled = !info.is_cuda && tier == KRF_CPU_COMPILE && info.compiler != NULL;
    now->noted = together && (info.is_cuda || now->compiled);
    if (now->noted) {
        batch_install(now->context);
    }
    if (info.is_cuda) {
        snprintf(now->label, sizeof now->label, "cuda");
    } else {
        snprintf(now->label, sizeof now->label, "tier %d, %d thread%s", (int)tier, threads, threads == 1 ? "" : "s");
    }
    r->n++;
}

/* The runs that must agree: on the CPU both tiers, with another number of threads each unless `full` asks for all four;
 * else the GPU, beside the interpreter when `full`, for what must have the same bits everywhere. */
static inline runs *open_some_runs(runs *r, bool full, bool together) {
    memset(r, 0, sizeof *r);
    r->cuda = on_gpu();
    if (r->cuda) {
        add_run(r, asked_device(), KRF_CPU_AUTO, 0, together);
        if (full) {
            add_run(r, "cpu", KRF_CPU_INTERPRET, 2, together);
        }
        return r;
    }
    add_run(r, "cpu", KRF_CPU_INTERPRET, 1, together);
    add_run(r, "cpu", KRF_CPU_COMPILE, 2, together);
    if (full) {
        add_run(r, "cpu", KRF_CPU_INTERPRET, 2, together);
        add_run(r, "cpu", KRF_CPU_COMPILE, 1, together);
    }
    return r;
}

static inline runs *open_runs(runs *r, bool full) { return open_some_runs(r, full, false); }

static inline void destroy_runs(const runs *r) {
    for (int i = 0; i < r->n; i++) {
        krf_context_destroy(r->run[i].context);
    }
}

static inline void close_runs(const runs *r) {
    for (int i = 0; i < r->n; i++) {
        krf_cache_stats stats = {.size = sizeof stats};
        assert_int_equal(krf_context_cache_stats(r->run[i].context, &stats), KRF_OK);
        printf("%-18s %5" PRId64 " compiled in %.0f ms, %" PRId64 " from disk, %" PRId64 " interpreted\n",
               r->run[i].label, stats.compiled, stats.compile_ms, stats.disk_hits, stats.interpreted);
        if (r->run[i].compiled) {
            assert_int_equal(stats.interpreted, 0); /* else the test would compare the interpreter with itself */
            assert_true(stats.plan_misses == 0 || stats.compiled + stats.disk_hits > 0);
        }
    }
    destroy_runs(r);
}

/* ---- kernels of many checks, compiled together: most of what a compiler costs is its start ---- */

static bool collecting; /* kernels are only noted: no result means anything, and what the noted runs do not compile need not run */

static inline runs *open_noted_runs(runs *r, bool full) { return open_some_runs(r, full, true); }

static inline bool passed_over(const run *r) { return collecting && !r->noted; }

/* In a list of tests one whose kernels need no result of others. */
#define noted_test(f) cmocka_unit_test_prestate(f, &collecting)

static inline bool is_noted(const struct CMUnitTest *test) { return test->initial_state == &collecting; }

/* Runs what is noted_test() without looking at results, then compiles the kernels. */
static inline void collect(const struct CMUnitTest *tests, size_t n) {
    void *none = NULL;
    collecting = true;
    batch_begin();
    for (size_t i = 0; i < n; i++) {
        if (is_noted(&tests[i])) {
            tests[i].test_func(&none);
        }
    }
    batch_end();
    collecting = false;
}

/* ---- main: most are no more than run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_this), cmocka_unit_test(test_that))) ---- */

/* A list of tests, as two arguments: where it is and how long. */
#define TESTS(...) (const struct CMUnitTest[]){__VA_ARGS__}, sizeof((const struct CMUnitTest[]){__VA_ARGS__}) / sizeof(struct CMUnitTest)

static struct CMUnitTest listed[33]; /* of this process */
static size_t n_listed;

static inline void test_compile(void **unused) {
    (void)unused;
    collect(listed, n_listed);
}

static inline int run_listed(bool whole, const struct CMUnitTest *tests, size_t n) {
    bool noted = false;
    for (size_t i = 0; i < n; i++) {
        noted |= is_noted(&tests[i]);
    }
    n_listed = 0;
    if (noted) {
        listed[n_listed++] = (struct CMUnitTest)cmocka_unit_test(test_compile);
    }
    for (size_t i = 0; i < n; i++) {
        if (whole || name_in_shard(tests[i].name)) {
            assert_true(n_listed < sizeof listed / sizeof *listed);
            listed[n_listed++] = tests[i];
        }
    }
    return _cmocka_run_group_tests(whole ? "tests" : "part", listed, n_listed, NULL, NULL);
}

/* All, in each process: what they do may be shared, by in_shard(). */
static inline int run_whole(const struct CMUnitTest *tests, size_t n) { return run_listed(true, tests, n); }

/* Those whose turn it is. */
static inline int run_part(const struct CMUnitTest *tests, size_t n) { return run_listed(false, tests, n); }

/* Contexts are opened and closed by main: cmocka passes over what fails when a group is taken down. */
static inline int run_on(const runs *r, const struct CMUnitTest *tests, size_t n) {
    const int failed = run_whole(tests, n);
    close_runs(r);
    return failed;
}

static inline int run_part_on(const runs *r, const struct CMUnitTest *tests, size_t n) {
    const int failed = run_part(tests, n);
    close_runs(r);
    return failed;
}

/* ---- random numbers: splitmix64 (Steele, Lea, Flood 2014) ---- */

static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline int64_t random_below(uint64_t *state, int64_t n) { return (int64_t)(next_random(state) % (uint64_t)n); }

static inline double random_unit(uint64_t *state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

/* ---- elements ---- */

__extension__ typedef __int128 wide;

enum { DTYPES = 13, ALL_DTYPES = 15 }; /* DTYPES: those that are not complex, which come first */

typedef struct value {
    krf_dtype dtype;
    int64_t i; /* bool and integers; u64 wraps */
    double f;  /* floats: those of the narrower ones are always exactly one; of a complex number the real part */
    double im;
} value;

/* What the names of dtypes say: width, sign, and for floats the digits and the exponent of the smallest normal number. */
typedef struct dtype_facts {
    const char *name;
    int bytes, digits, lowest;
    bool is_unsigned;
} dtype_facts;

static inline const dtype_facts *facts_of(krf_dtype dtype) {
    static const dtype_facts all[ALL_DTYPES + 1] = {
        [KRF_BOOL] = {"bool", 1, 0, 0, true}, [KRF_I8] = {"i8", 1, 0, 0, false},       [KRF_I16] = {"i16", 2, 0, 0, false},
        [KRF_I32] = {"i32", 4, 0, 0, false},  [KRF_I64] = {"i64", 8, 0, 0, false},     [KRF_U8] = {"u8", 1, 0, 0, true},
        [KRF_U16] = {"u16", 2, 0, 0, true},   [KRF_U32] = {"u32", 4, 0, 0, true},      [KRF_U64] = {"u64", 8, 0, 0, true},
        [KRF_F16] = {"f16", 2, 11, -14, false}, [KRF_BF16] = {"bf16", 2, 8, -126, false}, [KRF_F32] = {"f32", 4, 24, -126, false},
        [KRF_F64] = {"f64", 8, 53, -1022, false}, [KRF_C64] = {"c64", 8, 0, 0, false},   [KRF_C128] = {"c128", 16, 0, 0, false},
        [ALL_DTYPES] = {"?", 1, 0, 0, false},
    };
    return &all[(unsigned)dtype < ALL_DTYPES ? (unsigned)dtype : ALL_DTYPES];
}

static inline bool is_real(krf_dtype dtype) { return facts_of(dtype)->digits > 0; }
static inline bool is_complex(krf_dtype dtype) { return dtype == KRF_C64 || dtype == KRF_C128; }
static inline krf_dtype part_of(krf_dtype dtype) { return dtype == KRF_C64 ? KRF_F32 : dtype == KRF_C128 ? KRF_F64 : dtype; }
static inline bool is_half(krf_dtype dtype) { return dtype == KRF_F16 || dtype == KRF_BF16; }
static inline size_t bytes_of(krf_dtype dtype) { return (size_t)facts_of(dtype)->bytes; }
static inline const char *name_of(krf_dtype dtype) { return facts_of(dtype)->name; }

static inline wide wide_of(value v) { return v.dtype == KRF_U64 ? (wide)(uint64_t)v.i : (wide)v.i; }

/* The low bits as a number of the dtype. */
static inline int64_t wrap_to(krf_dtype dtype, wide v) {
    int bits = 8 * facts_of(dtype)->bytes;
    uint64_t low = (uint64_t)v & (UINT64_MAX >> (64 - bits)), sign = (uint64_t)1 << (bits - 1);
    return !facts_of(dtype)->is_unsigned && (low & sign) != 0 ? -(int64_t)(~low & (sign - 1)) - 1 : (int64_t)low;
}

/* The nearest float. Through memory: of two such roundings that are stored side by side gcc 12 forgets both (-ftree-slp-vectorize). */
static inline double nearest_float(double x) {
    volatile float narrow = (float)x;
    return (double)narrow;
}

/* To the nearest number of a float dtype, ties to even, in one rounding. */
static inline double round_to(krf_dtype dtype, long double x) {
    const dtype_facts *f = facts_of(dtype);
    if (dtype == KRF_F32 || dtype == KRF_F64 || isnan(x) || isinf(x) || x == 0) {
        return dtype == KRF_F32 ? (double)(float)x : (double)x;
    }
    int exponent = ilogbl(x) > f->lowest ? ilogbl(x) : f->lowest;
    long double unit = ldexpl(1, exponent - f->digits + 1), r = rintl(x / unit) * unit;
    return fabsl(r) >= ldexpl(1, 2 - f->lowest) ? copysign((double)INFINITY, (double)x) : (double)r;
}

/* f16 and bf16 are 1 sign, then the exponent, then digits - 1 bits. */
static inline double compute_half(krf_dtype dtype, unsigned bits) {
    const dtype_facts *f = facts_of(dtype);
    const int stored = f->digits - 1, field = (int)(bits & 0x7fff) >> stored, most = 0x7fff >> stored;
    const double fraction = ldexp(bits & ((1u << stored) - 1), -stored);
    double x = field == most ? (fraction > 0 ? (double)NAN : (double)INFINITY)
               : field == 0  ? ldexp(fraction, f->lowest)
                             : ldexp(1 + fraction, field - 1 + f->lowest);
    return (bits & 0x8000) != 0 ? -x : x;
}

static inline double half_number(krf_dtype dtype, unsigned bits) {
    static double known[2][65536]; /* all of them, for a test converts millions */
    double *numbers = known[dtype == KRF_BF16];
    if (numbers[1] == 0) {
        for (unsigned b = 65536; b-- > 0;) {
            numbers[b] = compute_half(dtype, b);
        }
    }
    return numbers[bits & 0xffff];
}

/* By search among the numbers of one sign, which are in the order of their bits. */
static inline unsigned half_bits(krf_dtype dtype, double x) {
    unsigned infinity = (unsigned)(0x7fff >> (facts_of(dtype)->digits - 1)) << (facts_of(dtype)->digits - 1);
    unsigned low = 0, high = infinity, sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x)) {
        return infinity | 1u << (facts_of(dtype)->digits - 2); /* a quiet one */
    }
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (half_number(dtype, middle) < fabs(x)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return sign | low;
}

static inline value get_real(const void *base, krf_dtype dtype, int64_t index) {
    const char *p = (const char *)base + index * (int64_t)bytes_of(dtype);
    value v = {.dtype = dtype};
    float narrow;
    uint64_t bits = 0;
    memcpy(&bits, p, bytes_of(dtype)); /* little-endian */
    if (!is_real(dtype)) {
        v.i = wrap_to(dtype, (wide)bits);
    } else if (dtype == KRF_F64) {
        memcpy(&v.f, p, sizeof v.f);
    } else if (dtype == KRF_F32) {
        memcpy(&narrow, p, sizeof narrow);
        v.f = (double)narrow;
    } else {
        v.f = half_number(dtype, (unsigned)bits);
    }
    return v;
}

static inline value get(const void *base, krf_dtype dtype, int64_t index) {
    if (!is_complex(dtype)) {
        return get_real(base, dtype, index);
    }
    return (value){.dtype = dtype, .f = get_real(base, part_of(dtype), 2 * index).f, .im = get_real(base, part_of(dtype), 2 * index + 1).f};
}

static inline void put_real(void *base, int64_t index, value v) {
    char *p = (char *)base + index * (int64_t)bytes_of(v.dtype);
    float narrow = v.dtype == KRF_F32 ? (float)v.f : 0;
    uint64_t bits = v.dtype == KRF_BOOL ? v.i != 0 : is_half(v.dtype) ? half_bits(v.dtype, v.f) : (uint64_t)v.i;
    const void *from = v.dtype == KRF_F64 ? (const void *)&v.f : v.dtype == KRF_F32 ? (const void *)&narrow : (const void *)&bits;
    memcpy(p, from, bytes_of(v.dtype));
}

static inline void put(void *base, int64_t index, value v) {
    if (!is_complex(v.dtype)) {
        put_real(base, index, v);
        return;
    }
    put_real(base, 2 * index, (value){.dtype = part_of(v.dtype), .f = v.f});
    put_real(base, 2 * index + 1, (value){.dtype = part_of(v.dtype), .f = v.im});
}

/* Casts as DESIGN section 3 states them: integers wrap, floats truncate, clamp and send NaN to 0, anything but zero is
 * true, and every float is reached in one rounding. Complex numbers by parts; there is no cast that loses one but to bool. */
static inline value convert(value v, krf_dtype to) {
    value r = {.dtype = to};
    const bool real = is_real(v.dtype) || is_complex(v.dtype);
    if (to == KRF_BOOL) {
        r.i = real ? v.f != 0 || (is_complex(v.dtype) && v.im != 0) : v.i != 0;
    } else if (is_real(to) || is_complex(to)) {
        r.im = is_complex(v.dtype) && is_complex(to) ? round_to(part_of(to), (long double)v.im) : 0;
        r.f = round_to(part_of(to), real ? (long double)v.f : (long double)wide_of(v));
    } else if (!real) {
        r.i = wrap_to(to, wide_of(v));
    } else if (!isnan(v.f)) {
        const int bits = 8 * (int)bytes_of(to);
        const bool is_unsigned = facts_of(to)->is_unsigned;
        double end = ldexp(1, is_unsigned ? bits : bits - 1);
        wide last = (wide)1 << (is_unsigned ? bits : bits - 1);
        r.i = v.f >= end                      ? wrap_to(to, last - 1)
              : v.f <= (is_unsigned ? 0 : -end) ? (is_unsigned ? 0 : wrap_to(to, -last))
                                              : wrap_to(to, (wide)v.f);
    }
    return r;
}

static inline bool same_real(double a, double b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }

/* Equal bits; any NaN equals any NaN, since payloads are not promised. */
static inline bool same(value a, value b) {
    if (a.dtype != b.dtype) {
        return false;
    }
    if (is_complex(a.dtype)) {
        return same_real(a.f, b.f) && same_real(a.im, b.im);
    }
    return is_real(a.dtype) ? same_real(a.f, b.f) : a.i == b.i;
}

static inline const char *show(value v, char *text, size_t bytes) {
    if (is_complex(v.dtype)) {
        snprintf(text, bytes, "%s (%.17g, %.17g)", name_of(v.dtype), v.f, v.im);
    } else if (is_real(v.dtype)) {
        snprintf(text, bytes, "%s %.17g (%a)", name_of(v.dtype), v.f, v.f);
    } else {
        snprintf(text, bytes, v.dtype == KRF_U64 ? "%s %" PRIu64 : "%s %" PRId64, name_of(v.dtype), v.i);
    }
    return text;
}

/* Failures are counted and printed, not raised: one run then shows all of them. */
static int failures;

#define COMPLAIN(...) (!collecting && failures++ < 40 ? (void)(fprintf(stderr, __VA_ARGS__), fputc('\n', stderr)) : (void)0)

/* What an evaluation left, on the host: C order. NULL (and a complaint) when it did not give what was expected. */
static inline void *to_host(krf_array *array, krf_dtype dtype, int rank, const int64_t *shape, const char *what) {
    bool fits = array != NULL && krf_array_dtype(array) == dtype && krf_array_rank(array) == rank;
    int64_t size = 1;
    for (int i = 0; i < rank; i++) {
        fits = fits && krf_array_shape(array)[i] == shape[i];
        size *= shape[i];
    }
    if (!fits) {
        COMPLAIN("%s: the result has another dtype or shape than %s of rank %d", what, name_of(dtype), rank);
        return NULL;
    }
    size_t bytes = (size_t)size * bytes_of(dtype);
    void *data = malloc(bytes + 1);
    assert_non_null(data);
    krf_status status = krf_array_to_host(array, data, bytes);
    if (status != KRF_OK) {
        COMPLAIN("%s: to_host: %s", what, krf_error_message());
        free(data);
        return NULL;
    }
    return data;
}

static inline void read_back(krf_array *array, void *data, size_t bytes) { assert_int_equal(krf_array_to_host(array, data, bytes), KRF_OK); }

static inline value whole_number(krf_dtype dtype, int64_t i) { return convert((value){.dtype = KRF_I64, .i = i}, dtype); }

/* ---- programs ---- */

/* The n results of one, with these names bound. */
static inline void evaluate_text(const run *r, const char *text, int n_bindings, const krf_binding *bindings, int n, krf_array **results) {
    enum { MOST_OF_TEXT = 4 };
    krf_expr found[MOST_OF_TEXT];
    krf_graph *g = krf_graph_create(r->context);
    int count = 0;
    krf_status status = krf_parse_many(g, text, bindings, n_bindings, MOST_OF_TEXT, found, &count);
    assert_true(status != KRF_OK || count == n);
    status = status == KRF_OK ? krf_eval_many(n, found, results) : status;
    if (status != KRF_OK) {
        fail_msg("%s, %s: %s", text, r->label, krf_error_message());
    }
    krf_graph_destroy(g);
}

/* The one result of a function of x. */
static inline krf_array *evaluate_of(const run *r, const char *text, krf_array *x) {
    krf_array *result = NULL;
    evaluate_text(r, text, 1, (krf_binding[]){krf_bind_array("x", x)}, 1, &result);
    return result;
}

/* Whether some kernel's source has a text; the interpreter's have none. */
static inline bool has_text(krf_plan *plan, const char *text) {
    bool found = false;
    for (int i = 0; i < krf_plan_kernels(plan); i++) {
        krf_kernel_info info = {.size = sizeof info};
        assert_int_equal(krf_plan_kernel(plan, i, &info), KRF_OK);
        found |= info.source != NULL && strstr(info.source, text) != NULL;
    }
    return found;
}

#endif
