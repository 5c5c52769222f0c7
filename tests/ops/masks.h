/* What the tests of masks share: programs whose operands have some of the axes of the results each, elements that are special (NaN, infinities, zeros of both signs, the ends of integers, many that are equal), what follows for
 * the results from one C function an element, and the evaluation: allocated, and in memory between guards; with a look at the kernel's text. */
#ifndef KRF_TESTS_OPS_MASKS_H
#define KRF_TESTS_OPS_MASKS_H

#include "ops/common.h"

#include <float.h>
#include <sys/mman.h>

enum { RANK = 3, ARRAYS = 4, TAKEN = 4, RESULTS = 2, GUARD = 0xa5, AROUND = 64 };

/* Where users say that an array's last axis lies: as it is allocated; from the second element on; from the second word of 16 bytes on; each second element; backwards; or so that the array ends where
 * memory does. */
typedef enum layout { PLAIN, SECOND, WORD_ON, TWOS, BACK, LAYOUTS, LAST } layout;

/* Where users want the result: in memory in C order that begins so many elements after a line; its rows so many elements apart from each other beyond their own; the last two axes swapped. */
typedef struct room {
    int64_t before, gap;
    bool swapped;
} room;

typedef value element(const value *v);

/* Axes of results are b, n and m, in this order. Operands are x, y, z and w, an array each: its axes, the last of which has `more` elements than the result's, or `times` as many. An element of the result takes v[0] ... of these: from its
 * place, or the last axis' mirrored one, times `step`, and `from` elements on; '2' is an axis of two elements, of which it takes the one at `from`. The first of two axes may have `deeper` elements more than the result's, and an element come from `down` on. '#' in the text stands for the extent of m. */
typedef struct program {
    const char *text;
    int arrays, taken, results;
    struct {
        const char *axes;
        int more, times, deeper;
    } array[ARRAYS];
    struct {
        int array, from, step, down;
        const char *axes; /* NULL: the array's */
    } takes[TAKEN];
    element *gives[RESULTS];
    const char *axes; /* of the results; NULL: n and m */
} program;

#define ALONG(a) {.axes = (a)}
#define LONGER(a, by) {.axes = (a), .more = (by)}
#define TIMES(a, n) {.axes = (a), .times = (n)}
#define TAKE(a) {.array = (a)}
#define FROM(a, first) {.array = (a), .from = (first)}
#define STEPS(a, first, by) {.array = (a), .from = (first), .step = (by)}

typedef struct example {
    const program *p;
    krf_dtype dtypes[ARRAYS];
    int64_t extents[RANK]; /* of b, n, m */
    layout layouts[ARRAYS];
    const char *has, *lacks; /* text of the GPU's kernel */
    const char *schedule;
    int rooms; /* as a set of those below */
} example;

static const room rooms[] = {{.gap = 8}, {.before = 8}, {.before = 4, .gap = 4}, {.before = 1}, {.gap = 3}, {.gap = 4}, {.swapped = true}};

static runs all_runs;
static int64_t here[RANK]; /* where in the results the element is that is computed, by axes */

/* ---- elements ---- */

static inline value special(krf_dtype dtype, uint64_t bits) {
    static const double numbers[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 0, -0.0, 1, -1, 1, 0.5, 2};
    const double most = dtype == KRF_F16 ? 65504 : dtype == KRF_BF16 ? 0x1.fep127 : part_of(dtype) == KRF_F32 ? (double)FLT_MAX : DBL_MAX;
    const double least = dtype == KRF_F16 ? 0x1p-24 : dtype == KRF_BF16 ? 0x1p-133 : part_of(dtype) == KRF_F32 ? 0x1p-149 : 0x1p-1074;
    const int which = (int)(bits % 16), sign = (bits >> 8 & 1) != 0 ? -1 : 1;
    if (is_complex(dtype)) {
        return (value){.dtype = dtype, .f = numbers[which % 12], .im = numbers[(bits >> 16) % 12]};
    }
    if (is_real(dtype)) {
        return (value){.dtype = dtype, .f = which < 12 ? numbers[which] : which == 12 ? sign * most : which == 13 ? sign * least : (double)(bits >> 16 & 15) - 8};
    }
    const uint64_t ones = UINT64_MAX >> (64 - 8 * bytes_of(dtype)), top = facts_of(dtype)->is_unsigned ? ones : ones >> 1;
    const uint64_t ends[] = {top, top + 1, top - 1, top + 2, 0, 1, ones, 2};
    return whole_number(dtype, dtype == KRF_BOOL ? (int64_t)(bits >> 8 & 1) : which < 8 ? wrap_to(dtype, (wide)ends[which]) : (int64_t)(bits >> 16 & 7));
}

