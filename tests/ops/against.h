/* What tests of single paths share: a program's results against a formula over whole numbers, allocated, in memory with guards around it, and over the memory of an operand; and which text the kernel has, lest another path pass the
 * test. Values are small, so that all dtypes have them. */
#ifndef KRF_TESTS_OPS_AGAINST_H
#define KRF_TESTS_OPS_AGAINST_H

#include "ops/common.h"

enum { AXES = 4, MOST_GIVEN = 4, MOST_OUT = 4, AROUND = 5, GUARD_BYTE = 1 };

typedef int64_t formula(const int64_t *index);

typedef struct given {
    const char *name;
    krf_dtype dtype;
    int rank;
    int64_t shape[AXES], offset; /* in elements, from the beginning of its memory */
    int least, values;           /* numbers from least on; 0 of them: 9 */
} given;

typedef struct wanted {
    krf_dtype dtype;
    int rank;
    int64_t shape[AXES];
    formula *formula;
} wanted;

typedef enum laid { WHOLE, GAPS_AFTER_ROWS, EVERY_SECOND, BACKWARDS, GAPS_AFTER_LINES, LAIDS } laid; /* lines: of the last axis but one */

typedef struct check {
    const run *run;
    const char *text;
    int n_given, n_out;
    given given[MOST_GIVEN];
    wanted out[MOST_OUT];
    const char *has, *has_too, *lacks; /* the text of some kernel, of a compiler */
    const char *schedule; /* the first kernel's */
    bool one_kernel;
    unsigned into; /* of 1 << laid: memory to evaluate into */
    int64_t begins; /* that memory's first element */
    bool over;     /* and the memory of each operand that has room and the dtype */
} check;

static const check *now; /* what formulas ask */

static inline int64_t size_of_shape(int rank, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        n *= shape[d];
    }
    return n;
}

/* Of an operand, the element at a place counted in C order from the operand's first; true where dtypes are bool and it is not 0. */
static inline int64_t number(int operand, int64_t place) {
    const given *g = &now->given[operand];
    const uint32_t at = (uint32_t)(place + g->offset), mixed = (at + 1) * 2654435761u;
    const int64_t n = g->least + (int64_t)(mixed >> 9) % (g->values == 0 ? 9 : g->values);
    return g->dtype == KRF_BOOL ? n != 0 : n;
}

static inline int64_t number_in(int operand, int64_t i, int64_t j, int64_t k) {
    const int64_t *shape = now->given[operand].shape;
    return number(operand, (i * shape[1] + j) * (now->given[operand].rank > 2 ? shape[2] : 1) + k);
}

