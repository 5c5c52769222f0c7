/* Generalised functions: a signature, and a body over small arrays. A call becomes a raw kernel, whose text depends on dtypes, on which axes broadcast, and on small
 * sizes. */
#ifndef KRF_IR_GUFUNC_H
#define KRF_IR_GUFUNC_H

#include "ir/graph.h"
#include "ir/raw.h"

enum { KRF__MOST_OPERANDS = 16, KRF__MOST_SIZES = 16 };

typedef struct krf__core {
    krf__span name, type;
    krf_dtype dtype;
    int generic;              /* 1 + the number of its word; 0: it has a dtype of its own */
    int rank;
    int sizes[KRF_MAX_RANK];  /* of each axis */
} krf__core;

typedef struct krf__size {
    krf__span name;
    int64_t fixed; /* -1: given by the operands */
} krf__size;

typedef struct krf__gufunc {
    char *name, *signature, *parameters, *body; /* owned */
    krf__core cores[KRF__MOST_OPERANDS];
    int n_inputs, n_results;
    krf__size sizes[KRF__MOST_SIZES];
    int n_sizes, n_generic;
} krf__gufunc;

/* description: whole. */
krf_status krf__gufunc_make(const krf_gufunc_description *description, krf__gufunc **gufunc);
void krf__gufunc_free(krf__gufunc *gufunc); /* NULL is allowed */

/* results: n_results of them. False and the graph's error: all are 0. */
bool krf__build_gufunc(krf_graph *g, const krf__gufunc *f, int n, const uint32_t *inputs, uint32_t *results);

/* A call as far as its text knows it. */
typedef struct krf__gufunc_call {
    const krf__gufunc *f;
    krf_dtype dtypes[KRF__MOST_OPERANDS];
    krf__layout shapes[KRF__MOST_OPERANDS]; /* whole ones */
    int64_t sizes[KRF__MOST_SIZES];
    int outer;                              /* axes that all have, or broadcast to */
    int64_t extents[KRF_MAX_RANK];
} krf__gufunc_call;

/* gufunc_text.c. Every string that is not failed is to be freed. */
typedef struct krf__gufunc_texts {
    krf__str name, cuda, c, parameters, units, grid;
} krf__gufunc_texts;
void krf__gufunc_write(const krf__gufunc_call *call, krf__gufunc_texts *texts);

#endif
