/* What the tests of stencils share: where the elements lie that one of the result needs, what follows for the result from plain loops over those places, and the evaluation in all
 * ways: by strips and without, one operation a kernel, on the CPU, into new memory, into memory with gaps and over the array that is read. */
#ifndef KRF_TESTS_OPS_STENCILS_H
#define KRF_TESTS_OPS_STENCILS_H

#include "ops/places.h"

#define RANK 4
#define TAPS 25
#define ARRAYS 3
#define RESULTS 2

/* ---- arrays ---- */

/* What an operand has an element for: all places that a stencil reaches, each of the result, each of its last or of its first dimension, none; or each of the result, the
 * dimensions in the other order. Or no memory: places of the last or of the first dimension, for which the array has the numbers. */
typedef enum kind { WHOLE, EACH, ROW, COLUMN, ONE, TURNED, PLACES, DOWN } kind;

typedef struct array {
    krf_dtype dtype;
    int rank;
    int64_t shape[RANK], strides[RANK], offset, count; /* elements; of memory that holds them all */
    void *memory;
} array;

/* Of memory that has `before` elements before the first, `behind` behind the last, and gaps between rows. */
static inline array make_layout(krf_dtype dtype, int rank, const int64_t *shape, int64_t before, int64_t gap, int64_t behind, bool broken, uint64_t *seed) {
    array a = {.dtype = dtype, .rank = rank, .offset = before, .count = before + behind + 1};
    int64_t step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        a.shape[d] = shape[d];
        a.strides[d] = step;
        a.count += shape[d] > 0 ? (shape[d] - 1) * step : 0;
        step = step * shape[d] + gap;
    }
    a.memory = malloc((size_t)a.count * bytes_of(dtype));
    assert_non_null(a.memory);
    for (int64_t i = 0; i < a.count; i++) {
        const bool natural = facts_of(dtype)->is_unsigned;
        const double x = broken ? random_unit(seed) - 0.5 : (double)(random_below(seed, dtype == KRF_BOOL ? 2 : 10) - (natural ? 0 : 4)), y = (double)random_below(seed, 5);
        put(a.memory, i, is_complex(dtype) ? (value){.dtype = dtype, .f = x, .im = y} : is_real(dtype) ? (value){.dtype = dtype, .f = round_to(dtype, (long double)x)} : convert((value){.dtype = KRF_I64, .i = (int64_t)x}, dtype));
    }
    return a;
}

static inline array make_array(krf_dtype dtype, int rank, const int64_t *shape, int64_t gap, bool broken, uint64_t *seed) { return make_layout(dtype, rank, shape, gap, gap, gap + 1, broken, seed); }