static inline krf_array *operand_of(const check *c, int operand, krf_array **base) {
    const given *g = &c->given[operand];
    const int64_t size = size_of_shape(g->rank, g->shape) + g->offset + AROUND;
    int64_t strides[AXES], step = 1;
    char *data = malloc((size_t)size * 8);
    krf_array *view = NULL;
    assert_non_null(data);
    for (int64_t i = 0; i < size; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = number(operand, i - g->offset)}, g->dtype));
    }
    for (int d = g->rank - 1; d >= 0; d--) {
        strides[d] = step;
        step *= g->shape[d];
    }
    if (krf_array_from_host(c->run->context, g->dtype, 1, &size, data, base) != KRF_OK || krf_array_view(*base, g->rank, g->shape, strides, g->offset, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    free(data);
    return view;
}

static inline void next_of(const wanted *w, int64_t *index) {
    for (int d = w->rank - 1; d >= 0 && ++index[d] == w->shape[d]; d--) {
        index[d] = 0;
    }
}

static inline void compare_with(const check *c, int out, const char *data, const int64_t *strides, int64_t offset, const char *how) {
    const wanted *w = &c->out[out];
    int64_t index[AXES] = {0};
    char a[64], b[64];
    for (int64_t n = size_of_shape(w->rank, w->shape); n > 0 && !collecting; n--, next_of(w, index)) {
        int64_t at = offset;
        for (int d = 0; d < w->rank; d++) {
            at += index[d] * strides[d];
        }
        const value there = get(data, w->dtype, at), want = convert((value){.dtype = KRF_I64, .i = w->formula(index)}, w->dtype);
        if (!same(there, want)) {
            COMPLAIN("%s, %s %s [%" PRId64 ", %" PRId64 ", %" PRId64 "] + %" PRId64 ", result %d %s: element %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 " is %s, not %s", c->run->label, c->text, krf_dtype_name(c->given[0].dtype),
                     c->given[0].shape[0], c->given[0].shape[1], c->given[0].shape[2], c->given[0].offset, out, how, index[0], index[1], index[2], index[3], show(there, a, 64), show(want, b, 64));
            return;
        }
    }
}

static inline int64_t lay_out(const wanted *w, laid l, int64_t begins, int64_t *strides, int64_t *offset) {
    int64_t size = l == EVERY_SECOND ? 2 : 1;
    *offset = begins;
    for (int d = w->rank - 1; d >= 0; d--) {
        strides[d] = l == BACKWARDS ? -size : size;
        *offset += l == BACKWARDS ? size * (w->shape[d] - 1) : 0;
        size = size * w->shape[d] + ((d == w->rank - 1 && l == GAPS_AFTER_ROWS) || (d == w->rank - 2 && l == GAPS_AFTER_LINES) ? 3 : 0);
    }
    return begins + size + AROUND;
}

static inline void check_into(const check *c, krf_expr *results, laid l) {
    krf_array *base[MOST_OUT], *view[MOST_OUT] = {NULL};
    int64_t strides[MOST_OUT][AXES], offset[MOST_OUT], size[MOST_OUT];
    for (int o = 0; o < c->n_out; o++) {
        const wanted *w = &c->out[o];
        size[o] = lay_out(w, l, c->begins, strides[o], &offset[o]);
        char *data = malloc((size_t)size[o] * 8);
        assert_non_null(data);
        memset(data, GUARD_BYTE, (size_t)size[o] * 8);
        if (krf_array_from_host(c->run->context, w->dtype, 1, &size[o], data, &base[o]) != KRF_OK || krf_array_view(base[o], w->rank, w->shape, strides[o], offset[o], &view[o]) != KRF_OK) {
            fail_msg("%s: %s", c->text, krf_error_message());
        }
        free(data);
    }
    if (krf_eval_many(c->n_out, results, view) != KRF_OK) {
        fail_msg("%s: %s", c->text, krf_error_message());
    }
    for (int o = 0; o < c->n_out; o++) {
        const wanted *w = &c->out[o];
        const size_t bytes = bytes_of(w->dtype);
        char *data = malloc((size_t)size[o] * bytes), how[40];
        int64_t index[AXES] = {0};
        assert_non_null(data);
        assert_int_equal(krf_array_to_host(base[o], data, (size_t)size[o] * bytes), KRF_OK);
        snprintf(how, sizeof how, "in memory (%d, %" PRId64 ")", (int)l, c->begins);
        compare_with(c, o, data, strides[o], offset[o], how);
        for (int64_t n = size_of_shape(w->rank, w->shape); n > 0; n--, next_of(w, index)) {
            int64_t at = offset[o];
            for (int d = 0; d < w->rank; d++) {
                at += index[d] * strides[o][d];
            }
            memset(data + (size_t)at * bytes, GUARD_BYTE, bytes);
        }
        for (size_t i = 0; i < (size_t)size[o] * bytes && !collecting; i++) {
            if (data[i] != GUARD_BYTE) {
                COMPLAIN("%s, %s, result %d: byte %zu, which is of no element, was written", c->run->label, c->text, o, i);
                break;
            }
        }
        krf_array_release(view[o]);
        krf_array_release(base[o]);
        free(data);
    }
}

/* Over the memory of an operand, from its first element on: what is read there is read as it was. */
static inline void check_over(const check *c, int operand, const char *text) {
    krf_array *base[MOST_GIVEN] = {NULL}, *view[MOST_GIVEN] = {NULL}, *out = NULL;
    krf_binding bindings[MOST_GIVEN];
    const wanted *w = &c->out[0];
    int64_t strides[AXES], step = 1;
    krf_graph *g = krf_graph_create(c->run->context);
    krf_expr result;
    for (int i = 0; i < c->n_given; i++) {
        view[i] = operand_of(c, i, &base[i]);
        bindings[i] = krf_bind_array(c->given[i].name, view[i]);
    }
    for (int d = w->rank - 1; d >= 0; d--) {
        strides[d] = step;
        step *= w->shape[d];
    }
    if (krf_array_view(base[operand], w->rank, w->shape, strides, c->given[operand].offset, &out) != KRF_OK || krf_parse(g, text, bindings, c->n_given, &result) != KRF_OK || krf_eval(result, &out) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    const size_t bytes = (size_t)krf_array_size(base[operand]) * bytes_of(w->dtype);
    char *data = malloc(bytes);
    assert_non_null(data);
    assert_int_equal(krf_array_to_host(base[operand], data, bytes), KRF_OK);
    compare_with(c, 0, data, strides, c->given[operand].offset, "over an operand");
    const int64_t size = size_of_shape(w->rank, w->shape);
    for (int64_t i = 0; i < krf_array_size(base[operand]) && !collecting; i++) {
        const int64_t place = i - c->given[operand].offset;
        if ((place < 0 || place >= size) && !same(get(data, w->dtype, i), convert((value){.dtype = KRF_I64, .i = number(operand, place)}, w->dtype))) {
            COMPLAIN("%s, %s, over an operand: element %" PRId64 " beside it was written", c->run->label, text, i);
            break;
        }
    }
    free(data);
    krf_graph_destroy(g);
    krf_array_release(out);
    for (int i = 0; i < c->n_given; i++) {
        krf_array_release(view[i]);
        krf_array_release(base[i]);
    }
}

static inline void check_text(const check *c, krf_plan *plan, bool cuda) {
    if (c->one_kernel && krf_plan_kernels(plan) != 1) {
        COMPLAIN("%s, %s: %d kernels", c->run->label, c->text, krf_plan_kernels(plan));
    }
    krf_kernel_info info = {.size = sizeof info};
    if (c->schedule != NULL && (krf_plan_kernel(plan, 0, &info) != KRF_OK || strcmp(info.schedule, c->schedule) != 0)) {
        COMPLAIN("%s, %s %s [%" PRId64 ", %" PRId64 "]: %s, not %s", c->run->label, c->text, krf_dtype_name(c->given[0].dtype), c->given[0].shape[0], c->given[0].shape[1], info.schedule, c->schedule);
    }
    if (!cuda && !c->run->compiled) {
        return;
    }
    const char *wants[] = {c->has, c->has_too};
    for (int i = 0; i < 2; i++) {
        if (wants[i] != NULL && !has_text(plan, wants[i])) {
            COMPLAIN("%s, %s %s [%" PRId64 ", %" PRId64 "] + %" PRId64 ": no \"%s\"", c->run->label, c->text, krf_dtype_name(c->given[0].dtype), c->given[0].shape[0], c->given[0].shape[1], c->given[0].offset, wants[i]);
        }
    }
    if (c->lacks != NULL && has_text(plan, c->lacks)) {
        COMPLAIN("%s, %s %s [%" PRId64 ", %" PRId64 "] + %" PRId64 ": has \"%s\"", c->run->label, c->text, krf_dtype_name(c->given[0].dtype), c->given[0].shape[0], c->given[0].shape[1], c->given[0].offset, c->lacks);
    }
}

static inline void check_it(const check *c, bool cuda) {
    krf_array *base[MOST_GIVEN] = {NULL}, *view[MOST_GIVEN] = {NULL}, *out[MOST_OUT] = {NULL};
    krf_binding bindings[MOST_GIVEN];
    krf_graph *g = krf_graph_create(c->run->context);
    krf_plan *plan = NULL;
    krf_expr results[MOST_OUT];
    int n = 0;
    now = c;
    for (int i = 0; i < c->n_given; i++) {
        view[i] = operand_of(c, i, &base[i]);
        bindings[i] = krf_bind_array(c->given[i].name, view[i]);
    }
    if (krf_parse_many(g, c->text, bindings, c->n_given, MOST_OUT, results, &n) != KRF_OK || n != c->n_out || krf_compile(g, n, results, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, out) != KRF_OK) {
        fail_msg("%s: %d results: %s", c->text, n, krf_error_message());
    }
    check_text(c, plan, cuda);
    for (int o = 0; o < n; o++) {
        int64_t strides[AXES], offset;
        lay_out(&c->out[o], WHOLE, 0, strides, &offset);
        char *data = to_host(out[o], c->out[o].dtype, c->out[o].rank, c->out[o].shape, c->text);
        if (data != NULL) {
            compare_with(c, o, data, strides, 0, "allocated");
        }
        free(data);
        krf_array_release(out[o]);
    }
    for (int l = 0; l < LAIDS; l++) {
        if ((c->into >> l & 1) != 0) {
            check_into(c, results, (laid)l);
        }
    }
    for (int i = 0; i < c->n_given && c->over && n == 1; i++) {
        if (c->given[i].dtype == c->out[0].dtype && size_of_shape(c->given[i].rank, c->given[i].shape) >= size_of_shape(c->out[0].rank, c->out[0].shape)) {
            check_over(c, i, c->text);
        }
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    for (int i = 0; i < c->n_given; i++) {
        krf_array_release(view[i]);
        krf_array_release(base[i]);
    }
}

#endif
