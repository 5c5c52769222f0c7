/* What the tests of results share: the runs to compare (tiers and numbers of threads, or the GPU), single elements of
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

/* ---- runs ---- */

typedef struct run {
    char label[32];
    krf_context *context;
    bool compiled; /* tier 1 with a compiler: nothing may be interpreted */
} run;

#define MAX_RUNS 4

typedef struct runs {
    int n;
    bool cuda;
    run run[MAX_RUNS];
} runs;

static inline void add_run(runs *r, const char *device, krf_cpu_tier tier, int threads) {
    krf_context_options options = krf_context_options_default();
    run *now = &r->run[r->n];
    options.device = device;
    options.cpu_tier = tier;
    options.threads = threads;
    options.blocking_compile = true;
    krf_status status = krf_context_create(&options, &now->context);
    if (status == KRF_E_DEVICE && strcmp(device, "cpu") != 0) {
        printf("skipped: %s\n", krf_error_message());
        exit(77);
    }
    if (status != KRF_OK) {
        fail_msg("context: %s: %s", krf_status_name(status), krf_error_message());
    }
    krf_device_info info = {.size = sizeof info};
    assert_int_equal(krf_context_device(now->context, &info), KRF_OK);
    now->compiled = !info.is_cuda && tier == KRF_CPU_COMPILE && info.compiler != NULL;
    if (info.is_cuda) {
        snprintf(now->label, sizeof now->label, "cuda");
    } else {
        snprintf(now->label, sizeof now->label, "tier %d, %d thread%s", (int)tier, threads, threads == 1 ? "" : "s");
    }
    r->n++;
}

/* The runs that must agree: on the CPU both tiers, with another number of threads each unless `full` asks for all four;
 * else the GPU, beside the interpreter when `full`, for what must have the same bits everywhere. */
static inline void open_runs(runs *r, bool full) {
    const char *device = getenv("KRF_TEST_DEVICE");
    memset(r, 0, sizeof *r);
    r->cuda = device != NULL && strncmp(device, "cuda", 4) == 0;
    if (r->cuda) {
        add_run(r, device, KRF_CPU_AUTO, 0);
        if (full) {
            add_run(r, "cpu", KRF_CPU_INTERPRET, 2);
        }
        return;
    }
    add_run(r, "cpu", KRF_CPU_INTERPRET, 1);
    add_run(r, "cpu", KRF_CPU_COMPILE, 2);
    if (full) {
        add_run(r, "cpu", KRF_CPU_INTERPRET, 2);
        add_run(r, "cpu", KRF_CPU_COMPILE, 1);
    }
}

static inline void close_runs(runs *r) {
    for (int i = 0; i < r->n; i++) {
        krf_cache_stats stats = {.size = sizeof stats};
        assert_int_equal(krf_context_cache_stats(r->run[i].context, &stats), KRF_OK);
        printf("%-18s %5" PRId64 " compiled in %.0f ms, %" PRId64 " from disk, %" PRId64 " interpreted\n",
               r->run[i].label, stats.compiled, stats.compile_ms, stats.disk_hits, stats.interpreted);
        if (r->run[i].compiled) {
            assert_int_equal(stats.interpreted, 0); /* else the test would compare the interpreter with itself */
            assert_true(stats.plan_misses == 0 || stats.compiled + stats.disk_hits > 0);
        }
        krf_context_destroy(r->run[i].context);
    }
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

#define DTYPES 5

typedef struct value {
    krf_dtype dtype;
    int64_t i; /* bool and integers */
    double f;  /* both floats: an f32 is always one exactly */
} value;

static inline bool is_real(krf_dtype dtype) { return dtype == KRF_F32 || dtype == KRF_F64; }

static inline size_t bytes_of(krf_dtype dtype) {
    return dtype == KRF_BOOL ? 1 : dtype == KRF_I32 || dtype == KRF_F32 ? 4 : 8;
}

static inline const char *name_of(krf_dtype dtype) {
    static const char *const names[DTYPES] = {"bool", "i32", "i64", "f32", "f64"};
    return (unsigned)dtype < DTYPES ? names[dtype] : "?";
}

static inline value get(const void *base, krf_dtype dtype, int64_t index) {
    const char *p = (const char *)base + index * (int64_t)bytes_of(dtype);
    value v = {.dtype = dtype};
    float narrow;
    int32_t word;
    switch (dtype) {
    case KRF_BOOL: v.i = *(const unsigned char *)p; break;
    case KRF_I32: memcpy(&word, p, sizeof word), v.i = word; break;
    case KRF_I64: memcpy(&v.i, p, sizeof v.i); break;
    case KRF_F32: memcpy(&narrow, p, sizeof narrow), v.f = (double)narrow; break;
    default: memcpy(&v.f, p, sizeof v.f); break;
    }
    return v;
}

static inline void put(void *base, int64_t index, value v) {
    char *p = (char *)base + index * (int64_t)bytes_of(v.dtype);
    float narrow = is_real(v.dtype) ? (float)v.f : 0;
    int32_t word = (int32_t)(uint32_t)(uint64_t)v.i;
    switch (v.dtype) {
    case KRF_BOOL: *(unsigned char *)p = (unsigned char)(v.i != 0); break;
    case KRF_I32: memcpy(p, &word, sizeof word); break;
    case KRF_I64: memcpy(p, &v.i, sizeof v.i); break;
    case KRF_F32: memcpy(p, &narrow, sizeof narrow); break;
    default: memcpy(p, &v.f, sizeof v.f); break;
    }
}

/* Casts as DESIGN section 3 states them: integers wrap, floats truncate, clamp and send NaN to 0, anything but zero is
 * true. */
static inline value convert(value v, krf_dtype to) {
    value r = {.dtype = to};
    const bool real = is_real(v.dtype);
    if (to == KRF_BOOL) {
        r.i = real ? v.f != 0 : v.i != 0;
    } else if (to == KRF_F64) {
        r.f = real ? v.f : (double)v.i;
    } else if (to == KRF_F32) {
        r.f = (double)(real ? (float)v.f : (float)v.i);
    } else if (!real) {
        r.i = to == KRF_I32 ? (int32_t)(uint32_t)(uint64_t)v.i : v.i;
    } else if (isnan(v.f)) {
        r.i = 0;
    } else {
        double end = to == KRF_I32 ? 0x1p31 : 0x1p63;
        r.i = v.f >= end    ? (to == KRF_I32 ? INT32_MAX : INT64_MAX)
              : v.f <= -end ? (to == KRF_I32 ? INT32_MIN : INT64_MIN)
                            : (int64_t)v.f;
    }
    return r;
}

/* Equal bits; any NaN equals any NaN, since payloads are not promised. */
static inline bool same(value a, value b) {
    if (a.dtype != b.dtype) {
        return false;
    }
    if (!is_real(a.dtype)) {
        return a.i == b.i;
    }
    return (isnan(a.f) && isnan(b.f)) || memcmp(&a.f, &b.f, sizeof a.f) == 0;
}

static inline const char *show(value v, char *text, size_t bytes) {
    if (is_real(v.dtype)) {
        snprintf(text, bytes, "%s %.17g (%a)", name_of(v.dtype), v.f, v.f);
    } else {
        snprintf(text, bytes, "%s %" PRId64, name_of(v.dtype), v.i);
    }
    return text;
}

/* Failures are counted and printed, not raised: one run then shows all of them. */
static int failures;

#define COMPLAIN(...) (failures++ < 40 ? (void)(fprintf(stderr, __VA_ARGS__), fputc('\n', stderr)) : (void)0)

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

#endif
