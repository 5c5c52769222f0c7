/* What the tests of the text form share: programs parsed into a graph, printed, and compared. Arrays have no storage
 * here. */
#ifndef TESTS_UNIT_TEXT_H
#define TESTS_UNIT_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "base/mem.h"
#include "ir/build.h"
#include "ir/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weak, so that the tests also link with the whole library. */
__attribute__((weak)) krf_array *krf_array_retain(krf_array *array) { return array; }
__attribute__((weak)) void krf_array_release(krf_array *array) { (void)array; }
__attribute__((weak)) krf_context *krf_array_context(const krf_array *array) {
    (void)array;
    return NULL;
}

enum { MOST = 16 };

/* How often long texts repeat something. With strict_string_checks AddressSanitizer looks for the end of the text at every token. */
#ifdef __SANITIZE_ADDRESS__
enum { VERY_OFTEN = 20000 };
#else
enum { VERY_OFTEN = 100000 };
#endif

#define DECLARATIONS \
    "x: f32[4, 8]; y: f32[8]; z: f64[3]; i: i32[4]; j: i64[4]; b: bool[4]; c: bool[4]; s: f64; mu: float; k: int\n"

typedef struct parsed {
    krf_graph g;
    krf_status status;
    int n;
    uint32_t results[MOST];
} parsed;

static inline int64_t extent_of_letter(void *user, const char *name) {
    (void)user;
    return name[0] >= 'a' && name[0] <= 'z' && name[1] == '\0' ? name[0] - 'a' + 1 : -1;
}

static inline void parse_with(parsed *r, const char *text, const krf__name *names, int n_names) {
    r->status = krf__parse(&r->g, text, names, n_names, extent_of_letter, NULL, MOST, r->results, &r->n);
    assert_int_equal(r->status, r->g.status);
    assert_true((r->status == KRF_OK) == (r->n > 0));
    if (r->status == KRF_OK) {
        assert_null(krf__graph_check(&r->g));
    }
}

static inline void parse(parsed *r, const char *text) {
    assert_int_equal(krf__graph_init(&r->g, NULL), KRF_OK);
    parse_with(r, text, NULL, 0);
}

static inline char *print(const parsed *r) {
    krf__str out = {0};
    krf__print(&r->g, r->n, r->results, &out);
    char *text = krf__str_take(&out);
    assert_non_null(text);
    return text;
}

/* The printed form of a program that must parse. */
static inline char *canonical(const char *text) {
    parsed r;
    parse(&r, text);
    if (r.status != KRF_OK) {
        fail_msg("%s\n%s", text, r.g.error);
    }
    char *printed = print(&r);
    krf__graph_free(&r.g);
    return printed;
}

typedef struct bound {
    parsed r;
    krf_array array;
    krf__name names[6];
} bound;

static inline void bind(bound *b, krf_dtype dtype, int rank, const int64_t *shape, const int64_t *strides) {
    memset(b, 0, sizeof *b);
    assert_int_equal(krf__graph_init(&b->r.g, NULL), KRF_OK);
    b->array = (krf_array){.references = 1, .dtype = dtype, .rank = rank, .size = krf__shape_size(rank, shape)};
    memcpy(b->array.shape, shape, (size_t)rank * sizeof *shape);
    krf__shape_c_strides(rank, shape, b->array.strides);
    if (strides != NULL) {
        memcpy(b->array.strides, strides, (size_t)rank * sizeof *strides);
    }
    b->names[0] = (krf__name){.name = "x", .id = krf__build_input(&b->r.g, &b->array)};
    b->names[1] = (krf__name){.name = "rows", .extent = 3};
    b->names[2] = (krf__name){.name = "lr", .id = krf__build_real(&b->r.g, 0.1, false)};
    b->names[3] = (krf__name){.name = "count", .id = krf__build_int(&b->r.g, 7, false)};
    b->names[5] = (krf__name){.name = "count", .extent = 2};
    b->names[4] = (krf__name){.name = "large", .id = krf__build_int(&b->r.g, 300, false)};
}

#endif