/* -1, 0, 1, or 2 where one is no number. Operands of two dtypes are floats both, or narrow integers beside them. */
static inline int order(value a, value b) {
    if (is_real(a.dtype) || is_real(b.dtype)) {
        const double p = is_real(a.dtype) ? a.f : (double)a.i, q = is_real(b.dtype) ? b.f : (double)b.i;
        return p < q ? -1 : p > q ? 1 : p == q ? 0 : 2;
    }
    return wide_of(a) < wide_of(b) ? -1 : wide_of(a) > wide_of(b);
}

static inline value truth(bool b) { return (value){.dtype = KRF_BOOL, .i = b}; }
static inline bool is_less(value a, value b) { return order(a, b) == -1; }
static inline bool is_at_most(value a, value b) { return order(a, b) == -1 || order(a, b) == 0; }
static inline bool is_equal(value a, value b) { return is_complex(a.dtype) ? a.f == b.f && a.im == b.im : order(a, b) == 0; }

static inline value difference(value a, value b) {
    if (is_real(a.dtype)) {
        return (value){.dtype = a.dtype, .f = round_to(a.dtype, (long double)(a.f - b.f))};
    }
    return (value){.dtype = a.dtype, .i = wrap_to(a.dtype, wide_of(a) - wide_of(b))};
}

/* ---- operands ---- */

typedef struct operand {
    int rank;
    int64_t shape[RANK], strides[RANK], offset, count;
    value *elements; /* of memory */
    void *memory;
} operand;

static inline int axis_of(char c) { return (int)(strchr("bnm", c) - "bnm"); }

static inline int64_t extent_of(const example *e, int a, int d) {
    const char *axes = e->p->array[a].axes;
    const int times = e->p->array[a].times;
    if (axes[d] == '2') {
        return 2;
    }
    const bool along = axes[d + 1] == '\0' || axes[d + 1] == '2';
    return e->extents[axis_of(axes[d])] * (along && times > 0 ? times : 1) + (along ? e->p->array[a].more : e->p->array[a].deeper);
}

static inline operand make_operand(const example *e, int a, uint64_t *seed) {
    const layout how = e->layouts[a];
    const krf_dtype dtype = e->dtypes[a];
    operand o = {.rank = (int)strlen(e->p->array[a].axes), .offset = how == SECOND ? 1 : how == WORD_ON ? 16 / (int64_t)bytes_of(dtype) : 0};
    int64_t step = how == TWOS ? 2 : 1;
    for (int d = o.rank - 1; d >= 0; d--) {
        o.shape[d] = extent_of(e, a, d);
        o.strides[d] = step;
        step *= o.shape[d];
    }
    o.count = step + o.offset;
    if (how == BACK && o.rank > 0) {
        o.strides[o.rank - 1] = -1;
        o.offset += o.shape[o.rank - 1] - 1;
    }
    o.elements = malloc((size_t)(o.count + 1) * sizeof *o.elements);
    o.memory = calloc((size_t)o.count + 1, bytes_of(dtype));
    assert_true(o.elements != NULL && o.memory != NULL);
    for (int64_t i = 0; i < o.count && !collecting; i++) {
        o.elements[i] = special(dtype, next_random(seed));
        put(o.memory, i, o.elements[i]);
    }
    return o;
}

enum { PAGES = 1 << 16 };

static inline void unmap(void *memory) { munmap(memory, 2 * PAGES); }

