/* What the tests of rows that a GPU has in shared memory share: a context that fuses beside two that do not, one on the same device and one that is the CPU's interpreter; the results of a program over halves,
 * what is known about its kernel, and comparison of bits. Includers include ops/common.h themselves, by which a test is known. */
#ifndef TESTS_ROWS_TURNS_H
#define TESTS_ROWS_TURNS_H

#include "ops/common.h"

enum { TURNS_OUT = 4, TURNS_TEXT = 400 };

static krf_context *fused, *apart, *plain; /* apart: functions such as exp have bits of their own on a GPU. plain: what is rounded exactly has the same bits everywhere */
static bool clusters;                      /* blocks of the device may share a row */

static inline krf_context *open_turns(const char *device, const char *fusion, bool noted) {
    krf_context_options options = krf_context_options_default();
    options.device = device;
    options.fusion = fusion;
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.blocking_compile = true;
    options.cache = noted ? KRF_CACHE_OFF : options.cache; /* notes are no images */
    krf_context *context = open_or_skip(&options);
    if (noted) {
        batch_install(context);
    }
    return context;
}

static inline void open_all(void) {
    krf_device_info info = {.size = sizeof info};
    setenv("KRF_EXACT_MEMORY", "1", 0); /* what lies behind an array is nobody's */
    setenv("FAKECUDA_SEED", "3", 0);    /* threads in another order than their own */
    fused = open_turns(asked_device(), NULL, true);
    assert_int_equal(krf_context_device(fused, &info), KRF_OK);
    if (!info.is_cuda) {
        printf("skipped: no GPU\n");
        exit(77);
    }
    clusters = atoi(info.arch + strlen("sm_")) >= 90;
    apart = open_turns(asked_device(), "off", true);
    plain = open_turns("cpu", "off", false);
}

static inline int run_all(const struct CMUnitTest *tests, size_t n) {
    const int failed = run_whole(tests, n);
    krf_context_destroy(fused);
    krf_context_destroy(apart);
    krf_context_destroy(plain);
    return failed;
}

/* Of one test: the next one has none of its own yet. */
static inline int complaints(void) {
    const int n = failures;
    failures = 0;
    return n;
}

/* H stands for the dtype of x. */
static inline void write_text(char text[TURNS_TEXT], const char *from, krf_dtype dtype) {
    int length = 0;
    for (const char *p = from; *p != 0; p++) {
        length += *p == 'H' ? snprintf(text + length, (size_t)(TURNS_TEXT - length), "%s", name_of(dtype)) : snprintf(text + length, (size_t)(TURNS_TEXT - length), "%c", *p);
    }
    assert_true(length < TURNS_TEXT);
}

/* x: rows of n behind `from` columns that are not seen. g and b: n numbers for all rows. t: one for each row. */
typedef struct given {
    krf_dtype dtype;
    int64_t rows, n, from;
    const void *x, *g, *b;
    const int32_t *t;
    bool in_place; /* the first result is written over x */
} given;

typedef struct made {
    int n, kernels;
    krf_dtype dtype[TURNS_OUT];
    int64_t size[TURNS_OUT];
    char *data[TURNS_OUT];
    char *source, schedule[16]; /* of the first kernel */
} made;

static inline void free_made(made *m) {
    for (int k = 0; k < m->n; k++) {
        free(m->data[k]);
    }
    free(m->source);
    *m = (made){0};
}

static inline krf_array *array_from(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const void *data) {
    krf_array *array = NULL;
    assert_int_equal(krf_array_from_host(context, dtype, rank, shape, data, &array), KRF_OK);
    return array;
}

static inline void look_at_kernel(krf_plan *plan, made *out) {
    krf_kernel_info info = {.size = sizeof info};
    out->kernels = krf_plan_kernels(plan);
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    snprintf(out->schedule, sizeof out->schedule, "%s", info.schedule);
    const char *source = info.source != NULL ? info.source : "";
    out->source = malloc(strlen(source) + 1);
    assert_non_null(out->source);
    memcpy(out->source, source, strlen(source) + 1);
}

/* The rows out of all that memory has, of which what is not seen has to be as it was. */
static inline void take_rows(const given *in, char *data, const char *what) {
    const size_t size = bytes_of(in->dtype), all = (size_t)(in->from + in->n) * size, unseen = (size_t)in->from * size;
    for (int64_t row = 0; row < in->rows; row++) {
        if (memcmp(data + (size_t)row * all, (const char *)in->x + (size_t)row * all, unseen) != 0) {
            COMPLAIN("%s: row %" PRId64 ": what lies before it is written", what, row);
        }
        memmove(data + (size_t)row * (all - unseen), data + (size_t)row * all + unseen, all - unseen);
    }
}