static inline krf_array *memory_of(krf_context *context, const array *a) {
    krf_array *base = NULL;
    if (krf_array_from_host(context, a->dtype, 1, &a->count, a->memory, &base) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    return base;
}

static inline krf_array *view_of(krf_array *base, int rank, const int64_t *shape, const int64_t *strides, int64_t offset) {
    krf_array *view = NULL;
    if (krf_array_view(base, rank, shape, strides, offset, &view) != KRF_OK) {
        fail_msg("view: %s", krf_error_message());
    }
    return view;
}

/* ---- stencils ---- */

typedef struct tap {
    int start[RANK], weight; /* 0: 1 */
    int array, result;
    int flipped, fixed; /* sets of dimensions: along which places count from the end, and along which the start is the only place */
} tap;

#define AT(...) {.start = {__VA_ARGS__}}
#define TIMES(by, ...) {.start = {__VA_ARGS__}, .weight = by}

/* Beyond the array's edges: nothing is; zeros are; the edge's elements stay as they are; the other end is. */
typedef enum edges { NONE, ZERO, KEPT, WRAP } edges;

typedef struct stencil {
    const char *text; /* over x, y and z */
    int rank, n, results; /* taps; 0: one result */
    int less[RANK], times[RANK]; /* x's extents are the result's `times` (0: once), and so many more */
    tap taps[TAPS];
    kind kinds[ARRAYS]; /* of y and z; x is WHOLE */
    int arrays;         /* 0: x alone */
    double scale;       /* 0: 1 */
    bool most;          /* the largest, not the sum */
    edges edges;
} stencil;

typedef struct example {
    const stencil *s;
    krf_dtype dtype;
    int64_t extents[RANK];
    array arrays[ARRAYS];
    int n_arrays;
    bool broken; /* elements are no whole numbers: nothing is expected but equal bits */
    const char *words; /* text of a GPU's kernel: how it declares a row's words; "": it has none; NULL: no matter */
    int loads;         /* then: how many a thread has */
} example;

static inline int64_t size_of(const example *e) {
    int64_t n = 1;
    for (int d = 0; d < e->s->rank; d++) {
        n *= e->extents[d];
    }
    return n;
}

/* Whether the array has one dimension alone, that of the last one's elements, or as many as the result. */
static inline bool is_row(kind k) { return k == ROW || k == PLACES; }
static inline bool is_column(kind k) { return k == COLUMN || k == DOWN; }
static inline bool is_counted(kind k) { return k == PLACES || k == DOWN; }

static inline int rank_of(const stencil *s, int i) { return is_row(s->kinds[i]) ? 1 : s->kinds[i] == ONE ? 0 : s->rank; }

static inline void shape_of(const stencil *s, int i, const int64_t *extents, int64_t *shape) {
    for (int d = 0; d < rank_of(s, i); d++) {
        const int64_t n = extents[d];
        shape[d] = s->kinds[i] == WHOLE       ? n * (s->times[d] > 0 ? s->times[d] : 1) + s->less[d]
                   : is_row(s->kinds[i])      ? extents[s->rank - 1]
                   : is_column(s->kinds[i])   ? (d == 0 ? n : 1)
                   : s->kinds[i] == TURNED    ? extents[s->rank - 1 - d]
                                              : n;
    }
}

static inline example make_example(const stencil *s, krf_dtype dtype, const int64_t *extents, int64_t gap, bool broken) {
    example e = {.s = s, .dtype = dtype, .n_arrays = s->arrays > 0 ? s->arrays : 1, .broken = broken};
    uint64_t seed = 1;
    memcpy(e.extents, extents, (size_t)s->rank * sizeof *extents);
    for (int i = 0; i < e.n_arrays; i++) {
        int64_t shape[RANK] = {0};
        shape_of(s, i, extents, shape);
        e.arrays[i] = make_array(dtype, rank_of(s, i), shape, gap, broken, &seed);
    }
    return e;
}

/* Of memory that begins with the first element, as words do, and ends with the 16 bytes in which the last one lies; rows of x have a gap between them. */
static inline example make_tight(const stencil *s, krf_dtype dtype, const krf_dtype *dtypes, const int64_t *extents, int64_t gap) {
    example e = {.s = s, .dtype = dtype, .n_arrays = s->arrays > 0 ? s->arrays : 1};
    uint64_t seed = 1;
    memcpy(e.extents, extents, (size_t)s->rank * sizeof *extents);
    for (int i = 0; i < e.n_arrays; i++) {
        int64_t shape[RANK] = {0};
        shape_of(s, i, extents, shape);
        array *a = &e.arrays[i];
        *a = make_layout(dtypes[i], rank_of(s, i), shape, 0, s->kinds[i] == WHOLE ? gap : 0, 16, false, &seed);
        a->count -= 16 - (16 - a->count % 16) % (16 / (int64_t)bytes_of(dtypes[i]));
        for (int64_t k = 0; k < a->count && is_counted(s->kinds[i]); k++) {
            put(a->memory, k, convert((value){.dtype = KRF_I64, .i = k}, dtypes[i]));
        }
    }
    return e;
}

static inline void free_example(example *e) {
    for (int i = 0; i < e->n_arrays; i++) {
        free(e->arrays[i].memory);
    }
}

/* Where in memory a tap finds its element for place `at` of the result; -1: beyond the edges. */
static inline int64_t reach(const example *e, const tap *t, const int64_t *at) {
    const stencil *s = e->s;
    const array *a = &e->arrays[t->array];
    const kind k = s->kinds[t->array];
    int64_t where = a->offset;
    for (int d = 0; d < a->rank; d++) {
        int64_t i = is_row(k) ? at[s->rank - 1] : is_column(k) ? (d == 0 ? at[0] : 0) : k == TURNED ? at[s->rank - 1 - d] : at[d];
        i = (t->fixed >> d & 1) != 0 ? 0 : k == WHOLE && s->times[d] > 0 ? i * s->times[d] : i;
        i += k == WHOLE ? t->start[d] : 0;
        i = (t->flipped >> d & 1) != 0 ? a->shape[d] - 1 - i : i;
        if (s->edges == WRAP) {
            i = (i + a->shape[d]) % a->shape[d];
        } else if (i < 0 || i >= a->shape[d]) {
            assert_true(s->edges != NONE);
            return -1;
        }
        where += i * a->strides[d];
    }
    return where;
}

static inline void step_on(const example *e, int64_t *at) {
    for (int d = e->s->rank - 1; d >= 0 && ++at[d] == e->extents[d]; d--) {
        at[d] = 0;
    }
}

static inline bool on_edge(const example *e, const int64_t *at) {
    bool edge = false;
    for (int d = 0; d < e->s->rank; d++) {
        edge |= at[d] == 0 || at[d] == e->extents[d] - 1;
    }
    return edge;
}

/* A result in C order. */
static inline void *expected(const example *e, int result) {
    const stencil *s = e->s;
    const int64_t n = size_of(e);
    int64_t at[RANK] = {0};
    void *want = malloc((size_t)n * bytes_of(e->dtype) + 1);
    assert_non_null(want);
    for (int64_t i = 0; i < n; i++, step_on(e, at)) {
        const bool kept = s->edges == KEPT && on_edge(e, at);
        double re = s->most ? -1000 : 0, im = 0;
        for (int t = 0; t < s->n && !kept; t++) {
            const tap *now = &s->taps[t];
            const int64_t from = now->result == result ? reach(e, now, at) : -1;
            const krf_dtype dtype = e->arrays[now->array].dtype;
            const value v = get(e->arrays[now->array].memory, dtype, from < 0 ? 0 : from);
            const double weight = from < 0 ? 0 : now->weight == 0 ? 1 : now->weight, x = is_real(dtype) || is_complex(dtype) ? v.f : (double)v.i;
            re = s->most ? fmax(re, x) : re + weight * x;
            im += weight * v.im;
        }
        if (kept) {
            put(want, i, get(e->arrays[0].memory, e->dtype, reach(e, &(tap){.weight = 1}, at)));
        } else if (is_real(e->dtype) || is_complex(e->dtype)) {
            put(want, i, (value){.dtype = e->dtype, .f = re * (s->scale != 0 ? s->scale : 1), .im = im});
        } else {
            put(want, i, convert((value){.dtype = KRF_I64, .i = e->dtype == KRF_BOOL ? (int64_t)re & 1 : (int64_t)re}, e->dtype));
        }
    }
    return want;
}

static inline void must_equal(const void *got, const void *want, krf_dtype dtype, int64_t n, const char *what) {
    for (int64_t i = 0; i < n; i++) {
        const value a = get(got, dtype, i), b = get(want, dtype, i);
        if (!same(a, b)) {
            char x[64], y[64];
            COMPLAIN("%s: element %" PRId64 " is %s, not %s", what, i, show(a, x, sizeof x), show(b, y, sizeof y));
            return;
        }
    }
}

/* How many elements a tap reaches. */
static inline int64_t taken_by(const example *e, const tap *t) {
    const kind k = e->s->kinds[t->array];
    int64_t n = 1;
    for (int d = 0; d < e->s->rank; d++) {
        const bool moves = k == ONE ? false : is_row(k) ? d == e->s->rank - 1 : is_column(k) ? d == 0 : (t->fixed >> d & 1) == 0;
        n *= moves ? e->extents[d] : 1;
    }
    return n;
}

/* The least that a kernel must read, in bytes, is not less than the elements that are needed, and neither more than the memory between the first and the last of them nor than
 * what all taps take. */
static inline void check_bytes(const example *e, const krf_kernel_info *info, const char *what) {
    int64_t needed = 0, most = 0;
    for (int i = 0; i < e->n_arrays; i++) {
        const array *a = &e->arrays[i];
        int64_t first = a->count, last = -1, taken = 0, size = is_counted(e->s->kinds[i]) ? 0 : (int64_t)bytes_of(a->dtype);
        char *seen = calloc((size_t)a->count, 1);
        assert_non_null(seen);
        for (int t = 0; t < e->s->n; t++) {
            int64_t at[RANK] = {0};
            for (int64_t k = 0; k < size_of(e) && e->s->taps[t].array == i; k++, step_on(e, at)) {
                const int64_t where = reach(e, &e->s->taps[t], at);
                needed += seen[where] == 0 ? size : 0;
                seen[where] = 1;
                first = where < first ? where : first;
                last = where > last ? where : last;
            }
            taken += e->s->taps[t].array == i ? taken_by(e, &e->s->taps[t]) : 0;
        }
        free(seen);
        most += size * (taken < last - first + 1 ? taken : last < first ? 0 : last - first + 1);
    }
    const int64_t results = e->s->results > 0 ? e->s->results : 1;
    if (info->bytes_read < needed || info->bytes_read > most || info->bytes_written != results * size_of(e) * (int64_t)bytes_of(e->dtype)) {
        COMPLAIN("%s: reads %" PRId64 " bytes, of %" PRId64 " to %" PRId64 ", and writes %" PRId64, what, info->bytes_read, needed, most, info->bytes_written);
    }
}

/* Evaluates x into the elements of `base` that start at `offset`, where `before` is what it holds: these have `want`, and all others stay. */
static inline void into(const example *e, krf_expr x, krf_array *base, const int64_t *strides, int64_t offset, int64_t count, const void *before, const void *want, const char *what) {
    int64_t at[RANK] = {0};
    char *all = malloc((size_t)count * bytes_of(e->dtype)), *after = malloc((size_t)count * bytes_of(e->dtype));
    krf_array *out = view_of(base, e->s->rank, e->extents, strides, offset);
    assert_non_null(all);
    assert_non_null(after);
    memcpy(all, before, (size_t)count * bytes_of(e->dtype));
    for (int64_t i = 0; i < size_of(e); i++, step_on(e, at)) {
        int64_t where = offset;
        for (int d = 0; d < e->s->rank; d++) {
            where += at[d] * strides[d];
        }
        put(all, where, get(want, e->dtype, i));
    }
    if (krf_eval(x, &out) != KRF_OK || krf_array_to_host(base, after, (size_t)count * bytes_of(e->dtype)) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    must_equal(after, all, e->dtype, count, what);
    krf_array_release(out);
    free(all);
    free(after);
}

/* Into memory with gaps, which begin with words or do not; over x, from its first element on, and from the second one of each dimension on. */
static inline void into_others(const example *e, const place *p, krf_graph *g, const char *text, krf_expr x, krf_array **arrays, const void *want, const char *what) {
    static const char *const names[ARRAYS] = {"x", "y", "z"};
    uint64_t seed = 9;
    krf_array *base;
    for (int gap = 3; gap == 3 || (gap == 16 && e->words != NULL); gap += 13) {
        const int64_t width = e->extents[e->s->rank - 1];
        array room = make_layout(e->dtype, e->s->rank, e->extents, gap, gap == 3 ? gap : gap - width % gap, gap + 1, false, &seed);
        base = memory_of(p->context, &room);
        into(e, x, base, room.strides, room.offset, room.count, room.memory, want, what);
        krf_array_release(base);
        free(room.memory);
    }
    for (int from = 0; from < 2 && e->arrays[0].dtype == e->dtype; from++) {
        const array *a = &e->arrays[0];
        int64_t offset = a->offset;
        bool fits = true;
        for (int d = 0; d < e->s->rank; d++) {
            offset += from * a->strides[d];
            fits &= from + e->extents[d] <= a->shape[d];
        }
        if (!fits) {
            continue;
        }
        krf_binding bindings[ARRAYS];
        krf_expr over;
        base = memory_of(p->context, a);
        krf_array *operand = view_of(base, a->rank, a->shape, a->strides, a->offset);
        for (int i = 0; i < e->n_arrays; i++) {
            bindings[i] = krf_bind_array(names[i], i == 0 ? operand : arrays[i]);
        }
        if (krf_parse(g, text, bindings, e->n_arrays, &over) != KRF_OK) {
            fail_msg("%s: %s", what, krf_error_message());
        }
        into(e, over, base, a->strides, offset, a->count, a->memory, want, what);
        krf_array_release(operand);
        krf_array_release(base);
    }
}

/* Of bools, sums are of one bit. */
static inline void write_text(const example *e, char *text, size_t bytes) {
    snprintf(text, bytes, "%s", e->s->text);
    for (char *c = text; e->dtype == KRF_BOOL && *c != '\0'; c++) {
        *c = *c == '+' ? '^' : *c;
    }
}

static inline int times_in(const char *text, const char *part) {
    int n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

/* How the first array's words are declared, "type word[words]; ... rows", is what a thread has registers for; and how many loads it has. */
static inline void look_at_words(const example *e, const char *source, const char *what) {
    const int loads = times_in(source, " < left ? ") + times_in(source, " < left + ");
    if (loads != e->loads || (e->words[0] == '\0' ? strstr(source, "word[") != NULL : strstr(source, e->words) == NULL)) {
        const char *has = strstr(source, "word[");
        COMPLAIN("%s: %d loads, not %d, and %.40s, not %s", what, loads, e->loads, has != NULL ? has - 10 : "no words", e->words);
    }
}

/* Evaluates it everywhere; `schedule`: what it must be where strips are chosen, and elsewhere (NULL: "map"), or NULL for no matter what. */
static inline void try_place(const example *e, const place *p, const char *schedule, const char *elsewhere, void *want[RESULTS]) {
    static const char *const names[ARRAYS] = {"x", "y", "z"};
    const int n_results = e->s->results > 0 ? e->s->results : 1;
    char text[640], what[900];
    krf_array *arrays[ARRAYS] = {NULL}, *got[RESULTS] = {NULL};
    krf_binding bindings[ARRAYS];
    krf_graph *g = krf_graph_create(p->context);
    krf_expr results[RESULTS];
    krf_plan *plan = NULL;
    krf_kernel_info info = {.size = sizeof info};
    int n = 0;
    write_text(e, text, sizeof text);
    snprintf(what, sizeof what, "%s: %s of %s [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", p->label, text, name_of(e->dtype), e->extents[0], e->extents[1], e->extents[2], e->extents[3]);
    for (int i = 0; i < e->n_arrays; i++) {
        const array *a = &e->arrays[i];
        krf_array *base = memory_of(p->context, a);
        arrays[i] = view_of(base, a->rank, a->shape, a->strides, a->offset);
        krf_array_release(base);
        bindings[i] = krf_bind_array(names[i], arrays[i]);
    }
    if (krf_parse_many(g, text, bindings, e->n_arrays, RESULTS, results, &n) != KRF_OK || krf_compile(g, n, results, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, got) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    assert_int_equal(n, n_results);
    if (p->fuses && size_of(e) > 0) {
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        const char *must = (p->cuda && p->fusion == NULL) || schedule == NULL ? schedule : elsewhere != NULL ? elsewhere : "map";
        if (krf_plan_kernels(plan) != 1 || (must != NULL && strcmp(info.schedule, must) != 0)) {
            COMPLAIN("%s: %d kernels, the first a %s, not one %s", what, krf_plan_kernels(plan), info.schedule, must != NULL ? must : "");
        }
        if (p->cuda && e->words != NULL) {
            look_at_words(e, info.source, what);
        }
        if (e->s->edges == NONE) {
            check_bytes(e, &info, what);
        }
    }
    for (int r = 0; r < n_results; r++) {
        void *data = to_host(got[r], e->dtype, e->s->rank, e->extents, what);
        if (want[r] == NULL) {
            want[r] = data;
            continue;
        }
        if (data != NULL) {
            must_equal(data, want[r], e->dtype, size_of(e), what);
        }
        free(data);
    }
    if (p->fusion == NULL && n_results == 1) {
        into_others(e, p, g, text, results[0], arrays, want[0], what);
    }
    for (int i = 0; i < ARRAYS; i++) {
        krf_array_release(arrays[i]);
        krf_array_release(i < n_results ? got[i] : NULL);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

static inline void try_example(const stencil *s, krf_dtype dtype, const int64_t *extents, int64_t gap, bool broken, const char *schedule, const char *elsewhere) {
    example e = make_example(s, dtype, extents, gap, broken);
    void *want[RESULTS] = {NULL};
    for (int r = 0; r < (s->results > 0 ? s->results : 1) && !broken; r++) {
        want[r] = expected(&e, r);
    }
    for (int p = 0; p < n_places; p++) {
        try_place(&e, &places[p], schedule, elsewhere, want);
    }
    free(want[0]);
    free(want[1]);
    free_example(&e);
}

static place exact; /* the device's own again, but nothing lies behind what it allocates */

static inline void open_exact(void) {
    krf_context_options options = krf_context_options_default();
    exact = places[0];
    options.device = asked_device();
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.blocking_compile = true;
    options.exact_memory = true;
    exact.context = open_or_skip(&options);
}

/* On the device alone, where its kernel has those words and so many loads; AddressSanitizer sees what is read behind the memory, on the simulated GPU. */
static inline void try_words(const stencil *s, krf_dtype dtype, const krf_dtype *dtypes, const int64_t *extents, int64_t gap, const char *words, int loads) {
    example e = make_tight(s, dtype, dtypes, extents, gap);
    void *want[RESULTS] = {NULL};
    e.words = words;
    e.loads = loads;
    for (int r = 0; r < (s->results > 0 ? s->results : 1); r++) {
        want[r] = expected(&e, r);
    }
    try_place(&e, &exact, NULL, NULL, want);
    free(want[0]);
    free(want[1]);
    free_example(&e);
}

#endif