/* Nothing may touch the pages behind it. Of the host's memory, which a GPU does not have. */
static inline krf_array *last_array(krf_context *context, krf_dtype dtype, const operand *o) {
    char *memory = mmap(NULL, 2 * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const size_t bytes = (size_t)o->count * bytes_of(dtype);
    krf_array *array = NULL;
    assert_true((void *)memory != MAP_FAILED && bytes <= PAGES && mprotect(memory + PAGES, PAGES, PROT_NONE) == 0);
    memcpy(memory + PAGES - bytes, o->memory, bytes);
    assert_int_equal(krf_array_wrap(context, dtype, o->rank, o->shape, o->strides, memory + PAGES - bytes, unmap, memory, &array), KRF_OK);
    return array;
}

static inline krf_array *array_of(krf_context *context, krf_dtype dtype, const operand *o, layout how) {
    krf_array *base = NULL, *view = NULL;
    if (how == LAST) {
        return last_array(context, dtype, o);
    }
    if (krf_array_from_host(context, dtype, 1, &o->count, o->memory, &base) != KRF_OK || krf_array_view(base, o->rank, o->shape, o->strides, o->offset, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    krf_array_release(base);
    return view;
}

/* ---- what must come out ---- */

static inline const char *axes_of(const example *e) { return e->p->axes != NULL ? e->p->axes : "nm"; }
static inline int rank_of(const example *e) { return (int)strlen(axes_of(e)); }

static inline int64_t shape_of(const example *e, int64_t *shape) {
    int64_t size = 1;
    for (int d = 0; d < rank_of(e); d++) {
        shape[d] = e->extents[axis_of(axes_of(e)[d])];
        size *= shape[d];
    }
    return size;
}

static inline value taken_at(const example *e, const operand *o, int k) {
    const int a = e->p->takes[k].array, from = e->p->takes[k].from, step = e->p->takes[k].step;
    const char *axes = e->p->takes[k].axes != NULL ? e->p->takes[k].axes : e->p->array[a].axes;
    int64_t where = o[a].offset;
    for (int d = 0; axes[d] != '\0'; d++) {
        const bool pair = strchr(axes, '2') != NULL, along = axes[d + 1] == '\0' || axes[d + 1] == '2';
        int64_t i = axes[d] == '2' ? from : here[axis_of(axes[d])];
        if (along && !pair) {
            i = (step == 0 ? i : step < 0 ? e->extents[axis_of(axes[d])] - 1 - i : i * step) + from;
        } else if (!along) {
            i += e->p->takes[k].down;
        }
        where += i * o[a].strides[d];
    }
    return o[a].elements[where];
}

typedef struct result {
    krf_dtype dtype;
    void *data;
} result;

/* All results, in C order. */
static inline void expect(const example *e, const operand *o, result *want) {
    int64_t shape[RANK];
    const int64_t size = shape_of(e, shape);
    value v[TAKEN];
    for (int64_t i = 0; i < size && !collecting; i++) {
        for (int d = rank_of(e) - 1, rest = (int)i; d >= 0; d--) {
            here[axis_of(axes_of(e)[d])] = rest % shape[d];
            rest /= (int)shape[d];
        }
        for (int k = 0; k < e->p->taken; k++) {
            v[k] = taken_at(e, o, k);
        }
        for (int r = 0; r < e->p->results; r++) {
            const value found = e->p->gives[r](v);
            want[r].dtype = found.dtype;
            put(want[r].data, i, found);
        }
    }
}

/* ---- the evaluation ---- */

static inline void must_equal(const void *got, const void *want, krf_dtype dtype, int64_t n, int64_t columns, const char *what) {
    for (int64_t i = 0; i < n; i++) {
        const value a = get(got, dtype, i), b = get(want, dtype, i);
        if (!same(a, b)) {
            char x[64], y[64];
            COMPLAIN("%s: element %" PRId64 " of row %" PRId64 " is %s, not %s", what, i % columns, i / columns, show(a, x, sizeof x), show(b, y, sizeof y));
            return;
        }
    }
}

/* Into memory of which all else must stay as it is. */
static inline void into(const example *e, const run *now, const room *where, krf_expr x, krf_dtype dtype, const void *want, const char *what) {
    int64_t shape[RANK], strides[RANK], step = 1;
    const int rank = rank_of(e);
    const size_t bytes = bytes_of(dtype);
    const int64_t size = shape_of(e, shape);
    for (int n = 0; n < rank; n++) {
        const int d = where->swapped && rank > 1 && n < 2 ? rank - 2 + n : rank - 1 - n;
        strides[d] = step;
        step = step * shape[d] + (n == 0 ? where->gap : 0);
    }
    const int64_t count = where->before + step + AROUND;
    unsigned char *memory = malloc((size_t)count * bytes), *after = malloc((size_t)count * bytes);
    krf_array *base = NULL, *view = NULL;
    assert_true(memory != NULL && after != NULL);
    memset(memory, GUARD, (size_t)count * bytes);
    if (krf_array_from_host(now->context, bytes == 1 ? KRF_U8 : dtype, 1, &count, memory, &base) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    /* guards are no bools, so the memory is of bytes, and wrapped */
    char *first = (char *)krf_array_data(base) + (size_t)where->before * bytes;
    if (krf_array_wrap(now->context, dtype, rank, shape, strides, first, NULL, NULL, &view) != KRF_OK || krf_eval(x, &view) != KRF_OK || krf_array_to_host(base, after, (size_t)count * bytes) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    bool right = true;
    for (int64_t i = 0; i < size && !collecting; i++) {
        int64_t at = where->before, rest = i;
        for (int d = rank - 1; d >= 0; d--) {
            at += rest % shape[d] * strides[d];
            rest /= shape[d];
        }
        right &= same(get(after, dtype, at), get(want, dtype, i));
        memset(after + (size_t)at * bytes, GUARD, bytes);
    }
    if (!right || (!collecting && memcmp(memory, after, (size_t)count * bytes) != 0)) {
        COMPLAIN("%s, into memory that begins %" PRId64 " elements on, gap %" PRId64 "%s: %s", what, where->before, where->gap, where->swapped ? ", swapped" : "", right ? "written beside" : "wrong");
    }
    krf_array_release(view);
    krf_array_release(base);
    free(memory);
    free(after);
}

static inline void look_at_kernel(const example *e, krf_plan *plan, const char *what) {
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    const bool right = krf_plan_kernels(plan) == 1 && (e->schedule == NULL || strcmp(info.schedule, e->schedule) == 0);
    if (!right || (e->has != NULL && strstr(info.source, e->has) == NULL) || (e->lacks != NULL && strstr(info.source, e->lacks) != NULL)) {
        COMPLAIN("%s: %d kernels, the first a %s, with \"%s\" or without \"%s\"", what, krf_plan_kernels(plan), info.schedule, e->lacks != NULL ? e->lacks : "", e->has != NULL ? e->has : "");
    }
}

static inline void write_text(const example *e, char *text) {
    for (const char *from = e->p->text; *from != '\0'; from++) {
        text += *from == '#' ? sprintf(text, "%" PRId64, e->extents[2]) : sprintf(text, "%c", *from);
    }
}

static inline void try_run(const example *e, const run *now, const operand *o, const result *want) {
    static const char *const names[] = {"x", "y", "z", "w"};
    char text[400], what[600];
    int64_t shape[RANK];
    const int64_t size = shape_of(e, shape);
    krf_array *arrays[ARRAYS] = {NULL}, *got[RESULTS] = {NULL};
    krf_binding bindings[ARRAYS];
    krf_expr results[RESULTS];
    krf_plan *plan = NULL;
    krf_graph *g = krf_graph_create(now->context);
    int n = 0;
    write_text(e, text);
    snprintf(what, sizeof what, "%s: %s of %s and %s [%" PRId64 ", %" PRId64 ", %" PRId64 "], layouts %d and %d", now->label, text, name_of(e->dtypes[0]), name_of(e->dtypes[1]), e->extents[0], e->extents[1], e->extents[2],
             (int)e->layouts[0], (int)e->layouts[1]);
    for (int a = 0; a < e->p->arrays; a++) {
        arrays[a] = array_of(now->context, e->dtypes[a], &o[a], e->layouts[a]);
        bindings[a] = krf_bind_array(names[a], arrays[a]);
    }
    if (krf_parse_many(g, text, bindings, e->p->arrays, RESULTS, results, &n) != KRF_OK || krf_compile(g, n, results, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, got) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    assert_int_equal(n, e->p->results);
    if (all_runs.cuda) {
        look_at_kernel(e, plan, what);
    }
    for (int r = 0; r < n; r++) {
        void *data = collecting ? NULL : to_host(got[r], want[r].dtype, rank_of(e), shape, what);
        if (data != NULL) {
            must_equal(data, want[r].data, want[r].dtype, size, shape[rank_of(e) - 1], what);
        }
        free(data);
        krf_array_release(got[r]);
    }
    for (int k = 0; k < (int)(sizeof rooms / sizeof *rooms) && n == 1; k++) {
        if ((e->rooms >> k & 1) != 0) {
            into(e, now, &rooms[k], results[0], krf_expr_dtype(results[0]), want[0].data, what);
        }
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    for (int a = 0; a < e->p->arrays; a++) {
        krf_array_release(arrays[a]);
    }
}

static inline void try_example(const example *e) {
    uint64_t seed = 5;
    operand o[ARRAYS];
    result want[RESULTS];
    int64_t shape[RANK];
    const size_t bytes = (size_t)shape_of(e, shape) * 8 + 8;
    for (int a = 0; a < e->p->arrays; a++) {
        o[a] = make_operand(e, a, &seed);
    }
    for (int r = 0; r < e->p->results; r++) {
        want[r].data = malloc(bytes);
        assert_non_null(want[r].data);
    }
    expect(e, o, want);
    for (int r = 0; r < all_runs.n; r++) {
        if (!passed_over(&all_runs.run[r])) {
            try_run(e, &all_runs.run[r], o, want);
        }
    }
    for (int r = 0; r < e->p->results; r++) {
        free(want[r].data);
    }
    for (int a = 0; a < e->p->arrays; a++) {
        free(o[a].elements);
        free(o[a].memory);
    }
}

/* Of one dtype, two axes. */
static inline void try_pairs(const program *p, krf_dtype dtype, int64_t n, int64_t m, const char *has) {
    try_example(&(example){.p = p, .dtypes = {dtype, dtype, dtype, dtype}, .extents = {1, n, m}, .has = has});
}

/* Failures of this test. */
static inline void none_failed(void) {
    const int n = failures;
    failures = 0;
    assert_int_equal(n, 0);
}

#endif