static inline void evaluate(krf_context *context, const char *text, const given *in, int outputs, made *out) {
    const int64_t lies[] = {in->rows, in->from + in->n}, shape[] = {in->rows, in->n}, strides[] = {in->from + in->n, 1};
    krf_array *base = array_from(context, in->dtype, 2, lies, in->x), *view = NULL, *results[TURNS_OUT] = {NULL};
    krf_array *others[] = {array_from(context, in->dtype, 1, &in->n, in->g), array_from(context, in->dtype, 1, &in->n, in->b), array_from(context, KRF_I32, 1, &in->rows, in->t)};
    krf_graph *g = krf_graph_create(context);
    krf_plan *plan = NULL;
    krf_expr exprs[TURNS_OUT];
    memset(out, 0, sizeof *out);
    assert_int_equal(krf_array_view(base, 2, shape, strides, in->from, &view), KRF_OK);
    const krf_binding bindings[] = {krf_bind_array("x", view), krf_bind_array("g", others[0]), krf_bind_array("b", others[1]), krf_bind_array("t", others[2]), krf_bind_real("n", (double)in->n)};
    results[0] = in->in_place ? view : NULL;
    if (krf_parse_many(g, text, bindings, 5, TURNS_OUT, exprs, &out->n) != KRF_OK || out->n != outputs || krf_compile(g, out->n, exprs, NULL, &plan) != KRF_OK ||
        (in->in_place && in->from > 0 ? krf_eval_many(out->n, exprs, results) : krf_plan_run(plan, NULL, 0, NULL, results)) != KRF_OK) {
        fail_msg("%s: %d results: %s", text, out->n, krf_error_message());
    }
    look_at_kernel(plan, out);
    for (int k = 0; k < out->n; k++) {
        const bool over = k == 0 && in->in_place;
        krf_array *from = over ? base : results[k];
        out->dtype[k] = krf_array_dtype(from);
        out->size[k] = krf_array_size(results[k]);
        const size_t bytes = (size_t)krf_array_size(from) * bytes_of(out->dtype[k]);
        out->data[k] = malloc(bytes + 1);
        assert_non_null(out->data[k]);
        assert_int_equal(krf_array_to_host(from, out->data[k], bytes), KRF_OK);
        if (over && !collecting) {
            take_rows(in, out->data[k], text);
        }
        if (!over) {
            krf_array_release(results[k]);
        }
    }
    for (int i = 0; i < 3; i++) {
        krf_array_release(others[i]);
    }
    krf_array_release(view);
    krf_array_release(base);
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

/* Bits, but for those of NaN. */
static inline void must_equal(const made *got, const made *want, const char *what, const char *whose) {
    char a[64], b[64];
    for (int k = 0; k < want->n; k++) {
        if (got->dtype[k] != want->dtype[k] || got->size[k] != want->size[k]) {
            COMPLAIN("%s: result %d is %" PRId64 " %s", what, k, got->size[k], name_of(got->dtype[k]));
            return;
        }
        for (int64_t i = 0; i < want->size[k]; i++) {
            const value x = get(got->data[k], got->dtype[k], i), y = get(want->data[k], want->dtype[k], i);
            if (!same(x, y)) {
                COMPLAIN("%s: element %" PRId64 " of result %d is %s, and %s of %s", what, i, k, show(x, a, sizeof a), show(y, b, sizeof b), whose);
                break;
            }
        }
    }
}

/* What the kernel's text has to say. */
static inline void must_say(const made *got, const char *says, const char *what) {
    if (strstr(got->source, says) == NULL) {
        COMPLAIN("%s: the kernel does not say \"%s\"", what, says);
    }
}

/* One kernel of rows, which go by words where they begin anywhere, in as many blocks as hold them; says: what else its text has. */
static inline void must_be_held(const made *got, const given *in, const char *says, const char *what) {
    char dims[40];
    snprintf(dims, sizeof dims, "__cluster_dims__(%d,", in->n <= 65536 ? 2 : in->n <= 131072 ? 4 : 8);
    if (got->kernels != 1 || strcmp(got->schedule, "row") != 0) {
        COMPLAIN("%s: %d kernels, %s", what, got->kernels, got->schedule);
    }
    must_say(got, says, what);
    must_say(got, in->n % 8 != 0 || in->from % 8 != 0 ? "krf_copy_row_word(" : "krf_copy_later(", what);
    if (in->n > 32768) {
        must_say(got, dims, what);
    } else if (strstr(got->source, "__cluster_dims__") != NULL) {
        COMPLAIN("%s: blocks share rows", what);
    }
}

#endif
